"""Libraries that a program loads for ``--help`` or for a rejected command line."""

import os
import subprocess
import sys

import pytest
from patience import PATIENCE

from imu_simulation_framework.commands.isf import PROGRAMS

pytestmark = pytest.mark.quick

# Each of these takes 0.1 to 0.5 s of processor time; numpy, with 0.07 s, is permitted.
LARGE_LIBRARIES = (
    "dask",
    "jsbsim",
    "matplotlib",
    "mujoco",
    "pandas",
    "plotly",
    "scipy",
    "roslaunch",
)

# All command lines are read in one process, so a library is listed for the program that loads it
# and for all later programs.
READ_COMMAND_LINES = """
import contextlib, io, sys
from imu_simulation_framework.commands.start import run_program

large, programs = sys.argv[1].split(","), sys.argv[2:]
for program in programs:
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.suppress(SystemExit):
        run_program(program, ["--help"])
    assert output.getvalue().startswith("usage: "), program
    print(program, *(name for name in large if name in sys.modules))
"""


def run_python(*arguments):
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True,
                          timeout=PATIENCE, check=False)  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_help_of_programs_loads_no_large_library():
    lines = run_python("-c", READ_COMMAND_LINES, ",".join(LARGE_LIBRARIES), *PROGRAMS)
    assert lines == PROGRAMS


def test_package_import_loads_neither_numpy_nor_yaml():
    code = "import sys, imu_simulation_framework; print(*{'numpy', 'yaml'} & set(sys.modules))"
    assert run_python("-c", code) == [""]


def test_help_of_scripts_loads_no_large_library(repository):
    environment = {**os.environ, "ROS_VERSION": "1"}
    for script in sorted((repository / "scripts").glob("*.py")):
        command = [sys.executable, "-X", "importtime", str(script), "--help"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE,
                              check=False, env=environment)  # fmt: skip
        assert done.returncode == 0, f"{script.name}: {done.stderr[-500:]}"
        loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
        assert not loaded & set(LARGE_LIBRARIES), script.name
