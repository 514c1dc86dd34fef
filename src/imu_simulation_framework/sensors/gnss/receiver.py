"""A GNSS receiver on a motion: when it receives, how well, and what it says.

All is drawn as far as it is asked for, so that it is the same to the bit in one piece or in many.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from ...core.angles import wrap
from ...core.errors import ConfigurationError
from ...core.tables import GNSS_LOCAL, GNSS_RECORD, LOCAL_VARIANCE, LOCAL_VELOCITY, PLACE
from ...core.yaml_files import accept_names
from ...motion.earth import geodetic_of
from ...motion.earth_motion import EarthMotion, enu_to_ecef
from ...motion.motion import Motion
from ..noise.processes import GaussMarkov
from ..noise.streams import NormalStreams, child_generator, child_seed, run_seed
from .specification import (
    QUALITIES,
    GnssOrigin,
    GnssOutages,
    GnssSpecification,
    read_gnss_specification,
)


class Outages:
    """Listed outages, and random ones: a renewal process that begins with reception.

    Times with reception and without are exponentially distributed.
    """

    def __init__(self, outages: GnssOutages, generator: np.random.Generator) -> None:
        self._listed = np.array(outages.times).reshape(-1, 2)
        # Ends of times with reception and without, by turns.
        received = 1.0 / outages.rate if outages.rate > 0.0 else math.inf
        self._means = received, outages.mean_duration
        self._generator = generator
        self._ends: list[float] = []

    def cover(self, time: np.ndarray) -> np.ndarray:
        """Return which times (n,) [s], increasing, are within an outage, (n,) of bool."""
        covered = np.zeros(len(time), dtype=bool)
        for begin, end in self._listed:
            covered |= (time >= begin) & (time < end)
        if math.isinf(self._means[0]):
            return covered
        while len(time) and (not self._ends or self._ends[-1] <= time[-1]):
            wait = self._means[len(self._ends) % 2] * self._generator.standard_exponential()
            self._ends.append((self._ends[-1] if self._ends else 0.0) + wait)
        return covered | (np.searchsorted(self._ends, time, side="right") % 2 == 1)


class Qualities:
    """The quality of fixes: listed over time, or a Markov chain in continuous time."""

    def __init__(self, gnss: GnssSpecification, generator: np.random.Generator) -> None:
        self._generator = generator
        self._numbers = [QUALITIES[gnss.qualities[0].quality]]
        self._begins = [-math.inf]
        self._ways: dict[int, list[tuple[int, float]]] = {}
        for change in gnss.changes:
            ways = self._ways.setdefault(QUALITIES[change.before], [])
            if change.rate > 0.0:
                ways.append((QUALITIES[change.after], change.rate))
        for time, quality in gnss.schedule:
            self._begins.append(time)
            self._numbers.append(QUALITIES[quality])
        self._next = 0.0 if gnss.changes else math.inf
        if gnss.changes:
            self._wait()

    def at(self, time: np.ndarray) -> np.ndarray:
        """Return the qualities at times (n,) [s], increasing, as numbers of ``QUALITIES``, (n,)."""
        while len(time) and self._next <= time[-1]:
            after, rates = zip(*self._ways[self._numbers[-1]])
            share = np.cumsum(rates) / np.sum(rates)
            chosen = int(np.searchsorted(share, self._generator.random(), side="right"))
            self._begins.append(self._next)
            self._numbers.append(after[min(chosen, len(after) - 1)])
            self._wait()
        return np.array(self._numbers)[np.searchsorted(self._begins, time, side="right") - 1]

    def _wait(self) -> None:
        """Draw when the present quality ends."""
        rate = sum(rate for _, rate in self._ways.get(self._numbers[-1], ()))
        self._next += self._generator.standard_exponential() / rate if rate > 0.0 else math.inf


WHITE = 7
"""White errors: of position and velocity, east, north and up each, and of the antennas' heading."""
_HEADING = 6
# Children of a run's seed: what each random quantity draws from.
_WHITE_NOISE, _DRIFT, _HEADING_DRIFT, _OUTAGES, _QUALITIES, _JITTER = range(6)


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
    """Return how an antenna moves that is fixed to a body, whose motion is as a :class:`.Motion`'s.

    ``yaw`` (n,): [rad]. ``lever_arm``: in the body's axes [m].
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

    ``seed``: of the run. Each quantity draws from a child of it, so that none depends on which
    others are random. ``white``: of whose ``take`` the white errors' numbers come, (samples,
    :data:`WHITE`), in place of the seed's.
    """

    def __init__(
        self,
        gnss: GnssSpecification,
        seed: int | np.random.SeedSequence,
        white: Any = None,
    ) -> None:
        self.gnss = gnss
        noise = np.array([quality.noise for quality in gnss.qualities])
        of_antennas = gnss.heading.source == "antennas"
        active = [*np.any(noise, axis=0).tolist(), of_antennas and gnss.heading.across_noise > 0.0]
        self._white = white or NormalStreams(child_seed(seed, _WHITE_NOISE), active)
        numbers = [QUALITIES[quality.quality] for quality in gnss.qualities]
        # All go on all the time: a receiver that falls back has the atmosphere's error of before.
        self._drifts = {
            number: _process(quality.drift, quality, gnss.rate, seed, _DRIFT, number)
            for number, quality in zip(numbers, gnss.qualities)
        }
        across = (gnss.heading.across_drift if of_antennas else 0.0, 0.0, 0.0)
        self._heading_drift = _process(across, gnss.heading, gnss.rate, seed, _HEADING_DRIFT)
        self._noise = np.zeros((max(QUALITIES.values()) + 1, 6))
        self._variances = np.full(self._noise.shape, np.nan)
        self._noise[numbers] = noise
        self._variances[numbers] = [quality.variances for quality in gnss.qualities]
        self._outages = Outages(gnss.outages, child_generator(seed, _OUTAGES))
        self._qualities = Qualities(gnss, child_generator(seed, _QUALITIES))
        self._jitter = child_generator(seed, _JITTER)
        self._start: float | None = None
        self._last_arrival = -np.inf

    def measure(self, time: np.ndarray, antenna: AntennaMotion) -> pd.DataFrame:
        """Return what it says of the next times at which it measures.

        ``time`` (n,): after those of before, a receiver's period apart [s]. ``antenna``: of n
        samples.

        Returned: GnssRecord, without latitude, longitude and altitude; of at most n rows,
        since there is none in an outage. What there is no fix of is not a number.
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
        columns = [position, variances[:, :3], velocity, variances[:, [3, 5]]]
        columns += [heading, heading_variance, quality, self._arrival(time)]
        index = pd.Index(time, name="time")
        table = pd.DataFrame(np.column_stack(columns), index, list(GNSS_LOCAL))
        return table[~self._outages.cover(since)]

    def _heading(
        self, yaw: np.ndarray, velocity: np.ndarray, variances: np.ndarray, numbers: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return headings and their variances, (n,) each; not a number where there is none."""
        of, heading, variance = self.gnss.heading, yaw, np.nan
        known = np.isfinite(velocity[:, 0]) & (of.source != "none")
        if of.source == "antennas":
            across = of.across_noise * numbers[:, _HEADING]
            if self._heading_drift is not None:
                across = across + self._heading_drift.advance(len(yaw))[:, 0]
            heading = yaw + (of.misalignment + across / of.baseline)
            variance = (of.across_noise**2 + of.across_drift**2) / of.baseline**2
        elif of.source == "course":
            speed = np.hypot(velocity[:, 0], velocity[:, 1])
            heading = yaw + wrap(np.arctan2(velocity[:, 1], velocity[:, 0]) - yaw)
            with np.errstate(invalid="ignore", divide="ignore"):
                known &= (speed >= of.minimum_speed) & (speed > 0.0)
                variance = variances[:, 3] / speed**2
        return np.where(known, heading, np.nan), np.where(known, variance, np.nan)

    def _arrival(self, time: np.ndarray) -> np.ndarray:
        arrival = time + self.gnss.latency
        if self.gnss.latency_jitter > 0.0 and len(time):
            arrival = arrival + self.gnss.latency_jitter * self._jitter.random(len(time))
            # One line carries them all.
            arrival = np.maximum(np.maximum.accumulate(arrival), self._last_arrival)
            self._last_arrival = arrival[-1]
        return arrival


def _process(
    sigma: Sequence[float], errors: Any, rate: float, seed: Any, *children: int
) -> GaussMarkov | None:
    """Return the process of a correlated error, None where there is none."""
    for child in children:
        seed = child_seed(seed, child)
    if not any(sigma):
        return None
    return GaussMarkov(sigma, errors.correlation_time, 1.0 / rate, np.random.default_rng(seed))


@accept_names(gnss=read_gnss_specification)
def simulate_gnss(
    motion: Motion,
    gnss: GnssSpecification,
    seed: int | np.random.SeedSequence = 1,
    run: int = 0,
) -> pd.DataFrame:
    """Return what a GNSS receiver says of a motion.

    Raises :class:`.MotionError`: the motion is not evenly sampled; :class:`.ConfigurationError`:
    the receiver is faster than the motion is sampled.

    Parameters
    ----------
    motion : Motion
        Of the robot, to whose axes the antenna's lever arm belongs, evenly sampled. Where its
        rate is no multiple of the receiver's it is interpolated (:meth:`.SampledMotion.resampled`).
    seed : int or numpy.random.SeedSequence
        Of all runs.
    run : int
        Which one. It has the same numbers whatever other runs there are.

    Returns
    -------
    pandas.DataFrame
        GnssRecord at the times of measurement, without those in outages: x, y, z [m, the
        antenna's, in the motion's world], latitude, longitude [deg], altitude [m above the
        ellipsoid], variance_east, variance_north, variance_up [m^2], velocity_east,
        velocity_north, velocity_up [m/s], velocity_variance (of east and of north),
        velocity_variance_up [m^2/s^2], heading [rad, counter-clockwise from east, within half a
        turn of the true one, which is unwrapped], heading_variance [rad^2], quality
        (:data:`.QUALITIES`) and arrival [s]. Not a number is what the receiver does not tell.
    """
    ratio = 1.0 / (motion.period * gnss.rate)
    if ratio < 1.0 - 1e-6:
        raise ConfigurationError(
            f"rate is {gnss.rate:g} Hz, but the motion has only {1.0 / motion.period:g} samples "
            "per second."
        )
    step = max(1, round(ratio))
    if abs(ratio - step) > 1e-6:
        motion, step = motion.resampled(gnss.rate), 1
    names = ("position", "orientation", "velocity", "angular_velocity", "yaw")
    states = {name: getattr(motion, name)[::step] for name in names}
    antenna = antenna_motion(**states, lever_arm=gnss.lever_arm)
    receiver = GnssReceiver(gnss, run_seed(seed, run))
    return with_places(receiver.measure(motion.time[::step], antenna), gnss.origin)


def with_places(table: pd.DataFrame, origin: GnssOrigin) -> pd.DataFrame:
    """Return a receiver's table with latitude, longitude [deg] and altitude [m] beside x, y, z.

    x, y, z are taken for east, north and up on the plane that touches the ellipsoid (WGS 84) at
    the origin.
    """
    import pymap3d

    x, y, z = table[["x", "y", "z"]].to_numpy().T
    place = pymap3d.enu2geodetic(x, y, z, origin.latitude, origin.longitude, origin.height)
    table = table.assign(**dict(zip(PLACE, place)))
    return table[list(GNSS_RECORD)]


_XYZ, _VELOCITY = ["x", "y", "z"], list(LOCAL_VELOCITY)
_VARIANCES = [*LOCAL_VARIANCE, "velocity_variance", "velocity_variance", "velocity_variance_up"]


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


@accept_names(gnss=read_gnss_specification)
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
        errors = table[_XYZ + _VELOCITY].to_numpy()
        position[index] = antenna.position[::step] + local.apply(errors[:, :3])
        velocity[index] = antenna.velocity[::step] + local.apply(errors[:, 3:])
        variance[index] = table[_VARIANCES].to_numpy()
    return EarthFixes(time, position, velocity, variance)


def record_earth_fixes(
    motion: EarthMotion, gnss: GnssSpecification, seed: int | np.random.SeedSequence
) -> pd.DataFrame:
    """Return what a receiver says of a motion on the Earth, as a table GnssRecord without heading.

    It is the first run of :func:`simulate_earth_fixes`, of the same arguments and errors, with the
    times at which fixes arrive; x, y, z are those of the world of the motion, ECEF.
    """
    antenna, step = _antenna_at(motion, gnss)
    time = antenna.time[::step]
    table = _errors(gnss, time, run_seed(seed, 0))
    rows = np.searchsorted(time, table.index.to_numpy())
    true_place = antenna.position[::step][rows]
    latitude, longitude, _ = geodetic_of(true_place).T
    local: Rotation = enu_to_ecef(latitude, longitude)
    place = true_place + local.apply(table[_XYZ].to_numpy())
    true_velocity = local.inv().apply(antenna.velocity[::step][rows])
    *angles, height = geodetic_of(place).T
    table = table.assign(
        **dict(zip(_XYZ, place.T)),
        **dict(zip(PLACE, (*np.degrees(angles), height))),
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
