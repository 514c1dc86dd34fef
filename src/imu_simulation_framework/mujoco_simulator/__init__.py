"""MuJoCo world of the robot, stepped sample by sample; no ROS."""

from imu_simulation_framework.extras import required

# All modules in here need it: told once, before one of them is imported.
required("mujoco", "the robot in MuJoCo")
