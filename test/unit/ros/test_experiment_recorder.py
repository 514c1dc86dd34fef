"""What the recorder does when it is told to end while it gets ready; the rest: test/experiment."""

import threading

import pytest

from imu_simulation_framework.errors import FrameworkError
from imu_simulation_framework.experiment.session.messages import MessageSession
from imu_simulation_framework.msg import ReferenceTrajectory
from imu_simulation_framework.results.folder import ResultFolder
from imu_simulation_framework.ros.nodes.experiment_recorder import ExperimentRecorder


@pytest.fixture
def recorder(tmp_path):
    """A recorder as a start request finds it, without a ROS master."""
    recorder = ExperimentRecorder.__new__(ExperimentRecorder)
    recorder.folder = ResultFolder(tmp_path, "20260101-000000")
    recorder.reference_trajectory = lambda: ReferenceTrajectory(time=[0.0, 1.0])
    recorder.failure = ""
    recorder._lock = threading.Lock()
    recorder._ended, recorder._awake = threading.Event(), threading.Event()
    recorder._bag, recorder._session = None, MessageSession(0.05)
    return recorder


def test_a_recorder_that_ends_begins_no_bag(recorder):
    before = sorted(recorder.folder.folder.iterdir())
    recorder.interrupt()
    recorder.close()
    with pytest.raises(FrameworkError, match="ended before it was ready"):
        recorder.prepare(0.0, 1.0)
    assert sorted(recorder.folder.folder.iterdir()) == before
