r"""What a sensor is exposed to: band limit, supply voltage, temperature, vibration.

Of a vibration, with the one-sided density S(f) of the specific force at the reference speed, and
the anti-aliasing filter's H, samples at the rate :math:`f_s` have the density

.. math:: S_s(f) = \sum_{k=-\infty}^{\infty} |H|^2 S(|f + k f_s|), \quad 0 \le f \le f_s / 2

(sampling folds it, e.g. Oppenheim and Schafer, Discrete-Time Signal Processing, section 4.2). All
of it has the mean square :math:`\int S df` before any filter, and this is what is rectified.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Tuple

import numpy as np
from numpy.typing import ArrayLike

from ..core.errors import ConfigurationError
from ..core.settings import Axes, Settings, check_axes, check_number, check_table, declared
from .noise.streams import NormalStreams

Pairs = Tuple[Tuple[float, float], ...]


class BandLimit:
    """A Butterworth filter of second order, which is what most IMUs' low-pass resembles.

    ``bandwidth``: where half of the power passes [Hz], below half of the rate. ``rate`` [Hz].
    """

    def __init__(self, bandwidth: float, rate: float) -> None:
        # Imported here, since every node knows the models, and it takes 40 MB.
        from scipy.signal import butter

        self._numerator, self._denominator = butter(2, bandwidth, fs=rate)
        self._state: np.ndarray | None = None
        self._anew = np.array([], dtype=int)

    def replace_members(self, members: np.ndarray) -> None:
        """Let some members, by number, begin anew at the next sample of all."""
        self._anew = np.union1d(self._anew, members)

    def advance(self, samples: np.ndarray) -> np.ndarray:
        """Return what passes of the next samples, (n, 3), or (n, m, 3) of m members."""
        from scipy.signal import lfilter, lfilter_zi

        if not len(samples):
            return samples
        if self._state is None or len(self._anew):
            settled = np.multiply.outer(lfilter_zi(self._numerator, self._denominator), samples[0])
            if self._state is None:
                self._state = settled
            self._state[:, self._anew] = settled[:, self._anew]
            self._anew = self._anew[:0]
        passed, self._state = lfilter(
            self._numerator, self._denominator, samples, axis=0, zi=self._state
        )
        return passed

    def noise_gains(self) -> tuple[float, float]:
        """Return what is left of the variance of white noise, and of differences of white noise."""
        from scipy.signal import lfilter

        response = lfilter(self._numerator, self._denominator, np.eye(1, 4096)[0])
        difference = 0.5 * np.sum(np.square(np.diff(response, prepend=0.0)))
        return float(np.sum(np.square(response))), float(difference)


@dataclass(frozen=True)
class SupplyVoltage(Settings):
    """The supply voltage over time.

    Sensors without a regulator of their own change bias and scale factor with it; data sheets give
    both per volt (e.g. Analog Devices ADXL103/203, "0 g voltage vs. Vs" and "sensitivity").

    ``reference``: where the voltage's coefficients have no effect [V]. ``table``: times, increasing
    [s], and voltages [V], interpolated, and held before and after; without any the voltage is
    ``reference``.
    """

    reference: float = declared(3.3, unit="V")
    table: Pairs = declared((), check_table, what="voltage", unit="s, V")

    def at(self, time: float | np.ndarray) -> float | np.ndarray:
        """Return the voltage [V] at a time or times since the start [s]."""
        if not self.table:
            return self.reference + 0.0 * time
        times, voltages = zip(*self.table)
        return np.interp(time, times, voltages)


@dataclass(frozen=True)
class TemperatureProfile(Settings):
    r"""The sensor's temperature over time.

    From ``start`` it approaches ``end`` as ``end + (start - end) exp(-t / time_constant)``; to this
    comes what its power warms it by, a lag of the first order:

    .. math:: \tau \dot T_P = R_{th} P(t) - T_P, \quad T_P(0) = 0

    as of a body of one thermal resistance and one heat capacity (lumped capacitance, e.g. Incropera
    et al., Fundamentals of Heat and Mass Transfer, chapter 5). Or it follows a table.

    ``reference``: where the temperature coefficients have no effect [degC]. ``start``, ``end``
    [degC]. ``time_constant`` [s]. ``table``: times, increasing [s], and temperatures [degC],
    interpolated, and held before and after; if not empty, it replaces all of the above. ``power``:
    likewise what the sensor or its board turns into heat [W]. ``thermal_resistance``: from the
    board to the air [K/W].
    """

    reference: float = declared(25.0, unit="degC")
    start: float = declared(25.0, unit="degC")
    end: float = declared(25.0, unit="degC")
    time_constant: float = declared(600.0, above=0.0, unit="s")
    table: Pairs = declared((), check_table, what="temperature", unit="s, degC")
    power: Pairs = declared((), check_table, what="power", unit="s, W")
    thermal_resistance: float = declared(0.0, minimum=0.0, unit="K/W")

    def __post_init__(self) -> None:
        super().__post_init__()
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

    def _power_nodes(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray] | None:
        """Return times from 0 on, power, its slope after them, and the lagged power at them."""
        if not self.power:
            return None
        given, powers = (np.array(column) for column in zip(*self.power))
        times = np.unique(np.concatenate([[0.0], given[given > 0.0]]))
        power = np.interp(times, given, powers)
        slope = np.append(np.diff(power) / np.diff(times), 0.0)
        lagged = np.zeros(len(times))
        for node, since in enumerate(np.diff(times)):
            state = power[node], slope[node], lagged[node]
            lagged[node + 1] = _lag(since, *state, self.time_constant)
        return times, power, slope, lagged

    def _warmed(self, time: float | np.ndarray) -> np.ndarray:
        times, power, slope, lagged = self._nodes  # type: ignore[attr-defined]
        node = np.maximum(np.searchsorted(times, time, side="right") - 1, 0)
        since = np.maximum(time - times[node], 0.0)
        lag = _lag(since, power[node], slope[node], lagged[node], self.time_constant)
        return self.thermal_resistance * lag


def _lag(
    since: np.ndarray, power: Any, slope: Any, lagged: Any, time_constant: float
) -> np.ndarray:
    """Of an input ``power + slope * since``: y of ``tau y' = input - y`` from y(0) = lagged."""
    settled = power - slope * time_constant
    return settled + slope * since + (lagged - settled) * np.exp(-since / time_constant)


TAPS = 512  # of the filter that shapes the noise; the spectrum's lines are half as many


def _checked_spectrum(name: str, value: Any) -> tuple[tuple[float, float], ...]:
    spectrum = check_table(name, value, "density", "frequency")
    for frequency, density in spectrum:
        check_number(name, frequency, minimum=0.0, maximum=1e5)  # no floor vibrates faster
        check_number(name, density, minimum=0.0)
    if len(spectrum) == 1:
        raise ConfigurationError(f"{name} has one frequency, but it must have at least two.")
    return spectrum


@dataclass(frozen=True)
class Vibration(Settings):
    """What shakes the sensor while the robot moves.

    ``spectrum``: frequencies, increasing [Hz], and one-sided power densities of the specific force
    [(m/s^2)^2/Hz] at the reference speed, linear between them and zero outside. None: off.
    ``axes``: how much of its amplitude the axes x, y, z have [1]. ``reference_speed``: [m/s].
    ``exponent``: of the amplitude over the speed [1]: 1 for a base that is rough like a road (ISO
    8608: the density of the displacement falls with the square of the wave number). ``idle``:
    amplitude at rest, as of a fan or an idling motor, over that at the reference speed [1].
    """

    spectrum: Pairs = declared((), _checked_spectrum, unit="Hz, (m/s^2)^2/Hz")
    axes: Axes = declared((1.0, 1.0, 1.0), check_axes, minimum=0.0)
    reference_speed: float = declared(1.0, above=0.0, unit="m/s")
    exponent: float = declared(1.0, minimum=0.0, maximum=10.0)
    idle: float = declared(0.0, minimum=0.0)

    @property
    def active(self) -> bool:
        """Whether anything vibrates."""
        return any(density for _, density in self.spectrum) and any(self.axes)

    @property
    def mean_square(self) -> np.ndarray:
        """Of the specific force at the reference speed, before any filter, (3,) [(m/s^2)^2]."""
        if not self.spectrum:
            return np.zeros(3)
        frequencies, densities = (np.array(column) for column in zip(*self.spectrum))
        area = np.sum(0.5 * (densities[1:] + densities[:-1]) * np.diff(frequencies))
        return area * np.square(self.axes)

    def amplitude(self, speed: ArrayLike) -> np.ndarray:
        """Return the amplitude at a speed or speeds [m/s], over that at the reference speed."""
        moving = (np.abs(speed) / self.reference_speed) ** self.exponent
        if self.exponent == 0.0:
            moving = np.where(np.abs(speed) > 0.0, moving, 0.0)
        return np.sqrt(self.idle**2 + np.square(moving))

    def sampled_density(self, rate: float, bandwidth: float | None) -> np.ndarray:
        """Return the one-sided density of samples [(m/s^2)^2/Hz], means about lines to rate / 2.

        ``rate`` [Hz]. ``bandwidth``: of a :class:`BandLimit` before the sampling [Hz]. Returns
        (TAPS // 2 + 1,).
        """
        frequencies, densities = (np.array(column) for column in zip(*self.spectrum))
        lines = TAPS // 2 + 1
        width = rate / TAPS
        step = width / 8.0
        fine = (np.arange(int(np.ceil(frequencies[-1] / step)) + 1) + 0.5) * step
        density = np.interp(fine, frequencies, densities, left=0.0, right=0.0)
        if bandwidth is not None:
            density = density / (1.0 + (fine / bandwidth) ** 4)
        folded = np.abs(fine - rate * np.round(fine / rate))
        line = np.minimum(np.rint(folded / width).astype(int), lines - 1)
        power = np.bincount(line, weights=density * step, minlength=lines)
        widths = np.full(lines, width)
        widths[[0, -1]] = 0.5 * width
        return power / widths


class VibrationNoise:
    """Vibration as a sensor samples it, at the reference speed.

    ``rate``: samples per second [Hz]. ``bandwidth``: of the anti-aliasing filter [Hz]. ``seed``
    (numpy.random.SeedSequence): of this realisation.
    """

    def __init__(
        self, vibration: Vibration, rate: float, bandwidth: float | None, seed: Any
    ) -> None:
        self._axes = np.array(vibration.axes)
        gain = np.sqrt(vibration.sampled_density(rate, bandwidth) * rate / 2.0)
        # Of the phase of a filter that is symmetric about its middle.
        self._taps = np.fft.fftshift(np.fft.irfft(gain, TAPS))
        # In the middle of its vibration.
        self._streams = NormalStreams(seed, self._axes > 0.0)
        self._state = np.zeros((TAPS - 1, 3))
        self.advance(TAPS)

    def advance(self, samples: int) -> np.ndarray:
        """Return the next samples, (samples, 3) [m/s^2]."""
        # Imported here, since every node knows the models, and it takes 40 MB.
        from scipy.signal import lfilter

        # With a denominator of two, as otherwise sums would depend on how many are asked for.
        numbers = self._streams.take(samples)
        shaped, self._state = lfilter(self._taps, [1.0, 0.0], numbers, axis=0, zi=self._state)
        return shaped * self._axes
