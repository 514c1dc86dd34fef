"""How fast, and how large in memory, a simulated robot with its IMU is, beside MuJoCo alone.

First the simulator and the IMU models by themselves, in turns in one process; a batch beside the
drawing of a normal number for each sample. Then drive A eleven times: MuJoCo stepping alone, the
experiment without ROS, and the experiment as ROS nodes in lock-step, each without and with a bag of
every topic: a process for each node, or one for those that wait for each other; and as nodes of
ROS 2. Absolute figures depend on the machine, the ratios less.
"""

import json
import os
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
from _timing import beside, draw_numbers, in_turns, seconds

from imu_simulation_framework.core.files import default_configuration_path, package_share
from imu_simulation_framework.drive.configuration import load_configuration
from imu_simulation_framework.drive.in_process import drive_in_process
from imu_simulation_framework.drive.mujoco import MujocoSimulator, build_model
from imu_simulation_framework.drive.preparation import prepare_drive
from imu_simulation_framework.drive.robot import load_robot_parameters
from imu_simulation_framework.sensors.imu_models.base import ImuTruth
from imu_simulation_framework.sensors.imu_models.plugins import PRESETS, make_imu_model

PHYSICS_RATE, SAMPLE_RATE = 1000, 100
COMMAND = (8.0, 10.0)
SAMPLES, ROUNDS = 100, 60
MEMORY_PERIOD = 0.25


def mujoco_alone(samples):
    """Return a function that lets MuJoCo step the robot."""
    model = build_model(load_robot_parameters(), PHYSICS_RATE)
    data = mujoco.MjData(model)
    data.ctrl[:] = COMMAND

    def run():
        for _ in range(samples):
            mujoco.mj_step(model, data, PHYSICS_RATE // SAMPLE_RATE)

    return run


def simulator_with(preset=None):
    """Return a function that lets the simulator step, with an IMU or without."""
    simulator = MujocoSimulator(load_robot_parameters(), PHYSICS_RATE, SAMPLE_RATE)
    simulator.command(*COMMAND)
    imu = make_imu_model(preset, {}, simulator.sample_period, 1) if preset else None

    def run():
        for _ in range(SAMPLES):
            state = simulator.step()
            if imu is not None:
                imu.step(state.imu_truth)

    return run


def simulators(runs=10, samples=60_000):
    calls = {"MuJoCo alone": mujoco_alone(SAMPLES), "simulator": simulator_with()}
    calls.update({f"simulator, imu {preset}": simulator_with(preset) for preset in PRESETS})
    taken = in_turns(calls, ROUNDS, time.perf_counter)
    least = {name: values.min() / SAMPLES for name, values in taken.items()}
    print(f"MuJoCo {mujoco.__version__}, {PHYSICS_RATE} Hz physics, {SAMPLE_RATE} Hz samples")
    print(f"{'':32}{'us/sample':>10}{'times real time':>17}{'of MuJoCo alone':>17}")
    for name, one in least.items():
        ratio = one / least["MuJoCo alone"]
        print(f"{name:32}{1e6 * one:10.1f}{1.0 / (SAMPLE_RATE * one):17.0f}{ratio:17.2f}")
    rest = ((0.0, 0.0, 0.0, 1.0), (0.0, 0.0, 0.0), (0.0, 0.0, 9.81))
    truth = ImuTruth(*(np.tile(values, (samples, 1)) for values in rest))
    for preset in ("generic", "hector"):
        imu = make_imu_model(preset, {}, 1.0 / SAMPLE_RATE, 1)
        batch, ratio = beside(
            lambda imu=imu: imu.batch(truth, runs), lambda: draw_numbers(runs * samples), 1
        )
        one = batch / (runs * samples)
        print(
            f"batch, imu {preset:21}{1e6 * one:10.3f}{1.0 / (SAMPLE_RATE * one):17.0f}"
            f"{ratio:8.0f} normal numbers"
        )


class PeakMemory(threading.Thread):
    """Proportional set size of a process and all its descendants, the largest seen [MB]."""

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


def as_nodes(folder, of_ros2=False, **arguments):
    """The experiment through nodes; its summary, peak memory [MB] and CPU time [s]."""
    name = "run_experiment.py"
    program = [sys.executable, shutil.which(name) or str(package_share() / "scripts" / name)]
    if of_ros2:
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


def experiments():
    configuration = load_configuration(default_configuration_path())
    drive = prepare_drive(configuration)
    duration = float(drive.trajectory.index[-1])
    alone = mujoco_alone(int(duration * SAMPLE_RATE))
    before = seconds(alone, time.perf_counter)
    one_process = seconds(lambda: drive_in_process(configuration, drive), time.perf_counter)
    reference = duration / np.mean([before, seconds(alone, time.perf_counter)])
    one_process = duration / one_process
    print(f"drive A, {duration:.0f} s simulated, {os.cpu_count()} cores")
    print(f"{'':36}{'x real time':>12}{'cost of MuJoCo':>16}{'peak MB':>9}{'CPU s':>7}")
    print(f"{'MuJoCo alone':36}{reference:12.1f}{1.0:16.2f}")
    print(f"{'without ROS':36}{one_process:12.1f}{reference / one_process:16.2f}")
    ways = {
        "ROS nodes in lock-step": {},
        "the same, record:=true": {"record": "true"},
        "one_process:=true": {"one_process": "true"},
        "the same, record:=true ": {"one_process": "true", "record": "true"},
        "ROS 2 nodes in lock-step": {"of_ros2": True},
    }
    for name, way in ways.items():
        with tempfile.TemporaryDirectory() as folder:
            summary, peak, cpu = as_nodes(folder, **way)
        factor = summary["execution"]["real_time_factor"]
        print(f"{name:36}{factor:12.1f}{reference / factor:16.2f}{peak:9.0f}{cpu:7.0f}")
        for topic in ("imu_simulated", "ground_truth"):
            counts = summary["messages"][topic]
            print(f"    {topic}: {counts['received']} of {counts['expected']} messages received")


if __name__ == "__main__":
    simulators()
    experiments()
