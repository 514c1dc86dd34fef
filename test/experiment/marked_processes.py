"""Processes with a variable in their environment: found and ended wherever they have got to."""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
from pathlib import Path

MARK = "IMU_SIMULATION_FRAMEWORK_TEST"
"""Variable by which a test finds the processes that it has started, and those started by them."""


def new_mark() -> str:
    return f"{os.getpid()}-{secrets.token_hex(8)}"


def find_marked(value, name=MARK):
    """Return command lines by process id of living processes with a variable of this value."""
    marker = f"{name}={value}".encode()
    marked = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if marker in (entry / "environ").read_bytes().split(b"\0"):
                words = (entry / "cmdline").read_bytes().split(b"\0")
                marked[int(entry.name)] = b" ".join(words).decode("utf-8", "replace")
        except OSError:
            continue  # it has ended, or belongs to another user
    return marked


def kill_marked(value, name=MARK) -> None:
    """Kill processes with a variable of this value until none is left."""
    while True:
        marked = find_marked(value, name)
        if not marked:
            return
        for pid in marked:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
