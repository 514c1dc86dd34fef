"""Processes of an experiment, as Linux shows them; no ROS, nothing that takes time to import."""

from __future__ import annotations

from pathlib import Path

MARK = "IMU_SIMULATION_FRAMEWORK_EXPERIMENT"
"""Environment variable that all processes of an experiment inherit from run_experiment.py."""

SAVING_NODES = ("result_comparison", "experiment_recorder")
"""Nodes that write what was recorded."""

SAVING_TIMEOUT = 600.0
"""Wall-clock seconds that these have, once they are to end: a long drive is much to write."""

ENDING_TIMEOUT = 10.0
"""Wall-clock seconds that any other node has to end, before it is made to."""


def command(pid: int) -> str:
    """The command line of a process, empty without one."""
    try:
        return (
            Path(f"/proc/{pid}/cmdline")
            .read_bytes()
            .replace(b"\0", b" ")
            .decode("utf-8", "replace")
        )
    except OSError:
        return ""


def _status(pid: int) -> list[str]:
    try:
        # The name, in parentheses, may hold anything.
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return []


def started(pid: int) -> str | None:
    """When a process was started, in the kernel's own count; None when it has ended."""
    status = _status(pid)
    return None if not status or status[0] in "ZX" else status[19]


def is_stopped(pid: int) -> bool:
    """Whether a process was stopped by a signal (SIGSTOP, Ctrl+Z)."""
    status = _status(pid)
    return bool(status) and status[0] in "Tt"
