"""The motion of a sensor that somebody calibrates: at rest, turned, at rest again."""

import numpy as np
from scipy.spatial.transform import Rotation

from imu_simulation_framework.core.units import WORLD_GRAVITY
from imu_simulation_framework.motion.motion import Motion

_QUARTER = np.pi / 2.0
# From z up: y up, z down, y down, then x down and x up.
SIX_POSITIONS = (*[(_QUARTER, 0.0, 0.0)] * 3, (0.0, 0.0, _QUARTER), (0.0, 0.0, 2.0 * _QUARTER))
"""Rotation vectors in the body's axes [rad] that bring each of its axes up and down once."""


def six_positions(rest, move, tilts):
    """Return steps for :func:`turntable_motion`: at rest with each axis up and down.

    The first is z up, where the motion begins; the last x up. ``rest`` is the time in each position
    and ``move`` from one to the next [s]; ``tilts``, shape (6, 3), are how far each position is
    from where it should be, rotation vectors in the body's axes [rad], with the first of which the
    motion has to begin.
    """
    wanted = Rotation.identity()
    before = wanted * Rotation.from_rotvec(tilts[0])
    steps = [(np.zeros(3), rest)]
    for vector, tilt in zip(SIX_POSITIONS, tilts[1:]):
        wanted = wanted * Rotation.from_rotvec(vector)
        there = wanted * Rotation.from_rotvec(tilt)
        steps += [((before.inv() * there).as_rotvec(), move), (np.zeros(3), rest)]
        before = there
    return steps


def turntable_motion(steps, rate=100.0, start=(0.0, 0.0, 0.0)):
    """Return the motion of a body that is turned step by step, its place kept.

    In each step it turns about one axis of its own, gently at both ends: the angular velocity is
    ``angle / T (1 - cos(2 pi t / T))``. The Earth is taken as not turning. A step is a rotation
    vector in the body's axes [rad], of any number of whole turns, zero for rest; and its duration T
    [s]. ``start`` is the rotation vector from level to where it begins [rad].
    """
    here = Rotation.from_rotvec(start)
    orientations, velocities = [here.as_quat()[None, :]], [np.zeros((1, 3))]
    for vector, duration in steps:
        count = round(duration * rate)
        part = np.arange(1, count + 1) / count
        turned = part - np.sin(2.0 * np.pi * part) / (2.0 * np.pi)
        orientations.append((here * Rotation.from_rotvec(np.outer(turned, vector))).as_quat())
        velocities.append(np.outer((1.0 - np.cos(2.0 * np.pi * part)) * rate / count, vector))
        here = here * Rotation.from_rotvec(vector)
    orientation = np.concatenate(orientations)
    still = np.zeros((len(orientation), 3))
    force = Rotation.from_quat(orientation).inv().apply([0.0, 0.0, WORLD_GRAVITY])
    time = np.arange(len(orientation)) / rate
    return Motion(time, still, orientation, still, np.concatenate(velocities), force, WORLD_GRAVITY)
