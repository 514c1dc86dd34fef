"""What a GNSS receiver says of a motion on the Earth: many runs in ECEF, or a record of one."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.spatial.transform import Rotation

from imu_simulation_framework.core.columns import GNSS_LOCAL, GNSS_RECORD
from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.core.yaml_files import by_name
from imu_simulation_framework.motion.earth import geodetic_of
from imu_simulation_framework.motion.earth_motion import EarthMotion, enu_to_ecef
from imu_simulation_framework.sensors.gnss.receiver import AntennaMotion, GnssReceiver
from imu_simulation_framework.sensors.gnss.specification import (
    GnssSpecification,
    read_gnss_specification,
)
from imu_simulation_framework.sensors.noise.streams import run_seed

_PLACE = ["x", "y", "z"]
_VELOCITY = ["velocity_east", "velocity_north", "velocity_up"]
_VARIANCES = ["variance_east", "variance_north", "variance_up"]
_VARIANCES += ["velocity_variance", "velocity_variance", "velocity_variance_up"]


class EarthFixes(NamedTuple):
    """Fixes of a receiver's antenna, of r runs at k times.

    ``time`` (k,) [s]; ``position`` (r, k, 3) [m] and ``velocity`` (r, k, 3) [m/s] in ECEF;
    ``variance`` (r, k, 6), what the receiver says of them, along east, north, up each [m^2;
    m^2/s^2]. Not a number where there is no fix.
    """

    time: np.ndarray
    position: np.ndarray
    velocity: np.ndarray
    variance: np.ndarray

    def at(self, index: int) -> tuple[np.ndarray, np.ndarray]:
        """Return position and velocity (r, 6), and their variances (r, 6), of one time."""
        measured = np.concatenate([self.position[:, index], self.velocity[:, index]], axis=1)
        return measured, self.variance[:, index]

    def between(self, begin: float, end: float) -> EarthFixes:
        """Return those from one time to another, both included [s]."""
        used = (self.time >= begin) & (self.time <= end)
        return EarthFixes(self.time[used], *(values[:, used] for values in self[1:]))


def antenna_on(motion: EarthMotion, gnss: GnssSpecification) -> EarthMotion:
    """Return the motion of a receiver's antenna on a body that moves so."""
    return motion.mounted(gnss.lever_arm) if np.any(gnss.lever_arm) else motion


@by_name(gnss=read_gnss_specification)
def simulate_earth_fixes(
    motion: EarthMotion,
    gnss: GnssSpecification,
    runs: int = 1,
    seed: int | np.random.SeedSequence = 1,
    first_run: int = 0,
) -> EarthFixes:
    """Return what a receiver says of a motion on the Earth.

    The fixes have the times at which they were measured: latency is not simulated here.

    Raises :class:`.MotionError`: the motion is not evenly sampled; :class:`.ConfigurationError`:
    the motion's rate is no multiple of the receiver's.

    Parameters
    ----------
    motion : EarthMotion
        Of the body in whose axes the antenna's lever arm is given, evenly sampled.
    gnss : GnssSpecification
        Its origin is not used.
    seed : int or numpy.random.SeedSequence
        Of all runs. A run has the same numbers whatever others there are.
    """
    antenna, step = _antenna_at(motion, gnss)
    time = antenna.time[::step]
    latitude, longitude, _ = antenna.latitude_longitude_height[::step].T
    local: Rotation = enu_to_ecef(latitude, longitude)
    position, velocity, variance = (np.full((runs, len(time), k), np.nan) for k in (3, 3, 6))
    for index, run in enumerate(range(first_run, first_run + runs)):
        table = _errors(gnss, time, run_seed(seed, run)).reindex(time)[list(GNSS_LOCAL)]
        errors = table[_PLACE + _VELOCITY].to_numpy()
        position[index] = antenna.position[::step] + local.apply(errors[:, :3])
        velocity[index] = antenna.velocity[::step] + local.apply(errors[:, 3:])
        variance[index] = table[_VARIANCES].to_numpy()
    return EarthFixes(time, position, velocity, variance)


def record_earth_fixes(
    motion: EarthMotion, gnss: GnssSpecification, seed: int | np.random.SeedSequence
) -> pd.DataFrame:
    """Return what a receiver says of a motion on the Earth, as a table GnssRecord without heading.

    It is the first run of :func:`simulate_earth_fixes`, with the times at which fixes arrive.

    ``motion``: of the body in whose axes the antenna's lever arm is given, evenly sampled.
    ``gnss``: its origin is not used: x, y, z are those of the world of the motion, ECEF.

    Raises :class:`.MotionError`: the motion is not evenly sampled; :class:`.ConfigurationError`:
    the motion's rate is no multiple of the receiver's.
    """
    antenna, step = _antenna_at(motion, gnss)
    time = antenna.time[::step]
    table = _errors(gnss, time, run_seed(seed, 0))
    rows = np.searchsorted(time, table.index.to_numpy())
    true_place = antenna.position[::step][rows]
    latitude, longitude, _ = geodetic_of(true_place).T
    local: Rotation = enu_to_ecef(latitude, longitude)
    place = true_place + local.apply(table[_PLACE].to_numpy())
    true_velocity = local.inv().apply(antenna.velocity[::step][rows])
    geodetic = geodetic_of(place)
    table = table.assign(
        **dict(zip(_PLACE, place.T)),
        latitude=np.degrees(geodetic[:, 0]),
        longitude=np.degrees(geodetic[:, 1]),
        altitude=geodetic[:, 2],
        **dict(zip(_VELOCITY, (true_velocity + table[_VELOCITY].to_numpy()).T)),
        heading=np.nan,
        heading_variance=np.nan,
    )
    return table[list(GNSS_RECORD)]


def _antenna_at(motion: EarthMotion, gnss: GnssSpecification) -> tuple[EarthMotion, int]:
    """Return the antenna's motion, and every how many of its samples there is a fix."""
    ratio = 1.0 / (motion.period * gnss.rate)
    step = round(ratio)
    if step < 1 or abs(ratio - step) > 1e-6 * ratio:
        raise ConfigurationError(
            f"the receiver's rate is {gnss.rate:g} Hz, but the motion has {1.0 / motion.period:g} "
            "samples per second, which is no multiple of it."
        )
    return antenna_on(motion, gnss), step


def _errors(gnss: GnssSpecification, time: np.ndarray, seed: Any) -> pd.DataFrame:
    """Return a receiver's errors, east, north, up, in the columns of what it would say."""
    # Of a receiver that stands still at the origin what it says is its error.
    still = np.zeros((len(time), 3))
    return GnssReceiver(gnss, seed).measure(time, AntennaMotion(still, still, np.zeros(len(time))))
