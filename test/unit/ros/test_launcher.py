"""What run_experiment.py makes of the launch file, up to where it would start nodes."""

import os
import subprocess
import sys

import pytest

from imu_simulation_framework.core.files import urdf_path
from imu_simulation_framework.ros1.launching import launcher


@pytest.fixture
def loaded(tmp_path, monkeypatch):
    """Run the launcher with these arguments; return what would have been launched."""
    monkeypatch.chdir(tmp_path)
    for name, value in {
        "ROS_MASTER_URI": "http://127.0.0.1:1",
        "ROS_IP": "127.0.0.1",
        "ROS_HOME": str(tmp_path / "ros"),
        "ROS_LOG_DIR": str(tmp_path / "ros" / "log"),
    }.items():
        monkeypatch.setenv(name, value)
    for name in ("ROS_HOSTNAME", "ROS_NAMESPACE"):
        monkeypatch.delenv(name, raising=False)

    def run(*arguments):
        launched = []
        monkeypatch.setattr(launcher, "run", lambda config, *_: launched.append(config))
        monkeypatch.setattr(launcher, "report", lambda _: 0)
        assert launcher.main(list(arguments)) == 0
        return launched[0]

    return run


def nodes(config):
    return {node.name for node in config.nodes}


def test_the_bundled_drive_is_driven_in_mujoco(loaded):
    config = loaded()
    assert {"mujoco_simulator", "path_follower", "robot_state_publisher"} <= nodes(config)
    assert "gazebo" not in nodes(config)
    assert config.params["/experiment/simulator"].value == "mujoco"


def test_a_simulator_named_by_its_former_name_is_started(loaded):
    assert "mujoco_simulator" in nodes(loaded("simulator:=embedded"))


def test_the_robot_that_is_shown_is_the_configured_one(loaded, tmp_path):
    bundled = loaded().params["/robot_description"].value
    text = urdf_path("robot.yaml").read_text("utf-8")
    (tmp_path / "robot.yaml").write_text(text.replace("radius: 0.10\n", "radius: 0.123\n", 1))
    shown = loaded("settings:={robot: {parameters: robot.yaml}}").params["/robot_description"].value
    assert "0.123" in shown
    assert "0.123" not in bundled


ALONE = """
import sys

def refuse(event, arguments):
    if event in ("subprocess.Popen", "os.posix_spawn", "os.fork"):
        sys.exit(f"{event} {arguments}")

sys.addaudithook(refuse)
import imu_simulation_framework.ros1.nodes.mujoco_simulator
"""


def test_the_simulator_starts_without_another_process(loaded):
    """One that is killed with it, while both start, would print a traceback."""
    (node,) = [node for node in loaded().nodes if node.name == "mujoco_simulator"]
    environment = {**os.environ, **dict(node.env_args)}
    program = [sys.executable, "-c", ALONE]
    done = subprocess.run(program, env=environment, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
