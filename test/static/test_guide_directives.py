"""Cache of the outputs of commands that the pages of the guide show."""

import os
import sys
import time
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[2] / "doc"))
guide_directives = pytest.importorskip("guide_directives")

COMMAND = "./run which_imu.py a"
MODULE = "src/imu_simulation_framework/core/angles.py"


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """Create a repository with one module, whose commands print the number of their call."""
    for name, text in ((MODULE, "HALF = 0.5"), ("config.ini", "[robot]"), ("doc/index.md", "#")):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    calls = []
    monkeypatch.setattr(guide_directives, "ROOT", tmp_path)
    monkeypatch.setattr(guide_directives, "CACHE", tmp_path / ".build" / "guide_programs")
    monkeypatch.setattr(guide_directives, "_run", lambda *_: calls.append(1) or f"{len(calls)}")
    return tmp_path


def build_page(**files):
    """Return the output that a page shows in a new build."""
    guide_directives._hash_sources.cache_clear()
    _, folder = guide_directives.run_commands([COMMAND], files=files)
    return (folder / guide_directives.OUTPUT.format(0)).read_text()


def test_output_is_reused_until_code_configuration_or_page_changes(repository):
    assert build_page() == build_page() == "1"
    (repository / MODULE).write_text("HALF = 0.25")
    assert build_page() == "2"
    (repository / "config.ini").write_text("[control]")
    assert build_page() == "3"
    assert build_page(imu="name: mine") == "4"
    # Texts of other pages and compiled modules do not affect the output.
    (repository / "doc/index.md").write_text("# Guide")
    compiled = (repository / MODULE).with_name("__pycache__") / "angles.pyc"
    compiled.parent.mkdir()
    compiled.write_bytes(b"compiled")
    assert build_page() == "3"


def test_results_of_other_code_are_removed_after_a_day(repository):
    build_page()
    (old,) = guide_directives.CACHE.iterdir()
    yesterday = time.time() - 2.0 * guide_directives.MAX_AGE
    os.utime(old, (yesterday, yesterday))
    (repository / MODULE).write_text("HALF = 0.25")
    build_page()
    (new,) = guide_directives.CACHE.iterdir()
    assert new != old
