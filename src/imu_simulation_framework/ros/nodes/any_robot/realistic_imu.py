"""Gives the ideal IMU that any simulator publishes the errors of a real one.

Where there is no IMU, odometry will do: angular velocity and acceleration are made of it.
"""

from __future__ import annotations

import json
import os
import time

import numpy as np
import rospy
import tf2_ros
from nav_msgs.msg import Odometry
from scipy.spatial.transform import Rotation
from sensor_msgs.msg import Imu
from std_msgs.msg import String

from imu_simulation_framework.constants import WORLD_GRAVITY
from imu_simulation_framework.errors import ConfigurationError, SimulatorError
from imu_simulation_framework.experiment.named_imu import named_imu
from imu_simulation_framework.experiment.realistic_imu.session import RealisticImu
from imu_simulation_framework.experiment.realistic_imu.truth import (
    NO_ORIENTATION,
    ImuInput,
    Mounting,
    OdometryTruth,
)
from imu_simulation_framework.recordings.simulated.raw_bags import read_imu_message
from imu_simulation_framework.ros.node import Node, advertise
from imu_simulation_framework.ros.node_configuration import node_configuration
from imu_simulation_framework.ros.raw_messages import Packer, imu_packer, publish_packed

TRANSFORM_TIMEOUT = 10.0
"""Wall-clock seconds for tf to say where the IMU is."""

TELLING_PERIOD = 10.0
"""Wall-clock seconds between two looks at what was wrong with stamps."""

INPUTS = {"imu": Imu, "odometry": Odometry}


class RealisticImuNode(Node):
    """From the topic ``~input`` to ``~output``, with what was done on ``<output>/errors``."""

    name = "realistic_imu"

    def __init__(self) -> None:
        super().__init__()
        # Relative paths start where roslaunch was called.
        os.chdir(rospy.get_param("~working_directory", "."))
        chosen = named_imu(str(rospy.get_param("~specification")))
        for remark in chosen.remarks:
            rospy.logwarn("%s", remark)
        rate = _number("rate", 0.0)
        seed = _number("seed", 1)
        if seed != int(seed) or seed < 0 or rate < 0.0:
            raise ConfigurationError(
                f"{self.name}: seed is {seed:g} and rate {rate:g}, expected a whole number and a "
                "rate in Hz, neither below zero"
            )
        self._session = RealisticImu(chosen.errors, int(seed), rate=rate or None)
        self._kind = str(rospy.get_param("~input_type", "imu"))
        if self._kind not in INPUTS:
            raise ConfigurationError(
                f"{self.name}: input_type is {self._kind}, expected {' or '.join(INPUTS)}"
            )
        self._frame = str(rospy.get_param("~frame_id", ""))
        self._source: ImuInput | OdometryTruth | None = None
        self._packer: Packer | None = None
        self._told: list[str] = []
        self._told_at = time.monotonic()
        output = str(rospy.get_param("~output"))
        self._output = advertise(output, Imu)
        self._errors = rospy.Publisher(f"{output}/errors", String, latch=True, queue_size=1)
        self._input = str(rospy.get_param("~input"))
        is_imu = self._kind == "imu"
        callback = self._on_imu if is_imu else self._on_odometry
        self.subscribe(self._input, INPUTS[self._kind], callback, raw=is_imu)

    def read_configuration(self):
        """Return the defaults: this node's parameters are no keys of config.ini."""
        return node_configuration(rospy.get_name(), {}, {})

    def spin_once(self):
        """Tell what is wrong with the stamps, when there is something new."""
        now = time.monotonic()
        if now - self._told_at < TELLING_PERIOD:
            return
        self._told_at = now
        told = self._session.report.sentences()
        for sentence in told:
            if sentence not in self._told:
                rospy.logwarn("%s: %s", self._input, sentence)
        self._told = told

    def _on_imu(self, data):
        message = read_imu_message(data, ros2=False)
        if message is None:
            raise SimulatorError(f"{self._input}: a message is not laid out as sensor_msgs/Imu")
        if self._source is None:
            gravity = WORLD_GRAVITY if rospy.get_param("~add_gravity", False) else 0.0
            self._source = ImuInput(self._mounting(message.frame), gravity)
        truth = self._source.truth(message.stamp, message.numbers)
        if not self._source.has_orientation and self._session.gives_orientation:
            self._session.without_orientation()
            self._packer = None
        self._publish(self._session.add(message.stamp, truth))

    def _on_odometry(self, message):
        if self._source is None:
            mounting = self._mounting(message.child_frame_id)
            use_twist = bool(rospy.get_param("~use_twist", True))
            self._source = OdometryTruth(mounting, use_twist)
        p, q = message.pose.pose.position, message.pose.pose.orientation
        v, w = message.twist.twist.linear, message.twist.twist.angular
        numbers = (p.x, p.y, p.z, q.x, q.y, q.z, q.w, v.x, v.y, v.z, w.x, w.y, w.z)
        known = self._source.truth(message.header.stamp.to_nsec(), np.array(numbers))
        if known is not None:
            self._publish(self._session.add(*known))

    def _publish(self, readings) -> None:
        if not readings:
            return
        if self._packer is None:
            self._packer = self._begin()
        oriented = self._session.gives_orientation
        rows = [
            (
                *(reading.orientation if oriented else NO_ORIENTATION),
                *reading.angular_velocity,
                *reading.specific_force,
            )
            for _, reading in readings
        ]
        stamps = np.array([stamp for stamp, _ in readings])
        publish_packed(self._output, self._packer.pack(stamps, np.array(rows)))

    def _begin(self) -> Packer:
        """Say what is done, and return what writes messages."""
        described = {"input": self._input, "frame_id": self._frame, **self._session.describe()}
        self._errors.publish(String(data=json.dumps(described, sort_keys=True)))
        rospy.loginfo(
            "%s: %s of %s at %g Hz, in frame %s",
            self._output.resolved_name,
            described["label"],
            self._input,
            1.0 / described["period"],
            self._frame,
        )
        message = Imu()
        message.header.frame_id = self._frame
        (
            message.orientation_covariance,
            message.angular_velocity_covariance,
            message.linear_acceleration_covariance,
        ) = map(list, self._session.covariances())
        return imu_packer(message)

    def _mounting(self, frame) -> Mounting:
        """Return where the IMU is on what is published, as tf says it."""
        if not self._frame:
            self._frame = frame
        if self._frame == frame or not rospy.get_param("~use_tf", False):
            return Mounting()
        buffer = tf2_ros.Buffer()
        listener = tf2_ros.TransformListener(buffer)
        deadline = time.monotonic() + TRANSFORM_TIMEOUT
        while not buffer.can_transform(frame, self._frame, rospy.Time(0)):
            if time.monotonic() > deadline or self.ended:
                raise SimulatorError(
                    f"tf does not say within {TRANSFORM_TIMEOUT:g} s where {self._frame} is in "
                    f"{frame}, the frame of {self._input}"
                )
            time.sleep(0.05)
        transform = buffer.lookup_transform(frame, self._frame, rospy.Time(0)).transform
        listener.unregister()
        t, q = transform.translation, transform.rotation
        return Mounting(np.array([t.x, t.y, t.z]), Rotation.from_quat([q.x, q.y, q.z, q.w]))


def _number(name, default) -> float:
    value = rospy.get_param(f"~{name}", default)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not np.isfinite(value):
        raise ConfigurationError(f"realistic_imu: {name} is {value!r}, expected a number")
    return value
