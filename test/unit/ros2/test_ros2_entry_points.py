"""Command lines of ROS 2 nodes that are rejected before rclpy is imported."""

import sys

import pytest

from imu_simulation_framework.ros2 import entry_points
from imu_simulation_framework.ros2.entry_points import start_node

NODES = [("realistic_imu", "RealisticImuNode"), ("external_robot", "ExternalRobot")]


@pytest.fixture
def call_node(monkeypatch):
    """Return a function that starts a node with the given arguments, up to the import of rclpy."""
    monkeypatch.setattr(entry_points, "_start", lambda *_: None)

    def call(module, class_name, *arguments):
        monkeypatch.setattr(sys, "argv", [f"{module}.py", *arguments])
        start_node(module, class_name)

    return call


@pytest.mark.parametrize("node", NODES, ids=lambda node: node[0])
@pytest.mark.parametrize(
    "arguments, syntax",
    [
        (["specification:=x"], "-p specification:=x"),
        (["_specification:=x y"], "-p 'specification:=x y'"),
        (["~seed:=3"], "-p seed:=3"),
        (["__name:=other"], "-r __node:=other"),
        (["--ros-args", "-p", "seed:=3", "--", "imu:=/my_imu"], "-r imu:=/my_imu"),
    ],
)
def test_ros1_syntax_is_rejected_with_syntax_of_ros2(call_node, capsys, node, arguments, syntax):
    with pytest.raises(SystemExit) as exit_info:
        call_node(*node, *arguments)
    assert exit_info.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"{node[0]}.py: {arguments[-1]} ")
    assert f"--ros-args {syntax}" in line


def test_ros2_arguments_are_accepted(call_node):
    call_node(*NODES[0], "--ros-args", "-p", "seed:=3", "-r", "__node:=other", "--", "more")
