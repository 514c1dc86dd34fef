"""What a signal does to run_experiment.py at the very end; in between: test/experiment."""

import subprocess
import sys

import pytest

LATE = """
import atexit, os, signal, sys
from imu_simulation_framework.ros.entry_points import start_launcher
atexit.register(os.kill, os.getpid(), signal.{name})
sys.argv = ["run_experiment.py", "--help"]
sys.exit(start_launcher())
"""


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_after_the_last_line_does_not_change_the_exit_code(name):
    program = [sys.executable, "-c", LATE.format(name=name)]
    ended = subprocess.run(program, capture_output=True, text=True, timeout=180)
    assert ended.returncode == 0, ended.stderr
