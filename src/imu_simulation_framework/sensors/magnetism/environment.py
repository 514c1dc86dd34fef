"""Where a magnetometer is: Earth's field there, and what disturbs it.

Earth's field is the International Geomagnetic Reference Field (IGRF), as the library ppigrf
evaluates it: Alken et al., International Geomagnetic Reference Field: the thirteenth generation,
Earth, Planets and Space 73, 49 (2021), and IGRF-14, doi 10.5281/zenodo.14012302. Between its
models, five years apart, the coefficients go along straight lines.

The file of an environment has as keys the fields of :class:`MagneticEnvironment` and of its parts::

    place: {latitude: 50.09, longitude: 14.42, height: 250.0, date: 2026-06-01}
    bars:
      - {name: beam, position: [4.0, -0.8, 0.1], size: [6.0, 0.1, 0.1], permeability: 200}
    dipoles:
      - {name: loudspeaker, position: [1.0, 2.0, 0.5], moment: [0.0, 0.0, 3.0]}
    motors: {left: [1.0e-6, 0.0, 0.0], right: [-1.0e-6, 0.0, 0.0]}
"""

from __future__ import annotations

import datetime
import os
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import Any, Callable

import numpy as np

from ...core.errors import ConfigurationError
from ...core.sentences import quote
from ...core.settings import Axes, Settings, check_number, check_numbers, declared, from_mapping
from ...core.yaml_files import find_description, read_description
from .bodies import Bar, BarFields, Dipole, DipoleFields, Ellipsoid, EllipsoidFields, MotorField

# Heights at which there is neither rock nor a current of the ionosphere to matter [m].
_LOWEST, _HIGHEST = -1000.0, 850_000.0


def earth_field(
    latitude: float, longitude: float, height: float, date: datetime.date | str
) -> np.ndarray:
    """Return Earth's magnetic field at a :class:`.Place`, east, north, up, (3,) [T].

    It is that of the core: the crust, buildings, and storms from the sun add some 100 nT each. Over
    a kilometre it changes by some nanoteslas only, so that one value does for a whole drive.

    Raises :class:`.ConfigurationError`: a value is none that the model knows; the sentence begins
    with its name.
    """
    return Place(latitude, longitude, height, date).field()


def _checked_height(name: str, value: Any) -> float:
    if not _LOWEST <= check_number(name, value) <= _HIGHEST:
        raise ConfigurationError(
            f"{name} is {quote(value)}, but the model of Earth's magnetic field holds from "
            f"{_LOWEST:g} to {_HIGHEST:g} m."
        )
    return float(value)


def _written_date(_: str, date: Any) -> str:
    _checked_date(date)
    return date if isinstance(date, str) else date.isoformat()


def _checked_date(date: Any) -> datetime.datetime:
    """Return a date as the model takes it, without a time zone."""
    if isinstance(date, str):
        with suppress(ValueError):
            date = datetime.datetime.fromisoformat(date)
    if not isinstance(date, datetime.date):
        raise ConfigurationError(f"date is {quote(date)}, but it must be a date as in 2026-11-22.")
    if not isinstance(date, datetime.datetime):
        date = datetime.datetime(date.year, date.month, date.day)
    if date.tzinfo is not None:
        date = date.astimezone(datetime.timezone.utc).replace(tzinfo=None)
    first, last = model_dates()
    if not first <= date <= last:
        raise ConfigurationError(
            f"date is {date.date()}, but the model of Earth's magnetic field covers "
            f"{first.date()} to {last.date()}."
        )
    return date


@lru_cache(maxsize=1)
def model_dates() -> tuple[datetime.datetime, datetime.datetime]:
    """Return the first and the last date that the installed model covers."""
    from ppigrf.ppigrf import read_shc

    dates = read_shc()[0].index
    return dates[0].to_pydatetime(), dates[-1].to_pydatetime()


@lru_cache(maxsize=64)
def _earth_field(
    latitude: float, longitude: float, height: float, date: datetime.datetime
) -> np.ndarray:
    import ppigrf

    # At a pole itself ppigrf divides by zero; a tenth of a metre beside it not.
    latitude = min(max(latitude, 1e-6 - 90.0), 90.0 - 1e-6)
    components = ppigrf.igrf(longitude, latitude, height / 1000.0, date)
    return 1e-9 * np.array([float(np.squeeze(component)) for component in components])


MAX_BODIES = 1000  # of one kind
_AT_ONCE = 256  # places whose field is computed together, which stay in the processor's cache


@dataclass(frozen=True)
class Place(Settings):
    """A place on Earth and a date.

    ``latitude``, ``longitude``: WGS 84 [deg]. ``height``: above the ellipsoid [m]. ``date``: a
    datetime.date, which with a time counts at that time, or a text as 2026-11-22. Raises
    ConfigurationError: a value is none that the model of Earth's field knows; the sentence begins
    with its name.
    """

    latitude: float = declared(50.0, maximum=90.0)
    longitude: float = declared(14.4, maximum=360.0)
    height: float = declared(200.0, _checked_height)
    date: Any = declared("2026-01-01", _written_date)

    def field(self) -> np.ndarray:
        """Return Earth's field, east, north, up, (3,) [T]."""
        date = _checked_date(self.date)
        return _earth_field(self.latitude, self.longitude, self.height, date).copy()


@dataclass(frozen=True)
class MagneticEnvironment(Settings):
    """All that makes a magnetic field where the robot drives; nothing of it is random.

    ``place``: whose field Earth's is, the same in the whole world of the drive. ``earth`` (3,):
    Earth's field as it was measured, along the world's axes [T], in place of the model's.
    ``turned``: how far the world's x axis is turned from east, counter-clockwise [rad].
    ``dipoles``, ``ellipsoids``, ``bars``: fixed in the world. ``motors``: the robot's own.
    """

    place: Place = declared(Place, part=Place)
    earth: Axes | None = declared(None, check_numbers, count=3, maximum=1.0)
    turned: float = declared(0.0)
    dipoles: tuple[Dipole, ...] = declared((), part=Dipole, most=MAX_BODIES)
    ellipsoids: tuple[Ellipsoid, ...] = declared((), part=Ellipsoid, most=MAX_BODIES)
    bars: tuple[Bar, ...] = declared((), part=Bar, most=MAX_BODIES)
    motors: MotorField = declared(MotorField(), part=MotorField)

    @property
    def has_bodies(self) -> bool:
        """Whether there is anything besides Earth's field that is fixed in the world."""
        return bool(self.dipoles or self.ellipsoids or self.bars)

    @cached_property
    def undisturbed(self) -> np.ndarray:
        """Return Earth's field in the world's axes, (3,) [T]."""
        if self.earth is not None:
            return np.array(self.earth)
        if self.turned == 0.0:
            return self.place.field()
        from scipy.spatial.transform import Rotation

        return Rotation.from_euler("z", -self.turned).apply(self.place.field())

    @cached_property
    def _bodies(self) -> list[Callable[[np.ndarray], np.ndarray]]:
        bodies: list[Callable[[np.ndarray], np.ndarray]] = []
        bodies += [DipoleFields(self.dipoles)] if self.dipoles else []
        bodies += [EllipsoidFields(self.ellipsoids, self.undisturbed)] if self.ellipsoids else []
        bodies += [BarFields(self.bars, self.undisturbed)] if self.bars else []
        return bodies

    def field(self, position: np.ndarray) -> np.ndarray:
        """Return Earth's and all bodies' field (n, 3) [T] at places (n, 3) [m] in the world."""
        position = np.asarray(position, dtype=float)
        total = np.empty(position.shape)
        total[...] = self.undisturbed
        for bodies in self._bodies:
            for first in range(0, len(position), _AT_ONCE):
                some = slice(first, first + _AT_ONCE)
                total[some] += bodies(position[some])
        return total

    def measured_field(
        self,
        position: np.ndarray,
        orientation: np.ndarray,
        wheel_torque: np.ndarray | None = None,
    ) -> np.ndarray:
        """Return the field that a magnetometer without errors measures.

        ``position`` (n, 3) [m], ``orientation`` (n, 4): of the magnetometer in the world;
        quaternions x, y, z, w of length one. ``wheel_torque`` (n, 2): left and right [N m];
        without, the motors are without current. Returns (n, 3): in the magnetometer's axes [T].
        """
        turn = np.asarray(orientation, dtype=float) * [-1.0, -1.0, -1.0, 1.0]
        own = turned(turn, self.field(position))
        if wheel_torque is not None and self.motors:
            own = own + self.motors.field(np.asarray(wheel_torque, dtype=float))
        return own


def turned(orientation: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Return vectors (n, 3) or (3,) of turned axes, quaternions (n, 4), in those of the world.

    ``v + w t + q x t`` with ``t = 2 q x v`` and q the quaternion's first three.
    """
    # A few samples at a time, a general library's overhead is most of the time; and by element
    # each is the same to the bit, however many there are. Rows x, y, z, x, y: so a view begins
    # with each.
    vectors = np.asarray(vectors, dtype=float)
    turn = orientation[:, _AXES_TWICE].T
    known = vectors[..., _AXES_TWICE].T.reshape(5, -1)
    twice = np.empty(turn.shape)
    cross = np.multiply(turn[1:4], known[2:], out=twice[:3])
    cross -= turn[2:] * known[1:4]
    cross *= 2.0
    twice[3:] = twice[:2]
    result = turn[1:4] * twice[2:]
    result -= turn[2:] * twice[1:4]
    result += orientation[:, 3] * cross
    result += known[:3]
    return result.T


_AXES_TWICE = [0, 1, 2, 0, 1]


def read_magnetic_environment(name: str | os.PathLike[str]) -> MagneticEnvironment:
    """Return a magnetic environment from its file, or by the name of one in config/magnetic.

    Raises :class:`.ConfigurationError`: there is neither, or it describes no environment.
    """
    path = find_description(name, "magnetic", "a magnetic environment")
    what = "the magnetic environment"
    make = partial(from_mapping, MagneticEnvironment, what=what)
    return read_description(path, what, make, may_be_empty=True)
