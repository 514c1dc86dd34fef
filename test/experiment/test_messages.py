"""Serialising and reading messages without a ROS master, and rejection of invalid messages."""

import io
import math

import numpy as np
import pytest
from nav_msgs.msg import Odometry
from sensor_msgs.msg import Imu, JointState, MagneticField

from imu_simulation_framework.core.errors import SimulatorError
from imu_simulation_framework.core.topics import WHEEL_JOINTS
from imu_simulation_framework.drive.mujoco import MujocoSimulator
from imu_simulation_framework.drive.session import messages as messages_of_drive
from imu_simulation_framework.drive.session.driving import DriveSession, TrackingSession, TruePose
from imu_simulation_framework.drive.tracking.controllers import Pose2D, TrackingError
from imu_simulation_framework.drive.turning import load_robot_parameters
from imu_simulation_framework.msg import ErrorCoordinates2
from imu_simulation_framework.recordings.messages import ImuPackers
from imu_simulation_framework.ros1 import messages as raw_messages
from imu_simulation_framework.ros1.messages import RobotMessages, publish_packed

LEVEL = (0.0, 0.0, 0.0, 1.0)
ERRORS = TrackingError._fields


class EndlessDrive:
    """Reference trajectory and controller of a drive that never ends."""

    @staticmethod
    def finished(_):
        return False

    @staticmethod
    def command(*_):
        return 1.0, 1.0

    @staticmethod
    def pose_at(_):
        return Pose2D(0.0, 0.0, 0.0)


def answer(previous=10.0, time_from_start=10.05, **errors):
    """Process a tracking error at a given time since the start of a drive [s]."""
    session = DriveSession(EndlessDrive())
    session.time = previous
    session.answer(time_from_start, TrackingError(**{**dict.fromkeys(ERRORS, 0.0), **errors}))


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize(
    "field",
    ["time_from_start", "yaw_error", "distance_error", "along_track_error", "cross_track_error"],
)
def test_tracking_error_with_non_finite_number_is_rejected(field, value):
    with pytest.raises(SimulatorError, match="trajectory_error"):
        answer(**{field: value})


@pytest.mark.parametrize("time", [1e9, 15.1, 4.9])
def test_time_jump_of_tracking_error_is_rejected(time):
    with pytest.raises(SimulatorError, match="trajectory_error: .*after 10.00 s"):
        answer(time_from_start=time)


def drive(*samples):
    """Track a robot through samples of (time, x, speed) at 20 Hz."""
    session = TrackingSession(period=0.05, lock_step=True)
    session.follow(EndlessDrive())
    session.ground_truth(TruePose(0, 0.0, 0.0, LEVEL, 0.0, 0.0))
    session.commanded()
    for stamp, x, speed in samples:
        session.ground_truth(TruePose(round(1e9 * stamp), x, 0.0, LEVEL, speed, 0.0))
    return session


def test_hard_braking_is_accepted_as_continuous_motion():
    drive((0.0, 0.0, 10.0), (0.05, 0.5, 10.0), (0.1, 0.75, 0.0), (0.6, 0.8, 0.2))


@pytest.mark.parametrize("step", [0.01, 0.05])
def test_position_jump_of_robot_during_drive_is_reported(step):
    with pytest.raises(SimulatorError, match=r"robot .*1\.00 m"):
        drive((0.0, 0.0, 1.0), (step, 1.0, 1.0))


@pytest.mark.parametrize("axis", [(1.0, 0.0), (0.6, 0.8)])
def test_overturned_robot_is_reported_and_ramp_is_accepted(axis):
    def lean(angle):
        x, y = (math.sin(0.5 * math.radians(angle)) * part for part in axis)
        return TruePose(
            round(5e7), 0.0, 0.0, (x, y, 0.0, math.cos(0.5 * math.radians(angle))), 0.0, 0.0
        )

    drive().ground_truth(lean(30.0))
    for angle in (62.0, 180.0):
        with pytest.raises(SimulatorError, match=f"tipped over: 0.05 s .* tilt is {angle:.0f} deg"):
            drive().ground_truth(lean(angle))


class SubscribedPublisher:
    """Substitute for a rospy publisher with one subscriber, which stores the written bytes."""

    def __init__(self):
        self.impl, self.connections = self, [self]
        self.closed, self.seq, self.written = False, 0, b""

    def write_data(self, data):
        self.written += data

    def acquire(self):
        """Do nothing, because only one thread is used."""

    release = acquire

    def messages(self):
        """Return the written messages without their length prefixes."""
        data, messages = self.written, []
        while data:
            end = 4 + int.from_bytes(data[:4], "little")
            messages.append(data[4:end])
            data = data[end:]
        return messages


def serialised(message):
    buffer = io.BytesIO()
    message.serialize(buffer)
    return buffer.getvalue()


STAMPS = np.array([999_999_999, 12_345_000_000_007])


def read_back(message_type, messages):
    """Deserialise messages with rospy, and assert that rospy serialises them to the same bytes."""
    read = [message_type().deserialize(data) for data in messages]
    assert [serialised(message) for message in read] == messages
    assert [message.header.seq for message in read] == [1, 2]
    assert [message.header.stamp.to_nsec() for message in read] == STAMPS.tolist()
    return read


def inertial(message):
    q, w, a = message.orientation, message.angular_velocity, message.linear_acceleration
    return (q.x, q.y, q.z, q.w, w.x, w.y, w.z, a.x, a.y, a.z), message.angular_velocity_covariance


def magnetic(message):
    field = message.magnetic_field
    return (field.x, field.y, field.z), message.magnetic_field_covariance


@pytest.mark.parametrize(
    ("message_type", "write", "values", "read", "columns"),
    [
        (Imu, ImuPackers.data, inertial, messages_of_drive.imu_rows, 10),
        (MagneticField, ImuPackers.field, magnetic, messages_of_drive.magnetic_rows, 3),
    ],
)
def test_serialised_imu_messages_match_rospy(message_type, write, values, read, columns):
    rows = np.random.default_rng(1).normal(size=(2, columns))
    topic, middle = SubscribedPublisher(), range(9, 18)
    packers = ImuPackers((range(9), middle, range(18, 27)), middle)
    publish_packed(topic, write(packers, STAMPS, rows))
    messages = topic.messages()
    for message, row in zip(read_back(message_type, messages), rows):
        assert message.header.frame_id == "imu_link"
        assert values(message) == (tuple(row), tuple(middle))
    stamps, read_rows = read(messages)
    np.testing.assert_array_equal(stamps, STAMPS)
    np.testing.assert_array_equal(read_rows, rows)


def test_serialised_ground_truth_matches_rospy():
    state = MujocoSimulator(load_robot_parameters()).steps(2)
    topic = SubscribedPublisher()
    RobotMessages().publish_ground_truth(topic, STAMPS, state)
    messages = topic.messages()
    stamps, rows = messages_of_drive.ground_truth_rows(messages)
    np.testing.assert_array_equal(stamps, STAMPS)
    for index, message in enumerate(read_back(Odometry, messages)):
        p, q = message.pose.pose.position, message.pose.pose.orientation
        v, w = message.twist.twist.linear, message.twist.twist.angular
        assert (message.header.frame_id, message.child_frame_id) == ("odom", "base_footprint")
        assert (p.x, p.y, p.z) == tuple(state.position[index])
        assert (q.x, q.y, q.z, q.w) == tuple(state.orientation[index])
        assert (v.x, v.y, v.z) == tuple(state.linear_velocity[index])
        assert (w.x, w.y, w.z) == tuple(state.angular_velocity[index])
        pose = messages_of_drive.true_pose(messages[index])
        assert pose == (stamps[index], p.x, p.y, (q.x, q.y, q.z, q.w), v.x, v.y)
        place = (p.x, p.y, p.z, q.x, q.y, q.z, q.w)
        assert tuple(rows[index]) == (*place, v.x, v.y, v.z, w.x, w.y, w.z)


def joint_states(names, velocities):
    message = JointState(name=names, velocity=velocities, effort=[1.0] * len(names))
    message.position = [2.0] * len(names)
    message.header.stamp.secs, message.header.stamp.nsecs = 7, 50_000_000
    return serialised(message)


def test_wheel_velocities_are_read_by_joint_name():
    left, right = WHEEL_JOINTS
    messages = [
        joint_states([left, right], [0.1, 0.2]),
        joint_states(["arm", right, left], [9.0, 0.4, 0.3]),
    ]
    stamps, rows = raw_messages.read_wheel_rows(messages, load_robot_parameters())
    np.testing.assert_array_equal(stamps, [7_050_000_000] * 2)
    np.testing.assert_array_equal(rows, [[0.1, 0.2], [0.3, 0.4]])


@pytest.mark.parametrize(("names", "velocities"), [(["arm"], [1.0]), (list(WHEEL_JOINTS), [])])
def test_joint_states_without_wheel_velocities_are_rejected(names, velocities):
    with pytest.raises(SimulatorError, match="joint_states: .*left_wheel"):
        raw_messages.read_wheel_rows([joint_states(names, velocities)], load_robot_parameters())


def test_deserialised_tracking_error_matches_rospy():
    message = ErrorCoordinates2(time_from_start=1.5, yaw_error=0.1, distance_error=0.2)
    message.along_track_error, message.cross_track_error = -0.3, 0.4
    message.header.stamp.secs, message.header.stamp.nsecs = 7, 50_000_000
    message.header.frame_id = "odom"
    stamp, time, error = raw_messages.read_tracking_error(serialised(message))
    assert (stamp, time, *error) == (7_050_000_000, 1.5, 0.1, 0.2, -0.3, 0.4)
