"""The yaw error against a true motion: of a whole table, and of samples as they arrive."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import numpy as np

from ..core.angles import difference, interpolate, unwrap
from ..core.errors import MotionError

if TYPE_CHECKING:
    import pandas as pd

    from ..motion.motion import Motion


def yaw_error(samples: pd.DataFrame, motion: Motion) -> pd.Series:
    """Compute the true yaw minus the IMU's: it is negative if the IMU has turned too far.

    The error does not begin at zero, unlike that of an experiment (:func:`.compare_yaw`).

    Parameters
    ----------
    samples : pandas.DataFrame
        ImuRecord on the motion's clock; samples before and after the motion are left out.
    motion : Motion
        True motion, interpolated at the samples' times.

    Returns
    -------
    pandas.Series
        Unwrapped error that begins within half a turn [rad], indexed by time [s].

    Raises
    ------
    MotionError
        If no sample lies within the motion's time.

    Examples
    --------
    >>> motion = isf.straight(600.0, speed=1.0)
    >>> error = isf.yaw_error(isf.simulate_imu(motion, "ideal"), motion)
    >>> float(error.abs().max())
    0.0
    """
    import pandas as pd

    yaw = samples["yaw"].dropna()
    yaw = yaw[(yaw.index >= motion.time[0]) & (yaw.index <= motion.time[-1])]
    if len(yaw) == 0:
        raise MotionError(
            f"no yaw was measured within the motion's time, {motion.time[0]:g} to "
            f"{motion.time[-1]:g} s"
        )
    time = yaw.index.to_numpy(dtype=float)
    error = unwrap(interpolate(time, motion.time, motion.yaw) - unwrap(yaw.to_numpy()))
    error -= 2.0 * np.pi * np.round(error[0] / (2.0 * np.pi))
    return pd.Series(error, index=pd.Index(time, name="time"), name="yaw_error")


MAX_WAITING = 100_000
"""Samples of either stream that wait for the other one, which take 10 MB. At 50 times real time and
100 Hz a thread that is blocked for a second is 5000 samples behind."""


class StreamedYawError:
    """The yaw error from two streams of yaws with different stamps.

    The truth is interpolated at the IMU's stamp, as :func:`.compare_yaw` does with whole tables; a
    sample of the IMU waits for the truth that follows it. Each stream is in order, but one may be
    far ahead of the other. The oldest samples are dropped when more than :data:`MAX_WAITING` wait.
    A stamp that is older than its stream's last one is a clock that was set back: all samples
    before it are dropped.
    """

    def __init__(self) -> None:
        self._truth: deque[tuple[int, float]] = deque(maxlen=MAX_WAITING)
        self._imu: deque[tuple[int, float]] = deque(maxlen=MAX_WAITING)

    def add_truth(self, stamp: int, yaw: float) -> list[tuple[int, float]]:
        """Add a sample of the truth.

        Parameters
        ----------
        stamp : int
            Stamp [ns].
        yaw : float
            True yaw [rad].

        Returns
        -------
        list of tuple
            Stamps [ns] of the IMU's samples and their errors [rad], not wrapped, that are known
            since this sample.
        """
        self._append(self._truth, stamp, yaw)
        return self._take_known()

    def add_imu(self, stamp: int, yaw: float) -> list[tuple[int, float]]:
        """Add a sample of the IMU.

        Parameters
        ----------
        stamp : int
            Stamp [ns].
        yaw : float
            Yaw of the IMU [rad].

        Returns
        -------
        list of tuple
            As of :meth:`add_truth`.
        """
        self._append(self._imu, stamp, yaw)
        return self._take_known()

    def _append(self, samples: deque[tuple[int, float]], stamp: int, yaw: float) -> None:
        if samples and stamp < samples[-1][0]:
            self._truth.clear()
            self._imu.clear()
        elif samples and stamp == samples[-1][0]:
            samples.pop()
        samples.append((stamp, yaw))

    def _take_known(self) -> list[tuple[int, float]]:
        known = []
        while self._imu and self._truth and self._imu[0][0] <= self._truth[-1][0]:
            stamp, yaw = self._imu.popleft()
            while len(self._truth) > 1 and self._truth[1][0] <= stamp:
                self._truth.popleft()
            if stamp < self._truth[0][0]:
                continue  # before there was any truth
            earlier, truth = self._truth[0]
            if earlier < stamp:
                later, following = self._truth[1]
                share = (stamp - earlier) / (later - earlier)
                truth += share * difference(following, truth)
            known.append((stamp, truth - yaw))
        return known
