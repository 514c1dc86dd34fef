"""Read formats that define their quantities: bags, CSV files of rostopic, and TUM files.

TUM is the format of the TUM RGB-D benchmark, with ``time x y z qx qy qz qw`` in each line.
"""

from __future__ import annotations

import re
from typing import Iterator

import numpy as np

from ...core.errors import NotRecordedError
from ...core.sentences import join_names
from ...core.stamps import seconds_from_nanoseconds
from .. import column_maps, file_access
from ..cleaning import Samples
from ..text_table import parse_table
from .bag import bag_blocks, bag_topics, read_bag
from .ros2_bag import MESSAGES_AT_ONCE, read_ros2_bag, ros2_bag_blocks, ros2_bag_topics


def read_any_bag(path, topic, message_types) -> Samples:
    """Read a topic of a ROS 1 or ROS 2 bag.

    Parameters
    ----------
    path : path-like
        The bag.
    topic : str
        Topic; empty for the only topic with one of the types.
    message_types : sequence of MessageType
        Types that can be read.

    Returns
    -------
    Samples
        Samples as recorded.

    Raises
    ------
    RecordingError
        The bag cannot be read, or has no such topic.
    """
    if file_access.is_ros2_bag(path):
        return _quiet_nan(read_ros2_bag(path, topic, message_types))
    file_access.read_start(path)
    return _quiet_nan(read_bag(path, topic, message_types))


def any_bag_blocks(path, topic, message_types) -> Iterator[Samples]:
    """Read a topic of a ROS 1 or ROS 2 bag in blocks.

    Parameters
    ----------
    path : path-like
        The bag.
    topic : str
        Topic; empty for the only topic with one of the types.
    message_types : sequence of MessageType
        Types that can be read.

    Returns
    -------
    iterator of Samples
        Samples of each block as recorded.

    Raises
    ------
    RecordingError
        The bag cannot be read, or has no such topic.
    """
    read_blocks = ros2_bag_blocks
    if not file_access.is_ros2_bag(path):
        file_access.read_start(path)
        read_blocks = bag_blocks
    return map(_quiet_nan, read_blocks(path, topic, message_types, MESSAGES_AT_ONCE))


def _quiet_nan(samples) -> Samples:
    """Replace each nan; a damaged number may be a signalling NaN, which causes warnings."""
    for values in samples.columns.values():
        values[np.isnan(values)] = np.nan
    return samples


# Topics with a word of _INDEPENDENT do not depend on the IMU and are preferred as reference.
# Topics with a word of _FUSED are estimates that use the IMU and are chosen last.
_INDEPENDENT = ("ground_truth", "groundtruth", "vicon", "mocap", "rtk", "wheel", "odom")
_FUSED = ("filtered", "fused", "ekf", "ukf", "amcl", "combined", "estimate", "navsat")


def topics_of_bag(path) -> dict:
    """Return the topics of a ROS 1 or ROS 2 bag.

    Parameters
    ----------
    path : path-like
        The bag.

    Returns
    -------
    dict of str to tuple of str and int
        Type in ROS 1 notation and number of messages, by topic.
    """
    return ros2_bag_topics(path) if file_access.is_ros2_bag(path) else bag_topics(path)


def likely_topics(topics, message_types) -> list[str]:
    """Return the topics with messages of the given types, most likely topic first.

    Parameters
    ----------
    topics : dict of str to tuple of (str, int)
        Topic -> type and number of messages.
    message_types : sequence of MessageType
        Types in order of preference.

    Returns
    -------
    list of str
        Names of topics.
    """
    type_names = [message_type.name for message_type in message_types]
    suitable = [name for name, (kind, count) in topics.items() if kind in type_names and count]

    def rank(name):
        lower_name = name.lower()
        is_fused = any(word in lower_name for word in _FUSED)
        independent = any(word in lower_name for word in _INDEPENDENT)
        raw = "raw" in lower_name
        return is_fused, raw, not independent, type_names.index(topics[name][0]), len(name), name

    return sorted(suitable, key=rank)


_ARRAY = re.compile(r"covariance\d+\Z")
_RECEIPT, _STAMP, _PREFIX = "%time", "field.header.stamp", "field."


def read_rostopic(path, table, message_types) -> Samples:
    """Read a CSV table of ``rostopic echo -p``; its columns determine the message type.

    Parameters
    ----------
    path : path-like
        The recording.
    table : TextTable
        Table of the CSV file.
    message_types : sequence of MessageType
        Possible types.

    Returns
    -------
    Samples
        Samples as recorded.

    Raises
    ------
    NotRecordedError
        The columns do not match any of these types.
    """
    present = set(table.cells.columns)
    for message_type in message_types:
        # Covariances are optional, since rostopic echo --noarr omits them.
        needed = {_PREFIX + name for name in message_type.names if not _ARRAY.search(name)}
        if present.issuperset({_RECEIPT, *needed}):
            break
    else:
        expected = " or ".join(message_type.name for message_type in message_types)
        raise NotRecordedError(
            f"{path}: the columns are {join_names(table.cells.columns)}, expected the columns of "
            f"{expected}"
        )
    columns: dict[str, np.ndarray] = {
        quantity: table.numbers(_PREFIX + name).astype(float)
        for quantity, name in message_type.quantities.items()
        if _PREFIX + name in present
    }
    # A missing cell turns the column into floats, with a resolution of a quarter microsecond.
    columns["receipt"] = seconds_from_nanoseconds(table.numbers(_RECEIPT)).astype(float)
    columns["stamp"] = np.full(len(table.lines), np.nan)
    if _STAMP in present:
        stamp = seconds_from_nanoseconds(table.numbers(_STAMP)).astype(float)
        columns["stamp"] = np.where(stamp == 0.0, np.nan, stamp)
    return _table_samples(path, "rostopic_csv", columns, table, message_type=message_type.name)


def _table_samples(path, format, columns, table, **more) -> Samples:
    return Samples(str(path), format, columns, table.lines, "line", **more)


_TUM_COLUMNS = ("time", "x", "y", "z", "qx", "qy", "qz", "qw")


def read_tum(path, text) -> Samples:
    """Read a trajectory in TUM format.

    Parameters
    ----------
    path : path-like
        The recording, for messages.
    text : str or callable
        Text of the table, as for :func:`.parse_table`.

    Returns
    -------
    Samples
        Samples as recorded.

    Raises
    ------
    RecordingError
        The table cannot be parsed, or its times cannot be seconds.
    """
    table = parse_table(path, text, names=_TUM_COLUMNS)
    columns = {name: table.numbers(name).astype(float) for name in _TUM_COLUMNS}
    columns["stamp"] = columns.pop("time")
    column_maps.refuse_other_unit(
        path, columns["stamp"], "format = csv and a column map with time = #1"
    )
    return _table_samples(path, "tum", columns, table)
