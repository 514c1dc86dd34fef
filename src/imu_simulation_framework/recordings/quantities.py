"""Read the quantities of a recording in SI units according to a column map.

A format provides tables with named columns, a map states quantity and unit of each column, and
:class:`.Samples` contains the quantities. Messages of known types require no map.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Iterable, Iterator, Mapping, Sequence

import numpy as np

from ..core.errors import NotRecordedError, RecordingError
from ..core.sentences import join_names
from . import column_maps, file_access
from .cleaning import GLOBAL_POSITION, POSITION, Samples
from .courses import degrees_of
from .formats.any_format import any_bag_blocks, read_any_bag, read_rostopic, read_tum
from .formats.bag import UnsuitableTopicError
from .formats.bag_tables import read_bag_tables
from .formats.kitti import read_kitti
from .formats.table_files import read_table_file
from .layouts import find_layouts
from .messages import MessageType
from .tables import join, turned
from .text_table import LINE, TextTable, parse_table, table_blocks
from .vocabulary.choice import describe_open_columns
from .vocabulary.names import is_axis_of
from .vocabulary.tables import choose_from_tables

_TEXT_FORMATS = ("rostopic_csv", "csv", "tum")


@dataclass(frozen=True)
class SampleRequest:
    """Description of the samples to be read from a recording.

    Parameters
    ----------
    purpose : str
        ``reference``, ``IMU``, ``flight``, ``magnetometer`` or ``thermometer``.
    message_types : sequence of MessageType
        Message types that are suitable for the purpose.
    topic : str, optional
        Topic in a bag; empty for the only suitable topic.
    format : str, optional
        One of :data:`.FORMATS`, or ``auto``. With ``auto``, columns of tables and of messages with
        other types are chosen automatically.
    columns : mapping of str to str, optional
        Quantity -> ``"column [unit]"``.
    timed : bool, optional
        Whether times are read.
    """

    purpose: str
    message_types: Sequence[MessageType]
    topic: str = ""
    format: str = "auto"
    columns: Mapping[str, str] | None = None
    timed: bool = True


def read_samples(path, request: SampleRequest) -> Samples:
    """Read all samples of a recording; conventions are not converted.

    Parameters
    ----------
    path : path-like
        The recording.
    request : SampleRequest
        Description of the samples.

    Returns
    -------
    Samples
        All samples.

    Raises
    ------
    RecordingError
        The recording cannot be read.
    """
    (samples,) = sample_blocks(path, request, rows_at_once=None)
    return samples


def sample_blocks(
    path, request: SampleRequest, *, rows_at_once, progress=None
) -> Iterator[Samples]:
    """Read the samples of a recording in blocks; conventions are not converted.

    Parameters
    ----------
    path : path-like
        The recording.
    request : SampleRequest
        Description of the samples.
    rows_at_once : int or None
        Number of rows per block of a text file; None for a single block. Blocks of a bag have
        :data:`.MESSAGES_AT_ONCE` messages; other formats always have a single block.
    progress : callable, optional
        Function that is called with the number of bytes of each block of text.

    Yields
    ------
    Samples
        Samples of a block.

    Raises
    ------
    RecordingError
        The recording cannot be read.
    """
    format, columns = request.format, request.columns
    if format not in file_access.FORMATS + ("auto",):
        format_names = ", ".join(file_access.FORMATS)
        raise RecordingError(
            f"{path}: format is {format!r}, expected auto or one of {format_names}"
        )
    is_automatic = format == "auto"
    if is_automatic:
        format = file_access.recording_format(path)
        # A column map implies that a text file is a table.
        format = "csv" if columns and format in _TEXT_FORMATS else format
    if columns and format not in (*file_access.COLUMN_FORMATS, "bag"):
        raise RecordingError(
            f"{path}: the format is {format}, but a column map requires the format csv, tables or "
            "bag; remove the map"
        )
    if format == "bag":
        yield from _bag_blocks(path, request, is_automatic, is_whole=rows_at_once is None)
    elif format == "kitti":
        yield read_kitti(path)
    elif format == "tables":
        yield _read_columns(path, read_table_file(path), request, is_automatic)
    elif format == "tum":
        yield read_tum(path, partial(file_access.text_blocks, path, progress))
    else:
        text: partial = partial(file_access.text_blocks, path, progress)
        tables = table_blocks(path, text(), rows_at_once=rows_at_once)
        if rows_at_once is None:
            tables = iter([parse_table(path, text)])
        if format == "csv":
            yield from read_plain_csv(path, tables, columns, request.purpose, request.timed)
        else:
            yield from (read_rostopic(path, table, request.message_types) for table in tables)


def _read_columns(path, recorded, request, choosing):
    """Return samples of the mapped columns, or of columns chosen from a layout or by name."""
    purpose, timed = request.purpose, request.timed
    try:
        return read_tables(path, recorded, request.columns, purpose, timed)
    except RecordingError:
        if request.columns or not choosing:
            raise
        for maps in find_layouts(path, recorded.columns, frame=recorded.frame):
            layout_map = {"reference": maps.reference, "IMU": maps.imu}.get(purpose)
            if not layout_map:
                continue
            # If a table cannot be read with its layout, its columns are chosen by name.
            with suppress(RecordingError):
                samples = read_tables(path, recorded, layout_map, purpose, timed)
                if not maps.contradiction(samples):
                    remark = f"the columns are those of the layout {maps.layout.name}"
                    return replace(samples, remarks=(remark,))
        maps = choose_from_tables(recorded)
        column_map = {"reference": maps.reference, "IMU": maps.imu}.get(purpose)
        if not column_map:
            raise
        is_reference = purpose == "reference"
        open_columns = maps.open_reference if is_reference else maps.open_columns
    samples = read_tables(path, recorded, column_map, purpose, timed)
    listing = join_names(f"{name} = {column}" for name, column in column_map.items())
    remark = f"the columns were chosen by name; check them: {listing}"
    return replace(samples, remarks=(remark, *describe_open_columns(open_columns)))


def _bag_blocks(path, request, choosing, is_whole):
    """Yield samples of a topic, or of fields of other messages if no topic has a suitable type."""
    topic, columns = request.topic, request.columns
    if columns:
        recorded = read_bag_tables(path, columns.values())
        yield read_tables(path, recorded, columns, request.purpose, request.timed)
        return
    try:
        if is_whole:
            yield read_any_bag(path, topic, request.message_types)
        else:
            yield from any_bag_blocks(path, topic, request.message_types)
        return
    except UnsuitableTopicError as error:
        if not choosing:
            raise
        unsuitable = str(error)
    named = [f"/{topic.strip('/')}."] if topic else []
    try:
        recorded = read_bag_tables(path, named)
        samples = _read_columns(path, recorded, request, choosing)
    except RecordingError as error:
        reason = f"other topics cannot be used either: {str(error)[len(f'{path}: ') :]}"
        raise NotRecordedError(f"{unsuitable}; {reason}") from None
    yield samples


def read_plain_csv(
    path, tables: Iterable[TextTable], columns, purpose, timed=True
) -> Iterator[Samples]:
    """Read the columns of a map from each block of a table.

    Parameters
    ----------
    path : path-like
        Recording, for messages.
    tables : iterable of TextTable
        Blocks of the file in file order, at least one.
    columns : mapping of str to str, optional
        Quantity -> description, see :mod:`~imu_simulation_framework.recordings.column_maps`. By
        default, the columns must have the names of the quantities, as in tables of this package.
    purpose : str
        ``reference``, ``IMU``, ``magnetometer`` or ``thermometer``.
    timed : bool
        Whether times are read; if they are not, ``stamp`` is nan.

    Yields
    ------
    Samples
        Samples of a block.

    Raises
    ------
    RecordingError
        The table cannot be parsed, a column is missing, a quantity or unit is unknown, or a mapped
        quantity cannot be used.
    """
    parsed: list[column_maps.MappedColumn] = []
    for table in tables:
        if not parsed:
            parsed = _parsed_of_text(path, table, columns, purpose, timed)
        yield _placed(_samples(path, table, parsed, timed), purpose)
        # The first block determines the unit of times, since a short last block may not suffice.
        parsed = [
            column_maps.settled_times(table, column) if column.quantity.name == "time" else column
            for column in parsed
        ]


def _parsed(
    path, columns, present, purpose, timed, named_columns=None
) -> list[column_maps.MappedColumn]:
    """Return the mapped columns; without a map, columns in ``own`` with names of quantities."""
    column_map = columns or column_maps.implied_map(
        present if named_columns is None else named_columns
    )
    mapped = column_maps.parse_map(path, column_map, present)
    return column_maps.usable_columns(path, mapped, purpose, present, bool(columns), timed)


def _parsed_of_text(path, table, columns, purpose, timed):
    """Return the mapped columns of a text file; without a map, ambiguous names are ignored."""
    present, unclear = list(table.cells.columns), table.ambiguous
    named_columns = [name for name in present if name not in unclear and not is_axis_of(path, name)]
    try:
        return _parsed(path, columns, present, purpose, timed, named_columns)
    except RecordingError:
        needed = [name for name in column_maps.implied_map(present).values() if name in unclear]
        if columns or not needed:
            raise
    raise RecordingError(f"{path}: {unclear[needed[0]]}; give them unique names")


def read_tables(path, recorded, columns, purpose, timed=True) -> Samples:
    """Read the columns of a map from several tables, at the times of the leading table.

    The leading table is the table whose time is mapped. Without times, only one table can be
    mapped.

    Parameters
    ----------
    path : path-like
        Recording, for messages.
    recorded : RecordedTables
        Tables of the recording.
    columns : mapping of str to str, optional
        Column map; by default the columns must have the names of the quantities.
    purpose : str
        ``reference``, ``IMU``, ``magnetometer`` or ``thermometer``.
    timed : bool, optional
        Whether times are read; if they are not, ``stamp`` is nan.

    Returns
    -------
    Samples
        Samples at the times of the leading table.

    Raises
    ------
    RecordingError
        See :func:`read_plain_csv`; also raised if tables have no common clock.
    """
    parsed = _parsed(path, columns, recorded.columns, purpose, timed)
    time = [column for column in parsed if column.quantity.name == "time"]
    first = [column.terms[0].name for column in (*time, *parsed)]
    if time and first[0] == LINE:
        # Row numbers serve as times of the table whose columns are mapped.
        first = [name for name in first if name != LINE] or first
    parts: dict[str, list] = {recorded.owner(first[0]): list(time)} if time else {}
    for column in (column for column in parsed if column not in time):
        parts.setdefault(recorded.owner(column.terms[0].name), []).append(column)
    (leader, leader_columns), *others = parts.items()
    samples = _samples(path, recorded.tables[leader], leader_columns, timed)
    for name, other_columns in others:
        if not (time and timed):
            raise RecordingError(
                f"{path}: time is missing in the column map, but is required to join the mapped "
                f"tables {leader} and {name}"
            )
        terms = (replace(t, name=recorded.counterpart(t.name, name)) for t in time[0].terms)
        clock = replace(time[0], terms=tuple(terms))
        other = _samples(path, recorded.tables[name], [clock, *other_columns], timed)
        samples = join(replace(samples, topic=leader), replace(other, topic=name))
    samples = _placed(turned(samples, recorded.frame, purpose), purpose)
    return replace(samples, format="tables", place_name="row", topic="")


def _placed(samples, purpose):
    """Place a reference without positions at the origin."""
    if purpose != "reference" or samples.has(POSITION) or samples.has(GLOBAL_POSITION):
        return samples
    columns = {**samples.columns, **{axis: np.zeros(len(samples)) for axis in POSITION}}
    remark = "the reference has no positions: it is assumed to turn on the spot"
    return replace(samples, columns=columns, remarks=(*samples.remarks, remark))


def _samples(path, table, parsed, timed):
    values, conventions = {}, {}
    times = [column for column in parsed if column.quantity.name == "time"]
    if times and timed:
        values["stamp"] = column_maps.read_times(table, times[-1])
    else:
        values["stamp"] = np.full(len(table.lines), np.nan)
    stated_units = {}
    for column in (column for column in parsed if column not in times):
        target = column.quantity.target
        values[target] = _convert_to_si(table, column)
        if column.yaw_convention:
            conventions[target] = column.yaw_convention
        if column.terms[0].stated:
            stated_units[target] = column.terms[0].unit
    reported: dict = {"yaw_conventions": conventions, "stated_units": stated_units}
    return Samples(str(path), "csv", values, table.lines, "line", **reported)


def _convert_to_si(table, column):
    (term,), quantity = column.terms, column.quantity
    numbers = column_maps.convert_term(table, term).astype(float, copy=False)
    if term.unit == column_maps.NMEA_DEGREES:
        return degrees_of(numbers, term.unit)
    factor = quantity.units[term.unit]
    numbers = numbers if factor == 1.0 else numbers * factor
    return numbers if quantity.power == 1 else numbers**quantity.power
