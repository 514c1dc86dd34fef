r"""Bodies of iron in Earth's field: what all of them have.

In the field :math:`H_0 = B_0 / \mu_0` and its own, :math:`H_d`, iron of the relative permeability
:math:`\mu_r` has the magnetisation

.. math:: M = (\mu_r - 1) (H_0 + H_d) + M_r

with :math:`M_r` what stays of it without any field: straight lines, as in fields as weak as Earth's
(Jackson: Classical Electrodynamics, 3rd edition, 5.8 to 5.11). What bodies do to each other is left
out: right where they are farther apart than they are large.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from imu_simulation_framework.checked_values import (
    Axes,
    checked_axes,
    checked_number,
    checked_numbers,
)
from imu_simulation_framework.constants import VACUUM_PERMEABILITY

MILD_STEEL = 200.0
"""Relative permeability of structural steel in fields as weak as Earth's, where it is about 100 to
300; it grows to thousands in strong ones (Bozorth: Ferromagnetism, 1951)."""

LARGEST_SIZE = 1000.0
"""Of a body, and smallest part of it that a side may be [m]."""


@dataclass(frozen=True)
class FerrousBody:
    """A body of iron, fixed in the world.

    Parameters
    ----------
    position : 3 float
        Of its middle in the world [m].
    size : 3 float
        Along its own axes, from end to end [m]; one number stands for three equal ones.
    orientation : 3 float
        Roll, pitch and yaw of its axes in the world [rad].
    permeability : float
        Relative [1].
    magnetisation : 3 float
        What it keeps without any field, in its own axes [A/m]. Rolled, welded or lifted by a
        magnet, steel keeps some hundred to some thousand.
    name : str
        For whoever reads the description, and of its shape in the simulators.

    Raises
    ------
    ConfigurationError
        A value is not what it must be; the sentence begins with the field's name.
    """

    position: Axes
    size: Axes
    orientation: Axes = (0.0, 0.0, 0.0)
    permeability: float = MILD_STEEL
    magnetisation: Axes = (0.0, 0.0, 0.0)
    name: str = ""

    def __post_init__(self) -> None:
        for field in ("position", "orientation", "magnetisation"):
            object.__setattr__(self, field, checked_numbers(field, getattr(self, field), 3))
        size = checked_axes("size", self.size, minimum=1.0 / LARGEST_SIZE, maximum=LARGEST_SIZE)
        object.__setattr__(self, "size", size)
        permeability = checked_number("permeability", self.permeability, minimum=1.0)
        object.__setattr__(self, "permeability", permeability)

    @property
    def rotation(self) -> np.ndarray:
        """Return the matrix (3, 3) from its own axes to the world's."""
        # Imported here: nodes know bodies, few have any, and scipy takes 9 MB.
        from scipy.spatial.transform import Rotation

        return Rotation.from_euler("xyz", self.orientation).as_matrix()

    def driven_by(self, field: np.ndarray) -> np.ndarray:
        """Return the magnetisation (3,) [A/m] that it had in a field if it had no ends.

        Parameters
        ----------
        field : ndarray, shape (3,)
            In the world's axes [T]; the magnetisation is in its own.
        """
        outer = self.rotation.T @ field / VACUUM_PERMEABILITY
        return (self.permeability - 1.0) * outer + np.array(self.magnetisation)
