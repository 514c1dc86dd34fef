"""Tests of the command-line program apply_imu_errors.py."""

import json
import re
from functools import partial

import mcap.reader
import numpy as np
import pytest
import yaml
from ideal_recordings import START, curve, ideal_messages, poses, stamps_of
from recording_writers import (
    HAS_STORAGE_PLUGINS,
    ROS2_STORE,
    STORE,
    magnetic_field,
    odometry,
    ros2_bytes,
    write_bag,
    write_ros2_bag,
)  # fmt: skip
from rosbags import interfaces, rosbag1, rosbag2
from scipy.spatial.transform import Rotation
from tool_calls import assert_refused, assert_success, call_tool, run_as_process

import imu_simulation_framework as isf
from imu_simulation_framework.core.angles import yaw_from_quaternion
from imu_simulation_framework.sensors.simulation import imu_truth

TOOL = "apply_imu_errors.py"
IMU = "sensor_msgs/msg/Imu"


run = partial(call_tool, TOOL)


@pytest.fixture(scope="module")
def motion():
    return curve(6.0)


@pytest.fixture(scope="module")
def bag(motion, tmp_path_factory):
    path = tmp_path_factory.mktemp("ideal") / "ideal.bag"
    return write_bag(
        path, {"/imu": ideal_messages(motion), "/pose": poses(motion)}, compression="BZ2"
    )


def contents(path, ros2=False):
    """Return the receipt time and the bytes of each message, by topic."""
    messages = {}
    with (rosbag2 if ros2 else rosbag1).Reader(path) as reader:
        for connection, time, data in reader.messages():
            messages.setdefault(connection.topic, []).append((time, bytes(data)))
    return messages


def imus(path, topic="/imu/data"):
    return [STORE.deserialize_ros1(data, IMU) for _, data in contents(path)[topic]]


def signals(messages):
    """Return angular velocity and specific force (n, 6)."""
    rows = []
    for message in messages:
        w, a = message.angular_velocity, message.linear_acceleration
        rows.append((w.x, w.y, w.z, a.x, a.y, a.z))
    return np.array(rows)


INERTIAL_COLUMNS = [f"{part}_{axis}" for part in ("gyro", "accel") for axis in "xyz"]


def test_apply_imu_errors_matches_simulate_imu_on_same_motion(bag, motion, tmp_path):
    done = assert_success(
        run_as_process(TOOL, bag, "--imu", "bno055", "--out", tmp_path / "out.bag", "--seed", 4)
    )
    assert "601 messages" in done.stdout and "seed 4" in done.stdout
    assert "frame imu_link: x forward, y left, z up (REP-103)" in done.stdout
    table = isf.simulate_imu(motion, isf.read_imu_specification("bno055"), seed=4)
    messages = imus(tmp_path / "out.bag")
    # Gyroscope and accelerometer samples are identical whether computed step by step or in a batch.
    np.testing.assert_array_equal(signals(messages), table[INERTIAL_COLUMNS])
    orientations = [message.orientation for message in messages]
    quaternions = np.array([(q.x, q.y, q.z, q.w) for q in orientations])
    yaw = np.unwrap(yaw_from_quaternion(quaternions))
    # The batch evaluates the fusion filter for all samples at once, with different rounding errors.
    np.testing.assert_allclose(yaw, table["yaw"], atol=1e-11)


@pytest.mark.parametrize("imu", ["hector", "hector_slow", "generic", "ideal"])
def test_apply_imu_errors_with_plugin_matches_simulate_imu(bag, motion, tmp_path, imu):
    assert_success(run(bag, "--imu", imu, "--out", tmp_path / "out.bag", "--seed", 2))
    samples = signals(imus(tmp_path / "out.bag"))
    np.testing.assert_array_equal(samples, isf.simulate_imu(motion, imu, seed=2)[INERTIAL_COLUMNS])


def test_topics_other_than_output_are_copied_byte_for_byte(bag, tmp_path):
    assert_success(run(bag, "--imu", "bno055", "--out", tmp_path / "out.bag"))
    source, written = contents(bag), contents(tmp_path / "out.bag")
    assert set(written) == {"/imu", "/pose", "/imu/data", "/imu/data/errors"}
    assert {topic: written[topic] for topic in source} == source
    # The output has the receipt times of the ideal IMU.
    assert [time for time, _ in written["/imu/data"]] == [time for time, _ in source["/imu"]]
    with rosbag1.Reader(bag) as source_reader, rosbag1.Reader(
        tmp_path / "out.bag"
    ) as written_reader:
        topics = {
            c.topic: (c.msgtype, c.msgdef, c.digest, c.ext) for c in written_reader.connections
        }
        assert all(
            topics[c.topic] == (c.msgtype, c.msgdef, c.digest, c.ext)
            for c in source_reader.connections
        )


def test_identical_seeds_yield_identical_bags_that_record_seed_and_parameters(bag, tmp_path):
    for name, seed in (("a", 3), ("b", 3), ("c", 5)):
        assert_success(run(bag, "--imu", "bno055", "--out", tmp_path / name, "--seed", seed))
    a, b, c = ((tmp_path / name).read_bytes() for name in "abc")
    assert a == b != c
    ((_, data),) = contents(tmp_path / "a")["/imu/data/errors"]
    errors = json.loads(STORE.deserialize_ros1(data, "std_msgs/msg/String").data)
    assert (errors["seed"], errors["input"], errors["period"]) == (3, "/imu", 0.01)
    assert errors["parameters"]["name"] == "bno055"


def test_output_to_topic_of_ideal_imu_replaces_ideal_messages(bag, tmp_path):
    out = tmp_path / "out.bag"
    options = ("--output", "/imu", "--frame-id", "chip")
    assert_success(run(bag, "--imu", "bno055", "--out", out, *options))
    written = contents(out)
    assert set(written) == {"/imu", "/pose", "/imu/errors"}
    assert len(written["/imu"]) == 601
    messages = imus(out, "/imu")
    assert {message.header.frame_id for message in messages} == {"chip"}
    covariances = (
        messages[7].orientation_covariance,
        messages[7].angular_velocity_covariance,
        messages[7].linear_acceleration_covariance,
    )
    expected = isf.read_imu_specification("bno055").covariances(0.01)
    np.testing.assert_array_equal(covariances, expected)


def test_missing_orientation_is_estimated_or_marked_with_covariance_minus_one(motion, tmp_path):
    bag = write_bag(tmp_path / "in.bag", {"/imu": ideal_messages(motion, unknown=("orientation",))})
    done = assert_success(run(bag, "--imu", "bno055", "--out", tmp_path / "fused.bag"))
    assert "the fused orientation begins with a yaw of zero" in done.stdout
    message = imus(tmp_path / "fused.bag")[0]
    assert message.orientation_covariance[0] > 0.0
    done = assert_success(run(bag, "--imu", "generic", "--out", tmp_path / "none.bag"))
    assert "covariance of -1" in done.stdout
    message = imus(tmp_path / "none.bag")[0]
    assert message.orientation_covariance[0] == -1.0
    assert (message.orientation.z, message.orientation.w) == (0.0, 1.0)


def test_apply_imu_errors_to_ros_2_bag_matches_simulate_imu(motion, tmp_path):
    content = {"/imu": ideal_messages(motion), "/pose": poses(motion)}
    source_path = write_ros2_bag(tmp_path / "source", content)
    assert_success(run(source_path, "--imu", "bno055", "--out", tmp_path / "out"))
    source, written = (contents(folder, ros2=True) for folder in (source_path, tmp_path / "out"))
    assert {topic: written[topic] for topic in source} == source
    messages = [ROS2_STORE.deserialize_cdr(data, IMU) for _, data in written["/imu/data"]]
    table = isf.simulate_imu(motion, isf.read_imu_specification("bno055"), seed=1)
    np.testing.assert_array_equal(signals(messages), table[INERTIAL_COLUMNS])
    assert messages[0].header.frame_id == "imu_link"
    ((_, data),) = written["/imu/data/errors"]
    assert json.loads(ROS2_STORE.deserialize_cdr(data, "std_msgs/msg/String").data)["seed"] == 1
    metadata = yaml.safe_load((tmp_path / "out/metadata.yaml").read_text())
    metadata = metadata["rosbag2_bagfile_information"]
    assert metadata["message_count"] == sum(map(len, written.values()))
    assert metadata["duration"]["nanoseconds"] == stamps_of(motion)[-1] - START
    # The written bag is a valid input of the reader and of the program itself.
    assert len(isf.read_imu(tmp_path / "out", topic="/imu/data").table) == len(motion)
    arguments = ("--input", "/imu", "--imu", "ideal", "--output", "/two", "--out", tmp_path / "two")
    assert_success(run(tmp_path / "out", *arguments))


TORQUE_DEFINITION = """float64 torque
string name
"""
IDL_DEFINITION = f"{'=' * 80}\nIDL: mine/msg/Secret\nmodule mine {{}};"


def write_by_library(folder, motion, storage, mode, version):
    """Write a ROS 2 bag with QoS profiles and unknown message types, using the library rosbags."""
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
        torque, secret = (
            writer.add_connection(topic, kind, msgdef=text, rihs01="RIHS01_" + 64 * "7")
            for topic, kind, text in (
                ("/torque", "mine/msg/Torque", TORQUE_DEFINITION),
                ("/secret", "mine/msg/Secret", IDL_DEFINITION),
            )
        )
        for number, (stamp, message) in enumerate(zip(stamps_of(motion), ideal_messages(motion))):
            writer.write(torque, stamp, b"\0\1\0\0" + bytes([number % 256] * (8 + number % 5)))
            writer.write(imu, stamp, ros2_bytes(message))
            if number % 10 == 0:
                writer.write(secret, stamp + 1, bytes([number % 256] * (number % 300)))
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
    """Return the topic descriptions and all messages in order, read with the library rosbags."""
    with rosbag2.Reader(folder) as reader:
        topics = {
            c.topic: (c.msgtype, c.msgdef, c.digest, c.ext, c.msgcount) for c in reader.connections
        }
        messages = [(c.topic, time, bytes(data)) for c, time, data in reader.messages()]
    return topics, messages


def chunk_compressions(folder):
    """Return the compression formats of the chunks of an MCAP file."""
    (path,) = folder.glob("*.mcap")
    with open(path, "rb") as file:
        return {
            chunk.compression for chunk in mcap.reader.make_reader(file).get_summary().chunk_indexes
        }


@pytest.mark.skipif(not HAS_STORAGE_PLUGINS, reason="requires rosbags 0.11")
@pytest.mark.parametrize("storage", ["sqlite3", "mcap"])
@pytest.mark.parametrize("mode", ["none", "file", "message", "storage"])
@pytest.mark.parametrize("version", [5, 8, 9])
def test_ros_2_bag_preserves_storage_compression_and_version(tmp_path, storage, mode, version):
    if (storage, mode) == ("sqlite3", "storage"):
        pytest.skip("sqlite3 has no chunks")
    source = write_by_library(tmp_path / "source", curve(1.0), storage, mode, version)
    assert_success(run(source, "--imu", "bno055", "--out", tmp_path / "out"))
    old, new = (
        yaml.safe_load((folder / "metadata.yaml").read_text())["rosbag2_bagfile_information"]
        for folder in (source, tmp_path / "out")
    )
    kept_keys = ("version", "storage_identifier", "compression_mode", "compression_format")
    kept_keys += ("ros_distro", "custom_data")
    assert [new.get(key) for key in kept_keys] == [old.get(key) for key in kept_keys]
    ending = {"sqlite3": ".db3", "mcap": ".mcap"}[storage] + (".zstd" if mode == "file" else "")
    assert new["relative_file_paths"] == [f"out{ending}"]
    (topics, messages), (written_topics, written_messages) = map(
        read_by_library, (source, tmp_path / "out")
    )
    assert {name: written_topics[name] for name in topics} == topics
    assert [message for message in written_messages if message[0] in topics] == messages
    assert {*written_topics} - {*topics} == {"/imu/data", "/imu/data/errors"}
    if storage == "mcap" and mode != "file":
        assert chunk_compressions(tmp_path / "out") == chunk_compressions(source) != set()


def test_ros_2_bag_with_wrong_metadata_is_rejected(motion, tmp_path):
    content = {"/imu": ideal_messages(motion)[:100], "/odom": poses(motion)[:100]}
    path = write_ros2_bag(tmp_path / "source", content) / "metadata.yaml"
    whole = path.read_text()
    for change, words in (
        ({"version": 10}, "version is 10"),
        ({"storage_identifier": "tape\x1b[31m"}, r"storage_identifier is 'tape\x1b[31m'"),
        ({"relative_file_paths": ["../../etc/passwd"]}, "'passwd'"),
        ({}, "'/odom'"),
    ):
        metadata = yaml.safe_load(whole if change else whole.replace("/odom", "/other"))
        metadata["rosbag2_bagfile_information"].update(change)
        path.write_text(yaml.safe_dump(metadata))
        assert_refused(run(path.parent, "--imu", "bno055", "--out", tmp_path / "out"), words)
        assert not (tmp_path / "out").exists()


def test_gaps_and_invalid_stamps_are_counted_without_changing_later_samples(motion, tmp_path):
    stamps = stamps_of(motion)
    messages = ideal_messages(motion)
    del messages[350:450]
    messages[100] = messages[99]
    messages[200], messages[201] = messages[201], messages[200]
    messages[300] = ideal_messages(motion)[300]
    messages[300].angular_velocity.x = float("nan")
    receipt = [START + 10**7 * index for index in range(len(messages))]
    bag = write_bag(tmp_path / "in.bag", {"/imu": messages}, receipt=receipt)
    done = assert_success(run(bag, "--imu", "bno055", "--out", tmp_path / "out.bag"))
    assert "ignored because they repeat the previous stamp: 1\n" in done.stdout
    assert "ignored because they are older than the previous message: 1\n" in done.stdout
    assert "ignored because a value is NaN or infinite: 1\n" in done.stdout
    assert "messages missing: 103, in 4 gaps of up to 1.01 s" in done.stdout
    written = imus(tmp_path / "out.bag")
    times = [m.header.stamp.sec * 10**9 + m.header.stamp.nanosec for m in written]
    assert np.all(np.diff(times) > 0) and set(times) <= set(stamps)
    # A gap consumes as many random numbers as its missing messages, so later samples are unchanged.
    whole = write_bag(tmp_path / "whole.bag", {"/imu": ideal_messages(motion)})
    assert_success(run(whole, "--imu", "bno055", "--out", tmp_path / "other.bag"))
    np.testing.assert_array_equal(
        signals(written[-150:]), signals(imus(tmp_path / "other.bag")[-150:])
    )


def changed_messages(motion, change):
    messages = ideal_messages(motion)[:300]
    for message in messages:
        change(message)
    return {"/imu": messages}


def invert_z_axis(message):
    message.linear_acceleration.z *= -1.0


def rotate_vectors_as_gazebo_ros(message):
    q, w, a = message.orientation, message.angular_velocity, message.linear_acceleration
    turn = Rotation.from_quat([q.x, q.y, q.z, q.w])
    w.x, w.y, w.z = (turn * turn).apply([w.x, w.y, w.z])
    a.x, a.y, a.z = turn.apply(turn.apply([a.x, a.y, a.z]) - [0.0, 0.0, 9.81])


def remove_gravity(message):
    message.linear_acceleration.z -= 9.80665


def make_infinite(message):
    message.linear_acceleration.z = float("inf")


def test_options_add_gravity_and_undo_rotation_of_gazebo_ros_vectors(motion, tmp_path):
    bag = write_bag(tmp_path / "in.bag", changed_messages(motion, remove_gravity))
    done = assert_success(
        run(bag, "--imu", "bno055", "--out", tmp_path / "out.bag", "--add-gravity")
    )
    assert "gravity of 9.81 m/s^2 was added" in done.stdout
    assert signals(imus(tmp_path / "out.bag"))[:, 5].mean() == pytest.approx(9.81, abs=0.01)
    bag = write_bag(tmp_path / "in.bag", changed_messages(motion, rotate_vectors_as_gazebo_ros))
    done = assert_success(
        run(bag, "--imu", "ideal", "--out", tmp_path / "out.bag", "--gazebo-ros-imu")
    )
    assert "the input's vectors were rotated back" in done.stdout
    expected = np.hstack(imu_truth(motion)[1:3])[:300]
    np.testing.assert_allclose(signals(imus(tmp_path / "out.bag")), expected, atol=1e-9)


def test_unusable_bag_or_invalid_option_is_rejected(bag, motion, tmp_path):
    poses_only = write_bag("poses.bag", {"/pose": poses(motion)})
    two = write_bag("two.bag", {"/a": ideal_messages(motion), "/b": ideal_messages(motion)})
    (tmp_path / "cut.bag").write_bytes(bag.read_bytes()[:-1000])
    for name, change in (("turned.bag", invert_z_axis), ("infinite.bag", make_infinite)):
        write_bag(name, changed_messages(motion, change), receipt=stamps_of(motion))
    files = sorted(tmp_path.iterdir())
    for words, *arguments in (
        ("sensor_msgs/Imu", poses_only),
        ("/a, /b", two),
        ("geometry_msgs/PoseStamped", bag, "--input", "/pose"),
        ("/none", bag, "--input", "/none"),
        ("/pose", bag, "--output", "/pose"),
        ("cut.bag", "cut.bag"),
        ("turned.bag, topic /imu: ", "turned.bag"),
        ("infinite.bag, topic /imu: ", "infinite.bag"),
        (
            "only an IMU from a specification has a sampling rate",
            bag,
            "--rate",
            "50",
            "--imu",
            "hector",
        ),
    ):
        assert_refused(run("--imu", "bno055", "--out", "out.bag", *arguments), words)
    assert_refused(run(bag, "--imu", "bno055", "--out", bag), bag)
    assert sorted(tmp_path.iterdir()) == files


FIELD = "sensor_msgs/msg/MagneticField"
MAG = ["mag_x", "mag_y", "mag_z"]
MAGNETIC = ("--imu", "bno055_magnetometer", "--magnetometer")


def fields(path, topic="/imu/mag"):
    return [STORE.deserialize_ros1(data, FIELD) for _, data in contents(path)[topic]]


def vectors(messages):
    parts = [message.magnetic_field for message in messages]
    return np.array([(b.x, b.y, b.z) for b in parts])


def ideal_fields(motion, environment):
    field = environment.measured_field(motion.position, motion.orientation)
    return [magnetic_field(stamp, row) for stamp, row in zip(stamps_of(motion), field)]


def test_magnetometer_measures_ideal_field_recorded_in_bag(motion, tmp_path):
    clean = isf.read_magnetic_environment("clean")
    content = {"/imu": ideal_messages(motion), "/ideal": ideal_fields(motion, clean)}
    bag = write_bag(tmp_path / "in.bag", content)
    done = assert_success(
        run(bag, *MAGNETIC, "--out", tmp_path / "out.bag", "--seed", 4, "--frame-id", "chip")
    )
    assert "/imu/mag is the magnetometer" in done.stdout
    assert "which measures the field on /ideal, in tesla" in done.stdout
    assert re.search("base_link.* chip", done.stdout)
    imu = isf.read_imu_specification("bno055_magnetometer")
    table = isf.simulate_imu(motion, imu, seed=4, magnetic_environment=clean)
    written_fields = fields(tmp_path / "out.bag")
    np.testing.assert_array_equal(vectors(written_fields), table[MAG])
    np.testing.assert_array_equal(signals(imus(tmp_path / "out.bag")), table[INERTIAL_COLUMNS])
    assert {message.header.frame_id for message in written_fields} == {"chip"}
    covariance = imu.magnetic_covariance(0.01)
    np.testing.assert_array_equal(written_fields[5].magnetic_field_covariance, covariance)
    source, written = contents(bag), contents(tmp_path / "out.bag")
    assert {topic: written[topic] for topic in source} == source
    assert [time for time, _ in written["/imu/mag"]] == [time for time, _ in source["/imu"]]
    ((_, data),) = written["/imu/data/errors"]
    errors = json.loads(STORE.deserialize_ros1(data, "std_msgs/msg/String").data)
    assert errors["magnetic_input"] == "/ideal" and "magnetic_environment" not in errors


def test_magnetometer_without_ideal_field_measures_field_of_environment(bag, motion, tmp_path):
    done = assert_success(
        run(bag, *MAGNETIC, "--out", tmp_path / "out.bag", "--magnetic-output", "/chip/mag")
    )
    assert "/chip/mag is the magnetometer" in done.stdout
    assert "which measures the field of the environment clean" in done.stdout
    imu = isf.read_imu_specification("bno055_magnetometer")
    clean = isf.read_magnetic_environment("clean")
    table = isf.simulate_imu(motion, imu, seed=1, magnetic_environment=clean)
    written_fields = vectors(fields(tmp_path / "out.bag", "/chip/mag"))
    np.testing.assert_allclose(written_fields, table[MAG], atol=1e-17)


def test_magnetometer_near_iron_requires_poses(motion, tmp_path):
    hall = isf.read_magnetic_environment("steel_beam")
    robot = zip(stamps_of(motion), motion.position, motion.orientation)
    poses = [odometry(*pose) for pose in robot][:-10]
    bag = write_bag(tmp_path / "in.bag", {"/imu": ideal_messages(motion), "/odom": poses})
    arguments = [*MAGNETIC, "--magnetic-environment", "steel_beam", "--out", tmp_path / "out.bag"]
    done = run(bag, *arguments)
    assert done.returncode == 2 and "depends on the position" in done.stderr
    done = assert_success(run(bag, *arguments, "--pose", "/odom"))
    assert "messages ignored at the end: 10;" in done.stdout
    imu = isf.read_imu_specification("bno055_magnetometer")
    table = isf.simulate_imu(motion, imu, seed=1, magnetic_environment=hall)
    written_fields = vectors(fields(tmp_path / "out.bag"))
    np.testing.assert_allclose(written_fields, table[MAG].iloc[:-10], atol=1e-17)


def test_invalid_magnetometer_option_is_rejected(bag, motion, tmp_path):
    clean = isf.read_magnetic_environment("clean")
    ideal, field = ideal_messages(motion), ideal_fields(motion, clean)
    gauss = [magnetic_field(stamp, (0.2, 0.0, -0.4)) for stamp in stamps_of(motion)]
    many = write_bag(tmp_path / "many.bag", {"/imu": ideal, "/a": field, "/b": field})
    wrong = write_bag(tmp_path / "wrong.bag", {"/imu": ideal, "/a": gauss})
    for words, *arguments in (
        ("has a magnetometer, such as bno055_magnetometer; bno055 has none", bag, "--magnetometer"),
        ("/a, /b", many, *MAGNETIC),
        ("topic /a: the ideal magnetic field is 0.447214", wrong, *MAGNETIC),
        ("/pose", bag, *MAGNETIC, "--magnetic-output", "/pose"),
        ("/imu/data", bag, *MAGNETIC, "--magnetic-output", "/imu/data"),
    ):
        assert_refused(run("--imu", "bno055", "--out", tmp_path / "out.bag", *arguments), words)
        assert not (tmp_path / "out.bag").exists()
