"""Names of the robot's frames, joints and wheel controllers, as its description gives them.

A test holds ``urdf/`` and ``rviz/`` to them.
"""

WORLD_FRAME = "odom"
"""Fixed in the world; what Gazebo calls ``world`` lies in the same place."""

ROBOT_FRAME = "base_footprint"
"""On the ground below the middle of the wheels' axle, with x forward."""

IMU_FRAME = "imu_link"
LEFT_WHEEL_JOINT = "left_wheel_joint"
RIGHT_WHEEL_JOINT = "right_wheel_joint"
WHEEL_JOINTS = (LEFT_WHEEL_JOINT, RIGHT_WHEEL_JOINT)

JOINT_STATE_CONTROLLER = "joint_state_controller"
WHEEL_CONTROLLER = "wheel_velocity_controller"
"""Of ros_control in Gazebo; the topic of the wheels' commands is below this name."""
