"""Recorded signals: their power spectral density, and how late one is against another."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from . import angles

MINIMUM_SAMPLES = 16
"""Fewer samples have no spectrum worth drawing, and show no delay."""


@dataclass(frozen=True)
class Spectrum:
    """One-sided power spectral density and how it was estimated.

    ``frequency`` (n,): [Hz], ascending, without zero; ``density`` (..., n): unit of the signal
    squared, per Hz; its integral is the signal's variance; ``rate``: of the uniform grid's samples
    [Hz]; ``segment_length``: samples in one segment, a power of two; ``segments``: how many
    half-overlapping ones were averaged. With a single one each value scatters by 100 %: average
    over neighbouring frequencies before judging.
    """

    frequency: np.ndarray
    density: np.ndarray
    rate: float
    segment_length: int
    segments: int


def median_rate(time) -> float:
    """Sample rate [Hz] that belongs to the median step of ascending times [s]."""
    return 1.0 / float(np.median(np.diff(time)))


def uniform_grid(start, stop, rate) -> np.ndarray:
    """Return times [s] from ``start`` in steps of 1 / rate that do not pass ``stop``."""
    # A stop that is a whole number of steps away must not be lost to rounding.
    count = int(np.floor((stop - start) * rate + 1e-6)) + 1
    return np.minimum(start + np.arange(count) / rate, stop)


def power_spectral_density(time, values, detrend="constant"):
    """Estimate the power spectral density by Welch's method.

    The signal is brought to a uniform grid by linear interpolation, then cut into
    half-overlapping segments with a Hann window. A segment is as long as a power of two
    can be, because the slow part of a heading error is what matters and only a long
    segment resolves it.

    ``time`` (n,): strictly ascending times [s]. ``values`` (..., n): the signal, or several of the
    same times. ``detrend`` ({"constant", "linear"}): what is taken out of each segment. A heading
    that turns on and on needs "linear".

    What is returned is a :class:`Spectrum`, None if there are fewer than 16 samples.
    P. D. Welch, The use of fast Fourier transform for the estimation of power spectra,
    IEEE Trans. Audio Electroacoust. 15 (1967) 70-73.
    """
    from scipy import signal

    time = np.asarray(time, dtype=float)
    values = np.asarray(values, dtype=float)
    if len(time) < MINIMUM_SAMPLES:
        return None
    rate = median_rate(time)
    uniform = _interpolated(uniform_grid(time[0], time[-1], rate), time, values)
    length = uniform.shape[-1]
    if length < MINIMUM_SAMPLES:
        return None
    segment_length = 2 ** int(np.log2(length))
    frequency, density = signal.welch(
        uniform, fs=rate, window="hann", nperseg=segment_length, detrend=detrend
    )
    segments = (length - segment_length) // (segment_length // 2) + 1
    return Spectrum(frequency[1:], density[..., 1:], rate, segment_length, segments)


def _interpolated(grid, time, values):
    if values.ndim == 1:
        return np.interp(grid, time, values)
    if len(grid) == len(time) and np.allclose(grid, time, rtol=0.0, atol=1e-9):
        return values
    after = np.clip(np.searchsorted(time, grid), 1, len(time) - 1)
    part = (grid - time[after - 1]) / (time[after] - time[after - 1])
    return values[..., after - 1] * (1.0 - part) + values[..., after] * part


def logarithmic_average(spectrum, per_decade=40):
    """Average a density within bands of equal width on a logarithmic axis.

    At low frequencies, where a band holds one value, nothing changes; at high
    frequencies a band averages hundreds, so the scatter falls while power is kept.

    ``per_decade``: bands per factor of ten. Returned are the mean frequency of each band that is
    not empty [Hz], and the mean density (..., bands) of the band.
    """
    first, count = _bands(spectrum, per_decade)
    return (
        np.add.reduceat(spectrum.frequency, first) / count,
        np.add.reduceat(spectrum.density, first, axis=-1) / count,
    )


def confidence_factors(spectrum, per_decade=40, level=0.95):
    """Factors between which the true density lies, for :func:`logarithmic_average`'s densities.

    Returned are a lower and an upper factor for each band; the density times these is the interval
    of the confidence ``level``.
    """
    _, counts = _bands(spectrum, per_decade)
    freedom = [degrees_of_freedom(spectrum.segments, int(count)) for count in counts]
    return variance_interval(freedom, level)


def degrees_of_freedom(segments, values) -> float:
    """Of a density averaged over half-overlapping segments and neighbouring frequencies.

    Two values of the periodogram of a locally flat Gaussian process have the covariance
    ``density^2 |A(d, m)|^2``, d segments and m frequencies apart, with

        A(d, m) = sum_t w(t) w(t + d S) exp(2 pi i m t / L) / sum_t w(t)^2

    for a window w of length L and segments that begin S = L / 2 after each other. For one
    frequency that is Welch's equation for overlapping segments: 36 / 19 degrees a segment for
    many of them. Of the two lowest frequencies, from which the mean or trend was taken, the
    values scatter somewhat less.

    ``segments``, ``values``: how many were averaged.

    What is returned is twice the squared mean over the variance, 2 for a single value.
    P. D. Welch, IEEE Trans. Audio Electroacoust. 15 (1967) 70-73; D. B. Percival, A. T. Walden,
    Spectral Analysis for Physical Applications (1993), on overlapped segment averaging.
    """
    apart = np.arange(1, min(values, _RELATED) + 1) - 1
    weights = np.where(apart == 0, 1.0, 2.0) * (1.0 - apart / values)
    same, adjacent = _covariances()
    variance = float(weights @ same[apart])
    variance += 2.0 * (1.0 - 1.0 / segments) * float(weights @ adjacent[apart])
    return 2.0 * segments * values / variance


_RELATED = 16  # values that are so many frequencies apart have nothing in common any more


@functools.lru_cache(maxsize=None)
def _covariances(length=1024):
    """|A(d, m)|^2 for segments d = 0, 1 apart and frequencies m = 0, 1, ... apart."""
    from scipy import signal

    window = signal.get_window("hann", length)
    overlap = window[length // 2 :] * window[: length // 2]
    return [
        np.abs(np.fft.fft(product, length)[:_RELATED]) ** 2 / np.sum(window**2) ** 2
        for product in (window**2, overlap)
    ]


def _bands(spectrum, per_decade):
    """Return the first value of each band that is not empty, and how many values it has."""
    band = np.floor(per_decade * np.log10(spectrum.frequency / spectrum.frequency[0]))
    _, first = np.unique(band, return_index=True)
    return first, np.diff(np.append(first, len(band)))


def variance_interval(degrees_of_freedom, level=0.95):
    """Return factors between which the true variance lies, for one estimated.

    The estimate times these factors is the interval: that of a variance of Gaussian values, whose
    estimate over the truth has a chi-square distribution over its degrees of freedom.

    ``degrees_of_freedom`` (array_like). ``level``: of confidence. Returned are a lower and an upper
    factor.
    """
    from scipy import special

    half = 0.5 * np.asarray(degrees_of_freedom, dtype=float)
    tail = 0.5 * (1.0 - level)
    # The quantile of chi-square is twice that of a gamma distribution of half the freedom.
    return half / special.gammaincinv(half, 1.0 - tail), half / special.gammaincinv(half, tail)


MINIMUM_CORRELATION = 0.3  # below it two headings have too little in common for a shift
_TRIED = 41  # delays from which the best one begins a fit
_FITS = 3  # of a delay, each with the misfit that the one before has left as the size of errors


class TimeShift(NamedTuple):
    """A delay and how well it is supported.

    ``shift`` [s] is positive when the signal is late: signal(t) looks like
    reference(t - shift), so ``shift`` is to be subtracted from the signal's stamps.
    ``correlation`` is the coefficient of the yaw rates at that shift. ``problem`` is
    empty, or a sentence that says why no shift was found; then ``shift`` is zero.
    """

    shift: float
    correlation: float
    problem: str = ""


def find_time_shift(signal_time, signal_yaw, reference_time, reference_yaw, max_shift) -> TimeShift:
    """Find the delay of a heading against another by cross-correlation of yaw rates.

    Rates are correlated rather than headings, for a heading that drifts, or that turns on
    and on, correlates with any other. Each lag's coefficient is normalised by the energy
    of the part that overlaps, and a parabola through the largest and its neighbours gives
    a fraction of a sample.

    ``signal_time``, ``reference_time`` (array_like): strictly ascending stamps [s]. ``signal_yaw``,
    ``reference_yaw`` (array_like): headings [rad]; any multiple of a full turn may be added to a
    sample. ``max_shift`` (float): largest shift looked for, to either side [s].
    """
    signal_time = np.asarray(signal_time, dtype=float)
    reference_time = np.asarray(reference_time, dtype=float)
    too_few = TimeShift(0.0, 0.0, "there are too few samples to align in time")
    if min(len(signal_time), len(reference_time)) < 2:
        return too_few
    rate = max(median_rate(signal_time), median_rate(reference_time))
    start = max(signal_time[0], reference_time[0])
    stop = min(signal_time[-1], reference_time[-1])
    if (stop - start) * rate < MINIMUM_SAMPLES:
        return too_few
    grid = uniform_grid(start, stop, rate)

    def yaw_rate(time, yaw):
        turning = np.gradient(np.interp(grid, time, angles.unwrap(yaw))) * rate
        return turning - np.mean(turning)

    late, reference = yaw_rate(signal_time, signal_yaw), yaw_rate(reference_time, reference_yaw)
    # More than half the drive as a shift would compare two different drives.
    largest_lag = min(int(np.ceil(max_shift * rate)), len(grid) // 2)
    lags = np.arange(-largest_lag, largest_lag + 1)
    correlation = normalised_correlation(late, reference, lags)
    best = int(np.argmax(correlation))
    found = float(correlation[best])
    if found < MINIMUM_CORRELATION:
        problem = f"the yaw rates correlate by {found:.2f} at best, at least "
        problem += f"{MINIMUM_CORRELATION:g} is needed to align in time"
        return TimeShift(0.0, found, problem)
    if best in (0, len(lags) - 1):
        problem = f"the yaw rates fit best at the largest shift allowed, {max_shift:g} s, so none "
        return TimeShift(0.0, found, problem + "was applied; allow a larger one")
    return TimeShift(float((lags[best] + parabola_peak(correlation, best)) / rate), found)


def estimate_delay(times, increments, integral, used, largest) -> tuple[float, float]:
    """Return how late an integral is against measured increments, and its standard deviation.

    The delay [s] that brings them nearest to each other, by robust least squares. Unlike a
    correlation it says how sure it is. 0 and an infinite deviation where nothing tells.

    ``times`` (n,) [s]; ``increments`` (n - 1, m) of what the ``integral``, a function of k times
    that returns (k, m), should have changed by between them; ``used`` (n - 1,): which of them
    count. ``largest`` delay, to either side [s].
    """
    from scipy.optimize import least_squares

    used = used & (times[:-1] > times[0] + largest) & (times[1:] < times[-1] - largest)

    def apart(delay):
        return (increments - np.diff(integral(times + delay), axis=0))[used].ravel()

    if np.count_nonzero(used) < MINIMUM_SAMPLES:
        return 0.0, np.inf
    # A motion that repeats itself has several delays that fit better than their neighbours.
    tried = np.linspace(-largest, largest, _TRIED)
    delay = tried[np.argmin([np.abs(apart(one)).sum() for one in tried])]
    limits = -largest, largest
    # A delay makes the misfit large, whose size is that without it.
    for _ in range(_FITS):
        size = max(1.4826 * float(np.median(np.abs(apart(delay)))), 1e-9)
        found = least_squares(
            apart, delay, bounds=limits, loss="soft_l1", f_scale=size, diff_step=1e-3
        )
        delay = float(found.x[0])
    squares = float(np.sum(found.jac**2))
    if squares == 0.0 or abs(delay) > 0.99 * largest:
        return 0.0, np.inf
    return delay, size / np.sqrt(squares)


def parabola_peak(values, best) -> float:
    """Return how far beside the index of the largest value the parabola through it has its peak.

    In samples, at most half a one; 0 at the ends, where there is no neighbour.
    """
    if not 0 < best < len(values) - 1:
        return 0.0
    before, peak, after = values[best - 1 : best + 2]
    curvature = before - 2.0 * peak + after
    return float(0.5 * (before - after) / curvature) if curvature < 0.0 else 0.0


def normalised_correlation(late, reference, lags):
    """Return the coefficient of late[k + lag] with reference[k] over the k where both exist.

    They may be of different lengths.
    """
    from scipy import signal

    count = len(reference)
    products = signal.correlate(late, reference, mode="full", method="fft")[lags + count - 1]
    late_energy = np.concatenate(([0.0], np.cumsum(late**2)))
    reference_energy = np.concatenate(([0.0], np.cumsum(reference**2)))
    first_late = np.maximum(lags, 0)
    first_reference = np.maximum(-lags, 0)
    overlap = np.minimum(len(late) - first_late, count - first_reference)
    energy = (late_energy[first_late + overlap] - late_energy[first_late]) * (
        reference_energy[first_reference + overlap] - reference_energy[first_reference]
    )
    return np.divide(
        products, np.sqrt(energy), out=np.zeros_like(products), where=energy > 1e-24 * count**2
    )
