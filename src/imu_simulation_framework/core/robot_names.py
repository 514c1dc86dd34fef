"""Names of the robot's frames, joints and wheel controllers, as its description gives them.

A test holds ``urdf/`` and ``rviz/`` to them.
"""

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
