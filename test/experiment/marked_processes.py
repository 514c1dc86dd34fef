"""Processes that are identified by a variable in their environment."""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
from pathlib import Path

# Environment variable that identifies the processes of a test and all their descendants.
MARK = "IMU_SIMULATION_FRAMEWORK_TEST"


def new_mark() -> str:
    return f"{os.getpid()}-{secrets.token_hex(8)}"


def find_marked(value, name=MARK):
    """Return the command lines of processes with a given environment variable, by process id."""
    marker = f"{name}={value}".encode()
    marked = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if marker in (entry / "environ").read_bytes().split(b"\0"):
                words = (entry / "cmdline").read_bytes().split(b"\0")
                marked[int(entry.name)] = b" ".join(words).decode("utf-8", "replace")
        except OSError:
            continue  # the process has ended or belongs to another user
    return marked


def kill_marked(value, name=MARK) -> None:
    """Kill all processes with a given environment variable, until none remains."""
    while True:
        marked = find_marked(value, name)
        if not marked:
            return
        for pid in marked:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
