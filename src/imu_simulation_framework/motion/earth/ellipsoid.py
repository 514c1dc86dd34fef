"""The WGS-84 ellipsoid: its constants, radii of curvature, and places on it.

NIMA TR8350.2, third edition, amendment 1 (2000), "Department of Defense World Geodetic System
1984".
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

SEMI_MAJOR_AXIS = 6378137.0
"""[m]"""
FLATTENING = 1.0 / 298.257223563
GRAVITATIONAL_CONSTANT = 3.986004418e14
"""Of the Earth with its atmosphere, GM [m^3/s^2]."""
EARTH_RATE = 7.292115e-5
"""The Earth's angular velocity about its axis, against inertial space [rad/s]."""

SEMI_MINOR_AXIS = SEMI_MAJOR_AXIS * (1.0 - FLATTENING)
"""[m]"""
ECCENTRICITY_SQUARED = FLATTENING * (2.0 - FLATTENING)
LINEAR_ECCENTRICITY = math.sqrt(SEMI_MAJOR_AXIS**2 - SEMI_MINOR_AXIS**2)
"""Half the distance between the foci [m]."""


def radii_of_curvature(latitude: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Return the ellipsoid's radii along the meridian and across it (Groves, 2.105 and 2.106).

    Parameters
    ----------
    latitude : array_like, shape (...)
        Geodetic [rad].

    Returns
    -------
    meridian, transverse : ndarray, shape (...)
        Of the ellipsoid itself; at a height it adds to both [m].
    """
    squared = 1.0 - ECCENTRICITY_SQUARED * np.sin(latitude) ** 2
    transverse = SEMI_MAJOR_AXIS / np.sqrt(squared)
    return transverse * (1.0 - ECCENTRICITY_SQUARED) / squared, transverse


def ecef_of(latitude: ArrayLike, longitude: ArrayLike, height: ArrayLike) -> np.ndarray:
    """Return places, given by latitude and longitude, in axes that turn with the Earth.

    Parameters
    ----------
    latitude, longitude : array_like, shape (...)
        Geodetic [rad].
    height : array_like, shape (...)
        Above the ellipsoid [m].

    Returns
    -------
    ndarray, shape (..., 3)
        x through latitude and longitude 0, z through the north pole [m].
    """
    import pymap3d

    return np.stack(pymap3d.geodetic2ecef(latitude, longitude, height, deg=False), axis=-1)


def geodetic_of(position: ArrayLike) -> np.ndarray:
    """Return latitude, longitude and height of places in ECEF axes.

    Parameters
    ----------
    position : array_like, shape (..., 3)
        [m]

    Returns
    -------
    ndarray, shape (..., 3)
        Geodetic latitude [rad], longitude in [-pi, pi], 0 at a pole [rad], height above the
        ellipsoid [m].
    """
    import pymap3d

    x, y, z = np.moveaxis(np.asarray(position, dtype=float), -1, 0)
    place = pymap3d.ecef2geodetic(x, y, z, deg=False)
    # Of one place in an array pymap3d returns a latitude without axes.
    return np.stack([np.reshape(values, x.shape) for values in place], axis=-1)
