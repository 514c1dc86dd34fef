"""The three joints of a gimbal: their order, and their angles over time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.interpolate import CubicSpline

from imu_simulation_framework.errors import MotionError

JOINTS = ("pan", "tilt", "roll")
"""From the platform to the IMU; about z (up), y (left) and x (forward) of the link that each turns,
right-handed: a positive pan turns to the left, a positive tilt turns the nose down."""


@dataclass(frozen=True)
class JointMotion:
    """Angles of the joints over time; columns are pan, tilt, roll.

    Parameters
    ----------
    time : ndarray, shape (n,)
        Strictly increasing [s].
    angle, rate, acceleration : ndarray, shape (n, 3)
        [rad, rad/s, rad/s^2]

    Raises
    ------
    MotionError
        Shapes do not fit, a number is not finite, or time does not increase.
    """

    time: np.ndarray
    angle: np.ndarray
    rate: np.ndarray
    acceleration: np.ndarray

    def __post_init__(self) -> None:
        time = np.asarray(self.time, dtype=float)
        if time.ndim != 1 or len(time) == 0 or not np.all(np.isfinite(time)):
            raise MotionError("the joints' times are no list of finite numbers")
        if np.any(np.diff(time) <= 0.0):
            raise MotionError("the joints' times must increase")
        object.__setattr__(self, "time", time)
        for name in ("angle", "rate", "acceleration"):
            values = np.asarray(getattr(self, name), dtype=float)
            if values.shape != (len(time), 3):
                raise MotionError(
                    f"the joints' {name} has the shape {values.shape}, expected {(len(time), 3)}"
                )
            if not np.all(np.isfinite(values)):
                raise MotionError(f"the joints' {name} holds a value that is not finite")
            object.__setattr__(self, name, values)

    @classmethod
    def from_angles(
        cls, time: ArrayLike, angle: ArrayLike, at: ArrayLike | None = None
    ) -> JointMotion:
        """Return the joints' motion through given angles; between them they follow cubic splines.

        Parameters
        ----------
        time : array_like, shape (n,)
            At least two, strictly increasing [s].
        angle : array_like, shape (n, 3)
            [rad]
        at : array_like, shape (m,), optional
            Times of the result, from the first to the last [s]; by default those of the angles.

        Raises
        ------
        MotionError
            As for the class, or there are too few.
        """
        time, angle = np.asarray(time, dtype=float), np.asarray(angle, dtype=float)
        given = cls(time, angle, np.zeros_like(angle), np.zeros_like(angle))
        if len(time) < 2:
            raise MotionError("there is one set of joint angles; two are needed")
        path = CubicSpline(given.time, given.angle)
        times = given.time if at is None else np.asarray(at, dtype=float)
        return cls(times, path(times), path(times, 1), path(times, 2))

    def __len__(self) -> int:
        return len(self.time)

    def table(self) -> pd.DataFrame:
        """Return the angles as a table with columns pan, tilt, roll [rad], indexed by time [s]."""
        return pd.DataFrame(
            self.angle, columns=list(JOINTS), index=pd.Index(self.time, name="time")
        )
