"""What a calibration found, in sentences, and what it leaves behind.

That is a correction, a specification of what is left, numbers and a figure.
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
from .inertial import correction_of
from .rest_times import RestTime


def write_calibration(result, folder, name, onto=None) -> list[str]:
    """Write all files of a Calibrated; contents are made before the first is written.

    ``onto`` is the correction of which stays what is not found anew. Returns remarks. Raises
    ConfigurationError: the name cannot be a sensor's, or a matrix that was found cannot be
    inverted. Raises ResultError: a file cannot be written, or is an input.
    """
    span = (-273.15, 1000.0)
    if result.temperature is not None and result.rests:
        used = np.concatenate([result.temperature[r.start : r.stop] for r in result.rests])
        span = (float(np.min(used)), float(np.max(used)))
    parts = {
        sensor: correction_of(found, result.reference, span)
        for sensor, found in result.sensors.items()
    }
    correction = replace(onto or ImuCorrection(), name=name, **parts)
    comment = (
        f"made by calibrate_imu.py, imu_simulation_framework {__version__}, of "
        f"{Path(result.wishes.recording).name}"
    )
    contents = {"correction.yaml": imu_correction_text(correction, comment).encode("utf-8")}
    remarks = []
    if result.table is not None or result.wishes.noise is not None:
        left = specify_residual_errors(correction, _noise(result), name)
        contents["imu.yaml"] = imu_specification_text(
            left, f"What is left after the correction; {comment}."
        ).encode("utf-8")
    else:
        remarks.append(
            "only the magnetometer was looked at, and the noise of the others is not known: "
            "imu.yaml is not written"
        )
    contents["calibration.json"] = format_json(_numbers(result)).encode("utf-8")
    contents["calibration.png"] = whole_files.render_figure(to_matplotlib(_figure(result)))
    folder = whole_files.make_folder(folder)
    inputs = [one for one in (result.wishes.recording, result.wishes.reference) if one]
    for file in contents:
        whole_files.refuse_overwriting(folder / file, inputs)
    for file, content in contents.items():
        whole_files.write_whole(folder / file, content)
    return remarks


def _noise(result) -> imu_specification.ImuSpecification:
    given = result.wishes.noise
    triads: dict[str, Any] = {}
    for sensor, found in result.sensors.items():
        kind: Any = imu_specification.TriadSpecification
        if sensor == "magnetometer":
            kind = imu_specification.MagnetometerSpecification
        terms = ("white_noise", "bias_instability", "random_walk")
        triads[sensor] = kind(**{t: tuple(getattr(one, t) for one in found.noise) for t in terms})
    if given is not None:
        known = given.magnetometer is not None or "magnetometer" not in triads
        return given if known else replace(given, magnetometer=triads["magnetometer"])
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
        "recording": str(result.wishes.recording),
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
                **{of: getattr(estimate, of) / size for of in ("value", "low", "high")},
            }
            for sensor, quantity, unit, estimate, size in rows(result)
        ],
        "remarks": result.remarks,
        "version": __version__,
    }


_CIRCLE = np.linspace(0.0, 2.0 * np.pi, 200)


def _figure(result) -> Figure:
    """Return readings with the times used, bias over temperature, and the magnetometer's sphere."""
    figure = Figure()
    if result.table is not None:
        if set(GYRO) <= set(result.table):
            _over_time(figure, result, GYRO, np.degrees(1.0), "angular velocity [deg/s]")
        if set(ACCEL) <= set(result.table):
            _over_time(figure, result, ACCEL, 1.0, "specific force [m/s^2]")
        if result.temperature is not None and "gyroscope" in result.sensors:
            _over_temperature(figure, result)
    if result.sphere is not None:
        _sphere(figure, result)
    return figure


def _over_time(figure, result, names, size, text):
    times = result.table.index.to_numpy() - result.table.index[0]
    figure.panel(text, x="time [s]", height=280)
    for used, colour, opacity, name in (
        (result.rests, colours.REFERENCE, 0.35, "at rest, used"),
        (result.turns, colours.TRUTH, 0.5, "turn, used"),
    ):
        for one in used:
            figure.span(times[one.start], times[one.stop - 1], colour, opacity, name)
    for axis, name, look in zip(AXES, names, style.line_styles(3)):
        figure.line(times, size * result.table[name].to_numpy(), look, axis)


def _over_temperature(figure, result):
    """Bias of the gyroscope in parts of the times at rest, and the polynomials through them."""
    gyro = np.degrees(result.table[list(GYRO)].to_numpy())
    found = result.sensors["gyroscope"]
    means, temperatures = [], []
    total = sum(rest.stop - rest.start for rest in result.rests)
    for rest in result.rests:
        count = max(1, 120 * (rest.stop - rest.start) // total)
        edges = np.linspace(rest.start, rest.stop, count + 1).round().astype(int)
        for first, last in zip(edges[:-1], edges[1:]):
            means.append(gyro[first:last].mean(axis=0))
            temperatures.append(result.temperature[first:last].mean())
    drawn = np.linspace(min(temperatures), max(temperatures), 100)
    powers = [(drawn - result.reference) ** k for k in range(1, 1 + len(found.temperature_bias))]
    figure.panel("gyroscope at rest [deg/s]", x="temperature [degC]", height=280)
    for place, (axis, look) in enumerate(zip(AXES, style.line_styles(3))):
        figure.points(temperatures, np.array(means)[:, place], look["color"])
        curve = found.bias[place].value + sum(
            row[place].value * power for row, power in zip(found.temperature_bias, powers)
        )
        figure.line(drawn, np.degrees(curve), look, f"{axis}, fitted")


def _sphere(figure, result):
    """Draw readings before and after the correction in two planes, over the size of the field."""
    size, found = result.sphere.size, result.sphere.calibration
    raw = result.magnetic.to_numpy() / size
    bias = np.array([one.value for one in found.bias]) / size
    matrix = np.eye(3) + np.array([[one.value for one in row] for row in found.matrix])
    corrected = np.linalg.solve(matrix, (raw - bias).T).T
    figure.panel("reading / field", x="x and y (left), x and z (right, moved by 4)", equal=True)
    for shift, second in ((0.0, 1), (4.0, 2)):
        for values, colour, name in (
            (raw, colours.SIMULATED, "as recorded"),
            (corrected, colours.REAL, "corrected"),
        ):
            figure.points(values[:, 0] + shift, values[:, second], colour, name, size=2)
        look = {"color": colours.SENSOR, "linewidth": 0.8}
        figure.path(shift + np.cos(_CIRCLE), np.sin(_CIRCLE), look, "the field's size")


# Sensor -> unit for a person, its size in SI.
SHOWN_UNITS = {
    "gyroscope": ("deg/s", np.pi / 180.0),
    "accelerometer": ("m/s^2", 1.0),
    "magnetometer": ("uT", 1e-6),
}


def findings(result) -> list[str]:
    """Return which times were used, and remarks, a sentence each."""
    sentences = []
    if result.table is not None:
        times = result.table.index.to_numpy() - result.table.index[0]
        spans = [(times[rest.start], times[rest.stop - 1]) for rest in result.rests]
        total = sum(stop - start for start, stop in spans)
        listing = ", ".join(f"{start:.0f} to {stop:.0f}" for start, stop in spans[:20])
        more = f" and {len(spans) - 20} more" if len(spans) > 20 else ""
        sentences.append(
            f"at rest for {format_duration(total)} in {len(spans)} times [s]: {listing}{more}; "
            "there the scatter is that of the quietest tenth, neighbouring half seconds agree "
            "within noise, and it does not turn"
        )
        for turn in result.turns:
            axis = int(np.abs(turn.angle).argmax())
            sentences.append(
                f"turn from {times[turn.start]:.0f} to {times[turn.stop - 1]:.0f} s: "
                f"{np.degrees(turn.angle[axis]):.1f} deg about {AXES[axis]}"
            )
    methods = (f"{sensor}: {found.method}" for sensor, found in result.sensors.items())
    return [*sentences, *methods, *result.remarks]


def rows(result):
    """Return (sensor, quantity, unit, estimate, size of the unit) for all that was found."""
    found = []
    for sensor, one in result.sensors.items():
        unit, size = SHOWN_UNITS[sensor]
        for axis, estimate in zip(AXES, one.bias):
            found.append((sensor, f"bias {axis}", unit, estimate, size))
        for first, row in zip(AXES, one.matrix):
            for second, estimate in zip(AXES, row):
                if estimate is None or estimate.low == estimate.high:
                    continue
                name = f"scale factor {first}" if first == second else f"cross {first}{second}"
                found.append((sensor, name, "%", estimate, 0.01))
        for power, row in enumerate(one.temperature_bias, 1):
            by = f"{unit}/K" + (f"^{power}" if power > 1 else "")
            for axis, estimate in zip(AXES, row):
                found.append((sensor, f"bias {axis} by temperature", by, estimate, size))
        for power, row in enumerate(one.temperature_scale, 1):
            by = "%/K" + (f"^{power}" if power > 1 else "")
            for axis, estimate in zip(AXES, row):
                if estimate.low != estimate.high:
                    found.append((sensor, f"scale {axis} by temperature", by, estimate, 0.01))
    return found


def table_text(result) -> str:
    """Return all that was found with its 95 % interval."""
    lines = [f"{'':40s}{'found':>12s}   {'95 % interval':24s}"]
    for sensor, name, unit, estimate, size in rows(result):
        # As many digits as the interval has to say.
        half = 0.5 * (estimate.high - estimate.low) / size
        digits = int(np.clip(1 - np.floor(np.log10(half)), 0, 9)) if half > 0.0 else 6
        value, low, high = (
            f"{number / size:.{digits}f}"
            for number in (estimate.value, estimate.low, estimate.high)
        )
        lines.append(f"{sensor} {name:26s}".ljust(40) + f"{value:>12s}   {low} to {high} {unit}")
    return "\n".join(lines)


_MUCH = 3.0


def noise_remarks(
    sensor: str,
    noise: Sequence[SlowNoise],
    times: np.ndarray,
    readings: np.ndarray,
    rests: Sequence[RestTime],
) -> list[str]:
    """Return a remark where readings at rest scatter far more than the noise that is stated.

    Less is usual: sensors filter. ``sensor`` begins the sentence; ``noise`` of 3 axes is as stated;
    ``times`` (n,) [s]; ``readings`` (n, 3).
    """
    period = float(np.median(np.diff(times)))
    steps = np.concatenate([np.diff(readings[r.start : r.stop], axis=0) for r in rests])
    scatter = np.sqrt(np.mean(steps**2, axis=0) / 2.0)
    stated = np.array([one.white_noise for one in noise]) / np.sqrt(period)
    if not len(steps) or np.any(stated <= 0.0) or np.max(scatter / stated) < _MUCH:
        return []
    return [
        f"{sensor}: readings at rest scatter {np.max(scatter / stated):.2g} times as much as the "
        "stated noise does; if it is another sensor's, the intervals are too narrow by as much"
    ]


def constant_remarks(sensor: str, readings: np.ndarray, rests: Sequence[RestTime]) -> list[str]:
    """Return a remark where an axis says the same throughout each time at rest."""
    same = np.ones(3, dtype=bool)
    for rest in rests:
        same &= np.ptp(readings[rest.start : rest.stop], axis=0) == 0.0
    axes = [name for name, constant in zip(AXES, same) if constant]
    if not rests or not axes:
        return []
    return [
        f"{sensor}: readings of {', '.join(axes)} do not change at all at rest, of an axis that is "
        "not there or whose steps are larger than its noise: their intervals mean nothing"
    ]
