"""What a GNSS receiver does wrong, when, where its antenna is, and what its messages hold.

Its file has as keys the fields of :class:`GnssSpecification` and of its parts::

    rate: 5.0
    latency: 0.1
    lever_arm: [0.2, 0.0, 0.5]
    qualities:
      - {quality: rtk, horizontal_noise: 0.01, vertical_noise: 0.015, velocity_noise: 0.04}
      - {quality: float, horizontal_noise: 0.02, horizontal_drift: 0.3, correlation_time: 60.0}
    changes:
      - {before: rtk, after: float, rate: 0.003}
      - {before: float, after: rtk, rate: 0.05}
    outages: {rate: 0.001, mean_duration: 15.0}
    heading: {source: antennas, baseline: 0.8, across_noise: 0.006}
    origin: {latitude: 50.09, longitude: 14.42, height: 250.0}
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Callable, Mapping, NamedTuple

import numpy as np

from ...core import tables, topics
from ...core.errors import ConfigurationError
from ...core.sentences import quote
from ...core.settings import (
    Axes,
    Settings,
    check_choice,
    check_list,
    check_number,
    check_numbers,
    check_text,
    declared,
    from_mapping,
    require_increasing,
)
from ...core.stamps import NANOSECONDS
from ...core.yaml_files import find_description, read_description

if TYPE_CHECKING:
    import pandas as pd

QUALITIES = {"none": 0, "single": 1, "differential": 2, "rtk": 4, "float": 5}
"""Qualities of a fix and their numbers in NMEA 0183's sentence GGA. ``none`` is a receiver that
says that it has no fix; ``rtk`` has the carrier's ambiguities fixed, ``float`` has not."""

HIGHEST_EVENT_RATE = 100.0  # 1/s, of outages or changes of quality


def _checked_schedule(name: str, value: Any) -> Any:
    rows = check_list(name, value)
    for row in rows:
        if not isinstance(row, (list, tuple)) or len(row) != 2:
            raise ConfigurationError(
                f"{name} has {quote(row)}, but each entry must be a time and a quality."
            )
    times = [check_number(f"{name}'s time", time, minimum=0.0) for time, _ in rows]
    qualities = [check_choice(f"{name}'s quality", each, tuple(QUALITIES)) for _, each in rows]
    return require_increasing(name, tuple(zip(times, qualities)))


def _checked_outages(name: str, value: Any) -> tuple[Any, ...]:
    pairs = tuple(check_numbers(name, pair, 2, minimum=0.0) for pair in check_list(name, value))
    for begin, end in pairs:
        if not begin < end:
            has = f"{name} has an outage from {begin:g} s to {end:g} s"
            raise ConfigurationError(f"{has}, but it must end after it begins.")
    return pairs


@dataclass(frozen=True)
class FixQuality(Settings):
    """Errors of a fix of one quality; standard deviations.

    The error of each coordinate is white noise and a first-order Gauss-Markov process
    (:class:`.GaussMarkov`), independent of the others'.

    ``quality``: one of :data:`QUALITIES`, but none. ``horizontal_noise``, ``vertical_noise``: white
    error of the position, of east and of north, and of the height [m]. ``horizontal_drift``,
    ``vertical_drift``: correlated error of the same [m], of ``correlation_time`` [s].
    ``velocity_noise``, ``vertical_velocity_noise``: white error of the velocity [m/s].
    """

    quality: str = declared("single", check_choice, choices=tuple(QUALITIES)[1:], always=True)
    horizontal_noise: float = declared(0.0, minimum=0.0)
    vertical_noise: float = declared(0.0, minimum=0.0)
    horizontal_drift: float = declared(0.0, minimum=0.0)
    vertical_drift: float = declared(0.0, minimum=0.0)
    correlation_time: float = declared(60.0, above=0.0)
    velocity_noise: float = declared(0.0, minimum=0.0)
    vertical_velocity_noise: float = declared(0.0, minimum=0.0)

    @property
    def noise(self) -> tuple[float, ...]:
        """White errors of position and velocity, east, north, up each [m, m/s]."""
        level, speed = self.horizontal_noise, self.velocity_noise
        return level, level, self.vertical_noise, speed, speed, self.vertical_velocity_noise

    @property
    def drift(self) -> Axes:
        """Correlated errors of the position, east, north, up [m]."""
        return self.horizontal_drift, self.horizontal_drift, self.vertical_drift

    @property
    def variances(self) -> tuple[float, ...]:
        """Variances of position and velocity, east, north, up each [m^2, m^2/s^2]."""
        drift = (*self.drift, 0.0, 0.0, 0.0)
        return tuple(white**2 + slow**2 for white, slow in zip(self.noise, drift))


@dataclass(frozen=True)
class QualityChange(Settings):
    """A change of the quality that may come at any moment, whatever came before.

    ``before``, ``after``: qualities. ``rate``: how often it comes while it is ``before`` [1/s].
    """

    before: str = declared("rtk", check_choice, choices=tuple(QUALITIES), always=True)
    after: str = declared("float", check_choice, choices=tuple(QUALITIES), always=True)
    rate: float = declared(0.0, minimum=0.0, maximum=HIGHEST_EVENT_RATE)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.before == self.after:
            raise ConfigurationError(f"after is {quote(self.after)}, as it was before.")


@dataclass(frozen=True)
class GnssOutages(Settings):
    """When a receiver says nothing at all.

    ``times``: beginnings and ends, after the start of the motion [s]. ``rate``: of random ones,
    while there is none [1/s]. ``mean_duration``: of those, exponentially distributed [s].
    """

    times: tuple[tuple[float, float], ...] = declared((), _checked_outages)
    rate: float = declared(0.0, minimum=0.0, maximum=HIGHEST_EVENT_RATE)
    mean_duration: float = declared(10.0, minimum=1e-3)

    @property
    def share(self) -> float:
        """Share of a long time that random outages take, rate m / (1 + rate m)."""
        load = self.rate * self.mean_duration
        return load / (1.0 + load)


@dataclass(frozen=True)
class GnssHeading(Settings):
    """A heading that the receiver gives beside its position.

    ``source``: ``course``, the direction of the measured velocity, which is the robot's only while
    it drives forwards and the antenna is above its axle; ``antennas``, a second antenna ahead of
    the first one; ``none``. ``minimum_speed``: the course is given from this measured speed on
    [m/s]. ``baseline``: from the first antenna to the second [m]. ``across_noise``,
    ``across_drift``: standard deviations of the second antenna's place as seen from the first one,
    across the baseline and horizontally, white, and correlated [m]; heading's is that over the
    baseline. ``correlation_time`` [s]. ``misalignment``: how far the baseline is turned from the
    robot's x axis without the receiver knowing of it, counter-clockwise [rad].
    """

    source: str = declared("none", check_choice, choices=("none", "course", "antennas"))
    minimum_speed: float = declared(0.5, minimum=0.0)
    baseline: float = declared(1.0, above=0.0)
    across_noise: float = declared(0.0, minimum=0.0)
    across_drift: float = declared(0.0, minimum=0.0)
    correlation_time: float = declared(60.0, above=0.0)
    misalignment: float = declared(0.0, maximum=math.pi)


@dataclass(frozen=True)
class GnssOrigin(Settings):
    """Where on Earth the world's origin is, whose x axis points east and y axis north.

    ``latitude``, ``longitude``: WGS 84 [deg]. ``height``: above the ellipsoid [m].
    """

    latitude: float = declared(50.0, maximum=90.0)
    longitude: float = declared(14.4, maximum=360.0)
    height: float = declared(200.0, maximum=1e5)


@dataclass(frozen=True)
class GnssSpecification(Settings):
    """A GNSS receiver; without arguments one without errors.

    ``rate``: fixes per second [Hz]. ``latency``: from a measurement to its arrival [s].
    ``latency_jitter``: by how much more it may be, evenly distributed [s]; no fix overtakes
    another. ``lever_arm`` (3,): where the antenna is, in the robot's axes [m]. ``qualities``: the
    first one is that of the beginning. ``changes``: random ones between them. ``schedule``: or
    changes at given times after the start of the motion, time [s] and quality.
    """

    name: str = declared("gnss", check_text, needed=True, always=True)
    rate: float = declared(1.0, above=0.0, maximum=1e4)
    latency: float = declared(0.0, minimum=0.0, maximum=1e3)
    latency_jitter: float = declared(0.0, minimum=0.0, maximum=1e3)
    lever_arm: Any = declared((0.0, 0.0, 0.0), check_numbers, count=3, maximum=1e3)
    qualities: tuple[FixQuality, ...] = declared((FixQuality(),), part=FixQuality)
    changes: tuple[QualityChange, ...] = declared((), part=QualityChange)
    schedule: tuple[tuple[float, str], ...] = declared((), _checked_schedule)
    outages: GnssOutages = declared(GnssOutages(), part=GnssOutages)
    heading: GnssHeading = declared(GnssHeading(), part=GnssHeading)
    origin: GnssOrigin = declared(GnssOrigin(), part=GnssOrigin)

    def __post_init__(self) -> None:
        super().__post_init__()
        names = [quality.quality for quality in self.qualities]
        if not names:
            raise ConfigurationError("qualities is empty, but there must be at least one.")
        for name in names:
            if names.count(name) > 1:
                raise ConfigurationError(f"qualities has {name} twice.")
        if self.changes and self.schedule:
            raise ConfigurationError(
                "there are both changes and a schedule, but qualities change either at random or "
                "at given times."
            )
        mentioned = {name for change in self.changes for name in (change.before, change.after)}
        mentioned |= {quality for _, quality in self.schedule}
        for name in sorted(mentioned - set(names) - {"none"}):
            raise ConfigurationError(
                f"there is a change to or from {name}, but qualities has only {', '.join(names)}."
            )


STATUS = dict(zip(QUALITIES.values(), (-1, 0, 1, 2, 2)))
"""Quality -> what sensor_msgs/NavSatStatus has for it, which does not tell float from fixed."""


def read_gnss_specification(name: str | os.PathLike[str]) -> GnssSpecification:
    """Return a GNSS receiver from its file, or by the name of one in config/gnss, ``rtk``.

    Raises :class:`.ConfigurationError`: there is neither, or it describes no receiver.
    """
    path = find_description(name, "gnss", "a GNSS receiver")
    make = partial(from_mapping, GnssSpecification, what="the receiver")
    return read_description(path, "the GNSS receiver", make, named=True, may_be_empty=True)


class Reported(NamedTuple):
    """Messages of one kind: ``stamps`` (n,) of int [ns], ``rows`` (n, columns)."""

    stamps: np.ndarray
    rows: np.ndarray


class ReportedFixes(NamedTuple):
    """What was published of the fixes that have each.

    Rows: ``GNSS_PUBLISHED_POSITION`` of :mod:`.core.tables`, ``GNSS_PUBLISHED_VELOCITY``, and z
    and w of the quaternion about the vertical.
    """

    positions: Reported
    velocities: Reported
    headings: Reported


def reported_fixes(fixes: pd.DataFrame) -> ReportedFixes:
    """Return what is published of fixes, a table GnssRecord."""
    stamps = np.array([round(time * NANOSECONDS) for time in fixes.index], dtype=np.int64)
    status = fixes["quality"].map(STATUS).to_numpy(float)
    positions = fixes.assign(status=status)[list(tables.GNSS_PUBLISHED_POSITION)].to_numpy()
    # A covariance is known as a whole or not at all.
    positions[~np.isfinite(positions[:, 4:]).all(axis=1), 4:] = np.nan
    moving = np.isfinite(fixes[tables.LOCAL_VELOCITY[0]].to_numpy())
    velocities = fixes[list(tables.GNSS_PUBLISHED_VELOCITY)].to_numpy()
    turned = np.isfinite(fixes["heading"].to_numpy())
    headings = [heading_quaternion(heading) for heading in fixes["heading"][turned]]
    return ReportedFixes(
        Reported(stamps, positions),
        Reported(stamps[moving], velocities[moving]),
        Reported(stamps[turned], np.array(headings).reshape(-1, 2)),
    )


def heading_quaternion(heading: float) -> tuple[float, float]:
    """Return z and w of the turn about the vertical by a heading [rad]."""
    return math.sin(0.5 * heading), math.cos(0.5 * heading)


Fix = Mapping[Any, Any]
"""A row of a table GnssRecord."""

UNTOLD = 1e6  # variance of what the receiver does not measure, the robot's turning [rad^2/s^2]


class FixTopic(NamedTuple):
    """One of the topics on which a receiver says its fixes, and how.

    ``kind``: of what is recorded, as :meth:`.RecordingSession.add_fixes` takes it. ``is_said``:
    whether there is a message of a fix; ``fill`` writes one, but for its header; ``row`` reads one,
    as :class:`.ReportedFixes` has it.
    """

    topic: str
    type_name: str
    frame: str
    kind: str
    is_said: Callable[[Fix], bool]
    fill: Callable[[Any, Fix], None]
    row: Callable[[Any], tuple[float, ...]]


def fix_topics(gnss: GnssSpecification) -> list[FixTopic]:
    """Return the topics of a receiver: position of the antenna, velocity and heading in the world.

    A fix without quality has a position that is not a number, and neither velocity nor heading.
    """
    return [_POSITION, _VELOCITY, *([_HEADING] if gnss.heading.source != "none" else [])]


def _fill_position(message: Any, fix: Fix) -> None:
    for name in tables.PLACE:
        setattr(message, name, float(fix[name]))
    message.status.status = STATUS[int(fix["quality"])]
    message.status.service = message.status.SERVICE_GPS
    variances = [fix[name] for name in tables.LOCAL_VARIANCE]
    if np.isfinite(variances).all():
        message.position_covariance = np.diag(variances).ravel().tolist()
        message.position_covariance_type = message.COVARIANCE_TYPE_DIAGONAL_KNOWN


def _position_row(message: Any) -> tuple[float, ...]:
    variances = 3 * [math.nan]
    if message.position_covariance_type != message.COVARIANCE_TYPE_UNKNOWN:
        variances = message.position_covariance[::4]
    place = (message.latitude, message.longitude, message.altitude)
    return (*place, message.status.status, *variances)


def _fill_velocity(message: Any, fix: Fix) -> None:
    linear = message.twist.twist.linear
    linear.x, linear.y, linear.z = (float(fix[name]) for name in tables.LOCAL_VELOCITY)
    horizontal, vertical = fix["velocity_variance"], fix["velocity_variance_up"]
    variances = [horizontal, horizontal, vertical, UNTOLD, UNTOLD, UNTOLD]
    message.twist.covariance = np.diag(variances).ravel().tolist()


def _velocity_row(message: Any) -> tuple[float, ...]:
    linear, covariance = message.twist.twist.linear, message.twist.covariance
    return linear.x, linear.y, linear.z, covariance[0], covariance[14]


def _fill_heading(message: Any, fix: Fix) -> None:
    message.quaternion.z, message.quaternion.w = heading_quaternion(fix["heading"])


_POSITION = FixTopic(
    *(topics.GNSS_FIX, "sensor_msgs/NavSatFix", topics.GNSS_FRAME, "gnss_position"),
    lambda _: True,
    _fill_position,
    _position_row,
)
_VELOCITY = FixTopic(
    *(topics.GNSS_VELOCITY, "geometry_msgs/TwistWithCovarianceStamped", topics.WORLD_FRAME),
    "gnss_velocity",
    lambda fix: math.isfinite(fix["velocity_east"]),
    _fill_velocity,
    _velocity_row,
)
_HEADING = FixTopic(
    *(topics.GNSS_HEADING, "geometry_msgs/QuaternionStamped", topics.WORLD_FRAME),
    "gnss_heading",
    lambda fix: math.isfinite(fix["heading"]),
    _fill_heading,
    lambda message: (message.quaternion.z, message.quaternion.w),
)
