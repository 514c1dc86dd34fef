"""How long a sensor must be recorded until a noise term of a given size shows."""

from __future__ import annotations

import numpy as np

from imu_simulation_framework.identification.allan.deviation import averaging_factors
from imu_simulation_framework.identification.allan.fit import DETECTION_DEVIATIONS, square_estimator
from imu_simulation_framework.identification.allan.model import (
    allan_covariance,
    allan_variance_of_terms,
)

LONGEST = 30.0 * 86400.0
"""Nobody leaves a sensor alone for longer [s]."""

_PER_DECADE = 3


class DurationPlanner:
    """Answers for one kind of recording; what depends only on the duration is kept.

    Parameters
    ----------
    rate : float
        [Hz]
    duration : float
        Of the recording that was not long enough [s].
    band : pair of float
        Of the bias instability [s].
    """

    def __init__(self, rate, duration, band):
        self._rate = rate
        self._start = duration
        self._band = band
        self._known = {}

    def duration(self, squares, index, value) -> float:
        """Return the duration, doubled from the recording's, at which a term would be identified.

        Parameters
        ----------
        squares : ndarray, shape (5,)
            Squared coefficients of the fit.
        index : int
            Of the term.
        value : float
            Its assumed coefficient.

        Returns
        -------
        float
            [s]; infinite beyond :data:`LONGEST`.
        """
        others = np.array(squares, dtype=float)
        others[index] = 0.0
        present = others.copy()
        present[index] = value**2
        duration = 2.0 * self._start
        while value > 0.0 and duration <= LONGEST:
            shapes, covariance = self._model(duration)
            weights = square_estimator(shapes, covariance.of(present), index, present > 0.0)
            deviation = np.sqrt(weights @ covariance.of(others) @ weights)
            if value**2 > DETECTION_DEVIATIONS * deviation:
                return duration
            duration *= 2.0
        return np.inf

    def _model(self, duration):
        if duration not in self._known:
            period = 1.0 / self._rate
            length = round(duration * self._rate)
            factors = averaging_factors(length, _PER_DECADE)
            self._known[duration] = (
                allan_variance_of_terms(factors * period, period, self._band),
                allan_covariance(factors, [length], period, self._band),
            )
        return self._known[duration]
