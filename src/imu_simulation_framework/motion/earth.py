"""The WGS 84 ellipsoid and its normal gravity.

Ellipsoid and gravity are defined by NIMA TR8350.2, third edition, amendment 1 (2000), "Department
of Defense World Geodetic System 1984".

*Gravitation* is the attraction of masses. *Gravity*, along a plumb line, is gravitation minus the
centripetal acceleration of a body that rotates with the Earth. The normal gravity field has the
ellipsoid as an equipotential surface and is known in closed form (NIMA TR8350.2, chapter 4, from
Heiskanen and Moritz: Physical Geodesy); on the ellipsoid, its magnitude follows Somigliana's
formula. On land, the true field differs from it by less than 0.001 m/s^2 in most places.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

SEMI_MAJOR_AXIS = 6378137.0  # m
FLATTENING = 1.0 / 298.257223563
GRAVITATIONAL_CONSTANT = 3.986004418e14  # m^3/s^2; GM of the Earth with its atmosphere
EARTH_RATE = 7.292115e-5  # rad/s; Earth's rotation rate relative to inertial space

SEMI_MINOR_AXIS = SEMI_MAJOR_AXIS * (1.0 - FLATTENING)  # m
ECCENTRICITY_SQUARED = FLATTENING * (2.0 - FLATTENING)
# Half the distance between the foci of a meridian ellipse [m].
LINEAR_ECCENTRICITY = math.sqrt(SEMI_MAJOR_AXIS**2 - SEMI_MINOR_AXIS**2)


def ecef_of(latitude: ArrayLike, longitude: ArrayLike, height: ArrayLike) -> np.ndarray:
    """Convert geodetic coordinates to ECEF.

    Parameters
    ----------
    latitude, longitude : array_like
        Geodetic latitude and longitude [rad].
    height : array_like
        Height above the ellipsoid [m].

    Returns
    -------
    ndarray, shape (..., 3)
        Positions in ECEF [m].
    """
    import pymap3d

    return np.stack(pymap3d.geodetic2ecef(latitude, longitude, height, deg=False), axis=-1)


def geodetic_of(position: ArrayLike) -> np.ndarray:
    """Convert ECEF positions to geodetic coordinates.

    Parameters
    ----------
    position : array_like, shape (..., 3)
        Positions in ECEF [m].

    Returns
    -------
    ndarray, shape (..., 3)
        Geodetic latitude [rad], longitude in [-pi, pi] (0 at a pole) [rad], and height above the
        ellipsoid [m].
    """
    import pymap3d

    x, y, z = np.moveaxis(np.asarray(position, dtype=float), -1, 0)
    place = pymap3d.ecef2geodetic(x, y, z, deg=False)
    # For an array with a single position, pymap3d returns the latitude as a scalar.
    return np.stack([np.reshape(values, x.shape) for values in place], axis=-1)


def _q(ratio):
    """Return q (TR8350.2, eq. 4-10) for E/u, the linear eccentricity over the semi-minor axis."""
    return 0.5 * ((1.0 + 3.0 / ratio**2) * np.arctan(ratio) - 3.0 / ratio)


def _q_slope(ratio):
    """Return q' (TR8350.2, eq. 4-12) for E/u, the linear eccentricity over the semi-minor axis."""
    return 3.0 * (1.0 + 1.0 / ratio**2) * (1.0 - np.arctan(ratio) / ratio) - 1.0


_RATIO = LINEAR_ECCENTRICITY / SEMI_MINOR_AXIS
_Q = float(_q(_RATIO))
_TURNING = (
    EARTH_RATE**2 * SEMI_MAJOR_AXIS**2 * SEMI_MINOR_AXIS / GRAVITATIONAL_CONSTANT
)  # called m in TR8350.2: ratio of centrifugal acceleration to gravity at the equator, 1/289
_SHAPE = _TURNING * _RATIO * float(_q_slope(_RATIO)) / _Q

# Normal gravity on the ellipsoid at the equator and at a pole [m/s^2].
EQUATORIAL_GRAVITY = (
    GRAVITATIONAL_CONSTANT / (SEMI_MAJOR_AXIS * SEMI_MINOR_AXIS) * (1.0 - _TURNING - _SHAPE / 6.0)
)
POLAR_GRAVITY = GRAVITATIONAL_CONSTANT / SEMI_MAJOR_AXIS**2 * (1.0 + _SHAPE / 3.0)


def normal_gravity(latitude: ArrayLike, height: ArrayLike = 0.0) -> np.ndarray:
    """Compute the magnitude of normal gravity at a latitude and height.

    Somigliana's formula is extended to second order in height (TR8350.2, 4-3). Up to 10 km, the
    result is within 1e-6 m/s^2 of the closed form in :func:`gravity_ecef`.

    Parameters
    ----------
    latitude : array_like
        Geodetic latitude [rad].
    height : array_like
        Height above the ellipsoid [m].

    Returns
    -------
    ndarray
        Gravity [m/s^2].
    """
    squared = np.sin(latitude) ** 2
    pole_excess = SEMI_MINOR_AXIS * POLAR_GRAVITY / (SEMI_MAJOR_AXIS * EQUATORIAL_GRAVITY) - 1.0
    surface = EQUATORIAL_GRAVITY * (1.0 + pole_excess * squared)
    surface = surface / np.sqrt(1.0 - ECCENTRICITY_SQUARED * squared)
    part = np.asarray(height, dtype=float) / SEMI_MAJOR_AXIS
    slope = 2.0 * (1.0 + FLATTENING + _TURNING - 2.0 * FLATTENING * squared)
    return surface * (1.0 - slope * part + 3.0 * part**2)


def gravitation_ecef(position: ArrayLike) -> np.ndarray:
    """Compute the Earth's gravitation in ECEF, which excludes the centrifugal acceleration.

    The equations are TR8350.2, 4-5 to 4-19, without their centrifugal terms. They are written
    without angles, so that the poles need no special treatment.

    Parameters
    ----------
    position : array_like, shape (..., 3)
        Positions in ECEF, outside the ellipsoid or some kilometres below it [m].

    Returns
    -------
    ndarray, shape (..., 3)
        Gravitation in ECEF axes [m/s^2].
    """
    position = np.asarray(position, dtype=float)
    x, y, z = np.moveaxis(position, -1, 0)
    focal = LINEAR_ECCENTRICITY**2
    excess = x * x + y * y + z * z - focal
    # Squared semi-axes of the confocal ellipsoid through the position; sine of reduced latitude.
    minor_squared = 0.5 * (excess + np.sqrt(excess * excess + 4.0 * focal * z * z))
    major_squared = minor_squared + focal
    minor, major = np.sqrt(minor_squared), np.sqrt(major_squared)
    sine = z / minor
    sine_squared = sine * sine
    squared_scale = major_squared / (minor_squared + focal * sine_squared)
    ratio = LINEAR_ECCENTRICITY / minor
    turning = (EARTH_RATE * SEMI_MAJOR_AXIS) ** 2 / _Q
    inward = GRAVITATIONAL_CONSTANT + turning * LINEAR_ECCENTRICITY * _q_slope(ratio) * (
        0.5 * sine_squared - 1.0 / 6.0
    )
    inward = inward / major_squared
    poleward = turning / major * _q(ratio)
    radial_factor = -squared_scale * (
        inward * minor / major_squared + poleward * sine_squared / major
    )
    axial = squared_scale * sine * (poleward * (1.0 - sine_squared) * minor / major - inward)
    return np.stack([radial_factor * x, radial_factor * y, axial], axis=-1)


def gravity_ecef(position: ArrayLike) -> np.ndarray:
    """Compute gravity in ECEF, the sum of gravitation and centrifugal acceleration.

    Parameters
    ----------
    position : array_like, shape (..., 3)
        Positions in ECEF as for :func:`gravitation_ecef` [m].

    Returns
    -------
    ndarray, shape (..., 3)
        Gravity in ECEF axes [m/s^2].
    """
    position = np.asarray(position, dtype=float)
    return gravitation_ecef(position) + EARTH_RATE**2 * position * (1.0, 1.0, 0.0)
