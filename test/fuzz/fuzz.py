"""Trials with hostile inputs, one after the other, and what fell short.

./run fuzz --seed 7 --trials 5000 --minutes 20
./run fuzz --seed 7 --only 123          repeats one trial and shows what it printed
"""

from __future__ import annotations

import argparse
import collections
import os
import random
import shutil
import socket
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

if __name__ == "__main__":
    import conftest  # noqa: F401

    for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[_name] = "1"

import targets
from harm_values import MADE
from kinds import KINDS
from kinds_of_settings import experiments as whole_experiment
from trials import Trial
from verdict import DONE, Limits, Verdict, command_text, tried

REAL = 0.03  # share of trials of tools that are processes of their own from the start

EXPERIMENTS = 0.006  # share of trials that are whole experiments, where there is ROS


class Judgement(NamedTuple):
    kind: str
    trial: Trial
    verdict: Verdict


def judge(seed, number, folder, experiments=False) -> Judgement:
    """Make a trial in an empty folder, run it, judge it; seed and number decide on everything."""
    chance = random.Random(f"{seed}:{number}")
    whole = chance.random() < EXPERIMENTS and experiments
    (kind,) = chance.choices(list(KINDS), list(KINDS.values()))
    kind = whole_experiment if whole else kind
    trial = kind(chance, folder)
    real = trial.tool == targets.EXPERIMENT
    real = real or (trial.tool in targets.TOOLS and chance.random() < REAL)
    if real:
        program = targets.command(trial.tool, trial.arguments)
    else:
        program = targets.program(trial.tool, trial.arguments, trial.figures)
    expected = targets.with_results(trial)
    verdict = tried(program, folder, expected, Limits(), _environment(folder, real))
    if verdict.code in DONE and not verdict.short:
        verdict = verdict.with_short(*_compared(trial, Path(folder)))
    if any((place / MADE).exists() for place in (Path(folder), Path(folder).parent)):
        verdict = verdict.with_short("something that was read was executed")
    return Judgement(kind.__name__, trial, verdict)


def _compared(trial, folder) -> list[str]:
    try:
        return list(trial.compare(folder))
    except Exception as error:  # whatever is wrong with the results, the trials go on
        return [f"its results cannot be compared: {type(error).__name__}: {error}"]


def _environment(folder, real):
    if not real:
        return {}
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        master = f"http://127.0.0.1:{probe.getsockname()[1]}"
    home = f"{folder}.judge/ros"
    places = {"ROS_HOME": home, "ROS_LOG_DIR": f"{home}/log", "PWD": str(folder)}
    return {"ROS_MASTER_URI": master, **places}


def scratch(place, number) -> Path:
    """Make a trial's folder, deep enough that what climbs out of it is found again."""
    folder = Path(place) / str(number) / "a" / "trial"
    folder.mkdir(parents=True)
    return folder


def campaign(seed, numbers, experiments, report, deadline=None):
    """Judge trials; ``report`` is called with number and judgement after each."""
    targets.prepare()
    with tempfile.TemporaryDirectory(prefix="fuzz-") as place:
        for number in numbers:
            report(number, judge(seed, number, scratch(place, number), experiments))
            shutil.rmtree(Path(place) / str(number))
            if deadline is not None and time.monotonic() > deadline:
                return


class Table:
    """Trials by kind: how many there were, how they ended, how many fell short."""

    def __init__(self, seed) -> None:
        self.seed = seed
        self.rows = collections.defaultdict(collections.Counter)
        self.short = []

    def add(self, number, judgement) -> None:
        """Count a trial."""
        verdict, row = judgement.verdict, self.rows[judgement.kind]
        row["trials"] += 1
        row["done" if verdict.code in DONE else "refused"] += 1
        row["short"] += bool(verdict.short)
        row["cpu"] += verdict.cpu
        row["memory"] = max(row["memory"], verdict.memory)
        if verdict.short:
            self.short.append((number, judgement))

    def lines(self):
        """The table, and each short-coming with the command that repeats it."""
        for number, judgement in self.short:
            trial = judgement.trial
            yield f"{judgement.kind} {number}: {command_text([trial.tool, *trial.arguments])[:500]}"
            yield from (f"    {sentence}" for sentence in judgement.verdict.short)
            yield f"    repeat: ./run fuzz --seed {self.seed} --only {number}"
        yield f"{'kind':15}{'trials':>8}{'done':>8}{'refused':>9}{'short':>7}{'CPU s':>8}{'MiB':>6}"
        total = sum(self.rows.values(), collections.Counter())
        total["memory"] = max((row["memory"] for row in self.rows.values()), default=0)
        for name, row in (*sorted(self.rows.items()), ("all", total)):
            yield (
                f"{name:15}{row['trials']:8}{row['done']:8}{row['refused']:9}{row['short']:7}"
                f"{row['cpu']:8.0f}{row['memory'] / 2**20:6.0f}"
            )


def main(arguments=None) -> int:
    """Run a campaign, or repeat one trial; 1 if anything fell short."""
    options = _parser().parse_args(arguments)
    experiments = shutil.which(targets.EXPERIMENT) is not None
    if not experiments:
        print("no whole experiments: run_experiment.py is not on the path", file=sys.stderr)
    table = Table(options.seed)
    if options.only is not None:
        return _repeat(options, experiments)
    started = shown = time.monotonic()

    def report(number, judgement):
        nonlocal shown
        table.add(number, judgement)
        if judgement.verdict.short:
            print(f"trial {number}: {judgement.verdict.short[0][:200]}", file=sys.stderr)
        if time.monotonic() > shown + 30.0:
            shown = time.monotonic()
            print(f"{number + 1 - options.first} trials, {len(table.short)} short", file=sys.stderr)

    numbers = range(options.first, options.first + options.trials)
    try:
        campaign(options.seed, numbers, experiments, report, started + 60.0 * options.minutes)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
    for line in table.lines():
        print(line)
    print(f"seed {options.seed}, {time.monotonic() - started:.0f} s")
    return 1 if table.short else 0


def _repeat(options, experiments) -> int:
    targets.prepare()
    folder = scratch(options.keep or tempfile.mkdtemp(prefix="fuzz-"), options.only)
    judgement = judge(options.seed, options.only, folder, experiments)
    trial, verdict = judgement.trial, judgement.verdict
    print(verdict.output, verdict.error, sep="", end="")
    print(f"in {folder}: {command_text([trial.tool, *trial.arguments])}")
    print(f"exit code {verdict.code}, {verdict.cpu:.1f} s, {verdict.memory / 2**20:.0f} MiB")
    for sentence in verdict.short:
        print(f"    {sentence}")
    return 1 if verdict.short else 0


def _parser():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--seed", type=int, default=1, help="decides on all trials; default 1")
    add("--trials", type=int, default=5000, metavar="N", help="default 5000")
    add("--minutes", type=float, default=20.0, metavar="M", help="at most; default 20")
    add("--first", type=int, default=0, metavar="N", help="number of the first trial")
    add("--only", type=int, metavar="N", help="repeat this trial and show its output")
    add("--keep", metavar="DIR", help="where the inputs of a repeated trial stay")
    return parser


if __name__ == "__main__":
    sys.exit(main())
