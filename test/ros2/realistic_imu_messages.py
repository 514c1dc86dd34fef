"""ROS 2 messages of an ideal IMU or of odometry, as input of the node realistic_imu."""

import numpy as np
from geometry_msgs.msg import Point, Pose, Quaternion, Twist, Vector3
from nav_msgs.msg import Odometry
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import Imu

from imu_simulation_framework.sensors.simulation import imu_truth

from ideal_recordings import odometry_rows, stamps_of  # isort: skip


def stamped(message, stamp, frame="robot"):
    message.header.frame_id = frame
    message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp, 10**9)
    return message


def vector(numbers):
    return Vector3(**dict(zip("xyz", map(float, numbers))))


def quaternion(numbers):
    return Quaternion(**dict(zip("xyzw", map(float, numbers))))


def imu(stamp, orientation, rate, force):
    message = Imu(orientation=quaternion(orientation), angular_velocity=vector(rate))
    message.linear_acceleration = vector(force)
    return stamped(message, stamp)


def ideal(motion):
    return [imu(*row) for row in zip(stamps_of(motion), *imu_truth(motion)[:3])]


def odometry(stamp, row):
    place = Point(**dict(zip("xyz", map(float, row[:3]))))
    message = Odometry(child_frame_id="robot")
    message.pose.pose = Pose(position=place, orientation=quaternion(row[3:7]))
    message.twist.twist = Twist(linear=vector(row[7:10]), angular=vector(row[10:]))
    return stamped(message, stamp, "odom")


def driven(motion):
    return [odometry(*row) for row in zip(stamps_of(motion), odometry_rows(motion))]


def pairs(topic, messages):
    return [(topic, bytes(serialize_message(message))) for message in messages]


def signals(received):
    messages = [deserialize_message(data, Imu) for data in received]
    return np.array(
        [[w.x, w.y, w.z, a.x, a.y, a.z] for m in messages
         for w, a in [(m.angular_velocity, m.linear_acceleration)]]
    )  # fmt: skip
