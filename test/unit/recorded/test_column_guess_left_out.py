"""What cannot be told from names and numbers is left out of guessed column maps."""

import numpy as np
import pytest
from column_tables import TIME, Car, guess, wrapped


@pytest.fixture(scope="module")
def car():
    return Car()


def left_out(found, *names):
    return all(name in found.unused for name in names) and bool(found.reasons)


def test_small_angles_alone_have_no_unit():
    found = guess(t=TIME, yaw=0.3 * np.sin(TIME))
    assert found.imu == {}
    assert left_out(found, "yaw")


def test_a_yaw_that_counts_turns_is_not_taken_for_degrees(car):
    assert np.ptp(car.yaw) > 2.0 * np.pi
    alone = guess(t=TIME, yaw=car.yaw)
    assert alone.imu == {}
    assert left_out(alone, "yaw")
    found = guess(t=TIME, yaw=car.yaw, **car.inertial())
    assert found.imu["yaw"] == "yaw [rad]"
    assert found.imu["gyro_z"] == "gyro_z [rad/s]"
    assert guess(t=TIME, yaw=np.degrees(car.yaw)).imu["yaw"] == "yaw [deg]"


def test_a_roll_of_three_degrees_is_no_half_turn():
    found = guess(t=TIME, roll=3.0 * np.sin(TIME), pitch=np.cos(TIME), yaw=2.0 * np.sin(0.3 * TIME))
    assert found.imu == {}


def test_a_course_that_is_not_where_the_positions_go_is_left_out(car):
    wind = 180.0 + 170.0 * np.sin(5.0 * TIME)
    found = guess(t=TIME, lat=car.latitude, lon=car.longitude, speed=car.speed, direction=wind)
    assert left_out(found, "speed", "direction")


def test_an_accuracy_beside_an_imu_may_be_the_imus(car):
    place = {"lat": car.latitude, "lon": car.longitude, "accuracy": np.full(len(TIME), 3.0)}
    assert guess(t=TIME, **place).reference["position_error"] == "accuracy [m]"
    assert left_out(guess(t=TIME, **place, **car.inertial()), "accuracy")


def test_middling_rates_have_no_unit():
    random = np.random.default_rng(3)
    rates = 0.08 * random.standard_normal((3, len(TIME)))
    found = guess(t=TIME, gx=rates[0], gy=rates[1], gz=rates[2])
    assert found.imu == {}
    assert left_out(found, "gx", "gy", "gz")


def test_a_place_at_zero_has_no_unit(car):
    found = guess(t=TIME, lat=car.latitude - 48.0, lon=car.longitude - 11.0)
    assert found.reference == {}
    assert left_out(found, "lat", "lon")


def test_a_number_that_nobody_measured_changes_nothing(car):
    columns = {"t": TIME, **car.inertial()}
    broken = {name: values.copy() for name, values in columns.items()}
    broken["acc_z"][7], broken["gyro_x"][9] = 1e301, -1e200
    assert guess(**broken).imu == guess(**columns).imu


def test_speed_without_motion_has_no_unit(car):
    still = np.full(len(TIME), 48.0)
    found = guess(t=TIME, lat=still, lon=still, speed=0.1 * TIME, course=np.degrees(car.azimuth))
    assert sorted(found.reference) == ["latitude", "longitude", "time"]
    assert left_out(found, "speed", "course")


def test_a_course_that_is_sometimes_minus_one_is_left_out(car):
    course = np.where(TIME < 5.0, -1.0, np.degrees(car.azimuth))
    found = guess(t=TIME, lat=car.latitude, lon=car.longitude, speed=car.speed, course=course)
    assert left_out(found, "speed", "course")


def test_swapped_velocities_are_left_out(car):
    east, north = car.speed * np.cos(car.yaw), car.speed * np.sin(car.yaw)
    right = guess(t=TIME, lat=car.latitude, lon=car.longitude, ve=east, vn=north)
    assert right.reference["velocity_east"] == "ve [m/s]"
    assert left_out(
        guess(t=TIME, lat=car.latitude, lon=car.longitude, ve=north, vn=east), "ve", "vn"
    )


@pytest.mark.parametrize("factor", [0.03, 0.5, 3.0])
def test_forces_without_gravity_are_left_out(car, factor):
    found = guess(t=TIME, **car.inertial(accel=factor))
    assert left_out(found, "acc_x", "acc_y", "acc_z")


def test_forces_in_another_unit_than_their_header_says_are_left_out(car):
    forces = {f"acc_{a} [g]": car.forces[:, k] for k, a in enumerate("xyz")}
    found = guess(t=TIME, gyro_z=car.rates[:, 2], **forces)
    assert left_out(found, *forces)
    assert sorted(found.imu) == ["gyro_z", "time"]


def test_a_count_is_no_time(car):
    found = guess(t=np.arange(len(TIME)), **car.inertial())
    assert "time" not in found.imu
    assert left_out(found, "t")


def test_hours_minutes_and_seconds_are_no_time(car):
    face = 120000.0 + 100.0 * (TIME // 60.0) + TIME % 60.0
    longer = np.concatenate([face, 120100.0 + TIME])
    found = guess(time=longer, lat=np.tile(car.latitude, 2), lon=np.tile(car.longitude, 2))
    assert found.reference == {}


def test_an_orientation_that_never_changes_is_none(car):
    zero = np.zeros(len(TIME))
    found = guess(t=TIME, qx=zero, qy=zero, qz=zero, qw=zero + 1.0, **car.inertial())
    assert "qw" not in found.imu
    assert found.imu["gyro_z"] == "gyro_z [rad/s]"


def test_a_yaw_beside_positions_and_a_gyroscope_may_be_of_either(car):
    pose = {"x": car.east, "y": car.north}
    found = guess(t=TIME, **pose, yaw=wrapped(car.yaw), **car.inertial())
    assert left_out(found, "yaw")
    assert found.reference == {"time": "t [s]", "x": "x [m]", "y": "y [m]"}
    assert "yaw" not in found.imu
    found = guess(t=TIME, **pose, gt_yaw=wrapped(car.yaw), **car.inertial())
    assert found.reference["yaw"] == "gt_yaw [rad]"
    assert "yaw" not in found.imu
    found = guess(t=TIME, **pose, imu_yaw=wrapped(car.yaw), **car.inertial())
    # The yaw is the IMU's, so that of the reference is made of its course.
    assert found.reference == {"time": "t [s]", "x": "x [m]", "y": "y [m]"}
    assert found.imu["yaw"] == "imu_yaw [rad]"
    found = guess(t=TIME, **pose, yaw=wrapped(car.yaw), imu_yaw=wrapped(car.yaw), **car.inertial())
    assert found.reference["yaw"] == "yaw [rad]"
    assert found.imu["yaw"] == "imu_yaw [rad]"


def test_positions_without_heading_are_a_reference_if_they_move(car):
    found = guess(t=TIME, x=car.east, y=car.north)
    assert found.reference == {"time": "t [s]", "x": "x [m]", "y": "y [m]"}
    assert any("their course is taken" in reason for reason in found.reasons)
    found = guess(t=TIME, x=1e-2 * car.east / np.ptp(car.east), y=0.0 * car.north)
    assert found.reference == {}
    assert any("0.01 m only: no reference" in reason for reason in found.reasons)


def test_a_heading_that_is_mostly_missing_is_not_the_imus(car):
    yaw = np.where(np.arange(len(TIME)) % 3, np.nan, wrapped(car.yaw))
    found = guess(t=TIME, yaw=yaw, **car.inertial())
    assert left_out(found, "yaw")
    assert found.imu["gyro_z"] == "gyro_z [rad/s]"
