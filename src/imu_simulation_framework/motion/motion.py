r"""The true motion of a rigid body: what every source of motion delivers and every sensor takes.

Two frames: the world, x east, y north, z up (REP-103), taken as inertial; and the body's own axes,
x forward, y left, z up. An orientation leads from the body to the world: it turns a vector given
in the body's axes into the same vector in the world's. With R that rotation, r the position, v the
velocity, :math:`\omega` the angular velocity in the body's axes and g the gravity,

.. math:: \dot r = v, \quad \dot R = R [\omega]_\times, \quad f = R^T (\dot v + g e_z)

(Groves: Principles of GNSS, Inertial, and Multisensor Integrated Navigation Systems, chapters 2
and 5): f is the specific force, which is what an accelerometer feels, +g on z at rest. The
kinematics of poses are here, too: splines of orientations, angular velocities, turns.
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
_UNEVEN = 1e-6
"""Share of a period by which even time steps may differ: stamps are rounded to nanoseconds."""


class Mount(NamedTuple):
    """Where something is on a body that it moves on; n samples, or one for all.

    ``lever_arm``, ``lever_arm_rate``, ``lever_arm_acceleration`` (n, 3): its place in the body's
    axes, and the derivatives there [m, m/s, m/s^2]. ``rotation``: from its axes to the body's.
    ``turning`` (n, 3): its angular velocity against the body, in its own axes [rad/s]; None for
    what does not turn there.
    """

    lever_arm: np.ndarray
    lever_arm_rate: np.ndarray
    lever_arm_acceleration: np.ndarray
    rotation: Rotation
    turning: np.ndarray | None


@dataclass(frozen=True, eq=False)
class SampledMotion(ABC):
    """What :class:`.Motion` and :class:`.EarthMotion` have in common."""

    time: np.ndarray
    position: np.ndarray
    orientation: np.ndarray
    velocity: np.ndarray
    angular_velocity: np.ndarray
    specific_force: np.ndarray

    world_rate = (0.0, 0.0, 0.0)
    """Angular velocity of the world against inertial space [rad/s]."""

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

        Raises MotionError if it is not the same everywhere, or there are less than two samples.
        """
        if len(self.time) < 2:
            raise MotionError("a motion of one sample has no period; two are needed")
        period = self.duration / (len(self.time) - 1)
        even = self.time[0] + period * np.arange(len(self.time))
        off = float(np.max(np.abs(self.time - even)))
        if off > _UNEVEN * period + 1e-9:
            raise MotionError(
                f"the motion's samples are up to {off:.3g} s away from even steps of "
                f"{period:g} s; resample it with resampled(rate)"
            )
        return period

    def resampled(self: Sampled, rate: float) -> Sampled:
        """Return the motion at even times at a rate [Hz], from the first to at most the last.

        Raises MotionError if the rate is not positive, or the motion has less than three samples.
        """
        if not (np.isfinite(rate) and rate > 0.0):
            raise MotionError(f"a motion's rate is {rate} Hz, but it must be positive")
        self.require_derivatives()
        time = self.time[0] + np.arange(int(self.duration * rate + 1e-6) + 1) / rate
        # The last one may be beyond the end by a rounding.
        within = np.minimum(time, self.time[-1])
        values = {name: CubicSpline(self.time, getattr(self, name))(within) for name in _VECTORS}
        return replace(
            self,
            time=time,
            position=self._positions_at(within),
            orientation=unit(quaternion_spline(self.time, self.orientation)(within)),
            **values,
        )

    @property
    def yaw(self) -> np.ndarray:
        """Rotation about the vertical, from east towards north, unwrapped, (n,) [rad]."""
        return unwrap(roll_pitch_yaw_from_quaternion(self.local_orientation)[:, 2])

    @property
    @abstractmethod
    def local_orientation(self) -> np.ndarray:
        """From the body to east, north, up where it is; quaternions x, y, z, w, (n, 4)."""

    @abstractmethod
    def level_axes(self) -> Rotation:
        """Return the rotations, one per sample, from east, north, up where it is to the world."""

    def rate_against_ground(self) -> np.ndarray:
        """Return the angular velocity against the ground, in the body's axes, (n, 3) [rad/s]."""
        to_body = Rotation.from_quat(self.orientation).inv()
        return self.angular_velocity - to_body.apply(self.world_rate)

    @abstractmethod
    def _at_first_pose(self) -> tuple[np.ndarray, np.ndarray]:
        """Return angular velocity and specific force (3,) of what stands as the motion begins."""

    def standing_before(self: Sampled, samples: int) -> Sampled:
        """Return the motion with a standstill before it, in its first pose.

        ``samples``: how many, at the motion's period; the time begins that much earlier. Raises
        MotionError if the motion is not evenly sampled.
        """
        still = (self.position[0], self.orientation[0], np.zeros(3), *self._at_first_pose())
        before = self.time[0] - self.period * np.arange(samples, 0, -1)
        values = {
            name: np.vstack([np.tile(value, (samples, 1)), getattr(self, name)])
            for name, value in zip(_WIDTHS, still)
        }
        return replace(self, time=np.concatenate([before, self.time]), **values)

    @abstractmethod
    def _positions_at(self, times):
        """Return the positions (n, 3) at times within the motion (n,)."""

    def mounted(
        self: Sampled,
        lever_arm: ArrayLike = (0.0, 0.0, 0.0),
        rotation: Rotation | ArrayLike | None = None,
    ) -> Sampled:
        r"""Return the motion of what is mounted on the body, at another place or turned.

        With the lever arm l and the mounting M, both possibly over time, in the body's axes, and
        the world's :math:`\omega_w` and gravitation :math:`\gamma` that :class:`.EarthMotion` has,

        .. math::

            r' = r + R l, \quad v' = v + R ((\omega - R^T \omega_w) \times l + \dot l), \quad
            \omega' = M^T \omega + \omega_M,

            f' = M^T (f + \dot \omega \times l + \omega \times (\omega \times l
            + 2 \dot l) + \ddot l - R^T (\gamma(r') - \gamma(r))).

        Derivatives are those of cubic splines through the samples.

        ``lever_arm`` (3,) or (n, 3): place of the mounted frame's origin in the body's axes [m].
        ``rotation`` (scipy.spatial.transform.Rotation or array_like): from the mounted frame to the
        body, one or n: a rotation, or quaternions x, y, z, w; by default the two have the same
        axes. Raises MotionError if there is neither one nor as many as samples; or a time-varying
        mounting, or a lever arm on a turning body, has less than three samples.
        """
        count = len(self.time)
        mounting = Rotation.identity() if rotation is None else rotation
        if not isinstance(mounting, Rotation):
            mounting = Rotation.from_quat(mounting)
        arm = np.asarray(lever_arm, dtype=float)
        if arm.shape not in ((3,), (count, 3)):
            raise MotionError(f"a lever arm has the shape {arm.shape}, expected (3,) or (n, 3)")
        if not (mounting.single or len(mounting) == count):
            raise MotionError(f"there are {len(mounting)} mountings, expected 1 or {count}")
        speed = acceleration = np.zeros(3)
        if arm.ndim > 1:
            # Of the fourth power of the step; a spline's own second derivative is of the second.
            speed = self._derivative(arm)
            acceleration = self._derivative(speed)
        turning = None
        if not mounting.single:
            self.require_derivatives()
            turning = angular_velocity_at_knots(quaternion_spline(self.time, mounting.as_quat()))
        return self.carrying(Mount(arm, speed, acceleration, mounting, turning))

    def carrying(self: Sampled, mount: Mount) -> Sampled:
        """Return the motion of what is at a :class:`Mount`, by the equations of :meth:`mounted`."""
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
        """Return what of gravitation (n, 3) differs between places (n, 3) [m/s^2]."""
        return np.zeros_like(position)

    def _derivative(self, values):
        """Return the derivative by time of a cubic spline through (n, 3), at the samples."""
        self.require_derivatives()
        return slopes(CubicSpline(self.time, values))

    def require_derivatives(self) -> None:
        """Raise MotionError where there are less than three samples."""
        if len(self.time) < 3:
            raise MotionError(
                f"a motion of {len(self.time)} samples has no derivatives; three are needed"
            )


@dataclass(frozen=True, eq=False)
class Motion(SampledMotion):
    """True motion of one point of a rigid body, sampled; n samples.

    ``time`` (n,): strictly increasing [s]. ``position`` (n, 3): of the body's origin in the world
    [m]. ``orientation`` (n, 4): from the body to the world; quaternions x, y, z, w of length one.
    ``velocity`` (n, 3): of the body's origin, in the world's axes [m/s]. ``angular_velocity`` (n,
    3): of the body against the world, in the body's axes [rad/s]. ``specific_force`` (n, 3): at the
    body's origin, in the body's axes [m/s^2]. ``gravity``: that of the world, downwards [m/s^2].
    Raises MotionError if shapes do not fit, a number is not finite, time does not increase, or
    there is no sample.
    """

    gravity: float = WORLD_GRAVITY

    def __post_init__(self) -> None:
        super().__post_init__()
        if not np.isfinite(self.gravity):
            raise MotionError("a motion's gravity holds a value that is not finite")

    @classmethod
    def from_poses(
        cls,
        time: ArrayLike,
        position: ArrayLike,
        orientation: ArrayLike,
        gravity: float = WORLD_GRAVITY,
        at: ArrayLike | None = None,
    ) -> Motion:
        """Return the motion through given poses.

            smoothed before, as velocities and forces are their derivatives.

        ``time`` (n,): at least three, strictly increasing [s]. ``position`` (n, 3) [m].
        ``orientation`` (n, 4): from the body to the world; quaternions x, y, z, w of any length but
        zero. ``gravity`` [m/s^2]. ``at`` (m,): times of the motion's samples, from the first pose
        to the last [s]; by default those of the poses. Raises MotionError as for the class, or
        there are too few poses.
        """
        given, positions, quaternions = checked_poses(time, position, orientation)
        times = given if at is None else np.asarray(at, dtype=float)
        path = CubicSpline(given, positions)
        turning = quaternion_spline(given, quaternions)
        orientations = unit(turning(times))
        felt = path(times, 2) + np.array([0.0, 0.0, gravity])
        return cls(
            times,
            path(times),
            orientations,
            path(times, 1),
            angular_velocity_of(turning, times),
            Rotation.from_quat(orientations).inv().apply(felt),
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
        """Return the motion of a body whose velocities are known, as a simulator knows them.

        The specific force comes from central differences of the velocity; parameters and errors are
        those of the class; two samples are needed.
        """
        time, velocity = np.asarray(time, dtype=float), np.asarray(velocity, dtype=float)
        if len(time) < 2 or velocity.shape != (len(time), 3):
            raise MotionError(
                f"velocities have the shape {velocity.shape} for {len(time)} times, expected (n, 3)"
                " for n times, at least two"
            )
        felt = np.gradient(velocity, time, axis=0) + np.array([0.0, 0.0, gravity])
        force = Rotation.from_quat(orientation).inv().apply(felt)
        position, orientation, rate = map(np.asarray, (position, orientation, angular_velocity))
        return cls(time, position, orientation, velocity, rate, force, gravity)

    @property
    def local_orientation(self) -> np.ndarray:
        return self.orientation

    def level_axes(self) -> Rotation:
        return Rotation.identity(len(self.time))

    def local(self) -> Motion:
        """Return the motion itself; :meth:`.EarthMotion.local` one in a flat world."""
        return self

    def _at_first_pose(self):
        to_body = Rotation.from_quat(self.orientation[0]).inv()
        return np.zeros(3), to_body.apply((0.0, 0.0, self.gravity))

    def table(self) -> pd.DataFrame:
        """Return the motion as a table of the kind GroundTruth."""
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
        r"""Return angular velocity and specific force, (n, 3), as means since the sample before.

        It is what an IMU that integrates internally delivers: their sums lead from each sample's
        orientation and velocity to the next one's. The mean angular velocity [rad/s] is the
        rotation over the period; the mean specific force [m/s^2] is that of
        :math:`f = \dot v + \omega \times v + g R^T e_z` in the body's axes, by the trapezoidal
        rule. The first sample, before which there is none, is that of its instant.
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


def checked_samples(whose, time, columns) -> dict[str, np.ndarray]:
    """Return times (n,) and other columns, name -> values and width, as arrays of floats by name.

    Raises MotionError if there is none, shapes do not fit, a number is not finite, or time does not
    increase.
    """
    time = np.asarray(time, dtype=float)
    if time.ndim != 1 or len(time) == 0:
        raise MotionError(f"{whose} time has the shape {time.shape}, expected (n,), n >= 1")
    arrays = {"time": time}
    for name, (values, width) in columns.items():
        arrays[name] = values = np.asarray(values, dtype=float)
        if values.shape != (len(time), width):
            raise MotionError(
                f"{whose} {name} has the shape {values.shape}, expected {(len(time), width)} as "
                f"there are {len(time)} times"
            )
    for name, values in arrays.items():
        if not np.all(np.isfinite(values)):
            raise MotionError(f"{whose} {name} holds a value that is not finite")
    late = np.flatnonzero(np.diff(time) <= 0.0)
    if len(late):
        before, after = time[late[0] : late[0] + 2]
        raise MotionError(f"{whose} time must increase, but {after:g} s follows {before:g} s")
    return arrays


def checked_poses(time, position, orientation) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return poses, times (n,), positions (n, 3) and quaternions (n, 4), as arrays of floats.

    Raises MotionError if there are less than three, shapes do not fit, a number is not finite, time
    does not increase, or a quaternion is zero.
    """
    if np.size(time) < 3:
        raise MotionError(f"there are {np.size(time)} poses; a motion needs at least three")
    columns = {"position": (position, 3), "orientation": (orientation, 4)}
    time, position, quaternions = checked_samples("the poses'", time, columns).values()
    if not np.all(np.any(quaternions != 0.0, axis=1)):
        raise MotionError("an orientation is a quaternion of length zero")
    return time, position, quaternions


def quaternion_spline(time, quaternions) -> CubicSpline:
    """Return a cubic spline through unit quaternions, the nearer of the two that mean the same.

    The ``quaternions`` (n, 4) are of any length but zero, the times (n,) strictly increasing [s].
    """
    quaternions = unit(quaternions)
    turned_over = np.sum(quaternions[1:] * quaternions[:-1], axis=1) < 0.0
    signs = np.concatenate([[1.0], np.where(turned_over, -1.0, 1.0)]).cumprod()
    return CubicSpline(time, signs[:, np.newaxis] * quaternions)


def angular_velocity_of(turning: CubicSpline, time) -> np.ndarray:
    """Return the angular velocity (n, 3) in the turning axes [rad/s]: the vector of 2 q^-1 dq/dt.

    q is of length one only where it was given; its inverse has the square of that. ``turning`` is
    from :func:`quaternion_spline`, the times (n,) are in s.
    """
    return _angular_velocity(turning(time), turning(time, 1))


def angular_velocity_at_knots(turning: CubicSpline) -> np.ndarray:
    """Return :func:`angular_velocity_of` at the times of the spline's own values, faster."""
    return _angular_velocity(np.vstack([turning.c[-1], turning(turning.x[-1:])]), slopes(turning))


def slopes(spline: CubicSpline) -> np.ndarray:
    """Return a spline's derivative at the times of its own values, (n, ...); without evaluating."""
    return np.concatenate([spline.c[-2], spline(spline.x[-1:], 1)])


def _angular_velocity(value, change):
    vector, scalar = value[:, :3], value[:, 3:]
    product = scalar * change[:, :3] - change[:, 3:] * vector - np.cross(vector, change[:, :3])
    return 2.0 * product / np.sum(value**2, axis=1, keepdims=True)


def unit(vectors: np.ndarray) -> np.ndarray:
    """Return vectors (n, 3), or quaternions (n, 4), of length one."""
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def composed(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return products of quaternions (n, 4) or (4,); for many, far faster than scipy's Rotation."""
    return np.stack(quaternion_product(*first.T, *second.T), axis=-1)


REVERSAL = math.radians(3.0)
"""Turning back by less than that [rad] may be noise of any yaw, and counts as none."""


def absolute_turn(yaw: np.ndarray, reversal: float = REVERSAL) -> np.ndarray:
    """Return the turn since the start (n,), left and right ones added [rad], of an unwrapped yaw.

    The sum of a noisy yaw's steps would grow with each sample; here turning counts from one turning
    point to the next, and ``reversal`` is the smallest turn back that makes one [rad].
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
    """Return indices of the first sample, each extreme that a reversal leaves, and the last one."""
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
