"""Validation of a configuration before an experiment starts."""

from __future__ import annotations

from ...core.errors import ConfigurationError
from ...core.units import WORLD_GRAVITY
from ..configuration import Configuration
from .environment import make_magnetic_environment, make_terrain
from .gnss_and_odometer import experiment_gnss, experiment_odometer
from .imu import describe_imu
from .robot import experiment_robot


def validate_experiment(configuration: Configuration) -> None:
    """Create robot, IMU, sensors and environment to detect errors before any node starts.

    Parameters
    ----------
    configuration : Configuration
        Configuration of the experiment.

    Raises
    ------
    ConfigurationError
        A component cannot be created, or a setting has no effect.
    """
    reject_settings_without_effect(configuration)
    describe_imu(configuration)
    make_terrain(configuration)
    make_magnetic_environment(configuration)
    experiment_gnss(configuration)
    experiment_odometer(configuration)
    experiment_robot(configuration)


def reject_settings_without_effect(configuration: Configuration) -> None:
    """Reject settings of the simulated world if the robot is in an external simulator.

    Parameters
    ----------
    configuration : Configuration
        Configuration of the experiment.

    Raises
    ------
    ConfigurationError
        A setting of terrain, speed or gravity differs from its default.
    """
    if configuration.simulation.simulator != "external":
        return
    is_changed = {
        "[terrain] kind": configuration.terrain.kind != "flat",
        "[simulation] real_time_factor": configuration.simulation.real_time_factor != 0.0,
        "[simulation] gravity": configuration.simulation.gravity != WORLD_GRAVITY,
    }
    for key, value_changed in is_changed.items():
        if value_changed:
            raise ConfigurationError(
                f"{key} has no effect with [simulation] simulator = external: the external "
                "simulator defines the world"
            )
