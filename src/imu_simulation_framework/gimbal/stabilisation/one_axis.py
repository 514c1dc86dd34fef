"""What can be said of the loop about one axis without running it: its servo, gains and residual."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from imu_simulation_framework.errors import ConfigurationError
from imu_simulation_framework.gimbal.stabilisation.settings import Stabilisation


class Servo(NamedTuple):
    """A joint's rate over a period in which one rate is asked for, solved exactly.

    Attributes
    ----------
    decay : float
        How much of the difference from the wanted rate is left.
    own, wanted : float
        The angle that it turns per rate that it had and per wanted rate [s].
    """

    decay: float
    own: float
    wanted: float


def servo(stabilisation: Stabilisation, period: float) -> Servo:
    """Return the servo of a loop for a period [s]."""
    pulsation = 2.0 * math.pi * stabilisation.servo_bandwidth
    decay = math.exp(-pulsation * period)
    own = -math.expm1(-pulsation * period) / pulsation
    return Servo(decay, own, period - own)


def gains(stabilisation: Stabilisation) -> tuple[float, float]:
    """Return K_p [1/s] and K_i [1/s^2]."""
    pulsation = 2.0 * math.pi * (stabilisation.bandwidth or 0.0)
    return 2.0 * stabilisation.damping * pulsation, pulsation**2


def transition(stabilisation: Stabilisation, period: float) -> np.ndarray:
    """Return what leads joint angle, rate, and integral of one axis to the next sample, (3, 3).

    The platform stands, and the target is zero.
    """
    decay, own, wanted = servo(stabilisation, period)
    proportional, integral = gains(stabilisation)
    command = np.array([-proportional, 0.0, 1.0])
    return np.array(
        [
            np.array([1.0, own, 0.0]) + wanted * command,
            np.array([0.0, decay, 0.0]) + (1.0 - decay) * command,
            [-integral * period, 0.0, 1.0],
        ]
    )


def residual_gain(stabilisation: Stabilisation, frequency, period: float) -> np.ndarray:
    r"""Return how much of a platform's sine a loop about one axis leaves, from angle to angle.

    With the state x of :func:`transition`, :math:`x_{k+1} = F x_k + G d_k`, and the platform's
    angle d, which acts on the error as the joint's does, the residual is d + (1, 0, 0) x; in z it
    is :math:`1 + H (z I - F)^{-1} G`, at :math:`z = \exp(2 \pi i f T)`.

    Parameters
    ----------
    stabilisation : Stabilisation
    frequency : float or array_like, shape (m,)
        [Hz]
    period : float
        Of the gyroscope's samples [s].

    Returns
    -------
    ndarray of complex, shape (m,) or ()
    """
    decay, _, wanted = servo(stabilisation, period)
    proportional, integral = gains(stabilisation)
    enters = np.array(
        [-wanted * proportional, -(1.0 - decay) * proportional, -integral * period]
    ).reshape(3, 1)
    z = np.exp(2j * np.pi * np.asarray(frequency, dtype=float) * period)
    resolvent = z[..., np.newaxis, np.newaxis] * np.eye(3) - transition(stabilisation, period)
    return 1.0 + np.linalg.solve(resolvent, np.broadcast_to(enters, (*z.shape, 3, 1)))[..., 0, 0]


def require_stable(stabilisation: Stabilisation, period: float) -> None:
    """Refuse a loop that shakes itself.

    Raises
    ------
    ConfigurationError
        At this period [s] its disturbances grow.
    """
    radius = np.max(np.abs(np.linalg.eigvals(transition(stabilisation, period))))
    if not radius < 1.0:
        raise ConfigurationError(
            f"the gimbal's loop of {stabilisation.bandwidth:g} Hz with servos of "
            f"{stabilisation.servo_bandwidth:g} Hz is not stable with a gyroscope's sample each "
            f"{period:g} s; it needs a lower bandwidth, faster servos or more samples."
        )
