"""A report as one web page: sections with tables and figures, in one file that asks for no other.

Whatever text it is given is shown as text. plotly's JavaScript stands in it, and a content security
policy forbids the browser to load anything, and to execute any script but the two in the page.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from functools import lru_cache
from html import escape
from pathlib import Path
from typing import Any, Iterator, Mapping, NamedTuple, Sequence

import numpy as np

from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.core.extras import required
from imu_simulation_framework.report.charts import chart
from imu_simulation_framework.report.figure import Figure


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
    figure : Figure, optional
    how_to_read : str
        What to look at in the figure, one or two sentences.
    folded : bool
        Whether it is closed until somebody opens it. On paper all are open.
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
    """Return a table of names and values.

    Parameters
    ----------
    values : Mapping
        What is in mappings within it is named by its path, as ``imu/parameters/yaw_drift``.
    only_telling : bool
        Whether zeros and what is empty are left out.
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


_WIDE = 4
"""Columns that do not fit beside each other on a phone."""


def page_html(page: Page) -> str:
    """Return a page as the content of an HTML file.

    Raises
    ------
    ConfigurationError
        plotly is not installed, or two sections have one heading.
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
    lines = [
        "<!DOCTYPE html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{_policy(scripts)}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="referrer" content="no-referrer">',
        f"<title>{escape(page.title)}</title>",
        # Without it a browser would look for one beside the page.
        '<link rel="icon" href="data:,">',
        f"<style>\n{_beside('page.css')}</style>",
        "</head>",
        "<body>",
        f"<h1>{escape(page.title)}</h1>",
        *(f'<p class="summary">{escape(text)}</p>' for text in page.summary),
        "<nav>",
        *(
            f'<a href="#{name}">{escape(section.heading)}</a>'
            for name, section in zip(names, page.sections)
        ),
        "</nav>",
        *(_section(name, section) for name, section in zip(names, page.sections)),
        f"<footer>{escape(page.footer)}</footer>",
        *(f"<script>{script}</script>" for script in scripts),
        "</body>",
        "</html>",
        "",
    ]
    return "\n".join(lines)


def _policy(scripts) -> str:
    """Return what a browser may do with the page: show it, and run these scripts."""
    hashes = " ".join(
        "'sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode() + "'"
        for text in scripts
    )
    # plotly styles what it draws; its button for a picture makes an image of it.
    return (
        f"""default-src 'none'; script-src {hashes or "'none'"}; """
        "style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'"
    )


def _section(name, section: Section) -> str:
    heading = f"<h2>{escape(section.heading)}</h2>"
    parts = [f"<p>{escape(text)}</p>" for text in section.text]
    if section.how_to_read:
        parts.append(f'<p class="how">{escape(section.how_to_read)}</p>')
    if section.figure is not None and section.figure.empty:
        parts.append(f"<p>{escape(section.figure.nothing)}</p>")
    elif section.figure is not None:
        figure = chart(section.figure)
        parts += [
            # The figure takes its height from here, also when the window changes.
            f'<div class="figure"><div class="plot" id="figure-{name}" '
            f'style="height:{figure["layout"]["height"]:.0f}px" role="img" '
            f'aria-label="{escape(section.heading)}">'
            "<noscript>This figure needs JavaScript; the tables do not.</noscript></div></div>",
            f'<script type="application/json" id="figure-{name}-data">{_json(figure)}</script>',
        ]
    if section.table is not None:
        parts.append(_table(section.table))
    body = "\n".join(parts)
    if section.folded:
        return f'<details id="{name}">\n<summary>{heading}</summary>\n{body}\n</details>'
    return f'<section id="{name}">\n{heading}\n{body}\n</section>'


def _table(table: Table) -> str:
    first_number = len(table.headings) - table.numbers
    # On a phone each row of such a table becomes a list, which names its columns.
    wide = len(table.headings) >= _WIDE and any(table.headings)

    def row(cells, tag):
        texts = []
        for place, (text, heading) in enumerate(zip(cells, table.headings)):
            kind = ' class="number"' if place >= first_number else ""
            label = f' data-label="{escape(str(heading))}"' if wide and tag == "td" else ""
            texts.append(f"<{tag}{kind}{label}>{escape(str(text))}</{tag}>")
        return f"<tr>{''.join(texts)}</tr>"

    return "\n".join(
        [
            '<div class="table"><table class="wide">' if wide else '<div class="table"><table>',
            f"<thead>{row(table.headings, 'th')}</thead>" if any(table.headings) else "",
            "<tbody>",
            *(row(cells, "td") for cells in table.rows),
            "</tbody></table></div>",
        ]
    )


def _json(figure) -> str:
    """Return JSON that no browser takes for the end of its script."""
    text = json.dumps(figure, allow_nan=False, separators=(",", ":"), ensure_ascii=True)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


@lru_cache(maxsize=1)
def _script_of_plotly() -> str:
    # Only who writes a page waits for it.
    offline = required("plotly.offline", "a report")
    # Browsers read every line's end as this one, and so must the policy's hash.
    return offline.get_plotlyjs().replace("\r\n", "\n").replace("\r", "\n")


@lru_cache(maxsize=None)
def _beside(name) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")
