"""Calls in a separate process: results, errors, and unexpected exits."""

import os
import signal
import sys

import pytest

from imu_simulation_framework.core.errors import FrameworkError, RecordingError
from imu_simulation_framework.core.programs import SeparateProcess


class Worker:
    """Object whose methods run in the separate process."""

    def __init__(self):
        self.calls = 0

    def add(self, first, second):
        """Return a sum, the number of calls of this object, and the process id."""
        self.calls += 1
        return first + second, self.calls, os.getpid()

    def refuse(self):
        """Raise an exception of the package."""
        raise RecordingError("drive.csv: line 3: x is 'a', expected a number")

    def fill(self):
        """Allocate more memory than any machine has."""
        return bytearray(sys.maxsize)

    def die(self):
        """Exit from the process without returning a result."""
        os._exit(7)


@pytest.fixture
def apart():
    with SeparateProcess(__name__, "Worker", "the test's work") as apart:
        yield apart


@pytest.fixture(autouse=True)
def importable(monkeypatch):
    monkeypatch.syspath_prepend(os.path.dirname(__file__))


def test_separate_process_preserves_object_between_calls(apart):
    total, calls, process = apart.call("add", 2, 3)
    assert (total, calls) == (5, 1)
    assert process != os.getpid()
    assert apart.call("add", 1, 1) == (2, 2, process)


def test_rejections_and_out_of_memory_are_returned_as_messages(apart):
    with pytest.raises(FrameworkError, match="^drive.csv: line 3: x is 'a', expected a number$"):
        apart.call("refuse")
    assert apart.call("add", 1, 2)[:2] == (3, 1)
    with pytest.raises(FrameworkError, match="not enough memory"):
        apart.call("fill")


def test_unexpected_process_exit_is_reported_with_exit_code(apart):
    with pytest.raises(FrameworkError, match="^the test's work exited with code 7$"):
        apart.call("die")


def test_killed_process_is_reported(apart):
    *_, process = apart.call("add", 1, 2)
    os.kill(process, signal.SIGKILL)
    with pytest.raises(FrameworkError, match="^the test's work was killed"):
        apart.call("add", 1, 2)


def test_separate_process_is_terminated_at_end_of_context():
    with SeparateProcess(__name__, "Worker", "the test's work") as apart:
        *_, process = apart.call("add", 1, 2)
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)
