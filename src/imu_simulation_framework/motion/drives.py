"""Bundled synthetic drives: laps of manoeuvres whose motion is known in closed form.

A drive is a sequence of manoeuvres of a differential-drive robot. If it consists of closed laps,
the motion repeats exactly, and only the sensor errors differ between laps.

The ground is flat or has gentle bumps, and is the same in all simulators. A bump is the cap of a
large sphere whose centre is below the plane. Every simulator represents spheres exactly, and wheels
roll smoothly over them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ..core.checks import LARGEST_SEED
from ..core.errors import ConfigurationError
from ..core.settings import TextSettings, setting

MOTION_RATE = 100  #: Hz; sample rate of the ground truth

# Gauss-Legendre quadrature, which integrates the velocity during a manoeuvre.
# With 16 nodes for a smooth path of at most a few metres, the error is below a nanometre.
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)


class Manoeuvre(NamedTuple):
    """Part of a drive in which speed and yaw change smoothly from one value to another.

    With u = t / duration, the speed is ``v_0 + (v_1 - v_0) (1 - cos(pi u)) / 2`` and the
    yaw is ``yaw_0 + turn (u - sin(2 pi u) / (2 pi))``. Speed, yaw and yaw rate are therefore
    continuous between manoeuvres.

    Parameters
    ----------
    duration : float
        Duration [s].
    speed : float
        Final speed v_1, negative if the robot drives backwards [m/s].
    turn : float
        Change of the yaw, positive to the left [rad].
    """

    duration: float
    speed: float
    turn: float = 0.0


def _motion(manoeuvres, time):
    """Return speed, acceleration, yaw and yaw rate at times since the start of a lap."""
    durations = np.array([manoeuvre.duration for manoeuvre in manoeuvres])
    speeds = np.array([0.0] + [manoeuvre.speed for manoeuvre in manoeuvres])
    turns = np.array([manoeuvre.turn for manoeuvre in manoeuvres])
    ends = np.cumsum(durations)
    yaws = np.concatenate(([0.0], np.cumsum(turns)))
    index = np.minimum(np.searchsorted(ends, time, side="right"), len(ends) - 1)
    duration = durations[index]
    u = np.clip((time - (ends[index] - duration)) / duration, 0.0, 1.0)
    change = speeds[index + 1] - speeds[index]
    v = speeds[index] + change * 0.5 * (1.0 - np.cos(np.pi * u))
    acceleration = change * 0.5 * np.pi * np.sin(np.pi * u) / duration
    yaw = yaws[index] + turns[index] * (u - np.sin(2.0 * np.pi * u) / (2.0 * np.pi))
    yaw_rate = turns[index] * (1.0 - np.cos(2.0 * np.pi * u)) / duration
    return v, acceleration, yaw, yaw_rate


def _displacements(manoeuvres, edges):
    """Return the displacement in each interval between the times ``edges``, (n - 1, 2) [m]."""
    half_width = 0.5 * np.diff(edges)[:, np.newaxis]
    middle = 0.5 * (edges[1:] + edges[:-1])[:, np.newaxis]
    v, _, yaw, _ = _motion(manoeuvres, middle + half_width * _NODES)
    distance = half_width * _WEIGHTS * v
    return np.stack([np.sum(distance * turn(yaw), axis=1) for turn in (np.cos, np.sin)], axis=1)


def _closed_lap(drive):
    """Return the manoeuvres of a lap, with computed durations of the straights that close it."""
    manoeuvres = list(drive.lap)
    if drive.closing:
        ends = np.cumsum([manoeuvre.duration for manoeuvre in manoeuvres])
        # With intervals of half a second, the quadrature error is negligible.
        edges = np.union1d(np.append(0.0, ends), np.arange(0.0, ends[-1], 0.5))
        open_end = _displacements(manoeuvres, edges).sum(axis=0)
        velocities = []
        for index in drive.closing:
            yaw = sum(manoeuvre.turn for manoeuvre in manoeuvres[:index])
            velocities.append(manoeuvres[index].speed * np.array([math.cos(yaw), math.sin(yaw)]))
        durations = np.linalg.solve(np.stack(velocities, axis=1), -open_end)
        for index, duration in zip(drive.closing, durations):
            if duration <= 0.0:
                raise ValueError(
                    f"drive {drive.name}: straight {index} lasts {duration} s, expected a "
                    "positive duration"
                )
            manoeuvres[index] = manoeuvres[index]._replace(duration=float(duration))
    return tuple(manoeuvres)


def random_lap(duration, generator):
    """Generate a random lap that starts and ends at rest and stays within about 50 m of the origin.

    Parameters
    ----------
    duration : float
        Total duration of the manoeuvres [s].
    generator : numpy.random.Generator
        Source of random numbers.

    Returns
    -------
    tuple of Manoeuvre
        Manoeuvres in the order of the drive.
    """
    manoeuvres = [Manoeuvre(2.0, 0.0)]
    elapsed, speed, yaw, position = 2.0, 0.0, 0.0, np.zeros(2)

    def draw(low, high):
        return float(np.round(low + (high - low) * generator.random(), 2))

    def add(*added):
        nonlocal elapsed, speed, yaw, position
        for manoeuvre in added:
            middle, mean_speed = yaw + 0.5 * manoeuvre.turn, 0.5 * (speed + manoeuvre.speed)
            direction = np.array([math.cos(middle), math.sin(middle)])
            position = position + mean_speed * manoeuvre.duration * direction
            manoeuvres.append(manoeuvre)
            elapsed += manoeuvre.duration
            speed = manoeuvre.speed
            yaw += manoeuvre.turn

    def draw_side():
        """Return a random turn direction, -1 or 1; far from the origin, turn towards the origin."""
        if np.hypot(*position) < 15.0:
            return 1.0 if generator.random() < 0.5 else -1.0
        home = math.atan2(-position[1], -position[0])
        return 1.0 if math.sin(home - yaw) > 0.0 else -1.0

    # No choice of manoeuvres takes longer than 18 s, and braking at the end takes 2 s.
    while elapsed < duration - 25.0:
        kind = generator.random()
        if speed == 0.0:
            add(Manoeuvre(2.5, draw(0.7, 1.0)))
        elif kind < 0.5:
            turn = draw_side() * math.radians(draw(30.0, 110.0))
            add(Manoeuvre(draw(3.0, 5.0), speed, turn), Manoeuvre(draw(1.0, 4.0), speed))
        elif kind < 0.72:
            turn = draw_side() * math.radians(draw(25.0, 50.0))
            length = draw(2.5, 4.0)
            add(Manoeuvre(length, speed, turn), Manoeuvre(length, speed, -turn))
        elif kind < 0.82:
            add(Manoeuvre(2.0, draw(0.5, 1.0)), Manoeuvre(draw(2.0, 6.0), manoeuvres[-1].speed))
        elif kind < 0.90:
            turn = draw_side() * math.radians(draw(60.0, 150.0))
            add(Manoeuvre(1.5, 0.5), Manoeuvre(draw(3.0, 4.0), 0.5, turn))
        elif kind < 0.96:
            turn = draw_side() * math.radians(draw(40.0, 120.0))
            add(Manoeuvre(2.0, 0.0), Manoeuvre(draw(1.0, 4.0), 0.0))
            add(Manoeuvre(draw(2.5, 4.0), 0.0, turn))
        else:
            add(Manoeuvre(2.0, 0.0), Manoeuvre(1.5, -0.5))
            add(Manoeuvre(draw(2.0, 4.0), -0.5), Manoeuvre(1.5, 0.0))
    add(Manoeuvre(2.0, 0.0))
    return tuple(manoeuvres)


def seed_for(seed, stream):
    """Return the seed of one of the independent random streams of a drive.

    The path and the sensor noise have separate streams, so that the noise does not depend on how
    the path is generated, and a drive with fewer laps is the beginning of a longer drive.

    Parameters
    ----------
    seed : int
        Seed of the drive.
    stream : int
        Number of the stream; 0 is the path.

    Returns
    -------
    numpy.random.SeedSequence
    """
    return np.random.SeedSequence([seed, stream])


def generator_for(seed, stream):
    """Return the random generator of one of the streams of a drive, see :func:`seed_for`.

    Parameters
    ----------
    seed : int
        Seed of the drive.
    stream : int
        Number of the stream.

    Returns
    -------
    numpy.random.Generator
    """
    return np.random.default_rng(seed_for(seed, stream))


def true_motion(drive):
    """Compute the true motion of a drive that starts at the origin with yaw 0.

    Parameters
    ----------
    drive : Drive
        Synthetic drive with its manoeuvres.

    Returns
    -------
    pandas.DataFrame
        Columns of Trajectory, and ``acceleration``, the derivative of v [m/s^2], sampled at
        :data:`MOTION_RATE` from 0 to the end.
    """
    import pandas as pd

    if drive.lap:
        manoeuvres = _closed_lap(drive)
    else:
        manoeuvres = random_lap(drive.lap_duration, generator_for(drive.seed, 0))
    remaining = drive.lap_duration - sum(manoeuvre.duration for manoeuvre in manoeuvres)
    if remaining <= 0.0:
        raise ValueError(f"drive {drive.name}: manoeuvres exceed lap_duration by {-remaining} s")
    manoeuvres += (Manoeuvre(remaining, 0.0),)

    samples_per_lap = round(drive.lap_duration * MOTION_RATE)
    time = np.arange(samples_per_lap + 1) / MOTION_RATE
    v, acceleration, yaw, yaw_rate = _motion(manoeuvres, time)
    position = np.zeros((len(time), 2))
    np.cumsum(_displacements(manoeuvres, time), axis=0, out=position[1:])
    lap = np.column_stack([position, yaw, v, yaw_rate, acceleration])

    # Each lap starts at the end of the previous one; only the unwrapped yaw differs, by full turns.
    lap_turn = np.array([0.0, 0.0, yaw[-1], 0.0, 0.0, 0.0])
    laps = [lap[:-1] + k * lap_turn for k in range(drive.laps)]
    values = np.concatenate([*laps, lap[-1:] + (drive.laps - 1) * lap_turn])
    return pd.DataFrame(
        values,
        columns=["x", "y", "yaw", "v", "yaw_rate", "acceleration"],
        index=pd.Index(np.arange(len(values)) / MOTION_RATE, name="time"),
    )


@dataclass(frozen=True)
class Drive:
    """Synthetic drive, which consists of one or more laps.

    Parameters
    ----------
    name : str
        Name, a single letter.
    description : str
        Description for the user.
    lap_duration : float
        Duration of a lap, which starts and ends at rest [s].
    laps : int
        Number of laps.
    seed : int
        Seed of all random numbers of this drive.
    lap : tuple of Manoeuvre
        Manoeuvres of a lap, after which the robot is at rest until ``lap_duration``; empty for a
        random drive, see :func:`.drives.random_lap`.
    closing : tuple of int
        Indices of two straights at constant speed. Their durations are computed such that the lap
        ends where it starts. Empty for a drive that is not closed.
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
        """Total duration of all laps [s]."""
        return self.laps * self.lap_duration


def _lap(manoeuvres):
    """Parse comma-separated manoeuvres: duration [s], speed [m/s] and turn [deg]."""
    rows = (map(float, row.split()) for row in manoeuvres.split(","))
    return tuple(
        Manoeuvre(duration, speed, math.radians(sum(turn))) for duration, speed, *turn in rows
    )


#: Bundled synthetic drives, keyed by name.
DRIVES = {
    "a": Drive(
        "a",
        "a one-minute closed loop, driven eleven times: bends, an S-bend, a sharp turn, and a stop "
        "with a turn on the spot",
        lap_duration=60.0,
        laps=11,
        seed=1,
        lap=_lap(
            "1 0, 3 0.9, 0 0.9, 1.5 0.7, 3.5 0.7 90, 1.5 1, 3 1 40, 3 1 -40, 0 1, 1.5 0.5, "
            "3.5 0.5 135, 1.5 0.8, 2.5 0.8, 1.5 0, 1.5 0, 2.5 0 -60, 0.5 0, 1.5 0.8, 2 0.8, "
            "4 0.8 105, 9 0.8, 3.5 0.8 90, 2 0"
        ),
        closing=(2, 8),
    ),
    "b": Drive(
        "b",
        "ten minutes of random driving: bends, stops, turns on the spot, reversing",
        lap_duration=600.0,
        laps=1,
        seed=2,
    ),
    "c": Drive(
        "c",
        "a 40-second figure of eight, driven fifteen times: left and right turns cancel",
        lap_duration=40.0,
        laps=15,
        seed=3,
        lap=_lap("1 0, 2.5 0.9, 0 0.9, 13 0.9 230, 0 0.9, 13 0.9 -230, 2.5 0"),
        closing=(2, 4),
    ),
    "d": Drive(
        "d",
        "a 75-second rectangle, driven clockwise eight times: turns on the spot at the corners, "
        "and one side driven backwards",
        lap_duration=75.0,
        laps=8,
        seed=4,
        lap=_lap(
            "1 0, 2 0.8, 9 0.8, 2 0, 1 0, 3 0 -90, 2 0.8, 5 0.8, 2 0, 1 0, 3 0 90, 2 -0.5, "
            "0 -0.5, 2 0, 1 0, 6 0 -270, 2 0.6, 0 0.6, 2 0, 3 0 -90"
        ),
        closing=(12, 17),
    ),
}


def get_drive(name):
    """Return the bundled synthetic drive with a given name.

    Parameters
    ----------
    name : str
        Name of the drive.

    Returns
    -------
    Drive

    Raises
    ------
    ConfigurationError
        There is no drive with this name.
    """
    if name not in DRIVES:
        raise ConfigurationError(f"drive is '{name}', expected one of {', '.join(DRIVES)}")
    return DRIVES[name]


MAX_LAPS = 1000  # laps of any drive, which take about a day


def with_laps(drive, laps):
    """Return a copy of a drive with the given number of laps.

    Parameters
    ----------
    drive : Drive
        Synthetic drive with its manoeuvres.
    laps : int
        Number of laps.

    Returns
    -------
    Drive

    Raises
    ------
    ConfigurationError
        The number is out of range, or the drive has no lap that can be repeated.
    """
    if not 1 <= laps <= MAX_LAPS:
        bound = f"at most {MAX_LAPS}" if laps > MAX_LAPS else "1 or more"
        raise ConfigurationError(f"number of laps is {laps}, expected {bound}")
    if laps > 1 and not drive.lap:
        raise ConfigurationError(
            f"number of laps is {laps}, expected 1, as drive {drive.name} does not repeat a lap"
        )
    return replace(drive, laps=laps)


START_CLEARANCE = 1.5  # m; smallest distance between a bump's centre and the start of the drive
LARGEST_LENGTH = 1000.0  # m; upper bound of a terrain's dimensions; drives extend over some 100 m
MAX_BUMPS = 10_000  # limited because a simulator checks every bump for contact in every step


@dataclass(frozen=True)
class Terrain(TextSettings):
    """Uneven ground with bumps on a jittered square grid.

    Parameters
    ----------
    height : float
        Largest height of a bump above the plane [m]; the smallest height is half of it.
    spacing : float
        Mean distance between the centres of neighbouring bumps [m].
    radius : float
        Radius of the spheres [m].
    size : float
        Side length of the square around the origin that has bumps [m].
    seed : int
        Seed of the random positions and heights.

    Raises
    ------
    ConfigurationError
        A value is out of range, the bumps are higher than the radius, or there are too many bumps.
    """

    height: float = setting(
        0.02, unit="m", above=0.0, maximum=LARGEST_LENGTH, about="largest height of a bump"
    )
    spacing: float = setting(
        1.5, unit="m", above=0.0, maximum=LARGEST_LENGTH, about="mean distance between bumps"
    )
    radius: float = setting(
        2.0,
        unit="m",
        above=0.0,
        maximum=LARGEST_LENGTH,
        about="radius of the spheres whose caps are the bumps",
    )
    size: float = setting(
        30.0,
        unit="m",
        above=0.0,
        maximum=LARGEST_LENGTH,
        about="side length of the square around the origin that contains the bumps",
    )
    seed: int = setting(
        1, minimum=0, maximum=LARGEST_SEED, about="seed of the bumps' positions and heights"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.size**2 > MAX_BUMPS * self.spacing**2:
            raise ConfigurationError(
                f"size is {self.size:g} m, expected a size with at most {MAX_BUMPS} bumps at a "
                f"spacing of {self.spacing:g} m; decrease size or increase spacing"
            )
        if self.height >= self.radius:
            raise ConfigurationError(
                f"height is {self.height} m, expected less than radius, {self.radius} m"
            )

    def spheres(self):
        """Return the centres of the spheres whose caps form the bumps.

        Returns
        -------
        ndarray, shape (n, 3)
            Centres [m]; z is the bump's height minus the radius.
        """
        generator = np.random.default_rng(self.seed)
        count = int(self.size // self.spacing)
        line = (np.arange(count) - 0.5 * (count - 1)) * self.spacing
        grid = np.stack(np.meshgrid(line, line, indexing="ij"), axis=-1).reshape(-1, 2)
        middles = grid + generator.uniform(-0.25, 0.25, grid.shape) * self.spacing
        heights = self.height * generator.uniform(0.5, 1.0, len(grid))
        spheres = np.column_stack([middles, heights - self.radius])
        return spheres[np.hypot(middles[:, 0], middles[:, 1]) >= START_CLEARANCE]

    def has_bumps_near(self, x, y, distance) -> bool:
        """Return whether the terrain has a bump near a position.

        Parameters
        ----------
        x, y : float
            Position [m].
        distance : float
            Distance from the position to the edge of a bump, below which the bump is near [m].

        Returns
        -------
        bool
        """
        spheres = self.spheres()
        contact_radius = np.sqrt(self.radius**2 - spheres[:, 2] ** 2)
        return bool(
            np.any(np.hypot(spheres[:, 0] - x, spheres[:, 1] - y) < contact_radius + distance)
        )
