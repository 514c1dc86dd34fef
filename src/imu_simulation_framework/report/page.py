"""A report as one web page: sections with tables and figures, in one file that asks for no other.

Whatever text it is given is shown as text. plotly's JavaScript stands in it, and a content security
policy forbids the browser to load anything, and to execute any script but the two in the page.
"""

from __future__ import annotations

import base64
import hashlib
import re
from functools import lru_cache
from pathlib import Path
from typing import Any, Iterator, Mapping, NamedTuple, Sequence

import numpy as np

from ..core.errors import ConfigurationError, import_optional
from .charts import chart
from .figure import Figure


class Table(NamedTuple):
    """``headings``, one for each column; ``rows`` of texts; ``numbers``: how many columns are.

    Those are the last ones, and stand to the right.
    """

    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    numbers: int = 0


class Section(NamedTuple):
    """A part of a page.

    ``heading``: unlike all others of the page; ``text``: paragraphs; ``how_to_read``: what to look
    at in the figure, one or two sentences; ``folded``: whether it is closed until somebody opens
    it. On paper all are open.
    """

    heading: str
    text: Sequence[str] = ()
    table: Table | None = None
    figure: Figure | None = None
    how_to_read: str = ""
    folded: bool = False


class Page(NamedTuple):
    """``title``; ``summary``, paragraphs; ``sections``; ``footer``: who made it, of what."""

    title: str
    summary: Sequence[str]
    sections: Sequence[Section]
    footer: str = ""


MAX_LENGTH = 300
"""Characters of a value; what is longer is cut."""


def facts(values: Mapping[str, Any], only_telling: bool = False) -> Table:
    """Return a table of names and values, ``only_telling`` those that are not zero or empty.

    What is in mappings within them is named by its path, as ``imu/parameters/yaw_drift``.
    """
    rows = [
        (name, said(value))
        for name, value in _flat(values)
        if not only_telling or isinstance(value, np.ndarray) or value
    ]
    return Table(("", ""), rows)


def said(value) -> str:
    """Return a value as a person reads it."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.10g}"
    if isinstance(value, np.ndarray):
        return said(value.tolist())
    text = str(value)
    if isinstance(value, (list, tuple)):
        text = ", ".join(map(said, value)) or "none"
    elif isinstance(value, Mapping):
        text = "; ".join(f"{name} {said(part)}" for name, part in value.items()) or "none"
    return text if len(text) <= MAX_LENGTH else text[: MAX_LENGTH - 4] + " ..."


def _flat(values, path="") -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        if isinstance(value, Mapping) and value:
            yield from _flat(value, f"{path}{name}/")
        else:
            yield path + str(name), value


def page_html(page: Page) -> str:
    """Return a page as the content of an HTML file.

    Raises ConfigurationError: Jinja2 or plotly is not installed, or two sections have one heading.
    """
    names = [
        re.sub(r"[^a-z0-9]+", "-", section.heading.lower()).strip("-") or "section"
        for section in page.sections
    ]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise ConfigurationError(f"a page has two sections '{min(twice)}'")
    has_figures = any(section.figure and section.figure.panels for section in page.sections)
    scripts = [_script_of_plotly(), _beside("page.js")] if has_figures else []
    sections = list(zip(names, page.sections))
    return _template().render(page=page, sections=sections, scripts=scripts)


@lru_cache(maxsize=1)
def _template():
    # Only who writes a page waits for it.
    jinja2 = import_optional("jinja2", "a report")
    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
    )  # fmt: skip
    # The hash by which the page's policy allows a script.
    environment.filters["sha256"] = lambda script: base64.b64encode(
        hashlib.sha256(script.encode("utf-8")).digest()
    ).decode()
    environment.globals.update(chart=chart, style=_beside("page.css"), zip=zip)
    environment.policies["json.dumps_kwargs"] = {"allow_nan": False, "separators": (",", ":")}
    return environment.from_string(_beside("page.html"))


@lru_cache(maxsize=1)
def _script_of_plotly() -> str:
    offline = import_optional("plotly.offline", "a report")
    # Browsers read every line's end as this one, and so must the policy's hash.
    return offline.get_plotlyjs().replace("\r\n", "\n").replace("\r", "\n")


def _beside(name) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")
