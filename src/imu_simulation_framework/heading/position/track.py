r"""Effect of yaw and distance errors on a dead-reckoned position along a track.

Dead reckoning adds up measured distances along the measured heading. With the true position p, the
yaw error e, the distance error d (true minus measured values), the forward direction u and J the
rotation by +90 degrees, the position error obeys, to first order,

.. math:: \dot p_e = e\, J \dot p + u\, \dot d .

The yaw error is interpolated linearly between the times of a model. Integration by parts then
yields the position error of each step from the true positions alone, without an error of the
quadrature for curves:

.. math:: \int e\, J \dot p\, dt = e_k J (\bar p - p_k) + e_{k+1} J (p_{k+1} - \bar p)

with :math:`\bar p` the mean position in the step. A distance error is distributed over the step in
proportion to the distance.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.integrate import cumulative_trapezoid

from ...core.errors import ConfigurationError
from ...motion.motion import Motion
from ...sensors.odometer import forward_speed

_MIN_LENGTH = 1e-6
"""Shortest path that counts as a motion [m]."""


@dataclass(frozen=True)
class Track:
    """True track of a robot at the times of a model.

    Parameters
    ----------
    time : numpy.ndarray
        Evenly spaced times since the start of the motion, shape (n,) [s].
    position : numpy.ndarray
        True horizontal position relative to the start, shape (n, 2) [m].
    mean_position : numpy.ndarray
        Mean position in each step, shape (n - 1, 2) [m].
    forward : numpy.ndarray
        Unit vector of the forward direction, shape (n, 2).
    distance : numpy.ndarray
        Distance travelled since the start in either direction, shape (n,) [m].
    distance_direction : numpy.ndarray
        Change in position per distance error in each step, shape (n - 1, 2).
    """

    time: np.ndarray
    position: np.ndarray
    mean_position: np.ndarray
    forward: np.ndarray
    distance: np.ndarray
    distance_direction: np.ndarray

    @classmethod
    def from_motion(cls, motion: Motion, time: np.ndarray) -> Track:
        """Create the track of a motion.

        Parameters
        ----------
        motion : Motion
            Motion of the midpoint between the wheels.
        time : numpy.ndarray
            Times since the start of the motion, shape (n,) [s].

        Returns
        -------
        Track

        Raises
        ------
        ConfigurationError
            If the motion has no length.
        """
        since_start = motion.time - motion.time[0]
        speed, yaw = forward_speed(motion.yaw, motion.velocity), motion.yaw
        length = cumulative_trapezoid(np.abs(speed), since_start, initial=0.0)
        if not length[-1] > _MIN_LENGTH:
            raise ConfigurationError(
                f"the path of the motion is {length[-1]:.3g} m long, expected a motion that "
                "changes the position"
            )
        axes = np.column_stack([np.cos(yaw), np.sin(yaw)])
        travelled = cumulative_trapezoid(
            np.abs(speed)[:, np.newaxis] * axes, since_start, axis=0, initial=0.0
        )
        # Differences to the start keep the rounding errors of a distant origin small.
        positions = motion.position[:, :2] - motion.position[0, :2]
        integral = cumulative_trapezoid(positions, since_start, axis=0, initial=0.0)
        distance = np.interp(time, since_start, length)
        means = np.diff(_interpolate(time, since_start, integral), axis=0)
        # A step without motion has no distance error, except when the robot turns on the spot.
        directions = _interpolate(0.5 * (time[1:] + time[:-1]), since_start, axes)
        moved = np.diff(_interpolate(time, since_start, travelled), axis=0)
        steps = np.diff(distance)
        is_moving = steps > _MIN_LENGTH * length[-1] / len(time)
        directions[is_moving] = moved[is_moving] / steps[is_moving, np.newaxis]
        forward = _interpolate(time, since_start, axes)
        return cls(
            time=time,
            position=_interpolate(time, since_start, positions),
            mean_position=means / np.diff(time)[:, np.newaxis],
            forward=forward / np.linalg.norm(forward, axis=1, keepdims=True),
            distance=distance,
            distance_direction=directions,
        )

    @property
    def step(self) -> float:
        """Time step [s]."""
        return float((self.time[-1] - self.time[0]) / (len(self.time) - 1))

    @cached_property
    def lateral_velocity(self) -> np.ndarray:
        """Mean velocity in each step, rotated by +90 degrees, shape (n - 1, 2) [m/s]."""
        return _rotated(np.diff(self.position, axis=0)) / self.step

    @cached_property
    def _yaw_weights(self) -> tuple[np.ndarray, np.ndarray]:
        """Change of the position (n - 1, 2) per yaw error at the start and end of each step."""
        before = _rotated(self.mean_position - self.position[:-1])
        return before, _rotated(self.position[1:] - self.mean_position)

    def integrate_yaw(self, errors: np.ndarray) -> np.ndarray:
        """Compute the position error that yaw errors cause.

        Parameters
        ----------
        errors : numpy.ndarray
            Yaw errors, shape (n, m) [rad].

        Returns
        -------
        numpy.ndarray
            Position errors: x for all times, then y for all times, shape (2 n, m) [m].
        """
        start, end = self._yaw_weights
        steps = [
            start[:, axis, np.newaxis] * errors[:-1] + end[:, axis, np.newaxis] * errors[1:]
            for axis in range(2)
        ]
        return _accumulated(steps)

    def integrate_distance(self, errors: np.ndarray) -> np.ndarray:
        """Compute the position error that distance errors cause.

        Parameters
        ----------
        errors : numpy.ndarray
            Errors of the distance since the start, shape (n, m) [m].

        Returns
        -------
        numpy.ndarray
            Position errors: x for all times, then y for all times, shape (2 n, m) [m].
        """
        changes = np.diff(errors, axis=0)
        return _accumulated(
            [self.distance_direction[:, axis, np.newaxis] * changes for axis in range(2)]
        )

    def integrate_steps(self, integrals: np.ndarray) -> np.ndarray:
        """Compute the position error that short yaw errors within the steps cause.

        Parameters
        ----------
        integrals : numpy.ndarray
            Integral of the yaw error over each step, shape (n - 1, m) [rad s].

        Returns
        -------
        numpy.ndarray
            Position errors: x for all times, then y for all times, shape (2 n, m) [m].
        """
        return _accumulated(
            [self.lateral_velocity[:, axis, np.newaxis] * integrals for axis in range(2)]
        )

    def step_covariance(self, variance: np.ndarray) -> np.ndarray:
        """Compute the covariance of the position error due to independent errors in each step.

        Parameters
        ----------
        variance : numpy.ndarray
            Variance of the integral of the yaw error over each step, shape (n - 1,) [rad^2 s^2].

        Returns
        -------
        numpy.ndarray
            Covariance, shape (2 n, 2 n), in the order of :meth:`integrate_yaw` [m^2].
        """
        velocity, count = self.lateral_velocity, len(self.time)
        earlier = np.minimum.outer(np.arange(count), np.arange(count))
        covariance = np.empty((2, count, 2, count))
        for row in range(2):
            for column in range(2):
                steps = variance * velocity[:, row] * velocity[:, column]
                covariance[row, :, column] = np.concatenate([[0.0], np.cumsum(steps)])[earlier]
        return covariance.reshape(2 * count, 2 * count)

    def axes(self, component: str) -> np.ndarray:
        """Return the unit vectors of a component of the position error.

        Parameters
        ----------
        component : {"along", "across", "x", "y"}
            Along or across (positive to the left of) the robot's forward direction, or an axis of
            the world.

        Returns
        -------
        numpy.ndarray
            Unit vectors, shape (n, 2).
        """
        if component == "along":
            return self.forward
        if component == "across":
            return _rotated(self.forward)
        return np.tile(np.eye(2)["xy".index(component)], (len(self.time), 1))


def _interpolate(time: np.ndarray, since_start: np.ndarray, values: np.ndarray) -> np.ndarray:
    return np.column_stack([np.interp(time, since_start, column) for column in values.T])


def _rotated(vectors: np.ndarray) -> np.ndarray:
    """Rotate vectors (n, 2) by +90 degrees."""
    return np.column_stack([-vectors[:, 1], vectors[:, 0]])


def _accumulated(steps: list[np.ndarray]) -> np.ndarray:
    count, columns = steps[0].shape
    sums = np.zeros((2, count + 1, columns))
    for axis, changes in enumerate(steps):
        np.cumsum(changes, axis=0, out=sums[axis, 1:])
    return sums.reshape(-1, columns)
