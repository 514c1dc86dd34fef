r"""How the error of an inertial navigation grows: 15 states, in the Earth's axes.

The error is (:data:`ATTITUDE`, :data:`VELOCITY`, :data:`POSITION`, :data:`ACCELEROMETER_BIAS`,
:data:`GYROSCOPE_BIAS`), as by Groves (Principles of GNSS, Inertial, and Multisensor Integrated
Navigation Systems, 2nd edition, section 14.2.3): with a hat on what is estimated,

.. math::

    \hat C = (I + [\delta\psi]_\times) C, \quad \delta v = \hat v - v, \quad \delta r = \hat r - r,
    \quad \delta b = b - \hat b,

    \dot{\delta\psi} = -\Omega \delta\psi + C (\delta b_g + w_g), \quad
    \dot{\delta v} = -[C f]_\times \delta\psi - 2 \Omega \delta v
    - \frac{2 g}{r_S |r|} r r^T \delta r + C (\delta b_a + w_a), \quad
    \dot{\delta r} = \delta v

(14.48 to 14.50), with the Earth's rate :math:`\Omega`, the gravity g and the geocentric radius
:math:`r_S` at the surface. The transition from one fix to the next is made of the integrals of C
and C f along the way, in which nothing is taken as constant; left out are products with the Earth's
turn from one fix to the next, 4e-5 rad in half a second. So the covariance needs to go no faster
than the fixes come, however much the IMU turns between them.
"""

from __future__ import annotations

import numpy as np

from imu_simulation_framework.evaluation.navigation.mechanisation import (
    NavigationState,
    Stretch,
    cross_matrix,
)
from imu_simulation_framework.evaluation.navigation.tuning import FilterTuning
from imu_simulation_framework.motion.earth.ellipsoid import EARTH_RATE
from imu_simulation_framework.motion.earth.gravity import gravity_ecef

STATES = 15
ATTITUDE = slice(0, 3)
VELOCITY = slice(3, 6)
POSITION = slice(6, 9)
ACCELEROMETER_BIAS = slice(9, 12)
GYROSCOPE_BIAS = slice(12, 15)

_EARTH_TURN = np.array([[0.0, -EARTH_RATE, 0.0], [EARTH_RATE, 0.0, 0.0], [0.0, 0.0, 0.0]])
_IDENTITY = np.eye(3)


def transition(state: NavigationState, stretch: Stretch) -> np.ndarray:
    """Return by which matrices (r, 15, 15) errors at a stretch's beginning become those at its end.

    Parameters
    ----------
    state : NavigationState
        At the beginning or at the end, of r runs.
    stretch : Stretch
    """
    matrix = np.zeros((len(state.position), STATES, STATES))
    duration = stretch.duration
    turn = _EARTH_TURN * duration
    gradient = _gravity_gradient(state.position)
    matrix[:, range(STATES), range(STATES)] = 1.0
    matrix[:, ATTITUDE, ATTITUDE] -= turn
    matrix[:, ATTITUDE, GYROSCOPE_BIAS] = stretch.rotation
    matrix[:, VELOCITY, ATTITUDE] = -cross_matrix(stretch.velocity)
    matrix[:, VELOCITY, VELOCITY] -= 2.0 * turn
    matrix[:, VELOCITY, POSITION] = gradient * duration
    matrix[:, VELOCITY, ACCELEROMETER_BIAS] = stretch.rotation
    matrix[:, VELOCITY, GYROSCOPE_BIAS] = -stretch.tilting
    matrix[:, POSITION, ATTITUDE] = -cross_matrix(stretch.way)
    matrix[:, POSITION, VELOCITY] = (_IDENTITY - turn) * duration
    matrix[:, POSITION, POSITION] += 0.5 * duration**2 * gradient
    matrix[:, POSITION, ACCELEROMETER_BIAS] = stretch.rotation_twice
    matrix[:, POSITION, GYROSCOPE_BIAS] = -stretch.tilting_twice
    return matrix


def _gravity_gradient(position):
    """Return how gravity changes with the place, (r, 3, 3) [1/s^2]."""
    distance = np.linalg.norm(position, axis=1)
    gravity = np.linalg.norm(gravity_ecef(position), axis=1)
    # At the heights of aircraft the place's own distance serves for the surface's.
    strength = -2.0 * gravity / distance**3
    return strength[:, np.newaxis, np.newaxis] * (
        position[:, :, np.newaxis] * position[:, np.newaxis, :]
    )


def process_noise(
    attitude: np.ndarray, stretch: Stretch, force_change: np.ndarray, tuning: FilterTuning
) -> np.ndarray:
    r"""Return the covariance (r, 15, 15) of the noise along a stretch, as if it came all at once.

    In the IMU's axes the white noise of the gyroscope has the density :math:`N_g^2`, that of the
    accelerometer :math:`N_a^2`, and the biases walk with :math:`K^2` (Groves 14.82). What is no
    state of the filter comes in as noise that grows with the motion: scale factor errors and
    misalignments of rms m turn an angle :math:`\theta` into the error :math:`m \theta`, and a
    change :math:`\Delta f` of the specific force into the change :math:`m \Delta f` of what looks
    like a bias. Of a manoeuvre that lasts the time T that is, per axis,

    .. math:: N_g^2 + m_g^2 |\omega|^2 T, \quad K_a^2 + m_a^2 |\Delta f / \tau|^2 T, \quad
        K_g^2 + G^2 |\Delta f / \tau|^2 T,

    with :math:`\omega` and f as means between fixes, which are :math:`\tau` apart.

    Parameters
    ----------
    attitude : ndarray, shape (r, 3, 3)
        At one end of the stretch.
    stretch : Stretch
    force_change : ndarray, shape (r, 3)
        Of the mean specific force since the stretch before [m/s^2].
    tuning : FilterTuning
    """
    runs, duration = len(attitude), stretch.duration
    manoeuvre = tuning.manoeuvre_time
    square_of_rate = np.sum(stretch.mean_rate**2, axis=1)
    square_of_jerk = np.sum(force_change**2, axis=1) / duration**2
    noise = np.zeros((runs, STATES, STATES))
    motion = tuning.gyroscope_scale**2 * manoeuvre * square_of_rate
    noise[:, ATTITUDE, ATTITUDE] = _turned(attitude, tuning.gyroscope_noise, motion)
    noise[:, VELOCITY, VELOCITY] = _turned(attitude, tuning.accelerometer_noise, 0.0 * motion)
    for part, walk, scale in (
        (ACCELEROMETER_BIAS, tuning.accelerometer_random_walk, tuning.accelerometer_scale),
        (GYROSCOPE_BIAS, tuning.gyroscope_random_walk, tuning.g_sensitivity),
    ):
        of_motion = scale**2 * manoeuvre * square_of_jerk
        index = np.arange(part.start, part.stop)
        noise[:, index, index] = np.square(walk) + of_motion[:, np.newaxis]
    return noise * duration


def _turned(attitude, density, more):
    """Return C diag(N^2 + more) C^T, (r, 3, 3)."""
    squares = np.square(density) + np.reshape(more, (-1, 1))
    return (attitude * squares[:, np.newaxis, :]) @ attitude.swapaxes(1, 2)
