"""Fit of the standard noise terms to Allan variances, with intervals that hold.

The fit is generalised least squares on the variance with coefficients that cannot be negative.
Weights come from the covariance that the fitted terms themselves imply
(:mod:`.allan.model`), found by iteration. An estimated square is
then a weighted sum of the data, and its distribution under any true value is known well enough
in mean, variance and skewness to invert the test: the 95 % interval holds the values that the
estimate does not contradict.
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
"""A term counts as identified if noise without it gives such an estimate as rarely as a Gaussian
value is so many standard deviations off: rarely enough that none of the dozens of terms in an
analysis is found by chance."""

_ITERATIONS = 30
_TOLERANCE = 1e-6
# What the covariance itself does not know (the band's ends, quadrature), as a share of variance.
_NUGGET = 1e-3
_MISFIT = 1e-4
_GAUSSIAN = 1e-4
_DOUBLINGS = 30


@dataclass(frozen=True)
class TermEstimate:
    """A coefficient Q, N, B, K or R with its 95 % interval.

    ``value`` is the most likely one, 0 if the data show none; ``low`` is 0 where the term is not
    ``identified``, and ``high`` infinite where the recording cannot tell.
    """

    value: float
    low: float
    high: float
    identified: bool


@dataclass(frozen=True)
class TimeEstimate:
    """A correlation time and its 95 % interval [s]; 0 and infinite where there is no bound."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class AllanFit:
    """The terms that describe one axis.

    ``terms``: for each of :data:`.allan.model.TERMS`, and for the Gauss-Markov process if the model
    has one. ``squares`` (terms,): squared coefficients of the fit; terms that are not identified
    are part of it, and the first is below zero behind a low-pass filter. ``misfit``: weighted mean
    square of the residuals, 1 if these terms describe the data; ``describes``: whether the data can
    have come from them; otherwise the weights leave correlation aside, which a wrong description
    would exploit, and intervals are widened by the misfit. ``start``: averaging times from here on
    are described [s]; ``model_error``: relative standard deviation of the true Allan variance
    around that of the terms; ``gauss_markov_time``: correlation time, if there is such a process;
    ``time_like_walk``: shortest correlation time [s] of a process that describes the data as well
    as the random walk, None if there is none.
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
    """Fit squared coefficients to Allan variances of one axis.

    ``variances`` (n,): estimated Allan variances; those of several recordings one after the other.
    ``shapes`` (n, terms): from :func:`.allan.model.allan_variance_of_terms`. ``covariances``: from
    squared coefficients, (terms,), to the covariance of ``variances``. ``smoothing``: whether the
    ``1 / tau^2`` term may be negative: white noise behind a low-pass filter has
    ``N^2 / tau - A / tau^2`` at averaging times beyond the filter's memory; the quantisation Q,
    which it may hide, is then not known. ``model_error`` (n, n): covariance of the logarithm of the
    true Allan variances around those of the terms.
    """
    problem = AllanProblem(variances, shapes, covariances, True, smoothing, model_error)
    squares = problem.solve()
    residuals = problem.whitened(variances - shapes @ squares, squares)
    freedom = max(1, len(variances) - int((squares != 0.0).sum()))
    misfit = float(residuals @ residuals / freedom)
    describes = bool(chi2.sf(misfit * freedom, freedom) > _MISFIT)
    if not describes:
        problem = AllanProblem(variances, shapes, covariances, False, smoothing, model_error)
        squares = problem.solve()
        residuals = (variances - shapes @ squares) / problem.deviations(squares)
        misfit = max(1.0, float(residuals @ residuals / freedom))
    inflation = 1.0 if describes else misfit
    with_all = problem.deviance(squares)
    terms = {}
    for index, name in enumerate((*TERMS, GAUSS_MARKOV)[: len(squares)]):
        if index == 0 and squares[0] < 0.0:
            terms[name] = TermEstimate(0.0, 0.0, np.inf, False)
            continue
        without = problem.solve(without=index)
        gain = (problem.deviance(without) - with_all) / inflation
        terms[name] = _estimate(problem, squares, index, inflation, gain > DETECTION_DEVIATIONS**2)
    return AllanFit(terms, squares, misfit, describes)


@dataclass
class AllanProblem:
    """The regression of one axis; parameters as for :func:`fit_terms`.

    ``correlated`` says whether the weights use the correlation of the data.
    """

    variances: np.ndarray
    shapes: np.ndarray
    covariances: Callable[[np.ndarray], np.ndarray]
    correlated: bool = True
    smoothing: bool = False
    model_error: np.ndarray | None = None

    def scatter(self, squares):
        """Covariance of the data for these coefficients, that of the model's error included."""
        # A filter takes from the scatter at the shortest averaging times only.
        matrix = self.covariances(np.maximum(squares, 0.0))
        if self.model_error is not None:
            expected = self.shapes @ squares
            matrix = matrix + self.model_error * np.outer(expected, expected)
        return matrix

    def covariance(self, squares):
        """Return the same with what the covariance itself does not know."""
        matrix = self.scatter(squares)
        matrix[np.diag_indices_from(matrix)] *= 1.0 + _NUGGET
        return matrix

    def deviations(self, squares):
        """Return standard deviations of the data."""
        return np.sqrt(np.diag(self.scatter(squares)))

    def _weighing(self, squares):
        matrix = self.covariance(squares)
        return matrix if self.correlated else np.diag(np.diag(matrix))

    def whitened(self, vectors, squares):
        """Return vectors in units in which the data scatter by one, independently."""
        return _whiten(cho_factor(self._weighing(squares), lower=True)[0], vectors)

    def deviance(self, squares):
        """Minus twice the logarithm of the Gaussian likelihood of the data, up to a constant."""
        factor = cho_factor(self._weighing(squares), lower=True)[0]
        residuals = _whiten(factor, self.variances - self.shapes @ squares)
        return float(residuals @ residuals + 2.0 * np.log(np.diag(factor)).sum())

    def solve(self, without=None, start=None, iterations=_ITERATIONS):
        """Iterate to the squared coefficients whose own covariance weighs the fit.

        ``without`` is a term to leave out, ``start`` (terms,) are coefficients to begin with.
        """
        shapes = self.shapes.copy()
        if without is not None:
            shapes[:, without] = 0.0
        if start is None:
            scale = 1.0 / self.variances
            start = self._coefficients(shapes * scale[:, None], np.ones(len(scale)))
        squares = start
        for _ in range(iterations):
            before = squares
            whitened = self.whitened(np.column_stack([shapes, self.variances]), before)
            squares = self._coefficients(whitened[:, :-1], whitened[:, -1])
            if np.allclose(before, squares, rtol=_TOLERANCE, atol=0.0):
                break
        return squares

    def _coefficients(self, matrix, target):
        free = matrix[:, 0]
        if not (self.smoothing and free.any()):
            return nonnegative_least_squares(matrix, target)
        # What is orthogonal to the column of the free coefficient does not depend on it.
        direction = free / np.linalg.norm(free)
        rest = matrix[:, 1:]
        positive = nonnegative_least_squares(
            rest - np.outer(direction, direction @ rest), target - direction * (direction @ target)
        )
        first = direction @ (target - rest @ positive) / np.linalg.norm(free)
        return np.concatenate([[first], positive])

    def estimator(self, squares, index):
        """Return weights that give one square from the data, unbiased by the other terms present.

        A term that may have either sign is always present: a filter too weak to show would still
        move white noise by more than its interval.
        """
        present = squares > 0.0
        present[0] |= self.smoothing
        return square_estimator(self.shapes, self._weighing(squares), index, present)


def square_estimator(shapes, covariance, index, present):
    """Return weights (n,) of Allan variances whose sum is the best unbiased estimate of one square.

    ``shapes`` (n, terms); ``present`` (terms,) are the terms to be unbiased by, and that of
    ``index`` need not be among them.
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
    wanted = (active == index).astype(float)
    return weighted @ cho_solve(cho_factor(normal), wanted) / (scale @ wanted) / deviations


def _whiten(factor, vectors):
    """Solve with a lower Cholesky factor, column by column.

    What solves for all columns at once shares the work among threads, which for so little of it
    costs a hundred times more than it saves wherever a core is busy.
    """
    if vectors.ndim == 1:
        return dtrsv(factor, vectors, lower=True)
    return np.column_stack([dtrsv(factor, column, lower=True) for column in vectors.T])


def nonnegative_least_squares(matrix, target):
    """Solve a least-squares problem whose columns may differ by many orders of magnitude."""
    scale = np.linalg.norm(matrix, axis=0)
    scale[scale == 0.0] = 1.0
    return nnls(matrix / scale, target)[0] / scale


def _estimate(problem, squares, index, inflation, needed):
    """Find the interval of one term by inverting the test of each value it may have."""
    estimator = _Estimator(problem, squares, index, inflation)
    tail = 0.5 * (1.0 - CONFIDENCE)
    identified = needed and estimator.exceedance(0.0) < norm.sf(DETECTION_DEVIATIONS)
    low = estimator.square_at(tail, 0.0, estimator.found) if identified else 0.0
    return TermEstimate(
        value=float(np.sqrt(squares[index])),
        low=float(np.sqrt(low)),
        high=float(np.sqrt(estimator.square_above(1.0 - tail))),
        identified=bool(identified),
    )


class _Estimator:
    """Distribution of the estimate of one square, for any true square."""

    def __init__(self, problem, squares, index, inflation):
        weights = problem.estimator(squares, index)
        # A negative estimate says no more than zero does: that the term does not show.
        self.found = max(0.0, float(weights @ problem.variances))
        # The covariance is quadratic in the squares, so three values give all.
        step = max(self.found, float(np.sqrt(weights @ problem.scatter(squares) @ weights)))
        at = []
        for square in (0.0, step, 2.0 * step):
            truth = squares.copy()
            truth[index] = square
            at.append(inflation * float(weights @ problem.scatter(truth) @ weights))
        self._constant = at[0]
        self._quadratic = (at[2] - 2.0 * at[1] + at[0]) / (2.0 * step**2)
        self._linear = (at[1] - at[0]) / step - self._quadratic * step
        self._step = step
        self._other_skewness = _skewness(problem, weights, squares, index)

    def exceedance(self, square):
        """Return probability of a larger estimate than the one found if this were the true square.

        Gamma distributed (Pearson's type III): a term's own scatter is that of a chi-square.
        """
        own = self._quadratic * square**2
        variance = self._constant + self._linear * square + own
        if variance <= 0.0:
            return 0.0 if self.found > square else 1.0
        third = self._other_skewness * self._constant**1.5
        if square > 0.0:
            third += 2.0 * own**2 / square
        skewness = third / variance**1.5
        deviation = (self.found - square) / np.sqrt(variance)
        if abs(skewness) < _GAUSSIAN:
            return float(norm.sf(deviation))
        return float(pearson3.sf(deviation, skewness))

    def square_at(self, level, low, high):
        """Return the square between two bounds where the exceedance passes a level."""
        # Squares are tiny numbers, which brentq's default tolerance of 2e-12 would swallow.
        tolerance = 1e-6 * high
        return brentq(lambda x: self.exceedance(x) - level, low, high, xtol=tolerance, rtol=1e-6)

    def square_above(self, level):
        """Return the square above the estimate at which exceedance passes a level; inf if none."""
        low, step = self.found, self._step
        for _ in range(_DOUBLINGS):
            high = low + step
            if self.exceedance(high) > level:
                return self.square_at(level, low, high)
            low, step = high, 2.0 * step
        return np.inf


def _skewness(problem, weights, squares, index):
    """Return skewness that the other terms cause, as if all came from the time that counts most.

    At one averaging time the estimate is a chi-square with its equivalent degrees of freedom.
    """
    others = squares.copy()
    others[index] = 0.0
    expected = problem.shapes @ others
    deviations = problem.deviations(others)
    most = int(np.argmax(np.abs(weights) * deviations))
    if deviations[most] == 0.0:
        return 0.0
    freedom = 2.0 * (expected[most] / deviations[most]) ** 2
    return float(np.sign(weights[most]) * np.sqrt(8.0 / freedom))
