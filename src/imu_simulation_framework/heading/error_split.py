"""Whose a yaw error is: what of it the reference has, what is left for the IMU, and its zero.

An observed error is that of a :class:`.ReferenceError`, the IMU's, and a constant, by which the
IMU's yaw is turned at the start. All are normal processes. The IMU's is an angle random walk, a
rate bias, a scale factor and an error that passes, as of misaligned axes that tilt, whose strengths
are unknown over powers of ten and weighed by their likelihood.

The constant is estimated in two ways: on the start alone, where that is all that is known; or by
generalised least squares on the whole drive, where the IMU's drift and the reference's error are
what the observations are weighed by. Observations behind a jump, and outliers, weigh little.

References
----------
C. E. Rasmussen and C. K. I. Williams, Gaussian processes for machine learning, 2006, chapter 2,
where section 2.7 has the constant; J. T. Wilson et al., Journal of Machine Learning Research 22
(2021), for draws by Matheron's rule; A. C. Harvey and S. J. Koopman, Diagnostic checking of
unobserved-components time series models, Journal of Business and Economic Statistics 10 (1992), for
jumps and outliers by auxiliary residuals.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..core.stamps import find_gap_ends
from .reference_error import ReferenceError, walk_of_means
from .statistics import edge_samples

if TYPE_CHECKING:
    import pandas as pd

CONFIDENCE = 0.95
ESTIMATED, START = "estimated", "start"
ZEROS = ESTIMATED, START
"""How an error's zero is found: with the whole drive, or on its start alone."""
_MAX_BINS, _MAX_AT_EDGE = 150, 10
"""Of an error that is split; more cost time and tell little more."""
_DRAWS = 1000
_WALKS = np.logspace(-2.0, 1.0, 13)
"""Of the IMU's random walk, at the end, over the observed error's size; so many steps tell it well,
and what lies between two of these would be taken for an error that passes."""
_STRENGTHS = np.logspace(-2.0, 1.0, 5)
"""Of its constants, as of that."""
_DRIFTING = 1.0
"""Least of these for a final error: that the IMU may have next to no bias, which no IMU has, would
draw that towards zero where the reference drifts as far."""
_PASSING = 0.05
"""Correlation time of an IMU's error that passes, as of one that tilts, over the duration."""
_PASSING_STRENGTHS = np.array([0.01, 0.2, 0.5])
"""Of it, as of the others."""
_LARGE, _SMALL = 1e2, 1e-3
"""Of an unknown offset, and of what neither model means, over that size."""
_CHOSEN = 0.02
"""By which share the means over bins may miss the rms of all samples."""
_NOTHING = 0.1
"""A limit below this share of the whole error cannot be told from nothing."""
_UNLIKELY = 1e-6
"""Of a set of strengths, over the likeliest one: it counts no more."""
_FAULT = 5.0
"""Standard deviations of a jump or an outlier: of 300 that are looked for chance makes none."""
_MAX_FAULTS = 8
_MAX_OF_MEDIAN = 500
"""Samples of a window whose median's variance is computed."""
_SEED = 1


class Fault(NamedTuple):
    """A jump of an error, or an outlier: when [s], by about how much [rad], and whether it stays.

    No IMU's drift and nothing that is known of the reference makes it.
    """

    time: float
    size: float
    stays: bool


@dataclass(frozen=True)
class ErrorSplit:
    """Whose a yaw error is, and where it is zero.

    ``reference``: rms that the reference's error is expected to have [rad]. ``imu``: rms of the
    IMU's own, and its 95 % interval from ``imu_low`` to ``imu_high`` [rad]: with a ``imu_low`` of
    zero the reference alone may be all of it. These three are NaN where less was observed than the
    reference alone leads to in 97.5 % of drives: then it is better than it says, and nothing can be
    said of the IMU. ``imu_final``: the IMU's own final error [rad] from where it was over the
    start, as all samples together tell it, and its 95 % interval from ``imu_final_low`` to
    ``imu_final_high``; NaN as above. ``final_std``: standard deviation of what the observed final
    error differs from that, by the reference's error at the end, the zero's, and what jumps
    [rad]. ``drift_std``: that which the reference's error gives to the error's slope [rad/s].
    ``band``: that of the reference's error at each time [rad], indexed by time [s], from the zero
    as the observed error is. ``process``: what the reference's error was taken for. ``zero``: what
    has to be subtracted from the observed error for the IMU's own to be zero over the start [rad];
    ``zero_std``: its standard deviation. ``faults``: what weighs little in the zero.
    """

    reference: float
    imu: float
    imu_low: float
    imu_high: float
    imu_final: float
    imu_final_low: float
    imu_final_high: float
    final_std: float
    drift_std: float
    band: pd.Series
    process: ReferenceError
    zero: float
    zero_std: float
    faults: tuple[Fault, ...]

    def imu_words(self) -> str:
        """Return what can be said of the IMU's own rms, in degrees."""
        if math.isnan(self.imu):
            return "nothing, as the reference is better than it says"
        low, own, high = (f"{math.degrees(a):.2f}" for a in (self.imu_low, self.imu, self.imu_high))
        return f"{own} ({low} to {high})" if self.imu_low > 0.0 else f"< {high}"


def split_error(
    error: pd.Series, reference: ReferenceError, start_window: float, zero: str = START
) -> ErrorSplit:
    """Split a yaw error into the reference's part and the IMU's, and find its zero.

    ``error``: unwrapped [rad]; index time [s]. ``start_window``: over whose mean the IMU's own
    error is zero [s]. ``zero``: one of :data:`ZEROS`.
    """
    import pandas as pd

    inside = (error.index >= reference.time[0]) & (error.index <= reference.time[-1])
    error = error[inside] if inside.any() else error
    bins = _Bins.of(error, reference, start_window)
    found = _estimated_zero(bins, zero)
    values = bins.values - found.weights @ bins.values
    count, random = len(values), np.random.default_rng(_SEED)
    raw = bins.of_reference
    zeroed = np.eye(count) - found.weights
    # Of a sample, not of a bin's mean; a bin's covariance with its samples is on average its own.
    alike = raw @ found.weights
    variance = bins.of_sample - 2.0 * alike + found.weights @ alike
    lasting, squares = bins.share, float(bins.share @ values**2)
    drawn = zeroed @ _root(raw) @ random.standard_normal((count, _DRAWS))
    outside = 0.5 - 0.5 * CONFIDENCE
    slope = bins.time - lasting @ bins.time
    slope *= lasting
    slope /= max(float(slope @ bins.time), np.finfo(float).tiny)
    if squares < np.quantile(lasting @ drawn**2, outside):
        own, final = np.full(3, math.nan), np.full(3, math.nan)
    else:
        strengths = found.strengths if not found.faults else _Strengths(bins, raw)
        shares = [0.5, outside, 1.0 - outside]
        sensor, drifting = (strengths.drawn(bins.values, random, a) for a in (0.0, _DRIFTING))
        sensor -= bins.at_start @ sensor
        own = np.quantile(np.sqrt(lasting @ sensor**2), shares)
        final = np.quantile((bins.at_end - bins.at_start) @ drifting, shares)
        own[1:] *= 1.0 - _CHOSEN, 1.0 + _CHOSEN
        if own[1] < _NOTHING * math.sqrt(squares):
            own[1] = 0.0
    (imu, low, high), (final_error, final_low, final_high) = own.tolist(), final.tolist()
    final_variance = found.strengths.variance(bins.at_end - found.weights, found.weights)
    final_variance += bins.more_of_median(bins.at_end)
    return ErrorSplit(
        math.sqrt(max(0.0, lasting @ variance)),
        imu,
        low,
        high,
        final_error,
        final_low,
        final_high,
        math.sqrt(max(0.0, final_variance)),
        math.sqrt(max(0.0, slope @ raw @ slope)),
        pd.Series(
            np.sqrt(np.maximum(variance, 0.0)),
            index=pd.Index(bins.time, name="time"),
            name="reference_std",
        ),
        reference,
        found.zero,
        found.std,
        found.faults,
    )


def zero_weights(
    error: pd.Series, reference: ReferenceError, start_window: float = 3.0
) -> np.ndarray:
    """Return by how much each sample counts in the estimated zero of an error, (n,), sum 1.

    So that what is simulated can be put to zero in the same way. ``error``: unwrapped [rad]; index
    time [s], within the reference's.
    """
    bins = _Bins.of(error, reference, start_window)
    weights = _estimated_zero(bins, ESTIMATED).weights
    counts = np.diff(bins.begins, append=len(bins.samples))
    of_samples = np.zeros(len(error))
    of_samples[bins.samples] = np.repeat(weights / counts, counts)
    return of_samples


@dataclass(frozen=True)
class _Bins:
    """Means of an error over m stretches of its samples, and what is known of them.

    ``samples``: numbers of the error's samples that are used; ``begins`` (m,): which of these come
    first in each bin. ``share`` (m,): of all samples. ``at_start``, ``at_end`` (m,): weights of the
    mean over the edges. ``of_reference`` (m, m): covariance of the reference's error;
    ``of_sample`` (m,): variance of a sample's. ``walk``, ``passing`` (m, m): covariance of a random
    walk and of an error that passes, of strength 1. ``more_start``, ``more_end``: variances of the
    edges' medians, beyond those of their means [rad^2].
    """

    samples: np.ndarray
    begins: np.ndarray
    time: np.ndarray
    values: np.ndarray
    turn: np.ndarray
    share: np.ndarray
    at_start: np.ndarray
    at_end: np.ndarray
    of_reference: np.ndarray
    of_sample: np.ndarray
    walk: np.ndarray
    passing: np.ndarray
    more_start: float
    more_end: float

    @classmethod
    def of(cls, error: pd.Series, reference: ReferenceError, start_window: float) -> _Bins:
        times = error.index.to_numpy(dtype=float)
        samples = _as_seldom(times, reference.time)
        times, values = times[samples], error.to_numpy(dtype=float)[samples]
        every = len(times)
        first, last = (edge_samples(times, start_window, at_end) for at_end in (False, True))
        begins = np.concatenate(
            [
                np.linspace(begin, end, min(end - begin, most), endpoint=False).astype(int)
                for begin, end, most in (
                    (0, every, _MAX_BINS),
                    (0, first, _MAX_AT_EDGE),
                    (every - last, every, _MAX_AT_EDGE),
                )
            ]
        )
        edges = [first] if first < every else []
        begins = np.unique(np.concatenate([begins, edges, find_gap_ends(times)]).astype(int))
        counts = np.diff(begins, append=every)

        def means(curve: np.ndarray) -> np.ndarray:
            return np.add.reduceat(curve, begins) / counts

        at_start = np.where(begins < first, counts, 0) / first
        at_end = np.where(begins >= every - last, counts, 0) / last
        std, rate, turn = (
            np.interp(times, reference.time, curve)
            for curve in (reference.std, reference.rate, reference.turn)
        )
        squares = std**2 + (reference.lag * rate) ** 2 + (reference.turn_error * turn) ** 2
        turned = np.interp(times, reference.time, reference.absolute_turn)
        squares += reference.slip**2 * turned
        changing = replace(reference, lag=0.0, turn_error=0.0, slip=0.0)
        of_changing = changing.covariance_of_means(times, begins)
        lasting, none = max(times[-1] - times[0], 1e-9), np.zeros(every)
        passing = ReferenceError(times, none + 1.0, _PASSING * lasting, none, none)
        more = [
            (_over_mean(at, reference.correlation_time) - 1.0) * (weights @ of_changing @ weights)
            for weights, at in ((at_start, times[:first]), (at_end, times[every - last :]))
        ]
        return cls(
            samples,
            begins,
            means(times),
            means(values),
            means(turn),
            counts / every,
            at_start,
            at_end,
            reference.covariance_of_means(times, begins),
            means(squares),
            walk_of_means(times - times[0], begins) / lasting,
            passing.covariance_of_means(times, begins),
            *more,
        )

    @cached_property
    def size(self) -> float:
        """What strengths are relative to [rad]."""
        return max(float(np.std(self.values)), 1e-9)

    def more_of_median(self, weights: np.ndarray) -> float:
        """Return what the variance of a median is beyond that of the mean with such weights."""
        for at_edge, more in ((self.at_start, self.more_start), (self.at_end, self.more_end)):
            if weights is at_edge:
                return more
        return 0.0


def _as_seldom(times, of_reference):
    """Return numbers of samples, no more than the reference's, between which it is a line."""
    every = np.arange(len(times))
    if len(times) < 3 or len(of_reference) < 3:
        return every
    if np.median(np.diff(of_reference)) < 1.5 * np.median(np.diff(times)):
        return every
    after = np.clip(np.searchsorted(times, of_reference), 1, len(times) - 1)
    nearer = of_reference - times[after - 1] < times[after] - of_reference
    inside = (of_reference >= times[0]) & (of_reference <= times[-1])
    chosen = np.unique((after - nearer)[inside])
    return chosen if len(chosen) > 2 else every


def _over_mean(times, correlation_time):
    """Return the variance of a median over that of a mean, of a correlated normal process.

    A median errs as the signs of its samples do, whose correlation is the arcsine of theirs, over
    the density in the middle.
    """
    if len(times) > _MAX_OF_MEDIAN:
        times = times[:: len(times) // _MAX_OF_MEDIAN + 1]
    alike = np.exp(-np.abs(np.subtract.outer(times, times)) / correlation_time)
    return float(np.sum(np.arcsin(np.minimum(alike, 1.0))) / np.sum(alike))


class _Zero(NamedTuple):
    """Where an error is zero: ``weights`` (m,) of the bins, by which ``zero`` is their mean."""

    weights: np.ndarray
    zero: float
    std: float
    strengths: _Strengths
    faults: tuple[Fault, ...]


def _estimated_zero(bins: _Bins, way: str) -> _Zero:
    covariance = bins.of_reference.copy()
    faults: list[Fault] = []
    while True:
        strengths = _Strengths(bins, covariance)
        fault = strengths.largest_fault() if len(faults) < _MAX_FAULTS else None
        if fault is None:
            break
        at, size, stays = fault
        curve = np.zeros(len(bins.time))
        curve[at : None if stays else at + 1] = size
        covariance += np.outer(curve, curve)
        faults.append(Fault(float(bins.time[at]), abs(size), stays))
    if way == START:
        weights = bins.at_start
        variance = strengths.variance(weights, weights) + bins.more_of_median(weights)
    else:
        weights, variance = strengths.constant()
    zero = float(weights @ bins.values)
    return _Zero(weights, zero, math.sqrt(max(0.0, variance)), strengths, tuple(faults))


class _Strengths:
    """Strengths that the IMU's error may have, and how likely each set of them is.

    ``of_reference`` (m, m): covariance of what is not the IMU's [rad^2].
    """

    def __init__(self, bins: _Bins, of_reference: np.ndarray):
        from scipy.linalg import cho_factor, cho_solve

        self._bins, count, size = bins, len(bins.time), bins.size
        time, error = bins.time - bins.time[0], bins.values - bins.values.mean()
        self._curves = curves = np.column_stack(
            [curve / max(np.max(np.abs(curve)), 1e-9) for curve in (time, bins.turn)]
        )
        self._rest = of_reference + (_SMALL * size) ** 2 * np.eye(count)
        self._fixed = self._rest + (_LARGE * size) ** 2
        self._grid: list[tuple[Any, ...]] = []
        of_curves = size * np.array(list(product(_STRENGTHS, repeat=2)))
        likelihoods: list[float] = []
        for lasting, short in product(size * _WALKS, size * _PASSING_STRENGTHS):
            own = lasting**2 * bins.walk + short**2 * bins.passing
            factor = cho_factor(self._fixed + own, lower=True)
            explained = cho_solve(factor, curves)
            alike, common = curves.T @ explained, explained.T @ error
            rest = error @ cho_solve(factor, error) + 2.0 * np.sum(np.log(np.diag(factor[0])))
            # Two curves more are a matrix of two rows more (Woodbury's identity).
            inner = alike + np.eye(2) * of_curves[:, np.newaxis] ** -2.0
            solved = np.linalg.solve(
                inner, np.broadcast_to(common[:, np.newaxis], (len(inner), 2, 1))
            )
            likelihoods += (
                -0.5 * (rest - solved[:, :, 0] @ common)
                - 0.5 * np.linalg.slogdet(inner)[1]
                - np.sum(np.log(of_curves), axis=1)
            ).tolist()
            of_own = own, (lasting, short), factor, explained
            self._grid += [(*of_own, *one) for one in zip(inner, of_curves)]
        sets = len(self._grid) // len(of_curves)
        self._least_strengths = np.tile(np.min(of_curves, axis=1), sets)
        weights = np.exp(np.array(likelihoods) - max(likelihoods))
        weights[weights < _UNLIKELY] = 0.0
        self._weights = weights / weights.sum()

    def drawn(
        self, error: np.ndarray, random: np.random.Generator, least: float = 0.0
    ) -> np.ndarray:
        """Return what of an error (m,) may be the IMU's, (m, draws) [rad].

        ``least``: of the constants' strengths, over the observed error's size.
        """
        from scipy.linalg import cho_solve

        count, curves, bins = len(error), self._curves, self._bins
        error, root_of_fixed, drawn = error - error.mean(), _root(self._fixed), []
        walk, passing = _root(bins.walk), _root(bins.passing)
        strong = self._least_strengths >= least * bins.size
        # Where only weak ones are likely the constants are known to be small.
        weights = self._weights * strong if self._weights @ strong > 0.0 else self._weights
        for which, times in enumerate(random.multinomial(_DRAWS, weights / weights.sum())):
            if times == 0:
                continue
            own, (lasting, short), factor, explained, inner, strengths = self._grid[which]
            sensor = lasting * walk @ random.standard_normal((count, times))
            sensor += short * passing @ random.standard_normal((count, times))
            sensor += curves * strengths @ random.standard_normal((2, times))
            rest = error[:, np.newaxis] - sensor
            rest -= root_of_fixed @ random.standard_normal((count, times))
            solved = cho_solve(factor, rest)
            solved -= explained @ np.linalg.solve(inner, explained.T @ rest)
            drawn.append(sensor + own @ solved + curves * strengths**2 @ (curves.T @ solved))
        return np.hstack(drawn)

    def constant(self) -> tuple[np.ndarray, float]:
        """Return the bins' weights (m,) in the estimate of the constant, and its variance.

        Of the constant and the mean of the IMU's own error over the start, as all is observed.
        """
        from scipy.linalg import cho_solve

        bins, curves = self._bins, self._curves
        likely, found, variances = np.flatnonzero(self._weights), [], []
        for which in likely:
            own, _, factor, explained, inner, strengths = self._grid[which]
            variances_of_curves = strengths**2 * (curves.T @ bins.at_start)
            together = own @ bins.at_start + curves @ variances_of_curves
            together += (_LARGE * bins.size) ** 2
            solved = cho_solve(factor, together)
            solved -= explained @ np.linalg.solve(inner, explained.T @ together)
            found.append(solved / solved.sum())
            variances.append(self._variance(which, found[-1], found[-1]))
        shares, of_sets = self._weights[likely], np.array(found)
        weights = shares @ of_sets
        apart = (of_sets - weights) @ bins.values
        return weights, float(shares @ (np.array(variances) + apart**2))

    def variance(self, seen: np.ndarray, zero: np.ndarray) -> float:
        """Return the variance of an error that a linear estimate makes [rad^2].

        ``seen`` (m,): the observations' weights in it, by which it has the reference's error.
        ``zero`` (m,): those in its zero, by which it has what the IMU's own differs from the start.
        """
        likely = np.flatnonzero(self._weights)
        found = [self._variance(which, seen, zero) for which in likely]
        return float(self._weights[likely] @ found)

    def _variance(self, which, seen, zero):
        own, *_, strengths = self._grid[which]
        moved = zero - self._bins.at_start
        of_curves = strengths * (self._curves.T @ moved)
        return seen @ self._rest @ seen + moved @ own @ moved + of_curves @ of_curves

    def largest_fault(self) -> tuple[int, float, bool] | None:
        """Return the bin, the size [rad] and whether it stays of what most surely is a fault."""
        own, *_, strengths = self._grid[int(np.argmax(self._weights))]
        scaled = self._curves * strengths
        inverse = np.linalg.inv(self._fixed + own + scaled @ scaled.T)
        residual = inverse @ (self._bins.values - self._bins.values.mean())
        # Of a step from a bin on, which is the sum of all outliers from there on.
        of_step = np.cumsum(residual[::-1])[::-1]
        of_steps = np.diag(np.cumsum(np.cumsum(inverse[::-1, ::-1], axis=0), axis=1)[::-1, ::-1])
        found = []
        for stays, score, information in (
            (False, residual, np.diag(inverse)),
            (True, of_step[1:], of_steps[1:]),
        ):
            information = np.maximum(information, np.finfo(float).tiny)
            sure = np.abs(score) / np.sqrt(information)
            at = int(np.argmax(sure)) if len(sure) else 0
            if len(sure):
                found.append((sure[at], at + stays, float(score[at] / information[at]), stays))
        surest, at, size, stays = max(found)
        return (at, size, stays) if surest > _FAULT else None


def _root(covariance):
    """Return a matrix whose product with its transpose is the covariance, singular or not."""
    values, vectors = np.linalg.eigh(covariance)
    return vectors * np.sqrt(np.maximum(values, 0.0))
