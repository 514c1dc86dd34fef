"""Experiments in ROS 2 that are rejected, interrupted or terminated by a failure."""

import contextlib
import json
import os
import re
import signal

import pytest
from ros2_peers import experiment_arguments, result_below
from sensor_msgs.msg import Imu

# Imported after ros2_peers, which adds the folders of these modules to the search path.
from patience import wait_until  # isort: skip
from imu_simulation_framework.core.programs import run_tool
from imu_simulation_framework.ros2 import launcher

LONG = {"trajectory": {"stop": 200.0}, "simulation": {"real_time_factor": 2.0}}
"""Settings of a drive that is longer than any test needs."""


@pytest.fixture
def driving(program, tmp_path):
    """Return a function that starts a drive and returns its program once the robot is driving."""

    def start(**simulation):
        settings = {**LONG, "simulation": {**LONG["simulation"], **simulation}}
        running = program(*experiment_arguments(tmp_path, settings=settings))
        wait_until(is_driving, "sample of the ground truth")
        return running

    def is_driving():
        # os.walk skips folders that are renamed during the search, such as result folders.
        for folder, _, names in os.walk(tmp_path / "out"):
            for name in names:
                with contextlib.suppress(FileNotFoundError):
                    size = os.path.getsize(os.path.join(folder, name))
                    if "ground_truth" in name and size > 10_000:
                        return True
        return False

    return start


def read_partial_result(folder):
    result = result_below(folder / "out")
    assert json.loads(result.read_text("summary.json"))["run"]["completed"] is False
    assert len(result.read_table("imu_simulated")) > 50
    return result


def test_interrupted_ros2_drive_saves_recorded_data_and_exits_with_130(driving, tmp_path):
    running = driving()
    running.send_signal(signal.SIGINT)
    code, output = running.wait()
    assert code == 130, output
    read_partial_result(tmp_path)


def test_nodes_save_results_after_launcher_is_killed(driving, tmp_path):
    running = driving()
    running.send_signal(signal.SIGKILL)
    # The nodes share the launcher's standard output, which is closed when the last node exits.
    code, output = running.wait()
    assert code == -signal.SIGKILL
    assert "run_experiment.py has ended" in output
    read_partial_result(tmp_path)


def test_second_imu_publisher_terminates_experiment_with_results(driving, ros, tmp_path):
    running = driving()
    ros.publisher("imu/data", Imu).publish(Imu())
    code, output = running.wait()
    assert code == 1, output
    assert re.search("/imu/data: .* both publish, expected only one publisher", output)
    assert "the experiment ended early: " in output.splitlines()[-1]
    read_partial_result(tmp_path)


def test_suspended_simulator_terminates_ros2_experiment_with_results(driving, tmp_path):
    running = driving(command_timeout=2.0)
    os.kill(running.child("MujocoSimulator"), signal.SIGSTOP)
    code, output = running.wait()
    assert code == 1, output
    assert "no sample for 4 s before the drive was completely recorded" in output
    read_partial_result(tmp_path)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["simulator:=gazebo"], "[simulation] simulator is gazebo, expected mujoco"),
        (["record:=true"], "record:=true requires ROS 1; ros2 bag record writes a bag"),
        (
            ["simulator:=external", "imu:=specification"],
            "[imu] model is specification, expected published",
        ),
        (["laps:=many"], "[recording] laps: is 'many', expected"),
        (["odometer:=/none.yaml"], "[odometer] file: /none.yaml: neither a file nor"),
    ],
)
def test_invalid_ros2_launch_argument_is_rejected(monkeypatch, capsys, tmp_path, arguments, words):
    monkeypatch.setattr(
        launcher, "_run", lambda *_: pytest.fail("nodes were started, expected a rejection")
    )
    code = run_tool(launcher.main, [*arguments, f"output:={tmp_path / 'out'}"])
    assert code == 2
    assert words in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_missing_recording_causes_exit_code_2(program, tmp_path):
    code, output = program(*experiment_arguments(tmp_path, "recording:=/none.bag")).wait()
    assert code == 2, output
    assert "/none.bag" in output
    assert not (tmp_path / "out").exists()


def test_standalone_simulator_continues_until_interrupted(program, ros):
    simulator = program("mujoco_simulator.py", "--ros-args", "-p", "imu.model:=ideal")
    ros.until(lambda: ros.peer.count_publishers("ground_truth/state"), "ground truth")
    simulator.send_signal()
    assert simulator.wait()[0] == 0


def test_invalid_setting_of_node_is_reported(program):
    code, output = program("mujoco_simulator.py", "--ros-args", "-p", "imu.model:=bno").wait()
    assert code == 1 and "[FATAL]" in output and "'bno'" in output
