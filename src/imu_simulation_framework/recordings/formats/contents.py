"""Contents of a recording: tables with named columns, or topics of a bag."""

from __future__ import annotations

import os
from dataclasses import dataclass

from ...core.errors import RecordingError
from ...core.sentences import join_names
from ..file_access import recording_format, text_blocks
from ..text_table import ROWS_AT_ONCE, table_blocks
from .any_format import topics_of_bag
from .table_files import read_table_file

_MAX_NAMES = 40  # maximum number of column names in a report line; autopilot logs have a thousand


@dataclass(frozen=True)
class TableContents:
    """Table, or topic of a bag.

    Parameters
    ----------
    name : str
        Name of the table or topic; empty for the only table of a text file.
    columns : tuple of str
        Names of the columns, or the type of a topic.
    rows : int, optional
        Number of rows or messages; None if a text file has not been read completely.
    """

    name: str
    columns: tuple[str, ...]
    rows: int | None = None

    def clause(self) -> str:
        """Describe the name, the number of rows and the columns of the table.

        Returns
        -------
        str
            Description without a full stop.
        """
        names = list(self.columns[:_MAX_NAMES])
        more = len(self.columns) - len(names)
        remainder = f" and {more} more" if more else ""
        rows = "" if self.rows is None else f"{self.rows} rows of "
        return f"{f'{self.name}: ' if self.name else ''}{rows}{join_names(names)}{remainder}"


@dataclass(frozen=True)
class RecordingContents:
    """Format and tables of a recording.

    Attributes
    ----------
    path : str
        The recording.
    format : str
        One of :data:`.FORMATS`.
    tables : tuple of TableContents
        Tables, or topics of a bag.
    """

    path: str
    format: str
    tables: tuple[TableContents, ...]

    def lines(self) -> list[str]:
        """Describe the format of the recording and each table.

        Returns
        -------
        list of str
            Lines of text.
        """
        number = (
            f"{len(self.tables)} table" if len(self.tables) == 1 else f"{len(self.tables)} tables"
        )
        if self.format == "bag":
            number = number.replace("table", "topic")
        count_text = f", {number}" if self.tables else ""
        tables = [f"  {table.clause()}" for table in self.tables[:_MAX_NAMES]]
        return [f"{self.path}: format {self.format}{count_text}", *tables]


def list_contents(path: str | os.PathLike[str], format: str = "auto") -> RecordingContents:
    """Return the format and the tables of a recording; TUM and KITTI recordings have no tables.

    Parameters
    ----------
    path : path-like
        The recording.
    format : str
        One of :data:`.FORMATS`, or ``auto``.

    Returns
    -------
    RecordingContents
        Contents of the recording.

    Raises
    ------
    RecordingError
        The recording cannot be read.
    """
    recorded = recording_format(path)
    # A bag is listed by topic, even if its messages of unknown types are read as tables.
    format = recorded if format == "auto" or recorded == "bag" else format
    tables: list[TableContents] = []
    if format == "bag":
        for topic, (kind, count) in sorted(topics_of_bag(path).items()):
            tables.append(TableContents(topic, (kind,), count))
    elif format == "tables":
        for name, table in read_table_file(path).tables.items():
            columns = tuple(map(str, table.cells.columns))
            tables.append(TableContents(name, columns, len(table.cells)))
    elif format in ("csv", "rostopic_csv"):
        blocks = table_blocks(path, text_blocks(path), rows_at_once=ROWS_AT_ONCE)
        first = next(blocks, None)
        if first is None:
            raise RecordingError(f"{path}: no rows, expected at least one")
        tables.append(TableContents("", tuple(map(str, first.cells.columns))))
    return RecordingContents(str(path), format, tuple(tables))
