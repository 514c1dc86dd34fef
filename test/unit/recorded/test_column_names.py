"""What names of columns are understood as, and which are not."""

import pytest

from imu_simulation_framework.recordings.guessing.candidates import canonical_unit, meaning_of


@pytest.mark.parametrize(
    "name, kind, axis, unit",
    [
        ("time", "time", "", ""),
        ("Time (s)", "time", "", "s"),
        ("millis", "time", "", "ms"),
        ("timestamp_ns", "time", "", "ns"),
        ("header.stamp.secs", "time", "", "s"),
        ("imu.header.stamp.nsecs", "time", "", "ns"),
        ("field.header.stamp", "time", "", ""),
        ("%time", "time", "", ""),
        ("LatitudeDeg", "latitude", "", "deg"),
        ("lng", "longitude", "", ""),
        ("lat_e7", "latitude", "", "e7"),
        ("locationHorizontalAccuracy", "position_error", "", ""),
        ("hAcc [mm]", "position_error", "", "mm"),
        ("p_RS_R_x [m]", "position", "x", "m"),
        ("utm_easting", "position", "x", ""),
        ("pose.pose.position.y", "position", "y", ""),
        ("q_RS_w []", "quaternion", "w", "1"),
        ("imu.orientation.x", "quaternion", "x", ""),
        ("q[0]", "quaternion", "w", ""),
        ("Gyroscope X (deg/s)", "gyro", "x", "deg/s"),
        ("gyro_rad[2]", "gyro", "z", "rad/s"),
        ("gyro_y_deg_s", "gyro", "y", "deg/s"),
        ("rotRateX", "gyro", "x", ""),
        ("wZ", "gyro", "z", ""),
        ("yawrate", "gyro", "z", ""),
        ("angular_velocity.x", "gyro", "x", ""),
        ("accelerometer_m_s2[1]", "accel", "y", "m/s^2"),
        ("accelUserX", "accel", "x", ""),
        ("linear_acceleration.z", "accel", "z", ""),
        ("acc_x_g", "accel", "x", "g"),
        ("speed_ms", "speed", "", "m/s"),
        ("speed (km/h)", "speed", "", "km/h"),
        ("vel_n_m_s", "velocity_north", "", "m/s"),
        ("VE", "velocity_east", "", ""),
        ("cog_rad", "course", "", "rad"),
        ("Direction (°)", "course", "", "deg"),
        ("true heading", "heading", "", ""),
        ("psi", "yaw", "", ""),
        ("sdn(m)", "sigma_north", "", "m"),
    ],
)
def test_names_with_their_axes_and_units(name, kind, axis, unit):
    meaning = meaning_of(name)
    assert (meaning.kind, meaning.axis, meaning.unit) == (kind, axis, unit)


@pytest.mark.parametrize(
    "name",
    [
        "b_w_RS_S_x [rad s^-1]",
        "gyro_bias_x",
        "mag_x",
        "mag_field.header.stamp.secs",
        "angular_velocity_covariance0",
        "gyro_integral_dt",
        "accelerometer_timestamp_relative",
        "delta_q_reset[0]",
        "q4",
        "locationHeadingX",
        "locationHeadingAccuracy",
        "baro_alt_meter",
        "ref_lat",
        "vdop",
        "motionGravityX",
        "acceleration_x [m]",
        "speed [deg]",
        "Temperature (C)",
        "seq",
        "col3",
        "-0.25",
        "",
    ],
)
def test_names_that_say_something_else_are_not_known(name):
    assert meaning_of(name) is None


def test_columns_of_one_vector_share_their_stem_and_others_do_not():
    stems = [meaning_of(name).stem for name in ("imu_gyro_x", "imu_gyro_y", "imu_wz")]
    assert stems[0] == stems[1] != stems[2]


def test_where_a_column_comes_from_shows_in_its_name():
    assert meaning_of("imu.orientation.x").of_imu
    assert meaning_of("gt_yaw").of_reference
    plain = meaning_of("yaw")
    assert not plain.of_imu
    assert not plain.of_reference


@pytest.mark.parametrize(
    "text, unit", [("m s^-2", "m/s^2"), ("°/s", "deg/s"), ("", "1"), ("G", "g"), ("uT", "")]
)
def test_units_in_their_many_spellings(text, unit):
    assert canonical_unit(text) == unit
