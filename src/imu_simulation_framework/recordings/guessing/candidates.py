"""The columns of somebody's table: what their names say, and the best of those that say the same.

A name is cut into words; words that only say where the quantity comes from are dropped; what
remains must be a known name as a whole. A word that is not known makes the column unknown, so that
``gyro_bias_x`` or ``mag_field.x`` are not taken for what they are not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

WITH_GRAVITY = "+Gravity"
"""Behind the name of a table of accelerations without gravity, to which it is added."""

_BRACKET = re.compile(r"\s*[\[(](?P<unit>[^\[\]()]*)[\])]\s*\Z")
_WORD = re.compile(r"[a-z]+\d*|\d+")
_DECORATION = re.compile(
    r"\A(?:shimmer_[0-9a-f]{4}_|imu_atti\(\d\):|sens(?=acc|gyr))|:[cd]\Z|\s*\[x8[\da-f]{3}\]\Z",
    re.IGNORECASE,
)  # Shimmer's serial number; DJI's logs as DatCon writes them; MicroStrain's numbers of fields
_PART = re.compile(
    r"(?<![a-z])(?:adis|adxl|bmi|bno|icm|iim|itg|lis|lsm|mpu)\d[a-z\d]*(?:_[a-z](?![a-z]))?",
    re.IGNORECASE,
)  # The part that measures it, as lsm6ds3_c
_HUMP = re.compile(r"(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_RIG = frozenset(["imu", "ins", "sensor", "motion", "device", "ahrs"])
_OUTSIDE = frozenset(
    ["odom", "pose", "twist", "robot", "gt", "truth", "ground", "groundtruth", "mocap", "vicon"]
    + ["optitrack"]
)
_ORIGINS = _RIG.union(
    _OUTSIDE,
    ["field", "header", "msg", "data", "gps", "gnss", "raw", "location", "meas", "measured"],
    ["est", "estimated", "value", "rs", "user", "fix", "navsat", "vehicle", "xyz", "cal", "scaled"],
    ["uncal", "measurement"],
)
_UNITS = {
    "s": "s sec secs second seconds",
    "ms": "ms msec msecs millis milliseconds millisecond",
    "us": "us usec usecs µs μs micros microseconds microsecond",
    "ns": "ns nsec nsecs nseconds nanos nanosec nanoseconds nanosecond",
    "m": "m meter meters metre metres",
    "km": "km",
    "cm": "cm",
    "mm": "mm",
    "ft": "ft feet",
    "rad": "rad rads radian radians",
    "deg": "deg degs degree degrees ° º wgs84",
    "e7": "e7 1e7 1e-7deg deg*1e7 dege7",
    "ddmm.mmmm": "ddmm.mmmm ddmm.mm nmea",
    "rad/s": "rad/s rad/sec rad/second rads^-1 rads-1 radians/s radians/sec rps radps",
    "mdeg/s": "mdps mdeg/s",
    "deg/s": "deg/s deg/sec deg/second degs^-1 degs-1 degrees/s degrees/sec °/s º/s dps degps",
    "mm/s": "mm/s",
    "cm/s": "cm/s",
    "m/s": "m/s m/sec ms^-1 ms-1 mps meters/second",
    "km/h": "km/h kmh kph kmph",
    "mph": "mph",
    "knots": "knots knot kn kt kts",
    "m/s^2": "m/s^2 m/s2 m/sec2 meters/s2 m/s² m/s/s m/s**2 ms^-2 ms-2 ms2 mps2",
    "g": "g gee",
    "mg": "mg",
    "m^2": "m^2 m2 m² m**2",
    "1": "1 - r",
}
_CANONICAL = {alias: unit for unit, aliases in _UNITS.items() for alias in aliases.split()}
_CANONICAL[""] = "1"
_ENDINGS: dict[tuple[str, ...], str] = {
    ("rad", "s"): "rad/s",
    ("deg", "s"): "deg/s",
    ("m", "s"): "m/s",
    ("km", "h"): "km/h",
    ("m", "s2"): "m/s^2",
    ("m", "s", "2"): "m/s^2",
    ("m", "s", "s"): "m/s^2",
    ("m2",): "m^2",
    **{(alias,): unit for alias, unit in _CANONICAL.items() if alias.isalnum() and alias != "1"},
}
_KIND_UNITS = {
    kind: units.split()
    for kinds, units in (
        ("time", "s ms us ns"),
        ("gyro", "rad/s deg/s mdeg/s"),
        ("accel", "m/s^2 g mg"),
        ("roll pitch yaw theta heading course euler", "rad deg"),
        ("latitude longitude", "deg rad ddmm.mmmm e7"),
        ("speed velocity velocity_east velocity_north", "m/s cm/s mm/s km/h mph knots"),
        ("position down altitude position_error sigma_east sigma_north", "m km cm mm ft"),
        ("variance_east variance_north", "m^2"),
        ("quaternion hdop date", "1"),
    )
    for kind in kinds.split()
}
_CLOCKS = frozenset(["unixtime", "unix", "epoch", "utc"])  # In a unit's place, and none
_SHORT = {"rad": "rad/s", "deg": "deg/s", "ms": "m/s"}  # what a rate's or speed's may be short for
_NUMBERED = {"0": "x", "1": "y", "2": "z", "3": "z"}  # Counted from 1 they are shifted later
_BY_UNIT = ("accel", "gyro", "velocity", "euler")  # What an axis alone is if its unit says so
# Numbered, the scalar is first by most authors: a guess, unless a gyroscope confirms it. The
# fourth of those that are numbered from 1 is called 4.
_PARTS = {"w": "w 0 q0 real", "x": "x 1 q1 i", "y": "y 2 q2 j", "z": "z 3 q3 k", "4": "4 q4"}
_PARTS["matrix"] = "5 6 7 8 9"  # Of nine numbers, which are no quaternion
_STEMS = {
    "gyro": "gyro,gyr,gyroscope,gyros,g,w,omega,angular velocity,angular vel,ang vel,angvel,"
    "angular rate,rotation rate,rot rate,gyro rotation,gyro rate,rate,body rate,turn rate,w s,wb,"
    "ang rate,gy,as,pqr,gyro adc,un comp gyro",
    "accel": "a,acc,accel,accl,acceleration,accelerometer,accelerometer acceleration,"
    "linear acceleration,linear accel,lin acc,linacc,specific force,a s,total acceleration,fb,"
    "alpha,accel ln,accel wr,un comp acc,gforce,g force,f",
    "quaternion": "q,quat,quaternion,orientation,attitude quaternion,orientation quaternion,"
    "quaternions,qn2 b,rotation vector,game rotation vector",
    "position": ",pos,position,p,p r,t,translation",
    "velocity": "v,vel,velocity,linear velocity,linear,linear vel",
    "euler": "euler,euler angle,euler angles,eul,eul angle",
}
_FUSED = {
    "gyro": "g gyro gyr w omega",
    "accel": "a acc accel gforce",
    "quaternion": "q quat quaternion",
    "position": "pos t p",
    "velocity": "v vel",
    "euler": "euler",
}
_SCALARS = {
    "time": "time,times,t,stamp,timestamp,timestamps,time stamp,receipt,receipt time,elapsed time,"
    "elapsed,"
    "unix time,unixtime,epoch,logging time,datetime,date time,clock,tow,time of week,time utc,"
    "timestamp since1970,time since1970,rosbag time,sample time,seconds elapsed,"
    "week seconds,so w,sow,chip time,chiptime,sys time,clock offset time,"
    "timestamp unix,time since start,gpst,gpstime,ts,ts utc,elapsed realtime,utc time,"
    "app timestamp",
    "date": "date",
    "latitude": "lat,latitude,latit,lla 0",
    "longitude": "lon,lng,long,longitude,lla 1",
    "altitude": "alt,altitude,height,h,elevation,ele,hgt,alt ellipsoid,lla 2,height msl,h ell",
    "position:x": "east,easting,e,utm easting,utm east,utm e,utm x,pos e,position east,pos east,"
    "enu e,local east",
    "position:y": "north,northing,n,utm northing,utm north,utm n,utm y,pos n,position north,"
    "pos north,enu n,local north",
    "position:z": "up,u,enu u",
    "down": "down",
    "accel:x": "inline acc,longitudinal acc,longitudinal acceleration",
    "accel:y": "lateral acc,lateral acceleration",
    "accel:z": "vertical acc,vertical acceleration",
    "gyro:x": "rollrate,roll rate,rollspeed,roll speed,rate roll",
    "gyro:y": "pitchrate,pitch rate,pitchspeed,pitch speed,rate pitch",
    "gyro:z": "yawrate,yaw rate,yawspeed,yaw speed,rate yaw",
    "roll": "roll,phi,roll angle,angle x",
    "pitch": "pitch,pitch angle,angle y",
    "yaw": "yaw,psi,yaw angle,angle z",
    "theta": "theta",
    "heading": "heading,azimuth,azi,true heading,hdg,compass,compass heading,heading angle,"
    "heading true",
    "course": "course,cog,track,course over ground,bearing,track angle,ground course,true course,"
    "direction,head mot,g crs,gcrs,gps yaw",
    "speed": "speed,v,vel,velocity,ground speed,groundspeed,speed over ground,sog,spd,g speed,gpsv",
    "velocity_east": "ve,v e,vel e,v east,vel east,velocity east,velocity e,east velocity,"
    "speed east",
    "velocity_north": "vn,v n,vel n,v north,vel north,velocity north,velocity n,"
    "north velocity,speed north",
    "hdop": "hdop,h dop",
    "position_error": "epe,accuracy,horizontal accuracy,hacc,h acc,eph,horizontal error,"
    "position error,h accuracy,position accuracy",
    "sigma_east": "std e,std east,sigma e,sigma east,sde,sd e,sd east,east std,stddev east",
    "sigma_north": "std n,std north,sigma n,sigma north,sdn,sd n,sd north,north std,stddev north",
    "variance_east": "var e,var east,variance e,variance east,east variance",
    "variance_north": "var n,var north,variance n,variance north,north variance",
}


_RATES = "p q r"  # Of a body, as flight mechanics calls them: of all three only it is clear


def _known_names():
    """Return name -> kind, axis and what the names of one vector share."""
    known = {}
    for kind, names in _SCALARS.items():
        kind, _, axis = kind.partition(":")
        for name in names.split(","):
            lettered = axis and name.endswith(f" {axis}")
            shared = name[:-2] if lettered else "axes by name" if axis else name
            known[name] = kind, axis, shared
    for kind, stems in _STEMS.items():
        parts = _PARTS if kind == "quaternion" else {axis: axis for axis in "xyz"}
        for axis, signs in parts.items():
            for sign in signs.split():
                for stem in stems.split(","):
                    known[f"{stem} {sign}".strip()] = kind, axis, stem
            for stem in _FUSED[kind].split():
                if len(stem) > 2:
                    known[axis + stem] = kind, axis, stem
                fused = [axis, *(sign for sign in parts[axis].split() if sign.isdigit())]
                known.update({stem + sign: (kind, axis, stem) for sign in fused})
    known.update({sign: ("gyro", axis, _RATES) for sign, axis in zip("pqr", "xyz")})
    for unit in ("s", "ms", "us", "ns"):
        known.update({name: ("time", "", name) for name in _UNITS[unit].split()})
    return known


_KNOWN = _known_names()


@dataclass(frozen=True)
class Meaning:
    """What a column's name says.

    ``kind``: ``time``, ``date``, ``gyro``, ``accel``, ``quaternion``, ``euler``, ``position``,
    ``velocity``, ``down``, ``theta`` or the name of a quantity of column maps; ``axis``: of a
    vector or quaternion, else empty; ``stem``: the words without axis and unit: columns of one
    vector have the same. ``unit``:
    as column maps have it; empty if the name does not say one. ``origin``: words that only say
    where it comes from: the fewer, the plainer the name; ``numbered``: whether a number says the
    axis.
    """

    kind: str
    axis: str
    stem: str
    unit: str
    origin: tuple[str, ...]
    numbered: bool

    @property
    def of_imu(self) -> bool:
        """Whether the name says that this is the IMU's."""
        return not _RIG.isdisjoint(self.origin)

    @property
    def of_reference(self) -> bool:
        """Whether the name says that this is not the IMU's but of another source."""
        return not self.of_imu and not _OUTSIDE.isdisjoint(self.origin)


def meaning_of(name):
    """Understand the name of a column, with or without a unit: ``Gyroscope X (deg/s)``, ``q[0]``.

    Returns a Meaning, None if it is no name that is known.
    """
    text, stated = _PART.sub("imu", _DECORATION.sub("", name.strip())), ""
    match = _BRACKET.search(text)
    if match and not match["unit"].strip().isdigit():
        stated = canonical_unit(match["unit"])
        text = text[: match.start()]
        if not stated and "".join(words_of(match["unit"])) not in _CLOCKS:
            return None
    words = words_of(text)
    # The words of a unit stand before the number of an axis.
    number = words[-1:] if words and words[-1].isdigit() else []
    plain = words[: len(words) - len(number)]
    for tail in range(3 if not stated else 0, -1, -1):
        unit = _unit_of(plain[-tail:]) if tail else stated
        found = _look_up(plain[: len(plain) - tail] + number, unit) if unit or not tail else None
        if found:
            return found
    return None


def _unit_of(words):
    """Return the unit that words are, ``deg per s``; empty if they are none."""
    if len(words) == 3 and words[1] == "per":
        return canonical_unit(f"{words[0]}/{words[2]}")
    return _ENDINGS.get(tuple(words), "")


_TIME_WORDS = frozenset(["time", "times", "timestamp", "timestamps", "stamp", "stamps"])


def _plainly_a_time(name):
    match = _BRACKET.search(name)
    words = words_of(name[: match.start()] if match else name)
    if _TIME_WORDS.isdisjoint(words):
        return None
    unit = canonical_unit(match["unit"] if match else words[-1])
    unit = unit if unit in _KIND_UNITS["time"] else ""
    return Meaning("time", "", " ".join(words), unit, (), False)


def is_time(name) -> bool:
    """Return whether a column is a time by its name."""
    meaning = meaning_of(name) or _plainly_a_time(name)
    return meaning is not None and meaning.kind == "time"


def words_of(name) -> list[str]:
    """Return the words of a name in lower case: ``horizontalAccuracy`` has two."""
    return _WORD.findall(_HUMP.sub(" ", name).lower())


def canonical_unit(text) -> str:
    """Return a unit as column maps have it, empty if it is not known; no unit is ``1``."""
    text = re.sub(r"\s+", "", text).lower()
    return _CANONICAL.get(text) or _CANONICAL.get(text.replace(".", ""), "")


def _look_up(words, unit):
    plain = [word for word in words if _origin(word) not in _ORIGINS]
    text = " ".join(plain)
    found, numbered = _KNOWN.get(" ".join(words)) or _KNOWN.get(text), text[-1:].isdigit()
    if not found and numbered and plain[-1] in _NUMBERED:
        found = _KNOWN.get(" ".join([*plain[:-1], _NUMBERED[plain[-1]]]))
        found = found and (found[0], "3" if plain[-1] == "3" else found[1], found[2])
    if not found and len(plain) > 1 and plain[0] in ("x", "y", "z") and len(plain[1]) > 2:
        found = _KNOWN.get(" ".join([*plain[1:], plain[0]]))
    if not found and any(len(word) > 3 and word.endswith("s") for word in plain):
        return _look_up(
            [word[:-1] if len(word) > 3 and word[-1] == "s" else word for word in words], unit
        )
    if not found:
        return None
    kind, axis, shared = found
    if kind == "position" and not shared and unit and unit not in _KIND_UNITS[kind]:
        kind = next((one for one in _BY_UNIT if _fitting_unit(one, unit, text)), kind)
    unit = _fitting_unit(kind, unit, text)
    if unit is None:
        return None
    of = [word for word in words if _origin(word) in _ORIGINS]
    stem = " ".join([*of, shared] if axis else words).strip()
    return Meaning(kind, axis, stem, unit, tuple(map(_origin, of)), numbered)


def _origin(word):
    """Return a word without the number of the unit that it names, ``imu`` of ``imu0``."""
    return word.rstrip("0123456789")


def _fitting_unit(kind, unit, text):
    """Return the unit, empty if none is said, None if such a quantity cannot have it."""
    if not unit:
        return _CANONICAL.get(text, "") if kind == "time" else ""
    possible = _KIND_UNITS[kind]
    whole = "m/s^2" if (kind, unit) == ("accel", "ms") else _SHORT.get(unit)
    unit = whole if whole in possible and unit not in possible else unit
    return unit if unit in possible else None


_NOT_MEASURED = frozenset(
    ["setpoint", "setpoints", "sp", "target", "desired", "demanded", "command", "control"]
    + ["controls", "limits", "status", "bias", "error", "errors", "innovation", "innovations"]
    + ["test", "variance", "variances", "uncalibrated", "params", "mission", "waypoint", "home"]
    + ["xkf1", "xkf2", "nkf1", "nkf2", "ekf1", "ekf2", "estimator", "ctrl", "ratios"]
    + ["event", "annotation", "magnetometer", "mag", "magnetic", "gravity", "barometer"]
)
"""Words in the name of a table, none of whose columns is a measurement of motion or place, but for
those that their own full name says."""
_PLACES = _OUTSIDE.union(["position", "positions", "local", "path", "trajectory"])
"""Words in the name of a table whose x, y, z are positions."""


def meaning_in(table, column):
    """Understand the name of a column in a table of several: ``Gyroscope`` and ``x``.

    Together they may say what neither says alone; else the column has to say it. Returns as
    :func:`meaning_of`.
    """
    table = table.replace(WITH_GRAVITY, "")
    together, alone = meaning_of(f"{table} {column}"), meaning_of(column)
    if together or alone is None or alone.kind in ("time", "date"):
        return together or alone
    words = words_of(table)
    bare = alone.kind == "position" and not alone.stem
    if bare and _NOT_MEASURED.isdisjoint(words):
        # Words before may be of a file: 20240101_gyro.csv
        together = _by_last_words(words, column)
        if together:
            return together
    if not _NOT_MEASURED.isdisjoint(words) or (bare and _PLACES.isdisjoint(words)):
        return None
    origin = tuple(word for word in words if word in _ORIGINS)
    return replace(alone, origin=alone.origin + origin)


def meaning_in_file(path, name):
    """Understand the name of a column; of x alone in ``my_gyroscope.csv`` by the file's, too."""
    alone = meaning_of(name)
    if alone is None or alone.kind != "position" or alone.stem:
        return alone
    return _by_last_words(words_of(Path(path).name.split(".")[0]), name) or alone


def _by_last_words(words, name):
    """Return what an axis of a sensor is by the last words of its file's name, or None."""
    for place in (k for k in range(len(words)) if len(words[k]) > 2):
        together = meaning_of(" ".join([*words[place:], name]))
        if together and together.kind in ("gyro", "accel"):
            return together
    return None


_STAMP = ["stamp.sec", "stamp.nanosec", ""]
_POSE = [f"position.{axis}" for axis in "xyz"] + [f"orientation.{axis}" for axis in "xyzw"]
_INERTIAL = [[""] * 9 + [f"{of}.{axis}" for axis in "xyz"] for of in ("gyro", "accel")]
_ECHOED = {
    len(names): names
    for names in (
        _STAMP + _POSE,
        [*_STAMP, "", *_POSE, *[""] * 78],
        _STAMP + _POSE[3:] + _INERTIAL[0] + _INERTIAL[1] + [""] * 9,
    )
}
"""What ``ros2 topic echo --csv`` prints of PoseStamped, Odometry and Imu, by how many they are."""


def names_said(source, names, columns) -> list[str]:
    """Return the names of columns; of a sensor's file without any, of an axis each and a time.

    ``columns`` are their values; of four the one that grows is the time. GoPro's telemetry names
    the first of z, x, y and numbers the others; of which axes these are where that says none,
    depends on the camera.
    """
    if "1" in names[1:] and "2" in names:
        first = names[names.index("1") - 1]
        known = meaning_of(first) or meaning_of(first.replace(" [", " z ["))
        if known and known.axis == "z":
            parts = [first.replace("(z)", f"({axis})") * ("(z)" in first) for axis in "xy"]
            return [{"1": parts[0], "2": parts[1]}.get(name, name) for name in names]
    if [f"col{k}" for k in range(1, len(names) + 1)] != names:
        return names
    if len(names) in _ECHOED and not pd.to_numeric(columns[2], errors="coerce").any():
        return _ECHOED[len(names)]
    if len(names) not in (3, 4) or not is_axis_of(source, "x"):
        return names
    axes = iter("xyz")
    grows = [k for k, one in enumerate(columns) if pd.Series(one).is_monotonic_increasing]
    return [
        "time" if len(names) == 4 and k in grows[:1] else next(axes, "") for k in range(len(names))
    ]


def is_axis_of(path, name) -> bool:
    """Return whether x, y or z is a sensor's, of a file that is called ``gyro.csv``."""
    meaning = meaning_in_file(path, name) if name in ("x", "y", "z") else None
    return meaning is not None and meaning.kind != "position"


# Share of rows, of those that the fullest such column has, that a column must fill.
_MIN_FILLED = 0.3


@dataclass(frozen=True, eq=False)
class Candidate:
    """A column that may be mapped; its ``place`` is counted from 1.

    ``values`` (n,) are nan where there is none, of text all; ``texts`` (n,) are those of text.
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

    @property
    def mapped(self) -> str:
        """What a column map calls it: its place if a map cannot hold its name."""
        plain = self.name and not any(sign in self.name for sign in ";\"'\n\r#%=")
        return self.name if plain else f"col{self.place}"

    def written(self, unit, words="", factor="") -> str:
        """Return the column as a column map has it."""
        return f"{self.mapped}{factor} [{unit}{' ' if words else ''}{words}]"


# In any unit: nanoseconds since 1970 have 19 digits. What is larger is no sample but a fault.
_LARGEST_NUMBER = 1e20


def candidates_of(names, values, meanings=None, before=0):
    """Return a Candidate for each column of a table; its values (n,) are numbers or texts.

    ``meanings``: of the names, if they are known; ``before``: how many columns are before them.
    """
    found = []
    meanings = [meaning_of(str(name)) for name in names] if meanings is None else meanings
    for place, (name, column) in enumerate(zip(names, values)):
        column = pd.Series(column)
        numbers = pd.to_numeric(column, errors="coerce").astype(float)
        numbers = numbers.where(np.abs(numbers) <= _LARGEST_NUMBER).to_numpy()
        texts = None
        if not pd.api.types.is_numeric_dtype(column):
            texts = column.where(column.notna(), "").astype(str).str.strip().to_numpy()
            if np.mean(np.isfinite(numbers)) >= 0.95 * np.mean(texts != ""):
                texts = None
        found.append(Candidate(str(name), before + place + 1, meanings[place], numbers, texts))
    return found


def with_a_time(candidates):
    """Return candidates of which one is a time, if a name has the word: ``rover_time_us``.

    Where the name of one is known as a time, such words may be of anything: ``exposure_time``.
    """
    if any(_is(candidate, kind) for candidate in candidates for kind in ("time", "date")):
        return candidates
    return [c if c.meaning else replace(c, meaning=_plainly_a_time(c.name)) for c in candidates]


def best_scalar(candidates, kind):
    """Return the plainest and fullest column of numbers of a kind, or None."""
    found = [c for c in candidates if _is(c, kind) and c.texts is None and c.filled > 0.0]
    return min(found, key=_rank, default=None)


def vectors(candidates, kind, axes):
    """Return groups of columns, by axis, that are one vector, the plainest and fullest first.

    ``axes`` are those that it must have, one letter each. Groups that are empty, or zero
    throughout, are left out.
    """
    groups = {}
    for candidate in candidates:
        if _is(candidate, kind) and candidate.texts is None and candidate.filled > 0.0:
            meaning = candidate.meaning
            groups.setdefault(meaning.stem, {}).setdefault(meaning.axis, candidate)
    complete = [
        group
        for stem, group in zip(groups, map(_from_0, groups.values()))
        if set("xyz" if stem == _RATES else axes) <= set(group)
        and "matrix" not in group
        and not all(c.silent for c in group.values())
    ]
    return sorted(complete, key=lambda group: _rank(next(iter(group.values()))))


def _from_0(group):
    """Return a vector's columns by axis, also where the file counts its axes from 1."""
    if "3" not in group:
        return group
    counted = {"y": "x", "z": "y", "3": "z"}
    return {counted[axis]: group[axis] for axis in counted if axis in group}


def quaternions(candidates):
    """Return groups as :func:`vectors` of quaternions, by the axes that their names say.

    Of parts that are numbered from 1 the first is the scalar.
    """
    counted = [
        dict(zip("wxyz", (group[number] for number in "xyz4")))
        for group in vectors(candidates, "quaternion", "xyz4")
        if "w" not in group
    ]
    return vectors(candidates, "quaternion", "wxyz") + counted


def fullest_first(groups):
    """Drop groups that fill far fewer rows than the fullest one."""
    most = max((next(iter(group.values())).filled for group in groups), default=0.0)
    return [g for g in groups if next(iter(g.values())).filled >= _MIN_FILLED * most]


def matrix(columns) -> np.ndarray:
    """Return values of columns side by side, shape (n, len(columns))."""
    return np.column_stack([column.values for column in columns])


def shared_unit(columns):
    """Return the unit that names of columns say: empty if none does, None if they contradict."""
    units = {column.meaning.unit for column in columns if column.meaning} - {""}
    return None if len(units) > 1 else "".join(units)


def _is(candidate, kind):
    return candidate.meaning is not None and candidate.meaning.kind == kind


def _rank(candidate):
    return -round(candidate.filled, 1), len(candidate.meaning.origin), candidate.place
