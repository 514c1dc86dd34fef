"""Yaw error relative to the true motion, for a complete table or for streamed samples."""

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
    """Compute the true yaw minus the IMU yaw; it is negative if the IMU is too far to the left.

    Unlike the error of an experiment (:func:`.compare_yaw`), this error need not start at zero.

    Parameters
    ----------
    samples : pandas.DataFrame
        ImuRecord on the clock of the motion; samples outside the motion's time range are ignored.
    motion : Motion
        True motion, interpolated at the samples' times.

    Returns
    -------
    pandas.Series
        Unwrapped error that starts within half a turn of zero [rad], indexed by time [s].

    Raises
    ------
    MotionError
        If no sample with a yaw lies within the motion's time range.

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
            f"samples: no yaw was measured from {motion.time[0]:g} to {motion.time[-1]:g} s, "
            "expected samples within the time range of the motion"
        )
    time = yaw.index.to_numpy(dtype=float)
    error = unwrap(interpolate(time, motion.time, motion.yaw) - unwrap(yaw.to_numpy()))
    error -= 2.0 * np.pi * np.round(error[0] / (2.0 * np.pi))
    return pd.Series(error, index=pd.Index(time, name="time"), name="yaw_error")


MAX_WAITING = 100_000
"""Maximum number of buffered samples of either stream, which take 10 MB.

At 50 times real time and 100 Hz, a thread that is blocked for a second falls behind by 5000
samples."""


class StreamedYawError:
    """Yaw error from streams of true yaw and IMU yaw with different stamps.

    The true yaw is interpolated at the IMU's stamp, as :func:`.compare_yaw` does for complete
    tables; a sample of the IMU is buffered until the next sample of the true yaw arrives. Each
    stream is in order, but one may be far ahead of the other. If more than :data:`MAX_WAITING`
    samples are buffered, the oldest are dropped. A stamp before the previous stamp of its stream
    means that the clock was set back: then all earlier samples are dropped.
    """

    def __init__(self) -> None:
        self._truth: deque[tuple[int, float]] = deque(maxlen=MAX_WAITING)
        self._imu: deque[tuple[int, float]] = deque(maxlen=MAX_WAITING)

    def add_truth(self, stamp: int, yaw: float) -> list[tuple[int, float]]:
        """Add a sample of the true yaw, and return the yaw errors that it determines.

        Parameters
        ----------
        stamp : int
            Stamp [ns].
        yaw : float
            True yaw [rad].

        Returns
        -------
        list of tuple
            Stamps [ns] and errors [rad], not wrapped, of the IMU samples whose error this sample
            determines.
        """
        self._append(self._truth, stamp, yaw)
        return self._take_known()

    def add_imu(self, stamp: int, yaw: float) -> list[tuple[int, float]]:
        """Add a sample of the IMU's yaw, and return the yaw errors that it determines.

        Parameters
        ----------
        stamp : int
            Stamp [ns].
        yaw : float
            Yaw measured by the IMU [rad].

        Returns
        -------
        list of tuple
            Stamps and errors as in :meth:`add_truth`.
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
        samples = []
        while self._imu and self._truth and self._imu[0][0] <= self._truth[-1][0]:
            stamp, yaw = self._imu.popleft()
            while len(self._truth) > 1 and self._truth[1][0] <= stamp:
                self._truth.popleft()
            if stamp < self._truth[0][0]:
                continue  # before the first sample of the true yaw
            earlier, truth = self._truth[0]
            if earlier < stamp:
                later, following = self._truth[1]
                share = (stamp - earlier) / (later - earlier)
                truth += share * difference(following, truth)
            samples.append((stamp, truth - yaw))
        return samples
