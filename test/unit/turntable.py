"""Motions for the calibration of a sensor: standstill, rotation, standstill."""

import numpy as np
from scipy.spatial.transform import Rotation

from imu_simulation_framework.core.units import WORLD_GRAVITY
from imu_simulation_framework.motion.motion import Motion

_QUARTER = np.pi / 2.0
# Rotation vectors in body axes [rad]: from z up to y up, z down, y down, x down and x up.
SIX_POSITIONS = (*[(_QUARTER, 0.0, 0.0)] * 3, (0.0, 0.0, _QUARTER), (0.0, 0.0, 2.0 * _QUARTER))


def six_positions(standstill, move, tilts):
    """Return steps for :func:`turntable_motion` with each axis up and down at standstill.

    The motion begins with z up and ends with x up.

    Parameters
    ----------
    standstill : float
        Time in each orientation [s].
    move : float
        Time from one orientation to the next [s].
    tilts : array_like, shape (6, 3)
        Error of each orientation, as a rotation vector in body axes [rad]. The first tilt is the
        ``start`` of the motion.

    Returns
    -------
    list of tuple
        Rotation vector and duration of each step.
    """
    nominal = Rotation.identity()
    previous = nominal * Rotation.from_rotvec(tilts[0])
    steps = [(np.zeros(3), standstill)]
    for vector, tilt in zip(SIX_POSITIONS, tilts[1:]):
        nominal = nominal * Rotation.from_rotvec(vector)
        actual = nominal * Rotation.from_rotvec(tilt)
        steps += [((previous.inv() * actual).as_rotvec(), move), (np.zeros(3), standstill)]
        previous = actual
    return steps


def turntable_motion(steps, rate=100.0, start=(0.0, 0.0, 0.0)):
    """Return the motion of a body that rotates step by step at a fixed position.

    In each step the body rotates about a fixed axis with the angular velocity
    ``angle / T (1 - cos(2 pi t / T))``. The rotation of the Earth is neglected.

    Parameters
    ----------
    steps : iterable of tuple
        Rotation vector in body axes [rad] and duration T [s]. The vector may have several full
        turns; a zero vector is a standstill.
    rate : float, optional
        Sampling rate [Hz].
    start : array_like, optional
        Rotation vector from level to the first orientation [rad].

    Returns
    -------
    Motion
    """
    current = Rotation.from_rotvec(start)
    orientations, velocities = [current.as_quat()[None, :]], [np.zeros((1, 3))]
    for vector, duration in steps:
        count = round(duration * rate)
        progress = np.arange(1, count + 1) / count
        share = progress - np.sin(2.0 * np.pi * progress) / (2.0 * np.pi)
        orientations.append((current * Rotation.from_rotvec(np.outer(share, vector))).as_quat())
        velocities.append(np.outer((1.0 - np.cos(2.0 * np.pi * progress)) * rate / count, vector))
        current = current * Rotation.from_rotvec(vector)
    orientation = np.concatenate(orientations)
    still = np.zeros((len(orientation), 3))
    force = Rotation.from_quat(orientation).inv().apply([0.0, 0.0, WORLD_GRAVITY])
    time = np.arange(len(orientation)) / rate
    return Motion(time, still, orientation, still, np.concatenate(velocities), force, WORLD_GRAVITY)
