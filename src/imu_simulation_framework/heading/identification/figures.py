"""Figures of an identified yaw error: the error, its fitted parts, and what is left."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from imu_simulation_framework.report import colours, style
from imu_simulation_framework.report.figure import Figure

_ERROR, _OF_SENSOR = "error", "sensor's part"
_NOT_PARTS = (_ERROR, _OF_SENSOR, "start offset", "innovation", "innovation_std")
_LAGS = 40
_WITHIN = "95 % of a right model's"


def identification_figure(name, parts, normalised) -> Figure:
    """Return :func:`parts_figure` above :func:`residuals_figure`, with a drive's name."""
    figure = parts_figure(parts)
    figure.title = name
    figure.panels += residuals_figure(parts.index, normalised).panels
    return figure


def parts_figure(parts) -> Figure:
    """Return an error [rad] over time, and what each part of a fitted model makes of it.

    Parameters
    ----------
    parts : DataFrame
        Of :func:`.fitted_parts`, by time [s].
    """
    figure = Figure().panel("yaw error [deg]", height=240)
    look = {**style.REFERENCE, "linewidth": 3.5}
    figure.line(parts.index, np.degrees(parts[_ERROR]), look, "observed")
    if _OF_SENSOR in parts:
        values = np.degrees(parts[_OF_SENSOR])
        figure.line(parts.index, values, style.SIMULATED, "IMU's part, fitted")
    names = [column for column in parts if column not in _NOT_PARTS]
    figure.panel("part of it [deg]", "Parts, from zero at the start", x="time [s]", height=260)
    for column, look in zip(names, style.series(len(names))):
        values = parts[column] - (0.0 if column == "residual" else parts[column].iloc[0])
        figure.line(parts.index, np.degrees(values), look, column)
    return figure.zero()


def residuals_figure(time, normalised) -> Figure:
    """Return innovations over time, their autocorrelation and their quantiles.

    Parameters
    ----------
    time : array_like, shape (n,)
        [s]
    normalised : array_like, shape (n,)
        Innovations over their standard deviations, NaN where nothing was observed.
    """
    time, values = np.asarray(time, dtype=float), np.asarray(normalised, dtype=float)
    seen = np.isfinite(values)
    figure = Figure().panel(
        "innovation / std", "Normalised innovations", x="time [s]", height=200
    )  # fmt: skip
    figure.points(time[seen], values[seen], colours.REAL, size=3)
    for level in (-1.96, 1.96):
        figure.level(level, style.LIMIT, _WITHIN)
    centred = np.where(seen, values - (np.mean(values[seen]) if seen.any() else 0.0), 0.0)
    count, power = int(seen.sum()), float(np.sum(centred**2))
    lags = np.arange(1, min(_LAGS, count // 4) + 1)
    if len(lags) and power > 0.0:
        correlation = [float(np.sum(centred[lag:] * centred[:-lag])) / power for lag in lags]
        figure.panel("correlation", "Autocorrelation", height=160, x="lag [steps]")
        figure.bars(np.append(lags - 0.5, lags[-1] + 0.5), correlation, colours.REAL)
        for sign in (-1.0, 1.0):
            figure.level(sign * 1.96 / np.sqrt(count), style.LIMIT, _WITHIN)
    if count:
        expected = ndtri((np.arange(count) + 0.5) / count)
        figure.panel(
            "innovation / std", "Quantiles: normal if on the line", x="normal quantile", height=200
        )
        figure.line(expected, expected, {"color": colours.BAND_GREY, "linewidth": 1.0})
        figure.points(expected, np.sort(values[seen]), colours.REAL, size=3)
    return figure
