"""Arrays that are extended block by block without a second copy of all values."""

from __future__ import annotations

import numpy as np

_SPARE = 1.1  # relative size after an extension, so that few extensions move the values


class GrowingArray:
    """One-dimensional array that is extended in place.

    A concatenation of blocks requires the memory of the blocks and of the result. In contrast,
    an array that is enlarged by ``realloc`` keeps its pages if it is large.
    """

    def __init__(self) -> None:
        self._values: np.ndarray | None = None
        self._length = 0

    def extend(self, values: np.ndarray) -> None:
        """Append values.

        Parameters
        ----------
        values : ndarray, shape (n,)
            New values; the array obtains a type that can represent old and new values.
        """
        if self._values is None:
            self._values = np.empty(0, values.dtype)
        kind = np.result_type(self._values.dtype, values.dtype)
        if kind != self._values.dtype:
            self._values = self._values.astype(kind)
        end = self._length + len(values)
        if end > len(self._values):
            self._values.resize(int(_SPARE * end), refcheck=False)
        self._values[self._length : end] = values
        self._length = end

    def finish(self) -> np.ndarray:
        """Return the array without spare memory; it must not be extended afterwards.

        Returns
        -------
        ndarray, shape (n,)
            All values; empty if there was no block.
        """
        values = np.empty(0) if self._values is None else self._values
        values.resize(self._length, refcheck=False)
        return values
