"""Values and lists in messages: in full, or shortened with their length if very long."""

from __future__ import annotations

import math
import reprlib
import unicodedata

LONGEST_VALUE = 200  # characters of a value that a message shows in full
MAX_LISTED = 40  #: names that a sentence lists; more are a table


def escape_unprintable(text: str) -> str:
    """Escape unprintable characters, so that a text is a single line.

    Parameters
    ----------
    text : str
        A text of any origin. Control characters, line ends and marks of the writing direction are
        escaped as in Python.

    Returns
    -------
    str
    """
    if text.isprintable():
        return text
    return "".join(
        letter
        if letter.isprintable() or unicodedata.category(letter) == "Zs"
        else letter.encode("unicode_escape").decode()
        for letter in text
    )


def quote(value) -> str:
    """Return the Python notation of a value; a long one is shortened in its middle.

    Parameters
    ----------
    value : object
        A value as a file may contain it, nested to any depth.

    Returns
    -------
    str
    """
    if isinstance(value, str):
        # The middle of a long text is not examined.
        return repr(value) if len(value) <= LONGEST_VALUE else _cut(value, repr)
    return shorten(_SHORT.repr(value))


def shorten(text) -> str:
    """Return a text without quotation marks, otherwise as :func:`quote` does.

    Parameters
    ----------
    text : str
        Text of any origin and length.

    Returns
    -------
    str
        One line of printable characters of limited length.
    """
    text = escape_unprintable(text)
    return text if len(text) <= LONGEST_VALUE else _cut(text, str)


def _cut(text, form) -> str:
    begin, end = form(text[: LONGEST_VALUE // 2]), form(text[-LONGEST_VALUE // 4 :])
    return f"{begin} [...] {end} ({len(text)} characters)"


def join_names(names) -> str:
    """Join names by commas; a long list is shortened.

    Parameters
    ----------
    names : sequence
        Names. With more than :data:`MAX_LISTED`, the first half of that number is listed.

    Returns
    -------
    str
        Joined names, with the number of omitted names.
    """
    names = [shorten(str(name)) for name in names]
    if len(names) <= MAX_LISTED:
        return ", ".join(names)
    first = ", ".join(names[: MAX_LISTED // 2])
    return f"{first} and {len(names) - MAX_LISTED // 2} more"


def number_duplicates(names) -> list[str]:
    """Append a number to each name that occurs more than once: ``a (1)``, ``a (2)``.

    Parameters
    ----------
    names : list of str
        Names in their order.

    Returns
    -------
    list of str
        Names in the same order.
    """
    return [
        name if names.count(name) == 1 else f"{name} ({names[: place + 1].count(name)})"
        for place, name in enumerate(names)
    ]


class _Short(reprlib.Repr):
    """Limits that handwritten values stay within, and that bound generated values."""

    def __init__(self):
        super().__init__()
        self.maxlevel = 5
        self.maxdict = self.maxlist = self.maxtuple = self.maxset = self.maxfrozenset = 20
        self.maxstring = self.maxother = LONGEST_VALUE

    def repr_int(self, value, level):
        """Abbreviate long integers; Python refuses to print thousands of decimal digits."""
        if abs(value) < 10**30:
            return repr(value)
        return f"a whole number of about {round(value.bit_length() * 0.30103)} digits"


_SHORT = _Short()


def format_duration(seconds) -> str:
    """Format a duration in days, hours, minutes or seconds.

    Parameters
    ----------
    seconds : float
        Duration [s].

    Returns
    -------
    str
        Whole number with the largest unit of which the duration has at least two.
    """
    for unit, size in (("days", 86400.0), ("h", 3600.0), ("min", 60.0)):
        if seconds >= 2.0 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"


def format_degrees(angle) -> str:
    """Format an angle in whole degrees.

    Parameters
    ----------
    angle : float
        Angle [rad].

    Returns
    -------
    str
        For example ``90 deg``; zero has no sign.
    """
    return f"{round(math.degrees(angle))} deg"
