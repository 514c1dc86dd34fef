"""Comparison of measured wheel velocities with commanded ones."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.error_statistics import ErrorStatistics, error_statistics

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class WheelComparison:
    """Commanded and measured velocities of the wheels [rad/s], indexed by time [s].

    Parameters
    ----------
    commanded : pandas.DataFrame
        ``WheelVelocities``; each command applies until the next one.
    actual : pandas.DataFrame, optional
        Measured ``WheelVelocities``; None if they were not recorded.
    error : pandas.DataFrame, optional
        Last command before an actual velocity, minus that velocity.
    statistics : dict of str to ErrorStatistics
        Statistics of the error by wheel; empty if ``error`` is None.
    """

    commanded: pd.DataFrame
    actual: pd.DataFrame | None = None
    error: pd.DataFrame | None = None
    statistics: dict[str, ErrorStatistics] = field(default_factory=dict)


def compare_wheels(commanded, actual) -> WheelComparison | None:
    """Compare measured wheel velocities and steering angles with commanded ones.

    Parameters
    ----------
    commanded, actual : pandas.DataFrame or None
        Commanded and measured ``WheelVelocities``.

    Returns
    -------
    WheelComparison or None
        The comparison; None without a command.
    """
    if commanded is None or len(commanded) == 0:
        return None
    if actual is None:
        return WheelComparison(commanded)
    # A measurement with the same stamp as a new command results from the previous command.
    preceding = np.searchsorted(commanded.index, actual.index, side="left") - 1
    is_commanded = preceding >= 0
    columns = [name for name in commanded.columns if name in actual.columns]
    error = commanded.iloc[preceding[is_commanded]][columns].set_axis(actual.index[is_commanded])
    error = error - actual.loc[is_commanded, columns]
    wheels = columns if len(error) else ()
    statistics: Any = {wheel: error_statistics(error.index, error[wheel]) for wheel in wheels}
    return WheelComparison(commanded, actual, error, statistics)
