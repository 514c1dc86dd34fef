"""Experiments that are disturbed in the middle: they end within seconds and save what there is."""

import json
import os
import signal

import numpy as np
import pytest
from experiment_process import PROGRESS, STARTED, ExperimentProcess, find_program

from imu_simulation_framework.drive.results.tables import complete_tables

pytestmark = pytest.mark.slow

SECONDS = 180.0
"""Wall clock in which a disturbed experiment must have ended; on two busy cores."""

PACED = "real_time_factor:=10"
"""The whole drive would take more than a minute."""


@pytest.fixture
def driving(experiment):
    """Start an experiment and wait until it is in the middle of the drive."""

    def start(*arguments):
        running = experiment(PACED, *arguments)
        running.wait_for(PROGRESS)
        return running

    return start


def result_of(ended):
    """What was recorded, which must be whole and say that the drive was not completed."""
    assert "Traceback" not in ended.output, ended.output
    result = ended.result()
    assert not [path for path in result.folder.iterdir() if path.name.startswith(".")]
    summary = json.loads(result.read_text("summary.json"))
    assert summary["run"]["completed"] is False
    assert 0.0 < summary["durations"]["recorded_s"] < summary["durations"]["planned_s"]
    for name in ("imu_simulated", "ground_truth"):
        times = result.read_table(name).index.to_numpy()
        assert times[0] == 0.0
        np.testing.assert_allclose(np.diff(times), 0.01, atol=1e-9)
        messages = summary["messages"][name]
        assert messages["expected"] == messages["received"] == len(times)
    return result


@pytest.mark.parametrize("node", ["path_follower", "error_publisher", "mujoco_simulator"])
def test_a_node_that_is_killed(driving, node):
    running = driving()
    running.signal_node(node, signal.SIGKILL)
    ended = running.wait(SECONDS)
    assert ended.code == 1
    assert ended.lines[-1] == f"the experiment ended early: {node} ended with code -9 (SIGKILL)"
    result = result_of(ended)
    assert ended.lines[-2] == f"results: {result.folder}"
    assert result.path("yaw_error.png").exists()


def test_a_path_follower_that_is_told_to_end_has_not_driven_to_the_end(driving):
    running = driving()
    running.signal_node("path_follower", signal.SIGTERM)
    ended = running.wait(SECONDS)
    assert ended.code == 1
    result_of(ended)


def test_the_killed_node_that_records_the_results(driving):
    running = driving()
    # The last twenty samples of each kind are lost: of the commands a second.
    running.wait_for(r"simulated ([3-9]|\d\d+)\.\d of")
    running.signal_node("result_comparison", signal.SIGKILL)
    ended = running.wait(SECONDS)
    assert ended.code == 1
    reason = "result_comparison ended with code -9 (SIGKILL)"
    hint = "offline_result_comparison.py makes results of what it had recorded"
    assert ended.lines[-1] == f"the experiment ended early: {reason}; {hint}"
    assert "Traceback" not in ended.output, ended.output
    # What it had recorded is there, but for the last moment.
    result = ended.result()
    assert not result.path("imu_simulated.csv").exists()
    complete_tables(result)
    for name in ("imu_simulated", "ground_truth"):
        times = result.read_table(name).index.to_numpy()
        assert times[0] == 0.0
        assert len(times) > 250
        np.testing.assert_allclose(np.diff(times), 0.01, atol=1e-9)
    assert len(result.read_table("wheel_velocities")) > 30


def test_an_interruption_in_the_middle(driving):
    running = driving("record:=true")
    running.interrupt()
    ended = running.wait(SECONDS)
    assert ended.code == 130
    assert not ended.fatal_sentences
    assert ended.lines[-1] == "interrupted: what was recorded is saved"
    assert "escalating" not in ended.output
    result = result_of(ended)
    assert result.path("experiment.bag").exists()


def test_an_interruption_while_the_nodes_start(experiment):
    running = experiment(PACED)
    running.wait_for("driving trajectory_a")
    running.interrupt()
    ended = running.wait(SECONDS)
    assert ended.code == 130
    assert not ended.fatal_sentences
    assert ended.lines[-1] == "interrupted: nothing was recorded"
    assert "escalating" not in ended.output
    assert "Traceback" not in ended.output, ended.output


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("first", ["auto-starting new master", STARTED.format(node="rosout")])
def test_an_interruption_while_master_or_nodes_are_started(experiment, first, number):
    running = experiment(PACED)
    running.wait_for(first)
    os.kill(running.pid, number)
    ended = running.wait(SECONDS)
    assert ended.code == 130
    assert ended.lines[-1] == "interrupted: nothing was recorded"
    # An interpreter that is starting answers SIGINT with one.
    assert "Traceback" not in ended.output, ended.output
    assert "Fatal" not in ended.output, ended.output


@pytest.mark.parametrize("node", ["master", "mujoco_simulator", "error_publisher"])
def test_a_node_that_is_killed_while_others_are_started(experiment, node):
    running = experiment(PACED)
    running.signal_node(node, signal.SIGKILL)
    ended = running.wait(SECONDS)
    assert ended.code == 1
    assert ended.lines[-1].startswith("the experiment ended early: ")
    assert "Traceback" not in ended.output, ended.output
    assert "REQUIRED process" not in ended.output, ended.output


def test_who_ignores_that_a_terminal_is_closed_goes_on(tmp_path):
    program = ["nohup", find_program("run_experiment.py"), "-v"]
    running = ExperimentProcess(
        tmp_path, ["real_time_factor:=10", "settings:={trajectory: {stop: 20.0}}"], program
    )
    try:
        running.wait_until_driving()
        os.kill(running.pid, signal.SIGHUP)
        ended = running.wait(SECONDS)
    finally:
        running.end()
    assert ended.code == 0, ended.output


@pytest.mark.parametrize("node", ["mujoco_simulator", "error_publisher"])
def test_a_node_that_falls_silent(driving, node):
    running = driving("settings:={simulation: {command_timeout: 2.0}}")
    running.signal_node(node, signal.SIGSTOP)
    ended = running.wait(SECONDS)
    assert ended.code == 1
    assert ended.fatal_sentences, ended.output
    assert " for 2 s" in ended.fatal_sentences[0]
    if node == "mujoco_simulator":
        assert len(ended.fatal_sentences) == 1, ended.output
        assert "no message on trajectory_error" in ended.fatal_sentences[0]
    result_of(ended)


def test_a_service_that_never_comes(experiment):
    # The launcher, which ends an experiment with a stopped node, is not to be the first,
    # however long the others take to start.
    running = experiment("settings:={simulation: {startup_timeout: 3.0, command_timeout: 60.0}}")
    running.signal_node("imu_yaw_publisher", signal.SIGSTOP)
    ended = running.wait(SECONDS)
    assert ended.code == 1
    assert len(ended.fatal_sentences) == 1, ended.output
    assert "service /imu_yaw_publisher/start was not there after 3 s" in ended.fatal_sentences[0]
    assert "Traceback" not in ended.output, ended.output


def test_a_bag_is_recorded_without_robot_state_publisher(experiment):
    running = experiment("record:=true", "settings:={trajectory: {stop: 4.0}}")
    running.signal_node("robot_state_publisher", signal.SIGKILL)
    ended = running.wait(SECONDS)
    assert ended.code == 0, ended.output
    assert "robot_state_publisher to publish /tf_static after 10 s" in ended.output
    assert ended.result().path("experiment.bag").exists()
