"""The figures of an experiment.

Figures in the plane: where the robot drove, and where on the way the heading was how wrong.

The ten figures of an experiment, each from its :class:`.Comparison`.
"""

from __future__ import annotations

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.colors import Normalize
from scipy.spatial.distance import pdist

from imu_simulation_framework.core.columns import WHEELS
from imu_simulation_framework.core.gaps import behind_gaps
from imu_simulation_framework.core.spectrum import confidence_factors, logarithmic_average
from imu_simulation_framework.heading.figures import yaw_error_relative
from imu_simulation_framework.report import colours, style

ARROWS = 8
"""Along a path, evenly."""

FIXES = {"color": colours.FIXES, "linestyle": "none", "marker": ".", "markersize": 2.5}
PATH = {**style.REAL, "linewidth": 1.2}
COLOUR_MAP = "coolwarm"
COLOURED_POINTS = 800
"""Along the longer side of the path's box; each is an object of its own in a PDF or SVG."""

NOTHING = "There is no path to show: the robot did not drive."


def trajectory(comparison):
    """Return path to be followed and path of the simulated robot, and the fixes it was made of."""
    wanted, driven, fixes = comparison.trajectory, comparison.ground_truth, comparison.fixes
    figure, (axis,) = style.make_figure(width=7.0, height=_height(wanted, driven))
    if fixes is not None and len(fixes):
        axis.plot(fixes["x"], fixes["y"], label="fixes as received", zorder=2.5, **FIXES)
    for table, line, name in (
        (wanted, {**style.REFERENCE, "linewidth": 4.5}, "trajectory"),
        (driven, {**style.REAL, "linewidth": 0.9, "zorder": 3}, "simulated robot"),
    ):
        if len(table):
            x, y = style.thin_path(table["x"], table["y"])
            axis.plot(x, y, label=name, **line)
    if len(wanted):
        _arrows(axis, wanted)
        _ends(axis, wanted)
    axis.set_aspect("equal", adjustable="datalim")
    style.label(axis, x="x [m]", y="y [m]", title="Trajectory")
    style.legend(axis, columns=3)
    return figure


def paths(trajectories):
    """Return several paths, each in a panel of its own with direction, start and end.

    Parameters
    ----------
    trajectories : Mapping of str to DataFrame
        What each is called -> Trajectory.
    """
    columns = min(2, len(trajectories))
    rows = -(-len(trajectories) // columns)
    figure, axes = style.make_figure(rows, height=0.6 + 3.4 * rows, columns=columns)
    for axis, (name, table) in zip(axes, trajectories.items()):
        axis.plot(*style.thin_path(table["x"], table["y"]), label="path", **PATH)
        _arrows(axis, table)
        _ends(axis, table)
        axis.set_aspect("equal", adjustable="datalim")
        style.label(axis, x="x [m]", y="y [m]", title=name)
    for axis in axes[len(trajectories) :]:
        axis.set_axis_off()
    style.outside_legend(figure, axes[:1], columns=4)
    return figure


def yaw_error_along_path(comparison):
    """Return yaw error of each IMU as a colour on the path, where it is judged."""
    imus = [
        (result, name, path)
        for result, name, path in (
            (comparison.real, "Recorded IMU", comparison.trajectory),
            (comparison.simulated, "Simulated IMU", comparison.ground_truth),
        )
        if result is not None and len(path)
    ]
    if not imus:
        return style.message_figure(NOTHING)
    x, y = (np.concatenate([path[name] for _, _, path in imus]) for name in ("x", "y"))
    wide = np.ptp(x) > 1.3 * np.ptp(y)
    rows, columns = (len(imus), 1) if wide else (1, len(imus))
    share = float(np.clip(np.ptp(y) / max(np.ptp(x), 1e-9), 0.25, 1.3))
    height = 1.1 + rows * min(4.5, (6.5 / columns) * share)
    figure, axes = style.make_figure(rows, height=height, columns=columns)
    for axis, (result, name, path) in zip(axes, imus):
        axis.plot(*style.thin_path(path["x"], path["y"]), color=colours.LINE_GREY, linewidth=0.6)
        lines = _coloured(axis, result.error, path)
        _ends(axis, path)
        axis.set_aspect("equal", adjustable="datalim")
        style.label(axis, x="x [m]", y="y [m]", title=name)
        bar = figure.colorbar(lines, ax=axis, pad=0.02, aspect=30)
        bar.set_label("yaw error [deg], the latest on top", fontsize=9)
        bar.ax.tick_params(labelsize=8)
    figure.legend(
        *axes[0].get_legend_handles_labels(), loc="outside upper right", ncol=2, fontsize=9,
        frameon=False,
    )  # fmt: skip
    return figure


def _coloured(axis, error, path):
    """Return the path at the error's times, each piece in the colour of its error."""
    time = error.index.to_numpy(dtype=float)
    x, y = (np.interp(time, path.index, path[name]) for name in ("x", "y"))
    pieces, values = [], []
    for part in np.split(np.arange(len(time)), behind_gaps(time)):
        kept = part[style.path_steps(x[part], y[part], COLOURED_POINTS)]
        points = np.column_stack([x[kept], y[kept]])
        pieces.append(np.stack([points[:-1], points[1:]], axis=1))
        values.append(np.degrees(error.to_numpy()[kept[1:]]))
    values = np.concatenate(values)
    # Zero in the middle of the colours, and some span even of an ideal IMU.
    largest = float(np.max(np.abs(values), initial=1e-3))
    lines = LineCollection(
        np.concatenate(pieces), cmap=COLOUR_MAP, norm=Normalize(-largest, largest), linewidth=3.0,
        capstyle="round",
    )  # fmt: skip
    lines.set_array(values)
    axis.add_collection(lines)
    axis.autoscale_view()
    return lines


def _height(*paths):
    """As tall as the path asks for: equal scales would leave the rest of the page empty [in]."""
    width, height = (_extent(*(path[name] for path in paths)) for name in ("x", "y"))
    return float(np.clip(0.9 + 6.2 * height / max(width, 1e-9), 3.2, 7.5))


def _arrows(axis, path):
    """Arrows in the direction of motion, evenly along a path."""
    x, y = style.thin_path(path["x"], path["y"])
    if len(x) < 3:
        return
    travelled = np.concatenate(([0.0], np.cumsum(np.hypot(np.diff(x), np.diff(y)))))

    def at(distance):
        return np.array([np.interp(distance, travelled, values) for values in (x, y)])

    # Of as many rounds as arrows each would point at the same place.
    evenly = ((np.arange(count) + 0.5) / count * travelled[-1] for count in (ARROWS, ARROWS - 1))
    places = max(evenly, key=lambda distances: pdist(at(distances).T).min())
    # Over a fiftieth of the way, so that the noise of two neighbours does not decide.
    reach = 0.01 * travelled[-1]
    ahead = at(places + reach) - at(places - reach)
    length = np.hypot(*ahead)
    moving = length > 0.0
    ahead = ahead[:, moving] / length[moving]
    axis.quiver(
        *at(places)[:, moving], *ahead, angles="xy", scale_units="inches", scale=6.0,
        units="inches", width=0.022, headwidth=6.5, headlength=6.0, headaxislength=5.0,
        pivot="mid", color=colours.DIRECTION, zorder=4, label="direction",
    )  # fmt: skip


def _ends(axis, path):
    for row, marker, size, name in ((0, "o", 9.0, "start"), (-1, "s", 6.5, "end")):
        axis.plot(
            *path[["x", "y"]].iloc[row], linestyle="none", marker=marker, markersize=size,
            markerfacecolor="white", markeredgecolor="black", markeredgewidth=1.4, label=name,
            zorder=5,
        )  # fmt: skip


def _extent(*columns) -> float:
    values = np.concatenate(columns)
    return float(np.ptp(values)) if len(values) else 0.0


NO_IMU = "There is no yaw error to show: no sample of an IMU lies within its reference's time."

BANDS = 40
"""Frequency bands per decade in which a density is averaged for drawing."""

CONFIDENCE = 0.95
"""Of the bands around a density."""

_CONFIDENCE_LABEL = f"{100.0 * CONFIDENCE:.0f} % confidence, of a stationary signal"
_DETAIL_FRACTION = 0.1
_LONGEST_DETAIL = 60.0


def control_error(comparison):
    """Return tracking error of the simulated robot: yaw, along and across the track, distance."""
    table = comparison.control_error
    if len(table) == 0:
        return style.message_figure("No tracking error was recorded.")
    figure, (yaw, distance) = style.make_figure(rows=2, height=5.6, sharex=True)
    yaw.axhline(0.0, **style.ZERO)
    _line(yaw, table.index, np.degrees(table["yaw_error"]), _dark(), "yaw")
    style.label(yaw, y="yaw error [deg]", title="Tracking error, trajectory minus robot")

    distance.axhline(0.0, **style.ZERO)
    for column, name, line in (
        ("distance_error", "distance", style.DISTANCE),
        ("along_track_error", "along track", {**style.SIMULATED, "linewidth": 1.2}),
        ("cross_track_error", "across track", _dark()),
    ):
        if column in table:
            _line(distance, table.index, table[column], line, name)
    style.label(distance, x="time [s]", y="position error [m]")
    style.legend(distance, columns=3)
    return figure


def imu_yaw(comparison):
    """Return the heading of both IMUs and what is right for each, the whole drive and its end.

    Each pair has a zero of its own, the recording's and the simulator's. Both are turned as the
    trajectory is, which starts at zero.
    """
    if comparison.simulated is None and comparison.real is None:
        return style.message_figure(NO_IMU)
    figure, (whole, detail) = style.make_figure(rows=2, height=6.4)
    pairs = [
        (result, _turned_from_start(result, comparison.trajectory), lines)
        for result, lines in (
            (comparison.real, _REAL_LINES),
            (comparison.simulated, _SIMULATED_LINES),
        )
        if result is not None
    ]
    stop = max(result.error.index[-1] for result, _, _ in pairs)
    begin = stop - min(_LONGEST_DETAIL, _DETAIL_FRACTION * stop)
    for axis, start in ((whole, -np.inf), (detail, begin)):
        for result, offset, lines in pairs:
            for yaw, (line, name) in zip((result.reference_yaw, result.imu_yaw), lines):
                yaw = yaw[yaw.index >= start] - offset
                _line(axis, yaw.index, np.degrees(yaw), line, name)
    for axis, title in (
        (whole, "Yaw, zero: the trajectory's heading at its start"),
        (detail, "Detail of the end"),
    ):
        style.label(axis, y="yaw, unwrapped [deg]", title=title)
    style.legend(whole)
    style.label(detail, x="time [s]")
    return figure


_REAL_LINES = ((style.REFERENCE, "reference"), (style.REAL, "recorded IMU"))
_SIMULATED_LINES = ((style.TRUTH, "simulator's truth"), (style.SIMULATED, "simulated IMU"))


def _turned_from_start(result, trajectory):
    """Return what to subtract from a pair's headings to let the trajectory's begin at zero."""
    if len(trajectory) == 0:
        return float(result.reference_yaw.iloc[0])
    wanted = np.interp(result.reference_yaw.index, trajectory.index, trajectory["yaw"])
    apart = float(np.median(result.reference_yaw - wanted))
    return apart + float(trajectory["yaw"].iloc[0])


def yaw_error(comparison):
    """Return yaw error of both IMUs over time, as it is and its trend."""
    imus = style.imus(comparison)
    if not imus:
        return style.message_figure(NO_IMU)
    figure, (axis,) = style.make_figure()
    axis.axhline(0.0, **style.ZERO)
    for result, line, name in imus:
        _line(axis, result.error.index, np.degrees(result.error), style.raw(line), name)
    for result, line, name in imus:
        _line(axis, result.trend.index, np.degrees(result.trend), line, f"{name}, trend", zorder=3)
    style.label(
        axis, x="time [s]", y="yaw error [deg]", title=_trend_title("Yaw error", comparison)
    )
    style.legend(axis)
    return figure


def yaw_errors_difference(comparison):
    """Return how much the recorded IMU's error exceeds the simulated one's."""
    if comparison.difference is None:
        return style.message_figure(
            "There is no difference to show: it takes a recorded and a simulated IMU."
        )
    figure, (axis,) = style.make_figure()
    axis.axhline(0.0, **style.ZERO)
    difference, trend = comparison.difference.difference, comparison.difference.trend
    name = "recorded minus simulated"
    _line(axis, difference.index, np.degrees(difference), style.raw(style.DIFFERENCE), name)
    _line(axis, trend.index, np.degrees(trend), style.DIFFERENCE, "trend", zorder=3)
    style.label(
        axis,
        x="time [s]",
        y="difference of yaw errors [deg]",
        title=_trend_title("Difference of yaw errors", comparison),
    )
    style.legend(axis)
    return figure


def yaw_errors_psd(comparison):
    """Return the power spectral density of the yaw errors."""
    return _spectra(comparison, "error_spectrum", "Power spectral density of the yaw errors")


def yaw_psd(comparison):
    """Return the power spectral density of the headings, their linear trend removed."""
    return _spectra(comparison, "yaw_spectrum", "Power spectral density of yaw, detrended")


def wheel_velocities(comparison):
    """Velocities of both wheels as commanded and as they turned, and how far these are apart."""
    wheels = comparison.wheels
    if wheels is None:
        return style.message_figure("There are no wheel velocities to show: none was commanded.")
    known = wheels.error is not None
    figure, axes = style.make_figure(
        rows=3 if known else 2, height=7.2 if known else 5.0, sharex=True
    )
    for axis, wheel in zip(axes, WHEELS):
        _line(axis, wheels.commanded.index, wheels.commanded[wheel], style.REFERENCE, "commanded")
        if known:
            line = {**style.REAL, "linewidth": 1.0}
            _line(axis, wheels.actual.index, wheels.actual[wheel], line, "actual")
        style.label(axis, y="velocity [rad/s]", title=f"{wheel.capitalize()} wheel")
    style.legend(axes[0])
    if known:
        axes[-1].axhline(0.0, **style.ZERO)
        lines = {
            "left": {**style.REAL, "linewidth": 1.0},
            "right": {**style.SIMULATED, "linewidth": 1.0},
        }
        for wheel in WHEELS:
            _line(axes[-1], wheels.error.index, wheels.error[wheel], lines[wheel], wheel)
        style.label(axes[-1], y="difference [rad/s]", title="Commanded minus actual")
        style.legend(axes[-1])
    style.label(axes[-1], x="time [s]")
    return figure


FIGURES = {
    "control_error": control_error,
    "imu_yaw": imu_yaw,
    "trajectory": trajectory,
    "wheel_velocities": wheel_velocities,
    "yaw_error": yaw_error,
    "yaw_error_along_path": yaw_error_along_path,
    "yaw_error_relative": yaw_error_relative,
    "yaw_errors_difference": yaw_errors_difference,
    "yaw_errors_psd": yaw_errors_psd,
    "yaw_psd": yaw_psd,
}
"""File name -> function that makes a matplotlib Figure of a :class:`.Comparison`."""


def _spectra(comparison, attribute, title):
    spectra = [
        (getattr(result, attribute), line, name)
        for result, line, name in style.imus(comparison)
        if getattr(result, attribute) is not None
    ]
    if not spectra:
        return style.message_figure("There are too few samples for a power spectral density.")
    # A logarithmic axis has no place for what is zero throughout.
    spectra = [row for row in spectra if np.any(row[0].density > 0.0)]
    if not spectra:
        return style.message_figure("The power spectral density is zero.")
    figure, (axis,) = style.make_figure(height=4.8)
    for spectrum, line, name in spectra:
        averages = "1 segment" if spectrum.segments == 1 else f"{spectrum.segments} segments"
        name = f"{name}, {averages} of {spectrum.segment_length} samples"
        frequency, density = logarithmic_average(spectrum, BANDS)
        low, high = confidence_factors(spectrum, BANDS, CONFIDENCE)
        axis.fill_between(
            frequency, low * density, high * density, color=line["color"], alpha=0.22,
            linewidth=0.0,
        )  # fmt: skip
        axis.loglog(frequency, density, label=name, **line)
    axis.grid(True, which="minor", axis="x", color=colours.FINE_GRID, linewidth=0.4)
    style.label(
        axis,
        x=f"frequency [Hz] (mean within bands of 1/{BANDS} decade)",
        y="density [rad²/Hz]",
        title=title,
    )
    axis.fill_between(
        [], [], color=colours.BAND_GREY, alpha=0.3, linewidth=0.0, label=_CONFIDENCE_LABEL
    )
    style.legend(axis, columns=1)
    return figure


def _line(axis, time, values, line, name, **options):
    x, y = style.thin_with_gaps(time, values)
    axis.plot(x, y, label=name, **line, **options)


def _dark():
    return {**style.REAL, "linewidth": 1.0}


def _trend_title(title, comparison):
    return f"{title}; trend: median over {comparison.settings.median_window:g} s"
