"""The synthetic drives that come with the package.

A drive is a sequence of manoeuvres of a differential-drive robot. A drive of closed laps
repeats its lap exactly; only the sensors' errors differ from lap to lap.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from imu_simulation_framework.errors import ConfigurationError
from imu_simulation_framework.motion.drive_motion import Manoeuvre


@dataclass(frozen=True)
class Drive:
    """A synthetic drive.

    Parameters
    ----------
    name : str
        One letter.
    description : str
    lap_duration : float
        Time for one lap, beginning and ending at rest [s].
    laps : int
        How many are driven.
    seed : int
        Of all random numbers of this drive.
    lap : tuple of Manoeuvre
        One lap as drawn; its last manoeuvre but those for closing is followed by rest until
        `lap_duration`. Empty: a random drive, see :func:`.drive_motion.random_lap`.
    closing : tuple of int
        Indices of two straights at constant speed whose durations are set so that the lap
        ends where it began; empty for a drive that is not closed.
    """

    name: str
    description: str
    lap_duration: float
    laps: int
    seed: int
    lap: tuple = ()
    closing: tuple = ()

    @property
    def duration(self):
        """Time for all laps [s]."""
        return self.laps * self.lap_duration


def _deg(angle):
    return math.radians(angle)


DRIVES = {
    "a": Drive(
        "a",
        "a closed loop of a minute, driven eleven times: bends, an S, a sharp turn, a stop with "
        "a turn on the spot",
        lap_duration=60.0,
        laps=11,
        seed=1,
        lap=(
            Manoeuvre(1.0, 0.0),
            Manoeuvre(3.0, 0.9),
            Manoeuvre(0.0, 0.9),
            Manoeuvre(1.5, 0.7),
            Manoeuvre(3.5, 0.7, _deg(90)),
            Manoeuvre(1.5, 1.0),
            Manoeuvre(3.0, 1.0, _deg(40)),
            Manoeuvre(3.0, 1.0, _deg(-40)),
            Manoeuvre(0.0, 1.0),
            Manoeuvre(1.5, 0.5),
            Manoeuvre(3.5, 0.5, _deg(135)),
            Manoeuvre(1.5, 0.8),
            Manoeuvre(2.5, 0.8),
            Manoeuvre(1.5, 0.0),
            Manoeuvre(1.5, 0.0),
            Manoeuvre(2.5, 0.0, _deg(-60)),
            Manoeuvre(0.5, 0.0),
            Manoeuvre(1.5, 0.8),
            Manoeuvre(2.0, 0.8),
            Manoeuvre(4.0, 0.8, _deg(105)),
            Manoeuvre(9.0, 0.8),
            Manoeuvre(3.5, 0.8, _deg(90)),
            Manoeuvre(2.0, 0.0),
        ),
        closing=(2, 8),
    ),
    "b": Drive(
        "b",
        "ten minutes without repetition: bends, stops, turns on the spot, reversing",
        lap_duration=600.0,
        laps=1,
        seed=2,
    ),
    "c": Drive(
        "c",
        "a figure of eight of forty seconds, driven fifteen times: as many turns to the left as "
        "to the right",
        lap_duration=40.0,
        laps=15,
        seed=3,
        lap=(
            Manoeuvre(1.0, 0.0),
            Manoeuvre(2.5, 0.9),
            Manoeuvre(0.0, 0.9),
            Manoeuvre(13.0, 0.9, _deg(230)),
            Manoeuvre(0.0, 0.9),
            Manoeuvre(13.0, 0.9, _deg(-230)),
            Manoeuvre(2.5, 0.0),
        ),
        closing=(2, 4),
    ),
    "d": Drive(
        "d",
        "a rectangle of seventy-five seconds, driven clockwise eight times: turns on the spot at "
        "its corners, and a side driven backwards",
        lap_duration=75.0,
        laps=8,
        seed=4,
        lap=(
            Manoeuvre(1.0, 0.0),
            Manoeuvre(2.0, 0.8),
            Manoeuvre(9.0, 0.8),
            Manoeuvre(2.0, 0.0),
            Manoeuvre(1.0, 0.0),
            Manoeuvre(3.0, 0.0, _deg(-90)),
            Manoeuvre(2.0, 0.8),
            Manoeuvre(5.0, 0.8),
            Manoeuvre(2.0, 0.0),
            Manoeuvre(1.0, 0.0),
            Manoeuvre(3.0, 0.0, _deg(90)),
            Manoeuvre(2.0, -0.5),
            Manoeuvre(0.0, -0.5),
            Manoeuvre(2.0, 0.0),
            Manoeuvre(1.0, 0.0),
            Manoeuvre(6.0, 0.0, _deg(-270)),
            Manoeuvre(2.0, 0.6),
            Manoeuvre(0.0, 0.6),
            Manoeuvre(2.0, 0.0),
            Manoeuvre(3.0, 0.0, _deg(-90)),
        ),
        closing=(12, 17),
    ),
}
"""The drives that come with the package, by name."""


def get_drive(name):
    """Return a drive of `DRIVES`.

    Raises
    ------
    ConfigurationError
        If there is none of that name.
    """
    if name not in DRIVES:
        raise ConfigurationError(f"There is no drive '{name}'; choose one of {', '.join(DRIVES)}.")
    return DRIVES[name]


MOST_LAPS = 1000
"""Of any drive: about a day."""


def with_laps(drive, laps):
    """Return the drive with another number of laps.

    Raises
    ------
    ConfigurationError
        If the number is not positive or too large, or the drive has no laps to repeat.
    """
    if laps > MOST_LAPS:
        raise ConfigurationError(
            f"The number of laps is {laps}, but it must be at most {MOST_LAPS}."
        )
    if laps < 1:
        raise ConfigurationError(f"The number of laps is {laps}, but it must be 1 or more.")
    if laps > 1 and not drive.lap:
        raise ConfigurationError(
            f"Drive {drive.name} does not repeat itself, so it has one lap and not {laps}."
        )
    return replace(drive, laps=laps)
