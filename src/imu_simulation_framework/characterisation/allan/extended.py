"""Noise models beyond the standard terms, and the averaging times that they describe.

At short averaging times an hour of samples determines the Allan variance to 0.1 %. There every real
sensor differs from the standard terms by its filter, by resonances, and by remains of spectral
lines, and these points would dominate the fit. Two remedies are compared: to leave out short
averaging times, and to assume an error of the model. Errors of a model are smooth and therefore
correlated over averaging times. Independent errors would change the slow terms.

The choice has the largest restricted likelihood of the logarithm of the Allan variances, which is
the likelihood with the coefficients integrated out. A point that is left out contributes the
likelihood of a uniform distribution over about two in the logarithm. The standard terms are
extended by a ``1 / tau^2`` term of either sign for the sensor's low-pass filter. A Gauss-Markov
process is added if it raises the restricted likelihood; it describes a drift over minutes that
levels off. If the standard terms describe the data, such a process may still replace flicker noise
and random walk, which rise in the same manner. The spectrum decides between them
(:mod:`.allan.slow_noise`).

Narrow lines in the noise of a sensor at rest (mains, fans, a pump, the sensor's own clocks) are
removed before. A line of amplitude a and frequency f adds ``a^2 sin^4(pi f tau) / (pi f tau)^2`` to
the Allan variance. These ripples would distort the terms of a fit. Lines are detected in the power
spectrum as bins far above the background around them, and removed by a filter that scales these
bins to the background. Scaled to zero, they would leave a hole that changes the Allan variance at
averaging times around a line of low frequency.
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

# Candidates of the relative error of the modelled Allan variance.
_MODEL_ERRORS = np.concatenate([[0.0], np.geomspace(0.003, 0.4, 10)])

LONGEST_START = 10.0  # s; longest averaging time from which on the terms describe the data
_OMISSION_DEVIANCE = 2.0 * np.log(2.0)  # of a point that is left out
_ERROR_CORRELATION = np.log(10.0) / 2.0  # half a decade of averaging time
_MIN_POINTS = 10  # averaging times of a fit
_START_STRIDE = 2  # averaging times between two candidates of the start
_MAX_ITERATIONS = 6


def error_covariance(tau, error) -> np.ndarray:
    """Return the covariance of the logarithm of the true Allan variances around the modelled ones.

    Errors at averaging times half a decade apart have the correlation 1/e.

    Parameters
    ----------
    tau : ndarray, shape (n,)
        Averaging times [s].
    error : float
        Relative standard deviation of the Allan variance.

    Returns
    -------
    ndarray, shape (n, n)
        Covariance [1].
    """
    distance = np.abs(np.subtract.outer(np.log(tau), np.log(tau)))
    return error**2 * np.exp(-distance / _ERROR_CORRELATION)


def fit_from(start, tau, variances, shapes, covariances, error) -> AllanFit:
    """Fit the terms to the averaging times from a start on.

    Parameters
    ----------
    start : float
        Shortest averaging time in use [s].
    tau : ndarray, shape (n,)
        Averaging times [s].
    variances : ndarray, shape (n,)
        Measured Allan variances.
    shapes : ndarray, shape (n, terms)
        Allan variances of the terms for unit coefficients.
    covariances : callable
        Function from squared coefficients to the covariance of the variances, shape (n, n).
    error : float
        Relative error of the modelled Allan variance.

    Returns
    -------
    AllanFit
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
    """Restricted likelihood of the shortest averaging time in use and of the model error.

    Parameters
    ----------
    tau : ndarray, shape (n,)
        Averaging times of all recordings [s].
    variances : ndarray, shape (n,)
        Measured Allan variances.
    shapes : ndarray, shape (n, terms)
        Allan variances of the terms for unit coefficients.
    covariances : callable
        Function from squared coefficients to the covariance of the variances, shape (n, n).

    Attributes
    ----------
    squares : ndarray, shape (terms,)
        Squared coefficients at the optimum of the last grid.
    """

    def __init__(self, tau, variances, shapes, covariances):
        self._tau = tau
        self._variances = variances
        self._shapes = shapes
        self._covariances = covariances
        # A coefficient is expressed as its largest share of a variance.
        self._scale = (shapes / variances[:, None]).max(axis=0)
        self._last = None
        self.squares = None

    def starts(self) -> np.ndarray:
        """Return candidates of the shortest averaging time in use.

        Returns
        -------
        ndarray
            Averaging times [s].
        """
        tau = np.unique(self._tau)
        possible = tau[: max(1, len(tau) - _MIN_POINTS) : _START_STRIDE]
        return possible[possible <= LONGEST_START]

    def best(self, starts=None):
        """Maximise the restricted likelihood over a grid.

        Parameters
        ----------
        starts : sequence of float, optional
            Candidates of the shortest averaging time in use [s].

        Returns
        -------
        deviance, start, error : float
            Minus twice the restricted log-likelihood, the start [s] and the relative model error.
        """
        best = (np.inf, 0.0, 0.0)
        for start in self.starts() if starts is None else starts:
            for error in _MODEL_ERRORS:
                deviance = self.deviance(start, error)
                if deviance < best[0]:
                    best = (deviance, float(start), float(error))
                    self.squares = self._last
        return best

    def deviance(self, start, error) -> float:
        """Return minus twice the restricted log-likelihood.

        Parameters
        ----------
        start : float
            Shortest averaging time in use [s].
        error : float
            Relative error of the modelled Allan variance.

        Returns
        -------
        float
            Deviance [1].
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
        squares = self._last = problem.solve(start=self._last, iterations=_MAX_ITERATIONS)
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
            + _OMISSION_DEVIANCE * (len(self._tau) - len(used))
        )


GAIN = 9.0
"""Decrease of the deviance from which on a Gauss-Markov process is part of the model."""

_SHORTEST_TIME = 3.0  # s; shortest correlation time
_LONGEST_TIME_SHARE = 30.0  # duration of the recording over the longest correlation time
_TIME_STEPS = 12
_FINER_STEPS = 9
_SAME_DEVIANCE = 3.84  # 95th percentile of chi-square with one degree of freedom
_SHORTEST_COMPARED = 1.0  # s; shortest averaging time at which curves are compared
_LONGEST_COMPARED_SHARE = 10.0  # duration of the recording over the longest such time
_SLOW_TERMS = TERMS[2:4]
# Duration of the recording over the longest correlation time that is compared with a random walk; a
# longer process resembles a constant.
_CONSTANT_SHARE = 3.0
_LONG_TIMES = 6  # number of such correlation times


def weigh_slow_terms(fit, variances, model, duration, slow_noise) -> AllanFit:
    """Choose between a Gauss-Markov process and the slow standard terms.

    Parameters
    ----------
    fit : AllanFit
        Fit of the standard terms, which describes the data.
    variances : ndarray, shape (n,)
        Measured Allan variances.
    model : callable
        Function from the correlation time [s] of a Gauss-Markov process to shapes and covariances,
        as in :func:`fit_real_sensor`.
    duration : float
        Duration of the recording [s].
    slow_noise : SlowNoiseLikelihood
        Likelihood of the same data.

    Returns
    -------
    AllanFit
        The fit of the standard terms, in which slow terms are identified only if the spectrum
        supports them, or a fit with a process. The intervals of the latter include those of all
        correlation times that describe the data equally well, and those of the standard terms
        unless the spectrum rejects them.
    """
    if not any(fit.squares[TERMS.index(name)] > 0.0 for name in _SLOW_TERMS):
        return fit
    choice = slow_noise.choose(_possible_times(duration), _SAME_DEVIANCE)
    if choice.time is None:
        return _restrict_to_supported(fit, choice, slow_noise, duration)
    problem = AllanProblem(variances, *model(choice.time))
    absent = [TERMS.index(name) for name in _SLOW_TERMS if name not in choice.terms]
    with_process = fit_terms(variances, *model(choice.time))
    ends = {choice.possible_times[0], choice.possible_times[-1]} - {choice.time}
    alternatives = [fit_terms(variances, *model(float(end))) for end in ends]
    if GAUSS_MARKOV not in choice.supported:
        alternatives.append(fit)
    terms = _widen_intervals(with_process, alternatives)
    for index in absent:
        terms[TERMS[index]] = replace(terms[TERMS[index]], value=0.0, low=0.0, identified=False)
    times = _possible_times(duration)
    half = np.sqrt(times[1] / times[0])
    estimate = _time_estimate(choice.time, choice.possible_times, times, half)
    squares = problem.solve(excluded=absent)
    return replace(with_process, terms=terms, squares=squares, gauss_markov_time=estimate)


def require_support(fit, duration, slow_noise) -> AllanFit:
    """Return a fit in which slow terms are identified only if the spectrum supports them.

    Parameters
    ----------
    fit : AllanFit
        Fit with or without a Gauss-Markov process.
    duration : float
        Duration of the recording [s].
    slow_noise : SlowNoiseLikelihood
        Likelihood of the same data.

    Returns
    -------
    AllanFit
    """
    if not any(fit.terms[name].identified for name in _SLOW_TERMS):
        return fit
    choice = slow_noise.choose(_possible_times(duration), _SAME_DEVIANCE)
    return _restrict_to_supported(fit, choice, slow_noise, duration)


def _restrict_to_supported(fit, choice, slow_noise, duration):
    terms = dict(fit.terms)
    for name in _SLOW_TERMS:
        if name not in choice.supported:
            terms[name] = replace(terms[name], low=0.0, identified=False)
    like_walk = None
    if terms[WALK].identified and fit.gauss_markov_time is None:
        chosen = slow_noise.cost(choice.terms)
        ends = duration / _LONGEST_TIME_SHARE, duration / _CONSTANT_SHARE
        for time in np.geomspace(*ends, _LONG_TIMES):
            if slow_noise.cost((GAUSS_MARKOV,), float(time)) < chosen + MARGIN:
                like_walk = float(time)
                break
    return replace(fit, terms=terms, time_like_walk=like_walk)


def _time_estimate(time, same, times, half):
    """Return an estimate with the interval of the equally likely times ``same`` of ``times``."""
    return TimeEstimate(
        float(time),
        float(same.min() / half) if same.min() > times.min() else 0.0,
        float(same.max() * half) if same.max() < times.max() else np.inf,
    )


def _widen_intervals(fit, alternatives):
    """Return the terms of a fit with intervals that include those of alternative fits."""
    absent = TermEstimate(0.0, 0.0, 0.0, False)
    widened = {}
    for name, estimate in fit.terms.items():
        estimates = [estimate, *(other.terms.get(name, absent) for other in alternatives)]
        widened[name] = replace(
            estimate,
            low=min(other.low for other in estimates),
            high=max(other.high for other in estimates),
            identified=all(other.identified for other in estimates),
        )
    return widened


def _possible_times(duration):
    """Return correlation times that differ from a constant and from white noise."""
    longest = duration / _LONGEST_TIME_SHARE
    return np.geomspace(min(_SHORTEST_TIME, 0.5 * longest), longest, _TIME_STEPS)


def fit_real_sensor(tau, variances, model, duration) -> AllanFit:
    """Fit the standard terms, a low-pass filter, and if needed a Gauss-Markov process.

    Parameters
    ----------
    tau, variances : ndarray, shape (n,)
        Averaging times [s] and estimated Allan variances of all recordings.
    model : callable
        Function of the correlation time of a Gauss-Markov process [s] or None. It returns the Allan
        variances of the terms (n, terms), and a function from squared coefficients to the
        covariance of ``variances``.
    duration : float
        Duration of the longest contiguous part [s].

    Returns
    -------
    AllanFit
    """
    likelihood = RestrictedLikelihood(tau, variances, *model(None))
    deviance, start, error = likelihood.best()
    time, extremes = _gauss_markov_time(tau, variances, model, duration, start, deviance)
    if time is not None:
        likelihood = RestrictedLikelihood(tau, variances, *model(time.value))
        _, start, error = likelihood.best()
    if start > tau.min():
        # The likelihood ends where the model begins to fail, so that a margin is added.
        start = min(2.0 * start, likelihood.starts()[-1])

    def fit_with(correlation_time):
        return fit_from(start, tau, variances, *model(correlation_time), error)

    fit = fit_with(None if time is None else time.value)
    terms = dict(fit.terms)
    if time is not None:
        # The standard deviation depends on the correlation time and its uncertainty.
        sigmas = [terms[GAUSS_MARKOV], *(fit_with(end).terms[GAUSS_MARKOV] for end in extremes)]
        terms[GAUSS_MARKOV] = replace(
            sigmas[0],
            low=min(sigma.low for sigma in sigmas),
            high=max(sigma.high for sigma in sigmas),
        )
    if np.any(3.0 * fit.squares[0] / tau[tau < start] ** 2 > variances[tau < start]):
        # The term is not quantisation, which would exceed the variances at shorter times.
        terms[TERMS[0]] = TermEstimate(0.0, 0.0, np.inf, False)
    model_range = {"start": float(start), "model_error": float(error), "gauss_markov_time": time}
    return replace(fit, terms=terms, **model_range)


def _gauss_markov_time(tau, variances, model, duration, start, deviance_without):
    """Return the correlation time of a Gauss-Markov process, or None, and its extremes.

    A recording determines the time within a factor of two or three at best. Among equally likely
    times the estimate is the time whose curve is closest to the measured one.
    """
    compared = (tau >= max(start, _SHORTEST_COMPARED)) & (tau <= duration / _LONGEST_COMPARED_SHARE)

    def evaluate(times):
        """Return the deviance of each time, and the distance of its curve from the measured one."""
        rows = []
        for shapes, covariances in map(model, times):
            likelihood = RestrictedLikelihood(tau, variances, shapes, covariances)
            deviance = likelihood.best([start])[0]
            ratio = (shapes @ likelihood.squares)[compared] / variances[compared]
            rows.append((deviance, np.abs(np.log(ratio)).max(initial=0.0)))
        return np.array(rows)

    times = _possible_times(duration)
    deviances = evaluate(times)
    best = int(np.argmin(deviances[:, 0]))
    if deviance_without - deviances[best, 0] < GAIN:
        return None, ()
    # A long recording determines the time more precisely than the steps of the first search.
    ends = times[max(best - 1, 0)], times[min(best + 1, len(times) - 1)]
    finer = np.geomspace(*ends, _FINER_STEPS)
    deviances = np.concatenate([deviances, evaluate(finer)])
    times = np.concatenate([times, finer])
    same = np.flatnonzero(deviances[:, 0] < deviances[:, 0].min() + _SAME_DEVIANCE)
    closest = same[np.argmin(deviances[same, 1])]
    half = np.sqrt(finer[1] / finer[0])
    estimate = _time_estimate(times[closest], times[same], times, half)
    return estimate, (times[same].min(), times[same].max())


_SEGMENT_DURATION = 330.0  # s
_MIN_SEGMENTS = 8
_MIN_SEGMENT = 1000  # samples
_BACKGROUND_WIDTH = 0.05  # of the frequency
_MIN_BACKGROUND = 20  # bins
_LINE_PROBABILITY = 1e-3  # that the background alone exceeds the limit of a line in a bin
_LINE_MARGIN = 1.3  # factor on that limit
_INDEPENDENT_SHARE = 0.95  # independent segments per Hann window that overlaps by half
_MAX_BIN_DISTANCE = 3  # bins of a line, whose frequency wanders with its clock
_MAX_ROUNDS = 3
_MIN_ENVELOPE_SHARE = 0.25  # of the filter's envelope inside a part, which bounds the gain
_SEGMENTS_AT_ONCE = 30


@dataclass(frozen=True)
class SpectralLine:
    """Narrow line of the spectrum.

    Attributes
    ----------
    frequency : float
        Frequency [Hz]; a line above half the sampling rate appears mirrored below it.
    amplitude : float
        Amplitude of the sine of the same power, in the unit of the axis.
    """

    frequency: float
    amplitude: float


def remove_lines(parts, rate):
    """Reduce narrow lines to the background of the spectrum.

    Parameters
    ----------
    parts : sequence of ndarray, shape (n,)
        Contiguous samples.
    rate : float
        Sampling rate [Hz].

    Returns
    -------
    parts : list of ndarray
        Samples without the lines.
    lines : tuple of SpectralLine
        Lines, the strongest first.
    """
    longest = max(len(part) for part in parts)
    segment = min(round(_SEGMENT_DURATION * rate), longest // _MIN_SEGMENTS) // 2 * 2
    parts, removed = list(parts), ()
    if segment < _MIN_SEGMENT:
        return parts, removed
    # The first round leaves a part of a strong line at the ends, which the next round removes.
    for _ in range(_MAX_ROUNDS):
        frequencies, power, count = _spectrum(parts, rate, segment)
        background = _background(power)
        freedom = 2.0 * max(1.0, _INDEPENDENT_SHARE * count)
        limit = _LINE_MARGIN * chi2.isf(_LINE_PROBABILITY, freedom) / freedom
        high = power / background > limit
        high[:_MIN_BACKGROUND] = False
        if not high.any():
            break
        # The window spreads a line to the neighbouring bins.
        bins = np.flatnonzero(np.convolve(high, np.ones(3), mode="same") > 0.0)
        groups = np.split(bins, np.flatnonzero(np.diff(bins) > _MAX_BIN_DISTANCE) + 1)
        gains = np.sqrt(np.minimum(1.0, background / power))
        excess = np.maximum(power - background, 0.0)
        lines = [_describe_line(frequencies[group], excess[group]) for group in groups]
        removed = removed or tuple(sorted(lines, key=lambda line: -line.amplitude))
        parts = [part - _filter_lines(part, 1.0 - gains, excess, groups, segment) for part in parts]
    return parts, removed


def _spectrum(parts, rate, segment):
    """Return frequencies, the mean one-sided Welch spectrum, and the number of segments."""
    total, count = 0.0, 0
    for part in parts:
        half = segment // 2
        last = len(part) // half * half
        # Welch's method holds all segments in memory, and each sample is in two of them.
        for start in range(0, last - half, _SEGMENTS_AT_ONCE * half):
            piece = part[start : min(start + (_SEGMENTS_AT_ONCE + 1) * half, last)]
            frequencies, power = welch(piece, rate, nperseg=segment, detrend="linear")
            segments = len(piece) // half - 1
            total = total + segments * power
            count += segments
    return frequencies, total / count, count


def _background(power):
    """Return a running median over 5 % of the frequency."""
    background = np.empty_like(power)
    first = 0
    # The window grows with the frequency, with a filter for each third of an octave.
    while first < len(power):
        last = min(len(power), max(first + _MIN_BACKGROUND, int(first * 1.26)))
        width = max(_MIN_BACKGROUND, round(_BACKGROUND_WIDTH * last)) | 1
        low, high = max(0, first - width), min(len(power), last + width)
        filtered = median_filter(power[low:high], size=width, mode="reflect")
        background[first:last] = filtered[first - low : last - low]
        first = last
    return background


def _describe_line(frequencies, excess) -> SpectralLine:
    return SpectralLine(
        float((excess * frequencies).sum() / excess.sum()),
        float(np.sqrt(2.0 * excess.sum() * (frequencies[1] - frequencies[0]))),
    )


def _filter_lines(part, shares, excess, groups, segment):
    """Return the spectral lines of a part: bins of its spectrum, scaled by ``shares``.

    Near an end the filter exceeds the part and returns a share of each line only. A division by the
    share of the filter's envelope inside the part compensates it.
    """
    spectrum = np.zeros(len(shares))
    baseband = np.zeros(segment)
    for group in groups:
        spectrum[group] = shares[group]
        centre = round(np.average(group, weights=excess[group]))
        # Groups of the same width have the same envelope; strong groups have a larger weight.
        np.add.at(baseband, group - centre, shares[group] * excess[group].sum())
    window = np.hanning(segment + 1)
    response = _centred(np.fft.irfft(spectrum, segment)) * window
    envelope = _centred(np.fft.ifft(baseband).real) * window
    ends = max(1, min(segment, len(part) // 2))
    # A bias would ring at the ends like a step.
    first, last = np.mean(part[:ends]), np.mean(part[-ends:])
    slope = (last - first) / max(1, len(part) - 1)
    inside = np.concatenate([[0.0], np.cumsum(envelope)]) / envelope.sum()
    half = segment // 2
    lines = np.empty(len(part))
    block_size = _SEGMENTS_AT_ONCE * segment
    for start in range(0, len(part), block_size):
        indices = np.arange(start, min(start + block_size, len(part)))
        low, high = max(0, start - half), min(len(part), indices[-1] + 1 + half)
        level = first + slope * np.arange(low, high)
        share = (
            inside[np.minimum(indices + half, segment) + 1]
            - inside[np.maximum(half - (len(part) - 1 - indices), 0)]
        )
        filtered = oaconvolve(part[low:high] - level, response, mode="full")
        begin = half + start - low
        piece = filtered[begin : begin + len(indices)]
        lines[indices] = piece / np.maximum(share, _MIN_ENVELOPE_SHARE)
    return lines


def _centred(values):
    """Return periodic values with lag 0 in the middle, extended by the first value."""
    values = np.roll(values, len(values) // 2)
    return np.append(values, values[0])
