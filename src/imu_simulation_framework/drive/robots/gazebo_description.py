"""Adaptation of a user-defined URDF to Gazebo."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

from ...core.files import urdf_path
from ...core.topics import IMU_FRAME
from ...core.xacro_expansion import expand_xacro
from ..drivetrain import AckermannDrivetrain
from .parameters import RobotParameters
from .urdf import Description

_SIDEWAYS = 0.5
"""Largest ratio of friction torque to driving torque while a skid-steered robot turns [1]."""


def description_in_gazebo(parameters: RobotParameters, **arguments) -> str:
    """Return the URDF of a robot with the additional elements for Gazebo.

    These elements are the IMU on a separate link, motors, contacts and ground truth. Plug-ins,
    sensors and transmissions in the description are removed, because they would command the same
    joints.

    Gazebo's friction acts independently along two axes, by default the world axes, so that the
    turning of a skid-steered robot would depend on its heading. Here the friction acts along the
    wheel axes, and the lateral friction is small, so that the wheels do not slide in their rolling
    direction. The robot then turns like a differential drive whose track is the wheel separation.

    Parameters
    ----------
    parameters : RobotParameters
        Parameters and description of the robot.
    **arguments : str
        Arguments of own_robot.gazebo.xacro except ``robot``.

    Returns
    -------
    str
        Robot as URDF.
    """
    urdf = Description(parameters.description, parameters.path)
    for tag in ("gazebo", "transmission"):
        for element in urdf.tree.findall(tag):
            urdf.tree.remove(element)
    if IMU_FRAME in urdf.links:
        urdf.rename(IMU_FRAME)
    for collision in urdf.tree.iterfind("link/collision"):
        # When Gazebo merges links, named collisions would lose their contact parameters.
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
    """Return the friction of all links with collisions, as own_robot.gazebo.xacro expects it."""
    rolling = parameters.wheel_joints + parameters.rolling_joints
    wheels = {urdf.child(urdf.joints[name]): urdf.joints[name] for name in rolling}
    frictions = {link: parameters.friction(joint.get("name")) for link, joint in wheels.items()}
    contacts = {
        link: {"link": link, "friction": frictions.get(link, parameters.contact.caster_friction)}
        for link, *_ in urdf.collisions()
    }
    half_wheelbase = max(abs(urdf.pose(link).position[0]) for link in wheels)
    if len(parameters.wheel_joints) > 2 and half_wheelbase > 0.0:
        most = _SIDEWAYS * parameters.drivetrain.half_track / half_wheelbase
        for link, joint in wheels.items():
            axis = joint.find("axis").get("xyz")
            sideways = min(1.0, most) * contacts[link]["friction"]
            contacts[link].update(axis=axis, sideways=sideways)
    return list(contacts.values())
