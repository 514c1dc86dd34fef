"""Names of the topics of an experiment, and of services that belong to them; remap them as usual.

They are relative: in the root namespace, as in a bag, :func:`absolute_topic` gives their names. So
are the names of the robot's frames, joints and wheel controllers, as its description gives them. A
test holds ``urdf/``, ``rviz/`` and the views to them.
"""

from __future__ import annotations

import re
from typing import Any

from .errors import ConfigurationError
from .sentences import quote

WORLD_FRAME = "odom"
"""Fixed in the world; what Gazebo calls ``world`` lies in the same place."""

ROBOT_FRAME = "base_footprint"
"""On the ground below the middle of the wheels' axle, with x forward."""

IMU_FRAME = "imu_link"
GNSS_FRAME = "gnss_link"
"""Of the GNSS receiver's antenna."""

AIRCRAFT_FRAME = "base_link"
"""At an aircraft's centre of gravity, with x forward, y left, z up."""
GIMBAL_FRAMES = ("pan_link", "tilt_link", "roll_link")
"""From an aircraft to its IMU, each on the one before it; the IMU is on the last one."""

SIDES = ("left", "right")


def wheel_joints(per_side: int) -> tuple[str, ...]:
    """Return the joints of so many driven wheels on each side: left ones first, then right ones."""
    numbers = [""] if per_side == 1 else [f"_{number}" for number in range(1, per_side + 1)]
    return tuple(f"{side}_wheel{number}_joint" for side in SIDES for number in numbers)


WHEEL_JOINTS = wheel_joints(1)
"""Of the bundled robot."""

JOINT_STATE_CONTROLLER = "joint_state_controller"
WHEEL_CONTROLLER = "wheel_velocity_controller"
"""Of ros_control in Gazebo; the topic of the wheels' commands is below this name."""

WHEEL_GROUP_CONTROLLER = "wheel_group_controller"
"""The same for a robot with several wheels on a side: it wants a velocity for each of them."""

STEERING_CONTROLLER = "steering_controller"
"""Of each joint that steers, with its number behind it."""

CLOCK = "/clock"
DIAGNOSTICS = "/diagnostics"
TRANSFORMS = "/tf"
STATIC_TRANSFORMS = "/tf_static"
IMU = "imu/data"
IMU_IDEAL = "imu/ideal"
IMU_MAG = "imu/mag"
IMU_CALIBRATION = "imu/calib_status"
IMU_BIAS = "imu/data/bias"
IMU_CALIBRATE = "imu/data/calibrate"
IMU_SET_RATE_BIAS = "imu/data/set_rate_bias"
IMU_SET_ACCEL_BIAS = "imu/data/set_accel_bias"
GROUND_TRUTH = "ground_truth/state"
GROUND_TRUTH_IMU = "ground_truth/imu"
GROUND_TRUTH_ORIGIN = "ground_truth/origin"
WHEEL_TORQUES = "ground_truth/wheel_torques"
ODOMETER = "odom"
GNSS_FIX = "gnss/fix"
GNSS_VELOCITY = "gnss/velocity"
GNSS_HEADING = "gnss/heading"
WHEEL_COMMAND = f"{WHEEL_CONTROLLER}/command"
REFERENCE_TRAJECTORY = "reference_trajectory"
TRAJECTORY_ERROR = "trajectory_error"
SIMULATION_LIMIT = "simulation_limit"
PROGRESS = "experiment/progress"
JOINT_STATES = "joint_states"
YAW_SIMULATED = "imu_yaw/simulated"
YAW_REAL = "imu_yaw/real"
YAW_GROUND_TRUTH = "imu_yaw/ground_truth"
YAW_ERROR_SIMULATED = "imu_yaw/simulated_error"
YAW_ERROR_REAL = "imu_yaw/real_error"
REFERENCE_PATH = "reference_path"
DRIVEN_PATH = "driven_path"
MAGNETIC_ARROW = "imu/mag/arrow"


def absolute_topic(topic: str) -> str:
    """Return a topic's full name in the root namespace."""
    return f"/{topic.lstrip('/')}"


def sibling_topic(topic: str, other: str) -> str:
    """Return the name of a topic with the last part of another: ``/imu/mag`` for ``/imu/data``."""
    namespace, slash, _ = topic.rpartition("/")
    return f"{namespace}{slash}{other.rpartition('/')[2]}"


_TOPIC = re.compile(r"[~/A-Za-z][\w/]*", re.ASCII)


def check_topic(name: str, value: Any, needed: bool = False) -> str:
    """Return the name of a topic; an empty one stands for none, unless it is needed."""
    given = str(value)
    legal = _TOPIC.fullmatch(given) and "//" not in given and given not in ("/", "~")
    if not legal and (given or needed):
        raise ConfigurationError(
            f"{name} is {quote(given)}, expected the name of a topic: letters, digits and _ "
            "between slashes, as /imu/data"
        )
    return given
