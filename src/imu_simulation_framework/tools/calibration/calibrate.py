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

import numpy as np

from imu_simulation_framework.checked_values import AXES
from imu_simulation_framework.configuration.imu_correction_file import read_imu_correction
from imu_simulation_framework.configuration.imu_specification_file import read_imu_specification
from imu_simulation_framework.constants import STANDARD_GRAVITY
from imu_simulation_framework.errors import ConfigurationError
from imu_simulation_framework.identification.calibration.inertial import PLACEMENT
from imu_simulation_framework.recorded.frames import ACCEL_UNITS, GYRO_UNITS, ImuConventions
from imu_simulation_framework.sentences import shown
from imu_simulation_framework.tools.calibration.report import write_calibration
from imu_simulation_framework.tools.calibration.text import findings, table_text
from imu_simulation_framework.tools.calibration.work import Wishes, calibrate


def main(arguments):
    """Calibrate from the recording named on the command line."""
    options = _parser().parse_args(arguments)
    wishes = Wishes(
        recording=options.recording,
        topic=options.topic,
        columns=dict(_column(text) for text in options.column),
        six_positions=options.six_positions,
        free_positions=options.free_positions,
        turns=_turns(options.turns),
        wants_turns=options.turns is not None or bool(options.reference),
        reference=options.reference,
        reference_topic=options.reference_topic,
        reference_sigma=np.radians(_number("--reference-sigma", options.reference_sigma, 0.0)),
        magnetometer=options.magnetometer,
        magnetic_topic=options.magnetic_topic,
        rate=None if options.rate is None else _number("--rate", options.rate, 0.0, False),
        gyro_unit=options.gyro_unit,
        accel_unit=options.accel_unit,
        field=None
        if options.field is None
        else 1e-6 * _number("--field", options.field, 0.0, False),
        temperature=options.temperature,
        temperature_topic=options.temperature_topic,
        degree=options.temperature_degree,
        scale_degree=options.temperature_scale_degree,
        gravity=_number("--gravity", options.gravity, 0.0, False),
        placement=np.radians(_number("--placement", options.placement, 0.0)),
        shortest_rest=_number("--shortest-rest", options.shortest_rest, 0.0, False),
        noise=read_imu_specification(options.noise) if options.noise else None,
    )
    onto = read_imu_correction(options.onto) if options.onto else None
    result = calibrate(wishes)
    remarks = write_calibration(result, options.out, options.name, onto)
    for sentence in findings(result):
        print(sentence)
    print(table_text(result))
    for remark in remarks:
        print(remark)
    print(options.out)
    return 0


def _number(flag, value, above, included=True):
    if not (np.isfinite(value) and (value > above or (included and value == above))):
        least = "0 or more" if included else "above 0"
        raise ConfigurationError(f"{flag} is {value:g}, but it must be {least}")
    return value


def _turns(text):
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
            f"--turns {shown(text)} is not understood, expected for instance 10 or x=5,z=10"
        ) from None
    if not set(found) <= set(AXES):
        raise ConfigurationError(f"--turns {shown(text)}: axes are x, y and z")
    return found


def _column(text):
    quantity, separator, column = text.partition("=")
    if not separator or not quantity.strip() or not column.strip():
        raise ConfigurationError(
            f"--column {shown(text)} is not understood, expected for instance 'gyro_x=wx [deg/s]'"
        )
    return quantity.strip(), column.strip()


def _parser():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("recording", metavar="RECORDING", help="bag or CSV file")
    add("--topic", default="", help="of the IMU in a bag; by default the only sensor_msgs/Imu")
    add(
        "--column",
        action="append",
        default=[],
        metavar="QUANTITY=NAME[UNIT]",
        help="column of a CSV file with names of its own, once for each: time, gyro_x to accel_z, "
        "mag_x to mag_z, temperature; those of gyroscope and accelerometer are guessed where "
        "nobody says them",
    )
    add(
        "--rate", type=float, metavar="HZ",
        help="samples per second, for recordings without time stamps or with useless ones",
    )  # fmt: skip
    add(
        "--gyro-unit", choices=tuple(GYRO_UNITS), default=ImuConventions.gyro_unit,
        help="of a recording that does not state it, by default %(default)s",
    )  # fmt: skip
    add(
        "--accel-unit", choices=tuple(ACCEL_UNITS), default=ImuConventions.accel_unit,
        help="of a recording that does not state it, by default %(default)s",
    )  # fmt: skip
    positions = parser.add_mutually_exclusive_group()
    positions.add_argument(
        "--six-positions",
        action="store_true",
        help="accelerometer, from times at rest with each axis up and down",
    )
    positions.add_argument(
        "--free-positions",
        action="store_true",
        help="accelerometer, from times at rest in nine or more positions of any kind, all around; "
        "takes --noise",
    )
    add(
        "--gravity", type=float, default=STANDARD_GRAVITY, metavar="M/S^2",
        help="at the place, by default %(default)g",
    )  # fmt: skip
    add(
        "--turns", nargs="?", const="", metavar="N",
        help="gyroscope, from turns between times at rest, each of N whole turns about an axis; or "
        "x=N,y=N,z=N",
    )  # fmt: skip
    add("--reference", metavar="RECORDING", help="which has the yaw of turns on level ground")
    add("--reference-topic", default="", metavar="T", help="in a bag")
    add(
        "--reference-sigma", type=float, default=0.5, metavar="DEG",
        help="standard deviation of its yaw at rest, by default %(default)g",
    )  # fmt: skip
    add(
        "--placement", type=float, default=float(np.degrees(PLACEMENT)), metavar="DEG",
        help="standard deviation of each angle by which positions and turns are off, by default "
        "%(default)g; 0 for a turntable",
    )  # fmt: skip
    add(
        "--magnetometer", action="store_true",
        help="by an ellipsoid, from a motion through all directions; alone, nothing else is looked "
        "for",
    )  # fmt: skip
    add("--magnetic-topic", default="", metavar="T", help="in a bag")
    add("--field", type=float, metavar="UT", help="Earth's field at the place [uT], if known")
    add(
        "--temperature", nargs="?", const="", metavar="RECORDING",
        help="fit polynomials of the temperature, which is in the same recording or in this one",
    )  # fmt: skip
    add("--temperature-topic", default="", metavar="T", help="in a bag")
    add(
        "--temperature-degree", type=int, choices=(1, 2, 3), default=2,
        help="of the bias's polynomial, by default %(default)d",
    )  # fmt: skip
    add(
        "--temperature-scale-degree", type=int, choices=(0, 1, 2), default=0,
        help="of the scale factor's polynomial, from positions or turns at several temperatures; "
        "by default %(default)d",
    )  # fmt: skip
    add(
        "--shortest-rest", type=float, default=5.0, metavar="S",
        help="shorter times at rest are not used, by default %(default)g",
    )  # fmt: skip
    add(
        "--noise", metavar="IMU",
        help="specification of the sensor's noise, as allan_analysis.py writes it; by default the "
        "noise is found in the recording, which knows little of the slow part",
    )  # fmt: skip
    add("--onto", metavar="YAML", help="a correction to complete: what is not found here stays")
    add(
        "--out", default="calibration", metavar="DIR",
        help="folder for the results, by default %(default)s",
    )  # fmt: skip
    add("--name", default="imu", help="of the sensor, by default %(default)s")
    return parser
