"""The quantities that a column map can name, and the units in which they can be.

One table, from which files are read and the list in the documentation is made.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Mapping

from imu_simulation_framework.columns import ACCEL, GYRO, MAG, QUATERNION
from imu_simulation_framework.units import factor, factors

ISO_TIME = "iso8601"
NMEA_DEGREES = "ddmm.mmmm"

_TIME = factors("s", "ms", "us", "ns", "min")
_LENGTH = factors("m", "km", "cm", "mm", "ft")
_ANGLE = factors("rad", "mrad", "deg")
_RATE = factors("rad/s", "rad s^-1", "mrad/s", "deg/s", "dps", "rpm")
_ACCELERATION = factors("m/s^2", "m/s2", "m s^-2", "g", "mg")
_VELOCITY = {
    **factors("m/s", "cm/s", "mm/s", "km/h", "mph", "kn", "knots"),
    "ft/s": factor("ft"),
    "fps": factor("ft"),
}
_VARIANCE = factors("m^2", "m2", "cm^2", "mm^2")
_FIELD = factors("T", "uT", "nT", "G", "mG")
_CELSIUS = {"degC": 1.0}
_GLOBAL = {"deg": 1.0, "rad": 1.0 / factor("deg"), NMEA_DEGREES: 1.0}
_NUMBER = factors("1", "")


@dataclass(frozen=True)
class Quantity:
    """What a column can hold.

    Attributes
    ----------
    name : str
        Key of the column map.
    meaning : str
    units : mapping of str to float
        Unit -> factor to the first one, which is this package's.
    column : str
        Its column in :class:`.Samples`, where that has another name.
    power : int
        To which its value is raised to get there: a standard deviation becomes a variance.
    words : bool
        Whether words behind the unit say sense and zero of the angle.
    yaw_convention : str
        Sense and zero of the angle without words; empty if the recording's conventions say it.
    """

    name: str
    meaning: str
    units: Mapping[str, float]
    column: str = ""
    power: int = 1
    words: bool = False
    yaw_convention: str = ""

    @property
    def target(self) -> str:
        """Its column in :class:`.Samples`."""
        return self.column or self.name


def _several(names, meaning, units):
    return [Quantity(name, meaning.format(name[-1]), units) for name in names]


_TABLE = [
    Quantity("time", "time of the sample, on any clock", {**_TIME, ISO_TIME: 1.0}),
    *_several("xyz", "position along the world's {}", _LENGTH),
    *_several(QUATERNION, "quaternion, {}", _NUMBER),
    Quantity("roll", "rotation about x", _ANGLE),
    Quantity("pitch", "rotation about y", _ANGLE),
    Quantity(
        "yaw",
        "rotation about z, as the conventions are unless it says otherwise",
        _ANGLE,
        words=True,
    ),
    Quantity(
        "heading",
        "yaw, clockwise from north unless it says otherwise",
        _ANGLE,
        column="yaw",
        words=True,
        yaw_convention="cw_from_north",
    ),
    *_several(GYRO, "angular velocity about {}", _RATE),
    *_several(ACCEL, "specific force along {}, +9.8 m/s^2 upwards at rest", _ACCELERATION),
    *_several(MAG, "magnetic flux density along {}", _FIELD),
    Quantity("temperature", "of the sensor", _CELSIUS),
    Quantity("latitude", "WGS 84, north positive", _GLOBAL),
    Quantity("longitude", "WGS 84, east positive", _GLOBAL),
    Quantity("altitude", "above the ellipsoid", _LENGTH),
    Quantity("variance_east", "of the position to the east", _VARIANCE),
    Quantity("variance_north", "of the position to the north", _VARIANCE),
    Quantity("sigma_east", "standard deviation, to the east", _LENGTH, "variance_east", 2),
    Quantity("sigma_north", "standard deviation, to the north", _LENGTH, "variance_north", 2),
    Quantity("position_error", "the receiver's own estimate (epe)", _LENGTH),
    Quantity("hdop", "horizontal dilution of precision", _NUMBER),
    Quantity("status", "below 0: no fix, as in sensor_msgs/NavSatStatus", _NUMBER),
    Quantity("covariance_type", "0: variances are not known, as in NavSatFix", _NUMBER),
    Quantity("speed", "over ground, by the receiver's Doppler", _VELOCITY),
    Quantity(
        "course",
        "over ground, clockwise from north unless it says otherwise",
        _ANGLE,
        words=True,
        yaw_convention="cw_from_north",
    ),
    Quantity("velocity_east", "by the receiver's Doppler", _VELOCITY),
    Quantity("velocity_north", "by the receiver's Doppler", _VELOCITY),
    Quantity("velocity_up", "of an aircraft", _VELOCITY),
    Quantity("velocity_down", "of an aircraft", _VELOCITY),
]

QUANTITIES = {quantity.name: quantity for quantity in _TABLE}
"""Name -> :class:`Quantity`."""

ANGLE_WORDS = {
    "ccw from east": "ccw_from_east",
    "cw from north": "cw_from_north",
    "ccw from north": "ccw_from_north",
    "cw from east": "cw_from_east",
    "ccw": "ccw_from_east",
    "cw": "cw_from_north",
}
"""Words behind the unit of an angle in the horizontal -> its convention."""

_POSE = ("time", "x", "y", "z", *QUATERNION, "roll", "pitch", "yaw", "heading")
_GLOBE = ("latitude", "longitude", "altitude")
_FIX = (
    "time",
    *(quantity.name for quantity in _TABLE[_TABLE.index(QUANTITIES["latitude"]) :]),
    *QUATERNION,
    "yaw",
    "heading",
)
_ALOFT = ("velocity_up", "velocity_down")
_FIX = tuple(name for name in _FIX if name not in _ALOFT)
_POSITIONS = ("time", "x", "y", "z", *(name for name in _FIX if name not in ("time", *_GLOBE)))
_FLIGHT = (
    *_POSE,
    *_GLOBE,
    "velocity_east",
    "velocity_north",
    *_ALOFT,
)
_IMU = ("time", *QUATERNION, "roll", "pitch", "yaw", "heading", *GYRO, *ACCEL)

USES = {
    "poses": _POSE,
    "positions": _POSITIONS,
    "fixes": _FIX,
    "IMU": _IMU,
    "flight": _FLIGHT,
    "magnetometer": ("time", *MAG),
    "thermometer": ("time", "temperature"),
}
"""What each kind of recording can use."""


def documentation() -> str:
    """Return the table as Markdown."""
    kinds = list(USES)
    lines = [
        f"| quantity | meaning | units, the first if none is given | {' | '.join(kinds)} |",
        f"| --- | --- | --- | {' | '.join('---' for _ in kinds)} |",
    ]
    for quantity in _TABLE:
        units = ", ".join(f"`{unit}`" for unit in quantity.units if unit)
        uses = " | ".join("x" if quantity.name in USES[kind] else "" for kind in kinds)
        lines.append(f"| `{quantity.name}` | {quantity.meaning} | {units} | {uses} |")
    words = ", ".join(f"`{text}`" for text in ANGLE_WORDS)
    angles = ", ".join(f"`{quantity.name}`" for quantity in _TABLE if quantity.words)
    lines += ["", f"Words behind the unit of {angles}: {words}."]
    return "\n".join(lines)
