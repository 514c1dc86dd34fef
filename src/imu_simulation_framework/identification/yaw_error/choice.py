"""Which terms the data demand: nested models by likelihood ratio, and a table of all tried."""

from __future__ import annotations

from typing import NamedTuple, Sequence

import numpy as np
import pandas as pd
from scipy.stats import chi2

from imu_simulation_framework.identification.yaw_error.fit import Fit, Likelihood, fit
from imu_simulation_framework.identification.yaw_error.observation import ObservedYawError
from imu_simulation_framework.identification.yaw_error.terms import (
    ANGLE_RANDOM_WALK,
    RANDOM_TERMS,
    RATE_BIAS,
    REFERENCE_DRIFT,
    REFERENCE_NOISE,
    SPREAD,
    ConstantTerm,
    RandomTerm,
)

LEVEL = 0.01
"""A term is taken if a model without it would look as bad by chance in fewer drives than that."""


class Choice(NamedTuple):
    """``fit`` of the chosen model; ``tried``, a table of all; ``sentences`` on what is left out."""

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
    downwards; then the constants, which are tested by their estimate over its standard error.

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
    random = search.downwards(random)
    spread = len(drives) > 1 and search.spread(random)
    chosen = search.fitted(random, spread)
    kept, sentences = _kept_constants(chosen, constants)
    if len(kept) < len(constants):
        chosen = fit(Likelihood(drives, random, kept, spread), chosen.values)
    return Choice(chosen, search.table(), sentences)


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
        self._fits: dict = {}

    def fitted(self, random: Sequence[RandomTerm], spread: bool = False) -> Fit:
        ordered = tuple(term for term in RANDOM_TERMS if term in random)
        key = (ordered, spread)
        if key not in self._fits:
            likelihood = Likelihood(self._drives, ordered, self._constants, spread)
            self._fits[key] = fit(likelihood, self._start(ordered))
        return self._fits[key]

    def _start(self, ordered):
        """Return values of the best model that is a part of this one."""
        parts = [found for (terms, _), found in self._fits.items() if set(terms) <= set(ordered)]
        return max(parts, key=lambda found: found.log_likelihood).values if parts else None

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

    def spread(self, random) -> bool:
        gain = self.fitted(random, True).log_likelihood - self.fitted(random).log_likelihood
        return p_value(gain, 1) < LEVEL

    def table(self):
        rows = [
            {
                "terms": " + ".join(
                    [term.name for term in terms] + ([SPREAD.replace("_", " ")] if spread else [])
                ),
                "parameters": found.parameters,
                "log_likelihood": found.log_likelihood,
                "aic": found.aic,
            }
            for (terms, spread), found in self._fits.items()
        ]
        table = pd.DataFrame(rows).sort_values("aic", ignore_index=True)
        table["above_best"] = table["aic"] - table["aic"].min()
        return table


def _kept_constants(chosen, constants):
    """The constants that differ from zero, the rate's bias always; and what is said of the rest."""
    estimates, covariance = chosen.constants
    kept, sentences = [], []
    for index, term in enumerate(constants):
        ratio = abs(estimates[index]) / np.sqrt(covariance[index, index])
        p = float(chi2.sf(ratio**2, 1))
        if term is RATE_BIAS or p < LEVEL:
            kept.append(term)
        else:
            sentences.append(
                f"{term.name}: {estimates[index]:.3g} +- {np.sqrt(covariance[index, index]):.2g}, "
                f"which chance alone exceeds in {100.0 * p:.0f} % of drives; it is left out"
            )
    return kept, sentences
