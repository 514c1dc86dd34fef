"""Command-line options for individual sensors, operation and magnetic environments."""

from __future__ import annotations

import argparse
import math

from ..option_types import duration, positive_angle

HEADINGS = {
    "gyroscope": {"magnetic_heading": False, "magnetic_disturbance_rejection": False},
    "magnetometer": {"magnetic_heading": True, "magnetic_disturbance_rejection": False},
    "rejecting": {"magnetic_heading": True, "magnetic_disturbance_rejection": True},
}
"""Yaw sources of a sensor with a magnetometer, and the output settings that select them."""


def add_operation_options(parser: argparse.ArgumentParser) -> None:
    """Add options for standstill, stops and warm-up, and for the individual sensor of a part.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        Parser of a program.
    """
    add = parser.add_argument
    # fmt: off
    add("--standstill", type=duration, metavar="TIME",
        help="standstill before the drive, during which the gyroscope bias is measured; 0: the "
             "bias is not measured; by default 10s, and 0 before a flight")
    add("--stops", metavar="WHICH",
        help="stops during the drive, at which the bias is measured again and the heading is kept "
             "constant: none (default), found (stops of the motion), detected (stops that the "
             "sensor detects from its samples), or regular stops such as 'every 2min for 3s', "
             "followed by ', detected' if the sensor has to detect them")
    add("--warm-up", type=duration, metavar="TIME",
        help="time from power-on to the standstill, during which the sensor warms up, by default 0")
    add("--unit", choices=("any", "this"),
        help="any: any individual sensor of a part, within its tolerances; this: the individual "
             "sensor with the values of the file; by default any for bundled parts, and for files "
             "as stated in the file")
    # fmt: on


def add_limit_option(parser: argparse.ArgumentParser, description: str) -> None:
    """Add the option ``--within``, an angle.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        Parser of a program.
    description : str
        Meaning of the angle in the help text.
    """
    parser.add_argument(
        "--within", type=positive_angle, default=math.radians(5.0), metavar="ANGLE",
        help=f"{description}, by default 5deg",
    )  # fmt: skip


def add_magnetic_options(parser: argparse.ArgumentParser, several: bool = True) -> None:
    """Add options for magnetic environments and headings, which :func:`.place_imus` evaluates.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        Parser of a program.
    several : bool, optional
        Whether each option accepts several values.
    """
    count = "+" if several else 1
    each = "; several are combined" if several else ""
    parser.add_argument(
        "--magnetic-environment", nargs=count, default=[], metavar="NAME",
        help="magnetic environment: clean, steel_beam or a YAML file; by default clean, if the yaw "
        f"depends on it{each}",
    )  # fmt: skip
    parser.add_argument(
        "--heading", nargs=count, choices=HEADINGS, default=[],
        help="source of the yaw of a sensor with a magnetometer and known declination: gyroscope, "
        "magnetometer, or rejecting (magnetometer without disturbed readings); by default as in "
        f"the specification{each}",
    )  # fmt: skip
