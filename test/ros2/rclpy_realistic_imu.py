"""realistic_imu under ROS 2: its bytes are those of the session, and what is wrong is said."""

import json
import re
import signal
import sys
import time
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
import rclpy
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import Point, Pose, Quaternion, Twist, Vector3
from nav_msgs.msg import Odometry
from rclpy.parameter import Parameter
from rclpy.serialization import deserialize_message, serialize_message
from ros2_peers import BEST_EFFORT, DOMAIN, RELIABLE, bytes_of_session
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Imu, JointState, MagneticField

# Behind ros2_peers, which makes the tests' own modules importable.
from ideal_recordings import odometry_rows, stamps_of  # isort: skip
import imu_simulation_framework as isf
from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.core.settings import keys_of
from imu_simulation_framework.realistic_imu.live import RealisticImuArguments
from imu_simulation_framework.ros2.node import RealisticImuNode
from imu_simulation_framework.sensors.simulation import imu_truth


@pytest.fixture(scope="module")
def motion():
    return isf.rounds(0.5, radius=2.0, speed=2.0)


def stamped(message, stamp, frame="robot"):
    message.header.frame_id = frame
    message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp, 10**9)
    return message


def vector(numbers):
    return Vector3(**dict(zip("xyz", map(float, numbers))))


def quaternion(numbers):
    return Quaternion(**dict(zip("xyzw", map(float, numbers))))


def imu(stamp, turn, rate, force):
    made = Imu(orientation=quaternion(turn), angular_velocity=vector(rate))
    made.linear_acceleration = vector(force)
    return stamped(made, stamp)


def ideal(motion):
    return [imu(*one) for one in zip(stamps_of(motion), *imu_truth(motion)[:3])]


def odometry(stamp, row):
    place = Point(**dict(zip("xyz", map(float, row[:3]))))
    made = Odometry(child_frame_id="robot")
    made.pose.pose = Pose(position=place, orientation=quaternion(row[3:7]))
    made.twist.twist = Twist(linear=vector(row[7:10]), angular=vector(row[10:]))
    return stamped(made, stamp, "odom")


def driven(motion):
    return [odometry(*one) for one in zip(stamps_of(motion), odometry_rows(motion))]


def pairs(topic, messages):
    return [(topic, bytes(serialize_message(message))) for message in messages]


def signals(came):
    read = [deserialize_message(data, Imu) for data in came]
    return np.array(
        [[w.x, w.y, w.z, a.x, a.y, a.z] for m in read
         for w, a in [(m.angular_velocity, m.linear_acceleration)]]
    )  # fmt: skip


def test_an_ideal_imu_gets_the_errors_of_simulate_imu_in_the_bytes_of_the_session(ros, motion):
    ros.start(RealisticImuNode, specification="bno055", seed=4)
    came, told = ros.listen("/imu/data", Imu), ros.texts("/imu/data/errors")
    messages = ideal(motion)
    ros.publish(ros.publisher("/imu", Imu), messages)
    ros.until(lambda: len(came) >= len(messages) and told)
    specification = isf.read_imu_specification("bno055")
    table = isf.simulate_imu(motion, specification, seed=4)
    np.testing.assert_array_equal(signals(came), table.to_numpy()[:, 3:])
    first = deserialize_message(came[0], Imu)
    assert list(first.orientation_covariance) == list(specification.covariances(0.01)[0])
    assert first.header.frame_id == "robot"
    # rclpy itself writes the same, but for what it leaves between two numbers.
    again = [bytes(serialize_message(deserialize_message(one, Imu))) for one in came]
    assert [ros1_message(one) for one in again] == [ros1_message(one) for one in came]
    arguments = RealisticImuArguments(specification="bno055", seed=4)
    session = bytes_of_session(arguments, pairs("/imu", messages))
    assert came == session.sent["/imu/data"]
    assert [one.data for one in told] == session.texts["/imu/data/errors"]
    assert json.loads(told[0].data)["seed"] == 4


def test_ros_1_publishes_the_same_numbers_to_the_bit(motion):
    arguments = RealisticImuArguments(specification="bno055_magnetometer", magnetometer=True)
    of_ros2 = pairs("/imu", ideal(motion))
    of_ros1 = [(topic, ros1_message(data)) for topic, data in of_ros2]
    new = bytes_of_session(arguments, of_ros2).sent
    old = bytes_of_session(arguments, of_ros1, ros2=False).sent
    assert set(new) == {"/imu/data", "/imu/mag"}
    for topic, messages in new.items():
        assert [ros1_message(data) for data in messages] == old[topic]
        assert len(messages) == len(motion)


def ros1_message(data):
    """The bytes of ROS 1 of a message with a header: no NUL behind the frame, and no padding."""
    length = int.from_bytes(data[12:16], "little")
    place = 16 + length
    place += -(place - 4) % 8
    frame = data[16 : 16 + length - 1]
    return bytes(4) + data[4:12] + len(frame).to_bytes(4, "little") + frame + data[place:]


@pytest.mark.parametrize("kind", ["imu", "odometry", "pose", "field", "torques"])
def test_each_input_gives_the_bytes_of_the_session(ros, motion, tmp_path, kind):
    earth = [1e-6, 2e-5, -4e-5]
    hall = {"dipoles": [{"position": [2.5, 0.0, 0.1], "moment": [0.0, 3.0, 1.0]}]}
    if kind == "torques":
        hall = {"earth": earth, "motors": {"left": [1e-6, 0.0, 0.0], "right": [0.0, 0.0, -3e-6]}}
    (tmp_path / "hall.yaml").write_text(json.dumps(hall))
    given = {"specification": "bno055_magnetometer", "seed": 3, "magnetometer": True}
    if kind in ("odometry", "pose", "torques"):
        given["magnetic_environment"] = str(tmp_path / "hall.yaml")
    given.update(
        {
            "imu": {"drop_repeated": "true", "rate": 50.0},
            "odometry": {"input_type": "odometry"},
            "pose": {"pose": "/pose"},
            "field": {"magnetic_input": "/field"},
            "torques": {"joint_states": "/joint_states"},
        }[kind]
    )
    ros.start(RealisticImuNode, **given)
    came, fields = ros.listen("/imu/data", Imu), ros.listen("/imu/mag", MagneticField)
    main = driven(motion) if kind == "odometry" else ideal(motion)
    publisher = ros.publisher("/imu", type(main[0]))
    beside = {"pose": ("/pose", Odometry), "field": ("/field", MagneticField)}
    beside["torques"] = ("/joint_states", JointState)
    other = ros.publisher(*beside[kind]) if kind in beside else None
    sent = []
    for number, (message, stamp) in enumerate(zip(main, stamps_of(motion))):
        sent += pairs("/imu", [message])
        publisher.publish(message)
        ros.spin(0.2 if number == 0 else 0.0)  # its frame has to be known
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
            sent += pairs(beside[kind][0], [second])
        ros.executor.spin_once(timeout_sec=0.0)
    if kind == "torques":
        expected = isf.read_magnetic_environment(tmp_path / "hall.yaml").felt(
            *(motion.position, motion.orientation),
            np.array([[np.sin(number), 0.5] for number in range(len(motion))]),
        )
        ros.until(lambda: len(fields) >= len(motion))
        read = [deserialize_message(data, MagneticField).magnetic_field for data in fields]
        noise = 3e-6  # of the magnetometer, per axis at 100 Hz
        found = np.array([[b.x, b.y, b.z] for b in read])
        assert np.abs(found - expected).max() < 5.0 * noise
        return
    session = bytes_of_session(RealisticImuArguments(**given), sent)
    count = len(session.sent["/imu/data"])
    assert count > 0.4 * len(motion)
    ros.until(lambda: len(came) >= count and len(fields) >= count)
    assert came == session.sent["/imu/data"]
    assert fields == session.sent["/imu/mag"]


def test_where_the_imu_is_can_be_said_without_tf(ros, motion):
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
    came = ros.listen("/imu/data", Imu)
    ros.publish(ros.publisher("/imu", Odometry), driven(motion))
    ros.until(lambda: len(came) >= len(motion) - 1)
    _, rate, force = imu_truth(motion.mounted(arm))[:3]
    # Its x is the robot's y.
    for vectors in (rate, force):
        vectors[:, :2] = np.column_stack([vectors[:, 1], -vectors[:, 0]])
    np.testing.assert_allclose(signals(came), np.hstack([rate, force])[1:], atol=1e-8)
    assert deserialize_message(came[0], Imu).header.frame_id == "chip"


def test_tf_says_where_the_imu_is_where_it_is_installed(ros, motion, monkeypatch):
    node = ros.start(RealisticImuNode, specification="ideal", use_tf=True, frame_id="chip")
    came, publisher = ros.listen("/imu/data", Imu), ros.publisher("/imu", Imu)
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
    ros.until(lambda: len(came) >= len(motion))
    _, rate, force = imu_truth(motion.mounted((0.3, 0.0, 0.0)))[:3]
    # The angular acceleration is a difference of two rates, of which the first has none before it.
    np.testing.assert_allclose(signals(came)[1:], np.hstack([rate, force])[1:], atol=1e-8)
    assert not node.failure


def test_without_tf2_it_is_said_what_to_say_instead(ros, motion):
    node = ros.start(RealisticImuNode, use_tf=True, frame_id="chip")
    ros.publish(ros.publisher("/imu", Imu), ideal(motion)[:3])
    ros.until(lambda: node.ended)
    assert "use_tf needs tf2_ros, which is not installed here; say where the IMU is by xyz:=" in (
        node.failure
    )


def test_parameters_are_declared_with_types_ranges_and_meanings(ros):
    node = ros.start(RealisticImuNode)
    names = [key.name for key in keys_of(RealisticImuArguments)]
    types = {"str": Parameter.Type.STRING, "int": Parameter.Type.INTEGER}
    types.update({"float": Parameter.Type.DOUBLE, "bool": Parameter.Type.BOOL})
    for key, described in zip(keys_of(RealisticImuArguments), node.describe_parameters(names)):
        assert described.type == types[key.type].value, key.name
        assert described.description == key.metadata["about"] and described.read_only
        assert node.get_parameter(key.name).value == key.default
    (seed, rate, kind, qos) = node.describe_parameters(["seed", "rate", "input_type", "qos"])
    assert (seed.integer_range[0].from_value, rate.floating_point_range[0].from_value) == (0, 0.0)
    assert kind.additional_constraints == "imu or gazebo_ros_imu or odometry"
    assert qos.additional_constraints == "sensor_data or reliable"
    (refused,) = node.set_parameters([Parameter("seed", value=2)])
    assert not refused.successful


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"specification": "bno"}, "bno: there is no such file, nor an IMU of that name"),
        ({"input_type": "pose"}, "input_type is 'pose', but it must be imu or gazebo_ros_imu or"),
        ({"magnetometer": True}, "has a magnetometer, as bno055_magnetometer; bno055 has none"),
        ({"magnetometer": "yes"}, "magnetometer is 'yes', but it must be false or true"),
        ({"drop_repeated": "often"}, "drop_repeated is often, expected true or false"),
        ({"seed": -1}, "seed is -1, but it must be at least 0"),
        ({"seed": 1.5}, "seed is 1.5, but it must be a whole number"),
        ({"rate": "fast"}, "rate is 'fast', but it must be a finite number"),
        ({"rate": float("nan")}, "rate is nan, but it must be a finite number"),
        ({"standstill": -2.0}, "standstill is -2.0, but it must not be negative"),
        ({"stops": "found", "standstill": 10.0}, "stops is found, but an IMU beside a simulator"),
        ({"xyz": "1 2"}, "xyz is '1 2', expected three numbers"),
        ({"xyz": "1 2 3", "use_tf": True}, "use_tf is true, and xyz or rpy are not zero"),
        ({"qos": "best"}, "qos is 'best', but it must be sensor_data or reliable"),
        ({"input": "/imu/data"}, "input:=/imu/data is also what it publishes on"),
        ({"input": "imu-ideal"}, "input is 'imu-ideal', expected the name of a topic"),
        ({"input": "/imu/0"}, "'/imu/0': failed to resolve name: topic name token"),
        ({"output": ""}, "output is '', expected the name of a topic"),
    ],
)  # fmt: skip
def test_wrong_parameters_are_refused_in_a_sentence(ros, given, words):
    with pytest.raises(ConfigurationError) as refused:
        ros.start(RealisticImuNode, **given)
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


def test_whole_numbers_do_for_numbers_and_truth_values_for_texts(ros):
    node = ros.start(RealisticImuNode, rate=50, drop_repeated=True)
    assert node.get_parameter("rate").value == 50.0
    assert node.get_parameter("drop_repeated").value == "true"


def test_a_parameter_that_does_not_exist_is_said(ros):
    node = ros.start(RealisticImuNode, specificaton="bno055")
    assert node.warned == ["there is no parameter specificaton; did you mean specification?"]


def test_namespace_and_remapping_lead_to_other_topics(ros, motion):
    remapped = ["-r", "imu/real:=imu/chip"]
    ros.start(RealisticImuNode, "robot1", remapped, input="imu/ideal", output="imu/real")
    came = ros.listen("/robot1/imu/chip", Imu)
    ros.publish(ros.publisher("/robot1/imu/ideal", Imu), ideal(motion)[:60])
    ros.until(lambda: len(came) >= 60)


def test_messages_that_cannot_be_used_are_left_out_and_counted(ros, motion):
    node = ros.start(RealisticImuNode)
    came, messages = ros.listen("/imu/data", Imu), ideal(motion)
    for number in (100, 101, 102):
        messages[number].angular_velocity.z = float("nan")
    messages[200].orientation = quaternion([0, 0, 0, 0])
    ros.publish(ros.publisher("/imu", Imu), messages)
    ros.until(lambda: len(came) >= len(messages) - 4)
    ros.spin(0.3)
    assert len(came) == len(messages) - 4
    assert np.isfinite(signals(came)).all()
    node.session.close()
    assert "/imu: messages left out that hold values that are no numbers: 3" in node.warned
    assert any("lack an orientation, rate or acceleration" in text for text in node.warned)
    assert not node.failure


def test_when_time_jumps_back_the_imu_begins_anew(ros, motion):
    node = ros.start(RealisticImuNode)
    came, messages = ros.listen("/imu/data", Imu), ideal(motion)
    ros.publish(ros.publisher("/imu", Imu), messages[200:300] + messages[:100])
    ros.until(lambda: len(came) >= 200)
    node.session.close()
    (said,) = [text for text in node.warned if "jumped back" in text]
    assert "the IMU began anew there, with other random numbers" in said


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (Imu, ".* publishes on /imu, beside .*: only one node may"),
        (Odometry, ".* publishes nav_msgs/msg/Odometry on /imu, expected sensor_msgs/msg/Imu"),
    ],
)
def test_another_publisher_or_type_ends_the_node(ros, other, words):
    node = ros.start(RealisticImuNode)
    ros.publisher("/imu", Imu)
    # A participant has one type for each topic, so this is another one.
    context = rclpy.Context()
    rclpy.init(args=[], context=context, domain_id=DOMAIN)
    second = rclpy.create_node("second", context=context, enable_rosout=False)
    second.create_publisher(other, "/imu", RELIABLE)
    ros.until(lambda: node.ended)
    second.destroy_node()
    context.shutdown()
    assert re.search(words, node.failure)


@pytest.mark.parametrize("qos", ["reliable", "sensor_data"])
def test_who_has_another_quality_of_service_is_said(ros, qos):
    node = ros.start(RealisticImuNode, qos=qos)
    if qos == "reliable":
        ros.peer.create_publisher(Imu, "/imu", BEST_EFFORT)
    else:
        ros.peer.create_subscription(Imu, "/imu/data", print, RELIABLE)
    way = "publishes on /imu" if qos == "reliable" else "subscribes to /imu/data"
    ros.until(lambda: node.warned)
    assert node.warned[0].startswith(f"/simulator {way} with another quality of service, so that")
    assert "Best effort publisher and reliable subscription" in node.warned[0]
    assert node.warned[0].endswith(f"qos:= is {qos} here")


def test_simulated_time_says_how_far_it_is_behind(ros, motion):
    node = ros.start(RealisticImuNode, use_sim_time=True)
    assert node.simulated_time() is None
    clock, publisher = ros.publisher("/clock", Clock), ros.publisher("/imu", Imu)
    came, last = ros.listen("/imu/data", Imu), stamps_of(motion)[99]
    ros.publish(publisher, ideal(motion)[:100])
    ros.until(lambda: len(came) >= 100)
    seconds, nanoseconds = divmod(last + 5 * 10**9, 10**9)
    now = Clock()
    now.clock.sec, now.clock.nanosec = seconds, nanoseconds

    def told():
        clock.publish(now)  # again, since who listens to a clock is content with the next one
        return node.simulated_time() == last + 5 * 10**9

    ros.until(told)
    node.session._reported_at = time.monotonic() - 100.0
    ros.until(lambda: node.warned)
    assert "/imu/data is 5.0 s behind the simulation" in node.warned[0]


def test_diagnostics_say_how_it_is(ros, motion):
    ros.start(RealisticImuNode, "robot1", input="/imu", output="/imu/data")
    told = ros.listen("/diagnostics", DiagnosticArray, raw=False)
    ros.until(lambda: told)
    (status,) = told[-1].status
    assert (status.name, status.level) == ("/robot1/realistic_imu", DiagnosticStatus.WARN)
    assert status.message == "no message on /imu yet"
    messages = ideal(motion)
    ros.publish(ros.publisher("/imu", Imu), messages)
    ros.until(lambda: counted(told)["messages taken"] == str(len(messages)))
    assert counted(told)["messages left out"] == counted(told)["gaps"] == "0"
    assert abs(float(counted(told)["yaw error [deg]"])) < 10.0
    assert told[-1].header.stamp.sec > 0


def counted(told):
    return {one.key: one.value for one in told[-1].status[0].values}


def test_two_nodes_in_one_process(ros, motion):
    ros.start(RealisticImuNode, output="/first/data", seed=1)
    ros.start(RealisticImuNode, input="/first/data", output="/second/data", specification="ideal")
    first, second = ros.listen("/first/data", Imu), ros.listen("/second/data", Imu)
    ros.publish(ros.publisher("/imu", Imu), ideal(motion))
    ros.until(lambda: len(second) >= len(motion))
    np.testing.assert_array_equal(signals(second), signals(first))


@pytest.mark.parametrize("qos", ["reliable", "sensor_data"])
def test_a_program_answers_200_messages_a_second(ros, program, qos, capsys):
    # Topics of its own: a program that was killed is known for some seconds more.
    topics = {"input": f"/{qos}/imu", "output": f"/{qos}/data", "qos": qos}
    given = [word for name, value in topics.items() for word in ("-p", f"{name}:={value}")]
    running = program("realistic_imu.py", "--ros-args", *given)
    peer_qos = RELIABLE if qos == "reliable" else BEST_EFFORT
    came = ros.listen(topics["output"], Imu, peer_qos)
    publisher = ros.publisher(topics["input"], Imu, peer_qos)
    count, rate = 1000, 200.0
    truth = ([0, 0, 0, 1], [0, 0, 0.1], [0, 0, 9.8])
    messages = [imu(10**9 + number * 5_000_000, *truth) for number in range(count)]
    begun = time.monotonic()
    for number, message in enumerate(messages):
        publisher.publish(message)
        while time.monotonic() < begun + number / rate:
            ros.executor.spin_once(timeout_sec=0.001)
    if qos == "reliable":
        ros.until(lambda: len(came) >= count)
    ros.spin(1.0)
    with capsys.disabled():
        print(f"\n{qos}: {len(came)} of {count} at {rate:g} Hz")
    if qos == "reliable":
        assert len(came) == count
    assert 0 < len(came) <= count  # best effort promises no more
    running.interrupt()
    code, output = running.wait()
    assert code == 0, output
    assert "Traceback" not in output and "FATAL" not in output


@pytest.mark.parametrize(
    ("arguments", "environment", "words"),
    [
        (["-p", "specification:=bno"], {}, "bno: there is no such file, nor an IMU of that name"),
        (["-p", "rate:=fast"], {}, "rate is 'fast', but it must be a finite number"),
        (["-p", "seed=3"], {}, "seed=3"),
        ([], {"RMW_IMPLEMENTATION": "rmw_zenoh_cpp"}, "RMW_IMPLEMENTATION is rmw_zenoh_cpp, which"),
    ],
)
def test_a_program_that_cannot_work_says_so_in_one_line(program, arguments, environment, words):
    code, output = program("realistic_imu.py", "--ros-args", *arguments, **environment).wait()
    assert code == 1
    (line,) = [line for line in output.splitlines() if "[FATAL]" in line]
    assert words in line
    assert "Traceback" not in output


def test_help_says_what_it_is(program):
    code, output = program("realistic_imu.py", "--help").wait()
    assert code == 0
    assert output.startswith("usage: realistic_imu.py --ros-args -p PARAMETER:=VALUE")
    assert "Gives the ideal IMU that any simulator publishes the errors of a real one." in output


def test_sigterm_ends_a_program_cleanly(ros, program):
    running = program("realistic_imu.py", "--ros-args", "-p", "output:=/ended/data")
    ros.until(lambda: ros.peer.count_publishers("/ended/data"))
    running.interrupt(signal.SIGTERM)
    code, output = running.wait()
    assert (code, output) == (0, "")
