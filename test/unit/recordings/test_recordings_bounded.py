"""Recordings with oversized names or headers, which are rejected before they are parsed."""

import io
import json
import struct
import zlib

import numpy as np
import pytest

from imu_simulation_framework.core.errors import RecordingError
from imu_simulation_framework.recordings.columns import find_column_maps
from imu_simulation_framework.recordings.reading import read_imu

GYRO_TABLE = [(name, "f8") for name in ("time", "gyro_x", "gyro_y", "gyro_z")]


def write_csv(path, names, rows=20):
    lines = [",".join(names)] + [",".join([str(0.01 * row)] * len(names)) for row in range(rows)]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("name", [letter * 8000 for letter in "ax1(_"] + ["imu_" * 2000])
def test_overlong_column_name_is_rejected(tmp_path, name):
    path = write_csv(tmp_path / "table.csv", ["time", name, "gyro_z"])
    for read in (read_imu, find_column_maps):
        with pytest.raises(RecordingError, match="column 2"):
            read(path)


def test_table_with_thousands_of_columns_is_rejected(tmp_path):
    path = write_csv(tmp_path / "table.csv", ["time"] * 20_000)
    with pytest.raises(RecordingError, match="20000 columns"):
        read_imu(path)


def test_json_with_thousands_of_keys_is_rejected(tmp_path):
    path = tmp_path / "log.json"
    for document in (
        [{f"key_{k}": row for k in range(20_000)} for row in range(12)],
        {f"key_{k}": list(range(12)) for k in range(20_000)},
    ):
        path.write_text(json.dumps(document))
        with pytest.raises(RecordingError, match="20000 columns"):
            read_imu(path)


def test_matlab_variable_exceeding_limit_when_decompressed_is_rejected(tmp_path):
    packer = zlib.compressobj(9)
    size = 300 * 2**20
    parts = [packer.compress(struct.pack("<II", 14, size))]
    parts += [packer.compress(bytes(2**20)) for _ in range(300)] + [packer.flush()]
    packed = b"".join(parts)
    header = b"MATLAB 5.0 MAT-file".ljust(124) + b"\x00\x01IM"
    (tmp_path / "data.mat").write_bytes(header + struct.pack("<II", 15, len(packed)) + packed)
    with pytest.raises(RecordingError, match="MATLAB"):
        read_imu(tmp_path / "data.mat")


def test_numpy_header_with_flipped_bit_is_rejected_or_read_without_crash(tmp_path):
    samples = np.zeros(40, dtype=GYRO_TABLE)
    samples["time"] = 0.01 * np.arange(40)
    file = io.BytesIO()
    np.save(file, samples)
    content = file.getvalue()
    path = tmp_path / "data.npy"
    refused = 0
    for bit in range(8 * (len(content) - samples.nbytes)):
        damaged = bytearray(content)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        try:
            read_imu(path, require=())
        except RecordingError:
            refused += 1
    assert refused > bit // 2
