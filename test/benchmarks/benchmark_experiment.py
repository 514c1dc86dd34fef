"""How fast, and how large in memory, an experiment is: drive A eleven times.

Four ways to do the same: MuJoCo stepping alone, the experiment in one process, and the
experiment as ROS nodes in lock-step, without and with a bag of every topic. Absolute figures
depend on the machine, the ratios less.
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

from imu_simulation_framework.core.files import default_configuration_path, package_share
from imu_simulation_framework.drive.configuration import load_configuration
from imu_simulation_framework.drive.in_process import drive_in_process
from imu_simulation_framework.drive.mujoco import build_model
from imu_simulation_framework.drive.preparation import prepare_drive
from imu_simulation_framework.drive.robot import load_robot_parameters

PHYSICS_RATE = 1000
STEPS_PER_SAMPLE = 10
MEMORY_PERIOD = 0.25


def mujoco_alone(duration):
    """Times real time of MuJoCo stepping the robot for ``duration`` seconds."""
    model = build_model(load_robot_parameters(), PHYSICS_RATE)
    data = mujoco.MjData(model)
    data.ctrl[:] = (8.0, 10.0)
    started = time.perf_counter()
    for _ in range(int(duration * PHYSICS_RATE / STEPS_PER_SAMPLE)):
        mujoco.mj_step(model, data, STEPS_PER_SAMPLE)
    return duration / (time.perf_counter() - started)


def in_process(configuration, drive):
    """Times real time of the experiment's loop in one process."""
    started = time.perf_counter()
    record = drive_in_process(configuration, drive)
    return record.ground_truth.newest / 1e9 / (time.perf_counter() - started)


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


def as_nodes(folder, record):
    """The experiment through roslaunch; its summary, peak memory [MB] and CPU time [s]."""
    program = shutil.which("run_experiment.py") or str(
        package_share() / "scripts" / "run_experiment.py"
    )
    experiment = subprocess.Popen(
        [sys.executable, program, "drive:=a", f"output:={folder}", f"record:={record}"],
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


def main():
    configuration = load_configuration(default_configuration_path())
    drive = prepare_drive(configuration)
    duration = float(drive.trajectory.index[-1])
    before = mujoco_alone(duration)
    one_process = in_process(configuration, drive)
    reference = np.mean([before, mujoco_alone(duration)])

    print(
        f"drive A, {duration:.0f} s simulated, {os.cpu_count()} cores, MuJoCo {mujoco.__version__}"
    )
    print(f"{'':36}{'x real time':>12}{'cost of MuJoCo':>16}{'peak MB':>9}{'CPU s':>7}")
    print(f"{'MuJoCo alone':36}{reference:12.1f}{1.0:16.2f}")
    print(f"{'in one process':36}{one_process:12.1f}{reference / one_process:16.2f}")
    for record, name in (("false", "ROS nodes in lock-step"), ("true", "the same, record:=true")):
        with tempfile.TemporaryDirectory() as folder:
            summary, peak, cpu = as_nodes(folder, record)
        factor = summary["execution"]["real_time_factor"]
        messages = summary["messages"]
        print(f"{name:36}{factor:12.1f}{reference / factor:16.2f}{peak:9.0f}{cpu:7.0f}")
        for topic in ("imu_simulated", "ground_truth"):
            counts = messages[topic]
            print(f"    {topic}: {counts['received']} of {counts['expected']} messages received")


if __name__ == "__main__":
    main()
