"""Sensor outputs of a flight, computed per simulation tick."""

import numpy as np
import pytest
from earth_flights import flight

import imu_simulation_framework as isf
from imu_simulation_framework.core.errors import ConfigurationError, MotionError
from imu_simulation_framework.flight.airborne import AirborneImu
from imu_simulation_framework.motion.earth_motion import enu_to_ecef
from imu_simulation_framework.motion.flight import FlightStates
from imu_simulation_framework.sensors.gnss import receiver
from imu_simulation_framework.sensors.noise.streams import run_seed

SECONDS = 8.0
RTK = isf.read_gnss_specification("rtk")


def states(rate=50.0, seconds=SECONDS):
    motion = flight(rate, seconds)
    return FlightStates(motion.time, motion.position, motion.orientation, motion.velocity)


@pytest.fixture(scope="module")
def airborne():
    imu = isf.read_imu_specification("adis16470")
    return AirborneImu(states(), isf.read_gimbal("level"), imu, RTK, seed=3)


def test_airborne_imu_samples_match_library_functions(airborne):
    body = states().motion(at=np.arange(801) / 100.0)
    imu = isf.read_imu_specification("adis16470")
    carried = isf.simulate_gimbal(body, isf.read_gimbal("level"), imu, seed=3)
    samples = isf.simulate_imu(carried.motion, imu, seed=3)
    np.testing.assert_array_equal(airborne.imu[:, 4:], samples.to_numpy()[:, 3:])
    np.testing.assert_array_equal(airborne.imu_motion.position, carried.motion.position)
    assert airborne.remarks == carried.remarks


@pytest.mark.parametrize("period", [0.001, 0.01, 0.02, 0.07, 1.0, 100.0])
def test_simulation_ticks_contain_each_sample_once_in_order(airborne, period):
    ticks = list(airborne.ticks(period))
    for name, whole in {
        "stamps": airborne.stamps,
        "truth": airborne.truth,
        "imu_truth": airborne.imu_truth,
        "imu_stamps": airborne.imu_stamps,
        "imu": airborne.imu,
    }.items():
        np.testing.assert_array_equal(np.concatenate([getattr(t, name) for t in ticks]), whole)
    for before, tick in zip(ticks, ticks[1:]):
        assert np.all(tick.imu_stamps > before.stamps[-1])
        assert np.all(tick.imu_stamps <= tick.stamps[-1])
    arrived = [(t.stamps[-1], arrival) for t in ticks for arrival in t.fixes["arrival"]]
    assert len(arrived) == np.count_nonzero(airborne.fixes["arrival"] <= SECONDS)
    assert all(round(1e9 * arrival) <= stamp for stamp, arrival in arrived)


def test_slow_airborne_imu_has_separate_stamps_and_fixes_require_receiver():
    slow = isf.ImuSpecification("slow", output=isf.OutputSpecification(rate=25.0))
    found = AirborneImu(states(), isf.read_gimbal("off"), slow)
    assert len(found.imu) == len(found.imu_stamps) == 201
    assert np.all(np.diff(found.imu_stamps) == 40_000_000)
    assert sum(len(tick.imu) for tick in found.ticks(0.02)) == 201
    found = AirborneImu(states(), isf.read_gimbal("off"), "ideal")
    assert len(found.fixes) == 0
    assert all(len(tick.fixes) == 0 for tick in found.ticks(1.0))


def test_world_frame_is_level_at_start_and_antenna_may_be_at_imu(airborne):
    np.testing.assert_allclose(airborne.truth[0, :3], 0.0, atol=1e-6)
    forward = airborne.truth[:, 7]
    np.testing.assert_allclose(forward, np.linalg.norm(airborne.body.velocity, axis=1), rtol=0.2)
    still = isf.GnssSpecification("exact", rate=10.0)
    found = AirborneImu(states(), isf.read_gimbal("agisim"), "ideal", still, gnss_on="imu")
    there = found.imu_motion.position[::10]
    np.testing.assert_allclose(found.fixes[["x", "y", "z"]], there, rtol=0.0, atol=1e-9)


def test_recorded_fixes_match_fixes_of_navigation_filter(airborne):
    seed = run_seed(5, 0)
    table = receiver.record_earth_fixes(airborne.body, RTK, seed)
    expected = receiver.simulate_earth_fixes(airborne.body, RTK, seed=seed)
    places = table[["x", "y", "z"]].to_numpy()
    np.testing.assert_allclose(places, expected.position[0], rtol=0.0, atol=1e-9)
    local = enu_to_ecef(*np.radians(table[["latitude", "longitude"]].to_numpy()).T)
    velocities = local.apply(table[["velocity_east", "velocity_north", "velocity_up"]].to_numpy())
    # Velocities are in the local axes of the measured position, which is off by centimetres.
    np.testing.assert_allclose(velocities, expected.velocity[0], rtol=0.0, atol=1e-6)
    variances = table[["variance_east", "variance_up", "velocity_variance"]].to_numpy()
    np.testing.assert_array_equal(variances, expected.variance[0][:, [0, 2, 3]])


def test_incompatible_rates_or_short_flight_are_rejected():
    off = isf.read_gimbal("off")
    with pytest.raises(ConfigurationError, match="rate of the receiver is 3 Hz, expected"):
        AirborneImu(states(), off, "ideal", isf.GnssSpecification(rate=3.0))
    with pytest.raises(MotionError, match=r"lasts 0\.08 s, expected at least 4"):
        AirborneImu(states(seconds=0.08), off, "ideal", rate=10.0)
