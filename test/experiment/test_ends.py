"""Whatever ends an experiment: exit code and last line say so, and nobody is left waiting."""

import json
import signal

import pytest
from experiment_process import PROGRESS, find_program
from rosbags.highlevel import AnyReader

pytestmark = pytest.mark.slow

SECONDS = 180.0
"""Wall clock in which a disturbed experiment must have ended; on two very busy cores."""

EARLY = "the experiment ended early: "
PACED = "real_time_factor:=10"
SHORT = "trajectory: {stop: 40.0}, imu_recording: {use: false}"
LONG = "trajectory: {stop: 400.0}, imu_recording: {use: false}"
IMPATIENT = "simulation: {command_timeout: 3.0}"
SUMMARY = "experiment_results/*/*/*/*_summary.json"


def settings(*sections):
    return "settings:={" + ", ".join(sections) + "}"


@pytest.fixture
def driving(experiment):
    """Start a drive that would take a minute, and wait until it is in the middle."""

    def start(*sections):
        running = experiment(PACED, settings(*(sections or [LONG])))
        running.wait_for(PROGRESS)
        return running

    return start


def summary_of(ended):
    return json.loads(ended.result().read_text("summary.json"))


def ended_early(ended):
    """Failed with a reason in the last line; what was recorded is kept and says so."""
    assert "Traceback" not in ended.output, ended.output
    assert ended.code == 1, ended.output
    assert ended.lines[-1].startswith(EARLY), ended.output
    summary = summary_of(ended)
    assert summary["run"]["completed"] is False
    assert summary["durations"]["recorded_s"] > 0.0
    return ended.lines[-1][len(EARLY) :]


def succeeded(ended):
    assert ended.code == 0, ended.output
    assert "Traceback" not in ended.output, ended.output
    summary = summary_of(ended)
    assert summary["run"]["completed"] is True
    assert summary["durations"]["recorded_s"] == summary["durations"]["planned_s"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_result_comparison_told_to_end_in_the_middle(driving, number):
    running = driving()
    running.signal_node("result_comparison", number)
    assert "result_comparison" in ended_early(running.wait(SECONDS))


def test_what_others_ask_for_in_the_middle_of_the_drive_changes_nothing(driving):
    running = driving(SHORT)
    pose = "{pose: {x: 1.0, y: 2.0, theta: 3.0}}"
    refused = running.run_beside("rosservice", "call", "/mujoco_simulator/set_pose", pose)
    assert "the robot drives already" in refused.stdout
    # It answers when the drive is over.
    running.run_beside("rosservice", "call", "/result_comparison/stop", timeout=SECONDS)
    succeeded(running.wait(SECONDS))


@pytest.mark.parametrize(
    ("topic", "message_type", "message"),
    [
        ("/wheel_velocity_controller/command", "std_msgs/Float64MultiArray", "{data: [1.0, 1.0]}"),
        ("/ground_truth/state", "nav_msgs/Odometry", "{header: {stamp: {secs: 2000000000}}}"),
        (
            "/trajectory_error",
            "imu_simulation_framework/ErrorCoordinates2",
            "{header: {stamp: {secs: 2000000000}}, time_from_start: .nan}",
        ),
    ],
)
def test_a_message_from_somebody_else_ends_it(driving, topic, message_type, message):
    running = driving()
    running.run_beside("rostopic", "pub", "--once", topic, message_type, message)
    reason = ended_early(running.wait(SECONDS))
    assert f" publishes on {topic}, beside " in reason


@pytest.mark.parametrize("node", ["result_comparison", "mujoco_simulator"])
def test_a_node_that_is_stopped_before_the_drive(experiment, node):
    running = experiment(settings(SHORT, IMPATIENT))
    running.signal_node(node, signal.SIGSTOP)
    ended = running.wait(SECONDS)
    assert ended.code == 1
    assert ended.lines[-1].startswith(EARLY), ended.output
    assert "Traceback" not in ended.output, ended.output


def test_a_master_that_is_stopped(driving):
    running = driving(LONG, IMPATIENT)
    running.signal_node("master", signal.SIGSTOP)
    ended = running.wait(SECONDS)
    # A drive that has begun needs no master to be recorded to its end.
    assert ended.code in (0, 1), ended.output
    assert summary_of(ended)["run"]["completed"] is (ended.code == 0)
    assert "Traceback" not in ended.output, ended.output


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
        running.wait_for_file("experiment_results/*/*/*/*_ground_truth.csv")
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
    running.wait_for(PROGRESS)
    running.kill()
    ended = running.wait(SECONDS, others=SECONDS)
    assert ended.code == -signal.SIGKILL
    assert summary_of(ended)["run"]["completed"] is False


def test_a_second_experiment_on_the_same_master_is_refused(driving):
    first = driving(SHORT)
    second = first.start_beside(settings(SHORT)).wait(SECONDS)
    assert second.code == 2, second.output
    assert "runs already on the ROS master at" in second.lines[-1]
    assert "process[" not in second.output
    succeeded(first.wait(SECONDS))


def test_nobody_but_who_writes_is_needed_when_the_drive_is_over(experiment):
    running = experiment(settings(SHORT))
    running.wait_for_file(SUMMARY)
    running.signal_node("mujoco_simulator", signal.SIGKILL)
    ended = running.wait(SECONDS)
    succeeded(ended)
    assert ended.result().path("yaw_error.png").exists()


def test_a_rosout_that_roslaunch_has_started_again_ends_with_the_others(experiment):
    running = experiment(settings(SHORT))
    running.signal_node("rosout", signal.SIGKILL)
    succeeded(running.wait(SECONDS))


def test_figures_do_not_keep_a_node_that_is_told_twice_to_end(experiment):
    running = experiment(settings(SHORT))
    running.wait_for_file(SUMMARY)
    running.signal_node("result_comparison", signal.SIGINT)
    running.signal_node("result_comparison", signal.SIGTERM)
    ended = running.wait(SECONDS)
    assert "Traceback" not in ended.output, ended.output
    result = ended.result()
    assert json.loads(result.read_text("summary.json"))["run"]["completed"] is True
    assert len(result.read_table("ground_truth")) == 4001
    assert not [path for path in result.folder.iterdir() if path.name.startswith(".")]


def test_the_bag_of_a_killed_recorder_can_be_read(experiment):
    running = experiment(PACED, "record:=true", settings(LONG))
    running.wait_for(PROGRESS)
    running.signal_node("experiment_recorder", signal.SIGKILL)
    ended = running.wait(SECONDS)
    assert "experiment_recorder ended with code -9 (SIGKILL)" in ended_early(ended)
    with AnyReader([ended.result().path("experiment.bag")]) as reader:
        assert reader.message_count > 0


def test_too_little_memory_for_a_node(experiment):
    program = find_program("run_experiment.py")
    # On a large machine one thread's memory is more; what matters is that it ends.
    limited = ["bash", "-c", 'ulimit -v 600000; exec "$0" "$@"', program]
    ended = experiment.run(
        settings(SHORT, "simulation: {startup_timeout: 10.0}"), program=limited, timeout=SECONDS
    )
    assert ended.code != 0, ended.output
    assert ended.lines[-1].startswith((EARLY, "run_experiment.py: ")), ended.output
