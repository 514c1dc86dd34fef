"""A flight in JSBSim, stepped in this process: a script in, an aircraft's states out.

What JSBSim would print is kept: from 1.3 on a logger takes all notices of a thread. Older ones
print to the process's standard output and standard error from C++, so both are pointed elsewhere
while they run; other threads that print meanwhile then print there, too.

What a script or an aircraft says in ``<output>`` and ``<input>`` JSBSim opens while it reads: a
file is emptied, a FIFO waited for, an address connected to. So it reads copies that do not say it.
Components of a control system have tags of these names, too; those name properties, and stay.
"""

from __future__ import annotations

import ctypes
import difflib
import math
import os
import re
import sys
import tempfile
import threading
import xml.etree.ElementTree as ElementTree
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Callable, Iterator
from xml.parsers.expat import ErrorString

import numpy as np

from ..core import files
from ..core.checks import check_number
from ..core.errors import FrameworkError, SimulatorError, import_optional
from ..core.sentences import escape_unprintable, join_names, quote
from ..core.whole_files import explain_file_error
from ..motion.flight import Flight, FlightStates

_PRINTING = threading.RLock()
_LONGEST_LOG = 10_000_000  # characters; a script may notify in every step
_EVENT = re.compile(
    r"(?P<name>[^\n>]*?) \(Event \d+\) executed at time: (?P<time>[-+0-9.eE]+)", re.MULTILINE
)


class Notices:
    """What JSBSim said; ``fetch`` brings what has not been added yet."""

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
        reported = [line for line in lines if line and not line.startswith(("JSBSim", "["))]
        return reported[-1].rstrip(".") if reported else ""


def jsbsim() -> Any:
    """Return the module; imported when it is used first, as few need it.

    Raises ConfigurationError if it is not installed.
    """
    return import_optional("jsbsim", "a flight in JSBSim")


def data_folder() -> Path:
    """Return the folder of JSBSim's own aircraft, engines and scripts."""
    return Path(jsbsim().__file__).parent


def bundled_scripts() -> list[str]:
    """Return the names of the scripts that JSBSim brings, without ``.xml``."""
    return sorted(path.stem for path in (data_folder() / "scripts").glob("*.xml"))


@contextmanager
def reported(notices: Notices) -> Iterator[None]:
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

        def message(self, message):
            notices.add(message)

        def set_level(self, *_):
            pass

        file_location = format = flush = set_level

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
    return escape_unprintable(" ".join(text.split()))


_OPENED = ("output", "input")
_MAX_FILES = 1000
_MAX_SIZE = 64 * 2**20
_OUTSIDE = re.compile(r"^[/\\~]|^\w:|\.\.")


def _quiet_folder(folder: Path, target: Path) -> None:
    """Copy the XML files of a folder, with those in folders in it, as ones that open nothing."""
    count = size = 0
    for place, _, names in os.walk(folder, followlinks=True):
        for name in sorted(names):
            if not name.lower().endswith(".xml"):
                continue
            path = Path(place) / name
            count += 1
            size += _write(_quiet(path), target / path.relative_to(folder))
            if count > _MAX_FILES or size > _MAX_SIZE:
                raise SimulatorError(
                    f"{folder}: more than {_MAX_FILES} files or {_MAX_SIZE // 2**20} MiB of XML, "
                    "so no folder of an aircraft or of engines"
                )


def _quiet(path):
    refused = f"{path}: JSBSim cannot fly this script"
    try:
        with files.open_regular(path) as file:
            content = files.read_at_most(file, files.XML_LIMIT)
        files.require_bounded_xml(content)
        # Comments keep the lines that JSBSim's messages name.
        builder = ElementTree.TreeBuilder(insert_comments=True)
        root = ElementTree.fromstring(content, ElementTree.XMLParser(target=builder))
    except OSError as error:
        raise SimulatorError(f"{path}: it cannot be read: {explain_file_error(error)}") from None
    except files.UnusableXmlError as error:
        raise SimulatorError(f"{refused}: line {error.line}: {error}") from None
    except ElementTree.ParseError as error:
        line, reason = error.position[0], ErrorString(error.code)
        raise SimulatorError(f"{refused}: line {line}: {reason}") from None
    except (ValueError, LookupError) as error:
        raise SimulatorError(f"{refused}: {error}") from None
    for child in list(root):
        if child.tag in _OPENED:
            root.remove(child)
    for tag in root.iter():
        for key in ("file", "aircraft", "initialize"):
            name = tag.get(key, "")
            if _OUTSIDE.search(name.strip()):
                raise SimulatorError(
                    f"{path}: <{tag.tag}> names {quote(name)}, which is not in the aircraft's own "
                    "folder; such files are not read"
                )
    return root


def _write(root, path) -> int:
    content = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return len(content)


FOOT = 0.3048
"""[m]"""

STATES = (
    "position/ecef-x-ft",
    "position/ecef-y-ft",
    "position/ecef-z-ft",
    "velocities/v-north-fps",
    "velocities/v-east-fps",
    "velocities/v-down-fps",
    "attitude/phi-rad",
    "attitude/theta-rad",
    "attitude/psi-rad",
    "gear/wow",
)
"""Read in every step. Its positions in ECEF are what it integrates; its geodetic ones are off by
tenths of a millimetre."""

SCRAPING = 10.0
"""Over ground [m/s]: what touches it faster with another part than a wheel has crashed."""

_SUNK = 1.0
"""Depth [m] of the centre of gravity below the ground: seaplanes float with theirs near it."""

_MAX_PARTS = 64

RATE = 50.0
"""Steps per second of c3104's own script [Hz]."""

_CHECK_RATE = 20.0  # Hz; how often engines and contacts are looked at
_LONGEST = 24 * 3600.0  # s
_FASTEST = 10_000.0  # Hz
_FEWEST = 4  # states of which a motion can be made


def fly(
    script: str | os.PathLike[str] = "c3104",
    duration: float = 200.0,
    rate: float = RATE,
    start: float = 0.0,
    aircraft_folder: str | os.PathLike[str] | None = None,
    engine_folder: str | os.PathLike[str] | None = None,
) -> Flight:
    """Fly a script in JSBSim.

    JSBSim's step is the period of the states. It decides where the aircraft flies: c3104 at 50 and
    at 1000 Hz is 342 m apart after 100 s. So a faster IMU is simulated of
    ``flight.states.motion(at=...)``, not of a faster flight.

    ``script`` (str or path-like): name of one of JSBSim's own (:func:`.bundled_scripts`), or the
    path of a file. ``duration``: of the states, counted from ``start`` [s]. ``rate``: steps and
    states per second [Hz]. ``start``: time of the first state that is kept, on the script's clock
    [s]: c3104 drops onto the runway first, and is at rest there after 3 s. ``aircraft_folder``,
    ``engine_folder`` (path-like): where aircraft and engines are that the script names; by default
    JSBSim's own. The result's times are those of the script's clock; what ended it early is a
    remark. Raises SimulatorError if the script cannot be flown, or ends before there are enough
    states. Raises ConfigurationError if a number is out of range, or JSBSim is not installed.
    """
    duration = check_number("a flight's duration", duration, above=0.0, maximum=_LONGEST)
    rate = check_number("a flight's rate", rate, above=0.0, maximum=_FASTEST)
    start = check_number("a flight's start", start, minimum=0.0, maximum=_LONGEST)
    path = _script_path(script)
    aircraft, engines = _folder(aircraft_folder, "aircraft"), _folder(engine_folder, "engines")
    notices = Notices()
    with reported(notices), tempfile.TemporaryDirectory() as quiet:
        simulator = _loaded(path, rate, aircraft, engines, notices, Path(quiet))
        flown = _Flown(simulator, path, rate)
        flown.skip(int(np.ceil(start * rate - 1e-6)))
        flown.record(int(np.floor(duration * rate + 1e-6)) + 1)
    states = flown.states()
    settings = {
        "source": "JSBSim",
        "version": str(jsbsim().__version__),
        "script": Path(script).stem if path.parent == data_folder() / "scripts" else str(path),
        "aircraft": str(simulator.get_model_name()),
        "rate": rate,
        "start": start,
        "duration": duration,
    }
    folders = {"aircraft_folder": aircraft, "engine_folder": engines}
    settings.update({name: str(folder) for name, folder in folders.items() if folder is not None})
    events = sorted(notices.events() + flown.events, key=lambda event: event[0])
    return Flight(states, settings, tuple(events), tuple(flown.remarks), flown.crashed)


class _Flown:
    """A flight step by step, and what no state shows: engines that stop, and a crash."""

    def __init__(self, simulator, path, rate):
        self._simulator, self._path, self._rate = simulator, path, rate
        manager = simulator.get_property_manager()

        def readers(*names):
            return [manager.get_node(name).get_double_value for name in names]

        def of_parts(name):
            names = (name.format(number) for number in range(_MAX_PARTS))
            return readers(*filter(manager.hasNode, names))

        self._read = readers(*STATES)
        self._height, self._speed = readers("position/h-agl-ft", "velocities/vg-fps")
        self._engines = of_parts("propulsion/engine[{}]/set-running")
        self._parts = of_parts("contact/unit[{}]/WOW")
        self._ran = [False] * len(self._engines)
        self._every = max(1, round(rate / _CHECK_RATE))
        self._step = self._first = 0
        self._rows: list[list[float]] = []
        self.ended = self.crashed = False
        self.events: list[tuple[float, str]] = []
        self.remarks: list[str] = []

    def skip(self, steps):
        """Fly on, and keep nothing."""
        self._fly(steps, None)
        self._first = self._step

    def record(self, count):
        """Fly on, and keep as many states, that of now among them."""
        self._fly(count, self._rows.append)

    def states(self) -> FlightStates:
        """Return what was kept.

        Raises SimulatorError if it is too little for a motion.
        """
        rows = np.array(self._rows)
        if len(rows):
            rows = rows[: int(np.argmin(np.append(np.isfinite(rows).all(axis=1), False)))]
        if len(rows) < _FEWEST:
            reason = self.remarks[0] if self.remarks else f"there are only {len(rows)} states of it"
            raise SimulatorError(f"{self._path}: no flight can be made of it: {reason}")
        states = FlightStates.from_ecef_and_aviation(
            (self._first + np.arange(len(rows))) / self._rate,
            FOOT * rows[:, :3],
            rows[:, 6:9],
            FOOT * rows[:, 3:6],
            rows[:, 9] != 0.0,
        )
        return replace(states, velocities_lead=True)

    def _fly(self, count, keep):
        """Keep and step; this is what takes the time."""
        read, run, every = self._read, self._simulator.run, self._every
        while count > 0 and not self.ended:
            batch = min(count, every - self._step % every)
            done = 0
            try:
                for _ in range(batch):
                    if keep is not None:
                        keep([value() for value in read])
                    done += 1
                    if not run():
                        self._end("the script ends it")
                        break
            except (RuntimeError, ArithmeticError, ValueError) as error:
                self._end(f"JSBSim gives up: {_one_line(error)}")
                self.crashed = True
            self._step += done
            count -= done
            self._check()

    def _check(self):
        time = self._step / self._rate
        ran, self._ran = self._ran, [engine() != 0.0 for engine in self._engines]
        for number, (before, now) in enumerate(zip(ran, self._ran), start=1):
            if now != before:
                self.events.append((time, f"engine {number} {'runs' if now else 'stops'}"))
            if before and not now:
                self.remarks.append(f"engine {number} stops at {time:.2f} s")
        crash = "" if self.ended else self._crash()
        if crash:
            self._end(f"the aircraft has crashed: {crash}")
            self.crashed = True

    def _crash(self) -> str:
        """Return how it crashed, as half a sentence; empty while it has not."""
        height, speed = FOOT * self._height(), FOOT * self._speed()
        if not (math.isfinite(height) and math.isfinite(speed)):
            return "its state is not finite any more"
        if height < -_SUNK:
            return f"its centre of gravity is {-height:.1f} m below the ground"
        if speed > SCRAPING and any(part() != 0.0 for part in self._parts):
            return f"it touches the ground with another part than a wheel, at {speed:.0f} m/s"
        return ""

    def _end(self, reason):
        self.ended = True
        time = self._simulator.get_sim_time()
        self.remarks.append(f"the flight ends at {time:.2f} s: {reason}")
        self.events.append((round(time, 6), reason))


def _script_path(script) -> Path:
    """Return the file of a script that is named or given by its path."""
    name = os.fspath(script)
    names = bundled_scripts()
    if name in names:
        return data_folder() / "scripts" / f"{name}.xml"
    path = Path(name)
    if not path.exists() and path.suffix == "" and len(path.parts) == 1:
        near = difflib.get_close_matches(name, names, n=3)
        raise SimulatorError(
            f"JSBSim has no script {quote(name)}"
            + (f", did you mean {' or '.join(near)}?" if near else f"; it has {join_names(names)}")
            + "; another one is given by the path of its file"
        )
    try:
        with files.open_regular(path):
            return path.absolute()
    except OSError as error:
        raise SimulatorError(
            f"{path}: the script cannot be read: {explain_file_error(error)}"
        ) from None


def _folder(folder, what) -> Path | None:
    if folder is None:
        return None
    path = Path(folder)
    if not path.is_dir():
        raise SimulatorError(f"{path}: there is no such folder of {what}")
    return path.absolute()


def _loaded(path, rate, aircraft, engines, notices, quiet) -> Any:
    """Return JSBSim with a script at its initial conditions.

    Script and aircraft are read from copies in the folder ``quiet``, into which JSBSim also writes
    what it cannot be kept from, such as its state when a script sets simulation/write-state-file.
    """
    fleet = aircraft or data_folder() / "aircraft"
    root, script = _quiet(path), quiet / "script" / f"{path.stem}.xml"
    _write(root, script)
    for name in [use.get("aircraft", "") for use in root.iter("use")]:
        _quiet_folder(fleet / name, quiet / "aircraft" / name)
    if engines is not None:
        _quiet_folder(engines, quiet / "engine")
    try:
        simulator = jsbsim().FGFDMExec(str(data_folder()))
        simulator.set_debug_level(0)
        simulator.set_output_path(str(quiet))
        simulator.set_aircraft_path(str(quiet / "aircraft"))
        if engines is not None:
            simulator.set_engine_path(str(quiet / "engine"))
        if not simulator.load_script(str(script)):
            raise SimulatorError("it is not accepted")
        simulator.set_dt(1.0 / rate)
        if not simulator.run_ic():
            raise SimulatorError("its initial conditions are not accepted")
    except (RuntimeError, OSError, FrameworkError) as error:
        reason = _one_line(error)
        if isinstance(error, FrameworkError) and notices.last_sentence():
            reason = f"{reason}: {notices.last_sentence()}"
        reason = reason.replace(str(script), str(path)).replace(str(quiet / "aircraft"), str(fleet))
        raise SimulatorError(f"{path}: JSBSim cannot fly this script: {reason}") from None
    return simulator


def _one_line(error) -> str:
    return " ".join(str(error).split()).rstrip(".")
