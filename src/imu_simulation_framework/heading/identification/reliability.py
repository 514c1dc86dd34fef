"""How far a fit may be relied on: intervals of its parameters, and checks of what it leaves.

What a motion cannot tell of the parameters; whether what is left unexplained is white, normal and
equally large; and single faults in it, which no model in time explains.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple, Sequence

import numpy as np
from scipy.optimize import brentq
from scipy.stats import chi2, kurtosis, levene, multivariate_t, norm, skew

from ..statistics import autocorrelation
from . import terms
from .fit import Fit, maximise, refit

CONFIDENCE = 0.95
_BETTER = 0.02
"""A gain of log-likelihood that is more than the search's own tolerance."""
_MAX_POINTS = 25
_WALK = terms.ANGLE_RANDOM_WALK.parameters[0]
_SEED, _ROUNDS, _DRAWS, _FREEDOM = 1, 4, 200, 5
"""Of the random numbers that average over strengths, and degrees of freedom of their tails."""
_REACH, _SHARPEST = 1.5, 0.01
"""How far beyond its interval a strength may be in that, and how sure its logarithm is at most."""
_NEAR = 0.01
"""How near to the wanted fall of the likelihood, as a share of its root, a limit is."""


class Estimate(NamedTuple):
    """``value``, 95 % interval from ``low`` to ``high``, ``unit``.

    A ``low`` of zero, or an infinite ``high``, says that the data give no limit on that side.
    """

    value: float
    low: float
    high: float
    unit: str


class BetterFit(Exception):  # noqa: N818, it carries a result
    """While intervals were looked for, parameters were found that explain the data better."""

    def __init__(self, fit: Fit):
        super().__init__("a better fit was found")
        self.fit = fit


def intervals(fit: Fit, confidence: float = CONFIDENCE) -> dict[str, Estimate]:
    """Return all parameters of a fitted model with their intervals.

    Each of the random terms is moved from its estimate until the likelihood, maximised over all
    others, has fallen as far as it does by chance (Cox and Snell: Analysis of binary data, 1989,
    appendix 1.3); over these the constants' likelihood is averaged.

    Raises BetterFit if the search for the fit had not found the highest likelihood.
    """
    drop = 0.5 * float(chi2.ppf(confidence, 1))
    found = {name: _of_random(fit, name, drop) for name in fit.values}
    if fit.likelihood.constants:
        found.update(_of_constants(fit, found, confidence))
    return found


def _of_constants(fit, limits, confidence):
    """Return the constants' intervals, averaged over what the random terms' parameters may be.

    At the maximum of the likelihood one of two terms that are alike may have the other's part, and
    the strength of a slip is told by few turns: with the parameters there, or with all but one, the
    constants would seem too sure. Beforehand all strengths are alike up to 1.5 times their limit,
    as standard deviations of unknown size are (Gelman: Prior distributions for variance parameters
    in hierarchical models, Bayesian Analysis 1(3), 2006), and the logarithms of correlation times.
    By importance sampling, from Student's t distributions each of which is fitted to all that was
    drawn before (Cornuet, Marin, Mira and Robert: Adaptive multiple importance sampling,
    Scandinavian Journal of Statistics 39(4), 2012); an interval varies by 1 to 3 % with the seed.

    ``limits``: the random terms' intervals by parameter.
    """
    likelihood, values = fit.likelihood, fit.values
    if _WALK not in values:
        # Too small to be seen it is there all the same, and the constants are as uncertain by it.
        likelihood = likelihood.with_term(terms.ANGLE_RANDOM_WALK)
        values = {**likelihood.next_to_nothing(), **values}
    names, tail = likelihood.names, 0.5 * (1.0 - confidence)
    known = terms.REFERENCE_ERROR.parameters
    strengths = [not name.endswith("_time") and name not in known for name in names]
    lower, upper = np.log([likelihood.scales.bounds(name) for name in names]).T
    ends = [limits[name][1:3] if name in limits else (0.0, np.inf) for name in names]
    lows, highs = np.transpose(ends)
    upper = np.minimum(upper, np.log(_REACH * highs))

    def values_at(x):
        return dict(zip(names, np.exp(x).tolist()))

    def log_posterior(x):
        if np.any(x < lower) or np.any(x > upper):
            return -np.inf
        return likelihood(values_at(x)) + float(np.sum(x[strengths]))

    first = np.log([values[name] for name in names])
    mean, _ = maximise(log_posterior, first, list(zip(lower, upper)))
    near = np.maximum(lows, np.exp(mean - 2.0)), np.minimum(highs, np.exp(mean + 2.0))
    stds = np.maximum(0.25 * np.log(near[1] / near[0]), _SHARPEST)
    random, covariance = np.random.default_rng(_SEED), np.diag(stds**2)
    proposals, places, logarithms = [], np.empty((0, len(names))), []
    for _ in range(_ROUNDS):
        proposals.append(multivariate_t(mean, covariance, _FREEDOM))
        drawn = proposals[-1].rvs(_DRAWS, random_state=random).reshape(_DRAWS, len(names))
        places = np.vstack([places, drawn])
        logarithms += [log_posterior(x) for x in drawn]
        density = np.mean([one.pdf(places) for one in proposals], axis=0)
        weights = np.exp(np.array(logarithms) - max(logarithms)) / density
        # Few with most of the weight would make the next distribution too narrow.
        highest = max(np.sort(weights)[-2 * len(names)], 1e-9 * weights.max())
        even = np.minimum(weights, highest)
        mean = even @ places / even.sum()
        covariance = np.cov(places.T, aweights=even, ddof=0).reshape(len(names), -1)
        covariance += _SHARPEST**2 * np.eye(len(names))
    counted = weights > 1e-3 * weights.max()
    filtered = (likelihood.filtered(values_at(x)) for x in places[counted])
    means, covariances = map(np.array, zip(*map(likelihood.constants_of, filtered)))
    stds = np.sqrt(np.maximum(np.diagonal(covariances, axis1=1, axis2=2), np.finfo(float).tiny))
    weights = weights[counted] / weights[counted].sum()
    found = {}
    for term, centre, mean, std in zip(likelihood.constants, fit.constants[0], means.T, stds.T):
        around = np.min(mean - 10.0 * std), np.max(mean + 10.0 * std)

        def excess(value, share, mean=mean, std=std):
            return float(weights @ norm.cdf((value - mean) / std)) - share

        low, high = (brentq(excess, *around, args=(share,)) for share in (tail, 1.0 - tail))
        found[term.parameter] = Estimate(float(centre), low, high, terms.UNITS[term.parameter])
    return found


def _of_random(fit, name, drop):
    likelihood, best = fit.likelihood, fit.values
    others = [other for other in best if other != name]
    search = _Search(likelihood, others, best)

    def fall(logarithm):
        def value_at(values):
            return likelihood({**best, **values, name: float(np.exp(logarithm))})

        value = search.highest(value_at)
        if value > fit.log_likelihood + _BETTER:
            values = {**best, **search.values, name: float(np.exp(logarithm))}
            raise BetterFit(refit(likelihood, values))
        return fit.log_likelihood - value

    bounds = np.log(likelihood.scales.bounds(name))
    limits = np.exp(_crossings(fall, search, np.log(best[name]), bounds, 0.3, drop))
    return Estimate(best[name], *limits.tolist(), terms.UNITS[name])


class _Search:
    """Maximises over some parameters again and again, from where it was last or from the estimates.

    From the more likely one of both: far out a strength may have gone to next to nothing, where its
    logarithm has no slope, and a search that began there would not come back, so that nearer by
    the likelihood would seem to have fallen, too.
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
        """Where the last maximum was."""
        return self._named(self._last)

    def _named(self, logarithms):
        return dict(zip(self._names, np.exp(logarithms).tolist()))

    def highest(self, function) -> float:
        def of_logarithms(x):
            return function(self._named(x))

        first = self._last
        if first is not self._best and of_logarithms(self._best) > of_logarithms(first):
            first = self._best
        self._last, value = maximise(of_logarithms, first, self._bounds)
        return value


def _crossings(fall, search, centre, bounds, step, drop):
    """Where the likelihood has fallen by the drop on either side; infinite if not by the bound.

    The root of the fall is nearly a straight line (Cox and Hinkley: Theoretical statistics, 1974,
    section 9.3), so that few points are enough.
    """
    found = []
    for side, bound in zip((-1.0, 1.0), bounds):
        search.restart()
        found.append(_crossing(fall, centre, bound, side * step, drop))
    return found


def _crossing(fall, centre, bound, step, drop):
    goal = np.sqrt(drop)

    def excess(value):
        return np.sqrt(max(0.0, fall(value))) - goal

    inside, below = centre, -goal
    outside, above = None, None
    for _ in range(_MAX_POINTS):
        if outside is None:
            value = centre + step
            if abs(step) >= abs(bound - centre):
                value = bound
        else:
            share = -below / (above - below)
            # Where a side does not come nearer the line is no straight one: halve.
            value = inside + min(max(share, 0.05), 0.95) * (outside - inside)
        now = excess(value)
        if abs(now) < _NEAR * goal:
            return float(value)
        if now > 0.0:
            outside, above = value, now
            continue
        if value == bound:
            return float(np.copysign(np.inf, step))
        slope = (now + goal) / (value - centre)
        inside, below = value, now
        if outside is None:
            # By the straight line, and a little further, but not by much more than what is known.
            reach = goal / slope if slope else np.inf * step
            step = np.sign(step) * min(1.1 * abs(reach), 4.0 * abs(value - centre))
    return float(np.copysign(np.inf, step) if outside is None else 0.5 * (inside + outside))


_SAME = 1.0 - 1e-6
"""Share of a curve that others explain, from which on no data could tell them apart."""
_ALIKE = 0.9
"""Share from which on it is said that they are hard to tell apart."""
_MIN_TURN = math.radians(45.0)


def identifiable_constants(
    drives: Sequence[terms.ObservedYawError],
) -> tuple[list[terms.ConstantTerm], list[str]]:
    """Return the constant terms that the drives can tell apart, and a sentence on each other one.

    From the information matrix of the constants beside each drive's own start offset: a term is
    unidentifiable where the others' curves add up to its own.
    """
    kept: list[terms.ConstantTerm] = []
    sentences = []
    for term in terms.CONSTANT_TERMS:
        curve = _curve(term, drives)
        if term is not terms.RATE_BIAS and np.ptp(curve) < _MIN_TURN:
            sentences.append(
                f"{term.name}: the robot turned by {math.degrees(np.ptp(curve)):.0f} deg only, so "
                "it cannot be determined; a drive of several full turns would"
            )
            continue
        explained = _explained(term, kept, drives)
        if explained > _SAME:
            sentences.append(f"{term.name}: {_why(term, explained, drives)}")
        else:
            kept.append(term)
    return kept, sentences


def likeness(term: terms.ConstantTerm, drives: Sequence[terms.ObservedYawError]) -> str | None:
    """Return why a constant is hard to tell from others, and which drive would; else None."""
    before = terms.CONSTANT_TERMS[: terms.CONSTANT_TERMS.index(term)]
    explained = _explained(term, before, drives)
    return _why(term, explained, drives) if explained > _ALIKE else None


def weak_parameters(estimates, drives: Sequence[terms.ObservedYawError]) -> list[str]:
    """Return a sentence on each parameter of the estimates that the drives leave open."""
    sentences = []
    duration = max(drive.time[-1] for drive in drives)
    for name, estimate in estimates.items():
        words = name.replace("_", " ")
        if name.endswith("_time"):
            if estimate.low == 0.0 and not math.isfinite(estimate.high):
                sentences.append(
                    f"{words}: nothing is known of it; a drive of "
                    f"{3.0 * max(estimate.value, duration):.0f} s, or shorter steps than "
                    f"{drives[0].step:g} s, would tell more"
                )
            elif estimate.low == 0.0:
                sentences.append(
                    f"{words}: only an upper limit of {estimate.high:.3g} s is known at steps of "
                    f"{drives[0].step:g} s; shorter steps would tell more"
                )
            elif not math.isfinite(estimate.high) or estimate.high > duration:
                sentences.append(
                    f"{words}: only a lower limit of {estimate.low:.3g} s is known from "
                    f"{duration:.0f} s; a drive of {3.0 * max(estimate.value, duration):.0f} s "
                    "would tell more"
                )
        elif name in ("rate_bias", "scale_factor", "scale_factor_of_absolute_turn"):
            continue
        elif estimate.low == 0.0:
            sentences.append(
                f"{words}: at most {estimate.high:.3g} {estimate.unit}, and it may be zero"
            )
        elif not math.isfinite(estimate.high):
            sentences.append(f"{words}: at least {estimate.low:.3g} {estimate.unit}")
    if len(drives) == 1:
        sentences.append(
            "rate bias: one drive cannot tell how it spreads from drive to drive; several of the "
            "same sensor, each after switching it on anew, would"
        )
    return sentences


def _explained(term, others, drives):
    """Return the share of a constant's curve that those of others make up."""
    curve = _curve(term, drives)
    power = float(np.sum(curve**2))
    if not others or power == 0.0:
        return 0.0
    curves = np.column_stack([_curve(other, drives) for other in others])
    curves /= np.max(np.abs(curves), axis=0) + np.finfo(float).tiny
    solution, *_ = np.linalg.lstsq(curves, curve, rcond=None)
    return 1.0 - float(np.sum((curve - curves @ solution) ** 2)) / power


def _curve(term, drives):
    """Return what a constant leads to, without each drive's own start, one drive after another."""
    curves = (term.regressor(drive)[np.isfinite(drive.error)] for drive in drives)
    return np.concatenate([curve - np.mean(curve) for curve in curves])


def _why(term, explained, drives):
    if term is terms.SCALE_FACTOR:
        cause = "the robot turned at a steady rate, so that a scale factor looks like a rate bias"
        cure = "a drive with turns to both sides, or with stops, would tell them apart"
    elif term is terms.DIRECTION and _explained(term, [terms.RATE_BIAS], drives) > _explained(
        term, [terms.SCALE_FACTOR], drives
    ):
        cause = (
            "the robot turned as much in any minute as in any other, so that a preferred direction "
            "looks like a rate bias"
        )
        cure = "a drive with long straight stretches or stops would tell them apart"
    elif term is terms.DIRECTION:
        cause = (
            "the robot turned to one side nearly all the time, so that a preferred direction looks "
            "like a scale factor"
        )
        cure = "a drive with as many left as right turns would tell them apart"
    else:
        cause, cure = "nothing was observed for long enough", "a longer drive would"
    return f"{cause} ({100.0 * explained:.4g} % of its curve are the others'); {cure}"


LAGS = 10
"""Autocorrelations that are looked at together."""
LEVEL = 0.01
"""A term is taken if a model without it would look as bad by chance in fewer drives than that."""
UNSEEN = (
    "the checks look from one observation to the next, so that flicker noise of the rate, and a "
    "drift that grows with the square of time, pass unnoticed as a random walk or a Gauss-Markov "
    "drift of their size; hours at rest would show them in the Allan deviation"
)
"""What no check sees: of 16 drives with either, all passed."""


class ResidualCheck(NamedTuple):
    """``name``; ``statistic``; ``p``, how often a right model does worse; a ``sentence``."""

    name: str
    statistic: float
    p: float
    sentence: str

    @property
    def passed(self) -> bool:
        """Whether the model is not rejected."""
        return self.p >= LEVEL


def check_residuals(normalised: Sequence[np.ndarray]) -> list[ResidualCheck]:
    """Check innovations over their standard deviations, of one or more drives.

    Whiteness by Ljung and Box (Biometrika 65(2), 1978), normality by Jarque and Bera (Economics
    Letters 6(3), 1980). Whether the model's size holds from one half of a drive to the other, and
    from drive to drive, by the test of Levene with medians (Brown and Forsythe, Journal of the
    American Statistical Association 69, 1974), which outliers do not mislead. Over all drives
    together the size says nothing, since the model's scale was fitted to it.

    ``normalised``: of each drive; NaN where nothing was observed.
    """
    return [_whiteness(normalised), _normality(normalised), _size(normalised)]


def _whiteness(drives: Sequence[np.ndarray]) -> ResidualCheck:
    total, degrees = 0.0, 0
    for drive in drives:
        seen = np.isfinite(drive)
        count = int(np.sum(seen))
        lags = min(LAGS, count // 5)
        for lag, correlation in enumerate(autocorrelation(drive, range(1, lags + 1)), 1):
            total += count * (count + 2.0) * correlation**2 / (count - lag)
        degrees += lags
    p = float(chi2.sf(total, degrees))
    words = "white" if p >= LEVEL else "correlated: something that changes slowly is missing"
    return ResidualCheck("whiteness", total, p, f"innovations are {words} (Ljung-Box)")


def _normality(drives: Sequence[np.ndarray]) -> ResidualCheck:
    values = np.concatenate([drive[np.isfinite(drive)] for drive in drives])
    statistic = len(values) / 6.0 * (skew(values) ** 2 + 0.25 * kurtosis(values) ** 2)
    p = float(chi2.sf(statistic, 2))
    words = "normal" if p >= LEVEL else "not normal: there are outliers, or steps"
    return ResidualCheck("normality", float(statistic), p, f"innovations are {words} (Jarque-Bera)")


def _size(drives: Sequence[np.ndarray]) -> ResidualCheck:
    halves = [half for drive in drives for half in np.array_split(drive[np.isfinite(drive)], 2)]
    statistic, p = levene(*halves, center="median")
    where = "halves of the drive" if len(drives) == 1 else "halves of all drives"
    words = "equally large" if p >= LEVEL else "not equally large"
    return ResidualCheck(
        "size", float(statistic), float(p), f"innovations are {words} in the {where} (Levene)"
    )


_FAULT = 0.01
"""An innovation counts as a fault if chance alone makes one so large in fewer drives than that."""
MAX_FAULTS = 0.03
"""Share of the observations that faults may be; with more the model is wrong, and not they."""


class Fault(NamedTuple):
    """An error that no model in time explains, at a drive's ``time`` [s]; of which ``drive``.

    ``step``: whether the error stays from then on, as when wheels slip, and is no single outlier,
    as a fix that jumps; ``size``: of the innovation [rad].
    """

    drive: int
    time: float
    step: bool
    size: float


def without_faults(found: Fit) -> tuple[tuple[terms.ObservedYawError, ...], list[Fault]]:
    """Return the drives without outliers, and with steps where the error jumped.

    One fault at a time, the largest innovation first, each taken for the likelier of both, as by
    Chen and Liu (Joint estimation of model parameters and outlier effects in time series, Journal
    of the American Statistical Association 88, 1993). Stops where there are too many.
    """
    drives = list(found.likelihood.drives)
    faults: list[Fault] = []
    count = sum(int(np.isfinite(drive.error).sum()) for drive in drives)
    limit = math.sqrt(chi2.isf(_FAULT / count, 1))
    likelihood = found.likelihood
    burn = len(likelihood.constants) + 1
    while True:
        filtered = likelihood.filtered(found.values)
        sizes = [
            np.nan_to_num(np.abs(innovation / std))
            for innovation, std in zip(filtered.innovations, filtered.innovation_std)
        ]
        for one in sizes:
            one[:burn] = 0.0
        which = int(np.argmax([one.max() for one in sizes]))
        at = int(np.argmax(sizes[which]))
        if sizes[which][at] < limit or len(faults) > max(1.0, MAX_FAULTS * count):
            return tuple(drives), faults
        drive = drives[which]
        steps = np.zeros(len(drive.time)) if drive.steps is None else drive.steps.copy()
        steps[at] = 1.0
        error = drive.error.copy()
        error[at] = np.nan
        ways = replace(drive, steps=steps), replace(drive, error=error)
        trials = [
            likelihood.of([*drives[:which], way, *drives[which + 1 :]], likelihood.start_std)
            for way in ways
        ]
        # An observation that is left out counts as one with the same broad prior as a step.
        as_step, as_outlier = (trial(found.values) for trial in trials)
        as_outlier -= math.log(likelihood.start_std * math.sqrt(2.0 * math.pi))
        step = as_step >= as_outlier
        size = float(filtered.innovations[which][at])
        faults.append(Fault(which, float(drive.time[at]), step, size))
        drives[which] = ways[0 if step else 1]
        likelihood = trials[0 if step else 1]
