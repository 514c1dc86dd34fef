"""Select the motion from command-line options: drive, recording, flight or description."""

from __future__ import annotations

import argparse
import math
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..core.errors import ConfigurationError
from ..motion import sources
from ..motion.drives import DRIVES
from ..motion.earth_motion import EarthMotion, on_earth
from ..motion.motion import Motion
from .parsers.motion_options import FLIGHT_DURATION
from .recording_options import parse_settings

MAX_SAMPLES = 360_000
"""Largest number of steps of a synthetic motion for a linear model: one hour at 100 Hz.

A longer motion has longer steps."""
MIN_SAMPLES_PER_TURN = 100
"""Smallest number of samples per turn that resolves the tilt error of the fusion filter."""


class ChosenMotion(NamedTuple):
    """Motion specified on the command line.

    Attributes
    ----------
    name : str
        Name for texts and titles.
    motion : Motion or EarthMotion
        Motion that the options describe.
    files : tuple of str
        Files that the motion was read from.
    remarks : tuple of str
        Remarks on how the motion was read.
    sample : float or None
        Sampling period of the sensor if the motion has longer steps [s].
    """

    name: str
    motion: Motion | EarthMotion
    files: tuple[str, ...]
    remarks: tuple[str, ...] = ()
    sample: float | None = None


def choose_motion(
    options: argparse.Namespace,
    rate: float = sources.RATE,
    linear: bool = False,
    default: str | None = None,
) -> ChosenMotion:
    """Return the motion specified on the command line.

    Parameters
    ----------
    options : argparse.Namespace
        Options of a parser with :func:`.add_motion_options`.
    rate : float, optional
        Samples per second [Hz].
    linear : bool, optional
        Whether the motion is for a linear model. In this case, a synthetic motion has at most
        :data:`MAX_SAMPLES` steps, or :data:`MIN_SAMPLES_PER_TURN` per turn if this is more.
    default : str, optional
        Drive that is used if no motion is specified.

    Returns
    -------
    ChosenMotion

    Raises
    ------
    ConfigurationError
        No motion or more than one motion is specified, or an option does not apply to the motion.
    FrameworkError
        The recording cannot be read.
    """
    drive = _named_drive(options, default)
    _check_meaning(options, drive)
    if options.flight is not None:
        return _flight(options.flight, rate)
    if drive is not None:
        chosen_motion = _driven(drive, options, rate)
    else:
        chosen_motion = _described(options, rate, linear)
    if options.latitude is not None:
        assert isinstance(chosen_motion.motion, Motion)
        chosen_motion = chosen_motion._replace(
            motion=on_earth(chosen_motion.motion, options.latitude)
        )
    standstill = getattr(options, "standstill", None) or 0.0
    duration = chosen_motion.motion.duration
    if chosen_motion.files and standstill > duration:
        remark = (
            f"the standstill of {standstill:g} s precedes the drive and is not a part of "
            f"{chosen_motion.name}, which lasts {duration:.3g} s"
        )
        chosen_motion = chosen_motion._replace(remarks=(*chosen_motion.remarks, remark))
    return chosen_motion


def evaluation_time(options: argparse.Namespace, name: str, duration: float) -> float:
    """Return the time of the option ``--at``, by default the end of the motion.

    Parameters
    ----------
    options : argparse.Namespace
        Options with ``at`` [s].
    name : str
        Name of the motion.
    duration : float
        Duration of the motion [s].

    Returns
    -------
    float
        Time since the start of the motion; by default in whole seconds from 1 s on [s].

    Raises
    ------
    ConfigurationError
        The motion ends before that time.
    """
    if options.at is None:
        return math.floor(duration + 1e-6) if duration >= 1.0 else duration
    if not 0.0 < options.at <= duration * (1.0 + 1e-9):
        raise ConfigurationError(
            f"{name} lasts {duration:.6g} s, expected at least {options.at:g} s (--at)"
        )
    return options.at


def _named_drive(options, default):
    """Return the name of the drive, or None if another motion is specified."""
    motions = {
        options.drive: options.drive,
        "--straight": options.straight,
        "--rounds": options.rounds,
        "--mowing": options.mowing,
        "--flight": options.flight,
    }
    named = [name for name, value in motions.items() if value is not None]
    if not named and default is not None:
        return default
    if len(named) != 1:
        raise ConfigurationError(
            (f"{' and '.join(named)} are stated" if named else "the motion is missing")
            + ", expected one of: a drive, --straight, --rounds, --mowing or --flight"
        )
    return options.drive


def _check_meaning(options, drive):
    turns = {options.rounds, options.mowing} != {None}
    for option, has_meaning in (
        ("speed", turns or options.straight is not None),
        ("radius", turns),
        ("length", options.mowing is not None),
        ("width", options.mowing is not None),
        ("latitude", options.flight is None),
        ("setting", drive is not None and drive not in DRIVES),
    ):
        if getattr(options, option) not in (None, []) and not has_meaning:
            raise ConfigurationError(f"--{option} does not apply to the chosen motion")


class _Description(NamedTuple):
    """Synthetic motion that options describe; ``make`` creates its samples at a given rate."""

    name: str
    duration: float
    turns: float
    make: partial


def _described(options, rate, linear):
    description = _description(options)
    # One step of the motion may contain several samples of the sensor.
    most = max(MAX_SAMPLES, MIN_SAMPLES_PER_TURN * description.turns)
    steps = 1
    if linear and math.isfinite(description.duration):
        steps = max(1, math.ceil(description.duration * rate / most))
    sample = 1.0 / rate if steps > 1 else None
    return ChosenMotion(description.name, description.make(rate / steps), (), sample=sample)


def _description(options):
    speed = 1.0 if options.speed is None else options.speed
    if options.straight is not None:
        name = f"straight ahead for {options.straight:g} s"
        make = partial(sources.straight, options.straight, speed)
        return _Description(name, options.straight, 0.0, make)
    if options.rounds is not None:
        rounds, radius = options.rounds, 5.0 if options.radius is None else options.radius
        duration = 2.0 * math.pi * abs(rounds * radius / speed) if speed else 0.0
        make = partial(sources.rounds, rounds, radius, speed)
        return _Description(
            f"{rounds:g} circles with a radius of {radius:g} m", duration, abs(rounds), make
        )
    lanes = options.mowing
    length = 20.0 if options.length is None else options.length
    width = 2.0 if options.width is None else options.width
    radius = 0.5 * width if options.radius is None else options.radius
    path = abs(lanes) * (length + width + math.pi * radius)
    duration, turns = path / speed if speed else 0.0, path / radius if radius else 0.0
    make = partial(sources.mowing, lanes, length, width, speed, radius)
    return _Description(f"{lanes} lanes of {length:g} m, {width:g} m apart", duration, turns, make)


def _driven(drive, options, rate):
    if drive in DRIVES and not Path(drive).exists():
        motion = sources.read_drive(drive)
        if rate != sources.RATE:
            motion = motion.resampled(rate)
        return ChosenMotion(f"drive {drive}", motion, ())
    # Imported here, since it loads all readers of recordings, which most motions do not need.
    from ..drive.recorded_drive.path import read_recorded_motion

    settings_by_name = parse_settings(options.setting)
    drive_settings, remarks = _settings_by_name(drive, settings_by_name)
    motion, latitude = read_recorded_motion(drive, rate, **{**settings_by_name, **drive_settings})
    drive_settings = ChosenMotion(Path(drive).name, motion, (drive,), remarks)
    if latitude is None or options.latitude is not None:
        return drive_settings
    remark = (
        f"the Earth's rotation is taken at the latitude of the recording, {latitude:.4g} deg; "
        "change it with --latitude"
    )
    return drive_settings._replace(motion=on_earth(motion, latitude), remarks=(*remarks, remark))


def _settings_by_name(path, settings_by_name):
    """Map the columns of a table by name, if no setting maps them; return settings and remarks."""
    from ..recordings.columns import find_columns
    from ..recordings.file_access import COLUMN_FORMATS, recording_format

    reference = settings_by_name.get("reference", {})
    is_described = "reference_columns" in settings_by_name or {"path", "format"} & set(reference)
    format = "" if is_described or not Path(path).exists() else recording_format(path)
    if format not in COLUMN_FORMATS:
        return {}, ()
    columns, reasons, *_ = find_columns(path, "reference")
    if not columns:
        return {}, ()
    listing = ", ".join(f"{name} = {column}" for name, column in columns.items())
    remark = (
        f"{path}: the columns are chosen by name (change them with reference_columns): {listing}"
    )
    reference_settings = {
        "reference": {**reference, "format": format},
        "reference_columns": columns,
    }
    return reference_settings, (remark, *reasons)


def _flight(name, rate):
    """Return the motion of the aircraft body in a flight."""
    from ..flight.recording import find_flight

    # A script has a limited duration, whereas a recording is used completely.
    scripted = not Path(name).is_file() or Path(name).suffix == ".xml"
    flight, _ = find_flight(name, FLIGHT_DURATION if scripted else math.inf)
    time = flight.states.time
    count = int((time[-1] - time[0]) * rate * (1.0 + 1e-9)) + 1
    sample_times = np.minimum(time[0] + np.arange(count) / rate, time[-1])
    motion = flight.states.motion(at=sample_times)
    return ChosenMotion(f"flight {Path(name).name}", motion, () if scripted else (name,))
