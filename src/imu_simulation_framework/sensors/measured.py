r"""What was measured of IMU parts, and what that says of a unit nobody measured.

The tables are in config/measured_imus: ``values.csv`` has a row for each published number,
``recordings.csv`` what it was measured of, how and by whom, ``parts.csv`` the class of each part
and, where two names mean the same sensors, as which part it was measured. A number that cannot be
used stays in its table with the reason in ``excluded``.

A part's numbers are combined by a log-normal model with random effects: of unit u of part p of a
class

.. math:: \ln x_{pu} = \mu + a_p + e_{pu}, \quad a_p \sim N(0, \tau^2), \quad
          e_{pu} \sim N(0, \sigma^2),

so that :math:`\sigma` is the spread from unit to unit and :math:`\tau` that from part to part.
:math:`\sigma^2` is the pooled variance within the parts of a class. :math:`\tau` has a half-normal
prior of scale 1, a factor of e, under which few parts do not make it zero (A. Gelman, Bayesian
Analysis 1, 515, 2006); everything is averaged over its posterior, on a grid. Given :math:`\tau`, a
part's median is its own mean, pulled towards the class by :math:`v / (\tau^2 + v)`, where
:math:`v` is the variance of that mean (C. N. Morris, JASA 78, 47, 1983). The measured spread has
the differences between tools and recordings in it, too.
"""

from __future__ import annotations

import io
import math
from functools import lru_cache
from typing import Mapping, NamedTuple

import numpy as np
import pandas as pd

from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.core.files import package_share, read_settings
from imu_simulation_framework.core.sentences import shown
from imu_simulation_framework.core.units import STANDARD_GRAVITY, factor
from imu_simulation_framework.sensors.noise.processes import FLICKER_PLATEAU
from imu_simulation_framework.sensors.stated_values import RATIOS

NOISE = ("white_noise", "bias_instability", "random_walk")
CALIBRATION = ("turn_on_bias", "scale_factor", "misalignment", "temperature_bias")
QUANTITIES = {
    **{name: name for name in (*NOISE, *CALIBRATION)},
    "sample_deviation": "white_noise",
    "allan_minimum": "bias_instability",
}
"""Quantity of ``values.csv`` -> what becomes of it: a standard deviation per sample is a density
by the root of the rate, the lowest Allan deviation is 0.664 B."""

KEY = ["part", "unit", "sensor", "quantity"]
MIN_FREEDOM = 3
"""Degrees of freedom from which on a class has a spread of its own."""
_NEGLIGIBLE = 0.1
"""Weight of the class in a part's median that is not worth mentioning."""
_SMALLEST_SPREAD = 0.02
"""Of logarithms: no two published numbers agree better than by chance."""
_USUAL_RATES = (100.0, 200.0, 400.0)
"""Where a rate is not stated [Hz]."""


class Estimate(NamedTuple):
    """What is known of one quantity of any unit of a part.

    ``median`` [SI]: of N, B or K; of what is calibrated the standard deviation over units and axes.
    ``spread``: standard deviation of the natural logarithm from unit to unit, with the uncertainty
    of the median. ``units``: how many were measured. ``origin``: ``measured (7 units)``,
    ``measured (1 unit) and class``, or ``class of part``.
    """

    median: float
    spread: float
    units: int
    origin: str


class Implausible(NamedTuple):
    """A value far from the others; ``ratio`` to their median, and a ``sentence`` with its cause."""

    part: str
    unit: str
    sensor: str
    quantity: str
    ratio: float
    sentence: str


class ClassModel(NamedTuple):
    """Of the logarithms of one quantity in a class, for each ``between``, the spread of its parts.

    ``probability`` of that spread; ``mean`` of the parts and its ``variance``; ``within``: variance
    from unit to unit.
    """

    between: np.ndarray
    probability: np.ndarray
    mean: np.ndarray
    variance: np.ndarray
    within: float

    def of_part(self, mean: float = 0.0, variance: float = math.inf) -> tuple[float, float, float]:
        """Return mean and variance of a part, and the weight that the class has in it.

        ``mean``, ``variance``: of what was measured of the part; nothing by default.
        """
        squares = self.between**2
        weight = (
            variance / (squares + variance) if math.isfinite(variance) else np.ones(len(squares))
        )
        means = (1.0 - weight) * mean + weight * self.mean
        spread = weight * squares + weight**2 * self.variance
        centre = self.probability @ means
        total = self.probability @ (spread + (means - centre) ** 2)
        return float(centre), float(total), float(self.probability @ weight)


def measured_parts() -> pd.DataFrame:
    """Return ``class`` and ``measured_as`` of each part that is bundled or was measured."""
    table = _read("parts").set_index("part")
    same = table["measured_as"]
    return table.assign(measured_as=same.where(same != "", table.index))


def measured_values() -> pd.DataFrame:
    """Return the published numbers, as they were published, with what they were measured of.

    Columns: ``recording``, ``part``, ``unit``, ``sensor``, ``quantity``, ``axis``, ``value``,
    ``value_unit``, ``rate`` [Hz], ``duration`` [s], ``method``, ``source``, ``where``,
    ``excluded``: why it is not used, or empty.
    """
    values = _read("values").rename(columns={"unit": "value_unit"})
    table = values.merge(_read("recordings"), on="recording", how="left", validate="many_to_one")
    for name in ("value", "rate", "duration"):
        table[name] = pd.to_numeric(table[name])
    return table


def measurements(excluded: bool = False) -> pd.DataFrame:
    r"""Return what was measured of each unit in SI units, a row for each sensor and quantity.

    ``excluded``: whether the numbers that are not used have rows of their own.

    Columns ``part`` (as which it was measured), ``unit``, ``sensor``, ``quantity``, ``excluded``
    (the reason, or empty), ``value``, ``numbers`` (how many of one recording it is made of) and
    ``rate`` [Hz]. Of several axes it is the root mean square, of several recordings of one noise
    the geometric mean. Of B what N and K of the same unit leave in the lowest point of the Allan
    variance, :math:`2 N K / \sqrt 3`, is taken out; where they explain it alone, B is only known
    to be smaller, and half of it is taken.
    """
    table = measured_values()
    if not excluded:
        table = table[table["excluded"] == ""]
    same = measured_parts()["measured_as"]
    table = table.assign(
        part=same.loc[table["part"]].to_numpy(),
        quantity=[QUANTITIES[name] for name in table["quantity"]],
        value=_in_si(table),
    ).dropna(subset=["value"])
    groups = [*KEY, "excluded"]
    noise = table["quantity"].isin(NOISE)
    parts = [_squares(table[~noise], groups), _squares(_levels(table[noise], groups), groups)]
    table = table.assign(numbers=1)
    counted = table.groupby([*groups, "recording"]).agg({"numbers": "sum", "rate": "mean"})
    counted = counted.groupby(groups).agg({"numbers": "max", "rate": "mean"})
    combined = pd.concat(parts).to_frame("value").join(counted).reset_index()
    return _without_noise_and_walk(combined).sort_values(groups, ignore_index=True)


def estimates(part: str, table: pd.DataFrame | None = None) -> dict[tuple[str, str], Estimate]:
    """Return what is known of any unit of a part, by sensor and quantity.

    Raises :class:`.ConfigurationError`: there is neither a bundled nor a measured part of the name.

    ``part``: a bundled IMU, ``mti300``, or a part of ``parts.csv``. ``table``: as
    :func:`measurements` returns it, which is the default. A quantity that was measured of no part
    of the class is left out.
    """
    parts = measured_parts()
    if part not in parts.index:
        raise ConfigurationError(
            f"{shown(part)}: nothing was measured of a part of that name; there are "
            f"{', '.join(parts.index)}."
        )
    same, kind = parts["measured_as"][part], parts["class"][part]
    found = {}
    for key, rows, models in _own_models() if table is None else _models(table):
        if kind in models:
            own = rows[rows["part"] == same]
            found[key] = _estimate(own, models[kind], same, same != part)
    return found


def _models(table):
    """Return sensor and quantity, its rows, and its models by class, of all that was measured."""
    classes = dict(measured_parts()["class"])
    groups = table.groupby(["sensor", "quantity"])
    return [(key, rows, class_models(rows, classes)) for key, rows in groups]


@lru_cache(maxsize=1)
def _own_models():
    return _models(measurements())


def class_models(rows: pd.DataFrame, classes: Mapping[str, str]) -> dict[str, ClassModel]:
    """Return the model of each class in which one quantity of one sensor was measured.

    ``rows``: of that quantity, as :func:`measurements` returns them. ``classes``: part -> class.
    """
    parts = _part_means(rows)
    grouped = parts.groupby([classes[part] for part in parts.index])
    squares, freedom = grouped["squares"].sum(), grouped["freedom"].sum()
    pooled = squares.sum() / max(freedom.sum(), 1)
    models = {}
    for kind, group in grouped:
        known = freedom[kind] >= MIN_FREEDOM
        within = squares[kind] / freedom[kind] if known else pooled
        within = 0.0 if _is_calibration(rows) else max(within, _SMALLEST_SPREAD**2)
        variances = np.array([_variance(part, within) for _, part in group.iterrows()])
        models[kind] = _class_model(group["mean"].to_numpy(), variances, within)
    return models


def implausible(table: pd.DataFrame | None = None, limit: float = 3.5) -> list[Implausible]:
    """Return the noise values that lie far from what others measured, with the likely mistake.

    ``table``: as :func:`measurements` returns it; by default with what was left out. ``limit``: the
    distance that is far, in units of 1.4826 times the median absolute distance (B. Iglewicz, D.
    Hoaglin, How to Detect and Handle Outliers, 1993).

    A value is put beside the median of the other units of its part, or, where there are none, of
    the parts of its class. What was left out is judged, but nothing is judged by it.
    """
    table = measurements(excluded=True) if table is None else table
    classes = measured_parts()["class"]
    found = []
    for (sensor, quantity), rows in table.groupby(["sensor", "quantity"]):
        if quantity not in NOISE:
            continue
        logs = np.log(rows["value"].to_numpy())
        used = (rows["excluded"] == "").to_numpy()
        part, unit = rows["part"].to_numpy(), rows["unit"].to_numpy()
        kind = classes.loc[part].to_numpy()
        distances, scales = _distances(logs, used, part, unit, kind)
        for place in np.flatnonzero(np.abs(distances) > limit * scales):
            rate = rows["rate"].to_numpy()[place]
            ratio = math.exp(distances[place])
            cause = _cause(distances[place], sensor, quantity, rate)
            sentence = (
                f"{part[place]} {unit[place]}: {quantity} of the {sensor} is {ratio:.3g} times "
                f"that of other units; {cause}"
            )
            found.append(Implausible(part[place], unit[place], sensor, quantity, ratio, sentence))
    return found


def _read(name):
    text = read_settings(package_share() / "config" / "measured_imus" / f"{name}.csv")
    return pd.read_csv(io.StringIO(text), dtype=str, keep_default_na=False)


def _in_si(table):
    sizes = {unit: RATIOS.get(unit) or factor(unit) for unit in set(table["value_unit"])}
    value = table["value"] * table["value_unit"].map(sizes)
    value = value.mask(table["quantity"] == "allan_minimum", value / FLICKER_PLATEAU)
    return value.mask(table["quantity"] == "sample_deviation", value / np.sqrt(table["rate"]))


def _levels(table, groups):
    """Return the geometric mean of each axis of a recording, and of recordings, as one level."""
    recording = [*groups, "recording"]
    logs = table.assign(value=np.log(table["value"]))
    axes = np.exp(logs.groupby([*recording, "axis"])["value"].mean()).reset_index()
    levels = _squares(axes, recording)
    return np.exp(np.log(levels).groupby(groups).mean()).reset_index()


def _squares(table, groups):
    squares = table.assign(value=table["value"] ** 2).groupby(groups)["value"].mean()
    return np.sqrt(squares)


def _without_noise_and_walk(table):
    index = ["part", "unit", "sensor"]
    used = table[table["excluded"] == ""].pivot(index=index, columns="quantity", values="value")
    used = used.reindex(columns=list(NOISE)).dropna()
    explained = 2.0 / math.sqrt(3.0) * used["white_noise"] * used["random_walk"]
    flicker = used["bias_instability"]
    left = np.sqrt(np.maximum(flicker**2 - explained / FLICKER_PLATEAU**2, (0.5 * flicker) ** 2))
    place = (table["quantity"] == "bias_instability") & (table["excluded"] == "")
    corrected = left.reindex(pd.MultiIndex.from_frame(table.loc[place, index])).to_numpy()
    table.loc[place, "value"] = np.where(np.isnan(corrected), table.loc[place, "value"], corrected)
    return table


def _is_calibration(rows):
    return rows["quantity"].iloc[0] in CALIBRATION


def _part_means(rows):
    """Return by part: mean of the logarithms, squares about it, units, freedom, numbers."""
    logs = rows.assign(log=np.log(rows["value"]))
    grouped = logs.groupby("part")
    parts = pd.DataFrame(
        {
            "mean": grouped["log"].mean(),
            "units": grouped.size(),
            "numbers": grouped["numbers"].sum(),
        }
    )
    parts["squares"] = (
        ((logs["log"] - logs["part"].map(parts["mean"])) ** 2).groupby(logs["part"]).sum()
    )
    parts["freedom"] = parts["units"] - 1
    if _is_calibration(rows):
        squares = (rows["value"] ** 2 * rows["numbers"]).groupby(rows["part"]).sum()
        parts["mean"] = 0.5 * np.log(squares / parts["numbers"])
    return parts


def _variance(part, within):
    """Return the variance of a part's mean: of its units, or of the logarithm of a deviation."""
    return within / part["units"] if within > 0.0 else 0.5 / part["numbers"]


def _class_model(mean, variance, within):
    tau = np.linspace(0.0, 3.0, 61)
    weight = 1.0 / (tau[:, None] ** 2 + variance)
    total = weight.sum(axis=1)
    centre = weight @ mean / total
    misfit = np.sum(weight * (mean - centre[:, None]) ** 2, axis=1)
    # The restricted likelihood, times the prior.
    log = 0.5 * (np.log(weight).sum(axis=1) - np.log(total) - misfit - tau**2)
    probability = np.exp(log - log.max())
    return ClassModel(tau, probability / probability.sum(), centre, 1.0 / total, within)


def _estimate(rows, model, name, other_name):
    units = len(rows)
    if not units:
        mean, variance, _ = model.of_part()
        origin = "class of part"
    else:
        part = _part_means(rows).iloc[0]
        mean, variance, weight = model.of_part(part["mean"], _variance(part, model.within))
        origin = f"measured ({units} unit{'s' if units > 1 else ''}"
        origin += f" of {name})" if other_name else ")"
        if weight > _NEGLIGIBLE:
            origin += " and class"
    return Estimate(math.exp(mean), math.sqrt(variance + model.within), units, origin)


def _distances(logs, used, part, unit, kind):
    """Return the distance of each value to the median of others, and the robust scale of that."""
    centres, own = np.full(len(logs), np.nan), np.zeros(len(logs), dtype=bool)
    for place in range(len(logs)):
        others = used & ~((part == part[place]) & (unit == unit[place]))
        siblings = others & (part == part[place])
        own[place] = siblings.any()
        if own[place]:
            centres[place] = np.median(logs[siblings])
        else:
            relatives = others & (kind == kind[place])
            medians = [np.median(logs[relatives & (part == p)]) for p in {*part[relatives]}]
            centres[place] = np.median(medians) if len(medians) > 2 else np.nan
    distances = logs - centres
    scales = np.full(len(logs), np.inf)
    for group in {*zip(kind, own)}:
        alike = (kind == group[0]) & (own == group[1])
        known = np.abs(distances[alike & used & np.isfinite(distances)])
        if len(known) > 2:
            scales[alike] = max(1.4826 * np.median(known), _SMALLEST_SPREAD)
    return np.nan_to_num(distances), scales


def _cause(distance, sensor, quantity, rate):
    """Return the known mistake that explains three quarters of a logarithm, if one does."""
    causes = {}
    if quantity == "white_noise":
        causes["one-sided instead of two-sided density"] = math.log(2.0) / 2.0
        for hertz in [rate] if rate > 0.0 else _USUAL_RATES:
            causes[f"per sample instead of density (root of {hertz:g} Hz)"] = math.log(hertz) / 2.0
    if sensor == "gyroscope":
        causes["degrees instead of radians"] = math.log(180.0 / math.pi)
    else:
        causes["g instead of m/s^2"] = -math.log(STANDARD_GRAVITY)
    misses = {text: abs(distance - size) for text, size in causes.items()}
    best = min(misses, key=misses.__getitem__)
    if misses[best] > 0.25 * abs(distance):
        return "no usual mistake explains it"
    # Factors that are as near cannot be told apart.
    near = [text for text in misses if misses[text] <= misses[best] + 0.1]
    return f"probably {' or '.join(near)}"
