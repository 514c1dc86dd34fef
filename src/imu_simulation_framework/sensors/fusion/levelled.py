"""What the filters have in common: how they start, and what they need."""

from __future__ import annotations

import numpy as np

from imu_simulation_framework.errors import ConfigurationError

# Added to lengths that are divided by: nothing where they are not zero, no warning where they are.
_TINY = 1e-300


def levelled(orientation, specific_force):
    """Return the orientation turned the shortest way, so that the specific force points up."""
    from scipy.spatial.transform import Rotation

    shape = np.shape(orientation)
    given = Rotation.from_quat(np.reshape(np.asarray(orientation, dtype=float), (-1, 4)))
    up = given.apply(np.reshape(specific_force, (-1, 3)))
    length = np.linalg.norm(up, axis=-1, keepdims=True)
    up = np.where(length > 0.0, up / (length + _TINY), [0.0, 0.0, 1.0])
    # The half-way quaternion between two directions: (1 + a.b, a x b), normalised by scipy.
    turn = np.column_stack([up[:, 1], -up[:, 0], np.zeros(len(up)), 1.0 + up[:, 2]])
    turn[turn[:, 3] < 1e-12] = [1.0, 0.0, 0.0, 0.0]
    return (Rotation.from_quat(turn) * given).as_quat().reshape(shape)


def checked_field(magnetic_field):
    """Return the magnetic field that a heading needs.

    Raises
    ------
    ConfigurationError
        There is none.
    """
    if magnetic_field is None:
        raise ConfigurationError(
            "The specification has a magnetic heading, but there is no magnetic field to take it "
            "from: it needs a magnetic environment."
        )
    return magnetic_field
