"""Fixtures for the path of the repository and for folders shared by all test processes."""

import fcntl
import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def repository():
    return Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def make_once(tmp_path_factory):
    """Return a function that fills a folder once for all processes of pytest-xdist.

    ``make_once(name, fill)`` calls ``fill(folder)`` unless the folder ``name`` is complete, and
    returns the folder.
    """
    root = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        root = root.parent

    def make(name, fill):
        folder, mark = root / name, root / f"{name}.filled"
        with open(root / f"{name}.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not mark.exists():
                assert not folder.exists(), f"{name} could not be created, see the first failure"
                folder.mkdir()
                fill(folder)
                mark.touch()
        return folder

    return make
