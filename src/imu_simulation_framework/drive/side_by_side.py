"""Figures and charts of several yaws, or of the yaw errors of several experiments.

Figures of several yaws, or of the yaw errors of several experiments.

Figures of a page that show several drives, or the yaw errors of several experiments.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from imu_simulation_framework.core.spectrum import logarithmic_average
from imu_simulation_framework.drive import figures
from imu_simulation_framework.drive.figures import BANDS
from imu_simulation_framework.heading.comparison import YawComparison
from imu_simulation_framework.report import colours, style
from imu_simulation_framework.report.charts import Chart
from imu_simulation_framework.report.page import Section

MOST_PANELS = 8
"""Drives in one figure; more are not readable on a page."""

_PANEL_HEIGHT = 2.4
_TITLE_HEIGHT = 0.9


@dataclass(frozen=True)
class ShownError:
    """A yaw error as a line.

    Attributes
    ----------
    drive : str
        Lines of one drive share a panel.
    name : str
        In the legend.
    recorded : bool
        Whether it is the recorded IMU's, or a simulated one's.
    comparison : YawComparison
    """

    drive: str
    name: str
    recorded: bool
    comparison: YawComparison


def yaws(names, series, differences):
    """Return yaws over time, each from zero at its start, and how far each is from the first.

    Parameters
    ----------
    names : sequence of str
    series : sequence of Series
        [rad] by time [s]; the first is what the others are compared with.
    differences : sequence of YawDifference
    """
    rows = -(-len(names) // 2)
    figure, (whole, apart) = style.make_figure(rows=2, height=6.0 + 0.2 * rows, sharex=True)
    zero = series[0].index[0]
    lines = style.series(len(names))
    # What the others are compared with lies wide below them.
    _line(whole, series[0].index - zero, series[0] - series[0].iloc[0], style.REFERENCE, names[0])
    for one, line in zip(differences, lines[1:]):
        yaw = one.comparison.imu_yaw - series[0].iloc[0]
        _line(whole, yaw.index - zero, yaw, line, one.name)
        error, trend = one.comparison.error, one.comparison.trend
        _line(apart, error.index - zero, error, {**style.raw(line), "zorder": 1.5}, None)
        _line(apart, trend.index - zero, trend, line, one.name)
    apart.axhline(0.0, **style.ZERO)
    style.label(whole, y="yaw, unwrapped [deg]")
    style.label(
        apart, x="time [s]", y="difference [deg]",
        title="First yaw minus each of the others, thin; bold: its trend",
    )  # fmt: skip
    style.outside_legend(figure, [whole], columns=2)
    return figure


def yaw_errors(errors, window):
    """Return trends of yaw errors over time, a panel for each drive.

    Parameters
    ----------
    errors : sequence of ShownError
    window : float
        Of the trend's median [s], for the title.
    """
    title = f"Yaw errors, running median over {window:g} s"
    figure, axes, lines = _panels(errors, title)
    for axis, error, line in lines:
        _line(axis, error.comparison.trend.index, error.comparison.trend, line, error.name)
    for axis in axes:
        axis.axhline(0.0, **style.ZERO)
        style.label(axis, y="yaw error [deg]")
    style.label(axes[-1], x="time [s]")
    style.outside_legend(figure, axes)
    return figure


def yaw_error_spectra(errors, highest=np.inf):
    """Return the power spectral densities of yaw errors, a panel for each drive.

    Parameters
    ----------
    errors : sequence of ShownError
    highest : float
        Frequency up to which they are drawn [Hz].
    """
    errors = with_spectrum(errors)
    if not errors:
        return style.message_figure("There are too few samples for a power spectral density.")
    figure, axes, lines = _panels(errors, "Power spectral densities of the yaw errors")
    for axis, error, line in lines:
        axis.loglog(*shown_density(error, highest), label=error.name, **line)
    for axis in axes:
        axis.grid(True, which="minor", axis="x", color=colours.FINE_GRID, linewidth=0.4)
        style.label(axis, y="[rad²/Hz]")
    style.label(axes[-1], x="frequency [Hz]")
    style.outside_legend(figure, axes)
    return figure


def with_spectrum(errors) -> list[ShownError]:
    """Return the errors that have a power spectral density to draw."""
    return [
        error
        for error in errors
        if error.comparison.error_spectrum is not None
        and np.any(error.comparison.error_spectrum.density > 0.0)
    ]


def shown_density(error, highest=np.inf):
    """Return frequency [Hz] and density [rad^2/Hz] of an error as it is drawn.

    Parameters
    ----------
    error : ShownError
    highest : float
        Frequency up to which [Hz].
    """
    frequency, density = logarithmic_average(error.comparison.error_spectrum, BANDS)
    kept = frequency <= highest
    return frequency[kept], density[kept]


def panels_of(errors):
    """Return which errors share a panel, and how each of them is drawn.

    If each drive has one line only they share a panel: there the drives are what is compared.

    Parameters
    ----------
    errors : sequence of ShownError

    Returns
    -------
    list of (str, list of (ShownError, dict))
        Title of a panel, empty if there is one only, and its errors with their lines.
    """
    drives = list(dict.fromkeys(error.drive for error in errors))
    if len(drives) == len(errors):
        return [("", list(zip(errors, style.series(len(errors)))))]
    panels = []
    for drive in drives:
        own = [error for error in errors if error.drive == drive]
        simulated = iter(style.shades(sum(not error.recorded for error in own)))
        lines = [(error, style.REAL if error.recorded else next(simulated)) for error in own]
        panels.append((drive if len(drives) > 1 else "", lines))
    return panels


def _panels(errors, title):
    """Return a figure with all panels and, for each error, its panel and line."""
    panels = panels_of(errors)
    rows = len(panels)
    height = _TITLE_HEIGHT + (4.0 if rows == 1 else _PANEL_HEIGHT * rows)
    figure, axes = style.make_figure(rows=rows, height=height, sharex=True, sharey=True)
    lines = []
    for axis, (drive, own) in zip(axes, panels):
        lines += [(axis, error, line) for error, line in own]
        shown = drive
        if axis is axes[0]:
            shown = f"{title}: {drive}" if drive else title
        style.label(axis, title=shown)
    return figure, axes, lines


def _line(axis, time, values, line, name):
    time, values = style.thin_with_gaps(time, np.degrees(values))
    axis.plot(time, values, label=name, **line)


def yaw_error_chart(errors, window) -> Section:
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


def yaw_error_spectrum_chart(errors, highest=np.inf) -> Section:
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
        chart.path(table["x"], table["y"], figures.PATH, "path")
        for row, symbol, end in ((0, "circle-open", "start"), (-1, "square-open", "end")):
            x, y = table[["x", "y"]].iloc[row]
            chart.points([x], [y], colours.SENSOR, end, size=10, symbol=symbol)
    return Section(
        "Paths", figure=chart.figure(), how_to_read="Each drive's path, from its own start."
    )


def _height(title) -> int:
    return 240 if title else 340
