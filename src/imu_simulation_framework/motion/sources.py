"""Where a motion comes from without a simulator: rest, simple figures, drives, planar paths."""

from __future__ import annotations

import math
from typing import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from ..core.angles import quaternion_from_roll_pitch_yaw
from ..core.errors import MotionError
from ..core.units import WORLD_GRAVITY
from .drives import get_drive, true_motion, with_laps
from .motion import Motion

RATE = 100.0
"""Samples per second where none is asked for [Hz]."""
MAX_SAMPLES = 100_000_000
"""Of a motion that is described by a few numbers, which may be mistaken."""


def at_rest(
    duration: float,
    rate: float = RATE,
    roll: float = 0.0,
    pitch: float = 0.0,
    yaw: float = 0.0,
    gravity: float = WORLD_GRAVITY,
) -> Motion:
    """Return the motion of what stands still, the Earth taken as not turning.

    ``duration`` [s], ``rate`` [Hz], angles of the body [rad], ``gravity`` [m/s^2]. Raises
    MotionError if duration or rate is not positive.
    """
    time = even_times(duration, rate)
    (quaternion,) = quaternion_from_roll_pitch_yaw([[roll, pitch, yaw]])
    level = math.cos(pitch)
    up = np.array([-math.sin(pitch), math.sin(roll) * level, math.cos(roll) * level])
    still, count = np.zeros((len(time), 3)), (len(time), 1)
    orientation, force = np.tile(quaternion, count), np.tile(gravity * up, count)
    return Motion(time, still, orientation, still, still, force, gravity)


def straight(
    duration: float, speed: float = 1.0, rate: float = RATE, gravity: float = WORLD_GRAVITY
) -> Motion:
    """Return a level motion eastwards at constant speed [m/s], from the world's origin.

    ``duration`` [s], ``rate`` [Hz] and ``gravity`` [m/s^2] are as for :func:`at_rest`, which raises
    the same.
    """
    if not (math.isfinite(speed)):
        raise MotionError(f"the speed of a motion is {speed}, but it must be a finite number")
    time = even_times(duration, rate)
    return _level(time, 0.0, speed, 0.0, [speed * time, np.zeros(len(time))], gravity)


def rounds(
    count: float,
    radius: float,
    speed: float = 1.0,
    rate: float = RATE,
    gravity: float = WORLD_GRAVITY,
) -> Motion:
    """Return a level motion in circles at constant speed, from the world's origin, first eastwards.

    ``count``: how many times round; negative is clockwise. ``radius``, ``speed``, ``rate``,
    ``gravity`` [m], [m/s], samples per second [Hz], [m/s^2]. Raises MotionError if a value is not
    positive, or there is no round.
    """
    sizes = {"radius": radius, "speed": speed, "number of rounds": abs(count)}
    require_positive({f"{name} of a circle": value for name, value in sizes.items()})
    yaw_rate = math.copysign(speed / radius, count)
    time = even_times(2.0 * math.pi * abs(count) / abs(yaw_rate), rate)
    yaw, signed = yaw_rate * time, speed / yaw_rate
    path = [signed * np.sin(yaw), signed * (1.0 - np.cos(yaw))]
    return _level(time, yaw, speed, yaw_rate, path, gravity)


def mowing(
    lanes: int,
    length: float,
    width: float,
    speed: float = 1.0,
    radius: float | None = None,
    rate: float = RATE,
    gravity: float = WORLD_GRAVITY,
) -> Motion:
    """Return a level motion back and forth on parallel lanes, from the origin, first eastwards.

    At constant speed, also in the turns: a quarter of a circle, straight on to the next lane, and
    another quarter, to the left and to the right in turn. The way is ``lanes`` times the length,
    and for each turn pi times the radius and what the width exceeds two radii by.

    ``length``: of a lane [m]. ``width``: from one lane to the next [m]. ``radius``: of the turns
    [m]; by default half of the width. ``speed``, ``rate``, ``gravity`` are as for :func:`rounds`.
    Raises MotionError if a value is not positive, or two radii exceed the width.
    """
    radius = 0.5 * width if radius is None else radius
    lane = {"number of lanes": lanes, "length of a lane": length, "width of a lane": width}
    require_positive({**lane, "radius of a turn": radius, "speed": speed})
    if lanes != int(lanes):
        raise MotionError(f"the number of lanes is {lanes}, but it must be whole")
    lanes = int(lanes)
    across = width - 2.0 * radius
    if across < -1e-9 * width:
        raise MotionError(
            f"a turn of {radius:g} m radius needs lanes that are {2.0 * radius:g} m from each "
            f"other, but these are {width:g} m"
        )
    quarter = 0.5 * math.pi * radius
    way = lanes * length + (lanes - 1) * (2.0 * quarter + across)
    time = even_times(way / speed, rate)
    steps = np.tile([length, quarter, max(across, 0.0), quarter], lanes)[:-3]
    curved = np.array([0.0, 1.0, 0.0, 1.0]) / radius
    bends = np.concatenate([curved, -curved] * lanes)[: len(steps)]
    ends = np.cumsum(steps)
    piece = np.minimum(np.searchsorted(ends, speed * time, side="right"), len(steps) - 1)
    begun = ends - steps
    yaw_begun = np.concatenate([[0.0], np.cumsum(bends * steps)[:-1]])
    # The chord of an arc s is s sinc(half its turn), and lies in the middle of its directions.
    chords = steps * np.sinc(0.5 * bends * steps / math.pi)
    middle = yaw_begun + 0.5 * bends * steps
    corners = np.cumsum([chords * np.cos(middle), chords * np.sin(middle)], axis=1)
    corners = np.hstack([np.zeros((2, 1)), corners])
    gone = speed * time - begun[piece]
    turned = bends[piece] * gone
    chord, direction = gone * np.sinc(0.5 * turned / math.pi), yaw_begun[piece] + 0.5 * turned
    path = corners[:, piece] + chord * np.array([np.cos(direction), np.sin(direction)])
    return _level(time, yaw_begun[piece] + turned, speed, speed * bends[piece], path, gravity)


def read_drive(name: str, laps: int | None = None, gravity: float = WORLD_GRAVITY) -> Motion:
    """Return the true motion of one of :data:`.motion.drives.DRIVES`, in closed form, at 100 Hz.

    ``laps`` are other than the drive's own number, ``gravity`` in m/s^2. Raises ConfigurationError
    if there is no such drive, or it cannot have so many laps.
    """
    chosen = get_drive(name)
    table = true_motion(chosen if laps is None else with_laps(chosen, laps))
    return planar(table, gravity)


def planar(
    table: pd.DataFrame, gravity: float = WORLD_GRAVITY, at: ArrayLike | None = None
) -> Motion:
    """Return the motion of a body that moves on a level plane along its own x axis.

    ``table`` (pandas.DataFrame): Trajectory, and ``acceleration``, which is the change of v
    [m/s^2]; or Poses alone, which are then taken for any level motion and differentiated
    (:meth:`.Motion.from_poses`). ``gravity`` [m/s^2]. ``at``: times of the motion's samples, for
    Poses alone; by default those of the table [s]. Raises MotionError as for :class:`.Motion`.
    """
    time = table.index.to_numpy(dtype=float)
    yaw = table["yaw"].to_numpy(dtype=float)
    position = np.column_stack([table["x"], table["y"], np.zeros(len(table))])
    if "acceleration" not in table:
        return Motion.from_poses(time, position, _about_vertical(yaw), gravity, at)
    speed, yaw_rate = table["v"].to_numpy(dtype=float), table["yaw_rate"].to_numpy(dtype=float)
    acceleration = table["acceleration"].to_numpy(dtype=float)
    return _level(time, yaw, speed, yaw_rate, position.T[:2], gravity, acceleration)


def _level(
    time: np.ndarray,
    yaw: ArrayLike,
    speed: float | np.ndarray,
    yaw_rate: float | np.ndarray,
    path: Sequence[np.ndarray] | np.ndarray,
    gravity: float,
    acceleration: float | np.ndarray = 0.0,
) -> Motion:
    """Return a level motion along a path, x and y, (2, n)."""
    yaw = np.broadcast_to(yaw, time.shape)
    nothing, ones = np.zeros(len(time)), np.ones(len(time))
    return Motion(
        time,
        np.column_stack([*path, nothing]),
        _about_vertical(yaw),
        np.column_stack([speed * np.cos(yaw), speed * np.sin(yaw), nothing]),
        np.column_stack([nothing, nothing, yaw_rate * ones]),
        np.column_stack([acceleration * ones, speed * yaw_rate * ones, gravity * ones]),
        gravity,
    )


def _about_vertical(yaw: ArrayLike) -> np.ndarray:
    half = 0.5 * np.asarray(yaw, dtype=float)
    nothing = np.zeros(len(half))
    return np.column_stack([nothing, nothing, np.sin(half), np.cos(half)])


def require_positive(sizes: Mapping[str, float]) -> None:
    """Raise MotionError where one of some sizes, by what they are called, is not positive."""
    for name, value in sizes.items():
        if not (math.isfinite(value) and value > 0.0):
            raise MotionError(f"the {name} is {value}, but it must be positive")


def even_times(duration: float, rate: float) -> np.ndarray:
    """Return times from zero to a duration [s] at a rate [Hz].

    Raises MotionError if either is not positive, or they make too many samples.
    """
    require_positive({"duration of a motion": duration, "rate of a motion": rate})
    samples = duration * rate + 1.0
    if samples > MAX_SAMPLES:
        raise MotionError(
            f"a motion of {duration:g} s at {rate:g} Hz has {samples:.3g} samples, but at most "
            f"{MAX_SAMPLES} are possible"
        )
    return np.arange(int(samples + 1e-6)) / rate
