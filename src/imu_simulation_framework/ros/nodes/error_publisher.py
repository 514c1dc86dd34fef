"""How far the robot is from the reference: ground truth in, ``trajectory_error`` out."""

from __future__ import annotations

import math
import threading
from typing import Any

from nav_msgs.msg import Odometry
from std_msgs.msg import Float64MultiArray

from imu_simulation_framework import topics
from imu_simulation_framework.angles import yaw_from_quaternion
from imu_simulation_framework.errors import SimulatorError
from imu_simulation_framework.msg import ErrorCoordinates2
from imu_simulation_framework.ros.node import advertise, ensure_finite
from imu_simulation_framework.ros.participant import Participant
from imu_simulation_framework.ros.simulators import make_simulator_interface
from imu_simulation_framework.tracking.reference import Pose2D, Reference, tracking_error

STAMP_TOLERANCE = 1e-6
"""Stamps that differ by less are the same instant, s."""

JUMP_SPEED = 5.0
"""A robot that moves by this much more [m/s] than three times its speed was put elsewhere."""


class ErrorPublisher(Participant):
    """Answers the ground truth of each control period with one ``trajectory_error``.

    Time zero of the experiment is the stamp of the ground truth at which the first wheel
    command was given. In lock-step time stands still until then, so it is the stamp of
    the first ground truth, whichever of the two messages arrives first; otherwise it is
    the newest ground truth when the command arrives. ``time_from_start`` of the message
    tells it to everybody else.
    """

    name = "error_publisher"

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()
        self._period = 1.0 / self.configuration.control.rate
        simulator = make_simulator_interface(self.configuration)
        self._lock_step = simulator.lock_step
        self._reference: Any = None  # from prepare on: Reference
        self._zero: Any = None
        self._held_stamp = None
        self._last: tuple[float, float, float] | None = None
        self._answers = 0
        self._publisher = advertise(topics.TRAJECTORY_ERROR, ErrorCoordinates2)
        self.inputs = (
            self.subscribe(topics.WHEEL_COMMAND, Float64MultiArray, self._on_command),
            self.subscribe(topics.GROUND_TRUTH, Odometry, self._on_ground_truth),
        )
        self.offer_start()

    def prepare(self, start, stop):
        self._reference = Reference(self.folder.read_table("trajectory_data"))
        # Only the ground truth: nobody commands before everybody is ready.
        self.wait_until(
            lambda: self._held_stamp is not None,
            self.configuration.simulation.startup_timeout,
            f"the first message on {topics.GROUND_TRUTH}",
        )
        self.wait_for_subscribers(self._publisher)

    def _on_command(self, _):
        with self._lock:
            if self._reference is not None and self._zero is None:
                self._zero = self._held_stamp

    def _on_ground_truth(self, message):
        stamp = message.header.stamp.to_sec()
        p, q = message.pose.pose.position, message.pose.pose.orientation
        ensure_finite(f"{self.name}: {topics.GROUND_TRUTH}", p.x, p.y, q.x, q.y, q.z, q.w)
        with self._lock:
            if self._zero is None:
                moved = self._held_stamp is not None and stamp > self._held_stamp
                if not self._lock_step or self._held_stamp is None:
                    self._held_stamp = stamp
                elif moved and self._reference is not None:
                    self._zero = self._held_stamp
            if self._zero is None:
                return
            self._ensure_driven(stamp, message)
            time = stamp - self._zero
            due = (self._answers + 1) * self._period
            if time < due - STAMP_TOLERANCE:
                return
            # A due message that was lost is not answered late, the next one is.
            self._answers = int((time + STAMP_TOLERANCE) / self._period)
            self._publish(message, time)

    def _ensure_driven(self, stamp: float, message) -> None:
        """Refuse a robot that somebody has put elsewhere during the drive.

        Raises
        ------
        SimulatorError
        """
        p, v = message.pose.pose.position, message.twist.twist.linear
        last, self._last = self._last, (stamp, p.x, p.y)
        if last is None:
            return
        moved = math.hypot(p.x - last[1], p.y - last[2])
        # Half a period more: a simulator may say its speed of a step before.
        step = abs(stamp - last[0]) + 0.5 * self._period
        if moved > (JUMP_SPEED + 3.0 * math.hypot(v.x, v.y)) * step:
            raise SimulatorError(
                f"{self.name}: the robot was moved {moved:.2f} m within {stamp - last[0]:.2f} s, "
                f"{stamp - self._zero:.2f} s after the start: somebody has set its pose"
            )

    def _publish(self, message, time: float) -> None:
        pose = message.pose.pose
        q = pose.orientation
        actual = Pose2D(
            pose.position.x, pose.position.y, float(yaw_from_quaternion((q.x, q.y, q.z, q.w)))
        )
        reference = self._reference.pose_at(time)
        error = tracking_error(reference, actual)
        answer = ErrorCoordinates2(time_from_start=time)
        answer.header.stamp = message.header.stamp
        answer.header.frame_id = message.header.frame_id
        answer.yaw_error = error.yaw_error
        answer.distance_error = error.distance_error
        answer.along_track_error = error.along_track_error
        answer.cross_track_error = error.cross_track_error
        for field, value in (("reference", reference), ("actual", actual)):
            target = getattr(answer, field)
            target.x, target.y, target.theta = value
        self._publisher.publish(answer)
