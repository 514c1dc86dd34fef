"""What each part of a fitted model makes of an observed yaw error."""

from __future__ import annotations

import numpy as np
import pandas as pd

from imu_simulation_framework.identification.yaw_error.fit import Fit
from imu_simulation_framework.identification.yaw_error.terms import (
    ANGLE_RANDOM_WALK,
    REFERENCE_DRIFT,
)

MODEL = "sensor's part"
RESIDUAL = "residual"


def fitted_parts(fit: Fit, index: int = 0) -> pd.DataFrame:
    """Return the parts of a drive's yaw error, each as likely as all of the drive makes it.

    By the Kalman smoother (Durbin and Koopman: Time series analysis by state space methods,
    section 4.4); the drift of a rate is integrated.

    Parameters
    ----------
    fit : Fit
    index : int
        Of the drive.

    Returns
    -------
    pandas.DataFrame
        error; a column for each part, which add up to the error; "sensor's part", what of them is
        the IMU's, the start's offset included; innovation and innovation_std, each observation less
        what those before it predict, and what that should be [rad]; index time [s].
    """
    likelihood = fit.likelihood
    drive, space = likelihood.drives[index], likelihood.space(fit.values)
    mean, parts = likelihood.smoothed(fit.values, index)
    table = pd.DataFrame({"error": drive.error}, index=pd.Index(drive.time, name="time"))
    # The integrated rate, of which each drift has its share; the rest is angle random walk, or
    # without that what the drift did between the samples.
    walk, last = mean[0].copy(), None
    for state, source in enumerate(space.of_state, start=1):
        name = space.names[source]
        if space.design[state] == 0.0:
            integral = np.concatenate([[0.0], np.cumsum(space.transition[0, state] * mean[state])])
            parts[name], last = integral[:-1], name
            walk -= parts[name]
        else:
            parts[name] = mean[state].copy()
    if ANGLE_RANDOM_WALK.name in space.names:
        parts[ANGLE_RANDOM_WALK.name] = walk
    elif last is not None:
        parts[last] += walk
    total = np.sum(list(parts.values()), axis=0)
    for name, part in parts.items():
        table[name] = part
    reference = table.get(REFERENCE_DRIFT.name, 0.0)
    table[RESIDUAL] = drive.error - total
    table[MODEL] = total - reference
    table["innovation"] = fit.filtered.innovations[index]
    table["innovation_std"] = fit.filtered.innovation_std[index]
    return table
