"""Identify the noise parameters of an IMU from the Allan deviation of static recordings.

Recordings are bags or CSV files with gyroscope, accelerometer or both, or with single axes. Several
recordings of the same sensor are combined. Writes to DIR:

    imu.yaml               the specification, for imu:=specification
    kalibr_imu.yaml        the noise parameters for Kalibr
    allan_parameters.json  all coefficients with their 95 % intervals, and remarks
    allan_deviation.csv    the Allan deviation with its 95 % interval
    allan_gyroscope.png, allan_accelerometer.png
    raw_gyroscope.png, raw_accelerometer.png    the recorded samples and their outliers
    allan_analysis.html    with --report: all results as a web page

    allan_analysis.py static.bag --topic /imu/data --out bno055_identified

Exit code 3: results are written, but the Allan deviation of the identified model leaves the 95 %
band of the recording (thin lines in the figures) at averaging times between 1 s and a tenth of the
recording's duration. The last lines of the output list these averaging times.
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
    """Parse the command-line arguments of the program.

    Parameters
    ----------
    arguments : sequence of str
        Arguments after the name of the program.

    Returns
    -------
    argparse.Namespace
        Values of the options.
    """
    parser = ArgumentParser(__doc__)
    add = parser.add_argument
    # fmt: off
    add("recordings", metavar="RECORDING", nargs="+", help="bag or CSV file")
    add("--topic", default="", metavar="T",
        help="topic in a bag; by default the only sensor_msgs/Imu topic")
    add("--column", action="append", default=[], metavar="QUANTITY=NAME[UNIT]",
        help="column of a CSV file whose name is not recognised, such as 'gyro_x=wx [deg/s]'; "
             "repeatable, for time and gyro_x to accel_z")
    add_layout_option(add)
    add("--rate", metavar="HZ",
        type=number_type(
            lambda rate: 1e-3 <= rate <= 1e7, "is not valid, expected a rate from 0.001 to 1e7 Hz"
        ),
        help="sample rate, for recordings without usable time stamps; replaces the time stamps by "
             "evenly spaced times")
    add_unit_options(parser)
    add("--axis", action="append", default=[], choices=(*SHORT_NAMES, *GYRO, *ACCEL),
        help="axis to analyse; repeatable; by default all recorded axes")
    add("-o", "--out", default="allan_analysis", metavar="DIR",
        help="folder for the results, by default %(default)s")
    add("--name", default="imu", help="name of the sensor in imu.yaml, by default %(default)s")
    add("--outliers", type=float, default=RestSettings().outlier_range, metavar="IQR",
        help="distance from the quartiles beyond which a sample is an outlier, in interquartile "
             "ranges; 0: no outliers; by default %(default)g")
    add("--band", type=float, nargs=2, default=_BAND, metavar=("MIN", "MAX"),
        help="range of averaging times in which bias instability is assumed [s], by default "
             f"{_BAND[0]:g} {_BAND[1]:g}")
    add("--longest-gap", type=float, default=StampLimits().longest_gap, metavar="S",
        help="longest accepted gap in a recording [s], by default %(default)g")
    add_report(parser)
    add("--quiet", action="store_true", help="print no progress")
    # fmt: on
    return parser.parse_args(arguments)
