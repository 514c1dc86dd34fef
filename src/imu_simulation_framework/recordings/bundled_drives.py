"""The synthetic drives as files: what `rostopic echo -p` would have written, compressed.

A drive is two files, ``drive_<name>_gps.csv.gz`` (geometry_msgs/PoseStamped) and
``drive_<name>_imu.csv.gz`` (sensor_msgs/Imu). That format knows no comments, so the label
is the frame in every line: ``synthetic_drive_<name>``.
"""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np

from imu_simulation_framework.core.angles import quaternion_from_roll_pitch_yaw
from imu_simulation_framework.core.errors import ResultError
from imu_simulation_framework.core.whole_files import write_whole
from imu_simulation_framework.motion.drives import DRIVES, get_drive
from imu_simulation_framework.recordings.messages import IMU, POSE_STAMPED
from imu_simulation_framework.sensors.drive_sensors import (
    DRIVE_IMU,
    IMU_RATE,
    REFERENCE_RATE,
    RESOLUTIONS,
    simulate_drive,
)

FIRST_STAMP = 1_546_300_800_000_000_000
"""Stamp of the first sample of every drive [ns]: the beginning of 2019, UTC."""

_HEADER_FIELDS = ["%time", "field.header.seq", "field.header.stamp", "field.header.frame_id"]

GPS_FIELDS, IMU_FIELDS = (
    [*_HEADER_FIELDS, *(f"field.{name}" for name in message.names)]
    for message in (POSE_STAMPED, IMU)
)


def _csv(fields, rate, frame, values, line_format):
    """Return the text of a file; one line per row of values, formatted by line_format."""
    lines = [",".join(fields)]
    for sequence, row in enumerate(values.tolist()):
        stamp = FIRST_STAMP + sequence * (1_000_000_000 // rate)
        lines.append(f"{stamp},{sequence},{stamp},{frame},{line_format % tuple(row)}")
    return "\n".join(lines) + "\n"


def gps_csv(drive, poses):
    """Return the reference as CSV text; decimals to 0.1 mm and a millionth of a quaternion."""
    angles = np.zeros((len(poses), 3))
    angles[:, 2] = poses["yaw"]
    quaternions = quaternion_from_roll_pitch_yaw(angles)[:, 2:]
    # Rounded here, as a formatted -0.00001 would keep its sign.
    values = np.hstack([poses[["x", "y"]].to_numpy().round(4), quaternions.round(6)]) + 0.0
    frame = f"synthetic_drive_{drive.name}_map"
    return _csv(GPS_FIELDS, REFERENCE_RATE, frame, values, "%.4f,%.4f,0.0,0.0,0.0,%.6f,%.6f")


def imu_csv(drive, samples, imu=DRIVE_IMU):
    """Return the IMU's samples as CSV text, with decimals finer than its resolution.

    The orientation's covariance is all zeros, which means unknown (REP-145), as the sensor
    does not tell it.
    """
    _, of_rate, of_force = imu.covariances()

    def diagonal(covariance, resolution):
        rounding = resolution**2 / 12.0
        return ",".join(
            f"{variance + rounding:.3e}" if index % 4 == 0 else "0.0"
            for index, variance in enumerate(covariance)
        )

    rate = "%.6f,%.6f,%.6f," + diagonal(of_rate, RESOLUTIONS["angular_velocity"])
    force = "%.2f,%.2f,%.2f," + diagonal(of_force, RESOLUTIONS["specific_force"])
    line_format = ",".join(["%.6f,%.6f,%.6f,%.6f", *["0.0"] * 9, rate, force])
    values = np.hstack([samples.orientation, samples.angular_velocity, samples.specific_force])
    return _csv(IMU_FIELDS, IMU_RATE, f"synthetic_drive_{drive.name}_imu", values, line_format)


def drive_paths(drive, directory):
    """Return the paths (reference, IMU) of a drive's two files.

    A drive that differs from the one of `DRIVES` in laps or seed has these in its name.
    """
    standard = get_drive(drive.name)
    laps = f"_{drive.laps}laps" if drive.laps != standard.laps else ""
    seed = f"_seed{drive.seed}" if drive.seed != standard.seed else ""
    stem = Path(directory) / f"drive_{drive.name}{laps}{seed}"
    return stem.with_name(f"{stem.name}_gps.csv.gz"), stem.with_name(f"{stem.name}_imu.csv.gz")


def write_drive(drive, directory):
    """Simulate a drive and write its two files, each as a whole or not at all; return their paths.

    The folder is made if missing. Raises ResultError if they cannot be written.
    """
    directory = Path(directory)
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ResultError(f"{directory}: cannot be made: {error.strerror}") from error
    _, poses, samples = simulate_drive(drive)
    reference_path, imu_path = drive_paths(drive, directory)
    texts = {imu_path: imu_csv(drive, samples), reference_path: gps_csv(drive, poses)}
    for path, text in texts.items():
        # Without time and name in gzip's header the same drive gives the same bytes.
        write_whole(path, gzip.compress(text.encode("ascii"), compresslevel=9, mtime=0))
    return reference_path, imu_path


def ensure_drive(name, directory):
    """Return the files (reference, IMU) of the drive ``a`` to ``d``, made at the first use.

    Raises ConfigurationError, ResultError: there is no drive of that name, or they cannot be
    written.
    """
    paths = drive_paths(get_drive(name), directory)
    if not all(path.is_file() for path in paths):
        write_drive(DRIVES[name], directory)
    return paths
