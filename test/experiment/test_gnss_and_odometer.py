"""Messages and tables of a GNSS receiver and an odometer on the simulated robot."""

import json
import math

import numpy as np
import pytest
from experiment_process import read_messages
from scenarios import DURATION

import imu_simulation_framework as isf
from imu_simulation_framework.core.angles import unwrap, wrap
from imu_simulation_framework.drive.results.files import ExperimentTables
from imu_simulation_framework.ros1.messages import make_antenna_transform
from imu_simulation_framework.sensors.gnss.specification import UNKNOWN_VARIANCE

# Times of the fixes without the outage [s]. A fix at the end of the drive is not included, because
# its latency delays it until after the drive.
RECEIVED = np.array([0.2 * k for k in range(round(5 * DURATION)) if not 20 <= k <= 25])


@pytest.fixture(scope="module")
def result(recorded_drive):
    return recorded_drive.result("some/results")


@pytest.fixture(scope="module")
def bag(result):
    return read_messages(result.path("experiment.bag"))


def test_fixes_in_bag_have_frame_status_and_covariance(bag):
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
        np.diag(velocity.twist.covariance.reshape(6, 6)), [4e-4, 4e-4, 0.0, *[UNKNOWN_VARIANCE] * 3]
    )


def test_recorded_fixes_can_be_read_as_reference(result):
    reference = isf.read_reference(
        result.path("experiment.bag"),
        topic="/gnss/fix",
        velocity_topic="/gnss/velocity",
        heading_topic="/gnss/heading",
    )
    truth = result.read_table("ground_truth")
    # In ROS, a stamp of zero means no stamp, so the first fix is not used.
    times = reference.table.index
    assert times[0] == pytest.approx(0.2)
    yaw = np.interp(times, truth.index, truth["yaw"])
    error = wrap(reference.table["yaw"].to_numpy() - yaw)
    # The heading noise is 0.005 rad. Interpolation between headings 0.2 s apart adds 0.01 rad, as
    # the angular acceleration is 2 rad/s^2.
    received = (times <= 3.8) | (times >= 5.2)
    assert np.sqrt(np.mean(error[received] ** 2)) < math.hypot(0.005, 0.01)
    antenna = {
        axis: np.interp(times, truth.index, truth[axis] + 0.2 * projection(truth["yaw"]))
        for axis, projection in (("x", np.cos), ("y", np.sin))
    }
    for axis, place in antenna.items():
        # The positions are relative to the first fix, so they include its error.
        expected = reference.table[axis] - reference.table[axis].iloc[0] - place + place[0]
        assert np.sqrt(np.mean(expected**2)) < 0.05


def test_fix_table_matches_fixes_in_bag(result, bag):
    table = ExperimentTables.load(result).gnss_simulated
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
    for axis, direction in zip("xyz", ("east", "north", "up")):
        velocity = [getattr(v, axis) for v in linear]
        np.testing.assert_array_equal(velocity, table[f"velocity_{direction}"])
    turns = np.unwrap([2.0 * math.atan2(m.quaternion.z, m.quaternion.w) for m in headings])
    np.testing.assert_allclose(turns, table["heading"], atol=1e-12)


@pytest.fixture(scope="module")
def odometry(result):
    return ExperimentTables.load(result).odometer


def test_odometer_table_contains_all_samples(odometry):
    np.testing.assert_allclose(odometry.index, np.arange(0.0, DURATION + 0.01, 0.02), atol=1e-9)


def test_odometer_messages_match_table_and_can_be_read_as_poses(result, bag, odometry):
    messages = bag["/odom"]
    assert 0 <= len(messages) - len(odometry) <= 3
    header = messages[0].header
    assert (header.frame_id, messages[0].child_frame_id) == ("odom", "base_footprint")
    readings = messages[: len(odometry)]
    places = [(m.pose.pose.position.x, m.pose.pose.position.y) for m in readings]
    np.testing.assert_array_equal(places, odometry[["x", "y"]])
    moving = [(m.twist.twist.linear.x, m.twist.twist.angular.z) for m in readings]
    np.testing.assert_array_equal(moving, odometry[["v", "yaw_rate"]])
    turns = [m.pose.pose.orientation for m in readings]
    yaw = unwrap(2.0 * np.arctan2([q.z for q in turns], [q.w for q in turns]))
    np.testing.assert_allclose(yaw, odometry["yaw"], rtol=0.0, atol=1e-12)
    poses = isf.read_reference(result.path("experiment.bag"), topic="/odom").table
    # The bag may contain samples of the control period after the drive.
    poses = poses[poses.index <= odometry.index[-1]]
    assert len(poses) >= len(odometry) - 1  # a stamp of zero means no stamp
    error = wrap(np.interp(poses.index, odometry.index, odometry["yaw"]) - poses["yaw"])
    np.testing.assert_allclose(error, 0.0, atol=1e-9)


def test_summary_contains_yaw_error_of_odometer(result, odometry):
    errors = json.loads(result.read_text("summary.json"))["yaw_error"]
    truth = result.read_table("ground_truth")["yaw"]
    error = np.interp(odometry.index, truth.index, truth) - odometry["yaw"]
    error = error - np.median(error[odometry.index <= 3.0])
    # The start window may end one sample earlier or later, which changes its median by a tick.
    tick = 2.0 * np.pi * 0.1 / 2048
    rms = np.sqrt(np.mean(error**2))
    assert errors["odometer"]["rms_rad"] == pytest.approx(rms, abs=tick / 0.4)
    assert set(errors["odometer"]) == set(errors["simulated"])


def test_gnss_receiver_and_odometer_affect_neither_drive_nor_imu(result):
    settings = isf.load_configuration(overrides={"trajectory": {"stop": DURATION}})
    tables = isf.run_in_process(settings)
    for name in ("ground_truth", "imu_simulated"):
        np.testing.assert_array_equal(result.read_table(name), getattr(tables, name))


def test_antenna_frame_is_at_lever_arm():
    receiver = isf.GnssSpecification(lever_arm=(0.2, 0.0, 0.4))
    (transform,) = make_antenna_transform(receiver).transforms
    assert (transform.header.frame_id, transform.child_frame_id) == ("base_footprint", "gnss_link")
    place, turn = transform.transform.translation, transform.transform.rotation
    assert (place.x, place.y, place.z) == receiver.lever_arm
    assert (turn.x, turn.y, turn.z, turn.w) == (0.0, 0.0, 0.0, 1.0)
