r"""Measured errors of IMUs, and predictions for other sensors of the same part number.

The tables are in config/measured_imus: ``values.csv`` has a row per published number,
``recordings.csv`` describes its recording with tool and author, and ``parts.csv`` states the class
of each part and, for two names of the same sensors, the name under which they were measured. A
number that cannot be used remains in its table with the reason in ``excluded``.

The numbers for a part are combined by a log-normal model with random effects. For the individual
sensor u of part p of a class, it is

.. math:: \ln x_{pu} = \mu + a_p + e_{pu}, \quad a_p \sim N(0, \tau^2), \quad
          e_{pu} \sim N(0, \sigma^2),

so that :math:`\sigma` is the spread between individual sensors and :math:`\tau` the spread between
parts. :math:`\sigma^2` is the pooled variance within the parts of a class. :math:`\tau` has a
half-normal prior of scale 1, a factor of e, which keeps it above zero if there are few parts (A.
Gelman, Bayesian Analysis 1, 515, 2006); all results are averaged over its posterior on a grid.
Given :math:`\tau`, the median of a part is its measured mean, shrunk towards the class by
:math:`v / (\tau^2 + v)`, where :math:`v` is the variance of that mean (C. N. Morris, JASA 78, 47,
1983). The measured spread also contains the differences between tools and recordings.

A bundled part combines its data sheet with measurements. For the gyroscope, measurements of the
part itself take precedence over its data sheet, and the data sheet over measurements of its class.
The class provides numbers that are still missing: data sheets of low-cost sensors state neither
bias instability nor random walk.
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
# Quantity in values.csv -> derived quantity: a standard deviation per sample is divided by the
# square root of the rate to obtain a density; the minimum of the Allan deviation is 0.664 B.
QUANTITIES = {
    **{name: name for name in (*NOISE, *CALIBRATION)},
    "sample_deviation": "white_noise",
    "allan_minimum": "bias_instability",
}

KEY = ["part", "unit", "sensor", "quantity"]
MIN_FREEDOM = 3  # smallest number of degrees of freedom for a separate spread of a class
_NEGLIGIBLE = 0.1  # weight of the class in the median of a part; below it, remarks omit the class
# Standard deviation of logarithms; two published values agree better only by chance.
SMALLEST_SPREAD = 0.02


class Estimate(NamedTuple):
    """Estimated distribution of a quantity over individual sensors of a part number.

    Parameters
    ----------
    median : float
        Median of N, B or K over sensors; for calibrated errors, the standard deviation over sensors
        and axes [SI].
    spread : float
        Standard deviation of the natural logarithm over sensors, including the uncertainty of the
        median.
    units : int
        Number of measured sensors.
    origin : str
        Origin of the numbers, for example ``measured (1 unit) and class``.
    """

    median: float
    spread: float
    units: int
    origin: str


class ClassModel(NamedTuple):
    """Distribution of the logarithms of a quantity in a class of parts, on a grid of spreads.

    Parameters
    ----------
    between : ndarray, shape (k,)
        Grid of the spread between parts, tau.
    probability : ndarray, shape (k,)
        Posterior probability of the spread.
    mean, variance : ndarray, shape (k,)
        Mean over the parts and its variance for each spread.
    within : float
        Variance between individual sensors.
    """

    between: np.ndarray
    probability: np.ndarray
    mean: np.ndarray
    variance: np.ndarray
    within: float

    def predict_part(
        self, mean: float = 0.0, variance: float = math.inf
    ) -> tuple[float, float, float]:
        """Predict the mean logarithm of a part from its measurements and its class.

        Parameters
        ----------
        mean, variance : float
            Mean of the measurements of the part and its variance; by default the part was not
            measured.

        Returns
        -------
        mean, variance : float
            Mean of the part and its variance.
        weight : float
            Weight of the class in the mean.
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
    """Return the table of part numbers that are bundled or have been measured.

    Returns
    -------
    pandas.DataFrame
        Columns ``class`` and ``measured_as``, index ``part``.
    """
    return _measured_parts().copy()


@lru_cache(maxsize=1)
def _measured_parts() -> pd.DataFrame:
    table = _read("parts").set_index("part")
    measured_as = table["measured_as"]
    return table.assign(measured_as=measured_as.where(measured_as != "", table.index))


def measured_values() -> pd.DataFrame:
    """Return the published values in their original units, with data on their recordings.

    Returns
    -------
    pandas.DataFrame
        Columns of ``values.csv``, with ``value_unit`` for the units of the values, and of
        ``recordings.csv``: ``rate`` [Hz], ``duration`` [s], ...
    """
    values = _read("values").rename(columns={"unit": "value_unit"})
    table = values.merge(_read("recordings"), on="recording", how="left", validate="many_to_one")
    for name in ("value", "rate", "duration"):
        table[name] = pd.to_numeric(table[name])
    return table


def measurements() -> pd.DataFrame:
    r"""Return the measured errors in SI units, with one row per sensor and quantity.

    Excluded numbers have no row. Several axes are combined to their root mean square, several
    recordings of a noise to their geometric mean. The contribution of N and K of the same sensor to
    the minimum of the Allan variance, :math:`2 N K / \sqrt 3`, is subtracted from B. If it explains
    the minimum alone, only an upper limit of B is known, and half of it is used.

    Returns
    -------
    pandas.DataFrame
        Columns ``part`` (the name under which it was measured), ``unit``, ``sensor``, ``quantity``,
        ``excluded`` (empty), ``value``, ``numbers`` (combined numbers per recording) and ``rate``
        [Hz].
    """
    table = measured_values()
    table = table[table["excluded"] == ""]
    measured_as = measured_parts()["measured_as"]
    table = table.assign(
        part=measured_as.loc[table["part"]].to_numpy(),
        quantity=[QUANTITIES[name] for name in table["quantity"]],
        value=_convert_to_si(table),
    ).dropna(subset=["value"])
    groups = [*KEY, "excluded"]
    noise = table["quantity"].isin(NOISE)
    parts = [_rms(table[~noise], groups), _rms(_levels(table[noise], groups), groups)]
    table = table.assign(numbers=1)
    counted = table.groupby([*groups, "recording"]).agg({"numbers": "sum", "rate": "mean"})
    counted = counted.groupby(groups).agg({"numbers": "max", "rate": "mean"})
    combined = pd.concat(parts).to_frame("value").join(counted).reset_index()
    return _subtract_noise_and_walk(combined).sort_values(groups, ignore_index=True)


def estimates(part: str, table: pd.DataFrame | None = None) -> dict[tuple[str, str], Estimate]:
    """Estimate the errors of IMUs of a part number, by sensor type and quantity.

    Parameters
    ----------
    part : str
        Name of a bundled IMU, for example ``mti300``, or a part of ``parts.csv``.
    table : pandas.DataFrame, optional
        Table with the columns of :func:`measurements`, which is the default.

    Returns
    -------
    dict of tuple of str to Estimate
        Quantities that were measured for any part of the class.

    Raises
    ------
    ConfigurationError
        If no bundled or measured part has this name.
    """
    parts = _measured_parts()
    if part not in parts.index:
        raise ConfigurationError(f"part is {quote(part)}, expected one of {', '.join(parts.index)}")
    measured_as, kind = parts["measured_as"][part], parts["class"][part]
    return {
        fitted.key: _estimate(fitted.parts, fitted.models[kind], measured_as, measured_as != part)
        for fitted in (_own_models() if table is None else _models(table))
        if kind in fitted.models
    }


class _QuantityModels(NamedTuple):
    """Sensor type and quantity, with the means of all parts and the model of each class."""

    key: tuple[str, str]
    parts: pd.DataFrame
    models: dict[str, ClassModel]


def _models(table: pd.DataFrame) -> list[_QuantityModels]:
    classes = dict(_measured_parts()["class"])
    return [
        _QuantityModels(key, _part_means(rows), class_models(rows, classes))
        for key, rows in table.groupby(["sensor", "quantity"])
    ]


@lru_cache(maxsize=1)
def _own_models() -> list[_QuantityModels]:
    return _models(measurements())


def class_models(rows: pd.DataFrame, classes: Mapping[str, str]) -> dict[str, ClassModel]:
    """Fit the models of all classes for which a quantity was measured.

    Parameters
    ----------
    rows : pandas.DataFrame
        Rows of :func:`measurements` with that quantity.
    classes : mapping of str to str
        Class of each part.

    Returns
    -------
    dict of str to ClassModel
        Model by class.
    """
    parts = _part_means(rows)
    grouped = parts.groupby([classes[part] for part in parts.index])
    squares, freedom = grouped["squares"].sum(), grouped["freedom"].sum()
    pooled = squares.sum() / max(freedom.sum(), 1)
    models: dict = {}
    for kind, group in grouped:
        known = freedom[kind] >= MIN_FREEDOM
        variance_within: Any = squares[kind] / freedom[kind] if known else pooled
        variance_within = 0.0 if _is_calibration(rows) else max(variance_within, SMALLEST_SPREAD**2)
        variances = np.array([_variance(part, variance_within) for _, part in group.iterrows()])
        models[kind] = _class_model(group["mean"].to_numpy(), variances, variance_within)
    return models


def _read(name: str) -> pd.DataFrame:
    text = read_settings(package_share() / "config" / "measured_imus" / f"{name}.csv")
    return pd.read_csv(io.StringIO(text), dtype=str, keep_default_na=False)


def _convert_to_si(table: pd.DataFrame) -> pd.Series:
    sizes = {unit: RATIOS.get(unit) or factor(unit) for unit in set(table["value_unit"])}
    value = table["value"] * table["value_unit"].map(sizes)
    value = value.mask(table["quantity"] == "allan_minimum", value / FLICKER_PLATEAU)
    return value.mask(table["quantity"] == "sample_deviation", value / np.sqrt(table["rate"]))


def _levels(table: pd.DataFrame, groups: list[str]) -> pd.DataFrame:
    """Return geometric means over the recordings, after combining the axes of each recording."""
    recording = [*groups, "recording"]
    logs = table.assign(value=np.log(table["value"]))
    axes = np.exp(logs.groupby([*recording, "axis"])["value"].mean()).reset_index()
    return np.exp(np.log(_rms(axes, recording)).groupby(groups).mean()).reset_index()


def _rms(table: pd.DataFrame, groups: list[str]) -> pd.Series:
    return np.sqrt(table.assign(value=table["value"] ** 2).groupby(groups)["value"].mean())


def _subtract_noise_and_walk(table: pd.DataFrame) -> pd.DataFrame:
    """Subtract the contributions of N and K from the bias instability."""
    index = ["part", "unit", "sensor"]
    used = table.pivot(index=index, columns="quantity", values="value")
    used = used.reindex(columns=list(NOISE)).dropna()
    explained = 2.0 / math.sqrt(3.0) * used["white_noise"] * used["random_walk"]
    flicker = used["bias_instability"]
    remaining = np.sqrt(
        np.maximum(flicker**2 - explained / FLICKER_PLATEAU**2, (0.5 * flicker) ** 2)
    )
    place = table["quantity"] == "bias_instability"
    corrected = remaining.reindex(pd.MultiIndex.from_frame(table.loc[place, index])).to_numpy()
    table.loc[place, "value"] = np.where(np.isnan(corrected), table.loc[place, "value"], corrected)
    return table


def _is_calibration(rows: pd.DataFrame) -> bool:
    return rows["quantity"].iloc[0] in CALIBRATION


def _part_means(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the mean logarithm of each part, with the squares and counts for its variance."""
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


def _variance(part: Any, variance_within: Any) -> Any:
    """Return the variance of a part's mean logarithm; ``within`` is zero for calibrated errors."""
    return variance_within / part["units"] if variance_within > 0.0 else 0.5 / part["numbers"]


def _class_model(mean: np.ndarray, variance: np.ndarray, variance_within: Any) -> ClassModel:
    tau = np.linspace(0.0, 3.0, 61)
    weight = 1.0 / (tau[:, None] ** 2 + variance)
    total = weight.sum(axis=1)
    centre = weight @ mean / total
    misfit = np.sum(weight * (mean - centre[:, None]) ** 2, axis=1)
    # The posterior is the product of the restricted likelihood and the prior.
    log = 0.5 * (np.log(weight).sum(axis=1) - np.log(total) - misfit - tau**2)
    probability = np.exp(log - log.max())
    return ClassModel(tau, probability / probability.sum(), centre, 1.0 / total, variance_within)


def _estimate(parts: pd.DataFrame, model: ClassModel, name: str, other_name: bool) -> Estimate:
    """Estimate a quantity of a part from its row in ``parts``, if any, and from its class."""
    units, origin = 0, CLASS_ORIGIN
    mean, variance, _ = model.predict_part()
    if name in parts.index:
        part: Any = parts.loc[name]
        units = int(part["units"])
        mean, variance, weight = model.predict_part(part["mean"], _variance(part, model.within))
        origin = f"measured ({units} unit{'s' if units > 1 else ''}"
        origin += f" of {name})" if other_name else ")"
        if weight > _NEGLIGIBLE:
            origin += CLASS_SUFFIX
    return Estimate(math.exp(mean), math.sqrt(variance + model.within), units, origin)


SHEET = "data sheet"
CLASS_ORIGIN = "class of part"
CLASS_SUFFIX = " and class"
# Standard deviation, over sensors, of the logarithm of noise that data sheets call typical.
SHEET_SPREAD = 0.2


class Part(NamedTuple):
    """Specification of a part number, and the origin of its gyroscope's parameters.

    Parameters
    ----------
    specification : ImuSpecification
        Errors of a random sensor of the part number.
    origins : dict of str to str
        Origin of each field of the gyroscope.
    """

    specification: ImuSpecification
    origins: dict[str, str]

    def sentence(self) -> str:
        """Describe the origin of the gyroscope's parameters.

        Returns
        -------
        str
            Name of the part, and each group of parameters with its origin.
        """
        names_of_origin: dict[str, list[str]] = {}
        for name, origin in self.origins.items():
            names_of_origin.setdefault(origin, []).append(name.replace("_", " "))
        parts = (f"{', '.join(names)}: {origin}" for origin, names in names_of_origin.items())
        return f"{self.specification.name}, any individual sensor: {'; '.join(parts)}"


def read_part(name: str | os.PathLike[str]) -> ImuSpecification:
    """Read an IMU by its name or file, and combine a bundled part with measured values.

    Parameters
    ----------
    name : str or path
        Path of a file, or name of a bundled IMU.

    Returns
    -------
    ImuSpecification

    Raises
    ------
    ConfigurationError
        See :func:`.read_imu_specification`.
    """
    return part_of(read_imu_specification(name)).specification


def part_of(sheet: ImuSpecification) -> Part:
    """Combine the data sheet of a bundled part number with measured values.

    Parameters
    ----------
    sheet : ImuSpecification
        Specification; returned unchanged if it describes an individual sensor, or is not that of a
        bundled part.

    Returns
    -------
    Part
    """
    if not sheet.units.tolerances or sheet.name not in _measured_parts().index:
        return Part(sheet, {})
    estimated = estimates(sheet.name)
    gyroscope, origins, spreads = sheet.gyroscope, {}, {}
    for name in NOISE:
        estimate = estimated["gyroscope", name]
        if np.any(getattr(gyroscope, name)) and not estimate.units:
            origins[name], spreads[name] = SHEET, SHEET_SPREAD
            continue
        measured: dict[str, Any] = {name: (estimate.median,) * 3}
        gyroscope = replace(gyroscope, **measured)
        origins[name], spreads[name] = estimate.origin, estimate.spread
    matrix = np.array(gyroscope.scale_factor_and_misalignment)
    diagonal = np.eye(3, dtype=bool)
    for name, places in (("scale_factor", diagonal), ("misalignment", ~diagonal)):
        estimate = estimated["gyroscope", name]
        if np.any(matrix[places]) and not estimate.units:
            origins[name] = SHEET
            continue
        matrix[places] = _deviation(estimate)
        origins[name] = estimate.origin
    gyroscope = replace(gyroscope, scale_factor_and_misalignment=matrix.tolist())
    units = UnitVariation(tolerances=True, **spreads)
    return Part(replace(sheet, gyroscope=gyroscope, units=units), origins)


def _deviation(estimate: Estimate) -> float:
    """Return the standard deviation for random sensors: the rms of its distribution."""
    return estimate.median * math.exp(min(estimate.spread, 1.0) ** 2)
