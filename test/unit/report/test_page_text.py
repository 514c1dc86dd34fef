"""Structure of a page and escaping of its text."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.report import style
from imu_simulation_framework.report.figure import Figure
from imu_simulation_framework.report.page import Page, Section, Table, page_html

HOSTILE = "a</script><script>alert('x')</script><img src=http://evil.example/?\" & b"


class Parsed(HTMLParser):
    """Tags with their attributes, and the text of each script."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.tags, self.scripts, self.words, self._open = [], [], [], None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag == "script":
            self._open = (dict(attributes), [])

    def handle_endtag(self, tag):
        if tag == "script":
            self.scripts.append((self._open[0], "".join(self._open[1])))
            self._open = None

    def handle_data(self, data):
        (self.words if self._open is None else self._open[1]).append(data)


def figure(name="line"):
    return Figure().panel("y").line(np.arange(5.0), np.arange(5.0) ** 2, style.REAL, name)


def page(text="text", **options):
    sections = [
        Section("A figure", figure=figure(text), how_to_read=text),
        Section(
            "A table", text=[text], table=Table(("name", text), [(text, "1.0")], numbers=1),
            folded=True,
        ),
    ]  # fmt: skip
    return Page(
        **{"title": text, "summary": [text], "sections": sections, "footer": text, **options}
    )


def test_page_parts_are_in_expected_order():
    parsed = Parsed(page_html(page()))
    names = [name for name, _ in parsed.tags]
    headings = [name for name in names if name in ("h1", "h2", "table", "details")]
    assert headings == ["h1", "h2", "details", "h2", "table"]
    links = [attributes["href"] for name, attributes in parsed.tags if name == "a"]
    places = {attributes["id"] for _, attributes in parsed.tags if "id" in attributes}
    assert {link[1:] for link in links} == {"a-figure", "a-table"} <= places
    cells = [attributes for name, attributes in parsed.tags if name == "td"]
    assert cells == [{}, {"class": "number"}]


def test_markup_in_page_texts_is_escaped():
    plain, hostile = Parsed(page_html(page())), Parsed(page_html(page(HOSTILE)))
    assert [name for name, _ in hostile.tags] == [name for name, _ in plain.tags]
    assert hostile.words.count(HOSTILE) == 8  # title twice, summary, how, text, two cells, footer
    (data,) = [text for kind, text in hostile.scripts if "type" in kind]
    # plotly would interpret markup in the name of a trace.
    assert "<" not in json.loads(data)["data"][0]["name"]


def test_page_loads_no_external_files_and_policy_allows_only_its_scripts():
    parsed = Parsed(page_html(page()))
    for _, attributes in parsed.tags:
        assert not {"src", "srcset", "action", "background", "poster"} & attributes.keys()
        assert attributes.get("href", "#")[:1] == "#" or attributes["href"] == "data:,"
    policy = next(
        attributes["content"]
        for name, attributes in parsed.tags
        if attributes.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "http" not in policy
    allowed = re.findall(r"'sha256-([^']+)'", policy)
    executed = [text for kind, text in parsed.scripts if "type" not in kind]
    assert allowed == [
        base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in executed
    ]
    assert len(executed) == 2
    text = page_html(page())
    library = max(Parsed(text).scripts, key=lambda script: len(script[1]))[1]
    assert "//" not in text.replace(library, "").replace("// ", "")


def test_page_without_figures_has_no_script():
    text = page_html(Page("title", [], [Section("A table", table=Table(("a",), [("b",)]))]))
    assert "<script" not in text
    assert "script-src 'none'" in text
    assert len(text) < 10_000


def test_duplicate_page_heading_is_rejected():
    with pytest.raises(ConfigurationError, match="'a'"):
        page_html(Page("title", [], [Section("A"), Section("a")]))
