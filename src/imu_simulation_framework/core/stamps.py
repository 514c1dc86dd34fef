"""Time stamps of a recording: what is wrong with them, how they are put in order, and gaps."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace

import numpy as np

STAMP_TOLERANCE = 1e-6
"""By how much a stamp may be beside the time that was meant [s]."""

GAP_FACTOR = 5.0
"""A step of more than so many median steps is a gap."""

MIN_GAP = 0.5
"""A step this long [s] is no gap, however close the other samples are: a heading hardly changes."""


def find_gap_ends(time) -> np.ndarray:
    """Return indices of the samples that come first behind a gap.

    A gap is a step of more than :data:`GAP_FACTOR` median steps and more than
    :data:`MIN_GAP` seconds.

    ``time`` (n,): strictly ascending [s].
    """
    steps = np.diff(np.asarray(time, dtype=float))
    if len(steps) == 0:
        return np.empty(0, dtype=int)
    limit = max(MIN_GAP, GAP_FACTOR * float(np.median(steps)))
    return np.flatnonzero(steps > limit) + 1


def interpolate_outside_gaps(time, values, when) -> np.ndarray:
    """Return a series at other times, linear between samples; nan in its gaps, before and after it.

    ``time``, ``values`` (n,): times strictly ascending [s]. ``when`` (m,) [s].
    """
    time, when = np.asarray(time, dtype=float), np.asarray(when, dtype=float)
    if len(time) == 0:
        return np.full(len(when), np.nan)
    result = np.interp(when, time, values, left=np.nan, right=np.nan)
    behind = find_gap_ends(time)
    # Of a time within a gap both neighbours are the gap's ends.
    after = np.searchsorted(time, when, side="left")
    exact = (after < len(time)) & (time[np.minimum(after, len(time) - 1)] == when)
    result[np.isin(after, behind) & ~exact] = np.nan
    return result


NANOSECONDS = 1_000_000_000


def count_periods(first: int, stamps, rate: float) -> np.ndarray:
    """Return how many whole periods of a rate [Hz] have passed at stamps (n,) since one [ns]."""
    return np.floor((stamps - first) / NANOSECONDS * rate + 1e-6).astype(np.int64)


@dataclass(frozen=True)
class Occurrences:
    """How often something was found, and where first.

    ``first_place`` is a message, line or index, as the caller numbers samples; ``first_time`` is
    after the recording's first sample [s], None if it has no time.
    """

    count: int = 0
    first_place: int | None = None
    first_time: float | None = None

    def __bool__(self):
        return self.count > 0


@dataclass(frozen=True)
class StampLimits:
    """When time stamps are only reported, and when they cannot be used.

    ``gap_factor``: a step longer than this many median periods is a gap; ``backward_step``: a
    longer step back [s] means that the clock itself went back; ``unordered_fraction``: a larger
    share of unordered samples means that they have no usable order, three of them are always
    accepted; ``longest_gap``: across a longer one [s] nothing can be said about the drive, or the
    clock was set.
    """

    gap_factor: float = GAP_FACTOR
    backward_step: float = 1.0
    unordered_fraction: float = 0.05
    longest_gap: float = 600.0


RATE_REMEDY = "state the rate, with --rate HZ or as time = line / HZ [s] in a column map"
"""Remedy where stamps are of no use; samples then follow each other evenly."""


@dataclass(frozen=True)
class StampReport:
    """What the time stamps of a recording are like.

    ``samples``, ``usable``: how many were looked at, and remain; ``start``, ``stop``: first and
    last time on the recording's clock [s], nan if nothing remains; ``rate``: over the whole time
    [Hz], and ``median_period`` [s], nan below two samples; ``missing``: samples without a time,
    dropped; ``unordered``: older than one before them, sorted in; ``duplicates``: with the time of
    another one, of which the first remains; ``gaps``: steps that are long against the median, at
    the sample behind; ``longest_gap``, ``longest_gap_time``: its length and its start after the
    first sample [s], 0 without gaps; ``backward_step``, ``backward_place``: longest step back from
    one sample to the next [s], and where that was. ``packet``: samples that come together, as those
    that a host reads from a buffer; 1 where each comes by itself. ``mean_rate``: of all samples
    with a time, whatever their stamps [Hz], nan where these are all the same.
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
        """Whether all of several samples have the same time."""
        timed = self.samples - self.missing.count
        return timed > 1 and self.duplicates.count == timed - 1

    @property
    def packets_text(self) -> str:
        """What the stamps of packets say of the rate; empty without packets."""
        if self.packet == 1:
            return ""
        return (
            f"samples come in packets of {self.packet}, so their stamps are those of a host that "
            f"reads a buffer; the mean rate is {self.mean_rate:.4g} Hz"
        )

    @property
    def duration(self) -> float:
        """Time from the first to the last sample [s]."""
        return self.stop - self.start

    def refusal(self, limits: StampLimits, place_name="sample") -> str:
        """Return why these stamps cannot be used, as half a sentence; empty if they can."""
        if self.never_set:
            return (
                f"all {self.samples - self.missing.count} time stamps are {self.start:g} s, so "
                f"they were never set; {RATE_REMEDY}"
            )
        if self.backward_step > limits.backward_step:
            return (
                f"the clock runs backwards by {self.backward_step:.3f} s at {place_name} "
                f"{self.backward_place}, expected time stamps that grow"
            )
        if self.unordered.count > max(3, limits.unordered_fraction * self.samples):
            return (
                f"{self.unordered.count} of {self.samples} time stamps are older than one before "
                f"them, the first at {place_name} {self.unordered.first_place}, "
                "expected time stamps that grow"
            )
        if self.longest_gap > limits.longest_gap:
            return (
                f"nothing was recorded for {self.longest_gap:.1f} s from "
                f"{self.longest_gap_time:.3f} s on, expected no gap over {limits.longest_gap:g} s"
            )
        return ""

    def to_dict(self) -> dict:
        """Return plain numbers, for a summary; what is not a number is None."""
        return {
            key: None if isinstance(value, float) and not np.isfinite(value) else value
            for key, value in asdict(self).items()
        }


def seconds_from_nanoseconds(nanoseconds):
    """Return whole nanoseconds as seconds.

    The whole seconds are separated first: nanoseconds since 1970 do not fit a float64, so
    that a plain division would round twice.
    """
    return seconds_from_counts(nanoseconds, NANOSECONDS)


def seconds_from_counts(counts, per_second):
    """Return counts of a whole part of a second as seconds; nan and infinities stay."""
    counts = np.asarray(counts)
    with np.errstate(invalid="ignore"):
        seconds, rest = np.divmod(counts, per_second)
    seconds = seconds + rest / float(per_second)
    return np.where(np.isinf(counts), counts, seconds)[()] if counts.dtype.kind == "f" else seconds


def count_occurrences(mask, times, places=None) -> Occurrences:
    """Count where a mask (n,) is true and tell the first place.

    ``mask`` (n,). ``times`` (n,): time of each sample [s], nan where it has none. ``places`` (n,):
    number of each sample in the recording, default 0, 1, 2. The smallest of the times counts as
    zero.
    """
    return count_places(np.flatnonzero(mask), times, places)


def count_places(where, times, places=None) -> Occurrences:
    """Count growing indices and tell the first, as :func:`count_occurrences` does of a mask."""
    if len(where) == 0:
        return Occurrences()
    times = np.asarray(times, dtype=float)
    first = int(where[0])
    finite = times[np.isfinite(times)]
    after = float(times[first] - (finite.min() if len(finite) else float("nan")))
    return Occurrences(
        count=len(where),
        first_place=first if places is None else int(places[first]),
        first_time=after if np.isfinite(after) else None,
    )


def examine_stamps(times, places=None, limits=None):
    """Look at time stamps and find the order in which the samples serve.

    Samples without a time are left out, unordered ones sorted in, and of those with equal
    times the first one recorded remains. Whether the result should be used at all is reported
    by :meth:`StampReport.refusal`.

    ``times`` (n,): time of each sample [s] in the order of recording; nan where it is missing.
    ``places`` (n,): number of each sample in the recording, for the report; default 0, 1, 2.
    Returned are the indices of the remaining samples, whose times grow strictly, and a
    :class:`StampReport`.
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
    older = np.concatenate([[False], recorded[1:] < newest[:-1]])
    steps = np.diff(recorded, prepend=recorded[0])
    back = int(np.argmin(steps))

    order = finite[np.argsort(recorded, kind="stable")]
    repeated = np.concatenate([[False], np.diff(times[order]) == 0.0])
    duplicates, order = np.sort(order[repeated]), order[~repeated]
    return order, replace(
        _growing_stamps(times[order], places[order], limits)[1],
        samples=len(times),
        missing=missing,
        unordered=count_occurrences(older, recorded, places[finite]),
        duplicates=count_places(duplicates, times, places),
        mean_rate=_mean_rate(recorded),
        backward_step=float(max(0.0, -steps[back])),
        backward_place=int(places[finite][back]) if steps[back] < 0.0 else None,
    )


def _growing_stamps(times, places, limits):
    """Return what :func:`examine_stamps` does of times that grow strictly, with little memory."""
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
        packet=packet_size(times),
        mean_rate=_mean_rate(times),
        gaps=count_places(gaps, times, places),
        longest_gap=float(periods[longest]) if longest is not None else 0.0,
        longest_gap_time=float(times[longest] - times[0]) if longest is not None else 0.0,
    )


_FEWEST_PACKETS = 10
_SAME_SIZE = 0.8  # Share of the packets that have the usual size
_SHORT_STEP = 0.2  # A step within a packet, as a share of the one from packet to packet


def packet_size(times) -> int:
    """Return how many samples come together, 1 where each comes by itself.

    A host that reads a buffer stamps its samples within a moment of each other, or with one time,
    and then waits for the next ones.

    ``times`` (n,): time of each sample [s] in the order of recording.
    """
    steps = np.diff(np.asarray(times, dtype=float))
    steps = steps[np.isfinite(steps)]
    if len(steps) < 2 * _FEWEST_PACKETS:
        return 1
    # Between packets there are as many steps as there are packets, and nearly all of the time.
    mean = float(np.mean(steps))
    behind = np.flatnonzero(steps > mean)
    if len(behind) < _FEWEST_PACKETS:
        return 1
    sizes = np.diff(behind)
    size = int(np.median(sizes))
    within = np.delete(steps, behind)
    if size < 2 or np.mean(sizes == size) < _SAME_SIZE:
        return 1
    alike = float(np.percentile(within, 90)) < _SHORT_STEP * float(np.median(steps[behind]))
    return size if alike else 1


def _mean_rate(times) -> float:
    span = float(np.max(times) - np.min(times)) if len(times) else 0.0
    # The last packet has no step behind it.
    return (len(times) - packet_size(times)) / span if span > 0.0 else float("nan")
