r"""How the error of an inertial navigation grows: 15 states, in the Earth's axes.

The error is that of attitude, velocity, position, accelerometer bias and gyroscope bias, three
numbers each, as by Groves (Principles of GNSS, Inertial, and Multisensor Integrated Navigation
Systems, 2nd edition, section 14.2.3): with a hat on what is estimated,

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

Scale factors, misalignments and the gyroscope's g-sensitivity are no states: the filter does not
estimate these 27 numbers, but it considers them (:func:`influence`).
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
KINEMATIC = 9
"""Of the states those of attitude, velocity and position."""

CONSIDERED = 27
GYROSCOPE_MATRIX = slice(0, 9)
ACCELEROMETER_MATRIX = slice(9, 18)
G_SENSITIVITY = slice(18, 27)

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


def influence(stretch: Stretch) -> np.ndarray:
    r"""Return what the considered errors make of the states along a stretch, (r, 15, 27).

    An error :math:`\epsilon_{ij}` of the gyroscope's scale factors and misalignments turns the axis
    i by :math:`\epsilon_{ij} \omega_j`, one of its g-sensitivity by :math:`\epsilon_{ij} f_j`, and
    one of the accelerometer's matrix pushes along i with :math:`\epsilon_{ij} f_j`. Their integrals
    are added to the attitude and to the velocity; within the stretch the velocity follows a tilt,
    and the position both, as if they grew evenly.

    Returns
    -------
    ndarray, shape (r, 15, 27)
        By the elements, row by row, of the gyroscope's matrix, of the accelerometer's, and of the
        g-sensitivity.
    """
    runs, duration = len(stretch.velocity), stretch.duration
    matrix = np.zeros((runs, STATES, CONSIDERED))
    fallen = -cross_matrix(stretch.velocity)
    pushed = stretch.force_moment.reshape(runs, 3, 9)
    turned = stretch.rate_moment.reshape(runs, 3, 9)
    for part, angle in ((GYROSCOPE_MATRIX, turned), (G_SENSITIVITY, pushed)):
        matrix[:, ATTITUDE, part] = angle
        matrix[:, VELOCITY, part] = 0.5 * fallen @ angle
        matrix[:, POSITION, part] = duration / 6.0 * fallen @ angle
    matrix[:, VELOCITY, ACCELEROMETER_MATRIX] = pushed
    matrix[:, POSITION, ACCELEROMETER_MATRIX] = 0.5 * duration * pushed
    return matrix


def process_noise(attitude: np.ndarray, duration: float, tuning: FilterTuning) -> np.ndarray:
    """Return the covariance (r, 15, 15) of the noise along a stretch, as if it came all at once.

    In the IMU's axes the white noise of the gyroscope has the density N_g^2, that of the
    accelerometer N_a^2, and the biases walk with K^2 (Groves 14.82).

    Parameters
    ----------
    attitude : ndarray, shape (r, 3, 3)
        At one end of the stretch.
    duration : float
        [s]
    tuning : FilterTuning
    """
    noise = np.zeros((len(attitude), STATES, STATES))
    for part, density in (
        (ATTITUDE, tuning.gyroscope_noise),
        (VELOCITY, tuning.accelerometer_noise),
    ):
        noise[:, part, part] = (attitude * np.square(density)) @ attitude.swapaxes(1, 2)
    noise[:, ACCELEROMETER_BIAS, ACCELEROMETER_BIAS] = (
        np.diag(tuning.accelerometer_random_walk) ** 2
    )
    noise[:, GYROSCOPE_BIAS, GYROSCOPE_BIAS] = np.diag(tuning.gyroscope_random_walk) ** 2
    return noise * duration
