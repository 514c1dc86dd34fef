"""Yaw signals over time, read from recordings and results of experiments."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Callable, Sequence

import numpy as np
import pandas as pd

from ..core.errors import RecordingError, ResultError
from ..core.sentences import join_names, quote
from ..core.tables import POSES
from ..recordings import file_access
from ..recordings.columns import find_angle_column, find_column_maps, find_columns
from ..recordings.formats.any_format import likely_topics, topics_of_bag
from ..recordings.messages import IMU_TYPES, REFERENCE_TYPES
from ..recordings.plausibility.findings import NOT_INDEPENDENT
from ..recordings.plausibility.symptoms import find_dependence
from ..recordings.reading import Recorded, read_imu, read_reference
from ..recordings.vocabulary.times import NOT_THE_TIME
from .named_paths import PART_SIGN, is_result, short_name, split_name
from .recorded_drive.check import ensure_plausible
from .recorded_drive.setup import CONFIGURATION_SUFFIX, set_up_named
from .recorded_drive.sources import (
    drive_name,
    imu_source,
    recording_sources,
    reference_source,
)
from .results.files import find_result, load_table

TABLES = {
    "reference": "reference",
    "imu_real": "recorded IMU",
    "ground_truth": "simulator's truth",
    "imu_simulated": "simulated IMU",
    "odometer": "odometer",
    "trajectory_data": "trajectory",
}
"""Titles of the result tables that contain a yaw signal, by table name."""

MIN_SAMPLES = 2
"""Minimum number of yaw samples for a comparison."""

_STEEP_PITCH = np.radians(60.0)
"""Magnitude of the pitch above which a yaw is not a heading [rad]."""

_MAX_STEEP_SHARE = 0.1
"""Share of samples with a steep pitch above which a remark is added."""

_Reader = Callable[..., Recorded]


@dataclass(frozen=True)
class YawSignal:
    """Yaw signal over time, with its sources.

    Parameters
    ----------
    name : str
        Name of the file and of the selected topic, column or table.
    yaw : pandas.Series
        Unwrapped yaw [rad], indexed by time [s] on the clock of the recording.
    poses : pandas.DataFrame or None
        Poses to which the yaw belongs; None for an IMU.
    sources : tuple of Path
        Files that were read.
    remarks : tuple of str
        Notes on the recording.
    group : str
        Common prefix of the names of all yaw signals of a result.
    is_recorded_imu : bool
        Whether the yaw was measured by a recorded IMU.
    """

    name: str
    yaw: pd.Series
    poses: pd.DataFrame | None = None
    sources: tuple[Path, ...] = ()
    remarks: tuple[str, ...] = ()
    group: str = ""
    is_recorded_imu: bool = False


def read_yaw_signals(text: str) -> list[YawSignal]:
    """Read the yaw signals specified by a command-line argument.

    Parameters
    ----------
    text : str
        ``PATH`` or ``PATH@PART``. The path is one of

        - a result: the part is one of :data:`TABLES`; without it, all yaw signals of the result,
        - a bag: the part is a topic; without a part, the most likely reference and IMU,
        - a CSV, TUM or ``rostopic echo -p`` file: the part is a column of a CSV file, with its unit
          in brackets,
        - the config.ini of a recording: the configured reference and IMU.

    Returns
    -------
    list of YawSignal
        One or more yaw signals.

    Raises
    ------
    RecordingError, ResultError
        The path does not exist, cannot be read, or contains no yaw signal.
    ImplausibleRecordingError
        Yaw errors of the configured recording would be meaningless, and the config.ini does not
        accept implausible recordings.
    """
    signals = _read_signals(*split_name(text))
    for signal in signals:
        if len(signal.yaw) < MIN_SAMPLES:
            raise RecordingError(
                f"{signal.sources[0]}: has {len(signal.yaw)} yaw samples, expected at least "
                f"{MIN_SAMPLES} for a comparison"
            )
    return signals


def dependence_remarks(signals: Sequence[YawSignal]) -> list[str]:
    """Warn about recorded IMUs whose reference, the first signal, may not be independent.

    Parameters
    ----------
    signals : sequence of YawSignal
        Yaw signals that are compared with the first of them.

    Returns
    -------
    list of str
        Warnings as in ``check_recording.py``; none if the first signal is not a reference.
    """
    reference, others = signals[0], signals[1:]
    if reference.poses is None:
        return []
    findings = {
        signal.name: find_dependence(reference.yaw, signal.yaw)
        for signal in others
        if signal.is_recorded_imu
    }
    return [f"{name}: {finding.sentence()}" for name, finding in findings.items() if finding]


def _read_signals(path: str, part: str) -> list[YawSignal]:
    if is_result(path):
        return _read_result(path, part)
    if not os.path.exists(path):
        raise RecordingError(f"{path}: no such recording or result")
    if path.endswith(CONFIGURATION_SUFFIX) and not part:
        return _read_configured(path)
    format = file_access.recording_format(path)
    if format == "bag":
        return [_read_topic(path, part)] if part else _read_bag(path)
    if part and format not in file_access.COLUMN_FORMATS:
        raise RecordingError(
            f"{path}: the format {format} has only one yaw; remove {PART_SIGN}{part}"
        )
    if part:
        return [_read_column(path, part, format)]
    return _read_reference_and_imu(path) if format == "tables" else [_read_text(path, format)]


def _read_result(path: str, table_name: str) -> list[YawSignal]:
    """Read all yaw signals of a result, or the yaw signal in one of its tables."""
    folder = find_result(path)
    if table_name and table_name not in TABLES:
        raise ResultError(
            f"{path}: unknown yaw table {quote(table_name)}; choose one of {join_names(TABLES)}"
        )
    names = [table_name] if table_name else [name for name in TABLES if name != "trajectory_data"]
    group, signals = short_name(folder.folder), []
    for name in names:
        table = load_table(folder, name)
        if table is not None:
            signal = YawSignal(
                name=f"{group} {TABLES[name]}",
                yaw=table["yaw"].dropna(),
                poses=table if name == "reference" else None,
                sources=(folder.path(f"{name}.csv"),),
                group=group,
                is_recorded_imu=name == "imu_real",
            )
            signals.append(signal)
    if table_name and not signals:
        raise ResultError(
            f"{folder.prefix_path}: this result has no {TABLES[table_name]} ({table_name})"
        )
    return signals


def _read_configured(path: str) -> list[YawSignal]:
    """Read the yaw of the reference and the recorded IMU that are configured in a config.ini."""
    configuration = set_up_named(path).load()
    name = drive_name(configuration)
    files = recording_sources(configuration)
    check = ensure_plausible(configuration)
    reference = reference_source(configuration).read()
    signals = [_signal(f"{name} reference", reference, Path(files.reference))]
    if configuration.imu_recording.use and not check.lacks_imu:
        imu = imu_source(configuration).read()
        signals.append(_signal(f"{name} IMU", imu, Path(files.imu)))
    # dependence_remarks() reports NOT_INDEPENDENT for signals from all sources.
    findings = [
        f"{name}: {finding.sentence()}"
        for finding in check.findings
        if finding.fault != NOT_INDEPENDENT
    ]
    return [*signals[:-1], replace(signals[-1], remarks=(*signals[-1].remarks, *findings))]


def _read_bag(path: str) -> list[YawSignal]:
    """Read the yaw signals of the most likely reference and IMU topics in a bag."""
    topics = topics_of_bag(path)
    references, imus = (likely_topics(topics, types) for types in (REFERENCE_TYPES, IMU_TYPES))
    return _read_reference_and_imu(path, references, imus)


def _read_topic(path: str, topic: str) -> YawSignal:
    """Read the yaw signal from a topic in a bag, or from a message field."""
    topics = topics_of_bag(path)
    bare = topic.strip("/")
    types = {name: topics[name][0] for name in (topic, f"/{bare}", bare) if name in topics}
    if IMU_TYPES[0].name in types.values():
        return _read_recording(read_imu, path, topic=topic)
    if not types and any(f"/{bare}".startswith(f"{name}.") for name in topics):
        return _read_column(path, f"/{bare}", "bag")
    is_unknown = {kind.name for kind in REFERENCE_TYPES}.isdisjoint(types.values())
    fields = tuple(f"{name}." for name in types)
    if types and is_unknown and find_column_maps(path).imu.get("time", "").startswith(fields):
        return _read_recording(read_imu, path, topic=topic)
    return _read_recording(read_reference, path, topic=topic)


def _read_reference_and_imu(
    path: str, references: Sequence[str] = (), imus: Sequence[str] = ()
) -> list[YawSignal]:
    """Read the yaw signals of the reference and the IMU, as far as a recording contains them.

    Parameters
    ----------
    path : str
        Recording with several topics or tables.
    references, imus : sequence of str
        Candidate topics, starting with the most likely; if empty, columns are chosen by name.
    """
    signals, refusals = [], []
    parts: tuple[tuple[str, _Reader, Sequence[str]], ...] = (
        ("reference", read_reference, references),
        ("IMU", read_imu, imus),
    )
    for title, read, topics in parts:
        if topics:
            signals.append(_read_recording(read, path, topic=topics[0]))
            continue
        try:
            signal = _read_recording(read, path)
            signals.append(replace(signal, name=f"{signal.name} {title}"))
        except RecordingError as error:
            refusals.append(error)
    if not signals:
        raise refusals[0]
    return signals


def _read_column(path: str, column: str, format: str) -> YawSignal:
    """Read the yaw signal from a table column or a message field."""
    maps = find_column_maps(path, column.partition(" [")[0])
    if not maps.time:
        reasons = [reason for reason in maps.reasons if NOT_THE_TIME in reason]
        raise RecordingError(
            f"{path}: {'; '.join(['no column could be identified as the time', *reasons])}; a "
            "header with a unit, such as time [s], identifies it"
        )
    with_unit, remark = column, None
    if "[" not in column:
        with_unit = find_angle_column(path, column)
        remark = f"{path}: {column} is read as {with_unit}, according to its name and values"
        if with_unit == column:
            degrees = f"{PART_SIGN}{column} [deg]"
            remark = f"{path}: {column} is read in radians; for degrees, use {degrees}"
    columns = {"time": maps.time, "yaw": with_unit}
    signal = _read_recording(read_imu, path, format=format, columns=columns)
    remarks = signal.remarks if remark is None else (*signal.remarks, remark)
    name = f"{signal.name} {with_unit}"
    return replace(signal, name=name, poses=None, remarks=remarks, is_recorded_imu=True)


def _read_text(path: str, format: str) -> YawSignal:
    """Read the yaw from poses or IMU data, or the course from GNSS fixes if there is no yaw."""
    if format == "tum":
        return _read_recording(read_reference, path)
    signals, refusals = [], []
    sections: tuple[tuple[str, _Reader], ...] = (
        ("reference", read_reference),
        ("imu_recording", read_imu),
    )
    for section, read in sections:
        try:
            signals.append(_read_section(path, format, section, read))
        except RecordingError as error:
            refusals.append(error)
    if not signals:
        raise refusals[-1]
    # Only poses computed from GNSS fixes have this column.
    is_course = [signal.poses is not None and "yaw_known" in signal.poses for signal in signals]
    return signals[is_course.index(min(is_course))]


def _read_section(path: str, format: str, section: str, read: _Reader) -> YawSignal:
    """Read a text file as a reference or an IMU recording; choose CSV columns by name."""
    columns = find_columns(path, section).columns if format == "csv" else None
    if not columns:
        return _read_recording(read, path)
    signal = _read_recording(read, path, format="csv", columns=columns)
    listing = join_names(f"{name} = {column}" for name, column in columns.items())
    remark = f"{path}: columns were chosen by name; check them: {listing}"
    return replace(signal, remarks=(*signal.remarks, remark))


def _read_recording(read: _Reader, path: str, **options: Any) -> YawSignal:
    name = " ".join(filter(None, (short_name(path), options.get("topic"))))
    return _signal(name, read(path, **options), Path(path))


def _signal(name: str, recorded: Recorded, path: Path) -> YawSignal:
    table = recorded.table
    remarks = recorded.report.sentences()
    if "pitch" in table:
        steep = float(np.mean(table["pitch"].abs() > _STEEP_PITCH))
        if steep > _MAX_STEEP_SHARE:
            remarks.append(
                f"{name}: the pitch is above {np.degrees(_STEEP_PITCH):.0f} deg in "
                f"{100.0 * steep:.0f} % of the samples, for which the yaw is not a heading"
            )
    poses = table if set(POSES) <= set(table) else None
    return YawSignal(
        name=name,
        yaw=table["yaw"].dropna(),
        poses=poses,
        sources=(path,),
        remarks=tuple(remarks),
        is_recorded_imu=poses is None,
    )
