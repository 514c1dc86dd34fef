"""Arguments of the node realistic_imu, read from the parameter server and checked."""

from __future__ import annotations

import dataclasses

import numpy as np
import rospy
from rosgraph.names import is_legal_name

from imu_simulation_framework.configuration.magnetic_environment_file import (
    read_magnetic_environment,
)
from imu_simulation_framework.errors import ConfigurationError
from imu_simulation_framework.experiment.realistic_imu.surroundings import Surroundings
from imu_simulation_framework.sensors.imu_specification import ImuSpecification
from imu_simulation_framework.sentences import shown


def surroundings(errors, told: bool) -> Surroundings:
    """Return what the IMU is in, if it was asked for; ``told`` is whether poses are."""
    environment = None
    is_told_field = bool(magnetic_input_topic())
    if rospy.get_param("~magnetometer", False) and not is_told_field:
        environment = read_magnetic_environment(str(rospy.get_param("~magnetic_environment")))
        if environment.motors and not joint_states_topic():
            rospy.logwarn("the fields of motors are left out: nothing tells what they pull with")
    vibrates = isinstance(errors, ImuSpecification) and errors.vibration.active
    return Surroundings(
        environment,
        speed=vibrates and told,
        poses=told,
        fields=is_told_field,
        torques=bool(joint_states_topic()),
    )


def topic_argument(name, required=False) -> str:
    """Return an argument that is a topic; empty for none, unless it is required.

    Raises
    ------
    ConfigurationError
        ROS has no topics of such a name; rospy would warn, and no message would ever come.
    """
    given = str(rospy.get_param(f"~{name}", ""))
    wrong = ("/", "~", "") if required else ("/", "~")
    if not (given.isascii() and is_legal_name(given)) or given in wrong:
        raise ConfigurationError(
            f"realistic_imu: {name} is {shown(given)}, expected the name of a topic: letters, "
            "digits and _ between slashes, as /imu/data"
        )
    return given


def pose_topic() -> str:
    """Return the topic of the robot's pose; empty for none."""
    return topic_argument("pose")


def joint_states_topic() -> str:
    """Return the topic of the joints' efforts; empty for none."""
    return topic_argument("joint_states")


def words(name) -> list[str]:
    """Return the words of an argument."""
    return str(rospy.get_param(f"~{name}", "")).replace(",", " ").split()


def magnetic_input_topic() -> str:
    """Return the topic of an ideal magnetic field; empty for none."""
    return topic_argument("magnetic_input")


def ensure_apart(*outputs: str) -> None:
    """Make sure that nothing is published on a topic that is listened to.

    Raises
    ------
    ConfigurationError
        The node would take its own messages for those of the simulator.
    """
    inputs = ("input", "pose", "joint_states", "magnetic_input")
    heard = {
        rospy.resolve_name(str(rospy.get_param(f"~{name}", "") or "~none")): name for name in inputs
    }
    for topic in map(rospy.resolve_name, outputs):
        if topic in heard:
            raise ConfigurationError(
                f"realistic_imu: {heard[topic]}:={topic} is also what it publishes on: name "
                "another topic with output:=, for those who are to hear the realistic IMU"
            )


def with_output(errors):
    """Return the errors with the arguments that take the place of the specification's output.

    Raises
    ------
    ConfigurationError
        An argument is none of its values, or the IMU has no specification.
    """
    dropped = str(rospy.get_param("~drop_repeated", "")).lower()
    if not dropped:
        return errors
    if dropped not in ("true", "false") or not isinstance(errors, ImuSpecification):
        raise ConfigurationError(
            f"realistic_imu: drop_repeated is {dropped}, expected true or false, of an IMU by a "
            "specification"
        )
    output = dataclasses.replace(errors.output, drop_repeated=dropped == "true")
    return dataclasses.replace(errors, output=output)


def number(name, default) -> float:
    """Return an argument that is a number.

    Raises
    ------
    ConfigurationError
        It is none.
    """
    value = rospy.get_param(f"~{name}", default)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not np.isfinite(value):
        raise ConfigurationError(f"realistic_imu: {name} is {value!r}, expected a number")
    return value
