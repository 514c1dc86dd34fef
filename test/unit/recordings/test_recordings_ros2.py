"""ROS 2 bags, compared with ROS 1 bags of the same messages."""

import sqlite3
import struct
from contextlib import ExitStack, closing
from functools import partial

import numpy as np
import pytest
import recording_writers as writers
import refusals
import zstandard
from mcap.writer import CompressionType, IndexType
from mcap.writer import Writer as McapWriter

from imu_simulation_framework.recordings import reading
from imu_simulation_framework.recordings.formats.ros2_bag import ros2_bag_topics, stored_file

refusal = partial(refusals.refusal, reading.read_reference)

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


def assert_equal_samples(samples, expected):
    assert samples.message_type == expected.message_type
    assert set(samples.columns) == set(expected.columns)
    for name, values in expected.columns.items():
        assert np.array_equal(samples.columns[name], values), name


def write(kind, path, content):
    """Write a bag in a storage format and return the path to open."""
    if kind.startswith("mcap"):
        packed = {"compression": "LZ4", "chunk_size": 1000}
        options_by_kind = {
            "mcap in packed chunks": packed,
            "mcap without index": {"chunked": False},
        }
        return writers.write_mcap(
            path.with_suffix(".mcap"), content, **options_by_kind.get(kind, {})
        )
    compression = {"packed file": "FILE", "packed messages": "MESSAGE"}.get(kind)
    writers.write_ros2_bag(path, content, compression)
    return path / f"{path.name}.db3" if kind == "file" else path


STORAGES = (
    *("folder", "file", "mcap", "mcap without index", "mcap in packed chunks"),
    *("packed file", "packed messages"),
)


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("kind", REFERENCES)
def test_ros2_messages_match_ros1_messages_in_every_storage_format(tmp_path, kind, storage):
    ros1 = writers.write_bag(tmp_path / "a.bag", topics(kind))
    ros2 = write(storage, tmp_path / "b", topics(kind))
    assert_equal_samples(reading.read_reference_samples(ros2), reading.read_reference_samples(ros1))
    assert_equal_samples(reading.read_imu_samples(ros2), reading.read_imu_samples(ros1))


@pytest.mark.parametrize("storage", ["ros1", *STORAGES])
def test_magnetometer_and_thermometer_are_read_from_every_storage_format(tmp_path, storage):
    content = {
        "/mag": [writers.magnetic_field(*row) for row in zip(STAMPS, 1e-5 * GYRO)],
        "/temperature": [writers.temperature(*row) for row in zip(STAMPS, 20.0 + ACCEL[:, 0])],
    }
    path = tmp_path / "b"
    path = writers.write_bag(path, content) if storage == "ros1" else write(storage, path, content)
    field = reading.read_other_sensor(path, "magnetometer").table
    np.testing.assert_array_equal(field[["mag_x", "mag_y", "mag_z"]], 1e-5 * GYRO)
    np.testing.assert_allclose(field.index, np.array(STAMPS) / 1e9, rtol=1e-15)
    heat = reading.read_other_sensor(path, "thermometer").table
    np.testing.assert_array_equal(heat["temperature"], 20.0 + ACCEL[:, 0])


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("storage", ["ros1", "mcap without index"])
def test_signalling_nan_is_read_as_missing_without_warning(tmp_path, storage):
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
    assert np.isnan(reading.read_imu_samples(path).columns["gyro_x"]).sum() == 1
    assert len(reading.read_imu(path).table) == COUNT - 1


def test_recording_with_several_files_is_read_in_order(tmp_path):
    folder = tmp_path / "drive"
    folder.mkdir()
    for part in range(3):
        # Alphabetical order would be wrong for ten files.
        chunk = IMU[10 * part : 10 * (part + 1)]
        writers.write_mcap(folder / f"drive_{9 + part}.mcap", {"/imu": chunk})
    recorded = reading.read_imu(folder)
    assert np.array_equal(recorded.table["gyro_x"], GYRO[:, 0])
    assert not recorded.report.stamps.unordered


def test_compressed_bag_file_is_read(tmp_path):
    path = writers.write_mcap(tmp_path / "a.mcap", {"/imu": IMU})
    expected = reading.read_imu(path).table
    packed = tmp_path / "a.mcap.zstd"
    packed.write_bytes(zstandard.ZstdCompressor().compress(path.read_bytes()))
    assert reading.read_imu(packed).table.equals(expected)
    assert reading.read_imu(writers.pack(path)).table.equals(expected)


@pytest.mark.parametrize("storage", STORAGES[:5])
def test_missing_topic_is_rejected(tmp_path, storage):
    path = write(storage, tmp_path / "b", {"/imu": IMU})
    assert "no topic of type nav_msgs/Odometry" in refusal(path)
    assert "the bag contains /imu (sensor_msgs/Imu)" in refusal(path, topic="/odom")


@pytest.mark.parametrize("share", [0.3, 0.7, 0.95])
@pytest.mark.parametrize("storage", ["file", "mcap", "mcap without index"])
def test_truncated_ros2_bag_is_rejected(tmp_path, storage, share):
    path = write(storage, tmp_path / "b", topics("odometry"))
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    assert "ROS 2 bag" in refusal(path)


@pytest.mark.parametrize("change", [lambda data: data[:-8], lambda data: b"\0\0" + data[2:]])
def test_malformed_ros2_message_is_rejected(tmp_path, change):
    path = write("file", tmp_path / "b", {"/odom": REFERENCES["odometry"]})
    with closing(sqlite3.connect(path)) as database, database:
        (data,) = database.execute("SELECT data FROM messages WHERE id = 18").fetchone()
        database.execute("UPDATE messages SET data = ? WHERE id = 18", (change(data),))
    assert "/odom: message 18 does not have the structure of nav_msgs/Odometry in ROS 2" in refusal(
        path
    )


@pytest.mark.parametrize(
    ("options", "index"),
    [({"compression": CompressionType.ZSTD, "chunk_size": 300}, True), ({}, True), ({}, False)],
)
def test_mcap_messages_are_in_time_order(tmp_path, options, index):
    order = np.random.default_rng(3).permutation(COUNT).tolist()
    path = tmp_path / "a.mcap"
    if not index:
        names = ("use_statistics", "use_summary_offsets", "repeat_channels", "repeat_schemas")
        options = {**options, **dict.fromkeys(names, False), "index_types": IndexType.NONE}
    writer = McapWriter(str(path), **options)
    writer.start(profile="ros2")
    schema = writer.register_schema("sensor_msgs/msg/Imu", "", b"")
    channels = [writer.register_channel(f"/{name}", "cdr", schema) for name in "ab"]
    for number in order:
        for channel in channels:
            stamp = STAMPS[number]
            writer.add_message(channel, stamp, writers.ros2_bytes(IMU[number]), stamp)
    writer.finish()
    assert ros2_bag_topics(path) == {f"/{name}": ("sensor_msgs/Imu", COUNT) for name in "ab"}
    with ExitStack() as stack:
        file = stored_file(path, stack)
        rows = list(file.messages(["/a", "/b"]))
        assert [row[1] for row in rows] == sorted(2 * STAMPS)
        assert [row[2] for row in file.messages(["/b"])] == list(map(writers.ros2_bytes, IMU))
    samples = reading.read_imu_samples(path, topic="/a")
    assert np.array_equal(samples.columns["gyro_x"], GYRO[:, 0])


RECORD = 22 + len(writers.ros2_bytes(IMU[0]))  # size of a message record in an MCAP file [bytes]


@pytest.mark.parametrize(
    ("options", "change", "words"),
    [
        ({"profile": "ros1"}, None, "the profile is 'ros1', expected ros2"),
        ({"encoding": "json"}, None, "the encoding of '/imu' is 'json', expected cdr"),
        ({}, (b"imu_link", b"imu_lost"), "the checksum of a chunk is wrong"),
        ({}, tuple(struct.pack("<BQ", 5, RECORD + more) for more in (0, 10**6)), "record of"),
        (
            {},
            tuple(struct.pack("<Q", time) for time in (STAMPS[3], 2**63)),
            "the time of a message is 9223372",
        ),
    ],
)
def test_damaged_or_unrelated_mcap_file_is_rejected(tmp_path, options, change, words):
    path = tmp_path / "a.mcap"
    checked = words == "the checksum of a chunk is wrong"
    writer = McapWriter(str(path), compression=CompressionType.NONE, enable_crcs=checked)
    writer.start(profile=options.get("profile", "ros2"))
    schema = writer.register_schema("sensor_msgs/msg/Imu", "", b"")
    channel = writer.register_channel("/imu", options.get("encoding", "cdr"), schema)
    for stamp, message in zip(STAMPS, IMU):
        writer.add_message(channel, stamp, writers.ros2_bytes(message), stamp)
    writer.finish()
    if change:
        content = path.read_bytes()
        assert change[0] in content
        path.write_bytes(content.replace(*change, 1))
    assert words in refusals.refusal(reading.read_imu_samples, path, topic="/imu")


def test_database_that_is_not_a_ros2_bag_is_rejected(tmp_path):
    with closing(sqlite3.connect(tmp_path / "a.db3")) as database:
        database.execute("CREATE TABLE words (word TEXT)")
        database.commit()
    assert "ROS 2 bag is truncated or damaged (table" in refusal(tmp_path / "a.db3")


ENDLESS = (
    "CREATE VIEW messages AS WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n) "
    "SELECT id, 1 AS topic_id, id AS timestamp, x'00' AS data FROM n"
)


@pytest.mark.parametrize(
    ("statements", "words"),
    [
        (
            ["UPDATE messages SET data = 'text' WHERE id = 3"],
            "data of message 3 on /odom is 'text'",
        ),
        (
            [
                "DROP TABLE messages",
                "CREATE TABLE messages (id INTEGER PRIMARY KEY, topic_id, timestamp, "
                "data GENERATED ALWAYS AS (zeroblob(900000000)) VIRTUAL)",
                "INSERT INTO messages (topic_id, timestamp) VALUES (1, 1), (1, 2), (1, 3)",
            ],
            "table messages: column 'data' is generated",
        ),
        (
            ["UPDATE messages SET timestamp = 'noon' WHERE id = 3"],
            "timestamp of message 30 on /odom is 'noon', expected an integer",
        ),
        (["UPDATE topics SET type = x'00'"], "a row of table topics is (1, '/odom', b'\\x00')"),
        (["ALTER TABLE messages RENAME TO m", ENDLESS], "messages is a view or a virtual table"),
        (["UPDATE topics SET name = '/odom' || char(27) || '[2J' || char(10) || 'b'"], None),
    ],
)
def test_malicious_database_is_rejected_or_read_safely(tmp_path, statements, words):
    path = write("file", tmp_path / "b", {"/odom": REFERENCES["odometry"]})
    with closing(sqlite3.connect(path)) as database:
        for statement in statements:
            database.execute(statement)
        database.commit()
    if words is None:
        escaped = r"/odom\x1b[2J\nb"
        assert ros2_bag_topics(path) == {escaped: ("nav_msgs/Odometry", len(STAMPS))}
        assert reading.read_reference(path, topic=escaped).report.topic == escaped
        assert escaped in refusal(path, topic="/other")
        return
    assert words in refusal(path)
