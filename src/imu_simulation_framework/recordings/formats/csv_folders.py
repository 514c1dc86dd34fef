"""Folders and zip files of a CSV file for each sensor, as telephones make them.

Sensor Logger, phyphox and others write ``Gyroscope.csv``, ``Accelerometer.csv``, ``Location.csv``
with times on one clock. The name of a file is the name of its table.
"""

from __future__ import annotations

import itertools
import zipfile
import zlib
from functools import partial
from pathlib import PurePosixPath
from typing import Any, Mapping

from imu_simulation_framework.core.errors import RecordingError
from imu_simulation_framework.core.files import BLOCK, open_regular
from imu_simulation_framework.recordings.file_access import (
    csv_files,
    decoded,
    limited,
    text_blocks,
)
from imu_simulation_framework.recordings.formats.workbooks import read_workbook
from imu_simulation_framework.recordings.text_table import TextTable, parse_table, text_lines

_WORKBOOK = ("xl/", "content.xml")  # files in a workbook, which is a zip file, too
_DAMAGE = (EOFError, NotImplementedError, OSError, RuntimeError, zipfile.BadZipFile, zlib.error)
_DESCRIPTIONS = ("metadata", "annotation", "device", "time")
"""Files beside those of sensors, which describe the telephone and the recording."""


def read_folder(path) -> dict[str, TextTable]:
    """Return the tables of a folder by the names of their files; empty ones are left out.

    Raises RecordingError: a file cannot be read, or is no table.
    """
    files = {file.name: file for file in csv_files(path) if _is_sensor(file.name)}
    return _tables({name: (file, partial(text_blocks, file)) for name, file in files.items()})


def read_zip(path) -> Mapping[str, Any]:
    """Return the tables of the CSV files in a zip file; raises as :func:`read_folder`."""
    try:
        with open_regular(path) as file, zipfile.ZipFile(file) as archive:
            if any(one.filename.startswith(_WORKBOOK) for one in archive.infolist()):
                return read_workbook(path)
            members = [one for one in archive.infolist() if _is_sensor(one.filename)]
            if not members:
                raise RecordingError(
                    f"{path}: no CSV file is in this zip file, expected one for each sensor, as "
                    "telephones write them"
                )
            texts = {one.filename: partial(_text, path, archive, one) for one in members}
            return _tables({name: (f"{path}: {name}", text) for name, text in texts.items()})
    except _DAMAGE as error:
        raise RecordingError(
            f"{path}: the zip file is truncated or damaged, or needs a password: {error}"
        ) from None


def _text(path, archive, member):
    with archive.open(member) as file:
        blocks = limited(path, iter(lambda: file.read(BLOCK), b""), member.compress_size)
        yield from decoded(f"{path}: {member.filename}", blocks)


def _tables(files):
    """Return the tables of files: name -> (what to call it in messages, its text)."""
    found = {}
    for name, (source, text) in files.items():
        # A sensor that the telephone lacks leaves its header behind, or nothing.
        if len(list(itertools.islice(text_lines(text()), 2))) == 2:
            found[_stem(name)] = parse_table(source, text)
    return found


def _stem(name) -> str:
    return PurePosixPath(name).name.split(".csv")[0]


def _is_sensor(name) -> bool:
    path = PurePosixPath(name)
    hidden = any(part.startswith((".", "__")) for part in path.parts)
    described = _stem(name).lower() in _DESCRIPTIONS or "meta" in path.parts
    return name.lower().endswith((".csv", ".csv.gz")) and not (hidden or described)
