"""The tests of the nodes of ROS 2, in its own environment: each file in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
FILES = sorted(path.name for path in HERE.glob("rclpy_*.py"))
LONG_ENOUGH = 900  # seconds, in which the environment may have to be made
HANDED_ON = {"PYTEST_CURRENT_TEST", "PYTEST_XDIST_WORKER", "PYTEST_XDIST_WORKER_COUNT"}


@pytest.mark.skipif(
    sys.version_info < (3, 10), reason="ROS 2's libraries on PyPI want Python 3.10 or newer"
)
@pytest.mark.timeout(LONG_ENOUGH)
@pytest.mark.parametrize("file", FILES)
def test_nodes_of_ros_2_with_the_real_rclpy(file):
    command = [HERE.parents[1] / "run", "ros2", "python", "-m", "pytest", "-q", HERE / file]
    environment = {name: text for name, text in os.environ.items() if name not in HANDED_ON}
    done = subprocess.run(
        [*command, "-p", "no:cacheprovider"],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout, done.stdout


def test_each_file_of_theirs_is_found():
    assert {"rclpy_realistic_imu.py", "rclpy_launch_files.py"} <= set(FILES)
