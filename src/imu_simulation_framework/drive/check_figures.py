"""What a recording holds, before anything is driven: path, headings, speeds."""

from __future__ import annotations

import numpy as np

from imu_simulation_framework.recordings.plausibility.relation import (
    gyro_heading,
    imu_heading,
    reference_heading,
)
from imu_simulation_framework.report import colours, style

GYROSCOPE = {"color": colours.DIFFERENCE, "linestyle": (0, (1, 1.2)), "linewidth": 1.8}


def recording_figure(observations, title):
    """Draw a reference and an IMU.

    Parameters
    ----------
    observations : Observations
    title : str
        What is shown: file and how it was read.

    Returns
    -------
    matplotlib.figure.Figure
        Path, yaws (each zero at its beginning), speed and yaw rate.
    """
    figure, (path, yaw, rate, speed) = style.make_figure(
        rows=4, height=12.5, gridspec_kw={"height_ratios": [2.4, 1.6, 1.1, 1.1]}
    )
    figure.suptitle(style.plain(title), fontsize=11, x=0.01, ha="left", wrap=True)
    reference = observations.reference
    start = reference.index[0]
    _draw_path(path, reference)
    headings = [(reference_heading(reference), {**style.REFERENCE, "linewidth": 4.0})]
    if observations.imu is not None:
        headings.append((imu_heading(observations.imu), style.REAL))
        headings.append((gyro_heading(observations.imu), GYROSCOPE))
    for heading, line in headings:
        if heading is None:
            continue
        name = heading.name.replace("the ", "", 1)
        if line is GYROSCOPE:
            name += ", integrated"
        turned = np.degrees(heading.angle - heading.at(start))
        yaw.plot(*style.thin(heading.time - start, turned), label=name, **line)
        times, rates = _rates(heading)
        rate.plot(*style.thin(times - start, np.degrees(rates)), **{**line, "label": name})
    _shade_unknown(yaw, reference)
    style.label(yaw, y="yaw from its beginning [deg]", title="Yaw")
    style.legend(yaw, columns=4)
    style.label(rate, y="yaw rate [deg/s]", title="Yaw rate, mean over a second")
    times, speeds = _speeds(reference)
    speed.plot(*style.thin(times - start, speeds), **style.REAL)
    style.label(
        speed, x="time since the reference's first sample [s]", y="speed [m/s]", title="Speed"
    )
    limits = reference.index[0] - start, reference.index[-1] - start
    for axis in (yaw, rate, speed):
        axis.set_xlim(*limits)
    return figure


def _draw_path(axis, reference):
    x, y = style.thin_path(
        reference["x"] - reference["x"].iloc[0], reference["y"] - reference["y"].iloc[0]
    )
    axis.plot(x, y, **{**style.REAL, "linewidth": 1.2})
    for place, marker, name in ((0, "o", "start"), (-1, "s", "end")):
        axis.plot(
            x[place], y[place], marker, markersize=8, markerfacecolor="white",
            markeredgecolor="black", markeredgewidth=1.5, label=name,
        )  # fmt: skip
    axis.set_aspect("equal", adjustable="datalim")
    style.label(axis, x="x, east of the start [m]", y="y, north of the start [m]", title="Path")
    style.legend(axis)


def _shade_unknown(axis, reference):
    """Grey where the heading of a reference is only held or bridged."""
    if "yaw_known" not in reference:
        return
    unknown = np.concatenate([[False], reference["yaw_known"].to_numpy() < 1.0, [False]])
    edges = np.flatnonzero(np.diff(unknown.astype(int)))
    times = reference.index.to_numpy(dtype=float) - reference.index[0]
    label = "reference's yaw not known"
    for first, behind in zip(edges[::2], edges[1::2]):
        axis.axvspan(
            times[first],
            times[behind - 1],
            color=colours.SHADE,
            alpha=0.1,
            linewidth=0.0,
            label=label,
        )
        label = None


def _grid(times, period):
    return np.arange(times[0], times[-1] - period, 0.25 * period)


def _rates(heading, window=1.0):
    window = max(window, 2.0 * heading.period)
    grid = _grid(heading.time, window)
    return grid + 0.5 * window, (heading.at(grid + window) - heading.at(grid)) / window


def _speeds(reference, window=1.0):
    times = reference.index.to_numpy(dtype=float)
    window = max(window, 2.0 * float(np.median(np.diff(times))))
    grid = _grid(times, window)
    moved = [
        np.interp(grid + window, times, reference[name]) - np.interp(grid, times, reference[name])
        for name in ("x", "y")
    ]
    return grid + 0.5 * window, np.hypot(*moved) / window
