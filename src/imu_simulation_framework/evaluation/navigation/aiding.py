r"""What a fix says of the state: a receiver beside the IMU, or anywhere on the aircraft.

With the lever arm l from the IMU to the antenna, in the IMU's axes, and its rate of change
:math:`\dot l`, which is not 0 where a gimbal moves one against the other, the antenna is at

.. math::

    r_a = r + C l, \quad v_a = v + C (\omega \times l + \dot l) - \Omega C l

(Groves, 2nd edition, 14.102, with :math:`\dot l` added). Of the innovation, the measurement less
what the estimate makes of it, the errors of :mod:`.error_dynamics` make

.. math::

    \delta z = \begin{pmatrix}
    [C l]_\times & 0 & -I & 0 & 0 \\
    [C (\omega \times l + \dot l)]_\times - \Omega [C l]_\times & -I & 0 & 0 & C [l]_\times
    \end{pmatrix} \delta x + \mathrm{noise}

(section 14.3.1, and 14.115 without a lever arm).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from imu_simulation_framework.evaluation.navigation.error_dynamics import (
    ATTITUDE,
    GYROSCOPE_BIAS,
    POSITION,
    STATES,
    VELOCITY,
)
from imu_simulation_framework.evaluation.navigation.mechanisation import (
    NavigationState,
    cross_matrix,
    rotation_matrix,
)
from imu_simulation_framework.motion.earth.ellipsoid import EARTH_RATE

MEASUREMENTS = 6
"""Position and velocity."""

_EARTH = np.array([0.0, 0.0, EARTH_RATE])
_IDENTITY = np.eye(3)


class LeverArm(NamedTuple):
    """Where the antenna is as seen from the IMU, in the IMU's axes, at k fixes.

    ``arm`` (k, 3) [m], ``rate`` (k, 3), its change in these axes [m/s].
    """

    arm: np.ndarray
    rate: np.ndarray


def antenna_matrix(
    state: NavigationState, rate: np.ndarray, arm: np.ndarray, arm_rate: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return where a state has the antenna, and how the innovation depends on its errors.

    Parameters
    ----------
    state : NavigationState
        Of r runs.
    rate : ndarray, shape (r, 3)
        Angular velocity against inertial space, in the IMU's axes, less the bias [rad/s].
    arm, arm_rate : ndarray, shape (3,)
        [m; m/s]

    Returns
    -------
    antenna : ndarray, shape (r, 6)
        Position [m] and velocity [m/s] in ECEF.
    matrix : ndarray, shape (r, 6, 15)
    """
    offset = state.attitude @ arm
    swing = (state.attitude @ (np.cross(rate, arm) + arm_rate)[..., np.newaxis])[..., 0]
    carried = np.cross(_EARTH, offset)
    antenna = np.concatenate([state.position + offset, state.velocity + swing - carried], axis=1)
    matrix = np.zeros((len(offset), MEASUREMENTS, STATES))
    matrix[:, :3, POSITION] = -_IDENTITY
    matrix[:, 3:, VELOCITY] = -_IDENTITY
    if np.any(arm) or np.any(arm_rate):
        across = cross_matrix(offset)
        matrix[:, :3, ATTITUDE] = across
        matrix[:, 3:, ATTITUDE] = cross_matrix(swing) - cross_matrix(_EARTH) @ across
        matrix[:, 3:, GYROSCOPE_BIAS] = state.attitude @ cross_matrix(arm)
    return antenna, matrix


def corrected(state: NavigationState, error: np.ndarray) -> NavigationState:
    """Return a state less its estimated errors (r, 15): the loop is closed (14.7 to 14.9)."""
    attitude, velocity, position, accelerometer, gyroscope = np.split(error, 5, axis=1)
    return NavigationState(
        position=state.position - position,
        velocity=state.velocity - velocity,
        attitude=rotation_matrix(-attitude) @ state.attitude,
        accelerometer_bias=state.accelerometer_bias + accelerometer,
        gyroscope_bias=state.gyroscope_bias + gyroscope,
    )
