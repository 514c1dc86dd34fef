"""Fit of the standard noise terms to Allan variances, with confidence intervals.

Squared coefficients are fitted to the Allan variances by non-negative generalised least squares.
The weights are computed iteratively from the covariance that the fitted terms imply
(:mod:`.allan.model`). An estimated square is a weighted sum of the data. Mean, variance and
skewness of its distribution are known for any true value. The 95 % interval is the set of all true
values that a test does not reject given the estimate.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.linalg.blas import dtrsv
from scipy.optimize import brentq, nnls
from scipy.stats import chi2, norm, pearson3

from .model import GAUSS_MARKOV, TERMS

CONFIDENCE = 0.95

DETECTION_DEVIATIONS = 4.0
"""Minimum significance of an identified term, in standard deviations of a Gaussian variable.

At this level, a false detection is unlikely, even among the dozens of terms in an analysis."""

_MAX_ITERATIONS = 30
_TOLERANCE = 1e-6  # relative change of the squared coefficients below which the iteration ends
# Numerical error of the covariance due to band limits and quadrature, relative to the variance.
_NUGGET = 1e-3
_MIN_FIT_PROBABILITY = 1e-4  # p-value of the misfit below which the terms do not describe the data
_NEGLIGIBLE_SKEWNESS = 1e-4
_MAX_DOUBLINGS = 30


@dataclass(frozen=True)
class TermEstimate:
    """Estimate of a noise coefficient with its 95 % interval.

    Attributes
    ----------
    value : float
        Most likely coefficient, 0 if the data give no evidence for the term.
    low : float
        Lower limit of the interval, 0 if the term is not identified.
    high : float
        Upper limit of the interval, infinite if there is none.
    identified : bool
        Whether the term is significant.
    """

    value: float
    low: float
    high: float
    identified: bool


@dataclass(frozen=True)
class TimeEstimate:
    """Estimate of a correlation time with its 95 % interval.

    Attributes
    ----------
    value : float
        Estimate [s].
    low, high : float
        Limits of the interval [s]; 0 and infinity if unknown.
    """

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class AllanFit:
    """Noise terms fitted to the Allan variances of one axis.

    Attributes
    ----------
    terms : dict of str to TermEstimate
        Estimates of all :data:`.allan.model.TERMS`, and of the Gauss-Markov process if the model
        contains one.
    squares : ndarray, shape (terms,)
        Squared coefficients of the fit, including terms that are not identified. The first square
        is negative if the sensor has a low-pass filter.
    misfit : float
        Weighted mean square of the residuals, whose expected value is 1.
    describes : bool
        Whether the terms describe the data. If they do not, the weights ignore correlations, and
        the intervals are widened according to the misfit.
    start : float
        Shortest averaging time that the terms describe [s].
    model_error : float
        Relative standard deviation of the difference between true and modelled Allan variance.
    gauss_markov_time : TimeEstimate, optional
        Correlation time of the Gauss-Markov process.
    time_like_walk : float, optional
        Shortest correlation time with which a Gauss-Markov process describes the data as well as
        the random walk does [s].
    """

    terms: dict[str, TermEstimate]
    squares: np.ndarray
    misfit: float
    describes: bool
    start: float = 0.0
    model_error: float = 0.0
    gauss_markov_time: TimeEstimate | None = None
    time_like_walk: float | None = None


def fit_terms(variances, shapes, covariances, smoothing=False, model_error=None) -> AllanFit:
    """Fit squared noise coefficients to the Allan variances of one axis.

    White noise behind a low-pass filter has the Allan variance ``N^2 / tau - A / tau^2`` at
    averaging times longer than the filter's impulse response. A negative ``1 / tau^2`` term hides
    the quantisation Q.

    Parameters
    ----------
    variances : ndarray, shape (n,)
        Estimated Allan variances of all recordings.
    shapes : ndarray, shape (n, terms)
        Result of :func:`.allan.model.allan_variance_of_terms`.
    covariances : callable
        Function of the squared coefficients (terms,) that returns the covariance of ``variances``.
    smoothing : bool
        Whether the ``1 / tau^2`` term may be negative.
    model_error : ndarray, shape (n, n), optional
        Covariance of the model errors, in the logarithm of the Allan variance.

    Returns
    -------
    AllanFit
    """
    problem = AllanProblem(variances, shapes, covariances, True, smoothing, model_error)
    squares = problem.solve()
    residuals = problem.whitened(variances - shapes @ squares, squares)
    freedom = max(1, len(variances) - int((squares != 0.0).sum()))
    misfit = float(residuals @ residuals / freedom)
    describes = bool(chi2.sf(misfit * freedom, freedom) > _MIN_FIT_PROBABILITY)
    if not describes:
        problem = AllanProblem(variances, shapes, covariances, False, smoothing, model_error)
        squares = problem.solve()
        residuals = (variances - shapes @ squares) / problem.deviations(squares)
        misfit = max(1.0, float(residuals @ residuals / freedom))
    inflation = 1.0 if describes else misfit
    deviance_with_all = problem.deviance(squares)
    terms = {}
    for index, name in enumerate((*TERMS, GAUSS_MARKOV)[: len(squares)]):
        if index == 0 and squares[0] < 0.0:
            terms[name] = TermEstimate(0.0, 0.0, np.inf, False)
            continue
        reduced = problem.solve(excluded=index)
        gain = (problem.deviance(reduced) - deviance_with_all) / inflation
        is_needed = gain > DETECTION_DEVIATIONS**2
        terms[name] = _estimate_term(problem, squares, index, inflation, is_needed)
    return AllanFit(terms, squares, misfit, describes)


@dataclass
class AllanProblem:
    """Regression problem for the Allan variances of one axis.

    Attributes
    ----------
    variances, shapes, covariances, smoothing, model_error
        Parameters of :func:`fit_terms`.
    correlated : bool
        Whether the weights take the correlation of the data into account.
    """

    variances: np.ndarray
    shapes: np.ndarray
    covariances: Callable[[np.ndarray], np.ndarray]
    correlated: bool = True
    smoothing: bool = False
    model_error: np.ndarray | None = None

    def scatter(self, squares):
        """Return the covariance of the estimated Allan variances, including the model error.

        Parameters
        ----------
        squares : ndarray, shape (terms,)
            Squared coefficients.

        Returns
        -------
        ndarray, shape (n, n)
            Covariance of the Allan variances.
        """
        # A negative 1/tau^2 term is ignored: a filter reduces scatter only at short times.
        matrix = self.covariances(np.maximum(squares, 0.0))
        if self.model_error is not None:
            expected = self.shapes @ squares
            matrix = matrix + self.model_error * np.outer(expected, expected)
        return matrix

    def covariance(self, squares):
        """Return the covariance of :meth:`scatter` with an allowance for its numerical error.

        Parameters
        ----------
        squares : ndarray, shape (terms,)
            Squared coefficients.

        Returns
        -------
        ndarray, shape (n, n)
            Covariance of the Allan variances.
        """
        matrix = self.scatter(squares)
        matrix[np.diag_indices_from(matrix)] *= 1.0 + _NUGGET
        return matrix

    def deviations(self, squares):
        """Return the standard deviations of the estimated Allan variances.

        Parameters
        ----------
        squares : ndarray, shape (terms,)
            Squared coefficients.

        Returns
        -------
        ndarray, shape (n,)
            Standard deviations of the Allan variances.
        """
        return np.sqrt(np.diag(self.scatter(squares)))

    def _weighting_covariance(self, squares):
        matrix = self.covariance(squares)
        return matrix if self.correlated else np.diag(np.diag(matrix))

    def whitened(self, vectors, squares):
        """Whiten vectors: transform them so that the data are independent with unit variance.

        Parameters
        ----------
        vectors : ndarray, shape (n,) or (n, m)
            Vectors in the space of the data.
        squares : ndarray, shape (terms,)
            Squared coefficients.

        Returns
        -------
        ndarray, shape (n,) or (n, m)
            Whitened vectors.
        """
        return _whiten(cho_factor(self._weighting_covariance(squares), lower=True)[0], vectors)

    def deviance(self, squares):
        """Return minus twice the Gaussian log-likelihood of the data, up to a constant.

        Parameters
        ----------
        squares : ndarray, shape (terms,)
            Squared coefficients.

        Returns
        -------
        float
            Deviance [1].
        """
        factor = cho_factor(self._weighting_covariance(squares), lower=True)[0]
        residuals = _whiten(factor, self.variances - self.shapes @ squares)
        return float(residuals @ residuals + 2.0 * np.log(np.diag(factor)).sum())

    def solve(self, excluded=None, start=None, iterations=_MAX_ITERATIONS):
        """Estimate the squared coefficients by iteratively reweighted least squares.

        Parameters
        ----------
        excluded : int or list of int, optional
            Indices of the terms to exclude.
        start : ndarray, shape (terms,), optional
            Initial squared coefficients.
        iterations : int
            Largest number of iterations.

        Returns
        -------
        ndarray, shape (terms,)
            Squared coefficients.
        """
        shapes = self.shapes.copy()
        if excluded is not None:
            shapes[:, excluded] = 0.0
        if start is None:
            scale = 1.0 / self.variances
            start = self._coefficients(shapes * scale[:, None], np.ones(len(scale)))
        squares = start
        for _ in range(iterations):
            previous = squares
            whitened = self.whitened(np.column_stack([shapes, self.variances]), previous)
            squares = self._coefficients(whitened[:, :-1], whitened[:, -1])
            if np.allclose(previous, squares, rtol=_TOLERANCE, atol=0.0):
                break
        return squares

    def _coefficients(self, matrix, target):
        free = matrix[:, 0]
        if not (self.smoothing and free.any()):
            return nonnegative_least_squares(matrix, target)
        # The coefficient without a sign constraint is eliminated by projecting out its column.
        direction = free / np.linalg.norm(free)
        others = matrix[:, 1:]
        positive = nonnegative_least_squares(
            others - np.outer(direction, direction @ others),
            target - direction * (direction @ target),
        )
        first = direction @ (target - others @ positive) / np.linalg.norm(free)
        return np.concatenate([[first], positive])

    def estimator(self, squares, index):
        """Return data weights that estimate a squared coefficient, unbiased by other fitted terms.

        A term of either sign always counts as a term in the fit, because even a weak filter biases
        the white noise by more than its interval.

        Parameters
        ----------
        squares : ndarray, shape (terms,)
            Squared coefficients.
        index : int
            Index of the estimated term.

        Returns
        -------
        ndarray, shape (n,)
            Weights.
        """
        present = squares > 0.0
        present[0] |= self.smoothing
        return square_estimator(self.shapes, self._weighting_covariance(squares), index, present)


def square_estimator(shapes, covariance, index, present):
    """Return the weights of the best linear unbiased estimator of a squared coefficient.

    Parameters
    ----------
    shapes : ndarray, shape (n, terms)
        Allan variances of the terms for unit coefficients.
    covariance : ndarray, shape (n, n)
        Covariance of the estimated Allan variances.
    index : int
        Index of the term to estimate.
    present : ndarray of bool, shape (terms,)
        Mask of other terms that must not bias the estimate.

    Returns
    -------
    ndarray, shape (n,)
        Weights of the Allan variances.
    """
    active = np.union1d(np.flatnonzero(present), [index])
    shapes = shapes[:, active]
    scale = np.sqrt((shapes**2).sum(axis=0))
    deviations = np.sqrt(np.diag(covariance))
    weighted = cho_solve(
        cho_factor(covariance / np.outer(deviations, deviations) + _NUGGET * np.eye(len(shapes))),
        shapes / scale / deviations[:, None],
    )
    normal = (shapes / scale / deviations[:, None]).T @ weighted
    selection = (active == index).astype(float)
    return weighted @ cho_solve(cho_factor(normal), selection) / (scale @ selection) / deviations


def _whiten(factor, vectors):
    """Whiten vectors by solving with a lower Cholesky factor, column by column.

    If all columns were solved at once, the numerical library would use several threads, which is
    a hundred times slower for such small matrices if a core is busy.
    """
    if vectors.ndim == 1:
        return dtrsv(factor, vectors, lower=True)
    return np.column_stack([dtrsv(factor, column, lower=True) for column in vectors.T])


def nonnegative_least_squares(matrix, target):
    """Solve a non-negative least-squares problem whose columns differ in magnitude.

    Parameters
    ----------
    matrix : ndarray, shape (n, terms)
        Design matrix.
    target : ndarray, shape (n,)
        Right-hand side.

    Returns
    -------
    ndarray, shape (terms,)
        Non-negative coefficients.
    """
    scale = np.linalg.norm(matrix, axis=0)
    scale[scale == 0.0] = 1.0
    return nnls(matrix / scale, target)[0] / scale


def _estimate_term(problem, squares, index, inflation, is_needed):
    """Estimate a coefficient; its interval is the set of true values that a test accepts."""
    estimator = _SquareEstimator(problem, squares, index, inflation)
    tail = 0.5 * (1.0 - CONFIDENCE)
    identified = is_needed and estimator.exceedance(0.0) < norm.sf(DETECTION_DEVIATIONS)
    low = estimator.square_at(tail, 0.0, estimator.estimate) if identified else 0.0
    return TermEstimate(
        value=float(np.sqrt(squares[index])),
        low=float(np.sqrt(low)),
        high=float(np.sqrt(estimator.square_above(1.0 - tail))),
        identified=bool(identified),
    )


class _SquareEstimator:
    """Distribution of an estimated squared coefficient as a function of its true value."""

    def __init__(self, problem, squares, index, inflation):
        weights = problem.estimator(squares, index)
        # A negative estimate is treated as zero: the data give no evidence for the term.
        self.estimate = max(0.0, float(weights @ problem.variances))
        # The variance is a quadratic function of the true square, so three values determine it.
        step = max(self.estimate, float(np.sqrt(weights @ problem.scatter(squares) @ weights)))
        variances = []
        for square in (0.0, step, 2.0 * step):
            true_squares = squares.copy()
            true_squares[index] = square
            variances.append(inflation * float(weights @ problem.scatter(true_squares) @ weights))
        self._constant = variances[0]
        self._quadratic = (variances[2] - 2.0 * variances[1] + variances[0]) / (2.0 * step**2)
        self._linear = (variances[1] - variances[0]) / step - self._quadratic * step
        self._step = step
        self._other_skewness = _skewness(problem, weights, squares, index)

    def exceedance(self, square):
        """Return the probability of a larger estimate, given the true squared coefficient.

        The estimate has a gamma distribution (Pearson type III), because the contribution of each
        term scatters like a chi-square variate.
        """
        quadratic = self._quadratic * square**2
        variance = self._constant + self._linear * square + quadratic
        if variance <= 0.0:
            return 0.0 if self.estimate > square else 1.0
        third = self._other_skewness * self._constant**1.5
        if square > 0.0:
            third += 2.0 * quadratic**2 / square
        skewness = third / variance**1.5
        deviation = (self.estimate - square) / np.sqrt(variance)
        if abs(skewness) < _NEGLIGIBLE_SKEWNESS:
            return float(norm.sf(deviation))
        return float(pearson3.sf(deviation, skewness))

    def square_at(self, level, low, high):
        """Return a squared coefficient between two bounds with exceedance probability ``level``."""
        # The tolerance is set because squares are often below brentq's default of 2e-12.
        tolerance = 1e-6 * high
        return brentq(lambda x: self.exceedance(x) - level, low, high, xtol=tolerance, rtol=1e-6)

    def square_above(self, level):
        """Search above the estimate for a square with the exceedance probability ``level``."""
        low, step = self.estimate, self._step
        for _ in range(_MAX_DOUBLINGS):
            high = low + step
            if self.exceedance(high) > level:
                return self.square_at(level, low, high)
            low, step = high, 2.0 * step
        return np.inf


def _skewness(problem, weights, squares, index):
    """Return the skewness that other terms cause in the estimate of a squared coefficient.

    It is computed at the averaging time that contributes most to the estimate's variance.

    At a single averaging time, the estimate is a chi-square variate with the equivalent degrees of
    freedom.
    """
    others = squares.copy()
    others[index] = 0.0
    expected = problem.shapes @ others
    deviations = problem.deviations(others)
    largest = int(np.argmax(np.abs(weights) * deviations))
    if deviations[largest] == 0.0:
        return 0.0
    freedom = 2.0 * (expected[largest] / deviations[largest]) ** 2
    return float(np.sign(weights[largest]) * np.sqrt(8.0 / freedom))
