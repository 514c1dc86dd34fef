"""Smoothing of positions in the plane, with a robot's motion.

The model, in continuous time: the velocity is a random walk, so that position and velocity are
an integrated Wiener process (Wahba 1978). A measured position is the true one plus white noise
plus, if wanted, the receiver's slow error: a receiver filters its positions, so that their error
is smooth, a Gauss-Markov process of second order with equal poles and the correlation
``(1 + t/l) exp(-t/l)``, in other words a Matern process of order 3/2 (Hartikainen and Sarkka,
Kalman filtering and smoothing solutions to temporal Gaussian process regression models, 2010). A
measured velocity is the true one plus white noise; it may be late, and then belongs to a time
between two positions. The parameters are those of the largest
posterior density: the likelihood of all positions (and velocities) times a wide prior, which counts
only where positions alone cannot tell a receiver's slow error from the motion.

Means, covariances and likelihood come from the precision matrix of all states together, which
is block-tridiagonal, so that its Cholesky factor costs O(n) (Rue and Held, Gaussian Markov Random
Fields, 2005, chapter 2). The result is that of a Rauch-Tung-Striebel smoother, without a
loop over samples.

Without slow errors, velocities and outliers ``scipy.interpolate.make_smoothing_spline`` gives the
same path; with them, which it does not know, its positions or velocities are 1.1 to 2.9 times as
far off.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from imu_simulation_framework.core.signals import delay_of_integral

SMALLEST_JITTER = 1e-3
"""No position is taken for better than that [m]: motion capture's."""

_MEDIAN = np.sqrt(2.0 * np.log(2.0))
"""Median length of two normal numbers, in standard deviations of one: Rayleigh's distribution."""


def jitter(times, positions) -> float:
    """Return the standard deviation of the white error of positions (n, 2), per coordinate [m].

    A motion that is a parabola in time drops out of the third divided difference of four positions
    in a row; white errors remain, with weights whose squares are made to add up to 1. The median
    of its lengths counts, so that neither outliers nor sharp turns do, nor that a robot drives
    along an axis. Four positions that are one, as rounded ones or a filter's at rest, tell nothing.
    At least :data:`SMALLEST_JITTER` is returned.
    """
    rows = np.arange(4) + np.arange(max(0, len(times) - 3))[:, None]
    rows = rows[np.ptp(positions[rows], axis=1).any(axis=1)]
    if not len(rows):
        return SMALLEST_JITTER
    apart = times[rows][:, :, None] - times[rows][:, None, :] + np.eye(4)
    weights = 1.0 / np.prod(apart, axis=2)
    weights /= np.linalg.norm(weights, axis=1, keepdims=True)
    lengths = np.linalg.norm(np.einsum("ij,ijk->ik", weights, positions[rows]), axis=1)
    return max(SMALLEST_JITTER, float(np.median(lengths)) / _MEDIAN)


@dataclass(frozen=True)
class Measurements:
    """What was measured on one axis; all are of shape (n,).

    ``positions`` [m] and the ``variances`` of the white part of their errors [m^2], infinite for a
    position that is not to be used; standard deviation of the slow part [m]; velocities [m/s] and
    their variances [m^2/s^2], infinite where there is none.
    """

    positions: np.ndarray
    variances: np.ndarray
    slow_deviations: np.ndarray | None = None
    velocities: np.ndarray | None = None
    velocity_variances: np.ndarray | None = None


@dataclass(frozen=True)
class SmoothMotion:
    """Estimate of the motion at the model's k times, (k,) [m], [m/s].

    ``residuals`` are measured less smooth positions, (n,) [m]: white and slow error together.
    ``variances`` (n,) are those of the white errors [m^2], with what the motion adds between two
    times. ``deviance`` is -2 times the logarithm of the measurements' likelihood, without the
    constant ``ln(2 pi)`` for each; there is no prior of the first position and velocity.
    """

    positions: np.ndarray
    velocities: np.ndarray
    residuals: np.ndarray
    white_residuals: np.ndarray
    variances: np.ndarray
    deviance: float
    _model: MotionModel
    _squares: np.ndarray
    _rows: np.ndarray
    _precision: np.ndarray
    _factor: np.ndarray

    def drawn_velocity_errors(self, count, random):
        """Return errors (count, k) of the velocities that the measurements leave possible [m/s].

        ``random`` (numpy Generator).
        """
        from scipy.linalg import solve_banded

        width, size = self._factor.shape
        upper = np.zeros_like(self._factor)
        for k, diagonal in enumerate(self._factor):
            upper[width - 1 - k, k:] = diagonal[: size - k]
        normal = random.standard_normal((size, count))
        states = solve_banded((0, width - 1), upper, normal, check_finite=False)
        return states.reshape(len(self.positions), -1, count)[:, 1].T

    @property
    def _shape(self):
        """Number of times, and of states at each."""
        return len(self.positions), self._precision.shape[1] // len(self.positions)

    def covariances(self):
        """Return the covariance of position, velocity and the states of a slow error, (k, s, s).

        The blocks on the diagonal of the inverse are those of the two-filter form (Fraser and
        Potter, The optimum linear smoother as a combination of two optimum linear filters,
        1969): the inverse of the pivots of an elimination from the beginning plus those from the
        end less the matrix's own block.
        """
        from scipy.linalg import cholesky_banded

        count, size = self._shape
        forward = _pivots(self._factor, count, size)
        # The same matrix with rows and columns in the opposite order.
        turned = np.zeros_like(self._precision)
        for i, diagonal in enumerate(self._precision):
            turned[i, : len(diagonal) - i] = diagonal[: len(diagonal) - i][::-1]
        factor = cholesky_banded(turned, lower=True, overwrite_ab=True, check_finite=False)
        backward = _pivots(factor, count, size)[::-1, ::-1, ::-1]
        return np.linalg.inv(forward + backward - _blocks(self._precision, count, size))

    def _pairs(self):
        """Return the covariance of all states at successive times, (k - 1, 2 s, 2 s).

        Two successive states have the covariance of the second times the regression of the first
        on it, which the elimination from the beginning has.
        """
        (count, size), covariances = self._shape, self.covariances()
        below = np.zeros((count - 1, size, size))
        for a in range(size):
            for b in range(size):
                below[:, a, b] = self._precision[size + a - b].reshape(count, size)[:-1, b]
        pivots = _pivots(self._factor, count, size)[:-1]
        both = -np.linalg.solve(pivots, np.swapaxes(below, 1, 2) @ covariances[1:])
        return np.block([[covariances[:-1], both], [np.swapaxes(both, 1, 2), covariances[1:]]])

    def expected_squares(self):
        """Return the expected squares of each step's innovation, for a density of 1, (k - 1,).

        Those of the smooth motion, and what the measurements leave open of them. Their mean is
        twice the square of the density.
        """
        steps, (_, size) = self._model.steps, self._shape
        change = np.zeros((len(steps), 2, 2 * size))
        change[:, 0, 0] = change[:, 1, 1] = -1.0
        change[:, 0, size] = change[:, 1, size + 1] = 1.0
        change[:, 0, 1] = -steps
        unknown = change @ self._pairs() @ np.swapaxes(change, 1, 2)
        first, mixed, second = _step_precision(steps)
        squares = first * unknown[:, 0, 0] + second * unknown[:, 1, 1]
        return self._squares + squares + 2.0 * mixed * unknown[:, 0, 1]

    def known_variances(self):
        """Return the variances of position and slow error together where measured, (n,) [m^2]."""
        pairs = self._pairs()[self._model.position_steps]
        return np.einsum("ki,kij,kj->k", self._rows, pairs, self._rows)


class MotionModel:
    """The model of n measurements; what depends on their times alone is computed once.

    There are at least 2 ``times`` (n,) of positions, strictly increasing [s]. ``slow_time`` is the
    time ``l`` of the slow error's correlation [s]; 0 for a model without one. Velocities were
    measured ``velocity_lag`` before [s].

    The model's ``times`` (k,) are those of the velocities and, if these are late, the last
    position's, or the first one's if they are early: so all positions are in its steps, at
    ``position_steps`` (n,), where the expected path is a cubic.
    ``velocities_at`` (slice) are the velocities' of its times.
    """

    def __init__(self, times, slow_time=0.0, velocity_lag=0.0):
        self.position_times = times = np.asarray(times, dtype=float)
        before, after = times[: velocity_lag < 0.0], times[len(times) - (velocity_lag > 0.0) :]
        self.times = np.concatenate([before, times - velocity_lag, after])
        self.velocities_at = slice(len(before), len(before) + len(times))
        self.slow_time = slow_time
        self.steps = steps = np.diff(self.times)
        self._size = 4 if slow_time > 0.0 else 2
        self.position_steps = np.clip(np.searchsorted(self.times, times), 1, len(steps)) - 1
        step = steps[self.position_steps]
        self._shares = s = (times - self.times[self.position_steps]) / step
        self._of_states = (
            (1.0 - s) ** 2 * (1.0 + 2.0 * s),
            step * s * (1.0 - s) ** 2,
            s**2 * (3.0 - 2.0 * s),
            -step * s**2 * (1.0 - s),
        )
        # Of an integrated Wiener process with known ends.
        self._bridge = (step * s * (1.0 - s)) ** 3 / 3.0
        self._motion = self._of_density(1.0)
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

    def _of_density(self, intensity):
        """Return the motion's precision, for a squared density, or one for each step (k - 1,)."""
        one, zero = np.ones_like(self.steps), np.zeros_like(self.steps)
        innovation = [element / intensity for element in _step_precision(self.steps)]
        return self._band(innovation, ((one, self.steps), (zero, one)), 0)

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

        ``measurements`` (Measurements): ``slow_deviations`` if and only if the model has a slow
        error. ``acceleration_density`` (float, or (k - 1,) for each step): of the white noise that
        drives the velocity [m/s^2/sqrt(Hz)]. Raises ValueError if the measurements do not determine
        a motion that can be computed.
        """
        from scipy.linalg import LinAlgError, cho_solve_banded, cholesky_banded

        count, size = len(self.times), self._size
        intensity = np.square(acceleration_density)
        times = self.position_times
        # A line is taken off: it fits the motion's model exactly, and small numbers keep digits.
        first, last = measurements.positions[[0, -1]]
        slope = (last - first) / (times[-1] - times[0])
        positions = measurements.positions - first - slope * (times - times[0])
        rows = np.zeros((len(positions), 2 * size))
        rows[:, 0], rows[:, 1], rows[:, size], rows[:, size + 1] = self._of_states
        intensities = np.broadcast_to(intensity, len(self.steps))
        variances = measurements.variances + intensities[self.position_steps] * self._bridge

        band = self._motion / intensity if intensity.ndim == 0 else self._of_density(intensity)
        right = np.zeros((count, size))
        deviance = 2.0 * np.sum(np.log(intensities)) + self._log_steps + _log_sum(variances)
        if self.slow_time > 0.0:
            sigmas = measurements.slow_deviations
            rows[:, 2], rows[:, size + 2] = sigmas * (1.0 - self._shares), sigmas * self._shares
            band += self._slow
            deviance += self._log_slow
        self._add_positions(band, right, rows, positions, 1.0 / variances)
        if measurements.velocities is not None:
            velocity_weights = 1.0 / measurements.velocity_variances
            velocities = np.where(velocity_weights > 0.0, measurements.velocities - slope, 0.0)
            band[0, self.velocities_at, 1] += velocity_weights
            right[self.velocities_at, 1] += velocity_weights * velocities
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
        offset = np.diff(x) - self.steps * (v[1:] + v[:-1]) / 2.0
        squares = (12.0 * offset**2 / self.steps**2 + jump**2) / self.steps
        deviance += np.sum(squares / intensity)
        pairs = np.hstack([states[:-1], states[1:]])[self.position_steps]
        white = residuals = positions - np.sum(rows * pairs, axis=1)
        if self.slow_time > 0.0:
            residuals = white + np.sum((rows * pairs)[:, [2, size + 2]], axis=1)
            deviance += self._slow_exponent(states[:, 2], states[:, 3])
        deviance += np.sum(white**2 / variances)
        if measurements.velocities is not None:
            wrong = velocities - v[self.velocities_at]
            deviance += np.sum(velocity_weights * wrong**2)
        if not np.isfinite(deviance):
            raise ValueError("the measurements do not determine a motion")
        return SmoothMotion(
            x + first + slope * (self.times - times[0]),
            v + slope,
            residuals,
            white,
            variances,
            float(deviance),
            self,
            squares,
            rows,
            precision,
            factor,
        )

    def _add_positions(self, band, right, rows, positions, weights):
        """Add what measured positions (n,) tell to precision and right side, in place."""
        size, steps = self._size, len(self.steps)
        told = [a for a in range(2 * size) if np.any(rows[:, a])]
        for a in told:
            weighted = weights * rows[:, a]
            later, state = divmod(a, size)
            right[later : later + steps, state] += self._summed(weighted * positions)
            for b in told[: told.index(a) + 1]:
                begin, column = divmod(b, size)
                of_step = self._summed(weighted * rows[:, b])
                band[a - b, begin : begin + steps, column] += of_step

    def _summed(self, values):
        """Return the sums of the positions' values (n,) in each step, (k - 1,)."""
        return np.bincount(self.position_steps, values, minlength=len(self.steps))

    def _slow_exponent(self, error, rate):
        (a, b, c), ((f, g), (h, k)) = self._slow_innovation, self._decay
        first = error[1:] - f * error[:-1] - g * rate[:-1]
        second = rate[1:] - h * error[:-1] - k * rate[:-1]
        inner = np.sum(a * first**2 + 2.0 * b * first * second + c * second**2)
        return inner + error[0] ** 2 + rate[0] ** 2


def bridge_variance(share):
    """Return the variance of a Wiener process within a step of 1 whose ends and integral are known.

    ``share`` (float or ndarray): of the step that has passed. The process has density 1.
    """
    product = share * (1.0 - share)
    return product - 3.0 * product**2


def _step_precision(steps):
    """Return the inverse of [[dt^3/3, dt^2/2], [dt^2/2, dt]], a step's covariance for density 1."""
    return 12.0 / steps**3, -6.0 / steps**2, 4.0 / steps


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


VELOCITY_DEVIATION = 0.1
"""Least standard deviation [m/s] of a Doppler velocity's component, twice the 0.05 m/s that u-blox
states for a ZED-F9P: it comes late, rounded, and averaged over an interval."""
SMALLEST_DEVIATION = 1e-4
"""No position is better than that [m]."""
OUTLIER_DEVIATIONS = 5.0
"""A position is left out if it is further from where the others put it, in standard deviations."""
OUTLIER_ACCELERATION = 9.81
"""And if only a larger acceleration could have taken the robot there and back [m/s^2]."""
_SLOW_PRIOR = 0.5
"""Standard deviation of the logarithm of the slow error over what the receiver states."""
_LARGEST_SLOW = 1.5
"""A receiver's filter knows the size of its slow error: where positions and velocities disagree by
more, the velocities are wrong, or the motion is livelier, not the positions."""
_LARGEST_SLOW_RATE = 0.5
"""Largest standard deviation [m/s] of that error's rate where there are no velocities beside the
positions: a receiver measures its velocity, so that what moves faster is the robot."""
_WHITE_PRIOR = (0.3, 2.0)
"""Centre of the white error over what the receiver states, standard deviation of its logarithm."""
_VELOCITY_PRIOR = 2.0
_BLOCK = 400
_BLOCKS = 6
_ENOUGH_RATE = 10.0
"""Of a long recording so many fixes a second [Hz] tell how lively a robot is; more would only make
the stretches so short that there is no turn in any."""
_ROUNDS = 5
_ESTIMATES = 3
_MAX_OUTLIERS = 0.2
_DENSITIES, _INTENSITIES = (1e-3, 1e2), (1e-6, 1e4)
_SCALE_TIME = 5.0
_FREEDOM = 3.0
"""Of Student's t distribution, whose tails reach further with a smaller one."""
_MANOEUVRE_TIME = 3.0
"""So long a vehicle takes for a corner, or to brake [s]."""
_ADAPTATIONS, _ADAPTED = 6, 0.1


@dataclass(frozen=True)
class FixNoise:
    """Parameters of the model.

    ``acceleration_density``: of the white noise that drives the velocity [m/s^2/sqrt(Hz)].
    ``white_scale``: standard deviation of the positions' white error over what the receiver states.
    ``slow_scale``: standard deviation of the slow error over what the receiver states; 0: none.
    ``slow_time``: the time l in the slow error's correlation (1 + t/l) exp(-t/l) [s].
    ``velocity_deviation``: of each component of a Doppler velocity [m/s].
    """

    acceleration_density: float
    white_scale: float = 1.0
    slow_scale: float = 0.0
    slow_time: float = 0.0
    velocity_deviation: float = VELOCITY_DEVIATION


@dataclass(frozen=True)
class PlaneFixes:
    """Positions in the plane, and perhaps velocities.

    ``times`` has shape (n,), strictly increasing [s]; all others (n, 2), east and north:
    ``positions`` [m], ``deviations`` that the receiver states [m], ``velocities`` [m/s], nan
    where there is none, or None. These are those of ``velocity_lag`` [s] before the times.
    """

    times: np.ndarray
    positions: np.ndarray
    deviations: np.ndarray
    velocities: np.ndarray | None = None
    velocity_lag: float = 0.0

    def part(self, chosen):
        """Return the fixes at some indices."""
        velocities = None if self.velocities is None else self.velocities[chosen]
        times, positions = self.times[chosen], self.positions[chosen]
        return PlaneFixes(times, positions, self.deviations[chosen], velocities, self.velocity_lag)


def smooth_plane(fixes, noise, left_out=None, model=None, densities=None) -> list[SmoothMotion]:
    """Smooth positions on both axes, without those that are ``left_out`` (n,).

    ``model`` is a MotionModel for these times, if it has been made. ``densities`` (k - 1,): of each
    step, in place of the one of ``noise``.
    """
    densities = noise.acceleration_density if densities is None else densities
    slow = noise.slow_scale > 0.0
    model = model or motion_model(fixes, noise)
    variances = white_variances(fixes, noise)
    if left_out is not None:
        variances = np.where(left_out[:, np.newaxis], np.inf, variances)
    parts = [fixes.positions, variances, noise.slow_scale * fixes.deviations if slow else None]
    velocities = fixes.velocities
    if velocities is not None:
        known = np.isfinite(velocities)
        parts += [velocities, np.where(known, noise.velocity_deviation**2, np.inf)]
    of_axes: Any = ((None if part is None else part[:, axis] for part in parts) for axis in (0, 1))
    return [model.smooth(Measurements(*of_axis), densities) for of_axis in of_axes]


def motion_model(fixes, noise) -> MotionModel:
    """Return the model at the times of fixes."""
    slow_time = noise.slow_time if noise.slow_scale > 0.0 else 0.0
    return MotionModel(fixes.times, slow_time, fixes.velocity_lag)


def white_variances(fixes, noise):
    """Return variances of the positions' white error [m^2], shape (n, 2)."""
    return (noise.white_scale * fixes.deviations) ** 2 + SMALLEST_DEVIATION**2


def estimate_noise(fixes, correlation_time, left_out=None, start=None) -> FixNoise:
    """Find the model's parameters from the fixes.

    Of a long recording six stretches of 400 fixes, evenly spread and of ten in a second at most,
    are enough: they tell the density within a few per cent.

    ``correlation_time``: integral of the slow error's correlation from 0 on [s]; 0: no slow error.
    ``left_out`` (n,). ``start`` (FixNoise): where the search begins, if they are nearly known.
    """
    # Imported here, since every node knows this module's settings, and it takes memory.
    from scipy.optimize import minimize

    if left_out is not None:
        fixes = fixes.part(np.flatnonzero(~left_out))
    slow_time = correlation_time / 2.0
    stretches = [fixes.part(chosen) for chosen in _stretches(fixes.times)]
    models = [MotionModel(one.times, slow_time, one.velocity_lag) for one in stretches]
    largest = _LARGEST_SLOW
    if fixes.velocities is None and slow_time > 0.0:
        largest = min(largest, _LARGEST_SLOW_RATE * slow_time / _rms(fixes.deviations))
    centre = np.log([1.0, _WHITE_PRIOR[0], min(1.0, largest), VELOCITY_DEVIATION])
    free = [0, 1] + [2] * (slow_time > 0.0) + [3] * (fixes.velocities is not None)

    def noise_of(values):
        logarithms = centre.copy()
        logarithms[free] = values
        density, white, scale, velocity = np.exp(np.clip(logarithms, -15.0, 15.0))
        return FixNoise(
            float(np.clip(density, *_DENSITIES)),
            float(white),
            float(min(scale, largest)) if slow_time > 0.0 else 0.0,
            slow_time,
            float(np.hypot(velocity, VELOCITY_DEVIATION)),
        )

    spread = np.array([np.inf, _WHITE_PRIOR[1], _SLOW_PRIOR, _VELOCITY_PRIOR])[free]

    def cost(values):
        noise = noise_of(values)
        try:
            deviance = sum(
                motion.deviance
                for stretch, model in zip(stretches, models)
                for motion in smooth_plane(stretch, noise, model=model)
            )
        except ValueError:
            return 1e12
        # Far off the centre nothing changes any more; there the search shall turn back.
        return deviance + np.sum(((values - centre[free]) / np.minimum(spread, 10.0)) ** 2)

    begin, step = centre[free], 1.0
    if start is not None:
        begin, step = _logarithms(start)[free], 0.3
    simplex = np.vstack([begin, begin - step * np.eye(len(free))])
    found = minimize(
        cost,
        begin,
        method="Nelder-Mead",
        options={"initial_simplex": simplex, "xatol": 0.01, "fatol": 0.05, "maxfev": 400},
    )
    return noise_of(found.x)


def step_densities(fixes, noise, left_out) -> np.ndarray:
    """Return the acceleration density of each step of the model, (k - 1,) [m/s^2/sqrt(Hz)].

    A vehicle drives steadily for most of the time and accelerates in between, so that one density
    for the whole drive makes its course too uncertain on the straight and too sure in corners. In
    each few seconds the acceleration is taken as one of Student's t distribution, a normal one
    whose variance is unknown; expected variances and the distribution's scale follow in turns, by
    expectation maximisation (Agamennoni, Nieto and Nebot: Approximate inference in state-space
    models with heavy-tailed noise, IEEE Transactions on Signal Processing 60(10), 2012).

    ``fixes`` (PlaneFixes), ``noise`` (FixNoise), ``left_out`` (n,): as of :func:`smooth_plane`.
    """
    model = motion_model(fixes, noise)
    manoeuvres = np.floor((model.times[:-1] - model.times[0]) / _MANOEUVRE_TIME)
    _, manoeuvre, steps = np.unique(manoeuvres, return_inverse=True, return_counts=True)
    scale = noise.acceleration_density**2
    intensities = np.full(len(manoeuvre), scale)
    for _ in range(_ADAPTATIONS):
        motions = smooth_plane(fixes, noise, left_out, model, np.sqrt(intensities))
        # Rounding may leave less than nothing of exact measurements.
        squares = np.maximum(sum(motion.expected_squares() for motion in motions), 0.0)
        squares = np.bincount(manoeuvre, squares)
        for _ in range(_ADAPTATIONS):
            weights = (_FREEDOM + 4.0 * steps) / (_FREEDOM + squares / scale)
            scale = np.clip(np.sum(weights * squares) / np.sum(4.0 * steps), *_INTENSITIES)
        before, intensities = intensities, np.clip(scale / weights, *_INTENSITIES)[manoeuvre]
        if np.max(np.abs(np.log(intensities / before))) < _ADAPTED:
            break
    return np.sqrt(intensities)


def _logarithms(noise):
    slow = max(noise.slow_scale, 1e-6)
    velocity = noise.velocity_deviation**2 - VELOCITY_DEVIATION**2
    velocity = max(np.sqrt(max(velocity, 0.0)), 1e-2)
    return np.log([noise.acceleration_density, noise.white_scale, slow, velocity])


def _stretches(times):
    """Return indices of evenly spread stretches, or of everything."""
    chosen = np.arange(len(times))
    if len(chosen) > _BLOCK * _BLOCKS:
        period = float(np.median(np.diff(times)))
        # Rounded stamps do not cost a fix.
        chosen = chosen[:: max(1, int(1.0 / (_ENOUGH_RATE * period) + 0.01))]
    if len(chosen) <= _BLOCK * _BLOCKS:
        return [chosen]
    begins = np.linspace(0, len(chosen) - _BLOCK, _BLOCKS).astype(int)
    return [chosen[begin : begin + _BLOCK] for begin in begins]


def velocity_scale(fixes):
    """Return how far the positions go for each metre that the velocities tell.

    The regression of displacements over about 5 s on the velocities' integral over the same
    time: 1 if all is well, 1 / 3.6 if kilometres per hour were taken for metres per second. None if
    the velocities hardly lead anywhere.
    """
    part = fixes.part(np.isfinite(fixes.velocities).all(axis=1))
    times, positions, velocities = part.times, part.positions, part.velocities
    if len(times) < 2:
        return None
    way = np.zeros_like(positions)
    way[1:] = np.cumsum(np.diff(times)[:, None] * (velocities[1:] + velocities[:-1]) / 2.0, axis=0)
    later = np.minimum(np.searchsorted(times, times + _SCALE_TIME), len(times) - 1)
    reported, gone = way[later] - way, positions[later] - positions
    if _rms(reported) < max(1.0, _rms(fixes.deviations)):
        return None
    return float(np.sum(reported * gone) / np.sum(reported**2))


_MAX_LAG = 2.0  # of velocities against positions that is looked for [s]
_NOTABLE_LAG, _LAG_STDS = 0.02, 5.0
"""A smaller one [s], or one of fewer standard deviations, may be chance."""
_LONGEST_STEP = 1.5  # between velocities, in usual steps, over which they are interpolated


def velocity_lag(fixes) -> float:
    """Return how late the velocities are against the positions, as of a receiver's filter [s].

    The delay after whose correction the velocities' integral between fixes is nearest to the
    positions' displacements, by robust least squares: 0 where it cannot be told from none.
    """
    from scipy.interpolate import CubicSpline

    part = fixes.part(np.isfinite(fixes.velocities).all(axis=1))
    if len(part.times) < 2:
        return 0.0
    steps = np.diff(part.times)
    lag, std = delay_of_integral(
        part.times,
        np.diff(part.positions, axis=0),
        CubicSpline(part.times, part.velocities).antiderivative(),
        steps <= _LONGEST_STEP * np.median(steps),
        _MAX_LAG,
    )
    return lag if abs(lag) > max(_NOTABLE_LAG, _LAG_STDS * std) else 0.0


def _rms(values):
    return np.sqrt(np.mean(np.square(values)))


def find_outliers(fixes, noise, left_out):
    """Return which further positions and velocities (n,) no motion of a ground robot explains.

    A position is judged by its distance from where all others put it, the deletion residual
    ``(y - x) / (1 - P / R)`` of variance ``R / (1 - P / R)`` (Cook and Weisberg, Residuals and
    Influence in Regression, 1982), R being the variance of its white error and P
    that of what was estimated for it; a velocity in the same way. Of neighbours only the worst
    is named, since it draws the others with it.
    """
    motions = smooth_plane(fixes, noise, left_out)
    count = len(fixes.times)
    # Squares of deletion residuals in standard deviations, and as they are: summed over axes.
    scores, distances = np.zeros((2, count)), np.zeros((2, count))
    for axis, motion in enumerate(motions):
        known = motion.known_variances()
        _add_deleted(scores[0], distances[0], motion.white_residuals, known, motion.variances)
        if fixes.velocities is not None:
            at = motion_model(fixes, noise).velocities_at
            residuals = fixes.velocities[:, axis] - motion.velocities[at]
            known, variances = motion.covariances()[at, 1, 1], noise.velocity_deviation**2
            _add_deleted(scores[1], distances[1], residuals, known, variances)
    scores, distances = np.sqrt(scores), np.sqrt(distances)
    scores[0, left_out] = 0.0
    steps = np.diff(fixes.times)
    nearest = np.minimum(np.append(steps, np.inf), np.append(np.inf, steps))
    # There and back within two steps, and from one velocity to another within one.
    possible = OUTLIER_ACCELERATION * np.stack([nearest**2 / 2.0, nearest])
    wrong = (scores > OUTLIER_DEVIATIONS) & (distances > possible)
    # What the receiver itself leaves open is none, however well the others agree.
    wrong[0] &= distances[0] > fixes.deviations.max(axis=1)
    padded = np.pad(scores, ((0, 0), (3, 3)))
    highest = np.max([padded[:, k : k + count] for k in range(7)], axis=0)
    return wrong & (scores >= highest)


def _add_deleted(scores, distances, residuals, known, variances):
    """Add squared deletion residuals to both sums, in place; nothing where there is no residual."""
    free = np.clip(1.0 - known / variances, 1e-6, 1.0)
    squares = np.nan_to_num((residuals / free) ** 2)
    scores += squares * free / variances
    distances += squares


def estimate_robustly(fixes, correlation_time):
    """Find the model's parameters, and what does not fit it, leaving out one after the other.

    Returns FixNoise, the fixes, whose velocities that do not fit are nan, and which positions (n,)
    do not fit.
    """
    left_out = np.zeros(len(fixes.times), dtype=bool)
    noise = estimate_noise(fixes, correlation_time)
    for _ in range(_ESTIMATES):
        before, changed = left_out, False
        for _ in range(_ROUNDS):
            positions, velocities = find_outliers(fixes, noise, left_out)
            if not positions.any() and not velocities.any():
                break
            changed, left_out = True, left_out | positions
            if velocities.any():
                kept = np.where(velocities[:, None], np.nan, fixes.velocities)
                fixes = replace(fixes, velocities=kept)
        if not changed:
            break
        # Who leaves out every fifth position has no model of them.
        if left_out.mean() > _MAX_OUTLIERS:
            return noise, fixes, before
        noise = estimate_noise(fixes, correlation_time, left_out, noise)
    return noise, fixes, left_out


def stated_noise(fixes, acceleration_density, correlation_time):
    """Return parameters and fixes for a density that is given: errors are as the receiver states.

    A sum of n errors with correlation exp(-t/T) has the variance of n dt / (dt + 2 T)
    independent ones, as long as dt is small against T; so much larger their variance is taken.
    """
    correlated = 1.0 + 2.0 * correlation_time / np.median(np.diff(fixes.times))
    wider = replace(fixes, deviations=fixes.deviations * np.sqrt(correlated))
    return wider, FixNoise(acceleration_density)
