"""Yaw of the simulated IMU, of the real one and of the ground truth, for live views."""

from __future__ import annotations

import threading

import numpy as np
import rospy
from nav_msgs.msg import Odometry
from sensor_msgs.msg import Imu
from std_msgs.msg import Header

from imu_simulation_framework import topics
from imu_simulation_framework.angles import difference, wrap, yaw_from_quaternion
from imu_simulation_framework.evaluation.streamed_yaw_error import StreamedYawError
from imu_simulation_framework.msg import ErrorCoordinates2, ImuYaw
from imu_simulation_framework.ros.node import advertise, subscribe
from imu_simulation_framework.ros.participant import Participant


class ImuYawPublisher(Participant):
    """Turns orientations into ``ImuYaw``, and plays the recorded yaw at the same time.

    The yaw errors are those of the comparison: ground truth minus simulated IMU, reference
    minus recorded IMU, each zero at the start.

    It listens only while somebody listens to it: two streams of 100 Hz that nobody looks at
    would cost a fast experiment a tenth of its speed.
    """

    name = "imu_yaw_publisher"

    def __init__(self) -> None:
        super().__init__()
        # What is below, and the streams, which unwrap: the IMU, the ground truth and the services
        # have a thread each.
        self._lock = threading.Lock()
        self._zero = None
        self._real = None
        self._reference = None
        self._error = StreamedYawError()
        self._simulated = _YawStream(topics.YAW_SIMULATED)
        self._truth = _YawStream(topics.YAW_GROUND_TRUTH)
        self._recorded = _YawStream(topics.YAW_REAL)
        self._simulated_error = _YawStream(topics.YAW_ERROR_SIMULATED, from_zero=True)
        self._recorded_error = _YawStream(topics.YAW_ERROR_REAL, from_zero=True)
        self._errors = subscribe(topics.TRAJECTORY_ERROR, ErrorCoordinates2, self._on_error)
        self.offer_start()

    def prepare(self, start, stop):
        reference = self.folder.read_column("reference", "yaw")
        recorded = None
        if self.folder.path("imu_real.csv").exists():
            recorded = self.folder.read_column("imu_real", "yaw")
        with self._lock:
            self._reference, self._real = reference, recorded
            if recorded is not None:
                beginning = max(float(recorded[0][0]), 0.0)
                self._recorded_error.begin(self._recorded_error_at(beginning)[1])
        self._follow_watchers()

    def spin_once(self):
        self._follow_watchers()

    def _follow_watchers(self) -> None:
        """Subscribe when somebody watches, unsubscribe when nobody does any more."""
        streams = (
            self._simulated,
            self._truth,
            self._recorded,
            self._simulated_error,
            self._recorded_error,
        )
        watched = any(stream.watched for stream in streams)
        with self._lock:
            # Where the simulated error begins is heard even when nobody watches yet.
            if (watched or not self._simulated_error.begun) and not self.inputs:
                self._error = StreamedYawError()
                self.inputs = (
                    subscribe(topics.IMU, Imu, self._on_imu),
                    subscribe(topics.GROUND_TRUTH, Odometry, self._on_ground_truth),
                )
            elif self.inputs and not watched and self._simulated_error.begun:
                for subscriber in self.inputs:
                    subscriber.unregister()
                self.inputs = ()

    def _on_error(self, message):
        """Learn time zero, once."""
        zero = message.header.stamp.to_sec() - message.time_from_start
        with self._lock:
            known, self._zero = self._zero, zero if self._zero is None else self._zero
        if known is None:
            self._errors.unregister()

    def _on_imu(self, message):
        yaw = _yaw(message.orientation)
        with self._lock:
            self._simulated.publish(message.header, yaw)
            self._publish_errors(message.header, self._error.add_imu(_stamp(message), yaw))
            if self._zero is not None:
                self._play(message.header)

    def _play(self, header) -> None:
        """Publish what the recorded IMU said at this moment of the drive; the lock is held."""
        time = header.stamp.to_sec() - self._zero
        if self._real is None or not self._real[0][0] <= time <= self._real[0][-1]:
            return
        yaw, error = self._recorded_error_at(time)
        self._recorded.publish(header, yaw)
        self._recorded_error.publish(header, error)

    def _recorded_error_at(self, time):
        """Yaw of the recorded IMU, and its error, at a time of the drive."""
        yaw = float(np.interp(time, *self._real))
        return yaw, float(np.interp(time, *self._reference)) - yaw

    def _on_ground_truth(self, message):
        yaw = _yaw(message.pose.pose.orientation)
        with self._lock:
            self._truth.publish(message.header, yaw)
            self._publish_errors(message.header, self._error.add_truth(_stamp(message), yaw))

    def _publish_errors(self, header, known) -> None:
        """Publish errors of the simulated IMU; the lock is held, since they are unwrapped."""
        for stamp, error in known:
            at = Header(stamp=rospy.Time(nsecs=stamp), frame_id=header.frame_id)
            self._simulated_error.publish(at, error)


class _YawStream:
    """One published angle, unwrapped from message to message.

    ``from_zero``: counted from the first one, which is what makes an error start at zero.
    """

    def __init__(self, topic: str, from_zero=False) -> None:
        self._publisher = advertise(topic, ImuYaw)
        self._from_zero = from_zero
        self._first: float | None = None
        self._unwrapped: float | None = None

    @property
    def watched(self) -> bool:
        return self._publisher.get_num_connections() > 0

    @property
    def begun(self) -> bool:
        """Whether it is known from where an error is counted."""
        return self._first is not None

    def begin(self, yaw: float) -> None:
        """Count from this one on, unless it was begun before."""
        if self._first is None:
            self._first = yaw if self._from_zero else 0.0

    def publish(self, header, yaw: float) -> None:
        # Who watches late sees the same errors as who has watched from the beginning.
        self.begin(yaw)
        if not self.watched or self._first is None:
            return
        yaw -= self._first
        if self._unwrapped is None:
            self._unwrapped = yaw
        self._unwrapped += float(difference(yaw, self._unwrapped))
        message = ImuYaw(yaw=float(wrap(yaw)), yaw_unwrapped=self._unwrapped)
        message.header.stamp = header.stamp
        message.header.frame_id = header.frame_id
        self._publisher.publish(message)


def _stamp(message) -> int:
    """When a message's data are of, in ns."""
    return message.header.stamp.to_nsec()


def _yaw(q) -> float:
    return float(yaw_from_quaternion((q.x, q.y, q.z, q.w)))
