import errno
import os
import shutil
import threading
from datetime import datetime
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.transform import Rotation

from imu_simulation_framework.core import tables
from imu_simulation_framework.core.errors import ResultError
from imu_simulation_framework.core.tables import read_csv, table_to_csv
from imu_simulation_framework.core.whole_files import write_whole
from imu_simulation_framework.drive.results.files import (
    ResultFolder,
    check_result_folder,
    create_result_folder,
    find_result,
    safe_name,
    tum_text,
)

START = datetime(2019, 5, 16, 17, 42, 58)


def awkward_table():
    generator = np.random.default_rng(1)
    values = generator.normal(size=(500, 3)) * 10.0 ** generator.integers(-300, 300, size=(500, 3))
    values[:4, 0] = [0.1, -0.0, np.nan, 5e-324]
    return pd.DataFrame(
        values, columns=["yaw", "x", "y"], index=pd.Index(np.arange(500) * 0.01, name="time")
    )


@pytest.fixture
def folder(tmp_path):
    return create_result_folder(tmp_path, "drive", "ideal", START)


def test_result_folder_has_next_run_number_and_file_prefix(tmp_path):
    first = create_result_folder(tmp_path / "out", "drive a", "hector_sigma0.5", START)
    assert first.folder == tmp_path / "out" / "drive_a" / "hector_sigma0.5" / "1"
    assert first.path("yaw_error.png") == first.folder / "20190516-174258_yaw_error.png"
    again = ResultFolder.from_prefix(first.prefix_path)
    assert (again.folder, again.prefix) == (first.folder, "20190516-174258")
    for name in ("3", "10", "notes"):
        (tmp_path / "a" / "b" / name).mkdir(parents=True)
    assert create_result_folder(tmp_path, "a", "b", START).folder.name == "11"


def test_simultaneous_experiments_get_different_run_numbers(tmp_path):
    folders = []
    threads = [
        threading.Thread(
            target=lambda: folders.append(create_result_folder(tmp_path, "a", "b", START).folder)
        )
        for _ in range(16)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {folder.name for folder in folders} == {str(run) for run in range(1, 17)}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("hector, sigma=0.5, fd=0.005", "hector_sigma_0.5_fd_0.005"),
        ("../../etc/passwd", "etc_passwd"),
        ("..", "unnamed"),
        ("a\\b\0c\nd", "a_b_c_d"),
        (" .hidden ", "hidden"),
        ("--it's $(here); `x` & {y}!", "it_s_here_x_y"),
        ("me\u030cr\u030ceni\u0301 č. 1", "měření_č._1"),
        ("ě" * 300, "ě" * 100),
    ],
)
def test_text_is_converted_to_safe_folder_name(text, name):
    assert safe_name(text) == name


@pytest.mark.parametrize("rows", [500, 0])
def test_table_round_trip_preserves_every_bit(folder, rows):
    table = awkward_table().iloc[:rows]
    folder.write_table("imu_real", table)
    read = folder.read_table("imu_real")
    pd.testing.assert_frame_equal(read, table, check_exact=True)
    np.testing.assert_array_equal(np.signbit(read), np.signbit(table))


def test_identical_tables_yield_identical_bytes_even_if_written_in_blocks(folder):
    table = awkward_table()
    text = table_to_csv(table)
    assert table_to_csv(table.copy()) == text
    assert text.splitlines()[0] == "time,yaw,x,y"
    assert text.splitlines()[1].startswith("0.0,0.1,")
    assert "\r" not in text
    whole = folder.write_table("imu_real", table).read_bytes()
    parts = (table.iloc[begin : begin + 2] for begin in range(0, len(table), 2))
    assert folder.write_table_in_parts("imu_real", parts).read_bytes() == whole


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "the file is empty"),
        ("yaw,time\n1.0,2.0\n", "line 1: the first column is 'yaw', expected time"),
        ("time,yaw,yaw\n0.0,1.0,2.0\n", "line 1: a column name occurs twice"),
        ("time,yaw\n0.0,1.0\n0.1,abc\n", "line 3, column yaw: is 'abc', expected a number"),
        ("time,yaw\n0.0,1.0\n\n0.1,2.0\n", "line 3: has 1 values, expected 2"),
        ("time,yaw\n0.0,1.0\n0.1,2.0,3.0\n", "line 3: has 3 values, expected 2"),
        ("time,yaw\n0.0,1.0,5.0\n0.1\n", "line 2: has 3 values, expected 2"),
        ("time,yaw\n0.0,1.0\n0.1,2.", "line 3: the line is not terminated"),
        ("time,yaw\n0.0,1.0\n0.0,2.0\n", "line 3, column time: must increase"),
        ("time,yaw\nnan,1.0\n", "line 2, column time"),
        ("\udc89PNG", "not UTF-8 text"),
    ],
)
def test_malformed_table_is_rejected_with_line_number_and_column(tmp_path, text, sentence):
    path = tmp_path / "broken.csv"
    path.write_text(text, errors="surrogateescape")
    with pytest.raises(ResultError) as caught:
        read_csv(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert sentence in str(caught.value)


@pytest.mark.parametrize("piece", [7, 40, 1000])
def test_table_read_in_blocks_matches_complete_table(tmp_path, monkeypatch, piece):
    path = tmp_path / "table.csv"
    path.write_text(table_to_csv(awkward_table().iloc[:100]))
    whole = read_csv(path)
    monkeypatch.setattr(tables, "BLOCK_SIZE", piece)
    monkeypatch.setattr(tables, "_LONGEST_LINE", 512)
    pd.testing.assert_frame_equal(read_csv(path), whole, check_exact=True)
    some = read_csv(path, [whole.columns[0], "not there"])
    pd.testing.assert_frame_equal(some, whole.iloc[:, :1], check_exact=True)
    with open(path, "a") as file:
        file.write("abc" + "," * len(whole.columns) + "\n")
    with pytest.raises(ResultError, match=f"line {len(whole) + 2}, column time: is 'abc'"):
        read_csv(path)


def test_full_disk_is_reported(monkeypatch, tmp_path):
    def no_space(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", no_space)
    with pytest.raises(ResultError, match="the disk is full"):
        write_whole(tmp_path / "summary.json", b"text")
    assert list(tmp_path.iterdir()) == []


def test_result_is_located_by_folder_prefix_or_file(folder):
    folder.write_text("trajectory_data.csv", "time\n")
    folder.write_text("summary.json", "{}")
    for path in (
        folder.folder,
        folder.prefix_path,
        folder.prefix_path + "_",
        folder.path("summary.json"),
        folder.path("trajectory_data.csv"),
    ):
        found = find_result(path)
        assert (Path(found.folder), found.prefix) == (folder.folder, folder.prefix)


def test_missing_or_ambiguous_result_is_rejected(folder):
    with pytest.raises(ResultError, match="no result in this folder"):
        find_result(folder.folder)
    with pytest.raises(ResultError, match="no result with this name"):
        find_result(folder.prefix_path)
    folder.write_text("trajectory_data.csv", "time\n")
    with pytest.raises(ResultError, match=f"but in: {folder.folder}"):
        find_result(folder.folder.parent)
    ResultFolder(folder.folder, "20200101-000000").write_text("trajectory_data.csv", "time\n")
    with pytest.raises(ResultError, match="contains 2 results.*20190516-174258, 20200101-000000"):
        find_result(folder.folder)


def test_column_is_read_exactly_and_missing_file_is_named_in_error(folder):
    for name, read in (("imu_real.csv", folder.read_table), ("config.ini", folder.read_text)):
        with pytest.raises(ResultError, match=f"20190516-174258_{name}.*No such file"):
            read(name.replace(".csv", ""))
    table = awkward_table()
    folder.write_table("imu_real", table[["x", "yaw"]])
    time, values = folder.read_columns("imu_real", ["x"])
    np.testing.assert_array_equal(time, table.index)
    np.testing.assert_array_equal(values, table["x"])
    with pytest.raises(ResultError, match="column roll cannot be read"):
        folder.read_columns("imu_real", ["roll"])


def test_files_of_another_result_are_copied_smallest_first(folder, tmp_path, monkeypatch):
    other = ResultFolder(tmp_path, "prepared")
    for name, size in (("a_large.csv", 300), ("small.csv", 1), ("middle.json", 20)):
        other.write_text(name, size * "x")
    (tmp_path / "another.csv").write_text("")
    copy = shutil.copyfile

    def copy_on_a_small_disk(source, aside):
        if os.path.getsize(source) > 100:
            raise OSError(errno.ENOSPC, "")
        copy(source, aside)

    with monkeypatch.context() as patched:
        patched.setattr(shutil, "copyfile", copy_on_a_small_disk)
        with pytest.raises(ResultError, match="a_large.csv: .*the disk is full"):
            folder.take(other)
    assert {path.name for path in tmp_path.glob("*.*")} == {"prepared_a_large.csv", "another.csv"}
    folder.take(other)
    sizes = {path.name: path.stat().st_size for path in folder.folder.iterdir()}
    prefix = folder.prefix
    assert sizes == {
        f"{prefix}_small.csv": 1,
        f"{prefix}_middle.json": 20,
        f"{prefix}_a_large.csv": 300,
    }
    assert not list(tmp_path.glob("prepared_*"))


def test_heading_in_tum_file_is_counterclockwise_about_vertical():
    yaw = [0.0, np.pi / 2.0, -0.6]
    rows = np.loadtxt(tum_text([0.0, 1.0, 2.0], [5.0, 6.0, 7.0], [-1.0, 0.0, 1.0], yaw).split("\n"))
    np.testing.assert_array_equal(rows[:, :4], [[0, 5, -1, 0], [1, 6, 0, 0], [2, 7, 1, 0]])
    # A turn of 90 degrees to the left leads from east to north.
    ahead = Rotation.from_quat(rows[:, 4:]).apply([1.0, 0.0, 0.0])
    expected = np.column_stack([np.cos(yaw), np.sin(yaw), np.zeros(3)])
    np.testing.assert_allclose(ahead, expected, atol=1e-15)


def test_unusable_result_folder_is_rejected_before_drive(tmp_path, monkeypatch):
    check_result_folder(tmp_path / "results" / "of today", "drive", "ideal")
    assert not (tmp_path / "results").exists()
    (tmp_path / "file").touch()
    with pytest.raises(ResultError, match="file: cannot create a folder for results: not a folder"):
        check_result_folder(tmp_path / "file" / "results", "drive", "ideal")
    with pytest.raises(ResultError, match="cannot create a folder for results"):
        create_result_folder(tmp_path / "file", "drive", "ideal", START)
    # Root has write permission everywhere.
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(ResultError, match="permission denied"):
        check_result_folder(tmp_path / "results", "drive", "ideal")


def test_longest_accepted_result_folder_allows_every_file_name(tmp_path):
    def fits(length):
        try:
            check_result_folder(_deep(tmp_path, length), 300 * "d", 300 * "i")
        except ResultError:
            return False
        return True

    longest = next(length for length in range(4000, 3000, -1) if fits(length))
    with pytest.raises(ResultError, match="cannot create a folder for results: File name too long"):
        check_result_folder(_deep(tmp_path, longest + 1), 300 * "d", 300 * "i")
    result = create_result_folder(_deep(tmp_path, longest), 300 * "d", 300 * "i", START)
    assert result.write_table("wheel_velocities_actual", awkward_table()).exists()


def _deep(folder, length):
    """Return a subfolder whose path has ``length`` characters."""
    more = length - len(str(folder)) - 1
    return folder / (more // 200 * (199 * "a" + "/") + max(1, more % 200) * "b")
