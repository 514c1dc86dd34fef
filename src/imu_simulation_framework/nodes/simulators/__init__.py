"""What an experiment asks of a simulator, and one implementation for each simulator."""

from __future__ import annotations

import importlib

from imu_simulation_framework.nodes.simulators.interface import SimulatorInterface

SIMULATOR_INTERFACES = {
    "embedded": ("embedded", "EmbeddedSimulatorInterface"),
    "gazebo": ("gazebo", "GazeboInterface"),
}
"""Name in config.ini -> module and class; imported only when it is used, since each simulator's
messages are only where that simulator is."""


def make_simulator_interface(name: str) -> SimulatorInterface:
    """The interface of the simulator called ``name`` in config.ini, section simulation."""
    module, class_name = SIMULATOR_INTERFACES[name]
    return getattr(importlib.import_module(f"{__name__}.{module}"), class_name)()
