"""Intervals of identified parameters by profile likelihood."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.stats import chi2

from imu_simulation_framework.identification.yaw_error.fit import Fit, maximise, refit
from imu_simulation_framework.identification.yaw_error.terms import UNITS

CONFIDENCE = 0.95
_BETTER = 0.02
"""A gain of log-likelihood that is more than the search's own tolerance."""
_MOST_POINTS = 25
_NEAR = 0.01
"""How near to the wanted fall of the likelihood, as a share of its root, a limit is."""


class Estimate(NamedTuple):
    """``value``, 95 % interval from ``low`` to ``high``, ``unit``.

    A ``low`` of zero, or an infinite ``high``, says that the data give no limit on that side.
    """

    value: float
    low: float
    high: float
    unit: str


class BetterFit(Exception):
    """While intervals were looked for, parameters were found that explain the data better."""

    def __init__(self, fit: Fit):
        super().__init__("a better fit was found")
        self.fit = fit


def intervals(fit: Fit, confidence: float = CONFIDENCE) -> dict[str, Estimate]:
    """Return all parameters of a fitted model with their intervals.

    Each is moved from its estimate until the likelihood, maximised over all others, has fallen as
    far as it does by chance (Cox and Snell: Analysis of binary data, 1989, appendix 1.3).

    Parameters
    ----------
    fit : Fit
    confidence : float

    Raises
    ------
    BetterFit
        The search for the fit had not found the highest likelihood.
    """
    drop = 0.5 * float(chi2.ppf(confidence, 1))
    found = {name: _of_random(fit, name, drop) for name in fit.values}
    for index, term in enumerate(fit.likelihood.constants):
        found[term.parameter] = _of_constant(fit, index, drop)
    return found


def _of_random(fit, name, drop):
    likelihood, best = fit.likelihood, fit.values
    others = [other for other in best if other != name]
    search = _Search(likelihood, others, best)

    def fall(logarithm):
        def value_at(values):
            return likelihood({**best, **values, name: float(np.exp(logarithm))})

        value = search.highest(value_at)
        if value > fit.log_likelihood + _BETTER:
            values = {**best, **search.values, name: float(np.exp(logarithm))}
            raise BetterFit(refit(likelihood, values))
        return fit.log_likelihood - value

    bounds = np.log(likelihood.scales.bounds(name))
    low, high = _crossings(fall, search, np.log(best[name]), bounds, 0.3, drop)
    return Estimate(
        best[name],
        0.0 if low is None else float(np.exp(low)),
        np.inf if high is None else float(np.exp(high)),
        UNITS[name],
    )


def _of_constant(fit, index, drop):
    likelihood = fit.likelihood
    estimates, covariance = fit.constants
    std = float(np.sqrt(covariance[index, index]))
    centre = float(estimates[index])
    search = _Search(likelihood, list(fit.values), fit.values)
    top = search.highest(likelihood.given({index: centre}))

    def fall(value):
        return top - search.highest(likelihood.given({index: value}))

    bounds = centre - 50.0 * std, centre + 50.0 * std
    low, high = _crossings(fall, search, centre, bounds, 2.0 * std, drop)
    return Estimate(
        centre,
        -np.inf if low is None else low,
        np.inf if high is None else high,
        UNITS[likelihood.constants[index].parameter],
    )


class _Search:
    """Maximises over some parameters again and again, from where it was last or from the estimates.

    From the more likely one of both: far out a strength may have gone to next to nothing, where its
    logarithm has no slope, and a search that began there would not come back, so that nearer by
    the likelihood would seem to have fallen, too.
    """

    def __init__(self, likelihood, names, values):
        self._names = names
        self._bounds = [tuple(np.log(likelihood.scales.bounds(name))) for name in names]
        self._best = np.log([values[name] for name in names])
        self.restart()

    def restart(self):
        self._last = self._best

    @property
    def values(self) -> dict[str, float]:
        """Where the last maximum was."""
        return dict(zip(self._names, (float(value) for value in np.exp(self._last))))

    def highest(self, function) -> float:
        def of_logarithms(x):
            return function(dict(zip(self._names, (float(value) for value in np.exp(x)))))

        first = self._last
        if first is not self._best and of_logarithms(self._best) > of_logarithms(first):
            first = self._best
        self._last, value = maximise(of_logarithms, first, self._bounds)
        return value


def _crossings(fall, search, centre, bounds, step, drop):
    """Where the likelihood has fallen by the drop on either side; None if not before the bound.

    The root of the fall is nearly a straight line (Cox and Hinkley: Theoretical statistics, 1974,
    section 9.3), so that few points are enough.
    """
    found = []
    for bound in bounds:
        search.restart()
        found.append(_crossing(fall, centre, bound, np.sign(bound - centre) * step, drop))
    return found


def _crossing(fall, centre, bound, step, drop):
    goal = np.sqrt(drop)

    def excess(value):
        return np.sqrt(max(0.0, fall(value))) - goal

    inside, below = centre, -goal
    outside, above = None, None
    for _ in range(_MOST_POINTS):
        if outside is None:
            value = centre + step
            if abs(step) >= abs(bound - centre):
                value = bound
        else:
            share = -below / (above - below)
            # Where a side does not come nearer the line is no straight one: halve.
            value = inside + min(max(share, 0.05), 0.95) * (outside - inside)
        now = excess(value)
        if abs(now) < _NEAR * goal:
            return float(value)
        if now > 0.0:
            outside, above = value, now
            continue
        if value == bound:
            return None
        slope = (now + goal) / (value - centre)
        inside, below = value, now
        if outside is None:
            # By the straight line, and a little further, but not by much more than what is known.
            reach = goal / slope if slope else np.inf * step
            step = np.sign(step) * min(1.1 * abs(reach), 4.0 * abs(value - centre))
    return float(0.5 * (inside + outside)) if outside is not None else None
