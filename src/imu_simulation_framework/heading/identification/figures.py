"""Figure of an identified yaw error: the error, its fitted parts, and what is left."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from imu_simulation_framework.report import colours, style

LAGS = 40
_NOT_PARTS = ("error", "sensor's part", "residual", "innovation", "innovation_std")


def identification_figure(name, parts, normalised):
    """Error and fitted parts over time; innovations, their autocorrelation and their quantiles.

    Parameters
    ----------
    name : str
        Of the drive.
    parts : DataFrame
        Of :func:`.fitted_parts`.
    normalised : ndarray, shape (n,)
        Innovations in their standard deviations, NaN where there are none.

    Returns
    -------
    Figure
    """
    figure, axes = style.make_figure(rows=4, columns=2, height=10.5)
    grid = axes[0].get_subplotspec().get_gridspec()
    for row in range(3):
        axes[2 * row].set_subplotspec(grid[row, :])
        axes[2 * row + 1].remove()
    whole, single, over_time, correlation, quantiles = (axes[place] for place in (0, 2, 4, 6, 7))
    time = parts.index
    _line(whole, time, parts["error"], style.REAL, "observed")
    _line(whole, time, parts["sensor's part"], style.SIMULATED, "IMU's part, fitted")
    style.label(whole, y="yaw error [deg]", title=name)
    style.legend(whole)
    names = [column for column in parts if column not in _NOT_PARTS and column != "start offset"]
    for column, line in zip([*names, "residual"], style.series(len(names) + 1)):
        values = parts[column] - (0.0 if column == "residual" else parts[column].iloc[0])
        _line(single, time, values, line, column)
    single.axhline(0.0, **style.ZERO)
    style.label(single, y="part of it [deg]", title="Parts, from zero at the start")
    handles, labels = single.get_legend_handles_labels()
    single.legend(handles, labels, fontsize=8, frameon=False, loc="best", handlelength=2.8)
    over_time.plot(time, normalised, ".", color=colours.REAL, markersize=2.5)
    for limit in (-1.96, 1.96):
        over_time.axhline(limit, color=colours.BAND_GREY, linewidth=0.8, linestyle=(0, (4, 2)))
    style.label(
        over_time, x="time [s]", y="innovation / std",
        title="Normalised innovations; 95 % between the dashed lines",
    )  # fmt: skip
    _draw_correlation(correlation, normalised)
    _draw_quantiles(quantiles, normalised)
    return figure


def _line(axis, time, values, line, name):
    axis.plot(time, np.degrees(values), label=name, **line)


def _draw_correlation(axis, normalised):
    seen = np.isfinite(normalised)
    lags = np.arange(1, min(LAGS, int(np.sum(seen)) // 3) + 1)
    power = np.nansum(normalised**2)
    values = [np.nansum(normalised[lag:] * normalised[:-lag]) / power for lag in lags]
    axis.vlines(lags, 0.0, values, color=colours.REAL, linewidth=1.6)
    limit = 1.96 / np.sqrt(np.sum(seen))
    axis.axhspan(-limit, limit, color=colours.BAND_GREY, alpha=0.2, linewidth=0.0)
    axis.axhline(0.0, **style.ZERO)
    largest = max(0.2, 1.2 * np.max(np.abs(values), initial=0.0))
    axis.set_ylim(-largest, largest)
    style.label(
        axis, x="lag [steps]", y="autocorrelation", title="95 % of a white one's in the band"
    )


def _draw_quantiles(axis, normalised):
    values = np.sort(normalised[np.isfinite(normalised)])
    expected = ndtri((np.arange(len(values)) + 0.5) / len(values))
    axis.plot(expected, expected, color=colours.BAND_GREY, linewidth=1.0)
    axis.plot(expected, values, ".", color=colours.REAL, markersize=3.0)
    style.label(axis, x="normal quantile", y="innovation / std", title="Normal if on the line")
