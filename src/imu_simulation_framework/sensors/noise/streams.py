"""Random numbers that depend only on the seed, the run and the quantity.

Run k of seed s uses ``SeedSequence(s, spawn_key=(k,))``, and each quantity uses a child of that
seed. The random numbers of a run therefore do not depend on other runs, on their order, on the
number of blocks in which they are generated, or on other random quantities.
"""

from __future__ import annotations

import math

import numpy as np

BLOCK = 1024  # random numbers that are generated at a time if they are used one by one
_MAX_AHEAD = 2**22  # random numbers that are generated in advance for all members, 32 MB


def run_seed(seed, run: int) -> np.random.SeedSequence:
    """Return the seed of a simulation run.

    Parameters
    ----------
    seed : int or numpy.random.SeedSequence
        Seed of all runs.
    run : int
        Number of the run, starting from 0.

    Returns
    -------
    numpy.random.SeedSequence
    """
    return child_seed(seed, run)


def child_seed(seed, index: int) -> np.random.SeedSequence:
    """Return a numbered child of a seed; unlike spawning, this does not modify the seed.

    Parameters
    ----------
    seed : int or numpy.random.SeedSequence
        Parent seed.
    index : int
        Number of the child, starting from 0.

    Returns
    -------
    numpy.random.SeedSequence
    """
    if not isinstance(seed, np.random.SeedSequence):
        return np.random.SeedSequence(seed, spawn_key=(index,))
    return np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, index))


def child_generator(seed, index: int) -> np.random.Generator:
    """Return the random generator of a numbered child of a seed, see :func:`child_seed`.

    Parameters
    ----------
    seed : int or numpy.random.SeedSequence
        Parent seed.
    index : int
        Number of the child, starting from 0.

    Returns
    -------
    numpy.random.Generator
    """
    return np.random.default_rng(child_seed(seed, index))


class ParallelNormals:
    """Standard normal numbers of several generators, computed in blocks with unchanged values.

    Parameters
    ----------
    shape : tuple of int
        Shape of the numbers that each generator returns at once.
    count : int
        Number of generators.
    """

    def __init__(self, shape: tuple[int, ...], count: int):
        ahead = min(BLOCK, max(8, _MAX_AHEAD // (count * math.prod(shape))))
        self._block = np.empty((ahead, *shape, count))
        self._next = ahead
        self._generators = np.empty(count, dtype=object)

    def replace_members(self, members, generators):
        """Replace the random generators of some members.

        Parameters
        ----------
        members : sequence of int
            Indices of the members.
        generators : sequence of numpy.random.Generator
            New generators of the members.
        """
        self._generators[members] = generators
        self._draw(members)

    def standard_normal(self, size=None) -> np.ndarray:
        """Return the next random numbers of all generators.

        Parameters
        ----------
        size : object, optional
            Ignored; the argument of :meth:`numpy.random.Generator.standard_normal`.

        Returns
        -------
        ndarray, shape (..., count)
            View that is valid until the next call.
        """
        if self._next == len(self._block):
            self._next = 0
            self._draw(range(len(self._generators)))
        self._next += 1
        return self._block[self._next - 1]

    def _draw(self, members):
        """Generate the random numbers in the remainder of the block for some members."""
        remaining = self._block[self._next :].reshape(-1, len(self._generators))
        # A few members are processed at a time, so that their numbers are transposed in the cache.
        for first in range(0, len(members), 64):
            group = members[first : first + 64]
            drawn = np.empty((len(group), len(remaining)))
            for row, member in zip(drawn, group):
                self._generators[member].standard_normal(out=row)
            if isinstance(group, range):
                group = slice(group.start, group.stop)
            remaining[:, group] = drawn.T


class NormalStreams:
    """Standard normal numbers for several quantities, each from a separate random stream.

    Parameters
    ----------
    seed : int or numpy.random.SeedSequence
        Seed of the run.
    active : sequence of bool
        Whether each quantity is random; the others are zero and take no computation.
    """

    def __init__(self, seed, active):
        self._count = len(active)
        self._generators = {
            index: child_generator(seed, index) for index, random in enumerate(active) if random
        }
        self._block = np.zeros((0, self._count))
        self._next = 0

    def next(self) -> np.ndarray:
        """Return the random numbers of all quantities for the next sample.

        Returns
        -------
        ndarray, shape (quantities,)
            Standard normal numbers; zero for quantities that are not random.
        """
        if self._next == len(self._block):
            self._block, self._next = self._draw(BLOCK), 0
        self._next += 1
        return self._block[self._next - 1]

    def take(self, samples: int) -> np.ndarray:
        """Return the random numbers of all quantities for the next samples.

        Parameters
        ----------
        samples : int
            Number of samples.

        Returns
        -------
        ndarray, shape (samples, quantities)
            Random numbers, possibly as a view.
        """
        remaining = self._block[self._next : self._next + samples]
        self._next += len(remaining)
        missing = samples - len(remaining)
        if missing == 0:
            return remaining
        if missing >= BLOCK:
            return np.concatenate([remaining, self._draw(missing)])
        self._block, self._next = self._draw(BLOCK), missing
        return np.concatenate([remaining, self._block[:missing]])

    def _draw(self, samples):
        numbers = np.zeros((samples, self._count))
        for index, generator in self._generators.items():
            numbers[:, index] = generator.standard_normal(samples)
        return numbers
