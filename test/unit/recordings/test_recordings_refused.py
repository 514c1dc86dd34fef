"""Recordings that cannot serve are refused with one sentence that says why."""

import math
import struct

import pytest
import recording_writers as writers

from imu_simulation_framework.core.errors import RecordingError
from imu_simulation_framework.recordings.frames import ImuConventions
from imu_simulation_framework.recordings.reading import read_imu, read_reference

COUNT = 40
STAMPS = [1_500_000_000 * 10**9 + 100_000_000 * k for k in range(COUNT)]
IDENTITY = (0.0, 0.0, 0.0, 1.0)


def odometry(stamps=STAMPS, position=None, orientation=IDENTITY):
    return [
        writers.odometry(stamp, position or (0.1 * k, 0.0, 0.0), orientation)
        for k, stamp in enumerate(stamps)
    ]


def imu(**options):
    return [
        writers.imu(stamp, IDENTITY, (0.0,) * 3, (0.0, 0.0, 9.8), **options) for stamp in STAMPS
    ]


@pytest.fixture
def bag(tmp_path):
    return writers.write_bag(tmp_path / "a.bag", {"/odom": odometry(), "/imu/data": imu()})


@pytest.fixture
def csv(tmp_path):
    columns = {"t": [0.1 * k for k in range(COUNT)], "heading": [1.0] * COUNT}
    return writers.write_csv(tmp_path / "a.csv", columns)


@pytest.fixture
def write(tmp_path):
    """A function that writes messages of one topic into a bag, received at even times."""

    def written(topic, messages):
        receipt = STAMPS[: len(messages)]
        return writers.write_bag(tmp_path / f"{topic[1:]}.bag", {topic: messages}, receipt=receipt)

    return written


def refusal(read, *arguments, **options):
    """The sentence with which a recording is refused."""
    with pytest.raises(RecordingError) as caught:
        read(*arguments, **options)
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert str(arguments[0]) in sentence
    return sentence


@pytest.mark.parametrize("name", ["a.bag", "a.csv", "a.tum"])
def test_an_empty_or_missing_file(tmp_path, name):
    path = tmp_path / name
    assert "no such recording" in refusal(read_reference, path)
    path.write_bytes(b"")
    assert "recording is empty" in refusal(read_reference, path)
    assert "recording is empty" in refusal(read_reference, writers.pack(path))


@pytest.mark.parametrize(
    "name, content, words",
    [
        ("a.bag", b"not a bag at all\n" * 10, "not a ROS 1 bag"),
        ("a.bag", b"#ROSBAG V1.2\n" + bytes(100), "not supported"),
        ("a.db3", b"SQLite format 3\0" + bytes(100), "ROS 2 bag"),
        ("a.db3", b"\x89MCAP0\r\n" + bytes(100), "ROS 2 bag"),
        (
            "a.tum",
            b"0 0 0 0 0 0 0 1\n1 0 0 0 0 0 zero 1\n",
            "line 2, column 'qz': 'zero' is no number",
        ),
        ("a.csv", b"time,x,y,yaw\n0,1,1,1\n\xff\xfe,2,2,2\n", "line 3 is not text"),
        ("a.csv", b"time,yaw\n", "empty but for its first line"),
    ],
)
def test_a_file_that_is_something_else(tmp_path, name, content, words):
    path = tmp_path / name
    path.write_bytes(content)
    assert words in refusal(read_reference, path)
    if content.startswith(b"not"):
        assert "cannot be read as a ROS 1 bag" in refusal(read_reference, path, format="bag")


def test_a_bag_without_messages(tmp_path):
    path = tmp_path / "a.bag"
    with writers.Writer(path):
        pass
    assert "holds no messages, expected sensor_msgs/Imu" in refusal(read_imu, path)


def test_a_topic_without_messages(tmp_path):
    path = tmp_path / "a.bag"
    with writers.Writer(path) as writer:
        writer.add_connection("/odom", "nav_msgs/msg/Odometry", typestore=writers.STORE)
        other = writer.add_connection("/imu", "sensor_msgs/msg/Imu", typestore=writers.STORE)
        data = writers.STORE.serialize_ros1(imu()[0], "sensor_msgs/msg/Imu")
        writer.write(other, STAMPS[0], data)
    assert "topic /odom has no messages" in refusal(read_reference, path, topic="/odom")


def test_a_bag_without_index(bag):
    content = bytearray(bag.read_bytes())
    at = content.index(b"index_pos=") + len(b"index_pos=")
    content[at : at + 8] = struct.pack("<Q", 0)
    bag.write_bytes(content)
    assert "rosbag reindex" in refusal(read_reference, bag)


@pytest.mark.parametrize("share", [0.001, 0.1, 0.5, 0.9, 0.999])
def test_a_truncated_bag(bag, share):
    content = bag.read_bytes()
    bag.write_bytes(content[: int(share * len(content))])
    assert "truncated or damaged" in refusal(read_reference, bag)
    packed = writers.pack(bag)
    assert "truncated or damaged" in refusal(read_reference, packed)


def test_a_bag_with_a_damaged_chunk(tmp_path):
    path = writers.write_bag(tmp_path / "a.bag", {"/odom": odometry()}, compression="BZ2")
    content = bytearray(path.read_bytes())
    at = content.index(b"BZh9") + 20
    content[at : at + 50] = bytes(50)
    path.write_bytes(content)
    assert "truncated or damaged" in refusal(read_reference, path)


def test_a_message_that_is_laid_out_otherwise(tmp_path):
    path = tmp_path / "a.bag"
    kind = "nav_msgs/msg/Odometry"
    with writers.Writer(path) as writer:
        connection = writer.add_connection("/odom", kind, typestore=writers.STORE)
        for index, message in enumerate(odometry()):
            data = writers.STORE.serialize_ros1(message, kind)
            writer.write(connection, STAMPS[index], data[: -8 if index == 17 else None])
    sentence = refusal(read_reference, path)
    assert "topic /odom: message 18 is not laid out as nav_msgs/Odometry" in sentence


def test_a_truncated_gzip_file(csv):
    packed = writers.pack(csv)
    packed.write_bytes(packed.read_bytes()[:-20])
    assert "gzip file is truncated" in refusal(read_imu, packed, format="csv")
    packed.write_bytes(packed.read_bytes()[:5])
    assert "gzip file is truncated" in refusal(read_imu, packed)


def test_a_topic_is_chosen_by_name_or_type(bag):
    assert read_reference(bag, topic="odom").report.topic == "/odom"
    sentence = refusal(read_reference, bag, topic="/odometry")
    for words in ("no topic /odometry", "/odom (nav_msgs/Odometry)", "/imu/data (sensor_msgs/Imu)"):
        assert words in sentence
    sentence = refusal(read_reference, bag, topic="/imu/data")
    assert "/imu/data is of type sensor_msgs/Imu, expected nav_msgs/Odometry" in sentence


def test_no_topic_or_several_that_can_serve(tmp_path):
    path = writers.write_bag(tmp_path / "a.bag", {"/b": odometry(), "/a": odometry()})
    assert "several topics can be used, say which: /a, /b" in refusal(read_reference, path)
    sentence = refusal(read_imu, path)
    assert "no topic of type sensor_msgs/Imu" in sentence
    assert "/a (nav_msgs/Odometry)" in sentence


@pytest.mark.parametrize(
    "read, columns, words",
    [
        (read_imu, {"yaw": "azimuth [deg]"}, "no column 'azimuth'; its columns are t, heading"),
        (read_reference, {"yaw": "heading"}, "time and x y yaw or x y qx qy qz qw"),
        (read_imu, {"yaww": "heading"}, "'yaww' is not known, did you mean yaw?"),
        (read_imu, {"yaw": "heading [grad]"}, "yaw in [grad], expected one of [rad]"),
    ],
)
def test_a_column_map_that_is_wrong(csv, read, columns, words):
    assert words in refusal(read, csv, columns={"time": "t", **columns})


def test_columns_of_no_use(tmp_path):
    path = writers.write_csv(tmp_path / "a.csv", {"t": [0.1] * COUNT, "azimuth": [1.0] * COUNT})
    sentence = refusal(read_imu, path)
    assert "found none" in sentence and "the file's columns are t, azimuth" in sentence
    path = writers.write_rostopic_csv(tmp_path / "a.csv", odometry())
    sentence = refusal(read_imu, path)
    assert "not those of sensor_msgs/Imu" in sentence
    assert "field.pose.pose.position.x" in sentence


@pytest.mark.parametrize(
    "line, words",
    [
        ("1.1,1.2.3", "line 13, column 'heading': '1.2.3' is no number"),
        ("1.1,12 m", "line 13, column 'heading': '12 m' is no number"),
        ("1.1,--", "line 13, column 'heading': '--' is no number"),
        ("1.1,1.0,5", "line 13 has 3 cells, expected 2"),
    ],
)
def test_a_line_that_is_wrong(csv, line, words):
    lines = csv.read_text().splitlines()
    lines[12] = line
    csv.write_text("\n".join(lines))
    assert words in refusal(read_imu, csv, columns={"time": "t", "yaw": "heading"})


def test_a_folder_without_a_bag(tmp_path):
    assert "is a folder" in refusal(read_reference, tmp_path)


def test_an_unknown_format(csv):
    assert "unknown format 'xml'" in refusal(read_imu, csv, format="xml")


def test_too_few_samples(write):
    path = write("/odom", odometry(STAMPS[:9]))
    assert "9 of 9 samples can be used, expected at least 10" in refusal(read_reference, path)
    assert len(read_reference(path, minimum_samples=9).table) == 9


@pytest.mark.parametrize(
    "stamps, words",
    [
        ([STAMPS[0]] * COUNT, f"1 of {COUNT} samples can be used"),
        (
            STAMPS[:25] + [stamp - 10 * 10**9 for stamp in STAMPS[25:]],
            "the clock runs backwards by 9.900 s at message 26",
        ),
        (
            [stamp - STAMPS[0] + 10**9 for stamp in STAMPS[:20]] + STAMPS[20:],
            "expected no gap over 600 s",
        ),
        ([STAMPS[k ^ 1] for k in range(COUNT)], "20 of 40 time stamps are older than one before"),
    ],
)
def test_stamps_of_no_use(write, stamps, words):
    assert words in refusal(read_reference, write("/odom", odometry(stamps)))


@pytest.mark.parametrize(
    "options, words",
    [
        (
            {"position": (math.nan, math.nan, 0.0)},
            "topic /odom: none of 40 samples can be used: values of x, y",
        ),
        ({"orientation": (0.0,) * 4}, "quaternions have length zero"),
        ({"orientation": (0, 0, 0, 0.5)}, "qz, qw have a length of usually 0.5, expected 1"),
        ({"orientation": (0, 0, 0, 195.0)}, "qz, qw have a length of usually 195, expected 1"),
    ],
)
def test_poses_that_are_none(write, options, words):
    assert words in refusal(read_reference, write("/odom", odometry(**options)))


@pytest.mark.parametrize(
    "columns, words",
    [
        ({"time": [0.1 * k for k in range(COUNT)], "yaw": ["nan"] * COUNT}, "no sample holds a"),
        ({"time": ["nan"] * COUNT, "yaw": [1.0] * COUNT}, "no sample has a time"),
    ],
)
def test_an_imu_without_numbers(tmp_path, columns, words):
    assert words in refusal(read_imu, writers.write_csv(tmp_path / "a.csv", columns))


def test_an_imu_without_the_orientation_that_is_needed(write, csv):
    sentence = refusal(read_imu, write("/imu", imu(unknown=("orientation", "gyro"))))
    assert "topic /imu: the IMU gives no orientation" in sentence
    assert "no gyroscope about z to make one of" in sentence
    recorded, fused = (ImuConventions(orientation=kind) for kind in ("recorded", "fused"))
    path = write("/raw", imu(unknown=("orientation",)))
    assert "the IMU gives no orientation" in refusal(read_imu, path, conventions=recorded)
    columns = {"time": "t", "yaw": "heading"}
    assert "to make one of" in refusal(read_imu, csv, columns=columns, conventions=fused)


@pytest.mark.parametrize(
    "fix, words",
    [
        (lambda k: (48.0, 11.0, 1.0, -1), "the receiver never had a fix"),
        (lambda k: (5.3e6 + k, 6.9e5), "message 1 is at latitude 5.3e+06"),
        (lambda k: (48.0, 11.0), "nowhere faster than 0.2 m/s"),
    ],
)
def test_fixes_of_no_use(write, fix, words):
    messages = [writers.fix(stamp, *fix(k)) for k, stamp in enumerate(STAMPS)]
    assert words in refusal(read_reference, write("/fix", messages))
