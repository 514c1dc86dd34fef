"""Files and folders of tables: which module reads which kind."""

from __future__ import annotations

import functools
from typing import Callable, Mapping, NamedTuple

from imu_simulation_framework.recordings.file_access import csv_files, table_kind, versions_of
from imu_simulation_framework.recordings.formats.csv_folders import read_folder, read_zip
from imu_simulation_framework.recordings.formats.dataflash import (
    read_binary_log,
    read_text_log,
)
from imu_simulation_framework.recordings.formats.json_lines import read_json
from imu_simulation_framework.recordings.formats.matlab import read_hdf5, read_mat
from imu_simulation_framework.recordings.formats.px4_ulog import read_ulog
from imu_simulation_framework.recordings.formats.serial_lines import read_sentences, read_words
from imu_simulation_framework.recordings.formats.workbooks import read_parquet, read_workbook
from imu_simulation_framework.recordings.tables import RecordedTables, recorded_tables


class TableFile(NamedTuple):
    """How a kind of :func:`.table_kind` is read: from a path to tables by name, and its axes."""

    read: Callable[..., Mapping]
    frame: str = "enu"


TABLE_FILES = {
    "folder": TableFile(read_folder),
    "zip": TableFile(read_zip),
    "json": TableFile(read_json),
    "workbook": TableFile(read_workbook),
    "parquet": TableFile(read_parquet),
    "matlab": TableFile(read_mat),
    "hdf5": TableFile(read_hdf5),
    "sentences": TableFile(read_sentences, "ned"),
    "words": TableFile(read_words),
    "ulog": TableFile(read_ulog, "ned"),
    "dataflash": TableFile(read_binary_log, "ned"),
    "dataflash_text": TableFile(read_text_log, "ned"),
}


def read_table_file(path) -> RecordedTables:
    """Read all tables of a file or folder; raises RecordingError where it cannot be read."""
    kind = table_kind(path)
    files = csv_files(path) if kind == "folder" else [path]
    return _read(str(path), kind, versions_of(files))


# A program looks at a recording, checks it and reads reference and IMU: of one file each time.
@functools.lru_cache(maxsize=2)
def _read(path, kind, _):
    read, frame = TABLE_FILES[kind]
    return recorded_tables(path, read(path), frame)
