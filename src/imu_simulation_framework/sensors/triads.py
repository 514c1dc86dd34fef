"""The kinds of triads, three equal sensors along x, y and z, and the units of their errors.

Whatever is the same for each kind asks here, by the name that the kind has as a part of a
specification; a further kind is one more entry.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Mapping

from ..core.tables import ACCEL, GYRO, MAG
from ..core.units import factor, multiply_by_time


@dataclass(frozen=True)
class TriadKind:
    """What three equal sensors measure, and how it is written.

    ``unit``: of what they measure, in SI. ``columns``: of their samples in a table.
    ``datasheet_units``: parameter of a :class:`.TriadSpecification` -> the unit that data sheets
    give it in. ``feels_force``: whether the specific force moves its readings, too, so that it has
    a g-sensitivity.
    """

    unit: str
    columns: tuple[str, str, str]
    datasheet_units: Mapping[str, str]
    feels_force: bool = False

    @property
    def measures_force(self) -> bool:
        """Whether the specific force is what it measures."""
        return self.unit == "m/s^2"

    def unit_of(self, parameter: str) -> str:
        """Return the SI unit of a parameter of a :class:`.TriadSpecification`, by its name."""
        if parameter in _UNITS:
            return _UNITS[parameter].format(self.unit)
        power, suffix = _OVER_TIME[parameter]
        return multiply_by_time(self.unit, power) + suffix

    def datasheet(self, parameter: str) -> tuple[str, float]:
        """Return the unit that data sheets give a parameter in, and the factor from SI to it."""
        unit = self.datasheet_units[parameter]
        return unit, 1.0 / factor(unit)


# Parameter -> power of the second by which the unit differs from the measured quantity's, and what
# stands behind it.
_OVER_TIME = {
    "quantisation": (1, ""),
    "white_noise": (0, "/sqrt(Hz)"),
    "random_walk": (-1, "/sqrt(Hz)"),
    "rate_ramp": (-1, ""),
    "temperature_bias": (0, "/K"),
    "supply_bias": (0, "/V"),
}
_LIKE_THE_SIGNAL = (
    *("signal", "bias_instability", "gauss_markov_sigma", "turn_on_bias"),
    *("turn_on_bias_sigma", "saturation", "resolution"),
)
_UNITS = {
    **dict.fromkeys(_LIKE_THE_SIGNAL, "{}"),
    "g_sensitivity": "{} per m/s^2",
    "nonlinearity": "1/({})",
    "vibration_rectification": "{} per (m/s^2)^2",
    "bias_instability_band": "s",
    "gauss_markov_time": "s",
    "scale_factor_and_misalignment": "1",
    "temperature_scale_factor": "1/K",
    "supply_scale_factor": "1/V",
    "bandwidth": "Hz",
}

_OF_ALLAN = ("quantisation", "white_noise", "bias_instability", "random_walk", "rate_ramp")


def _datasheet_units(*units) -> dict[str, str]:
    return dict(zip(_OF_ALLAN, units))


TRIADS = {
    "gyroscope": TriadKind(
        "rad/s",
        GYRO,
        _datasheet_units("arcsec", "deg/sqrt(h)", "deg/h", "deg/h/sqrt(h)", "deg/h^2"),
        feels_force=True,
    ),
    "accelerometer": TriadKind(
        "m/s^2", ACCEL, _datasheet_units("mm/s", "ug/sqrt(Hz)", "ug", "m/s/h/sqrt(h)", "ug/h")
    ),
    "magnetometer": TriadKind(
        "T", MAG, _datasheet_units("uT s", "nT/sqrt(Hz)", "nT", "nT/s/sqrt(Hz)", "nT/h")
    ),
}
"""Name as part of a specification -> what it is."""
