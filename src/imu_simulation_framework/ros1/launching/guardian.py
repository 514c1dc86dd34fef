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

from imu_simulation_framework.ros1.launching.processes import MARK, end_all, started

MARKED = "--marked"
"""Argument that says that the one who started this has marked all its processes."""

LOOK_PERIOD = 0.1
"""Wall-clock seconds between two looks; a child that is younger may be missed without a mark."""


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
    while os.getppid() == parent and _is_parent(parent, mark):
        known.update((pid, started(pid)) for pid in _children(parent) if pid not in known)
        time.sleep(LOOK_PERIOD)
    # Nobody may end this now but by SIGKILL.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    known.pop(os.getpid(), None)
    known.update((pid, started(pid)) for pid in _marked(mark))
    end_all(known)
    return 0


def _is_parent(parent: int, mark: str) -> bool:
    """Whether it had not been killed before this process looked for the first time."""
    return not mark or mark.partition("-")[0] == str(parent)


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
