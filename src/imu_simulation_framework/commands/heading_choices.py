"""What the command lines on heading drift have in common: a motion, IMUs, times and angles."""

from __future__ import annotations

import argparse
import dataclasses
import math
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Sequence

import numpy as np

from ..core.errors import ConfigurationError
from ..core.units import parse_amount
from ..heading.model.parameters import is_yaw_error_model_file, read_yaw_error_model
from ..motion import sources
from ..motion.drives import DRIVES
from ..motion.earth_motion import EarthMotion, on_earth
from ..motion.motion import Motion
from ..sensors.files import imu_catalogue
from ..sensors.formats.registry import NamedImu, named_imu
from ..sensors.imu_specification import ImuSpecification
from ..sensors.magnetism.environment import MagneticEnvironment, read_magnetic_environment
from ..sensors.measured import part_of
from ..sensors.operation import Operation
from .command_line import accepted_number, number_type

FLIGHT_DURATION = 200.0
"""Of a script of JSBSim [s]."""

MAX_SAMPLES = 360_000
"""Of a described motion for a linear model, an hour at 100 Hz; a longer one has longer steps."""
SAMPLES_PER_TURN = 100
"""At least, so that the filter's lean in a curve is known."""

_TIMES = ("s", "ms", "min", "h")
_ANGLES = ("deg", "rad", "mrad", "mdeg", "arcsec")


class ChosenMotion(NamedTuple):
    """``name`` for a person; ``motion``; ``files`` that it was read from; ``remarks`` on how.

    ``sample``: from one of the sensor's samples to the next [s], where the motion has longer steps.
    """

    name: str
    motion: Motion | EarthMotion
    files: tuple[str, ...]
    remarks: tuple[str, ...] = ()
    sample: float | None = None


def positive_angle(text: str) -> float:
    """Return an angle in radians above zero: ``5``, ``5deg``, ``0.1rad``; for argparse."""
    return _quantity(text, "deg", _ANGLES, "an angle, as 5, 5deg or 0.1rad")


def duration(text: str) -> float:
    """Return a time in seconds, zero or above: ``0``, ``10s``, ``2min``; for argparse."""
    return 0.0 if text.strip() in ("0", "0s") else positive_duration(text)


def positive_duration(text: str) -> float:
    """Return a time in seconds above zero: ``600``, ``600s``, ``10min``, ``1.5h``; for argparse."""
    return _quantity(text, "s", _TIMES, "a time, as 600, 90s, 10min or 1.5h")


def probability(text: str) -> float:
    """Return a probability between 0 and 1: ``0.95`` or ``95%``; for argparse."""
    refusal = f"'{text}' is not between 0 and 1, as 0.95 or 95%"
    digits, unit = (text[:-1], 100.0) if text.endswith("%") else (text, 1.0)
    return accepted_number(digits, lambda value: 0.0 < value / unit < 1.0, refusal) / unit


latitude = number_type(
    lambda degrees: -90.0 <= degrees <= 90.0, "is not a latitude from -90 to 90 degrees"
)


def add_motion_options(parser: argparse.ArgumentParser) -> None:
    """Give a parser the drive, or what describes a motion instead of one."""
    add = parser.add_argument
    # fmt: off
    add("drive", nargs="?", metavar="DRIVE",
        help=f"one of {', '.join(DRIVES)}, or a recording: a bag, or a table of poses or fixes")
    add("--straight", type=positive_duration, metavar="TIME", help="a straight motion instead")
    add("--rounds", type=float, metavar="N", help="circles instead; negative is to the right")
    add("--mowing", type=int, metavar="LANES", help="back and forth on so many parallel lanes")
    add("--length", type=float, metavar="M", help="of a lane [m], by default 20")
    add("--width", type=float, metavar="M", help="from one lane to the next [m], by default 2")
    add("--radius", type=float, metavar="M",
        help="of the circles [m], by default 5, or of the turns between lanes, by default half of "
             "the width")
    add("--flight", metavar="FLIGHT",
        help="a flight over the turning Earth instead: a script of JSBSim, as c3104, for "
             f"{FLIGHT_DURATION:g} s, or a recording of position and attitude: a table or a bag")
    add("--speed", type=float, metavar="M/S", help="of these [m/s], by default 1")
    add("--latitude", type=latitude, metavar="DEG",
        help="where on Earth, north positive: the gyroscope feels the Earth's turning [deg]; by "
             "default the Earth does not turn, but for flights and recordings of satellite "
             "positions, which know where they are")
    # fmt: on
    add_setting_option(parser)


def add_operation_options(parser: argparse.ArgumentParser) -> None:
    """Give a parser how the sensor is used, and which unit of a part it is."""
    add = parser.add_argument
    # fmt: off
    add("--standstill", type=duration, metavar="TIME",
        help="how long the robot stands still before the drive, in which the gyroscope's offset is "
             "measured, by default 10s, before a flight 0; 0: as it is switched on")
    add("--stops", metavar="WHICH",
        help="on the way, where the offset is measured anew and the heading held: none (default), "
             "found (where the motion stands), detected (by the sensor's own samples), or as "
             "'every 2min for 3s', with ', detected' if the robot does not know of them")
    add("--warm-up", type=duration, metavar="TIME",
        help="from power on to that standstill, with the temperature's change, by default 0")
    add("--unit", choices=("any", "this"),
        help="any unit of a part, whose tolerances are drawn, or the one that has the numbers of "
             "its file; by default as the file says, those of the bundled parts any")
    # fmt: on


def operation(options: argparse.Namespace) -> Operation:
    """Return how the sensor is used; raises ConfigurationError if it cannot be so."""
    named = {"standstill": options.standstill, "stops": options.stops, "warm_up": options.warm_up}
    if options.flight is not None and options.standstill is None:
        named["standstill"] = 0.0  # it begins in the air
    return Operation(**{name: value for name, value in named.items() if value is not None})


def any_bundled_unit() -> dict[str, ImuSpecification]:
    """Return the bundled IMUs that are any unit of a part, by their names."""
    bundled = (entry.specification for entry in imu_catalogue())
    return {one.name: part_of(one).specification for one in bundled if one.units.tolerances}


def unit_of(imu: NamedImu, options: argparse.Namespace) -> NamedImu:
    """Return an IMU as any unit of its part, or as this one, as the command line says.

    Raises ConfigurationError: it says so of a plug-in, which has no units.
    """
    errors = imu.errors
    if not isinstance(errors, ImuSpecification):
        if options.unit is None:
            return imu
        raise ConfigurationError(f"--unit is for specifications, but {imu.name} is a plug-in")
    if options.unit == "this":
        return imu._replace(errors=errors.this_unit())
    if errors.units.tolerances and not imu.files:  # a bundled one
        part = part_of(errors)
        remarks = (*imu.remarks, part.sentence())
        return imu._replace(errors=part.specification, remarks=remarks, origins=part.origins)
    return imu if options.unit is None else imu._replace(errors=errors.any_unit())


def add_limit_option(parser: argparse.ArgumentParser, said: str) -> None:
    """Give a parser the option ``--within``, an angle."""
    parser.add_argument(
        "--within", type=positive_angle, default=math.radians(5.0), metavar="ANGLE",
        help=f"{said}, by default 5deg",
    )  # fmt: skip


def add_of_option(parser: argparse.ArgumentParser) -> None:
    """Add ``--of``: what of a recorded IMU is looked at, see :meth:`.ReadDrive.of`."""
    parser.add_argument(
        "--of", choices=("yaw", "gyroscope"), default="yaw",
        help="what of the IMU is compared with the reference: its own yaw, or the integral of its "
        "gyroscope's rate about the vertical, which no magnetometer and no filter has corrected; "
        "by default %(default)s",
    )  # fmt: skip


def add_setting_option(parser: argparse.ArgumentParser) -> None:
    """Give a parser what :func:`settings` reads."""
    parser.add_argument(
        "--setting", action="append", default=[], metavar="SECTION/KEY=VALUE",
        help="how recordings are read, as reference/topic=/odom; see config.ini",
    )  # fmt: skip


def chosen_motion(
    options: argparse.Namespace,
    rate: float = sources.RATE,
    linear: bool = False,
    default: str | None = None,
) -> ChosenMotion:
    """Return the motion that a command line names.

    ``options``: of a parser with :func:`add_motion_options`. ``rate``: samples per second [Hz].
    ``linear``: whether it is for a linear model, to which a motion that is described by a few
    numbers may come in longer steps, :data:`MAX_SAMPLES` of them. ``default``: the drive where no
    motion is named. Raises ConfigurationError if none is named, or two are, or a setting is none.
    Raises FrameworkError if the recording cannot be read.
    """
    drive, straight, rounds, mowing, flight = (
        getattr(options, name) for name in ("drive", "straight", "rounds", "mowing", "flight")
    )
    given = {
        drive: drive, "--straight": straight, "--rounds": rounds, "--mowing": mowing,
        "--flight": flight,
    }  # fmt: skip
    named = [name for name, value in given.items() if value is not None]
    if not named and default is not None:
        drive, named = default, [default]
    if len(named) != 1:
        raise ConfigurationError(
            "name one motion: a drive, --straight, --rounds, --mowing or --flight; "
            + (f"named are {' and '.join(named)}" if named else "none is named")
        )
    for option, has_a_meaning in (
        ("speed", {straight, rounds, mowing} != {None}),
        ("radius", {rounds, mowing} != {None}),
        ("length", mowing is not None),
        ("width", mowing is not None),
        ("latitude", flight is None),
        ("setting", drive is not None and drive not in DRIVES),
    ):
        if getattr(options, option) not in (None, []) and not has_a_meaning:
            raise ConfigurationError(f"--{option} has no meaning for the motion that is named")
    if flight is not None:
        return _flight(flight, rate)
    if drive is not None:
        chosen = _driven(drive, options, rate)
    else:
        chosen = _described(options, rate, linear)
    if options.latitude is not None:
        assert isinstance(chosen.motion, Motion)
        chosen = chosen._replace(motion=on_earth(chosen.motion, options.latitude))
    standstill, lasts = getattr(options, "standstill", None) or 0.0, chosen.motion.duration
    if chosen.files and standstill > lasts:
        remark = (
            f"the standstill of {standstill:g} s is before the drive and not in {chosen.name}, "
            f"which lasts {lasts:.3g} s"
        )
        chosen = chosen._replace(remarks=(*chosen.remarks, remark))
    return chosen


def _described(options, rate, linear):
    straight, rounds, mowing = options.straight, options.rounds, options.mowing
    speed = 1.0 if options.speed is None else options.speed
    length = 20.0 if options.length is None else options.length
    width = 2.0 if options.width is None else options.width
    radius = options.radius
    if straight is not None:
        name, turns, duration = f"straight on for {straight:g} s", 0.0, straight
        make = partial(sources.straight, straight, speed)
    elif rounds is not None:
        radius = 5.0 if radius is None else radius
        name, turns = f"{rounds:g} rounds of {radius:g} m radius", abs(rounds)
        duration = 2.0 * math.pi * abs(rounds * radius / speed) if speed else 0.0
        make = partial(sources.rounds, rounds, radius, speed)
    else:
        radius = 0.5 * width if radius is None else radius
        name = f"{mowing} lanes of {length:g} m, {width:g} m apart"
        way = abs(mowing) * (length + width + math.pi * radius)
        duration, turns = way / speed if speed else 0.0, way / radius if radius else 0.0
        make = partial(sources.mowing, mowing, length, width, speed, radius)
    # So many steps of a sensor may be one of the motion.
    fewest, steps = max(MAX_SAMPLES, SAMPLES_PER_TURN * turns), 1
    if linear and math.isfinite(duration):
        steps = max(1, math.ceil(duration * rate / fewest))
    return ChosenMotion(name, make(rate / steps), (), sample=1.0 / rate if steps > 1 else None)


def _driven(drive, options, rate):
    if drive in DRIVES and not Path(drive).exists():
        motion = sources.read_drive(drive)
        if rate != sources.RATE:
            motion = motion.resampled(rate)
        return ChosenMotion(f"drive {drive}", motion, ())
    # All that reads recordings: most motions are none.
    from ..drive.preparation import read_motion_and_latitude

    stated = settings(options.setting)
    guessed, remarks = _guessed(drive, stated)
    motion, known = read_motion_and_latitude(drive, rate, **{**stated, **guessed})
    chosen = ChosenMotion(Path(drive).name, motion, (drive,), remarks)
    if known is None or options.latitude is not None:
        # What a command line says wins.
        return chosen
    remark = (
        f"the Earth turns as at the recording's latitude of {known:.4g} deg; --latitude says "
        "another one"
    )
    return chosen._replace(motion=on_earth(motion, known), remarks=(*remarks, remark))


def _guessed(path, stated):
    """Return settings for a table with column names of its own that nobody maps, and remarks."""
    from ..recordings.file_access import COLUMN_FORMATS, recording_format
    from ..recordings.guessing.files import find_columns

    of_reference = stated.get("reference", {})
    described = "reference_columns" in stated or {"path", "format"} & set(of_reference)
    format = "" if described or not Path(path).exists() else recording_format(path)
    if format not in COLUMN_FORMATS:
        return {}, ()
    columns, reasons, *_ = find_columns(path, "reference")
    if not columns:
        return {}, ()
    listing = ", ".join(f"{name} = {column}" for name, column in columns.items())
    first = f"{path}: the columns are guessed, say it with reference_columns if not so: {listing}"
    read = {"reference": {**of_reference, "format": format}, "reference_columns": columns}
    return read, (first, *reasons)


def _flight(name, rate):
    """Return the motion of a flight's body, and the file that it was read from."""
    from ..flight.recording import find_flight

    # A recording is taken as a whole.
    scripted = not Path(name).is_file() or Path(name).suffix == ".xml"
    flight, _ = find_flight(name, FLIGHT_DURATION if scripted else math.inf)
    time = flight.states.time
    count = int((time[-1] - time[0]) * rate * (1.0 + 1e-9)) + 1
    at = np.minimum(time[0] + np.arange(count) / rate, time[-1])
    motion = flight.states.motion(at=at)
    return ChosenMotion(f"flight {Path(name).name}", motion, () if scripted else (name,))


def chosen_imu(text: str) -> NamedImu:
    """Return the IMU that a word of a command line means.

    ``text``: the name of a bundled specification, a specification's file, that of an identified
    model, ``FORMAT:FILE`` for the parameters of another tool, or the name of a plug-in's
    parameters. Raises ConfigurationError if it is none of these, or its file is not what it must
    be.
    """
    if Path(text).is_file() and is_yaw_error_model_file(text):
        return NamedImu(Path(text).stem, read_yaw_error_model(text), (text,), ())
    return named_imu(text)


HEADINGS = {
    "gyroscope": {"magnetic_heading": False, "magnetic_disturbance_rejection": False},
    "magnetometer": {"magnetic_heading": True, "magnetic_disturbance_rejection": False},
    "rejecting": {"magnetic_heading": True, "magnetic_disturbance_rejection": True},
}
"""Where a sensor with a magnetometer takes its yaw from: fields of its output."""


class PlacedImu(NamedTuple):
    """An IMU and what its magnetometer is in; None where the yaw does not depend on it."""

    imu: NamedImu
    environment: MagneticEnvironment | None


def add_magnetic_options(parser: argparse.ArgumentParser, several: bool = True) -> None:
    """Give a parser what :func:`placed_imus` reads, one of each or several."""
    count = "+" if several else 1
    each = "; of several, each with each" if several else ""
    parser.add_argument(
        "--magnetic-environment", nargs=count, default=[], metavar="NAME",
        help="what magnetometers are in: clean, steel_beam or a YAML file; by default, where the "
        f"yaw needs one, clean{each}",
    )  # fmt: skip
    parser.add_argument(
        "--heading", nargs=count, choices=HEADINGS, default=[],
        help="where a sensor with a magnetometer takes its yaw from, told where true north is: "
        "gyroscope, magnetometer, or rejecting, without disturbed readings of it; by default as "
        f"its specification says{each}",
    )  # fmt: skip


def placed_imus(imus: Sequence[NamedImu], options: argparse.Namespace) -> list[PlacedImu]:
    """Return each IMU with each heading in each magnetic environment that a command line names.

    What has no magnetometer is there once, and so is each heading that does not need one.

    Raises ConfigurationError if none of them has a magnetometer to choose for, a place cannot be
    read, or a filter cannot do what is chosen.
    """
    places, headings = list(options.magnetic_environment), list(options.heading)
    if (places or headings) and not any(map(_has_magnetometer, imus)):
        raise ConfigurationError(
            "a magnetic environment or a heading is chosen, but no IMU that is named has a "
            "magnetometer, as bno055_magnetometer has"
        )
    environments = [(name, read_magnetic_environment(name)) for name in places]
    if not environments and any(map(_has_magnetometer, imus)):
        from ..drive.from_configuration import UNDISTURBED

        environments = [("", read_magnetic_environment(UNDISTURBED))]
    placed = []
    for imu in imus:
        if not _has_magnetometer(imu):
            placed.append(PlacedImu(imu, None))
            continue
        for heading in headings or [""]:
            for place, environment in environments:
                found = _placed(imu, heading, place, environment)
                placed.append(found)
                if found.environment is None:
                    break
    return placed


def _has_magnetometer(imu: NamedImu) -> bool:
    errors = imu.errors
    return isinstance(errors, ImuSpecification) and errors.magnetometer is not None


def _placed(imu, heading, place, environment) -> PlacedImu:
    output = imu.errors.output
    if heading:
        changes: dict[str, Any] = dict(HEADINGS[heading])
        if changes["magnetic_heading"]:
            east, north, _ = environment.undisturbed
            changes["magnetic_declination"] = math.atan2(east, north)
        output = dataclasses.replace(output, **changes)
    fuses = output.fuses_magnetometer
    words = [imu.name, heading, Path(place).stem if fuses else ""]
    name = ", ".join(filter(None, words))
    files = (place,) if place and Path(place).exists() else ()
    errors = dataclasses.replace(imu.errors, name=name, output=output)
    imu = imu._replace(name=name, errors=errors, files=(*imu.files, *files))
    return PlacedImu(imu, environment if fuses else None)


def _quantity(text, default, units, expected):
    try:
        value = parse_amount(text, default, units)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not {expected}") from None
    if not value > 0.0:
        raise argparse.ArgumentTypeError(f"'{text}' is not above zero")
    return value


def settings(texts) -> dict[str, dict[str, str]]:
    """Return settings by section and key, of words as ``reference/topic=/odom``.

    Raises ConfigurationError if one is no setting.
    """
    sections: dict[str, dict[str, str]] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        section, slash, key = name.partition("/")
        if not (equals and slash and section and key):
            raise ConfigurationError(
                f"the setting '{text}' is not SECTION/KEY=VALUE, as reference/topic=/odom"
            )
        sections.setdefault(section.strip(), {})[key.strip()] = value.strip()
    return sections
