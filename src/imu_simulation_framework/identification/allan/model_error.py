"""From which averaging time on the noise terms describe a real sensor, and how well.

At short averaging times an hour of samples gives the Allan variance to 0.1 %. There every real
sensor differs from the standard terms: its filter, resonances, what is left of lines. Such points
would own the fit. Both ways out are weighed against each other: leaving short averaging times
out, and allowing the model an error. Errors of a model are smooth, so they are correlated over
averaging times; as independent ones they would take from the slow terms what they give.

The choice is that of the largest restricted likelihood of the logarithm of the Allan variances,
the likelihood with the coefficients integrated out. A point left out keeps a likelihood of its
own: anything within about two in the logarithm.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from imu_simulation_framework.identification.allan.fit import AllanProblem

ERRORS = np.concatenate([[0.0], np.geomspace(0.003, 0.4, 10)])
"""Relative errors of the modelled Allan variance that are tried."""

LONGEST_START = 10.0  # s
_LEFT_OUT = 2.0 * np.log(2.0)
_CORRELATION = np.log(10.0) / 2.0
_LEAST_POINTS = 10
_STRIDE = 2
_ITERATIONS = 6


def error_covariance(tau, error) -> np.ndarray:
    """Return the covariance of the logarithm of the true Allan variances around the model's.

    Parameters
    ----------
    tau : ndarray, shape (n,)
        Averaging times [s]; half a decade apart, errors are correlated by 1/e.
    error : float
        Relative standard deviation.
    """
    distance = np.abs(np.subtract.outer(np.log(tau), np.log(tau)))
    return error**2 * np.exp(-distance / _CORRELATION)


class RestrictedLikelihood:
    """Judges averaging times to begin with and model errors for one axis.

    Parameters
    ----------
    tau, variances : ndarray, shape (n,)
        Averaging times [s] and estimated Allan variances; those of several recordings one after
        the other.
    shapes : ndarray, shape (n, terms)
    covariances : callable
        As for :func:`~imu_simulation_framework.identification.allan.fit.fit_terms`.
    """

    def __init__(self, tau, variances, shapes, covariances):
        self._tau = tau
        self._variances = variances
        self._shapes = shapes
        self._covariances = covariances
        # A coefficient counts as the largest share that it can have of a variance.
        self._scale = (shapes / variances[:, None]).max(axis=0)
        self._last = None
        self.squares = None
        """Squared coefficients at the best place of the last grid."""

    def starts(self) -> np.ndarray:
        """Return averaging times to begin with."""
        tau = np.unique(self._tau)
        possible = tau[: max(1, len(tau) - _LEAST_POINTS) : _STRIDE]
        return possible[possible <= LONGEST_START]

    def best(self, starts=None, errors=ERRORS):
        """Return the largest restricted likelihood over a grid.

        Returns
        -------
        deviance, start, error : float
        """
        best = (np.inf, 0.0, 0.0)
        for start in self.starts() if starts is None else starts:
            for error in errors:
                deviance = self.deviance(start, error)
                if deviance < best[0]:
                    best = (deviance, float(start), float(error))
                    self.squares = self._last
        return best

    def deviance(self, start, error) -> float:
        """Minus twice the logarithm of the restricted likelihood.

        Parameters
        ----------
        start : float
            Shortest averaging time in use [s].
        error : float
            Of the model, relative.
        """
        used = np.flatnonzero(self._tau >= start)
        variances = self._variances[used]
        problem = AllanProblem(
            variances,
            self._shapes[used],
            lambda squares: self._covariances(squares)[np.ix_(used, used)],
            smoothing=True,
            model_error=error_covariance(self._tau[used], error),
        )
        squares = self._last = problem.solve(start=self._last, iterations=_ITERATIONS)
        relative = problem.covariance(squares) / np.outer(variances, variances)
        columns = self._shapes[used] / variances[:, None] / self._scale
        residuals = 1.0 - columns @ (squares * self._scale)
        factor = cho_factor(relative, lower=True)
        weighted = cho_solve(factor, np.column_stack([columns, residuals]))
        information = columns.T @ weighted[:, :-1]
        return float(
            2.0 * np.log(np.diag(factor[0])).sum()
            + np.linalg.slogdet(information)[1]
            + residuals @ weighted[:, -1]
            + (len(used) - len(squares)) * np.log(2.0 * np.pi)
            + _LEFT_OUT * (len(self._tau) - len(used))
        )
