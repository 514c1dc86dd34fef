"""Judgement of an observed error by an ensemble: global envelope test and tests of statistics.

A whole curve is judged by a global envelope test. Each curve's value at each time has a rank,
counted from the nearer end of all values at that time, equal values sharing their mean rank. Of two
curves the one with the smaller smallest rank is more extreme; if they are equal, the one that has
it more often, and so on (extreme rank length). The only assumption is that under the model the
observed curve may be any of them, so that the p-value is exact for any number of runs.

References
----------
M. Myllymaki, T. Mrkvicka, P. Grabarnik, H. Seijo, U. Hahn, Global envelope tests for spatial
processes, J. R. Stat. Soc. B 79 (2017) 381-404: the extreme rank length, their section 4.
T. Mrkvicka, M. Myllymaki, M. Jilek, U. Hahn, A one-way ANOVA test for functional data with
graphical interpretation, Kybernetika 56 (2020) 432-458: the envelope of that order.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Iterator, NamedTuple, Sequence

import numpy as np
import numpy.typing as npt
from numpy.typing import ArrayLike

from ..core.errors import EnsembleError
from ..core.signals import logarithmic_average, power_spectral_density
from .error_split import zero_weights
from .reference_error import ReferenceError
from .statistics import edge_samples

BLOCK = 4_000_000
"""Numbers of an ensemble that are processed at a time, so that little more is in memory."""


def _checked_arrays(
    time: ArrayLike, observed: ArrayLike, ensemble: ArrayLike
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return times, observed error and ensemble as checked arrays; the ensemble is never copied."""
    time, observed = np.asarray(time, dtype=float), np.asarray(observed, dtype=float)
    ensemble = np.asarray(ensemble)
    if ensemble.dtype not in (np.dtype("f4"), np.dtype("f8")):
        ensemble = ensemble.astype(float)
    if ensemble.ndim != 2 or len(ensemble) == 0:
        raise EnsembleError("the ensemble has no simulated drive; simulate at least one")
    if time.shape != observed.shape or time.shape != ensemble.shape[1:]:
        raise EnsembleError(
            f"the observed error has {_count(observed)} samples at {_count(time)} times and each "
            f"simulated drive {ensemble.shape[1]}; bring them to the same times"
        )
    if len(time) < 2:
        raise EnsembleError(f"{_count(time)} sample is too short to judge, at least 2 are needed")
    if not (np.all(np.isfinite(time)) and np.all(np.diff(time) > 0.0)):
        raise EnsembleError("the times of the errors do not ascend")
    if not np.all(np.isfinite(observed)):
        raise EnsembleError("the observed error is not known throughout; judge a part where it is")
    for rows in _blocks(ensemble):
        finite = np.isfinite(ensemble[rows]).all(axis=1)
        if not finite.all():
            run = rows.start + int(np.argmin(finite))
            raise EnsembleError(f"run {run} of the ensemble has values that are not finite")
    return time, observed, ensemble


def _count(values: np.ndarray) -> int | str:
    return len(values) if values.ndim == 1 else f"{values.shape}"


def _blocks(ensemble: np.ndarray, axis: int = 0) -> Iterator[slice]:
    """Yield slices of runs, or of samples, that cover all of them."""
    length, other = ensemble.shape[axis], ensemble.shape[1 - axis]
    step = max(1, BLOCK // max(1, other))
    for start in range(0, length, step):
        yield slice(start, min(start + step, length))


def started_at_zero(time: np.ndarray, errors: np.ndarray, window: float = 3.0) -> np.ndarray:
    """Shift errors so that the median over their beginning is zero, as of recorded errors.

    Only errors that were treated in the same way are comparable; recorded ones are shifted by
    :func:`.compare_yaw`.

    Parameters
    ----------
    time : numpy.ndarray
        Times, shape (samples,) [s].
    errors : numpy.ndarray
        Errors, shape (..., samples).
    window : float, optional
        Length of the beginning [s].

    Returns
    -------
    numpy.ndarray
        Shifted errors of the same shape and type.
    """
    beginning = edge_samples(np.asarray(time, dtype=float), window)
    errors = np.asarray(errors)
    return errors - np.median(errors[..., :beginning], axis=-1, keepdims=True)


def from_zero_where_known(
    time: np.ndarray,
    observed: ArrayLike,
    ensemble: np.ndarray,
    reference: ReferenceError | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Select the samples at which an error was observed, and shift all errors to the same zero.

    Parameters
    ----------
    time : numpy.ndarray
        Times of the ensemble, shape (samples,) [s].
    observed : array_like
        Observed error at the same times from the first on; NaN where nothing was observed.
    ensemble : numpy.ndarray
        Simulated errors, shape (runs, samples).
    reference : ReferenceError, optional
        Error of the observed error's reference. With it all errors have the zero that is estimated
        from the whole drive, with the weights of the observed error; without it that of
        :func:`started_at_zero`.

    Returns
    -------
    time, observed : numpy.ndarray
        Shape (known,) each.
    ensemble : numpy.ndarray
        Shape (runs, known).
    """
    observed = np.asarray(observed, dtype=float)[: len(time)]
    known = np.flatnonzero(np.isfinite(observed))
    time = np.asarray(time, dtype=float)[known]
    ensemble = np.asarray(ensemble)[:, known]
    if reference is not None:
        import pandas as pd

        weights = zero_weights(pd.Series(observed[known], time), reference)
        zeros = (ensemble @ weights)[:, np.newaxis].astype(ensemble.dtype)
        return time, observed[known] - weights @ observed[known], ensemble - zeros
    return time, started_at_zero(time, observed[known]), started_at_zero(time, ensemble)


STATISTICS = {
    "final": ("final error", "deg"),
    "maximum": ("largest error", "deg"),
    "rms": ("rms error", "deg"),
    "drift": ("drift", "deg/min"),
}
"""Statistics of a yaw error: name for a person and unit. Densities are not listed."""

SIGNED = ("final", "drift")
"""Statistics with a direction; the others are sizes, which are never below zero."""

PSD = "psd "
"""Prefix of the names of densities within a band."""

BANDS_PER_DECADE = 1


def curve_statistics(time: np.ndarray, errors: np.ndarray, final_window: float = 3.0) -> dict:
    """Compute the statistics of errors over time that are judged.

    ``final``, ``maximum``, ``rms`` and ``drift`` are those of :class:`.ErrorStatistics`, with the
    drift per minute; ``psd 0.01 to 0.1 Hz`` is the mean power spectral density within a decade of
    frequency.

    Parameters
    ----------
    time : numpy.ndarray
        Strictly ascending times, shape (samples,) [s].
    errors : numpy.ndarray
        Errors in any unit, shape (curves, samples).
    final_window : float, optional
        Length of the end whose median is the final value [s].

    Returns
    -------
    dict of str to numpy.ndarray
        Statistics by name, shape (curves,), in the errors' unit, per minute, or squared per Hz.
    """
    time, errors = np.asarray(time, dtype=float), np.asarray(errors)
    parts = [_statistics(time, errors[rows], final_window) for rows in _blocks(errors)]
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _statistics(time: np.ndarray, errors: np.ndarray, final_window: float) -> dict[str, np.ndarray]:
    errors = errors.astype(float)
    centred = time - np.mean(time)
    mean = np.mean(errors, axis=1, keepdims=True)
    final = errors[:, -edge_samples(time, final_window, at_end=True) :]
    statistics = {
        "final": np.median(final, axis=1),
        "maximum": np.max(np.abs(errors), axis=1),
        "rms": np.sqrt(np.mean(errors**2, axis=1)),
        "drift": 60.0 * ((errors - mean) @ centred) / (centred @ centred),
    }
    spectrum = power_spectral_density(time, errors)
    if spectrum is None:
        return statistics
    frequency, density = logarithmic_average(spectrum, BANDS_PER_DECADE)
    edges = spectrum.frequency[0] * 10.0 ** (np.arange(len(frequency) + 1) / BANDS_PER_DECADE)
    edges[-1] = min(edges[-1], 0.5 * spectrum.rate)
    for low, high, values in zip(edges[:-1], edges[1:], density.T):
        statistics[f"{PSD}{low:.2g} to {high:.2g} Hz"] = values
    return statistics


@dataclass(frozen=True)
class StatisticJudgement:
    """Place of an observed statistic among those of an ensemble.

    Parameters
    ----------
    name : str
        Name, see :func:`curve_statistics`.
    observed : float
        Observed value.
    median, low, high : float
        Median and central 95 % of the ensemble.
    tail : int
        1 if the observed value is above most of the ensemble's, -1 if it is below.
    as_extreme : int
        Number of simulated drives that are as far out on the same side, or farther.
    runs : int
        Number of simulated drives.
    percentile : float
        Share of simulated drives with a lower value, equal ones by half [%].
    p_value : float
        Two-sided p-value.
    adjusted : float
        P-value corrected for the number of tests, see :func:`holm`.
    """

    name: str
    observed: float
    median: float
    low: float
    high: float
    tail: int
    as_extreme: int
    runs: int
    percentile: float
    p_value: float
    adjusted: float = float("nan")


def judge_statistic(name: str, observed: float, simulated: np.ndarray) -> StatisticJudgement:
    """Judge a statistic by a Monte Carlo test, which is exact for any number of runs.

    ``p = min(1, 2 (1 + as_extreme) / (runs + 1))`` is twice the p-value of the side of the observed
    value (A. C. Davison, D. V. Hinkley, Bootstrap Methods and their Application, 1997, section
    4.2).

    Parameters
    ----------
    name : str
        Name of the statistic.
    observed : float
        Observed value.
    simulated : numpy.ndarray
        Simulated values, shape (runs,).

    Returns
    -------
    StatisticJudgement
        The judgement.
    """
    below = int(np.sum(simulated <= observed))
    above = int(np.sum(simulated >= observed))
    tail, as_extreme = (1, above) if above <= below else (-1, below)
    runs = len(simulated)
    low, median, high = map(float, np.quantile(simulated, [0.025, 0.5, 0.975]))
    percentile = 50.0 * (below + runs - above) / runs
    p_value = min(1.0, 2.0 * (1 + as_extreme) / (runs + 1))
    observed = float(observed)
    return StatisticJudgement(
        name, observed, median, low, high, tail, as_extreme, runs, percentile, p_value
    )


def holm(p_values: ArrayLike) -> np.ndarray:
    """Correct p-values for the number of tests.

    If a true model is rejected where a corrected value is at most a level, it is rejected by any of
    the tests with at most that probability, however the tests depend on each other (S. Holm, A
    simple sequentially rejective multiple test procedure, Scand. J. Stat. 6, 1979, 65-70).

    Parameters
    ----------
    p_values : array_like
        P-values, shape (tests,).

    Returns
    -------
    numpy.ndarray
        Corrected values in the same order, at most 1, shape (tests,).
    """
    p_values = np.asarray(p_values, dtype=float)
    order = np.argsort(p_values, kind="stable")
    stepped = p_values[order] * np.arange(len(p_values), 0, -1)
    adjusted = np.empty(len(p_values))
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(stepped))
    return adjusted


TOO_LITTLE = "too little"
TOO_MUCH = "too much"
OTHER_DIRECTION = "other direction"

_NAMES = {
    "final": "A final error",
    "drift": "A drift over time",
    "maximum": "A largest error",
    "rms": "An rms error",
}


def _verdict(
    observed: np.ndarray,
    median: np.ndarray,
    envelope: GlobalEnvelope,
    adjusted: float,
    statistics: Sequence[StatisticJudgement],
    rejected: bool,
) -> tuple[str, str]:
    """Return the verdict, and a sentence with the number of drives that are as extreme."""

    def often(test: GlobalEnvelope | StatisticJudgement) -> str:
        return f"occurs in {test.as_extreme or 'none'} of {test.runs} simulated drives"

    real = f"A real error like this {often(envelope)}"
    if not rejected:
        return "not rejected", f"{real}: this model is not rejected."
    rarest = min(statistics, key=lambda test: test.adjusted)
    if adjusted <= rarest.adjusted:
        manner, name = _manner_of_curve(observed, median, envelope, statistics)
        return manner, f"{real}: {_difference_words(manner, name)}."
    manner = manner_of_statistic(rarest)
    return (
        manner,
        f"{_statistic_words(rarest)} {often(rarest)}: {_difference_words(manner, rarest.name)}.",
    )


def _statistic_words(test: StatisticJudgement) -> str:
    low, high = ("low", "high") if test.name in SIGNED else ("small", "large")
    size = high if test.tail > 0 else low
    if test.name in _NAMES:
        return f"{_NAMES[test.name]} so {size}"
    return f"A power spectral density so {size} at {test.name[len(PSD) :]}"


def _difference_words(manner: str, name: str) -> str:
    if manner == OTHER_DIRECTION:
        return "this model prefers the other direction"
    if name.startswith(PSD):
        return f"this model varies {manner} at {name[len(PSD) :]}"
    return f"this model drifts {manner}"


def manner_of_statistic(test: StatisticJudgement) -> str:
    """Return how a model differs from the observation in a statistic.

    Parameters
    ----------
    test : StatisticJudgement
        Judgement of the statistic.

    Returns
    -------
    str
        ``too little``, ``too much`` or ``other direction``.
    """
    if test.name in SIGNED:
        return _manner(test.observed, test.median, test.low, test.high)
    return TOO_LITTLE if test.tail > 0 else TOO_MUCH


def _manner_of_curve(
    observed: np.ndarray,
    median: np.ndarray,
    envelope: GlobalEnvelope,
    statistics: Sequence[StatisticJudgement],
) -> tuple[str, str]:
    """Return how a model differs in the whole curve, and the statistic that shows it.

    Statistics that reject the model by themselves come first, drift before noise; without them the
    samples outside the envelope decide, and the name is empty.
    """
    for is_noise in (False, True):
        rejecting = [
            test
            for test in statistics
            if test.name.startswith(PSD) == is_noise and test.p_value <= 1.0 - envelope.level
        ]
        if rejecting:
            rarest = min(rejecting, key=lambda test: test.p_value)
            return manner_of_statistic(rarest), rarest.name
    outside = np.flatnonzero((observed > envelope.high) | (observed < envelope.low))
    manners = [_manner(observed[k], median[k], envelope.low[k], envelope.high[k]) for k in outside]
    return max((TOO_LITTLE, TOO_MUCH, OTHER_DIRECTION), key=manners.count), ""


def _manner(value: float, centre: float, low: float, high: float) -> str:
    """Return how a model with the interval ``low`` to ``high`` differs from ``value``."""
    if abs(value) >= max(abs(low), abs(high)):
        return TOO_LITTLE
    return OTHER_DIRECTION if value * centre < 0.0 else TOO_MUCH


LEVELS = (0.5, 0.95, 0.99)


@dataclass(frozen=True)
class PointwiseBand:
    """Interval of a part of the ensemble at each time by itself.

    A curve leaves its pointwise 95 % band somewhere much more often than once in 20 times;
    :class:`.GlobalEnvelope` holds for the whole curve.

    Parameters
    ----------
    level : float
        Part of the ensemble.
    low, high : numpy.ndarray
        Quantiles, shape (samples,) each.
    """

    level: float
    low: np.ndarray
    high: np.ndarray


def pointwise_bands(
    ensemble: np.ndarray, levels: ArrayLike = LEVELS
) -> tuple[np.ndarray, list[PointwiseBand]]:
    """Compute the median and the central bands of an ensemble.

    Parameters
    ----------
    ensemble : numpy.ndarray
        Simulated errors, shape (runs, samples).
    levels : array_like, optional
        Parts of the ensemble.

    Returns
    -------
    median : numpy.ndarray
        Median, shape (samples,).
    bands : list of PointwiseBand
        A band for each level.
    """
    levels = np.asarray(levels, dtype=float)
    probabilities = np.concatenate([[0.5], 0.5 - 0.5 * levels, 0.5 + 0.5 * levels])
    quantiles = np.empty((len(probabilities), ensemble.shape[1]))
    for samples in _blocks(ensemble, 1):
        quantiles[:, samples] = np.quantile(ensemble[:, samples], probabilities, axis=0)
    count = len(levels)
    return quantiles[0], [
        PointwiseBand(float(level), quantiles[1 + place], quantiles[1 + count + place])
        for place, level in enumerate(levels)
    ]


@dataclass(frozen=True)
class GlobalEnvelope:
    """Simultaneous band of an ensemble, and the place of an observed curve in it.

    The level holds for the observed curve, which takes part in the order. A new curve leaves the
    hull of the others more often, and the more so the fewer runs there are: with random walks of 60
    samples 8 % of them leave the 95 % envelope of 2000 runs, and 5 % that of 40 000.

    Parameters
    ----------
    level : float
        Probability that a curve of the model stays within the envelope all the time.
    p_value : float
        ``(1 + as_extreme) / (runs + 1)``. It is at most ``1 - level`` exactly if the observed curve
        is not among the least extreme curves; then it leaves their hull somewhere.
    as_extreme : int
        Number of simulated curves that are at least as extreme as the observed one.
    runs : int
        Number of simulated curves.
    low, high : numpy.ndarray
        Hull of the least extreme curves, shape (samples,) each.
    """

    level: float
    p_value: float
    as_extreme: int
    runs: int
    low: np.ndarray
    high: np.ndarray


def fewest_runs(level: float, tests: int = 1) -> int:
    """Return the number of runs with which one of several tests can reject a model.

    Parameters
    ----------
    level : float
        One minus the significance level.
    tests : int, optional
        Number of tests.

    Returns
    -------
    int
        Least number of runs.
    """
    return int(np.ceil(tests / (1.0 - level) - 1e-9)) - 1


def global_envelope(
    observed: ArrayLike, ensemble: np.ndarray, level: float = 0.95
) -> GlobalEnvelope:
    """Test a curve against an ensemble over its whole length.

    It takes 2 bytes of memory for each value of the ensemble (4 from 32 767 runs on), and some
    megabytes.

    Parameters
    ----------
    observed : array_like
        Observed curve, shape (samples,).
    ensemble : numpy.ndarray
        Simulated curves, shape (runs, samples).
    level : float, optional
        Level of the envelope.

    Returns
    -------
    GlobalEnvelope
        The result.

    Raises
    ------
    EnsembleError
        If there are too few runs to reject at this level.
    """
    observed, ensemble = np.asarray(observed), np.asarray(ensemble)
    runs = len(ensemble)
    if runs < fewest_runs(level):
        raise EnsembleError(
            f"{runs} simulated drives cannot reject anything at {100.0 * level:g} %, it takes at "
            f"least {fewest_runs(level)}"
        )
    keys = _extreme_rank_lengths(observed, ensemble)
    as_extreme = sum(key <= keys[0] for key in keys[1:])
    threshold = sorted(keys)[int(np.floor((1.0 - level) * (runs + 1) + 1e-9))]
    kept = np.array([key >= threshold for key in keys])
    low, high = (observed.copy(), observed.copy()) if kept[0] else (None, None)
    for rows in _blocks(ensemble):
        part = ensemble[rows][kept[1:][rows]]
        if len(part):
            smallest, largest = part.min(axis=0), part.max(axis=0)
            low = smallest if low is None else np.minimum(low, smallest)
            high = largest if high is None else np.maximum(high, largest)
    p_value, low, high = (1 + as_extreme) / (runs + 1), *(np.asarray(e, float) for e in (low, high))
    return GlobalEnvelope(level, p_value, as_extreme, runs, low, high)


def _extreme_rank_lengths(observed: np.ndarray, ensemble: np.ndarray) -> list[bytes]:
    """Return a key of the observed curve and of each other; smaller is more extreme."""
    from scipy.stats import rankdata  # takes half a second

    count = len(ensemble) + 1
    # Ranks are doubled, since the mean rank of equal values may have a half, and big-endian, since
    # bytes are compared from the left.
    ranks = np.empty((count, ensemble.shape[1]), dtype=">u2" if count + 1 < 2**16 else ">u4")
    for samples in _blocks(ensemble, 1):
        # The wider of both types: rounding an observed value would make ties.
        values = np.vstack([observed[np.newaxis, samples], ensemble[:, samples]])
        twice = np.rint(2.0 * rankdata(values.T, axis=1)).astype(np.int64).T
        ranks[:, samples] = np.minimum(twice, 2 * (count + 1) - twice)
    return [
        np.sort(row.astype(row.dtype.newbyteorder("="))).astype(row.dtype).tobytes()
        for row in ranks
    ]


@dataclass(frozen=True)
class Judgement:
    """Judgement of an observed error by an ensemble.

    Parameters
    ----------
    time, observed : numpy.ndarray
        Times [s] and observed error, shape (samples,) each.
    median : numpy.ndarray
        Median of the ensemble at each time, shape (samples,).
    bands : list of PointwiseBand
        Bands at each time by itself.
    envelope : GlobalEnvelope
        Test of the whole curve.
    adjusted : float
        P-value of the envelope, corrected for the number of tests.
    statistics : list of StatisticJudgement
        Test of each statistic.
    level : float
        One minus the significance level.
    rejected : bool
        Whether the corrected p-value of any test is at most ``1 - level``.
    verdict : str
        ``not rejected``, ``too little``, ``too much`` or ``other direction``: how the model drifts.
    sentence : str
        Verdict in words.
    """

    time: np.ndarray
    observed: np.ndarray
    median: np.ndarray
    bands: list[PointwiseBand]
    envelope: GlobalEnvelope
    adjusted: float
    statistics: list[StatisticJudgement]
    level: float
    rejected: bool
    verdict: str
    sentence: str

    @property
    def smallest(self) -> float:
        """Smallest p-value of all tests, corrected for their number."""
        return min(self.adjusted, *(test.adjusted for test in self.statistics))


def judge(
    time: npt.ArrayLike,
    observed: npt.ArrayLike,
    ensemble: npt.ArrayLike,
    *,
    levels: Sequence[float] = LEVELS,
    level: float = 0.95,
    final_window: float = 3.0,
) -> Judgement:
    """Judge an observed error by an ensemble of simulated ones.

    Both must be treated in the same way: if the observed error starts at zero on the median of its
    beginning, so must the simulated ones (:func:`.started_at_zero`). The ensemble is processed in
    blocks and never copied.

    Parameters
    ----------
    time : array_like
        Strictly ascending times, shape (samples,) [s].
    observed : array_like
        Observed error, such as a yaw error, in any unit, shape (samples,).
    ensemble : array_like
        Simulated errors at the same times in the same unit, float32 or float64, shape (runs,
        samples).
    levels : sequence of float, optional
        Levels of the pointwise bands.
    level : float, optional
        Level of the envelope and of the verdict.
    final_window : float, optional
        Length of the end whose median is the final error [s].

    Returns
    -------
    Judgement
        The judgement.

    Raises
    ------
    EnsembleError
        If the shapes differ, or there are too few runs for this level.
    """
    times, error, simulations = _checked_arrays(time, observed, ensemble)
    envelope = global_envelope(error, simulations, level)
    median, bands = pointwise_bands(simulations, levels)
    observed_statistics = curve_statistics(times, error[np.newaxis], final_window)
    simulated = curve_statistics(times, simulations, final_window)
    statistics = [
        judge_statistic(name, values[0], simulated[name])
        for name, values in observed_statistics.items()
    ]
    adjusted = holm([envelope.p_value] + [test.p_value for test in statistics])
    statistics = [
        replace(test, adjusted=float(value)) for test, value in zip(statistics, adjusted[1:])
    ]
    rejected = bool(np.min(adjusted) <= 1.0 - level + 1e-12)
    curve_p_value = float(adjusted[0])
    verdict, sentence = _verdict(error, median, envelope, curve_p_value, statistics, rejected)
    needed = fewest_runs(level, len(adjusted))
    if not rejected and len(simulations) < needed:
        sentence += (
            f" With {len(simulations)} drives no test can be small enough, as {len(adjusted)} were "
            f"taken; simulate at least {needed}."
        )
    return Judgement(
        time=times,
        observed=error,
        median=median,
        bands=bands,
        envelope=envelope,
        adjusted=curve_p_value,
        statistics=statistics,
        level=level,
        rejected=rejected,
        verdict=verdict,
        sentence=sentence,
    )


class ShownTest(NamedTuple):
    """A test of a yaw error, for a table.

    Attributes
    ----------
    name : str
        Name of the test.
    unit : str
        Unit of the values.
    observed, median, low, high : float
        Observed value, and median and central 95 % of the ensemble; NaN for the whole curve.
    percentile : float
        Share of simulated drives with a lower value, equal ones by half [%]; NaN for the whole
        curve.
    p_value, adjusted : float
        Two-sided p-value, and that corrected for the number of tests.
    rejects : bool
        Whether the corrected p-value rejects the model.
    manner : str
        ``too little``, ``too much`` or ``other direction`` if the test rejects the model; else
        empty.
    """

    name: str
    unit: str
    observed: float
    median: float
    low: float
    high: float
    percentile: float
    p_value: float
    adjusted: float
    rejects: bool
    manner: str


def shown_tests(judgement: Judgement) -> list[ShownTest]:
    """Return the tests of a judgement for a table.

    Parameters
    ----------
    judgement : Judgement
        Judgement of a yaw error [rad].

    Returns
    -------
    list of ShownTest
        Test of the whole curve, and of each statistic.
    """
    envelope, tests = judgement.envelope, judgement.statistics
    manner = _manner_of_curve(judgement.observed, judgement.median, envelope, tests)[0]

    def verdict(
        test: GlobalEnvelope | StatisticJudgement, adjusted: float, manner: str
    ) -> tuple[float, float, bool, str]:
        rejects = adjusted <= 1.0 - judgement.level + 1e-12
        return test.p_value, adjusted, rejects, manner if rejects else ""

    unknown = (math.nan,) * 5
    tests_to_show = [
        ShownTest("whole curve", "", *unknown, *verdict(envelope, judgement.adjusted, manner))
    ]
    for test in tests:
        # A density is of squared errors.
        factor = math.degrees(1.0) ** (2 if test.name.startswith(PSD) else 1)
        name, unit = STATISTICS.get(test.name, (test.name.replace(PSD, "PSD ", 1), "deg²/Hz"))
        values = factor * test.observed, factor * test.median, factor * test.low, factor * test.high
        judged = verdict(test, test.adjusted, manner_of_statistic(test))
        tests_to_show.append(ShownTest(name, unit, *values, test.percentile, *judged))
    return tests_to_show
