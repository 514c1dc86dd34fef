"""Signals at the end of run_experiment.py, and imports of long-running programs."""

import subprocess
import sys

from patience import PATIENCE

SIGNALS_AT_EXIT = """
import atexit, os, signal, sys
from imu_simulation_framework.ros1.entry_points import start_launcher
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    atexit.register(os.kill, os.getpid(), number)
sys.argv = ["run_experiment.py", "--help"]
sys.exit(start_launcher())
"""


def test_launcher_exit_code_is_not_affected_by_signals_at_exit():
    program = [sys.executable, "-c", SIGNALS_AT_EXIT]
    ended = subprocess.run(program, capture_output=True, text=True, timeout=PATIENCE)
    assert ended.returncode == 0, ended.stderr


MODULES = (
    *("mujoco_simulator", "error_publisher", "imu_yaw_publisher", "result_comparison"),
    "launching.launcher",
)
MODULES_LOADED = """
import importlib, sys
for name in sys.argv[1:]:
    importlib.import_module(f"imu_simulation_framework.ros1.{name}")
    print(name, *{"pandas", "scipy", "matplotlib"} & {*sys.modules})
"""


def test_long_running_programs_do_not_import_large_libraries():
    names = [name if "." in name else f"nodes.{name}" for name in MODULES]
    program = [sys.executable, "-c", MODULES_LOADED, *names]
    loaded = subprocess.run(program, stdout=subprocess.PIPE, text=True, timeout=PATIENCE).stdout
    # Each of these libraries occupies 40 to 60 MB of memory per process.
    assert loaded.splitlines() == names
