"""Agreement of a flight's tables, its bag, and the recordings read from them."""

import numpy as np
import pytest
from earth_flights import flight, require_same_motion

import imu_simulation_framework as isf
from imu_simulation_framework.core.tables import table_to_csv
from imu_simulation_framework.flight import figures
from imu_simulation_framework.flight.airborne import AirborneImu, flight_messages, flight_tables
from imu_simulation_framework.motion.flight import FlightStates
from imu_simulation_framework.recordings.formats.written_bags import write_message_bag


@pytest.fixture(scope="module")
def flown():
    motion = flight(50.0, 8.0)
    states = FlightStates(motion.time + 3.0, motion.position, motion.orientation, motion.velocity)
    imu = isf.read_imu_specification("adis16470")
    return AirborneImu(states, isf.read_gimbal("agisim"), imu, isf.read_gnss_specification("rtk"))


@pytest.fixture(scope="module")
def tables(flown):
    return flight_tables(flown)


@pytest.fixture(scope="module")
def bag(flown, tmp_path_factory):
    path = tmp_path_factory.mktemp("flight") / "flight.bag"
    write_message_bag(path, flight_messages(flown))
    return path


@pytest.mark.parametrize("name", ["body", "imu_truth"])
def test_ground_truth_table_can_be_read_as_recorded_flight(flown, tables, tmp_path, name):
    path = tmp_path / f"{name}.csv"
    path.write_text(table_to_csv(tables[name]))
    motion = flown.body if name == "body" else flown.imu_motion
    require_same_motion(isf.read_flight(path).flight.states, motion, angle=1e-9, position=1e-6)


def test_ground_truth_in_bag_can_be_read_as_recorded_flight(flown, bag):
    origin = flown.origin * (180.0 / np.pi, 180.0 / np.pi, 1.0)
    for topic, motion in (
        ("/ground_truth/state", flown.body),
        ("/ground_truth/imu", flown.imu_motion),
    ):
        recorded = isf.read_flight(bag, topic=topic, origin=origin)
        require_same_motion(recorded.flight.states, motion, angle=1e-9, position=1e-6)
        np.testing.assert_array_equal(recorded.flight.states.time, np.arange(801) / 100.0)


def test_imu_and_receiver_messages_in_bag_match_tables(bag, tables):
    recorded = isf.read_imu(bag).table
    np.testing.assert_allclose(recorded.to_numpy(), tables["imu"].to_numpy(), atol=1e-9)
    fixes = isf.read_reference(bag, topic="/gnss/fix", velocity_topic="/gnss/velocity")
    assert fixes.report.samples == len(tables["fixes"])
    assert fixes.report.unknown_variance.count == 0


def test_increments_and_joint_angles_match_motion_and_gimbal(flown, tables):
    increments = isf.increments_of(flown.imu_motion)
    expected = np.hstack([increments.delta_theta, increments.delta_velocity])
    np.testing.assert_array_equal(tables["increments"].to_numpy(), expected)
    assert list(tables["gimbal"]) == ["pan", "tilt", "roll", "pan_rate", "tilt_rate", "roll_rate"]
    np.testing.assert_array_equal(tables["gimbal"].to_numpy()[:, :3], flown.joints.angle)


def test_single_gimbal_joint_rate_matches_published_table_3(flown):
    gimbal = isf.read_gimbal("agisim")
    for joint, axis, rate in (("pan", 2, 0.8225), ("tilt", 1, 0.5483)):
        found = figures.joint_alone(joint, gimbal, "ideal", flown.origin)
        measured = found.measured[1]
        # The rates are sample means of a sine with a period of 4 s or more. The Earth adds
        # 7e-5 rad/s.
        assert np.max(np.abs(measured[:, axis])) == pytest.approx(rate, abs=2e-4)
        assert np.max(np.abs(np.delete(measured, axis, axis=1))) < 1e-4
        np.testing.assert_allclose(found.measured[0], found.true[0], atol=1e-12)


def test_flight_signals_are_cropped_by_time(flown):
    every = figures.sensed_in_flight(flown)
    part = every.between(5.0, 6.0)
    assert len(every.time) == len(flown.imu_stamps)
    assert part.time[0] == pytest.approx(5.0) and part.time[-1] == pytest.approx(6.0)
    assert part.measured[0].shape == part.true[1].shape == (len(part.time), 3)


def test_navigation_assumes_gnss_antenna_at_imu(flown):
    imu = isf.read_imu_specification("adis16470")
    _, rmse = figures.navigated(flown.imu_motion, imu, isf.read_gnss_specification("rtk"), runs=3)
    assert len(rmse) == 3 and np.all(rmse["position_n"] < 0.1)
