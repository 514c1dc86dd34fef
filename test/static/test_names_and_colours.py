"""Topics, frames and colours in files of other programs match those of the library."""

import re
import xml.etree.ElementTree as ElementTree

import pytest
import yaml

from imu_simulation_framework.core import colours, topics
from imu_simulation_framework.drive.robots.files import robot_description
from imu_simulation_framework.drive.turning import load_robot_parameters

COLOURS = {
    "ground truth": colours.LIVE_TRUTH,
    "recorded IMU": colours.REAL,
    "simulated IMU": colours.SIMULATED,
}


def read_rviz_file(repository, name):
    """Return the displayed topics and the two frames of an RViz file."""
    text = (repository / f"rviz/{name}.rviz").read_text(encoding="utf-8")
    manager = yaml.safe_load(text)["Visualization Manager"]
    shown = {item["Topic"] for item in manager["Displays"] if "Topic" in item}
    frames = manager["Global Options"]["Fixed Frame"], manager["Views"]["Current"]["Target Frame"]
    return shown, frames


@pytest.mark.parametrize("plugin", ["generic", "hector"])
def test_gazebo_robot_uses_topics_and_frames_of_library(plugin):
    robot = ElementTree.fromstring(
        robot_description(load_robot_parameters(), simulator="gazebo", imu_plugin=plugin)
    )
    published = {topics.absolute_topic(item.text) for item in robot.iter("topicName")}
    assert published == {
        topics.absolute_topic(topics.GROUND_TRUTH),
        topics.absolute_topic(topics.IMU),
    }
    torque_topics = {item.text for item in robot.iter("torqueTopicName")}
    assert torque_topics == {topics.WHEEL_TORQUES}
    assert {item.text for item in robot.iter("jointName")} == set(topics.WHEEL_JOINTS)
    frames = {item.text for tag in ("frameName", "frameId") for item in robot.iter(tag)}
    bodies = {item.text for item in robot.iter("bodyName")}
    assert frames == {topics.WORLD_FRAME, topics.IMU_FRAME}
    assert bodies == {topics.ROBOT_FRAME, topics.IMU_FRAME}
    driven_joints = {item.get("name") for item in robot.findall("transmission/joint")}
    assert driven_joints == set(topics.WHEEL_JOINTS)


def test_ground_truth_plugin_uses_topics_of_library(repository):
    source = (repository / "src/gazebo/ground_truth.cpp").read_text(encoding="utf-8")
    assert f'"topicName", "{topics.GROUND_TRUTH}"' in source
    assert f'"torqueTopicName", "{topics.WHEEL_TORQUES}"' in source


def test_topic_and_service_descriptions_cover_names_and_types_of_package(repository):
    described = [*topics.TOPIC_DESCRIPTIONS, *topics.SERVICE_DESCRIPTIONS]
    names = {name for interface in described for name in interface.names.split(", ")}
    constants = [value for name, value in vars(topics).items() if name.isupper()]
    known = {value for value in constants if isinstance(value, str) and "/" in value}
    not_of_experiment = {topics.DIAGNOSTICS, topics.GROUND_TRUTH_IMU, topics.GROUND_TRUTH_ORIGIN}
    assert known - not_of_experiment <= names
    types = {kind for interface in described for kind in interface.type.split(", ")}
    message_types = {
        path.stem for path in [*repository.glob("msg/*.msg"), *repository.glob("srv/*.srv")]
    }
    assert message_types <= types


def test_colours_and_topics_are_defined_only_in_their_modules(repository):
    homes = {"colours.py", "topics.py"}
    quoted = re.compile(
        r'"(#[0-9a-f]{6}|/?imu/data(/bias)?|/?ground_truth/(state|wheel_torques)|base_footprint|imu_link|'
        r'(left|right)_wheel_joint|/clock|/tf)"'
    )
    for path in (repository / "src/imu_simulation_framework").rglob("*.py"):
        if path.name not in homes:
            match = quoted.search(path.read_text(encoding="utf-8"))
            assert match is None, f"{path.name}: {match.group()}"


def test_rviz_files_use_topics_and_frames_of_library(repository):
    shown = (topics.REFERENCE_PATH, topics.DRIVEN_PATH, topics.MAGNETIC_ARROW)
    experiment_topics = {topics.absolute_topic(name) for name in shown}
    frames = (topics.WORLD_FRAME, topics.ROBOT_FRAME)
    assert read_rviz_file(repository, "experiment") == (experiment_topics, frames)
    flight_topics = {
        topics.absolute_topic(topics.DRIVEN_PATH),
        topics.absolute_topic(topics.GROUND_TRUTH),
    }
    frames = (topics.WORLD_FRAME, topics.AIRCRAFT_FRAME)
    assert read_rviz_file(repository, "airborne") == (flight_topics, frames)


def test_rqt_multiplot_file_uses_topics_and_colours_of_library(repository):
    tree = ElementTree.parse(repository / "rqt_multiplot_imu_config.xml")
    curves = [item for item in tree.iter() if re.fullmatch(r"curve_\d+", item.tag)]
    names = [value for name, value in vars(topics).items() if name.isupper()]
    known_topics = {topics.absolute_topic(name) for name in names if isinstance(name, str)}
    assert curves
    for curve in curves:
        shown = {item.text for item in curve.iter("topic")}
        assert shown <= known_topics
        assert curve.find("color/custom_color").text == COLOURS[curve.find("title").text]
