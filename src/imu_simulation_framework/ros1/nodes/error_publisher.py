"""Publish the tracking error of the robot for controllers.

The yaw error of the IMU is published by ``imu_yaw_publisher``.
"""

from __future__ import annotations

import threading

from nav_msgs.msg import Odometry
from std_msgs.msg import Float64MultiArray

from ...core import topics
from ...core.stamps import NANOSECONDS
from ...drive.session.driving import TrackedPose, TrackingSession
from ...drive.session.messages import true_pose
from ...drive.tracking.controllers import Reference
from ...msg import ErrorCoordinates2
from ..node import advertise
from ..participant import Participant


class ErrorPublisher(Participant):
    """Publish the tracking error once per control period.

    Time zero of the experiment is the stamp of the ground truth at the first wheel command; see
    :class:`.TrackingSession`. Other nodes read the time from ``time_from_start`` in the message.
    """

    name = "error_publisher"

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()
        period = 1.0 / self.configuration.control.rate
        self._session = TrackingSession(period, self._simulator.lock_step)
        self._answer = ErrorCoordinates2()
        self._answer.header.frame_id = topics.WORLD_FRAME
        self._publisher = advertise(topics.TRAJECTORY_ERROR, ErrorCoordinates2)
        self.inputs = (
            self.subscribe(topics.WHEEL_COMMAND, Float64MultiArray, self._on_command, raw=True),
            self.subscribe(topics.GROUND_TRUTH, Odometry, self._on_ground_truth, raw=True),
        )
        self.offer_start()

    def prepare(self, start, stop):
        trajectory = self.receive_reference_trajectory()
        reference = Reference(trajectory.time, trajectory.x, trajectory.y, trajectory.yaw)
        with self._lock:
            self._session.follow(reference)
        # Commands are not awaited: path_follower publishes the first one when all nodes are ready.
        self.wait_until(lambda: self._session.begun, f"the first message on {topics.GROUND_TRUTH}")
        self.wait_for_subscribers(self._publisher)

    def _on_command(self, _):
        with self._lock:
            self._session.commanded()

    def _on_ground_truth(self, data):
        pose = true_pose(data)
        with self._lock:
            tracked = self._session.ground_truth(pose)
        # Published without the lock, because the next command may arrive before publish returns.
        if tracked is not None:
            self._publish(tracked)
        self.report_processed(pose.stamp)

    def _publish(self, tracked: TrackedPose) -> None:
        answer = self._answer
        answer.header.stamp.secs, answer.header.stamp.nsecs = divmod(tracked.stamp, NANOSECONDS)
        answer.time_from_start = tracked.time
        for name, value in zip(tracked.error._fields, tracked.error):
            setattr(answer, name, value)
        goal, actual = answer.reference, answer.actual
        goal.x, goal.y, goal.theta = tracked.reference
        actual.x, actual.y, actual.theta = tracked.actual
        self._publisher.publish(answer)
