r"""Orientation without a gyroscope: what is up and where north is, from two directions.

The specific force f and the field m, in the sensor's axes, pass a low-pass of time constant T each.
Up is f, east :math:`m \times f`, as magnetic north, east and up are perpendicular and the field has
no part to the east: the TRIAD of Black (A passive system for determining the attitude of a
satellite, AIAA Journal 2(7), 1964), with the vertical as the direction that is trusted. Nothing
drifts, but what turns is followed T late, acceleration tilts it, and in tilting turns it, too.
"""

from __future__ import annotations

import math

import numpy as np

from imu_simulation_framework.sensors.fusion.levelled import checked_field
from imu_simulation_framework.sensors.fusion.magnetic_heading import MagneticHeading
from imu_simulation_framework.sensors.fusion.orientation_filter import OrientationFilter

_LEVEL = np.array([0.0, 0.0, 0.0, 1.0])


class CompassFilter(OrientationFilter):
    """Accelerometer and magnetometer, without a gyroscope.

    Parameters
    ----------
    period : float
        Time from one sample to the next [s].
    time_constant : float
        T [s].
    heading : MagneticHeading, optional
        Of which the declination counts. Without, the yaw starts as it is told, and changes as the
        field turns.
    """

    def __init__(self, period: float, time_constant: float, heading: MagneticHeading | None = None):
        self._share = -math.expm1(-period / time_constant)
        self._heading = heading

    def start(self, orientation, specific_force, magnetic_field=None):
        from scipy.spatial.transform import Rotation

        from imu_simulation_framework.angles import yaw_from_quaternion

        self._smooth = np.concatenate([specific_force, checked_field(magnetic_field)])
        self._last = _LEVEL
        north = Rotation.from_quat(_north(self._smooth[np.newaxis], self._last))
        if self._heading is not None:
            turn = -self._heading.declination
        else:
            turn = yaw_from_quaternion(orientation) - yaw_from_quaternion(north.as_quat()[0])
        self._turn = Rotation.from_euler("z", turn)
        return self._turned(self._smooth[np.newaxis])[0]

    def update(self, angular_velocity, specific_force, magnetic_field=None):
        reading = np.concatenate([specific_force, checked_field(magnetic_field)])
        # As a series does it, to the bit: the last is kept, the new one added.
        self._smooth = self._share * reading + (1.0 - self._share) * self._smooth
        return self._turned(self._smooth[np.newaxis])[0]

    def update_all(self, angular_velocity, specific_force, magnetic_field=None):
        from scipy.signal import lfilter

        readings = np.hstack([specific_force, checked_field(magnetic_field)])
        if len(readings) == 0:
            return np.empty((0, 4))
        keep = 1.0 - self._share
        smooth, _ = lfilter(
            [self._share], [1.0, -keep], readings, axis=0, zi=keep * self._smooth[np.newaxis]
        )
        self._smooth = smooth[-1]
        return self._turned(smooth)

    def _turned(self, smooth):
        from scipy.spatial.transform import Rotation

        north = _north(smooth, self._last)
        self._last = north[-1]
        return (self._turn * Rotation.from_quat(north)).as_quat()


def _north(smooth, last):
    """Orientations (samples, 4) that rows of force and field say; the last where they say none."""
    from scipy.spatial.transform import Rotation

    up, field = smooth[:, :3], smooth[:, 3:]
    east = np.cross(field, up)
    lengths = np.linalg.norm(up, axis=1), np.linalg.norm(east, axis=1)
    known = (lengths[0] > 0.0) & (lengths[1] > 0.0)
    quaternions = np.tile(last, (len(smooth), 1))
    if known.any():
        up, east = (
            vectors[known] / length[known][:, np.newaxis]
            for vectors, length in zip((up, east), lengths)
        )
        # The rows are the world's axes in those of the sensor.
        matrices = np.stack([east, np.cross(up, east), up], axis=1)
        quaternions[known] = Rotation.from_matrix(matrices).as_quat()
    following = np.maximum.accumulate(np.where(known, np.arange(len(smooth)), -1))
    return np.where(following[:, np.newaxis] >= 0, quaternions[following], quaternions)
