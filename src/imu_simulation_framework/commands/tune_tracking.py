"""Tune controller gains in MuJoCo so that a robot follows a drive more accurately.

The command line is defined in :mod:`.parsers.tune_tracking`.
"""

from __future__ import annotations

import math
import os
from copy import deepcopy
from typing import Any, Callable, Mapping

import numpy as np
import pandas as pd
from scipy.optimize import minimize

from ..core.errors import ConfigurationError, SimulatorError
from ..core.progress import progress_bar
from ..core.sentences import join_names
from ..core.tables import WHEELS
from ..core.whole_files import make_folder
from ..drive.prepared_drive import prepare_drive
from ..drive.recorded_drive.setup import RecordingSetup, set_up_named
from ..drive.tracking.controllers import CONTROLLERS
from ..report import table as table_text
from ..report.table import Column
from . import recording_options
from .command_line import write_file
from .parsers.tune_tracking import GAINS

assert set(GAINS) == set(CONTROLLERS) - {"open_loop"}
_SHORTEST = 5.0  # s, shortest part of the drive for tuning
_FIRST_FACTOR, _MAX_FACTOR = 2.0, 16.0  # initial and largest factor by which a gain is changed
_FAILURE_COST = 1e3  # cost of gains with which a drive fails, relative to the smallest so far


class Tracking:
    """Simulation of the first part of a drive with different gains.

    Parameters
    ----------
    setup : RecordingSetup
        Settings of the drive.
    seconds : float
        Duration of the first part [s].
    """

    def __init__(self, setup: RecordingSetup, seconds: float) -> None:
        from ..drive import in_process  # imported here, since it requires MuJoCo

        self._setup = deepcopy(setup)
        begin = setup.load().trajectory.start or 0.0
        self._setup.set("trajectory", start=begin, stop=begin + seconds)
        self._setup.set("imu_recording", use=False)
        self._setup.set("imu", model="ideal")
        self._run = in_process.run_prepared
        self._prepared = in_process.prepared(self._setup.load())

    def follow(self, gains: Mapping[str, float], start: float = 0.0) -> dict[str, float]:
        """Simulate the drive with the given gains and return the :func:`tracking_rms`.

        Parameters
        ----------
        gains : mapping of str to float
            Gains by their keys in [control].
        start : float, optional
            Start of the interval in which errors are evaluated [s].

        Returns
        -------
        dict of str to float
            ``distance`` [m], ``yaw`` [rad] and ``effort`` [rad/s^2].

        Raises
        ------
        SimulatorError
            The robot cannot be driven with these gains.
        ConfigurationError
            The gains are invalid.
        """
        self._setup.set("control", **gains)
        return tracking_rms(self._run(self._setup.load(), self._prepared), start)


def tracking_rms(tables: Any, start: float = 0.0) -> dict[str, float]:
    """Compute the rms of distance error, yaw error and wheel acceleration.

    Parameters
    ----------
    tables : ExperimentTables
        Tables of an experiment.
    start : float, optional
        Start of the interval in which errors are evaluated [s].

    Returns
    -------
    dict of str to float
        ``distance`` [m], ``yaw`` [rad], and ``effort``, the wheel acceleration [rad/s^2].
    """
    error, wheels = (
        table[table.index >= start] for table in (tables.control_error, tables.wheel_velocities)
    )
    changes = (
        np.diff(wheels[list(WHEELS)].to_numpy(), axis=0) / np.diff(wheels.index)[:, np.newaxis]
    )
    values = (error["distance_error"], error["yaw_error"], changes)
    names = ("distance", "yaw", "effort")
    return {name: math.sqrt(np.mean(np.square(v))) for name, v in zip(names, values)}


def tune(
    tracking: Any,
    first: Mapping[str, float],
    cost: Callable[[Mapping[str, float]], float],
    effort: float,
    tries: int,
    report_trial: Callable[[], object] = lambda: None,
) -> Mapping[str, float]:
    """Find the gains with the smallest cost.

    Parameters
    ----------
    tracking : Tracking
        Simulation of the drive.
    first : mapping of str to float
        Initial gains by name; gains of zero remain zero.
    cost : callable
        Function that converts a result of :meth:`Tracking.follow` to its cost.
    effort : float
        Largest ratio of the effort to the effort with the initial gains.
    tries : int
        Largest number of simulated drives.
    report_trial : callable, optional
        Function that is called after each simulated drive.

    Returns
    -------
    mapping of str to float
        Best gains by name.
    """
    names = [name for name, value in first.items() if value > 0.0]
    initial = tracking.follow(first)
    best = (cost(initial), first)

    def cost_of(exponents):
        nonlocal best
        factors = np.clip(np.exp2(exponents), 1.0 / _MAX_FACTOR, _MAX_FACTOR)
        gains = {**first, **{name: float(first[name] * f) for name, f in zip(names, factors)}}
        try:
            driven = tracking.follow(gains)
        except (SimulatorError, ConfigurationError):
            return _FAILURE_COST * best[0]
        finally:
            report_trial()
        value = float(cost(driven))
        excess = driven["effort"] / (effort * initial["effort"])
        if excess > 1.0:
            return value * (1.0 + 10.0 * (excess - 1.0)) + best[0]
        if value < best[0]:
            best = (value, gains)
        return value

    size = len(names)
    corners = np.vstack([np.zeros(size), math.log2(_FIRST_FACTOR) * np.eye(size)])
    options: dict[str, Any] = {"maxfev": tries - 1, "initial_simplex": corners}
    options.update(xatol=0.05, fatol=1e-3 * best[0])
    minimize(cost_of, np.zeros(size), method="Nelder-Mead", options=options)
    return best[1]


_COLUMNS = (
    Column("gains", "gains"),
    Column("distance", "rms distance error", "m", 4),
    Column("yaw", "rms yaw error", "deg", 3),
    Column("effort", "rms wheel acceleration", "rad/s^2", 2),
)


def run(options):
    """Tune the controller specified on the command line.

    Parameters
    ----------
    options : argparse.Namespace
        Options of the command line.
    """
    setup = set_up_named(options.drive, config=options.config)
    for section, values in recording_options.parse_settings(options.setting).items():
        setup.set(section, **values)
    if options.robot:
        setup.set("robot", parameters=os.path.abspath(options.robot))
    if options.controller:
        setup.set("control", controller=options.controller)
    control = setup.load().control
    if control.controller not in GAINS:
        raise ConfigurationError(
            f"{control.controller} has no gains; choose --controller from {join_names(GAINS)}"
        )
    first = {name: getattr(control, name) for name in GAINS[control.controller]}
    if not any(first.values()):
        raise ConfigurationError(
            f"[control] {join_names(first)} are 0, expected at least one initial gain above 0"
        )
    complete_duration = prepare_drive(setup.load()).trajectory.index[-1]
    seconds = min(options.seconds, 0.5 * float(complete_duration))
    if seconds < _SHORTEST:
        raise ConfigurationError(
            f"{options.drive}: the drive lasts {complete_duration:.1f} s and --seconds is "
            f"{options.seconds:g}, expected two parts of at least {_SHORTEST:g} s, one for tuning "
            "and one for testing"
        )
    out = make_folder(options.out)

    def cost(driven):
        if control.controller == "yaw_pid":
            return driven["yaw"]
        return math.hypot(driven["distance"], options.yaw_weight * driven["yaw"])

    with progress_bar(desc="tuning", total=options.tries, unit=" drives", leave=False) as progress:
        gains = tune(
            Tracking(setup, seconds), first, cost, options.effort, options.tries, progress.update
        )
    both, rows = Tracking(setup, 2.0 * seconds), []
    for when, values in (("before", first), ("after", gains)):
        driven = both.follow(values, start=seconds)
        rows.append({"gains": when, **driven, "yaw": math.degrees(driven["yaw"])})
    print(f"{control.controller}, tuned on the first {seconds:g} s; in the next {seconds:g} s:")
    print(table_text.format_table(pd.DataFrame(rows), _COLUMNS), end="")
    print()
    changed_gains = {name: f"{gains[name]:.4g}" for name in gains}
    print(
        "\n".join(f"{name} = {value}  # {first[name]:g}" for name, value in changed_gains.items())
    )
    if rows[1]["effort"] > options.effort * rows[0]["effort"]:
        print(
            f"note: in the next {seconds:g} s, the effort exceeds {options.effort:g} times the "
            "effort with the initial gains"
        )
    setup.set("control", **changed_gains)
    path = out / "config.ini"
    write_file(path, setup.load().to_ini().encode("utf-8"))
