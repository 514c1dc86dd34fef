"""An IMU without errors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from imu_simulation_framework.sensors.imu_models.base import ImuModel, diagonal
from imu_simulation_framework.sensors.imu_models.reading import (
    SIGNALS,
    ImuReading,
    ImuTruth,
    checked_parts,
    without_bias,
)


@dataclass(frozen=True)
class IdealParameters:
    """An ideal IMU has no parameters."""


class IdealImu(ImuModel):
    """Says the truth."""

    @property
    def label(self) -> str:
        return "ideal"

    def _begin(self, seed):
        """Nothing is random here."""

    def step(self, truth: ImuTruth) -> ImuReading:
        orientation, rate, force = truth
        return ImuReading(
            without_bias, orientation=orientation, angular_velocity=rate, specific_force=force
        )

    def steps(self, truth: ImuTruth) -> tuple[ImuReading, np.ndarray]:
        return self.step(truth), self.new_samples(len(truth.orientation))

    def batch(self, truth, runs=1, first_run=0, parts=SIGNALS):
        reading = self._realise(truth, None)
        values = {name: getattr(reading, name) for name in checked_parts(parts)}
        return ImuReading(
            **{name: np.broadcast_to(one, (runs, *np.shape(one))) for name, one in values.items()}
        )

    def _realise(self, truth, seed):
        return self.step(ImuTruth(*map(np.asarray, truth)))

    def covariances(self):
        return (diagonal(0.0, 0.0, 0.0),) * 3
