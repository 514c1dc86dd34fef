"""Simulation of a GNSS receiver along a motion: outages, fix qualities and fixes.

In an experiment, these topics are published at the time of arrival with the stamp of the
measurement:

- ``gnss/fix``, sensor_msgs/NavSatFix in ``gnss_link``: position of the antenna, with a diagonal
  covariance. The status is -1 for ``none``, 0 for ``single``, 1 for ``differential``, and 2 for
  ``float`` and ``rtk``, which NavSatStatus does not distinguish
- ``gnss/velocity``, geometry_msgs/TwistWithCovarianceStamped in ``odom``: along east, north, up;
  the angular velocity is not measured, so its variance is 1e6
- ``gnss/heading``, geometry_msgs/QuaternionStamped in ``odom``, only for receivers with a heading:
  yaw, counter-clockwise from east

``/tf_static`` has ``gnss_link`` at the lever arm, relative to ``base_footprint``. Fixes that might
arrive only after the end of the drive are omitted.

Random numbers are drawn on demand, so that the result is bitwise independent of the division into
blocks.
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
    """Outages of a GNSS receiver, listed and random.

    Random outages are a renewal process that starts with reception. Intervals with and without
    reception have exponentially distributed durations.

    Parameters
    ----------
    outages : GnssOutages
        Listed outages, and the rate of random outages.
    generator : numpy.random.Generator
        Generator for the random outages.
    """

    def __init__(self, outages: GnssOutages, generator: np.random.Generator) -> None:
        self._listed = np.array(outages.times).reshape(-1, 2)
        # Mean durations of the alternating intervals with and without reception.
        received = 1.0 / outages.rate if outages.rate > 0.0 else math.inf
        self._means = received, outages.mean_duration
        self._generator = generator
        self._ends: list[float] = []

    def cover(self, time: np.ndarray) -> np.ndarray:
        """Return a mask of the times that are within an outage.

        Parameters
        ----------
        time : ndarray, shape (n,)
            Increasing times since the start of the motion [s].

        Returns
        -------
        ndarray of bool, shape (n,)
            True during an outage.
        """
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
    """Fix quality over time, from a schedule or as a continuous-time Markov chain.

    Parameters
    ----------
    gnss : GnssSpecification
        Receiver with its qualities and their changes.
    generator : numpy.random.Generator
        Generator for the random changes.
    """

    def __init__(self, gnss: GnssSpecification, generator: np.random.Generator) -> None:
        self._generator = generator
        self._numbers = [QUALITIES[gnss.qualities[0].quality]]
        self._begins = [-math.inf]
        self._changes: dict[int, list[tuple[int, float]]] = {}
        for change in gnss.changes:
            changes = self._changes.setdefault(QUALITIES[change.before], [])
            if change.rate > 0.0:
                changes.append((QUALITIES[change.after], change.rate))
        for time, quality in gnss.schedule:
            self._begins.append(time)
            self._numbers.append(QUALITIES[quality])
        self._next = 0.0 if gnss.changes else math.inf
        if gnss.changes:
            self._wait()

    def at(self, time: np.ndarray) -> np.ndarray:
        """Return the fix qualities at given times.

        Parameters
        ----------
        time : ndarray, shape (n,)
            Increasing times since the start of the motion [s].

        Returns
        -------
        ndarray of int, shape (n,)
            Numbers of the qualities in ``QUALITIES``.
        """
        while len(time) and self._next <= time[-1]:
            next_qualities, rates = zip(*self._changes[self._numbers[-1]])
            share = np.cumsum(rates) / np.sum(rates)
            index = int(np.searchsorted(share, self._generator.random(), side="right"))
            self._begins.append(self._next)
            self._numbers.append(next_qualities[min(index, len(next_qualities) - 1)])
            self._wait()
        return np.array(self._numbers)[np.searchsorted(self._begins, time, side="right") - 1]

    def _wait(self) -> None:
        """Generate the random time at which the present quality ends."""
        rate = sum(rate for _, rate in self._changes.get(self._numbers[-1], ()))
        self._next += self._generator.standard_exponential() / rate if rate > 0.0 else math.inf


#: Number of white errors: position and velocity along three axes, and dual-antenna heading.
WHITE = 7
_HEADING = 6
# Numbers of the child seeds of a run, one for each random quantity.
_WHITE_NOISE, _DRIFT, _HEADING_DRIFT, _OUTAGES, _QUALITIES, _JITTER = range(6)


class AntennaMotion(NamedTuple):
    """Motion of a receiver's antenna at n samples.

    Parameters
    ----------
    position, velocity : ndarray, shape (n, 3)
        Position [m] and velocity [m/s], east, north, up.
    yaw : ndarray, shape (n,)
        Yaw of the robot [rad].
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
    """Return the motion of an antenna that is fixed to a body.

    Parameters
    ----------
    position, orientation, velocity, angular_velocity : ndarray
        Motion of the body with the units and frames of :class:`.Motion`.
    yaw : ndarray, shape (n,)
        Yaw of the body [rad].
    lever_arm : array_like, shape (3,)
        Position of the antenna in the body frame [m].

    Returns
    -------
    AntennaMotion
    """
    arm = np.asarray(lever_arm, dtype=float)
    if not arm.any():
        return AntennaMotion(position, velocity, yaw)
    body = Rotation.from_quat(orientation)
    return AntennaMotion(
        position + body.apply(arm), velocity + body.apply(np.cross(angular_velocity, arm)), yaw
    )


class GnssReceiver:
    """GNSS receiver with simulated errors, which starts with a motion.

    Each random quantity has a separate child of the seed, so that it does not depend on the others.

    Parameters
    ----------
    gnss : GnssSpecification
        Errors of the receiver.
    seed : int or numpy.random.SeedSequence
        Seed of the run.
    white : object, optional
        Source of the white errors, with a method ``take`` that returns numbers of shape (samples,
        :data:`WHITE`); by default, they are generated from the seed.
    """

    def __init__(
        self,
        gnss: GnssSpecification,
        seed: int | np.random.SeedSequence,
        white: Any = None,
    ) -> None:
        self.gnss = gnss
        noise = np.array([quality.noise for quality in gnss.qualities])
        has_antennas = gnss.heading.source == "antennas"
        active = [*np.any(noise, axis=0).tolist(), has_antennas and gnss.heading.across_noise > 0.0]
        self._white = white or NormalStreams(child_seed(seed, _WHITE_NOISE), active)
        numbers = [QUALITIES[quality.quality] for quality in gnss.qualities]
        # The processes of all qualities continue, since atmospheric errors outlast quality changes.
        self._drifts = {
            number: _process(quality.drift, quality, gnss.rate, seed, _DRIFT, number)
            for number, quality in zip(numbers, gnss.qualities)
        }
        across = (gnss.heading.across_drift if has_antennas else 0.0, 0.0, 0.0)
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
        """Return the simulated fixes at the next measurement times.

        Parameters
        ----------
        time : ndarray, shape (n,)
            Times after those of the previous block, spaced by the receiver's period [s].
        antenna : AntennaMotion
            Motion of the antenna, n samples.

        Returns
        -------
        pandas.DataFrame
            Columns of GnssRecord without latitude, longitude and altitude, and without rows during
            outages; unknown values are nan.
        """
        if self._start is None and len(time):
            self._start = float(time[0])
        elapsed = time - (self._start or 0.0)
        quality = self._qualities.at(elapsed)
        numbers = self._white.take(len(time))
        variances = self._variances[quality]
        errors = numbers[:, :_HEADING] * self._noise[quality]
        for number, process in self._drifts.items():
            if process is not None:
                has_quality = quality == number
                errors[:, :3] += np.where(
                    has_quality[:, np.newaxis], process.advance(len(time)), 0.0
                )
        errors[quality == QUALITIES["none"]] = np.nan
        position, velocity = antenna.position + errors[:, :3], antenna.velocity + errors[:, 3:]
        heading, heading_variance = self._heading(antenna.yaw, velocity, variances, numbers)
        columns = [position, variances[:, :3], velocity, variances[:, [3, 5]]]
        columns += [heading, heading_variance, quality, self._arrival(time)]
        index = pd.Index(time, name="time")
        table = pd.DataFrame(np.column_stack(columns), index, list(GNSS_LOCAL))
        return table[~self._outages.cover(elapsed)]

    def _heading(
        self, yaw: np.ndarray, velocity: np.ndarray, variances: np.ndarray, numbers: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return headings and their variances, (n,) each; nan if unknown."""
        settings, heading, variance = self.gnss.heading, yaw, np.nan
        known = np.isfinite(velocity[:, 0]) & (settings.source != "none")
        if settings.source == "antennas":
            across = settings.across_noise * numbers[:, _HEADING]
            if self._heading_drift is not None:
                across = across + self._heading_drift.advance(len(yaw))[:, 0]
            heading = yaw + (settings.misalignment + across / settings.baseline)
            across_variance = settings.across_noise**2 + settings.across_drift**2
            variance = across_variance / settings.baseline**2
        elif settings.source == "course":
            speed = np.hypot(velocity[:, 0], velocity[:, 1])
            heading = yaw + wrap(np.arctan2(velocity[:, 1], velocity[:, 0]) - yaw)
            with np.errstate(invalid="ignore", divide="ignore"):
                known &= (speed >= settings.minimum_speed) & (speed > 0.0)
                variance = variances[:, 3] / speed**2
        return np.where(known, heading, np.nan), np.where(known, variance, np.nan)

    def _arrival(self, time: np.ndarray) -> np.ndarray:
        arrival = time + self.gnss.latency
        if self.gnss.latency_jitter > 0.0 and len(time):
            arrival = arrival + self.gnss.latency_jitter * self._jitter.random(len(time))
            # All fixes are transmitted over one serial line, which preserves their order.
            arrival = np.maximum(np.maximum.accumulate(arrival), self._last_arrival)
            self._last_arrival = arrival[-1]
        return arrival


def _process(
    sigma: Sequence[float], errors: Any, rate: float, seed: Any, *children: int
) -> GaussMarkov | None:
    """Create the Gauss-Markov process of a correlated error; None if the error is zero."""
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
    """Simulate a GNSS receiver along a motion in a flat world.

    Parameters
    ----------
    motion : Motion
        Evenly sampled motion of the robot, in whose body frame the antenna's lever arm is given. It
        is interpolated if its rate is not a multiple of the receiver's rate
        (:meth:`.SampledMotion.resampled`).
    gnss : GnssSpecification or str
        Receiver, or the name of a bundled receiver.
    seed : int or numpy.random.SeedSequence
        Seed of all runs.
    run : int
        Number of the run, which does not depend on other runs.

    Returns
    -------
    pandas.DataFrame
        GnssRecord at the measurement times outside outages: x, y, z [m, position of the antenna in
        the world frame of the motion], latitude, longitude [deg], altitude [m above the ellipsoid],
        variance_east, variance_north, variance_up [m^2], velocity_east, velocity_north, velocity_up
        [m/s], velocity_variance (the same for east and north), velocity_variance_up [m^2/s^2],
        heading [rad, counter-clockwise from east, within half a turn of the true heading, which is
        unwrapped], heading_variance [rad^2], quality (:data:`.QUALITIES`) and arrival [s]. Values
        that the receiver does not output are nan.

    Raises
    ------
    MotionError
        If the motion is not evenly sampled.
    ConfigurationError
        If the receiver's rate exceeds that of the motion.

    Examples
    --------
    >>> fixes = isf.simulate_gnss(isf.read_drive("a", laps=1), "single", seed=1)
    >>> fixes[["x", "y"]].shape
    (301, 2)
    """
    ratio = 1.0 / (motion.period * gnss.rate)
    if ratio < 1.0 - 1e-6:
        raise ConfigurationError(
            f"the rate of the receiver is {gnss.rate:g} Hz, expected at most the rate of the "
            f"motion, {1.0 / motion.period:g} Hz"
        )
    step = max(1, round(ratio))
    if abs(ratio - step) > 1e-6:
        motion, step = motion.resampled(gnss.rate), 1
    names = ("position", "orientation", "velocity", "angular_velocity", "yaw")
    states = {name: getattr(motion, name)[::step] for name in names}
    antenna = antenna_motion(**states, lever_arm=gnss.lever_arm)
    receiver = GnssReceiver(gnss, run_seed(seed, run))
    return add_geodetic_positions(receiver.measure(motion.time[::step], antenna), gnss.origin)


def add_geodetic_positions(table: pd.DataFrame, origin: GnssOrigin) -> pd.DataFrame:
    """Add latitude, longitude and altitude to a table of local positions.

    x, y, z are interpreted as east, north and up on the plane that is tangent to the ellipsoid (WGS
    84) at the origin.

    Parameters
    ----------
    table : pandas.DataFrame
        Result of :meth:`GnssReceiver.measure`.
    origin : GnssOrigin
        Position on Earth of the origin of x, y, z.

    Returns
    -------
    pandas.DataFrame
        GnssRecord, with latitude and longitude [deg] and altitude [m].
    """
    import pymap3d

    x, y, z = table[["x", "y", "z"]].to_numpy().T
    place = pymap3d.enu2geodetic(x, y, z, origin.latitude, origin.longitude, origin.height)
    table = table.assign(**dict(zip(PLACE, place)))
    return table[list(GNSS_RECORD)]


_XYZ, _VELOCITY = ["x", "y", "z"], list(LOCAL_VELOCITY)
_VARIANCES = [*LOCAL_VARIANCE, "velocity_variance", "velocity_variance", "velocity_variance_up"]


class EarthFixes(NamedTuple):
    """Simulated GNSS fixes in r runs at k times.

    Parameters
    ----------
    time : ndarray, shape (k,)
        Measurement times [s].
    position, velocity : ndarray, shape (r, k, 3)
        Position [m] and velocity [m/s] in ECEF; nan without a fix.
    variance : ndarray, shape (r, k, 6)
        Variances in the receiver's messages, of position and velocity along east, north, up each
        [m^2; m^2/s^2].
    """

    time: np.ndarray
    position: np.ndarray
    velocity: np.ndarray
    variance: np.ndarray

    def at(self, index: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the fixes of all runs at a single time.

        Parameters
        ----------
        index : int
            Index of the time.

        Returns
        -------
        measured, variance : ndarray, shape (r, 6)
            Position and velocity, and their variances.
        """
        measured = np.concatenate([self.position[:, index], self.velocity[:, index]], axis=1)
        return measured, self.variance[:, index]

    def between(self, begin: float, end: float) -> EarthFixes:
        """Return the fixes between two times, both inclusive.

        Parameters
        ----------
        begin, end : float
            Times [s].

        Returns
        -------
        EarthFixes
            Fixes in the interval; may be empty.
        """
        used = (self.time >= begin) & (self.time <= end)
        return EarthFixes(self.time[used], *(values[:, used] for values in self[1:]))


def mount_antenna(motion: EarthMotion, gnss: GnssSpecification) -> EarthMotion:
    """Return the motion of a receiver's antenna on a moving body.

    Parameters
    ----------
    motion : EarthMotion
        Motion of the body.
    gnss : GnssSpecification
        Receiver with its lever arm.

    Returns
    -------
    EarthMotion
    """
    return motion.mounted(gnss.lever_arm) if np.any(gnss.lever_arm) else motion


@accept_names(gnss=read_gnss_specification)
def simulate_earth_fixes(
    motion: EarthMotion,
    gnss: GnssSpecification,
    runs: int = 1,
    seed: int | np.random.SeedSequence = 1,
    first_run: int = 0,
) -> EarthFixes:
    """Simulate a GNSS receiver along a motion on the Earth, in several runs.

    The fixes have the measurement times, without latency.

    Parameters
    ----------
    motion : EarthMotion
        Evenly sampled motion of the body, in whose body frame the antenna's lever arm is given.
    gnss : GnssSpecification or str
        Receiver, whose origin is ignored.
    runs : int
        Number of runs.
    seed : int or numpy.random.SeedSequence
        Seed of all runs. A run does not depend on other runs.
    first_run : int
        Number of the first run.

    Returns
    -------
    EarthFixes

    Raises
    ------
    MotionError
        If the motion is not evenly sampled.
    ConfigurationError
        If the motion's rate is not a multiple of the receiver's rate.
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
    """Simulate a GNSS receiver along a motion on the Earth, with arrival times.

    The fixes are those of the first run of :func:`simulate_earth_fixes`.

    Parameters
    ----------
    motion : EarthMotion
        Evenly sampled motion of the body.
    gnss : GnssSpecification
        Receiver, whose origin is ignored.
    seed : int or numpy.random.SeedSequence
        Seed of all runs.

    Returns
    -------
    pandas.DataFrame
        GnssRecord without heading; x, y, z are in the frame of the motion, ECEF.
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
    """Return the motion of the antenna, and the number of motion samples per fix."""
    ratio = 1.0 / (motion.period * gnss.rate)
    step = round(ratio)
    if step < 1 or abs(ratio - step) > 1e-6 * ratio:
        raise ConfigurationError(
            f"the rate of the receiver is {gnss.rate:g} Hz, expected the motion's "
            f"{1.0 / motion.period:g} Hz divided by an integer"
        )
    return mount_antenna(motion, gnss), step


def _errors(gnss: GnssSpecification, time: np.ndarray, seed: Any) -> pd.DataFrame:
    """Return the errors of a receiver in local ENU axes, in the columns of its fixes."""
    # The fixes of a receiver that is at rest at the origin are equal to its errors.
    zeros = np.zeros((len(time), 3))
    return GnssReceiver(gnss, seed).measure(time, AntennaMotion(zeros, zeros, np.zeros(len(time))))
