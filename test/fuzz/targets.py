"""What is tried: the tools, and parts of them that need no figure and so cost little."""

import contextlib
import dataclasses
import gc
import importlib
import io
import json
import os
import socket
import sys
import threading
from pathlib import Path

import numpy as np
import specimens
import yaml
from PIL import Image
from verdict import Expected

import imu_simulation_framework as isf
from imu_simulation_framework.commands.check_recording import main as check_recording
from imu_simulation_framework.commands.isf import PROGRAMS
from imu_simulation_framework.core.programs import run_tool
from imu_simulation_framework.core.whole_files import write_whole
from imu_simulation_framework.drive.check import ensure_plausible
from imu_simulation_framework.drive.from_configuration import make_experiment_imu, make_terrain
from imu_simulation_framework.drive.in_process import drive_in_process
from imu_simulation_framework.drive.preparation import prepare_drive, prepare_recorded_imu
from imu_simulation_framework.drive.results.files import ResultFolder
from imu_simulation_framework.drive.robot import load_robot_parameters
from imu_simulation_framework.flight.gimbal.specification import gimbal_to_mapping
from imu_simulation_framework.sensors.correction import imu_correction_text, read_imu_correction

ROOT = Path(__file__).resolve().parents[2]
TOOLS = tuple(f"{name}.py" for name in sorted(PROGRAMS))
EXPERIMENT = "run_experiment.py"

LONGEST_DRIVE = 2.0 * specimens.DURATION
"""Seconds that are simulated in a trial; a harmed configuration may ask for the bundled drive."""


def check(arguments):
    """What check_recording.py does, without its files."""
    check_recording.__globals__["write_check"] = lambda *_: ()
    return check_recording(arguments)


def read(arguments):
    """Read a file as a reference and as an IMU, and nothing more."""
    path, kind = arguments
    recorded = (isf.read_reference if kind == "reference" else isf.read_imu)(path)
    for sentence in recorded.report.sentences():
        print(sentence)


def load(arguments):
    """Load a config.ini; what is written of it has to say the same."""
    # Of a relative path each reading would make a longer one.
    configuration = isf.load_configuration(os.path.abspath(arguments[0]))
    text = configuration.to_ini()
    Path("again.ini").write_text(text, encoding="utf-8")
    again = isf.load_configuration(os.path.abspath("again.ini"))
    if again.to_ini() != text:
        raise AssertionError("a configuration that was written and read is another one")
    make_experiment_imu(configuration)
    make_terrain(configuration)
    load_robot_parameters(configuration.robot.parameters or None)
    print("loaded")


def drive(arguments):
    """An experiment in one process, without ROS."""
    configuration = isf.load_configuration(arguments[0])
    prepared = prepare_drive(configuration, ensure_plausible(configuration).reference)
    prepare_recorded_imu(configuration, prepared.start, prepared.stop)
    if prepared.stop - prepared.start > LONGEST_DRIVE:
        print("too long for a trial")
        return
    record = drive_in_process(configuration, prepared)
    print(record.ground_truth.newest)


def robot(arguments):
    print(load_robot_parameters(arguments[0]).drivetrain.limits)


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
    print(len(isf.read_flight(arguments[0]).flight.states.motion()))


def gimbal(arguments):
    """Load a gimbal, write it and read that again, and let it move on a platform for a second."""
    found = isf.read_gimbal(arguments[0])
    if not isinstance(found.drive, isf.TabulatedJoints):
        Path("again.yaml").write_text(yaml.safe_dump(gimbal_to_mapping(found)))
        again = dataclasses.replace(isf.read_gimbal("again.yaml"), name=found.name)
        if again != found:
            raise AssertionError("a gimbal that was written and read is another one")
    print(len(isf.simulate_gimbal(isf.at_rest(1.0), found).motion))


def udp(arguments):
    """Receive a flight of packets.json: who sends what, and perhaps goes on with it for ever."""
    sent = json.loads(Path(arguments[0]).read_text())
    senders = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2)]
    with isf.flight.PacketReceiver() as receiver:

        def send(sender, packet):
            senders[sender].sendto(bytes.fromhex(packet), (receiver.host, receiver.port))

        for sender, packet in sent["packets"]:
            send(sender, packet)
        with _repeated(0.02, *(lambda given=given: send(*given) for given in sent["for_ever"])):
            flight = isf.flight.receive_flight(receiver, timeout=0.5)
    _tell_flight(flight)


@contextlib.contextmanager
def _repeated(period, *calls):
    """Call functions, each in a thread of its own, again and again."""
    ended = threading.Event()

    def go_on(call):
        while not ended.wait(period):
            call()

    for call in calls:
        threading.Thread(target=go_on, args=(call,), daemon=True).start()
    try:
        yield
    finally:
        ended.set()


def script(arguments):
    """Fly a script in JSBSim; nobody may knock at a port, nor wait at another."""
    kinds = {"TCP_PORT": socket.SOCK_STREAM, "UDP_PORT": socket.SOCK_DGRAM}
    kinds["FREE_PORT"] = socket.SOCK_STREAM
    sockets = {name: socket.socket(socket.AF_INET, kind) for name, kind in kinds.items()}
    for bound in sockets.values():
        bound.bind(("127.0.0.1", 0))
        bound.setblocking(False)
    ports = {name: bound.getsockname()[1] for name, bound in sockets.items()}
    sockets["TCP_PORT"].listen()
    sockets["FREE_PORT"].close()
    for path in Path().rglob("*.xml"):
        text = path.read_bytes()
        for name, port in ports.items():
            text = text.replace(name.encode(), b"%d" % port)
        path.write_bytes(text)
    answered = []

    def knock():
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", ports["FREE_PORT"])).close()
            answered.append(True)

    folders = {f"{name}_folder": name for name in ("aircraft", "engine") if Path(name).exists()}
    try:
        with _repeated(0.01, knock):
            _tell_flight(isf.fly(arguments[0], duration=2.0, **folders))
    finally:
        for hear in (sockets["TCP_PORT"].accept, lambda: sockets["UDP_PORT"].recv(1)):
            with contextlib.suppress(BlockingIOError):
                hear()
                raise AssertionError("a script connected itself to a socket")
        if answered:
            raise AssertionError("a script waits at a socket")


def _tell_flight(flight):
    time = flight.states.time
    print(f"{len(time)} states\nfrom {time[0]:.3f} to {time[-1]:.3f} s")
    for sentence in (*flight.remarks, *(words for _, words in flight.events)):
        print(sentence)
    if not np.isfinite(flight.states.position).all():
        raise AssertionError("a flight is not finite")


PARTS = {
    function.__name__: function
    for function in (check, read, load, drive, robot, correction, flight, gimbal, udp, script)
}


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
"""What a tool always leaves in the folder of ``--out``; others write the file of that name."""

_LEFT_BY_PARTS = {"load": ["again.ini"], "correction": ["again.yaml"]}


def with_results(trial) -> Expected:
    """How a trial is to end, with what its tool leaves behind and where it may write."""
    if trial.tool == EXPERIMENT:
        return trial.expected
    if trial.tool in PARTS:
        left = _LEFT_BY_PARTS.get(trial.tool, [])
        return dataclasses.replace(trial.expected, results=left, places=[*left, "again.yaml"])
    words = [word for argument in trial.arguments for word in argument.split("=", 1)]
    out = next((value for word, value in zip(words, words[1:]) if word == "--out"), None)
    # Whoever asks for help gets that and nothing else.
    names = [] if out is None or "--help" in words else _RESULTS.get(trial.tool, ("",))
    results = [f"{out}/{name}".rstrip("/") for name in names]
    places = [] if out is None else [os.path.normpath(out)]
    remarks = trial.tool == "convert_imu_parameters.py"
    return dataclasses.replace(trial.expected, results=results, places=places, remarks=remarks)


def _write_no_figure(folder, name, _, format="png"):
    """What a figure leaves behind, without the time that drawing takes."""
    dot = io.BytesIO()
    Image.new("1", (1, 1)).save(dot, format)
    write_whole(folder.path(f"{name}.{format}"), dot.getvalue())


def program(tool, arguments, figures=True):
    """A function that runs a tool, or a key of ``PARTS``, as if from the command line.

    Drawing ``figures`` takes most of the time.
    """
    main = PARTS[tool] if tool in PARTS else _main(tool)

    def run():
        sys.argv = [tool, *arguments]
        if not figures:
            ResultFolder.write_figure = _write_no_figure
        return run_tool(main)

    return run


def in_silence(run) -> int:
    """The exit code of a program of :func:`program` that runs in this process."""
    words = sys.argv
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            return run()
    finally:
        sys.argv = words


def command(tool, arguments):
    """The command of a tool, or of the whole experiment, as a process of its own."""
    if tool == EXPERIMENT:
        return [tool, *arguments]
    return [sys.executable, str(ROOT / "offline_processing" / tool), *arguments]


def _main(tool):
    return importlib.import_module(f"{isf.__name__}.commands.{Path(tool).stem}").main


def prepare():
    """Load everything once, before processes are forked."""
    os.environ.setdefault("MPLBACKEND", "Agg")
    for name in TOOLS:
        _main(name)
    # What is there already stays shared: the collector would copy it into each process.
    gc.collect()
    gc.freeze()
