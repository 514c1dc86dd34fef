"""Robot files with parameters, and the URDF that is generated from them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from ...core.checks import check_text
from ...core.errors import ConfigurationError
from ...core.files import DEFAULT_ROBOT, urdf_path
from ...core.xacro_expansion import expand_xacro
from ...core.yaml_files import read_yaml
from .bundled import bundled_robot
from .parameters import RobotParameters


def read_robot(path=None, simulator: str = "mujoco") -> RobotParameters:
    """Read the parameters of a robot from its file.

    Parameters
    ----------
    path : str or Path, optional
        YAML file with the keys of urdf/robot.yaml, which is the default file, or with the keys of
        :class:`.OwnRobot`. The key ``like`` names another robot file, from which missing keys are
        taken. A robot with several wheels on each side, such as urdf/robot_four_wheels.yaml, need
        not have casters.
    simulator : str, optional
        Simulator, which determines how the robot turns: wheels slide differently in Gazebo and in
        MuJoCo.

    Returns
    -------
    RobotParameters
        Parameters; drivetrain fields in ``unknown_turning`` are still to be identified.

    Raises
    ------
    ConfigurationError
        The file cannot be read, a key is missing or unknown, or a value is not possible for a
        robot.
    """
    path = urdf_path(DEFAULT_ROBOT) if path is None else Path(os.path.abspath(path))
    content = _completed(read_yaml(path, "the robot's parameters"), path)
    if isinstance(content, Mapping) and "description" in content:
        # The import is local, because it requires SciPy, which bundled robots do not need.
        from .own_robot import own_robot

        parameters = own_robot(path, content, simulator)
    else:
        parameters = bundled_robot(path, content, simulator)
    delay = parameters.motors.command_delay
    if simulator == "gazebo" and delay > 0.0:
        raise ConfigurationError(
            f"{path}: drive.command_delay is {delay:g} s, expected 0 with Gazebo, whose "
            "controllers have no delay"
        )
    return parameters


def _completed(content, path, likes=()):
    """Return the content of a robot file; read missing keys from the file in its key ``like``.

    ``likes`` are the files that refer to this file, directly or indirectly.
    """
    if not isinstance(content, dict) or "like" not in content:
        return content
    named = check_text(f"{path}: like", content.pop("like"), needed=True)
    other = Path(os.path.abspath(path.parent / named))
    if other in likes:
        raise ConfigurationError(
            f"{path}: the key like refers to {named}, which refers back to this file"
        )
    inherited = _completed(
        read_yaml(other, "the robot file in the key like"), other, (*likes, path)
    )
    completed = dict(inherited) if isinstance(inherited, dict) else {}
    if isinstance(completed.get("description"), str):
        completed["description"] = str(other.parent / completed["description"])
    for section, values in content.items():
        former = completed.get(section)
        both = isinstance(former, dict) and isinstance(values, dict)
        completed[section] = _present({**former, **values}) if both else values
    return _present(completed)


def _present(values):
    """Return the items whose values are not None."""
    return {key: value for key, value in values.items() if value is not None}


def robot_description(parameters: RobotParameters, **arguments) -> str:
    """Return the URDF of the robot.

    Parameters
    ----------
    parameters : RobotParameters
        Parameters and description of the robot.
    **arguments
        Arguments of robot.xacro.

    Returns
    -------
    str
    """
    if parameters.description and arguments.pop("simulator", "") == "gazebo":
        # The import is local, because it requires SciPy.
        from .gazebo_description import description_in_gazebo

        return description_in_gazebo(parameters, **arguments)
    if parameters.description:
        return parameters.description
    # Checked numbers are passed instead of the file, so that no user text is evaluated by xacro.
    return expand_xacro(urdf_path("robot.xacro"), {"robot": parameters.numbers, **arguments})
