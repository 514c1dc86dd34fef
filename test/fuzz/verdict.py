"""One judge for programs that are treated badly: how they ended, and what they left behind.

A program runs as a process of its own, in a scratch folder, within limits of time and memory; then
everything that it must not do is looked for, and everything that it must do. What is found is a
list of sentences, empty if the program behaved.
"""

from __future__ import annotations

import contextlib
import fnmatch
import os
import re
import resource
import secrets
import shlex
import signal
import sys
import tempfile
import time
import traceback
from dataclasses import dataclass, replace
from pathlib import Path

from left_files import below, contents, harmed, unreadable
from writes import tell_writes

REFUSED = 2
GRAVE = 3
"""Exit code of check_recording.py and allan_analysis.py beside 0 and 2: done, with findings."""

DONE = (0, GRAVE)
LONGEST_SENTENCE = 2000
"""Characters of a line that a person still reads; a path may be long, a copied input is not one."""

_MARK = "TRIED_BADLY"
_NOISE = re.compile(r"Traceback \(most recent|Exception ignored|\b[A-Z]\w+Warning:|Fatal Python")
_FAILURE = re.compile(r"\b(error|fatal|failed|failure)\b", re.IGNORECASE)
_COLOUR = re.compile(r"\x1b\[[\d;]*m")
_POLL, _LONGEST_POLL = 0.005, 0.1


@dataclass(frozen=True)
class Limits:
    """What a program may take."""

    cpu: float = 30.0  # seconds of processor time, which do not depend on what else runs
    wall: float = 300.0  # seconds; far more than it needs, to tell waiting for ever
    memory: int = 1536 * 2**20  # bytes that are resident, of a command its own
    address_space: int = 8 * 2**30  # bytes asked for at all, so that no trial harms the machine


@dataclass(frozen=True)
class Expected:
    """How a program is to end; files and folders are below the scratch folder.

    One of ``words``, as file and key, stands in the last line of a refusal. The output of a program
    that has done its work holds each of the regular expressions ``told``, and it leaves files of
    the patterns ``results``; if there are ``remarks`` it may say something on standard error.
    ``changed`` may have been there before and change; ``places`` is where there may be new files,
    None for anywhere. With a ``log`` in colours the last line is what a person is told.
    """

    codes: tuple[int, ...] = (0, REFUSED)
    words: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    told: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    places: tuple[str, ...] | None = None
    remarks: bool = False
    log: bool = False


@dataclass(frozen=True)
class Verdict:
    """How a program ended: exit code (minus the signal's number), output, and its short-comings."""

    code: int
    output: str
    error: str
    cpu: float
    memory: int
    short: tuple[str, ...]

    def with_short(self, *sentences) -> Verdict:
        """The same with more short-comings."""
        return replace(self, short=(*self.short, *sentences))

    @property
    def last_line(self) -> str:
        """What a person sees last; of a program that mixes both outputs, of both."""
        lines = (self.error if self.error.strip() else self.output).strip().splitlines()
        return lines[-1] if lines else ""


def tried(program, folder, expected=None, limits=None, environment=None) -> Verdict:
    """Run a program in a folder with its inputs to its end; say what it should not have done.

    It is a command, or a function that returns an exit code, called in a forked process, which
    spares the seconds in which an interpreter starts.
    """
    expected, limits, folder = expected or Expected(), limits or Limits(), Path(folder)
    # Beside the folder, so that nothing of the judge's is in it.
    aside = folder.with_name(f"{folder.name}.judge")
    (aside / "temporary").mkdir(parents=True)
    before, around = contents(folder), _surroundings(folder)
    token = secrets.token_hex(8)
    variables = {**(environment or {}), _MARK: token, "TMPDIR": str(aside / "temporary")}
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if not pid:
        _be_the_program(program, folder, aside, limits, variables)
    status, usage, in_time = _wait(pid, limits.wall)
    left = _ended(pid, f"{_MARK}={token}".encode())
    code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else -os.WTERMSIG(status)
    output, error = (_printed(aside / name) for name in ("output", "error"))
    # Of a command the system counts from the fork on: what this process has is far below the limit.
    cpu, memory = usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024
    verdict = Verdict(code, output, error, cpu, memory, ())
    short = [f"left running: {words}" for words in left.values()]
    if not in_time:
        short.append(f"did not end within {limits.wall:g} s")
    elif code not in expected.codes:
        short.append(f"exit code {code}, expected one of {expected.codes}")
    if cpu > limits.cpu:
        short.append(f"took {cpu:.0f} s of processor time")
    if memory > limits.memory:
        short.append(f"took {memory / 2**20:.0f} MiB of memory")
    noise = [line.strip() for line in (output + error).splitlines() if _NOISE.search(line)]
    short += [f"prints: {line[:200]}" for line in noise[:1]]
    short += misprinted(verdict, expected)
    after = contents(folder)
    short += harmed(before, after, expected.changed)
    new = [name for name in after if name not in before]
    if expected.places is not None:
        away = (name for name in new if not below(name, expected.places))
        short += [f"wrote where nobody asked it to: {name}" for name in away]
    if code in DONE:
        missing = (name for name in expected.results if not fnmatch.filter(after, name))
        short += [f"exit code {code}, but there is no {name}" for name in missing]
    short += unreadable(folder, new)
    outside = [*_printed(aside / "outside").splitlines(), *sorted(_surroundings(folder) - around)]
    short += [f"wrote outside of its folder: {name}" for name in dict.fromkeys(outside)]
    temporary = sorted(path.name for path in (aside / "temporary").iterdir())
    short += [f"left behind: temporary {name}" for name in temporary]
    return verdict.with_short(*short)


def _be_the_program(program, folder, aside, limits, variables):
    """What the new process does; does not return."""
    code = 70
    try:
        os.setsid()
        cpu = int(limits.cpu) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu))
        resource.setrlimit(resource.RLIMIT_AS, (limits.address_space,) * 2)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.default_int_handler if number == 2 else signal.SIG_DFL)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        for number, name in ((1, "output"), (2, "error")):
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
            os.dup2(os.open(aside / name, flags, 0o600), number)
        os.chdir(folder)
        os.environ.update(variables)
        if not callable(program):
            os.execvp(program[0], program)
        tempfile.tempdir = None  # what TMPDIR said to this process
        sys.dont_write_bytecode = True
        tell_writes((folder, aside), aside / "outside")
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
    """Status and usage of a process that has ended, and whether it has by itself."""
    deadline, pause, in_time = time.monotonic() + wall, _POLL, True
    while True:
        ended, status, usage = os.wait4(pid, os.WNOHANG)
        if ended:
            return status, usage, in_time
        if in_time and time.monotonic() > deadline:
            in_time = False
            os.kill(pid, signal.SIGKILL)
        time.sleep(pause)
        pause = min(1.5 * pause, _LONGEST_POLL)


def _ended(pid, mark) -> dict:
    """Command lines of what is still there of a program's processes; they are killed."""
    deadline = time.monotonic() + 2.0
    while (left := _members(pid, mark)) and time.monotonic() < deadline:
        time.sleep(_POLL)
    for member in left:
        with contextlib.suppress(ProcessLookupError):
            os.kill(member, signal.SIGKILL)
    return left


def _members(pid, mark) -> dict:
    """Command lines of the living processes that descend from the program."""
    members = {}
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            # A function's process has its variables only in memory: by its session, the fourth
            # number behind the name in brackets.
            session = (process / "stat").read_bytes().rsplit(b")", 1)[1].split()[3]
            marked = mark in (process / "environ").read_bytes().split(b"\0")
            words = (process / "cmdline").read_bytes().replace(b"\0", b" ")
            if words and (marked or int(session) == pid):
                members[int(process.name)] = words.decode("utf-8", "replace").strip()
    return members


def _printed(path) -> str:
    # What is no text is shown as what nobody should print.
    return path.read_bytes().decode("utf-8", "surrogateescape") if path.exists() else ""


def _surroundings(folder):
    """What is beside the scratch folder and above it, where "../.." leads."""
    places = (folder.parent, folder.parent.parent)
    return {str(path) for place in places for path in place.iterdir()}


def misprinted(verdict, expected) -> list[str]:
    """What is wrong with all that a program printed, as it ended with its exit code."""
    if expected.log:
        verdict = replace(verdict, error=_COLOUR.sub("", verdict.error))
        verdict = replace(verdict, output=_COLOUR.sub("", verdict.output))
    lines = (verdict.output + verdict.error).split("\n")
    # What a terminal does not show, but obeys.
    unseen = [line for line in lines if not line.isprintable()]
    short = [f"prints what cannot be seen: {line[:200]!a}" for line in unseen[:1]]
    if verdict.code < 0:
        return short  # ended by a signal it could say nothing
    said = verdict.error.splitlines()
    complaints = [line for line in said if line.strip() and not line.startswith("note: ")]
    if verdict.code not in DONE:
        if len(complaints) != 1 and not expected.log:
            short.append(f"says {len(complaints)} sentences, expected one: {complaints[:3]}")
        return short + _no_sentence(verdict.last_line, expected.words)
    if not verdict.output.strip():
        short.append(f"exit code {verdict.code}, but it says nothing")
    if complaints and not (expected.log or expected.remarks):
        short.append(f"exit code {verdict.code}, but it complains: {complaints[0][:200]}")
    if _FAILURE.search(complaints[-1] if complaints else "") and not expected.log:
        short.append(f"exit code {verdict.code} after a failure: {complaints[-1][:200]}")
    for pattern in expected.told:
        if not re.search(pattern, verdict.output):
            short.append(f"does not say {pattern!r}")
    return short


def _no_sentence(line, words) -> list[str]:
    """What is wrong with the last line of a program that refuses its input."""
    short = []
    if not re.search(r"\w \w", line):
        short.append(f"its last line is no sentence: {line[:200]!r}")
    if len(line) > LONGEST_SENTENCE:
        short.append(f"its last line has {len(line)} characters: {line[:100]!r}")
    if words and not any(word in line for word in words):
        short.append(f"its last line names none of {', '.join(words)}: {line[:200]!r}")
    return short


def command_text(program) -> str:
    """A command as a shell takes it."""
    return " ".join(shlex.quote(str(word)) for word in program)
