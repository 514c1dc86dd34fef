"""From observed yaw errors to a model of them: maximum likelihood, intervals, choice, checks."""

from imu_simulation_framework.identification.yaw_error.identify import (
    YawErrorIdentification,
    identify_yaw_error,
)
from imu_simulation_framework.identification.yaw_error.observation import (
    ObservedYawError,
    observed_yaw_error,
)

__all__ = [
    "ObservedYawError",
    "YawErrorIdentification",
    "identify_yaw_error",
    "observed_yaw_error",
]
