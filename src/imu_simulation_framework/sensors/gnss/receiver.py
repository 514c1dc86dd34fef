"""A GNSS receiver, fix by fix or many at once, with the same numbers to the bit."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from imu_simulation_framework.angles import wrap
from imu_simulation_framework.columns import GNSS_LOCAL
from imu_simulation_framework.noise.processes import GaussMarkov
from imu_simulation_framework.noise.streams import NormalStreams, child_seed
from imu_simulation_framework.sensors.gnss.reception import Outages, Qualities
from imu_simulation_framework.sensors.gnss.specification import QUALITIES, GnssSpecification

WHITE = 7
"""White errors: of position and velocity, east, north and up each, and of the antennas' heading."""
_HEADING = 6
# Children of a run's seed: what each random quantity draws from.
_WHITE_NOISE, _DRIFT, _HEADING_DRIFT, _OUTAGES, _QUALITIES, _JITTER = range(6)


class NormalNumbers(Protocol):
    """Where white errors come from; :class:`.NormalStreams` is one."""

    def take(self, samples: int) -> np.ndarray:
        """Return standard normal numbers, (samples, WHITE)."""


class AntennaMotion(NamedTuple):
    """Motion of a receiver's antenna, n samples.

    ``position`` [m] and ``velocity`` [m/s], east, north and up, (n, 3); ``yaw`` of the robot, (n,)
    [rad].
    """

    position: np.ndarray
    velocity: np.ndarray
    yaw: np.ndarray


def antenna_motion(
    position: np.ndarray,
    orientation: np.ndarray,
    velocity: np.ndarray,
    angular_velocity: np.ndarray,
    yaw: np.ndarray,
    lever_arm: ArrayLike,
) -> AntennaMotion:
    """Return how an antenna moves that is fixed to a body.

    Parameters
    ----------
    position, orientation, velocity, angular_velocity : ndarray
        As of a :class:`.Motion`, of n samples.
    yaw : ndarray, shape (n,)
        [rad]
    lever_arm : 3 float
        In the body's axes [m].
    """
    arm = np.asarray(lever_arm, dtype=float)
    if not arm.any():
        return AntennaMotion(position, velocity, yaw)
    body = Rotation.from_quat(orientation)
    return AntennaMotion(
        position + body.apply(arm), velocity + body.apply(np.cross(angular_velocity, arm)), yaw
    )


class GnssReceiver:
    """A receiver at the beginning of a motion.

    Parameters
    ----------
    gnss : GnssSpecification
    seed : int or numpy.random.SeedSequence
        Of the run. Each quantity draws from a child of it, so that none depends on which others
        are random.
    white : NormalNumbers, optional
        Numbers of the white errors, in place of the seed's.
    """

    def __init__(
        self,
        gnss: GnssSpecification,
        seed: int | np.random.SeedSequence,
        white: NormalNumbers | None = None,
    ) -> None:
        self.gnss = gnss
        noise = np.array([quality.noise for quality in gnss.qualities])
        of_antennas = gnss.heading.source == "antennas"
        active = [*np.any(noise, axis=0).tolist(), of_antennas and gnss.heading.across_noise > 0.0]
        self._white = white or NormalStreams(child_seed(seed, _WHITE_NOISE), active)
        numbers = [QUALITIES[quality.quality] for quality in gnss.qualities]
        # All go on all the time: a receiver that falls back has the atmosphere's error of before.
        self._drifts = {
            number: _process(
                quality.drift,
                quality.correlation_time,
                gnss.rate,
                child_seed(child_seed(seed, _DRIFT), number),
            )
            for number, quality in zip(numbers, gnss.qualities)
        }
        across = gnss.heading.across_drift if of_antennas else 0.0
        self._heading_drift = _process(
            (across, 0.0, 0.0),
            gnss.heading.correlation_time,
            gnss.rate,
            child_seed(seed, _HEADING_DRIFT),
        )
        unknown = np.full(6, np.nan)
        self._noise = np.zeros((max(QUALITIES.values()) + 1, 6))
        self._variances = np.tile(unknown, (len(self._noise), 1))
        self._noise[numbers] = noise
        self._variances[numbers] = [quality.variances for quality in gnss.qualities]
        self._outages = Outages(gnss.outages, _generator(seed, _OUTAGES))
        self._qualities = Qualities(gnss, _generator(seed, _QUALITIES))
        self._jitter = _generator(seed, _JITTER)
        self._start: float | None = None
        self._last_arrival = -np.inf

    def measure(self, time: np.ndarray, antenna: AntennaMotion) -> pd.DataFrame:
        """Return what it says of the next times at which it measures.

        Parameters
        ----------
        time : ndarray, shape (n,)
            After those of before, a receiver's period apart [s].
        antenna : AntennaMotion
            Of n samples.

        Returns
        -------
        pandas.DataFrame
            GnssRecord, without latitude, longitude and altitude; of at most n rows, since there is
            none in an outage. What there is no fix of is not a number.
        """
        if self._start is None and len(time):
            self._start = float(time[0])
        since = time - (self._start or 0.0)
        quality = self._qualities.at(since)
        numbers = self._white.take(len(time))
        variances = self._variances[quality]
        errors = numbers[:, :_HEADING] * self._noise[quality]
        for number, process in self._drifts.items():
            if process is not None:
                here = quality == number
                errors[:, :3] += np.where(here[:, np.newaxis], process.advance(len(time)), 0.0)
        errors[quality == QUALITIES["none"]] = np.nan
        position, velocity = antenna.position + errors[:, :3], antenna.velocity + errors[:, 3:]
        heading, heading_variance = self._heading(antenna.yaw, velocity, variances, numbers)
        table = pd.DataFrame(
            np.column_stack(
                [
                    position,
                    variances[:, :3],
                    velocity,
                    variances[:, 3],
                    variances[:, 5],
                    heading,
                    heading_variance,
                    quality,
                    self._arrival(time),
                ]
            ),
            columns=list(GNSS_LOCAL),
            index=pd.Index(time, name="time"),
        )
        return table[~self._outages.cover(since)]

    def _heading(self, yaw, velocity, variances, numbers):
        """Return headings and their variances, (n,) each; not a number where there is none."""
        of = self.gnss.heading
        known = np.isfinite(velocity[:, 0])
        if of.source == "antennas":
            across = of.across_noise * numbers[:, _HEADING]
            if self._heading_drift is not None:
                across = across + self._heading_drift.advance(len(yaw))[:, 0]
            heading = yaw + (of.misalignment + across / of.baseline)
            variance = (of.across_noise**2 + of.across_drift**2) / of.baseline**2
            return np.where(known, heading, np.nan), np.where(known, variance, np.nan)
        unknown = np.full(len(yaw), np.nan)
        if of.source == "none":
            return unknown, unknown
        speed = np.hypot(velocity[:, 0], velocity[:, 1])
        course = yaw + wrap(np.arctan2(velocity[:, 1], velocity[:, 0]) - yaw)
        with np.errstate(invalid="ignore", divide="ignore"):
            fast = known & (speed >= of.minimum_speed) & (speed > 0.0)
            variance = variances[:, 3] / speed**2
        return np.where(fast, course, np.nan), np.where(fast, variance, np.nan)

    def _arrival(self, time):
        arrival = time + self.gnss.latency
        if self.gnss.latency_jitter > 0.0 and len(time):
            arrival = arrival + self.gnss.latency_jitter * self._jitter.random(len(time))
            # One line carries them all.
            arrival = np.maximum(np.maximum.accumulate(arrival), self._last_arrival)
            self._last_arrival = arrival[-1]
        return arrival


def _generator(seed, index):
    return np.random.default_rng(child_seed(seed, index))


def _process(sigma, correlation_time, rate, seed):
    """Return the process of a correlated error, or None where there is no such error."""
    if not any(sigma):
        return None
    return GaussMarkov(sigma, correlation_time, 1.0 / rate, np.random.default_rng(seed))
