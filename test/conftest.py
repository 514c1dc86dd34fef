"""Tiers, time limits and environment of all tests."""

import os
import shlex
import signal
from pathlib import Path

import pytest
from patience import TEST_LIMIT

# Before numpy is imported: several tests run at a time, each with as many threads as there are
# cores would slow the others down.
for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")

# Whether a program is so slow that it reports its progress depends on the machine's load.
os.environ["TQDM_DISABLE"] = "1"

# A shell that starts the tests in the background may have set these to be ignored, and the programs
# that tests start and send these signals to would inherit it.
ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
for number in ENDING_SIGNALS:
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(
            number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL
        )

TIERS = ("quick", "gate", "thorough")
"""Markers of which each test has exactly one; CONTRIBUTING.md, Tests, has their meaning."""

TIER_OF_FOLDER = {"unit": "quick", "static": "quick"}
"""Tier of the tests of a folder that have no marker; of all other folders it is ``gate``."""

EARLY_FOLDERS = ("ros2", "experiment", "ros", "browser", "static", "tools", "fuzz")
"""Folders whose tests start programs; they run first, so that no long test is the last one."""

TESTS = Path(__file__).resolve().parent


@pytest.fixture(autouse=True)
def _restored_signals():
    """Restore the handlers of signals that a program sets when a test calls it in this process.

    An ignored signal would be inherited by the processes of later tests.
    """
    before = {number: signal.getsignal(number) for number in ENDING_SIGNALS}
    yield
    for number, handler in before.items():
        if signal.getsignal(number) is not handler:
            signal.signal(number, handler)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Give each test its tier and its time limit; put the long tests first."""
    for item in items:
        folder = _folder(item)
        if not any(item.get_closest_marker(tier) for tier in TIERS):
            item.add_marker(TIER_OF_FOLDER.get(folder, "gate"))
        if item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(TEST_LIMIT))
    items.sort(key=_rank)


def _folder(item):
    relative = item.path.relative_to(TESTS) if TESTS in item.path.parents else Path()
    return relative.parts[0] if relative.parts else ""


def _rank(item):
    folder = _folder(item)
    place = EARLY_FOLDERS.index(folder) if folder in EARLY_FOLDERS else len(EARLY_FOLDERS)
    return place, item.get_closest_marker("quick") is not None


def pytest_terminal_summary(terminalreporter):
    """Print the command that runs each failed test again."""
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
