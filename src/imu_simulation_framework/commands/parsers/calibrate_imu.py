"""Calibrate an IMU from static orientations, complete turns or temperature changes.

Without options, the gyroscope bias is estimated from stationary periods. A recording may contain
the data for several calibrations. Writes to DIR:

    correction.yaml    the correction, for the node imu_corrector
    imu.yaml           the remaining errors, for heading_budget.py and monte_carlo.py
    calibration.json   all estimates with their 95 % intervals, and the periods that were used
    calibration.png    the recording with the stationary periods and the turns

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
    add("recording", metavar="RECORDING", help="bag or CSV file")
    add("--topic", default="", help="IMU topic in a bag; by default the only sensor_msgs/Imu topic")
    add("--column", action="append", default=[], metavar="QUANTITY=NAME[UNIT]",
        help="column of a CSV file with custom names; repeatable, for time, gyro_x to accel_z, "
             "mag_x to mag_z and temperature; by default the columns of gyroscope and "
             "accelerometer are chosen by name")
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
    add("--reference", metavar="RECORDING",
        help="recording with the reference yaw of turns on level ground")
    add("--reference-topic", default="", metavar="T", help="topic of the reference in a bag")
    add("--reference-sigma", type=not_negative, default=0.5, metavar="DEG",
        help="standard deviation of the reference yaw at rest, by default %(default)g")
    add("--placement", type=not_negative, default=float(np.degrees(PLACEMENT)),
        metavar="DEG",
        help="standard deviation of the angle errors of orientations and turns, by default "
             "%(default)g; 0 for a turntable")
    add("--magnetometer", action="store_true",
        help="calibrate the magnetometer with an ellipsoid fit to a motion through all directions; "
             "without other calibration options, no other sensor is calibrated")
    add("--magnetic-topic", default="", metavar="T", help="topic of the magnetometer in a bag")
    add("--field", type=positive_number, metavar="UT",
        help="magnitude of the Earth's magnetic field at the location [uT], if known")
    add("--temperature", nargs="?", const="", metavar="RECORDING",
        help="fit polynomials of the temperature in RECORDING, by default the recording of the IMU")
    add("--temperature-topic", default="", metavar="T", help="topic of the temperature in a bag")
    add("--temperature-degree", type=int, choices=(1, 2, 3), default=2,
        help="degree of the bias polynomial, by default %(default)d")
    add("--temperature-scale-degree", type=int, choices=(0, 1, 2), default=0,
        help="degree of the scale factor polynomial, from orientations or turns at several "
             "temperatures; by default %(default)d")
    add("--shortest-rest", type=positive_number, default=5.0, metavar="S",
        help="shortest stationary period that is used [s], by default %(default)g")
    add("--noise", metavar="IMU",
        help="specification with the noise of the sensor, as written by allan_analysis.py; by "
             "default, only the fast part of the noise is estimated from the recording")
    add("--onto", metavar="YAML",
        help="existing correction to update; elements that are not estimated remain unchanged")
    add("-o", "--out", default="calibration", metavar="DIR",
        help="folder for the results, by default %(default)s")
    add("--name", default="imu", help="name of the sensor, by default %(default)s")
    # fmt: on
    return parser.parse_args(arguments)
