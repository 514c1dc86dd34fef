"""Formatting of tables for the terminal, and as CSV, Markdown or LaTeX."""

from __future__ import annotations

import csv
import io
import math
from typing import TYPE_CHECKING, NamedTuple

from ..core.sentences import escape_unprintable
from ..core.tables import escape_formula
from ..core.whole_files import write_whole
from .page import Table

if TYPE_CHECKING:
    import pandas as pd

ENDINGS = {"csv": "csv", "markdown": "md", "latex": "tex"}
"""File name suffix of each format."""


class Column(NamedTuple):
    """Format of one column of a table.

    Attributes
    ----------
    key : str
        Name of the column in the table.
    title : str
        Title above the column.
    unit : str
        Unit of measurement; empty if there is none.
    digits : int, optional
        Number of digits after the decimal point; None for a text column.
    """

    key: str
    title: str
    unit: str = ""
    digits: int | None = None

    @property
    def heading(self) -> str:
        """Title, followed by the unit in brackets if there is one."""
        return f"{self.title} [{self.unit}]" if self.unit else self.title


def add_option(parser) -> None:
    """Add the option ``--table`` to the parser of a program.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        Parser to extend.
    """
    description = f"formats of the table's files: {', '.join(ENDINGS)}; csv by default"
    options = {"choices": ENDINGS, "default": ["csv"], "metavar": "FORMAT", "help": description}
    parser.add_argument("--table", nargs="+", **options)


def write_tables(folder, name, table, columns, formats) -> list:
    """Write a table to one file per format.

    Parameters
    ----------
    folder : Path
        Folder in which to write the files.
    name : str
        Name of the files, without suffix.
    table : pandas.DataFrame
        Table with the keys of the columns.
    columns : sequence of Column
        Columns to write.
    formats : sequence of str
        Keys of :data:`ENDINGS`.

    Returns
    -------
    list of Path
        Written files.

    Raises
    ------
    ResultError
        A file cannot be written.
    """
    paths = []
    for format in dict.fromkeys(formats):
        path = folder / f"{name}.{ENDINGS[format]}"
        write_whole(path, format_table(table, columns, format).encode("utf-8"))
        paths.append(path)
    return paths


def format_table(table: pd.DataFrame, columns, format="terminal") -> str:
    """Format a table as text that ends with a newline.

    Parameters
    ----------
    table : pandas.DataFrame
        Table with the keys of the columns.
    columns : sequence of Column
        Columns to show.
    format : str
        ``terminal`` or a key of :data:`ENDINGS`. In CSV, numbers have all digits; in the other
        formats, they are rounded to the digits of their column.

    Returns
    -------
    str
    """
    if format == "csv":
        return _format_csv(table, columns)
    cells = to_page_table(table, columns)
    rows = [list(cells.headings), *map(list, cells.rows)]
    is_text = [column.digits is None for column in columns]
    formatters = {
        "terminal": _format_terminal,
        "markdown": _format_markdown,
        "latex": _format_latex,
    }
    lines = formatters[format](rows, is_text)
    return "\n".join(lines) + "\n"


def format_percent(share: float) -> str:
    """Format a probability in percent; extreme values become < 0.1 % or > 99.9 %.

    Parameters
    ----------
    share : float
        Probability, 0 to 1.

    Returns
    -------
    str
    """
    if share > 0.9995:
        return "> 99.9 %"
    return "< 0.1 %" if share < 0.0005 else f"{100.0 * share:.3g} %"


def to_page_table(table: pd.DataFrame, columns, texts: int = 1) -> Table:
    """Convert a DataFrame to a table for a web page.

    Parameters
    ----------
    table : pandas.DataFrame
        Table with the keys of the columns.
    columns : sequence of Column
        Columns to show.
    texts : int
        Number of leading columns that are left-aligned; all others are right-aligned.

    Returns
    -------
    Table
    """
    rows = [
        [_cell(value, column.digits) for value, column in zip(values, columns)]
        for values in table[[column.key for column in columns]].itertuples(index=False)
    ]
    return Table([column.heading for column in columns], rows, numbers=len(columns) - texts)


def _cell(value, digits) -> str:
    if digits is None:
        return "" if value is None else escape_unprintable(str(value))
    if value is None or not math.isfinite(value):
        return "-"
    return f"{round(value, digits) + 0.0:.{digits}f}"  # adding 0.0 turns -0.0 into 0.0


def _format_csv(table, columns):
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(column.heading for column in columns)
    for values in table[[column.key for column in columns]].itertuples(index=False):
        writer.writerow(_exact_cell(value, column) for value, column in zip(values, columns))
    return text.getvalue()


def _exact_cell(value, column):
    if column.digits is None:
        return escape_formula(escape_unprintable(value)) if isinstance(value, str) else value
    return "" if value is None or not math.isfinite(value) else repr(float(value))


def _align(rows, is_text):
    forms = [
        f"{'<' if left else '>'}{max(map(len, cells))}" for cells, left in zip(zip(*rows), is_text)
    ]
    return [[format(cell, form) for cell, form in zip(row, forms)] for row in rows]


def _format_terminal(rows, is_text):
    return ["  ".join(row).rstrip() for row in _align(rows, is_text)]


def _format_markdown(rows, is_text):
    rows = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    header, *body = _align(rows, is_text)
    ends = ["-" if left else ":" for left in is_text]
    rule = ["-" * (len(cell) - 1) + end for cell, end in zip(header, ends)]
    return [f"| {' | '.join(row)} |" for row in (header, rule, *body)]


def _format_latex(rows, is_text):
    escaped = [[cell.translate(_LATEX_ESCAPES) for cell in row] for row in rows]
    header, *body = _align(escaped, is_text)
    alignment = "".join("l" if left else "r" for left in is_text)
    first, *lines = [rf"{' & '.join(row)} \\" for row in (header, *body)]
    begin, rule = rf"\begin{{tabular}}{{{alignment}}}", r"\hline"
    return [begin, rule, first, rule, *lines, rule, r"\end{tabular}"]


_LATEX_ESCAPES = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        **{letter: f"\\{letter}" for letter in "&%$#_{}"},
    }
)
