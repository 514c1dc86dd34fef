"""Linear Gaussian state-space model of a yaw error: bands, budget, realisations, likelihood.

Bands and budget follow from the covariance, without random numbers; realisations and the likelihood
of an observed error follow from the same matrices (:mod:`.model.sources`). The observed error
includes the white noise of sensor and reference, if there are such sources. If the sensor's offset
is estimated at stops during the drive (:mod:`.sensors.operation`), the error is a linear function
of the error without stops: with I the integral of the rate errors, a stop from a to b yields the
offset (I(b) - I(a)) / (b - a).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.linalg import solve_triangular

from ...core.errors import ConfigurationError
from ...sensors.operation import Standstill
from .distribution import ErrorDistribution, normal_within
from .sources import (
    CURVES,
    PROCESSES,
    YAW_PROCESSES,
    KnownError,
    RandomConstant,
    Source,
    StateSpace,
    YawNoise,
    YawRandomWalk,
    state_space,
)
from .state_space import (
    SAMPLED_BARRIER,
    DriveFilter,
    DriveObservations,
    RunNormals,
    bridges_within,
    draw_runs,
    numbers_per_run,
)


class Likelihood(NamedTuple):
    """Likelihood and innovations of an observed yaw error under a model.

    Attributes
    ----------
    log_likelihood : float
        Natural logarithm of the probability density.
    innovations, innovation_std : numpy.ndarray
        Difference of each observation from its prediction by earlier observations, and the standard
        deviation of this difference, shape (n,) each [rad]; NaN without an observation.
    """

    log_likelihood: float
    innovations: np.ndarray
    innovation_std: np.ndarray


@dataclass(frozen=True)
class YawErrorModel(ErrorDistribution):
    """Linear Gaussian model of a sensor's yaw error over time on one motion.

    Parameters
    ----------
    time : numpy.ndarray
        Evenly spaced times since the start of the motion, shape (n,) [s].
    sources : tuple of Source
        Independent sources; sources of the same name form one entry of the budget.
    sensor_period : float, optional
        Sampling period of the sensor, of which the step is an integer multiple [s]; by default the
        processes are continuous in time.
    limits : tuple of str, optional
        Messages on limitations of the model.
    heading_time_constant : float, optional
        Time constant with which the integral of the rate errors decays due to a magnetic heading
        [s]; by default it does not decay.
    standstill : float, optional
        Duration of the standstill before the first time, over which the rate offset was estimated
        [s]; by default there was none.
    standstills : tuple of Standstill, optional
        Stops at times of the model, at which the offset is estimated again and the yaw error is
        held. They do not change the curves of the sources.

    Raises
    ------
    ConfigurationError
        If there are fewer than two times, the times are uneven, a curve has a different length, a
        stop does not end after it begins, or the step is not a multiple of the sensor's period.
    """

    time: np.ndarray
    sources: tuple[Source, ...]
    sensor_period: float | None = None
    limits: tuple[str, ...] = ()
    heading_time_constant: float | None = None
    standstill: float = 0.0
    standstills: tuple[Standstill, ...] = ()

    def __post_init__(self) -> None:
        time = np.asarray(self.time, dtype=float)
        object.__setattr__(self, "time", time)
        object.__setattr__(self, "sources", tuple(self.sources))
        if time.ndim != 1 or len(time) < 2:
            raise ConfigurationError(
                f"the times of a yaw error have the shape {time.shape}, expected (n,) with n at "
                "least 2"
            )
        steps = np.diff(time)
        if not (np.all(np.isfinite(time)) and steps[0] > 0.0):
            raise ConfigurationError("the times of a yaw error must be finite and increasing")
        if np.ptp(steps) > 1e-6 * steps[0]:
            raise ConfigurationError(
                f"the times of a yaw error must be evenly spaced, but their steps are from "
                f"{np.min(steps):g} to {np.max(steps):g} s"
            )
        for source in self.sources:
            curve = getattr(source, CURVES.get(type(source), ""), time)
            if np.shape(curve) != time.shape:
                raise ConfigurationError(
                    f"{source.name}: the curve has the shape {np.shape(curve)}, expected "
                    f"that of the times, {time.shape}"
                )
        for stop in self.standstills:
            if not stop.start <= stop.held_from < stop.end:
                raise ConfigurationError(
                    f"standstill: start, held_from and end are {stop.start:g}, "
                    f"{stop.held_from:g} and {stop.end:g} s, expected ascending times"
                )
        if self.standstills and self.heading_time_constant is not None:
            raise ConfigurationError(
                "holding the yaw error at stops cannot be combined with a magnetic heading"
            )
        _ = self.state_space  # raises an error if the step is not a multiple of the sensor's period

    @property
    def step(self) -> float:
        """Time step of the model [s]."""
        return float((self.time[-1] - self.time[0]) / (len(self.time) - 1))

    @cached_property
    def state_space(self) -> StateSpace:
        """State-space model of those error sources that are random processes."""
        return state_space(
            self._sources_of(PROCESSES),
            self.step,
            self.sensor_period,
            self.heading_time_constant,
            self.standstill,
        )

    def only(self, *names: str) -> YawErrorModel:
        """Return a copy of the model with only the named error sources.

        Parameters
        ----------
        *names : str
            Names of sources.

        Returns
        -------
        YawErrorModel

        Raises
        ------
        ConfigurationError
            If no source has one of the names.
        """
        for name in names:
            if name not in self.names:
                raise ConfigurationError(
                    f"unknown source {name!r}, expected one of {', '.join(self.names) or 'none'}"
                )
        return replace(self, sources=tuple(s for s in self.sources if s.name in names))

    def until(self, samples: int) -> YawErrorModel:
        """Return a copy of the model, truncated to the first samples.

        Parameters
        ----------
        samples : int
            Number of samples, at least two.

        Returns
        -------
        YawErrorModel
        """
        sources = list(self.sources)
        for place, source in enumerate(sources):
            name = CURVES.get(type(source))
            if name:
                sources[place] = replace(source, **{name: getattr(source, name)[:samples]})
        return replace(self, time=self.time[:samples], sources=tuple(sources))

    def mean(self) -> np.ndarray:
        return np.sum([s.curve for s in self._sources_of(KnownError)], axis=0) + np.zeros(
            len(self.time)
        )

    def mean_by_source(self) -> pd.DataFrame:
        table = pd.DataFrame(index=pd.Index(self.time, name="time"))
        for source in self._sources_of(KnownError):
            table[source.name] = table.get(source.name, 0.0) + source.curve
        return table

    def variance(self) -> np.ndarray:
        return self._variance.copy()

    @cached_property
    def _variance(self):
        space = self.state_space
        noise, initial = (np.sum(each, axis=0)[np.newaxis] for each in (space.noise, space.initial))
        whole = self._variances(noise, initial)
        constants = sum(part**2 for _, part in self._constants())
        walks = sum(variance for _, variance in self._walks())
        return whole[:, 0] + np.sum(space.yaw_noise) + constants + walks

    def budget(self) -> pd.DataFrame:
        space, columns = self.state_space, {}
        variances = self._variances_by_group
        for name in self.names:
            part = np.zeros(len(self.time))
            if name in space.names:
                group = space.names.index(name)
                part += variances[:, group] + space.yaw_noise[group]
            for source, constant in self._constants():
                if source == name:
                    part += constant**2
            for source, variance in self._walks():
                if source == name:
                    part += variance
            columns[name] = part
        return pd.DataFrame(columns, index=pd.Index(self.time, name="time"))

    def covariance(self) -> np.ndarray:
        """Compute the covariance matrix of the yaw error over all times.

        Returns
        -------
        numpy.ndarray
            Covariance, shape (n, n) [rad^2].
        """
        if self.standstills:
            rate_model, others = self._rate_and_other_models
            covariance = self._with_stops(self._with_stops(rate_model.covariance()).T)
            return covariance + others.covariance()
        space, count = self.state_space, len(self.time)
        # Effect of each state on the yaw error after any number of steps.
        later = np.empty((count, len(space.design)))
        later[0] = space.design
        for index in range(1, count):
            later[index] = later[index - 1] @ space.transition
        noise, state = np.sum(space.noise, axis=0), np.sum(space.initial, axis=0)
        covariance = np.empty((count, count))
        for index in range(count):
            covariance[index:, index] = later[: count - index] @ (state @ space.design)
            state = space.transition @ state @ space.transition.T + noise
        lower = np.tril(covariance, -1)
        covariance = lower + lower.T + np.diag(np.diag(covariance) + np.sum(space.yaw_noise))
        for _, part in self._constants():
            covariance += np.outer(part, part)
        for _, variance in self._walks():
            covariance += np.minimum(variance, variance[:, np.newaxis])
        return covariance

    def _varying_variances(self) -> list[tuple[np.ndarray, float]]:
        if not self.state_space.varies:
            return []
        variances = self._variances_by_group
        return [
            (variances[:, group], spread)
            for group, spread in enumerate(self.state_space.spreads)
            if spread != 0.0 and np.any(variances[:, group])
        ]

    @cached_property
    def _noise_free_model(self) -> YawErrorModel:
        return replace(self, sources=tuple(s for s in self.sources if not isinstance(s, YawNoise)))

    @property
    def is_random(self) -> bool:
        return bool(np.any(self._noise_free_model.variance() > 0.0))

    def draw_survival(
        self, limit: float, runs: int, seed: int | RunNormals, first_run: int
    ) -> np.ndarray:
        # A run is weighted by its probability of staying within the limit between samples.
        errors = self._noise_free_model.realisations(runs, seed, first_run)
        probability_within = self._noise_free_model._probability_within_steps(errors, limit)
        noise = float(np.sqrt(np.sum(self.state_space.yaw_noise)))
        return probability_within * self._noise_within(errors, noise, limit)

    def _probability_within_steps(self, errors, limit):
        """Return each run's probability (runs, n) of having stayed within the limit so far."""
        variance, sample = self.variance_within_step, self.sensor_period or 0.0
        inside = np.logical_and.accumulate(np.abs(errors) <= limit, axis=1)
        widened = limit + SAMPLED_BARRIER * np.sqrt(variance * sample / self.step)
        free = np.ones(len(self.time) - 1, dtype=bool)
        for _, first_held, end in self._stops:
            free[first_held:end] = False
        return inside * bridges_within(errors, variance, widened, free)

    @cached_property
    def variance_within_step(self) -> np.ndarray:
        """Variance (n - 1,) of the Brownian bridge in each step: four times that at mid-step."""
        processes = self._sources_of(PROCESSES)
        half_step = state_space(processes, 0.5 * self.step, None, self.heading_time_constant)
        noise = np.sum(half_step.noise, axis=0)
        # Effect of the noise in the first half-step on the midpoint minus the mean of both ends.
        first = half_step.design - 0.5 * half_step.design @ half_step.transition
        step_variance = 4.0 * float(
            first @ noise @ first + 0.25 * half_step.design @ noise @ half_step.design
        )
        walks = sum(np.diff(variance) for _, variance in self._walks())
        return step_variance + walks + np.zeros(len(self.time) - 1)

    def _noise_within(self, errors, noise, limit):
        """Return the probability (runs, n) that errors with white noise stay within the limit."""
        if noise == 0.0:
            return np.ones(errors.shape)
        samples = 1.0 if self.sensor_period is None else self.step / self.sensor_period
        with np.errstate(divide="ignore", invalid="ignore"):
            logarithms = np.log(normal_within(errors, noise, limit))
            ends = 0.5 * (logarithms[:, :1] + logarithms)
            whole = samples * (np.cumsum(logarithms, axis=1) - ends) + ends
        return np.exp(np.where(np.isfinite(whole), whole, -np.inf))

    def realisations(self, runs: int, seed: int | RunNormals = 1, first_run: int = 0) -> np.ndarray:
        """Simulate realisations of the yaw error.

        The random numbers of a run depend only on the seed, the run number and the name of each
        source, but not on other runs or on other sources.

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
            Yaw errors, shape (runs, n) [rad].

        Raises
        ------
        ConfigurationError
            If there is less than one run.
        """
        if runs < 1:
            raise ConfigurationError(f"{runs} runs were requested, but at least one is needed")
        if not self.standstills:
            parts = self._constants(), self._walks()
            return draw_runs(self.state_space, self.mean(), *parts, runs, seed, first_run)
        # Random numbers depend on the source's name alone, so they are the same in submodels.
        rate_errors, other_errors = (
            model.realisations(runs, seed, first_run) for model in self._rate_and_other_models
        )
        return self._with_stops(rate_errors) + other_errors

    @property
    def numbers_per_run(self) -> int:
        """Number of normal random numbers per realisation of the yaw error."""
        return numbers_per_run(self.state_space, self._constants(), self._walks(), len(self.time))

    def likelihood(self, observed: np.ndarray) -> Likelihood:
        """Compute the likelihood of an observed yaw error by statsmodels' Kalman filter.

        Parameters
        ----------
        observed : numpy.ndarray
            Yaw error at the model's times, shape (n,) [rad]; NaN without an observation.

        Returns
        -------
        Likelihood

        Raises
        ------
        ConfigurationError
            If the observed error has a different length, or statsmodels is not installed.
        """
        observed = np.asarray(observed, dtype=float)
        if observed.shape != self.time.shape:
            raise ConfigurationError(
                f"the observed yaw error has the shape {observed.shape}, but the model has "
                f"{len(self.time)} times"
            )
        if self.standstills or self._walks():
            return self._dense_likelihood(observed - self.mean())
        constants = [part for _, part in self._constants()]
        drive = DriveObservations(
            observed - self.mean(),
            np.array(constants).reshape(-1, len(self.time)).T,
            np.empty((len(self.time), 0)),
        )
        filtered = DriveFilter([drive], len(self.state_space.design)).filtered(self.state_space)
        return Likelihood(
            filtered.log_likelihood, filtered.innovations[0], filtered.innovation_std[0]
        )

    def _dense_likelihood(self, error):
        """Compute the likelihood from the Cholesky factor of the covariance matrix."""
        covariance = self.covariance()
        # An error that is known to be zero, such as the first one, contains no information.
        informative = np.flatnonzero(np.isfinite(error) & (np.diag(covariance) > 0.0))
        root = np.linalg.cholesky(covariance[np.ix_(informative, informative)])
        white = solve_triangular(root, error[informative], lower=True)
        std = np.diag(root)
        innovations, innovation_std = np.full((2, len(error)), np.nan)
        innovations[informative], innovation_std[informative] = std * white, std
        logarithm = -0.5 * float(white @ white) - float(np.sum(np.log(std)))
        return Likelihood(
            logarithm - 0.5 * len(informative) * math.log(2.0 * math.pi),
            innovations,
            innovation_std,
        )

    @cached_property
    def _stops(self) -> list[tuple[int, int, int]]:
        """Sample indices of each standstill: its start, the start of the yaw hold, and its end."""
        last = len(self.time) - 1
        times = np.array(self.standstills).reshape(-1, 3) - self.time[0]
        places = np.rint(times / self.step).astype(int).tolist()
        return [(a, h, min(b, last)) for a, h, b in places if h < min(b, last)]

    @cached_property
    def _rate_and_other_models(self) -> tuple[YawErrorModel, YawErrorModel]:
        """Models of the rate processes alone, and of all other sources, both without stops."""
        parts: tuple[list, list] = [], []
        for source in self.sources:
            is_of_rate = isinstance(source, PROCESSES) and not isinstance(source, YAW_PROCESSES)
            parts[0 if is_of_rate else 1].append(source)
        rate, others = (replace(self, sources=tuple(part), standstills=()) for part in parts)
        return rate, others

    def _with_stops(self, integrals):
        """Apply zero-rate updates at stops to integrals of rate errors (runs, n)."""
        errors = integrals.copy()
        for start, first_held, end in self._stops:
            errors[:, first_held : end + 1] = errors[:, first_held : first_held + 1]
            slope = (integrals[:, end] - integrals[:, start]) / (end - start)
            free = integrals[:, end:] - integrals[:, end : end + 1]
            steps_since_stop = np.arange(free.shape[1])
            errors[:, end:] = (
                errors[:, first_held : first_held + 1]
                + free
                - slope[:, np.newaxis] * steps_since_stop
            )
        return errors

    @cached_property
    def _variances_by_group(self):
        return self._variances(self.state_space.noise, self.state_space.initial)

    def _variances(self, noise, initial):
        """Propagate state covariances (g, m, m) to variances of the yaw error (n, g)."""
        space, stops, count = self.state_space, self._stops, len(self.time)
        design, transition, size = space.design, space.transition, len(space.design)
        held_transition, held_noise = transition, noise
        if stops:
            # Additional states: held error, offset per step, integral at the start of a stop.
            error, offset, start_integral = range(size, size + 3)
            held_transition, held_noise, initial = (
                np.pad(e, [(0, 0)] * (e.ndim - 2) + [(0, 3), (0, 3)])
                for e in (transition, noise, initial)
            )
            held_transition[[error, offset, start_integral], [error, offset, start_integral]] = 1.0
            gains = np.eye(size + 3)
            gains[error, 0] = 1.0
            transition = held_transition.copy()
            transition[error, :size] = held_transition[0, :size] - np.eye(size)[0]
            transition[error, offset] = -1.0
            noise = gains @ held_noise @ gains.T
            design = np.concatenate([[0.0], design[1:], [1.0, 0.0, 0.0]])
        begins = {start for start, _, _ in stops}
        lengths = {end: end - start for start, _, end in stops}
        holding = np.zeros(count, dtype=bool)
        for _, first, end in stops:
            holding[first:end] = True
        variances, state = np.empty((count, len(noise))), initial
        for index in range(count):
            if index in lengths:
                state = _assign_state(state, offset, {0: 1.0, start_integral: -1.0}, lengths[index])
            if index in begins:
                state = _assign_state(state, start_integral, {0: 1.0}, 1.0)
            variances[index] = state @ design @ design
            if holding[index]:
                state = held_transition @ state @ held_transition.T + held_noise
            else:
                state = transition @ state @ transition.T + noise
        return variances

    def _sources_of(self, source_types):
        return tuple(source for source in self.sources if isinstance(source, source_types))

    def _constants(self):
        """Return each random constant's name, and its yaw error for one standard deviation."""
        return [(s.name, s.sigma * s.regressor) for s in self._sources_of(RandomConstant)]

    def _walks(self):
        """Return the variances of yaw random walks, summed by source name."""
        walks: dict[str, np.ndarray] = {}
        for source in self._sources_of(YawRandomWalk):
            walks[source.name] = walks.get(source.name, 0.0) + source.variance
        return list(walks.items())


def _assign_state(covariance, state, weights, divisor):
    """Replace a state by a weighted sum of states in covariances (g, m, m)."""
    matrix = np.eye(covariance.shape[-1])
    matrix[state] = 0.0
    for other, weight in weights.items():
        matrix[state, other] = weight / divisor
    return matrix @ covariance @ matrix.T
