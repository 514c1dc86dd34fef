"""Arguments of an experiment reach its settings as they stand, or are refused with a sentence."""

import os
import sys
from pathlib import Path

import pytest
import roslaunch
import rospkg

from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.core.files import package_share
from imu_simulation_framework.ros1.launching.launcher import (
    argument_help,
    check_arguments,
    experiment_parameters,
    load_launch_file,
)
from imu_simulation_framework.ros1.node import node_configuration

LAUNCH_FILE = str(package_share() / "launch" / "experiment.launch")
ODD_NAMES = [
    "it's.bag",
    'say "yes".bag',
    "back\\slash.bag",
    "two  blanks.bag",
    "{braces}.bag",
    "$(find rospy).bag",
    "$(nothing).bag",
    "${1 + 1}.bag",
    "$(eval 1 + 1)",
    "<&>.bag",
    "1e3",
    "true",
]


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    """What the installed package has: roslaunch finds it, and xacro."""
    packages = [str(package_share()), os.environ.get("ROS_PACKAGE_PATH", "")]
    monkeypatch.setenv("ROS_PACKAGE_PATH", os.pathsep.join(filter(None, packages)))
    programs = [str(Path(sys.executable).parent), os.environ["PATH"]]
    monkeypatch.setenv("PATH", os.pathsep.join(programs))
    monkeypatch.setenv("ROS_MASTER_URI", "http://localhost:11311")


def loaded(*arguments):
    """Values of the parameters that experiment.launch sets, by name below /experiment/."""
    config = load_launch_file(LAUNCH_FILE, list(arguments))
    return {
        name[len("/experiment/") :]: parameter.value
        for name, parameter in config.params.items()
        if name.startswith("/experiment/")
    }


@pytest.mark.parametrize("name", ODD_NAMES)
def test_a_name_stays_what_it_is(name):
    parameters = loaded(f"recording:={name}", f"config:={name}", f"output:={name}")
    assert parameters["settings/recording/path"] == name
    assert parameters["settings/experiment/output"] == name
    assert parameters["config"] == name


@pytest.mark.parametrize("name", ["$(find rospy)", "it's", "$(nothing) {x}"])
def test_the_folder_stays_what_it_is(name, tmp_path, monkeypatch):
    folder = tmp_path / name
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PWD", "")
    assert loaded()["working_directory"] == str(folder)
    assert os.environ["PWD"] == str(folder)


def test_settings_arrive_as_text_and_override():
    text = "{imu: {rate: 200}, robot: {parameters: 'my $(nothing) robot.yaml'}}"
    settings = loaded(f"settings:={text}")["settings_text"]
    assert settings == text
    configuration = node_configuration("x", {"settings_text": settings}, {})
    assert configuration.imu.rate == 200.0
    assert Path(configuration.robot.parameters).name == "my $(nothing) robot.yaml"
    without = {"settings_text": loaded()["settings_text"]}
    assert node_configuration("x", without, {}).imu.rate == 100.0


@pytest.mark.parametrize(
    "text", ["5", "word", "[1, 2]", "{imu: 3}", "{imu: {rate: [1, 2]}}", "{a", "[" * 9999]
)
def test_settings_that_are_no_mapping_are_refused(text):
    with pytest.raises(ConfigurationError, match="expected|a section"):
        node_configuration("x", {"settings_text": text}, {})


def test_settings_with_a_character_that_no_name_has_are_refused():
    with pytest.raises(ConfigurationError, match="one line of text"):
        node_configuration("x", {"settings_text": r'{recording: {path: "a\0b"}}'}, {})


@pytest.mark.parametrize(
    "argument", ["record:=maybe", "gui:=2", "rviz:=", "table:=no", "view:=foo"]
)
def test_a_value_that_is_no_choice_is_refused(argument):
    with pytest.raises(ConfigurationError, match=f"{argument}: expected one of"):
        check_arguments(LAUNCH_FILE, [argument])


def test_values_are_the_given_ones_and_else_the_defaults():
    values = check_arguments(LAUNCH_FILE, ["imu:=ideal", "recording:=a:=b"])
    assert (values["imu"], values["recording"]) == ("ideal", "a:=b")
    assert (values["view"], values["simulator"], values["seed"]) == ("none", "", "")
    assert "recorder" not in values


def test_the_help_has_every_argument_with_its_meaning(monkeypatch):
    # What this program was started with does not matter.
    monkeypatch.setattr(sys, "argv", ["run_experiment.py", "view:=foo"])
    lines = argument_help(LAUNCH_FILE).splitlines()[1:]
    told = {line.split(":=")[0].strip(): line.split(":=", 1)[1].strip() for line in lines}
    assert set(told) == set(check_arguments(LAUNCH_FILE, []))
    assert all(told.values())
    assert told["config"].endswith(f"(default: {package_share() / 'config.ini'})")


@pytest.mark.parametrize(
    ("argument", "sentence"),
    [
        ("view:=foo", "'foo' is not in list"),
        ("view:=multiplot", "not found .*rqt_multiplot"),
        ("rviz:=true", "not found .*rviz"),
        ("simulator:=gazebo", "not found .*gazebo_ros"),
    ],
)
def test_plain_roslaunch_starts_nothing_where_something_is_missing(argument, sentence, monkeypatch):
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(package_share()))
    monkeypatch.setenv("ROS_ROOT", str(package_share()))
    with pytest.raises((roslaunch.RLException, rospkg.ResourceNotFound), match=sentence):
        load_launch_file(LAUNCH_FILE, [argument])


def test_what_nodes_will_read_is_known_before_they_start(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.ini").write_text("[simulation]\nsimulator = gazebo\n[imu]\nmodel = generic\n")
    given = ["config:=mine.ini", "seed:=5", "settings:={control: {rate: 10.0}}"]
    values = check_arguments(LAUNCH_FILE, given)
    configuration = node_configuration("it", experiment_parameters(LAUNCH_FILE, values), {})
    assert configuration.simulation.simulator == "gazebo"
    assert configuration.imu.model == "generic"
    assert (configuration.experiment.seed, configuration.control.rate) == (5, 10.0)
    values = check_arguments(LAUNCH_FILE, [*given, "simulator:=embedded"])
    configuration = node_configuration("it", experiment_parameters(LAUNCH_FILE, values), {})
    assert configuration.simulation.simulator == "mujoco"


def test_it_is_what_roslaunch_tells_the_nodes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    given = ["drive:=d", "imu:=ideal", "terrain:=uneven", "output:=here", "simulator:=mujoco"]
    told = parameters_of(load_launch_file(LAUNCH_FILE, given))
    known = experiment_parameters(LAUNCH_FILE, check_arguments(LAUNCH_FILE, given))
    assert told["settings"] == known["settings"]
    assert told["settings_text"] == known["settings_text"]
    assert Path(told["config"]) == Path(known["config"])
    assert told["working_directory"] == known["working_directory"]


def parameters_of(config):
    """The parameters below ``experiment``, as nodes read them."""
    found = {}
    for name, parameter in config.params.items():
        if name.startswith("/experiment/"):
            *groups, key = name[len("/experiment/") :].split("/")
            target = found
            for group in groups:
                target = target.setdefault(group, {})
            target[key] = parameter.value
    return found


def test_a_simulator_that_was_not_started_is_refused():
    experiment = {"simulator": "mujoco", "settings": {"simulation": {"simulator": "gazebo"}}}
    with pytest.raises(ConfigurationError, match="say simulator:=gazebo as well"):
        node_configuration("it", experiment, {})
    experiment["simulator"] = "gazebo"
    assert node_configuration("it", experiment, {}).simulation.simulator == "gazebo"


def test_a_folder_of_call_that_was_removed_is_refused(tmp_path):
    # As roslaunch hands it over: the name that the shell still has, or none.
    for folder in (str(tmp_path / "gone"), ""):
        with pytest.raises(ConfigurationError, match="in which it was called does not exist any"):
            node_configuration("it", {"working_directory": folder}, {})
