"""Specification of a GNSS receiver: its errors, outages, antenna and messages.

The keys of the file are the fields of :class:`GnssSpecification` and of its nested classes::

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
from ...core.checks import (
    Axes,
    check_choice,
    check_list,
    check_number,
    check_numbers,
    check_text,
    require_increasing,
)
from ...core.errors import ConfigurationError
from ...core.sentences import quote
from ...core.settings import Settings, from_mapping, setting
from ...core.stamps import NANOSECONDS
from ...core.yaml_files import find_description, read_description

if TYPE_CHECKING:
    import pandas as pd

#: Fix qualities and their numbers in NMEA 0183 GGA; ``none`` means that there is no fix.
QUALITIES = {"none": 0, "single": 1, "differential": 2, "rtk": 4, "float": 5}

HIGHEST_EVENT_RATE = 100.0  # 1/s; for random outages and for changes of the fix quality


def _checked_schedule(name: str, value: Any) -> Any:
    rows = check_list(name, value)
    for row in rows:
        if not isinstance(row, (list, tuple)) or len(row) != 2:
            raise ConfigurationError(
                f"{name} has the entry {quote(row)}, expected a time and a quality"
            )
    times = [check_number(f"{name}'s time", time, minimum=0.0) for time, _ in rows]
    qualities = [check_choice(f"{name}'s quality", each, tuple(QUALITIES)) for _, each in rows]
    return require_increasing(name, tuple(zip(times, qualities)))


def _checked_outages(name: str, value: Any) -> tuple[Any, ...]:
    pairs = tuple(check_numbers(name, pair, 2, minimum=0.0) for pair in check_list(name, value))
    for begin, end in pairs:
        if not begin < end:
            raise ConfigurationError(
                f"{name} has an outage from {begin:g} s to {end:g} s, expected start < end"
            )
    return pairs


@dataclass(frozen=True)
class FixQuality(Settings):
    """Standard deviations of the errors of fixes with a given quality.

    The error of each coordinate is the sum of white noise and a first-order Gauss-Markov process
    (:class:`.GaussMarkov`), independent of the other coordinates.

    Parameters
    ----------
    quality : str
        Key of :data:`QUALITIES` except ``none``.
    horizontal_noise : float
        White error of the position along east, and along north [m].
    vertical_noise : float
        White error of the height [m].
    horizontal_drift, vertical_drift : float
        Correlated error of the horizontal position and of the height [m].
    correlation_time : float
        Correlation time of the correlated error [s].
    velocity_noise, vertical_velocity_noise : float
        White error of the velocity [m/s].
    """

    quality: str = setting("single", choices=tuple(QUALITIES)[1:], always=True)
    horizontal_noise: float = setting(0.0, minimum=0.0, unit="m")
    vertical_noise: float = setting(0.0, minimum=0.0, unit="m")
    horizontal_drift: float = setting(0.0, minimum=0.0, unit="m")
    vertical_drift: float = setting(0.0, minimum=0.0, unit="m")
    correlation_time: float = setting(60.0, above=0.0, unit="s")
    velocity_noise: float = setting(0.0, minimum=0.0, unit="m/s")
    vertical_velocity_noise: float = setting(0.0, minimum=0.0, unit="m/s")

    @property
    def noise(self) -> tuple[float, ...]:
        """Standard deviations of white position and velocity errors in ENU axes, (6,) [m, m/s]."""
        level, speed = self.horizontal_noise, self.velocity_noise
        return level, level, self.vertical_noise, speed, speed, self.vertical_velocity_noise

    @property
    def drift(self) -> Axes:
        """Standard deviations of the correlated position errors in ENU axes [m]."""
        return self.horizontal_drift, self.horizontal_drift, self.vertical_drift

    @property
    def variances(self) -> tuple[float, ...]:
        """Variances of position and velocity errors in ENU axes, (6,) [m^2, m^2/s^2]."""
        drift = (*self.drift, 0.0, 0.0, 0.0)
        return tuple(white**2 + slow**2 for white, slow in zip(self.noise, drift))


@dataclass(frozen=True)
class QualityChange(Settings):
    """Random change of the fix quality at a constant rate, independent of earlier changes.

    Parameters
    ----------
    before, after : str
        Qualities before and after the change, keys of :data:`QUALITIES`.
    rate : float
        Rate of the change while the quality is ``before`` [1/s].
    """

    before: str = setting("rtk", choices=tuple(QUALITIES), always=True)
    after: str = setting("float", choices=tuple(QUALITIES), always=True)
    rate: float = setting(0.0, minimum=0.0, maximum=HIGHEST_EVENT_RATE, unit="1/s")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.before == self.after:
            raise ConfigurationError(
                f"after is {quote(self.after)}, expected a value that differs from before"
            )


@dataclass(frozen=True)
class GnssOutages(Settings):
    """Outages of a GNSS receiver, during which it outputs no messages.

    Parameters
    ----------
    times : sequence of 2 float
        Starts and ends, relative to the start of the motion [s].
    rate : float
        Rate at which random outages begin while there is none [1/s].
    mean_duration : float
        Mean duration of random outages, which are exponentially distributed [s].
    """

    times: tuple[tuple[float, float], ...] = setting((), _checked_outages, unit="s")
    rate: float = setting(0.0, minimum=0.0, maximum=HIGHEST_EVENT_RATE, unit="1/s")
    mean_duration: float = setting(10.0, minimum=1e-3, unit="s")

    @property
    def share(self) -> float:
        """Long-term fraction of time in random outages, ``rate m / (1 + rate m)``.

        The mean duration of the outages is m.
        """
        load = self.rate * self.mean_duration
        return load / (1.0 + load)


@dataclass(frozen=True)
class GnssHeading(Settings):
    """Settings of the heading that a receiver outputs in addition to its position.

    Parameters
    ----------
    source : str
        ``course``: direction of the measured velocity, which is the robot's heading only while it
        drives forward with the antenna above its axle; ``antennas``: direction to a second antenna
        ahead of the first; ``none``: no heading.
    minimum_speed : float
        Measured speed above which there is a course [m/s].
    baseline : float
        Distance from the first antenna to the second antenna [m].
    across_noise, across_drift : float
        Standard deviations of the white and the correlated error of the second antenna's horizontal
        position relative to the first, across the baseline [m]. Divided by the baseline, they are
        those of the heading.
    correlation_time : float
        Correlation time of the correlated error [s].
    misalignment : float
        Unknown angle from the robot's x axis to the baseline, counter-clockwise [rad].
    """

    source: str = setting("none", choices=("none", "course", "antennas"))
    minimum_speed: float = setting(0.5, minimum=0.0, unit="m/s")
    baseline: float = setting(1.0, above=0.0, unit="m")
    across_noise: float = setting(0.0, minimum=0.0, unit="m")
    across_drift: float = setting(0.0, minimum=0.0, unit="m")
    correlation_time: float = setting(60.0, above=0.0, unit="s")
    misalignment: float = setting(0.0, maximum=math.pi, unit="rad")


@dataclass(frozen=True)
class GnssOrigin(Settings):
    """Geodetic position of the world's origin; the x axis points east, the y axis north.

    Parameters
    ----------
    latitude, longitude : float
        WGS 84 coordinates [deg].
    height : float
        Height above the ellipsoid [m].
    """

    latitude: float = setting(50.0, maximum=90.0, unit="deg")
    longitude: float = setting(14.4, maximum=360.0, unit="deg")
    height: float = setting(200.0, maximum=1e5, unit="m")


@dataclass(frozen=True)
class GnssSpecification(Settings):
    """Specification of a GNSS receiver; by default, the receiver has no errors.

    Parameters
    ----------
    name : str
        Name of the receiver.
    rate : float
        Rate of the fixes [Hz].
    latency : float
        Time from a measurement to its arrival [s].
    latency_jitter : float
        Upper limit of a uniformly distributed addition to the latency [s]. The order of fixes is
        preserved.
    lever_arm : 3 float
        Position of the antenna in the robot's body frame [m].
    qualities : sequence of FixQuality
        Errors by quality; the initial quality comes first.
    changes : sequence of QualityChange
        Random changes of the quality.
    schedule : sequence of (float, str)
        Alternative to random changes: times since the start of the motion [s], and the quality from
        then on.
    outages : GnssOutages
        Intervals without messages.
    heading : GnssHeading
        Heading that the receiver outputs.
    origin : GnssOrigin
        Position on Earth of the world's origin.
    """

    name: str = setting("gnss", check_text, needed=True, always=True)
    rate: float = setting(1.0, above=0.0, maximum=1e4, unit="Hz")
    latency: float = setting(0.0, minimum=0.0, maximum=1e3, unit="s")
    latency_jitter: float = setting(0.0, minimum=0.0, maximum=1e3, unit="s")
    lever_arm: Any = setting((0.0, 0.0, 0.0), check_numbers, count=3, maximum=1e3, unit="m")
    qualities: tuple[FixQuality, ...] = setting((FixQuality(),), part=FixQuality)
    changes: tuple[QualityChange, ...] = setting((), part=QualityChange)
    schedule: tuple[tuple[float, str], ...] = setting((), _checked_schedule)
    outages: GnssOutages = setting(GnssOutages(), part=GnssOutages)
    heading: GnssHeading = setting(GnssHeading(), part=GnssHeading)
    origin: GnssOrigin = setting(GnssOrigin(), part=GnssOrigin)

    def __post_init__(self) -> None:
        super().__post_init__()
        names = [quality.quality for quality in self.qualities]
        if not names:
            raise ConfigurationError("qualities is empty, expected at least one")
        for name in names:
            if names.count(name) > 1:
                raise ConfigurationError(f"qualities contains {name} twice, expected it once")
        if self.changes and self.schedule:
            raise ConfigurationError(
                "changes and schedule are both set, expected random changes or a schedule"
            )
        mentioned = {name for change in self.changes for name in (change.before, change.after)}
        mentioned |= {quality for _, quality in self.schedule}
        for name in sorted(mentioned - set(names) - {"none"}):
            raise ConfigurationError(
                f"changes or schedule have the quality {name}, expected one of {', '.join(names)}"
            )


# Quality number -> status of sensor_msgs/NavSatStatus, which is the same for rtk and float.
STATUS = dict(zip(QUALITIES.values(), (-1, 0, 1, 2, 2)))


def read_gnss_specification(name: str | os.PathLike[str]) -> GnssSpecification:
    """Read a GNSS receiver specification from a file, or by the name of a bundled receiver.

    Parameters
    ----------
    name : str or path
        Path of a file, or name of a file in config/gnss, for example ``rtk``.

    Returns
    -------
    GnssSpecification

    Raises
    ------
    ConfigurationError
        If neither exists, or the file does not describe a receiver.
    """
    path = find_description(name, "gnss", "a GNSS receiver")
    make = partial(from_mapping, GnssSpecification, subject="the receiver")
    return read_description(path, "the GNSS receiver", make, named=True, may_be_empty=True)


class Reported(NamedTuple):
    """Stamps and content of the messages that are published on a topic.

    Parameters
    ----------
    stamps : ndarray of int, shape (n,)
        Stamps of the messages [ns].
    rows : ndarray, shape (n, columns)
        Content of the messages.
    """

    stamps: np.ndarray
    rows: np.ndarray


class ReportedFixes(NamedTuple):
    """Messages that a receiver publishes, without missing quantities.

    Parameters
    ----------
    positions : Reported
        Columns ``GNSS_PUBLISHED_POSITION`` of :mod:`.core.tables`.
    velocities : Reported
        Columns ``GNSS_PUBLISHED_VELOCITY`` of :mod:`.core.tables`.
    headings : Reported
        z and w of the quaternion that describes the heading as a rotation about the vertical.
    """

    positions: Reported
    velocities: Reported
    headings: Reported


def reported_fixes(fixes: pd.DataFrame) -> ReportedFixes:
    """Convert fixes to the messages that a receiver publishes.

    Parameters
    ----------
    fixes : pandas.DataFrame
        Table with the columns of GnssRecord.

    Returns
    -------
    ReportedFixes
    """
    stamps = np.array([round(time * NANOSECONDS) for time in fixes.index], dtype=np.int64)
    status = fixes["quality"].map(STATUS).to_numpy(float)
    positions = fixes.assign(status=status)[list(tables.GNSS_PUBLISHED_POSITION)].to_numpy()
    # A message contains either all variances of a covariance matrix or none.
    positions[~np.isfinite(positions[:, 4:]).all(axis=1), 4:] = np.nan
    moving = np.isfinite(fixes[tables.LOCAL_VELOCITY[0]].to_numpy())
    velocities = fixes[list(tables.GNSS_PUBLISHED_VELOCITY)].to_numpy()
    has_heading = np.isfinite(fixes["heading"].to_numpy())
    headings = [heading_quaternion(heading) for heading in fixes["heading"][has_heading]]
    return ReportedFixes(
        Reported(stamps, positions),
        Reported(stamps[moving], velocities[moving]),
        Reported(stamps[has_heading], np.array(headings).reshape(-1, 2)),
    )


def heading_quaternion(heading: float) -> tuple[float, float]:
    """Return z and w of the quaternion that represents a heading.

    Parameters
    ----------
    heading : float
        Heading [rad].

    Returns
    -------
    z, w : float
        Components of a unit quaternion; x and y are zero.
    """
    return math.sin(0.5 * heading), math.cos(0.5 * heading)


Fix = Mapping[Any, Any]  # row of a table with the columns of GnssRecord

# rad^2/s^2; published variance of the angular velocity, which the receiver does not measure.
UNKNOWN_VARIANCE = 1e6


class FixTopic(NamedTuple):
    """Topic of a GNSS receiver, with functions that convert between its messages and fixes.

    Parameters
    ----------
    topic, type_name, frame : str
        Topic, message type, and frame in the header.
    kind : str
        Kind of recorded data, an argument of :meth:`.RecordingSession.add_fixes`.
    is_known : callable
        Function of a fix that returns whether a message is published for it.
    fill : callable
        Function of a message and a fix that fills the message except its header.
    row : callable
        Function of a message that returns a row of :class:`.ReportedFixes`.
    """

    topic: str
    type_name: str
    frame: str
    kind: str
    is_known: Callable[[Fix], bool]
    fill: Callable[[Any, Fix], None]
    row: Callable[[Any], tuple[float, ...]]


def fix_topics(gnss: GnssSpecification) -> list[FixTopic]:
    """Return the topics on which a GNSS receiver publishes position, velocity and heading.

    A fix with the quality ``none`` has the position nan, and neither velocity nor heading.

    Parameters
    ----------
    gnss : GnssSpecification
        Receiver whose topics are returned.

    Returns
    -------
    list of FixTopic
        Position, velocity and, if the receiver outputs it, heading.
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
    variances = [
        horizontal,
        horizontal,
        vertical,
        UNKNOWN_VARIANCE,
        UNKNOWN_VARIANCE,
        UNKNOWN_VARIANCE,
    ]
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
