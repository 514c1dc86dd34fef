"""What every motion is: quantities of one body at increasing times."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import fields, replace
from typing import TypeVar

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.spatial.transform import Rotation

from imu_simulation_framework.errors import MotionError
from imu_simulation_framework.motion.kinematics import quaternion_spline, slopes, unit

Sampled = TypeVar("Sampled", bound="SampledMotion")

_WIDTHS = {
    "position": 3,
    "orientation": 4,
    "velocity": 3,
    "angular_velocity": 3,
    "specific_force": 3,
}
_UNEVEN = 1e-6
"""Share of a period by which even time steps may differ: stamps are rounded to nanoseconds."""


class SampledMotion(ABC):
    """What :class:`.Motion` and :class:`.EarthMotion`, dataclasses both, have in common."""

    time: np.ndarray
    position: np.ndarray
    orientation: np.ndarray
    velocity: np.ndarray
    angular_velocity: np.ndarray
    specific_force: np.ndarray

    def __post_init__(self) -> None:
        time = np.asarray(self.time, dtype=float)
        if time.ndim != 1 or len(time) == 0:
            raise MotionError(f"a motion's time has the shape {time.shape}, expected (n,), n >= 1")
        object.__setattr__(self, "time", time)
        for name, width in _WIDTHS.items():
            values = np.asarray(getattr(self, name), dtype=float)
            if values.shape != (len(time), width):
                raise MotionError(
                    f"a motion's {name} has the shape {values.shape}, "
                    f"expected {(len(time), width)} as it has {len(time)} times"
                )
            object.__setattr__(self, name, values)
        for field in fields(self):  # type: ignore[arg-type]
            if not np.all(np.isfinite(getattr(self, field.name))):
                raise MotionError(f"a motion's {field.name} holds a value that is not finite")
        steps = np.diff(time)
        if np.any(steps <= 0.0):
            index = int(np.argmax(steps <= 0.0))
            raise MotionError(
                f"a motion's time must increase, but {time[index + 1]:g} s follows "
                f"{time[index]:g} s"
            )

    def __len__(self) -> int:
        return len(self.time)

    @property
    def duration(self) -> float:
        """Time from the first sample to the last [s]."""
        return float(self.time[-1] - self.time[0])

    @property
    def period(self) -> float:
        """Time from one sample to the next [s].

        Raises
        ------
        MotionError
            It is not the same everywhere, or there are less than two samples.
        """
        if len(self.time) < 2:
            raise MotionError("a motion of one sample has no period; two are needed")
        period = self.duration / (len(self.time) - 1)
        even = self.time[0] + period * np.arange(len(self.time))
        off = float(np.max(np.abs(self.time - even)))
        if off > _UNEVEN * period + 1e-9:
            raise MotionError(
                f"the motion's samples are up to {off:.3g} s away from even steps of "
                f"{period:g} s; resample it with resampled(rate)"
            )
        return period

    def resampled(self: Sampled, rate: float) -> Sampled:
        """Return the motion at other, even times, from the first to at most the last.

        Parameters
        ----------
        rate : float
            Samples per second [Hz].

        Raises
        ------
        MotionError
            The rate is not positive, or the motion has less than three samples.
        """
        time, within = self._even_times(rate)
        values = {
            name: CubicSpline(self.time, getattr(self, name))(within)
            for name in ("velocity", "angular_velocity", "specific_force")
        }
        return replace(  # type: ignore[type-var]
            self,
            time=time,
            position=self._positions_at(within),
            orientation=unit(quaternion_spline(self.time, self.orientation)(within)),
            **values,
        )

    @abstractmethod
    def _positions_at(self, times):
        """Return the positions (n, 3) at times within the motion (n,)."""

    def _mounting(self, lever_arm, rotation):
        """Return a lever arm and a mounting as they have to be."""
        count = len(self.time)
        mounting = Rotation.identity() if rotation is None else rotation
        if not isinstance(mounting, Rotation):
            mounting = Rotation.from_quat(mounting)
        arm = np.asarray(lever_arm, dtype=float)
        if arm.shape not in ((3,), (count, 3)):
            raise MotionError(f"a lever arm has the shape {arm.shape}, expected (3,) or (n, 3)")
        if not (mounting.single or len(mounting) == count):
            raise MotionError(f"there are {len(mounting)} mountings, expected 1 or {count}")
        return arm, mounting

    def _arm_derivatives(self, arm):
        """Return the first and second derivatives of a lever arm by time."""
        if arm.ndim == 1:
            return np.zeros(3), np.zeros(3)
        first = self._derivative(arm)
        # Of the fourth power of the step; a spline's own second derivative is of the second.
        return first, self._derivative(first)

    def _even_times(self, rate):
        """Return times at a rate, and the same within the motion."""
        if not (np.isfinite(rate) and rate > 0.0):
            raise MotionError(f"a motion's rate is {rate} Hz, but it must be positive")
        self._require_samples()
        time = self.time[0] + np.arange(int(self.duration * rate + 1e-6) + 1) / rate
        # The last one may be beyond the end by a rounding.
        return time, np.minimum(time, self.time[-1])

    def _derivative(self, values):
        """Return the derivative by time of a cubic spline through (n, 3), at the samples."""
        self._require_samples()
        return slopes(CubicSpline(self.time, values))

    def _require_samples(self):
        if len(self.time) < 3:
            raise MotionError(
                f"a motion of {len(self.time)} samples has no derivatives; three are needed"
            )
