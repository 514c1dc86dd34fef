"""The answer to "how far will the heading drift": numbers, the time to a limit, what is worth it.

And how small each error of a gyroscope must be for a heading to stay within a limit. Everything is
asked of the linear model (:mod:`.model.of_imu`), for a sensor that is used as an
:class:`.Operation` says, any unit of its part or this one.

The size of an error that is required means the same for all errors: what is drawn anew with each
sensor or each start is normal, of either sign, with the size as its standard deviation; of noise it
is the density or coefficient. The model is linear: an error of size p spreads the yaw p times as
far as one of size 1, so that the largest p of each alone is found from a model in which only this
error is there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Callable, Iterator, Mapping, NamedTuple

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.special import ndtri

from ..core.errors import ConfigurationError, FrameworkError
from ..core.units import factor
from ..motion.earth_motion import EarthMotion
from ..motion.motion import Motion
from ..sensors.conditions import TemperatureProfile
from ..sensors.imu_specification import ImuSpecification, OutputSpecification, TriadSpecification
from ..sensors.measured import AND_CLASS, OF_CLASS, SHEET
from ..sensors.noise.processes import FLICKER_PLATEAU
from ..sensors.odometer import OdometerSpecification
from ..sensors.operation import Operation
from .model import of_imu
from .model.distribution import YawErrorDistribution, normal_within
from .model.model import YawErrorModel
from .model.odometer import TRACK, WHEEL_SIZE, WHEELS
from .model.sources import KnownError, RandomConstant

RUNS = 4000
"""Drives that are drawn for the time at which the limit is passed."""
LATE = 0.05
"""Share of drives that have passed the limit at the earlier of the two times that are said."""
LONG_STANDSTILL = 60.0
STEPS = 60
"""Of the models that are compared."""
STOPS = "every 2min for 3s"
WORTH = 0.9
"""What mending a cause must make of the error for it to be worth a word."""

SMALLEST_BASIS = 0.01
"""Share of the variance whose origin is worth a word."""

KNOWN, UNITS, STARTS, DRIVE = "known", "between units", "between switch-ons", "within a drive"


class Passage(NamedTuple):
    """When the limit is passed for the first time.

    ``stays`` (n,): probability that it was not passed yet, at the model's times; ``half_width``
    (n,): of its 95 % interval, by the number of drawn drives; ``time`` (n,) [s].
    """

    time: np.ndarray
    stays: np.ndarray
    half_width: np.ndarray

    def by(self, share: float) -> float:
        """Return when this share of drives has passed the limit [s]; infinite if later."""
        return self._first(self.stays, share)

    def interval(self, share: float) -> tuple[float, float]:
        """Return the 95 % interval of :meth:`by` [s], by the number of drawn drives."""
        ends = self.stays - self.half_width, self.stays + self.half_width
        return self._first(ends[0], share), self._first(ends[1], share)

    def _first(self, stays: np.ndarray, share: float) -> float:
        passed = np.flatnonzero(stays <= 1.0 - share)
        return float(self.time[passed[0]]) if len(passed) else math.inf


class Mending(NamedTuple):
    """What could be done, and what the size of the error does not exceed then in 95 % [rad]."""

    what: str
    not_exceeded: float
    is_part: bool = False


class HeadingAnswer(NamedTuple):
    """How far the heading has drifted at the end of a model, and what matters.

    ``half`` and ``nearly_all``: what the size of the error does not exceed in 50 and in 95 % of
    drives [rad]; ``within``: probability to be within the limit at the end; ``passage``: when the
    limit is passed; ``causes`` (pandas.DataFrame): mean and std [rad] by source, the largest first,
    and what makes it differ; ``mendings``: the best first, those that are worth it.
    """

    half: float
    nearly_all: float
    within: float
    passage: Passage
    causes: pd.DataFrame
    mendings: tuple[Mending, ...]

    def sentence(
        self, name: str, limit: float, origins: Mapping[str, str] = MappingProxyType({})
    ) -> str:
        """Return all of it in one line.

        Parameters
        ----------
        name : str
            Of the IMU.
        limit : float
            That was asked for [rad].
        origins : mapping of str to str, optional
            Where the gyroscope's numbers are from, by field, as of
            :class:`~imu_simulation_framework.sensors.measured.Part`.

        Returns
        -------
        str
            How long the limit holds, how far the heading is off, why, on what the numbers rest,
            and what would make it better.
        """
        limit_text = f"{math.degrees(limit):g} deg"
        stays = float(self.passage.stays[-1])
        holds = "more than 99.9" if stays > 0.9995 else f"{100.0 * stays:.3g}"
        words = (
            f"{name}: holds {limit_text} for all {seconds(self.passage.time[-1])} in "
            f"{holds} % of drives; at the end {self._spread_words()}; "
            f"{self._passage_words(limit_text)}"
        )
        if self.nearly_all > 0.0 and len(self.causes):
            words += f"; most is {self.causes.index[0]}"
            basis = basis_words(self.causes["share"], origins)
            words += f"; {basis}" if basis else ""
        # The best way to use it otherwise, and another part.
        used = [one for one in self.mendings if not one.is_part][:1]
        best = used + [one for one in self.mendings if one.is_part][:1]
        if best:
            words += "; " + ", ".join(
                f"{one.what} {'would make it ' if one is best[0] else ''}{angle(one.not_exceeded)}"
                for one in best
            )
            words += " (95 %)"
        return words

    def _spread_words(self) -> str:
        if self.half >= math.pi:
            return "off by half a turn or more in 50 %"
        half = f"within {angle(self.half)} in 50 %"
        if self.nearly_all >= math.pi:
            return f"{half}, off by half a turn or more in 5 %"
        return f"{half} and {angle(self.nearly_all)} in 95 %"

    def _passage_words(self, limit: str) -> str:
        early, median = self.passage.by(LATE), self.passage.by(0.5)
        if math.isinf(early):
            return f"{limit} is passed in fewer than {100.0 * LATE:g} %"
        words = f"{limit} is passed in {100.0 * LATE:g} % of them within {seconds(early)}"
        return words if math.isinf(median) else f"{words}, in half of them within {seconds(median)}"


FIELDS = {
    "angle random walk": "white_noise",
    "rate random walk": "random_walk",
    of_imu.BIAS_INSTABILITY: "bias_instability",
    of_imu.SCALE_FACTOR: "scale_factor",
    of_imu.MISALIGNMENT: "misalignment",
}
"""Sources of the yaw error, and the fields of a part whose origin is known."""


def basis_words(shares: pd.Series, origins: Mapping[str, str]) -> str:
    """Return on what the variance of a yaw error rests, empty if nothing is known of that.

    Parameters
    ----------
    shares : Series
        Share of the variance [1] by source.
    origins : mapping of str to str
        Where the gyroscope's numbers are from, by field, as of
        :class:`~imu_simulation_framework.sensors.measured.Part`.
    """
    by_basis: dict[str, float] = {}
    for source, share in shares.items():
        origin = origins.get(FIELDS.get(str(source), ""), "")
        if origin:
            basis = "measured on this part"
            if origin == OF_CLASS:
                basis = "assumed from similar parts"
            elif origin == SHEET:
                basis = "from the data sheet"
            elif origin.endswith(AND_CLASS):
                basis = "measured on this part and weighed with similar ones"
            by_basis[basis] = by_basis.get(basis, 0.0) + float(share)
    told = sorted(by_basis.items(), key=lambda pair: -pair[1])
    parts = [f"{100.0 * share:.0f} %" for _, share in told if share >= SMALLEST_BASIS]
    if not parts:
        return ""
    parts[0] += " of the variance is"
    return ", ".join(f"{part} {basis}" for part, (basis, _) in zip(parts, told))


def seconds(time: float) -> str:
    """Return a time with three digits, or with all of its whole seconds."""
    return f"{time:.3g} s" if time < 1000.0 else f"{time:.0f} s"


def angle(size: float) -> str:
    """Return an error in degrees, with three digits, in few words; a heading knows no turns."""
    degrees = math.degrees(size)
    return f"{degrees:.3g} deg" if degrees < 180.0 else "half a turn or more"


def heading_answer(
    model: YawErrorDistribution,
    limit: float,
    mendings: tuple[Mending, ...] = (),
    runs: int = RUNS,
    seed: int = 1,
    on_runs: Callable[[int], object] = lambda _: None,
) -> HeadingAnswer:
    """Return the answer at the end of a model's times.

    ``limit`` [rad]. ``mendings``: of :func:`mendings_of`. ``runs``, ``seed``, ``on_runs``: as for
    :meth:`.YawErrorDistribution.survival`.
    """
    stays, half_width = model.survival(limit, runs, seed, on_runs)
    within = model.probability_within(limit)
    # What stays within it so far is within it now; only the former is counted in drawn drives.
    stays = np.minimum.accumulate(np.minimum(stays, within))
    return HeadingAnswer(
        model.not_exceeded(0.5),
        model.not_exceeded(0.95),
        float(within[-1]),
        Passage(model.time - model.time[0], stays, half_width),
        causes_of(model),
        mendings,
    )


def causes_of(model: YawErrorDistribution) -> pd.DataFrame:
    """Return what each source adds at the end: columns mean, std [rad], share [1] and differs."""
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


def _differs(model: YawErrorDistribution, name: str) -> str:
    kinds = [source for source in model.sources if source.name == name]
    if all(isinstance(source, KnownError) for source in kinds):
        return KNOWN
    if not any(isinstance(source, RandomConstant) for source in kinds) or name == "quantisation":
        return DRIVE
    return STARTS if name == of_imu.RATE_BIAS else UNITS


def mendings_of(
    imu: object,
    motion: Motion | EarthMotion,
    operation: Operation,
    model: YawErrorModel,
    part: Mending | None = None,
    **arguments: Any,
) -> tuple[Mending, ...]:
    """Return what would make the heading's error smaller, the best first, if it is worth it.

    ``imu``, ``motion``, ``operation``: that ``model`` is of, motion before it is given stops.
    ``part``: of :func:`another_part`. ``arguments``: of :func:`.yaw_error_model` besides.
    """
    if not isinstance(imu, (ImuSpecification, OdometerSpecification)):
        return ()
    end = len(model.time)
    now = model.not_exceeded(0.95)
    found = []
    for words, names in (
        ("scale factor and axes calibrated", (of_imu.SCALE_FACTOR, of_imu.MISALIGNMENT)),
        ("g-sensitivity calibrated", (of_imu.G_SENSITIVITY,)),
        ("a temperature that does not change", ("temperature",)),
        ("wheels and track calibrated", (WHEELS, TRACK, WHEEL_SIZE)),
    ):
        rest = tuple(source for source in model.sources if source.name not in names)
        if len(rest) < len(model.sources):
            found.append((words, replace(model, sources=rest)))
    others = []
    of_gyroscope = isinstance(imu, ImuSpecification)
    alone = isinstance(imu, ImuSpecification) and not imu.output.fuses_magnetometer
    if of_gyroscope and operation.standstill < LONG_STANDSTILL:
        words = f"standing still for {LONG_STANDSTILL:g} s before the drive"
        others.append((words, replace(operation, standstill=LONG_STANDSTILL)))
    if alone and operation.stops == "none":
        others.append((f"a stop {STOPS}", replace(operation, stops=STOPS)))
    for words, other in others:
        try:
            mended = of_imu.yaw_error_model(imu, other.moved(motion), operation=other, **arguments)
        except FrameworkError:
            continue  # a motion that cannot stop
        found.append((words, mended.until(min(end, len(mended.time)))))
    mendings = [Mending(words, one.not_exceeded(0.95)) for words, one in found]
    if part is not None and alone:
        mendings.append(part)
    worth = [one for one in mendings if one.not_exceeded < WORTH * now]
    return tuple(sorted(worth, key=lambda one: one.not_exceeded))


def another_part(
    parts: dict[str, ImuSpecification],
    motion: Motion | EarthMotion,
    limit: float,
    at: float,
    operation: Operation,
    sample: float | None = None,
    period: float | None = None,
) -> Mending:
    """Return what the least good of the parts that keep the limit in 95 % would make of the error.

    Or what the best of them would, if none keeps it. ``motion``: with the stops; ``period``: the
    step of the model whose error is compared with that of the part [s]; the rest is as for
    :func:`which_imu`.
    """
    sizes = {
        name: model.not_exceeded(0.95)
        for name, model in _models(parts, motion, at, operation, sample)
    }
    keeping = {name: size for name, size in sizes.items() if size <= limit}
    name = max(keeping, key=keeping.__getitem__) if keeping else min(sizes, key=sizes.__getitem__)
    size = sizes[name]
    if period is not None:
        ((_, model),) = _models({name: parts[name]}, motion, at, operation, sample, period)
        size = model.not_exceeded(0.95)
    return Mending(f"another part, {name},", size, is_part=True)


def _models(
    imus: dict[str, ImuSpecification],
    moved: Motion | EarthMotion,
    at: float,
    operation: Operation,
    sample: float | None,
    period: float | None = None,
) -> Iterator[tuple[str, YawErrorModel]]:
    """Yield each IMU's name and its model up to a time, by default in few steps."""
    period = step_of_model(at, moved, operation) if period is None else period
    for name, imu in imus.items():
        model = of_imu.yaw_error_model(imu, moved, period, sample=sample, operation=operation)
        yield name, model.until(min(round(at / period) + 1, len(model.time)))


def step_of_model(
    at: float, moved: Motion | EarthMotion, operation: Operation, steps: int = STEPS
) -> float:
    """Return the steps between a model's times [s] at which the stops on the way have a place.

    ``at``: when the answer is wanted [s]. ``moved``: with the stops. ``steps``: at least.
    """
    period, given = at / steps, operation.given_stops
    if given is not None:
        every, duration = (round(1000.0 * time) for time in given)
        # Every stop begins and ends at a step, unless that takes very short ones.
        wanted = max(math.gcd(every, duration), 0.25 * duration) / 1000.0
    elif operation.detects:
        wanted = 0.25 * operation.min_stop
    else:
        stops = operation.standstills(moved)
        wanted = 0.25 * min((stop.end - stop.start for stop in stops), default=math.inf)
    return period if wanted >= period and given is None else wanted / math.ceil(wanted / period)


def which_imu(
    imus: dict[str, ImuSpecification],
    motion: Motion | EarthMotion,
    limit: float,
    at: float,
    operation: Operation | None = None,
    probability: float = 0.95,
    sample: float | None = None,
    runs: int = RUNS // 2,
) -> pd.DataFrame:
    """Return which IMUs keep the heading within a limit, the best first.

    ``imus``: name -> errors; ``limit`` [rad]; ``at``: time into the motion [s]; ``probability``: in
    how many drives. ``operation``: by default :class:`.Operation`. ``sample``: as for
    :func:`.yaw_error_model`. ``runs``: drives that are drawn for it. Returns columns ``half``,
    ``nearly_all``: what the size of the error does not exceed in 50 % and with the probability
    [rad], ``stays``: probability to stay within the limit all the time, ``passes``: whether that
    suffices, ``cause``: the source that adds most at the end, and ``differs``: from what to what it
    differs; index the names. Raises ConfigurationError: the motion ends before that time, or no IMU
    is named.
    """
    operation = Operation() if operation is None else operation
    moved = operation.moved(motion)
    if not imus:
        raise ConfigurationError("no IMU is named, of which one could be chosen")
    if not 0.0 < at <= moved.duration * (1.0 + 1e-9):
        raise ConfigurationError(
            f"the motion lasts {moved.duration:.6g} s, so that nothing is known at {at:g} s"
        )
    rows = {}
    for name, model in _models(imus, moved, at, operation, sample):
        nearly_all = model.not_exceeded(probability)
        stays = min(
            model.probability_always_within(limit, runs)[0],
            float(model.probability_within(limit)[-1]),
        )
        causes = causes_of(model)
        rows[name] = {
            "half": model.not_exceeded(0.5),
            "nearly_all": nearly_all,
            "stays": stays,
            "passes": stays >= probability,
            "cause": causes.index[0] if len(causes) else "none",
            "differs": causes["differs"].iloc[0] if len(causes) else "",
        }
    table = pd.DataFrame.from_dict(rows, orient="index").rename_axis("imu")
    return table.sort_values("nearly_all", kind="stable")


WARMING = 10.0
"""Kelvin away from the reference temperature, for a requirement on the temperature's bias."""


@dataclass(frozen=True)
class Requirement:
    """An error of a gyroscope on which there is a requirement.

    ``unit``: in which a data sheet states it. ``field``: of :class:`.TriadSpecification`. ``axis``:
    where in the field, for the yaw of a level robot: the z axis's own or what it takes from another
    axis. ``sheet``: how a data sheet says it, noise densities one-sided.
    """

    name: str
    unit: str
    field: str
    axis: tuple[int, ...]
    sheet: str
    per_unit: float = 1.0

    def line(self, size: float) -> str:
        """Return what a size [unit] is on a line of a data sheet: ``sheet``, ``per_unit`` each."""
        return self.sheet.format(self.per_unit * size)


_HOUR, _PERCENT = 1.0 / 3600.0, 100.0 * math.radians(1.0)
_MATRIX = "scale_factor_and_misalignment"
_CROSS = "cross-axis sensitivity {:.2g} %"
_FORCE = "linear acceleration sensitivity {:.2g} deg/s/g"

# fmt: off
_ROWS = (
    ("rate bias", "deg/h", "turn_on_bias_sigma", (2,), "zero-rate offset {:.2g} deg/s", _HOUR),
    (
        "bias instability",
        "deg/h",
        "bias_instability",
        (2,),
        "in-run bias stability {:.2g} deg/h",
        FLICKER_PLATEAU,
    ),
    ("rate random walk", "deg/h/sqrt(h)", "random_walk", (2,), "seldom stated"),
    (
        "angle random walk",
        "deg/sqrt(h)",
        "white_noise",
        (2,),
        "noise density {:.2g} deg/s/sqrt(Hz)",
        math.sqrt(2.0) / 60.0,
    ),
    ("scale factor", "1", _MATRIX, (2, 2), "sensitivity tolerance {:.2g} %", 100.0),
    ("misalignment about x", "deg", _MATRIX, (2, 1), _CROSS, _PERCENT),
    ("misalignment about y", "deg", _MATRIX, (2, 0), _CROSS, _PERCENT),
    ("g-sensitivity to x", "deg/h/g", "g_sensitivity", (2, 0), _FORCE, _HOUR),
    ("g-sensitivity to y", "deg/h/g", "g_sensitivity", (2, 1), _FORCE, _HOUR),
    ("g-sensitivity to z", "deg/h/g", "g_sensitivity", (2, 2), _FORCE, _HOUR),
    (
        f"temperature bias, {WARMING:g} K",
        "deg/h/K",
        "temperature_bias",
        (2,),
        "offset over temperature {:.2g} deg/s/K",
        _HOUR,
    ),
)
# fmt: on
REQUIREMENTS = tuple(Requirement(*row) for row in _ROWS)


def requirements(
    motion: Motion | EarthMotion,
    limit: float,
    at: float,
    probability: float,
    rate: float = 100.0,
    sample: float | None = None,
    operation: Operation | None = None,
) -> pd.DataFrame:
    """Return the largest size of each error with which the yaw error stays within a limit.

    All sizes mean the same: the standard deviation from sensor to sensor or from start to start of
    an error of either sign, and of noise its density or coefficient.

    ``motion``: of the IMU. ``limit``: of the yaw error, to either side
    [rad]. ``at``: when, after the motion's start [s]. ``probability``: between 0 and 1. ``rate``:
    of the sensor [Hz]. ``sample``, ``operation``: as for :func:`.yaw_error_model`. Index: name of
    the error; unit; alone and equal_shares, the largest size [unit] with no other error, and with
    all of them there, each allowed the same share, and what that is on a line of a data sheet;
    infinite where this motion does not show the error, zero where the limit is not kept even
    without any. Raises ConfigurationError if limit, time or probability is out of range.
    """
    if not limit > 0.0:
        raise ConfigurationError(f"the limit of a yaw error is {limit} rad, but must be positive")
    if not 0.0 < probability < 1.0:
        raise ConfigurationError(
            f"the probability is {probability}, but it must be between 0 and 1"
        )
    if not 0.0 < at <= motion.duration * (1.0 + 1e-9):
        raise ConfigurationError(
            f"the motion lasts {motion.duration:g} s, so that nothing is known at {at:g} s"
        )
    # What a sensor without errors says wrong: its filter leans, and the Earth turns.
    ideal = ImuSpecification(output=OutputSpecification(rate=rate))
    model = of_imu.yaw_error_model(ideal, motion, at, sample=sample, operation=operation)
    always = float(model.mean()[-1])
    allowed = _largest_std(limit, abs(always), probability)
    rows = []
    for requirement in REQUIREMENTS:
        size = factor(requirement.unit)
        imu = _only(requirement, size, rate)
        model = of_imu.yaw_error_model(imu, motion, at, sample=sample, operation=operation)
        effect = np.hypot(model.mean()[-1] - always, np.sqrt(model.variance()[-1]))
        # Rounding leaves a little where the motion shows nothing.
        alone = allowed / effect if effect > 1e-9 * size else np.inf
        rows.append((requirement.name, requirement.unit, alone))
    table = pd.DataFrame(rows, columns=["name", "unit", "alone"]).set_index("name")
    shown = int(np.sum(np.isfinite(table["alone"])))
    # Independent errors: their variances add up.
    table["equal_shares"] = table["alone"] / np.sqrt(max(shown, 1))
    table["sheet"] = [
        requirement.line(size) if np.isfinite(size) else "any"
        for requirement, size in zip(REQUIREMENTS, table["equal_shares"])
    ]
    return table


def _largest_std(limit: float, mean: float, probability: float) -> float:
    """Return with which standard deviation an error of this mean is within the limit so often."""
    if mean >= limit:
        return 0.0
    largest = limit / float(ndtri(0.5 + 0.5 * probability))  # without a mean
    if mean == 0.0:
        return largest

    def excess(std: float) -> float:
        return float(normal_within(mean, np.array(std), limit)) - probability

    return float(brentq(excess, 0.0, 1.01 * largest))


def _only(requirement: Requirement, size: float, rate: float) -> ImuSpecification:
    values = np.zeros((3,) * len(requirement.axis))
    values[requirement.axis] = size
    triad = TriadSpecification(**{requirement.field: values.tolist()})
    warm = TemperatureProfile(reference=0.0, start=WARMING, end=WARMING)
    return ImuSpecification(
        gyroscope=triad, temperature=warm, output=OutputSpecification(rate=rate)
    )
