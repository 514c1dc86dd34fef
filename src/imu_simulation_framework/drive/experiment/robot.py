"""The robot of an experiment and its path follower."""

from __future__ import annotations

from ..configuration import Configuration
from ..robots.parameters import RobotParameters
from ..tracking.controllers import Follower, Reference, make_controller
from ..turning import load_robot_parameters


def experiment_robot(configuration: Configuration) -> RobotParameters:
    """Return the robot of section ``[robot]``, as it turns in the experiment's simulator.

    Parameters
    ----------
    configuration : Configuration
        Of the experiment.

    Returns
    -------
    RobotParameters

    Raises
    ------
    ConfigurationError
        The robot's file cannot be used.
    """
    return load_robot_parameters(
        configuration.robot.parameters or None, configuration.simulation.simulator
    )


def make_follower(configuration: Configuration, reference: Reference) -> Follower:
    """Make the path follower of section ``[control]``.

    Parameters
    ----------
    configuration : Configuration
        Of the experiment.
    reference : Reference
        Reference with velocities.

    Returns
    -------
    Follower

    Raises
    ------
    ConfigurationError
        The robot's file or a gain cannot be used.
    """
    control, period = configuration.control, 1.0 / configuration.control.rate
    robot = experiment_robot(configuration)
    controller = make_controller(control.controller, control, period, robot)
    return Follower(reference, controller, period, robot.drivetrain)
