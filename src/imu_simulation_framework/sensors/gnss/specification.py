"""The errors of a GNSS receiver, and how they stand in a file.

What a GNSS receiver does wrong, when, and where its antenna is.

A GNSS receiver as plain keys and values, as in its YAML file.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any, Mapping

from imu_simulation_framework.core.checked_values import (
    Axes,
    check_numbers,
    checked_choice,
    checked_fields,
    checked_number,
    checked_numbers,
)
from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.core.sentences import shown

QUALITIES = {"none": 0, "single": 1, "differential": 2, "rtk": 4, "float": 5}
"""Qualities of a fix and their numbers in NMEA 0183's sentence GGA. ``none`` is a receiver that
says that it has no fix; ``rtk`` has the carrier's ambiguities fixed, ``float`` has not."""

HEADINGS = ("none", "course", "antennas")

HIGHEST_EVENT_RATE = 100.0
"""Of outages or changes of quality [1/s]."""
SHORTEST_OUTAGE = 1e-3
"""Mean duration of random outages [s]."""
MOST_TIMES = 10_000
"""Outages or changes that are listed."""


def _listed(name, value) -> tuple:
    if not isinstance(value, (list, tuple)) or len(value) > MOST_TIMES:
        raise ConfigurationError(
            f"{name} is {shown(value)}, but it must be a list of at most {MOST_TIMES}."
        )
    return tuple(value)


def _checked_entry(entry) -> tuple[float, str]:
    if not isinstance(entry, (list, tuple)) or len(entry) != 2:
        raise ConfigurationError(
            f"schedule has {shown(entry)}, but each entry must be a time and a quality."
        )
    time = checked_number("schedule's time", entry[0], minimum=0.0)
    return time, checked_choice("schedule's quality", entry[1], tuple(QUALITIES))


def _require(name, value, kind):
    if not isinstance(value, kind):
        raise ConfigurationError(f"{name} is {shown(value)}, but it must be a {kind.__name__}.")


@dataclass(frozen=True)
class FixQuality:
    """Errors of a fix of one quality; standard deviations.

    The error of each coordinate is white noise and a first-order Gauss-Markov process
    (:class:`.GaussMarkov`), independent of the others'.

    Parameters
    ----------
    quality : str
        One of :data:`QUALITIES`, but none.
    horizontal_noise, vertical_noise : float
        White error of the position, of east and of north, and of the height [m].
    horizontal_drift, vertical_drift : float
        Correlated error of the same [m].
    correlation_time : float
        Of that [s].
    velocity_noise, vertical_velocity_noise : float
        White error of the velocity, east and north, and upwards [m/s].

    Raises
    ------
    ConfigurationError
        A value is not what it must be; the sentence begins with its name.
    """

    quality: str = "single"
    horizontal_noise: float = 0.0
    vertical_noise: float = 0.0
    horizontal_drift: float = 0.0
    vertical_drift: float = 0.0
    correlation_time: float = 60.0
    velocity_noise: float = 0.0
    vertical_velocity_noise: float = 0.0

    def __post_init__(self) -> None:
        checked_choice("quality", self.quality, tuple(name for name in QUALITIES if name != "none"))
        sizes = (
            "horizontal_noise",
            "vertical_noise",
            "horizontal_drift",
            "vertical_drift",
            "velocity_noise",
            "vertical_velocity_noise",
        )
        bounds = {name: {"minimum": 0.0} for name in sizes}
        check_numbers(self, {**bounds, "correlation_time": {"above": 0.0}})

    @property
    def noise(self) -> tuple[float, ...]:
        """White errors of position and velocity, east, north, up each [m, m/s]."""
        of_position = (self.horizontal_noise, self.horizontal_noise, self.vertical_noise)
        of_velocity = (self.velocity_noise, self.velocity_noise, self.vertical_velocity_noise)
        return of_position + of_velocity

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
class QualityChange:
    """A change of the quality that may come at any moment, whatever came before.

    Parameters
    ----------
    before, after : str
        Qualities.
    rate : float
        How often it comes while the quality is ``before`` [1/s].

    Raises
    ------
    ConfigurationError
        A value is not what it must be; the sentence begins with its name.
    """

    before: str = "rtk"
    after: str = "float"
    rate: float = 0.0

    def __post_init__(self) -> None:
        for name in ("before", "after"):
            checked_choice(name, getattr(self, name), tuple(QUALITIES))
        if self.before == self.after:
            raise ConfigurationError(f"after is {shown(self.after)}, as it was before.")
        check_numbers(self, {"rate": {"minimum": 0.0, "maximum": HIGHEST_EVENT_RATE}})


@dataclass(frozen=True)
class GnssOutages:
    """When a receiver says nothing at all.

    Parameters
    ----------
    times : sequence of 2 float
        Beginnings and ends, after the start of the motion [s].
    rate : float
        Of random ones, while there is none [1/s].
    mean_duration : float
        Of random ones, whose durations are exponentially distributed [s].

    Raises
    ------
    ConfigurationError
        A value is not what it must be; the sentence begins with its name.
    """

    times: tuple[tuple[float, float], ...] = ()
    rate: float = 0.0
    mean_duration: float = 10.0

    def __post_init__(self) -> None:
        pairs = tuple(
            checked_numbers("times", pair, 2, minimum=0.0) for pair in _listed("times", self.times)
        )
        for begin, end in pairs:
            if not begin < end:
                raise ConfigurationError(
                    f"times has an outage from {begin:g} s to {end:g} s, but it must end after it "
                    "begins."
                )
        object.__setattr__(self, "times", pairs)
        check_numbers(
            self,
            {
                "rate": {"minimum": 0.0, "maximum": HIGHEST_EVENT_RATE},
                "mean_duration": {"minimum": SHORTEST_OUTAGE},
            },
        )

    @property
    def share(self) -> float:
        """Share of a long time that random outages take, rate m / (1 + rate m)."""
        load = self.rate * self.mean_duration
        return load / (1.0 + load)


@dataclass(frozen=True)
class GnssHeading:
    """A heading that the receiver gives beside its position.

    Parameters
    ----------
    source : str
        ``course``: the direction of the measured velocity, which is the robot's only while it
        drives forwards and the antenna is above its axle. ``antennas``: a second antenna ahead of
        the first one. ``none``.
    minimum_speed : float
        The course is given from this measured speed on [m/s].
    baseline : float
        From the first antenna to the second [m].
    across_noise, across_drift : float
        Standard deviations of the second antenna's place as seen from the first one, across the
        baseline and horizontally: white, and correlated [m]. Heading's is that over the baseline.
    correlation_time : float
        Of the correlated one [s].
    misalignment : float
        How far the baseline is turned from the robot's x axis without the receiver knowing of it,
        counter-clockwise [rad].

    Raises
    ------
    ConfigurationError
        A value is not what it must be; the sentence begins with its name.
    """

    source: str = "none"
    minimum_speed: float = 0.5
    baseline: float = 1.0
    across_noise: float = 0.0
    across_drift: float = 0.0
    correlation_time: float = 60.0
    misalignment: float = 0.0

    def __post_init__(self) -> None:
        checked_choice("source", self.source, HEADINGS)
        bounds: dict[str, dict[str, float]] = {
            "minimum_speed": {"minimum": 0.0},
            "baseline": {"above": 0.0},
            "across_noise": {"minimum": 0.0},
            "across_drift": {"minimum": 0.0},
            "correlation_time": {"above": 0.0},
            "misalignment": {"maximum": math.pi},
        }
        check_numbers(self, bounds)


@dataclass(frozen=True)
class GnssOrigin:
    """Where on Earth the world's origin is, whose x axis points east and y axis north.

    Parameters
    ----------
    latitude, longitude : float
        WGS 84 [deg].
    height : float
        Above the ellipsoid [m].

    Raises
    ------
    ConfigurationError
        A value is not what it must be; the sentence begins with its name.
    """

    latitude: float = 50.0
    longitude: float = 14.4
    height: float = 200.0

    def __post_init__(self) -> None:
        bounds = {"latitude": 90.0, "longitude": 360.0, "height": 1e5}
        check_numbers(self, {name: {"maximum": size} for name, size in bounds.items()})


PARTS = {"outages": GnssOutages, "heading": GnssHeading, "origin": GnssOrigin}
LISTS = {"qualities": FixQuality, "changes": QualityChange}
"""Fields of a receiver that are parts, and those that are several parts."""


@dataclass(frozen=True)
class GnssSpecification:
    """A GNSS receiver; without arguments one without errors.

    Parameters
    ----------
    name : str
    rate : float
        Fixes per second [Hz].
    latency : float
        From a measurement to its arrival [s].
    latency_jitter : float
        By how much more it may be, evenly distributed [s]. No fix overtakes another.
    lever_arm : 3 float
        Where the antenna is, in the robot's axes [m].
    qualities : sequence of FixQuality
        Which there are; the first one is that of the beginning.
    changes : sequence of QualityChange
        Random changes between them.
    schedule : sequence of (float, str)
        Or changes at given times after the start of the motion: time [s] and quality.
    outages : GnssOutages
    heading : GnssHeading
    origin : GnssOrigin

    Raises
    ------
    ConfigurationError
        A value is not what it must be; the sentence begins with its name.
    """

    name: str = "gnss"
    rate: float = 1.0
    latency: float = 0.0
    latency_jitter: float = 0.0
    lever_arm: Any = (0.0, 0.0, 0.0)
    qualities: tuple[FixQuality, ...] = (FixQuality(),)
    changes: tuple[QualityChange, ...] = ()
    schedule: tuple[tuple[float, str], ...] = ()
    outages: GnssOutages = GnssOutages()
    heading: GnssHeading = GnssHeading()
    origin: GnssOrigin = GnssOrigin()

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise ConfigurationError(f"name is {shown(self.name)}, but it must be a text.")
        changed: dict[str, Any] = {
            "rate": checked_number("rate", self.rate, above=0.0, maximum=1e4),
            "latency": checked_number("latency", self.latency, minimum=0.0, maximum=1e3),
            "latency_jitter": checked_number(
                "latency_jitter", self.latency_jitter, minimum=0.0, maximum=1e3
            ),
            "lever_arm": checked_numbers("lever_arm", self.lever_arm, 3, maximum=1e3),
            "schedule": tuple(map(_checked_entry, _listed("schedule", self.schedule))),
        }
        for name, kind in LISTS.items():
            changed[name] = _listed(name, getattr(self, name))
            for one in changed[name]:
                _require(name, one, kind)
        for name, value in changed.items():
            object.__setattr__(self, name, value)
        for name, kind in PARTS.items():
            _require(name, getattr(self, name), kind)
        self._check_qualities()

    def _check_qualities(self) -> None:
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
        for (earlier, _), (later, _) in zip(self.schedule, self.schedule[1:]):
            if not earlier < later:
                raise ConfigurationError(
                    f"schedule has {later:g} s after {earlier:g} s, but its times must increase."
                )


def gnss_from_mapping(content: Mapping[str, Any]) -> GnssSpecification:
    """Return the receiver that keys and values describe; what is left out has its default.

    Parameters
    ----------
    content : mapping
        Fields of :class:`.GnssSpecification`; ``outages``, ``heading`` and ``origin`` are
        mappings in turn, ``qualities`` and ``changes`` lists of such.

    Raises
    ------
    ConfigurationError
        A key is unknown, or a value is not what it must be.
    """
    values = checked_fields(GnssSpecification, content, "the receiver", PARTS, LISTS)
    return GnssSpecification(**values)


def gnss_to_mapping(gnss: GnssSpecification) -> dict[str, Any]:
    """Return keys and values that give the receiver again; what is at its default is left out.

    Only dictionaries, lists, texts and float, so that it can be YAML or JSON.
    """
    content: dict[str, Any] = {"name": gnss.name}
    for field in fields(gnss):
        value = getattr(gnss, field.name)
        if value != field.default:
            content[field.name] = _plain(value)
    return content


def _plain(value):
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if not isinstance(value, (*PARTS.values(), *LISTS.values())):
        return value
    always = {QualityChange: ("before", "after"), FixQuality: ("quality",)}.get(type(value), ())
    return {
        field.name: _plain(getattr(value, field.name))
        for field in fields(value)
        if field.name in always or getattr(value, field.name) != field.default
    }
