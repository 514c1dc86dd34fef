"""Statistics of a yaw error curve: final, maximum and rms error, drift and spectrum."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...core.error_statistics import edge_samples
from ...core.signals import Spectrum, logarithmic_average, power_spectral_density
from .blocks import ensemble_blocks

STATISTICS = {
    "final": ("final error", "deg"),
    "maximum": ("largest error", "deg"),
    "rms": ("rms error", "deg"),
    "drift": ("drift", "deg/min"),
}
"""Displayed name and unit of each statistic of a yaw error, except spectral densities."""

SIGNED = ("final", "drift")
"""Statistics with a sign; all others are non-negative."""

PSD = "psd "
"""Prefix of the names of power spectral densities within a frequency band."""

_BANDS_PER_DECADE = 1


def curve_statistics(
    time: np.ndarray,
    errors: np.ndarray,
    final_window: float = 3.0,
    spectrum: Spectrum | None = None,
) -> dict:
    """Compute the statistics by which yaw error curves are tested.

    ``final``, ``maximum``, ``rms`` and ``drift`` are defined as in :class:`.ErrorStatistics`, with
    the drift per minute; ``psd 0.01 to 0.1 Hz`` is the mean power spectral density within a decade
    of frequency.

    Parameters
    ----------
    time : numpy.ndarray
        Strictly ascending times, shape (samples,) [s].
    errors : numpy.ndarray
        Errors in any unit, shape (curves, samples).
    final_window : float, optional
        Length of the window at the end, whose median is the final value [s].
    spectrum : Spectrum, optional
        Power spectral densities of the errors, if they are already known.

    Returns
    -------
    dict of str to numpy.ndarray
        Statistics by name, shape (curves,), in the unit of the errors, per minute, or squared per
        Hz.
    """
    time, errors = np.asarray(time, dtype=float), np.asarray(errors)
    parts = []
    for rows in ensemble_blocks(errors):
        block = errors[rows].astype(float)
        if spectrum is None:
            block_spectrum = power_spectral_density(time, block)
        else:
            block_spectrum = replace(spectrum, density=spectrum.density[rows])
        parts.append(_statistics(time, block, final_window, block_spectrum))
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _statistics(
    time: np.ndarray, errors: np.ndarray, final_window: float, spectrum: Spectrum | None
) -> dict[str, np.ndarray]:
    centred = time - np.mean(time)
    mean = np.mean(errors, axis=1, keepdims=True)
    final = errors[:, -edge_samples(time, final_window, is_end=True) :]
    statistics = {
        "final": np.median(final, axis=1),
        "maximum": np.max(np.abs(errors), axis=1),
        "rms": np.sqrt(np.mean(errors**2, axis=1)),
        "drift": 60.0 * ((errors - mean) @ centred) / (centred @ centred),
    }
    if spectrum is None:
        return statistics
    frequency, density = logarithmic_average(spectrum, _BANDS_PER_DECADE)
    edges = spectrum.frequency[0] * 10.0 ** (np.arange(len(frequency) + 1) / _BANDS_PER_DECADE)
    edges[-1] = min(edges[-1], 0.5 * spectrum.rate)
    for low, high, values in zip(edges[:-1], edges[1:], density.T):
        statistics[f"{PSD}{low:.2g} to {high:.2g} Hz"] = values
    return statistics
