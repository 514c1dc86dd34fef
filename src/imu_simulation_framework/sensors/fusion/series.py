r"""Mahony's filter over a whole series of samples at once, without a loop over them.

With the gyroscope alone the orientation would be a running product P of turns. The filter's is
:math:`q_k = d_k P_k` with :math:`d_k = d_{k-1} C_k`, where the correction :math:`C_k` of the sample
turns about :math:`A_k \times u_{k-1}`: A is the measured vertical in the axes of P, and
:math:`u_k = d_k^{-1} z` the estimated one. u is turned towards A within the plane of both,

.. math::

    u_k = \alpha_k u_{k-1} + \beta_k A_k, \quad
    \alpha = 1 - 2 \frac{g p + t^2}{1 + t^2}, \quad \beta = \frac{2 g}{1 + t^2}, \quad
    p_k = A_k \cdot u_{k-1}, \quad t^2 = g^2 (|A|^2 - p^2), \quad g = \frac{dt}{2 T}.

If all p were known, this would be a linear recurrence, which sums solve. They are the scalar
products of directions close to each other, which hardly depend on a small change of one of them, so
that putting in the last solution's, and making each u a direction again, converges within a few
rounds to the loop's result but for rounding.
"""

from __future__ import annotations

import math

import numpy as np

from imu_simulation_framework.core.angles import quaternion_product

LONGEST = 250.0
"""Time constants in a block: sums weigh its samples by up to e to that."""
_ROUNDS = 60
_CONVERGED = 2e-14
_TINY = 1e-300


def block_length(period: float, time_constant: float) -> int:
    """Return how many samples can be taken at once; below 2 the loop is needed."""
    return int(LONGEST * time_constant / period) if time_constant > 10.0 * period else 0


def fuse_block(quaternion, angular_velocity, specific_force, period, time_constant):
    """Return the orientations of the samples after an orientation, or None.

    Parameters
    ----------
    quaternion : 4 float
        The orientation before them, x, y, z, w.
    angular_velocity, specific_force : ndarray (samples, 3)
        [rad/s], [m/s^2]; up to :func:`block_length` samples.
    period, time_constant : float
        [s]

    Returns
    -------
    ndarray (samples, 4) or None
        None where it did not converge, as in motion without a direction of gravity.
    """
    turned = _turned(quaternion, np.ascontiguousarray(angular_velocity.T), period)
    force = np.ascontiguousarray(specific_force.T)
    measured = rotated(turned, force / (np.sqrt((force * force).sum(axis=0)) + _TINY))
    gain = 0.5 * period / time_constant
    with np.errstate(all="ignore"):
        estimated = _verticals(measured, gain)
    if estimated is None:
        return None
    (ax, ay, az), (ux, uy, uz) = measured, estimated
    corrections = np.ones((4, measured.shape[1]))
    corrections[0] = gain * (ay * uz - az * uy)
    corrections[1] = gain * (az * ux - ax * uz)
    corrections[2] = gain * (ax * uy - ay * ux)
    corrections /= np.sqrt((corrections * corrections).sum(axis=0))
    return np.stack(quaternion_product(*running_product(corrections), *turned), axis=-1)


def running_product(quaternions):
    """Return the products of all quaternions up to each, (4, samples), of length one."""
    count = quaternions.shape[1]
    # Fewer rows than columns: a row costs a loop in Python with arrays, a column one without.
    rows = max(1, math.isqrt(count // 10))
    columns = -(-count // rows)
    padded = np.zeros((4, rows * columns))
    padded[3] = 1.0
    padded[:, :count] = quaternions
    # Each column is a stretch of time: all stretches go on together, then follow one another.
    table = np.ascontiguousarray(padded.reshape(4, columns, rows).transpose(0, 2, 1))
    for row in range(1, rows):
        table[:, row] = quaternion_product(*table[:, row - 1], *table[:, row])
    before = [(0.0, 0.0, 0.0, 1.0)]
    for end in table[:, -1].T[:-1].tolist():
        before.append(quaternion_product(*before[-1], *end))
    table = np.array(quaternion_product(*np.array(before).T[:, np.newaxis], *table))
    table /= np.sqrt((table * table).sum(axis=0))
    return table.transpose(0, 2, 1).reshape(4, -1)[:, :count]


def _turned(quaternion, rate, period):
    """Return the orientations (4, samples) with the gyroscope alone."""
    size = np.sqrt((rate * rate).sum(axis=0)) + _TINY
    half = 0.5 * period * size
    turns = np.vstack([np.sin(half) / size * rate, np.cos(half)])
    turns[:, 0] = quaternion_product(*quaternion, *turns[:, 0])
    return running_product(turns)


def rotated(quaternions, vectors):
    """Return vectors (3, samples) rotated by quaternions (4, samples)."""
    (x, y, z, w), (a, b, c) = quaternions, vectors
    ta, tb, tc = 2.0 * (y * c - z * b), 2.0 * (z * a - x * c), 2.0 * (x * b - y * a)
    return np.array(
        [a + w * ta + y * tc - z * tb, b + w * tb + z * ta - x * tc, c + w * tc + x * tb - y * ta]
    )


def _verticals(measured, gain):
    """Estimate the vertical (3, samples) before each sample's correction; None if not found."""
    squared = (measured * measured).sum(axis=0)
    estimated = np.empty((3, measured.shape[1] + 1))
    estimated[:, 0] = 0.0, 0.0, 1.0
    products = np.ones(measured.shape[1])
    for _ in range(_ROUNDS):
        t_squared = gain * gain * (squared - products * products)
        inverse = 1.0 / (1.0 + t_squared)
        weights = np.cumprod(1.0 - 2.0 * (gain * products + t_squared) * inverse)
        sums = np.cumsum(2.0 * gain * inverse / weights * measured, axis=1)
        sums[2] += 1.0
        estimated[:, 1:] = sums / np.sqrt((sums * sums).sum(axis=0))
        last, products = products, (measured * estimated[:, :-1]).sum(axis=0)
        if np.abs(products - last).max() < _CONVERGED:
            return estimated[:, :-1]
    return None
