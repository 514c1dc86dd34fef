"""The motion of a robot along one axis, from noisy positions and velocities.

The model, in continuous time: the velocity is a random walk, so that position and velocity are
an integrated Wiener process (Wahba 1978). A measured position is the true one plus white noise
plus, if wanted, the receiver's slow error: a receiver filters its positions, so that their error
is smooth, a Gauss-Markov process of second order with equal poles and the correlation
``(1 + t/l) exp(-t/l)``, in other words a Matern process of order 3/2 (Hartikainen and Sarkka,
Kalman filtering and smoothing solutions to temporal Gaussian process regression models, 2010). A
measured velocity is the true one plus white noise.

Means, covariances and likelihood come from the precision matrix of all states together, which
is block-tridiagonal, so that its Cholesky factor costs O(n) (Rue and Held, Gaussian Markov Random
Fields, 2005, chapter 2). The result is that of a Rauch-Tung-Striebel smoother, without a
loop over samples.

Without slow errors, velocities and outliers ``scipy.interpolate.make_smoothing_spline`` gives the
same path; with them, which it does not know, its positions or velocities are 1.1 to 2.9 times as
far off.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Measurements:
    """What was measured on one axis.

    Attributes
    ----------
    positions, variances : ndarray, shape (n,)
        Positions [m] and the variances of the white part of their errors [m^2]; infinite for a
        position that is not to be used.
    slow_deviations : ndarray, shape (n,), optional
        Standard deviation of the slow part of their errors [m].
    velocities, velocity_variances : ndarray, shape (n,), optional
        Velocities [m/s] and their variances [m^2/s^2]; infinite where there is none.
    """

    positions: np.ndarray
    variances: np.ndarray
    slow_deviations: np.ndarray | None = None
    velocities: np.ndarray | None = None
    velocity_variances: np.ndarray | None = None


@dataclass(frozen=True)
class SmoothMotion:
    """Estimate of the motion at the times of the measurements.

    Attributes
    ----------
    positions, velocities : ndarray, shape (n,)
        [m], [m/s]
    residuals : ndarray, shape (n,)
        Measured less smooth position [m]: white and slow error together.
    white_residuals : ndarray, shape (n,)
        The white part of them [m].
    deviance : float
        -2 times the logarithm of the measurements' likelihood, without the constant
        ``ln(2 pi)`` for each; nothing is known beforehand of the first position and velocity.
    """

    positions: np.ndarray
    velocities: np.ndarray
    residuals: np.ndarray
    white_residuals: np.ndarray
    deviance: float
    _precision: np.ndarray
    _factor: np.ndarray

    def covariances(self):
        """Return the covariance of position and velocity at each time.

        The blocks on the diagonal of the inverse are those of the two-filter form (Fraser and
        Potter, The optimum linear smoother as a combination of two optimum linear filters,
        1969): the inverse of the pivots of an elimination from the beginning plus those from the
        end less the matrix's own block.

        Returns
        -------
        ndarray, shape (n, s, s)
            Of position, velocity and, with a slow error, two states of that.
        """
        from scipy.linalg import cholesky_banded

        count = len(self.positions)
        size = self._precision.shape[1] // count
        forward = _pivots(self._factor, count, size)
        # The same matrix with rows and columns in the opposite order.
        turned = np.zeros_like(self._precision)
        for i, diagonal in enumerate(self._precision):
            turned[i, : len(diagonal) - i] = diagonal[: len(diagonal) - i][::-1]
        factor = cholesky_banded(turned, lower=True, overwrite_ab=True, check_finite=False)
        backward = _pivots(factor, count, size)[::-1, ::-1, ::-1]
        return np.linalg.inv(forward + backward - _blocks(self._precision, count, size))


class MotionModel:
    """The model at given times; what depends on the times alone is computed once.

    Parameters
    ----------
    times : array_like, shape (n,)
        Strictly increasing [s], at least 2.
    slow_time : float
        The time ``l`` of the slow error's correlation [s]; 0 for a model without one.
    """

    def __init__(self, times, slow_time=0.0):
        self.times = np.asarray(times, dtype=float)
        self.slow_time = slow_time
        self._steps = steps = np.diff(self.times)
        self._size = 4 if slow_time > 0.0 else 2
        # Inverse of [[dt^3/3, dt^2/2], [dt^2/2, dt]], the covariance of a step for density 1.
        innovation = (12.0 / steps**3, -6.0 / steps**2, 4.0 / steps)
        one, zero = np.ones_like(steps), np.zeros_like(steps)
        self._motion = self._band(innovation, ((one, steps), (zero, one)), 0)
        self._log_steps = np.sum(4.0 * np.log(steps) - np.log(12.0))
        if slow_time > 0.0:
            self._slow, self._log_slow = self._slow_error(steps / slow_time)

    def _slow_error(self, x):
        # Imported here, since every node knows this module's settings, and it takes memory.
        from scipy.special import gammainc

        # States: the error and l times its rate, both of variance 1. The innovation's
        # covariance is I - F F^T, written so that nothing cancels for small steps.
        decay = np.exp(-x)
        small = gammainc(3.0, 2.0 * x)
        first, mixed, second = small, 2.0 * (x * decay) ** 2, small + 4.0 * x * decay**2
        determinant = first * second - mixed**2
        innovation = (second / determinant, -mixed / determinant, first / determinant)
        self._decay = (
            (decay * (1.0 + x), decay * x),
            (-decay * x, decay * (1.0 - x)),
        )
        self._slow_innovation = innovation
        band = self._band(innovation, self._decay, 2)
        band[0, 0, 2:] += 1.0
        return band, np.sum(np.log(determinant))

    def _band(self, innovation, transition, first):
        """Return precision of a pair of states in lower banded form, ``band[i - j, step, j]``."""
        (a, b, c), ((f, g), (h, k)) = innovation, transition
        band = np.zeros((2 * self._size, len(self.times), self._size))
        diagonal = band[0, :, first], band[1, :, first], band[0, :, first + 1]
        for element, value in zip(diagonal, innovation):
            element[1:] += value
        # W F, then F^T W F.
        wf = ((a * f + b * h, a * g + b * k), (b * f + c * h, b * g + c * k))
        diagonal[0][:-1] += f * wf[0][0] + h * wf[1][0]
        diagonal[1][:-1] += g * wf[0][0] + k * wf[1][0]
        diagonal[2][:-1] += g * wf[0][1] + k * wf[1][1]
        for row in range(2):
            for column in range(2):
                band[self._size + row - column, :-1, first + column] -= wf[row][column]
        return band

    def smooth(self, measurements, acceleration_density) -> SmoothMotion:
        """Estimate the motion.

        Parameters
        ----------
        measurements : Measurements
            ``slow_deviations`` if and only if the model has a slow error.
        acceleration_density : float
            Of the white noise that drives the velocity [m/s^2/sqrt(Hz)].

        Raises
        ------
        ValueError
            The measurements do not determine a motion that can be computed.
        """
        from scipy.linalg import LinAlgError, cho_solve_banded, cholesky_banded

        count, size = len(self.times), self._size
        intensity = acceleration_density**2
        # A line is taken off: it fits the motion's model exactly, and small numbers keep digits.
        elapsed = self.times - self.times[0]
        slope = (measurements.positions[-1] - measurements.positions[0]) / elapsed[-1]
        line = measurements.positions[0] + slope * elapsed
        positions = measurements.positions - line
        weights = 1.0 / measurements.variances

        band = self._motion / intensity
        band[0, :, 0] += weights
        right = np.zeros((count, size))
        right[:, 0] = weights * positions
        deviance = 2.0 * (count - 1) * np.log(intensity) + self._log_steps
        deviance += _log_sum(measurements.variances)
        if self.slow_time > 0.0:
            sigmas = measurements.slow_deviations
            band += self._slow
            band[0, :, 2] += sigmas**2 * weights
            band[2, :, 0] += sigmas * weights
            right[:, 2] = sigmas * right[:, 0]
            deviance += self._log_slow
        if measurements.velocities is not None:
            velocity_weights = 1.0 / measurements.velocity_variances
            velocities = np.where(velocity_weights > 0.0, measurements.velocities - slope, 0.0)
            band[0, :, 1] += velocity_weights
            right[:, 1] = velocity_weights * velocities
            deviance += _log_sum(measurements.velocity_variances)

        precision = band.reshape(2 * size, count * size)
        try:
            factor = cholesky_banded(precision, lower=True, check_finite=False)
        except LinAlgError:
            raise ValueError("the measurements do not determine a motion") from None
        states = cho_solve_banded((factor, True), right.ravel(), check_finite=False)
        states = states.reshape(count, size)
        deviance += 2.0 * np.sum(np.log(factor[0]))

        # The exponent from the residuals of each part of the model: nothing large cancels.
        x, v = states[:, 0], states[:, 1]
        jump = np.diff(v)
        offset = np.diff(x) - self._steps * (v[1:] + v[:-1]) / 2.0
        deviance += np.sum((12.0 * offset**2 / self._steps**2 + jump**2) / self._steps) / intensity
        residuals = white = positions - x
        if self.slow_time > 0.0:
            white = residuals - sigmas * states[:, 2]
            deviance += self._slow_exponent(states[:, 2], states[:, 3])
        deviance += np.sum(weights * white**2)
        if measurements.velocities is not None:
            deviance += np.sum(velocity_weights * (velocities - v) ** 2)
        if not np.isfinite(deviance):
            raise ValueError("the measurements do not determine a motion")
        return SmoothMotion(
            x + line, v + slope, residuals, white, float(deviance), precision, factor
        )

    def _slow_exponent(self, error, rate):
        (a, b, c), ((f, g), (h, k)) = self._slow_innovation, self._decay
        first = error[1:] - f * error[:-1] - g * rate[:-1]
        second = rate[1:] - h * error[:-1] - k * rate[:-1]
        inner = np.sum(a * first**2 + 2.0 * b * first * second + c * second**2)
        return inner + error[0] ** 2 + rate[0] ** 2


def _log_sum(variances):
    return np.sum(np.log(variances[np.isfinite(variances)]))


def _blocks(band, count, size):
    """Return blocks on the diagonal of a symmetric matrix in lower banded form, shape (n, s, s)."""
    blocks = np.zeros((count, size, size))
    for a in range(size):
        for b in range(a + 1):
            blocks[:, a, b] = blocks[:, b, a] = band[a - b].reshape(count, size)[:, b]
    return blocks


def _pivots(factor, count, size):
    """Return what is left of the blocks on the diagonal when all before them are eliminated."""
    lower = np.tril(_blocks(factor, count, size))
    return lower @ np.swapaxes(lower, 1, 2)
