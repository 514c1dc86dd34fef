"""Which columns of a table are an IMU's, and which are a reference's."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ...core.units import factor, factors
from ..cleaning import at_zero
from . import measures
from .candidates import best_scalar, fullest_first, matrix, quaternions, shared_unit, vectors
from .orientations import AGREE, chosen, ordered
from .vocabulary import vocabulary

_RADIANS = factors("rad", "deg")
_NAUTICAL = "cw from north"
# Share of the rows with an angular velocity or force that an orientation must have.
_MIN_FILLED = 0.9
_ACCEL_COUNTS = (16384, 8192, 4096, 2048)  # a g, of 16 bits over 2, 4, 8 and 16 g
_GYRO_COUNTS = (131.0, 65.5, 32.8, 16.4, 16.0, 114.29, 57.14, 28.57, 14.29)
"""A deg/s, of InvenSense, Bosch (16 of BNO055) and ST."""
_QUATERNION_COUNTS = (1, 1000, 10000, 2**14, 2**30)
_WHOLE = (("rad/s", 1.0), ("deg/s", np.pi / 180.0))
_THOUSANDTHS = (("deg/s", np.pi / 180.0), ("mrad/s", 1e-3), ("mdeg/s", 1e-3 * np.pi / 180.0))
_COUNTS_APART = 0.07  # Logarithm; some of these are an eighth apart
_EACH = " / "
_DIFFERENT = 20
_STEADY = 0.2  # Of the length of gravity, between its quartiles
_MAX_RATE = 4000.0  # deg/s
_TICKS = 0.02  # s, which are 2 ms where 0.1 ms are counted
_FASTEST = 40.0  # rad/s, more than the range of nearly all
_FACTOR = 1.6  # By how much their ratio may miss that of a unit
_TILTED_FACTOR = 4.0  # The same where gravity shows it, in which accelerations are, too


class ImuColumns(NamedTuple):
    """Columns of an IMU.

    Attributes
    ----------
    columns : dict
        Column map, quantity -> ``column [unit]``.
    used : set of Candidate
        Columns in the map.
    orientation : set of Candidate
        Columns of an orientation that is not the reference's.
    open_columns : dict
        Quantity -> possible lines of the map, where the unit cannot be determined.
    """

    columns: dict[str, str]
    used: set
    orientation: set
    open_columns: dict[str, list[str]]


class GyroUnit(NamedTuple):
    """Unit and factor of a gyroscope's columns; empty, and the possible ones, if not determined."""

    unit: str
    factor: str = ""
    alternatives: tuple[tuple[str, str], ...] = ()


def guess_imu(candidates, seconds, pieces, positions, reasons) -> ImuColumns:
    """Guess the columns of an IMU.

    Parameters
    ----------
    candidates : list of Candidate
        Columns of the table.
    seconds : numpy.ndarray
        Time of each row [s], shape (n,), nan if it is not known.
    pieces : numpy.ndarray
        Piece of the recording of each row, shape (n,).
    positions : str
        ``fixes``, ``poses``, or empty if the table has none.
    reasons : list of str
        Sentences are added.
    """
    gyros = fullest_first(vectors(candidates, "gyro", ""))
    gyro = gyros[0] if gyros else {}
    rate = 1.0 / measures.step(seconds, pieces)
    forces = fullest_first(vectors(candidates, "accel", "xyz"))
    forces = [one for one in forces if gyro or one["x"].meaning.stem != "f"]  # Of any force, alone
    accel, *of_accel = _accel(forces, rate, reasons)
    linear = matrix([forces[0][axis] for axis in "xyz"]) if forces else None
    inertial = [*gyro.values(), *accel.values()]
    if positions and not inertial:
        return ImuColumns({}, set(), set(), {})
    attitudes = _attitudes(candidates, seconds, pieces, reasons)
    own = _own(attitudes, positions, reasons)
    most = max((column.filled for column in inertial), default=0.0)
    full = [attitude for attitude in own if attitude.filled > _MIN_FILLED * most]
    for attitude in own:
        if attitude not in full:
            reasons.append(f"{attitude.names}: no value in many rows of the IMU, left out")
    attitude = chosen(full, gyro, seconds, pieces, reasons)
    columns, used, open_columns = {}, set(), {}
    witnesses = [attitude] if attitude else attitudes
    found = GyroUnit("")
    if gyro:
        beside = matrix(list(accel.values())) if accel else None, linear, *of_accel
        motion = (seconds, pieces, rate)
        found = _gyro_unit(gyro, witnesses, beside, motion, reasons)
    if attitude and attitude.unit is None:
        attitude.settle(gyro if found.unit else {}, found, seconds, pieces, reasons)
    if attitude and attitude.unit is not None:
        columns.update(attitude.written())
        used.update(attitude.columns)
    elif attitude:
        open_columns.update(attitude.alternatives())
    if found.unit:
        for axis in sorted(gyro):
            columns[f"gyro_{axis}"] = gyro[axis].written(found.unit, factor=found.factor)
        used.update(gyro.values())
    for axis in sorted(gyro) if found.alternatives else ():
        open_columns[f"gyro_{axis}"] = [
            gyro[axis].written(unit, factor=by) for unit, by in found.alternatives
        ]
    columns.update({f"accel_{a}": accel[a].written(of_accel[0], "", of_accel[1]) for a in accel})
    used.update(accel.values())
    foreign = {c for a in attitudes if a.is_from_reference for c in a.columns}
    orientation = {c for a in attitudes for c in a.columns} - foreign
    return ImuColumns(columns, used, orientation, open_columns)


def turns_tenfold(candidates, seconds, pieces) -> bool:
    """Return whether an orientation turns as a gyroscope does if times are ten times too long.

    As of devices that count 0.1 ms, whose steps look like those of milliseconds and of 40 Hz at
    most. Rates that are whole numbers may be tenths of a degree instead.
    """
    gyro = (fullest_first(vectors(candidates, "gyro", "")) or [{}])[0].values()
    if not gyro or whole(matrix(gyro)) or measures.step(seconds, pieces) < _TICKS:
        return False
    stated, motion = shared_unit(gyro), (0.1 * seconds, pieces)
    sizes = [factor(stated)] if stated else [size for _, size in _WHOLE]
    for attitude in [one for one in _attitudes(candidates, *motion, []) if one.unit]:
        scale, correlation = measures.turn_scale(*motion, attitude.values(), matrix(gyro))
        if correlation > AGREE and any(abs(scale / size - 1.0) < 0.1 for size in sizes):
            return True
    return False


def _own(attitudes, positions, reasons):
    """Return the IMU's orientations in a table that has an IMU, and perhaps positions."""
    of_imu = [attitude for attitude in attitudes if attitude.is_from_imu]
    others = [attitude for attitude in attitudes if attitude.is_from_reference]
    plain = [attitude for attitude in attitudes if attitude not in of_imu + others]
    if positions == "poses" and of_imu:
        for attitude in plain:
            attitude.is_from_reference = True
        return of_imu
    for attitude in list(plain):
        lone_heading = positions == "fixes" and list(attitude.by_name) == ["heading"]
        if lone_heading or (positions == "poses" and not others):
            plain.remove(attitude)
            reasons.append(
                f"{attitude.names}: may be the IMU's or go with the positions, left out; add it "
                "where it belongs"
            )
    return of_imu + plain


class _Attitude:
    """An orientation: a quaternion, or angles."""

    def __init__(self, columns, unit, words="", factor=""):
        self.by_name, self.unit, self.words, self.factor = columns, unit, words, factor
        self.columns = list(columns.values())
        self.names = ", ".join(column.name for column in self.columns)
        self.filled = min(column.filled for column in self.columns)
        self.quaternion = "qw" in columns
        meanings = [column.meaning for column in self.columns]
        self.is_from_imu = any(meaning.is_from_imu for meaning in meanings)
        self.is_from_reference = any(meaning.is_from_reference for meaning in meanings)

    def values(self):
        """Return quaternions, or yaw or roll, pitch, yaw [rad]; of an unknown unit yaw as it is."""
        if self.quaternion:
            return matrix(self.columns)
        if self.unit is None:
            return np.column_stack([self.columns[-1].values])
        return _RADIANS[self.unit] * matrix(self.columns)

    def written(self):
        return {
            name: column.written(self.unit, self.words if name == "heading" else "", self.factor)
            for name, column in self.by_name.items()
        }

    def alternatives(self):
        """Return quantity -> possible lines of a column map, where the unit is not known."""
        return {
            name: [
                column.written(unit, self.words if name == "heading" else "") for unit in _RADIANS
            ]
            for name, column in self.by_name.items()
        }

    def settle(self, gyro, gyro_unit, seconds, pieces, reasons):
        """Find the unit of the angles from that of the gyroscope, if there is one."""
        scale, correlation = 0.0, 0.0
        if gyro:
            rates = factor(gyro_unit.unit) * matrix(list(gyro.values()))
            scale, correlation = measures.turn_scale(seconds, pieces, self.values(), rates)
        if correlation > AGREE:
            for unit, radians in _RADIANS.items():
                if 1.0 / _FACTOR < scale * radians < _FACTOR:
                    self.unit = unit
                    reasons.append(f"{self.names}: in {unit} turns as the gyroscope does")
                    return
        reasons.append(f"{self.names}: whether degrees or radians cannot be determined, left out")


def _attitudes(candidates, seconds, pieces, reasons):
    found = []
    for group in fullest_first(quaternions(candidates)):
        length = np.linalg.norm(matrix(list(group.values())), axis=1)
        known = length[np.isfinite(length)]
        names = ", ".join(column.name for column in group.values())
        size = float(np.median(known)) if len(known) else np.nan
        counts = [count for count in _QUATERNION_COUNTS if abs(size / count - 1.0) < 0.05]
        if not counts:
            reasons.append(f"{names}: of length {size:.3g}, no quaternion, left out")
            continue
        if all(np.ptp(c.values[np.isfinite(c.values)]) == 0.0 for c in group.values()):
            reasons.append(f"{names}: never changes, no orientation that was measured, left out")
            continue
        if any(c.meaning.is_numbered for c in group.values()):
            group = ordered(group, candidates, seconds, pieces, reasons)
        columns = {f"q{axis}": group[axis] for axis in "xyzw"}
        if counts[0] != 1:
            reasons.append(f"{names}: of length {size:.4g}, as counts of which {counts[0]} are 1")
        found.append(_Attitude(columns, "1", factor=f"{_EACH}{counts[0]}" * (counts[0] != 1)))
    for origin in dict.fromkeys(c.meaning.origin for c in candidates if c.meaning):
        related = [c for c in candidates if c.meaning and c.meaning.origin == origin]
        found += _angles(related, seconds, pieces, reasons)
    return found


def _angles(candidates, seconds, pieces, reasons):
    """Return roll, pitch and yaw, or yaw alone, of columns with the same origin."""
    yaw, heading = best_scalar(candidates, "yaw"), best_scalar(candidates, "heading")
    name, last = ("yaw", yaw) if yaw else ("heading", heading)
    if last is None:
        return []
    if np.ptp(last.values[np.isfinite(last.values)]) == 0.0:
        reasons.append(f"{last.name}: never changes, left out")
        return []
    columns = {kind: best_scalar(candidates, kind) for kind in ("roll", "pitch")}
    columns[name] = last
    if not all(columns.values()) or shared_unit(columns.values()) is None:
        columns = {name: last}
    unit, source = shared_unit(columns.values()), "name"
    if not unit:
        others = [column.values for column in columns.values() if column is not last]
        unit, source = measures.angle_unit(last.values, seconds, pieces, others), "range"
    words = _NAUTICAL if name == "heading" else ""
    if unit:
        also = words and f", {words} by its name"
        reasons.append(f"{last.name}: in {unit} by its {source}{also}")
    return [_Attitude(columns, unit or None, words)]


def _usual_unit(gyro):
    """Return the unit that such names have by convention, and the convention, or nothing."""
    for words, (unit, convention) in vocabulary().usual_units.items():
        if all(words in column.meaning.stem for column in gyro.values()):
            return unit, convention
    return "", ""


def _gyro_unit(gyro, attitudes, accel, motion, reasons):
    """Return the GyroUnit of the gyroscope's columns.

    ``accel``: forces (n, 3), or None, those without gravity that do as well to tell whether it
    rests, and unit and factor of their columns; ``motion``: seconds, pieces and samples per second.
    """
    names = ", ".join(column.name for column in gyro.values())
    rates, (forces, linear, unit_of_accel, of_accel) = matrix(list(gyro.values())), accel
    *motion, rate = motion
    in_thousandths = unit_of_accel == "mg" and whole(rates)
    stated = shared_unit(gyro.values())
    if stated is None:
        reasons.append(f"{names}: in different units, left out")
        return GyroUnit("")
    if stated:
        reasons.append(f"{names}: in {stated} by name")
        return GyroUnit(stated)
    for attitude in attitudes:
        if attitude.unit is None:
            continue
        scale, correlation = measures.turn_scale(*motion, attitude.values(), rates)
        if correlation > AGREE:
            turns = f"{names}: {attitude.names} turns {scale:.3g} rad for each 1 of them"
            for unit, factor, also in _nearest_unit(scale, rate, whole(rates)):
                reasons.append(
                    f"{turns} (correlation {correlation:.2f}), so{factor} [{unit}]{also}"
                )
                return GyroUnit(unit, factor)
            reasons.append(f"{turns}, which is no known unit, left out")
            return GyroUnit("")
    if of_accel.startswith(_EACH) or (whole(rates) and np.nanmax(np.abs(rates)) > _MAX_RATE):
        reasons.append(
            f"{names}: counts, of which the file does not say how many are a deg/s, left out; say "
            f"it by the data sheet, as gyro_z = {list(gyro.values())[-1].name} / 131 [deg/s]"
        )
        return GyroUnit("", alternatives=(("deg/s", " / 131"), ("deg/s", " / 16.4")))
    if of_accel:
        # Changes of angle beside changes of velocity.
        unit = measures.gyro_unit(rates * rate, forces)
        by = f"changes from sample to sample as those of the accelerometer, {rate:.4g} in a second"
        reasons.append(f"{names}: {by if unit else 'whether rad or deg is not known, left out'}")
        if unit:
            return GyroUnit(unit, of_accel)
        return GyroUnit("", alternatives=(("rad/s", of_accel), ("deg/s", of_accel)))
    if forces is not None and set("xyz") <= set(gyro):
        rates = matrix([gyro[axis] for axis in "xyz"])
        scale, correlation = measures.gravity_scale(*motion, forces, rates)
        turns = f"{names}: gravity turns {scale:.2g} rad for each 1 of them"
        for name, expected in _THOUSANDTHS if in_thousandths else _WHOLE:
            if not expected / _TILTED_FACTOR < scale < expected * _TILTED_FACTOR:
                continue
            if name == "mrad/s":  # Or counts of 16 a deg/s, which are 1.09 mrad/s.
                break
            reasons.append(f"{turns} (correlation {correlation:.2f}), so [{name}]")
            return GyroUnit(name)
        if correlation > AGREE or (in_thousandths and scale):
            last = list(gyro.values())[-1].name
            reasons.append(
                f"{turns}, which may be mrad/s or counts of 16 a deg/s and others, left out; say "
                f"it by the data sheet, as gyro_z = {last} / 16 [deg/s]"
            )
            return GyroUnit("", alternatives=(("mrad/s", ""), ("deg/s", " / 16")))
    unit = "" if in_thousandths else measures.gyro_unit(rates, linear if forces is None else forces)
    usual, convention = _usual_unit(gyro)
    if not unit and usual and np.nanmax(np.abs(rates)) < _FASTEST:
        reasons.append(f"{names}: in {usual} as {convention} has them")
        return GyroUnit(usual)
    if not unit:
        reasons.append(
            f"{names}: whether rad/s or deg/s{' or mrad/s' * in_thousandths} cannot be "
            f"determined, left out; say it, as gyro_z = {list(gyro.values())[-1].name} [deg/s]"
        )
        units = ["deg/s", "rad/s", *["mrad/s"] * in_thousandths]
        return GyroUnit("", alternatives=tuple((unit, "") for unit in units))
    reasons.append(f"{names}: in {unit} by their size alone, which is only a guess")
    return GyroUnit(unit)


def _nearest_unit(scale, rate, counted):
    """Yield the unit of rates of which 1 is so many rad/s, its factor, and words on it; or none.

    ``counted``: whether they are whole numbers, as what a sensor counts.
    """
    for unit, expected in _WHOLE:
        if 1.0 / _FACTOR < scale / expected < _FACTOR:
            yield unit, "", ""
            return
    others = {("rad/s", " * 57.29578", ""): 180.0 / np.pi}
    others["rad/s", f" * {rate:.6g}", ", as changes from sample to sample"] = rate
    others["deg/s", f" * {rate:.6g}", ", as changes from sample to sample"] = np.radians(rate)
    if counted:
        others = {("deg/s", f" / {n:g}", ", as counts"): np.radians(1.0 / n) for n in _GYRO_COUNTS}
        others.update({(unit, "", ""): size for unit, size in _THOUSANDTHS[1:]})
    apart = {one: abs(np.log(scale / size)) for one, size in others.items() if size > 0.0}
    if apart and min(apart.values()) < (_COUNTS_APART if counted else np.log(_FACTOR)):
        yield min(apart, key=apart.get)


def whole(values):
    """Return whether all numbers are whole, and many differ."""
    known = values[np.isfinite(values)]
    return bool(np.all(known % 1.0 == 0.0)) and len(np.unique(known)) > _DIFFERENT


def _accel(groups, rate, reasons):
    """Return the columns by axis, unit and factor, of the first vector with gravity in it."""
    for group in groups:
        columns = [group[axis] for axis in "xyz"]
        names = ", ".join(column.name for column in columns)
        stated = shared_unit(columns)
        unit, size = measures.accel_unit(matrix(columns))
        factor = ""
        if not unit and not stated:
            unit, factor, also = _scaled_gravity(matrix(columns), size, rate)
        if not unit:
            reasons.append(f"{names}: usually {size:.3g} long, so without gravity, left out")
        elif stated not in ("", unit):
            reasons.append(
                f"{names}: usually {size:.3g} long, which is gravity in {unit} and not in what "
                "the names say, left out"
            )
        else:
            also = also if factor else ""
            reasons.append(f"{names}: usually {size:.3g} long, gravity in {unit}{also}")
            return {axis: group[axis] for axis in "xyz"}, unit, factor
    return {}, "", ""


def _scaled_gravity(forces, size, rate):
    """Return unit, factor and words of accelerations in which gravity is so long; or nothing.

    Without gravity their lengths differ from sample to sample.
    """
    low, high = np.nanpercentile(np.linalg.norm(forces, axis=1), [25.0, 75.0])
    if high - low > _STEADY * size:
        return "", "", ""
    for count in _ACCEL_COUNTS if whole(forces) else ():
        if measures.is_gravity(size / count, "g"):
            return "g", f"{_EACH}{count}", f", as counts of which {count} are one"
    if np.isfinite(rate) and measures.is_gravity(size * rate, "m/s^2"):
        return "m/s^2", f" * {rate:.6g}", ", as changes of velocity from sample to sample"
    return "", "", ""


def with_courses(candidates, seconds, pieces, reasons):
    """Return candidates where the heading of a receiver is a course if it is held while it is slow.

    That of two antennas goes on changing. Parameters as for :func:`guess_reference`.
    """
    speed, heading = (best_scalar(candidates, kind) for kind in ("speed", "heading"))
    if speed is None or heading is None or best_scalar(candidates, "course"):
        return candidates
    impossible = np.nanmax(np.abs(heading.values)) > _FULL_TURN
    slow = np.abs(speed.values) < _SLOW * np.nanpercentile(np.abs(speed.values), 95)
    slow = slow[1:] & slow[:-1] & (np.diff(pieces) == 0)
    changes = np.count_nonzero(np.diff(heading.values)[slow])
    lasting = float(np.nansum(np.diff(seconds)[slow]))
    if not (impossible or (lasting > _LONG_ENOUGH and changes < _MOST_CHANGES * lasting)):
        return candidates
    reason = "not always known" if impossible else "held while the robot is slow"
    reasons.append(f"{heading.name}: {reason}, so the course and not of two antennas")
    course = replace(heading, meaning=replace(heading.meaning, kind="course"))
    return [course if candidate is heading else candidate for candidate in candidates]


_GLOBAL_UNITS = {"ddmm.mmmm": ("ddmm.mmmm", ""), "e7": ("deg", " * 1e-7")}
_SLOW = 0.03  # Of the fastest
_LONG_ENOUGH, _MOST_CHANGES = 5.0, 0.2  # s; a second
_FULL_TURN = 360.5  # deg
_SHORTEST_DRIVE = 2.0  # Positions within less than this [m] have no course


def guess_reference(candidates, seconds, pieces, reasons):
    """Guess the columns of a reference, among candidates without those of the IMU's orientation.

    Returns the column map and the set of the candidates in it; ``reasons`` are added to.
    """
    found = _Reference(candidates, seconds, pieces, reasons)
    if found.fixes():
        found.altitude()
        found.quality()
        found.doppler()
        found.orientation()
    elif not found.poses():
        found.quaternion(alone=True)
    elif not found.orientation():
        if not found.moves():
            return {}, set()
        found.quality()
        found.doppler()
    if not {"velocity_east", "speed"} & set(found.columns):
        found.without_velocity()
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
        unit, reason = shared_unit((north, east)), "by name"
        if unit == "":
            unit, reason = measures.global_unit(north.values, east.values), "by range"
        if not unit:
            self.reasons.append(f"{names}: in which unit cannot be determined, left out")
            return False
        self.reasons.append(f"{names}: in {unit} {reason}")
        words, factor = _GLOBAL_UNITS.get(unit, (unit, ""))
        self.scaled = unit == "e7"
        self._take("latitude", north, words, factor=factor)
        self._take("longitude", east, words, factor=factor)
        places = np.array([measures.degrees_of(one.values, unit) for one in (north, east)])
        self.motion += measures.local_metres(*np.where(at_zero(*places), np.nan, places))
        return True

    def altitude(self):
        altitude = best_scalar(self.candidates, "altitude")
        if altitude is None:
            return
        # Receivers that give whole 1e-7 degrees give whole millimetres.
        whole = self.scaled and np.nanmax(np.abs(altitude.values % 1.0)) == 0.0
        self._take("altitude", altitude, altitude.meaning.unit or ("mm" if whole else "m"))

    def quality(self):
        """Return what the receiver thinks of its fixes."""
        for kind in ("hdop", "position_error"):
            column = best_scalar(self.candidates, kind)
            if column is None:
                continue
            # Telephones tell an accuracy of their IMU, too.
            sensors = {c.meaning.kind for c in self.candidates if c.meaning} & {"gyro", "accel"}
            if sensors and column.meaning.stem == "accuracy" and not column.meaning.unit:
                self.reasons.append(f"{column.name}: may be the IMU's, left out")
            elif np.nanmin(column.values) < 0.0 or column.silent:
                self.reasons.append(f"{column.name}: not always known, left out")
            else:
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
        named = all(pair)
        for group in [] if named else vectors(self.candidates, "velocity", "xy")[:1]:
            pair = [group["x"], group["y"]]
        if all(pair):
            names = ", ".join(column.name for column in pair)
            unit = self._speed_unit(names, np.hypot(*matrix(pair).T), shared_unit(pair))
            course = np.arctan2(pair[1].values, pair[0].values)
            sense = measures.sense_of(course, *self.motion)
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

    def without_velocity(self):
        """Say that a velocity beside the positions is of no use here."""
        groups = vectors(self.candidates, "velocity", "xy")
        names = ", ".join(column.name for group in groups[:1] for column in group.values())
        if names and not any(reason.startswith(names) for reason in self.reasons):
            self.reasons.append(
                f"{names}: a velocity, which is of use only beside positions without a heading, "
                "left out"
            )

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
            self._take("z", down, stated or "m", factor=" * -1")
        self.reasons.append(f"{names}: {'in ' + stated if stated else 'taken for metres'}")
        self.motion += (group["x"].values, group["y"].values)
        return True

    def quaternion(self, alone=False) -> bool:
        """Return whether there is a quaternion, ``alone`` one that by its name is not the IMU's."""
        for group in quaternions(self.candidates):
            length = np.nanmedian(np.linalg.norm(matrix(list(group.values())), axis=1))
            if abs(length - 1.0) < 0.05 and (group["w"].meaning.is_from_reference or not alone):
                for axis in "xyzw":
                    self._take(f"q{axis}", group[axis], "1")
                return True
        return False

    def orientation(self) -> bool:
        """Return whether there is an orientation beside the positions."""
        fixes = "latitude" in self.columns
        if self.quaternion():
            return True
        theta = () if best_scalar(self.candidates, "roll") else ("theta",)
        for kind in ("yaw", "heading", *theta):
            column = best_scalar(self.candidates, kind)
            known = column is not None and not column.silent
            words = self._angle(column, named=kind == "heading" or fixes) if known else None
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
        if extent < _SHORTEST_DRIVE:
            self.reasons.append(
                f"there are positions, but no heading beside them, and they move {extent:.2g} m "
                "only: no reference"
            )
            return False
        self.reasons.append("there is no heading beside the positions: their course is taken")
        return True

    def _speed_unit(self, names, speeds, stated):
        if stated:
            self.reasons.append(f"{names}: in {stated} by name")
            return stated
        unit, ratio = measures.speed_unit(speeds, *self.motion) if stated == "" else ("", 0.0)
        if unit:
            self.reasons.append(f"{names}: {ratio:.3g} for each m/s of the positions, so {unit}")
        else:
            self.reasons.append(f"{names}: the positions do not tell their unit, left out")
        return unit

    def _angle(self, column, named=True):
        """Return unit and words of an angle in the horizontal, None if not to be determined."""
        stated = column.meaning.unit
        sense = measures.sense_of(column.values, *self.motion)
        if sense and not sense[0] and column.meaning.kind == "course":
            self.reasons.append(f"{column.name}: is not where the positions go, left out")
            return None
        if sense and sense[0] and stated in ("", sense[0]):
            unit, words, miss = sense
            reported = f"{np.degrees(miss):.1f} deg from where the positions go"
            self.reasons.append(f"{column.name}: as {unit} {words} it is {reported}")
            return unit, words if named else ""
        unit = stated or measures.angle_unit(column.values, *self.motion[:2])
        if not unit:
            self.reasons.append(
                f"{column.name}: whether degrees or radians cannot be determined, left out"
            )
            return None
        by = f", {_NAUTICAL} by its name" if named else f" by its {'name' if stated else 'range'}"
        self.reasons.append(f"{column.name}: in {unit}{by}")
        return unit, _NAUTICAL if named else ""

    def _take(self, quantity, column, unit, words="", factor=""):
        self.columns[quantity] = column.written(unit, words, factor)
        self.used.add(column)
