"""What an experiment's results and its nodes' ends make of its exit code and last line."""

import json

import pytest

from imu_simulation_framework.drive.results.files import ResultFolder
from imu_simulation_framework.ros1.launching.supervision import Outcome


@pytest.fixture
def outcome(tmp_path):
    """Make an outcome with a summary that says whether the drive was completed; or without."""

    def make(completed=None, **known):
        if completed is not None:
            text = json.dumps({"run": {"completed": completed}})
            ResultFolder(tmp_path, "run").write_text("summary.json", text)
        return Outcome(result=str(tmp_path / "run"), **known)

    return make


ALL_WELL = {"path_follower": 0, "result_comparison": 130, "mujoco_simulator": 130}


def test_a_complete_drive_is_a_success_without_a_last_line(outcome):
    done = outcome(True, node="path_follower", codes=ALL_WELL)
    assert (done.exit_code(), done.last_line()) == (0, "")


@pytest.mark.parametrize("completed", [None, False])
@pytest.mark.parametrize("node", ["path_follower", "result_comparison", "master"])
@pytest.mark.parametrize("code", [0, 1, 130, -9, None])
def test_no_success_without_a_summary_that_says_completed(outcome, completed, node, code):
    done = outcome(completed, node=node, codes={**ALL_WELL, node: code})
    assert done.exit_code() == 1
    assert done.last_line().startswith("the experiment ended early: ")


def test_whoever_ends_after_the_drive_is_not_needed(outcome):
    for name in ("mujoco_simulator", "master", "error_publisher"):
        done = outcome(True, node=name, codes={**ALL_WELL, "path_follower": 130, name: -9})
        assert (done.exit_code(), done.last_line()) == (0, "")


@pytest.mark.parametrize("code", [-9, 1, None])
@pytest.mark.parametrize("name", ["result_comparison", "experiment_recorder"])
def test_whoever_writes_is_needed_to_the_end(outcome, name, code):
    done = outcome(True, node=name, codes={**ALL_WELL, name: code})
    assert done.exit_code() == 1
    assert done.last_line().endswith("nobody could make sure that everything is written")


def test_a_leader_that_failed_after_the_drive_says_why(outcome):
    codes = {**ALL_WELL, "path_follower": 1}
    done = outcome(True, node="path_follower", codes=codes, failure="a figure:\n the disk is full")
    assert done.exit_code() == 1
    assert done.last_line() == (
        "the experiment ended early: path_follower ended with code 1: a figure: the disk is full"
    )


@pytest.mark.parametrize(
    ("completed", "words"), [(None, "nothing was recorded"), (False, "what was recorded is saved")]
)
def test_an_interruption_says_what_is_left(outcome, completed, words):
    done = outcome(completed, codes=dict.fromkeys(ALL_WELL, 130))
    assert (done.exit_code(), done.last_line()) == (130, f"interrupted: {words}")


@pytest.mark.parametrize("code", [-9, 137])  # 137: a shell script's that started what was killed
def test_a_signal_has_its_name(outcome, code):
    done = outcome(False, node="master", codes={"master": code})
    assert done.last_line().endswith(f": the ROS master ended with code {code} (SIGKILL)")


def test_a_code_of_no_signal_has_none(outcome):
    done = outcome(False, node="gazebo", codes={"gazebo": 255})
    assert done.last_line().endswith(": gazebo ended with code 255")


def test_what_a_killed_recorder_has_left_is_told(outcome, tmp_path):
    (tmp_path / "run_ground_truth.samples").touch()
    done = outcome(node="result_comparison", codes={"result_comparison": -9})
    assert done.exit_code() == 1
    assert "(SIGKILL); offline_result_comparison.py makes results" in done.last_line()


def test_a_fault_that_the_launcher_has_seen_is_the_reason(outcome):
    done = outcome(False, fault="rviz was stopped", codes={})
    assert (done.exit_code(), done.last_line()) == (
        1,
        "the experiment ended early: rviz was stopped",
    )


def test_a_broken_summary_is_none(outcome, tmp_path):
    (tmp_path / "run_summary.json").write_text("{")
    assert outcome(node="path_follower", codes=ALL_WELL).exit_code() == 1
