r"""What a stabilised gimbal aims at, and how well its loop and its servos do.

The loop runs once per sample of the gyroscope, which is on the inner link, beside the camera. Its
attitude is the integral of the gyroscope's samples, :math:`\hat q_k = \hat q_{k-1} \exp(y_k T)`,
right at the beginning. With e the rotation vector from it to the target, in the inner link's axes,
:math:`\omega_t` the target's own rate since the sample before and J the matrix from the joints'
rates to the inner link's, the joints are asked for

.. math:: c_k = J^{-1} (\omega_{t,k} + K_p e_k + i_k), \quad i_{k+1} = i_k + K_i T e_k,
          \quad K_p = 2 \zeta \omega_n, \quad K_i = \omega_n^2,

within the servos' rates, until the next sample. While a servo is at a limit, i is what cancels the
platform's rate as gyroscope and joints tell it, :math:`J s - y`, so that it does not wind up. A
servo's rate s follows as a low-pass of first order, :math:`\dot s = \omega_s (c - s)`, integrated
exactly. So a platform's rate d leaves a rate of :math:`s^2 / (s^2 + K_p s + K_i) \, d`, were
there neither servo nor sampling; :func:`.residual_gain` has them, too.

The loop knows no more of its attitude than the gyroscope says, whose bias b therefore turns the
line of sight by b t. An outer loop (``aid_time``), as a tracker of images or a navigation filter is
one, leads :math:`\hat q` back to the true attitude as :math:`\exp(-t / \tau)`; what stays of a bias
is :math:`b \tau`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Union

from imu_simulation_framework.checked_values import (
    Axes,
    check_numbers,
    checked_choice,
    checked_number,
    checked_numbers,
)
from imu_simulation_framework.errors import ConfigurationError
from imu_simulation_framework.sentences import shown

BORESIGHTS = {"forward": (1.0, 0.0, 0.0), "down": (0.0, 0.0, -1.0)}
"""Where the camera on the inner link looks, in that link's axes. With ``down`` the joint that would
make the gimbal lock, tilt at 90 degrees, is far from where a surveying camera looks."""

NEAR_LOCK = 0.05
"""Least size of the cosine of the tilt by which rates are divided, 87 degrees; nearer to 90 degrees
pan and roll turn about the same axis, and no rates of theirs turn the link about the third."""


@dataclass(frozen=True)
class HeldAttitude:
    """An attitude in the local level, east, north, up, that is held.

    Parameters
    ----------
    roll, pitch : float
        [rad]
    yaw : float or None
        [rad]; None for the platform's in the first sample.

    Raises
    ------
    ConfigurationError
        A value is not what it must be; the sentence begins with its name.
    """

    roll: float = 0.0
    pitch: float = 0.0
    yaw: float | None = None

    def __post_init__(self) -> None:
        given = ("roll", "pitch") if self.yaw is None else ("roll", "pitch", "yaw")
        check_numbers(self, {name: {"maximum": 2.0 * math.pi} for name in given})


@dataclass(frozen=True)
class PointAhead:
    """A fixed point that is looked at, as seen from where the platform is in its first sample.

    Parameters
    ----------
    ahead, left, up : float
        Horizontally along the platform's heading, across it, and upwards [m].

    Raises
    ------
    ConfigurationError
        A value is not what it must be; the sentence begins with its name.
    """

    ahead: float = 0.0
    left: float = 0.0
    up: float = 0.0

    def __post_init__(self) -> None:
        check_numbers(self, {name: {"maximum": 1e7} for name in ("ahead", "left", "up")})


@dataclass(frozen=True)
class PointOnEarth:
    """A point of the Earth that is looked at.

    Parameters
    ----------
    latitude, longitude : float
        WGS 84 [deg].
    height : float
        Above the ellipsoid [m].

    Raises
    ------
    ConfigurationError
        A value is not what it must be; the sentence begins with its name.
    """

    latitude: float = 0.0
    longitude: float = 0.0
    height: float = 0.0

    def __post_init__(self) -> None:
        bounds = {"latitude": 90.0, "longitude": 360.0, "height": 1e7}
        check_numbers(self, {name: {"maximum": size} for name, size in bounds.items()})


Target = Union[HeldAttitude, PointAhead, PointOnEarth]


@dataclass(frozen=True)
class Stabilisation:
    r"""A loop around the gyroscope of the inner link.

    Parameters
    ----------
    target : HeldAttitude, PointAhead or PointOnEarth
    boresight : str
        Which axis of the inner link looks at a point, of :data:`BORESIGHTS`.
    bandwidth : float or None
        Of the loop, :math:`\omega_n / 2 \pi` [Hz]; None for one that is perfect within its angles.
    damping : float
        :math:`\zeta` [1]
    servo_bandwidth : float
        Of the servos' rates, :math:`\omega_s / 2 \pi` [Hz].
    rate_limits : 3 float
        Of the servos of pan, tilt and roll [rad/s].
    aid_time : float or None
        Time constant of the outer loop [s]; None for no such loop.

    Raises
    ------
    ConfigurationError
        A value is not what it must be; the sentence begins with its name.
    """

    target: Target = HeldAttitude()
    boresight: str = "forward"
    bandwidth: float | None = None
    damping: float = 0.7
    servo_bandwidth: float = 20.0
    rate_limits: Axes = (2.0, 2.0, 2.0)
    aid_time: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.target, (HeldAttitude, PointAhead, PointOnEarth)):
            raise ConfigurationError(
                f"target is {shown(self.target)}, but it must be an attitude or a point."
            )
        checked_choice("boresight", self.boresight, tuple(BORESIGHTS))
        for name in ("bandwidth", "damping", "servo_bandwidth", "aid_time"):
            value = getattr(self, name)
            if value is not None or name in ("damping", "servo_bandwidth"):
                value = checked_number(name, value, above=0.0, maximum=1e4)
            object.__setattr__(self, name, value)
        limits = checked_numbers("rate_limits", self.rate_limits, 3, minimum=0.0, maximum=1e3)
        object.__setattr__(self, "rate_limits", limits)
