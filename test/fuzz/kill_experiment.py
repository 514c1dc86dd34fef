#!/usr/bin/env python3
"""Disturb short experiments at random moments, each process in turn, and judge their endings.

    ./run python test/fuzz/kill_experiment.py --trials 200

A process is killed, stopped or asked to end. The experiment ends, its exit code and its last line
give the reason, recorded data is kept and whole, and no process goes on.
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
BYSTANDERS = ("rosout", "robot_state_publisher", "guardian")
WRITERS = ("result_comparison", "experiment_recorder", "path_follower")
NEEDED = ("master", "mujoco_simulator", "error_publisher", "imu_yaw_publisher")
VICTIMS = (LAUNCHER, *NEEDED, *WRITERS, *BYSTANDERS)
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGSTOP)
PAUSE_OF_LAUNCHER = 3.0
"""Wall-clock time after which a stopped launcher goes on [s]; it alone can report its end."""

NOISE = ("Traceback", "Exception in thread", "Exception ignored", "Fatal Python error")
STARTING = "Failed to import the site module"
HALF_WRITTEN = (".part", ".active", ".tmp")
INTERRUPTED = ("interrupted: ", "run_experiment.py: ended by SIG")
ENDS = {0: ("results: ",), 1: ("the experiment ended early: ",), 130: INTERRUPTED, 143: INTERRUPTED}
"""Exit code -> beginnings of the last line; only signals to the launcher lead to the last two."""


@dataclass(frozen=True)
class Trial:
    """A process, a signal and a moment, as a share of the duration of an undisturbed experiment."""

    number: int
    victim: str
    signal: signal.Signals
    moment: float

    def sends(self, victim: str, number: signal.Signals) -> bool:
        """Return whether this signal goes to this victim."""
        return (self.victim, self.signal) == (victim, number)

    def __str__(self):
        return f"{self.number}: {self.signal.name} to {self.victim} at {self.moment:.3f}"


def make_trial(seed: int, number: int) -> Trial:
    """Return the trial of a seed and a number."""
    chance = random.Random(f"{seed}-{number}")
    victim = VICTIMS[number % len(VICTIMS)]
    kind = SIGNALS[(number // len(VICTIMS)) % len(SIGNALS)]
    return Trial(number, victim, kind, chance.uniform(0.0, 1.0))


class Disturbed:
    """An experiment that a trial disturbs."""

    def __init__(self, trial: Trial, folder: Path, duration: float) -> None:
        self._trial = trial
        self._is_hit = False
        self._experiment = ExperimentProcess(folder, ARGUMENTS)
        self.end = self._experiment.end
        self._folder = folder
        self._duration = duration

    def verdict(self) -> tuple[list[str], str]:
        """Disturb it and wait for its end; return its shortcomings and its output."""
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
        if self._was_answered_by_the_interpreter(ended):
            return [], ended.output
        return self._judge(ended), ended.output

    def _victim(self):
        """Return the number of the victim's process once it runs, None if it will not run."""
        experiment, victim = self._experiment, self._trial.victim
        if victim == LAUNCHER:
            return experiment.pid if experiment.is_running else None
        name = "rosmaster" if victim == "master" else victim
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
        # A starting interpreter answers SIGINT itself, before it reads a line of ours.
        is_ours = trial.signal != signal.SIGINT or STARTING not in ended.output
        short = [f"prints {noise!r}" for noise in NOISE if is_ours and noise in ended.output]
        left = [path.name for path in self._folder.rglob("*") if _is_half_written(path)]
        short += [f"half-written: {name}" for name in left]
        summary = None
        try:
            if any(self._folder.glob("experiment_results/*/*/*/*_trajectory_data.csv")):
                result = ended.result()
                for path in result.folder.glob("*.csv"):
                    result.read_table(path.name[len(result.prefix) + 1 : -len(".csv")])
                if result.path("summary.json").exists():
                    summary = json.loads(result.read_text("summary.json"))
        except (AssertionError, FrameworkError, ValueError) as error:
            short.append(f"result broken: {error}")
        left_samples = any(self._folder.rglob("*.samples"))
        writer_is_killed = trial.sends("result_comparison", signal.SIGKILL)
        has_driven = any(float(match) > 0.1 for match in re.findall(PROGRESS, ended.output))
        # Without the writer the samples stay as they came.
        if has_driven and summary is None and not (writer_is_killed and left_samples):
            short.append("recorded data is lost")
        if left_samples and not writer_is_killed:
            short.append("tables are left as samples")
        is_completed = summary is not None and summary["run"]["completed"] is True
        if self._is_hit and trial.sends(LAUNCHER, signal.SIGKILL) and code == -signal.SIGKILL:
            return short
        beginnings = ENDS.get(code, ())
        if code in (130, 143) and trial.victim != LAUNCHER:
            beginnings = ()
        if not last.startswith(beginnings):
            short.append(f"exit code {code}, last line {last!r}")
        if code == 0 and not is_completed:
            short.append("exit code 0, but the drive was not recorded to its end")
        if code == 1 and is_completed and trial.victim not in WRITERS:
            short.append("exit code 1, but the drive was recorded to its end")
        if code != 0 and (not self._is_hit or trial.victim in BYSTANDERS):
            short.append(f"exit code {code} without a disturbed process that is needed: {last}")
        if code != 0 and trial.sends(LAUNCHER, signal.SIGSTOP):
            short.append(f"exit code {code} after a pause: {last}")
        return short

    def _was_answered_by_the_interpreter(self, ended) -> bool:
        """Return whether the launcher got the signal before it had read a line of ours.

        Python then ends by the signal; SIGINT while it imports its own modules gives code 1 and
        a traceback. Nothing was started, so that nothing is there.
        """
        is_signalled = self._is_hit and self._trial.victim == LAUNCHER
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
            f"undisturbed, the experiment ends with code {ended.code}:\n{ended.output}"
        )
    return ended.seconds


def main(arguments=None) -> int:
    """Run the trials; return 1 if any fell short."""
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
    short_by_number, signals = {}, Counter()

    def run_trial(number):
        trial = make_trial(options.seed, number)
        folder = _folder(base, str(number))
        disturbed = Disturbed(trial, folder, duration)
        try:
            short, output = disturbed.verdict()
        finally:
            disturbed.end()
        with lock:
            signals[trial.signal.name] += 1
            last = (output.strip().splitlines() or [""])[-1]
            print(f"{trial}: {'; '.join(short) or 'ended well'} | {last[:160]}", flush=True)
            if short:
                short_by_number[number] = short
                (folder / "output.txt").write_text(output)
        if not short:
            shutil.rmtree(folder)

    with ThreadPoolExecutor(options.parallel) as pool:
        list(pool.map(run_trial, range(options.first, options.first + options.trials)))
    print(
        f"{options.trials} trials with seed {options.seed}: {len(short_by_number)} fell short; "
        + ", ".join(f"{count} {name}" for name, count in signals.items())
    )
    if short_by_number:
        print(f"their outputs are in {base}")
        return 1
    shutil.rmtree(base)
    return 0


def _folder(base: Path, name: str) -> Path:
    folder = base / name
    folder.mkdir()
    return folder


if __name__ == "__main__":
    sys.exit(main())
