"""Record of an experiment: sample streams in files, and the tables computed from them."""

import errno
import os
from datetime import datetime

import numpy as np
import pandas as pd
import pytest

from imu_simulation_framework.core.angles import quaternion_from_roll_pitch_yaw
from imu_simulation_framework.core.errors import ResultError
from imu_simulation_framework.core.tables import GNSS_PUBLISHED, GROUND_TRUTH, TRAJECTORY
from imu_simulation_framework.drive.results import files
from imu_simulation_framework.drive.results import record as sample_store
from imu_simulation_framework.drive.results.record import STORED, ExperimentRecord, Stream

MILLISECOND = 1_000_000
ZERO = 5_000 * MILLISECOND
SAMPLES = 1000


@pytest.fixture
def folder(tmp_path):
    return files.create_result_folder(tmp_path, "drive", "imu", datetime(2020, 1, 1))


def yaw_at(time):
    """Return a yaw that spans more than a full turn and has to be unwrapped [rad]."""
    return 1.5 * time


def record_of_a_drive(folder=None, wheels=True):
    """Return a 100 Hz record of 1 s at standstill and a 10 s drive with commands at 20 Hz."""
    record = ExperimentRecord()
    record.add_odometer()
    if folder is not None:
        record.keep_in(folder)
    record.append_command(1.0, 2.0)
    for k in range(-100, SAMPLES + 1):
        stamp, time = ZERO + 10 * k * MILLISECOND, 0.01 * k
        orientation = quaternion_from_roll_pitch_yaw([0.0, 0.1, yaw_at(time)])
        record.imu.append(stamp, (*orientation, 0.0, 0.0, 1.5, 0.1, 0.2, time))
        record.ground_truth.append(
            stamp, (time, 0.0, 0.0, *orientation, 1.0, 0.2, 0.3, 0.4, 0.5, 1.5)
        )
        record.magnetometer.append(stamp, (1e-5, 2e-5, -1e-5 * time))
        half = 0.5 * yaw_at(time)
        record.odometer.append(stamp, (time, -time, np.sin(half), np.cos(half), 1.0, 1.5))
        if k > 0 and k % 5 == 0:
            record.errors.append(stamp, (0.0, 0.1, 0.2, 0.3, time))
            record.append_command(time, -time)
            if wheels:
                record.wheels.append(stamp, (time - 0.01, -time))
    return record


def test_tables_computed_in_blocks_match_samples(folder, monkeypatch):
    monkeypatch.setattr(sample_store, "_ROWS_PER_BLOCK", 64)
    record = record_of_a_drive(folder)
    assert record.zero() == ZERO
    assert record.complete_until(ZERO + 10_000 * MILLISECOND)
    assert not record.complete_until(ZERO + 10_001 * MILLISECOND)
    assert record.imu.expected(100.0, 0.0, ZERO, ZERO + 10_000 * MILLISECOND) == SAMPLES + 1
    # The record begins 1 s before ZERO, so a sensor that starts at that time has lost no samples.
    late = ZERO - 2_000 * MILLISECOND, ZERO + 10_000 * MILLISECOND
    assert record.imu.expected(100.0, 1.0, *late) == SAMPLES + 101
    assert record.imu.expected(100.0, 0.0, *late) == SAMPLES + 201
    recorded = record.tables(ZERO, ZERO + 10_000 * MILLISECOND)
    tables = {name: table.whole() for name, table in recorded.items()}
    times = 0.01 * np.arange(SAMPLES + 1)
    for name in ("imu_simulated", "ground_truth", "odometer"):
        np.testing.assert_allclose(tables[name].index, times, atol=1e-12)
        np.testing.assert_allclose(tables[name]["yaw"], yaw_at(times), atol=1e-9)
        if name != "odometer":
            np.testing.assert_allclose(tables[name]["pitch"], 0.1, atol=1e-9)
    assert tables["odometer"].columns.tolist() == list(TRAJECTORY)
    np.testing.assert_allclose(tables["odometer"]["y"], -times, atol=1e-12)
    assert np.all(tables["odometer"][["v", "yaw_rate"]] == [1.0, 1.5])
    np.testing.assert_allclose(tables["imu_simulated"]["accel_z"], times, atol=1e-12)
    assert tables["ground_truth"].columns.tolist() == list(GROUND_TRUTH)
    motion = tables["ground_truth"][["v", "v_y", "v_z", "gyro_x", "gyro_y", "yaw_rate"]]
    assert np.all(motion == [1.0, 0.2, 0.3, 0.4, 0.5, 1.5])
    np.testing.assert_allclose(tables["ground_truth"]["x"], times, atol=1e-12)
    assert tables["control_error"].columns.tolist() == list(STORED["control_error"][:4])
    wheels = tables["wheel_velocities"]
    np.testing.assert_allclose(wheels.index, 0.05 * np.arange(201), atol=1e-12)
    np.testing.assert_allclose(wheels["left"].iloc[1:], wheels.index[1:], atol=1e-12)
    turning = tables["wheel_velocities_actual"]
    np.testing.assert_allclose(turning.index, 0.05 * np.arange(1, 201), atol=1e-12)
    np.testing.assert_allclose(turning["left"], turning.index - 0.01, atol=1e-12)
    # The table written in blocks is identical to the complete table.
    kept = files.write_recorded_tables(folder, record, ZERO, ZERO + 10_000 * MILLISECOND)
    for name, table in tables.items():
        pd.testing.assert_frame_equal(folder.read_table(name), table, check_exact=True)
        pd.testing.assert_frame_equal(table[kept[name].columns], kept[name], check_exact=True)


def test_steering_columns_follow_wheel_columns_even_after_killed_experiment(folder):
    commands = ("left", "right", "steering")
    record = ExperimentRecord(commands)
    record.keep_in(folder)
    record.append_command(1.0, 2.0, 0.3)
    record.wheels.append(ZERO, (0.9, 1.9, 0.2))
    record.errors.append(ZERO, (0.0, 0.1, 0.2, 0.3, 0.0))
    record.flush()
    left = ExperimentRecord.left_behind(folder)
    tables = left.tables(ZERO, ZERO + MILLISECOND)
    for name, row in (
        ("wheel_velocities", (1.0, 2.0, 0.3)),
        ("wheel_velocities_actual", (0.9, 1.9, 0.2)),
    ):
        table = tables[name].whole()
        assert tuple(table.columns) == commands and tuple(table.iloc[0]) == row


@pytest.mark.parametrize("gone", [False, True], ids=["empty", "older version"])
def test_record_without_wheel_velocities_has_no_wheel_velocity_table(folder, gone):
    record_of_a_drive(folder, wheels=False).flush()
    samples = folder.path("wheel_velocities_actual.samples")
    if gone:
        samples.unlink()
    files.complete_tables(folder)
    assert folder.path("wheel_velocities.csv").exists()
    assert not folder.path("wheel_velocities_actual.csv").exists()
    assert not list(folder.folder.glob("*.samples"))
    # The tables are not written again.
    assert ExperimentRecord.left_behind(folder) is None


def test_stream_without_samples_becomes_empty_table_with_columns():
    tables = ExperimentRecord().tables(0, 1)
    columns = tables["imu_simulated"].whole().columns.tolist()
    assert columns[:4] == ["roll", "pitch", "yaw", "gyro_x"]
    assert len(tables["wheel_velocities"].whole()) == 0


def test_samples_of_killed_experiment_become_tables(folder):
    record = record_of_a_drive(folder)
    assert not folder.path("imu_simulated.csv").exists()
    files.complete_tables(folder)
    whole = record.tables(ZERO, ZERO + 10_000 * MILLISECOND)
    for name in (*STORED, "odometer"):
        table = folder.read_table(name)
        expected = whole[name].whole().iloc[: len(table)]
        pd.testing.assert_frame_equal(table, expected, check_exact=True)
        # Samples in memory are lost: a fraction of a second of most streams, a second of commands.
        assert table.index[-1] > 8.9
    assert not list(folder.folder.glob("*.samples"))


def test_existing_tables_are_not_overwritten(folder):
    record = record_of_a_drive(folder)
    files.write_recorded_tables(folder, record, ZERO, ZERO + 5_000 * MILLISECOND)
    files.complete_tables(folder)
    assert folder.read_table("imu_simulated").index[-1] == pytest.approx(5.0)
    assert not list(folder.folder.glob("*.samples"))


def test_samples_before_drive_or_with_wrong_columns_are_rejected(folder):
    ExperimentRecord().keep_in(folder)
    with pytest.raises(ResultError, match="killed before the drive"):
        files.complete_tables(folder)
    folder.path("ground_truth.samples").write_bytes(b'{"columns": ["x"]}\n')
    with pytest.raises(ResultError, match="has the columns x, expected x, y, z"):
        files.complete_tables(folder)


def record_with_a_receiver(folder=None, delay=0.0):
    """Return a record with a fix every 200 ms, some without heading or without position."""
    record = ExperimentRecord()
    record.add_receiver(delay)
    if folder is not None:
        record.keep_in(folder)
    for k in range(-1, 51):
        stamp = np.array([ZERO + 200 * k * MILLISECOND])
        place = (50.0, 14.0 + 1e-6 * k, 200.0, 2.0, 1e-4, 1e-4, 4e-4)
        if k == 5:
            place = (*3 * [np.nan], -1.0, *3 * [np.nan])
        record.append_fixes("gnss_position", stamp, np.array([place]))
        if k in (3, 5):
            continue
        record.append_fixes("gnss_velocity", stamp, np.array([(1.0, 2.0, 3.0, 0.1, 0.2)]))
        half = 0.5 * yaw_at(0.2 * k)
        record.append_fixes("gnss_heading", stamp, np.array([(np.sin(half), np.cos(half))]))
    return record


def test_gnss_receiver_messages_become_table_of_fixes():
    end = ZERO + 10_000 * MILLISECOND
    table = record_with_a_receiver().tables(ZERO, end)["gnss_simulated"].whole()
    np.testing.assert_allclose(table.index, 0.2 * np.arange(51))
    assert tuple(table.columns) == GNSS_PUBLISHED
    np.testing.assert_array_equal(table["status"].iloc[[4, 5, 6]], [2.0, -1.0, 2.0])
    missing = table["heading"].isna().to_numpy()
    assert np.flatnonzero(missing).tolist() == [3, 5]
    np.testing.assert_allclose(table["heading"][~missing], yaw_at(table.index[~missing]))
    assert np.isfinite(table["latitude"].iloc[3]) and np.isnan(table["latitude"].iloc[5])
    # The table ends before fixes that may still be delayed; without fixes, there is no table.
    late = record_with_a_receiver(delay=0.3).tables(ZERO, end)["gnss_simulated"].whole()
    assert late.index[-1] == pytest.approx(9.6)
    assert "gnss_simulated" not in record_with_a_receiver(delay=11.0).tables(ZERO, end)
    assert "gnss_simulated" not in record_of_a_drive().tables(ZERO, end)
    assert "odometer" not in record_with_a_receiver().tables(ZERO, end)


def test_fixes_of_killed_experiment_become_table(folder):
    record_with_a_receiver(folder).flush()
    left = ExperimentRecord.left_behind(folder)
    end = ZERO + 10_000 * MILLISECOND
    pd.testing.assert_frame_equal(
        left.tables(ZERO, end)["gnss_simulated"].whole(),
        record_with_a_receiver().tables(ZERO, end)["gnss_simulated"].whole(),
    )
    left.discard()
    assert not list(folder.folder.glob("*.samples"))


COLUMNS = ("a", "b")


def row(number):
    return 1.0 * number, -0.5 * number


def fill(store, numbers):
    for number in numbers:
        store.append(10 * number, row(number))


def check(store, count, first=0):
    stamps, values = store.rows(first, count)
    numbers = np.arange(first, count)
    np.testing.assert_array_equal(stamps, 10 * numbers)
    np.testing.assert_array_equal(values, np.column_stack(row(numbers)))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.samples"


@pytest.mark.parametrize("before", [0, 1, 50])
def test_samples_in_memory_and_file_form_one_table(path, before):
    store = Stream(COLUMNS)
    fill(store, range(before))
    store.keep_in(path)
    fill(store, range(before, 1000))
    assert len(store) == 1000
    assert store.newest == 9990
    for first, last in ((0, 1000), (970, 1000), (985, 990), (3, 5), (7, 7)):
        check(store, last, first)
    assert [len(times) for times, _ in store.blocks(0, 9990)] == [1000]


@pytest.mark.parametrize("rows_at_once", [1, 5, 30])
def test_rows_appended_in_blocks_match_rows_appended_singly(path, rows_at_once):
    store = Stream(COLUMNS)
    store.keep_in(path)
    for begin in range(0, 300, rows_at_once):
        numbers = np.arange(begin, begin + rows_at_once)
        store.append_rows(10 * numbers, np.column_stack(row(numbers)))
    assert (len(store), store.newest) == (300, 2990)
    check(store, 300)
    store.flush()
    check(Stream.open(path), 300)


def test_sample_with_duplicate_stamp_replaces_last_sample(path):
    store = Stream(COLUMNS)
    store.append(0, (1.0, 1.0))
    store.append(0, row(0))
    store.keep_in(path)
    store.append(0, (2.0, 2.0))
    for number in range(100):
        store.append(10 * number, (7.0, 7.0))
        store.append(10 * number, row(number))
    check(store, 100)


def test_samples_of_killed_process_are_read_except_those_in_memory(path):
    store = Stream(COLUMNS)
    store.keep_in(path)
    fill(store, range(1000))
    # The process was killed while it wrote a row.
    with open(path, "ab") as file:
        file.write(b"half a row")
    left = Stream.open(path)
    assert 1000 - sample_store._ROWS_IN_MEMORY <= len(left) < 1000
    assert left.columns == COLUMNS
    check(left, len(left))
    store.flush()
    check(Stream.open(path), 1000)


def test_samples_stay_in_memory_while_disk_is_full(path, monkeypatch):
    store = Stream(COLUMNS)
    store.keep_in(path)
    fill(store, range(100))
    write = os.pwrite

    def no_room(descriptor, content, place):
        if room:
            return write(descriptor, content[: room.pop()], place)
        raise OSError(errno.ENOSPC, "No space left on device")

    room = [10]
    monkeypatch.setattr(sample_store.os, "pwrite", no_room)
    fill(store, range(100, 200))
    check(store, 200)
    monkeypatch.undo()
    fill(store, range(200, 300))
    check(store, 300)
    store.flush()
    check(Stream.open(path), 300)


def test_missing_or_unrelated_sample_file_is_rejected(path):
    with pytest.raises(ResultError, match="No such file"):
        Stream.open(path)
    path.write_bytes(b'{"columns": 3}\n')
    with pytest.raises(ResultError, match="not a file of recorded samples"):
        Stream.open(path)


def test_discarding_samples_removes_file_and_existing_file_is_not_overwritten(path):
    store = Stream(COLUMNS)
    store.discard()
    store.keep_in(path)
    fill(store, range(100))
    store.discard()
    assert not path.exists() and len(store) == 0
    path.write_text("mine")
    with pytest.raises(ResultError, match="cannot be written"):
        Stream(COLUMNS).keep_in(path)
    assert path.read_text() == "mine"
