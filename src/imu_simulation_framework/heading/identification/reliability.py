"""Reliability of an identified model: parameter intervals and checks of the residuals.

The checks detect constants that a motion cannot identify; innovations that are correlated, not
normal or of unequal variance; and individual faults that no random process explains.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, NamedTuple, Sequence

import numpy as np
from scipy.optimize import brentq
from scipy.stats import chi2, kurtosis, levene, multivariate_t, norm, skew

from ..statistics import autocorrelation
from . import terms
from .fit import Fit, Likelihood, maximise, refit

CONFIDENCE = 0.95
SEARCH_TOLERANCE = 0.02
"""Gain in log-likelihood beyond a search's tolerance, which indicates a better fit."""
MAX_POINTS = 25
"""Maximum number of likelihood evaluations in the search for an interval limit."""
LIMIT_TOLERANCE = 0.01
"""Relative tolerance of the square root of the likelihood drop at an interval limit."""
_WALK = terms.ANGLE_RANDOM_WALK.parameters[0]
_SEED, _ROUNDS, _DRAWS, _DEGREES_OF_FREEDOM = 1, 4, 200, 5
"""Seed, rounds, samples per round and degrees of freedom of the importance sampling."""
MAX_STRENGTH, MIN_LOG_STD = 1.5, 0.01
"""Largest sampled strength relative to its upper limit, and smallest std of log parameters.

Both apply to the importance sampling."""
MIN_WEIGHT = 1e-3
"""Smallest weight of an importance sample that is used, relative to the largest weight."""


class Estimate(NamedTuple):
    """Parameter estimate with its 95 % interval.

    A ``low`` of zero or an infinite ``high`` means that the data do not limit that side.

    Attributes
    ----------
    value, low, high : float
        Estimate, lower and upper limit.
    unit : str
        Unit of all three values.
    """

    value: float
    low: float
    high: float
    unit: str


class BetterFit(Exception):  # noqa: N818, it carries a result
    """Exception for an interval search that finds parameters with a higher likelihood.

    Parameters
    ----------
    fit : Fit
        Fit with the higher likelihood.
    """

    def __init__(self, fit: Fit):
        super().__init__("a better fit was found")
        self.fit = fit


def intervals(fit: Fit, confidence: float = CONFIDENCE) -> dict[str, Estimate]:
    """Compute confidence intervals for all parameters of a fitted model.

    Each parameter of the random terms is varied until the likelihood, maximised over all other
    parameters, has dropped as far as it does by chance (Cox and Snell: Analysis of binary data,
    1989, appendix 1.3). The likelihood of the constants is averaged over the random terms.

    Parameters
    ----------
    fit : Fit
        Fitted model.
    confidence : float, optional
        Confidence level of the intervals.

    Returns
    -------
    dict of str to Estimate
        Estimate by parameter.

    Raises
    ------
    BetterFit
        If the fit does not have the highest likelihood.
    """
    drop = 0.5 * float(chi2.ppf(confidence, 1))
    estimates = {name: _random_term_estimate(fit, name, drop) for name in fit.values}
    if fit.likelihood.constants:
        estimates.update(_constant_estimates(fit, estimates, confidence))
    return estimates


def _constant_estimates(fit, limits, confidence) -> dict[str, Estimate]:
    """Compute the intervals of the constants, averaged over the random terms' posterior.

    At the maximum of the likelihood, one of two similar terms may contain the other, and the
    strength of a slip is known from few turns only. If the random terms were fixed there, or varied
    one at a time, the intervals of the constants would be too narrow. An interval varies by 1 to 4
    % with the seed.

    ``limits``: intervals of the random terms by parameter.
    """
    posterior = _StrengthPosterior(fit, limits)
    likelihood = posterior.likelihood
    draws, weights = _sample(posterior)
    is_counted = weights > MIN_WEIGHT * weights.max()
    filtered = (likelihood.filtered(posterior.values_at(x)) for x in draws[is_counted])
    means, covariances = map(np.array, zip(*map(likelihood.constants_of, filtered)))
    variances = np.diagonal(covariances, axis1=1, axis2=2)
    stds = np.sqrt(np.maximum(variances, np.finfo(float).tiny))
    weights = weights[is_counted] / weights[is_counted].sum()
    tail = 0.5 * (1.0 - confidence)
    estimates = {}
    for term, centre, mean, std in zip(likelihood.constants, fit.constants[0], means.T, stds.T):
        low, high = (_mixture_quantile(q, weights, mean, std) for q in (tail, 1.0 - tail))
        estimates[term.parameter] = Estimate(float(centre), low, high, terms.UNITS[term.parameter])
    return estimates


def _mixture_quantile(probability, weights, mean, std) -> float:
    """Compute a quantile of a mixture of normal distributions with given weights."""

    def excess(value):
        return float(weights @ norm.cdf((value - mean) / std)) - probability

    return brentq(excess, np.min(mean - 10.0 * std), np.max(mean + 10.0 * std))


class _StrengthPosterior:
    """Posterior density of the logarithms (p,) of the random terms' parameters.

    The prior of all strengths is uniform up to 1.5 times their limit, as for standard deviations of
    unknown magnitude (Gelman: Prior distributions for variance parameters in hierarchical models,
    Bayesian Analysis 1(3), 2006); the prior of correlation times is uniform in the logarithm.
    """

    def __init__(self, fit: Fit, limits: dict[str, Estimate]) -> None:
        self.likelihood: Likelihood = fit.likelihood
        self._values = fit.values
        if _WALK not in fit.values:
            # Even an undetectably small random walk makes the constants more uncertain.
            self.likelihood = fit.likelihood.with_term(terms.ANGLE_RANDOM_WALK)
            self._values = {**self.likelihood.negligible_values(), **fit.values}
        names = self.likelihood.names
        known = terms.REFERENCE_ERROR.parameters
        self._is_strength = [not name.endswith("_time") and name not in known for name in names]
        self._lower, upper = np.log([self.likelihood.scales.bounds(name) for name in names]).T
        ends = [limits[name][1:3] if name in limits else (0.0, np.inf) for name in names]
        self._lows, self._highs = np.transpose(ends)
        self._upper = np.minimum(upper, np.log(MAX_STRENGTH * self._highs))

    def values_at(self, x: np.ndarray) -> dict[str, float]:
        return dict(zip(self.likelihood.names, np.exp(x).tolist()))

    def logarithm(self, x: np.ndarray) -> float:
        if np.any(x < self._lower) or np.any(x > self._upper):
            return -np.inf
        return self.likelihood(self.values_at(x)) + float(np.sum(x[self._is_strength]))

    def normal_approximation(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the mode (p,) of the density, and a covariance (p, p) based on the limits."""
        first = np.log([self._values[name] for name in self.likelihood.names])
        mean, _ = maximise(self.logarithm, first, list(zip(self._lower, self._upper)))
        low = np.maximum(self._lows, np.exp(mean - 2.0))
        high = np.minimum(self._highs, np.exp(mean + 2.0))
        stds = np.maximum(0.25 * np.log(high / low), MIN_LOG_STD)
        return mean, np.diag(stds**2)


def _sample(posterior: _StrengthPosterior) -> tuple[np.ndarray, np.ndarray]:
    """Sample a posterior by importance sampling; return samples (n, p) and weights (n,).

    The proposals are Student's t distributions, each fitted to all earlier samples (Cornuet, Marin,
    Mira and Robert: Adaptive multiple importance sampling, Scandinavian Journal of Statistics
    39(4), 2012).
    """
    mean, covariance = posterior.normal_approximation()
    count, random = len(mean), np.random.default_rng(_SEED)
    proposals: list[Any] = []
    draws, logarithms = np.empty((0, count)), []
    for _ in range(_ROUNDS):
        proposals.append(multivariate_t(mean, covariance, _DEGREES_OF_FREEDOM))
        drawn = proposals[-1].rvs(_DRAWS, random_state=random).reshape(_DRAWS, count)
        draws = np.vstack([draws, drawn])
        logarithms += [posterior.logarithm(x) for x in drawn]
        density = np.mean([proposal.pdf(draws) for proposal in proposals], axis=0)
        weights = np.exp(np.array(logarithms) - max(logarithms)) / density
        # If a few samples had most of the weight, the next proposal would be too narrow.
        highest = max(np.sort(weights)[-2 * count], 1e-9 * weights.max())
        capped = np.minimum(weights, highest)
        mean = capped @ draws / capped.sum()
        covariance = np.cov(draws.T, aweights=capped, ddof=0).reshape(count, -1)
        covariance += MIN_LOG_STD**2 * np.eye(count)
    return draws, weights


def _random_term_estimate(fit, name, drop) -> Estimate:
    likelihood, best = fit.likelihood, fit.values
    others = [other for other in best if other != name]
    search = _ProfileSearch(likelihood, others, best)

    def fall(logarithm):
        def log_likelihood(values):
            return likelihood({**best, **values, name: float(np.exp(logarithm))})

        value = search.highest(log_likelihood)
        if value > fit.log_likelihood + SEARCH_TOLERANCE:
            values = {**best, **search.values, name: float(np.exp(logarithm))}
            raise BetterFit(refit(likelihood, values))
        return fit.log_likelihood - value

    bounds = np.log(likelihood.scales.bounds(name))
    logarithms = _profile_limits(fall, search, np.log(best[name]), bounds, 0.3, drop)
    low, high = np.exp(logarithms).tolist()
    return Estimate(best[name], low, high, terms.UNITS[name])


class _ProfileSearch:
    """Repeated likelihood maximisation over some parameters, started at the last maximum.

    The search starts at the estimates if these are more likely. Far from them, a strength may have
    become negligible, and the likelihood is flat in its logarithm: a search from there would not
    return, and would suggest that the likelihood drops near the estimates as well.
    """

    def __init__(self, likelihood, names, values):
        self._names = names
        self._bounds = [tuple(np.log(likelihood.scales.bounds(name))) for name in names]
        self._best = np.log([values[name] for name in names])
        self.restart()

    def restart(self):
        self._last = self._best

    @property
    def values(self) -> dict[str, float]:
        """Parameters at the most recent maximum."""
        return self._named(self._last)

    def _named(self, logarithms):
        return dict(zip(self._names, np.exp(logarithms).tolist()))

    def highest(self, function) -> float:
        def evaluate_logarithms(x):
            return function(self._named(x))

        first = self._last
        if first is not self._best and evaluate_logarithms(self._best) > evaluate_logarithms(first):
            first = self._best
        self._last, value = maximise(evaluate_logarithms, first, self._bounds)
        return value


def _profile_limits(fall, search, centre, bounds, step, drop):
    """Find the values on either side at which the profile likelihood has dropped by ``drop``.

    The root of the drop is nearly a straight line (Cox and Hinkley: Theoretical statistics, 1974,
    section 9.3), so that few points suffice.
    """
    limits = []
    for side, bound in zip((-1.0, 1.0), bounds):
        search.restart()
        limits.append(_profile_limit(fall, centre, bound, side * step, drop))
    return limits


def _profile_limit(fall, centre, bound, step, drop):
    goal = np.sqrt(drop)

    def excess(value):
        return np.sqrt(max(0.0, fall(value))) - goal

    inside, inside_excess = centre, -goal
    outside, outside_excess = None, None
    for _ in range(MAX_POINTS):
        if outside is None:
            value = centre + step
            if abs(step) >= abs(bound - centre):
                value = bound
        else:
            share = -inside_excess / (outside_excess - inside_excess)
            # A limited share shrinks the bracket even if the curve is not straight.
            value = inside + min(max(share, 0.05), 0.95) * (outside - inside)
        value_excess = excess(value)
        if abs(value_excess) < LIMIT_TOLERANCE * goal:
            return float(value)
        if value_excess > 0.0:
            outside, outside_excess = value, value_excess
            continue
        if value == bound:
            return float(np.copysign(np.inf, step))
        slope = (value_excess + goal) / (value - centre)
        inside, inside_excess = value, value_excess
        if outside is None:
            # Go slightly beyond the straight line, but not far beyond the known points.
            newton_step = goal / slope if slope else np.inf * step
            step = np.sign(step) * min(1.1 * abs(newton_step), 4.0 * abs(value - centre))
    return float(np.copysign(np.inf, step) if outside is None else 0.5 * (inside + outside))


IDENTICAL_SHARE = 1.0 - 1e-6
"""Share of a regressor explained by others, above which no data can distinguish them."""
SIMILAR_SHARE = 0.9
"""Share of a regressor explained by others, above which their similarity is reported."""
MIN_TURN = math.radians(45.0)
"""Smallest range of headings in a drive for which a scale factor is estimated [rad]."""


def identifiable_constants(
    drives: Sequence[terms.ObservedYawError],
) -> tuple[list[terms.ConstantTerm], list[str]]:
    """Select the constant terms that observed drives can identify.

    A term is not identifiable if its curve equals a linear combination of other curves, up to the
    start offset of each drive.

    Parameters
    ----------
    drives : sequence of ObservedYawError
        Observed yaw errors of the drives.

    Returns
    -------
    kept : list of ConstantTerm
        Identifiable terms.
    messages : list of str
        Reason for each term that is not identifiable.
    """
    kept: list[terms.ConstantTerm] = []
    messages = []
    for term in terms.CONSTANT_TERMS:
        curve = _curve(term, drives)
        if term is not terms.RATE_BIAS and np.ptp(curve) < MIN_TURN:
            messages.append(
                f"{term.name}: the robot turned by only {math.degrees(np.ptp(curve)):.0f} deg, "
                "so it cannot be determined; use a drive with several full turns"
            )
            continue
        explained = _explained(term, kept, drives)
        if explained > IDENTICAL_SHARE:
            messages.append(f"{term.name}: {_why(term, explained, drives)}")
        else:
            kept.append(term)
    return kept, messages


def explain_similarity(
    term: terms.ConstantTerm, drives: Sequence[terms.ObservedYawError]
) -> str | None:
    """Explain why a constant is hard to distinguish from other constants, and which drive helps.

    Parameters
    ----------
    term : ConstantTerm
        Constant error with its curves.
    drives : sequence of ObservedYawError
        Observed yaw errors of the drives.

    Returns
    -------
    str or None
        Explanation; None if the constant is easy to distinguish.
    """
    previous_terms = terms.CONSTANT_TERMS[: terms.CONSTANT_TERMS.index(term)]
    explained = _explained(term, previous_terms, drives)
    return _why(term, explained, drives) if explained > SIMILAR_SHARE else None


def weak_parameters(estimates, drives: Sequence[terms.ObservedYawError]) -> list[str]:
    """Describe the model parameters that the observed drives do not determine.

    Parameters
    ----------
    estimates : dict of str to Estimate
        Estimate by parameter.
    drives : sequence of ObservedYawError
        Observed yaw errors of the drives.

    Returns
    -------
    list of str
        One message per undetermined parameter.
    """
    messages = []
    duration = max(drive.time[-1] for drive in drives)
    for name, estimate in estimates.items():
        description = name.replace("_", " ")
        if name.endswith("_time"):
            if estimate.low == 0.0 and not math.isfinite(estimate.high):
                messages.append(
                    f"{description}: it cannot be determined; use a drive of "
                    f"{3.0 * max(estimate.value, duration):.0f} s, or steps shorter than "
                    f"{drives[0].step:g} s"
                )
            elif estimate.low == 0.0:
                messages.append(
                    f"{description}: only an upper limit of {estimate.high:.3g} s is known at "
                    f"steps of {drives[0].step:g} s; use shorter steps to determine it"
                )
            elif not math.isfinite(estimate.high) or estimate.high > duration:
                messages.append(
                    f"{description}: only a lower limit of {estimate.low:.3g} s is known from "
                    f"{duration:.0f} s; use a drive of "
                    f"{3.0 * max(estimate.value, duration):.0f} s to determine it"
                )
        elif name in ("rate_bias", "scale_factor", "scale_factor_of_absolute_turn"):
            continue
        elif estimate.low == 0.0:
            messages.append(
                f"{description}: at most {estimate.high:.3g} {estimate.unit}, and it may be zero"
            )
        elif not math.isfinite(estimate.high):
            messages.append(f"{description}: at least {estimate.low:.3g} {estimate.unit}")
    if len(drives) == 1:
        messages.append(
            "rate bias: one drive cannot show its spread over drives; use several drives of the "
            "same sensor, each after a new power-on"
        )
    return messages


def _explained(term, others, drives):
    """Return the share of a constant's regressor that other constants' regressors explain."""
    curve = _curve(term, drives)
    power = float(np.sum(curve**2))
    if not others or power == 0.0:
        return 0.0
    curves = np.column_stack([_curve(other, drives) for other in others])
    curves /= np.max(np.abs(curves), axis=0) + np.finfo(float).tiny
    solution, *_ = np.linalg.lstsq(curves, curve, rcond=None)
    return 1.0 - float(np.sum((curve - curves @ solution) ** 2)) / power


def _curve(term, drives):
    """Return a constant's regressor over all drives, with zero mean in each drive."""
    curves = (term.regressor(drive)[np.isfinite(drive.error)] for drive in drives)
    return np.concatenate([curve - np.mean(curve) for curve in curves])


def _why(term, explained, drives):
    if term is terms.SCALE_FACTOR:
        cause = "the robot turned at a steady rate, so that a scale factor looks like a rate bias"
        cure = "a drive with turns to both sides, or with stops, would separate them"
    elif term is terms.DIRECTION and _explained(term, [terms.RATE_BIAS], drives) > _explained(
        term, [terms.SCALE_FACTOR], drives
    ):
        cause = (
            "the robot turned by the same amount in every minute, so that a preferred direction "
            "looks like a rate bias"
        )
        cure = "a drive with long straight parts or stops would separate them"
    elif term is terms.DIRECTION:
        cause = (
            "the robot turned to one side nearly all the time, so that a preferred direction looks "
            "like a scale factor"
        )
        cure = "a drive with as many left as right turns would separate them"
    else:
        cause, cure = "the observed time is too short", "a longer drive would separate them"
    return f"{cause} ({100.0 * explained:.4g} % of its curve match other curves); {cure}"


LAGS = 10
"""Number of autocorrelation lags in the test for whiteness."""
LEVEL = 0.01
"""Significance level of residual checks and of tests for additional model terms."""
UNSEEN = (
    "the checks compare each observation with the next, so flicker noise of the rate and a drift "
    "that grows with the square of time pass unnoticed as a random walk or a Gauss-Markov drift "
    "of the same magnitude; a stationary recording of hours would show them in the Allan deviation"
)
"""Remark on errors that the checks miss: all 16 drives with such an error passed them."""


class ResidualCheck(NamedTuple):
    """Result of a statistical check of a model's residuals.

    Attributes
    ----------
    name : str
        Name of the check.
    statistic : float
        Test statistic.
    p : float
        Probability that a correct model has a larger statistic.
    sentence : str
        Result as a message.
    """

    name: str
    statistic: float
    p: float
    sentence: str

    @property
    def passed(self) -> bool:
        """Whether the model passes the check."""
        return self.p >= LEVEL


def check_residuals(normalised: Sequence[np.ndarray]) -> list[ResidualCheck]:
    """Check the normalised innovations of drives for whiteness, normality and equal variance.

    Whiteness is tested by Ljung and Box (Biometrika 65(2), 1978), normality by Jarque and Bera
    (Economics Letters 6(3), 1980), and equal variance in both halves of all drives by the test of
    Levene with medians (Brown and Forsythe, Journal of the American Statistical Association 69,
    1974), which is robust against outliers. The overall variance is not tested, since the model's
    scale was fitted to it.

    Parameters
    ----------
    normalised : sequence of numpy.ndarray
        Innovations of each drive over their standard deviations; NaN without an observation.

    Returns
    -------
    list of ResidualCheck
        Checks of whiteness, normality and variance.
    """
    return [_whiteness(normalised), _normality(normalised), _size(normalised)]


def _whiteness(drives: Sequence[np.ndarray]) -> ResidualCheck:
    total, degrees = 0.0, 0
    for drive in drives:
        is_observed = np.isfinite(drive)
        count = int(np.sum(is_observed))
        lags = min(LAGS, count // 5)
        for lag, correlation in enumerate(autocorrelation(drive, range(1, lags + 1)), 1):
            total += count * (count + 2.0) * correlation**2 / (count - lag)
        degrees += lags
    p = float(chi2.sf(total, degrees))
    verdict = "white" if p >= LEVEL else "correlated: the model lacks a slow process"
    return ResidualCheck("whiteness", total, p, f"innovations are {verdict} (Ljung-Box)")


def _normality(drives: Sequence[np.ndarray]) -> ResidualCheck:
    values = np.concatenate([drive[np.isfinite(drive)] for drive in drives])
    statistic = len(values) / 6.0 * (skew(values) ** 2 + 0.25 * kurtosis(values) ** 2)
    p = float(chi2.sf(statistic, 2))
    verdict = "normal" if p >= LEVEL else "not normal: there are outliers, or steps"
    return ResidualCheck(
        "normality", float(statistic), p, f"innovations are {verdict} (Jarque-Bera)"
    )


def _size(drives: Sequence[np.ndarray]) -> ResidualCheck:
    halves = [
        half_drive
        for drive in drives
        for half_drive in np.array_split(drive[np.isfinite(drive)], 2)
    ]
    statistic, p = levene(*halves, center="median")
    where = "halves of the drive" if len(drives) == 1 else "halves of all drives"
    verdict = "of equal variance" if p >= LEVEL else "of unequal variance"
    return ResidualCheck(
        "size", float(statistic), float(p), f"innovations are {verdict} in the {where} (Levene)"
    )


FAULT_LEVEL = 0.01
"""Family-wise probability below which a large innovation is treated as a fault."""
MAX_FAULTS = 0.03
"""Largest share of faulty observations; with more, the model is considered wrong."""


class Fault(NamedTuple):
    """Jump or outlier of a drive's yaw error that no random process explains.

    Attributes
    ----------
    drive : int
        Index of the drive.
    time : float
        Time on the drive [s].
    step : bool
        Whether the error persists, as when wheels slip; if not, it is a single outlier, such as a
        jumping fix.
    size : float
        Innovation [rad].
    """

    drive: int
    time: float
    step: bool
    size: float


def remove_faults(result: Fit) -> tuple[tuple[terms.ObservedYawError, ...], list[Fault]]:
    """Remove outliers from drives, and mark the samples at which the yaw error jumps.

    The largest innovation is treated first. Each fault is classified as outlier or step, whichever
    is more likely, as by Chen and Liu (Joint estimation of model parameters and outlier effects in
    time series, Journal of the American Statistical Association 88, 1993). The search stops if
    there are too many faults.

    Parameters
    ----------
    result : Fit
        Fitted model.

    Returns
    -------
    drives : tuple of ObservedYawError
        Drives without outliers and with marked steps.
    faults : list of Fault
        Removed outliers and marked steps.
    """
    likelihood, drives = result.likelihood, list(result.likelihood.drives)
    faults: list[Fault] = []
    count = sum(int(np.isfinite(drive.error).sum()) for drive in drives)
    limit = math.sqrt(chi2.isf(FAULT_LEVEL / count, 1))
    while True:
        index, place, size, innovation = _largest_innovation(likelihood, result.values)
        if size < limit or len(faults) > max(1.0, MAX_FAULTS * count):
            return tuple(drives), faults
        step, outlier = _with_step(drives[index], place), _with_outlier(drives[index], place)
        step_likelihood, outlier_likelihood = (
            likelihood.with_drives(
                [*drives[:index], drive, *drives[index + 1 :]], likelihood.start_std
            )
            for drive in (step, outlier)
        )
        # An omitted observation is given the same broad prior as a jump, for a fair comparison.
        prior = math.log(likelihood.start_std * math.sqrt(2.0 * math.pi))
        is_step = step_likelihood(result.values) >= outlier_likelihood(result.values) - prior
        faults.append(Fault(index, float(drives[index].time[place]), is_step, innovation))
        drives[index] = step if is_step else outlier
        likelihood = step_likelihood if is_step else outlier_likelihood


class _Innovation(NamedTuple):
    """Innovation at a sample of a drive [rad], and its magnitude in standard deviations."""

    drive: int
    sample: int
    size: float
    innovation: float


def _largest_innovation(likelihood: Likelihood, values: dict[str, float]) -> _Innovation:
    filtered = likelihood.filtered(values)
    burn = len(likelihood.constants) + 1
    sizes = []
    for innovation, std in zip(filtered.innovations, filtered.innovation_std):
        size = np.nan_to_num(np.abs(innovation / std))
        size[:burn] = 0.0
        sizes.append(size)
    drive = int(np.argmax([size.max() for size in sizes]))
    place = int(np.argmax(sizes[drive]))
    return _Innovation(drive, place, sizes[drive][place], float(filtered.innovations[drive][place]))


def _with_step(drive: terms.ObservedYawError, place: int) -> terms.ObservedYawError:
    steps = np.zeros(len(drive.time)) if drive.steps is None else drive.steps.copy()
    steps[place] = 1.0
    return replace(drive, steps=steps)


def _with_outlier(drive: terms.ObservedYawError, place: int) -> terms.ObservedYawError:
    error = drive.error.copy()
    error[place] = np.nan
    return replace(drive, error=error)
