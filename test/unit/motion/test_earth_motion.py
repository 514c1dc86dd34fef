"""Motion on the rotating Earth, compared with closed forms at rest, in turns and on mounts."""

import numpy as np
import pytest
from earth_flights import GIMBAL, LEVER_ARM, flight, mount_on_gimbal, poses, require_same_motion
from scipy.spatial.transform import Rotation

import imu_simulation_framework as isf
from imu_simulation_framework.core.angles import quaternion_from_roll_pitch_yaw, relative_rotations
from imu_simulation_framework.core.errors import MotionError
from imu_simulation_framework.core.tables import FLIGHT
from imu_simulation_framework.motion.earth import EARTH_RATE, ecef_of, normal_gravity
from imu_simulation_framework.motion.earth_motion import (
    enu_to_ecef,
    ned_to_ecef,
    orientation_of_aviation,
)
from imu_simulation_framework.motion.flight import FlightStates

LATITUDES = [-90.0, -52.0, 0.0, 35.0, 90.0]
INNER = slice(20, -20)


@pytest.mark.parametrize("latitude", LATITUDES)
@pytest.mark.parametrize("longitude", [0.0, 180.0, -180.0, 77.0])
def test_stationary_body_measures_gravity_and_earth_rate(latitude, longitude):
    motion = isf.standing(1.0, latitude, longitude)
    north, up = np.cos(np.radians(latitude)), np.sin(np.radians(latitude))
    turning = np.tile([0.0, EARTH_RATE * north, EARTH_RATE * up], (101, 1))
    for rate, force in (motion.means(), (motion.angular_velocity, motion.specific_force)):
        assert rate == pytest.approx(turning, abs=1e-13)
        weight = normal_gravity(np.radians(latitude))
        assert force == pytest.approx(np.tile([0.0, 0.0, weight], (101, 1)), abs=1e-10)


ALL = ("position", "orientation", "velocity", "angular_velocity", "specific_force")


def test_stationary_body_has_specified_pose_and_zero_velocity():
    given = isf.standing(10.0, 47.0, 11.0, 500.0, roll=0.1, pitch=-0.2, yaw=1.0)
    motion = isf.EarthMotion.from_poses(given.time, given.position, given.orientation)
    require_same_motion(motion, given, **dict.fromkeys(ALL, 1e-10))
    expected = [47.0, 11.0, 500.0, 0.0, 0.0, 0.0, 0.1, -0.2, 1.0]
    assert given.table().to_numpy() == pytest.approx(np.tile(expected, (1001, 1)), abs=1e-8)
    assert given.yaw == pytest.approx(1.0)


def test_mounted_motion_matches_gimbal_links_and_motion_from_poses():
    platform = flight(100.0, 30.0)
    pan, tilt, roll = (
        Rotation.from_euler(axis, amplitude * np.sin(2.0 * np.pi / period * platform.time))
        for axis, (amplitude, period) in zip("zyx", GIMBAL)
    )
    series = platform.mounted(
        pan.apply((LEVER_ARM, 0.0, 0.0)) + (pan * tilt).apply((LEVER_ARM, 0.0, 0.0)),
        pan * tilt * roll,
    )
    linked = mount_on_gimbal(platform)
    assert relative_rotations(series.orientation, linked.orientation) == pytest.approx(
        0.0, abs=1e-12
    )
    require_same_motion(series, linked, position=1e-8)
    off = {"velocity": 1e-8, "angular_velocity": 1e-8, "specific_force": 1e-6}
    require_same_motion(series, linked, INNER, **off)
    other = isf.EarthMotion.from_poses(linked.time, linked.position, linked.orientation)
    # The specific force comes from second derivatives of positions rounded to nanometres.
    off = {"velocity": 1e-6, "angular_velocity": 1e-6, "specific_force": 2e-4}
    require_same_motion(linked, other, INNER, **off)


@pytest.mark.parametrize("latitude, longitude", [(50.0, 10.0), (0.0, 180.0), (-90.0, 0.0)])
def test_coordinated_turn_specific_force_matches_formula(latitude, longitude):
    speed, radius = 60.0, 500.0
    motion = isf.circling(60.0, latitude, longitude, 100.0, radius, speed)
    weight = float(normal_gravity(np.radians(latitude), 100.0))
    measured = np.hypot(weight, speed**2 / radius)
    # The Coriolis term is 2 * 7.3e-5 * 60 = 9e-3, and the plumb line varies over the 500 m radius.
    assert motion.specific_force[:, 2] == pytest.approx(measured, abs=1e-2)
    assert motion.specific_force[:, :2] == pytest.approx(0.0, abs=1e-2)
    bank = -np.arctan2(speed**2 / radius, weight)
    turning = speed / radius * np.array([0.0, np.sin(bank), np.cos(bank)])
    assert motion.angular_velocity == pytest.approx(np.tile(turning, (6001, 1)), abs=7.3e-5)
    local = motion.local(np.array([np.radians(latitude), np.radians(longitude), 100.0]))
    assert np.linalg.norm(local.position[:, :2], axis=1) == pytest.approx(radius, abs=1e-8)
    assert local.position[:, 2] == pytest.approx(0.0, abs=1e-8)
    assert local.angular_velocity == pytest.approx(np.tile(turning, (6001, 1)), abs=1e-12)


def test_resampling_across_date_line_preserves_motion():
    motion = isf.circling(120.0, 10.0, 180.0, 100.0, radius=1000.0, speed=60.0)
    longitude = motion.latitude_longitude_height[:, 1]
    assert longitude.min() < -3.14 and longitude.max() > 3.14
    elsewhere = isf.circling(120.0, 10.0, 0.0, 100.0, radius=1000.0, speed=60.0)
    off = {"angular_velocity": 1e-12, "specific_force": 1e-12, "yaw": 1e-9, "local_velocity": 1e-9}
    require_same_motion(motion, elsewhere, **off)
    motion = flight(100.0, 30.0)
    require_same_motion(motion.resampled(100.0), motion, **dict.fromkeys(ALL, 1e-9))
    twice = motion.resampled(200.0)
    assert len(twice) == 6001
    off = {**dict.fromkeys(ALL, 1e-6), "specific_force": 1e-3}
    require_same_motion(twice, flight(200.0, 30.0), slice(40, -40), **off)


def test_earth_motion_follows_specified_velocity_and_is_preserved_in_local_frame():
    time, position, orientation = poses(50.0, 60.0)
    truth = isf.EarthMotion.from_poses(time, position, orientation)
    random = np.random.default_rng(1)
    rounded = position + random.uniform(-0.5, 0.5, position.shape)
    motion = isf.EarthMotion.from_states(time, rounded, truth.velocity, orientation)
    assert motion.velocity == pytest.approx(truth.velocity, abs=1e-12)
    assert motion.specific_force == pytest.approx(truth.specific_force, abs=1e-3)
    # The remaining difference is a constant offset, the mean of 3001 rounding errors.
    offset = motion.position - truth.position
    assert np.ptp(offset, axis=0) == pytest.approx(0.0, abs=1e-4)
    assert np.abs(offset).max() < 4.0 * 0.29 / np.sqrt(3001)
    motion = flight(100.0, 30.0)
    local = motion.local()
    assert local.position[0] == pytest.approx(0.0, abs=1e-8)
    latitude, longitude, height = motion.latitude_longitude_height[0]
    axes = enu_to_ecef(latitude, longitude)
    back = ecef_of(latitude, longitude, height) + axes.apply(local.position)
    assert back == pytest.approx(motion.position, abs=1e-8)
    assert axes.apply(local.velocity) == pytest.approx(motion.velocity, abs=1e-12)
    assert local.gravity == pytest.approx(9.797, abs=0.01)


@pytest.mark.parametrize(
    "call",
    [
        lambda: isf.standing(1.0, 91.0),
        lambda: isf.circling(1.0, 10.0, radius=0.0),
        lambda: isf.standing(1.0, 10.0).mounted((0.1, 0.0)),
        lambda: isf.standing(0.01, 10.0).mounted((0.1, 0.0, 0.0)),
        lambda: isf.standing(1.0, 10.0).resampled(0.0),
        lambda: isf.EarthMotion.from_poses([0.0, 1.0], np.zeros((2, 3)), np.ones((2, 4))),
    ],
)
def test_invalid_earth_motion_is_rejected(call):
    with pytest.raises(MotionError):
        call()


@pytest.mark.parametrize("latitude, longitude", [(0.7, 2.0), (-1.2, -3.0), (0.0, np.pi)])
def test_local_axes_point_east_north_and_up(latitude, longitude):
    step = 1e-6
    place = ecef_of(latitude, longitude, 0.0)
    east = ecef_of(latitude, longitude + step, 0.0) - place
    north = ecef_of(latitude + step, longitude, 0.0) - place
    up = ecef_of(latitude, longitude, 10.0) - place
    axes = np.array([direction / np.linalg.norm(direction) for direction in (east, north, up)])
    assert enu_to_ecef(latitude, longitude).as_matrix() == pytest.approx(axes.T, abs=2e-6)
    ned = ned_to_ecef(latitude, longitude).as_matrix()
    assert ned == pytest.approx(np.array([axes[1], axes[0], -axes[2]]).T, abs=2e-6)


def test_longitude_defines_east_at_pole():
    expected = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    assert enu_to_ecef(0.5 * np.pi, 0.0).as_matrix() == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize(
    "angles, body_axis, direction",
    [
        ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)),  # to the north
        ((0.0, 0.0, 0.0), (0.0, 1.0, 0.0), (-1.0, 0.0, 0.0)),  # left wing to the west
        ((0.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, 0.0, 1.0)),
        ((0.0, 0.1, 0.0), (1.0, 0.0, 0.0), (0.0, np.cos(0.1), np.sin(0.1))),  # nose up
        ((0.1, 0.0, 0.0), (0.0, 1.0, 0.0), (-np.cos(0.1), 0.0, np.sin(0.1))),  # right wing down
        ((0.0, 0.0, 0.5 * np.pi), (1.0, 0.0, 0.0), (1.0, 0.0, 0.0)),  # to the east
    ],
)
def test_aviation_angles_rotate_aircraft_by_convention(angles, body_axis, direction):
    local = enu_to_ecef(0.7, 2.0).inv() * orientation_of_aviation(0.7, 2.0, angles)
    assert local.apply(body_axis) == pytest.approx(direction, abs=1e-15)


@pytest.mark.parametrize("with_velocity", [False, True])
def test_flight_table_reproduces_motion(with_velocity):
    motion = flight(50.0, 60.0)
    table = motion.table()
    place, velocity, angles = (
        table[list(names)].to_numpy() for names in (FLIGHT[:3], FLIGHT[3:6], FLIGHT[6:])
    )
    place = place * (np.pi / 180.0, np.pi / 180.0, 1.0)
    quaternions = quaternion_from_roll_pitch_yaw(angles)
    states = FlightStates.from_local(motion.time, place, quaternions, velocity)
    again = states.integrated().motion() if with_velocity else states.motion()
    require_same_motion(again, motion, position=1e-4)
    assert relative_rotations(again.orientation, motion.orientation) == pytest.approx(
        0.0, abs=1e-12
    )
    off = {"velocity": 1e-5, "angular_velocity": 1e-9, "specific_force": 1e-3}
    require_same_motion(again, motion, INNER, **off)
