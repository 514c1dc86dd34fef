"""Write IMU recordings as a bag, in the CSV format of ``rostopic echo -p``, or as a table."""

import gzip
import io
from contextlib import ExitStack, contextmanager
from typing import Iterable

import numpy as np
from rosbags.rosbag1 import Writer
from rosbags.typesys import Stores, get_typestore

from ..core import topics
from ..core.angles import roll_pitch_yaw_from_quaternion
from ..core.tables import IMU_RECORD
from ..core.topics import IMU_FRAME
from ..core.whole_files import replace_file
from ..sensors.imu_models.base import ImuSamples
from .bundled_drives import FIRST_STAMP, IMU_FIELDS
from .messages import IMU, Packer, separate
from .written_formats import format_of

TOPIC = topics.absolute_topic(topics.IMU)


def write_imu_recording(path, blocks: Iterable[ImuSamples], covariances, format=""):
    """Write an IMU recording atomically.

    An existing file is replaced. In a bag and with ``rostopic_csv``, time zero is 1 January 2019,
    0:00 UTC.

    Parameters
    ----------
    path : path-like
        File to write.
    blocks : iterable of ImuSamples
        Successive blocks of samples, of which only one is in memory at a time.
    covariances : 3 tuples of 9 float
        Covariances in each message: orientation, angular velocity, specific force.
    format : str
        See :func:`.format_of`.

    Raises
    ------
    ConfigurationError
        The suffix of the file and the format contradict each other.
    ResultError
        The file cannot be written.
    """
    kind = format_of(path, format)
    write = {"bag": _write_bag, "rostopic_csv": _write_rostopic_csv, "csv": _write_table}[kind]
    with replace_file(path) as temporary_path:
        write(temporary_path, blocks, covariances, packed=str(path).lower().endswith(".gz"))


def _write_bag(path, blocks, covariances, packed):
    store = get_typestore(Stores.ROS1_NOETIC)
    sequence = 0
    with Writer(path) as writer:
        connection = writer.add_connection(TOPIC, "sensor_msgs/msg/Imu", typestore=store)
        for block in blocks:
            stamps = _stamps(block.time)
            fields = dict(zip(IMU.names, _columns(block, covariances).T))
            packed = Packer(IMU, [IMU_FRAME]).pack(stamps, fields)
            packed["sequence"] = np.arange(sequence, sequence + len(stamps))
            for stamp, content in zip(stamps.tolist(), separate(packed)):
                writer.write(connection, stamp, content)
            sequence += len(stamps)


def _write_rostopic_csv(path, blocks, covariances, packed):
    sequence = 0
    with _text_file(path, packed) as file:
        file.write(",".join(IMU_FIELDS) + "\n")
        for block in blocks:
            rows = zip(_stamps(block.time).tolist(), _lines(_columns(block, covariances)))
            for number, (stamp, line) in enumerate(rows, sequence):
                file.write(f"{stamp},{number},{stamp},{IMU_FRAME},{line}\n")
            sequence += len(block.time)


def _write_table(path, blocks, covariances, packed):
    yaw = None
    with _text_file(path, packed) as file:
        file.write(",".join(("time", *IMU_RECORD)) + "\n")
        for block in blocks:
            angles = roll_pitch_yaw_from_quaternion(block.orientation)
            # The yaw must also be unwrapped across blocks.
            last_yaw = angles[:1, 2] if yaw is None else np.array([yaw])
            angles[:, 2] = np.unwrap(np.concatenate([last_yaw, angles[:, 2]]))[1:]
            yaw = angles[-1, 2] if len(angles) else yaw
            columns = [block.time, angles, block.angular_velocity, block.specific_force]
            for line in _lines(np.column_stack(columns)):
                file.write(line + "\n")


@contextmanager
def _text_file(path, packed):
    with ExitStack() as files:
        binary = files.enter_context(open(path, "wb"))
        if packed:
            # Without time and name in the gzip header, the same recording gives the same bytes.
            binary = files.enter_context(gzip.GzipFile("", "wb", 6, binary, mtime=0))
        yield files.enter_context(io.TextIOWrapper(binary, encoding="ascii", newline="\n"))


def _stamps(time):
    return FIRST_STAMP + np.round(time * 1e9).astype(np.int64)


def _columns(block, covariances):
    """Return one row per message with the numbers of its payload, shape (samples, 37)."""
    orientation, rate, force = (np.tile(x, (len(block.time), 1)) for x in covariances)
    return np.hstack(
        [block.orientation, orientation, block.angular_velocity, rate, block.specific_force, force]
    )


def _lines(columns):
    """Format rows of numbers as text with the shortest notation that preserves each value."""
    return map(",".join, zip(*(map(repr, column) for column in columns.T.tolist())))
