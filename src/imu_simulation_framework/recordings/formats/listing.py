"""What a recording holds, before anything is read from it."""

from __future__ import annotations

from imu_simulation_framework.recordings.file_access import (
    detect_format,
    is_ros2_bag,
    read_start,
)
from imu_simulation_framework.recordings.formats.bag import bag_topics
from imu_simulation_framework.recordings.formats.ros2_bag import ros2_bag_topics

# Independent of the IMU in question, then whatever else; what fuses that IMU comes last.
_INDEPENDENT = ("ground_truth", "groundtruth", "vicon", "mocap", "rtk", "wheel", "odom")
_FUSED = ("filtered", "fused", "ekf", "ukf", "amcl", "combined", "estimate", "navsat")


def recording_format(path) -> str:
    """Return ``bag``, ``rostopic_csv``, ``csv`` or ``tum``.

    Raises
    ------
    RecordingError
        It is not there, or none of these.
    """
    return "bag" if is_ros2_bag(path) else detect_format(path, read_start(path))


def topics_of_bag(path) -> dict:
    """Return topic -> (type as ROS 1 writes it, number of messages).

    Raises
    ------
    RecordingError
        The bag cannot be read.
    """
    return ros2_bag_topics(path) if is_ros2_bag(path) else bag_topics(path)


def likely_topics(topics, message_types) -> list[str]:
    """Return the topics of some types that have messages, the likeliest to be meant first.

    Parameters
    ----------
    topics : dict of str to (str, int)
    message_types : sequence of MessageType
        In order of preference.
    """
    kinds = [message_type.name for message_type in message_types]
    suitable = [name for name, (kind, count) in topics.items() if kind in kinds and count]

    def rank(name):
        words = name.lower()
        fused = any(word in words for word in _FUSED)
        independent = any(word in words for word in _INDEPENDENT)
        raw = "raw" in words
        return fused, raw, not independent, kinds.index(topics[name][0]), len(name), name

    return sorted(suitable, key=rank)
