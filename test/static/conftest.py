"""Where the repository is, for tests of what is in it."""

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def repository():
    return Path(__file__).resolve().parents[2]
