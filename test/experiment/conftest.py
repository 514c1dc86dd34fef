"""Whole experiments: real nodes, each test with a ROS master, a home and a folder of its own."""

import fcntl
import importlib.util
import json
import os
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "unit"), str(TESTS / "tools")]

for needed in ("rospy", "roslaunch", "imu_simulation_framework.msg"):
    if importlib.util.find_spec(needed) is None:
        pytest.exit(
            f"{needed} cannot be imported: the tests in {Path(__file__).parent} need the built "
            "ROS environment, ./run test test/experiment gives it",
            returncode=1,
        )

from experiment_process import EndedExperiment, ExperimentProcess  # noqa: E402
from scenarios import SCENARIOS, settings_argument  # noqa: E402


class ExperimentStarter:
    """Starts experiments in one folder, and ends what is left of them."""

    def __init__(self, directory):
        self.directory = directory
        self._started = []

    def __call__(self, *arguments, settings=None, program=None):
        """Start an experiment with ``settings``, by section, and return it while it runs."""
        if settings is not None:
            arguments = (*arguments, settings_argument(settings))
        self._started.append(ExperimentProcess(self.directory, arguments, program=program))
        return self._started[-1]

    def run(self, *arguments, **options) -> EndedExperiment:
        """Run an experiment to its end."""
        return self(*arguments, **options).wait()

    def end(self):
        for experiment in self._started:
            experiment.end()


@pytest.fixture
def experiment(tmp_path):
    starter = ExperimentStarter(tmp_path)
    yield starter
    starter.end()


@pytest.fixture(scope="session")
def run_once(tmp_path_factory):
    """Run an experiment in one of all test processes; return its end in each of them."""
    base = tmp_path_factory.getbasetemp()
    base = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base

    def run(name, *arguments, scenario=None, **options):
        folder = base / f"experiment_{name}"
        folder.mkdir(exist_ok=True)
        record = folder / "ended.json"
        with open(folder / "lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not record.exists():
                if scenario is not None:
                    scenario.write(folder)
                starter = ExperimentStarter(folder)
                try:
                    ended = starter.run(*arguments, **options)
                finally:
                    starter.end()
                record.write_text(json.dumps([ended.code, ended.output, ended.seconds]))
        return EndedExperiment(*json.loads(record.read_text()), folder)

    return run


@pytest.fixture(scope="session")
def recorded_drive(run_once):
    """A drive with receiver and odometer, recorded as a bag, its results below ``some/results``."""
    return run_once(
        "recorded_drive",
        *("config:=mine.ini", "record:=true", "output:=some/results"),
        settings={},
        scenario=SCENARIOS["receiver and odometer"],
    ).ensure_completed("some/results")
