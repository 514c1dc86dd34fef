"""Start and end of the recorder; test/experiment covers its bags."""

import threading
from collections import deque
from dataclasses import dataclass
from types import SimpleNamespace

import pytest
import rospy
from rosbags.rosbag1 import Writer

from imu_simulation_framework.core import topics
from imu_simulation_framework.core.errors import FrameworkError
from imu_simulation_framework.core.stamps import NANOSECONDS
from imu_simulation_framework.drive.results.files import ResultFolder
from imu_simulation_framework.drive.session.recording import MessageSession
from imu_simulation_framework.msg import ReferenceTrajectory
from imu_simulation_framework.ros1.nodes import experiment_recorder
from imu_simulation_framework.ros1.nodes.experiment_recorder import ExperimentRecorder
from imu_simulation_framework.srv import StartStopTimeRequest


@dataclass
class FakeSubscriber:
    resolved_name: str
    connections: int

    def get_num_connections(self):
        return self.connections


@pytest.fixture
def recorder(tmp_path):
    """Return a recorder before its start request, without a ROS master."""
    recorder = ExperimentRecorder.__new__(ExperimentRecorder)
    recorder.folder = ResultFolder(tmp_path, "20260101-000000")
    recorder.receive_reference_trajectory = lambda: ReferenceTrajectory(time=[0.0, 1.0])
    recorder.failure, recorder.interrupted = "", False
    recorder._lock = threading.Lock()
    recorder._ended, recorder._awake = threading.Event(), threading.Event()
    recorder._static = FakeSubscriber("/tf_static", 1)
    recorder._bag, recorder._session = None, MessageSession(0.05)
    recorder._queue, recorder._received = deque(), 0
    return recorder


def test_recorder_opens_no_bag_after_its_end(recorder):
    before = sorted(recorder.folder.folder.iterdir())
    recorder.interrupt()
    recorder.close()
    with pytest.raises(FrameworkError, match="ended before it was ready"):
        recorder.prepare(0.0, 1.0)
    assert sorted(recorder.folder.folder.iterdir()) == before


def test_missing_robot_state_publisher_causes_warning(recorder, monkeypatch):
    warned = []
    monkeypatch.setattr(experiment_recorder, "STATIC_TIMEOUT", 0.05)
    monkeypatch.setattr(experiment_recorder.rospy, "logwarn", lambda *words: warned.append(words))
    recorder._static.connections = 0
    recorder.prepare(0.0, 1.0)
    recorder.close()
    assert "while waiting for robot_state_publisher to publish /tf_static" in str(warned[0])


def test_topics_without_publisher_are_reported(recorder):
    prefix, recorder.folder = recorder.folder.prefix_path, None
    recorder.inputs = (FakeSubscriber("/clock", 1), FakeSubscriber("/imu/data", 0))
    recorder.configuration = SimpleNamespace(simulation=SimpleNamespace(startup_timeout=0.05))
    begin, end = rospy.Time(0), rospy.Time(1)
    answer = recorder._on_start(StartStopTimeRequest(file_prefix=prefix, start=begin, stop=end))
    assert answer.message == (
        "experiment_recorder: timeout of 0.05 s while waiting for publishers of /imu/data"
    )
    assert not answer.success
    # The first request has already set the folder.
    answer = recorder._on_start(StartStopTimeRequest(file_prefix=prefix, start=begin, stop=end))
    assert "an experiment is already running" in answer.message


def test_bag_lacking_last_messages_is_reported(recorder):
    recorder.configuration = SimpleNamespace(simulation=SimpleNamespace(command_timeout=0.05))
    recorder._session.ends_after(10.0)
    recorder._session.take_error(0, 0.0)
    recorder._session.take(topics.TRAJECTORY_ERROR, 10 * NANOSECONDS, "last")
    recorder._session.take(topics.YAW_SIMULATED, 3 * NANOSECONDS, "early")
    recorder._path = "experiment.bag"
    answer = recorder._on_stop(None)
    assert not answer.success
    lacks = "experiment.bag is saved, but does not contain the last messages on imu_yaw/simulated"
    assert lacks in answer.message


def test_bag_writer_does_not_store_positions_of_written_messages(tmp_path):
    content = []
    for kind in (Writer, experiment_recorder._Bag):
        bag = kind(tmp_path / kind.__name__)
        bag.chunk_threshold = 100
        with bag:
            definition = {"msgdef": "uint8 number\n", "md5sum": "0" * 32}
            connections = [bag.add_connection(f"/{name}", "a/msg/B", **definition) for name in "ab"]
            for number in range(20):
                bag.write(connections[number % 2], number, bytes([number]))
            kept = [places for chunk in bag.chunks[:-1] for places in chunk.connections.values()]
        content.append(bag.path.read_bytes())
    assert content[0] == content[1]
    assert len(kept) > 2
    assert {type(places) for places in kept} == {range}
