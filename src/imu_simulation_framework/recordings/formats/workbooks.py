"""Workbooks (``.xlsx``, ``.xls``, ``.ods``), with a table on each sheet, and Parquet."""

from __future__ import annotations

import datetime
import itertools

import numpy as np
import pandas as pd

from imu_simulation_framework.core.errors import RecordingError
from imu_simulation_framework.core.extras import required
from imu_simulation_framework.recordings.file_access import unpacked
from imu_simulation_framework.recordings.text_table import distinct_names, with_units

_DAMAGE = (ArithmeticError, LookupError, MemoryError, OSError, RuntimeError, TypeError, ValueError)


def read_workbook(path) -> dict[str, pd.DataFrame]:
    """Return the sheets of a workbook, whose first line names the columns, the next perhaps units.

    Raises RecordingError: it is damaged, or no workbook. Raises MissingLibraryError:
    python-calamine is not installed.
    """
    library = required("python_calamine", "a workbook")
    with unpacked(path) as plain:
        try:
            book = library.CalamineWorkbook.from_path(str(plain))
            rows = {name: book.get_sheet_by_name(name).to_python() for name in book.sheet_names}
        except (library.CalamineError, *_DAMAGE) as error:
            raise _damaged(path, "a workbook (.xlsx, .xls, .ods)", error) from None
    return {name: _sheet(content) for name, content in rows.items()}


def _sheet(rows):
    rows = [row for row in rows if any(cell != "" for cell in row)]
    names = [str(cell).strip() for cell in rows[0]] if rows else []
    if rows and all(isinstance(cell, (int, float)) for cell in rows[0]):
        return pd.DataFrame(rows, columns=[f"col{k}" for k in range(1, len(names) + 1)]).apply(
            _column
        )
    below = [[str(cell) for cell in row] for row in itertools.islice(rows, 1, 3)]
    united = with_units(names, below)
    table = pd.DataFrame(rows[2 if united else 1 :], columns=distinct_names(united or names))
    return table.apply(_column)


def _column(cells):
    texts = cells.map(lambda cell: cell.isoformat(" ") if isinstance(cell, _DATES) else cell)
    numbers = pd.to_numeric(texts.replace("", np.nan), errors="coerce")
    return numbers if (numbers.notna() | (texts == "")).all() else texts


_DATES = (datetime.date, datetime.datetime)


def read_parquet(path) -> dict[str, pd.DataFrame]:
    """Return the table of a Parquet file; raises as :func:`read_workbook`, of pyarrow."""
    arrow, parquet = required("pyarrow", "Parquet"), required("pyarrow.parquet", "Parquet")
    with unpacked(path) as plain:
        try:
            table = parquet.ParquetFile(str(plain)).read()
            while any(arrow.types.is_struct(field.type) for field in table.schema):
                table = table.flatten()
            columns = {
                # What pandas calls the index of a table that has none with a name.
                "time" if name == "__index_level_0__" else name: _values(arrow, column)
                for name, column in zip(table.column_names, table.columns)
                if not arrow.types.is_nested(column.type)
            }
        except (arrow.ArrowException, *_DAMAGE) as error:
            raise _damaged(path, "Parquet", error) from None
    return {"table": pd.DataFrame(columns)}


def _values(arrow, column):
    if arrow.types.is_timestamp(column.type):
        # Counts since 1970 in the unit of the file, which their size tells.
        column = column.cast(arrow.int64())
    return column.to_pandas()


def _damaged(path, what, error):
    reason = " ".join(str(error).split()) or type(error).__name__
    return RecordingError(f"{path}: cannot be read as {what}, it is truncated or damaged: {reason}")
