"""A flight: states of the aircraft, and what is known of them beside."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from imu_simulation_framework.motion.flight.states import FlightStates


@dataclass(frozen=True)
class Flight:
    """What a source of flights delivers.

    Attributes
    ----------
    states : FlightStates
        Those of the aircraft's body; a simulator's origin is the centre of gravity.
    settings : dict
        What a person needs to have the same flight again: source, step, versions.
    events : tuple of (float, str)
        Time [s] and what happened: a script's events, an engine that stops.
    remarks : tuple of str
        What a person should know, a sentence each: it ended early, packets were lost.
    crashed : bool
        Whether the aircraft crashed; the states end there.
    """

    states: FlightStates
    settings: dict[str, Any] = field(default_factory=dict)
    events: tuple[tuple[float, str], ...] = ()
    remarks: tuple[str, ...] = ()
    crashed: bool = False
