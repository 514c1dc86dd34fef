"""The voltage that a sensor is supplied with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from imu_simulation_framework.checked_values import checked_number, checked_table


@dataclass(frozen=True)
class SupplyVoltage:
    """The supply voltage over time.

    Sensors without a regulator of their own change bias and scale factor with it; data sheets give
    both per volt (e.g. Analog Devices ADXL103/203, "0 g voltage vs. Vs" and "sensitivity").

    Parameters
    ----------
    reference : float
        Where the voltage's coefficients have no effect [V].
    table : tuple of (float, float)
        Times, increasing [s], and voltages [V], interpolated, and held before and after; without
        any the voltage is ``reference``.

    Raises
    ------
    ConfigurationError
        A value is not what it must be; the sentence begins with the field's name.
    """

    reference: float = 3.3
    table: tuple[tuple[float, float], ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "reference", checked_number("reference", self.reference))
        object.__setattr__(self, "table", checked_table("table", self.table, "voltage"))

    def at(self, time: float | np.ndarray) -> float | np.ndarray:
        """Return the voltage [V] at a time or times since the start [s]."""
        if not self.table:
            return self.reference + 0.0 * time
        times, voltages = zip(*self.table)
        return np.interp(time, times, voltages)
