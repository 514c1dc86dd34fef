"""Run of a program within time and memory limits, and comparison with the required outcome.

A program runs as a process in a scratch folder. Its exit code, its output and its files are
compared with the required outcome; each violated requirement is reported as a message.
"""

from __future__ import annotations

import contextlib
import fnmatch
import gc
import os
import re
import resource
import secrets
import signal
import sys
import tempfile
import time
import traceback
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Mapping

from left_files import (
    Extent,
    changed_files,
    incomplete_tables,
    is_below,
    list_contents,
    unreadable_files,
)
from patience import FACTOR, PATIENCE
from writes import record_writes

REJECTED = 2
# Exit code of check_recording.py and allan_analysis.py for severe findings.
CRITICAL_FINDING = 3

SUCCESS_CODES = (0, CRITICAL_FINDING)
# Maximum message length in characters: long paths are shorter, copied inputs are longer.
MAX_LINE_LENGTH = 2000

_MARK = "FUZZED_PROCESS"
_NOISE = re.compile(r"Traceback \(most recent|Exception ignored|\b[A-Z]\w+Warning:|Fatal Python")
_FAILURE = re.compile(r"\b(error|fatal|failed|failure)\b", re.IGNORECASE)
_COLOUR = re.compile(r"\x1b\[[\d;]*m")
_POLL_PERIOD, _MAX_POLL_PERIOD = 0.005, 0.1  # s
_TIME_TO_END = FACTOR  # s; for child processes to exit after the signal of the program


@dataclass(frozen=True)
class Limits:
    """Time and memory limits of a program."""

    cpu: float = 60.0  # s of processor time; the slowest program takes 5
    wall: float = PATIENCE  # s
    memory: int = 1536 * 2**20  # bytes resident; the largest program occupies 400 MiB
    address_space: int = 8 * 2**30  # bytes; protects other programs on the machine


@dataclass(frozen=True)
class Expected:
    """Required outcome of a program run.

    Parameters
    ----------
    codes : tuple of int
        Allowed exit codes.
    names : tuple of str
        Files and options; the last line of a rejection must contain at least one of them.
    nameless : tuple of str
        Regular expressions for last lines of rejections without any of ``names``.
    output : tuple of str
        Regular expressions that must match the standard output after success.
    results : tuple of str
        Patterns of files in the scratch folder that must exist after success.
    tables : mapping
        Paths of tables that must exist after success -> their extents.
    changed : tuple of str
        Files and folders that may change.
    places : tuple of str or None
        Files and folders that may contain new files; None allows all.
    has_remarks : bool
        Whether standard error may contain remarks after success.
    is_log : bool
        Whether the output is a coloured log, of which only the last line is checked.
    """

    codes: tuple[int, ...] = (0, REJECTED)
    names: tuple[str, ...] = ()
    nameless: tuple[str, ...] = ()
    output: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    tables: Mapping[str, Extent] = field(default_factory=dict)
    changed: tuple[str, ...] = ()
    places: tuple[str, ...] | None = None
    has_remarks: bool = False
    is_log: bool = False


@dataclass(frozen=True)
class ProgramResult:
    """Outcome of a program: exit code or negative signal number, output, violated requirements."""

    code: int
    output: str = field(repr=False)
    error: str = field(repr=False)
    cpu: float = field(repr=False)
    memory: int = field(repr=False)
    violations: tuple[str, ...] = field(repr=False)

    def with_violations(self, *added) -> ProgramResult:
        """Return a copy with additional violated requirements."""
        return replace(self, violations=(*self.violations, *added))

    @property
    def last_line(self) -> str:
        """Return the last line of standard error or, if that is empty, of standard output."""
        lines = (self.error if self.error.strip() else self.output).strip().splitlines()
        return lines[-1] if lines else ""


def run_and_check(program, folder, expected=None, limits=None, environment=None) -> ProgramResult:
    """Run a program in a folder with its inputs, and check its outcome.

    Parameters
    ----------
    program : sequence of str or callable
        A command, or a function that returns an exit code and runs in a forked process.
    folder : path-like
        Scratch folder.
    expected : Expected, optional
        Required outcome.
    limits : Limits, optional
        Time and memory limits.
    environment : dict, optional
        Additional environment variables.
    """
    expected, limits, folder = expected or Expected(), limits or Limits(), Path(folder)
    # The oracle's files are next to the scratch folder, so they are not mistaken for outputs.
    work_folder = folder.with_name(f"{folder.name}.outcome")
    (work_folder / "temporary").mkdir(parents=True)
    initial, surroundings = list_contents(folder), _list_surroundings(folder)
    token = secrets.token_hex(8)
    variables = {**(environment or {}), _MARK: token, "TMPDIR": str(work_folder / "temporary")}
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if not pid:
        _become_program(program, folder, work_folder, limits, variables)
    status, usage, is_in_time = _wait(pid, limits.wall)
    left = _end_members(pid, f"{_MARK}={token}".encode())
    code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else -os.WTERMSIG(status)
    output, error = (_read_output(work_folder / name) for name in ("output", "error"))
    # The memory usage of a command includes that of this forked process, far below the limit.
    cpu, memory = usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024
    result = ProgramResult(code, output, error, cpu, memory, ())
    violations = [f"leaves a process: {words}" for words in left.values()]
    if not is_in_time:
        violations.append(f"does not end within {limits.wall:g} s")
    elif code not in expected.codes:
        violations.append(f"exit code {code}, expected one of {expected.codes}")
    if cpu > limits.cpu:
        violations.append(f"uses {cpu:.0f} s of processor time")
    if memory > limits.memory:
        violations.append(f"uses {memory / 2**20:.0f} MiB of memory")
    violations += output_violations(result, expected)
    final = list_contents(folder)
    violations += changed_files(initial, final, expected.changed)
    new = [name for name in final if name not in initial]
    if expected.places is not None:
        away = (name for name in new if not is_below(name, expected.places))
        violations += [f"writes outside of the output: {name}" for name in away]
    if code in SUCCESS_CODES:
        missing = (name for name in expected.results if not fnmatch.filter(final, name))
        violations += [f"exit code {code}, but there is no {name}" for name in missing]
        violations += incomplete_tables(folder, expected.tables)
    violations += unreadable_files(folder, new)
    recorded = _read_output(work_folder / "outside").splitlines()
    outside = [*recorded, *sorted(_list_surroundings(folder) - surroundings)]
    violations += [f"writes outside of its folder: {name}" for name in dict.fromkeys(outside)]
    temporary = sorted(path.name for path in (work_folder / "temporary").iterdir())
    violations += [f"leaves temporary {name}" for name in temporary]
    return result.with_violations(*violations)


def _become_program(program, folder, aside, limits, variables):
    """Set up the forked process and run the program; do not return."""
    code = 70
    try:
        os.setsid()
        cpu = int(limits.cpu) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu))
        resource.setrlimit(resource.RLIMIT_AS, (limits.address_space,) * 2)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        for number, name in ((1, "output"), (2, "error")):
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
            os.dup2(os.open(aside / name, flags, 0o600), number)
        os.chdir(folder)
        os.environ.update(variables)
        if not callable(program):
            os.execvp(program[0], program)
        tempfile.tempdir = None  # discard the value from before the fork
        # Frozen objects stay shared; garbage collection would copy their memory pages.
        gc.freeze()
        sys.dont_write_bytecode = True
        record_writes((folder, aside), aside / "outside")
        for number, name in enumerate(("stdin", "stdout", "stderr")):
            mode = "w" if number else "r"
            opened = open(number, mode, encoding="utf-8", closefd=False)  # noqa: SIM115
            setattr(sys, name, opened)
        code = program()
        sys.stdout.flush()
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(Exception):
            sys.stderr.flush()
        os._exit(code)


def _wait(pid, wall):
    """Return status and resource usage of the process, and whether it exited in time."""
    deadline, pause, is_in_time = time.monotonic() + wall, _POLL_PERIOD, True
    while True:
        ended, status, usage = os.wait4(pid, os.WNOHANG)
        if ended:
            return status, usage, is_in_time
        if is_in_time and time.monotonic() > deadline:
            is_in_time = False
            os.kill(pid, signal.SIGKILL)
        time.sleep(pause)
        pause = min(1.5 * pause, _MAX_POLL_PERIOD)


def _end_members(pid, mark) -> dict:
    """Kill the remaining processes of a program; return their command lines."""
    deadline = time.monotonic() + _TIME_TO_END
    while (left := _list_members(pid, mark)) and time.monotonic() < deadline:
        time.sleep(_POLL_PERIOD)
    for member in left:
        with contextlib.suppress(ProcessLookupError):
            os.kill(member, signal.SIGKILL)
    return left


def _list_members(pid, mark) -> dict:
    """Return the command lines of the program's running processes by process id."""
    members = {}
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            # /proc does not show environment changes of a forked function, so its processes are
            # identified by their session, the fourth field after the name in parentheses.
            session = (process / "stat").read_bytes().rsplit(b")", 1)[1].split()[3]
            is_marked = mark in (process / "environ").read_bytes().split(b"\0")
            words = (process / "cmdline").read_bytes().replace(b"\0", b" ")
            if words and (is_marked or int(session) == pid):
                members[int(process.name)] = words.decode("utf-8", "replace").strip()
    return members


def _read_output(path) -> str:
    # Invalid bytes become surrogates, which are reported as unprintable.
    return path.read_bytes().decode("utf-8", "surrogateescape") if path.exists() else ""


def _list_surroundings(folder):
    """Return the paths next to the scratch folder and next to its parent."""
    places = (folder.parent, folder.parent.parent)
    return {str(path) for place in places for path in place.iterdir()}


def output_violations(result, expected) -> list[str]:
    """Return the violated requirements on the output, which depend on the exit code."""
    if expected.is_log:
        result = replace(result, error=_COLOUR.sub("", result.error))
        result = replace(result, output=_COLOUR.sub("", result.output))
    lines = (result.output + result.error).split("\n")
    noise = [line.strip() for line in lines if _NOISE.search(line)]
    violations = [f"prints: {line[:200]}" for line in noise[:1]]
    # Terminals may interpret unprintable characters as commands.
    unprintable = [line for line in lines if not line.isprintable()]
    violations += [f"prints unprintable characters: {line[:200]!a}" for line in unprintable[:1]]
    if result.code < 0:
        return violations  # terminated by a signal, so no message is required
    complaints = [
        line for line in result.error.splitlines() if line.strip() and not line.startswith("note: ")
    ]
    if result.code not in SUCCESS_CODES:
        if len(complaints) != 1 and not expected.is_log:
            violations.append(f"prints {len(complaints)} messages, expected 1: {complaints[:3]}")
        return violations + _rejection_violations(result.last_line, expected)
    if not result.output.strip():
        violations.append(f"exit code {result.code} without output")
    if complaints and not (expected.is_log or expected.has_remarks):
        violations.append(f"exit code {result.code} with a message: {complaints[0][:200]}")
    if _FAILURE.search(complaints[-1] if complaints else "") and not expected.is_log:
        violations.append(f"exit code {result.code} after a failure: {complaints[-1][:200]}")
    unmatched = (pattern for pattern in expected.output if not re.search(pattern, result.output))
    return violations + [f"output without {pattern!r}" for pattern in unmatched]


def _rejection_violations(line, expected) -> list[str]:
    """Return the violated requirements on the last line of a program that rejects its input."""
    violations = []
    if not re.search(r"\w \w", line):
        violations.append(f"last line is not a sentence: {line[:200]!r}")
    if len(line) > MAX_LINE_LENGTH:
        violations.append(f"last line has {len(line)} characters: {line[:100]!r}")
    is_named = any(_is_named(name, line) for name in expected.names)
    if expected.names and not is_named and not _matches(expected.nameless, line):
        violations.append(f"last line names none of {', '.join(expected.names)}: {line[:200]!r}")
    return violations


def _is_named(name, line) -> bool:
    """Return whether a line contains a name as a whole word."""
    return re.search(rf"(?<![\w.]){re.escape(name)}(?![\w])", line) is not None


def _matches(patterns, line) -> bool:
    return any(re.search(pattern, line) for pattern in patterns)
