#!/usr/bin/env python3
"""Identify an IMU's noise parameters from recordings at rest, by their Allan deviation.

Reads bags and CSV files with gyroscope and accelerometer; several recordings of one sensor are
combined. Writes to DIR:

    imu.yaml               the specification, for imu:=specification
    kalibr_imu.yaml        the same for Kalibr
    allan_parameters.json  all coefficients with their 95 % intervals, and what was found
    allan_deviation.csv    the Allan deviation with its 95 % interval
    allan_gyroscope.png, allan_accelerometer.png

    allan_analysis.py static.bag --topic /imu/data --out bno055_identified
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace

from tqdm import tqdm

from imu_simulation_framework.core.allan import AXES, DEFAULT_BAND, identify
from imu_simulation_framework.core.stamps import StampLimits
from imu_simulation_framework.core.static_samples import StaticSettings, prepare_static
from imu_simulation_framework.errors import ConfigurationError
from imu_simulation_framework.experiment.allan_report import (
    findings,
    terminal_table,
    write_allan_results,
)
from imu_simulation_framework.experiment.command_line import run_tool
from imu_simulation_framework.files.recordings import read_imu


def main(arguments):
    """Analyse the recordings named on the command line."""
    options = _parser().parse_args(arguments)
    if not 0.0 < options.band[0] < options.band[1] < float("inf"):
        raise ConfigurationError(
            f"--band is {options.band[0]:g} {options.band[1]:g}, expected two times above 0, the "
            "shorter one first"
        )
    settings = StaticSettings(outlier_range=options.outliers)
    columns = dict(_column(text) for text in options.column) or None
    recordings, sentences = [], []
    steps = len(options.recordings) * (2 + len(AXES)) + len(AXES)
    # Without a terminal there is nobody to see a bar.
    with tqdm(total=steps, unit="step", disable=options.quiet or None, leave=False) as bar:
        for path in options.recordings:
            bar.set_description("reading")
            recorded = read_imu(
                path,
                options.topic,
                columns=columns,
                require=("gyro", "accel"),
                stamp_limits=StampLimits(longest_gap=options.longest_gap),
            )
            bar.update()
            bar.set_description("looking for gaps and outliers")
            # That there is no orientation does not matter here.
            sentences += replace(recorded.report, absent=()).sentences()[1:]
            recordings.append(
                prepare_static(
                    recorded.table.index.to_numpy(),
                    recorded.table[list(AXES)].to_numpy(),
                    AXES,
                    path,
                    settings,
                )
            )
            del recorded
            bar.update()
        bar.set_description("analysing")
        identification = identify(recordings, tuple(options.band), bar.update)
        bar.set_description("writing")
        notes = write_allan_results(identification, options.out, options.name)
    for sentence in sentences + findings(identification):
        print(sentence)
    print(terminal_table(identification))
    for note in notes:
        print(note)
    print(options.out)


def _parser():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("recordings", metavar="RECORDING", nargs="+", help="bag or CSV file")
    parser.add_argument(
        "--topic", default="", metavar="T", help="in bags; by default the only sensor_msgs/Imu"
    )
    parser.add_argument(
        "--column",
        action="append",
        default=[],
        metavar="QUANTITY=NAME[UNIT]",
        help="column of a CSV file with names of its own, for instance 'gyro_x=wx [deg/s]'; once "
        "for each of time, gyro_x to gyro_z, accel_x to accel_z",
    )
    parser.add_argument(
        "--out",
        default="allan_analysis",
        metavar="DIR",
        help="folder for the results, by default %(default)s",
    )
    parser.add_argument(
        "--name", default="imu", help="of the sensor in imu.yaml, by default %(default)s"
    )
    parser.add_argument(
        "--outliers",
        type=float,
        default=StaticSettings().outlier_range,
        metavar="IQR",
        help="samples further from the quartiles than this many interquartile ranges are "
        "outliers, 0 for none; by default %(default)g",
    )
    parser.add_argument(
        "--band",
        type=float,
        nargs=2,
        default=DEFAULT_BAND,
        metavar=("MIN", "MAX"),
        help="averaging times between which bias instability is assumed [s], by default "
        f"{DEFAULT_BAND[0]:g} {DEFAULT_BAND[1]:g}",
    )
    parser.add_argument(
        "--longest-gap",
        type=float,
        default=StampLimits().longest_gap,
        metavar="S",
        help="refuse a recording with a longer gap [s], by default %(default)g",
    )
    parser.add_argument("--quiet", action="store_true", help="no progress bar, even on a terminal")
    return parser


def _column(text):
    quantity, separator, column = text.partition("=")
    if not separator or not quantity.strip() or not column.strip():
        raise ConfigurationError(
            f"--column {text!r} is not understood, expected for instance 'gyro_x=wx [deg/s]'"
        )
    return quantity.strip(), column.strip()


if __name__ == "__main__":
    sys.exit(run_tool(main))
