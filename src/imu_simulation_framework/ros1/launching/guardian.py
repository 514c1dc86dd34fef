"""Ends the nodes of an experiment when whoever started them was killed.

roslaunch puts every node into a session of its own, and one that is killed (SIGKILL) has
no time to end them: they would go on for ever, or wait for each other. This process waits
for that, and then does what roslaunch would have done, so that what was recorded is saved.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

MARK = "IMU_SIMULATION_FRAMEWORK_EXPERIMENT"
"""Environment variable that all processes of an experiment inherit from run_experiment.py."""

SAVING_NODES = ("result_comparison", "experiment_recorder")  # nodes that write what was recorded

SAVING_TIMEOUT = 600.0
"""Wall-clock seconds that these have, once they are to end: a long drive is much to write."""

REMINDING_TIMEOUT = 25.0
"""Wall-clock seconds after which these are reported again, as roslaunch does: one that has only
figures to draw, which can be drawn at any time, leaves them out then. They take 4 s, and several
times that on a busy machine."""

REMINDING_PERIOD = 2.0

ENDING_TIMEOUT = 10.0  # wall-clock seconds that any other node has to end, before it is made to

LEADER = "path_follower"
"""Node that calls the services of the others. It gets its signal before them, so that it does not
report the refusals of nodes that are ending."""

CORE = ("rosmaster", "rosout")
"""Programs and nodes that are ended last, since the others say good-bye to them."""


def end_all(processes) -> None:
    """End processes, in time and by force if need be; return when all have ended.

    ``processes`` (mapping): process number -> what :func:`started` said of it.
    """
    core = {pid: at for pid, at in processes.items() if _is_one_of(CORE, pid)}
    others = {pid: at for pid, at in processes.items() if pid not in core}
    _tell(others)
    _wait(others, core)
    _tell(core)
    _wait(core)


def _tell(processes) -> None:
    leader_first = sorted(processes.items(), key=lambda item: not _is_one_of([LEADER], item[0]))
    for pid, at in leader_first:
        # Unlike SIGINT it gets no traceback from an interpreter that is still starting.
        if at is not None and started(pid) == at:
            _send(pid, signal.SIGTERM)


def _wait(processes, asked=()) -> None:
    """Wait for the end of processes, which may ask others for something meanwhile."""
    begun = time.monotonic()
    reminded = begun + REMINDING_TIMEOUT - REMINDING_PERIOD
    left = dict(processes)
    while left:
        left = {pid: at for pid, at in left.items() if at is not None and started(pid) == at}
        for pid in (*left, *asked):
            # A stopped one could not hear it.
            if is_stopped(pid):
                _send(pid, signal.SIGCONT)
        for pid in left:
            saves = _is_one_of(SAVING_NODES, pid)
            if time.monotonic() - begun > (SAVING_TIMEOUT if saves else ENDING_TIMEOUT):
                _send(pid, signal.SIGKILL)
        if time.monotonic() - reminded > REMINDING_PERIOD:
            reminded = time.monotonic()
            _tell({pid: at for pid, at in left.items() if _is_one_of(SAVING_NODES, pid)})
        time.sleep(LOOK_PERIOD)
    for pid, at in processes.items():
        # Its own children, as of the shell script that starts gzserver; unless it is another's
        # number by now.
        if started(pid) in (None, at):
            with suppress(OSError):
                os.killpg(pid, signal.SIGKILL)


def _send(pid: int, number: int) -> None:
    with suppress(OSError):
        if os.getpgid(pid) == pid:
            os.killpg(pid, number)
        else:
            os.kill(pid, number)


def _is_one_of(names, pid: int) -> bool:
    """Whether a process is a node, or a program, of one of these names."""
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes().decode("utf-8", "replace").split("\0")
    except OSError:
        return False
    # The second word is the program of an interpreter.
    programs = [os.path.basename(word) for word in command[:2]]
    return any(name in programs or f"__name:={name}" in command for name in names)


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


MARKED = "--marked"  # argument that says that the one who started this has marked all its processes

LOOK_PERIOD = 0.1
"""Wall-clock seconds between two checks; a child that is younger may be missed without a mark."""


def main() -> int:
    """Wait for the end of the process that started this one; then end what it has left."""
    if {"-h", "--help"} & set(sys.argv[1:]):
        print(f"usage: guardian.py\n\n{__doc__}\nA part of experiment.launch, which starts it.")
        sys.exit(0)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: sys.exit(0))
    parent = os.getppid()
    mark = os.environ.get(MARK, "") if MARKED in sys.argv else ""
    known: dict[int, str | None] = {}
    # It may have been killed before this process looked for the first time.
    is_parent = not mark or mark.partition("-")[0] == str(parent)
    while is_parent and os.getppid() == parent:
        known.update((pid, started(pid)) for pid in _children(parent) if pid not in known)
        time.sleep(LOOK_PERIOD)
    # Nobody may end this now but by SIGKILL.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    known.pop(os.getpid(), None)
    known.update((pid, started(pid)) for pid in _marked(mark))
    end_all(known)
    return 0


def _children(parent: int) -> list[int]:
    try:
        files = list(Path(f"/proc/{parent}/task").glob("*/children"))
        return [int(pid) for file in files for pid in file.read_text().split()]
    except OSError:
        return []


def _marked(mark: str) -> list[int]:
    if not mark:
        return []
    wanted = f"{MARK}={mark}".encode()
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if wanted in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
    return [pid for pid in found if pid != os.getpid()]


if __name__ == "__main__":
    sys.exit(main())
