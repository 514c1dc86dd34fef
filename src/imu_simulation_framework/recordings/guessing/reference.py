"""Which columns of a table are a reference: poses, or fixes and what a receiver adds to them."""

from __future__ import annotations

import numpy as np

from imu_simulation_framework.recordings.guessing.candidates import (
    angle_unit,
    best_scalar,
    degrees_of,
    global_unit,
    local_metres,
    matrix,
    shared_unit,
    vectors,
)
from imu_simulation_framework.recordings.guessing.motion import sense_of, speed_unit

_GLOBAL_UNITS = {"ddmm.mmmm": ("ddmm.mmmm", ""), "e7": ("deg", " * 1e-7")}
SHORTEST_DRIVE = 2.0
"""Positions within less than this [m] have no course."""

_NAUTICAL = "cw from north"


def guess_reference(candidates, seconds, pieces, reasons):
    """Guess the columns of a reference.

    Parameters
    ----------
    candidates : list of Candidate
        Without those of the IMU's orientation.
    seconds : ndarray, shape (n,)
    pieces : ndarray of int, shape (n,)
    reasons : list of str
        To which reasons are added.

    Returns
    -------
    columns : dict of str to str
    used : set of Candidate
    """
    found = _Reference(candidates, seconds, pieces, reasons)
    if found.fixes():
        found.altitude()
        found.quality()
        found.doppler()
        found.orientation()
    elif not found.poses():
        return {}, set()
    elif not found.orientation():
        if not found.moves():
            return {}, set()
        found.quality()
        found.doppler()
    return found.columns, found.used


class _Reference:
    """The map as it grows."""

    def __init__(self, candidates, seconds, pieces, reasons):
        self.candidates, self.reasons = candidates, reasons
        self.columns, self.used = {}, set()
        self.motion = (seconds, pieces)
        self.scaled = False

    def fixes(self) -> bool:
        """Return whether there are a latitude and a longitude."""
        north = best_scalar(self.candidates, "latitude")
        east = best_scalar(self.candidates, "longitude")
        if not north or not east:
            return False
        names = f"{north.name}, {east.name}"
        if north.silent and east.silent:
            self.reasons.append(f"{names}: zero throughout, left out")
            return False
        unit = shared_unit((north, east))
        reason = "by name"
        if unit == "":
            unit, reason = global_unit(north.values, east.values), "by range"
        if not unit:
            self.reasons.append(f"{names}: in which unit cannot be told, left out")
            return False
        self.reasons.append(f"{names}: in {unit} {reason}")
        words, factor = _GLOBAL_UNITS.get(unit, (unit, ""))
        self.scaled = unit == "e7"
        self._take("latitude", north, words, factor)
        self._take("longitude", east, words, factor)
        self.motion += local_metres(degrees_of(north.values, unit), degrees_of(east.values, unit))
        return True

    def altitude(self):
        altitude = best_scalar(self.candidates, "altitude")
        if altitude is None:
            return
        unit = altitude.meaning.unit
        if not unit and self.scaled:
            # Receivers that give whole 1e-7 degrees give whole millimetres.
            unit = "mm" if np.nanmax(np.abs(altitude.values % 1.0)) == 0.0 else "m"
        self._take("altitude", altitude, unit or "m")

    def quality(self):
        """Return what the receiver thinks of its fixes."""
        for kind in ("hdop", "position_error"):
            column = best_scalar(self.candidates, kind)
            if column is None:
                continue
            if self._of_a_sensor(column):
                self.reasons.append(f"{column.name}: may be the IMU's, left out")
                continue
            if np.nanmin(column.values) < 0.0 or column.silent:
                self.reasons.append(f"{column.name}: not always known, left out")
                continue
            unit = "1" if kind == "hdop" else column.meaning.unit or "m"
            self._take(kind, column, unit)
        for kind, unit in (("sigma", "m"), ("variance", "m^2")):
            pair = [best_scalar(self.candidates, f"{kind}_{axis}") for axis in ("east", "north")]
            if all(pair) and not any(column.silent for column in pair):
                for axis, column in zip(("east", "north"), pair):
                    self._take(f"{kind}_{axis}", column, column.meaning.unit or unit)
                break

    def doppler(self):
        """Velocity east and north, or else speed and course."""
        pair = [best_scalar(self.candidates, f"velocity_{axis}") for axis in ("east", "north")]
        if all(pair):
            names = ", ".join(column.name for column in pair)
            unit = self._speed_unit(names, np.hypot(*matrix(pair).T), shared_unit(pair))
            course = np.arctan2(pair[1].values, pair[0].values)
            sense = sense_of(course, *self.motion)
            if sense and sense[:2] != ("rad", "ccw from east"):
                self.reasons.append(f"{names}: do not point where the positions go, left out")
            elif unit:
                for axis, column in zip(("east", "north"), pair):
                    self._take(f"velocity_{axis}", column, unit)
                return
        speed, course = (best_scalar(self.candidates, kind) for kind in ("speed", "course"))
        if speed is None or course is None:
            return
        names = f"{speed.name}, {course.name}"
        if np.nanmin(speed.values) < 0.0 or np.nanmin(course.values) == -1.0:
            self.reasons.append(f"{names}: negative where they are not known, left out")
            return
        unit = self._speed_unit(speed.name, speed.values, speed.meaning.unit)
        words = self._angle(course)
        if unit and words:
            self._take("speed", speed, unit)
            self._take("course", course, *words)

    def poses(self) -> bool:
        """Return whether there are x and y."""
        groups = vectors(self.candidates, "position", "xy")
        if not groups:
            return False
        group = groups[0]
        names = ", ".join(column.name for column in group.values())
        stated = shared_unit(group.values())
        if stated is None:
            self.reasons.append(f"{names}: in different units, left out")
            return False
        for axis in sorted(group):
            self._take(axis, group[axis], stated or "m")
        down = best_scalar(self.candidates, "down")
        if down and "z" not in group:
            self._take("z", down, stated or "m", " * -1")
        self.reasons.append(f"{names}: {'in ' + stated if stated else 'taken for metres'}")
        self.motion += (group["x"].values, group["y"].values)
        return True

    def orientation(self) -> bool:
        """Return whether there is an orientation beside the positions."""
        fixes = "latitude" in self.columns
        for group in vectors(self.candidates, "quaternion", "wxyz"):
            length = np.nanmedian(np.linalg.norm(matrix(list(group.values())), axis=1))
            if abs(length - 1.0) < 0.05:
                for axis in "xyzw":
                    self._take(f"q{axis}", group[axis], "1")
                return True
        theta = None if best_scalar(self.candidates, "roll") else "theta"
        for kind in ("yaw", "heading", theta):
            column = best_scalar(self.candidates, kind) if kind else None
            if column is None or column.silent:
                continue
            words = self._angle(column, named=kind == "heading" or fixes)
            if not words:
                continue
            self._take("heading" if kind == "heading" else "yaw", column, *words)
            others = [best_scalar(self.candidates, name) for name in ("roll", "pitch")]
            if not fixes and all(others) and shared_unit([column, *others]) in ("", words[0]):
                for name, other in zip(("roll", "pitch"), others):
                    self._take(name, other, words[0])
            return True
        return False

    def moves(self) -> bool:
        """Return whether the positions, which have no heading, are of something that drives."""
        extent = np.hypot(*(np.nanmax(axis) - np.nanmin(axis) for axis in self.motion[2:]))
        if extent < SHORTEST_DRIVE:
            self.reasons.append(
                f"there are positions, but no heading beside them, and they move {extent:.2g} m "
                "only: no reference"
            )
            return False
        self.reasons.append("there is no heading beside the positions: their course is taken")
        return True

    def _of_a_sensor(self, column):
        """Return whether an accuracy may be one of those that telephones tell of their IMU."""
        inertial = any(c.meaning and c.meaning.kind in ("gyro", "accel") for c in self.candidates)
        return inertial and column.meaning.stem == "accuracy" and not column.meaning.unit

    def _speed_unit(self, names, speeds, stated):
        if stated:
            self.reasons.append(f"{names}: in {stated} by name")
            return stated
        unit, ratio = speed_unit(speeds, *self.motion) if stated == "" else ("", 0.0)
        if unit:
            self.reasons.append(f"{names}: {ratio:.3g} for each m/s of the positions, so {unit}")
        else:
            self.reasons.append(f"{names}: the positions do not tell their unit, left out")
        return unit

    def _angle(self, column, named=True):
        """Return unit and words of an angle in the horizontal, None if they cannot be told."""
        stated = column.meaning.unit
        sense = sense_of(column.values, *self.motion)
        if sense and not sense[0]:
            if column.meaning.kind == "course":
                self.reasons.append(f"{column.name}: is not where the positions go, left out")
                return None
            sense = None
        if sense and stated in ("", sense[0]):
            unit, words, miss = sense
            told = f"{np.degrees(miss):.1f} deg from where the positions go"
            self.reasons.append(f"{column.name}: as {unit} {words} it is {told}")
            return unit, words if named else ""
        unit = stated or angle_unit(column.values, *self.motion[:2])
        if not unit:
            self.reasons.append(
                f"{column.name}: whether degrees or radians cannot be told, left out"
            )
            return None
        if named:
            self.reasons.append(f"{column.name}: in {unit}, {_NAUTICAL} by its name")
        else:
            self.reasons.append(f"{column.name}: in {unit} by its {'name' if stated else 'range'}")
        return unit, _NAUTICAL if named else ""

    def _take(self, quantity, column, unit, words="", factor=""):
        if words.startswith(" *"):
            words, factor = "", words
        self.columns[quantity] = column.written(unit, words, factor)
        self.used.add(column)
