"""What a report consists of."""

from __future__ import annotations

from typing import Any, Mapping, NamedTuple, Sequence


class Table(NamedTuple):
    """``headings``, one for each column; ``rows`` of texts; ``numbers``: how many columns are.

    Those are the last ones, and stand to the right.
    """

    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    numbers: int = 0


class Section(NamedTuple):
    """A part of a page.

    Attributes
    ----------
    heading : str
        Unlike all others of the page.
    text : sequence of str
        Paragraphs.
    table : Table, optional
    figure : Mapping, optional
        ``data`` and ``layout`` as plotly has them, see :class:`.Chart`.
    how_to_read : str
        What to look at in the figure, one or two sentences.
    folded : bool
        Whether it is closed until somebody opens it. On paper all are open.
    """

    heading: str
    text: Sequence[str] = ()
    table: Table | None = None
    figure: Mapping[str, Any] | None = None
    how_to_read: str = ""
    folded: bool = False


class Page(NamedTuple):
    """``title``; ``summary``, paragraphs; ``sections``; ``footer``: who made it, of what."""

    title: str
    summary: Sequence[str]
    sections: Sequence[Section]
    footer: str = ""
