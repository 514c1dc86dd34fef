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
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import Point, Pose, Quaternion, TransformStamped, Twist, Vector3
from nav_msgs.msg import Odometry
from sensor_msgs.msg import Imu, JointState, MagneticField
from std_msgs.msg import String

TIMEOUT = 40.0


def stamped(message, stamp, frame="robot"):
    message.header.frame_id, message.header.stamp = frame, rospy.Time(0, stamp)
    return message


def imu(stamp, numbers):
    turn, rate, force = Quaternion(*numbers[:4]), Vector3(*numbers[4:7]), Vector3(*numbers[7:])
    made = Imu(orientation=turn, angular_velocity=rate, linear_acceleration=force)
    return stamped(made, stamp)


def odometry(stamp, numbers):
    message = stamped(Odometry(child_frame_id="robot"), stamp, "odom")
    message.pose.pose = Pose(Point(*numbers[:3]), Quaternion(*numbers[3:7]))
    message.twist.twist = Twist(Vector3(*numbers[7:10]), Vector3(*numbers[10:]))
    return message


def magnetic_field(stamp, numbers):
    return stamped(MagneticField(magnetic_field=Vector3(*numbers)), stamp)


def joint_state(stamp, efforts):
    names = ["wheel_left_joint", "wheel_right_joint"][: len(efforts)]
    return stamped(JointState(name=names, position=[0.0] * len(efforts), effort=efforts), stamp, "")


BESIDE = {
    "placed_imu": ("/pose", Odometry),
    "field_imu": ("/field", MagneticField),
    "pulled_imu": ("/joint_states", JointState),
}


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
    came, told, fields, statuses, diagnosed, lock = [], [], [], [], [], threading.Lock()

    def keep(kept, message, **parts):
        stamp, frame = message.header.stamp.to_nsec(), message.header.frame_id
        with lock:
            kept.append({"stamp": stamp, "frame": frame, **parts})

    def on_field(message):
        b, covariance = message.magnetic_field, message.magnetic_field_covariance
        keep(fields, message, field=[b.x, b.y, b.z], covariance=covariance)

    def on_imu(message):
        w, a, q = message.angular_velocity, message.linear_acceleration, message.orientation
        turn = {"orientation": [q.x, q.y, q.z, q.w]}
        turn["orientation_covariance"] = message.orientation_covariance
        keep(came, message, signals=[w.x, w.y, w.z, a.x, a.y, a.z], **turn)

    def on_diagnostics(message):
        (one,) = message.status
        diagnosed.append([one.name, {value.key: value.value for value in one.values}])

    rospy.Subscriber("/diagnostics", DiagnosticArray, on_diagnostics)
    heard = rospy.Subscriber("/imu/data", Imu, on_imu, tcp_nodelay=True)
    field = rospy.Subscriber("/imu/mag", MagneticField, on_field, tcp_nodelay=True)
    rospy.Subscriber("/imu/calib_status", String, lambda message: statuses.append(message.data))
    rospy.Subscriber("/imu/data/errors", String, lambda message: told.append(message.data))
    if lever_arm:
        mounted_at(map(float, lever_arm))
    make, message_type = {"odometry": (odometry, Odometry)}.get(kind, (imu, Imu))
    options = {"queue_size": 10000, "tcp_nodelay": True}
    publisher = rospy.Publisher("/imu", message_type, **options)
    wait_for(lambda: publisher.get_num_connections() > 0 and heard.get_num_connections() > 0)
    # Whoever listens has advertised all before.
    has_field = ["/imu/mag", MagneticField._type] in rospy.get_published_topics("/imu")
    wait_for(lambda: not has_field or field.get_num_connections() > 0)
    if kind in BESIDE:
        beside = rospy.Publisher(*BESIDE[kind], **options)
        wait_for(lambda: beside.get_num_connections() > 0)
    for stamp, row in zip(stamps, rows):
        if kind == "field_imu":
            beside.publish(magnetic_field(stamp, row[10:]))
        publisher.publish(make(stamp, row[:10] if make is imu else row))
        if kind == "pulled_imu":
            beside.publish(joint_state(stamp, []))
            beside.publish(joint_state(stamp, row[10:]))
        if kind == "placed_imu":
            if stamp == stamps[0]:
                time.sleep(1.0)  # its frame has to be known
            beside.publish(odometry(stamp, row[10:]))
    if int(expected):
        wait_for(lambda: len(came) >= int(expected) and told)
        diagnosed.clear()
        wait_for(lambda: diagnosed)
    else:
        # Nothing is to come back: the node ends, and what it has not read by then stays with us.
        wait_for(lambda: publisher.get_num_connections() == 0)
    if has_field:
        wait_for(lambda: len(fields) >= int(expected))
    if any('"bno055_mode": "' in text and '"bno055_mode": ""' not in text for text in told):
        wait_for(lambda: statuses)
    heard = {"imu": came, "errors": told, "fields": fields, "statuses": statuses}
    print("RESULT" + json.dumps({**heard, "diagnosed": diagnosed[-1:]}))


if __name__ == "__main__":
    main(*sys.argv[1:])
