"""Maximum-likelihood fit of a yaw error model with given terms to observed drives.

The constants are integrated out with a flat prior, as appropriate for few constants and processes
of unknown strength (restricted maximum likelihood: Patterson and Thompson, Recovery of inter-block
information when block sizes are unequal, Biometrika 58(3), 1971). Each constant is a state of the
Kalman filter whose initial standard deviation is far beyond the data's range.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Callable, Collection, NamedTuple, Sequence

import numpy as np
import pandas as pd
from scipy.optimize import minimize

from ...sensors.imu_models.plugins import HectorParameters, drift_parameters
from ..model.sources import StateSpace, state_space
from ..model.state_space import DriveFilter, DriveObservations, FilteredDrives
from . import terms

PRIOR_STD = 300.0
"""Prior standard deviation of an unknown constant, relative to the rms of the residuals."""
STARTS = ((0.3, 1.0, 1.0), (1.0, 0.1, 1.0), (3.0, 1.0, 1.0), (1.0, 1.0, 0.1), (1.0, 0.1, 0.1))
"""Starting points of a likelihood search, relative to the parameters' typical values.

Each contains factors for the correlation times, the angle random walk, and all other strengths.
Several starting points are needed since the likelihood is flat in the logarithm of a negligible
strength: a search in which a strength becomes negligible does not recover it."""
NEGLIGIBLE_STRENGTH = 0.01
"""Strength of a random term, relative to its typical value, below which it is negligible."""
MIN_GAIN = 1e-3
"""Smallest gain in log-likelihood for which a search is restarted."""
MAX_ESCAPES = 6
"""Maximum number of restarts of a search from an increased, previously negligible strength."""
MAX_STARTS = 2
"""Number of starting points, the most likely ones, from which a search is run."""
PILOT_ITERATIONS, MAX_ITERATIONS = 8, 200
"""Maximum iterations of a pilot search from each starting point, and of the final search."""
LINE_SEARCH_FAILED = 2
"""Status of SciPy's L-BFGS-B after an abnormal termination of its line search."""
SIMPLEX_STEP = 0.3
"""Edge length of the initial Nelder-Mead simplex, in logarithms of the parameters."""
MIN_SLOPE = 0.1
"""Smallest gradient of the log-likelihood that is not attributed to rounding errors."""


class Likelihood:
    """Restricted log-likelihood of observed drives for given terms of the yaw error model.

    Parameters
    ----------
    drives : sequence of ObservedYawError
        Drives with the same step.
    random : sequence of RandomTerm
        Random processes of the model.
    constants : sequence of ConstantTerm
        Constant errors with their curves.
    spread : bool, optional
        Whether the rate bias differs between drives.
    start_std : float, optional
        Prior standard deviation of an unknown constant [rad]; by default from the residuals.
    """

    def __init__(
        self,
        drives: Sequence[terms.ObservedYawError],
        random: Sequence[terms.RandomTerm],
        constants: Sequence[terms.ConstantTerm],
        spread: bool = False,
        start_std: float | None = None,
    ):
        # The last state is the reference's stated error, scaled by its standard deviation.
        random = sorted(random, key=terms.RANDOM_TERMS.index)
        self.drives, self.random, self.constants = tuple(drives), tuple(random), tuple(constants)
        self.names = [name for term in random for name in term.parameters] + [terms.SPREAD] * spread
        self.spread = spread
        self.scales: terms.Scales = terms.scales(drives)
        self._regressors = [
            np.array([term.regressor(drive) for term in constants]).reshape(-1, len(drive.time)).T
            for drive in drives
        ]
        errors = [drive.error for drive in drives]
        self._stds = np.array([term.std for term in constants])
        self._observed = self._observe(errors, self._regressors, self._stds, start_std)

    def _observe(self, errors, regressors, stds, broad=None):
        observed = _Residuals.from_errors(errors, regressors, stds, broad)
        drives = []
        for drive, residual in zip(self.drives, observed.drives):
            spread = [-drive.time[:, np.newaxis]] if self.spread else []
            drive_curves = [residual.own, *spread, drive.reference_constants]
            gain = None
            if terms.REFERENCE_ERROR in self.random:
                gain = drive.reference.std if drive.reference else np.zeros(len(drive.time))
            turn_per_step = np.diff(drive.absolute_turn, prepend=0.0)
            jumped = None if drive.steps is None else observed.start_std**2 * drive.steps
            drives.append(
                residual._replace(
                    own=np.hstack(drive_curves), gain=gain, turned=turn_per_step, jumped=jumped
                )
            )
        return replace(observed, drives=tuple(drives))

    @property
    def start_std(self) -> float:
        """Prior standard deviation of an unknown constant [rad]."""
        return self._observed.start_std

    def with_drives(self, drives: Sequence[terms.ObservedYawError], start_std: float) -> Likelihood:
        """Return the likelihood of other drives for the same model terms.

        Parameters
        ----------
        drives : sequence of ObservedYawError
            Other drives.
        start_std : float
            Prior standard deviation of an unknown constant [rad].

        Returns
        -------
        Likelihood
            Likelihood of the other drives.
        """
        return Likelihood(drives, self.random, self.constants, self.spread, start_std)

    def with_term(self, term: terms.RandomTerm) -> Likelihood:
        """Return the likelihood of the same drives for a model with an additional random term.

        Parameters
        ----------
        term : RandomTerm
            Additional term.

        Returns
        -------
        Likelihood
        """
        random = [*self.random, term]
        return Likelihood(self.drives, random, self.constants, self.spread, self.start_std)

    @cached_property
    def _filter(self):
        return DriveFilter(self._observed.drives, self._states)

    @cached_property
    def _states(self):
        typical = {name: self.scales.typical(name) for name in self.names}
        return len(self.space(typical).design)

    def _drive_constants(self, values):
        """Return the prior stds of the constants that differ between drives, and the slip."""
        spread = [values[terms.SPREAD]] if self.spread else []
        slip = values.get(terms.REFERENCE_SLIP.parameters[0], 0.0)
        return [1.0, *spread, *[1.0] * len(terms.REFERENCE_CONSTANTS)], slip

    def space(self, values: dict[str, float]) -> StateSpace:
        """Convert the random terms to a state-space model.

        Parameters
        ----------
        values : dict of str to float
            Parameters of the random terms.

        Returns
        -------
        StateSpace
        """
        return state_space(tuple(terms.sources(self.random, values)), self.scales.step, None)

    def __call__(self, values: dict[str, float]) -> float:
        """Compute the restricted log-likelihood of the drives.

        Parameters
        ----------
        values : dict of str to float
            Parameters of the random terms.

        Returns
        -------
        float
            Natural logarithm of the restricted likelihood.
        """
        prior = self.scales.log_prior(values)
        return prior + self._filter.log_likelihood(
            self.space(values), *self._drive_constants(values)
        )

    def negligible_values(self) -> dict[str, float]:
        """Return parameters with which all random terms are negligible.

        Returns
        -------
        dict of str to float
            Value by parameter.
        """
        return {
            name: self.scales.typical(name) * (1.0 if name.endswith("_time") else 1e-3)
            for name in self.names
        }

    def highest(self, values: dict[str, float], kept: Collection[str]) -> float:
        """Maximise the log-likelihood over some of the parameters, with the others fixed.

        Parameters
        ----------
        values : dict of str to float
            Starting point.
        kept : collection of str
            Parameters that are not varied.

        Returns
        -------
        float
            Highest log-likelihood.
        """
        free = [name for name in self.names if name not in kept]
        bounds = [tuple(np.log(self.scales.bounds(name))) for name in free]
        first = np.log([values[name] for name in free])
        return maximise(lambda x: self({**values, **_named(free, x)}), first, bounds)[1]

    def filtered(self, values: dict[str, float]) -> FilteredDrives:
        """Filter the observations of all drives with the Kalman filter.

        Parameters
        ----------
        values : dict of str to float
            Parameters of the random terms.

        Returns
        -------
        FilteredDrives
            Result of the Kalman filter.
        """
        return self._filter.filtered(self.space(values), *self._drive_constants(values))

    def with_constants(self, constants: dict[int, float]) -> Callable[[dict[str, float]], float]:
        """Return the log-likelihood function for fixed constants, up to an additive term.

        Parameters
        ----------
        constants : dict of int to float
            Value by index of the constant.

        Returns
        -------
        callable
            Function of the random terms' parameters.
        """
        indices, fixed = list(constants), np.array(list(constants.values()))
        both = list(zip(self.drives, self._regressors))
        errors = [drive.error - curves[:, indices] @ fixed for drive, curves in both]
        curves = [np.delete(curves, indices, axis=1) for _, curves in both]
        observed = self._observe(errors, curves, np.delete(self._stds, indices), self.start_std)
        filtered = DriveFilter(observed.drives, self._states)
        log_prior = -0.5 * float(np.sum((fixed / self._stds[indices]) ** 2))

        def log_likelihood(values: dict[str, float]) -> float:
            prior = log_prior + self.scales.log_prior(values)
            return prior + filtered.log_likelihood(
                self.space(values), *self._drive_constants(values)
            )

        return log_likelihood

    def smoothed(
        self, values: dict[str, float], index: int
    ) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Estimate a drive's states and constants from all observations by Kalman smoothing.

        Parameters
        ----------
        values : dict of str to float
            Parameters of the random terms.
        index : int
            Index of the drive.

        Returns
        -------
        states : numpy.ndarray
            Means of the random states, shape (m, n).
        parts : dict of str to numpy.ndarray
            Yaw errors due to the constants by name, shape (n,) each [rad].
        """
        space = self.space(values)
        states = self._filter.smoothed(space, *self._drive_constants(values))[index]
        count, drive = len(space.design), self.drives[index]
        observed, own_size = (
            self._observed,
            count + 1 + self.spread + len(terms.REFERENCE_CONSTANTS),
        )
        start = observed.starts[index] + observed.start_std * states[count]
        parts = {"start offset": start}
        values_over_time = observed.constants(states[own_size:])
        for place, term in enumerate(self.constants):
            parts[term.name] = values_over_time[place] * self._regressors[index][:, place]
        if self.spread:
            parts["rate bias of the drive"] = -states[count + 1] * drive.time
        reference_parts = (
            drive.reference_constants.T
            * states[own_size - len(terms.REFERENCE_CONSTANTS) : own_size]
        )
        parts.update(zip(terms.REFERENCE_CONSTANTS, reference_parts))
        if terms.REFERENCE_ERROR in self.random and drive.reference:
            states[count - 1] *= drive.reference.std
        return states[:count], parts

    def lags(self, values: dict[str, float]) -> list[tuple[float, float]]:
        """Estimate the time lag of each drive's reference.

        Parameters
        ----------
        values : dict of str to float
            Parameters of the random terms.

        Returns
        -------
        list of tuple
            Lag and standard deviation of the lag for each drive [s].
        """
        constants = self._filter.own_constants(self.space(values), *self._drive_constants(values))
        place = 1 + self.spread
        return [
            (drive.lag * mean[place], drive.lag * math.sqrt(covariance[place, place]))
            for drive, (mean, covariance) in zip(self.drives, constants)
        ]

    def slipped(self, values: dict[str, float], index: int) -> np.ndarray:
        """Return the variance of the reference's slip and jumps at each time step.

        Parameters
        ----------
        values : dict of str to float
            Parameters of the random terms.
        index : int
            Index of the drive.

        Returns
        -------
        numpy.ndarray
            Variance, shape (n,) [rad^2].
        """
        drive, slip = self._observed.drives[index], self._drive_constants(values)[1]
        return slip**2 * drive.turned + (0.0 if drive.jumped is None else drive.jumped)

    def constants_of(self, filtered: FilteredDrives) -> tuple[np.ndarray, np.ndarray]:
        """Return the estimates of the constants and their covariance.

        Parameters
        ----------
        filtered : FilteredDrives
            Result of the Kalman filter.

        Returns
        -------
        estimates : numpy.ndarray
            Estimates, shape (q,).
        covariance : numpy.ndarray
            Covariance of the estimates, shape (q, q).
        """
        reach = self._observed.reach
        return (
            self._observed.constants(filtered.shared_mean[:, np.newaxis])[:, 0],
            reach @ filtered.shared_covariance @ reach.T,
        )


@dataclass(frozen=True)
class _Residuals:
    """Residuals of a least-squares fit of unknown constants, with orthogonalised regressors.

    With orthogonal curves, a broad prior around zero causes no bias, however similar two constants
    are. ``reach`` (q, q) combines the constants' curves into orthogonal curves, each scaled so that
    one standard deviation is far beyond the data. Constants with a finite prior are unchanged.
    """

    drives: tuple[DriveObservations, ...]
    starts: np.ndarray
    start_std: float
    center: np.ndarray
    reach: np.ndarray

    @classmethod
    def from_errors(cls, errors, regressors, stds, prior_std=None):
        unknown = np.flatnonzero(np.isinf(stds))
        unknown_curves = [curves[:, unknown] for curves in regressors]
        rows, targets = [], []
        for index, (error, curves) in enumerate(zip(errors, unknown_curves)):
            starts = np.zeros((len(error), len(errors)))
            starts[:, index] = 1.0
            is_observed = np.isfinite(error)
            rows.append(np.hstack([starts, curves])[is_observed])
            targets.append(error[is_observed])
        matrix, target = np.concatenate(rows), np.concatenate(targets)
        sizes = np.max(np.abs(matrix), axis=0)
        sizes[sizes == 0.0] = 1.0
        solution = np.linalg.lstsq(matrix / sizes, target, rcond=1e-12)[0] / sizes
        starts, unknown_center = np.split(solution, [len(errors)])
        if prior_std is None:
            residual = float(np.sqrt(np.mean((target - matrix @ solution) ** 2)))
            # The constants with a finite prior may also explain some of the residual.
            prior_curves = np.concatenate(regressors) * np.where(np.isinf(stds), 0.0, stds)
            residual = max(residual, 0.3 * float(np.max(np.abs(prior_curves), initial=0.0)))
            prior_std = PRIOR_STD * max(residual, np.finfo(float).tiny ** 0.25)
        # Triangular factor of the curves after the start offsets have been projected out.
        _, triangle = np.linalg.qr(matrix / sizes)
        triangle = triangle[len(errors) :, len(errors) :]
        mixed = np.linalg.solve(triangle, np.eye(len(unknown))) / sizes[len(errors) :, np.newaxis]
        stacked = np.concatenate(unknown_curves)
        largest = [np.max(np.abs(stacked @ column), initial=0.0) for column in mixed.T]
        reach = np.diag(np.where(np.isinf(stds), 0.0, stds))
        sizes = np.array([value or 1.0 for value in largest])
        reach[np.ix_(unknown, unknown)] = prior_std * mixed / sizes
        center = np.zeros(len(stds))
        center[unknown] = unknown_center
        observed = tuple(
            DriveObservations(
                error - start - curves @ center,
                np.full((len(error), 1), prior_std),
                curves @ reach,
            )
            for error, start, curves in zip(errors, starts, regressors)
        )
        return cls(observed, starts, prior_std, center, reach)

    def constants(self, states):
        """Convert states (q, n) of the filter or smoother to the constants (q, n)."""
        return self.center[:, np.newaxis] + self.reach @ states


@dataclass(frozen=True)
class Fit:
    """Yaw error model fitted to drives.

    Parameters
    ----------
    likelihood : Likelihood
        Likelihood of the drives as a function of the parameters.
    values : dict of str to float
        Parameters of the random terms.
    log_likelihood : float
        Restricted log-likelihood, comparable between fits with the same constants.
    """

    likelihood: Likelihood
    values: dict[str, float]
    log_likelihood: float

    @cached_property
    def filtered(self) -> FilteredDrives:
        """Result of the Kalman filter with the fitted parameters."""
        return self.likelihood.filtered(self.values)

    @cached_property
    def constants(self) -> tuple[np.ndarray, np.ndarray]:
        """Estimates of the constants, shape (q,), and their covariance, shape (q, q)."""
        return self.likelihood.constants_of(self.filtered)

    @cached_property
    def lags(self) -> list[tuple[float, float]]:
        """Estimated lag of each drive's reference, and standard deviation of the lag [s]."""
        return self.likelihood.lags(self.values)

    @property
    def parameters(self) -> int:
        """Number of parameters of the model's random terms."""
        return len(self.values)

    @property
    def aic(self) -> float:
        """Akaike's information criterion, computed from the restricted likelihood."""
        return 2.0 * self.parameters - 2.0 * self.log_likelihood


def fit(likelihood: Likelihood, start: dict[str, float] | None = None) -> Fit:
    """Fit a model's random terms by maximum likelihood from several starting points.

    Parameters
    ----------
    likelihood : Likelihood
        Likelihood of the drives.
    start : dict of str to float, optional
        Values of some parameters at the starting points.

    Returns
    -------
    Fit
        Model with the highest likelihood of all searches.
    """
    names = likelihood.names
    starts = _starting_points(likelihood, start or {})
    likely = sorted(starts, key=lambda first: -likelihood(_named(names, first)))
    bounds = _log_bounds(likelihood)
    pilots = [
        maximise(lambda x: likelihood(_named(names, x)), first, bounds, PILOT_ITERATIONS)
        for first in likely[:MAX_STARTS]
    ]
    # Only the most successful pilot search is continued.
    best, _ = max(pilots, key=lambda pilot: pilot[1])
    return refit(likelihood, _named(names, best))


def _starting_points(likelihood, start):
    """Return unique starting points of a search, as logarithms of the parameters (p,)."""
    points = {}
    for time_factor, walk_factor, strength_factor in STARTS:
        point = []
        for name in likelihood.names:
            factor = time_factor if name.endswith("_time") else strength_factor
            factor = walk_factor if name in terms.ANGLE_RANDOM_WALK.parameters else factor
            point.append(np.log(start.get(name, factor * likelihood.scales.typical(name))))
        points[tuple(point)] = np.array(point)
    return points.values()


def _log_bounds(likelihood):
    return [tuple(np.log(likelihood.scales.bounds(name))) for name in likelihood.names]


def refit(likelihood: Likelihood, values: dict[str, float]) -> Fit:
    """Fit a model's random terms by maximum likelihood from one starting point.

    Parameters
    ----------
    likelihood : Likelihood
        Likelihood of the drives.
    values : dict of str to float
        Parameters at the starting point.

    Returns
    -------
    Fit
        Model with the highest likelihood of this search.
    """
    names, bounds = likelihood.names, _log_bounds(likelihood)
    for _ in range(MAX_ESCAPES):
        first = np.log([values[name] for name in names])
        x, highest = maximise(lambda x: likelihood(_named(names, x)), first, bounds)
        result = Fit(likelihood, _named(names, x), highest)
        escape = _escape(result)
        if escape is None:
            break
        values = escape
    return result


def _escape(result):
    """Find more likely parameters with an increased, previously negligible strength.

    A gradient search cannot find them, since the likelihood is flat in the logarithm of a
    negligible strength. None is returned if there are no such parameters.
    """
    likelihood, best = result.likelihood, result
    for term in likelihood.random:
        strength, *time = term.parameters
        typical = likelihood.scales.typical(strength)
        if result.values[strength] > NEGLIGIBLE_STRENGTH * typical:
            continue
        for factor, share in product((3.0, 10.0, 30.0), (0.3, 1.0, 3.0) if time else (1.0,)):
            more = {name: likelihood.scales.typical(name) * share for name in time}
            values = {**result.values, strength: factor * NEGLIGIBLE_STRENGTH * typical, **more}
            other = Fit(likelihood, values, likelihood(values))
            if other.log_likelihood > best.log_likelihood + MIN_GAIN:
                best = other
    return None if best is result else best.values


def maximise(function, first, bounds, iterations=MAX_ITERATIONS):
    """Maximise a smooth function within bounds.

    Parameters
    ----------
    function : callable
        Function of an array (p,).
    first : numpy.ndarray
        Starting point, shape (p,).
    bounds : sequence of tuple
        Lower and upper bound of each argument.
    iterations : int, optional
        Maximum number of iterations.

    Returns
    -------
    x : numpy.ndarray
        Arguments at the maximum, shape (p,).
    highest : float
        Value of the function at the maximum.
    """
    if len(first) == 0:
        return first, function(first)
    lower, upper = np.array(bounds).T

    def search(start, method, **options):
        return minimize(
            lambda x: -function(x), start, method=method, bounds=bounds, options=options
        )

    def search_by_slopes(start):
        return search(start, "L-BFGS-B", ftol=1e-9, gtol=1e-4, eps=1e-4, maxiter=iterations)

    result = search_by_slopes(np.clip(first, lower, upper))
    if result.status == LINE_SEARCH_FAILED and _slope(result, lower, upper) > MIN_SLOPE:
        # If a line search fails due to rounding, a gradient-free search finds a better start.
        step = np.where(result.x + SIMPLEX_STEP > upper, -SIMPLEX_STEP, SIMPLEX_STEP)
        simplex = result.x + step * np.eye(len(first) + 1, len(first), -1)
        limits = {"xatol": 1e-2, "fatol": 1e-2, "maxfev": MAX_ITERATIONS * len(first)}
        simplex_result = search(result.x, "Nelder-Mead", initial_simplex=simplex, **limits)
        result = search_by_slopes(simplex_result.x)
    return result.x, -float(result.fun)


def _slope(result, lower, upper):
    """Return the largest gradient component, except of arguments at an active bound."""
    downhill = -result.jac
    blocked = ((result.x <= lower) & (downhill < 0.0)) | ((result.x >= upper) & (downhill > 0.0))
    return float(np.max(np.where(blocked, 0.0, np.abs(downhill))))


def _named(names, logarithms):
    return {name: float(np.exp(x)) for name, x in zip(names, logarithms)}


MODEL = "IMU error"
RESIDUAL = "residual"


def fitted_parts(fit: Fit, index: int = 0) -> pd.DataFrame:
    """Estimate the components of a drive's yaw error by Kalman smoothing.

    Each estimate uses the observations of the complete drive (Durbin and Koopman: Time series
    analysis by state space methods, section 4.4). The drift of a rate is integrated.

    Parameters
    ----------
    fit : Fit
        Fitted model.
    index : int, optional
        Index of the drive.

    Returns
    -------
    pandas.DataFrame
        Indexed by time [s], in [rad]: ``error``; a column for each component, whose sum with
        ``residual`` is the error; ``IMU error``, the sum of the IMU's components including the
        start offset; ``innovation`` and ``innovation_std``, the difference of each observation from
        its prediction by earlier observations, and the standard deviation of this difference.
    """
    likelihood = fit.likelihood
    drive, space = likelihood.drives[index], likelihood.space(fit.values)
    mean, parts = likelihood.smoothed(fit.values, index)
    table = pd.DataFrame({"error": drive.error}, index=pd.Index(drive.time, name="time"))
    # The remainder is the angle random walk or, without this term, the drifts' change per step.
    walk, last = mean[0].copy(), None
    for state, source in enumerate(space.sources_of_states, start=1):
        name = space.names[source]
        if space.design[state] == 0.0:
            integral = np.concatenate([[0.0], np.cumsum(space.transition[0, state] * mean[state])])
            parts[name], last = integral[:-1], name
            walk -= parts[name]
        else:
            parts[name] = mean[state].copy()
    slipped = likelihood.slipped(fit.values, index)
    if slipped.any():
        # Each change is divided in proportion to the variances of slip and random walk.
        walk_variance = float(np.sum(space.noise, axis=0)[0, 0])
        share = slipped / np.maximum(slipped + walk_variance, np.finfo(float).tiny)
        parts[terms.REFERENCE_SLIP.name] = np.cumsum(share * np.diff(walk, prepend=walk[0]))
        walk -= parts[terms.REFERENCE_SLIP.name]
    if terms.ANGLE_RANDOM_WALK.name in space.names:
        parts[terms.ANGLE_RANDOM_WALK.name] = walk
    elif last is not None:
        parts[last] += walk
    total = np.sum(list(parts.values()), axis=0)
    table = table.assign(**parts)
    reference_parts = {term.name for term in terms.REFERENCE_TERMS} | set(terms.REFERENCE_CONSTANTS)
    table[RESIDUAL] = drive.error - total
    table[MODEL] = table[[name for name in parts if name not in reference_parts]].sum(axis=1)
    table["innovation"] = fit.filtered.innovations[index]
    table["innovation_std"] = fit.filtered.innovation_std[index]
    return table


class HectorFit(NamedTuple):
    """Maximum-likelihood parameters of Hector's Gazebo IMU plug-in.

    Attributes
    ----------
    parameters : HectorParameters
        Parameters of Hector's plug-in.
    sigma, correlation_time : float
        Standard deviation [rad] and correlation time [s] of the plug-in's drift.
    loss : float or None
        Loss of log-likelihood relative to the identified model; None if both are the same.
    more_parameters : int
        Number of parameters that only the identified model has.
    sentences : list of str
        Messages on parameters at the limits of the search.
    """

    parameters: HectorParameters
    sigma: float
    correlation_time: float
    loss: float | None
    more_parameters: int
    sentences: list[str]


def hector_of(fitted: Fit, period: float) -> HectorFit:
    """Fit the drift of Hector's Gazebo IMU plug-in to the drives of an identified model.

    The plug-in's yaw has a Gauss-Markov drift, but neither a rate bias nor a scale factor.
    Therefore, only a drift and the noise of the reference are fitted to the same drives. The
    likelihoods are compared with the constants fixed at their estimates.

    Parameters
    ----------
    fitted : Fit
        Fit of the identified model.
    period : float
        Sampling period of the plug-in [s].

    Returns
    -------
    HectorFit
    """
    likelihood, drift_fit = fitted.likelihood, fitted
    reference_terms = [
        term for term in (terms.REFERENCE_NOISE, terms.REFERENCE_DRIFT) if term in likelihood.random
    ]
    hector_terms = [terms.YAW_DRIFT, *reference_terms]
    if likelihood.constants or set(likelihood.random) - set(hector_terms):
        drift_fit = fit(Likelihood(likelihood.drives, hector_terms, ()))
    estimates, _ = fitted.constants
    best = likelihood.with_constants(dict(enumerate(estimates)))(fitted.values)
    sigma, time = drift_fit.values["yaw_drift_sigma"], drift_fit.values["yaw_drift_time"]
    drift = drift_parameters(sigma, time, period)
    messages = []
    shortest, longest = drift_fit.likelihood.scales.bounds("yaw_drift_time")
    if time < 1.1 * shortest:
        messages.append(
            f"The correlation time of the drift is {time:.3g} s, the shortest in the search; "
            "shorter steps may show a faster drift."
        )
    if time > 0.9 * longest:
        messages.append(
            f"The drift does not revert within these drives: its correlation time is {time:.3g} s, "
            "the longest in the search, and only the ratio of sigma^2 to it is known."
        )
    return HectorFit(
        parameters=HectorParameters(
            yaw_drift=drift.drift, yaw_drift_frequency=drift.drift_frequency
        ),
        sigma=sigma,
        correlation_time=time,
        loss=None if drift_fit is fitted else best - drift_fit.log_likelihood,
        more_parameters=fitted.parameters + len(estimates) - drift_fit.parameters,
        sentences=messages,
    )
