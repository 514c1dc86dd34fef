"""Interrupted experiments and failed nodes: exit code, last line and saved results."""

import contextlib
import os
import re
import signal

import numpy as np
import psutil
import pytest
from experiment_process import STARTED, find_program, summary_of
from patience import wait_until
from rosbags.highlevel import AnyReader
from scenarios import WITH_FIGURES

EARLY = "the experiment ended early: "
SHORT = {"trajectory": {"stop": 4.0}, "imu_recording": {"use": False}}
# Settings of a drive that is longer than any test needs.
LONG = {
    "trajectory": {"stop": 200.0},
    "imu_recording": {"use": False},
    "simulation": {"real_time_factor": 2.0},
}

SUMMARY = "experiment_results/*/*/*/*_summary.json"


@pytest.fixture
def driving(experiment):
    """Return a function that starts a long drive and waits until the robot drives."""

    def start(*arguments, settings=LONG, program=None):
        running = experiment(*arguments, settings=settings, program=program)
        running.wait_until_driving()
        return running

    return start


def read_failure(ended):
    """Return the reason in the last line of a failed experiment."""
    assert not ended.has_traceback, ended.output
    assert ended.code == 1, ended.output
    assert ended.lines[-1].startswith(EARLY), ended.output
    return ended.lines[-1][len(EARLY) :]


def read_partial_failure(ended):
    """Return the reason in the last line after a drive that was recorded only partly."""
    reason, summary = read_failure(ended), ended.summary
    assert summary["run"]["completed"] is False
    assert summary["durations"]["recorded_s"] > 0.0
    return reason


def read_whole_table(result, name):
    """Return the times of a table; assert that they begin at zero and have no gap."""
    times = result.read_table(name).index.to_numpy()
    assert times[0] == 0.0
    np.testing.assert_allclose(np.diff(times), 0.01, atol=1e-9)
    return times


def read_partial_result(ended):
    """Return the result of an incomplete drive; assert that its tables are complete."""
    assert not ended.has_traceback, ended.output
    result, summary = ended.result(), ended.summary
    assert not [path for path in result.folder.iterdir() if path.name.startswith(".")]
    assert summary["run"]["completed"] is False
    assert 0.0 < summary["durations"]["recorded_s"] < summary["durations"]["planned_s"]
    for name in ("imu_simulated", "ground_truth"):
        messages = summary["messages"][name]
        assert messages["expected"] == messages["received"] == len(read_whole_table(result, name))
    return result


@pytest.mark.quick
def test_interrupted_drive_saves_recorded_data_and_exits_with_130(driving):
    running = driving("record:=true")
    running.interrupt()
    ended = running.wait()
    assert (ended.code, ended.fatal_sentences) == (130, [])
    assert ended.lines[-1] == "interrupted: the recorded data are saved"
    assert "escalating" not in ended.output
    assert read_partial_result(ended).path("experiment.bag").exists()


@pytest.mark.parametrize(
    ("event", "number"),
    [
        ("auto-starting new master", signal.SIGINT),
        pytest.param(STARTED.format(node="rosout"), signal.SIGTERM, marks=pytest.mark.thorough),
        ("driving trajectory_a", signal.SIGHUP),
        pytest.param("samples in use", signal.SIGINT, marks=pytest.mark.thorough),
    ],
)
def test_experiment_interrupted_during_start_records_nothing(experiment, event, number):
    running = experiment(settings=LONG)
    running.wait_for(event)
    os.kill(running.pid, number)
    ended = running.wait()
    assert ended.code == 130
    # On a busy machine, the drive may begin before the signal arrives.
    recorded = list(running.directory.glob(SUMMARY))
    outcome = "the recorded data are saved" if recorded else "nothing was recorded"
    assert ended.lines[-1] == f"interrupted: {outcome}"
    assert not ended.fatal_sentences, ended.output
    assert "escalating" not in ended.output
    # An interpreter that is starting prints a traceback on SIGINT.
    assert not ended.has_traceback, ended.output
    assert "Fatal" not in ended.output, ended.output


@pytest.mark.parametrize(
    "node", ["master", pytest.param("mujoco_simulator", marks=pytest.mark.thorough)]
)
def test_node_killed_during_start_terminates_experiment(experiment, node):
    running = experiment(settings=LONG)
    running.signal_node(node, signal.SIGKILL)
    ended = running.wait()
    read_failure(ended)
    assert "REQUIRED process" not in ended.output, ended.output


def test_node_killed_during_drive_terminates_experiment_with_results(driving):
    running = driving()
    running.signal_node("path_follower", signal.SIGKILL)
    ended = running.wait()
    assert read_partial_failure(ended) == "path_follower exited with code -9 (SIGKILL)"
    assert ended.lines[-2] == f"results: {read_partial_result(ended).folder}"


def test_killed_recorders_leave_samples_and_readable_bag(driving):
    running = driving("record:=true", "seed:=7")
    # The killed nodes lose the last twenty samples of each table, one second of commands, and the
    # last 64 kB of the bag, which contain half a second of all topics.
    running.wait_for(r"simulated ([4-9]|\d\d+)\.\d of")
    for node in ("experiment_recorder", "result_comparison"):
        running.signal_node(node, signal.SIGKILL)
    ended = running.wait()
    assert re.match(r"(\w+_recorder|\w+_comparison) exited with code -9", read_failure(ended))
    result = ended.result()
    assert not result.path("imu_simulated.csv").exists()
    with AnyReader([result.path("experiment.bag")]) as reader:
        assert reader.message_count > 0
    done = running.run_client(find_program("offline_result_comparison.py"), result.folder)
    assert done.returncode == 0, done.stdout
    run = summary_of(result)["run"]
    # The killed node did not write the summary, so these values are from config.ini and
    # recording.json.
    description = {
        name: run[name] for name in ("completed", "drive", "simulator", "seed", "controller")
    }
    assert description == {
        "completed": False, "drive": "trajectory_a", "simulator": "mujoco", "seed": 7,
        "controller": "yaw_pid",
    }  # fmt: skip
    assert run["imu"]["model"] == "hector" and run["recording"]
    for name in ("imu_simulated", "ground_truth"):
        assert len(read_whole_table(result, name)) > 250
    assert len(result.read_table("wheel_velocities")) > 30


def test_ros_master_killed_during_drive_terminates_experiment_with_results(driving):
    running = driving()
    running.signal_node("master", signal.SIGKILL)
    reason = read_partial_failure(running.wait())
    assert reason == "the ROS master exited with code -9 (SIGKILL)"


def test_ros_master_killed_after_drive_does_not_affect_results(experiment):
    running = experiment("record:=true", settings=SHORT)
    running.wait_for(r"simulated 4\.0 of 4\.0 s")
    running.signal_node("master", signal.SIGKILL)
    result = running.wait().ensure_completed().result()
    assert len(result.read_table("ground_truth")) == 401
    assert len(result.read_table("wheel_velocities_actual")) == 21
    with AnyReader([result.path("experiment.bag")]) as reader:
        assert reader.message_count > 400
    assert not list(result.folder.glob("*.samples"))


ROSLAUNCH = ["roslaunch", "imu_simulation_framework", "experiment.launch"]


@pytest.mark.parametrize("program", [None, pytest.param(ROSLAUNCH, marks=pytest.mark.thorough)])
def test_killed_launcher_leaves_results_and_no_processes(driving, program):
    running = driving(program=program)
    running.kill()
    ended = running.wait()
    assert ended.code == -signal.SIGKILL
    assert ended.summary["run"]["completed"] is False


def open_when_read(pipe):
    """Open a named pipe for writing as soon as a process reads it."""

    def try_to_open():
        with contextlib.suppress(OSError):
            return open(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK), "wb")

    return wait_until(try_to_open, f"reader of {pipe}")


def test_second_signal_after_drive_cancels_figures(experiment, tmp_path):
    # The Matplotlib settings file is a pipe without data, which blocks drawing until a signal
    # arrives.
    pipe = tmp_path / "matplotlibrc"
    os.mkfifo(pipe)
    program = ["env", f"MATPLOTLIBRC={pipe}", find_program("run_experiment.py"), "-v"]
    running = experiment(settings={**SHORT, **WITH_FIGURES}, program=program)
    drivers = [
        psutil.Process(running.wait_until_started(node))
        for node in ("mujoco_simulator", "path_follower", "imu_yaw_publisher")
    ]
    writer = running.wait_until_started("result_comparison")
    running.wait_for_file(SUMMARY)
    for driver in drivers:
        driver.wait()
    with open_when_read(pipe):
        for number in (signal.SIGTERM, signal.SIGINT):
            os.kill(writer, number)
        running.interrupt()
        ended = running.wait()
    assert (ended.code, ended.has_traceback) == (130, False)
    assert ended.lines[-1] == "interrupted: the recorded data are saved"
    assert ended.summary["run"]["completed"] is True
    assert len(ended.result().read_table("ground_truth")) == 401
    files = list(ended.result().folder.iterdir())
    assert not [path for path in files if path.name.startswith(".")]
    assert not [path for path in files if path.suffix == ".png"]


def test_drive_continues_after_sighup_killed_rosout_and_rejected_calls(driving):
    paced = {"trajectory": {"stop": 20.0}, "imu_recording": {"use": False}}
    program = ["nohup", find_program("run_experiment.py"), "-v"]
    running = driving("real_time_factor:=2", settings=paced, program=program)
    # The drive cannot end while this node is suspended.
    running.signal_node("path_follower", signal.SIGSTOP)
    os.kill(running.pid, signal.SIGHUP)
    # roslaunch restarts rosout, which exits together with the other nodes.
    running.signal_node("rosout", signal.SIGKILL)
    # An unused connection must not cause a warning.
    running.open_and_close_connection("/result_comparison", "/rosout")
    pose = "{pose: {x: 1.0, y: 2.0, theta: 3.0}}"
    refused = running.run_client("rosservice", "call", "/mujoco_simulator/set_pose", pose)
    assert "the robot is already driving" in refused.stdout
    second = running.start_client(None).wait()
    assert second.code == 2, second.output
    assert "is already running on the ROS master at" in second.lines[-1]
    assert "process[" not in second.output
    # A second roslaunch would replace the robot_state_publisher of the first experiment.
    second = running.start_client(ROSLAUNCH).wait()
    assert second.code == 1, second.output
    (sentence,) = [line for line in second.lines if "is already running" in line]
    assert sentence.startswith("a node /result_comparison"), second.output
    assert "process[" not in second.output
    running.signal_node("path_follower", signal.SIGCONT)
    # The service does not respond before the end of the drive.
    running.run_client("rosservice", "call", "/result_comparison/stop")
    assert "Inbound" not in running.wait().ensure_completed().output


def test_insufficient_memory_is_reported(experiment):
    # The limit is low, because at a slightly higher limit, which depends on the memory of the
    # threads, OpenBLAS retries an allocation of 33 MB until Ctrl+C.
    limited = ["bash", "-c", 'ulimit -v 400000; exec "$0" "$@"', find_program("run_experiment.py")]
    impatient = {**SHORT, "simulation": {"startup_timeout": 10.0}}
    ended = experiment.run(settings=impatient, program=limited)
    assert ended.code != 0, ended.output
    assert ended.lines[-1].startswith((EARLY, "run_experiment.py: ")), ended.output


def test_suspended_simulator_terminates_experiment_after_command_timeout(driving):
    impatient = {"real_time_factor": 2.0, "command_timeout": 5.0}
    running = driving(settings={**LONG, "simulation": impatient})
    running.signal_node("mujoco_simulator", signal.SIGSTOP)
    ended = running.wait()
    assert ended.code == 1
    (sentence,) = ended.fatal_sentences
    assert "no message on trajectory_error for 5 s" in sentence
    read_partial_result(ended)
