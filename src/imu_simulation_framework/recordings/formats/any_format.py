"""Samples and topics of a recording in any format, which is found out if it is not said.

Text is CSV by a column map, what ``rostopic echo -p`` writes, or TUM, the format of the TUM RGB-D
benchmark: ``time x y z qx qy qz qw`` a line. KITTI's is a folder.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Iterable, Iterator

import numpy as np

from ...core.errors import NotRecordedError, RecordingError
from ...core.sentences import join_names
from ...core.stamps import seconds_from_nanoseconds
from .. import column_maps, file_access
from ..cleaning import GLOBAL_POSITION, POSITION, Samples
from ..guessing.measures import degrees_of
from ..guessing.names import is_axis_of
from ..guessing.tables import guess_from_tables
from ..layouts import find_layouts
from ..tables import join, turned
from ..text_table import TextTable, parse_table, table_blocks
from .bag import UnsuitableTopicError, bag_topics, read_bag
from .bag_tables import read_bag_tables
from .kitti import read_kitti
from .ros2_bag import read_ros2_bag, ros2_bag_topics
from .table_files import read_table_file

_TEXT_FORMATS = ("rostopic_csv", "csv", "tum")


def read_samples(path, topic, format, columns, message_types, purpose, timed=True) -> Samples:
    """Read the samples of a recording as they were recorded; see :func:`sample_blocks`."""
    (samples,) = sample_blocks(
        path, topic, format, columns, message_types, purpose, timed, rows_at_once=None
    )
    return samples


def sample_blocks(
    path, topic, format, columns, message_types, purpose, timed=True, *, rows_at_once, progress=None
) -> Iterator[Samples]:
    """Yield the samples of a recording as they were recorded, in parts.

    ``topic``: in a bag; empty for the only one that can be used. ``format``: one of
    :data:`.FORMATS`, or ``auto``, with which columns of tables and of messages of other types are
    guessed, too; ``columns`` (mapping of str to str, or None): quantity -> ``"column [unit]"``;
    ``purpose``: as for :func:`.read_plain_csv`; ``timed``: whether times are read. ``rows_at_once``
    (int or None): of a part of a text file; None for one part. All other formats are always one.
    ``progress``: called with the number of bytes of text of each block that is read.
    Raises RecordingError: the recording cannot be read.
    """
    if format not in file_access.FORMATS + ("auto",):
        known = ", ".join(file_access.FORMATS)
        raise RecordingError(f"{path}: unknown format {format!r}, expected auto or one of {known}")
    found_out = format == "auto"
    if found_out:
        format = file_access.recording_format(path)
        # Who maps its columns means them, whatever the file looks like.
        format = "csv" if columns and format in _TEXT_FORMATS else format
    if columns and format not in (*file_access.COLUMN_FORMATS, "bag"):
        raise RecordingError(
            f"{path}: a column map is of use only for format csv, tables or bag, but this is read "
            f"as {format}; leave the map out"
        )
    if format == "bag":
        yield _bag_samples(path, topic, columns, message_types, purpose, timed, found_out)
    elif format == "kitti":
        yield read_kitti(path)
    elif format == "tables":
        recorded = read_table_file(path)
        yield _mapped_or_guessed(path, recorded, columns, purpose, timed, found_out)
    elif format == "tum":
        yield read_tum(path, partial(file_access.text_blocks, path, progress))
    else:
        text: partial = partial(file_access.text_blocks, path, progress)
        tables = table_blocks(path, text(), rows_at_once=rows_at_once)
        if rows_at_once is None:
            tables = iter([parse_table(path, text)])
        if format == "csv":
            yield from read_plain_csv(path, tables, columns, purpose, timed)
        else:
            yield from (_rostopic_samples(path, table, message_types) for table in tables)


def _mapped_or_guessed(path, recorded, columns, purpose, timed, guessing):
    """Return the columns of a map; without one, those named so, of a layout, or as they seem."""
    try:
        return read_tables(path, recorded, columns, purpose, timed)
    except RecordingError:
        if columns or not guessing:
            raise
        for maps in find_layouts(path, recorded.columns):
            layout_map = {"reference": maps.reference, "IMU": maps.imu}.get(purpose)
            if not layout_map:
                continue
            # A table that cannot be read as its layout is guessed.
            with suppress(RecordingError):
                samples = read_tables(path, recorded, layout_map, purpose, timed)
                if not maps.contradiction(samples):
                    remark = f"the columns are those of {maps.layout.name}"
                    return replace(samples, remarks=(remark,))
        guess = guess_from_tables(recorded)
        guessed = {"reference": guess.reference, "IMU": guess.imu}.get(purpose)
        if not guessed:
            raise
    samples = read_tables(path, recorded, guessed, purpose, timed)
    given = join_names(f"{name} = {column}" for name, column in guessed.items())
    return replace(samples, remarks=(f"the columns are guessed, look at them: {given}",))


def _bag_samples(path, topic, columns, message_types, purpose, timed, guessing):
    """Return a topic of a bag or, where that has none of the types, fields of other messages."""
    if columns:
        return read_tables(path, read_bag_tables(path, columns.values()), columns, purpose, timed)
    try:
        return read_any_bag(path, topic, message_types)
    except UnsuitableTopicError as error:
        if not guessing:
            raise
        unsuitable = str(error)
    named = [f"/{topic.strip('/')}."] if topic else []
    try:
        recorded = read_bag_tables(path, named)
        return _mapped_or_guessed(path, recorded, None, purpose, timed, guessing)
    except RecordingError as error:
        reason = f"nor has another one what is needed: {str(error)[len(f'{path}: ') :]}"
        raise NotRecordedError(f"{unsuitable}; {reason}") from None


def read_any_bag(path, topic, message_types) -> Samples:
    """Read a topic of a bag of ROS 1 or ROS 2; see :func:`sample_blocks`."""
    if file_access.is_ros2_bag(path):
        samples = read_ros2_bag(path, topic, message_types)
    else:
        file_access.read_start(path)
        samples = read_bag(path, topic, message_types)
    for values in samples.columns.values():
        # A damaged one may be of the kind that makes every calculation warn (signalling).
        values[np.isnan(values)] = np.nan
    return samples


# Independent of the IMU in question, then whatever else; what fuses that IMU comes last.
_INDEPENDENT = ("ground_truth", "groundtruth", "vicon", "mocap", "rtk", "wheel", "odom")
_FUSED = ("filtered", "fused", "ekf", "ukf", "amcl", "combined", "estimate", "navsat")


def topics_of_bag(path) -> dict:
    """Return topic -> (type as ROS 1 writes it, number of messages)."""
    return ros2_bag_topics(path) if file_access.is_ros2_bag(path) else bag_topics(path)


def likely_topics(topics, message_types) -> list[str]:
    """Return the topics of some types that have messages, the likeliest to be meant first.

    ``message_types`` are in order of preference.
    """
    kinds = [message_type.name for message_type in message_types]
    suitable = [name for name, (kind, count) in topics.items() if kind in kinds and count]

    def rank(name):
        words = name.lower()
        fused = any(word in words for word in _FUSED)
        independent = any(word in words for word in _INDEPENDENT)
        raw = "raw" in words
        return fused, raw, not independent, kinds.index(topics[name][0]), len(name), name

    return sorted(suitable, key=rank)


def read_plain_csv(
    path, tables: Iterable[TextTable], columns, purpose, timed=True
) -> Iterator[Samples]:
    """Yield the columns of a map from each part of a table.

    ``tables`` (iterable of TextTable): parts of the file, at least one, in their order. ``columns``
    (mapping of str to str, or None): quantity -> description, see
    :mod:`~imu_simulation_framework.recordings.column_maps`; without it the columns are expected to
    be named as the quantities, as this package's own tables are. ``purpose``: ``reference`` or
    ``IMU``. ``timed``: whether times are read; without them ``stamp`` is not a number. Raises
    RecordingError: the table cannot be parsed, a column is missing, a quantity or unit is not
    known, or what is mapped cannot be used.
    """
    parsed: list[column_maps.MappedColumn] = []
    for table in tables:
        if not parsed:
            parsed = _parsed_of_text(path, table, columns, purpose, timed)
        yield _placed(_samples(path, table, parsed, timed), purpose)
        # The first part tells what times without a unit are; a few rows at the end may not.
        parsed = [
            column_maps.settled_times(table, column) if column.quantity.name == "time" else column
            for column in parsed
        ]


def _parsed(path, columns, present, purpose, timed, own=None) -> list[column_maps.MappedColumn]:
    """Return the columns of a map or, without one, of ``own``, those that are named as it."""
    given = columns or column_maps.implied_map(present if own is None else own)
    mapped = column_maps.parse_map(path, given, present)
    return column_maps.usable_columns(path, mapped, purpose, present, bool(columns), timed)


def _parsed_of_text(path, table, columns, purpose, timed):
    """Return as :func:`_parsed`; by their names no columns that are unclear, or a sensor's axes."""
    present, unclear = list(table.cells.columns), table.ambiguous
    own = [name for name in present if name not in unclear and not is_axis_of(path, name)]
    try:
        return _parsed(path, columns, present, purpose, timed, own)
    except RecordingError:
        needed = [name for name in column_maps.implied_map(present).values() if name in unclear]
        if columns or not needed:
            raise
    raise RecordingError(f"{path}: {unclear[needed[0]]}; give them names of their own")


def read_tables(path, recorded, columns, purpose, timed=True) -> Samples:
    """Return the columns of a map from RecordedTables, at the times of the table that leads.

    That is the one whose time is mapped, or without times the only one that is mapped. The
    parameters are those of :func:`read_plain_csv`, which raises the same; RecordingError also
    where tables have no common clock.
    """
    parsed = _parsed(path, columns, recorded.columns, purpose, timed)
    time = [column for column in parsed if column.quantity.name == "time"]
    parts: dict[str, list] = {recorded.owner(time[0].terms[0].name): []} if time else {}
    for column in parsed:
        parts.setdefault(recorded.owner(column.terms[0].name), []).append(column)
    (leader, own), *others = parts.items()
    samples = _samples(path, recorded.tables[leader], own, timed)
    for name, theirs in others:
        if not (time and timed):
            raise RecordingError(
                f"{path}: columns of the tables {leader} and {name} are mapped, but no time that "
                "tells which samples belong together"
            )
        terms = (replace(t, name=recorded.counterpart(t.name, name)) for t in time[0].terms)
        clock = replace(time[0], terms=tuple(terms))
        other = _samples(path, recorded.tables[name], [clock, *theirs], timed)
        samples = join(replace(samples, topic=leader), replace(other, topic=name))
    samples = _placed(turned(samples, recorded.frame, purpose), purpose)
    return replace(samples, format="tables", place_name="row", topic="")


def _placed(samples, purpose):
    """Return samples of a reference, at the origin if it has no positions."""
    if purpose != "reference" or samples.has(POSITION) or samples.has(GLOBAL_POSITION):
        return samples
    columns = {**samples.columns, **{axis: np.zeros(len(samples)) for axis in POSITION}}
    remark = "the reference has no positions: it is taken to turn on the spot"
    return replace(samples, columns=columns, remarks=(*samples.remarks, remark))


def _samples(path, table, parsed, timed):
    values, conventions = {"stamp": np.full(len(table.lines), np.nan)}, {}
    stated, converted = set(), set()
    for column in parsed:
        if column.quantity.name == "time":
            values["stamp"] = column_maps.read_times(table, column) if timed else values["stamp"]
            continue
        target = column.quantity.target
        values[target] = _in_own_unit(table, column)
        if column.yaw_convention:
            conventions[target] = column.yaw_convention
        if column.terms[0].stated:
            stated.add(target)
        if column.quantity.units[column.terms[0].unit] != 1.0:
            converted.add(target)
    reported: dict = {
        "yaw_conventions": conventions,
        "stated_units": frozenset(stated),
        "converted_units": frozenset(converted),
    }
    return _table_samples(path, "csv", values, table, **reported)


def _in_own_unit(table, column):
    (term,), quantity = column.terms, column.quantity
    numbers = column_maps.in_its_unit(table, term).astype(float)
    if term.unit == column_maps.NMEA_DEGREES:
        return degrees_of(numbers, term.unit)
    factor = quantity.units[term.unit]
    numbers = numbers if factor == 1.0 else numbers * factor
    return numbers if quantity.power == 1 else numbers**quantity.power


_ARRAY = re.compile(r"covariance\d+\Z")
_RECEIPT, _STAMP, _PREFIX = "%time", "field.header.stamp", "field."


def _rostopic_samples(path, table, message_types):
    """Return the messages of one topic of a table; their type shows in the columns."""
    present = set(table.cells.columns)
    for message_type in message_types:
        # rostopic echo --noarr leaves covariances out, which can be done without.
        needed = {_PREFIX + name for name in message_type.names if not _ARRAY.search(name)}
        if present.issuperset({_RECEIPT, *needed}):
            break
    else:
        expected = " or ".join(message_type.name for message_type in message_types)
        raise NotRecordedError(
            f"{path}: the columns are not those of {expected}; "
            f"they are {join_names(table.cells.columns)}"
        )
    columns: dict[str, np.ndarray] = {
        quantity: table.numbers(_PREFIX + name).astype(float)
        for quantity, name in message_type.quantities.items()
        if _PREFIX + name in present
    }
    # A cell that is missing makes the whole column floating, which costs half a microsecond.
    columns["receipt"] = seconds_from_nanoseconds(table.numbers(_RECEIPT)).astype(float)
    columns["stamp"] = np.full(len(table.lines), np.nan)
    if _STAMP in present:
        stamp = seconds_from_nanoseconds(table.numbers(_STAMP)).astype(float)
        columns["stamp"] = np.where(stamp == 0.0, np.nan, stamp)
    return _table_samples(path, "rostopic_csv", columns, table, message_type=message_type.name)


def _table_samples(path, format, columns, table, **more) -> Samples:
    return Samples(str(path), format, columns, table.lines, "line", **more)


_TUM_COLUMNS = ("time", "x", "y", "z", "qx", "qy", "qz", "qw")


def read_tum(path, text) -> Samples:
    """Read a trajectory from its ``text``, as for :func:`.parse_table`.

    Raises RecordingError: the table cannot be parsed, or its times can hardly be seconds.
    """
    table = parse_table(path, text, names=_TUM_COLUMNS)
    columns = {name: table.numbers(name).astype(float) for name in _TUM_COLUMNS}
    columns["stamp"] = columns.pop("time")
    column_maps.refuse_other_unit(
        path, columns["stamp"], "format = csv and a column map with time = #1"
    )
    return _table_samples(path, "tum", columns, table)
