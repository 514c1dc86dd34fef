"""Random numbers that depend on the seed, the run and the quantity, and on nothing else.

Run k of seed s draws from ``SeedSequence(s, spawn_key=(k,))``, and each quantity from a child of
that. So a run's numbers are the same whatever other runs are drawn beside it, in which order, in
how many pieces, and whichever other quantities are random.
"""

from __future__ import annotations

import math

import numpy as np

BLOCK = 1024  # numbers drawn at a time when they are wanted one by one
_AHEAD = 2**22  # numbers that are drawn ahead for many members together, 32 MB


def run_seed(seed, run: int) -> np.random.SeedSequence:
    """Return the seed of one run, from 0 on; ``seed`` (int or SeedSequence): of all runs."""
    return child_seed(_sequence(seed), run)


def child_seed(seed, index: int) -> np.random.SeedSequence:
    """Return a child of a seed by its number; unlike spawning it does not change the seed."""
    seed = _sequence(seed)
    return np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, index))


def child_generator(seed, index: int) -> np.random.Generator:
    """Return the generator of a child of a seed, see :func:`child_seed`."""
    return np.random.default_rng(child_seed(seed, index))


def _sequence(seed):
    return seed if isinstance(seed, np.random.SeedSequence) else np.random.SeedSequence(seed)


class ParallelNormals:
    """Standard normal numbers of many generators side by side, the same as each gives alone.

    ``shape``: of the numbers that one generator gives at a time. ``count``: how many generators.
    """

    def __init__(self, shape: tuple[int, ...], count: int):
        ahead = min(BLOCK, max(8, _AHEAD // (count * math.prod(shape))))
        self._block = np.empty((ahead, *shape, count))
        self._next = ahead
        self._generators = np.empty(count, dtype=object)

    def put(self, members, generators):
        """Take other generators for some of the members, by number, from now on."""
        self._generators[members] = generators
        self._draw(members)

    def standard_normal(self, size=None) -> np.ndarray:
        """Return the next numbers, ``(*shape, count)``, a view until others are asked for."""
        if self._next == len(self._block):
            self._next = 0
            self._draw(range(len(self._generators)))
        self._next += 1
        return self._block[self._next - 1]

    def _draw(self, members):
        """Draw what is left of the block."""
        left = self._block[self._next :].reshape(-1, len(self._generators))
        # A few members at a time: their numbers are in the processor's cache when they are turned.
        for first in range(0, len(members), 64):
            some = members[first : first + 64]
            drawn = np.empty((len(some), len(left)))
            for row, member in zip(drawn, some):
                self._generators[member].standard_normal(out=row)
            if isinstance(some, range):
                some = slice(some.start, some.stop)
            left[:, some] = drawn.T


class NormalStreams:
    """Standard normal numbers of several quantities, each from a stream of its own.

    ``seed`` (int or numpy.random.SeedSequence): of the run. ``active`` (sequence of bool): which
    quantities are random; the others are zero and cost nothing.
    """

    def __init__(self, seed, active):
        self._count = len(active)
        self._generators = {
            index: child_generator(seed, index) for index, random in enumerate(active) if random
        }
        self._block = np.zeros((0, self._count))
        self._next = 0

    def next(self) -> np.ndarray:
        """Return the numbers of the next sample, (quantities,)."""
        if self._next == len(self._block):
            self._block, self._next = self._draw(BLOCK), 0
        self._next += 1
        return self._block[self._next - 1]

    def take(self, samples: int) -> np.ndarray:
        """Return the numbers of the next samples, (samples, quantities); they may be a view."""
        left = self._block[self._next : self._next + samples]
        self._next += len(left)
        missing = samples - len(left)
        if missing == 0:
            return left
        if missing >= BLOCK:
            return np.concatenate([left, self._draw(missing)])
        self._block, self._next = self._draw(BLOCK), missing
        return np.concatenate([left, self._block[:missing]])

    def _draw(self, samples):
        numbers = np.zeros((samples, self._count))
        for index, generator in self._generators.items():
            numbers[:, index] = generator.standard_normal(samples)
        return numbers
