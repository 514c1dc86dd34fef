"""Figures of a page that show several drives, or the yaw errors of several experiments."""

from __future__ import annotations

import numpy as np

from imu_simulation_framework.pages.charts import Chart
from imu_simulation_framework.pages.page import Section
from imu_simulation_framework.plots import colours, path_figures
from imu_simulation_framework.plots.side_by_side import panels_of, shown_density, with_spectrum


def yaw_errors(errors, window) -> Section:
    """Return trends of yaw errors over time.

    Parameters
    ----------
    errors : sequence of ShownError
    window : float
        Of the trend's median [s].
    """
    chart = Chart()
    for title, lines in panels_of(errors):
        chart.panel("yaw error [deg]", title=title, height=_height(title))
        for error, line in lines:
            trend = error.comparison.trend
            chart.line(trend.index, np.degrees(trend), line, error.name)
    return Section(
        "Yaw errors",
        figure=chart.figure(),
        how_to_read=(
            f"Running medians over {window:g} s, zero at the start. Each line is one realisation "
            "of chance: compare size and manner, not the course."
        ),
    )


def yaw_error_spectra(errors, highest=np.inf) -> Section:
    """Return the power spectral densities of yaw errors.

    Parameters
    ----------
    errors : sequence of ShownError
    highest : float
        Frequency up to which they are drawn [Hz].
    """
    errors = with_spectrum(errors)
    if not errors:
        return Section("Spectra of the yaw errors", text=["There are too few samples for it."])
    chart = Chart(x="frequency [Hz]", logarithmic=True)
    for title, lines in panels_of(errors):
        chart.panel("density [rad²/Hz]", title=title, logarithmic=True, height=_height(title))
        for error, line in lines:
            frequency, density = shown_density(error, highest)
            chart.line(frequency, density, line, error.name)
    return Section(
        "Spectra of the yaw errors",
        figure=chart.figure(),
        how_to_read=(
            "Drift is at the left, noise at the right. A single value at low frequency scatters by "
            "its own size."
        ),
    )


def paths(trajectories) -> Section:
    """Return several paths, a panel each.

    Parameters
    ----------
    trajectories : Mapping of str to DataFrame
        What each is called -> Trajectory.
    """
    chart = Chart(x="x [m]", hover="closest")
    for place, (name, table) in enumerate(trajectories.items()):
        last = place + 1 == len(trajectories)
        chart.panel("y [m]", title=name, equal=True, height=300, x=None if last else "")
        chart.path(table["x"], table["y"], path_figures.PATH, "path")
        for row, symbol, end in ((0, "circle-open", "start"), (-1, "square-open", "end")):
            x, y = table[["x", "y"]].iloc[row]
            chart.points([x], [y], colours.SENSOR, end, size=10, symbol=symbol)
    return Section(
        "Paths", figure=chart.figure(), how_to_read="Each drive's path, from its own start."
    )


def _height(title) -> int:
    return 240 if title else 340
