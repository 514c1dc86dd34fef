"""imu_corrector under ROS 2: its bytes are those of the session, which unit tests hold to truth."""

import numpy as np
from rclpy.serialization import deserialize_message
from ros2_peers import RELIABLE
from sensor_msgs.msg import Imu, MagneticField, Temperature

# Behind ros2_peers, which makes the tests' own modules importable.
from recording_shell import shell_of  # isort: skip
from imu_simulation_framework.realistic_imu.node_sessions import CorrectorArguments, LiveCorrector
from imu_simulation_framework.recordings.messages import (
    FIELD,
    IMU,
    MAGNETIC_FIELD,
    SIGNALS,
    TEMPERATURE,
    Packer,
    separate,
)
from imu_simulation_framework.ros2.node import ImuCorrector
from imu_simulation_framework.sensors.correction import (
    ImuCorrection,
    TriadCorrection,
    imu_correction_text,
)

TRIAD = TriadCorrection((0.1, 0.2, 0.3), temperature_bias=((0.01, 0.0, 0.0),))
CORRECTION = ImuCorrection("x", TRIAD, TriadCorrection((1.0, 2.0, 3.0)), TRIAD)
TOPICS = {
    "imu/data_raw": (Imu, IMU, SIGNALS),
    "imu/mag_raw": (MagneticField, MAGNETIC_FIELD, FIELD),
    "imu/temperature": (Temperature, TEMPERATURE, ["temperature"]),
}


def messages(topic, count):
    _, kind, fields = TOPICS[topic]
    rows = np.random.default_rng(5).normal(size=(count, len(fields)))
    stamps = np.arange(count) * 10_000_000
    return separate(Packer(kind, ["imu"], None, True).pack(stamps, dict(zip(fields, rows.T))))


def test_all_of_its_messages_are_those_of_the_session(ros, tmp_path):
    path = tmp_path / "correction.yaml"
    path.write_text(imu_correction_text(CORRECTION))
    ros.start(ImuCorrector, correction=str(path))
    came = {
        "imu/data": ros.listen("imu/data", Imu),
        "imu/mag": ros.listen("imu/mag", MagneticField),
    }
    publishers = {topic: ros.publisher(topic, kind) for topic, (kind, _, _) in TOPICS.items()}
    temperatures = messages("imu/temperature", 1)
    ros.publish(publishers["imu/temperature"], temperatures)
    ros.spin(0.5)
    sent = [("imu/temperature", temperatures[0])]
    for topic in ("imu/data_raw", "imu/mag_raw"):
        of_topic = messages(topic, 200)
        ros.publish(publishers[topic], of_topic)
        sent += [(topic, data) for data in of_topic]
    expected = shell_of(LiveCorrector, CorrectorArguments(correction=str(path)), sent).sent
    ros.until(lambda: all(len(came[topic]) >= 200 for topic in came))
    assert came == expected


def test_what_is_zeroed_is_told_and_several_may_publish(ros):
    node = ros.start(ImuCorrector, standstill=1.0)
    ros.peer.create_publisher(Imu, "imu/data_raw", RELIABLE)
    came = ros.listen("imu/data", Imu)
    publisher = ros.publisher("imu/data_raw", Imu)
    rows = np.tile([0, 0, 0, 1, 0.1, 0, -0.2, 0, 0, 9.8], (150, 1))
    packed = Packer(IMU, ["imu"], None, True).pack(
        np.arange(150) * 10_000_000, dict(zip(SIGNALS, rows.T))
    )
    for data in separate(packed):
        publisher.publish(data)
        ros.spin(0.002)
    ros.until(lambda: len(came) >= 150)
    first, last = (deserialize_message(came[place], Imu).angular_velocity for place in (0, -1))
    assert (first.x, first.z) == (0.1, -0.2)
    np.testing.assert_allclose([last.x, last.z], 0.0, atol=1e-15)
    ros.spin(0.5)
    assert not node.failure and not node.warned
    node.session.close()
    assert not node.warned


def test_a_program_without_a_correction_says_so(program):
    code, output = program("imu_corrector.py").wait()
    assert code == 1
    (line,) = [line for line in output.splitlines() if "[FATAL]" in line]
    assert "imu_corrector: correction names no file, expected what calibrate_imu.py" in line
