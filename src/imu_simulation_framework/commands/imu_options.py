"""Select IMUs from command-line options: part, individual sensor, operation, environment."""

from __future__ import annotations

import argparse
import dataclasses
import math
from pathlib import Path
from typing import Any, NamedTuple, Sequence

from ..core.errors import ConfigurationError
from ..heading.model.parameters import is_yaw_error_model_file, read_yaw_error_model
from ..sensors.files import imu_catalogue
from ..sensors.formats.registry import NamedImu, named_imu
from ..sensors.imu_specification import ImuSpecification
from ..sensors.magnetism.environment import MagneticEnvironment, read_magnetic_environment
from ..sensors.measured import part_of
from ..sensors.operation import Operation
from .parsers.imu_options import HEADINGS


def operation_from_options(options: argparse.Namespace) -> Operation:
    """Return the warm-up, the standstill and the stops of the sensor that the options describe.

    Parameters
    ----------
    options : argparse.Namespace
        Options of a parser with :func:`.add_operation_options` and :func:`.add_motion_options`.

    Returns
    -------
    Operation

    Raises
    ------
    ConfigurationError
        The options are contradictory or invalid.
    """
    values = {"standstill": options.standstill, "stops": options.stops, "warm_up": options.warm_up}
    if options.flight is not None and options.standstill is None:
        values["standstill"] = 0.0  # a flight does not start with a stationary period
    return Operation(**{name: value for name, value in values.items() if value is not None})


def choose_imu(text: str) -> NamedImu:
    """Return the IMU that a command-line argument specifies.

    Parameters
    ----------
    text : str
        Name of a bundled specification, file of a specification or of an identified model,
        ``FORMAT:FILE`` for the parameters of another tool, or name of a plug-in's parameters.

    Returns
    -------
    NamedImu
        Errors of the IMU with its name.

    Raises
    ------
    ConfigurationError
        There is no such IMU, or its file is invalid.
    """
    if Path(text).is_file() and is_yaw_error_model_file(text):
        return NamedImu(Path(text).stem, read_yaw_error_model(text), (text,), ())
    return named_imu(text)


def bundled_parts() -> dict[str, ImuSpecification]:
    """Return the specification of an arbitrary sensor of each bundled part with tolerances.

    Returns
    -------
    dict of str to ImuSpecification
        Specifications by name.
    """
    bundled = (entry.specification for entry in imu_catalogue())
    return {imu.name: part_of(imu).specification for imu in bundled if imu.units.tolerances}


def choose_unit(imu: NamedImu, options: argparse.Namespace) -> NamedImu:
    """Choose between an arbitrary sensor of a part and the sensor measured for a specification.

    Parameters
    ----------
    imu : NamedImu
        Errors of the IMU with its name.
    options : argparse.Namespace
        Options of a parser with :func:`.add_operation_options`.

    Returns
    -------
    NamedImu
        Errors of the chosen sensor.

    Raises
    ------
    ConfigurationError
        ``--unit`` is stated for a plug-in, which has no individual sensors.
    """
    errors = imu.errors
    if not isinstance(errors, ImuSpecification):
        if options.unit is None:
            return imu
        raise ConfigurationError(
            f"--unit requires a specification, but {imu.name} is a plug-in model"
        )
    if options.unit == "this":
        return imu._replace(errors=errors.this_unit())
    is_bundled = not imu.files
    if errors.units.tolerances and is_bundled:
        part = part_of(errors)
        remarks = (*imu.remarks, part.sentence())
        return imu._replace(errors=part.specification, remarks=remarks, origins=part.origins)
    return imu if options.unit is None else imu._replace(errors=errors.any_unit())


class PlacedImu(NamedTuple):
    """IMU in a magnetic environment.

    Attributes
    ----------
    imu : NamedImu
        Errors of the IMU with its name.
    environment : MagneticEnvironment or None
        Environment; None if the yaw does not depend on it.
    """

    imu: NamedImu
    environment: MagneticEnvironment | None


def place_imus(imus: Sequence[NamedImu], options: argparse.Namespace) -> list[PlacedImu]:
    """Combine IMUs with the headings and magnetic environments specified on the command line.

    Parameters
    ----------
    imus : sequence of NamedImu
        Errors of the IMUs with their names.
    options : argparse.Namespace
        Options of a parser with :func:`.add_magnetic_options`.

    Returns
    -------
    list of PlacedImu
        Each IMU with each heading in each environment. An IMU without a magnetometer occurs only
        once, as does a heading that does not depend on the environment.

    Raises
    ------
    ConfigurationError
        An option requires a magnetometer and no IMU has one, an environment cannot be read, or the
        filter does not support the heading.
    """
    names, headings = list(options.magnetic_environment), list(options.heading)
    has_magnetometer = any(map(_has_magnetometer, imus))
    if (names or headings) and not has_magnetometer:
        raise ConfigurationError(
            "--magnetic-environment and --heading require an IMU with a magnetometer, such as "
            "bno055_magnetometer"
        )
    environments = [(name, read_magnetic_environment(name)) for name in names]
    if not environments and has_magnetometer:
        from ..drive.experiment.environment import UNDISTURBED

        environments = [("", read_magnetic_environment(UNDISTURBED))]
    placed = []
    for imu in imus:
        if not _has_magnetometer(imu):
            placed.append(PlacedImu(imu, None))
            continue
        for heading in headings or [""]:
            for name, environment in environments:
                placed.append(_placed_imu(imu, heading, name, environment))
                if placed[-1].environment is None:
                    break
    return placed


def _has_magnetometer(imu: NamedImu) -> bool:
    errors = imu.errors
    return isinstance(errors, ImuSpecification) and errors.magnetometer is not None


def _placed_imu(imu, heading, environment_name, environment) -> PlacedImu:
    output = imu.errors.output
    if heading:
        changes: dict[str, Any] = dict(HEADINGS[heading])
        if changes["magnetic_heading"]:
            east, north, _ = environment.undisturbed
            changes["magnetic_declination"] = math.atan2(east, north)
        output = dataclasses.replace(output, **changes)
    fuses = output.fuses_magnetometer
    name_parts = [imu.name, heading, Path(environment_name).stem if fuses else ""]
    name = ", ".join(filter(None, name_parts))
    has_file = environment_name and Path(environment_name).exists()
    files = (environment_name,) if has_file else ()
    errors = dataclasses.replace(imu.errors, name=name, output=output)
    imu = imu._replace(name=name, errors=errors, files=(*imu.files, *files))
    return PlacedImu(imu, environment if fuses else None)
