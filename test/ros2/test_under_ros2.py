"""Tests of ROS 2 nodes and experiments, in a separate environment and separate processes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from patience import TEST_LIMIT

FOLDER = Path(__file__).resolve().parent
sys.path.append(str(FOLDER.parent / "experiment"))
from marked_processes import MARK, kill_marked, new_mark  # noqa: E402

FILES = sorted(path.name for path in FOLDER.glob("rclpy_*.py"))
EXPERIMENTS = [name for name in FILES if name.startswith(("rclpy_experiment", "rclpy_external"))]
GROUPS = {
    "experiments": EXPERIMENTS,
    "nodes": [name for name in FILES if name not in EXPERIMENTS],
}
"""Test files by process; several files share a process, because its start is slow."""

DROPPED_VARIABLES = {"PYTEST_CURRENT_TEST", "PYTEST_XDIST_WORKER", "PYTEST_XDIST_WORKER_COUNT"}


@pytest.fixture
def environment():
    """Yield environment variables for a pytest process, then kill child processes it has left."""
    mark = new_mark()
    inherited = {name: text for name, text in os.environ.items() if name not in DROPPED_VARIABLES}
    yield {**inherited, MARK: mark}
    kill_marked(mark)


@pytest.mark.skipif(
    sys.version_info < (3, 10), reason="ROS 2's libraries on PyPI require Python 3.10 or newer"
)
@pytest.mark.timeout(len(FILES) * TEST_LIMIT)
@pytest.mark.parametrize("group", GROUPS)
def test_ros2_tests_pass_with_real_rclpy(environment, group):
    files = [FOLDER / name for name in GROUPS[group]]
    command = [FOLDER.parents[1] / "run", "ros2", "python", "-m", "pytest", "-q", *files]
    done = subprocess.run(
        [*command, "--durations=5", "-p", "no:cacheprovider"],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout, done.stdout


def test_ros2_test_files_are_found():
    assert {"rclpy_realistic_imu.py", "rclpy_launch_files.py"} <= set(GROUPS["nodes"])
    assert {"rclpy_experiment.py", "rclpy_external_robot.py"} <= set(GROUPS["experiments"])
