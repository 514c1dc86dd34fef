"""Tiers, time limits and environment of all tests."""

import contextlib
import itertools
import os
import shlex
import signal
from pathlib import Path

import pytest
from patience import TEST_LIMIT

# Tests run in parallel in single-threaded processes. numpy reads these variables on import.
for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")

# Progress bars appear after a delay, so the output of programs would depend on the load.
os.environ["TQDM_DISABLE"] = "1"

# In the background, a shell may run the tests with these signals ignored, and the programs to which
# tests send signals would inherit this.
ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
for number in ENDING_SIGNALS:
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(
            number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL
        )

# Each test has exactly one of these markers (see CONTRIBUTING.md, section Tests).
TIERS = ("quick", "gate", "thorough")

# Tier of unmarked tests by folder; in all other folders it is ``gate``.
TIER_OF_FOLDER = {"unit": "quick", "static": "quick"}

# Processor time of the tests in a file [s]; files that are not listed take at most 15 s. The
# numbers are used only to balance the load of pytest-xdist processes.
SECONDS_OF_FILE = {
    "ros2/test_under_ros2.py": 90,
    "experiment/test_fake_gazebo.py": 85,
    "experiment/test_ends.py": 85,
    "static/test_wheel.py": 75,
    "browser/test_reports.py": 60,
    "unit/heading/test_yaw_error_identification.py": 55,
    "experiment/test_drive.py": 45,
    "tools/test_heading_budget.py": 40,
    "static/test_workspace.py": 30,
    "experiment/test_external_robot.py": 30,
    "experiment/test_compare_plugins.py": 30,
    "experiment/test_disk_full.py": 25,
    "experiment/test_in_process.py": 25,
    "ros/test_rostests.py": 25,
    "experiment/test_realistic_imu_node.py": 20,
    "tools/test_identify_yaw_error.py": 20,
    "tools/test_check_recording.py": 20,
    "experiment/test_yaw_view.py": 20,
    "tools/test_allan_analysis.py": 20,
    "experiment/test_refused.py": 20,
    "browser/test_explore_page.py": 20,
    "fuzz/test_hostile_results.py": 15,
    "unit/drive/test_executors.py": 15,
    "tools/test_simulate_flight.py": 15,
}

TESTS = Path(__file__).resolve().parent


@pytest.fixture(autouse=True)
def _restore_signal_handlers():
    """Restore signal handlers that a program has replaced in the process of a test.

    Otherwise, the processes of later tests would inherit ignored signals.
    """
    handlers = {number: signal.getsignal(number) for number in ENDING_SIGNALS}
    yield
    for number, handler in handlers.items():
        if signal.getsignal(number) is not handler:
            signal.signal(number, handler)


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(items):
    """Set the tier and time limit of each test, and balance the load of the test processes."""
    for item in items:
        if not any(item.get_closest_marker(tier) for tier in TIERS):
            item.add_marker(TIER_OF_FOLDER.get(_folder(item), "gate"))
        if item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(TEST_LIMIT))
    yield
    items[:] = _balance(items, int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")))


def _folder(item):
    relative = item.path.relative_to(TESTS) if TESTS in item.path.parents else Path()
    return relative.parts[0] if relative.parts else ""


def _usual_seconds(path, tests):
    """Return the expected processor time of the tests in one file [s]."""
    name = str(path.relative_to(TESTS)) if TESTS in path.parents else ""
    return SECONDS_OF_FILE.get(name, 0.3 * len(tests))


def _balance(items, workers):
    """Order tests so that each process starts with its share of the long tests.

    pytest-xdist gives each process the same number of consecutive tests, and moves tests to a
    process that has none left. The long tests of a file stay together because they share fixtures.
    """
    files = {}
    short_tests = []
    for item in items:
        is_long = item.get_closest_marker("gate") is not None
        (files.setdefault(item.path, []) if is_long else short_tests).append(item)
    shares = [[] for _ in range(workers)]
    seconds = [0.0] * workers
    for path, tests in sorted(files.items(), key=lambda entry: -_usual_seconds(*entry)):
        shortest = seconds.index(min(seconds))
        shares[shortest] += tests
        seconds[shortest] += _usual_seconds(path, tests)
    remaining, others = len(items), iter(short_tests)
    for place, share in enumerate(shares):
        size = remaining // (workers - place)
        share += itertools.islice(others, max(0, size - len(share)))
        remaining -= len(share)
    return [item for share in shares for item in share]


def pytest_terminal_summary(terminalreporter):
    """Print for each failed test a command that runs it again."""
    failed = {
        report.nodeid
        for outcome in ("failed", "error")
        for report in terminalreporter.stats.get(outcome, [])
        if hasattr(report, "nodeid")
    }
    uses_ros2 = os.environ.get("ROS_VERSION") == "2"
    command = "./run ros2 python -m pytest" if uses_ros2 else "./run test"
    for nodeid in sorted(failed):
        terminalreporter.write_line(f"run again: {command} {shlex.quote(nodeid)}")


def pytest_unconfigure(config):
    """Kill the processes that interrupted tests have left behind, such as nodes and browsers.

    After Ctrl+C, pytest-xdist kills its processes before they tear down their fixtures. All
    processes that they have started inherit the identifier of the test run in their environment.
    """
    distribution = config.pluginmanager.getplugin("dsession")
    manager = getattr(distribution, "nodemanager", None)
    if manager is None:
        return
    mark = f"PYTEST_XDIST_TESTRUNUID={manager.testrunuid}".encode()
    for path in Path("/proc").glob("[0-9]*/environ"):
        # A process may have ended by now, or may belong to another user.
        with contextlib.suppress(OSError):
            if mark in path.read_bytes().split(b"\0"):
                os.kill(int(path.parent.name), signal.SIGKILL)
