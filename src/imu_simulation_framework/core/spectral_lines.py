"""Narrow lines in the noise of a sensor at rest: mains, fans, a pump, the sensor's own clocks.

A line of amplitude a and frequency f adds ``a^2 sin^4(pi f tau) / (pi f tau)^2`` to the Allan
variance: ripples that none of the standard noise terms has, and that a fit takes for them. Lines
are found in the power spectrum, as bins far above the background around them, and taken out by a
filter that scales just these bins back to the background. Taken out to nothing, they would leave
a hole, which shows at averaging times around a line of low frequency.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.ndimage import median_filter
from scipy.signal import oaconvolve, welch
from scipy.stats import chi2

_SEGMENT = 330.0  # s
_SEGMENTS = 8
_LEAST_SEGMENT = 1000
_BACKGROUND = 0.05
_LEAST_BACKGROUND = 20
_LEVEL = 1e-3
_CLEARLY = 1.3
# Hann windows that overlap by half: so many independent segments each counts for.
_INDEPENDENT = 0.95
# Bins this close to each other belong to one line, that of a clock that wanders.
_JOINED = 3


@dataclass(frozen=True)
class SpectralLine:
    """A narrow line.

    Attributes
    ----------
    frequency : float
        [Hz]; a line above half the rate shows below it, mirrored.
    amplitude : float
        Of the sine with the same power [unit].
    """

    frequency: float
    amplitude: float


def remove_lines(parts, rate):
    """Scale narrow lines back to the background of the spectrum.

    Parameters
    ----------
    parts : sequence of ndarray, shape (n,)
        Contiguous samples [unit].
    rate : float
        [Hz]

    Returns
    -------
    parts : list of ndarray
        Without lines. If there were any, each is shorter by half a segment at both ends, where
        the filter would miss samples, and parts that are too short for that are left out.
    lines : tuple of SpectralLine
        The strongest first.
    """
    longest = max(len(part) for part in parts)
    segment = min(round(_SEGMENT * rate), longest // _SEGMENTS) // 2 * 2
    if segment < _LEAST_SEGMENT:
        return list(parts), ()
    frequencies, power, count = _spectrum(parts, rate, segment)
    background = _background(power)
    ratio = power / background
    freedom = 2.0 * max(1.0, _INDEPENDENT * count)
    high = ratio > _CLEARLY * chi2.isf(_LEVEL, freedom) / freedom
    high[:_LEAST_BACKGROUND] = False
    if not high.any():
        return list(parts), ()
    lines = _lines(frequencies, power - background, high)
    # The bins beside hold what the window spreads there.
    touched = np.convolve(high, np.ones(3), mode="same") > 0.0
    gains = np.where(touched, np.sqrt(np.minimum(1.0, background / power)), 1.0)
    impulse = _impulse_response(gains, segment)
    kept = [part for part in parts if len(part) >= 2 * segment]
    return [oaconvolve(part - np.mean(part), impulse, mode="valid") for part in kept], lines


def _spectrum(parts, rate, segment):
    """Mean of the one-sided Welch spectra of all parts, and how many segments it is made of."""
    total, count = 0.0, 0
    for part in parts:
        if len(part) < segment:
            continue
        frequencies, power = welch(
            part, rate, nperseg=segment, window="hann", detrend="linear", average="mean"
        )
        segments = (len(part) - segment // 2) // (segment // 2)
        total = total + segments * power
        count += segments
    return frequencies, total / count, count


def _background(power):
    """Running median over 5 % of the frequency on either side taken together."""
    background = np.empty_like(power)
    first = 0
    # The window grows with the frequency: a filter for each third of an octave.
    while first < len(power):
        last = min(len(power), max(first + _LEAST_BACKGROUND, int(first * 1.26)))
        width = max(_LEAST_BACKGROUND, round(_BACKGROUND * last)) | 1
        low, high = max(0, first - width), min(len(power), last + width)
        filtered = median_filter(power[low:high], size=width, mode="reflect")
        background[first:last] = filtered[first - low : last - low]
        first = last
    return background


def _lines(frequencies, excess, high):
    """Lines of bins that are close together."""
    places = np.flatnonzero(high)
    groups = np.split(places, np.flatnonzero(np.diff(places) > _JOINED) + 1)
    step = frequencies[1]
    lines = []
    for group in groups:
        power = excess[group]
        lines.append(
            SpectralLine(
                float((power * frequencies[group]).sum() / power.sum()),
                float(np.sqrt(2.0 * power.sum() * step)),
            )
        )
    return tuple(sorted(lines, key=lambda line: -line.amplitude))


def _impulse_response(gains, segment):
    """Symmetric impulse response, one sample longer than the segment, of a filter.

    Only what is to be taken out is windowed, so that everything else passes as it is.
    """
    taken = np.fft.irfft(1.0 - gains, segment)
    taken = np.roll(taken, segment // 2)
    response = -np.append(taken, taken[0])
    response *= np.hanning(segment + 1)
    response[segment // 2] += 1.0
    return response
