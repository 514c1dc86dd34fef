"""Corrections of an IMU as YAML files.

The keys are the fields of :class:`.ImuCorrection` and :class:`.TriadCorrection`, where meaning and
unit of each are documented::

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

import yaml

from imu_simulation_framework.characterisation.calibration.correction import (
    ImuCorrection,
    correction_from_mapping,
)
from imu_simulation_framework.core.settings import to_mapping
from imu_simulation_framework.core.yaml_files import read_described

_UNITS = {"gyroscope": "rad/s", "accelerometer": "m/s^2", "magnetometer": "T"}


def read_imu_correction(path: str | os.PathLike[str]) -> ImuCorrection:
    """Read a correction.

    Raises
    ------
    ConfigurationError
        The file cannot be read, has an unknown key, or a value is not what it must be.
    """
    return read_described(path, "the IMU's correction", correction_from_mapping)


def imu_correction_text(correction: ImuCorrection, comment: str = "") -> str:
    """Return a correction as YAML, with units; it reads back equal."""
    content = to_mapping(correction)
    lines = [f"# {line}".rstrip() for line in comment.splitlines()]
    lines.append(yaml.safe_dump({"name": content.pop("name")}, width=10**6).strip())
    for part, values in content.items():
        lines.append(f"{part}:")
        for key, value in values.items():
            unit = _unit(part, key)
            lines.append(f"  {key}: {_text(value)}" + (f"  # {unit}" if unit else ""))
    return "\n".join(lines) + "\n"


def _text(value) -> str:
    return "[" + ", ".join(map(_text, value)) + "]" if isinstance(value, list) else repr(value)


def _unit(part, key) -> str:
    if key.startswith("bias"):
        return _UNITS[part]
    if key in ("temperature_reference", "temperature_range"):
        return "degC"
    if key == "temperature_bias":
        return f"{_UNITS[part]}/K, {_UNITS[part]}/K^2, ..."
    return "1/K, 1/K^2, ..." if key == "temperature_scale_factor" else ""
