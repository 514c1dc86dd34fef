"""From the word by which a person names an IMU to its errors."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from imu_simulation_framework.configuration.imu_specification_file import read_imu_specification
from imu_simulation_framework.errors import ConfigurationError
from imu_simulation_framework.imu_formats import FORMATS, read_imu_parameters
from imu_simulation_framework.sensors.imu_models import IMU_MODELS, PRESETS


class NamedImu(NamedTuple):
    """``name`` for a person; ``errors``, specification or a plug-in's parameters; ``remarks``."""

    name: str
    errors: object
    files: tuple[str, ...]
    remarks: tuple[str, ...]


def named_imu(text: str) -> NamedImu:
    """Return the IMU that a word means.

    Parameters
    ----------
    text : str
        The name of a bundled specification, a specification's file, ``FORMAT:FILE`` for the
        parameters of another tool, or the name of a plug-in's parameters.

    Raises
    ------
    ConfigurationError
        It is none of these, or its file is not what it must be.
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
        return NamedImu(specification.name, specification, (path,), tuple(reading.remarks))
    specification = read_imu_specification(text)
    files = (text,) if Path(text).exists() else ()
    return NamedImu(specification.name, specification, files, ())
