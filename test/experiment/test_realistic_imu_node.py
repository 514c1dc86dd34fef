"""Launch files airborne.launch and realistic_imu.launch, the latter with a fake simulator."""

import json
import sys
from functools import partial
from pathlib import Path

import ideal_recordings
import numpy as np
import pytest
import yaml
from experiment_process import read_messages
from ideal_recordings import odometry_rows
from recording_writers import imu, odometry, write_bag
from tool_calls import call_tool

import imu_simulation_framework as isf
from imu_simulation_framework.core.tables import ACCEL, GYRO
from imu_simulation_framework.sensors.simulation import imu_truth

LAUNCH = ["roslaunch", "imu_simulation_framework", "realistic_imu.launch"]
FAKE = Path(__file__).with_name("fake_ideal_imu.py")
stamps_of = partial(ideal_recordings.stamps_of, start=10**9)


@pytest.fixture(scope="module")
def motion():
    return isf.rounds(0.5, radius=2.0, speed=2.0)


@pytest.fixture
def answer_of_node(experiment):
    """Return a function that runs realistic_imu.launch on published messages."""

    def run(stamps, rows, expected, *arguments, kind="imu", lever_arm=()):
        running = experiment(*arguments, program=LAUNCH)
        running.wait_until_started("realistic_imu")
        path = running.directory / "messages.json"
        path.write_text(json.dumps([stamps, np.asarray(rows).tolist()]))
        done = running.run_client(sys.executable, FAKE, path, expected, kind, *lever_arm)
        assert done.returncode == 0, done.stdout
        line = next(line for line in done.stdout.splitlines() if line.startswith("RESULT"))
        return json.loads(line[len("RESULT") :]), running

    return run


def end(running):
    """Interrupt roslaunch; assert that it exits with code 0 and without a traceback."""
    running.interrupt()
    ended = running.wait()
    assert ended.code == 0, ended.output
    assert not ended.has_traceback, ended.output
    return ended


def signals(answer):
    return np.array([message["signals"] for message in answer["imu"]])


def test_realistic_imu_node_output_matches_simulate_imu(answer_of_node, tmp_path):
    motion = isf.at_rest(4.0)
    mode = isf.sensors.bno055_in_mode(isf.read_imu_specification("bno055_magnetometer"), "NDOF")
    path = tmp_path / "ndof.yaml"
    path.write_text(isf.sensors.imu_specification_text(mode))
    options = (f"specification:={path}", "magnetometer:=true", "seed:=4")
    rows = np.hstack(imu_truth(motion)[:3])
    answer, running = answer_of_node(stamps_of(motion), rows, len(motion), *options)
    assert [message["stamp"] for message in answer["imu"]] == stamps_of(motion)
    table = isf.simulate_imu(
        motion, mode, seed=4, magnetic_environment=isf.read_magnetic_environment("clean")
    )
    np.testing.assert_array_equal(signals(answer), table[[*GYRO, *ACCEL]].to_numpy())
    ((name, values),) = answer["diagnosed"]
    assert name == "/realistic_imu" and values["messages taken"] == str(len(motion))
    assert values["messages left out"] == values["gaps"] == "0" and "yaw error [deg]" in values
    first = answer["imu"][0]
    assert first["frame"] == "robot"
    assert first["orientation_covariance"] == list(mode.covariances(0.01)[0])
    (errors,) = map(json.loads, answer["errors"])
    assert (errors["seed"], errors["input"]) == (4, "/imu")
    assert errors["parameters"]["name"] == mode.name
    expected = isf.sensors.bno055_calibration(table, "NDOF").drop_duplicates()
    # The calibration status of the gyroscope increases by one per second at standstill, up to 3.
    assert expected["gyroscope"].tolist()[-1] == 3
    statuses = [json.loads(text) for text in answer["statuses"]]
    assert [list(status) for status in statuses] == len(statuses) * [
        ["sys", "gyro", "accel", "mag"]
    ]
    # rospy loses messages that it publishes while a subscriber connects.
    changes = [tuple(status.values()) for status in statuses]
    expected_changes = [tuple(row) for row in expected.to_numpy().tolist()]
    following = iter(expected_changes)
    assert changes[-1] == expected_changes[-1]
    assert all(change in following for change in changes)
    end(running)


def test_realistic_imu_node_accepts_odometry_input_and_mounting_from_tf(answer_of_node, motion):
    arm = (0.3, -0.2, 0.1)
    options = ("specification:=ideal", "input_type:=odometry", "frame_id:=chip", "use_tf:=true")
    answer, running = answer_of_node(
        *(stamps_of(motion), odometry_rows(motion), len(motion) - 1, *options),
        kind="odometry",
        lever_arm=arm,
    )
    assert [message["stamp"] for message in answer["imu"]] == stamps_of(motion)[1:]
    assert {message["frame"] for message in answer["imu"]} == {"chip"}
    _, rate, force = imu_truth(motion.mounted(arm))[:3]
    np.testing.assert_allclose(signals(answer), np.hstack([rate, force])[1:], atol=1e-8)
    end(running)


def test_motor_field_is_computed_from_joint_efforts(answer_of_node, motion, tmp_path):
    earth, left = [1e-6, 2e-5, -4e-5], [1e-6, 0.0, 0.0]
    hall = {"earth": earth, "motors": {"left": left, "right": [0.0, 0.0, -3e-6]}}
    (tmp_path / "hall.yaml").write_text(yaml.safe_dump(hall))
    environment = isf.read_magnetic_environment(tmp_path / "hall.yaml")
    efforts = np.column_stack([np.sin(motion.time), 0.5 * motion.time])
    options = ["specification:=ideal", "magnetometer:=true", "joint_states:=/joint_states"]
    options.append(f"magnetic_environment:={tmp_path / 'hall.yaml'}")
    rows = np.hstack([*imu_truth(motion)[:3], efforts])
    answer, running = answer_of_node(
        stamps_of(motion), rows, len(motion), *options, kind="pulled_imu"
    )
    fields = np.array([message["field"] for message in answer["fields"]])
    expected = environment.measured_field(motion.position, motion.orientation, efforts)
    np.testing.assert_allclose(fields, expected, atol=1e-17)
    assert "the fields of motors are not simulated" not in end(running).output


HEADING = """
gyroscope: {white_noise: 1.0e-4}
magnetometer: {white_noise: 1.0e-7}
output: {rate: 50.0, filter: mahony, magnetic_heading: true, drop_repeated: true}
"""
HALL = {
    "dipoles": [{"position": [2.5, 0.0, 0.1], "moment": [0.0, 3.0, 1.0]}],
    "bars": [{"position": [-2.5, 1.0, 0.1], "size": [0.1, 2.0, 0.1], "permeability": 200.0}],
}


def test_realistic_imu_node_output_matches_apply_imu_errors(answer_of_node, motion, tmp_path):
    path, hall, stamps = tmp_path / "heading.yaml", tmp_path / "hall.yaml", stamps_of(motion)
    path.write_text(HEADING)
    hall.write_text(yaml.safe_dump(HALL))
    truth = list(imu_truth(motion)[:3])
    options = [f"specification:={path}", "magnetometer:=true", "frame_id:=chip"]
    options += ["pose:=/pose", f"magnetic_environment:={hall}"]
    count = (len(motion) + 1) // 2
    rows = np.hstack([*truth, odometry_rows(motion)])
    answer, running = answer_of_node(stamps, rows, count, *options, kind="placed_imu")
    poses = zip(stamps, motion.position, motion.orientation)
    ideal = {
        "/imu": [imu(stamp, *row) for stamp, row in zip(stamps, zip(*truth))],
        "/pose": [odometry(*pose) for pose in poses],
    }
    bag, out = write_bag(tmp_path / "in.bag", ideal), tmp_path / "out.bag"
    done = call_tool(
        *("apply_imu_errors.py", bag, "--imu", path, "--out", out, "--frame-id", "chip"),
        *("--magnetometer", "--pose", "/pose", "--magnetic-environment", hall),
    )
    assert done.returncode == 0, done.stderr
    messages = read_messages(out)
    fields, readings = messages["/imu/mag"], messages["/imu/data"]
    assert len(fields) == len(answer["fields"]) == count
    for field, reading, live_field, live in zip(fields, readings, answer["fields"], answer["imu"]):
        b, q = field.magnetic_field, reading.orientation
        w, a = reading.angular_velocity, reading.linear_acceleration
        stamp = field.header.stamp.sec * 10**9 + field.header.stamp.nanosec
        assert (stamp, field.header.frame_id) == (live_field["stamp"], live_field["frame"])
        assert [b.x, b.y, b.z] == live_field["field"]
        assert field.magnetic_field_covariance.tolist() == live_field["covariance"]
        assert [q.x, q.y, q.z, q.w] == live["orientation"]
        assert [w.x, w.y, w.z, a.x, a.y, a.z] == live["signals"]
        assert reading.header == field.header
    end(running)


def test_ideal_imu_with_wrong_axes_terminates_node(answer_of_node, motion):
    downward = np.hstack(imu_truth(motion)[:3])[:100] * [1, 1, 1, 1, 1, 1, 1, 1, 1, -1]
    answer, running = answer_of_node(stamps_of(motion)[:100], downward, 0)
    assert answer["imu"] == []
    running.wait_for("not x forward, y left, z up")
    assert len(running.wait().fatal_sentences) == 1


AIRBORNE = ["roslaunch", "imu_simulation_framework", "airborne.launch"]


def test_flight_ends_after_specified_duration(experiment):
    done = experiment.run("gimbal:=level", "duration:=20", "real_time_factor:=0", program=AIRBORNE)
    assert "the flight has ended" in done.output
    assert "pointing error of the gimbal" in done.output
    assert "finished cleanly" in done.output
    assert "FATAL" not in done.output


def test_interrupted_flight_ends_cleanly(experiment):
    running = experiment(program=AIRBORNE)
    running.wait_for(r"the flight of 200\.00 s begins")
    end(running)


@pytest.mark.thorough
def test_invalid_flight_argument_is_reported(experiment):
    done = experiment.run("gnss_on:=wing", program=AIRBORNE)
    (sentence,) = done.fatal_sentences
    assert "gnss_on is 'wing'" in sentence and not done.has_traceback
