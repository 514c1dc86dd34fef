"""Identification of the effective track width and the sideslip of a skid-steered robot."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from ..core.errors import ConfigurationError
from .drivetrain import DifferentialDrivetrain
from .robots.files import read_robot
from .robots.parameters import RobotParameters

SPEED = 0.5
"""Speed in the turns [m/s]; for a slow robot, half its maximum speed is used."""

YAW_RATES = (0.2, 0.4, 0.8)
"""Yaw rates commanded in the turns [rad/s]."""

TURN_STEPS = 400
"""Number of simulator steps per turn; the first quarter is not evaluated."""


def load_robot_parameters(path=None, simulator: str = "mujoco") -> RobotParameters:
    """Read the parameters of a robot, and identify missing turning parameters in the simulator.

    Parameters
    ----------
    path : str or Path, optional
        File of the robot, see :func:`.read_robot`.
    simulator : str, optional
        Simulator, which determines how the robot turns.

    Returns
    -------
    RobotParameters

    Raises
    ------
    ConfigurationError
        The file is invalid, or MuJoCo rejects the description.
    """
    parameters = read_robot(path, simulator)
    if not parameters.unknown_turning:
        return parameters
    # The import is local, because few robots need MuJoCo at this point.
    from .mujoco import MujocoSimulator

    return identify_turning(parameters, MujocoSimulator(parameters))


def identify_turning(parameters: RobotParameters, simulator) -> RobotParameters:
    """Identify the effective track width and the sideslip of a robot from turns.

    The track width is fitted to the yaw rates of all turns by least squares. The sideslip increases
    faster than the yaw rate; the sideslip time is the median over the turns, because slow turns are
    not informative.

    Parameters
    ----------
    parameters : RobotParameters
        Parameters of a robot with a differential drivetrain.
    simulator : MujocoSimulator
        Simulator of this robot.

    Returns
    -------
    RobotParameters
        Parameters with the identified values.

    Raises
    ------
    ConfigurationError
        The robot does not turn.
    """
    drivetrain = parameters.drivetrain
    assert isinstance(drivetrain, DifferentialDrivetrain)
    speed = min(SPEED, 0.5 * drivetrain.rim_velocity)
    turns = []
    for yaw_rate in YAW_RATES:
        simulator.reset()
        simulator.command(*drivetrain.inverse(speed, yaw_rate))
        states = simulator.steps(TURN_STEPS)
        steady = slice(TURN_STEPS // 4, None)
        v_x, v_y, _ = states.linear_velocity[steady].mean(axis=0)
        turns.append((float(states.angular_velocity[steady, 2].mean()), -math.atan2(v_y, v_x)))
    rates, sideslips = zip(*turns)
    if min(rates) <= 0.0:
        raise ConfigurationError(
            f"{parameters.path}: the robot in MuJoCo did not turn left although its wheels were "
            "driven for a left turn; set turning_half_track, or the true contact.wheel_friction"
        )
    half_track_ratio = float(np.dot(YAW_RATES, rates) / np.dot(rates, rates))
    identified = {
        "half_track": half_track_ratio * drivetrain.half_track,
        "sideslip_time": float(np.clip(np.median(np.divide(sideslips, rates)), -1.0, 1.0)),
    }
    identified_turning: dict[str, Any] = {
        name: identified[name] for name in parameters.unknown_turning
    }
    return replace(
        parameters, drivetrain=replace(drivetrain, **identified_turning), unknown_turning=()
    )
