"""From the tracking error to the wheels' command: what drives the robot along a trajectory."""

from __future__ import annotations

from imu_simulation_framework.tracking.reference import TrackingError

NO_ERROR = TrackingError(0.0, 0.0, 0.0, 0.0)


class Follower:
    """Follows a reference: feed-forward by inverse kinematics, corrected by a controller.

    Parameters
    ----------
    reference : Reference
        With wheel velocities; time zero is the start of the drive.
    controller
        One of :mod:`imu_simulation_framework.tracking.controllers`.
    period : float
        Control period [s].
    """

    def __init__(self, reference, controller, period: float) -> None:
        self.reference = reference
        self._controller = controller
        self._period = period

    def command(self, time: float, error: TrackingError = NO_ERROR):
        """Return wheel velocities (left, right) [rad/s] for the control period that begins now.

        Parameters
        ----------
        time : float
            Since the start of the drive [s].
        error : TrackingError
            Of this moment.
        """
        # Held for one period, so the value in its middle follows best.
        left, right = self.reference.wheel_velocities_at(time + 0.5 * self._period)
        return self._controller.correct(left, right, error)

    def finished(self, time: float) -> bool:
        """Return whether the drive has come to its end."""
        return time > self.reference.duration - 0.5 * self._period
