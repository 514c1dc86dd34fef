"""What an experiment asks of a simulator, and one implementation for each simulator."""

from __future__ import annotations

import importlib

from imu_simulation_framework.core import topics
from imu_simulation_framework.drive.configuration import Configuration
from imu_simulation_framework.drive.from_configuration import (
    SPECIFICATION,
    make_experiment_imu,
    measures_magnetic_field,
)
from imu_simulation_framework.ros1.simulators.interface import SimulatorInterface

SIMULATOR_INTERFACES = {
    "mujoco": ("mujoco", "MujocoSimulatorInterface"),
    "gazebo": ("gazebo", "GazeboInterface"),
}
"""Name in config.ini -> module and class; imported only when it is used, since each simulator's
messages are only where that simulator is."""

LIFELESS = 3.0
"""Command time-outs without a sign of life, after which a node is given up: it may compute."""


def make_simulator_interface(configuration: Configuration) -> SimulatorInterface:
    """Return the interface of the simulator that the configuration names."""
    module, class_name = SIMULATOR_INTERFACES[configuration.simulation.simulator]
    simulator = getattr(importlib.import_module(f"{__package__}.{module}"), class_name)()
    simulator.silence = LIFELESS * configuration.simulation.command_timeout
    if needs_error_model(configuration, simulator):
        simulator.imu_topic = topics.IMU_IDEAL
    return simulator


def needs_error_model(configuration: Configuration, simulator: SimulatorInterface) -> bool:
    """Whether the simulator's IMU is an ideal one that imu_error_model turns into another."""
    return configuration.imu.model == SPECIFICATION and not simulator.applies_specification


def publishes_magnetic_field(configuration: Configuration, simulator: SimulatorInterface) -> bool:
    """Return whether there is a topic with what a magnetometer measures.

    A simulator with plug-ins of its own has none but that of a specification.
    """
    ours = simulator.applies_specification or needs_error_model(configuration, simulator)
    return ours and measures_magnetic_field(configuration)


def publishes_calibration(configuration: Configuration, simulator: SimulatorInterface) -> bool:
    """Return whether there is a topic on which a BNO055 says how far it is calibrated."""
    ours = simulator.applies_specification or needs_error_model(configuration, simulator)
    return ours and bool(make_experiment_imu(configuration).bno055_mode)
