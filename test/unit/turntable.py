"""The motion of a sensor that somebody calibrates: at rest, turned, at rest again."""

from __future__ import annotations

from typing import Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from imu_simulation_framework.core.constants import WORLD_GRAVITY
from imu_simulation_framework.core.errors import MotionError
from imu_simulation_framework.motion.motion import Motion

Step = Sequence  # (rotation vector in the body's axes [rad], duration [s])

_QUARTER = np.pi / 2.0
# From z up: y up, z down, y down, then x down and x up.
SIX_POSITIONS = (
    (_QUARTER, 0.0, 0.0),
    (_QUARTER, 0.0, 0.0),
    (_QUARTER, 0.0, 0.0),
    (0.0, 0.0, _QUARTER),
    (0.0, 0.0, 2.0 * _QUARTER),
)
"""Rotation vectors in the body's axes [rad] that bring each of its axes up and down once."""


def six_positions(rest: float, move: float = 5.0, tilts: ArrayLike | None = None) -> list[Step]:
    """Return steps for :func:`turntable_motion`: at rest with each axis up and down.

    The first is z up, where the motion begins; the last x up.

    Parameters
    ----------
    rest : float
        Time in each position [s].
    move : float
        Time from one to the next [s].
    tilts : array_like, shape (6, 3), optional
        How far each position is from where it should be, a rotation vector in the body's axes
        [rad]. The motion has to begin with the first.
    """
    tilts = np.zeros((6, 3)) if tilts is None else np.asarray(tilts, dtype=float)
    wanted = Rotation.from_rotvec(np.zeros(3))
    before = wanted * Rotation.from_rotvec(tilts[0])
    steps: list[Step] = [(np.zeros(3), rest)]
    for vector, tilt in zip(SIX_POSITIONS, tilts[1:]):
        wanted = wanted * Rotation.from_rotvec(vector)
        there = wanted * Rotation.from_rotvec(tilt)
        steps += [((before.inv() * there).as_rotvec(), move), (np.zeros(3), rest)]
        before = there
    return steps


def turntable_motion(
    steps: Sequence[Step],
    rate: float = 100.0,
    gravity: float = WORLD_GRAVITY,
    start: ArrayLike = (0.0, 0.0, 0.0),
) -> Motion:
    """Return the motion of a body that is turned step by step, its place kept.

    In each step it turns about one axis of its own, gently at both ends: the
    angular velocity is ``angle / T (1 - cos(2 pi t / T))``. The Earth is taken as not turning.

    Parameters
    ----------
    steps : sequence of (3 float, float)
        Rotation vector in the body's axes [rad], of any number of whole turns, zero for rest; and
        duration T [s].
    rate : float
        Samples per second [Hz].
    gravity : float
        [m/s^2]
    start : array_like, shape (3,)
        Rotation vector from level to where it begins [rad].

    Raises
    ------
    MotionError
        There is no step, or a step is shorter than two samples.
    """
    vectors = np.array([step[0] for step in steps], dtype=float).reshape(-1, 3)
    counts = np.array([round(step[1] * rate) for step in steps], dtype=int)
    if len(counts) == 0 or np.any(counts < 2):
        raise MotionError("every step must last for two samples at least, and there must be one")
    here = Rotation.from_rotvec(np.asarray(start, dtype=float))
    orientations, velocities = [here.as_quat()[None, :]], [np.zeros((1, 3))]
    for vector, count in zip(vectors, counts):
        part = np.arange(1, count + 1) / count
        turned = part - np.sin(2.0 * np.pi * part) / (2.0 * np.pi)
        orientations.append((here * Rotation.from_rotvec(turned[:, None] * vector)).as_quat())
        speed = (1.0 - np.cos(2.0 * np.pi * part)) * rate / count
        velocities.append(speed[:, None] * vector)
        here = here * Rotation.from_rotvec(vector)
    orientation = np.concatenate(orientations)
    still = np.zeros((len(orientation), 3))
    force = Rotation.from_quat(orientation).inv().apply([0.0, 0.0, gravity])
    time = np.arange(len(orientation)) / rate
    velocity = np.concatenate(velocities)
    return Motion(time, still, orientation, still, velocity, force, gravity)
