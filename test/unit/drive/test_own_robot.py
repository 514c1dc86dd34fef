"""Robots from user-defined descriptions, compared with closed-form wheel kinematics."""

import math
import os
from xml.etree import ElementTree

import numpy as np
import pytest
import yaml

from imu_simulation_framework.core.errors import ConfigurationError, FrameworkError
from imu_simulation_framework.drive.mujoco import MujocoSimulator
from imu_simulation_framework.drive.robots.files import robot_description
from imu_simulation_framework.drive.turning import load_robot_parameters

RADIUS, HALF_TRACK, AXLE_OFFSET, IMU = 0.05, 0.11, 0.08, (0.07, -0.02, 0.12)

INERTIA = '<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/>'
LINK = '<link name="{name}"><inertial><mass value="{mass}"/>' + INERTIA + "</inertial>{more}</link>"
JOINT = '<joint name="{child}_joint" type="{kind}"><parent link="{parent}"/><child link="{child}"/>\
<origin xyz="{xyz}" rpy="{rpy}"/><axis xyz="{axis}"/>{more}</joint>'  # fmt: skip


def collision(shape, xyz="0 0 0"):
    return f'<collision><origin xyz="{xyz}"/><geometry><{shape}/></geometry></collision>'


def link(name, mass, more=""):
    return LINK.format(name=name, mass=mass, more=more)


def joint(child, xyz, kind="fixed", parent="base_link", rpy="0 0 0", axis="0 1 0", more=""):
    return JOINT.format(
        child=child, xyz=xyz, kind=kind, parent=parent, rpy=rpy, axis=axis, more=more
    )


def description(radii=(RADIUS, RADIUS), imu_rpy="0 0 0"):
    """Return a robot with many URDF features, whose root link is above the ground and off the axle.

    The z axis of the left wheel's link is parallel to the axle, and the axis of the right wheel
    has the opposite direction.
    """
    left, right = (collision(f'cylinder radius="{radius}" length="0.02"') for radius in radii)
    height = RADIUS - 0.01
    parts = [
        link("base_link", 3.0, collision('box size="0.2 0.15 0.05"', "0 0 0.05")),
        '<link name="cover">' + collision('mesh filename="package://other/cover.dae"')
        + collision('box size="0.2 0.2 0.2"', "0 0 0.2") + "</link>",
        link("left", 0.2, left), link("right", 0.2, right),
        link("fork", 0.1), link("caster", 0.1, collision('sphere radius="0.02"')),
        link("finger", 0.1), '<link name="imu_link"/>', '<link name="base_footprint"/>',
        joint("cover", "0 0 0.1"),
        joint("finger", "0.1 0 0.2", "revolute",
              more='<limit upper="1" effort="1" velocity="1"/><mimic joint="fork_joint"/>'),
        joint("fork", "0.1 0 0", "continuous", axis="0 0 1"),
        joint("caster", f"0 0 {0.02 - height}", "continuous", "fork"),
        joint("right", f"{-AXLE_OFFSET} {-HALF_TRACK} 0.01", "continuous", axis="0 -1 0"),
        joint("left", f"{-AXLE_OFFSET} {HALF_TRACK} 0.01", "continuous", rpy=f"{-math.pi / 2} 0 0",
              axis="0 0 1"),
        joint("base_footprint", f"0 0 {-height}"),
        joint("imu_link", f"{IMU[0] - AXLE_OFFSET} {IMU[1]} {IMU[2] - height}", rpy=imu_rpy),
        '<transmission name="t"><type>Simple</type></transmission><gazebo reference="base_link"/>',
    ]  # fmt: skip
    return f'<robot name="own">{"".join(parts)}</robot>'


FILE = {
    "description": "own.urdf",
    "left_wheel": ["left_joint"],
    "right_wheel": ["right_joint"],
    "drive": {"max_wheel_velocity": 20.0},
}


@pytest.fixture
def robot(tmp_path):
    def made(text=None, **keys):
        (tmp_path / "own.urdf").write_text(description() if text is None else text)
        content = {**FILE, **keys}
        content = {key: value for key, value in content.items() if value is not None}
        (tmp_path / "own.yaml").write_text(yaml.safe_dump(content))
        return load_robot_parameters(tmp_path / "own.yaml")

    return made


def driven(parameters, left, right, seconds=4.0):
    """Return the steady second half of a drive that starts from standstill."""
    return driven_and_measured(parameters, left, right, seconds)[0]


def driven_and_measured(parameters, left, right, seconds=4.0):
    """Return the steady second half of a drive, and the mean specific force in it."""
    simulator = MujocoSimulator(parameters)
    simulator.command(left, right)
    states = simulator.steps(round(100 * seconds))
    half = len(states.time) // 2
    force = simulator.measure(states).specific_force[half:].mean(axis=0)
    return type(states)(*(part[half:] for part in states)), force


def test_joint_without_axis_rotates_about_x(robot):
    # The x axis is the default of URDF; here, it is along the axle in the opposite direction.
    turned = f'rpy="0 0 {-math.pi / 2}"'
    before = 'rpy="0 0 0"/><axis xyz="0 -1 0"/>'
    assert before in description()
    states = driven(robot(description().replace(before, f"{turned}/>")), 4.0, 4.0)
    assert np.mean(states.linear_velocity[:, 0]) == pytest.approx(4.0 * RADIUS, rel=2e-3)


@pytest.mark.parametrize(("left", "right"), [(4.0, 4.0), (2.0, 4.0), (-3.0, 3.0), (-4.0, -3.0)])
def test_robot_velocity_matches_rolling_wheels(robot, left, right):
    states = driven(robot(), left, right)
    # Speed is the mean of the rim velocities, yaw rate their difference over the track.
    v, yaw_rate = RADIUS * (left + right) / 2.0, RADIUS * (right - left) / (2.0 * HALF_TRACK)
    assert np.mean(states.linear_velocity[:, 0]) == pytest.approx(v, rel=2e-3, abs=2e-4)
    assert np.mean(states.angular_velocity[:, 2]) == pytest.approx(yaw_rate, rel=2e-3, abs=2e-4)
    # Contacts in MuJoCo creep under a force, here under the centripetal force.
    assert np.abs(states.linear_velocity[:, 1]).max() < 5e-3
    # Positive velocities of both wheels drive forward, regardless of their mounting direction.
    np.testing.assert_allclose(states.wheel_velocities.mean(axis=0), [left, right], rtol=2e-3)


def test_ground_truth_pose_is_below_axle_and_imu_pose_is_that_of_its_link(robot):
    parameters = robot()
    assert parameters.imu_position == pytest.approx(IMU)
    states, force = driven_and_measured(parameters, -3.0, 3.0)
    # The robot turns on the spot except for creep, so the specific force is -omega^2 times the
    # IMU's position relative to the middle of the axle.
    assert np.hypot(*states.position[:, :2].T).max() < 5e-3
    assert np.abs(states.position[:, 2]).max() < 1e-4
    rate = RADIUS * 3.0 / HALF_TRACK
    np.testing.assert_allclose(force[:2], -(rate**2) * np.array(IMU[:2]), rtol=0.02, atol=2e-3)


def test_mujoco_model_contains_only_masses_of_description(robot):
    model = MujocoSimulator(robot())._model
    # A link without an inertial element has no mass, regardless of its shapes.
    assert model.body_mass.sum() == pytest.approx(3.0 + 2 * 0.2 + 3 * 0.1)
    # The base has 6 degrees of freedom, the wheels 2; fork, caster and finger are fixed.
    assert model.nv == 8


def test_side_with_less_friction_has_less_traction(robot):
    def started(ratio):
        simulator = MujocoSimulator(robot(contact={"wheel_friction": 0.1, "friction_ratio": ratio}))
        simulator.command(20.0, 20.0)  # both wheels slip at a velocity step
        return simulator.steps(10)

    equal_wheels, slippery = started(1.0), started(0.5)
    speeds = [states.linear_velocity[-1, 0] for states in (equal_wheels, slippery)]
    assert speeds[1] / speeds[0] == pytest.approx(0.75, rel=0.05)
    assert slippery.angular_velocity[-1, 2] < -0.03  # to the right
    assert abs(equal_wheels.angular_velocity[-1, 2]) < 1e-3


def test_imu_pose_in_parameters_overrides_description(robot):
    parameters = robot(imu={"position": [0.3, 0.0, 0.1], "orientation": [0.0, 0.0, 1.0]})
    assert parameters.imu_position == pytest.approx((0.3, 0.0, 0.1))
    _, force = driven_and_measured(parameters, -3.0, 3.0)
    inwards = -0.3 * (RADIUS * 3.0 / HALF_TRACK) ** 2
    expected = inwards * np.array([math.cos(1.0), -math.sin(1.0)])
    np.testing.assert_allclose(force[:2], expected, rtol=0.02)
    names = [MujocoSimulator(parameters)._model.body(i).name for i in range(12)]
    assert {"imu_link", "imu_link_of_the_description"} <= set(names)


def test_unequal_wheels_turn_robot_on_straight_command(robot):
    left, right = 1.01 * RADIUS, 0.99 * RADIUS
    parameters = robot(description((left, right)))
    assert parameters.drivetrain.wheel_radius == pytest.approx(RADIUS)
    states = driven(parameters, 4.0, 4.0)
    yaw_rate = 4.0 * (right - left) / (2.0 * HALF_TRACK)
    assert np.mean(states.angular_velocity[:, 2]) == pytest.approx(yaw_rate, rel=0.01)


def test_wheel_multipliers_match_diff_drive_controller(robot):
    radii = {"left_wheel_radius_multiplier": 1.01, "right_wheel_radius_multiplier": 0.99}
    parameters = robot(description((1.01 * RADIUS, 0.99 * RADIUS)), **radii)
    states = driven(parameters, *parameters.drivetrain.inverse(0.4, 0.0))
    # The controller compensates for unequal radii: the robot drives straight at the commanded
    # speed.
    assert abs(np.mean(states.angular_velocity[:, 2])) < 2e-4
    assert np.mean(states.linear_velocity[:, 0]) == pytest.approx(0.4, rel=2e-3)
    wider = robot(four_wheels(), **SKID, wheel_separation_multiplier=1.8)
    assert wider.drivetrain.half_track == pytest.approx(1.8 * HALF_TRACK)
    # In Gazebo, the wheels do not slide sideways.
    assert load_robot_parameters(wider.path, "gazebo").drivetrain.half_track == HALF_TRACK
    with pytest.raises(ConfigurationError, match="own.yaml: turning_half_track and wheel_sep"):
        robot(turning_half_track=0.2, wheel_separation_multiplier=1.8)


def four_wheels():
    # The caster is above the ground.
    text = description().replace('radius="0.02"', 'radius="0.01"')
    for side, y in (("left", HALF_TRACK), ("right", -HALF_TRACK)):
        shape = collision(f'sphere radius="{RADIUS}"')
        front = link(f"front_{side}", 0.2, shape)
        front += joint(f"front_{side}", f"{AXLE_OFFSET} {y} 0.01", "continuous")
        text = text.replace("</robot>", f"{front}</robot>")
    return text


SKID = {
    "left_wheel": ["front_left_joint", "left_joint"],
    "right_wheel": ["front_right_joint", "right_joint"],
}


def test_skid_steered_robot_turns_with_estimated_track_width(robot):
    parameters = robot(four_wheels(), **SKID)
    assert parameters.wheel_joints == (*SKID["left_wheel"], *SKID["right_wheel"])
    # The estimate assumes a balance of friction moments; MuJoCo's wheels also bounce.
    track = HALF_TRACK + AXLE_OFFSET**2 / HALF_TRACK
    assert parameters.drivetrain.half_track == pytest.approx(track, rel=0.1)
    states = driven(parameters, 6.0, 10.0)
    _, yaw_rate = parameters.drivetrain.forward(6.0, 10.0)
    assert np.mean(states.angular_velocity[:, 2]) == pytest.approx(yaw_rate, rel=0.1)
    states = driven(parameters, *parameters.drivetrain.inverse(0.5, 0.5))
    v_x, v_y, _ = states.linear_velocity.mean(axis=0)
    aside = parameters.drivetrain.sideslip(states.angular_velocity[:, 2].mean())
    assert -math.atan2(v_y, v_x) == pytest.approx(aside, abs=0.02)
    specified = robot(four_wheels(), **SKID, turning_half_track=0.2)
    assert (specified.drivetrain.half_track, specified.drivetrain.sideslip_time) == (0.2, 0.0)
    specified = robot(four_wheels(), **SKID, sideslip_time=-0.05)
    assert specified.drivetrain.half_track == parameters.drivetrain.half_track
    assert specified.drivetrain.sideslip_time == -0.05


def test_wheel_limits_are_read_from_joints(robot):
    text = description().replace(
        '<axis xyz="0 -1 0"/>', '<axis xyz="0 -1 0"/><limit effort="2.5" velocity="7"/>'
    )
    text = text.replace('<axis xyz="0 0 1"/></joint>', '<axis xyz="0 0 1"/>\
<limit effort="2.0" velocity="8"/></joint>')  # fmt: skip
    parameters = robot(text, drive=None)
    assert parameters.drivetrain.limits.max_wheel_velocity == 7.0
    assert parameters.motors.max_wheel_torque == 2.0


def test_parameters_are_inherited_across_several_files(robot, tmp_path):
    robot()
    (tmp_path / "mine").mkdir()
    (tmp_path / "slow.yaml").write_text("like: own.yaml\ndrive: {max_wheel_velocity: 5.0}\n")
    (tmp_path / "mine" / "wet.yaml").write_text(
        "like: ../slow.yaml\ncontact: {wheel_friction: 0.3}\n"
    )
    wet = load_robot_parameters(tmp_path / "mine" / "wet.yaml")
    assert wet.drivetrain.limits.max_wheel_velocity == 5.0
    assert (wet.contact.wheel_friction, wet.wheel_joints) == (0.3, ("left_joint", "right_joint"))
    (tmp_path / "own.yaml").write_text("like: mine/wet.yaml\n")
    with pytest.raises(
        ConfigurationError, match=r"wet.yaml: the key like refers to ../slow.yaml, which"
    ):
        load_robot_parameters(tmp_path / "slow.yaml")


def test_description_that_is_pipe_or_not_utf8_is_rejected(robot, tmp_path):
    robot()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "latin.urdf").write_bytes("<robot name='W\u00fcrfel'/>".encode("latin-1"))
    for name, words in (("pipe", "not a regular file"), ("latin.urdf", "utf-8")):
        (tmp_path / "own.yaml").write_text(yaml.safe_dump({**FILE, "description": name}))
        with pytest.raises(ConfigurationError, match=f"{name}: .*cannot be read: .*{words}"):
            load_robot_parameters(tmp_path / "own.yaml")


def test_xacro_resolves_neighbouring_packages_and_accepts_arguments(tmp_path):
    package = tmp_path / "my_robot"
    (package / "urdf").mkdir(parents=True)
    (package / "package.xml").write_text("<package/>")
    body = description((0.1, 0.1)).replace('radius="0.1"', 'radius="${radius}"')
    inside = body.replace('<robot name="own">', "").replace("</robot>", "")
    xacro = '<robot name="x" xmlns:xacro="http://ros.org/wiki/xacro">'
    (package / "urdf" / "body.xacro").write_text(f"{xacro}{inside}</robot>")
    (package / "urdf" / "robot.xacro").write_text(
        f'{xacro}<xacro:arg name="radius" default="1"/>'
        '<xacro:property name="radius" value="$(arg radius)"/>'
        '<xacro:include filename="$(find my_robot)/urdf/body.xacro"/></robot>'
    )
    file = tmp_path / "own.yaml"
    content = {**FILE, "description": "my_robot/urdf/robot.xacro", "arguments": {"radius": 0.05}}
    file.write_text(yaml.safe_dump(content))
    assert load_robot_parameters(file).drivetrain.wheel_radius == 0.05
    text = (package / "urdf" / "robot.xacro").read_text().replace("my_robot", "not_there")
    (package / "urdf" / "robot.xacro").write_text(text)
    with pytest.raises(
        ConfigurationError, match="package not_there by .* but no folder above the file"
    ):
        load_robot_parameters(file)


def test_rviz_description_is_tree_with_root_base_footprint(robot):
    from xml.etree import ElementTree

    tree = ElementTree.fromstring(robot_description(robot()))
    children = [element.find("child").get("link") for element in tree.findall("joint")]
    links = [element.get("name") for element in tree.findall("link")]
    assert len(set(links)) == len(links) and len(set(children)) == len(children)
    assert set(links) - set(children) == {"base_footprint"}
    assert len({element.get("name") for element in tree.findall("joint")}) == len(children)


SELF_CALLING = """<robot name="r" xmlns:xacro="http://ros.org/wiki/xacro">
<xacro:macro name="m"><xacro:m/></xacro:macro><xacro:m/></robot>"""

ENTITY_EXPANSION = '<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa">' + "".join(
    f'<!ENTITY {new} "{f"&{old};" * 30}">' for old, new in zip("abcdefg", "bcdefgh")
) + "]><robot name='r'><link name='&h;'/></robot>"  # fmt: skip


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"left_wheel": ["lefd_joint"]}, "joint lefd_joint is missing; .*left_joint"),
        ({"left_wheel": ["finger_joint"]}, "link finger has no cylinder or sphere"),
        ({"left_wheel": ["fork_joint"]}, "fork_joint does not turn about .* y"),
        ({"left_wheel": ["cover_joint"]}, "joint cover_joint is fixed, expected continuous"),
        ({"left_wheel": ["right_joint"], "right_wheel": ["left_joint"]}, "not to the left"),
        (
            {"left_wheel": ["left_joint", "finger_joint"], "wheel_radius": 0.05},
            "same number on both",
        ),
        ({"drive": None}, "drive has no key max_wheel_velocity"),
        ({"wheel_radius": -1.0}, "own.yaml: wheel_radius is -1.0"),
        ({"imu": {"link": "imu"}}, "no link imu for the IMU; choose from imu_link"),
        ({"text": description(imu_rpy="0 1.57 0")}, "tilted by 90 deg"),
        ({"text": description().replace('value="0.2"', 'value="0"')}, "MuJoCo rejects"),
        (
            {"text": description().replace('"0.05"', '"two"')},
            "radius of .* is 'two', expected a finite number",
        ),
        ({"text": description().replace('radius="0.02"', 'radius="0.06"')}, "tilted by 1[0-9] deg"),
        ({"text": "<robot/>"}, "root links"),
        ({"text": description().replace('child link="cover"', 'child link="x"')}, "child link 'x'"),
        ({"text": ENTITY_EXPANSION}, "own.urdf: .*cannot be read"),
        ({"text": SELF_CALLING}, "own.urdf: .*cannot be expanded: .*recursion"),
        (
            {"text": "<robot xmlns:xacro='http://ros.org/wiki/xacro'><xacro:include/></robot>"},
            "cannot be expanded: xacro:include: missing attribute",
        ),
        (
            {"text": description().replace('<mass value="3.0"', '<mass value="-3.0"')},
            "own.urdf: link base_link: value of mass is -3 kg",
        ),
        ({"text": description().replace('ixx="', 'ixx="nan', 1)}, "ixx of inertia is 'nan"),
        (
            {"text": description().replace("</robot>", "<link name='left'/></robot>")},
            "own.urdf: it has two links with the name 'left'",
        ),
    ],
)
def test_undrivable_description_is_rejected_with_one_line_message(robot, change, sentence):
    with pytest.raises(FrameworkError, match=sentence) as refused:
        MujocoSimulator(robot(**change))
    assert "\n" not in str(refused.value) and len(str(refused.value)) < 400


def describe_for_gazebo(parameters, plugin="hector"):
    """Return the description of a robot for Gazebo."""
    path = parameters.path
    parameters = load_robot_parameters(path, "gazebo")
    arguments = {"imu_plugin": plugin, "imu_topic": "imu/data", "rate": 50.0}
    return ElementTree.fromstring(robot_description(parameters, simulator="gazebo", **arguments))


OTHERS_PLUGINS = """<gazebo><plugin name="d" filename="libgazebo_ros_diff_drive.so"/></gazebo>
<gazebo reference="base_link"><mu1>7</mu1><sensor name="s" type="camera"/></gazebo>
<transmission name="t2"><joint name="left_joint"/></transmission>
<joint name="imu_joint" type="fixed"><parent link="base_link"/><child link="mount"/></joint>
<link name="mount"/></robot>"""


def test_gazebo_description_contains_only_plugins_of_package(robot):
    text = description().replace("</robot>", OTHERS_PLUGINS)
    parameters = robot(text, contact={"friction_ratio": 0.5})
    gazebo = describe_for_gazebo(parameters)
    assert {plugin.get("filename") for plugin in gazebo.iter("plugin")} == {
        "libgazebo_ros_control.so",
        "libhector_gazebo_ros_imu.so",
        "libimu_simulation_framework_ground_truth.so",
    }
    assert gazebo.find(".//sensor") is None
    motors = [(item.find("joint").get("name"), item.findtext("joint/hardwareInterface"))
              for item in gazebo.iter("transmission")]  # fmt: skip
    velocity = "hardware_interface/VelocityJointInterface"
    assert motors == [("left_joint", velocity), ("right_joint", velocity)]
    assert [item.text for item in gazebo.iter("jointName")] == ["left_joint", "right_joint"]
    contacts = [item for item in gazebo.iter("gazebo") if item.find("mu1") is not None]
    friction = {item.get("reference"): float(item.findtext("mu1")) for item in contacts}
    assert friction == {"base_link": 0.0, "cover": 0.0, "caster": 0.0, "left": 1.0, "right": 0.5}
    for side in ("left", "right"):
        limit = gazebo.find(f"joint[@name='{side}_joint']/limit")
        assert float(limit.get("velocity")) == 20.0
        assert float(limit.get("effort")) == pytest.approx(parameters.motors.max_wheel_torque)


@pytest.mark.parametrize("plugin", ["hector", "generic"])
def test_gazebo_imu_is_separate_link_with_mass_at_described_pose(robot, plugin):
    gazebo = describe_for_gazebo(robot(description().replace("</robot>", OTHERS_PLUGINS)), plugin)
    (joint,) = gazebo.findall("joint[@name='imu_joint']")
    assert joint.find("parent").get("link") == "base_footprint"
    assert [float(n) for n in joint.find("origin").get("xyz").split()] == pytest.approx(IMU)
    (link,) = gazebo.findall("link[@name='imu_link']")
    assert float(link.find("inertial/mass").get("value")) > 0.0
    assert gazebo.find("link[@name='imu_link_of_the_description']") is not None
    assert gazebo.find(".//plugin/topicName").text == "imu/data"


def test_meshes_resolve_in_neighbouring_packages_or_are_omitted(robot, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "package.xml").write_text("<package/>")
    visual = '<visual><geometry><mesh filename="package://{0}/m.dae"/></geometry></visual>'
    shown = "".join(visual.format(name) for name in ("mine", "nobodys_package"))
    name = '<link name="cover">'
    gazebo = describe_for_gazebo(robot(description().replace(name, name + shown)))
    meshes = [mesh.get("filename") for mesh in gazebo.iterfind("link[@name='cover']/visual//mesh")]
    assert meshes == [f"file://{tmp_path}/mine/m.dae"]


@pytest.mark.parametrize(
    "text, sentence",
    [
        (description().replace('value="0.2"', 'value="0"'), "link left can turn, but has no mass"),
        (description().replace('izz="0.01"', 'izz="0"'), "link left can turn, but has no mass or"),
        (description().replace(f'3.0"/>{INERTIA}', '3.0"/>').replace(f'0.1"/>{INERTIA}', '0.1"/>'),
         "no link except the wheels has a mass"),
    ],
)  # fmt: skip
def test_links_ignored_by_gazebo_are_rejected(robot, text, sentence):
    path = robot(text).path
    with pytest.raises(ConfigurationError, match=sentence):
        load_robot_parameters(path, "gazebo")


def test_command_delay_is_rejected_in_gazebo(robot):
    path = robot(drive={"max_wheel_velocity": 20.0, "command_delay": 0.1}).path
    with pytest.raises(ConfigurationError, match="expected 0 with Gazebo"):
        load_robot_parameters(path, "gazebo")


def test_external_robot_uses_half_the_geometric_track_width(robot):
    path = robot(four_wheels(), **SKID).path
    half_track = load_robot_parameters(path, "external").drivetrain.half_track
    assert half_track == pytest.approx(HALF_TRACK)


WHEELBASE = 0.3


def car(
    pin="revolute", axis="0 0 1", wheel="continuous", limit='lower="-0.5" upper="0.4"', more=""
):
    """Return a car whose right kingpin axis points down and whose front wheels are smaller."""
    small = 0.8 * RADIUS
    rear, front = (
        collision(f'cylinder radius="{wheel_radius}" length="0.02"')
        for wheel_radius in (RADIUS, small)
    )
    limit = f'<limit {limit} velocity="2" effort="1"/>' if limit else ""
    parts = [link("base_link", 3.0), '<link name="imu_link"/>', joint("imu_link", "0.1 0 0.1")]
    for side, y, pivot in (("left", HALF_TRACK, axis), ("right", -HALF_TRACK, "0 0 -1")):
        parts += [
            link(side, 0.2, rear), joint(side, f"0 {y} 0", "continuous"),
            link(f"pin_{side}", 0.1),
            joint(f"pin_{side}", f"{WHEELBASE} {y} {small - RADIUS}", pin, axis=pivot, more=limit),
            link(f"front_{side}", 0.2, front),
            joint(f"front_{side}", "0 0 0", wheel, parent=f"pin_{side}"),
        ]  # fmt: skip
    return f'<robot name="car">{"".join(parts)}</robot>'


STEERED = {"steering": ["pin_right_joint", "pin_left_joint"]}


def test_car_is_read_from_description(robot):
    parameters = robot(car(), **STEERED)
    drivetrain = parameters.drivetrain
    assert parameters.steering_joints == ("pin_left_joint", "pin_right_joint")
    assert parameters.rolling_joints == ("front_left_joint", "front_right_joint")
    assert drivetrain.wheelbase == pytest.approx(WHEELBASE)
    assert drivetrain.steering == (
        pytest.approx((WHEELBASE, HALF_TRACK)),
        pytest.approx((WHEELBASE, -HALF_TRACK)),
    )
    assert (drivetrain.max_steering_angle, drivetrain.max_steering_rate) == (0.4, 2.0)
    narrower = robot(
        car(), **STEERED, drive={"max_wheel_velocity": 20.0, "max_steering_angle": 0.3}
    )
    assert narrower.drivetrain.max_steering_angle == 0.3
    simulator = MujocoSimulator(parameters)
    simulator.command(*drivetrain.inverse(0.4, 0.4))
    states = simulator.steps(400)
    assert np.mean(states.angular_velocity[200:, 2]) == pytest.approx(0.4, rel=2e-3)
    assert states.position[-1, 1] > 0.5


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"steering": ["pin_joint"]}, "joint pin_joint is missing; .*pin_left_joint"),
        ({"steering": []}, "steering is .*expected a list of different joints"),
        ({"sideslip_time": 0.1}, "sideslip_time"),
        ({"steering": ["front_left_joint"]}, "front_left_joint does not turn about the vertical"),
        ({"text": car(pin="fixed")}, "pin_right_joint is fixed, expected continuous or revolute"),
        ({"text": car(wheel="fixed")}, "link pin_right has no wheel, .* joint pin_right"),
        ({"text": car(axis="1 0 0")}, "pin_left_joint does not turn about .* z"),
        ({"text": car(limit="")}, r"has no key max_steering_angle \[rad\], required as the"),
        ({"text": car(limit='lower="-1" upper="1" velocity="0"').replace(' velocity="2"', "")},
         r"has no key max_steering_rate \[rad/s\]"),
        ({"text": car().replace(f'radius="{0.8 * RADIUS}"', "")},
         "radius of cylinder is '', expected a finite number"),
        ({"text": car().replace("cylinder", "box")}, "no cylinder or sphere .* wheel_radius"),
        ({"left_wheel": ["front_left_joint"], "right_wheel": ["front_right_joint"]},
         "front_right_joint drives a wheel that pin_right_joint steers"),
        ({"steering": ["left_joint"]}, "left_joint does not turn about .* z"),
        ({"text": car(limit='lower="0" upper="0.4"')}, "own.urdf: .* to one side only"),
        ({"text": car().replace(f'"{WHEELBASE} ', '"0 ')}, "own.yaml: steering must be one or"),
    ],
)  # fmt: skip
def test_car_without_valid_steering_is_rejected_with_one_line_message(robot, change, sentence):
    change = {"text": car(), **STEERED, **change}
    with pytest.raises(FrameworkError, match=sentence) as refused:
        MujocoSimulator(robot(**change))
    assert "\n" not in str(refused.value) and len(str(refused.value)) < 400


def test_gazebo_car_has_velocity_steering_and_free_front_wheels(robot):
    gazebo = describe_for_gazebo(robot(car(), **STEERED))
    kinds = {item.find("joint").get("name"): item.findtext("joint/hardwareInterface")
             for item in gazebo.iter("transmission")}  # fmt: skip
    parameters = load_robot_parameters(robot(car(), **STEERED).path, "gazebo")
    for name in parameters.commanded_joints:
        assert kinds.pop(name) == "hardware_interface/VelocityJointInterface"
    assert kinds == dict.fromkeys(
        parameters.rolling_joints, "hardware_interface/EffortJointInterface"
    )
    for name in parameters.steering_joints:
        limit = gazebo.find(f"joint[@name='{name}']/limit")
        assert float(limit.get("velocity")) == parameters.drivetrain.max_steering_rate


def test_car_torque_limit_is_computed_from_weight_on_all_wheels(robot):
    parameters = robot(car(), **STEERED)
    # Masses of the body and, per side, of a driven wheel, a kingpin and a front wheel; two wheels
    # are driven.
    mass = 3.0 + 2.0 * (0.2 + 0.1 + 0.2)
    grip = 1.0 * mass * 9.80665 / 4.0
    assert parameters.motors.max_wheel_torque == pytest.approx(2.0 * grip * RADIUS)
    assert parameters.steering_gain == pytest.approx(grip * RADIUS / math.radians(0.5))


def test_ground_height_is_determined_by_larger_of_unequal_wheels(robot):
    height = robot().imu_position[2]
    assert height == pytest.approx(IMU[2])
    for radii in ((RADIUS, 0.9 * RADIUS), (0.9 * RADIUS, RADIUS)):
        assert robot(description(radii)).imu_position[2] == pytest.approx(height)
