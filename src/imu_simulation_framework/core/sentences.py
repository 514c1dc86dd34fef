"""Formatting of values and lists in messages; very long values and lists are shortened."""

from __future__ import annotations

import math
import reprlib
import unicodedata

LONGEST_VALUE = 200  # number of characters up to which a message shows a value in full
MAX_LISTED = 40  #: largest number of names that a message lists in full


def escape_unprintable(text: str) -> str:
    """Escape unprintable characters, so that the text is a single line.

    Parameters
    ----------
    text : str
        Text of any origin. Control characters, line breaks and text direction marks are escaped
        as in Python.

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
    """Return the Python representation of a value, with the middle omitted if it is long.

    Parameters
    ----------
    value : object
        Any value that a file may contain, possibly nested.

    Returns
    -------
    str
    """
    if isinstance(value, str):
        # The middle of a long text is omitted before the text is formatted.
        return repr(value) if len(value) <= LONGEST_VALUE else _cut(value, repr)
    return shorten(_SHORT_REPR.repr(value))


def shorten(text) -> str:
    """Shorten and escape text as :func:`quote` does, but without quotation marks.

    Parameters
    ----------
    text : str
        Text of any origin and length.

    Returns
    -------
    str
        Printable line of limited length.
    """
    text = escape_unprintable(text)
    return text if len(text) <= LONGEST_VALUE else _cut(text, str)


def _cut(text, form) -> str:
    begin, end = form(text[: LONGEST_VALUE // 2]), form(text[-LONGEST_VALUE // 4 :])
    return f"{begin} [...] {end} ({len(text)} characters)"


def join_names(names) -> str:
    """Join names with commas, and shorten a long list.

    Parameters
    ----------
    names : sequence
        Names. If there are more than :data:`MAX_LISTED`, only the first half of this number is
        listed.

    Returns
    -------
    str
        The joined names, with the number of omitted names.
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
        Names, possibly with duplicates.

    Returns
    -------
    list of str
        Unique names in the same order.
    """
    return [
        name if names.count(name) == 1 else f"{name} ({names[: place + 1].count(name)})"
        for place, name in enumerate(names)
    ]


class _ShortRepr(reprlib.Repr):
    """Abbreviated representation of values, in which values typed by a user are complete."""

    def __init__(self):
        super().__init__()
        self.maxlevel = 5
        self.maxdict = self.maxlist = self.maxtuple = self.maxset = self.maxfrozenset = 20
        self.maxstring = self.maxother = LONGEST_VALUE

    def repr_int(self, value, level):
        """Abbreviate a long integer, because Python does not print thousands of decimal digits."""
        if abs(value) < 10**30:
            return repr(value)
        return f"a whole number of about {round(value.bit_length() * 0.30103)} digits"


_SHORT_REPR = _ShortRepr()


def format_duration(seconds) -> str:
    """Format a duration in days, hours, minutes or seconds.

    Parameters
    ----------
    seconds : float
        Duration [s].

    Returns
    -------
    str
        Integer with a unit, which is the largest unit for which the integer is at least two.
    """
    for unit, size in (("days", 86400.0), ("h", 3600.0), ("min", 60.0)):
        if seconds >= 2.0 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"


def format_degrees(angle) -> str:
    """Format an angle in degrees, rounded to an integer.

    Parameters
    ----------
    angle : float
        Angle [rad].

    Returns
    -------
    str
        Text such as ``90 deg``; zero has no sign.
    """
    return f"{round(math.degrees(angle))} deg"
