"""A recorded IMU from samples."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.spatial.transform import Rotation

from imu_simulation_framework.core.angles import (
    quaternion_from_roll_pitch_yaw,
    roll_pitch_yaw_from_quaternion,
    unwrap,
)
from imu_simulation_framework.errors import RecordingError
from imu_simulation_framework.files.recordings.cleaning import Cleaner
from imu_simulation_framework.files.recordings.samples import ACCEL, EULER, GYRO, QUATERNION

ALTERNATIVES = (QUATERNION, EULER, ("yaw",), GYRO, ACCEL)
"""What a record can be made of."""

GROUPS = {"orientation": EULER, "gyro": GYRO, "accel": ACCEL}
"""Parts of an IMU and their columns in the table."""

_UPRIGHT = np.radians(30.0)


def imu_table(samples, mounting, require, limits, minimum_samples, time_offset):
    """Make an ImuRecord of samples.

    Returns
    -------
    table : pandas.DataFrame
        ImuRecord in the robot's axes, without the columns of what the recording lacks.
    report : RecordingReport

    Raises
    ------
    RecordingError
        The samples cannot serve, or lack what is required.
    """
    orientation = _orientation_columns(samples)
    groups = {"orientation": orientation, "gyro": GYRO, "accel": ACCEL}
    present = {
        name: columns for name, columns in groups.items() if _is_there(samples, name, columns)
    }
    for name in require:
        if name not in present:
            raise RecordingError(f"{samples.source}: the IMU gives no {name}, which is needed")
    cleaner = Cleaner(samples, time_offset)
    cleaner.drop_nan([column for columns in present.values() for column in columns])
    quaternions = None
    if "orientation" in present and orientation == QUATERNION:
        quaternions = cleaner.unit_quaternions(QUATERNION)
    mounted = Rotation.from_euler("ZYX", mounting[::-1])
    if "accel" in present:
        _check_upright(cleaner, mounted)
    absent = [name for name in groups if name not in present]
    order, report = cleaner.finish(limits, minimum_samples, absent)

    table = pd.DataFrame(index=pd.Index(cleaner.times[order], name="time"))
    if "orientation" in present:
        if quaternions is None:
            angles = _angles(samples)[order]
            quaternion = quaternion_from_roll_pitch_yaw(angles)
        else:
            quaternion = quaternions[order]
            angles = None
        if angles is None or np.any(mounting):
            # q: IMU to world; the IMU's axes to the robot's: mounted; so robot to world is
            # q after the inverse of mounted.
            turned = (Rotation.from_quat(quaternion) * mounted.inv()).as_quat()
            angles = roll_pitch_yaw_from_quaternion(turned)
        table[list(EULER)] = np.column_stack([angles[:, :2], unwrap(angles[:, 2])])
    for name in ("gyro", "accel"):
        if name in present:
            vectors = samples.matrix(groups[name])[order]
            table[list(groups[name])] = mounted.apply(vectors) if np.any(mounting) else vectors
    return table, report


def _orientation_columns(samples):
    """A yaw of its own is an orientation too: of a robot that stays level."""
    for columns in (QUATERNION, EULER, ("yaw",)):
        if samples.has(columns):
            return columns
    return QUATERNION


def _angles(samples):
    if samples.has(EULER):
        return samples.matrix(EULER)
    yaw = samples.columns["yaw"]
    return np.column_stack([np.zeros((len(yaw), 2)), yaw])


def _is_there(samples, name, columns) -> bool:
    """Whether a part is given at all; -1 in its covariance says no (REP-145)."""
    if not samples.has(columns):
        return False
    values = samples.matrix(columns)
    unusable = ~np.isfinite(values).all(axis=1)
    covariance = samples.columns.get(f"{name}_covariance")
    if covariance is not None:
        # A driver says so in every message; single ones are left out as if not a number.
        unusable |= covariance == -1.0
        for column in columns:
            samples.columns[column] = np.where(covariance == -1.0, np.nan, samples.columns[column])
    if columns == QUATERNION:
        unusable |= ~values.any(axis=1)
    return not unusable.all()


def _check_upright(cleaner, mounted):
    """Remark if gravity does not lie on the robot's z axis."""
    mean = cleaner.samples.matrix(ACCEL)[cleaner.keep].mean(axis=0)
    length = np.linalg.norm(mean)
    if length == 0.0:
        return
    up = mounted.apply(mean / length)
    if up[2] < np.cos(_UPRIGHT):
        axis = int(np.argmax(np.abs(up)))
        sign = "-" if up[axis] < 0.0 else "+"
        cleaner.remarks.append(
            f"gravity lies on {sign}{'xyz'[axis]} of the IMU instead of +z, "
            "so it is mounted turned: set its mounting"
        )
