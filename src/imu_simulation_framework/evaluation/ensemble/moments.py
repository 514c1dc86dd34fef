r"""Mean and variance of values that come in parts.

Of two parts with :math:`n_A, n_B` values, means and sums of squared deviations M,

.. math::

    \delta = \bar x_B - \bar x_A, \quad \bar x = \bar x_A + \delta \frac{n_B}{n_A + n_B}, \quad
    M = M_A + M_B + \delta^2 \frac{n_A n_B}{n_A + n_B}

(Chan, Golub and LeVeque: Updating formulae and a pairwise algorithm for computing sample
variances, 1979), without the cancellation of a sum of squares. The last digits depend on the
parts and their order.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Moments:
    """``count`` of values; their ``mean`` (...) and the sum of ``squares`` (...) of deviations."""

    count: int
    mean: np.ndarray
    squares: np.ndarray

    @classmethod
    def of(cls, values) -> Moments:
        """Return those of values (count, ...), at least one."""
        mean = np.mean(values, axis=0)
        return cls(len(values), mean, np.sum((values - mean) ** 2, axis=0))

    def and_then(self, other: Moments) -> Moments:
        """Return the moments of these values and others."""
        count = self.count + other.count
        away = other.mean - self.mean
        return Moments(
            count,
            self.mean + away * (other.count / count),
            self.squares + other.squares + away**2 * (self.count * other.count / count),
        )

    @property
    def std(self) -> np.ndarray:
        """Standard deviation, divisor count - 1; not a number for a single value."""
        if self.count < 2:
            return np.full(np.shape(self.mean), np.nan)
        return np.sqrt(self.squares / (self.count - 1))

    @property
    def standard_error(self) -> np.ndarray:
        """Of the mean."""
        return self.std / np.sqrt(self.count)
