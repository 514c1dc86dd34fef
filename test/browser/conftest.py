"""Browsers for the tests, started once per test session."""

import sys
from pathlib import Path

import pytest
from browsers import browser

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / name) for name in ("tools", "unit", "unit/report")]


@pytest.fixture(scope="session")
def desktop():
    with browser("desktop") as started:
        yield started


@pytest.fixture(scope="session")
def phone():
    with browser("phone") as started:
        yield started
