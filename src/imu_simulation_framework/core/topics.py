"""Names of the topics of an experiment, and of services that belong to them; remap them as usual.

They are relative: in the root namespace, as in a bag, :func:`in_root` gives their names. A test
holds ``urdf/``, ``rviz/`` and the views to them.
"""

from __future__ import annotations

from imu_simulation_framework.core.robot_names import WHEEL_CONTROLLER

CLOCK = "/clock"
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


def in_root(topic: str) -> str:
    """Return a topic's full name in the root namespace."""
    return f"/{topic.lstrip('/')}"


def beside(topic: str, other: str) -> str:
    """Return the name of a topic with the last part of another: ``/imu/mag`` for ``/imu/data``."""
    namespace, slash, _ = topic.rpartition("/")
    return f"{namespace}{slash}{other.rpartition('/')[2]}"
