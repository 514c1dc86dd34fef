"""Whole experiments: real nodes, each test with a ROS master, a home and a folder of its own."""

import importlib.util
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

from experiment_process import ExperimentProcess  # noqa: E402


class Starter:
    """Starts experiments in one folder and ends what is left of them."""

    def __init__(self, directory):
        self.directory = directory
        self._started = []

    def __call__(self, *arguments, program=None):
        """Start an experiment and return it while it runs."""
        self._started.append(ExperimentProcess(self.directory, arguments, program=program))
        return self._started[-1]

    def run(self, *arguments, timeout=240.0, **options):
        """Run an experiment to its end by itself."""
        return self(*arguments, **options).wait(timeout)

    def end(self):
        for experiment in self._started:
            experiment.end()


@pytest.fixture
def experiment(tmp_path):
    starter = Starter(tmp_path)
    yield starter
    starter.end()


@pytest.fixture(scope="session")
def shared_experiment(tmp_path_factory):
    """Like ``experiment``, for a result that several tests look at."""
    starter = Starter(tmp_path_factory.mktemp("shared"))
    yield starter
    starter.end()
