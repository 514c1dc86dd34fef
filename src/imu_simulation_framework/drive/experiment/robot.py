"""Robot and path follower of an experiment."""

from __future__ import annotations

from pathlib import Path

from ...core.files import DEFAULT_ROBOT
from ..configuration import Configuration
from ..configured_paths import robot_file
from ..robots.parameters import RobotParameters
from ..tracking.controllers import Follower, Reference, make_controller
from ..turning import load_robot_parameters


def experiment_robot(configuration: Configuration) -> RobotParameters:
    """Return the robot of section ``[robot]``, with its turning parameters in the simulator.

    Parameters
    ----------
    configuration : Configuration
        Configuration of the experiment.

    Returns
    -------
    RobotParameters

    Raises
    ------
    ConfigurationError
        The robot file is missing or invalid.
    """
    return load_robot_parameters(robot_file(configuration), configuration.simulation.simulator)


def robot_name(configuration: Configuration) -> str:
    """Return the file name of the robot's parameters, which names the robot in the summary.

    Parameters
    ----------
    configuration : Configuration
        Configuration of the experiment.

    Returns
    -------
    str
        File name, such as ``robot.yaml`` for the bundled robot.
    """
    return Path(configuration.robot.parameters or DEFAULT_ROBOT).name


def make_follower(configuration: Configuration, reference: Reference) -> Follower:
    """Create the path follower configured in section ``[control]``.

    Parameters
    ----------
    configuration : Configuration
        Configuration of the experiment.
    reference : Reference
        Reference with velocities.

    Returns
    -------
    Follower

    Raises
    ------
    ConfigurationError
        The robot file or a gain is invalid.
    """
    control, period = configuration.control, 1.0 / configuration.control.rate
    robot = experiment_robot(configuration)
    controller = make_controller(control.controller, control, period, robot)
    return Follower(reference, controller, period, robot.drivetrain)
