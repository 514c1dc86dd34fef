"""The ten figures of an experiment, each from its :class:`.Comparison`."""

from __future__ import annotations

import numpy as np

from imu_simulation_framework.columns import WHEELS
from imu_simulation_framework.evaluation.spectrum import confidence_factors, logarithmic_average
from imu_simulation_framework.plots import colours, style
from imu_simulation_framework.plots.path_figures import trajectory, yaw_error_along_path
from imu_simulation_framework.plots.relative_figure import yaw_error_relative

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


def make_figures(comparison) -> dict:
    """Return all ten figures, by file name."""
    return {name: make(comparison) for name, make in FIGURES.items()}


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
