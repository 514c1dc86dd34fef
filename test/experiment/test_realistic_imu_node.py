"""realistic_imu.launch beside a simulator that is not ours, and airborne.launch."""

import json
import math
import signal
import sys
from functools import partial
from pathlib import Path

import ideal_recordings
import numpy as np
import pytest
import yaml
from experiment_process import messages_of
from ideal_recordings import odometry_rows
from recording_writers import imu, magnetic_field, odometry, write_bag
from tool_calls import call_tool

import imu_simulation_framework as isf
from imu_simulation_framework.sensors.simulation import imu_truth

LAUNCH = ["roslaunch", "imu_simulation_framework", "realistic_imu.launch"]
FAKE = Path(__file__).with_name("fake_ideal_imu.py")
stamps_of = partial(ideal_recordings.stamps_of, start=10**9)


@pytest.fixture(scope="module")
def motion():
    return isf.rounds(0.5, radius=2.0, speed=2.0)


def started(experiment, stamps, rows, *arguments):
    """Start the launch file; return its process, and a file with messages to publish."""
    running = experiment(*arguments, program=LAUNCH)
    running.wait_for(r"process\[realistic_imu-\d+\]: started")
    path = running.directory / "messages.json"
    path.write_text(json.dumps([stamps, np.asarray(rows).tolist()]))
    return running, path


def beside(experiment, stamps, rows, expected, *arguments, kind="imu", lever_arm=()):
    """Start the launch file, publish, and return what was heard, and the launch file's process."""
    running, path = started(experiment, stamps, rows, *arguments)
    done = running.run_beside(sys.executable, FAKE, path, expected, kind, *lever_arm, timeout=100.0)
    assert done.returncode == 0, done.stdout
    line = next(line for line in done.stdout.splitlines() if line.startswith("RESULT"))
    return json.loads(line[len("RESULT") :]), running


def test_an_input_of_which_nothing_can_be_used_is_said(experiment):
    running, path = started(
        *(experiment, [10**9 + k * 10**7 for k in range(600)], 600 * [13 * [math.nan]]),
        "input_type:=odometry",
    )
    simulator = running.beside([sys.executable, FAKE], path, 0, "odometry")
    running.wait_for(r"/imu: \d+ messages have come, of which none could be used", 60.0)
    simulator.end()
    assert ended(running).code == 0


def ended(running):
    running.interrupt()
    return running.wait()


def test_an_ideal_imu_gets_the_errors_of_simulate_imu(experiment, motion):
    rows = np.hstack(imu_truth(motion)[:3])
    heard, running = beside(
        experiment, stamps_of(motion), rows, len(motion), "specification:=bno055", "seed:=4"
    )
    assert [message["stamp"] for message in heard["imu"]] == stamps_of(motion)
    specification = isf.read_imu_specification("bno055")
    table = isf.simulate_imu(motion, specification, seed=4)
    np.testing.assert_array_equal(signals(heard), table.to_numpy()[:, 3:])
    ((name, values),) = heard["diagnosed"]
    assert name == "/realistic_imu" and values["messages taken"] == str(len(motion))
    assert values["messages left out"] == values["gaps"] == "0" and "yaw error [deg]" in values
    first = heard["imu"][0]
    assert first["frame"] == "robot"
    assert first["orientation_covariance"] == list(specification.covariances(0.01)[0])
    (told,) = map(json.loads, heard["errors"])
    assert (told["seed"], told["input"], told["parameters"]["name"]) == (4, "/imu", "bno055")
    assert ended(running).code == 0


def signals(heard):
    return np.array([message["signals"] for message in heard["imu"]])


def test_odometry_is_enough_and_tf_says_where_the_imu_is(experiment, motion):
    arm = (0.3, -0.2, 0.1)
    options = ("specification:=ideal", "input_type:=odometry", "frame_id:=chip", "use_tf:=true")
    heard, running = beside(
        *(experiment, stamps_of(motion), odometry_rows(motion), len(motion) - 1, *options),
        kind="odometry",
        lever_arm=arm,
    )
    assert [message["stamp"] for message in heard["imu"]] == stamps_of(motion)[1:]
    assert {message["frame"] for message in heard["imu"]} == {"chip"}
    _, rate, force = imu_truth(motion.mounted(arm))[:3]
    np.testing.assert_allclose(signals(heard), np.hstack([rate, force])[1:], atol=1e-8)
    assert ended(running).code == 0


@pytest.mark.parametrize("kind", ["placed_imu", "odometry"])
def test_iron_and_vibration_need_the_robots_pose(experiment, motion, tmp_path, kind):
    bar = {"position": [2.5, 0.0, 0.1], "size": [0.1, 2.0, 0.1], "magnetisation": [0.0, 1e4, 0.0]}
    hall = {"bars": [bar]}
    (tmp_path / "hall.yaml").write_text(yaml.safe_dump(hall))
    (tmp_path / "shaken.yaml").write_text(
        "magnetometer: {}\noutput: {orientation_reference: truth}\n"
        "vibration: {spectrum: [[10.0, 0.02], [40.0, 0.02]]}\n"
    )
    environment = isf.read_magnetic_environment(tmp_path / "hall.yaml")
    rows, more = odometry_rows(motion), ["input_type:=odometry"]
    first = 1
    if kind == "placed_imu":
        rows, more, first = np.hstack([*imu_truth(motion)[:3], rows]), ["pose:=/pose"], 0
    more += [f"specification:={tmp_path / 'shaken.yaml'}", "magnetometer:=true"]
    more.append(f"magnetic_environment:={tmp_path / 'hall.yaml'}")
    count = len(motion) - first
    heard, running = beside(experiment, stamps_of(motion), rows, count, *more, kind=kind)
    found = np.array([message["field"] for message in heard["fields"]])
    expected = environment.felt(motion.position, motion.orientation)[first:]
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert np.ptp(np.linalg.norm(expected, axis=1)) > 1e-6
    force = signals(heard)[:, 3:]
    shaken = force - imu_truth(motion).specific_force[first:]
    assert shaken.std() > 0.1
    assert ended(running).code == 0


def test_motors_make_their_field_with_the_efforts_of_the_joints(experiment, motion, tmp_path):
    earth, left = [1e-6, 2e-5, -4e-5], [1e-6, 0.0, 0.0]
    hall = {"earth": earth, "motors": {"left": left, "right": [0.0, 0.0, -3e-6]}}
    (tmp_path / "hall.yaml").write_text(yaml.safe_dump(hall))
    environment = isf.read_magnetic_environment(tmp_path / "hall.yaml")
    efforts = np.column_stack([np.sin(motion.time), 0.5 * motion.time])
    options = ["specification:=ideal", "magnetometer:=true", "joint_states:=/joint_states"]
    options.append(f"magnetic_environment:={tmp_path / 'hall.yaml'}")
    rows = np.hstack([*imu_truth(motion)[:3], efforts])
    heard, running = beside(
        experiment, stamps_of(motion), rows, len(motion), *options, kind="pulled_imu"
    )
    found = np.array([message["field"] for message in heard["fields"]])
    expected = environment.felt(motion.position, motion.orientation, efforts)
    np.testing.assert_allclose(found, expected, atol=1e-17)
    ending = ended(running)
    assert ending.code == 0 and "the fields of motors are left out" not in ending.output


def test_a_bno055_says_how_far_it_is_calibrated(experiment, tmp_path):
    motion = isf.at_rest(4.0)
    mode = isf.sensors.bno055_in_mode(isf.read_imu_specification("bno055_magnetometer"), "NDOF")
    path = tmp_path / "ndof.yaml"
    path.write_text(isf.sensors.imu_specification_text(mode))
    options = (f"specification:={path}", "magnetometer:=true")
    rows = np.hstack(imu_truth(motion)[:3])
    heard, running = beside(experiment, stamps_of(motion), rows, len(motion), *options)
    table = isf.simulate_imu(
        motion, mode, seed=1, magnetic_environment=isf.read_magnetic_environment("clean")
    )
    expected = isf.sensors.bno055_calibration(table, "NDOF").drop_duplicates()
    # Three seconds at rest calibrate the gyroscope, a second each.
    assert expected["gyroscope"].tolist()[-1] == 3
    found = [json.loads(text) for text in heard["statuses"]]
    assert [list(status) for status in found] == len(found) * [["sys", "gyro", "accel", "mag"]]
    changes = [tuple(status.values()) for status in found]
    assert changes == [tuple(row) for row in expected.to_numpy().tolist()][-len(changes) :]
    assert ended(running).code == 0


HEADING = """
gyroscope: {white_noise: 1.0e-4}
magnetometer: {white_noise: 1.0e-7}
output: {rate: 50.0, filter: mahony, magnetic_heading: true}
"""
HALL = {
    "dipoles": [{"position": [2.5, 0.0, 0.1], "moment": [0.0, 3.0, 1.0]}],
    "bars": [{"position": [-2.5, 1.0, 0.1], "size": [0.1, 2.0, 0.1], "permeability": 200.0}],
}


@pytest.mark.parametrize("kind", ["placed_imu", "field_imu"])
def test_a_bag_of_the_same_messages_becomes_the_same_to_the_bit(experiment, motion, tmp_path, kind):
    path, stamps = tmp_path / "heading.yaml", stamps_of(motion)
    path.write_text(HEADING)
    (tmp_path / "hall.yaml").write_text(yaml.safe_dump(HALL))
    hall = isf.read_magnetic_environment(tmp_path / "hall.yaml")
    parts, node, tool = list(imu_truth(motion)[:3]), ["magnetometer:=true"], ["--magnetometer"]
    ideal = {"/imu": [imu(stamp, *row) for stamp, row in zip(stamps, zip(*parts))]}
    if kind == "placed_imu":
        node += ["pose:=/pose", f"magnetic_environment:={tmp_path / 'hall.yaml'}"]
        tool += ["--pose", "/pose", "--magnetic-environment", tmp_path / "hall.yaml"]
        parts.append(odometry_rows(motion))
        poses = zip(stamps, motion.position, motion.orientation)
        ideal["/pose"] = [odometry(*pose) for pose in poses]
    if kind == "field_imu":
        node, tool = [*node, "magnetic_input:=/field"], [*tool, "--magnetic-input", "/field"]
        parts.append(hall.felt(motion.position, motion.orientation))
        ideal["/field"] = [magnetic_field(stamp, row) for stamp, row in zip(stamps, parts[-1])]
    node += [f"specification:={path}", "drop_repeated:=true", "frame_id:=chip"]
    count = (len(motion) + 1) // 2
    heard, running = beside(experiment, stamps, np.hstack(parts), count, *node, kind=kind)
    # With "drop_repeated" as in the node's argument.
    path.write_text(path.read_text().replace("true}", "true, drop_repeated: true}"))
    bag = write_bag(tmp_path / "in.bag", ideal)
    out = tmp_path / "out.bag"
    done = call_tool(
        "apply_imu_errors.py", bag, "--imu", path, "--out", out, "--frame-id", "chip", *tool
    )
    assert done.returncode == 0, done.stderr
    made = messages_of(out)
    fields, readings = made["/imu/mag"], made["/imu/data"]
    assert len(fields) == len(heard["fields"]) == count
    for found, reading, online, online_imu in zip(fields, readings, heard["fields"], heard["imu"]):
        b, q = found.magnetic_field, reading.orientation
        stamp = found.header.stamp.sec * 10**9 + found.header.stamp.nanosec
        assert (stamp, found.header.frame_id) == (online["stamp"], online["frame"])
        assert [b.x, b.y, b.z] == online["field"]
        assert found.magnetic_field_covariance.tolist() == online["covariance"]
        assert [q.x, q.y, q.z, q.w] == online_imu["orientation"]
        assert reading.header == found.header
    assert ended(running).code == 0


@pytest.mark.parametrize(
    ("change", "kind", "words"),
    [
        (lambda rows: rows * [1, 1, 1, 1, 1, 1, 1, 1, 1, -1], "imu", "not x forward, y left, z up"),
        (None, "odometry", "publishes nav_msgs/Odometry on /imu, expected sensor_msgs/Imu"),
    ],
)
def test_what_cannot_be_used_ends_the_node_with_a_sentence(experiment, motion, change, kind, words):
    rows = np.zeros((100, 13)) if change is None else change(np.hstack(imu_truth(motion)[:3]))[:100]
    heard, running = beside(experiment, stamps_of(motion)[:100], rows, 0, kind=kind)
    assert heard["imu"] == []
    running.wait_for(words, timeout=30.0)
    assert len(running.wait(60.0, others=5.0).fatal_sentences) == 1


def test_a_wrong_argument_is_said(experiment):
    # What else can be wrong is tested where ROS 2's node takes the same arguments.
    running = experiment("input:=/imu/data", program=LAUNCH)
    running.wait_for("input:=/imu/data is also what it publishes on", timeout=60.0)
    running.wait(60.0, others=5.0)


def test_ctrl_c_ends_it(experiment):
    running = experiment(program=LAUNCH)
    running.wait_for(r"process\[realistic_imu-\d+\]: started")
    running.signal_node("realistic_imu", signal.SIGTERM)
    assert not running.wait(60.0, others=5.0).has_traceback


AIRBORNE = ["roslaunch", "imu_simulation_framework", "airborne.launch"]


def test_a_flight_ends_by_itself(experiment):
    done = experiment.run("gimbal:=level", "duration:=20", "real_time_factor:=0", program=AIRBORNE)
    assert "the flight has ended" in done.output
    assert "The gimbal's line of sight is off by" in done.output
    assert "finished cleanly" in done.output
    assert "FATAL" not in done.output


def test_a_flight_is_broken_off_cleanly(experiment):
    running = experiment(program=AIRBORNE)
    running.wait_for(r"the flight begins, of 200\.00 s")
    running.interrupt()
    done = running.wait()
    assert done.code == 0
    assert not done.has_traceback


@pytest.mark.parametrize(
    "argument, said",
    [("gnss_on:=wing", "gnss_on is 'wing'"), ("duration:=0.01", "no flight can be made of it")],
)
def test_bad_input_is_fatal_in_one_sentence(experiment, argument, said):
    done = experiment.run(argument, program=AIRBORNE, timeout=90.0)
    (sentence,) = done.fatal_sentences
    assert said in sentence and not done.has_traceback
