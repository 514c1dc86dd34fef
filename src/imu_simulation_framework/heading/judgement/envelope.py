"""Global envelope test of a complete curve, and pointwise bands.

At each time, the values of all curves are ranked from the nearer extreme, with mean ranks for ties.
A curve is more extreme than another if its smallest rank is smaller; if the smallest ranks are
equal, if it has them more often; and so on (extreme rank length). The only assumption is that under
the model, the observed curve is exchangeable with the simulated curves, so that the p-value is
exact for any number of runs.

References
----------
M. Myllymaki, T. Mrkvicka, P. Grabarnik, H. Seijo, U. Hahn, Global envelope tests for spatial
processes, J. R. Stat. Soc. B 79 (2017) 381-404: the extreme rank length in section 4.
T. Mrkvicka, M. Myllymaki, M. Jilek, U. Hahn, A one-way ANOVA test for functional data with
graphical interpretation, Kybernetika 56 (2020) 432-458: the envelope of this order.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ...core.errors import EnsembleError
from .blocks import ensemble_blocks

LEVELS = (0.5, 0.95, 0.99)


@dataclass(frozen=True)
class PointwiseBand:
    """Pointwise band, which contains a fraction of an ensemble at each time.

    A curve leaves its pointwise 95 % band at some time much more often than once in 20 drives;
    :class:`GlobalEnvelope` applies to the complete curve.

    Parameters
    ----------
    level : float
        Fraction of the ensemble.
    low, high : numpy.ndarray
        Quantiles, shape (samples,) each.
    """

    level: float
    low: np.ndarray
    high: np.ndarray


def pointwise_bands(
    ensemble: np.ndarray, levels: ArrayLike = LEVELS
) -> tuple[np.ndarray, list[PointwiseBand]]:
    """Compute the pointwise median and the pointwise central bands of an ensemble.

    Parameters
    ----------
    ensemble : numpy.ndarray
        Simulated errors, shape (runs, samples).
    levels : array_like, optional
        Fractions of the ensemble.

    Returns
    -------
    median : numpy.ndarray
        Median, shape (samples,).
    bands : list of PointwiseBand
        One band per level.
    """
    levels = np.asarray(levels, dtype=float)
    probabilities = np.concatenate([[0.5], 0.5 - 0.5 * levels, 0.5 + 0.5 * levels])
    quantiles = np.empty((len(probabilities), ensemble.shape[1]))
    for samples in ensemble_blocks(ensemble, 1):
        quantiles[:, samples] = np.quantile(ensemble[:, samples], probabilities, axis=0)
    count = len(levels)
    return quantiles[0], [
        PointwiseBand(float(level), quantiles[1 + place], quantiles[1 + count + place])
        for place, level in enumerate(levels)
    ]


@dataclass(frozen=True)
class GlobalEnvelope:
    """Simultaneous band of an ensemble, and the rank of an observed curve among its curves.

    The level applies to the observed curve, which takes part in the ranking. A new curve leaves the
    hull of the other curves more often, in particular with few runs: 8 % of random walks with 60
    samples leave the 95 % envelope of 2000 runs, and 5 % leave that of 40 000 runs.

    Parameters
    ----------
    level : float
        Probability that a curve of the model always stays within the envelope.
    p_value : float
        ``(1 + as_extreme) / (runs + 1)``. It is at most ``1 - level`` exactly if the observed curve
        is not among the least extreme curves; then the curve leaves their hull at some time.
    as_extreme : int
        Number of simulated curves that are at least as extreme as the observed one.
    runs : int
        Number of simulated curves.
    low, high : numpy.ndarray
        Hull of the least extreme curves, shape (samples,) each.
    """

    level: float
    p_value: float
    as_extreme: int
    runs: int
    low: np.ndarray
    high: np.ndarray


def fewest_runs(level: float, tests: int = 1) -> int:
    """Return the smallest number of runs with which one of several tests can reject a model.

    Parameters
    ----------
    level : float
        One minus the significance level.
    tests : int, optional
        Number of tests.

    Returns
    -------
    int
        Minimum number of runs.
    """
    return int(np.ceil(tests / (1.0 - level) - 1e-9)) - 1


def global_envelope(
    observed: ArrayLike, ensemble: np.ndarray, level: float = 0.95
) -> GlobalEnvelope:
    """Test a complete observed curve against an ensemble of simulated curves.

    The test takes 2 bytes of memory per value of the ensemble (4 bytes from 32 767 runs on), and a
    few megabytes.

    Parameters
    ----------
    observed : array_like
        Observed curve, shape (samples,).
    ensemble : numpy.ndarray
        Simulated curves, shape (runs, samples).
    level : float, optional
        Level of the envelope.

    Returns
    -------
    GlobalEnvelope

    Raises
    ------
    EnsembleError
        If the number of runs is too small to reject at this level.
    """
    observed, ensemble = np.asarray(observed), np.asarray(ensemble)
    runs = len(ensemble)
    if runs < fewest_runs(level):
        raise EnsembleError(
            f"{runs} simulated drives are too few for a test at the {100.0 * level:g} % level, "
            f"expected at least {fewest_runs(level)}"
        )
    keys = _extreme_rank_lengths(observed, ensemble)
    as_extreme = sum(key <= keys[0] for key in keys[1:])
    threshold = sorted(keys)[int(np.floor((1.0 - level) * (runs + 1) + 1e-9))]
    kept = np.array([key >= threshold for key in keys])
    low, high = (observed.copy(), observed.copy()) if kept[0] else (None, None)
    for rows in ensemble_blocks(ensemble):
        part = ensemble[rows][kept[1:][rows]]
        if len(part):
            smallest, largest = part.min(axis=0), part.max(axis=0)
            low = smallest if low is None else np.minimum(low, smallest)
            high = largest if high is None else np.maximum(high, largest)
    p_value, low, high = (1 + as_extreme) / (runs + 1), *(np.asarray(e, float) for e in (low, high))
    return GlobalEnvelope(level, p_value, as_extreme, runs, low, high)


def _extreme_rank_lengths(observed: np.ndarray, ensemble: np.ndarray) -> list[bytes]:
    """Return sort keys of observed and simulated curves, smaller for more extreme curves."""
    from scipy.stats import rankdata  # imported here, since the import takes half a second

    count = len(ensemble) + 1
    # Ranks are doubled, as mean ranks may be half-integers, and big-endian for byte comparison.
    ranks = np.empty((count, ensemble.shape[1]), dtype=">u2" if count + 1 < 2**16 else ">u4")
    for samples in ensemble_blocks(ensemble, 1):
        # The wider floating-point type is used, since rounding an observed value could create ties.
        values = np.vstack([observed[np.newaxis, samples], ensemble[:, samples]])
        twice = np.rint(2.0 * rankdata(values.T, axis=1)).astype(np.int64).T
        ranks[:, samples] = np.minimum(twice, 2 * (count + 1) - twice)
    return [
        np.sort(row.astype(row.dtype.newbyteorder("="))).astype(row.dtype).tobytes()
        for row in ranks
    ]
