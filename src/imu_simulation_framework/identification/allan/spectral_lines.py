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
_ROUNDS = 3
_LEAST_SHARE = 0.25
_SEGMENTS_AT_ONCE = 30


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
        Without lines.
    lines : tuple of SpectralLine
        The strongest first.
    """
    longest = max(len(part) for part in parts)
    segment = min(round(_SEGMENT * rate), longest // _SEGMENTS) // 2 * 2
    parts, found = list(parts), ()
    if segment < _LEAST_SEGMENT:
        return parts, found
    # Of a strong line the first round leaves some at the ends, which the next finds.
    for _ in range(_ROUNDS):
        frequencies, power, count = _spectrum(parts, rate, segment)
        background = _background(power)
        freedom = 2.0 * max(1.0, _INDEPENDENT * count)
        high = power / background > _CLEARLY * chi2.isf(_LEVEL, freedom) / freedom
        high[:_LEAST_BACKGROUND] = False
        if not high.any():
            break
        # The bins beside hold what the window spreads there.
        touched = _groups(np.convolve(high, np.ones(3), mode="same") > 0.0)
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
            frequencies, power = welch(
                piece, rate, nperseg=segment, window="hann", detrend="linear", average="mean"
            )
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
        last = min(len(power), max(first + _LEAST_BACKGROUND, int(first * 1.26)))
        width = max(_LEAST_BACKGROUND, round(_BACKGROUND * last)) | 1
        low, high = max(0, first - width), min(len(power), last + width)
        filtered = median_filter(power[low:high], size=width, mode="reflect")
        background[first:last] = filtered[first - low : last - low]
        first = last
    return background


def _groups(chosen):
    """Return places of the chosen bins, those that are close together in one array."""
    places = np.flatnonzero(chosen)
    return np.split(places, np.flatnonzero(np.diff(places) > _JOINED) + 1)


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
        taken[places] = filtered[begin : begin + len(places)] / np.maximum(share, _LEAST_SHARE)
    return taken


def _centred(values):
    """Return periodic values with lag 0 in the middle, one more of them than there were."""
    values = np.roll(values, len(values) // 2)
    return np.append(values, values[0])
