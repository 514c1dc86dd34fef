"""Publisher of an ideal IMU or of odometry, which prints the output of realistic_imu as JSON.

    fake_ideal_imu.py MESSAGES.json EXPECTED [TYPE]

MESSAGES.json has stamps [ns] and rows of numbers; EXPECTED is the expected number of output
messages. TYPE is

imu         an IMU on /imu;
odometry    odometry on /imu;
placed_imu  an IMU on /imu and, after each of its messages, odometry on /pose;
pulled_imu  an IMU on /imu, and joint states with and without efforts on /joint_states.

The program runs as a process on the ROS master of a test.
"""

import json
import sys
import threading
from pathlib import Path

import rospy
import tf2_ros
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import Point, Pose, Quaternion, TransformStamped, Twist, Vector3
from nav_msgs.msg import Odometry
from sensor_msgs.msg import Imu, JointState, MagneticField
from std_msgs.msg import String

sys.path.append(str(Path(__file__).resolve().parents[1]))
from patience import wait_until


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


def joint_state(stamp, efforts):
    names = ["wheel_left_joint", "wheel_right_joint"][: len(efforts)]
    return stamped(JointState(name=names, position=[0.0] * len(efforts), effort=efforts), stamp, "")


SECOND_INPUTS = {"placed_imu": ("/pose", Odometry), "pulled_imu": ("/joint_states", JointState)}


def publish_mounting(lever_arm):
    transform = TransformStamped(child_frame_id="chip")
    transform.header.frame_id = "robot"
    transform.transform.translation = Vector3(*lever_arm)
    transform.transform.rotation.w = 1.0
    tf2_ros.StaticTransformBroadcaster().sendTransform(transform)


class Listener:
    """Subscriber to all topics of realistic_imu, which collects the messages in ``received``."""

    def __init__(self):
        self.received = {"imu": [], "errors": [], "fields": [], "statuses": [], "diagnosed": []}
        self._lock = threading.Lock()
        rospy.Subscriber("/diagnostics", DiagnosticArray, self._receive_diagnostics)
        self._imu = rospy.Subscriber("/imu/data", Imu, self._receive_imu, tcp_nodelay=True)
        self._field = rospy.Subscriber(
            "/imu/mag", MagneticField, self._receive_field, tcp_nodelay=True
        )
        for topic, key in (("/imu/calib_status", "statuses"), ("/imu/data/errors", "errors")):
            rospy.Subscriber(topic, String, lambda m, key=key: self.received[key].append(m.data))

    def wait_for_node(self):
        wait_until(self._imu.get_num_connections, "publisher of the IMU")
        # The node advertises the IMU topic last.
        self.has_field = ["/imu/mag", MagneticField._type] in rospy.get_published_topics("/imu")
        if self.has_field:
            wait_until(self._field.get_num_connections, "publisher of the field")

    def wait_for_messages(self, expected):
        received = self.received
        wait_until(lambda: len(received["imu"]) >= expected and received["errors"], "last reading")
        received["diagnosed"].clear()
        wait_until(lambda: received["diagnosed"], "diagnostics")
        if self.has_field:
            wait_until(lambda: len(received["fields"]) >= expected, "last field")
        modes = [json.loads(text)["parameters"].get("output", {}) for text in received["errors"]]
        if any(mode.get("bno055_mode") for mode in modes):
            wait_until(lambda: received["statuses"], "calibration status")

    def wait_until_node_has_received(self):
        """Wait until the diagnostics report that the node has received a message."""
        rate = "messages per second"
        diagnosed = self.received["diagnosed"]
        wait_until(lambda: any(float(each[1][rate]) > 0.0 for each in diagnosed), "message counted")

    def _keep(self, key, message, **parts):
        stamp, frame = message.header.stamp.to_nsec(), message.header.frame_id
        with self._lock:
            self.received[key].append({"stamp": stamp, "frame": frame, **parts})

    def _receive_field(self, message):
        b, covariance = message.magnetic_field, message.magnetic_field_covariance
        self._keep("fields", message, field=[b.x, b.y, b.z], covariance=covariance)

    def _receive_imu(self, message):
        w, a, q = message.angular_velocity, message.linear_acceleration, message.orientation
        orientation = {"orientation": [q.x, q.y, q.z, q.w]}
        orientation["orientation_covariance"] = message.orientation_covariance
        self._keep("imu", message, signals=[w.x, w.y, w.z, a.x, a.y, a.z], **orientation)

    def _receive_diagnostics(self, message):
        (status,) = message.status
        values = {value.key: value.value for value in status.values}
        self.received["diagnosed"].append([status.name, values])


def main(path, expected, kind="imu", *lever_arm):
    rospy.init_node("fake_simulator", disable_signals=True)
    with open(path) as file:
        stamps, rows = json.load(file)
    listener = Listener()
    if lever_arm:
        publish_mounting(map(float, lever_arm))
    make, message_type = {"odometry": (odometry, Odometry)}.get(kind, (imu, Imu))
    options = {"queue_size": 10000, "tcp_nodelay": True}
    publisher = rospy.Publisher("/imu", message_type, **options)
    wait_until(publisher.get_num_connections, "subscriber of the ideal IMU")
    listener.wait_for_node()
    if kind in SECOND_INPUTS:
        second = rospy.Publisher(*SECOND_INPUTS[kind], **options)
        wait_until(second.get_num_connections, "subscriber of the second input")
    for stamp, row in zip(stamps, rows):
        publisher.publish(make(stamp, row[:10] if make is imu else row))
        if kind == "pulled_imu":
            second.publish(joint_state(stamp, []))
            second.publish(joint_state(stamp, row[10:]))
        if kind == "placed_imu":
            if stamp == stamps[0]:
                listener.wait_until_node_has_received()  # odometry requires a known IMU frame
            second.publish(odometry(stamp, row[10:]))
    if int(expected):
        listener.wait_for_messages(int(expected))
    else:
        # The node terminates without output and without reading all messages.
        wait_until(lambda: publisher.get_num_connections() == 0, "end of the node")
    received = listener.received
    print("RESULT" + json.dumps({**received, "diagnosed": received["diagnosed"][-1:]}))


if __name__ == "__main__":
    main(*sys.argv[1:])
