"""What the recorder does when it is told to end while it gets ready; the rest: test/experiment."""

import threading
from types import SimpleNamespace

import pandas as pd
import pytest

from imu_simulation_framework.errors import FrameworkError
from imu_simulation_framework.results.folder import ResultFolder
from imu_simulation_framework.ros.nodes.experiment_recorder import ExperimentRecorder


def subscriber(protocol):
    implementation = SimpleNamespace(
        set_queue_size=lambda _: None, connections=[SimpleNamespace(protocol=protocol)]
    )
    return SimpleNamespace(impl=implementation)


@pytest.fixture
def recorder(tmp_path):
    """A recorder as a start request finds it, without a ROS master."""
    recorder = ExperimentRecorder.__new__(ExperimentRecorder)
    recorder.folder = ResultFolder(tmp_path, "20260101-000000")
    recorder.folder.write_table("trajectory_data", pd.DataFrame({"x": [0.0]}, index=[0.0]))
    recorder.inputs = (subscriber(SimpleNamespace(queue_size=1)), subscriber(None))
    recorder.failure = ""
    recorder._lock = threading.Lock()
    recorder._ended, recorder._awake = threading.Event(), threading.Event()
    recorder._bag, recorder._newest = None, {}
    return recorder


def test_a_connection_that_has_just_been_closed_is_left_alone(recorder):
    recorder.prepare(0.0, 1.0)
    assert recorder.inputs[0].impl.connections[0].protocol.queue_size is None
    recorder._complete()
    assert recorder.folder.path("experiment.bag").exists()


def test_a_recorder_that_ends_begins_no_bag(recorder):
    before = sorted(recorder.folder.folder.iterdir())
    recorder.interrupt()
    recorder.close()
    with pytest.raises(FrameworkError, match="ended before it was ready"):
        recorder.prepare(0.0, 1.0)
    assert sorted(recorder.folder.folder.iterdir()) == before
