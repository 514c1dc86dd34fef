r"""Ideal motion of a rigid body, the interface between motion sources and simulated sensors.

There are two frames. The world is inertial, with x east, y north and z up (REP-103). The body has
x forward, y left and z up. An orientation is the rotation that converts the components of a vector
in body axes to those in world axes. With R this rotation, r the position, v the velocity,
:math:`\omega` the angular velocity in body axes and g the gravity,

.. math:: \dot r = v, \quad \dot R = R [\omega]_\times, \quad f = R^T (\dot v + g e_z)

(Groves: Principles of GNSS, Inertial, and Multisensor Integrated Navigation Systems, chapters 2
and 5). f is the specific force, which an accelerometer measures; at rest, it is +g along z. The
module also contains the kinematics of poses: splines of orientations, angular velocities and turns.
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
# Relative tolerance for constant time steps, since stamps may be rounded to ns.
_STEP_TOLERANCE = 1e-6


class Mount(NamedTuple):
    """Position and orientation of a device on a moving body, constant or at n samples.

    Parameters
    ----------
    lever_arm, lever_arm_rate, lever_arm_acceleration : ndarray, shape (3,) or (n, 3)
        Position of the device in body axes, and its time derivatives in these axes [m, m/s, m/s^2].
    rotation : scipy.spatial.transform.Rotation
        Rotation from device axes to body axes.
    turning : ndarray, shape (n, 3), or None
        Angular velocity of the device relative to the body, in device axes [rad/s]; None for a
        fixed device.
    """

    lever_arm: np.ndarray
    lever_arm_rate: np.ndarray
    lever_arm_acceleration: np.ndarray
    rotation: Rotation
    turning: np.ndarray | None


@dataclass(frozen=True, eq=False)
class SampledMotion(ABC):
    """Common base class of :class:`.Motion` and :class:`.EarthMotion`.

    Parameters
    ----------
    time : ndarray, shape (n,)
        Times, strictly increasing [s].
    position : ndarray, shape (n, 3)
        Positions in the world [m].
    orientation : ndarray, shape (n, 4)
        Rotations from the body to the world; quaternions x, y, z, w.
    velocity : ndarray, shape (n, 3)
        Velocities relative to the world, in world axes [m/s].
    angular_velocity : ndarray, shape (n, 3)
        Angular velocities relative to inertial space, in body axes [rad/s].
    specific_force : ndarray, shape (n, 3)
        Specific forces in body axes [m/s^2].
    """

    time: np.ndarray
    position: np.ndarray
    orientation: np.ndarray
    velocity: np.ndarray
    angular_velocity: np.ndarray
    specific_force: np.ndarray

    world_rate = (0.0, 0.0, 0.0)  # rad/s; angular velocity of the world relative to inertial space
    is_on_ground = True  # whether the body can stop

    def __post_init__(self) -> None:
        columns = {name: (getattr(self, name), width) for name, width in _WIDTHS.items()}
        vars(self).update(checked_samples("a motion's", self.time, columns))

    def __len__(self) -> int:
        return len(self.time)

    @property
    def duration(self) -> float:
        """Time from the first sample to the last sample [s]."""
        return float(self.time[-1] - self.time[0])

    @property
    def period(self) -> float:
        """Sampling period [s].

        Raises
        ------
        MotionError
            The period is not constant, or there are fewer than two samples.
        """
        if len(self.time) < 2:
            raise MotionError("motion has 1 sample, expected at least 2 for a period")
        period = self.duration / (len(self.time) - 1)
        even_times = self.time[0] + period * np.arange(len(self.time))
        deviation = float(np.max(np.abs(self.time - even_times)))
        if deviation > _STEP_TOLERANCE * period + 1e-9:
            raise MotionError(
                f"motion's time deviates by up to {deviation:.3g} s from steps of {period:g} s, "
                "expected constant steps; resample it with resampled(rate)"
            )
        return period

    def resampled(self: Sampled, rate: float) -> Sampled:
        """Resample the motion at a constant rate, from the first sample to at most the last sample.

        Parameters
        ----------
        rate : float
            Sample rate [Hz].

        Returns
        -------
        SampledMotion
            Motion of the same class.

        Raises
        ------
        MotionError
            The rate is not positive, or the motion has fewer than three samples.
        """
        if not (np.isfinite(rate) and rate > 0.0):
            raise MotionError(f"rate of a motion is {rate} Hz, expected a positive number")
        self.require_derivatives()
        time = self.time[0] + np.arange(int(self.duration * rate + 1e-6) + 1) / rate
        # Rounding can move the last time beyond the end of the motion.
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

    def retimed(
        self: Sampled, time: np.ndarray, at: np.ndarray, rate: np.ndarray, change: np.ndarray
    ) -> Sampled:
        r"""Return the motion along the same path with another timing.

        The new motion is at the time t where this motion is at the time :math:`\tau(t)`. With
        :math:`s = \dot \tau`, velocities v and angular velocities relative to the world are scaled
        by s, and the acceleration is :math:`s^2 \ddot r + \dot s \dot r`. The Coriolis acceleration
        of a rotating world, :math:`2 \omega_{ie} \times v`, is scaled by s.

        Parameters
        ----------
        time : ndarray, shape (n,)
            Times t of the new motion, strictly increasing [s].
        at : ndarray, shape (n,)
            Times :math:`\tau` of this motion [s].
        rate : ndarray, shape (n,)
            Derivative s of these times; 0 at a stop.
        change : ndarray, shape (n,)
            Derivative of the rate [1/s].

        Returns
        -------
        SampledMotion
            Motion of the same class.
        """
        scale, change = rate[:, np.newaxis], change[:, np.newaxis]
        orientation = unit(quaternion_spline(self.time, self.orientation)(at))
        velocity, turning, force = (
            CubicSpline(self.time, getattr(self, name))(at) for name in _VECTORS
        )
        position = self._positions_at(at)
        to_body = Rotation.from_quat(orientation).inv()
        weight = to_body.apply(self._weight_at(position))
        world_rate = to_body.apply(self.world_rate)
        coriolis = to_body.apply(2.0 * np.cross(self.world_rate, velocity))
        force = (force - weight - coriolis) * scale**2 + to_body.apply(velocity) * change
        return replace(
            self,
            time=time,
            position=position,
            orientation=orientation,
            velocity=velocity * scale,
            angular_velocity=(turning - world_rate) * scale + world_rate,
            specific_force=force + weight + coriolis * scale,
        )

    @property
    def yaw(self) -> np.ndarray:
        """Unwrapped yaw about the local vertical, counter-clockwise from east, (n,) [rad]."""
        return unwrap(roll_pitch_yaw_from_quaternion(self.local_orientation)[:, 2])

    @property
    @abstractmethod
    def local_orientation(self) -> np.ndarray:
        """Rotations from body axes to local ENU axes; quaternions x, y, z, w, (n, 4)."""

    @abstractmethod
    def level_axes(self) -> Rotation:
        """Return the rotation from local ENU axes to world axes at each sample."""

    def rate_against_ground(self) -> np.ndarray:
        """Return the angular velocity of the body relative to the ground.

        Returns
        -------
        ndarray, shape (n, 3)
            Angular velocity in body axes [rad/s].
        """
        to_body = Rotation.from_quat(self.orientation).inv()
        return self.angular_velocity - to_body.apply(self.world_rate)

    @abstractmethod
    def _signals_at_first_pose(self) -> tuple[np.ndarray, np.ndarray]:
        """Return angular velocity and specific force, (3,), of a body at rest in the first pose."""

    def standing_before(self: Sampled, samples: int) -> Sampled:
        """Prepend a stationary period at the first pose.

        Parameters
        ----------
        samples : int
            Number of samples to add, with the sampling period of the motion. They are added before
            the first time, so that existing times are unchanged.

        Returns
        -------
        SampledMotion
            Motion of the same class.

        Raises
        ------
        MotionError
            The motion is not evenly sampled.
        """
        state_at_rest = (
            self.position[0],
            self.orientation[0],
            np.zeros(3),
            *self._signals_at_first_pose(),
        )
        earlier = self.time[0] - self.period * np.arange(samples, 0, -1)
        values = {
            name: np.vstack([np.tile(value, (samples, 1)), getattr(self, name)])
            for name, value in zip(_WIDTHS, state_at_rest)
        }
        return replace(self, time=np.concatenate([earlier, self.time]), **values)

    @abstractmethod
    def _positions_at(self, times):
        """Interpolate the positions (n, 3) at times (n,) within the motion."""

    @abstractmethod
    def _weight_at(self, position):
        """Return the specific force of a body at rest at positions (n, 3), in world axes."""

    def mounted(
        self: Sampled,
        lever_arm: ArrayLike = (0.0, 0.0, 0.0),
        rotation: Rotation | ArrayLike | None = None,
    ) -> Sampled:
        r"""Return the motion of a device that is mounted on the body.

        With the lever arm l and the mounting rotation M, both in body axes and possibly
        time-varying, and the angular velocity :math:`\omega_w` and gravitation :math:`\gamma` of
        the world, which are non-zero in an :class:`.EarthMotion`,

        .. math::

            r' = r + R l, \quad v' = v + R ((\omega - R^T \omega_w) \times l + \dot l), \quad
            \omega' = M^T \omega + \omega_M,

            f' = M^T (f + \dot \omega \times l + \omega \times (\omega \times l
            + 2 \dot l) + \ddot l - R^T (\gamma(r') - \gamma(r))).

        The terms of f' include the tangential, centripetal and Coriolis accelerations at the lever
        arm. Derivatives are computed by cubic splines through the samples.

        Parameters
        ----------
        lever_arm : array_like, shape (3,) or (n, 3)
            Position of the device in body axes [m].
        rotation : scipy.spatial.transform.Rotation or array_like, optional
            Rotation from device axes to body axes, constant or at each sample: a rotation, or
            quaternions x, y, z, w; by default, the device has the axes of the body.

        Returns
        -------
        SampledMotion
            Motion of the same class.

        Raises
        ------
        MotionError
            The number of lever arms or rotations is neither 1 nor n. There are fewer than three
            samples, although the mounting is time-varying or has a lever arm on a rotating body.

        Examples
        --------
        The specific force of an IMU half a metre ahead of the centre includes the centripetal
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
            # The derivative of a spline through first derivatives has an error of order step^4.
            # The second derivative of a single spline would have an error of order step^2.
            speed = self._derivative(arm)
            acceleration = self._derivative(speed)
        turning = None
        if not mounting.single:
            self.require_derivatives()
            turning = angular_velocity_at_knots(quaternion_spline(self.time, mounting.as_quat()))
        return self.carrying(Mount(arm, speed, acceleration, mounting, turning))

    def carrying(self: Sampled, mount: Mount) -> Sampled:
        """Return the motion of a device on a given mount, computed as in :meth:`mounted`.

        Parameters
        ----------
        mount : Mount
            Position and orientation of the device.

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
        mounted_rate = to_mounted.apply(rate)
        return replace(
            self,
            position=position,
            orientation=(body * mount.rotation).as_quat(),
            velocity=self.velocity + body.apply(velocity),
            angular_velocity=mounted_rate
            if mount.turning is None
            else mounted_rate + mount.turning,
            specific_force=to_mounted.apply(force),
        )

    def _gravitation(self, position):
        """Return gravitation [m/s^2] at positions (n, 3), up to an additive constant, (n, 3)."""
        return np.zeros_like(position)

    def _derivative(self, values):
        """Return the time derivative, at the samples, of a cubic spline through values (n, 3)."""
        self.require_derivatives()
        return slopes(CubicSpline(self.time, values))

    def require_derivatives(self) -> None:
        """Check that the motion has at least three samples, as needed for derivatives."""
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
        Rotation from the body to the world; unit quaternions x, y, z, w.
    velocity : array_like, shape (n, 3)
        Velocity of the body's origin, in world axes [m/s].
    angular_velocity : array_like, shape (n, 3)
        Angular velocity of the body relative to the world, in body axes [rad/s].
    specific_force : array_like, shape (n, 3)
        Specific force at the body's origin, in body axes [m/s^2].
    gravity : float
        Gravity of the world, downwards [m/s^2].

    Raises
    ------
    MotionError
        Shapes do not match, a number is not finite, time does not increase, or there is no sample.
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
        """Create a motion that passes through given poses.

        The poses should be smooth, because velocities and forces are their derivatives.

        Parameters
        ----------
        time : array_like, shape (n,)
            Times of at least three poses, strictly increasing [s].
        position : array_like, shape (n, 3)
            Positions in the world [m].
        orientation : array_like, shape (n, 4)
            Rotations from the body to the world; quaternions x, y, z, w of any norm except zero.
        gravity : float
            Gravity of the world [m/s^2].
        at : array_like, shape (m,), optional
            Times of the motion's samples, within those of the poses [s]; by default the times of
            the poses.

        Returns
        -------
        Motion

        Raises
        ------
        MotionError
            There are fewer than three poses, or an argument of the class would be invalid.
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
        """Create the motion of a body with known velocities, such as those from a simulator.

        The specific force is computed from central differences of the velocity.

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
            There are fewer than two samples, or an argument of the class would be invalid.
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
        """Return this motion unchanged, because its world is already flat.

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
        r"""Return angular velocity and specific force, averaged since the previous sample.

        An IMU that integrates internally outputs these means: integrated over a period, they lead
        from the orientation and velocity at one sample to those at the next. The mean angular
        velocity is the rotation vector over the period, divided by the period. The mean specific
        force is the mean of :math:`f = \dot v + \omega \times v + g R^T e_z` in body axes, by the
        trapezoidal rule. The first sample contains instantaneous values.

        Returns
        -------
        angular_velocity : ndarray, shape (n, 3)
            Mean angular velocity in body axes [rad/s].
        specific_force : ndarray, shape (n, 3)
            Mean specific force in body axes [m/s^2].
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

    def _weight_at(self, position):
        return np.tile((0.0, 0.0, self.gravity), (len(position), 1))


def checked_samples(owner, time, columns) -> dict[str, np.ndarray]:
    """Convert sample times and columns to arrays of floats, and check them.

    Parameters
    ----------
    owner : str
        Owner of the columns, for error messages, such as "motion's".
    time : array_like, shape (n,)
        Times [s].
    columns : mapping of str to tuple
        Values (n, width) and width of each column.

    Returns
    -------
    dict of str to ndarray
        ``time`` and the columns.

    Raises
    ------
    MotionError
        There is no sample, shapes do not match, a number is not finite, or time does not increase.
    """
    time = np.asarray(time, dtype=float)
    if time.ndim != 1 or len(time) == 0:
        raise MotionError(f"{owner} time has the shape {time.shape}, expected (n,), n >= 1")
    arrays = {"time": time}
    for name, (values, width) in columns.items():
        arrays[name] = values = np.asarray(values, dtype=float)
        if values.shape != (len(time), width):
            raise MotionError(
                f"{owner} {name} has the shape {values.shape}, expected {(len(time), width)} for "
                f"{len(time)} times"
            )
    for name, values in arrays.items():
        if not np.all(np.isfinite(values)):
            raise MotionError(f"{owner} {name} is not finite, expected finite numbers")
    backward_steps = np.flatnonzero(np.diff(time) <= 0.0)
    if len(backward_steps):
        earlier, later = time[backward_steps[0] : backward_steps[0] + 2]
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
        There are fewer than three poses, shapes do not match, a number is not finite, time does not
        increase, or a quaternion is zero.
    """
    if np.size(time) < 3:
        raise MotionError(f"number of poses is {np.size(time)}, expected at least 3 for a motion")
    columns = {"position": (position, 3), "orientation": (orientation, 4)}
    time, position, quaternions = checked_samples("the poses'", time, columns).values()
    if not np.all(np.any(quaternions != 0.0, axis=1)):
        raise MotionError("orientation contains a zero quaternion, expected a norm above zero")
    return time, position, quaternions


def quaternion_spline(time, quaternions) -> CubicSpline:
    """Return a cubic spline through quaternions, after changing signs to avoid jumps from q to -q.

    Parameters
    ----------
    time : ndarray, shape (n,)
        Times, strictly increasing [s].
    quaternions : ndarray, shape (n, 4)
        Quaternions x, y, z, w of any norm except zero.

    Returns
    -------
    scipy.interpolate.CubicSpline
    """
    quaternions = unit(quaternions)
    turned_over = np.sum(quaternions[1:] * quaternions[:-1], axis=1) < 0.0
    signs = np.concatenate([[1.0], np.where(turned_over, -1.0, 1.0)]).cumprod()
    return CubicSpline(time, signs[:, np.newaxis] * quaternions)


def angular_velocity_of(turning: CubicSpline, time) -> np.ndarray:
    """Compute the angular velocity of a quaternion spline as the vector part of 2 q^-1 dq/dt.

    The inverse q^-1 includes a division by the squared norm of q, which is one only at the knots.

    Parameters
    ----------
    turning : scipy.interpolate.CubicSpline
        Result of :func:`quaternion_spline`.
    time : ndarray, shape (n,)
        Times [s].

    Returns
    -------
    ndarray, shape (n, 3)
        Angular velocity in body axes [rad/s].
    """
    return _angular_velocity(turning(time), turning(time, 1))


def angular_velocity_at_knots(turning: CubicSpline) -> np.ndarray:
    """Compute the angular velocity of a quaternion spline at its knots.

    The function is faster than :func:`angular_velocity_of`.

    Parameters
    ----------
    turning : scipy.interpolate.CubicSpline
        Result of :func:`quaternion_spline`, with n knots.

    Returns
    -------
    ndarray, shape (n, 3)
        Angular velocity in body axes [rad/s].
    """
    return _angular_velocity(np.vstack([turning.c[-1], turning(turning.x[-1:])]), slopes(turning))


def slopes(spline: CubicSpline) -> np.ndarray:
    """Return the first derivatives of a cubic spline at its knots.

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
    """Normalise vectors or quaternions to unit length.

    Parameters
    ----------
    vectors : ndarray, shape (n, 3) or (n, 4)
        Vectors of any length except zero.

    Returns
    -------
    ndarray
        Vectors of length one.
    """
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def composed(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Multiply arrays of quaternions, much faster than scipy's Rotation.

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


REVERSAL = math.radians(3.0)  # rad; smaller turns in the opposite direction may be yaw noise


def absolute_turn(yaw: np.ndarray, reversal: float = REVERSAL) -> np.ndarray:
    """Compute the total angle turned since the start, summed over left and right turns.

    The sum of the absolute steps of a noisy yaw would grow with each sample. Only the angles
    between successive turning points are therefore added.

    Parameters
    ----------
    yaw : ndarray, shape (n,)
        Yaw, unwrapped [rad].
    reversal : float
        Smallest turn in the opposite direction that defines a turning point [rad].

    Returns
    -------
    ndarray, shape (n,)
        Turned angle [rad].
    """
    yaw = np.asarray(yaw, dtype=float)
    turned_angle, total = np.zeros(len(yaw)), 0.0
    points = _turning_points(yaw, reversal)
    for first, last in zip(points[:-1], points[1:]):
        leg = (yaw[first : last + 1] - yaw[first]) * np.sign(yaw[last] - yaw[first])
        turned_angle[first : last + 1] = total + np.maximum.accumulate(np.maximum(leg, 0.0))
        total = float(turned_angle[last])
    return turned_angle


def _turning_points(yaw, reversal):
    """Return the indices of the first sample, of all turning points, and of the last sample."""
    if len(yaw) == 0:
        return []
    points, direction = [0], 0
    lowest = highest = 0
    for index, value in enumerate(yaw.tolist()):
        if value > yaw[highest]:
            highest = index
        if value < yaw[lowest]:
            lowest = index
        if direction >= 0 and yaw[highest] - value > reversal:
            if direction > 0:
                points.append(highest)
            direction, lowest = -1, index
        elif direction <= 0 and value - yaw[lowest] > reversal:
            if direction < 0:
                points.append(lowest)
            direction, highest = 1, index
    points.append(len(yaw) - 1)
    return points
