"""Tools as a person calls them, each test in a folder of its own."""

import sys
from pathlib import Path

import pytest

UNIT = Path(__file__).resolve().parents[1] / "unit"
sys.path[:0] = [str(UNIT / name) for name in ("", "characterisation", "sensors/formats")]


@pytest.fixture(autouse=True)
def _own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
