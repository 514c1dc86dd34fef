"""Estimation of power spectral densities and of delays between signals."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from . import angles

MINIMUM_SAMPLES = 16
"""Smallest number of samples from which a spectrum or a delay is estimated."""


@dataclass(frozen=True)
class Spectrum:
    """One-sided power spectral density, with the parameters of its estimation.

    Parameters
    ----------
    frequency : ndarray, shape (n,)
        Ascending frequencies, excluding zero [Hz].
    density : ndarray, shape (..., n)
        Density, in the squared unit of the signal per Hz. Its integral is the signal's variance.
    rate : float
        Sample rate of the uniform grid [Hz].
    segment_length : int
        Number of samples per segment, a power of two.
    segments : int
        Number of averaged, half-overlapping segments. The density from a single segment has a
        relative standard deviation of 100 %; average it over neighbouring frequencies.
    """

    frequency: np.ndarray
    density: np.ndarray
    rate: float
    segment_length: int
    segments: int


def median_rate(time) -> float:
    """Return the sample rate that corresponds to the median time step.

    Parameters
    ----------
    time : array_like, shape (n,)
        Ascending times [s].

    Returns
    -------
    float
        Rate [Hz].
    """
    return 1.0 / float(np.median(np.diff(time)))


def uniform_grid(start, stop, rate) -> np.ndarray:
    """Return evenly spaced times from a start to a stop time.

    Parameters
    ----------
    start, stop : float
        First time, and upper bound of the last time [s].
    rate : float
        Sample rate [Hz].

    Returns
    -------
    ndarray
        Times from ``start`` to at most ``stop`` [s].
    """
    # The tolerance prevents rounding from dropping a last sample that coincides with stop.
    count = int(np.floor((stop - start) * rate + 1e-6)) + 1
    return np.minimum(start + np.arange(count) / rate, stop)


def power_spectral_density(time, values, detrend="constant"):
    """Estimate the power spectral density by Welch's method.

    The signal is interpolated linearly to a uniform grid and divided into half-overlapping
    segments, to which a Hann window is applied. The segment length is the largest possible power
    of two, because only long segments resolve the low frequencies of a heading error.

    Parameters
    ----------
    time : array_like, shape (n,)
        Strictly ascending times [s].
    values : array_like, shape (..., n)
        Signal, or several signals at the same times.
    detrend : {"constant", "linear"}, optional
        Trend that is subtracted from each segment. A continually turning heading requires
        "linear".

    Returns
    -------
    Spectrum or None
        None if there are fewer than :data:`MINIMUM_SAMPLES` samples.

    References
    ----------
    P. D. Welch, The use of fast Fourier transform for the estimation of power spectra,
    IEEE Trans. Audio Electroacoust. 15 (1967) 70-73.
    """
    from scipy import signal

    time = np.asarray(time, dtype=float)
    values = np.asarray(values, dtype=float)
    if len(time) < MINIMUM_SAMPLES:
        return None
    rate = median_rate(time)
    uniform = _interpolate(uniform_grid(time[0], time[-1], rate), time, values)
    length = uniform.shape[-1]
    if length < MINIMUM_SAMPLES:
        return None
    segment_length = 2 ** int(np.log2(length))
    frequency, density = signal.welch(
        uniform, fs=rate, window="hann", nperseg=segment_length, detrend=detrend
    )
    segments = (length - segment_length) // (segment_length // 2) + 1
    return Spectrum(frequency[1:], density[..., 1:], rate, segment_length, segments)


def _interpolate(grid, time, values):
    if values.ndim == 1:
        return np.interp(grid, time, values)
    if len(grid) == len(time) and np.allclose(grid, time, rtol=0.0, atol=1e-9):
        return values
    upper = np.clip(np.searchsorted(time, grid), 1, len(time) - 1)
    weight = (grid - time[upper - 1]) / (time[upper] - time[upper - 1])
    return values[..., upper - 1] * (1.0 - weight) + values[..., upper] * weight


def logarithmic_average(spectrum, per_decade=40):
    """Average a power spectral density within frequency bands of equal logarithmic width.

    At low frequencies, a band contains a single value, which is unchanged. At high frequencies, a
    band contains hundreds of values, so that averaging reduces the scatter and preserves the power.

    Parameters
    ----------
    spectrum : Spectrum
        One-sided power spectral density.
    per_decade : int, optional
        Number of bands per decade.

    Returns
    -------
    frequency : ndarray, shape (bands,)
        Mean frequency in each non-empty band [Hz].
    density : ndarray, shape (..., bands)
        Mean density in each non-empty band.
    """
    first, count = _bands(spectrum, per_decade)
    return (
        np.add.reduceat(spectrum.frequency, first) / count,
        np.add.reduceat(spectrum.density, first, axis=-1) / count,
    )


def confidence_factors(spectrum, per_decade=40, level=0.95):
    """Return factors for the confidence intervals of densities from :func:`logarithmic_average`.

    Parameters
    ----------
    spectrum : Spectrum
        One-sided power spectral density.
    per_decade : int, optional
        Number of bands per decade.
    level : float, optional
        Confidence level.

    Returns
    -------
    lower, upper : ndarray, shape (bands,)
        Factors by which the density is multiplied to obtain the interval's limits.
    """
    _, counts = _bands(spectrum, per_decade)
    freedom = [degrees_of_freedom(spectrum.segments, int(count)) for count in counts]
    return variance_interval(freedom, level)


def degrees_of_freedom(segments, values) -> float:
    """Return the degrees of freedom of a spectral density averaged over segments and frequencies.

    Two values of the periodogram of a locally flat Gaussian process, d segments and m frequencies
    apart, have the covariance ``density^2 |A(d, m)|^2`` with

        A(d, m) = sum_t w(t) w(t + d S) exp(2 pi i m t / L) / sum_t w(t)^2

    for a window w of length L and successive segments that are S = L / 2 samples apart. For one
    frequency, this is Welch's equation for overlapping segments, with 36 / 19 degrees of freedom
    per segment in the limit of many segments. The two lowest frequencies scatter somewhat less,
    because the mean or the trend was subtracted.

    Parameters
    ----------
    segments : int
        Number of averaged segments.
    values : int
        Number of averaged neighbouring frequencies.

    Returns
    -------
    float
        Twice the squared mean divided by the variance; 2 for a single value.

    References
    ----------
    P. D. Welch, IEEE Trans. Audio Electroacoust. 15 (1967) 70-73; D. B. Percival, A. T. Walden,
    Spectral Analysis for Physical Applications (1993), on overlapped segment averaging.
    """
    distances = np.arange(min(values, _CORRELATED_FREQUENCIES))
    weights = np.where(distances == 0, 1.0, 2.0) * (1.0 - distances / values)
    squared_correlations, adjacent_squared_correlations = _covariances()
    variance = float(weights @ squared_correlations[distances])
    variance += (
        2.0 * (1.0 - 1.0 / segments) * float(weights @ adjacent_squared_correlations[distances])
    )
    return 2.0 * segments * values / variance


_CORRELATED_FREQUENCIES = 16  # values at least this many bins apart are considered uncorrelated


@functools.lru_cache(maxsize=None)
def _covariances(length=1024):
    """Return |A(d, m)|^2 of :func:`degrees_of_freedom` for d = 0 and d = 1, m = 0, 1, ..."""
    from scipy import signal

    window = signal.get_window("hann", length)
    overlap = window[length // 2 :] * window[: length // 2]
    return [
        np.abs(np.fft.fft(product, length)[:_CORRELATED_FREQUENCIES]) ** 2 / np.sum(window**2) ** 2
        for product in (window**2, overlap)
    ]


def _bands(spectrum, per_decade):
    """Return the first index and the number of values of each non-empty frequency band."""
    band = np.floor(per_decade * np.log10(spectrum.frequency / spectrum.frequency[0]))
    _, first = np.unique(band, return_index=True)
    return first, np.diff(np.append(first, len(band)))


def variance_interval(degrees_of_freedom, level=0.95):
    """Return factors for the confidence interval of an estimated variance.

    For Gaussian values, the estimated variance divided by the true variance is distributed as a
    chi-square variate divided by its degrees of freedom.

    Parameters
    ----------
    degrees_of_freedom : array_like
        Degrees of freedom of the estimate.
    level : float, optional
        Confidence level.

    Returns
    -------
    lower, upper : float or ndarray
        Factors by which the estimate is multiplied to obtain the interval's limits.
    """
    from scipy import special

    half_freedom = 0.5 * np.asarray(degrees_of_freedom, dtype=float)
    tail = 0.5 * (1.0 - level)
    # A chi-square variate with k degrees of freedom is twice a gamma variate with shape k / 2.
    return half_freedom / special.gammaincinv(
        half_freedom, 1.0 - tail
    ), half_freedom / special.gammaincinv(half_freedom, tail)


MINIMUM_CORRELATION = 0.3  # smallest correlation of the yaw rates at which a shift is applied
_START_DELAYS = 41  # number of delays on a grid; the best of them is the initial value of the fit
_FITS = 3  # number of fits; each takes the error scale from the residuals of the previous one


class TimeShift(NamedTuple):
    """Delay of a signal relative to a reference, with their correlation at this delay.

    Parameters
    ----------
    shift : float
        Delay [s], positive for a late signal: signal(t) corresponds to reference(t - shift).
        Subtract the delay from the signal's stamps. Zero if there is a problem.
    correlation : float
        Correlation coefficient of the yaw rates at this shift.
    problem : str
        Reason why no shift was found; empty if one was found.
    """

    shift: float
    correlation: float
    problem: str = ""


def find_time_shift(signal_time, signal_yaw, reference_time, reference_yaw, max_shift) -> TimeShift:
    """Find the delay between two yaw signals by cross-correlation of their yaw rates.

    Yaw rates are used because two yaws that continually drift or turn are always correlated.
    The coefficient of each lag is normalised by the energy of the overlapping part. A parabola
    through the largest coefficient and its neighbours gives the delay to a fraction of a sample.

    Parameters
    ----------
    signal_time : array_like, shape (n,)
        Strictly ascending stamps of the signal [s].
    signal_yaw : array_like, shape (n,)
        Yaw of the signal [rad], wrapped or not.
    reference_time : array_like, shape (m,)
        Strictly ascending stamps of the reference [s].
    reference_yaw : array_like, shape (m,)
        Yaw of the reference [rad], wrapped or not.
    max_shift : float
        Largest shift in either direction [s].

    Returns
    -------
    TimeShift
        The delay of the signal.
    """
    signal_time = np.asarray(signal_time, dtype=float)
    reference_time = np.asarray(reference_time, dtype=float)
    too_few = TimeShift(0.0, 0.0, "there are too few samples for time alignment")
    if min(len(signal_time), len(reference_time)) < 2:
        return too_few
    rate = max(median_rate(signal_time), median_rate(reference_time))
    start = max(signal_time[0], reference_time[0])
    stop = min(signal_time[-1], reference_time[-1])
    if (stop - start) * rate < MINIMUM_SAMPLES:
        return too_few
    grid = uniform_grid(start, stop, rate)

    def yaw_rate(time, yaw):
        rates = np.gradient(np.interp(grid, time, angles.unwrap(yaw))) * rate
        return rates - np.mean(rates)

    late, reference = yaw_rate(signal_time, signal_yaw), yaw_rate(reference_time, reference_yaw)
    # A shift by more than half the duration would compare different parts of the drive.
    largest_lag = min(int(np.ceil(max_shift * rate)), len(grid) // 2)
    lags = np.arange(-largest_lag, largest_lag + 1)
    correlation = normalised_correlation(late, reference, lags)
    best = int(np.argmax(correlation))
    highest = float(correlation[best])
    if highest < MINIMUM_CORRELATION:
        problem = f"the highest correlation of the yaw rates is {highest:.2f}, but at least "
        problem += f"{MINIMUM_CORRELATION:g} is needed for time alignment"
        return TimeShift(0.0, highest, problem)
    if best in (0, len(lags) - 1):
        problem = (
            f"the yaw rates match best at the largest permitted shift, {max_shift:g} s, so no "
            "shift "
        )
        return TimeShift(0.0, highest, problem + "was applied; permit a larger shift")
    return TimeShift(float((lags[best] + parabola_peak(correlation, best)) / rate), highest)


def estimate_delay(times, increments, integral, used, largest) -> tuple[float, float]:
    """Estimate the delay of a signal, given by its integral, relative to measured increments.

    The estimate is a robust least-squares fit. Unlike a correlation, the fit also yields a standard
    deviation of the delay.

    Parameters
    ----------
    times : ndarray, shape (n,)
        Times of the measurements [s].
    increments : ndarray, shape (n - 1, m)
        Measured increments between these times.
    integral : callable
        Function of k times [s] that returns the integral of the signal, shape (k, m).
    used : ndarray of bool, shape (n - 1,)
        Mask of the increments that are used.
    largest : float
        Largest delay in either direction [s].

    Returns
    -------
    delay : float
        Delay [s]; 0 if the data do not determine it.
    deviation : float
        Standard deviation of the delay [s]; infinite if the data do not determine it.
    """
    from scipy.optimize import least_squares

    used = used & (times[:-1] > times[0] + largest) & (times[1:] < times[-1] - largest)

    def residuals(delay):
        return (increments - np.diff(integral(times + delay), axis=0))[used].ravel()

    if np.count_nonzero(used) < MINIMUM_SAMPLES:
        return 0.0, np.inf
    # The grid is needed because a periodic motion has several local minima.
    delays = np.linspace(-largest, largest, _START_DELAYS)
    delay = delays[np.argmin([np.abs(residuals(start)).sum() for start in delays])]
    limits = -largest, largest
    # The error scale is estimated again after each fit, since the first residuals are large.
    for _ in range(_FITS):
        # For Gaussian values, the standard deviation is 1.4826 times the median absolute deviation.
        size = max(1.4826 * float(np.median(np.abs(residuals(delay)))), 1e-9)
        fit = least_squares(
            residuals, delay, bounds=limits, loss="soft_l1", f_scale=size, diff_step=1e-3
        )
        delay = float(fit.x[0])
    squares = float(np.sum(fit.jac**2))
    if squares == 0.0 or abs(delay) > 0.99 * largest:
        return 0.0, np.inf
    return delay, size / np.sqrt(squares)


def parabola_peak(values, best) -> float:
    """Return the offset from the largest sample to the peak of a parabola through three samples.

    Parameters
    ----------
    values : ndarray, shape (n,)
        Samples of a curve.
    best : int
        Index of the largest sample.

    Returns
    -------
    float
        Offset in samples, from -0.5 to 0.5; 0 at the ends, where a neighbour is missing.
    """
    if not 0 < best < len(values) - 1:
        return 0.0
    left, peak, right = values[best - 1 : best + 2]
    curvature = left - 2.0 * peak + right
    return float(0.5 * (left - right) / curvature) if curvature < 0.0 else 0.0


def normalised_correlation(delayed, reference, lags):
    """Return the correlation coefficients of two signals at several lags.

    Parameters
    ----------
    delayed, reference : ndarray, shape (n,) and (m,)
        Signals with the same sample rate.
    lags : ndarray of int
        Lags in samples.

    Returns
    -------
    ndarray
        For each lag, the correlation coefficient of delayed[k + lag] and reference[k] over their
        overlap; 0 where the overlap has no energy.
    """
    from scipy import signal

    count = len(reference)
    products = signal.correlate(delayed, reference, mode="full", method="fft")[lags + count - 1]
    late_energy = np.concatenate(([0.0], np.cumsum(delayed**2)))
    reference_energy = np.concatenate(([0.0], np.cumsum(reference**2)))
    first_late = np.maximum(lags, 0)
    first_reference = np.maximum(-lags, 0)
    overlap = np.minimum(len(delayed) - first_late, count - first_reference)
    energy = (late_energy[first_late + overlap] - late_energy[first_late]) * (
        reference_energy[first_reference + overlap] - reference_energy[first_reference]
    )
    return np.divide(
        products, np.sqrt(energy), out=np.zeros_like(products), where=energy > 1e-24 * count**2
    )
