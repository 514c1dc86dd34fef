"""JSBSim's library: its data, its scripts, and its notices, which it would print.

From 1.3 on a logger takes all notices of a thread. Older ones print to the process's standard
output and standard error from C++, so both are pointed elsewhere while they run; other threads that
print meanwhile then print there, too.
"""

from __future__ import annotations

import ctypes
import os
import re
import sys
import tempfile
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Callable, Iterator

from imu_simulation_framework.extras import required
from imu_simulation_framework.sentences import printable

_PRINTING = threading.RLock()
_LONGEST_LOG = 10_000_000  # characters; a script may notify in every step
_EVENT = re.compile(
    r"(?P<name>[^\n>]*?) \(Event \d+\) executed at time: (?P<time>[-+0-9.eE]+)", re.MULTILINE
)


class Notices:
    """What JSBSim said.

    Attributes
    ----------
    text : str
    fetch : callable
        Brings what has not been added yet.
    """

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._size = 0
        self.fetch: Callable[[], None] = lambda: None

    def add(self, text: str) -> None:
        """Keep a piece, as long as all together is not absurdly long."""
        if self._size < _LONGEST_LOG:
            self._parts.append(text)
            self._size += len(text)

    @property
    def text(self) -> str:
        """All of it."""
        self.fetch()
        return "".join(self._parts)

    def events(self) -> list[tuple[float, str]]:
        """Return time [s] and name of the script's events that notify, in order."""
        found = _EVENT.finditer(self.text)
        return [(float(match["time"]), _plain(match["name"]) or "event") for match in found]

    def last_sentence(self) -> str:
        """Return the last thing that was said in one line; empty if there was nothing."""
        lines = [_plain(line) for line in self.text.splitlines()]
        told = [line for line in lines if line and not line.startswith(("JSBSim", "["))]
        return told[-1].rstrip(".") if told else ""


def jsbsim() -> Any:
    """Return the module; imported when it is used first, as few need it.

    Raises
    ------
    ConfigurationError
        It is not installed.
    """
    return required("jsbsim", "a flight in JSBSim")


def data_folder() -> Path:
    """Return the folder of JSBSim's own aircraft, engines and scripts."""
    return Path(jsbsim().__file__).parent


def bundled_scripts() -> list[str]:
    """Return the names of the scripts that JSBSim brings, without ``.xml``."""
    return sorted(path.stem for path in (data_folder() / "scripts").glob("*.xml"))


@contextmanager
def told(notices: Notices) -> Iterator[None]:
    """Take what JSBSim says in this thread, instead of letting it print."""
    module = jsbsim()
    if hasattr(module, "set_logger"):
        before = module.get_logger()
        module.set_logger(_logger(module, notices))
        try:
            yield
        finally:
            module.set_logger(before)
        return
    with _PRINTING, _outputs_kept(notices):
        level = module.FGJSBBase().debug_lvl
        module.FGJSBBase().debug_lvl = 0
        try:
            yield
        finally:
            module.FGJSBBase().debug_lvl = level


def _logger(module, notices):
    class Logger(module.FGLogger):
        """Takes messages, and leaves colours and places in JSBSim's own source alone."""

        def set_level(self, level):
            pass

        def file_location(self, filename, line):
            pass

        def message(self, message):
            notices.add(message)

        def format(self, format):
            pass

        def flush(self):
            pass

    return Logger()


@contextmanager
def _outputs_kept(notices):
    """Point the process's standard output and error at a file, and read that afterwards."""
    c_library = ctypes.CDLL(None)
    with tempfile.TemporaryFile() as file:
        sys.stdout.flush()
        sys.stderr.flush()
        c_library.fflush(None)
        kept = [(number, os.dup(number)) for number in (1, 2)]
        for number, _ in kept:
            os.dup2(file.fileno(), number)
        fetched = 0

        def fetch():
            nonlocal fetched
            # What is still in C's buffers belongs into the file, whose place is JSBSim's, too.
            c_library.fflush(None)
            text = os.pread(file.fileno(), _LONGEST_LOG, fetched)
            fetched += len(text)
            notices.add(text.decode("utf-8", errors="replace"))

        notices.fetch = fetch
        try:
            yield
        finally:
            fetch()
            notices.fetch = lambda: None
            for number, copy in kept:
                os.dup2(copy, number)
                os.close(copy)


def _plain(text) -> str:
    """Return a line without marks of KML and colours of terminals."""
    text = re.sub(r"<[^<>]*>|\x1b\[[0-9;]*m|[<>]", " ", text)
    return printable(" ".join(text.split()))
