"""Samples and topics of a recording in any format, which is found out if it is not said."""

from __future__ import annotations

from typing import Iterator

import numpy as np

from imu_simulation_framework.core.errors import RecordingError
from imu_simulation_framework.recordings.cleaning import Samples
from imu_simulation_framework.recordings.file_access import (
    FORMATS,
    detect_format,
    is_ros2_bag,
    read_start,
    text_blocks,
)
from imu_simulation_framework.recordings.formats.bag import bag_topics, read_bag
from imu_simulation_framework.recordings.formats.ros2_bag import read_ros2_bag, ros2_bag_topics
from imu_simulation_framework.recordings.formats.tables import (
    read_plain_csv,
    read_rostopic_csv,
    read_tum,
)
from imu_simulation_framework.recordings.text_table import parse_table, table_blocks

_TEXT_FORMATS = ("rostopic_csv", "csv", "tum")


def read_samples(path, topic, format, columns, message_types, purpose, timed=True) -> Samples:
    """Read the samples of a recording as they were recorded; see :func:`sample_blocks`."""
    (samples,) = sample_blocks(
        path, topic, format, columns, message_types, purpose, timed, rows_at_once=None
    )
    return samples


def sample_blocks(
    path, topic, format, columns, message_types, purpose, timed=True, *, rows_at_once, progress=None
) -> Iterator[Samples]:
    """Yield the samples of a recording as they were recorded, in parts.

    Parameters
    ----------
    path : path-like
    topic : str
        In a bag; empty for the only one that can be used.
    format : str
        One of :data:`.FORMATS`, or ``auto``.
    columns : mapping of str to str, or None
        Of a CSV: quantity -> ``"column [unit]"``.
    message_types : sequence of MessageType
    purpose : str
        As for :func:`.read_plain_csv`.
    timed : bool
        Whether times are read.
    rows_at_once : int or None
        Of a part of a text file; None for one part. A bag is always one.
    progress : callable, optional
        Called with the number of bytes of text of each block that is read.

    Raises
    ------
    RecordingError
        The recording cannot be read.
    """
    if format not in FORMATS + ("auto",):
        raise RecordingError(
            f"{path}: unknown format {format!r}, expected auto or one of {', '.join(FORMATS)}"
        )
    if format == "auto":
        format = "bag" if is_ros2_bag(path) else detect_format(path, read_start(path))
        if columns and format in _TEXT_FORMATS:
            # Who maps its columns means them, whatever the file looks like.
            format = "csv"
    if columns and format != "csv":
        raise RecordingError(
            f"{path}: a column map is of use only for format csv, but this is read as {format}; "
            "leave the map out"
        )
    if format == "bag":
        yield read_any_bag(path, topic, message_types)
        return
    if format == "tum":
        yield read_tum(path, lambda: text_blocks(path, progress))
        return
    if rows_at_once is None:
        tables = iter([parse_table(path, lambda: text_blocks(path, progress))])
    else:
        tables = table_blocks(path, text_blocks(path, progress), rows_at_once=rows_at_once)
    if format == "rostopic_csv":
        yield from read_rostopic_csv(path, tables, message_types)
    else:
        yield from read_plain_csv(path, tables, columns, purpose, timed)


def read_any_bag(path, topic, message_types) -> Samples:
    """Read a topic of a bag of ROS 1 or ROS 2; see :func:`sample_blocks`."""
    if is_ros2_bag(path):
        samples = read_ros2_bag(path, topic, message_types)
    else:
        read_start(path)
        samples = read_bag(path, topic, message_types)
    for values in samples.columns.values():
        # A damaged one may be of the kind that makes every calculation warn (signalling).
        values[np.isnan(values)] = np.nan
    return samples


# Independent of the IMU in question, then whatever else; what fuses that IMU comes last.
_INDEPENDENT = ("ground_truth", "groundtruth", "vicon", "mocap", "rtk", "wheel", "odom")
_FUSED = ("filtered", "fused", "ekf", "ukf", "amcl", "combined", "estimate", "navsat")


def recording_format(path) -> str:
    """Return ``bag``, ``rostopic_csv``, ``csv`` or ``tum``; raises RecordingError."""
    return "bag" if is_ros2_bag(path) else detect_format(path, read_start(path))


def topics_of_bag(path) -> dict:
    """Return topic -> (type as ROS 1 writes it, number of messages)."""
    return ros2_bag_topics(path) if is_ros2_bag(path) else bag_topics(path)


def likely_topics(topics, message_types) -> list[str]:
    """Return the topics of some types that have messages, the likeliest to be meant first.

    ``message_types`` are in order of preference.
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
