"""Logs of PX4 (ULog): a table for each topic, ``sensor_combined``, ``vehicle_attitude``, ...

Of a topic with several instances the first has the topic's name, others a number behind it:
``sensor_gps_1``. The world is north-east-down and the body forward-right-down
(https://docs.px4.io/main/en/dev_log/ulog_file_format.html).
"""

from __future__ import annotations

import contextlib
import io
import struct

import pandas as pd

from imu_simulation_framework.core.errors import RecordingError
from imu_simulation_framework.core.extras import required
from imu_simulation_framework.recordings.file_access import unpacked

_DAMAGE = (
    *(AttributeError, IndexError, KeyError, NotImplementedError, OSError, OverflowError),
    *(MemoryError, RuntimeError, TypeError, ValueError, struct.error),
)
"""What the library raises of a damaged log."""


_HEADER, _FLAGS = 16, "<HB8s8s3Q"  # bytes; then what is appended to the log, and from where on


def _require_appended_parts(plain):
    """Raise ValueError where a part begins behind the log's end, up to which the library reads."""
    with open(plain, "rb") as file:
        start = file.read(_HEADER + struct.calcsize(_FLAGS))[_HEADER:]
        size = file.seek(0, 2)
    if len(start) == struct.calcsize(_FLAGS):
        _, kind, _, _, *places = struct.unpack(_FLAGS, start)
        if kind == ord("B") and max(places) > size:
            raise ValueError(f"{size} bytes, but something is appended at {max(places)}")


def read_ulog(path) -> dict[str, pd.DataFrame]:
    """Return the topics of a log; one that a crash has cut off as far as it is.

    Raises RecordingError: it is no such log, or damaged. Raises MissingLibraryError: pyulog is not
    installed.
    """
    library = required("pyulog", "a log of PX4")
    with unpacked(path) as plain:
        try:
            _require_appended_parts(plain)
            # The library prints what it thinks of a log.
            with contextlib.redirect_stdout(io.StringIO()):
                topics = library.ULog(str(plain)).data_list
        except _DAMAGE as error:
            raise RecordingError(
                f"{path}: cannot be read as a log of PX4 (ULog), it is truncated or damaged: "
                f"{error or type(error).__name__}"
            ) from None
    return {
        topic.name + (f"_{topic.multi_id}" if topic.multi_id else ""): pd.DataFrame(topic.data)
        for topic in topics
    }
