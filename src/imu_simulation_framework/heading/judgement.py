"""Whether an observed error may be one of a model's: its place in an ensemble, in words.

A whole curve is judged by a global envelope test. Each curve's value at each time has a rank,
counted from the nearer end of all values at that time, equal values sharing their mean rank. A
curve's sorted ranks say how extreme it is: of two curves the one whose smallest rank is smaller; if
they are equal, the one that has it more often, and so on (extreme rank length). Nothing is supposed
of the curves but that under the model the observed one might be any of them, so the p-value is
exact for any number of runs.

References
----------
M. Myllymaki, T. Mrkvicka, P. Grabarnik, H. Seijo, U. Hahn, Global envelope tests for spatial
processes, J. R. Stat. Soc. B 79 (2017) 381-404: the extreme rank length, their section 4.
T. Mrkvicka, M. Myllymaki, M. Jilek, U. Hahn, A one-way ANOVA test for functional data with
graphical interpretation, Kybernetika 56 (2020) 432-458: the envelope that belongs to it.
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
"""Numbers of an ensemble that are looked at at a time, so that little more than it is in memory."""


def _arrays(
    time: ArrayLike, observed: ArrayLike, ensemble: ArrayLike
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return times, observed error and ensemble as arrays, of which the last is never copied."""
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
    """Yield slices of runs, or of samples, that together are all of them."""
    length, other = ensemble.shape[axis], ensemble.shape[1 - axis]
    step = max(1, BLOCK // max(1, other))
    for start in range(0, length, step):
        yield slice(start, min(start + step, length))


def started_at_zero(time: np.ndarray, errors: np.ndarray, window: float = 3.0) -> np.ndarray:
    """Return errors that are zero on the median over their beginning, as recorded ones are.

    Recorded yaw errors start at zero that way
    (:func:`~imu_simulation_framework.heading.yaw_comparison.compare_yaw`), and only what was
    treated alike can be compared.

    ``time`` (samples,) [s]. ``errors`` (..., samples). ``window``: length of the beginning [s]. The
    result is (..., samples): of the errors' type.
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
    """Return times, observed error and ensemble where all are known, each error from zero.

    ``time`` (samples,): of the ensemble [s]. ``observed`` (other,): at the same times from the
    first on, not a number where nothing was observed. ``ensemble`` (runs, samples). ``reference``:
    what is known of the observed error's reference; then all errors have the zero that is estimated
    with the whole drive, by the weights that the observed one has in it, else that of
    :func:`started_at_zero`. Returns ``time``, ``observed`` (known,); ``ensemble`` (runs, known).
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
"""Of a run's yaw error: what a person calls them, and in which unit; densities come besides."""

SIGNED = ("final", "drift")
"""Statistics with a direction; the others are sizes, which are never below zero."""

PSD = "psd "
"""The names of densities within a band begin so."""

BANDS_PER_DECADE = 1


def curve_statistics(time: np.ndarray, errors: np.ndarray, final_window: float = 3.0) -> dict:
    """Return the statistics of errors over time that are judged, each of every curve.

    final, maximum, rms and drift are those of
    :class:`~imu_simulation_framework.heading.statistics.ErrorStatistics`, but drift is per
    minute; ``psd 0.01 to 0.1 Hz`` is the mean power spectral density within a band, one of each
    decade of frequency.

    ``time`` (samples,): strictly ascending [s]. ``errors`` (curves, samples): in any unit.
    ``final_window``: seconds at the end whose median is the final value. The result is (curves,):
    in the errors' unit, per minute, or squared per Hz.
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
    """Where one statistic of the observed error lies among those of the ensemble.

    ``name``: as in :func:`curve_statistics`. ``median``, ``low``, ``high``: of the ensemble: its
    median and central 95 %. ``tail``: 1 if the observed value is above most of the ensemble's, -1
    if it is below. ``as_extreme``: how many simulated drives have a value that is as far out on the
    same side, or farther. ``percentile``: share of simulated drives whose value is lower, equal
    ones by half [%]. ``p_value``: two-sided. ``adjusted``: the same, corrected for the number of
    tests; see :func:`holm`.
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
    """Judge one statistic by a Monte-Carlo test, which is exact for any number of runs.

    ``p = min(1, 2 (1 + as_extreme) / (runs + 1))``: twice the p-value of the side that the observed
    value is on.

    ``simulated`` (runs,).

    A. C. Davison, D. V. Hinkley, Bootstrap Methods and their Application (1997), section 4.2.
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
    """Correct p-values for their number: of many tests one rejects by chance.

    With all of them at most a level, the probability to reject a true model at any of the tests is
    at most that level, however the tests depend on each other.

    ``p_values`` (tests,). The result is (tests,): in the same order, at most 1.

    S. Holm, A simple sequentially rejective multiple test procedure, Scand. J. Stat. 6 (1979)
    65-70.
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
    """Return the verdict and a sentence: how the model drifts, and how often drives do so."""

    def often(test: GlobalEnvelope | StatisticJudgement) -> str:
        return f"occurs in {test.as_extreme or 'none'} of {test.runs} simulated drives"

    real = f"A real error like this {often(envelope)}"
    if not rejected:
        return "not rejected", f"{real}: this model is not rejected."
    rarest = min(statistics, key=lambda test: test.adjusted)
    if adjusted <= rarest.adjusted:
        manner, name = _manner_of_curve(observed, median, envelope, statistics)
        return manner, f"{real}: {_says(manner, name)}."
    manner = manner_of_statistic(rarest)
    return manner, f"{_like_this(rarest)} {often(rarest)}: {_says(manner, rarest.name)}."


def _like_this(test: StatisticJudgement) -> str:
    low, high = ("low", "high") if test.name in SIGNED else ("small", "large")
    size = high if test.tail > 0 else low
    if test.name in _NAMES:
        return f"{_NAMES[test.name]} so {size}"
    return f"A power spectral density so {size} at {test.name[len(PSD) :]}"


def _says(manner: str, name: str) -> str:
    if manner == OTHER_DIRECTION:
        return "this model prefers the other direction"
    if name.startswith(PSD):
        return f"this model varies {manner} at {name[len(PSD) :]}"
    return f"this model drifts {manner}"


def manner_of_statistic(test: StatisticJudgement) -> str:
    """Return in which way a model is wrong whose statistic is another one than what was seen."""
    if test.name in SIGNED:
        return _manner(test.observed, test.median, test.low, test.high)
    return TOO_LITTLE if test.tail > 0 else TOO_MUCH


def _manner_of_curve(
    observed: np.ndarray,
    median: np.ndarray,
    envelope: GlobalEnvelope,
    statistics: Sequence[StatisticJudgement],
) -> tuple[str, str]:
    """Return in which way a model is wrong whose curves are others, and the statistic that says so.

    What statistics say by themselves, of drift before noise; else where the curve is outside, and
    no statistic's name.
    """
    for of_noise in (False, True):
        telling = [
            test
            for test in statistics
            if test.name.startswith(PSD) == of_noise and test.p_value <= 1.0 - envelope.level
        ]
        if telling:
            rarest = min(telling, key=lambda test: test.p_value)
            return manner_of_statistic(rarest), rarest.name
    outside = np.flatnonzero((observed > envelope.high) | (observed < envelope.low))
    manners = [_manner(observed[k], median[k], envelope.low[k], envelope.high[k]) for k in outside]
    return max((TOO_LITTLE, TOO_MUCH, OTHER_DIRECTION), key=manners.count), ""


def _manner(value: float, centre: float, low: float, high: float) -> str:
    """Return what is wrong with a model that gives ``low`` to ``high`` where ``value`` was seen."""
    if abs(value) >= max(abs(low), abs(high)):
        return TOO_LITTLE
    return OTHER_DIRECTION if value * centre < 0.0 else TOO_MUCH


LEVELS = (0.5, 0.95, 0.99)


@dataclass(frozen=True)
class PointwiseBand:
    """Between these quantiles lies this part of the ensemble, at each time for itself.

    A curve leaves its pointwise 95 % band somewhere much more often than once in 20 times; for the
    whole curve at once there is :class:`.GlobalEnvelope`.

    ``level``: part of the ensemble. ``low``, ``high`` (samples,).
    """

    level: float
    low: np.ndarray
    high: np.ndarray


def pointwise_bands(
    ensemble: np.ndarray, levels: ArrayLike = LEVELS
) -> tuple[np.ndarray, list[PointwiseBand]]:
    """Return the ensemble's median and its central bands.

    ``ensemble`` (runs, samples). ``levels`` (sequence of float): parts of the ensemble. Returns
    ``median`` (samples,); ``bands`` (list of PointwiseBand).
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
    """The simultaneous band of an ensemble and an observed curve's place in it.

    The level holds for the observed curve, which takes part in the order. A new curve leaves the
    hull of the others somewhat more often, the fewer runs there are, the more: with random walks of
    60 samples 8 % of them leave the 95 % envelope of 2000 runs, and 5 % that of 40 000.

    ``level``: probability that a curve of the model stays within the envelope all the time.
    ``p_value``: ``(1 + as_extreme) / (runs + 1)``. It is at most ``1 - level`` exactly if the
    observed curve is none of those whose hull the envelope is; then it leaves it somewhere.
    ``as_extreme``: how many simulated curves are at least as extreme as the observed one. ``low``,
    ``high`` (samples,): hull of the least extreme curves, the observed one among them if it belongs
    to them.
    """

    level: float
    p_value: float
    as_extreme: int
    runs: int
    low: np.ndarray
    high: np.ndarray


def fewest_runs(level: float, tests: int = 1) -> int:
    """How many runs it takes that one of so many tests can have a p-value of ``1 - level``."""
    return int(np.ceil(tests / (1.0 - level) - 1e-9)) - 1


def global_envelope(
    observed: ArrayLike, ensemble: np.ndarray, level: float = 0.95
) -> GlobalEnvelope:
    """Test a curve against an ensemble, over its whole length at once.

    Memory: beside the ensemble 2 bytes a value (4 from 32 767 runs on), and some megabytes.

    ``observed`` (samples,). ``ensemble`` (runs, samples). ``level``: of the envelope. Raises
    EnsembleError if there are so few runs that the test could never reject at this level.
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
    """Return keys of the observed curve and the others: the smaller, the more extreme it is."""
    from scipy.stats import rankdata  # takes half a second

    count = len(ensemble) + 1
    # Twice a rank, for the mean rank of equal values may have a half. Bytes compare from the left,
    # so that the ranks' most significant ones come first.
    ranks = np.empty((count, ensemble.shape[1]), dtype=">u2" if count + 1 < 2**16 else ">u4")
    for samples in _blocks(ensemble, 1):
        # In the wider of both types: rounding an observed value would make ties.
        values = np.vstack([observed[np.newaxis, samples], ensemble[:, samples]])
        twice = np.rint(2.0 * rankdata(values.T, axis=1)).astype(np.int64).T
        ranks[:, samples] = np.minimum(twice, 2 * (count + 1) - twice)
    return [
        np.sort(row.astype(row.dtype.newbyteorder("="))).astype(row.dtype).tobytes()
        for row in ranks
    ]


@dataclass(frozen=True)
class Judgement:
    """What an ensemble says of an observed error.

    ``time``, ``observed`` (samples,). ``median`` (samples,): of the ensemble at each time.
    ``bands``: each for one time, not for the whole curve. ``envelope``: for the whole curve at
    once, with its p-value. ``adjusted``: the envelope's p-value, corrected for the number of tests.
    ``statistics``: one test each. ``rejected``: whether any test's corrected p-value is at most ``1
    - level``. ``verdict``: ``not rejected``, ``too little``, ``too much`` or ``other direction``:
    how the model drifts.
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
        """The smallest p-value of all tests, corrected for their number."""
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

    Both have to be treated alike: if the observed error starts at zero on the median of its
    beginning, so must the simulated ones (:func:`.started_at_zero`). The ensemble is looked at in
    blocks and never copied as a whole.

    ``time`` (samples,): strictly ascending [s]. ``observed`` (samples,): yaw error, or another one,
    in any unit. ``ensemble`` (runs, samples): simulated errors at the same times in the same unit,
    float32 or float64. ``levels`` (sequence of float): of the pointwise bands. ``level``: of the
    envelope and of the verdict. ``final_window``: seconds at the end whose median is the final
    error. Raises EnsembleError if the arrays do not fit each other, or there are too few runs for
    this level.
    """
    times, error, simulations = _arrays(time, observed, ensemble)
    envelope = global_envelope(error, simulations, level)
    median, bands = pointwise_bands(simulations, levels)
    seen = curve_statistics(times, error[np.newaxis], final_window)
    simulated = curve_statistics(times, simulations, final_window)
    statistics = [judge_statistic(name, seen[name][0], simulated[name]) for name in seen]
    adjusted = holm([envelope.p_value] + [test.p_value for test in statistics])
    statistics = [
        replace(test, adjusted=float(value)) for test, value in zip(statistics, adjusted[1:])
    ]
    rejected = bool(np.min(adjusted) <= 1.0 - level + 1e-12)
    of_curve = float(adjusted[0])
    verdict, sentence = _verdict(error, median, envelope, of_curve, statistics, rejected)
    needed = fewest_runs(level, len(adjusted))
    if not rejected and len(simulations) < needed:
        sentence += (
            f" With {len(simulations)} drives no test can be small enough, as {len(adjusted)} were "
            f"taken; simulate at least {needed}."
        )
    shown = times, error, median, bands, envelope, of_curve, statistics
    return Judgement(*shown, level, rejected, verdict, sentence)


class ShownTest(NamedTuple):
    """One test of a yaw error.

    ``observed``, ``median``, ``low``, ``high``: of the recorded error, and of the ensemble its
    median and central 95 %, in ``unit``; not a number for the whole curve, which has no such.
    ``percentile``: share of simulated drives whose value is lower, equal ones by half [%]; not a
    number for the whole curve. ``p_value``, ``adjusted``: two-sided, and corrected for the number
    of tests. ``rejects``: whether the corrected one is small enough. ``manner``: what is wrong with
    the model where the test rejects it: ``too little``, ``too much`` or ``other direction``; else
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
    """Return the tests of a judgement of a yaw error [rad]: the whole curve, each statistic."""
    envelope, tests = judgement.envelope, judgement.statistics
    manner = _manner_of_curve(judgement.observed, judgement.median, envelope, tests)[0]

    def verdict(
        test: GlobalEnvelope | StatisticJudgement, adjusted: float, manner: str
    ) -> tuple[float, float, bool, str]:
        rejects = adjusted <= 1.0 - judgement.level + 1e-12
        return test.p_value, adjusted, rejects, manner if rejects else ""

    none = (math.nan,) * 5
    found = [ShownTest("whole curve", "", *none, *verdict(envelope, judgement.adjusted, manner))]
    for test in tests:
        # A density is that of squares.
        factor = math.degrees(1.0) ** (2 if test.name.startswith(PSD) else 1)
        name, unit = STATISTICS.get(test.name, (test.name.replace(PSD, "PSD ", 1), "deg²/Hz"))
        seen = factor * test.observed, factor * test.median, factor * test.low, factor * test.high
        judged = verdict(test, test.adjusted, manner_of_statistic(test))
        found.append(ShownTest(name, unit, *seen, test.percentile, *judged))
    return found
