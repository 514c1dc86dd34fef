"""The same content in every format gives the same table."""

import math

import numpy as np
import pytest
import recording_writers as writers
from scipy.spatial.transform import Rotation

from imu_simulation_framework.core.errors import RecordingError
from imu_simulation_framework.motion.positioning import FixSettings
from imu_simulation_framework.recordings.frames import ImuConventions
from imu_simulation_framework.recordings.reading import read_imu, read_reference

START = 1_432_235_497_988_949_113
COUNT = 50
STAMPS = [START + 100_000_000 * k + 37 * k for k in range(COUNT)]
TIMES = np.array([k // 10**9 + (k % 10**9) / 1e9 for k in STAMPS])
YAW = 0.15 * np.arange(COUNT)  # more than a turn, so that unwrapping shows
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
    columns = {"t [ns]": STAMPS}
    columns.update(zip(("px", "py"), 1000.0 * POSITIONS[:, :2].T))
    columns.update(zip(("a", "b", "c", "d"), ORIENTATIONS.T))
    return {name: list(values) for name, values in columns.items()}


POSE_MAP = {
    "time": "t [ns]",
    "x": "px [mm]",
    "y": "py [mm]",
    "qx": "a",
    "qy": "b",
    "qz": "c",
    "qw": "d",
}


def assert_is_the_drive(table):
    assert list(table.columns) == ["x", "y", "yaw"]
    assert table.index.name == "time"
    assert np.array_equal(table.index, TIMES)
    assert table["x"].to_numpy() == pytest.approx(POSITIONS[:, 0], rel=1e-15, abs=1e-15)
    assert table["y"].to_numpy() == pytest.approx(POSITIONS[:, 1], rel=1e-15, abs=1e-15)
    assert table["yaw"].to_numpy() == pytest.approx(YAW, abs=1e-12)


def assert_is_the_imu(table):
    names = ["roll", "pitch", "yaw", "gyro_x", "gyro_y", "gyro_z", "accel_x", "accel_y", "accel_z"]
    assert list(table.columns) == names
    assert np.array_equal(table.index, TIMES)
    assert table[names[:3]].to_numpy() == pytest.approx(ANGLES, abs=1e-12)
    assert np.array_equal(table[names[3:6]], GYRO)
    assert np.array_equal(table[names[6:]], ACCEL)


@pytest.mark.parametrize("make", POSE_MAKERS)
def test_poses_in_a_bag(tmp_path, make):
    path = writers.write_bag(tmp_path / "a.bag", {"/pose": poses(make), "/imu": imu_messages()})
    recorded = read_reference(path)
    assert_is_the_drive(recorded.table)
    assert recorded.report.format == "bag"
    assert recorded.report.topic == "/pose"
    assert recorded.report.message_type == writers.ros_name(poses(make)[0])
    assert recorded.report.time_source == "header stamp"


@pytest.mark.parametrize("compression", ["BZ2", "LZ4"])
def test_a_compressed_bag_of_many_chunks(tmp_path, compression):
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
def test_poses_from_rostopic_echo_with_and_without_arrays(tmp_path, make, arrays):
    path = writers.write_rostopic_csv(
        tmp_path / "a.csv",
        poses(make),
        leave_out=lambda name: not arrays and "covariance" in name.split(".")[-1],
    )
    recorded = read_reference(path)
    assert_is_the_drive(recorded.table)
    assert recorded.report.format == "rostopic_csv"
    assert recorded.report.message_type == writers.ros_name(poses(make)[0])


def test_an_imu_in_a_bag(tmp_path):
    path = writers.write_bag(tmp_path / "a.bag", {"/imu/data": imu_messages()})
    recorded = read_imu(path)
    assert_is_the_imu(recorded.table)
    assert recorded.report.absent == ()


def test_an_imu_from_rostopic_echo(tmp_path):
    assert_is_the_imu(
        read_imu(writers.write_rostopic_csv(tmp_path / "a.csv", imu_messages())).table
    )


def test_an_imu_in_csv_named_as_this_packages_tables(tmp_path):
    path = tmp_path / "a.csv"
    bag = writers.write_bag(tmp_path / "a.bag", {"/imu/data": imu_messages()})
    read_imu(bag).table.to_csv(path)
    assert_is_the_imu(read_imu(path).table)


@pytest.mark.parametrize("kind", ["bag", "rostopic_csv", "csv", "tum"])
def test_poses_as_they_are_and_packed_by_gzip(tmp_path, kind):
    path = tmp_path / "a"
    if kind == "bag":
        writers.write_bag(path, {"/odom": poses(writers.odometry)})
    elif kind == "rostopic_csv":
        writers.write_rostopic_csv(path, poses(writers.odometry))
    elif kind == "csv":
        writers.write_csv(path, pose_columns())
    else:
        writers.write_tum(path, STAMPS, POSITIONS, ORIENTATIONS)
    columns = POSE_MAP if kind == "csv" else None
    for file in (path, writers.pack(path)):
        for format in ("auto", kind):
            recorded = read_reference(file, format=format, columns=columns)
            assert_is_the_drive(recorded.table)
            assert (recorded.report.format, recorded.report.path) == (kind, str(file))


def fix_messages():
    """A straight drive to the north-east; every variance differs."""
    return [
        writers.fix(stamp, 48.0 + 1e-6 * k, 11.0 + 2e-6 * k, variance=1.0 + 0.01 * k)
        for k, stamp in enumerate(STAMPS)
    ]


def test_fixes_are_the_same_in_every_format(tmp_path):
    bag = read_reference(writers.write_bag(tmp_path / "a.bag", {"/fix": fix_messages()}))
    echo = read_reference(writers.write_rostopic_csv(tmp_path / "a.csv", fix_messages()))
    path = writers.write_csv(
        tmp_path / "b.csv",
        {
            "time": STAMPS,
            "lat": [message.latitude for message in fix_messages()],
            "lon": [message.longitude for message in fix_messages()],
            "var": [1.0 + 0.01 * k for k in range(COUNT)],
            "altitude": [0.0] * COUNT,
        },
    )
    columns = {
        "time": "time [ns]",
        "latitude": "lat [deg]",
        "longitude": "lon [deg]",
        "altitude": "altitude",
        "variance_east": "var",
        "variance_north": "var [m^2]",
    }
    plain = read_reference(path, columns=columns)
    for recorded in (echo, plain):
        assert recorded.table.equals(bag.table)
    assert bag.report.usable == COUNT
    assert bag.table.index[0] == TIMES[0]
    # 1e-6 deg of latitude is 0.1112 m, 2e-6 deg of longitude 0.149 m at 48 deg.
    expected = math.atan2(0.1112, 0.1490)
    assert bag.table["yaw"].to_numpy() == pytest.approx(np.full(len(bag.table), expected), abs=0.01)


def test_the_variance_of_fixes_is_taken_into_account(tmp_path):
    tables = []
    for number, variance in enumerate((None, 1.0, 1e6)):
        messages = fix_messages()
        if variance is not None:
            messages[25] = writers.fix(STAMPS[25], 48.0001, 11.0, variance=variance)
        path = writers.write_bag(tmp_path / f"{number}.bag", {"/fix": messages})
        settings = FixSettings(acceleration_density=0.1)
        tables.append(read_reference(path, fix_settings=settings).table)
    clean, trusted, doubted = tables
    assert np.abs(doubted - clean).max().max() < 0.01 * np.abs(trusted - clean).max().max()


def test_settings_of_the_smoothing_are_passed_on(tmp_path):
    path = writers.write_bag(tmp_path / "a.bag", {"/fix": fix_messages()})
    rigid, lively = (
        read_reference(path, fix_settings=FixSettings(acceleration_density=density)).table
        for density in (0.01, 0.5)
    )
    assert np.ptp(np.diff(rigid["x"])) < np.ptp(np.diff(lively["x"]))


def test_times_can_be_shifted(tmp_path):
    path = writers.write_bag(
        tmp_path / "a.bag", {"/odom": poses(writers.odometry), "/imu": imu_messages()}
    )
    assert read_reference(path, time_offset=-2.0).table.index[0] == TIMES[0] - 2.0
    assert read_imu(path, time_offset=0.5).table.index[0] == TIMES[0] + 0.5


@pytest.mark.parametrize("separator", [",", ";", "\t", "  ", ", "])
def test_csv_with_any_separator(tmp_path, separator):
    columns = {"time": [0.1 * k for k in range(COUNT)], "yaw": list(YAW)}
    table = read_imu(writers.write_csv(tmp_path / "a.csv", columns, separator)).table
    assert np.array_equal(table["yaw"], YAW)
    assert np.array_equal(table.index, columns["time"])


def test_csv_from_a_spreadsheet(tmp_path):
    """A mark of the byte order, CRLF, comments, empty lines and names in quotes."""
    lines = ["\ufeff# by hand", '"t, since start [ms]","heading"', ""]
    lines += [f"{100 * k},{10.0 * k}" for k in range(COUNT)] + ["", ""]
    path = tmp_path / "a.csv"
    path.write_bytes("\r\n".join(lines).encode("utf-8"))
    recorded = read_imu(path, columns={"time": "t, since start [ms]", "yaw": "heading [deg]"})
    assert recorded.table.index.to_numpy() == pytest.approx(0.1 * np.arange(COUNT), abs=1e-12)
    assert recorded.table["yaw"].to_numpy() == pytest.approx(np.radians(10.0 * np.arange(COUNT)))
    assert recorded.report.usable == COUNT


def test_a_unit_in_the_files_own_header_may_be_written_once_or_twice(tmp_path):
    path = writers.write_csv(
        tmp_path / "a.csv", {"t [ms]": [100.0 * k for k in range(20)], "yaw": [0.0] * 20}
    )
    for name in ("t [ms]", "t [ms] [ms]"):
        table = read_imu(path, columns={"time": name, "yaw": "yaw"}).table
        assert table.index[-1] == pytest.approx(1.9)


def test_messages_of_two_publishers_are_in_the_order_of_reception(tmp_path):
    path = tmp_path / "a.bag"
    writer = writers.Writer(path)
    messages = imu_messages()
    with writer:
        kind = messages[0].__msgtype__
        connections = [
            writer.add_connection("/imu", kind, typestore=writers.STORE, callerid=caller)
            for caller in ("/one", "/two")
        ]
        # The later half first, so that the order in the file is not that of reception.
        for index in [*range(25, COUNT), *range(25)]:
            data = writers.STORE.serialize_ros1(messages[index], kind)
            writer.write(connections[index % 2], STAMPS[index], data)
    recorded = read_imu(path)
    assert_is_the_imu(recorded.table)
    assert not recorded.report.stamps.unordered


def test_an_index_that_points_before_the_message_is_followed():
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


def test_the_imus_mounting_is_turned_into_the_robots_axes(tmp_path):
    """An IMU that stands on its side and looks to the right measures the same robot."""
    mounting = (math.pi / 2.0, 0.0, -math.pi / 2.0)
    imu_to_robot = Rotation.from_euler("ZYX", mounting[::-1])
    orientations = (Rotation.from_quat(ORIENTATIONS) * imu_to_robot).as_quat()
    gyro, accel = imu_to_robot.inv().apply(GYRO), imu_to_robot.inv().apply(ACCEL)
    messages = [writers.imu(*row) for row in zip(STAMPS, orientations, gyro, accel)]
    path = writers.write_bag(tmp_path / "a.bag", {"/imu": messages})
    table = read_imu(
        path, conventions=ImuConventions(mounting_roll=mounting[0], mounting_yaw=mounting[2])
    ).table
    assert table[["roll", "pitch", "yaw"]].to_numpy() == pytest.approx(ANGLES, abs=1e-12)
    assert table[["gyro_x", "gyro_y", "gyro_z"]].to_numpy() == pytest.approx(GYRO, abs=1e-12)
    assert table[["accel_x", "accel_y", "accel_z"]].to_numpy() == pytest.approx(ACCEL, abs=1e-12)


def test_mounting_turns_an_orientation_given_as_angles_too(tmp_path):
    columns = {"time": [0.1 * k for k in range(COUNT)], "yaw": list(YAW)}
    path = writers.write_csv(tmp_path / "a.csv", columns)
    table = read_imu(path, conventions=ImuConventions(mounting_yaw=0.5)).table
    assert table["yaw"].to_numpy() == pytest.approx(YAW - 0.5, abs=1e-12)


def test_rostopic_echo_without_times_of_receipt_is_refused(tmp_path):
    path = writers.write_rostopic_csv(tmp_path / "a.csv", poses(writers.odometry))
    path.write_text(path.read_text().replace("%time", "%timex", 1))
    with pytest.raises(RecordingError, match="a.csv: the columns are not those of .*%timex"):
        read_reference(path)
