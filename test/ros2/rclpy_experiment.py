"""Whole experiments in ROS 2: the same bytes as in one process, and bad ends."""

import dataclasses
import json
import os
import re
import signal
import time
from datetime import datetime

import numpy as np
import pytest
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile
from ros2_peers import TIMEOUT, result_below
from sensor_msgs.msg import Imu, JointState

from imu_simulation_framework.core.angles import wrap
from imu_simulation_framework.core.files import urdf_path
from imu_simulation_framework.drive.configuration import load_configuration
from imu_simulation_framework.drive.in_process import run_in_process
from imu_simulation_framework.drive.results.files import create_result_folder
from imu_simulation_framework.ros2.experiment import ErrorPublisher

TABLES = (
    *("trajectory_data", "reference", "imu_simulated", "ground_truth"),
    *("wheel_velocities", "wheel_velocities_actual", "control_error"),
)
LONG_ENOUGH = 240.0  # seconds for a whole experiment on a busy machine
SPECIFIED = """
gyroscope: {white_noise: 1.0e-3, turn_on_bias: [0.001, 0.0, 0.002]}
magnetometer: {}
output: {magnetic_heading: true}
"""


@pytest.fixture
def experiment(program, tmp_path):
    """Start run_experiment.py; returns the process."""

    def start(*arguments, stop=6.0):
        settings = f"settings:={{trajectory: {{stop: {stop}}}}}"
        return program("run_experiment.py", settings, f"output:={tmp_path / 'out'}", *arguments)

    return start


@pytest.mark.parametrize(
    ("imu", "robot"), [("hector", "robot.yaml"), ("specification", "robot_ackermann.yaml")]
)
def test_tables_are_those_of_one_process_to_the_byte(experiment, tmp_path, imu, robot):
    arguments = [f"imu:={imu}", "seed:=7", "controller:=ramsete", f"robot:={urdf_path(robot)}"]
    if imu == "hector":
        (tmp_path / "odometer.yaml").write_text("rate: 30\nslip: 0.01\nscale_sigma: 0.01\n")
        arguments += ["gnss:=rtk", f"odometer:={tmp_path / 'odometer.yaml'}"]
    else:
        (tmp_path / "imu.yaml").write_text(SPECIFIED)
        (tmp_path / "mine.ini").write_text("[imu_specification]\nfile = imu.yaml\n")
        arguments.append(f"config:={tmp_path / 'mine.ini'}")
    code, output = experiment(*arguments).wait(LONG_ENOUGH)
    assert code == 0, output
    assert "yaw error, simulated IMU" in output
    result = result_below(tmp_path / "out")
    assert json.loads(result.read_text("summary.json"))["run"]["completed"] is True
    tables = run_in_process(load_configuration(result.path("config.ini")))
    hector = imu == "hector"
    sensors = ("gnss_simulated", "odometer") if hector else ("magnetometer_simulated",)
    again = create_result_folder(tmp_path, "again", "one_process", datetime.now())
    for name in (*TABLES, *sensors):
        written = again.write_table(name, getattr(tables, name))
        assert written.read_bytes() == result.path(f"{name}.csv").read_bytes(), name


def test_yaws_and_their_errors_can_be_watched(experiment, ros, tmp_path):
    # Long enough for the publisher to have heard of its listeners.
    running = experiment("imu:=hector", stop=200.0)
    errors, truths = (
        ros.listen(f"imu_yaw/{name}", JointState, QoSProfile(depth=10000), raw=False)
        for name in ("simulated_error", "ground_truth")
    )
    # Nothing is said before the drive, and the listener may have come in the middle of it.
    deadline = time.monotonic() + LONG_ENOUGH
    while not list((tmp_path / "out").glob("**/*_summary.json")):
        assert time.monotonic() < deadline
        ros.spin(0.1)
    code, output = running.wait(TIMEOUT)
    assert code == 0, output
    result = result_below(tmp_path / "out")
    yaws = [result.read_table(name)["yaw"] for name in ("ground_truth", "imu_simulated")]
    assert len(errors) > 100 and len(truths) > 100
    zeros = []
    for message in errors:
        assert list(message.name) == ["yaw", "yaw_unwrapped"]
        stamp = message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec
        if stamp <= yaws[0].index[-1]:
            truth, imu = (np.interp(stamp, yaw.index, np.unwrap(yaw)) for yaw in yaws)
            zeros.append(wrap(message.position[0] - (truth - imu)))
    # They count from where the drive began, whatever the first of them was.
    np.testing.assert_allclose(zeros, zeros[0], atol=1e-9)


def wait_until_driving(folder):
    deadline = time.monotonic() + LONG_ENOUGH
    while not any(path.stat().st_size > 10_000 for path in folder.glob("**/*ground_truth*")):
        assert time.monotonic() < deadline, "it does not drive"
        time.sleep(0.1)


def test_what_was_recorded_is_kept_when_it_is_interrupted(experiment, tmp_path):
    running = experiment(stop=300.0)
    wait_until_driving(tmp_path / "out")
    running.interrupt(signal.SIGINT)
    code, output = running.wait(TIMEOUT)
    assert code == 130, output
    result = result_below(tmp_path / "out")
    assert json.loads(result.read_text("summary.json"))["run"]["completed"] is False
    assert len(result.read_table("imu_simulated")) > 50


def test_a_recorder_that_stands_still_for_a_second_misses_nothing(experiment, tmp_path):
    running = experiment(stop=300.0)
    wait_until_driving(tmp_path / "out")
    recorder = running.child("ResultComparison")
    os.kill(recorder, signal.SIGSTOP)
    time.sleep(1.0)
    os.kill(recorder, signal.SIGCONT)
    code, output = running.wait(LONG_ENOUGH)
    assert code == 0, output
    messages = json.loads(result_below(tmp_path / "out").read_text("summary.json"))["messages"]
    for name in ("imu_simulated", "ground_truth"):
        assert messages[name]["received"] == messages[name]["expected"] > 30_000


def test_a_second_imu_ends_it_with_a_sentence_and_a_result(experiment, ros, tmp_path):
    running = experiment(stop=300.0)
    wait_until_driving(tmp_path / "out")
    ros.publisher("imu/data", Imu).publish(Imu())
    code, output = running.wait(TIMEOUT)
    assert code == 1, output
    assert re.search("publishes on /imu/data, beside .*: only one node may", output)
    assert "the experiment ended early: " in output.splitlines()[-1]
    assert len(result_below(tmp_path / "out").read_table("imu_simulated")) > 50


@pytest.mark.parametrize(
    ("argument", "sentence"),
    [
        ("simulator:=gazebo", "[simulation] simulator is gazebo, expected mujoco"),
        ("record:=true", "record:=true is for ROS 1; ros2 bag record writes a bag"),
        ("laps:=many", "[recording] laps: expected a number, got 'many'"),
        ("lap:=1", "lap:=1: expected name:=value with one of"),
        ("recording:=/none.bag", "/none.bag"),
        ("odometer:=/none.yaml", "[odometer] file: /none.yaml: the odometer cannot be read"),
    ],
)
def test_what_cannot_be_done_is_refused_before_anything_starts(
    experiment, tmp_path, argument, sentence
):
    code, output = experiment(argument).wait(TIMEOUT)
    assert code == 2, output
    assert sentence in output
    assert not (tmp_path / "out").exists()


def test_a_node_by_itself_waits_for_others_until_it_is_told_to_end(program, ros):
    simulator = program("mujoco_simulator.py", "--ros-args", "-p", "imu.model:=ideal")
    ros.until(lambda: ros.peer.count_publishers("ground_truth/state"))
    ros.spin(1.0)
    simulator.interrupt()
    assert simulator.wait()[0] == 0


def test_all_settings_are_parameters_with_their_values_and_ranges(ros):
    overrides = [Parameter("control.rate", value=25.0), Parameter("experiment.seed", value=9)]
    node = ErrorPublisher(parameter_overrides=overrides)
    ros.nodes.append(node)
    settings = load_configuration(overrides={"control": {"rate": 25.0}, "experiment": {"seed": 9}})
    for section in ("control", "simulation", "recording"):
        for key in dataclasses.fields(getattr(settings, section)):
            value = getattr(getattr(settings, section), key.name)
            if value is not None:
                assert node.get_parameter(f"{section}.{key.name}").value == value
    rate, seed = map(node.describe_parameter, ("control.rate", "experiment.seed"))
    assert rate.read_only and rate.description == "in Hz"
    (bounds,) = rate.floating_point_range
    assert (bounds.from_value, bounds.to_value) == (0.1, 100.0)
    assert seed.integer_range[0].to_value == 2**63 - 1


def test_a_setting_that_is_wrong_is_said(program):
    code, output = program("mujoco_simulator.py", "--ros-args", "-p", "imu.model:=bno").wait()
    assert code == 1 and "[FATAL]" in output and "'bno'" in output
