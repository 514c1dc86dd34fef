"""Completed experiments: files, bag, output and repeatability."""

import json
import re
import shlex
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from experiment_process import find_program, read_messages, summary_of
from rosbags.highlevel import AnyReader
from scenarios import (
    DURATION,
    FUSION_MODE,
    SCENARIOS,
    TABLES,
    Scenario,
    read_tables,
    repeat_in_process,
    settings_argument,
)

import imu_simulation_framework as isf
from imu_simulation_framework.core.files import urdf_path

RECORDED = SCENARIOS["receiver and odometer"]


@pytest.fixture(scope="module")
def result(recorded_drive):
    return recorded_drive.result("some/results")


def test_result_of_recorded_drive_contains_all_files_and_messages(recorded_drive, result):
    place = result.folder.relative_to(recorded_drive.directory / "some" / "results")
    assert place == Path("trajectory_a", "hector_sigma0.5_fd0.005", "1")
    expected = {f"{name}.csv" for name in (*TABLES, *RECORDED.sensors)}
    expected |= {"summary.json", "recording.json", "config.ini", "experiment.bag"}
    assert {path.name for path in result.folder.iterdir()} == {
        f"{result.prefix}_{name}" for name in expected
    }
    summary = summary_of(result)
    assert summary["run"]["seed"] == 1
    assert summary["durations"]["planned_s"] == DURATION
    messages = summary["messages"]
    for stream in ("imu_simulated", "ground_truth"):
        assert messages[stream]["expected_according_to"] == "simulator"
        assert messages[stream]["expected"] == messages[stream]["received"] == 801
        assert messages[stream]["gaps"] == 0
    # The control rate is 20 Hz; the first tracking error is published after one control period.
    assert messages["control_error"]["received"] == 160
    *_, table, factor, sentence, place = recorded_drive.lines
    assert table.startswith("tracking error, distance")
    assert factor.startswith("real-time factor")
    assert sentence.startswith("the simulated IMU drifts ")
    assert place == f"results: {result.folder}"
    for name in ("simulated IMU", "odometer"):
        assert sum(f"yaw error, {name}" in line for line in recorded_drive.lines) == 1


@pytest.fixture(scope="module")
def bag(result):
    return read_messages(result.path("experiment.bag"))


def read_topic(result, topic, latching=0):
    """Return the start time of a bag, and receipt times and messages of a topic."""
    with AnyReader([result.path("experiment.bag")]) as reader:
        connections = [each for each in reader.connections if each.topic == topic]
        assert connections and {each.ext.latching for each in connections} <= {latching, 1}
        messages = [
            (time, reader.deserialize(raw, connection.msgtype))
            for connection, time, raw in reader.messages(connections=connections)
        ]
        return reader.start_time, messages


def test_static_transforms_are_latched_at_start_of_bag(result):
    begin, messages = read_topic(result, "/tf_static", latching=1)
    # RViz and tf require the frames of the robot from the first message on.
    assert {time for time, _ in messages} == {begin}
    frames = {t.child_frame_id for _, message in messages for t in message.transforms}
    assert "imu_link" in frames


def nanoseconds(stamp):
    return stamp.sec * 10**9 + stamp.nanosec


def test_bag_contains_all_samples_and_control_periods_of_drive(bag, result):
    for topic, table in (("/imu/data", "imu_simulated"), ("/ground_truth/state", "ground_truth")):
        stamps = np.array([nanoseconds(message.header.stamp) for message in bag[topic]])
        assert np.all(np.diff(stamps) == 10_000_000)
        times = result.read_table(table).index.to_numpy()
        np.testing.assert_array_equal((stamps[: len(times)] - stamps[0]) / 1e9, times)
    clock = np.array([nanoseconds(message.clock) for message in bag["/clock"]])
    assert np.all(np.diff(clock) == 50_000_000)
    assert clock[-1] - clock[0] >= DURATION * 10**9
    start = nanoseconds(bag["/ground_truth/state"][0].header.stamp)
    # The simulator responds to the last command with one more control period.
    last = start + DURATION * 10**9 + 50_000_000
    for topic, messages in bag.items():
        if hasattr(messages[-1], "header"):
            assert nanoseconds(messages[-1].header.stamp) <= last, topic


def test_ground_truth_commands_errors_and_poses_in_bag_match_tables(bag, result):
    points = [message.pose.pose.position for message in bag["/ground_truth/state"]]
    table = result.read_table("ground_truth")[["x", "y"]].to_numpy()
    np.testing.assert_array_equal([(p.x, p.y) for p in points[: len(table)]], table)
    commands = np.array([m.data for m in bag["/wheel_velocity_controller/command"]])
    table = result.read_table("wheel_velocities").to_numpy()
    np.testing.assert_array_equal(commands[: len(table)], table)
    errors, table = bag["/trajectory_error"], result.read_table("control_error")
    values = [[getattr(message, name) for name in table.columns] for message in errors]
    np.testing.assert_array_equal(values[: len(table)], table)
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


def test_live_yaw_messages_match_yaw_tables(bag, result):
    tables = {"simulated": "imu_simulated", "real": "imu_real", "ground_truth": "ground_truth"}
    for name, table in tables.items():
        messages, yaw = bag[f"/imu_yaw/{name}"], result.read_table(table)["yaw"]
        stamps = np.array([nanoseconds(message.header.stamp) for message in messages])
        assert len(stamps) > 790 and np.all(np.diff(stamps) == 10_000_000)
        start = nanoseconds(bag["/ground_truth/state"][0].header.stamp)
        expected = np.interp((stamps - start) / 1e9, yaw.index, yaw)
        for kind in ("yaw", "yaw_unwrapped"):
            live = np.array([getattr(message, kind) for message in messages])
            np.testing.assert_allclose(np.exp(1j * (live - expected))[:700], 1.0, atol=1e-9)
        assert np.abs(np.diff(live)).max() < 1.0


def count_messages(result):
    """Count identical messages of simulator and controller in a bag, without sequence numbers."""
    topics = {"/clock", "/imu/data", "/imu/data/bias", "/ground_truth/state", "/joint_states"}
    topics |= {"/trajectory_error", "/wheel_velocity_controller/command"}
    with AnyReader([result.path("experiment.bag")]) as reader:
        return Counter(
            (each.topic, stamp, bytes(data[4 if "Header header" in each.msgdef.data else 0 :]))
            for each, stamp, data in reader.messages()
            if each.topic in topics and stamp <= DURATION * 1e9
        )


def test_repeated_experiment_without_display_yields_same_tables_and_messages(
    experiment, recorded_drive, result, monkeypatch
):
    # Without a display, the live view exits at once, and the experiment continues.
    monkeypatch.setenv("DISPLAY", ":98765")
    options = (f"config:={recorded_drive.directory / 'mine.ini'}", "record:=true")
    repeated = experiment.run(*options, "view:=matplotlib", settings={})
    assert repeated.code == 0, repeated.output
    assert "yaw_view: cannot open a window" in repeated.output
    assert "window of the live view" not in repeated.output
    assert not repeated.has_traceback, repeated.output
    assert read_tables(repeated.result(), RECORDED) == read_tables(result, RECORDED)
    assert count_messages(repeated.result()) == count_messages(result)


def test_experiment_without_ros_yields_same_tables_as_nodes(result, tmp_path):
    repeated = repeat_in_process(result, tmp_path)
    assert read_tables(repeated, RECORDED) == read_tables(result, RECORDED)


def test_car_experiment_with_redirected_output_prints_result_and_matches_run_without_ros(
    experiment, tmp_path
):
    scenario = SCENARIOS["car with magnetometer"]
    scenario.write(tmp_path)
    quiet = ["sh", "-c", 'exec "$0" "$@" >printed 2>&1', find_program("run_experiment.py")]
    arguments = ("config:=mine.ini", "record:=true")
    ended = experiment.run(*arguments, settings={}, program=quiet).ensure_completed()
    printed = (tmp_path / "printed").read_text("utf-8")
    assert "\x1b" not in printed
    assert "Traceback" not in printed
    lines = [line for line in printed.splitlines() if not line.startswith("[WARN]")]
    assert lines[0].split()[:4] == ["rms", "max", "final", "drift"]
    assert lines[-1].startswith("results: ")
    assert len(lines) == 8, printed
    result = ended.result()
    repeated = repeat_in_process(result, tmp_path)
    assert read_tables(repeated, scenario) == read_tables(result, scenario)
    check_calibration(result)


def check_calibration(result):
    """Check that the bag contains every change of the BNO055's calibration status."""
    begin, messages = read_topic(result, "/imu/calib_status")
    samples = result.read_table("imu_simulated").join(result.read_table("magnetometer_simulated"))
    expected = isf.sensors.bno055_calibration(samples, FUSION_MODE).drop_duplicates()
    assert len(expected) > 2
    statuses = [tuple(json.loads(message.data).values()) for _, message in messages]
    assert statuses == [tuple(row) for row in expected.to_numpy().tolist()]
    # The message has no stamp, so only its receipt time in the bag can be checked.
    assert begin <= messages[0][0] < begin + 1e9 * (expected.index[1] - expected.index[0])


def test_four_wheeled_robot_follows_user_recording_with_progress_in_terminal(experiment, tmp_path):
    (tmp_path / "mine").mkdir()
    write_own_recording(tmp_path / "mine" / "circle.csv")
    (tmp_path / "mine.ini").write_text(OWN_RECORDING)
    words = (
        *(find_program("run_experiment.py"), "config:=mine.ini", "recording:=mine/circle.csv"),
        *("imu:=generic", "seed:=7", "controller:=yaw_distance_pid", "real_time_factor:=1"),
        f"robot:={urdf_path('robot_four_wheels.yaml')}",
        settings_argument(
            {"comparison": {"median_window": 2.0}, "trajectory": {"to_origin": False}}
        ),
    )
    # The command ``script`` provides a terminal.
    command = f"stty cols 100; unset TQDM_DISABLE; {shlex.join(words)}"
    ended = experiment.run(program=["script", "-qefc", command, "/dev/null"]).ensure_completed()
    assert re.search(r"driving: +\d+%\|.*\| \d+ of [78] s \[", ended.output), ended.output
    assert "process[" not in ended.output
    result, summary = ended.result(), ended.summary
    assert result.folder.parent.parent.name == "mine_circle"
    assert result.folder.parent.name.startswith("generic")
    assert summary["run"]["controller"] == "yaw_distance_pid"
    assert summary["run"]["seed"] == 7
    assert summary["comparison_settings"]["median_window_s"] == 2.0
    # The simulator does not wait after the last control period.
    paced = summary["durations"]["recorded_s"] - 0.05
    assert summary["execution"]["wall_time_s"] >= paced
    start = result.read_table("ground_truth").iloc[0]
    np.testing.assert_allclose(start[["x", "y", "yaw"]], (30.0, -20.0, 1.0), atol=1e-3)
    repeated = repeat_in_process(result, tmp_path)
    assert read_tables(repeated, Scenario({})) == read_tables(result, Scenario({}))


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
    """Write an 8 s drive on a circle of 2 m radius at 0.5 m/s, with a compass error of 1 deg."""
    time = np.arange(0.0, 8.0, 0.1)
    yaw = 1.0 + 0.25 * time
    columns = {
        "t": 1e3 * time,
        "east": 30.0 + 2.0 * (np.sin(yaw) - np.sin(1.0)),
        "north": -20.0 - 2.0 * (np.cos(yaw) - np.cos(1.0)),
        "heading": np.degrees(yaw),
        "compass": np.degrees(yaw) + 1.0,
    }
    pd.DataFrame(columns).to_csv(path, index=False)
