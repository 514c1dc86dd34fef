"""Inferred column maps of synthetic recordings, and columns that remain undetermined."""

import gzip

import numpy as np
import pytest
from column_tables import GRAVITY, TIME, Car, choose, wrapped
from recording_writers import write_csv
from scipy.spatial.transform import Rotation

from imu_simulation_framework.recordings.columns import find_angle_column, find_column_maps
from imu_simulation_framework.recordings.file_access import recording_format
from imu_simulation_framework.recordings.reading import read_imu_samples, read_reference_samples
from imu_simulation_framework.recordings.vocabulary.names import canonical_unit, meaning_of

ZEROS = np.zeros(len(TIME))
DEGREES = 180.0 / np.pi

CAR = Car()
AZIMUTH = np.degrees(CAR.azimuth)
PLACE = {"lat": CAR.latitude, "lon": CAR.longitude}


def make_table(**columns):
    return columns


def fix(**columns):
    return {**PLACE, "speed": CAR.speed, **columns}


def pose(**columns):
    return {"x": CAR.east, "y": CAR.north, **columns}


def vectors(form, values):
    return {form.format(axis): values[:, place] for place, axis in enumerate("xyz")}


def quaternion(half, form="q{}"):
    parts = (ZEROS, ZEROS, np.sin(half), np.cos(half))
    return {form.format(axis): part for axis, part in zip("xyzw", parts)}


def test_imu_and_receiver_columns_in_one_table_are_recognised():
    """The columns are in degrees, km/h and milliseconds, and the time of day is hhmmss."""
    rates = zip(("rollrate", "pitchrate", "yawrate"), np.degrees(CAR.rates).T)
    chosen = choose(
        time=74800000 + np.round(1e3 * (TIME % 60.0) + 1e5 * (TIME // 60.0)),
        millis=1.39e12 + 1e3 * TIME,
        **vectors("a{}", CAR.forces),
        **dict(rates),
        roll=0.5 * np.sin(TIME),
        pitch=0.5 * np.cos(TIME),
        yaw=np.degrees(wrapped(-CAR.yaw)),
        speed=3.6 * CAR.speed,
        course=AZIMUTH,
        latitude=CAR.latitude,
        longitude=CAR.longitude,
        hdop=ZEROS + 1.2,
        epe=ZEROS + 3.1,
    )
    assert chosen.reference == {
        "time": "millis [ms]",
        "latitude": "latitude [deg]",
        "longitude": "longitude [deg]",
        "hdop": "hdop [1]",
        "position_error": "epe [m]",
        "speed": "speed [km/h]",
        "course": "course [deg cw from north]",
    }
    assert chosen.imu == {
        "time": "millis [ms]",
        **{angle: f"{angle} [deg]" for angle in ("roll", "pitch", "yaw")},
        "gyro_x": "rollrate [deg/s]",
        "gyro_y": "pitchrate [deg/s]",
        "gyro_z": "yawrate [deg/s]",
        **{f"accel_{axis}": f"a{axis} [m/s^2]" for axis in "xyz"},
    }
    assert chosen.unused == ["time"]


def nmea(degrees):
    return 100.0 * (degrees // 1.0) + 60.0 * (degrees % 1.0)


SPEED_UNITS = {"m/s": 1.0, "km/h": 3.6, "knots": 3600.0 / 1852.0, "mph": 1.0 / 0.44704}
COURSES = {
    "deg cw from north": np.degrees(np.mod(np.pi / 2.0 - CAR.yaw, 2.0 * np.pi)),
    "deg ccw from east": np.degrees(wrapped(CAR.yaw)),
    "rad ccw from east": wrapped(CAR.yaw),
    "rad cw from north": wrapped(np.pi / 2.0 - CAR.yaw),
    "deg ccw from north": np.degrees(wrapped(CAR.yaw - np.pi / 2.0)),
}
EAST, NORTH = CAR.speed * np.cos(CAR.yaw), CAR.speed * np.sin(CAR.yaw)
WHOLE = {**{name: np.round(1e7 * values) for name, values in PLACE.items()}, "alt": ZEROS + 66814.0}


@pytest.mark.parametrize(
    "columns, quantity, written",
    [
        (pose(heading=AZIMUTH), "heading", "heading [deg cw from north]"),
        # The column name "yaw" does not imply a convention.
        (pose(yaw=AZIMUTH), "yaw", "yaw [deg]"),
        (make_table(**PLACE, accuracy=ZEROS + 3.0), "position_error", "accuracy [m]"),
        # Some receivers output latitude, longitude and altitude as scaled integers.
        (WHOLE, "latitude", "lat * 1e-7 [deg]"),
        (WHOLE, "altitude", "alt [mm]"),
        (make_table(**PLACE, ve=EAST, vn=NORTH), "velocity_east", "ve [m/s]"),
        *(
            (make_table(**PLACE, v=factor * CAR.speed, track=AZIMUTH), "speed", f"v [{unit}]")
            for unit, factor in SPEED_UNITS.items()
        ),
        *((fix(course=angle), "course", f"course [{words}]") for words, angle in COURSES.items()),
        *(
            ({name: form(values) for name, values in PLACE.items()}, quantity, written)
            for unit, form in (("deg", np.copy), ("rad", np.radians), ("ddmm.mmmm", nmea))
            for quantity, written in (("latitude", f"lat [{unit}]"), ("longitude", f"lon [{unit}]"))
        ),
    ],
)
def test_reference_units_and_angle_conventions_are_inferred_from_positions(
    columns, quantity, written
):
    assert choose(t=TIME, **columns).reference[quantity] == written


SECONDS = 1.7e9 + TIME
IN_ONE_SECOND = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}
TWO_COLUMNS = {
    "Time": SECONDS + 0.01,
    "header.stamp.secs": np.floor(SECONDS),
    "header.stamp.nsecs": np.round(1e9 * (SECONDS % 1.0)),
    "imu.header.stamp.secs": ZEROS,
    "imu.header.stamp.nsecs": ZEROS,
}


def inertial(gyro=1.0, accel=1.0, **columns):
    return {"t": TIME, **columns, **CAR.inertial(gyro, accel)}


@pytest.mark.parametrize(
    "columns, quantity, written",
    [
        *(
            (inertial(t=multiple * (start + TIME)), "time", f"t [{unit}]")
            for unit, multiple in IN_ONE_SECOND.items()
            for start in (0.0, 1.7e9)
        ),
        # Microseconds since switching on must not be read as seconds since 1970.
        *(
            (inertial(t=np.rint(1e6 * (start + TIME))), "time", "t [us]")
            for start in (700.0, 2000.0, 3900.0)
        ),
        (
            {**TWO_COLUMNS, **CAR.inertial()},
            *("time", "header.stamp.secs [s] + header.stamp.nsecs [ns]"),
        ),
        # The name %time is not allowed in a column map, so the column number replaces it.
        ({"%time": 1e9 * SECONDS, **CAR.inertial()}, "time", "col1 [ns]"),
        # The computer's time stamp has priority over that of another clock.
        *(
            ({"receipt": SECONDS, "stamp": at + TIME, **CAR.inertial()}, "time", f"{position} [s]")
            for at, position in (
                (69210.0, "receipt"),
                (1.7e9 + 880.0, "receipt"),
                (1.7e9 - 0.01, "stamp"),
            )
        ),
        # The unit of the gyroscope follows from the yaw, that of the accelerometer from gravity.
        *(
            (inertial(gyro=factor, yaw=angle * wrapped(CAR.yaw)), *chosen)
            for factor, unit in ((1.0, "rad/s"), (DEGREES, "deg/s"))
            for angle, angle_unit in ((1.0, "rad"), (DEGREES, "deg"))
            for chosen in (("gyro_z", f"gyro_z [{unit}]"), ("yaw", f"yaw [{angle_unit}]"))
        ),
        *(
            (inertial(accel=factor), "accel_z", f"acc_z [{unit}]")
            for factor, unit in ((1.0, "m/s^2"), (1.0 / GRAVITY, "g"), (1e3 / GRAVITY, "mg"))
        ),
        # The rates were converted from degrees to radians twice.
        (
            inertial(1.0 / DEGREES, **quaternion(CAR.yaw / 2.0)),
            *("gyro_x", "gyro_x * 57.29578 [rad/s]"),
        ),
    ],
)
def test_imu_time_columns_and_units_are_inferred(columns, quantity, written):
    assert choose(**columns).imu[quantity] == written


def test_device_stamps_are_preferred_over_buffered_receipt_times():
    """Samples are measured at regular times, but received in groups of ten within 1 ms."""
    bursts = 1.7e9 + 0.2 * (np.arange(len(TIME)) // 10) + 1e-4 * (np.arange(len(TIME)) % 10)
    chosen = choose(receipt=bursts, stamp=69210.0 + TIME, **CAR.inertial())
    assert chosen.imu["time"] == "stamp [s]"


@pytest.mark.parametrize("size", [1000, 10000, 2**14, 2**30])
def test_scale_of_quaternion_and_gyroscope_counts_is_inferred(size):
    counts = {name: np.rint(size * part) for name, part in quaternion(CAR.yaw / 2.0).items()}
    rates = vectors("gyro_{}", np.rint(16.0 * np.degrees(CAR.rates)))
    chosen = choose(t=TIME, **counts, **rates)
    assert chosen.imu["qw"] == f"qw / {size} [1]"
    assert chosen.imu["gyro_z"] == "gyro_z / 16 [deg/s]"


@pytest.mark.parametrize(
    "unknown, noise, quantity", [(None, 0.0, "course"), (None, 0.2, "heading"), (-3000.0, 0.0, "")]
)
def test_heading_constant_while_stationary_is_recognised_as_course(unknown, noise, quantity):
    """Unlike a course, the noisy heading of two antennas also varies while stationary."""
    stop = TIME > 45.0
    still = np.flatnonzero(~stop)[-1]
    held = AZIMUTH + noise * np.random.default_rng(3).standard_normal(len(TIME))
    if not noise:
        held = np.where(stop, AZIMUTH[still] if unknown is None else unknown, AZIMUTH)
    place = {name: np.where(stop, values[still], values) for name, values in PLACE.items()}
    speed = np.where(stop, 0.0, CAR.speed)
    chosen = choose(t=TIME, **place, speed=speed, heading=held).reference
    if quantity == "course":
        with_imu = choose(t=TIME, **place, speed=speed, heading=held, **CAR.inertial())
        assert with_imu.reference["course"] and set(with_imu.imu).isdisjoint(["heading", "yaw"])
    assert {"course", "heading"} & set(chosen) == {quantity} - {""}


def test_zero_positions_are_treated_as_rows_without_fix():
    missing = np.arange(len(TIME)) % 5 > 0
    place = {name: np.where(missing, 0.0, values) for name, values in PLACE.items()}
    chosen = choose(t=TIME, **place, speed=np.where(missing, 0.0, CAR.speed), course=AZIMUTH)
    assert chosen.reference["course"] == "course [deg cw from north]"


def test_plural_column_names_are_recognised_and_misspelt_time_column_is_suggested():
    vels = vectors("ang_vels_{}", CAR.rates)
    chosen = choose(times=TIME, **vels, **vectors("accels_{}", CAR.forces))
    assert chosen.imu["accel_x"] == "accels_x [m/s^2]"
    assert "ang_vels_x [rad/s]" in chosen.open_columns["gyro_x"]
    chosen = choose(Timpstemp=1e6 * TIME, **CAR.inertial())
    assert "Timpstemp [us]" in chosen.open_columns["time"]


def test_quaternion_that_contradicts_yaw_is_not_used():
    wrong = quaternion(np.abs(wrapped(3.0 * CAR.yaw)) / 6.0)
    chosen = choose(t=TIME, **wrong, raw_yaw_deg=np.degrees(wrapped(CAR.yaw)), **CAR.inertial())
    assert chosen.imu["yaw"] == "raw_yaw_deg [deg]"
    assert "qx" not in chosen.imu


@pytest.mark.parametrize("scale", [0.4, 0.003])
def test_gyroscope_unit_is_undetermined_while_stationary(scale):
    noise = np.random.default_rng(5).standard_normal((2000, 3))
    chosen = choose(t=0.01 * np.arange(2000), **vectors("g{}", scale * noise))
    assert "gyro_x" not in chosen.imu
    assert chosen.open_columns["gyro_x"] == ["gx [deg/s]", "gx [rad/s]"]


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("size, unit", [(1.0, "rad/s"), (np.pi / 180.0, "deg/s")])
def test_gyroscope_unit_is_inferred_from_gravity_in_motion(size, unit, sign):
    # The magnitude alone does not determine the unit.
    time, random = 0.02 * np.arange(6000), np.random.default_rng(6)
    rates = size * np.column_stack([np.cos(w * time) for w in (2.1, 1.7, 2.9)])
    steps = Rotation.from_rotvec(0.02 * rates)
    body, up = Rotation.identity(), np.empty((6000, 3))
    for sample, step in enumerate(steps):
        up[sample] = body.inv().apply([0.0, 0.0, 1.0])
        body = body * step
    forces = sign * 9.81 * up + 1.0 * size * random.standard_normal(up.shape)
    shaken = rates + 0.1 * size * random.standard_normal(up.shape)
    shown = shaken / (1.0 if unit == "rad/s" else np.pi / 180.0)
    chosen = choose(t=time, **vectors("g{}", shown), **vectors("acc_{}", forces))
    assert chosen.imu["gyro_x"] == f"gx [{unit}]"
    assert any("turns of gravity" in reason for reason in chosen.reasons)


def test_dates_with_time_zone_in_unnamed_column_are_read(tmp_path):
    stamps = np.datetime64("2020-07-16T12:35:00", "ms") + np.round(1e3 * TIME).astype("m8[ms]")
    columns = {"": [f"{stamp}-12:00".replace("T", " ") for stamp in stamps], **PLACE}
    path = write_csv(tmp_path / "a.csv", columns)
    chosen = find_column_maps(path)
    assert chosen.reference["time"] == "col1 [iso8601]"
    read = read_reference_samples(path, columns=chosen.reference).columns
    np.testing.assert_allclose(read["stamp"] - read["stamp"][0], TIME, atol=1e-3)
    assert read["stamp"][0] == pytest.approx(1594946100.0)


def test_table_without_time_is_usable_only_for_allan_analysis():
    chosen = choose(**PLACE, **vectors("gyro_{} [rad/s]", CAR.rates), **vectors("a{}", CAR.forces))
    assert chosen.reference == {}
    assert sorted(chosen.imu) == ["accel_x", "accel_y", "accel_z", "gyro_x", "gyro_y", "gyro_z"]
    assert any("Allan" in reason for reason in chosen.reasons)


def test_eight_column_table_of_rates_and_forces_is_not_read_as_tum_poses(tmp_path):
    # In TUM files, the last four columns are a quaternion.
    rows = np.column_stack([1e3 * TIME + 0.3, 1e3 * TIME, CAR.rates, CAR.forces])
    np.savetxt(tmp_path / "imu.txt", rows)
    assert recording_format(tmp_path / "imu.txt") == "csv"


def test_table_without_known_column_names_has_no_column_map(tmp_path):
    path = tmp_path / "imu.txt"
    np.savetxt(path, np.column_stack([TIME, CAR.rates, CAR.forces]))
    chosen = find_column_maps(path)
    assert (chosen.imu, chosen.reference) == ({}, {})
    assert chosen.unused == [f"col{place}" for place in range(1, 8)]
    # The reasons are specific to tables that contain neither a reference nor an IMU.
    imu = choose(t=TIME, **vectors("g{} [rad/s]", CAR.rates), **vectors("acc_{}", CAR.forces))
    assert imu.imu and not imu.reference
    assert chosen.reasons and not set(chosen.reasons) & set(imu.reasons)


def test_angle_unit_is_inferred_from_values(tmp_path):
    columns = {"time": TIME, "swing": np.degrees(wrapped(CAR.yaw))}
    columns.update(fix(course=AZIMUTH, still=ZEROS))
    path = write_csv(tmp_path / "a.csv", columns)
    for column, chosen in (
        ("swing", "swing [deg]"),
        ("course", "course [deg cw from north]"),
        ("still", "still"),
        ("nowhere", "nowhere"),
    ):
        assert find_angle_column(path, column) == chosen


def test_sampling_of_long_compressed_file_preserves_quoted_cells(tmp_path):
    time = 0.01 * np.arange(30000)
    # The robot is stationary at first, so the first rows alone do not determine the units.
    moving = np.maximum(time - 150.0, 0.0)
    yaw = wrapped(10.0 * np.sin(0.3 * moving))
    rate = np.degrees(3.0 * np.cos(0.3 * moving)) * (moving > 0.0)
    rows = ["t,raw,yaw,gyro_z"]
    rows += [
        f'{t:.2f},"$IMU,{k}\n",{y:.6f},{r:.4f}' for k, (t, y, r) in enumerate(zip(time, yaw, rate))
    ]
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(("\n".join(rows) + "\n").encode()))
    chosen = find_column_maps(path)
    assert chosen.imu == {"time": "t [s]", "yaw": "yaw [rad]", "gyro_z": "gyro_z [deg/s]"}
    assert chosen.unused == ["raw"]


MIDDLING = vectors("g{}", 0.08 * np.random.default_rng(3).standard_normal((len(TIME), 3)))
SPARSE = np.where(np.arange(len(TIME)) % 3, np.nan, wrapped(CAR.yaw))


@pytest.mark.parametrize(
    "columns, names",
    [
        (make_table(yaw=0.3 * np.sin(TIME)), "yaw"),
        # The yaw is unwrapped, so its range does not reveal the unit.
        (make_table(yaw=CAR.yaw), "yaw"),
        # A roll of up to 3 is in degrees, because 3 rad would almost be upside down.
        (
            make_table(roll=3.0 * np.sin(TIME), pitch=np.cos(TIME), yaw=2.0 * np.sin(0.3 * TIME)),
            "roll pitch yaw",
        ),
        # The direction differs from the course, the course is sometimes -1, or the positions are
        # constant.
        (fix(direction=180.0 + 170.0 * np.sin(5.0 * TIME)), "speed direction"),
        (fix(course=np.where(TIME < 5.0, -1.0, AZIMUTH)), "speed course"),
        (
            make_table(lat=ZEROS + 48.0, lon=ZEROS + 48.0, speed=TIME, course=AZIMUTH),
            "speed course",
        ),
        # The east and north velocities are swapped.
        (make_table(**PLACE, vn=EAST, ve=NORTH), "ve vn"),
        # The column "accuracy" may belong to the receiver or to the IMU.
        (make_table(**PLACE, accuracy=ZEROS + 3.0, **CAR.inertial()), "accuracy"),
        (MIDDLING, "gx gy gz"),
        # The position is near zero latitude and longitude.
        (make_table(lat=CAR.latitude - 48.0, lon=CAR.longitude - 11.0), "lat lon"),
        *((CAR.inertial(accel=gravity), "acc_x acc_y acc_z") for gravity in (0.03, 0.5, 3.0)),
        # The column is constant, or most of its values are missing.
        (make_table(**quaternion(ZEROS), **CAR.inertial()), "qx qy qz qw"),
        (make_table(yaw=SPARSE, **CAR.inertial()), "yaw"),
        # The yaw may belong to the reference or to the IMU.
        (pose(yaw=wrapped(CAR.yaw), **CAR.inertial()), "yaw"),
        # The positions hardly change.
        (make_table(x=1e-2 * CAR.east / np.ptp(CAR.east), y=ZEROS), "x y"),
    ],
)
def test_undetermined_columns_are_omitted(columns, names):
    chosen = choose(t=TIME, **columns)
    assert set(names.split()) <= set(chosen.unused)
    assert chosen.reasons
    written = " ".join([*chosen.reference.values(), *chosen.imu.values()])
    assert not any(f"{name} [" in written for name in names.split())
    # The other columns, whose quantity and unit are determined, are still used.
    gyro = {*chosen.open_columns, *chosen.imu}
    assert ("gyro_z" in gyro) == bool({"gyro_z", "gz"} & set(columns))
    assert ("latitude" in chosen.reference) == ("lat" in columns and "lat" not in names)


def test_unwrapped_yaw_unit_is_inferred_from_gyroscope_or_magnitude():
    assert np.ptp(CAR.yaw) > 2.0 * np.pi
    chosen = choose(t=TIME, yaw=CAR.yaw, **CAR.inertial())
    assert set(chosen.open_columns) == {"gyro_x", "gyro_y", "gyro_z", "yaw"}
    assert choose(t=TIME, yaw=np.degrees(CAR.yaw)).imu["yaw"] == "yaw [deg]"
    rates = vectors("gyro_{} [mdps]", 1e3 * np.degrees(CAR.rates))
    assert choose(t=TIME, yaw=CAR.yaw, **rates).imu["yaw"] == "yaw [rad]"


def test_implausible_outlier_does_not_change_column_choice():
    columns = {"t": TIME, **CAR.inertial()}
    broken = {name: values.copy() for name, values in columns.items()}
    broken["acc_z"][7], broken["gyro_x"][9] = 1e301, -1e200
    assert choose(**broken).imu == choose(**columns).imu


def test_specific_forces_that_contradict_header_unit_are_omitted():
    forces = vectors("acc_{} [g]", CAR.forces)
    chosen = choose(t=TIME, **{"gyro_z [rad/s]": CAR.rates[:, 2]}, **forces)
    assert chosen.unused == list(forces)
    assert sorted(chosen.imu) == ["gyro_z", "time"]


def test_row_numbers_and_wrapping_times_of_day_are_not_used_as_time():
    chosen = choose(t=np.arange(len(TIME)), **CAR.inertial())
    assert "time" not in chosen.imu and "t" in chosen.unused
    face = 120000.0 + 100.0 * (TIME // 60.0) + TIME % 60.0
    longer = np.concatenate([face, 120100.0 + TIME])
    chosen = choose(time=longer, lat=np.tile(CAR.latitude, 2), lon=np.tile(CAR.longitude, 2))
    assert chosen.reference == {}


@pytest.mark.parametrize(
    "names, reference, imu",
    [
        (["gt_yaw"], "gt_yaw [rad]", None),
        # The yaw belongs to the IMU, so the reference yaw is computed from the course.
        (["imu_yaw"], None, "imu_yaw [rad]"),
        (["yaw", "imu_yaw"], "yaw [rad]", "imu_yaw [rad]"),
        ([], None, None),
    ],
)
def test_yaw_is_assigned_to_reference_or_imu_by_column_name(names, reference, imu):
    yaws = dict.fromkeys(names, wrapped(CAR.yaw))
    chosen = choose(t=TIME, **pose(**yaws, **CAR.inertial()))
    assert (chosen.reference.pop("yaw", None), chosen.imu.get("yaw")) == (reference, imu)
    assert chosen.reference == {"time": "t [s]", "x": "x [m]", "y": "y [m]"}


KNOWN = {
    ("time", "", ""): "timestamps|times|time|field.header.stamp|%time",
    ("time", "", "s"): "Time (s)|header.stamp.secs",
    ("time", "", "ns"): "timestamp_ns|imu.header.stamp.nsecs",
    ("latitude", "", "deg"): "LatitudeDeg",
    ("latitude", "", "e7"): "lat_e7",
    ("longitude", "", ""): "lng",
    ("position_error", "", ""): "locationHorizontalAccuracy",
    ("position_error", "", "mm"): "hAcc [mm]",
    ("position", "x", "m"): "p_RS_R_x [m]",
    ("position", "x", ""): "utm_easting",
    ("quaternion", "w", "1"): "q_RS_w []",
    ("quaternion", "x", ""): "imu.orientation.x",
    ("quaternion", "w", ""): "q[0]",
    ("gyro", "x", "deg/s"): "Gyroscope X (deg/s)",
    ("gyro", "z", "rad/s"): "gyro_rad[2]",
    ("gyro", "y", "deg/s"): "gyro_y_deg_s",
    ("gyro", "x", ""): "rotRateX|angular_velocity.x",
    ("gyro", "z", ""): "wZ|yawrate|wb[2]",
    ("accel", "y", "m/s^2"): "accelerometer_m_s2[1]",
    ("accel", "z", ""): "linear_acceleration.z|fb[2]|GForceZ|zacc",
    ("accel", "x", "g"): "acc_x_g",
    ("speed", "", "km/h"): "speed (km/h)",
    ("velocity_north", "", "m/s"): "vel_n_m_s",
    ("velocity_east", "", ""): "VE",
    ("course", "", "rad"): "cog_rad",
    ("course", "", "deg"): "Direction (°)",
    ("heading", "", ""): "true heading",
    ("yaw", "", ""): "psi",
    ("sigma_north", "", "m"): "sdn(m)",
}


@pytest.mark.parametrize("stem, names", KNOWN.items())
def test_axis_and_unit_are_recognised_in_column_names(stem, names):
    for meaning in map(meaning_of, names.split("|")):
        assert (meaning.kind, meaning.axis, meaning.unit) == stem


UNKNOWN = """b_w_RS_S_x [rad s^-1]|gyro_bias_x|mag_x|mag_field.header.stamp.secs|gyro_integral_dt
angular_velocity_covariance0|accelerometer_timestamp_relative|delta_q_reset[0]|q10|locationHeadingX
locationHeadingAccuracy|baro_alt_meter|ref_lat|vdop|motionGravityX|acceleration_x [m]|speed [deg]
Temperature (C)|seq|col3|-0.25|"""


@pytest.mark.parametrize("name", UNKNOWN.replace("\n", "|").split("|"))
def test_column_names_of_other_quantities_are_not_recognised(name):
    assert meaning_of(name) is None


@pytest.mark.parametrize(
    "text, unit",
    [("m s^-2", "m/s^2"), ("°/s", "deg/s"), ("", "1"), ("G", "g"), ("gs", "g"), ("uT", "")],
)
def test_units_are_recognised_in_common_spellings(text, unit):
    assert canonical_unit(text) == unit


def test_seconds_and_nanoseconds_columns_with_sensor_suffix_are_paired():
    whole = np.floor(TIME)
    parts = {"timestamp_sec_imu": 1.7e9 + whole, "timestamp_nanosec_imu": 1e9 * (TIME - whole)}
    chosen = choose(**parts, **Car().inertial())
    assert chosen.imu["time"] == "timestamp_sec_imu [s] + timestamp_nanosec_imu [ns]"


def test_increasing_clock_column_is_preferred_over_overflowing_one():
    counts = {"Arduino Time": np.arange(len(TIME)) % 256, "Computer time": TIME}
    assert choose(**counts, **Car().inertial()).imu["time"] == "Computer time [s]"


@pytest.mark.parametrize(
    "name, unit", [("rover_timestamps", "s"), ("rover_time_ms", "ms"), ("host stamp (us)", "us")]
)
def test_column_with_time_in_its_name_is_used_unless_standard_time_column_exists(name, unit):
    table = {name: IN_ONE_SECOND[unit] * TIME, **Car().inertial()}
    assert choose(**table).imu["time"] == f"{name} [{unit}]"
    assert choose(**table, time_s=TIME).imu["time"] == "time_s [s]"
    assert choose(**{**table, name: ZEROS}).imu.get("time") is None


def test_units_on_line_below_column_names_are_read(tmp_path):
    path, car = tmp_path / "a.csv", Car()
    lines = ["Time;wx;wy;wz;roll;pitch;yaw", "[ms];[deg/s];[deg/s];[deg/s];;;deg"]
    rows = np.column_stack([1e3 * TIME, np.degrees(car.rates), ZEROS, ZEROS, np.degrees(car.yaw)])
    lines += [";".join(f"{number:.9g}" for number in row) for row in rows]
    path.write_text("\n".join(lines).replace(".", ",") + "\n")
    chosen = find_column_maps(path).imu
    assert chosen["time"] == "Time [ms] [ms]"
    assert chosen["gyro_z"] == "wz [deg/s] [deg/s]"
    recorded = read_imu_samples(path, columns={**chosen, "yaw": "yaw [deg]"})
    assert recorded.columns["gyro_z"] == pytest.approx(car.rates[:, 2], abs=1e-8)
    assert recorded.places[0] == 3


@pytest.mark.parametrize("again", [False, True], ids=["once", "repeated"])
def test_header_with_group_names_above_column_names_is_read(tmp_path, again):
    groups = {"Time": "s", "Mocap Orientation": "WXYZ", "IMU Acceleration": "XYZ"}
    groups["IMU Gyroscope"] = "XYZ"
    top = [
        [name] + (len(columns) - 1) * [name if again else ""] for name, columns in groups.items()
    ]
    lines = [
        ";".join(";".join(names) for names in top),
        ";".join(";".join(columns) for columns in groups.values()),
    ]
    half, inertial = 0.5 * CAR.yaw, CAR.inertial()
    columns = [TIME, np.cos(half), ZEROS, ZEROS, np.sin(half)]
    columns += [inertial[f"acc_{axis}"] for axis in "xyz"]
    columns += [inertial[f"gyro_{axis}"] for axis in "xyz"]
    lines += [";".join(f"{number:.9g}" for number in row) for row in np.column_stack(columns)]
    path = tmp_path / "carried.csv"
    path.write_text("\n".join(lines) + "\n")
    chosen = find_column_maps(path)
    assert chosen.reference == {
        "time": "Time [s] [s]",
        **{f"q{axis}": f"Mocap Orientation {axis.upper()} [1]" for axis in "xyzw"},
    }
    assert chosen.imu["gyro_z"] == "IMU Gyroscope Z [rad/s]"
    assert chosen.imu["accel_x"] == "IMU Acceleration X [m/s^2]" and "qx" not in chosen.imu
    gyro = read_imu_samples(path, columns=chosen.imu).columns["gyro_z"]
    assert gyro == pytest.approx(inertial["gyro_z"], abs=1e-7)
