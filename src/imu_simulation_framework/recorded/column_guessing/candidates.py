"""The columns of a table with what their names say, and the best of those that say the same."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from imu_simulation_framework.recorded.column_guessing.names import Meaning, meaning_of

_LEAST_FILLED = 0.3
"""Share of rows, of those that the fullest such column has, that a column must fill."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """A column that may be mapped.

    Attributes
    ----------
    name : str
    place : int
        Counted from 1.
    meaning : Meaning or None
    values : ndarray, shape (n,)
        nan where there is none; of text all of them.
    texts : ndarray of str, shape (n,), or None
        Of a column that is not of numbers.
    """

    name: str
    place: int
    meaning: Meaning | None
    values: np.ndarray
    texts: np.ndarray | None = None

    @property
    def filled(self) -> float:
        """Share of the rows that have a value."""
        if self.texts is not None:
            return float(np.mean(self.texts != ""))
        return float(np.mean(np.isfinite(self.values))) if len(self.values) else 0.0

    @property
    def silent(self) -> bool:
        """Whether it has no number but zero."""
        return not np.any(self.values[np.isfinite(self.values)])

    def written(self, unit, words="", factor="") -> str:
        """Return the column as a column map has it.

        A name that a map could not hold is replaced by its place.
        """
        plain = self.name and not any(sign in self.name for sign in ";\"'\n\r#%=")
        name = self.name if plain else f"col{self.place}"
        return f"{name}{factor} [{unit}{' ' if words else ''}{words}]"


LARGEST_NUMBER = 1e20
"""In any unit: nanoseconds since 1970 have 19 digits. What is larger is no sample but a fault."""


def candidates_of(names, values):
    """Look at all columns of a table.

    Parameters
    ----------
    names : sequence of str
    values : sequence of array_like, each of shape (n,)
        Numbers or texts.

    Returns
    -------
    list of Candidate
    """
    found = []
    for place, (name, column) in enumerate(zip(names, values), 1):
        column = pd.Series(column)
        numbers = pd.to_numeric(column, errors="coerce").astype(float)
        numbers = numbers.where(np.abs(numbers) <= LARGEST_NUMBER).to_numpy()
        texts = None
        if not pd.api.types.is_numeric_dtype(column):
            texts = column.where(column.notna(), "").astype(str).str.strip().to_numpy()
            if np.mean(np.isfinite(numbers)) >= 0.95 * np.mean(texts != ""):
                texts = None
        found.append(Candidate(str(name), place, meaning_of(str(name)), numbers, texts))
    return found


def best_scalar(candidates, kind):
    """Return the plainest and fullest column of numbers of a kind, or None."""
    found = [c for c in candidates if _is(c, kind) and c.texts is None and c.filled > 0.0]
    return min(found, key=_rank, default=None)


def vectors(candidates, kind, axes):
    """Return groups of columns that are one vector, the plainest and fullest first.

    Parameters
    ----------
    candidates : list of Candidate
    kind : str
    axes : str
        Those that it must have, one letter each.

    Returns
    -------
    list of dict of str to Candidate
        By axis; groups that are empty, or zero throughout, are left out.
    """
    groups = {}
    for candidate in candidates:
        if _is(candidate, kind) and candidate.texts is None and candidate.filled > 0.0:
            groups.setdefault(candidate.meaning.stem, {}).setdefault(
                candidate.meaning.axis, candidate
            )
    complete = [
        group
        for group in groups.values()
        if all(axis in group for axis in axes) and not all(c.silent for c in group.values())
    ]
    return sorted(complete, key=lambda group: _rank(next(iter(group.values()))))


def fullest_first(groups):
    """Drop groups that fill far fewer rows than the fullest one."""
    most = max((next(iter(group.values())).filled for group in groups), default=0.0)
    return [g for g in groups if next(iter(g.values())).filled >= _LEAST_FILLED * most]


def matrix(columns) -> np.ndarray:
    """Return values of columns side by side, shape (n, len(columns))."""
    return np.column_stack([column.values for column in columns])


def shared_unit(columns):
    """Return the unit that names of columns say: empty if none does, None if they contradict."""
    units = {column.meaning.unit for column in columns if column.meaning} - {""}
    if len(units) > 1:
        return None
    return units.pop() if units else ""


def _is(candidate, kind):
    return candidate.meaning is not None and candidate.meaning.kind == kind


def _rank(candidate):
    return -round(candidate.filled, 1), len(candidate.meaning.origin), candidate.place
