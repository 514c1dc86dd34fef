"""Check a recording for faults that would stop an experiment or distort its results.

The command line is defined in :mod:`.parsers.check_recording`.
"""

from __future__ import annotations

import textwrap
from pathlib import Path

import numpy as np

from .. import __version__
from ..core import colours, whole_files
from ..core.errors import RecordingError
from ..core.files import package_share, recording_name
from ..core.sentences import format_degrees, join_names
from ..drive.feasibility import check_experiment
from ..drive.recorded_drive.setup import config_text, open_lines, set_up
from ..drive.results.files import safe_name
from ..recordings.cleaning import describe_samples
from ..recordings.evidence import collect_evidence
from ..recordings.formats.contents import list_contents
from ..recordings.frames import conventional_imu
from ..recordings.imu import mask_unknown_parts
from ..recordings.memory import MemoryNeed, estimate_memory
from ..recordings.messages import IMU_TYPES, REFERENCE_TYPES
from ..recordings.plausibility.check import NO_IMU
from ..recordings.plausibility.findings import NOT_INDEPENDENT, TOO_FAST
from ..recordings.plausibility.relation import gyro_heading, imu_heading, reference_heading
from ..report import style
from ..report.drawing import to_matplotlib
from ..report.figure import Figure
from ..report.page import Page, Section
from . import recording_options
from .command_line import write_report

_MEMORY = MemoryNeed(fixed=250e6, per_sample=22.0, per_column=8.8)


def run(options):
    """Check the recording specified on the command line.

    Parameters
    ----------
    options : argparse.Namespace
        Options of the command line.

    Returns
    -------
    int
        Exit code: 0, or 3 if a finding prevents the use of the recording.
    """
    config = options.config or package_share() / "config.ini"
    settings = recording_options.parse_settings(options.setting)
    for path in filter(None, (options.recording, options.imu)):
        for remark in estimate_memory(path, _MEMORY, [IMU_TYPES, REFERENCE_TYPES]):
            print(remark, flush=True)
    setup = set_up(config, options.recording or "", options.imu or "", settings, options.layout)
    check = check_experiment(setup.load())
    if check.lacks_imu:
        setup.set("imu_recording", use="false")
    print(*report_lines(setup, check), sep="\n")
    written = write_check(options.out or _folder(options, check), setup, check)
    print(*written, sep="\n")
    if options.report:
        write_report(written[-1].with_name("recording.html"), _page(setup, check, written[-1]))
    if check.problems:
        raise RecordingError(f"{_unusable(check)}{_list_open_columns(setup, written[-1])}")
    print(verdict(check, written[-1]))
    return 3 if check.critical else 0


def verdict(check, configuration) -> str:
    """Return a message that states whether a recording can be used.

    Parameters
    ----------
    check : RecordingCheck
        Result of the check.
    configuration : Path
        Path of the written config.ini.

    Returns
    -------
    str
        Message for the user.
    """
    if check.problems:
        return _unusable(check)
    if not check.critical:
        only = f"; {NO_IMU}" if check.lacks_imu else ""
        usable = "usable"
        if any(finding.fault == NOT_INDEPENDENT for finding in check.findings):
            usable = f"usable for the path only, since the reference is {NOT_INDEPENDENT}"
        return f"{usable}: run_experiment.py config:={configuration}{only}"
    faults = join_names(dict.fromkeys(finding.fault for finding in check.critical))
    if all(finding.settings for finding in check.critical):
        return f"usable with the settings in {configuration}, which correct: {faults}"
    return f"not usable as it is: {faults}"


def _unusable(check) -> str:
    return f"not usable as it is: {check.problems[0]}"


def _list_open_columns(setup, configuration) -> str:
    """Return a message that lists the columns in config.ini that the user has to choose."""
    sections = [
        f"[{section}] {join_names(quantities)}"
        for section, quantities in setup.open_columns.items()
    ]
    return f"; choose the lines of {' and '.join(sections)} in {configuration}" if sections else ""


def _page(setup, check, configuration) -> Page:
    """Return all results of a check as one web page."""
    parts = report_parts(setup, check)
    sections = [
        Section(title[0].upper() + title[1:], text=sentences)
        for title, sentences in reversed(parts.items())
        if sentences
    ]
    if check.as_understood is not None:
        figure = recording_figure(check.as_understood, _title(check))
        sections.append(Section("Recording", figure=figure))
    return Page(
        title="Check of a recording",
        summary=[verdict(check, configuration)],
        sections=sections,
        footer=f"imu_simulation_framework {__version__}",
    )


def _folder(options, check) -> str:
    """Return the default folder of the results, which never contains the given config.ini."""
    read = check.reference_samples or check.imu_samples
    known = options.recording or (read and read.path) or Path(options.config or "recording").stem
    folder = f"check_{safe_name(recording_name(known))}"
    while options.config and Path(folder).resolve() == Path(options.config).resolve().parent:
        folder += "_again"
    return folder


def report_lines(setup, check) -> list[str]:
    """Return the lines of the report.

    Parameters
    ----------
    setup : RecordingSetup
        Settings with which the recording is read.
    check : RecordingCheck
        Result of the check.

    Returns
    -------
    list of str
        Titles and indented messages.
    """
    lines = []
    for title, sentences in report_parts(setup, check).items():
        if sentences:
            lines += [f"{title}:", *(f"  {sentence}" for sentence in sentences)]
    return lines


def report_parts(setup, check) -> dict[str, list[str]]:
    """Return the messages of each section of the report.

    The first sections follow the steps in which a recording is read: format, columns, evidence
    for units and axes, and samples.

    Parameters
    ----------
    setup : RecordingSetup
        Settings with which the recording is read.
    check : RecordingCheck
        Result of the check.

    Returns
    -------
    dict of str to list of str
        Messages by title.
    """
    speed = [finding for finding in check.findings if finding.fault == TOO_FAST]
    critical = [
        finding for finding in check.findings if finding.is_critical and finding not in speed
    ]
    return {
        "format": _format_lines(check),
        "columns": [*_column_lines(setup, check), *setup.sentences, *_odometry(setup, check)],
        "ambiguous columns: keep one line for each quantity in its section": _open_sections(setup),
        "evidence": _evidence_lines(setup, check),
        "samples": [*_sample_lines(check), *check.remarks],
        "would stop an experiment": check.problems,
        "rejected until it is corrected": [finding.sentence() for finding in critical],
        "rejected in experiments only, acceptable for yaw errors": [
            finding.sentence() for finding in speed
        ],
        "worth knowing": [
            finding.sentence() for finding in check.findings if not finding.is_critical
        ],
    }


def _open_sections(setup) -> list[str]:
    lines = []
    for section in setup.open_columns:
        lines += [f"[{section}]", *open_lines(setup, section)]
    return lines


def _parts(check):
    """Yield the name, samples and column section of the reference and of the IMU, if read."""
    for name, samples, section in (
        ("reference", check.reference_samples, "reference_columns"),
        ("IMU", check.imu_samples, "imu_columns"),
    ):
        if samples is not None:
            yield name, samples, section


def _format_lines(check) -> list[str]:
    """Return messages with the format, tables and topics of the recorded files."""
    formats = {samples.path: samples.format for _, samples, _ in _parts(check)}
    lines = []
    for path, format in formats.items():
        try:
            lines += list_contents(path, format).lines()
        except RecordingError as error:
            lines.append(str(error))
    return lines


def _column_lines(setup, check) -> list[str]:
    """Return messages with the source and the column map of reference and IMU."""
    lines = []
    configuration = setup.load()
    read = {name: (samples, section) for name, samples, section in _parts(check)}
    for name in ("reference", "IMU"):
        if name not in read:
            lines.append(f"{name}: nothing")
            continue
        samples, section = read[name]
        kind = f" ({samples.message_type})" if samples.message_type else ""
        lines.append(f"{name}: {samples.source}{kind}, {len(samples)} samples")
        mapped = configuration.columns[section]
        if not mapped:
            quantities = [quantity for quantity in samples.columns if quantity != "receipt"]
            lines.append(
                "  named by the format, or with the names of this package: "
                f"{join_names(quantities)}"
            )
        lines += [f"  {quantity} = {column}" for quantity, column in mapped.items()]
    return lines


def _evidence_lines(setup, check) -> list[str]:
    """Return messages on the units of the IMU and on its turns compared with the reference."""
    lines = []
    if check.imu_samples is not None:
        conventions = setup.load().imu_recording
        samples = conventional_imu(mask_unknown_parts(check.imu_samples), conventions)
        lines += collect_evidence(samples).sentences()
    if check.as_configured is not None:
        lines += _turns(check.as_configured)
    return lines


def _sample_lines(check) -> list[str]:
    """Return messages with number, rate and duration of the samples of reference and IMU."""
    return [f"{name}: {describe_samples(samples)}" for name, samples, _ in _parts(check)]


def _odometry(setup, check):
    """Yield a message if the reference may be wheel odometry or derived from the IMU."""
    reference, samples = setup.load().reference, check.reference_samples
    if samples is None or samples.message_type != "nav_msgs/Odometry":
        return
    if reference.yaw_deviation is None and reference.turn_error + reference.turn_slip == 0.0:
        yield (
            f"the reference: if {samples.topic} is wheel odometry, the yaw error also includes the "
            "slip of the wheels (state it with [reference] turn_slip); if the odometry takes its "
            "heading from this IMU, the yaw error does not show the drift of the IMU"
        )


def _turns(observations) -> list[str]:
    lines = []
    for name in ("reference_imu", "reference_gyro", "imu_gyro"):
        relation = getattr(observations, name)
        if relation is None:
            continue
        first, second = map(format_degrees, relation.net)
        line = f"{relation.first} {first}, {relation.second} {second}"
        if name.startswith("reference") and observations.known < 1.0:
            share = 100.0 * observations.known
            line += f" in the {share:.0f} % of the time in which the reference heading is known"
        delay_text = "no delay fits clearly better"
        if relation.delay:
            sense = "late" if relation.delay > 0.0 else "early"
            delay_text = f"fits best with {relation.second} {abs(relation.delay):.2f} s {sense}"
        scale = relation.scale_text(".3f")
        fit = f"correlation {relation.correlation:.3f}, scale {scale}, {delay_text}"
        lines.append(f"{line}; {fit if relation.conclusive else 'too few turns to compare'}")
    return lines or ["nothing to compare"]


def write_check(folder, setup, check) -> list[Path]:
    """Write the figure and the config.ini of a check.

    Parameters
    ----------
    folder : path-like
        Folder of the files.
    setup : RecordingSetup
        Settings with which the recording is read.
    check : RecordingCheck
        Result of the check.

    Returns
    -------
    list of Path
        Written files.

    Raises
    ------
    ResultError
        A file cannot be written, or is the config.ini that the check is based on.
    """
    folder = whole_files.make_folder(folder)
    whole_files.refuse_overwriting(folder / "config.ini", [setup.path])
    file_names = []
    if check.as_understood is not None:
        file_names.append(folder / "recording.png")
        figure = recording_figure(check.as_understood, _title(check))
        whole_files.write_whole(file_names[-1], whole_files.render_figure(to_matplotlib(figure)))
    file_names.append(folder / "config.ini")
    text = config_text(setup, check.findings, folder)
    whole_files.write_whole(file_names[-1], text.encode("utf-8"))
    return file_names


def _title(check) -> str:
    """Return the title of the figure: the names of the files, and how they were read."""
    read = [s for s in (check.reference_samples, check.imu_samples) if s is not None]
    names = [" ".join((Path(s.path).name, s.topic)).strip() for s in read]
    title = " and ".join(dict.fromkeys(names))
    if any(finding.settings for finding in check.findings):
        title += "; read with the settings that the findings propose"
    return title


_GYROSCOPE = {"color": colours.DIFFERENCE, "linestyle": (0, (1, 1.2)), "linewidth": 1.8}


def recording_figure(observations, title) -> Figure:
    """Return the description of a figure with path, yaws, yaw rates and speed of a recording.

    Each yaw starts at zero.

    Parameters
    ----------
    observations : Observations
        Measurements of the recording.
    title : str
        Names of the recordings, and how they were read.

    Returns
    -------
    Figure
        Described figure.
    """
    reference = observations.reference
    start = reference.index[0]
    limits = 0.0, reference.index[-1] - start
    figure = Figure(textwrap.fill(title, 95), "time since the reference's first sample [s]")
    x, y = (reference[name].to_numpy() - reference[name].iloc[0] for name in "xy")
    figure.panel("y, north of the start [m]", x="x, east of the start [m]", equal=True)
    figure.path(x, y, {**style.REAL, "linewidth": 1.2})
    for row, symbol, name in ((0, "circle-open", "start"), (-1, "square-open", "end")):
        figure.points([x[row]], [y[row]], colours.SENSOR, name, 10, symbol)
    headings = [(reference_heading(reference), {**style.REFERENCE, "linewidth": 4.0}, "")]
    if observations.imu is not None:
        headings.append((imu_heading(observations.imu), style.REAL, ""))
        headings.append((gyro_heading(observations.imu), _GYROSCOPE, ", integrated"))
    headings = [
        (heading, look, heading.name.replace("the ", "", 1) + more)
        for heading, look, more in headings
        if heading is not None
    ]
    figure.panel("yaw from its start [deg]", "Yaw", height=260, x_limits=limits)
    for heading, look, name in headings:
        yaw_changes = np.degrees(heading.angle - heading.at(start))
        figure.line(heading.time - start, yaw_changes, look, name)
    for begin, end in _unknown(reference):
        figure.span(begin, end, colours.SHADE, 0.1, "reference yaw unknown")
    figure.panel("yaw rate [deg/s]", "Yaw rate, one-second means", height=190, x_limits=limits)
    for heading, look, name in headings:
        times, rates = _rates(heading)
        figure.line(times - start, np.degrees(rates), look, name)
    times, speeds = _speeds(reference)
    figure.panel("speed [m/s]", "Speed", height=190, x_limits=limits)
    return figure.line(times - start, speeds, style.REAL)


def _unknown(reference):
    """Yield the start and end of each interval in which the reference heading is unknown."""
    if "yaw_known" in reference:
        unknown = np.concatenate([[False], reference["yaw_known"].to_numpy() < 1.0, [False]])
        edges = np.flatnonzero(np.diff(unknown.astype(int)))
        times = reference.index.to_numpy(dtype=float) - reference.index[0]
        for first, end in zip(edges[::2], edges[1::2]):
            yield times[first], times[end - 1]


def _rates(heading):
    window = max(1.0, 2.0 * heading.period)
    grid = np.arange(heading.time[0], heading.time[-1] - window, 0.25 * window)
    return grid + 0.5 * window, (heading.at(grid + window) - heading.at(grid)) / window


def _speeds(reference):
    times = reference.index.to_numpy(dtype=float)
    window = max(1.0, 2.0 * float(np.median(np.diff(times))))
    grid = np.arange(times[0], times[-1] - window, 0.25 * window)
    displacements = [
        np.interp(grid + window, times, reference[name]) - np.interp(grid, times, reference[name])
        for name in ("x", "y")
    ]
    return grid + 0.5 * window, np.hypot(*displacements) / window
