"""One linear, Gaussian model of the yaw error, for bands, budget, realisations and likelihood."""

from imu_simulation_framework.evaluation.yaw_error_model.model import YawErrorModel
from imu_simulation_framework.evaluation.yaw_error_model.of_imu import yaw_error_model
from imu_simulation_framework.evaluation.yaw_error_model.parameters import YawErrorParameters
from imu_simulation_framework.evaluation.yaw_error_model.sources import (
    AngleRandomWalk,
    KnownError,
    RandomConstant,
    RateGaussMarkov,
    RateRandomWalk,
    Source,
    YawGaussMarkov,
    YawNoise,
)

__all__ = [
    "AngleRandomWalk",
    "KnownError",
    "RandomConstant",
    "RateGaussMarkov",
    "RateRandomWalk",
    "Source",
    "YawErrorModel",
    "YawErrorParameters",
    "YawGaussMarkov",
    "YawNoise",
    "yaw_error_model",
]
