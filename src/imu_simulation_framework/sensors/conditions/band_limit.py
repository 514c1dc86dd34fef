"""The digital low-pass that a sensor's readings have gone through."""

from __future__ import annotations

import numpy as np


class BandLimit:
    """A Butterworth filter of second order, which is what most IMUs' low-pass resembles.

    It is designed by the bilinear transform, so that at ``bandwidth`` half of the power passes.

    Parameters
    ----------
    bandwidth : float
        [Hz], below half of the rate.
    rate : float
        Samples per second [Hz].
    """

    def __init__(self, bandwidth: float, rate: float) -> None:
        # Imported here, since every node knows the models, and it takes 40 MB.
        from scipy.signal import butter

        self._numerator, self._denominator = butter(2, bandwidth, fs=rate)
        self._state: np.ndarray | None = None

    def restart(self) -> None:
        """Begin anew: the next sample is taken to have been there before."""
        self._state = None

    def advance(self, samples: np.ndarray) -> np.ndarray:
        """Return what passes of the next samples, (n, 3)."""
        from scipy.signal import lfilter, lfilter_zi

        if not len(samples):
            return samples
        if self._state is None:
            settled = lfilter_zi(self._numerator, self._denominator)
            self._state = settled[:, np.newaxis] * samples[0]
        passed, self._state = lfilter(
            self._numerator, self._denominator, samples, axis=0, zi=self._state
        )
        return passed

    def noise_gains(self) -> tuple[float, float]:
        """Return what is left of the variance of white noise, and of differences of white noise."""
        from scipy.signal import lfilter

        impulse = np.zeros(4096)
        impulse[0] = 1.0
        response = lfilter(self._numerator, self._denominator, impulse)
        return (
            float(np.sum(np.square(response))),
            float(0.5 * np.sum(np.square(np.diff(response, prepend=0.0)))),
        )
