"""One judge for programs that are treated badly: how they ended, and what they left behind.

A program runs as a process of its own, in a scratch folder, within limits of time and memory; then
everything that it must not do is looked for. What is found is a list of sentences, empty if the
program behaved.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import resource
import secrets
import shlex
import signal
import stat
import sys
import time
import traceback
from dataclasses import dataclass, replace
from pathlib import Path

REFUSED = 2
LONGEST_SENTENCE = 2000
"""Characters of a line that a person still reads; a path may be long, a copied input is not one."""

_MARK = "TRIED_BADLY"
_HALF_WRITTEN = (".part", ".active", ".tmp")
_NOISE = re.compile(r"Traceback \(most recent|Exception ignored|\b[A-Z]\w+Warning:|Fatal Python")
_COLOUR = re.compile(r"\x1b\[[\d;]*m")
_POLL, _LONGEST_POLL = 0.005, 0.1


@dataclass(frozen=True)
class Limits:
    """What a program may take.

    Attributes
    ----------
    cpu : float
        Seconds of processor time, which do not depend on what else the machine does.
    wall : float
        Seconds in which it must have ended; far more than it needs, to tell waiting for ever.
    memory : int
        Bytes of resident memory, of a command its own.
    address_space : int
        Bytes that it may ask for at all, so that no trial harms the machine.
    """

    cpu: float = 30.0
    wall: float = 300.0
    memory: int = 1536 * 2**20
    address_space: int = 8 * 2**30


@dataclass(frozen=True)
class Expected:
    """How a program is to end.

    Attributes
    ----------
    codes : tuple of int
    words : tuple of str
        One of them stands in the last line of a refusal; for instance file and key.
    changed : tuple of str
        Files and folders, below the scratch folder, that may have been there before and change.
    """

    codes: tuple[int, ...] = (0, REFUSED)
    words: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()


@dataclass(frozen=True)
class Verdict:
    """How a program ended: exit code (minus the signal's number), output, and its short-comings."""

    code: int
    output: str
    error: str
    cpu: float
    memory: int
    short: tuple[str, ...]

    def with_short(self, sentence) -> Verdict:
        """The same with one more short-coming."""
        return replace(self, short=(*self.short, sentence))

    @property
    def last_line(self) -> str:
        """What a person sees last; of a program that mixes both outputs, of both."""
        lines = (self.error if self.error.strip() else self.output).strip().splitlines()
        return lines[-1] if lines else ""


class Judged:
    """A program that has been started and is judged when it has ended.

    Parameters
    ----------
    program : list of str, or callable
        A command; or a function that returns an exit code, called in a forked process, which
        spares the seconds in which an interpreter starts.
    folder : Path
        The scratch folder, with the inputs in it; the program starts there.
    limits : Limits
    environment : mapping, optional
        Beside what this process has; None takes a variable away.
    """

    def __init__(self, program, folder, limits=None, environment=None) -> None:
        self.program = program
        self.folder = Path(folder)
        self.limits = limits or Limits()
        self._token = secrets.token_hex(8)
        # Beside the folder, so that nothing of the judge's is in it.
        self._aside = self.folder.with_name(self.folder.name + ".judge")
        self._aside.mkdir()
        (self._aside / "temporary").mkdir()
        self._before = contents(self.folder)
        changes = {**(environment or {}), _MARK: self._token}
        changes["TMPDIR"] = str(self._aside / "temporary")
        self._started = time.monotonic()
        self._ticks = int(time.clock_gettime(time.CLOCK_BOOTTIME) * os.sysconf("SC_CLK_TCK")) - 1
        sys.stdout.flush()
        sys.stderr.flush()
        # Closed by the start of a command: the memory from then on is its own.
        self._started_yet, until_then = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        self._seen = 0
        self.pid = os.fork()
        if not self.pid:
            self._be_the_program(changes)
        os.close(until_then)

    def _be_the_program(self, changes):
        """What the new process does; does not return."""
        code = 70
        try:
            os.setsid()
            self._limit()
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                signal.signal(number, signal.default_int_handler if number == 2 else signal.SIG_DFL)
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            for number, name in ((1, "output"), (2, "error")):
                flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
                os.dup2(os.open(self._aside / name, flags, 0o600), number)
            os.chdir(self.folder)
            for name, value in changes.items():
                os.environ.pop(name, None)
                if value is not None:
                    os.environ[name] = value
            if not callable(self.program):
                os.execvp(self.program[0], self.program)
            sys.stdin = open(0, closefd=False)  # noqa: SIM115 - as long as the process
            sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
            sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
            code = self.program()
            sys.stdout.flush()
        except BaseException:
            traceback.print_exc()
        finally:
            with contextlib.suppress(Exception):
                sys.stderr.flush()
            os._exit(code)

    def _limit(self):
        cpu = int(self.limits.cpu) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu))
        resource.setrlimit(resource.RLIMIT_AS, (self.limits.address_space,) * 2)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    def judge(self, expected=None) -> Verdict:
        """Wait for the end; say what the program should not have done."""
        expected = expected or Expected()
        status, usage = self._wait()
        os.close(self._started_yet)
        left = self._members()
        deadline = time.monotonic() + 2.0
        while left and time.monotonic() < deadline:
            time.sleep(_POLL)
            left = self._members()
        self._kill(left)
        code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else -os.WTERMSIG(status)
        output, error = (self._printed(name) for name in ("output", "error"))
        cpu, memory = usage.ru_utime + usage.ru_stime, self._memory(usage)
        verdict = Verdict(code, output, error, cpu, memory, ())
        short = [f"left running: {words}" for words in left.values()]
        if self._too_long:
            short.append(f"did not end within {self.limits.wall:g} s")
        elif code not in expected.codes:
            short.append(f"exit code {code}, expected one of {expected.codes}")
        if cpu > self.limits.cpu:
            short.append(f"took {cpu:.0f} s of processor time")
        if memory > self.limits.memory:
            short.append(f"took {memory / 2**20:.0f} MiB of memory")
        short += noise(output + error)
        if code == REFUSED:
            short += no_sentence(verdict.last_line, expected.words)
        short += harmed(self._before, contents(self.folder), expected.changed)
        short += [f"left behind: temporary {name}" for name in self._temporary()]
        return Verdict(code, output, error, cpu, memory, tuple(short))

    def _wait(self):
        deadline, self._too_long = self._started + self.limits.wall, False
        pause = _POLL
        while True:
            pid, status, usage = os.wait4(self.pid, os.WNOHANG)
            if pid:
                return status, usage
            self._look_at_memory()
            if time.monotonic() > deadline and not self._too_long:
                self._too_long = True
                self._kill({self.pid: ""})
            time.sleep(pause)
            pause = min(1.5 * pause, _LONGEST_POLL)

    def _look_at_memory(self):
        """See how much a command has had until now, once it is no copy of this process any more."""
        if callable(self.program):
            return
        with contextlib.suppress(OSError, IndexError):
            os.read(self._started_yet, 1)  # an error as long as it has not started
            peak = _read(f"/proc/{self.pid}/status").split(b"VmHWM:")[1]
            self._seen = max(self._seen, int(peak.split()[0]) * 1024)

    def _memory(self, usage):
        """Bytes that the program had at most.

        The system counts a command's from the fork on, and so all that this process has had; of
        less than that is known what was seen of it.
        """
        counted, own = usage.ru_maxrss, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return self._seen if self._seen and counted <= own else counted * 1024

    def _members(self) -> dict:
        """Command lines of the living processes that descend from the program."""
        wanted, members = f"{_MARK}={self._token}".encode(), {}
        for pid in filter(str.isdecimal, os.listdir("/proc")):
            with contextlib.suppress(OSError):
                # Behind the name in brackets: state, parent, group, session, ..., start in ticks.
                state = _read(f"/proc/{pid}/stat").rsplit(b")", 1)[1].split()
                if int(state[19]) < self._ticks or int(pid) == self.pid:
                    continue
                # A function's process has its variables only in memory: by its session.
                marked = wanted in _read(f"/proc/{pid}/environ").split(b"\0")
                words = _read(f"/proc/{pid}/cmdline").replace(b"\0", b" ")
                if words and (marked or int(state[3]) == self.pid):
                    members[int(pid)] = words.decode("utf-8", "replace").strip()
        return members

    def end(self) -> None:
        """Kill what is left."""
        self._kill(self._members())

    @staticmethod
    def _kill(members):
        for pid in members:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def _printed(self, name) -> str:
        path = self._aside / name
        text = path.read_bytes().decode("utf-8", "replace") if path.exists() else ""
        return _COLOUR.sub("", text)

    def _temporary(self):
        return sorted(path.name for path in (self._aside / "temporary").iterdir())


def _read(path) -> bytes:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return os.read(descriptor, 2**17)
    finally:
        os.close(descriptor)


def tried(program, folder, expected=None, limits=None, environment=None) -> Verdict:
    """Run a program to its end and judge it; see :class:`Judged`."""
    return Judged(program, folder, limits, environment).judge(expected)


def noise(text) -> list[str]:
    """Lines of a text that are meant for programmers."""
    return [f"prints: {line.strip()[:200]}" for line in text.splitlines() if _NOISE.search(line)][
        :1
    ]


def no_sentence(line, words=()) -> list[str]:
    """What is wrong with the last line of a program that refuses its input."""
    short = []
    if not re.search(r"\w \w", line):
        short.append(f"its last line is no sentence: {line[:200]!r}")
    if len(line) > LONGEST_SENTENCE:
        short.append(f"its last line has {len(line)} characters: {line[:100]!r}")
    if words and not any(word in line for word in words):
        short.append(f"its last line names none of {', '.join(words)}: {line[:200]!r}")
    return short


def contents(folder) -> dict:
    """What is in a folder: path below it -> (mode, content) without following links."""
    found = {}
    for path in sorted(Path(folder).rglob("*")):
        state = os.lstat(path)
        content = None
        if stat.S_ISREG(state.st_mode):
            # A sparse file may be larger than any memory.
            small = state.st_size <= 2**26
            # Only root reads what nobody may; to others its mode tells that it changed.
            readable = small and os.access(path, os.R_OK)
            content = hashlib.sha256(path.read_bytes()).digest() if readable else state.st_size
        elif stat.S_ISLNK(state.st_mode):
            content = os.readlink(path)
        found[str(path.relative_to(folder))] = (state.st_mode, content)
    return found


def harmed(before, after, changed=()) -> list[str]:
    """Files that changed or have gone, and new ones that were left half-written.

    Parameters
    ----------
    before, after : dict
        See :func:`contents`.
    changed : iterable of str
        Those that may change, and folders all of whose content may.
    """

    def may_change(name):
        return any(name == other or name.startswith(f"{other}/") for other in changed)

    short = [
        f"{'changed' if name in after else 'removed'}: {name}"
        for name, content in before.items()
        if after.get(name) != content and not may_change(name)
    ]
    for name in after:
        new = Path(name)
        if name not in before and (new.suffix in _HALF_WRITTEN or new.name.startswith(".")):
            short.append(f"left behind: {name}")
    return short


def command_text(program) -> str:
    """A command as a shell takes it."""
    return " ".join(shlex.quote(str(word)) for word in program)
