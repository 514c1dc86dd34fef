"""Guardian process, which terminates the nodes of an experiment if their launcher was killed.

roslaunch starts each node in a separate session. If the launcher is killed (SIGKILL), it cannot
terminate the nodes, which would then run or wait forever. The guardian waits until the launcher has
ended, and then terminates the nodes like roslaunch, so that they save their data.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

# Environment variable that run_experiment.py passes to all processes of an experiment.
EXPERIMENT_MARK = "IMU_SIMULATION_FRAMEWORK_EXPERIMENT"

SAVING_NODES = ("result_comparison", "experiment_recorder")  # nodes that write recorded data

# Wall-clock timeout for nodes that save data [s]; writing a long drive takes minutes.
SAVING_TIMEOUT = 600.0

# Wall-clock seconds after which nodes that save data receive further signals to skip figures.
REMINDER_TIMEOUT = 25.0

REMINDER_PERIOD = 2.0  # wall-clock seconds between further signals

ENDING_TIMEOUT = 10.0  # wall-clock seconds after which other nodes are killed

# Node that calls services of other nodes; it is terminated first to avoid failing calls.
LEADER = "path_follower"

# Programs and nodes that are terminated last, because other nodes unregister from them.
CORE_NAMES = ("rosmaster", "rosout")


def end_all(processes) -> None:
    """Terminate processes and wait until they have ended; kill them after a timeout.

    Parameters
    ----------
    processes : mapping of int to str or None
        Process ids with the :func:`start_time` of each process, which distinguishes it from a later
        process with the same id.
    """
    core = {pid: started_at for pid, started_at in processes.items() if _has_name(CORE_NAMES, pid)}
    others = {pid: started_at for pid, started_at in processes.items() if pid not in core}
    _terminate(others)
    _wait(others, core)
    _terminate(core)
    _wait(core)


def _terminate(processes) -> None:
    leader_first = sorted(processes.items(), key=lambda item: not _has_name([LEADER], item[0]))
    for pid, started_at in leader_first:
        # SIGTERM is used, because after SIGINT an interpreter that is starting prints a traceback.
        if started_at is not None and start_time(pid) == started_at:
            _send(pid, signal.SIGTERM)


def _wait(processes, services=()) -> None:
    """Wait until processes have ended, while other processes still provide services for them."""
    begun = time.monotonic()
    reminded = begun + REMINDER_TIMEOUT - REMINDER_PERIOD
    remaining = dict(processes)
    while remaining:
        remaining = {
            pid: started_at
            for pid, started_at in remaining.items()
            if started_at is not None and start_time(pid) == started_at
        }
        for pid in (*remaining, *services):
            # A stopped process receives SIGTERM only after SIGCONT.
            if is_stopped(pid):
                _send(pid, signal.SIGCONT)
        for pid in remaining:
            saves = _has_name(SAVING_NODES, pid)
            if time.monotonic() - begun > (SAVING_TIMEOUT if saves else ENDING_TIMEOUT):
                _send(pid, signal.SIGKILL)
        if time.monotonic() - reminded > REMINDER_PERIOD:
            reminded = time.monotonic()
            saving = [pid for pid in remaining if _has_name(SAVING_NODES, pid)]
            _terminate({pid: remaining[pid] for pid in saving})
        if remaining:
            time.sleep(ENDING_CHECK_PERIOD)
    for pid, started_at in processes.items():
        # Kill remaining processes of the group, unless the process id has been reused.
        if start_time(pid) in (None, started_at):
            with suppress(OSError):
                os.killpg(pid, signal.SIGKILL)


def _send(pid: int, number: int) -> None:
    with suppress(OSError):
        if os.getpgid(pid) == pid:
            os.killpg(pid, number)
        else:
            os.kill(pid, number)


def _has_name(names, pid: int) -> bool:
    """Return whether a process is a node or a program with one of several names."""
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes().decode("utf-8", "replace").split("\0")
    except OSError:
        return False
    # If the program is an interpreter, the second word is the script.
    programs = [os.path.basename(word) for word in command[:2]]
    return any(name in programs or f"__name:={name}" in command for name in names)


def _status(pid: int) -> list[str]:
    try:
        # The program name in parentheses may itself contain blanks and parentheses.
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return []


def start_time(pid: int) -> str | None:
    """Return the start time of a process in kernel clock ticks.

    Parameters
    ----------
    pid : int
        Process id.

    Returns
    -------
    str or None
        Start time, or None if the process has ended.
    """
    status = _status(pid)
    return None if not status or status[0] in "ZX" else status[19]


def is_stopped(pid: int) -> bool:
    """Return whether a process is stopped by a signal (SIGSTOP, Ctrl+Z).

    Parameters
    ----------
    pid : int
        Process id.

    Returns
    -------
    bool
        Whether the process is stopped.
    """
    status = _status(pid)
    return bool(status) and status[0] in "Tt"


# Option with which a launcher states that EXPERIMENT_MARK is set for all of its processes.
MARKED = "--marked"

# Wall-clock seconds between checks for new child processes.
CHECK_PERIOD = 0.1

# Wall-clock seconds between checks for the end of terminated processes, which takes about 0.1 s.
ENDING_CHECK_PERIOD = 0.02


def main() -> int:
    """Wait until the parent process has ended, then terminate its remaining children.

    Returns
    -------
    int
        Exit code.
    """
    if {"-h", "--help"} & set(sys.argv[1:]):
        print(f"usage: guardian.py\n\n{__doc__}\nA part of experiment.launch, which starts it.")
        sys.exit(0)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: sys.exit(0))
    parent = os.getppid()
    mark = os.environ.get(EXPERIMENT_MARK, "") if MARKED in sys.argv else ""
    running_processes: dict[int, str | None] = {}
    # The parent may already have been killed before the first check.
    is_parent = not mark or mark.partition("-")[0] == str(parent)
    while is_parent and os.getppid() == parent:
        running_processes.update(
            (pid, start_time(pid)) for pid in _find_children(parent) if pid not in running_processes
        )
        time.sleep(CHECK_PERIOD)
    # From here on, all signals except SIGKILL are ignored, so that all nodes are terminated.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    running_processes.pop(os.getpid(), None)
    running_processes.update((pid, start_time(pid)) for pid in _find_marked(mark))
    end_all(running_processes)
    return 0


def _find_children(parent: int) -> list[int]:
    try:
        files = list(Path(f"/proc/{parent}/task").glob("*/children"))
        return [int(pid) for file in files for pid in file.read_text().split()]
    except OSError:
        return []


def _find_marked(mark: str) -> list[int]:
    if not mark:
        return []
    variable = f"{EXPERIMENT_MARK}={mark}".encode()
    pids = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if variable in (folder / "environ").read_bytes().split(b"\0"):
                pids.append(int(folder.name))
    return [pid for pid in pids if pid != os.getpid()]


if __name__ == "__main__":
    sys.exit(main())
