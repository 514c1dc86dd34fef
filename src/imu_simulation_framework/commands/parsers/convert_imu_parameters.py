"""Convert IMU parameters between the formats of simulators and estimators.

Remarks on standard error and in comments of the output list parameters that the target format
cannot express, and input parameters that are ignored, ambiguous or defaults of a simulator.

    convert_imu_parameters.py imu.yaml --from kalibr --to hector --rate 100
    convert_imu_parameters.py my_imu.yaml --from specification --to sdf --out imu.sdf
    convert_imu_parameters.py bno055 --to hector --rate 100
"""

from __future__ import annotations

import argparse
from typing import Sequence

from ...core.checks import LARGEST_NUMBER
from ...core.programs import ArgumentParser
from ...sensors.formats.registry import FORMATS
from ..command_line import number_type


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
    formats = "\n".join(f"  {name:14} {kind.description}" for name, kind in FORMATS.items())
    parser = ArgumentParser(__doc__, epilog=f"formats:\n{formats}")
    add = parser.add_argument
    # fmt: off
    add("input", metavar="IN", help="file to convert, or name of a bundled IMU")
    add("--from", dest="source", choices=FORMATS, metavar="F",
        help="format of the input")
    output_formats = [name for name, kind in FORMATS.items() if kind.write is not None]
    add("--to", dest="target", required=True, choices=output_formats, metavar="F",
        help="format of the output")
    add("--rate", type=_positive, metavar="HZ",
        help="sample rate of the output, by default the rate of the input; also the rate of an "
             "input that does not state it")
    add("-o", "--out", metavar="FILE", help="output file, by default standard output")
    add("--correlation-time", type=_positive, metavar="S",
        help="express a bias random walk as a bias with this correlation time, if the target has "
             "no random walk (sdf, hector, rotors, unity)")
    add("--walk-from-instability", action="store_true", default=None,
        help="express a bias instability as the random walk with the same minimum of the Allan "
             "deviation, if the target has no bias instability: kalibr, and with "
             "--correlation-time also sdf, hector, rotors, unity")
    add("--yaw-drift", nargs=2, type=_positive, metavar=("RAD", "S"),
        help="standard deviation and correlation time of the yaw drift (hector)")
    add("--inflate", type=_positive, metavar="FACTOR",
        help="factor for all noise, as Kalibr's wiki recommends for estimators with a low-cost "
             "sensor (10 or more); a comment in the output states the factor")
    add("--subsampled", action="store_true", default=None,
        help="subsample the output of the sensor to --rate without a filter, which preserves the "
             "variance of white noise; by default, an ideal decimation filter preserves its "
             "density")
    # fmt: on
    return parser.parse_args(arguments)


_positive = number_type(
    lambda value: 1.0 / LARGEST_NUMBER <= value <= LARGEST_NUMBER,
    f"is not valid, expected a number from {1.0 / LARGEST_NUMBER:g} to {LARGEST_NUMBER:g}",
)
