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


def test_a_missing_file(tmp_path):
    assert "no such recording" in refusal(read_reference, tmp_path / "none.bag")


def test_a_folder(tmp_path):
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


def test_something_else_that_is_named_a_bag(tmp_path):
    path = tmp_path / "a.bag"
    path.write_bytes(b"not a bag at all\n" * 10)
    assert "not a ROS 1 bag" in refusal(read_reference, path)
    assert "cannot be read as a ROS 1 bag" in refusal(read_reference, path, format="bag")


def test_a_bag_of_another_version(tmp_path):
    path = tmp_path / "a.bag"
    path.write_bytes(b"#ROSBAG V1.2\n" + bytes(100))
    assert "not supported" in refusal(read_reference, path)


@pytest.mark.parametrize("magic", [b"SQLite format 3\0", b"\x89MCAP0\r\n"])
def test_a_bag_of_ros_2(tmp_path, magic):
    path = tmp_path / "a.db3"
    path.write_bytes(magic + bytes(100))
    assert "ROS 2 bag" in refusal(read_reference, path)


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


def test_a_missing_column_lists_those_that_are_there(csv):
    sentence = refusal(read_imu, csv, columns={"time": "t", "yaw": "azimuth [deg]"})
    assert "no column 'azimuth'" in sentence
    assert "t, heading" in sentence


def test_a_column_map_that_lacks_something(csv):
    sentence = refusal(read_reference, csv, columns={"time": "t", "yaw": "heading"})
    assert "expected columns for time and x y yaw or x y qx qy qz qw" in sentence
    path = writers.write_csv(csv.with_name("b.csv"), {"t": [0.1] * COUNT, "azimuth": [1.0] * COUNT})
    sentence = refusal(read_imu, path)
    assert "found none" in sentence
    assert "the file's columns are t, azimuth" in sentence


def test_an_unknown_quantity_in_the_column_map(csv):
    sentence = refusal(read_imu, csv, columns={"time": "t", "yaww": "heading"})
    assert "'yaww' is not known, did you mean yaw?" in sentence


def test_an_unknown_unit_in_the_column_map(csv):
    sentence = refusal(read_imu, csv, columns={"time": "t", "yaw": "heading [grad]"})
    assert "yaw in [grad], expected one of [rad]" in sentence


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
    lines = csv.read_text().splitlines()
    lines[12] += ",5"
    csv.write_text("\n".join(lines))
    sentence = refusal(read_imu, csv, columns={"time": "t", "yaw": "heading"})
    assert "line 13 has 3 cells, expected 2" in sentence


def test_tum_with_text_in_it(tmp_path):
    path = tmp_path / "a.tum"
    path.write_text("0 0 0 0 0 0 0 1\n1 0 0 0 0 0 zero 1\n")
    assert "line 2, column 'qz': 'zero' is no number" in refusal(read_reference, path)


def test_a_text_file_that_is_no_text(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"time,yaw\n0,1\n\xff\xfe,2\n")
    assert "line 3 is not text" in refusal(read_imu, path)


def test_a_csv_with_its_first_line_only(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("time,yaw\n")
    assert "empty but for its first line" in refusal(read_imu, path)


def test_an_unknown_format(csv):
    assert "unknown format 'xml'" in refusal(read_imu, csv, format="xml")


def test_too_few_samples(tmp_path):
    path = writers.write_bag(tmp_path / "a.bag", {"/odom": odometry(STAMPS[:9])})
    assert "9 of 9 samples can be used, expected at least 10" in refusal(read_reference, path)
    assert len(read_reference(path, minimum_samples=9).table) == 9


def test_the_same_stamp_in_every_message(tmp_path):
    path = writers.write_bag(tmp_path / "a.bag", {"/odom": odometry([STAMPS[0]] * COUNT)})
    assert f"1 of {COUNT} samples can be used" in refusal(read_reference, path)


def test_nothing_but_nan(tmp_path):
    path = writers.write_bag(
        tmp_path / "a.bag", {"/odom": odometry(position=(math.nan, math.nan, 0.0))}
    )
    sentence = refusal(read_reference, path)
    assert "topic /odom: none of 40 samples can be used: values of x, y" in sentence


def test_an_imu_with_nothing_but_nan(tmp_path):
    columns = {"time": [0.1 * k for k in range(COUNT)], "yaw": ["nan"] * COUNT}
    assert "no sample holds a number" in refusal(
        read_imu, writers.write_csv(tmp_path / "a.csv", columns)
    )


def test_no_quaternion_that_is_one(tmp_path):
    path = writers.write_bag(tmp_path / "a.bag", {"/odom": odometry(orientation=(0.0,) * 4)})
    assert "quaternions have length zero" in refusal(read_reference, path)


@pytest.mark.parametrize("length", [0.5, 195.0])
def test_numbers_that_are_no_quaternions(tmp_path, length):
    path = writers.write_bag(tmp_path / "a.bag", {"/odom": odometry(orientation=(0, 0, 0, length))})
    sentence = refusal(read_reference, path)
    assert f"qx, qy, qz, qw have a length of usually {length:g}, expected 1" in sentence


def test_an_imu_without_the_orientation_that_is_needed(tmp_path):
    path = writers.write_bag(tmp_path / "a.bag", {"/imu": imu(unknown=("orientation", "gyro"))})
    sentence = refusal(read_imu, path)
    assert "topic /imu: the IMU gives no orientation" in sentence
    assert "no gyroscope about z to make one of" in sentence


def test_an_orientation_that_should_be_the_recorded_one_is_not_made(tmp_path):
    path = writers.write_bag(tmp_path / "a.bag", {"/imu": imu(unknown=("orientation",))})
    sentence = refusal(read_imu, path, conventions=ImuConventions(orientation="recorded"))
    assert "topic /imu: the IMU gives no orientation" in sentence


def test_an_orientation_cannot_be_made_of_a_yaw(csv):
    columns = {"time": "t", "yaw": "heading"}
    fused = ImuConventions(orientation="fused")
    assert "to make one of" in refusal(read_imu, csv, columns=columns, conventions=fused)


def test_a_clock_that_runs_backwards(tmp_path):
    stamps = STAMPS[:25] + [stamp - 10 * 10**9 for stamp in STAMPS[25:]]
    path = writers.write_bag(tmp_path / "a.bag", {"/odom": odometry(stamps)}, receipt=STAMPS)
    sentence = refusal(read_reference, path)
    assert "the clock runs backwards by 9.900 s at message 26" in sentence


def test_a_clock_that_was_set_in_between(tmp_path):
    stamps = [stamp - STAMPS[0] + 10**9 for stamp in STAMPS[:20]] + STAMPS[20:]
    path = writers.write_bag(tmp_path / "a.bag", {"/odom": odometry(stamps)}, receipt=STAMPS)
    assert "expected no gap over 600 s" in refusal(read_reference, path)


def test_stamps_in_no_order(tmp_path):
    stamps = [STAMPS[k ^ 1] for k in range(COUNT)]
    path = writers.write_bag(tmp_path / "a.bag", {"/odom": odometry(stamps)}, receipt=STAMPS)
    assert "20 of 40 time stamps are older than one before" in refusal(read_reference, path)


def test_a_csv_without_any_time(tmp_path):
    path = writers.write_csv(tmp_path / "a.csv", {"time": ["nan"] * COUNT, "yaw": [1.0] * COUNT})
    assert "no sample has a time" in refusal(read_imu, path)


def test_a_receiver_that_never_had_a_fix(tmp_path):
    messages = [writers.fix(stamp, 48.0, 11.0, status=-1) for stamp in STAMPS]
    path = writers.write_bag(tmp_path / "a.bag", {"/fix": messages})
    assert "the receiver never had a fix" in refusal(read_reference, path)


def test_positions_that_are_not_in_degrees(tmp_path):
    messages = [writers.fix(stamp, 5.3e6 + k, 6.9e5) for k, stamp in enumerate(STAMPS)]
    path = writers.write_bag(tmp_path / "a.bag", {"/fix": messages})
    assert "message 1 is at latitude 5.3e+06" in refusal(read_reference, path)


def test_fixes_of_a_robot_that_stands(tmp_path):
    messages = [writers.fix(stamp, 48.0, 11.0) for stamp in STAMPS]
    path = writers.write_bag(tmp_path / "a.bag", {"/fix": messages})
    assert "nowhere faster than 0.2 m/s" in refusal(read_reference, path)
