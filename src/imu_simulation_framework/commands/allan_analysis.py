"""Identify the noise parameters of an IMU from the Allan deviation of static recordings.

The command line is defined in :mod:`.parsers.allan_analysis`.
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
from ..core.progress import progress_bar
from ..core.sentences import format_duration
from ..core.stamps import StampLimits
from ..core.whole_files import write_whole
from ..recordings.at_rest import read_at_rest
from ..recordings.frames import ImuConventions
from ..recordings.memory import MemoryNeed, estimate_memory
from ..recordings.messages import IMU_TYPES
from .command_line import (
    columns_by_name,
    named_column,
    results_folder,
    write_report,
)
from .parsers.allan_analysis import SHORT_NAMES

LEAVES_THE_BAND = 3
"""Exit code if the identified model does not fit the measured Allan deviation."""
_MAX_DUPLICATES = 0.1  # fraction of duplicate stamps above which the time resolution is too low
REPORT = "allan_analysis.html"
_MEMORY = MemoryNeed(fixed=180e6, per_sample=55.0, per_column=0.0)
_DRIFT_TIMES = (60.0, 600.0, 3600.0)  # s, times after which the heading drift is reported


def run(options):
    """Analyse the recordings specified on the command line.

    Parameters
    ----------
    options : argparse.Namespace
        Options of the command line.

    Returns
    -------
    int
        Exit code: 0, or :data:`LEAVES_THE_BAND`.
    """
    if not 0.0 < options.band[0] < options.band[1] < float("inf"):
        raise ConfigurationError(
            f"--band is {options.band[0]:g} {options.band[1]:g}, expected two times above 0, the "
            "shorter one first"
        )
    settings = RestSettings(outlier_range=options.outliers)
    conventions = ImuConventions(gyro_unit=options.gyro_unit, accel_unit=options.accel_unit)
    columns = dict(named_column(text) for text in options.column) or None
    recordings, sentences, topics = [], [], []
    axes = None
    for path in options.recordings:
        for remark in estimate_memory(path, _MEMORY, [IMU_TYPES], options.topic):
            print(remark, flush=True)
        # The progress bar counts uncompressed bytes, whose number is unknown for a .gz file.
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
            bar.set_description("searching for gaps and outliers")
            stamps = recorded.report.stamps
            if stamps.duplicates.count > _MAX_DUPLICATES * stamps.samples:
                rate = stamps.mean_rate
                raise RecordingError(
                    f"{path}: {stamps.duplicates.count} of {stamps.samples} samples have duplicate "
                    f"stamps, expected at most {100.0 * _MAX_DUPLICATES:g} %; state the rate with "
                    f"--rate HZ (the mean rate is {rate:.4g} Hz)"
                )
            if stamps.packets_text:
                raise RecordingError(
                    f"{path}: {stamps.packets_text}; state the rate with --rate HZ"
                )
            axes = _axes(path, recorded.axes.names, options.axis, axes)
            sentences += recorded.report.sentences()[1:]
            topics.append(recorded.report.topic)
            recordings.append(
                prepare_axes(recorded.times, recorded.axes.only(axes), axes, path, settings)
            )
            del recorded
    steps = (len(options.recordings) + 1) * len(axes)
    with _bar(options, "analysing", unit="step", total=steps) as bar:
        identification = analysis.identify(recordings, tuple(options.band), bar.update)
        bar.set_description("writing")
        remarks = _write(identification, options, topics[0])
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


def _axes(path, names, selected, previous) -> tuple[str, ...]:
    """Return the axes to analyse: the selected axes, or all recorded axes."""
    recorded = tuple(axis for axis in analysis.AXES if axis in names)
    selected_axes = {axis for name in selected for axis in SHORT_NAMES.get(name, (name,))}
    missing = sorted(selected_axes - set(recorded))
    if missing or not recorded:
        raise RecordingError(
            f"{path}: has no {', '.join(missing) or 'gyroscope and no accelerometer'}; recorded "
            f"axes: {', '.join(recorded) or 'none of ' + ', '.join(analysis.AXES)}"
        )
    axes = tuple(axis for axis in recorded if axis in selected_axes or not selected_axes)
    if previous is not None and axes != previous:
        raise RecordingError(
            f"{path}: the axes are {', '.join(axes)}, expected {', '.join(previous)} as in the "
            "previous recordings; choose the axes to analyse with --axis"
        )
    return axes


def _heading_drift(identification) -> list[str]:
    """Return a message with the heading drift that the identified z-axis noise causes."""
    if "gyro_z" not in identification.axes:
        return []
    # Imported here because only an analysis of the z axis requires the heading model.
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
    message = (
        f"the heading drifts by {', '.join(listed)} (rms, straight ahead, z up, not zeroed) "
        "due to this noise only, without turn-on bias, scale factor error and temperature"
    )
    if drifts[1] != drifts[0]:
        message += f"; by {', '.join(drifts[1])} deg with the random walk at its upper limit"
    return [message]


def _write(identification, options, topic) -> list[str]:
    """Write the results and return remarks on them."""
    contents, remarks = file_contents(identification, options.name, topic)
    folder = results_folder(options.out, contents, options.recordings)
    for name, content in contents.items():
        write_whole(folder / name, content)
    return remarks + remove_earlier_files(folder, contents)
