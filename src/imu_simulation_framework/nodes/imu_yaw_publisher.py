"""Yaw of the simulated IMU, of the real one and of the ground truth, for live views."""

from __future__ import annotations

import threading

import numpy as np
from nav_msgs.msg import Odometry
from sensor_msgs.msg import Imu

from imu_simulation_framework.core.angles import difference, wrap, yaw_from_quaternion
from imu_simulation_framework.msg import ErrorCoordinates2, ImuYaw
from imu_simulation_framework.nodes import topics
from imu_simulation_framework.nodes.node import advertise, subscribe
from imu_simulation_framework.nodes.participant import Participant


class ImuYawPublisher(Participant):
    """Turns orientations into :class:`ImuYaw`, and plays the recorded yaw at the same time.

    It listens only while somebody listens to it: two streams of 100 Hz that nobody looks at
    would cost a fast experiment a tenth of its speed.
    """

    name = "imu_yaw_publisher"

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()
        self._zero = None
        self._real = None
        self._simulated = _YawStream(topics.YAW_SIMULATED)
        self._truth = _YawStream(topics.YAW_GROUND_TRUTH)
        self._recorded = _YawStream(topics.YAW_REAL)
        self._errors = subscribe(topics.TRAJECTORY_ERROR, ErrorCoordinates2, self._on_error)
        self.offer_start()

    def prepare(self, start, stop):
        if self.folder.path("imu_real.csv").exists():
            table = self.folder.read_table("imu_real")
            self._real = (table.index.to_numpy(), table["yaw"].to_numpy())
        self._follow_watchers()

    def spin_once(self):
        self._follow_watchers()

    def _follow_watchers(self) -> None:
        """Subscribe when somebody watches, unsubscribe when nobody does any more."""
        watched = any(s.watched for s in (self._simulated, self._truth, self._recorded))
        with self._lock:
            if watched and not self.inputs:
                self.inputs = (
                    subscribe(topics.IMU, Imu, self._on_imu),
                    subscribe(topics.GROUND_TRUTH, Odometry, self._on_ground_truth),
                )
            elif self.inputs and not watched:
                for subscriber in self.inputs:
                    subscriber.unregister()
                self.inputs = ()

    def _on_error(self, message):
        """Learn time zero, once."""
        zero = message.header.stamp.to_sec() - message.time_from_start
        if self._zero is None:
            self._zero = zero
            self._errors.unregister()

    def _on_imu(self, message):
        self._simulated.publish_orientation(message.header, message.orientation)
        if self._real is None or self._zero is None or not self._recorded.watched:
            return
        time = message.header.stamp.to_sec() - self._zero
        if self._real[0][0] <= time <= self._real[0][-1]:
            self._recorded.publish(message.header, float(np.interp(time, *self._real)))

    def _on_ground_truth(self, message):
        self._truth.publish_orientation(message.header, message.pose.pose.orientation)


class _YawStream:
    """One published yaw, unwrapped from message to message."""

    def __init__(self, topic: str) -> None:
        self._publisher = advertise(topic, ImuYaw)
        self._unwrapped = None

    @property
    def watched(self) -> bool:
        return self._publisher.get_num_connections() > 0

    def publish_orientation(self, header, orientation) -> None:
        if self.watched:
            q = orientation
            self.publish(header, float(yaw_from_quaternion((q.x, q.y, q.z, q.w))))

    def publish(self, header, yaw: float) -> None:
        if self._unwrapped is None:
            self._unwrapped = yaw
        self._unwrapped += float(difference(yaw, self._unwrapped))
        message = ImuYaw(yaw=float(wrap(yaw)), yaw_unwrapped=self._unwrapped)
        message.header.stamp = header.stamp
        message.header.frame_id = header.frame_id
        self._publisher.publish(message)
