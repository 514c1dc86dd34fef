"""Exit code and final message of an experiment."""

import json

import pytest

from imu_simulation_framework.drive.results.files import ResultFolder
from imu_simulation_framework.ros1.launching.supervision import Outcome


@pytest.fixture
def outcome(tmp_path):
    """Return a function that creates an outcome, with or without a summary."""

    def make(completed=None, **known):
        if completed is not None:
            text = json.dumps({"run": {"completed": completed}})
            ResultFolder(tmp_path, "run").write_text("summary.json", text)
        return Outcome(result=str(tmp_path / "run"), **known)

    return make


ALL_WELL = {"path_follower": 0, "result_comparison": 130, "mujoco_simulator": 130}


def test_complete_drive_succeeds_regardless_of_later_node_exits(outcome):
    done = outcome(True, node="path_follower", codes=ALL_WELL)
    assert (done.exit_code(), done.final_message()) == (0, "")
    for name in ("mujoco_simulator", "master", "error_publisher"):
        done = outcome(True, node=name, codes={**ALL_WELL, "path_follower": 130, name: -9})
        assert (done.exit_code(), done.final_message()) == (0, "")


@pytest.mark.parametrize("completed", [None, False])
@pytest.mark.parametrize("node", ["path_follower", "result_comparison", "master"])
@pytest.mark.parametrize("code", [0, 1, 130, -9, None])
def test_experiment_with_incomplete_summary_fails(outcome, completed, node, code):
    done = outcome(completed, node=node, codes={**ALL_WELL, node: code})
    assert done.exit_code() == 1
    assert done.final_message().startswith("the experiment ended early: ")


@pytest.mark.parametrize("code", [-9, 1, None])
@pytest.mark.parametrize("name", ["result_comparison", "experiment_recorder"])
def test_experiment_fails_if_saving_node_fails(outcome, name, code):
    done = outcome(True, node=name, codes={**ALL_WELL, name: code})
    assert done.exit_code() == 1
    assert done.final_message().startswith("the experiment failed after the drive: ")
    assert done.final_message().endswith("the results may be incomplete")


def test_failure_after_drive_is_reported_with_remedy(outcome, tmp_path):
    codes = {**ALL_WELL, "path_follower": 1}
    done = outcome(True, node="path_follower", codes=codes, failure="a figure:\n the disk is full")
    assert done.exit_code() == 1
    assert done.final_message() == (
        "the experiment failed after the drive: path_follower exited with code 1: a figure: the "
        "disk is full"
    )
    (tmp_path / "run_ground_truth.samples").touch()
    done = outcome(node="result_comparison", codes={"result_comparison": -9})
    assert "offline_result_comparison.py creates results" in done.final_message()


@pytest.mark.parametrize(
    ("completed", "words"), [(None, "nothing was recorded"), (False, "the recorded data are saved")]
)
def test_interruption_message_states_whether_data_are_saved(outcome, completed, words):
    done = outcome(completed, codes=dict.fromkeys(ALL_WELL, 130))
    assert (done.exit_code(), done.final_message()) == (130, f"interrupted: {words}")


@pytest.mark.parametrize(
    ("known", "reason"),
    [
        ({"node": "master", "codes": {"master": -9}}, "exited with code -9 (SIGKILL)"),
        # A shell script reports the signal of its child as 128 plus the number.
        ({"node": "gazebo", "codes": {"gazebo": 137}}, "gazebo exited with code 137 (SIGKILL)"),
        ({"node": "gazebo", "codes": {"gazebo": 255}}, "gazebo exited with code 255"),
        ({"fault": "rviz was stopped", "codes": {}}, "rviz was stopped"),
    ],
)
def test_failure_message_contains_node_and_exit_code(outcome, tmp_path, known, reason):
    done = outcome(False, **known)
    assert done.exit_code() == 1 and done.final_message().endswith(reason)
    (tmp_path / "run_summary.json").write_text("{")
    assert outcome(**known).exit_code() == 1
