"""Error models that turn the true signals of an IMU into what a simulator's plug-in says.

A model is stepped sample by sample in a simulator, or run over a whole drive many times at once;
both give the same for the same random numbers.
"""

from imu_simulation_framework.sensors.imu_models.base import ImuModel
from imu_simulation_framework.sensors.imu_models.generic import GenericImu, GenericParameters
from imu_simulation_framework.sensors.imu_models.hector import HectorImu, HectorParameters
from imu_simulation_framework.sensors.imu_models.ideal import IdealImu, IdealParameters
from imu_simulation_framework.sensors.imu_models.reading import (
    MAGNETIC_PARTS,
    PARTS,
    SIGNALS,
    SLOW_ERRORS,
    AnyTruth,
    ImuReading,
    ImuTruth,
    MagneticTruth,
    MovingMagneticTruth,
    MovingTruth,
    truth_of,
)
from imu_simulation_framework.sensors.imu_models.registry import (
    IMU_MODELS,
    PRESETS,
    Preset,
    make_imu_model,
)
from imu_simulation_framework.sensors.imu_models.specification import (
    SpecificationImu,
    SpecificationParameters,
)

__all__ = [
    "IMU_MODELS",
    "MAGNETIC_PARTS",
    "PARTS",
    "PRESETS",
    "SIGNALS",
    "SLOW_ERRORS",
    "AnyTruth",
    "GenericImu",
    "GenericParameters",
    "HectorImu",
    "HectorParameters",
    "IdealImu",
    "IdealParameters",
    "ImuModel",
    "ImuReading",
    "ImuTruth",
    "MagneticTruth",
    "MovingMagneticTruth",
    "MovingTruth",
    "Preset",
    "SpecificationImu",
    "SpecificationParameters",
    "make_imu_model",
    "truth_of",
]
