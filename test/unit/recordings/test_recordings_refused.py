"""Unusable recordings, which are rejected with a one-line message."""

import math
import struct

import numpy as np
import pytest
import recording_writers as writers
from refusals import refusal

from imu_simulation_framework.recordings.frames import ImuConventions
from imu_simulation_framework.recordings.reading import read_imu, read_reference

COUNT = 40
STAMPS = [1_500_000_000 * 10**9 + 100_000_000 * k for k in range(COUNT)]
TIMES = [0.1 * k for k in range(COUNT)]
IDENTITY = (0.0, 0.0, 0.0, 1.0)
NOTHING = (0.0,) * 4


def odometry(stamps=STAMPS, position=None, orientation=IDENTITY):
    return [
        writers.odometry(stamp, position or (0.1 * k, 0.0, 0.0), orientation)
        for k, stamp in enumerate(stamps)
    ]


def imu(*unknown):
    return [writers.imu(stamp, IDENTITY, (0.0,) * 3, (0.0, 0.0, 9.8), unknown) for stamp in STAMPS]


def fixes(place):
    return [writers.fix(stamp, *place(k)) for k, stamp in enumerate(STAMPS)]


def bag(messages, **others):
    """Return a function that writes a bag whose messages are received at regular times."""
    topics = {"/topic": messages, **{f"/{name}": other for name, other in others.items()}}
    return lambda folder: writers.write_bag(folder / "a.bag", topics, receipt=STAMPS)


def csv(**columns):
    return lambda folder: writers.write_csv(folder / "a.csv", columns)


def file(name, content):
    def written(folder):
        path = folder / name
        path.write_bytes(content)
        return path

    return written


def kitti(values, name="", text=""):
    """Return a function that writes a KITTI folder, optionally with one file replaced."""

    def written(folder):
        path = writers.write_kitti(folder, 1e9 + 0.1 * np.arange(COUNT), values)
        if name:
            (folder / "oxts" / name).write_text(text)
        return path

    return written


def echo(messages, *changed):
    """Return a function that writes ``rostopic echo -p`` output with one string replaced."""

    def written(folder):
        path = writers.write_rostopic_csv(folder / "a.csv", messages)
        path.write_text(path.read_text().replace(*changed or ("", ""), 1))
        return path

    return written


def angles(line="1.1,1.0"):
    """Return a function that writes a table of times and headings with line 13 replaced."""
    lines = [f"{time},1.0" for time in TIMES]
    lines[11] = line
    return file("a.csv", "\n".join(["t,heading", *lines]).encode())


def raw_bag(topics):
    """Return a function that writes a bag of messages given as {topic: (type, [bytes])}."""

    def written(folder):
        with writers.Writer(folder / "a.bag") as writer:
            for topic, (kind, contents) in topics.items():
                connection = writer.add_connection(topic, kind, typestore=writers.STORE)
                for stamp, data in zip(STAMPS, contents):
                    writer.write(connection, stamp, data)
        return folder / "a.bag"

    return written


def serialized(messages):
    kind = messages[0].__msgtype__
    return kind, [writers.STORE.serialize_ros1(message, kind) for message in messages]


def velocities(late):
    return [writers.twist_stamped(stamp + late, (1.0, 0.0, 0.0)) for stamp in STAMPS]


K = np.arange(COUNT)
PLACES = csv(time=TIMES, latitude=[48.0] * COUNT, longitude=[11.0] * COUNT)
KIND, POSES = serialized(odometry())
SHORT = [data[: -8 if index == 17 else None] for index, data in enumerate(POSES)]
JUMP = STAMPS[:25] + [stamp - 10 * 10**9 for stamp in STAMPS[25:]]
PAUSE = [stamp - STAMPS[0] + 10**9 for stamp in STAMPS[:20]] + STAMPS[20:]
MAP = {"time": "t", "yaw": "heading"}
FAR = (5.3e6, 6.9e5)


def case(written, words, **options):
    return written, words, options


NO_BAG = file("a.bag", b"not a bag at all\n" * 10)


def mapped(**columns):
    return {"columns": {**MAP, **columns}}


REFERENCES = [
    case(NO_BAG, "cannot be read as a ROS 1 bag", format="bag"),
    case(NO_BAG, "not a ROS 1 bag"),
    case(file("a.bag", b"#ROSBAG V1.2\n" + bytes(100)), "not supported"),
    case(file("a.db3", b"\x89MCAP0\r\n" + bytes(100)), "ROS 2 bag"),
    case(file("a.tum", b"0 0 0 0 0 0 0 1\n1 0 0 0 0 0 zero 1\n"), "line 2, column 'qz': 'zero'"),
    case(file("a.csv", b"time,x,y,yaw\n0,1,1,1\n\xff\xfe,2,2,2\n"), "line 3, column 'time'"),
    case(file("a.csv", b"time,yaw\n"), "there is only one line"),
    case(lambda folder: folder, "folder without a known recording"),
    case(
        raw_bag({"/odom": (KIND, []), "/imu": serialized(imu())}),
        "topic /odom has no messages",
        topic="/odom",
    ),
    case(
        raw_bag({"/odom": (KIND, SHORT)}),
        "message 18 does not have the structure of nav_msgs/Odometry",
    ),
    case(bag(odometry()), "topic /other is missing; the bag contains /topic", topic="/other"),
    case(bag(imu()), "/topic has type sensor_msgs/Imu, expected nav_msgs", topic="/topic"),
    case(bag(odometry(), a=odometry()), "several topics are suitable; choose one of: /a, /topic"),
    case(angles(), "time and x y yaw or x y qx qy qz qw", columns={"time": "t", "x": "t"}),
    case(bag(odometry(STAMPS[:9])), "9 of 9 samples can be used, expected at least 10"),
    # Stamps are identical, decrease by seconds, have gaps of years, or are swapped in pairs.
    case(bag(odometry([STAMPS[0]] * COUNT)), f"all {COUNT} time stamps are"),
    case(bag(odometry(JUMP)), "the clock runs backwards by 9.900 s at message 26"),
    case(bag(odometry(PAUSE)), "gaps must not exceed 600 s"),
    case(bag(odometry([STAMPS[k ^ 1] for k in range(COUNT)])), "20 of 40 time stamps are earlier"),
    case(
        bag(odometry(position=(math.nan,) * 3)), "/topic: 0 of 40 samples can be used, since values"
    ),
    case(bag(odometry(orientation=NOTHING)), "the quaternions have norm 0"),
    case(bag(odometry(orientation=(0, 0, 0, 195.0))), "is 195, expected 1"),
    case(bag(fixes(lambda k: (48.0, 11.0, 1.0, -1))), "the receiver never had a fix"),
    case(bag(fixes(lambda k: FAR)), "message 1: latitude and longitude are 5.3e+06"),
    case(bag(fixes(lambda k: (48.0, 11.0))), "never faster than 0.2 m/s"),
    case(echo(odometry(), "%time", "%timex"), "expected the columns of nav_msgs/Odom"),
    case(
        kitti({1: 1e-5 * K, 7: np.where(K == 3, 1e300, 8.0)}),
        "file 3: velocity_east is 1e+300, expected at most 1e+09",
    ),
    case(
        file("a.tum", b"".join(b"%d 0 0 0 0 0 0 1\n" % stamp for stamp in STAMPS)),
        "with time = #1 [ns]",
    ),
    # The fixes contain velocities and headings in addition to positions.
    case(
        bag(odometry(), vel=velocities(0)),
        "expected sensor_msgs/NavSatFix to add velocity or heading",
        topic="/topic",
        velocity_topic="/vel",
    ),
    case(
        bag(fixes(lambda k: (48.0, 11.0)), vel=velocities(10**14)),
        "topic /vel: none of 40 messages is within 0.051 s of a position",
        velocity_topic="/vel",
    ),
    case(PLACES, "velocity_topic requires a bag", velocity_topic="/vel"),
]
IMUS = [
    case(raw_bag({}), "contains no messages, expected sensor_msgs/Imu"),
    case(bag(odometry()), "no topic of type sensor_msgs/Imu; the bag contains /topic (nav_msg"),
    case(angles(), "column 'azimuth' is missing, expected one of t", **mapped(yaw="azimuth [deg]")),
    case(
        angles(), "'yaww' in the column map is unknown, did you mean yaw?", **mapped(yaww="heading")
    ),
    case(angles(), "format is 'xml'", format="xml"),
    case(angles(), "cannot be read with the format tables, expected a folder", format="tables"),
    case(
        bag(imu()),
        "expected columns such as /topic.field with one of the topics /topic",
        **mapped(),
    ),
    case(kitti({}), "the format is kitti, but a column map requires", **mapped()),
    case(csv(t=TIMES, azimuth=TIMES), "mapped quantities are none, expected time and"),
    case(echo(odometry()), "the columns are %time, field.header.seq"),
    case(kitti({}, "timestamps.txt", "2011-09-26 13:02:25.9\nnoon"), "line 2 is 'noon'"),
    case(kitti({}, "timestamps.txt", "2011-13-26 13:02:25.9"), "line 1 is '2011-13-26 13:02:25.9'"),
    case(kitti({}, "timestamps.txt", "2011-09-26 13:02:25.9\n\n"), "timestamps.txt has 1 lines"),
    case(kitti({}, "data/0000000003.txt", 2**14 * "1 "), "0000000003.txt: has 16384 bytes or more"),
    case(kitti({}, "data/0000000003.txt", "1 2 3"), "0000000003.txt: expected 30 numbers"),
    case(kitti({}, "data/0000000003.txt", 30 * "x "), "0000000003.txt: expected 30 numbers"),
    case(kitti({}, "data/12x.txt", 30 * "1 "), "no timestamp for this file"),
    case(angles("1.1,12 m"), "line 13, column 'heading': '12 m' is not valid", **mapped()),
    case(angles("1.1,1.0,5"), "line 13 has 3 cells, expected 2", **mapped()),
    case(csv(time=TIMES, yaw=["nan"] * COUNT), "no sample has finite values"),
    case(csv(time=["nan"] * COUNT, yaw=TIMES), "no sample has a time"),
    case(
        bag(imu("orientation", "gyro")),
        "topic /topic: orientation of the IMU is missing, but required, and cannot be computed",
    ),
    case(
        bag(imu("orientation")),
        "orientation of the IMU is missing, but required",
        conventions=ImuConventions(orientation="recorded"),
    ),
    case(
        angles(),
        "cannot be computed without a z axis of the gyroscope",
        **mapped(),
        conventions=ImuConventions(orientation="fused"),
    ),
]


@pytest.mark.parametrize(
    "read, written, words, options",
    [(read_reference, *case) for case in REFERENCES] + [(read_imu, *case) for case in IMUS],
)
def test_unusable_recording_is_rejected(tmp_path, read, written, words, options):
    assert words in refusal(read, written(tmp_path), **options)


@pytest.mark.parametrize("name", ["a.bag", "a.csv", "a.tum"])
def test_empty_or_missing_file_is_rejected(tmp_path, name):
    path = tmp_path / name
    assert "no such file, expected a recording" in refusal(read_reference, path)
    path.write_bytes(b"")
    assert "empty file, expected a recording" in refusal(read_reference, path)
    assert "empty file, expected a recording" in refusal(read_reference, writers.pack(path))


def test_bag_without_index_or_with_damaged_data_is_rejected(tmp_path):
    path = bag(odometry())(tmp_path)
    content = bytearray(path.read_bytes())
    at = content.index(b"index_pos=") + len(b"index_pos=")
    content[at : at + 8] = struct.pack("<Q", 0)
    path.write_bytes(content)
    assert "rosbag reindex" in refusal(read_reference, path)
    path = writers.write_bag(tmp_path / "a.bag", {"/odom": odometry()}, compression="BZ2")
    content = bytearray(path.read_bytes())
    at = content.index(b"BZh9") + 20
    content[at : at + 50] = bytes(50)
    path.write_bytes(content)
    assert "truncated or damaged" in refusal(read_reference, path)
    packed = writers.pack(angles()(tmp_path))
    packed.write_bytes(packed.read_bytes()[:-20])
    assert "gzip file is truncated" in refusal(read_imu, packed, format="csv")


@pytest.mark.parametrize("share", [0.001, 0.5, 0.999])
def test_truncated_ros1_bag_is_rejected(tmp_path, share):
    path = bag(odometry(), imu=imu())(tmp_path)
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    assert "truncated or damaged" in refusal(read_reference, path)
    assert "truncated or damaged" in refusal(read_reference, writers.pack(path))


def test_topic_without_leading_slash_and_lower_sample_minimum_are_accepted(tmp_path):
    path = bag(odometry(STAMPS[:9]))(tmp_path)
    recorded = read_reference(path, topic="topic", minimum_samples=9)
    assert recorded.report.topic == "/topic"
    assert len(recorded.table) == 9
