"""Motion on the turning Earth: rest, turns, mountings, against closed formulas."""

import numpy as np
import pytest
from earth_flights import GIMBAL, LEVER_ARM, flight, on_gimbal, poses
from scipy.spatial.transform import Rotation

from imu_simulation_framework.core.angles import turns
from imu_simulation_framework.core.errors import MotionError
from imu_simulation_framework.motion.earth import EARTH_RATE, ecef_of, normal_gravity
from imu_simulation_framework.motion.earth_motion import (
    EarthMotion,
    circling,
    enu_to_ecef,
    standing,
)

LATITUDES = [-90.0, -52.0, 0.0, 35.0, 90.0]


@pytest.mark.parametrize("latitude", LATITUDES)
@pytest.mark.parametrize("longitude", [0.0, 180.0, -180.0, 77.0])
def test_what_stands_feels_gravity_and_the_turning_earth(latitude, longitude):
    motion = standing(1.0, latitude, longitude)
    north, up = np.cos(np.radians(latitude)), np.sin(np.radians(latitude))
    for rate, force in (motion.means(), (motion.angular_velocity, motion.specific_force)):
        assert rate == pytest.approx(
            np.tile([0.0, EARTH_RATE * north, EARTH_RATE * up], (101, 1)), abs=1e-13
        )
        weight = normal_gravity(np.radians(latitude))
        assert force == pytest.approx(np.tile([0.0, 0.0, weight], (101, 1)), abs=1e-10)


def test_poses_of_what_stands_are_at_rest():
    given = standing(10.0, 47.0, 11.0, 500.0, roll=0.1, pitch=-0.2, yaw=1.0)
    motion = EarthMotion.from_poses(given.time, given.position, given.orientation)
    for name in ("position", "orientation", "velocity", "angular_velocity", "specific_force"):
        assert getattr(motion, name) == pytest.approx(getattr(given, name), abs=1e-10)


def test_angles_of_what_stands_are_those_given():
    motion = standing(1.0, 47.0, 11.0, 500.0, roll=0.1, pitch=-0.2, yaw=1.0)
    table = motion.table()
    expected = [47.0, 11.0, 500.0, 0.0, 0.0, 0.0, 0.1, -0.2, 1.0]
    assert table.to_numpy() == pytest.approx(np.tile(expected, (101, 1)), abs=1e-8)
    assert motion.yaw == pytest.approx(1.0)


def test_a_moving_lever_arm_is_the_same_as_the_links_that_move_it():
    platform = flight(100.0, 30.0)
    pan, tilt, roll = (
        Rotation.from_euler(axis, amplitude * np.sin(2.0 * np.pi / period * platform.time))
        for axis, (amplitude, period) in zip("zyx", GIMBAL)
    )
    at_once = platform.mounted(
        pan.apply((LEVER_ARM, 0.0, 0.0)) + (pan * tilt).apply((LEVER_ARM, 0.0, 0.0)),
        pan * tilt * roll,
    )
    linked = on_gimbal(platform)
    inner = slice(20, -20)
    assert at_once.position == pytest.approx(linked.position, abs=1e-8)
    assert turns(at_once.orientation, linked.orientation) == pytest.approx(0.0, abs=1e-12)
    assert at_once.velocity[inner] == pytest.approx(linked.velocity[inner], abs=1e-8)
    assert at_once.angular_velocity[inner] == pytest.approx(
        linked.angular_velocity[inner], abs=1e-8
    )
    assert at_once.specific_force[inner] == pytest.approx(linked.specific_force[inner], abs=1e-6)


def test_a_mounted_motion_is_that_of_its_own_poses():
    motion = on_gimbal(flight(100.0, 30.0))
    other = EarthMotion.from_poses(motion.time, motion.position, motion.orientation)
    inner = slice(20, -20)
    assert motion.velocity[inner] == pytest.approx(other.velocity[inner], abs=1e-6)
    assert motion.angular_velocity[inner] == pytest.approx(other.angular_velocity[inner], abs=1e-6)
    # The second derivative of positions that are rounded to nanometres.
    assert motion.specific_force[inner] == pytest.approx(other.specific_force[inner], abs=2e-4)


@pytest.mark.parametrize("latitude, longitude", [(50.0, 10.0), (0.0, 180.0), (-90.0, 0.0)])
def test_a_coordinated_turn_feels_what_the_formula_says(latitude, longitude):
    speed, radius = 60.0, 500.0
    motion = circling(60.0, latitude, longitude, 100.0, radius, speed)
    weight = float(normal_gravity(np.radians(latitude), 100.0))
    felt = np.hypot(weight, speed**2 / radius)
    # Coriolis: 2 * 7.3e-5 * 60 = 9e-3, and the plumb line over 500 m of ground.
    assert motion.specific_force[:, 2] == pytest.approx(felt, abs=1e-2)
    assert motion.specific_force[:, :2] == pytest.approx(0.0, abs=1e-2)
    bank = -np.arctan2(speed**2 / radius, weight)
    turning = speed / radius * np.array([0.0, np.sin(bank), np.cos(bank)])
    assert motion.angular_velocity == pytest.approx(np.tile(turning, (6001, 1)), abs=7.3e-5)
    local = motion.local(np.array([np.radians(latitude), np.radians(longitude), 100.0]))
    assert np.linalg.norm(local.position[:, :2], axis=1) == pytest.approx(radius, abs=1e-8)
    assert local.position[:, 2] == pytest.approx(0.0, abs=1e-8)
    assert local.angular_velocity == pytest.approx(np.tile(turning, (6001, 1)), abs=1e-12)


def test_over_the_date_line_nothing_jumps():
    motion = circling(120.0, 10.0, 180.0, 100.0, radius=1000.0, speed=60.0)
    longitude = motion.latitude_longitude_height[:, 1]
    assert longitude.min() < -3.14 and longitude.max() > 3.14
    elsewhere = circling(120.0, 10.0, 0.0, 100.0, radius=1000.0, speed=60.0)
    for name in ("angular_velocity", "specific_force"):
        assert getattr(motion, name) == pytest.approx(getattr(elsewhere, name), abs=1e-12)
    assert motion.yaw == pytest.approx(elsewhere.yaw, abs=1e-9)
    assert motion.local_velocity == pytest.approx(elsewhere.local_velocity, abs=1e-9)


def test_velocity_that_is_given_decides():
    time, position, orientation = poses(50.0, 60.0)
    truth = EarthMotion.from_poses(time, position, orientation)
    random = np.random.default_rng(1)
    rounded = position + random.uniform(-0.5, 0.5, position.shape)
    motion = EarthMotion.from_states(time, rounded, truth.velocity, orientation)
    assert motion.velocity == pytest.approx(truth.velocity, abs=1e-12)
    assert motion.specific_force == pytest.approx(truth.specific_force, abs=1e-3)
    # One offset, the mean of 3001 roundings.
    offset = motion.position - truth.position
    assert np.ptp(offset, axis=0) == pytest.approx(0.0, abs=1e-4)
    assert np.abs(offset).max() < 4.0 * 0.29 / np.sqrt(3001)


def test_resampling_keeps_the_motion():
    motion = flight(100.0, 30.0)
    same = motion.resampled(100.0)
    twice = motion.resampled(200.0)
    finer = flight(200.0, 30.0)
    assert len(twice) == 6001
    inner = slice(40, -40)
    for name in ("position", "orientation", "velocity", "angular_velocity", "specific_force"):
        assert getattr(same, name) == pytest.approx(getattr(motion, name), abs=1e-9)
        bound = 1e-3 if name == "specific_force" else 1e-6
        assert getattr(twice, name)[inner] == pytest.approx(getattr(finer, name)[inner], abs=bound)


def test_the_local_motion_is_the_same_body_in_a_level_plane():
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
    "change, words",
    [
        ({"position": np.zeros((5, 2))}, "position has the shape"),
        ({"time": np.array([0.0, 1.0, 1.0, 2.0, 3.0])}, "time must increase"),
        ({"velocity": np.full((5, 3), np.nan)}, "velocity holds a value that is not finite"),
        ({"time": np.zeros((0,))}, "expected \\(n,\\), n >= 1"),
    ],
)
def test_a_malformed_motion_is_refused(change, words):
    good = standing(0.04, 10.0)
    values = {name: getattr(good, name) for name in good.__dataclass_fields__}
    with pytest.raises(MotionError, match=words):
        EarthMotion(**{**values, **change})


@pytest.mark.parametrize(
    "call",
    [
        lambda: standing(0.0, 10.0),
        lambda: standing(1.0, 91.0),
        lambda: standing(1.0, np.nan),
        lambda: circling(1.0, 10.0, radius=0.0),
        lambda: circling(1.0, 10.0, speed=np.inf),
        lambda: standing(1.0, 10.0).mounted((0.1, 0.0)),
        lambda: standing(1.0, 10.0).mounted(rotation=Rotation.identity(3)),
        lambda: standing(0.01, 10.0).mounted((0.1, 0.0, 0.0)),
        lambda: standing(1.0, 10.0).resampled(0.0),
        lambda: EarthMotion.from_poses([0.0, 1.0], np.zeros((2, 3)), np.ones((2, 4))),
    ],
)
def test_what_is_no_motion_is_refused(call):
    with pytest.raises(MotionError):
        call()
