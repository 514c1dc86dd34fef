"""Models beyond the standard noise terms, and until when those describe a sensor.

At short averaging times an hour of samples gives the Allan variance to 0.1 %. There every real
sensor differs from the standard terms: its filter, resonances, what is left of lines. Such points
would own the fit. Both ways out are weighed against each other: leaving short averaging times
out, and allowing the model an error. Errors of a model are smooth, so they are correlated over
averaging times; as independent ones they would take from the slow terms what they give.

The choice is that of the largest restricted likelihood of the logarithm of the Allan variances,
the likelihood with the coefficients integrated out. A point left out keeps a likelihood of its
own: anything within about two in the logarithm. To the standard terms are added a ``1 / tau^2``
term of either sign for the sensor's low-pass filter, and a Gauss-Markov process where the
restricted likelihood gains by it: drift over minutes that comes to an end. Where the standard terms
do describe the data, flicker noise and a random walk may still be such a process: they rise alike
until it levels off. The spectrum decides (:mod:`.allan.slow_noise`).

Narrow lines in the noise of a sensor at rest (mains, fans, a pump, the sensor's own clocks) are
taken out before. A line of amplitude a and frequency f adds ``a^2 sin^4(pi f tau) / (pi f tau)^2``
to the Allan variance: ripples that none of the terms has, and that a fit takes for them. Lines
are found in the power spectrum, as bins far above the background around them, and taken out by a
filter that scales just these bins back to the background. Taken out to nothing, they would leave
a hole, which shows at averaging times around a line of low frequency.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.ndimage import median_filter
from scipy.signal import oaconvolve, welch
from scipy.stats import chi2

from .fit import AllanFit, AllanProblem, TermEstimate, TimeEstimate, fit_terms
from .model import GAUSS_MARKOV, TERMS
from .slow_noise import MARGIN, WALK

# Relative errors of the modelled Allan variance that are tried.
_ERRORS = np.concatenate([[0.0], np.geomspace(0.003, 0.4, 10)])

LONGEST_START = 10.0  # s
_LEFT_OUT = 2.0 * np.log(2.0)
_CORRELATION = np.log(10.0) / 2.0
_MIN_POINTS = 10
_STRIDE = 2
_ITERATIONS = 6


def error_covariance(tau, error) -> np.ndarray:
    """Return the covariance of the logarithm of the true Allan variances around the model's.

    ``error`` is its relative standard deviation; errors at averaging times ``tau`` (n,) [s] half a
    decade apart are correlated by 1/e.
    """
    distance = np.abs(np.subtract.outer(np.log(tau), np.log(tau)))
    return error**2 * np.exp(-distance / _CORRELATION)


def fit_from(start, tau, variances, shapes, covariances, error) -> AllanFit:
    """Fit the averaging times from ``start`` on [s], of a model with a relative ``error``.

    ``tau`` (n,) [s]; all else is as for :func:`.fit_terms`.
    """
    used = np.flatnonzero(tau >= start)
    return fit_terms(
        variances[used],
        shapes[used],
        lambda squares: covariances(squares)[np.ix_(used, used)],
        smoothing=True,
        model_error=error_covariance(tau[used], error),
    )


class RestrictedLikelihood:
    """Judges averaging times to begin with and model errors for one axis.

    ``tau`` [s] and ``variances`` (n,) are those of all recordings one after the other; ``shapes``
    (n, terms) and ``covariances`` are those of :func:`.fit_terms`.
    """

    def __init__(self, tau, variances, shapes, covariances):
        self._tau = tau
        self._variances = variances
        self._shapes = shapes
        self._covariances = covariances
        # A coefficient counts as the largest share that it can have of a variance.
        self._scale = (shapes / variances[:, None]).max(axis=0)
        self._last = None
        self.squares = None
        """Squared coefficients at the best place of the last grid."""

    def starts(self) -> np.ndarray:
        """Return averaging times to begin with."""
        tau = np.unique(self._tau)
        possible = tau[: max(1, len(tau) - _MIN_POINTS) : _STRIDE]
        return possible[possible <= LONGEST_START]

    def best(self, starts=None):
        """Return deviance, start and error of the largest restricted likelihood over a grid."""
        best = (np.inf, 0.0, 0.0)
        for start in self.starts() if starts is None else starts:
            for error in _ERRORS:
                deviance = self.deviance(start, error)
                if deviance < best[0]:
                    best = (deviance, float(start), float(error))
                    self.squares = self._last
        return best

    def deviance(self, start, error) -> float:
        """Minus twice the logarithm of the restricted likelihood.

        ``start`` is the shortest averaging time in use [s], ``error`` the model's relative one.
        """
        used = np.flatnonzero(self._tau >= start)
        variances = self._variances[used]
        problem = AllanProblem(
            variances,
            self._shapes[used],
            lambda squares: self._covariances(squares)[np.ix_(used, used)],
            smoothing=True,
            model_error=error_covariance(self._tau[used], error),
        )
        squares = self._last = problem.solve(start=self._last, iterations=_ITERATIONS)
        relative = problem.covariance(squares) / np.outer(variances, variances)
        columns = self._shapes[used] / variances[:, None] / self._scale
        residuals = 1.0 - columns @ (squares * self._scale)
        factor = cho_factor(relative, lower=True)
        weighted = cho_solve(factor, np.column_stack([columns, residuals]))
        information = columns.T @ weighted[:, :-1]
        return float(
            2.0 * np.log(np.diag(factor[0])).sum()
            + np.linalg.slogdet(information)[1]
            + residuals @ weighted[:, -1]
            + (len(used) - len(squares)) * np.log(2.0 * np.pi)
            + _LEFT_OUT * (len(self._tau) - len(used))
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
# Processes up to this part of a record are compared with a random walk; a longer one is a constant.
_CONSTANT = 3.0
_LONG_TIMES = 6


def weigh_slow_terms(fit, variances, model, duration, slow_noise) -> AllanFit:
    """Choose between flicker noise and random walk and, instead, a Gauss-Markov process.

    Parameters
    ----------
    fit : AllanFit
        Fit of the standard terms, which describes the data.
    variances, model, duration
        As for :func:`fit_real_sensor`.
    slow_noise : SlowNoiseLikelihood
        Likelihood of the same data.

    Returns
    -------
    AllanFit
        The fit itself, in which slow terms are identified only if the spectrum supports them, or
        one with a process. The intervals of the latter hold those of every correlation time that
        describes the data as well, and those of the standard terms unless the spectrum rejects
        them.
    """
    if not any(fit.squares[TERMS.index(name)] > 0.0 for name in _SLOW_TERMS):
        return fit
    choice = slow_noise.choose(_possible_times(duration), _SAME)
    if choice.time is None:
        return _with_support(fit, choice, slow_noise, duration)
    problem = AllanProblem(variances, *model(choice.time))
    absent = [TERMS.index(name) for name in _SLOW_TERMS if name not in choice.terms]
    with_process = fit_terms(variances, *model(choice.time))
    ends = {choice.possible_times[0], choice.possible_times[-1]} - {choice.time}
    others = [fit_terms(variances, *model(float(end))) for end in ends]
    if GAUSS_MARKOV not in choice.supported:
        others.append(fit)
    terms = _joined_terms(with_process, others)
    for index in absent:
        terms[TERMS[index]] = replace(terms[TERMS[index]], value=0.0, low=0.0, identified=False)
    times = _possible_times(duration)
    half = np.sqrt(times[1] / times[0])
    estimate = _time_estimate(choice.time, choice.possible_times, times, half)
    squares = problem.solve(without=absent)
    return replace(with_process, terms=terms, squares=squares, gauss_markov_time=estimate)


def require_support(fit, duration, slow_noise) -> AllanFit:
    """Return a fit in which slow terms are identified only if the spectrum supports them.

    Parameters are those of :func:`weigh_slow_terms`; the fit may have a process.
    """
    if not any(fit.terms[name].identified for name in _SLOW_TERMS):
        return fit
    choice = slow_noise.choose(_possible_times(duration), _SAME)
    return _with_support(fit, choice, slow_noise, duration)


def _with_support(fit, choice, slow_noise, duration):
    terms = dict(fit.terms)
    for name in _SLOW_TERMS:
        if name not in choice.supported:
            terms[name] = replace(terms[name], low=0.0, identified=False)
    like_walk = None
    if terms[WALK].identified and fit.gauss_markov_time is None:
        chosen = slow_noise.cost(choice.terms)
        for time in np.geomspace(duration / _LONGEST_TIME, duration / _CONSTANT, _LONG_TIMES):
            if slow_noise.cost((GAUSS_MARKOV,), float(time)) < chosen + MARGIN:
                like_walk = float(time)
                break
    return replace(fit, terms=terms, time_like_walk=like_walk)


def _time_estimate(time, same, times, half):
    """Return the estimate of a time that the ``same`` ones of all ``times`` describe as well."""
    return TimeEstimate(
        float(time),
        float(same.min() / half) if same.min() > times.min() else 0.0,
        float(same.max() * half) if same.max() < times.max() else np.inf,
    )


def _joined_terms(fit, others):
    """Return the terms of a fit with intervals that hold those of other fits to the same data."""
    absent = TermEstimate(0.0, 0.0, 0.0, False)
    joined = {}
    for name, estimate in fit.terms.items():
        estimates = [estimate, *(other.terms.get(name, absent) for other in others)]
        joined[name] = replace(
            estimate,
            low=min(other.low for other in estimates),
            high=max(other.high for other in estimates),
            identified=all(other.identified for other in estimates),
        )
    return joined


def _possible_times(duration):
    """Return correlation times that a recording can tell from constants and from white noise."""
    longest = duration / _LONGEST_TIME
    return np.geomspace(min(_SHORTEST_TIME, 0.5 * longest), longest, _TIME_STEPS)


def fit_real_sensor(tau, variances, model, duration) -> AllanFit:
    """Fit the standard terms and what a real sensor has besides.

    ``tau``, ``variances`` (n,): averaging times [s] and estimated Allan variances; those of several
    recordings one after the other. ``model``: from the correlation time of a Gauss-Markov process
    [s], or None, to the Allan variances of the terms, shape (n, terms), and a function from squared
    coefficients to the covariance of ``variances``; ``duration``: of the longest contiguous part
    [s].
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

    def fit_with(correlation_time):
        return fit_from(start, tau, variances, *model(correlation_time), error)

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
    described = {"start": float(start), "model_error": float(error), "gauss_markov_time": time}
    return replace(fit, terms=terms, **described)


def _gauss_markov_time(tau, variances, model, duration, start, without):
    """Return the correlation time of a Gauss-Markov process, or None, and its extremes.

    One recording tells the time within a factor of two or three at best. Of those times that it
    cannot tell apart, the one counts whose curve stays closest to the measured one.
    """
    seen = (tau >= max(start, _CLOSE)) & (tau <= duration / _TENTH)

    def judged(times):
        """Restricted likelihood of each time, and how far its curve is from the measured one."""
        found = []
        for shapes, covariances in map(model, times):
            likelihood = RestrictedLikelihood(tau, variances, shapes, covariances)
            deviance = likelihood.best([start])[0]
            ratio = (shapes @ likelihood.squares)[seen] / variances[seen]
            found.append((deviance, np.abs(np.log(ratio)).max(initial=0.0)))
        return np.array(found)

    times = _possible_times(duration)
    deviances = judged(times)
    best = int(np.argmin(deviances[:, 0]))
    if without - deviances[best, 0] < GAIN:
        return None, ()
    # A long recording tells the time better than the steps of the first search.
    ends = times[max(best - 1, 0)], times[min(best + 1, len(times) - 1)]
    finer = np.geomspace(*ends, _FINER_STEPS)
    deviances = np.concatenate([deviances, judged(finer)])
    times = np.concatenate([times, finer])
    same = np.flatnonzero(deviances[:, 0] < deviances[:, 0].min() + _SAME)
    closest = same[np.argmin(deviances[same, 1])]
    half = np.sqrt(finer[1] / finer[0])
    estimate = _time_estimate(times[closest], times[same], times, half)
    return estimate, (times[same].min(), times[same].max())


_SEGMENT = 330.0  # s
_SEGMENTS = 8
_MIN_SEGMENT = 1000
_BACKGROUND = 0.05
_MIN_BACKGROUND = 20
_LEVEL = 1e-3
_CLEARLY = 1.3
# Hann windows that overlap by half: so many independent segments each counts for.
_INDEPENDENT = 0.95
# Bins this close to each other belong to one line, that of a clock that wanders.
_JOINED = 3
_ROUNDS = 3
_MIN_SHARE = 0.25
_SEGMENTS_AT_ONCE = 30


@dataclass(frozen=True)
class SpectralLine:
    """A narrow line: frequency [Hz], and amplitude of the sine with the same power [unit].

    One above half the rate shows below it, mirrored.
    """

    frequency: float
    amplitude: float


def remove_lines(parts, rate):
    """Scale narrow lines back to the background of the spectrum.

    ``parts`` are contiguous samples (n,) at a rate [Hz]. Returns them without lines, and the lines,
    the strongest first.
    """
    longest = max(len(part) for part in parts)
    segment = min(round(_SEGMENT * rate), longest // _SEGMENTS) // 2 * 2
    parts, found = list(parts), ()
    if segment < _MIN_SEGMENT:
        return parts, found
    # Of a strong line the first round leaves some at the ends, which the next finds.
    for _ in range(_ROUNDS):
        frequencies, power, count = _spectrum(parts, rate, segment)
        background = _background(power)
        freedom = 2.0 * max(1.0, _INDEPENDENT * count)
        high = power / background > _CLEARLY * chi2.isf(_LEVEL, freedom) / freedom
        high[:_MIN_BACKGROUND] = False
        if not high.any():
            break
        # The bins beside hold what the window spreads there.
        places = np.flatnonzero(np.convolve(high, np.ones(3), mode="same") > 0.0)
        touched = np.split(places, np.flatnonzero(np.diff(places) > _JOINED) + 1)
        gains = np.sqrt(np.minimum(1.0, background / power))
        excess = np.maximum(power - background, 0.0)
        lines = [_line(frequencies[group], excess[group]) for group in touched]
        found = found or tuple(sorted(lines, key=lambda line: -line.amplitude))
        parts = [part - _taken_out(part, 1.0 - gains, excess, touched, segment) for part in parts]
    return parts, found


def _spectrum(parts, rate, segment):
    """Mean of the one-sided Welch spectra of all parts, and how many segments it is made of."""
    total, count = 0.0, 0
    for part in parts:
        half = segment // 2
        last = len(part) // half * half
        # Welch's method takes all segments at once, of which each sample is in two.
        for start in range(0, last - half, _SEGMENTS_AT_ONCE * half):
            piece = part[start : min(start + (_SEGMENTS_AT_ONCE + 1) * half, last)]
            frequencies, power = welch(piece, rate, nperseg=segment, detrend="linear")
            segments = len(piece) // half - 1
            total = total + segments * power
            count += segments
    return frequencies, total / count, count


def _background(power):
    """Return a running median over 5 % of the frequency on either side taken together."""
    background = np.empty_like(power)
    first = 0
    # The window grows with the frequency: a filter for each third of an octave.
    while first < len(power):
        last = min(len(power), max(first + _MIN_BACKGROUND, int(first * 1.26)))
        width = max(_MIN_BACKGROUND, round(_BACKGROUND * last)) | 1
        low, high = max(0, first - width), min(len(power), last + width)
        filtered = median_filter(power[low:high], size=width, mode="reflect")
        background[first:last] = filtered[first - low : last - low]
        first = last
    return background


def _line(frequencies, excess) -> SpectralLine:
    return SpectralLine(
        float((excess * frequencies).sum() / excess.sum()),
        float(np.sqrt(2.0 * excess.sum() * (frequencies[1] - frequencies[0]))),
    )


def _taken_out(part, shares, excess, groups, segment):
    """Return the lines of a part, up to its ends: bins of a spectrum, scaled by their shares.

    Near an end the filter reaches beyond, and sees a part of each line only. Divided by how much
    of the filter's envelope lies inside, the line is whole again.
    """
    spectrum = np.zeros(len(shares))
    baseband = np.zeros(segment)
    for group in groups:
        spectrum[group] = shares[group]
        centre = round(np.average(group, weights=excess[group]))
        # Groups of the same width have the same envelope; the strong ones matter most.
        np.add.at(baseband, group - centre, shares[group] * excess[group].sum())
    window = np.hanning(segment + 1)
    response = _centred(np.fft.irfft(spectrum, segment)) * window
    envelope = _centred(np.fft.ifft(baseband).real) * window
    ends = max(1, min(segment, len(part) // 2))
    # A bias would ring at the ends, as if it had been switched on there.
    first, last = np.mean(part[:ends]), np.mean(part[-ends:])
    slope = (last - first) / max(1, len(part) - 1)
    inside = np.concatenate([[0.0], np.cumsum(envelope)]) / envelope.sum()
    half = segment // 2
    taken = np.empty(len(part))
    at_once = _SEGMENTS_AT_ONCE * segment
    for start in range(0, len(part), at_once):
        places = np.arange(start, min(start + at_once, len(part)))
        low, high = max(0, start - half), min(len(part), places[-1] + 1 + half)
        level = first + slope * np.arange(low, high)
        share = (
            inside[np.minimum(places + half, segment) + 1]
            - inside[np.maximum(half - (len(part) - 1 - places), 0)]
        )
        filtered = oaconvolve(part[low:high] - level, response, mode="full")
        begin = half + start - low
        taken[places] = filtered[begin : begin + len(places)] / np.maximum(share, _MIN_SHARE)
    return taken


def _centred(values):
    """Return periodic values with lag 0 in the middle, one more of them than there were."""
    values = np.roll(values, len(values) // 2)
    return np.append(values, values[0])
