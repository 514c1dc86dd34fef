"""A recorded flight, from a file to the states of an aircraft, and what else flights come from."""

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
from ..recordings.quantities import read_samples
from ..recordings.reference import refuse_outside
from .jsbsim import RATE, bundled_scripts, fly
from .udp import PacketReceiver, receive_flight


def _samples(
    path: Any, topic: str, format: str, columns: Any, attitude_topic: str, velocity_topic: str
) -> tuple[Samples, Samples | None, Samples | None]:
    """Return positions, and attitudes and velocities if they have topics of their own."""
    samples = read_samples(path, topic, format, columns, messages.REFERENCE_TYPES, "flight")
    if samples.message_type != messages.NAV_SAT_FIX.name or samples.format != "bag":
        for key, beside in (("attitude_topic", attitude_topic), ("velocity_topic", velocity_topic)):
            if beside:
                raise RecordingError(f"{path}: {key} is of use only beside satellite positions")
        return samples, None, None
    attitude, velocity = read_any_bag(path, attitude_topic, messages.HEADING_TYPES), None
    if velocity_topic:
        velocity = read_any_bag(path, velocity_topic, messages.VELOCITY_TYPES)
    return samples, attitude, velocity


LONGEST_GAP = 5.0
"""Of usual periods, without a state: across more a spline is no motion."""

MIN_GAP = 0.25
"""So long [s] may always be missing."""

_NO_UNIT = 0.1  # by which the length of a quaternion may differ from one
_LOCAL = ("x", "y", "z")


def _joined(positions: Samples, attitude: Samples, velocity: Samples | None) -> Samples:
    """Put orientations and velocities of their own topics beside positions.

    All are taken at the times of that topic of positions and orientations which has more samples,
    as far as all of them reach; splines lead from their own times to those.
    """
    parts = {PLACE: positions, QUATERNION: attitude}
    if velocity is not None:
        parts[LOCAL_VELOCITY] = velocity
    curves = {names: _curve(samples, names) for names, samples in parts.items()}
    times, _, places = max(curves[PLACE], curves[QUATERNION], key=lambda curve: len(curve[0]))
    known = [curve[0] for curve in curves.values()]
    inside = (times >= max(one[0] for one in known)) & (times <= min(one[-1] for one in known))
    if not inside.any():
        raise RecordingError(
            f"{attitude.source}: its samples and those of topic {positions.topic} have no time in "
            "common"
        )
    columns = {"stamp": times[inside]}
    for names, (_, curve, _) in curves.items():
        values = curve(times[inside])
        columns.update(zip(names, (unit(values) if names is QUATERNION else values).T))
    return replace(positions, columns=columns, places=places[inside])


def _curve(samples: Samples, names: Sequence[str]) -> tuple[np.ndarray, Any, np.ndarray]:
    """Return times, a spline through columns, and places; of what can be used."""
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
    """Return a table in east, north, up, quaternions from forward, left, up; places; the report."""
    samples = conventional_reference(_upwards(samples), conventions)
    place = next((names for names in (PLACE, _LOCAL) if samples.has(names)), None)
    if place is None:
        raise RecordingError(f"{samples.source}: a flight needs heights, but it has none")
    attitude = QUATERNION if samples.has(QUATERNION) else EULER
    if not samples.has(attitude):
        raise RecordingError(
            f"{samples.source}: a flight needs orientations, or roll, pitch and yaw"
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
        # Roll, pitch, yaw are about x, then y, then z of the world.
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
    """Refuse a flight of which too much is missing at once."""
    steps = np.diff(times)
    usual = float(np.median(steps))
    longest = max(LONGEST_GAP * usual, MIN_GAP)
    if len(steps) and np.max(steps) > longest:
        row = int(np.argmax(steps))
        raise RecordingError(
            f"{samples.source}: {samples.place_name} {places[row + 1]}: nothing was recorded for "
            f"{steps[row]:.3f} s before it, expected at most {longest:.3g} s, as a spline leads "
            "from one state to the next; cut the recording there"
        )


def _refuse_none(samples: Samples, cleaner: Cleaner) -> None:
    """Refuse quaternions that are none, but for those of zero, which say that nothing is known."""
    norms = np.linalg.norm(samples.matrix(QUATERNION), axis=1)
    with np.errstate(invalid="ignore"):
        wrong = cleaner.keep & (norms > 1e-6) & (np.abs(norms - 1.0) > _NO_UNIT)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise RecordingError(
            f"{samples.source}: {samples.place_name} {samples.places[row]}: qx, qy, qz, qw have "
            f"the length {norms[row]:.4g}, expected 1, as the quaternion of an orientation has"
        )


def _upwards(samples: Samples) -> Samples:
    """Return samples with velocities upwards."""
    columns = dict(samples.columns)
    if {"velocity_down", "velocity_up"} <= set(columns):
        raise RecordingError(
            f"{samples.source}: velocity_up and velocity_down are both given; expected one of them"
        )
    if "velocity_down" in columns:
        columns["velocity_up"] = -columns.pop("velocity_down")
    return replace(samples, columns=columns)


AXES = ("auto", "enu", "ned")
PATHS = ("auto", "positions", "velocities")

_COARSE = 1e-3  # m; step of a position's last digit that is worth a word
_CONTRADICTION = (1.0, 0.1)  # by which displacements may be off: m/s, and share of the speed
_OVER = 5.0  # s, over which displacements are compared
_NEARLY = 1e-7
_NANOSECOND = 1e-9
_LOOKED_AT = 1000  # numbers, for their digits


@dataclass(frozen=True)
class RecordedFlight:
    """A flight that somebody recorded, and what was found in the recording."""

    flight: Flight
    report: RecordingReport


def read_flight(
    path: str | os.PathLike[str],
    topic: str = "",
    format: str = "auto",
    columns: Mapping[str, str] | None = None,
    *,
    axes: str = "auto",
    yaw_convention: str = "",
    quaternion_order: str = "xyzw",
    quaternion_inverse: bool = False,
    origin: Sequence[float] | None = None,
    attitude_topic: str = "",
    velocity_topic: str = "",
    along: str = "auto",
    stamp_limits: StampLimits | None = None,
) -> RecordedFlight:
    """Read a recorded flight.

    ``path``, ``format``: as for
    :func:`~imu_simulation_framework.recordings.reading.read_reference_samples`. ``topic``: in a
    bag: positions as sensor_msgs/NavSatFix, or poses (nav_msgs/Odometry, geometry_msgs/PoseStamped,
    geometry_msgs/PoseWithCovarianceStamped) about an origin. ``columns`` (mapping of str to str):
    for CSV: quantity -> ``"column [unit]"``. Needs ``time``, either ``latitude longitude altitude``
    or ``x y z`` about an origin, and either ``qx qy qz qw`` or ``roll pitch`` with ``yaw`` or
    ``heading``; with ``velocity_north velocity_east`` and ``velocity_down`` or ``velocity_up`` if
    known.

    ``axes``: ``enu``: world east, north, up and body forward, left, up; ``ned``: world north, east,
    down and body forward, right, down. ``auto``: the latter for a CSV with ``velocity_down`` or
    ``heading``, otherwise the former; a remark says which it was. ``yaw_convention``,
    ``quaternion_order``, ``quaternion_inverse``: as in :class:`.ReferenceConventions`. ``origin``
    (3 float): of positions x, y, z: latitude, longitude [deg] and height [m].

    ``attitude_topic``, ``velocity_topic``: in a bag, beside a NavSatFix: orientations, as
    sensor_msgs/Imu or poses, empty for the only one; and velocities to the east, to the north and
    up. ``along``: ``positions``: the path is a spline through the positions. ``velocities``: it is
    the integral of the velocities, see :meth:`.FlightStates.integrated`; an IMU feels the
    derivative of a velocity, and of positions the second one, which magnifies noise and the steps
    of the last digit. ``auto``: the latter where there are velocities.

    Times of the result begin with zero; ``settings`` has the start on the recording's clock. Raises
    RecordingError if the recording cannot be read, or its data cannot be used. Raises
    ConfigurationError if a choice is none.
    """
    check_choice("the axes of a recorded flight", axes, AXES)
    check_choice("the path of a recorded flight", along, PATHS)
    if origin is not None:
        origin = check_numbers("the origin of a recorded flight", origin, 3)
    beside = attitude_topic, velocity_topic
    samples, attitude, velocity = _samples(path, topic, format, columns, *beside)
    frame = axes if axes != "auto" else _axes_of(samples)
    orders = quaternion_order, quaternion_inverse
    conventions = ReferenceConventions(frame, yaw_convention, *orders)
    limits = stamp_limits or StampLimits(gap_factor=1.5)
    if attitude is not None:
        samples = _joined(samples, attitude, velocity)
    table, places, report = _clean(samples, conventions, limits)
    _refuse_gaps(samples, table.index.to_numpy(), places)
    start = float(table.index[0])
    table.index = pd.Index(_even(table.index.to_numpy() - start, start), name="time")
    remarks = []
    if axes == "auto" and samples.format == "csv":
        remarks.append(_AXES_SAID[frame])
    states = _states(samples, table, origin)
    states, said = _along(samples, states, along, _step(table))
    remarks += said
    report = replace(report, remarks=report.remarks + tuple(remarks))
    settings = {
        "source": "recording",
        "path": str(path),
        "axes": frame,
        "start": start,
        "rate": report.stamps.rate,
        "duration": report.stamps.duration,
    }
    return RecordedFlight(Flight(states, settings, remarks=tuple(report.sentences())), report)


_AXES_SAID = {
    "enu": "angles and velocities are taken as of a world east, north, up and a body forward, "
    "left, up",
    "ned": "angles and velocities are taken as aviation has them: a world north, east, down and a "
    "body forward, right, down",
}


def _axes_of(samples: Samples) -> str:
    """Return the axes that the columns of a table tell."""
    if samples.format != "csv" or "velocity_up" in samples:
        return "enu"
    # A column called heading says so, and one called yaw with its words does not.
    heading = samples.yaw_conventions.get("yaw") == "cw_from_north"
    return "ned" if "velocity_down" in samples or heading else "enu"


def _even(time: np.ndarray, start: float) -> np.ndarray:
    """Return even times where they are but for the rounding of a clock that began at ``start``.

    Seconds since 1970 have steps of 2e-7 s as floats, in which an aircraft flies 1e-5 m: at 100 Hz
    an acceleration of 0.1 m/s^2.
    """
    period = float(np.median(np.diff(time)))
    counts = np.rint(time / period)
    if np.any(np.diff(counts) <= 0.0):
        return time
    rate = counts[-1] / time[-1]
    rate = round(rate) if abs(rate - round(rate)) < _NEARLY * rate else rate
    even = np.rint(time * rate) / rate
    rounding = 2.0 * float(np.spacing(start + time[-1])) + _NANOSECOND
    return even if np.max(np.abs(even - time)) <= rounding else time


def _states(samples: Samples, table: pd.DataFrame, origin: Sequence[float] | None) -> FlightStates:
    """Return states of a table in east, north, up."""
    time, orientation = table.index.to_numpy(), table[list(QUATERNION)].to_numpy()
    moving = set(LOCAL_VELOCITY) <= set(table)
    velocity = table[list(LOCAL_VELOCITY)].to_numpy() if moving else None
    if "latitude" in table:
        places = table[list(PLACE)].to_numpy()
        places[:, :2] = np.radians(places[:, :2])
        return FlightStates.from_local(time, places, orientation, velocity)
    if origin is None:
        raise RecordingError(
            f"{samples.source}: its positions are x, y, z, so a flight needs the origin's "
            "latitude, longitude and height"
        )
    # Positions and orientations are in the axes of one place.
    latitude, longitude, height = np.radians(origin[0]), np.radians(origin[1]), origin[2]
    level = enu_to_ecef(latitude, longitude)
    position = ecef_of(latitude, longitude, height) + level.apply(table[list(_LOCAL)].to_numpy())
    turned = (level * Rotation.from_quat(orientation)).as_quat()
    return FlightStates(time, position, turned, None if velocity is None else level.apply(velocity))


def _along(
    samples: Samples, states: FlightStates, along: str, step: float
) -> tuple[FlightStates, list[str]]:
    """Return states along the path that is asked for, and remarks."""
    if states.velocity is None:
        if along == "velocities":
            raise RecordingError(
                f"{samples.source}: its path cannot be that of its velocities, as it has none"
            )
        coarse = step > _COARSE and along == "auto"
        return states, [_coarse(step) + ", so that accelerations mean nothing"] if coarse else []
    _refuse_contradiction(samples, states)
    if along == "positions":
        return states, []
    found = states.integrated()
    off = float(np.max(np.linalg.norm(found.position - states.position, axis=1)))
    digits = f"; {_coarse(step)}" if step > _COARSE else ""
    return found, [
        f"the path is the integral of the velocities, at most {off:.2g} m from the "
        f"positions{digits}"
    ]


def _coarse(step: float) -> str:
    return f"positions come in steps of {step:.2g} m"


def _refuse_contradiction(samples: Samples, states: FlightStates) -> None:
    """Refuse velocities that are not those of the positions, seconds taken together."""
    period = float(np.median(np.diff(states.time)))
    apart = min(max(1, round(_OVER / period)), len(states) - 1)
    moved = states.position - states.integrated().position
    lasted = states.time[apart:] - states.time[:-apart]
    wrong = np.linalg.norm(moved[apart:] - moved[:-apart], axis=1) / lasted
    speed = float(np.sqrt(np.mean(np.sum(np.asarray(states.velocity) ** 2, axis=1))))
    usual = float(np.median(wrong))
    least, share = _CONTRADICTION
    if usual > max(least, share * speed):
        raise RecordingError(
            f"{samples.source}: its velocities are usually {usual:.3g} m/s from those of its "
            f"positions, at a speed of {speed:.3g} m/s; are they to the north, to the east and "
            "down, in the unit that is said?"
        )


def _step(table: pd.DataFrame) -> float:
    """Return what the last digit of the positions counts [m]."""
    names = PLACE[:2] if "latitude" in table else _LOCAL
    rows = np.linspace(0, len(table) - 1, min(len(table), _LOOKED_AT)).astype(int)
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
    """Return the flight that is meant, and what is to be said of it.

    ``source`` (str or path-like): a script of JSBSim's own by its name, as ``c3104``, the file of
    another one (``.xml``), a recorded flight, or ``udp:`` and a port of this computer, to which a
    JSBSim that runs elsewhere on it sends. ``duration``: of the flight, from ``start`` on [s].
    ``rate``: JSBSim's steps per second [Hz]. ``start``: on the script's clock; after the beginning
    of a recording or of what was received [s]. ``silence``: so long without a packet is the end of
    what is received [s]. Raises SimulatorError if JSBSim cannot fly it, or nothing was received.
    Raises RecordingError if the recording cannot be read. Raises MotionError if a recording has
    nothing between start and end. Raises ConfigurationError if a number is out of range.
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
    """Return whether a script of JSBSim is meant.

    A name without an ending that is no file is one of its own, of which it knows the near ones.
    """
    path = Path(name)
    return path.suffix == ".xml" or not (path.exists() or path.suffix)


def _cut(flight: Flight, start: float, duration: float) -> Flight:
    begin = float(flight.states.time[0]) + start
    return replace(flight, states=flight.states.between(begin, begin + duration))


def _port(name: str) -> int:
    number = name[len(_UDP) :]
    if not (number.isascii() and number.isdigit() and len(number) <= 5):
        raise ConfigurationError(f"{quote(name)} is no source of packets, expected udp:PORT")
    return int(number)
