"""ROS 2 bags give what the same messages in a ROS 1 bag give."""

import sqlite3
import struct

import numpy as np
import pytest
import recording_writers as writers
import zstandard

from imu_simulation_framework.errors import RecordingError
from imu_simulation_framework.recordings import (
    read_imu,
    read_imu_samples,
    read_reference,
    read_reference_samples,
)

COUNT = 30
STAMPS = [1_700_000_000 * 10**9 + 100_000_000 * k + 7 * k for k in range(COUNT)]
RANDOM = np.random.default_rng(5)
POSITIONS = RANDOM.standard_normal((COUNT, 3))
ORIENTATIONS = RANDOM.standard_normal((COUNT, 4))
ORIENTATIONS /= np.linalg.norm(ORIENTATIONS, axis=1, keepdims=True)
GYRO, ACCEL = RANDOM.standard_normal((2, COUNT, 3))

REFERENCES = {
    "odometry": [writers.odometry(*row) for row in zip(STAMPS, POSITIONS, ORIENTATIONS)],
    "pose": [writers.pose_stamped(*row) for row in zip(STAMPS, POSITIONS, ORIENTATIONS)],
    "pose with covariance": [
        writers.pose_with_covariance_stamped(*row) for row in zip(STAMPS, POSITIONS, ORIENTATIONS)
    ],
    "fix": [
        writers.fix(stamp, 48.0 + 1e-6 * k, 11.0 + 2e-6 * k, 1.0 + k, altitude=500.0 + k)
        for k, stamp in enumerate(STAMPS)
    ],
}
IMU = [writers.imu(*row) for row in zip(STAMPS, ORIENTATIONS, GYRO, ACCEL)]


def topics(kind):
    return {"/imu": IMU, "/reference": REFERENCES[kind]}


def assert_equal_samples(ours, expected):
    assert ours.message_type == expected.message_type
    assert set(ours.columns) == set(expected.columns)
    for name, values in expected.columns.items():
        assert np.array_equal(ours.columns[name], values), name


def write(kind, path, content):
    """A bag of each storage; what to open."""
    if kind == "mcap":
        return writers.write_mcap(path.with_suffix(".mcap"), content)
    if kind == "mcap without index":
        return writers.write_mcap(path.with_suffix(".mcap"), content, chunked=False)
    compression = {"packed file": "FILE", "packed messages": "MESSAGE"}.get(kind)
    writers.write_ros2_bag(path, content, compression)
    return path / f"{path.name}.db3" if kind == "file" else path


STORAGES = ("folder", "file", "mcap", "mcap without index", "packed file", "packed messages")


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("kind", REFERENCES)
def test_every_message_in_every_storage(tmp_path, kind, storage):
    ros1 = writers.write_bag(tmp_path / "a.bag", topics(kind))
    ros2 = write(storage, tmp_path / "b", topics(kind))
    assert_equal_samples(read_reference_samples(ros2), read_reference_samples(ros1))
    assert_equal_samples(read_imu_samples(ros2), read_imu_samples(ros1))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("storage", ["ros1", "mcap without index"])
def test_a_damaged_number_of_the_kind_that_makes_calculations_warn_is_missing(tmp_path, storage):
    plain, signalling = struct.pack("<d", 1234.5), bytes.fromhex("01000000 0000f0ff")
    gyro = [1234.5 if k == 10 else 0.1 for k in range(COUNT)]
    messages = [
        writers.imu(stamp, (0.0, 0.0, 0.0, 1.0), (value, 0.0, 0.0), (0.0, 0.0, 9.8))
        for stamp, value in zip(STAMPS, gyro)
    ]
    if storage == "ros1":
        path = writers.write_bag(tmp_path / "a.bag", {"/imu": messages})
    else:
        path = write(storage, tmp_path / "a", {"/imu": messages})
    content = path.read_bytes()
    assert content.count(plain) == 1
    path.write_bytes(content.replace(plain, signalling))
    assert np.isnan(read_imu_samples(path).columns["gyro_x"]).sum() == 1
    assert len(read_imu(path).table) == COUNT - 1


def test_strings_of_every_length(tmp_path):
    """What follows a string begins at another place for each length."""
    messages = [writers.imu(*row) for row in zip(STAMPS, ORIENTATIONS, GYRO, ACCEL)]
    for length, message in enumerate(messages):
        message.header.frame_id = "i" * length
    table = read_imu(writers.write_ros2_bag(tmp_path / "a", {"/imu": messages})).table
    assert np.array_equal(table[["gyro_x", "gyro_y", "gyro_z"]], GYRO)


def test_a_recording_of_several_files(tmp_path):
    folder = tmp_path / "drive"
    folder.mkdir()
    for part in range(3):
        # Ten files would sort wrongly by their names alone.
        chunk = IMU[10 * part : 10 * (part + 1)]
        writers.write_mcap(folder / f"drive_{9 + part}.mcap", {"/imu": chunk})
    recorded = read_imu(folder)
    assert np.array_equal(recorded.table["gyro_x"], GYRO[:, 0])
    assert not recorded.report.stamps.unordered


def test_a_packed_file_of_a_bag(tmp_path):
    path = writers.write_mcap(tmp_path / "a.mcap", {"/imu": IMU})
    expected = read_imu(path).table
    packed = tmp_path / "a.mcap.zstd"
    packed.write_bytes(zstandard.ZstdCompressor().compress(path.read_bytes()))
    assert read_imu(packed).table.equals(expected)
    assert read_imu(writers.pack(path)).table.equals(expected)


def refusal(path, **options):
    with pytest.raises(RecordingError) as caught:
        read_reference(path, **options)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("storage", STORAGES[:4])
def test_a_topic_that_is_not_there(tmp_path, storage):
    path = write(storage, tmp_path / "b", {"/imu": IMU})
    assert "no topic of type nav_msgs/Odometry" in refusal(path)
    assert "the bag has /imu (sensor_msgs/Imu)" in refusal(path, topic="/odom")


@pytest.mark.parametrize("share", [0.3, 0.7, 0.95])
@pytest.mark.parametrize("storage", ["file", "mcap", "mcap without index"])
def test_a_truncated_bag(tmp_path, storage, share):
    path = write(storage, tmp_path / "b", topics("odometry"))
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    assert "ROS 2 bag" in refusal(path)


@pytest.mark.parametrize("change", [lambda data: data[:-8], lambda data: b"\0\0" + data[2:]])
def test_a_message_that_is_laid_out_otherwise(tmp_path, change):
    path = write("file", tmp_path / "b", {"/odom": REFERENCES["odometry"]})
    with sqlite3.connect(path) as database:
        (data,) = database.execute("SELECT data FROM messages WHERE id = 18").fetchone()
        database.execute("UPDATE messages SET data = ? WHERE id = 18", (change(data),))
    database.close()
    sentence = refusal(path)
    assert "topic /odom: message 18 is not laid out as nav_msgs/Odometry of ROS 2" in sentence


def test_a_folder_without_a_bag(tmp_path):
    assert "or the folder of a ROS 2 bag" in refusal(tmp_path)


def test_another_database(tmp_path):
    database = sqlite3.connect(tmp_path / "a.db3")
    database.execute("CREATE TABLE words (word TEXT)")
    database.commit()
    database.close()
    assert "ROS 2 bag is truncated or damaged (no such table" in refusal(tmp_path / "a.db3")
