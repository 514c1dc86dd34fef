"""Smoothing of positions in the plane with a strength that is found from the positions.

The model is that of :mod:`.motion_smoothing`. Its parameters are those of the largest posterior
density: the likelihood of all positions (and velocities) times a wide prior, which counts only
where positions alone cannot tell a receiver's slow error from the motion.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from imu_simulation_framework.motion.positioning.motion_smoothing import (
    Measurements,
    MotionModel,
    SmoothMotion,
)

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
_MOST_OUTLIERS = 0.2
_DENSITIES = (1e-3, 1e2)
_SCALE_TIME = 5.0


@dataclass(frozen=True)
class FixNoise:
    """Parameters of the model.

    Attributes
    ----------
    acceleration_density : float
        Of the white noise that drives the velocity [m/s^2/sqrt(Hz)].
    white_scale : float
        Standard deviation of the positions' white error over what the receiver states.
    slow_scale : float
        Standard deviation of the slow error over what the receiver states; 0: none.
    slow_time : float
        The time l in the slow error's correlation (1 + t/l) exp(-t/l) [s].
    velocity_deviation : float
        Of each component of a Doppler velocity [m/s].
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
    where there is none, or None.
    """

    times: np.ndarray
    positions: np.ndarray
    deviations: np.ndarray
    velocities: np.ndarray | None = None

    def part(self, chosen):
        """Return the fixes at some indices."""
        velocities = None if self.velocities is None else self.velocities[chosen]
        return PlaneFixes(
            self.times[chosen], self.positions[chosen], self.deviations[chosen], velocities
        )


def smooth_plane(fixes, noise, left_out=None, model=None) -> list[SmoothMotion]:
    """Smooth positions on both axes.

    Parameters
    ----------
    fixes : PlaneFixes
    noise : FixNoise
    left_out : ndarray of bool, shape (n,), optional
        Positions not to be used.
    model : MotionModel, optional
        For these times, if it has been made.
    """
    slow = noise.slow_scale > 0.0
    model = model or MotionModel(fixes.times, noise.slow_time if slow else 0.0)
    motions = []
    for axis in range(2):
        stated = fixes.deviations[:, axis]
        variances = white_variances(fixes, noise)[:, axis]
        if left_out is not None:
            variances = np.where(left_out, np.inf, variances)
        velocities = velocity_variances = None
        if fixes.velocities is not None:
            velocities = fixes.velocities[:, axis]
            velocity_variances = np.where(
                np.isfinite(velocities), noise.velocity_deviation**2, np.inf
            )
        motions.append(
            model.smooth(
                Measurements(
                    fixes.positions[:, axis],
                    variances,
                    noise.slow_scale * stated if slow else None,
                    velocities,
                    velocity_variances,
                ),
                noise.acceleration_density,
            )
        )
    return motions


def white_variances(fixes, noise):
    """Return variances of the positions' white error [m^2], shape (n, 2)."""
    return (noise.white_scale * fixes.deviations) ** 2 + SMALLEST_DEVIATION**2


def estimate_noise(fixes, correlation_time, left_out=None, start=None) -> FixNoise:
    """Find the model's parameters from the fixes.

    Of a long recording six stretches of 400 fixes, evenly spread and of ten in a second at most,
    are enough: they tell the density within a few per cent.

    Parameters
    ----------
    fixes : PlaneFixes
    correlation_time : float
        Integral of the slow error's correlation from 0 on [s]; 0: no slow error.
    left_out : ndarray of bool, shape (n,), optional
    start : FixNoise, optional
        Where the search begins, if they are nearly known.

    Returns
    -------
    FixNoise
    """
    # Imported here, since every node knows this module's settings, and it takes memory.
    from scipy.optimize import minimize

    if left_out is not None:
        fixes = fixes.part(np.flatnonzero(~left_out))
    slow_time = correlation_time / 2.0
    stretches = [fixes.part(chosen) for chosen in _stretches(fixes.times)]
    models = [MotionModel(stretch.times, slow_time) for stretch in stretches]
    largest = _LARGEST_SLOW
    if fixes.velocities is None and slow_time > 0.0:
        largest = min(largest, _LARGEST_SLOW_RATE * slow_time / _rms(fixes.deviations))
    centre = np.log([1.0, _WHITE_PRIOR[0], min(1.0, largest), VELOCITY_DEVIATION])
    free = [0, 1]
    if slow_time > 0.0:
        free.append(2)
    if fixes.velocities is not None:
        free.append(3)

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
    time: 1 if all is well, 1 / 3.6 if kilometres per hour were taken for metres per second.

    Returns
    -------
    float or None
        None if the velocities hardly lead anywhere.
    """
    known = np.isfinite(fixes.velocities).all(axis=1)
    times, positions, velocities = (
        fixes.times[known],
        fixes.positions[known],
        fixes.velocities[known],
    )
    if len(times) < 2:
        return None
    way = np.zeros_like(positions)
    way[1:] = np.cumsum(np.diff(times)[:, None] * (velocities[1:] + velocities[:-1]) / 2.0, axis=0)
    later = np.minimum(np.searchsorted(times, times + _SCALE_TIME), len(times) - 1)
    told, gone = way[later] - way, positions[later] - positions
    if _rms(told) < max(1.0, _rms(fixes.deviations)):
        return None
    return float(np.sum(told * gone) / np.sum(told**2))


def _rms(values):
    return np.sqrt(np.mean(np.square(values)))


def find_outliers(fixes, noise, left_out):
    """Return which further measurements no motion of a ground robot can explain.

    A position is judged by its distance from where all others put it, the deletion residual
    ``(y - x) / (1 - P / R)`` of variance ``R / (1 - P / R)`` (Cook and Weisberg, Residuals and
    Influence in Regression, 1982), R being the variance of its white error and P
    that of what was estimated for it; a velocity in the same way. Of neighbours only the worst
    is named, since it draws the others with it.

    Returns
    -------
    positions, velocities : ndarray of bool, shape (n,)
    """
    motions = smooth_plane(fixes, noise, left_out)
    count = len(fixes.times)
    # Squares of deletion residuals in standard deviations, and as they are: summed over axes.
    scores, distances = np.zeros((2, count)), np.zeros((2, count))
    for axis, motion in enumerate(motions):
        covariance = motion.covariances()
        row = np.zeros((count, covariance.shape[1]))
        row[:, 0] = 1.0
        if noise.slow_scale > 0.0:
            row[:, 2] = noise.slow_scale * fixes.deviations[:, axis]
        known = np.einsum("ki,kij,kj->k", row, covariance, row)
        variances = white_variances(fixes, noise)[:, axis]
        _add_deleted(scores[0], distances[0], motion.white_residuals, known, variances)
        if fixes.velocities is not None:
            residuals = fixes.velocities[:, axis] - motion.velocities
            variances = noise.velocity_deviation**2
            _add_deleted(scores[1], distances[1], residuals, covariance[:, 1, 1], variances)
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
    """Find the model's parameters and what does not fit it.

    Returns
    -------
    noise : FixNoise
    fixes : PlaneFixes
        Velocities that do not fit are nan.
    left_out : ndarray of bool, shape (n,)
        Positions that do not fit.
    """
    left_out = np.zeros(len(fixes.times), dtype=bool)
    noise = estimate_noise(fixes, correlation_time)
    for _ in range(_ESTIMATES):
        before = left_out
        fixes, left_out, changed = _leave_out(fixes, noise, left_out)
        if not changed:
            break
        # Who leaves out every fifth position has no model of them.
        if left_out.mean() > _MOST_OUTLIERS:
            return noise, fixes, before
        noise = estimate_noise(fixes, correlation_time, left_out, noise)
    return noise, fixes, left_out


def _leave_out(fixes, noise, left_out):
    """Leave out one after the other what does not fit, until all fits."""
    changed = False
    for _ in range(_ROUNDS):
        positions, velocities = find_outliers(fixes, noise, left_out)
        if not positions.any() and not velocities.any():
            break
        changed = True
        left_out = left_out | positions
        if velocities.any():
            kept = np.where(velocities[:, None], np.nan, fixes.velocities)
            fixes = replace(fixes, velocities=kept)
    return fixes, left_out, changed


def stated_noise(fixes, acceleration_density, correlation_time):
    """Return parameters and fixes for a density that is given: errors are as the receiver states.

    A sum of n errors with correlation exp(-t/T) has the variance of n dt / (dt + 2 T)
    independent ones, as long as dt is small against T; so much larger their variance is taken.
    """
    correlated = 1.0 + 2.0 * correlation_time / np.median(np.diff(fixes.times))
    wider = replace(fixes, deviations=fixes.deviations * np.sqrt(correlated))
    return wider, FixNoise(acceleration_density)
