"""Table columns as candidates for quantities, and selection among them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from .names import Meaning, meaning_of, time_meaning
from .words import BODY_RATES

# Smallest share of filled rows of a column, relative to the fullest column with the same quantity.
# In a table with a faster sensor, the columns of a slower sensor have fewer filled rows.
_MIN_FILLED = 0.3


@dataclass(frozen=True, eq=False)
class Candidate:
    """Table column that may be mapped to a quantity.

    Parameters
    ----------
    name : str
        Name in the header.
    place : int
        Number of the column, counted from 1.
    meaning : Meaning or None
        Quantity that the name states.
    values : numpy.ndarray, shape (n,)
        Numbers; nan for empty cells, and only nan in a text column.
    texts : numpy.ndarray, shape (n,), optional
        Cells of a text column.
    """

    name: str
    place: int
    meaning: Meaning | None
    values: np.ndarray
    texts: np.ndarray | None = None

    @property
    def filled(self) -> float:
        """Share of the rows in which the column has a value."""
        if self.texts is not None:
            return float(np.mean(self.texts != ""))
        return float(np.mean(np.isfinite(self.values))) if len(self.values) else 0.0

    @property
    def is_zero(self) -> bool:
        """Whether all numbers are zero."""
        return not np.any(self.values[np.isfinite(self.values)])

    @property
    def mapped(self) -> str:
        """Name for a column map, or the number of the column if a map cannot contain the name."""
        plain = self.name and not any(sign in self.name for sign in ";\"'\n\r#%=")
        return self.name if plain else f"col{self.place}"

    def written(self, unit, words="", factor="") -> str:
        """Return the column in the notation of column maps.

        Parameters
        ----------
        unit : str
            Unit in the notation of column maps.
        words : str
            Direction and zero of an angle.
        factor : str
            Factor or divisor, such as ``" / 131"``.

        Returns
        -------
        str
            For example ``gx / 131 [deg/s]``.
        """
        return f"{self.mapped}{factor} [{unit}{' ' if words else ''}{words}]"


_MIN_NUMBERS = 0.95  # smallest share of numbers among the filled cells of a numeric column
_LARGEST_NUMBER = 1e20  # larger than nanoseconds since 1970, which have 19 digits


def candidates_of(names, values, meanings=None, offset=0):
    """Create a Candidate for each column of a table.

    Parameters
    ----------
    names : sequence of str
        Names in the header.
    values : sequence of array_like, shape (n,)
        Numbers or texts of each column.
    meanings : sequence of Meaning or None, optional
        Meanings of the names; by default the meaning of each individual name.
    offset : int
        Number of preceding columns.

    Returns
    -------
    list of Candidate
        Columns in the order of the table.
    """
    candidates = []
    meanings = [meaning_of(str(name)) for name in names] if meanings is None else meanings
    for place, (name, column) in enumerate(zip(names, values)):
        column = pd.Series(column)
        numbers = pd.to_numeric(column, errors="coerce").astype(float)
        numbers = numbers.where(np.abs(numbers) <= _LARGEST_NUMBER).to_numpy()
        texts = None
        if not pd.api.types.is_numeric_dtype(column):
            texts = column.where(column.notna(), "").astype(str).str.strip().to_numpy()
            if np.mean(np.isfinite(numbers)) >= _MIN_NUMBERS * np.mean(texts != ""):
                texts = None
        candidates.append(Candidate(str(name), offset + place + 1, meanings[place], numbers, texts))
    return candidates


def add_time_column(candidates):
    """Find time columns with names such as ``rover_time_us``, if no other time column is known.

    If there is a known time column, words for a time are ignored, as in ``exposure_time``.

    Parameters
    ----------
    candidates : list of Candidate
        Columns of the table.

    Returns
    -------
    list of Candidate
        Columns, of which some may have a new meaning.
    """
    if any(_is_kind(candidate, kind) for candidate in candidates for kind in ("time", "date")):
        return candidates
    return [c if c.meaning else replace(c, meaning=time_meaning(c.name)) for c in candidates]


def best_scalar(candidates, kind):
    """Return the numeric column of a quantity with the simplest name and the most filled rows.

    Parameters
    ----------
    candidates : list of Candidate
        Columns of the table.
    kind : str
        Quantity of the vocabulary.

    Returns
    -------
    Candidate or None
        Column; None if there is none.
    """
    columns = [c for c in candidates if _is_kind(c, kind) and c.texts is None and c.filled > 0.0]
    return min(columns, key=_rank, default=None)


def vectors(candidates, kind, axes):
    """Return groups of columns that form vectors; simple names and filled columns come first.

    Groups that are empty, or contain only zeros, are excluded.

    Parameters
    ----------
    candidates : list of Candidate
        Columns of the table.
    kind : str
        Quantity of the vocabulary.
    axes : str
        Axes that a group must contain, with one letter per axis.

    Returns
    -------
    list of dict of str to Candidate
        Columns by axis.
    """
    groups = {}
    for candidate in candidates:
        if _is_kind(candidate, kind) and candidate.texts is None and candidate.filled > 0.0:
            meaning = candidate.meaning
            groups.setdefault(meaning.stem, {}).setdefault(meaning.axis, candidate)
    complete = [
        group
        for stem, group in zip(groups, map(_name_counted_axes, groups.values()))
        if set("xyz" if stem == BODY_RATES else axes) <= set(group)
        and "matrix" not in group
        and not all(c.is_zero for c in group.values())
    ]
    return sorted(complete, key=lambda group: _rank(next(iter(group.values()))))


def _name_counted_axes(group):
    """Return the columns of a vector by axis x, y, z, even if the axes are numbered from 1."""
    if "3" not in group:
        return group
    counted = {"y": "x", "z": "y", "3": "z"}
    return {counted[axis]: group[axis] for axis in counted if axis in group}


def quaternions(candidates):
    """Return groups of columns that form quaternions.

    The first of four components numbered from 1 is the scalar, see :func:`vectors`.

    Parameters
    ----------
    candidates : list of Candidate
        Columns of the table.

    Returns
    -------
    list of dict of str to Candidate
        Columns by the axis that the name states.
    """
    counted = [
        dict(zip("wxyz", (group[number] for number in "xyz4")))
        for group in vectors(candidates, "quaternion", "xyz4")
        if "w" not in group
    ]
    return vectors(candidates, "quaternion", "wxyz") + counted


def sort_by_completeness(groups):
    """Remove groups that fill far fewer rows than the fullest group.

    Parameters
    ----------
    groups : list of dict of str to Candidate
        Groups of columns.

    Returns
    -------
    list of dict of str to Candidate
        Remaining groups in the same order.
    """
    most = max((next(iter(group.values())).filled for group in groups), default=0.0)
    return [g for g in groups if next(iter(g.values())).filled >= _MIN_FILLED * most]


def matrix(columns) -> np.ndarray:
    """Return a matrix with the values of the given columns.

    Parameters
    ----------
    columns : sequence of Candidate
        Numeric columns.

    Returns
    -------
    ndarray, shape (n, len(columns))
        Values in the units of the columns.
    """
    return np.column_stack([column.values for column in columns])


def shared_unit(columns):
    """Return the unit that the names of several columns state.

    Parameters
    ----------
    columns : sequence of Candidate
        Columns whose names are compared.

    Returns
    -------
    str or None
        Unit; empty if no name states a unit, None if the units differ.
    """
    units = {column.meaning.unit for column in columns if column.meaning} - {""}
    return None if len(units) > 1 else "".join(units)


def _is_kind(candidate, kind):
    return candidate.meaning is not None and candidate.meaning.kind == kind


def _rank(candidate):
    return -round(candidate.filled, 1), len(candidate.meaning.origin), candidate.place
