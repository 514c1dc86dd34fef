"""Calibrate an IMU from a recording at rest, in positions, with turns, or in a climate chamber.

Without options, the gyroscope's bias is estimated from the times at rest. A recording may contain
several calibrations. Writes to DIR:

    correction.yaml    the correction, for the node imu_corrector
    imu.yaml           the remaining errors, for heading_budget.py and monte_carlo.py
    calibration.json   all estimates with their 95 % intervals, and the times that were used
    calibration.png    the recording with the times at rest and the turns

    calibrate_imu.py table.bag --six-positions --turns 10 --noise my_imu/imu.yaml --out my_imu

Fits are computed by scipy (linear algebra, optimize.least_squares).
"""

from __future__ import annotations

import argparse
from typing import Sequence

import numpy as np

from ...characterisation.calibration.defaults import PLACEMENT
from ...core.programs import ArgumentParser
from ...core.units import STANDARD_GRAVITY
from ..command_line import (
    add_layout_option,
    add_unit_options,
    not_negative,
    positive_number,
)


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
    add("recording", metavar="RECORDING", help="bag or CSV file")
    add("--topic", default="", help="of the IMU in a bag; by default the only sensor_msgs/Imu")
    add("--column", action="append", default=[], metavar="QUANTITY=NAME[UNIT]",
        help="column of a CSV file with custom names, once for each: time, gyro_x to accel_z, "
             "mag_x to mag_z, temperature; by default those of gyroscope and accelerometer are "
             "chosen by their names")
    add_layout_option(add)
    add("--rate", type=positive_number, metavar="HZ",
        help="sample rate, for recordings without usable time stamps")
    add_unit_options(parser)
    positions = parser.add_mutually_exclusive_group()
    positions.add_argument("--six-positions", action="store_true",
        help="calibrate the accelerometer from stationary periods with each axis up and down")
    positions.add_argument("--free-positions", action="store_true",
        help="calibrate the accelerometer from stationary periods in nine or more orientations "
             "in all directions; requires --noise")
    add("--gravity", type=positive_number, default=STANDARD_GRAVITY, metavar="M/S^2",
        help="local gravity, by default %(default)g")
    add("--turns", nargs="?", const="", metavar="N",
        help="calibrate the gyroscope from rotations between stationary periods, each of N "
             "complete turns about an axis; or x=N,y=N,z=N")
    add("--reference", metavar="RECORDING", help="recording with the yaw of turns on level ground")
    add("--reference-topic", default="", metavar="T", help="topic of the reference in a bag")
    add("--reference-sigma", type=not_negative, default=0.5, metavar="DEG",
        help="standard deviation of its yaw at rest, by default %(default)g")
    add("--placement", type=not_negative, default=float(np.degrees(PLACEMENT)),
        metavar="DEG",
        help="standard deviation of the angle errors of orientations and turns, by default "
             "%(default)g; 0 for a turntable")
    add("--magnetometer", action="store_true",
        help="calibrate the magnetometer by an ellipsoid, from a motion through all directions; if "
             "this is the only such option, no other sensor is calibrated")
    add("--magnetic-topic", default="", metavar="T", help="topic of the magnetometer in a bag")
    add("--field", type=positive_number, metavar="UT",
        help="Earth's field at the place [uT], if known")
    add("--temperature", nargs="?", const="", metavar="RECORDING",
        help="fit polynomials over the temperature in RECORDING, by default in the same recording")
    add("--temperature-topic", default="", metavar="T", help="topic of the temperature in a bag")
    add("--temperature-degree", type=int, choices=(1, 2, 3), default=2,
        help="degree of the bias polynomial, by default %(default)d")
    add("--temperature-scale-degree", type=int, choices=(0, 1, 2), default=0,
        help="degree of the scale factor polynomial, from orientations or turns at several "
             "temperatures; by default %(default)d")
    add("--shortest-rest", type=positive_number, default=5.0, metavar="S",
        help="shortest stationary period that is used, by default %(default)g")
    add("--noise", metavar="IMU",
        help="specification of the sensor's noise, as allan_analysis.py writes it; by default the "
             "noise is estimated from the recording, without its slow part")
    add("--onto", metavar="YAML",
        help="correction to complete; elements that are not estimated remain unchanged")
    add("-o", "--out", default="calibration", metavar="DIR",
        help="folder for the results, by default %(default)s")
    add("--name", default="imu", help="name of the sensor, by default %(default)s")
    # fmt: on
    return parser.parse_args(arguments)
