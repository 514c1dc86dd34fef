"""A table of numbers as a person wants it: on the terminal, as CSV, Markdown or LaTeX."""

from __future__ import annotations

import csv
import io
import math
from typing import NamedTuple

import pandas as pd

from ..core.sentences import escape_unprintable
from ..core.tables import escape_formula
from ..core.whole_files import write_whole
from .page import Table

ENDINGS = {"csv": "csv", "markdown": "md", "latex": "tex"}
"""Format -> ending of its file's name."""


class Column(NamedTuple):
    """How a column is shown: its title, unit (empty for none) and digits behind the point.

    Without digits it is text.
    """

    key: str
    title: str
    unit: str = ""
    digits: int | None = None

    @property
    def heading(self) -> str:
        return f"{self.title} [{self.unit}]" if self.unit else self.title


def add_option(parser) -> None:
    """Give a parser the option ``--table``."""
    told = f"files of the table, of {', '.join(ENDINGS)}; csv by default"
    options = {"choices": ENDINGS, "default": ["csv"], "metavar": "FORMAT", "help": told}
    parser.add_argument("--table", nargs="+", **options)


def write_tables(folder, name, table, columns, formats) -> list:
    """Write a table in some formats, keys of :data:`ENDINGS`; return the paths.

    ``name`` is that of the files, without ending. Raises ResultError: a file cannot be written.
    """
    paths = []
    for format in dict.fromkeys(formats):
        path = folder / f"{name}.{ENDINGS[format]}"
        write_whole(path, table_text(table, columns, format).encode("utf-8"))
        paths.append(path)
    return paths


def table_text(table: pd.DataFrame, columns, format="terminal") -> str:
    """Return a table as text that ends with a new line; CSV has all digits, the others some."""
    if format == "csv":
        return _csv(table, columns)
    shown = page_table(table, columns)
    rows = [list(shown.headings), *map(list, shown.rows)]
    left = [column.digits is None for column in columns]
    lines = {"terminal": _terminal, "markdown": _markdown, "latex": _latex}[format](rows, left)
    return "\n".join(lines) + "\n"


def percent(share: float) -> str:
    """Write a probability; one that rounds to certainty is none."""
    if share > 0.9995:
        return "> 99.9 %"
    return "< 0.1 %" if share < 0.0005 else f"{100.0 * share:.3g} %"


def page_table(table: pd.DataFrame, columns, texts: int = 1) -> Table:
    """Return a table as a page has it, in which only the first columns stand to the left."""
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
    return f"{round(value, digits) + 0.0:.{digits}f}"  # no sign of a zero


def _csv(table, columns):
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(column.heading for column in columns)
    for values in table[[column.key for column in columns]].itertuples(index=False):
        writer.writerow(_exact(value, column) for value, column in zip(values, columns))
    return text.getvalue()


def _exact(value, column):
    if column.digits is None:
        return escape_formula(escape_unprintable(value)) if isinstance(value, str) else value
    return "" if value is None or not math.isfinite(value) else repr(float(value))


def _aligned(rows, left):
    forms = [f"{'<' if to_left else '>'}{max(map(len, c))}" for c, to_left in zip(zip(*rows), left)]
    return [[format(cell, form) for cell, form in zip(row, forms)] for row in rows]


def _terminal(rows, left):
    return ["  ".join(row).rstrip() for row in _aligned(rows, left)]


def _markdown(rows, left):
    rows = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    header, *body = _aligned(rows, left)
    ends = ["-" if to_left else ":" for to_left in left]
    rule = ["-" * (len(cell) - 1) + end for cell, end in zip(header, ends)]
    return [f"| {' | '.join(row)} |" for row in (header, rule, *body)]


def _latex(rows, left):
    header, *body = _aligned([[cell.translate(_SPECIAL) for cell in row] for row in rows], left)
    alignment = "".join("l" if to_left else "r" for to_left in left)
    first, *lines = [rf"{' & '.join(row)} \\" for row in (header, *body)]
    begin, rule = rf"\begin{{tabular}}{{{alignment}}}", r"\hline"
    return [begin, rule, first, rule, *lines, rule, r"\end{tabular}"]


_SPECIAL = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        **{letter: f"\\{letter}" for letter in "&%$#_{}"},
    }
)
