"""Base class of ROS 2 nodes, tested with realistic_imu: parameters, warnings and failures."""

import re
import signal
import time

import numpy as np
import pytest
import rclpy
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from nav_msgs.msg import Odometry
from rclpy.parameter import Parameter
from ros2_peers import BEST_EFFORT, DOMAIN, RELIABLE
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Imu

# Imported after ros2_peers, which adds the folders of these modules to the search path.
from ideal_recordings import stamps_of  # isort: skip
from realistic_imu_messages import ideal, imu, quaternion, signals  # isort: skip
import imu_simulation_framework as isf
from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.core.settings import keys_of
from imu_simulation_framework.realistic_imu.live import MAX_UNUSED_MESSAGES, RealisticImuArguments
from imu_simulation_framework.ros2.node import RealisticImuNode


@pytest.fixture(scope="module")
def motion():
    return isf.rounds(0.5, radius=2.0, speed=2.0)


def test_parameters_are_declared_with_types_ranges_and_descriptions(ros):
    node = ros.start(RealisticImuNode)
    names = [key.name for key in keys_of(RealisticImuArguments)]
    types = {"str": Parameter.Type.STRING, "int": Parameter.Type.INTEGER}
    types.update({"float": Parameter.Type.DOUBLE, "bool": Parameter.Type.BOOL})
    for key, described in zip(keys_of(RealisticImuArguments), node.describe_parameters(names)):
        assert described.type == types[key.type].value, key.name
        assert described.description.startswith(key.metadata["about"]) and described.read_only
        assert node.get_parameter(key.name).value == key.default
    (seed, rate, kind, qos) = node.describe_parameters(["seed", "rate", "input_type", "qos"])
    assert (seed.integer_range[0].from_value, rate.floating_point_range[0].from_value) == (0, 0.0)
    assert kind.additional_constraints == "imu or gazebo_ros_imu or odometry"
    assert qos.additional_constraints == "sensor_data or reliable"
    (refused,) = node.set_parameters([Parameter("seed", value=2)])
    assert not refused.successful


WRONG_PARAMETERS = [
    ({"specification": "bno"}, "bno: neither a file nor the name of an IMU"),
    ({"input_type": "pose"}, "input_type is 'pose', expected"),
    (
        {"specification": "bno055", "magnetometer": True},
        "has a magnetometer, such as bno055_magnetometer; bno055 has none",
    ),
    ({"magnetometer": "yes"}, "magnetometer is 'yes', expected"),
    ({"drop_repeated": "often"}, "drop_repeated is often, expected true or false"),
    ({"seed": -1}, "seed is -1, expected"),
    ({"seed": 1.5}, "seed is 1.5, expected"),
    ({"rate": "fast"}, "rate is 'fast', expected"),
    ({"rate": float("nan")}, "rate is nan, expected"),
    ({"standstill": -2.0}, "standstill is -2.0, expected"),
    ({"stops": "found", "standstill": 10.0}, "stops is found, expected none or detected"),
    ({"xyz": "1 2"}, "xyz is '1 2', expected three numbers"),
    ({"xyz": "1 2 3", "use_tf": True}, "use_tf is true, but xyz or rpy is not zero"),
    ({"qos": "best"}, "qos is 'best', expected"),
    ({"input": "/imu/data"}, "input:=/imu/data is also an output"),
    ({"input": "imu-ideal"}, "input is 'imu-ideal', expected a topic name"),
    ({"input": "/imu/0"}, "'/imu/0': failed to resolve name: topic name token"),
    ({"output": ""}, "output is '', expected a topic name"),
]  # fmt: skip


def test_invalid_ros2_parameters_are_rejected(ros):
    for parameters, words in WRONG_PARAMETERS:
        with pytest.raises(ConfigurationError) as error:
            ros.start(RealisticImuNode, **parameters)
        assert words in str(error.value)
        assert "\n" not in str(error.value)


def test_parameters_accept_integers_for_floats_and_text_for_booleans(ros):
    node = ros.start(RealisticImuNode, rate=50, drop_repeated=True)
    assert node.get_parameter("rate").value == 50.0
    assert node.get_parameter("drop_repeated").value == "true"


def test_unknown_ros2_parameter_is_reported(ros):
    node = ros.start(RealisticImuNode, specificaton="bno055")
    assert node.warned == ["there is no parameter specificaton; did you mean specification?"]


def test_invalid_imu_messages_are_ignored_and_counted(ros, motion):
    node = ros.start(RealisticImuNode)
    received, messages = ros.listen("/imu/data", Imu), ideal(motion)
    for number in (100, 101, 102):
        messages[number].angular_velocity.z = float("nan")
    messages[200].orientation = quaternion([0, 0, 0, 0])
    ros.publish(ros.publisher("/imu", Imu), messages)
    ros.until(lambda: len(received) >= len(messages) - 4, "last reading")
    ros.until_looked(node)
    assert len(received) == len(messages) - 4
    assert np.isfinite(signals(received)).all()
    node.session.close()
    assert "/imu: messages ignored because a value is NaN or infinite: 3" in node.warned
    lacking = "lack an orientation, angular velocity or acceleration"
    assert any(lacking in text for text in node.warned)
    assert not node.failure


def test_input_without_usable_message_is_reported(ros):
    node = ros.start(RealisticImuNode, input_type="odometry")
    message = Odometry(child_frame_id="robot")
    message.pose.pose.position.x = float("nan")
    ros.publish(ros.publisher("/imu", Odometry), MAX_UNUSED_MESSAGES * [message])
    pattern = re.compile(r"/imu: none of \d+ messages are usable")
    ros.until(lambda: any(map(pattern.search, node.warned)), "warning")


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (Imu, "/imu: .* both publish, expected only one publisher"),
        (Odometry, ".* publishes nav_msgs/msg/Odometry on /imu, expected sensor_msgs/msg/Imu"),
    ],
)
def test_second_publisher_or_wrong_message_type_terminates_ros2_node(ros, other, words):
    node = ros.start(RealisticImuNode)
    ros.publisher("/imu", Imu)
    # A participant has only one type per topic, so a second participant is required.
    context = rclpy.Context()
    rclpy.init(args=[], context=context, domain_id=DOMAIN)
    second = rclpy.create_node("second", context=context, enable_rosout=False)
    second.create_publisher(other, "/imu", RELIABLE)
    ros.until(lambda: node.ended, "end of the node")
    second.destroy_node()
    context.shutdown()
    assert re.search(words, node.failure)


@pytest.mark.parametrize("qos", ["reliable", "sensor_data"])
def test_incompatible_qos_is_reported(ros, qos):
    node = ros.start(RealisticImuNode, qos=qos)
    if qos == "reliable":
        ros.peer.create_publisher(Imu, "/imu", BEST_EFFORT)
    else:
        ros.peer.create_subscription(Imu, "/imu/data", print, RELIABLE)
    role = "publishes on /imu" if qos == "reliable" else "subscribes to /imu/data"
    ros.until(lambda: node.warned, "warning")
    assert node.warned[0].startswith(f"/simulator {role} with an incompatible quality of service")
    assert "Best effort publisher and reliable subscription" in node.warned[0]
    assert node.warned[0].endswith(f"qos:= of this node is {qos}")


def test_lag_behind_simulated_time_is_reported(ros, motion):
    node = ros.start(RealisticImuNode, use_sim_time=True)
    assert node.simulated_time() is None
    clock, publisher = ros.publisher("/clock", Clock), ros.publisher("/imu", Imu)
    received, last = ros.listen("/imu/data", Imu), stamps_of(motion)[99]
    ros.publish(publisher, ideal(motion)[:100])
    ros.until(lambda: len(received) >= 100, "last reading")
    seconds, nanoseconds = divmod(last + 5 * 10**9, 10**9)
    now = Clock()
    now.clock.sec, now.clock.nanosec = seconds, nanoseconds

    def has_time():
        clock.publish(now)  # again, since a subscriber to a clock waits for the next message
        return node.simulated_time() == last + 5 * 10**9

    ros.until(has_time, "simulated time")
    node.session._reported_at = time.monotonic() - 100.0
    ros.until(lambda: node.warned, "warning")
    assert "/imu/data is 5.0 s behind the simulation" in node.warned[0]


def test_ros2_diagnostics_report_messages_and_yaw_error(ros, motion):
    ros.start(RealisticImuNode, "robot1", input="/imu", output="/imu/data")
    diagnosed = ros.listen("/diagnostics", DiagnosticArray, raw=False)
    ros.until(lambda: diagnosed, "diagnostics")
    (status,) = diagnosed[-1].status
    assert (status.name, status.level) == ("/robot1/realistic_imu", DiagnosticStatus.WARN)
    assert status.message == "no message on /imu yet"
    messages = ideal(motion)
    ros.publish(ros.publisher("/imu", Imu), messages)
    ros.until(
        lambda: read_values(diagnosed)["messages taken"] == str(len(messages)), "last message"
    )
    assert read_values(diagnosed)["messages left out"] == read_values(diagnosed)["gaps"] == "0"
    assert abs(float(read_values(diagnosed)["yaw error [deg]"])) < 10.0
    assert diagnosed[-1].header.stamp.sec > 0


def read_values(diagnosed):
    return {value.key: value.value for value in diagnosed[-1].status[0].values}


@pytest.mark.parametrize(
    ("qos", "peer_qos", "end"),
    [("reliable", RELIABLE, signal.SIGINT), ("sensor_data", BEST_EFFORT, signal.SIGTERM)],
)
def test_realistic_imu_responds_to_messages_and_exits_cleanly(ros, program, qos, peer_qos, end):
    # The topics are separate, because a killed program remains registered for several seconds.
    topics = {"input": f"/{qos}/imu", "output": f"/{qos}/data", "qos": qos}
    parameters = [word for name, value in topics.items() for word in ("-p", f"{name}:={value}")]
    running = program("realistic_imu.py", "--ros-args", *parameters)
    answers = ros.listen(topics["output"], Imu, peer_qos)
    publisher = ros.publisher(topics["input"], Imu, peer_qos)
    truth = ([0, 0, 0, 1], [0, 0, 0.1], [0, 0, 9.8])
    stamps = iter(range(10**9, 10**12, 5_000_000))

    def is_answered():
        count = len(answers)
        publisher.publish(imu(next(stamps), *truth))
        ros.executor.spin_once(timeout_sec=0.05)
        return len(answers) > count

    # Messages are lost until discovery is complete, and best effort does not guarantee delivery.
    ros.until(is_answered, "first answer")
    if qos == "reliable":
        ros.until_quiet(answers)
        for _ in range(100):
            count = len(answers)
            publisher.publish(imu(next(stamps), *truth))
            ros.until(lambda count=count: len(answers) > count, "answer")
    else:
        ros.until(lambda: is_answered() and len(answers) > 100, "hundred answers")
    running.send_signal(end)
    code, output = running.wait()
    assert code == 0, output
    assert "Traceback" not in output and "FATAL" not in output


@pytest.mark.parametrize(
    ("arguments", "environment", "words"),
    [
        (["-p", "specification:=bno"], {}, "bno: neither a file nor the name of an IMU"),
        ([], {"RMW_IMPLEMENTATION": "rmw_zenoh_cpp"}, "RMW_IMPLEMENTATION is rmw_zenoh_cpp, which"),
    ],
)
def test_ros2_program_reports_failure_on_one_line(program, arguments, environment, words):
    code, output = program("realistic_imu.py", "--ros-args", *arguments, **environment).wait()
    assert code == 1
    (line,) = [line for line in output.splitlines() if "[FATAL]" in line]
    assert words in line
    assert "Traceback" not in output


def test_parameter_in_syntax_of_ros1_is_refused_by_ros2_program(program):
    code, output = program("realistic_imu.py", "specification:=bno055").wait()
    assert code == 2
    (line,) = output.splitlines()
    assert line.startswith("realistic_imu.py: specification:=bno055 ")
    assert "--ros-args -p specification:=bno055" in line


def test_help_of_ros2_program_contains_description(program):
    code, output = program("realistic_imu.py", "--help").wait()
    assert code == 0
    assert output.startswith("usage: realistic_imu.py --ros-args -p PARAMETER:=VALUE")
    assert "Add the errors of a real IMU to the ideal IMU of any simulator." in output
