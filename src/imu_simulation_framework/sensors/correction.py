r"""Correction of sensor readings by the result of a calibration.

A triad with the output

.. math:: y = (I + M + \mathrm{diag}(\sum_k s_k \Delta T^k)) f + b + \sum_k c_k \Delta T^k

is corrected to the input f; its symbols are those of a :class:`.TriadSpecification`.

The keys of the YAML file are the fields of :class:`.ImuCorrection` and :class:`.TriadCorrection`,
where their meaning and unit are documented::

    name: my_imu
    gyroscope:
      bias: [0.0021, -0.0008, 0.0004]                 # rad/s
      bias_sigma: [2.0e-5, 2.0e-5, 2.0e-5]            # rad/s
      scale_factor_and_misalignment: [[0.004, 0.0, 0.0], [0.0, -0.002, 0.0], [0.0, 0.0, 0.001]]
      temperature_bias: [[1.0e-5, 0.0, 2.0e-5]]       # rad/s/K; a second row would be rad/s/K^2
      temperature_reference: 25.0                     # degC

Missing errors are not corrected.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Any, Mapping, Tuple

import numpy as np
from numpy.typing import ArrayLike

from ..core.checks import Axes, Matrix, check_axes, check_matrix, check_numbers
from ..core.errors import ConfigurationError
from ..core.sentences import quote
from ..core.settings import Settings, from_mapping, setting, to_mapping
from ..core.yaml_files import read_description
from .files import format_parts
from .imu_specification import (
    ImuSpecification,
    MagnetometerSpecification,
    TriadSpecification,
    checked_line,
)
from .triads import TRIADS

Rows = Tuple[Axes, ...]
_ZERO = (0.0, 0.0, 0.0)
_ZERO_MATRIX = (_ZERO, _ZERO, _ZERO)
_MAX_POWERS = 5
_WORST_CONDITION = 100.0  # condition number above which a matrix is treated as singular


def _rows(name: str, value: Any) -> Rows:
    if not isinstance(value, (list, tuple)) or len(value) > _MAX_POWERS:
        raise ConfigurationError(
            f"{name} is {quote(value)}, expected at most {_MAX_POWERS} rows of three numbers for "
            "the powers of the temperature difference"
        )
    return tuple(check_axes(f"{name} {k + 1}", row) for k, row in enumerate(value))


def _checked_range(name: str, value: Any) -> tuple[float, float]:
    low, high = check_numbers(name, value, 2)
    if low <= high:
        return low, high
    raise ConfigurationError(f"{name} is {low:g} to {high:g}, expected ascending limits")


@dataclass(frozen=True)
class TriadCorrection(Settings):
    """Errors of a triad that a calibration corrects, and their standard deviations.

    Parameters
    ----------
    bias : 3 float
        b [rad/s; m/s^2; T].
    scale_factor_and_misalignment : 3 x 3 float
        M [1].
    bias_sigma, scale_factor_and_misalignment_sigma : 3 float or 3 x 3 float
        Standard deviations of both, 0 for elements that were not estimated.
    temperature_bias, temperature_scale_factor : n x 3 float
        c and s, with one row per power of the difference from ``temperature_reference`` [unit/K,
        ...; 1/K, ...].
    temperature_reference : float
        Reference temperature [degC].
    temperature_range : 2 float
        Temperature range of the calibration [degC]; temperatures outside are clipped to this range.

    Raises
    ------
    ConfigurationError
        If a value is out of range, or the matrix cannot be inverted at some temperature.
    """

    bias: Axes = setting(_ZERO, check_axes)
    bias_sigma: Axes = setting(_ZERO, check_axes, minimum=0.0)
    scale_factor_and_misalignment: Matrix = setting(_ZERO_MATRIX, check_matrix)
    scale_factor_and_misalignment_sigma: Matrix = setting(_ZERO_MATRIX, check_matrix)
    temperature_bias: Rows = setting((), _rows)
    temperature_scale_factor: Rows = setting((), _rows)
    temperature_reference: float = setting(25.0, unit="degC")
    temperature_range: tuple[float, float] = setting((-273.15, 1000.0), _checked_range, unit="degC")

    def __post_init__(self) -> None:
        super().__post_init__()
        if np.linalg.cond(self.matrix) > _WORST_CONDITION:
            raise ConfigurationError(
                "scale_factor_and_misalignment is nearly singular, expected a condition number of "
                f"I + M up to {_WORST_CONDITION:g}"
            )
        if not self.temperature_scale_factor:
            return
        temperatures = np.linspace(*self.temperature_range, 1001)
        scale = _polynomial(self.temperature_scale_factor, self._powers(temperatures))
        worst = np.linalg.cond(self.matrix + np.eye(3) * scale[..., None])
        if not worst.max() < _WORST_CONDITION:
            raise ConfigurationError(
                f"temperature_scale_factor makes I + M nearly singular at "
                f"{temperatures[np.argmax(worst)]:g} degC, expected a condition number up to "
                f"{_WORST_CONDITION:g} in temperature_range"
            )

    @property
    def matrix(self) -> np.ndarray:
        """Matrix I + M, with scale factors and misalignments in M, shape (3, 3)."""
        return np.eye(3) + np.array(self.scale_factor_and_misalignment)

    @property
    def needs_temperature(self) -> bool:
        """Whether the correction depends on the temperature."""
        return bool(self.temperature_bias or self.temperature_scale_factor)

    def apply(self, readings: np.ndarray, temperature: ArrayLike | None = None) -> np.ndarray:
        """Apply the correction to the readings of a triad.

        Parameters
        ----------
        readings : ndarray, shape (3,) or (n, 3)
            Readings [unit of the triad].
        temperature : array_like, shape () or (n,), optional
            Temperature [degC]; by default the reference temperature.

        Returns
        -------
        ndarray, shape (3,) or (n, 3)
            Corrected readings [unit of the triad].
        """
        readings = np.asarray(readings, dtype=float)
        powers = self._powers(temperature)
        bias = np.array(self.bias) + _polynomial(self.temperature_bias, powers)
        scale = _polynomial(self.temperature_scale_factor, powers)
        if not np.any(scale):
            return (readings - bias) @ np.linalg.inv(self.matrix).T
        matrices = self.matrix + np.eye(3) * scale[..., None]
        return np.linalg.solve(matrices, (readings - bias)[..., None])[..., 0]

    def covariance(self, covariance: np.ndarray) -> np.ndarray:
        """Return the covariance of corrected readings.

        Parameters
        ----------
        covariance : ndarray, shape (3, 3)
            Covariance of the uncorrected readings.

        Returns
        -------
        ndarray, shape (3, 3)
            Covariance after the correction [square of the unit].
        """
        inverse = np.linalg.inv(self.matrix)
        return inverse @ np.asarray(covariance) @ inverse.T

    def _powers(self, temperature: ArrayLike | None) -> list[np.ndarray]:
        degree = max(len(self.temperature_bias), len(self.temperature_scale_factor))
        if temperature is None or not degree:
            return [np.zeros(1)] * degree
        difference = np.clip(temperature, *self.temperature_range) - self.temperature_reference
        return [np.atleast_1d(difference) ** power for power in range(1, degree + 1)]


@dataclass(frozen=True)
class ImuCorrection(Settings):
    """Corrections of an IMU's gyroscope, accelerometer and magnetometer.

    Parameters
    ----------
    name : str
        Name of the IMU.
    gyroscope, accelerometer, magnetometer : TriadCorrection
        Corrections of the triads.
    """

    name: str = setting("imu", checked_line, always=True)
    gyroscope: TriadCorrection = setting(TriadCorrection(), part=TriadCorrection)
    accelerometer: TriadCorrection = setting(TriadCorrection(), part=TriadCorrection)
    magnetometer: TriadCorrection = setting(TriadCorrection(), part=TriadCorrection)


def specify_residual_errors(
    correction: ImuCorrection, noise: ImuSpecification, name: str
) -> ImuSpecification:
    """Return the specification of a calibrated IMU, with its noise and residual errors.

    Bias, scale factors and misalignments are random with the standard deviations of the
    calibration; they replace the deterministic errors in ``noise``.

    Parameters
    ----------
    correction : ImuCorrection
        Result of the calibration.
    noise : ImuSpecification
        Specification with the noise of the IMU.
    name : str
        Name of the returned specification.

    Returns
    -------
    ImuSpecification
    """

    def residual(triad: TriadSpecification, part: TriadCorrection) -> Any:
        changes: dict[str, Any] = {}
        if any(part.bias_sigma):
            changes.update(turn_on_bias=_ZERO, turn_on_bias_sigma=part.bias_sigma)
        if np.any(part.scale_factor_and_misalignment_sigma):
            changes["scale_factor_and_misalignment"] = part.scale_factor_and_misalignment_sigma
        if part.temperature_bias:
            changes["temperature_bias"] = _ZERO
        if part.temperature_scale_factor:
            changes["temperature_scale_factor"] = _ZERO
        if changes and isinstance(triad, MagnetometerSpecification):
            changes.update(hard_iron=_ZERO, soft_iron=np.eye(3))
        return replace(triad, **changes)

    magnetometer = noise.magnetometer
    parts = (correction.gyroscope, correction.accelerometer, correction.magnetometer)
    drawn = any(np.any(part.scale_factor_and_misalignment_sigma) for part in parts)
    return replace(
        noise,
        name=name,
        units=replace(noise.units, tolerances=drawn or noise.units.tolerances),
        gyroscope=residual(noise.gyroscope, correction.gyroscope),
        accelerometer=residual(noise.accelerometer, correction.accelerometer),
        magnetometer=magnetometer and residual(magnetometer, correction.magnetometer),
    )


def correction_from_mapping(content: Mapping[str, Any]) -> ImuCorrection:
    """Create an IMU correction from the keys and values of a file.

    Parameters
    ----------
    content : mapping
        Content of a file with at least one sensor.

    Returns
    -------
    ImuCorrection

    Raises
    ------
    ConfigurationError
        If a key or a value is invalid, or there is no sensor.
    """
    correction = from_mapping(ImuCorrection, content, "the correction")
    if not set(TRIADS) & set(content):
        raise ConfigurationError(
            f"the correction is empty, expected at least one of {', '.join(TRIADS)}"
        )
    return correction


def _polynomial(rows: Rows, powers: list[np.ndarray]) -> np.ndarray:
    """Return the value of the temperature polynomial, (n, 3), or (3,) for a single temperature."""
    if not rows:
        return np.zeros(3)
    total = sum(power[:, None] * np.array(row) for row, power in zip(rows, powers))
    return total[0] if len(total) == 1 else total


_KEY_UNITS = {
    **dict.fromkeys(("bias", "bias_sigma"), "{0}"),
    **dict.fromkeys(("temperature_reference", "temperature_range"), "degC"),
    "temperature_bias": "{0}/K, {0}/K^2, ...",
    "temperature_scale_factor": "1/K, 1/K^2, ...",
}


def read_imu_correction(path: str | os.PathLike[str]) -> ImuCorrection:
    """Read an IMU correction from a file.

    Parameters
    ----------
    path : str or path
        YAML file.

    Returns
    -------
    ImuCorrection

    Raises
    ------
    ConfigurationError
        If the file cannot be read, or does not contain a correction.
    """
    return read_description(path, "the IMU's correction", correction_from_mapping)


def imu_correction_text(correction: ImuCorrection, comment: str = "") -> str:
    """Format an IMU correction as YAML with units; reading the text yields the same correction.

    Parameters
    ----------
    correction : ImuCorrection
        Correction to write.
    comment : str
        Comment at the top of the file.

    Returns
    -------
    str
    """
    content = to_mapping(correction)
    name = content.pop("name")

    def unit(part: str, key: str) -> str:
        return _KEY_UNITS.get(key, "").format(TRIADS[part].unit)

    return format_parts(name, content, unit, comment)
