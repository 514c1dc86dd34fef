"""A yaw error that was observed on a drive, with the turns that it may have come from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from imu_simulation_framework.errors import ConfigurationError
from imu_simulation_framework.motion.turning import absolute_turn

FEWEST_OBSERVATIONS = 30
"""Fewer say nothing about several processes."""


@dataclass(frozen=True)
class ObservedYawError:
    """One drive, at even steps; n samples.

    Parameters
    ----------
    name : str
    time : ndarray, shape (n,)
        From zero [s].
    error : ndarray, shape (n,)
        Yaw of the reference less that of the IMU; NaN where nothing was observed [rad].
    net_turn, absolute_turn : ndarray, shape (n,)
        Since the start: by how much the robot has turned, left positive, and how much it has
        turned to either side (:func:`.absolute_turn`) [rad].

    Raises
    ------
    ConfigurationError
        Too little was observed.
    """

    name: str
    time: np.ndarray
    error: np.ndarray
    net_turn: np.ndarray
    absolute_turn: np.ndarray

    def __post_init__(self) -> None:
        observed = int(np.sum(np.isfinite(self.error)))
        if observed < FEWEST_OBSERVATIONS:
            raise ConfigurationError(
                f"{self.name}: {observed} yaw errors were observed, one each step, but at least "
                f"{FEWEST_OBSERVATIONS} are needed"
            )

    @property
    def step(self) -> float:
        """Time from one sample to the next [s]."""
        return float(self.time[1] - self.time[0])


def observed_yaw_error(
    name: str,
    error: pd.Series,
    reference_yaw: pd.Series,
    step: float = 1.0,
    longest_gap: float | None = None,
) -> ObservedYawError:
    """Return what was observed, at even steps.

    Parameters
    ----------
    name : str
        Of the drive.
    error : pandas.Series
        Yaw of the reference less that of the IMU, unwrapped [rad]; index time [s].
    reference_yaw : pandas.Series
        Unwrapped [rad]; index time [s], on the same clock.
    step : float
        [s]
    longest_gap : float, optional
        Between two errors, over which they are interpolated [s]; by default twice the step.

    Raises
    ------
    ConfigurationError
        Too little was observed, or less often than the step.
    """
    error, reference_yaw = error.dropna(), reference_yaw.dropna()
    if len(error) < 2 or len(reference_yaw) < 2:
        raise ConfigurationError(
            f"{name}: {min(len(error), len(reference_yaw))} yaw errors were observed, but at least "
            f"{FEWEST_OBSERVATIONS} are needed, one each step"
        )
    for what, series in (("yaw error", error), ("reference", reference_yaw)):
        usual = float(np.median(np.diff(series.index.to_numpy(dtype=float))))
        if usual > step * (1.0 + 1e-3):
            raise ConfigurationError(
                f"{name}: its {what} is known every {usual:.3g} s only, but the step is "
                f"{step:g} s; what is interpolated would pass for observed"
            )
    begin = max(error.index[0], reference_yaw.index[0])
    end = min(error.index[-1], reference_yaw.index[-1])
    count = max(int((end - begin) / step * (1.0 + 1e-9)) + 1, 0)
    at = begin + step * np.arange(count)
    times = error.index.to_numpy(dtype=float)
    values = np.interp(at, times, error.to_numpy(dtype=float))
    after = np.clip(np.searchsorted(times, at), 1, len(times) - 1)
    gap = times[after] - times[after - 1]
    on_sample = (at == times[after]) | (at == times[after - 1])
    longest_gap = 2.0 * step if longest_gap is None else longest_gap
    values[(gap > longest_gap) & ~on_sample] = np.nan
    stamps = reference_yaw.index.to_numpy(dtype=float)
    yaw = reference_yaw.to_numpy(dtype=float)
    net = np.interp(at, stamps, yaw)
    absolute = np.interp(at, stamps, absolute_turn(yaw))
    if count == 0:
        net, absolute = np.zeros(0), np.zeros(0)
        return ObservedYawError(name, at, values, net, absolute)
    return ObservedYawError(name, at - begin, values, net - net[0], absolute - absolute[0])
