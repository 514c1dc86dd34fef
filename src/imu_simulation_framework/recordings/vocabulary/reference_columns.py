"""Choose the columns of a reference in a table."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from .. import courses
from ..cleaning import is_missing_fix
from ..courses import NAUTICAL
from ..possible_units import ANGLE_UNITS, UNIT_LENGTH_TOLERANCE
from ..turns import angle_unit
from .candidates import best_scalar, matrix, quaternions, shared_unit, vectors

_GLOBAL_UNITS = {"ddmm.mmmm": ("ddmm.mmmm", ""), "e7": ("deg", " * 1e-7")}
_POSSIBLE_GLOBAL_UNITS = (("deg",), ("rad",), ("ddmm.mmmm",), ("deg", "", " * 1e-7"))
_SLOW = 0.03  # fraction of the 95th percentile of the speed below which a course is noise
_MIN_SLOW_TIME = 5.0  # s, shortest time at low speed in which a constant heading is detected
_MAX_HELD_CHANGES = 0.2  # 1/s, largest rate at which a constant heading may still change
_FULL_TURN = 360.5  # deg, largest heading, with half a degree of margin for rounding
_MIN_EXTENT = 2.0  # m, smallest extent of positions that determine a course; above receiver errors


def with_courses(candidates, seconds, pieces, reasons):
    """Interpret a heading that is constant at low speed as the course of a receiver.

    A dual-antenna heading changes at any speed.

    Parameters
    ----------
    candidates : list of Candidate
        Columns of the table.
    seconds : ndarray, shape (n,)
        Time of each row [s]; nan if it is not known.
    pieces : ndarray, shape (n,)
        Index of the excerpt of the recording to which each row belongs.
    reasons : list of str
        Messages of the report, to which reasons are appended.

    Returns
    -------
    list of Candidate
        Columns with their meanings.
    """
    speed, heading = (best_scalar(candidates, kind) for kind in ("speed", "heading"))
    if speed is None or heading is None or best_scalar(candidates, "course"):
        return candidates
    impossible = np.nanmax(np.abs(heading.values)) > _FULL_TURN
    slow = np.abs(speed.values) < _SLOW * np.nanpercentile(np.abs(speed.values), 95)
    slow = slow[1:] & slow[:-1] & (np.diff(pieces) == 0)
    changes = np.count_nonzero(np.diff(heading.values)[slow])
    slow_duration = float(np.nansum(np.diff(seconds)[slow]))
    if not (
        impossible
        or (slow_duration > _MIN_SLOW_TIME and changes < _MAX_HELD_CHANGES * slow_duration)
    ):
        return candidates
    reason = "not always known" if impossible else "constant while the robot is slow"
    reasons.append(f"{heading.name}: {reason}, so it is a course, not the heading of two antennas")
    course = replace(heading, meaning=replace(heading.meaning, kind="course"))
    return [course if candidate is heading else candidate for candidate in candidates]


class ReferenceColumns(NamedTuple):
    """Columns of a reference that are chosen from a table.

    Attributes
    ----------
    columns : dict
        Column map, quantity -> ``column [unit]``.
    used : set of Candidate
        Columns in the map.
    open_columns : dict
        Quantity -> possible lines of the map, if the unit cannot be determined.
    """

    columns: dict[str, str]
    used: set
    open_columns: dict[str, list[str]]


def place_lines(candidates, pieces) -> dict[str, list[str]]:
    """Return candidate lines of a column map for positions without a time.

    Parameters
    ----------
    candidates : list of Candidate
        Columns of the table.
    pieces : numpy.ndarray, shape (n,)
        Index of the excerpt of the recording to which each row belongs.

    Returns
    -------
    dict of str to list of str
        Quantity -> possible lines.
    """
    reference = _Reference(candidates, np.full(len(pieces), np.nan), pieces, [])
    if reference.add_fixes() or reference.add_poses():
        return {quantity: [column] for quantity, column in reference.columns.items()}
    return reference.open_columns


def choose_reference_columns(candidates, seconds, pieces, reasons) -> ReferenceColumns:
    """Choose the columns of a reference from the candidates of a table.

    Parameters
    ----------
    candidates : list of Candidate
        Columns of the table except those of the IMU's orientation.
    seconds : ndarray, shape (n,)
        Time of each row [s]; nan if it is not known.
    pieces : ndarray, shape (n,)
        Index of the excerpt of the recording to which each row belongs.
    reasons : list of str
        Messages of the report, to which reasons are appended.

    Returns
    -------
    ReferenceColumns
        Chosen columns.
    """
    reference = _Reference(candidates, seconds, pieces, reasons)
    if reference.add_fixes():
        reference.add_altitude()
        reference.add_quality()
        reference.add_velocity()
        reference.add_orientation()
    elif not reference.add_poses():
        reference.add_quaternion(alone=True)
    elif not reference.add_orientation():
        if not reference.is_moving():
            return ReferenceColumns({}, set(), {})
        reference.add_quality()
        reference.add_velocity()
    if not {"velocity_east", "speed"} & set(reference.columns):
        reference.remark_unused_velocity()
    return ReferenceColumns(reference.columns, reference.used, reference.open_columns)


class _Reference:
    """Column map of a reference, to which the methods add columns."""

    def __init__(self, candidates, seconds, pieces, reasons):
        self.candidates, self.reasons = candidates, reasons
        self.columns, self.used, self.open_columns = {}, set(), {}
        self.motion = (seconds, pieces)
        self.scaled = False

    def add_fixes(self) -> bool:
        """Add latitude and longitude; return whether they are usable."""
        north = best_scalar(self.candidates, "latitude")
        east = best_scalar(self.candidates, "longitude")
        if not north or not east:
            return False
        names = f"{north.name}, {east.name}"
        if north.is_zero and east.is_zero:
            self.reasons.append(f"{names}: ignored, since all values are zero")
            return False
        unit, reason = shared_unit((north, east)), "by name"
        if unit == "":
            unit, reason = courses.global_unit(north.values, east.values), "by range"
        if not unit:
            self.reasons.append(f"{names}: ignored, since the unit cannot be determined")
            for quantity, column in (("latitude", north), ("longitude", east)):
                self.open_columns[quantity] = [
                    column.written(*written) for written in _POSSIBLE_GLOBAL_UNITS
                ]
            return False
        self.reasons.append(f"{names}: in {unit} {reason}")
        words, factor = _GLOBAL_UNITS.get(unit, (unit, ""))
        self.scaled = unit == "e7"
        self._take("latitude", north, words, factor=factor)
        self._take("longitude", east, words, factor=factor)
        places = np.array([courses.degrees_of(column.values, unit) for column in (north, east)])
        self.motion += courses.local_metres(*np.where(is_missing_fix(*places), np.nan, places))
        return True

    def add_altitude(self):
        altitude = best_scalar(self.candidates, "altitude")
        if altitude is None:
            return
        # Receivers that output positions as integers in 1e-7 deg output altitudes in millimetres.
        whole = self.scaled and np.nanmax(np.abs(altitude.values % 1.0)) == 0.0
        self._take("altitude", altitude, altitude.meaning.unit or ("mm" if whole else "m"))

    def add_quality(self):
        """Add the error estimates of the receiver."""
        for kind in ("hdop", "position_error"):
            column = best_scalar(self.candidates, kind)
            if column is None:
                continue
            # Smartphones also record an accuracy for their IMU readings.
            sensors = {c.meaning.kind for c in self.candidates if c.meaning} & {"gyro", "accel"}
            if sensors and column.meaning.stem == "accuracy" and not column.meaning.unit:
                self.reasons.append(f"{column.name}: ignored, since it may belong to the IMU")
            elif np.nanmin(column.values) < 0.0 or column.is_zero:
                self.reasons.append(f"{column.name}: ignored, since it is not always known")
            else:
                unit = "1" if kind == "hdop" else column.meaning.unit or "m"
                self._take(kind, column, unit)
        for kind, unit in (("sigma", "m"), ("variance", "m^2")):
            pair = [best_scalar(self.candidates, f"{kind}_{axis}") for axis in ("east", "north")]
            if all(pair) and not any(column.is_zero for column in pair):
                for axis, column in zip(("east", "north"), pair):
                    self._take(f"{kind}_{axis}", column, column.meaning.unit or unit)
                break

    def add_velocity(self):
        """Add east and north velocity or, if there are none, speed and course."""
        pair = [best_scalar(self.candidates, f"velocity_{axis}") for axis in ("east", "north")]
        named = all(pair)
        for group in [] if named else vectors(self.candidates, "velocity", "xy")[:1]:
            pair = [group["x"], group["y"]]
        if all(pair):
            names = ", ".join(column.name for column in pair)
            unit = self._speed_unit(names, np.hypot(*matrix(pair).T), shared_unit(pair))
            course = np.arctan2(pair[1].values, pair[0].values)
            sense = courses.sense_of(course, *self.motion)
            if not sense and not named:
                self.reasons.append(
                    f"{names}: ignored, since the axes cannot be determined, expected east and "
                    "north"
                )
            elif not named and sense and sense[:2] == ("rad", "cw from north") and unit:
                self.reasons.append(f"{names}: along north and east, as the path of the positions")
                for axis, column in zip(("north", "east"), pair):
                    self._take(f"velocity_{axis}", column, unit)
                return
            elif sense and sense[:2] != ("rad", "ccw from east"):
                self.reasons.append(
                    f"{names}: ignored, since the direction differs from the path of the positions"
                )
            elif unit:
                for axis, column in zip(("east", "north"), pair):
                    self._take(f"velocity_{axis}", column, unit)
                return
        speed, course = (best_scalar(self.candidates, kind) for kind in ("speed", "course"))
        if speed is None or course is None:
            return
        names = f"{speed.name}, {course.name}"
        unknown = np.nanmin(course.values) == -1.0 or np.nanmin(course.values) < -_FULL_TURN
        if np.nanmin(speed.values) < 0.0 or unknown:
            self.reasons.append(f"{names}: ignored, since negative values mean unknown")
            return
        unit = self._speed_unit(speed.name, speed.values, speed.meaning.unit)
        words = self._angle(course)
        if unit and words:
            self._take("speed", speed, unit)
            self._take("course", course, *words)

    def remark_unused_velocity(self):
        """Record why the velocity columns are ignored."""
        groups = vectors(self.candidates, "velocity", "xy")
        names = ", ".join(column.name for group in groups[:1] for column in group.values())
        if names and not any(reason.startswith(names) for reason in self.reasons):
            self.reasons.append(
                f"{names}: ignored, since a velocity is used only with positions without a heading"
            )

    def add_poses(self) -> bool:
        """Add x, y and z; return whether x and y are usable."""
        groups = vectors(self.candidates, "position", "xy")
        if not groups:
            return False
        group = groups[0]
        names = ", ".join(column.name for column in group.values())
        stated_unit = shared_unit(group.values())
        if stated_unit is None:
            self.reasons.append(f"{names}: ignored, since the units differ")
            units = {column.meaning.unit or "m": None for column in group.values()}
            for axis in sorted(group):
                self.open_columns[axis] = [group[axis].written(unit) for unit in units]
            return False
        for axis in sorted(group):
            self._take(axis, group[axis], stated_unit or "m")
        down = best_scalar(self.candidates, "down")
        if down and "z" not in group:
            self._take("z", down, stated_unit or "m", factor=" * -1")
        self.reasons.append(
            f"{names}: {'in ' + stated_unit if stated_unit else 'assumed to be in metres'}"
        )
        self.motion += (group["x"].values, group["y"].values)
        return True

    def add_quaternion(self, alone=False) -> bool:
        """Add a quaternion; without positions (``alone``), its name must indicate a reference."""
        for group in quaternions(self.candidates):
            length = np.nanmedian(np.linalg.norm(matrix(list(group.values())), axis=1))
            if abs(length - 1.0) < UNIT_LENGTH_TOLERANCE and (
                group["w"].meaning.is_from_reference or not alone
            ):
                for axis in "xyzw":
                    self._take(f"q{axis}", group[axis], "1")
                return True
        return False

    def add_orientation(self) -> bool:
        """Add the orientation of the poses; return whether there is a usable one."""
        fixes = "latitude" in self.columns
        if self.add_quaternion():
            return True
        theta = () if best_scalar(self.candidates, "roll") else ("theta",)
        for kind in ("yaw", "heading", *theta):
            column = best_scalar(self.candidates, kind)
            has_column = column is not None and not column.is_zero
            words = self._angle(column, named=kind == "heading" or fixes) if has_column else None
            quantity = "heading" if kind == "heading" else "yaw"
            if not words:
                if has_column:
                    sense = NAUTICAL if kind == "heading" or fixes else ""
                    lines = [column.written(unit, sense) for unit in ANGLE_UNITS]
                    self.open_columns.setdefault(quantity, lines)
                continue
            self.open_columns.pop("yaw", None)
            self._take(quantity, column, *words)
            others = [best_scalar(self.candidates, name) for name in ("roll", "pitch")]
            if not fixes and all(others) and shared_unit([column, *others]) in ("", words[0]):
                for name, other in zip(("roll", "pitch"), others):
                    self._take(name, other, words[0])
            return True
        return False

    def is_moving(self) -> bool:
        """Return whether the positions extend far enough for the course to replace the heading."""
        extent = np.hypot(*(np.nanmax(axis) - np.nanmin(axis) for axis in self.motion[2:]))
        if extent < _MIN_EXTENT:
            self.reasons.append(
                f"there is no reference, since there is no heading and the positions move only "
                f"{extent:.2g} m"
            )
            return False
        self.reasons.append("the course of the positions is used, since there is no heading")
        return True

    def _speed_unit(self, names, speeds, stated_unit):
        if stated_unit:
            self.reasons.append(f"{names}: in {stated_unit} by name")
            return stated_unit
        unit, ratio = courses.speed_unit(speeds, *self.motion) if stated_unit == "" else ("", 0.0)
        if unit:
            self.reasons.append(
                f"{names}: {ratio:.3g} times the speed of the positions in m/s, so in {unit}"
            )
        else:
            self.reasons.append(f"{names}: ignored, since positions do not determine the unit")
        return unit

    def _angle(self, column, named=True):
        """Return the unit and convention of a horizontal angle; None if they are undetermined."""
        stated_unit = column.meaning.unit
        sense = courses.sense_of(column.values, *self.motion)
        if sense and not sense[0] and column.meaning.kind == "course":
            self.reasons.append(
                f"{column.name}: ignored, since it differs from the path of the positions"
            )
            return None
        if sense and sense[0] and stated_unit in ("", sense[0]):
            unit, words, miss = sense
            reported = f"differs by {np.degrees(miss):.1f} deg from the path of the positions"
            self.reasons.append(f"{column.name}: as {unit} {words}, it {reported}")
            return unit, words if named else ""
        unit = stated_unit or angle_unit(column.values, *self.motion[:2])
        if not unit:
            self.reasons.append(
                f"{column.name}: ignored, since the unit cannot be determined (degrees or radians)"
            )
            return None
        reason = f", {NAUTICAL} by name" if named else f" by {'name' if stated_unit else 'range'}"
        self.reasons.append(f"{column.name}: in {unit}{reason}")
        return unit, NAUTICAL if named else ""

    def _take(self, quantity, column, unit, words="", factor=""):
        self.columns[quantity] = column.written(unit, words, factor)
        self.used.add(column)
