"""A recorded IMU from samples."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
from scipy.spatial.transform import Rotation

from imu_simulation_framework.core.angles import (
    quaternion_from_roll_pitch_yaw,
    roll_pitch_yaw_from_quaternion,
    unwrap,
)
from imu_simulation_framework.core.stamps import StampLimits
from imu_simulation_framework.errors import RecordingError
from imu_simulation_framework.files.recordings.cleaning import MINIMUM_SAMPLES, Cleaner
from imu_simulation_framework.files.recordings.conventions import ImuConventions, conventional_imu
from imu_simulation_framework.files.recordings.samples import ACCEL, EULER, GYRO, QUATERNION

ALTERNATIVES = (QUATERNION, EULER, ("yaw",), GYRO, ACCEL)
"""What a record can be made of."""

_UPRIGHT = np.radians(30.0)
_GRAVITY_SHOWS = 5.0  # m/s^2; some IMUs subtract gravity


def imu_table(
    samples,
    conventions=None,
    *,
    require=("orientation",),
    stamp_limits=None,
    minimum_samples=MINIMUM_SAMPLES,
    time_offset=0.0,
):
    """Make an ImuRecord of samples.

    Parameters
    ----------
    samples : Samples
        As recorded.
    conventions : ImuConventions, optional
    require, stamp_limits, minimum_samples, time_offset
        As for :func:`~imu_simulation_framework.files.recordings.read_imu`.

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
    conventions = conventions or ImuConventions()
    samples = conventional_imu(_without_unknown(samples), conventions)
    orientation = _orientation_columns(samples)
    groups = {"orientation": orientation, "gyro": GYRO, "accel": ACCEL}
    present = {name: group for name, group in groups.items() if _is_given(samples, group)}
    if not present:
        raise RecordingError(f"{samples.source}: no sample holds a number")
    for name in require:
        if name not in present:
            raise RecordingError(f"{samples.source}: the IMU gives no {name}, which is needed")
    cleaner = Cleaner(samples, time_offset)
    cleaner.drop_nan([column for group in present.values() for column in group])
    quaternions = None
    if present.get("orientation") == QUATERNION:
        quaternions = cleaner.unit_quaternions(QUATERNION)
    mounting = conventions.mounting
    mounted, turned = Rotation.from_euler("ZYX", mounting[::-1]), np.any(mounting)
    if "accel" in present:
        _check_upright(cleaner, mounted)
    absent = [name for name in groups if name not in present]
    order, report = cleaner.finish(stamp_limits or StampLimits(), minimum_samples, absent)

    table = pd.DataFrame(index=pd.Index(cleaner.times[order], name="time"))
    if "orientation" in present:
        if quaternions is None:
            angles = _angles(samples)[order]
            quaternions = quaternion_from_roll_pitch_yaw(angles) if turned else None
        else:
            quaternions = quaternions[order]
        if quaternions is not None:
            # A quaternion takes the IMU's axes to the world's, the mounting them to the
            # robot's; from the robot's to the world's is therefore back through the mounting.
            robot = Rotation.from_quat(quaternions) * mounted.inv()
            angles = roll_pitch_yaw_from_quaternion(robot.as_quat())
        table[list(EULER)] = np.column_stack([angles[:, :2], unwrap(angles[:, 2])])
    for name in ("gyro", "accel"):
        if name in present:
            vectors = samples.matrix(groups[name])[order]
            table[list(groups[name])] = mounted.apply(vectors) if turned else vectors
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


def _without_unknown(samples):
    """The samples with nan where -1 in a covariance says that a part is not known (REP-145)."""
    columns = dict(samples.columns)
    for name, group in (("orientation", QUATERNION), ("gyro", GYRO), ("accel", ACCEL)):
        covariance = columns.get(f"{name}_covariance")
        if covariance is not None:
            for column in group:
                columns[column] = np.where(covariance == -1.0, np.nan, columns[column])
    return replace(samples, columns=columns)


def _is_given(samples, columns) -> bool:
    """Whether a part has a value anywhere; drivers leave a quaternion zero that they lack."""
    if not samples.has(columns):
        return False
    values = samples.matrix(columns)
    usable = np.isfinite(values).all(axis=1)
    if columns == QUATERNION:
        usable &= values.any(axis=1)
    return bool(usable.any())


def _check_upright(cleaner, mounted):
    """Remark if gravity does not lie on the robot's z axis."""
    mean = cleaner.samples.matrix(ACCEL)[cleaner.keep].mean(axis=0)
    length = np.linalg.norm(mean)
    if length < _GRAVITY_SHOWS:
        return
    up = mounted.apply(mean / length)
    if up[2] < np.cos(_UPRIGHT):
        axis = int(np.argmax(np.abs(up)))
        sign = "-" if up[axis] < 0.0 else "+"
        cleaner.remarks.append(
            f"gravity lies on {sign}{'xyz'[axis]} instead of +z, "
            "so the IMU is mounted turned: set its mounting"
        )
