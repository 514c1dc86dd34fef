"""Simulate many runs of a drive and compute the distribution of the yaw error.

    monte_carlo.py a --imu bno055 --runs 10000 --within 5deg
    monte_carlo.py --straight 10min --imu my_imu.yaml --runs 1000000 --what linear
    monte_carlo.py a --imu hector --runs 200 --what experiment --setting terrain/kind=uneven
    monte_carlo.py a --imu bno055_magnetometer --heading rejecting --magnetic-environment steel_beam
    monte_carlo.py a --imu bno055 --runs 100000 --scheduler tcp://10.0.0.1:8786

A run simulates the three-axis sensor with its orientation filter, its linear error model, or a
complete experiment in the embedded simulator, in which IMU errors and bumps are random (--what).
Run k of a seed does not depend on the number of workers. A repeated call continues an interrupted
job, or adds runs to it. Workers of a cluster require this package and its libraries in the same
versions. Writes to DIR:

    ensemble.png          bands over time, final errors, mean power spectral density
    ensemble.txt          the printed text
    ensemble.html         with --report: all results as a web page
    summary.csv           mean, standard deviation and quantiles over time
    spectrum.csv          mean power spectral density
    runs.csv.gz           final, maximum and rms error and drift of each run
    curves.npz            the first runs as complete curves: time [s], errors [rad]
    job.json, chunks      settings and runs of the job, from which it can be continued
"""

from __future__ import annotations

import argparse
from typing import Sequence

from ...core.programs import ArgumentParser
from ...drive.ensembles.defaults import STORED_RUNS
from .. import command_line, option_types
from . import imu_options, motion_options

NAME = "monte_carlo"
KINDS = ("sensor", "linear", "experiment")


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
    motion_options.add_motion_options(parser)
    add = parser.add_argument
    # fmt: off
    add("--imu", required=True, metavar="IMU",
        help="name of a bundled specification or a plug-in, file of a specification, or "
             "FORMAT:FILE")
    imu_options.add_magnetic_options(parser, several=False)
    imu_options.add_operation_options(parser)
    add("--runs", type=command_line.run_count, required=True, metavar="N", help="number of runs")
    add("--what", choices=KINDS, default=KINDS[0], help="kind of runs, by default %(default)s")
    command_line.add_seed(parser)
    imu_options.add_limit_option(parser, "limit for which a probability is computed")
    add("--period", type=option_types.positive_duration, default=1.0, metavar="TIME",
        help="interval between yaw errors, by default 1s")
    add("--keep", type=command_line.whole_number, default=STORED_RUNS, metavar="N",
        help="number of runs that are saved as complete curves, by default the first %(default)s")
    add("--workers", type=command_line.worker_count, metavar="N",
        help="number of processes on this computer, by default the number of processors")
    add("--scheduler", metavar="ADDRESS",
        help="Dask scheduler whose workers simulate the runs, such as tcp://10.0.0.1:8786")
    # fmt: on
    command_line.add_results(parser, NAME)
    return parser.parse_args(arguments)
