"""Names of an experiment's topics, services, frames, joints and controllers.

Topic names are relative and can be remapped; :func:`absolute_topic` returns the name in the root
namespace, as in a bag. A test compares the names with those in ``urdf/``, ``rviz/`` and the live
views.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from .errors import ConfigurationError
from .sentences import quote

WORLD_FRAME = "odom"
"""World frame of an experiment; Gazebo's frame ``world`` has the same origin and axes."""

ROBOT_FRAME = "base_footprint"
"""Body frame of the robot, on the ground below the middle of the wheel axle, with x forward."""

IMU_FRAME = "imu_link"

GNSS_FRAME = "gnss_link"
"""Frame of the GNSS receiver's antenna."""

AIRCRAFT_FRAME = "base_link"
"""Body frame of an aircraft, at its centre of gravity, with x forward, y left and z up."""

GIMBAL_FRAMES = ("pan_link", "tilt_link", "roll_link")
"""Frames of a gimbal's joints, from the aircraft outwards; the IMU is mounted on the last one."""

SIDES = ("left", "right")


def wheel_joints(per_side: int) -> tuple[str, ...]:
    """Return the joint names of the driven wheels.

    Parameters
    ----------
    per_side : int
        Number of driven wheels on each side.

    Returns
    -------
    tuple of str
        Names of the left wheels' joints, followed by those of the right wheels.
    """
    numbers = [""] if per_side == 1 else [f"_{number}" for number in range(1, per_side + 1)]
    return tuple(f"{side}_wheel{number}_joint" for side in SIDES for number in numbers)


WHEEL_JOINTS = wheel_joints(1)
"""Wheel joints of the bundled robot."""

JOINT_STATE_CONTROLLER = "joint_state_controller"
WHEEL_CONTROLLER = "wheel_velocity_controller"
"""Controller of ros_control in Gazebo; its namespace contains the topic of the wheel commands."""

WHEEL_GROUP_CONTROLLER = "wheel_group_controller"
"""Controller for several wheels per side; its commands contain one velocity per wheel."""

STEERING_CONTROLLER = "steering_controller"
"""Prefix of the name of a steering joint's controller; the number of the joint is appended."""

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


class InterfaceDescription(NamedTuple):
    """Markdown description of topics or services, for the guide.

    Parameters
    ----------
    names : str
        Names of the topics or services.
    type : str
        Type of the messages or of the service.
    content : str
        Content of the messages, condition under which they are published, and rate.
    route : str
        Publishing or calling node -> subscribing or serving node.
    """

    names: str
    type: str
    content: str
    route: str


TOPIC_DESCRIPTIONS = (
    InterfaceDescription(
        CLOCK,
        "rosgraph_msgs/Clock",
        "simulated time, published once per control period",
        "simulator -> all",
    ),
    InterfaceDescription(
        IMU,
        "sensor_msgs/Imu",
        "output of the simulated IMU, 100 Hz",
        "simulator -> result_comparison, imu_yaw_publisher",
    ),
    InterfaceDescription(
        IMU_IDEAL,
        "sensor_msgs/Imu",
        "output of the ideal IMU; only with Gazebo and a specification",
        "simulator -> imu_error_model, which publishes `imu/data`",
    ),
    InterfaceDescription(
        IMU_BIAS,
        "sensor_msgs/Imu",
        "current bias of the IMU, as published by Hector's plug-in",
        "simulator",
    ),
    InterfaceDescription(
        IMU_MAG,
        "sensor_msgs/MagneticField",
        "output of the magnetometer, if there is one",
        "simulator or imu_error_model -> result_comparison, path_view",
    ),
    InterfaceDescription(
        IMU_CALIBRATION,
        "std_msgs/String",
        "calibration status of a BNO055, at each change, latched; only with `bno055_mode`",
        "simulator or imu_error_model",
    ),
    InterfaceDescription(
        GROUND_TRUTH,
        "nav_msgs/Odometry",
        "true pose and twist, 100 Hz; the twist is in the body frame",
        "simulator -> error_publisher, result_comparison, imu_yaw_publisher",
    ),
    InterfaceDescription(
        WHEEL_TORQUES,
        "sensor_msgs/JointState",
        "motor torques, 100 Hz; in Gazebo only if the magnetic environment has motors",
        "simulator -> imu_error_model",
    ),
    InterfaceDescription(
        f"{GNSS_FIX}, {GNSS_VELOCITY}, {GNSS_HEADING}",
        "sensor_msgs/NavSatFix, geometry_msgs/TwistWithCovarianceStamped, QuaternionStamped",
        "output of the GNSS receiver; only with `gnss:=`",
        "simulator, or gnss_receiver with Gazebo",
    ),
    InterfaceDescription(
        ODOMETER,
        "nav_msgs/Odometry",
        "output of the odometer; only with `odometer:=`",
        "simulator -> result_comparison",
    ),
    InterfaceDescription(
        WHEEL_COMMAND,
        "std_msgs/Float64MultiArray",
        "commanded left and right wheel speeds [rad/s], then angles of steered joints [rad]",
        "path_follower -> simulator",
    ),
    InterfaceDescription(
        REFERENCE_TRAJECTORY,
        "ReferenceTrajectory",
        "trajectory to be followed, latched",
        "path_follower -> error_publisher, result_comparison, experiment_recorder, path_view",
    ),
    InterfaceDescription(
        TRAJECTORY_ERROR, "ErrorCoordinates2", "tracking error", "error_publisher -> path_follower"
    ),
    InterfaceDescription(
        SIMULATION_LIMIT,
        "std_msgs/Time",
        "time up to which Gazebo may simulate; only with Gazebo",
        "path_follower -> ground truth plug-in",
    ),
    InterfaceDescription(
        PROGRESS,
        "std_msgs/Header",
        "stamp of the newest sample that a node has processed; only with Gazebo",
        "processing nodes -> path_follower",
    ),
    InterfaceDescription(
        f"{YAW_SIMULATED}, {YAW_REAL}, {YAW_GROUND_TRUTH}",
        "ImuYaw",
        "yaws",
        "imu_yaw_publisher -> live views",
    ),
    InterfaceDescription(
        f"{YAW_ERROR_SIMULATED}, {YAW_ERROR_REAL}",
        "ImuYaw",
        "yaw errors",
        "imu_yaw_publisher -> live views",
    ),
    InterfaceDescription(
        f"{REFERENCE_PATH}, {DRIVEN_PATH}, {MAGNETIC_ARROW}",
        "nav_msgs/Path, geometry_msgs/WrenchStamped",
        "reference path, driven path and magnetic field; only with `rviz:=true`",
        "path_view -> rviz",
    ),
    InterfaceDescription(
        JOINT_STATES,
        "sensor_msgs/JointState",
        "angles and velocities of the wheels, 5 Hz",
        "simulator -> result_comparison, robot_state_publisher",
    ),
    InterfaceDescription(
        f"{TRANSFORMS}, {STATIC_TRANSFORMS}",
        "tf2_msgs/TFMessage",
        "true pose of the robot, once per control period; poses of its links",
        "simulator, robot_state_publisher",
    ),
)
"""Topics of an experiment."""

SERVICE_DESCRIPTIONS = (
    InterfaceDescription(
        "<node>/start",
        "StartStopTime",
        "starts the processing of an experiment",
        "path_follower -> result_comparison, error_publisher, imu_yaw_publisher, "
        "experiment_recorder",
    ),
    InterfaceDescription(
        "<node>/stop",
        "std_srvs/Trigger",
        "ends the processing of an experiment",
        "path_follower -> result_comparison, experiment_recorder",
    ),
    InterfaceDescription(
        "imu_error_model/restart",
        "std_srvs/Trigger",
        "switches on the specified IMU; only with Gazebo",
        "path_follower -> imu_error_model",
    ),
    InterfaceDescription(
        "mujoco_simulator/set_pose, external_robot/set_pose",
        "SetPose",
        "places the robot at the start of the trajectory",
        "path_follower -> simulator",
    ),
    InterfaceDescription(
        "mujoco_simulator/set_imu_parameters",
        "SetImuParameters",
        "returns the error model of the IMU",
        "result_comparison -> simulator",
    ),
    InterfaceDescription(
        "mujoco_simulator/end_drive",
        "std_srvs/Empty",
        "ends the drive",
        "path_follower -> simulator",
    ),
    InterfaceDescription(
        f"{IMU_CALIBRATE}, {IMU_SET_RATE_BIAS}, {IMU_SET_ACCEL_BIAS}",
        "std_srvs/Empty, SetBias",
        "services of Hector's plug-in, and of `imu:=hector` in MuJoCo; not to be called during an "
        "experiment",
        "user -> simulator",
    ),
)
"""Services of an experiment."""


def absolute_topic(topic: str) -> str:
    """Return the absolute name of a topic in the root namespace.

    Parameters
    ----------
    topic : str
        Relative or absolute name.

    Returns
    -------
    str
        Name with exactly one leading slash.
    """
    return f"/{topic.lstrip('/')}"


def sibling_topic(topic: str, other: str) -> str:
    """Combine the namespace of one topic with the base name of another.

    Parameters
    ----------
    topic : str
        Topic whose namespace is used, such as ``/imu/data``.
    other : str
        Topic whose base name is used, such as ``imu/mag``.

    Returns
    -------
    str
        The name, such as ``/imu/mag``.
    """
    namespace, slash, _ = topic.rpartition("/")
    return f"{namespace}{slash}{other.rpartition('/')[2]}"


_TOPIC = re.compile(r"[~/A-Za-z][\w/]*", re.ASCII)


def check_topic(name: str, value: Any, needed: bool = False) -> str:
    """Check the name of a topic.

    Parameters
    ----------
    name : str
        Name of the setting, with which the error message begins.
    value : object
        Name of the topic. An empty name means that there is no topic.
    needed : bool, optional
        Whether an empty name is rejected.

    Returns
    -------
    str
        The name of the topic.

    Raises
    ------
    ConfigurationError
        The name is not valid in ROS, or it is empty although it is needed.
    """
    topic = str(value)
    is_valid = _TOPIC.fullmatch(topic) and "//" not in topic and topic not in ("/", "~")
    if not is_valid and (topic or needed):
        raise ConfigurationError(
            f"{name} is {quote(topic)}, expected a topic name: letters, digits and _ "
            "between slashes, such as /imu/data"
        )
    return topic
