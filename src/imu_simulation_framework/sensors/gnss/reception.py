"""When a GNSS receiver receives, and how well: outages and qualities of its fixes over time.

Both are drawn as far as they are asked for, so that they are the same in one piece or in many.
"""

from __future__ import annotations

import math

import numpy as np

from imu_simulation_framework.sensors.gnss.specification import (
    QUALITIES,
    GnssOutages,
    GnssSpecification,
)


class Outages:
    """Listed and random outages.

    Parameters
    ----------
    outages : GnssOutages
        Random ones are a renewal process that begins with reception: exponentially distributed
        times of mean ``1 / rate`` with reception, and of ``mean_duration`` without.
    generator : numpy.random.Generator
    """

    def __init__(self, outages: GnssOutages, generator: np.random.Generator) -> None:
        self._listed = np.array(outages.times).reshape(-1, 2)
        # Ends of times with reception and without, by turns.
        self._means = (
            1.0 / outages.rate if outages.rate > 0.0 else math.inf,
            outages.mean_duration,
        )
        self._generator = generator
        self._ends: list[float] = []

    def cover(self, time: np.ndarray) -> np.ndarray:
        """Return which times (n,) [s], increasing, are within an outage, (n,) of bool."""
        covered = np.zeros(len(time), dtype=bool)
        for begin, end in self._listed:
            covered |= (time >= begin) & (time < end)
        if math.isinf(self._means[0]):
            return covered
        while len(time) and (not self._ends or self._ends[-1] <= time[-1]):
            wait = self._means[len(self._ends) % 2] * self._generator.standard_exponential()
            self._ends.append((self._ends[-1] if self._ends else 0.0) + wait)
        return covered | (np.searchsorted(self._ends, time, side="right") % 2 == 1)


class Qualities:
    """The quality of fixes: listed over time, or a Markov chain in continuous time.

    Parameters
    ----------
    gnss : GnssSpecification
        Of two random changes that are possible, that comes which is first.
    generator : numpy.random.Generator
    """

    def __init__(self, gnss: GnssSpecification, generator: np.random.Generator) -> None:
        self._generator = generator
        self._numbers = [QUALITIES[gnss.qualities[0].quality]]
        self._begins = [-math.inf]
        self._ways: dict[int, list[tuple[int, float]]] = {}
        for change in gnss.changes:
            ways = self._ways.setdefault(QUALITIES[change.before], [])
            if change.rate > 0.0:
                ways.append((QUALITIES[change.after], change.rate))
        for time, quality in gnss.schedule:
            self._begins.append(time)
            self._numbers.append(QUALITIES[quality])
        self._next = 0.0 if gnss.changes else math.inf
        if gnss.changes:
            self._wait()

    def at(self, time: np.ndarray) -> np.ndarray:
        """Return the qualities at times (n,) [s], increasing, as numbers of ``QUALITIES``, (n,)."""
        while len(time) and self._next <= time[-1]:
            after, rates = zip(*self._ways[self._numbers[-1]])
            share = np.cumsum(rates) / np.sum(rates)
            chosen = int(np.searchsorted(share, self._generator.random(), side="right"))
            self._begins.append(self._next)
            self._numbers.append(after[min(chosen, len(after) - 1)])
            self._wait()
        return np.array(self._numbers)[np.searchsorted(self._begins, time, side="right") - 1]

    def _wait(self) -> None:
        """Draw when the present quality ends."""
        rate = sum(rate for _, rate in self._ways.get(self._numbers[-1], ()))
        self._next += self._generator.standard_exponential() / rate if rate > 0.0 else math.inf
