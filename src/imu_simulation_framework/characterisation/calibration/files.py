"""Output of a calibration: text, tables, figures and files.

The files are a correction, a specification of the residual errors, all numbers, and a figure.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Sequence

import numpy as np

from ... import __version__
from ...core import colours, whole_files
from ...core.checks import AXES
from ...core.files import format_json
from ...core.sentences import format_duration
from ...core.tables import ACCEL, GYRO
from ...report import style
from ...report.drawing import to_matplotlib
from ...report.figure import Figure
from ...sensors import imu_specification
from ...sensors.correction import ImuCorrection, imu_correction_text, specify_residual_errors
from ...sensors.files import imu_specification_text
from .estimates import SlowNoise
from .inertial import to_correction
from .rest_times import RestTime


def write_calibration(result, folder, name, onto=None) -> list[str]:
    """Write all files of a calibration, after all their contents have been computed.

    Parameters
    ----------
    result : Calibrated
        Result of the calibration.
    folder : Path
        Folder in which to write the files.
    name : str
        Name of the sensor.
    onto : ImuCorrection, optional
        Existing correction to update; its parts for uncalibrated sensors are preserved.

    Returns
    -------
    list of str
        Remarks for the user.

    Raises
    ------
    ConfigurationError
        The name is invalid, or an estimated matrix cannot be inverted.
    ResultError
        A file cannot be written, or it is an input file.
    """
    span = (-273.15, 1000.0)
    if result.temperature is not None and result.rests:
        used = np.concatenate([result.temperature[r.start : r.stop] for r in result.rests])
        span = (float(np.min(used)), float(np.max(used)))
    parts = {
        sensor: to_correction(calibration, result.reference, span)
        for sensor, calibration in result.sensors.items()
    }
    correction = replace(onto or ImuCorrection(), name=name, **parts)
    comment = (
        f"written by calibrate_imu.py, imu_simulation_framework {__version__}, from "
        f"{Path(result.options.recording).name}"
    )
    contents = {"correction.yaml": imu_correction_text(correction, comment).encode("utf-8")}
    remarks = []
    if result.table is not None or result.options.noise is not None:
        left = specify_residual_errors(correction, _noise(result), name)
        contents["imu.yaml"] = imu_specification_text(
            left, f"Residual errors after the correction; {comment}."
        ).encode("utf-8")
    else:
        remarks.append(
            "imu.yaml is not written, because a magnetometer recording does not determine the "
            "noise of gyroscope and accelerometer"
        )
    contents["calibration.json"] = format_json(_numbers(result)).encode("utf-8")
    contents["calibration.png"] = whole_files.render_figure(to_matplotlib(_figure(result)))
    folder = whole_files.make_folder(folder)
    inputs = [path for path in (result.options.recording, result.options.reference) if path]
    for file in contents:
        whole_files.refuse_overwriting(folder / file, inputs)
    for file, content in contents.items():
        whole_files.write_whole(folder / file, content)
    return remarks


def _noise(result) -> imu_specification.ImuSpecification:
    stated_noise = result.options.noise
    triads: dict[str, Any] = {}
    for sensor, calibration in result.sensors.items():
        kind: Any = imu_specification.TriadSpecification
        if sensor == "magnetometer":
            kind = imu_specification.MagnetometerSpecification
        terms = ("white_noise", "bias_instability", "random_walk")
        triads[sensor] = kind(
            **{term: tuple(getattr(axis, term) for axis in calibration.noise) for term in terms}
        )
    if stated_noise is not None:
        is_complete = stated_noise.magnetometer is not None or "magnetometer" not in triads
        return (
            stated_noise
            if is_complete
            else replace(stated_noise, magnetometer=triads["magnetometer"])
        )
    period = float(np.median(np.diff(result.table.index.to_numpy())))
    rate = 1.0 / period
    rate = float(round(rate)) if abs(rate - round(rate)) < 1e-3 * rate else rate
    return imu_specification.ImuSpecification(
        output=imu_specification.OutputSpecification(rate=rate), **triads
    )


def _numbers(result) -> dict:
    times = np.zeros(1) if result.table is None else result.table.index.to_numpy()
    origin = float(times[0])
    return {
        "recording": str(result.options.recording),
        "at_rest": [
            [float(times[r.start] - origin), float(times[r.stop - 1] - origin)]
            for r in result.rests
        ],
        "turns": [
            {
                "from": float(times[turn.start] - origin),
                "to": float(times[turn.stop - 1] - origin),
                "angle_deg": np.degrees(turn.angle).tolist(),
            }
            for turn in result.turns
        ],
        "found": [
            {
                "sensor": sensor,
                "quantity": quantity,
                "unit": unit,
                **{name: getattr(estimate, name) / size for name in ("value", "low", "high")},
            }
            for sensor, quantity, unit, estimate, size in list_estimates(result)
        ],
        "remarks": result.remarks,
        "version": __version__,
    }


_CIRCLE = np.linspace(0.0, 2.0 * np.pi, 200)


def _figure(result) -> Figure:
    """Create the figure of readings, bias versus temperature, and magnetometer readings."""
    figure = Figure()
    if result.table is not None:
        if set(GYRO) <= set(result.table):
            _draw_readings(figure, result, GYRO, np.degrees(1.0), "angular velocity [deg/s]")
        if set(ACCEL) <= set(result.table):
            _draw_readings(figure, result, ACCEL, 1.0, "specific force [m/s^2]")
        if result.temperature is not None and "gyroscope" in result.sensors:
            _draw_bias_over_temperature(figure, result)
    if result.sphere is not None:
        _draw_sphere(figure, result)
    return figure


def _draw_readings(figure, result, names, size, text):
    times = result.table.index.to_numpy() - result.table.index[0]
    figure.panel(text, x="time [s]", height=280)
    for used, colour, opacity, name in (
        (result.rests, colours.REFERENCE, 0.35, "stationary period in use"),
        (result.turns, colours.TRUTH, 0.5, "turn, used"),
    ):
        for part in used:
            figure.span(times[part.start], times[part.stop - 1], colour, opacity, name)
    for axis, name, look in zip(AXES, names, style.line_styles(3)):
        figure.line(times, size * result.table[name].to_numpy(), look, axis)


def _draw_bias_over_temperature(figure, result):
    """Plot gyroscope bias versus temperature at rest, and the fitted polynomials."""
    gyro = np.degrees(result.table[list(GYRO)].to_numpy())
    calibration = result.sensors["gyroscope"]
    means, temperatures = [], []
    total = sum(rest.stop - rest.start for rest in result.rests)
    for rest in result.rests:
        count = max(1, 120 * (rest.stop - rest.start) // total)
        edges = np.linspace(rest.start, rest.stop, count + 1).round().astype(int)
        for first, last in zip(edges[:-1], edges[1:]):
            means.append(gyro[first:last].mean(axis=0))
            temperatures.append(result.temperature[first:last].mean())
    grid = np.linspace(min(temperatures), max(temperatures), 100)
    degree = len(calibration.temperature_bias)
    powers = [(grid - result.reference) ** k for k in range(1, 1 + degree)]
    figure.panel("gyroscope at rest [deg/s]", x="temperature [degC]", height=280)
    for index, (axis, look) in enumerate(zip(AXES, style.line_styles(3))):
        figure.points(temperatures, np.array(means)[:, index], look["color"])
        curve = calibration.bias[index].value + sum(
            row[index].value * power for row, power in zip(calibration.temperature_bias, powers)
        )
        figure.line(grid, np.degrees(curve), look, f"{axis}, fitted")


def _draw_sphere(figure, result):
    """Plot normalised magnetometer readings in two planes, before and after the correction."""
    size, calibration = result.sphere.size, result.sphere.calibration
    raw = result.magnetic.to_numpy() / size
    bias = np.array([estimate.value for estimate in calibration.bias]) / size
    elements = [[estimate.value for estimate in row] for row in calibration.matrix]
    matrix = np.eye(3) + np.array(elements)
    corrected = np.linalg.solve(matrix, (raw - bias).T).T
    figure.panel("reading / field", x="x and y (left), x and z (right, shifted by 4)", equal=True)
    for shift, second in ((0.0, 1), (4.0, 2)):
        for values, colour, name in (
            (raw, colours.SIMULATED, "as recorded"),
            (corrected, colours.REAL, "corrected"),
        ):
            figure.points(values[:, 0] + shift, values[:, second], colour, name, size=2)
        look = {"color": colours.SENSOR, "linewidth": 0.8}
        figure.path(shift + np.cos(_CIRCLE), np.sin(_CIRCLE), look, "magnitude of the field")


# Displayed unit of each sensor, and the conversion factor from this unit to SI units.
SHOWN_UNITS = {
    "gyroscope": ("deg/s", np.pi / 180.0),
    "accelerometer": ("m/s^2", 1.0),
    "magnetometer": ("uT", 1e-6),
}


def describe_findings(result) -> list[str]:
    """Describe a calibration's stationary periods, turns and methods, followed by its remarks.

    Parameters
    ----------
    result : Calibrated
        Result of the calibration.

    Returns
    -------
    list of str
        Sentences.
    """
    sentences = []
    if result.table is not None:
        times = result.table.index.to_numpy() - result.table.index[0]
        spans = [(times[rest.start], times[rest.stop - 1]) for rest in result.rests]
        total = sum(stop - start for start, stop in spans)
        listing = ", ".join(f"{start:.0f} to {stop:.0f}" for start, stop in spans[:20])
        more = f" and {len(spans) - 20} more" if len(spans) > 20 else ""
        sentences.append(
            f"at rest for {format_duration(total)} in {len(spans)} periods [s]: {listing}{more}; "
            "in these periods, the scatter is close to that of the quietest tenth of the "
            "recording, successive half-second blocks agree within noise, and the sensor does not "
            "turn"
        )
        for turn in result.turns:
            axis = int(np.abs(turn.angle).argmax())
            sentences.append(
                f"turn from {times[turn.start]:.0f} to {times[turn.stop - 1]:.0f} s: "
                f"{np.degrees(turn.angle[axis]):.1f} deg about {AXES[axis]}"
            )
    methods = (f"{sensor}: {triad.method}" for sensor, triad in result.sensors.items())
    return [*sentences, *methods, *result.remarks]


def list_estimates(result):
    """List all error estimates of a calibration.

    Parameters
    ----------
    result : Calibrated
        Result of the calibration.

    Returns
    -------
    list of tuple
        Sensor, quantity, unit, estimate, and factor from the unit to SI units.
    """
    estimates = []
    for sensor, triad in result.sensors.items():
        unit, size = SHOWN_UNITS[sensor]
        for axis, estimate in zip(AXES, triad.bias):
            estimates.append((sensor, f"bias {axis}", unit, estimate, size))
        for first, row in zip(AXES, triad.matrix):
            for second, estimate in zip(AXES, row):
                if estimate is None or estimate.low == estimate.high:
                    continue
                name = f"scale factor {first}" if first == second else f"cross {first}{second}"
                estimates.append((sensor, name, "%", estimate, 0.01))
        for power, row in enumerate(triad.temperature_bias, 1):
            slope = f"{unit}/K" + (f"^{power}" if power > 1 else "")
            for axis, estimate in zip(AXES, row):
                estimates.append((sensor, f"bias {axis} by temperature", slope, estimate, size))
        for power, row in enumerate(triad.temperature_scale, 1):
            slope = "%/K" + (f"^{power}" if power > 1 else "")
            for axis, estimate in zip(AXES, row):
                if estimate.low != estimate.high:
                    quantity = f"scale {axis} by temperature"
                    estimates.append((sensor, quantity, slope, estimate, 0.01))
    return estimates


def format_estimates(result) -> str:
    """Format a table of all estimated errors with their 95 % intervals.

    Parameters
    ----------
    result : Calibrated
        Result of the calibration.

    Returns
    -------
    str
    """
    lines = [f"{'':40s}{'estimate':>12s}   {'95 % interval':24s}"]
    for sensor, name, unit, estimate, size in list_estimates(result):
        # The width of the confidence interval determines the number of digits.
        half_width = 0.5 * (estimate.high - estimate.low) / size
        digits = int(np.clip(1 - np.floor(np.log10(half_width)), 0, 9)) if half_width > 0.0 else 6
        value, low, high = (
            f"{number / size:.{digits}f}"
            for number in (estimate.value, estimate.low, estimate.high)
        )
        lines.append(f"{sensor} {name:26s}".ljust(40) + f"{value:>12s}   {low} to {high} {unit}")
    return "\n".join(lines)


_MAX_SCATTER_RATIO = 3.0  # ratio of scatter to specified noise that causes a remark


def noise_remarks(
    sensor: str,
    noise: Sequence[SlowNoise],
    times: np.ndarray,
    readings: np.ndarray,
    rests: Sequence[RestTime],
) -> list[str]:
    """Return a remark if readings at rest scatter far more than the specified noise.

    A smaller scatter is normal, because sensors have low-pass filters.

    Parameters
    ----------
    sensor : str
        Name of the sensor in the remark.
    noise : sequence of SlowNoise
        Specified noise of each axis.
    times : ndarray, shape (n,)
        Time of each sample [s].
    readings : ndarray, shape (n, 3)
        Samples of the sensor.
    rests : sequence of RestTime
        Stationary periods.

    Returns
    -------
    list of str
        At most one remark.
    """
    period = float(np.median(np.diff(times)))
    steps = np.concatenate([np.diff(readings[r.start : r.stop], axis=0) for r in rests])
    scatter = np.sqrt(np.mean(steps**2, axis=0) / 2.0)
    stated_std = np.array([axis.white_noise for axis in noise]) / np.sqrt(period)
    if (
        not len(steps)
        or np.any(stated_std <= 0.0)
        or np.max(scatter / stated_std) < _MAX_SCATTER_RATIO
    ):
        return []
    return [
        f"{sensor}: readings at rest scatter {np.max(scatter / stated_std):.2g} times as much "
        "as the specified noise; if the specification belongs to another sensor, the intervals "
        "are too narrow by this factor"
    ]


def constant_remarks(sensor: str, readings: np.ndarray, rests: Sequence[RestTime]) -> list[str]:
    """Return a remark if an axis is constant within each stationary period.

    Parameters
    ----------
    sensor : str
        Name of the sensor in the remark.
    readings : ndarray, shape (n, 3)
        Samples of the sensor.
    rests : sequence of RestTime
        Stationary periods.

    Returns
    -------
    list of str
        At most one remark.
    """
    is_constant = np.ones(3, dtype=bool)
    for rest in rests:
        is_constant &= np.ptp(readings[rest.start : rest.stop], axis=0) == 0.0
    axes = [name for name, constant in zip(AXES, is_constant) if constant]
    if not rests or not axes:
        return []
    return [
        f"{sensor}: readings of {', '.join(axes)} are constant at rest, because the axis is "
        "missing or its resolution is coarser than its noise; its intervals are meaningless"
    ]
