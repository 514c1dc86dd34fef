"""How warm a sensor is, from when it was switched on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from imu_simulation_framework.checked_values import check_numbers, checked_table
from imu_simulation_framework.errors import ConfigurationError


@dataclass(frozen=True)
class TemperatureProfile:
    r"""The sensor's temperature over time.

    From ``start`` it approaches ``end`` as ``end + (start - end) exp(-t / time_constant)``; to this
    comes what its power warms it by, a lag of the first order:

    .. math:: \tau \dot T_P = R_{th} P(t) - T_P, \quad T_P(0) = 0

    as of a body of one thermal resistance and one heat capacity (lumped capacitance, e.g. Incropera
    et al., Fundamentals of Heat and Mass Transfer, chapter 5). Or it follows a table.

    Parameters
    ----------
    reference : float
        Where the temperature coefficients have no effect [degC].
    start, end : float
        [degC]
    time_constant : float
        [s]
    table : tuple of (float, float)
        Times, increasing [s], and temperatures [degC], interpolated, and held before and after; if
        not empty, it replaces all of the above.
    power : tuple of (float, float)
        Times, increasing [s], and the power that the sensor or its board turns into heat [W],
        interpolated, and held before and after.
    thermal_resistance : float
        From the board to the air [K/W].

    Raises
    ------
    ConfigurationError
        A value is not what it must be, or there are both a table and a power; the sentence begins
        with the field's name.
    """

    reference: float = 25.0
    start: float = 25.0
    end: float = 25.0
    time_constant: float = 600.0
    table: tuple[tuple[float, float], ...] = ()
    power: tuple[tuple[float, float], ...] = ()
    thermal_resistance: float = 0.0

    def __post_init__(self) -> None:
        bounds: dict[str, dict[str, float]] = {"reference": {}, "start": {}, "end": {}}
        bounds["time_constant"] = {"above": 0.0}
        bounds["thermal_resistance"] = {"minimum": 0.0}
        check_numbers(self, bounds)
        for name, what in (("table", "temperature"), ("power", "power")):
            object.__setattr__(self, name, checked_table(name, getattr(self, name), what))
        if self.table and self.power:
            raise ConfigurationError("power is given, but the temperature's table replaces it.")
        # Of the lag at the table's times, so that it is known at any other one.
        object.__setattr__(self, "_nodes", self._power_nodes())

    def at(self, time: float | np.ndarray) -> float | np.ndarray:
        """Return the temperature [degC] at a time or times since the start [s]."""
        if self.table:
            times, temperatures = zip(*self.table)
            return np.interp(time, times, temperatures)
        temperature = self.end + (self.start - self.end) * np.exp(-time / self.time_constant)
        return temperature + self._warmed(time) if self.power else temperature

    def _power_nodes(self):
        """Return times from 0 on, power, its slope after them, and the lagged power at them."""
        if not self.power:
            return None
        given, powers = (np.array(column) for column in zip(*self.power))
        times = np.unique(np.concatenate([[0.0], given[given > 0.0]]))
        power = np.interp(times, given, powers)
        slope = np.append(np.diff(power) / np.diff(times), 0.0)
        lagged = np.zeros(len(times))
        for node in range(len(times) - 1):
            lagged[node + 1] = _lag(
                times[node + 1] - times[node],
                power[node],
                slope[node],
                lagged[node],
                self.time_constant,
            )
        return times, power, slope, lagged

    def _warmed(self, time):
        times, power, slope, lagged = self._nodes  # type: ignore[attr-defined]
        node = np.maximum(np.searchsorted(times, time, side="right") - 1, 0)
        since = np.maximum(time - times[node], 0.0)
        lag = _lag(since, power[node], slope[node], lagged[node], self.time_constant)
        return self.thermal_resistance * lag


def _lag(since, power, slope, lagged, time_constant):
    """Of an input ``power + slope * since``: y of ``tau y' = input - y`` from y(0) = lagged."""
    settled = power - slope * time_constant
    return settled + slope * since + (lagged - settled) * np.exp(-since / time_constant)
