"""The messages that the MuJoCo simulator publishes, filled from its samples."""

from __future__ import annotations

import numpy as np
import rospy
from geometry_msgs.msg import TransformStamped
from nav_msgs.msg import Odometry
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Imu, JointState, MagneticField
from tf2_msgs.msg import TFMessage

from imu_simulation_framework.motion.stamps import NANOSECONDS
from imu_simulation_framework.robot_names import IMU_FRAME, ROBOT_FRAME, WHEEL_JOINTS, WORLD_FRAME
from imu_simulation_framework.ros.raw_messages import (
    imu_packer,
    magnetic_packer,
    odometry_packer,
    publish_packed,
)


class ImuMessages:
    """Of an IMU: what it says, and how wrong it is.

    Parameters
    ----------
    covariances : tuple
        Of orientation, angular velocity and acceleration, nine numbers each.
    magnetic_covariance : tuple of 9 float
        Of its magnetometer.
    """

    def __init__(self, covariances, magnetic_covariance=(0.0,) * 9) -> None:
        field = MagneticField(magnetic_field_covariance=list(magnetic_covariance))
        field.header.frame_id = IMU_FRAME
        self._field = magnetic_packer(field)
        message = Imu()
        message.header.frame_id = IMU_FRAME
        self._bias = imu_packer(message)
        orientation, angular_velocity, linear_acceleration = map(list, covariances)
        message.orientation_covariance = orientation
        message.angular_velocity_covariance = angular_velocity
        message.linear_acceleration_covariance = linear_acceleration
        self._data = imu_packer(message)

    def publish_data(self, publisher: rospy.Publisher, stamps, rows) -> None:
        """Publish what the IMU says: stamps (n,) [ns], and rows (n, 10) of its signals."""
        publish_packed(publisher, self._data.pack(stamps, rows))

    def publish_field(self, publisher: rospy.Publisher, stamps, rows) -> None:
        """Publish what its magnetometer says: stamps (n,) [ns], and fields (n, 3) [T]."""
        publish_packed(publisher, self._field.pack(stamps, rows))

    def publish_bias(self, publisher: rospy.Publisher, stamps, rows) -> None:
        """Publish how wrong it is then, but for white noise, as Hector's plug-in does; the same."""
        publish_packed(publisher, self._bias.pack(stamps, rows))


class RobotMessages:
    """Of the robot: where it is, how it moves, and what time it is there.

    One message of each kind is filled anew: published without a queue, it has been serialised
    before.

    Parameters
    ----------
    wheel_joints : sequence of str
        Joints of the driven wheels, in the order of the state's wheels.
    """

    def __init__(self, wheel_joints=WHEEL_JOINTS) -> None:
        odometry = Odometry(child_frame_id=ROBOT_FRAME)
        odometry.header.frame_id = WORLD_FRAME
        self._odometry = odometry_packer(odometry)
        self._clock = Clock()
        self._joints = JointState(name=list(wheel_joints))
        self._transform = TransformStamped(child_frame_id=ROBOT_FRAME)
        self._transform.header.frame_id = WORLD_FRAME
        self._transforms = TFMessage(transforms=[self._transform])
        stamp = self._clock.clock
        self._joints.header.stamp = self._transform.header.stamp = stamp

    def publish_ground_truth(self, publisher: rospy.Publisher, stamps, state) -> None:
        """Publish poses of base_footprint in the world; twists in the robot's axes (REP-103)."""
        columns = (
            state.position,
            state.orientation,
            state.linear_velocity,
            state.angular_velocity,
        )
        rows = np.concatenate(columns, axis=1)
        publish_packed(publisher, self._odometry.pack(stamps, rows))

    def clock(self, stamp: int) -> Clock:
        """Say that it is ``stamp`` [ns], which the messages below are stamped with, too."""
        self._clock.clock.secs, self._clock.clock.nsecs = divmod(int(stamp), NANOSECONDS)
        return self._clock

    def joint_states(self, state) -> JointState:
        """Return angles and velocities of the driven wheels, at the last of the samples."""
        self._joints.position = state.wheel_positions[-1].tolist()
        self._joints.velocity = state.wheel_velocities[-1].tolist()
        return self._joints

    def transforms(self, state) -> TFMessage:
        """Return that from the world to the robot; robot_state_publisher adds the rest."""
        place, turn = self._transform.transform.translation, self._transform.transform.rotation
        place.x, place.y, place.z = state.position[-1].tolist()
        turn.x, turn.y, turn.z, turn.w = state.orientation[-1].tolist()
        return self._transforms
