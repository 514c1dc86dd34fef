"""An IMU without errors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from imu_simulation_framework.sensors.imu_models.base import ImuModel, diagonal
from imu_simulation_framework.sensors.imu_models.reading import (
    SIGNALS,
    AnyTruth,
    ImuReading,
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

    @property
    def has_magnetometer(self) -> bool:
        return True

    def _begin(self, seed):
        """Nothing is random here."""

    def step(self, truth: AnyTruth) -> ImuReading:
        # With the magnetic field, where there is one.
        return ImuReading(without_bias, **truth._asdict())

    def steps(self, truth: AnyTruth) -> tuple[ImuReading, np.ndarray]:
        return self.step(truth), self.new_samples(len(truth.orientation))

    def batch(self, truth, runs=1, first_run=0, parts=SIGNALS):
        reading = self._realise(truth, None)
        values = {name: getattr(reading, name) for name in checked_parts(parts)}
        return ImuReading(
            **{name: np.broadcast_to(one, (runs, *np.shape(one))) for name, one in values.items()}
        )

    def _realise(self, truth, seed):
        return self.step(type(truth)(*map(np.asarray, truth)))

    def covariances(self):
        return (diagonal(0.0, 0.0, 0.0),) * 3
