"""From the word by which a person names an IMU to its errors."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.sensors.files import read_imu_specification
from imu_simulation_framework.sensors.formats.registry import FORMATS, read_imu_parameters
from imu_simulation_framework.sensors.imu_models.registry import IMU_MODELS, PRESETS
from imu_simulation_framework.sensors.imu_specification import ImuSpecification


class NamedImu(NamedTuple):
    """``name`` for a person; ``errors``, specification or a plug-in's parameters; ``remarks``."""

    name: str
    errors: object
    files: tuple[str, ...]
    remarks: tuple[str, ...]


def named_imu(text: str) -> NamedImu:
    """Return the IMU that a word means.

    Raises :class:`.ConfigurationError`: it is none of these, or its file is not what it must be.

    ``text``: the name of a bundled specification, a specification's file, ``FORMAT:FILE`` for the
    parameters of another tool, or the name of a plug-in's parameters.
    """
    if text in PRESETS and not Path(text).exists():
        preset = PRESETS[text]
        if preset.model == "specification":
            raise ConfigurationError(
                f"the IMU {text} needs a specification; name its file, or a bundled one as bno055"
            )
        return NamedImu(text, IMU_MODELS[preset.model].parameters(**preset.parameters), (), ())
    format_name, colon, path = text.partition(":")
    if colon and format_name in FORMATS and not Path(text).exists():
        reading = read_imu_parameters(path, format_name)
        specification = reading.specification
        if specification.name == ImuSpecification().name:
            # Most formats have no name; several such files shall be distinguished.
            specification = replace(specification, name=Path(path).stem)
        return _of_specification(specification, (path,), reading.remarks)
    specification = read_imu_specification(text)
    return _of_specification(specification, (text,) if Path(text).exists() else (), [])


def _of_specification(specification, files, remarks):
    name = specification.name
    if specification.output.orientation_reference == "truth":
        remarks = [
            *remarks,
            f"{name} gives out the true orientation, as simulators' IMUs do, so that its heading "
            "has no error; output.orientation_reference: fusion in a specification is what its "
            "gyroscope would make of it",
        ]
    return NamedImu(name, specification, files, tuple(remarks))
