"""Files and folders with tables: CSV files, workbooks, Parquet, JSON, and other formats.

- A folder or a zip file with CSV files, from Sensor Logger, phyphox and other smartphone apps, has
  one table per file, named after the file: ``Gyroscope.x``. If there is a table ``Gravity``, it is
  added to an acceleration without gravity; the sum is ``Accelerometer+Gravity.x``.
- A workbook (``.xlsx``, ``.xls``, ``.ods``; extra ``formats``) has one table per sheet. The first
  line names the columns, and the second line may contain units.
- Parquet (extra ``formats``) has a single table. Fields of a struct are columns such as ``gyro.x``.
- JSON contains one object per line (or a Python dictionary), an array of objects, or an object that
  contains such arrays or one list per column. Fields of an object are columns such as ``gyro.x``.
  Each array is a table. If all samples have a text in ``sensor``, ``name`` or ``topic``, as in
  Sensor Logger, there is one table per text. If a text next to a vector names its components, such
  as ``"name": "Accelerometer (z,x,y)"`` in GoPro telemetry, the columns have these names.
"""

from __future__ import annotations

import ast
import collections
import datetime
import functools
import itertools
import json
import os
import re
import zipfile
import zlib
from dataclasses import replace
from functools import partial
from pathlib import PurePosixPath
from typing import Any, Callable, Mapping

import numpy as np
import pandas as pd

from ...core.errors import RecordingError, import_optional
from ...core.files import BLOCK_SIZE, format_size, open_regular
from ...core.sentences import quote
from ..cleaning import MINIMUM_SAMPLES
from ..file_access import (
    UNPACKED_LIMIT,
    csv_files,
    decoded,
    limited,
    table_kind,
    text_blocks,
    unpacked,
    versions_of,
)
from ..tables import RecordedTables, recorded_tables
from ..text_table import (
    TextTable,
    as_numbers,
    distinct_names,
    parse_table,
    refuse_endless_names,
    text_lines,
    with_units,
)
from ..vocabulary.names import WITH_GRAVITY, is_time
from .autopilot_logs import read_binary_log, read_text_log, read_ulog
from .gnss_ins_sim import read_gnss_ins_sim
from .matlab import damaged, read_hdf5, read_mat, read_numpy
from .receiver_logs import read_gpx, read_novatel, read_vbox
from .serial_lines import read_echoed, read_sentences, read_tagged, read_words

_DAMAGE = (ArithmeticError, LookupError, MemoryError, OSError, RuntimeError, TypeError, ValueError)


def read_workbook(path) -> dict[str, pd.DataFrame]:
    """Read the sheets of a workbook.

    The first line of a sheet names the columns, and the second line may contain units.

    Parameters
    ----------
    path : path-like
        The file, ``.xlsx``, ``.xls`` or ``.ods``.

    Returns
    -------
    dict of str to DataFrame
        Table by sheet.

    Raises
    ------
    RecordingError
        The file is damaged, or not a workbook.
    MissingLibraryError
        python-calamine is not installed.
    """
    library = import_optional("python_calamine", "a workbook")
    with unpacked(path) as plain:
        try:
            book = library.CalamineWorkbook.from_path(str(plain))
            rows = {name: book.get_sheet_by_name(name).to_python() for name in book.sheet_names}
        except (library.CalamineError, *_DAMAGE) as error:
            raise damaged(path, "a workbook (.xlsx, .xls, .ods)", error) from None
    return {name: _sheet(content) for name, content in rows.items()}


def _sheet(rows):
    rows = [row for row in rows if any(cell != "" for cell in row)]
    names = [str(cell).strip() for cell in rows[0]] if rows else []
    if rows and all(isinstance(cell, (int, float)) for cell in rows[0]):
        names = [f"col{k}" for k in range(1, len(names) + 1)]
    else:
        next_rows = [[str(cell) for cell in row] for row in rows[1:3]]
        united = with_units(names, next_rows)
        names, rows = distinct_names(united or names)[0], rows[2 if united else 1 :]
    return pd.DataFrame(rows, columns=names).apply(_column)


def _column(cells):
    dates = (datetime.date, datetime.datetime)
    texts = cells.map(lambda cell: cell.isoformat(" ") if isinstance(cell, dates) else cell)
    numbers = pd.to_numeric(texts.replace("", np.nan), errors="coerce")
    return numbers if (numbers.notna() | (texts == "")).all() else texts


def read_parquet(path) -> dict[str, pd.DataFrame]:
    """Read the table of a Parquet file.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    dict of str to DataFrame
        A single table.

    Raises
    ------
    RecordingError
        The file is damaged, or not a Parquet file.
    MissingLibraryError
        pyarrow is not installed.
    """
    arrow, parquet = (
        import_optional("pyarrow", "Parquet"),
        import_optional("pyarrow.parquet", "Parquet"),
    )
    with unpacked(path) as plain:
        try:
            table = parquet.ParquetFile(str(plain)).read()
            while any(arrow.types.is_struct(field.type) for field in table.schema):
                table = table.flatten()
            columns = {}
            for name, column in zip(table.column_names, table.columns):
                # This is the name under which pandas writes an unnamed index.
                name = "time" if name == "__index_level_0__" else name
                if arrow.types.is_timestamp(column.type):
                    # Dates are converted to integers since 1970 in the time unit of the file.
                    column = column.cast(arrow.int64())
                if not arrow.types.is_nested(column.type):
                    columns[name] = column.to_pandas()
        except (arrow.ArrowException, *_DAMAGE) as error:
            raise damaged(path, "Parquet", error) from None
    return {"table": pd.DataFrame(columns)}


def read_json(path) -> dict[str, pd.DataFrame]:
    """Read the tables of a JSON file.

    Parameters
    ----------
    path : path-like
        File with a JSON document, or with one document per line.

    Returns
    -------
    dict of str to DataFrame
        Table by name.

    Raises
    ------
    RecordingError
        The file contains no samples in JSON.
    """
    lines = (line for line in text_lines(text_blocks(path)) if line.strip())
    first, second = next(lines, "").strip(), next(lines, "")
    if first.startswith("{'") or (second and first.startswith("{") and first.endswith("}")):
        return _sample_tables(
            path, _samples_of_lines(path, itertools.chain([first, second], lines))
        )
    try:
        document = json.loads("".join(text_blocks(path)))
    except (ValueError, RecursionError) as error:
        raise RecordingError(f"{path}: not valid JSON ({error})") from None
    if isinstance(document, list) and document and isinstance(document[0], list):
        rows = pd.DataFrame(document)
        return {"table": rows.rename(columns=lambda place: f"col{place + 1}").apply(as_numbers)}
    if isinstance(document, list):
        return _sample_tables(path, ((f"sample {k}", part) for k, part in enumerate(document, 1)))
    tables: dict[str, pd.DataFrame] = {}
    _collect(path, document, "table", tables)
    return tables or _sample_tables(path, [("line 1", document)])


def _sample_tables(path, samples):
    """Return tables from samples, each with its location in the file, for error messages."""
    rows: list[dict] = []
    owners: collections.Counter = collections.Counter()
    for place, sample in samples:
        if not isinstance(sample, dict):
            raise RecordingError(
                f"{path}: {place} is not an object, expected a sample such as "
                '{"time": 0.1, "gyro_z": 0.2}'
            )
        rows.append(dict(_flat(sample)))
        refuse_endless_names(path, rows[-1])
        owners.update(key for key, value in sample.items() if isinstance(value, str))
    key = next((key for key in ("sensor", "name", "topic") if owners[key] == len(rows)), None)
    tables = collections.defaultdict(list)
    for row in rows:
        tables[row.pop(key) if key else "table"].append(row)
    return {name: pd.DataFrame(columns).apply(as_numbers) for name, columns in tables.items()}


def _samples_of_lines(path, lines):
    for number, line in enumerate(filter(str.strip, lines), 1):
        try:
            yield f"line {number}", _object(line)
        except (ValueError, RecursionError, MemoryError, SyntaxError) as error:
            raise RecordingError(
                f"{path}: line {number} is not valid JSON ({error}), expected one object per line"
            ) from None


_DESCRIBED = re.compile(r"([^()]*)\(([^()]*,[^()]*)\)\s*\Z")
_WORDS_WITHOUT_MEANING = ("samples", "data", "values", "records", "measurements")


def _collect(path, document, name, tables):
    """Add the lists in a JSON object to the tables; each is a list of samples, or a column.

    Parameters
    ----------
    path : path-like
        Recording, for messages.
    document : dict
        Object of a JSON document.
    name : str
        Name of the table for columns of the object.
    tables : dict
        Tables by name, which are extended.
    """
    columns: dict[int, dict] = collections.defaultdict(dict)
    refuse_endless_names(path, document)
    for key, value in document.items():
        column_name = name if key in _WORDS_WITHOUT_MEANING else key
        value = _column_of_pandas(value)
        if isinstance(value, dict):
            _collect(path, value, column_name, tables)
        elif _is_list_of(value, dict):
            _collect_samples(path, document, key, column_name, tables)
        elif isinstance(value, list):
            columns[len(value)].update(_columns_of_list(key, value))
    for length, own_columns in columns.items():
        if length >= MINIMUM_SAMPLES:
            _add(tables, name, pd.DataFrame(own_columns).apply(as_numbers))


def _column_of_pandas(value):
    """Convert an object with numeric keys, as written by pandas for a column, to a list.

    An object with numeric keys that contains objects describes devices, and is returned unchanged.
    """
    if not (isinstance(value, dict) and value and all(map(str.isdigit, value))):
        return value
    values = list(value.values())
    return value if isinstance(values[0], dict) else values


def _is_list_of(value, kind) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], kind)


def _collect_samples(path, document, key, name, tables):
    """Add the tables of a list of objects, which are samples or contain lists of samples."""
    objects = document[key]
    if len(objects) < MINIMUM_SAMPLES or any(map(_is_long, objects[0].values())):
        for part in objects:
            if isinstance(part, dict):
                _collect(path, part, name, tables)
        return
    samples = ((f"sample {k} of {quote(key)}", part) for k, part in enumerate(objects, 1))
    for sensor, table in _sample_tables(path, samples).items():
        described, table = _described(table, document)
        _add(tables, described or (name if sensor == "table" else sensor), table)


def _columns_of_list(key, values) -> dict:
    """Convert a list of numbers, or a list of vectors, to columns of a table."""
    parts = list(dict(_flat({key: values[0]}))) if _is_list_of(values, list) else [key]
    if len(parts) == 1:
        return {parts[0]: values}
    return dict(zip(parts, map(list, zip(*values))))


def _is_long(value):
    return isinstance(value, list) and len(value) >= MINIMUM_SAMPLES


def _add(tables, name, table):
    number = sum(known.partition(" ")[0] == name for known in tables)
    tables[f"{name} {number + 1}" if name in tables else name] = table


def _described(table, siblings):
    """Return the table with named vector components, and its name, from adjacent descriptions.

    Cameras write ``"name": "Accelerometer (z,x,y)", "units": "m/s2"`` next to ``samples``.
    """
    vector = [name for name in table if re.search(r"\[\d\]\Z", name)]
    for match in (_DESCRIBED.match(text) for text in siblings.values() if isinstance(text, str)):
        parts = re.split(r"\s*,\s*", match[2]) if match else []
        if match and len(parts) == len(vector):
            units = siblings.get("units", siblings.get("SIUN", ""))
            units = units if isinstance(units, list) else [units] * len(parts)
            labels = [f"{part} [{u}]" if u else part for part, u in zip(parts, units)]
            return match[1].strip(), table.rename(columns=dict(zip(vector, labels)))
    return "", table


def _object(line):
    """Parse a line with a JSON object or a printed Python dictionary."""
    return ast.literal_eval(line.strip()) if line.lstrip().startswith("{'") else json.loads(line)


def _flat(sample, prefix=""):
    for key, value in sample.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        elif isinstance(value, list):
            # Vectors, quaternions and 3 x 3 matrices have at most nine elements.
            yield from ((f"{prefix}{key}[{k}]", part) for k, part in enumerate(value[:9]))
        else:
            yield f"{prefix}{key}", value


_WORKBOOK = ("xl/", "content.xml")  # files in a workbook, which is also a zip file
_ZIP_DAMAGE = (EOFError, NotImplementedError, OSError, RuntimeError, zipfile.BadZipFile, zlib.error)
_DESCRIPTIONS = ("metadata", "annotation", "device")
"""Files that describe the smartphone and the recording, and contain no sensor data."""


def read_folder(path) -> dict[str, TextTable]:
    """Read the CSV files in a folder; empty files are ignored.

    Parameters
    ----------
    path : path-like
        The folder.

    Returns
    -------
    dict of str to TextTable
        Table by file name.

    Raises
    ------
    RecordingError
        A file cannot be read, or is not a table.
    """
    files = {file.name: file for file in csv_files(path) if _is_sensor(file.name)}
    return _tables({name: (file, partial(text_blocks, file)) for name, file in files.items()})


def read_zip(path) -> Mapping[str, Any]:
    """Read the CSV files in a zip file.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    mapping of str to DataFrame or TextTable
        Table by file name.

    Raises
    ------
    RecordingError
        A file cannot be read, or is not a table.
    """
    try:
        with open_regular(path) as file, zipfile.ZipFile(file) as archive:
            if any(member.filename.startswith(_WORKBOOK) for member in archive.infolist()):
                return read_workbook(path)
            if all(member.filename.endswith(".npy") for member in archive.infolist()):
                if sum(member.file_size for member in archive.infolist()) > UNPACKED_LIMIT:
                    raise RecordingError(
                        f"{path}: the content is too large, expected at most "
                        f"{format_size(UNPACKED_LIMIT)}"
                    )
                return read_numpy(path)
            members = [info for info in archive.infolist() if _is_sensor(info.filename)]
            if not members:
                raise RecordingError(
                    f"{path}: the zip file contains no CSV file, expected one per sensor, as "
                    "written by smartphone apps"
                )
            texts = {info.filename: partial(_text, path, archive, info) for info in members}
            return _tables({name: (f"{path}: {name}", text) for name, text in texts.items()})
    except _ZIP_DAMAGE as error:
        raise RecordingError(
            f"{path}: the zip file is truncated or damaged, or requires a password: {error}"
        ) from None


def _text(path, archive, member):
    with archive.open(member) as file:
        blocks = limited(path, iter(lambda: file.read(BLOCK_SIZE), b""), member.compress_size)
        yield from decoded(f"{path}: {member.filename}", blocks)


def _tables(files):
    """Parse the text of each file; error messages contain the name that is paired with the text."""
    tables = {}
    for name, (source, text) in files.items():
        # The file is empty or contains only a header if the smartphone lacks the sensor.
        if len(list(itertools.islice(text_lines(text()), 2))) == 2:
            tables[_stem(name)] = parse_table(source, text)
    return {**tables, **_with_gravity(tables)}


_LINEAR = ("accelerometer", "linearacceleration", "linearaccelerometer", "accelerometerlinear")
_AXIS = re.compile(r"(?<![a-z])[xyz](?![a-z])", re.IGNORECASE)


def _with_gravity(tables):
    """Return a copy of the accelerometer table to which separately recorded gravity is added."""
    plain = {re.sub(r"[ _]", "", name.lower()): name for name in tables}
    if "gravity" not in plain or "totalacceleration" in plain:
        return {}
    gravity = tables[plain["gravity"]].cells
    for name in (plain[linear] for linear in _LINEAR if linear in plain):
        table = tables[name]
        parts, gravity_axes = _axes(table.cells), _axes(gravity)
        clocks = [c for c in table.cells if c in gravity and c not in parts.values()]
        columns = [*parts.values(), *clocks[:1]], [*gravity_axes.values(), *clocks[:1]]
        numeric = pd.api.types.is_numeric_dtype
        if not (clocks and set(parts) == set(gravity_axes) == set("xyz")) or not all(
            numeric(cells[column])
            for cells, table_columns in zip((table.cells, gravity), columns)
            for column in table_columns
        ):
            continue
        lengths = [
            np.nanmedian(np.linalg.norm(cells[list(axes.values())], axis=1))
            for cells, axes in ((table.cells, parts), (gravity, gravity_axes))
        ]
        times, grid = table.cells[clocks[0]], gravity[clocks[0]]
        if lengths[0] > 0.5 * lengths[1] or not times.between(grid.min(), grid.max()).any():
            continue
        added = {
            parts[axis]: table.cells[parts[axis]]
            + np.interp(times, grid, gravity[gravity_axes[axis]], left=np.nan, right=np.nan)
            for axis in "xyz"
        }
        return {f"{name}{WITH_GRAVITY}": replace(table, cells=table.cells.assign(**added))}
    return {}


def _axes(cells):
    """Return the columns whose names contain an axis, as a mapping from the axis."""
    axes = {name: _AXIS.findall(name) for name in cells}
    return {letters[-1].lower(): name for name, letters in axes.items() if letters}


def _stem(name) -> str:
    return PurePosixPath(name).name.split(".csv")[0]


def _is_sensor(name) -> bool:
    path = PurePosixPath(name)
    hidden = any(part.startswith((".", "__")) for part in path.parts)
    described = _stem(name).lower() in _DESCRIPTIONS or "meta" in path.parts
    return name.lower().endswith((".csv", ".csv.gz")) and not (hidden or described)


TABLE_FILES: dict[str, tuple[Callable[..., Mapping], str]] = {
    "folder": (read_folder, "enu"),
    "gnss_ins_sim": (read_gnss_ins_sim, "ned"),
    "zip": (read_zip, "enu"),
    "json": (read_json, "enu"),
    "workbook": (read_workbook, "enu"),
    "parquet": (read_parquet, "enu"),
    "matlab": (read_mat, "enu"),
    "hdf5": (read_hdf5, "enu"),
    "numpy": (read_numpy, "enu"),
    "sentences": (read_sentences, "ned"),
    "novatel": (read_novatel, "enu"),
    "vbox": (read_vbox, "enu"),
    "gpx": (read_gpx, "enu"),
    "echoed": (read_echoed, "enu"),
    "words": (read_words, "enu"),
    "tagged": (read_tagged, "enu"),
    "ulog": (read_ulog, "ned"),
    "dataflash": (read_binary_log, "ned"),
    "dataflash_text": (read_text_log, "ned"),
}
"""Reader and axis convention for each result of :func:`.table_kind`."""


def read_table_file(path) -> RecordedTables:
    """Read all tables of a file or folder.

    Parameters
    ----------
    path : path-like
        File or folder.

    Returns
    -------
    RecordedTables
        Tables of the recording.

    Raises
    ------
    RecordingError
        The recording cannot be read.
    """
    kind = table_kind(path)
    if not kind:
        raise RecordingError(
            f"{path}: cannot be read with the format tables, expected a folder, an archive or a "
            "file with several tables; set the format to auto or csv"
        )
    files = csv_files(path) if os.path.isdir(path) else [path]
    return _read(str(path), kind, versions_of(files))


# The result is cached, since a program reads the same file for the reference and for the IMU.
@functools.lru_cache(maxsize=2)
def _read(path, kind, _):
    read, frame = TABLE_FILES[kind]
    return recorded_tables(path, _with_times(read(path)), frame)


def _with_times(tables):
    """Add times to tables without a time, if exactly one timed table has the same length."""
    cells = {name: getattr(table, "cells", table) for name, table in tables.items()}
    times = {
        name: [column for column in columns if is_time(str(column))]
        for name, columns in cells.items()
    }
    clocks: dict[int, list] = collections.defaultdict(list)
    for name in filter(times.get, cells):
        clocks[len(cells[name])].append(cells[name][times[name][0]])
    timed_tables = dict(tables)
    for name, columns in cells.items():
        if not times[name] and len(clocks[len(columns)]) == 1:
            (clock,) = clocks[len(columns)]
            timed = columns.assign(**{str(clock.name): clock.to_numpy()})
            table = tables[name]
            timed_tables[name] = timed if table is columns else replace(table, cells=timed)
    return timed_tables
