"""The fit to Allan variances of a real sensor, which the standard terms alone do not describe.

Added to them are a ``1 / tau^2`` term of either sign for the sensor's low-pass filter, a shortest
averaging time and an error of the model, found together
(:mod:`~imu_simulation_framework.core.allan_model_error`), and a Gauss-Markov process where the
restricted likelihood gains by it: drift over minutes that comes to an end.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from imu_simulation_framework.core.allan_fit import (
    AllanFit,
    TermEstimate,
    TimeEstimate,
    fit_terms,
)
from imu_simulation_framework.core.allan_model import TERMS
from imu_simulation_framework.core.allan_model_error import RestrictedLikelihood, error_covariance

GAIN = 9.0
"""A Gauss-Markov process is part of the model if minus twice the logarithm of the restricted
likelihood falls by more."""

_SHORTEST_TIME = 3.0  # s
_LONGEST_TIME = 30.0
_TIME_STEPS = 12
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
    time = _gauss_markov_time(tau, variances, model, duration, start, without)
    if time is not None:
        likelihood = RestrictedLikelihood(tau, variances, *model(time.value))
        _, start, error = likelihood.best()
    if start > tau.min():
        # The likelihood ends where the model just begins to fail; a safe distance from there.
        start = min(2.0 * start, likelihood.starts()[-1])
    shapes, covariances = model(None if time is None else time.value)
    used = np.flatnonzero(tau >= start)
    fit = fit_terms(
        variances[used],
        shapes[used],
        lambda squares: covariances(squares)[np.ix_(used, used)],
        smoothing=True,
        model_error=error_covariance(tau[used], error),
    )
    first = fit.squares[0] * shapes[:, 0]
    if np.any(first[tau < start] > variances[tau < start]):
        # Quantisation would show most at the shortest times: this is something else.
        terms = {**fit.terms, TERMS[0]: TermEstimate(0.0, 0.0, np.inf, False)}
        fit = replace(fit, terms=terms)
    return replace(fit, start=float(start), model_error=float(error), gauss_markov_time=time)


def _gauss_markov_time(tau, variances, model, duration, start, without):
    """The correlation time of a Gauss-Markov process, None if there is none.

    One recording tells the time within a factor of two or three at best. Of those times that it
    cannot tell apart, the one counts whose curve stays closest to the measured one.
    """
    longest = duration / _LONGEST_TIME
    times = np.geomspace(min(_SHORTEST_TIME, 0.5 * longest), longest, _TIME_STEPS)
    deviances, distances = [], []
    for time in times:
        shapes, covariances = model(time)
        likelihood = RestrictedLikelihood(tau, variances, shapes, covariances)
        deviances.append(likelihood.best([start])[0])
        seen = (tau >= max(start, _CLOSE)) & (tau <= duration / _TENTH)
        ratio = (shapes @ likelihood.squares)[seen] / variances[seen]
        distances.append(np.abs(np.log(ratio)).max(initial=0.0))
    deviances = np.array(deviances)
    if without - deviances.min() < GAIN:
        return None
    same = np.flatnonzero(deviances < deviances.min() + _SAME)
    best = same[np.argmin(np.array(distances)[same])]
    half = np.sqrt(times[1] / times[0])
    return TimeEstimate(
        float(times[best]),
        float(times[same[0]] / half) if same[0] > 0 else 0.0,
        float(times[same[-1]] * half) if same[-1] < len(times) - 1 else np.inf,
    )
