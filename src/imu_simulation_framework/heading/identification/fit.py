"""A model of given terms, fitted to observed yaw errors by maximum likelihood.

The constants are integrated out over a flat prior, as is right for few of them beside processes of
unknown strength (restricted maximum likelihood: Patterson and Thompson, Recovery of inter-block
information when block sizes are unequal, Biometrika 58(3), 1971): each is a state of the Kalman
filter, which starts with a standard deviation far beyond what the data allow.
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
from ..model.state_space import DriveFilter, FilteredDrives, ObservedDrive
from . import terms

_BROAD = 300.0
"""Standard deviation of a constant before the data, in sizes of what the data show."""
_STARTS = ((0.3, 1.0, 1.0), (1.0, 0.1, 1.0), (3.0, 1.0, 1.0), (1.0, 1.0, 0.1), (1.0, 0.1, 0.1))
"""Correlation times, the angle random walk and other strengths that a search begins with, in
typical ones. Where a strength has gone to next to nothing its logarithm has no slope any more, so
that a search that began with too much of another one does not come back."""
_SMALL = 0.01
"""A strength below this part of its typical size is next to nothing."""
_GAIN = 1e-3
_MAX_ESCAPES = 6
_WAYS = 2
"""Of the places to begin with, the most likely ones are tried."""
_FEW, _ENOUGH = 8, 200
"""Iterations of a search that only compares where to begin, and of one to its end."""
_LOST = 2
"""Status of scipy's search by slopes that ended neither at a summit nor at its last iteration."""
_STRIDE = 0.3
"""Of logarithms, where slopes lead nowhere."""
_STEEP = 0.1
"""A slope that is no rounding: of log-likelihood per logarithm of a value."""


class Likelihood:
    """Restricted log-likelihood of drives for given terms.

    ``drives``: with equal steps. ``spread``: whether the rate's bias differs from drive to drive.
    """

    def __init__(
        self,
        drives: Sequence[terms.ObservedYawError],
        random: Sequence[terms.RandomTerm],
        constants: Sequence[terms.ConstantTerm],
        spread: bool = False,
        start_std: float | None = None,
    ):
        # The reference's known error has the last state, which its standard deviation multiplies.
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
        observed = _Observed.of(errors, regressors, stds, broad)
        drives = []
        for drive, one in zip(self.drives, observed.drives):
            spread = [-drive.time[:, np.newaxis]] if self.spread else []
            own = [one.own, *spread, drive.constants_of_reference]
            gain = None
            if terms.REFERENCE_ERROR in self.random:
                gain = drive.reference.std if drive.reference else np.zeros(len(drive.time))
            turned = np.diff(drive.absolute_turn, prepend=0.0)
            jumped = None if drive.steps is None else observed.start_std**2 * drive.steps
            made = one._replace(own=np.hstack(own), gain=gain, turned=turned, jumped=jumped)
            drives.append(made)
        return replace(observed, drives=tuple(drives))

    @property
    def start_std(self) -> float:
        """Standard deviation of what is not known at all [rad]."""
        return self._observed.start_std

    def of(self, drives: Sequence[terms.ObservedYawError], start_std: float) -> Likelihood:
        """Return the likelihood of other drives for the same terms."""
        return Likelihood(drives, self.random, self.constants, self.spread, start_std)

    def with_term(self, term: terms.RandomTerm) -> Likelihood:
        """Return the likelihood of the same drives for one random term more."""
        random = [*self.random, term]
        return Likelihood(self.drives, random, self.constants, self.spread, self.start_std)

    @cached_property
    def _filter(self):
        return DriveFilter(self._observed.drives, self._states)

    @cached_property
    def _states(self):
        typical = {name: self.scales.typical(name) for name in self.names}
        return len(self.space(typical).design)

    def _of_drives(self, values):
        """Return the standard deviations of a drive's own constants, and the slip."""
        spread = [values[terms.SPREAD]] if self.spread else []
        slip = values.get(terms.REFERENCE_SLIP.parameters[0], 0.0)
        return [1.0, *spread, *[1.0] * len(terms.CONSTANTS_OF_REFERENCE)], slip

    def space(self, values: dict[str, float]) -> StateSpace:
        """Return the random terms as a state-space model."""
        return state_space(tuple(terms.sources(self.random, values)), self.scales.step, None)

    def __call__(self, values: dict[str, float]) -> float:
        """Return the log-likelihood for the random terms' parameters."""
        prior = self.scales.log_prior(values)
        return prior + self._filter.log_likelihood(self.space(values), *self._of_drives(values))

    def next_to_nothing(self) -> dict[str, float]:
        """Return values with which the random terms have no effect."""
        return {
            name: self.scales.typical(name) * (1.0 if name.endswith("_time") else 1e-3)
            for name in self.names
        }

    def highest(self, values: dict[str, float], kept: Collection[str]) -> float:
        """Return the highest log-likelihood, searched from the values, of which some are kept."""
        free = [name for name in self.names if name not in kept]
        bounds = [tuple(np.log(self.scales.bounds(name))) for name in free]
        first = np.log([values[name] for name in free])
        return maximise(lambda x: self({**values, **_named(free, x)}), first, bounds)[1]

    def filtered(self, values: dict[str, float]) -> FilteredDrives:
        """Return what the Kalman filter says."""
        return self._filter.filtered(self.space(values), *self._of_drives(values))

    def given(self, constants: dict[int, float]) -> Callable[[dict[str, float]], float]:
        """Return the log-likelihood, but for a constant term, given constants by their index."""
        chosen, fixed = list(constants), np.array(list(constants.values()))
        both = list(zip(self.drives, self._regressors))
        errors = [drive.error - curves[:, chosen] @ fixed for drive, curves in both]
        curves = [np.delete(curves, chosen, axis=1) for _, curves in both]
        observed = self._observe(errors, curves, np.delete(self._stds, chosen), self.start_std)
        filtered = DriveFilter(observed.drives, self._states)
        of_fixed = -0.5 * float(np.sum((fixed / self._stds[chosen]) ** 2))

        def log_likelihood(values: dict[str, float]) -> float:
            prior = of_fixed + self.scales.log_prior(values)
            return prior + filtered.log_likelihood(self.space(values), *self._of_drives(values))

        return log_likelihood

    def smoothed(
        self, values: dict[str, float], index: int
    ) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Return a drive's random states (m, n), and by name the parts (n,) of its constants [rad].

        As all observations make them likely.
        """
        space = self.space(values)
        states = self._filter.smoothed(space, *self._of_drives(values))[index]
        count, drive = len(space.design), self.drives[index]
        observed, own = self._observed, count + 1 + self.spread + len(terms.CONSTANTS_OF_REFERENCE)
        start = observed.starts[index] + observed.start_std * states[count]
        parts = {"start offset": start}
        values_over_time = observed.constants(states[own:])
        for place, term in enumerate(self.constants):
            parts[term.name] = values_over_time[place] * self._regressors[index][:, place]
        if self.spread:
            parts["rate bias of the drive"] = -states[count + 1] * drive.time
        of_reference = (
            drive.constants_of_reference.T * states[own - len(terms.CONSTANTS_OF_REFERENCE) : own]
        )
        parts.update(zip(terms.CONSTANTS_OF_REFERENCE, of_reference))
        if terms.REFERENCE_ERROR in self.random and drive.reference:
            states[count - 1] *= drive.reference.std
        return states[:count], parts

    def lags(self, values: dict[str, float]) -> list[tuple[float, float]]:
        """Return how late each drive's reference is, and the standard deviation of that [s]."""
        constants = self._filter.own_constants(self.space(values), *self._of_drives(values))
        of_lag = 1 + self.spread
        return [
            (drive.lag * mean[of_lag], drive.lag * math.sqrt(covariance[of_lag, of_lag]))
            for drive, (mean, covariance) in zip(self.drives, constants)
        ]

    def slipped(self, values: dict[str, float], index: int) -> np.ndarray:
        """Return the variance of what a drive's reference slips and jumps by at each step (n,)."""
        drive, slip = self._observed.drives[index], self._of_drives(values)[1]
        return slip**2 * drive.turned + (0.0 if drive.jumped is None else drive.jumped)

    def constants_of(self, filtered: FilteredDrives) -> tuple[np.ndarray, np.ndarray]:
        """Return the constants' estimates (q,) and their covariance (q, q)."""
        reach = self._observed.reach
        return (
            self._observed.constants(filtered.shared_mean[:, np.newaxis])[:, 0],
            reach @ filtered.shared_covariance @ reach.T,
        )


@dataclass(frozen=True)
class _Observed:
    """Errors less what a least-squares fit explains of them, and curves of equal size.

    So a broad prior around zero is no bias, however alike the curves of two constants are: with
    ``reach`` (q, q) they are mixed into such that are at right angles to each other, and 1 standard
    deviation of each is far beyond what the data allow. Constants of which something is known, with
    a finite standard deviation, are left as they are.
    """

    drives: tuple[ObservedDrive, ...]
    starts: np.ndarray
    start_std: float
    center: np.ndarray
    reach: np.ndarray

    @classmethod
    def of(cls, errors, regressors, stds, broad=None):
        unknown = np.flatnonzero(np.isinf(stds))
        broadly = [curves[:, unknown] for curves in regressors]
        rows, targets = [], []
        for index, (error, curves) in enumerate(zip(errors, broadly)):
            starts = np.zeros((len(error), len(errors)))
            starts[:, index] = 1.0
            seen = np.isfinite(error)
            rows.append(np.hstack([starts, curves])[seen])
            targets.append(error[seen])
        matrix, target = np.concatenate(rows), np.concatenate(targets)
        sizes = np.max(np.abs(matrix), axis=0)
        sizes[sizes == 0.0] = 1.0
        solution = np.linalg.lstsq(matrix / sizes, target, rcond=1e-12)[0] / sizes
        starts, of_unknown = np.split(solution, [len(errors)])
        if broad is None:
            residual = float(np.sqrt(np.mean((target - matrix @ solution) ** 2)))
            # What is known of the others may be explained by these, too.
            known = np.concatenate(regressors) * np.where(np.isinf(stds), 0.0, stds)
            residual = max(residual, 0.3 * float(np.max(np.abs(known), initial=0.0)))
            broad = _BROAD * max(residual, np.finfo(float).tiny ** 0.25)
        # Of the curves without what the starts explain.
        _, triangle = np.linalg.qr(matrix / sizes)
        triangle = triangle[len(errors) :, len(errors) :]
        mixed = np.linalg.solve(triangle, np.eye(len(unknown))) / sizes[len(errors) :, np.newaxis]
        largest = [np.max(np.abs(np.concatenate(broadly) @ one), initial=0.0) for one in mixed.T]
        reach = np.diag(np.where(np.isinf(stds), 0.0, stds))
        sizes = np.array([value or 1.0 for value in largest])
        reach[np.ix_(unknown, unknown)] = broad * mixed / sizes
        center = np.zeros(len(stds))
        center[unknown] = of_unknown
        observed = tuple(
            ObservedDrive(
                error - start - curves @ center, np.full((len(error), 1), broad), curves @ reach
            )
            for error, start, curves in zip(errors, starts, regressors)
        )
        return cls(observed, starts, broad, center, reach)

    def constants(self, states):
        """Return the constants (q, n) of filtered states (q, n)."""
        return self.center[:, np.newaxis] + self.reach @ states


@dataclass(frozen=True)
class Fit:
    """A fitted model.

    ``values``: of the random terms' parameters. ``log_likelihood``: restricted; comparable between
    fits with the same constants.
    """

    likelihood: Likelihood
    values: dict[str, float]
    log_likelihood: float

    @cached_property
    def filtered(self) -> FilteredDrives:
        """What the Kalman filter says, with these values."""
        return self.likelihood.filtered(self.values)

    @cached_property
    def constants(self) -> tuple[np.ndarray, np.ndarray]:
        """The constants' estimates (q,), and their covariance (q, q)."""
        return self.likelihood.constants_of(self.filtered)

    @cached_property
    def lags(self) -> list[tuple[float, float]]:
        """How late each drive's reference is, and the standard deviation of that [s]."""
        return self.likelihood.lags(self.values)

    @property
    def parameters(self) -> int:
        """How many parameters the random terms have."""
        return len(self.values)

    @property
    def aic(self) -> float:
        """Akaike's information criterion, of the restricted likelihood."""
        return 2.0 * self.parameters - 2.0 * self.log_likelihood


def fit(likelihood: Likelihood, start: dict[str, float] | None = None) -> Fit:
    """Return the model that explains the drives best; ``start``: some values to begin with."""
    names, sizes = likelihood.names, likelihood.scales
    bounds = [tuple(np.log(sizes.bounds(name))) for name in names]
    firsts = {}
    for time, walk, strength in _STARTS:
        first = []
        for name in names:
            factor = time if name.endswith("_time") else strength
            factor = walk if name in terms.ANGLE_RANDOM_WALK.parameters else factor
            first.append(np.log((start or {}).get(name, factor * sizes.typical(name))))
        firsts[tuple(first)] = np.array(first)
    ways = sorted(firsts.values(), key=lambda first: -likelihood(_named(names, first)))
    begun = [
        maximise(lambda x: likelihood(_named(names, x)), first, bounds, _FEW)
        for first in ways[:_WAYS]
    ]
    # Only the way that has come highest is gone to its end.
    best, _ = max(begun, key=lambda way: way[1])
    return refit(likelihood, _named(names, best))


def refit(likelihood: Likelihood, values: dict[str, float]) -> Fit:
    """Return the model that explains the drives best, looked for from these values only."""
    names = likelihood.names
    bounds = [tuple(np.log(likelihood.scales.bounds(name))) for name in names]
    for _ in range(_MAX_ESCAPES):
        first = np.log([values[name] for name in names])
        x, highest = maximise(lambda x: likelihood(_named(names, x)), first, bounds)
        found = Fit(likelihood, _named(names, x), highest)
        escape = _escape(found)
        if escape is None:
            break
        values = escape
    return found


def _escape(found):
    """Return better values with more of a strength that had gone to next to nothing; None if so.

    There its logarithm has no slope, whether more of it would be better or not.
    """
    likelihood, best = found.likelihood, found
    for term in likelihood.random:
        strength, *time = term.parameters
        typical = likelihood.scales.typical(strength)
        if found.values[strength] > _SMALL * typical:
            continue
        for factor, share in product((3.0, 10.0, 30.0), (0.3, 1.0, 3.0) if time else (1.0,)):
            more = {name: likelihood.scales.typical(name) * share for name in time}
            values = {**found.values, strength: factor * _SMALL * typical, **more}
            other = Fit(likelihood, values, likelihood(values))
            if other.log_likelihood > best.log_likelihood + _GAIN:
                best = other
    return None if best is found else best.values


def maximise(function, first, bounds, iterations=_ENOUGH):
    """Return where a smooth function of an array (p,) is largest, and its value there.

    ``bounds``: p pairs. ``iterations``: at most.
    """
    if len(first) == 0:
        return first, function(first)
    lower, upper = np.array(bounds).T

    def search(start, method, **options):
        return minimize(
            lambda x: -function(x), start, method=method, bounds=bounds, options=options
        )

    def by_slopes(start):
        return search(start, "L-BFGS-B", ftol=1e-9, gtol=1e-4, eps=1e-4, maxiter=iterations)

    result = by_slopes(np.clip(first, lower, upper))
    if result.status == _LOST and _slope(result, lower, upper) > _STEEP:
        # Its search along a line may give up on a slope, depending on a last digit; from where one
        # without slopes gets to, it goes on.
        stride = np.where(result.x + _STRIDE > upper, -_STRIDE, _STRIDE)
        simplex = result.x + stride * np.eye(len(first) + 1, len(first), -1)
        limits = {"xatol": 1e-2, "fatol": 1e-2, "maxfev": _ENOUGH * len(first)}
        found = search(result.x, "Nelder-Mead", initial_simplex=simplex, **limits)
        result = by_slopes(found.x)
    return result.x, -float(result.fun)


def _slope(result, lower, upper):
    """Return the steepest slope at a result that leads to no bound."""
    downhill = -result.jac
    blocked = ((result.x <= lower) & (downhill < 0.0)) | ((result.x >= upper) & (downhill > 0.0))
    return float(np.max(np.where(blocked, 0.0, np.abs(downhill))))


def _named(names, logarithms):
    return {name: float(np.exp(x)) for name, x in zip(names, logarithms)}


MODEL = "sensor's part"
RESIDUAL = "residual"


def fitted_parts(fit: Fit, index: int = 0) -> pd.DataFrame:
    """Return the parts of a drive's yaw error, each as likely as all of the drive makes it.

    By the Kalman smoother (Durbin and Koopman: Time series analysis by state space methods,
    section 4.4); the drift of a rate is integrated.

    ``index``: of the drive. Returns error; a column for each part, which add up to the error;
    "sensor's part", what of them is the IMU's, the start's offset included; innovation and
    innovation_std, each observation less what those before it predict, and what that should be
    [rad]; index time [s].
    """
    likelihood = fit.likelihood
    drive, space = likelihood.drives[index], likelihood.space(fit.values)
    mean, parts = likelihood.smoothed(fit.values, index)
    table = pd.DataFrame({"error": drive.error}, index=pd.Index(drive.time, name="time"))
    # The integrated rate, of which each drift has its share; the rest is angle random walk, or
    # without that what the drift did between the samples.
    walk, last = mean[0].copy(), None
    for state, source in enumerate(space.of_state, start=1):
        name = space.names[source]
        if space.design[state] == 0.0:
            integral = np.concatenate([[0.0], np.cumsum(space.transition[0, state] * mean[state])])
            parts[name], last = integral[:-1], name
            walk -= parts[name]
        else:
            parts[name] = mean[state].copy()
    slipped = likelihood.slipped(fit.values, index)
    if slipped.any():
        # Each step is shared in proportion to the variances of what it may be.
        of_sensor = float(np.sum(space.noise, axis=0)[0, 0])
        share = slipped / np.maximum(slipped + of_sensor, np.finfo(float).tiny)
        parts[terms.REFERENCE_SLIP.name] = np.cumsum(share * np.diff(walk, prepend=walk[0]))
        walk -= parts[terms.REFERENCE_SLIP.name]
    if terms.ANGLE_RANDOM_WALK.name in space.names:
        parts[terms.ANGLE_RANDOM_WALK.name] = walk
    elif last is not None:
        parts[last] += walk
    total = np.sum(list(parts.values()), axis=0)
    table = table.assign(**parts)
    of_reference = {term.name for term in terms.OF_REFERENCE} | set(terms.CONSTANTS_OF_REFERENCE)
    table[RESIDUAL] = drive.error - total
    table[MODEL] = table[[name for name in parts if name not in of_reference]].sum(axis=1)
    table["innovation"] = fit.filtered.innovations[index]
    table["innovation_std"] = fit.filtered.innovation_std[index]
    return table


class HectorFit(NamedTuple):
    """What comes nearest in the family of Hector's plug-in.

    ``parameters``; ``sigma`` [rad] and ``correlation_time`` [s] of the drift; ``loss`` of
    log-likelihood against the identified model, None if that is it, and by how many parameters that
    has more; ``sentences``.
    """

    parameters: HectorParameters
    sigma: float
    correlation_time: float
    loss: float | None
    more_parameters: int
    sentences: list[str]


def hector_of(chosen: Fit, period: float) -> HectorFit:
    """Return Hector's parameters for the drives of a fit.

    The plug-in's yaw has a Gauss-Markov drift, and neither a bias of its rate nor a scale factor;
    so a drift alone is fitted to the same drives, beside the noise of the reference. Likelihoods
    are compared with the constants at their estimates.

    ``period``: time between samples at which the plug-in will run [s].
    """
    likelihood, only = chosen.likelihood, chosen
    of_reference = [
        term for term in (terms.REFERENCE_NOISE, terms.REFERENCE_DRIFT) if term in likelihood.random
    ]
    wanted = [terms.YAW_DRIFT, *of_reference]
    if likelihood.constants or set(likelihood.random) - set(wanted):
        only = fit(Likelihood(likelihood.drives, wanted, ()))
    estimates, _ = chosen.constants
    best = likelihood.given(dict(enumerate(estimates)))(chosen.values)
    sigma, time = only.values["yaw_drift_sigma"], only.values["yaw_drift_time"]
    drift = drift_parameters(sigma, time, period)
    sentences = []
    shortest, longest = only.likelihood.scales.bounds("yaw_drift_time")
    if time < 1.1 * shortest:
        sentences.append(
            f"The drift is as fast as {time:.3g} s, the shortest correlation time that was looked "
            "for; shorter steps may show a faster one."
        )
    if time > 0.9 * longest:
        sentences.append(
            f"The drift does not turn back within these drives: {time:.3g} s is the longest "
            "correlation time that was looked for, and only sigma^2 over it is known."
        )
    return HectorFit(
        HectorParameters(yaw_drift=drift.drift, yaw_drift_frequency=drift.drift_frequency),
        sigma,
        time,
        None if only is chosen else best - only.log_likelihood,
        chosen.parameters + len(estimates) - only.parameters,
        sentences,
    )
