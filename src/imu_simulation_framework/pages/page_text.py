"""A page as one file of HTML, which asks for no other.

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

from imu_simulation_framework.errors import ConfigurationError
from imu_simulation_framework.extras import required
from imu_simulation_framework.pages.page import Page, Section, Table

_WIDE = 4
"""Columns that do not fit beside each other on a phone."""

_UNSAFE = re.compile(r"[^a-z0-9]+")


def page_html(page: Page) -> str:
    """Return a page as the content of an HTML file.

    Parameters
    ----------
    page : Page

    Raises
    ------
    ConfigurationError
        plotly is not installed, or two sections have one heading.
    """
    names = [_name(section.heading) for section in page.sections]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise ConfigurationError(f"a page has two sections '{min(twice)}'")
    scripts = [_script_of_plotly(), _beside("page.js")] if _has_figures(page) else []
    links = [
        f'<a href="#{name}">{escape(section.heading)}</a>'
        for name, section in zip(names, page.sections)
    ]
    return "\n".join(
        [
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
            *links,
            "</nav>",
            *(_section(name, section) for name, section in zip(names, page.sections)),
            f"<footer>{escape(page.footer)}</footer>",
            *(f"<script>{script}</script>" for script in scripts),
            "</body>",
            "</html>",
            "",
        ]
    )


def _has_figures(page):
    return any(section.figure is not None for section in page.sections)


def _name(heading) -> str:
    return _UNSAFE.sub("-", heading.lower()).strip("-") or "section"


def _policy(scripts) -> str:
    """Return what a browser may do with the page: show it, and run these scripts."""
    hashes = " ".join(
        "'sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode() + "'"
        for text in scripts
    )
    # plotly styles what it draws; its button for a picture makes an image of it.
    allowed = hashes or "'none'"
    return (
        f"default-src 'none'; script-src {allowed}; "
        "style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'"
    )


def _section(name, section: Section) -> str:
    heading = f"<h2>{escape(section.heading)}</h2>"
    parts = [f"<p>{escape(text)}</p>" for text in section.text]
    if section.how_to_read:
        parts.append(f'<p class="how">{escape(section.how_to_read)}</p>')
    if section.figure is not None:
        parts += [
            # The figure takes its height from here, also when the window changes.
            f'<div class="figure"><div class="plot" id="figure-{name}" '
            f'style="height:{section.figure["layout"]["height"]:.0f}px" role="img" '
            f'aria-label="{escape(section.heading)}">'
            "<noscript>This figure needs JavaScript; the tables do not.</noscript></div></div>",
            f'<script type="application/json" id="figure-{name}-data">'
            f"{_json(section.figure)}</script>",
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

    def cell(place, text, tag):
        kind = ' class="number"' if place >= first_number else ""
        heading = escape(str(table.headings[place]))
        label = f' data-label="{heading}"' if wide and tag == "td" else ""
        return f"<{tag}{kind}{label}>{escape(str(text))}</{tag}>"

    def row(cells, tag):
        return "".join(cell(place, text, tag) for place, text in enumerate(cells))

    head = f"<thead><tr>{row(table.headings, 'th')}</tr></thead>" if any(table.headings) else ""
    return "\n".join(
        [
            '<div class="table"><table class="wide">' if wide else '<div class="table"><table>',
            head,
            "<tbody>",
            *(f"<tr>{row(cells, 'td')}</tr>" for cells in table.rows),
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
