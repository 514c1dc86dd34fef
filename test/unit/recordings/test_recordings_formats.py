"""Recordings with identical content in every format yield the same table."""

import math

import numpy as np
import pytest
import recording_writers as writers
from scipy.spatial.transform import Rotation

from imu_simulation_framework.core import tables
from imu_simulation_framework.core.tables import EULER
from imu_simulation_framework.recordings.frames import ImuConventions
from imu_simulation_framework.recordings.reading import read_imu, read_reference

START = 1_432_235_497_988_949_113
COUNT = 50
STAMPS = [START + 100_000_000 * k + 37 * k for k in range(COUNT)]
TIMES = np.array([k // 10**9 + (k % 10**9) / 1e9 for k in STAMPS])
YAW = 0.15 * np.arange(COUNT)  # more than a full turn, so that unwrapping has an effect
POSITIONS = np.column_stack([0.1 * np.arange(COUNT), np.sin(YAW), np.full(COUNT, 0.3)])
ANGLES = np.column_stack([0.02 * np.sin(YAW), 0.03 * np.cos(YAW), YAW])
ORIENTATIONS = Rotation.from_euler("ZYX", ANGLES[:, ::-1]).as_quat()
GYRO = np.random.default_rng(1).standard_normal((COUNT, 3))
ACCEL = np.random.default_rng(2).standard_normal((COUNT, 3)) + [0.0, 0.0, 9.8]

POSE_MAKERS = (writers.odometry, writers.pose_stamped, writers.pose_with_covariance_stamped)


def poses(make):
    return [make(*row) for row in zip(STAMPS, POSITIONS, ORIENTATIONS)]


def imu_messages():
    return [writers.imu(*row) for row in zip(STAMPS, ORIENTATIONS, GYRO, ACCEL)]


def pose_columns():
    values = zip(("px", "py", *"abcd"), (*1000.0 * POSITIONS[:, :2].T, *ORIENTATIONS.T))
    return {"t [ns]": STAMPS, **{name: list(numbers) for name, numbers in values}}


POSE_MAP = {"time": "t [ns]", "x": "px [mm]", "y": "py [mm]"}
POSE_MAP.update(zip(("qx", "qy", "qz", "qw"), "abcd"))


def assert_is_the_drive(table):
    assert list(table.columns) == ["x", "y", "yaw"]
    assert table.index.name == "time"
    assert np.array_equal(table.index, TIMES)
    assert table["x"].to_numpy() == pytest.approx(POSITIONS[:, 0], rel=1e-15, abs=1e-15)
    assert table["y"].to_numpy() == pytest.approx(POSITIONS[:, 1], rel=1e-15, abs=1e-15)
    assert table["yaw"].to_numpy() == pytest.approx(YAW, abs=1e-12)


def assert_is_the_imu(table, tolerance=0.0):
    assert list(table.columns) == [*EULER, *tables.GYRO, *tables.ACCEL]
    assert np.array_equal(table.index, TIMES)
    assert table[list(EULER)].to_numpy() == pytest.approx(ANGLES, abs=1e-12)
    assert table[list(tables.GYRO)].to_numpy() == pytest.approx(GYRO, abs=tolerance, rel=0)
    assert table[list(tables.ACCEL)].to_numpy() == pytest.approx(ACCEL, abs=tolerance, rel=0)


@pytest.mark.parametrize("make", POSE_MAKERS)
def test_poses_are_read_from_bag(tmp_path, make):
    path = writers.write_bag(tmp_path / "a.bag", {"/pose": poses(make), "/imu": imu_messages()})
    recorded = read_reference(path)
    assert_is_the_drive(recorded.table)
    assert recorded.report.format == "bag"
    assert recorded.report.topic == "/pose"
    assert recorded.report.message_type == writers.ros_name(poses(make)[0])
    assert recorded.report.time_source == "header stamp"


@pytest.mark.parametrize("compression", ["BZ2", "LZ4"])
def test_compressed_bag_with_many_chunks_is_read(tmp_path, compression):
    path = writers.write_bag(
        tmp_path / "a.bag",
        {"/odom": poses(writers.odometry), "/imu": imu_messages()},
        compression=compression,
        chunk_size=4000,
    )
    assert_is_the_drive(read_reference(path).table)
    assert_is_the_imu(read_imu(path).table)


@pytest.mark.parametrize("arrays", [True, False])
@pytest.mark.parametrize("make", POSE_MAKERS)
def test_poses_are_read_from_rostopic_echo_with_and_without_covariance_arrays(
    tmp_path, make, arrays
):
    path = writers.write_rostopic_csv(
        tmp_path / "a.csv",
        poses(make),
        leave_out=lambda name: not arrays and "covariance" in name.split(".")[-1],
    )
    recorded = read_reference(path)
    assert_is_the_drive(recorded.table)
    assert recorded.report.format == "rostopic_csv"
    assert recorded.report.message_type == writers.ros_name(poses(make)[0])


def test_imu_samples_are_identical_in_every_format(tmp_path):
    bag = writers.write_bag(tmp_path / "a.bag", {"/imu/data": imu_messages()})
    # The columns have the names of the package's tables.
    read_imu(bag).table.to_csv(tmp_path / "a.csv")
    echo = writers.write_rostopic_csv(tmp_path / "b.csv", imu_messages())
    for path in (bag, echo, tmp_path / "a.csv"):
        recorded = read_imu(path)
        assert_is_the_imu(recorded.table)
        assert recorded.report.absent == ()


@pytest.mark.parametrize("kind", ["bag", "rostopic_csv", "csv", "tum"])
def test_poses_are_identical_in_plain_and_gzip_files(tmp_path, kind):
    path, messages = tmp_path / "a", poses(writers.odometry)
    write = {
        "bag": lambda: writers.write_bag(path, {"/odom": messages}),
        "rostopic_csv": lambda: writers.write_rostopic_csv(path, messages),
        "csv": lambda: writers.write_csv(path, pose_columns()),
        "tum": lambda: writers.write_tum(path, STAMPS, POSITIONS, ORIENTATIONS),
    }
    write[kind]()
    mapping = POSE_MAP if kind == "csv" else None
    for file in (path, writers.pack(path)):
        for format in ("auto", kind):
            recorded = read_reference(file, format=format, columns=mapping)
            assert_is_the_drive(recorded.table)
            assert (recorded.report.format, recorded.report.path) == (kind, str(file))


def fix_messages():
    """Return fixes of a straight drive to the north-east, each with a different variance."""
    return [
        writers.fix(stamp, 48.0 + 1e-6 * k, 11.0 + 2e-6 * k, variance=1.0 + 0.01 * k)
        for k, stamp in enumerate(STAMPS)
    ]


def test_fixes_are_identical_in_every_format(tmp_path):
    bag = read_reference(writers.write_bag(tmp_path / "a.bag", {"/fix": fix_messages()}))
    echo = read_reference(writers.write_rostopic_csv(tmp_path / "a.csv", fix_messages()))
    rows = [(m.latitude, m.longitude, m.position_covariance[0], 0.0) for m in fix_messages()]
    cells = {"time": STAMPS, **dict(zip(("lat", "lon", "var", "altitude"), zip(*rows)))}
    mapping = {"time": "time [ns]", "latitude": "lat [deg]", "longitude": "lon [deg]"}
    mapping.update(altitude="altitude", variance_east="var", variance_north="var [m^2]")
    path = writers.write_csv(tmp_path / "b.csv", cells)
    plain = read_reference(path, columns=mapping)
    for recorded in (echo, plain):
        assert recorded.table.equals(bag.table)
    assert bag.report.usable == COUNT
    assert bag.table.index[0] == TIMES[0]
    # 1e-6 deg of latitude is 0.1112 m; 2e-6 deg of longitude is 0.149 m at 48 deg.
    expected = math.atan2(0.1112, 0.1490)
    assert bag.table["yaw"].to_numpy() == pytest.approx(np.full(len(bag.table), expected), abs=0.01)


def test_time_offset_shifts_recorded_times(tmp_path):
    path = writers.write_bag(
        tmp_path / "a.bag", {"/odom": poses(writers.odometry), "/imu": imu_messages()}
    )
    assert read_reference(path, time_offset=-2.0).table.index[0] == TIMES[0] - 2.0
    assert read_imu(path, time_offset=0.5).table.index[0] == TIMES[0] + 0.5


@pytest.mark.parametrize("separator", [",", ";", "\t", "  ", ", "])
def test_csv_with_any_separator_is_read(tmp_path, separator):
    cells = {"time": [0.1 * k for k in range(COUNT)], "yaw": list(YAW)}
    table = read_imu(writers.write_csv(tmp_path / "a.csv", cells, separator)).table
    assert np.array_equal(table["yaw"], YAW)
    assert np.array_equal(table.index, cells["time"])


def test_csv_written_by_spreadsheet_is_read(tmp_path):
    """The file has a byte order mark, CRLF, comments, empty lines and quoted names."""
    lines = ["\ufeff# by hand", '"t, since start [ms]","heading"', ""]
    lines += [f"{100 * k},{10.0 * k}" for k in range(COUNT)] + ["", ""]
    path = tmp_path / "a.csv"
    path.write_bytes("\r\n".join(lines).encode("utf-8"))
    recorded = read_imu(path, columns={"time": "t, since start [ms]", "yaw": "heading [deg]"})
    assert recorded.table.index.to_numpy() == pytest.approx(0.1 * np.arange(COUNT), abs=1e-12)
    assert recorded.table["yaw"].to_numpy() == pytest.approx(np.radians(10.0 * np.arange(COUNT)))
    assert recorded.report.usable == COUNT


def test_messages_from_two_publishers_are_in_reception_order(tmp_path):
    path = tmp_path / "a.bag"
    writer = writers.Writer(path)
    messages = imu_messages()
    with writer:
        kind = messages[0].__msgtype__
        connections = [
            writer.add_connection("/imu", kind, typestore=writers.STORE, callerid=caller)
            for caller in ("/one", "/two")
        ]
        # The second half is written first, so the file order differs from the reception order.
        for index in [*range(25, COUNT), *range(25)]:
            data = writers.STORE.serialize_ros1(messages[index], kind)
            writer.write(connections[index % 2], STAMPS[index], data)
    recorded = read_imu(path)
    assert_is_the_imu(recorded.table)
    assert not recorded.report.stamps.unordered


def test_bag_index_entry_at_connection_record_before_message_is_followed():
    from imu_simulation_framework.recordings.formats.bag import _message_bounds

    def record(fields, data):
        header = b"".join(len(field).to_bytes(4, "little") + field for field in fields)
        lengths = [len(part).to_bytes(4, "little") for part in (header, data)]
        return lengths[0] + header + lengths[1] + data

    connection = record([b"topic=/a", b"op=\x07", b"conn=\0\0\0\0"], b"whatever")
    first = record([b"op=\x02", b"conn=\0\0\0\0", b"time=" + bytes(8)], b"first")
    second = record([b"time=" + bytes(8), b"conn=\0\0\0\0", b"op=\x02"], b"second one")
    chunk = np.frombuffer(connection + first + second, np.uint8)
    starts, lengths = _message_bounds(chunk, np.array([0, len(connection) + len(first)]))
    read = [bytes(chunk[s : s + n]) for s, n in zip(starts, lengths)]
    assert read == [b"first", b"second one"]


def test_mounting_rotates_imu_to_body_axes(tmp_path):
    """The IMU is mounted on its side and points to the right of the robot."""
    mounting = (math.pi / 2.0, 0.0, -math.pi / 2.0)
    imu_to_robot = Rotation.from_euler("ZYX", mounting[::-1])
    orientations = (Rotation.from_quat(ORIENTATIONS) * imu_to_robot).as_quat()
    gyro, accel = imu_to_robot.inv().apply(GYRO), imu_to_robot.inv().apply(ACCEL)
    messages = [writers.imu(*row) for row in zip(STAMPS, orientations, gyro, accel)]
    path = writers.write_bag(tmp_path / "a.bag", {"/imu": messages})
    table = read_imu(
        path, conventions=ImuConventions(mounting_roll=mounting[0], mounting_yaw=mounting[2])
    ).table
    assert_is_the_imu(table, 1e-12)
    cells = {"time": [0.1 * k for k in range(COUNT)], "yaw": list(YAW)}
    path = writers.write_csv(tmp_path / "a.csv", cells)
    table = read_imu(path, conventions=ImuConventions(mounting_yaw=0.5)).table
    assert table["yaw"].to_numpy() == pytest.approx(YAW - 0.5, abs=1e-12)


def test_kitti_frames_with_missing_files_are_omitted(tmp_path):
    # The drive is a circle of 20 m at 10 m/s; 1e-5 deg of latitude is 1.11 m.
    seconds = 1_317_042_145.964389445 + 0.1 * np.arange(200)
    yaw = 0.5 * (seconds - seconds[0])
    metre = np.degrees(1.0 / 6_378_137.0)
    values = {3: 0.01, 4: 0.02, 11: 0.1, 12: 5.0, 13: 9.8, 17: 0.001, 18: 0.002, 19: 0.5, 23: 0.05}
    values[0] = 20.0 * metre * (1.0 - np.cos(yaw))
    values[1] = 8.4 + 20.0 * metre * np.sin(yaw)
    values[5] = np.arctan2(np.sin(yaw), np.cos(yaw))
    values[6], values[7] = 10.0 * np.sin(yaw), 10.0 * np.cos(yaw)
    path = writers.write_kitti(tmp_path / "drive", seconds, values)
    imu = read_imu(path).table
    assert imu.index.to_numpy() == pytest.approx(seconds, abs=1e-6)
    assert imu["yaw"].to_numpy() == pytest.approx(yaw, abs=1e-12)
    others = imu.drop(columns="yaw")
    assert (others == [0.01, 0.02, 0.001, 0.002, 0.5, 0.1, 5.0, 9.8]).all(axis=None)
    reference = read_reference(path / "oxts")
    assert reference.report.format == "kitti"
    inside = slice(10, -10)
    course = reference.table["yaw"].to_numpy()[inside]
    assert course == pytest.approx(np.interp(reference.table.index[inside], seconds, yaw), abs=0.01)
    path = writers.write_kitti(tmp_path, 1e9 + 0.1 * np.arange(40), {19: 0.1})
    (tmp_path / "oxts" / "data" / "0000000007.txt").unlink()
    table = read_imu(path).table
    assert len(table) == 39
    assert np.diff(table.index).max() == pytest.approx(0.2, abs=1e-6)
