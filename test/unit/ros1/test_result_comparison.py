"""Responses of result_comparison, and the time at which it writes results."""

import threading
from types import SimpleNamespace

import pytest
from patience import PATIENCE

from imu_simulation_framework.drive.results.files import ResultFolder
from imu_simulation_framework.ros1.nodes.result_comparison import ResultComparison


class Connected:
    """Subscriber with a number of connected publishers."""

    def __init__(self, connections):
        self.connections = connections

    def get_num_connections(self):
        return self.connections


@pytest.fixture
def recording(tmp_path):
    """Return a function that creates a node with a recorded drive, without a ROS master."""

    def make(supervised, lock_step=True):
        node = ResultComparison.__new__(ResultComparison)
        node.folder = ResultFolder(tmp_path, "20260101-000000")
        node.failure = node._refusal = ""
        node._ended, node._awake = threading.Event(), threading.Event()
        node._stopping, node._written = threading.Event(), threading.Event()
        node._supervised, node._gnss = supervised, None
        node._commanded_at, node._stopped_at, node._message_at = 1.0, None, None
        node._lock, node._batches = threading.Lock(), []
        node._session = SimpleNamespace(complete=True, recorded_until=1, arrived=True, over=False)
        node._simulator = SimpleNamespace(lock_step=lock_step)
        node.configuration = SimpleNamespace(simulation=SimpleNamespace(command_timeout=1e9))
        node.inputs = [Connected(1), Connected(1)]
        return node

    return make


def test_stop_request_without_launcher_is_answered_after_results_are_written(recording):
    node = recording(supervised=False)
    asked = threading.Thread(target=node._on_stop, args=(None,), daemon=True)
    asked.start()
    assert node._stopping.wait(PATIENCE)
    node.inputs[0].connections = node.inputs[1].connections = 0
    node._session.over = True  # another thread is about to write
    node.spin_once()
    assert asked.is_alive() and not node._ended.is_set()
    node._written.set()
    asked.join(PATIENCE)
    assert not asked.is_alive()


@pytest.mark.parametrize("lock_step", [True, False])
def test_node_started_by_launcher_exits_after_driver_and_simulator(recording, lock_step):
    node = recording(supervised=True, lock_step=lock_step)
    assert node._on_stop(None).success
    node.spin_once()
    assert not node._ended.is_set() and not node._written.is_set()
    node.inputs[0].connections = 0
    node.spin_once()
    # A simulator without lock-step continues after path_follower.
    assert node._ended.is_set() == (not lock_step)
    node.inputs[1].connections = 0
    node.spin_once()
    assert node._ended.is_set() and not node.failure
