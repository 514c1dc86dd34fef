"""The launch files of ROS 2: their arguments are the nodes' parameters, as roslaunch has them.

PyPI has no launch; where it is not installed, what the files call only keeps what it is given.
"""

import runpy
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from xml.etree import ElementTree

import pytest

from imu_simulation_framework.core.settings import keys_of
from imu_simulation_framework.realistic_imu.corrector import LiveCorrector
from imu_simulation_framework.realistic_imu.live import LiveImu
from imu_simulation_framework.ros2.node import ShellArguments

LAUNCH = Path(__file__).resolve().parents[2] / "launch"
NAMES = {
    "launch": ["LaunchDescription"],
    "launch.actions": ["DeclareLaunchArgument", "Shutdown"],
    "launch.conditions": ["IfCondition"],
    "launch.substitutions": ["LaunchConfiguration"],
    "launch_ros": [],
    "launch_ros.actions": ["Node"],
    "launch_ros.parameter_descriptions": ["ParameterValue"],
}


@pytest.fixture(params=[LiveImu, LiveCorrector], ids=lambda session: session.name)
def described(request, monkeypatch):
    """The session, arguments by name and the node of a launch file."""
    for module, names in NAMES.items():
        stand_in = ModuleType(module)
        for name in names:
            setattr(stand_in, name, lambda *given, **words: SimpleNamespace(given=given, **words))
        monkeypatch.setitem(sys.modules, module, stand_in)
    monkeypatch.delitem(sys.modules, "imu_simulation_framework.ros2.launching", raising=False)
    file = runpy.run_path(str(LAUNCH / f"{request.param.name}.launch.py"))
    *arguments, node = file["generate_launch_description"]().given[0]
    monkeypatch.delitem(sys.modules, "imu_simulation_framework.ros2.launching")
    return request.param, {argument.given[0]: argument for argument in arguments}, node


def test_arguments_are_those_of_roslaunch_and_qos(described):
    session, arguments, _ = described
    root = ElementTree.parse(LAUNCH / f"{session.name}.launch").getroot()
    of_roslaunch = {arg.get("name"): arg for arg in root.iter("arg")}
    assert set(arguments) == {*of_roslaunch, "qos", "use_sim_time", "required"}
    for key in keys_of(session.arguments_type):
        argument, like = arguments[key.name], of_roslaunch[key.name]
        assert argument.description == like.get("doc")
        read = {"float": float, "int": int}.get(key.type, str)
        assert read(argument.default_value) == read(like.get("default"))
        assert argument.choices == key.metadata.get("choices")
    for name in {"input", "output"} & set(of_roslaunch):
        assert arguments[name].default_value == of_roslaunch[name].get("default")


def test_each_parameter_gets_its_argument_in_its_type(described):
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


def test_what_is_required_ends_the_launch(described):
    _, _, node = described
    (shutdown,) = node.on_exit
    assert shutdown.condition.given[0].given == ("required",)
