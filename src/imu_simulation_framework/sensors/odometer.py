"""Simulation of the wheel odometry of a differential drive.

In each step, the robot moves forward by ds and turns by dpsi; a wheel then rolls ``ds -+ b dpsi /
2``, with minus for the left wheel, and turns by this distance divided by its radius. The odometer
assumes different radii and a different track b. UMBmark (J. Borenstein and L. Feng, "Measurement
and correction of systematic odometry errors in mobile robots", IEEE Transactions on Robotics and
Automation 12, 1996) calls the true ratio of the right to the left diameter E_d, and the ratio of
the true to the assumed track E_b. Random errors are white noise whose variance grows with the
distance (R. Siegwart and I. Nourbakhsh, "Introduction to Autonomous Mobile Robots", 5.2.4), and
extra rotation of a wheel that accelerates the robot.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import ConfigurationError
from ..core.settings import Settings, from_mapping, setting
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
    """Specification of a wheel odometer: encoders and wheel parameters, by default without errors.

    Parameters
    ----------
    rate : float
        Rate of the readings [Hz].
    wheel_radius : float
        Assumed radius of the wheels [m].
    track : float
        Assumed distance between left and right wheels [m].
    ticks_per_turn : int
        Ticks of an encoder per turn of a wheel; 0 for an encoder with infinite resolution.
    scale : float
        True mean radius relative to the assumed radius [1].
    diameter_ratio : float
        E_d, true right diameter relative to the left [1].
    track_ratio : float
        E_b, true track relative to the assumed track [1]; for a skid-steered robot, the effective
        track.
    scale_sigma, diameter_ratio_sigma, track_ratio_sigma : float
        Standard deviations of these three parameters over robots; they have new values in each run
        [1].
    slip : float
        Standard deviation of the distance of each wheel after one metre [m/sqrt(m)].
    acceleration_slip : float
        Relative extra rotation of a wheel while the robot accelerates forward by 1 g [1].
    """

    rate: float = setting(50.0, unit="Hz", minimum=1e-3, maximum=1e4)
    wheel_radius: float = setting(0.1, unit="m", minimum=1e-3, maximum=10.0)
    track: float = setting(0.5, unit="m", minimum=1e-3, maximum=100.0)
    ticks_per_turn: int = setting(0, minimum=0, maximum=1e9)
    scale: float = setting(1.0, **_NEAR_ONE)
    diameter_ratio: float = setting(1.0, **_NEAR_ONE)
    track_ratio: float = setting(1.0, **_NEAR_ONE)
    scale_sigma: float = setting(0.0, **_SPREAD)
    diameter_ratio_sigma: float = setting(0.0, **_SPREAD)
    track_ratio_sigma: float = setting(0.0, **_SPREAD)
    slip: float = setting(0.0, unit="m/sqrt(m)", minimum=0.0, maximum=1.0)
    acceleration_slip: float = setting(0.0, minimum=0.0, maximum=10.0)


def read_odometer(name: str | os.PathLike[str]) -> OdometerSpecification:
    """Read an odometer specification from a YAML file, or by the name of a bundled odometer.

    Parameters
    ----------
    name : str or path
        File whose keys are the fields of :class:`OdometerSpecification`, or the name of a file in
        config/odometers, for example ``differential``.

    Returns
    -------
    OdometerSpecification

    Raises
    ------
    ConfigurationError
        If neither exists, or the file does not describe an odometer.
    """
    path = find_description(name, "odometers", "an odometer")
    make = partial(from_mapping, OdometerSpecification, subject="it")
    return read_description(path, "the odometer", make)


def simulate_odometer(
    motion: Motion,
    odometer: OdometerSpecification,
    seed: int | np.random.SeedSequence = 1,
    run: int = 0,
) -> pd.DataFrame:
    """Simulate the odometer of a differential drive along a motion.

    Parameters
    ----------
    motion : Motion
        Motion of the midpoint between the wheels on level ground.
    odometer : OdometerSpecification
        Encoders and errors.
    seed : int or numpy.random.SeedSequence
        Seed of all runs.
    run : int
        Number of the run, which does not depend on other runs.

    Returns
    -------
    pandas.DataFrame
        Indexed by time [s]: left, right [rad], angles of the wheels; x, y [m] and yaw [rad,
        unwrapped], starting at the first pose of the motion, with each step along its mean
        direction; v [m/s] and yaw_rate [rad/s], means since the previous reading, zero in the first
        one.

    Raises
    ------
    ConfigurationError
        If the rate of the odometer exceeds that of the motion.
    MotionError
        If the motion is not evenly sampled.
    """
    # Imported here, since pandas takes 24 MB and every node imports this module.
    import pandas as pd

    if odometer.rate * motion.period > 1.0 + 1e-6:
        raise ConfigurationError(
            f"odometer.rate is {odometer.rate:g} Hz, expected at most the rate of the motion, "
            f"{1.0 / motion.period:g} Hz"
        )
    yaw, distance = motion.yaw, rolled_distance(motion, odometer)
    count = int((motion.time[-1] - motion.time[0]) * odometer.rate + 1e-6) + 1
    time = motion.time[0] + np.arange(count) / odometer.rate
    x, y = motion.position[:, :2].T
    distance, *poses = (np.interp(time, motion.time, values) for values in (distance, x, y, yaw))
    readings = Odometer(odometer, run_seed(seed, run)).read(time, distance, np.column_stack(poses))
    return pd.DataFrame(readings, index=pd.Index(time, name="time"))


def rolled_distance(motion: Motion, odometer: OdometerSpecification) -> np.ndarray:
    """Return the distance rolled since the start, averaged over both wheels.

    Parameters
    ----------
    motion : Motion
        Motion of the midpoint between the wheels.
    odometer : OdometerSpecification
        Errors of the odometer.

    Returns
    -------
    ndarray, shape (n,)
        Distance [m].
    """
    speed = forward_speed(motion.yaw, motion.velocity)
    return np.cumsum(rolled_steps(motion.time, speed, odometer))


def forward_speed(yaw: np.ndarray, velocity: np.ndarray) -> np.ndarray:
    """Return the component of velocities along the robot's forward axis.

    Parameters
    ----------
    yaw : ndarray, shape (n,)
        Yaw of the robot [rad].
    velocity : ndarray, shape (n, 3)
        Velocity in the world frame [m/s].

    Returns
    -------
    ndarray, shape (n,)
        Forward speed [m/s].
    """
    return np.cos(yaw) * velocity[:, 0] + np.sin(yaw) * velocity[:, 1]


def rolled_steps(
    time: np.ndarray, speed: np.ndarray, odometer: OdometerSpecification
) -> np.ndarray:
    """Return the distance rolled since the previous sample, averaged over both wheels.

    The acceleration of the midpoint determines the slip, so that turning causes no slip.

    Parameters
    ----------
    time : ndarray, shape (n,)
        Times [s].
    speed : ndarray, shape (n,)
        Forward speed [m/s].
    odometer : OdometerSpecification
        Errors of the odometer.

    Returns
    -------
    ndarray, shape (n,)
        Distance [m].
    """
    period, speed_change = np.diff(time), np.diff(speed)
    effective_period = period + odometer.acceleration_slip / STANDARD_GRAVITY * speed_change
    return np.concatenate([[0.0], 0.5 * (speed[1:] + speed[:-1]) * effective_period])


_STREAM = 2000  # number of the child seed; IMU and receiver use those from 0 and from 1000 on


class Odometer:
    """Simulated odometer of a differential drive.

    Readings do not depend on the blocks in which they are requested.
    The slip of each wheel and the dimensions of the robot have separate random streams.

    Parameters
    ----------
    odometer : OdometerSpecification
        Encoders and errors.
    seed : int or numpy.random.SeedSequence
        Seed of the run.
    """

    def __init__(self, odometer: OdometerSpecification, seed: int | np.random.SeedSequence) -> None:
        self._odometer = odometer
        odometer_seed = child_seed(seed, _STREAM)
        sizes, *self._wheels = (child_generator(odometer_seed, k) for k in range(3))
        scale, diameters, track = sizes.standard_normal(3)
        scale = odometer.scale + odometer.scale_sigma * scale
        ratio = odometer.diameter_ratio + odometer.diameter_ratio_sigma * diameters
        track = odometer.track_ratio + odometer.track_ratio_sigma * track
        half_track = 0.5 * odometer.track * track
        self._sides = np.array([-half_track, half_track])
        self._radius = odometer.wheel_radius * scale * np.array([2.0, 2.0 * ratio]) / (1.0 + ratio)
        self._start: np.ndarray | None = None
        self._previous = np.zeros(3)  # time, distance and yaw at the last reading
        self._sums = np.zeros(5)  # rolled distances of both wheels; x, y and yaw since the start
        self._angles = np.zeros(2)

    def read(
        self, time: np.ndarray, distance: np.ndarray, poses: np.ndarray
    ) -> dict[str, np.ndarray]:
        """Return the next readings with the columns of :func:`simulate_odometer`.

        Parameters
        ----------
        time : ndarray, shape (n,)
            Times [s], later than those of the previous block.
        distance : ndarray, shape (n,)
            Distance travelled by the midpoint between the wheels [m].
        poses : ndarray, shape (n, 3)
            True x and y [m] and yaw [rad, unwrapped]. Only the first pose and the changes of the
            yaw are used.

        Returns
        -------
        dict of str to ndarray
            Arrays of the readings by column.
        """
        odometer = self._odometer
        states = np.column_stack([time, distance, poses[:, 2]])
        if self._start is None:
            self._start = poses[0]
            self._previous = states[0] - [1.0 / odometer.rate, 0.0, 0.0]
        period, step, turn = np.diff(np.vstack([self._previous, states]), axis=0).T
        self._previous = states[-1]
        rolled = step[:, None] + np.outer(turn, self._sides)
        noise = np.column_stack([wheel.standard_normal(len(time)) for wheel in self._wheels])
        rolled += odometer.slip * np.sqrt(np.abs(rolled)) * noise
        angles = self._accumulate(slice(0, 2), rolled) / self._radius
        if odometer.ticks_per_turn:
            tick = 2.0 * np.pi / odometer.ticks_per_turn
            angles = tick * np.floor(angles / tick)
        left, right = odometer.wheel_radius * np.diff(np.vstack([self._angles, angles]), axis=0).T
        self._angles = angles[-1]
        forward, turn = 0.5 * (left + right), (right - left) / odometer.track
        yaw = self._start[2] + self._accumulate(slice(4, 5), turn[:, None])[:, 0]
        direction = yaw - 0.5 * turn
        displacement = np.column_stack([forward * np.cos(direction), forward * np.sin(direction)])
        x, y = (self._start[:2] + self._accumulate(slice(2, 4), displacement)).T
        pose = {"x": x, "y": y, "yaw": yaw, "v": forward / period, "yaw_rate": turn / period}
        return {**dict(zip(("left", "right"), angles.T)), **pose}

    def _accumulate(self, place: slice, steps: np.ndarray) -> np.ndarray:
        """Return the cumulative sums of steps (n, k), continued from the previous readings."""
        sums = np.cumsum(np.vstack([self._sums[place], steps]), axis=0)[1:]
        self._sums[place] = sums[-1]
        return sums
