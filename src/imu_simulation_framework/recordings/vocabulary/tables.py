"""Choose the column maps of IMU and reference in a recording with several tables.

The leading table of an IMU is that of the gyroscope; accelerations with gravity and an orientation
from other tables are interpolated to its times. The reference is the first table with positions,
where tables of satellite receivers have priority.
"""

from dataclasses import replace

import numpy as np

from ..cleaning import MINIMUM_SAMPLES
from ..possible_units import usual_force_unit
from ..tables import RecordedTables, order_of
from .candidates import add_time_column, best_scalar, candidates_of, matrix, quaternions, vectors
from .choice import ColumnMaps, choose_columns, pieces_of
from .names import meaning_in, meaning_of, understood_names, words_of
from .times import EVEN_SAMPLES, FIX_STEPS, all_times, seconds_of

_TIMES = ("time", "date")
_DIRECTIONS = ("quaternion", "yaw", "heading", "euler")
_RECEIVERS = frozenset(["gps", "gps2", "gnss", "location", "fix", "navsat"])
_ESTIMATES = frozenset(["flp", "fused", "network", "nlp"])  # fused or network positions


def choose_from_tables(recorded: RecordedTables) -> ColumnMaps:
    """Choose the columns of a recording with one or several tables.

    Parameters
    ----------
    recorded : RecordedTables
        Tables of the recording.

    Returns
    -------
    ColumnMaps
        Chosen columns, undetermined quantities and reasons.
    """
    if len(recorded.tables) == 1:
        return choose_columns(*spread_candidates(recorded, *recorded.tables))
    maps, tables = ColumnMaps(), _Tables(recorded)
    spans = [span for leader in tables.reference_leaders()[:1] for span in tables.spans(leader)]
    for role, leaders, candidates_of_leader, open_columns in (
        ("imu", tables.imu_leaders(), tables.imu_candidates, maps.open_columns),
        ("reference", tables.reference_leaders(), tables.place_candidates, maps.open_reference),
    ):
        for leader in leaders:
            candidates, pieces = candidates_of_leader(leader)
            table_maps = choose_columns(candidates, pieces, spans)
            maps.reasons += [reason for reason in table_maps.reasons if reason not in maps.reasons]
            still_open = {"imu": table_maps.open_columns, "reference": table_maps.open_reference}[
                role
            ]
            for quantity, lines in still_open.items():
                open_columns.setdefault(quantity, lines)
            if getattr(table_maps, role):
                setattr(maps, role, getattr(table_maps, role))
                open_columns.clear()
                open_columns.update(still_open)
                maps.time = maps.time or table_maps.time
                spans = tables.spans(leader, table_maps.time)
                break
    if not any(
        _kinds(columns).intersection(_TIMES) for columns in tables.candidates_by_table.values()
    ):
        maps.reasons.append(
            "no column of a table could be identified as the time; for a table with a constant "
            f"sample rate, state the rate as in time = {EVEN_SAMPLES}"
        )
    mapped_columns = " ".join([*maps.imu.values(), *maps.reference.values()])
    maps.unused = [name for name in recorded.columns if name not in mapped_columns]
    return maps


def spread_candidates(recorded: RecordedTables, name):
    """Return candidates with rows from excerpts of a table, and the excerpt of each row.

    Parameters
    ----------
    recorded : RecordedTables
        Tables of the recording.
    name : str
        Name of the table.

    Returns
    -------
    tuple of list of Candidate and ndarray
        Columns with the selected rows, and the index of the excerpt of each row.
    """
    return _spread(_candidates(recorded)[name])


def _spread(candidates):
    rows, pieces = pieces_of(len(candidates[0].values))
    return [_select(candidate, rows) for candidate in candidates], pieces


def _candidates(recorded):
    candidates_by_table, count = {}, 0
    for name, table in recorded.tables.items():
        columns = list(table.cells.columns)
        values = [table.cells[column] for column in columns]
        local_names = [recorded.local(column) for column in columns] if recorded.named else columns
        meanings = [
            meaning_in(name, column) if recorded.named else meaning_of(column)
            for column in understood_names(name, local_names, values)
        ]
        candidates_by_table[name] = candidates_of(columns, values, meanings, count)
        count += len(columns)
    return candidates_by_table


class _Tables:
    """Candidates, with all rows, of each table that has known column names."""

    def __init__(self, recorded):
        self.candidates_by_table = {
            name: [c for c in add_time_column(columns) if c.meaning]
            for name, columns in _candidates(recorded).items()
        }
        self.local, self.frame = recorded.local, recorded.frame

    def spans(self, name, written=""):
        """Return the time spans [s] of all time columns of a table, or only of ``written``."""
        candidates, pieces = _spread(self.candidates_by_table[name])
        times, _ = all_times(candidates, pieces, FIX_STEPS)
        return [time.span for time in times if time.written == (written or time.written)]

    def tables_with(self, *kinds):
        """Return the tables with a time and one of these quantities, the longest table first."""
        rows = {
            name: len(columns[0].values)
            for name, columns in self.candidates_by_table.items()
            if _kinds(columns).intersection(_TIMES) and _kinds(columns).intersection(kinds)
        }
        names = [name for name in rows if rows[name] >= MINIMUM_SAMPLES]
        return sorted(names, key=lambda name: -rows[name])

    def imu_leaders(self):
        """Return the candidates for the leading table of an IMU, the most likely table first."""
        gyros = self.tables_with("gyro")
        both = [name for name in gyros if "accel" in _kinds(self.candidates_by_table[name])]
        orientations = [
            *self.tables_with("quaternion"),
            *self.tables_with("yaw", "heading", "euler"),
        ]
        orientations = [name for name in orientations if not self._has_places(name)]
        others = [*orientations, *self.tables_with("accel")] if not gyros else []
        return list(
            dict.fromkeys([*both, *gyros, *(n for n in others if not self.is_reference(n))])
        )

    def reference_leaders(self):
        """Return the tables with positions: ground truth of a simulator, receivers, then others."""
        fixes = [
            n
            for n in self.tables_with("latitude")
            if best_scalar(self.candidates_by_table[n], "longitude")
        ]
        poses = [
            n
            for n in self.tables_with("position")
            if vectors(self.candidates_by_table[n], "position", "xy")
        ]
        true = [name for name in [*poses, *fixes] if self.is_reference(name)]
        words = {name: set(words_of(name)) for name in fixes}
        received = [n for n in fixes if words[n] & _RECEIVERS and not words[n] & _ESTIMATES]
        return list(dict.fromkeys([*true, *received, *fixes, *poses]))

    def _has_places(self, name):
        """Return whether a table has positions, so that its orientation is not that of an IMU."""
        return not _kinds(self.candidates_by_table[name]).isdisjoint(("position", "latitude"))

    def is_reference(self, name):
        """Return whether the name of a table states a source other than the IMU."""
        return any(c.meaning.is_from_reference for c in self.candidates_by_table[name])

    def place_candidates(self, name):
        """Return candidates for a reference, with rows from excerpts of a table with positions."""
        candidates, pieces = _spread(self.candidates_by_table[name])
        if self.is_reference(name) and _kinds(candidates).isdisjoint(_DIRECTIONS):
            clock = [c for c in candidates if c.meaning.kind in _TIMES]
            for other in filter(self.is_reference, self.tables_with("quaternion")):
                quaternions = [
                    c for c in self.candidates_by_table[other] if c.meaning.kind == "quaternion"
                ]
                candidates = candidates + self._sample(clock, other, quaternions)
                break
        return (_east_first(candidates) if self.frame == "ned" else candidates), pieces

    def imu_candidates(self, leader):
        """Return candidates for an IMU from all tables, at the times of the leading table."""
        leader_candidates, pieces = _spread(self.candidates_by_table[leader])
        selected = [c for c in leader_candidates if c.meaning.kind in ("gyro", *_TIMES)]
        clock = [c for c in leader_candidates if c.meaning.kind in _TIMES]
        for kinds in (("accel",), ("quaternion",), ("roll", "pitch", "yaw", "heading", "euler")):
            if kinds[0] == "roll" and "quaternion" in _kinds(selected):
                break
            for name in dict.fromkeys([leader, *self.tables_with(*kinds)]):
                matching = [c for c in leader_candidates if c.meaning.kind in kinds]
                if name != leader:
                    matching = [
                        c for c in self.candidates_by_table[name] if c.meaning.kind in kinds
                    ]
                    foreign = self.is_reference(name) or (
                        kinds[0] != "accel" and self._has_places(name)
                    )
                    matching = [] if foreign else self._sample(clock, name, matching)
                if _complete(kinds[0], matching):
                    selected += matching
                    break
            else:
                selected += [
                    c for c in leader_candidates if c.meaning.kind in kinds and kinds[0] == "accel"
                ]
        return selected, pieces

    def _sample(self, clock, name, candidates):
        """Return the candidates of a table at the nearest times; empty if the clocks differ."""
        for time in clock:
            local = self.local(time.name)
            times = [c for c in self.candidates_by_table[name] if c.meaning.kind == "time"]
            same_name = [c for c in self.candidates_by_table[name] if self.local(c.name) == local]
            if not same_name and len(times) != 1:
                continue
            (theirs, *_) = same_name or times
            times, grid = seconds_of(time), seconds_of(theirs)
            order = order_of(grid)
            if len(order) == 0:
                continue
            places = np.searchsorted(grid[order], times).clip(0, len(order) - 1)
            common = (times >= grid[order[0]]) & (times <= grid[order[-1]])
            if common.any():
                return [_select(candidate, order[places]) for candidate in candidates]
        return []


def _kinds(candidates):
    return {candidate.meaning.kind for candidate in candidates}


def _select(candidate, rows):
    texts = None if candidate.texts is None else candidate.texts[rows]
    return replace(candidate, values=candidate.values[rows], texts=texts)


def _complete(kind, candidates):
    """Return whether candidates form a quaternion, a heading, or accelerations with gravity."""
    if kind == "quaternion":
        return bool(quaternions(candidates))
    if kind != "accel":
        return not _kinds(candidates).isdisjoint(_DIRECTIONS)
    groups = vectors(candidates, "accel", "xyz")
    return any(usual_force_unit(matrix([group[axis] for axis in "xyz"])) for group in groups)


def _east_first(candidates):
    """Exchange x (north) and y (east) of candidates, to convert them from NED to ENU."""
    values = {c.meaning.stem + c.meaning.axis: c.values for c in candidates}
    other = {"x": "y", "y": "x"}
    return [
        replace(c, values=values.get(c.meaning.stem + other[c.meaning.axis], c.values))
        if c.meaning.kind == "position" and c.meaning.axis in other
        else c
        for c in candidates
    ]
