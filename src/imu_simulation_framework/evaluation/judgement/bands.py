"""Bands of an ensemble, each for one moment: what so much of the simulated errors lie within."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from imu_simulation_framework.evaluation.judgement.ensemble import blocks_of_time

LEVELS = (0.5, 0.95, 0.99)


@dataclass(frozen=True)
class PointwiseBand:
    """Between these quantiles lies this part of the ensemble, at each time for itself.

    A curve leaves its pointwise 95 % band somewhere much more often than once in 20 times; for the
    whole curve at once there is :class:`.GlobalEnvelope`.

    Attributes
    ----------
    level : float
        Part of the ensemble.
    low, high : ndarray, shape (samples,)
    """

    level: float
    low: np.ndarray
    high: np.ndarray


def pointwise_bands(ensemble, levels=LEVELS):
    """Return the ensemble's median and its central bands.

    Parameters
    ----------
    ensemble : ndarray, shape (runs, samples)
    levels : sequence of float
        Parts of the ensemble.

    Returns
    -------
    median : ndarray, shape (samples,)
    bands : list of PointwiseBand
    """
    levels = np.asarray(levels, dtype=float)
    probabilities = np.concatenate([[0.5], 0.5 - 0.5 * levels, 0.5 + 0.5 * levels])
    quantiles = np.empty((len(probabilities), ensemble.shape[1]))
    for samples in blocks_of_time(ensemble):
        quantiles[:, samples] = np.quantile(ensemble[:, samples], probabilities, axis=0)
    count = len(levels)
    return quantiles[0], [
        PointwiseBand(float(level), quantiles[1 + place], quantiles[1 + count + place])
        for place, level in enumerate(levels)
    ]
