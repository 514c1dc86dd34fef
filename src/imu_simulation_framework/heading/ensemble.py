r"""Reduction of many realisations of an error over time to a few mergeable statistics.

Two parts A and B with :math:`n_A, n_B` values, and M the sum of squared deviations, have together

.. math::

    \delta = \bar x_B - \bar x_A, \quad \bar x = \bar x_A + \delta \frac{n_B}{n_A + n_B}, \quad
    M = M_A + M_B + \delta^2 \frac{n_A n_B}{n_A + n_B}

(Chan, Golub and LeVeque: Updating formulae and a pairwise algorithm for computing sample variances,
1979), without the cancellation of a plain sum of squares. The last digits of the result depend on
the division into parts and on their order.

Histogram counts of two parts add up to the counts of the complete ensemble, exactly and in any
order; neither the number of values nor their distribution has to be known in advance. The edges

.. math:: x_i = s \sinh(i h), \quad s = 10^{-6}, \quad h = 0.01

define bins with a width of 1 % of the value, and of :math:`10^{-8}` around zero. The distribution
within a bin is assumed to be uniform, so that a quantile deviates by at most 1 % of its magnitude,
and by far less in bins with many values.

A reduction contains the mean and the variance at each time; counts on a fixed grid at some of the
times, for quantiles; the statistics of each run; the mean of the power spectral densities; and the
complete curves of some runs, for :func:`.judge.judge`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Iterable, Mapping, Sequence

import numpy as np

from ..core.errors import EnsembleError
from ..core.signals import logarithmic_average, power_spectral_density
from .judgement.curve_statistics import curve_statistics


@dataclass(frozen=True)
class Moments:
    """Count, mean and sum of squared deviations of a set of values.

    Parameters
    ----------
    count : int
        Number of values.
    mean : numpy.ndarray
        Mean of the values.
    squares : numpy.ndarray
        Sum of the squared deviations from the mean.
    """

    count: int
    mean: np.ndarray
    squares: np.ndarray

    @classmethod
    def of(cls, values) -> Moments:
        """Compute count, mean and squared deviations of values.

        Parameters
        ----------
        values : array_like
            At least one value, shape (count, ...).

        Returns
        -------
        Moments
        """
        mean = np.mean(values, axis=0)
        return cls(len(values), mean, np.sum((values - mean) ** 2, axis=0))

    def combined(self, other: Moments) -> Moments:
        """Combine the moments with those of another set of values.

        Parameters
        ----------
        other : Moments
            Moments of the other values.

        Returns
        -------
        Moments
            Moments of all values.
        """
        count = self.count + other.count
        mean_difference = other.mean - self.mean
        return Moments(
            count,
            self.mean + mean_difference * (other.count / count),
            self.squares + other.squares + mean_difference**2 * (self.count * other.count / count),
        )

    @property
    def std(self) -> np.ndarray:
        """Standard deviation with the divisor count - 1; NaN for a single value."""
        if self.count < 2:
            return np.full(np.shape(self.mean), np.nan)
        return np.sqrt(self.squares / (self.count - 1))

    @property
    def standard_error(self) -> np.ndarray:
        """Standard error of the mean."""
        return self.std / np.sqrt(self.count)


RESOLUTION = 0.01
"""Width of a histogram bin relative to the values in the bin."""
_SCALE = 1e-6
_BINS = 2400
"""Number of histogram bins on either side of zero, up to 1.3e4 rad or 2000 revolutions."""

COUNT = 2 * _BINS + 2
"""Number of histogram bins, including one below and one above the grid."""

_EDGES = _SCALE * np.sinh(RESOLUTION * np.arange(-_BINS, _BINS + 1))


def count_values(values) -> np.ndarray:
    """Count the values in each histogram bin.

    Parameters
    ----------
    values : array_like
        Values, shape (runs, times).

    Returns
    -------
    numpy.ndarray
        Counts (int64), shape (times, COUNT).
    """
    # The search is three times as fast for ascending values, and sorting takes little time.
    ascending = np.sort(np.transpose(values), axis=1)
    times = len(ascending)
    places = np.searchsorted(_EDGES, ascending, side="right")
    places += COUNT * np.arange(times)[:, np.newaxis]
    counts = np.bincount(places.ravel(), minlength=times * COUNT)
    return counts.reshape(times, COUNT)


def quantiles(counts, probabilities) -> np.ndarray:
    """Compute quantiles from histogram counts.

    Parameters
    ----------
    counts : numpy.ndarray
        Counts of at least one value per time, shape (times, COUNT).
    probabilities : sequence of float
        Probabilities between 0 and 1.

    Returns
    -------
    numpy.ndarray
        Quantiles, shape (times, len(probabilities)); infinite beyond the grid.
    """
    edges = np.concatenate([[-np.inf], _EDGES, [np.inf]])
    upto = np.cumsum(counts, axis=1)
    result = np.empty((len(counts), len(probabilities)))
    for row, (count, cumulative) in enumerate(zip(counts, upto)):
        ranks = np.asarray(probabilities) * cumulative[-1]
        bins = np.minimum(np.searchsorted(cumulative, ranks, side="left"), COUNT - 1)
        # Rank zero is the smallest value.
        bins = np.maximum(bins, np.argmax(count > 0))
        share = (ranks - (cumulative[bins] - count[bins])) / count[bins]
        low, high = edges[bins], edges[bins + 1]
        with np.errstate(invalid="ignore"):
            inside = low + share * (high - low)
        result[row] = np.where(np.isinf(low), low, np.where(np.isinf(high), high, inside))
    return result


MAX_TIMES = 121
"""Maximum number of time instants at which quantiles are available."""
BANDS_PER_DECADE = 10
"""Number of frequency bands per decade over which a power spectral density is averaged."""


@dataclass(frozen=True)
class Reduction:
    """Statistics of a batch of consecutive simulation runs.

    Parameters
    ----------
    time : numpy.ndarray
        Times, shape (n,) [s].
    error : Moments
        Moments of the errors at each time, shape (n,) [rad].
    places : numpy.ndarray
        Indices of the times of ``counts``, including the last time, shape (m,).
    counts : numpy.ndarray
        Counts of the errors, shape (m, :data:`.ensemble.COUNT`).
    statistics : mapping of str to numpy.ndarray
        Statistics of each run, see :func:`.curve_statistics`, shape (runs,).
    frequency : numpy.ndarray
        Frequencies, shape (bands,) [Hz]; empty if there are too few times for a spectrum.
    density : Moments
        Moments of the power spectral densities, shape (bands,) [rad^2/Hz].
    curves : numpy.ndarray
        Complete curves of the runs that are kept, from the first run on, shape (kept, n) [rad].
    """

    time: np.ndarray
    error: Moments
    places: np.ndarray
    counts: np.ndarray
    statistics: Mapping[str, np.ndarray]
    frequency: np.ndarray
    density: Moments
    curves: np.ndarray

    @property
    def runs(self) -> int:
        """Number of reduced simulation runs."""
        return self.error.count

    def quantiles(self, probabilities: Sequence[float]) -> np.ndarray:
        """Compute quantiles of the error at ``time[places]``.

        Parameters
        ----------
        probabilities : sequence of float
            Probabilities between 0 and 1.

        Returns
        -------
        numpy.ndarray
            Quantiles, shape (m, len(probabilities)) [rad], accurate to :data:`.ensemble.RESOLUTION`
            of their magnitude.
        """
        return quantiles(self.counts, probabilities)

    def arrays(self) -> dict[str, np.ndarray]:
        """Pack all attributes except the time into a few small arrays.

        Returns
        -------
        dict of str to numpy.ndarray
            Arrays for :meth:`from_arrays`.
        """
        occupied = np.flatnonzero(self.counts)
        return {
            "runs": np.array(self.runs),
            "mean": self.error.mean,
            "squares": self.error.squares,
            # Differences between indices compress better than the indices themselves.
            "occupied": _small(np.diff(occupied, prepend=0)),
            "counts": _small(self.counts.ravel()[occupied]),
            "names": np.array(list(self.statistics), dtype=str),
            "statistics": np.array(list(self.statistics.values())),
            "frequency": self.frequency,
            "density": self.density.mean,
            "density_squares": self.density.squares,
            "curves": self.curves,
        }

    @classmethod
    def from_arrays(cls, time: np.ndarray, arrays: Mapping[str, np.ndarray]) -> Reduction:
        """Restore a reduced ensemble from the arrays of :meth:`arrays`.

        Parameters
        ----------
        time : numpy.ndarray
            Times, shape (n,) [s].
        arrays : mapping of str to numpy.ndarray
            Result of ``arrays``, by name.

        Returns
        -------
        Reduction

        Raises
        ------
        EnsembleError
            If the arrays do not describe a reduction at these times.
        """
        time = np.asarray(time, dtype=float)
        places = quantile_places(len(time))
        counts = np.zeros((len(places), COUNT), dtype=np.int64)
        try:
            number, steps, counted = (
                arrays[name].astype(np.int64, casting="same_kind")
                for name in ("runs", "occupied", "counts")
            )
            runs = int(number)
            counts.ravel()[np.cumsum(steps)] = counted
            reduction = cls(
                time,
                Moments(runs, arrays["mean"], arrays["squares"]),
                places,
                counts,
                dict(zip(arrays["names"].tolist(), arrays["statistics"])),
                arrays["frequency"],
                Moments(runs, arrays["density"], arrays["density_squares"]),
                arrays["curves"],
            )
            if not reduction._has_shapes_of(reduce_runs(time, np.zeros((1, len(time))))):
                raise ValueError("the arrays must match the times")
        except (AttributeError, LookupError, ValueError, TypeError, OverflowError) as error:
            raise EnsembleError("the arrays do not belong to an ensemble at these times") from error
        return reduction

    def _has_shapes_of(self, other: Reduction) -> bool:
        """Return whether all arrays are valid and have the shapes of another reduction's arrays."""
        pairs = [
            (self.error.mean, other.error.mean.shape),
            (self.error.squares, other.error.squares.shape),
            (self.density.mean, other.density.mean.shape),
            (self.density.squares, other.density.squares.shape),
            (self.frequency, other.frequency.shape),
            (self.curves, (len(self.curves), *self.time.shape)),
            *((values, (self.runs,)) for values in self.statistics.values()),
        ]
        return bool(
            all(array.dtype.kind == "f" and array.shape == shape for array, shape in pairs)
            and all(np.isfinite(array).all() for array, _ in pairs)
            and all((moments.squares >= 0.0).all() for moments in (self.error, self.density))
            and np.allclose(self.frequency, other.frequency, rtol=1e-9)
            and list(self.statistics) == list(other.statistics)
            and 0 < self.runs >= len(self.curves)
            and self.counts.min() >= 0
            and np.all(self.counts.sum(axis=1) == self.runs)
        )


def quantile_places(times: int) -> np.ndarray:
    """Return the indices of the time instants at which quantiles are stored.

    Parameters
    ----------
    times : int
        Number of times.

    Returns
    -------
    numpy.ndarray
        Evenly spaced indices, including the last time.
    """
    step = -(-times // MAX_TIMES)
    return np.arange((times - 1) % step, times, step)


def reduce_runs(time, errors, keep: int = 0) -> Reduction:
    """Reduce simulation runs to moments, histogram counts, statistics and spectra.

    Parameters
    ----------
    time : array_like
        Strictly ascending times, at least two, shape (n,) [s].
    errors : array_like
        Errors, shape (runs, n) [rad].
    keep : int, optional
        Number of runs, counted from the first, whose complete curves are kept.

    Returns
    -------
    Reduction

    Raises
    ------
    EnsembleError
        If there is no run, there are fewer than two times, or an error is not finite.
    """
    time, errors = np.asarray(time, dtype=float), np.asarray(errors, dtype=float)
    if len(errors) == 0 or len(time) < 2:
        raise EnsembleError(
            f"errors: there are {len(errors)} runs of {len(time)} samples, expected at least one "
            "run and two samples"
        )
    finite = np.isfinite(errors).all(axis=1)
    if not finite.all():
        raise EnsembleError(
            f"the error of run {int(np.argmin(finite))} contains nan or inf, expected finite values"
        )
    places = quantile_places(len(time))
    spectrum = power_spectral_density(time, errors)
    if spectrum is None:
        frequency, density = np.empty(0), np.empty((len(errors), 0))
    else:
        frequency, density = logarithmic_average(spectrum, BANDS_PER_DECADE)
    statistics = curve_statistics(time, errors, spectrum=spectrum)
    return Reduction(
        time,
        Moments.of(errors),
        places,
        count_values(errors[:, places]),
        {name: values.astype(np.float32) for name, values in statistics.items()},
        frequency,
        Moments.of(density),
        errors[:keep].astype(np.float32),
    )


def merge_reductions(reductions: Iterable[Reduction]) -> Reduction:
    """Merge the reductions of several batches of runs, with one batch in memory at a time.

    Parameters
    ----------
    reductions : iterable of Reduction
        Reductions of the parts, in their order.

    Returns
    -------
    Reduction
        Reduction of all runs.

    Raises
    ------
    EnsembleError
        If there is no part, or the parts have different times.
    """
    whole = None
    statistics: dict[str, list[np.ndarray]] = {}
    curves = []
    for part in reductions:
        if whole is None:
            whole = part
            error, density, counts = part.error, part.density, part.counts.copy()
        else:
            if not np.array_equal(part.time, whole.time):
                raise EnsembleError("the parts of an ensemble must have the same times")
            error, density = error.combined(part.error), density.combined(part.density)
            counts += part.counts
        for name, values in part.statistics.items():
            statistics.setdefault(name, []).append(values)
        curves.append(part.curves)
    if whole is None:
        raise EnsembleError("an ensemble must have at least one part")
    return Reduction(
        whole.time,
        error,
        whole.places,
        counts,
        {name: np.concatenate(parts) for name, parts in statistics.items()},
        whole.frequency,
        density,
        np.concatenate(curves),
    )


def _small(values):
    """Convert integers to the smallest integer type that can represent them."""
    return values.astype(np.min_scalar_type(int(values.max(initial=0))))
