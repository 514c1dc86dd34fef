"""Guessed column maps of look-alikes of what others record."""

import gzip

import numpy as np
import pytest
from column_tables import GRAVITY, RATE, TIME, Car, guess, wrapped, write

from imu_simulation_framework.recordings.guessing.guess import guess_angle, guess_columns
from imu_simulation_framework.recordings.reading import read_imu_samples, read_reference_samples

KNOT = 1852.0 / 3600.0


@pytest.fixture(scope="module")
def car():
    return Car()


def test_a_car_with_its_receiver_in_one_table(car):
    """Degrees, km/h, milliseconds since 1970, and the time of the day as hhmmss beside."""
    clock = 74800000 + np.round(1e3 * (TIME % 60.0) + 1e5 * (TIME // 60.0))
    found = guess(
        time=clock,
        millis=1.39e12 + 1e3 * TIME,
        **{f"a{a}": car.forces[:, k] for k, a in enumerate("xyz")},
        rollrate=np.degrees(car.rates[:, 0]),
        pitchrate=np.degrees(car.rates[:, 1]),
        yawrate=np.degrees(car.rates[:, 2]),
        roll=0.5 * np.sin(TIME),
        pitch=0.5 * np.cos(TIME),
        yaw=np.degrees(wrapped(-car.yaw)),
        speed=3.6 * car.speed,
        course=np.degrees(car.azimuth),
        latitude=car.latitude,
        longitude=car.longitude,
        hdop=np.full(len(TIME), 1.2),
        epe=np.full(len(TIME), 3.1),
    )
    assert found.reference == {
        "time": "millis [ms]",
        "latitude": "latitude [deg]",
        "longitude": "longitude [deg]",
        "hdop": "hdop [1]",
        "position_error": "epe [m]",
        "speed": "speed [km/h]",
        "course": "course [deg cw from north]",
    }
    assert found.imu == {
        "time": "millis [ms]",
        "roll": "roll [deg]",
        "pitch": "pitch [deg]",
        "yaw": "yaw [deg]",
        "gyro_x": "rollrate [deg/s]",
        "gyro_y": "pitchrate [deg/s]",
        "gyro_z": "yawrate [deg/s]",
        "accel_x": "ax [m/s^2]",
        "accel_y": "ay [m/s^2]",
        "accel_z": "az [m/s^2]",
    }
    assert found.unused == ["time"]


@pytest.mark.parametrize(
    "unit, factor", [("m/s", 1.0), ("km/h", 3.6), ("knots", 1.0 / KNOT), ("mph", 1.0 / 0.44704)]
)
def test_speeds_by_what_the_positions_do(car, unit, factor):
    found = guess(
        t=TIME,
        lat=car.latitude,
        lon=car.longitude,
        v=factor * car.speed,
        track=np.degrees(car.azimuth),
    )
    assert found.reference["speed"] == f"v [{unit}]"


@pytest.mark.parametrize(
    "words, angle",
    [
        ("deg cw from north", lambda yaw: np.degrees(np.mod(np.pi / 2.0 - yaw, 2.0 * np.pi))),
        ("deg ccw from east", lambda yaw: np.degrees(wrapped(yaw))),
        ("rad ccw from east", wrapped),
        ("rad cw from north", lambda yaw: wrapped(np.pi / 2.0 - yaw)),
        ("deg ccw from north", lambda yaw: np.degrees(wrapped(yaw - np.pi / 2.0))),
    ],
)
def test_courses_by_where_the_positions_go(car, words, angle):
    found = guess(
        t=TIME, lat=car.latitude, lon=car.longitude, speed=car.speed, course=angle(car.yaw)
    )
    assert found.reference["course"] == f"course [{words}]"


def test_a_yaw_keeps_its_convention_to_itself(car):
    found = guess(t=TIME, x=car.east, y=car.north, yaw=np.degrees(car.azimuth))
    assert found.reference["yaw"] == "yaw [deg]"
    found = guess(t=TIME, x=car.east, y=car.north, heading=np.degrees(car.azimuth))
    assert found.reference["heading"] == "heading [deg cw from north]"


@pytest.mark.parametrize(
    "unit, north, east",
    [
        ("deg", lambda v: v, lambda v: v),
        ("rad", np.radians, np.radians),
        (
            "ddmm.mmmm",
            lambda v: 100 * (v // 1) + 60 * (v % 1),
            lambda v: 100 * (v // 1) + 60 * (v % 1),
        ),
    ],
)
def test_units_of_latitude_and_longitude(car, unit, north, east):
    found = guess(t=TIME, latitude=north(car.latitude), longitude=east(car.longitude))
    assert found.reference["latitude"] == f"latitude [{unit}]"
    assert found.reference["longitude"] == f"longitude [{unit}]"


def test_whole_numbers_of_a_receiver(car):
    found = guess(
        timestamp=2e7 + 1e6 * TIME[::10],
        lat=np.round(1e7 * car.latitude[::10]),
        lon=np.round(1e7 * car.longitude[::10]),
        alt=np.full(len(TIME[::10]), 66814.0),
    )
    assert found.reference == {
        "time": "timestamp [us]",
        "latitude": "lat * 1e-7 [deg]",
        "longitude": "lon * 1e-7 [deg]",
        "altitude": "alt [mm]",
    }


@pytest.mark.parametrize("multiple, unit", [(1.0, "s"), (1e3, "ms"), (1e6, "us"), (1e9, "ns")])
@pytest.mark.parametrize("start", [0.0, 1.7e9])
def test_units_of_times(car, multiple, unit, start):
    found = guess(t=multiple * (start + TIME), **car.inertial())
    assert found.imu["time"] == f"t [{unit}]"


def test_seconds_and_nanoseconds_in_two_columns(car):
    seconds = 1.7e9 + TIME
    found = guess(
        **{
            "Time": seconds + 0.01,
            "header.stamp.secs": np.floor(seconds),
            "header.stamp.nsecs": np.round(1e9 * (seconds % 1.0)),
            "imu.header.stamp.secs": np.zeros(len(TIME)),
            "imu.header.stamp.nsecs": np.zeros(len(TIME)),
        },
        **car.inertial(),
    )
    assert found.imu["time"] == "header.stamp.secs [s] + header.stamp.nsecs [ns]"


def test_a_stamp_of_another_clock_gives_way_to_that_of_the_computer(car):
    found = guess(receipt=1.7e9 + TIME, stamp=69210.0 + TIME, lat=car.latitude, lon=car.longitude)
    assert found.reference["time"] == "receipt [s]"
    found = guess(receipt=1.7e9 + TIME, stamp=1.7e9 + 880.0 + TIME, **car.inertial())
    assert found.imu["time"] == "receipt [s]"
    found = guess(receipt=1.7e9 + TIME, stamp=1.7e9 - 0.01 + TIME, **car.inertial())
    assert found.imu["time"] == "stamp [s]"


@pytest.mark.parametrize("factor, unit", [(1.0, "rad/s"), (180.0 / np.pi, "deg/s")])
@pytest.mark.parametrize("angle, angle_unit", [(1.0, "rad"), (180.0 / np.pi, "deg")])
def test_gyroscopes_by_what_the_yaw_does(car, factor, unit, angle, angle_unit):
    found = guess(t=TIME, yaw=angle * wrapped(car.yaw), **car.inertial(gyro=factor))
    assert found.imu["gyro_z"] == f"gyro_z [{unit}]"
    assert found.imu["yaw"] == f"yaw [{angle_unit}]"


def test_rates_that_were_converted_twice(car):
    half = car.yaw / 2.0
    quaternion = {"qx": 0.0 * half, "qy": 0.0 * half, "qz": np.sin(half), "qw": np.cos(half)}
    found = guess(t=TIME, **quaternion, **car.inertial(gyro=np.pi / 180.0))
    assert found.imu["gyro_x"] == "gyro_x * 57.29578 [rad/s]"


def test_a_quaternion_that_contradicts_the_yaw_beside_it(car):
    half = np.abs(wrapped(3.0 * car.yaw)) / 6.0
    quaternion = {"qx": 0.0 * half, "qy": 0.0 * half, "qz": np.sin(half), "qw": np.cos(half)}
    found = guess(t=TIME, **quaternion, raw_yaw_deg=np.degrees(wrapped(car.yaw)), **car.inertial())
    assert found.imu["yaw"] == "raw_yaw_deg [deg]"
    assert "qx" not in found.imu


def test_an_imu_at_rest_by_its_noise():
    random = np.random.default_rng(5)
    count = 2000
    for scale, step, unit in ((0.4, 0.05, "deg/s"), (0.003, 1e-5, "rad/s")):
        rates = step * np.round(scale / step * random.standard_normal((3, count)))
        found = guess(t=0.01 * np.arange(count), gx=rates[0], gy=rates[1], gz=rates[2])
        assert found.imu["gyro_x"] == f"gx [{unit}]"
        assert any("only a guess" in reason for reason in found.reasons)


@pytest.mark.parametrize(
    "factor, unit", [(1.0, "m/s^2"), (1.0 / GRAVITY, "g"), (1e3 / GRAVITY, "mg")]
)
def test_accelerometers_by_gravity(car, factor, unit):
    assert guess(t=TIME, **car.inertial(accel=factor)).imu["accel_z"] == f"acc_z [{unit}]"


def test_a_trajectory_with_units_in_its_header(car):
    half = car.yaw / 2.0
    columns = {
        "timestamp": np.round(1e9 * (1.4e9 + TIME)),
        "p_RS_R_x [m]": car.east,
        "p_RS_R_y [m]": car.north,
        "q_RS_w []": np.cos(half),
        "q_RS_x []": 0.0 * half,
        "q_RS_y []": 0.0 * half,
        "q_RS_z []": np.sin(half),
        "b_w_RS_S_x [rad s^-1]": np.full(len(TIME), 0.01),
    }
    found = guess(**columns)
    assert found.imu == {}
    assert found.reference["x"] == "p_RS_R_x [m] [m]"
    assert found.reference["qw"] == "q_RS_w [] [1]"
    assert found.unused == ["b_w_RS_S_x [rad s^-1]"]


def test_an_imu_with_frames_in_its_header(car):
    columns = {"timestamp [ns]": np.round(1e9 * (1.4e9 + TIME))}
    for letter, unit, values in (("w", "rad s^-1", car.rates), ("a", "m s^-2", car.forces)):
        columns.update({f"{letter}_RS_S_{a} [{unit}]": values[:, k] for k, a in enumerate("xyz")})
    found = guess(**columns)
    assert found.imu["gyro_z"] == "w_RS_S_z [rad s^-1] [rad/s]"
    assert found.imu["accel_x"] == "a_RS_S_x [m s^-2] [m/s^2]"
    assert found.unused == []


def test_a_table_that_was_saved_with_its_index(car, tmp_path):
    """Dates in a first column without a name, in a zone."""
    stamps = np.datetime64("2020-07-16T12:35:00") + np.round(1e3 * TIME).astype("timedelta64[ms]")
    columns = {
        "": [f"{str(stamp).replace('T', ' ')}-12:00" for stamp in stamps],
        "LAT": car.latitude,
        "LON": car.longitude,
    }
    found = guess_columns(write(tmp_path / "a.csv", columns))
    assert found.reference["time"] == "col1 [iso8601]"
    read = read_reference_samples(tmp_path / "a.csv", columns=found.reference).columns
    np.testing.assert_allclose(read["stamp"] - read["stamp"][0], TIME, atol=1e-3)
    assert read["stamp"][0] == pytest.approx(1594946100.0)


def test_without_a_time_there_is_an_imu_for_an_allan_analysis_only(car):
    found = guess(lat=car.latitude, lon=car.longitude, **car.inertial())
    assert found.reference == {}
    assert sorted(found.imu) == ["accel_x", "accel_y", "accel_z", "gyro_x", "gyro_y", "gyro_z"]
    assert any("Allan" in reason for reason in found.reasons)


def headless(car, longitude):
    columns = {"t": 82799.0 + 1e3 * TIME + 0.2 * np.sin(TIME)}
    columns.update({f"a{k}": car.forces[:, k] for k in range(3)})
    columns.update({f"g{k}": car.rates[:, k] for k in range(3)})
    columns.update({f"m{k}": 0.0 * TIME + (-5.0, -43.0, 12.0)[k] for k in range(3)})
    columns.update({"east": longitude + car.longitude, "north": car.latitude})
    return columns


def test_a_table_without_names(tmp_path, car):
    path = write(tmp_path / "a.csv", headless(car, 109.0), header=False)
    found = guess_columns(path)
    assert found.reference == {
        "time": "col1 [ms]",
        "latitude": "col12 [deg]",
        "longitude": "col11 [deg]",
    }
    assert found.imu["accel_z"] == "col4 [m/s^2]"
    assert found.imu["gyro_z"] == "col7 [rad/s]"
    assert found.unused == ["col8", "col9", "col10"]


def test_latitude_and_longitude_without_names_are_not_told_apart_below_90(tmp_path, car):
    found = guess_columns(write(tmp_path / "a.csv", headless(car, 0.0), header=False))
    assert found.reference == {}
    assert "col11" in found.unused


def test_dates_as_text(tmp_path, car):
    stamps = np.datetime64("2016-08-09T13:09:51.000") + np.round(1e3 * TIME).astype(
        "timedelta64[ms]"
    )
    texts = [str(stamp).replace("T", " ") for stamp in stamps]
    path = write(tmp_path / "a.csv", {"loggingTime": texts, **car.inertial()})
    found = guess_columns(path)
    assert found.imu["time"] == "loggingTime [iso8601]"
    samples = read_imu_samples(path, columns=found.imu)
    np.testing.assert_allclose(np.diff(samples.columns["stamp"]), 1.0 / RATE, atol=1e-6)


def test_guessed_maps_read_what_is_in_the_file(tmp_path, car):
    columns = {
        "Time (ms)": 1e3 * TIME,
        "lat": np.radians(car.latitude),
        "lon": np.radians(car.longitude),
        "v": 3.6 * car.speed,
        "cog": np.degrees(car.azimuth),
        "yaw": np.degrees(wrapped(car.yaw)),
        **car.inertial(gyro=180.0 / np.pi, accel=1.0 / GRAVITY),
    }
    path = write(tmp_path / "a.csv", columns)
    found = guess_columns(path)
    reference = read_reference_samples(path, columns=found.reference).columns
    np.testing.assert_allclose(reference["stamp"], TIME, atol=1e-9)
    np.testing.assert_allclose(reference["latitude"], car.latitude, atol=1e-9)
    np.testing.assert_allclose(reference["speed"], car.speed, rtol=1e-9)
    imu = read_imu_samples(path, columns=found.imu).columns
    np.testing.assert_allclose(imu["gyro_z"], car.rates[:, 2], rtol=1e-9)
    np.testing.assert_allclose(imu["yaw"], wrapped(car.yaw), atol=1e-9)
    # The package's g is not this file's.
    np.testing.assert_allclose(imu["accel_z"], car.forces[:, 2], rtol=1e-3)


def test_the_unit_of_one_angle_is_told_by_its_numbers(car, tmp_path):
    azimuth = np.degrees(car.azimuth)
    columns = {"time": TIME, "swing": np.degrees(wrapped(car.yaw)), "course": azimuth}
    columns.update(lat=car.latitude, lon=car.longitude, speed=car.speed, still=0.0 * TIME)
    path = write(tmp_path / "a.csv", columns)
    assert guess_angle(path, "swing") == "swing [deg]"
    assert guess_angle(path, "course") == "course [deg cw from north]"
    assert guess_angle(path, "still") == "still"
    assert guess_angle(path, "nowhere") == "nowhere"


def test_a_long_packed_file_is_read_in_pieces_with_its_quotes_whole(tmp_path):
    count = 30000
    time = 0.01 * np.arange(count)
    yaw = wrapped(10.0 * np.sin(0.3 * time))
    rate = np.degrees(3.0 * np.cos(0.3 * time))
    rows = ["t,raw,yaw,gyro_z"]
    rows += [
        f'{t:.2f},"$IMU,{k}\n",{y:.6f},{r:.4f}' for k, (t, y, r) in enumerate(zip(time, yaw, rate))
    ]
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(("\n".join(rows) + "\n").encode()))
    found = guess_columns(path)
    assert found.imu == {"time": "t [s]", "yaw": "yaw [rad]", "gyro_z": "gyro_z [deg/s]"}
    assert found.unused == ["raw"]


def test_a_name_that_a_map_cannot_hold_is_replaced_by_its_place(car):
    found = guess(**{"%time": 1e9 * (1.7e9 + TIME)}, **car.inertial())
    assert found.imu["time"] == "col1 [ns]"
