"""From the recording of a sensor at rest to evenly sampled, contiguous parts without outliers.

Averages over time are only what they say if no sample is missing among those averaged: a
recording is cut where samples are missing, never bridged.

Whether a sensor was at rest is decided by the medians of neighbouring seconds. At rest they differ
by what is left of the noise; a bias that wanders, or a sensor that warms up, changes over minutes.
Whoever carries or drives a sensor changes them by far more, from one second to the next.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Sequence, Sized

import numpy as np
from numpy.typing import ArrayLike

from ..core.errors import ConfigurationError, RecordingError
from ..core.settings import TextSettings, setting
from ..core.stamps import Occurrences, count_places

_BLOCK = 1.0  # s
_MIN_SAMPLES = 5
_NOISE = 10.0
CHANGES = {"gyro": 0.02, "accel": 0.3}
"""By how much the median of a second may differ from the next one's at rest, by kind of axis."""

_UNITS = {"gyro": "rad/s", "accel": "m/s^2"}
_MANY = 0.01
_SORTED_AT_ONCE = 1_000_000


def check_at_rest(
    times: np.ndarray, values: Any, names: Sequence[str], rate: float, source: str
) -> list[str]:
    """Refuse what was recorded in motion.

    ``times`` (n,) [s]; ``values`` (axes, n), or sequence of (n,): angular rates [rad/s] and
    specific forces [m/s^2]; ``names``: of the axes, beginning with ``gyro`` or ``accel``; ``rate``
    [Hz]; ``source``: to begin the sentence with. Returns a remark if the sensor was moved, but
    hardly ever. Raises RecordingError: it moves for more than 1 % of the time.
    """
    size = max(_MIN_SAMPLES, round(_BLOCK * rate))
    blocks = len(times) // size
    if blocks < 2:
        return []
    moved, worst = np.zeros(blocks - 1, dtype=bool), (0.0, "", 0.0)
    for signal, name in zip(values, names):
        changes = np.abs(np.diff(block_medians(signal[None, :], size)[0]))
        steps = np.diff(signal)
        steps -= np.mean(steps)
        noise = np.sqrt(np.dot(steps, steps) / len(steps) / size)
        del steps
        limit = max(CHANGES[name.split("_")[0]], _NOISE * noise)
        moved |= changes > limit
        largest = float(changes.max())
        worst = max(worst, (largest / limit, name, largest), key=lambda one: one[0])
    if not moved.any():
        return []
    first = float(times[(int(np.argmax(moved)) + 1) * size] - times[0])
    _, name, largest = worst
    found = (
        f"in {moved.sum()} of {len(moved)} seconds, the first at {first:.0f} s; {name} changes by "
        f"up to {largest:.2g} {_UNITS[name.split('_')[0]]} from one second to the next"
    )
    if np.mean(moved) > _MANY:
        raise RecordingError(f"{source}: the sensor moves, expected it at rest: {found}")
    return [f"the sensor was moved {found}; better leave that part out"]


def block_medians(values: np.ndarray, size: int) -> np.ndarray:
    """Return the medians of blocks of so many samples, shape (axes, blocks)."""
    blocks = values.shape[1] // size
    medians = np.empty((len(values), blocks))
    # The median copies what it sorts.
    at_once = max(1, _SORTED_AT_ONCE // size)
    for first in range(0, blocks, at_once):
        last = min(first + at_once, blocks)
        some = values[:, first * size : last * size].reshape(len(values), last - first, size)
        medians[:, first:last] = np.median(some, axis=2)
    return medians


_LONG_STEP = 1.5
_LASTING_SHIFT = 0.5
_NEIGHBOURS = 20
_RATE_BLOCKS = 60
_RATE_TOLERANCE = 0.1
_OUTLIER_BLOCK = 10.0  # s
_MANY_OUTLIERS = 0.01
_MAX_PARTS = 100
_SAMPLES_AT_ONCE = 8_000_000
_STRETCHES, _BINS, _DRAWN_OUTLIERS, _DRAWN_SPREADS = 1500, 120, 2000, 4.0


@dataclass(frozen=True)
class RestSettings(TextSettings):
    """What a recording at rest must be, and what counts as an outlier.

    ``outlier_range``: an outlier is further from the quartiles than this many interquartile ranges:
    with 3, 2.4 in a million samples of Gaussian noise; 0 keeps all samples. ``minimum_duration``:
    the longest part without a gap must last as long [s].
    """

    outlier_range: float = setting(3.0, minimum=0.0)
    minimum_duration: float = setting(60.0, unit="s", minimum=10.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if 0.0 < self.outlier_range < 1.0:
            raise ConfigurationError(
                f"outlier_range is {self.outlier_range:g}, but it must be 0 or at least 1."
            )


@dataclass(frozen=True)
class RawSignal:
    """One axis as it was recorded, in so few numbers that it can be drawn.

    ``times`` (k + 1,): ends of stretches, after the first sample [s]; ``lowest``, ``highest`` (k,):
    of all samples of a stretch [unit]; ``level`` (k,): median around, which wanders with the bias
    [unit]. ``quartiles``, ``limits`` (pair of float): of the deviations from the level, and how far
    they may be from it to be no outlier [unit]; limits are infinite where no outlier is looked for.
    ``edges``, ``counts`` (m + 1,), (m,): histogram of the deviations [unit]; the first and the last
    bin hold all that is further off. ``outlier_times``, ``outliers`` (q,): the first of them [s],
    as they were recorded [unit].
    """

    times: np.ndarray
    lowest: np.ndarray
    highest: np.ndarray
    level: np.ndarray
    quartiles: tuple[float, float]
    limits: tuple[float, float]
    edges: np.ndarray
    counts: np.ndarray
    outlier_times: np.ndarray
    outliers: np.ndarray


@dataclass(frozen=True)
class SamplesAtRest:
    """Contiguous parts of a recording at rest.

    ``source``: to begin a sentence with; ``rate``: samples per second [Hz]. ``values`` (axes, n),
    or sequence of (n,): all samples in order, outliers replaced. A sequence may load each array
    when it is asked for it; used at a time is one. ``parts`` (tuple of (int, int)): first and one
    behind the last sample of each part in use; ``gaps`` (stamps.Occurrences): where samples are
    missing; ``unused``: samples in parts too short to be used; ``outliers``, ``raw`` (dict of str
    to stamps.Occurrences, dict of str to RawSignal): for each axis; ``remarks`` (tuple of str):
    what a person should know, a sentence each.
    """

    source: str
    rate: float
    values: np.ndarray
    parts: tuple[tuple[int, int], ...]
    gaps: Occurrences
    unused: int
    outliers: dict[str, Occurrences]
    raw: dict[str, RawSignal]
    remarks: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Of the axes."""
        return tuple(self.outliers)

    @property
    def lengths(self) -> list[int]:
        """Samples of each part."""
        return [stop - start for start, stop in self.parts]

    @property
    def duration(self) -> float:
        """Time in use [s]."""
        return sum(self.lengths) / self.rate


def prepare_at_rest(
    times: ArrayLike,
    values: ArrayLike,
    names: Sequence[str],
    source: str,
    settings: RestSettings | None = None,
) -> SamplesAtRest:
    """Find the rate, cut at gaps, replace outliers.

    ``times`` (n,): strictly growing [s]; ``values`` (n, axes); ``names`` (sequence of str): of the
    axes; ``source``: what the recording is called in errors. Raises RecordingError: the recording
    is too short, the sensor moves, its rate changes, an axis is constant, or so much is missing
    that no part is long enough.
    """
    values = np.array(np.transpose(values), dtype=float, order="C")
    return prepare_axes(np.asarray(times, dtype=float), values, names, source, settings)


def prepare_axes(
    times: np.ndarray,
    values: Any,
    names: Sequence[str],
    source: str,
    settings: RestSettings | None = None,
) -> SamplesAtRest:
    """Do what :func:`prepare_at_rest` does, in place and with one axis in memory at a time.

    ``values`` is an ndarray of shape (axes, n), or a mutable sequence of ndarray (n,); outliers are
    replaced in it.
    """
    settings = settings or RestSettings()
    duration = times[-1] - times[0] if len(times) else 0.0
    if duration < settings.minimum_duration:
        raise RecordingError(
            f"{source}: the recording lasts {duration:.1f} s, expected at least "
            f"{settings.minimum_duration:g} s, and hours for the slow terms"
        )
    period = _period(times, source)
    after_gap = _find_gaps(times, period)
    edges = np.concatenate([[0], after_gap, [len(times)]])
    parts = list(zip(edges[:-1].tolist(), edges[1:].tolist()))
    start, stop = max(parts, key=lambda part: part[1] - part[0])
    seconds = times[stop - 1] - times[start]
    if seconds < settings.minimum_duration:
        raise RecordingError(
            f"{source}: samples are missing at {len(after_gap)} places and the longest part "
            f"without a gap lasts {seconds:.1f} s, expected at least "
            f"{settings.minimum_duration:g} s"
        )
    # The longest parts that add something, in the order of time.
    least = min(settings.minimum_duration / period, stop - start)
    used = [part for part in parts if part[1] - part[0] >= least]
    used = sorted(sorted(used, key=lambda part: part[0] - part[1])[:_MAX_PARTS])
    rate = sum(stop - start - 1 for start, stop in used) / sum(
        times[stop - 1] - times[start] for start, stop in used
    )
    moved = check_at_rest(times, values, names, rate, source)
    outliers, raw, remarks = _clean(times, values, names, rate, source, settings)
    unused = len(times) - sum(stop - start for start, stop in used)
    gaps = count_places(after_gap, times)
    reported = (*_gap_remarks(times, gaps, after_gap, used, unused), *moved, *remarks)
    found = (float(rate), values, tuple(used), gaps, unused, outliers, raw)
    return SamplesAtRest(source, *found, reported)


def _period(times: np.ndarray, source: str) -> float:
    """Return the median period; it must be the same at all times."""
    period = float(np.median(np.diff(times), overwrite_input=True))
    steps = np.diff(times)
    blocks = np.array_split(steps, min(_RATE_BLOCKS, max(1, len(steps) // 50)))
    medians = np.array([np.median(block) for block in blocks])
    different = np.flatnonzero(np.abs(medians / medians[0] - 1.0) > _RATE_TOLERANCE)
    if len(different):
        first = int(different[0])
        place = sum(len(block) for block in blocks[:first])
        raise RecordingError(
            f"{source}: the rate changes from {1.0 / medians[0]:.2f} Hz to "
            f"{1.0 / medians[first]:.2f} Hz at about {times[place] - times[0]:.0f} s, expected "
            "one rate; analyse the parts as recordings of their own, or state the rate if the "
            "stamps are wrong"
        )
    mean = (times[-1] - times[0]) / len(steps)
    steps /= period
    steps -= 1.0
    uneven = np.mean(np.abs(steps, out=steps) > _LONG_STEP - 1.0)
    if uneven > 0.2 and mean > 1.2 * period:
        raise RecordingError(
            f"{source}: {100.0 * uneven:.0f} % of the steps between samples differ by more than "
            f"half from the usual {1e3 * period:.2f} ms, expected one rate; state it if the stamps "
            "are wrong"
        )
    return period


def _find_gaps(times: np.ndarray, period: float) -> np.ndarray:
    """Return indices of the samples behind a gap.

    A late sample is followed by one that is as much early: a long step is a gap only if all
    that follows is shifted by it.
    """
    candidates = np.flatnonzero(np.diff(times) > _LONG_STEP * period) + 1
    offset, last = np.arange(_NEIGHBOURS), len(times) - 1
    before = np.clip(candidates[:, None] - 1 - offset, 0, last)
    after = np.clip(candidates[:, None] + offset, 0, last)
    late = np.median(times[after] - period * after, axis=1)
    early = np.median(times[before] - period * before, axis=1)
    return candidates[late - early > _LASTING_SHIFT * period]


def _gap_remarks(
    times: np.ndarray, gaps: Occurrences, after_gap: np.ndarray, used: Sized, unused: int
) -> list[str]:
    if not gaps:
        return []
    longest = max(float(times[index] - times[index - 1]) for index in after_gap.tolist())
    parts = (
        f"{len(used)} parts are combined by their degrees of freedom, {unused} samples in shorter "
        "parts are not used"
    )
    if len(used) == 1:
        parts = f"one part is used, {unused} samples in other parts are not"
    return [
        f"samples are missing at {gaps.count} {'place' if gaps.count == 1 else 'places'}, the "
        f"first at {gaps.first_time:.2f} s, the longest gap {longest:.2f} s; nothing is averaged "
        f"across: {parts}"
    ]


def _clean(
    times: np.ndarray,
    values: Any,
    names: Sequence[str],
    rate: float,
    source: str,
    settings: RestSettings,
) -> tuple[Any, Any, list[str]]:
    """Replace outliers in place; return where they are, what was recorded, and remarks."""

    def outliers_of(axis: int) -> tuple[Occurrences, Any, float]:
        """Return where they were, the raw signal, and the share of those that are too many."""
        signal = values[axis]
        if np.ptp(signal) == 0.0:
            raise RecordingError(
                f"{source}: {names[axis]} is {signal[0]:g} in all {len(times)} samples, expected "
                "the noise that a sensor has at rest"
            )
        places, replacements, raw = _outliers(times, signal, rate, settings.outlier_range)
        if len(places) > _MANY_OUTLIERS * len(signal):
            return Occurrences(), raw, len(places) / len(signal)
        signal[places] = replacements
        values[axis] = signal
        return count_places(places, times), raw, 0.0

    # numpy gives other threads their turn while it sorts.
    with ThreadPoolExecutor(threads_for(len(times))) as pool:
        found = dict(zip(names, pool.map(outliers_of, range(len(names)))))
    remarks = [
        f"{100.0 * share:.1f} % of {name} are far from the rest: too many to be outliers, so its "
        "noise is far from Gaussian, and they are kept"
        for name, (_, _, share) in found.items()
        if share
    ]
    outliers, raw = ({name: one[k] for name, one in found.items()} for k in (0, 1))
    return outliers, raw, remarks


def threads_for(samples: int) -> int:
    """Return how many axes to work on at once: of a long recording one, for its memory."""
    return max(1, min(4, os.cpu_count() or 1, _SAMPLES_AT_ONCE // samples))


def _outliers(
    times: np.ndarray, signal: np.ndarray, rate: float, limit: float
) -> tuple[np.ndarray, np.ndarray, Any]:
    """Return the places of the outliers, the medians around them, and the signal for a figure.

    Quartiles are those of the deviations from the medians of short blocks: a bias that wanders
    over hours neither hides outliers nor makes any.
    """
    size = max(10, round(_OUTLIER_BLOCK * rate))
    blocks = max(1, len(signal) // size)
    size = size if blocks > 1 else len(signal)
    medians = block_medians(signal[None, :], size)[0]
    # Quantiles put in order what they are taken of, or else a copy of it.
    lower, upper = np.quantile(
        _deviations(signal, medians, size), [0.25, 0.75], overwrite_input=True
    )
    deviations = _deviations(signal, medians, size)
    reach = limit * max(upper - lower, _resolution(signal)) if limit else np.inf
    limits = float(lower - reach), float(upper + reach)
    places = np.flatnonzero((deviations < limits[0]) | (deviations > limits[1]))
    starts = np.unique(np.linspace(0, len(signal), _STRETCHES, endpoint=False).astype(int))
    ends = 2.0 * min(limits[1], _DRAWN_SPREADS * (upper - lower)) or 1.0
    edges = np.linspace(-ends, ends, _BINS + 1)
    drawn = np.histogram(np.clip(deviations, -ends, ends, out=deviations), edges)[0]
    lowest, highest = (each.reduceat(signal, starts) for each in (np.minimum, np.maximum))
    level = medians[np.minimum(starts // size, blocks - 1)]
    stretches = np.append(times[starts], times[-1]) - times[0]
    quartiles, first = (float(lower), float(upper)), places[:_DRAWN_OUTLIERS]
    outliers = times[first] - times[0], signal[first]
    raw = RawSignal(stretches, lowest, highest, level, quartiles, limits, edges, drawn, *outliers)
    return places, medians[np.minimum(places // size, blocks - 1)], raw


def _deviations(signal: np.ndarray, medians: np.ndarray, size: int) -> np.ndarray:
    """Return what differs from the medians of blocks of so many samples."""
    deviations, whole = signal.copy(), len(medians) * size
    deviations[:whole].reshape(len(medians), size)[:] -= medians[:, None]
    deviations[whole:] -= medians[-1]
    return deviations


def _resolution(signal: np.ndarray) -> float:
    """Step of the readings as far as a sample of them shows."""
    levels = np.unique(signal[:10_000])
    return float(np.diff(levels).min()) if len(levels) > 1 else 0.0
