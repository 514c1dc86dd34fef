"""The node imu_corrector in ROS 2, compared with its session, which does not depend on ROS."""

import numpy as np
from rclpy.serialization import deserialize_message
from ros2_peers import RELIABLE
from sensor_msgs.msg import Imu, MagneticField, Temperature

# Imported after ros2_peers, which adds the folders of these modules to the search path.
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


def test_published_corrected_messages_match_bytes_of_session(ros, tmp_path):
    path = tmp_path / "correction.yaml"
    path.write_text(imu_correction_text(CORRECTION))
    ros.start(ImuCorrector, correction=str(path))
    received = {
        "imu/data": ros.listen("imu/data", Imu),
        "imu/mag": ros.listen("imu/mag", MagneticField),
    }
    arguments = CorrectorArguments(correction=str(path))
    publishers = {topic: ros.publisher(topic, kind) for topic, (kind, _, _) in TOPICS.items()}
    temperatures, (probe,) = messages("imu/temperature", 1), messages("imu/data_raw", 1)
    ros.publish(publishers["imu/temperature"], temperatures)
    sent = [("imu/temperature", temperatures[0])]
    (corrected,) = shell_of(LiveCorrector, arguments, [*sent, ("imu/data_raw", probe)]).sent[
        "imu/data"
    ]

    def has_temperature():
        ros.publish(publishers["imu/data_raw"], [probe])
        probes.append(probe)
        ros.until(lambda: len(received["imu/data"]) >= len(probes), "corrected reading")
        return received["imu/data"][-1] == corrected

    # Messages on different topics may arrive in a different order.
    probes = []
    ros.until(has_temperature, "reading with the temperature")
    received["imu/data"].clear()
    for topic in ("imu/data_raw", "imu/mag_raw"):
        raw = messages(topic, 200)
        ros.publish(publishers[topic], raw)
        sent += [(topic, data) for data in raw]
    expected = shell_of(LiveCorrector, arguments, sent).sent
    ros.until(lambda: all(len(data) >= 200 for data in received.values()), "last reading")
    assert received == expected


def test_rate_is_zeroed_at_standstill_despite_second_publisher(ros):
    node = ros.start(ImuCorrector, standstill=1.0)
    ros.peer.create_publisher(Imu, "imu/data_raw", RELIABLE)
    received = ros.listen("imu/data", Imu)
    publisher = ros.publisher("imu/data_raw", Imu)
    rows = np.tile([0, 0, 0, 1, 0.1, 0, -0.2, 0, 0, 9.8], (150, 1))
    packed = Packer(IMU, ["imu"], None, True).pack(
        np.arange(150) * 10_000_000, dict(zip(SIGNALS, rows.T))
    )
    ros.publish(publisher, separate(packed))
    ros.until(lambda: len(received) >= 150, "last reading")
    first, last = (deserialize_message(received[k], Imu).angular_velocity for k in (0, -1))
    assert (first.x, first.z) == (0.1, -0.2)
    np.testing.assert_allclose([last.x, last.z], 0.0, atol=1e-15)
    ros.until(lambda: ros.peer.count_publishers("imu/data_raw") == 2, "second publisher")
    ros.until_looked(node)
    assert not node.failure and not node.warned
    node.session.close()
    assert not node.warned


def test_corrector_without_correction_file_reports_missing_argument(program):
    code, output = program("imu_corrector.py").wait()
    assert code == 1
    (line,) = [line for line in output.splitlines() if "[FATAL]" in line]
    assert "imu_corrector: correction is empty" in line
