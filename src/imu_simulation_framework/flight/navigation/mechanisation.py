r"""Inertial navigation from one fix to the next, of many runs at once.

Between two fixes an IMU gives m increments, rotations :math:`\alpha_k` and velocities
:math:`d_k` in its own axes, a time :math:`\Delta t` each. Seen from axes that coincide with those
of the Earth at the beginning and do not turn with it, the attitude is a product of rotations, and
velocity and position are sums:

.. math::

    B_k = B_{k-1} \exp [\alpha_k]_\times, \quad
    u_k = u_{k-1} + B_{k-1} V(\alpha_k) d_k + \gamma_k \Delta t, \quad
    x_k = x_{k-1} + \tfrac12 (u_{k-1} + u_k) \Delta t,

    V(\alpha) = I + \frac{1 - \cos a}{a^2} [\alpha]_\times
    + \frac{1}{a^2} \left(1 - \frac{\sin a}{a}\right) [\alpha]_\times^2, \quad a = |\alpha|

as :mod:`.motion.strapdown` has them (Groves: Principles of GNSS, Inertial, and Multisensor
Integrated Navigation Systems, 2nd edition, 5.73 and 5.84), with the gravitation :math:`\gamma`,
which is gravity without its centrifugal part. It is taken as a parabola through its values at the
first, the middle and the last of the instants. At the end all is turned into the Earth's axes
again, which is exact.

Beside the states there are the integrals along the way of which the error's transition is made
(:mod:`.navigation.filter`).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ...motion.earth import EARTH_RATE, gravitation_ecef
from ...motion.strapdown import turned_east


class NavigationState(NamedTuple):
    """What a navigator holds true, of r runs.

    ``position`` (r, 3) [m] and ``velocity`` (r, 3) against the Earth [m/s], both in ECEF;
    ``attitude`` (r, 3, 3), rotation matrices from the IMU's axes to ECEF; ``accelerometer_bias``
    (r, 3) [m/s^2] and ``gyroscope_bias`` (r, 3) [rad/s].
    """

    position: np.ndarray
    velocity: np.ndarray
    attitude: np.ndarray
    accelerometer_bias: np.ndarray
    gyroscope_bias: np.ndarray


class Stretch(NamedTuple):
    """Integrals along a stretch of navigation, of r runs.

    C is the attitude, f the specific force. ``duration`` [s]. ``rotation`` (r, 3, 3): the integral
    of C [s], and ``rotation_twice``: the integral of that [s^2]. ``velocity`` (r, 3): the integral
    of C f [m/s], and ``way``: the integral of that [m]. ``tilting`` (r, 3, 3): the integral of
    [C f]x times the integral of C so far [m], and ``tilting_twice``: the integral of that [m s].
    ``rate_moment`` (r, 3, 3, 3): the integral of C_ai w_j, with the angular velocity w [rad], and
    ``force_moment``: that of C_ai f_j [m/s]. ``last_rate`` (r, 3): the angular velocity at the end,
    in the IMU's axes, less the bias [rad/s].
    """

    duration: float
    rotation: np.ndarray
    rotation_twice: np.ndarray
    velocity: np.ndarray
    way: np.ndarray
    tilting: np.ndarray
    tilting_twice: np.ndarray
    rate_moment: np.ndarray
    force_moment: np.ndarray
    last_rate: np.ndarray


def cross_matrix(vector: np.ndarray) -> np.ndarray:
    """Return the matrices [v]x of vectors (..., 3), (..., 3, 3): [v]x w is the product v x w."""
    matrix = np.zeros((*vector.shape[:-1], 3, 3))
    x, y, z = np.moveaxis(vector, -1, 0)
    matrix[..., 0, 1], matrix[..., 0, 2] = -z, y
    matrix[..., 1, 0], matrix[..., 1, 2] = z, -x
    matrix[..., 2, 0], matrix[..., 2, 1] = -y, x
    return matrix


def rotation_matrix(vector: np.ndarray) -> np.ndarray:
    """Return exp [v]x of rotation vectors (..., 3) [rad], (..., 3, 3)."""
    first, second, _ = _coefficients(vector)
    matrix = vector[..., :, np.newaxis] * vector[..., np.newaxis, :]
    matrix *= second[..., np.newaxis, np.newaxis]
    matrix += cross_matrix(vector) * first[..., np.newaxis, np.newaxis]
    cosine = 1.0 - second * np.sum(vector**2, axis=-1)
    for axis in range(3):
        matrix[..., axis, axis] += cosine
    return matrix


def _coefficients(vector):
    """Return sin a / a, (1 - cos a) / a^2 and (1 - sin a / a) / a^2 of vectors (..., 3)."""
    square = np.sum(vector**2, axis=-1)
    angle = np.sqrt(square)
    first = np.sinc(angle / np.pi)
    second = 0.5 * np.sinc(0.5 * angle / np.pi) ** 2
    small = square < 1e-8
    third = np.where(small, 1.0 / 6.0, (1.0 - first) / np.where(small, 1.0, square))
    return first, second, third


def _turned_velocity(rotation, velocity):
    """Return V(alpha) d, what increments of the velocity are in the axes of their beginning."""
    _, second, third = (values[..., np.newaxis] for values in _coefficients(rotation))
    across = np.cross(rotation, velocity)
    return velocity + second * across + third * np.cross(rotation, across)


def _about_pole(angle: float) -> np.ndarray:
    """Return the rotation matrix about z by -angle [rad], (3, 3)."""
    sine, cosine = math.sin(angle), math.cos(angle)
    return np.array([[cosine, sine, 0.0], [-sine, cosine, 0.0], [0.0, 0.0, 1.0]])


def _gravitation_later(position, time):
    """Return gravitation (r, 3) [m/s^2] of an Earth that has turned for a time, in still axes."""
    back = _about_pole(EARTH_RATE * time)
    return gravitation_ecef(position @ back.T) @ back


def navigate(
    state: NavigationState, delta_theta: np.ndarray, delta_velocity: np.ndarray, period: float
) -> tuple[NavigationState, Stretch]:
    """Return where increments lead from a state.

    ``state``: of r runs. ``delta_theta`` (r, m, 3): of m >= 1 samples, with their errors [rad].
    ``delta_velocity`` (r, m, 3) [m/s]. ``period``: of one increment [s]. Returns ``state``, at the
    end; the biases are those of before; ``stretch``, what the error's transition is made of.
    """
    samples = delta_theta.shape[1]
    duration = samples * period
    # Samples first: each step takes all runs at once.
    rotation = np.ascontiguousarray(delta_theta.swapaxes(0, 1)) - state.gyroscope_bias * period
    force = np.ascontiguousarray(delta_velocity.swapaxes(0, 1)) - (
        state.accelerometer_bias * period
    )
    steps = rotation_matrix(rotation)
    attitude = np.empty((samples + 1, *state.attitude.shape))
    attitude[0] = state.attitude
    for sample in range(samples):
        np.matmul(attitude[sample], steps[sample], out=attitude[sample + 1])
    gained = (attitude[:-1] @ _turned_velocity(rotation, force)[..., np.newaxis])[..., 0]

    velocity = np.cumsum(gained, axis=0)
    ways = np.zeros_like(attitude[..., 0])
    np.cumsum((velocity - 0.5 * gained) * period, axis=0, out=ways[1:])
    way = ways[-1]
    half_way = 0.5 * (ways[samples // 2] + ways[(samples + 1) // 2])
    start = state.velocity + EARTH_RATE * turned_east(state.position)
    here = gravitation_ecef(state.position)
    half = 0.5 * duration
    middle_place = state.position + start * half + half_way + 0.5 * here * half**2
    end_place = state.position + start * duration + way + 0.5 * here * duration**2
    there = _gravitation_later(middle_place, half)
    at_end = _gravitation_later(end_place, duration)
    end = start + velocity[-1] + (here + 4.0 * there + at_end) * (duration / 6.0)
    position = state.position + start * duration + way + (here + 2.0 * there) * (duration**2 / 6.0)
    back = _about_pole(EARTH_RATE * duration)
    position = position @ back.T
    end_state = state._replace(
        position=position,
        velocity=end @ back.T - EARTH_RATE * turned_east(position),
        attitude=back @ attitude[-1],
    )

    middle = 0.5 * (attitude[:-1] + attitude[1:])
    turned = np.cumsum(middle, axis=0) * period
    so_far = turned - 0.5 * period * middle
    tilting = np.cumsum(cross_matrix(gained) @ so_far, axis=0)
    stretch = Stretch(
        duration=duration,
        rotation=turned[-1],
        rotation_twice=np.sum(so_far, axis=0) * period,
        velocity=velocity[-1],
        way=way,
        tilting=tilting[-1],
        tilting_twice=(np.sum(tilting, axis=0) - 0.5 * tilting[-1]) * period,
        rate_moment=_moment(middle, rotation),
        force_moment=_moment(middle, force),
        # Increments are means, half a period old.
        last_rate=(1.5 * rotation[-1] - 0.5 * rotation[max(samples - 2, 0)]) / period,
    )
    return end_state, stretch


def _moment(matrices, vectors):
    """Return sums over m of products C_ai v_j of (m, r, 3, 3) and (m, r, 3), (r, 3, 3, 3)."""
    samples, runs = vectors.shape[:2]
    flat = matrices.reshape(samples, runs, 9)
    return (flat.transpose(1, 2, 0) @ vectors.swapaxes(0, 1)).reshape(runs, 3, 3, 3)
