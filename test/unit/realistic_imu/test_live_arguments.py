"""The arguments of nodes, once for every shell."""

from xml.etree import ElementTree

import pytest

from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.core.files import package_share
from imu_simulation_framework.core.settings import keys_of
from imu_simulation_framework.realistic_imu.live import LiveImu, RealisticImuArguments
from imu_simulation_framework.realistic_imu.node_sessions import LiveCorrector, read_arguments

OF_ROSLAUNCH = {LiveImu: {"required"}, LiveCorrector: {"input", "output"}}


@pytest.mark.parametrize("session", OF_ROSLAUNCH)
def test_the_launch_file_has_the_same_arguments_defaults_and_meanings(session):
    path = package_share() / "launch" / f"{session.name}.launch"
    root = ElementTree.parse(path).getroot()
    given = {arg.get("name"): arg for arg in root.iter("arg")}
    keys = {key.name: key for key in keys_of(session.arguments_type)}
    assert set(given) - OF_ROSLAUNCH[session] == set(keys)
    assert {param.get("name") for param in root.iter("param")} - {"working_directory"} == set(keys)
    for name, key in keys.items():
        assert given[name].get("doc") == key.metadata["about"], name
        text = given[name].get("default")
        kinds = {"float": float, "int": int, "bool": lambda word: word == "true"}
        assert kinds.get(key.type, str)(text) == key.default, name


def test_what_looks_like_a_number_may_be_a_name():
    given = {"specification": 9250, "drop_repeated": True}
    made = read_arguments(
        RealisticImuArguments, "node", lambda name, default: given.get(name, default)
    )
    assert (made.specification, made.drop_repeated) == ("9250", "true")


def test_an_error_begins_with_the_node():
    with pytest.raises(ConfigurationError, match="^node: seed is -1, but it must be at least 0"):
        read_arguments(
            RealisticImuArguments, "node", lambda name, default: {"seed": -1}.get(name, default)
        )
