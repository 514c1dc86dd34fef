"""The tool apply_imu_errors.py, as a person calls it."""

import json
import sqlite3
from contextlib import closing
from functools import partial

import mcap.reader
import numpy as np
import pytest
import yaml
from ideal_recordings import START, curve, ideal_messages, poses, stamps_of
from recording_writers import (
    NEWER,
    ROS2_STORE,
    STORE,
    magnetic_field,
    odometry,
    ros2_bytes,
    write_bag,
    write_mcap,
    write_ros2_bag,
)  # fmt: skip
from rosbags import interfaces, rosbag1, rosbag2
from rosbags.typesys import Stores, get_typestore
from scipy.spatial.transform import Rotation
from tool_calls import call_tool, refused, run_as_process, succeeded

import imu_simulation_framework as isf
from imu_simulation_framework.core.angles import yaw_from_quaternion
from imu_simulation_framework.sensors.simulation import imu_truth

TOOL = "apply_imu_errors.py"
IMU = "sensor_msgs/msg/Imu"


run = partial(call_tool, TOOL)


@pytest.fixture(scope="module")
def motion():
    return curve()


@pytest.fixture(scope="module")
def bag(motion, tmp_path_factory):
    path = tmp_path_factory.mktemp("ideal") / "ideal.bag"
    return write_bag(
        path, {"/imu": ideal_messages(motion), "/pose": poses(motion)}, compression="BZ2"
    )


def contents(path, ros2=False):
    """Topic -> (receipt, bytes) of each message."""
    found = {}
    with (rosbag2 if ros2 else rosbag1).Reader(path) as reader:
        for connection, time, data in reader.messages():
            found.setdefault(connection.topic, []).append((time, bytes(data)))
    return found


def imus(path, topic="/imu/data"):
    return [STORE.deserialize_ros1(data, IMU) for _, data in contents(path)[topic]]


def signals(messages):
    """Angular velocities and accelerations, (n, 6)."""
    rows = []
    for message in messages:
        w, a = message.angular_velocity, message.linear_acceleration
        rows.append((w.x, w.y, w.z, a.x, a.y, a.z))
    return np.array(rows)


SIX = [f"{part}_{axis}" for part in ("gyro", "accel") for axis in "xyz"]


def test_the_numbers_are_those_of_simulate_imu_on_the_same_truth(bag, motion, tmp_path):
    done = succeeded(
        run_as_process(TOOL, bag, "--imu", "bno055", "--out", tmp_path / "out.bag", "--seed", 4)
    )
    assert "2001 messages" in done.stdout and "seed 4" in done.stdout
    assert "frame imu_link: x forward, y left, z up (REP-103)" in done.stdout
    table = isf.simulate_imu(motion, isf.read_imu_specification("bno055"), seed=4)
    messages = imus(tmp_path / "out.bag")
    # A gyroscope's and an accelerometer's sample is the same number in steps as in a batch.
    np.testing.assert_array_equal(signals(messages), table[SIX])
    turns = [message.orientation for message in messages]
    quaternions = np.array([(q.x, q.y, q.z, q.w) for q in turns])
    yaw = np.unwrap(yaw_from_quaternion(quaternions))
    # A filter's series is computed at once in a batch, which rounds otherwise.
    np.testing.assert_allclose(yaw, table["yaw"], atol=1e-11)


@pytest.mark.parametrize("imu", ["hector", "hector_slow", "generic", "ideal"])
def test_the_plugins_models_give_the_numbers_of_simulate_imu_too(bag, motion, tmp_path, imu):
    succeeded(run(bag, "--imu", imu, "--out", tmp_path / "out.bag", "--seed", 2))
    found = signals(imus(tmp_path / "out.bag"))
    np.testing.assert_array_equal(found, isf.simulate_imu(motion, imu, seed=2)[SIX])


def test_everything_else_in_the_bag_is_the_same_to_the_byte(bag, tmp_path):
    succeeded(run(bag, "--imu", "bno055", "--out", tmp_path / "out.bag"))
    before, after = contents(bag), contents(tmp_path / "out.bag")
    assert set(after) == {"/imu", "/pose", "/imu/data", "/imu/data/errors"}
    assert {topic: after[topic] for topic in before} == before
    # Recorded when the ideal one was, in the same frame.
    assert [time for time, _ in after["/imu/data"]] == [time for time, _ in before["/imu"]]
    with rosbag1.Reader(bag) as old, rosbag1.Reader(tmp_path / "out.bag") as new:
        kept = {c.topic: (c.msgtype, c.msgdef, c.digest, c.ext) for c in new.connections}
        assert all(kept[c.topic] == (c.msgtype, c.msgdef, c.digest, c.ext) for c in old.connections)


def test_seed_and_parameters_are_in_the_bag_and_the_same_seed_gives_the_same_bag(bag, tmp_path):
    for name, seed in (("a", 3), ("b", 3), ("c", 5)):
        succeeded(run(bag, "--imu", "bno055", "--out", tmp_path / name, "--seed", seed))
    a, b, c = ((tmp_path / name).read_bytes() for name in "abc")
    assert a == b != c
    ((_, data),) = contents(tmp_path / "a")["/imu/data/errors"]
    told = json.loads(STORE.deserialize_ros1(data, "std_msgs/msg/String").data)
    assert (told["seed"], told["input"], told["period"]) == (3, "/imu", 0.01)
    assert told["parameters"]["name"] == "bno055"


def test_the_realistic_imu_takes_the_place_of_the_ideal_one_if_it_has_its_topic(bag, tmp_path):
    out = tmp_path / "out.bag"
    named = ("--output", "/imu", "--frame-id", "chip")
    succeeded(run(bag, "--imu", "bno055", "--out", out, *named))
    after = contents(out)
    assert set(after) == {"/imu", "/pose", "/imu/errors"}
    assert len(after["/imu"]) == 2001
    messages = imus(out, "/imu")
    assert {message.header.frame_id for message in messages} == {"chip"}
    given = (
        messages[7].orientation_covariance,
        messages[7].angular_velocity_covariance,
        messages[7].linear_acceleration_covariance,
    )
    expected = isf.read_imu_specification("bno055").covariances(0.01)
    np.testing.assert_array_equal(given, expected)


def test_without_an_orientation_it_is_fused_or_said_to_be_none(motion, tmp_path):
    bag = write_bag(tmp_path / "in.bag", {"/imu": ideal_messages(motion, unknown=("orientation",))})
    done = succeeded(run(bag, "--imu", "bno055", "--out", tmp_path / "fused.bag"))
    assert "the fused one begins with a yaw of zero" in done.stdout
    message = imus(tmp_path / "fused.bag")[0]
    assert message.orientation_covariance[0] > 0.0
    done = succeeded(run(bag, "--imu", "generic", "--out", tmp_path / "none.bag"))
    assert "no orientation, which its covariance of -1 says" in done.stdout
    message = imus(tmp_path / "none.bag")[0]
    assert message.orientation_covariance[0] == -1.0
    assert (message.orientation.z, message.orientation.w) == (0.0, 1.0)


PROFILES = [{"history": "keep_last", "depth": 10, "reliability": "reliable"}]


def recorded_by(folder, storage, version, content):
    """A folder as rosbag2 of that version writes it; since 9 profiles are a list, and in words."""
    write_ros2_bag(folder, content)
    description = yaml.safe_load((folder / "metadata.yaml").read_text())
    information = description["rosbag2_bagfile_information"]
    if storage == "mcap":
        (folder / f"{folder.name}.db3").unlink()
        write_mcap(folder / f"{folder.name}.mcap", content)
        names = [f"{folder.name}.mcap"]
        information.update(storage_identifier="mcap", relative_file_paths=names, files=[])
    for topic in information["topics_with_message_count"]:
        profiles = PROFILES if version >= 9 else yaml.safe_dump([{"history": 1, "depth": 10}])
        topic["topic_metadata"]["offered_qos_profiles"] = profiles
    information.update(version=version, ros_distro="jazzy", custom_data={"robot": "nine"})
    (folder / "metadata.yaml").write_text(yaml.safe_dump(description))
    return folder


def stored(folder, storage):
    """Topic -> (time, bytes), read by others: sqlite3 itself, or the library mcap."""
    found = {}
    if storage == "sqlite3":
        with closing(sqlite3.connect(folder / f"{folder.name}.db3")) as database:
            for name, time, data in database.execute(
                "SELECT name, timestamp, data FROM messages JOIN topics ON topic_id = topics.id "
                "ORDER BY timestamp, messages.id"
            ):
                found.setdefault(name, []).append((time, data))
        return found
    with open(folder / f"{folder.name}.mcap", "rb") as file:
        for _, channel, message in mcap.reader.make_reader(file, True).iter_messages():
            found.setdefault(channel.topic, []).append((message.log_time, message.data))
    return found


@pytest.mark.parametrize(
    ("storage", "version"), [("sqlite3", 5), ("sqlite3", 9), ("mcap", 8), ("mcap", 9)]
)
def test_a_ros_2_bag_keeps_its_storage_and_the_version_of_its_description(
    motion, tmp_path, storage, version
):
    content = {"/imu": ideal_messages(motion), "/pose": poses(motion)}
    source = recorded_by(tmp_path / "source", storage, version, content)
    succeeded(run(source, "--imu", "bno055", "--out", tmp_path / "out"))
    before, after = stored(source, storage), stored(tmp_path / "out", storage)
    assert {topic: after[topic] for topic in before} == before
    store = get_typestore(Stores.ROS2_HUMBLE)
    found = [store.deserialize_cdr(data, IMU) for _, data in after["/imu/data"]]
    table = isf.simulate_imu(motion, isf.read_imu_specification("bno055"), seed=1)
    np.testing.assert_array_equal(signals(found), table[SIX])
    assert found[0].header.frame_id == "imu_link"
    ((_, data),) = after["/imu/data/errors"]
    assert json.loads(store.deserialize_cdr(data, "std_msgs/msg/String").data)["seed"] == 1
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == ["metadata.yaml", "out.mcap" if storage == "mcap" else "out.db3"]
    old, new = (
        yaml.safe_load((folder / "metadata.yaml").read_text())["rosbag2_bagfile_information"]
        for folder in (source, tmp_path / "out")
    )
    same = ("version", "storage_identifier", "ros_distro", "custom_data")
    assert [new[key] for key in same] == [old[key] for key in same]
    profiles = {
        topic["topic_metadata"]["name"]: topic["topic_metadata"]["offered_qos_profiles"]
        for topic in new["topics_with_message_count"]
    }
    assert profiles["/imu/data"] == profiles["/pose"]
    assert profiles["/imu/data/errors"] == ([] if version >= 9 else "")
    assert new["message_count"] == sum(map(len, after.values()))
    assert new["duration"]["nanoseconds"] == stamps_of(motion)[-1] - START
    # It can be read again, also by the tool itself.
    assert len(isf.read_imu(tmp_path / "out", topic="/imu/data").table) == len(motion)
    again = ("--input", "/imu", "--imu", "ideal", "--output", "/two", "--out", tmp_path / "two")
    succeeded(run(tmp_path / "out", *again))


def test_a_compression_that_a_bag_only_claims_is_not_claimed_again(motion, tmp_path):
    source = write_ros2_bag(tmp_path / "source", {"/imu": ideal_messages(motion)[:100]})
    path = source / "metadata.yaml"
    content = yaml.safe_load(path.read_text())
    told = content["rosbag2_bagfile_information"]
    told.update(compression_format="gzip", compression_mode="message")
    path.write_text(yaml.safe_dump(content))
    succeeded(run(source, "--imu", "bno055", "--out", tmp_path / "out"))
    found = yaml.safe_load((tmp_path / "out/metadata.yaml").read_text())
    for key in ("compression_format", "compression_mode"):
        assert found["rosbag2_bagfile_information"][key] == ""
    assert stored(tmp_path / "out", "sqlite3")["/imu"] == stored(source, "sqlite3")["/imu"]


OWN = """float64 torque
string name
"""
OTHER_LANGUAGE = f"{'=' * 80}\nIDL: mine/msg/Secret\nmodule mine {{}};"


def recorded_by_library(folder, motion, storage, mode, version):
    """A folder by the library's writer: topics with profiles, of types that nobody else knows."""
    plugin = rosbag2.StoragePlugin[storage.upper()]
    writer = rosbag2.Writer(folder, version=max(version, 8), storage_plugin=plugin)
    writer.set_compression(rosbag2.CompressionMode[mode.upper()], rosbag2.CompressionFormat.ZSTD)
    writer.set_custom_data("robot", "nine")
    times = [interfaces.QosTime(number, number + 1) for number in (1, 3, 5)]
    profile = interfaces.Qos(
        interfaces.QosHistory.KEEP_LAST, 7, interfaces.QosReliability.RELIABLE,
        interfaces.QosDurability.VOLATILE, *times[:2], interfaces.QosLiveliness.AUTOMATIC,
        times[2], False,
    )  # fmt: skip
    with writer:
        options = {"typestore": ROS2_STORE, "offered_qos_profiles": [profile]}
        imu = writer.add_connection("/imu", IMU, **options)
        own, unknown = (
            writer.add_connection(topic, kind, msgdef=text, rihs01="RIHS01_" + 64 * "7")
            for topic, kind, text in (
                ("/torque", "mine/msg/Torque", OWN),
                ("/secret", "mine/msg/Secret", OTHER_LANGUAGE),
            )
        )
        for number, (stamp, message) in enumerate(zip(stamps_of(motion), ideal_messages(motion))):
            writer.write(own, stamp, b"\0\1\0\0" + bytes([number % 256] * (8 + number % 5)))
            writer.write(imu, stamp, ros2_bytes(message))
            if number % 10 == 0:
                writer.write(unknown, stamp + 1, bytes([number % 256] * (number % 300)))
    if version < 8:
        path = folder / "metadata.yaml"
        content = yaml.safe_load(path.read_text())
        information = content["rosbag2_bagfile_information"]
        information["version"] = version
        del information["custom_data"], information["ros_distro"]
        for topic in information["topics_with_message_count"]:
            del topic["topic_metadata"]["type_description_hash"]
        path.write_text(yaml.safe_dump(content))
    return folder


def read_by_library(folder):
    """Descriptions of the topics, and all messages in their order, by the library's reader."""
    with rosbag2.Reader(folder) as reader:
        topics = {
            c.topic: (c.msgtype, c.msgdef, c.digest, c.ext, c.msgcount) for c in reader.connections
        }
        messages = [(c.topic, time, bytes(data)) for c, time, data in reader.messages()]
    return topics, messages


def chunks_of(folder):
    """How the chunks of an MCAP file are packed."""
    (path,) = folder.glob("*.mcap")
    with open(path, "rb") as file:
        return {
            chunk.compression for chunk in mcap.reader.make_reader(file).get_summary().chunk_indexes
        }


@pytest.mark.skipif(not NEWER, reason="this library writes sqlite3 of one version only")
@pytest.mark.parametrize("storage", ["sqlite3", "mcap"])
@pytest.mark.parametrize("mode", ["none", "file", "message", "storage"])
@pytest.mark.parametrize("version", [5, 8, 9])
def test_what_was_read_is_written_in_its_storage_compression_and_version(
    motion, tmp_path, storage, mode, version
):
    if (storage, mode) == ("sqlite3", "storage"):
        pytest.skip("chunks are those of MCAP")
    source = recorded_by_library(tmp_path / "source", motion, storage, mode, version)
    succeeded(run(source, "--imu", "bno055", "--out", tmp_path / "out"))
    old, new = (
        yaml.safe_load((folder / "metadata.yaml").read_text())["rosbag2_bagfile_information"]
        for folder in (source, tmp_path / "out")
    )
    same = ("version", "storage_identifier", "compression_mode", "compression_format")
    assert [new[key] for key in same] == [old[key] for key in same]
    ending = {"sqlite3": ".db3", "mcap": ".mcap"}[storage] + (".zstd" if mode == "file" else "")
    assert new["relative_file_paths"] == [f"out{ending}"]
    (topics, messages), (after, written) = map(read_by_library, (source, tmp_path / "out"))
    assert {name: after[name] for name in topics} == topics
    assert [one for one in written if one[0] in topics] == messages
    assert {*after} - {*topics} == {"/imu/data", "/imu/data/errors"}
    if storage == "mcap" and mode != "file":
        assert chunks_of(tmp_path / "out") == chunks_of(source) != set()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"version": 10}, "version is 10, expected a whole number from 1 to 9"),
        ({"storage_identifier": "tape\x1b[31m"}, r"storage_identifier is 'tape\x1b[31m'"),
        ({"relative_file_paths": ["../../etc/passwd"]}, "the bag's file 'passwd' is missing"),
        ({"relative_file_paths": []}, "relative_file_paths is [], expected names of files"),
        ({"topics_with_message_count": [1]}, "an entry of topics_with_message_count is 1"),
    ],
)
def test_a_description_that_cannot_be_is_refused_in_a_sentence(motion, tmp_path, change, words):
    source = write_ros2_bag(tmp_path / "source", {"/imu": ideal_messages(motion)[:100]})
    content = yaml.safe_load((source / "metadata.yaml").read_text())
    content["rosbag2_bagfile_information"].update(change)
    (source / "metadata.yaml").write_text(yaml.safe_dump(content))
    refused(run(source, "--imu", "bno055", "--out", tmp_path / "out"), words)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("storage", ["sqlite3", "mcap"])
def test_a_topic_that_the_description_names_otherwise_is_not_lost(motion, tmp_path, storage):
    content = {"/imu": ideal_messages(motion)[:100], "/odom": poses(motion)[:100]}
    source = recorded_by(tmp_path / "source", storage, 8, content)
    text = (source / "metadata.yaml").read_text().replace("/odom", "/other")
    (source / "metadata.yaml").write_text(text)
    done = run(source, "--imu", "bno055", "--out", tmp_path / "out")
    refused(done, "the topic '/odom', which the bag has, is not described")
    assert not (tmp_path / "out").exists()


def test_names_that_a_terminal_would_obey_are_escaped(motion, tmp_path):
    messages = ideal_messages(motion)[:100]
    for message in messages:
        message.header.frame_id = "chip\x1b]0;title\a"
    name = "/imu\x1b[2J\nrun: all is well"
    for source in (
        write_bag(tmp_path / "in.bag", {name: messages, "/other": messages}),
        write_ros2_bag(tmp_path / "in", {name: messages, "/other": messages}),
    ):
        out = tmp_path / f"out{source.suffix}"
        escaped = name.encode("unicode_escape").decode()
        told = refused(run(source, "--imu", "bno055", "--out", out), escaped)
        done = succeeded(run(source, "--imu", "bno055", "--out", out, "--input", escaped))
        assert escaped in done.stdout and r"frame chip\x1b]0;title\x07: x forward" in done.stdout
        assert not [c for c in told + done.stdout if not (c.isprintable() or c == "\n")]
        # The bag itself is copied as it is.
        assert name in contents(out, ros2=not source.suffix)


def test_gaps_repeated_and_disordered_stamps_and_no_numbers_are_told(motion, tmp_path):
    stamps = stamps_of(motion)
    messages = ideal_messages(motion)
    del messages[1000:1100]
    messages[500] = messages[499]
    messages[600], messages[601] = messages[601], messages[600]
    messages[700] = ideal_messages(motion)[700]
    messages[700].angular_velocity.x = float("nan")
    receipt = [START + 10**7 * index for index in range(len(messages))]
    bag = write_bag(tmp_path / "in.bag", {"/imu": messages}, receipt=receipt)
    done = succeeded(run(bag, "--imu", "bno055", "--out", tmp_path / "out.bag"))
    assert "left out that have the stamp of the one before: 1\n" in done.stdout
    assert "left out that have a stamp before that of the one before: 1\n" in done.stdout
    assert "left out that hold values that are no numbers: 1\n" in done.stdout
    assert "messages missing: 103, at 4 places, up to 1.01 s" in done.stdout
    found = imus(tmp_path / "out.bag")
    times = [m.header.stamp.sec * 10**9 + m.header.stamp.nanosec for m in found]
    assert np.all(np.diff(times) > 0) and set(times) <= set(stamps)
    # Behind the gaps the IMU is where it would be without them: the same random numbers.
    whole = write_bag(tmp_path / "whole.bag", {"/imu": ideal_messages(motion)})
    succeeded(run(whole, "--imu", "bno055", "--out", tmp_path / "other.bag"))
    np.testing.assert_array_equal(
        signals(found[-500:]), signals(imus(tmp_path / "other.bag")[-500:])
    )


def test_stamps_that_shake_are_told_and_each_message_is_a_step(motion, tmp_path):
    shaken = np.random.default_rng(1).integers(-2_000_000, 2_000_000, len(motion))
    stamps = [stamp + int(shift) for stamp, shift in zip(stamps_of(motion), shaken)]
    bag = write_bag(tmp_path / "in.bag", {"/imu": ideal_messages(motion, stamps=stamps)})
    done = succeeded(run(bag, "--imu", "bno055", "--out", tmp_path / "out.bag"))
    assert "at 100 Hz" in done.stdout and "ms beside even steps of 10 ms" in done.stdout
    table = isf.simulate_imu(motion, isf.read_imu_specification("bno055"), seed=1)
    np.testing.assert_array_equal(signals(imus(tmp_path / "out.bag")), table[SIX])


def test_a_slower_sensor_gives_its_own_rate_if_its_specification_drops_repeated_samples(
    bag, motion, tmp_path
):
    slow = tmp_path / "slow.yaml"
    slow.write_text("gyroscope: {white_noise: 1e-3}\noutput: {rate: 25, drop_repeated: true}\n")
    done = succeeded(run(bag, "--imu", slow, "--out", tmp_path / "out.bag"))
    table = isf.simulate_imu(motion, isf.read_imu_specification(slow))
    np.testing.assert_array_equal(signals(imus(tmp_path / "out.bag")), table[SIX])
    done = run(bag, "--imu", slow, "--out", tmp_path / "out.bag", "--rate", 50)
    assert "1001 messages" in done.stdout
    done = run(bag, "--imu", slow, "--out", tmp_path / "other.bag", "--rate", 30)
    assert done.returncode == 2
    assert "output.rate is 30 Hz, but it must be a whole fraction" in done.stderr
    assert "100 Hz, as 33.3333 Hz, or" in done.stderr


def changed(motion, change):
    messages = ideal_messages(motion)[:300]
    for message in messages:
        change(message)
    return {"/imu": messages}


def upside_down(message):
    message.linear_acceleration.z *= -1.0


def turned_wrongly(message):
    q, w, a = message.orientation, message.angular_velocity, message.linear_acceleration
    turn = Rotation.from_quat([q.x, q.y, q.z, q.w])
    w.x, w.y, w.z = (turn * turn).apply([w.x, w.y, w.z])
    a.x, a.y, a.z = turn.apply(turn.apply([a.x, a.y, a.z]) - [0.0, 0.0, 9.81])


def weightless(message):
    message.linear_acceleration.z -= 9.80665


def not_finite(message):
    message.linear_acceleration.z = float("inf")


def no_rate(message):
    message.angular_velocity_covariance[0] = -1.0


def unset(message):
    message.header.stamp.sec = message.header.stamp.nanosec = 0


def standing(message):
    message.header.stamp.sec, message.header.stamp.nanosec = 5, 0


@pytest.mark.parametrize("frame", [(), ("--frame-id", "chip")])
def test_a_slower_sensors_sample_has_its_own_stamp_where_its_message_is_missing(
    motion, tmp_path, frame
):
    (tmp_path / "slow.yaml").write_text("output: {rate: 10.0, drop_repeated: true}\n")
    messages = ideal_messages(motion)[:300]
    del messages[100]
    bag = write_bag(tmp_path / "in.bag", {"/imu": messages})
    succeeded(run(bag, "--imu", tmp_path / "slow.yaml", "--out", tmp_path / "out.bag", *frame))
    stamps = [message.header.stamp for message in imus(tmp_path / "out.bag")]
    found = [stamp.sec * 10**9 + stamp.nanosec for stamp in stamps]
    assert found == stamps_of(motion)[:300:10]


def test_gravity_is_added_and_what_gazebos_plug_in_turns_turned_back_if_asked(motion, tmp_path):
    bag = write_bag(tmp_path / "in.bag", changed(motion, weightless))
    done = succeeded(run(bag, "--imu", "bno055", "--out", tmp_path / "out.bag", "--add-gravity"))
    assert "gravity of 9.81 m/s^2 was added" in done.stdout
    assert signals(imus(tmp_path / "out.bag"))[:, 5].mean() == pytest.approx(9.81, abs=0.01)
    bag = write_bag(tmp_path / "in.bag", changed(motion, turned_wrongly))
    done = succeeded(run(bag, "--imu", "ideal", "--out", tmp_path / "out.bag", "--gazebo-ros-imu"))
    assert "the input's vectors were turned back" in done.stdout
    right = np.hstack(imu_truth(motion)[1:3])[:300]
    np.testing.assert_allclose(signals(imus(tmp_path / "out.bag")), right, atol=1e-9)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (upside_down, "the ideal IMU's axes are not x forward, y left, z up"),
        (weightless, "acceleration is without gravity"),
        (not_finite, "no message holds numbers only"),
        (no_rate, "has no angular velocity"),
        (unset, "no message has a stamp"),
        (standing, "less than two different stamps"),
    ],
)
def test_an_ideal_imu_that_cannot_be_used_is_refused_in_a_sentence(motion, tmp_path, change, words):
    write_bag("in.bag", changed(motion, change), receipt=stamps_of(motion))
    refused(run("in.bag", "--imu", "bno055", "--out", "out.bag"), words, "in.bag")
    assert [path.name for path in tmp_path.iterdir()] == ["in.bag"]


def test_what_cannot_be_is_refused_in_a_sentence(bag, motion, tmp_path):
    poses_only = write_bag("poses.bag", {"/pose": poses(motion)})
    two = write_bag("two.bag", {"/a": ideal_messages(motion), "/b": ideal_messages(motion)})
    with rosbag1.Writer("empty.bag"):
        pass
    (tmp_path / "text.csv").write_text("time,x\n1,2\n")
    (tmp_path / "cut.bag").write_bytes(bag.read_bytes()[:-1000])
    (tmp_path / "folder").mkdir()
    before = sorted(tmp_path.iterdir())
    for words, *arguments in (
        ("no topic of type sensor_msgs/Imu", poses_only),
        ("several topics can be used, say which: /a, /b", two),
        ("the bag holds no messages", "empty.bag"),
        ("topic /pose is of type geometry_msgs/PoseStamped", bag, "--input", "/pose"),
        ("no topic /none", bag, "--input", "/none"),
        ("the topic /pose is in the bag already", bag, "--output", "/pose"),
        ("is no bag of ROS 1 or ROS 2", "text.csv"),
        ("the bag is truncated or damaged", "cut.bag"),
        ("there is no such recording", "none.bag"),
        ("folder", "folder"),
        ("is no name of a topic", bag, "--output", "a b"),
        ("is not a whole number", bag, "--seed", "x"),
        ("is no number of samples", bag, "--rate", "-1"),
        ("only an IMU by a specification has a rate", bag, "--rate", "50", "--imu", "hector"),
        ("there is no such file, nor an IMU of that name", bag, "--imu", "bno"),
    ):
        refused(run("--imu", "bno055", "--out", "out.bag", *arguments), words)
    refused(run(bag, "--imu", "bno055", "--out", bag), "is the input")
    assert sorted(tmp_path.iterdir()) == before


FIELD = "sensor_msgs/msg/MagneticField"
MAG = ["mag_x", "mag_y", "mag_z"]
MAGNETIC = ("--imu", "bno055_magnetometer", "--magnetometer")


def fields(path, topic="/imu/mag"):
    return [STORE.deserialize_ros1(data, FIELD) for _, data in contents(path)[topic]]


def vectors(messages):
    parts = [message.magnetic_field for message in messages]
    return np.array([(b.x, b.y, b.z) for b in parts])


def ideal_fields(motion, environment):
    felt = environment.felt(motion.position, motion.orientation)
    return [magnetic_field(stamp, row) for stamp, row in zip(stamps_of(motion), felt)]


def test_the_magnetometer_measures_the_ideal_field_of_the_bag(motion, tmp_path):
    clean = isf.read_magnetic_environment("clean")
    given = {"/imu": ideal_messages(motion), "/ideal": ideal_fields(motion, clean)}
    bag = write_bag(tmp_path / "in.bag", given)
    done = succeeded(
        run(bag, *MAGNETIC, "--out", tmp_path / "out.bag", "--seed", 4, "--frame-id", "chip")
    )
    assert "/imu/mag is its magnetometer, which measures the field on /ideal, in tesla" in (
        done.stdout
    )
    assert "the field is in the frame base_link, which was taken for chip" in done.stdout
    imu = isf.read_imu_specification("bno055_magnetometer")
    table = isf.simulate_imu(motion, imu, seed=4, magnetic_environment=clean)
    found = fields(tmp_path / "out.bag")
    np.testing.assert_array_equal(vectors(found), table[MAG])
    np.testing.assert_array_equal(signals(imus(tmp_path / "out.bag")), table[SIX])
    assert {message.header.frame_id for message in found} == {"chip"}
    covariance = imu.magnetic_covariance(0.01)
    np.testing.assert_array_equal(found[5].magnetic_field_covariance, covariance)
    before, after = contents(bag), contents(tmp_path / "out.bag")
    assert {topic: after[topic] for topic in before} == before
    assert [time for time, _ in after["/imu/mag"]] == [time for time, _ in before["/imu"]]
    ((_, data),) = after["/imu/data/errors"]
    told = json.loads(STORE.deserialize_ros1(data, "std_msgs/msg/String").data)
    assert told["magnetic_input"] == "/ideal" and "magnetic_environment" not in told


def test_without_an_ideal_field_it_is_that_of_the_environment(bag, motion, tmp_path):
    done = succeeded(
        run(bag, *MAGNETIC, "--out", tmp_path / "out.bag", "--magnetic-output", "/chip/mag")
    )
    assert "/chip/mag is its magnetometer, which measures the field of the environment clean" in (
        done.stdout
    )
    imu = isf.read_imu_specification("bno055_magnetometer")
    clean = isf.read_magnetic_environment("clean")
    table = isf.simulate_imu(motion, imu, seed=1, magnetic_environment=clean)
    found = vectors(fields(tmp_path / "out.bag", "/chip/mag"))
    np.testing.assert_allclose(found, table[MAG], atol=1e-17)


def test_iron_needs_the_pose_which_may_end_before_the_imu(motion, tmp_path):
    hall = isf.read_magnetic_environment("steel_beam")
    robot = zip(stamps_of(motion), motion.position, motion.orientation)
    poses = [odometry(*pose) for pose in robot][:-10]
    bag = write_bag(tmp_path / "in.bag", {"/imu": ideal_messages(motion), "/odom": poses})
    arguments = [*MAGNETIC, "--magnetic-environment", "steel_beam", "--out", tmp_path / "out.bag"]
    done = run(bag, *arguments)
    assert done.returncode == 2 and "depends on the place" in done.stderr
    done = succeeded(run(bag, *arguments, "--pose", "/odom"))
    assert "of whose time the bag does not tell the rest: 10\n" in done.stdout
    imu = isf.read_imu_specification("bno055_magnetometer")
    table = isf.simulate_imu(motion, imu, seed=1, magnetic_environment=hall)
    found = vectors(fields(tmp_path / "out.bag"))
    np.testing.assert_allclose(found, table[MAG].iloc[:-10], atol=1e-17)


def test_a_told_field_needs_no_orientation_and_can_be_replaced(tmp_path):
    clean = isf.read_magnetic_environment("clean")
    turn = Rotation.from_euler("z", 0.4).as_quat()
    time = np.arange(200) / 100.0
    motion = isf.Motion.from_poses(time, np.zeros((200, 3)), np.tile(turn, (200, 1)))
    imus_without = ideal_messages(motion, unknown=("orientation",))
    given = {"/imu": imus_without, "/imu/mag": ideal_fields(motion, clean)}
    bag = write_bag(tmp_path / "in.bag", given)
    (tmp_path / "heading.yaml").write_text(
        "magnetometer: {}\noutput: {filter: mahony, magnetic_heading: true}\n"
    )
    done = succeeded(
        run(bag, "--imu", tmp_path / "heading.yaml", "--magnetometer", "--out", tmp_path / "o")
    )
    assert "so the fused one begins at magnetic north" in done.stdout
    assert set(contents(tmp_path / "o")) == {"/imu", "/imu/mag", "/imu/data", "/imu/data/errors"}
    q = imus(tmp_path / "o")[0].orientation
    # The world's y axis is true north, which magnetic north is east of by the declination.
    east, north, _ = clean.undisturbed
    yaw = float(yaw_from_quaternion(np.array([[q.x, q.y, q.z, q.w]]))[0])
    assert yaw - 0.4 == pytest.approx(np.arctan2(east, north), abs=1e-9)
    done = run(
        *(bag, *MAGNETIC, "--out", tmp_path / "e", "--magnetic-environment", "clean"),
        *("--magnetic-output", "/other"),
    )
    assert done.returncode == 2 and "nobody knows the magnetic field in its axes" in done.stderr
    assert "in.bag" in done.stderr


def test_a_ros_2_bag_gets_the_same_field(motion, tmp_path):
    clean = isf.read_magnetic_environment("clean")
    robot = zip(stamps_of(motion), motion.position, motion.orientation)
    given = {
        "/imu": ideal_messages(motion),
        "/ideal": ideal_fields(motion, clean),
        "/odom": [odometry(*pose) for pose in robot],
    }
    one = write_bag(tmp_path / "one.bag", given)
    two = write_ros2_bag(tmp_path / "two", given)
    hall = ("--magnetic-environment", "steel_beam", "--pose", "odom")
    store = get_typestore(Stores.ROS2_HUMBLE)
    for number, more in enumerate(((), hall)):
        outs = tmp_path / f"{number}.bag", tmp_path / f"{number}"
        for source, out in zip((one, two), outs):
            succeeded(run(source, *MAGNETIC, "--out", out, *more))
        found = [
            store.deserialize_cdr(data, FIELD)
            for _, data in contents(outs[1], ros2=True)["/imu/mag"]
        ]
        np.testing.assert_array_equal(vectors(found), vectors(fields(outs[0])))
        assert found[0].header.frame_id == "imu_link"


def test_a_magnetometer_that_cannot_be_is_refused_in_a_sentence(bag, motion, tmp_path):
    clean = isf.read_magnetic_environment("clean")
    ideal, field = ideal_messages(motion), ideal_fields(motion, clean)
    gauss = [magnetic_field(stamp, (0.2, 0.0, -0.4)) for stamp in stamps_of(motion)]
    many = write_bag(tmp_path / "many.bag", {"/imu": ideal, "/a": field, "/b": field})
    wrong = write_bag(tmp_path / "wrong.bag", {"/imu": ideal, "/a": gauss})
    magnetic = ("--imu", "bno055_magnetometer")
    for words, *arguments in (
        ("has a magnetometer, as bno055_magnetometer; bno055 has none", bag, "--magnetometer"),
        ("plug-ins' models have none", bag, "--imu", "hector", "--magnetometer"),
        ("several topics can be used, say which: /a, /b", many, *MAGNETIC),
        ("no topic /none", many, *magnetic, "--magnetic-input", "/none"),
        ("is of type sensor_msgs/Imu, expected sensor_msgs/MagneticField", many, *magnetic)
        + ("--magnetic-input", "/imu"),
        ("topic /a: the ideal magnetic field is 0.447214, expected it in tesla", wrong, *MAGNETIC),
        ("not allowed with argument", bag, *MAGNETIC, "--magnetic-input", "/a")
        + ("--magnetic-environment", "clean"),
        ("there is no such file", bag, *magnetic, "--magnetic-environment", "hall"),
        ("the topic /pose is in the bag already", bag, *MAGNETIC, "--magnetic-output", "/pose"),
        ("the topic /imu/data is the IMU's", bag, *MAGNETIC, "--magnetic-output", "/imu/data"),
        ("topic /pose is of type geometry_msgs/PoseStamped", bag, *MAGNETIC, "--pose", "/pose"),
    ):
        refused(run("--imu", "bno055", "--out", tmp_path / "out.bag", *arguments), words)
        assert not (tmp_path / "out.bag").exists()
