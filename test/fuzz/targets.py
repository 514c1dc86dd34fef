"""What is tried: the tools, and parts of them that need no figure and so cost little."""

from __future__ import annotations

import dataclasses
import gc
import importlib.util
import os
import sys
from pathlib import Path

import numpy as np
import specimens

from imu_simulation_framework.configuration.gimbal_file import read_gimbal, save_gimbal
from imu_simulation_framework.configuration.imu_correction_file import (
    imu_correction_text,
    read_imu_correction,
)
from imu_simulation_framework.configuration.load import load_configuration
from imu_simulation_framework.experiment.from_configuration import make_experiment_imu, make_terrain
from imu_simulation_framework.experiment.in_process import drive_in_process
from imu_simulation_framework.experiment.preparation.check import check_experiment, ensure_plausible
from imu_simulation_framework.experiment.preparation.check_report import report_lines
from imu_simulation_framework.experiment.preparation.drive import (
    prepare_drive,
    prepare_recorded_imu,
)
from imu_simulation_framework.experiment.preparation.setup import set_up
from imu_simulation_framework.files.locations import package_share
from imu_simulation_framework.gimbal.profiles import TabulatedJoints
from imu_simulation_framework.gimbal.simulation import simulate_gimbal
from imu_simulation_framework.motion.sources import at_rest
from imu_simulation_framework.recordings import read_imu, read_reference
from imu_simulation_framework.recordings.flight.reading import read_flight
from imu_simulation_framework.results.folder import ResultFolder
from imu_simulation_framework.robot.parameters import load_robot_parameters
from imu_simulation_framework.tools.command_line import run_tool

ROOT = Path(__file__).resolve().parents[2]
TOOLS = tuple(sorted(path.name for path in (ROOT / "offline_processing").glob("*.py")))
EXPERIMENT = "run_experiment.py"

LONGEST_DRIVE = 2.0 * specimens.DURATION
"""Seconds that are simulated in a trial; a harmed configuration may ask for the bundled drive."""


def check(arguments):
    """What check_recording.py says, without its figure."""
    reference, imu = [*arguments, ""][:2]
    setup = set_up(package_share() / "config.ini", reference, imu)
    found = check_experiment(setup.load())
    for line in report_lines(setup, found):
        print(line)
    if found.problems:
        print(f"check: {found.problems[0]}", file=sys.stderr)
        return 2
    return 0


def read(arguments):
    """Read a file as a reference and as an IMU, and nothing more."""
    path, kind = arguments
    recorded = (read_reference if kind == "reference" else read_imu)(path)
    for sentence in recorded.report.sentences():
        print(sentence)


def load(arguments):
    """Load a config.ini; what is written of it has to say the same."""
    # Of a relative path each reading would make a longer one.
    configuration = load_configuration(os.path.abspath(arguments[0]))
    text = configuration.to_ini()
    Path("again.ini").write_text(text, encoding="utf-8")
    again = load_configuration(os.path.abspath("again.ini"))
    if again.to_ini() != text:
        raise AssertionError("a configuration that was written and read is another one")
    make_experiment_imu(configuration)
    make_terrain(configuration)
    load_robot_parameters(configuration.robot.parameters or None)
    print("loaded")


def drive(arguments):
    """An experiment in one process, without ROS."""
    configuration = load_configuration(arguments[0])
    checked = ensure_plausible(configuration)
    prepared = prepare_drive(configuration, checked.reference)
    prepare_recorded_imu(configuration, prepared.start, prepared.stop)
    if prepared.stop - prepared.start > LONGEST_DRIVE:
        print("too long for a trial")
        return
    record = drive_in_process(configuration, prepared)
    print(record.ground_truth.newest)


def robot(arguments):
    """Load a robot's parameters."""
    print(load_robot_parameters(arguments[0]).limits)


def correction(arguments):
    """Load a correction, write it and read that again, and correct readings at all temperatures."""
    found = read_imu_correction(arguments[0])
    Path("again.yaml").write_text(imu_correction_text(found, "again"), encoding="utf-8")
    if read_imu_correction("again.yaml") != found:
        raise AssertionError("a correction that was written and read is another one")
    temperatures = np.linspace(-300.0, 1000.0, 27)
    for part in (found.gyroscope, found.accelerometer, found.magnetometer):
        corrected = part.apply(np.ones((len(temperatures), 3)), temperatures)
        if not (np.isfinite(corrected).all() and np.isfinite(part.covariance(np.eye(3))).all()):
            raise AssertionError("a correction makes numbers that are not finite")
    print(found.name)


def flight(arguments):
    """Read a flight and lead a motion through it."""
    print(len(read_flight(arguments[0]).flight.states.motion()))


def gimbal(arguments):
    """Load a gimbal, write it and read that again, and let it move on a platform for a second."""
    found = read_gimbal(arguments[0])
    if not isinstance(found.drive, TabulatedJoints):
        save_gimbal(found, "again.yaml")
        again = dataclasses.replace(read_gimbal("again.yaml"), name=found.name)
        if again != found:
            raise AssertionError("a gimbal that was written and read is another one")
    print(len(simulate_gimbal(at_rest(1.0), found).motion))


PARTS = {
    function.__name__: function
    for function in (check, read, load, drive, robot, correction, flight, gimbal)
}


def _write_no_figure(folder, name, _, format="png"):
    """What a figure leaves behind, without the time that drawing takes."""
    return folder.write_text(f"{name}.{format}", "no figure")


def program(tool, arguments, figures=True):
    """A function that runs a tool, or a part of one, as if from the command line.

    Parameters
    ----------
    tool : str
        A file of offline_processing, or a key of ``PARTS``.
    arguments : list of str
    figures : bool
        Whether figures are drawn, which takes most of the time.
    """
    main = PARTS[tool] if tool in PARTS else _tool(tool).main

    def run():
        sys.argv = [tool, *arguments]
        if not figures:
            ResultFolder.write_figure = _write_no_figure
        return run_tool(main)

    return run


def command(tool, arguments):
    """The command of a tool, or of the whole experiment, as a process of its own."""
    if tool == EXPERIMENT:
        return [tool, *arguments]
    return [sys.executable, str(ROOT / "offline_processing" / tool), *arguments]


def _tool(name):
    if name not in _loaded:
        path = ROOT / "offline_processing" / name
        spec = importlib.util.spec_from_file_location(path.stem, path)
        _loaded[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(_loaded[name])
    return _loaded[name]


_loaded = {}


def prepare():
    """Load everything once, before processes are forked."""
    os.environ.setdefault("MPLBACKEND", "Agg")
    for name in TOOLS:
        _tool(name)
    # What is there already stays shared: the collector would copy it into each process.
    gc.collect()
    gc.freeze()
