r"""The field of magnetic dipoles: magnets, loudspeakers, motors at rest, from some way off.

With the place r of who measures as seen from the dipole, and its moment m,

.. math:: B = \frac{\mu_0}{4 \pi} \frac{3 \hat r (\hat r \cdot m) - m}{r^3}

(Jackson: Classical Electrodynamics, 3rd edition, equation 5.56).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Sequence

import numpy as np

from imu_simulation_framework.checked_values import Axes, checked_numbers
from imu_simulation_framework.constants import VACUUM_PERMEABILITY

NEAREST = 1e-3
"""A dipole's field grows without end; nearer than that it is as there [m]."""


@dataclass(frozen=True)
class Dipole:
    """A magnet that is small beside its distance, fixed in the world.

    Parameters
    ----------
    position : 3 float
        In the world [m].
    moment : 3 float
        In the world's axes [A m^2], from its south to its north pole. A neodymium magnet has
        about 1 A m^2 per cubic centimetre.
    name : str
        For whoever reads the description.

    Raises
    ------
    ConfigurationError
        A value is not what it must be; the sentence begins with the field's name.
    """

    position: Axes
    moment: Axes
    name: str = ""

    def __post_init__(self) -> None:
        for field in ("position", "moment"):
            object.__setattr__(self, field, checked_numbers(field, getattr(self, field), 3))


def dipole_field(offset: np.ndarray, moment: np.ndarray) -> np.ndarray:
    """Return the field of dipoles.

    Parameters
    ----------
    offset : ndarray, shape (..., 3)
        From the dipole to who measures [m].
    moment : ndarray, shape (..., 3)
        [A m^2], in the same axes.

    Returns
    -------
    ndarray, shape (..., 3)
        In those axes, too [T].
    """
    square = np.maximum(np.sum(offset * offset, axis=-1, keepdims=True), NEAREST**2)
    along = np.sum(offset * moment, axis=-1, keepdims=True)
    scale = VACUUM_PERMEABILITY / (4.0 * np.pi)
    return scale * (3.0 * offset * (along / square) - moment) / (square * np.sqrt(square))


class DipoleFields:
    """The field of several dipoles together.

    Parameters
    ----------
    dipoles : sequence of Dipole
        At least one.
    """

    def __init__(self, dipoles: Sequence[Dipole]) -> None:
        self._positions = np.array([dipole.position for dipole in dipoles])
        self._moments = np.array([dipole.moment for dipole in dipoles])

    def __call__(self, position: np.ndarray) -> np.ndarray:
        """Return their field (n, 3) [T] at places (n, 3) [m], both in the world's axes."""
        offset = position[:, np.newaxis] - self._positions
        return dipole_field(offset, self._moments).sum(axis=1)
