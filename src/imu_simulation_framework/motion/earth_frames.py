r"""Frames on the Earth, and how the axes of aviation become ours.

The one rule: the world is ECEF, whose axes turn with the Earth: x through latitude and
longitude 0, z through the north pole. A rotation *from a to b* turns a vector given in the axes of
a into the same vector in those of b, so rotations are read from right to left:

.. math:: R^{ecef}_{body} = R^{ecef}_{enu}(\varphi, \lambda) \; R^{enu}_{body}

Axes at a place are east, north, up; a body's are forward, left, up (REP-103), everywhere in the
library. Sources of aviation, which say north, east, down and forward, right, down, are converted
where they enter: :func:`orientation_of_aviation`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

FRD_TO_FLU = Rotation.from_quat((1.0, 0.0, 0.0, 0.0))
"""Forward, right, down to forward, left, up, and back: half a turn about forward."""


def enu_to_ecef(latitude: ArrayLike, longitude: ArrayLike) -> Rotation:
    """Return the rotations from east, north, up to ECEF, (n,) or a single one.

    Latitude and longitude are geodetic [rad]; at a pole the longitude says where east is.
    """
    return _about_z_then_x(np.add(longitude, 0.5 * np.pi), np.subtract(0.5 * np.pi, latitude))


def ned_to_ecef(latitude: ArrayLike, longitude: ArrayLike) -> Rotation:
    """Return the rotations from north, east, down to ECEF, as :func:`enu_to_ecef` does."""
    return enu_to_ecef(latitude, longitude) * NED_TO_ENU


NED_TO_ENU = Rotation.from_quat((np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0))
"""North, east, down to east, north, up, and back: half a turn about north-east."""


def orientation_of_aviation(
    latitude: ArrayLike, longitude: ArrayLike, roll_pitch_heading: ArrayLike
) -> Rotation:
    """Return the rotations from forward, left, up to ECEF, of angles as aviation has them.

    ``roll_pitch_heading`` (n, 3) are right wing down, nose up, from north towards east, at a
    geodetic place (n,) [rad].
    """
    angles = np.asarray(roll_pitch_heading, dtype=float)
    aircraft = Rotation.from_euler("ZYX", angles[..., ::-1])
    return ned_to_ecef(latitude, longitude) * aircraft * FRD_TO_FLU


def aviation_of_orientation(
    latitude: ArrayLike, longitude: ArrayLike, orientation: Rotation
) -> np.ndarray:
    """Return roll, pitch and heading (n, 3) [rad], of :func:`orientation_of_aviation`."""
    aircraft = ned_to_ecef(latitude, longitude).inv() * orientation * FRD_TO_FLU
    return aircraft.as_euler("ZYX")[..., ::-1]


def _about_z_then_x(about_z, about_x):
    """Return the rotations about x and then about the z that did not turn with it."""
    half_z, half_x = np.broadcast_arrays(0.5 * about_z, 0.5 * about_x)
    sine_z, cosine_z, sine_x, cosine_x = (
        np.sin(half_z),
        np.cos(half_z),
        np.sin(half_x),
        np.cos(half_x),
    )
    quaternions = (cosine_z * sine_x, sine_z * sine_x, sine_z * cosine_x, cosine_z * cosine_x)
    return Rotation.from_quat(np.stack(quaternions, axis=-1))
