"""The library without ROS: a wheel in virtual environments that have nothing else.

With the newest libraries that setup.py allows, and with the oldest that there are for the Python at
hand; the other tests use those of requirements.txt. Further Pythons are named in the variable
WHEEL_PYTHONS, as ``3.9 3.13``; uv finds them where they are installed.
"""

import os
import subprocess
import sys
from importlib.metadata import PathDistribution
from pathlib import Path
from zipfile import Path as ZipPath

import pytest

from imu_simulation_framework.commands.isf import PROGRAMS
from imu_simulation_framework.core.errors import EXTRAS

pytestmark = [pytest.mark.gate, pytest.mark.timeout(1800)]

EXAMPLES = sorted((Path(__file__).resolve().parents[2] / "examples").glob("*.py"))
PYTHONS = ("", *os.environ.get("WHEEL_PYTHONS", "").split())  # empty for that of the tests
FIVE_LINES = """
import imu_simulation_framework as isf

motion = isf.read_motion("drive.csv")
imu = isf.read_imu_specification("bno055")
samples = isf.simulate_imu(motion, imu, seed=1)
error = isf.yaw_error(samples, motion)
print(len(samples), list(samples), round(abs(error.iloc[-1]), 1))
"""
WITHOUT = """
import importlib.util
assert not any(map(importlib.util.find_spec, ("rospy", "roslib", "mujoco"))), "not bare"
"""
MISSING = """
import imu_simulation_framework as isf
from imu_simulation_framework.report.figure import Figure
from imu_simulation_framework.report.page import Page, Section, page_html
for job in (
    lambda: isf.robot_motion,
    lambda: isf.fly("c3104", 1.0),
    lambda: page_html(Page("title", [], [Section("figure", figure=Figure().panel())])),
):
    try:
        job()
    except isf.FrameworkError as error:
        print(error)
"""


def command(*arguments, **settings):
    done = subprocess.run(
        [*map(str, arguments)], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        check=False, **settings,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    return done.stdout


class Environment:
    """A virtual environment with the wheel, and the libraries that it asks for."""

    def __init__(self, folder, wheel, python, resolution):
        self.folder, self._wheel, self._resolution = folder, wheel, resolution
        self.python = folder / "venv/bin/python"
        command("uv", "venv", "--quiet", "--python", python or sys.executable, folder / "venv")
        self.install()

    def install(self, *extras):
        """Install the wheel, and directly what it asks for: only of that uv takes the oldest."""
        root = ZipPath(self._wheel)
        (metadata,) = (path for path in root.iterdir() if path.name.endswith(".dist-info"))
        wanted = []
        for requirement in PathDistribution(metadata).requires:
            name, _, marker = requirement.partition(";")
            if not marker or any(f'"{extra}"' in marker for extra in extras):
                wanted.append(name.strip())
        command(
            "uv", "pip", "install", "--quiet", "--python", self.python, "--only-binary", ":all:",
            "--resolution", self._resolution, self._wheel, *wanted,
        )  # fmt: skip

    def run(self, *arguments):
        environment = {"PATH": "/usr/bin:/bin", "HOME": f"{self.folder}", "PYTHONNOUSERSITE": "1"}
        return command(self.python, *arguments, cwd=self.folder, env=environment)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory, repository):
    folder = tmp_path_factory.mktemp("wheel")
    command("git", "clone", "-q", repository, folder / "source")
    command(sys.executable, "-m", "pip", "--quiet", "wheel", "--no-deps", "--wheel-dir", folder,
            folder / "source")  # fmt: skip
    (found,) = folder.glob("*.whl")
    return found


@pytest.fixture(
    scope="module",
    params=[(python, age) for python in PYTHONS for age in ("newest", "oldest")],
    ids=lambda one: "-".join(filter(None, one)),
)
def bare(request, tmp_path_factory, wheel):
    """Environment with the wheel and what that asks for."""
    python, age = request.param
    resolution = {"newest": "highest", "oldest": "lowest-direct"}[age]
    return Environment(tmp_path_factory.mktemp("bare"), wheel, python, resolution)


@pytest.fixture(scope="module")
def complete(bare):
    """Environment with all extras, too."""
    bare.install(*EXTRAS.values())
    return bare


def test_the_five_lines_work(bare):
    lines = ["time,x,y,yaw"]
    lines += [f"{0.2 * k:.1f},{0.1 * k:.2f},0.0,0.0" for k in range(100)]
    (bare.folder / "drive.csv").write_text("\n".join(lines) + "\n")
    (bare.folder / "five_lines.py").write_text(WITHOUT + FIVE_LINES)
    printed = bare.run("five_lines.py")
    assert printed.startswith("1981 ['roll', 'pitch', 'yaw', 'gyro_x',")
    assert printed.endswith(" 0.0\n")


def test_every_program_that_needs_no_ros_is_there(bare):
    assert bare.run(bare.folder / "venv/bin/isf").startswith("usage: isf NAME ...")
    for name in PROGRAMS:
        assert bare.run(bare.folder / "venv/bin/isf", name, "--help").startswith(
            f"usage: isf {name}"
        )


def test_what_is_not_installed_is_told_with_the_extra_that_brings_it(bare):
    told = bare.run("-c", MISSING).splitlines()
    for sentence, library in zip(told, ("mujoco", "jsbsim", "plotly")):
        assert f"needs the Python library {library}, which is not installed" in sentence
        assert f'pip install ".[{EXTRAS[library]}]"' in sentence
    assert len(told) == 3


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_examples_run(complete, example):
    printed = complete.run(example)
    if example.stem == "drive_a_robot_in_mujoco":
        assert printed.count("deg after 30 s") == 2


def test_bags_are_read_and_written_by_the_libraries_own_release(complete, repository):
    pytest_and_plugin = ("pytest", "pytest-timeout")
    command("uv", "pip", "install", "--quiet", "--python", complete.python, *pytest_and_plugin)
    tests = ("test_recordings_formats.py", "test_recordings_ros2.py")
    paths = [repository / "test/unit/recordings" / name for name in tests]
    complete.run("-m", "pytest", "-q", "-p", "no:cacheprovider", *paths)
