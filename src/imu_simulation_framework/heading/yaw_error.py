"""The error of an IMU's heading against the motion it was on."""

from __future__ import annotations

import numpy as np
import pandas as pd

from imu_simulation_framework.core.angles import interpolate, unwrap
from imu_simulation_framework.core.errors import MotionError
from imu_simulation_framework.motion.motion import Motion


def yaw_error(samples: pd.DataFrame, motion: Motion) -> pd.Series:
    """Return the true yaw less the IMU's: a negative one means that the IMU has turned too far.

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
