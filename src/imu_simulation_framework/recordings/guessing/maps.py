"""Choice of the columns of an IMU and of a reference in a table."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ...core.units import factor, factors
from ..cleaning import is_missing_fix
from ..possible_units import (
    AGREEMENT,
    UNIT_TOLERANCE,
    PossibleUnit,
    fitting_force_units,
    is_whole,
    length_of_gravity,
)
from . import measures
from .candidates import best_scalar, fullest_first, matrix, quaternions, shared_unit, vectors
from .gyro_units import GyroColumns, GyroUnit, find_gyro_unit
from .orientations import chosen, ordered

_RADIANS = factors("rad", "deg")
_NAUTICAL = "cw from north"
# Share of the rows with an angular velocity or force in which an orientation must be filled. A
# slower source would thin out the IMU's samples; a logger loses some per cent of its lines.
_MIN_FILLED = 0.9
_QUATERNION_COUNTS = (1, 1000, 10000, 2**14, 2**30)
"""Counts of a part of a quaternion that is 1: 2^14 of BNO055 (data sheet, 3.6.5.5), 2^30 of
InvenSense's DMP, 1000 and 10000 of loggers that write integers."""
_LENGTH_TOLERANCE = 0.05  # of the length of a quaternion; the sizes are a factor of 1.6 apart
_MIN_TICKS = 0.02  # s; steps of 2 ms counted in 0.1 ms look like 20 ms
_TICK_TOLERANCE = 0.1  # of the ratio of turns, which is 10 with the wrong tick


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
    gyro = _gyro(candidates)
    sample_rate = 1.0 / measures.step(seconds, pieces)
    forces = _forces(candidates, gyro)
    accel, accel_unit = _accel(forces, sample_rate, reasons)
    inertial = [*gyro.values(), *accel.values()]
    if positions and not inertial:
        return ImuColumns({}, set(), set(), {})
    attitudes = _attitudes(candidates, seconds, pieces, reasons)
    own = _full(_own(attitudes, positions, reasons), inertial, reasons)
    attitude = chosen(own, gyro, seconds, pieces, reasons)
    gyro_unit = GyroUnit("")
    if gyro:
        columns_of_gyro = GyroColumns(
            gyro, [attitude] if attitude else attitudes, accel, accel_unit, forces[:1],
            seconds, pieces, sample_rate,
        )  # fmt: skip
        gyro_unit = find_gyro_unit(columns_of_gyro, reasons)
    if attitude and attitude.unit is None:
        attitude.settle(gyro if gyro_unit.unit else {}, gyro_unit, seconds, pieces, reasons)
    foreign = {c for a in attitudes if a.is_from_reference for c in a.columns}
    imu = ImuColumns({}, set(), {c for a in attitudes for c in a.columns} - foreign, {})
    if attitude:
        _take_attitude(imu, attitude)
    _take_gyro(imu, gyro, gyro_unit)
    for axis in accel:
        imu.columns[f"accel_{axis}"] = accel[axis].written(accel_unit.unit, "", accel_unit.factor)
    imu.used.update(accel.values())
    return imu


def _gyro(candidates):
    """Return the columns by axis of the plainest gyroscope, none without one."""
    gyros = fullest_first(vectors(candidates, "gyro", ""))
    return gyros[0] if gyros else {}


def _forces(candidates, gyro):
    """Return the groups of columns that may be an accelerometer's."""
    forces = fullest_first(vectors(candidates, "accel", "xyz"))
    # Without a gyroscope, columns called f may be any force.
    return [group for group in forces if gyro or group["x"].meaning.stem != "f"]


def _full(attitudes, inertial, reasons):
    """Return the orientations that have a value in nearly every row of the IMU."""
    most = max((column.filled for column in inertial), default=0.0)
    full = [attitude for attitude in attitudes if attitude.filled > _MIN_FILLED * most]
    for attitude in attitudes:
        if attitude not in full:
            reasons.append(f"{attitude.names}: no value in many rows of the IMU, left out")
    return full


def _take_attitude(imu: ImuColumns, attitude):
    if attitude.unit is None:
        imu.open_columns.update(attitude.alternatives())
        return
    imu.columns.update(attitude.written())
    imu.used.update(attitude.columns)


def _take_gyro(imu: ImuColumns, gyro, gyro_unit: GyroUnit):
    if gyro_unit.unit:
        for axis in sorted(gyro):
            column = gyro[axis].written(gyro_unit.unit, factor=gyro_unit.factor)
            imu.columns[f"gyro_{axis}"] = column
        imu.used.update(gyro.values())
    if gyro_unit.alternatives:
        for axis in sorted(gyro):
            imu.open_columns[f"gyro_{axis}"] = [
                gyro[axis].written(unit, factor=scale) for unit, scale in gyro_unit.alternatives
            ]


def turns_tenfold(candidates, seconds, pieces) -> bool:
    """Return whether an orientation turns as a gyroscope does if times are ten times too long.

    Steps of devices that count 0.1 ms look like milliseconds and at most 40 Hz. Rates that are
    whole numbers may be tenths of a degree instead. The parameters are those of :func:`guess_imu`.
    """
    gyro = list(_gyro(candidates).values())
    if not gyro or is_whole(matrix(gyro)) or measures.step(seconds, pieces) < _MIN_TICKS:
        return False
    stated, motion = shared_unit(gyro), (0.1 * seconds, pieces)
    sizes = [factor(stated)] if stated else list(factors("rad/s", "deg/s").values())
    for attitude in [a for a in _attitudes(candidates, *motion, []) if a.unit]:
        scale, correlation = measures.turn_scale(*motion, attitude.values(), matrix(gyro))
        matches = any(abs(scale / size - 1.0) < _TICK_TOLERANCE for size in sizes)
        if correlation > AGREEMENT and matches:
            return True
    return False


def _own(attitudes, positions, reasons):
    """Return the IMU's orientations in a table with an IMU and perhaps positions."""
    imu_attitudes = [attitude for attitude in attitudes if attitude.is_from_imu]
    others = [attitude for attitude in attitudes if attitude.is_from_reference]
    plain = [attitude for attitude in attitudes if attitude not in imu_attitudes + others]
    if positions == "poses" and imu_attitudes:
        for attitude in plain:
            attitude.is_from_reference = True
        return imu_attitudes
    for attitude in list(plain):
        lone_heading = positions == "fixes" and list(attitude.by_name) == ["heading"]
        if lone_heading or (positions == "poses" and not others):
            plain.remove(attitude)
            reasons.append(
                f"{attitude.names}: may be the IMU's or the reference's, left out; add it where it "
                "belongs"
            )
    return imu_attitudes + plain


class _Attitude:
    """Orientation as a quaternion or as angles."""

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
        """Return quaternions or angles [rad]; the yaw as it is if its unit is unknown."""
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
        if correlation > AGREEMENT:
            for unit, radians in _RADIANS.items():
                if 1.0 / UNIT_TOLERANCE < scale * radians < UNIT_TOLERANCE:
                    self.unit = unit
                    reasons.append(f"{self.names}: in {unit} turns as the gyroscope does")
                    return
        reasons.append(f"{self.names}: whether degrees or radians cannot be determined, left out")


def _attitudes(candidates, seconds, pieces, reasons):
    attitudes = []
    for group in fullest_first(quaternions(candidates)):
        length = np.linalg.norm(matrix(list(group.values())), axis=1)
        known = length[np.isfinite(length)]
        names = ", ".join(column.name for column in group.values())
        size = float(np.median(known)) if len(known) else np.nan
        counts = [
            count for count in _QUATERNION_COUNTS if abs(size / count - 1.0) < _LENGTH_TOLERANCE
        ]
        if not counts:
            reasons.append(f"{names}: of length {size:.3g}, no quaternion, left out")
            continue
        if all(np.ptp(c.values[np.isfinite(c.values)]) == 0.0 for c in group.values()):
            reasons.append(f"{names}: never changes, no measured orientation, left out")
            continue
        if any(c.meaning.is_numbered for c in group.values()):
            group = ordered(group, candidates, seconds, pieces, reasons)
        columns = {f"q{axis}": group[axis] for axis in "xyzw"}
        if counts[0] != 1:
            reasons.append(f"{names}: of length {size:.4g}, as counts of which {counts[0]} are 1")
        attitudes.append(_Attitude(columns, "1", factor=f" / {counts[0]}" * (counts[0] != 1)))
    for origin in dict.fromkeys(c.meaning.origin for c in candidates if c.meaning):
        related = [c for c in candidates if c.meaning and c.meaning.origin == origin]
        attitudes += _angles(related, seconds, pieces, reasons)
    return attitudes


def _angles(candidates, seconds, pieces, reasons):
    """Return roll, pitch and yaw, or only the yaw, of columns with the same origin."""
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


def _accel(groups, sample_rate, reasons):
    """Return the columns by axis and the PossibleUnit of the first vector with gravity."""
    for group in groups:
        columns = {axis: group[axis] for axis in "xyz"}
        unit = _accel_unit(list(columns.values()), sample_rate, reasons)
        if unit is not None:
            return columns, unit
    return {}, None


def _accel_unit(columns, sample_rate, reasons) -> PossibleUnit | None:
    """Return the unit in which columns have the length of gravity, None without one."""
    forces = matrix(columns)
    length = f"{', '.join(column.name for column in columns)}: usually "
    length += f"{length_of_gravity(forces).usual:.3g} long"
    stated = shared_unit(columns)
    units = fitting_force_units(forces, sample_rate, is_whole(forces))
    if stated != "":
        units = [unit for unit in units if unit.is_usual]
    if not units:
        reasons.append(f"{length}, so without gravity, left out")
        return None
    unit = units[0]
    if stated not in ("", unit.unit):
        reasons.append(
            f"{length}, which is gravity in {unit.unit} and not in the unit of the names, left out"
        )
        return None
    reasons.append(f"{length}, gravity in {unit.unit}{unit.remark}")
    return unit


def with_courses(candidates, seconds, pieces, reasons):
    """Return candidates in which a heading that is constant at low speed is a receiver's course.

    The heading of two antennas changes at any speed. The parameters are those of :func:`guess_imu`.
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


_GLOBAL_UNITS = {"ddmm.mmmm": ("ddmm.mmmm", ""), "e7": ("deg", " * 1e-7")}
_POSSIBLE_GLOBAL_UNITS = (("deg",), ("rad",), ("ddmm.mmmm",), ("deg", "", " * 1e-7"))
_SLOW = 0.03  # share of the 95th percentile of the speed, below which a course is noise
_MIN_SLOW_TIME = 5.0  # s of slow driving, without which a held heading does not show
_MAX_HELD_CHANGES = 0.2  # changes of a held heading in a second
_FULL_TURN = 360.5  # deg, with half a degree for rounding; more is no heading
_MIN_EXTENT = 2.0  # m; positions within less than the error of a receiver have no course


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


def guess_reference(candidates, seconds, pieces, reasons) -> ReferenceColumns:
    """Guess the columns of a reference, among candidates without those of the IMU's orientation.

    The other parameters are those of :func:`guess_imu`.
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
            unit, reason = measures.global_unit(north.values, east.values), "by range"
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
        places = np.array([measures.degrees_of(column.values, unit) for column in (north, east)])
        self.motion += measures.local_metres(*np.where(is_missing_fix(*places), np.nan, places))
        return True

    def add_altitude(self):
        altitude = best_scalar(self.candidates, "altitude")
        if altitude is None:
            return
        # Receivers that give whole 1e-7 degrees give whole millimetres.
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
            if abs(length - 1.0) < _LENGTH_TOLERANCE and (
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
                    sense = _NAUTICAL if kind == "heading" or fixes else ""
                    lines = [column.written(unit, sense) for unit in _RADIANS]
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
        unit, ratio = measures.speed_unit(speeds, *self.motion) if stated == "" else ("", 0.0)
        if unit:
            self.reasons.append(f"{names}: {ratio:.3g} for each m/s of the positions, so {unit}")
        else:
            self.reasons.append(f"{names}: the positions do not decide the unit, left out")
        return unit

    def _angle(self, column, named=True):
        """Return unit and words of a horizontal angle, None if they cannot be determined."""
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
