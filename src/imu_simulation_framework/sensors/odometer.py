"""Wheel odometry: what the encoders of a differential drive make of its motion.

Over a step the robot goes forward by ds and turns by dpsi; then a wheel rolls ``ds -+ b dpsi / 2``,
minus for the left one, and turns by that over its radius. The odometer believes in other radii and
another track b. UMBmark (J. Borenstein and L. Feng, "Measurement and correction of systematic
odometry errors in mobile robots", IEEE Transactions on Robotics and Automation 12, 1996) calls the
true ratio of diameters, right to left, E_d and that of tracks, true to believed, E_b. What is not
systematic is white noise whose variance grows with the distance (R. Siegwart and I. Nourbakhsh,
"Introduction to Autonomous Mobile Robots", 5.2.4), and a wheel that turns further where it pushes.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import ConfigurationError
from ..core.settings import Settings, declared, from_mapping, setting
from ..core.units import STANDARD_GRAVITY
from ..core.yaml_files import find_description, read_description
from .noise.streams import child_generator, child_seed, run_seed

if TYPE_CHECKING:
    import pandas as pd

    from ..motion.motion import Motion

_NEAR_ONE: dict[str, Any] = {"minimum": 0.5, "maximum": 2.0}
_SPREAD: dict[str, Any] = {"minimum": 0.0, "maximum": 0.1}


@dataclass(frozen=True)
class OdometerSpecification(Settings):
    """Wheel encoders and what the robot believes of its wheels; the defaults have no errors.

    ``rate``: readings per second [Hz]. ``wheel_radius``, ``track``: which the robot believes in;
    the track is the distance between left and right wheels [m]. ``ticks_per_turn``: of a wheel; 0
    is an encoder without steps. ``scale``: true mean radius over the believed one.
    ``diameter_ratio``: E_d, true right diameter over the left. ``track_ratio``: E_b, true track
    over the believed one, which for a skid-steered robot is its effective track. ``..._sigma``:
    standard deviations of these three from one robot to the next; drawn in each run. ``slip``:
    standard deviation of the distance of each wheel after one metre [m/sqrt(m)].
    ``acceleration_slip``: share by which a wheel turns further while the robot accelerates forward
    by 1 g.
    """

    rate: float = declared(50.0, unit="Hz", minimum=1e-3, maximum=1e4)
    wheel_radius: float = declared(0.1, unit="m", minimum=1e-3, maximum=10.0)
    track: float = declared(0.5, unit="m", minimum=1e-3, maximum=100.0)
    ticks_per_turn: int = setting(0, minimum=0, maximum=1e9)
    scale: float = declared(1.0, **_NEAR_ONE)
    diameter_ratio: float = declared(1.0, **_NEAR_ONE)
    track_ratio: float = declared(1.0, **_NEAR_ONE)
    scale_sigma: float = declared(0.0, **_SPREAD)
    diameter_ratio_sigma: float = declared(0.0, **_SPREAD)
    track_ratio_sigma: float = declared(0.0, **_SPREAD)
    slip: float = declared(0.0, unit="m/sqrt(m)", minimum=0.0, maximum=1.0)
    acceleration_slip: float = declared(0.0, minimum=0.0, maximum=10.0)


def read_odometer(name: str | os.PathLike[str]) -> OdometerSpecification:
    """Return an odometer from its YAML file, or by the name of a bundled one.

    Parameters
    ----------
    name : str or PathLike
        A file whose keys are the fields of :class:`OdometerSpecification`, or the name of one in
        config/odometers, ``differential``.

    Raises
    ------
    ConfigurationError
        There is neither, or it describes no odometer.
    """
    path = find_description(name, "odometers", "an odometer")
    make = partial(from_mapping, OdometerSpecification, what="it")
    return read_description(path, "the odometer", make)


def simulate_odometer(
    motion: Motion,
    odometer: OdometerSpecification,
    seed: int | np.random.SeedSequence = 1,
    run: int = 0,
) -> pd.DataFrame:
    """Return what a differential drive's odometer says of its motion.

    Raises :class:`.ConfigurationError`: the odometer is faster than the motion is sampled;
    :class:`.MotionError`: the motion is not evenly sampled.

    Parameters
    ----------
    motion : Motion
        Of the middle between the wheels, on level ground.
    odometer : OdometerSpecification
    seed : int or numpy.random.SeedSequence
        Of all runs.
    run : int
        Which one. It has the same numbers whatever other runs there are.

    Returns
    -------
    pandas.DataFrame
        Indexed by time [s]: left, right [rad], by which the wheels have turned; x, y [m] and yaw
        [rad, unwrapped] from the motion's first pose on, each step along its mean direction;
        v [m/s] and yaw_rate [rad/s], means since the reading before, zero in the first.
    """
    # Imported here: nodes read what an odometer is, and pandas takes 24 MB.
    import pandas as pd

    if odometer.rate * motion.period > 1.0 + 1e-6:
        raise ConfigurationError(
            f"rate is {odometer.rate:g} Hz, but the motion has only {1.0 / motion.period:g} "
            "samples per second."
        )
    yaw, way = motion.yaw, rolled_way(motion, odometer)
    count = int((motion.time[-1] - motion.time[0]) * odometer.rate + 1e-6) + 1
    time = motion.time[0] + np.arange(count) / odometer.rate
    x, y = motion.position[:, :2].T
    way, *poses = (np.interp(time, motion.time, values) for values in (way, x, y, yaw))
    readings = Odometer(odometer, run_seed(seed, run)).read(time, way, np.column_stack(poses))
    return pd.DataFrame(readings, index=pd.Index(time, name="time"))


def rolled_way(motion: Motion, odometer: OdometerSpecification) -> np.ndarray:
    """Return how far forward the wheels have rolled on average since the start (n,) [m]."""
    speed = forward_speed(motion.yaw, motion.velocity)
    return np.cumsum(rolled_steps(motion.time, speed, odometer))


def forward_speed(yaw: np.ndarray, velocity: np.ndarray) -> np.ndarray:
    """Return how fast a robot goes where it looks (n,) [m/s], of velocities (n, 3) in the world."""
    return np.cos(yaw) * velocity[:, 0] + np.sin(yaw) * velocity[:, 1]


def rolled_steps(
    time: np.ndarray, speed: np.ndarray, odometer: OdometerSpecification
) -> np.ndarray:
    """Return how far the wheels have rolled on average since the sample before (n,) [m].

    What pushes against the ground is the middle's acceleration, so that turning pushes no wheel.
    """
    period, gained = np.diff(time), np.diff(speed)
    pushed = period + odometer.acceleration_slip / STANDARD_GRAVITY * gained
    return np.concatenate([[0.0], 0.5 * (speed[1:] + speed[:-1]) * pushed])


_STREAM = 2000  # child of a run's seed; IMU and receiver have some from 0, and from 1000 on


class Odometer:
    """The odometer of one robot; what it says is the same in one piece or in many.

    ``seed``: of the run. Each wheel's slip has a stream of its own, so have the robot's sizes.
    """

    def __init__(self, odometer: OdometerSpecification, seed: int | np.random.SeedSequence) -> None:
        self._odometer = odometer
        own = child_seed(seed, _STREAM)
        sizes, *self._wheels = (child_generator(own, k) for k in range(3))
        scale, diameters, track = sizes.standard_normal(3)
        scale = odometer.scale + odometer.scale_sigma * scale
        ratio = odometer.diameter_ratio + odometer.diameter_ratio_sigma * diameters
        track = odometer.track_ratio + odometer.track_ratio_sigma * track
        half_track = 0.5 * odometer.track * track
        self._sides = np.array([-half_track, half_track])
        self._radius = odometer.wheel_radius * scale * np.array([2.0, 2.0 * ratio]) / (1.0 + ratio)
        self._start: np.ndarray | None = None
        self._before = np.zeros(3)  # time, way and yaw of the last reading
        self._sums = np.zeros(5)  # rolled distances of both wheels; x, y and yaw since the start
        self._angles = np.zeros(2)

    def read(self, time: np.ndarray, way: np.ndarray, poses: np.ndarray) -> dict[str, np.ndarray]:
        """Return its next readings, columns of :func:`simulate_odometer`.

        ``time`` (n,): after those of before [s]; ``way`` (n,): how far the middle between the
        wheels has rolled [m]; ``poses`` (n, 3): of the robot, of which it learns the first one, x
        and y [m], and the turning, yaw [rad, unwrapped].
        """
        odometer = self._odometer
        known = np.column_stack([time, way, poses[:, 2]])
        if self._start is None:
            self._start = poses[0]
            self._before = known[0] - [1.0 / odometer.rate, 0.0, 0.0]
        period, step, turn = np.diff(np.vstack([self._before, known]), axis=0).T
        self._before = known[-1]
        rolled = step[:, None] + np.outer(turn, self._sides)
        noise = np.column_stack([wheel.standard_normal(len(time)) for wheel in self._wheels])
        rolled += odometer.slip * np.sqrt(np.abs(rolled)) * noise
        angles = self._summed(slice(0, 2), rolled) / self._radius
        if odometer.ticks_per_turn:
            tick = 2.0 * np.pi / odometer.ticks_per_turn
            angles = tick * np.floor(angles / tick)
        left, right = odometer.wheel_radius * np.diff(np.vstack([self._angles, angles]), axis=0).T
        self._angles = angles[-1]
        forward, turn = 0.5 * (left + right), (right - left) / odometer.track
        yaw = self._start[2] + self._summed(slice(4, 5), turn[:, None])[:, 0]
        along = yaw - 0.5 * turn
        moved = np.column_stack([forward * np.cos(along), forward * np.sin(along)])
        x, y = (self._start[:2] + self._summed(slice(2, 4), moved)).T
        said = {"x": x, "y": y, "yaw": yaw, "v": forward / period, "yaw_rate": turn / period}
        return {**dict(zip(("left", "right"), angles.T)), **said}

    def _summed(self, place: slice, steps: np.ndarray) -> np.ndarray:
        """Return running sums of steps (n, k), which go on from those of the readings before."""
        sums = np.cumsum(np.vstack([self._sums[place], steps]), axis=0)[1:]
        self._sums[place] = sums[-1]
        return sums
