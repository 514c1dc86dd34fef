"""Publish the yaws of both IMUs and the ground truth, and yaw errors, for live views."""

from __future__ import annotations

import threading

import numpy as np
import rospy

from ...core import topics
from ...core.angles import fast_yaw
from ...core.stamps import NANOSECONDS
from ...drive.session.messages import true_pose
from ...drive.session.yaws import YawSession
from ...msg import ErrorCoordinates2, ImuYaw
from ...recordings import messages
from ..messages import publish_packed
from ..node import advertise, subscribe
from ..participant import Participant


class ImuYawPublisher(Participant):
    """Convert orientations to ``ImuYaw``, and publish the recorded yaw with the same stamps.

    The node subscribes to its inputs only while its outputs have subscribers; otherwise two 100 Hz
    streams would slow down a fast experiment by 10 %.
    """

    name = "imu_yaw_publisher"

    def __init__(self) -> None:
        super().__init__()
        # rospy calls the callbacks from one thread per connection.
        self._lock = threading.Lock()
        self._session = YawSession()
        self._publishers = {topic: advertise(topic, ImuYaw) for topic in self._session.topics}
        self._packer = messages.Packer(messages.IMU_YAW, [topics.WORLD_FRAME])
        self._waiting: dict[str, list] = {}
        self._errors = subscribe(topics.TRAJECTORY_ERROR, ErrorCoordinates2, self._on_error)
        self.offer_start()

    def prepare(self, start, stop):
        reference = self.folder.read_columns("reference", ["yaw"])
        recorded = None
        if self.folder.path("imu_real.csv").exists():
            recorded = self.folder.read_columns("imu_real", ["yaw"])
        with self._lock:
            self._session.compare_with(reference, recorded)
        self._update_subscriptions()

    def spin_once(self):
        self._update_subscriptions()

    def _update_subscriptions(self) -> None:
        """Subscribe to the inputs while the outputs have subscribers."""
        watched = any(p.get_num_connections() for p in self._publishers.values())
        with self._lock:
            # The initial simulated yaw error is needed even before the first subscriber.
            needed = watched or not self._session.begun
            if needed and not self.inputs:
                self._session.restart()
                self._waiting.clear()
                self.inputs = (
                    subscribe(topics.IMU, rospy.AnyMsg, self._on_imu),
                    subscribe(topics.GROUND_TRUTH, rospy.AnyMsg, self._on_ground_truth),
                )
            elif self.inputs and not needed:
                for subscriber in self.inputs:
                    subscriber.unregister()
                self.inputs = ()
                self.report_idle()

    def _on_error(self, message):
        with self._lock:
            stamp = message.header.stamp.to_nsec()
            self._session.begin(stamp - round(message.time_from_start * NANOSECONDS))
        self._errors.unregister()

    def _on_imu(self, message):
        data = message._buff
        with self._lock:
            yaw = fast_yaw(*messages.last_numbers(data, messages.IMU)[:4])
            self._publish(
                self._session.add_imu(messages.stamp_of(data), yaw), messages.stamp_of(data)
            )

    def _on_ground_truth(self, message):
        pose = true_pose(message._buff)
        with self._lock:
            yaw = fast_yaw(*pose.orientation)
            self._publish(self._session.add_ground_truth(pose.stamp, yaw), pose.stamp)
            if self.inputs:
                self.report_processed(pose.stamp)

    def _publish(self, samples, stamp: int) -> None:
        """Publish samples on topics with subscribers; the caller must hold the lock.

        In lock-step, the samples of a control period are published together.
        """
        for topic, *sample in samples:
            self._waiting.setdefault(topic, []).append(sample)
        if self._simulator.lock_step and stamp % self._period:
            return
        for topic, rows in self._waiting.items():
            if self._publishers[topic].get_num_connections():
                stamps, *yaws = zip(*rows)
                fields = dict(zip(messages.IMU_YAW.names, map(np.array, yaws)))
                publish_packed(self._publishers[topic], self._packer.pack(np.array(stamps), fields))
        self._waiting.clear()
