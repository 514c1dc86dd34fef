"""What Gazebo is given: world files, of the ground that MuJoCo has, and robots with a URDF."""

from __future__ import annotations

from typing import Any, Sequence
from xml.etree import ElementTree

from ..core.files import urdf_path
from ..core.topics import IMU_FRAME
from ..core.units import WORLD_GRAVITY
from ..motion.drives import Terrain
from ..sensors.magnetism.bodies import Ellipsoid, FerrousBody
from .drivetrain import AckermannDrivetrain
from .robot import RobotParameters, expand_xacro

PHYSICS_RATE = 1000  # steps per second of simulated time [Hz]

HIGHEST_UPDATE_RATE = 1500
"""Steps per second of wall clock [Hz]: 1.5 times real time. At twice real time two cores are too
slow for Gazebo's own IMU sensor, which then misses one measurement in a hundred."""


def world_sdf(terrain: Terrain | None = None) -> str:
    """Return the text of a world file: physics, light, the ground.

    ``terrain``: level ground without one.
    """
    return f"""<?xml version="1.0"?>
<!-- Made by offline_processing/generate_world.py; change it there. -->
<sdf version="1.6">
  <world name="{"flat" if terrain is None else "uneven"}">
    <gravity>0 0 -{WORLD_GRAVITY}</gravity>
    <physics name="ode_1khz" type="ode">
      <max_step_size>{1.0 / PHYSICS_RATE}</max_step_size>
      <real_time_update_rate>{HIGHEST_UPDATE_RATE}</real_time_update_rate>
      <ode>
        <!-- Exact; the iterative one lets a robot at rest creep by 0.3 mm/s. Without cfm it
             complains of wheels that touch the ground in more points than needed. -->
        <solver>
          <type>world</type>
        </solver>
        <constraints>
          <cfm>1e-5</cfm>
          <erp>0.2</erp>
          <contact_surface_layer>0.001</contact_surface_layer>
        </constraints>
      </ode>
    </physics>
    <scene>
      <ambient>0.6 0.6 0.6 1</ambient>
      <background>0.8 0.9 1.0 1</background>
    </scene>
    <light name="sun" type="directional">
      <pose>0 0 10 0 0 0</pose>
      <direction>-0.5 0.1 -0.9</direction>
      <diffuse>0.8 0.8 0.8 1</diffuse>
    </light>
    <model name="ground">
      <static>true</static>
      <link name="ground">
        <collision name="plane">
          <geometry>
            <plane><normal>0 0 1</normal><size>1000 1000</size></plane>
          </geometry>
        </collision>
        <visual name="plane_visual">
          <geometry>
            <plane><normal>0 0 1</normal><size>1000 1000</size></plane>
          </geometry>
          <material><ambient>0.5 0.5 0.45 1</ambient><diffuse>0.5 0.5 0.45 1</diffuse></material>
        </visual>
{_bumps(terrain)}      </link>
    </model>
  </world>
</sdf>
"""


_IRON = "<material><diffuse>0.35 0.2 0.15 1</diffuse></material>"
_MATERIAL = "<material><diffuse>0.45 0.5 0.4 1</diffuse></material>"


def terrain_sdf(terrain: Terrain) -> str:
    """Return the text of a static model that has the bumps alone, to be put into a level world."""
    return _static_model("bumps", _bumps(terrain))


def iron_sdf(bodies: Sequence[FerrousBody]) -> str:
    """Return the text of a static model that shows bodies of iron; nothing touches them."""
    visuals = []
    for index, body in enumerate(bodies):
        place = " ".join(f"{value:.6f}" for value in (*body.position, *body.orientation))
        sides = " ".join(f"{side:g}" for side in body.size)
        shape = f"<box><size>{sides}</size></box>"
        if isinstance(body, Ellipsoid):
            # This version of the format has no ellipsoids.
            shape = f"<sphere><radius>{0.5 * max(body.size):g}</radius></sphere>"
        visuals.append(
            f"""\
      <visual name="iron_{index}">
        <pose>{place}</pose><geometry>{shape}</geometry>{_IRON}
      </visual>
"""
        )
    return _static_model("iron", "".join(visuals))


def _static_model(name, content) -> str:
    return f"""<?xml version="1.0"?>
<sdf version="1.6">
  <model name="{name}">
    <static>true</static>
    <link name="{name}">
{content}    </link>
  </model>
</sdf>
"""


def _bumps(terrain) -> str:
    if terrain is None:
        return ""
    parts = []
    for index, (x, y, z) in enumerate(terrain.spheres()):
        place = f"<pose>{x:.6f} {y:.6f} {z:.6f} 0 0 0</pose>"
        sphere = f"<geometry><sphere><radius>{terrain.radius:g}</radius></sphere></geometry>"
        parts.append(
            f"""\
        <collision name="bump_{index}">{place}{sphere}</collision>
        <visual name="bump_{index}_visual">{place}{sphere}{_MATERIAL}</visual>
"""
        )
    return "".join(parts)


_SIDEWAYS = 0.5
"""What resists the turn of a skid-steered robot in Gazebo, of what its wheels can turn it with."""


def description_in_gazebo(parameters: RobotParameters, **arguments) -> str:
    """Return the URDF of such a robot with what Gazebo needs besides.

    That is the IMU on a link of its own, motors, contacts and ground truth. Plug-ins, sensors and
    transmissions that the description has are left out: they would command the same joints.

    Gazebo's friction acts along two axes independently, by default those of the world, so that a
    skid-steered robot would turn differently in each heading. Here they are those of the wheel, and
    sideways it has so little that nothing slides along the wheels. The robot then turns as a
    differential drive whose track is the wheels' distance.

    ``arguments``: of own_robot.gazebo.xacro, but for ``robot``.
    """
    from .own_robot import Description  # scipy, of which a world needs nothing

    urdf = Description(parameters.description, parameters.path)
    for tag in ("gazebo", "transmission"):
        for element in urdf.tree.findall(tag):
            urdf.tree.remove(element)
    if IMU_FRAME in urdf.links:
        urdf.rename(IMU_FRAME)
    for collision in urdf.tree.iterfind("link/collision"):
        # What is merged into another link keeps its contact only without a name of its own.
        collision.attrib.pop("name", None)
    for element in urdf.tree.iterfind("joint[@name='imu_joint']"):
        element.set("name", "imu_joint_of_the_description")
    drivetrain = parameters.drivetrain
    motor = (parameters.motors.max_wheel_torque, drivetrain.limits.max_wheel_velocity)
    _limit_motors(urdf, parameters.wheel_joints, *motor)
    if isinstance(drivetrain, AckermannDrivetrain):
        steering = (parameters.steering_gain, drivetrain.max_steering_rate)
        _limit_motors(urdf, parameters.steering_joints, *steering)
    robot = {
        "contacts": _contacts(urdf, parameters),
        "motors": list(parameters.commanded_joints),
        "driven": list(parameters.wheel_joints),
        "free": list(parameters.rolling_joints),
        "imu": [*parameters.imu_position, *parameters.imu_orientation],
    }
    added = expand_xacro(
        urdf_path("components/own_robot.gazebo.xacro"), {"robot": robot, **arguments}
    )
    urdf.tree.extend(ElementTree.fromstring(added))
    return ElementTree.tostring(urdf.tree, encoding="unicode")


def _limit_motors(urdf, joints, effort, velocity) -> None:
    for name in joints:
        joint = urdf.joints[name]
        for limit in joint.findall("limit"):
            joint.remove(limit)
        ElementTree.SubElement(joint, "limit", effort=repr(effort), velocity=repr(velocity))


def _contacts(urdf, parameters) -> list[dict[str, Any]]:
    """Return the friction of all links that touch something, as own_robot.gazebo.xacro wants it."""
    rolling = parameters.wheel_joints + parameters.rolling_joints
    wheels = {urdf.child(urdf.joints[name]): urdf.joints[name] for name in rolling}
    frictions = {link: parameters.friction(joint.get("name")) for link, joint in wheels.items()}
    contacts = {
        link: {"link": link, "friction": frictions.get(link, parameters.contact.caster_friction)}
        for link, *_ in urdf.collisions()
    }
    reach = max(abs(urdf.pose(link).position[0]) for link in wheels)
    if len(parameters.wheel_joints) > 2 and reach > 0.0:
        most = _SIDEWAYS * parameters.drivetrain.half_track / reach
        for link, joint in wheels.items():
            axis = joint.find("axis").get("xyz")
            sideways = min(1.0, most) * contacts[link]["friction"]
            contacts[link].update(axis=axis, sideways=sideways)
    return list(contacts.values())
