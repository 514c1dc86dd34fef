"""Identification of a yaw error model: terms supported by the data, and their estimates.

Nested models are compared by likelihood ratio tests.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Iterator, NamedTuple, Sequence

import numpy as np
import pandas as pd
from scipy.stats import chi2

from ...core.deprecated import deprecated_names
from ...core.errors import ConfigurationError
from ..judgement.common_zero import zero_where_known
from ..judgement.judge import Judgement, judge
from ..model.model import YawErrorModel
from ..model.parameters import YawErrorParameters
from ..statistics import TWO_SIDED
from . import reliability
from .fit import Fit, Likelihood, fit, fitted_parts, refit
from .terms import (
    ANGLE_RANDOM_WALK,
    DIRECTION,
    RANDOM_TERMS,
    RATE_BIAS,
    RATE_DRIFT,
    RATE_RANDOM_WALK,
    REFERENCE_DRIFT,
    REFERENCE_ERROR,
    REFERENCE_NOISE,
    REFERENCE_SLIP,
    REFERENCE_TERMS,
    SCALE_FACTOR,
    SPREAD,
    UNITS,
    YAW_DRIFT,
    ConstantTerm,
    ObservedYawError,
    RandomTerm,
)

_LIKELIHOOD_TOLERANCE = 1e-3
"""Difference in log-likelihood below which two models fit equally well."""
_MIN_AIC_GAIN = float(chi2.isf(reliability.LEVEL, 1))
"""Smallest AIC advantage for which a drift is attributed to the sensor, not the reference."""
_LIMITING_WALKS = {RATE_DRIFT: RATE_RANDOM_WALK, YAW_DRIFT: ANGLE_RANDOM_WALK}
"""Random walk that each Gauss-Markov process approaches for long correlation times."""


class Choice(NamedTuple):
    """Yaw error model chosen from several candidates.

    Attributes
    ----------
    fit : Fit
        Fit of the chosen model.
    compared_models : pandas.DataFrame
        All compared models. Columns: terms, parameters, log_likelihood, aic, above_best (in aic),
        likelihood_ratio (twice the difference of the log-likelihoods to the chosen model), p
        (probability of so large a ratio by chance; for models that contain the chosen model or are
        contained in it), chosen. All models have all constants, so that their restricted
        likelihoods are comparable.
    sentences : list of str
        Messages on constants that were omitted.
    """

    fit: Fit
    compared_models: pd.DataFrame
    sentences: list[str]


def choose(
    drives: Sequence[ObservedYawError],
    constants: Sequence[ConstantTerm],
    correlated_reference: bool = False,
) -> Choice:
    """Choose the smallest yaw error model that is not rejected in favour of a larger one.

    The random terms are chosen first, with all constants (Diggle, Heagerty, Liang and Zeger:
    Analysis of longitudinal data, section 4.5): forward from angle random walk and reference noise,
    then backward. A random walk is replaced by a drift only if the data show a correlation time.
    Finally, the constants are tested by their estimates relative to their standard errors.

    Parameters
    ----------
    drives : sequence of ObservedYawError
        Observed yaw errors of the drives.
    constants : sequence of ConstantTerm
        Constants that the motion can identify.
    correlated_reference : bool, optional
        Whether the reference's noise may be correlated, as in satellite positioning.

    Returns
    -------
    Choice
        The chosen model.
    """
    search = _Search(drives, constants)
    first = [ANGLE_RANDOM_WALK, REFERENCE_NOISE]
    candidates = [ANGLE_RANDOM_WALK, RATE_RANDOM_WALK, RATE_DRIFT, YAW_DRIFT]
    if any(drive.reference is not None for drive in drives):
        first.append(REFERENCE_ERROR)
        # The stated error of a smoothed course does not include the course's slow errors.
        first += [REFERENCE_DRIFT] if correlated_reference else []
    candidates.append(REFERENCE_DRIFT if correlated_reference else REFERENCE_SLIP)
    random = search.upwards(first, [term for term in candidates if term not in first])
    random = search.downwards(search.walk_or_drift(search.downwards(random)))
    refined = search.fitted(random)
    kept, messages = _kept_constants(refined, constants, drives)
    if len(kept) < len(constants):
        refined = fit(Likelihood(drives, random, kept, len(drives) > 1), refined.values)
    return Choice(refined, search.table(random), messages)


def p_value(gain: float, parameters: int) -> float:
    """Compute the probability that a superfluous term gains as much log-likelihood by chance.

    A strength cannot be negative, so in half of all cases chance gains nothing: the probability is
    half of the tail of the chi-square distribution (Self and Liang, Journal of the American
    Statistical Association 82, 1987).

    Parameters
    ----------
    gain : float
        Gain of log-likelihood.
    parameters : int
        Number of additional parameters.

    Returns
    -------
    float
        Probability.
    """
    return 0.5 * float(chi2.sf(max(0.0, 2.0 * gain), parameters))


class _Search:
    """Stepwise search over nested models, with a cache of all fits."""

    def __init__(self, drives: Sequence[Any], constants: Sequence[Any]) -> None:
        self._drives, self._constants = drives, constants
        self._fits: dict = {}

    def fitted(self, random: Sequence[RandomTerm]) -> Fit:
        ordered = tuple(term for term in RANDOM_TERMS if term in random)
        if ordered not in self._fits:
            # Without a rate bias per switch-on, bias differences would appear as slow drift.
            several = len(self._drives) > 1
            likelihood = Likelihood(self._drives, ordered, self._constants, several)
            part = self._best_submodel(ordered)
            best_fit = fit(likelihood, part and part.values)
            if (
                part is not None
                and best_fit.log_likelihood < part.log_likelihood - _LIKELIHOOD_TOLERANCE
            ):
                # If a submodel fits better, the search has failed: restart near the submodel.
                best_fit = _fit_from_submodel(likelihood, part)
            best_fit = self._refit_from_larger_model(best_fit)
            self._fits[ordered] = best_fit
            self._refit_larger_models(ordered, best_fit)
        return self._fits[ordered]

    def _refit_from_larger_model(self, larger_fit: Any) -> Any:
        """Refit with the parameters of a larger model if these are more likely for this model."""
        likelihood = larger_fit.likelihood
        for terms, other in self._fits.items():
            if set(terms) >= set(likelihood.random):
                values = {name: other.values[name] for name in likelihood.names}
                if likelihood(values) > larger_fit.log_likelihood + _LIKELIHOOD_TOLERANCE:
                    larger_fit = refit(likelihood, values)
        return larger_fit

    def _refit_larger_models(self, ordered: Sequence[Any], best_fit: Any) -> None:
        """Refit larger models whose likelihood is below that of a submodel."""
        for terms, other in self._fits.items():
            holds = set(terms) >= set(ordered)
            if holds and other.log_likelihood < best_fit.log_likelihood - _LIKELIHOOD_TOLERANCE:
                self._fits[terms] = _fit_from_submodel(other.likelihood, best_fit)

    def _best_submodel(self, ordered: Sequence[Any]) -> Any:
        """Return the most likely fit among the submodels of a model."""
        parts = [candidate for terms, candidate in self._fits.items() if set(terms) <= set(ordered)]
        return max(parts, key=lambda candidate: candidate.log_likelihood) if parts else None

    def upwards(self, random: Sequence[Any], candidates: Sequence[Any]) -> list[Any]:
        random = list(random)
        while True:
            current_fit = self.fitted(random)
            better = []
            for term in candidates:
                if term in random:
                    continue
                extended = self.fitted([*random, term])
                gain = extended.log_likelihood - current_fit.log_likelihood
                if p_value(gain, len(term.parameters)) < reliability.LEVEL / len(candidates):
                    # The term that yields the lowest AIC is added first.
                    better.append((extended.aic, term))
            if not better:
                return random
            aic, term = min(better, key=lambda pair: pair[0])
            for other_aic, other in better:
                # A drift is attributed to the sensor only if the reference cannot explain it.
                if (
                    term is YAW_DRIFT
                    and other is REFERENCE_DRIFT
                    and other_aic - aic < _MIN_AIC_GAIN
                ):
                    term = other
            random.append(term)

    def downwards(self, random: Sequence[Any]) -> list[Any]:
        random = list(random)
        nuisance = [REFERENCE_ERROR]
        if any(drive.reference is not None for drive in self._drives):
            # Without this term, slow errors of a course would appear as the sensor's random walk.
            nuisance.append(REFERENCE_DRIFT)
        while len(random) > 1:
            current_fit = self.fitted(random)
            losses = []
            for term in random:
                is_only_one = self._sensor_terms(random) == [term]
                if term in nuisance or (is_only_one and term is ANGLE_RANDOM_WALK):
                    # Every gyroscope has white noise; the drives at least bound it from above.
                    continue
                others = [other for other in random if other is not term]
                loss = current_fit.log_likelihood - self.fitted(others).log_likelihood
                losses.append((p_value(loss, len(term.parameters)), term))
            if not losses:
                return random
            p, idle = max(losses, key=lambda pair: pair[0])
            if p <= reliability.LEVEL:
                return random
            random.remove(idle)
        return random

    @staticmethod
    def _sensor_terms(random: Sequence[Any]) -> list[Any]:
        return [term for term in random if term not in REFERENCE_TERMS]

    def walk_or_drift(self, random: Sequence[Any]) -> list[Any]:
        """For each random walk, choose between it and the corresponding Gauss-Markov process."""
        random = list(random)
        for drift, walk in _LIMITING_WALKS.items():
            if (drift in random) == (walk in random):
                continue
            others = [term for term in random if term not in (drift, walk)]
            with_walk, with_drift = [*others, walk], [*others, drift]
            gain = self.fitted(with_drift).log_likelihood - self.fitted(with_walk).log_likelihood
            # A process that replaces the angle random walk must be as significant as other terms.
            candidates = len(RANDOM_TERMS) if walk is ANGLE_RANDOM_WALK else 1
            demanded = p_value(gain, 1) <= reliability.LEVEL / candidates
            random = with_drift if demanded else with_walk
        return random

    def table(self, selected: Any) -> pd.DataFrame:
        best = self.fitted(selected)
        rows = []
        for terms, candidate in self._fits.items():
            gain = candidate.log_likelihood - best.log_likelihood
            more = candidate.parameters - best.parameters
            nested = more != 0 and (set(terms) >= set(selected) or set(terms) <= set(selected))
            rows.append(
                {
                    "terms": " + ".join(term.name for term in terms),
                    "parameters": candidate.parameters,
                    "log_likelihood": candidate.log_likelihood,
                    "aic": candidate.aic,
                    "above_best": 0.0,
                    "likelihood_ratio": 2.0 * gain,
                    "p": p_value(abs(gain), abs(more)) if nested else np.nan,
                    "chosen": candidate is best,
                }
            )
        table = pd.DataFrame(rows).sort_values("aic", ignore_index=True)
        table["above_best"] = table["aic"] - table["aic"].min()
        return table


def _fit_from_submodel(likelihood: Any, part: Any) -> Any:
    """Fit a model, starting from the parameters of a fitted submodel."""
    return refit(likelihood, {**likelihood.negligible_values(), **part.values})


def _kept_constants(fit: Any, constants: Sequence[Any], drives: Any) -> tuple[list[Any], list[str]]:
    """Select the constant terms to keep, and explain uncertain or omitted ones.

    Rate bias and scale factor are always kept, since every gyroscope has them. If a small one were
    omitted, the random terms would explain it, and the interval of the bias would be too narrow.
    """
    estimates, covariance = fit.constants
    kept, messages = [], []
    for term, estimate, std in zip(constants, estimates, np.sqrt(np.diag(covariance))):
        p = float(chi2.sf((abs(estimate) / std) ** 2, 1))
        # The interval has the same level as the test, so that it contains 0 if 0 is not rejected.
        half_width = float(chi2.isf(reliability.LEVEL, 1)) ** 0.5 * std
        low, high = estimate - half_width, estimate + half_width
        differs = p < reliability.LEVEL
        if differs and term is DIRECTION:
            # This term is rare and easily confused with others, so its interval averages over the
            # random terms.
            _, low, high, _ = _with_intervals(fit, 1.0 - reliability.LEVEL)[1][term.parameter]
            differs = not low <= 0.0 <= high
        reason = (
            None if term is RATE_BIAS or differs else reliability.explain_similarity(term, drives)
        )
        if term is not DIRECTION or differs:
            kept.append(term)
            messages += [f"{term.name}: {reason}"] if reason else []
            continue
        low, high = 100.0 * low, 100.0 * high
        sure = f"{100.0 * (1.0 - reliability.LEVEL):g} %"
        sentence = (
            f"{term.name}: between {low:.2g} and {high:.2g} % with a confidence of {sure}, omitted "
            "since it may be 0"
        )
        messages.append(f"{sentence}. {reason[0].upper()}{reason[1:]}" if reason else sentence)
    return kept, messages


def _remove_faults_iteratively(
    choice: Choice, constants: Sequence[ConstantTerm], correlated_reference: bool
) -> tuple[Choice, list[str]]:
    """Choose the model again after removing faults from drives; return messages on the faults."""
    all_faults: list[reliability.Fault] = []
    first = choice
    count = sum(int(np.isfinite(drive.error).sum()) for drive in choice.fit.likelihood.drives)
    while True:
        drives, faults = reliability.remove_faults(choice.fit)
        if not faults:
            break
        all_faults += faults
        if len(all_faults) > max(1.0, reliability.MAX_FAULTS * count):
            return first, []
        choice = choose(drives, constants, correlated_reference)
    return choice, [
        f"{choice.fit.likelihood.drives[fault.drive].name}: at {fault.time:g} s the yaw error "
        + ("jumps by" if fault.step else "has an outlier of")
        + f" about {math.degrees(fault.size):.2g} deg, as if wheels slipped or a fix jumped, and "
        "is excluded"
        for fault in sorted(all_faults)
    ]


def _common_lag(fit: Fit) -> tuple[float, float]:
    """Return the inverse-variance weighted mean of the drives' reference lags, and its std [s]."""
    lags, stds = np.array(fit.lags).T
    weights = 1.0 / np.maximum(stds, 1e-9) ** 2
    return float(weights @ lags / weights.sum()), float(weights.sum() ** -0.5)


def _lag_sentences(fit: Fit) -> list[str]:
    """Describe each significant lag of a drive's reference relative to the IMU."""
    messages = []
    for drive, (lag, std) in zip(fit.likelihood.drives, fit.lags):
        if abs(lag) > 2.0 * std:
            late = "late" if lag > 0.0 else "early"
            messages.append(
                f"{drive.name}: the reference is {abs(lag):.3g} +- {2.0 * std:.2g} s {late} "
                "relative to the IMU, and this delay is removed"
            )
    return messages


def gyroscope_sentence(drives: Sequence[ObservedYawError], correlated_reference: bool) -> str:
    """Describe the scale factor error of a gyroscope with its 95 % interval.

    Parameters
    ----------
    drives : sequence of ObservedYawError
        Errors of the integrated yaw rate of the gyroscope, independent of the IMU's yaw output.
    correlated_reference : bool
        See :func:`identify_yaw_error`.

    Returns
    -------
    str
        Message; empty if the drives turn too little.
    """
    constants, _ = reliability.identifiable_constants(drives)
    if SCALE_FACTOR not in constants:
        return ""
    random = [ANGLE_RANDOM_WALK, RATE_RANDOM_WALK, REFERENCE_NOISE]
    if any(drive.reference is not None for drive in drives):
        random.append(REFERENCE_ERROR)
    elif not correlated_reference:
        random.append(REFERENCE_SLIP)
    estimates, covariance = fit(Likelihood(drives, random, constants)).constants
    place = constants.index(SCALE_FACTOR)
    half_width = TWO_SIDED * math.sqrt(max(covariance[place, place], 0.0))
    return (
        f"the integrated yaw rate turns {100.0 * estimates[place]:+.2g} +- "
        f"{100.0 * half_width:.2g} % (95 %) more than the reference; this is the gyroscope's scale "
        "factor, however the yaw output is computed"
    )


_AMBIGUOUS_DRIFT = (
    f"{YAW_DRIFT.name}: the reference's error is unknown, and may contain the same drift; "
    "state its magnitude and correlation time to separate them"
)
_MAX_STDS = 3.0
"""Largest plausible scale factor error, in standard deviations over sensors."""
_MAX_REFITS = 10


@deprecated_names(tried="compared_models")
@dataclass(frozen=True)
class YawErrorIdentification:
    """Identified yaw error model, with estimates and checks.

    Parameters
    ----------
    drives : tuple of ObservedYawError
        Drives after removal of faults.
    fit : Fit
        Fit of the chosen model.
    estimates : dict of str to Estimate
        Estimate by parameter, see ``UNITS`` of :mod:`.identification.terms`.
    compared_models : pandas.DataFrame
        All compared models, see :class:`.Choice`.
    checks : tuple of ResidualCheck
        Checks of the residuals.
    sentences : tuple of str
        Messages on parameters that the data do not determine, and on drives that would.
    remarks : tuple of str, optional
        Messages on faults that were removed, and on lags of the reference.
    """

    drives: tuple[ObservedYawError, ...]
    fit: Fit
    estimates: dict[str, reliability.Estimate]
    compared_models: pd.DataFrame
    checks: tuple[reliability.ResidualCheck, ...]
    sentences: tuple[str, ...]
    remarks: tuple[str, ...] = ()

    def parts(self, index: int = 0) -> pd.DataFrame:
        """Return the components of a drive's yaw error; see :func:`.fitted_parts`.

        Parameters
        ----------
        index : int, optional
            Index of the drive.

        Returns
        -------
        pandas.DataFrame
            Components of the error over time.
        """
        return fitted_parts(self.fit, index)

    def normalised(self) -> list[np.ndarray]:
        """Return the innovations of each drive divided by their standard deviations.

        Returns
        -------
        list of numpy.ndarray
            Shape (n,) each; NaN at the first samples, which determine the constants.
        """
        filtered = self.fit.filtered
        burn = len(self.fit.likelihood.constants) + 1
        return [
            np.where(np.arange(len(innovation)) < burn, np.nan, innovation / std)
            for innovation, std in zip(filtered.innovations, filtered.innovation_std)
        ]

    @property
    def accepted(self) -> bool:
        """Whether the residuals of the model pass all checks."""
        return all(check.passed for check in self.checks)

    @property
    def hidden(self) -> bool:
        """Whether the reference masks the sensor's errors, leaving only upper limits."""
        strengths = {
            name: estimate
            for name, estimate in self.estimates.items()
            if not name.startswith("reference") and not name.endswith("_time")
        }
        return not any(estimate.low > 0.0 or estimate.high < 0.0 for estimate in strengths.values())

    @property
    def unlikely(self) -> bool:
        """Whether an estimated scale factor error is implausibly large for any sensor."""
        return any(
            abs(self.estimates[term.parameter].value) > _MAX_STDS * term.std
            for term in self.fit.likelihood.constants
        )

    @property
    def parameters(self) -> YawErrorParameters:
        """Parameters to predict the yaw error on other motions."""
        estimates = {name: estimate[:3] for name, estimate in self.estimates.items()}
        return YawErrorParameters.identified(estimates, len(self.drives), not self.accepted)


def identify_yaw_error(
    drives: Sequence[ObservedYawError], correlated_reference: bool = False
) -> YawErrorIdentification:
    """Identify the yaw error model that observed drives support.

    Parameters
    ----------
    drives : sequence of ObservedYawError
        Drives of the same IMU with the same step.
    correlated_reference : bool, optional
        Whether the reference's noise may be correlated, as in satellite positioning.

    Returns
    -------
    YawErrorIdentification

    Raises
    ------
    ConfigurationError
        If there is no drive, steps differ, or an error is constant.
    """
    if not drives:
        raise ConfigurationError(
            "drives: the list is empty, expected at least one drive to identify a model"
        )
    for drive in drives:
        if abs(drive.step - drives[0].step) > 1e-9 * drives[0].step:
            raise ConfigurationError(
                f"{drive.name}: the step is {drive.step:g} s, expected {drives[0].step:g} s as in "
                f"{drives[0].name}"
            )
        if np.nanmax(drive.error) == np.nanmin(drive.error):
            raise ConfigurationError(
                f"{drive.name}: the yaw error is {np.nanmax(drive.error):g} rad all the time, "
                "expected the changing error of a sensor"
            )
    constants, sentences = reliability.identifiable_constants(drives)
    choice = choose(drives, constants, correlated_reference)
    choice, faults = _remove_faults_iteratively(choice, constants, correlated_reference)
    drives = choice.fit.likelihood.drives
    sentences += choice.sentences
    selected, estimates = _with_intervals(choice.fit)
    sentences += [*reliability.weak_parameters(estimates, drives), reliability.UNSEEN]
    if YAW_DRIFT in selected.likelihood.random and any(drive.reference is None for drive in drives):
        sentences.append(_AMBIGUOUS_DRIFT)
    remarks = (*faults, *_lag_sentences(selected))
    lag, std = _common_lag(selected)
    if abs(lag) > TWO_SIDED * std:
        limits = lag - TWO_SIDED * std, lag + TWO_SIDED * std
        estimates["reference_lag"] = reliability.Estimate(lag, *limits, UNITS["reference_lag"])
    identification = YawErrorIdentification(
        tuple(drives), selected, estimates, choice.compared_models, (), tuple(sentences), remarks
    )
    checks = reliability.check_residuals(identification.normalised())
    checks += [_check_one_sensor(selected)] if len(drives) > 1 else []
    return replace(identification, checks=tuple(checks))


def _check_one_sensor(fit: Fit) -> reliability.ResidualCheck:
    """Check whether the sensor has the same scale factor and noise in all drives.

    The statistic is the likelihood ratio of each drive with individual strengths and with common
    strengths of the sensor, with individual strengths of the reference in both; plus the weighted
    squares of the scale factors' deviations from their mean.
    """
    sensor_parameters = [
        name
        for term in fit.likelihood.random
        if term not in REFERENCE_TERMS
        for name in term.parameters
    ]
    common = {name: value for name, value in fit.values.items() if name != SPREAD}
    gains, scales = [], []
    constants = fit.likelihood.constants
    for drive in fit.likelihood.drives:
        likelihood = Likelihood([drive], fit.likelihood.random, constants)
        gain = refit(likelihood, common).log_likelihood - likelihood.highest(
            common, sensor_parameters
        )
        gains.append(max(0.0, gain))
        # Common strengths are used, since an interval with a zero estimate would be too narrow.
        mean, covariance = likelihood.constants_of(likelihood.filtered(common))
        scales.append((mean[1:], np.diag(covariance)[1:]))
    means, variances = (np.array(values) for values in zip(*scales))
    centre = np.sum(means / variances, axis=0) / np.sum(1.0 / variances, axis=0)
    mean_contrasts = 2.0 * np.array(gains) + np.sum((means - centre) ** 2 / variances, axis=1)
    degrees = (len(mean_contrasts) - 1) * (len(sensor_parameters) + len(constants) - 1)
    p = float(chi2.sf(mean_contrasts.sum(), max(degrees, 1)))
    verdict = "may come from one sensor"
    if p < reliability.LEVEL:
        other = fit.likelihood.drives[int(np.argmax(mean_contrasts))].name
        verdict = f"do not come from one sensor, or the sensor has changed: {other} differs most"
    return reliability.ResidualCheck(
        "one sensor", float(mean_contrasts.sum()), p, f"the drives {verdict}"
    )


def predicted_from_others(
    drives: Sequence[ObservedYawError],
    correlated_reference: bool = False,
    runs: int = 2000,
    seed: int = 1,
) -> Iterator[Judgement]:
    """Cross-validate: test each drive's error under the model identified from all other drives.

    Parameters
    ----------
    drives : sequence of ObservedYawError
        At least two drives.
    correlated_reference : bool, optional
        See :func:`identify_yaw_error`, which raises the same errors.
    runs : int, optional
        Number of runs of each model along the motion of the drive.
    seed : int, optional
        Seed of the runs.

    Yields
    ------
    Judgement
        Judgement of one drive.

    Raises
    ------
    EnsembleError
        If the number of runs is too small.
    """
    for index, drive in enumerate(drives):
        others = [*drives[:index], *drives[index + 1 :]]
        parameters = identify_yaw_error(others, correlated_reference).parameters
        coordinates = drive.time, drive.net_turn, drive.absolute_turn
        model = YawErrorModel(drive.time, tuple(parameters.sources(*coordinates)))
        curves = model.realisations(runs, seed)
        curves += parameters.reference_errors(drive.reference, coordinates, runs, seed)
        yield judge(*zero_where_known(drive.time, drive.error, curves, drive.zeroed_by))


def _with_intervals(fit: Any, confidence: float = reliability.CONFIDENCE) -> tuple[Any, Any]:
    for _ in range(_MAX_REFITS):
        try:
            return fit, reliability.intervals(fit, confidence)
        except reliability.BetterFit as better:
            fit = better.fit
    raise ConfigurationError(
        "the likelihood has no single maximum, which intervals of the parameters require; "
        "use longer drives"
    )
