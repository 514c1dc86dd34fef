"""The error of an IMU's heading against the truth: of whole tables, and as the samples come in."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import numpy as np

from imu_simulation_framework.core.angles import interpolate, unwrap
from imu_simulation_framework.core.errors import MotionError

if TYPE_CHECKING:
    import pandas as pd

    from imu_simulation_framework.motion.motion import Motion


def yaw_error(samples: pd.DataFrame, motion: Motion) -> pd.Series:
    """Return the true yaw less the IMU's: a negative one means that the IMU has turned too far.

    It does not begin at zero, as that of an experiment does (:func:`.compare_yaw`).

    Parameters
    ----------
    samples : pandas.DataFrame
        ImuRecord, on the motion's clock; what lies before or after the motion is left out.
    motion : Motion
        Interpolated at the samples' times.

    Returns
    -------
    pandas.Series
        Unwrapped, beginning within half a turn [rad]; indexed by time [s].

    Raises
    ------
    MotionError
        No sample lies within the motion's time.
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


WAITING = 1000
"""How many samples of either stream may wait for the other one: ten seconds at 100 Hz."""


class StreamedYawError:
    """Pairs two streams of yaws whose stamps need not agree.

    Two sensors of a simulator may each have a phase of their own, so the truth is interpolated at
    the IMU's stamp, as :func:`.heading.comparison.compare_yaw` does with
    whole tables; a sample of the IMU waits for the truth that follows it. Each stream is in order
    by itself, but one may be far ahead of the other. When more than ``WAITING`` samples wait the
    oldest is given up. A stamp that is older than its stream's last one is a clock that was
    set back: what came before is forgotten.
    """

    def __init__(self) -> None:
        self._truth: deque[tuple[int, float]] = deque(maxlen=WAITING)
        self._imu: deque[tuple[int, float]] = deque(maxlen=WAITING)

    def add_truth(self, stamp: int, yaw: float):
        """Add a sample of the truth: stamp [ns] and yaw [rad].

        Returns list of (int, float): stamps [ns] of the IMU's samples whose error [rad] is known
        now, in order; the error is not wrapped.
        """
        self._append(self._truth, stamp, yaw)
        return self._known()

    def add_imu(self, stamp: int, yaw: float):
        """Add a sample of the IMU; see :meth:`add_truth`."""
        self._append(self._imu, stamp, yaw)
        return self._known()

    def _append(self, samples, stamp, yaw) -> None:
        if samples and stamp < samples[-1][0]:
            self._truth.clear()
            self._imu.clear()
        elif samples and stamp == samples[-1][0]:
            samples.pop()
        samples.append((stamp, yaw))

    def _known(self):
        known = []
        while self._imu and self._truth and self._imu[0][0] <= self._truth[-1][0]:
            stamp, yaw = self._imu.popleft()
            while len(self._truth) > 1 and self._truth[1][0] <= stamp:
                self._truth.popleft()
            if stamp < self._truth[0][0]:
                continue  # before there was any truth
            around = [self._truth[0], self._truth[1 if len(self._truth) > 1 else 0]]
            elapsed = np.array([other - stamp for other, _ in around], dtype=float)
            truth = interpolate(0.0, elapsed, [true for _, true in around])
            known.append((stamp, float(truth) - yaw))
        return known
