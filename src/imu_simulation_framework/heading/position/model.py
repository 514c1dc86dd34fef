r"""Linear Gaussian model of the position error of dead reckoning.

The yaw error of the heading and the distance error of the odometer are linear in the same
independent sources as the yaw error of :class:`.YawErrorModel`. The position error is linear in
both (:mod:`.track`), so that its covariance along any motion follows without random numbers.
Sources of an odometer that also supplies the heading act on yaw and distance at once.

Between two times of the model, white noise of the rate makes the yaw error deviate from a straight
line. The integral of this Brownian bridge over a step h adds the variance :math:`N^2 h^3 / 12`
times the squared speed. White noise of the yaw itself adds :math:`\sigma^2 h \Delta t` times the
squared speed, with the sampling period :math:`\Delta t`.

Position fixes are observations. The best linear estimator subtracts from the position an estimate
of its error from all fixes so far, as in :class:`.FusedYawError`. It thereby corrects the heading,
too. No filter on a robot is better.
"""

from __future__ import annotations

import math
import zlib
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Callable, Iterator, NamedTuple, Sequence

import numpy as np
import pandas as pd
from scipy.linalg import cholesky, solve_triangular

from ...core.errors import ConfigurationError
from ..model.distribution import ErrorDistribution, sensor_mixture
from ..model.model import Likelihood, YawErrorModel
from ..model.odometer import ENCODER, SLIP, OdometerConstant, WheelSlip
from ..model.sources import PROCESSES, KnownError, YawNoise
from ..model.state_space import RunNormals
from ..statistics import TWO_SIDED
from .fixes import PositionFix
from .radial import distance_quantile, probability_within_distance
from .track import Track

MAX_TIMES = 1000
"""Maximum number of times of a model; the covariances of more times need more than 200 MB."""
START_POSITION, START_HEADING, FIXES = "start position", "start heading", "position fixes"
DISTANCE = "distance"
"""Name of the distance between estimated and true position, of which survivals are estimated."""
_INCREMENTS = "noise within steps"
_RUNS_AT_ONCE = 128
"""Number of runs held in memory at a time while a probability is estimated."""


@dataclass(frozen=True)
class StartUncertainty:
    """Uncertainty of the pose at the start of a drive.

    Parameters
    ----------
    position : float, optional
        Standard deviation of each coordinate [m].
    heading : float, optional
        Standard deviation of the heading [rad].
    """

    position: float = 0.0
    heading: float = 0.0


@dataclass(frozen=True)
class HeadingSource:
    """Yaw error of the heading, in terms of the errors of an IMU and of an odometer.

    Parameters
    ----------
    imu : YawErrorModel or None
        Yaw error of the IMU; None for the heading of an odometer.
    gains : numpy.ndarray or None
        Gains of a fusion of the IMU with an odometer, shape (n, n), see
        :attr:`.FusedYawError.gains`; None without a fusion.
    """

    imu: YawErrorModel | None
    gains: np.ndarray | None = None

    def propagate_imu_errors(self, errors: np.ndarray) -> np.ndarray:
        """Compute the yaw errors of the heading due to yaw errors of the IMU.

        Parameters
        ----------
        errors : numpy.ndarray
            Yaw errors of the IMU, shape (n, m) [rad].

        Returns
        -------
        numpy.ndarray
            Yaw errors of the heading, shape (n, m) [rad].
        """
        return errors if self.gains is None else errors - self.gains @ errors

    def propagate_odometer_errors(self, errors: np.ndarray) -> np.ndarray:
        """Compute the yaw errors of the heading due to yaw errors of the odometer.

        Parameters
        ----------
        errors : numpy.ndarray
            Yaw errors of the odometer, shape (n, m) [rad].

        Returns
        -------
        numpy.ndarray
            Yaw errors of the heading, shape (n, m) [rad].
        """
        if self.imu is None:
            return errors
        return np.zeros_like(errors) if self.gains is None else self.gains @ errors


@dataclass(frozen=True)
class OdometerErrors:
    """Errors of an odometer on one motion.

    Parameters
    ----------
    constants : tuple of OdometerConstant
        Constant errors.
    slips : tuple of WheelSlip
        Random slip of the wheels.
    yaw_noise : float
        Standard deviation of the white noise of the odometer's yaw [rad].
    period : float
        Sampling period [s].
    """

    constants: tuple[OdometerConstant, ...] = ()
    slips: tuple[WheelSlip, ...] = ()
    yaw_noise: float = 0.0
    period: float = 0.0


class Survival(NamedTuple):
    """Probability that an error has stayed within a limit up to each time.

    Attributes
    ----------
    probability : numpy.ndarray
        Probability, shape (n,).
    half_width : numpy.ndarray
        Half width of the 95 % confidence interval of the probability, shape (n,).
    """

    probability: np.ndarray
    half_width: np.ndarray


class _Observations(NamedTuple):
    """Samples at which changes in position end and start (-1: none), and stds of x and y (2f,)."""

    ends: np.ndarray
    starts: np.ndarray
    sigmas: np.ndarray


class _Part(NamedTuple):
    """Random part of a position error: source, spread over sensors, and covariance (2n, 2n)."""

    name: str
    spread: float
    covariance: np.ndarray


class _Blocks(NamedTuple):
    """Covariances at equal times by source, with all fixes taken into account."""

    by_source: dict[str, np.ndarray]
    varying: list[tuple[np.ndarray, float]]
    gains: np.ndarray | None
    total: np.ndarray


@dataclass(frozen=True)
class PositionErrorModel:
    """Linear Gaussian model of the position error of dead reckoning over time.

    Parameters
    ----------
    track : Track
        True track at the times of the model.
    heading : HeadingSource
        Yaw error of the heading.
    odometer : OdometerErrors, optional
        Errors of the odometer; by default distances are known exactly.
    start : StartUncertainty, optional
        Uncertainty of the pose at the start.
    fixes : tuple of PositionFix, optional
        Position fixes during the drive.
    limits : tuple of str, optional
        Messages on limitations of the model.

    Raises
    ------
    ConfigurationError
        If there are too many times, or a fix has no accuracy or lies outside the motion.
    """

    track: Track
    heading: HeadingSource
    odometer: OdometerErrors = field(default_factory=OdometerErrors)
    start: StartUncertainty = field(default_factory=StartUncertainty)
    fixes: tuple[PositionFix, ...] = ()
    limits: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if len(self.time) > MAX_TIMES:
            raise ConfigurationError(
                f"the position error has {len(self.time)} times, expected at most {MAX_TIMES}; use "
                "longer steps"
            )
        for name, value in vars(self.start).items():
            if not (value >= 0.0 and math.isfinite(value)):
                raise ConfigurationError(
                    f"start.{name} is {value}, expected a standard deviation of at least zero"
                )
        last = float(self.time[-1])
        for fix in self.fixes:
            if not (fix.sigma > 0.0 and math.isfinite(fix.sigma)):
                raise ConfigurationError(
                    f"the position fix at {fix.time:g} s has the standard deviation {fix.sigma} m, "
                    "expected a positive number"
                )
            if not 0.0 <= fix.time <= last * (1.0 + 1e-9):
                raise ConfigurationError(
                    f"the position fix at {fix.time:g} s is outside the times of the model, which "
                    f"are from 0 to {last:g} s"
                )
            if fix.since is not None and not 0.0 <= fix.since <= fix.time - self.track.step:
                raise ConfigurationError(
                    f"the position fix at {fix.time:g} s measures the change in position since "
                    f"{fix.since:g} s, expected a time at least one step of {self.track.step:g} s "
                    "earlier"
                )

    @property
    def time(self) -> np.ndarray:
        """Times since the start of the motion, shape (n,) [s]."""
        return self.track.time

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the error sources in order, without duplicates."""
        known = self._known_curves
        return tuple(dict.fromkeys([*self._blocks.by_source, *known]))

    def mean(self) -> np.ndarray:
        """Return the mean position error.

        Returns
        -------
        numpy.ndarray
            Mean of x and y at each time, shape (n, 2) [m].
        """
        return self._pairs(sum(self._known_curves.values(), np.zeros(2 * len(self.time))))

    def mean_by_source(self) -> dict[str, np.ndarray]:
        """Return the contribution of each known error to the mean position error.

        Returns
        -------
        dict of str to numpy.ndarray
            Mean of x and y at each time by source, shape (n, 2) [m].
        """
        return {name: self._pairs(curve) for name, curve in self._known_curves.items()}

    def covariance(self) -> np.ndarray:
        """Return the covariance of the position error at each time.

        Returns
        -------
        numpy.ndarray
            Covariance of x and y, shape (n, 2, 2) [m^2].
        """
        return self._covariance.copy()

    @cached_property
    def _covariance(self) -> np.ndarray:
        empty = np.zeros((len(self.time), 2, 2))
        return sum(self._blocks.by_source.values(), empty)

    def covariance_by_source(self) -> dict[str, np.ndarray]:
        """Return the covariance of the position error due to each source.

        Returns
        -------
        dict of str to numpy.ndarray
            Covariance of x and y by source, shape (n, 2, 2) [m^2]. Known errors have none.
        """
        return dict(self._blocks.by_source)

    def varying_covariances(self) -> list[tuple[np.ndarray, float]]:
        """Return those covariances that differ between sensors of the same type.

        Returns
        -------
        list of tuple
            Covariance (n, 2, 2) of each source whose strength differs [m^2], and the standard
            deviation of the strength's natural logarithm.
        """
        return list(self._blocks.varying)

    def component(self, name: str) -> PositionComponent:
        """Return the distribution of one component of the position error.

        Parameters
        ----------
        name : {"along", "across", "x", "y"}
            Along or across the robot's forward direction, or an axis of the world.

        Returns
        -------
        PositionComponent
            Percentiles, bands and first passage of the component [m].
        """
        if name not in self._components:
            self._components[name] = PositionComponent(self, name)
        return self._components[name]

    @cached_property
    def _components(self) -> dict[str, PositionComponent]:
        """Components that have been used, which store their bands."""
        return {}

    def distance_quantile(self, probability: float, index: int = -1) -> float:
        """Compute a quantile of the distance between estimated and true position.

        Parameters
        ----------
        probability : float
            Probability that the distance does not exceed the quantile, between 0 and 1.
        index : int, optional
            Index of the time; by default the last one.

        Returns
        -------
        float
            Quantile [m].
        """
        covariances, shares = self._mixture(index)
        return distance_quantile(probability, self.mean()[index], covariances, shares)

    def probability_within(self, limit: float, index: int = -1) -> float:
        """Compute the probability that the position error is within a distance at one time.

        Parameters
        ----------
        limit : float
            Distance [m].
        index : int, optional
            Index of the time; by default the last one.

        Returns
        -------
        float
            Probability.
        """
        covariances, shares = self._mixture(index)
        return probability_within_distance(limit, self.mean()[index], covariances, shares)

    def _mixture(self, index: int) -> tuple[np.ndarray, np.ndarray]:
        """Return covariances (u, 2, 2) of representative sensors, and their weights (u,)."""
        varying = [(block[index], spread) for block, spread in self.varying_covariances()]
        covariances, shares = sensor_mixture(self._covariance[index], varying)
        return np.moveaxis(covariances, -1, 0), shares

    def survivals(
        self,
        limits: Sequence[tuple[str, float]],
        runs: int = 4000,
        seed: int | RunNormals = 1,
        on_runs: Callable[[int], object] = lambda _: None,
    ) -> list[Survival]:
        """Estimate the probabilities that the position error has stayed within several limits.

        Parameters
        ----------
        limits : sequence of tuple
            Quantity and its limit [m]. The quantity is ``distance``, between estimated and true
            position, or a component, see :meth:`component`.
        runs : int, optional
            Number of simulated drives, which all limits share.
        seed : int or RunNormals, optional
            Seed of all runs, or normal random numbers shared by several models.
        on_runs : callable, optional
            Called with the number of new runs after each batch of simulated runs.

        Returns
        -------
        list of Survival
            Estimate for each limit.
        """
        axes = {name: self.track.axes(name) for name, _ in limits if name != DISTANCE}
        counts = np.zeros((len(limits), len(self.time)))
        for first in range(0, runs, _RUNS_AT_ONCE):
            count = min(_RUNS_AT_ONCE, runs - first)
            errors = self.realisations(count, seed, first)
            for place, (name, limit) in enumerate(limits):
                if name == DISTANCE:
                    sizes = np.hypot(errors[:, :, 0], errors[:, :, 1])
                else:
                    sizes = np.abs(np.sum(axes[name] * errors, axis=2))
                is_within = np.logical_and.accumulate(sizes <= limit, axis=1)
                counts[place] += np.sum(is_within, axis=0)
            on_runs(count)
        shares = counts / runs
        half_widths = TWO_SIDED * np.sqrt(shares * (1.0 - shares) / runs)
        return [Survival(shares[place], half_widths[place]) for place in range(len(limits))]

    def realisations(self, runs: int, seed: int | RunNormals = 1, first_run: int = 0) -> np.ndarray:
        """Simulate realisations of the position error.

        Parameters
        ----------
        runs : int
            Number of runs.
        seed : int or RunNormals, optional
            Seed of all runs, or normal random numbers shared by several models.
        first_run : int, optional
            Number of the first run.

        Returns
        -------
        numpy.ndarray
            Errors of x and y, shape (runs, n, 2) [m].
        """
        track, count = self.track, len(self.time)
        normals = _Normals(seed, range(first_run, first_run + runs))
        yaw, distance = np.zeros((2, count, runs))
        if self._imu is not None:
            errors = self._imu.realisations(runs, normals.shared, first_run).T
            yaw += self.heading.propagate_imu_errors(errors)
        for name, constants in _grouped(self._random_constants).items():
            numbers = normals.draw(f"{name}, constant", len(constants))
            for constant, number in zip(constants, numbers):
                scaled = constant.sigma * number
                yaw += self.heading.propagate_odometer_errors(constant.yaw[:, np.newaxis] * scaled)
                distance += constant.distance[:, np.newaxis] * scaled
        for wheel, slip in enumerate(self.odometer.slips):
            steps = np.sqrt(np.diff(slip.variance, prepend=0.0))[:, np.newaxis]
            slipped = np.cumsum(steps * normals.draw(f"{SLIP}, wheel {wheel}", count), axis=0)
            yaw += self.heading.propagate_odometer_errors(slip.yaw_factor * slipped)
            distance += slip.distance_factor * slipped
        if self.start.heading > 0.0:
            yaw += self.start.heading * normals.draw(START_HEADING, 1)
        for name, std in self._filtered_yaw_noise.items():
            noise = std * normals.draw(f"{name}, filtered", count)
            yaw += self.heading.propagate_odometer_errors(noise)
        errors = track.integrate_yaw(yaw) + track.integrate_distance(distance)
        errors += track.integrate_yaw(self._known_odometer_yaw[:, np.newaxis])
        errors += track.integrate_distance(self._known_odometer_distance[:, np.newaxis])
        increments = sum(self._increments.values(), np.zeros(count - 1))
        steps = np.sqrt(increments)[:, np.newaxis]
        errors += track.integrate_steps(steps * normals.draw(_INCREMENTS, count - 1))
        if self.start.position > 0.0:
            numbers = self.start.position * normals.draw(START_POSITION, 2)
            errors += np.repeat(numbers, count, axis=0)
        if self.fixes:
            gains = self._blocks.gains
            noise = self._observations.sigmas[:, np.newaxis]
            observed = self._observe(errors) + noise * normals.draw(FIXES, len(noise))
            errors = errors - gains @ observed
        return np.moveaxis(errors.reshape(2, count, runs), (0, 1, 2), (2, 1, 0))

    def likelihood(self, observed: np.ndarray, sigma: float) -> Likelihood:
        """Compute the likelihood of an observed position error.

        Strengths that differ between sensors have their mean square.

        Parameters
        ----------
        observed : numpy.ndarray
            Errors of x and y at the times of the model, shape (n, 2) [m]; NaN without an
            observation.
        sigma : float
            Standard deviation of the white noise of the reference in each coordinate [m]. It has to
            be positive, since constant errors alone have a singular covariance.

        Returns
        -------
        Likelihood
            Innovations are ordered by x and then by y.

        Raises
        ------
        ConfigurationError
            If the observed error has another shape, or the noise is not positive.
        """
        if not sigma > 0.0:
            raise ConfigurationError(
                f"the noise of the reference is {sigma} m, expected a positive standard deviation"
            )
        observed = np.asarray(observed, dtype=float)
        if observed.shape != (len(self.time), 2):
            raise ConfigurationError(
                f"the observed position error has the shape {observed.shape}, expected "
                f"({len(self.time)}, 2)"
            )
        error = (observed - self.mean()).T.ravel()
        covariance = self._blocks.total + sigma**2 * np.eye(len(error))
        seen = np.flatnonzero(np.isfinite(error))
        # In the order of time, each innovation depends on earlier observations only.
        seen = seen[np.argsort(seen % len(self.time), kind="stable")]
        root = cholesky(covariance[np.ix_(seen, seen)], lower=True)
        white, std = solve_triangular(root, error[seen], lower=True), np.diag(root)
        innovations, innovation_std = np.full((2, len(error)), np.nan)
        innovations[seen], innovation_std[seen] = std * white, std
        logarithm = -0.5 * float(white @ white) - float(np.sum(np.log(std)))
        return Likelihood(
            logarithm - 0.5 * len(seen) * math.log(2.0 * math.pi), innovations, innovation_std
        )

    def _pairs(self, curve: np.ndarray) -> np.ndarray:
        return curve.reshape(2, -1).T

    @cached_property
    def _imu(self) -> YawErrorModel | None:
        """Yaw error model of the IMU without the white noise of its yaw."""
        imu = self.heading.imu
        if imu is None:
            return None
        return replace(imu, sources=tuple(s for s in imu.sources if not isinstance(s, YawNoise)))

    @property
    def _random_constants(self) -> list[OdometerConstant]:
        return [each for each in self.odometer.constants if each.sigma is not None]

    @cached_property
    def _known_odometer_yaw(self) -> np.ndarray:
        known = (each for each in self.odometer.constants if each.sigma is None)
        curves = [
            self.heading.propagate_odometer_errors(each.yaw[:, np.newaxis])[:, 0] for each in known
        ]
        return sum(curves, np.zeros(len(self.time)))

    @cached_property
    def _known_odometer_distance(self) -> np.ndarray:
        known = (each.distance for each in self.odometer.constants if each.sigma is None)
        return sum(known, np.zeros(len(self.time)))

    @cached_property
    def _known_curves(self) -> dict[str, np.ndarray]:
        """Known position errors (2n,) by source, with all fixes taken into account."""
        curves: dict[str, np.ndarray] = {}
        sources = [] if self._imu is None else self._imu.sources
        for source in sources:
            if isinstance(source, KnownError):
                yaw = self.heading.propagate_imu_errors(source.curve[:, np.newaxis])
                curve = self.track.integrate_yaw(yaw)[:, 0]
                curves[source.name] = curves.get(source.name, 0.0) + curve
        for constant in self.odometer.constants:
            if constant.sigma is None:
                curve = self._odometer_curves(
                    constant.yaw[:, np.newaxis], constant.distance[:, np.newaxis]
                )[:, 0]
                curves[constant.name] = curves.get(constant.name, 0.0) + curve
        if self.fixes:
            gains = self._blocks.gains
            curves = {name: c - gains @ self._observe(c) for name, c in curves.items()}
        return curves

    def _odometer_curves(self, yaw: np.ndarray, distance: np.ndarray) -> np.ndarray:
        """Return position errors (2n, m) due to an odometer's yaw and distance errors (n, m)."""
        heading = self.track.integrate_yaw(self.heading.propagate_odometer_errors(yaw))
        return heading + self.track.integrate_distance(distance)

    @cached_property
    def _increments(self) -> dict[str, np.ndarray]:
        """Variance (n - 1,) of the integrated yaw error within each step [rad^2 s^2] by source."""
        step, increments = self.track.step, {}
        empty = np.zeros(len(self.time) - 1)
        imu = self.heading.imu
        for name in () if imu is None else imu.names:
            assert imu is not None
            source = imu.only(name)
            period = step if imu.sensor_period is None else imu.sensor_period
            noise = float(np.sum(source.state_space.yaw_noise))
            variance = source.variance_within_step * step**2 / 12.0 + noise * step * period
            increments[name] = empty + variance
        if imu is None:
            for slip in self.odometer.slips:
                added = slip.yaw_factor**2 * np.diff(slip.variance) * step**2 / 12.0
                increments[SLIP] = increments.get(SLIP, empty) + added
            noise = self.odometer.yaw_noise**2 * step * self.odometer.period
            increments[ENCODER] = empty + noise
        return {name: variance for name, variance in increments.items() if np.any(variance)}

    def _parts(self) -> Iterator[_Part]:
        """Yield the random parts of the position error without fixes."""
        yield from self._heading_parts()
        for name, constants in _grouped(self._random_constants).items():
            curves = self._odometer_curves(
                np.column_stack([c.sigma * c.yaw for c in constants]),
                np.column_stack([c.sigma * c.distance for c in constants]),
            )
            yield _Part(name, 0.0, curves @ curves.T)
        for slip in self.odometer.slips:
            walk = np.minimum(slip.variance, slip.variance[:, np.newaxis])
            half = self._odometer_curves(slip.yaw_factor * walk, slip.distance_factor * walk)
            whole = self._odometer_curves(slip.yaw_factor * half.T, slip.distance_factor * half.T)
            yield _Part(SLIP, 0.0, whole)
        count = len(self.time)
        if self.start.heading > 0.0:
            curve = self.track.integrate_yaw(np.full((count, 1), self.start.heading))
            yield _Part(START_HEADING, 0.0, curve @ curve.T)
        if self.start.position > 0.0:
            block = np.full((count, count), self.start.position**2)
            yield _Part(START_POSITION, 0.0, np.kron(np.eye(2), block))
        for name, variance in self._increments.items():
            yield _Part(name, 0.0, self.track.step_covariance(variance))
        for name, std in self._filtered_yaw_noise.items():
            filtered = self.heading.propagate_odometer_errors(std * np.eye(count))
            curves = self.track.integrate_yaw(filtered)
            yield _Part(name, 0.0, curves @ curves.T)

    @cached_property
    def _filtered_yaw_noise(self) -> dict[str, float]:
        """Std of each white noise of the yaw that a fusion filters, by source [rad]."""
        if self.heading.gains is None or self.heading.imu is None:
            return {}
        space = self.heading.imu.state_space
        noise = {name: math.sqrt(variance) for name, variance in zip(space.names, space.yaw_noise)}
        noise[ENCODER] = self.odometer.yaw_noise
        return {name: std for name, std in noise.items() if std > 0.0}

    def _heading_parts(self) -> Iterator[_Part]:
        imu = self._imu
        if imu is None:
            return
        for name in imu.names:
            sources = imu.only(name).sources
            processes = tuple(s for s in sources if isinstance(s, PROCESSES))
            others = tuple(s for s in sources if not isinstance(s, (*PROCESSES, KnownError)))
            for some in (processes, others):
                if some:
                    spread = self._spread(name) if some is processes else 0.0
                    covariance = replace(imu, sources=some).covariance()
                    half = self.track.integrate_yaw(self.heading.propagate_imu_errors(covariance))
                    whole = self.track.integrate_yaw(self.heading.propagate_imu_errors(half.T))
                    yield _Part(name, spread, whole)

    def _spread(self, name: str) -> float:
        """Return the spread of a process of the IMU over sensors."""
        if self._imu is None:
            return 0.0
        space = self._imu.state_space
        return dict(zip(space.names, space.spreads)).get(name, 0.0)

    @cached_property
    def _observations(self) -> _Observations:
        """Fixes in the order of their samples, with those of the same samples combined.

        A fix between two samples acts at the later one, so that it is not used before its time.
        """
        weights: dict[tuple[int, int], float] = {}
        for fix in self.fixes:
            end = math.ceil(fix.time / self.track.step - 1e-6)
            start = -1 if fix.since is None else round(fix.since / self.track.step)
            if start < end:
                place = min(end, len(self.time) - 1), start
                weights[place] = weights.get(place, 0.0) + 1.0 / fix.sigma**2
        places = sorted(weights)
        sigmas = np.repeat([1.0 / math.sqrt(weights[place]) for place in places], 2)
        ends, starts = np.array(places, dtype=int).reshape(-1, 2).T
        return _Observations(ends, starts, sigmas)

    def _observe(self, errors: np.ndarray) -> np.ndarray:
        """Return the observed components (2 f, ...) of position errors (2 n, ...)."""
        ends, starts, _ = self._observations
        shaped = errors.reshape(2, len(self.time), *errors.shape[1:])
        earlier = shaped[:, starts].copy()
        earlier[:, starts < 0] = 0.0
        observed = shaped[:, ends] - earlier
        return np.moveaxis(observed, 0, 1).reshape(2 * len(ends), *errors.shape[1:])

    @cached_property
    def _blocks(self) -> _Blocks:
        count = len(self.time)
        total = np.zeros((2 * count, 2 * count))
        parts = []
        for name, spread, covariance in self._parts():
            total += covariance
            crossed = self._observe(covariance) if self.fixes else None
            parts.append((name, spread, _equal_times(covariance), crossed))
        gains = None
        if self.fixes:
            gains, total = self._filtered(total)
        by_source: dict[str, np.ndarray] = {}
        varying: dict[str, tuple[np.ndarray, float]] = {}
        for name, spread, block, crossed in parts:
            if gains is not None and crossed is not None:
                block = self._block_after_fixes(block, crossed, gains)
            by_source[name] = by_source.get(name, 0.0) + block
            if spread > 0.0:
                # All parts of a source have the strength of the same sensor.
                earlier = varying[name][0] if name in varying else 0.0
                varying[name] = block + earlier, spread
        if gains is not None:
            noise = gains * self._observations.sigmas
            by_source[FIXES] = _equal_times_of_product(noise, noise, count)
        return _Blocks(by_source, list(varying.values()), gains, total)

    def _filtered(self, total: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the causal gains (2n, 2f) of all fixes, and the covariance after them."""
        crossed = self._observe(total)
        between = self._observe(crossed.T) + np.diag(self._observations.sigmas**2)
        root = cholesky(between, lower=True)
        weights = solve_triangular(root, crossed, lower=True)
        # A fix only changes the estimate from its time on.
        ends = self._observations.ends
        samples = np.tile(np.arange(len(self.time)), 2)
        weights[np.repeat(ends, 2)[:, np.newaxis] > samples] = 0.0
        gains = solve_triangular(root, weights, lower=True, trans="T").T
        product = gains @ crossed
        return gains, total - product - product.T + gains @ between @ gains.T

    def _block_after_fixes(
        self, block: np.ndarray, crossed: np.ndarray, gains: np.ndarray
    ) -> np.ndarray:
        count = len(self.time)
        product = _equal_times_of_product(gains, crossed.T, count)
        between = self._observe(crossed.T)
        own = _equal_times_of_product(gains @ between, gains, count)
        return block - product - np.swapaxes(product, 1, 2) + own


class PositionComponent(ErrorDistribution):
    """Distribution of one component of a position error over time.

    Parameters
    ----------
    model : PositionErrorModel
        Model of the position error.
    component : {"along", "across", "x", "y"}
        Component, see :meth:`.Track.axes`.
    """

    def __init__(self, model: PositionErrorModel, component: str) -> None:
        self.model, self.time, self.limits = model, model.time, model.limits
        self.axes = model.track.axes(component)
        self.sources = ()

    @property
    def names(self) -> tuple[str, ...]:
        return self.model.names

    def _projected(self, covariances: np.ndarray) -> np.ndarray:
        # Rounding errors may be negative where the error has no variance.
        return np.maximum(np.einsum("ni,nij,nj->n", self.axes, covariances, self.axes), 0.0)

    def mean(self) -> np.ndarray:
        return np.sum(self.axes * self.model.mean(), axis=1)

    def mean_by_source(self) -> pd.DataFrame:
        means = self.model.mean_by_source().items()
        columns = {name: np.sum(self.axes * mean, axis=1) for name, mean in means}
        return pd.DataFrame(columns, index=pd.Index(self.time, name="time"))

    def variance(self) -> np.ndarray:
        return self._projected(self.model.covariance())

    def budget(self) -> pd.DataFrame:
        blocks = self.model.covariance_by_source()
        columns = {
            name: self._projected(blocks[name]) if name in blocks else np.zeros(len(self.time))
            for name in self.names
        }
        return pd.DataFrame(columns, index=pd.Index(self.time, name="time"))

    def _varying_variances(self) -> list[tuple[np.ndarray, float]]:
        varying = self.model.varying_covariances()
        return [(self._projected(covariance), spread) for covariance, spread in varying]

    def draw_survival(
        self, limit: float, runs: int, seed: int | RunNormals, first_run: int
    ) -> np.ndarray:
        errors = np.sum(self.axes * self.model.realisations(runs, seed, first_run), axis=2)
        return np.logical_and.accumulate(np.abs(errors) <= limit, axis=1).astype(float)


class _Normals:
    """Normal random numbers of runs, by the name of their source."""

    def __init__(self, seed: int | RunNormals, runs: range) -> None:
        self.shared = seed if isinstance(seed, RunNormals) else RunNormals(seed)
        self.runs = runs

    def draw(self, name: str, count: int) -> np.ndarray:
        """Return random numbers (count, runs), which depend on the seed, the run and the name."""
        numbers = np.empty((len(self.runs), count))
        self.shared.fill(numbers, self.runs, zlib.crc32(name.encode()) << 64)
        return numbers.T


def _grouped(constants: Sequence[OdometerConstant]) -> dict[str, list[OdometerConstant]]:
    groups: dict[str, list[OdometerConstant]] = {}
    for constant in constants:
        groups.setdefault(constant.name, []).append(constant)
    return groups


def _equal_times(covariance: np.ndarray) -> np.ndarray:
    """Return the blocks (n, 2, 2) at equal times of a covariance (2n, 2n)."""
    count = len(covariance) // 2
    shaped = covariance.reshape(2, count, 2, count)
    return np.einsum("injn->nij", shaped).copy()


def _equal_times_of_product(first: np.ndarray, second: np.ndarray, count: int) -> np.ndarray:
    """Return the blocks (n, 2, 2) at equal times of a matrix (2n, m) times another's transpose."""
    pair = first.reshape(2, count, -1), second.reshape(2, count, -1)
    return np.einsum("inm,jnm->nij", *pair)
