"""Writes a bag of the experiment without losing a message."""

from __future__ import annotations

import os
import struct
import threading

import genpy
import rosbag
import rospy
from std_srvs.srv import Trigger, TriggerResponse

from imu_simulation_framework.errors import ResultError
from imu_simulation_framework.nodes import topics
from imu_simulation_framework.nodes.node import subscribe
from imu_simulation_framework.nodes.participant import Participant

RECORDED_TOPICS = (
    "/clock",
    "/tf",
    topics.IMU,
    topics.IMU_BIAS,
    topics.GROUND_TRUTH,
    topics.JOINT_STATES,
    topics.WHEEL_COMMAND,
    topics.TRAJECTORY_ERROR,
    topics.YAW_SIMULATED,
    topics.YAW_REAL,
    topics.YAW_GROUND_TRUTH,
)

ACTIVE = ".active"
"""Ending of the bag's name while it is written."""


class ExperimentRecorder(Participant):
    """Takes every message as it is, in the bytes that came, at its own stamp if it has one.

    ``rosbag record`` beside a run that is much faster than real time drops messages, since
    its queue is bounded; here a publisher waits until the recorder has read its message.
    The bag is written under another name and renamed when it is complete.
    """

    name = "experiment_recorder"

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()
        self._bag = None
        self._path = ""
        self._last_stamps = {}
        self.inputs = tuple(
            subscribe(topic, rospy.AnyMsg, lambda message, t=topic: self._write(t, message))
            for topic in RECORDED_TOPICS
        )
        rospy.Service(f"{self.name}/stop", Trigger, self._on_stop)
        self.offer_start()

    def prepare(self, start, stop):
        self._path = str(self.folder.path("experiment.bag"))
        try:
            self._bag = rosbag.Bag(self._path + ACTIVE, "w")
        except OSError as error:
            raise ResultError(f"{self._path} cannot be written: {error}") from None

    def _write(self, topic, message):
        with self._lock:
            if self._bag is None:
                return
            header = message._connection_header
            stamp = _stamp(header["type"], message._buff)
            if stamp is not None and stamp == self._last_stamps.get(topic):
                return  # a simulator that waits for its first command repeats itself
            self._last_stamps[topic] = stamp
            raw = (header["type"], message._buff, header["md5sum"], None)
            try:
                self._bag.write(
                    rospy.resolve_name(topic),
                    raw,
                    stamp or rospy.get_rostime(),
                    raw=True,
                    connection_header=header,
                )
            except OSError as error:
                self._bag = None
                self.fail(f"{self._path} cannot be written: {error}")

    def _on_stop(self, _):
        try:
            self._complete()
        except ResultError as error:
            return TriggerResponse(success=False, message=str(error))
        return TriggerResponse(success=True, message=self._path)

    def _complete(self) -> None:
        with self._lock:
            if self._bag is None:
                return
            bag, self._bag = self._bag, None
            try:
                bag.close()
                os.replace(self._path + ACTIVE, self._path)
            except OSError as error:
                raise ResultError(f"{self._path} cannot be written: {error}") from None

    def close(self):
        try:
            self._complete()
        except ResultError as error:
            self.fail(str(error))


def _stamp(message_type: str, serialised: bytes) -> genpy.Time | None:
    """The stamp at the beginning of a message in ROS serialisation, None without one."""
    if message_type == "rosgraph_msgs/Clock":
        offset = 0
    elif genpy.message.get_message_class(message_type)._has_header:
        offset = 4  # after Header.seq
    else:
        return None
    return genpy.Time(*struct.unpack_from("<II", serialised, offset))
