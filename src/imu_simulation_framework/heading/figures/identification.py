"""Figures of identified models: yaw error components, innovations, and odometer errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...core import colours
from ...report import style
from ...report.figure import Figure
from ..statistics import TWO_SIDED, autocorrelation

if TYPE_CHECKING:
    from ..identification.odometer import IdentifiedOdometer

_ERROR, _IMU_ERROR = "error", "IMU error"
_NOT_PARTS = (_ERROR, _IMU_ERROR, "start offset", "innovation", "innovation_std")
_LAGS = 40
_RIGHT_MODEL = "95 % of a correct model's"


def identification_figure(name, parts, normalised) -> Figure:
    """Create a figure of a drive's yaw error components, with the innovations below.

    Parameters
    ----------
    name : str
        Name of the drive.
    parts : pandas.DataFrame
        Result of :func:`.fitted_parts`.
    normalised : numpy.ndarray
        Innovations over their standard deviations, shape (n,).

    Returns
    -------
    Figure
    """
    figure = parts_figure(parts)
    figure.title = name
    figure.panels += residuals_figure(parts.index, normalised).panels
    return figure


def parts_figure(parts) -> Figure:
    """Create a figure of a drive's yaw error and its components over time.

    Parameters
    ----------
    parts : pandas.DataFrame
        Result of :func:`.fitted_parts`.

    Returns
    -------
    Figure
    """
    figure = Figure().panel("yaw error [deg]", height=240)
    look = {**style.REFERENCE, "linewidth": 3.5}
    figure.line(parts.index, np.degrees(parts[_ERROR]), look, "observed")
    if _IMU_ERROR in parts:
        values = np.degrees(parts[_IMU_ERROR])
        figure.line(parts.index, values, style.SIMULATED, "IMU error, fitted")
    names = [column for column in parts if column not in _NOT_PARTS]
    figure.panel("component [deg]", "Components, from zero at the start", x="time [s]", height=260)
    for column, look in zip(names, style.line_styles(len(names))):
        values = parts[column] - (0.0 if column == "residual" else parts[column].iloc[0])
        figure.line(parts.index, np.degrees(values), look, column)
    return figure.zero_line()


def residuals_figure(time, normalised) -> Figure:
    """Create a figure of innovations over time, with their autocorrelation and quantiles.

    Parameters
    ----------
    time : array_like
        Times, shape (n,) [s].
    normalised : array_like
        Innovations over their standard deviations, shape (n,); NaN without an observation.

    Returns
    -------
    Figure
    """
    time, values = np.asarray(time, dtype=float), np.asarray(normalised, dtype=float)
    is_observed = np.isfinite(values)
    figure = Figure().panel("innovation / std", "Normalised innovations", x="time [s]", height=200)
    figure.points(time[is_observed], values[is_observed], colours.REAL, size=3)
    for level in (-TWO_SIDED, TWO_SIDED):
        figure.level(level, style.LIMIT, _RIGHT_MODEL)
    count = int(is_observed.sum())
    lags = np.arange(1, min(_LAGS, count // 4) + 1)
    if len(lags) and np.any(values[is_observed] != 0.0):
        correlation = autocorrelation(values, lags)
        figure.panel("correlation", "Autocorrelation", height=160, x="lag [steps]")
        figure.bars(np.append(lags - 0.5, lags[-1] + 0.5), correlation, colours.REAL)
        for sign in (-1.0, 1.0):
            figure.level(sign * TWO_SIDED / np.sqrt(count), style.LIMIT, _RIGHT_MODEL)
    if count:
        from scipy.special import ndtri

        expected = ndtri((np.arange(count) + 0.5) / count)
        figure.panel(
            "innovation / std", "Quantiles: on the line if normal", x="normal quantile", height=200
        )
        figure.line(expected, expected, {"color": colours.BAND_GREY, "linewidth": 1.0})
        figure.points(expected, np.sort(values[is_observed]), colours.REAL, size=3)
    return figure


def odometer_figure(result: IdentifiedOdometer) -> Figure:
    """Create a figure of an odometer's yaw error over time, and of its unexplained part.

    Parameters
    ----------
    result : IdentifiedOdometer
        Identified errors of the odometer.

    Returns
    -------
    Figure
    """
    unit, name = style.choose_time_unit(float(result.error.index[-1] - result.error.index[0]))
    time = (result.error.index.to_numpy() - result.error.index[0]) / unit
    error, explained = np.degrees(result.error.to_numpy()), np.degrees(result.explained)
    figure = Figure(x=f"time [{name}]").panel("reference - odometer [deg]", height=300)
    figure.line(time, error, style.REAL, "observed")
    figure.line(time, explained, style.SIMULATED, "explained by wheels and track")
    figure.panel("unexplained [deg]", height=200)
    figure.line(time, error - explained, style.DIFFERENCE, "slip and noise")
    return figure
