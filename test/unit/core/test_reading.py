"""Checks before a file is read: file type, size and decompressed size."""

import bz2
import gzip
import os

import lz4.frame as lz4
import numpy as np
import pytest
import zstandard

import imu_simulation_framework as isf
from imu_simulation_framework.core.files import recording_name
from imu_simulation_framework.core.tables import read_csv
from imu_simulation_framework.drive.turning import load_robot_parameters
from imu_simulation_framework.recordings import file_access
from imu_simulation_framework.recordings.formats import bag
from imu_simulation_framework.sensors.files import load_imu_specification

READERS = {
    "recording": isf.read_reference,
    "imu recording": isf.read_imu,
    "robot": load_robot_parameters,
    "specification": load_imu_specification,
    "configuration": isf.load_configuration,
    "table": read_csv,
    "kalibr": lambda path: isf.read_imu_parameters(path, "kalibr"),
    "sdf": lambda path: isf.read_imu_parameters(path, "sdf"),
}


def refusal(read, path):
    with pytest.raises(isf.FrameworkError) as caught:
        read(path)
    assert str(path) in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
@pytest.mark.parametrize("suffix", ["", ".bag", ".csv.gz"])
def test_fifo_device_or_folder_is_rejected_by_each_reader(tmp_path, read, suffix):
    path = tmp_path / f"fifo{suffix}"
    os.mkfifo(path)
    assert "it is a FIFO (named pipe), not a regular file" in refusal(read, path)
    for device in ("/dev/zero", "/dev/null"):
        assert "it is a device, not a regular file" in refusal(read, device)
    # Readers of recordings accept folders.
    if read not in (isf.read_reference, isf.read_imu):
        assert "it is a folder, not a regular file" in refusal(read, tmp_path)


@pytest.mark.parametrize("name", ["robot", "specification", "configuration", "kalibr", "sdf"])
def test_sparse_settings_file_is_rejected(tmp_path, name):
    path = tmp_path / "sparse"
    path.touch()
    os.truncate(path, 2**40)
    assert "larger than" in refusal(READERS[name], path)


@pytest.mark.parametrize("format", ["auto", "csv", "tum", "rostopic_csv"])
def test_sparse_recording_is_rejected(tmp_path, format):
    path = tmp_path / "sparse.csv"
    path.write_text("time,x,y\n" + "1.0,2.0,3.0\n" * 10_000)
    os.truncate(path, 2**40)
    reason = refusal(lambda path: isf.read_reference(path, format=format), path)
    assert "line 10002 contains a NUL character" in reason


@pytest.mark.parametrize(
    "limit, size, name, words",
    [
        ("TABLE_LIMIT", 10_000, "large.csv", "too large, expected at most 9.77 KiB"),
        ("UNPACKED_LIMIT", 2**20, "large.csv.gz", "expand to"),
    ],
)
def test_oversized_text_is_rejected(tmp_path, monkeypatch, limit, size, name, words):
    monkeypatch.setattr(file_access, limit, size)
    path = tmp_path / name
    rows = np.random.default_rng(1).integers(0, 10**6, (2**17, 3))
    text = "time,x,y\n" + "".join(f"{time},{x},{y}\n" for time, x, y in rows.tolist())
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    assert words in refusal(isf.read_reference, path)


@pytest.mark.parametrize("name", ["bomb.csv.gz", "bomb.bag", "bomb.tum", "bomb.db3.zst"])
def test_file_with_huge_decompressed_size_is_rejected(tmp_path, monkeypatch, name):
    monkeypatch.setattr(file_access, "RATIO_FROM", 2**20)
    path, content = tmp_path / name, b"time,x,y\n" + b"1,2,3\n" * 350_000
    path.write_bytes(zstd(bytes(2**22)) if name.endswith(".zst") else gzip.compress(content))
    format = "auto" if name.endswith(".zst") else "bag" if name.endswith(".bag") else "csv"
    reason = refusal(lambda path: isf.read_reference(path, format=format), path)
    assert "more than 1" in reason or "more than 2" in reason
    assert "MiB, which exceeds the limits" in reason


def test_small_file_with_high_compression_ratio_is_read(tmp_path):
    path = tmp_path / "rest.csv.gz"
    lines = (f"{k / 100},{0.001 * k},0.0,0.0,0.0,0.0,0.0,0.0\n" for k in range(20_000))
    path.write_bytes(gzip.compress(("time,x,y,z,vx,vy,vz,yaw\n" + "".join(lines)).encode()))
    assert len("".join(file_access.text_blocks(path)).splitlines()) == 20_001


def zstd(content):
    return zstandard.ZstdCompressor().compress(content)


def zstd_of_unknown_size(content):
    return zstandard.ZstdCompressor(write_content_size=False).compress(content)


@pytest.mark.parametrize(
    "unpack, pack",
    [
        (bag.unpack_bz2, bz2.compress),
        (bag.unpack_lz4, lz4.compress),
        (bag.unpack_zstd, zstd),
        (bag.unpack_zstd, zstd_of_unknown_size),
    ],
)
def test_chunk_exceeding_limit_when_decompressed_is_rejected(monkeypatch, unpack, pack):
    monkeypatch.setattr(bag, "LARGEST_CHUNK", 2**20)
    assert unpack(pack(bytes(2**20))) == bytes(2**20)
    with pytest.raises(ValueError, match="a chunk is truncated, or larger than the limit"):
        unpack(pack(bytes(2**20 + 1)))
    if pack is not zstd_of_unknown_size:
        with pytest.raises(ValueError, match="truncated"):
            unpack(pack(bytes(2**10))[:-5])


@pytest.mark.parametrize("kind, pack", [("lz4", lz4.compress), ("zstd", zstd), ("", bytes)])
def test_mcap_chunk_with_wrong_declared_size_is_rejected(monkeypatch, kind, pack):
    content = bytes(2**10)
    assert bag.unpack_mcap(kind, pack(content), 2**10) == content
    with pytest.raises(ValueError, match="expected 1025"):
        bag.unpack_mcap(kind, pack(content), 2**10 + 1)
    monkeypatch.setattr(bag, "LARGEST_CHUNK", 2**9)
    with pytest.raises(ValueError, match="a chunk has 1024 bytes"):
        bag.unpack_mcap(kind, pack(content), 2**10)
    if kind:
        with pytest.raises(ValueError, match="a chunk is truncated, or larger than the limit"):
            bag.unpack_mcap(kind, pack(content), 2**9)


@pytest.mark.parametrize("zeros, parts", [(2**24, 1), (2**15, 300)])
def test_gzip_file_with_several_members_and_trailing_zeros_is_read(tmp_path, zeros, parts):
    path = tmp_path / "drive.csv.gz"
    part = "time,x,y\n" + "".join(f"{k},2,3\n" for k in range(999))
    path.write_bytes(gzip.compress(part.encode()) * parts + bytes(zeros))
    assert "".join(file_access.text_blocks(path)) == part * parts
    assert file_access.read_start(path, 20_000) == (part * parts)[:20_000].encode()


@pytest.mark.parametrize(
    "harm, words",
    [
        (lambda packed: packed[:-1], "the end is missing"),
        (lambda packed: packed + b"junk", "incorrect header check"),
        (lambda packed: packed[:-8] + bytes(8), "incorrect data check"),
    ],
    ids=["end", "junk", "sum"],
)
def test_damaged_gzip_file_is_rejected(tmp_path, harm, words):
    path = tmp_path / "drive.csv.gz"
    path.write_bytes(harm(gzip.compress(b"time,x,y\n" + b"1,2,3\n" * 99)))
    reason = refusal(isf.read_reference, path).replace("Error -3 while decompressing data: ", "")
    assert f"truncated or damaged: {words}" in reason


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("2024.05.16-drive.bag", "2024.05.16-drive"),
        ("some/where/gps.csv.gz", "gps"),
        ("drive.v2.BAG", "drive.v2"),
        ("run_1.db3.zst", "run_1"),
        ("track.nmea", "track"),
        ("flight.ulg", "flight"),
        (".bag", ".bag"),
    ],
)
def test_recording_name_omits_only_known_file_suffixes(path, name):
    assert recording_name(path) == name
