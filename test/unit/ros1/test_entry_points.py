"""What a signal does to run_experiment.py at the very end; in between: test/experiment."""

import subprocess
import sys

import pytest

LATE = """
import atexit, os, signal, sys
from imu_simulation_framework.ros1.entry_points import start_launcher
atexit.register(os.kill, os.getpid(), signal.{name})
sys.argv = ["run_experiment.py", "--help"]
sys.exit(start_launcher())
"""


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_after_the_last_line_does_not_change_the_exit_code(name):
    program = [sys.executable, "-c", LATE.format(name=name)]
    ended = subprocess.run(program, capture_output=True, text=True, timeout=180)
    assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize(
    "module",
    [
        "ros1.nodes.mujoco_simulator",
        "ros1.nodes.error_publisher",
        "ros1.nodes.imu_yaw_publisher",
        "ros1.nodes.result_comparison",
        "ros1.launching.launcher",
    ],
)
def test_what_runs_all_the_time_imports_nothing_large(module):
    code = f"import sys, imu_simulation_framework.{module}; print(*sys.modules)"
    modules = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True).stdout
    assert module in modules
    # 40 and 60 MB in each of them.
    assert {"pandas", "scipy", "matplotlib"} & set(modules.split()) == set()


def test_a_node_that_cannot_share_a_process_is_refused():
    code = "import sys; from imu_simulation_framework.ros1.entry_points import start_node; "
    code += "sys.argv = ['x', '--beside', 'mujoco_simulator,result_comparison']; "
    code += "start_node('path_follower', 'PathFollower')"
    ended = subprocess.run([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True)
    assert (ended.returncode, ended.stderr.count("\n")) == (1, 1)
    assert "--beside mujoco_simulator,result_comparison: expected of " in ended.stderr
