"""Types of triads (three identical sensors along x, y and z), with the units of their errors.

Code that treats all types alike finds them here by their names in a specification. To support
another type, add an entry to :data:`TRIADS`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Mapping

from ..core.tables import ACCEL, GYRO, MAG
from ..core.units import factor, multiply_by_time


@dataclass(frozen=True)
class TriadKind:
    """Type of a triad: its measured quantity, with columns and units.

    Parameters
    ----------
    unit : str
        SI unit of the measured quantity.
    columns : tuple of 3 str
        Columns of the samples in a table.
    datasheet_units : mapping of str to str
        Unit in data sheets for each parameter of a :class:`.TriadSpecification`.
    is_force_sensitive : bool
        Whether readings also change with the specific force, so that g-sensitivity is meaningful.
    """

    unit: str
    columns: tuple[str, str, str]
    datasheet_units: Mapping[str, str]
    is_force_sensitive: bool = False

    @property
    def measures_force(self) -> bool:
        """Whether the measured quantity is the specific force."""
        return self.unit == "m/s^2"

    def unit_of(self, parameter: str) -> str:
        """Return the SI unit of an error parameter.

        Parameters
        ----------
        parameter : str
            Field of a :class:`.TriadSpecification`.

        Returns
        -------
        str
        """
        if parameter in _UNITS:
            return _UNITS[parameter].format(self.unit)
        power, suffix = _TIME_POWERS[parameter]
        return multiply_by_time(self.unit, power) + suffix

    def datasheet(self, parameter: str) -> tuple[str, float]:
        """Return the usual data sheet unit of a parameter, and the factor from SI units to it.

        Parameters
        ----------
        parameter : str
            Key of ``datasheet_units``.

        Returns
        -------
        unit, factor : str, float
            Unit in data sheets, and the factor from SI units to this unit.
        """
        unit = self.datasheet_units[parameter]
        return unit, 1.0 / factor(unit)


# For each parameter, the power of the second by which the unit of the measured quantity is
# multiplied, and the suffix of the unit.
_TIME_POWERS = {
    "quantisation": (1, ""),
    "white_noise": (0, "/sqrt(Hz)"),
    "random_walk": (-1, "/sqrt(Hz)"),
    "rate_ramp": (-1, ""),
    "temperature_bias": (0, "/K"),
    "supply_bias": (0, "/V"),
}
_SIGNAL_PARAMETERS = (
    *("signal", "bias_instability", "gauss_markov_sigma", "turn_on_bias"),
    *("turn_on_bias_sigma", "saturation", "resolution"),
)
_UNITS = {
    **dict.fromkeys(_SIGNAL_PARAMETERS, "{}"),
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

_ALLAN_PARAMETERS = ("quantisation", "white_noise", "bias_instability", "random_walk", "rate_ramp")


def _datasheet_units(*units) -> dict[str, str]:
    return dict(zip(_ALLAN_PARAMETERS, units))


#: Types of triads, keyed by their names in a specification.
TRIADS = {
    "gyroscope": TriadKind(
        "rad/s",
        GYRO,
        _datasheet_units("arcsec", "deg/sqrt(h)", "deg/h", "deg/h/sqrt(h)", "deg/h^2"),
        is_force_sensitive=True,
    ),
    "accelerometer": TriadKind(
        "m/s^2", ACCEL, _datasheet_units("mm/s", "ug/sqrt(Hz)", "ug", "m/s/h/sqrt(h)", "ug/h")
    ),
    "magnetometer": TriadKind(
        "T", MAG, _datasheet_units("uT s", "nT/sqrt(Hz)", "nT", "nT/s/sqrt(Hz)", "nT/h")
    ),
}
