"""What is asked on the page, and answers of the linear model, as fast as a slider moves.

A :class:`Question` is a motion, parts, how they are used, and a limit. Each of its fields is a text
on the page and in the address: a time as ``10min``, the limit in degrees, all other numbers in the
unit that the field states. :class:`Words` says it as a command line, and as lines of Python.

A described motion, and a drive, come in steps that are longer than a sensor's samples, and a model
has few times. What is drawn, the time at which the limit is passed, is asked for by itself.
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
"""Whose bands can still be seen in one figure."""
HOUR = 3600.0

NAMES = {
    "length": "length of a lane",
    "width": "width from lane to lane",
    "imu": "parts",
    "duration": "time",
    "every": "time from stop to stop",
    "stop": "length of a stop",
    "warm_up": "warm-up",
    "ranked": "ranking",
}
"""What a field is called on the page, where not by its own name."""


def _checked_parts(name, value):
    if not isinstance(value, tuple) or not 1 <= len(set(value)) == len(value) <= MAX_PARTS:
        raise ConfigurationError(
            f"{NAMES[name]}: expected one to {MAX_PARTS} different IMUs, got {quote(value)}"
        )
    return value


@dataclass(frozen=True)
class Question(settings.Settings):
    """What the page asks; times in s, lengths in m, the limit in degrees.

    ``motion``: ``circles`` of a ``radius``, ``mowing`` on lanes of a ``length``, a ``width`` from
    each other, or a ``drive``, bundled or recorded. ``duration``: how long it drives. ``imu``:
    names. ``stops``: ``given`` are those ``every`` so long, for the length ``stop``; otherwise as
    for :class:`.Operation`. ``unit``: ``any`` of the part, ``this`` one, with the numbers of its
    file, or what the file has ``stated``. ``ranked``: the ``chosen`` parts or ``all``.
    """

    motion: str = settings.setting("straight", choices=("straight", "circles", "mowing", "drive"))
    drive: str = settings.setting("a")
    speed: float = settings.setting(1.0, minimum=0.01, maximum=50.0, unit="m/s")
    radius: float = settings.setting(5.0, minimum=0.1, maximum=1e4, unit="m")
    length: float = settings.setting(20.0, minimum=0.1, maximum=1e4, unit="m")
    width: float = settings.setting(2.0, minimum=0.1, maximum=1e3, unit="m")
    duration: float = settings.setting(600.0, minimum=10.0, maximum=8.0 * HOUR, unit="s")
    imu: tuple[str, ...] = settings.declared(("adis16448", "bmi088"), _checked_parts)
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
        """How the gyroscope is used; raises ConfigurationError if it cannot be so."""
        stops = self.stops
        if stops == "given":
            stops = f"every {time_text(self.every)} for {time_text(self.stop)}"
        return Operation(standstill=self.standstill, stops=stops, warm_up=self.warm_up)

    @property
    def limit_angle(self) -> float:
        """The limit [rad]."""
        return math.radians(self.limit)


FIELDS = {field.name: field for field in dataclasses.fields(Question)}


def question_of_texts(texts: Mapping[str, str]) -> Question:
    """Return what a person asks; what is left out is at its default.

    ``texts``: by field. Raises ConfigurationError: a field does not exist, or its text is none that
    it accepts.
    """
    values = {}
    for name, text in texts.items():
        if name not in FIELDS:
            raise ConfigurationError(
                f"the page has nothing that is called {shorten(name)}; it has {', '.join(FIELDS)}"
            )
        values[name] = _value(NAMES.get(name, name), FIELDS[name], str(text).strip())
    return Question(**values)


def _value(where, field, text):
    if field.name == "imu":
        return tuple(filter(None, text.split(",")))
    if not text:
        raise ConfigurationError(f"{where}: nothing is written there")
    if field.metadata["unit"] != "s":
        return settings.setting_of_text(where, field, text)
    try:
        value = parse_amount(text, "s", ("s", "min", "h"))
    except ValueError:
        raise ConfigurationError(
            f"{where}: expected a time, as 90s, 10min or 1.5h, got {quote(text)}"
        ) from None
    bound = settings.bound_of(value, field.metadata["minimum"], field.metadata["maximum"])
    if bound:
        *words, limit = bound.split()
        least = " ".join([*words, time_text(float(limit))])
        raise ConfigurationError(f"{where}: expected {least}, got {shorten(text)}")
    return value


def texts_of_question(question: Question) -> dict[str, str]:
    """Return the texts that give a question again, by field."""
    return {name: _text(name, getattr(question, name)) for name in FIELDS}


def _text(name, value):
    if FIELDS[name].metadata.get("unit") == "s":
        return time_text(value)
    if isinstance(value, tuple):
        return ",".join(value)
    return f"{value:.12g}" if isinstance(value, float) else value


def time_text(seconds: float) -> str:
    """Return a time in the longest unit in which it needs few digits."""
    for unit, size in (("h", HOUR), ("min", 60.0)):
        if seconds >= size and (seconds / size * 4.0).is_integer():
            return f"{seconds / size:g}{unit}"
    return f"{seconds:.12g}s"


def address_of_question(question: Question) -> str:
    """Return the part of the page's address behind ``?``; what is at its default is left out."""
    default = texts_of_question(Question())
    texts = texts_of_question(question)
    return urlencode({n: text for n, text in texts.items() if text != default[n]}, safe=",")


def question_of_address(query: str) -> Question:
    """Return what an address asks; raises ConfigurationError as :func:`question_of_texts`."""
    return question_of_texts(dict(parse_qsl(query.lstrip("?"), keep_blank_values=True)))


RUNS = 400
"""Drives that are drawn for the time at which the limit is passed."""
STEPS = 100
"""Of a model, at least; they divide each whole second into the sensor's samples."""
SAMPLE = 0.01
"""Of the sensors [s]."""
RATE_OF_DRIVES = 20.0
RATE_OF_STOPS = 5.0
"""At least, so that a motion that brakes for a second is one [Hz]."""
SAMPLES = 3000
"""Of a described motion without turns, at 1 Hz at least."""
MOST_SAMPLES = 500_000
"""An answer takes 4 s and 0.5 GB for as many, and a page waits for it."""
SAMPLES_PER_TURN = 100.0
"""So that the filter's lean in a curve is known, but no fewer than ten a second."""


class Moved(NamedTuple):
    """A motion that is asked for.

    ``name``; ``driven``, before it is given the stops; ``motion``, with them; ``at``: the time that
    is asked for, or its end if that is earlier [s]; ``remarks``.
    """

    name: str
    driven: Motion | EarthMotion
    motion: Motion | EarthMotion
    at: float
    remarks: tuple[str, ...]


class Part(NamedTuple):
    """What one part does, computed without drawing anything.

    ``name``; ``model``; ``bands`` [rad]: see :meth:`.YawErrorDistribution.bands`; ``half`` and
    ``nearly_all``: what the size of its error does not exceed at the end in 50 and in 95 % of
    drives [rad]; ``causes``: see :func:`.rank_causes`; ``remarks``: what limits the answer.
    """

    name: str
    model: YawErrorModel
    bands: pd.DataFrame
    percentile_50: float
    percentile_95: float
    causes: pd.DataFrame
    remarks: tuple[str, ...]


class Answers:
    """Gives the answers to questions, and keeps what the next one may need again.

    ``read``: returns what a recording's path has, with ``motion`` and ``remarks``, or raises
    FrameworkError. ``parts``: IMUs by name; by default those of the catalogue.
    """

    def __init__(
        self, read: Callable[[str], Any], parts: Mapping[str, ImuSpecification] | None = None
    ) -> None:
        if parts is None:
            parts = {one.specification.name: one.specification for one in imu_catalogue()}
        self.parts = dict(parts)
        self.recordings: dict[str, Any] = {}
        self._read = read
        self._driven = lru_cache(maxsize=8)(self._make_driven)
        self._moved = lru_cache(maxsize=8)(self._make_moved)
        self._model = lru_cache(maxsize=64)(self._make_model)
        self._part = lru_cache(maxsize=64)(self._make_part)

    def add_recording(self, name: str, path: str) -> None:
        """Make a recording one of the drives; raises FrameworkError if it cannot be read."""
        if name in DRIVES:
            raise ConfigurationError(f"a recording cannot be called {name}: a bundled drive is")
        self.recordings[name] = self._read(path)
        for kept in (self._driven, self._moved, self._model, self._part):
            kept.cache_clear()

    @property
    def drives(self) -> tuple[str, ...]:
        """The names of all drives."""
        return (*DRIVES, *self.recordings)

    def check(self, question: Question) -> None:
        """Raise ConfigurationError if a part or drive that is asked for is not here."""
        for name in question.imu:
            self.imu(name, question.unit)
        if question.motion == "drive" and question.drive not in self.drives:
            raise ConfigurationError(
                f"there is no drive {shorten(question.drive)} here; there are "
                f"{', '.join(self.drives)}: a recording has to be dropped in again after a start"
            )

    def moved(self, question: Question) -> Moved:
        """Return the motion that is asked for.

        Raises FrameworkError: there is no such drive, or it leaves no time to drive between stops.
        """
        return self._moved(_only(question, *_OF_MOTION, *_OF_STOPS))

    def _make_moved(self, question):
        name, driven, remarks = self._driven(_only(question, *_OF_MOTION))
        motion = question.operation.moved(driven)
        at = float(math.floor(min(question.duration, motion.duration + 1e-6)))
        if at < math.floor(question.duration):
            end = f"{name} lasts {motion.duration:.6g} s: the answer is that at its end"
            remarks = (*remarks, end)
        if not at:
            raise ConfigurationError(f"{name} lasts {motion.duration:.6g} s, less than a second")
        return Moved(name, driven, motion, at, remarks)

    def _make_driven(self, question):
        if question.motion == "drive":
            self.check(question)
            name = question.drive
            if name in self.recordings:
                recorded = self.recordings[name]
                return name, recorded.motion, tuple(recorded.remarks)
            return f"drive {name}", sources.read_drive(name).resampled(RATE_OF_DRIVES), ()
        duration, speed, way = question.duration, question.speed, described(question)
        radius = 0.5 * question.width if question.motion == "mowing" else question.radius
        turning = 0.0 if question.motion == "straight" else speed / (2.0 * math.pi * radius)
        rates = [math.floor(SAMPLES / duration), 1.0 if question.stops == "none" else RATE_OF_STOPS]
        if turning:
            rates += [10.0, math.ceil(SAMPLES_PER_TURN * turning)]
        rate = min(max(rates), 1.0 / SAMPLE)
        if rate * duration > MOST_SAMPLES:
            raise ConfigurationError(
                f"time: {time_text(duration)} of this motion, in turns of "
                f"{1.0 / turning:.2g} s, take {rate * duration:.2g} samples, expected at most "
                f"{MOST_SAMPLES:.2g}; choose a shorter time or wider turns, or heading_budget.py"
            )
        if question.motion == "straight":
            return "straight on", sources.straight(way, speed, rate), ()
        if question.motion == "circles":
            return f"circles of {radius:g} m radius", sources.rounds(way, radius, speed, rate), ()
        motion = sources.mowing(int(way), question.length, question.width, speed, rate=rate)
        return f"mowing, lanes of {question.length:g} m", motion, ()

    def imu(self, name: str, unit: str) -> ImuSpecification:
        """Return a part, any unit or this one or as stated; ConfigurationError: there is none."""
        if name not in self.parts:
            raise ConfigurationError(
                f"there is no IMU {shorten(name)} here; there are {', '.join(self.parts)}"
            )
        imu = self.parts[name]
        if unit == "this":
            return imu.this_unit()
        part = part_of(imu).specification
        return part.any_unit() if unit == "any" else part

    def model(self, question: Question, name: str) -> YawErrorModel:
        """Return the model of a part up to the time that is asked for; raises FrameworkError."""
        return self._model(_only(question, *_OF_MODEL), name)

    def _make_model(self, question, name):
        moved, operation = self.moved(question), question.operation
        period = model_step(moved.at, moved.motion, operation, STEPS)
        model = yaw_error_model(
            self.imu(name, question.unit), moved.motion, period, sample=SAMPLE, operation=operation
        )
        return model.until(min(round(moved.at / period) + 1, len(model.time)))

    def part(self, question: Question, name: str) -> Part:
        """Return what one part does; raises FrameworkError."""
        return self._part(_only(question, *_OF_MODEL), name)

    def _make_part(self, question, name):
        model = self.model(question, name)
        percentiles = map(model.absolute_quantile, (0.5, 0.95))
        bands, causes = model.bands((0.5, 0.95)), rank_causes(model)
        remarks = [f"{name}: {sentence}" for sentence in model.limits]
        remarks += filter(None, [remark_on_motion_errors(self.imu(name, question.unit))])
        return Part(name, model, bands, *percentiles, causes, tuple(remarks))

    def answer(self, question: Question, name: str) -> HeadingAnswer:
        """Return the whole answer of one part, with drawn drives; raises FrameworkError."""
        moved, model = self.moved(question), self.model(question, name)
        imu = self.imu(name, question.unit)
        used: dict[str, Any] = {"period": model.step, "sample": SAMPLE}
        improvements = propose_improvements(imu, moved.driven, question.operation, model, **used)
        return heading_answer(model, question.limit_angle, improvements, runs=RUNS)

    def ranked(self, question: Question) -> Iterator[pd.DataFrame]:
        """Yield :func:`.which_imu`'s row for each part that is ranked; raises FrameworkError."""
        moved = self.moved(question)
        for name in self.parts if question.ranked == "all" else question.imu:
            part, limit = {name: self.imu(name, question.unit)}, question.limit_angle
            of = (part, moved.driven, limit, moved.at, question.operation)
            yield which_imu(*of, sample=SAMPLE, runs=RUNS)


_OF_MOTION = ("motion", "drive", "speed", "radius", "length", "width", "duration", "stops")
_OF_STOPS = ("every", "stop", "standstill")
_OF_MODEL = (*_OF_MOTION, *_OF_STOPS, "warm_up", "unit")


def _only(question, *names):
    """Return a question with some fields, and the others at their defaults."""
    return Question(**{name: getattr(question, name) for name in names})


def described(question: Question) -> float:
    """Return what of a described motion lasts as long as is asked for, as a command line has it.

    The time of a straight one [s], the number of circles, or that of lanes, which last a little
    longer.
    """
    way = question.speed * math.floor(question.duration)
    if question.motion == "circles":
        return math.ceil(10.0 * way / (2.0 * math.pi * question.radius)) / 10.0
    if question.motion == "mowing":
        turn = 0.5 * math.pi * question.width
        return float(math.ceil((way + turn) / (question.length + turn)))
    return float(math.floor(question.duration))


class Words:
    """Says questions in words.

    ``written``: what a person calls those parts and drives that have another name on the page, as
    a file's path.
    """

    def __init__(self, written: Mapping[str, str] | None = None) -> None:
        self.written = {} if written is None else written

    def budget_command(self, question: Question, moved: Moved) -> str:
        """Return the call of heading_budget.py that gives the same answer."""
        words = ["heading_budget.py", *self._motion(question), *self._imus(question)]
        return shlex.join([*words, "--at", time_text(moved.at), *_asked(question)])

    def ranking_command(self, question: Question, moved: Moved) -> str:
        """Return the call of which_imu.py that ranks the same parts."""
        words = ["which_imu.py", *self._motion(question), "--for", time_text(moved.at)]
        if question.ranked == "chosen":
            words += self._imus(question)
        return shlex.join([*words, *_asked(question)])

    def python_lines(self, question: Question, moved: Moved, step: float) -> str:
        """Return lines of Python that give the same answer; ``step``: of the models [s]."""
        names = [self.written.get(name, name) for name in question.imu]
        several = len(names) > 1
        imu = "name" if several else repr(names[0])
        read = f"isf.read_part({imu})"
        if question.unit == "this":
            read = f"isf.read_imu_specification({imu}).this_unit()"
        elif question.unit == "any":
            read = f"{read}.any_unit()"
        model = f"isf.yaw_error_model({read}, motion, {step:.12g}, operation=operation)"
        lines = [
            f"model = {model}.until({round(moved.at / step) + 1})",
            f"print(isf.heading.heading_answer(model, limit).sentence({imu}, limit))",
        ]
        if several:
            lines = [f"for name in {names}:", *(f"    {line}" for line in lines)]
        operation = question.operation
        used = f"standstill={operation.standstill:.12g}"
        used += f", stops={operation.stops!r}" * (operation.stops != "none")
        used += f", warm_up={operation.warm_up:.12g}" * bool(operation.warm_up)
        head = (
            "import imu_simulation_framework as isf",
            f"operation, limit = isf.Operation({used}), {question.limit_angle:.12g}",
            f"motion = operation.moved({self._python_motion(question)})",
        )
        return "\n".join([*head, *lines])

    def _imus(self, question):
        names = (self.written.get(name, name) for name in question.imu)
        return [word for name in names for word in ("--imu", name)]

    def _motion(self, question):
        way, speed = described(question), ("--speed", f"{question.speed:.12g}")
        if question.motion == "drive":
            return [self.written.get(question.drive, question.drive)]
        if question.motion == "straight":
            return ["--straight", time_text(way)]
        if question.motion == "circles":
            return ["--rounds", f"{way:.12g}", "--radius", f"{question.radius:.12g}", *speed]
        lane = ("--length", f"{question.length:.12g}", "--width", f"{question.width:.12g}")
        return ["--mowing", f"{way:.0f}", *lane, *speed]

    def _python_motion(self, question):
        way, speed = described(question), f"{question.speed:.12g}"
        if question.motion == "drive":
            read = "read_drive" if question.drive in DRIVES else "read_motion"
            return f"isf.{read}({self.written.get(question.drive, question.drive)!r})"
        if question.motion == "straight":
            return f"isf.straight({way:.12g})"
        if question.motion == "circles":
            return f"isf.rounds({way:.12g}, {question.radius:.12g}, {speed})"
        return f"isf.mowing({way:.0f}, {question.length:.12g}, {question.width:.12g}, {speed})"


def _asked(question):
    operation = question.operation
    words = ["--within", f"{question.limit:.12g}deg"]
    if question.unit != "stated":
        words += ["--unit", question.unit]
    words += ["--standstill", time_text(operation.standstill)]
    if operation.stops != "none":
        words += ["--stops", operation.stops]
    if operation.warm_up:
        words += ["--warm-up", time_text(operation.warm_up)]
    return words
