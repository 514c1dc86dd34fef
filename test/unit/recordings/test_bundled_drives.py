"""Files of the bundled drives, and the program that generates them."""

import csv
import gzip
import io
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from imu_simulation_framework.commands.start import run_program
from imu_simulation_framework.core.angles import unwrap, yaw_from_quaternion
from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.motion.drives import DRIVES, with_laps
from imu_simulation_framework.recordings import bundled_drives
from imu_simulation_framework.recordings.bundled_drives import simulate_drive

ROOT = Path(__file__).resolve().parents[3]
TOOL = ROOT / "offline_processing" / "generate_drive.py"
FILES = ("drive_a_gps.csv.gz", "drive_a_imu.csv.gz")


def _run(*arguments):
    command = [sys.executable, *map(str, (TOOL, *arguments))]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def _rows(path):
    return list(csv.DictReader(io.StringIO(gzip.decompress(path.read_bytes()).decode())))


def _columns(rows, *names):
    return np.array([[float(row[name]) for name in names] for row in rows])


def test_committed_drive_matches_generated_drive(tmp_path):
    done = _run("a", "--out", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert [Path(line.split(" ")[0]).name for line in done.stdout.splitlines()] == list(FILES)
    assert sorted(path.name for path in tmp_path.iterdir()) == list(FILES)
    for name in FILES:
        made = gzip.decompress((tmp_path / name).read_bytes())
        assert made == gzip.decompress((ROOT / "data" / name).read_bytes()), name
    assert sum((ROOT / "data" / name).stat().st_size for name in FILES) < 3e6
    for name, frame in zip(FILES, ("synthetic_drive_a_map", "synthetic_drive_a_imu")):
        header, *lines = gzip.decompress((ROOT / "data" / name).read_bytes()).decode().splitlines()
        column = header.split(",").index("field.header.frame_id")
        assert {line.split(",", column + 1)[column] for line in lines} == {frame}


def test_gps_file_has_fields_of_pose_stamped_message(tmp_path):
    drive = with_laps(DRIVES["a"], 1)
    path, _ = bundled_drives.write_drive(drive, tmp_path)
    poses = simulate_drive(drive)[1]
    rows = _rows(path)
    axes = [f"field.pose.{part}" for part in ("position.x", "position.y", "position.z")]
    axes += [f"field.pose.orientation.{axis}" for axis in "xyzw"]
    header = [f"field.header.{part}" for part in ("seq", "stamp", "frame_id")]
    assert list(rows[0]) == ["%time", *header, *axes]
    values = _columns(rows, *axes)
    assert np.max(np.abs(values[:, :2] - poses[["x", "y"]].to_numpy())) <= 0.5001e-4
    yaw = unwrap(yaw_from_quaternion(values[:, 3:]))
    assert np.max(np.abs(yaw - poses["yaw"].to_numpy())) < 3e-6
    stamps = [int(row["field.header.stamp"]) for row in rows]
    assert set(np.diff(stamps)) == {200_000_000}


def test_imu_file_has_fields_of_imu_message(tmp_path):
    drive = with_laps(DRIVES["c"], 1)
    reference_path, path = bundled_drives.write_drive(drive, tmp_path)
    samples = simulate_drive(drive)[2]
    rows = _rows(path)
    assert len(rows[0]) == 4 + 4 + 9 + 3 + 9 + 3 + 9
    assert "field.angular_velocity_covariance8" in rows[0]
    for message_field, axes, expected in (
        ("orientation", "xyzw", samples.orientation),
        ("angular_velocity", "xyz", samples.angular_velocity),
        ("linear_acceleration", "xyz", samples.specific_force),
    ):
        values = _columns(rows, *[f"field.{message_field}.{axis}" for axis in axes])
        assert np.max(np.abs(values - expected)) < 1e-6
    stamps = [int(row["field.header.stamp"]) for row in rows]
    assert set(np.diff(stamps)) == {10_000_000}
    assert _rows(reference_path)[-1]["field.header.stamp"] == str(stamps[-1])


def test_drive_files_are_byte_identical_only_for_same_seed(tmp_path):
    run_program("generate_drive", ["c", "--laps", "1", "--seed", "5", "--out", str(tmp_path)])
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == [f"drive_c_1laps_seed5_{kind}.csv.gz" for kind in ("gps", "imu")]
    drive = with_laps(DRIVES["d"], 1)
    first = bundled_drives.write_drive(drive, tmp_path / "1")
    second = bundled_drives.write_drive(drive, tmp_path / "2")
    third = bundled_drives.write_drive(replace(drive, seed=9), tmp_path / "3")
    for path, repeated, other in zip(first, second, third):
        assert path.read_bytes() == repeated.read_bytes()
        assert path.read_bytes() != other.read_bytes()


def test_ensure_drive_writes_only_missing_files(tmp_path, monkeypatch):
    monkeypatch.setitem(DRIVES, "c", with_laps(DRIVES["c"], 1))
    paths = bundled_drives.ensure_drive("c", tmp_path / "new")
    assert [path.name for path in paths] == ["drive_c_gps.csv.gz", "drive_c_imu.csv.gz"]
    written = [path.stat().st_mtime_ns for path in paths]
    assert bundled_drives.ensure_drive("c", tmp_path / "new") == paths
    assert [path.stat().st_mtime_ns for path in paths] == written
    paths[0].unlink()
    assert all(path.is_file() for path in bundled_drives.ensure_drive("c", tmp_path / "new"))
    assert len(list((tmp_path / "new").iterdir())) == 2
    with pytest.raises(ConfigurationError, match="drive is 'x'"):
        bundled_drives.ensure_drive("x", tmp_path)


def test_generate_drive_reports_unwritable_folder_on_one_line():
    done = _run("a", "--laps", "1", "--out", "/dev/null/here")
    assert (done.returncode, done.stdout) == (2, "")
    (sentence,) = done.stderr.splitlines()
    assert "/dev/null/here" in sentence
