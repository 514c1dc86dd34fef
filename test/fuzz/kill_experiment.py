#!/usr/bin/env python3
"""Disturbs short experiments at random moments, each process in turn, and judges how they end.

    ./run python test/fuzz/kill_experiment.py --trials 200

Whatever is killed, stopped or told to end, and whenever: the experiment ends, its exit code and
its last line say how, what was recorded is kept and whole, and no process goes on.
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
LONGEST_END = 240.0
"""Wall-clock seconds in which a disturbed experiment has ended, on a machine that is very busy."""

STOPPED_LAUNCHER = 3.0
"""Wall-clock seconds after which a stopped launcher goes on: nobody else could tell its end."""

NOISE = ("Traceback", "Exception in thread", "Exception ignored", "Fatal Python error")
STARTING = "Failed to import the site module"
HALF_WRITTEN = (".part", ".active", ".tmp")
INTERRUPTED = ("interrupted: ", "run_experiment.py: ended by SIG")
ENDS = {0: ("results: ",), 1: ("the experiment ended early: ",), 130: INTERRUPTED, 143: INTERRUPTED}
"""How the last line begins for each exit code; only the launcher's signals lead to the last two."""


@dataclass(frozen=True)
class Trial:
    """Whom, how and when: a fraction of the time that an undisturbed experiment takes."""

    number: int
    victim: str
    signal: signal.Signals
    moment: float

    def is_of(self, victim: str, number: signal.Signals) -> bool:
        """Whether it sends this signal to this victim."""
        return (self.victim, self.signal) == (victim, number)

    def __str__(self):
        return f"{self.number}: {self.signal.name} to {self.victim} at {self.moment:.3f}"


def make_trial(seed: int, number: int) -> Trial:
    """The same trial for the same seed and number."""
    chance = random.Random(f"{seed}-{number}")
    victim = VICTIMS[number % len(VICTIMS)]
    how = SIGNALS[(number // len(VICTIMS)) % len(SIGNALS)]
    return Trial(number, victim, how, chance.uniform(0.0, 1.0))


class Disturbed:
    """One experiment and what was done to it."""

    def __init__(self, trial: Trial, folder: Path, duration: float) -> None:
        self._trial = trial
        self._hit = False
        self._experiment = ExperimentProcess(folder, ARGUMENTS)
        self.end = self._experiment.end
        self._folder = folder
        self._duration = duration

    def verdict(self) -> tuple[list[str], str]:
        """Disturb it, wait for its end; return its short-comings and what it printed."""
        trial, experiment = self._trial, self._experiment
        time.sleep(trial.moment * self._duration)
        pid = self._victim()
        if pid is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, trial.signal)
                self._hit = True
        if trial.is_of(LAUNCHER, signal.SIGSTOP):
            time.sleep(STOPPED_LAUNCHER)
            os.kill(pid, signal.SIGCONT)
        try:
            killed = trial.is_of(LAUNCHER, signal.SIGKILL)
            ended = experiment.wait(LONGEST_END, others=LONGEST_END if killed else 5.0)
        except AssertionError as error:
            return [str(error).splitlines()[0]], str(error)
        if self._was_answered_by_the_interpreter(ended):
            return [], ended.output
        return self._judge(ended), ended.output

    def _victim(self):
        """Its process number, once it runs; None when it will not run any more."""
        experiment, victim = self._experiment, self._trial.victim
        if victim == LAUNCHER:
            return experiment.pid if experiment.is_running else None
        name = "rosmaster" if victim == "master" else victim
        called = {f"__name:={name}", f"imu_simulation_framework.ros1.launching.{name}"}
        while experiment.is_running:
            for pid, words in experiment.members().items():
                named = (word in called or Path(word).name == name for word in words.split())
                if pid != experiment.pid and any(named):
                    return pid
            time.sleep(0.02)
        return None

    def _judge(self, ended) -> list[str]:
        trial, last, code = self._trial, (ended.lines or [""])[-1], ended.code
        # An interpreter that is starting answers SIGINT itself, before any of our lines is read.
        ours = trial.signal != signal.SIGINT or STARTING not in ended.output
        short = [f"prints {noise!r}" for noise in NOISE if ours and noise in ended.output]
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
        writer_was_killed = trial.is_of("result_comparison", signal.SIGKILL)
        driven = any(float(match) > 0.1 for match in re.findall(PROGRESS, ended.output))
        # If who writes it was killed, it is kept as it came.
        if driven and summary is None and not (writer_was_killed and left_samples):
            short.append("what was recorded is lost")
        if left_samples and not writer_was_killed:
            short.append("tables are left as samples")
        completed = summary is not None and summary["run"]["completed"] is True
        if self._hit and trial.is_of(LAUNCHER, signal.SIGKILL) and code == -signal.SIGKILL:
            return short  # killed as asked
        told = ENDS.get(code, ())
        if code in (130, 143) and trial.victim != LAUNCHER:
            told = ()
        if not last.startswith(told):
            short.append(f"exit code {code}, last line {last!r}")
        if code == 0 and not completed:
            short.append("exit code 0, but the drive was not recorded to its end")
        if code == 1 and completed and trial.victim not in WRITERS:
            short.append("exit code 1, but the drive was recorded to its end")
        if code != 0 and (not self._hit or trial.victim in BYSTANDERS):
            short.append(f"exit code {code} though nobody was disturbed who is needed: {last}")
        if code != 0 and trial.is_of(LAUNCHER, signal.SIGSTOP):
            short.append(f"exit code {code} after a pause: {last}")
        return short

    def _was_answered_by_the_interpreter(self, ended) -> bool:
        """Whether the launcher was told to end before a line of ours was read, or hardly later.

        Python then ends by the signal; SIGINT while it imports its own modules gives code 1 and
        a traceback. That is true: it has not ended well, nothing was started, nothing is there.
        """
        told = self._hit and self._trial.victim == LAUNCHER
        silent = ended.code == -self._trial.signal and not ended.output
        python_says = (
            self._trial.signal == signal.SIGINT
            and ended.code in (1, -signal.SIGINT)
            and ended.lines[-1:] == ["KeyboardInterrupt"]
        )
        return told and (silent or python_says) and not any(self._folder.iterdir())


def _is_half_written(path: Path) -> bool:
    return path.suffix in HALF_WRITTEN or (path.name.startswith(".") and "ros" not in path.parts)


def undisturbed_duration(folder: Path) -> float:
    """Wall-clock seconds of an experiment that nobody disturbs."""
    ended = ExperimentProcess(folder, ARGUMENTS).wait(LONGEST_END)
    if ended.code:
        raise SystemExit(
            f"undisturbed, the experiment ends with code {ended.code}:\n{ended.output}"
        )
    return ended.seconds


def main(arguments=None) -> int:
    """Run the trials; exit code 1 when one fell short."""
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

    def try_once(number):
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
            print(f"{trial}: {'; '.join(short) or 'well'} | {last[:160]}", flush=True)
            if short:
                short_by_number[number] = short
                (folder / "output.txt").write_text(output)
        if not short:
            shutil.rmtree(folder)

    with ThreadPoolExecutor(options.parallel) as pool:
        list(pool.map(try_once, range(options.first, options.first + options.trials)))
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
