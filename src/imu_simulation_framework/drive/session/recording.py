"""What is recorded of a drive, and when it is complete."""

from __future__ import annotations

import math

import numpy as np

from imu_simulation_framework.core import topics
from imu_simulation_framework.core.errors import SimulatorError
from imu_simulation_framework.drive.results.record import ExperimentRecord, Stream
from imu_simulation_framework.drive.tracking.reference import TrackingError
from imu_simulation_framework.motion.stamps import NANOSECONDS
from imu_simulation_framework.sensors.gnss.specification import GnssSpecification

LONGEST_GAP = 5 * NANOSECONDS
"""From one stamp to the next [ns] in the drive; what jumps farther is wrong, or much is lost."""


WHEELS_PERIOD = 0.2
"""Simulated seconds at least between two messages with the wheels' angles and velocities:
robot_state_publisher makes no more transforms of them, though for every message it asks the master
three times."""

ROUNDING = 1000
"""Stamps of one instant may differ by so much [ns]."""


def ticks_between_wheels(control_period: float) -> int:
    """Return how many control periods [s] pass from one sample of the wheels to the next."""
    return max(1, math.ceil(WHEELS_PERIOD / control_period - 1e-6))


def velocities_of_sides(velocities) -> np.ndarray:
    """Return how fast each side turns (n, 2), left and right, as the mean of its wheels.

    Parameters
    ----------
    velocities : ndarray, shape (n, w)
        Of all wheels, in the order of ``wheel_joints`` of :class:`.RobotParameters` [rad/s].
    """
    return velocities.reshape(len(velocities), 2, -1).mean(axis=2)


class RecordingSession:
    """Records an experiment from before the first wheel command to the end of the drive.

    Parameters
    ----------
    control_period : float
        [s]
    gnss : GnssSpecification, optional
        Of a receiver on the robot.

    Attributes
    ----------
    zero : int or None
        Stamp of the drive's beginning [ns], which the first tracking error tells.
    over : bool
        Whether what still comes belongs to no drive any more.
    """

    def __init__(self, control_period: float, gnss: GnssSpecification | None = None) -> None:
        self._control_period = control_period
        self._wheels_period = ticks_between_wheels(control_period) * control_period
        self._duration: float | None = None
        self.record = ExperimentRecord()
        if gnss is not None:
            self.record.add_receiver(gnss.latency + gnss.latency_jitter)
        self.zero: int | None = None
        self.over = False

    def ends_after(self, duration: float) -> None:
        """Say how long the whole drive takes [s]; before, it is not complete."""
        self._duration = duration

    @property
    def begun(self) -> bool:
        """Whether anything of the drive is recorded."""
        return self.zero is not None and self.record.ground_truth.newest is not None

    @property
    def complete(self) -> bool:
        """Whether everything until the drive's end is recorded."""
        end = self._planned_end()
        if end is None or not self.record.complete_until(end):
            return False
        # Samples of the wheels are few, and the last one may come after all else.
        wheels = self.record.wheels.newest
        period = round(self._wheels_period * NANOSECONDS)
        return wheels is None or wheels + period > end + ROUNDING

    @property
    def arrived(self) -> bool:
        """Whether the robot was at the drive's end, though messages may still be missing."""
        end, errors = self._planned_end(), self.record.errors.newest
        return end is not None and errors is not None and errors + ROUNDING >= end

    @property
    def recorded_until(self) -> int:
        """Sum of the newest stamps of IMU and ground truth [ns], none after the drive's end."""
        end = self._planned_end()
        newest = (self.record.imu.newest, self.record.ground_truth.newest)
        return 0 if end is None else sum(min(stamp or 0, end) for stamp in newest)

    def end(self) -> int:
        """Stamp [ns] until which there is something to evaluate, of a recording that has begun.

        An experiment that is ended in the middle of a control period has the ground truth
        already, the IMU not yet, or the reverse. If more than that is missing it was lost, and
        shall be missed.
        """
        truth, imu = self.record.ground_truth.newest, self.record.imu.newest
        period = self._control_period * NANOSECONDS
        newest = imu if imu is not None and truth - period <= imu < truth else truth
        planned = self._planned_end()
        return newest if planned is None else min(planned, newest)

    def _planned_end(self) -> int | None:
        if self.zero is None or self._duration is None:
            return None
        return self.zero + round(self._duration * NANOSECONDS)

    def add_command(self, left: float, right: float) -> None:
        """Record a pair of wheel velocities [rad/s]."""
        if not self.over:
            self.record.append_command(left, right)

    def add_imu(self, stamps, rows) -> None:
        """Record samples of the IMU.

        Raises SimulatorError: a stamp is far from the one before; what is before it is recorded.

        Parameters
        ----------
        stamps : ndarray of int, shape (n,)
            [ns]
        rows : ndarray, shape (n, 10)
            As :class:`.ExperimentRecord` takes them.
        """
        self._add(self.record.imu, topics.IMU, stamps, rows)

    def add_magnetic_field(self, stamps, rows) -> None:
        """Record samples of the IMU's magnetometer [T], ``rows`` (n, 3); see :meth:`add_imu`."""
        self._add(self.record.magnetometer, topics.IMU_MAG, stamps, rows)

    def add_ground_truth(self, stamps, rows) -> None:
        """Record samples of the ground truth, ``rows`` (n, 10); see :meth:`add_imu`."""
        self._add(self.record.ground_truth, topics.GROUND_TRUTH, stamps, rows)

    def add_wheels(self, stamps, rows) -> None:
        """Record how fast the wheels turn [rad/s], ``rows`` (n, w), all of them.

        See :meth:`add_imu`, and :func:`velocities_of_sides`.
        """
        if len(stamps):
            rows = velocities_of_sides(rows)
        self._add(self.record.wheels, topics.JOINT_STATES, stamps, rows)

    def add_fixes(self, kind: str, stamps, rows) -> None:
        """Record what a GNSS receiver said; see :meth:`.ExperimentRecord.append_fixes`.

        In an outage it says nothing for any time.
        """
        if not self.over and len(stamps):
            self.record.append_fixes(kind, stamps, rows)

    def add_error(self, stamp: int, time: float, error: TrackingError) -> None:
        """Record a tracking error at a stamp [ns], ``time`` [s] after the drive's beginning."""
        if self.zero is None:
            self.zero = stamp - round(time * NANOSECONDS)
        self._add_one(self.record.errors, topics.TRAJECTORY_ERROR, stamp, (*error, time))

    def _add(self, stream: Stream, topic: str, stamps, rows) -> None:
        if self.over or not len(stamps):  # in Gazebo time goes on while the figures are drawn
            return
        newest = stream.newest
        if self.zero is None or newest is None or max(stamps.tolist()) - newest <= LONGEST_GAP:
            stream.append_rows(stamps, rows)
            return
        for stamp, row in zip(stamps.tolist(), rows):
            self._add_one(stream, topic, stamp, row)

    def _add_one(self, stream: Stream, topic: str, stamp: int, row) -> None:
        if self.over:
            return
        newest = stream.newest
        if self.zero is not None and newest is not None and stamp - newest > LONGEST_GAP:
            raise SimulatorError(
                f"the stamps on {topic} jumped by {(stamp - newest) / NANOSECONDS:.6g} s: one is "
                "wrong, or messages were lost"
            )
        stream.append(stamp, row)
