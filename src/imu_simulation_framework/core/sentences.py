"""Values and lists in sentences: whole, unless they are absurdly long; then their size is said."""

from __future__ import annotations

import math
import reprlib
import unicodedata

LONGEST_VALUE = 200  # characters of a value that a sentence shows whole
MAX_LISTED = 40  # names that a sentence lists; more are a table


def escape_unprintable(text: str) -> str:
    """Return a text of others as one line that no screen, terminal or log takes for more.

    Control characters, line ends and marks that turn the direction of writing stand as Python
    escapes them.
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
    """Return a value as Python writes it; what is too long loses its middle and gets its size.

    ``value`` (object): of any kind that a file may hold, nested as deeply or shared as often as it
    likes.
    """
    if isinstance(value, str):
        # Of a long one no more is looked at than is shown.
        return repr(value) if len(value) <= LONGEST_VALUE else _cut(value, repr)
    return shorten(_SHORT.repr(value))


def shorten(text) -> str:
    """Return a text without quotation marks, as :func:`quote` has it otherwise."""
    text = escape_unprintable(text)
    return text if len(text) <= LONGEST_VALUE else _cut(text, str)


def _cut(text, form) -> str:
    begin, end = form(text[: LONGEST_VALUE // 2]), form(text[-LONGEST_VALUE // 4 :])
    return f"{begin} [...] {end} ({len(text)} characters)"


def join_names(names) -> str:
    """Return names with commas between; of very many the first, and how many more there are."""
    names = [shorten(str(name)) for name in names]
    if len(names) <= MAX_LISTED:
        return ", ".join(names)
    first = ", ".join(names[: MAX_LISTED // 2])
    return f"{first} and {len(names) - MAX_LISTED // 2} more"


def number_duplicates(names) -> list[str]:
    """Return the names, those that stand more than once with a number behind: ``a (1), a (2)``."""
    return [
        name if names.count(name) == 1 else f"{name} ({names[: place + 1].count(name)})"
        for place, name in enumerate(names)
    ]


class _Short(reprlib.Repr):
    """Large enough for whatever a person writes, and finite for what a program does."""

    def __init__(self):
        super().__init__()
        self.maxlevel = 5
        self.maxdict = self.maxlist = self.maxtuple = self.maxset = self.maxfrozenset = 20
        self.maxstring = self.maxother = LONGEST_VALUE

    def repr_int(self, value, level):
        """Python refuses to write a number of some thousand digits, which hexadecimal ones are."""
        if abs(value) < 10**30:
            return repr(value)
        return f"a whole number of about {round(value.bit_length() * 0.30103)} digits"


_SHORT = _Short()


def format_duration(seconds) -> str:
    """Return a duration as a person would say it."""
    for unit, size in (("days", 86400.0), ("h", 3600.0), ("min", 60.0)):
        if seconds >= 2.0 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"


def format_degrees(angle) -> str:
    """Return an angle [rad] in whole degrees, without the sign of a zero."""
    return f"{round(math.degrees(angle))} deg"
