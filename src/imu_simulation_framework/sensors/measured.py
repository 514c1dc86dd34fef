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

A bundled part, any unit of it, is its data sheet and what was measured of it. Of the gyroscope,
what was measured of the part itself goes before its data sheet, and the sheet before what its class
of part has, which stands in for what nobody says: cheap sensors' sheets say nothing of bias
instability and random walk.
"""

from __future__ import annotations

import io
import math
import os
from dataclasses import replace
from functools import lru_cache
from typing import Any, Mapping, NamedTuple

import numpy as np
import pandas as pd

from ..core.errors import ConfigurationError
from ..core.files import package_share, read_settings
from ..core.sentences import quote
from ..core.units import factor
from .files import RATIOS, read_imu_specification
from .imu_specification import ImuSpecification, UnitVariation
from .noise.processes import FLICKER_PLATEAU

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
_NEGLIGIBLE = 0.1  # weight of the class in a part's median that is not worth mentioning
SMALLEST_SPREAD = 0.02
"""Of logarithms: no two published numbers agree better than by chance."""


class Estimate(NamedTuple):
    """What is known of one quantity of any unit of a part.

    ``median`` [SI]: of N, B or K; of what is calibrated the standard deviation over units and axes.
    ``spread``: standard deviation of the natural logarithm from unit to unit, with the uncertainty
    of the median. ``units``: how many were measured. ``origin``: ``measured (1 unit) and class``.
    """

    median: float
    spread: float
    units: int
    origin: str


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
        weight: np.ndarray = np.ones(len(squares))
        if math.isfinite(variance):
            weight = variance / (squares + variance)
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

    Columns: those of ``values.csv``, with ``value_unit`` for the values' units, and of
    ``recordings.csv``: ``rate`` [Hz], ``duration`` [s], ...
    """
    values = _read("values").rename(columns={"unit": "value_unit"})
    table = values.merge(_read("recordings"), on="recording", how="left", validate="many_to_one")
    for name in ("value", "rate", "duration"):
        table[name] = pd.to_numeric(table[name])
    return table


def measurements() -> pd.DataFrame:
    r"""Return what was measured of each unit in SI units, a row for each sensor and quantity.

    Numbers that are not used have no row. Columns ``part`` (as which it was measured), ``unit``,
    ``sensor``, ``quantity``, ``excluded`` (empty), ``value``, ``numbers`` (how many of one
    recording it is made of) and ``rate`` [Hz]. Of several axes it is the root mean square, of
    several recordings of one noise the geometric mean. Of B what N and K of the same unit leave in
    the lowest point of the Allan variance, :math:`2 N K / \sqrt 3`, is taken out; where they
    explain it alone, B is only known to be smaller, and half of it is taken.
    """
    table = measured_values()
    table = table[table["excluded"] == ""]
    same = measured_parts()["measured_as"]
    table = table.assign(
        part=same.loc[table["part"]].to_numpy(),
        quantity=[QUANTITIES[name] for name in table["quantity"]],
        value=_in_si(table),
    ).dropna(subset=["value"])
    groups = [*KEY, "excluded"]
    noise = table["quantity"].isin(NOISE)
    parts = [_rms(table[~noise], groups), _rms(_levels(table[noise], groups), groups)]
    table = table.assign(numbers=1)
    counted = table.groupby([*groups, "recording"]).agg({"numbers": "sum", "rate": "mean"})
    counted = counted.groupby(groups).agg({"numbers": "max", "rate": "mean"})
    combined = pd.concat(parts).to_frame("value").join(counted).reset_index()
    return _without_noise_and_walk(combined).sort_values(groups, ignore_index=True)


def estimates(part: str, table: pd.DataFrame | None = None) -> dict[tuple[str, str], Estimate]:
    """Return what is known of any unit of a part, by sensor and quantity.

    ``part``: a bundled IMU, ``mti300``, or a part of ``parts.csv``. ``table``: as
    :func:`measurements` returns it, which is the default. A quantity that was measured of no part
    of the class is left out. Raises :class:`.ConfigurationError`: there is neither a bundled nor a
    measured part of the name.
    """
    parts = measured_parts()
    if part not in parts.index:
        raise ConfigurationError(
            f"{quote(part)}: nothing was measured of a part of that name; there are "
            f"{', '.join(parts.index)}."
        )
    same, kind = parts["measured_as"][part], parts["class"][part]
    found = {}
    for key, rows, models in _own_models() if table is None else _models(table):
        if kind in models:
            own = rows[rows["part"] == same]
            found[key] = _estimate(own, models[kind], same, same != part)
    return found


def _models(table: pd.DataFrame) -> list:
    """Return sensor and quantity, its rows, and its models by class, of all that was measured."""
    classes = dict(measured_parts()["class"])
    groups = table.groupby(["sensor", "quantity"])
    return [(key, rows, class_models(rows, classes)) for key, rows in groups]


@lru_cache(maxsize=1)
def _own_models() -> list:
    return _models(measurements())


def class_models(rows: pd.DataFrame, classes: Mapping[str, str]) -> dict[str, ClassModel]:
    """Return the model of each class in which one quantity of one sensor was measured.

    ``rows``: of that quantity, as :func:`measurements` returns them. ``classes``: part -> class.
    """
    parts = _part_means(rows)
    grouped = parts.groupby([classes[part] for part in parts.index])
    squares, freedom = grouped["squares"].sum(), grouped["freedom"].sum()
    pooled = squares.sum() / max(freedom.sum(), 1)
    models: dict = {}
    for kind, group in grouped:
        known = freedom[kind] >= MIN_FREEDOM
        within: Any = squares[kind] / freedom[kind] if known else pooled
        within = 0.0 if _is_calibration(rows) else max(within, SMALLEST_SPREAD**2)
        variances = np.array([_variance(part, within) for _, part in group.iterrows()])
        models[kind] = _class_model(group["mean"].to_numpy(), variances, within)
    return models


def _read(name: str) -> pd.DataFrame:
    text = read_settings(package_share() / "config" / "measured_imus" / f"{name}.csv")
    return pd.read_csv(io.StringIO(text), dtype=str, keep_default_na=False)


def _in_si(table: pd.DataFrame) -> pd.Series:
    sizes = {unit: RATIOS.get(unit) or factor(unit) for unit in set(table["value_unit"])}
    value = table["value"] * table["value_unit"].map(sizes)
    value = value.mask(table["quantity"] == "allan_minimum", value / FLICKER_PLATEAU)
    return value.mask(table["quantity"] == "sample_deviation", value / np.sqrt(table["rate"]))


def _levels(table: pd.DataFrame, groups: list[str]) -> pd.DataFrame:
    """Return the geometric mean of each axis of a recording, and of recordings, as one level."""
    recording = [*groups, "recording"]
    logs = table.assign(value=np.log(table["value"]))
    axes = np.exp(logs.groupby([*recording, "axis"])["value"].mean()).reset_index()
    return np.exp(np.log(_rms(axes, recording)).groupby(groups).mean()).reset_index()


def _rms(table: pd.DataFrame, groups: list[str]) -> pd.Series:
    return np.sqrt(table.assign(value=table["value"] ** 2).groupby(groups)["value"].mean())


def _without_noise_and_walk(table: pd.DataFrame) -> pd.DataFrame:
    """Return rows whose bias instability is what N and K leave of it."""
    index = ["part", "unit", "sensor"]
    used = table.pivot(index=index, columns="quantity", values="value")
    used = used.reindex(columns=list(NOISE)).dropna()
    explained = 2.0 / math.sqrt(3.0) * used["white_noise"] * used["random_walk"]
    flicker = used["bias_instability"]
    left = np.sqrt(np.maximum(flicker**2 - explained / FLICKER_PLATEAU**2, (0.5 * flicker) ** 2))
    place = table["quantity"] == "bias_instability"
    corrected = left.reindex(pd.MultiIndex.from_frame(table.loc[place, index])).to_numpy()
    table.loc[place, "value"] = np.where(np.isnan(corrected), table.loc[place, "value"], corrected)
    return table


def _is_calibration(rows: pd.DataFrame) -> bool:
    return rows["quantity"].iloc[0] in CALIBRATION


def _part_means(rows: pd.DataFrame) -> pd.DataFrame:
    """Return by part: mean of the logarithms, squares about it, units, freedom, numbers."""
    part, log = rows["part"], np.log(rows["value"])
    grouped = log.groupby(part)
    parts = pd.DataFrame({"mean": grouped.mean(), "units": grouped.size()})
    parts["numbers"] = rows["numbers"].groupby(part).sum()
    parts["squares"] = ((log - part.map(parts["mean"])) ** 2).groupby(part).sum()
    parts["freedom"] = parts["units"] - 1
    if _is_calibration(rows):
        squares = (rows["value"] ** 2 * rows["numbers"]).groupby(part).sum()
        parts["mean"] = 0.5 * np.log(squares / parts["numbers"])
    return parts


def _variance(part: Any, within: Any) -> Any:
    """Return the variance of a part's mean: of its units, or of the logarithm of a deviation."""
    return within / part["units"] if within > 0.0 else 0.5 / part["numbers"]


def _class_model(mean: np.ndarray, variance: np.ndarray, within: Any) -> ClassModel:
    tau = np.linspace(0.0, 3.0, 61)
    weight = 1.0 / (tau[:, None] ** 2 + variance)
    total = weight.sum(axis=1)
    centre = weight @ mean / total
    misfit = np.sum(weight * (mean - centre[:, None]) ** 2, axis=1)
    # The restricted likelihood, times the prior.
    log = 0.5 * (np.log(weight).sum(axis=1) - np.log(total) - misfit - tau**2)
    probability = np.exp(log - log.max())
    return ClassModel(tau, probability / probability.sum(), centre, 1.0 / total, within)


def _estimate(rows: pd.DataFrame, model: ClassModel, name: str, other_name: bool) -> Estimate:
    units, origin = len(rows), OF_CLASS
    mean, variance, _ = model.of_part()
    if units:
        part = _part_means(rows).iloc[0]
        mean, variance, weight = model.of_part(part["mean"], _variance(part, model.within))
        origin = f"measured ({units} unit{'s' if units > 1 else ''}"
        origin += f" of {name})" if other_name else ")"
        if weight > _NEGLIGIBLE:
            origin += AND_CLASS
    return Estimate(math.exp(mean), math.sqrt(variance + model.within), units, origin)


SHEET = "data sheet"
OF_CLASS = "class of part"
AND_CLASS = " and class"
SHEET_SPREAD = 0.2
"""Standard deviation of the logarithm from unit to unit of noise that a sheet calls typical."""


class Part(NamedTuple):
    """A part of which any unit may be had, and where its gyroscope's numbers are from, by field."""

    specification: ImuSpecification
    origins: dict[str, str]

    def sentence(self) -> str:
        """Return where the numbers are from."""
        by_origin: dict[str, list[str]] = {}
        for name, origin in self.origins.items():
            by_origin.setdefault(origin, []).append(name.replace("_", " "))
        parts = (f"{', '.join(names)}: {origin}" for origin, names in by_origin.items())
        return f"{self.specification.name}, any unit: {'; '.join(parts)}"


def read_part(name: str | os.PathLike[str]) -> ImuSpecification:
    """Return an IMU by its name or file; of a bundled part any unit, with what was measured of it.

    Raises ConfigurationError as :func:`.read_imu_specification` does.
    """
    return part_of(read_imu_specification(name)).specification


def part_of(sheet: ImuSpecification) -> Part:
    """Return a bundled part as any unit of it; what is none, or is this unit, stays as it is."""
    if not sheet.units.tolerances or sheet.name not in measured_parts().index:
        return Part(sheet, {})
    known = estimates(sheet.name)
    gyroscope, origins, spreads = sheet.gyroscope, {}, {}
    for name in NOISE:
        estimate = known["gyroscope", name]
        if np.any(getattr(gyroscope, name)) and not estimate.units:
            origins[name], spreads[name] = SHEET, SHEET_SPREAD
            continue
        measured: dict[str, Any] = {name: (estimate.median,) * 3}
        gyroscope = replace(gyroscope, **measured)
        origins[name], spreads[name] = estimate.origin, estimate.spread
    matrix = np.array(gyroscope.scale_factor_and_misalignment)
    diagonal = np.eye(3, dtype=bool)
    for name, places in (("scale_factor", diagonal), ("misalignment", ~diagonal)):
        estimate = known["gyroscope", name]
        if np.any(matrix[places]) and not estimate.units:
            origins[name] = SHEET
            continue
        matrix[places] = _deviation(estimate)
        origins[name] = estimate.origin
    gyroscope = replace(gyroscope, scale_factor_and_misalignment=matrix.tolist())
    units = UnitVariation(tolerances=True, **spreads)
    return Part(replace(sheet, gyroscope=gyroscope, units=units), origins)


def _deviation(estimate: Estimate) -> float:
    """Return a standard deviation to draw units with: the rms of what it may be."""
    return estimate.median * math.exp(min(estimate.spread, 1.0) ** 2)
