"""A disk that is full while the experiment writes: one sentence, and every file whole or absent."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from experiment_process import find_program

from imu_simulation_framework.drive.results.files import find_result

pytestmark = pytest.mark.slow

SECONDS = 180.0


@pytest.fixture
def run_on_small_disk(experiment, tmp_path):
    """Run an experiment that writes to a disk of the given size; return its end and its result."""

    def run(size, *arguments):
        with small_disk(tmp_path, size) as disk:
            ended = experiment.run(
                *arguments,
                f"output:={disk.folder}",
                program=[*disk.wrapper, find_program("run_experiment.py"), "-v"],
                timeout=SECONDS,
            )
            left = [path for path in disk.saved.rglob("*") if path.is_file()]
            assert not [path for path in left if is_half_written(path)]
            result = find_result(left[0].parent)
            content = {path.name[len(result.prefix) + 1 :]: path.read_bytes() for path in left}
            for name in content:
                if name.endswith(".csv"):
                    result.read_table(name[: -len(".csv")])
        assert ended.code == 1
        assert len(ended.fatal_sentences) == 1, ended.output
        assert "the disk is full" in ended.fatal_sentences[0]
        assert not ended.has_traceback, ended.output
        return ended.fatal_sentences[0], content

    return run


def is_half_written(path):
    return path.name.startswith(".") or path.suffix in (".part", ".active")


def test_full_before_the_drive(run_on_small_disk):
    sentence, files = run_on_small_disk("64k", "settings:={trajectory: {stop: 8.0}}")
    assert "imu_real.csv" in sentence
    assert set(files) == {"trajectory_data.csv", "reference.csv", "config.ini", "recording.json"}


def test_full_when_the_results_are_written(run_on_small_disk):
    sentence, files = run_on_small_disk("256k", "settings:={trajectory: {stop: 8.0}}")
    assert "imu_simulated.csv" in sentence
    # What was recorded stays as it came.
    streams = ("imu_simulated", "ground_truth", "control_error", "wheel_velocities")
    streams += ("wheel_velocities_actual", "magnetometer_simulated")
    before = {"trajectory_data.csv", "reference.csv", "config.ini", "recording.json"}
    assert set(files) == before | {"imu_real.csv", *(f"{name}.samples" for name in streams)}


def test_full_while_the_bag_is_written_leaves_the_space_to_the_results(run_on_small_disk):
    # Slow enough that the drive goes on when the bag, about 0.2 MB a second, has filled the disk.
    sentence, files = run_on_small_disk(
        "4m",
        "record:=true",
        "real_time_factor:=10",
        "settings:={trajectory: {stop: 200.0}, imu_recording: {use: false}}",
    )
    assert "experiment.bag" in sentence
    assert "experiment.bag" not in files
    assert "yaw_error.png" in files
    summary = json.loads(files["summary.json"])
    assert summary["run"]["completed"] is False
    assert summary["messages"]["ground_truth"]["received"] > 100


MOUNT = ("mount", "-t", "tmpfs", "-o")

IN_NAMESPACE = """
mount -t tmpfs -o "size=$1" tmpfs "$2" || exit 125
saved=$3
disk=$2
shift 3
"$@"
code=$?
cp -a "$disk/." "$saved"
exit $code
"""
"""Mounts for the command alone, and copies what it left, since nobody else sees that mount."""


@dataclass(frozen=True)
class SmallDisk:
    """Where to write to, how to run a program that sees it, and where to look afterwards."""

    folder: Path
    saved: Path
    wrapper: list[str] = field(default_factory=list)


@contextlib.contextmanager
def small_disk(directory: Path, size: str):
    """A tmpfs of ``size`` (``256k``), mounted as root, with sudo, or in a user namespace.

    Raises
    ------
    AssertionError
        Nothing of that is allowed here.
    """
    folder, saved = directory / "disk", directory / "saved"
    for made in (folder, saved):
        made.mkdir()
    for become in _ways_to_become_root():
        if _succeeds([*become, *MOUNT, f"size={size},mode=1777", "tmpfs", str(folder)]):
            try:
                yield SmallDisk(folder, folder)
            finally:
                subprocess.run([*become, "umount", str(folder)], check=True)
            return
    assert _succeeds(["unshare", "-Urm", *MOUNT, f"size={size}", "tmpfs", str(folder)]), (
        "a small file system could be mounted neither as root nor with sudo nor in a user "
        "namespace, so there is no disk that can be full"
    )
    shell = ["sh", "-c", IN_NAMESPACE, "sh", size, str(folder), str(saved)]
    yield SmallDisk(folder, saved, ["unshare", "-Urm", *shell])


def _ways_to_become_root():
    if os.geteuid() == 0:
        return [[]]
    return [["sudo", "-n"]] if shutil.which("sudo") else []


def _succeeds(command) -> bool:
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return done.returncode == 0
