"""Inputs of the web page on heading drift, and results fast enough to follow a slider.

A :class:`Question` consists of a motion, IMUs, their operation, and a limit of the yaw error. Each
field is a text on the page and in the address: a time such as ``10min``, the limit in degrees, and
all other numbers in the unit of the field. :class:`CommandTexts` translates a question into a
command line, and into lines of Python code.

For speed, motions are sampled more slowly than sensors, and yaw error models have few time steps.
The first-passage time, which requires simulated drives, is a separate request.
"""

from __future__ import annotations

import dataclasses
import math
import shlex
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Callable, Iterator, Mapping, NamedTuple
from urllib.parse import parse_qsl, urlencode

import pandas as pd

from ...core import settings
from ...core.errors import ConfigurationError
from ...core.sentences import quote, shorten
from ...core.units import parse_amount
from ...motion import sources
from ...motion.drives import DRIVES
from ...motion.earth_motion import EarthMotion
from ...motion.motion import Motion
from ...sensors.errors_in_motion import remark_on_motion_errors
from ...sensors.files import imu_catalogue
from ...sensors.imu_specification import ImuSpecification
from ...sensors.measured import part_of
from ...sensors.operation import Operation
from ..answer import HeadingAnswer, heading_answer, rank_causes
from ..improvements import propose_improvements
from ..model.imu_error_sources import yaw_error_model
from ..model.model import YawErrorModel
from ..selection import model_step, which_imu

MAX_PARTS = 6
"""Maximum number of IMUs whose error bands can be distinguished in one figure."""
HOUR = 3600.0

NAMES = {
    "length": "length of a lane",
    "width": "distance between lanes",
    "imu": "parts",
    "duration": "time",
    "every": "time between stops",
    "stop": "duration of a stop",
    "warm_up": "warm-up",
    "ranked": "ranking",
}
"""Displayed names of input fields, where they differ from the field names."""


def _checked_parts(name, value):
    if not isinstance(value, tuple) or not 1 <= len(set(value)) == len(value) <= MAX_PARTS:
        raise ConfigurationError(
            f"{NAMES[name]}: is {quote(value)}, expected one to {MAX_PARTS} different IMUs"
        )
    return value


@dataclass(frozen=True)
class Question(settings.TextSettings):
    """User input on the page; times in s, lengths in m, the yaw error limit in degrees.

    Parameters
    ----------
    motion : {"straight", "circles", "mowing", "drive"}
        Kind of motion.
    drive : str
        Name of a bundled or recorded drive.
    speed : float
        Speed of a generated motion [m/s].
    radius : float
        Radius of the circles [m].
    length, width : float
        Length of the lanes for mowing, and distance between lanes [m].
    duration : float
        Duration of the motion [s].
    imu : tuple of str
        Names of the IMUs.
    unit : {"stated", "any", "this"}
        Assumption on the constant errors: as stated in the file of the IMU, those of any individual
        sensor of its type, or exactly the values in the file.
    standstill, warm_up, stops : float, float, str
        See :class:`.Operation`; ``given`` stops are defined by ``every`` and ``stop``.
    every, stop : float
        Time between stops, and duration of a stop [s].
    limit : float
        Limit of the yaw error [deg].
    ranked : {"chosen", "all"}
        IMUs that are ranked by their yaw errors.
    """

    motion: str = settings.setting("straight", choices=("straight", "circles", "mowing", "drive"))
    drive: str = settings.setting("a")
    speed: float = settings.setting(1.0, minimum=0.01, maximum=50.0, unit="m/s")
    radius: float = settings.setting(5.0, minimum=0.1, maximum=1e4, unit="m")
    length: float = settings.setting(20.0, minimum=0.1, maximum=1e4, unit="m")
    width: float = settings.setting(2.0, minimum=0.1, maximum=1e3, unit="m")
    duration: float = settings.setting(600.0, minimum=10.0, maximum=8.0 * HOUR, unit="s")
    imu: tuple[str, ...] = settings.setting(("adis16448", "bmi088"), _checked_parts)
    unit: str = settings.setting("stated", choices=("stated", "any", "this"))
    standstill: float = settings.setting(10.0, minimum=0.0, maximum=HOUR, unit="s")
    warm_up: float = settings.setting(0.0, minimum=0.0, maximum=24.0 * HOUR, unit="s")
    stops: str = settings.setting("none", choices=("none", "found", "given"))
    every: float = settings.setting(120.0, minimum=1.0, maximum=8.0 * HOUR, unit="s")
    stop: float = settings.setting(3.0, minimum=1.0, maximum=HOUR, unit="s")
    limit: float = settings.setting(5.0, minimum=0.01, maximum=180.0, unit="deg")
    ranked: str = settings.setting("chosen", choices=("chosen", "all"))

    @property
    def operation(self) -> Operation:
        """Standstill, stops and warm-up with which the gyroscope is used.

        Raises
        ------
        ConfigurationError
            If the gyroscope cannot be used in this way.
        """
        stops = self.stops
        if stops == "given":
            stops = f"every {time_text(self.every)} for {time_text(self.stop)}"
        return Operation(standstill=self.standstill, stops=stops, warm_up=self.warm_up)

    @property
    def limit_angle(self) -> float:
        """Limit of the yaw error [rad]."""
        return math.radians(self.limit)


FIELDS = {field.name: field for field in dataclasses.fields(Question)}


def question_from_texts(texts: Mapping[str, str]) -> Question:
    """Parse the texts of the page's input fields, with defaults for missing fields.

    Parameters
    ----------
    texts : mapping of str to str
        Text by field.

    Returns
    -------
    Question

    Raises
    ------
    ConfigurationError
        If a field does not exist or its text is invalid.
    """
    values = {}
    for name, text in texts.items():
        if name not in FIELDS:
            raise ConfigurationError(
                f"the page has no field {shorten(name)}; choose one of: {', '.join(FIELDS)}"
            )
        values[name] = _value(NAMES.get(name, name), FIELDS[name], str(text).strip())
    return Question(**values)


def _value(where, field, text):
    if field.name == "imu":
        return tuple(filter(None, text.split(",")))
    if not text:
        raise ConfigurationError(f"{where}: empty, expected a value")
    if field.metadata["unit"] != "s":
        return settings.read_setting(Question, field, text, where)
    try:
        value = parse_amount(text, "s", ("s", "min", "h"))
    except ValueError:
        raise ConfigurationError(
            f"{where}: is {quote(text)}, expected a time such as 90s, 10min or 1.5h"
        ) from None
    low, high = field.metadata["minimum"], field.metadata["maximum"]
    if not low <= value <= high:
        raise ConfigurationError(
            f"{where}: is {shorten(text)}, expected a time from {time_text(low)} to "
            f"{time_text(high)}"
        )
    return value


def question_texts(question: Question) -> dict[str, str]:
    """Format user input as texts of the page's input fields.

    Parameters
    ----------
    question : Question
        Motion, sensors and requirement chosen by the user.

    Returns
    -------
    dict of str to str
        Text by field.
    """
    return {name: _text(name, getattr(question, name)) for name in FIELDS}


def _text(name, value):
    if FIELDS[name].metadata.get("unit") == "s":
        return time_text(value)
    if isinstance(value, tuple):
        return ",".join(value)
    return f"{value:.12g}" if isinstance(value, float) else value


def time_text(seconds: float) -> str:
    """Format a time in hours, minutes or seconds, whichever needs few digits.

    Parameters
    ----------
    seconds : float
        Time [s].

    Returns
    -------
    str
        Text with the unit.
    """
    for unit, size in (("h", HOUR), ("min", 60.0)):
        if seconds >= size and (seconds / size * 4.0).is_integer():
            return f"{seconds / size:g}{unit}"
    return f"{seconds:.12g}s"


def question_address(question: Question) -> str:
    """Format user input as the query of the page's address, without fields at their defaults.

    Parameters
    ----------
    question : Question
        Motion, sensors and requirement chosen by the user.

    Returns
    -------
    str
        Query of the address.
    """
    default = question_texts(Question())
    texts = question_texts(question)
    return urlencode({n: text for n, text in texts.items() if text != default[n]}, safe=",")


def question_from_address(query: str) -> Question:
    """Parse user input from the query of the page's address.

    Parameters
    ----------
    query : str
        Query of the address.

    Returns
    -------
    Question

    Raises
    ------
    ConfigurationError
        See :func:`question_from_texts`.
    """
    return question_from_texts(dict(parse_qsl(query.lstrip("?"), keep_blank_values=True)))


RUNS = 400
"""Number of simulated drives from which the first-passage time is estimated."""
STEPS = 100
"""Minimum number of time steps of a yaw error model.

A step divides every second into an integer number of samples."""
SAMPLE = 0.01
"""Sampling period of the IMUs [s]."""
DRIVE_RATE = 20.0
MIN_STOP_RATE = 5.0
"""Minimum sampling rate of a motion with stops [Hz], which resolves braking within a second."""
SAMPLES = 3000
"""Minimum number of samples of a generated motion without turns, at 1 Hz or more."""
MAX_SAMPLES = 500_000
"""Maximum number of motion samples, whose computation takes 4 s and 0.5 GB."""
SAMPLES_PER_TURN = 100.0
"""Samples per full turn that resolve the filter's tilt error, with a rate of at least 10 Hz."""


class PageMotion(NamedTuple):
    """Motion that the user's input describes, with and without stops.

    Attributes
    ----------
    name : str
        Name of the motion on the page.
    driven, motion : Motion or EarthMotion
        Motion without the stops, and motion with the stops.
    at : float
        Evaluation time, at most the motion's end [s].
    remarks : tuple of str
        Messages on the motion.
    """

    name: str
    driven: Motion | EarthMotion
    motion: Motion | EarthMotion
    at: float
    remarks: tuple[str, ...]


class PartAnswer(NamedTuple):
    """Heading drift of one IMU, computed from the linear model without simulated drives.

    Attributes
    ----------
    name : str
        Name of the IMU.
    model : YawErrorModel
        Yaw error model of the IMU.
    bands : pandas.DataFrame
        See :meth:`.ErrorDistribution.bands` [rad].
    percentile_50, percentile_95 : float
        Percentiles of the magnitude of the final error over drives [rad].
    causes : pandas.DataFrame
        See :func:`.rank_causes`.
    remarks : tuple of str
        Messages on limitations of the result.
    """

    name: str
    model: YawErrorModel
    bands: pd.DataFrame
    percentile_50: float
    percentile_95: float
    causes: pd.DataFrame
    remarks: tuple[str, ...]


class Answers:
    """Computation of heading drift from user input, with cached intermediate results.

    Parameters
    ----------
    read : callable
        Function that reads the recording at a path, and returns an object with ``motion`` and
        ``remarks``; it raises FrameworkError.
    parts : mapping of str to ImuSpecification, optional
        IMUs by name; by default the catalogue.
    """

    def __init__(
        self, read: Callable[[str], Any], parts: Mapping[str, ImuSpecification] | None = None
    ) -> None:
        if parts is None:
            entries = imu_catalogue()
            parts = {entry.specification.name: entry.specification for entry in entries}
        self.parts = dict(parts)
        self.recordings: dict[str, Any] = {}
        self._read = read
        self._driven = lru_cache(maxsize=8)(self._make_driven)
        self._motion_of = lru_cache(maxsize=8)(self._make_motion)
        self._model = lru_cache(maxsize=64)(self._make_model)
        self._part = lru_cache(maxsize=64)(self._make_part)

    def add_recording(self, name: str, path: str) -> None:
        """Add a recording to the selectable drives.

        Parameters
        ----------
        name : str
            Name of the drive.
        path : str
            Path of the recording.

        Raises
        ------
        FrameworkError
            If the recording cannot be read.
        """
        if name in DRIVES:
            raise ConfigurationError(
                f"recording {name}: is the name of a bundled drive, expected a different file name"
            )
        self.recordings[name] = self._read(path)
        for kept in (self._driven, self._motion_of, self._model, self._part):
            kept.cache_clear()

    @property
    def drives(self) -> tuple[str, ...]:
        """Names of the bundled drives and the added recordings."""
        return (*DRIVES, *self.recordings)

    def check(self, question: Question) -> None:
        """Check that the IMUs and the drive that the user selected exist.

        Parameters
        ----------
        question : Question
            Motion, sensors and requirement chosen by the user.

        Raises
        ------
        ConfigurationError
            If an IMU or the drive does not exist.
        """
        for name in question.imu:
            self.imu(name, question.unit)
        if question.motion == "drive" and question.drive not in self.drives:
            raise ConfigurationError(
                f"unknown drive {shorten(question.drive)}, expected one of "
                f"{', '.join(self.drives)}; drop a recording onto the page again after a restart"
            )

    def motion(self, question: Question) -> PageMotion:
        """Return the motion that the user's input describes, including stops.

        Parameters
        ----------
        question : Question
            Motion, sensors and requirement chosen by the user.

        Returns
        -------
        PageMotion

        Raises
        ------
        FrameworkError
            If the drive does not exist, or the stops leave no time to drive.
        """
        return self._motion_of(_with_fields(question, *_MOTION_FIELDS, *_STOP_FIELDS))

    def _make_motion(self, question):
        name, driven, remarks = self._driven(_with_fields(question, *_MOTION_FIELDS))
        motion = question.operation.insert_stops(driven)
        duration = float(math.floor(min(question.duration, motion.duration + 1e-6)))
        if duration < math.floor(question.duration):
            end = f"{name} lasts {motion.duration:.6g} s: the answer applies to its end"
            remarks = (*remarks, end)
        if not duration:
            raise ConfigurationError(f"{name} lasts {motion.duration:.6g} s, expected at least 1 s")
        return PageMotion(name, driven, motion, duration, remarks)

    def _make_driven(self, question):
        if question.motion == "drive":
            self.check(question)
            name = question.drive
            if name in self.recordings:
                recorded = self.recordings[name]
                return name, recorded.motion, tuple(recorded.remarks)
            return f"drive {name}", sources.read_drive(name).resampled(DRIVE_RATE), ()
        duration, speed, amount = (
            question.duration,
            question.speed,
            described_amount(question),
        )
        radius = 0.5 * question.width if question.motion == "mowing" else question.radius
        turning = 0.0 if question.motion == "straight" else speed / (2.0 * math.pi * radius)
        rates = [math.floor(SAMPLES / duration), 1.0 if question.stops == "none" else MIN_STOP_RATE]
        if turning:
            rates += [10.0, math.ceil(SAMPLES_PER_TURN * turning)]
        rate = min(max(rates), 1.0 / SAMPLE)
        if rate * duration > MAX_SAMPLES:
            raise ConfigurationError(
                f"time: {time_text(duration)} of this motion with turns of {1.0 / turning:.2g} s "
                f"require {rate * duration:.2g} samples, expected at most {MAX_SAMPLES:.2g}; "
                "choose a shorter time or wider turns, or use heading_budget.py"
            )
        if question.motion == "straight":
            return "straight ahead", sources.straight(amount, speed, rate), ()
        if question.motion == "circles":
            return (
                f"circles of {radius:g} m radius",
                sources.rounds(amount, radius, speed, rate),
                (),
            )
        motion = sources.mowing(int(amount), question.length, question.width, speed, rate=rate)
        return f"mowing, lanes of {question.length:g} m", motion, ()

    def imu(self, name: str, unit: str) -> ImuSpecification:
        """Return the specification of an IMU with the chosen treatment of its constant errors.

        Parameters
        ----------
        name : str
            Name of the IMU.
        unit : str
            See :class:`Question`.

        Returns
        -------
        ImuSpecification

        Raises
        ------
        ConfigurationError
            If the IMU does not exist.
        """
        if name not in self.parts:
            raise ConfigurationError(
                f"unknown IMU {shorten(name)}, expected one of {', '.join(self.parts)}"
            )
        imu = self.parts[name]
        if unit == "this":
            return imu.this_unit()
        part = part_of(imu).specification
        return part.any_unit() if unit == "any" else part

    def model(self, question: Question, name: str) -> YawErrorModel:
        """Return the yaw error model of an IMU up to the driving time that the user selected.

        Parameters
        ----------
        question : Question
            Motion, sensors and requirement chosen by the user.
        name : str
            Name of the IMU.

        Returns
        -------
        YawErrorModel

        Raises
        ------
        FrameworkError
            If the drive or the IMU does not exist.
        """
        return self._model(_with_fields(question, *_MODEL_FIELDS), name)

    def _make_model(self, question, name):
        page_motion, operation = self.motion(question), question.operation
        period = model_step(page_motion.at, page_motion.motion, operation, STEPS)
        model = yaw_error_model(
            self.imu(name, question.unit),
            page_motion.motion,
            period,
            sample=SAMPLE,
            operation=operation,
        )
        return model.until(min(round(page_motion.at / period) + 1, len(model.time)))

    def part(self, question: Question, name: str) -> PartAnswer:
        """Compute the heading drift of one IMU from the linear model, without simulated drives.

        Parameters
        ----------
        question : Question
            Motion, sensors and requirement chosen by the user.
        name : str
            Name of the IMU.

        Returns
        -------
        PartAnswer

        Raises
        ------
        FrameworkError
            See :meth:`model`.
        """
        return self._part(_with_fields(question, *_MODEL_FIELDS), name)

    def _make_part(self, question, name):
        model = self.model(question, name)
        percentiles = map(model.absolute_quantile, (0.5, 0.95))
        bands, causes = model.bands((0.5, 0.95)), rank_causes(model)
        remarks = [f"{name}: {sentence}" for sentence in model.limits]
        remarks += filter(None, [remark_on_motion_errors(self.imu(name, question.unit))])
        return PartAnswer(name, model, bands, *percentiles, causes, tuple(remarks))

    def answer(self, question: Question, name: str) -> HeadingAnswer:
        """Compute the heading drift of one IMU, including results of simulated drives.

        Parameters
        ----------
        question : Question
            Motion, sensors and requirement chosen by the user.
        name : str
            Name of the IMU.

        Returns
        -------
        HeadingAnswer

        Raises
        ------
        FrameworkError
            See :meth:`model`.
        """
        page_motion, model = self.motion(question), self.model(question, name)
        imu = self.imu(name, question.unit)
        used: dict[str, Any] = {"period": model.step, "sample": SAMPLE}
        improvements = propose_improvements(
            imu, page_motion.driven, question.operation, model, **used
        )
        return heading_answer(model, question.limit_angle, improvements, runs=RUNS)

    def ranked(self, question: Question) -> Iterator[pd.DataFrame]:
        """Yield the row of :func:`.which_imu` for each ranked IMU.

        Parameters
        ----------
        question : Question
            Motion, sensors and requirement chosen by the user.

        Yields
        ------
        pandas.DataFrame
            Row of one IMU.

        Raises
        ------
        FrameworkError
            See :meth:`model`.
        """
        page_motion = self.motion(question)
        for name in self.parts if question.ranked == "all" else question.imu:
            yield which_imu(
                {name: self.imu(name, question.unit)},
                page_motion.driven,
                question.limit_angle,
                page_motion.at,
                question.operation,
                sample=SAMPLE,
                runs=RUNS,
            )


_MOTION_FIELDS = ("motion", "drive", "speed", "radius", "length", "width", "duration", "stops")
_STOP_FIELDS = ("every", "stop", "standstill")
_MODEL_FIELDS = (*_MOTION_FIELDS, *_STOP_FIELDS, "warm_up", "unit")


def _with_fields(question, *names):
    """Return a copy of the input with all but the named fields reset to their defaults."""
    return Question(**{name: getattr(question, name) for name in names})


def described_amount(question: Question) -> float:
    """Return the duration, or the number of circles or lanes, of a generated motion.

    Parameters
    ----------
    question : Question
        Motion, sensors and requirement chosen by the user.

    Returns
    -------
    float
        Duration of a straight motion [s], or number of circles or lanes, which last slightly
        longer.
    """
    amount = question.speed * math.floor(question.duration)
    if question.motion == "circles":
        return math.ceil(10.0 * amount / (2.0 * math.pi * question.radius)) / 10.0
    if question.motion == "mowing":
        turn = 0.5 * math.pi * question.width
        return float(math.ceil((amount + turn) / (question.length + turn)))
    return float(math.floor(question.duration))


class CommandTexts:
    """Translation of the page's user input into commands and Python code.

    Parameters
    ----------
    command_line_names : mapping of str to str, optional
        Names of IMUs and drives on a command line that differ from those on the page, such as the
        path of a file.
    """

    def __init__(self, command_line_names: Mapping[str, str] | None = None) -> None:
        self.command_line_names = {} if command_line_names is None else command_line_names

    def budget_command(self, question: Question, page_motion: PageMotion) -> str:
        """Return the heading_budget.py command that yields the same result as the page.

        Parameters
        ----------
        question : Question
            Motion, sensors and requirement chosen by the user.
        page_motion : PageMotion
            Motion of the question.

        Returns
        -------
        str
            Command line.
        """
        arguments = ["heading_budget.py", *self._motion(question), *self._imus(question)]
        return shlex.join(
            [*arguments, "--at", time_text(page_motion.at), *_shared_options(question)]
        )

    def ranking_command(self, question: Question, page_motion: PageMotion) -> str:
        """Return the which_imu.py command that ranks the same IMUs as the page.

        Parameters
        ----------
        question : Question
            Motion, sensors and requirement chosen by the user.
        page_motion : PageMotion
            Motion of the question.

        Returns
        -------
        str
            Command line.
        """
        arguments = ["which_imu.py", *self._motion(question), "--for", time_text(page_motion.at)]
        if question.ranked == "chosen":
            arguments += self._imus(question)
        return shlex.join([*arguments, *_shared_options(question)])

    def python_lines(self, question: Question, page_motion: PageMotion, step: float) -> str:
        """Return lines of Python code that yield the same result as the page.

        Parameters
        ----------
        question : Question
            Motion, sensors and requirement chosen by the user.
        page_motion : PageMotion
            Motion of the question.
        step : float
            Step of the models [s].

        Returns
        -------
        str
            Lines of Python.
        """
        names = [self.command_line_names.get(name, name) for name in question.imu]
        several = len(names) > 1
        imu = "name" if several else repr(names[0])
        read = f"isf.read_part({imu})"
        if question.unit == "this":
            read = f"isf.read_imu_specification({imu}).this_unit()"
        elif question.unit == "any":
            read = f"{read}.any_unit()"
        model = f"isf.yaw_error_model({read}, motion, {step:.12g}, operation=operation)"
        lines = [
            f"model = {model}.until({round(page_motion.at / step) + 1})",
            f"print(isf.heading.heading_answer(model, limit).sentence({imu}, limit))",
        ]
        if several:
            lines = [f"for name in {names}:", *(f"    {line}" for line in lines)]
        operation = question.operation
        used = f"standstill={operation.standstill:.12g}"
        used += f", stops={operation.stops!r}" * operation.stop_plan.use_stops
        used += f", warm_up={operation.warm_up:.12g}" * bool(operation.warm_up)
        head = (
            "import imu_simulation_framework as isf",
            f"operation, limit = isf.Operation({used}), {question.limit_angle:.12g}",
            f"motion = {self._python_motion(question)}",
            "motion = operation.insert_stops(motion)",
        )
        return "\n".join([*head, *lines])

    def _imus(self, question):
        names = (self.command_line_names.get(name, name) for name in question.imu)
        return [word for name in names for word in ("--imu", name)]

    def _motion(self, question):
        amount, speed = described_amount(question), ("--speed", f"{question.speed:.12g}")
        if question.motion == "drive":
            return [self.command_line_names.get(question.drive, question.drive)]
        if question.motion == "straight":
            return ["--straight", time_text(amount)]
        if question.motion == "circles":
            return [
                "--rounds",
                f"{amount:.12g}",
                "--radius",
                f"{question.radius:.12g}",
                *speed,
            ]
        lane = ("--length", f"{question.length:.12g}", "--width", f"{question.width:.12g}")
        return ["--mowing", f"{amount:.0f}", *lane, *speed]

    def _python_motion(self, question):
        amount, speed = described_amount(question), f"{question.speed:.12g}"
        if question.motion == "drive":
            read = "read_drive" if question.drive in DRIVES else "read_motion"
            return f"isf.{read}({self.command_line_names.get(question.drive, question.drive)!r})"
        if question.motion == "straight":
            return f"isf.straight({amount:.12g})"
        if question.motion == "circles":
            return f"isf.rounds({amount:.12g}, {question.radius:.12g}, {speed})"
        return f"isf.mowing({amount:.0f}, {question.length:.12g}, {question.width:.12g}, {speed})"


def _shared_options(question):
    operation = question.operation
    arguments = ["--within", f"{question.limit:.12g}deg"]
    if question.unit != "stated":
        arguments += ["--unit", question.unit]
    arguments += ["--standstill", time_text(operation.standstill)]
    if operation.stop_plan.use_stops:
        arguments += ["--stops", operation.stops]
    if operation.warm_up:
        arguments += ["--warm-up", time_text(operation.warm_up)]
    return arguments
