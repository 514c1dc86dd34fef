"""Names and colours that files of other tools repeat are those of the library."""

import re
import xml.etree.ElementTree as ElementTree

import pytest
import yaml

from imu_simulation_framework.core import colours, topics
from imu_simulation_framework.drive.robot import load_robot_parameters, robot_description

OF_TITLE = {
    "ground truth": colours.LIVE_TRUTH,
    "recorded IMU": colours.REAL,
    "simulated IMU": colours.SIMULATED,
}


def rviz(repository, name):
    """The topics that a file of RViz displays, and its two frames."""
    text = (repository / f"rviz/{name}.rviz").read_text(encoding="utf-8")
    manager = yaml.safe_load(text)["Visualization Manager"]
    shown = {item["Topic"] for item in manager["Displays"] if "Topic" in item}
    frames = manager["Global Options"]["Fixed Frame"], manager["Views"]["Current"]["Target Frame"]
    return shown, frames


@pytest.mark.parametrize("plugin", ["generic", "hector"])
def test_gazebo_publishes_on_topics_and_in_frames_of_the_library(plugin):
    robot = ElementTree.fromstring(
        robot_description(load_robot_parameters(), simulator="gazebo", imu_plugin=plugin)
    )
    published = {topics.in_root(item.text) for item in robot.iter("topicName")}
    assert published == {topics.in_root(topics.GROUND_TRUTH), topics.in_root(topics.IMU)}
    weighed = {item.text for item in robot.iter("torqueTopicName")}
    assert weighed == {topics.WHEEL_TORQUES}
    assert {item.text for item in robot.iter("jointName")} == set(topics.WHEEL_JOINTS)
    frames = {item.text for tag in ("frameName", "frameId") for item in robot.iter(tag)}
    bodies = {item.text for item in robot.iter("bodyName")}
    assert frames == {topics.WORLD_FRAME, topics.IMU_FRAME}
    assert bodies == {topics.ROBOT_FRAME, topics.IMU_FRAME}
    driven = {item.get("name") for item in robot.findall("transmission/joint")}
    assert driven == set(topics.WHEEL_JOINTS)


def test_the_plug_in_speaks_of_the_ground_truth_by_its_name(repository):
    source = (repository / "src/gazebo/ground_truth.cpp").read_text(encoding="utf-8")
    assert f'"topicName", "{topics.GROUND_TRUTH}"' in source
    assert f'"torqueTopicName", "{topics.WHEEL_TORQUES}"' in source


def test_no_other_module_of_the_library_says_a_colour_or_a_frame(repository):
    homes = {"colours.py", "topics.py"}
    quoted = re.compile(
        r'"(#[0-9a-f]{6}|/?imu/data(/bias)?|/?ground_truth/(state|wheel_torques)|base_footprint|imu_link|'
        r'(left|right)_wheel_joint|/clock|/tf)"'
    )
    for path in (repository / "src/imu_simulation_framework").rglob("*.py"):
        if path.name not in homes:
            found = quoted.search(path.read_text(encoding="utf-8"))
            assert found is None, f"{path.name}: {found.group()}"


def test_rviz_shows_topics_and_frames_of_the_library(repository):
    shown = (topics.REFERENCE_PATH, topics.DRIVEN_PATH, topics.MAGNETIC_ARROW)
    of_experiment = {topics.in_root(name) for name in shown}
    frames = (topics.WORLD_FRAME, topics.ROBOT_FRAME)
    assert rviz(repository, "experiment") == (of_experiment, frames)
    of_flight = {topics.in_root(topics.DRIVEN_PATH), topics.in_root(topics.GROUND_TRUTH)}
    frames = (topics.WORLD_FRAME, topics.AIRCRAFT_FRAME)
    assert rviz(repository, "airborne") == (of_flight, frames)


def test_rqt_multiplot_shows_topics_in_colours_of_the_library(repository):
    tree = ElementTree.parse(repository / "rqt_multiplot_imu_config.xml")
    curves = [item for item in tree.iter() if re.fullmatch(r"curve_\d+", item.tag)]
    names = [value for name, value in vars(topics).items() if name.isupper()]
    known_topics = {topics.in_root(name) for name in names if isinstance(name, str)}
    assert curves
    for curve in curves:
        shown = {item.text for item in curve.iter("topic")}
        assert shown <= known_topics
        assert curve.find("color/custom_color").text == OF_TITLE[curve.find("title").text]
