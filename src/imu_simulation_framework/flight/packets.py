"""What is in JSBSim's packets: text with labels, or FlightGear's structure in network order.

**Text** (``<output type="SOCKET" protocol="UDP" ...>``): the first packet, ``<LABELS>``, names the
columns; each of the others is a row of numbers with ``precision`` significant digits, 7 unless the
output's element says otherwise. Columns are known by the names of JSBSim's properties, or by the
words of its groups ``<position>`` and ``<velocities>``.

**FlightGear** (``type="FLIGHTGEAR"``): FGNetFDM, version 24, 408 bytes, big-endian
(``src/input_output/net_fdm.hxx`` and ``FGOutputFG.cpp`` of JSBSim 1.2.2 to 1.3.3). Latitude,
longitude and height are doubles, angles and velocities floats. It has a time only where the
output's element holds ``<time type="simulation" resolution="1e-6"/>``; without, the field is
1234567890.

Heights above the sea are radial in both: the distance to Earth's centre less that of the ellipsoid
below, which is by up to 6e-6 of itself less than the height that a receiver says. The text's group
``<position>`` has the *geocentric* latitude. JSBSim's geodetic latitudes and heights, in either,
are 5e-5 m from the positions that it integrates, which ``position/ecef-x-ft`` and its like say.
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
"""Of a packet [bytes]."""
NO_TIME = 1234567890
# Version and padding; longitude, latitude, altitude; agl, phi, theta, psi, alpha, beta, three Euler
# rates, airspeed, climb, v_north, v_east, v_down.
_FLIGHTGEAR = struct.Struct(">II3d14f")
_TIME_AT = 356

_UNITS = {"rad": 1.0, "deg": _DEGREE, "ft": _FOOT, "km": 1000.0, "meters": 1.0, "fps": _FOOT}
_PROPERTIES = {
    "lat-geod": "latitude",
    "lat-gc": "geocentric_latitude",
    "long-gc": "longitude",
    "geod-alt": "height",
    "h-sl": "radial_height",
    **{f"ecef-{axis}": f"ecef_{axis}" for axis in "xyz"},
    **{f"v-{way}": f"velocity_{way}" for way in ("north", "east", "down")},
    **dict.fromkeys(("phi", "roll"), "roll"),
    **dict.fromkeys(("theta", "pitch"), "pitch"),
    **dict.fromkeys(("psi", "heading-true"), "heading"),
}
"""What properties are called without their folder, and without their unit behind it."""
_WORDS: Mapping[str, tuple[str, float]] = {
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
_LARGEST_OF_ALL = 1e9  # in SI units: a place further away than the moon, a time of 30 years
_MIN_RADIUS = 1e6  # from Earth's centre [m]
ANGLES_OF_PLACES = ("latitude", "geocentric_latitude", "longitude")
PLACES = (*ANGLES_OF_PLACES, "height", "radial_height", *_ECEF)


class UnusablePacketError(ValueError):
    """A packet that is none of JSBSim's, or has too little in it; its text is half a sentence."""


@dataclass(frozen=True)
class TextColumns:
    """Which columns of packets of text are of use.

    ``width``: columns in a packet. ``places``: quantity -> its column, and the factor to SI units.
    """

    width: int
    places: Mapping[str, tuple[int, float]]

    @classmethod
    def of_labels(cls, labels: Sequence[str]) -> TextColumns:
        """Understand labels; the first column is the time, whatever it is called.

        Raises UnusablePacketError if something that a flight needs is not among them.
        """
        places: dict[str, tuple[int, float]] = {"time": (0, 1.0)}
        for place, label in enumerate(labels[1:], start=1):
            quantity, factor = _WORDS.get(label, ("", 1.0))
            name, _, unit = label.rpartition("/")[2].rpartition("-")
            if name in _PROPERTIES and unit in _UNITS:
                quantity, factor = _PROPERTIES[name], _UNITS[unit]
            # A property may say again what a word of a group has said.
            if quantity and quantity not in places:
                places[quantity] = (place, factor)
        across = {"latitude", "geocentric_latitude"} & set(places) and "longitude" in places
        place_known = all(name in places for name in _ECEF) or (
            across and {"height", "radial_height"} & set(places)
        )
        missing = [name for name in ATTITUDE if name not in places]
        if not place_known or missing:
            lacking = ([] if place_known else ["a position"]) + missing
            raise UnusablePacketError(
                f"the labels have no {' and no '.join(lacking)}; they are {join_names(labels)}"
            )
        return cls(len(labels), places)

    def numbers(self, packet: bytes) -> dict[str, float]:
        """Return the quantities of a packet in SI units.

        Raises UnusablePacketError if it has another number of columns, one is no number, or one is
        nothing that an aircraft has.
        """
        cells = packet.decode("ascii", errors="replace").split(",")
        if len(cells) != self.width:
            raise UnusablePacketError(f"it has {len(cells)} columns, expected {self.width}")
        values = {}
        for name, (place, factor) in self.places.items():
            try:
                values[name] = factor * float(cells[place])
            except ValueError:
                raise UnusablePacketError(f"its column {place + 1} is no number") from None
        _require_plausible(values)
        return values

    def digits(self, packet: bytes) -> int:
        """Return how many significant digits the numbers of a packet have at most."""
        cells = packet.decode("ascii", errors="replace").split(",")
        return max(
            len(cell.strip().lower().partition("e")[0].replace(".", "").lstrip("+-0"))
            for cell in cells
        )

    def step(self, name: str, values: np.ndarray, digits: int) -> float:
        """Return what the last digit of one of the columns counts where it is largest, in SI units.

        JSBSim leaves zeros at a number's end out, so that one number alone does not tell.

        ``values`` (n,): in SI units. ``digits``: significant ones, of all numbers.
        """
        factor = self.places[name][1]
        largest = float(np.max(np.abs(values))) / factor
        return factor * 10.0 ** (math.floor(math.log10(largest)) + 1 - digits) if largest else 0.0


def labels_of(packet: bytes) -> list[str] | None:
    """Return the labels that a packet of text holds; None if it is another one."""
    if not packet.startswith(LABELS):
        return None
    text = packet[len(LABELS) :].decode("utf-8", errors="replace").strip()
    return [label.strip() for label in text.lstrip(",").split(",")]


def is_flightgear(packet: bytes) -> bool:
    """Return whether a packet has the size and version of FlightGear's structure."""
    return len(packet) == FLIGHTGEAR_SIZE and packet[:4] == struct.pack(">I", FLIGHTGEAR_VERSION)


def flightgear_numbers(packet: bytes, resolution: float) -> dict[str, float]:
    """Return the quantities of FlightGear's structure in SI units, without a time if it has none.

    ``packet``: of ``FLIGHTGEAR_SIZE``. ``resolution``: that of the output's ``<time
    type="simulation">`` [s]. Raises UnusablePacketError if one is nothing that an aircraft has.
    """
    _, _, longitude, latitude, height, *floats = _FLIGHTGEAR.unpack_from(packet)
    values = {"longitude": longitude, "latitude": latitude, "radial_height": height}
    values.update(zip(ATTITUDE, floats[1:4]))
    values.update(zip(VELOCITY, (_FOOT * value for value in floats[11:14])))
    _require_plausible(values)
    (counts,) = struct.unpack_from(">I", packet, _TIME_AT)
    if counts != NO_TIME:
        values["time"] = counts * resolution
    return values


def _require_plausible(values) -> None:
    """Refuse what no aircraft says, also what is not finite: packets may be damaged."""
    for name, value in values.items():
        largest = _LARGEST.get(name, _LARGEST_OF_ALL)
        if not abs(value) <= largest:
            raise UnusablePacketError(f"its {name} is {value:g}, expected at most {largest:.6g}")
    if all(name in values for name in _ECEF):
        radius = math.hypot(*(values[name] for name in _ECEF))
        if radius < _MIN_RADIUS:
            raise UnusablePacketError(f"it is {radius:g} m from Earth's centre")


def ecef_positions(columns: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return positions in ECEF of what packets say.

    ``columns`` (n,): ``ecef_x`` ... [m]; or ``latitude`` or ``geocentric_latitude`` and
    ``longitude`` [rad] with ``height`` or ``radial_height`` [m]. The result is (n, 3) [m].
    """
    if all(name in columns for name in _ECEF):
        return np.column_stack([columns[name] for name in _ECEF])
    longitude = columns["longitude"]
    if "latitude" in columns:
        latitude = columns["latitude"]
        if "height" in columns:
            return ecef_of(latitude, longitude, columns["height"])
        height = columns["radial_height"]
        for _ in range(3):  # each leaves 1e-5 of the error before
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
    """Return the distance of the ellipsoid from Earth's centre along unit vectors (n, 3)."""
    across = (direction[..., 0] ** 2 + direction[..., 1] ** 2) / SEMI_MAJOR_AXIS**2
    return 1.0 / np.sqrt(across + direction[..., 2] ** 2 / SEMI_MINOR_AXIS**2)
