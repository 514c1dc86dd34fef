"""Options for the IMUs of a heading program: IMU, unit, operation and magnetic environment."""

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
from .option_types import duration, positive_angle


def add_operation_options(parser: argparse.ArgumentParser) -> None:
    """Add the use of the sensor, and the unit of a part.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        Parser of a program.
    """
    add = parser.add_argument
    # fmt: off
    add("--standstill", type=duration, metavar="TIME",
        help="standstill before the drive, in which the gyroscope's bias is measured, by default "
             "10s, before a flight 0; 0: the bias is not measured")
    add("--stops", metavar="WHICH",
        help="stops on the way, at which the bias is measured again and the heading held: none "
             "(default), found (in the motion), detected (by the sensor's samples), or as 'every "
             "2min for 3s', with ', detected' if the sensor has to detect them")
    add("--warm-up", type=duration, metavar="TIME",
        help="time from power-on to the standstill, with its change of temperature, by default 0")
    add("--unit", choices=("any", "this"),
        help="any unit of a part, with its tolerances, or the unit that has the values of the "
             "file; by default any for bundled parts, and otherwise as stated in the file")
    # fmt: on


def operation_from_options(options: argparse.Namespace) -> Operation:
    """Return the use of the sensor.

    Parameters
    ----------
    options : argparse.Namespace
        Options of a parser with :func:`add_operation_options` and :func:`.add_motion_options`.

    Returns
    -------
    Operation

    Raises
    ------
    ConfigurationError
        If the sensor cannot be used so.
    """
    values = {"standstill": options.standstill, "stops": options.stops, "warm_up": options.warm_up}
    if options.flight is not None and options.standstill is None:
        values["standstill"] = 0.0  # it begins in the air
    return Operation(**{name: value for name, value in values.items() if value is not None})


def add_limit_option(parser: argparse.ArgumentParser, words: str) -> None:
    """Add the option ``--within``, an angle.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        Parser of a program.
    words : str
        Meaning of the angle, for its help.
    """
    parser.add_argument(
        "--within", type=positive_angle, default=math.radians(5.0), metavar="ANGLE",
        help=f"{words}, by default 5deg",
    )  # fmt: skip


def choose_imu(text: str) -> NamedImu:
    """Return the IMU that a word of a command line names.

    Parameters
    ----------
    text : str
        Name of a bundled specification, file of a specification or of an identified model,
        ``FORMAT:FILE`` for the parameters of another tool, or name of a plug-in's parameters.

    Returns
    -------
    NamedImu
        The IMU.

    Raises
    ------
    ConfigurationError
        If there is no such IMU, or its file is invalid.
    """
    if Path(text).is_file() and is_yaw_error_model_file(text):
        return NamedImu(Path(text).stem, read_yaw_error_model(text), (text,), ())
    return named_imu(text)


def bundled_parts() -> dict[str, ImuSpecification]:
    """Return the bundled IMUs whose files state tolerances, as any unit of the part.

    Returns
    -------
    dict of str to ImuSpecification
        Specifications by name.
    """
    bundled = (entry.specification for entry in imu_catalogue())
    return {imu.name: part_of(imu).specification for imu in bundled if imu.units.tolerances}


def choose_unit(imu: NamedImu, options: argparse.Namespace) -> NamedImu:
    """Return an IMU as any unit of its part, or as the unit of its file.

    Parameters
    ----------
    imu : NamedImu
        Errors of the IMU with its name.
    options : argparse.Namespace
        Options of a parser with :func:`add_operation_options`.

    Returns
    -------
    NamedImu

    Raises
    ------
    ConfigurationError
        If a unit is chosen for a plug-in, which has none.
    """
    errors = imu.errors
    if not isinstance(errors, ImuSpecification):
        if options.unit is None:
            return imu
        raise ConfigurationError(f"--unit is for specifications, but {imu.name} is a plug-in")
    if options.unit == "this":
        return imu._replace(errors=errors.this_unit())
    is_bundled = not imu.files
    if errors.units.tolerances and is_bundled:
        part = part_of(errors)
        remarks = (*imu.remarks, part.sentence())
        return imu._replace(errors=part.specification, remarks=remarks, origins=part.origins)
    return imu if options.unit is None else imu._replace(errors=errors.any_unit())


HEADINGS = {
    "gyroscope": {"magnetic_heading": False, "magnetic_disturbance_rejection": False},
    "magnetometer": {"magnetic_heading": True, "magnetic_disturbance_rejection": False},
    "rejecting": {"magnetic_heading": True, "magnetic_disturbance_rejection": True},
}
"""Sources of the yaw of a sensor with a magnetometer, and the fields of its output."""


class PlacedImu(NamedTuple):
    """An IMU and its magnetic environment.

    Attributes
    ----------
    imu : NamedImu
        Errors of the IMU with its name.
    environment : MagneticEnvironment or None
        None if the yaw does not depend on it.
    """

    imu: NamedImu
    environment: MagneticEnvironment | None


def add_magnetic_options(parser: argparse.ArgumentParser, several: bool = True) -> None:
    """Add magnetic environments and headings, which :func:`place_imus` reads.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        Parser of a program.
    several : bool, optional
        Whether each option takes several values.
    """
    count = "+" if several else 1
    each = "; several are combined" if several else ""
    parser.add_argument(
        "--magnetic-environment", nargs=count, default=[], metavar="NAME",
        help="magnetic environment: clean, steel_beam or a YAML file; by default clean, if the yaw "
        f"depends on it{each}",
    )  # fmt: skip
    parser.add_argument(
        "--heading", nargs=count, choices=HEADINGS, default=[],
        help="source of the yaw of a sensor with a magnetometer and known declination: gyroscope, "
        "magnetometer, or rejecting, without disturbed readings; by default that of the "
        f"specification{each}",
    )  # fmt: skip


def place_imus(imus: Sequence[NamedImu], options: argparse.Namespace) -> list[PlacedImu]:
    """Combine IMUs with the headings and the magnetic environments that a command line names.

    Parameters
    ----------
    imus : sequence of NamedImu
        Errors of the IMUs with their names.
    options : argparse.Namespace
        Options of a parser with :func:`add_magnetic_options`.

    Returns
    -------
    list of PlacedImu
        Each IMU with each heading in each environment. An IMU without a magnetometer is there
        once, and so is a heading that does not depend on the environment.

    Raises
    ------
    ConfigurationError
        If no IMU has a magnetometer to choose for, an environment cannot be read, or a filter does
        not have the heading.
    """
    names, headings = list(options.magnetic_environment), list(options.heading)
    has_magnetometer = any(map(_has_magnetometer, imus))
    if (names or headings) and not has_magnetometer:
        raise ConfigurationError(
            "--magnetic-environment and --heading require an IMU with a magnetometer, as "
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
    words = [imu.name, heading, Path(environment_name).stem if fuses else ""]
    name = ", ".join(filter(None, words))
    has_file = environment_name and Path(environment_name).exists()
    files = (environment_name,) if has_file else ()
    errors = dataclasses.replace(imu.errors, name=name, output=output)
    imu = imu._replace(name=name, errors=errors, files=(*imu.files, *files))
    return PlacedImu(imu, environment if fuses else None)
