"""What is asked on the page: a motion, parts, how they are used, a limit; and its address.

Each field of a :class:`Question` is a text on the page and in the address: a time as ``10min``, the
limit in degrees, all other numbers in the unit that the field states.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Mapping
from urllib.parse import parse_qsl, urlencode

from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.core.sentences import as_written, shown
from imu_simulation_framework.core.settings import (
    Settings,
    bound_of,
    declared,
    setting,
    setting_of_text,
)
from imu_simulation_framework.core.units import amount
from imu_simulation_framework.sensors.operation import Operation

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
            f"{NAMES[name]}: expected one to {MAX_PARTS} different IMUs, got {shown(value)}"
        )
    return value


@dataclass(frozen=True)
class Question(Settings):
    """What the page asks; times in s, lengths in m, the limit in degrees.

    ``motion``: ``circles`` of a ``radius``, ``mowing`` on lanes of a ``length``, a ``width`` from
    each other, or a ``drive``, bundled or recorded. ``duration``: how long it drives. ``imu``:
    names. ``stops``: ``given`` are those ``every`` so long, for the length ``stop``; otherwise as
    for :class:`.Operation`. ``unit``: ``any`` of the part, ``this`` one, with the numbers of its
    file, or what the file has ``stated``. ``ranked``: the ``chosen`` parts or ``all``.
    """

    motion: str = setting("straight", choices=("straight", "circles", "mowing", "drive"))
    drive: str = setting("a")
    speed: float = setting(1.0, minimum=0.01, maximum=50.0, unit="m/s")
    radius: float = setting(5.0, minimum=0.1, maximum=1e4, unit="m")
    length: float = setting(20.0, minimum=0.1, maximum=1e4, unit="m")
    width: float = setting(2.0, minimum=0.1, maximum=1e3, unit="m")
    duration: float = setting(600.0, minimum=10.0, maximum=8.0 * HOUR, unit="s")
    imu: tuple[str, ...] = declared(("bno055", "adis16470"), _checked_parts)
    unit: str = setting("stated", choices=("stated", "any", "this"))
    standstill: float = setting(10.0, minimum=0.0, maximum=HOUR, unit="s")
    warm_up: float = setting(0.0, minimum=0.0, maximum=24.0 * HOUR, unit="s")
    stops: str = setting("none", choices=("none", "found", "given"))
    every: float = setting(120.0, minimum=1.0, maximum=8.0 * HOUR, unit="s")
    stop: float = setting(3.0, minimum=1.0, maximum=HOUR, unit="s")
    limit: float = setting(5.0, minimum=0.01, maximum=180.0, unit="deg")
    ranked: str = setting("chosen", choices=("chosen", "all"))

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
                f"the page has nothing that is called {as_written(name)}; it has "
                f"{', '.join(FIELDS)}"
            )
        values[name] = _value(name, str(text).strip())
    return Question(**values)


def _value(name, text):
    where, field = NAMES.get(name, name), FIELDS[name]
    if name == "imu":
        return tuple(filter(None, text.split(",")))
    if not text:
        raise ConfigurationError(f"{where}: nothing is written there")
    if field.metadata["unit"] != "s":
        return setting_of_text(where, field, text)
    try:
        value = amount(text, "s", ("s", "min", "h"))
    except ValueError:
        raise ConfigurationError(
            f"{where}: expected a time, as 90s, 10min or 1.5h, got {shown(text)}"
        ) from None
    bound = bound_of(value, field.metadata["minimum"], field.metadata["maximum"])
    if bound:
        least = " ".join([*bound.split()[:-1], time_text(float(bound.split()[-1]))])
        raise ConfigurationError(f"{where}: expected {least}, got {as_written(text)}")
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
