"""Strategies for text tables with damaged cells, columns, rows, times or encoding."""

from __future__ import annotations

import math
import random

from hypothesis import strategies as st

from .files import damaged_bytes
from .values import numbers, words


@st.composite
def damaged_tables(draw, content, separator=",") -> bytes:
    """Generate a table with one to three edits.

    Parameters
    ----------
    content : bytes
        UTF-8 table whose first row is the header.
    separator : str, optional
        Column separator.
    """
    rows = [line.split(separator) for line in content.decode().splitlines()]
    for _ in range(draw(st.integers(1, 3))):
        edit = draw(st.sampled_from(_EDITS))
        rows = edit(draw, rows) or rows
    text = "\n".join(separator.join(row) for row in rows) + "\n"
    return draw(encoded_text(text, separator))


def _edit_cells(draw, rows):
    for _ in range(draw(st.integers(1, 4))):
        row = draw(st.sampled_from(rows))
        row[draw(_index(row))] = draw(st.one_of(numbers(), words()))


def _edit_column(draw, rows):
    """Scale, shift or replace a column, as a wrong unit or a defective sensor would."""
    column = draw(_index(rows[0]))
    change = draw(st.sampled_from(_COLUMN_CHANGES))
    factor = draw(st.sampled_from(_FACTORS))
    for k, row in enumerate(rows[1:]):
        try:
            row[column] = repr(change(float(row[column]), k, factor))
        except (ValueError, OverflowError, IndexError):
            continue


_FACTORS = (math.degrees(1.0), 1e3, 1e6, 1e9, 1e-3, 1e-6, 1e-9, 0.0, 1e15, 1e300)
_COLUMN_CHANGES = (
    lambda value, k, factor: value * factor,
    lambda value, k, factor: value + factor,
    lambda value, k, factor: factor,
    lambda value, k, factor: value if k % 7 else math.nan,
    lambda value, k, factor: value if k % 50 else 1e9,
    lambda value, k, factor: -value,
    lambda value, k, factor: k,
    lambda value, k, factor: round(value),
    lambda value, k, factor: random.Random(k).gauss(0.0, 1.0),
)


def _fill_column(draw, rows):
    column, value = draw(_index(rows[0])), draw(numbers())
    return [rows[0], *([*row[:column], value, *row[column + 1 :]] for row in rows[1:])]


def _rename_column(draw, rows):
    header = rows[0]
    column = draw(_index(header))
    header[column] = draw(
        st.one_of(words(), st.sampled_from(header), st.just(header[column] + "x"))
    )


def _edit_rows(draw, rows):
    """Remove, repeat or reverse a block of rows."""
    start = draw(_index(rows))
    stop = start + draw(st.sampled_from((1, 2, 5, 20, 100)))
    block = rows[start:stop]
    block = draw(st.sampled_from(([], block * 2, block * 3, block[::-1])))
    return rows[:start] + block + rows[stop:] or rows


def _edit_columns(draw, rows):
    """Remove, repeat or reorder columns."""
    width = range(len(rows[0]))
    column = draw(st.sampled_from(width))
    order = draw(
        st.one_of(
            st.permutations(width),
            st.just([k for k in width if k != column] or [*width]),
            st.just([*width, column]),
            st.just([*width] * 2),
        )
    )
    return [[row[k] for k in order if k < len(row)] or [""] for row in rows]


def _break_clock(draw, rows):
    """Make time stop or jump at a row."""
    start = draw(st.integers(min(1, len(rows) - 1), len(rows) - 1))
    step = draw(st.sampled_from((0.0, 3600.0, -3600.0, 1e9, -1e9, 1e-7)))
    for row in rows[start:]:
        try:
            row[0] = repr(float(row[0]) + step) if step else rows[start][0]
        except ValueError:
            continue


def _lengthen_row(draw, rows):
    """Add cells to a row, or characters to a cell."""
    row = draw(st.sampled_from(rows))
    if draw(st.booleans()):
        row += [draw(numbers())] * draw(st.sampled_from((1, 2, 1000)))
    else:
        character = draw(st.sampled_from('1x" ,'))
        row[draw(_index(row))] = character * draw(st.sampled_from((200, 9000, 131073)))


def _insert_comment(draw, rows):
    comment = draw(st.sampled_from(("#", "# a", "%", "//", "", " ", "\t")))
    rows.insert(draw(_index(rows)), [comment])


def _shuffle_rows(draw, rows):
    order = rows[1:]
    random.Random(draw(st.integers(0, 100))).shuffle(order)
    return rows[:1] + order


def _keep_first_rows(draw, rows):
    return rows[: draw(st.integers(1, 3))]


def _drop_header(draw, rows):
    return rows[1:]


def _widen(draw, rows):
    return [row + ["0"] * 300 for row in rows]


_EDITS = (
    *(_edit_cells, _edit_cells, _edit_column, _edit_column, _fill_column, _rename_column),
    *(_edit_rows, _edit_columns, _break_clock, _lengthen_row, _insert_comment, _shuffle_rows),
    *(_keep_first_rows, _drop_header, _widen),
)


def _index(sequence):
    return st.integers(0, len(sequence) - 1)


_LINE_ENDS = ("\r\n", "\r", "\n\n", "\n\r", "\x0b", "\u2028")
_SEPARATORS = (";", "\t", " ", ", ", " ,", "|", ",,")
_ENCODINGS = ("utf-16", "utf-8-sig", "utf-32", "cp500")
_INSERTED = ('"', "'", '"""', "\0", "\x1a", "é", "#")


def encoded_text(text, separator):
    """Return a strategy for the encoded text, in most cases in UTF-8."""
    plain = text.encode("utf-8", "surrogateescape")
    decimal_comma = text.replace(".", "," if separator != "," else "")
    quoted = "\n".join(f'"{line}"' for line in text.splitlines())
    unusual = st.one_of(
        st.sampled_from(_LINE_ENDS).map(lambda end: text.replace("\n", end)),
        st.sampled_from(_SEPARATORS).map(lambda other: text.replace(separator, other)),
        st.sampled_from((decimal_comma, quoted, text.rstrip("\n"))),
        st.tuples(st.integers(0, len(text)), st.sampled_from(_INSERTED)).map(
            lambda place: text[: place[0]] + place[1] + text[place[0] :]
        ),
    ).map(lambda other: other.encode("utf-8", "surrogateescape"))
    recoded = st.sampled_from(_ENCODINGS).map(lambda name: text.encode(name, "replace"))
    return st.one_of(
        st.just(plain), st.just(plain), st.just(plain), unusual, recoded, damaged_bytes(plain)
    )
