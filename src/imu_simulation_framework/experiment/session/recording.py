"""What is recorded of a drive, and when it is complete."""

from __future__ import annotations

import numpy as np

from imu_simulation_framework.errors import SimulatorError
from imu_simulation_framework.motion.stamps import NANOSECONDS
from imu_simulation_framework.results.record import ExperimentRecord, Stream
from imu_simulation_framework.tracking.reference import TrackingError

LONGEST_GAP = 5 * NANOSECONDS
"""From one stamp to the next [ns] in the drive; what jumps farther is wrong, or much is lost."""


class RecordingSession:
    """Records an experiment from before the first wheel command to the end of the drive.

    Attributes
    ----------
    record : ExperimentRecord
    zero : int or None
        Stamp of the drive's beginning [ns], which the first tracking error tells.
    over : bool
        Whether what still comes belongs to no drive any more.
    """

    def __init__(self) -> None:
        self.record = ExperimentRecord()
        self.zero: int | None = None
        self.over = False

    def add_command(self, left: float, right: float) -> None:
        """Record a pair of wheel velocities [rad/s]."""
        if not self.over:
            self.record.append_command(left, right)

    def add_imu(self, stamps, rows) -> None:
        """Record samples of the IMU.

        Parameters
        ----------
        stamps : ndarray of int, shape (n,)
            [ns]
        rows : ndarray, shape (n, 10)
            As :class:`.ExperimentRecord` takes them.

        Raises
        ------
        SimulatorError
            A stamp is far from the one before; what is before it is recorded.
        """
        self._add(self.record.imu, "the IMU", stamps, rows)

    def add_ground_truth(self, stamps, rows) -> None:
        """Record samples of the ground truth, ``rows`` (n, 10); see :meth:`add_imu`."""
        self._add(self.record.ground_truth, "the ground truth", stamps, rows)

    def add_wheels(self, stamps, rows) -> None:
        """Record how fast the wheels turn [rad/s], ``rows`` (n, 2); see :meth:`add_imu`."""
        self._add(self.record.wheels, "the wheels", stamps, rows)

    def add_error(self, stamp: int, time: float, error: TrackingError) -> None:
        """Record a tracking error at a stamp [ns], ``time`` [s] after the drive's beginning."""
        if self.zero is None:
            self.zero = stamp - round(time * NANOSECONDS)
        stamps, rows = np.array([stamp]), np.array([[*error, time]])
        self._add(self.record.errors, "the tracking error", stamps, rows)

    def _add(self, stream: Stream, what: str, stamps, rows) -> None:
        if self.over or not len(stamps):  # in Gazebo time goes on while the figures are drawn
            return
        newest = stream.newest
        if self.zero is None or newest is None or stamps.max() - newest <= LONGEST_GAP:
            stream.append_rows(stamps, rows)
            return
        for stamp, row in zip(stamps.tolist(), rows):
            if stamp - stream.newest > LONGEST_GAP:
                raise SimulatorError(
                    f"the stamps of {what} jumped by {(stamp - stream.newest) / NANOSECONDS:.6g} "
                    "s: one is wrong, or messages were lost"
                )
            stream.append(stamp, row)
