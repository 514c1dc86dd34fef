"""Calibrate an IMU from a recording of it at rest, placed, turned, or in a climate chamber.

Without options the gyroscope's bias is found at the times at rest. Several calibrations may be in
one recording. Writes to DIR:

    correction.yaml    the correction, for the node imu_corrector
    imu.yaml           the specification of what is left, for heading_budget.py and monte_carlo.py
    calibration.json   all numbers with their 95 % intervals, and the times that were used
    calibration.png    what was recorded, and what was found in it

    calibrate_imu.py table.bag --six-positions --turns 10 --noise my_imu/imu.yaml --out my_imu

The fits are those of scipy (linear algebra, optimize.least_squares).
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from ..characterisation.calibration import files, inertial, rest_times, sphere_fit
from ..core.checks import AXES
from ..core.errors import ConfigurationError, RecordingError
from ..core.programs import ArgumentParser
from ..core.sentences import quote
from ..core.tables import ACCEL, GYRO, MAG
from ..core.units import STANDARD_GRAVITY
from ..recordings.columns import guess_columns
from ..recordings.file_access import has_columns
from ..recordings.frames import ImuConventions
from ..recordings.imu import MOUNTED_TURNED
from ..recordings.reading import read_imu, read_other_sensor, read_reference
from ..sensors.correction import read_imu_correction
from ..sensors.files import read_imu_specification
from .command_line import (
    above_zero,
    add_layout_option,
    add_unit_options,
    guessed_columns,
    named_column,
    not_negative,
)

_EARTHS_FIELD = (15e-6, 100e-6)
"""Sizes [T] that may be Earth's, with scale factors that are wrong by a third."""

_MUCH_SCATTER = 0.05
_MUCH = (
    ": much, so that a heading is off by degrees; perhaps iron or a magnet was near that "
    "did not move with the sensor"
)


@dataclass
class Calibrated:
    """What was found: ``rests`` and ``turns`` that were used, and calibrations of ``sensors``.

    ``wishes``: the command line's, in SI; ``table``: the IMU's samples; ``temperature`` of each of
    them [degC]; ``reference``: where the temperature's polynomials are 0 [degC].
    """

    wishes: argparse.Namespace
    table: pd.DataFrame | None = None
    rests: list[rest_times.RestTime] = field(default_factory=list)
    turns: list[rest_times.Turn] = field(default_factory=list)
    sensors: dict[str, inertial.TriadCalibration] = field(default_factory=dict)
    sphere: sphere_fit.SphereFit | None = None
    magnetic: pd.DataFrame | None = None
    temperature: np.ndarray | None = None
    reference: float = 25.0
    remarks: list[str] = field(default_factory=list)


def _magnetic(wishes, found):
    source = wishes.recording
    recorded = read_other_sensor(
        source, "magnetometer", wishes.magnetic_topic, _columns(wishes, MAG), rate=wishes.rate
    )
    found.remarks += recorded.report.sentences()[1:]
    found.magnetic = recorded.table
    times, readings = found.magnetic.index.to_numpy(), found.magnetic[list(MAG)].to_numpy()
    parts = rest_times.find_turning_times(times, readings)
    left_out = len(times) - sum(part.stop - part.start for part in parts)
    if left_out:
        found.remarks.append(
            f"of {len(times)} samples of the magnetometer {left_out} are left out, "
            "where it lay for more than 2 s as it had before: only turning shows iron"
        )
    magnetometer = wishes.noise and wishes.noise.magnetometer
    noise = inertial.to_slow_noise(magnetometer) if magnetometer else ()
    noise = noise if any(one.white_noise for one in noise) else None
    found.sphere = sphere_fit.fit_sphere(
        times, readings, wishes.field, noise=noise, source=source, parts=parts
    )
    found.sensors["magnetometer"] = found.sphere.calibration
    found.remarks += _field_remarks(wishes, found.sphere)


def _field_remarks(wishes, sphere) -> list[str]:
    """Return what size and scatter of the field say; a size in another unit is refused."""
    scale = 1.0 + np.mean([sphere.calibration.matrix[axis][axis].value for axis in range(3)])
    if wishes.field is not None and abs(np.log2(scale)) > 1.0:
        raise RecordingError(
            f"{wishes.recording}: the magnetometer's readings are {scale:.3g} times as large as "
            f"the field that is stated, {1e6 * wishes.field:.4g} uT; is one of them in another "
            "unit?"
        )
    share = sphere.scatter / sphere.size
    much = _MUCH if share > _MUCH_SCATTER else ""
    field = f"the corrected field is {1e6 * sphere.size:.4g} uT"
    remarks = [f"{field} and scatters by {100.0 * share:.2g} %{much}"]
    if not _EARTHS_FIELD[0] < sphere.size < _EARTHS_FIELD[1]:
        remarks.append(
            f"the field's size of {sphere.size:.3g} T is not Earth's, which is 22 to 67 uT: the "
            "readings may be in another unit than tesla, and then the correction is, too; it fits "
            "them, but not the same sensor's readings in tesla"
        )
    if wishes.field is None:
        remarks.append(
            "the size of the magnetic field is not known: the mean of the magnetometer's "
            "scale factors is taken as right, which a heading does not depend on"
        )
    return remarks


def _inertial(wishes, found):
    source = wishes.recording
    columns = _columns(wishes, (*GYRO, *ACCEL))
    recorded = read_imu(
        source,
        wishes.topic,
        columns=columns or guessed_columns(source, wishes.rate, found.remarks, wishes.layout),
        conventions=ImuConventions(gyro_unit=wishes.gyro_unit, accel_unit=wishes.accel_unit),
        rate=wishes.rate,
        require=(),
    )
    found.table = table = recorded.table
    found.remarks += [r for r in recorded.report.remarks if MOUNTED_TURNED not in r]
    names = [name for name in (*GYRO, *ACCEL) if name in table]
    times = table.index.to_numpy()
    gyro, accel = (
        table[list(axes)].to_numpy() if set(axes) <= set(names) else None for axes in (GYRO, ACCEL)
    )
    found.rests = rest_times.find_rest(
        times, table[names].to_numpy(), names, source, wishes.shortest_rest
    )
    stated = {
        sensor: inertial.to_slow_noise(getattr(wishes.noise, sensor)) if wishes.noise else None
        for sensor in ("gyroscope", "accelerometer")
    }
    temperature = _temperature(wishes, found, times)
    common = {"temperature": temperature, "source": source, "placement": wishes.placement}
    if gyro is not None:
        if wishes.wants_turns:
            found.turns = _turns(wishes, times, gyro, found.rests)
        found.sensors["gyroscope"] = inertial.calibrate_gyroscope(
            times, gyro, found.rests, found.turns, noise=stated["gyroscope"], **common
        )
    elif wishes.wants_turns or not (wishes.six_positions or wishes.free_positions):
        raise RecordingError(f"{source}: has no {', '.join(GYRO)}, a gyroscope with three axes")
    if wishes.six_positions or wishes.free_positions:
        if accel is None:
            raise RecordingError(
                f"{source}: has no {', '.join(ACCEL)}, an accelerometer with three axes"
            )
        calibrated = inertial.calibrate_accelerometer
        if wishes.free_positions:
            if not wishes.noise:
                raise RecordingError(
                    f"{source}: positions of any kind take the noise of the accelerometer, "
                    "expected a specification that has it"
                )
            calibrated, common = sphere_fit.calibrate_accelerometer_by_magnitude, {"source": source}
        common.update(gravity=wishes.gravity, noise=stated["accelerometer"])
        found.sensors["accelerometer"] = calibrated(times, accel, found.rests, **common)
    for sensor, values in (("gyroscope", gyro), ("accelerometer", accel)):
        if sensor in found.sensors:
            found.remarks += files.constant_remarks(sensor, values, found.rests)
            if wishes.noise:
                found.remarks += files.noise_remarks(
                    sensor, stated[sensor], times, values, found.rests
                )
    if not wishes.noise:
        found.remarks.append(
            "noise is found in this recording, which knows little of its slow part: the intervals "
            "are wider than with the noise of an Allan analysis"
        )


def _turns(wishes, times, gyro, rests):
    if wishes.reference and wishes.turns is None:
        reference = read_reference(wishes.reference, wishes.reference_topic).table
        seen = reference.index.to_numpy(), reference["yaw"].to_numpy(), wishes.reference_sigma
        return rest_times.find_reference_turns(times, gyro, rests, *seen, wishes.recording)
    return rest_times.find_whole_turns(times, gyro, rests, wishes.turns, wishes.recording)


def _temperature(wishes, found, times) -> inertial.TemperatureFit | None:
    if wishes.temperature is None:
        return None
    path, columns, rate = wishes.temperature or wishes.recording, None, None
    if path == wishes.recording:
        columns, rate = _columns(wishes, ("temperature",)), wishes.rate
    recorded = read_other_sensor(path, "thermometer", wishes.temperature_topic, columns, rate=rate)
    found.remarks += recorded.report.sentences()[1:]
    read = recorded.table
    if read.index[-1] < times[0] or read.index[0] > times[-1]:
        raise RecordingError(f"{path}: the temperature is of another time than the IMU")
    values = np.interp(times, read.index.to_numpy(), read["temperature"].to_numpy())
    still = np.concatenate([values[rest.start : rest.stop] for rest in found.rests])
    found.temperature = values
    found.reference = float(np.round(still.mean()))
    degrees = wishes.temperature_degree, wishes.temperature_scale_degree
    return inertial.TemperatureFit(values, found.reference, *degrees)


def _columns(wishes, names):
    """Return the columns of some quantities, as they were named; None for a bag."""
    if not has_columns(wishes.recording):
        return dict(wishes.columns) or None
    chosen = {key: wishes.columns[key] for key in ("time", *names) if key in wishes.columns}
    if not any(key in chosen for key in names):
        return None
    if "time" not in chosen and wishes.rate is None:
        guess = guess_columns(wishes.recording)
        plain = "time" if "time" in guess.unused else ""
        time = guess.imu.get("time") or guess.reference.get("time") or plain
        chosen.update({"time": time} if time else {})
    return chosen


def main(arguments):
    """Calibrate from the recording named on the command line."""
    options = _parser().parse_args(arguments)
    _understand(options)
    onto = read_imu_correction(options.onto) if options.onto else None
    result = Calibrated(options)
    others = (options.six_positions, options.free_positions, options.wants_turns)
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


def _understand(options) -> None:
    """Replace words of the command line by what they mean, in SI units."""
    options.columns = dict(named_column(text) for text in options.column)
    options.wants_turns = options.turns is not None or bool(options.reference)
    options.turns = _turns_wanted(options.turns)
    options.reference_sigma = np.radians(options.reference_sigma)
    options.placement = np.radians(options.placement)
    options.field = None if options.field is None else 1e-6 * options.field
    options.noise = read_imu_specification(options.noise) if options.noise else None


def _turns_wanted(text):
    """Return None, a number, or a number for each axis."""
    if not text:
        return None
    try:
        if "=" not in text:
            return float(text)
        pairs = [pair.split("=") for pair in text.split(",")]
        found = {axis.strip(): float(count) for axis, count in pairs}
    except ValueError:
        raise ConfigurationError(
            f"--turns {quote(text)} is not understood, expected for instance 10 or x=5,z=10"
        ) from None
    if not set(found) <= set(AXES):
        raise ConfigurationError(f"--turns {quote(text)}: axes are x, y and z")
    return found


def _parser():
    parser = ArgumentParser(__doc__)
    add = parser.add_argument
    # fmt: off
    add("recording", metavar="RECORDING", help="bag or CSV file")
    add("--topic", default="", help="of the IMU in a bag; by default the only sensor_msgs/Imu")
    add("--column", action="append", default=[], metavar="QUANTITY=NAME[UNIT]",
        help="column of a CSV file with names of its own, once for each: time, gyro_x to accel_z, "
             "mag_x to mag_z, temperature; those of gyroscope and accelerometer are guessed where "
             "nobody says them")
    add_layout_option(add)
    add("--rate", type=above_zero, metavar="HZ",
        help="samples per second, for recordings without time stamps or with useless ones")
    add_unit_options(parser)
    positions = parser.add_mutually_exclusive_group()
    positions.add_argument("--six-positions", action="store_true",
        help="accelerometer, from times at rest with each axis up and down")
    positions.add_argument("--free-positions", action="store_true",
        help="accelerometer, from times at rest in nine or more positions of any kind, all around; "
             "takes --noise")
    add("--gravity", type=above_zero, default=STANDARD_GRAVITY, metavar="M/S^2",
        help="at the place, by default %(default)g")
    add("--turns", nargs="?", const="", metavar="N",
        help="gyroscope, from turns between times at rest, each of N whole turns about an axis; or "
             "x=N,y=N,z=N")
    add("--reference", metavar="RECORDING", help="which has the yaw of turns on level ground")
    add("--reference-topic", default="", metavar="T", help="in a bag")
    add("--reference-sigma", type=not_negative, default=0.5, metavar="DEG",
        help="standard deviation of its yaw at rest, by default %(default)g")
    add("--placement", type=not_negative, default=float(np.degrees(inertial.PLACEMENT)),
        metavar="DEG",
        help="standard deviation of each angle by which positions and turns are off, by default "
             "%(default)g; 0 for a turntable")
    add("--magnetometer", action="store_true",
        help="by an ellipsoid, from a motion through all directions; alone, nothing else is looked "
             "for")
    add("--magnetic-topic", default="", metavar="T", help="in a bag")
    add("--field", type=above_zero, metavar="UT", help="Earth's field at the place [uT], if known")
    add("--temperature", nargs="?", const="", metavar="RECORDING",
        help="fit polynomials of the temperature, which is in the same recording or in this one")
    add("--temperature-topic", default="", metavar="T", help="in a bag")
    add("--temperature-degree", type=int, choices=(1, 2, 3), default=2,
        help="of the bias's polynomial, by default %(default)d")
    add("--temperature-scale-degree", type=int, choices=(0, 1, 2), default=0,
        help="of the scale factor's polynomial, from positions or turns at several temperatures; "
             "by default %(default)d")
    add("--shortest-rest", type=above_zero, default=5.0, metavar="S",
        help="shorter times at rest are not used, by default %(default)g")
    add("--noise", metavar="IMU",
        help="specification of the sensor's noise, as allan_analysis.py writes it; by default the "
             "noise is found in the recording, which knows little of the slow part")
    add("--onto", metavar="YAML", help="a correction to complete: what is not found here stays")
    add("-o", "--out", default="calibration", metavar="DIR",
        help="folder for the results, by default %(default)s")
    add("--name", default="imu", help="of the sensor, by default %(default)s")
    # fmt: on
    return parser
