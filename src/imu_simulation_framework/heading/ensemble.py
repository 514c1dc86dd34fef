r"""Many realisations of an error over time, reduced to a few numbers that add up.

Of two parts with :math:`n_A, n_B` values, means and sums of squared deviations M,

.. math::

    \delta = \bar x_B - \bar x_A, \quad \bar x = \bar x_A + \delta \frac{n_B}{n_A + n_B}, \quad
    M = M_A + M_B + \delta^2 \frac{n_A n_B}{n_A + n_B}

(Chan, Golub and LeVeque: Updating formulae and a pairwise algorithm for computing sample
variances, 1979), without the cancellation of a sum of squares. The last digits depend on the
parts and their order.

Counts of two parts of an ensemble add up to those of the whole, exactly and in any order; neither
the number of values nor how they are spread has to be known before. The edges

.. math:: x_i = s \sinh(i h), \quad s = 10^{-6}, \quad h = 0.01

make bins of 1 % of the value, and of :math:`10^{-8}` around zero. Within a bin the values are taken
to be even, so that a quantile is wrong by at most 1 % of its size, and by far less where bins hold
many.

Mean and variance at each time; counts on a fixed grid at some of the times, for quantiles; each
run's statistics; the mean of the power spectral densities; and the whole curves of some runs, for
:func:`.judgement.judge`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Iterable, Mapping, Sequence

import numpy as np

from ..core.errors import EnsembleError
from ..core.signals import logarithmic_average, power_spectral_density
from .judgement import curve_statistics


@dataclass(frozen=True)
class Moments:
    """``count`` of values; their ``mean`` (...) and the sum of ``squares`` (...) of deviations."""

    count: int
    mean: np.ndarray
    squares: np.ndarray

    @classmethod
    def of(cls, values) -> Moments:
        """Return those of values (count, ...), at least one."""
        mean = np.mean(values, axis=0)
        return cls(len(values), mean, np.sum((values - mean) ** 2, axis=0))

    def and_then(self, other: Moments) -> Moments:
        """Return the moments of these values and others."""
        count = self.count + other.count
        away = other.mean - self.mean
        return Moments(
            count,
            self.mean + away * (other.count / count),
            self.squares + other.squares + away**2 * (self.count * other.count / count),
        )

    @property
    def std(self) -> np.ndarray:
        """Standard deviation, divisor count - 1; not a number for a single value."""
        if self.count < 2:
            return np.full(np.shape(self.mean), np.nan)
        return np.sqrt(self.squares / (self.count - 1))

    @property
    def standard_error(self) -> np.ndarray:
        """Of the mean."""
        return self.std / np.sqrt(self.count)


RESOLUTION = 0.01
"""Width of a bin, as a share of the values in it."""
_SCALE = 1e-6
_BINS = 2400
"""On either side of zero: up to 1.3e4, two thousand turns if it is radians."""

COUNT = 2 * _BINS + 2
"""Bins, the first of all that is below the grid, the last of all that is above."""

_EDGES = _SCALE * np.sinh(RESOLUTION * np.arange(-_BINS, _BINS + 1))


def counts_of(values) -> np.ndarray:
    """Return how many of the values (runs, times) are in each bin, (times, COUNT) of int64."""
    times = np.shape(values)[1]
    places = np.searchsorted(_EDGES, values, side="right") + COUNT * np.arange(times)
    counts = np.bincount(places.ravel(), minlength=times * COUNT)
    return counts.reshape(times, COUNT)


def quantiles(counts, probabilities) -> np.ndarray:
    """Return quantiles of what was counted.

    ``counts`` (times, COUNT): at least one value at each time. ``probabilities`` (sequence of
    float): between 0 and 1. The result is (times, len(probabilities): infinite where the quantile
    is beyond the grid.
    """
    edges = np.concatenate([[-np.inf], _EDGES, [np.inf]])
    upto = np.cumsum(counts, axis=1)
    found = np.empty((len(counts), len(probabilities)))
    for row, (own, above) in enumerate(zip(counts, upto)):
        ranks = np.asarray(probabilities) * above[-1]
        bins = np.minimum(np.searchsorted(above, ranks, side="left"), COUNT - 1)
        # A rank of zero is that of the smallest value.
        bins = np.maximum(bins, np.argmax(own > 0))
        share = (ranks - (above[bins] - own[bins])) / own[bins]
        low, high = edges[bins], edges[bins + 1]
        with np.errstate(invalid="ignore"):
            inside = low + share * (high - low)
        found[row] = np.where(np.isinf(low), low, np.where(np.isinf(high), high, inside))
    return found


MAX_TIMES = 121
"""Times at which quantiles are known."""
BANDS_PER_DECADE = 10
"""Of frequency, in which the density is averaged."""


@dataclass(frozen=True)
class Reduction:
    """What is kept of runs that follow each other.

    ``time`` (n,) [s]. ``error``: of the errors at each time, (n,) [rad]. ``places`` (m,): which of
    the times are those of ``counts``; the last one is among them. ``counts`` (m,
    :data:`.ensemble.COUNT`). ``statistics`` (runs,): of :func:`.curve_statistics`, of each run.
    ``frequency`` (bands,) [Hz]; none if there are too few times for a spectrum. ``density``: of the
    power spectral densities, (bands,) [rad^2/Hz]. ``curves`` (kept, n): the first runs as a whole
    [rad].
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
        """How many there are."""
        return self.error.count

    def quantiles(self, probabilities: Sequence[float]) -> np.ndarray:
        """Return quantiles of the error at ``time[places]``, (m, len(probabilities)) [rad].

        Wrong by at most :data:`.ensemble.RESOLUTION` of their size.
        """
        return quantiles(self.counts, probabilities)

    def arrays(self) -> dict[str, np.ndarray]:
        """Return all of it as few and small arrays, without the time."""
        occupied = np.flatnonzero(self.counts)
        return {
            "runs": np.array(self.runs),
            "mean": self.error.mean,
            "squares": self.error.squares,
            # Steps compress better than places.
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
    def of_arrays(cls, time: np.ndarray, arrays: Mapping[str, np.ndarray]) -> Reduction:
        """Return what :meth:`arrays` was made of, else raise EnsembleError."""
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
            if not reduction._is_like(reduce_runs(time, np.zeros((1, len(time))))):
                raise ValueError("there are others at these times")
        except (AttributeError, LookupError, ValueError, TypeError, OverflowError) as error:
            raise EnsembleError("these arrays are no part of an ensemble at these times") from error
        return reduction

    def _is_like(self, other: Reduction) -> bool:
        """Whether these are numbers that runs at the times of another reduction may have given."""
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
            all(one.dtype.kind == "f" and one.shape == shape for one, shape in pairs)
            and all(np.isfinite(one).all() for one, _ in pairs)
            and all((one.squares >= 0.0).all() for one in (self.error, self.density))
            and np.allclose(self.frequency, other.frequency, rtol=1e-9)
            and list(self.statistics) == list(other.statistics)
            and 0 < self.runs >= len(self.curves)
            and self.counts.min() >= 0
            and np.all(self.counts.sum(axis=1) == self.runs)
        )


def quantile_places(times: int) -> np.ndarray:
    """Return which of so many times have quantiles, evenly and with the last one."""
    step = -(-times // MAX_TIMES)
    return np.arange((times - 1) % step, times, step)


def reduce_runs(time, errors, keep: int = 0) -> Reduction:
    """Return what is kept of some runs.

    ``time`` (n,): strictly ascending, at least two [s]. ``errors`` (runs, n) [rad]. ``keep``: how
    many of the first curves are kept as a whole. Raises EnsembleError if there is no run, there are
    less than two times, or an error is not finite.
    """
    time, errors = np.asarray(time, dtype=float), np.asarray(errors, dtype=float)
    if len(errors) == 0 or len(time) < 2:
        raise EnsembleError(
            f"{len(errors)} runs of {len(time)} samples are no ensemble; it needs at least one run "
            "and two samples"
        )
    finite = np.isfinite(errors).all(axis=1)
    if not finite.all():
        raise EnsembleError(f"the error of run {int(np.argmin(finite))} is not finite throughout")
    places = quantile_places(len(time))
    spectrum = power_spectral_density(time, errors)
    if spectrum is None:
        frequency, density = np.empty(0), np.empty((len(errors), 0))
    else:
        frequency, density = logarithmic_average(spectrum, BANDS_PER_DECADE)
    return Reduction(
        time,
        Moments.of(errors),
        places,
        counts_of(errors[:, places]),
        {name: v.astype(np.float32) for name, v in curve_statistics(time, errors).items()},
        frequency,
        Moments.of(density),
        errors[:keep].astype(np.float32),
    )


def merged(reductions: Iterable[Reduction]) -> Reduction:
    """Return what is kept of all runs of several parts, in their order; one at a time is in memory.

    Raises EnsembleError if there is no part, or they are at different times.
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
                raise EnsembleError("the parts of an ensemble are at different times")
            error, density = error.and_then(part.error), density.and_then(part.density)
            counts += part.counts
        for name, values in part.statistics.items():
            statistics.setdefault(name, []).append(values)
        curves.append(part.curves)
    if whole is None:
        raise EnsembleError("an ensemble of no part has no run")
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
    """Return the same whole numbers in as few bytes as they need."""
    return values.astype(np.min_scalar_type(int(values.max(initial=0))))
