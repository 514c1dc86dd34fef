"""What makes a difference of yaws look bad that is no error of a heading."""

from __future__ import annotations

import numpy as np
import pandas as pd

from imu_simulation_framework import angles
from imu_simulation_framework.evaluation.yaw_comparison import compare_yaw

FASTEST_TURN = np.radians(2000.0)
"""Of a yaw [rad/s]: what the gyroscopes of vehicles and hands measure at most."""
_LEAST_JUMP = np.radians(20.0)
_LEAST_RMS = np.radians(5.0)
_FAR_BETTER = 3.0


def jumps(yaw: pd.Series) -> pd.DataFrame:
    """Return steps of a yaw that no vehicle turns.

    Parameters
    ----------
    yaw : Series
        [rad] indexed by time [s].

    Returns
    -------
    DataFrame
        Indexed by the time before the step [s]: ``turn`` [rad], within (-pi, pi], and ``within``,
        how long it takes [s].
    """
    yaw = yaw.dropna()
    time = yaw.index.to_numpy(dtype=float)
    turn, within = angles.wrap(np.diff(yaw.to_numpy())), np.diff(time)
    size = np.abs(turn)
    at = np.flatnonzero((size > _LEAST_JUMP) & (size > FASTEST_TURN * within))
    return pd.DataFrame({"turn": turn[at], "within": within[at]}, index=time[at])


def rms_with_sign_turned(comparison, yaw, first, settings, first_known=None) -> float | None:
    """Return how far apart two yaws are if one of them counts the other way round, where it may.

    Parameters
    ----------
    comparison : YawComparison
        Of the two as they are.
    yaw, first : Series
        [rad] indexed by time [s] of one clock.
    settings : ComparisonSettings
    first_known : Series, optional
        As of :func:`.compare_yaw`.

    Returns
    -------
    float or None
        [rad]; None unless that is far less than it is now.
    """
    rms = comparison.statistics.rms
    if rms < _LEAST_RMS:
        return None
    turned = compare_yaw(-yaw, first, settings, first_known)
    if turned is None or _FAR_BETTER * turned.statistics.rms > rms:
        return None
    return float(turned.statistics.rms)
