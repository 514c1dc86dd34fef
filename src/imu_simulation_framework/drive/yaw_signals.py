"""Any yaw over time that a person names: of a bag, a text file or an experiment's result."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Mapping, Sequence

import numpy as np
import pandas as pd

from ..core.angles import unwrap
from ..core.errors import ConfigurationError, RecordingError, ResultError
from ..core.sentences import join_names, number_duplicates, quote
from ..core.signals import median_rate
from ..core.tables import POSES
from ..heading.error_split import ESTIMATED, ZEROS
from ..heading.identification.terms import UNKNOWN_LAG, ObservedYawError, observed_yaw_error
from ..heading.yaw_comparison import ComparisonSettings, compare_yaw, lateness
from ..motion import sources as motions
from ..motion.motion import Motion
from ..recordings import file_access
from ..recordings.formats.any_format import likely_topics, topics_of_bag
from ..recordings.guessing.files import find_columns, guess_angle, guess_columns
from ..recordings.imu import turn_of_gyroscope
from ..recordings.messages import IMU_TYPES, REFERENCE_TYPES
from ..recordings.reading import read_imu, read_reference
from . import preparation
from .check import NO_IMU, ensure_plausible
from .recording_setup import CONFIGURATION, set_up_named
from .results.files import MARKER, ResultFolder, find_result, load_table
from .summary import previous_summary

SIGN = "@"  # between a path and the topic, column or table that is meant

TABLES = {
    "reference": "reference",
    "imu_real": "recorded IMU",
    "ground_truth": "simulator's truth",
    "imu_simulated": "simulated IMU",
    "odometer": "odometer",
    "trajectory_data": "trajectory",
}
"""Tables of a result that have a yaw, and what they are called."""

FEWEST_COMMON = 2
"""Samples of a yaw that compare, at least."""


@dataclass(frozen=True)
class YawSignal:
    """A yaw over time.

    ``name``: file, and what of it; ``yaw`` [rad], unwrapped, indexed by time [s] on its own clock;
    ``poses``: the table that it is of, if it is one of poses; ``sources``: what was read;
    ``remarks``: what was found in it that a person should know; ``group``: of a result: what the
    names of all its yaws begin with.
    """

    name: str
    yaw: pd.Series
    poses: pd.DataFrame | None = None
    sources: tuple[Path, ...] = ()
    remarks: tuple[str, ...] = ()
    group: str = ""


def read_yaw_signals(text) -> list[YawSignal]:
    """Read what a person names.

    Raises RecordingError, ResultError: there is no such thing, it cannot be read, or it has no yaw.
    Raises ImplausibleRecordingError: that of a config.ini gives no answer, and is not accepted.
    ``text``: a path, or ``PATH@WHAT``. The path is that of a result (its yaws without WHAT:
    reference, recorded and simulated IMU, the simulator's truth; with it one of :data:`TABLES`), of
    a bag (its likeliest reference and IMU; WHAT is a topic), of a CSV, TUM or ``rostopic echo -p``
    file (WHAT is the column of a CSV, with its unit in brackets), or the config.ini of a recording
    (its reference and IMU, read as it says). Returns list of YawSignal: at least one.
    """
    signals = _signals(*split_name(text))
    for signal in signals:
        if len(signal.yaw) < FEWEST_COMMON:
            raise RecordingError(
                f"{signal.sources[0]}: holds too few yaws, {len(signal.yaw)}; at least "
                f"{FEWEST_COMMON} are needed to compare"
            )
    return signals


def _signals(path, what) -> list[YawSignal]:
    if is_result(path):
        return _of_result(path, what)
    if not os.path.exists(path):
        raise RecordingError(f"{path}: there is no such recording or result")
    if path.endswith(CONFIGURATION) and not what:
        return _of_configuration(path)
    format = file_access.recording_format(path)
    if format == "bag":
        return _of_bag(path, what)
    if what and format not in file_access.COLUMN_FORMATS:
        raise RecordingError(
            f"{path}: this is {format}, which has one yaw only; leave {SIGN}{what} out"
        )
    if what:
        return [_of_column(path, what, format)]
    return _of_both(path) if format == "tables" else [_of_text(path, format)]


def split_name(text):
    """Return the path and what of it; a path with the sign in its name is left whole."""
    if os.path.exists(text) or SIGN not in text:
        return text, ""
    places = [place for place, letter in enumerate(text) if letter == SIGN]
    for place in reversed(places):
        if is_result(text[:place]) or os.path.exists(text[:place]):
            return text[:place], text[place + 1 :]
    return text[: places[0]], text[places[0] + 1 :]


def is_result(path) -> bool:
    """Return whether a path is that of a result: its folder, or ``<folder>/<prefix>``."""
    path = Path(path)
    if path.is_dir():
        if file_access.kitti_folder(path) or file_access.csv_files(path):
            return False
        try:
            file_access.storage_files(path)
        except RecordingError:
            return True  # a folder of results, or a sentence on what it lacks
        return False
    if path.exists():
        return False
    return bool(path.name) and (path.parent / f"{path.name}_{MARKER}").is_file()


def _of_result(path, what):
    folder = find_result(path)
    if what and what not in TABLES:
        raise ResultError(
            f"{path}: a result has no yaw {quote(what)}; it has {join_names(TABLES)}, if recorded"
        )
    wanted = [what] if what else [name for name in TABLES if name != "trajectory_data"]
    group, signals = short_name(folder.folder), []
    for name in wanted:
        table = load_table(folder, name)
        if table is not None:
            poses, sources = table if name == "reference" else None, (folder.path(f"{name}.csv"),)
            yaw, title = table["yaw"].dropna(), f"{group} {TABLES[name]}"
            signals.append(YawSignal(title, yaw, poses, sources, group=group))
    if what and not signals:
        raise ResultError(f"{folder.prefix_path}: this result has no {TABLES[what]} ({what})")
    return signals


def _of_configuration(path):
    configuration = set_up_named(path).load()
    name = preparation.drive_name(configuration)
    files = preparation.recording_sources(configuration)
    check = ensure_plausible(configuration)
    findings = [f"{name}: {finding.sentence()}" for finding in check.findings]
    parts = [("reference", files.reference, preparation.read_configured_reference)]
    if configuration.imu_recording.use and not check.without_imu:
        parts.append(("IMU", files.imu, preparation.read_configured_imu))
    signals = [
        _signal(f"{name} {what}", read(configuration), Path(file)) for what, file, read in parts
    ]
    return [*signals[:-1], replace(signals[-1], remarks=(*signals[-1].remarks, *findings))]


def _of_bag(path, what):
    topics = topics_of_bag(path)
    references, imus = (likely_topics(topics, kinds) for kinds in (REFERENCE_TYPES, IMU_TYPES))
    if what:
        bare = what.strip("/")
        kinds = {name: topics[name][0] for name in (what, f"/{bare}", bare) if name in topics}
        if IMU_TYPES[0].name in kinds.values():
            return [_of_recording(read_imu, path, topic=what)]
        if not kinds and any(f"/{bare}".startswith(f"{name}.") for name in topics):
            return [_of_column(path, f"/{bare}", "bag")]
        others = {kind.name for kind in REFERENCE_TYPES}.isdisjoint(kinds.values())
        leaders = tuple(f"{name}." for name in kinds)
        if kinds and others and guess_columns(path).imu.get("time", "").startswith(leaders):
            return [_of_recording(read_imu, path, topic=what)]
        return [_of_recording(read_reference, path, topic=what)]
    return _of_both(path, references, imus)


def _of_both(path, references=(), imus=()):
    """Return the yaws of the reference and of the IMU, as far as there are such.

    Of a bag they are those of the first of these topics; without any, and of other formats, of the
    columns that seem to be meant.
    """
    signals, refusals = [], []
    for what, read, topics in (("reference", read_reference, references), ("IMU", read_imu, imus)):
        if topics:
            signals.append(_of_recording(read, path, topic=topics[0]))
            continue
        try:
            signal = _of_recording(read, path)
            signals.append(replace(signal, name=f"{signal.name} {what}"))
        except RecordingError as error:
            refusals.append(error)
    if not signals:
        raise refusals[0]
    return signals


def _of_column(path, column, format):
    guess = guess_columns(path, column.partition(" [")[0])
    if not guess.time:
        why = [reason for reason in guess.reasons if "is not taken as the time" in reason]
        raise RecordingError(
            f"{path}: {'; '.join(['no column could be identified as the time', *why])}; a header "
            "with its unit, as time [s], tells it"
        )
    remarks = ()
    if "[" not in column:
        named, column = column, guess_angle(path, column)
        if column == named:
            reported = f"{named} [deg]"
            remarks = (f"{path}: {named} is taken for radians; {SIGN}{reported} says degrees",)
        else:
            remarks = (f"{path}: {named} is taken as {column}, by its name and numbers",)
    columns = {"time": guess.time, "yaw": column}
    signal = _of_recording(read_imu, path, format=format, columns=columns)
    remarks = signal.remarks + remarks
    return YawSignal(f"{signal.name} {column}", signal.yaw, None, signal.sources, remarks)


def _of_text(path, format):
    """Return the poses' yaw; the IMU's where there are none; else the course of satellite fixes."""
    if format == "tum":
        return _of_recording(read_reference, path)
    readings, refusals = [], []
    for section, read in (("reference", read_reference), ("imu_recording", read_imu)):
        try:
            columns = find_columns(path, section).columns if format == "csv" else None
            options = {"format": "csv", "columns": columns} if columns else {}
            signal = _of_recording(read, path, **options)
            if columns:
                given = join_names(f"{name} = {column}" for name, column in columns.items())
                remark = f"{path}: the columns are guessed, look at them: {given}"
                signal = replace(signal, remarks=(*signal.remarks, remark))
            readings.append(signal)
        except RecordingError as error:
            refusals.append(error)
    if not readings:
        raise refusals[-1]
    of_course = [one.poses is not None and "yaw_known" in one.poses for one in readings]
    return readings[of_course.index(min(of_course))]


def _of_recording(read, path, **options):
    name = " ".join(filter(None, (short_name(Path(path)), options.get("topic"))))
    return _signal(name, read(path, **options), Path(path))


def _signal(name, recorded, path):
    table = recorded.table
    poses = table if set(POSES) <= set(table) else None
    remarks = recorded.report.sentences()
    if "pitch" in table:
        steep = float(np.mean(table["pitch"].abs() > _STEEP))
        if steep > _SELDOM:
            remarks.append(
                f"{name}: its x axis is steeper than {np.degrees(_STEEP):.0f} deg in "
                f"{100.0 * steep:.0f} % of its samples, where a yaw is no heading"
            )
    return YawSignal(name, table["yaw"].dropna(), poses, (path,), tuple(remarks))


def short_name(path):
    """Return the end of a path that tells it from others; a run's folder has a number only."""
    parts = Path(os.path.abspath(path)).parts
    return "/".join(parts[-3:] if parts[-1].isdecimal() else parts[-1:])


_STEEP = np.radians(60.0)
_SELDOM = 0.1  # a share of samples that is of no account
_SAME_TURN = np.radians(0.1)  # a yaw that stays that near to the integral of the gyroscope is that
NO_SETTINGS: Mapping[str, Mapping[str, str]] = {}


@dataclass(frozen=True)
class ReadDrive:
    """A drive with its yaw error.

    ``observed``: of the yaw output. ``of_gyroscope``: of the integral of the gyroscope's rate about
    the vertical, at the same times; None where there is none, or where the yaw output is that.
    ``begin``: of the yaw error, after the drive's start [s]; ``path``: the smoothed reference as
    Poses, from the drive's start; ``satellite``: whether the reference is satellite positioning,
    whose noise is correlated; ``rate``: samples per second of the recorded IMU [Hz]; ``sources``:
    what was read; ``remarks``.
    """

    observed: ObservedYawError
    of_gyroscope: ObservedYawError | None
    begin: float
    path: pd.DataFrame
    satellite: bool
    rate: float
    sources: tuple[Path, ...]
    remarks: tuple[str, ...]

    def of(self, what: str) -> ReadDrive:
        """Return the drive with the error of the ``yaw``, or of the ``gyroscope``.

        Raises ConfigurationError: no gyroscope was recorded that says anything else than the yaw.
        """
        if what == "yaw":
            return self
        if self.of_gyroscope is None:
            raise ConfigurationError(
                f"{self.observed.name}: no gyroscope's rate about the vertical was recorded that "
                "says anything else than the yaw"
            )
        return replace(self, observed=self.of_gyroscope)

    def named(self, name: str) -> ReadDrive:
        """Return the drive with another name."""
        gyroscope = self.of_gyroscope and replace(self.of_gyroscope, name=f"{name}, gyroscope")
        return replace(self, observed=replace(self.observed, name=name), of_gyroscope=gyroscope)

    def motion(self, rate: float = motions.RATE) -> Motion:
        """Return the true motion while the yaw error was observed, taken for level, from time 0.

        Raises MotionError: there is too little of it. ``rate``: samples per second [Hz].
        """
        end = min(self.begin + float(self.observed.time[-1]), float(self.path.index[-1]))
        samples = int((end - self.begin) * rate + 1e-6) + 1
        motion = motions.planar(self.path, at=self.begin + np.arange(samples) / rate)
        return replace(motion, time=np.arange(samples) / rate)


def read_drives(
    texts: Sequence[str],
    config: str | None = None,
    step: float = 1.0,
    settings: Mapping[str, Mapping[str, str]] = NO_SETTINGS,
) -> tuple[list[ReadDrive], list[str]]:
    """Read what a person names; drives of one name get numbers.

    Raises FrameworkError: one cannot be read, or has no recorded IMU. Returns ``drives`` (list of
    ReadDrive): each once; ``remarks`` (list of str): which ones were left out, as they are the same
    as another. ``texts`` (sequence of str): each a result, a recording, the config.ini of one, or
    the name of a bundled drive; ``config``: a config.ini that describes the recordings; by default
    they are looked at as a check does; ``step``: between yaw errors [s]; ``settings`` (mapping): of
    recordings, by section and key of config.ini.
    """
    drives: list[ReadDrive] = []
    left_out = []
    for text in texts:
        drive = read_drive(text, config, step, settings)
        name, error = drive.observed.name, drive.observed.error
        same = (d for d in drives if np.array_equal(d.observed.error, error, equal_nan=True))
        twin = next(same, None)
        if twin is not None:
            left_out.append(
                f"{name}: has the same recorded yaw error as {twin.observed.name}, and counts once"
            )
            continue
        drives.append(drive)
    names = number_duplicates([drive.observed.name for drive in drives])
    return [drive.named(name) for drive, name in zip(drives, names)], left_out


def read_drive(
    text: str,
    config: str | None = None,
    step: float = 1.0,
    settings: Mapping[str, Mapping[str, str]] = NO_SETTINGS,
) -> ReadDrive:
    """Read one; see :func:`read_drives`."""
    if is_result(text):
        return _drive_of_result(find_result(text), step)
    return _drive_of_recording(text, config, step, settings)


def _drive_of_result(folder: ResultFolder, step):
    imu, reference = load_table(folder, "imu_real"), load_table(folder, "reference")
    if imu is None:
        raise ResultError(
            f"{folder.prefix_path}: this result has no recorded IMU, so that no yaw error was "
            "observed"
        )
    name, path = short_name(folder.folder), load_table(folder, "trajectory_data")
    earlier = previous_summary(folder).get("comparison_settings", {})
    settings = ComparisonSettings(
        align=earlier.get("align") is True,
        zero=earlier["zero"] if earlier.get("zero") in ZEROS else ESTIMATED,
    )
    sources = tuple(folder.path(f"{part}.csv") for part in ("imu_real", "reference"))
    satellite = folder.path("fixes.csv").exists()
    return _observed(name, imu, reference, path, settings, step, satellite, sources, [])


def _drive_of_recording(text, config, step, settings):
    setup = set_up_named(text, config=config)
    for section, values in settings.items():
        setup.set(section, **values)
    configuration = setup.load()
    name = preparation.drive_name(configuration)
    if not configuration.imu_recording.use:
        raise RecordingError(
            f"{name}: [imu_recording] use is false, so that no yaw error was observed"
        )
    check = ensure_plausible(configuration)
    if check.without_imu:
        raise RecordingError(f"{name}: {NO_IMU}, and no yaw error was observed")
    recorded = check.reference or preparation.read_configured_reference(configuration)
    driven, _ = preparation.chosen_part(configuration, recorded.table, configuration.control.rate)
    start, stop = float(driven.index[0]), float(driven.index[-1])
    imu = preparation.prepare_recorded_imu(configuration, start, stop)
    reference = recorded.table.copy()
    reference.index = pd.Index(reference.index.to_numpy(dtype=float) - start, name="time")
    driven.index = pd.Index(driven.index.to_numpy(dtype=float) - start, name="time")
    files = preparation.recording_sources(configuration)
    sources = tuple(dict.fromkeys((Path(files.reference), Path(files.imu))))
    remarks = [*setup.sentences, *recorded.report.sentences(), *imu.remarks]
    if preparation.is_bundled(configuration):
        remarks = [f"{name}: a bundled drive, whose recorded IMU is a simulated one itself"]
    satellite, comparison = recorded.report.fixes is not None, configuration.comparison
    return _observed(
        name, imu.table, reference, driven, comparison, step, satellite, sources, remarks
    )


def _observed(name, imu, reference, path, settings, step, satellite, sources, remarks):
    yaw = imu["yaw"].dropna()
    if len(yaw) < 2:
        raise RecordingError(f"{name}: the recorded IMU has {len(yaw)} yaws, which are no drive")
    comparison = compare_yaw(imu["yaw"], reference["yaw"], settings, reference)
    if comparison is None:
        raise RecordingError(f"{name}: the IMU has no sample within the time of its reference")
    if comparison.time_shift is None and not satellite:
        # A fit at each step would take a lag for a straight line's, which no sharp turn is.
        known = comparison.split and comparison.split.process
        late, _ = lateness(imu["yaw"], reference, UNKNOWN_LAG, known)
        if late is not None:
            imu = imu.set_axis(imu.index - late.shift)
            comparison = compare_yaw(imu["yaw"], reference["yaw"], settings, reference)
            words = f"{abs(late.shift):.3g} s {'late' if late.shift > 0.0 else 'early'}"
            remarks = [*remarks, f"the IMU is {words} against the reference, which is taken off"]
    error = comparison.error.dropna()
    remarks = [*remarks, *(f"{name}, IMU: {one}" for one in comparison.sentences)]
    process = comparison.split and comparison.split.process
    if process is not None:
        first, last = error.index[[0, -1]]
        error = error[error.index >= first + process.surest_phase(first, last, step)]
    right = comparison.reference_yaw
    observed = observed_yaw_error(name, error, right, step, reference=process)
    observed = replace(observed, zero=comparison.zero)
    turn, of_gyroscope = turn_of_gyroscope(imu), None
    if turn is not None:
        # An alignment has taken a shift off the IMU's stamps.
        shift = 0.0 if comparison.time_shift is None else comparison.time_shift.shift
        at, stamps = error.index.to_numpy(dtype=float) + shift, yaw.index.to_numpy(dtype=float)
        apart = np.interp(at, stamps, unwrap(yaw.to_numpy(dtype=float)))
        apart -= np.interp(at, turn.index.to_numpy(dtype=float), turn.to_numpy())
        if np.ptp(apart) > _SAME_TURN:
            of_gyroscope = observed_yaw_error(
                f"{name}, gyroscope", error + apart - apart[0], right, step, reference=process
            )
            of_gyroscope = replace(of_gyroscope, zero=comparison.zero)
            rms = f"{np.degrees(np.std(apart)):.3g} deg rms"
            remarks.append(f"the yaw and the integral of the gyroscope are {rms} apart")
    remarks = [one if one.startswith(name) else f"{name}: {one}" for one in remarks]
    rate = float(median_rate(imu.index.to_numpy(dtype=float)))
    path = _as_dense(path, float(median_rate(reference.index.to_numpy(dtype=float))))
    begin = float(error.index[0])
    return ReadDrive(observed, of_gyroscope, begin, path, satellite, rate, sources, tuple(remarks))


def _as_dense(path, rate):
    """Return poses as dense as they were recorded, so that a spline does not follow their kinks."""
    times = path.index.to_numpy(dtype=float)
    at = np.arange(times[0], times[-1] + 0.5 / rate, 1.0 / rate)
    at[-1] = times[-1]
    if len(at) >= len(times) or len(at) < 4:
        return path[list(POSES)]
    return pd.DataFrame(
        {
            "x": np.interp(at, times, path["x"]),
            "y": np.interp(at, times, path["y"]),
            "yaw": np.interp(at, times, unwrap(path["yaw"].to_numpy(dtype=float))),
        },
        index=pd.Index(at, name="time"),
    )
