"""A GNSS receiver and an odometer on the simulated robot: what they publish, read back."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from experiment_process import messages_of

import imu_simulation_framework as isf
from imu_simulation_framework.core.angles import unwrap, wrap
from imu_simulation_framework.drive.results.files import ExperimentTables
from imu_simulation_framework.ros1.messages import antenna_transform
from imu_simulation_framework.sensors.gnss.specification import UNTOLD

DURATION = 20.0
RECEIVER = """
rate: 5.0
latency: 0.1
lever_arm: [0.2, 0.0, 0.4]
qualities:
  - {quality: rtk, horizontal_noise: 0.01, vertical_noise: 0.02, velocity_noise: 0.02}
heading: {source: antennas, across_noise: 0.005}
outages: {times: [[8.0, 9.1]]}
"""
# What is measured at the end has not arrived when it is over.
RECEIVED = np.array([0.2 * k for k in range(round(5 * DURATION)) if not 40 <= k <= 45])
ODOMETER = "track: 0.4\nticks_per_turn: 2048\ndiameter_ratio: 1.01\nslip: 0.001\n"
SETTINGS = f"[trajectory]\nstop = {DURATION}\n[gnss]\nfile = receiver.yaml\n"


@pytest.fixture(scope="module")
def ended(shared_experiment):
    directory = shared_experiment.directory
    (directory / "receiver.yaml").write_text(RECEIVER)
    (directory / "odometer.yaml").write_text(ODOMETER)
    (directory / "mine.ini").write_text(SETTINGS)
    arguments = ("odometer:=odometer.yaml", "record:=true")
    ended = shared_experiment.run("config:=mine.ini", *arguments)
    assert ended.code == 0, ended.output
    return ended


@pytest.fixture(scope="module")
def result(ended):
    return ended.result()


@pytest.fixture(scope="module")
def alone(result):
    """Tables of the same experiment in one process."""
    return isf.run_in_process(isf.load_configuration(result.path("config.ini")))


@pytest.fixture(scope="module")
def bag(result):
    return messages_of(result.path("experiment.bag"))


def test_every_fix_is_recorded_once_with_its_frame_status_and_covariance(bag):
    stamps = [m.header.stamp.sec + 1e-9 * m.header.stamp.nanosec for m in bag["/gnss/fix"]]
    np.testing.assert_allclose(stamps[: len(RECEIVED)], RECEIVED, atol=1e-9)
    assert len(stamps) - len(RECEIVED) <= 1
    for topic in ("/gnss/velocity", "/gnss/heading"):
        assert len(bag[topic]) == len(stamps)
    fix, velocity, heading = (bag[f"/gnss/{name}"][3] for name in ("fix", "velocity", "heading"))
    assert fix.header.frame_id == "gnss_link"
    assert velocity.header.frame_id == heading.header.frame_id == "odom"
    assert (fix.status.status, fix.status.service) == (2, 1)
    assert fix.position_covariance_type == 2
    np.testing.assert_allclose(np.diag(fix.position_covariance.reshape(3, 3)), [1e-4, 1e-4, 4e-4])
    np.testing.assert_allclose(
        np.diag(velocity.twist.covariance.reshape(6, 6)), [4e-4, 4e-4, 0.0, *[UNTOLD] * 3]
    )


def test_a_recorded_bag_reads_back_as_a_reference(result):
    reference = isf.read_reference(
        result.path("experiment.bag"),
        topic="/gnss/fix",
        velocity_topic="/gnss/velocity",
        heading_topic="/gnss/heading",
    )
    truth = result.read_table("ground_truth")
    # Stamp zero means in ROS that there is none, so the first fix is not used.
    at = reference.table.index
    assert at[0] == pytest.approx(0.2)
    yaw = np.interp(at, truth.index, truth["yaw"])
    off = wrap(reference.table["yaw"].to_numpy() - yaw)
    # Headings of 0.005 rad, between which a turn begins or ends: 2 rad/s^2 in 0.2 s are 0.01 rad.
    received = (at <= 7.8) | (at >= 9.2)
    assert np.sqrt(np.mean(off[received] ** 2)) < math.hypot(0.005, 0.01)
    antenna = {
        axis: np.interp(at, truth.index, truth[axis] + 0.2 * way(truth["yaw"]))
        for axis, way in (("x", np.cos), ("y", np.sin))
    }
    for axis, place in antenna.items():
        # Relative to the first fix, which errs itself.
        moved = reference.table[axis] - reference.table[axis].iloc[0] - place + place[0]
        assert np.sqrt(np.mean(moved**2)) < 0.05


def test_the_result_has_the_fixes_as_a_table_and_so_has_one_process(result, bag, alone):
    table = ExperimentTables.load(result).gnss_simulated
    pd.testing.assert_frame_equal(table, alone.gnss_simulated, check_exact=True)
    np.testing.assert_allclose(table.index, RECEIVED, atol=1e-9)
    positions, velocities, headings = (
        bag[f"/gnss/{name}"][: len(table)] for name in ("fix", "velocity", "heading")
    )
    for name in ("latitude", "longitude", "altitude"):
        np.testing.assert_array_equal([getattr(m, name) for m in positions], table[name])
    assert set(table["status"]) == {2.0}
    spread = [m.position_covariance[8] for m in positions]
    np.testing.assert_array_equal(spread, table["variance_up"])
    linear = [m.twist.twist.linear for m in velocities]
    for axis, way in zip("xyz", ("east", "north", "up")):
        np.testing.assert_array_equal([getattr(v, axis) for v in linear], table[f"velocity_{way}"])
    turns = np.unwrap([2.0 * math.atan2(m.quaternion.z, m.quaternion.w) for m in headings])
    np.testing.assert_allclose(turns, table["heading"], atol=1e-12)


@pytest.fixture(scope="module")
def odometry(result):
    return ExperimentTables.load(result).odometer


def test_the_odometers_table_has_every_reading_and_is_that_of_one_process(odometry, alone):
    pd.testing.assert_frame_equal(odometry, alone.odometer, check_exact=True)
    np.testing.assert_allclose(odometry.index, np.arange(0.0, DURATION + 0.01, 0.02), atol=1e-9)


def test_the_bag_has_the_odometers_readings_which_read_back_as_poses(result, bag, odometry):
    messages = bag["/odom"]
    assert 0 <= len(messages) - len(odometry) <= 3
    header = messages[0].header
    assert (header.frame_id, messages[0].child_frame_id) == ("odom", "base_footprint")
    told = messages[: len(odometry)]
    places = [(m.pose.pose.position.x, m.pose.pose.position.y) for m in told]
    np.testing.assert_array_equal(places, odometry[["x", "y"]])
    moving = [(m.twist.twist.linear.x, m.twist.twist.angular.z) for m in told]
    np.testing.assert_array_equal(moving, odometry[["v", "yaw_rate"]])
    turns = [m.pose.pose.orientation for m in told]
    yaw = unwrap(2.0 * np.arctan2([q.z for q in turns], [q.w for q in turns]))
    np.testing.assert_allclose(yaw, odometry["yaw"], rtol=0.0, atol=1e-12)
    read = isf.read_reference(result.path("experiment.bag"), topic="/odom").table
    # The bag may have readings of the control period behind the drive's end.
    within = read[read.index <= odometry.index[-1]]
    assert len(within) >= len(odometry) - 1  # stamp zero means in ROS that there is none
    off = wrap(np.interp(within.index, odometry.index, odometry["yaw"]) - within["yaw"])
    np.testing.assert_allclose(off, 0.0, atol=1e-9)


def test_the_odometers_yaw_error_stands_beside_the_imus(ended, result, odometry):
    errors = json.loads(result.read_text("summary.json"))["yaw_error"]
    truth = result.read_table("ground_truth")["yaw"]
    error = np.interp(odometry.index, truth.index, truth) - odometry["yaw"]
    error = error - np.median(error[odometry.index <= 3.0])
    # Where the start ends is a sample's question, and its median that of a tick.
    tick = 2.0 * np.pi * 0.1 / 2048
    rms = np.sqrt(np.mean(error**2))
    assert errors["odometer"]["rms_rad"] == pytest.approx(rms, abs=tick / 0.4)
    assert set(errors["odometer"]) == set(errors["simulated"])
    assert sum("yaw error, odometer" in line for line in ended.lines) == 1


def test_neither_changes_anything_else(result):
    settings = isf.load_configuration(overrides={"trajectory": {"stop": DURATION}})
    tables = isf.run_in_process(settings)
    for name in ("ground_truth", "imu_simulated"):
        np.testing.assert_array_equal(result.read_table(name), getattr(tables, name))


def test_the_antenna_is_where_its_lever_arm_is():
    receiver = isf.GnssSpecification(lever_arm=(0.2, 0.0, 0.4))
    (transform,) = antenna_transform(receiver).transforms
    assert (transform.header.frame_id, transform.child_frame_id) == ("base_footprint", "gnss_link")
    place, turn = transform.transform.translation, transform.transform.rotation
    assert (place.x, place.y, place.z) == receiver.lever_arm
    assert (turn.x, turn.y, turn.z, turn.w) == (0.0, 0.0, 0.0, 1.0)
