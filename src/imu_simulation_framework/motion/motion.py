r"""Ideal motion of a rigid body, the interface between sources of motion and sensors.

There are two frames. The world has x east, y north, z up (REP-103) and is inertial. The body has
x forward, y left, z up. An orientation rotates a vector in the body's axes to the same vector in
the world's axes. With R that rotation, r the position, v the velocity, :math:`\omega` the angular
velocity in the body's axes and g the gravity,

.. math:: \dot r = v, \quad \dot R = R [\omega]_\times, \quad f = R^T (\dot v + g e_z)

(Groves: Principles of GNSS, Inertial, and Multisensor Integrated Navigation Systems, chapters 2
and 5). f is the specific force, which an accelerometer measures, +g on z at rest. The module also
has the kinematics of poses: splines of orientations, angular velocities, turns.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.interpolate import CubicSpline
from scipy.spatial.transform import Rotation

from ..core.angles import (
    quaternion_product,
    relative_rotations,
    roll_pitch_yaw_from_quaternion,
    unwrap,
)
from ..core.errors import MotionError
from ..core.tables import GROUND_TRUTH
from ..core.units import WORLD_GRAVITY

Sampled = TypeVar("Sampled", bound="SampledMotion")

_VECTORS = ("velocity", "angular_velocity", "specific_force")
_WIDTHS = {"position": 3, "orientation": 4, **dict.fromkeys(_VECTORS, 3)}
_UNEVEN = 1e-6  # share of a period by which even time steps may differ, as stamps are rounded to ns


class Mount(NamedTuple):
    """Place and axes of a device on a moving body, for n samples or constant.

    Parameters
    ----------
    lever_arm, lever_arm_rate, lever_arm_acceleration : ndarray, shape (3,) or (n, 3)
        Position in the body's axes and its derivatives there [m, m/s, m/s^2].
    rotation : scipy.spatial.transform.Rotation
        Rotation from the device's axes to the body's.
    turning : ndarray, shape (n, 3), or None
        Angular velocity against the body, in the device's own axes [rad/s]; None for a fixed
        device.
    """

    lever_arm: np.ndarray
    lever_arm_rate: np.ndarray
    lever_arm_acceleration: np.ndarray
    rotation: Rotation
    turning: np.ndarray | None


@dataclass(frozen=True, eq=False)
class SampledMotion(ABC):
    """Common base of :class:`.Motion` and :class:`.EarthMotion`.

    Parameters
    ----------
    time : ndarray, shape (n,)
        Times, strictly increasing [s].
    position : ndarray, shape (n, 3)
        Positions in the world [m].
    orientation : ndarray, shape (n, 4)
        Rotations from the body to the world; quaternions x, y, z, w.
    velocity : ndarray, shape (n, 3)
        Velocities against the world, in its axes [m/s].
    angular_velocity : ndarray, shape (n, 3)
        Angular velocities against inertial space, in the body's axes [rad/s].
    specific_force : ndarray, shape (n, 3)
        Specific forces in the body's axes [m/s^2].
    """

    time: np.ndarray
    position: np.ndarray
    orientation: np.ndarray
    velocity: np.ndarray
    angular_velocity: np.ndarray
    specific_force: np.ndarray

    world_rate = (0.0, 0.0, 0.0)  # rad/s; angular velocity of the world against inertial space

    def __post_init__(self) -> None:
        columns = {name: (getattr(self, name), width) for name, width in _WIDTHS.items()}
        vars(self).update(checked_samples("a motion's", self.time, columns))

    def __len__(self) -> int:
        return len(self.time)

    @property
    def duration(self) -> float:
        """Time from the first sample to the last [s]."""
        return float(self.time[-1] - self.time[0])

    @property
    def period(self) -> float:
        """Time from one sample to the next [s].

        Raises
        ------
        MotionError
            The period is not constant, or there are less than two samples.
        """
        if len(self.time) < 2:
            raise MotionError("motion has 1 sample, expected at least 2 for a period")
        period = self.duration / (len(self.time) - 1)
        even = self.time[0] + period * np.arange(len(self.time))
        deviation = float(np.max(np.abs(self.time - even)))
        if deviation > _UNEVEN * period + 1e-9:
            raise MotionError(
                f"motion's time deviates by up to {deviation:.3g} s from steps of {period:g} s, "
                "expected constant steps; resample it with resampled(rate)"
            )
        return period

    def resampled(self: Sampled, rate: float) -> Sampled:
        """Return the motion at even times, from the first sample to at most the last.

        Parameters
        ----------
        rate : float
            Samples per second [Hz].

        Returns
        -------
        SampledMotion
            Motion of the same class.

        Raises
        ------
        MotionError
            The rate is not positive, or the motion has less than three samples.
        """
        if not (np.isfinite(rate) and rate > 0.0):
            raise MotionError(f"rate of a motion is {rate} Hz, expected a positive number")
        self.require_derivatives()
        time = self.time[0] + np.arange(int(self.duration * rate + 1e-6) + 1) / rate
        # Rounding may put the last time beyond the end.
        sample_times = np.minimum(time, self.time[-1])
        values = {
            name: CubicSpline(self.time, getattr(self, name))(sample_times) for name in _VECTORS
        }
        return replace(
            self,
            time=time,
            position=self._positions_at(sample_times),
            orientation=unit(quaternion_spline(self.time, self.orientation)(sample_times)),
            **values,
        )

    @property
    def yaw(self) -> np.ndarray:
        """Angle about the vertical, from east towards north, unwrapped, (n,) [rad]."""
        return unwrap(roll_pitch_yaw_from_quaternion(self.local_orientation)[:, 2])

    @property
    @abstractmethod
    def local_orientation(self) -> np.ndarray:
        """Rotation from the body to the local east, north, up; quaternions x, y, z, w, (n, 4)."""

    @abstractmethod
    def level_axes(self) -> Rotation:
        """Return the rotations of each sample from the local east, north, up to the world."""

    def rate_against_ground(self) -> np.ndarray:
        """Return the angular velocity against the ground.

        Returns
        -------
        ndarray, shape (n, 3)
            Angular velocity in the body's axes [rad/s].
        """
        to_body = Rotation.from_quat(self.orientation).inv()
        return self.angular_velocity - to_body.apply(self.world_rate)

    @abstractmethod
    def _signals_at_first_pose(self) -> tuple[np.ndarray, np.ndarray]:
        """Return angular velocity and specific force (3,) at rest in the first pose."""

    def standing_before(self: Sampled, samples: int) -> Sampled:
        """Return the motion with a standstill before it, in its first pose.

        Parameters
        ----------
        samples : int
            Number of added samples at the motion's period; the time starts earlier by that much.

        Returns
        -------
        SampledMotion
            Motion of the same class.

        Raises
        ------
        MotionError
            The motion is not evenly sampled.
        """
        still = (self.position[0], self.orientation[0], np.zeros(3), *self._signals_at_first_pose())
        earlier = self.time[0] - self.period * np.arange(samples, 0, -1)
        values = {
            name: np.vstack([np.tile(value, (samples, 1)), getattr(self, name)])
            for name, value in zip(_WIDTHS, still)
        }
        return replace(self, time=np.concatenate([earlier, self.time]), **values)

    @abstractmethod
    def _positions_at(self, times):
        """Return the positions (n, 3) at times (n,) within the motion."""

    def mounted(
        self: Sampled,
        lever_arm: ArrayLike = (0.0, 0.0, 0.0),
        rotation: Rotation | ArrayLike | None = None,
    ) -> Sampled:
        r"""Return the motion of a device on the body, with a lever arm or other axes.

        With the lever arm l and the mounting M, both possibly over time, in the body's axes, and
        the world's :math:`\omega_w` and gravitation :math:`\gamma` that :class:`.EarthMotion` has,

        .. math::

            r' = r + R l, \quad v' = v + R ((\omega - R^T \omega_w) \times l + \dot l), \quad
            \omega' = M^T \omega + \omega_M,

            f' = M^T (f + \dot \omega \times l + \omega \times (\omega \times l
            + 2 \dot l) + \ddot l - R^T (\gamma(r') - \gamma(r))).

        The terms of f' contain the tangential, centripetal and Coriolis accelerations of the lever
        arm. Derivatives are those of cubic splines through the samples.

        Parameters
        ----------
        lever_arm : array_like, shape (3,) or (n, 3)
            Position of the mounted frame's origin in the body's axes [m].
        rotation : scipy.spatial.transform.Rotation or array_like, optional
            Rotation from the mounted frame to the body, constant or of each sample: a rotation, or
            quaternions x, y, z, w; by default both have the same axes.

        Returns
        -------
        SampledMotion
            Motion of the same class.

        Raises
        ------
        MotionError
            The number of lever arms or rotations is neither 1 nor n; or a time-varying mounting, or
            a lever arm on a turning body, has less than three samples.

        Examples
        --------
        The specific force of an IMU half a metre ahead of the centre contains the centripetal
        acceleration:

        >>> ahead = isf.rounds(1, radius=5.0, speed=2.0).mounted(lever_arm=(0.5, 0.0, 0.0))
        >>> ahead.specific_force[100].round(2)
        array([-0.08,  0.8 ,  9.81])
        """
        count = len(self.time)
        mounting = Rotation.identity() if rotation is None else rotation
        if not isinstance(mounting, Rotation):
            mounting = Rotation.from_quat(mounting)
        arm = np.asarray(lever_arm, dtype=float)
        if arm.shape not in ((3,), (count, 3)):
            raise MotionError(f"lever_arm has the shape {arm.shape}, expected (3,) or ({count}, 3)")
        if not (mounting.single or len(mounting) == count):
            raise MotionError(f"rotation has {len(mounting)} elements, expected 1 or {count}")
        speed = acceleration = np.zeros(3)
        if arm.ndim > 1:
            # The spline of the first derivative has an error of the fourth power of the step, the
            # second derivative of a single spline of the second power.
            speed = self._derivative(arm)
            acceleration = self._derivative(speed)
        turning = None
        if not mounting.single:
            self.require_derivatives()
            turning = angular_velocity_at_knots(quaternion_spline(self.time, mounting.as_quat()))
        return self.carrying(Mount(arm, speed, acceleration, mounting, turning))

    def carrying(self: Sampled, mount: Mount) -> Sampled:
        """Return the motion of a device at a mount, by the equations of :meth:`mounted`.

        Parameters
        ----------
        mount : Mount
            Place and axes of the device.

        Returns
        -------
        SampledMotion
            Motion of the same class.
        """
        arm, arm_rate, rate = mount.lever_arm, mount.lever_arm_rate, self.angular_velocity
        body, to_mounted = Rotation.from_quat(self.orientation), mount.rotation.inv()
        position, force = self.position + body.apply(arm), self.specific_force
        if np.any(arm):
            force = (
                force
                + np.cross(self._derivative(rate), arm)
                + np.cross(rate, np.cross(rate, arm) + 2.0 * arm_rate)
                + mount.lever_arm_acceleration
                - body.inv().apply(self._gravitation(position) - self._gravitation(self.position))
            )
        velocity = np.cross(self.rate_against_ground(), arm) + arm_rate
        turned = to_mounted.apply(rate)
        return replace(
            self,
            position=position,
            orientation=(body * mount.rotation).as_quat(),
            velocity=self.velocity + body.apply(velocity),
            angular_velocity=turned if mount.turning is None else turned + mount.turning,
            specific_force=to_mounted.apply(force),
        )

    def _gravitation(self, position):
        """Return gravitation (n, 3) at positions (n, 3) but for a constant [m/s^2]."""
        return np.zeros_like(position)

    def _derivative(self, values):
        """Return the time derivative of a cubic spline through (n, 3), at the samples."""
        self.require_derivatives()
        return slopes(CubicSpline(self.time, values))

    def require_derivatives(self) -> None:
        """Raise MotionError if there are less than three samples."""
        if len(self.time) < 3:
            raise MotionError(
                f"motion has {len(self.time)} samples, expected at least 3 for derivatives"
            )


@dataclass(frozen=True, eq=False)
class Motion(SampledMotion):
    """Ideal motion of a point of a rigid body over n samples.

    Parameters
    ----------
    time : array_like, shape (n,)
        Times, strictly increasing [s].
    position : array_like, shape (n, 3)
        Position of the body's origin in the world [m].
    orientation : array_like, shape (n, 4)
        Rotation from the body to the world; quaternions x, y, z, w of length one.
    velocity : array_like, shape (n, 3)
        Velocity of the body's origin, in the world's axes [m/s].
    angular_velocity : array_like, shape (n, 3)
        Angular velocity of the body against the world, in the body's axes [rad/s].
    specific_force : array_like, shape (n, 3)
        Specific force at the body's origin, in the body's axes [m/s^2].
    gravity : float
        Gravity of the world, downwards [m/s^2].

    Raises
    ------
    MotionError
        Shapes do not fit, a number is not finite, time does not increase, or there is no sample.
    """

    gravity: float = WORLD_GRAVITY

    def __post_init__(self) -> None:
        super().__post_init__()
        if not np.isfinite(self.gravity):
            raise MotionError(f"gravity of a motion is {self.gravity}, expected a finite number")

    @classmethod
    def from_poses(
        cls,
        time: ArrayLike,
        position: ArrayLike,
        orientation: ArrayLike,
        gravity: float = WORLD_GRAVITY,
        at: ArrayLike | None = None,
    ) -> Motion:
        """Return the motion through poses.

        Poses should be smooth, as velocities and forces are their derivatives.

        Parameters
        ----------
        time : array_like, shape (n,)
            Times of at least three poses, strictly increasing [s].
        position : array_like, shape (n, 3)
            Positions in the world [m].
        orientation : array_like, shape (n, 4)
            Rotations from the body to the world; quaternions x, y, z, w of any length but zero.
        gravity : float
            Gravity of the world [m/s^2].
        at : array_like, shape (m,), optional
            Times of the motion's samples, from the first pose to the last [s]; by default the times
            of the poses.

        Returns
        -------
        Motion

        Raises
        ------
        MotionError
            As for the class, or there are less than three poses.
        """
        pose_times, positions, quaternions = checked_poses(time, position, orientation)
        times = pose_times if at is None else np.asarray(at, dtype=float)
        path = CubicSpline(pose_times, positions)
        turning = quaternion_spline(pose_times, quaternions)
        orientations = unit(turning(times))
        acceleration = path(times, 2) + np.array([0.0, 0.0, gravity])
        return cls(
            times,
            path(times),
            orientations,
            path(times, 1),
            angular_velocity_of(turning, times),
            Rotation.from_quat(orientations).inv().apply(acceleration),
            gravity,
        )

    @classmethod
    def from_states(
        cls,
        time: ArrayLike,
        position: ArrayLike,
        orientation: ArrayLike,
        velocity: ArrayLike,
        angular_velocity: ArrayLike,
        gravity: float = WORLD_GRAVITY,
    ) -> Motion:
        """Return the motion of a body with known velocities, for example from a simulator.

        The specific force comes from central differences of the velocity.

        Parameters
        ----------
        time : array_like, shape (n,)
            Times of at least two samples, strictly increasing [s].
        position, orientation, velocity, angular_velocity : array_like
            As for the class.
        gravity : float
            Gravity of the world [m/s^2].

        Returns
        -------
        Motion

        Raises
        ------
        MotionError
            As for the class, or there are less than two samples.
        """
        time, velocity = np.asarray(time, dtype=float), np.asarray(velocity, dtype=float)
        if len(time) < 2 or velocity.shape != (len(time), 3):
            raise MotionError(
                f"velocity has the shape {velocity.shape} for {len(time)} times, expected (n, 3)"
                " for n times, n >= 2"
            )
        acceleration = np.gradient(velocity, time, axis=0) + np.array([0.0, 0.0, gravity])
        force = Rotation.from_quat(orientation).inv().apply(acceleration)
        position, orientation, rate = map(np.asarray, (position, orientation, angular_velocity))
        return cls(time, position, orientation, velocity, rate, force, gravity)

    @property
    def local_orientation(self) -> np.ndarray:
        return self.orientation

    def level_axes(self) -> Rotation:
        return Rotation.identity(len(self.time))

    def local(self) -> Motion:
        """Return this motion; :meth:`.EarthMotion.local` returns a motion in a flat world.

        Returns
        -------
        Motion
            The motion itself.
        """
        return self

    def _signals_at_first_pose(self):
        to_body = Rotation.from_quat(self.orientation[0]).inv()
        return np.zeros(3), to_body.apply((0.0, 0.0, self.gravity))

    def table(self) -> pd.DataFrame:
        """Return the motion as a table with the columns of GroundTruth.

        Returns
        -------
        DataFrame
            Columns of GroundTruth, index ``time`` [s].
        """
        angles = roll_pitch_yaw_from_quaternion(self.orientation)
        angles[:, 2] = unwrap(angles[:, 2])
        rotation = Rotation.from_quat(self.orientation)
        velocity, rate = rotation.inv().apply(self.velocity), self.angular_velocity
        parts = [self.position, angles, velocity[:, :1], rate[:, 2:], velocity[:, 1:], rate[:, :2]]
        return pd.DataFrame(
            np.hstack(parts),
            columns=GROUND_TRUTH,
            index=pd.Index(self.time, name="time"),
        )

    def means(self) -> tuple[np.ndarray, np.ndarray]:
        r"""Return angular velocity and specific force as means since the previous sample.

        An IMU that integrates internally outputs these means: their sums lead from each sample's
        orientation and velocity to those of the next sample. The mean angular velocity is the
        rotation over the period. The mean specific force is the mean of
        :math:`f = \dot v + \omega \times v + g R^T e_z` in the body's axes, by the trapezoidal
        rule. The first sample has the instantaneous values.

        Returns
        -------
        angular_velocity : ndarray, shape (n, 3)
            Mean angular velocity in the body's axes [rad/s].
        specific_force : ndarray, shape (n, 3)
            Mean specific force in the body's axes [m/s^2].
        """
        step = np.diff(self.time)[:, np.newaxis]
        to_body = Rotation.from_quat(self.orientation).inv()
        rate, force = self.angular_velocity.copy(), self.specific_force.copy()
        rate[1:] = relative_rotations(self.orientation[:-1], self.orientation[1:]) / step
        velocity = to_body.apply(self.velocity)
        steady = np.cross(self.angular_velocity, velocity) + self.gravity * to_body.apply(
            (0.0, 0.0, 1.0)
        )
        force[1:] = np.diff(velocity, axis=0) / step + 0.5 * (steady[1:] + steady[:-1])
        return rate, force

    def _positions_at(self, times):
        return CubicSpline(self.time, self.position)(times)


def checked_samples(owner, time, columns) -> dict[str, np.ndarray]:
    """Convert times and other columns to arrays of floats, and check them.

    Parameters
    ----------
    owner : str
        Owner of the columns, for messages: "motion's".
    time : array_like, shape (n,)
        Times [s].
    columns : mapping of str to tuple
        Name -> values (n, width) and width.

    Returns
    -------
    dict of str to ndarray
        ``time`` and the columns.

    Raises
    ------
    MotionError
        There is no sample, shapes do not fit, a number is not finite, or time does not increase.
    """
    time = np.asarray(time, dtype=float)
    if time.ndim != 1 or len(time) == 0:
        raise MotionError(f"{owner} time has the shape {time.shape}, expected (n,), n >= 1")
    arrays = {"time": time}
    for name, (values, width) in columns.items():
        arrays[name] = values = np.asarray(values, dtype=float)
        if values.shape != (len(time), width):
            raise MotionError(
                f"{owner} {name} has the shape {values.shape}, expected {(len(time), width)} as "
                f"there are {len(time)} times"
            )
    for name, values in arrays.items():
        if not np.all(np.isfinite(values)):
            raise MotionError(f"{owner} {name} is not finite, expected finite numbers")
    late = np.flatnonzero(np.diff(time) <= 0.0)
    if len(late):
        earlier, later = time[late[0] : late[0] + 2]
        raise MotionError(f"{owner} time goes from {earlier:g} s to {later:g} s, but must increase")
    return arrays


def checked_poses(time, position, orientation) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Convert poses to arrays of floats, and check them.

    Parameters
    ----------
    time : array_like, shape (n,)
        Times [s].
    position : array_like, shape (n, 3)
        Positions [m].
    orientation : array_like, shape (n, 4)
        Quaternions x, y, z, w.

    Returns
    -------
    time, position, orientation : ndarray
        Poses as float64 in the shapes of the parameters.

    Raises
    ------
    MotionError
        There are less than three poses, shapes do not fit, a number is not finite, time does not
        increase, or a quaternion is zero.
    """
    if np.size(time) < 3:
        raise MotionError(f"number of poses is {np.size(time)}, expected at least 3 for a motion")
    columns = {"position": (position, 3), "orientation": (orientation, 4)}
    time, position, quaternions = checked_samples("the poses'", time, columns).values()
    if not np.all(np.any(quaternions != 0.0, axis=1)):
        raise MotionError("orientation contains a zero quaternion, which represents no rotation")
    return time, position, quaternions


def quaternion_spline(time, quaternions) -> CubicSpline:
    """Return a cubic spline through unit quaternions, without jumps between q and -q.

    Parameters
    ----------
    time : ndarray, shape (n,)
        Times, strictly increasing [s].
    quaternions : ndarray, shape (n, 4)
        Quaternions x, y, z, w of any length but zero.

    Returns
    -------
    scipy.interpolate.CubicSpline
    """
    quaternions = unit(quaternions)
    turned_over = np.sum(quaternions[1:] * quaternions[:-1], axis=1) < 0.0
    signs = np.concatenate([[1.0], np.where(turned_over, -1.0, 1.0)]).cumprod()
    return CubicSpline(time, signs[:, np.newaxis] * quaternions)


def angular_velocity_of(turning: CubicSpline, time) -> np.ndarray:
    """Compute the angular velocity of a spline of quaternions: the vector of 2 q^-1 dq/dt.

    The inverse contains the square of the length of q, which is one only at the knots.

    Parameters
    ----------
    turning : scipy.interpolate.CubicSpline
        Result of :func:`quaternion_spline`.
    time : ndarray, shape (n,)
        Times [s].

    Returns
    -------
    ndarray, shape (n, 3)
        Angular velocity in the turning axes [rad/s].
    """
    return _angular_velocity(turning(time), turning(time, 1))


def angular_velocity_at_knots(turning: CubicSpline) -> np.ndarray:
    """Compute :func:`angular_velocity_of` at the knots of the spline, faster.

    Parameters
    ----------
    turning : scipy.interpolate.CubicSpline
        Result of :func:`quaternion_spline`, with n knots.

    Returns
    -------
    ndarray, shape (n, 3)
        Angular velocity in the turning axes [rad/s].
    """
    return _angular_velocity(np.vstack([turning.c[-1], turning(turning.x[-1:])]), slopes(turning))


def slopes(spline: CubicSpline) -> np.ndarray:
    """Return the derivative of a spline at its knots, from its coefficients.

    Parameters
    ----------
    spline : scipy.interpolate.CubicSpline
        Spline with n knots.

    Returns
    -------
    ndarray, shape (n, ...)
        Derivatives in the unit of the spline's values per unit of its knots.
    """
    return np.concatenate([spline.c[-2], spline(spline.x[-1:], 1)])


def _angular_velocity(value, change):
    vector, scalar = value[:, :3], value[:, 3:]
    product = scalar * change[:, :3] - change[:, 3:] * vector - np.cross(vector, change[:, :3])
    return 2.0 * product / np.sum(value**2, axis=1, keepdims=True)


def unit(vectors: np.ndarray) -> np.ndarray:
    """Normalise quaternions or vectors to length one.

    Parameters
    ----------
    vectors : ndarray, shape (n, 3) or (n, 4)
        Vectors of any length but zero.

    Returns
    -------
    ndarray
        Vectors of length one.
    """
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def composed(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Multiply quaternions, for many far faster than scipy's Rotation.

    Parameters
    ----------
    first, second : ndarray, shape (n, 4) or (4,)
        Quaternions x, y, z, w.

    Returns
    -------
    ndarray, shape (n, 4) or (4,)
        Products ``first * second``.
    """
    return np.stack(quaternion_product(*first.T, *second.T), axis=-1)


REVERSAL = math.radians(3.0)  # rad; a smaller turn back may be noise of the yaw


def absolute_turn(yaw: np.ndarray, reversal: float = REVERSAL) -> np.ndarray:
    """Compute the turned angle since the start, left and right turns added.

    The sum of absolute steps of a noisy yaw would grow with each sample. Here the angle counts from
    a turning point to the next.

    Parameters
    ----------
    yaw : ndarray, shape (n,)
        Yaw, unwrapped [rad].
    reversal : float
        Smallest turn back that makes a turning point [rad].

    Returns
    -------
    ndarray, shape (n,)
        Turned angle [rad].
    """
    yaw = np.asarray(yaw, dtype=float)
    turned, done = np.zeros(len(yaw)), 0.0
    points = _turning_points(yaw, reversal)
    for first, last in zip(points[:-1], points[1:]):
        leg = (yaw[first : last + 1] - yaw[first]) * np.sign(yaw[last] - yaw[first])
        turned[first : last + 1] = done + np.maximum.accumulate(np.maximum(leg, 0.0))
        done = float(turned[last])
    return turned


def _turning_points(yaw, reversal):
    """Return indices of the first sample, of each extreme before a reversal, and of the last."""
    if len(yaw) == 0:
        return []
    points, sense = [0], 0
    lowest = highest = 0
    for index, value in enumerate(yaw.tolist()):
        if value > yaw[highest]:
            highest = index
        if value < yaw[lowest]:
            lowest = index
        if sense >= 0 and yaw[highest] - value > reversal:
            if sense > 0:
                points.append(highest)
            sense, lowest = -1, index
        elif sense <= 0 and value - yaw[lowest] > reversal:
            if sense < 0:
                points.append(lowest)
            sense, highest = 1, index
    points.append(len(yaw) - 1)
    return points
