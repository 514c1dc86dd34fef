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

from imu_simulation_framework.nodes.processes import (
    ENDING_TIMEOUT,
    MARK,
    SAVING_NODES,
    SAVING_TIMEOUT,
    command,
    started,
)

MARKED = "--marked"
"""Argument that says that the one who started this has marked all its processes."""

LOOK_PERIOD = 0.1
"""Wall-clock seconds between two looks; a child that is younger may be missed without a mark."""

CORE = ("rosmaster", "rosout")
"""Who is ended last, since the others say good-bye to them."""


def main() -> int:
    """Wait for the end of the process that started this one; then end what it has left."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: sys.exit(0))
    parent = os.getppid()
    mark = os.environ.get(MARK, "") if MARKED in sys.argv else ""
    known = {}
    while os.getppid() == parent and _is_parent(parent, mark):
        known.update((pid, started(pid)) for pid in _children(parent) if pid not in known)
        time.sleep(LOOK_PERIOD)
    # Nobody may end this now but by SIGKILL.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    known.pop(os.getpid(), None)
    known.update((pid, started(pid)) for pid in _marked(mark))
    core = {pid: at for pid, at in known.items() if any(w in command(pid) for w in CORE)}
    _end({pid: at for pid, at in known.items() if pid not in core})
    _end(core)
    return 0


def _is_parent(parent: int, mark: str) -> bool:
    """Whether it had not been killed before this process looked for the first time."""
    return not mark or mark.partition("-")[0] == str(parent)


def _end(processes) -> None:
    """Ask processes (number -> start) to end, and end those that do not in time."""
    begun = time.monotonic()
    for pid in processes:
        _send(pid, signal.SIGTERM)
    left = dict(processes)
    while left:
        left = {pid: at for pid, at in left.items() if at is not None and started(pid) == at}
        for pid in left:
            # A stopped one could not hear it.
            _send(pid, signal.SIGCONT)
            saves = any(name in command(pid) for name in SAVING_NODES)
            if time.monotonic() - begun > (SAVING_TIMEOUT if saves else ENDING_TIMEOUT):
                _send(pid, signal.SIGKILL)
        time.sleep(LOOK_PERIOD)
    for pid in processes:
        # Its own children, as of the shell script that starts gzserver.
        with suppress(OSError):
            os.killpg(pid, signal.SIGKILL)


def _send(pid: int, number: int) -> None:
    """Send a signal to a process, and to its children if it leads them."""
    with suppress(OSError):
        if os.getpgid(pid) == pid:
            os.killpg(pid, number)
        else:
            os.kill(pid, number)


def _children(parent: int) -> list[int]:
    try:
        files = list(Path(f"/proc/{parent}/task").glob("*/children"))
        return [int(pid) for file in files for pid in file.read_text().split()]
    except OSError:
        return []


def _marked(mark: str) -> list[int]:
    """All processes but this one that have inherited the mark."""
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
