"""Library without ROS: the wheel in virtual environments without other packages.

The environments contain the newest libraries that setup.py allows, and the oldest that exist for
the Python version. All other tests use the versions of requirements.txt. The variable WHEEL_PYTHONS
selects installed Pythons, for example ``3.9 3.13``; the default is the Python of the tests.
"""

import os
import re
import subprocess
import sys
from importlib.metadata import PathDistribution
from zipfile import Path as ZipPath

import pytest

from imu_simulation_framework.commands.isf import PROGRAMS
from imu_simulation_framework.core.errors import EXTRAS

pytestmark = pytest.mark.gate

PYTHONS = os.environ.get("WHEEL_PYTHONS", "").split() or [""]  # empty: Python that runs tests
RESOLUTIONS = {"newest": "highest", "oldest": "lowest-direct"}
FIVE_LINES = """
import imu_simulation_framework as isf

motion = isf.read_motion("drive.csv")
imu = isf.read_imu_specification("bno055")
samples = isf.simulate_imu(motion, imu, seed=1)
error = isf.yaw_error(samples, motion)
print(len(samples), list(samples), round(abs(error.iloc[-1]), 1))
"""
ASSERT_BARE = """
import importlib.util
assert not any(map(importlib.util.find_spec, ("rospy", "roslib", "mujoco"))), "not bare"
"""
USE_MISSING_LIBRARIES = """
import imu_simulation_framework as isf
from imu_simulation_framework.characterisation.allan.model import overlapping_allan_variance
from imu_simulation_framework.report.figure import Figure
from imu_simulation_framework.report.page import Page, Section, page_html
for job in (
    lambda: isf.robot_motion,
    lambda: isf.fly("c3104", 1.0),
    lambda: page_html(Page("title", [], [Section("figure", figure=Figure().panel())])),
    lambda: overlapping_allan_variance([[0.0, 1.0, 0.0]], 1.0, [1]),
):
    try:
        job()
    except isf.FrameworkError as error:
        print(error)
"""
PRINT_HELP = """
from imu_simulation_framework.commands import isf
for name in isf.PROGRAMS:
    try:
        isf.main([name, "--help"])
    except SystemExit as end:
        assert end.code == 0, name
"""
RUN_EXAMPLES = """
import runpy, sys
import matplotlib.pyplot as plt
for example in sys.argv[1:]:
    print("example:", example, flush=True)
    runpy.run_path(example, run_name="__main__")
    plt.close("all")
"""


def _run(*arguments, **settings):
    done = subprocess.run(
        [*map(str, arguments)], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        check=False, **settings,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    return done.stdout


class Environment:
    """Virtual environment with the wheel and the libraries that it requires."""

    def __init__(self, folder):
        self.folder = folder
        self.scripts = folder / "venv" / "bin"

    def create(self, wheel, python, resolution, extras=()):
        """Install the wheel and its direct requirements, in the newest or oldest versions."""
        root = ZipPath(wheel)
        (metadata,) = (path for path in root.iterdir() if path.name.endswith(".dist-info"))
        requirements = []
        for requirement in PathDistribution(metadata).requires:
            name, _, marker = requirement.partition(";")
            if not marker or any(f'"{extra}"' in marker for extra in extras):
                requirements.append(name.strip())
        _run("uv", "venv", "--quiet", "--python", python or sys.executable, self.folder / "venv")
        _run(
            "uv", "pip", "install", "--quiet", "--python", self.scripts / "python",
            "--only-binary", ":all:", "--resolution", resolution, wheel, *requirements,
        )  # fmt: skip

    def run(self, program, *arguments):
        """Run a program of the virtual environment with a minimal set of environment variables."""
        variables = {"PATH": "/usr/bin:/bin", "HOME": f"{self.folder}", "MPLBACKEND": "Agg"}
        variables["PYTHONNOUSERSITE"] = "1"
        variables.update(item for item in os.environ.items() if item[0].endswith("_NUM_THREADS"))
        return _run(self.scripts / program, *arguments, cwd=self.folder, env=variables)


@pytest.fixture(scope="module")
def wheel(make_once, repository):
    def build(folder):
        _run("git", "clone", "-q", repository, folder / "source")
        _run("uv", "build", "--quiet", "--wheel", "--out-dir", folder, folder / "source")

    (path,) = make_once("wheel", build).glob("*.whl")
    return path


@pytest.fixture(
    scope="module",
    params=[(python, age) for python in PYTHONS for age in RESOLUTIONS],
    ids=lambda pair: "-".join(filter(None, pair)),
)
def python_and_age(request):
    return request.param


def _environment(make_once, wheel, kind, python_and_age, extras=()):
    python, age = python_and_age
    return Environment(
        make_once(
            f"{kind}-{python}-{age}",
            lambda folder: Environment(folder).create(wheel, python, RESOLUTIONS[age], extras),
        )
    )


@pytest.fixture
def bare(make_once, wheel, python_and_age):
    """Return an environment with the wheel and its requirements."""
    return _environment(make_once, wheel, "bare", python_and_age)


@pytest.fixture
def complete(make_once, wheel, python_and_age):
    """Return an environment with the wheel, its requirements and all extras."""
    return _environment(make_once, wheel, "complete", python_and_age, EXTRAS.values())


def test_five_line_example_in_bare_environment_computes_yaw_error(bare, tmp_path):
    lines = ["time,x,y,yaw"]
    lines += [f"{0.2 * k:.1f},{0.1 * k:.2f},0.0,0.0" for k in range(100)]
    (bare.folder / "drive.csv").write_text("\n".join(lines) + "\n")
    printed = bare.run("python", "-c", ASSERT_BARE + FIVE_LINES)
    assert printed.startswith("1981 ['roll', 'pitch', 'yaw', 'gyro_x',")
    assert printed.endswith(" 0.0\n")


def test_isf_in_bare_environment_shows_help_of_programs(bare):
    assert bare.run("isf").startswith("usage: isf NAME ...")
    assert bare.run("isf", PROGRAMS[0], "--help").startswith(f"usage: isf {PROGRAMS[0]}")
    usages = bare.run("python", "-c", PRINT_HELP)
    assert [name for name in PROGRAMS if f"usage: isf {name}" not in usages] == []


def test_missing_library_in_bare_environment_is_reported_with_extra(bare):
    messages = bare.run("python", "-c", USE_MISSING_LIBRARIES).splitlines()
    for message, library in zip(messages, ("mujoco", "jsbsim", "plotly", "allantools")):
        assert re.search(rf"\b{library}\b", message)
        assert f'pip install ".[{EXTRAS[library]}]"' in message
    assert len(messages) == 4
    packages = bare.run(
        "python",
        "-c",
        "from importlib import metadata as m; "
        "print(*(d.metadata['Name'].lower() for d in m.distributions()))",
    ).split()
    assert not {"sphinx", "numpydoc", "pytest"} & set(packages)


def test_examples_in_complete_environment_run(complete, repository):
    examples = sorted(repository.glob("examples/*.py"))
    printed = complete.run("python", "-c", RUN_EXAMPLES, *examples)
    assert printed.count("example: ") == len(examples)
    assert printed.count("deg after 30 s") == 2


def test_bags_in_complete_environment_are_read_and_written(complete, repository):
    _run("uv", "pip", "install", "--quiet", "--python", complete.scripts / "python",
         "pytest", "pytest-timeout")  # fmt: skip
    tests = ("test_recordings_formats.py", "test_recordings_ros2.py")
    paths = [repository / "test/unit/recordings" / name for name in tests]
    complete.run("python", "-m", "pytest", "-q", "-p", "no:cacheprovider", *paths)
