"""Tables of numbers in text files, with line numbers for error messages.

The first line of the file contains the names of the columns:

- Lines that begin with ``#`` or ``//`` are comments. If the first line contains numbers, the
  comment directly above it contains the names; without a comment, columns are ``col1``, ``col2``,
  and so on.
- Units may be in the line below the names; columns are then named ``name [unit]``.
- If several columns have the same name and the cells below it differ, such as X, Y, Z, the columns
  are named ``name X``.
- A line below names and units may contain the source of each column (``100: gps``), which is
  prepended to repeated names.
- If names are repeated after the names of empty columns, as in a flattened message
  (``position,x,y,z,orientation,x,y,z,w``), the columns are named ``position.x``.
- Other columns with the same name and different values are not used.
- Lines with fewer cells above the table, which some programs write, are ignored. Characters may be
  encoded in Latin-1.

Cells are separated by commas, semicolons, tabs or spaces. With semicolons or tabs, numbers may have
decimal commas. A separator at the end of a line does not start a new cell.
"""

from __future__ import annotations

import collections
import csv
import io
import itertools
import re
from dataclasses import dataclass, field, replace
from typing import Callable, Hashable, Iterable, Iterator, NamedTuple

import numpy as np
import pandas as pd

from ..core.errors import RecordingError
from ..core.sentences import escape_unprintable, quote
from .growing_arrays import GrowingArray

LINE = "line"
"""Name that refers to the line number in column maps, unless a column has this name."""
_COMMENTS = ("#", "//")
ROWS_AT_ONCE = 5_000
"""Number of rows that are parsed at a time, since text needs far more memory than numbers."""

_LONGEST_CELL = 20  # lines of a quoted cell; a longer cell has an unclosed quotation mark
_LONGEST_LINE = 100_000  # characters; Python's csv reader rejects cells of 131072 characters
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\Z")
_FIRST_LINES = 100  # number of lines that are searched for decimal commas
_PREAMBLE = 60  # largest number of lines before a table
_ROWS_BELOW = 4  # smallest number of consecutive lines with equally many cells in a table
_WITH_COMMA = re.compile(r"[+-]?\d+,\d+([eE][+-]?\d+)?\Z")
_DATE = re.compile(r"\d{4}[-/]\d\d?[-/]\d\d?")
_MISSING = ("", "nan", "NaN", "NAN", "-nan", "NA", "N/A", "null", "None")


@dataclass(frozen=True)
class TextTable:
    """Cells of a text file, which are converted to numbers column by column.

    Parameters
    ----------
    path : str
        File, for messages.
    cells : pandas.DataFrame
        Columns of numbers; columns of text if a cell is not a number.
    lines : numpy.ndarray of int, shape (n,)
        Line number of each row.
    namesakes : dict of str to list of str
        Repeated name in the header -> names of the other columns in ``cells``.
    """

    path: str
    cells: pd.DataFrame
    lines: np.ndarray
    namesakes: dict[str, list[str]] = field(default_factory=dict)

    def texts(self, column) -> pd.Series:
        """Return a column as text without surrounding spaces.

        Parameters
        ----------
        column : str
            Name of the column.

        Returns
        -------
        Series of str
            Cells; empty if the value is missing.

        Raises
        ------
        RecordingError
            Another column with this name has different values.
        """
        self._refuse_ambiguous(column)
        text = self.cells[column].astype(str).str.strip()
        return text.where(~(self.cells[column].isna() | text.isin(_MISSING)), "")

    def numbers(self, column) -> np.ndarray:
        """Return a column as numbers.

        Parameters
        ----------
        column : str
            Name of the column.

        Returns
        -------
        ndarray, shape (n,)
            Numbers; integers remain integers, empty and ``nan`` cells are nan.

        Raises
        ------
        RecordingError
            A cell is not a number, or another column with this name has different values.
        """
        self._refuse_ambiguous(column)
        cells = self.cells[column]
        if pd.api.types.is_numeric_dtype(cells) and not pd.api.types.is_bool_dtype(cells):
            return cells.to_numpy()
        text = self.texts(column)
        numbers = pd.to_numeric(text.where(text != ""), errors="coerce")
        wrong = np.flatnonzero((numbers.isna() & (text != "")).to_numpy())
        if len(wrong):
            raise RecordingError(
                f"{self.path}: line {self.lines[wrong[0]]}, column {quote(column)}: "
                f"{quote(text.iloc[wrong[0]])} is not valid, expected a number"
            )
        return numbers.to_numpy(dtype=float)

    @property
    def ambiguous(self) -> dict[str, str]:
        """Descriptions of duplicate names whose columns have different values, by name."""
        return {
            column: f"{1 + len(others)} columns are named {quote(column)}, with different values"
            for column, others in self.namesakes.items()
            if not all(self.cells[column].equals(self.cells[other]) for other in others)
        }

    def _refuse_ambiguous(self, column) -> None:
        if column in self.namesakes and column in self.ambiguous:
            raise RecordingError(f"{self.path}: {self.ambiguous[column]}; give them unique names")


def parse_table(
    path, text: str | Callable[[], Iterable[str]], names=None, rows_at_once=ROWS_AT_ONCE
) -> TextTable:
    """Parse the text of a table; empty lines and comments with ``#`` or ``//`` are ignored.

    The first line names the columns, and the second line may state their units. The separator of
    the first line (comma, semicolon, tab or white space) is used for the whole table; with
    semicolons or tabs, numbers may have decimal commas. If the first line contains numbers, the
    comment above it names the columns; without a comment, they are ``col1``, ``col2``, and so on.

    Parameters
    ----------
    path : path-like
        Recording, for messages.
    text : str or callable
        Text, or a function that returns its blocks and may be called repeatedly.
    names : sequence of str, optional
        Names of the columns; the separator is then white space.
    rows_at_once : int or None
        Number of rows that are parsed together; None for all rows.

    Returns
    -------
    TextTable
        Parsed table.

    Raises
    ------
    RecordingError
        The text is empty, a line has too many cells or is too long, or a quotation mark is not
        closed.
    """
    blocks = [text] if isinstance(text, str) else text()
    lines = GrowingArray()
    columns: dict[Hashable, GrowingArray] = collections.defaultdict(GrowingArray)
    kinds: dict[Hashable, set[str]] = collections.defaultdict(set)
    for table in table_blocks(path, blocks, names, rows_at_once):
        lines.extend(table.lines)
        for name, cells in table.cells.items():
            columns[name].extend(cells.to_numpy())
            kinds[name].add(cells.dtype.kind)
    if not all(len(kind) == 1 or kind <= {"i", "f"} for kind in kinds.values()):
        # If a column contains numbers and text, it is parsed again as text.
        return parse_table(path, text, names, rows_at_once=None)
    arrays = {name: column.finish() for name, column in columns.items()}
    return replace(table, cells=pd.DataFrame(arrays, copy=False), lines=lines.finish())


def table_blocks(path, blocks, names=None, rows_at_once=ROWS_AT_ONCE) -> Iterator[TextTable]:
    """Parse a table in blocks of limited length, to save memory.

    Parameters
    ----------
    path : path-like
        Recording, for messages.
    blocks : iterable of str
        Text of the table.
    names : sequence of str, optional
        Names of the columns; the separator is then white space.
    rows_at_once : int or None, optional
        Number of rows per block; None for all rows.

    Yields
    ------
    TextTable
        Block of the table.

    Raises
    ------
    RecordingError
        See :func:`parse_table`.
    """
    header = _read_header(path, _logical_lines(path, blocks), names)
    distinct, namesakes = distinct_names(header.names)
    decimal = ""
    for count in itertools.count():
        block = list(itertools.islice(header.rows, rows_at_once))
        if not block and count:
            return
        if not block:
            raise RecordingError(f"{path}: there is only one line, expected rows below the header")
        numbers, texts = zip(*_checked_rows(path, block, header))
        decimal = decimal or _decimal(texts, header.separator)
        cells = _read_block(path, texts, header.separator, len(header.names), decimal or ".")
        cells.columns = distinct
        del block, texts
        yield TextTable(str(path), cells, np.array(numbers, dtype=int), namesakes)


class _Header(NamedTuple):
    """Column names, line number of the header, separator, and iterator over the rows below it."""

    names: list[str]
    line: int
    separator: str
    rows: Iterator[tuple[int, str]]


def _read_header(path, lines, names) -> _Header:
    """Return the header of a table from its numbered lines, or from ``names``."""
    if names is None:
        lines = _skip_preamble(lines)
    comment, first = _first_line(path, lines)
    rows: Iterator[tuple[int, str]] = (
        row for row in lines if row[1].strip() and not _is_comment(row[1])
    )
    if names is not None:
        return _Header(names, first[0], r"\s+", itertools.chain([first], rows))
    separator = _separator(first[1])
    cells = _cells(first[1], separator)
    refuse_endless_names(path, cells)
    if _is_data(cells) or _is_named(cells, comment, separator):
        rows = itertools.chain([first], rows)
        return _Header(_names(comment, separator, cells), first[0], separator, rows)
    return _Header(*_names_and_rows(cells, first[0], separator, rows))


def _is_comment(line) -> bool:
    return line.lstrip().startswith(_COMMENTS)


def _first_line(path, lines) -> tuple[str, tuple[int, str]]:
    """Return the last comment above a table, and the number and text of the table's first line."""
    comment = ""
    for number, line in lines:
        if _is_comment(line):
            comment = line
        elif line.strip():
            return comment, (number, line)
    empty = "contains only comments" if comment else "is empty"
    raise RecordingError(f"{path}: {empty}, expected a table")


def _names_and_rows(names, line, separator, rows):
    """Return the fields of a _Header; the lines below the names may contain units or sources."""
    next_rows = list(itertools.islice(rows, 3))
    cells_below = [_cells(text, separator) for _, text in next_rows]
    united = with_units(names, cells_below[:2])
    has_sources = len(next_rows) == 3 and not any(map(_NUMBER.match, cells_below[1]))
    if not united and has_sources:
        united = with_units(_with_sources(names, cells_below.pop(1)), cells_below)
        next_rows = next_rows[1:] if united else next_rows
    rows = itertools.chain(next_rows[1:] if united else next_rows, rows)
    return united or _prefix_groups(names, cells_below[:2]), line, separator, rows


def _checked_rows(path, block, header: _Header):
    """Yield the number and text of each row; raise an error for a row with too many cells."""
    width = len(header.names)
    for number, line in block:
        line = _ended(line, header.separator, width)
        if _width(line, header.separator) > width:
            raise RecordingError(
                f"{path}: line {number} has {_width(line, header.separator)} cells, expected "
                f"{width} as in line {header.line}"
            )
        yield number, line


MAX_COLUMNS = 1000  # a flattened bag with all covariances has 600 columns
MAX_NAME = 500  # characters; a name with the names of all enclosing messages has 100


def refuse_endless_names(path, names) -> None:
    """Raise an error for a table with too many columns, or with a column name that is too long.

    Columns are compared in pairs, so the computing time grows faster than their number.

    Parameters
    ----------
    path : path-like
        Recording, for messages.
    names : sequence of str
        Names of the columns.

    Raises
    ------
    RecordingError
        There are too many names, or a name is too long.
    """
    if len(names) > MAX_COLUMNS:
        raise RecordingError(
            f"{path}: has {len(names)} columns, expected at most {MAX_COLUMNS}; remove columns "
            "that do not belong to time, reference or IMU"
        )
    for place, name in enumerate(names, 1):
        if len(name) > MAX_NAME:
            raise RecordingError(
                f"{path}: the name of column {place}, {quote(name)}, has {len(name)} characters, "
                f"expected at most {MAX_NAME}"
            )


def _skip_preamble(lines):
    """Return the lines of a table without the preamble that may precede it.

    The table begins at a line that has as many cells as the lines below it, at least three cells
    and more than the first line of the file, if most cells below it are numbers.
    """
    head = list(itertools.islice(lines, _PREAMBLE))
    texts = [(n, line) for n, (_, line) in enumerate(head) if line.strip()]
    texts = [(n, line) for n, line in texts if not line.lstrip().startswith(_COMMENTS)]
    widths = [_width(line, _separator(line)) for _, line in texts]
    for place in range(1, len(texts) - _ROWS_BELOW + 1):
        rows = range(place, place + _ROWS_BELOW)
        separator, width = _separator(texts[place][1]), widths[place]
        first = _width(texts[0][1], separator)
        filled = re.sub(r"[,;\t \r]*\Z", "", texts[place][1])
        if _width(filled, separator) < max(3, first + 1) or {width} != {widths[k] for k in rows}:
            continue
        cells = [cell for k in rows[1:] for cell in _cells(texts[k][1], separator) if cell]
        # Three or more names above rows with more numbers than names are an incomplete header.
        is_headerless = first >= 3 and _is_data(_cells(texts[place][1], separator))
        if not is_headerless and sum(bool(_NUMBER.match(cell)) for cell in cells) > len(cells) // 2:
            # The header may consist of lines with names and units, with as many cells as the table.
            while place > 1 and abs(widths[place - 1] - width) <= 1:
                if any(map(_NUMBER.match, _cells(texts[place - 1][1], separator))):
                    break
                place -= 1
            return itertools.chain(head[texts[place][0] :], lines)
    return itertools.chain(head, lines)


def _decimal(lines, separator) -> str:
    """Return the decimal separator of the numbers in these lines; empty if undetermined."""
    if separator not in (";", "\t"):
        return "."
    sample = list(lines[:_FIRST_LINES])
    for sign in (",", "."):
        sample += itertools.islice((line for line in lines if sign in line), _FIRST_LINES)
    cells = [cell for line in sample for cell in _cells(line, separator)]
    if any("." in cell and _NUMBER.match(cell) for cell in cells):
        return "."
    return "," if any(_WITH_COMMA.match(cell) for cell in cells) else ""


def _read_block(path, lines, separator, width, decimal):
    try:
        cells = pd.read_csv(
            io.StringIO("\n".join(line.strip(" \r") for line in lines)),
            # The default parser may be wrong in the last bit of a number.
            float_precision="round_trip", sep=separator, decimal=decimal,
            header=None, names=range(width), index_col=False,
            skipinitialspace=True, skip_blank_lines=False, low_memory=False,
        )  # fmt: skip
    except ValueError as error:  # base class of the parser errors of pandas
        raise RecordingError(
            f"{path}: cannot be parsed as a table: {' '.join(str(error).split())}"
        ) from None
    if len(cells) != len(lines):
        raise RecordingError(
            f"{path}: {len(lines)} lines are parsed as {len(cells)} rows, expected the same "
            "number; put quotation marks only around complete cells"
        )
    return cells


def _logical_lines(path, blocks):
    """Yield the number and text of each line; lines within a quoted cell are joined."""
    first_number, parts = 0, []
    for number, line in enumerate(text_lines(blocks), 1):
        if len(line) > _LONGEST_LINE:
            raise RecordingError(
                f"{path}: line {number} has {len(line)} characters, expected at most "
                f"{_LONGEST_LINE} in a table"
            )
        parts.append(line)
        first_number = first_number or number
        quoted = ('"' in line or len(parts) > 1) and not parts[0].lstrip().startswith(_COMMENTS)
        if quoted and sum(p.count('"') for p in parts) % 2:
            if len(parts) == _LONGEST_CELL:
                break
            continue
        yield first_number, " ".join(parts)
        first_number, parts = 0, []
    if parts:
        raise RecordingError(
            f"{path}: line {first_number}: unclosed quotation mark, expected pairs of quotation "
            "marks"
        )


def text_lines(blocks):
    """Yield the lines of a text that is given in blocks, split as by ``str.splitlines()``.

    Parameters
    ----------
    blocks : iterable of str
        Blocks of text.

    Yields
    ------
    str
        Next line.
    """
    pending = ""
    for block in blocks:
        for begin in range(0, len(block), _LONGEST_LINE):
            pending += block[begin : begin + _LONGEST_LINE]
            # A line always ends at a line feed.
            end = pending.rfind("\n") + 1
            # Other line endings may continue in the next block, such as \r\n.
            end = end or len(pending) - len(pending.splitlines(keepends=True)[-1])
            if not end and len(pending) > _LONGEST_LINE + 1:
                # A line that is too long is yielded in parts, since it is rejected anyway.
                end = len(pending)
            yield from pending[:end].splitlines()
            pending = pending[end:]
    yield from pending.splitlines()


def _cells(line, separator) -> list[str]:
    cells = line.split()
    if separator != r"\s+":
        cells = next(csv.reader([line.strip(" \r")], delimiter=separator, skipinitialspace=True))
    return [escape_unprintable(cell.strip()) for cell in cells]


def _is_data(cells) -> bool:
    """Return whether a line contains data (numbers, dates, few words) instead of column names."""
    present = [cell for cell in cells if cell not in _MISSING]
    numbers = {cell for cell in present if _NUMBER.match(cell) or _WITH_COMMA.match(cell)}
    if sum(cell in numbers and "." in cell for cell in present) > len(present) // 2:
        return True
    return bool(numbers) and all(cell in numbers or _DATE.match(cell) for cell in present)


def _is_named(cells, comment, separator) -> bool:
    """Return whether a line contains numbers, and the comment above it contains column names."""
    names = _cells(comment.strip().lstrip("#/"), separator) if comment else []
    has_numbers = [any(map(_NUMBER.match, row)) for row in (cells, names)]
    return len(names) == len(cells) and has_numbers == [True, False]


def _with_sources(names, sources) -> list[str]:
    """Prepend the source, such as the name of a sensor, to each duplicate column name."""
    sources = [re.sub(r"\A\d+:\s*", "", source) for source in sources]
    return [
        f"{source} {name}".strip() if names.count(name) > 1 else name
        for name, source in itertools.zip_longest(names, sources[: len(names)], fillvalue="")
    ]


def with_units(names, rows) -> list[str]:
    """Append units or further names from the line below to column names.

    A line with units contains no number and at most one cell per name, and numbers are below it.
    If a name belongs to several columns, once or repeatedly, and the cells below it differ, these
    cells distinguish the columns.

    Parameters
    ----------
    names : sequence of str
        Names of the columns.
    rows : list of list of str
        Cells of the two lines below.

    Returns
    -------
    list of str
        Extended names; empty if the line contains neither units nor names.
    """
    if len(rows) < 2 or len(rows[0]) > len(names) or not any(rows[0]):
        return []
    numbers = [cell for cell in rows[1] if _NUMBER.match(cell) or _WITH_COMMA.match(cell)]
    plain = any(_NUMBER.match(cell) or _DATE.match(cell) for cell in rows[0])
    if plain or 2 * len(numbers) < len([cell for cell in rows[0] if cell]):
        return []
    units = [re.sub(r"[\[\]()]", "", cell).strip() for cell in rows[0]]
    leaders: Iterator[str] = itertools.accumulate(names, lambda previous, name: name or previous)
    columns, full_names = itertools.zip_longest(leaders, names, units, fillvalue=""), []
    for leader, group in itertools.groupby(columns, lambda column: column[0]):
        _, theirs, own = zip(*group)
        if leader and len(own) > 1 and all(own) and len(set(own)) == len(own):
            full_names += [f"{leader} {unit}" for unit in own]
        else:
            full_names += [f"{name} [{unit}]" if unit else name for name, unit in zip(theirs, own)]
    return full_names


def _prefix_groups(names, rows) -> list[str]:
    """Prepend the name of the group to duplicate column names.

    A flattened message has columns ``position, x, y, z, orientation, x, y, z, w``, of which the
    columns with names of groups are empty. ``rows`` are the cells of the two lines below.
    """
    groups, group = [], ""
    for place, name in enumerate(names):
        empty = all(place < len(cells) and not cells[place] for cells in rows)
        group = name if empty else group
        groups.append("" if empty else group)
    counts = collections.Counter(names)
    repeated = {group for group, name in zip(groups, names) if counts[name] > 1}
    return [
        f"{group}.{name}" if group and group in repeated else name
        for group, name in zip(groups, names)
    ]


def _names(comment, separator, cells) -> list[str]:
    """Return column names from the comment above if their number matches, or numbered names."""
    names = _cells(comment.strip().lstrip("#/"), separator) if comment else []
    fits = len(names) == len(cells) or (len(names) == len(cells) - 1 and not cells[-1])
    usual = [f"col{place}" for place in range(1, len(cells) + 1)]
    return names if fits and not _is_data(names) else usual


def _ended(line, separator, width):
    """Return a line without surplus separators at its end."""
    more = 0 if separator == r"\s+" else _width(line, separator) - width
    plain = line.rstrip(" \r")
    return plain[:-more] if more > 0 and plain.endswith(separator * more) else line


def as_numbers(cells: pd.Series) -> pd.Series:
    """Convert a column to numbers if all cells that are not empty contain numbers.

    Parameters
    ----------
    cells : Series
        Cells of the column.

    Returns
    -------
    Series
        Numbers, or the unchanged cells.
    """
    numbers = pd.to_numeric(cells.mask(cells == ""), errors="coerce")
    return numbers if numbers.notna().sum() == (cells.notna() & (cells != "")).sum() else cells


def distinct_names(names) -> tuple[list[str], dict[str, list[str]]]:
    """Make names unique by appending ``.1``, ``.2`` ... to duplicates.

    Parameters
    ----------
    names : sequence of str
        Names of the columns.

    Returns
    -------
    tuple of list of str and dict of str to list of str
        Distinct names, and the repetitions of each name.
    """
    distinct: dict[str, bool] = {}
    namesakes, original = collections.defaultdict(list), set(names)
    numbers: dict = collections.defaultdict(lambda: itertools.count(1))
    for name in names:
        if name in distinct:
            free = (f"{name}.{n}" for n in numbers[name])
            namesakes[name].append(next(n for n in free if n not in original and n not in distinct))
            name = namesakes[name][-1]
        distinct[name] = True
    return list(distinct), dict(namesakes)


def _separator(line) -> str:
    for separator in ";\t":
        # Semicolons and tabs have priority, since decimal commas may be more frequent.
        if separator in line and _is_data(_cells(line, separator)):
            return separator
    best = max(",;\t", key=line.count)
    return r"\s+" if best not in line and re.search(r"\S\s+\S", line.strip()) else best


def _width(line, separator) -> int:
    if separator != r"\s+" and '"' in line:
        return len(next(csv.reader([line], delimiter=separator)))
    return len(line.split()) if separator == r"\s+" else line.count(separator) + 1
