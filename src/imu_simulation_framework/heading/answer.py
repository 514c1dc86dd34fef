"""Heading drift of a sensor on a motion: percentiles, first-passage time and causes.

All values follow from the linear model of the yaw error (:mod:`.model.imu_error_sources`), except
the time at which a drive first exceeds the limit, which is estimated from simulated drives.
"""

from __future__ import annotations

import math
from types import MappingProxyType
from typing import Callable, Mapping, NamedTuple, Sequence

import numpy as np
import pandas as pd

from ..core.deprecated import deprecated_names
from ..sensors.measured import CLASS_ORIGIN, CLASS_SUFFIX, SHEET
from .model import imu_error_sources
from .model.distribution import ErrorDistribution, estimate_survivals
from .model.sources import KnownError, RandomConstant

RUNS = 4000
"""Number of simulated drives from which the first-passage time is estimated."""
EARLY_SHARE = 0.05
"""Smaller of the two probabilities at which a message states the first-passage time."""
SMALLEST_BASIS = 0.01
"""Smallest share of the variance for which a message states where the parameters come from."""

MIN_EXCESS = 1.05
"""Smallest ratio of an earlier 95th percentile to the final one for which a message states both."""

KNOWN, UNITS, STARTS, DRIVE = "known", "between units", "between switch-ons", "within a drive"


@deprecated_names(by="time_at", stays="probability_within")
class FirstPassage(NamedTuple):
    """Distribution of the time at which drives first exceed the limit of the yaw error.

    Attributes
    ----------
    time : numpy.ndarray
        Times since the start of the model, shape (n,) [s].
    probability_within : numpy.ndarray
        Probability that the limit has not been exceeded yet, shape (n,).
    half_width : numpy.ndarray
        Half width of the 95 % confidence interval of ``probability_within``, shape (n,).
    """

    time: np.ndarray
    probability_within: np.ndarray
    half_width: np.ndarray

    def time_at(self, probability: float) -> float:
        """Return the time by which a given share of drives has exceeded the yaw error limit.

        Parameters
        ----------
        probability : float
            Share of drives, between 0 and 1.

        Returns
        -------
        float
            Time [s]; infinite if it is after the last time.
        """
        return self._first_time(self.probability_within, probability)

    def interval(self, probability: float) -> tuple[float, float]:
        """Return the 95 % confidence interval of :meth:`time_at`.

        Parameters
        ----------
        probability : float
            Share of drives, between 0 and 1.

        Returns
        -------
        tuple of float
            Lower and upper end [s].
        """
        low, high = (
            self.probability_within - self.half_width,
            self.probability_within + self.half_width,
        )
        return self._first_time(low, probability), self._first_time(high, probability)

    def _first_time(self, probability_within: np.ndarray, probability: float) -> float:
        passed = np.flatnonzero(probability_within <= 1.0 - probability)
        return float(self.time[passed[0]]) if len(passed) else math.inf


@deprecated_names(what="action", not_exceeded="percentile_95")
class Improvement(NamedTuple):
    """Action that reduces the yaw error.

    Attributes
    ----------
    action : str
        Description of the action, such as ``g-sensitivity calibrated``.
    percentile_95 : float
        95th percentile of the magnitude of the yaw error after the action [rad].
    is_part : bool
        Whether the action is the replacement of the sensor with a better one.
    """

    action: str
    percentile_95: float
    is_part: bool = False


class LargestError(NamedTuple):
    """Time at which the yaw error is largest over drives.

    Attributes
    ----------
    time : float
        Time with the largest rms error, since the start of the model [s].
    percentile_95 : float
        95th percentile of the magnitude of the yaw error at this time [rad].
    """

    time: float
    percentile_95: float


@deprecated_names(
    half="percentile_50",
    nearly_all="percentile_95",
    passage="first_passage",
    mendings="improvements",
)
class HeadingAnswer(NamedTuple):
    """Heading drift at the end of the modelled time, and its causes.

    Attributes
    ----------
    percentile_50, percentile_95 : float
        Percentiles of the magnitude of the yaw error over drives [rad].
    within : float
        Probability that the yaw error is within the limit at the end.
    first_passage : FirstPassage
        Distribution of the first-passage time.
    causes : pandas.DataFrame
        Contributions of the sources at the end, see :func:`rank_causes`.
    improvements : tuple of Improvement
        Worthwhile improvements, the best first.
    largest : LargestError or None
        Time at which the error is largest, and its percentile there. It is earlier than the end if
        errors cancel at the end, such as those of the scale factor after turning back.
    """

    percentile_50: float
    percentile_95: float
    within: float
    first_passage: FirstPassage
    causes: pd.DataFrame
    improvements: tuple[Improvement, ...]
    largest: LargestError | None = None

    def sentence(
        self, name: str, limit: float, origins: Mapping[str, str] = MappingProxyType({})
    ) -> str:
        """Describe the heading drift and its main causes in one line.

        Parameters
        ----------
        name : str
            Name of the IMU.
        limit : float
            Limit of the yaw error [rad].
        origins : mapping of str to str, optional
            Origin of the gyroscope's parameters by field, see
            :class:`~imu_simulation_framework.sensors.measured.Part`.

        Returns
        -------
        str
            Share of drives within the limit, percentiles, largest error source, parameter origin
            and the best improvements. If an earlier 95th percentile exceeds the final one by the
            factor :data:`MIN_EXCESS`, the line also contains the earlier one and its time.
        """
        limit_text = f"{math.degrees(limit):g} deg"
        probability_within = float(self.first_passage.probability_within[-1])
        holds = (
            "more than 99.9" if probability_within > 0.9995 else f"{100.0 * probability_within:.3g}"
        )
        sentence = (
            f"{name}: stays within {limit_text} for all {seconds(self.first_passage.time[-1])} in "
            f"{holds} % of drives; at the end {self._percentile_words()}{self._largest_words()}; "
            f"{passage_words(self.first_passage, limit_text)}"
        )
        if self.percentile_95 > 0.0 and len(self.causes):
            sentence += f"; the largest source is {self.causes.index[0]}"
            basis = basis_words(self.causes["share"], origins)
            sentence += f"; {basis}" if basis else ""
        return sentence + self._improvement_words()

    def _percentile_words(self) -> str:
        if self.percentile_50 >= math.pi:
            return "off by half a turn or more in 50 %"
        median = f"within {angle(self.percentile_50)} in 50 %"
        if self.percentile_95 >= math.pi:
            return f"{median}, off by half a turn or more in 5 %"
        return f"{median} and {angle(self.percentile_95)} in 95 %"

    def _largest_words(self) -> str:
        largest = self.largest
        if largest is None or largest.percentile_95 <= MIN_EXCESS * self.percentile_95:
            return ""
        size = angle(largest.percentile_95)
        return f", but {size} in 95 % at {seconds(largest.time)}, the time of the largest error"

    def _improvement_words(self) -> str:
        """Describe the best calibration or change in operation, and the best replacement sensor."""
        uses = [improvement for improvement in self.improvements if not improvement.is_part]
        parts = [improvement for improvement in self.improvements if improvement.is_part]
        best = uses[:1] + parts[:1]
        if not best:
            return ""
        proposals = [
            f"{improvement.action} {'' if number else 'would make it '}"
            f"{angle(improvement.percentile_95)}"
            for number, improvement in enumerate(best)
        ]
        return f"; {', '.join(proposals)} (95 %)"


FIELDS = {
    "angle random walk": "white_noise",
    "rate random walk": "random_walk",
    imu_error_sources.BIAS_INSTABILITY: "bias_instability",
    imu_error_sources.SCALE_FACTOR: "scale_factor",
    imu_error_sources.MISALIGNMENT: "misalignment",
}
"""Specification field that determines each source of the yaw error."""


def basis_words(shares: pd.Series, origins: Mapping[str, str]) -> str:
    """Describe where the parameters that dominate the variance of a yaw error come from.

    Parameters
    ----------
    shares : pandas.Series
        Share of the variance [1] by source.
    origins : mapping of str to str
        Origin of the gyroscope's parameters by field, see
        :class:`~imu_simulation_framework.sensors.measured.Part`.

    Returns
    -------
    str
        Description; empty if no origin is known.
    """
    share_by_basis: dict[str, float] = {}
    for source, share in shares.items():
        origin = origins.get(FIELDS.get(str(source), ""), "")
        if origin:
            basis = _basis(origin)
            share_by_basis[basis] = share_by_basis.get(basis, 0.0) + float(share)
    ranked = sorted(share_by_basis.items(), key=lambda pair: -pair[1])
    parts = [f"{100.0 * share:.0f} %" for _, share in ranked if share >= SMALLEST_BASIS]
    if not parts:
        return ""
    parts[0] += " of the variance is"
    return ", ".join(f"{part} {basis}" for part, (basis, _) in zip(parts, ranked))


def _basis(origin: str) -> str:
    if origin == CLASS_ORIGIN:
        return "assumed from similar parts"
    if origin == SHEET:
        return "from the data sheet"
    if origin.endswith(CLASS_SUFFIX):
        return "measured on this part and weighted with similar ones"
    return "measured on this part"


def passage_words(passage: FirstPassage, limit: str) -> str:
    """Describe when a limit is exceeded.

    Parameters
    ----------
    passage : FirstPassage
        Distribution of the first-passage time.
    limit : str
        Limit with its unit.

    Returns
    -------
    str
        Times by which 5 % and half of the drives have exceeded the limit.
    """
    early, median = passage.time_at(EARLY_SHARE), passage.time_at(0.5)
    if math.isinf(early):
        return f"{limit} is exceeded in fewer than {100.0 * EARLY_SHARE:g} %"
    words = f"{limit} is exceeded in {100.0 * EARLY_SHARE:g} % of them within {seconds(early)}"
    return words if math.isinf(median) else f"{words}, in half of them within {seconds(median)}"


def seconds(time: float) -> str:
    """Format a time with three significant digits, or in whole seconds from 1000 s.

    Parameters
    ----------
    time : float
        Time [s].

    Returns
    -------
    str
        Text with the unit.
    """
    return f"{time:.3g} s" if time < 1000.0 else f"{time:.0f} s"


def angle(size: float) -> str:
    """Format the magnitude of a yaw error in degrees, or as ``half a turn or more``.

    Parameters
    ----------
    size : float
        Magnitude of the error [rad].

    Returns
    -------
    str
        Text with the unit.
    """
    degrees = math.degrees(size)
    return f"{degrees:.3g} deg" if degrees < 180.0 else "half a turn or more"


def heading_answer(
    model: ErrorDistribution,
    limit: float,
    improvements: tuple[Improvement, ...] = (),
    runs: int = RUNS,
    seed: int = 1,
    on_runs: Callable[[int], object] = lambda _: None,
) -> HeadingAnswer:
    """Compute the heading drift at the end of the time that a yaw error model covers.

    Parameters
    ----------
    model : ErrorDistribution
        Distribution of the yaw error over time.
    limit : float
        Limit of the yaw error to either side [rad].
    improvements : tuple of Improvement, optional
        Improvements from :func:`.propose_improvements`.
    runs : int, optional
        Number of simulated drives for the first-passage time.
    seed : int, optional
        Seed of the simulated drives.
    on_runs : callable, optional
        Called with the number of new drives after each batch of simulated drives.

    Returns
    -------
    HeadingAnswer
    """
    (answer,) = heading_answers([model], limit, [improvements], runs, seed, on_runs)
    return answer


def heading_answers(
    models: Sequence[ErrorDistribution],
    limit: float,
    improvements: Sequence[tuple[Improvement, ...]],
    runs: int = RUNS,
    seed: int = 1,
    on_runs: Callable[[int], object] = lambda _: None,
) -> list[HeadingAnswer]:
    """Compute the heading drift for several yaw error models with common random numbers.

    Parameters
    ----------
    models : sequence of ErrorDistribution
        Distributions of the yaw error over time.
    limit : float
        Limit of the yaw error to either side [rad].
    improvements : sequence of tuple of Improvement
        Improvements for each model.
    runs : int, optional
        Number of simulated drives for the first passage.
    seed : int, optional
        Seed of the simulated drives.
    on_runs : callable, optional
        Called with the number of new drives after each batch of simulated drives.

    Returns
    -------
    list of HeadingAnswer
        Answer of each model.
    """
    survivals = estimate_survivals(models, limit, runs, seed, on_runs)
    return [_answer(*parts, limit) for parts in zip(models, survivals, improvements)]


def _answer(
    model: ErrorDistribution,
    survival: tuple[np.ndarray, np.ndarray],
    improvements: tuple[Improvement, ...],
    limit: float,
) -> HeadingAnswer:
    probability_within, half_width = survival
    within = model.probability_within(limit)
    # The probability of being within the limit at a single time is exact. It is an upper bound on
    # the probability of staying within the limit until then.
    probability_within = np.minimum.accumulate(np.minimum(probability_within, within))
    return HeadingAnswer(
        percentile_50=model.absolute_quantile(0.5),
        percentile_95=model.absolute_quantile(0.95),
        within=float(within[-1]),
        first_passage=FirstPassage(model.time - model.time[0], probability_within, half_width),
        causes=rank_causes(model),
        improvements=improvements,
        largest=_largest_error(model),
    )


def _largest_error(model: ErrorDistribution) -> LargestError:
    worst = int(np.argmax(model.mean() ** 2 + model.variance()))
    time = float(model.time[worst] - model.time[0])
    return LargestError(time, model.absolute_quantile(0.95, worst))


def rank_causes(model: ErrorDistribution) -> pd.DataFrame:
    """Rank the error sources by their contributions to the final yaw error.

    Parameters
    ----------
    model : ErrorDistribution
        Distribution of the yaw error over time.

    Returns
    -------
    pandas.DataFrame
        Columns ``mean`` and ``std`` [rad], ``share`` of the variance [1], and ``differs``, which is
        ``known``, ``between units``, ``between switch-ons`` or ``within a drive``; indexed by
        source, the largest first.
    """
    variance = model.budget().iloc[-1]
    mean = model.mean_by_source().iloc[-1].reindex(variance.index).fillna(0.0)
    total = float(variance.sum())
    table = pd.DataFrame(
        {
            "mean": mean,
            "std": np.sqrt(variance),
            "share": variance / total if total > 0.0 else 0.0,
            "differs": [_differs(model, name) for name in variance.index],
        },
        index=variance.index.rename("source"),
    )
    size = pd.Series(np.hypot(table["mean"], table["std"]), table.index)
    return table.reindex(size.sort_values(ascending=False, kind="stable").index)


def _differs(model: ErrorDistribution, name: str) -> str:
    kinds = [source for source in model.sources if source.name == name]
    if all(isinstance(source, KnownError) for source in kinds):
        return KNOWN
    if not any(isinstance(source, RandomConstant) for source in kinds) or name == "quantisation":
        return DRIVE
    return STARTS if name == imu_error_sources.RATE_BIAS else UNITS
