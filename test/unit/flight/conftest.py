"""Fixtures for flight tests: JSBSim and scripts written by the tests."""

from pathlib import Path

import pytest

SCRIPT = """<runscript name="ours">
  {top}
  <use aircraft="{aircraft}" initialize="{start}"/>
  <run start="0" end="{end}" dt="0.01">
    {events}
  </run>
</runscript>
"""


@pytest.fixture
def script(tmp_path):
    """Return a function that writes a flight script and returns its path."""

    def write(events="", aircraft="c310", start="ellington", end=1000, top="") -> Path:
        path = tmp_path / "ours.xml"
        text = SCRIPT.format(aircraft=aircraft, start=start, end=end, events=events, top=top)
        path.write_text(text, encoding="utf-8")
        return path

    return write
