"""Recordings at rest, which are read in parts and kept on the disk."""

import tracemalloc

import numpy as np
import pytest

from imu_simulation_framework.characterisation.allan import files as at_rest
from imu_simulation_framework.characterisation.allan.files import ColumnsOnDisk, read_at_rest
from imu_simulation_framework.core.columns import ACCEL, GYRO
from imu_simulation_framework.core.errors import RecordingError
from imu_simulation_framework.recordings import file_access
from imu_simulation_framework.recordings.reading import read_imu

AXES = (*GYRO, *ACCEL)


def written(path, count, spoil=lambda lines: lines):
    """A CSV file of an IMU at rest at 100 Hz."""
    values = np.random.default_rng(1).standard_normal((count, 6)) + [0, 0, 0, 0, 0, 9.81]
    lines = [
        f"{0.01 * place:.2f}," + ",".join(f"{value:.9f}" for value in row)
        for place, row in enumerate(values.tolist())
    ]
    path.write_text("\n".join(["time," + ",".join(AXES), *spoil(lines)]) + "\n")
    return path


def spoilt(lines):
    """A sample without a number, two in the wrong order, one twice, and a comment."""
    lines[40] = lines[40].rpartition(",")[0] + ","
    lines[70], lines[71] = lines[71], lines[70]
    lines[90] = lines[89]
    return [*lines[:20], "# a comment", *lines[20:]]


@pytest.mark.parametrize("spoil", [spoilt, lambda lines: lines])
@pytest.mark.parametrize("rows", [7, 100_000])
def test_what_is_read_in_parts_is_what_is_read_as_a_whole(tmp_path, monkeypatch, rows, spoil):
    path = written(tmp_path / "static.csv", 200, spoil)
    monkeypatch.setattr(at_rest, "_ROWS_AT_ONCE", rows)
    parts, whole = read_at_rest(path), read_imu(path, require=())
    np.testing.assert_array_equal(parts.times, whole.table.index)
    assert parts.axes.names == AXES
    for place, name in enumerate(AXES):
        np.testing.assert_array_equal(parts.axes[place], whole.table[name])
    assert parts.report.stamps == whole.report.stamps
    assert parts.report.nan == whole.report.nan


def test_units_and_dates_of_a_map_are_those_of_all_parts(tmp_path, monkeypatch):
    path = tmp_path / "static.csv"
    rows = [f"2020-01-01T00:00:{place:02d}Z,{180.0 * place}" for place in range(30)]
    path.write_text("\n".join(["when,w", *rows]))
    monkeypatch.setattr(at_rest, "_ROWS_AT_ONCE", 4)
    recorded = read_at_rest(path, columns={"time": "when", "gyro_z": "w [deg/s]"})
    np.testing.assert_allclose(np.diff(recorded.times), 1.0)
    np.testing.assert_allclose(recorded.axes[0], np.pi * np.arange(30))


def test_a_cell_that_is_no_number_is_told_with_its_line_in_a_late_part(tmp_path, monkeypatch):
    def spoil(lines):
        lines[150] = lines[150].rpartition(",")[0] + ",much"
        return lines

    monkeypatch.setattr(at_rest, "_ROWS_AT_ONCE", 50)
    with pytest.raises(RecordingError, match="line 152, column 'accel_z': 'much' is no number"):
        read_at_rest(written(tmp_path / "static.csv", 200, spoil))


def test_less_memory_is_taken_than_the_text_has_bytes(tmp_path, monkeypatch):
    path = written(tmp_path / "static.csv", 60_000)
    monkeypatch.setattr(at_rest, "_ROWS_AT_ONCE", 2000)
    monkeypatch.setattr(file_access, "BLOCK", 2**16)
    read_at_rest(written(tmp_path / "short.csv", 3000))
    tracemalloc.start()
    try:
        recorded = read_at_rest(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(recorded.times) == 60_000
    # Of 82 bytes of text a sample, it is some columns of 8 bytes and one part of the text.
    assert peak < path.stat().st_size


def test_columns_on_disk_are_a_sequence():
    columns = ColumnsOnDisk(["a", "b"])
    columns.append({"a": np.arange(3.0), "b": np.ones(3)})
    columns.append({"a": np.arange(2.0), "b": np.zeros(2)})
    assert columns[0].tolist() == [0.0, 1.0, 2.0, 0.0, 1.0]
    columns[0] = columns[0][1:3]
    assert [column.tolist() for column in columns] == [[1.0, 2.0], [1.0, 1.0, 1.0, 0.0, 0.0]]
    assert columns.only(["b"])[0].tolist() == [1.0, 1.0, 1.0, 0.0, 0.0]


def test_a_full_disk_is_told(tmp_path, monkeypatch):
    def full(self, columns):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(ColumnsOnDisk, "append", full)
    with pytest.raises(RecordingError, match="No space left on device; the variable TMPDIR"):
        read_at_rest(written(tmp_path / "static.csv", 200))
