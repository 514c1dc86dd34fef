r"""Operating conditions of a sensor: bandwidth, supply voltage, temperature and vibration.

Let S(f) be the one-sided density of a vibration's specific force at the reference speed, and H the
response of the anti-aliasing filter. Samples at the rate :math:`f_s` then have the density

.. math:: S_s(f) = \sum_{k=-\infty}^{\infty} |H|^2 S(|f + k f_s|), \quad 0 \le f \le f_s / 2

(aliasing, e.g. Oppenheim and Schafer, Discrete-Time Signal Processing, section 4.2). Before any
filter, the vibration has the mean square :math:`\int S df`, which a sensor rectifies.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Tuple

import numpy as np
from numpy.typing import ArrayLike

from ..core.checks import Axes, check_axes, check_number, check_table
from ..core.errors import ConfigurationError
from ..core.settings import Settings, setting
from .noise.streams import NormalStreams

Pairs = Tuple[Tuple[float, float], ...]


class BandLimit:
    """Second-order Butterworth filter, similar to the low-pass filter of most IMUs.

    Parameters
    ----------
    bandwidth : float
        Half-power frequency [Hz], below half of the rate.
    rate : float
        Sampling rate [Hz].
    """

    def __init__(self, bandwidth: float, rate: float) -> None:
        # Imported here, since scipy.signal takes 40 MB and every node imports this module.
        from scipy.signal import butter

        self._numerator, self._denominator = butter(2, bandwidth, fs=rate)
        self._state: np.ndarray | None = None
        self._restarted = np.array([], dtype=int)

    def replace_members(self, members: np.ndarray) -> None:
        """Restart some of the parallel filters at the next sample.

        Parameters
        ----------
        members : ndarray of int
            Indices of the members.
        """
        self._restarted = np.union1d(self._restarted, members)

    def advance(self, samples: np.ndarray) -> np.ndarray:
        """Apply the low-pass filter to the next samples.

        Parameters
        ----------
        samples : ndarray, shape (n, 3) or (n, m, 3)
            Samples, optionally of m members.

        Returns
        -------
        ndarray
            Filtered samples with the same shape.
        """
        from scipy.signal import lfilter, lfilter_zi

        if not len(samples):
            return samples
        if self._state is None or len(self._restarted):
            settled = np.multiply.outer(lfilter_zi(self._numerator, self._denominator), samples[0])
            if self._state is None:
                self._state = settled
            self._state[:, self._restarted] = settled[:, self._restarted]
            self._restarted = self._restarted[:0]
        passed, self._state = lfilter(
            self._numerator, self._denominator, samples, axis=0, zi=self._state
        )
        return passed

    def noise_gains(self) -> tuple[float, float]:
        """Return the factors by which the low-pass filter scales the variance of white noise.

        Returns
        -------
        white, difference : float
            Factor for the variance of white noise, and for the variance of differences between
            successive samples of white noise [1].
        """
        from scipy.signal import lfilter

        response = lfilter(self._numerator, self._denominator, np.eye(1, 4096)[0])
        difference = 0.5 * np.sum(np.square(np.diff(response, prepend=0.0)))
        return float(np.sum(np.square(response))), float(difference)


@dataclass(frozen=True)
class SupplyVoltage(Settings):
    """Supply voltage of a sensor over time.

    Bias and scale factor of sensors without a built-in regulator change with the supply voltage;
    data sheets state both per volt (e.g. Analog Devices ADXL103/203, "0 g voltage vs. Vs" and
    "sensitivity").

    Parameters
    ----------
    reference : float
        Voltage at which the coefficients have no effect [V].
    table : sequence of 2 float
        Increasing times [s] and voltages [V], interpolated linearly, and constant before and after;
        if empty, the voltage is ``reference``.
    """

    reference: float = setting(3.3, unit="V")
    table: Pairs = setting((), check_table, quantity="voltage", unit="s, V")

    def at(self, time: float | np.ndarray) -> float | np.ndarray:
        """Return the voltage at given times.

        Parameters
        ----------
        time : float or ndarray
            Time since power-on [s].

        Returns
        -------
        float or ndarray
            Voltage [V].
        """
        if not self.table:
            return self.reference + 0.0 * time
        times, voltages = zip(*self.table)
        return np.interp(time, times, voltages)


@dataclass(frozen=True)
class TemperatureProfile(Settings):
    r"""Temperature of a sensor over time.

    The temperature changes from ``start`` to ``end`` as ``end + (start - end) exp(-t /
    time_constant)``. Self-heating adds a temperature with a first-order lag,

    .. math:: \tau \dot T_P = R_{th} P(t) - T_P, \quad T_P(0) = 0

    like a body with a single thermal resistance and heat capacity (lumped capacitance, e.g.
    Incropera et al., Fundamentals of Heat and Mass Transfer, chapter 5). Alternatively, a table
    defines the temperature.

    Parameters
    ----------
    reference : float
        Temperature at which the temperature coefficients have no effect [degC].
    start, end : float
        Initial and final temperature [degC].
    time_constant : float
        Time constant tau [s].
    table : sequence of 2 float
        Increasing times [s] and temperatures [degC], interpolated linearly, and constant before and
        after; if not empty, it replaces all other fields except ``reference``.
    power : sequence of 2 float
        Increasing times [s] and power dissipation of the sensor or its board [W].
    thermal_resistance : float
        Thermal resistance R_th from the board to the air [K/W].
    """

    reference: float = setting(25.0, unit="degC")
    start: float = setting(25.0, unit="degC")
    end: float = setting(25.0, unit="degC")
    time_constant: float = setting(600.0, above=0.0, unit="s")
    table: Pairs = setting((), check_table, quantity="temperature", unit="s, degC")
    power: Pairs = setting((), check_table, quantity="power", unit="s, W")
    thermal_resistance: float = setting(0.0, minimum=0.0, unit="K/W")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.table and self.power:
            raise ConfigurationError("power is set together with table, expected only one of them")
        # Lagged temperature at the times in the table, from which that at other times is computed.
        object.__setattr__(self, "_nodes", self._power_nodes())

    def at(self, time: float | np.ndarray) -> float | np.ndarray:
        """Return the temperature at given times.

        Parameters
        ----------
        time : float or ndarray
            Time since power-on [s].

        Returns
        -------
        float or ndarray
            Temperature [degC].
        """
        if self.table:
            times, temperatures = zip(*self.table)
            return np.interp(time, times, temperatures)
        temperature = self.end + (self.start - self.end) * np.exp(-time / self.time_constant)
        return temperature + self._heating(time) if self.power else temperature

    def _power_nodes(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray] | None:
        """Return times from 0 s on, and power, its slope and the lagged power at these times."""
        if not self.power:
            return None
        table_times, powers = (np.array(column) for column in zip(*self.power))
        times = np.unique(np.concatenate([[0.0], table_times[table_times > 0.0]]))
        power = np.interp(times, table_times, powers)
        slope = np.append(np.diff(power) / np.diff(times), 0.0)
        lagged = np.zeros(len(times))
        for node, elapsed in enumerate(np.diff(times)):
            state = power[node], slope[node], lagged[node]
            lagged[node + 1] = _lag(elapsed, *state, self.time_constant)
        return times, power, slope, lagged

    def _heating(self, time: float | np.ndarray) -> np.ndarray:
        times, power, slope, lagged = self._nodes  # type: ignore[attr-defined]
        node = np.maximum(np.searchsorted(times, time, side="right") - 1, 0)
        elapsed = np.maximum(time - times[node], 0.0)
        lag = _lag(elapsed, power[node], slope[node], lagged[node], self.time_constant)
        return self.thermal_resistance * lag


def _lag(
    elapsed: np.ndarray, power: Any, slope: Any, lagged: Any, time_constant: float
) -> np.ndarray:
    """Return the solution y of ``tau y' = power + slope * since - y`` with y(0) = lagged."""
    settled = power - slope * time_constant
    return settled + slope * elapsed + (lagged - settled) * np.exp(-elapsed / time_constant)


TAPS = 512  # length of the noise-shaping filter; the spectrum has half as many lines


def _checked_spectrum(name: str, value: Any) -> tuple[tuple[float, float], ...]:
    spectrum = check_table(name, value, "density", "frequency")
    for frequency, density in spectrum:
        check_number(name, frequency, minimum=0.0, maximum=1e5)  # Hz, above any vibration
        check_number(name, density, minimum=0.0)
    if len(spectrum) == 1:
        raise ConfigurationError(f"{name} has 1 frequency, expected at least 2")
    return spectrum


@dataclass(frozen=True)
class Vibration(Settings):
    """Vibration of a sensor while the robot moves.

    Parameters
    ----------
    spectrum : sequence of 2 float
        Increasing frequencies [Hz], and one-sided power spectral densities of the specific force
        [(m/s^2)^2/Hz] at the reference speed, linear between the frequencies and zero outside;
        empty for no vibration.
    axes : 3 float
        Relative amplitude along x, y, z [1].
    reference_speed : float
        Speed to which the spectrum applies [m/s].
    exponent : float
        Exponent of the amplitude as a function of speed [1]: 1 for ground that is rough like a road
        (ISO 8608: the density of the displacement decreases with the square of the wave number).
    idle : float
        Amplitude at rest, for example due to a fan or an idling motor, relative to the amplitude at
        the reference speed [1].
    """

    spectrum: Pairs = setting((), _checked_spectrum, unit="Hz, (m/s^2)^2/Hz")
    axes: Axes = setting((1.0, 1.0, 1.0), check_axes, minimum=0.0)
    reference_speed: float = setting(1.0, above=0.0, unit="m/s")
    exponent: float = setting(1.0, minimum=0.0, maximum=10.0)
    idle: float = setting(0.0, minimum=0.0)

    @property
    def active(self) -> bool:
        """Whether the sensor vibrates."""
        return any(density for _, density in self.spectrum) and any(self.axes)

    @property
    def mean_square(self) -> np.ndarray:
        """Mean square of the unfiltered vibration at the reference speed, (3,) [(m/s^2)^2]."""
        if not self.spectrum:
            return np.zeros(3)
        frequencies, densities = (np.array(column) for column in zip(*self.spectrum))
        area = np.sum(0.5 * (densities[1:] + densities[:-1]) * np.diff(frequencies))
        return area * np.square(self.axes)

    def amplitude(self, speed: ArrayLike) -> np.ndarray:
        """Return the relative amplitude of the vibration at a speed.

        Parameters
        ----------
        speed : array_like
            Speed [m/s].

        Returns
        -------
        ndarray
            Amplitude relative to the reference speed [1].
        """
        moving = (np.abs(speed) / self.reference_speed) ** self.exponent
        if self.exponent == 0.0:
            moving = np.where(np.abs(speed) > 0.0, moving, 0.0)
        return np.sqrt(self.idle**2 + np.square(moving))

    def sampled_density(self, rate: float, bandwidth: float | None) -> np.ndarray:
        """Compute the one-sided density of a sampled vibration, at lines from 0 to half the rate.

        Parameters
        ----------
        rate : float
            Sampling rate [Hz].
        bandwidth : float or None
            Bandwidth of a :class:`BandLimit` before sampling [Hz].

        Returns
        -------
        ndarray, shape (TAPS // 2 + 1,)
            Density [(m/s^2)^2/Hz].
        """
        frequencies, densities = (np.array(column) for column in zip(*self.spectrum))
        lines = TAPS // 2 + 1
        width = rate / TAPS
        step = width / 8.0
        frequency_grid = (np.arange(int(np.ceil(frequencies[-1] / step)) + 1) + 0.5) * step
        density = np.interp(frequency_grid, frequencies, densities, left=0.0, right=0.0)
        if bandwidth is not None:
            density = density / (1.0 + (frequency_grid / bandwidth) ** 4)
        aliased_frequencies = np.abs(frequency_grid - rate * np.round(frequency_grid / rate))
        line = np.minimum(np.rint(aliased_frequencies / width).astype(int), lines - 1)
        power = np.bincount(line, weights=density * step, minlength=lines)
        widths = np.full(lines, width)
        widths[[0, -1]] = 0.5 * width
        return power / widths


class VibrationNoise:
    """Random samples of the specific force due to a vibration at the reference speed.

    Parameters
    ----------
    vibration : Vibration
        Spectrum of the vibration.
    rate : float
        Sampling rate [Hz].
    bandwidth : float or None
        Bandwidth of the anti-aliasing filter [Hz].
    seed : numpy.random.SeedSequence
        Seed of this realisation.
    """

    def __init__(
        self, vibration: Vibration, rate: float, bandwidth: float | None, seed: Any
    ) -> None:
        self._axes = np.array(vibration.axes)
        gain = np.sqrt(vibration.sampled_density(rate, bandwidth) * rate / 2.0)
        # The filter has linear phase, because it is symmetric about its centre.
        self._taps = np.fft.fftshift(np.fft.irfft(gain, TAPS))
        # The first TAPS samples are skipped, since the vibration is stationary from the start.
        self._streams = NormalStreams(seed, self._axes > 0.0)
        self._state = np.zeros((TAPS - 1, 3))
        self.advance(TAPS)

    def advance(self, samples: int) -> np.ndarray:
        """Return the next samples of the vibration.

        Parameters
        ----------
        samples : int
            Number of samples.

        Returns
        -------
        ndarray, shape (samples, 3)
            Specific force [m/s^2].
        """
        # Imported here, since scipy.signal takes 40 MB and every node imports this module.
        from scipy.signal import lfilter

        # With two denominator coefficients, rounding does not depend on the number of samples.
        numbers = self._streams.take(samples)
        shaped, self._state = lfilter(self._taps, [1.0, 0.0], numbers, axis=0, zi=self._state)
        return shaped * self._axes
