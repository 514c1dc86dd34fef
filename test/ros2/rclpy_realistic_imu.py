"""The node realistic_imu in ROS 2, compared with its session, which does not depend on ROS."""

import json
import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray
from nav_msgs.msg import Odometry
from rclpy.serialization import deserialize_message, serialize_message
from ros2_peers import bytes_of_session
from sensor_msgs.msg import Imu, JointState, MagneticField

# Imported after ros2_peers, which adds the folders of these modules to the search path.
from ideal_recordings import odometry_rows, stamps_of  # isort: skip
from realistic_imu_messages import (  # isort: skip
    driven,
    ideal,
    odometry,
    pairs,
    quaternion,
    signals,
    stamped,
    vector,
)
import imu_simulation_framework as isf
from imu_simulation_framework.realistic_imu.live import RealisticImuArguments
from imu_simulation_framework.ros2.node import RealisticImuNode
from imu_simulation_framework.sensors.simulation import imu_truth


@pytest.fixture(scope="module")
def motion():
    return isf.rounds(0.5, radius=2.0, speed=2.0)


def test_published_imu_matches_simulate_imu_and_session(ros, motion):
    ros.start(RealisticImuNode, specification="bno055", seed=4)
    received, texts = ros.listen("/imu/data", Imu), ros.texts("/imu/data/errors")
    messages = ideal(motion)
    ros.publish(ros.publisher("/imu", Imu), messages)
    ros.until(lambda: len(received) >= len(messages) and texts, "last reading")
    specification = isf.read_imu_specification("bno055")
    table = isf.simulate_imu(motion, specification, seed=4)
    np.testing.assert_array_equal(signals(received), table.to_numpy()[:, 3:])
    first = deserialize_message(received[0], Imu)
    assert list(first.orientation_covariance) == list(specification.covariances(0.01)[0])
    assert first.header.frame_id == "robot"
    # rclpy writes the same bytes, apart from padding.
    again = [bytes(serialize_message(deserialize_message(data, Imu))) for data in received]
    assert [ros1_message(data) for data in again] == [ros1_message(data) for data in received]
    arguments = RealisticImuArguments(specification="bno055", seed=4)
    session = bytes_of_session(arguments, pairs("/imu", messages))
    assert received == session.sent["/imu/data"]
    assert [text.data for text in texts] == session.texts["/imu/data/errors"]
    assert json.loads(texts[0].data)["seed"] == 4


def test_ros_1_and_ros_2_sessions_output_same_numbers(motion):
    arguments = RealisticImuArguments(specification="bno055_magnetometer", magnetometer=True)
    ros2_messages = pairs("/imu", ideal(motion))
    ros1_messages = [(topic, ros1_message(data)) for topic, data in ros2_messages]
    new = bytes_of_session(arguments, ros2_messages).sent
    old = bytes_of_session(arguments, ros1_messages, ros2=False).sent
    assert set(new) == {"/imu/data", "/imu/mag"}
    for topic, messages in new.items():
        assert [ros1_message(data) for data in messages] == old[topic]
        assert len(messages) == len(motion)


def ros1_message(data):
    """Convert a ROS 2 message with a header to ROS 1 bytes: no NUL after the frame, no padding."""
    length = int.from_bytes(data[12:16], "little")
    place = 16 + length
    place += -(place - 4) % 8
    frame = data[16 : 16 + length - 1]
    return bytes(4) + data[4:12] + len(frame).to_bytes(4, "little") + frame + data[place:]


@pytest.mark.parametrize("kind", ["imu", "odometry", "pose", "field", "torques"])
def test_published_messages_for_each_input_match_bytes_of_session(ros, motion, tmp_path, kind):
    earth = [1e-6, 2e-5, -4e-5]
    hall = {"dipoles": [{"position": [2.5, 0.0, 0.1], "moment": [0.0, 3.0, 1.0]}]}
    if kind == "torques":
        hall = {"earth": earth, "motors": {"left": [1e-6, 0.0, 0.0], "right": [0.0, 0.0, -3e-6]}}
    (tmp_path / "hall.yaml").write_text(json.dumps(hall))
    parameters = {"specification": "bno055_magnetometer", "seed": 3, "magnetometer": True}
    if kind in ("odometry", "pose", "torques"):
        parameters["magnetic_environment"] = str(tmp_path / "hall.yaml")
    parameters.update(
        {
            "imu": {"drop_repeated": "true", "rate": 50.0},
            "odometry": {"input_type": "odometry"},
            "pose": {"pose": "/pose"},
            "field": {"magnetic_input": "/field"},
            "torques": {"joint_states": "/joint_states"},
        }[kind]
    )
    ros.start(RealisticImuNode, **parameters)
    received, fields = ros.listen("/imu/data", Imu), ros.listen("/imu/mag", MagneticField)
    main = driven(motion) if kind == "odometry" else ideal(motion)
    publisher = ros.publisher("/imu", type(main[0]))
    second_inputs = {"pose": ("/pose", Odometry), "field": ("/field", MagneticField)}
    second_inputs["torques"] = ("/joint_states", JointState)
    other = ros.publisher(*second_inputs[kind]) if kind in second_inputs else None
    diagnosed = ros.listen("/diagnostics", DiagnosticArray, raw=False)
    sent = []
    for number, (message, stamp) in enumerate(zip(main, stamps_of(motion))):
        sent += pairs("/imu", [message])
        publisher.publish(message)
        if kind == "pose" and number == 0:  # poses require a known frame of the IMU
            ros.until(lambda: has_received(diagnosed), "message in the diagnostics")
        if kind == "pose":
            second = odometry(stamp, odometry_rows(motion)[number])
        elif kind == "field":
            second = stamped(MagneticField(magnetic_field=vector(earth)), stamp)
        elif kind == "torques":
            second = JointState(name=["wheel_left_joint", "wheel_right_joint"])
            second.effort = [float(np.sin(number)), 0.5]
            second = stamped(second, stamp)
        if other is not None:
            other.publish(second)
            sent += pairs(second_inputs[kind][0], [second])
        ros.executor.spin_once(timeout_sec=0.0)
    if kind == "torques":
        expected = isf.read_magnetic_environment(tmp_path / "hall.yaml").measured_field(
            *(motion.position, motion.orientation),
            np.array([[np.sin(number), 0.5] for number in range(len(motion))]),
        )
        ros.until(lambda: len(fields) >= len(motion), "last field")
        messages = [deserialize_message(data, MagneticField).magnetic_field for data in fields]
        noise = 3e-6  # magnetometer noise per axis at 100 Hz [T]
        measured = np.array([[b.x, b.y, b.z] for b in messages])
        assert np.abs(measured - expected).max() < 5.0 * noise
        return
    session = bytes_of_session(RealisticImuArguments(**parameters), sent)
    count = len(session.sent["/imu/data"])
    assert count > 0.4 * len(motion)
    ros.until(lambda: len(received) >= count and len(fields) >= count, "last reading")
    assert received == session.sent["/imu/data"]
    assert fields == session.sent["/imu/mag"]


def has_received(diagnosed):
    return any(
        value.key == "messages per second" and float(value.value) > 0.0
        for message in diagnosed
        for value in message.status[0].values
    )


def test_mounting_parameters_rotate_and_displace_imu(ros, motion):
    arm, turn = (0.3, -0.2, 0.1), np.radians(90.0)
    ros.start(
        RealisticImuNode,
        *(None, ()),
        specification="ideal",
        input_type="odometry",
        xyz="0.3 -0.2 0.1",
        rpy=f"0 0 {turn}",
        frame_id="chip",
    )
    received = ros.listen("/imu/data", Imu)
    ros.publish(ros.publisher("/imu", Odometry), driven(motion))
    ros.until(lambda: len(received) >= len(motion) - 1, "last reading")
    _, rate, force = imu_truth(motion.mounted(arm))[:3]
    # The x axis of the IMU is the y axis of the robot.
    for vectors in (rate, force):
        vectors[:, :2] = np.column_stack([vectors[:, 1], -vectors[:, 0]])
    np.testing.assert_allclose(signals(received), np.hstack([rate, force])[1:], atol=1e-8)
    assert deserialize_message(received[0], Imu).header.frame_id == "chip"


def test_mounting_from_tf_displaces_imu(ros, motion, monkeypatch):
    node = ros.start(RealisticImuNode, specification="ideal", use_tf=True, frame_id="chip")
    received, publisher = ros.listen("/imu/data", Imu), ros.publisher("/imu", Imu)
    if "tf2_ros" not in sys.modules:
        tf = ModuleType("tf2_ros")
        transform = SimpleNamespace(
            translation=vector([0.3, 0, 0]), rotation=quaternion([0, 0, 0, 1])
        )
        tf.Buffer = lambda: SimpleNamespace(
            can_transform=lambda parent, frame, _: (parent, frame) == ("robot", "chip"),
            lookup_transform=lambda *_: SimpleNamespace(transform=transform),
        )
        tf.TransformListener = lambda *_, **__: SimpleNamespace(unregister=lambda: None)
        monkeypatch.setitem(sys.modules, "tf2_ros", tf)
    ros.publish(publisher, ideal(motion))
    ros.until(lambda: len(received) >= len(motion), "last reading")
    _, rate, force = imu_truth(motion.mounted((0.3, 0.0, 0.0)))[:3]
    # The first sample is excluded, because the angular acceleration is computed from two rates.
    np.testing.assert_allclose(signals(received)[1:], np.hstack([rate, force])[1:], atol=1e-8)
    assert not node.failure


def test_missing_tf2_is_reported_with_remedy(ros, motion):
    node = ros.start(RealisticImuNode, use_tf=True, frame_id="chip")
    ros.publish(ros.publisher("/imu", Imu), ideal(motion)[:3])
    ros.until(lambda: node.ended, "end of the node")
    assert "use_tf needs tf2_ros, which is not installed; set xyz:=" in (node.failure)


def test_namespace_and_remapping_change_topic_names(ros, motion):
    remapped = ["-r", "imu/real:=imu/chip"]
    ros.start(RealisticImuNode, "robot1", remapped, input="imu/ideal", output="imu/real")
    received = ros.listen("/robot1/imu/chip", Imu)
    ros.publish(ros.publisher("/robot1/imu/ideal", Imu), ideal(motion)[:60])
    ros.until(lambda: len(received) >= 60, "last reading")


def test_two_realistic_imu_nodes_run_in_one_process(ros, motion):
    ros.start(RealisticImuNode, output="/first/data", seed=1)
    ros.start(RealisticImuNode, input="/first/data", output="/second/data", specification="ideal")
    first, second = ros.listen("/first/data", Imu), ros.listen("/second/data", Imu)
    ros.publish(ros.publisher("/imu", Imu), ideal(motion))
    ros.until(lambda: len(second) >= len(motion), "last reading")
    np.testing.assert_array_equal(signals(second), signals(first))


def test_simulated_imu_restarts_when_time_jumps_back(ros, motion):
    node = ros.start(RealisticImuNode)
    received, messages = ros.listen("/imu/data", Imu), ideal(motion)
    ros.publish(ros.publisher("/imu", Imu), messages[200:300] + messages[:100])
    ros.until(lambda: len(received) >= 200, "last reading")
    node.session.close()
    (warning,) = [text for text in node.warned if "jumps of the stamps" in text]
    assert "the IMU restarted with new random numbers" in warning
