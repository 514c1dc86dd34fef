"""The browsers of the tests, started once."""

import sys
from pathlib import Path

import pytest
from browsers import browser

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / name) for name in ("tools", "unit", "unit/report")]


@pytest.fixture(scope="module")
def desktop():
    with browser("desktop") as started:
        yield started


@pytest.fixture(scope="module")
def phone():
    with browser("phone") as started:
        yield started
