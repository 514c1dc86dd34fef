"""Identify an IMU's noise parameters from recordings at rest, by their Allan deviation.

Reads bags and CSV files with gyroscope, accelerometer or both, or with single axes; several
recordings of one sensor are combined. Writes to DIR:

    imu.yaml               the specification, for imu:=specification
    kalibr_imu.yaml        the same for Kalibr
    allan_parameters.json  all coefficients with their 95 % intervals, and what was found
    allan_deviation.csv    the Allan deviation with its 95 % interval
    allan_gyroscope.png, allan_accelerometer.png
    raw_gyroscope.png, raw_accelerometer.png    what was recorded, and what is an outlier of it

    allan_analysis.py static.bag --topic /imu/data --out bno055_identified

Exit code 3: results are written, but the identified sensor's Allan deviation leaves the measured
band somewhere between 1 s and a tenth of the recording; the last lines say where.
"""

from __future__ import annotations

import argparse
import os

from tqdm import tqdm

from imu_simulation_framework.characterisation.allan.analysis import (
    AXES,
    DEFAULT_BAND,
    SENSORS,
    identify,
)
from imu_simulation_framework.characterisation.allan.files import read_at_rest
from imu_simulation_framework.characterisation.samples_at_rest import RestSettings, prepare_axes
from imu_simulation_framework.commands.allan_report import (
    departures,
    findings,
    heading_drift,
    terminal_table,
    write_allan_results,
)
from imu_simulation_framework.commands.command_line import ArgumentParser
from imu_simulation_framework.commands.guessed_columns import guessed_columns, named_column
from imu_simulation_framework.core.errors import ConfigurationError, RecordingError
from imu_simulation_framework.core.stamps import StampLimits

LEAVES_THE_BAND = 3
"""Exit code where the identified sensor is not what was measured."""

_MANY_DUPLICATES = 0.1
_SHORT_NAMES = {"gyro": SENSORS["gyroscope"], "accel": SENSORS["accelerometer"]}


def main(arguments):
    """Analyse the recordings named on the command line."""
    options = _parser().parse_args(arguments)
    if not 0.0 < options.band[0] < options.band[1] < float("inf"):
        raise ConfigurationError(
            f"--band is {options.band[0]:g} {options.band[1]:g}, expected two times above 0, the "
            "shorter one first"
        )
    if options.rate is not None and not 1e-3 <= options.rate <= 1e7:
        raise ConfigurationError(f"--rate is {options.rate:g} Hz, expected from 0.001 to 1e7")
    settings = RestSettings(outlier_range=options.outliers)
    columns = dict(named_column(text) for text in options.column) or None
    recordings, sentences = [], []
    axes = None
    for path in options.recordings:
        with _bar(options, "reading", unit="B", unit_scale=True, total=_size(path)) as bar:
            recorded = read_at_rest(
                path,
                options.topic,
                columns or guessed_columns(path, options.rate, sentences),
                rate=options.rate,
                stamp_limits=StampLimits(longest_gap=options.longest_gap),
                progress=bar.update,
            )
            bar.set_description("looking for gaps and outliers")
            _check_duplicates(path, recorded.report)
            axes = _axes(path, recorded.axes.names, options.axis, axes)
            sentences += recorded.report.sentences()[1:]
            recordings.append(
                prepare_axes(recorded.times, recorded.axes.only(axes), axes, path, settings)
            )
            del recorded
    steps = (len(options.recordings) + 1) * len(axes)
    with _bar(options, "analysing", unit="step", total=steps) as bar:
        identification = identify(recordings, tuple(options.band), bar.update)
        bar.set_description("writing")
        remarks = write_allan_results(identification, options.out, options.name, options.recordings)
    for sentence in sentences + findings(identification):
        print(sentence)
    print(terminal_table(identification))
    for remark in remarks:
        print(remark)
    outside = departures(identification)
    for sentence in [*outside, *heading_drift(identification)]:
        print(sentence)
    print(options.out)
    return LEAVES_THE_BAND if outside else 0


def _bar(options, what, **settings):
    # Without a terminal there is nobody to see a bar.
    return tqdm(desc=what, disable=options.quiet or None, leave=False, **settings)


def _size(path):
    """Return the bytes of a file; None if that does not tell how much there is to read."""
    return os.path.getsize(path) if os.path.isfile(path) and not path.endswith(".gz") else None


def _check_duplicates(path, report):
    count = report.stamps.duplicates.count
    if count > _MANY_DUPLICATES * report.stamps.samples:
        raise RecordingError(
            f"{path}: {count} of {report.stamps.samples} samples have the time stamp of another "
            "one, so that the stamps are too coarse; state the rate with --rate HZ"
        )


def _axes(path, names, wanted, before) -> tuple[str, ...]:
    """Return the axes to analyse: those wanted, or all that were recorded."""
    recorded = tuple(axis for axis in AXES if axis in names)
    chosen = {axis for name in wanted for axis in _SHORT_NAMES.get(name, (name,))}
    missing = sorted(chosen - set(recorded))
    if missing or not recorded:
        raise RecordingError(
            f"{path}: has no {', '.join(missing) or 'gyroscope and no accelerometer'}, recorded "
            f"are {', '.join(recorded) or 'none of ' + ', '.join(AXES)}"
        )
    axes = tuple(axis for axis in recorded if axis in chosen or not chosen)
    if before is not None and axes != before:
        raise RecordingError(
            f"{path}: has {', '.join(axes)}, but the recordings before {', '.join(before)}; "
            "expected the same axes of one sensor, choose them with --axis"
        )
    return axes


def _parser():
    parser = ArgumentParser(
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
        help="column of a CSV file with names of its own, if they are not guessed rightly, for "
        "instance 'gyro_x=wx [deg/s]'; once for each of time, gyro_x to accel_z, or some of them",
    )
    parser.add_argument(
        "--rate",
        type=float,
        metavar="HZ",
        help="samples per second, for recordings without time stamps or with useless ones: all "
        "samples then follow each other evenly",
    )
    parser.add_argument(
        "--axis",
        action="append",
        default=[],
        choices=(*_SHORT_NAMES, *AXES),
        help="analyse only these axes, once for each; by default all that were recorded",
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
        default=RestSettings().outlier_range,
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
