"""Gives the ideal IMU that any simulator publishes the errors of a real one.

Where there is no IMU, odometry will do: angular velocity and acceleration are made of it. A
magnetometer is simulated beside it, in Earth's field or, where the robot's pose is reported, in
any, or in an ideal field that the simulator publishes.
"""

from __future__ import annotations

import time
from functools import partial

import numpy as np
import rospy
import tf2_ros
from nav_msgs.msg import Odometry
from rosgraph_msgs.msg import Clock
from scipy.spatial.transform import Rotation
from sensor_msgs.msg import Imu, JointState, MagneticField
from std_msgs.msg import String

from imu_simulation_framework.core import topics
from imu_simulation_framework.core.errors import FrameworkError, SimulatorError
from imu_simulation_framework.realistic_imu.live import (
    LiveImu,
    RealisticImuArguments,
    read_arguments,
)
from imu_simulation_framework.realistic_imu.truth import Mounting
from imu_simulation_framework.recordings.messages import IMU, MAGNETIC_FIELD, ODOMETRY
from imu_simulation_framework.ros1.messages import publish_packed
from imu_simulation_framework.ros1.node import Node, advertise, subscribe

TRANSFORM_TIMEOUT = 10.0  # wall-clock seconds for tf to say where the IMU is
CLOCK_TIMEOUT = 1.0  # wall-clock seconds to wait for the clock

_TYPES = {IMU.name: Imu, ODOMETRY.name: Odometry, MAGNETIC_FIELD.name: MagneticField}


class RealisticImuNode(Node):
    """Hands messages to a :class:`.LiveImu`, whose :class:`.Shell` it is."""

    name = "realistic_imu"
    has_settings = False
    ros2 = False

    def __init__(self) -> None:
        super().__init__()
        arguments = read_arguments(
            RealisticImuArguments,
            self.name,
            lambda name, default: rospy.get_param(f"~{name}", default),
        )
        self._live = LiveImu(arguments, self)
        self._publishers = {
            topic: advertise(topic, _TYPES[kind.name]) for topic, kind in self._live.outputs.items()
        }
        for topic in self._live.texts:
            self._publishers[topic] = rospy.Publisher(topic, String, latch=True, queue_size=1)
        if self._live.joint_states:
            # Several may publish states, each of joints of their own.
            subscribe(self._live.joint_states, JointState, self._on_joints)
        for topic, (kind, _) in reversed(self._live.inputs.items()):
            self.subscribe(topic, _TYPES[kind.name], partial(self._live.take, topic), raw=True)

    def spin_once(self):
        self._live.look_after()

    def close(self):
        self._live.tell_report()

    def _on_joints(self, message):
        try:
            self._live.take_joints(message.header.stamp.to_nsec(), message.name, message.effort)
        except FrameworkError as error:
            self.fail(f"{self._live.joint_states}: {error}")

    def warn(self, sentence):
        rospy.logwarn("%s", sentence)

    def inform(self, sentence):
        rospy.loginfo("%s", sentence)

    def resolve(self, topic):
        return rospy.resolve_name(topic)

    def send(self, topic, packed):
        publish_packed(self._publishers[topic], packed)

    def send_text(self, topic, text):
        self._publishers[topic].publish(String(data=text))

    def simulated_time(self):
        if not rospy.get_param("/use_sim_time", False):
            return None
        try:
            clock = rospy.wait_for_message(topics.CLOCK, Clock, timeout=CLOCK_TIMEOUT).clock
        except rospy.ROSException:
            return None  # paused
        return clock.to_nsec()

    def transform(self, parent, frame, topic):
        buffer = tf2_ros.Buffer()
        listener = tf2_ros.TransformListener(buffer)
        deadline = time.monotonic() + TRANSFORM_TIMEOUT
        while not buffer.can_transform(parent, frame, rospy.Time(0)):
            if time.monotonic() > deadline or self.ended:
                raise SimulatorError(
                    f"tf does not say within {TRANSFORM_TIMEOUT:g} s where {frame} is in "
                    f"{parent or '(no name)'}, the frame of {topic}"
                )
            self._ended.wait(0.05)
        transform = buffer.lookup_transform(parent, frame, rospy.Time(0)).transform
        listener.unregister()
        t, q = transform.translation, transform.rotation
        return Mounting(np.array([t.x, t.y, t.z]), Rotation.from_quat([q.x, q.y, q.z, q.w]))
