"""Speed and memory of a simulated robot with an IMU, relative to MuJoCo alone.

The benchmark simulates eleven laps of drive A with MuJoCo alone, with the experiment without ROS,
with ROS nodes in lock-step, without and with a bag of all topics, and with ROS 2 nodes. It repeats
the sequence ``--repeats`` times, by default five times. Ratios are relative to MuJoCo in the same
repetition.
"""

import json
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import mujoco
import numpy as np
import psutil
from _timing import Measurements, duration_of

from imu_simulation_framework.core.files import default_configuration_path, package_share
from imu_simulation_framework.drive.configuration import load_configuration
from imu_simulation_framework.drive.in_process import drive_in_process
from imu_simulation_framework.drive.mujoco import build_model
from imu_simulation_framework.drive.prepared_drive import prepare_drive
from imu_simulation_framework.drive.turning import load_robot_parameters

PHYSICS_RATE, SAMPLE_RATE = 1000, 100
COMMAND = (8.0, 10.0)  # wheel speeds [rad/s]
MEMORY_PERIOD = 0.25  # [s]


def make_mujoco_run(samples):
    """Return a function that steps the robot in MuJoCo for a number of samples."""
    model = build_model(load_robot_parameters(), PHYSICS_RATE)
    data = mujoco.MjData(model)
    data.ctrl[:] = COMMAND

    def run():
        for _ in range(samples):
            mujoco.mj_step(model, data, PHYSICS_RATE // SAMPLE_RATE)

    return run


class PeakMemory(threading.Thread):
    """Thread that records the peak memory (proportional set size) of a process tree [MB]."""

    def __init__(self, process):
        super().__init__(daemon=True)
        self._process = psutil.Process(process.pid)
        self.peak = 0.0
        self.cpu = {}

    def run(self):
        while self._process.is_running() and self._process.status() != psutil.STATUS_ZOMBIE:
            total = 0.0
            try:
                for member in [self._process, *self._process.children(recursive=True)]:
                    total += member.memory_full_info().pss / 1e6
                    times = member.cpu_times()
                    self.cpu[member.pid] = times.user + times.system
            except psutil.Error:
                continue
            self.peak = max(self.peak, total)
            time.sleep(MEMORY_PERIOD)


def run_nodes(folder, use_ros2=False, **arguments):
    """Run the experiment with ROS nodes; return its summary, peak memory [MB] and CPU time [s]."""
    name = "run_experiment.py"
    program = [sys.executable, shutil.which(name) or str(package_share() / "scripts" / name)]
    if use_ros2:
        program = [str(package_share() / "run"), "ros2", name]
    experiment = subprocess.Popen(
        [*program, "drive:=a", f"output:={folder}", *(f"{a}:={v}" for a, v in arguments.items())],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    memory = PeakMemory(experiment)
    memory.start()
    output, _ = experiment.communicate()
    memory.join()
    if experiment.returncode != 0:
        sys.exit(f"the experiment failed:\n{output}")
    (summary,) = Path(folder).glob("**/*_summary.json")
    return json.loads(summary.read_text()), memory.peak, sum(memory.cpu.values())


VARIANTS = {
    "ROS nodes": {},
    "ROS nodes, record:=true": {"record": "true"},
    "ROS 2 nodes": {"use_ros2": True},
}
BOUNDS = {"without ROS": 1.4, "ROS nodes": 3.0, "ROS nodes, record:=true": 5.0}
MAX_MEMORY = 400.0  # MB


def measure_turn(configuration, drive, turn):
    """Run all variants once; store real-time factor, peak memory and CPU time in ``turn``."""
    duration = float(drive.trajectory.index[-1])
    run_mujoco = make_mujoco_run(int(duration * SAMPLE_RATE))
    first_duration = duration_of(run_mujoco, time.perf_counter)
    one_process = duration_of(lambda: drive_in_process(configuration, drive), time.perf_counter)
    last_duration = duration_of(run_mujoco, time.perf_counter)
    turn["MuJoCo alone"] = duration / np.mean([first_duration, last_duration]), 0.0, 0.0
    turn["without ROS"] = duration / one_process, 0.0, 0.0
    for name, options in VARIANTS.items():
        with tempfile.TemporaryDirectory() as folder:
            summary, peak, cpu = run_nodes(folder, **options)
        turn[name] = summary["execution"]["real_time_factor"], peak, cpu
        for topic in ("imu_simulated", "ground_truth"):
            counts = summary["messages"][topic]
            if counts["received"] != counts["expected"]:
                received = f"{counts['received']} of {counts['expected']}"
                print(f"{name}: {topic}: {received} messages received", flush=True)


def main():
    measurements = Measurements(__doc__)
    options = measurements.parse()
    configuration = load_configuration(default_configuration_path())
    drive = prepare_drive(configuration)
    turns: list[dict] = [{} for _ in range(options.repeats)]
    for turn in turns:
        measure_turn(configuration, drive, turn)
    reference = np.array([turn["MuJoCo alone"][0] for turn in turns])
    measurements.add("experiment, MuJoCo alone", reference, "times real time")
    for name in turns[0]:
        if name == "MuJoCo alone":
            continue
        factors, peaks, seconds = np.array([turn[name] for turn in turns]).T
        title = f"experiment, {name}"
        measurements.add(f"{title}, of MuJoCo alone", reference / factors, bound=BOUNDS.get(name))
        if peaks.any():
            measurements.add(f"{title}, peak memory", peaks, "MB", MAX_MEMORY)
            measurements.add(f"{title}, processor time", seconds, "s CPU")
    measurements.save()


if __name__ == "__main__":
    main()
