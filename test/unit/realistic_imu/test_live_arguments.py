"""Arguments of node sessions, which ROS 1 and ROS 2 share."""

from xml.etree import ElementTree

import pytest

from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.core.files import package_share
from imu_simulation_framework.core.settings import keys_of
from imu_simulation_framework.realistic_imu.live import LiveImu, RealisticImuArguments
from imu_simulation_framework.realistic_imu.node_sessions import LiveCorrector, read_arguments

LAUNCH_ONLY_ARGUMENTS = {LiveImu: {"required"}, LiveCorrector: {"input", "output"}}


@pytest.mark.parametrize("session", LAUNCH_ONLY_ARGUMENTS)
def test_launch_file_arguments_match_those_of_node(session):
    path = package_share() / "launch" / f"{session.name}.launch"
    root = ElementTree.parse(path).getroot()
    values = {arg.get("name"): arg for arg in root.iter("arg")}
    keys = {key.name: key for key in keys_of(session.arguments_type)}
    assert set(values) - LAUNCH_ONLY_ARGUMENTS[session] == set(keys)
    assert {param.get("name") for param in root.iter("param")} - {"working_directory"} == set(keys)
    for name, key in keys.items():
        assert values[name].get("doc") == key.metadata["about"], name
        text = values[name].get("default")
        kinds = {"float": float, "int": int, "bool": lambda word: word == "true"}
        assert kinds.get(key.type, str)(text) == key.default, name


def test_argument_values_that_look_like_numbers_are_read_as_text():
    values = {"specification": 9250, "drop_repeated": True}
    made = read_arguments(
        RealisticImuArguments, "node", lambda name, default: values.get(name, default)
    )
    assert (made.specification, made.drop_repeated) == ("9250", "true")


def test_invalid_argument_is_reported_with_node_name():
    with pytest.raises(ConfigurationError, match="^node: seed is -1, expected"):
        read_arguments(
            RealisticImuArguments, "node", lambda name, default: {"seed": -1}.get(name, default)
        )
