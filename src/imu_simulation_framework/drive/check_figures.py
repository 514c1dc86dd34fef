"""What a recording holds, before anything is driven: path, headings, speeds."""

from __future__ import annotations

import textwrap

import numpy as np

from imu_simulation_framework.recordings.plausibility.relation import (
    gyro_heading,
    imu_heading,
    reference_heading,
)
from imu_simulation_framework.report import colours, style
from imu_simulation_framework.report.figure import Figure

_GYROSCOPE = {"color": colours.DIFFERENCE, "linestyle": (0, (1, 1.2)), "linewidth": 1.8}


def recording_figure(observations, title) -> Figure:
    """Return path, yaws (each zero at its beginning), yaw rate and speed of a recording.

    Parameters
    ----------
    observations : Observations
    title : str
        What is shown: file and how it was read.
    """
    reference = observations.reference
    start = reference.index[0]
    limits = 0.0, reference.index[-1] - start
    figure = Figure(textwrap.fill(title, 95), "time since the reference's first sample [s]")
    x, y = (reference[name].to_numpy() - reference[name].iloc[0] for name in "xy")
    figure.panel("y, north of the start [m]", x="x, east of the start [m]", equal=True)
    figure.path(x, y, {**style.REAL, "linewidth": 1.2})
    for row, symbol, name in ((0, "circle-open", "start"), (-1, "square-open", "end")):
        figure.points([x[row]], [y[row]], colours.SENSOR, name, 10, symbol)
    headings = [(reference_heading(reference), {**style.REFERENCE, "linewidth": 4.0}, "")]
    if observations.imu is not None:
        headings.append((imu_heading(observations.imu), style.REAL, ""))
        headings.append((gyro_heading(observations.imu), _GYROSCOPE, ", integrated"))
    headings = [
        (heading, look, heading.name.replace("the ", "", 1) + more)
        for heading, look, more in headings
        if heading is not None
    ]
    figure.panel("yaw from its beginning [deg]", "Yaw", height=260, x_limits=limits)
    for heading, look, name in headings:
        turned = np.degrees(heading.angle - heading.at(start))
        figure.line(heading.time - start, turned, look, name)
    for begin, end in _unknown(reference):
        figure.span(begin, end, colours.SHADE, 0.1, "reference's yaw not known")
    figure.panel("yaw rate [deg/s]", "Yaw rate, mean over a second", height=190, x_limits=limits)
    for heading, look, name in headings:
        times, rates = _rates(heading)
        figure.line(times - start, np.degrees(rates), look, name)
    times, speeds = _speeds(reference)
    figure.panel("speed [m/s]", "Speed", height=190, x_limits=limits)
    return figure.line(times - start, speeds, style.REAL)


def _unknown(reference):
    """Yield times between which the heading of a reference is only held or bridged."""
    if "yaw_known" in reference:
        unknown = np.concatenate([[False], reference["yaw_known"].to_numpy() < 1.0, [False]])
        edges = np.flatnonzero(np.diff(unknown.astype(int)))
        times = reference.index.to_numpy(dtype=float) - reference.index[0]
        for first, behind in zip(edges[::2], edges[1::2]):
            yield times[first], times[behind - 1]


def _grid(times, period):
    return np.arange(times[0], times[-1] - period, 0.25 * period)


def _rates(heading):
    window = max(1.0, 2.0 * heading.period)
    grid = _grid(heading.time, window)
    return grid + 0.5 * window, (heading.at(grid + window) - heading.at(grid)) / window


def _speeds(reference):
    times = reference.index.to_numpy(dtype=float)
    window = max(1.0, 2.0 * float(np.median(np.diff(times))))
    grid = _grid(times, window)
    moved = [
        np.interp(grid + window, times, reference[name]) - np.interp(grid, times, reference[name])
        for name in ("x", "y")
    ]
    return grid + 0.5 * window, np.hypot(*moved) / window
