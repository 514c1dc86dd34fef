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

import os
from pathlib import Path

import numpy as np

from ..characterisation.allan import analysis
from ..characterisation.allan.files import file_contents, remove_earlier_files
from ..characterisation.allan.page import allan_page
from ..characterisation.allan.sentences import (
    describe_departures,
    describe_recordings,
    format_coefficients,
)
from ..characterisation.samples_at_rest import RestSettings, prepare_axes
from ..core.errors import ConfigurationError, RecordingError
from ..core.programs import ArgumentParser
from ..core.progress import progress_bar
from ..core.sentences import format_duration
from ..core.stamps import StampLimits
from ..core.whole_files import write_whole
from ..recordings.at_rest import read_at_rest
from ..recordings.frames import ImuConventions
from .command_line import (
    add_layout_option,
    add_report,
    add_unit_options,
    columns_by_name,
    named_column,
    number_type,
    results_folder,
    write_report,
)

LEAVES_THE_BAND = 3
"""Exit code if the identified sensor differs from the measurement."""

_MAX_DUPLICATES = 0.1  # of the samples; more duplicate stamps are too coarse for an Allan deviation
_SHORT_NAMES = {"gyro": analysis.SENSORS["gyroscope"], "accel": analysis.SENSORS["accelerometer"]}

REPORT = "allan_analysis.html"
_DRIFT_TIMES = (60.0, 600.0, 3600.0)  # s, for which the heading drift is reported


def main(arguments):
    """Analyse the recordings of a command line.

    Parameters
    ----------
    arguments : list of str
        Command line.

    Returns
    -------
    int
        Exit code: 0, or :data:`LEAVES_THE_BAND`.
    """
    options = _parser().parse_args(arguments)
    if not 0.0 < options.band[0] < options.band[1] < float("inf"):
        raise ConfigurationError(
            f"--band is {options.band[0]:g} {options.band[1]:g}, expected two times above 0, the "
            "shorter one first"
        )
    settings = RestSettings(outlier_range=options.outliers)
    conventions = ImuConventions(gyro_unit=options.gyro_unit, accel_unit=options.accel_unit)
    columns = dict(named_column(text) for text in options.column) or None
    recordings, sentences = [], []
    axes = None
    for path in options.recordings:
        # The size of a compressed file is not the number of bytes to read.
        is_plain = os.path.isfile(path) and not path.endswith(".gz")
        size = os.path.getsize(path) if is_plain else None
        with _bar(options, "reading", unit="B", unit_scale=True, total=size) as bar:
            recorded = read_at_rest(
                path,
                options.topic,
                columns or columns_by_name(path, options.rate, sentences, options.layout),
                conventions=conventions,
                rate=options.rate,
                stamp_limits=StampLimits(longest_gap=options.longest_gap),
                progress=bar.update,
            )
            bar.set_description("searching gaps and outliers")
            stamps = recorded.report.stamps
            if stamps.duplicates.count > _MAX_DUPLICATES * stamps.samples:
                rate = stamps.mean_rate
                raise RecordingError(
                    f"{path}: {stamps.duplicates.count} of {stamps.samples} samples have the time "
                    "stamp of another sample, so the stamps are too coarse; state the rate with "
                    f"--rate HZ; the mean is {rate:.4g} Hz"
                )
            if stamps.packets_text:
                raise RecordingError(
                    f"{path}: {stamps.packets_text}; state the rate with --rate HZ"
                )
            axes = _axes(path, recorded.axes.names, options.axis, axes)
            sentences += recorded.report.sentences()[1:]
            recordings.append(
                prepare_axes(recorded.times, recorded.axes.only(axes), axes, path, settings)
            )
            del recorded
    steps = (len(options.recordings) + 1) * len(axes)
    with _bar(options, "analysing", unit="step", total=steps) as bar:
        identification = analysis.identify(recordings, tuple(options.band), bar.update)
        bar.set_description("writing")
        remarks = _write(identification, options)
    outside = list(describe_departures(identification))
    findings, table = (
        list(describe_recordings(identification)),
        list(format_coefficients(identification)),
    )
    drift = _heading_drift(identification)
    print(*sentences, *findings, *table, *remarks, *outside, *drift, options.out, sep="\n")
    if options.report:
        page = allan_page(identification, options.name, [*drift, *outside], [*sentences, *findings])
        write_report(Path(options.out) / REPORT, page)
    return LEAVES_THE_BAND if outside else 0


def _bar(options, task, **settings):
    return progress_bar(desc=task, disable=options.quiet or None, leave=False, **settings)


def _axes(path, names, selected, before) -> tuple[str, ...]:
    """Return the axes to analyse: the selected axes, or all recorded axes."""
    recorded = tuple(axis for axis in analysis.AXES if axis in names)
    chosen = {axis for name in selected for axis in _SHORT_NAMES.get(name, (name,))}
    missing = sorted(chosen - set(recorded))
    if missing or not recorded:
        raise RecordingError(
            f"{path}: has no {', '.join(missing) or 'gyroscope and no accelerometer'}, recorded "
            f"are {', '.join(recorded) or 'none of ' + ', '.join(analysis.AXES)}"
        )
    axes = tuple(axis for axis in recorded if axis in chosen or not chosen)
    if before is not None and axes != before:
        raise RecordingError(
            f"{path}: has {', '.join(axes)}, but the recordings before {', '.join(before)}; "
            "expected the same axes of one sensor, choose them with --axis"
        )
    return axes


def _parser():
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
    add("--axis", action="append", default=[], choices=(*_SHORT_NAMES, *analysis.AXES),
        help="analyse only these axes, once for each; by default all that were recorded")
    add("-o", "--out", default="allan_analysis", metavar="DIR",
        help="folder for the results, by default %(default)s")
    add("--name", default="imu", help="name of the sensor in imu.yaml, by default %(default)s")
    add("--outliers", type=float, default=RestSettings().outlier_range, metavar="IQR",
        help="samples further from the quartiles than this many interquartile ranges are outliers, "
             "0 for none; by default %(default)g")
    add("--band", type=float, nargs=2, default=analysis.DEFAULT_BAND, metavar=("MIN", "MAX"),
        help="averaging times between which bias instability is assumed [s], by default "
             f"{analysis.DEFAULT_BAND[0]:g} {analysis.DEFAULT_BAND[1]:g}")
    add("--longest-gap", type=float, default=StampLimits().longest_gap, metavar="S",
        help="longest accepted gap of a recording [s], by default %(default)g")
    add_report(parser)
    add("--quiet", action="store_true", help="no progress bar, and no lines of progress")
    # fmt: on
    return parser


def _heading_drift(identification) -> list[str]:
    """Return a sentence on the heading drift due to the identified noise about z."""
    if "gyro_z" not in identification.axes:
        return []
    # Only an analysis of the z axis requires the model of the heading.
    from ..heading.straight_drift import straight_drift

    drifts = []
    for walk_limit in (False, True):
        specification = identification.to_specification("imu", walk_limit=walk_limit)
        drifts.append(
            [f"{drift:.3g}" for drift in np.degrees(straight_drift(specification, _DRIFT_TIMES))]
        )
    listed = [
        f"{drift} deg after {format_duration(time)}" for drift, time in zip(drifts[0], _DRIFT_TIMES)
    ]
    sentence = (
        f"the heading drifts by {', '.join(listed)} (rms, straight ahead, z up, not zeroed), "
        "due to this noise only, without turn-on bias, scale factor error and temperature"
    )
    if drifts[1] != drifts[0]:
        sentence += f"; with the random walk at its upper limit by {', '.join(drifts[1])} deg"
    return [sentence]


def _write(identification, options) -> list[str]:
    """Write the results, and return remarks."""
    contents, remarks = file_contents(identification, options.name)
    folder = results_folder(options.out, contents, options.recordings)
    for name, content in contents.items():
        write_whole(folder / name, content)
    return remarks + remove_earlier_files(folder, contents)
