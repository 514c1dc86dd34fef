r"""Kinematics of the joints and links of a gimbal on a platform.

The kinematics follow equations 1 to 4 of the airborne simulator AGISim (Kazemi and Rohani
Sarvestani), link by link. Pan, tilt and roll rotate in this order, with lever arms between the
joints. C is the rotation from a link to the platform, :math:`\omega` and :math:`\alpha` are the
angular velocity and acceleration of the link relative to the platform in link axes, and l is the
position of the end of the link in platform axes. A joint about the axis e with the angle
:math:`\theta`, followed by the arm a, yields

.. math::

    C' = C R_e(\theta), \quad \omega' = R_e^T \omega + e \dot\theta, \quad
    \alpha' = R_e^T \alpha + (R_e^T \omega) \times e \dot\theta + e \ddot\theta,

    l' = l + C' a, \quad \dot l' = \dot l + C' (\omega' \times a), \quad
    \ddot l' = \ddot l + C' (\alpha' \times a + \omega' \times (\omega' \times a)).

AGISim computes the rates of the links from differences between consecutive orientations (its
equations 5 to 8), which lag by half a step. Here the rates and accelerations of the joints are
known, so that the result is exact at each sample.

AGISim uses forward, right, down axes; this package uses forward, left, up axes. Pan and tilt
therefore have the opposite sign in AGISim, and roll has the same sign.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Union

import numpy as np
import pandas as pd
from scipy.spatial.transform import Rotation

from ...core.checks import Axes, check_numbers
from ...core.errors import ConfigurationError, MotionError
from ...core.settings import Settings, setting
from ...motion.earth import ecef_of
from ...motion.earth_motion import EarthMotion
from ...motion.motion import Motion, Mount, checked_samples

JOINTS = ("pan", "tilt", "roll")
"""Joints from the platform to the IMU, with the rotation axes z (up), y (left) and x (forward) of
their links: a positive pan turns to the left, a positive tilt turns the nose down."""


@dataclass(frozen=True)
class JointMotion:
    """Joint angles over time, in the order pan, tilt, roll.

    Attributes
    ----------
    time : ndarray, shape (n,)
        Strictly increasing times [s].
    angle, rate, acceleration : ndarray, shape (n, 3)
        Angles [rad], rates [rad/s] and accelerations [rad/s^2].

    Raises
    ------
    MotionError
        Shapes do not match, a number is not finite, or the time does not increase.
    """

    time: np.ndarray
    angle: np.ndarray
    rate: np.ndarray
    acceleration: np.ndarray

    def __post_init__(self) -> None:
        columns = {name: (getattr(self, name), 3) for name in ("angle", "rate", "acceleration")}
        vars(self).update(checked_samples("the joints'", self.time, columns))

    def __len__(self) -> int:
        return len(self.time)

    def table(self) -> pd.DataFrame:
        """Return the angles as a table.

        Returns
        -------
        DataFrame
            Columns pan, tilt, roll [rad], index ``time`` [s].
        """
        return pd.DataFrame(
            self.angle, columns=list(JOINTS), index=pd.Index(self.time, name="time")
        )


AnyMotion = Union[Motion, EarthMotion]


def world_to_inertial(motion: AnyMotion) -> Rotation:
    """Return the rotation from world axes to inertial axes for each sample.

    Parameters
    ----------
    motion : Motion or EarthMotion
        Motion with n samples.

    Returns
    -------
    Rotation
    """
    return Rotation.from_rotvec(np.outer(motion.time - motion.time[0], motion.world_rate))


def place_on_earth(
    motion: AnyMotion, latitude: float, longitude: float, height: float
) -> np.ndarray:
    """Return the position of a point on the Earth in the world frame of a motion.

    Parameters
    ----------
    motion : EarthMotion
        Motion whose world frame is ECEF.
    latitude, longitude : float
        WGS 84 coordinates [deg].
    height : float
        Height above the ellipsoid [m].

    Returns
    -------
    ndarray, shape (3,)
        Position [m].

    Raises
    ------
    ConfigurationError
        The motion is not on the Earth.
    """
    if isinstance(motion, EarthMotion):
        return ecef_of(np.radians(latitude), np.radians(longitude), height)
    raise ConfigurationError(
        f"the gimbal points at latitude {latitude:g} and longitude {longitude:g}, which requires a "
        "motion on the Earth; specify the point as ahead, left, up"
    )


_ZERO = (0.0, 0.0, 0.0)
_LONGEST_ARM = 100.0  # m
_AXES = (2, 1, 0)


@dataclass(frozen=True)
class GimbalGeometry(Settings):
    """Mounting and arms of a gimbal, with each arm in the axes of its link.

    Attributes
    ----------
    body_to_pan : tuple of float
        Position of the gimbal on the platform in platform axes [m].
    base : tuple of float
        Roll, pitch and yaw of the gimbal base on the platform [rad].
    pan_to_tilt, tilt_to_roll, roll_to_imu : tuple of float
        Arms [m].
    """

    body_to_pan: Axes = setting(_ZERO, check_numbers, count=3, maximum=_LONGEST_ARM, unit="m")
    base: Axes = setting(_ZERO, check_numbers, count=3, maximum=2.0 * np.pi, unit="rad")
    pan_to_tilt: Axes = setting(_ZERO, check_numbers, count=3, maximum=_LONGEST_ARM, unit="m")
    tilt_to_roll: Axes = setting(_ZERO, check_numbers, count=3, maximum=_LONGEST_ARM, unit="m")
    roll_to_imu: Axes = setting(_ZERO, check_numbers, count=3, maximum=_LONGEST_ARM, unit="m")

    @property
    def base_rotation(self) -> Rotation:
        """Rotation from the gimbal base to the platform."""
        roll, pitch, yaw = self.base
        return Rotation.from_euler("ZYX", [yaw, pitch, roll])

    def mount(self, joints: JointMotion) -> Mount:
        """Return position, orientation and motion of the IMU relative to the platform.

        Parameters
        ----------
        joints : JointMotion
            Joint angles and their derivatives.

        Returns
        -------
        Mount
        """
        count = len(joints)
        rotation = np.tile(self.base_rotation.as_matrix(), (count, 1, 1))
        rate, angular_acceleration = np.zeros((count, 3)), np.zeros((count, 3))
        position = np.tile(np.array(self.body_to_pan), (count, 1))
        velocity, acceleration = np.zeros((count, 3)), np.zeros((count, 3))
        arms = self.pan_to_tilt, self.tilt_to_roll, self.roll_to_imu
        for number, (axis, arm) in enumerate(zip(_AXES, arms)):
            step = _axis_rotation(axis, joints.angle[:, number])
            rotation = rotation @ step
            parent_rate = _apply_inverse(step, rate)
            joint_rate = np.zeros((count, 3))
            joint_rate[:, axis] = joints.rate[:, number]
            rate = parent_rate + joint_rate
            angular_acceleration = _apply_inverse(step, angular_acceleration) + np.cross(
                parent_rate, joint_rate
            )
            angular_acceleration[:, axis] += joints.acceleration[:, number]
            if not any(arm):
                continue
            arm_velocity = np.cross(rate, arm)
            position += rotation @ np.array(arm)
            velocity += _apply(rotation, arm_velocity)
            acceleration += _apply(
                rotation, np.cross(angular_acceleration, arm) + np.cross(rate, arm_velocity)
            )
        return Mount(position, velocity, acceleration, Rotation.from_matrix(rotation), rate)

    def place(self, angle: np.ndarray) -> np.ndarray:
        """Return the position of the IMU on the platform.

        Parameters
        ----------
        angle : ndarray, shape (n, 3)
            Angles of pan, tilt and roll [rad].

        Returns
        -------
        ndarray, shape (n, 3)
            Positions in the axes of the platform [m].
        """
        zeros, count = np.zeros_like(angle), np.arange(float(len(angle)))
        return self.mount(JointMotion(count, angle, zeros, zeros)).lever_arm

    def carry(self, motion: AnyMotion, joints: JointMotion) -> AnyMotion:
        """Return the motion of the IMU on a moving platform.

        The result equals :meth:`.SampledMotion.mounted`, but without numerical derivatives, except
        for the angular acceleration of the platform, which is computed with a cubic spline.

        Parameters
        ----------
        motion : Motion or EarthMotion
            Motion of the platform.
        joints : JointMotion
            Joint angles at the times of the motion.

        Returns
        -------
        Motion or EarthMotion

        Raises
        ------
        MotionError
            The times differ, or there are fewer than three.
        """
        if len(joints) != len(motion.time) or np.any(joints.time != motion.time):
            raise MotionError("the gimbal's joints and the motion must have the same times")
        motion.require_derivatives()
        return motion.carrying(self.mount(joints))

    def links(self, angle: np.ndarray) -> np.ndarray:
        """Return the poses of pan, tilt, roll and IMU, each relative to its parent.

        Parameters
        ----------
        angle : ndarray, shape (n, 3)
            Angles of pan, tilt and roll [rad].

        Returns
        -------
        ndarray, shape (n, 4, 7)
            Positions [m] and quaternions x, y, z, w.
        """
        pan, tilt, roll = (
            Rotation.from_euler(axis, values) for axis, values in zip("ZYX", angle.T)
        )
        rotations = self.base_rotation * pan, tilt, roll, Rotation.identity(len(angle))
        arms = self.body_to_pan, self.pan_to_tilt, self.tilt_to_roll, self.roll_to_imu
        poses = [
            np.hstack([np.tile(arm, (len(angle), 1)), rotation.as_quat()])
            for arm, rotation in zip(arms, rotations)
        ]
        return np.stack(poses, axis=1)


def _axis_rotation(axis: int, angle: np.ndarray) -> np.ndarray:
    """Return the matrices (n, 3, 3) of rotations about a coordinate axis."""
    cosine, sine = np.cos(angle), np.sin(angle)
    matrices = np.zeros((len(angle), 3, 3))
    second, third = (axis + 1) % 3, (axis + 2) % 3
    matrices[:, axis, axis] = 1.0
    matrices[:, second, second] = matrices[:, third, third] = cosine
    matrices[:, third, second], matrices[:, second, third] = sine, -sine
    return matrices


def _apply(matrices: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    return np.einsum("nij,nj->ni", matrices, vectors)


def _apply_inverse(matrices: np.ndarray, vectors: np.ndarray) -> Any:
    return np.einsum("nji,nj->ni", matrices, vectors)
