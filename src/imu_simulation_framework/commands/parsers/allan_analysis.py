"""Identify the noise of an IMU from recordings at rest, by their Allan deviation.

Recordings are bags or CSV files with gyroscope, accelerometer or both, or with single axes. Several
recordings of a sensor are combined. Writes to DIR:

    imu.yaml               the specification, for imu:=specification
    kalibr_imu.yaml        the same for Kalibr
    allan_parameters.json  all coefficients with their 95 % intervals, and remarks
    allan_deviation.csv    the Allan deviation with its 95 % interval
    allan_gyroscope.png, allan_accelerometer.png
    raw_gyroscope.png, raw_accelerometer.png    the recorded samples and their outliers
    allan_analysis.html    with --report: all results as a web page

    allan_analysis.py static.bag --topic /imu/data --out bno055_identified

Exit code 3: results are written, but the identified sensor's Allan deviation leaves the measured
band between 1 s and a tenth of the recording; the last lines state the averaging times.
"""

from __future__ import annotations

import argparse
from typing import Sequence

from ...characterisation.samples_at_rest import RestSettings
from ...core.programs import ArgumentParser
from ...core.stamps import StampLimits
from ...core.tables import ACCEL, GYRO
from ...sensors.imu_specification import TriadSpecification
from ..command_line import (
    add_layout_option,
    add_report,
    add_unit_options,
    number_type,
)

SHORT_NAMES = {"gyro": GYRO, "accel": ACCEL}
"""Names of all axes of a sensor."""
_BAND = TriadSpecification().bias_instability_band


def parse_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    """Return the options of a command line.

    Parameters
    ----------
    arguments : sequence of str
        Command line.

    Returns
    -------
    argparse.Namespace
        Options.
    """
    parser = ArgumentParser(__doc__)
    add = parser.add_argument
    # fmt: off
    add("recordings", metavar="RECORDING", nargs="+", help="bag or CSV file")
    add("--topic", default="", metavar="T", help="in bags; by default the only sensor_msgs/Imu")
    add("--column", action="append", default=[], metavar="QUANTITY=NAME[UNIT]",
        help="column of a CSV file that is not recognised, such as 'gyro_x=wx [deg/s]'; repeatable "
             "for time and gyro_x to accel_z")
    add_layout_option(add)
    add("--rate", metavar="HZ",
        type=number_type(lambda rate: 1e-3 <= rate <= 1e7, "is not a rate from 0.001 to 1e7 Hz"),
        help="sample rate, for recordings without usable time stamps; samples are then evenly "
             "spaced")
    add_unit_options(parser)
    add("--axis", action="append", default=[], choices=(*SHORT_NAMES, *GYRO, *ACCEL),
        help="analyse only these axes, once for each; by default all that were recorded")
    add("-o", "--out", default="allan_analysis", metavar="DIR",
        help="folder for the results, by default %(default)s")
    add("--name", default="imu", help="name of the sensor in imu.yaml, by default %(default)s")
    add("--outliers", type=float, default=RestSettings().outlier_range, metavar="IQR",
        help="samples further from the quartiles than this many interquartile ranges are outliers, "
             "0 for none; by default %(default)g")
    add("--band", type=float, nargs=2, default=_BAND, metavar=("MIN", "MAX"),
        help="averaging times between which bias instability is assumed [s], by default "
             f"{_BAND[0]:g} {_BAND[1]:g}")
    add("--longest-gap", type=float, default=StampLimits().longest_gap, metavar="S",
        help="longest accepted gap of a recording [s], by default %(default)g")
    add_report(parser)
    add("--quiet", action="store_true", help="no progress bar, and no lines of progress")
    # fmt: on
    return parser.parse_args(arguments)
