"""In-process flight simulation with JSBSim, from a script to the states of an aircraft.

The output of JSBSim is captured. Since version 1.3, a logger receives all notices of a thread.
Older versions print to standard output and standard error from C++, so that both are redirected
during a flight, including the output of other threads.

While JSBSim reads a script or an aircraft, it opens the targets of ``<output>`` and ``<input>``
elements: it truncates files, waits for FIFOs, and connects to addresses. It therefore
reads copies without these elements. Components of a control system with the same tags refer to
properties and are preserved.
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
from .defaults import RATE

_PRINTING = threading.RLock()
_LONGEST_LOG = 10_000_000  # characters; a script may print a notice in every step
_EVENT = re.compile(
    r"(?P<name>[^\n>]*?) \(Event \d+\) executed at time: (?P<time>[-+0-9.eE]+)", re.MULTILINE
)


class Notices:
    """Captured output of JSBSim; a call of ``fetch`` adds the pending output."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._size = 0
        self.fetch: Callable[[], None] = lambda: None

    def add(self, text: str) -> None:
        """Append a text, unless the captured output has reached its maximum length.

        Parameters
        ----------
        text : str
            Output of JSBSim.
        """
        if self._size < _LONGEST_LOG:
            self._parts.append(text)
            self._size += len(text)

    @property
    def text(self) -> str:
        """Complete captured output as text."""
        self.fetch()
        return "".join(self._parts)

    def events(self) -> list[tuple[float, str]]:
        """Return the script events for which JSBSim printed a notice, in order.

        Returns
        -------
        list of tuple of float and str
            Time [s] and name of each event.
        """
        events = _EVENT.finditer(self.text)
        return [(float(match["time"]), _strip_markup(match["name"]) or "event") for match in events]

    def last_sentence(self) -> str:
        """Return the last informative line of JSBSim's output.

        Returns
        -------
        str
            Line without markup; empty if there is none.
        """
        lines = [_strip_markup(line) for line in self.text.splitlines()]
        capture_output = [line for line in lines if line and not line.startswith(("JSBSim", "["))]
        return capture_output[-1].rstrip(".") if capture_output else ""


def jsbsim() -> Any:
    """Import and return the module jsbsim.

    Returns
    -------
    module

    Raises
    ------
    ConfigurationError
        JSBSim is not installed.
    """
    return import_optional("jsbsim", "a flight with JSBSim")


def data_folder() -> Path:
    """Return the folder with JSBSim's bundled aircraft, engines and scripts.

    Returns
    -------
    Path
        Folder in the package jsbsim.
    """
    return Path(jsbsim().__file__).parent


def bundled_scripts() -> list[str]:
    """Return the names of JSBSim's bundled scripts, without ``.xml``.

    Returns
    -------
    list of str
        Sorted names.
    """
    return sorted(path.stem for path in (data_folder() / "scripts").glob("*.xml"))


@contextmanager
def capture_output(notices: Notices) -> Iterator[None]:
    """Capture the output of JSBSim in the current thread.

    Parameters
    ----------
    notices : Notices
        Object that receives the output.
    """
    module = jsbsim()
    if hasattr(module, "set_logger"):
        previous = module.get_logger()
        module.set_logger(_logger(module, notices))
        try:
            yield
        finally:
            module.set_logger(previous)
        return
    with _PRINTING, _redirect_outputs(notices):
        level = module.FGJSBBase().debug_lvl
        module.FGJSBBase().debug_lvl = 0
        try:
            yield
        finally:
            module.FGJSBBase().debug_lvl = level


def _logger(module, notices):
    class Logger(module.FGLogger):
        """Logger that stores messages, without their colours and source locations."""

        def message(self, message):
            notices.add(message)

        def set_level(self, *_):
            pass

        file_location = format = flush = set_level

    return Logger()


@contextmanager
def _redirect_outputs(notices):
    """Redirect standard output and error of the process to a file, from which notices are read."""
    c_library = ctypes.CDLL(None)
    with tempfile.TemporaryFile() as file:
        sys.stdout.flush()
        sys.stderr.flush()
        c_library.fflush(None)
        copies = [(number, os.dup(number)) for number in (1, 2)]
        for number, _ in copies:
            os.dup2(file.fileno(), number)
        fetched = 0

        def fetch():
            nonlocal fetched
            # C buffers are flushed to the file first; pread does not change JSBSim's file position.
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
            for number, copy in copies:
                os.dup2(copy, number)
                os.close(copy)


def _strip_markup(text) -> str:
    """Remove XML tags and terminal colours from a line."""
    text = re.sub(r"<[^<>]*>|\x1b\[[0-9;]*m|[<>]", " ", text)
    return escape_unprintable(" ".join(text.split()))


_REMOVED_TAGS = ("output", "input")
_MAX_FILES = 1000
_MAX_SIZE = 64 * 2**20  # bytes
_OUTSIDE_PATH = re.compile(r"^[/\\~]|^\w:|\.\.")


def _copy_without_outputs(folder: Path, target: Path) -> None:
    """Copy the XML files in a folder and its subfolders, without output and input elements."""
    count = size = 0
    for parent, _, names in os.walk(folder, followlinks=True):
        for name in sorted(names):
            if not name.lower().endswith(".xml"):
                continue
            path = Path(parent) / name
            count += 1
            size += _write(_read_without_outputs(path), target / path.relative_to(folder))
            if count > _MAX_FILES or size > _MAX_SIZE:
                raise SimulatorError(
                    f"{folder}: contains more than {_MAX_FILES} files or {_MAX_SIZE // 2**20} MiB "
                    "of XML, expected an aircraft or engine folder"
                )


def _read_without_outputs(path):
    refused = f"{path}: JSBSim cannot run this script"
    try:
        with files.open_regular(path) as file:
            content = files.read_at_most(file, files.XML_LIMIT)
        files.require_bounded_xml(content)
        # Comments are preserved, so that line numbers in JSBSim's messages are correct.
        builder = ElementTree.TreeBuilder(insert_comments=True)
        root = ElementTree.fromstring(content, ElementTree.XMLParser(target=builder))
    except OSError as error:
        raise SimulatorError(f"{path}: cannot be read: {explain_file_error(error)}") from None
    except files.UnusableXmlError as error:
        raise SimulatorError(f"{refused}: line {error.line}: {error}") from None
    except ElementTree.ParseError as error:
        line, reason = error.position[0], ErrorString(error.code)
        raise SimulatorError(f"{refused}: line {line}: {reason}") from None
    except (ValueError, LookupError) as error:
        raise SimulatorError(f"{refused}: {error}") from None
    for child in list(root):
        if child.tag in _REMOVED_TAGS:
            root.remove(child)
    for tag in root.iter():
        for key in ("file", "aircraft", "initialize"):
            name = tag.get(key, "")
            if _OUTSIDE_PATH.search(name.strip()):
                raise SimulatorError(
                    f"{path}: <{tag.tag}> refers to {quote(name)}, expected a file in the folder "
                    "of the aircraft; other files are not read"
                )
        # JSBSim terminates with a segmentation fault when it reports such an event.
        if tag.tag == "set" and not tag.get("value", "0").strip():
            raise SimulatorError(
                f"{path}: <set> has an empty value for {quote(tag.get('name', ''))}, expected a "
                "number"
            )
    return root


def _write(root, path) -> int:
    content = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return len(content)


FOOT = 0.3048  # length of a foot [m]

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
"""Properties that are read in every step. JSBSim integrates positions in ECEF, from which its
geodetic positions differ by tenths of a millimetre."""

SCRAPING = 10.0
"""Speed over ground [m/s] above which a ground contact of a non-wheel part is a crash."""

_MAX_DEPTH = 1.0  # m; a centre of gravity deeper below the surface is a crash, even for a seaplane
_MAX_PARTS = 64

_CHECK_RATE = 20.0  # Hz; rate at which engines and contacts are checked
_LONGEST = 24 * 3600.0  # s
_FASTEST = 10_000.0  # Hz
_MIN_STATES = 4  # smallest number of states from which a motion can be computed


def fly(
    script: str | os.PathLike[str] = "c3104",
    duration: float = 200.0,
    rate: float = RATE,
    start: float = 0.0,
    aircraft_folder: str | os.PathLike[str] | None = None,
    engine_folder: str | os.PathLike[str] | None = None,
) -> Flight:
    """Simulate the flight of a script with JSBSim.

    The rate of the states is the simulation rate of JSBSim, on which the path depends: after 100 s,
    the positions of c3104 at 50 Hz and at 1000 Hz differ by 342 m. For a faster IMU, interpolate
    the motion with ``flight.states.motion(at=...)`` instead of increasing the rate.

    Parameters
    ----------
    script : str or path-like
        Name of a bundled script (:func:`.bundled_scripts`), or path of a file.
    duration : float
        Duration of the states after ``start`` [s].
    rate : float
        Simulation rate and rate of the states [Hz].
    start : float
        Time of the first state on the clock of the script [s]. The aircraft of c3104 first drops
        onto the runway and is stationary after 3 s.
    aircraft_folder, engine_folder : path-like, optional
        Folders of aircraft and engines; by default the folders of JSBSim.

    Returns
    -------
    Flight
        States on the clock of the script, with a remark on the reason for an early end.

    Raises
    ------
    SimulatorError
        JSBSim rejects the script, or the flight ends too early.
    ConfigurationError
        A number is out of range, or JSBSim is not installed.
    """
    duration = check_number("a flight's duration", duration, above=0.0, maximum=_LONGEST)
    rate = check_number("a flight's rate", rate, above=0.0, maximum=_FASTEST)
    start = check_number("a flight's start", start, minimum=0.0, maximum=_LONGEST)
    path = _script_path(script)
    aircraft, engines = _folder(aircraft_folder, "aircraft"), _folder(engine_folder, "engines")
    notices = Notices()
    with capture_output(notices), tempfile.TemporaryDirectory() as copies:
        simulator = _load_script(path, rate, aircraft, engines, notices, Path(copies))
        simulation = _Simulation(simulator, path, rate)
        simulation.skip(int(np.ceil(start * rate - 1e-6)))
        simulation.record(int(np.floor(duration * rate + 1e-6)) + 1)
    states = simulation.states()
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
    events = sorted(notices.events() + simulation.events, key=lambda event: event[0])
    return Flight(states, settings, tuple(events), tuple(simulation.remarks), simulation.crashed)


class _Simulation:
    """Step-by-step simulation of a flight, which detects engine events and crashes."""

    def __init__(self, simulator, path, rate):
        self._simulator, self._path, self._rate = simulator, path, rate
        manager = simulator.get_property_manager()

        def readers(*names):
            return [manager.get_node(name).get_double_value for name in names]

        def part_readers(name):
            names = (name.format(number) for number in range(_MAX_PARTS))
            return readers(*filter(manager.hasNode, names))

        self._read = readers(*STATES)
        self._height, self._speed = readers("position/h-agl-ft", "velocities/vg-fps")
        self._engines = part_readers("propulsion/engine[{}]/set-running")
        self._parts = part_readers("contact/unit[{}]/WOW")
        self._ran = [False] * len(self._engines)
        self._every = max(1, round(rate / _CHECK_RATE))
        self._step = self._first = 0
        self._rows: list[list[float]] = []
        self.ended = self.crashed = False
        self.events: list[tuple[float, str]] = []
        self.remarks: list[str] = []

    def skip(self, steps):
        """Advance by several steps without recording states."""
        self._fly(steps, None)
        self._first = self._step

    def record(self, count):
        """Record states, starting with the current state."""
        self._fly(count, self._rows.append)

    def states(self) -> FlightStates:
        """Return the recorded states before the first non-finite one; reject too few states."""
        rows = np.array(self._rows)
        if len(rows):
            rows = rows[: int(np.argmin(np.append(np.isfinite(rows).all(axis=1), False)))]
        if len(rows) < _MIN_STATES:
            reason = self.remarks[0] if self.remarks else "a state is not finite"
            raise SimulatorError(
                f"{self._path}: the flight has {len(rows)} states, expected at least "
                f"{_MIN_STATES}: {reason}"
            )
        states = FlightStates.from_ecef_and_aviation(
            (self._first + np.arange(len(rows))) / self._rate,
            FOOT * rows[:, :3],
            rows[:, 6:9],
            FOOT * rows[:, 3:6],
            rows[:, 9] != 0.0,
        )
        return replace(states, velocities_lead=True)

    def _fly(self, count, keep):
        """Advance the simulation and record states; most of the run time is spent in this loop."""
        read, run, every = self._read, self._simulator.run, self._every
        while count > 0 and not self.ended:
            batch = min(count, every - self._step % every)
            step_count = 0
            try:
                for _ in range(batch):
                    if keep is not None:
                        keep([value() for value in read])
                    step_count += 1
                    if not run():
                        self._end("the script ended")
                        break
            except (RuntimeError, ArithmeticError, ValueError) as error:
                self._end(f"JSBSim failed: {_one_line(error)}")
                self.crashed = True
            self._step += step_count
            count -= step_count
            self._check()

    def _check(self):
        time = self._step / self._rate
        ran, self._ran = self._ran, [engine() != 0.0 for engine in self._engines]
        if self._ran != ran:
            for number, (ran_before, now) in enumerate(zip(ran, self._ran), start=1):
                if now != ran_before:
                    self.events.append((time, f"engine {number} {'runs' if now else 'stops'}"))
                if ran_before and not now:
                    self.remarks.append(f"engine {number} stops at {time:.2f} s")
        crash = "" if self.ended else self._crash()
        if crash:
            self._end(f"the aircraft crashed: {crash}")
            self.crashed = True

    def _crash(self) -> str:
        """Describe how the aircraft crashed; empty if it did not crash."""
        height, speed = FOOT * self._height(), FOOT * self._speed()
        if not (math.isfinite(height) and math.isfinite(speed)):
            return "its state is not finite"
        if height < -_MAX_DEPTH:
            return f"its centre of gravity is {-height:.1f} m below the ground"
        # A list is faster than a generator, since all values are usually zero.
        contacts = [part() for part in self._parts] if speed > SCRAPING else []
        if any(contacts):
            return f"a part other than a wheel touches the ground at {speed:.0f} m/s"
        return ""

    def _end(self, reason):
        self.ended = True
        time = self._simulator.get_sim_time()
        self.remarks.append(f"the flight ends at {time:.2f} s: {reason}")
        self.events.append((round(time, 6), reason))


def _script_path(script) -> Path:
    """Return the path of a script, specified by the name of a bundled script or by its path."""
    name = os.fspath(script)
    names = bundled_scripts()
    if name in names:
        return data_folder() / "scripts" / f"{name}.xml"
    path = Path(name)
    if not path.exists() and path.suffix == "" and len(path.parts) == 1:
        near = difflib.get_close_matches(name, names, n=3)
        raise SimulatorError(
            f"JSBSim has no script {quote(name)}"
            + (f", did you mean {' or '.join(near)}?" if near else f", only {join_names(names)}")
            + "; for another script, use the path of its file"
        )
    try:
        with files.open_regular(path):
            return path.absolute()
    except OSError as error:
        raise SimulatorError(
            f"{path}: the script cannot be read: {explain_file_error(error)}"
        ) from None


def _folder(folder, description) -> Path | None:
    if folder is None:
        return None
    path = Path(folder)
    if not path.is_dir():
        raise SimulatorError(f"{path}: the folder of {description} does not exist")
    return path.absolute()


def _load_script(path, rate, aircraft, engines, notices, copies) -> Any:
    """Load a script in JSBSim, and apply its initial conditions.

    The script and the aircraft are read from copies in the folder ``copies``. JSBSim also writes
    unavoidable files there, for example its state if a script sets simulation/write-state-file.
    """
    fleet = aircraft or data_folder() / "aircraft"
    root, script = _read_without_outputs(path), copies / "script" / f"{path.stem}.xml"
    _write(root, script)
    for name in [use.get("aircraft", "") for use in root.iter("use")]:
        _copy_without_outputs(fleet / name, copies / "aircraft" / name)
    if engines is not None:
        _copy_without_outputs(engines, copies / "engine")
    try:
        simulator = jsbsim().FGFDMExec(str(data_folder()))
        simulator.set_debug_level(0)
        simulator.set_output_path(str(copies))
        simulator.set_aircraft_path(str(copies / "aircraft"))
        if engines is not None:
            simulator.set_engine_path(str(copies / "engine"))
        if not simulator.load_script(str(script)):
            raise SimulatorError("it is invalid")
        simulator.set_dt(1.0 / rate)
        if not simulator.run_ic():
            raise SimulatorError("its initial conditions are rejected")
    except (RuntimeError, OSError, FrameworkError) as error:
        reason = _one_line(error)
        if isinstance(error, FrameworkError) and notices.last_sentence():
            reason = f"{reason}: {notices.last_sentence()}"
        reason = reason.replace(str(script), str(path))
        reason = reason.replace(str(copies / "aircraft"), str(fleet))
        raise SimulatorError(f"{path}: JSBSim cannot run this script: {reason}") from None
    return simulator


def _one_line(error) -> str:
    return " ".join(str(error).split()).rstrip(".")
