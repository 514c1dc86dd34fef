"""XML from anywhere: bounded before a parser makes anything of it."""

from __future__ import annotations

from contextlib import suppress
from xml.parsers import expat

XML_LIMIT = 8 * 2**20
"""Bytes of a file; far above any robot's or aircraft's."""

MAX_TAGS = 200_000
MAX_DEPTH = 200
"""Of tags in each other. A reader that calls itself for each, as JSBSim does when it frees what it
has read, overflows its stack at some ten thousand."""


class UnusableXmlError(ValueError):
    """XML that is not read; its text ends a sentence, ``line`` is where."""

    def __init__(self, reason: str, line: int) -> None:
        super().__init__(reason)
        self.line = line


def require_bounded_xml(content: bytes) -> None:
    """Refuse XML that is nested too deeply, has too many tags, or declares entities.

    Nothing is built of it: memory and depth do not grow with what is in it. What is not well-formed
    the parser refuses that reads it then, at the same place.

    Raises :class:`.UnusableXmlError`: it is so, or larger than ``XML_LIMIT``.

    ``content``: A whole file.
    """
    parser = expat.ParserCreate()
    depth = tags = 0

    def refuse(reason):
        raise UnusableXmlError(reason, parser.CurrentLineNumber)

    def start(*_):
        nonlocal depth, tags
        depth, tags = depth + 1, tags + 1
        if depth > MAX_DEPTH:
            refuse(f"tags are nested more than {MAX_DEPTH} deep")
        if tags > MAX_TAGS:
            refuse(f"it has more than {MAX_TAGS} tags")

    def end(*_):
        nonlocal depth
        depth -= 1

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.EntityDeclHandler = lambda *_: refuse("entities are not read; remove them")
    if len(content) > XML_LIMIT:
        raise UnusableXmlError(f"it is larger than {XML_LIMIT // 2**20} MiB", 1)
    with suppress(expat.ExpatError, LookupError):  # an encoding that is not known
        parser.Parse(content, True)
