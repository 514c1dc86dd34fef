"""Preparation of recordings at rest: evenly sampled contiguous parts without outliers.

An average over time is valid only if no sample is missing. A recording is therefore split at gaps,
which are never interpolated.

The medians of successive seconds indicate whether a sensor was at rest. At rest, they differ only
by the averaged noise, because bias and warm-up drift change over minutes. If the sensor is carried
or driven, they differ by far more.
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

_BLOCK_DURATION = 1.0  # s; duration of the blocks whose medians are compared
_MIN_BLOCK_SAMPLES = 5
_MAX_NOISE_RATIO = 10.0  # largest change of a median at rest, relative to its white noise
MAX_CHANGES = {"gyro": 0.02, "accel": 0.3}
"""Largest change of a median reading from one second to the next at rest [rad/s, m/s^2]."""

_UNITS = {"gyro": "rad/s", "accel": "m/s^2"}
_MAX_MOVED_SHARE = 0.01  # largest share of seconds with motion that is accepted
_SORTED_AT_ONCE = 1_000_000  # number of samples sorted at once, which limits memory use


def check_at_rest(
    times: np.ndarray, values: Any, names: Sequence[str], rate: float, source: str
) -> list[str]:
    """Check that the sensor is at rest in a recording.

    Parameters
    ----------
    times : ndarray, shape (n,)
        Time of each sample [s].
    values : ndarray, shape (axes, n), or sequence of ndarray, shape (n,)
        Angular velocities [rad/s] and specific forces [m/s^2].
    names : sequence of str
        Names of the axes, which begin with ``gyro`` or ``accel``.
    rate : float
        Sampling rate [Hz].
    source : str
        Name of the recording in messages.

    Returns
    -------
    list of str
        A remark if the sensor moves for at most 1 % of the time; empty if it does not move.

    Raises
    ------
    RecordingError
        The sensor moves for more than 1 % of the time.
    """
    size = max(_MIN_BLOCK_SAMPLES, round(_BLOCK_DURATION * rate))
    blocks = len(times) // size
    if blocks < 2:
        return []
    is_moving, worst = np.zeros(blocks - 1, dtype=bool), (0.0, "", 0.0)
    for signal, name in zip(values, names):
        changes = np.abs(np.diff(block_medians(signal[None, :], size)[0]))
        steps = np.diff(signal)
        steps -= np.mean(steps)
        noise = np.sqrt(np.dot(steps, steps) / len(steps) / size)
        del steps
        limit = max(MAX_CHANGES[name.split("_")[0]], _MAX_NOISE_RATIO * noise)
        is_moving |= changes > limit
        largest = float(changes.max())
        worst = max(worst, (largest / limit, name, largest), key=lambda axis: axis[0])
    if not is_moving.any():
        return []
    first = float(times[(int(np.argmax(is_moving)) + 1) * size] - times[0])
    _, name, largest = worst
    motion = (
        f"in {is_moving.sum()} of {len(is_moving)} seconds, first at {first:.0f} s; "
        f"{name} changes by up to {largest:.2g} {_UNITS[name.split('_')[0]]} from one second to "
        "the next"
    )
    if np.mean(is_moving) > _MAX_MOVED_SHARE:
        raise RecordingError(f"{source}: the sensor is moving, but must be at rest: {motion}")
    return [f"the sensor was moved {motion}; exclude this part of the recording"]


def block_medians(values: np.ndarray, size: int) -> np.ndarray:
    """Compute the medians of blocks of samples.

    Parameters
    ----------
    values : ndarray, shape (axes, n)
        Samples of each axis.
    size : int
        Number of samples per block; an incomplete last block is ignored.

    Returns
    -------
    ndarray, shape (axes, blocks)
        Medians in the unit of the samples.
    """
    blocks = values.shape[1] // size
    medians = np.empty((len(values), blocks))
    # Blocks are processed in groups, because np.median copies the samples that it sorts.
    blocks_at_once = max(1, _SORTED_AT_ONCE // size)
    for first in range(0, blocks, blocks_at_once):
        last = min(first + blocks_at_once, blocks)
        piece = values[:, first * size : last * size].reshape(len(values), last - first, size)
        medians[:, first:last] = np.median(piece, axis=2)
    return medians


_LONG_STEP = 1.5  # sampling periods; a longer time step may be a gap
_LASTING_SHIFT = 0.5  # sampling periods; a gap delays all later samples by at least this time
_NEIGHBOURS = 20  # samples on each side of a time step from which its shift is estimated
_RATE_BLOCKS = 60  # number of blocks over which median sampling periods are compared
_RATE_TOLERANCE = 0.1  # largest relative difference between median sampling periods
_OUTLIER_BLOCK = 10.0  # s; blocks for outlier detection; the bias is nearly constant
_MAX_OUTLIER_SHARE = 0.01  # if more samples exceed the limits, they are considered noise
_MAX_PARTS = 100
_SAMPLES_AT_ONCE = 8_000_000  # total number of samples in all threads, which limits memory use

# Limits of a RawSignal: intervals, bins, outliers, and plotted range in interquartile ranges.
_INTERVALS, _BINS, _DRAWN_OUTLIERS, _DRAWN_SPREADS = 1500, 120, 2000, 4.0


@dataclass(frozen=True)
class RestSettings(TextSettings):
    """Requirements on a recording at rest, and the limit beyond which samples are outliers.

    Attributes
    ----------
    outlier_range : float
        Distance from the quartiles beyond which a sample is an outlier, in interquartile ranges. A
        distance of 3 corresponds to 2.4 outliers per million samples of Gaussian noise. With 0, no
        sample is an outlier.
    minimum_duration : float
        Required duration of the longest part without a gap [s].
    """

    outlier_range: float = setting(3.0, minimum=0.0)
    minimum_duration: float = setting(60.0, unit="s", minimum=10.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if 0.0 < self.outlier_range < 1.0:
            raise ConfigurationError(
                f"outlier_range is {self.outlier_range:g}, expected 0 or at least 1"
            )


@dataclass(frozen=True)
class RawSignal:
    """Summary of the recorded samples of one axis, for plotting.

    Attributes
    ----------
    times : ndarray, shape (k + 1,)
        Limits of the intervals, relative to the first sample [s].
    lowest, highest : ndarray, shape (k,)
        Minimum and maximum in each interval, in the unit of the axis like all following values.
    level : ndarray, shape (k,)
        Median around each interval, which follows the bias.
    quartiles : tuple of float
        Quartiles of the deviations from the level.
    limits : tuple of float
        Deviations beyond which a sample is an outlier; infinite if outliers are not detected.
    edges : ndarray, shape (m + 1,)
        Edges of the histogram of the deviations.
    counts : ndarray, shape (m,)
        Number of samples in each bin; the first and the last bin include all larger deviations.
    outlier_times : ndarray, shape (q,)
        Times of the first outliers, relative to the first sample [s].
    outliers : ndarray, shape (q,)
        Recorded values of these outliers.
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

    Attributes
    ----------
    source : str
        Name of the recording in messages.
    rate : float
        Sampling rate [Hz].
    values : ndarray, shape (axes, n), or sequence of ndarray, shape (n,)
        All samples in order, with outliers replaced. A sequence may load each array on access; only
        one array is in use at a time.
    parts : tuple of (int, int)
        Index of the first sample of each part in use, and index after its last sample.
    gaps : Occurrences
        Gaps, where samples are missing.
    unused : int
        Number of samples in parts that are too short to be used.
    outliers : dict of str to Occurrences
        Outliers of each axis.
    raw : dict of str to RawSignal
        Recorded samples of each axis.
    remarks : tuple of str
        Remarks for the user, one sentence each.
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
        """Names of the axes."""
        return tuple(self.outliers)

    @property
    def lengths(self) -> list[int]:
        """Number of samples in each contiguous part."""
        return [stop - start for start, stop in self.parts]

    @property
    def duration(self) -> float:
        """Total duration of the contiguous parts in use [s]."""
        return sum(self.lengths) / self.rate


def prepare_at_rest(
    times: ArrayLike,
    values: ArrayLike,
    names: Sequence[str],
    source: str,
    settings: RestSettings | None = None,
) -> SamplesAtRest:
    """Determine the sampling rate, split a recording at gaps, and replace outliers.

    Parameters
    ----------
    times : array_like, shape (n,)
        Strictly increasing times [s].
    values : array_like, shape (n, axes)
        Angular velocities [rad/s] and specific forces [m/s^2].
    names : sequence of str
        Names of the axes, for example ``gyro_x``.
    source : str
        Name of the recording in messages.
    settings : RestSettings, optional
        Required duration and outlier limit.

    Returns
    -------
    SamplesAtRest

    Raises
    ------
    RecordingError
        The recording or its longest part is too short, the sensor moves, the rate changes, or an
        axis is constant.
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
    """Prepare a recording as in :func:`prepare_at_rest`, but in place and axis by axis.

    Parameters
    ----------
    times : ndarray, shape (n,)
        Strictly increasing times [s].
    values : ndarray, shape (axes, n), or mutable sequence of ndarray, shape (n,)
        Samples, in which outliers are replaced.
    names : sequence of str
        Names of the axes, for example ``gyro_x``.
    source : str
        Name of the recording in messages.
    settings : RestSettings, optional
        Required duration and outlier limit.

    Returns
    -------
    SamplesAtRest

    Raises
    ------
    RecordingError
        The recording or its longest part is too short, the sensor moves, the rate changes, or an
        axis is constant.
    """
    settings = settings or RestSettings()
    duration = times[-1] - times[0] if len(times) else 0.0
    if duration < settings.minimum_duration:
        raise RecordingError(
            f"{source}: the recording lasts {duration:.1f} s, expected at least "
            f"{settings.minimum_duration:g} s; slow noise terms need several hours"
        )
    period = _median_period(times, source)
    gap_ends = _find_gaps(times, period)
    edges = np.concatenate([[0], gap_ends, [len(times)]])
    parts = list(zip(edges[:-1].tolist(), edges[1:].tolist()))
    start, stop = max(parts, key=lambda part: part[1] - part[0])
    seconds = times[stop - 1] - times[start]
    if seconds < settings.minimum_duration:
        raise RecordingError(
            f"{source}: samples are missing at {len(gap_ends)} places, and the longest part "
            f"without a gap lasts {seconds:.1f} s, expected at least "
            f"{settings.minimum_duration:g} s"
        )
    # The longest contiguous parts are used, in chronological order.
    least = min(settings.minimum_duration / period, stop - start)
    used = [part for part in parts if part[1] - part[0] >= least]
    used = sorted(sorted(used, key=lambda part: part[0] - part[1])[:_MAX_PARTS])
    rate = sum(stop - start - 1 for start, stop in used) / sum(
        times[stop - 1] - times[start] for start, stop in used
    )
    motion_remarks = check_at_rest(times, values, names, rate, source)
    outliers, raw, remarks = _replace_outliers(times, values, names, rate, source, settings)
    unused = len(times) - sum(stop - start for start, stop in used)
    gaps = count_places(gap_ends, times)
    return SamplesAtRest(
        source=source,
        rate=float(rate),
        values=values,
        parts=tuple(used),
        gaps=gaps,
        unused=unused,
        outliers=outliers,
        raw=raw,
        remarks=(*_gap_remarks(times, gaps, gap_ends, used, unused), *motion_remarks, *remarks),
    )


def _median_period(times: np.ndarray, source: str) -> float:
    """Return the median sampling period, and reject a recording whose period changes."""
    period = float(np.median(np.diff(times), overwrite_input=True))
    steps = np.diff(times)
    blocks = np.array_split(steps, min(_RATE_BLOCKS, max(1, len(steps) // 50)))
    medians = np.array([np.median(block) for block in blocks])
    different = np.flatnonzero(np.abs(medians / medians[0] - 1.0) > _RATE_TOLERANCE)
    if len(different):
        first = int(different[0])
        index = sum(len(block) for block in blocks[:first])
        raise RecordingError(
            f"{source}: the rate changes from {1.0 / medians[0]:.2f} Hz to "
            f"{1.0 / medians[first]:.2f} Hz at about {times[index] - times[0]:.0f} s, expected "
            "a constant rate; analyse the parts as separate recordings, or state the rate if the "
            "stamps are wrong"
        )
    mean = (times[-1] - times[0]) / len(steps)
    steps /= period
    steps -= 1.0
    uneven = np.mean(np.abs(steps, out=steps) > _LONG_STEP - 1.0)
    if uneven > 0.2 and mean > 1.2 * period:
        raise RecordingError(
            f"{source}: {100.0 * uneven:.0f} % of the steps between samples differ by more than "
            f"half from the median of {1e3 * period:.2f} ms, expected a constant rate; state the "
            "rate if the stamps are wrong"
        )
    return period


def _find_gaps(times: np.ndarray, period: float) -> np.ndarray:
    """Return the indices of the first samples after gaps.

    A long step is a gap only if it shifts all later samples. If only one sample is late, the next
    step is short, and there is no gap.
    """
    candidates = np.flatnonzero(np.diff(times) > _LONG_STEP * period) + 1
    offset, last = np.arange(_NEIGHBOURS), len(times) - 1
    earlier = np.clip(candidates[:, None] - 1 - offset, 0, last)
    later = np.clip(candidates[:, None] + offset, 0, last)
    later_offset = np.median(times[later] - period * later, axis=1)
    earlier_offset = np.median(times[earlier] - period * earlier, axis=1)
    return candidates[later_offset - earlier_offset > _LASTING_SHIFT * period]


def _gap_remarks(
    times: np.ndarray, gaps: Occurrences, gap_ends: np.ndarray, used: Sized, unused: int
) -> list[str]:
    if not gaps:
        return []
    longest = max(float(times[index] - times[index - 1]) for index in gap_ends.tolist())
    parts = (
        f"{len(used)} parts are combined, weighted by their degrees of freedom; {unused} samples "
        "in shorter parts are not used"
    )
    if len(used) == 1:
        parts = f"one part is used; {unused} samples in other parts are not used"
    return [
        f"samples are missing at {gaps.count} {'place' if gaps.count == 1 else 'places'}, the "
        f"first at {gaps.first_time:.2f} s; the longest gap is {longest:.2f} s; averages do not "
        f"span gaps: {parts}"
    ]


def _replace_outliers(
    times: np.ndarray,
    values: Any,
    names: Sequence[str],
    rate: float,
    source: str,
    settings: RestSettings,
) -> tuple[Any, Any, list[str]]:
    """Replace outliers in place; return their positions, raw signal summaries and remarks."""

    def clean_axis(axis: int) -> tuple[Occurrences, Any, float]:
        """Replace an axis' outliers in place unless there are too many, and summarise the axis."""
        signal = values[axis]
        if np.ptp(signal) == 0.0:
            raise RecordingError(
                f"{source}: {names[axis]} is {signal[0]:g} in all {len(times)} samples, expected "
                "the noise of a sensor at rest"
            )
        indices, replacements, raw = _find_outliers(times, signal, rate, settings.outlier_range)
        if len(indices) > _MAX_OUTLIER_SHARE * len(signal):
            return Occurrences(), raw, len(indices) / len(signal)
        signal[indices] = replacements
        values[axis] = signal
        return count_places(indices, times), raw, 0.0

    # Threads suffice, because NumPy releases the global interpreter lock while it sorts.
    with ThreadPoolExecutor(choose_thread_count(len(times))) as pool:
        cleaned = dict(zip(names, pool.map(clean_axis, range(len(names)))))
    remarks = [
        f"{100.0 * share:.1f} % of the samples of {name} are beyond the outlier limits; they are "
        "not replaced, because the noise of this axis is not Gaussian"
        for name, (_, _, share) in cleaned.items()
        if share
    ]
    outliers, raw = ({name: result[k] for name, result in cleaned.items()} for k in (0, 1))
    return outliers, raw, remarks


def choose_thread_count(samples: int) -> int:
    """Return the number of axes to process in parallel.

    Parameters
    ----------
    samples : int
        Number of samples per axis; long recordings are processed axis by axis to save memory.

    Returns
    -------
    int
        Number of axes, at least one.
    """
    return max(1, min(4, os.cpu_count() or 1, _SAMPLES_AT_ONCE // samples))


def _find_outliers(
    times: np.ndarray, signal: np.ndarray, rate: float, limit: float
) -> tuple[np.ndarray, np.ndarray, Any]:
    """Find outliers of one axis, with the medians around them and a summary of the signal.

    The quartiles are computed from the deviations from medians of short blocks, so that slow bias
    changes neither hide nor cause outliers.
    """
    size = max(10, round(_OUTLIER_BLOCK * rate))
    blocks = max(1, len(signal) // size)
    size = size if blocks > 1 else len(signal)
    medians = block_medians(signal[None, :], size)[0]
    # The deviations are computed again, because np.quantile sorts its input in place.
    lower, upper = np.quantile(
        _deviations(signal, medians, size), [0.25, 0.75], overwrite_input=True
    )
    deviations = _deviations(signal, medians, size)
    distance = limit * max(upper - lower, _resolution(signal)) if limit else np.inf
    limits = float(lower - distance), float(upper + distance)
    indices = np.flatnonzero((deviations < limits[0]) | (deviations > limits[1]))
    starts = np.unique(np.linspace(0, len(signal), _INTERVALS, endpoint=False).astype(int))
    ends = 2.0 * min(limits[1], _DRAWN_SPREADS * (upper - lower)) or 1.0
    edges = np.linspace(-ends, ends, _BINS + 1)
    counts = np.histogram(np.clip(deviations, -ends, ends, out=deviations), edges)[0]
    first = indices[:_DRAWN_OUTLIERS]
    raw = RawSignal(
        times=np.append(times[starts], times[-1]) - times[0],
        lowest=np.minimum.reduceat(signal, starts),
        highest=np.maximum.reduceat(signal, starts),
        level=medians[np.minimum(starts // size, blocks - 1)],
        quartiles=(float(lower), float(upper)),
        limits=limits,
        edges=edges,
        counts=counts,
        outlier_times=times[first] - times[0],
        outliers=signal[first],
    )
    return indices, medians[np.minimum(indices // size, blocks - 1)], raw


def _deviations(signal: np.ndarray, medians: np.ndarray, size: int) -> np.ndarray:
    """Return the deviations of samples from the medians of their blocks of ``size`` samples."""
    deviations, whole = signal.copy(), len(medians) * size
    deviations[:whole].reshape(len(medians), size)[:] -= medians[:, None]
    deviations[whole:] -= medians[-1]
    return deviations


def _resolution(signal: np.ndarray) -> float:
    """Return the smallest difference between two distinct values among the first samples."""
    levels = np.unique(signal[:10_000])
    return float(np.diff(levels).min()) if len(levels) > 1 else 0.0
