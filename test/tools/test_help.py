"""Every program says what it is for, without a ROS master and at once."""

import runpy
import signal
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
