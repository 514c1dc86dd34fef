"""Launch files of ROS 2, whose arguments are the parameters of the nodes, as with roslaunch.

PyPI has no launch; substitutes only store the arguments with which the files call them.
"""

import re
import runpy
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from xml.etree import ElementTree

import pytest

from imu_simulation_framework.core.settings import keys_of
from imu_simulation_framework.drive.configuration import ExternalSection
from imu_simulation_framework.realistic_imu.live import LiveImu
from imu_simulation_framework.realistic_imu.node_sessions import LiveCorrector
from imu_simulation_framework.ros2.node import ShellArguments

LAUNCH = Path(__file__).resolve().parents[2] / "launch"
NAMES = {
    "launch": ["LaunchDescription"],
    "launch.actions": ["DeclareLaunchArgument", "ExecuteProcess", "Shutdown"],
    "launch.conditions": ["IfCondition"],
    "launch.substitutions": ["LaunchConfiguration"],
    "launch_ros": [],
    "launch_ros.actions": ["Node"],
    "launch_ros.parameter_descriptions": ["ParameterValue"],
}


@pytest.fixture
def description(monkeypatch):
    """Return a function that reads the launch description of a launch file."""
    for module, names in NAMES.items():
        stand_in = ModuleType(module)
        for name in names:
            setattr(stand_in, name, lambda *given, **words: SimpleNamespace(given=given, **words))
        monkeypatch.setitem(sys.modules, module, stand_in)
    monkeypatch.delitem(sys.modules, "imu_simulation_framework.ros2.launching", raising=False)

    def read(name):
        file = runpy.run_path(str(LAUNCH / f"{name}.launch.py"))
        return file["generate_launch_description"]().given[0]

    yield read
    monkeypatch.delitem(sys.modules, "imu_simulation_framework.ros2.launching")


@pytest.fixture(params=[LiveImu, LiveCorrector], ids=lambda session: session.name)
def described(request, description):
    """Return the session class, the arguments by name and the node of a launch file."""
    *arguments, node = description(request.param.name)
    return request.param, {argument.given[0]: argument for argument in arguments}, node


def test_ros2_launch_arguments_include_those_of_roslaunch(described):
    session, arguments, _ = described
    root = ElementTree.parse(LAUNCH / f"{session.name}.launch").getroot()
    roslaunch_arguments = {arg.get("name"): arg for arg in root.iter("arg")}
    assert set(arguments) == {*roslaunch_arguments, "qos", "use_sim_time", "required"}
    for key in keys_of(session.arguments_type):
        argument, like = arguments[key.name], roslaunch_arguments[key.name]
        assert argument.description == like.get("doc")
        read = {"float": float, "int": int}.get(key.type, str)
        assert read(argument.default_value) == read(like.get("default"))
        assert argument.choices == key.metadata.get("choices")
    for name in {"input", "output"} & set(roslaunch_arguments):
        assert arguments[name].default_value == roslaunch_arguments[name].get("default")


def test_ros2_parameter_has_type_of_launch_argument(described):
    session, arguments, node = described
    assert (node.executable, node.name) == (f"{session.name}.py", session.name)
    assert node.package == "imu_simulation_framework"
    (parameters,) = node.parameters
    types = {"str": str, "int": int, "float": float, "bool": bool}
    keys = [*keys_of(session.arguments_type), *keys_of(ShellArguments)]
    expected = {**{key.name: types[key.type] for key in keys}, "use_sim_time": bool}
    assert {name: value.value_type for name, value in parameters.items()} == expected
    for name, value in parameters.items():
        assert value.given[0].given == (name,)
    remapped = {topic: given.given[0] for topic, given in node.remappings}
    assert set(remapped.values()) | set(parameters) | {"required"} == set(arguments)
    if session is LiveCorrector:
        assert remapped == {"imu/data_raw": "input", "imu/data": "output"}


def test_exit_of_required_node_shuts_down_launch(described):
    _, _, node = described
    (shutdown,) = node.on_exit
    assert shutdown.condition.given[0].given == ("required",)


def test_ros2_experiment_arguments_match_roslaunch(description, monkeypatch):
    monkeypatch.setattr("ament_index_python.packages.get_package_prefix", lambda _: "/ws")
    *arguments, run = description("experiment")
    root = ElementTree.parse(LAUNCH / "experiment.launch").getroot()
    roslaunch_arguments = {arg.get("name"): arg for arg in root.findall("arg") if arg.get("doc")}
    assert [argument.given[0] for argument in arguments] == list(roslaunch_arguments)
    program, *given = run.cmd
    assert program == "/ws/lib/imu_simulation_framework/run_experiment.py"
    assert [(name, value.given[0]) for name, value in given] == [
        (f"{name}:=", name) for name in roslaunch_arguments
    ]


def test_gz_sim_launch_file_has_standstill_of_realistic_imu(description, monkeypatch):
    monkeypatch.setattr("ament_index_python.packages.get_package_prefix", lambda _: "/ws")
    _, _, standstill, *_, imu = description("gz_robot")
    arguments = description("realistic_imu")[:-1]
    (like,) = (argument for argument in arguments if argument.given[0] == "standstill")
    assert (standstill.given[0], standstill.default_value, standstill.description) == (
        "standstill", like.default_value, like.description
    )  # fmt: skip
    (parameters,) = imu.parameters
    assert parameters["standstill"].value_type is float
    assert parameters["standstill"].given[0].given == ("standstill",)


def test_gz_sim_topics_are_bridged_and_errors_are_added_to_imu(description, monkeypatch):
    monkeypatch.setattr("ament_index_python.packages.get_package_prefix", lambda _: "/ws")
    experiment, _, _, simulator, bridge, imu = description("gz_robot")
    *arguments, _ = experiment.given[0]
    defaults = {argument.given[0]: argument.default_value for argument in arguments}
    assert (defaults["simulator"], defaults["imu"]) == ("external", "published")
    world = ElementTree.parse(simulator.cmd[-1])
    (drive, place) = world.findall(".//model/plugin")
    # For each topic, the direction (to or from Gazebo) and the Gazebo message type.
    expected = {
        f"/{drive.findtext('topic')}": ("]", "gz.msgs.Twist"),
        f"/{place.findtext('odom_topic')}": ("[", "gz.msgs.Odometry"),
        f"/{world.findtext('.//sensor/topic')}": ("[", "gz.msgs.IMU"),
        "/clock": ("[", "gz.msgs.Clock"),
    }
    pattern = re.compile(r"(/[\w/]+)@[\w/]+([\[\]])([\w.]+)")
    matches = map(pattern.fullmatch, bridge.arguments)
    bridged = {match[1]: (match[2], match[3]) for match in matches}
    assert bridged == expected
    external = ExternalSection()
    (parameters,) = imu.parameters
    assert f"/{parameters['input']}" in bridged
    assert parameters["output"] == external.imu
    assert {f"/{external.command}", f"/{external.odometry}"} <= set(bridged)
