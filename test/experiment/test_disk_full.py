"""Experiments on a full disk: one message, and each file is complete or absent."""

import json
import os

import pytest
from experiment_process import find_program

from imu_simulation_framework.drive.results.files import find_result

SHORT = {"trajectory": {"stop": 8.0}}


@pytest.fixture
def run_on_small_disk(experiment, tmp_path):
    """Return a function that runs an experiment on a small disk."""
    disk, saved = tmp_path / "disk", tmp_path / "saved"
    for folder in (disk, saved):
        folder.mkdir()

    def run(size, settings, *arguments):
        # In a user namespace, any user may mount a file system.
        namespace = ["unshare", "-m" if os.geteuid() == 0 else "-Urm"]
        shell = [*namespace, "sh", "-c", SMALL_DISK_SCRIPT, "sh", size, str(disk), str(saved)]
        program = [*shell, find_program("run_experiment.py"), "-v"]
        arguments = (*arguments, f"output:={disk}")
        ended = experiment.run(*arguments, settings=settings, program=program)
        left = [path for path in saved.rglob("*") if path.is_file()]
        assert left, f"the small file system is not mounted: {ended.output}"
        incomplete = (
            path.name.startswith(".") or path.suffix in (".part", ".active") for path in left
        )
        assert not any(incomplete)
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


def test_full_disk_before_drive_leaves_only_complete_files(run_on_small_disk):
    sentence, files = run_on_small_disk("64k", SHORT)
    assert "imu_real.csv" in sentence
    assert set(files) == {"trajectory_data.csv", "reference.csv", "config.ini", "recording.json"}


def test_full_disk_after_drive_leaves_recorded_samples(run_on_small_disk):
    sentence, files = run_on_small_disk("256k", SHORT)
    assert "imu_simulated.csv" in sentence
    streams = ("imu_simulated", "ground_truth", "control_error", "wheel_velocities")
    streams += ("wheel_velocities_actual", "magnetometer_simulated")
    prepared = {"trajectory_data.csv", "reference.csv", "config.ini", "recording.json"}
    assert set(files) == prepared | {"imu_real.csv", *(f"{name}.samples" for name in streams)}


def test_results_are_written_although_bag_fills_disk(run_on_small_disk):
    # The bag, at 0.2 MB per second, fills the disk before the end of the slow drive.
    long = {
        "trajectory": {"stop": 200.0},
        "imu_recording": {"use": False},
        "simulation": {"real_time_factor": 10.0},
    }
    sentence, files = run_on_small_disk("4m", long, "record:=true")
    assert "experiment.bag" in sentence
    assert "experiment.bag" not in files
    assert {"imu_simulated.csv", "ground_truth.csv"} <= set(files)
    summary = json.loads(files["summary.json"])
    assert summary["run"]["completed"] is False
    assert summary["messages"]["ground_truth"]["received"] > 100


# The script mounts a disk that only the command can access, and copies its files afterwards.
SMALL_DISK_SCRIPT = """
mount -t tmpfs -o "size=$1,mode=1777" tmpfs "$2" || exit 125
saved=$3
disk=$2
shift 3
"$@"
code=$?
cp -a "$disk/." "$saved"
exit $code
"""
