"""Estimation of the noise of GNSS fixes, and of the noise that models the robot's acceleration.

The parameters of the model in :mod:`.smoothing` are maximum a posteriori estimates. The prior is
wide: it matters only where the fixes cannot distinguish the receiver's slow error from the motion.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..core.signals import estimate_delay
from .smoothing import Measurements, MotionModel, SmoothMotion

SMALLEST_JITTER = 1e-3  #: m; accuracy of motion capture, the most accurate source of positions

# Median length of a vector of two standard normal numbers (Rayleigh distribution).
_MEDIAN = np.sqrt(2.0 * np.log(2.0))


def jitter(times, positions) -> float:
    """Estimate the standard deviation of the white position error of each coordinate.

    The third divided difference of four consecutive positions cancels a motion that is a parabola
    in time. White errors remain, with weights whose squares add up to 1. The median length of the
    differences is insensitive to outliers, sharp turns and the direction of motion. Four identical
    positions are skipped, because rounded or filtered positions at rest contain no information.

    Parameters
    ----------
    times : ndarray, shape (n,)
        Times [s].
    positions : ndarray, shape (n, 2)
        Positions [m].

    Returns
    -------
    float
        Standard deviation, at least :data:`SMALLEST_JITTER` [m].
    """
    rows = np.arange(4) + np.arange(max(0, len(times) - 3))[:, None]
    rows = rows[np.ptp(positions[rows], axis=1).any(axis=1)]
    if not len(rows):
        return SMALLEST_JITTER
    time_differences = times[rows][:, :, None] - times[rows][:, None, :] + np.eye(4)
    weights = 1.0 / np.prod(time_differences, axis=2)
    weights /= np.linalg.norm(weights, axis=1, keepdims=True)
    lengths = np.linalg.norm(np.einsum("ij,ijk->ik", weights, positions[rows]), axis=1)
    return max(SMALLEST_JITTER, float(np.median(lengths)) / _MEDIAN)


# Smallest standard deviation of a Doppler velocity component [m/s].
# u-blox states 0.05 m/s for a ZED-F9P; delay, rounding and averaging are assumed to double it.
VELOCITY_DEVIATION = 0.1
SMALLEST_DEVIATION = 1e-4  # m; smallest standard deviation of a position
OUTLIER_DEVIATIONS = 5.0  # smallest deviation of an outlier, in standard deviations
OUTLIER_ACCELERATION = 9.81  # m/s^2; a deviation that less acceleration explains is no outlier
# Prior standard deviation of log(slow error / standard deviation reported by the receiver).
_SLOW_PRIOR = 0.5
# Largest ratio of the slow error to the reported standard deviation.
# The receiver's filter estimates the magnitude of its slow error, so a larger error is unlikely.
# Larger differences from the velocities are due to wrong velocities or larger accelerations.
_LARGEST_SLOW = 1.5
# Largest standard deviation of the slow error's time derivative without recorded velocities [m/s].
# Receivers measure their velocity internally, so faster changes are due to the robot's motion.
_LARGEST_SLOW_RATE = 0.5
# Prior of the ratio of the white error to the reported standard deviation.
# The values are its median and the standard deviation of its logarithm.
_WHITE_PRIOR = (0.3, 2.0)
_VELOCITY_PRIOR = 2.0  # prior standard deviation of the logarithm of the velocity error
_BLOCK = 400  # number of fixes in each of the intervals that represent a long recording
_BLOCKS = 6  # number of intervals that represent a long recording
# Rate of the fixes that are used from a long recording [Hz]; it suffices to estimate the density.
# At a higher rate, the intervals would be too short to contain turns.
_ENOUGH_RATE = 10.0
_ROUNDS = 5  # largest number of outlier searches with the same noise parameters
_ESTIMATES = 3  # largest number of repeated noise estimates after removing outliers
_MAX_OUTLIERS = 0.2  # fraction of outliers above which the noise model is rejected
# Lower and upper limits of acceleration densities [m/s^2/sqrt(Hz)], and of their squares.
_DENSITIES, _INTENSITIES = (1e-3, 1e2), (1e-6, 1e4)
_SCALE_TIME = 5.0  # s; duration of the displacements that are compared with velocities
_FREEDOM = 3.0  # degrees of freedom of Student's t distribution; fewer give heavier tails
_MANOEUVRE_TIME = 3.0  # s; time in which a vehicle turns a corner or brakes
_ADAPTATIONS = 6  # largest number of iterations of the acceleration densities
_CONVERGENCE = 0.1  # change of log(squared density) below which the iteration ends


@dataclass(frozen=True)
class FixNoise:
    """Noise parameters of the motion model and of the GNSS fixes.

    Parameters
    ----------
    acceleration_density : float
        Density of the white noise that drives the velocity [m/s^2/sqrt(Hz)].
    white_scale : float
        Standard deviation of the white position error, relative to the reported one [1].
    slow_scale : float
        Standard deviation of the slow position error, relative to the reported one [1]; 0 for no
        slow error.
    slow_time : float
        Time l in the slow error's correlation function (1 + t/l) exp(-t/l) [s].
    velocity_deviation : float
        Standard deviation of each component of a Doppler velocity [m/s].
    """

    acceleration_density: float
    white_scale: float = 1.0
    slow_scale: float = 0.0
    slow_time: float = 0.0
    velocity_deviation: float = VELOCITY_DEVIATION


@dataclass(frozen=True)
class PlaneFixes:
    """GNSS fixes in the horizontal plane: positions, and possibly velocities.

    Parameters
    ----------
    times : ndarray, shape (n,)
        Times, strictly increasing [s].
    positions : ndarray, shape (n, 2)
        Positions, east and north [m].
    deviations : ndarray, shape (n, 2)
        Standard deviations reported by the receiver [m].
    velocities : ndarray, shape (n, 2), optional
        Velocities [m/s], nan where missing.
    velocity_lag : float
        Lag of the velocities behind the positions; they are valid this long before ``times`` [s].
    """

    times: np.ndarray
    positions: np.ndarray
    deviations: np.ndarray
    velocities: np.ndarray | None = None
    velocity_lag: float = 0.0

    @cached_property
    def is_isotropic(self) -> bool:
        """Whether the errors in east and north have the same variances."""
        measured_velocities = [] if self.velocities is None else [np.isfinite(self.velocities)]
        return all(np.array_equal(*values.T) for values in (self.deviations, *measured_velocities))

    def part(self, selection):
        """Return a subset of the fixes.

        Parameters
        ----------
        selection : ndarray
            Indices or mask of the fixes.

        Returns
        -------
        PlaneFixes
        """
        velocities = None if self.velocities is None else self.velocities[selection]
        times, positions = self.times[selection], self.positions[selection]
        return PlaneFixes(
            times, positions, self.deviations[selection], velocities, self.velocity_lag
        )


def smooth_plane(fixes, noise, left_out=None, model=None, densities=None) -> list[SmoothMotion]:
    """Estimate the smoothed motion along the east and north axes.

    Parameters
    ----------
    fixes : PlaneFixes
        Positions, and possibly velocities.
    noise : FixNoise
        Parameters of the model.
    left_out : ndarray of bool, shape (n,), optional
        Whether a position is ignored.
    model : MotionModel, optional
        Model for these times, if it already exists.
    densities : ndarray, shape (k - 1,), optional
        Acceleration density of each step, which replaces that in ``noise``.

    Returns
    -------
    list of SmoothMotion
        Motion to the east and to the north.
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
    columns: Any = ((None if part is None else part[:, axis] for part in parts) for axis in (0, 1))
    east, north = (Measurements(*column) for column in columns)
    posterior = model.posterior(east, densities)
    if fixes.is_isotropic:
        return model.smooth_axes([east, north], densities, posterior)
    return [model.smooth(east, densities, posterior), model.smooth(north, densities)]


def motion_model(fixes, noise) -> MotionModel:
    """Create the motion model for the times of the fixes.

    Parameters
    ----------
    fixes : PlaneFixes
        Positions, and possibly velocities.
    noise : FixNoise
        Parameters of the model.

    Returns
    -------
    MotionModel
    """
    slow_time = noise.slow_time if noise.slow_scale > 0.0 else 0.0
    return MotionModel(fixes.times, slow_time, fixes.velocity_lag)


def white_variances(fixes, noise):
    """Return the variances of the white position errors.

    Parameters
    ----------
    fixes : PlaneFixes
        Positions, and possibly velocities.
    noise : FixNoise
        Parameters of the model.

    Returns
    -------
    ndarray, shape (n, 2)
        Variances [m^2].
    """
    return (noise.white_scale * fixes.deviations) ** 2 + SMALLEST_DEVIATION**2


def estimate_noise(fixes, correlation_time, left_out=None, start=None) -> FixNoise:
    """Estimate the noise parameters of the model from the fixes.

    From a long recording, only six evenly spread intervals of 400 fixes are used, with at most ten
    fixes per second. They suffice to estimate the density to a few per cent.

    Parameters
    ----------
    fixes : PlaneFixes
        Positions, and possibly velocities.
    correlation_time : float
        Integral of the slow error's correlation function over positive lags [s]; 0 for no slow
        error.
    left_out : ndarray of bool, shape (n,), optional
        Whether a position is ignored.
    start : FixNoise, optional
        Initial parameters, if an approximate solution is known.

    Returns
    -------
    FixNoise
    """
    # Imported on first use: every node imports this module, and scipy.optimize needs much memory.
    from scipy.optimize import minimize

    if left_out is not None:
        fixes = fixes.part(np.flatnonzero(~left_out))
    slow_time = correlation_time / 2.0
    intervals = [fixes.part(indices) for indices in _choose_intervals(fixes.times)]
    models = [MotionModel(part.times, slow_time, part.velocity_lag) for part in intervals]
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
                for interval, model in zip(intervals, models)
                for motion in smooth_plane(interval, noise, model=model)
            )
        except ValueError:
            return 1e12
        # Far from the centre of the prior, the likelihood is flat; the prior guides the search.
        return deviance + np.sum(((values - centre[free]) / np.minimum(spread, 10.0)) ** 2)

    begin, step = centre[free], 1.0
    if start is not None:
        begin, step = _logarithms(start)[free], 0.3
    simplex = np.vstack([begin, begin - step * np.eye(len(free))])
    solution = minimize(
        cost,
        begin,
        method="Nelder-Mead",
        options={"initial_simplex": simplex, "xatol": 0.01, "fatol": 0.05, "maxfev": 400},
    )
    return noise_of(solution.x)


def step_densities(fixes, noise, left_out) -> np.ndarray:
    """Estimate the acceleration noise density for each time step of the motion model.

    A vehicle drives steadily most of the time, with short accelerations in between. A single
    density for the complete drive would overestimate the uncertainty of the course on straight
    lines and underestimate it in corners. In intervals of a few seconds, the acceleration therefore
    has Student's t distribution, a normal distribution of unknown variance. Expected variances and
    the scale of the distribution are estimated alternately by expectation maximisation
    (Agamennoni, Nieto and Nebot:
    Approximate Inference in State-Space Models With Heavy-Tailed Noise, IEEE Transactions on Signal
    Processing 60(10), 2012).

    Parameters
    ----------
    fixes : PlaneFixes
        Positions, and possibly velocities.
    noise : FixNoise
        Parameters of the model.
    left_out : ndarray of bool, shape (n,)
        Whether a position is ignored.

    Returns
    -------
    ndarray, shape (k - 1,)
        Densities [m/s^2/sqrt(Hz)].
    """
    model = motion_model(fixes, noise)
    manoeuvres = np.floor((model.times[:-1] - model.times[0]) / _MANOEUVRE_TIME)
    _, manoeuvre, steps = np.unique(manoeuvres, return_inverse=True, return_counts=True)
    scale = noise.acceleration_density**2
    intensities = np.full(len(manoeuvre), scale)
    for _ in range(_ADAPTATIONS):
        motions = smooth_plane(fixes, noise, left_out, model, np.sqrt(intensities))
        # Rounding can make the expected squares of exact measurements negative.
        squares = np.maximum(sum(motion.expected_squares() for motion in motions), 0.0)
        squares = np.bincount(manoeuvre, squares)
        for _ in range(_ADAPTATIONS):
            weights = (_FREEDOM + 4.0 * steps) / (_FREEDOM + squares / scale)
            scale = np.clip(np.sum(weights * squares) / np.sum(4.0 * steps), *_INTENSITIES)
        previous, intensities = intensities, np.clip(scale / weights, *_INTENSITIES)[manoeuvre]
        if np.max(np.abs(np.log(intensities / previous))) < _CONVERGENCE:
            break
    return np.sqrt(intensities)


def _logarithms(noise):
    slow = max(noise.slow_scale, 1e-6)
    velocity = noise.velocity_deviation**2 - VELOCITY_DEVIATION**2
    velocity = max(np.sqrt(max(velocity, 0.0)), 1e-2)
    return np.log([noise.acceleration_density, noise.white_scale, slow, velocity])


def _choose_intervals(times):
    """Return the indices of fixes in evenly spaced intervals, or of all fixes if there are few."""
    indices = np.arange(len(times))
    if len(indices) > _BLOCK * _BLOCKS:
        period = float(np.median(np.diff(times)))
        # The tolerance prevents fixes from being skipped because their stamps are rounded.
        indices = indices[:: max(1, int(1.0 / (_ENOUGH_RATE * period) + 0.01))]
    if len(indices) <= _BLOCK * _BLOCKS:
        return [indices]
    begins = np.linspace(0, len(indices) - _BLOCK, _BLOCKS).astype(int)
    return [indices[begin : begin + _BLOCK] for begin in begins]


def velocity_scale(fixes):
    """Estimate the ratio of the displacements to the integrals of the velocities.

    The ratio is the regression slope of displacements over about 5 s on the integrated velocities.
    It is 1 for correct velocities, and 1 / 3.6 if km/h were interpreted as m/s.

    Parameters
    ----------
    fixes : PlaneFixes
        Fixes with velocities.

    Returns
    -------
    float or None
        None if the integrated velocities are too small.
    """
    part = fixes.part(np.isfinite(fixes.velocities).all(axis=1))
    times, positions, velocities = part.times, part.positions, part.velocities
    if len(times) < 2:
        return None
    integral = np.zeros_like(positions)
    integral[1:] = np.cumsum(
        np.diff(times)[:, None] * (velocities[1:] + velocities[:-1]) / 2.0, axis=0
    )
    later = np.minimum(np.searchsorted(times, times + _SCALE_TIME), len(times) - 1)
    integrated, displaced = integral[later] - integral, positions[later] - positions
    if _rms(integrated) < max(1.0, _rms(fixes.deviations)):
        return None
    return float(np.sum(integrated * displaced) / np.sum(integrated**2))


_MAX_LAG = 2.0  # s; largest velocity lag in the search
_NOTABLE_LAG, _LAG_STDS = 0.02, 5.0  # s, and in standard deviations; smaller lags are ignored
_LONGEST_STEP = 1.5  # longest step over which velocities are interpolated, in median steps


def velocity_lag(fixes) -> float:
    """Estimate the lag of the velocities behind the positions, as caused by a receiver's filter.

    Robust least squares finds the lag with which the integrated velocities match the displacements
    between fixes best.

    Parameters
    ----------
    fixes : PlaneFixes
        Fixes with velocities.

    Returns
    -------
    float
        Lag [s]; 0 if it is not significant.
    """
    from scipy.interpolate import CubicSpline

    part = fixes.part(np.isfinite(fixes.velocities).all(axis=1))
    if len(part.times) < 2:
        return 0.0
    steps = np.diff(part.times)
    lag, std = estimate_delay(
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
    """Find further positions and velocities that contradict the motion of a ground robot.

    The criterion is the deletion residual: the distance of a position from its estimate by all
    other positions. It is ``(y - x) / (1 - P / R)`` and has the variance ``R / (1 - P / R)``, with
    R the variance of the white error and P the variance of the estimate (Cook and Weisberg,
    Residuals and Influence in Regression, 1982). Velocities are treated in the same way. Among
    neighbouring samples, only the one with the largest residual is an outlier, because it distorts
    the residuals of the others.

    Parameters
    ----------
    fixes : PlaneFixes
        Positions, and possibly velocities.
    noise : FixNoise
        Parameters of the model.
    left_out : ndarray of bool, shape (n,)
        Whether a position is already ignored.

    Returns
    -------
    ndarray of bool, shape (2, n)
        Outliers among positions and velocities.
    """
    model = motion_model(fixes, noise)
    motions = smooth_plane(fixes, noise, left_out, model)
    count = len(fixes.times)
    # Squared deletion residuals summed over both axes: standardised, and in physical units.
    scores, distances = np.zeros((2, count)), np.zeros((2, count))
    for axis, motion in enumerate(motions):
        posterior = motion.posterior
        known = posterior.known_variances
        _add_deleted(scores[0], distances[0], motion.white_residuals, known, posterior.variances)
        if fixes.velocities is not None:
            states = model.velocities_at
            residuals = fixes.velocities[:, axis] - motion.velocities[states]
            known, variances = posterior.covariances[states, 1, 1], noise.velocity_deviation**2
            _add_deleted(scores[1], distances[1], residuals, known, variances)
    scores, distances = np.sqrt(scores), np.sqrt(distances)
    scores[0, left_out] = 0.0
    steps = np.diff(fixes.times)
    nearest = np.minimum(np.append(steps, np.inf), np.append(np.inf, steps))
    # Largest deviations that an acceleration can cause: in a position over two steps, in a velocity
    # over one step.
    possible = OUTLIER_ACCELERATION * np.stack([nearest**2 / 2.0, nearest])
    wrong = (scores > OUTLIER_DEVIATIONS) & (distances > possible)
    # A deviation within the reported standard deviation is not an outlier.
    wrong[0] &= distances[0] > fixes.deviations.max(axis=1)
    padded = np.pad(scores, ((0, 0), (3, 3)))
    highest = np.max([padded[:, k : k + count] for k in range(7)], axis=0)
    return wrong & (scores >= highest)


def _add_deleted(scores, distances, residuals, known, variances):
    """Add squared deletion residuals to both sums, in place; missing residuals count as zero."""
    free = np.clip(1.0 - known / variances, 1e-6, 1.0)
    squares = np.nan_to_num((residuals / free) ** 2)
    scores += squares * free / variances
    distances += squares


def estimate_robustly(fixes, correlation_time):
    """Estimate the noise parameters of the model, and remove outliers iteratively.

    Parameters
    ----------
    fixes : PlaneFixes
        Positions, and possibly velocities.
    correlation_time : float
        Integral of the slow error's correlation function over positive lags [s].

    Returns
    -------
    noise : FixNoise
        Parameters of the model.
    fixes : PlaneFixes
        Fixes, with nan in place of outliers among the velocities.
    left_out : ndarray of bool, shape (n,)
        Outliers among the positions.
    """
    left_out = np.zeros(len(fixes.times), dtype=bool)
    noise = estimate_noise(fixes, correlation_time)
    for _ in range(_ESTIMATES):
        previous, is_changed = left_out, False
        for _ in range(_ROUNDS):
            positions, velocities = find_outliers(fixes, noise, left_out)
            if not positions.any() and not velocities.any():
                break
            is_changed, left_out = True, left_out | positions
            if velocities.any():
                kept = np.where(velocities[:, None], np.nan, fixes.velocities)
                fixes = replace(fixes, velocities=kept)
        if not is_changed:
            break
        # If a model rejects every fifth position, the model is wrong.
        if left_out.mean() > _MAX_OUTLIERS:
            return noise, fixes, previous
        noise = estimate_noise(fixes, correlation_time, left_out, noise)
    return noise, fixes, left_out


def stated_noise(fixes, acceleration_density, correlation_time):
    """Return noise parameters for a given acceleration density and receiver-reported errors.

    The mean of n errors with the correlation exp(-t/T) is as accurate as that of n dt / (dt + 2 T)
    independent errors if dt is small relative to T. The variances are increased accordingly, so
    that the errors can be treated as independent.

    Parameters
    ----------
    fixes : PlaneFixes
        Positions, and possibly velocities.
    acceleration_density : float
        Density of the white acceleration noise [m/s^2/sqrt(Hz)].
    correlation_time : float
        Correlation time T of the position error [s].

    Returns
    -------
    fixes : PlaneFixes
        Fixes with larger deviations.
    noise : FixNoise
        Parameters of the model.
    """
    correlated = 1.0 + 2.0 * correlation_time / np.median(np.diff(fixes.times))
    wider = replace(fixes, deviations=fixes.deviations * np.sqrt(correlated))
    return wider, FixNoise(acceleration_density)
