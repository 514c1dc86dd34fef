"""From observed yaw errors to a model of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Sequence

import numpy as np
import pandas as pd

from imu_simulation_framework.errors import ConfigurationError
from imu_simulation_framework.evaluation.yaw_error_model import YawErrorParameters
from imu_simulation_framework.identification.yaw_error.choice import choose
from imu_simulation_framework.identification.yaw_error.fit import Fit
from imu_simulation_framework.identification.yaw_error.identifiability import (
    identifiable_constants,
    weak_parameters,
)
from imu_simulation_framework.identification.yaw_error.intervals import (
    BetterFit,
    Estimate,
    intervals,
)
from imu_simulation_framework.identification.yaw_error.observation import ObservedYawError
from imu_simulation_framework.identification.yaw_error.parts import fitted_parts
from imu_simulation_framework.identification.yaw_error.residuals import (
    UNSEEN,
    ResidualCheck,
    check_residuals,
)

_MOST_REFITS = 10


@dataclass(frozen=True)
class YawErrorIdentification:
    """An identified model of the yaw error.

    Parameters
    ----------
    drives : tuple of ObservedYawError
    fit : Fit
        Of the chosen model.
    estimates : dict of Estimate
        By parameter, see ``UNITS`` of :mod:`.yaw_error.terms`.
    tried : pandas.DataFrame
        All models that were compared; see :class:`.Choice`.
    checks : tuple of ResidualCheck
    sentences : tuple of str
        On what the data cannot tell, and which drive would.
    """

    drives: tuple[ObservedYawError, ...]
    fit: Fit
    estimates: dict[str, Estimate]
    tried: pd.DataFrame
    checks: tuple[ResidualCheck, ...]
    sentences: tuple[str, ...]

    def parts(self, index: int = 0) -> pd.DataFrame:
        """Return the fitted parts of a drive's error; see :func:`.fitted_parts`."""
        return fitted_parts(self.fit, index)

    def normalised(self) -> list[np.ndarray]:
        """Return each drive's innovations in their standard deviations, (n,).

        Without its first ones, which only say where the constants are.
        """
        filtered = self.fit.filtered
        burn = len(self.fit.likelihood.constants) + 1
        return [
            np.where(np.arange(len(innovation)) < burn, np.nan, innovation / std)
            for innovation, std in zip(filtered.innovations, filtered.innovation_std)
        ]

    @property
    def parameters(self) -> YawErrorParameters:
        """The estimates, as what predicts the yaw error on another motion."""
        values = {name: estimate.value for name, estimate in self.estimates.items()}
        return YawErrorParameters(**values, drives=len(self.drives))


def identify_yaw_error(
    drives: Sequence[ObservedYawError], correlated_reference: bool = False
) -> YawErrorIdentification:
    """Identify the model of the yaw error that the drives demand.

    Parameters
    ----------
    drives : sequence of ObservedYawError
        At equal steps, of one IMU.
    correlated_reference : bool
        Whether the reference's noise may be correlated, as that of satellite positioning is.

    Raises
    ------
    ConfigurationError
        There is no drive, steps differ, or an error never changes.
    """
    if not drives:
        raise ConfigurationError("no drive was given from which to identify a yaw error")
    for drive in drives:
        if abs(drive.step - drives[0].step) > 1e-9 * drives[0].step:
            raise ConfigurationError(
                f"{drive.name} has steps of {drive.step:g} s, but {drives[0].name} has "
                f"{drives[0].step:g} s"
            )
        if np.nanmax(drive.error) == np.nanmin(drive.error):
            raise ConfigurationError(
                f"{drive.name}: the yaw error is {np.nanmax(drive.error):g} rad all the time, "
                "which is no sensor's"
            )
    constants, sentences = identifiable_constants(drives)
    choice = choose(drives, constants, correlated_reference)
    sentences += choice.sentences
    chosen, estimates = _with_intervals(choice.fit)
    sentences += [*weak_parameters(estimates, drives), UNSEEN]
    found = YawErrorIdentification(
        tuple(drives), chosen, estimates, choice.tried, (), tuple(sentences)
    )
    return replace(found, checks=tuple(check_residuals(found.normalised())))


def _with_intervals(chosen):
    for _ in range(_MOST_REFITS):
        try:
            return chosen, intervals(chosen)
        except BetterFit as better:
            chosen = better.fit
    raise ConfigurationError(
        "the likelihood has no single maximum near which the parameters' intervals could be found; "
        "longer drives have one"
    )
