"""A flight in JSBSim, stepped in this process: a script in, the states of the aircraft out."""

from __future__ import annotations

import difflib
import os
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from imu_simulation_framework.checked_values import checked_number
from imu_simulation_framework.errors import FrameworkError, SimulatorError
from imu_simulation_framework.files.reading import open_regular
from imu_simulation_framework.files.whole_files import reason_of
from imu_simulation_framework.flight_simulator.aircraft import FOOT, STATES, Watch
from imu_simulation_framework.flight_simulator.library import (
    Notices,
    bundled_scripts,
    data_folder,
    jsbsim,
    told,
)
from imu_simulation_framework.flight_simulator.quiet_files import quiet_folder, quiet_script
from imu_simulation_framework.motion.flight.flight import Flight
from imu_simulation_framework.motion.flight.states import FlightStates
from imu_simulation_framework.sentences import listed, shown

RATE = 50.0
"""Steps per second of the seed, and of c3104's own script [Hz]."""

_LOOKS = 20.0
"""How often engines and contacts are looked at [Hz]."""

_LONGEST = 24 * 3600.0
_FASTEST = 10_000.0
_FEWEST = 4
"""States of which a motion can be made."""


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
    at 1000 Hz is 342 m apart after 100 s. So it is fixed, and a part of the settings; a faster IMU
    is simulated of ``flight.states.motion(at=...)``, not of a faster flight.

    Parameters
    ----------
    script : str or path-like
        Name of one of JSBSim's own (:func:`.bundled_scripts`), or the path of a file.
    duration : float
        Of the states, counted from ``start`` [s].
    rate : float
        Steps and states per second [Hz].
    start : float
        Time of the first state that is kept, on the script's clock [s]: c3104 drops onto the runway
        first, and is at rest there after 3 s.
    aircraft_folder, engine_folder : path-like, optional
        Where aircraft and engines are that the script names; by default JSBSim's own.

    Returns
    -------
    Flight
        Times are those of the script's clock. What ended it early is a remark.

    Raises
    ------
    SimulatorError
        The script cannot be flown, or ends before there are enough states.
    ConfigurationError
        A number is out of range, or JSBSim is not installed.
    """
    duration = checked_number("a flight's duration", duration, above=0.0, maximum=_LONGEST)
    rate = checked_number("a flight's rate", rate, above=0.0, maximum=_FASTEST)
    start = checked_number("a flight's start", start, minimum=0.0, maximum=_LONGEST)
    path = _script_path(script)
    folders = {
        "aircraft": _folder(aircraft_folder, "aircraft"),
        "engine": _folder(engine_folder, "engines"),
    }
    notices = Notices()
    with told(notices), tempfile.TemporaryDirectory() as quiet:
        simulator = _loaded(path, rate, folders, notices, Path(quiet))
        flown = _Flown(simulator, path, rate, notices)
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
    settings.update(
        {f"{name}_folder": str(folder) for name, folder in folders.items() if folder is not None}
    )
    events = sorted(notices.events() + flown.events, key=lambda event: event[0])
    return Flight(states, settings, tuple(events), tuple(flown.remarks), flown.crashed)


class _Flown:
    """JSBSim while it flies."""

    def __init__(self, simulator, path, rate, notices):
        self._simulator = simulator
        self._path = path
        self._rate = rate
        self._notices = notices
        manager = simulator.get_property_manager()
        self._read = [manager.get_node(name).get_double_value for name in STATES]
        self._watch = Watch(simulator)
        self._every = max(1, round(rate / _LOOKS))
        self._step = 0
        self._first = 0
        self._rows: list[list[float]] = []
        self.ended = False
        self.crashed = False
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

        Raises
        ------
        SimulatorError
            It is too little for a motion.
        """
        rows = np.array(self._rows)
        if len(rows):
            rows = rows[: int(np.argmin(np.append(np.isfinite(rows).all(axis=1), False)))]
        if len(rows) < _FEWEST:
            reason = self.remarks[0] if self.remarks else f"there are only {len(rows)} states of it"
            raise SimulatorError(f"{self._path}: no flight can be made of it: {reason}")
        states = FlightStates.of_ecef_and_aviation(
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
            self._look()

    def _look(self):
        time = self._step / self._rate
        happened = self._watch.engines()
        self.events += [(time, what) for what in happened]
        self.remarks += [f"{what} at {time:.2f} s" for what in happened if what.endswith("stops")]
        crash = "" if self.ended else self._watch.crash()
        if crash:
            self._end(f"the aircraft has crashed: {crash}")
            self.crashed = True

    def _end(self, reason):
        self.ended = True
        time = self._simulator.get_sim_time()
        self.remarks.append(f"the flight ends at {time:.2f} s: {reason}")
        self.events.append((round(time, 6), reason))


def _script_path(script) -> Path:
    """Return the file of a script that is named or given by its path.

    Raises
    ------
    SimulatorError
        There is none, or it cannot be read.
    """
    name = os.fspath(script)
    names = bundled_scripts()
    if name in names:
        return data_folder() / "scripts" / f"{name}.xml"
    path = Path(name)
    if not path.exists() and path.suffix == "" and len(path.parts) == 1:
        near = difflib.get_close_matches(name, names, n=3)
        raise SimulatorError(
            f"JSBSim has no script {shown(name)}"
            + (f", did you mean {' or '.join(near)}?" if near else f"; it has {listed(names)}")
            + "; another one is given by the path of its file"
        )
    try:
        with open_regular(path):
            return path.absolute()
    except OSError as error:
        raise SimulatorError(f"{path}: the script cannot be read: {reason_of(error)}") from None


def _folder(folder, what) -> Path | None:
    if folder is None:
        return None
    path = Path(folder)
    if not path.is_dir():
        raise SimulatorError(f"{path}: there is no such folder of {what}")
    return path.absolute()


def _loaded(path, rate, folders, notices, quiet) -> Any:
    """Return JSBSim with a script at its initial conditions.

    Script and aircraft are read from copies in the folder ``quiet``, into which JSBSim also writes
    what it cannot be kept from, such as its state when a script sets simulation/write-state-file.

    Raises
    ------
    SimulatorError
        It does not accept the script.
    """
    fleet = folders["aircraft"] or data_folder() / "aircraft"
    script, names = quiet_script(path, quiet)
    for name in names:
        quiet_folder(fleet / name, quiet / "aircraft" / name)
    if folders["engine"] is not None:
        quiet_folder(folders["engine"], quiet / "engine")
    try:
        simulator = jsbsim().FGFDMExec(str(data_folder()))
        simulator.set_debug_level(0)
        simulator.set_output_path(str(quiet))
        simulator.set_aircraft_path(str(quiet / "aircraft"))
        if folders["engine"] is not None:
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
