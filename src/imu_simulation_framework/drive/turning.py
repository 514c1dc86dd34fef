"""How a skid-steered robot turns, identified from turns in a simulator."""

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
"""Speed of the turns [m/s], if the robot is fast enough."""

YAW_RATES = (0.2, 0.4, 0.8)
"""Yaw rates that are commanded [rad/s]."""

TURN_STEPS = 400
"""Steps of the simulator in a turn, of which the first quarter is left out."""


def load_robot_parameters(path=None, simulator: str = "mujoco") -> RobotParameters:
    """Read a robot's parameters, and identify how it turns where its file does not say it.

    Parameters
    ----------
    path : str or Path, optional
        File of the robot, as for :func:`.read_robot`.
    simulator : str, optional
        Simulator in which the robot turns.

    Returns
    -------
    RobotParameters

    Raises
    ------
    ConfigurationError
        If the file is not that of a robot, or MuJoCo rejects its description.
    """
    parameters = read_robot(path, simulator)
    if not parameters.unknown_turning:
        return parameters
    # Imported here, since few robots need MuJoCo before they are driven.
    from .mujoco import MujocoSimulator

    return identify_turning(parameters, MujocoSimulator(parameters))


def identify_turning(parameters: RobotParameters, simulator) -> RobotParameters:
    """Return a robot's parameters with the half track and the sideslip of its turns.

    The half track fits the yaw rates of all turns by least squares. The sideslip grows faster than
    the yaw rate; its time is the median of the turns, since a slow turn tells nothing.

    Parameters
    ----------
    parameters : RobotParameters
        Parameters of a robot with a differential drivetrain.
    simulator : MujocoSimulator
        The robot in MuJoCo.

    Returns
    -------
    RobotParameters
        Without ``unknown_turning``.

    Raises
    ------
    ConfigurationError
        If the robot does not turn.
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
            f"{parameters.path}: the robot does not turn in MuJoCo when its wheels do; set "
            "turning_half_track, or the true contact.wheel_friction."
        )
    half_track_ratio = float(np.dot(YAW_RATES, rates) / np.dot(rates, rates))
    identified = {
        "half_track": half_track_ratio * drivetrain.half_track,
        "sideslip_time": float(np.clip(np.median(np.divide(sideslips, rates)), -1.0, 1.0)),
    }
    known: dict[str, Any] = {name: identified[name] for name in parameters.unknown_turning}
    return replace(parameters, drivetrain=replace(drivetrain, **known), unknown_turning=())
