r"""Strapdown mechanisation between two fixes, for ensembles of runs.

Between two fixes, an IMU outputs m increments over periods of :math:`\Delta t`: rotations
:math:`\alpha_k` and velocities :math:`d_k` in IMU axes. In inertial axes that initially coincide
with the Earth axes, the attitude is a product of rotations, and velocity and position are sums:

.. math::

    B_k = B_{k-1} \exp [\alpha_k]_\times, \quad
    u_k = u_{k-1} + B_{k-1} V(\alpha_k) d_k + \gamma_k \Delta t, \quad
    x_k = x_{k-1} + \tfrac12 (u_{k-1} + u_k) \Delta t,

    V(\alpha) = I + \frac{1 - \cos a}{a^2} [\alpha]_\times
    + \frac{1}{a^2} \left(1 - \frac{\sin a}{a}\right) [\alpha]_\times^2, \quad a = |\alpha|

as in :mod:`.motion.strapdown` (Groves: Principles of GNSS, Inertial, and Multisensor Integrated
Navigation Systems, 2nd edition, 5.73 and 5.84). The gravitation :math:`\gamma`, which is gravity
without its centrifugal part, is approximated by a parabola through its values at the first, the
middle and the last instant. The final rotation to Earth axes is exact.

The mechanisation also returns the integrals for the error transition (:mod:`.navigation.filter`).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ...motion.earth import EARTH_RATE, gravitation_ecef
from ...motion.strapdown import turned_east


class NavigationState(NamedTuple):
    """Estimated navigation states of r runs.

    Attributes
    ----------
    position : ndarray, shape (r, 3)
        Position in ECEF [m].
    velocity : ndarray, shape (r, 3)
        Velocity relative to the Earth, in ECEF [m/s].
    attitude : ndarray, shape (r, 3, 3)
        Rotation matrices from IMU axes to ECEF.
    accelerometer_bias : ndarray, shape (r, 3)
        Accelerometer bias [m/s^2].
    gyroscope_bias : ndarray, shape (r, 3)
        Gyroscope bias [rad/s].
    """

    position: np.ndarray
    velocity: np.ndarray
    attitude: np.ndarray
    accelerometer_bias: np.ndarray
    gyroscope_bias: np.ndarray


class Stretch(NamedTuple):
    """Integrals of the attitude C and the specific force f over a time interval, for r runs.

    Attributes
    ----------
    duration : float
        Duration [s].
    rotation, rotation_twice : ndarray, shape (r, 3, 3)
        Single [s] and double [s^2] integral of C.
    velocity, displacement : ndarray, shape (r, 3)
        Single [m/s] and double [m] integral of C f.
    tilting, tilting_twice : ndarray, shape (r, 3, 3)
        Single [m] and double [m s] integral of [C f]x times the running integral of C.
    rate_moment : ndarray, shape (r, 3, 3, 3)
        Integral of C_ai w_j with the angular velocity w [rad].
    force_moment : ndarray, shape (r, 3, 3, 3)
        Integral of C_ai f_j [m/s].
    last_rate : ndarray, shape (r, 3)
        Final angular velocity in IMU axes, without bias [rad/s].
    """

    duration: float
    rotation: np.ndarray
    rotation_twice: np.ndarray
    velocity: np.ndarray
    displacement: np.ndarray
    tilting: np.ndarray
    tilting_twice: np.ndarray
    rate_moment: np.ndarray
    force_moment: np.ndarray
    last_rate: np.ndarray


def cross_matrix(vector: np.ndarray) -> np.ndarray:
    """Return the cross product matrices [v]x, for which [v]x w = v x w.

    Parameters
    ----------
    vector : ndarray, shape (..., 3)
        Vectors v.

    Returns
    -------
    ndarray, shape (..., 3, 3)
        Skew-symmetric matrices.
    """
    matrix = np.zeros((*vector.shape[:-1], 3, 3))
    x, y, z = np.moveaxis(vector, -1, 0)
    matrix[..., 0, 1], matrix[..., 0, 2] = -z, y
    matrix[..., 1, 0], matrix[..., 1, 2] = z, -x
    matrix[..., 2, 0], matrix[..., 2, 1] = -y, x
    return matrix


def rotation_matrix(vector: np.ndarray) -> np.ndarray:
    """Return the rotation matrices exp([v]x) of rotation vectors v.

    Parameters
    ----------
    vector : ndarray, shape (..., 3)
        Rotation vectors [rad].

    Returns
    -------
    ndarray, shape (..., 3, 3)
        Rotation matrices.
    """
    first, second, _ = _coefficients(vector)
    matrix = vector[..., :, np.newaxis] * vector[..., np.newaxis, :]
    matrix *= second[..., np.newaxis, np.newaxis]
    matrix += cross_matrix(vector) * first[..., np.newaxis, np.newaxis]
    cosine = 1.0 - second * np.sum(vector**2, axis=-1)
    for axis in range(3):
        matrix[..., axis, axis] += cosine
    return matrix


def _coefficients(vector):
    """Return sin a / a, (1 - cos a) / a^2 and (1 - sin a / a) / a^2 for vectors of length a."""
    square = np.sum(vector**2, axis=-1)
    angle = np.sqrt(square)
    first = np.sinc(angle / np.pi)
    second = 0.5 * np.sinc(0.5 * angle / np.pi) ** 2
    small = square < 1e-8
    third = np.where(small, 1.0 / 6.0, (1.0 - first) / np.where(small, 1.0, square))
    return first, second, third


def _turned_velocity(rotation, velocity):
    """Return V(alpha) d, the velocity increments in IMU axes at the start of their period."""
    _, second, third = (values[..., np.newaxis] for values in _coefficients(rotation))
    across = np.cross(rotation, velocity)
    return velocity + second * across + third * np.cross(rotation, across)


def _earth_rotation(angle: float) -> np.ndarray:
    """Return the matrix (3, 3) of a rotation about z by -angle [rad]."""
    sine, cosine = math.sin(angle), math.cos(angle)
    return np.array([[cosine, sine, 0.0], [-sine, cosine, 0.0], [0.0, 0.0, 1.0]])


def _later_gravitation(position, time):
    """Return the gravitation (r, 3) [m/s^2] in inertial axes after ``time`` of Earth rotation."""
    back = _earth_rotation(EARTH_RATE * time)
    return gravitation_ecef(position @ back.T) @ back


def navigate(
    state: NavigationState, delta_theta: np.ndarray, delta_velocity: np.ndarray, period: float
) -> tuple[NavigationState, Stretch]:
    """Integrate IMU increments from an initial navigation state.

    Parameters
    ----------
    state : NavigationState
        Initial state of r runs.
    delta_theta : ndarray, shape (r, m, 3)
        Measured rotations of m >= 1 samples [rad].
    delta_velocity : ndarray, shape (r, m, 3)
        Measured velocity increments [m/s].
    period : float
        Sampling period [s].

    Returns
    -------
    state : NavigationState
        Final state with unchanged biases.
    stretch : Stretch
        Integrals for the error transition.
    """
    samples = delta_theta.shape[1]
    duration = samples * period
    # Samples are on the first axis, so that each step processes all runs.
    rotation = np.ascontiguousarray(delta_theta.swapaxes(0, 1)) - state.gyroscope_bias * period
    force = np.ascontiguousarray(delta_velocity.swapaxes(0, 1)) - (
        state.accelerometer_bias * period
    )
    steps = rotation_matrix(rotation)
    attitude = np.empty((samples + 1, *state.attitude.shape))
    attitude[0] = state.attitude
    for sample in range(samples):
        np.matmul(attitude[sample], steps[sample], out=attitude[sample + 1])
    velocity_changes = (attitude[:-1] @ _turned_velocity(rotation, force)[..., np.newaxis])[..., 0]

    velocity = np.cumsum(velocity_changes, axis=0)
    displacements = np.zeros_like(attitude[..., 0])
    np.cumsum((velocity - 0.5 * velocity_changes) * period, axis=0, out=displacements[1:])
    displacement = displacements[-1]
    half_displacement = 0.5 * (displacements[samples // 2] + displacements[(samples + 1) // 2])
    start = state.velocity + EARTH_RATE * turned_east(state.position)
    first = gravitation_ecef(state.position)
    half_duration = 0.5 * duration
    middle_position = (
        state.position + start * half_duration + half_displacement + 0.5 * first * half_duration**2
    )
    end_position = state.position + start * duration + displacement + 0.5 * first * duration**2
    second = _later_gravitation(middle_position, half_duration)
    third = _later_gravitation(end_position, duration)
    end = start + velocity[-1] + (first + 4.0 * second + third) * (duration / 6.0)
    fall = (first + 2.0 * second) * (duration**2 / 6.0)
    position = state.position + start * duration + displacement + fall
    rotation_back = _earth_rotation(EARTH_RATE * duration)
    position = position @ rotation_back.T
    end_state = state._replace(
        position=position,
        velocity=end @ rotation_back.T - EARTH_RATE * turned_east(position),
        attitude=rotation_back @ attitude[-1],
    )

    mean_attitude = 0.5 * (attitude[:-1] + attitude[1:])
    attitude_integral = np.cumsum(mean_attitude, axis=0) * period
    preceding_integral = attitude_integral - 0.5 * period * mean_attitude
    tilting = np.cumsum(cross_matrix(velocity_changes) @ preceding_integral, axis=0)
    stretch = Stretch(
        duration=duration,
        rotation=attitude_integral[-1],
        rotation_twice=np.sum(preceding_integral, axis=0) * period,
        velocity=velocity[-1],
        displacement=displacement,
        tilting=tilting[-1],
        tilting_twice=(np.sum(tilting, axis=0) - 0.5 * tilting[-1]) * period,
        rate_moment=_sum_of_products(mean_attitude, rotation),
        force_moment=_sum_of_products(mean_attitude, force),
        # An increment divided by the period is the rate at mid-period.
        last_rate=(1.5 * rotation[-1] - 0.5 * rotation[max(samples - 2, 0)]) / period,
    )
    return end_state, stretch


def _sum_of_products(matrices, vectors):
    """Return the sums over m of C_ai v_j for arrays of shape (m, r, 3, 3) and (m, r, 3)."""
    samples, runs = vectors.shape[:2]
    flat = matrices.reshape(samples, runs, 9)
    return (flat.transpose(1, 2, 0) @ vectors.swapaxes(0, 1)).reshape(runs, 3, 3, 3)
