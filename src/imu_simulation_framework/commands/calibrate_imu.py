"""Calibrate an IMU from static orientations, complete turns or temperature changes.

The command line is defined in :mod:`.parsers.calibrate_imu`.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from ..characterisation.calibration import files, inertial, rest_times, sphere_fit
from ..core.checks import AXES
from ..core.errors import ConfigurationError, RecordingError
from ..core.sentences import quote
from ..core.tables import ACCEL, GYRO, MAG
from ..recordings.columns import find_column_maps
from ..recordings.file_access import has_columns
from ..recordings.frames import ImuConventions
from ..recordings.imu import MOUNTED_TURNED
from ..recordings.reading import read_imu, read_other_sensor, read_reference
from ..sensors.correction import read_imu_correction
from ..sensors.files import read_imu_specification
from .command_line import (
    columns_by_name,
    named_column,
)


@dataclass
class Calibrated:
    """Sensor calibrations of an IMU, and the data on which they are based.

    Parameters
    ----------
    options : Namespace
        Options of the command line, in SI units.
    table : DataFrame, optional
        Samples of the IMU.
    rests, turns : list
        Stationary periods and turns that were used.
    sensors : dict
        Calibration of each sensor.
    sphere : SphereFit, optional
        Fit of the magnetometer samples.
    magnetic : DataFrame, optional
        Samples of the magnetometer.
    temperature : ndarray, optional
        Temperature of each sample of the IMU [degC].
    reference : float
        Reference temperature, at which the temperature polynomials are zero [degC].
    remarks : list of str
        Remarks for the user.
    """

    options: argparse.Namespace
    table: pd.DataFrame | None = None
    rests: list[rest_times.RestTime] = field(default_factory=list)
    turns: list[rest_times.Turn] = field(default_factory=list)
    sensors: dict[str, inertial.TriadCalibration] = field(default_factory=dict)
    sphere: sphere_fit.SphereFit | None = None
    magnetic: pd.DataFrame | None = None
    temperature: np.ndarray | None = None
    reference: float = 25.0
    remarks: list[str] = field(default_factory=list)


def _magnetic(options, result):
    source = options.recording
    recorded = read_other_sensor(
        source, "magnetometer", options.magnetic_topic, _columns(options, MAG), rate=options.rate
    )
    result.remarks += recorded.report.sentences()[1:]
    result.magnetic = recorded.table
    times, readings = result.magnetic.index.to_numpy(), result.magnetic[list(MAG)].to_numpy()
    parts = rest_times.find_turning_times(times, readings)
    left_out = len(times) - sum(part.stop - part.start for part in parts)
    if left_out:
        result.remarks.append(
            f"{left_out} of {len(times)} magnetometer samples are ignored, since they are from "
            "periods of more than 2 s without turns; only turns reveal hard and soft iron"
        )
    magnetometer = options.noise and options.noise.magnetometer
    noise = inertial.to_slow_noise(magnetometer) if magnetometer else ()
    noise = noise if any(axis.white_noise for axis in noise) else None
    result.sphere = sphere_fit.fit_sphere(
        times, readings, options.field, noise=noise, source=source, parts=parts
    )
    result.sensors["magnetometer"] = result.sphere.calibration
    result.remarks += sphere_fit.field_remarks(result.sphere, options.field, source)


def _inertial(options, result):
    source = options.recording
    columns = _columns(options, (*GYRO, *ACCEL))
    recorded = read_imu(
        source,
        options.topic,
        columns=columns or columns_by_name(source, options.rate, result.remarks, options.layout),
        conventions=ImuConventions(gyro_unit=options.gyro_unit, accel_unit=options.accel_unit),
        rate=options.rate,
        require=(),
    )
    result.table = table = recorded.table
    result.remarks += [r for r in recorded.report.remarks if MOUNTED_TURNED not in r]
    names = [name for name in (*GYRO, *ACCEL) if name in table]
    times = table.index.to_numpy()
    gyro, accel = (
        table[list(axes)].to_numpy() if set(axes) <= set(names) else None for axes in (GYRO, ACCEL)
    )
    result.rests = rest_times.find_rest(
        times, table[names].to_numpy(), names, source, options.shortest_rest
    )
    stated_noise = {
        sensor: inertial.to_slow_noise(getattr(options.noise, sensor)) if options.noise else None
        for sensor in ("gyroscope", "accelerometer")
    }
    temperature = _temperature(options, result, times)
    common = {"temperature": temperature, "source": source, "placement": options.placement}
    if gyro is not None:
        if options.uses_turns:
            result.turns = _turns(options, times, gyro, result.rests)
        result.sensors["gyroscope"] = inertial.calibrate_gyroscope(
            times, gyro, result.rests, result.turns, noise=stated_noise["gyroscope"], **common
        )
    elif options.uses_turns or not (options.six_positions or options.free_positions):
        raise RecordingError(
            f"{source}: {', '.join(GYRO)} are missing, expected a gyroscope with three axes"
        )
    if options.six_positions or options.free_positions:
        if accel is None:
            raise RecordingError(
                f"{source}: {', '.join(ACCEL)} are missing, expected an accelerometer with three "
                "axes"
            )
        calibrated = inertial.calibrate_accelerometer
        if options.free_positions:
            if not options.noise:
                raise RecordingError(
                    f"{source}: --free-positions requires the noise of the accelerometer; state a "
                    "specification with --noise"
                )
            calibrated, common = sphere_fit.calibrate_accelerometer_by_magnitude, {"source": source}
        common.update(gravity=options.gravity, noise=stated_noise["accelerometer"])
        result.sensors["accelerometer"] = calibrated(times, accel, result.rests, **common)
    for sensor, values in (("gyroscope", gyro), ("accelerometer", accel)):
        if sensor in result.sensors:
            result.remarks += files.constant_remarks(sensor, values, result.rests)
            if options.noise:
                result.remarks += files.noise_remarks(
                    sensor, stated_noise[sensor], times, values, result.rests
                )
    if not options.noise:
        result.remarks.append(
            "the noise is estimated from this recording, which is too short for slow noise; state "
            "the noise from an Allan analysis with --noise to get narrower intervals"
        )


def _turns(options, times, gyro, rests):
    if options.reference and options.turns is None:
        reference = read_reference(options.reference, options.reference_topic).table
        yaws = reference.index.to_numpy(), reference["yaw"].to_numpy(), options.reference_sigma
        return rest_times.find_reference_turns(times, gyro, rests, *yaws, options.recording)
    return rest_times.find_whole_turns(times, gyro, rests, options.turns, options.recording)


def _temperature(options, result, times) -> inertial.TemperatureFit | None:
    if options.temperature is None:
        return None
    path, columns, rate = options.temperature or options.recording, None, None
    if path == options.recording:
        columns, rate = _columns(options, ("temperature",)), options.rate
    recorded = read_other_sensor(path, "thermometer", options.temperature_topic, columns, rate=rate)
    result.remarks += recorded.report.sentences()[1:]
    read = recorded.table
    if read.index[-1] < times[0] or read.index[0] > times[-1]:
        raise RecordingError(
            f"{path}: the temperatures end before the IMU samples or begin after them, "
            "expected overlapping times"
        )
    values = np.interp(times, read.index.to_numpy(), read["temperature"].to_numpy())
    stationary_samples = np.concatenate([values[rest.start : rest.stop] for rest in result.rests])
    result.temperature = values
    result.reference = float(np.round(stationary_samples.mean()))
    degrees = options.temperature_degree, options.temperature_scale_degree
    return inertial.TemperatureFit(values, result.reference, *degrees)


def _columns(options, names):
    """Return the columns that the user chose for given quantities; None if none were chosen."""
    if not has_columns(options.recording):
        return dict(options.columns) or None
    column_map = {key: options.columns[key] for key in ("time", *names) if key in options.columns}
    if not any(key in column_map for key in names):
        return None
    if "time" not in column_map and options.rate is None:
        maps = find_column_maps(options.recording)
        plain = "time" if "time" in maps.unused else ""
        time = maps.imu.get("time") or maps.reference.get("time") or plain
        column_map.update({"time": time} if time else {})
    return column_map


def run(options):
    """Calibrate an IMU from the recording specified on the command line.

    Parameters
    ----------
    options : argparse.Namespace
        Options of the command line.
    """
    _convert_options(options)
    onto = read_imu_correction(options.onto) if options.onto else None
    result = Calibrated(options)
    others = (options.six_positions, options.free_positions, options.uses_turns)
    if any(others) or options.temperature is not None or not options.magnetometer:
        _inertial(options, result)
    if options.magnetometer:
        _magnetic(options, result)
    remarks = files.write_calibration(result, options.out, options.name, onto)
    print(
        *files.describe_findings(result),
        files.format_estimates(result),
        *remarks,
        options.out,
        sep="\n",
    )


def _convert_options(options) -> None:
    """Parse command-line values in place and convert numbers to SI units."""
    options.columns = dict(named_column(text) for text in options.column)
    options.uses_turns = options.turns is not None or bool(options.reference)
    options.turns = _parse_turns(options.turns)
    options.reference_sigma = np.radians(options.reference_sigma)
    options.placement = np.radians(options.placement)
    options.field = None if options.field is None else 1e-6 * options.field
    options.noise = read_imu_specification(options.noise) if options.noise else None


def _parse_turns(text):
    """Return the number of turns, or a dictionary of numbers by axis; None for an empty text."""
    if not text:
        return None
    try:
        if "=" not in text:
            return float(text)
        pairs = [pair.split("=") for pair in text.split(",")]
        counts = {axis.strip(): float(count) for axis, count in pairs}
    except ValueError:
        raise ConfigurationError(
            f"--turns is {quote(text)}, expected one number or a number for each axis, such as "
            "10 or x=5,z=10"
        ) from None
    if not set(counts) <= set(AXES):
        raise ConfigurationError(f"--turns is {quote(text)}, expected the axes x, y and z")
    return counts
