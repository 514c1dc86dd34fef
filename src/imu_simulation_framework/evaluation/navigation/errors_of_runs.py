"""Errors of navigators against the truth: attitude, velocity and position, north, east and down."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from imu_simulation_framework.errors import MotionError
from imu_simulation_framework.evaluation.navigation.ins_gnss_filter import Navigation
from imu_simulation_framework.motion.earth.earth_motion import EarthMotion
from imu_simulation_framework.motion.earth.frames import ned_to_ecef

RMSE_COLUMNS = (
    "heading",
    *("position_n", "position_e", "position_d"),
    *("velocity_n", "velocity_e", "velocity_d"),
)
"""Of the heading [rad], of the position [m] and of the velocity [m/s] north, east and down."""


class NavigationErrors(NamedTuple):
    """Estimate less truth, of r runs at k fixes.

    ``time`` (k,) [s]; ``attitude`` (r, k, 3): the turn that leads from the true attitude to the
    estimated one, about north, east and down [rad]; about down is the error of the heading;
    ``velocity`` (r, k, 3) [m/s] and ``position`` (r, k, 3) [m] along north, east and down;
    ``states`` (r, k, 9 or 15): the errors as :mod:`.error_dynamics` has them, in ECEF, with those
    of the biases if these are known.
    """

    time: np.ndarray
    attitude: np.ndarray
    velocity: np.ndarray
    position: np.ndarray
    states: np.ndarray

    def rmse(self, begin: float = 0.0) -> pd.DataFrame:
        """Return root mean squares over time, of each run; columns :data:`RMSE_COLUMNS`.

        Parameters
        ----------
        begin : float
            Fixes before that time after the first one are left out [s].
        """
        used = self.time >= self.time[0] + begin
        errors = [self.attitude[:, used, 2:], self.position[:, used], self.velocity[:, used]]
        squares = np.mean(np.concatenate(errors, axis=2) ** 2, axis=1)
        return pd.DataFrame(
            np.sqrt(squares),
            columns=list(RMSE_COLUMNS),
            index=pd.RangeIndex(len(squares), name="run"),
        )


def navigation_errors(
    navigation: Navigation,
    motion: EarthMotion,
    accelerometer_bias: ArrayLike | None = None,
    gyroscope_bias: ArrayLike | None = None,
) -> NavigationErrors:
    """Return by how much navigators are wrong.

    Parameters
    ----------
    navigation : Navigation
        Of r runs at k fixes.
    motion : EarthMotion
        The IMU's true one, which has samples at the times of the fixes.
    accelerometer_bias, gyroscope_bias : array_like, shape (r, k, 3), (r, 1, 3) or (3,), optional
        The true ones [m/s^2; rad/s], where they are known and nothing else is wrong with the IMU.

    Raises
    ------
    MotionError
        The motion has no samples at the times of the fixes.
    """
    period = motion.period
    at = np.rint((navigation.time - motion.time[0]) / period).astype(int)
    within = at.size == 0 or (at[0] >= 0 and at[-1] < len(motion))
    if not (within and np.allclose(motion.time[at], navigation.time, rtol=0.0, atol=1e-3 * period)):
        raise MotionError("the true motion has no samples at the times of the fixes")
    runs, fixes = navigation.position.shape[:2]
    latitude, longitude, _ = motion.latitude_longitude_height[at].T
    to_local = ned_to_ecef(latitude, longitude).as_matrix().swapaxes(1, 2)
    true = Rotation.from_quat(motion.orientation[at]).as_matrix()
    difference = navigation.attitude @ true.swapaxes(1, 2)
    turn = Rotation.from_matrix(difference.reshape(-1, 3, 3)).as_rotvec().reshape(runs, fixes, 3)
    velocity = navigation.velocity - motion.velocity[at]
    position = navigation.position - motion.position[at]
    parts = [turn, velocity, position]
    if accelerometer_bias is not None and gyroscope_bias is not None:
        parts.append(accelerometer_bias - navigation.accelerometer_bias)
        parts.append(gyroscope_bias - navigation.gyroscope_bias)
    attitude, speed, place = ((to_local @ part[..., np.newaxis])[..., 0] for part in parts[:3])
    return NavigationErrors(navigation.time, attitude, speed, place, np.concatenate(parts, axis=2))
