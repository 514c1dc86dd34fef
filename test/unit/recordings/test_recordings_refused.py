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


def refusal(read, *arguments, **options):
    """The sentence with which a recording is refused."""
    with pytest.raises(RecordingError) as caught:
        read(*arguments, **options)
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert str(arguments[0]) in sentence
    return sentence


def test_a_missing_file_and_a_folder(tmp_path):
    assert "no such recording" in refusal(read_reference, tmp_path / "none.bag")
    assert "is a folder" in refusal(read_reference, tmp_path)


@pytest.mark.parametrize("name", ["a.bag", "a.csv", "a.tum"])
def test_an_empty_file(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(b"")
    assert "recording is empty" in refusal(read_reference, path)
    assert "recording is empty" in refusal(read_reference, writers.pack(path))


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


@pytest.mark.parametrize(
    ("read", "name", "content", "words"),
    [
        (read_reference, "a.bag", b"not a bag at all\n" * 10, "not a ROS 1 bag"),
        (read_reference, "a.bag", b"#ROSBAG V1.2\n" + bytes(100), "not supported"),
        (read_reference, "a.db3", b"SQLite format 3\0" + bytes(100), "ROS 2 bag"),
        (read_reference, "a.db3", b"\x89MCAP0\r\n" + bytes(100), "ROS 2 bag"),
        (read_reference, "a.tum", b"0 0 0 0 0 0 0 1\n1 0 0 0 0 0 zero 1\n", "line 2, column 'qz'"),
        (read_imu, "a.csv", b"time,yaw\n0,1\n\xff\xfe,2\n", "line 3 is not text"),
        (read_imu, "a.csv", b"time,yaw\n", "empty but for its first line"),
    ],
)
def test_content_that_is_no_recording(tmp_path, read, name, content, words):
    path = tmp_path / name
    path.write_bytes(content)
    assert words in refusal(read, path)


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


def test_a_wrong_topic_lists_those_that_are_there(bag):
    sentence = refusal(read_reference, bag, topic="/odometry")
    assert "no topic /odometry" in sentence
    assert "/odom (nav_msgs/Odometry)" in sentence
    assert "/imu/data (sensor_msgs/Imu)" in sentence


def test_a_topic_may_be_named_without_its_slash(bag):
    assert read_reference(bag, topic="odom").report.topic == "/odom"


def test_a_topic_of_another_type(bag):
    sentence = refusal(read_reference, bag, topic="/imu/data")
    assert "/imu/data is of type sensor_msgs/Imu, expected nav_msgs/Odometry" in sentence


def test_no_topic_of_a_type_that_can_serve(tmp_path):
    path = writers.write_bag(tmp_path / "a.bag", {"/odom": odometry()})
    sentence = refusal(read_imu, path)
    assert "no topic of type sensor_msgs/Imu" in sentence
    assert "/odom (nav_msgs/Odometry)" in sentence


def test_several_topics_that_can_serve(tmp_path):
    path = writers.write_bag(tmp_path / "a.bag", {"/b": odometry(), "/a": odometry()})
    assert "several topics can be used, say which: /a, /b" in refusal(read_reference, path)


@pytest.mark.parametrize(
    ("read", "columns", "words"),
    [
        (read_imu, {"time": "t", "yaw": "azimuth [deg]"}, ["no column 'azimuth'", "t, heading"]),
        (read_reference, {"time": "t", "yaw": "heading"}, ["for time and x y yaw or x y qx qy qz"]),
        (read_imu, {"time": "t", "yaww": "heading"}, ["'yaww' is not known, did you mean yaw?"]),
        (
            read_imu,
            {"time": "t", "yaw": "heading [grad]"},
            ["yaw in [grad], expected one of"],
        ),
    ],
)
def test_a_column_map_that_cannot_be(csv, read, columns, words):
    sentence = refusal(read, csv, columns=columns)
    assert all(word in sentence for word in words)


def test_rostopic_echo_of_another_type(tmp_path):
    path = writers.write_rostopic_csv(tmp_path / "a.csv", odometry())
    sentence = refusal(read_imu, path)
    assert "not those of sensor_msgs/Imu" in sentence
    assert "field.pose.pose.position.x" in sentence


@pytest.mark.parametrize("cell", ["1.2.3", "12 m", "--"])
def test_a_cell_that_is_no_number(csv, cell):
    lines = csv.read_text().splitlines()
    lines[12] = f"1.1,{cell}"
    csv.write_text("\n".join(lines))
    sentence = refusal(read_imu, csv, columns={"time": "t", "yaw": "heading"})
    assert f"line 13, column 'heading': '{cell}' is no number" in sentence


def test_a_line_with_too_many_cells(csv):
    csv.write_text(csv.read_text() + "9,5,5\n")
    sentence = refusal(read_imu, csv, columns={"time": "t", "yaw": "heading"})
    assert f"line {COUNT + 2} has 3 cells, expected 2" in sentence


def test_an_unknown_format(csv):
    assert "unknown format 'xml'" in refusal(read_imu, csv, format="xml")


def test_too_few_samples(tmp_path):
    path = writers.write_bag(tmp_path / "a.bag", {"/odom": odometry(STAMPS[:9])})
    assert "9 of 9 samples can be used, expected at least 10" in refusal(read_reference, path)
    assert len(read_reference(path, minimum_samples=9).table) == 9


def fixes(latitude=48.0, longitude=11.0, step=0.0, status=0):
    return [
        writers.fix(stamp, latitude + step * k, longitude, status=status)
        for k, stamp in enumerate(STAMPS)
    ]


@pytest.mark.parametrize(
    ("messages", "words"),
    [
        (odometry([STAMPS[0]] * COUNT), "1 of 40 samples can be used"),
        (odometry(position=(math.nan, math.nan, 0.0)), "none of 40 samples can be used: values of"),
        (odometry(orientation=(0.0,) * 4), "quaternions have length zero"),
        (odometry(orientation=(0, 0, 0, 0.5)), "qw have a length of usually 0.5, expected 1"),
        (odometry(orientation=(0, 0, 0, 195.0)), "qw have a length of usually 195, expected 1"),
        (
            odometry(STAMPS[:25] + [stamp - 10**10 for stamp in STAMPS[25:]]),
            "by 9.900 s at",
        ),
        (odometry([10**9 * k for k in range(1, 21)] + STAMPS[20:]), "expected no gap over 600 s"),
        (odometry([STAMPS[k ^ 1] for k in range(COUNT)]), "20 of 40 time stamps are older than"),
        (fixes(status=-1), "the receiver never had a fix"),
        (fixes(5.3e6, 6.9e5, step=1.0), "message 1 is at latitude 5.3e+06"),
        (fixes(), "nowhere faster than 0.2 m/s"),
    ],
)
def test_messages_of_which_no_drive_can_be_made(tmp_path, messages, words):
    path = writers.write_bag(tmp_path / "a.bag", {"/topic": messages}, receipt=STAMPS)
    assert words in refusal(read_reference, path)


@pytest.mark.parametrize(
    ("missing", "words"),
    [("yaw", "no sample holds a number"), ("time", "no sample has a time")],
)
def test_an_imu_with_nothing_but_nan(tmp_path, missing, words):
    columns = {"time": [0.1 * k for k in range(COUNT)], "yaw": [1.0] * COUNT}
    path = writers.write_csv(tmp_path / "a.csv", {**columns, missing: ["nan"] * COUNT})
    assert words in refusal(read_imu, path)


@pytest.mark.parametrize(
    ("unknown", "orientation", "words"),
    [
        (("orientation", "gyro"), "auto", "no gyroscope about z to make one of"),
        (("orientation",), "recorded", "topic /imu: the IMU gives no orientation"),
    ],
)
def test_an_imu_without_the_orientation_that_is_needed(tmp_path, unknown, orientation, words):
    path = writers.write_bag(tmp_path / "a.bag", {"/imu": imu(unknown=unknown)})
    conventions = ImuConventions(orientation=orientation)
    assert words in refusal(read_imu, path, conventions=conventions)


def test_an_orientation_cannot_be_made_of_a_yaw(csv):
    columns = {"time": "t", "yaw": "heading"}
    fused = ImuConventions(orientation="fused")
    assert "to make one of" in refusal(read_imu, csv, columns=columns, conventions=fused)
