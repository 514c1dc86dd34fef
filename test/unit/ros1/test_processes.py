"""Termination of processes, including stopped ones and those that ignore signals."""

import os
import signal
import subprocess
import sys
from contextlib import suppress

import pytest
from patience import PATIENCE, wait_until

from imu_simulation_framework.ros1.launching import guardian as processes

SLEEPING = "import time; print('up', flush=True); time.sleep(1000)"
IGNORING_SIGNAL = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); " + SLEEPING


@pytest.fixture
def start():
    """Return a function that starts a Python program in a separate session."""
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
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()


def end(*programs):
    processes.end_all({program.pid: processes.start_time(program.pid) for program in programs})
    return [program.wait(PATIENCE) for program in programs]


def test_stopped_process_is_terminated(start):
    assert end(start(SLEEPING)) == [-signal.SIGTERM]
    process = start(SLEEPING)
    process.send_signal(signal.SIGSTOP)
    wait_until(lambda: processes.is_stopped(process.pid), "process that is stopped")
    assert end(process) == [-signal.SIGTERM]


def test_process_ignoring_signal_is_killed(start, monkeypatch):
    monkeypatch.setattr(processes, "ENDING_TIMEOUT", 0.3)
    assert end(start(IGNORING_SIGNAL), start(SLEEPING)) == [-signal.SIGKILL, -signal.SIGTERM]


def test_saving_node_gets_second_signal_and_other_nodes_are_killed(start, monkeypatch):
    monkeypatch.setattr(processes, "REMINDER_TIMEOUT", 0.3)
    monkeypatch.setattr(processes, "ENDING_TIMEOUT", 0.3)
    counting = (
        "import signal, sys, time; signals = []\n"
        "def on_signal(*_):\n    signals.append(1)\n    len(signals) > 1 and sys.exit(7)\n"
        "signal.signal(signal.SIGTERM, on_signal)\n"
    )
    saving = start(counting + SLEEPING, "__name:=result_comparison")
    # Other nodes are killed after a short timeout.
    other = start(counting + SLEEPING, "__log:=/logs/result_comparison/other.log")
    assert end(saving, other) == [7, -signal.SIGKILL]


def test_leader_gets_signal_before_nodes_that_provide_its_services(start, monkeypatch):
    signalled = []
    send = processes._send
    monkeypatch.setattr(
        processes, "_send", lambda pid, number: (signalled.append(pid), send(pid, number))
    )
    participant = start(SLEEPING, "__name:=error_publisher")
    leader = start(SLEEPING, "__name:=path_follower")
    end(participant, leader)
    assert signalled == [leader.pid, participant.pid]


def test_child_processes_are_terminated_with_parent(start, monkeypatch):
    monkeypatch.setattr(processes, "ENDING_TIMEOUT", 0.3)
    child = f"subprocess.Popen([sys.executable, '-c', {IGNORING_SIGNAL.replace('up', 'child')!r}])"
    parent = start(f"import subprocess, sys; child = {child}; {SLEEPING}")
    end(parent)
    wait_until(lambda: not _group(parent.pid), "end of the children")


def _group(leader):
    members = []
    for name in filter(str.isdecimal, os.listdir("/proc")):
        try:
            if os.getpgid(int(name)) == leader and processes.start_time(int(name)):
                members.append(name)
        except OSError:
            continue
    return members


def test_process_with_reused_process_id_is_not_terminated(start):
    process = start(SLEEPING)
    processes.end_all({process.pid: "0"})
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.5)
