"""The examples are short, and run."""

import re
import subprocess
import sys

import pytest

MOST_LINES = 30


def test_examples_are_short(repository):
    examples = sorted((repository / "examples").glob("*.py"))
    assert examples
    for path in examples:
        assert len(path.read_text(encoding="utf-8").splitlines()) <= MOST_LINES, path


def test_the_guide_shows_each_example(repository):
    shown = re.findall(
        r"{literalinclude} \.\./examples/(\S+)", (repository / "doc/examples.md").read_text("utf-8")
    )
    assert sorted(shown) == sorted(path.name for path in (repository / "examples").glob("*.py"))


@pytest.mark.slow
def test_the_robot_in_mujoco_runs(repository, tmp_path):
    done = subprocess.run(
        [sys.executable, str(repository / "examples/drive_a_robot_in_mujoco.py")],
        cwd=tmp_path,
        text=True,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("deg after 30 s") == 2
