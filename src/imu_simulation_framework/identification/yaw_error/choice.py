"""Which terms the data demand: nested models by likelihood ratio, and a table of all tried."""

from __future__ import annotations

from typing import NamedTuple, Sequence

import numpy as np
import pandas as pd
from scipy.stats import chi2

from imu_simulation_framework.identification.yaw_error.fit import Fit, Likelihood, fit, refit
from imu_simulation_framework.identification.yaw_error.identifiability import likeness
from imu_simulation_framework.identification.yaw_error.observation import ObservedYawError
from imu_simulation_framework.identification.yaw_error.terms import (
    ANGLE_RANDOM_WALK,
    RANDOM_TERMS,
    RATE_BIAS,
    RATE_DRIFT,
    RATE_RANDOM_WALK,
    REFERENCE_DRIFT,
    REFERENCE_NOISE,
    SPREAD,
    YAW_DRIFT,
    ConstantTerm,
    RandomTerm,
)

_SAME = 1e-3
"""Likelihoods nearer to each other than that are alike."""
_LIMITS = {RATE_DRIFT: RATE_RANDOM_WALK, YAW_DRIFT: ANGLE_RANDOM_WALK}
"""Gauss-Markov drift -> what becomes of it where its correlation time has no end."""
LEVEL = 0.01
"""A term is taken if a model without it would look as bad by chance in fewer drives than that."""


class Choice(NamedTuple):
    """``fit`` of the chosen model; ``tried``, a table of all; ``sentences`` on what is left out.

    Columns of the table: terms, parameters, log_likelihood, aic, above_best (in aic),
    likelihood_ratio (twice the difference of the log-likelihoods, against the chosen model), p (how
    often chance makes it as large; of models that hold the chosen one or are a part of it), chosen.
    All have all constants, so that their restricted likelihoods compare.
    """

    fit: Fit
    tried: pd.DataFrame
    sentences: list[str]


def choose(
    drives: Sequence[ObservedYawError],
    constants: Sequence[ConstantTerm],
    correlated_reference: bool = False,
) -> Choice:
    """Return the smallest model that no larger one refutes.

    The random terms first, with all constants (Diggle, Heagerty, Liang and Zeger: Analysis of
    longitudinal data, section 4.5): from angle random walk and reference noise upwards, then
    downwards, and each walk a drift only where the data show a correlation time; then the
    constants, which are tested by their estimate over its standard error.

    Parameters
    ----------
    drives : sequence of ObservedYawError
    constants : sequence of ConstantTerm
        Those that the motion can identify.
    correlated_reference : bool
        Whether the reference's noise may be correlated, as that of satellite positioning is.
    """
    search = _Search(drives, constants)
    random = search.upwards(
        [ANGLE_RANDOM_WALK, REFERENCE_NOISE],
        [
            term
            for term in RANDOM_TERMS
            if term not in (ANGLE_RANDOM_WALK, REFERENCE_NOISE)
            and (correlated_reference or term is not REFERENCE_DRIFT)
        ],
    )
    random = search.downwards(search.walk_or_drift(search.downwards(random)))
    spread = search.several and search.spread(random)
    chosen = search.fitted(random, spread)
    kept, sentences = _kept_constants(chosen, constants, drives)
    if len(kept) < len(constants):
        chosen = fit(Likelihood(drives, random, kept, spread), chosen.values)
    return Choice(chosen, search.table(random, spread), sentences)


def p_value(gain: float, parameters: int) -> float:
    """Return how often chance alone gains that much log-likelihood.

    A strength cannot be negative, so half of the time it gains nothing: half of the chi-square
    distribution's tail (Self and Liang, Journal of the American Statistical Association 82, 1987).

    Parameters
    ----------
    gain : float
        Of log-likelihood.
    parameters : int
        How many more.
    """
    return 0.5 * float(chi2.sf(max(0.0, 2.0 * gain), parameters))


class _Search:
    """Fits models and keeps what it has tried."""

    def __init__(self, drives, constants):
        self._drives, self._constants = drives, constants
        # What differs from drive to drive would pass for a slow drift within them.
        self.several = len(drives) > 1
        self._fits: dict = {}

    def fitted(self, random: Sequence[RandomTerm], spread: bool | None = None) -> Fit:
        spread = self.several if spread is None else spread
        ordered = tuple(term for term in RANDOM_TERMS if term in random)
        key = (ordered, spread)
        if key not in self._fits:
            likelihood = Likelihood(self._drives, ordered, self._constants, spread)
            part = self._part_of(ordered, spread)
            found = fit(likelihood, part and part.values)
            if part is not None and found.log_likelihood < part.log_likelihood - _SAME:
                # It holds its part, so the search has gone astray: from next to that, then.
                found = _from_part(likelihood, part)
            found = self._not_below_larger(found, spread)
            self._fits[key] = found
            self._mend(ordered, spread, found)
        return self._fits[key]

    def _not_below_larger(self, found, spread):
        """Look again where a larger model, without what it has more, is likelier than this one."""
        likelihood = found.likelihood
        for (terms, spreads), other in self._fits.items():
            if set(terms) >= set(likelihood.random) and spreads >= spread:
                values = {name: other.values[name] for name in likelihood.names}
                if likelihood(values) > found.log_likelihood + _SAME:
                    found = refit(likelihood, values)
        return found

    def _mend(self, ordered, spread, found):
        """Look again for models that hold this one, and were found less likely."""
        for (terms, spreads), other in self._fits.items():
            holds = set(terms) >= set(ordered) and spreads >= spread
            if holds and other.log_likelihood < found.log_likelihood - _SAME:
                self._fits[terms, spreads] = _from_part(other.likelihood, found)

    def _part_of(self, ordered, spread):
        """Return the best model that is a part of this one."""
        parts = [
            found
            for (terms, spreads), found in self._fits.items()
            if set(terms) <= set(ordered) and spreads <= spread
        ]
        return max(parts, key=lambda found: found.log_likelihood) if parts else None

    def upwards(self, random, candidates):
        random = list(random)
        while True:
            now = self.fitted(random)
            better = []
            for term in candidates:
                if term in random:
                    continue
                found = self.fitted([*random, term])
                count = len(term.parameters)
                p = p_value(found.log_likelihood - now.log_likelihood, count)
                if p < LEVEL / len(candidates):
                    # Of two that are demanded, the one that explains more for its parameters.
                    better.append((found.aic, term))
            if not better:
                return random
            random.append(min(better, key=lambda pair: pair[0])[1])

    def downwards(self, random):
        random = list(random)
        while len(random) > 1:
            now = self.fitted(random)
            idle = []
            for term in random:
                rest = [other for other in random if other is not term]
                loss = now.log_likelihood - self.fitted(rest).log_likelihood
                p = p_value(loss, len(term.parameters))
                if p > LEVEL:
                    idle.append((p, term))
            if not idle:
                return random
            random.remove(max(idle, key=lambda pair: pair[0])[1])
        return random

    def walk_or_drift(self, random):
        """Decide whether walks are drifts, which they are the limit of for ever longer times."""
        random = list(random)
        for drift, walk in _LIMITS.items():
            if (drift in random) == (walk in random):
                continue
            rest = [term for term in random if term not in (drift, walk)]
            with_walk, with_drift = [*rest, walk], [*rest, drift]
            gain = self.fitted(with_drift).log_likelihood - self.fitted(with_walk).log_likelihood
            random = with_drift if p_value(gain, 1) <= LEVEL else with_walk
        return random

    def spread(self, random) -> bool:
        with_spread, without = self.fitted(random, True), self.fitted(random, False)
        gain = with_spread.log_likelihood - without.log_likelihood
        return p_value(gain, 1) < LEVEL

    def table(self, chosen, chosen_spread):
        best = self.fitted(chosen, chosen_spread)
        rows = []
        for (terms, spread), found in self._fits.items():
            gain = found.log_likelihood - best.log_likelihood
            more = found.parameters - best.parameters
            larger = set(terms) >= set(chosen) and spread >= chosen_spread
            smaller = set(terms) <= set(chosen) and spread <= chosen_spread
            nested = more != 0 and (larger or smaller)
            rows.append(
                {
                    "terms": " + ".join(
                        [term.name for term in terms]
                        + ([SPREAD.replace("_", " ")] if spread else [])
                    ),
                    "parameters": found.parameters,
                    "log_likelihood": found.log_likelihood,
                    "aic": found.aic,
                    "above_best": 0.0,
                    "likelihood_ratio": 2.0 * gain,
                    "p": p_value(abs(gain), abs(more)) if nested else np.nan,
                    "chosen": found is best,
                }
            )
        table = pd.DataFrame(rows).sort_values("aic", ignore_index=True)
        table["above_best"] = table["aic"] - table["aic"].min()
        return table


def _from_part(likelihood, part):
    """Return the fit of a model that holds another one, from next to that."""
    return refit(likelihood, {**likelihood.next_to_nothing(), **part.values})


def _kept_constants(chosen, constants, drives):
    """Return constants that differ from zero, the rate's bias always, and remarks on the rest."""
    estimates, covariance = chosen.constants
    kept, sentences = [], []
    for index, term in enumerate(constants):
        ratio = abs(estimates[index]) / np.sqrt(covariance[index, index])
        p = float(chi2.sf(ratio**2, 1))
        if term is RATE_BIAS or p < LEVEL:
            kept.append(term)
        else:
            std = float(np.sqrt(covariance[index, index]))
            sentence = (
                f"{term.name}: {100.0 * estimates[index]:.3g} +- {100.0 * std:.2g} %, which chance "
                f"alone exceeds in {100.0 * p:.0f} % of drives; it is left out"
            )
            reason = likeness(term, drives)
            sentences.append(f"{sentence}. {reason[0].upper()}{reason[1:]}" if reason else sentence)
    return kept, sentences
