"""Controllers of the robot in Gazebo; test/experiment covers drives with a fake Gazebo."""

import importlib
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import rospy

from imu_simulation_framework.core.errors import SimulatorError
from imu_simulation_framework.drive.turning import load_robot_parameters

# Appended to the path, so that the messages of an installed Gazebo take precedence.
sys.path.append(str(Path(__file__).resolve().parents[2] / "fake_gazebo"))
gazebo_robot = importlib.import_module("imu_simulation_framework.ros1.nodes.gazebo_robot")
sys.path.pop()


def test_controller_that_is_not_installed_is_reported(monkeypatch):
    loaded, answers = [], {}

    def load(name):
        loaded.append(name)
        return SimpleNamespace(ok=answers.get(name, True))

    monkeypatch.setattr(gazebo_robot, "wait_for_service", lambda *_: None)
    monkeypatch.setattr(gazebo_robot, "call", lambda service, name: service(name))
    monkeypatch.setattr(rospy, "set_param", lambda *_: None)
    monkeypatch.setattr(rospy, "ServiceProxy", lambda *_: load)
    node = gazebo_robot.GazeboRobot.__new__(gazebo_robot.GazeboRobot)
    node._robot = load_robot_parameters()
    for name, parameters in gazebo_robot.make_controllers(node._robot).items():
        loaded.clear()
        answers = {name: False}
        package = parameters["type"].split("/")[0]
        with pytest.raises(SimulatorError, match=f"does not load {name}; check that {package} is"):
            node._start_controllers(timeout=1.0)
        assert loaded[-1] == name
