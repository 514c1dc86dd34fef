"""Motions that need no simulator: rest, simple paths, bundled drives and tables of poses."""

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

RATE = 100.0  # Hz; default sampling rate
MAX_SAMPLES = 100_000_000  # per motion; protects against wrong durations and sample rates


def at_rest(
    duration: float,
    rate: float = RATE,
    roll: float = 0.0,
    pitch: float = 0.0,
    yaw: float = 0.0,
    gravity: float = WORLD_GRAVITY,
) -> Motion:
    """Return the motion of a body at rest in a non-rotating world.

    Parameters
    ----------
    duration : float
        Duration [s].
    rate : float
        Sample rate [Hz].
    roll, pitch, yaw : float
        Orientation of the body [rad].
    gravity : float
        Gravity [m/s^2].

    Returns
    -------
    Motion

    Raises
    ------
    MotionError
        Duration or rate is not positive.
    """
    time = even_times(duration, rate)
    (quaternion,) = quaternion_from_roll_pitch_yaw([[roll, pitch, yaw]])
    level = math.cos(pitch)
    up = np.array([-math.sin(pitch), math.sin(roll) * level, math.cos(roll) * level])
    zeros, count = np.zeros((len(time), 3)), (len(time), 1)
    orientation, force = np.tile(quaternion, count), np.tile(gravity * up, count)
    return Motion(time, zeros, orientation, zeros, zeros, force, gravity)


def straight(
    duration: float, speed: float = 1.0, rate: float = RATE, gravity: float = WORLD_GRAVITY
) -> Motion:
    """Return a horizontal motion eastwards at constant speed, from the world's origin.

    Parameters
    ----------
    duration : float
        Duration [s].
    speed : float
        Speed [m/s].
    rate : float
        Sample rate [Hz].
    gravity : float
        Gravity [m/s^2].

    Returns
    -------
    Motion

    Raises
    ------
    MotionError
        Duration or rate is not positive, or the speed is not finite.
    """
    if not (math.isfinite(speed)):
        raise MotionError(f"speed of a motion is {speed}, expected a finite number")
    time = even_times(duration, rate)
    return _level(time, 0.0, speed, 0.0, [speed * time, np.zeros(len(time))], gravity)


def rounds(
    count: float,
    radius: float,
    speed: float = 1.0,
    rate: float = RATE,
    gravity: float = WORLD_GRAVITY,
) -> Motion:
    """Return a horizontal motion around a circle at constant speed.

    The motion starts eastwards at the world's origin.

    Parameters
    ----------
    count : float
        Number of circles; negative for clockwise circles.
    radius : float
        Radius of the circle [m].
    speed : float
        Speed [m/s].
    rate : float
        Sample rate [Hz].
    gravity : float
        Gravity [m/s^2].

    Returns
    -------
    Motion

    Raises
    ------
    MotionError
        A value is not positive, or the number of circles is zero.
    """
    values = {"radius": radius, "speed": speed, "number of rounds": abs(count)}
    require_positive({f"{name} of a circle": value for name, value in values.items()})
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
    """Return a horizontal motion back and forth on parallel lanes.

    The motion starts eastwards at the world's origin, and its speed is constant. A turn to the next
    lane consists of a quarter circle, a straight line and another quarter circle; turns alternate
    between left and right. The length of the path is ``lanes`` times the length of a lane, plus
    pi times the radius plus the width minus two radii for each turn.

    Parameters
    ----------
    lanes : int
        Number of lanes.
    length : float
        Length of a lane [m].
    width : float
        Distance between neighbouring lanes [m].
    speed : float
        Speed [m/s].
    radius : float, optional
        Radius of the quarter circles [m]; by default half of the width.
    rate : float
        Sample rate [Hz].
    gravity : float
        Gravity [m/s^2].

    Returns
    -------
    Motion

    Raises
    ------
    MotionError
        A value is not positive, or two radii exceed the width.
    """
    radius = 0.5 * width if radius is None else radius
    lane = {"number of lanes": lanes, "length of a lane": length, "width of a lane": width}
    require_positive({**lane, "radius of a turn": radius, "speed": speed})
    if lanes != int(lanes):
        raise MotionError(f"number of lanes is {lanes}, expected a whole number")
    lanes = int(lanes)
    across = width - 2.0 * radius
    if across < -1e-9 * width:
        raise MotionError(
            f"width of a lane is {width:g} m, expected at least {2.0 * radius:g} m for a turn of "
            f"{radius:g} m radius"
        )
    quarter = 0.5 * math.pi * radius
    distance = lanes * length + (lanes - 1) * (2.0 * quarter + across)
    time = even_times(distance / speed, rate)
    steps = np.tile([length, quarter, max(across, 0.0), quarter], lanes)[:-3]
    curved = np.array([0.0, 1.0, 0.0, 1.0]) / radius
    bends = np.concatenate([curved, -curved] * lanes)[: len(steps)]
    ends = np.cumsum(steps)
    piece = np.minimum(np.searchsorted(ends, speed * time, side="right"), len(steps) - 1)
    starts = ends - steps
    start_yaw = np.concatenate([[0.0], np.cumsum(bends * steps)[:-1]])
    # The chord of an arc of length s has the length s sin(a) / a, where a is half the arc's angle.
    # The direction of the chord is the mean of the directions at both ends of the arc.
    chords = steps * np.sinc(0.5 * bends * steps / math.pi)
    middle = start_yaw + 0.5 * bends * steps
    corners = np.cumsum([chords * np.cos(middle), chords * np.sin(middle)], axis=1)
    corners = np.hstack([np.zeros((2, 1)), corners])
    arc_length = speed * time - starts[piece]
    angle = bends[piece] * arc_length
    chord, direction = arc_length * np.sinc(0.5 * angle / math.pi), start_yaw[piece] + 0.5 * angle
    path = corners[:, piece] + chord * np.array([np.cos(direction), np.sin(direction)])
    return _level(time, start_yaw[piece] + angle, speed, speed * bends[piece], path, gravity)


def read_drive(name: str, laps: int | None = None, gravity: float = WORLD_GRAVITY) -> Motion:
    """Return the true motion of a bundled drive (:data:`.drives.DRIVES`), sampled at 100 Hz.

    Parameters
    ----------
    name : str
        Name of the drive.
    laps : int, optional
        Number of laps; by default that of the drive.
    gravity : float
        Gravity [m/s^2].

    Returns
    -------
    Motion

    Raises
    ------
    ConfigurationError
        There is no drive with this name, or it cannot have this number of laps.
    """
    chosen = get_drive(name)
    table = true_motion(chosen if laps is None else with_laps(chosen, laps))
    return planar(table, gravity)


def planar(
    table: pd.DataFrame, gravity: float = WORLD_GRAVITY, at: ArrayLike | None = None
) -> Motion:
    """Return the motion of a body on a horizontal plane from a table of its poses.

    Parameters
    ----------
    table : pandas.DataFrame
        Columns of Trajectory, and ``acceleration``, the derivative of v [m/s^2]. If there are only
        the columns of Poses, they are differentiated (:meth:`.Motion.from_poses`), and the body may
        also move sideways.
    gravity : float
        Gravity [m/s^2].
    at : array_like, shape (n,), optional
        Times of the motion's samples, only for a table of Poses [s]; by default those of the table.

    Returns
    -------
    Motion

    Raises
    ------
    MotionError
        An argument of :class:`.Motion` would be invalid.
    """
    time = table.index.to_numpy(dtype=float)
    yaw = table["yaw"].to_numpy(dtype=float)
    position = np.column_stack([table["x"], table["y"], np.zeros(len(table))])
    if "acceleration" not in table:
        return Motion.from_poses(time, position, _yaw_quaternions(yaw), gravity, at)
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
    """Return a horizontal motion along a path with the coordinates x and y, (2, n)."""
    yaw = np.broadcast_to(yaw, time.shape)
    zeros, unit = np.zeros(len(time)), np.ones(len(time))
    return Motion(
        time,
        np.column_stack([*path, zeros]),
        _yaw_quaternions(yaw),
        np.column_stack([speed * np.cos(yaw), speed * np.sin(yaw), zeros]),
        np.column_stack([zeros, zeros, yaw_rate * unit]),
        np.column_stack([acceleration * unit, speed * yaw_rate * unit, gravity * unit]),
        gravity,
    )


def _yaw_quaternions(yaw: ArrayLike) -> np.ndarray:
    half_yaw = 0.5 * np.asarray(yaw, dtype=float)
    zeros = np.zeros(len(half_yaw))
    return np.column_stack([zeros, zeros, np.sin(half_yaw), np.cos(half_yaw)])


def require_positive(values: Mapping[str, float]) -> None:
    """Check that values are positive.

    Parameters
    ----------
    values : mapping of str to float
        Value for each name; the name is used in the error message.

    Raises
    ------
    MotionError
        A value is not positive.
    """
    for name, value in values.items():
        if not (math.isfinite(value) and value > 0.0):
            raise MotionError(f"{name} is {value}, expected a positive number")


def even_times(duration: float, rate: float) -> np.ndarray:
    """Return evenly spaced times from zero to at most a given duration.

    Parameters
    ----------
    duration : float
        Upper bound of the last time [s].
    rate : float
        Sample rate [Hz].

    Returns
    -------
    ndarray, shape (n,)
        Times [s].

    Raises
    ------
    MotionError
        A value is not positive, or there are too many samples.
    """
    require_positive({"duration of a motion": duration, "rate of a motion": rate})
    samples = duration * rate + 1.0
    if samples > MAX_SAMPLES:
        raise MotionError(
            f"motion of {duration:g} s at {rate:g} Hz has {samples:.3g} samples, expected at most "
            f"{MAX_SAMPLES}"
        )
    return np.arange(int(samples + 1e-6)) / rate
