"""Reading of recorded flights, and selection of a flight source.

A recorded flight has the time, position, orientation and, optionally, velocity of an aircraft:

- The columns of a CSV file are named like the quantities in column maps, with units in brackets
  such as ``altitude [ft]``: ``latitude longitude altitude``, or ``x y z`` relative to an
  ``origin``; ``qx qy qz qw``, or ``roll pitch`` with ``yaw`` or ``heading``; ``velocity_north
  velocity_east`` with ``velocity_down`` or ``velocity_up``.
- A bag has a sensor_msgs/NavSatFix, orientations in ``attitude_topic`` (sensor_msgs/Imu or poses)
  and velocities in ``velocity_topic`` (geometry_msgs/TwistStamped); or it has poses relative to an
  ``origin`` (nav_msgs/Odometry, geometry_msgs/PoseStamped, ...). Topics with different rates are
  interpolated with splines.

Axes follow the convention of ROS (``enu``) or of aviation (``ned``). For a CSV file with
``velocity_down`` or ``heading``, aviation axes are assumed and reported; ``axes`` overrides this.

An IMU measures the second derivative of a position, so that a step of 1 mm causes 2.5 m/s^2 at
50 Hz. If velocities are recorded, the path is therefore computed as their integral, shifted to the
positions; with ``along="positions"``, the positions are used directly.

Velocities that contradict the positions are rejected, because axes or units must be wrong.
Quaternions with a norm other than 1, clocks that run backwards, and gaps of more than five
periods (at least 0.25 s) are rejected with their line numbers. Samples with values that are not
numbers are omitted and reported.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Mapping, Sequence

import numpy as np
import pandas as pd
from scipy.interpolate import CubicSpline
from scipy.spatial.transform import Rotation

from ..core.checks import check_choice, check_numbers
from ..core.errors import ConfigurationError, RecordingError
from ..core.sentences import quote
from ..core.stamps import StampLimits
from ..core.tables import EULER, LOCAL_VELOCITY, PLACE, QUATERNION
from ..motion.earth import SEMI_MAJOR_AXIS, ecef_of
from ..motion.earth_motion import enu_to_ecef
from ..motion.flight import Flight, FlightStates
from ..motion.motion import quaternion_spline, unit
from ..recordings import messages
from ..recordings.cleaning import MINIMUM_SAMPLES, Cleaner, RecordingReport, Samples
from ..recordings.formats.any_format import read_any_bag
from ..recordings.frames import ReferenceConventions, conventional_reference
from ..recordings.quantities import SampleRequest, read_samples
from ..recordings.reference import refuse_outside
from .defaults import RATE
from .jsbsim import bundled_scripts, fly
from .udp import PacketReceiver, receive_flight

LONGEST_GAP = 5.0
"""Longest gap that may be interpolated, in median sampling periods."""

MIN_GAP = 0.25
"""Duration up to which gaps are always accepted [s]."""

_MAX_NORM_ERROR = 0.1  # largest accepted deviation of a quaternion norm from 1
_LOCAL = ("x", "y", "z")


def _join_topics(positions: Samples, attitude: Samples, velocity: Samples | None) -> Samples:
    """Interpolate positions, orientations and velocities from separate topics to common times.

    The times are taken from the positions or the orientations, whichever have more samples, in the
    interval that all topics cover. The interpolation uses splines.
    """
    parts = {PLACE: positions, QUATERNION: attitude}
    if velocity is not None:
        parts[LOCAL_VELOCITY] = velocity
    curves = {names: _curve(samples, names) for names, samples in parts.items()}
    times, _, places = max(curves[PLACE], curves[QUATERNION], key=lambda curve: len(curve[0]))
    known = [curve[0] for curve in curves.values()]
    begin, end = max(part[0] for part in known), min(part[-1] for part in known)
    inside = (times >= begin) & (times <= end)
    if not inside.any():
        raise RecordingError(
            f"{attitude.source}: the samples do not overlap in time with the samples of topic "
            f"{positions.topic}"
        )
    columns = {"stamp": times[inside]}
    for names, (_, curve, _) in curves.items():
        values = curve(times[inside])
        columns.update(zip(names, (unit(values) if names is QUATERNION else values).T))
    return replace(positions, columns=columns, places=places[inside])


def _curve(samples: Samples, names: Sequence[str]) -> tuple[np.ndarray, Any, np.ndarray]:
    """Return the times of usable samples, a spline through them, and their line numbers."""
    cleaner = Cleaner(samples)
    cleaner.drop_nan(names)
    if names is QUATERNION:
        samples.columns.update(zip(QUATERNION, cleaner.unit_quaternions(QUATERNION).T))
    order, _ = cleaner.finish(StampLimits(), 4)
    times = cleaner.times[order]
    _refuse_gaps(samples, times, samples.places[order])
    values = samples.matrix(names)[order]
    spline = quaternion_spline if names is QUATERNION else CubicSpline
    return times, spline(times, values), samples.places[order]


def _clean(
    samples: Samples, conventions: ReferenceConventions, limits: StampLimits
) -> tuple[pd.DataFrame, np.ndarray, Any]:
    """Return a table in east, north, up axes with quaternions, its line numbers, and a report."""
    samples = conventional_reference(_to_upward_velocity(samples), conventions)
    place = next((names for names in (PLACE, _LOCAL) if samples.has(names)), None)
    if place is None:
        raise RecordingError(f"{samples.source}: heights are missing, but required for a flight")
    attitude = QUATERNION if samples.has(QUATERNION) else EULER
    if not samples.has(attitude):
        raise RecordingError(
            f"{samples.source}: orientations, or roll, pitch and yaw, are missing, but required "
            "for a flight"
        )
    velocity = LOCAL_VELOCITY if samples.has(LOCAL_VELOCITY) else ()
    cleaner = Cleaner(samples)
    cleaner.drop_nan(place + attitude + velocity)
    if place is PLACE:
        refuse_outside(samples, cleaner)
    if attitude is QUATERNION:
        _refuse_none(samples, cleaner)
        quaternions = cleaner.unit_quaternions(QUATERNION)
    else:
        # Roll, pitch and yaw are rotations about the fixed world axes x, y and z, in this order.
        angles = np.where(cleaner.keep[:, None], samples.matrix(EULER), 0.0)
        quaternions = Rotation.from_euler("xyz", angles).as_quat()
    order, report = cleaner.finish(limits, MINIMUM_SAMPLES)
    table = pd.DataFrame(
        {name: samples.columns[name][order] for name in place + velocity},
        index=pd.Index(cleaner.times[order], name="time"),
    )
    for name, values in zip(QUATERNION, quaternions[order].T):
        table[name] = values
    return table, samples.places[order], report


def _refuse_gaps(samples: Samples, times: np.ndarray, places: np.ndarray) -> None:
    """Reject a flight with a long time gap between samples."""
    steps = np.diff(times)
    median_step = float(np.median(steps))
    longest = max(LONGEST_GAP * median_step, MIN_GAP)
    if len(steps) and np.max(steps) > longest:
        row = int(np.argmax(steps))
        raise RecordingError(
            f"{samples.source}: {samples.place_name} {places[row + 1]}: the gap before this sample "
            f"lasts {steps[row]:.3f} s, expected at most {longest:.3g} s for interpolation; split "
            "the recording there"
        )


def _refuse_none(samples: Samples, cleaner: Cleaner) -> None:
    """Reject quaternions whose norm is not one, except zero quaternions (unknown orientation)."""
    norms = np.linalg.norm(samples.matrix(QUATERNION), axis=1)
    with np.errstate(invalid="ignore"):
        is_wrong = cleaner.keep & (norms > 1e-6) & (np.abs(norms - 1.0) > _MAX_NORM_ERROR)
    if is_wrong.any():
        row = int(np.argmax(is_wrong))
        raise RecordingError(
            f"{samples.source}: {samples.place_name} {samples.places[row]}: qx, qy, qz, qw have "
            f"the length {norms[row]:.4g}, expected 1"
        )


def _to_upward_velocity(samples: Samples) -> Samples:
    """Replace downward velocities in samples with upward velocities."""
    columns = dict(samples.columns)
    if {"velocity_down", "velocity_up"} <= set(columns):
        raise RecordingError(
            f"{samples.source}: velocity_up and velocity_down are both present, expected only one"
        )
    if "velocity_down" in columns:
        columns["velocity_up"] = -columns.pop("velocity_down")
    return replace(samples, columns=columns)


AXES = ("auto", "enu", "ned")
PATHS = ("auto", "positions", "velocities")

_COARSE_STEP = 1e-3  # m; a coarser position resolution is reported
_MAX_CONTRADICTION = (
    1.0,
    0.1,
)  # tolerance of the velocity check: m/s, and share of the speed
_COMPARED_DURATION = 5.0  # s; time over which displacements are compared
_RATE_TOLERANCE = 1e-7  # largest relative deviation of a rate that is rounded to an integer
_NANOSECOND = 1e-9
_EXAMINED_ROWS = 1000  # number of rows whose decimal places are counted


@dataclass(frozen=True)
class RecordedFlight:
    """Recorded flight, with a report on the recording.

    Attributes
    ----------
    flight : Flight
    report : RecordingReport
    """

    flight: Flight
    report: RecordingReport


@dataclass(frozen=True)
class FlightSource:
    """Source of a recorded flight, with the settings for reading it.

    Parameters
    ----------
    path : path-like
        Recording in any format of
        :func:`~imu_simulation_framework.recordings.reading.read_reference_samples`.
    topic : str, optional
        Topic of a bag with positions (sensor_msgs/NavSatFix), or with poses relative to an origin
        (nav_msgs/Odometry, geometry_msgs/PoseStamped, geometry_msgs/PoseWithCovarianceStamped).
    format : str, optional
        Format of the recording, or ``auto``.
    columns : mapping of str to str, optional
        Column ``"name [unit]"`` for each quantity in a CSV file. Required are ``time``; ``latitude
        longitude altitude``, or ``x y z`` relative to an origin; ``qx qy qz qw``, or ``roll pitch``
        with ``yaw`` or ``heading``. Optional are ``velocity_north velocity_east`` with
        ``velocity_down`` or ``velocity_up``.
    axes : str, optional
        ``enu``: east, north, up world axes and forward, left, up body axes. ``ned``: north, east,
        down world axes and forward, right, down body axes. ``auto``: ``ned`` for a CSV
        file with ``velocity_down`` or ``heading``, otherwise ``enu``; a remark reports the choice.
    yaw_convention, quaternion_order : str, optional
        Conventions, see :class:`.ReferenceConventions`.
    quaternion_inverse : bool, optional
        Whether quaternions rotate from world to body.
    origin : sequence of float, optional
        Origin of positions x, y, z: latitude, longitude [deg] and height [m].
    attitude_topic : str, optional
        Topic with orientations, sensor_msgs/Imu or poses, in a bag with NavSatFix; empty to use the
        only such topic.
    velocity_topic : str, optional
        Topic with velocities to the east, to the north and up in a bag with NavSatFix.
    along : str, optional
        ``positions``: the path is a spline through the positions. ``velocities``: the path is the
        integral of the velocities, see :meth:`.FlightStates.integrated`. An IMU measures the first
        derivative of a velocity, but the second derivative of a position, which amplifies noise and
        rounding. ``auto``: ``velocities`` if they are recorded.
    stamp_limits : StampLimits, optional
        Limits for gaps and unordered stamps.

    Raises
    ------
    ConfigurationError
        A choice is invalid.
    """

    path: str | os.PathLike[str]
    topic: str = ""
    format: str = "auto"
    columns: Mapping[str, str] | None = None
    axes: str = "auto"
    yaw_convention: str = ""
    quaternion_order: str = "xyzw"
    quaternion_inverse: bool = False
    origin: Sequence[float] | None = None
    attitude_topic: str = ""
    velocity_topic: str = ""
    along: str = "auto"
    stamp_limits: StampLimits | None = None

    def __post_init__(self) -> None:
        check_choice("the axes of a recorded flight", self.axes, AXES)
        check_choice("the path of a recorded flight", self.along, PATHS)
        if self.origin is not None:
            origin = check_numbers("the origin of a recorded flight", self.origin, 3)
            object.__setattr__(self, "origin", origin)

    def read(self) -> RecordedFlight:
        """Read the flight.

        Returns
        -------
        RecordedFlight
            Flight whose times start at zero; ``settings`` contains the start on the clock of the
            recording.

        Raises
        ------
        RecordingError
            The recording cannot be read, or its data cannot be used.
        """
        samples, attitude, velocity = self._read_topics()
        frame = self.axes if self.axes != "auto" else _detect_axes(samples)
        conventions = ReferenceConventions(
            frame, self.yaw_convention, self.quaternion_order, self.quaternion_inverse
        )
        limits = self.stamp_limits or StampLimits(gap_factor=1.5)
        if attitude is not None:
            samples = _join_topics(samples, attitude, velocity)
        table, places, report = _clean(samples, conventions, limits)
        _refuse_gaps(samples, table.index.to_numpy(), places)
        start = float(table.index[0])
        table.index = pd.Index(_to_even_times(table.index.to_numpy() - start, start), name="time")
        remarks = []
        if self.axes == "auto" and samples.format == "csv":
            remarks.append(_AXES_REMARKS[frame])
        states = _to_states(samples, table, self.origin)
        states, path_remarks = _choose_path(samples, states, self.along, _position_step(table))
        remarks += path_remarks
        report = replace(report, remarks=report.remarks + tuple(remarks))
        settings = {
            "source": "recording",
            "path": str(self.path),
            "axes": frame,
            "start": start,
            "rate": report.stamps.rate,
            "duration": report.stamps.duration,
        }
        return RecordedFlight(Flight(states, settings, remarks=tuple(report.sentences())), report)

    def _read_topics(self) -> tuple[Samples, Samples | None, Samples | None]:
        """Read positions, attitudes and velocities from separate topics."""
        path, types = self.path, messages.REFERENCE_TYPES
        request = SampleRequest("flight", types, self.topic, self.format, self.columns)
        samples = read_samples(path, request)
        if samples.message_type != messages.NAV_SAT_FIX.name or samples.format != "bag":
            for key in ("attitude_topic", "velocity_topic"):
                if getattr(self, key):
                    raise RecordingError(f"{path}: {key} is set, expected only with GNSS positions")
            return samples, None, None
        attitude = read_any_bag(path, self.attitude_topic, messages.HEADING_TYPES)
        if not self.velocity_topic:
            return samples, attitude, None
        return samples, attitude, read_any_bag(path, self.velocity_topic, messages.VELOCITY_TYPES)


def read_flight(
    path: str | os.PathLike[str],
    topic: str = "",
    format: str = "auto",
    columns: Mapping[str, str] | None = None,
    **settings: Any,
) -> RecordedFlight:
    """Read a recorded flight.

    Parameters
    ----------
    path : path-like
        Recording in any format of
        :func:`~imu_simulation_framework.recordings.reading.read_reference_samples`.
    topic : str, optional
        Topic of a bag with positions, or with poses relative to an origin.
    format : str, optional
        Format of the recording, or ``auto``.
    columns : mapping of str to str, optional
        Column ``"name [unit]"`` for each quantity in a CSV file.
    **settings
        Further fields of :class:`.FlightSource`: ``axes``, ``yaw_convention``,
        ``quaternion_order``, ``quaternion_inverse``, ``origin``, ``attitude_topic``,
        ``velocity_topic``, ``along``, ``stamp_limits``.

    Returns
    -------
    RecordedFlight
        Flight whose times start at zero; ``settings`` contains the start on the clock of the
        recording.

    Raises
    ------
    RecordingError
        The recording cannot be read, or its data cannot be used.
    ConfigurationError
        A choice is invalid.
    """
    return FlightSource(path, topic, format, columns, **settings).read()


_AXES_REMARKS = {
    "enu": "angles and velocities are assumed to refer to east, north, up world axes and forward, "
    "left, up body axes",
    "ned": "angles and velocities follow aviation's convention: north, east, down world axes and "
    "forward, right, down body axes",
}


def _detect_axes(samples: Samples) -> str:
    """Return the axis convention that is implied by the columns of a table."""
    if samples.format != "csv" or "velocity_up" in samples:
        return "enu"
    # A column named heading implies NED axes; a yaw with a user-specified convention does not.
    heading = samples.yaw_conventions.get("yaw") == "cw_from_north"
    return "ned" if "velocity_down" in samples or heading else "enu"


def _to_even_times(time: np.ndarray, start: float) -> np.ndarray:
    """Return evenly spaced times if deviations are only rounding errors of a clock at ``start``.

    Seconds since 1970 have a resolution of 2e-7 s as floats, during which an aircraft flies 1e-5 m.
    This causes an acceleration error of 0.1 m/s^2 at 100 Hz.
    """
    period = float(np.median(np.diff(time)))
    counts = np.rint(time / period)
    if np.any(np.diff(counts) <= 0.0):
        return time
    rate = counts[-1] / time[-1]
    rate = round(rate) if abs(rate - round(rate)) < _RATE_TOLERANCE * rate else rate
    even_times = np.rint(time * rate) / rate
    rounding = 2.0 * float(np.spacing(start + time[-1])) + _NANOSECOND
    return even_times if np.max(np.abs(even_times - time)) <= rounding else time


def _to_states(
    samples: Samples, table: pd.DataFrame, origin: Sequence[float] | None
) -> FlightStates:
    """Convert a table in east, north, up axes to flight states."""
    time, orientation = table.index.to_numpy(), table[list(QUATERNION)].to_numpy()
    has_velocity = set(LOCAL_VELOCITY) <= set(table)
    velocity = table[list(LOCAL_VELOCITY)].to_numpy() if has_velocity else None
    if "latitude" in table:
        places = table[list(PLACE)].to_numpy()
        places[:, :2] = np.radians(places[:, :2])
        return FlightStates.from_local(time, places, orientation, velocity)
    if origin is None:
        raise RecordingError(
            f"{samples.source}: positions x, y, z require an origin with latitude, "
            "longitude and height"
        )
    # Positions and orientations are relative to the local east, north, up axes at the origin.
    latitude, longitude, height = np.radians(origin[0]), np.radians(origin[1]), origin[2]
    level = enu_to_ecef(latitude, longitude)
    position = ecef_of(latitude, longitude, height) + level.apply(table[list(_LOCAL)].to_numpy())
    level_orientation = (level * Rotation.from_quat(orientation)).as_quat()
    return FlightStates(
        time, position, level_orientation, None if velocity is None else level.apply(velocity)
    )


def _choose_path(
    samples: Samples, states: FlightStates, along: str, step: float
) -> tuple[FlightStates, list[str]]:
    """Return the states along the selected path, and remarks."""
    if states.velocity is None:
        if along == "velocities":
            raise RecordingError(
                f"{samples.source}: velocities are missing, but along = velocities requires them"
            )
        if step > _COARSE_STEP and along == "auto":
            return states, [_describe_step(step) + ", so that accelerations are meaningless"]
        return states, []
    _refuse_contradiction(samples, states)
    if along == "positions":
        return states, []
    integrated = states.integrated()
    distance = float(np.max(np.linalg.norm(integrated.position - states.position, axis=1)))
    digits = f"; {_describe_step(step)}" if step > _COARSE_STEP else ""
    return integrated, [
        f"the path is the integral of the velocities, at most {distance:.2g} m from the "
        f"positions{digits}"
    ]


def _describe_step(step: float) -> str:
    return f"the resolution of the positions is {step:.2g} m"


def _refuse_contradiction(samples: Samples, states: FlightStates) -> None:
    """Reject velocities that are inconsistent with the displacements over several seconds."""
    period = float(np.median(np.diff(states.time)))
    lag = min(max(1, round(_COMPARED_DURATION / period)), len(states) - 1)
    difference = states.position - states.integrated().position
    duration = states.time[lag:] - states.time[:-lag]
    errors = np.linalg.norm(difference[lag:] - difference[:-lag], axis=1) / duration
    speed = float(np.sqrt(np.mean(np.sum(np.asarray(states.velocity) ** 2, axis=1))))
    median_error = float(np.median(errors))
    least, share = _MAX_CONTRADICTION
    if median_error > max(least, share * speed):
        raise RecordingError(
            f"{samples.source}: the median difference between the velocities and the derivative of "
            f"the positions is {median_error:.3g} m/s at a speed of {speed:.3g} m/s, expected at "
            f"most {max(least, share * speed):.3g} m/s; check the directions and units of the "
            "velocities"
        )


def _position_step(table: pd.DataFrame) -> float:
    """Return the position resolution, the value of the last decimal place [m]."""
    names = PLACE[:2] if "latitude" in table else _LOCAL
    rows = np.linspace(0, len(table) - 1, min(len(table), _EXAMINED_ROWS)).astype(int)
    step = max(_last_digit(table[name].to_numpy()[rows]) for name in names)
    return step * (SEMI_MAJOR_AXIS * np.pi / 180.0 if "latitude" in table else 1.0)


def _last_digit(values: np.ndarray) -> float:
    decimals = [0]
    for value in values.tolist():
        mantissa, _, exponent = repr(value).partition("e")
        decimals.append(len(mantissa.partition(".")[2]) - int(exponent or 0))
    return 10.0 ** -max(decimals)


SILENCE = 30.0
_UDP = "udp:"


def find_flight(
    source: str | os.PathLike[str],
    duration: float = 200.0,
    rate: float = RATE,
    start: float = 0.0,
    silence: float = SILENCE,
) -> tuple[Flight, tuple[str, ...]]:
    """Read, receive or simulate a flight.

    Parameters
    ----------
    source : str or path-like
        Name of a bundled JSBSim script, for example ``c3104``; script file (``.xml``); recorded
        flight; or ``udp:PORT`` for packets of another JSBSim process.
    duration : float
        Duration after ``start`` [s].
    rate : float
        Simulation rate of JSBSim [Hz].
    start : float
        Start on the clock of the script, or relative to the first sample or packet [s].
    silence : float
        Time without packets after which the reception ends [s].

    Returns
    -------
    tuple of Flight and tuple of str
        Flight, and remarks on it.

    Raises
    ------
    SimulatorError
        JSBSim cannot run the script, or no packets are received.
    RecordingError
        The recording cannot be read.
    MotionError
        The recording has no states between start and end.
    ConfigurationError
        A number is out of range.
    """
    name = os.fspath(source)
    if name.startswith(_UDP) and not Path(name).exists():
        with PacketReceiver(_port(name)) as receiver:
            flight = receive_flight(receiver, start + duration, silence)
        return _cut(flight, start, duration), flight.remarks
    if is_script(name) or name in bundled_scripts():
        flight = fly(name, duration, rate, start)
        return flight, flight.remarks
    recorded = read_flight(name)
    remarks = (*recorded.report.remarks, *recorded.flight.remarks)
    return _cut(recorded.flight, start, duration), remarks


def is_script(name: str | os.PathLike[str]) -> bool:
    """Return whether a name refers to a JSBSim script.

    A name without a suffix that is not a file is treated as the name of a bundled script.

    Parameters
    ----------
    name : path-like
        Name of a script, or path.

    Returns
    -------
    bool
    """
    path = Path(name)
    return path.suffix == ".xml" or not (path.exists() or path.suffix)


def _cut(flight: Flight, start: float, duration: float) -> Flight:
    begin = float(flight.states.time[0]) + start
    return replace(flight, states=flight.states.between(begin, begin + duration))


def _port(name: str) -> int:
    number = name[len(_UDP) :]
    if not (number.isascii() and number.isdigit() and len(number) <= 5):
        raise ConfigurationError(f"source is {quote(name)}, expected udp:PORT for packets")
    return int(number)
