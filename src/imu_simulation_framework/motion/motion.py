r"""The true motion of a rigid body: what every source of motion delivers and every sensor takes.

Two frames: the world, x east, y north, z up (REP-103), taken as inertial; and the body's own axes,
x forward, y left, z up. An orientation leads from the body to the world: it turns a vector given
in the body's axes into the same vector in the world's. With R that rotation, r the position, v the
velocity, :math:`\omega` the angular velocity in the body's axes and g the gravity,

.. math:: \dot r = v, \quad \dot R = R [\omega]_\times, \quad f = R^T (\dot v + g e_z)

(Groves: Principles of GNSS, Inertial, and Multisensor Integrated Navigation Systems, chapters 2
and 5): f is the specific force, which is what an accelerometer feels, +g on z at rest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.interpolate import CubicSpline
from scipy.spatial.transform import Rotation

from imu_simulation_framework.angles import roll_pitch_yaw_from_quaternion, turns, unwrap
from imu_simulation_framework.columns import GROUND_TRUTH
from imu_simulation_framework.constants import WORLD_GRAVITY
from imu_simulation_framework.errors import MotionError
from imu_simulation_framework.motion.kinematics import (
    angular_velocity_at_knots,
    angular_velocity_of,
    checked_poses,
    quaternion_spline,
    unit,
)
from imu_simulation_framework.motion.sampled import SampledMotion


@dataclass(frozen=True)
class Motion(SampledMotion):
    """True motion of one point of a rigid body, sampled; n samples.

    Parameters
    ----------
    time : ndarray, shape (n,)
        Strictly increasing [s].
    position : ndarray, shape (n, 3)
        Of the body's origin in the world [m].
    orientation : ndarray, shape (n, 4)
        From the body to the world; quaternions x, y, z, w of length one.
    velocity : ndarray, shape (n, 3)
        Of the body's origin, in the world's axes [m/s].
    angular_velocity : ndarray, shape (n, 3)
        Of the body against the world, in the body's axes [rad/s].
    specific_force : ndarray, shape (n, 3)
        At the body's origin, in the body's axes [m/s^2].
    gravity : float
        That of the world, downwards [m/s^2].

    Raises
    ------
    MotionError
        Shapes do not fit, a number is not finite, time does not increase, or there is no sample.
    """

    time: np.ndarray
    position: np.ndarray
    orientation: np.ndarray
    velocity: np.ndarray
    angular_velocity: np.ndarray
    specific_force: np.ndarray
    gravity: float = WORLD_GRAVITY

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

        Between them position and quaternion follow cubic splines. Poses with noise must be
        smoothed before, as velocities and forces are their derivatives.

        Parameters
        ----------
        time : array_like, shape (n,)
            At least three, strictly increasing [s].
        position : array_like, shape (n, 3)
            [m]
        orientation : array_like, shape (n, 4)
            From the body to the world; quaternions x, y, z, w of any length but zero.
        gravity : float
            [m/s^2]
        at : array_like, shape (m,), optional
            Times of the motion's samples, from the first pose to the last [s]; by default those of
            the poses.

        Raises
        ------
        MotionError
            As for the class, or there are too few poses.
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

        The specific force comes from central differences of the velocity.

        Parameters
        ----------
        time, position, orientation, velocity, angular_velocity : array_like
            As for the class.
        gravity : float
            [m/s^2]

        Raises
        ------
        MotionError
            As for the class, or there are less than two samples.
        """
        time, velocity = np.asarray(time, dtype=float), np.asarray(velocity, dtype=float)
        if len(time) < 2 or velocity.shape != (len(time), 3):
            raise MotionError(
                f"velocities have the shape {velocity.shape} for {len(time)} times, expected (n, 3)"
                " for n times, at least two"
            )
        felt = np.gradient(velocity, time, axis=0) + np.array([0.0, 0.0, gravity])
        force = Rotation.from_quat(orientation).inv().apply(felt)
        return cls(
            time,
            np.asarray(position, dtype=float),
            np.asarray(orientation, dtype=float),
            velocity,
            np.asarray(angular_velocity, dtype=float),
            force,
            gravity,
        )

    @property
    def yaw(self) -> np.ndarray:
        """Rotation about the vertical, unwrapped, (n,) [rad]."""
        return unwrap(roll_pitch_yaw_from_quaternion(self.orientation)[:, 2])

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
        r"""Return angular velocity and specific force as means since the sample before.

        It is what an IMU that integrates internally delivers: their sums lead from each sample's
        orientation and velocity to the next one's. The mean angular velocity is the rotation over
        the period; the mean specific force is the change of velocity over it, less gravity; in
        the body's axes :math:`f = \dot v + \omega \times v + g R^T e_z`, its mean taken by the
        trapezoidal rule. The first sample, before which there is none, is that of its instant.

        Returns
        -------
        angular_velocity : ndarray, shape (n, 3)
            [rad/s]
        specific_force : ndarray, shape (n, 3)
            [m/s^2]
        """
        step = np.diff(self.time)[:, np.newaxis]
        to_body = Rotation.from_quat(self.orientation).inv()
        rate, force = self.angular_velocity.copy(), self.specific_force.copy()
        rate[1:] = turns(self.orientation[:-1], self.orientation[1:]) / step
        velocity = to_body.apply(self.velocity)
        steady = np.cross(self.angular_velocity, velocity) + self.gravity * to_body.apply(
            (0.0, 0.0, 1.0)
        )
        force[1:] = np.diff(velocity, axis=0) / step + 0.5 * (steady[1:] + steady[:-1])
        return rate, force

    def mounted(
        self,
        lever_arm: ArrayLike = (0.0, 0.0, 0.0),
        rotation: Rotation | ArrayLike | None = None,
    ) -> Motion:
        r"""Return the motion of what is mounted on the body, at another place or turned.

        With the lever arm l and the mounting M, both possibly over time, in the body's axes,

        .. math::

            r' = r + R l, \quad v' = v + R (\omega \times l + \dot l), \quad
            \omega' = M^T \omega + \omega_M,

            f' = M^T (f + \dot \omega \times l + \omega \times (\omega \times l)
            + 2 \omega \times \dot l + \ddot l).

        Derivatives are those of cubic splines through the samples.

        Parameters
        ----------
        lever_arm : array_like, shape (3,) or (n, 3)
            Place of the mounted frame's origin in the body's axes [m].
        rotation : scipy.spatial.transform.Rotation or array_like, optional
            From the mounted frame to the body, one or n: a rotation, or quaternions x, y, z, w;
            by default the two have the same axes.

        Raises
        ------
        MotionError
            There is neither one nor as many as samples; or a time-varying mounting, or a lever
            arm on a turning body, has less than three samples.
        """
        arm, mounting = self._mounting(lever_arm, rotation)
        arm_rate, arm_acceleration = self._arm_derivatives(arm)
        rate, force = self.angular_velocity, self.specific_force
        body = Rotation.from_quat(self.orientation)
        velocity_of_arm = np.cross(rate, arm) + arm_rate
        if np.any(arm):
            force = (
                force
                + np.cross(self._derivative(rate), arm)
                + np.cross(rate, velocity_of_arm + arm_rate)
                + arm_acceleration
            )
        to_mounted = mounting.inv()
        mounted_rate = to_mounted.apply(rate)
        if not mounting.single:
            self._require_samples()
            turning = quaternion_spline(self.time, mounting.as_quat())
            mounted_rate = mounted_rate + angular_velocity_at_knots(turning)
        return Motion(
            self.time,
            self.position + body.apply(arm),
            (body * mounting).as_quat(),
            self.velocity + body.apply(velocity_of_arm),
            mounted_rate,
            to_mounted.apply(force),
            self.gravity,
        )

    def _positions_at(self, times):
        return CubicSpline(self.time, self.position)(times)
