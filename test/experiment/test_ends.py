"""Whatever ends or disturbs an experiment: code and last line say so, what there is is saved."""

import os
import signal

import numpy as np
import psutil
import pytest
from experiment_process import STARTED, find_program
from rosbags.highlevel import AnyReader

from imu_simulation_framework.drive.results.files import complete_tables

pytestmark = pytest.mark.gate

SECONDS = 180.0
"""Wall clock in which a disturbed experiment must have ended; on two very busy cores."""

SHARED = "one_process:=true"

EARLY = "the experiment ended early: "
PACED = "real_time_factor:=10"
SHORT = "trajectory: {stop: 40.0}, imu_recording: {use: false}"
LONG = "trajectory: {stop: 400.0}, imu_recording: {use: false}"
SUMMARY = "experiment_results/*/*/*/*_summary.json"


def settings(*sections):
    return "settings:={" + ", ".join(sections) + "}"


@pytest.fixture
def driving(experiment):
    """Start a drive that would take a minute, and wait until it is in the middle."""

    def start(*sections, arguments=()):
        running = experiment(PACED, settings(*(sections or [LONG])), *arguments)
        running.wait_until_driving()
        return running

    return start


def failed(ended):
    """The reason in the last line."""
    assert not ended.has_traceback, ended.output
    assert ended.code == 1, ended.output
    assert ended.lines[-1].startswith(EARLY), ended.output
    return ended.lines[-1][len(EARLY) :]


def ended_early(ended):
    """The reason why it failed; what was recorded is kept and says so."""
    reason, summary = failed(ended), ended.summary
    assert summary["run"]["completed"] is False
    assert summary["durations"]["recorded_s"] > 0.0
    return reason


def succeeded(ended):
    assert ended.code == 0, ended.output
    summary = ended.summary
    assert summary["run"]["completed"] is True
    assert summary["durations"]["recorded_s"] == summary["durations"]["planned_s"]


def test_result_comparison_told_to_end_in_the_middle(driving):
    running = driving()
    running.signal_node("result_comparison", signal.SIGTERM)
    assert "result_comparison" in ended_early(running.wait(SECONDS))


def test_what_others_do_beside_a_drive_changes_nothing(experiment):
    running = experiment("real_time_factor:=5", settings(SHORT))
    # roslaunch starts it again, and it ends with the others.
    running.signal_node("rosout", signal.SIGKILL)
    running.wait_until_driving()
    pose = "{pose: {x: 1.0, y: 2.0, theta: 3.0}}"
    refused = running.run_beside("rosservice", "call", "/mujoco_simulator/set_pose", pose)
    assert "the robot drives already" in refused.stdout
    second = running.beside(None, settings(SHORT)).wait(SECONDS)
    assert second.code == 2, second.output
    assert "runs already on the ROS master at" in second.lines[-1]
    assert "process[" not in second.output
    # It answers when the drive is over.
    running.run_beside("rosservice", "call", "/result_comparison/stop", timeout=SECONDS)
    succeeded(running.wait(SECONDS))


COMMAND = "/wheel_velocity_controller/command", "std_msgs/Float64MultiArray", "{data: [1.0, 1.0]}"
LATER = "header: {stamp: {secs: 2000000000}}"
TRUTH = "/ground_truth/state", "nav_msgs/Odometry", f"{{{LATER}}}"
ERROR = (
    "/trajectory_error",
    "imu_simulation_framework/ErrorCoordinates2",
    f"{{{LATER}, time_from_start: .nan}}",
)


@pytest.mark.parametrize("message", [COMMAND, TRUTH, ERROR, (*TRUTH, SHARED)])
def test_a_message_from_somebody_else_ends_it(driving, message):
    topic, message_type, content, *arguments = message
    running = driving(arguments=arguments)
    running.run_beside("rostopic", "pub", "--once", topic, message_type, content)
    reason = ended_early(running.wait(SECONDS))
    assert f" publishes on {topic}, beside " in reason


def test_a_master_that_is_killed(driving):
    running = driving()
    running.signal_node("master", signal.SIGKILL)
    reason = ended_early(running.wait(SECONDS))
    assert reason == "the ROS master ended with code -9 (SIGKILL)"


@pytest.mark.parametrize("moment", ["the drive is over", "tables are written"])
def test_a_master_that_is_killed_between_the_drives_end_and_its_results(experiment, moment):
    running = experiment("record:=true", settings(SHORT))
    if moment == "the drive is over":
        running.wait_for(r"simulated 40\.0 of 40\.0 s")
    else:
        running.wait_for_file(SUMMARY.replace("summary.json", "ground_truth.csv"))
    running.signal_node("master", signal.SIGKILL)
    ended = running.wait(SECONDS)
    succeeded(ended)
    result = ended.result()
    assert len(result.read_table("ground_truth")) == 4001
    assert len(result.read_table("wheel_velocities_actual")) == 201
    assert result.path("yaw_error.png").exists()
    with AnyReader([result.path("experiment.bag")]) as reader:
        assert reader.message_count > 4000
    assert not list(result.folder.glob("*.samples"))


@pytest.mark.parametrize(
    "program", [None, ["roslaunch", "imu_simulation_framework", "experiment.launch"]]
)
def test_a_launcher_that_is_killed_leaves_nobody_and_the_results(experiment, program):
    running = experiment(PACED, settings(LONG), program=program)
    running.wait_until_driving()
    running.kill()
    ended = running.wait(SECONDS, others=SECONDS)
    assert ended.code == -signal.SIGKILL
    assert ended.summary["run"]["completed"] is False


def test_figures_do_not_keep_a_node_that_is_told_twice_to_end(experiment):
    running = experiment(settings(SHORT))
    running.wait_for_file(SUMMARY)
    running.signal_node("result_comparison", signal.SIGINT)
    running.signal_node("result_comparison", signal.SIGTERM)
    ended = running.wait(SECONDS)
    assert ended.summary["run"]["completed"] is True
    assert len(ended.result().read_table("ground_truth")) == 4001
    assert not [path for path in ended.result().folder.iterdir() if path.name.startswith(".")]


def test_who_has_only_driven_makes_room_before_figures_are_drawn(experiment):
    running = experiment(settings(SHORT))
    drove = [
        psutil.Process(int(running.wait_for(STARTED.format(node=node)).group(1)))
        for node in ("mujoco_simulator", "path_follower", "imu_yaw_publisher")
    ]
    _, left = psutil.wait_procs(drove, timeout=SECONDS)
    assert not left
    figure = SUMMARY.replace("summary.json", "yaw_error.png")
    assert not list(running.directory.glob(figure))
    succeeded(running.wait(SECONDS))


def test_an_end_while_figures_are_drawn(experiment):
    killed, interrupted = experiment(settings(SHORT)), experiment(settings(SHORT), "output:=other")
    killed.wait_for_file(SUMMARY)
    killed.signal_node("result_comparison", signal.SIGKILL)
    interrupted.wait_for_file(SUMMARY.replace("experiment_results", "other"))
    interrupted.interrupt()
    assert failed(killed.wait(SECONDS)).startswith(
        "result_comparison ended with code -9 (SIGKILL), the drive was over"
    )
    ended = interrupted.wait(SECONDS)
    assert (ended.code, ended.has_traceback) == (130, False)
    assert ended.lines[-1] == "interrupted: what was recorded is saved"


def test_the_bag_of_a_killed_recorder_can_be_read(experiment):
    running = experiment(PACED, "record:=true", settings(LONG))
    # The last 64 kB are lost: of all topics half a second.
    running.wait_for(r"simulated ([3-9]|\d\d+)\.\d of")
    running.signal_node("experiment_recorder", signal.SIGKILL)
    ended = running.wait(SECONDS)
    assert "experiment_recorder ended with code -9 (SIGKILL)" in ended_early(ended)
    with AnyReader([ended.result().path("experiment.bag")]) as reader:
        assert reader.message_count > 0


def test_too_little_memory(experiment):
    program = find_program("run_experiment.py")
    # On a large machine one thread's memory is more; what matters is that it ends. Between that
    # and what is enough OpenBLAS asks for its 33 MB again and again, until Ctrl+C.
    limited = ["bash", "-c", 'ulimit -v 400000; exec "$0" "$@"', program]
    ended = experiment.run(
        settings(SHORT, "simulation: {startup_timeout: 10.0}"), program=limited, timeout=SECONDS
    )
    assert ended.code != 0, ended.output
    assert ended.lines[-1].startswith((EARLY, "run_experiment.py: ")), ended.output


def whole_table(result, name):
    """Times of a table from zero on, without a gap."""
    times = result.read_table(name).index.to_numpy()
    assert times[0] == 0.0
    np.testing.assert_allclose(np.diff(times), 0.01, atol=1e-9)
    return times


def result_of(ended):
    """What was recorded, which must be whole and say that the drive was not completed."""
    assert not ended.has_traceback, ended.output
    result, summary = ended.result(), ended.summary
    assert not [path for path in result.folder.iterdir() if path.name.startswith(".")]
    assert summary["run"]["completed"] is False
    assert 0.0 < summary["durations"]["recorded_s"] < summary["durations"]["planned_s"]
    for name in ("imu_simulated", "ground_truth"):
        messages = summary["messages"][name]
        assert messages["expected"] == messages["received"] == len(whole_table(result, name))
    return result


@pytest.mark.parametrize(
    ("node", "arguments"),
    [("path_follower", []), ("mujoco_simulator", []), ("path_follower", [SHARED])],
)
def test_a_node_that_is_killed(driving, node, arguments):
    running = driving(arguments=arguments)
    running.signal_node(node, signal.SIGKILL)
    ended = running.wait(SECONDS)
    assert ended_early(ended) == f"{node} ended with code -9 (SIGKILL)"
    result = result_of(ended)
    assert ended.lines[-2] == f"results: {result.folder}"
    assert result.path("yaw_error.png").exists()


def test_the_killed_node_that_records_the_results(driving):
    running = driving()
    # The last twenty samples of each kind are lost: of the commands a second.
    running.wait_for(r"simulated ([3-9]|\d\d+)\.\d of")
    running.signal_node("result_comparison", signal.SIGKILL)
    ended = running.wait(SECONDS)
    assert failed(ended).startswith("result_comparison ended with code -9 (SIGKILL); offline_")
    # What it had recorded is there, but for the last moment.
    result = ended.result()
    assert not result.path("imu_simulated.csv").exists()
    complete_tables(result)
    for name in ("imu_simulated", "ground_truth"):
        assert len(whole_table(result, name)) > 250
    assert len(result.read_table("wheel_velocities")) > 30


@pytest.mark.parametrize("arguments", [[], [SHARED]])
def test_an_interruption_in_the_middle(driving, arguments):
    running = driving(arguments=["record:=true", *arguments])
    running.interrupt()
    ended = running.wait(SECONDS)
    assert (ended.code, ended.fatal_sentences) == (130, [])
    assert ended.lines[-1] == "interrupted: what was recorded is saved"
    assert "escalating" not in ended.output
    assert result_of(ended).path("experiment.bag").exists()


@pytest.mark.parametrize(
    ("first", "number", "arguments"),
    [
        ("auto-starting new master", signal.SIGINT, []),
        (STARTED.format(node="rosout"), signal.SIGINT, []),
        (STARTED.format(node="rosout"), signal.SIGTERM, []),
        ("driving trajectory_a", signal.SIGHUP, []),
        ("samples in use", signal.SIGINT, [SHARED]),
    ],
)
def test_an_interruption_while_master_or_nodes_are_started(experiment, first, number, arguments):
    running = experiment(PACED, *arguments)
    running.wait_for(first)
    os.kill(running.pid, number)
    ended = running.wait(SECONDS)
    assert ended.code == 130
    assert ended.lines[-1] == "interrupted: nothing was recorded"
    assert not ended.fatal_sentences, ended.output
    assert "escalating" not in ended.output
    # An interpreter that is starting answers SIGINT with one.
    assert not ended.has_traceback, ended.output
    assert "Fatal" not in ended.output, ended.output


@pytest.mark.parametrize("node", ["master", "mujoco_simulator"])
def test_a_node_that_is_killed_while_others_are_started(experiment, node):
    running = experiment(PACED)
    running.signal_node(node, signal.SIGKILL)
    ended = running.wait(SECONDS)
    failed(ended)
    assert "REQUIRED process" not in ended.output, ended.output


def test_who_ignores_that_a_terminal_is_closed_goes_on(experiment):
    program = ["nohup", find_program("run_experiment.py"), "-v"]
    running = experiment(PACED, settings("trajectory: {stop: 20.0}"), program=program)
    running.wait_until_driving()
    os.kill(running.pid, signal.SIGHUP)
    ended = running.wait(SECONDS)
    assert ended.code == 0, ended.output


@pytest.mark.parametrize("node", ["mujoco_simulator", "error_publisher"])
def test_a_node_that_falls_silent(driving, node):
    running = driving(LONG, "simulation: {command_timeout: 2.0}")
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
    failed(ended)
    (sentence,) = ended.fatal_sentences
    assert "service /imu_yaw_publisher/start was not there after 3 s" in sentence
