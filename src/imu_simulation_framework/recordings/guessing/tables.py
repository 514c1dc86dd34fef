"""Which tables of a recording of several hold an IMU and a reference, and in which columns.

The table of a gyroscope leads an IMU; accelerations and an orientation of other tables are put
beside it at its times. A reference is that of the first table that has one.
"""

from __future__ import annotations

import numpy as np

from imu_simulation_framework.recordings.guessing import measures
from imu_simulation_framework.recordings.guessing.candidates import (
    Candidate,
    best_scalar,
    candidates_of,
    matrix,
    meaning_in,
    vectors,
)
from imu_simulation_framework.recordings.guessing.guess import (
    ColumnGuess,
    guess_from_candidates,
    pieces_of,
    seconds_of,
)
from imu_simulation_framework.recordings.tables import RecordedTables


def guess_from_tables(recorded: RecordedTables) -> ColumnGuess:
    """Guess the column maps of a recording of several tables."""
    guess, found = ColumnGuess(), _Tables(recorded)
    for leader in found.gyros():
        candidates, pieces = found.beside(leader, guess.reasons)
        imu = guess_from_candidates(candidates, pieces)
        if imu.imu:
            guess.imu, guess.time = imu.imu, imu.time
            guess.reasons += [reason for reason in imu.reasons if reason not in guess.reasons]
            break
    for name in found.references():
        candidates, pieces = _spread(found.by_table[name])
        reference = guess_from_candidates(candidates, pieces)
        guess.reasons += [reason for reason in reference.reasons if reason not in guess.reasons]
        if reference.reference:
            guess.reference = reference.reference
            guess.time = guess.time or reference.time
            break
    taken = " ".join([*guess.imu.values(), *guess.reference.values()])
    guess.unused = [name for name in recorded.columns if name not in taken]
    return guess


def spread_candidates(recorded: RecordedTables, name):
    """Return candidates of rows spread over a table, and of which piece each row is."""
    return _spread(_candidates(recorded)[name])


def _spread(candidates):
    rows, pieces = pieces_of(len(candidates[0].values))
    return [_at(candidate, rows) for candidate in candidates], pieces


def _candidates(recorded):
    """Return table -> candidates of all of its columns."""
    found, before = {}, 0
    for name, table in recorded.tables.items():
        columns = list(table.cells.columns)
        meanings = [meaning_in(name, recorded.local(column)) for column in columns]
        values = [table.cells[column] for column in columns]
        found[name] = candidates_of(columns, values, meanings, before)
        before += len(columns)
    return found


class _Tables:
    """Candidates of each table whose names are understood, all of their rows."""

    def __init__(self, recorded):
        found = _candidates(recorded)
        self.by_table = {name: [c for c in found[name] if c.meaning] for name in found}
        self.local = recorded.local

    def having(self, *kinds):
        """Return the tables with a time and one of these kinds, in their order."""
        return [
            name
            for name, found in self.by_table.items()
            if {"time", "date"} & _kinds(found) and set(kinds) & _kinds(found)
        ]

    def gyros(self):
        """Return the tables that may lead an IMU."""
        names = self.having("gyro")
        with_both = [name for name in names if "accel" in _kinds(self.by_table[name])]
        names = with_both + [name for name in names if name not in with_both]
        return names or self.having("quaternion", "yaw", "heading") or self.having("accel")

    def references(self):
        """Return the tables with places: satellite positions, then others."""
        fixes = [n for n in self.having("latitude") if best_scalar(self.by_table[n], "longitude")]
        poses = [n for n in self.having("position") if vectors(self.by_table[n], "position", "xy")]
        receivers = [
            n for n in fixes if best_scalar(self.by_table[n], "hdop") or "gps" in n.lower()
        ]
        return list(dict.fromkeys([*receivers, *fixes, *poses]))

    def beside(self, leader, reasons):
        """Return candidates of an IMU: of the table that leads and, at its times, of others."""
        own, pieces = _spread(self.by_table[leader])
        together = [c for c in own if c.meaning.kind in ("time", "date", "gyro")]
        clock = [c for c in together if c.meaning.kind in ("time", "date")]
        wanted = {
            "accel": ("accel",),
            "orientation": ("quaternion", "roll", "pitch", "yaw", "heading"),
        }
        for what, kinds in wanted.items():
            names = [leader, *(name for name in self.having(*kinds) if name != leader)]
            for name in names:
                mine = [c for c in self.by_table[name] if c.meaning.kind in kinds]
                if name == leader:
                    mine = [c for c in own if c.meaning.kind in kinds]
                else:
                    mine = self._at_times_of(clock, name, mine)
                if mine and _usable(what, mine):
                    together += mine
                    break
        return together, pieces

    def _at_times_of(self, clock, name, candidates):
        """Return candidates of a table at the nearest of its times; none on another clock."""
        for time in clock:
            theirs = next(
                (c for c in self.by_table[name] if self.local(c.name) == self.local(time.name)),
                None,
            )
            if theirs is None:
                continue
            times, grid = seconds_of(time), seconds_of(theirs)
            order = np.argsort(grid, kind="stable")
            order = order[np.isfinite(grid[order])]
            if len(order) == 0:
                continue
            places = np.searchsorted(grid[order], times).clip(0, len(order) - 1)
            common = (times >= grid[order[0]]) & (times <= grid[order[-1]])
            if common.any():
                return [_at(candidate, order[places]) for candidate in candidates]
        return []


def _kinds(candidates):
    return {candidate.meaning.kind for candidate in candidates}


def _at(candidate, rows):
    texts = None if candidate.texts is None else candidate.texts[rows]
    return Candidate(
        candidate.name, candidate.place, candidate.meaning, candidate.values[rows], texts
    )


def _usable(what, candidates):
    """Return whether accelerations show gravity; an orientation is looked at later."""
    if what != "accel":
        return True
    groups = vectors(candidates, "accel", "xyz")
    return any(measures.accel_unit(matrix([g[axis] for axis in "xyz"]))[0] for g in groups)
