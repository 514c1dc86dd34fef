r"""The correction of readings by what a calibration found.

A triad that reads

.. math:: y = (I + M + \mathrm{diag}(\sum_k s_k \Delta T^k)) f + b + \sum_k c_k \Delta T^k

is corrected to the f that gives y, its errors are those of a :class:`.TriadSpecification`.

The keys of its YAML file are the fields of :class:`.ImuCorrection` and :class:`.TriadCorrection`,
where meaning and unit of each are documented::

    name: my_imu
    gyroscope:
      bias: [0.0021, -0.0008, 0.0004]                 # rad/s
      bias_sigma: [2.0e-5, 2.0e-5, 2.0e-5]            # rad/s
      scale_factor_and_misalignment: [[0.004, 0.0, 0.0], [0.0, -0.002, 0.0], [0.0, 0.0, 0.001]]
      temperature_bias: [[1.0e-5, 0.0, 2.0e-5]]       # rad/s/K; a second row would be rad/s/K^2
      temperature_reference: 25.0                     # degC

What is left out is not corrected.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Any, Mapping, Tuple

import numpy as np
from numpy.typing import ArrayLike

from ..core.errors import ConfigurationError
from ..core.settings import (
    Axes,
    Matrix,
    Settings,
    check_axes,
    check_matrix,
    check_numbers,
    declared,
    from_mapping,
    to_mapping,
)
from ..core.yaml_files import read_description
from .files import text_of_parts
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
_WORST_CONDITION = 100.0


def _rows(name: str, value: Any) -> Rows:
    if not isinstance(value, (list, tuple)) or len(value) > _MAX_POWERS:
        raise ConfigurationError(
            f"{name} must be at most {_MAX_POWERS} rows of three numbers, for the powers of the "
            "temperature's difference."
        )
    return tuple(check_axes(f"{name} {k + 1}", row) for k, row in enumerate(value))


def _checked_range(name: str, value: Any) -> tuple[float, float]:
    low, high = check_numbers(name, value, 2)
    if low <= high:
        return low, high
    raise ConfigurationError(
        f"{name} is {low:g} to {high:g}, but the first must not be the larger."
    )


@dataclass(frozen=True)
class TriadCorrection(Settings):
    """The errors of three sensors that are to be taken away, and how well they are known.

    ``bias`` (3,): b [rad/s; m/s^2; T]. ``scale_factor_and_misalignment`` (3, 3): M. Of both,
    ``..._sigma`` has the standard deviations, 0 where an element was not looked for.
    ``temperature_bias``, ``temperature_scale_factor`` (n, 3): c and s, a row for each power of the
    temperature's difference to ``temperature_reference`` [unit/K, ...; 1/K, ...; degC].
    ``temperature_range``: where the polynomials were found; a temperature beyond it counts as its
    end [degC]. Raises ConfigurationError: a value is not what it must be, or the matrix cannot be
    inverted, at any temperature.
    """

    bias: Axes = declared(_ZERO, check_axes)
    bias_sigma: Axes = declared(_ZERO, check_axes, minimum=0.0)
    scale_factor_and_misalignment: Matrix = declared(_ZERO_MATRIX, check_matrix)
    scale_factor_and_misalignment_sigma: Matrix = declared(_ZERO_MATRIX, check_matrix)
    temperature_bias: Rows = declared((), _rows)
    temperature_scale_factor: Rows = declared((), _rows)
    temperature_reference: float = declared(25.0)
    temperature_range: tuple[float, float] = declared((-273.15, 1000.0), _checked_range)

    def __post_init__(self) -> None:
        super().__post_init__()
        if np.linalg.cond(self.matrix) > _WORST_CONDITION:
            raise ConfigurationError(
                "scale_factor_and_misalignment cannot be inverted: what it makes of the truth "
                "does not tell the truth any more."
            )
        if not self.temperature_scale_factor:
            return
        temperatures = np.linspace(*self.temperature_range, 1001)
        scale = _polynomial(self.temperature_scale_factor, self._powers(temperatures))
        worst = np.linalg.cond(self.matrix + np.eye(3) * scale[..., None])
        if not worst.max() < _WORST_CONDITION:
            raise ConfigurationError(
                "temperature_scale_factor leaves next to nothing of the truth at "
                f"{temperatures[np.argmax(worst)]:g} degC, which is in temperature_range."
            )

    @property
    def matrix(self) -> np.ndarray:
        """I + M, shape (3, 3)."""
        return np.eye(3) + np.array(self.scale_factor_and_misalignment)

    @property
    def needs_temperature(self) -> bool:
        return bool(self.temperature_bias or self.temperature_scale_factor)

    def apply(self, readings: np.ndarray, temperature: ArrayLike | None = None) -> np.ndarray:
        """Return corrected readings (3,) or (n, 3), at a temperature, () or (n,) [degC].

        It is the reference's by default.
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
        """Return the covariance of corrected readings, (3, 3), of that of the readings."""
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
    """The corrections of an IMU's sensors."""

    name: str = declared("imu", checked_line, always=True)
    gyroscope: TriadCorrection = declared(TriadCorrection(), part=TriadCorrection)
    accelerometer: TriadCorrection = declared(TriadCorrection(), part=TriadCorrection)
    magnetometer: TriadCorrection = declared(TriadCorrection(), part=TriadCorrection)


def what_is_left(correction: ImuCorrection, noise: ImuSpecification, name: str) -> ImuSpecification:
    """Return the specification of a sensor that is corrected: its noise, and what stays unknown.

    Bias, scale factors and misalignments are drawn with the standard deviations that the
    calibration left, in place of the deterministic errors that ``noise`` states.
    """

    def left(triad: TriadSpecification, part: TriadCorrection) -> Any:
        found: dict[str, Any] = {}
        if any(part.bias_sigma):
            found.update(turn_on_bias=_ZERO, turn_on_bias_sigma=part.bias_sigma)
        if np.any(part.scale_factor_and_misalignment_sigma):
            found["scale_factor_and_misalignment"] = part.scale_factor_and_misalignment_sigma
        if part.temperature_bias:
            found["temperature_bias"] = _ZERO
        if part.temperature_scale_factor:
            found["temperature_scale_factor"] = _ZERO
        if found and isinstance(triad, MagnetometerSpecification):
            found.update(hard_iron=_ZERO, soft_iron=np.eye(3))
        return replace(triad, **found)

    magnetometer = noise.magnetometer
    parts = (correction.gyroscope, correction.accelerometer, correction.magnetometer)
    drawn = any(np.any(part.scale_factor_and_misalignment_sigma) for part in parts)
    return replace(
        noise,
        name=name,
        units=replace(noise.units, tolerances=drawn or noise.units.tolerances),
        gyroscope=left(noise.gyroscope, correction.gyroscope),
        accelerometer=left(noise.accelerometer, correction.accelerometer),
        magnetometer=magnetometer and left(magnetometer, correction.magnetometer),
    )


def correction_from_mapping(content: Mapping[str, Any]) -> ImuCorrection:
    """Return the correction of keys and values, of which a sensor must be one; or raise."""
    correction = from_mapping(ImuCorrection, content, "the correction")
    if not set(TRIADS) & set(content):
        raise ConfigurationError(f"the correction has none of {', '.join(TRIADS)}.")
    return correction


def _polynomial(rows: Rows, powers: list[np.ndarray]) -> np.ndarray:
    """Return the sum of the powers, shape (n, 3), or (3,) for one temperature."""
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
    """Read a correction; raises ConfigurationError if the file cannot be read, or is none."""
    return read_description(path, "the IMU's correction", correction_from_mapping)


def imu_correction_text(correction: ImuCorrection, comment: str = "") -> str:
    """Return a correction as YAML, with units; it reads back equal."""
    content = to_mapping(correction)
    name = content.pop("name")

    def unit(part: str, key: str) -> str:
        return _KEY_UNITS.get(key, "").format(TRIADS[part].unit)

    return text_of_parts(name, content, unit, comment)
