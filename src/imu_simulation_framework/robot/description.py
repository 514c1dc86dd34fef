"""The robot's URDF from its xacro."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Mapping
from xml.parsers.expat import ExpatError

from imu_simulation_framework.errors import ConfigurationError
from imu_simulation_framework.extras import required
from imu_simulation_framework.files.locations import urdf_path
from imu_simulation_framework.robot.parameters import RobotParameters


def expand_xacro(path, arguments: Mapping[str, Any] | None = None) -> str:
    """Return the URDF that a xacro file describes.

    Parameters
    ----------
    path : str or Path
        The xacro file.
    arguments : mapping, optional
        Values of its ``xacro:arg``. A mapping stays one, for ``xacro.arg(...)``; anything else
        becomes text, as on the command line.

    Raises
    ------
    ConfigurationError
        The file cannot be read or evaluated, or xacro is not installed.
    """
    mappings = {
        name: value if isinstance(value, Mapping) else str(value)
        for name, value in (arguments or {}).items()
    }
    xacro = required("xacro", "the robot's description")
    try:
        document = xacro.process_file(str(Path(path).resolve()), mappings=mappings)
    except (xacro.XacroException, ExpatError, OSError) as error:
        raise ConfigurationError(
            f"{path}: the robot's description cannot be expanded: {error}."
        ) from error
    return document.toxml()


def robot_description(parameters: RobotParameters, **arguments) -> str:
    """Return the URDF of the bundled robot with these parameters.

    Parameters
    ----------
    parameters : RobotParameters
    **arguments
        Of urdf/robot.xacro.
    """
    # Numbers, not the name of their file: nothing that a person wrote gets near an expression.
    return expand_xacro(urdf_path("robot.xacro"), {"robot": parameters.numbers, **arguments})
