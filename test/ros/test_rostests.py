"""Runs of each test/*.test with rostest, and of the drives in Gazebo where it is installed."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree

import pytest
import rospkg

TESTS = Path(__file__).resolve().parents[1]
sys.path.append(str(TESTS / "experiment"))
from marked_processes import MARK, kill_marked, new_mark  # noqa: E402

PACKAGE = "imu_simulation_framework"
LAUNCH_FILES = sorted(TESTS.glob("*.test"))
QUICK = ("experiment",)
GAZEBO_LIMIT = 3600.0  # wall-clock limit for seven drives in Gazebo [s]


@pytest.fixture
def rostest():
    """Yield a function that runs a launch file with rostest, then kill remaining processes."""
    # rostest passes the result folder to its tests unquoted, so the path must not contain a space.
    folder = Path(tempfile.mkdtemp(prefix="rostest-", dir="/tmp"))
    mark = new_mark()
    environment = {
        **os.environ, MARK: mark, "PWD": str(folder), "ROS_IP": "127.0.0.1",
        "ROS_HOME": f"{folder}/home", "ROS_LOG_DIR": f"{folder}/log",
    }  # fmt: skip
    for name in ("ROS_HOSTNAME", "ROS_NAMESPACE"):
        environment.pop(name, None)

    def run(launch_file):
        results = f"--results-filename={launch_file.stem}.xml", f"--results-base-dir={folder}/xml"
        done = subprocess.run(
            ["rostest", f"--pkgdir={TESTS.parent}", f"--package={PACKAGE}", *results, launch_file],
            cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True,
        )  # fmt: skip
        return done, read_unit_tests(folder / "xml")

    yield run
    kill_marked(mark)
    shutil.rmtree(folder)


def read_unit_tests(folder):
    """Return the messages of failed unit tests, and the total number of unit tests."""
    cases = [
        case
        for path in folder.rglob("rosunit-*.xml")
        for case in ElementTree.parse(path).iter("testcase")
    ]
    failures = [
        f"{case.get('classname')}.{case.get('name')}:\n{outcome.get('message') or ''}{outcome.text}"
        for case in cases
        for kind in ("failure", "error")
        for outcome in case.iter(kind)
    ]
    return failures, len(cases)


def check(done, failures, count):
    assert not failures, "\n".join([*failures, done.stdout])
    assert done.returncode == 0, done.stdout
    assert count > 0, f"no unit test was run:\n{done.stdout}"


@pytest.mark.parametrize(
    "launch_file",
    [
        pytest.param(path, marks=pytest.mark.quick if path.stem in QUICK else (), id=path.stem)
        for path in LAUNCH_FILES
    ],
)
def test_rostest_of_launch_file_passes(rostest, launch_file):
    done, (failures, count) = rostest(launch_file)
    check(done, failures, count)


@pytest.mark.timeout(GAZEBO_LIMIT)
@pytest.mark.skipif(
    "gazebo_ros" not in rospkg.RosPack().list(), reason="gazebo_ros is not installed"
)
def test_rostest_of_drives_in_gazebo_passes(rostest):
    done, (failures, count) = rostest(TESTS / "gazebo" / "gazebo_experiment.test")
    check(done, failures, count)


def test_rostest_launch_files_are_found():
    assert {"experiment", "mujoco_simulator"} <= {path.stem for path in LAUNCH_FILES}
