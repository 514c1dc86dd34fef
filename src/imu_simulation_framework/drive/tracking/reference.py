"""Where the robot should be, and how far it is from there."""

from __future__ import annotations

import math
from array import array
from bisect import bisect_right
from typing import NamedTuple

from imu_simulation_framework.core.angles import wrap
from imu_simulation_framework.core.errors import TrajectoryError


class Pose2D(NamedTuple):
    """Position [m] and yaw [rad] in the plane."""

    x: float
    y: float
    yaw: float


class TrackingError(NamedTuple):
    """Reference minus actual pose.

    Attributes
    ----------
    yaw_error : float
        In (-pi, pi] [rad]; negative means: turn right.
    distance_error : float
        Distance to the reference's position, never negative [m].
    along_track_error : float
        How far the reference's position is ahead, along the reference's x axis [m].
    cross_track_error : float
        How far it is to the left, along the reference's y axis [m].
    """

    yaw_error: float
    distance_error: float
    along_track_error: float
    cross_track_error: float


def tracking_error(reference, actual):
    """Return the error between two poses."""
    east = reference.x - actual.x
    north = reference.y - actual.y
    cosine = math.cos(reference.yaw)
    sine = math.sin(reference.yaw)
    return TrackingError(
        yaw_error=wrap(reference.yaw - actual.yaw),
        distance_error=math.hypot(east, north),
        along_track_error=cosine * east + sine * north,
        cross_track_error=cosine * north - sine * east,
    )


class Reference:
    """A trajectory that can be asked for any time; made for loops, one time per call.

    Values between two samples are interpolated linearly. Before the first sample the reference
    stands at the first pose, after the last sample at the last one. Raises TrajectoryError: if
    there are less than two samples.

    Parameters
    ----------
    time : array_like, shape (n,)
        [s], ascending.
    x, y : array_like, shape (n,)
        [m]
    yaw : array_like, shape (n,)
        [rad], unwrapped.
    left, right : array_like, shape (n,), optional
        Wheel velocities [rad/s].
    """

    def __init__(self, time, x, y, yaw, left=None, right=None):
        if len(time) < 2:
            raise TrajectoryError(
                f"A reference needs at least two samples, but the trajectory has {len(time)}."
            )
        # Indexing numpy's arrays costs ten times as much, lists of floats four times the memory.
        self._time, self._x, self._y, self._yaw = (array("d", v) for v in (time, x, y, yaw))
        self._left = self._right = None
        if left is not None and right is not None:
            self._left, self._right = array("d", left), array("d", right)
        if len({len(v) for v in (self._time, self._x, self._y, self._yaw)}) > 1:
            raise ValueError("the columns of a reference differ in length")
        self.start = self._time[0]
        self.stop = self._time[-1]

    @classmethod
    def of_table(cls, trajectory, wheel_velocities=None):
        """Make one of tables.

        Parameters
        ----------
        trajectory : pandas.DataFrame
            Poses or Trajectory table.
        wheel_velocities : pandas.DataFrame, optional
            WheelVelocities table with the same index.
        """
        poses = (trajectory.index, *(trajectory[name] for name in ("x", "y", "yaw")))
        if wheel_velocities is None:
            return cls(*poses)
        if len(wheel_velocities) != len(trajectory):
            raise ValueError("trajectory and wheel velocities differ in length")
        return cls(*poses, wheel_velocities["left"], wheel_velocities["right"])

    def poses(self):
        """Return time, x, y and yaw of all samples, each an ``array`` of float."""
        return self._time, self._x, self._y, self._yaw

    @property
    def duration(self):
        """Time from the first to the last sample [s]."""
        return self.stop - self.start

    def _locate(self, time):
        """Return the index of the sample before ``time`` and the fraction to the next."""
        times = self._time
        if time <= times[0]:
            return 0, 0.0
        if time >= times[-1]:
            return len(times) - 2, 1.0
        index = bisect_right(times, time) - 1
        return index, (time - times[index]) / (times[index + 1] - times[index])

    def pose_at(self, time):
        """Return the pose at a time [s] of the trajectory's own clock.

        Returns
        -------
        Pose2D
            With the yaw unwrapped, as in the table.
        """
        index, fraction = self._locate(time)
        rest = 1.0 - fraction
        following = index + 1
        return Pose2D(
            rest * self._x[index] + fraction * self._x[following],
            rest * self._y[index] + fraction * self._y[following],
            rest * self._yaw[index] + fraction * self._yaw[following],
        )

    def wheel_velocities_at(self, time):
        """Return the wheel velocities (left, right) [rad/s] at a time [s].

        They are zero before the start and after the end. A command that is held for a control
        period follows the trajectory best with the value in the period's middle. Raises ValueError:
        if the reference was made without wheel velocities.
        """
        if self._left is None:
            raise ValueError("this reference was made without wheel velocities")
        if time < self.start or time > self.stop:
            return 0.0, 0.0
        index, fraction = self._locate(time)
        rest = 1.0 - fraction
        following = index + 1
        return (
            rest * self._left[index] + fraction * self._left[following],
            rest * self._right[index] + fraction * self._right[following],
        )
