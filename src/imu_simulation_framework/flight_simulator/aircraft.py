"""What is read of JSBSim in flight: states in every step, engines and contacts now and then."""

from __future__ import annotations

import math
from typing import Any

FOOT = 0.3048
"""[m]"""

STATES = (
    "position/ecef-x-ft",
    "position/ecef-y-ft",
    "position/ecef-z-ft",
    "velocities/v-north-fps",
    "velocities/v-east-fps",
    "velocities/v-down-fps",
    "attitude/phi-rad",
    "attitude/theta-rad",
    "attitude/psi-rad",
    "gear/wow",
)
"""Read in every step. Its positions in ECEF are what it integrates; its geodetic ones are off by
tenths of a millimetre."""

SCRAPING = 10.0
"""Over ground [m/s]: what touches it faster with another part than a wheel has crashed."""

_SUNK = 1.0
"""Depth [m] of the centre of gravity below the ground: seaplanes float with theirs near it."""

_MOST_PARTS = 64


class Watch:
    """Tells of an aircraft in flight what no state shows: engines that stop, and a crash.

    Parameters
    ----------
    simulator : jsbsim.FGFDMExec
        After its initial conditions were set.
    """

    def __init__(self, simulator: Any) -> None:
        manager = simulator.get_property_manager()
        self._height = manager.get_node("position/h-agl-ft").get_double_value
        self._speed = manager.get_node("velocities/vg-fps").get_double_value
        self._engines = _nodes(manager, "propulsion/engine[{}]/set-running", range(_MOST_PARTS))
        self._parts = _nodes(manager, "contact/unit[{}]/WOW", range(_MOST_PARTS))
        self._ran = [False] * len(self._engines)

    def engines(self) -> list[str]:
        """Return what happened to the engines since it was asked last."""
        runs = [engine() != 0.0 for engine in self._engines]
        happened = [
            f"engine {number} {'runs' if now else 'stops'}"
            for number, (before, now) in enumerate(zip(self._ran, runs), start=1)
            if now != before
        ]
        self._ran = runs
        return happened

    def crash(self) -> str:
        """Return how it crashed, as half a sentence; empty while it has not."""
        height, speed = FOOT * self._height(), FOOT * self._speed()
        if not (math.isfinite(height) and math.isfinite(speed)):
            return "its state is not finite any more"
        if height < -_SUNK:
            return f"its centre of gravity is {-height:.1f} m below the ground"
        if speed > SCRAPING and any(part() != 0.0 for part in self._parts):
            return f"it touches the ground with another part than a wheel, at {speed:.0f} m/s"
        return ""


def _nodes(manager, name, numbers):
    """Return functions that read the properties of a row of parts, as many as there are."""
    found = []
    for number in numbers:
        if manager.hasNode(name.format(number)):
            found.append(manager.get_node(name.format(number)).get_double_value)
    return found
