"""Units that a data sheet's values may be stated in, as factors to SI."""

from __future__ import annotations

from imu_simulation_framework.units import factors

_RATES = ("rad/s", "mrad/s", "deg/s", "mdeg/s", "rad/h", "deg/h")
_FORCES = ("m/s^2", "mm/s^2", "g", "mg", "ug")


def _per(units, suffix):
    return factors(*(f"{unit}{suffix}" for unit in units))


# For each kind of quantity the units of a gyroscope and those of an accelerometer.
UNITS = {
    "signal": {"gyroscope": factors(*_RATES), "accelerometer": factors(*_FORCES, "m/s/h")},
    "density": {
        "gyroscope": _per(_RATES, "/sqrt(Hz)"),
        "accelerometer": _per(_FORCES, "/sqrt(Hz)"),
    },
    "white_noise_walk": {
        "gyroscope": factors("rad/sqrt(s)", "deg/sqrt(s)", "rad/sqrt(h)", "deg/sqrt(h)"),
        "accelerometer": factors("m/s/sqrt(s)", "m/s/sqrt(h)"),
    },
    "random_walk": {
        "gyroscope": factors("rad/s/sqrt(s)", "rad/s^2/sqrt(Hz)", "deg/s/sqrt(s)", "deg/h/sqrt(h)"),
        "accelerometer": factors("m/s^2/sqrt(s)", "m/s^3/sqrt(Hz)", "m/s/h/sqrt(h)", "mg/sqrt(h)"),
    },
    "temperature": {"gyroscope": _per(_RATES, "/K"), "accelerometer": _per(_FORCES, "/K")},
}
