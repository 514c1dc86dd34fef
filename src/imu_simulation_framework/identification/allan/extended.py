"""The fit to Allan variances of a real sensor, which the standard terms alone do not describe.

Added to them are a ``1 / tau^2`` term of either sign for the sensor's low-pass filter, a shortest
averaging time and an error of the model, found together
(:mod:`.allan.model_error`), and a Gauss-Markov process where the
restricted likelihood gains by it: drift over minutes that comes to an end.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from imu_simulation_framework.identification.allan.fit import (
    AllanFit,
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

    longest = duration / _LONGEST_TIME
    times = np.geomspace(min(_SHORTEST_TIME, 0.5 * longest), longest, _TIME_STEPS)
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
