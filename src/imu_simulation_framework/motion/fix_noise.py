"""How wrong fixes in the plane are, how lively the robot is, and its smooth motion on both axes.

The parameters of the model of :mod:`.smoothing` are those of the largest posterior density: the
likelihood of all positions (and velocities) times a wide prior, which counts only where positions
alone cannot tell a receiver's slow error from the motion.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..core.signals import estimate_delay
from .smoothing import Measurements, MotionModel, SmoothMotion

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
_FREEDOM = 3.0  # of Student's t distribution, whose tails reach further with a smaller one
_MANOEUVRE_TIME = 3.0  # so long a vehicle takes for a corner, or to brake [s]
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
            known, variances = motion.covariances[at, 1, 1], noise.velocity_deviation**2
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
