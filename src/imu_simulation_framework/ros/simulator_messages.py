"""The messages that the MuJoCo simulator publishes, filled from its state."""

from __future__ import annotations

from geometry_msgs.msg import TransformStamped
from nav_msgs.msg import Odometry
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Imu, JointState
from tf2_msgs.msg import TFMessage

from imu_simulation_framework.robot_names import IMU_FRAME, ROBOT_FRAME, WHEEL_JOINTS, WORLD_FRAME


class TickMessages:
    """One message of each kind, filled anew for each sample.

    They are published without a queue, so a message has been serialised before it is
    filled again; making new ones for each sample would take a third of the loop's time.
    """

    def __init__(self, covariances) -> None:
        self.clock = Clock()
        self._imu = Imu()
        self._bias = Imu()
        self._odometry = Odometry(child_frame_id=ROBOT_FRAME)
        self._joints = JointState(name=list(WHEEL_JOINTS))
        self._transform = TransformStamped(child_frame_id=ROBOT_FRAME)
        self._transforms = TFMessage(transforms=[self._transform])
        self._stamp = self.clock.clock
        for message, frame in (
            (self._imu, IMU_FRAME),
            (self._bias, IMU_FRAME),
            (self._odometry, WORLD_FRAME),
            (self._joints, ""),
            (self._transform, WORLD_FRAME),
        ):
            message.header.stamp = self._stamp
            message.header.frame_id = frame
        self.set_covariances(covariances)

    def set_covariances(self, covariances) -> None:
        """Orientation, angular velocity and acceleration covariance, nine numbers each."""
        orientation, angular_velocity, linear_acceleration = covariances
        self._imu.orientation_covariance = list(orientation)
        self._imu.angular_velocity_covariance = list(angular_velocity)
        self._imu.linear_acceleration_covariance = list(linear_acceleration)

    def set_stamp(self, nanoseconds: int) -> None:
        """Stamp all messages with a simulated time [ns]."""
        self._stamp.secs, self._stamp.nsecs = divmod(nanoseconds, 1_000_000_000)

    def imu_data(self, reading) -> Imu:
        """Return what the IMU says."""
        _fill_imu(self._imu, reading.orientation, reading.angular_velocity, reading.specific_force)
        return self._imu

    def imu_bias(self, reading) -> Imu:
        """How wrong it is at this moment, apart from white noise, as Hector's plug-in tells."""
        _fill_imu(
            self._bias,
            reading.orientation_bias,
            reading.angular_velocity_bias,
            reading.specific_force_bias,
        )
        return self._bias

    def ground_truth(self, state) -> Odometry:
        """Return pose of base_footprint in the world; twist in the robot's own axes (REP-103)."""
        pose, twist = self._odometry.pose.pose, self._odometry.twist.twist
        _fill_vector(pose.position, state.position)
        _fill_quaternion(pose.orientation, state.orientation)
        _fill_vector(twist.linear, state.linear_velocity)
        _fill_vector(twist.angular, state.angular_velocity)
        return self._odometry

    def joint_states(self, state) -> JointState:
        """Return angles and velocities of the driven wheels."""
        self._joints.position = state.wheel_positions.tolist()
        self._joints.velocity = state.wheel_velocities.tolist()
        return self._joints

    def transforms(self, state) -> TFMessage:
        """From the world to the robot; robot_state_publisher adds the rest."""
        _fill_vector(self._transform.transform.translation, state.position)
        _fill_quaternion(self._transform.transform.rotation, state.orientation)
        return self._transforms


def _fill_imu(message, orientation, angular_velocity, acceleration) -> None:
    _fill_quaternion(message.orientation, orientation)
    _fill_vector(message.angular_velocity, angular_velocity)
    _fill_vector(message.linear_acceleration, acceleration)


def _fill_vector(message, values) -> None:
    message.x, message.y, message.z = values.tolist()


def _fill_quaternion(message, values) -> None:
    message.x, message.y, message.z, message.w = values.tolist()
