"""A disk that is full while the experiment writes: one sentence, and every file whole or absent."""

import json
import os

import pytest
from experiment_process import find_program

from imu_simulation_framework.drive.results.files import find_result

pytestmark = pytest.mark.gate

SECONDS = 180.0


@pytest.fixture
def run_on_small_disk(experiment, tmp_path):
    """Run an experiment that writes to a disk of the given size; return its end and its result."""
    disk, saved = tmp_path / "disk", tmp_path / "saved"
    for folder in (disk, saved):
        folder.mkdir()

    def run(size, *arguments):
        # Whoever is not root is so in a namespace of users.
        alone = ["unshare", "-m" if os.geteuid() == 0 else "-Urm"]
        shell = [*alone, "sh", "-c", ON_SMALL_DISK, "sh", size, str(disk), str(saved)]
        program = [*shell, find_program("run_experiment.py"), "-v"]
        ended = experiment.run(*arguments, f"output:={disk}", program=program, timeout=SECONDS)
        left = [path for path in saved.rglob("*") if path.is_file()]
        assert left, f"a small file system could not be mounted: {ended.output}"
        half = (path.name.startswith(".") or path.suffix in (".part", ".active") for path in left)
        assert not any(half)
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


ON_SMALL_DISK = """
mount -t tmpfs -o "size=$1,mode=1777" tmpfs "$2" || exit 125
saved=$3
disk=$2
shift 3
"$@"
code=$?
cp -a "$disk/." "$saved"
exit $code
"""
"""Mounts for the command alone, and copies what it left, since nobody else sees that mount."""
