"""Samples as they come in, by their stamps."""

from __future__ import annotations

import bisect

from imu_simulation_framework.motion.stamps import NANOSECONDS
from imu_simulation_framework.results.sample_store import SampleStore


class Stream:
    """Samples of one kind: a stamp [ns] and a fixed number of values each.

    A sample whose stamp is that of the last one replaces it: a simulator that waits repeats
    itself, and the robot may have been put somewhere else meanwhile. One whose stamp is older is
    counted in ``backwards`` and left out.
    """

    def __init__(self, columns) -> None:
        self.store = SampleStore(columns)
        self.backwards = 0

    def append(self, stamp: int, values) -> None:
        """Add one sample; ``values`` has as many numbers as the stream has columns."""
        newest = self.store.newest
        if newest is not None and stamp < newest:
            self.backwards += 1
        else:
            self.store.append(stamp, values)

    def append_rows(self, stamps, values) -> None:
        """Add samples as :meth:`append` would, one after the other.

        Parameters
        ----------
        stamps : ndarray of int, shape (n,)
            [ns]
        values : ndarray, shape (n, columns)
        """
        newest = self.store.newest
        first_is_next = len(stamps) and (newest is None or newest < stamps[0])
        if first_is_next and (stamps[1:] > stamps[:-1]).all():
            self.store.append_rows(stamps, values)
            return
        for stamp, row in zip(stamps.tolist(), values):
            self.append(stamp, row)

    def __len__(self) -> int:
        return len(self.store)

    @property
    def newest(self):
        """Stamp of the last sample [ns]; None without any."""
        return self.store.newest

    def expected(self, rate: float, zero: int, end: int) -> int:
        """How many samples there should be from stamp ``zero`` to ``end`` [ns] at this rate [Hz].

        The stream's phase is its own: a simulator need not sample at time zero.
        """
        first, last = self.span(zero, end)
        if first == last:
            return int((end - zero + 0.5) / NANOSECONDS * rate) + 1
        begin = self.store.stamps[first]
        # Half a nanosecond: the end may be a whole number of periods after the first one.
        before = int((begin - zero + 0.5) / NANOSECONDS * rate)
        return before + int((end - begin + 0.5) / NANOSECONDS * rate) + 1

    def count_until(self, end: int) -> int:
        """Return how many samples have a stamp of at most ``end`` [ns]."""
        return bisect.bisect_right(self.store.stamps, end)

    def span(self, zero: int, end: int):
        """Numbers of the first sample from stamp ``zero`` on and of the first after ``end``."""
        first = bisect.bisect_left(self.store.stamps, zero)
        return first, max(first, self.count_until(end))

    def blocks(self, zero: int, end: int):
        """Yield samples from stamp ``zero`` to ``end`` [ns], both included, in blocks.

        Yields
        ------
        time : ndarray, shape (n,)
            Seconds after ``zero``.
        values : ndarray, shape (n, columns)
        """
        for stamps, values in self.store.blocks(*self.span(zero, end)):
            yield (stamps - zero) / NANOSECONDS, values
