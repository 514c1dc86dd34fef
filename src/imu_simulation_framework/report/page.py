"""Report as a web page: sections with tables and figures in a single, self-contained file.

All texts are escaped. The page contains plotly's JavaScript. Its content security policy prevents
the browser from loading other files and from executing scripts other than the two in the page.
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
from .charts import to_plotly
from .figure import Figure


class Table(NamedTuple):
    """Table on a web page.

    Attributes
    ----------
    headings : sequence of str
        Heading of each column.
    rows : sequence of sequence of str
        Cells of each row.
    numbers : int
        Number of columns that contain numbers; these are the last columns, which are right-aligned.
    """

    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    numbers: int = 0


class Section(NamedTuple):
    """Section of a web page.

    Attributes
    ----------
    heading : str
        Heading, which must be unique on the page.
    text : sequence of str
        Paragraphs.
    table : Table, optional
    figure : Figure, optional
    how_to_read : str
        One or two sentences that explain how to read the figure.
    folded : bool
        Whether the section is collapsed until the reader opens it. In print, all sections are open.
    """

    heading: str
    text: Sequence[str] = ()
    table: Table | None = None
    figure: Figure | None = None
    how_to_read: str = ""
    folded: bool = False


class Page(NamedTuple):
    """Content of a report that is rendered as a web page.

    Attributes
    ----------
    title : str
    summary : sequence of str
        Paragraphs below the title.
    sections : sequence of Section
    footer : str
        Program, version and input files of the report.
    """

    title: str
    summary: Sequence[str]
    sections: Sequence[Section]
    footer: str = ""


MAX_LENGTH = 300
"""Largest number of characters in a formatted value; longer values are truncated."""


def tabulate_values(values: Mapping[str, Any], skip_empty: bool = False) -> Table:
    """Create a table of named values.

    Parameters
    ----------
    values : mapping
        Value of each name. The name of a value in nested mappings is its path, for example
        ``imu/parameters/yaw_drift``.
    skip_empty : bool
        Whether to omit values that are zero or empty.

    Returns
    -------
    Table
    """
    rows = [
        (name, format_value(value))
        for name, value in _flatten(values)
        if not skip_empty or isinstance(value, np.ndarray) or value
    ]
    return Table(("", ""), rows)


def format_value(value) -> str:
    """Format a value as text with at most :data:`MAX_LENGTH` characters.

    Parameters
    ----------
    value : object
        Value of a summary.

    Returns
    -------
    str
    """
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.10g}"
    if isinstance(value, np.ndarray):
        return format_value(value.tolist())
    text = str(value)
    if isinstance(value, (list, tuple)):
        text = ", ".join(map(format_value, value)) or "none"
    elif isinstance(value, Mapping):
        text = "; ".join(f"{name} {format_value(part)}" for name, part in value.items()) or "none"
    return text if len(text) <= MAX_LENGTH else text[: MAX_LENGTH - 4] + " ..."


def _flatten(values, path="") -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        if isinstance(value, Mapping) and value:
            yield from _flatten(value, f"{path}{name}/")
        else:
            yield path + str(name), value


def page_html(page: Page) -> str:
    """Render a page as the content of an HTML file.

    Parameters
    ----------
    page : Page
        Content of the report.

    Returns
    -------
    str

    Raises
    ------
    ConfigurationError
        Jinja2 or plotly is not installed, or two sections have the same heading.
    """
    names = [
        re.sub(r"[^a-z0-9]+", "-", section.heading.lower()).strip("-") or "section"
        for section in page.sections
    ]
    duplicates = {name for name in names if names.count(name) > 1}
    if duplicates:
        raise ConfigurationError(
            f"page: two sections have the heading '{min(duplicates)}', expected unique headings"
        )
    has_figures = any(section.figure and section.figure.panels for section in page.sections)
    scripts = [_plotly_script(), _read_package_file("page.js")] if has_figures else []
    sections = list(zip(names, page.sections))
    return _template().render(page=page, sections=sections, scripts=scripts)


@lru_cache(maxsize=1)
def _template():
    # Imported on first use, because the import is slow and only programs with a page need it.
    jinja2 = import_optional("jinja2", "a report")
    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
    )  # fmt: skip
    # The content security policy allows scripts by their hash.
    environment.filters["sha256"] = lambda script: base64.b64encode(
        hashlib.sha256(script.encode("utf-8")).digest()
    ).decode()
    environment.globals.update(chart=to_plotly, style=_read_package_file("page.css"), zip=zip)
    environment.policies["json.dumps_kwargs"] = {"allow_nan": False, "separators": (",", ":")}
    return environment.from_string(_read_package_file("page.html"))


@lru_cache(maxsize=1)
def _plotly_script() -> str:
    offline = import_optional("plotly.offline", "a report")
    # Browsers normalise line ends to \n before they compare the hash of a script with the policy.
    return offline.get_plotlyjs().replace("\r\n", "\n").replace("\r", "\n")


def _read_package_file(name) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")
