"""Where a magnetometer is: Earth's field there, what disturbs it, and the robot that carries it."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Callable

import numpy as np

from imu_simulation_framework.checked_values import Axes, checked_number, checked_numbers
from imu_simulation_framework.errors import ConfigurationError
from imu_simulation_framework.magnetism.bars import Bar, BarFields
from imu_simulation_framework.magnetism.dipoles import Dipole, DipoleFields
from imu_simulation_framework.magnetism.earth import checked_date, checked_place, earth_field
from imu_simulation_framework.magnetism.ellipsoids import Ellipsoid, EllipsoidFields
from imu_simulation_framework.magnetism.motors import MotorField

MOST_BODIES = 1000
"""Of one kind."""

_AT_ONCE = 256
"""Places whose field is computed together: few enough to stay in the processor's cache."""


@dataclass(frozen=True)
class Place:
    """A place on Earth and a date.

    Parameters
    ----------
    latitude, longitude : float
        WGS 84 [deg].
    height : float
        Above the ellipsoid [m].
    date : datetime.date or str
        A text is a date as in 2026-11-22.

    Raises
    ------
    ConfigurationError
        A value is none that the model of Earth's field knows; the sentence begins with its name.
    """

    latitude: float = 50.0
    longitude: float = 14.4
    height: float = 200.0
    date: Any = "2026-01-01"

    def __post_init__(self) -> None:
        place = checked_place(self.latitude, self.longitude, self.height)
        for name, value in zip(("latitude", "longitude", "height"), place):
            object.__setattr__(self, name, value)
        if isinstance(self.date, datetime.date):
            object.__setattr__(self, "date", self.date.isoformat())
        checked_date(self.date)

    def field(self) -> np.ndarray:
        """Return Earth's field, east, north, up, (3,) [T]."""
        return earth_field(self.latitude, self.longitude, self.height, self.date)


@dataclass(frozen=True)
class MagneticEnvironment:
    """All that makes a magnetic field where the robot drives; nothing of it is random.

    Parameters
    ----------
    place : Place
        Whose field Earth's is, the same in the whole world of the drive.
    earth : 3 float, optional
        Earth's field as it was measured, along the world's axes [T], in place of the model's.
    turned : float
        How far the world's x axis is turned from east, counter-clockwise [rad].
    dipoles : sequence of Dipole
    ellipsoids : sequence of Ellipsoid
    bars : sequence of Bar
        Those three are fixed in the world.
    motors : MotorField
        The robot's own.

    Raises
    ------
    ConfigurationError
        A value is not what it must be.
    """

    place: Place = field(default_factory=Place)
    earth: Axes | None = None
    turned: float = 0.0
    dipoles: tuple[Dipole, ...] = ()
    ellipsoids: tuple[Ellipsoid, ...] = ()
    bars: tuple[Bar, ...] = ()
    motors: MotorField = field(default_factory=MotorField)

    def __post_init__(self) -> None:
        if self.earth is not None:
            earth = checked_numbers("earth", self.earth, 3, maximum=1.0)
            object.__setattr__(self, "earth", earth)
        object.__setattr__(self, "turned", checked_number("turned", self.turned))
        kinds = {"dipoles": Dipole, "ellipsoids": Ellipsoid, "bars": Bar}
        for name, kind in kinds.items():
            bodies = tuple(getattr(self, name))
            object.__setattr__(self, name, bodies)
            if len(bodies) > MOST_BODIES or not all(type(body) is kind for body in bodies):
                raise ConfigurationError(
                    f"{name} must be at most {MOST_BODIES}, each a {kind.__name__}."
                )

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
        if self.dipoles:
            bodies.append(DipoleFields(self.dipoles))
        if self.ellipsoids:
            bodies.append(EllipsoidFields(self.ellipsoids, self.undisturbed))
        if self.bars:
            bodies.append(BarFields(self.bars, self.undisturbed))
        return bodies

    def field(self, position: np.ndarray) -> np.ndarray:
        """Return the field that is fixed in the world: Earth's and all bodies'.

        Parameters
        ----------
        position : ndarray, shape (n, 3)
            In the world [m].

        Returns
        -------
        ndarray, shape (n, 3)
            In the world's axes [T].
        """
        position = np.asarray(position, dtype=float)
        total = np.empty(position.shape)
        total[...] = self.undisturbed
        for bodies in self._bodies:
            for first in range(0, len(position), _AT_ONCE):
                some = slice(first, first + _AT_ONCE)
                total[some] += bodies(position[some])
        return total

    def felt(
        self,
        position: np.ndarray,
        orientation: np.ndarray,
        wheel_torque: np.ndarray | None = None,
    ) -> np.ndarray:
        """Return the field that a magnetometer without errors measures.

        Parameters
        ----------
        position : ndarray, shape (n, 3)
            Of the magnetometer in the world [m].
        orientation : ndarray, shape (n, 4)
            Of the magnetometer in the world; quaternions x, y, z, w of length one.
        wheel_torque : ndarray, shape (n, 2), optional
            Left and right [N m]; without, the motors are without current.

        Returns
        -------
        ndarray, shape (n, 3)
            In the magnetometer's axes [T].
        """
        turn = np.asarray(orientation, dtype=float) * _CONJUGATE
        own = turned(turn, self.field(position))
        if wheel_torque is not None and self.motors:
            own = own + self.motors.field(np.asarray(wheel_torque, dtype=float))
        return own


_CONJUGATE = np.array([-1.0, -1.0, -1.0, 1.0])


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
