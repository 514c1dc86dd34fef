"""Choose the columns of a file from the layout of a known logger, or from names and values.

In this second step of reading, a column map is chosen for tables with named columns. A map of the
user has priority over this choice.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from types import MappingProxyType
from typing import Mapping, NamedTuple, Sequence

import numpy as np

from ..core.errors import RecordingError
from ..core.tables import ACCEL, EULER, GYRO, QUATERNION
from .file_access import recording_format, text_blocks
from .formats.bag_tables import read_bag_tables
from .formats.table_files import read_table_file
from .layouts import find_layouts
from .messages import IMU_TYPES, REFERENCE_TYPES
from .quantities import SampleRequest, sample_blocks
from .text_table import ROWS_AT_ONCE, parse_table, text_lines
from .turns import angle_unit
from .vocabulary.candidates import candidates_of
from .vocabulary.choice import PIECES, ROWS, ColumnMaps, choose_columns
from .vocabulary.names import meaning_in_file, understood_names
from .vocabulary.tables import choose_from_tables, spread_candidates
from .vocabulary.times import IMU_STEPS, find_time


def find_column_maps(path, column="", inertial=True, layout=None) -> ColumnMaps:
    """Return the column maps of a text file, or of a recording with several tables.

    If the file has a known layout, the maps are those of the layout. For other files, they are
    determined from names and values.

    Parameters
    ----------
    path : path-like
        Recording.
    column : str
        Name of a column; only the table with this column is used.
    inertial : bool
        Whether a text file may contain a gyroscope and an accelerometer.
    layout : RecordingLayout, optional
        Layout that the user has chosen.

    Returns
    -------
    ColumnMaps
        Column maps of reference and IMU.

    Raises
    ------
    RecordingError
        The file cannot be read, is not a table, has no such column, or has another layout.
    """
    format, frame = recording_format(path), "enu"
    if format in ("tables", "bag") and not column:
        recorded = _recorded(path, format)
        maps, names, frame = choose_from_tables(recorded), recorded.columns, recorded.frame
    else:
        candidates, pieces = _table(path, column)
        names = [candidate.name for candidate in candidates]
        if not inertial:
            sensors = ("gyro", "accel")
            candidates = [c for c in candidates if not (c.meaning and c.meaning.kind in sensors)]
        maps = choose_columns(candidates, pieces)
    if not inertial:
        return maps
    layouts = find_layouts(path, names, layout, frame)
    return _with_layout(path, maps, layouts, reports_absent=layout is not None)


def _with_layout(path, named_maps, layouts, reports_absent):
    """Return the column maps of the first layout that agrees with the values, or of ``named_maps``.

    Bundled layouts list columns that only some versions of a logger write, so absent columns are
    reported only for a layout that the user has chosen.
    """
    reasons = []
    for maps in layouts:
        contradiction = _contradiction(path, maps)
        if contradiction:
            reasons.append(f"the header is that of {maps.layout.name}, but {contradiction}")
            continue
        imu, reference = maps.imu or named_maps.imu, maps.reference or named_maps.reference
        mapped = " ".join([*imu.values(), *reference.values()])
        time = {**reference, **imu}.get("time", named_maps.time)
        reasons = [f"the header is that of {maps.layout.name}"]
        if reports_absent:
            reasons += [
                f"{name}: the layout requires a column {' or '.join(columns)}, which is missing"
                for name, columns in maps.absent.items()
            ]
        unused = [name for name in named_maps.unused if name not in mapped]
        return ColumnMaps(reference, imu, time, reasons, unused, maps.layout.name)
    return replace(named_maps, reasons=[*reasons, *named_maps.reasons])


def _contradiction(path, maps):
    """Return the reason why the values contradict a layout; empty if they do not."""
    format = recording_format(path)
    format = format if format in ("tables", "bag") else "csv"
    section, columns = "imu_recording", maps.imu
    if not columns:
        section, columns = "reference", maps.reference
    try:
        request = replace(_REQUESTS[section], format=format, columns=columns)
        blocks = sample_blocks(path, request, rows_at_once=ROWS_AT_ONCE)
        return maps.contradiction(next(blocks))
    except RecordingError as error:
        return str(error).replace(f"{path}: ", "")


def find_angle_column(path, column) -> str:
    """Determine the unit and, if possible, the convention of an angle column in a text file.

    Parameters
    ----------
    path : path-like
        Recording.
    column : str
        Name of the column.

    Returns
    -------
    str
        Description for a column map, such as ``yaw [deg]``; only the name if the unit is unknown.

    Raises
    ------
    RecordingError
        See :func:`find_column_maps`.
    """
    candidates, pieces = _table(path, column)
    maps = choose_columns(candidates, pieces)
    for description in (*maps.imu.values(), *maps.reference.values()):
        if description.startswith(f"{column} ["):
            return description
    angles = next((candidate for candidate in candidates if candidate.name == column), None)
    if angles is None:
        return column
    time = find_time(candidates, pieces, IMU_STEPS)[0]
    if time is None or angles.texts is not None or angles.filled == 0.0:
        return column
    unit = angle_unit(angles.values, time.seconds, pieces)
    return angles.written(unit) if unit else column


class ColumnChoice(NamedTuple):
    """Column map chosen for a table.

    Attributes
    ----------
    columns : dict
        Quantity -> ``column [unit]``; empty if no map is required or none is determined.
    reasons : list of str
        One message per decision.
    layout : str
        Name of the layout of the table; empty if it has no known layout.
    open_columns : mapping
        Quantity -> possible lines of the map, if names and values do not determine column or unit.
    """

    columns: dict[str, str]
    reasons: list[str]
    layout: str = ""
    open_columns: Mapping[str, Sequence[str]] = MappingProxyType({})


def find_columns(path, section, orientation=False, shared=False, layout=None) -> ColumnChoice:
    """Choose the columns of a file, unless they have the names that this package uses.

    Parameters
    ----------
    path : path-like
        Recording.
    section : str
        Section of config.ini that describes the recording, ``reference`` or ``imu_recording``.
    orientation : bool
        Whether an orientation alone suffices as the reference, as for an IMU in a separate file.
    shared : bool
        Whether reference and IMU are both read from this file, so that an orientation belongs to
        only one of them.
    layout : RecordingLayout, optional
        Layout that the user has chosen.

    Returns
    -------
    ColumnChoice
        Chosen columns with reasons; empty if the columns have the names of this package.

    Raises
    ------
    RecordingError
        The file cannot be read, or does not have the layout.
    """
    if layout is None and _has_own_names(path, section, shared):
        return ColumnChoice({}, [])
    maps, is_reference = find_column_maps(path, layout=layout), section == "reference"
    headless = "x" in maps.reference and {"qw", "yaw", "heading"}.isdisjoint(maps.reference)
    if is_reference and orientation and headless:
        # Odometry contains rates as well, but is not an IMU if the IMU has a separate file.
        maps = find_column_maps(path, inertial=False)
    columns, other = maps.imu, maps.reference
    if is_reference:
        columns, other = other, columns
    if not columns and (orientation if is_reference else not shared):
        # The orientation belongs to the IMU or the reference, as which the user declared the file.
        columns = {n: other[n] for n in (*QUATERNION, *EULER, "heading") if n in other}
        if columns and "time" in other:
            columns = {"time": other["time"], **columns}
    elif not columns and not is_reference and {*QUATERNION, "yaw", "heading"} & set(other):
        maps.reasons.append(
            "the orientation next to the positions belongs to the reference, not to an IMU; if the "
            "IMU has a separate file, name that file after this file"
        )
    open_columns = maps.open_reference if is_reference else maps.open_columns
    return ColumnChoice(columns, maps.reasons, maps.layout, open_columns)


def _has_own_names(path, section, shared) -> bool:
    try:
        format = recording_format(path)
        format = format if format in ("tables", "bag") else "csv"
        return bool(_own_names(path, format, section)) and not (
            shared and _is_shared_orientation(path, format)
        )
    except RecordingError:
        return False


_REQUESTS = {
    "reference": SampleRequest("reference", REFERENCE_TYPES),
    "imu_recording": SampleRequest("IMU", IMU_TYPES),
}


def _own_names(path, format, section):
    """Return the quantities whose columns have this package's names, if they are sufficient."""
    request = replace(_REQUESTS[section], format=format)
    blocks = sample_blocks(path, request, rows_at_once=ROWS_AT_ONCE)
    return set(next(blocks).columns)


def _is_shared_orientation(path, format) -> bool:
    """Return whether both reference and IMU would use the orientation of the table."""
    try:
        reference, imu = (_own_names(path, format, section) for section in _REQUESTS)
    except RecordingError:
        return False
    return not (imu.isdisjoint([*GYRO, *ACCEL]) or imu.isdisjoint(reference & {*QUATERNION, "yaw"}))


def _recorded(path, format, columns=()):
    return read_bag_tables(path, columns) if format == "bag" else read_table_file(path)


def _table(path, column=""):
    """Return the candidate columns of a table, and the index of the excerpt of each row."""
    format = recording_format(path)
    if format in ("tables", "bag"):
        recorded = _recorded(path, format, [column])
        return spread_candidates(recorded, recorded.owner(column))
    text, pieces = _spread(path)
    table = parse_table(path, text)
    names = list(table.cells.columns)
    pieces = np.searchsorted(pieces, table.lines, side="right")
    understood = understood_names(path, names, [table.cells[name] for name in names])
    ambiguous = table.ambiguous
    meanings = [
        None if name in ambiguous else meaning_in_file(path, str(name)) for name in understood
    ]
    return candidates_of(names, [table.cells[name] for name in names], meanings), pieces


def _spread(path):
    """Return excerpts of a text file, and the number of the first line of each excerpt."""
    marks = np.fromiter((line.count('"') & 1 for line in text_lines(text_blocks(path))), np.uint8)
    if len(marks) <= PIECES * ROWS:
        return "".join(text_blocks(path)), [1]
    # A row ends at a line up to which the number of quotation marks is even.
    ends = np.bitwise_xor.accumulate(marks) == 0
    excerpt, first_lines = [], []
    lines, stop = text_lines(text_blocks(path)), 0
    for start in np.linspace(0, len(ends) - ROWS, PIECES).astype(int):
        # An excerpt must not begin or end within a cell that contains line breaks.
        while start > stop and not ends[start - 1]:
            start -= 1
        previous, start = stop, max(start, stop)
        stop = start + ROWS
        while stop < len(ends) and not ends[stop - 1]:
            stop += 1
        first_lines.append(len(excerpt) + 1)
        excerpt += itertools.islice(lines, start - previous, stop - previous)
    return "\n".join(excerpt), first_lines
