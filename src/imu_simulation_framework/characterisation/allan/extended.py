"""Noise models with terms beyond Q, N, B, K and R, and the averaging times that they describe.

At short averaging times, one hour of samples determines the Allan variance to 0.1 %. At this
accuracy, every real sensor differs from the standard terms because of its filter, resonances and
residual spectral lines, and the short averaging times would dominate the fit. Two remedies are
compared: excluding short averaging times, and assuming a model error. Model errors are smooth and
therefore correlated over averaging times; errors that are assumed to be independent would change
the slow terms.

The chosen model maximises the restricted likelihood of the logarithm of the Allan variances, which
is the likelihood after integration over the coefficients. An excluded point contributes the
likelihood of a uniform distribution with a width of about two in the logarithm. The standard terms
are extended by a ``1 / tau^2`` term of either sign, which represents the sensor's low-pass filter.
A Gauss-Markov process, which describes a drift over minutes that levels off, is added if it
increases the restricted likelihood. Even if the standard terms describe the data, such a process
may replace flicker noise and random walk, whose Allan variances rise in the same way. The spectrum
then decides between them (:mod:`.allan.slow_noise`).

Narrow lines in the noise of a sensor at rest (mains, fans, pumps, internal clocks) are removed
beforehand. A line with amplitude a and frequency f adds
``a^2 sin^4(pi f tau) / (pi f tau)^2`` to the Allan variance, and these ripples would distort the
fitted terms. Lines are detected as bins of the power spectrum far above the surrounding background,
and removed by a filter that scales these bins to the background. If the bins were scaled to zero,
the gap would change the Allan variance at averaging times near the period of a low-frequency line.
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

# Candidates for the relative error of the modelled Allan variance.
_MODEL_ERRORS = np.concatenate([[0.0], np.geomspace(0.003, 0.4, 10)])

LONGEST_START = 10.0  # s; largest candidate for the shortest averaging time in a fit
_OMISSION_DEVIANCE = 2.0 * np.log(
    2.0
)  # deviance added for each averaging time that is excluded from the fit
_ERROR_CORRELATION = np.log(10.0) / 2.0  # correlation length of model errors: half a decade of tau
_MIN_POINTS = 10  # smallest number of averaging times in a fit
_START_STRIDE = 2  # every second averaging time is a candidate for the shortest one in a fit
_MAX_ITERATIONS = 6


def error_covariance(tau, error) -> np.ndarray:
    """Return the covariance of model errors in the logarithm of the Allan variance.

    Errors at averaging times that are half a decade apart have a correlation of 1/e.

    Parameters
    ----------
    tau : ndarray, shape (n,)
        Averaging times [s].
    error : float
        Relative standard deviation of the modelled Allan variance.

    Returns
    -------
    ndarray, shape (n, n)
        Covariance [1].
    """
    distance = np.abs(np.subtract.outer(np.log(tau), np.log(tau)))
    return error**2 * np.exp(-distance / _ERROR_CORRELATION)


def fit_from(start, tau, variances, shapes, covariances, error) -> AllanFit:
    """Fit the noise terms to the Allan variances at averaging times of at least ``start``.

    Parameters
    ----------
    start : float
        Shortest averaging time in the fit [s].
    tau : ndarray, shape (n,)
        Averaging times [s].
    variances : ndarray, shape (n,)
        Measured Allan variances.
    shapes : ndarray, shape (n, terms)
        Allan variances of the terms for unit coefficients.
    covariances : callable
        Function of the squared coefficients that returns the covariance of the Allan variances,
        shape (n, n).
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
    """Restricted likelihood of the noise terms, by shortest averaging time and model error.

    Parameters
    ----------
    tau : ndarray, shape (n,)
        Averaging times of all recordings [s].
    variances : ndarray, shape (n,)
        Measured Allan variances.
    shapes : ndarray, shape (n, terms)
        Allan variances of the terms for unit coefficients.
    covariances : callable
        Function of the squared coefficients that returns the covariance of the Allan variances,
        shape (n, n).

    Attributes
    ----------
    squares : ndarray, shape (terms,)
        Squared coefficients at the optimum of the last call of :meth:`best`.
    """

    def __init__(self, tau, variances, shapes, covariances):
        self._tau = tau
        self._variances = variances
        self._shapes = shapes
        self._covariances = covariances
        # Coefficients are scaled so that each term contributes at most 1 to a relative variance.
        self._scale = (shapes / variances[:, None]).max(axis=0)
        self._last = None
        self.squares = None

    def starts(self) -> np.ndarray:
        """Return the candidates for the shortest averaging time in the fit.

        Returns
        -------
        ndarray
            Averaging times [s].
        """
        tau = np.unique(self._tau)
        possible = tau[: max(1, len(tau) - _MIN_POINTS) : _START_STRIDE]
        return possible[possible <= LONGEST_START]

    def best(self, starts=None):
        """Maximise the restricted likelihood over shortest averaging times and model errors.

        Parameters
        ----------
        starts : sequence of float, optional
            Candidates for the shortest averaging time in the fit [s].

        Returns
        -------
        deviance, start, error : float
            Minus twice the restricted log-likelihood, the shortest averaging time [s] and the
            relative model error.
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
        """Return the deviance, which is minus twice the restricted log-likelihood.

        Parameters
        ----------
        start : float
            Shortest averaging time in the fit [s].
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
"""Smallest decrease of the deviance for which the model includes a Gauss-Markov process."""

_SHORTEST_TIME = 3.0  # s; shortest correlation time of a Gauss-Markov process
_LONGEST_TIME_SHARE = 30.0  # ratio of the recording's duration to the longest correlation time
_TIME_STEPS = 12
_FINER_STEPS = 9
_SAME_DEVIANCE = 3.84  # 95th percentile of the chi-square distribution with one degree of freedom
_SHORTEST_COMPARED = 1.0  # s; shortest averaging time at which curves are compared
_LONGEST_COMPARED_SHARE = 10.0  # ratio of the duration to the longest compared averaging time
_SLOW_TERMS = TERMS[2:4]
# Ratio of the recording's duration to the longest correlation time compared with a random walk.
# A process with a longer correlation time resembles a constant.
_CONSTANT_SHARE = 3.0
_LONG_TIMES = 6  # number of long correlation times that are compared with a random walk


def weigh_slow_terms(fit, variances, model, duration, slow_noise) -> AllanFit:
    """Choose between a Gauss-Markov process and the slow standard terms B and K.

    Parameters
    ----------
    fit : AllanFit
        Fit of the standard terms, which describes the data.
    variances : ndarray, shape (n,)
        Measured Allan variances.
    model : callable
        Function of the correlation time of a Gauss-Markov process [s] that returns shapes and
        covariances, as in :func:`fit_real_sensor`.
    duration : float
        Duration of the recording [s].
    slow_noise : SlowNoiseLikelihood
        Likelihood of the same data.

    Returns
    -------
    AllanFit
        The fit of the standard terms, in which slow terms count as identified only if the spectrum
        supports them, or a fit with a Gauss-Markov process. The intervals of a fit with a process
        include those for all correlation times that describe the data equally well and, unless the
        spectrum rejects the standard terms, those of the standard terms.
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
    half_step = np.sqrt(times[1] / times[0])
    estimate = _time_estimate(choice.time, choice.possible_times, times, half_step)
    squares = problem.solve(excluded=absent)
    return replace(with_process, terms=terms, squares=squares, gauss_markov_time=estimate)


def require_support(fit, duration, slow_noise) -> AllanFit:
    """Count the slow terms of a fit as identified only if the spectrum supports them.

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
        chosen_cost = slow_noise.cost(choice.terms)
        ends = duration / _LONGEST_TIME_SHARE, duration / _CONSTANT_SHARE
        for time in np.geomspace(*ends, _LONG_TIMES):
            if slow_noise.cost((GAUSS_MARKOV,), float(time)) < chosen_cost + MARGIN:
                like_walk = float(time)
                break
    return replace(fit, terms=terms, time_like_walk=like_walk)


def _time_estimate(time, plausible, times, half_step):
    """Return a correlation time with an interval that spans all equally likely times."""
    return TimeEstimate(
        float(time),
        float(plausible.min() / half_step) if plausible.min() > times.min() else 0.0,
        float(plausible.max() * half_step) if plausible.max() < times.max() else np.inf,
    )


def _widen_intervals(fit, alternatives):
    """Widen the intervals of a fit's terms to include the intervals of alternative fits."""
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
    """Return candidates for the correlation time of a Gauss-Markov process."""
    longest = duration / _LONGEST_TIME_SHARE
    return np.geomspace(min(_SHORTEST_TIME, 0.5 * longest), longest, _TIME_STEPS)


def fit_real_sensor(tau, variances, model, duration) -> AllanFit:
    """Fit the standard terms, a low-pass filter and, if needed, a Gauss-Markov process.

    Parameters
    ----------
    tau, variances : ndarray, shape (n,)
        Averaging times [s] and estimated Allan variances of all recordings.
    model : callable
        Function of the correlation time of a Gauss-Markov process [s], or of None. It returns the
        Allan variances of the terms (n, terms), and a function of the squared coefficients that
        returns the covariance of ``variances``.
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
        # The likelihood selects the time below which the model begins to fail; add a margin.
        start = min(2.0 * start, likelihood.starts()[-1])

    def fit_with(correlation_time):
        return fit_from(start, tau, variances, *model(correlation_time), error)

    fit = fit_with(None if time is None else time.value)
    terms = dict(fit.terms)
    if time is not None:
        # The interval of the standard deviation includes the uncertainty of the correlation time.
        sigmas = [terms[GAUSS_MARKOV], *(fit_with(end).terms[GAUSS_MARKOV] for end in extremes)]
        terms[GAUSS_MARKOV] = replace(
            sigmas[0],
            low=min(sigma.low for sigma in sigmas),
            high=max(sigma.high for sigma in sigmas),
        )
    if np.any(3.0 * fit.squares[0] / tau[tau < start] ** 2 > variances[tau < start]):
        # If the 1/tau^2 term were quantisation, it would exceed the variances at shorter tau.
        terms[TERMS[0]] = TermEstimate(0.0, 0.0, np.inf, False)
    model_range = {"start": float(start), "model_error": float(error), "gauss_markov_time": time}
    return replace(fit, terms=terms, **model_range)


def _gauss_markov_time(tau, variances, model, duration, start, deviance_without):
    """Estimate the correlation time of a Gauss-Markov process, if the data support a process.

    At best, a recording determines the correlation time within a factor of two or three. Among
    equally likely times, the estimate is the time whose curve is closest to the measured one.
    """
    compared = (tau >= max(start, _SHORTEST_COMPARED)) & (tau <= duration / _LONGEST_COMPARED_SHARE)

    def evaluate(times):
        """Return deviance and distance between model and data for each correlation time."""
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
    # For a long recording, the interval can be narrower than the step of the first search.
    ends = times[max(best - 1, 0)], times[min(best + 1, len(times) - 1)]
    finer_times = np.geomspace(*ends, _FINER_STEPS)
    deviances = np.concatenate([deviances, evaluate(finer_times)])
    times = np.concatenate([times, finer_times])
    plausible = np.flatnonzero(deviances[:, 0] < deviances[:, 0].min() + _SAME_DEVIANCE)
    closest = plausible[np.argmin(deviances[plausible, 1])]
    half_step = np.sqrt(finer_times[1] / finer_times[0])
    estimate = _time_estimate(times[closest], times[plausible], times, half_step)
    return estimate, (times[plausible].min(), times[plausible].max())


_SEGMENT_DURATION = 330.0  # s; longest segment of the spectrum
_MIN_SEGMENTS = 8
_MIN_SEGMENT = 1000  # samples; shorter segments do not resolve spectral lines
_BACKGROUND_WIDTH = 0.05  # width of the running median as a fraction of the frequency
_MIN_BACKGROUND = 20  # bins; smallest width of the running median
_LINE_PROBABILITY = 1e-3  # probability that the background of a bin exceeds the detection limit
_LINE_MARGIN = 1.3  # safety factor of the detection limit
_INDEPENDENT_SHARE = 0.95  # independent segments per half-overlapping Hann-windowed segment
_MAX_BIN_DISTANCE = 3  # bins; largest gap within a line, whose frequency drifts with its clock
_MAX_ROUNDS = 3
_MIN_ENVELOPE_SHARE = 0.25  # smallest divisor at the ends of a part, which limits the gain
_SEGMENTS_AT_ONCE = 30


@dataclass(frozen=True)
class SpectralLine:
    """Narrow line in the power spectrum of a sensor's noise.

    Attributes
    ----------
    frequency : float
        Frequency [Hz]; a line above half of the sampling rate is aliased to a lower frequency.
    amplitude : float
        Amplitude of a sine wave with the same power, in the unit of the axis.
    """

    frequency: float
    amplitude: float


def remove_lines(parts, rate):
    """Reduce narrow spectral lines to the level of the background.

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
        Removed lines, the strongest first.
    """
    longest = max(len(part) for part in parts)
    segment = min(round(_SEGMENT_DURATION * rate), longest // _MIN_SEGMENTS) // 2 * 2
    parts, removed = list(parts), ()
    if segment < _MIN_SEGMENT:
        return parts, removed
    # The first iteration leaves a residue of strong lines at the ends of each part.
    for _ in range(_MAX_ROUNDS):
        frequencies, power, count = _spectrum(parts, rate, segment)
        background = _background(power)
        freedom = 2.0 * max(1.0, _INDEPENDENT_SHARE * count)
        limit = _LINE_MARGIN * chi2.isf(_LINE_PROBABILITY, freedom) / freedom
        high = power / background > limit
        high[:_MIN_BACKGROUND] = False
        if not high.any():
            break
        # A line is widened by one bin on each side, because the window spreads it.
        bins = np.flatnonzero(np.convolve(high, np.ones(3), mode="same") > 0.0)
        groups = np.split(bins, np.flatnonzero(np.diff(bins) > _MAX_BIN_DISTANCE) + 1)
        gains = np.sqrt(np.minimum(1.0, background / power))
        excess = np.maximum(power - background, 0.0)
        lines = [_describe_line(frequencies[group], excess[group]) for group in groups]
        removed = removed or tuple(sorted(lines, key=lambda line: -line.amplitude))
        parts = [part - _filter_lines(part, 1.0 - gains, excess, groups, segment) for part in parts]
    return parts, removed


def _spectrum(parts, rate, segment):
    """Return frequencies, mean one-sided Welch spectrum and number of averaged segments."""
    total, count = 0.0, 0
    for part in parts:
        half_segment = segment // 2
        last = len(part) // half_segment * half_segment
        # The segments are processed in groups, because welch keeps all its segments in memory.
        for start in range(0, last - half_segment, _SEGMENTS_AT_ONCE * half_segment):
            piece = part[start : min(start + (_SEGMENTS_AT_ONCE + 1) * half_segment, last)]
            frequencies, power = welch(piece, rate, nperseg=segment, detrend="linear")
            segments = len(piece) // half_segment - 1
            total = total + segments * power
            count += segments
    return frequencies, total / count, count


def _background(power):
    """Return the running median of a power spectrum, over a window of 5 % of the frequency."""
    background = np.empty_like(power)
    first = 0
    # The width of the median window grows with frequency, in steps of a third of an octave.
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
    """Extract the spectral lines from contiguous samples by a filter with gain ``shares`` per bin.

    Near an end of the part, the filter extends beyond it and returns only a share of each line.
    This is compensated by dividing by the share of the filter's envelope inside the part.
    """
    spectrum = np.zeros(len(shares))
    baseband = np.zeros(segment)
    for group in groups:
        spectrum[group] = shares[group]
        centre = round(np.average(group, weights=excess[group]))
        # The envelope is averaged over all groups of bins, weighted by their power.
        np.add.at(baseband, group - centre, shares[group] * excess[group].sum())
    window = np.hanning(segment + 1)
    response = _centred(np.fft.irfft(spectrum, segment)) * window
    envelope = _centred(np.fft.ifft(baseband).real) * window
    ends = max(1, min(segment, len(part) // 2))
    # A trend is subtracted, because a bias would act like a step and cause ringing at the ends.
    first, last = np.mean(part[:ends]), np.mean(part[-ends:])
    slope = (last - first) / max(1, len(part) - 1)
    inside = np.concatenate([[0.0], np.cumsum(envelope)]) / envelope.sum()
    half_segment = segment // 2
    lines = np.empty(len(part))
    block_size = _SEGMENTS_AT_ONCE * segment
    for start in range(0, len(part), block_size):
        indices = np.arange(start, min(start + block_size, len(part)))
        low, high = max(0, start - half_segment), min(len(part), indices[-1] + 1 + half_segment)
        level = first + slope * np.arange(low, high)
        share = (
            inside[np.minimum(indices + half_segment, segment) + 1]
            - inside[np.maximum(half_segment - (len(part) - 1 - indices), 0)]
        )
        filtered = oaconvolve(part[low:high] - level, response, mode="full")
        begin = half_segment + start - low
        piece = filtered[begin : begin + len(indices)]
        lines[indices] = piece / np.maximum(share, _MIN_ENVELOPE_SHARE)
    return lines


def _centred(values):
    """Shift periodic values so that lag 0 is in the middle, and append the new first value."""
    values = np.roll(values, len(values) // 2)
    return np.append(values, values[0])
