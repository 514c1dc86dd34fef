"""Where a flight comes from: a script for JSBSim, its packets by UDP, or a recording."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.core.sentences import shown
from imu_simulation_framework.flight.jsbsim import RATE, bundled_scripts, fly
from imu_simulation_framework.flight.recording import read_flight
from imu_simulation_framework.flight.udp import PacketReceiver, receive_flight
from imu_simulation_framework.motion.flight import Flight

SILENCE = 30.0
_UDP = "udp:"


def find_flight(
    source: str | os.PathLike[str],
    duration: float = 200.0,
    rate: float = RATE,
    start: float = 0.0,
    silence: float = SILENCE,
) -> tuple[Flight, tuple[str, ...]]:
    """Return the flight that is meant, and what is to be said of it.

    ``source`` (str or path-like): a script of JSBSim's own by its name, as ``c3104``, the file of
    another one (``.xml``), a recorded flight, a table or a bag, or ``udp:`` and a port of this
    computer, to which a JSBSim that runs elsewhere on it sends. ``duration``: of the flight, from
    ``start`` on [s]. ``rate``: JSBSim's steps per second [Hz]; a recording has its own, and so have
    packets. ``start``: on the script's clock; after the beginning of a recording or of what was
    received [s]. ``silence``: so long without a packet is the end of what is received [s]. Raises
    SimulatorError if JSBSim cannot fly it, or nothing was received. Raises RecordingError if the
    recording cannot be read. Raises MotionError if a recording has nothing between start and end.
    Raises ConfigurationError if a number is out of range.
    """
    name = os.fspath(source)
    if name.startswith(_UDP) and not Path(name).exists():
        with PacketReceiver(_port(name)) as receiver:
            flight = receive_flight(receiver, start + duration, silence)
        return _cut(flight, start, duration), flight.remarks
    # A name without an ending that is no file is one of JSBSim's, which knows the near ones.
    scripted = Path(name).suffix == ".xml" or not (Path(name).exists() or Path(name).suffix)
    if scripted or name in bundled_scripts():
        flight = fly(name, duration, rate, start)
        return flight, flight.remarks
    recorded = read_flight(name)
    remarks = (*recorded.report.remarks, *recorded.flight.remarks)
    return _cut(recorded.flight, start, duration), remarks


def _cut(flight, start, duration):
    begin = float(flight.states.time[0]) + start
    return replace(flight, states=flight.states.between(begin, begin + duration))


def _port(name):
    number = name[len(_UDP) :]
    if not (number.isascii() and number.isdigit() and len(number) <= 5):
        raise ConfigurationError(f"{shown(name)} is no source of packets, expected udp:PORT")
    return int(number)
