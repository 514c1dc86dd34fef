"""Intervals of identified parameters by profile likelihood."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.stats import chi2

from imu_simulation_framework.identification.yaw_error.fit import Fit, maximise
from imu_simulation_framework.identification.yaw_error.terms import UNITS

CONFIDENCE = 0.95


class Estimate(NamedTuple):
    """``value``, 95 % interval from ``low`` to ``high``, ``unit``.

    A ``low`` of zero, or an infinite ``high``, says that the data give no limit on that side.
    """

    value: float
    low: float
    high: float
    unit: str


def intervals(fit: Fit, confidence: float = CONFIDENCE) -> dict[str, Estimate]:
    """Return all parameters of a fitted model with their intervals.

    Each is moved from its estimate until the likelihood, maximised over all others, has fallen as
    far as it does by chance (Cox and Snell: Analysis of binary data, 1989, appendix 1.3).

    Parameters
    ----------
    fit : Fit
    confidence : float
    """
    drop = 0.5 * float(chi2.ppf(confidence, 1))
    found = {name: _of_random(fit, name, drop) for name in fit.values}
    for index, term in enumerate(fit.likelihood.constants):
        found[term.parameter] = _of_constant(fit, index, drop)
    return found


def _of_random(fit, name, drop):
    likelihood, best = fit.likelihood, fit.values
    others = [other for other in best if other != name]
    sizes = likelihood.scales
    bounds = [tuple(np.log(sizes.bounds(other))) for other in others]
    warm = {"x": np.log([best[other] for other in others])}

    def profile(logarithm):
        def value_at(x):
            values = dict(zip(others, np.exp(x)))
            values[name] = float(np.exp(logarithm))
            return likelihood({each: float(values[each]) for each in best})

        warm["x"], value = maximise(value_at, warm["x"], bounds)
        return fit.log_likelihood - value - drop

    low, high = _crossings(profile, np.log(best[name]), *np.log(sizes.bounds(name)), 0.3)
    return Estimate(
        best[name],
        0.0 if low is None else float(np.exp(low)),
        np.inf if high is None else float(np.exp(high)),
        UNITS[name],
    )


def _of_constant(fit, index, drop):
    likelihood = fit.likelihood
    names = list(fit.values)
    bounds = [tuple(np.log(likelihood.scales.bounds(name))) for name in names]
    estimates, covariance = fit.constants
    std = float(np.sqrt(covariance[index, index]))
    warm = {"x": np.log([fit.values[name] for name in names])}

    def given(x, value):
        # Of a flat prior the density at a value is the marginal one times the posterior's.
        filtered = likelihood.filtered({name: float(np.exp(y)) for name, y in zip(names, x)})
        mean, spread = likelihood.constants_of(filtered)
        variance = spread[index, index]
        distance = (value - mean[index]) ** 2 / variance
        return filtered.log_likelihood - 0.5 * (np.log(variance) + distance)

    centre = float(estimates[index])
    _, top = maximise(lambda x: given(x, centre), warm["x"], bounds)

    def profile(value):
        warm["x"], best = maximise(lambda x: given(x, value), warm["x"], bounds)
        return top - best - drop

    low, high = _crossings(profile, centre, centre - 50.0 * std, centre + 50.0 * std, 2.0 * std)
    return Estimate(
        centre,
        -np.inf if low is None else low,
        np.inf if high is None else high,
        UNITS[likelihood.constants[index].parameter],
    )


def _crossings(profile, centre, lowest, highest, step):
    """Where the profile crosses zero on either side; None where it does not before the bound."""
    found = []
    for sign, bound in ((-1.0, lowest), (1.0, highest)):
        inner, reach = centre, step
        crossing = None
        while True:
            outer = centre + sign * reach
            at_bound = sign * outer >= sign * bound
            outer = bound if at_bound else outer
            if profile(outer) > 0.0:
                crossing = brentq(profile, inner, outer, xtol=0.01 * step)
                break
            if at_bound:
                break
            inner, reach = outer, 2.0 * reach
        found.append(crossing)
    return found
