"""Publishes an ideal IMU, or odometry, as a simulator would, and prints what comes back as JSON.

    fake_ideal_imu.py MESSAGES.json EXPECTED [TYPE]

The file holds stamps [ns] and numbers; it is run as a process of its own, beside another's master.
TYPE is imu, odometry, placed_imu: an IMU on /imu and, a message later, odometry on /pose,
field_imu: an IMU on /imu and, a message before, an ideal field on /field, or pulled_imu: an IMU and
joint states with efforts on /joint_states, and without joints in between.
"""

import json
import sys
import threading
import time

import rospy
import tf2_ros
from geometry_msgs.msg import Point, Pose, Quaternion, TransformStamped, Twist, Vector3
from nav_msgs.msg import Odometry
from sensor_msgs.msg import Imu, JointState, MagneticField
from std_msgs.msg import String

TIMEOUT = 40.0


def imu(stamp, numbers):
    message = Imu(
        orientation=Quaternion(*numbers[:4]),
        angular_velocity=Vector3(*numbers[4:7]),
        linear_acceleration=Vector3(*numbers[7:]),
    )
    message.header.frame_id = "robot"
    message.header.stamp = rospy.Time(0, stamp)
    return message


def odometry(stamp, numbers):
    message = Odometry(child_frame_id="robot")
    message.header.frame_id = "odom"
    message.header.stamp = rospy.Time(0, stamp)
    message.pose.pose = Pose(Point(*numbers[:3]), Quaternion(*numbers[3:7]))
    message.twist.twist = Twist(Vector3(*numbers[7:10]), Vector3(*numbers[10:]))
    return message


def magnetic_field(stamp, numbers):
    message = MagneticField(magnetic_field=Vector3(*numbers))
    message.header.frame_id = "robot"
    message.header.stamp = rospy.Time(0, stamp)
    return message


def joint_state(stamp, efforts):
    message = JointState(name=["wheel_left_joint", "wheel_right_joint"][: len(efforts)])
    message.position, message.effort = [0.0] * len(efforts), efforts
    message.header.stamp = rospy.Time(0, stamp)
    return message


def mounted_at(lever_arm):
    transform = TransformStamped(child_frame_id="chip")
    transform.header.frame_id = "robot"
    transform.transform.translation = Vector3(*lever_arm)
    transform.transform.rotation.w = 1.0
    tf2_ros.StaticTransformBroadcaster().sendTransform(transform)


def wait_for(condition):
    deadline = time.monotonic() + TIMEOUT
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)


def main(path, expected, kind="imu", *lever_arm):
    rospy.init_node("fake_simulator", disable_signals=True)
    with open(path) as file:
        stamps, rows = json.load(file)
    came, told, fields, statuses, lock = [], [], [], [], threading.Lock()

    def on_field(message):
        b = message.magnetic_field
        with lock:
            fields.append(
                {
                    "stamp": message.header.stamp.to_nsec(),
                    "frame": message.header.frame_id,
                    "field": [b.x, b.y, b.z],
                    "covariance": message.magnetic_field_covariance,
                }
            )

    def on_imu(message):
        w, a, q = message.angular_velocity, message.linear_acceleration, message.orientation
        with lock:
            came.append(
                {
                    "stamp": message.header.stamp.to_nsec(),
                    "frame": message.header.frame_id,
                    "signals": [w.x, w.y, w.z, a.x, a.y, a.z],
                    "orientation": [q.x, q.y, q.z, q.w],
                    "orientation_covariance": message.orientation_covariance,
                }
            )

    heard = rospy.Subscriber("/imu/data", Imu, on_imu, tcp_nodelay=True)
    rospy.Subscriber("/imu/mag", MagneticField, on_field, tcp_nodelay=True)
    rospy.Subscriber("/imu/calib_status", String, lambda message: statuses.append(message.data))
    rospy.Subscriber("/imu/data/errors", String, lambda message: told.append(message.data))
    if lever_arm:
        mounted_at(map(float, lever_arm))
    is_placed, has_field, pulls = (kind == f"{what}_imu" for what in ("placed", "field", "pulled"))
    make, message_type = {"odometry": (odometry, Odometry)}.get(kind, (imu, Imu))
    publisher = rospy.Publisher("/imu", message_type, queue_size=10000, tcp_nodelay=True)
    poses = rospy.Publisher("/pose", Odometry, queue_size=10000, tcp_nodelay=True)
    wait_for(lambda: publisher.get_num_connections() > 0 and heard.get_num_connections() > 0)
    given_fields = rospy.Publisher("/field", MagneticField, queue_size=10000, tcp_nodelay=True)
    if has_field:
        wait_for(lambda: given_fields.get_num_connections() > 0)
    joints = rospy.Publisher("/joint_states", JointState, queue_size=10000, tcp_nodelay=True)
    if pulls:
        wait_for(lambda: joints.get_num_connections() > 0)
    if is_placed:
        wait_for(lambda: poses.get_num_connections() > 0)
    for stamp, row in zip(stamps, rows):
        if has_field:
            given_fields.publish(magnetic_field(stamp, row[10:]))
        publisher.publish(make(stamp, row[:10] if make is imu else row))
        if pulls:
            joints.publish(joint_state(stamp, []))
            joints.publish(joint_state(stamp, row[10:]))
        if is_placed:
            if stamp == stamps[0]:
                time.sleep(1.0)  # its frame has to be known
            poses.publish(odometry(stamp, row[10:]))
    if int(expected):
        wait_for(lambda: len(came) >= int(expected) and told)
    else:
        # Nothing is to come back: the node ends, and what it has not read by then stays with us.
        wait_for(lambda: publisher.get_num_connections() == 0)
    if any('"magnetic_' in text for text in told):
        wait_for(lambda: len(fields) >= int(expected))
    if any('"bno055_mode": "' in text and '"bno055_mode": ""' not in text for text in told):
        wait_for(lambda: statuses)
    heard = {"imu": came, "errors": told, "fields": fields, "statuses": statuses}
    print("RESULT" + json.dumps(heard))


if __name__ == "__main__":
    main(*sys.argv[1:])
