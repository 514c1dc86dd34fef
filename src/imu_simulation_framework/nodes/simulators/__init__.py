"""What an experiment asks of a simulator, and one implementation for each simulator."""

from __future__ import annotations

from imu_simulation_framework.nodes.simulators.embedded import EmbeddedSimulatorInterface
from imu_simulation_framework.nodes.simulators.interface import SimulatorInterface

SIMULATOR_INTERFACES = {"embedded": EmbeddedSimulatorInterface}
"""Name in config.ini -> interface."""


def make_simulator_interface(name: str) -> SimulatorInterface:
    """The interface of the simulator called ``name`` in config.ini, section simulation."""
    return SIMULATOR_INTERFACES[name]()
