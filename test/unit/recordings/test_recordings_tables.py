"""Recordings of several tables: one file per sensor, each with individual sample times."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from column_tables import RATE, TIME, assert_inertial
from refusals import refusal
from scipy.spatial.transform import Rotation
from table_writers import write_zip

from imu_simulation_framework.core.angles import wrap
from imu_simulation_framework.recordings.columns import find_angle_column, find_column_maps
from imu_simulation_framework.recordings.reading import read_imu, read_reference
from imu_simulation_framework.recordings.vocabulary import tables as table_choice

START = 1_700_000_000_000_000_000
SLOW = TIME[3::50]  # fix times: once per second, from the fourth sample at 50 Hz on


def nanoseconds(times):
    return START + np.rint(1e9 * times).astype(np.int64)


def phone(car):
    """Return the tables of a phone's sensors, which have different sample times."""
    between = TIME[:-1] + 0.007
    force = np.column_stack([np.interp(between, TIME, axis) for axis in car.forces.T])
    yaw = np.interp(SLOW, TIME, car.yaw)
    place = {
        name: np.interp(SLOW, TIME, values)
        for name, values in (("latitude", car.latitude), ("longitude", car.longitude))
    }
    turned = Rotation.from_euler("z", car.yaw[::2]).as_quat()
    turned[7] *= -1.0  # the opposite quaternion is the same rotation
    return {
        "Gyroscope": {"time": nanoseconds(TIME), **dict(zip("xyz", car.rates.T))},
        "Accelerometer": {
            "time": nanoseconds(between),
            **dict(zip("xyz", (force - [0.0, 0.0, 9.81]).T)),
        },
        "TotalAcceleration": {"time": nanoseconds(between), **dict(zip("xyz", force.T))},
        "Magnetometer": {"time": nanoseconds(between), **dict(zip("xyz", force.T))},
        "Orientation": {
            "time": nanoseconds(TIME[::2]),
            **dict(zip(("qx", "qy", "qz", "qw"), turned.T)),
        },
        "Location": {
            "time": nanoseconds(SLOW),
            "horizontalAccuracy": np.full(len(SLOW), 2.0),
            "bearing": np.degrees(np.pi / 2.0 - yaw) % 360.0,
            "speed": np.interp(SLOW, TIME, car.speed),
            **place,
        },
        "Barometer": {"time": [], "pressure": []},
    }


def write_folder(folder, tables):
    folder.mkdir(parents=True)
    for name, columns in tables.items():
        pd.DataFrame(columns).to_csv(folder / f"{name}.csv", index=False)
    (folder / "Metadata.csv").write_text("version,device name\n3,telephone\n")
    return folder


@pytest.fixture(scope="module")
def zipped(car, tmp_path_factory):
    return write_zip(tmp_path_factory.mktemp("phone") / "drive.zip", phone(car))


def test_readings_of_other_sensors_are_interpolated_at_gyroscope_times(car, zipped):
    maps = find_column_maps(zipped)
    assert maps.imu["time"] == "Gyroscope.time [ns]"
    assert maps.imu["gyro_z"] == "Gyroscope.z [rad/s]"
    assert maps.imu["accel_x"] == "TotalAcceleration.x [m/s^2]"
    assert maps.imu["qw"] == "Orientation.qw [1]"
    table = read_imu(zipped, columns=maps.imu).table
    times = table.index.to_numpy() - START / 1e9
    rows = np.rint(50.0 * times).astype(int)
    # Times of 1.7e9 s have a resolution of 2.4e-7 s.
    assert times == pytest.approx(TIME[rows], abs=3e-7)
    rates, forces = table[["gyro_x", "gyro_y", "gyro_z"]], table[["accel_x", "accel_y", "accel_z"]]
    assert np.array_equal(rates, car.rates[rows])
    acceleration = phone(car)["TotalAcceleration"]
    for axis in "xyz":
        expected = np.interp(nanoseconds(TIME[rows]), acceleration["time"], acceleration[axis])
        assert forces[f"accel_{axis}"].to_numpy() == pytest.approx(expected, abs=1e-4)
    # The tolerance is the error of linear interpolation over 0.04 s at up to 0.55 rad/s.
    assert wrap(table["yaw"].to_numpy() - car.yaw[rows]) == pytest.approx(0.0, abs=1e-4)
    # Samples before the first or after the last sample of another table are missing.
    assert len(rows) >= len(TIME) - 2


@pytest.mark.parametrize("name", ["Accelerometer", "LinearAcceleration"])
def test_gravity_is_added_to_accelerations_without_gravity(car, tmp_path, name):
    tables = phone(car)
    measured = tables.pop("TotalAcceleration")
    tables[name] = tables.pop("Accelerometer")
    times = tables["Gyroscope"]["time"]  # differ from those of the accelerometer
    tables["Gravity"] = {"time": times, "z": np.full(len(TIME), 9.81), "y": 0.0, "x": 0.0}
    maps = find_column_maps(write_folder(tmp_path / "drive", tables))
    assert maps.imu["accel_z"] == f"{name}+Gravity.z [m/s^2]"
    table = read_imu(tmp_path / "drive", columns=maps.imu).table
    rows = np.rint(RATE * (table.index.to_numpy() - START / 1e9)).astype(int)
    expected = np.interp(nanoseconds(TIME[rows]), measured["time"], measured["x"])
    assert table["accel_x"].to_numpy() == pytest.approx(expected, abs=1e-4)
    # A gravity table that does not overlap in time is not used.
    tables["Gravity"]["time"] = times + 1_000_000_000_000
    assert "accel_z" not in find_column_maps(write_folder(tmp_path / "other", tables)).imu


def test_tables_without_time_are_reported(car, tmp_path):
    tables = {"gyroscope": dict(zip(("gx", "gy", "gz"), car.rates.T)), "other": {"ax": TIME}}
    maps = find_column_maps(write_folder(tmp_path / "drive", tables))
    assert any("no column of a table could be" in reason for reason in maps.reasons)


def test_receiver_table_is_used_as_reference(car, zipped):
    maps = find_column_maps(zipped)
    assert maps.reference["time"] == "Location.time [ns]"
    assert set(maps.reference) >= {"latitude", "longitude", "speed", "course", "position_error"}
    recorded = read_reference(zipped, columns=maps.reference)
    assert recorded.report.format == "tables"
    assert recorded.report.usable == len(SLOW)
    times = recorded.table.index.to_numpy() - START / 1e9
    error = wrap(recorded.table["yaw"].to_numpy() - np.interp(times, TIME, car.yaw))
    # Between fixes a second apart, the yaw turns by up to 0.55 rad, at up to 0.12 rad/s^2.
    assert np.sqrt(np.mean(error**2)) < 0.12 / 8.0


def test_folder_and_zip_file_with_same_tables_are_read_identically(car, zipped, tmp_path):
    folder = write_folder(tmp_path / "drive", phone(car))
    maps = find_column_maps(folder)
    assert (maps.imu, maps.reference) == (
        find_column_maps(zipped).imu,
        find_column_maps(zipped).reference,
    )
    first, second = (read_imu(path, columns=maps.imu).table for path in (folder, zipped))
    pd.testing.assert_frame_equal(first, second)


def test_zip_file_of_single_table_is_read_as_table(car, tmp_path):
    columns = {
        "time_s": TIME,
        **{f"gyro_{a} (rad/s)": car.rates[:, k] for k, a in enumerate("xyz")},
    }
    path = write_zip(tmp_path / "a.zip", {"Raw Data": columns})
    maps = find_column_maps(path)
    assert maps.imu["gyro_z"] == "gyro_z (rad/s) [rad/s]"
    assert read_imu(path, columns=maps.imu).table["gyro_z"].to_numpy() == pytest.approx(
        car.rates[:, 2]
    )


def test_wrapped_angle_is_interpolated_along_shorter_arc(tmp_path):
    times, late = np.arange(0.0, 10.0, 0.1), np.arange(0.05, 9.9, 0.1)
    tables = {
        "gyro": {"t_s": late, "x": 0.0 * late, "y": 0.0 * late, "z": 1.0 + 0.0 * late},
        "compass": {"t_s": times, "heading_deg": np.degrees(-times) % 360.0},
    }
    path = write_zip(tmp_path / "a.zip", tables)
    columns = {"time": "gyro.t_s", "gyro_z": "gyro.z", "heading": "compass.heading_deg [deg]"}
    table = read_imu(path, columns=columns).table
    expected = np.pi / 2.0 + table.index.to_numpy()
    assert wrap(table["yaw"].to_numpy() - expected) == pytest.approx(0.0, abs=1e-9)
    assert (
        find_angle_column(path, "compass.heading_deg") == "compass.heading_deg [deg cw from north]"
    )


def test_pause_in_another_sensor_table_is_not_interpolated(car, tmp_path):
    tables = phone(car)
    pause = (TIME[:-1] < 20.0) | (TIME[:-1] > 22.0)
    tables["TotalAcceleration"] = {k: v[pause] for k, v in tables["TotalAcceleration"].items()}
    path = write_zip(tmp_path / "a.zip", tables)
    columns = {"time": "Gyroscope.time [ns]", "gyro_z": "Gyroscope.z"}
    columns.update({f"accel_{axis}": f"TotalAcceleration.{axis}" for axis in "xyz"})
    table = read_imu(path, columns=columns).table
    times = table.index.to_numpy() - START / 1e9
    assert not ((times > 20.01) & (times < 22.0)).any()


@pytest.mark.parametrize("name", ["attitude_setpoint.yaw_deg", "gyro_bias.x", "Gravity.x", "mag.x"])
def test_setpoint_tables_and_unrelated_tables_are_not_read_as_measurements(car, tmp_path, name):
    table, _, column = name.partition(".")
    times = {"time_s": TIME}
    tables = {table: {**times, column: car.yaw}, "temperature": {**times, "celsius": car.yaw}}
    maps = find_column_maps(write_zip(tmp_path / "a.zip", tables))
    assert (maps.imu, maps.reference) == ({}, {})


GYROSCOPE = {"time": "Gyroscope.time [ns]", "gyro_z": "Gyroscope.z"}


def other_clock(tables):
    tables["Location"]["time"] = tables["Location"]["time"] - START
    return tables


@pytest.mark.parametrize(
    ("columns", "change", "message"),
    [
        ({"latitude": "Location.lat"}, None, "column 'Location.lat' is missing, expected one of"),
        (
            {**GYROSCOPE, "yaw": "Location.bearing [deg]"},
            other_clock,
            "Gyroscope, expected tables with a common clock",
        ),
        (
            {**GYROSCOPE, "yaw": "compass.yaw"},
            lambda tables: {**tables, "compass": {"row": TIME[1:], "yaw": TIME[1:]}},
            "the time is 'Gyroscope.time', but table compass has no column 'time'; its columns are",
        ),
    ],
)
def test_incompatible_tables_are_rejected(car, tmp_path, columns, change, message):
    tables = phone(car)
    path = write_zip(tmp_path / "a.zip", change(tables) if change else tables)
    assert message in refusal(read_imu, path, columns=columns)


def test_tables_without_times_are_not_joined(zipped):
    columns = {"gyro_z": "Gyroscope.z", "accel_z": "TotalAcceleration.z"}
    sentence = refusal(read_imu, zipped, columns=columns, rate=50.0, require=())
    assert "time is missing in the column map" in sentence
    gyroscope = read_imu(zipped, columns={"gyro_z": "Gyroscope.z"}, rate=50.0, require=())
    assert len(gyroscope.table) == len(TIME)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda content: content[: len(content) // 2], "the zip file is truncated or damaged"),
        (lambda content: re.sub(rb"\.csv", b".txt", content), "the zip file contains no CSV file"),
    ],
)
def test_unusable_zip_files_are_rejected(zipped, tmp_path, damage, message):
    path = tmp_path / "a.zip"
    path.write_bytes(damage(zipped.read_bytes()))
    assert message in refusal(find_column_maps, path)


def test_tables_with_different_time_column_names_or_without_headers_are_joined(car, tmp_path):
    for name, values in (("Acc", car.forces), ("Gyro", car.rates)):
        unit = "m/s^2" if name == "Acc" else "rad/s"
        axes = {f"{name}{axis} [{unit}]": values[:, k] for k, axis in enumerate("XYZ")}
        columns = {f"Timestamp{name} [ns]": np.rint(1e9 * TIME), **axes}
        (tmp_path / "named").mkdir(exist_ok=True)
        pd.DataFrame(columns).to_csv(tmp_path / "named" / f"2021_{name}.csv", index=False)
        bare = pd.DataFrame(np.column_stack([values, np.rint(1e9 * (1e4 + TIME))]))
        (tmp_path / "bare").mkdir(exist_ok=True)
        bare.to_csv(tmp_path / "bare" / f"VID_20220713{name}.csv", index=False, header=False)
    assert_inertial(read_imu(tmp_path / "named").table, car)
    # Without a header, the unit of the gyroscope is undetermined.
    maps = find_column_maps(tmp_path / "bare")
    gyro = {quantity: lines[-1] for quantity, lines in maps.open_columns.items()}
    assert_inertial(read_imu(tmp_path / "bare", columns={**maps.imu, **gyro}).table, car)


def test_tables_without_time_use_time_table_of_same_length(car, tmp_path):
    for name, unit, values in (("accel-0", "m/s^2", car.forces), ("gyro-0", "rad/s", car.rates)):
        columns = dict(zip((f"{name[:-2]}_{axis} ({unit})" for axis in "xyz"), values.T))
        pd.DataFrame(columns).to_csv(tmp_path / f"{name}.csv", index=False)
    pd.DataFrame({"time (sec)": TIME}).to_csv(tmp_path / "time.csv", index=False)
    assert_inertial(read_imu(tmp_path).table, car)


def test_each_of_many_tables_is_analysed_at_most_three_times(tmp_path, monkeypatch):
    """An autopilot log may have hundreds of tables, none of them from an IMU."""
    looked, tables, understood = [], 40, table_choice.candidates_of

    def counted(*arguments):
        looked.append(arguments)
        return understood(*arguments)

    monkeypatch.setattr(table_choice, "candidates_of", counted)
    rows = [{"voltage": 12.0 + 0.1 * k, "current": 0.5 * k} for k in range(30)]
    path = tmp_path / "log.json"
    path.write_text(json.dumps({f"battery_{k}": rows for k in range(tables)}))
    found = find_column_maps(path)
    assert not found.imu and not found.reference
    assert tables <= len(looked) <= 3 * tables
