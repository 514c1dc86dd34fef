"""How fast the wheels turned, beside how fast they were told to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from imu_simulation_framework.columns import WHEELS
from imu_simulation_framework.evaluation.error_statistics import ErrorStatistics, error_statistics

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class WheelComparison:
    """Velocities of both wheels [rad/s], indexed by time [s].

    Attributes
    ----------
    commanded : DataFrame
        ``WheelVelocities``, each row from its time until the next one's.
    actual : DataFrame or None
        ``WheelVelocities`` as the wheels turned; None where nobody has recorded them.
    error : DataFrame or None
        At the actual ones' times: the command that held until then, minus the actual velocity.
    statistics : dict of str to ErrorStatistics
        Of the error, by wheel; empty without.
    """

    commanded: pd.DataFrame
    actual: pd.DataFrame | None
    error: pd.DataFrame | None
    statistics: dict[str, ErrorStatistics]


def compare_wheels(commanded, actual) -> WheelComparison | None:
    """Compare the wheels' velocities with what was commanded.

    Parameters
    ----------
    commanded, actual : DataFrame or None
        ``WheelVelocities``.

    Returns
    -------
    WheelComparison or None
        None if nothing was commanded.
    """
    if commanded is None or len(commanded) == 0:
        return None
    if actual is None:
        return WheelComparison(commanded, None, None, {})
    # A velocity at the very moment of a new command is what the one before has led to.
    held = np.searchsorted(commanded.index, actual.index, side="left") - 1
    known = held >= 0
    error = commanded.iloc[held[known]][list(WHEELS)].set_axis(actual.index[known])
    error = error - actual.loc[known, list(WHEELS)]
    statistics = {
        wheel: error_statistics(error.index, error[wheel]) for wheel in WHEELS if len(error)
    }
    return WheelComparison(commanded, actual, error, statistics)
