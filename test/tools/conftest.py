"""Tests of the command-line programs; each test has an empty working directory."""

import sys
from pathlib import Path

import pytest

UNIT = Path(__file__).resolve().parents[1] / "unit"
sys.path[:0] = [str(UNIT / name) for name in ("", "characterisation", "sensors/formats")]


@pytest.fixture(autouse=True)
def _empty_working_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
