"""Power spectral density of a recorded signal."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import signal

MINIMUM_SAMPLES = 16
"""Fewer samples have no spectrum worth drawing."""


@dataclass(frozen=True)
class Spectrum:
    """One-sided power spectral density and how it was estimated.

    Attributes
    ----------
    frequency : ndarray, shape (n,)
        Hz, ascending, without zero.
    density : ndarray, shape (n,)
        Unit of the signal squared, per Hz; its integral is the signal's variance.
    rate : float
        Sample rate [Hz] of the uniform grid.
    segment_length : int
        Samples in one segment, a power of two.
    segments : int
        Number of half-overlapping segments that were averaged. With a single one each
        value scatters by 100 %: average over neighbouring frequencies before judging.
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
    """Times [s] from ``start`` in steps of 1 / rate that do not pass ``stop``."""
    # A stop that is a whole number of steps away must not be lost to rounding.
    count = int(np.floor((stop - start) * rate + 1e-6)) + 1
    return np.minimum(start + np.arange(count) / rate, stop)


def power_spectral_density(time, values, detrend="constant"):
    """Estimate the power spectral density by Welch's method.

    The signal is brought to a uniform grid by linear interpolation, then cut into
    half-overlapping segments with a Hann window. A segment is as long as a power of two
    can be, because the slow part of a heading error is what matters and only a long
    segment resolves it.

    Parameters
    ----------
    time : array_like, shape (n,)
        Strictly ascending times [s].
    values : array_like, shape (n,)
        The signal.
    detrend : {"constant", "linear"}
        What is taken out of each segment. A heading that turns on and on needs "linear".

    Returns
    -------
    Spectrum or None
        None if there are fewer than 16 samples.

    References
    ----------
    P. D. Welch, The use of fast Fourier transform for the estimation of power spectra,
    IEEE Trans. Audio Electroacoust. 15 (1967) 70-73.
    """
    time = np.asarray(time, dtype=float)
    values = np.asarray(values, dtype=float)
    if len(time) < MINIMUM_SAMPLES:
        return None
    rate = median_rate(time)
    uniform = np.interp(uniform_grid(time[0], time[-1], rate), time, values)
    if len(uniform) < MINIMUM_SAMPLES:
        return None
    segment_length = 2 ** int(np.log2(len(uniform)))
    frequency, density = signal.welch(
        uniform, fs=rate, window="hann", nperseg=segment_length, detrend=detrend
    )
    half = segment_length // 2
    return Spectrum(
        frequency=frequency[1:],
        density=density[1:],
        rate=rate,
        segment_length=segment_length,
        segments=(len(uniform) - segment_length) // half + 1,
    )


def logarithmic_average(spectrum, per_decade=40):
    """Average a density within bands of equal width on a logarithmic axis.

    At low frequencies, where a band holds one value, nothing changes; at high
    frequencies a band averages hundreds, so the scatter falls while power is kept.

    Parameters
    ----------
    spectrum : Spectrum
    per_decade : int
        Bands per factor of ten.

    Returns
    -------
    frequency : ndarray
        Mean frequency of each band that is not empty [Hz].
    density : ndarray
        Mean density of the band.
    """
    band = np.floor(per_decade * np.log10(spectrum.frequency / spectrum.frequency[0]))
    _, first = np.unique(band, return_index=True)
    count = np.diff(np.append(first, len(band)))
    return (
        np.add.reduceat(spectrum.frequency, first) / count,
        np.add.reduceat(spectrum.density, first) / count,
    )
