"""Posterior distribution of an IMU's yaw error with components of unknown strength.

The IMU's error consists of an angle random walk, a rate bias, a scale factor error and a transient,
for example due to tilting misaligned axes. Their strengths are unknown over several powers of ten:
sets of strengths on a grid are weighted by the likelihood of the observed error (Rasmussen and
Williams, Gaussian processes for machine learning, 2006, chapter 2).
"""

from __future__ import annotations

from itertools import product
from typing import Any, NamedTuple

import numpy as np

from .binned_error import BinnedError

_DRAWS = 1000
_WALK_STRENGTHS = np.logspace(-2.0, 1.0, 13)
"""Candidates for the final std of the random walk, relative to the observed error.

With fewer steps, a random walk between two of these strengths is mistaken for a transient."""
_CONSTANT_STRENGTHS = np.logspace(-2.0, 1.0, 5)
"""Candidates for the std of rate bias and scale factor, relative to the observed error."""
_TRANSIENT_STRENGTHS = np.array([0.01, 0.2, 0.5])
"""Candidates for the std of the transient, relative to the observed error."""
_OFFSET_STD, _RESIDUAL_STD = 1e2, 1e-3
"""Standard deviations of offset and unmodelled error, relative to the observed error."""
_MIN_LIKELIHOOD_RATIO = 1e-6
"""Likelihood ratio to the best set of strengths, below which a set is ignored."""
_FAULT_THRESHOLD = 5.0
"""Significance at which a jump or an outlier is detected, in standard deviations.

With 300 tests per error, it is exceeded by chance in one of 6000 errors."""


class BinFault(NamedTuple):
    """Jump or outlier at a bin of the yaw error.

    Attributes
    ----------
    bin : int
        Index of the first bin of the jump or outlier.
    size : float
        Estimated magnitude with its sign [rad].
    persists : bool
        Whether the fault is a jump, which persists, or an outlier.
    """

    bin: int
    size: float
    persists: bool


class _StrengthSet(NamedTuple):
    """Strengths of the IMU's error components, and precomputed solutions for their covariance.

    ``covariance`` (m, m): covariance of random walk and transient. ``factor``: Cholesky factor of
    this covariance plus that of the fixed components. ``solved_curves`` (m, 2): curves of the
    constants divided by that sum. ``inner`` (2, 2): matrix of Woodbury's identity. ``constants``
    (2,): strengths of rate bias and scale factor.
    """

    covariance: np.ndarray
    walk: np.floating[Any]
    transient: np.floating[Any]
    factor: tuple[np.ndarray, bool]
    solved_curves: np.ndarray
    inner: np.ndarray
    constants: np.ndarray


class DriftPosterior:
    """Posterior distribution of the IMU's yaw error over sets of component strengths.

    Parameters
    ----------
    binned : BinnedError
        The observed error.
    reference_covariance : numpy.ndarray
        Covariance of the component that is not due to the IMU, shape (m, m) [rad^2].
    """

    def __init__(self, binned: BinnedError, reference_covariance: np.ndarray) -> None:
        self._binned, count, size = binned, len(binned.time), binned.size
        self._curves = np.column_stack(
            [
                curve / max(np.max(np.abs(curve)), 1e-9)
                for curve in (binned.time - binned.time[0], binned.turn)
            ]
        )
        self._reference = reference_covariance + (_RESIDUAL_STD * size) ** 2 * np.eye(count)
        self._fixed = self._reference + (_OFFSET_STD * size) ** 2
        self._sets: list[_StrengthSet] = []
        log_likelihoods: list[float] = []
        for walk, transient in product(size * _WALK_STRENGTHS, size * _TRANSIENT_STRENGTHS):
            log_likelihoods += self._add_sets(walk, transient)
        weights = np.exp(np.array(log_likelihoods) - max(log_likelihoods))
        weights[weights < _MIN_LIKELIHOOD_RATIO] = 0.0
        self._weights = weights / weights.sum()

    def _add_sets(self, walk: np.floating[Any], transient: np.floating[Any]) -> list[float]:
        """Add a strength set for each pair of bias and scale factor; return log-likelihoods."""
        from scipy.linalg import cho_factor, cho_solve

        binned, curves = self._binned, self._curves
        pairs = list(product(_CONSTANT_STRENGTHS, repeat=2))
        constants: np.ndarray = binned.size * np.array(pairs)
        error = binned.values - binned.values.mean()
        covariance = walk**2 * binned.covariances.walk + transient**2 * binned.covariances.transient
        factor = cho_factor(self._fixed + covariance, lower=True)
        solved_curves = cho_solve(factor, curves)
        information, projection = curves.T @ solved_curves, solved_curves.T @ error
        misfit = error @ cho_solve(factor, error) + 2.0 * np.sum(np.log(np.diag(factor[0])))
        # Woodbury's identity adds rate bias and scale factor as a covariance of rank two.
        inner = information + np.eye(2) * constants[:, np.newaxis] ** -2.0
        solved = np.linalg.solve(
            inner, np.broadcast_to(projection[:, np.newaxis], (len(inner), 2, 1))
        )
        self._sets += [
            _StrengthSet(
                covariance, walk, transient, factor, solved_curves, inner[row], constants[row]
            )
            for row in range(len(constants))
        ]
        log_likelihoods = (
            -0.5 * (misfit - solved[:, :, 0] @ projection)
            - 0.5 * np.linalg.slogdet(inner)[1]
            - np.sum(np.log(constants), axis=1)
        )
        return log_likelihoods.tolist()

    def draw(
        self, error: np.ndarray, random: np.random.Generator, min_constant: float = 0.0
    ) -> np.ndarray:
        """Sample realisations of the IMU's error given an observed error, by Matheron's rule.

        Parameters
        ----------
        error : numpy.ndarray
            Observed error, shape (m,) [rad].
        random : numpy.random.Generator
            Source of the random numbers.
        min_constant : float, optional
            Smallest strength of rate bias and scale factor, relative to the observed error.

        Returns
        -------
        numpy.ndarray
            Realisations of the IMU's error, shape (m, draws) [rad].
        """
        from scipy.linalg import cho_solve

        count, curves, binned = len(error), self._curves, self._binned
        error, fixed_root, draws = error - error.mean(), covariance_root(self._fixed), []
        walk_root = covariance_root(binned.covariances.walk)
        transient_root = covariance_root(binned.covariances.transient)
        least = np.array([np.min(strengths.constants) for strengths in self._sets])
        is_strong = least >= min_constant * binned.size
        # If no set with strong constants has a weight, the constants are known to be small.
        has_strong = self._weights @ is_strong > 0.0
        weights = self._weights * is_strong if has_strong else self._weights
        for index, times in enumerate(random.multinomial(_DRAWS, weights / weights.sum())):
            if times == 0:
                continue
            strengths = self._sets[index]
            sensor = strengths.walk * walk_root @ random.standard_normal((count, times))
            sensor += strengths.transient * transient_root @ random.standard_normal((count, times))
            sensor += curves * strengths.constants @ random.standard_normal((2, times))
            misfit = error[:, np.newaxis] - sensor
            misfit -= fixed_root @ random.standard_normal((count, times))
            solved = cho_solve(strengths.factor, misfit)
            solved -= strengths.solved_curves @ np.linalg.solve(
                strengths.inner, strengths.solved_curves.T @ misfit
            )
            constants = curves * strengths.constants**2 @ (curves.T @ solved)
            draws.append(sensor + strengths.covariance @ solved + constants)
        return np.hstack(draws)

    def estimate_constant(self) -> tuple[np.ndarray, float]:
        """Estimate the zero point: the constant offset plus the IMU's mean error at the start.

        Returns
        -------
        weights : numpy.ndarray
            Weights of the bins in the generalised least-squares estimate, shape (m,).
        variance : float
            Variance of the estimate [rad^2].
        """
        from scipy.linalg import cho_solve

        binned, curves = self._binned, self._curves
        likely, estimates, variances = np.flatnonzero(self._weights), [], []
        for index in likely:
            strengths = self._sets[index]
            constant_variances = strengths.constants**2 * (curves.T @ binned.start.weights)
            start = strengths.covariance @ binned.start.weights + curves @ constant_variances
            start += (_OFFSET_STD * binned.size) ** 2
            solved = cho_solve(strengths.factor, start)
            solved -= strengths.solved_curves @ np.linalg.solve(
                strengths.inner, strengths.solved_curves.T @ start
            )
            estimates.append(solved / solved.sum())
            variances.append(self._set_variance(strengths, estimates[-1], estimates[-1]))
        shares, set_weights = self._weights[likely], np.array(estimates)
        weights = shares @ set_weights
        deviations = (set_weights - weights) @ binned.values
        return weights, float(shares @ (np.array(variances) + deviations**2))

    def variance(self, observed: np.ndarray, zero: np.ndarray) -> float:
        """Compute the posterior variance of a linear combination of the observations.

        Parameters
        ----------
        observed : numpy.ndarray
            Weights of the observations, which contain the reference's error, shape (m,).
        zero : numpy.ndarray
            Weights of the observations in the estimated zero, which contain the change of the IMU's
            error since the start, shape (m,).

        Returns
        -------
        float
            Variance [rad^2].
        """
        likely = np.flatnonzero(self._weights)
        variances = [self._set_variance(self._sets[index], observed, zero) for index in likely]
        return float(self._weights[likely] @ variances)

    def _set_variance(
        self, strengths: _StrengthSet, observed: np.ndarray, zero: np.ndarray
    ) -> float:
        zero_weights = zero - self._binned.start.weights
        constants = strengths.constants * (self._curves.T @ zero_weights)
        walk = zero_weights @ strengths.covariance @ zero_weights
        return observed @ self._reference @ observed + walk + constants @ constants

    def largest_fault(self) -> BinFault | None:
        """Find the most significant jump or outlier by auxiliary residuals.

        Source: Harvey and Koopman, Diagnostic checking of unobserved-components time series models,
        Journal of Business and Economic Statistics 10 (1992).

        Returns
        -------
        BinFault or None
            The fault; None if no jump or outlier is significant.
        """
        strengths = self._sets[int(np.argmax(self._weights))]
        scaled = self._curves * strengths.constants
        inverse = np.linalg.inv(self._fixed + strengths.covariance + scaled @ scaled.T)
        residual = inverse @ (self._binned.values - self._binned.values.mean())
        # A step at a bin is the sum of outliers at this bin and at all later bins.
        step_score = np.cumsum(residual[::-1])[::-1]
        step_information = np.diag(
            np.cumsum(np.cumsum(inverse[::-1, ::-1], axis=0), axis=1)[::-1, ::-1]
        )
        candidates = []
        for persists, score, information in (
            (False, residual, np.diag(inverse)),
            (True, step_score[1:], step_information[1:]),
        ):
            information = np.maximum(information, np.finfo(float).tiny)
            significance = np.abs(score) / np.sqrt(information)
            if len(significance):
                place = int(np.argmax(significance))
                fault = BinFault(
                    place + persists, float(score[place] / information[place]), persists
                )
                candidates.append((significance[place], fault))
        largest, fault = max(candidates)
        return fault if largest > _FAULT_THRESHOLD else None


def covariance_root(covariance: np.ndarray) -> np.ndarray:
    """Compute a matrix square root R, R R^T = covariance, of a covariance that may be singular.

    Parameters
    ----------
    covariance : numpy.ndarray
        Covariance, shape (m, m).

    Returns
    -------
    numpy.ndarray
        Square root, shape (m, m).
    """
    values, vectors = np.linalg.eigh(covariance)
    return vectors * np.sqrt(np.maximum(values, 0.0))
