"""Limit of a position error, as a length or relative to the distance travelled."""

from __future__ import annotations

from typing import NamedTuple


class PositionLimit(NamedTuple):
    """Limit of a position error.

    Attributes
    ----------
    size : float
        Distance [m], or a fraction of the distance travelled [1].
    is_relative : bool
        Whether the limit is a fraction of the distance travelled.
    """

    size: float
    is_relative: bool = False

    def metres(self, distance: float) -> float:
        """Return the limit in metres.

        Parameters
        ----------
        distance : float
            Distance travelled [m].

        Returns
        -------
        float
            Limit [m].
        """
        return self.size * distance if self.is_relative else self.size
