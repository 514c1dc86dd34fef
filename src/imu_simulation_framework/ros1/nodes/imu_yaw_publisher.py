"""Yaw of the simulated IMU, of the real one and of the ground truth, for live views."""

from __future__ import annotations

import threading

import rospy
from nav_msgs.msg import Odometry
from sensor_msgs.msg import Imu

from imu_simulation_framework.core import topics
from imu_simulation_framework.core.angles import yaw_from_quaternion
from imu_simulation_framework.core.stamps import NANOSECONDS
from imu_simulation_framework.drive.session.yaws import YawSession
from imu_simulation_framework.msg import ErrorCoordinates2, ImuYaw
from imu_simulation_framework.ros1.node import advertise, subscribe
from imu_simulation_framework.ros1.participant import Participant


class ImuYawPublisher(Participant):
    """Turns orientations into ``ImuYaw``, and plays the recorded yaw at the same time.

    It listens only while somebody listens to it: two streams of 100 Hz without a subscriber
    would cost a fast experiment a tenth of its speed.
    """

    name = "imu_yaw_publisher"

    def __init__(self) -> None:
        super().__init__()
        # The IMU, the ground truth and the services have a thread each.
        self._lock = threading.Lock()
        self._session = YawSession()
        self._publishers = {topic: advertise(topic, ImuYaw) for topic in self._session.topics}
        self._errors = subscribe(topics.TRAJECTORY_ERROR, ErrorCoordinates2, self._on_error)
        self.offer_start()

    def prepare(self, start, stop):
        reference = self.folder.read_column("reference", "yaw")
        recorded = None
        if self.folder.path("imu_real.csv").exists():
            recorded = self.folder.read_column("imu_real", "yaw")
        with self._lock:
            self._session.compare_with(reference, recorded)
        self._follow_watchers()

    def spin_once(self):
        self._follow_watchers()

    def _follow_watchers(self) -> None:
        """Subscribe while there is a subscriber."""
        watched = any(p.get_num_connections() for p in self._publishers.values())
        with self._lock:
            # Where the simulated error begins is heard even before the first subscriber.
            needed = watched or not self._session.begun
            if needed and not self.inputs:
                self._session.restart()
                self.inputs = (
                    subscribe(topics.IMU, Imu, self._on_imu),
                    subscribe(topics.GROUND_TRUTH, Odometry, self._on_ground_truth),
                )
            elif self.inputs and not needed:
                for subscriber in self.inputs:
                    subscriber.unregister()
                self.inputs = ()
                self.needs_nothing()

    def _on_error(self, message):
        with self._lock:
            self._session.begin(_stamp(message) - round(message.time_from_start * NANOSECONDS))
        self._errors.unregister()

    def _on_imu(self, message):
        with self._lock:
            yaw = _yaw(message.orientation)
            self._publish(message.header, self._session.add_imu(_stamp(message), yaw))

    def _on_ground_truth(self, message):
        with self._lock:
            yaw = _yaw(message.pose.pose.orientation)
            self._publish(message.header, self._session.add_ground_truth(_stamp(message), yaw))
            if self.inputs:
                self.processed(_stamp(message))

    def _publish(self, header, samples) -> None:
        """Publish what somebody watches; the lock is held, which keeps it in order."""
        for sample in samples:
            publisher = self._publishers[sample.topic]
            if publisher.get_num_connections():
                message = ImuYaw(yaw=sample.yaw, yaw_unwrapped=sample.unwrapped)
                message.header.stamp = rospy.Time(nsecs=sample.stamp)
                message.header.frame_id = header.frame_id
                publisher.publish(message)


def _stamp(message) -> int:
    return message.header.stamp.to_nsec()


def _yaw(q) -> float:
    return float(yaw_from_quaternion((q.x, q.y, q.z, q.w)))
