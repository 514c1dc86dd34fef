"""Decoding of JSBSim packets: labelled text, or FlightGear structure in network byte order.

**Text** (``<output type="SOCKET" protocol="UDP" ...>``): the first packet, ``<LABELS>``, names the
columns. Each following packet is a row of numbers with ``precision`` significant digits, by default
7. Columns are recognised by the names of JSBSim properties, or by the labels of the groups
``<position>`` and ``<velocities>``.

**FlightGear** (``type="FLIGHTGEAR"``): FGNetFDM, version 24, 408 bytes, big-endian
(``src/input_output/net_fdm.hxx`` and ``FGOutputFG.cpp`` of JSBSim 1.2.2 to 1.3.3). Latitude,
longitude and height are doubles, angles and velocities floats. The packet has a time only if the
output element contains ``<time type="simulation" resolution="1e-6"/>``; without it, the time field
is 1234567890.

Heights above sea level are radial in both formats: the distance from the centre of the Earth minus
the radius of the ellipsoid below. They are smaller than heights above the ellipsoid by a relative
difference of up to 6e-6. The group ``<position>`` in text packets has the *geocentric* latitude.
The geodetic latitudes and heights in both formats differ by 5e-5 m from the integrated positions,
which are in the properties ``position/ecef-x-ft``, ``ecef-y-ft`` and ``ecef-z-ft``.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from typing import Mapping, Sequence

import numpy as np

from ..core.sentences import join_names
from ..motion.earth import SEMI_MAJOR_AXIS, SEMI_MINOR_AXIS, ecef_of

_FOOT, _DEGREE = 0.3048, math.pi / 180.0
LABELS = b"<LABELS>"

FLIGHTGEAR_VERSION = 24
FLIGHTGEAR_SIZE = 408
"""Size of a FlightGear packet [bytes]."""
NO_TIME = 1234567890
# Fields: version, padding; longitude, latitude, altitude; agl, phi, theta, psi, alpha, beta,
# three Euler rates, airspeed, climb, v_north, v_east, v_down.
_FLIGHTGEAR = struct.Struct(">II3d14f")
_TIME_OFFSET = 356  # bytes

_UNITS = {"rad": 1.0, "deg": _DEGREE, "ft": _FOOT, "km": 1000.0, "meters": 1.0, "fps": _FOOT}
_PROPERTIES = {
    "lat-geod": "latitude",
    "lat-gc": "geocentric_latitude",
    "long-gc": "longitude",
    "geod-alt": "height",
    "h-sl": "radial_height",
    **{f"ecef-{axis}": f"ecef_{axis}" for axis in "xyz"},
    **{f"v-{direction}": f"velocity_{direction}" for direction in ("north", "east", "down")},
    **dict.fromkeys(("phi", "roll"), "roll"),
    **dict.fromkeys(("theta", "pitch"), "pitch"),
    **dict.fromkeys(("psi", "heading-true"), "heading"),
}
"""Quantity by JSBSim property name (without path prefix and unit suffix)."""
_GROUP_LABELS: Mapping[str, tuple[str, float]] = {
    "Time": ("time", 1.0),
    "sim-time-sec": ("time", 1.0),
    "Latitude (deg)": ("geocentric_latitude", _DEGREE),
    "Longitude (deg)": ("longitude", _DEGREE),
    "Altitude": ("radial_height", _FOOT),
    "Vn": ("velocity_north", _FOOT),
    "Ve": ("velocity_east", _FOOT),
    "Vd": ("velocity_down", _FOOT),
    "Phi (deg)": ("roll", _DEGREE),
    "Tht (deg)": ("pitch", _DEGREE),
    "Psi (deg)": ("heading", _DEGREE),
}
VELOCITY = ("velocity_north", "velocity_east", "velocity_down")
ATTITUDE = ("roll", "pitch", "heading")
_ECEF = ("ecef_x", "ecef_y", "ecef_z")
_LARGEST = {
    "latitude": 0.5 * math.pi,
    "geocentric_latitude": 0.5 * math.pi,
    "longitude": 4.0 * math.pi,
    **dict.fromkeys(ATTITUDE, 4.0 * math.pi),
    **dict.fromkeys(VELOCITY, 1e5),
}
_LARGEST_VALUE = 1e9  # SI units; a position beyond the Moon, or a time of 30 years
_MIN_RADIUS = 1e6  # m; smallest plausible distance from the centre of the Earth
ANGLES_OF_PLACES = ("latitude", "geocentric_latitude", "longitude")
PLACES = (*ANGLES_OF_PLACES, "height", "radial_height", *_ECEF)


class UnusablePacketError(ValueError):
    """Error raised for a packet of another program, or for one without the required data."""


@dataclass(frozen=True)
class TextColumns:
    """Columns of a text packet that are used for a flight.

    Attributes
    ----------
    width : int
        Number of columns in a packet.
    places : mapping of str to (int, float)
        Column index of each quantity, and its conversion factor to SI units.
    """

    width: int
    places: Mapping[str, tuple[int, float]]

    @classmethod
    def from_labels(cls, labels: Sequence[str]) -> TextColumns:
        """Map column labels to quantities; the first column must be the time.

        Parameters
        ----------
        labels : sequence of str
            Labels of all columns.

        Returns
        -------
        TextColumns

        Raises
        ------
        UnusablePacketError
            A required quantity is missing.
        """
        places: dict[str, tuple[int, float]] = {"time": (0, 1.0)}
        for column, label in enumerate(labels[1:], start=1):
            quantity, factor = _GROUP_LABELS.get(label, ("", 1.0))
            name, _, unit = label.rpartition("/")[2].rpartition("-")
            if name in _PROPERTIES and unit in _UNITS:
                quantity, factor = _PROPERTIES[name], _UNITS[unit]
            # A single property and an output group may contain the same quantity.
            if quantity and quantity not in places:
                places[quantity] = (column, factor)
        has_latitude = {"latitude", "geocentric_latitude"} & set(places) and "longitude" in places
        has_position = all(name in places for name in _ECEF) or (
            has_latitude and {"height", "radial_height"} & set(places)
        )
        missing = [name for name in ATTITUDE if name not in places]
        if not has_position or missing:
            missing = ([] if has_position else ["a position"]) + missing
            raise UnusablePacketError(
                f"the labels {join_names(labels)} do not contain {join_names(missing)}"
            )
        return cls(len(labels), places)

    def numbers(self, packet: bytes) -> dict[str, float]:
        """Decode the quantities in a text packet.

        Parameters
        ----------
        packet : bytes
            Text packet.

        Returns
        -------
        dict of str to float
            Quantities in SI units.

        Raises
        ------
        UnusablePacketError
            The number of columns differs, or a value is not a number or implausible.
        """
        cells = packet.decode("ascii", errors="replace").split(",")
        if len(cells) != self.width:
            raise UnusablePacketError(f"it has {len(cells)} columns, expected {self.width}")
        values = {}
        for name, (column, factor) in self.places.items():
            try:
                values[name] = factor * float(cells[column])
            except ValueError:
                raise UnusablePacketError(f"column {column + 1} is not a number") from None
        _require_plausible(values)
        return values

    def digits(self, packet: bytes) -> int:
        """Return the largest number of significant digits in a text packet.

        Parameters
        ----------
        packet : bytes
            Text packet.

        Returns
        -------
        int
            Number of significant digits.
        """
        cells = packet.decode("ascii", errors="replace").split(",")
        return max(
            len(cell.strip().lower().partition("e")[0].replace(".", "").lstrip("+-0"))
            for cell in cells
        )

    def step(self, name: str, values: np.ndarray, digits: int) -> float:
        """Return the column resolution, the place value of the last digit of the largest number.

        JSBSim omits trailing zeros, so that a single number may show too few digits.

        Parameters
        ----------
        name : str
            Quantity of the column.
        values : ndarray, shape (n,)
            Values in SI units.
        digits : int
            Largest number of significant digits in all packets.

        Returns
        -------
        float
            Resolution in SI units.
        """
        factor = self.places[name][1]
        largest = float(np.max(np.abs(values))) / factor
        return factor * 10.0 ** (math.floor(math.log10(largest)) + 1 - digits) if largest else 0.0


def read_labels(packet: bytes) -> list[str] | None:
    """Return the labels of a text packet.

    Parameters
    ----------
    packet : bytes
        Any packet.

    Returns
    -------
    list of str or None
        Labels, or None for any other packet.
    """
    if not packet.startswith(LABELS):
        return None
    text = packet[len(LABELS) :].decode("utf-8", errors="replace").strip()
    return [label.strip() for label in text.lstrip(",").split(",")]


def is_flightgear(packet: bytes) -> bool:
    """Return whether a packet has the size and the version of the FlightGear structure.

    Parameters
    ----------
    packet : bytes
        Any packet.

    Returns
    -------
    bool
        Whether it is a FlightGear packet.
    """
    return len(packet) == FLIGHTGEAR_SIZE and packet[:4] == struct.pack(">I", FLIGHTGEAR_VERSION)


def decode_flightgear(packet: bytes, resolution: float) -> dict[str, float]:
    """Decode the quantities in a FlightGear packet.

    Parameters
    ----------
    packet : bytes
        Packet of ``FLIGHTGEAR_SIZE`` bytes.
    resolution : float
        Resolution in the output element ``<time type="simulation">`` [s].

    Returns
    -------
    dict of str to float
        Quantities in SI units, without ``time`` if the packet has none.

    Raises
    ------
    UnusablePacketError
        A value is implausible.
    """
    _, _, longitude, latitude, height, *floats = _FLIGHTGEAR.unpack_from(packet)
    values = {"longitude": longitude, "latitude": latitude, "radial_height": height}
    values.update(zip(ATTITUDE, floats[1:4]))
    values.update(zip(VELOCITY, (_FOOT * value for value in floats[11:14])))
    _require_plausible(values)
    (counts,) = struct.unpack_from(">I", packet, _TIME_OFFSET)
    if counts != NO_TIME:
        values["time"] = counts * resolution
    return values


def _require_plausible(values) -> None:
    """Reject implausible or non-finite values, which result from damaged packets."""
    for name, value in values.items():
        largest = _LARGEST.get(name, _LARGEST_VALUE)
        if not abs(value) <= largest:
            raise UnusablePacketError(f"its {name} is {value:g}, expected at most {largest:.6g}")
    if all(name in values for name in _ECEF):
        radius = math.hypot(*(values[name] for name in _ECEF))
        if radius < _MIN_RADIUS:
            raise UnusablePacketError(
                f"its distance from the Earth's centre is {radius:g} m, expected at least "
                f"{_MIN_RADIUS:g} m"
            )


def ecef_positions(columns: Mapping[str, np.ndarray]) -> np.ndarray:
    """Compute ECEF positions from the decoded columns.

    Parameters
    ----------
    columns : mapping of str to ndarray, shape (n,)
        ``ecef_x``, ``ecef_y``, ``ecef_z`` [m]; or ``latitude`` or ``geocentric_latitude`` and
        ``longitude`` [rad] with ``height`` or ``radial_height`` [m].

    Returns
    -------
    ndarray, shape (n, 3)
        Positions [m].
    """
    if all(name in columns for name in _ECEF):
        return np.column_stack([columns[name] for name in _ECEF])
    longitude = columns["longitude"]
    if "latitude" in columns:
        latitude = columns["latitude"]
        if "height" in columns:
            return ecef_of(latitude, longitude, columns["height"])
        height = columns["radial_height"]
        for _ in range(3):  # Each iteration reduces the error by a factor of 1e5.
            position = ecef_of(latitude, longitude, height)
            radius = np.linalg.norm(position, axis=-1)
            level = _ellipsoid_radius(position / radius[:, np.newaxis])
            height = height + columns["radial_height"] - (radius - level)
        return ecef_of(latitude, longitude, height)
    latitude = columns["geocentric_latitude"]
    level = np.cos(latitude)
    direction = np.stack(
        [level * np.cos(longitude), level * np.sin(longitude), np.sin(latitude)], axis=-1
    )
    height = columns["radial_height" if "radial_height" in columns else "height"]
    return (_ellipsoid_radius(direction) + height)[:, np.newaxis] * direction


def _ellipsoid_radius(direction):
    """Return the distance from the Earth's centre to the ellipsoid along unit vectors (n, 3)."""
    equatorial = (direction[..., 0] ** 2 + direction[..., 1] ** 2) / SEMI_MAJOR_AXIS**2
    return 1.0 / np.sqrt(equatorial + direction[..., 2] ** 2 / SEMI_MINOR_AXIS**2)
