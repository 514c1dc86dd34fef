"""An IMU without errors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from imu_simulation_framework.sensors.imu_models.base import (
    ImuModel,
    ImuReading,
    ImuTruth,
    diagonal,
    no_bias,
    repeat_runs,
)


@dataclass(frozen=True)
class IdealParameters:
    """An ideal IMU has no parameters."""


class IdealImu(ImuModel):
    """Says the truth."""

    _NO_BIAS = no_bias(())

    @property
    def label(self) -> str:
        return "ideal"

    def _begin(self, seed):
        """Nothing is random here."""

    def step(self, truth: ImuTruth) -> ImuReading:
        return ImuReading(*truth, *self._NO_BIAS)

    def steps(self, truth: ImuTruth) -> tuple[ImuReading, np.ndarray]:
        samples = len(truth.orientation)
        return ImuReading(*truth, *no_bias((samples,))), self.new_samples(samples)

    def batch(self, truth: ImuTruth, runs: int = 1, first_run: int = 0) -> ImuReading:
        samples = np.shape(truth.orientation)[0]
        return ImuReading(
            *(repeat_runs(values, runs) for values in truth), *no_bias((runs, samples))
        )

    def covariances(self):
        return (diagonal(0.0, 0.0, 0.0),) * 3
