"""Convert the parameters of an IMU between the formats of tools.

Remarks on standard error and in comments of the output list parameters that the target format
cannot express, and parameters of the input that were ignored, ambiguous or defaults of a simulator.

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
    formats = "\n".join(f"  {name:14} {kind.description}" for name, kind in FORMATS.items())
    parser = ArgumentParser(__doc__, epilog=f"formats:\n{formats}")
    add = parser.add_argument
    # fmt: off
    add("input", metavar="IN", help="file to convert, or name of a bundled IMU")
    add("--from", dest="source", choices=FORMATS, metavar="F",
        help="format of the file")
    written = [name for name, kind in FORMATS.items() if kind.write is not None]
    add("--to", dest="target", required=True, choices=written, metavar="F",
        help="format of the output")
    add("--rate", type=_positive, metavar="HZ",
        help="sample rate of the output, by default that of the input; also the rate of the input "
             "if the input does not state it")
    add("-o", "--out", metavar="FILE", help="write to this file, not to standard output")
    add("--correlation-time", type=_positive, metavar="S",
        help="express a random walk as a bias with this correlation time, if the target has no "
             "random walk (sdf, hector, rotors, unity)")
    add("--walk-from-instability", action="store_true", default=None,
        help="express a bias instability as the random walk with the same minimum of the Allan "
             "deviation, if the target has only that: kalibr, and with --correlation-time sdf, "
             "hector, rotors, unity")
    add("--yaw-drift", nargs=2, type=_positive, metavar=("RAD", "S"),
        help="standard deviation and correlation time of the drift of the yaw (hector)")
    add("--inflate", type=_positive, metavar="FACTOR",
        help="multiply all noise, as Kalibr's wiki recommends for estimators with a low-cost "
             "sensor (10 or more); a comment in the file states it")
    add("--subsampled", action="store_true", default=None,
        help="take samples at --rate from those of the sensor without a filter, so that they have "
             "the same variance; by default the sensor decimates ideally and white noise keeps its "
             "density")
    # fmt: on
    return parser.parse_args(arguments)


_positive = number_type(
    lambda value: 1.0 / LARGEST_NUMBER <= value <= LARGEST_NUMBER,
    f"is not a finite number above 0 (from {1.0 / LARGEST_NUMBER:g} to {LARGEST_NUMBER:g})",
)
