"""Smoothing of measured positions along one axis by a model of the robot's motion.

In the continuous-time model, the velocity is a random walk, so that the position is an integrated
Wiener process (Wahba 1978). A measured position is the true position plus white noise and,
optionally, the receiver's slow error. Since a receiver filters its positions, the slow error is
smooth: it is a second-order Gauss-Markov process with a double pole and the correlation function
``(1 + t/l) exp(-t/l)``, in other words a Matern process of order 3/2 (Hartikainen and Sarkka,
Kalman filtering and smoothing solutions to temporal Gaussian process regression models, 2010). A
measured velocity is the true velocity plus white noise. A delayed velocity applies at a time
between two positions. :mod:`.fix_noise` estimates the noise densities and variances.

Means, covariances and likelihood are computed from the joint precision matrix of all states. It is
block-tridiagonal, so that its Cholesky factorisation costs O(n) (Rue and Held, Gaussian Markov
Random Fields, 2005, chapter 2). The result equals that of a Rauch-Tung-Striebel smoother, but needs
no loop over samples.

If there are no slow errors, velocities or outliers, ``scipy.interpolate.make_smoothing_spline``
yields the same path. It supports none of the three; if they are present, the errors of its
positions or velocities are 1.1 to 2.9 times as large.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np


@dataclass(frozen=True)
class Measurements:
    """Measurements along one axis at n times.

    Parameters
    ----------
    positions : ndarray, shape (n,)
        Positions [m].
    variances : ndarray, shape (n,)
        Variances of the white position errors [m^2], infinite for ignored positions.
    slow_deviations : ndarray, shape (n,), optional
        Standard deviations of the slow position errors [m].
    velocities : ndarray, shape (n,), optional
        Velocities [m/s].
    velocity_variances : ndarray, shape (n,), optional
        Variances of the velocity errors [m^2/s^2], infinite for missing velocities.
    """

    positions: np.ndarray
    variances: np.ndarray
    slow_deviations: np.ndarray | None = None
    velocities: np.ndarray | None = None
    velocity_variances: np.ndarray | None = None


@dataclass(frozen=True)
class Posterior:
    """Posterior precision matrix of all states, and the covariances that follow from it.

    The posterior precision depends on the times and variances of the measurements, but not on their
    values.

    Parameters
    ----------
    model : MotionModel
        Model with k times.
    variances : ndarray, shape (n,)
        Variances of the white position errors [m^2], including the uncertain motion between times.
    rows : ndarray, shape (n, 2 s)
        Coefficients that give the sum of position and slow error from the s states at each end of
        the step that contains the position.
    precision : ndarray, shape (2 s, k s)
        Precision of all states in lower banded form.
    factor : ndarray, shape (2 s, k s)
        Cholesky factor of the precision.
    log_determinants : float
        Part of the deviance that does not depend on the measured values.
    """

    model: MotionModel
    variances: np.ndarray
    rows: np.ndarray
    precision: np.ndarray
    factor: np.ndarray
    log_determinants: float

    def draw_velocity_errors(self, count, random):
        """Sample velocity errors from their posterior distribution.

        Parameters
        ----------
        count : int
            Number of samples.
        random : numpy.random.Generator
            Source of random numbers.

        Returns
        -------
        ndarray, shape (count, k)
            Velocity errors [m/s].
        """
        from scipy.linalg import solve_banded

        width, size = self.factor.shape
        upper = np.zeros_like(self.factor)
        for k, diagonal in enumerate(self.factor):
            upper[width - 1 - k, k:] = diagonal[: size - k]
        normal = random.standard_normal((size, count))
        states = solve_banded((0, width - 1), upper, normal, check_finite=False)
        return states.reshape(len(self.model.times), -1, count)[:, 1].T

    @property
    def _shape(self):
        """Number of times in the model, and number of states at each time."""
        count = len(self.model.times)
        return count, self.precision.shape[1] // count

    @cached_property
    def _forward_pivots(self):
        return _pivots(self.factor, *self._shape)

    @cached_property
    def covariances(self):
        """Posterior covariances of position, velocity and slow-error states, (k, s, s).

        The diagonal blocks of the inverse of the precision matrix follow from the two-filter form
        (Fraser and Potter, The optimum linear smoother as a combination of two optimum linear
        filters, 1969). Each block is the inverse of A + B - P, with A and B the pivots of forward
        and backward elimination, and P the diagonal block of the precision matrix.
        """
        from scipy.linalg import cholesky_banded

        # This is the precision matrix with rows and columns in reverse order.
        reversed_precision = np.zeros_like(self.precision)
        for i, diagonal in enumerate(self.precision):
            reversed_precision[i, : len(diagonal) - i] = diagonal[: len(diagonal) - i][::-1]
        factor = cholesky_banded(
            reversed_precision, lower=True, overwrite_ab=True, check_finite=False
        )
        backward = _pivots(factor, *self._shape)[::-1, ::-1, ::-1]
        blocks = _blocks(self.precision, *self._shape)
        return np.linalg.inv(self._forward_pivots + backward - blocks)

    def _pairs(self):
        """Return the joint covariance of the states at successive times, (k - 1, 2 s, 2 s).

        The cross-covariance is the regression of the first states on the second states, which
        follows from forward elimination, times the covariance of the second states.
        """
        (count, size), covariances = self._shape, self.covariances
        coupling = np.zeros((count - 1, size, size))
        for a in range(size):
            for b in range(size):
                coupling[:, a, b] = self.precision[size + a - b].reshape(count, size)[:-1, b]
        pivots = self._forward_pivots[:-1]
        both = -np.linalg.solve(pivots, np.swapaxes(coupling, 1, 2) @ covariances[1:])
        return np.block([[covariances[:-1], both], [np.swapaxes(both, 1, 2), covariances[1:]]])

    @cached_property
    def innovation_covariances(self):
        """Posterior covariance of position and velocity innovation in each step, (k - 1, 2, 2)."""
        steps, (_, size) = self.model.steps, self._shape
        change = np.zeros((len(steps), 2, 2 * size))
        change[:, 0, 0] = change[:, 1, 1] = -1.0
        change[:, 0, size] = change[:, 1, size + 1] = 1.0
        change[:, 0, 1] = -steps
        return change @ self._pairs() @ np.swapaxes(change, 1, 2)

    @cached_property
    def known_variances(self):
        """Posterior variances of position plus slow error, (n,) [m^2]."""
        pairs = self._pairs()[self.model.position_steps]
        return np.einsum("ki,kij,kj->k", self.rows, pairs, self.rows)


@dataclass(frozen=True)
class SmoothMotion:
    """Smoothed motion along one axis, at the k times of the model.

    Parameters
    ----------
    positions, velocities : ndarray, shape (k,)
        Estimated positions [m] and velocities [m/s].
    residuals : ndarray, shape (n,)
        Measured minus smoothed positions [m], the sum of the white and the slow error.
    white_residuals : ndarray, shape (n,)
        Estimated white errors [m].
    squares : ndarray, shape (k - 1,)
        Squared innovation of each step, normalised to an acceleration density of 1.
    deviance : float
        -2 times the log-likelihood of the measurements, without the constant ``ln(2 pi)`` per
        measurement. The first position and velocity have no prior.
    posterior : Posterior
        Covariances of the estimates.
    """

    positions: np.ndarray
    velocities: np.ndarray
    residuals: np.ndarray
    white_residuals: np.ndarray
    squares: np.ndarray
    deviance: float
    posterior: Posterior

    def expected_squares(self):
        """Return the expected squared innovation of each step, for an acceleration density of 1.

        It is the squared innovation of the smoothed motion plus its posterior variance. On average,
        it is twice the square of the density.

        Returns
        -------
        ndarray, shape (k - 1,)
            Expected squared innovations.
        """
        first, mixed, second = _step_precision(self.posterior.model.steps)
        unknown = self.posterior.innovation_covariances
        squares = first * unknown[:, 0, 0] + second * unknown[:, 1, 1]
        return self.squares + squares + 2.0 * mixed * unknown[:, 0, 1]


class MotionModel:
    """Motion model for n measurements, with precomputed terms that depend only on their times.

    Parameters
    ----------
    times : array_like, shape (n,)
        Times of at least 2 positions, strictly increasing [s].
    slow_time : float
        Time ``l`` in the slow error's correlation function [s]; 0 for a model without slow error.
    velocity_lag : float
        Time by which the velocities lag behind the positions [s].

    Attributes
    ----------
    times : ndarray, shape (k,)
        Times of the velocities. They are extended by the time of the last position if velocities
        are delayed, and of the first position if velocities are early. All positions are therefore
        within the steps between these times, where the expected path is a cubic polynomial.
    position_steps : ndarray of int, shape (n,)
        Index of the step that contains each position.
    velocities_at : slice
        Indices of the times of the velocities.
    """

    def __init__(self, times, slow_time=0.0, velocity_lag=0.0):
        self.position_times = times = np.asarray(times, dtype=float)
        early, late = times[: velocity_lag < 0.0], times[len(times) - (velocity_lag > 0.0) :]
        self.times = np.concatenate([early, times - velocity_lag, late])
        self.velocities_at = slice(len(early), len(early) + len(times))
        self.slow_time = slow_time
        self.steps = steps = np.diff(self.times)
        self._size = 4 if slow_time > 0.0 else 2
        self.position_steps = np.clip(np.searchsorted(self.times, times), 1, len(steps)) - 1
        # Indices of the first position in each step, if there is no step without a position.
        starts = np.searchsorted(self.position_steps, np.arange(len(steps)))
        is_filled = np.array_equal(self.position_steps[starts % len(times)], np.arange(len(steps)))
        self._first_positions = starts if is_filled else None
        step = steps[self.position_steps]
        self._shares = s = (times - self.times[self.position_steps]) / step
        state_weights = (
            (1.0 - s) ** 2 * (1.0 + 2.0 * s),
            step * s * (1.0 - s) ** 2,
            s**2 * (3.0 - 2.0 * s),
            -step * s**2 * (1.0 - s),
        )
        size = self._size
        weights = dict(zip((0, 1, size, size + 1), state_weights))
        if slow_time > 0.0:
            weights.update({2: 1.0 - s, size + 2: s})
        # Indices of the states, at both ends of a step, on which positions within the step depend.
        self._informed = [state for state in sorted(weights) if weights[state].any()]
        self._informed_pairs = np.tril_indices(len(self._informed))
        self._rows = np.zeros((len(times), 2 * size))
        for state in (0, 1, size, size + 1):
            self._rows[:, state] = weights[state]
        # Variance of an integrated Wiener process within a step, given its states at both ends.
        self._bridge = (step * s * (1.0 - s)) ** 3 / 3.0
        self._motion = self._motion_precision(1.0)
        self._log_steps = np.sum(4.0 * np.log(steps) - np.log(12.0))
        if slow_time > 0.0:
            self._slow, self._log_slow = self._slow_error(steps / slow_time)

    def _slow_error(self, x):
        # Imported on first use: every node imports this module, and scipy needs much memory.
        from scipy.special import gammainc

        # The states are the slow error and l times its time derivative, both with variance 1.
        # The covariance of the innovation is I - F F^T, without cancellation for small steps.
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

    def _motion_precision(self, intensity):
        """Return the prior precision matrix of the motion; ``intensity`` is the squared density."""
        unit, zero = np.ones_like(self.steps), np.zeros_like(self.steps)
        innovation = [element / intensity for element in _step_precision(self.steps)]
        return self._band(innovation, ((unit, self.steps), (zero, unit)), 0)

    def _band(self, innovation, transition, first):
        """Return the precision matrix of a two-state process in lower banded form.

        Element (i, j) of the blocks for step k is ``band[i - j, k, j]``.
        """
        (a, b, c), ((f, g), (h, k)) = innovation, transition
        band = np.zeros((2 * self._size, len(self.times), self._size))
        diagonal = band[0, :, first], band[1, :, first], band[0, :, first + 1]
        for element, value in zip(diagonal, innovation):
            element[1:] += value
        # The products W F and F^T W F are written out by components.
        wf = ((a * f + b * h, a * g + b * k), (b * f + c * h, b * g + c * k))
        diagonal[0][:-1] += f * wf[0][0] + h * wf[1][0]
        diagonal[1][:-1] += g * wf[0][0] + k * wf[1][0]
        diagonal[2][:-1] += g * wf[0][1] + k * wf[1][1]
        for row in range(2):
            for column in range(2):
                band[self._size + row - column, :-1, first + column] -= wf[row][column]
        return band

    def posterior(self, measurements, acceleration_density) -> Posterior:
        """Compute the posterior precision of all states.

        Parameters
        ----------
        measurements : Measurements
            Measurements, with ``slow_deviations`` if and only if the model has a slow error.
        acceleration_density : float or ndarray, shape (k - 1,)
            Density of the white noise that drives the velocity, constant or for each step
            [m/s^2/sqrt(Hz)].

        Returns
        -------
        Posterior

        Raises
        ------
        ValueError
            The measurements do not determine a motion that can be computed.
        """
        from scipy.linalg import LinAlgError, cholesky_banded

        count, size = len(self.times), self._size
        intensity = np.square(acceleration_density)
        rows = self._rows.copy()
        intensities = np.full(len(self.steps), intensity)
        variances = measurements.variances + intensities[self.position_steps] * self._bridge

        band = (
            self._motion / intensity if intensity.ndim == 0 else self._motion_precision(intensity)
        )
        logarithms = 2.0 * np.sum(np.log(intensities)) + self._log_steps + _log_sum(variances)
        if self.slow_time > 0.0:
            sigmas = measurements.slow_deviations
            rows[:, 2], rows[:, size + 2] = sigmas * (1.0 - self._shares), sigmas * self._shares
            band += self._slow
            logarithms += self._log_slow
        self._add_positions(band, rows, 1.0 / variances)
        if measurements.velocity_variances is not None:
            band[0, self.velocities_at, 1] += 1.0 / measurements.velocity_variances
            logarithms += _log_sum(measurements.velocity_variances)

        precision = band.reshape(2 * size, count * size)
        try:
            factor = cholesky_banded(precision, lower=True, check_finite=False)
        except LinAlgError:
            raise ValueError("the measurements do not determine a motion") from None
        logarithms += 2.0 * np.sum(np.log(factor[0]))
        return Posterior(self, variances, rows, precision, factor, logarithms)

    def smooth(self, measurements, acceleration_density, posterior=None) -> SmoothMotion:
        """Estimate the smoothed motion from measurements.

        Parameters
        ----------
        measurements : Measurements
            Measurements, with ``slow_deviations`` if and only if the model has a slow error.
        acceleration_density : float or ndarray, shape (k - 1,)
            Density of the white noise that drives the velocity, constant or for each step
            [m/s^2/sqrt(Hz)].
        posterior : Posterior, optional
            Result of :meth:`posterior` for the same variances and density, to avoid recomputation.

        Returns
        -------
        SmoothMotion

        Raises
        ------
        ValueError
            The measurements do not determine a motion that can be computed.
        """
        posterior = posterior or self.posterior(measurements, acceleration_density)
        (motion,) = self.smooth_axes([measurements], acceleration_density, posterior)
        return motion

    def smooth_axes(self, axes, acceleration_density, posterior) -> list[SmoothMotion]:
        """Estimate the smoothed motions along several axes whose errors have the same variances.

        Parameters
        ----------
        axes : sequence of Measurements
            Measurements along each axis, as in :meth:`smooth`.
        acceleration_density : float or ndarray, shape (k - 1,)
            Density of the white noise that drives the velocity, constant or for each step
            [m/s^2/sqrt(Hz)].
        posterior : Posterior
            Result of :meth:`posterior` for the same variances and density.

        Returns
        -------
        list of SmoothMotion
            Motion along each axis.

        Raises
        ------
        ValueError
            The measurements do not determine a motion that can be computed.
        """
        from scipy.linalg import cho_solve_banded

        rows, variances = posterior.rows, posterior.variances
        count, size, times = len(self.times), self._size, self.position_times
        measured = np.array([measurements.positions for measurements in axes])
        # Subtracting a line, which fits the motion model exactly, preserves numerical precision.
        first, last = measured[:, [0]], measured[:, [-1]]
        slope = (last - first) / (times[-1] - times[0])
        positions = measured - first - slope * (times - times[0])
        right = self._weighted_positions(rows, positions, 1.0 / variances)
        velocity_variances = axes[0].velocity_variances
        if velocity_variances is not None:
            velocity_weights = 1.0 / velocity_variances
            velocities = np.array([measurements.velocities for measurements in axes]) - slope
            velocities = np.where(velocity_weights > 0.0, velocities, 0.0)
            right[:, self.velocities_at, 1] += velocity_weights * velocities
        right = right.reshape(len(axes), -1).T
        states = cho_solve_banded(
            (posterior.factor, True), right, overwrite_b=True, check_finite=False
        )
        states = states.T.reshape(len(axes), count, size)

        # The quadratic form is computed as a sum over squared residuals, which avoids cancellation.
        x, v = states[..., 0], states[..., 1]
        jump = v[:, 1:] - v[:, :-1]
        offset = x[:, 1:] - x[:, :-1] - self.steps * (v[:, 1:] + v[:, :-1]) / 2.0
        squares = (12.0 * offset**2 / self.steps**2 + jump**2) / self.steps
        deviance = np.sum(squares / np.square(acceleration_density), axis=-1)
        deviance += posterior.log_determinants
        pairs = np.concatenate([states[:, :-1], states[:, 1:]], axis=-1)[:, self.position_steps]
        products = rows * pairs
        white = residuals = positions - np.sum(products, axis=-1)
        if self.slow_time > 0.0:
            residuals = white + np.sum(products[..., [2, size + 2]], axis=-1)
            deviance += self._slow_exponent(states[..., 2], states[..., 3])
        deviance += np.sum(white**2 / variances, axis=-1)
        if velocity_variances is not None:
            velocity_residuals = velocities - v[:, self.velocities_at]
            deviance += np.sum(velocity_weights * velocity_residuals**2, axis=-1)
        if not np.isfinite(deviance).all():
            raise ValueError("the measurements do not determine a motion")
        x, v = x + first + slope * (self.times - times[0]), v + slope
        return [
            SmoothMotion(x[k], v[k], residuals[k], white[k], squares[k], total, posterior)
            for k, total in enumerate(deviance.tolist())
        ]

    def _add_positions(self, band, rows, weights):
        """Add the information from positions with weights (n,) to a precision matrix, in place."""
        size, steps = self._size, len(self.steps)
        informed = np.ascontiguousarray(rows.T[self._informed])
        later, earlier = self._informed_pairs
        step_sums = self._sum_by_step((weights * informed)[later] * informed[earlier])
        for a, b, values in zip(later.tolist(), earlier.tolist(), step_sums):
            a, b = self._informed[a], self._informed[b]
            begin, column = divmod(b, size)
            band[a - b, begin : begin + steps, column] += values

    def _weighted_positions(self, rows, positions, weights):
        """Compute the contribution of positions (m, n) to the right-hand side, (m, k, s)."""
        steps = len(self.steps)
        right = np.zeros((len(positions), len(self.times), self._size))
        weighted = weights * rows.T[self._informed]
        step_sums = self._sum_by_step(weighted * positions[:, np.newaxis])
        for index, a in enumerate(self._informed):
            later, state = divmod(a, self._size)
            right[:, later : later + steps, state] += step_sums[:, index]
        return right

    def _sum_by_step(self, values):
        """Sum values (..., n) that belong to the n positions over each step, (..., k - 1)."""
        if self._first_positions is not None:
            return np.add.reduceat(values, self._first_positions, axis=-1)
        steps, flat = len(self.steps), values.reshape(-1, values.shape[-1])
        sums = [np.bincount(self.position_steps, row, minlength=steps) for row in flat]
        return np.reshape(sums, (*values.shape[:-1], steps))

    def _slow_exponent(self, error, rate):
        (a, b, c), ((f, g), (h, k)) = self._slow_innovation, self._decay
        first = error[:, 1:] - f * error[:, :-1] - g * rate[:, :-1]
        second = rate[:, 1:] - h * error[:, :-1] - k * rate[:, :-1]
        inner = np.sum(a * first**2 + 2.0 * b * first * second + c * second**2, axis=-1)
        return inner + error[:, 0] ** 2 + rate[:, 0] ** 2


def bridge_variance(share):
    """Return the variance of a Wiener process within a step, given its end values and its integral.

    Parameters
    ----------
    share : float or ndarray
        Elapsed fraction of the step.

    Returns
    -------
    float or ndarray
        Variance, for a step of length 1 and a density of 1.
    """
    product = share * (1.0 - share)
    return product - 3.0 * product**2


def _step_precision(steps):
    """Return the inverse of an innovation's covariance, [[dt^3/3, dt^2/2], [dt^2/2, dt]]."""
    return 12.0 / steps**3, -6.0 / steps**2, 4.0 / steps


def _log_sum(variances):
    return np.sum(np.log(variances[np.isfinite(variances)]))


def _blocks(band, count, size):
    """Return the diagonal blocks (k, s, s) of a symmetric matrix in lower banded form."""
    blocks = np.zeros((count, size, size))
    for a in range(size):
        for b in range(a + 1):
            blocks[:, a, b] = blocks[:, b, a] = band[a - b].reshape(count, size)[:, b]
    return blocks


def _pivots(factor, count, size):
    """Return the pivots (k, s, s) of block elimination, given a banded Cholesky factor."""
    lower = np.tril(_blocks(factor, count, size))
    return lower @ np.swapaxes(lower, 1, 2)
