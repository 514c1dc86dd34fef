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
from typing import Any

import numpy as np
import pandas as pd

from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.core.settings import Settings, declared, from_mapping, setting
from imu_simulation_framework.core.units import STANDARD_GRAVITY
from imu_simulation_framework.core.yaml_files import read_described
from imu_simulation_framework.motion.motion import Motion
from imu_simulation_framework.sensors.noise.streams import child_generator, run_seed

_NEAR_ONE: dict[str, Any] = {"minimum": 0.5, "maximum": 2.0}
_SPREAD: dict[str, Any] = {"minimum": 0.0, "maximum": 0.1}


@dataclass(frozen=True)
class OdometerSpecification(Settings):
    """Wheel encoders and what the robot believes of its wheels; the defaults have no errors.

    Raises ConfigurationError: a value is not what it must be.

    Parameters
    ----------
    rate : float
        Readings per second [Hz].
    wheel_radius, track : float
        Which the robot believes in; the track is the distance between left and right wheels [m].
    ticks_per_turn : int
        Of a wheel; 0 is an encoder without steps.
    scale, diameter_ratio, track_ratio : float
        True mean radius over the believed one; E_d, true right diameter over the left; E_b, true
        track over the believed one, which for a skid-steered robot is its effective track.
    scale_sigma, diameter_ratio_sigma, track_ratio_sigma : float
        Standard deviations of these three from one robot to the next; drawn in each run.
    slip : float
        Standard deviation of the distance of each wheel after one metre [m/sqrt(m)].
    acceleration_slip : float
        Share by which a wheel turns further while the robot accelerates forward by 1 g.
    """

    rate: float = declared(50.0, unit="Hz", above=0.0, maximum=1e4)
    wheel_radius: float = declared(0.1, unit="m", above=0.0, maximum=10.0)
    track: float = declared(0.5, unit="m", above=0.0, maximum=100.0)
    ticks_per_turn: int = setting(0, minimum=0, maximum=1e9)
    scale: float = declared(1.0, **_NEAR_ONE)
    diameter_ratio: float = declared(1.0, **_NEAR_ONE)
    track_ratio: float = declared(1.0, **_NEAR_ONE)
    scale_sigma: float = declared(0.0, **_SPREAD)
    diameter_ratio_sigma: float = declared(0.0, **_SPREAD)
    track_ratio_sigma: float = declared(0.0, **_SPREAD)
    slip: float = declared(0.0, unit="m/sqrt(m)", minimum=0.0, maximum=1.0)
    acceleration_slip: float = declared(0.0, minimum=0.0, maximum=10.0)


def read_odometer(path: str | os.PathLike[str]) -> OdometerSpecification:
    """Return the odometer whose parameters a YAML file has as keys.

    Raises :class:`.ConfigurationError`: the file cannot be read, has an unknown key, or a value is
    not what it must be.
    """
    return read_described(
        path, "the odometer", lambda content: from_mapping(OdometerSpecification, content, "it")
    )


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
    if odometer.rate * motion.period > 1.0 + 1e-6:
        raise ConfigurationError(
            f"rate is {odometer.rate:g} Hz, but the motion has only {1.0 / motion.period:g} "
            "samples per second."
        )
    rolled, time, yaw, first = _rolled(motion, odometer, run_seed(seed, run))
    if odometer.ticks_per_turn:
        tick = 2.0 * np.pi / odometer.ticks_per_turn
        rolled = tick * np.floor(rolled / tick)
    steps = odometer.wheel_radius * np.diff(rolled, axis=0, prepend=rolled[:1])
    forward, turn = steps.mean(axis=1), (steps[:, 1] - steps[:, 0]) / odometer.track
    yaw = yaw + np.cumsum(turn)
    along = yaw - 0.5 * turn
    columns = {
        **dict(zip(("left", "right"), rolled.T)),
        "x": first[0] + np.cumsum(forward * np.cos(along)),
        "y": first[1] + np.cumsum(forward * np.sin(along)),
        "yaw": yaw,
        "v": forward * odometer.rate,
        "yaw_rate": turn * odometer.rate,
    }
    return pd.DataFrame(columns, index=pd.Index(time, name="time"))


def rolled_way(motion: Motion, odometer: OdometerSpecification) -> np.ndarray:
    """Return how far forward the wheels have rolled on average since the start (n,) [m]."""
    yaw = motion.yaw
    speed = np.cos(yaw) * motion.velocity[:, 0] + np.sin(yaw) * motion.velocity[:, 1]
    # What pushes against the ground; the middle's own, so that turning pushes no wheel.
    pushed = 1.0 + odometer.acceleration_slip / STANDARD_GRAVITY * np.gradient(speed, motion.time)
    way = speed * pushed
    return np.concatenate([[0.0], np.cumsum(0.5 * (way[1:] + way[:-1]) * motion.period)])


def _rolled(
    motion: Motion, odometer: OdometerSpecification, seed: Any
) -> tuple[np.ndarray, np.ndarray, Any, np.ndarray]:
    """Return the wheels' true angles (n, 2), the times (n,), and the first yaw and place."""
    yaw, way = motion.yaw, rolled_way(motion, odometer)
    count = int((motion.time[-1] - motion.time[0]) * odometer.rate + 1e-6) + 1
    time = motion.time[0] + np.arange(count) / odometer.rate
    steps = np.diff(np.interp(time, motion.time, way), prepend=0.0)
    turns = np.diff(np.interp(time, motion.time, yaw), prepend=yaw[0])
    systematic, *wheels = (child_generator(seed, k) for k in range(3))
    scale, diameters, track = systematic.standard_normal(3)
    scale = odometer.scale + odometer.scale_sigma * scale
    ratio = odometer.diameter_ratio + odometer.diameter_ratio_sigma * diameters
    half_track = 0.5 * odometer.track * (odometer.track_ratio + odometer.track_ratio_sigma * track)
    radius = odometer.wheel_radius * scale * np.array([2.0, 2.0 * ratio]) / (1.0 + ratio)
    rolled = steps[:, None] + np.outer(turns, [-half_track, half_track])
    noise = np.column_stack([wheel.standard_normal(len(time)) for wheel in wheels])
    rolled += odometer.slip * np.sqrt(np.abs(rolled)) * noise
    return np.cumsum(rolled, axis=0) / radius, time, yaw[0], motion.position[0]
