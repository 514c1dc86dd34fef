"""Magnetic environment of a magnetometer: the Earth's field and its disturbances.

The Earth's field is the International Geomagnetic Reference Field (IGRF) as evaluated by the
library ppigrf: Alken et al., International Geomagnetic Reference Field: the thirteenth generation,
Earth, Planets and Space 73, 49 (2021), and IGRF-14, doi 10.5281/zenodo.14012302. The coefficients
are interpolated linearly between models, which are five years apart.

The keys of an environment file are the fields of :class:`MagneticEnvironment` and of its nested
classes::

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

from ...core.checks import Axes, check_number, check_numbers
from ...core.errors import ConfigurationError
from ...core.sentences import quote
from ...core.settings import Settings, from_mapping, setting
from ...core.yaml_files import find_description, read_description
from .bodies import Bar, BarFields, Dipole, DipoleFields, Ellipsoid, EllipsoidFields, MotorField

# Range of heights [m] without rock and strong ionospheric currents.
_LOWEST, _HIGHEST = -1000.0, 850_000.0


def earth_field(
    latitude: float, longitude: float, height: float, date: datetime.date | str
) -> np.ndarray:
    """Compute the Earth's magnetic field at a given position and date (IGRF).

    This is the field of the core: the crust, buildings and magnetic storms add about 100 nT each.
    Over one kilometre it changes by only a few nanoteslas, so that a single value suffices for a
    drive.

    Parameters
    ----------
    latitude, longitude : float
        WGS 84 coordinates [deg].
    height : float
        Height above the ellipsoid [m].
    date : datetime.date or str
        Date, or a text such as 2026-11-22.

    Returns
    -------
    ndarray, shape (3,)
        Field along east, north, up [T].

    Raises
    ------
    ConfigurationError
        If a value is outside the range of the model. The message begins with its name.
    """
    return Place(latitude, longitude, height, date).field()


def _checked_height(name: str, value: Any) -> float:
    if not _LOWEST <= check_number(name, value) <= _HIGHEST:
        raise ConfigurationError(
            f"{name} is {quote(value)}, expected {_LOWEST:g} to {_HIGHEST:g} m, the range of the "
            "model of the Earth's magnetic field"
        )
    return float(value)


def _written_date(_: str, date: Any) -> str:
    _checked_date(date)
    return date if isinstance(date, str) else date.isoformat()


def _checked_date(date: Any) -> datetime.datetime:
    """Return a date without a time zone, as required by the geomagnetic model."""
    if isinstance(date, str):
        with suppress(ValueError):
            date = datetime.datetime.fromisoformat(date)
    if not isinstance(date, datetime.date):
        raise ConfigurationError(f"date is {quote(date)}, expected a date such as 2026-11-22")
    if not isinstance(date, datetime.datetime):
        date = datetime.datetime(date.year, date.month, date.day)
    if date.tzinfo is not None:
        date = date.astimezone(datetime.timezone.utc).replace(tzinfo=None)
    first, last = model_dates()
    if not first <= date <= last:
        raise ConfigurationError(
            f"date is {date.date()}, expected {first.date()} to {last.date()}, the range of the "
            "model of the Earth's magnetic field"
        )
    return date


@lru_cache(maxsize=1)
def model_dates() -> tuple[datetime.datetime, datetime.datetime]:
    """Return the period of validity of the installed geomagnetic model (IGRF).

    Returns
    -------
    tuple of datetime.datetime
        First and last date.
    """
    from ppigrf.ppigrf import read_shc

    dates = read_shc()[0].index
    return dates[0].to_pydatetime(), dates[-1].to_pydatetime()


@lru_cache(maxsize=64)
def _earth_field(
    latitude: float, longitude: float, height: float, date: datetime.datetime
) -> np.ndarray:
    import ppigrf

    # ppigrf divides by zero at a pole, but not a tenth of a metre away from it.
    latitude = min(max(latitude, 1e-6 - 90.0), 90.0 - 1e-6)
    components = ppigrf.igrf(longitude, latitude, height / 1000.0, date)
    return 1e-9 * np.array([float(np.squeeze(component)) for component in components])


MAX_BODIES = 1000  # largest number of bars, of ellipsoids and of dipoles
_BLOCK = 256  # number of points computed at once, so that they fit into the processor's cache


@dataclass(frozen=True)
class Place(Settings):
    """Position on Earth and date, for which the Earth's magnetic field is computed.

    Parameters
    ----------
    latitude, longitude : float
        WGS 84 coordinates [deg].
    height : float
        Height above the ellipsoid [m].
    date : datetime.date or str
        Date, optionally with a time, or a text such as 2026-11-22.

    Raises
    ------
    ConfigurationError
        If a value is outside the range of the model of the Earth's field. The message begins with
        its name.
    """

    latitude: float = setting(50.0, maximum=90.0, unit="deg")
    longitude: float = setting(14.4, maximum=360.0, unit="deg")
    height: float = setting(200.0, _checked_height, unit="m")
    date: Any = setting("2026-01-01", _written_date)

    def field(self) -> np.ndarray:
        """Compute the Earth's magnetic field at this place (IGRF).

        Returns
        -------
        ndarray, shape (3,)
            Field along east, north, up [T].
        """
        date = _checked_date(self.date)
        return _earth_field(self.latitude, self.longitude, self.height, date).copy()


@dataclass(frozen=True)
class MagneticEnvironment(Settings):
    """Magnetic environment of a robot: the Earth's field, magnetic bodies and motors.

    Parameters
    ----------
    place : Place
        Place of the Earth's field, which is constant throughout the world of the drive.
    earth : 3 float, optional
        Measured Earth's field along the world's axes [T], which replaces that of the model.
    turned : float
        Angle from east to the world's x axis, counter-clockwise [rad].
    dipoles, ellipsoids, bars : sequence of Dipole, Ellipsoid or Bar
        Bodies with a fixed position in the world.
    motors : MotorField
        Motors of the robot.
    """

    place: Place = setting(Place, part=Place)
    earth: Axes | None = setting(None, check_numbers, count=3, maximum=1.0, unit="T")
    turned: float = setting(0.0)
    dipoles: tuple[Dipole, ...] = setting((), part=Dipole, most=MAX_BODIES)
    ellipsoids: tuple[Ellipsoid, ...] = setting((), part=Ellipsoid, most=MAX_BODIES)
    bars: tuple[Bar, ...] = setting((), part=Bar, most=MAX_BODIES)
    motors: MotorField = setting(MotorField(), part=MotorField)

    @property
    def has_bodies(self) -> bool:
        """Whether the environment contains magnetic bodies."""
        return bool(self.dipoles or self.ellipsoids or self.bars)

    @cached_property
    def undisturbed(self) -> np.ndarray:
        """Earth's magnetic field in the world frame, shape (3,) [T]."""
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
        """Compute the magnetic field of the Earth and of all bodies at given points.

        Parameters
        ----------
        position : array_like, shape (n, 3)
            Field points in the world frame [m].

        Returns
        -------
        ndarray, shape (n, 3)
            Field in the world frame [T].
        """
        position = np.asarray(position, dtype=float)
        total = np.empty(position.shape)
        total[...] = self.undisturbed
        for bodies in self._bodies:
            for first in range(0, len(position), _BLOCK):
                block = slice(first, first + _BLOCK)
                total[block] += bodies(position[block])
        return total

    def measured_field(
        self,
        position: np.ndarray,
        orientation: np.ndarray,
        wheel_torque: np.ndarray | None = None,
    ) -> np.ndarray:
        """Compute the output of an ideal magnetometer in this environment.

        Parameters
        ----------
        position : array_like, shape (n, 3)
            Position of the magnetometer in the world frame [m].
        orientation : array_like, shape (n, 4)
            Rotation from the magnetometer to the world frame, as unit quaternions x, y, z, w.
        wheel_torque : array_like, shape (n, 2), optional
            Torques of the left and the right wheel [N m]; by default the motors have no current.

        Returns
        -------
        ndarray, shape (n, 3)
            Field in the magnetometer's axes [T].
        """
        turn = np.asarray(orientation, dtype=float) * [-1.0, -1.0, -1.0, 1.0]
        measured_field = rotate_vectors(turn, self.field(position))
        if wheel_torque is not None and self.motors:
            measured_field = measured_field + self.motors.field(
                np.asarray(wheel_torque, dtype=float)
            )
        return measured_field


def rotate_vectors(orientation: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Rotate vectors by quaternions, ``v + w t + q x t`` with ``t = 2 q x v``.

    Parameters
    ----------
    orientation : ndarray, shape (n, 4)
        Unit quaternions x, y, z, w; q is the vector part.
    vectors : array_like, shape (n, 3) or (3,)
        Vectors v before the rotation.

    Returns
    -------
    ndarray, shape (n, 3)
        Vectors in the world frame.
    """
    # Written out by element, which is fast, and bitwise identical for any number of samples.
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
    """Read a magnetic environment from a file, or by the name of a bundled environment.

    Parameters
    ----------
    name : str or path
        Path of a file, or name of a file in config/magnetic.

    Returns
    -------
    MagneticEnvironment

    Raises
    ------
    ConfigurationError
        If neither exists, or the file does not describe an environment.
    """
    path = find_description(name, "magnetic", "a magnetic environment")
    description = "the magnetic environment"
    make = partial(from_mapping, MagneticEnvironment, subject=description)
    return read_description(path, description, make, may_be_empty=True)
