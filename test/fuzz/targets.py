"""Programs under test, and parts of programs that run faster because they draw no figures."""

import contextlib
import dataclasses
import functools
import importlib
import io
import json
import os
import socket
import sys
from datetime import datetime
from pathlib import Path

import numpy as np
import sample_files
import yaml
from left_files import Extent, incomplete_tables
from PIL import Image
from program_result import Expected

import imu_simulation_framework as isf
from imu_simulation_framework.commands import check_recording
from imu_simulation_framework.commands.isf import PROGRAMS
from imu_simulation_framework.commands.start import run_program
from imu_simulation_framework.core.programs import run_tool
from imu_simulation_framework.drive import report
from imu_simulation_framework.drive.experiment.environment import make_terrain
from imu_simulation_framework.drive.experiment.imu import make_experiment_imu
from imu_simulation_framework.drive.experiment.robot import experiment_robot
from imu_simulation_framework.drive.in_process import drive_in_process
from imu_simulation_framework.drive.prepared_drive import prepare_drive
from imu_simulation_framework.drive.recorded_drive.check import ensure_plausible
from imu_simulation_framework.drive.recorded_drive.imu import prepare_recorded_imu
from imu_simulation_framework.drive.results.files import (
    create_result_folder,
    write_recorded_tables,
)
from imu_simulation_framework.drive.turning import load_robot_parameters
from imu_simulation_framework.flight.gimbal.specification import gimbal_to_mapping
from imu_simulation_framework.sensors.correction import imu_correction_text, read_imu_correction

ROOT = Path(__file__).resolve().parents[2]
TOOLS = tuple(f"{name}.py" for name in sorted(PROGRAMS))
EXPERIMENT = "run_experiment.py"

# Maximum duration of a drive [s]; a damaged configuration may select the long bundled drive.
MAX_DRIVE_DURATION = 2.0 * sample_files.DURATION


def check(arguments):
    """Run check_recording.py without writing the output files."""
    check_recording.write_check = lambda folder, *_: [Path(folder) / "config.ini"]
    return run_program("check_recording", arguments)


def read(arguments):
    """Read a file as a reference or as an IMU."""
    path, kind = arguments
    recorded = (isf.read_reference if kind == "reference" else isf.read_imu)(path)
    for sentence in recorded.report.sentences():
        print(sentence)


def load(arguments):
    """Load a config.ini, write it, load it again and compare."""
    # With a relative path, each load would add the folder to the paths in the file.
    configuration = isf.load_configuration(os.path.abspath(arguments[0]))
    text = configuration.to_ini()
    Path("again.ini").write_text(text, encoding="utf-8")
    again = isf.load_configuration(os.path.abspath("again.ini"))
    if again.to_ini() != text:
        raise AssertionError(
            "again.ini: configuration differs after writing and reading, expected no difference"
        )
    make_experiment_imu(configuration)
    make_terrain(configuration)
    experiment_robot(configuration)
    print("loaded")


def drive(arguments):
    """Run an experiment without ROS and write the recorded tables."""
    configuration = isf.load_configuration(arguments[0])
    prepared = prepare_drive(configuration, ensure_plausible(configuration).reference)
    prepare_recorded_imu(configuration, prepared.start, prepared.stop)
    if prepared.stop - prepared.start > MAX_DRIVE_DURATION:
        print("not run, because the drive is too long")
        return
    record = drive_in_process(configuration, prepared)
    end = record.ground_truth.newest
    folder = create_result_folder("results", "drive", "imu", datetime(2019, 5, 16))
    for name, table in write_recorded_tables(folder, record, 0, end).items():
        violations = incomplete_tables(".", {folder.path(f"{name}.csv"): Extent(len(table))})
        if violations:
            raise AssertionError(violations[0])
    print(end)


def robot(arguments):
    print(load_robot_parameters(arguments[0]).drivetrain.limits)


def correction(arguments):
    """Load a correction, compare it with a written copy, and apply it at many temperatures."""
    loaded = read_imu_correction(arguments[0])
    Path("again.yaml").write_text(imu_correction_text(loaded, "again"), encoding="utf-8")
    if read_imu_correction("again.yaml") != loaded:
        raise AssertionError(
            "again.yaml: correction differs after writing and reading, expected no difference"
        )
    temperatures = np.linspace(-300.0, 1000.0, 27)
    for part in (loaded.gyroscope, loaded.accelerometer, loaded.magnetometer):
        corrected = part.apply(np.ones((len(temperatures), 3)), temperatures)
        if not (np.isfinite(corrected).all() and np.isfinite(part.covariance(np.eye(3))).all()):
            raise AssertionError("corrected values are not finite, expected finite numbers")
    print(loaded.name)


def flight(arguments):
    print(len(isf.read_flight(arguments[0]).flight.states.motion()))


def gimbal(arguments):
    """Load a gimbal, compare it with a written copy, and simulate it for one second."""
    loaded = isf.read_gimbal(arguments[0])
    if not isinstance(loaded.drive, isf.TabulatedJoints):
        Path("again.yaml").write_text(yaml.safe_dump(gimbal_to_mapping(loaded)))
        again = dataclasses.replace(isf.read_gimbal("again.yaml"), name=loaded.name)
        if again != loaded:
            raise AssertionError(
                "again.yaml: gimbal differs after writing and reading, expected no difference"
            )
    print(len(isf.simulate_gimbal(isf.at_rest(1.0), loaded).motion))


def udp(arguments):
    """Send the packets of a JSON list by UDP, and receive them as a flight."""
    packets = json.loads(Path(arguments[0]).read_text())
    with isf.flight.PacketReceiver() as receiver, socket.socket(
        socket.AF_INET, socket.SOCK_DGRAM
    ) as sender:
        for packet in packets:
            sender.sendto(bytes.fromhex(packet), (receiver.host, receiver.port))
        _print_flight(isf.flight.receive_flight(receiver, timeout=0.5))


def script(arguments):
    """Run a JSBSim script with an aircraft from the working directory."""
    _print_flight(isf.fly(arguments[0], duration=2.0, aircraft_folder="aircraft"))


def _print_flight(flight):
    time = flight.states.time
    print(f"{len(time)} states\nfrom {time[0]:.3f} to {time[-1]:.3f} s")
    for sentence in (*flight.remarks, *(words for _, words in flight.events)):
        print(sentence)
    if not np.isfinite(flight.states.position).all():
        raise AssertionError("flight states are not finite, expected finite numbers")


PARTS = {
    function.__name__: function
    for function in (check, read, load, drive, robot, correction, flight, gimbal, udp, script)
}


# Output files in the folder ``--out``; programs that are not listed write the file ``--out``.
_RESULTS = {
    "allan_analysis.py": ("allan_deviation.csv", "allan_parameters.json", "*.png"),
    "calibrate_imu.py": ("calibration.json", "calibration.png", "correction.yaml"),
    "check_recording.py": ("config.ini", "recording.png"),
    "compare_yaw.py": ("compare_yaw.csv", "compare_yaw.png"),
    "export_tum.py": ("*.tum",),
    "generate_drive.py": ("*_imu.csv.gz",),
    "heading_budget.py": ("bands.csv", "budget.csv", "heading_budget.png"),
    "monte_carlo.py": ("chunks/*.chunk", "curves.npz", "ensemble.png", "ensemble.txt", "job.json")
    + ("runs.csv.gz", "spectrum.csv", "summary.csv"),
    "offline_result_comparison.py": ("*_summary.json", "*_yaw_error.png"),
    "plot_multiple_errors.py": ("yaw_errors.csv", "yaw_errors.png", "yaw_errors_psd.png"),
    "simulate_flight.py": ("body.csv", "fixes.csv", "flight.bag", "gimbal.csv", "imu.csv")
    + ("figure_[5678]*.png", "imu_truth.csv", "increments.csv", "report.html", "summary.json"),
}

_RESULTS_OF_PARTS = {"load": ["again.ini"], "correction": ["again.yaml"]}


def with_results(case) -> Expected:
    """Return the required outcome of a case, including the output files of its program."""
    if case.tool == EXPERIMENT:
        return case.expected
    if case.tool in PARTS:
        results = _RESULTS_OF_PARTS.get(case.tool, [])
        return dataclasses.replace(
            case.expected, results=results, places=[*results, "again.yaml", "results"]
        )
    words = [word for argument in case.arguments for word in argument.split("=", 1)]
    out = next((value for word, value in zip(words, words[1:]) if word == "--out"), None)
    names = [] if out is None or "--help" in words else _RESULTS.get(case.tool, ("",))
    return dataclasses.replace(
        case.expected,
        results=[f"{out}/{name}".rstrip("/") for name in names],
        places=[] if out is None else [os.path.normpath(out)],
        has_remarks=case.tool == "convert_imu_parameters.py",
    )


def _write_pixels(folder, comparison, formats, *_):
    """Write an image of one pixel instead of each figure."""
    pixel = io.BytesIO()
    for format in formats:
        Image.new("1", (1, 1)).save(pixel, format)
        for name in report.FIGURES:
            folder.write_bytes(f"{name}.{format}", pixel.getvalue())
    return []


def program(tool, arguments, figures=True):
    """Return a function that runs a program or a key of ``PARTS`` with command-line arguments.

    Parameters
    ----------
    tool : str
        Name of the program, or key of ``PARTS``.
    arguments : sequence of str
        Command-line arguments.
    figures : bool, optional
        Whether to draw figures, which takes most of the time.
    """
    main = PARTS[tool] if tool in PARTS else _main(tool)

    def run():
        sys.argv = [tool, *arguments]
        if not figures:
            report._write_figures = _write_pixels
            report.second_renderer = contextlib.nullcontext
        return run_tool(main)

    return run


def run_silently(run) -> int:
    """Run a function of :func:`program` without output; return its exit code."""
    words = sys.argv
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            return run()
    finally:
        sys.argv = words


def command(tool, arguments):
    """Return the command that starts a program or an experiment as a process."""
    if tool == EXPERIMENT:
        return [tool, *arguments]
    return [sys.executable, str(ROOT / "offline_processing" / tool), *arguments]


def _main(tool):
    return functools.partial(run_program, Path(tool).stem)


def prepare():
    """Import all programs before processes are forked."""
    os.environ.setdefault("MPLBACKEND", "Agg")
    for name in PROGRAMS:
        for package in ("commands.parsers", "commands"):
            importlib.import_module(f"{isf.__name__}.{package}.{name}")
