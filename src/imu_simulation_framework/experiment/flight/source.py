"""Where a flight comes from: a script for JSBSim, or a recording."""

from __future__ import annotations

import os
from pathlib import Path

from imu_simulation_framework.flight_simulator.library import bundled_scripts
from imu_simulation_framework.flight_simulator.simulation import RATE, fly
from imu_simulation_framework.motion.flight.flight import Flight
from imu_simulation_framework.recordings.flight.reading import read_flight


def find_flight(
    source: str | os.PathLike[str],
    duration: float = 200.0,
    rate: float = RATE,
    start: float = 0.0,
) -> tuple[Flight, tuple[str, ...]]:
    """Return the flight that is meant, and what is to be said of it.

    Parameters
    ----------
    source : str or path-like
        A script of JSBSim's own by its name, as ``c3104``, the file of another one (``.xml``), or a
        recorded flight: a table or a bag.
    duration : float
        Of the flight, from ``start`` on [s].
    rate : float
        JSBSim's steps per second [Hz]; a recording has its own.
    start : float
        On the script's clock; after the beginning of a recording [s].

    Raises
    ------
    SimulatorError
        JSBSim cannot fly it.
    RecordingError
        The recording cannot be read.
    MotionError
        A recording has nothing between start and end.
    ConfigurationError
        A number is out of range.
    """
    name = os.fspath(source)
    # A name without an ending that is no file is one of JSBSim's, which knows the near ones.
    scripted = Path(name).suffix == ".xml" or not (Path(name).exists() or Path(name).suffix)
    if scripted or name in bundled_scripts():
        flight = fly(name, duration, rate, start)
        return flight, flight.remarks
    recorded = read_flight(name)
    flight = recorded.flight
    begin = float(flight.states.time[0]) + start
    states = flight.states.between(begin, begin + duration)
    cut = Flight(states, flight.settings, flight.events, flight.remarks, flight.crashed)
    return cut, (*recorded.report.remarks, *flight.remarks)
