"""Bands of an ensemble, and one p-value for a whole curve.

Bands of an ensemble, each for one moment: what so much of the simulated errors lie within.

One p-value for a whole curve against an ensemble of curves: a global envelope test.

Each curve's value at each time has a rank, counted from the nearer end of all values at that time,
equal values sharing their mean rank. A curve's sorted ranks say how extreme it is: of two curves
the one whose smallest rank is smaller; if they are equal, the one that has it more often, and so
on (extreme rank length). Nothing is supposed of the curves but that under the model the observed
one might be any of them, so the p-value is exact for any number of runs.

References
----------
M. Myllymaki, T. Mrkvicka, P. Grabarnik, H. Seijo, U. Hahn, Global envelope tests for spatial
processes, J. R. Stat. Soc. B 79 (2017) 381-404: the extreme rank length, their section 4.
T. Mrkvicka, M. Myllymaki, M. Jilek, U. Hahn, A one-way ANOVA test for functional data with
graphical interpretation, Kybernetika 56 (2020) 432-458: the envelope that belongs to it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from imu_simulation_framework.core.errors import EnsembleError
from imu_simulation_framework.heading.judgement.tests import blocks_of_runs, blocks_of_time

LEVELS = (0.5, 0.95, 0.99)


@dataclass(frozen=True)
class PointwiseBand:
    """Between these quantiles lies this part of the ensemble, at each time for itself.

    A curve leaves its pointwise 95 % band somewhere much more often than once in 20 times; for the
    whole curve at once there is :class:`.GlobalEnvelope`.

    ``level``: part of the ensemble. ``low``, ``high`` (samples,).
    """

    level: float
    low: np.ndarray
    high: np.ndarray


def pointwise_bands(ensemble, levels=LEVELS):
    """Return the ensemble's median and its central bands.

    ``ensemble`` (runs, samples). ``levels`` (sequence of float): parts of the ensemble. Returns
    ``median`` (samples,); ``bands`` (list of PointwiseBand).
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


@dataclass(frozen=True)
class GlobalEnvelope:
    """The simultaneous band of an ensemble and an observed curve's place in it.

    The level holds for the observed curve, which takes part in the order. A new curve leaves the
    hull of the others somewhat more often, the fewer runs there are, the more: with random walks of
    60 samples 8 % of them leave the 95 % envelope of 2000 runs, and 5 % that of 40 000.

    ``level``: probability that a curve of the model stays within the envelope all the time.
    ``p_value``: ``(1 + as_extreme) / (runs + 1)``. It is at most ``1 - level`` exactly if the
    observed curve is none of those whose hull the envelope is; then it leaves it somewhere.
    ``as_extreme``: how many simulated curves are at least as extreme as the observed one. ``low``,
    ``high`` (samples,): hull of the least extreme curves, the observed one among them if it belongs
    to them.
    """

    level: float
    p_value: float
    as_extreme: int
    runs: int
    low: np.ndarray
    high: np.ndarray


def fewest_runs(level, looks=1) -> int:
    """How many runs it takes that one of so many looks can have a p-value of ``1 - level``."""
    return int(np.ceil(looks / (1.0 - level) - 1e-9)) - 1


def global_envelope(observed, ensemble, level=0.95) -> GlobalEnvelope:
    """Test a curve against an ensemble, over its whole length at once.

    Memory: beside the ensemble 2 bytes a value (4 from 32 767 runs on), and some megabytes.

    ``observed`` (samples,). ``ensemble`` (runs, samples). ``level``: of the envelope. Raises
    EnsembleError if there are so few runs that the test could never refute at this level.
    """
    observed, ensemble = np.asarray(observed), np.asarray(ensemble)
    runs = len(ensemble)
    if runs < fewest_runs(level):
        raise EnsembleError(
            f"{runs} simulated drives cannot refute anything at {100.0 * level:g} %, it takes at "
            f"least {fewest_runs(level)}"
        )
    keys = extreme_rank_lengths(observed, ensemble)
    as_extreme = sum(key <= keys[0] for key in keys[1:])
    threshold = sorted(keys)[int(np.floor((1.0 - level) * (runs + 1) + 1e-9))]
    kept = np.array([key >= threshold for key in keys])
    low, high = (observed.copy(), observed.copy()) if kept[0] else (None, None)
    for rows in blocks_of_runs(ensemble):
        part = ensemble[rows][kept[1:][rows]]
        if len(part):
            smallest, largest = part.min(axis=0), part.max(axis=0)
            low = smallest if low is None else np.minimum(low, smallest)
            high = largest if high is None else np.maximum(high, largest)
    return GlobalEnvelope(
        level=level,
        p_value=(1 + as_extreme) / (runs + 1),
        as_extreme=as_extreme,
        runs=runs,
        low=np.asarray(low, dtype=float),
        high=np.asarray(high, dtype=float),
    )


def extreme_rank_lengths(observed, ensemble) -> list[bytes]:
    """Order curves by how extreme they are, a smaller key being more extreme, equal ones as much.

    ``observed`` (samples,). ``ensemble`` (runs, samples). The key of the observed curve, then those
    of the ensemble's.
    """
    count = len(ensemble) + 1
    # Twice a rank, for the mean rank of equal values may have a half. Bytes compare from the left,
    # so that the ranks' most significant ones come first.
    ranks = np.empty((count, ensemble.shape[1]), dtype=">u2" if count + 1 < 2**16 else ">u4")
    for samples in blocks_of_time(ensemble):
        # In the wider of both types: rounding an observed value would make ties.
        values = np.vstack([observed[np.newaxis, samples], ensemble[:, samples]])
        twice = np.rint(2.0 * rankdata(values.T, axis=1)).astype(np.int64).T
        ranks[:, samples] = np.minimum(twice, 2 * (count + 1) - twice)
    return [
        np.sort(row.astype(row.dtype.newbyteorder("="))).astype(row.dtype).tobytes()
        for row in ranks
    ]
