"""Report as a web page: sections with tables and figures in a single, self-contained file.

All texts are escaped. The page contains plotly's JavaScript. Its content security policy forbids
the browser to load other files and to execute scripts other than the two in the page.
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
    """Table of a page.

    Attributes
    ----------
    headings : sequence of str
        Heading of each column.
    rows : sequence of sequence of str
        Cells of each row.
    numbers : int
        Number of columns with numbers: the last columns, aligned right.
    """

    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    numbers: int = 0


class Section(NamedTuple):
    """Section of a page.

    Attributes
    ----------
    heading : str
        Heading, unique on the page.
    text : sequence of str
        Paragraphs.
    table : Table, optional
    figure : Figure, optional
    how_to_read : str
        One or two sentences on the reading of the figure.
    folded : bool
        Whether the section is closed until the reader opens it. In print all sections are open.
    """

    heading: str
    text: Sequence[str] = ()
    table: Table | None = None
    figure: Figure | None = None
    how_to_read: str = ""
    folded: bool = False


class Page(NamedTuple):
    """Contents of a report.

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
"""Maximum number of characters of a value; longer values are cut."""


def tabulate_values(values: Mapping[str, Any], skip_empty: bool = False) -> Table:
    """Return a table of names and values.

    Parameters
    ----------
    values : mapping
        Values by name. Values of nested mappings are named by their path, for example
        ``imu/parameters/yaw_drift``.
    skip_empty : bool
        Whether to leave out values that are zero or empty.

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
    """Return a value as text of at most :data:`MAX_LENGTH` characters.

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
    """Return a page as the content of an HTML file.

    Parameters
    ----------
    page : Page
        Described page.

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
    # The import is slow, and only a program that writes a page needs it.
    jinja2 = import_optional("jinja2", "a report")
    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
    )  # fmt: skip
    # The hash by which the page's policy allows a script.
    environment.filters["sha256"] = lambda script: base64.b64encode(
        hashlib.sha256(script.encode("utf-8")).digest()
    ).decode()
    environment.globals.update(chart=to_plotly, style=_read_package_file("page.css"), zip=zip)
    environment.policies["json.dumps_kwargs"] = {"allow_nan": False, "separators": (",", ":")}
    return environment.from_string(_read_package_file("page.html"))


@lru_cache(maxsize=1)
def _plotly_script() -> str:
    offline = import_optional("plotly.offline", "a report")
    # Browsers normalise line ends to \n before they compare a script with the policy's hash.
    return offline.get_plotlyjs().replace("\r\n", "\n").replace("\r", "\n")


def _read_package_file(name) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")
