"""IMU parameters in the formats of other tools, each converted to and from a specification.

Each module documents its format: tags, units, what they mean, and the source. Reading gives an
:class:`imu_simulation_framework.core.imu_specification.ImuSpecification` and notes on what did not
fit into it; writing gives a text and a list of what the format cannot say.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable

from imu_simulation_framework.core.imu_specification import ImuSpecification
from imu_simulation_framework.errors import ConfigurationError
from imu_simulation_framework.files.imu_formats import (
    datasheet,
    hector,
    kalibr,
    rotors,
    sdf,
    specification,
    unity,
)
from imu_simulation_framework.files.imu_formats.base import (
    NO_OPTIONS,
    Reading,
    WriteOptions,
    Writing,
)

__all__ = [
    "FORMATS",
    "Format",
    "Reading",
    "WriteOptions",
    "Writing",
    "read_imu_parameters",
    "write_imu_parameters",
]


@dataclass(frozen=True)
class Format:
    """A format of IMU parameters.

    Parameters
    ----------
    description : str
    read : callable
        ``read(path, rate) -> Reading``
    write : callable
        ``write(specification, rate, options) -> Writing``
    options : tuple of str
        Which fields of :class:`WriteOptions` have a meaning in it.
    """

    description: str
    read: Callable[..., Reading]
    write: Callable[..., Writing]
    options: tuple[str, ...] = ()


FORMATS = {
    "specification": Format(
        "our own YAML, which can say everything", specification.read, specification.write
    ),
    "kalibr": Format("Kalibr's imu.yaml", kalibr.read, kalibr.write),
    "sdf": Format(
        'noise of an SDF <sensor type="imu">, for new Gazebo and classic Gazebo 11',
        sdf.read,
        sdf.write,
        ("random_walk_time",),
    ),
    "hector": Format(
        "Hector's Gazebo plug-in", hector.read, hector.write, ("random_walk_time", "yaw_drift")
    ),
    "rotors": Format(
        "the Gazebo plug-in of RotorS and PX4", rotors.read, rotors.write, ("random_walk_time",)
    ),
    "unity": Format("Unity's sensor XML", unity.read, unity.write, ("random_walk_time",)),
    "datasheet": Format(
        "YAML form for a datasheet's numbers in its own units", datasheet.read, datasheet.write
    ),
}


def read_imu_parameters(path, format_name: str, rate: float | None = None) -> Reading:
    """Read IMU parameters in one of the formats.

    Parameters
    ----------
    path : str or Path
    format_name : str
        A key of ``FORMATS``.
    rate : float, optional
        The samples' rate where the file does not state it [Hz].

    Raises
    ------
    ConfigurationError
        The format is unknown, or the file is not what the format asks for.
    """
    return _format(format_name).read(path, rate)


def write_imu_parameters(
    values: ImuSpecification,
    format_name: str,
    rate: float | None = None,
    options: WriteOptions = NO_OPTIONS,
) -> Writing:
    """Return the text of a file in one of the formats.

    Parameters
    ----------
    values : ImuSpecification
    format_name : str
        A key of ``FORMATS``.
    rate : float, optional
        Rate of the samples for which it is written [Hz]; by default the specification's.
    options : WriteOptions

    Raises
    ------
    ConfigurationError
        The format is unknown, has no use for an option, or needs something that the
        specification does not have.
    """
    target = _format(format_name)
    for name in WriteOptions._fields:
        if getattr(options, name) is not None and name not in target.options:
            raise ConfigurationError(
                f"The format {format_name} has no use for {name.replace('_', ' ')}."
            )
    return target.write(values, values.output.rate if rate is None else rate, options)


def _format(name):
    if name not in FORMATS:
        raise ConfigurationError(f"There is no format {name!r}; there are {', '.join(FORMATS)}.")
    return FORMATS[name]
