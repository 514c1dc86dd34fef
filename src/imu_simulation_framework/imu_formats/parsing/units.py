"""Units of datasheets, as factors to SI."""

from __future__ import annotations

import math

from imu_simulation_framework.constants import STANDARD_GRAVITY

_DEGREE = math.pi / 180.0
_HOUR = 3600.0
_ROOT_HOUR = 60.0

_RATE = {"rad/s": 1.0, "mrad/s": 1e-3, "deg/s": _DEGREE, "mdeg/s": 1e-3 * _DEGREE}
_SLOW_RATE = {**_RATE, "rad/h": 1.0 / _HOUR, "deg/h": _DEGREE / _HOUR}
_FORCE = {
    "m/s^2": 1.0,
    "mm/s^2": 1e-3,
    "g": STANDARD_GRAVITY,
    "mg": 1e-3 * STANDARD_GRAVITY,
    "ug": 1e-6 * STANDARD_GRAVITY,
}
_SLOW_FORCE = {**_FORCE, "m/s/h": 1.0 / _HOUR}


def _per(units, suffix, factor=1.0):
    return {f"{unit}{suffix}": value * factor for unit, value in units.items()}


# For each kind of quantity the units of a gyroscope and those of an accelerometer.
UNITS = {
    "signal": {"gyroscope": _SLOW_RATE, "accelerometer": _SLOW_FORCE},
    "density": {
        "gyroscope": _per(_SLOW_RATE, "/sqrt(Hz)"),
        "accelerometer": _per(_FORCE, "/sqrt(Hz)"),
    },
    "white_noise_walk": {
        "gyroscope": {
            "rad/sqrt(s)": 1.0,
            "deg/sqrt(s)": _DEGREE,
            "rad/sqrt(h)": 1.0 / _ROOT_HOUR,
            "deg/sqrt(h)": _DEGREE / _ROOT_HOUR,
        },
        "accelerometer": {"m/s/sqrt(s)": 1.0, "m/s/sqrt(h)": 1.0 / _ROOT_HOUR},
    },
    "random_walk": {
        "gyroscope": {
            "rad/s/sqrt(s)": 1.0,
            "rad/s^2/sqrt(Hz)": 1.0,
            "deg/s/sqrt(s)": _DEGREE,
            "deg/h/sqrt(h)": _DEGREE / _HOUR / _ROOT_HOUR,
        },
        "accelerometer": {
            "m/s^2/sqrt(s)": 1.0,
            "m/s^3/sqrt(Hz)": 1.0,
            "m/s/h/sqrt(h)": 1.0 / _HOUR / _ROOT_HOUR,
            "mg/sqrt(h)": 1e-3 * STANDARD_GRAVITY / _ROOT_HOUR,
        },
    },
    "temperature": {
        "gyroscope": _per(_SLOW_RATE, "/K"),
        "accelerometer": _per(_FORCE, "/K"),
    },
}
