"""Processes are ended in time: those that are stopped, and by force those that will not."""

import os
import signal
import subprocess
import sys
import time

import pytest

from imu_simulation_framework.ros1.launching import guardian as processes

PATIENT = "import time; print('up', flush=True); time.sleep(1000)"
DEAF = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); " + PATIENT


@pytest.fixture
def start():
    """Start a Python program in a session of its own; return it when it runs."""
    begun = []

    def begin(program, *arguments):
        begun.append(
            subprocess.Popen(
                [sys.executable, "-c", program, *arguments],
                stdout=subprocess.PIPE,
                start_new_session=True,
            )
        )
        assert begun[-1].stdout.readline() == b"up\n"
        return begun[-1]

    yield begin
    for process in begun:
        process.kill()
        process.wait()
        process.stdout.close()


def end(*programs):
    processes.end_all({program.pid: processes.started(program.pid) for program in programs})
    return [program.wait(10.0) for program in programs]


def test_a_process_is_told_to_end_also_if_it_is_stopped(start):
    assert end(start(PATIENT)) == [-signal.SIGTERM]
    process = start(PATIENT)
    process.send_signal(signal.SIGSTOP)
    while not processes.is_stopped(process.pid):
        time.sleep(0.01)
    assert end(process) == [-signal.SIGTERM]


def test_one_that_does_not_listen_is_made_to(start, monkeypatch):
    monkeypatch.setattr(processes, "ENDING_TIMEOUT", 0.3)
    assert end(start(DEAF), start(PATIENT)) == [-signal.SIGKILL, -signal.SIGTERM]


def test_one_that_saves_is_told_again_for_it_may_have_only_figures_left(start, monkeypatch):
    monkeypatch.setattr(processes, "REMINDING_TIMEOUT", 0.3)
    monkeypatch.setattr(processes, "ENDING_TIMEOUT", 0.3)
    counting = (
        "import signal, sys, time; told = []\n"
        "def on_signal(*_):\n    told.append(1)\n    len(told) > 1 and sys.exit(7)\n"
        "signal.signal(signal.SIGTERM, on_signal)\n"
    )
    saving = start(counting + PATIENT, "__name:=result_comparison")
    # Any other one has no time to spare.
    other = start(counting + PATIENT, "__log:=/logs/result_comparison/other.log")
    assert end(saving, other) == [7, -signal.SIGKILL]


def test_the_children_of_a_process_end_with_it(start, monkeypatch):
    monkeypatch.setattr(processes, "ENDING_TIMEOUT", 0.3)
    child = f"subprocess.Popen([sys.executable, '-c', {DEAF.replace('up', 'child')!r}])"
    parent = start(f"import subprocess, sys; child = {child}; {PATIENT}")
    end(parent)
    deadline = time.monotonic() + 10.0
    while _group(parent.pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not _group(parent.pid)


def _group(leader):
    found = []
    for name in filter(str.isdecimal, os.listdir("/proc")):
        try:
            if os.getpgid(int(name)) == leader and processes.started(int(name)):
                found.append(name)
        except OSError:
            continue
    return found


def test_another_process_with_the_same_number_is_left_alone(start):
    process = start(PATIENT)
    processes.end_all({process.pid: "0"})
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.5)
