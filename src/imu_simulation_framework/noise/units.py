"""Noise coefficients in the units of datasheets."""

from __future__ import annotations

import math

from imu_simulation_framework.constants import STANDARD_GRAVITY

_DEGREES = 180.0 / math.pi
_HOUR = 3600.0
_ROOT_HOUR = 60.0
_MICRO_G = 1e6 / STANDARD_GRAVITY

MEASURED_UNITS = {"gyroscope": "rad/s", "accelerometer": "m/s^2"}
"""Sensor -> unit of what it measures, in this package."""

SI_UNITS = {
    "gyroscope": {
        "quantisation": "rad",
        "white_noise": "rad/s/sqrt(Hz)",
        "bias_instability": "rad/s",
        "random_walk": "rad/s^2/sqrt(Hz)",
        "rate_ramp": "rad/s^2",
    },
    "accelerometer": {
        "quantisation": "m/s",
        "white_noise": "m/s^2/sqrt(Hz)",
        "bias_instability": "m/s^2",
        "random_walk": "m/s^3/sqrt(Hz)",
        "rate_ramp": "m/s^3",
    },
}
"""Sensor -> term -> unit of this package."""

DATASHEET_UNITS = {
    "gyroscope": {
        "quantisation": ("arcsec", _DEGREES * _HOUR),
        "white_noise": ("deg/sqrt(h)", _DEGREES * _ROOT_HOUR),
        "bias_instability": ("deg/h", _DEGREES * _HOUR),
        "random_walk": ("deg/h/sqrt(h)", _DEGREES * _HOUR * _ROOT_HOUR),
        "rate_ramp": ("deg/h^2", _DEGREES * _HOUR**2),
    },
    "accelerometer": {
        "quantisation": ("mm/s", 1e3),
        "white_noise": ("ug/sqrt(Hz)", _MICRO_G),
        "bias_instability": ("ug", _MICRO_G),
        "random_walk": ("m/s/h/sqrt(h)", _HOUR * _ROOT_HOUR),
        "rate_ramp": ("ug/h", _MICRO_G * _HOUR),
    },
}
"""Sensor -> term -> unit of datasheets and the factor to it; densities stay two-sided."""


def duration_text(seconds) -> str:
    """A duration as a person would say it."""
    for unit, size in (("days", 86400.0), ("h", 3600.0), ("min", 60.0)):
        if seconds >= 2.0 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"
