"""Figures of an experiment, and figures that compare several drives or experiments."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import dist

import numpy as np

from ..core import colours
from ..core.sentences import join_names
from ..core.signals import confidence_factors, logarithmic_average
from ..core.tables import WHEELS
from ..heading.error_split import ESTIMATED
from ..heading.figures.relative_error import CONFIDENCE, yaw_error_relative
from ..heading.reference_error import expected_spectrum
from ..heading.statistics import TWO_SIDED
from ..heading.yaw_comparison import YawComparison
from ..report import style
from ..report.figure import Figure, select_path_points

NO_IMU = "There is no yaw error to show: no IMU sample is within the time range of its reference."
_TOO_FEW = "There are too few samples for a power spectral density."

BANDS = 40  # frequency bands per decade in which densities are averaged for figures
_ARROWS = 8  # number of evenly spaced direction arrows along a path
_DETAIL_FRACTION, _LONGEST_DETAIL = 0.1, 60.0
_WIDE_REFERENCE = {**style.REFERENCE, "linewidth": 4.5}


def trajectory(comparison) -> Figure:
    """Draw the reference path with its GNSS fixes, and the path of the simulated robot.

    Parameters
    ----------
    comparison : Comparison
        Compared yaw signals and paths.

    Returns
    -------
    Figure
        Described figure.
    """
    trajectory, driven, fixes = comparison.trajectory, comparison.ground_truth, comparison.fixes
    figure = Figure("Trajectory", empty_message="There is no path to show.", width=7.0)
    if not (len(trajectory) or len(driven)):
        return figure
    figure.panel("y [m]", x="x [m]", equal=True, height=430)
    if fixes is not None and len(fixes):
        figure.points(fixes["x"], fixes["y"], colours.FIXES, "fixes as received", size=3)
    if len(trajectory):
        figure.path(trajectory["x"], trajectory["y"], _WIDE_REFERENCE, "trajectory")
    if len(driven):
        look = {**style.REAL, "linewidth": 0.9, "zorder": 3}
        figure.path(driven["x"], driven["y"], look, "simulated robot")
    _direction(figure, trajectory if len(trajectory) else driven)
    return figure


def paths(trajectories) -> Figure:
    """Draw several paths with direction, start and end, one panel per path.

    Parameters
    ----------
    trajectories : mapping of str to DataFrame
        Trajectories by name.

    Returns
    -------
    Figure
        Described figure.
    """
    figure = Figure(widths=(1.0,) * min(2, len(trajectories)))
    for name, table in trajectories.items():
        figure.panel("y [m]", name, x="x [m]", equal=True, height=300)
        figure.path(table["x"], table["y"], {**style.REAL, "linewidth": 1.2}, "path")
        _direction(figure, table)
    return figure


def _direction(figure, path):
    x, y = (path[name].to_numpy(dtype=float) for name in "xy")
    kept = select_path_points(x, y, 4000)
    if len(kept) >= 3:
        figure.arrows(*_arrows(x[kept], y[kept]), colours.DIRECTION, "direction")
    _ends(figure, x, y)


def _ends(figure, x, y):
    for row, symbol, size, name in ((0, "circle-open", 11, "start"), (-1, "square-open", 8, "end")):
        figure.points([x[row]], [y[row]], colours.SENSOR, name, size, symbol)


def _arrows(x, y):
    """Return positions and directions of arrows along a path, each of shape (2, n)."""
    travelled = np.concatenate(([0.0], np.cumsum(np.hypot(np.diff(x), np.diff(y)))))

    def interpolate(distance):
        return np.array([np.interp(distance, travelled, values) for values in (x, y)])

    # If the path has as many laps as arrows, all arrows coincide; one arrow fewer separates them.
    evenly = ((np.arange(count) + 0.5) / count * travelled[-1] for count in (_ARROWS, _ARROWS - 1))
    places = max(
        evenly, key=lambda those: min(dist(*two) for two in combinations(interpolate(those).T, 2))
    )
    # Directions are averaged over 2 % of the path to suppress position noise.
    half_length = 0.01 * travelled[-1]
    ahead = interpolate(places + half_length) - interpolate(places - half_length)
    length = np.hypot(*ahead)
    moving = length > 0.0
    return interpolate(places)[:, moving], ahead[:, moving] / length[moving]


def yaw_error_along_path(comparison) -> Figure:
    """Draw the yaw error of each IMU as colour along its path.

    Parameters
    ----------
    comparison : Comparison
        Compared yaw signals and paths.

    Returns
    -------
    Figure
        Described figure.
    """
    both = (
        (comparison.real, "Recorded IMU", comparison.trajectory),
        (comparison.simulated, "Simulated IMU", comparison.ground_truth),
    )
    imus = [row for row in both if row[0] is not None and len(row[2])]
    figure = Figure(empty_message="There is no path to show: the robot did not drive.")
    if not imus:
        return figure
    width, height = (np.ptp(np.concatenate([path[name] for *_, path in imus])) for name in "xy")
    figure.widths = (1.0,) * (1 if width > 1.3 * height else len(imus))
    # Both panels use the same colour scale.
    errors = [np.degrees(result.error.to_numpy()) for result, *_ in imus]
    largest = max(float(np.max(np.abs(error), initial=1e-3)) for error in errors)
    for result, name, path in imus:
        figure.panel("y [m]", name, x="x [m]", equal=True, height=320)
        look = {"color": colours.LINE_GREY, "linewidth": 0.6}
        figure.path(path["x"], path["y"], look, "path")
        time = result.error.index.to_numpy(dtype=float)
        x, y = (np.interp(time, path.index, path[axis]) for axis in "xy")
        title = "yaw error [deg], latest on top"
        figure.coloured_path(time, x, y, np.degrees(result.error), name, title, largest)
        _ends(figure, path["x"].to_numpy(), path["y"].to_numpy())
    return figure


def control_error(comparison) -> Figure:
    """Draw the tracking error of the simulated robot: yaw, along-track, cross-track and distance.

    Parameters
    ----------
    comparison : Comparison
        Compared yaw signals and tracking errors.

    Returns
    -------
    Figure
        Described figure.
    """
    table = comparison.control_error
    figure = Figure(empty_message="No tracking error was recorded.")
    if len(table) == 0:
        return figure
    figure.panel(
        "yaw error [deg]", "Tracking error, trajectory minus robot", height=200
    ).zero_line()
    figure.line(table.index, np.degrees(table["yaw_error"]), style.THIN, "yaw")
    figure.panel("position error [m]", height=230).zero_line()
    for column, name, look in (
        ("distance_error", "distance", style.DISTANCE),
        ("along_track_error", "along track", {**style.SIMULATED, "linewidth": 1.2}),
        ("cross_track_error", "across track", {**style.DIFFERENCE, "linewidth": 1.0}),
    ):
        if column in table:
            figure.line(table.index, table[column], look, name)
    return figure


def imu_yaw(comparison) -> Figure:
    """Draw the yaw of both IMUs with their references, over the complete drive and at its end.

    The reference is a wide line behind the IMU. The yaw zeros of the recording and of the simulator
    differ; both signals are shifted to the trajectory, which starts at zero.

    Parameters
    ----------
    comparison : Comparison
        Compared yaw signals.

    Returns
    -------
    Figure
        Described figure.
    """
    real = ((style.REFERENCE, "reference"), (style.REAL, "recorded IMU"))
    simulated = ((style.TRUTH, "simulator's truth"), (style.SIMULATED, "simulated IMU"))
    pairs = [
        (result, _yaw_offset_from_start(result, comparison.trajectory), styles)
        for result, styles in ((comparison.real, real), (comparison.simulated, simulated))
        if result is not None
    ]
    figure = Figure(empty_message=NO_IMU)
    if not pairs:
        return figure
    stop = max(result.error.index[-1] for result, _, _ in pairs)
    begin = stop - min(_LONGEST_DETAIL, _DETAIL_FRACTION * stop)
    for start, title in (
        (-np.inf, "Yaw, zero: initial heading of the trajectory"),
        (begin, "Detail of the end"),
    ):
        figure.panel("yaw, unwrapped [deg]", title, x="time [s]", height=270)
        for place, heading in enumerate(("reference_yaw", "imu_yaw")):
            for result, offset, styles in pairs:
                yaw = getattr(result, heading)
                yaw = yaw[yaw.index >= start] - offset
                figure.line(yaw.index, np.degrees(yaw), *styles[place])
    return figure


def _yaw_offset_from_start(result, trajectory):
    """Return the yaw offset [rad] of a reference from a trajectory that starts at zero yaw."""
    if len(trajectory) == 0:
        return float(result.reference_yaw.iloc[0])
    trajectory_yaw = np.interp(result.reference_yaw.index, trajectory.index, trajectory["yaw"])
    offset = float(np.median(result.reference_yaw - trajectory_yaw))
    return offset + float(trajectory["yaw"].iloc[0])


def yaw_error(comparison) -> Figure:
    """Draw the yaw errors of IMUs and odometer over time with their trends.

    Parameters
    ----------
    comparison : Comparison
        Compared yaw signals.

    Returns
    -------
    Figure
        Described figure.
    """
    title = _trend_title("Yaw error", comparison)
    headings = style.label_headings(comparison)
    estimated = [name for result, _, name in headings if result.zero == ESTIMATED]
    if estimated:
        title += f"; zero of the {join_names(estimated)}: estimated from the complete drive"
    figure = Figure(title, empty_message=NO_IMU)
    if headings:
        figure.panel("yaw error [deg]", height=340).zero_line()
    for result, _, name in headings:
        _band_of_reference(figure, result, f"the reference alone ({name}), 95 %")
    for result, look, name in headings:
        figure.line(result.error.index, np.degrees(result.error), style.lighten(look), name)
    for result, look, name in headings:
        _trend(figure, result.trend, look, f"{name}, trend")
    return figure


def yaw_errors_difference(comparison) -> Figure:
    """Draw the difference between the yaw errors of the recorded and the simulated IMU.

    Parameters
    ----------
    comparison : Comparison
        Compared yaw signals.

    Returns
    -------
    Figure
        Described figure.
    """
    figure = Figure(
        _trend_title("Difference of yaw errors", comparison),
        empty_message="There is no difference to show: it requires a recorded and a simulated IMU.",
    )
    difference = comparison.difference
    if difference is not None:
        figure.panel("difference of yaw errors [deg]", height=300).zero_line()
        values, look = np.degrees(difference.difference), style.lighten(style.DIFFERENCE)
        figure.line(values.index, values, look, "recorded minus simulated")
        _trend(figure, difference.trend, style.DIFFERENCE, "trend")
    return figure


def _band_of_reference(figure, result, name, zero=0.0):
    if result.split is not None:
        half_width = TWO_SIDED * np.degrees(result.split.band)
        figure.band(half_width.index - zero, -half_width, half_width, colours.REFERENCE, 0.35, name)


def _trend(figure, trend, look, name):
    figure.line(trend.index, np.degrees(trend), {**look, "zorder": 3}, name)


def _trend_title(title, comparison):
    return f"{title}; trend: median over {comparison.settings.median_window:g} s"


def yaw_errors_psd(comparison) -> Figure:
    """Draw the power spectral densities of the yaw errors and the reference errors.

    Parameters
    ----------
    comparison : Comparison
        Compared yaw signals with their spectra.

    Returns
    -------
    Figure
        Described figure.
    """
    figure = _spectra(comparison, "error_spectrum", "Power spectral density of the yaw errors")
    for result, _, name in style.label_headings(comparison) if figure.panels else ():
        if result.split is None:
            continue
        process, time = result.split.process, result.error.index.to_numpy(dtype=float)
        expected = expected_spectrum(process, time)
        if expected is None:
            continue
        frequency, density = logarithmic_average(expected, BANDS)
        # The error model of the reference is not valid at higher frequencies.
        kept = (frequency <= 0.5 / process.correlation_time) & (density > 0.0)
        if kept.any():
            look, label = style.REFERENCE, f"the reference alone ({name})"
            figure.line(frequency[kept], density[kept], look, label)
    return figure


def yaw_psd(comparison) -> Figure:
    """Draw the power spectral densities of the yaw signals after removing a linear trend.

    Parameters
    ----------
    comparison : Comparison
        Compared yaw signals with their spectra.

    Returns
    -------
    Figure
        Described figure.
    """
    return _spectra(comparison, "yaw_spectrum", "Power spectral density of yaw, detrended")


def _spectra(comparison, attribute, title):
    headings = style.label_headings(comparison)
    is_error = attribute == "error_spectrum"
    spectra = [
        (getattr(result, attribute), look, name, 2.0 * result.reference_period * is_error)
        for result, look, name in headings
    ]
    spectra = [row for row in spectra if row[0] is not None]
    nothing = "The power spectral density is zero." if spectra else _TOO_FEW
    figure = Figure(title, f"frequency [Hz] (mean within bands of 1/{BANDS} decade)", nothing)
    # A logarithmic axis cannot show a zero density.
    spectra = [row for row in spectra if np.any(row[0].density > 0.0)]
    if spectra:
        figure.panel("density [rad²/Hz]", log="xy", height=360)
    for spectrum, look, name, shortest in spectra:
        frequency, density = logarithmic_average(spectrum, BANDS)
        low, high = confidence_factors(spectrum, BANDS, CONFIDENCE)
        # Above half the sampling rate of the reference, its interpolation dominates the error.
        kept = frequency * shortest <= 1.0
        if not kept.all():
            frequency, density, low, high = (
                np.broadcast_to(values, kept.shape)[kept]
                for values in (frequency, density, low, high)
            )
            name = f"{name}, to half the reference's rate"
        figure.band(
            frequency, low * density, high * density, look["color"], 0.22,
            f"{100.0 * CONFIDENCE:.0f} % confidence, of a stationary signal",
        )  # fmt: skip
        segments = "1 segment" if spectrum.segments == 1 else f"{spectrum.segments} segments"
        name = f"{name}, {segments} of {spectrum.segment_length} samples"
        figure.line(frequency, density, look, name)
    return figure


def wheel_velocities(comparison) -> Figure:
    """Draw commanded and actual wheel velocities and steering angles with their differences.

    Parameters
    ----------
    comparison : Comparison
        Compared yaw signals and wheel velocities.

    Returns
    -------
    Figure
        Described figure.
    """
    wheels = comparison.wheels
    figure = Figure(empty_message="There are no wheel velocities to show: none was commanded.")
    if wheels is None:
        return figure
    steering = [name for name in wheels.commanded.columns if name not in WHEELS]
    for wheel in (*WHEELS, *steering):
        titles = "velocity [rad/s]", f"{wheel.capitalize()} wheel"
        if wheel in steering:
            titles = "angle [rad]", wheel.capitalize().replace("_", ", ")
        figure.panel(*titles, height=200)
        commanded = wheels.commanded[wheel]
        figure.line(commanded.index, commanded, _WIDE_REFERENCE, "commanded")
        if wheels.error is not None:
            figure.line(wheels.actual.index, wheels.actual[wheel], style.THIN, "actual")
    for unit, part, names in (("rad/s", "Wheels", WHEELS), ("rad", "Steering", steering)):
        if wheels.error is None or not names:
            continue
        figure.panel(
            f"difference [{unit}]", f"{part}, commanded minus actual", height=200
        ).zero_line()
        for name, look in zip(names, (style.DIFFERENCE, style.SIMULATED)):
            look, side = {**look, "linewidth": 1.0}, name.replace("steering", "").strip("_")
            figure.line(wheels.error.index, wheels.error[name], look, side)
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
"""Mapping from file names to functions that create the figures from a :class:`.Comparison`."""

MAX_PANELS = 8  # maximum number of drives in a figure that is still readable on a page


@dataclass(frozen=True)
class ShownError:
    """Yaw error that a figure shows as a line.

    Attributes
    ----------
    drive : str
        Name of the drive; lines of a drive share a panel.
    name : str
        Label in the legend.
    recorded : bool
        Whether the IMU is recorded, not simulated.
    comparison : YawComparison
        Yaw error and its trend.
    """

    drive: str
    name: str
    recorded: bool
    comparison: YawComparison


def yaws(names, series, differences) -> Figure:
    """Draw yaw signals over time, and the differences between the first signal and the others.

    Parameters
    ----------
    names : sequence of str
        Names of the yaw signals.
    series : sequence of Series
        Yaw signals [rad], indexed by time [s]; the others are compared with the first.
    differences : sequence of YawDifference
        Differences between the first yaw signal and each of the others.

    Returns
    -------
    Figure
    """
    first, zero = series[0], series[0].index[0]
    styles = style.line_styles(len(names))[1:]
    figure = Figure().panel("yaw, unwrapped [deg]", height=260)
    # The first yaw signal is drawn as a wide line behind the others.
    figure.line(first.index - zero, np.degrees(first - first.iloc[0]), style.REFERENCE, names[0])
    for difference, look in zip(differences, styles):
        yaw = difference.comparison.imu_yaw - first.iloc[0]
        figure.line(yaw.index - zero, np.degrees(yaw), look, difference.name)
    title = "First yaw minus each of the others (thin), and trend (bold)"
    figure.panel("difference [deg]", title, height=260).zero_line()
    for difference in differences:
        single_name = f"{names[0]} alone" + (
            f" ({difference.name})" if len(differences) > 1 else ""
        )
        _band_of_reference(figure, difference.comparison, f"{single_name}, 95 %", zero)
    for difference, look in zip(differences, styles):
        error, trend = difference.comparison.error, difference.comparison.trend
        thin = {**style.lighten(look), "zorder": 1.5}
        figure.line(error.index - zero, np.degrees(error), thin)
        figure.line(trend.index - zero, np.degrees(trend), look, difference.name)
    return figure


def yaw_errors(errors, window) -> Figure:
    """Draw the trends of yaw errors over time, one panel per drive.

    Parameters
    ----------
    errors : sequence of ShownError
        The yaw errors.
    window : float
        Window of the running median [s], for the title.

    Returns
    -------
    Figure
    """
    figure = Figure(f"Yaw errors, running median over {window:g} s", share_y=True)
    for title, lines in _panels_of(errors):
        figure.panel("yaw error [deg]", title, height=240 if title else 340).zero_line()
        for error, look in lines:
            trend = error.comparison.trend
            figure.line(trend.index, np.degrees(trend), look, error.name)
    return figure


def yaw_error_spectra(errors, highest=np.inf) -> Figure:
    """Draw the power spectral densities of yaw errors, one panel per drive.

    Parameters
    ----------
    errors : sequence of ShownError
        The yaw errors.
    highest : float
        Highest frequency in the figure [Hz].

    Returns
    -------
    Figure
    """
    title = "Power spectral densities of the yaw errors"
    figure = Figure(title, "frequency [Hz]", _TOO_FEW, share_y=True)
    with_spectrum = [error for error in errors if error.comparison.error_spectrum is not None]
    errors = [row for row in with_spectrum if np.any(row.comparison.error_spectrum.density > 0.0)]
    for title, lines in _panels_of(errors) if errors else ():
        figure.panel("density [rad²/Hz]", title, log="xy", height=240 if title else 340)
        for error, look in lines:
            frequency, density = logarithmic_average(error.comparison.error_spectrum, BANDS)
            kept = frequency <= highest
            figure.line(frequency[kept], density[kept], look, error.name)
    return figure


def _panels_of(errors):
    """Assign yaw errors to panels; return the title, yaw errors and line styles of each panel.

    A single panel has an empty title. If each drive has only one line, all drives share one panel.
    """
    drives = list(dict.fromkeys(error.drive for error in errors))
    if len(drives) == len(errors):
        return [("", list(zip(errors, style.line_styles(len(errors)))))]
    panels = []
    for drive in drives:
        drive_errors = [error for error in errors if error.drive == drive]
        count = sum(not error.recorded for error in drive_errors)
        simulated = iter(style.line_styles(count, style.SHADES, 1.3))
        lines = [
            (error, style.REAL if error.recorded else next(simulated)) for error in drive_errors
        ]
        panels.append((drive if len(drives) > 1 else "", lines))
    return panels
