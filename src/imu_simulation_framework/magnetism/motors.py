"""The field of the robot's own motors, which turns with the robot."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from imu_simulation_framework.checked_values import Axes, checked_numbers

_ZERO = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class MotorField:
    """What the currents of the wheels' motors make where the magnetometer is.

    A direct-current motor's torque is proportional to its current, and the field of a current to
    it (Biot and Savart): what is measured once, a wheel held and the motor on, is true for every
    torque. The magnets within the motors do not change: they are hard iron of the magnetometer.

    Parameters
    ----------
    left, right : 3 float
        Field per torque of a wheel, in the magnetometer's axes [T/(N m)].

    Raises
    ------
    ConfigurationError
        A value is not what it must be; the sentence begins with the field's name.
    """

    left: Axes = _ZERO
    right: Axes = _ZERO

    def __post_init__(self) -> None:
        for field in ("left", "right"):
            object.__setattr__(self, field, checked_numbers(field, getattr(self, field), 3))

    def field(self, torque: np.ndarray) -> np.ndarray:
        """Return the field (n, 3) [T] at wheels' torques (n, 2), left and right [N m]."""
        return torque[:, :1] * np.array(self.left) + torque[:, 1:] * np.array(self.right)

    def __bool__(self) -> bool:
        return self.left != _ZERO or self.right != _ZERO
