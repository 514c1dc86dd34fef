"""The seven figures of an experiment, each from its :class:`Comparison`."""

from __future__ import annotations

import numpy as np

from imu_simulation_framework.core.spectrum import logarithmic_average
from imu_simulation_framework.plots import style

NO_IMU = "There is no yaw error to show: no sample of an IMU lies within its reference's time."

BANDS = 40
"""Frequency bands per decade in which a density is averaged for drawing."""

_DETAIL_FRACTION = 0.1
_LONGEST_DETAIL = 60.0


def control_error(comparison):
    """Tracking error of the simulated robot: yaw, along and across the track, distance."""
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
    """Heading of both IMUs and what is right for each, the whole drive and its end."""
    if comparison.simulated is None and comparison.real is None:
        return style.message_figure(NO_IMU)
    figure, (whole, detail) = style.make_figure(rows=2, height=6.4)
    stop = 0.0
    for axis in (whole, detail):
        for result, reference_style, reference_name, imu_style, imu_name in (
            (comparison.real, style.REFERENCE, "reference", style.REAL, "recorded IMU"),
            (
                comparison.simulated,
                style.TRUTH,
                "simulator's truth",
                style.SIMULATED,
                "simulated IMU",
            ),
        ):
            if result is None:
                continue
            stop = max(stop, result.error.index[-1])
            for yaw, line, name in (
                (result.reference_yaw, reference_style, reference_name),
                (result.imu_yaw, imu_style, imu_name),
            ):
                if axis is detail:
                    length = min(_LONGEST_DETAIL, _DETAIL_FRACTION * stop)
                    yaw = yaw[yaw.index >= stop - length]
                _line(axis, yaw.index, np.degrees(yaw), line, name)
    style.label(whole, y="yaw, unwrapped [deg]", title="Yaw")
    style.legend(whole)
    style.label(detail, x="time [s]", y="yaw, unwrapped [deg]", title="Detail of the end")
    return figure


def trajectory(comparison):
    """Path to be followed and path of the simulated robot."""
    wanted, driven = comparison.trajectory, comparison.ground_truth
    # As tall as the path asks for: equal scales would leave the rest of the page empty.
    width, height = (_extent(wanted[name], driven[name]) for name in ("x", "y"))
    figure, (axis,) = style.make_figure(
        width=7.0, height=float(np.clip(0.9 + 6.2 * height / max(width, 1e-9), 3.2, 7.5))
    )
    for table, line, name in (
        (wanted, {**style.REFERENCE, "linewidth": 4.5}, "trajectory"),
        (driven, {**style.REAL, "linewidth": 0.9}, "simulated robot"),
    ):
        if len(table):
            x, y = style.thin_path(table["x"], table["y"])
            axis.plot(x, y, label=name, **line)
    if len(wanted):
        axis.plot(
            *wanted[["x", "y"]].iloc[0],
            linestyle="none",
            marker="o",
            markersize=9,
            markerfacecolor="white",
            markeredgecolor="black",
            markeredgewidth=1.6,
            label="start",
            zorder=5,
        )
    axis.set_aspect("equal", adjustable="datalim")
    style.label(axis, x="x [m]", y="y [m]", title="Trajectory")
    style.legend(axis, columns=3)
    return figure


def yaw_error(comparison):
    """Yaw error of both IMUs over time, as it is and its trend."""
    imus = _imus(comparison)
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
    """How much the recorded IMU's error exceeds the simulated one's."""
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
    """Power spectral density of the yaw errors."""
    return _spectra(comparison, "error_spectrum", "Power spectral density of the yaw errors")


def yaw_psd(comparison):
    """Power spectral density of the headings, their linear trend removed."""
    return _spectra(comparison, "yaw_spectrum", "Power spectral density of yaw, detrended")


FIGURES = {
    "control_error": control_error,
    "imu_yaw": imu_yaw,
    "trajectory": trajectory,
    "yaw_error": yaw_error,
    "yaw_errors_difference": yaw_errors_difference,
    "yaw_errors_psd": yaw_errors_psd,
    "yaw_psd": yaw_psd,
}
"""File name -> function that makes a matplotlib Figure of a :class:`Comparison`."""


def make_figures(comparison) -> dict:
    """All seven figures, by file name."""
    return {name: make(comparison) for name, make in FIGURES.items()}


def _imus(comparison):
    imus = (
        (comparison.real, style.REAL, "recorded IMU"),
        (comparison.simulated, style.SIMULATED, "simulated IMU"),
    )
    return [imu for imu in imus if imu[0] is not None]


def _spectra(comparison, attribute, title):
    spectra = [
        (getattr(result, attribute), line, name)
        for result, line, name in _imus(comparison)
        if getattr(result, attribute) is not None
    ]
    if not spectra:
        return style.message_figure("There are too few samples for a power spectral density.")
    figure, (axis,) = style.make_figure(height=4.8)
    for spectrum, line, name in spectra:
        averages = "1 segment" if spectrum.segments == 1 else f"{spectrum.segments} segments"
        name = f"{name}, {averages} of {spectrum.segment_length} samples"
        axis.loglog(*logarithmic_average(spectrum, BANDS), label=name, **line)
    axis.grid(True, which="minor", axis="x", color="#ececec", linewidth=0.4)
    style.label(
        axis,
        x=f"frequency [Hz] (mean within bands of 1/{BANDS} decade)",
        y="density [rad$^2$/Hz]",
        title=title,
    )
    style.legend(axis, columns=1)
    return figure


def _line(axis, time, values, line, name, **options):
    x, y = style.thin(time, values)
    axis.plot(x, y, label=name, **line, **options)


def _extent(*columns) -> float:
    values = np.concatenate(columns)
    return float(np.ptp(values)) if len(values) else 0.0


def _dark():
    return {**style.REAL, "linewidth": 1.0}


def _trend_title(title, comparison):
    return f"{title}; trend: median over {comparison.settings.median_window:g} s"
