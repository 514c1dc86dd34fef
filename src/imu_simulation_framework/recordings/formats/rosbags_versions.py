"""What rosbags calls differently in 0.11 than in 0.9, its last for Python 3.8 and 3.9."""

from __future__ import annotations

from importlib import import_module

from rosbags import rosbag2

READS_FILES = hasattr(rosbag2, "StoragePlugin")
"""Whether its reader of ROS 2 bags also takes a single file; so from 0.11 on."""


def definition_of(connection) -> str:
    """Return the definition of a connection's messages; empty if the bag has none."""
    return getattr(connection.msgdef, "data", connection.msgdef)


def _errors():
    for module in ("apsw", "backports.zstd", "compression.zstd"):
        try:
            library = import_module(module)
        except ImportError:
            continue
        yield getattr(library, "Error" if module == "apsw" else "ZstdError")


ERRORS: tuple[type[Exception], ...] = tuple(_errors())
"""What the libraries raise of a damaged bag that the newer one uses."""
