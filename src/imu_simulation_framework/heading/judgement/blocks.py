"""Division of an ensemble into blocks, which limits memory use."""

from __future__ import annotations

from typing import Iterator

import numpy as np

BLOCK = 4_000_000
"""Maximum number of ensemble values that are processed at once."""


def ensemble_blocks(ensemble: np.ndarray, axis: int = 0) -> Iterator[slice]:
    """Yield slices that divide the runs, or the samples, of an ensemble into blocks.

    Parameters
    ----------
    ensemble : numpy.ndarray
        Simulated errors, shape (runs, samples).
    axis : int, optional
        Axis of the slices: 0 for runs, 1 for samples.

    Yields
    ------
    slice
        Slice with at most :data:`BLOCK` values, but at least one run or sample.
    """
    length, other = ensemble.shape[axis], ensemble.shape[1 - axis]
    step = max(1, BLOCK // max(1, other))
    for start in range(0, length, step):
        yield slice(start, min(start + step, length))
