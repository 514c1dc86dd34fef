"""The browsers of the tests, started once."""

import pytest
from browsers import browser


@pytest.fixture(scope="module")
def desktop():
    with browser("desktop") as started:
        yield started


@pytest.fixture(scope="module")
def phone():
    with browser("phone") as started:
        yield started
