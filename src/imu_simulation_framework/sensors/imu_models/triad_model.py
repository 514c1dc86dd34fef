"""What a triad of a specification is made of: what has a state, and what every run shares."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from imu_simulation_framework.noise.streams import run_seed
from imu_simulation_framework.sensors.conditions.band_limit import BandLimit
from imu_simulation_framework.sensors.conditions.vibration import VibrationNoise
from imu_simulation_framework.sensors.imu_specification import MagnetometerSpecification
from imu_simulation_framework.sensors.triad_noise import TriadNoise
from imu_simulation_framework.sensors.triad_response import (
    TriadResponse,
    matrix_times,
    unless_identity,
)


class TriadSeries(NamedTuple):
    """Samples that are all due.

    Their orientation, time, what each triad makes of the truth; and of a vibration each triad's
    bias, and its amplitude.
    """

    orientation: np.ndarray
    time: np.ndarray
    of_truth: list[np.ndarray]
    rectified: list[np.ndarray | None]
    amplitude: np.ndarray | None


class RealisedTriads(NamedTuple):
    """What has a state in a realisation: each triad's noise and low-pass, and the vibration."""

    noises: list[TriadNoise]
    limits: list[BandLimit | None]
    vibration: VibrationNoise | None


class TriadModel:
    """What is the same in each realisation of a triad."""

    def __init__(self, name, specification, period):
        triad = getattr(specification, name)
        self.noise = TriadNoise(triad, period, run_seed(0, 0))
        self._rate = 1.0 / period
        self._bandwidth = triad.bandwidth
        self._response = TriadResponse(name, specification)
        self.rectified = self._response.rectified
        self._iron = None
        if isinstance(triad, MagnetometerSpecification):
            self._iron = np.array(triad.hard_iron), unless_identity(np.array(triad.soft_iron))

    def of_truth(self, signal, force, time):
        """Give what it makes of signal and specific force, (3,) or (samples, 3), without noise."""
        if self._iron is not None:
            hard, soft = self._iron
            signal = matrix_times(soft, signal) + hard
        return self._response.of_truth(signal, force, time)

    def band_limit(self) -> BandLimit | None:
        """Return the low-pass of a new realisation; from half of the rate on there is none."""
        if self._bandwidth is None or self._bandwidth >= 0.5 * self._rate:
            return None
        return BandLimit(self._bandwidth, self._rate)

    def read(self, of_truth, noise, bias, time, limit, vibration):
        """Return readings and their bias, (3,) each, or (samples, 3)."""
        if limit is not None:
            signal = of_truth + noise
            of_truth = limit.advance(signal.reshape(-1, 3)).reshape(signal.shape)
            noise = 0.0
        if vibration is not None:
            noise = noise + self._response.shaken(vibration)
        return self._response.read(of_truth, noise, bias, time)
