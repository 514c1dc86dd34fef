"""Every program says what it is for, without a ROS master and at once."""

import re
import runpy
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = sorted([*ROOT.glob("scripts/*.py"), *ROOT.glob("offline_processing/*.py")])


@pytest.fixture
def signals():
    """What a program does about signals ends with it."""
    kept = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in kept.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("option", ["--help", "-h"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_help_needs_no_master(program, option, signals, monkeypatch, capsys):
    monkeypatch.delenv("ROS_MASTER_URI", raising=False)
    monkeypatch.setattr(sys, "argv", [str(program), option])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(program), run_name="__main__")
    assert ended.value.code == 0
    told = capsys.readouterr()
    assert told.out.startswith(f"usage: {program.name}")
    # What it is, and not only how it is called.
    assert len(told.out) > 200
    assert told.err == ""
    # Its results do not get into a commit.
    by_default = re.search(
        r"--out DIR (?:folder for the results, by default (\S+)|(\S+) by default)",
        " ".join(told.out.split()),
    )
    if by_default and (ROOT / ".git").exists():
        folder = (by_default[1] or by_default[2]).replace("<recording>", "drive")
        ignored = subprocess.run(["git", "check-ignore", f"{folder}/"], cwd=ROOT, stdout=-1)
        assert ignored.returncode == 0, folder
