"""How long the check of a large recording takes, beside plainly reading it.

A bag of 100 MB with odometry and an IMU is made, and checked as it is and with an IMU whose yaw
is mirrored, for which every other way of reading is tried. Plain reading is every message of
the bag unpacked by the library, once. Absolute figures depend on the machine, the ratio less.
"""

# ruff: noqa: E402

import contextlib
import io
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test" / "unit"))

import drive_recordings as drives
import recording_writers as writers
from planted_faults import clockwise_from_north
from rosbags.rosbag1 import Reader

from imu_simulation_framework.drive.check import check_experiment, set_up
from imu_simulation_framework.drive.check_report import report_lines, write_check

DURATION, RATES = 1280.0, (50.0, 100.0)
"""Of the drive [s], and of odometry and IMU [Hz]."""


def plain_reading(path):
    """Unpack every message."""
    count = 0
    with Reader(path) as reader:
        for connection, _, data in reader.messages():
            writers.STORE.deserialize_ros1(data, connection.msgtype)
            count += 1
    return count


def checking(path, folder):
    """What check_recording.py does."""
    config = Path(folder) / "config.ini"
    config.write_text("")
    setup = set_up(config, str(path))
    check = check_experiment(setup.load())
    with contextlib.redirect_stdout(io.StringIO()):
        print("\n".join(report_lines(setup, check)))
    write_check(Path(folder) / "out", setup, check)
    return check


def timed(function, *arguments):
    """CPU and wall-clock seconds of a call, and what it returned."""
    wall, cpu = time.monotonic(), time.process_time()
    result = function(*arguments)
    return time.process_time() - cpu, time.monotonic() - wall, result


def main():
    """Measure once each."""
    reference, imu = drives.drive(duration=DURATION, rates=RATES)
    for name, samples in (("as it is", imu), ("mirrored", clockwise_from_north(imu))):
        with tempfile.TemporaryDirectory() as folder:
            path = drives.write_bag(Path(folder) / "drive.bag", reference, samples)
            size = path.stat().st_size / 1e6
            plain, plain_wall, count = timed(plain_reading, path)
            ours, wall, check = timed(checking, path, folder)
        findings = ", ".join(finding.fault for finding in check.findings) or "nothing found"
        print(f"{name}: {size:.0f} MB, {count} messages; {findings}")
        print(f"  check         {ours:6.2f} s CPU, {wall:6.2f} s   (wanted: 10 s or less)")
        print(f"  plain reading {plain:6.2f} s CPU, {plain_wall:6.2f} s   ratio {ours / plain:.2f}")


if __name__ == "__main__":
    main()
