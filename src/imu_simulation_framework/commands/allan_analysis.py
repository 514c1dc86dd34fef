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
import re
from pathlib import Path

import numpy as np

from .. import __version__
from ..characterisation.allan import analysis
from ..characterisation.allan.figures import allan_figure, raw_figure
from ..characterisation.allan.files import (
    deviation_table,
    list_parameters,
    make_kalibr_file,
    specification_comment,
)
from ..characterisation.allan.model import SYMBOLS, TERMS
from ..characterisation.allan.sentences import (
    describe_departures,
    describe_recordings,
    format_coefficient,
    format_coefficients,
)
from ..characterisation.samples_at_rest import RestSettings, prepare_axes
from ..core.errors import ConfigurationError, RecordingError
from ..core.files import format_json
from ..core.programs import ArgumentParser
from ..core.progress import progress_bar
from ..core.sentences import format_duration
from ..core.stamps import StampLimits
from ..core.tables import table_to_csv
from ..core.whole_files import render_figure, write_whole
from ..recordings.at_rest import read_at_rest
from ..recordings.frames import ImuConventions
from ..report.drawing import to_matplotlib
from ..report.page import Page, Section, Table
from ..sensors.files import imu_specification_text
from ..sensors.triads import TRIADS
from .command_line import (
    add_layout_option,
    add_report,
    add_unit_options,
    guessed_columns,
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
_DRIFT_STEP = 10.0  # s
_FIGURE = re.compile(rf"(allan|raw)_({'|'.join(analysis.SENSORS)})(_\d+)?\.png")


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
                columns or guessed_columns(path, options.rate, sentences, options.layout),
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
        remarks = _write(identification, options.out, options.name, options.recordings)
    outside = list(describe_departures(identification))
    findings, table = (
        list(describe_recordings(identification)),
        list(format_coefficients(identification)),
    )
    drift = _heading_drift(identification)
    print(*sentences, *findings, *table, *remarks, *outside, *drift, options.out, sep="\n")
    if options.report:
        page = _page(identification, options.name, [*drift, *outside], [*sentences, *findings])
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
        type=number_type(lambda rate: 1e-3 <= rate <= 1e7, "is no rate from 0.001 to 1e7 Hz"),
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


def _page(identification, name, answers, findings) -> Page:
    """Return an analysis as a web page."""
    sections = []
    for sensor, axes in identification.sensors.items():
        triad, rows = TRIADS[sensor], []
        for term in TERMS:
            unit, factor = triad.datasheet(term)
            label = f"{SYMBOLS[term]} {term.replace('_', ' ')}"
            for axis in axes:
                line = format_coefficient(identification.axes[axis], term, factor)
                rows.append((label, triad.unit_of(term), unit, axis, line))
        headings = ("term", "unit", "and", "axis", "estimate (95 % interval), in both units")
        sections.append(
            Section(
                f"Allan deviation of the {sensor}",
                table=Table(headings, rows),
                figure=allan_figure(identification, sensor),
                how_to_read="Band: 95 % interval of the measurement. Line: identified sensor.",
            )
        )
        for number, recording in enumerate(identification.recordings, 1):
            count = f" {number}" if len(identification.recordings) > 1 else ""
            sections.append(
                Section(
                    f"Recording{count} of the {sensor}",
                    figure=raw_figure(recording, sensor),
                    folded=True,
                )
            )
    sections.append(Section("Findings in the recordings", text=findings))
    sources = ", ".join(recording.source for recording in identification.recordings)
    return Page(
        title=f"Allan analysis of {name}",
        summary=answers,
        sections=sections,
        footer=f"{sources}, imu_simulation_framework {__version__}",
    )


def _heading_drift(identification) -> list[str]:
    """Return a sentence on the heading drift due to the identified noise about z."""
    if "gyro_z" not in identification.axes:
        return []
    # Only an analysis of the z axis requires these modules.
    from ..heading.model.imu_error_sources import yaw_error_model
    from ..motion.sources import straight

    motion = straight(_DRIFT_TIMES[-1], rate=1.0 / _DRIFT_STEP)
    drifts = []
    for walk_limit in (False, True):
        specification = identification.to_specification("imu", walk_limit=walk_limit)
        model = yaw_error_model(specification, motion, _DRIFT_STEP)
        rms = np.degrees(np.sqrt(model.mean() ** 2 + model.variance()))
        drifts.append([f"{rms[round(time / _DRIFT_STEP)]:.3g}" for time in _DRIFT_TIMES])
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


def _write(identification, folder, name, inputs) -> list[str]:
    """Write the results, and return remarks."""
    contents = {
        "imu.yaml": imu_specification_text(
            identification.to_specification(name), specification_comment(identification)
        ).encode(),
        "allan_parameters.json": format_json(list_parameters(identification)).encode(),
        "allan_deviation.csv": table_to_csv(deviation_table(identification)).encode(),
    }
    remarks = []
    try:
        contents["kalibr_imu.yaml"], omissions = make_kalibr_file(identification, name)
        remarks += omissions
    except ConfigurationError as error:
        remarks.append(f"kalibr_imu.yaml is not written: {error}")
    for sensor in identification.sensors:
        contents[f"allan_{sensor}.png"] = render_figure(
            to_matplotlib(allan_figure(identification, sensor))
        )
        for number, recording in enumerate(identification.recordings, 1):
            ending = f"_{number}" if len(identification.recordings) > 1 else ""
            contents[f"raw_{sensor}{ending}.png"] = render_figure(
                to_matplotlib(raw_figure(recording, sensor))
            )
    folder = results_folder(folder, contents, inputs)
    for file_name, content in contents.items():
        write_whole(folder / file_name, content)
    # Files of an earlier analysis in the same folder would pass for results of this analysis.
    figures = (path.name for path in folder.glob("*.png") if _FIGURE.fullmatch(path.name))
    for file_name in sorted({"kalibr_imu.yaml", *figures}):
        if file_name not in contents and (folder / file_name).is_file():
            (folder / file_name).unlink()
            remarks.append(f"{file_name} of an earlier analysis is removed")
    return remarks
