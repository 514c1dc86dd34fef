r"""Where a gimbal's joints and links are on its platform, and how they move.

Equations 1 to 4 of the airborne simulator AGISim (Kazemi and Rohani Sarvestani), link by link: pan,
tilt and roll turn one after the other, and from joint to joint there may be lever arms. With C the
rotation from a link to the platform, :math:`\omega` and :math:`\alpha` the link's angular velocity
and acceleration against the platform in its own axes, l the place of the link's end in the
platform's, a joint about the axis e with the angle :math:`\theta` and an arm a behind it make

.. math::

    C' = C R_e(\theta), \quad \omega' = R_e^T \omega + e \dot\theta, \quad
    \alpha' = R_e^T \alpha + (R_e^T \omega) \times e \dot\theta + e \ddot\theta,

    l' = l + C' a, \quad \dot l' = \dot l + C' (\omega' \times a), \quad
    \ddot l' = \ddot l + C' (\alpha' \times a + \omega' \times (\omega' \times a)).

AGISim takes the links' rates from two orientations in turn (its equations 5 to 8); such a rate is
that of the middle of a step and lags by half of it. Here rates and accelerations of the joints are
given, and all is exact at the samples' instants.

AGISim's axes are forward, right, down, ours forward, left, up: its pan and tilt are the negatives
of ours, its roll is ours.
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
"""From the platform to the IMU; about z (up), y (left) and x (forward) of the link that each turns,
right-handed: a positive pan turns to the left, a positive tilt turns the nose down."""


@dataclass(frozen=True)
class JointMotion:
    """Angles of the joints over time; columns are pan, tilt, roll.

    ``time`` (n,): strictly increasing [s]. ``angle``, ``rate``, ``acceleration`` (n, 3) [rad,
    rad/s, rad/s^2]. Raises MotionError if shapes do not fit, a number is not finite, or time does
    not increase.
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
        """Return the angles as a table with columns pan, tilt, roll [rad], indexed by time [s]."""
        return pd.DataFrame(
            self.angle, columns=list(JOINTS), index=pd.Index(self.time, name="time")
        )


AnyMotion = Union[Motion, EarthMotion]


def world_to_inertial(motion: AnyMotion) -> Rotation:
    """Return the rotations, one per sample, from the world to axes that do not turn with it."""
    return Rotation.from_rotvec(np.outer(motion.time - motion.time[0], motion.world_rate))


def place_on_earth(
    motion: AnyMotion, latitude: float, longitude: float, height: float
) -> np.ndarray:
    """Return a place in the motion's world, (3,) [m].

    ``latitude``, ``longitude`` [deg]. ``height`` [m]. Raises ConfigurationError if the motion's
    world has no latitude and longitude.
    """
    if isinstance(motion, EarthMotion):
        return ecef_of(np.radians(latitude), np.radians(longitude), height)
    raise ConfigurationError(
        f"the gimbal points at latitude {latitude:g} and longitude {longitude:g}, but the motion "
        "is not one on the Earth; give the point as ahead, left, up."
    )


_ZERO = (0.0, 0.0, 0.0)
_LONGEST_ARM = 100.0  # m
_AXES = (2, 1, 0)


@dataclass(frozen=True)
class GimbalGeometry(Settings):
    """Arms of a gimbal, each in the axes of the link that it belongs to; by default there are none.

    ``body_to_pan`` (3 float): from the platform's origin to the gimbal, in the platform's axes [m].
    ``base`` (3 float): roll, pitch and yaw of the gimbal's base on the platform [rad].
    ``pan_to_tilt``, ``tilt_to_roll``, ``roll_to_imu`` (3 float) [m].
    """

    body_to_pan: Axes = setting(_ZERO, check_numbers, count=3, maximum=_LONGEST_ARM)
    base: Axes = setting(_ZERO, check_numbers, count=3, maximum=2.0 * np.pi)
    pan_to_tilt: Axes = setting(_ZERO, check_numbers, count=3, maximum=_LONGEST_ARM)
    tilt_to_roll: Axes = setting(_ZERO, check_numbers, count=3, maximum=_LONGEST_ARM)
    roll_to_imu: Axes = setting(_ZERO, check_numbers, count=3, maximum=_LONGEST_ARM)

    @property
    def base_rotation(self) -> Rotation:
        """From the gimbal's base to the platform."""
        roll, pitch, yaw = self.base
        return Rotation.from_euler("ZYX", [yaw, pitch, roll])

    def mount(self, joints: JointMotion) -> Mount:
        """Return where the IMU is on the platform while the joints move."""
        count = len(joints)
        turned = np.tile(self.base_rotation.as_matrix(), (count, 1, 1))
        rate, change = np.zeros((count, 3)), np.zeros((count, 3))
        place = np.tile(np.array(self.body_to_pan), (count, 1))
        speed, acceleration = np.zeros((count, 3)), np.zeros((count, 3))
        arms = self.pan_to_tilt, self.tilt_to_roll, self.roll_to_imu
        for number, (axis, arm) in enumerate(zip(_AXES, arms)):
            angle, own_rate = joints.angle[:, number], joints.rate[:, number]
            step = _turn(axis, angle)
            turned = turned @ step
            before = _back(step, rate)
            along = np.zeros((count, 3))
            along[:, axis] = own_rate
            rate = before + along
            change = _back(step, change) + np.cross(before, along)
            change[:, axis] += joints.acceleration[:, number]
            if not any(arm):
                continue
            swept = np.cross(rate, arm)
            place += turned @ np.array(arm)
            speed += _forth(turned, swept)
            acceleration += _forth(turned, np.cross(change, arm) + np.cross(rate, swept))
        return Mount(place, speed, acceleration, Rotation.from_matrix(turned), rate)

    def place(self, angle: np.ndarray) -> np.ndarray:
        """Return where the IMU is on the platform, (n, 3) [m], at angles (n, 3) [rad]."""
        still, count = np.zeros_like(angle), np.arange(float(len(angle)))
        return self.mount(JointMotion(count, angle, still, still)).lever_arm

    def carry(self, motion: AnyMotion, joints: JointMotion) -> AnyMotion:
        """Return the motion of the IMU on a platform; as :meth:`.SampledMotion.mounted`, but exact.

        The platform's angular acceleration alone is taken from a cubic spline through its samples.

        ``motion`` (Motion or EarthMotion): of the platform. ``joints`` (JointMotion): at the
        motion's times. Raises MotionError if the times are others, or there are less than three.
        """
        if len(joints) != len(motion.time) or np.any(joints.time != motion.time):
            raise MotionError("the gimbal's joints and the motion have different times")
        motion.require_derivatives()
        return motion.carrying(self.mount(joints))

    def links(self, angle: np.ndarray) -> np.ndarray:
        """Return the poses of pan, tilt, roll and imu, each on the one before it, (n, 4, 7).

        They are places [m] and quaternions x, y, z, w. ``angle`` (n, 3): pan, tilt, roll [rad].
        """
        pan, tilt, roll = (Rotation.from_euler(axis, one) for axis, one in zip("ZYX", angle.T))
        turns = self.base_rotation * pan, tilt, roll, Rotation.identity(len(angle))
        arms = self.body_to_pan, self.pan_to_tilt, self.tilt_to_roll, self.roll_to_imu
        places = (np.tile(arm, (len(angle), 1)) for arm in arms)
        poses = [np.hstack([place, turn.as_quat()]) for place, turn in zip(places, turns)]
        return np.stack(poses, axis=1)


def _turn(axis: int, angle: np.ndarray) -> np.ndarray:
    """Return matrices (n, 3, 3) of rotations about one of the axes."""
    cosine, sine = np.cos(angle), np.sin(angle)
    matrices = np.zeros((len(angle), 3, 3))
    second, third = (axis + 1) % 3, (axis + 2) % 3
    matrices[:, axis, axis] = 1.0
    matrices[:, second, second] = matrices[:, third, third] = cosine
    matrices[:, third, second], matrices[:, second, third] = sine, -sine
    return matrices


def _forth(matrices: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    return np.einsum("nij,nj->ni", matrices, vectors)


def _back(matrices: np.ndarray, vectors: np.ndarray) -> Any:
    return np.einsum("nji,nj->ni", matrices, vectors)
