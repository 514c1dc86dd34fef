#!/usr/bin/env python3
"""Send signals to processes of short experiments at random times and check the outcomes.

    ./run python test/fuzz/kill_experiment.py --trials 200

Each trial sends one signal to one process. The experiment must exit, its exit code and its last
line must state the reason, recorded data must be complete, and no process may remain.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import re
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "experiment"))

from experiment_process import PROGRESS, ExperimentProcess
from patience import PATIENCE

from imu_simulation_framework.core.errors import FrameworkError

ARGUMENTS = (
    "record:=true",
    "settings:={trajectory: {stop: 4.0}, imu_recording: {use: false}, "
    "simulation: {command_timeout: 5.0, startup_timeout: 60.0}}",
)
LAUNCHER = "run_experiment.py"
OPTIONAL_PROCESSES = ("rosout", "robot_state_publisher", "guardian")
WRITERS = ("result_comparison", "experiment_recorder", "path_follower")
NEEDED = ("master", "mujoco_simulator", "error_publisher", "imu_yaw_publisher")
KILLED_PROCESSES = (LAUNCHER, *NEEDED, *WRITERS, *OPTIONAL_PROCESSES)
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGSTOP)
# Wall-clock time for which a launcher is stopped [s]; afterwards, it must report the exit.
PAUSE_OF_LAUNCHER = 3.0

NOISE = ("Traceback", "Exception in thread", "Exception ignored", "Fatal Python error")
STARTING = "Failed to import the site module"
HALF_WRITTEN = (".part", ".active", ".tmp")
INTERRUPTED = ("interrupted: ", "run_experiment.py: terminated by SIG")
# Exit code -> prefixes of the last line. Only signals to the launcher cause codes 130 and 143.
FAILED = ("the experiment ended early: ", "the experiment failed after the drive: ")
ENDS = {0: ("results: ",), 1: FAILED, 130: INTERRUPTED, 143: INTERRUPTED}


@dataclass(frozen=True)
class Trial:
    """Signal, target process, and time as a fraction of the duration without a signal."""

    number: int
    killed_process: str
    signal: signal.Signals
    moment: float

    def sends(self, killed_process: str, number: signal.Signals) -> bool:
        """Return whether the trial sends this signal to this process."""
        return (self.killed_process, self.signal) == (killed_process, number)

    def __str__(self):
        return f"{self.number}: {self.signal.name} to {self.killed_process} at {self.moment:.3f}"


def make_trial(seed: int, number: int) -> Trial:
    """Return the trial with the given number, with a random time that depends on the seed."""
    chance = random.Random(f"{seed}-{number}")
    killed_process = KILLED_PROCESSES[number % len(KILLED_PROCESSES)]
    kind = SIGNALS[(number // len(KILLED_PROCESSES)) % len(SIGNALS)]
    return Trial(number, killed_process, kind, chance.uniform(0.0, 1.0))


class DisturbedExperiment:
    """Experiment in which one process receives a signal."""

    def __init__(self, trial: Trial, folder: Path, duration: float) -> None:
        self._trial = trial
        self._is_hit = False
        self._experiment = ExperimentProcess(folder, ARGUMENTS)
        self.end = self._experiment.end
        self._folder = folder
        self._duration = duration

    def run(self) -> tuple[list[str], str]:
        """Send the signal and wait for the exit; return violated requirements and output."""
        trial, experiment = self._trial, self._experiment
        time.sleep(trial.moment * self._duration)
        pid = self._victim()
        if pid is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, trial.signal)
                self._is_hit = True
        if trial.sends(LAUNCHER, signal.SIGSTOP):
            time.sleep(PAUSE_OF_LAUNCHER)
            os.kill(pid, signal.SIGCONT)
        try:
            is_killed = trial.sends(LAUNCHER, signal.SIGKILL)
            ended = experiment.wait(PATIENCE, others=PATIENCE if is_killed else 5.0)
        except AssertionError as error:
            return [str(error).splitlines()[0]], str(error)
        if self._is_ended_by_interpreter(ended):
            return [], ended.output
        return self._judge(ended), ended.output

    def _victim(self):
        """Wait for the target process; return its id, or None if the experiment exits first."""
        experiment, killed_process = self._experiment, self._trial.killed_process
        if killed_process == LAUNCHER:
            return experiment.pid if experiment.is_running else None
        name = "rosmaster" if killed_process == "master" else killed_process
        marks = {f"__name:={name}", f"imu_simulation_framework.ros1.launching.{name}"}
        while experiment.is_running:
            for pid, words in experiment.members().items():
                is_named = (word in marks or Path(word).name == name for word in words.split())
                if pid != experiment.pid and any(is_named):
                    return pid
            time.sleep(0.02)
        return None

    def _judge(self, ended) -> list[str]:
        trial, last, code = self._trial, (ended.lines or [""])[-1], ended.code
        # At start-up, the interpreter handles SIGINT before code of the package runs.
        is_package_output = trial.signal != signal.SIGINT or STARTING not in ended.output
        violations = [
            f"prints {noise!r}" for noise in NOISE if is_package_output and noise in ended.output
        ]
        left = [path.name for path in self._folder.rglob("*") if _is_half_written(path)]
        violations += [f"half-written: {name}" for name in left]
        summary = None
        try:
            if any(self._folder.glob("experiment_results/*/*/*/*_trajectory_data.csv")):
                result = ended.result()
                for path in result.folder.glob("*.csv"):
                    result.read_table(path.name[len(result.prefix) + 1 : -len(".csv")])
                if result.path("summary.json").exists():
                    summary = json.loads(result.read_text("summary.json"))
        except (AssertionError, FrameworkError, ValueError) as error:
            violations.append(f"result is unreadable: {error}")
        left_samples = any(self._folder.rglob("*.samples"))
        writer_is_killed = trial.sends("result_comparison", signal.SIGKILL)
        has_driven = any(float(match) > 0.1 for match in re.findall(PROGRESS, ended.output))
        # If the writer is killed, the received samples remain in .samples files.
        if has_driven and summary is None and not (writer_is_killed and left_samples):
            violations.append("recorded data is lost")
        if left_samples and not writer_is_killed:
            violations.append("samples were not converted to tables")
        is_completed = summary is not None and summary["run"]["completed"] is True
        if self._is_hit and trial.sends(LAUNCHER, signal.SIGKILL) and code == -signal.SIGKILL:
            return violations
        beginnings = ENDS.get(code, ())
        if code in (130, 143) and trial.killed_process != LAUNCHER:
            beginnings = ()
        if not last.startswith(beginnings):
            violations.append(f"exit code {code}, last line {last!r}")
        if code == 0 and not is_completed:
            violations.append("exit code 0, but the drive is recorded incompletely")
        if code == 1 and is_completed and trial.killed_process not in WRITERS:
            violations.append("exit code 1, but the drive is recorded completely")
        if code != 0 and (not self._is_hit or trial.killed_process in OPTIONAL_PROCESSES):
            violations.append(
                f"exit code {code}, although no required process was disturbed: {last}"
            )
        if code != 0 and trial.sends(LAUNCHER, signal.SIGSTOP):
            violations.append(f"exit code {code} after the launcher was paused: {last}")
        return violations

    def _is_ended_by_interpreter(self, ended) -> bool:
        """Return whether the signal terminated the launcher before it ran code of the package.

        The signal then terminates Python. SIGINT during the import of standard modules causes exit
        code 1 and a traceback. The experiment has not started, so the folder is empty.
        """
        is_signalled = self._is_hit and self._trial.killed_process == LAUNCHER
        is_silent = ended.code == -self._trial.signal and not ended.output
        has_traceback = (
            self._trial.signal == signal.SIGINT
            and ended.code in (1, -signal.SIGINT)
            and ended.lines[-1:] == ["KeyboardInterrupt"]
        )
        return is_signalled and (is_silent or has_traceback) and not any(self._folder.iterdir())


def _is_half_written(path: Path) -> bool:
    return path.suffix in HALF_WRITTEN or (path.name.startswith(".") and "ros" not in path.parts)


def undisturbed_duration(folder: Path) -> float:
    """Return the wall-clock duration of an undisturbed experiment [s]."""
    ended = ExperimentProcess(folder, ARGUMENTS).wait(PATIENCE)
    if ended.code:
        raise SystemExit(
            f"the undisturbed experiment exited with code {ended.code}:\n{ended.output}"
        )
    return ended.seconds


def main(arguments=None) -> int:
    """Run the trials; return 1 if any trial fails."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=44)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first trial")
    parser.add_argument("--parallel", type=int, default=2)
    options = parser.parse_args(arguments)
    base = Path(tempfile.mkdtemp(prefix="kill_experiment-"))
    duration = undisturbed_duration(_folder(base, "undisturbed"))
    print(f"undisturbed: {duration:.1f} s", flush=True)
    lock = threading.Lock()
    violations_by_number, signals = {}, Counter()

    def run_trial(number):
        trial = make_trial(options.seed, number)
        folder = _folder(base, str(number))
        disturbed = DisturbedExperiment(trial, folder, duration)
        try:
            violations, output = disturbed.run()
        finally:
            disturbed.end()
        with lock:
            signals[trial.signal.name] += 1
            last = (output.strip().splitlines() or [""])[-1]
            print(f"{trial}: {'; '.join(violations) or 'passed'} | {last[:160]}", flush=True)
            if violations:
                violations_by_number[number] = violations
                (folder / "output.txt").write_text(output)
        if not violations:
            shutil.rmtree(folder)

    with ThreadPoolExecutor(options.parallel) as pool:
        list(pool.map(run_trial, range(options.first, options.first + options.trials)))
    print(
        f"{options.trials} trials with seed {options.seed}: "
        f"{len(violations_by_number)} with violations; "
        + ", ".join(f"{count} {name}" for name, count in signals.items())
    )
    if violations_by_number:
        print(f"outputs: {base}")
        return 1
    shutil.rmtree(base)
    return 0


def _folder(base: Path, name: str) -> Path:
    folder = base / name
    folder.mkdir()
    return folder


if __name__ == "__main__":
    sys.exit(main())
