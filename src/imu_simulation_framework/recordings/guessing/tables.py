"""Column maps of a recording of several tables, for an IMU and a reference.

The table of a gyroscope leads an IMU; accelerations and an orientation of other tables are joined
to it at its times. A reference is that of the first table that has one.
"""

from dataclasses import replace

import numpy as np

from ..cleaning import MINIMUM_SAMPLES
from ..possible_units import usual_force_unit
from ..tables import RecordedTables, order_of
from . import measures
from .candidates import best_scalar, candidates_of, matrix, quaternions, vectors, with_a_time
from .guess import ColumnGuess, all_times, guess_from_candidates, pieces_of, seconds_of
from .names import meaning_in, meaning_of, understood_names, words_of

_TIMES = ("time", "date")
_DIRECTIONS = ("quaternion", "yaw", "heading", "euler")
_RECEIVERS = frozenset(["gps", "gps2", "gnss", "location", "fix", "navsat"])
_ESTIMATES = frozenset(["flp", "fused", "network", "nlp"])  # A telephone's, of its IMU or of radios


def guess_from_tables(recorded: RecordedTables) -> ColumnGuess:
    """Guess the column maps of a recording of one or several tables.

    Parameters
    ----------
    recorded : RecordedTables
        Tables of the recording.
    """
    if len(recorded.tables) == 1:
        return guess_from_candidates(*spread_candidates(recorded, *recorded.tables))
    guess, found = ColumnGuess(), _Tables(recorded)
    spans = [span for leader in found.reference_leaders()[:1] for span in found.spans(leader)]
    for what, leaders, candidates_of_leader, open_columns in (
        ("imu", found.imu_leaders(), found.imu_candidates, guess.open_columns),
        ("reference", found.reference_leaders(), found.place_candidates, guess.open_reference),
    ):
        for leader in leaders:
            candidates, pieces = candidates_of_leader(leader)
            one = guess_from_candidates(candidates, pieces, spans)
            guess.reasons += [reason for reason in one.reasons if reason not in guess.reasons]
            still_open = {"imu": one.open_columns, "reference": one.open_reference}[what]
            for quantity, lines in still_open.items():
                open_columns.setdefault(quantity, lines)
            if getattr(one, what):
                setattr(guess, what, getattr(one, what))
                open_columns.clear()
                open_columns.update(still_open)
                guess.time = guess.time or one.time
                spans = found.spans(leader, one.time)
                break
    every = {} if guess.imu or guess.reference else _candidates(recorded)
    for candidates, pieces in map(_spread, every.values()):
        if not any(candidate.meaning for candidate in candidates):
            one = guess_from_candidates(candidates, pieces)
            guess.imu, guess.reference = guess.imu or one.imu, guess.reference or one.reference
            guess.reasons += [reason for reason in one.reasons if one.imu or one.reference]
    if not any(_kinds(one).intersection(_TIMES) for one in found.by_table.values()):
        guess.reasons.append("no table has a column that could be identified as the time")
    taken = " ".join([*guess.imu.values(), *guess.reference.values()])
    guess.unused = [name for name in recorded.columns if name not in taken]
    return guess


def spread_candidates(recorded: RecordedTables, name):
    """Return candidates of rows spread over a table, and the piece of each row.

    Parameters
    ----------
    recorded : RecordedTables
        Tables of the recording.
    name : str
        Name of the table.
    """
    return _spread(_candidates(recorded)[name])


def _spread(candidates):
    rows, pieces = pieces_of(len(candidates[0].values))
    return [_at(candidate, rows) for candidate in candidates], pieces


def _candidates(recorded):
    found, before = {}, 0
    for name, table in recorded.tables.items():
        columns = list(table.cells.columns)
        values = [table.cells[column] for column in columns]
        own = [recorded.local(column) for column in columns] if recorded.named else columns
        meanings = [
            meaning_in(name, said) if recorded.named else meaning_of(said)
            for said in understood_names(name, own, values)
        ]
        found[name] = candidates_of(columns, values, meanings, before)
        before += len(columns)
    return found


class _Tables:
    """Candidates of each table whose names are understood, all of their rows."""

    def __init__(self, recorded):
        found = _candidates(recorded)
        self.by_table = {name: [c for c in with_a_time(found[name]) if c.meaning] for name in found}
        self.local, self.frame = recorded.local, recorded.frame

    def spans(self, name, written=""):
        """Return the spans of the times of a table, or of one alone, as it is written in a map."""
        candidates, pieces = _spread(self.by_table[name])
        times, _ = all_times(candidates, pieces, measures.FIX_STEPS)
        return [time.span for time in times if time.written == (written or time.written)]

    def having(self, *kinds):
        """Return the tables with a time and one of these kinds, those with most rows first."""
        rows = {
            name: len(found[0].values)
            for name, found in self.by_table.items()
            if _kinds(found).intersection(_TIMES) and _kinds(found).intersection(kinds)
        }
        names = [name for name in rows if rows[name] >= MINIMUM_SAMPLES]
        return sorted(names, key=lambda name: -rows[name])

    def imu_leaders(self):
        """Return the tables that may lead an IMU, the likeliest first."""
        gyros = self.having("gyro")
        both = [name for name in gyros if "accel" in _kinds(self.by_table[name])]
        orientations = [*self.having("quaternion"), *self.having("yaw", "heading", "euler")]
        orientations = [name for name in orientations if not self._has_places(name)]
        others = [*orientations, *self.having("accel")] if not gyros else []
        return list(dict.fromkeys([*both, *gyros, *(n for n in others if not self.true(n))]))

    def reference_leaders(self):
        """Return the tables with positions: a simulator's truth, receivers, then others."""
        fixes = [n for n in self.having("latitude") if best_scalar(self.by_table[n], "longitude")]
        poses = [n for n in self.having("position") if vectors(self.by_table[n], "position", "xy")]
        true = [name for name in [*poses, *fixes] if self.true(name)]
        words = {name: set(words_of(name)) for name in fixes}
        received = [n for n in fixes if words[n] & _RECEIVERS and not words[n] & _ESTIMATES]
        return list(dict.fromkeys([*true, *received, *fixes, *poses]))

    def _has_places(self, name):
        """Return whether a table has positions: its orientation is odometry's or a filter's."""
        return not _kinds(self.by_table[name]).isdisjoint(("position", "latitude"))

    def true(self, name):
        """Return whether a table is not of the IMU by its name."""
        return any(c.meaning.is_from_reference for c in self.by_table[name])

    def place_candidates(self, name):
        """Return candidates of rows spread over a table with places, and which piece each is of."""
        candidates, pieces = _spread(self.by_table[name])
        if self.true(name) and _kinds(candidates).isdisjoint(_DIRECTIONS):
            clock = [c for c in candidates if c.meaning.kind in _TIMES]
            for other in filter(self.true, self.having("quaternion")):
                turned = [c for c in self.by_table[other] if c.meaning.kind == "quaternion"]
                candidates = candidates + self._at_times_of(clock, other, turned)
                break
        return (_east_first(candidates) if self.frame == "ned" else candidates), pieces

    def imu_candidates(self, leader):
        """Return candidates of an IMU: of the table that leads and, at its times, of others."""
        own, pieces = _spread(self.by_table[leader])
        together = [c for c in own if c.meaning.kind in ("gyro", *_TIMES)]
        clock = [c for c in own if c.meaning.kind in _TIMES]
        for kinds in (("accel",), ("quaternion",), ("roll", "pitch", "yaw", "heading", "euler")):
            if kinds[0] == "roll" and "quaternion" in _kinds(together):
                break
            for name in dict.fromkeys([leader, *self.having(*kinds)]):
                mine = [c for c in own if c.meaning.kind in kinds]
                if name != leader:
                    mine = [c for c in self.by_table[name] if c.meaning.kind in kinds]
                    foreign = self.true(name) or (kinds[0] != "accel" and self._has_places(name))
                    mine = [] if foreign else self._at_times_of(clock, name, mine)
                if _complete(kinds[0], mine):
                    together += mine
                    break
            else:
                together += [c for c in own if c.meaning.kind in kinds and kinds[0] == "accel"]
        return together, pieces

    def _at_times_of(self, clock, name, candidates):
        """Return candidates of a table at the nearest of its times; none on another clock."""
        for time in clock:
            local = self.local(time.name)
            times = [c for c in self.by_table[name] if c.meaning.kind == "time"]
            same = [c for c in self.by_table[name] if self.local(c.name) == local]
            if not same and len(times) != 1:
                continue
            (theirs, *_) = same or times
            times, grid = seconds_of(time), seconds_of(theirs)
            order = order_of(grid)
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
    return replace(candidate, values=candidate.values[rows], texts=texts)


def _complete(kind, candidates):
    """Return whether a quaternion has four parts, angles have a yaw, accelerations show gravity."""
    if kind == "quaternion":
        return bool(quaternions(candidates))
    if kind != "accel":
        return not _kinds(candidates).isdisjoint(_DIRECTIONS)
    groups = vectors(candidates, "accel", "xyz")
    return any(usual_force_unit(matrix([group[axis] for axis in "xyz"])) for group in groups)


def _east_first(candidates):
    """Return candidates whose x points north, with the values that x and y have in ENU."""
    values = {c.meaning.stem + c.meaning.axis: c.values for c in candidates}
    other = {"x": "y", "y": "x"}
    return [
        replace(c, values=values.get(c.meaning.stem + other[c.meaning.axis], c.values))
        if c.meaning.kind == "position" and c.meaning.axis in other
        else c
        for c in candidates
    ]
