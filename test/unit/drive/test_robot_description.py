"""Parameters of the robot, and the robot description generated from them."""

import shutil
import subprocess
import xml.etree.ElementTree as ElementTree

import pytest
import yaml

from imu_simulation_framework.core import topics
from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.core.files import urdf_path
from imu_simulation_framework.core.xacro_expansion import expand_xacro
from imu_simulation_framework.drive.robots.files import robot_description
from imu_simulation_framework.drive.turning import load_robot_parameters


@pytest.fixture(scope="module")
def numbers():
    return yaml.safe_load(urdf_path("robot.yaml").read_text(encoding="utf-8"))


@pytest.fixture
def write(tmp_path):
    """Return a function that writes robot parameters with an optional change."""

    def write_parameters(content, section="", key="", value=None):
        if section:
            content = {**content, section: {**content[section], key: value}}
        path = tmp_path / "other_robot.yaml"
        path.write_text(yaml.safe_dump(content), encoding="utf-8")
        return path

    return write_parameters


def _joints(urdf):
    return {joint.get("name"): joint for joint in ElementTree.fromstring(urdf).iter("joint")}


def _origin(joint):
    return [float(number) for number in joint.find("origin").get("xyz").split()]


def test_description_is_valid_and_has_only_wheel_joints(tmp_path, numbers):
    path = tmp_path / "robot.urdf"
    path.write_text(robot_description(load_robot_parameters()), encoding="utf-8")
    tool = shutil.which("check_urdf")
    assert tool, "check_urdf is missing; Debian has it in liburdfdom-tools"
    checked = subprocess.run([tool, str(path)], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert "root Link: base_footprint" in checked.stdout
    robot = ElementTree.fromstring(robot_description(load_robot_parameters()))
    links = {link.get("name") for link in robot.iter("link")}
    turning = set()
    for joint in robot.iter("joint"):
        assert joint.find("parent").get("link") in links
        assert joint.find("child").get("link") in links
        if joint.get("type") != "fixed":
            turning.add(joint.get("name"))
    assert turning == set(topics.WHEEL_JOINTS) == {"left_wheel_joint", "right_wheel_joint"}
    assert {topics.ROBOT_FRAME, topics.IMU_FRAME, "base_link"} <= links
    joints = _joints(robot_description(load_robot_parameters()))
    left, right = _origin(joints["left_wheel_joint"]), _origin(joints["right_wheel_joint"])
    assert left[1] - right[1] == pytest.approx(2.0 * numbers["wheel"]["half_track"])
    axle_height = _origin(joints["base_joint"])[2]
    assert axle_height == numbers["wheel"]["radius"]
    caster_height = axle_height + _origin(joints["left_caster_joint"])[2]
    assert caster_height == pytest.approx(numbers["caster"]["radius"])
    # The casters are centred at (0.40, 0.14) and have a radius of 0.05 m.
    assert load_robot_parameters().footprint_radius == pytest.approx(0.05 + 0.1796**0.5)


def test_changed_parameters_affect_description_and_kinematics_consistently(numbers, write):
    content = {**numbers, "imu": {**numbers["imu"], "position": [0.05, 0.02, 0.30]}}
    parameters = load_robot_parameters(write(content, "wheel", "radius", 0.13))
    assert parameters.drivetrain.wheel_radius == 0.13
    assert parameters.imu_position == (0.05, 0.02, 0.30)
    joints = _joints(robot_description(parameters))
    assert _origin(joints["base_joint"])[2] == 0.13
    assert _origin(joints["imu_joint"]) == pytest.approx([0.05, 0.02, 0.30 - 0.13])


@pytest.mark.parametrize(
    "name",
    [
        *("it's.yaml", 'say "yes".yaml', "back\\slash.yaml", "two  blanks.yaml", "{braces}}.yaml"),
        *("$(nothing).yaml", "$(find xacro).yaml", "${1 % 0}.yaml"),
        "') or (lambda: 1 % 0)() or ('.yaml",
    ],
)
def test_parameter_file_name_is_not_evaluated_as_expression(numbers, tmp_path, write, name):
    path = write(numbers, "wheel", "radius", 0.13).rename(tmp_path / name)
    joints = _joints(robot_description(load_robot_parameters(path)))
    assert _origin(joints["base_joint"])[2] == 0.13


def test_unknown_or_missing_key_or_unstable_robot_is_rejected(numbers, write):
    drive = {key: value for key, value in numbers["drive"].items() if key != "max_wheel_torque"}
    for change, words in (
        (("wheel", "radus", 0.1), r"other_robot.yaml: wheel .*'radus'"),
        (("chassis", "centre_of_mass", [-0.05, 0.0, 0.1]), "between the axle and the casters"),
        ((), "drive lacks the key max_wheel_torque"),
    ):
        with pytest.raises(ConfigurationError, match=words):
            load_robot_parameters(
                write(numbers if change else {**numbers, "drive": drive}, *change)
            )


@pytest.mark.parametrize(
    "section, key, value",
    [
        ("wheel", "radius", 0.0),
        ("wheel", "radius", True),
        ("chassis", "mass", float("nan")),
        ("imu", "position", [0.1, 0.2]),
        ("contact", "caster_friction", -0.1),
        ("wheel", "half_track", 1e-320),
        ("imu", "size", [1, 1e-99, 1]),
        *(("wheel", "positions", value) for value in ([], 0.1, [0.1, 0.1], [0.1, "far"])),
    ],
)
def test_invalid_parameter_value_is_rejected(numbers, write, section, key, value):
    path = write(numbers, section, key, value)
    words = rf"robot.yaml: {section}\.{key} is .*(, expected | too small)"
    with pytest.raises(ConfigurationError, match=words):
        load_robot_parameters(path)


@pytest.fixture(scope="module")
def four_wheels():
    content = yaml.safe_load(urdf_path("robot_four_wheels.yaml").read_text(encoding="utf-8"))
    return {**content, "like": str(urdf_path(content["like"]))}


def test_four_wheeled_robot_has_two_wheels_per_side_and_no_casters(numbers, four_wheels):
    parameters = load_robot_parameters(urdf_path("robot_four_wheels.yaml"))
    joints = _joints(robot_description(parameters))
    turning = [name for name, joint in joints.items() if joint.get("type") == "continuous"]
    assert tuple(turning) == parameters.wheel_joints
    left, right = turning[:2], turning[2:]
    assert all(name.startswith("left_wheel") for name in left)
    assert all(name.startswith("right_wheel") for name in right)
    wheel = {**numbers["wheel"], **four_wheels["wheel"]}
    for side, names in ((1.0, left), (-1.0, right)):
        places = [_origin(joints[name]) for name in names]
        assert places == [[x, side * wheel["half_track"], 0.0] for x in wheel["positions"]]
    assert not [name for name in joints if "caster" in name]
    assert parameters.drivetrain.half_track == wheel["turning_half_track"]
    reach = (wheel["positions"][0] + wheel["radius"], wheel["half_track"] + wheel["width"] / 2.0)
    assert parameters.footprint_radius == pytest.approx((reach[0] ** 2 + reach[1] ** 2) ** 0.5)


def test_four_wheeled_robot_in_gazebo_has_gazebo_track_width_and_driven_wheels_with_friction(
    four_wheels,
):
    path = urdf_path("robot_four_wheels.yaml")
    description = load_robot_parameters(path, "gazebo")
    assert description.drivetrain.half_track == four_wheels["wheel"]["turning_half_track_in_gazebo"]
    assert description.drivetrain.half_track != load_robot_parameters(path).drivetrain.half_track
    parameters = load_robot_parameters(urdf_path("robot_four_wheels.yaml"))
    robot = ElementTree.fromstring(robot_description(parameters, simulator="gazebo"))
    driven = {joint.get("name") for joint in robot.findall("transmission/joint")}
    assert driven == set(parameters.wheel_joints)
    contacts = [item for item in robot.iter("gazebo") if item.find("mu1") is not None]
    friction = {item.get("reference"): float(item.findtext("mu1")) for item in contacts}
    wheels = [name[: -len("_joint")] for name in parameters.wheel_joints]
    assert friction == dict.fromkeys(wheels, parameters.contact.wheel_friction)


def test_gazebo_parameter_defaults_to_common_parameter(numbers, write):
    path = write(numbers, "wheel", "turning_half_track", 0.3)
    for simulator in ("mujoco", "gazebo"):
        assert load_robot_parameters(path, simulator).drivetrain.half_track == 0.3


def test_robot_with_more_than_two_wheels_may_have_casters(numbers, write):
    parameters = load_robot_parameters(write(numbers, "wheel", "positions", [0.1, -0.1]))
    joints = _joints(robot_description(parameters))
    assert len(parameters.wheel_joints) == 4
    assert "left_caster_joint" in joints
    assert parameters.drivetrain.half_track == numbers["wheel"]["half_track"]


def test_robot_without_casters_needs_wheels_at_both_ends(four_wheels, write):
    path = write(four_wheels, "chassis", "centre_of_mass", [0.19, 0.0, 0.1])
    with pytest.raises(
        ConfigurationError, match="between the rear and the front wheels .* -0.18 to 0.18"
    ):
        load_robot_parameters(path)
    with pytest.raises(ConfigurationError, match="key caster is missing"):
        load_robot_parameters(write(four_wheels, "wheel", "positions", [0.0]))


def test_missing_or_invalid_parameter_file_is_rejected_with_file_name(tmp_path):
    with pytest.raises(ConfigurationError, match="nowhere.yaml: .* cannot be read"):
        load_robot_parameters(tmp_path / "nowhere.yaml")
    broken = tmp_path / "broken.xacro"
    broken.write_text(
        '<robot name="x" xmlns:xacro="http://www.ros.org/wiki/xacro">'
        '<link name="${unknown}"/></robot>',
        encoding="utf-8",
    )
    with pytest.raises(ConfigurationError, match=r"broken.xacro.*unknown"):
        expand_xacro(broken)
