r"""A model of given terms, fitted to observed yaw errors by maximum likelihood.

The constants are integrated out over a flat prior, as is right for few of them beside processes of
unknown strength (restricted maximum likelihood: Patterson and Thompson, Recovery of inter-block
information when block sizes are unequal, Biometrika 58(3), 1971): each is a state of the Kalman
filter, which starts with a standard deviation far beyond what the data allow.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Sequence

import numpy as np
from scipy.optimize import minimize

from imu_simulation_framework.evaluation.yaw_error_model.likelihood import (
    FilteredDrives,
    ObservedDrive,
    filter_drives,
    log_likelihood,
)
from imu_simulation_framework.evaluation.yaw_error_model.state_space import state_space
from imu_simulation_framework.identification.yaw_error.observation import ObservedYawError
from imu_simulation_framework.identification.yaw_error.terms import (
    SPREAD,
    ConstantTerm,
    RandomTerm,
    Scales,
    scales,
    sources,
)

_BROAD = 30.0
"""Standard deviation of a constant before the data, in sizes of what the data show."""
_START_TIMES = (0.3, 1.0, 3.0)
"""Correlation times that a search begins with, in typical ones."""


class Likelihood:
    """Restricted log-likelihood of drives for given terms.

    Parameters
    ----------
    drives : sequence of ObservedYawError
        With equal steps.
    random : sequence of RandomTerm
    constants : sequence of ConstantTerm
    spread : bool
        Whether the rate's bias differs from drive to drive.
    """

    def __init__(
        self,
        drives: Sequence[ObservedYawError],
        random: Sequence[RandomTerm],
        constants: Sequence[ConstantTerm],
        spread: bool = False,
    ):
        self.drives, self.random, self.constants = tuple(drives), tuple(random), tuple(constants)
        self.names = [name for term in random for name in term.parameters]
        if spread:
            self.names.append(SPREAD)
        self.spread = spread
        self.scales: Scales = scales(drives)
        self._regressors = [
            np.array([term.regressor(drive) for term in constants]).reshape(-1, len(drive.time)).T
            for drive in drives
        ]
        self._center()

    def _center(self):
        """Take from the errors what a least-squares fit explains, so that the prior is no bias."""
        rows, targets = [], []
        for index, (drive, regressors) in enumerate(zip(self.drives, self._regressors)):
            starts = np.zeros((len(drive.time), len(self.drives)))
            starts[:, index] = 1.0
            seen = np.isfinite(drive.error)
            rows.append(np.hstack([starts, regressors])[seen])
            targets.append(drive.error[seen])
        matrix, target = np.concatenate(rows), np.concatenate(targets)
        solution, *_ = np.linalg.lstsq(matrix, target, rcond=1e-10)
        starts, self.center = np.split(solution, [len(self.drives)])
        residual = float(np.sqrt(np.mean((target - matrix @ solution) ** 2)))
        residual = max(residual, np.finfo(float).tiny ** 0.25)
        reach = np.max(np.abs(np.concatenate(self._regressors)), axis=0, initial=0.0)
        self.prior_std = _BROAD * residual / np.where(reach > 0.0, reach, 1.0)
        self._observed = [
            drive.error - start - regressors @ self.center
            for drive, start, regressors in zip(self.drives, starts, self._regressors)
        ]
        self._start_std = _BROAD * residual

    def _filled(self, values):
        return [
            ObservedDrive(
                observed,
                np.column_stack(
                    [np.full(len(observed), self._start_std)]
                    + ([-values[SPREAD] * drive.time] if self.spread else [])
                ),
                regressors * self.prior_std,
            )
            for drive, observed, regressors in zip(self.drives, self._observed, self._regressors)
        ]

    def _space(self, values):
        return state_space(sources(self.random, values), self.scales.step, None)

    def __call__(self, values: dict[str, float]) -> float:
        """Return the log-likelihood for the random terms' parameters."""
        return log_likelihood(self._space(values), self._filled(values))

    def filtered(self, values: dict[str, float]) -> FilteredDrives:
        """Return what the Kalman filter says."""
        return filter_drives(self._space(values), self._filled(values))

    def constants_of(self, filtered: FilteredDrives) -> tuple[np.ndarray, np.ndarray]:
        """Return the constants' estimates (q,) and their covariance (q, q)."""
        return (
            self.center + self.prior_std * filtered.shared_mean,
            np.outer(self.prior_std, self.prior_std) * filtered.shared_covariance,
        )


@dataclass(frozen=True)
class Fit:
    """A fitted model.

    Parameters
    ----------
    likelihood : Likelihood
    values : dict
        Of the random terms' parameters.
    log_likelihood : float
        Restricted; comparable between fits with the same constants.
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

    @property
    def parameters(self) -> int:
        """How many parameters the random terms have."""
        return len(self.values)

    @property
    def aic(self) -> float:
        """Akaike's information criterion, of the restricted likelihood."""
        return 2.0 * self.parameters - 2.0 * self.log_likelihood


def fit(likelihood: Likelihood, start: dict[str, float] | None = None) -> Fit:
    """Return the model that explains the drives best.

    Parameters
    ----------
    likelihood : Likelihood
    start : dict, optional
        Values of some parameters to begin with.
    """
    names, sizes = likelihood.names, likelihood.scales
    bounds = [tuple(np.log(sizes.bounds(name))) for name in names]
    best: Fit | None = None
    for factor in _START_TIMES if any("time" in name for name in names) else (1.0,):
        first = []
        for name in names:
            typical = sizes.typical(name) * (factor if name.endswith("_time") else 1.0)
            value = (start or {}).get(name, typical)
            first.append(np.log(value))
        found = maximise(lambda x: likelihood(_named(names, x)), np.array(first), bounds)
        if best is None or found[1] > best.log_likelihood:
            best = Fit(likelihood, _named(names, found[0]), found[1])
    assert best is not None
    return best


def maximise(function, first, bounds):
    """Return where a smooth function of few variables is largest, and its value there.

    Parameters
    ----------
    function : callable
        Takes an array (p,).
    first : ndarray, shape (p,)
    bounds : list of (float, float)
    """
    if len(first) == 0:
        return first, function(first)
    lower, upper = np.array(bounds).T
    first = np.clip(first, lower, upper)
    result = minimize(
        lambda x: -function(x),
        first,
        method="L-BFGS-B",
        bounds=bounds,
        options={"ftol": 1e-10, "gtol": 1e-4, "eps": 1e-4, "maxiter": 200},
    )
    return result.x, -float(result.fun)


def _named(names, logarithms):
    return {name: float(np.exp(x)) for name, x in zip(names, logarithms)}
