"""Means of a yaw error over bins of samples, with the covariances of its components.

The reference's error, a random walk and a transient of the IMU are Gaussian processes. Computing
their covariances between the means of 150 bins takes a fraction of the time for all samples.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..core.error_statistics import edge_samples
from ..core.stamps import find_gap_ends
from .reference_error import ReferenceError, walk_of_means

if TYPE_CHECKING:
    import pandas as pd

_MAX_BINS, _MAX_EDGE_BINS = 150, 10
"""Number of bins in total, and at each end; more bins hardly narrow the intervals."""
_TRANSIENT_TIME = 0.05
"""Correlation time of a transient in an IMU's yaw error, relative to the duration.

Tilting misaligned axes, for example, cause such a transient."""
_MAX_MEDIAN_SAMPLES = 500
"""Maximum number of samples from which the variance of a median is computed."""


class Bins(NamedTuple):
    """Partition of the samples of a yaw error into m bins.

    Attributes
    ----------
    samples : numpy.ndarray
        Indices of the used samples of the error, shape (n,).
    begins : numpy.ndarray
        Indices in ``samples`` at which the bins begin, shape (m,).
    """

    samples: np.ndarray
    begins: np.ndarray

    @property
    def counts(self) -> np.ndarray:
        """Number of samples in each bin, shape (m,)."""
        return np.diff(self.begins, append=len(self.samples))

    def means(self, curve: np.ndarray) -> np.ndarray:
        """Return the mean of a curve in each bin.

        Parameters
        ----------
        curve : ndarray, shape (n,)
            Samples of the curve.

        Returns
        -------
        ndarray, shape (m,)
            Means in the unit of the curve.
        """
        return np.add.reduceat(curve, self.begins) / self.counts


class Edge(NamedTuple):
    """Window at the start or end of a yaw error, over which a mean or median is computed.

    Attributes
    ----------
    weights : numpy.ndarray
        Weights of the bins in the mean over this edge, shape (m,).
    median_excess : float
        Variance of the median over this edge minus the variance of the mean [rad^2].
    """

    weights: np.ndarray
    median_excess: float


class PartCovariances(NamedTuple):
    """Covariances of the components of a binned yaw error.

    Attributes
    ----------
    reference : numpy.ndarray
        Covariance of the bin means of the reference's error, shape (m, m) [rad^2].
    reference_sample : numpy.ndarray
        Variance of a single sample of the reference's error in each bin, shape (m,) [rad^2].
    walk : numpy.ndarray
        Covariance of the bin means of a random walk with the final variance 1, shape (m, m).
    transient : numpy.ndarray
        Covariance of the bin means of a transient with the variance 1, shape (m, m).
    """

    reference: np.ndarray
    reference_sample: np.ndarray
    walk: np.ndarray
    transient: np.ndarray


@dataclass(frozen=True)
class BinnedError:
    """Bin means of a yaw error, and the covariances of its possible components.

    Parameters
    ----------
    bins : Bins
        The m bins.
    time, values, turn : numpy.ndarray
        Mean time [s], error [rad] and turn of the reference [rad] in each bin, shape (m,) each.
    start, end : Edge
        Start and end of the error.
    covariances : PartCovariances
        Covariances of the components.
    """

    bins: Bins
    time: np.ndarray
    values: np.ndarray
    turn: np.ndarray
    start: Edge
    end: Edge
    covariances: PartCovariances

    @classmethod
    def from_error(
        cls, error: pd.Series, reference: ReferenceError, start_window: float
    ) -> BinnedError:
        """Average a yaw error over bins, and compute the covariances of its components.

        Parameters
        ----------
        error : pandas.Series
            Unwrapped yaw error [rad], indexed by time [s].
        reference : ReferenceError
            Model of the reference's error, at times that include those of the error.
        start_window : float
            Length of the start and of the end window [s].

        Returns
        -------
        BinnedError
            The means and covariances.
        """
        times = error.index.to_numpy(dtype=float)
        samples = _decimate(times, reference.time)
        times, values = times[samples], error.to_numpy(dtype=float)[samples]
        first, last = (edge_samples(times, start_window, is_end) for is_end in (False, True))
        bins = Bins(samples, _bin_begins(times, first, last))
        turn = np.interp(times, reference.time, reference.turn)
        return cls(
            bins=bins,
            time=bins.means(times),
            values=bins.means(values),
            turn=bins.means(turn),
            start=_edge(bins, times, reference, bins.begins < first, times[:first]),
            end=_edge(
                bins, times, reference, bins.begins >= len(times) - last, times[len(times) - last :]
            ),
            covariances=_part_covariances(bins, times, reference),
        )

    @cached_property
    def share(self) -> np.ndarray:
        """Share of the samples in each bin, shape (m,)."""
        return self.bins.counts / len(self.bins.samples)

    @cached_property
    def size(self) -> float:
        """Standard deviation of the bin means [rad], by which component strengths are scaled."""
        return max(float(np.std(self.values)), 1e-9)


def _bin_begins(times: np.ndarray, first: int, last: int) -> np.ndarray:
    """Return each bin's first sample index; bins are finer at both ends and split at gaps."""
    count = len(times)
    stretches = (
        (0, count, _MAX_BINS),
        (0, first, _MAX_EDGE_BINS),
        (count - last, count, _MAX_EDGE_BINS),
    )
    begins = [
        np.linspace(begin, end, min(end - begin, most), endpoint=False).astype(int)
        for begin, end, most in stretches
    ]
    start_bins = [first] if first < count else []
    return np.unique(np.concatenate([*begins, start_bins, find_gap_ends(times)]).astype(int))


def _edge(
    bins: Bins, times: np.ndarray, reference: ReferenceError, inside: np.ndarray, places: np.ndarray
) -> Edge:
    weights = np.where(inside, bins.counts, 0) / len(places)
    noise = replace(reference, lag=0.0, turn_error=0.0, slip=0.0)
    covariance = noise.covariance_of_means(times, bins.begins)
    ratio = _median_variance_ratio(places, reference.correlation_time)
    return Edge(weights, (ratio - 1.0) * (weights @ covariance @ weights))


def _part_covariances(bins: Bins, times: np.ndarray, reference: ReferenceError) -> PartCovariances:
    std, rate, turn = (
        np.interp(times, reference.time, curve)
        for curve in (reference.std, reference.rate, reference.turn)
    )
    squares = std**2 + (reference.lag * rate) ** 2 + (reference.turn_error * turn) ** 2
    squares += reference.slip**2 * np.interp(times, reference.time, reference.absolute_turn)
    duration, zeros = max(times[-1] - times[0], 1e-9), np.zeros(len(times))
    transient = ReferenceError(times, zeros + 1.0, _TRANSIENT_TIME * duration, zeros, zeros)
    return PartCovariances(
        reference=reference.covariance_of_means(times, bins.begins),
        reference_sample=bins.means(squares),
        walk=walk_of_means(times - times[0], bins.begins) / duration,
        transient=transient.covariance_of_means(times, bins.begins),
    )


def _decimate(times: np.ndarray, reference_times: np.ndarray) -> np.ndarray:
    """Return the indices of the samples nearest in time to the samples of a slower reference."""
    every = np.arange(len(times))
    if len(times) < 3 or len(reference_times) < 3:
        return every
    if np.median(np.diff(reference_times)) < 1.5 * np.median(np.diff(times)):
        return every
    upper = np.clip(np.searchsorted(times, reference_times), 1, len(times) - 1)
    is_before_nearer = reference_times - times[upper - 1] < times[upper] - reference_times
    inside = (reference_times >= times[0]) & (reference_times <= times[-1])
    nearest = np.unique((upper - is_before_nearer)[inside])
    return nearest if len(nearest) > 2 else every


def _median_variance_ratio(times: np.ndarray, correlation_time: float) -> float:
    """Return the ratio of the variance of the median to that of the mean of a Gaussian process.

    The error of a median is the error of the samples' mean sign divided by the density at the
    median; the correlation of signs is the arcsine of the samples' correlation.
    """
    if len(times) > _MAX_MEDIAN_SAMPLES:
        times = times[:: len(times) // _MAX_MEDIAN_SAMPLES + 1]
    correlation = np.exp(-np.abs(np.subtract.outer(times, times)) / correlation_time)
    return float(np.sum(np.arcsin(np.minimum(correlation, 1.0))) / np.sum(correlation))
