"""Time stamps of a recording: order, errors, gaps and rate."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace

import numpy as np

STAMP_TOLERANCE = 1e-6
"""Tolerance for the difference between a stamp and its nominal time [s]."""

GAP_FACTOR = 5.0
"""A time step that is longer than this multiple of the median step may be a gap."""

MIN_GAP = 0.5
"""Shortest time step that may be a gap [s]; the heading changes little in a shorter step."""


def find_gap_ends(time) -> np.ndarray:
    """Return the indices of the first samples after gaps.

    A gap is a step of more than :data:`GAP_FACTOR` median steps and more than
    :data:`MIN_GAP` seconds.

    Parameters
    ----------
    time : array_like, shape (n,)
        Strictly ascending times [s].

    Returns
    -------
    ndarray of int
        Index of the first sample after each gap.
    """
    steps = np.diff(np.asarray(time, dtype=float))
    if len(steps) == 0:
        return np.empty(0, dtype=int)
    limit = max(MIN_GAP, GAP_FACTOR * float(np.median(steps)))
    return np.flatnonzero(steps > limit) + 1


def interpolate_outside_gaps(time, values, instants) -> np.ndarray:
    """Interpolate a time series linearly, except in its gaps.

    Parameters
    ----------
    time : array_like, shape (n,)
        Strictly ascending times of the series [s].
    values : array_like, shape (n,)
        Values of the series.
    instants : array_like, shape (m,)
        Times at which to interpolate [s].

    Returns
    -------
    ndarray, shape (m,)
        Interpolated values; nan in gaps, before the first sample and after the last sample.
    """
    time, instants = np.asarray(time, dtype=float), np.asarray(instants, dtype=float)
    if len(time) == 0:
        return np.full(len(instants), np.nan)
    result = np.interp(instants, time, values, left=np.nan, right=np.nan)
    gap_ends = find_gap_ends(time)
    # A time is in a gap if the next sample is the first one after a gap.
    upper = np.searchsorted(time, instants, side="left")
    exact = (upper < len(time)) & (time[np.minimum(upper, len(time) - 1)] == instants)
    result[np.isin(upper, gap_ends) & ~exact] = np.nan
    return result


NANOSECONDS = 1_000_000_000


def count_periods(first: int, stamps, rate: float) -> np.ndarray:
    """Count the complete sampling periods between the first stamp and later stamps.

    Parameters
    ----------
    first : int
        First stamp [ns].
    stamps : ndarray of int, shape (n,)
        Stamps [ns].
    rate : float
        Rate [Hz].

    Returns
    -------
    ndarray of int, shape (n,)
        Numbers of periods.
    """
    return np.floor((stamps - first) / NANOSECONDS * rate + 1e-6).astype(np.int64)


@dataclass(frozen=True)
class Occurrences:
    """Number of occurrences of a problem, with the location of the first one.

    Parameters
    ----------
    count : int
        Number of occurrences.
    first_place : int, optional
        Message, line or index of the first occurrence, in the caller's numbering of samples.
    first_time : float, optional
        Time of the first occurrence relative to the first sample [s]; None if it is unknown.
    """

    count: int = 0
    first_place: int | None = None
    first_time: float | None = None

    def __bool__(self):
        return self.count > 0


@dataclass(frozen=True)
class StampLimits:
    """Limits beyond which time stamps are reported or rejected.

    Parameters
    ----------
    gap_factor : float
        A step of more than this number of median periods is reported as a gap.
    backward_step : float
        Largest accepted step backwards [s]. A larger step means that the clock was set back.
    unordered_fraction : float
        Largest accepted share of unordered samples; three such samples are always accepted.
    longest_gap : float
        Longest accepted gap [s]. During a longer gap, the clock may have been set.
    """

    gap_factor: float = GAP_FACTOR
    backward_step: float = 1.0
    unordered_fraction: float = 0.05
    longest_gap: float = 600.0


RATE_REMEDY = "state the rate, with --rate HZ or as time = line / HZ [s] in a column map"
"""Remedy for missing time stamps, to be appended to an error message."""


@dataclass(frozen=True)
class StampReport:
    """Properties of the time stamps of a recording.

    Parameters
    ----------
    samples, usable : int
        Total number of samples, and number of samples that remain.
    start, stop : float
        First and last time on the recording's clock [s]; nan if no sample remains.
    rate : float
        Mean rate of the remaining samples [Hz]; nan if fewer than two samples remain.
    median_period : float
        Median step of the remaining samples [s]; nan if fewer than two samples remain.
    missing : Occurrences
        Samples without a time, which are dropped.
    unordered : Occurrences
        Samples that are older than a previous sample, which are sorted.
    duplicates : Occurrences
        Samples with the same time as a previous sample, which are dropped.
    gaps : Occurrences
        Steps that are long compared with the median; the location is the sample after the gap.
    longest_gap, longest_gap_time : float
        Length of the longest gap, and its start relative to the first sample [s]; 0 without gaps.
    backward_step : float
        Largest step backwards between consecutive samples [s].
    backward_place : int, optional
        Location of the largest step backwards, None if there is none.
    packet : int
        Number of samples that arrive together, as from a buffer; 1 if they arrive individually.
    mean_rate : float
        Rate of all samples with a time, including duplicates [Hz]; nan if all times are the same.
    """

    samples: int = 0
    usable: int = 0
    start: float = float("nan")
    stop: float = float("nan")
    rate: float = float("nan")
    median_period: float = float("nan")
    missing: Occurrences = field(default_factory=Occurrences)
    unordered: Occurrences = field(default_factory=Occurrences)
    duplicates: Occurrences = field(default_factory=Occurrences)
    gaps: Occurrences = field(default_factory=Occurrences)
    longest_gap: float = 0.0
    longest_gap_time: float = 0.0
    backward_step: float = 0.0
    backward_place: int | None = None
    packet: int = 1
    mean_rate: float = float("nan")

    @property
    def never_set(self) -> bool:
        """Whether there are several samples, and all have the same time stamp."""
        timed = self.samples - self.missing.count
        return timed > 1 and self.duplicates.count == timed - 1

    @property
    def packets_text(self) -> str:
        """Text about packets of samples and the mean rate; empty if samples arrive individually."""
        if self.packet == 1:
            return ""
        return (
            f"samples arrive in packets of {self.packet}, so their stamps come from a host that "
            f"reads a buffer; the mean rate is {self.mean_rate:.4g} Hz"
        )

    @property
    def duration(self) -> float:
        """Time between the first and the last sample [s]."""
        return self.stop - self.start

    def refusal(self, limits: StampLimits, place_name="sample") -> str:
        """Return the reason why the stamps are unusable, if there is one.

        Parameters
        ----------
        limits : StampLimits
            Limits of usable stamps.
        place_name : str, optional
            Noun for the location of a sample, such as "message" or "line".

        Returns
        -------
        str
            The reason, to be appended to a message; empty if the stamps are usable.
        """
        if self.never_set:
            return (
                f"all {self.samples - self.missing.count} time stamps are {self.start:g} s, so "
                f"they were never set; {RATE_REMEDY}"
            )
        if self.backward_step > limits.backward_step:
            return (
                f"the clock runs backwards by {self.backward_step:.3f} s at {place_name} "
                f"{self.backward_place}, but time stamps must increase"
            )
        if self.unordered.count > max(3, limits.unordered_fraction * self.samples):
            return (
                f"{self.unordered.count} of {self.samples} time stamps are earlier than a previous "
                f"one, the first at {place_name} {self.unordered.first_place}, "
                "but time stamps must increase"
            )
        if self.longest_gap > limits.longest_gap:
            return (
                f"nothing was recorded for {self.longest_gap:.1f} s after "
                f"{self.longest_gap_time:.3f} s, but gaps must not exceed "
                f"{limits.longest_gap:g} s"
            )
        return ""

    def to_dict(self) -> dict:
        """Return the properties as a dictionary for a summary.

        Returns
        -------
        dict of str to object
            Value of each field; a number that is not finite becomes None.
        """
        return {
            key: None if isinstance(value, float) and not np.isfinite(value) else value
            for key, value in asdict(self).items()
        }


def seconds_from_nanoseconds(nanoseconds):
    """Convert integer nanoseconds to seconds.

    Full seconds are converted separately. Nanoseconds since 1970 exceed the precision of a
    float64, so that a plain division would round twice.

    Parameters
    ----------
    nanoseconds : int or array_like of int
        Nanoseconds.

    Returns
    -------
    float or ndarray
        Seconds.
    """
    return seconds_from_counts(nanoseconds, NANOSECONDS)


def seconds_from_counts(counts, per_second):
    """Convert clock counts to seconds.

    Parameters
    ----------
    counts : number or array_like
        Counts. Values that are not finite are unchanged.
    per_second : int
        Number of counts per second.

    Returns
    -------
    float or ndarray
        Seconds.
    """
    counts = np.asarray(counts)
    with np.errstate(invalid="ignore"):
        seconds, remainder = np.divmod(counts, per_second)
    seconds = seconds + remainder / float(per_second)
    return np.where(np.isinf(counts), counts, seconds)[()] if counts.dtype.kind == "f" else seconds


def count_occurrences(mask, times, places=None) -> Occurrences:
    """Count the samples selected by a mask, and locate the first one.

    Parameters
    ----------
    mask : ndarray of bool, shape (n,)
        Samples to count.
    times : array_like, shape (n,)
        Time of each sample [s], nan where it is missing.
    places : ndarray of int, shape (n,), optional
        Number of each sample in the recording, by default 0, 1, 2, ...

    Returns
    -------
    Occurrences
        The time of the first occurrence is relative to the smallest of the times.
    """
    return count_places(np.flatnonzero(mask), times, places)


def count_places(indices, times, places=None) -> Occurrences:
    """Count samples with given ascending indices, and locate the first one.

    Parameters
    ----------
    indices : ndarray of int
        Ascending indices of samples.
    times, places : array_like
        Times and places of all samples, as in :func:`count_occurrences`.

    Returns
    -------
    Occurrences
    """
    if len(indices) == 0:
        return Occurrences()
    times = np.asarray(times, dtype=float)
    first = int(indices[0])
    finite = times[np.isfinite(times)]
    first_time = float(times[first] - (finite.min() if len(finite) else float("nan")))
    return Occurrences(
        count=len(indices),
        first_place=first if places is None else int(places[first]),
        first_time=first_time if np.isfinite(first_time) else None,
    )


def examine_stamps(times, places=None, limits=None):
    """Examine time stamps, and sort the samples by time.

    Samples without a time are dropped, and unordered samples are sorted. Of several samples with
    the same time, only the first remains. :meth:`StampReport.refusal` tests whether the stamps are
    usable.

    Parameters
    ----------
    times : array_like, shape (n,)
        Time of each sample [s] in the order of recording, nan where it is missing.
    places : array_like of int, shape (n,), optional
        Number of each sample in the recording, by default 0, 1, 2, ...
    limits : StampLimits, optional
        Limits, of which only ``gap_factor`` is used.

    Returns
    -------
    order : ndarray of int
        Indices of the remaining samples, whose times strictly ascend.
    report : StampReport
        Properties of the stamps.
    """
    limits = limits or StampLimits()
    times = np.asarray(times, dtype=float)
    if len(times) > 1 and bool(np.all(times[1:] > times[:-1])):
        return _growing_stamps(times, places, limits)
    places = np.arange(len(times)) if places is None else np.asarray(places)
    finite = np.flatnonzero(np.isfinite(times))
    missing = count_occurrences(~np.isfinite(times), times, places)
    if len(finite) == 0:
        return finite, StampReport(samples=len(times), missing=missing)

    recorded = times[finite]
    newest = np.maximum.accumulate(recorded)
    is_older = np.concatenate([[False], recorded[1:] < newest[:-1]])
    steps = np.diff(recorded, prepend=recorded[0])
    back = int(np.argmin(steps))

    order = finite[np.argsort(recorded, kind="stable")]
    repeated = np.concatenate([[False], np.diff(times[order]) == 0.0])
    duplicates, order = np.sort(order[repeated]), order[~repeated]
    return order, replace(
        _growing_stamps(times[order], places[order], limits)[1],
        samples=len(times),
        missing=missing,
        unordered=count_occurrences(is_older, recorded, places[finite]),
        duplicates=count_places(duplicates, times, places),
        mean_rate=_mean_rate(recorded, packet_size(recorded)),
        backward_step=float(max(0.0, -steps[back])),
        backward_place=int(places[finite][back]) if steps[back] < 0.0 else None,
    )


def _growing_stamps(times, places, limits):
    """Examine strictly ascending stamps as in :func:`examine_stamps`, but with less memory."""
    packet = packet_size(times)
    median_period = float("nan")
    if len(times) > 1:
        median_period = float(np.median(np.diff(times), overwrite_input=True))
    periods = np.diff(times)
    gaps = np.flatnonzero(periods > limits.gap_factor * median_period) + 1
    longest = int(np.argmax(periods)) if len(gaps) else None
    return np.arange(len(times)), StampReport(
        samples=len(times),
        usable=len(times),
        start=float(times[0]),
        stop=float(times[-1]),
        rate=float(len(periods) / (times[-1] - times[0])) if len(periods) else float("nan"),
        median_period=median_period,
        packet=packet,
        mean_rate=_mean_rate(times, packet),
        gaps=count_places(gaps, times, places),
        longest_gap=float(periods[longest]) if longest is not None else 0.0,
        longest_gap_time=float(times[longest] - times[0]) if longest is not None else 0.0,
    )


_MIN_PACKETS = 10
_MIN_SHARE_OF_EQUAL_SIZE = 0.8  # smallest share of packets that have the median size
_MAX_STEP_RATIO = 0.2  # largest step within a packet, relative to the step between packets


def packet_size(times) -> int:
    """Return the number of samples that arrive together in a packet.

    A host that reads a buffer gives nearly the same stamp to all of its samples, and then waits for
    the next packet.

    Parameters
    ----------
    times : array_like, shape (n,)
        Time of each sample [s] in the order of recording.

    Returns
    -------
    int
        Number of samples per packet; 1 if samples arrive individually.
    """
    steps = np.diff(np.asarray(times, dtype=float))
    if not np.isfinite(steps).all():
        steps = steps[np.isfinite(steps)]
    if len(steps) < 2 * _MIN_PACKETS:
        return 1
    # Steps between packets are longer than the mean, because steps within packets are nearly zero.
    mean = float(np.mean(steps))
    packet_starts = np.flatnonzero(steps > mean)
    if len(packet_starts) < _MIN_PACKETS:
        return 1
    sizes = np.diff(packet_starts)
    size = int(np.median(sizes))
    if size < 2 or np.mean(sizes == size) < _MIN_SHARE_OF_EQUAL_SIZE:
        return 1
    steps_in_packets = np.delete(steps, packet_starts)
    are_short = float(np.percentile(steps_in_packets, 90)) < _MAX_STEP_RATIO * float(
        np.median(steps[packet_starts])
    )
    return size if are_short else 1


def _mean_rate(times, packet) -> float:
    span = float(np.max(times) - np.min(times)) if len(times) else 0.0
    # The last packet is excluded, because no step follows it.
    return (len(times) - packet) / span if span > 0.0 else float("nan")
