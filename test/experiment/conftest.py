"""Tests of complete experiments with real nodes; each test has a separate ROS master and folder."""

import fcntl
import importlib.util
import json
import os
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "unit"), str(TESTS / "tools")]

for module in ("rospy", "roslaunch", "imu_simulation_framework.msg"):
    if importlib.util.find_spec(module) is None:
        pytest.exit(
            f"{module} cannot be imported: the tests in {Path(__file__).parent} need the built "
            "ROS environment; run ./run test test/experiment",
            returncode=1,
        )

from experiment_process import EndedExperiment, ExperimentProcess  # noqa: E402
from scenarios import SCENARIOS, settings_argument  # noqa: E402


class ExperimentStarter:
    """Starter of experiments in a folder, which kills their remaining processes after a test."""

    def __init__(self, directory):
        self.directory = directory
        self._started = []

    def __call__(self, *arguments, settings=None, program=None):
        """Start an experiment with settings grouped by section; return the running experiment."""
        if settings is not None:
            arguments = (*arguments, settings_argument(settings))
        self._started.append(ExperimentProcess(self.directory, arguments, program=program))
        return self._started[-1]

    def run(self, *arguments, **options) -> EndedExperiment:
        """Run an experiment until it ends."""
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
    """Return a function that runs an experiment once and shares it between all test processes."""
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
    """Run an experiment with GNSS, odometer and bag; its results are below ``some/results``."""
    return run_once(
        "recorded_drive",
        *("config:=mine.ini", "record:=true", "output:=some/results"),
        settings={},
        scenario=SCENARIOS["receiver and odometer"],
    ).ensure_completed("some/results")
