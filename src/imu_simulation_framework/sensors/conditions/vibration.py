r"""Vibration of the place where a sensor is mounted, by its spectrum and by the speed.

With the one-sided density S(f) of the specific force at the reference speed, and the anti-aliasing
filter's H, samples at the rate :math:`f_s` have the density

.. math:: S_s(f) = \sum_{k=-\infty}^{\infty} |H|^2 S(|f + k f_s|), \quad 0 \le f \le f_s / 2

(sampling folds it, e.g. Oppenheim and Schafer, Discrete-Time Signal Processing, section 4.2). All
of it has the mean square :math:`\int S df` before any filter, and this is what is rectified.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from imu_simulation_framework.checked_values import (
    check_numbers,
    checked_axes,
    checked_number,
    checked_table,
)
from imu_simulation_framework.errors import ConfigurationError
from imu_simulation_framework.noise.streams import NormalStreams

TAPS = 512
"""Of the filter that shapes the noise; the spectrum's lines are half as many."""

_FINEST = 8
"""Points of the density per line of the sampled spectrum."""

_HIGHEST = 1e5
"""No robot's floor vibrates faster [Hz]."""


@dataclass(frozen=True)
class Vibration:
    """What shakes the sensor while the robot moves.

    Parameters
    ----------
    spectrum : tuple of (float, float)
        Frequencies, increasing [Hz], and one-sided power densities of the specific force
        [(m/s^2)^2/Hz] at the reference speed, linear between them and zero outside. None: off.
    axes : 3 float
        How much of its amplitude the axes x, y, z have [1].
    reference_speed : float
        [m/s]
    exponent : float
        Of the amplitude over the speed [1]: 1 for a base that is rough like a road (ISO 8608:
        the density of the displacement falls with the square of the wave number).
    idle : float
        Amplitude at rest, as of a fan or an idling motor, over that at the reference speed [1].

    Raises
    ------
    ConfigurationError
        A value is not what it must be; the sentence begins with the field's name.
    """

    spectrum: tuple[tuple[float, float], ...] = ()
    axes: tuple[float, float, float] = (1.0, 1.0, 1.0)
    reference_speed: float = 1.0
    exponent: float = 1.0
    idle: float = 0.0

    def __post_init__(self) -> None:
        spectrum = checked_table("spectrum", self.spectrum, "density", "frequency")
        for frequency, density in spectrum:
            checked_number("spectrum", frequency, minimum=0.0, maximum=_HIGHEST)
            checked_number("spectrum", density, minimum=0.0)
        if len(spectrum) == 1:
            raise ConfigurationError("spectrum has one frequency, but it must have at least two.")
        object.__setattr__(self, "spectrum", spectrum)
        object.__setattr__(self, "axes", checked_axes("axes", self.axes, minimum=0.0))
        check_numbers(
            self,
            {
                "reference_speed": {"above": 0.0},
                "exponent": {"minimum": 0.0, "maximum": 10.0},
                "idle": {"minimum": 0.0},
            },
        )

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

    def amplitude(self, speed):
        """Return the amplitude at a speed or speeds [m/s], over that at the reference speed."""
        moving = (np.abs(speed) / self.reference_speed) ** self.exponent
        if self.exponent == 0.0:
            moving = np.where(np.abs(speed) > 0.0, moving, 0.0)
        return np.sqrt(self.idle**2 + np.square(moving))

    def sampled_density(self, rate: float, bandwidth: float | None) -> np.ndarray:
        """Return the one-sided density of samples at ``TAPS // 2 + 1`` lines from 0 to rate / 2.

        Parameters
        ----------
        rate : float
            [Hz]
        bandwidth : float or None
            At which a Butterworth filter of second order before the sampling lets half of the power
            pass [Hz].

        Returns
        -------
        ndarray, shape (TAPS // 2 + 1,)
            [(m/s^2)^2/Hz], means over the widths of the lines.
        """
        frequencies, densities = (np.array(column) for column in zip(*self.spectrum))
        lines = TAPS // 2 + 1
        width = rate / TAPS
        step = width / _FINEST
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

    Parameters
    ----------
    vibration : Vibration
    rate : float
        Samples per second [Hz].
    bandwidth : float or None
        Of the anti-aliasing filter [Hz].
    seed : numpy.random.SeedSequence
        Of this realisation.
    """

    def __init__(self, vibration: Vibration, rate: float, bandwidth: float | None, seed):
        self._axes = np.array(vibration.axes)
        gain = np.sqrt(vibration.sampled_density(rate, bandwidth) * rate / 2.0)
        # Of the phase of a filter that is symmetric about its middle.
        self._taps = np.fft.fftshift(np.fft.irfft(gain, TAPS))
        self.restart(seed)

    def restart(self, seed) -> None:
        """Begin another realisation, in the middle of its vibration."""
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
