"""Models beyond the standard terms: of a real sensor, and of a drift that comes to an end.

Where the standard terms do not describe a real sensor, added to them are a ``1 / tau^2`` term of
either sign for the sensor's low-pass filter, a shortest averaging time and an error of the model,
found together (:mod:`.allan.model_error`), and a Gauss-Markov process where the restricted
likelihood gains by it: drift over minutes that comes to an end.

Where they do describe the data, flicker noise and a random walk may still be such a process in
disguise: both rise where it rises. So the process is tried there, too.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from imu_simulation_framework.identification.allan.fit import (
    DETECTION_DEVIATIONS,
    AllanFit,
    AllanProblem,
    TermEstimate,
    TimeEstimate,
    fit_terms,
)
from imu_simulation_framework.identification.allan.model import GAUSS_MARKOV, TERMS
from imu_simulation_framework.identification.allan.model_error import (
    RestrictedLikelihood,
    error_covariance,
)

GAIN = 9.0
"""A Gauss-Markov process is part of the model if minus twice the logarithm of the restricted
likelihood falls by more."""

_SHORTEST_TIME = 3.0  # s
_LONGEST_TIME = 30.0
_TIME_STEPS = 12
_FINER_STEPS = 9
_SAME = 3.84
_CLOSE = 1.0  # s
_TENTH = 10.0
_SLOW_TERMS = TERMS[2:4]


def weigh_slow_terms(fit, variances, model, duration) -> AllanFit:
    """Return a fit of the standard terms, or one with a Gauss-Markov process if that says more.

    Flicker noise and a random walk rise where such a process does, so that a fit of the standard
    terms may describe it. Where the data are far likelier with the process, it is in the model;
    where they are not, the other terms' intervals hold what either model says.

    Parameters
    ----------
    fit : AllanFit
        Of the standard terms, which describes the data.
    variances, model, duration
        As for :func:`fit_real_sensor`.
    """
    if not any(fit.squares[TERMS.index(name)] > 0.0 for name in _SLOW_TERMS):
        return fit
    times, deviances = _possible_times(duration), []
    for time in times:
        problem = AllanProblem(variances, *model(float(time)))
        deviances.append(problem.deviance(problem.solve()))
    best = min(deviances)
    time = times[np.argmin(deviances)]
    beside = fit_terms(variances, *model(float(time)))
    plain = AllanProblem(variances, *model(None)).deviance(fit.squares)
    if plain - best < DETECTION_DEVIATIONS**2:
        terms = _joined_terms(fit, [beside])
        return replace(fit, terms={**terms, **{name: fit.terms[name] for name in _SLOW_TERMS}})
    same = times[np.array(deviances) < best + _SAME]
    others = [fit_terms(variances, *model(float(one))) for one in (same[0], same[-1])]
    half = np.sqrt(times[1] / times[0])
    estimate = TimeEstimate(
        float(time),
        float(same[0] / half) if same[0] > times[0] else 0.0,
        float(same[-1] * half) if same[-1] < times[-1] else np.inf,
    )
    return replace(beside, terms=_joined_terms(beside, others), gauss_markov_time=estimate)


def _joined_terms(fit, others):
    """Return the terms of a fit with intervals that hold those of other fits to the same data."""
    return {
        name: replace(
            found,
            low=min(one.terms[name].low for one in (fit, *others)),
            high=max(one.terms[name].high for one in (fit, *others)),
            identified=all(one.terms[name].identified for one in (fit, *others)),
        )
        for name, found in fit.terms.items()
    }


def _possible_times(duration):
    """Return correlation times that a recording can tell from constants and from white noise."""
    longest = duration / _LONGEST_TIME
    return np.geomspace(min(_SHORTEST_TIME, 0.5 * longest), longest, _TIME_STEPS)


def fit_real_sensor(tau, variances, model, duration) -> AllanFit:
    """Fit the standard terms and what a real sensor has besides.

    Parameters
    ----------
    tau, variances : ndarray, shape (n,)
        Averaging times [s] and estimated Allan variances; those of several recordings one after
        the other.
    model : callable
        From the correlation time of a Gauss-Markov process [s], or None, to the Allan variances
        of the terms, shape (n, terms), and a function from squared coefficients to the
        covariance of ``variances``.
    duration : float
        Of the longest contiguous part [s].
    """
    likelihood = RestrictedLikelihood(tau, variances, *model(None))
    without, start, error = likelihood.best()
    time, extremes = _gauss_markov_time(tau, variances, model, duration, start, without)
    if time is not None:
        likelihood = RestrictedLikelihood(tau, variances, *model(time.value))
        _, start, error = likelihood.best()
    if start > tau.min():
        # The likelihood ends where the model just begins to fail; a safe distance from there.
        start = min(2.0 * start, likelihood.starts()[-1])
    used = np.flatnonzero(tau >= start)

    def fit_with(correlation_time):
        shapes, covariances = model(correlation_time)
        return fit_terms(
            variances[used],
            shapes[used],
            lambda squares: covariances(squares)[np.ix_(used, used)],
            smoothing=True,
            model_error=error_covariance(tau[used], error),
        )

    fit = fit_with(None if time is None else time.value)
    terms = dict(fit.terms)
    if time is not None:
        # The standard deviation goes with the time, which is not known better than this.
        sigmas = [terms[GAUSS_MARKOV], *(fit_with(one).terms[GAUSS_MARKOV] for one in extremes)]
        terms[GAUSS_MARKOV] = replace(
            sigmas[0],
            low=min(sigma.low for sigma in sigmas),
            high=max(sigma.high for sigma in sigmas),
        )
    if np.any(3.0 * fit.squares[0] / tau[tau < start] ** 2 > variances[tau < start]):
        # Quantisation would show most at the shortest times: this is something else.
        terms[TERMS[0]] = TermEstimate(0.0, 0.0, np.inf, False)
    return replace(
        fit,
        terms=terms,
        start=float(start),
        model_error=float(error),
        gauss_markov_time=time,
    )


def _gauss_markov_time(tau, variances, model, duration, start, without):
    """Return the correlation time of a Gauss-Markov process, or None, and its extremes.

    One recording tells the time within a factor of two or three at best. Of those times that it
    cannot tell apart, the one counts whose curve stays closest to the measured one.
    """

    def judged(times):
        """Restricted likelihood of each time, and how far its curve is from the measured one."""
        return np.array([_judged(tau, variances, *model(time), duration, start) for time in times])

    times = _possible_times(duration)
    deviances = judged(times)
    best = int(np.argmin(deviances[:, 0]))
    if without - deviances[best, 0] < GAIN:
        return None, ()
    # A long recording tells the time better than the steps of the first search.
    finer = np.geomspace(
        times[max(best - 1, 0)], times[min(best + 1, len(times) - 1)], _FINER_STEPS
    )  # fmt: skip
    deviances = np.concatenate([deviances, judged(finer)])
    times = np.concatenate([times, finer])
    same = np.flatnonzero(deviances[:, 0] < deviances[:, 0].min() + _SAME)
    closest = same[np.argmin(deviances[same, 1])]
    low, high = times[same].min(), times[same].max()
    half = np.sqrt(finer[1] / finer[0])
    estimate = TimeEstimate(
        float(times[closest]),
        float(low / half) if low > times.min() else 0.0,
        float(high * half) if high < times.max() else np.inf,
    )
    return estimate, (low, high)


def _judged(tau, variances, shapes, covariances, duration, start):
    likelihood = RestrictedLikelihood(tau, variances, shapes, covariances)
    deviance = likelihood.best([start])[0]
    seen = (tau >= max(start, _CLOSE)) & (tau <= duration / _TENTH)
    ratio = (shapes @ likelihood.squares)[seen] / variances[seen]
    return deviance, np.abs(np.log(ratio)).max(initial=0.0)
