"""Experiments that are driven to their end: what they leave, and that they repeat themselves."""

import json
import re
import shlex
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from experiment_process import STARTED, find_program, messages_of, summary_of
from rosbags.highlevel import AnyReader

import imu_simulation_framework as isf
from imu_simulation_framework.core.files import urdf_path
from imu_simulation_framework.drive.figures import FIGURES
from imu_simulation_framework.drive.results.files import ResultFolder

DURATION = 8.0
SHORT = f"settings:={{trajectory: {{stop: {DURATION}}}}}"
TABLES = [
    *("trajectory_data", "reference", "imu_simulated", "imu_real", "ground_truth"),
    *("wheel_velocities", "wheel_velocities_actual", "control_error"),
]


def succeeded(ended):
    assert ended.code == 0, ended.output
    assert not ended.fatal_sentences, ended.output
    assert not ended.has_traceback, ended.output
    return ended


def csv_files(result):
    return {name: result.path(f"{name}.csv").read_bytes() for name in TABLES}


@pytest.fixture(scope="module")
def recorded(shared_experiment):
    """A short drive, recorded as a bag, with its results in a folder below the caller's."""
    return succeeded(shared_experiment.run(SHORT, "record:=true", "output:=some/results"))


@pytest.fixture(scope="module")
def result(recorded):
    return recorded.result("some/results")


def test_every_file_of_the_result_is_in_its_folder_and_no_message_was_lost(recorded, result):
    place = result.folder.relative_to(recorded.directory / "some" / "results")
    assert place == Path("trajectory_a", "hector_sigma0.5_fd0.005", "1")
    expected = {f"{name}.csv" for name in TABLES} | {f"{name}.png" for name in FIGURES}
    expected |= {"summary.json", "recording.json", "config.ini", "experiment.bag"}
    assert {path.name for path in result.folder.iterdir()} == {
        f"{result.prefix}_{name}" for name in expected
    }
    summary = summary_of(result)
    assert summary["run"]["completed"] is True
    assert summary["run"]["seed"] == 1
    assert summary["durations"]["recorded_s"] == summary["durations"]["planned_s"] == DURATION
    messages = summary["messages"]
    for stream in ("imu_simulated", "ground_truth"):
        assert messages[stream]["expected_according_to"] == "simulator"
        assert messages[stream]["expected"] == messages[stream]["received"] == 801
        assert messages[stream]["gaps"] == 0
    # 20 Hz, and the first error answers the first control period's end.
    assert messages["control_error"]["received"] == 160
    *_, table, factor, place = recorded.lines
    assert table.startswith("tracking error, distance")
    assert factor.startswith("real-time factor")
    assert place == f"results: {result.folder}"
    assert sum("yaw error, simulated IMU" in line for line in recorded.lines) == 1


@pytest.fixture(scope="module")
def bag(result):
    return messages_of(result.path("experiment.bag"))


def test_unasked_only_warnings_and_the_result_are_printed(experiment):
    arguments = ["drive:=a", "settings:={trajectory: {stop: 4.0}}", "seed:=3"]
    words = shlex.join([find_program("run_experiment.py"), *arguments])
    ended = experiment.run(program=["sh", "-c", f"{words} >told 2>&1"])
    assert ended.code == 0
    told = (ended.directory / "told").read_text("utf-8")
    assert "\x1b" not in told
    lines = [line for line in told.splitlines() if not line.startswith("[WARN]")]
    assert lines[0].split() == ["rms", "max", "final", "drift"]
    assert lines[-1].startswith("results: ")
    assert len(lines) == 7, told


def test_a_terminal_shows_how_far_the_drive_is(experiment):
    words = [find_program("run_experiment.py"), "settings:={trajectory: {stop: 30.0}}"]
    command = f"stty cols 100; {shlex.join(words)} real_time_factor:=5"
    # script gives it a terminal.
    ended = experiment.run(program=["script", "-qefc", command, "/dev/null"])
    assert ended.code == 0, ended.output
    assert re.search(r"driving: +\d+%\|.*\| \d+ of 30 s \[", ended.output), ended.output
    assert "process[" not in ended.output


def told_on(result, topic, latching=0):
    """When a bag begins, and times and messages of a topic."""
    with AnyReader([result.path("experiment.bag")]) as reader:
        known = [one for one in reader.connections if one.topic == topic]
        assert known and {one.ext.latching for one in known} <= {latching, 1}
        messages = reader.messages(connections=known)
        told = [(time, reader.deserialize(raw, one.msgtype)) for one, time, raw in messages]
        return reader.start_time, told


def test_the_bag_says_latched_at_its_beginning_what_is_fixed_on_the_robot(result):
    begin, told = told_on(result, "/tf_static", latching=1)
    # rviz and tf know the robot from the first message on.
    assert {time for time, _ in told} == {begin}
    fixed = {t.child_frame_id for _, message in told for t in message.transforms}
    assert "imu_link" in fixed


def nanoseconds(stamp):
    return stamp.sec * 10**9 + stamp.nanosec


def test_the_bag_has_every_sample_and_control_period_of_the_drive_and_ends_with_it(bag, result):
    for topic, table in (("/imu/data", "imu_simulated"), ("/ground_truth/state", "ground_truth")):
        stamps = np.array([nanoseconds(message.header.stamp) for message in bag[topic]])
        assert np.all(np.diff(stamps) == 10_000_000)
        times = result.read_table(table).index.to_numpy()
        np.testing.assert_array_equal((stamps[: len(times)] - stamps[0]) / 1e9, times)
    clock = np.array([nanoseconds(message.clock) for message in bag["/clock"]])
    assert np.all(np.diff(clock) == 50_000_000)
    assert clock[-1] - clock[0] >= DURATION * 10**9
    start = nanoseconds(bag["/ground_truth/state"][0].header.stamp)
    # One control period more: it answers the last command.
    last = start + DURATION * 10**9 + 50_000_000
    for topic, messages in bag.items():
        if hasattr(messages[-1], "header"):
            assert nanoseconds(messages[-1].header.stamp) <= last, topic


def test_the_bag_has_commands_truth_errors_and_poses_that_the_tables_tell(bag, result):
    points = [message.pose.pose.position for message in bag["/ground_truth/state"]]
    table = result.read_table("ground_truth")[["x", "y"]].to_numpy()
    np.testing.assert_array_equal([(p.x, p.y) for p in points[: len(table)]], table)
    commands = np.array([m.data for m in bag["/wheel_velocity_controller/command"]])
    table = result.read_table("wheel_velocities").to_numpy()
    np.testing.assert_array_equal(commands[: len(table)], table)
    errors, table = bag["/trajectory_error"], result.read_table("control_error")
    found = [[getattr(message, name) for name in table.columns] for message in errors]
    np.testing.assert_array_equal(found[: len(table)], table)
    start = nanoseconds(bag["/ground_truth/state"][0].header.stamp)
    paths = [result.read_table(name) for name in ("trajectory_data", "ground_truth")]
    for message in errors[:: len(errors) // 4]:
        time = message.time_from_start
        assert time == pytest.approx((nanoseconds(message.header.stamp) - start) / 1e9)
        assert message.header.frame_id == "odom"
        for path, pose in zip(paths, (message.reference, message.actual)):
            x, y, yaw = (np.interp(time, path.index, path[name]) for name in ("x", "y", "yaw"))
            assert (pose.x, pose.y) == pytest.approx((x, y), abs=1e-9)
            assert np.exp(1j * (pose.theta - yaw)) == pytest.approx(1.0)


def test_the_live_yaw_is_that_of_the_tables_on_one_clock(bag, result):
    tables = {"simulated": "imu_simulated", "real": "imu_real", "ground_truth": "ground_truth"}
    for name, table in tables.items():
        messages, yaw = bag[f"/imu_yaw/{name}"], result.read_table(table)["yaw"]
        stamps = np.array([nanoseconds(message.header.stamp) for message in messages])
        assert len(stamps) > 790 and np.all(np.diff(stamps) == 10_000_000)
        start = nanoseconds(bag["/ground_truth/state"][0].header.stamp)
        expected = np.interp((stamps - start) / 1e9, yaw.index, yaw)
        for kind in ("yaw", "yaw_unwrapped"):
            told = np.array([getattr(message, kind) for message in messages])
            np.testing.assert_allclose(np.exp(1j * (told - expected))[:700], 1.0, atol=1e-9)
        assert np.abs(np.diff(told)).max() < 1.0


def said(result):
    """What the bag holds of the drive: simulator, error, and commands; without sequence numbers."""
    wanted = {"/clock", "/imu/data", "/imu/data/bias", "/ground_truth/state", "/joint_states"}
    wanted |= {"/trajectory_error", "/wheel_velocity_controller/command"}
    with AnyReader([result.path("experiment.bag")]) as reader:
        return Counter(
            (one.topic, stamp, bytes(data[4 if "Header header" in one.msgdef.data else 0 :]))
            for one, stamp, data in reader.messages()
            if one.topic in wanted and stamp <= DURATION * 1e9
        )


def test_nodes_that_share_a_process_say_and_leave_the_same(experiment, result):
    options = (SHORT, "record:=true", "output:=shared", "one_process:=true")
    ended = succeeded(experiment.run(*options))
    for node in ("mujoco_simulator", "error_publisher", "imu_yaw_publisher"):
        assert not re.search(STARTED.format(node=node), ended.output)
    shared = ended.result("shared")
    assert csv_files(shared) == csv_files(result)
    assert said(shared) == said(result)


def in_process(result, directory):
    """The same experiment, with the settings that the result says, in this process."""
    again = ResultFolder(directory, result.prefix)
    isf.run_in_process(isf.load_configuration(result.path("config.ini"))).save(again)
    return again


def test_one_process_without_ros_gives_the_same_files(result, tmp_path):
    assert csv_files(in_process(result, tmp_path)) == csv_files(result)


SPECIFIED = """
[imu]
model = specification

[imu_specification]
file = bno055

[trajectory]
stop = 5.0
"""


HALL = """
bars: [{position: [2.0, -0.6, 0.1], size: [3.0, 0.1, 0.1]}]
motors: {left: [1e-6, 0.0, 0.0], right: [0.0, 2e-6, 0.0]}
"""


@pytest.mark.gate
@pytest.mark.parametrize(
    "settings",
    [
        SPECIFIED + "[simulation]\nlatitude = 50.0\n",
        SPECIFIED.replace("bno055", "bno055_magnetometer")
        + "[magnetic_environment]\nfile = hall.yaml\n",
        f"[robot]\nparameters = {urdf_path('robot_four_wheels.yaml')}\n[trajectory]\nstop = 8.0\n",
        SPECIFIED + "[odometer]\nfile = odometer.yaml\n",
        f"[robot]\nparameters = {urdf_path('robot_ackermann.yaml')}\n[trajectory]\nstart = 4.0\n"
        "stop = 12.0\n",
    ],
    ids=["the Earth's turning", "a magnetometer", "four wheels", "an odometer", "a car"],
)
def test_nodes_and_one_process_give_the_same_files(experiment, tmp_path, settings):
    (tmp_path / "mine.ini").write_text(settings)
    (tmp_path / "hall.yaml").write_text(HALL)
    (tmp_path / "odometer.yaml").write_text("rate: 30\nslip: 0.01\nscale_sigma: 0.01\n")
    result = succeeded(experiment.run("config:=mine.ini")).result()
    again = in_process(result, tmp_path)
    assert csv_files(again) == csv_files(result)
    for said, name in (("_magnetometer", "magnetometer_simulated"), ("[odometer]", "odometer")):
        path = result.path(f"{name}.csv")
        assert path.exists() is (said in settings)
        if path.exists():
            assert path.read_bytes() == again.path(f"{name}.csv").read_bytes()


def test_a_bno055s_calibration_is_in_the_bag(experiment, tmp_path):
    mode = isf.sensors.bno055_in_mode(isf.read_imu_specification("bno055_magnetometer"), "NDOF")
    (tmp_path / "ndof.yaml").write_text(isf.sensors.imu_specification_text(mode))
    (tmp_path / "mine.ini").write_text(
        "[imu]\nmodel = specification\n[imu_specification]\nfile = ndof.yaml\n"
        "[trajectory]\nstop = 40.0\n"
    )
    result = succeeded(experiment.run("config:=mine.ini", "record:=true")).result()
    begin, messages = told_on(result, "/imu/calib_status")
    told = [(time, json.loads(message.data)) for time, message in messages]
    samples = result.read_table("imu_simulated").join(result.read_table("magnetometer_simulated"))
    expected = isf.sensors.bno055_calibration(samples, "NDOF")
    # The first turn of drive A shows the magnetometer three octants at least.
    assert expected["magnetometer"].iloc[-1] >= 2
    statuses = [tuple(status.values()) for _, status in told]
    assert statuses == [tuple(row) for row in expected.drop_duplicates().to_numpy().tolist()]
    assert told[0][0] == begin


@pytest.mark.gate
def test_other_settings_an_own_recording_and_a_paced_clock(experiment, tmp_path):
    (tmp_path / "mine").mkdir()
    write_own_recording(tmp_path / "mine" / "circle.csv")
    (tmp_path / "mine.ini").write_text(OWN_RECORDING)
    factor = 4.0
    ended = experiment.run(
        *("config:=mine.ini", "recording:=mine/circle.csv", "imu:=generic", "seed:=7"),
        *("controller:=yaw_distance_pid", f"real_time_factor:={factor}"),
        "settings:={comparison: {median_window: 2.0}, trajectory: {to_origin: false}}",
    )
    result = succeeded(ended).result()
    summary = summary_of(result)
    assert result.folder.parent.parent.name == "mine_circle"
    assert result.folder.parent.name.startswith("generic")
    assert summary["run"]["controller"] == "yaw_distance_pid"
    assert summary["run"]["seed"] == 7
    assert summary["comparison_settings"]["median_window_s"] == 2.0
    # The last control period is not waited for.
    paced = (summary["durations"]["recorded_s"] - 0.05) / factor
    assert summary["execution"]["wall_time_s"] >= paced
    again = in_process(result, tmp_path)
    assert csv_files(again) == csv_files(result)
    start = result.read_table("ground_truth").iloc[0]
    np.testing.assert_allclose(start[["x", "y", "yaw"]], (30.0, -20.0, 1.0), atol=1e-3)


OWN_RECORDING = """
[reference]
format = csv

[reference_columns]
time = t [ms]
x = east
y = north
yaw = heading [deg]

[imu_recording]
format = csv

[imu_columns]
time = t [ms]
yaw = compass [deg]
"""


def write_own_recording(path):
    """Six seconds on a circle of 2 m radius at 0.5 m/s; the compass is 1 deg off."""
    time = np.arange(0.0, 6.0, 0.1)
    yaw = 1.0 + 0.25 * time
    columns = {
        "t": 1e3 * time,
        "east": 30.0 + 2.0 * (np.sin(yaw) - np.sin(1.0)),
        "north": -20.0 - 2.0 * (np.cos(yaw) - np.cos(1.0)),
        "heading": np.degrees(yaw),
        "compass": np.degrees(yaw) + 1.0,
    }
    pd.DataFrame(columns).to_csv(path, index=False)


@pytest.mark.gate
def test_roslaunch_alone_with_a_private_parameter_of_one_node(experiment, tmp_path):
    # As a user would do it from a launch file of his own.
    launch = tmp_path / "mine.launch"
    launch.write_text(PRIVATE_PARAMETER)
    ended = experiment.run("mine.launch", program=["roslaunch"])
    assert not ended.has_traceback, ended.output
    result = ended.result()
    summary = summary_of(result)
    assert summary["run"]["completed"] is True
    assert summary["comparison_settings"]["median_window_s"] == 3.5
    # roslaunch calls the end of a required node a death, in red.
    assert "REQUIRED" not in ended.output, ended.output
    # Nobody else tells the result here.
    assert f"results: {result.folder}" in ended.lines
    assert any(line.startswith("yaw error, simulated IMU") for line in ended.lines)


PRIVATE_PARAMETER = """
<launch>
  <include file="$(find imu_simulation_framework)/launch/experiment.launch">
    <arg name="settings" value="{trajectory: {stop: 3.0}, imu_recording: {use: false}}" />
  </include>
  <param name="result_comparison/comparison/median_window" value="3.5" />
</launch>
"""
