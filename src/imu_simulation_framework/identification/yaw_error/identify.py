"""From observed yaw errors to a model of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Sequence

import numpy as np
import pandas as pd

from imu_simulation_framework.errors import ConfigurationError
from imu_simulation_framework.identification.yaw_error.choice import choose
from imu_simulation_framework.identification.yaw_error.fit import Fit
from imu_simulation_framework.identification.yaw_error.identifiability import (
    identifiable_constants,
    weak_parameters,
)
from imu_simulation_framework.identification.yaw_error.intervals import Estimate, intervals
from imu_simulation_framework.identification.yaw_error.observation import ObservedYawError
from imu_simulation_framework.identification.yaw_error.residuals import (
    ResidualCheck,
    check_residuals,
)


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
        terms, parameters, log_likelihood, aic, above_best: of all models that were compared.
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

    def explained(self, index: int = 0) -> pd.DataFrame:
        """Return what the constants explain of a drive's error.

        Returns
        -------
        pandas.DataFrame
            error, one column for each constant term, constants (with the start's offset) and
            innovation [rad]; index time [s].
        """
        drive = self.drives[index]
        table = pd.DataFrame({"error": drive.error}, index=pd.Index(drive.time, name="time"))
        values, _ = self.fit.constants
        total = np.zeros(len(drive.time))
        for value, term in zip(values, self.fit.likelihood.constants):
            table[term.name] = value * term.regressor(drive)
            total += table[term.name].to_numpy()
        table["constants"] = total + np.nanmean((drive.error - total)[:10])
        table["innovation"] = self.fit.filtered.innovations[index]
        return table


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
    estimates = intervals(choice.fit)
    sentences += weak_parameters(estimates, drives)
    filtered = choice.fit.filtered
    normalised = [
        innovation / std for innovation, std in zip(filtered.innovations, filtered.innovation_std)
    ]
    # The first observations of a drive only say where the constants are.
    burn = len(constants) + 1
    checks = check_residuals([values[burn:] for values in normalised])
    return YawErrorIdentification(
        tuple(drives), choice.fit, estimates, choice.tried, tuple(checks), tuple(sentences)
    )
