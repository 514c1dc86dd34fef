"""Choice of the columns of a reference in a table."""

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
_SLOW = 0.03  # share of the 95th percentile of the speed, below which a course is noise
_MIN_SLOW_TIME = 5.0  # s of slow driving, without which a held heading does not show
_MAX_HELD_CHANGES = 0.2  # changes of a held heading in a second
_FULL_TURN = 360.5  # deg, with half a degree for rounding; more is not a heading
_MIN_EXTENT = 2.0  # m; positions within less than the error of a receiver have no course


def with_courses(candidates, seconds, pieces, reasons):
    """Interpret a heading that is constant at low speed as a receiver's course.

    The heading of two antennas changes at any speed.

    Parameters
    ----------
    candidates : list of Candidate
        Columns of the table.
    seconds : ndarray, shape (n,)
        Time of each row [s], nan if unknown.
    pieces : ndarray, shape (n,)
        Piece of the recording of each row.
    reasons : list of str
        Sentences for the report, to which reasons are added.

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
    lasting = float(np.nansum(np.diff(seconds)[slow]))
    if not (impossible or (lasting > _MIN_SLOW_TIME and changes < _MAX_HELD_CHANGES * lasting)):
        return candidates
    reason = "not always known" if impossible else "held while the robot is slow"
    reasons.append(f"{heading.name}: {reason}, so the course and not of two antennas")
    course = replace(heading, meaning=replace(heading.meaning, kind="course"))
    return [course if candidate is heading else candidate for candidate in candidates]


class ReferenceColumns(NamedTuple):
    """Columns of a reference.

    Attributes
    ----------
    columns : dict
        Column map, quantity -> ``column [unit]``.
    used : set of Candidate
        Columns in the map.
    open_columns : dict
        Quantity -> possible lines of the map, where the unit cannot be determined.
    """

    columns: dict[str, str]
    used: set
    open_columns: dict[str, list[str]]


def place_lines(candidates, pieces) -> dict[str, list[str]]:
    """Return the possible lines of a column map for positions without a time.

    Parameters
    ----------
    candidates : list of Candidate
        Columns of the table.
    pieces : numpy.ndarray, shape (n,)
        Piece of the recording of each row.

    Returns
    -------
    dict of str to list of str
        Quantity -> lines.
    """
    reference = _Reference(candidates, np.full(len(pieces), np.nan), pieces, [])
    if reference.add_fixes() or reference.add_poses():
        return {quantity: [column] for quantity, column in reference.columns.items()}
    return reference.open_columns


def choose_reference_columns(candidates, seconds, pieces, reasons) -> ReferenceColumns:
    """Choose the columns of a reference.

    Parameters
    ----------
    candidates : list of Candidate
        Columns of the table without those of the IMU's orientation.
    seconds : ndarray, shape (n,)
        Time of each row [s], nan if unknown.
    pieces : ndarray, shape (n,)
        Piece of the recording of each row.
    reasons : list of str
        Sentences for the report, to which reasons are added.

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
        """Add latitude and longitude; return whether there are any."""
        north = best_scalar(self.candidates, "latitude")
        east = best_scalar(self.candidates, "longitude")
        if not north or not east:
            return False
        names = f"{north.name}, {east.name}"
        if north.is_zero and east.is_zero:
            self.reasons.append(f"{names}: zero throughout, left out")
            return False
        unit, reason = shared_unit((north, east)), "by name"
        if unit == "":
            unit, reason = courses.global_unit(north.values, east.values), "by range"
        if not unit:
            self.reasons.append(f"{names}: in which unit cannot be determined, left out")
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
        # Receivers that output whole 1e-7 degrees output whole millimetres.
        whole = self.scaled and np.nanmax(np.abs(altitude.values % 1.0)) == 0.0
        self._take("altitude", altitude, altitude.meaning.unit or ("mm" if whole else "m"))

    def add_quality(self):
        """Add the receiver's own estimates of its errors."""
        for kind in ("hdop", "position_error"):
            column = best_scalar(self.candidates, kind)
            if column is None:
                continue
            # Telephones write an accuracy of their IMU, too.
            sensors = {c.meaning.kind for c in self.candidates if c.meaning} & {"gyro", "accel"}
            if sensors and column.meaning.stem == "accuracy" and not column.meaning.unit:
                self.reasons.append(f"{column.name}: may be the IMU's, left out")
            elif np.nanmin(column.values) < 0.0 or column.is_zero:
                self.reasons.append(f"{column.name}: not always known, left out")
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
        """Add velocity east and north, or else speed and course."""
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
                    f"{names}: whether along east and north cannot be determined, left out"
                )
            elif not named and sense and sense[:2] == ("rad", "cw from north") and unit:
                self.reasons.append(f"{names}: to the north and east, where the positions go")
                for axis, column in zip(("north", "east"), pair):
                    self._take(f"velocity_{axis}", column, unit)
                return
            elif sense and sense[:2] != ("rad", "ccw from east"):
                self.reasons.append(f"{names}: do not point where the positions go, left out")
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
            self.reasons.append(f"{names}: negative where they are not known, left out")
            return
        unit = self._speed_unit(speed.name, speed.values, speed.meaning.unit)
        words = self._angle(course)
        if unit and words:
            self._take("speed", speed, unit)
            self._take("course", course, *words)

    def remark_unused_velocity(self):
        """Add a reason why a velocity is not used with a heading."""
        groups = vectors(self.candidates, "velocity", "xy")
        names = ", ".join(column.name for group in groups[:1] for column in group.values())
        if names and not any(reason.startswith(names) for reason in self.reasons):
            self.reasons.append(
                f"{names}: a velocity, which is used only with positions without a heading, "
                "left out"
            )

    def add_poses(self) -> bool:
        """Add x, y and z; return whether there are x and y."""
        groups = vectors(self.candidates, "position", "xy")
        if not groups:
            return False
        group = groups[0]
        names = ", ".join(column.name for column in group.values())
        stated = shared_unit(group.values())
        if stated is None:
            self.reasons.append(f"{names}: in different units, left out")
            units = {column.meaning.unit or "m": None for column in group.values()}
            for axis in sorted(group):
                self.open_columns[axis] = [group[axis].written(unit) for unit in units]
            return False
        for axis in sorted(group):
            self._take(axis, group[axis], stated or "m")
        down = best_scalar(self.candidates, "down")
        if down and "z" not in group:
            self._take("z", down, stated or "m", factor=" * -1")
        self.reasons.append(f"{names}: {'in ' + stated if stated else 'taken for metres'}")
        self.motion += (group["x"].values, group["y"].values)
        return True

    def add_quaternion(self, alone=False) -> bool:
        """Add a quaternion, without positions (``alone``) only if its name states a reference."""
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
        """Add the orientation to the positions; return whether there is one."""
        fixes = "latitude" in self.columns
        if self.add_quaternion():
            return True
        theta = () if best_scalar(self.candidates, "roll") else ("theta",)
        for kind in ("yaw", "heading", *theta):
            column = best_scalar(self.candidates, kind)
            known = column is not None and not column.is_zero
            words = self._angle(column, named=kind == "heading" or fixes) if known else None
            quantity = "heading" if kind == "heading" else "yaw"
            if not words:
                if known:
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
        """Return whether positions without a heading are those of a drive."""
        extent = np.hypot(*(np.nanmax(axis) - np.nanmin(axis) for axis in self.motion[2:]))
        if extent < _MIN_EXTENT:
            self.reasons.append(
                f"there are positions without a heading, and they move {extent:.2g} m only: no "
                "reference"
            )
            return False
        self.reasons.append("there is no heading with the positions: their course is taken")
        return True

    def _speed_unit(self, names, speeds, stated):
        if stated:
            self.reasons.append(f"{names}: in {stated} by name")
            return stated
        unit, ratio = courses.speed_unit(speeds, *self.motion) if stated == "" else ("", 0.0)
        if unit:
            self.reasons.append(f"{names}: {ratio:.3g} for each m/s of the positions, so {unit}")
        else:
            self.reasons.append(f"{names}: the positions do not decide the unit, left out")
        return unit

    def _angle(self, column, named=True):
        """Return unit and words of a horizontal angle, None if they cannot be determined."""
        stated = column.meaning.unit
        sense = courses.sense_of(column.values, *self.motion)
        if sense and not sense[0] and column.meaning.kind == "course":
            self.reasons.append(f"{column.name}: is not where the positions go, left out")
            return None
        if sense and sense[0] and stated in ("", sense[0]):
            unit, words, miss = sense
            reported = f"{np.degrees(miss):.1f} deg from where the positions go"
            self.reasons.append(f"{column.name}: as {unit} {words} it is {reported}")
            return unit, words if named else ""
        unit = stated or angle_unit(column.values, *self.motion[:2])
        if not unit:
            self.reasons.append(
                f"{column.name}: whether degrees or radians cannot be determined, left out"
            )
            return None
        reason = (
            f", {NAUTICAL} by its name" if named else f" by its {'name' if stated else 'range'}"
        )
        self.reasons.append(f"{column.name}: in {unit}{reason}")
        return unit, NAUTICAL if named else ""

    def _take(self, quantity, column, unit, words="", factor=""):
        self.columns[quantity] = column.written(unit, words, factor)
        self.used.add(column)
