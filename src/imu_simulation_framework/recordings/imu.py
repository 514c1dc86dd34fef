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
from imu_simulation_framework.core.columns import ACCEL, EULER, GYRO, QUATERNION
from imu_simulation_framework.core.errors import RecordingError
from imu_simulation_framework.core.stamps import StampLimits
from imu_simulation_framework.recordings.cleaning import MINIMUM_SAMPLES, Cleaner
from imu_simulation_framework.recordings.conventions import conventional_imu
from imu_simulation_framework.recordings.frames import ImuConventions, levelling_roll_pitch
from imu_simulation_framework.recordings.orientation import GRAVITY_SHOWS, made_orientation

MOUNTED_TURNED = "the IMU is mounted turned"
"""In the remark on gravity beside the z axis, which matters to a heading only."""

_UPRIGHT = np.radians(30.0)


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
        As for :func:`~imu_simulation_framework.recordings.reading.read_imu`.

    Returns
    -------
    table : pandas.DataFrame
        ImuRecord in the robot's axes, without the columns of what the recording lacks.
    report : RecordingReport

    Raises
    ------
    RecordingError
        The samples cannot be used, or lack what is required.
    """
    conventions = conventions or ImuConventions()
    never_set = _is_never_set(samples)
    samples = conventional_imu(without_unknown(samples), conventions)
    mounting = conventions.mounting
    mounted, turned = Rotation.from_euler("ZYX", mounting[::-1]), bool(np.any(mounting))
    groups = _groups(samples)
    if not groups:
        raise RecordingError(f"{samples.source}: no sample holds a number")
    if never_set and conventions.orientation == "auto":
        groups.pop("orientation", None)
    absent = [name for name in ("orientation", "gyro", "accel") if name not in groups]
    if conventions.orientation == "fused":
        groups.pop("orientation", None)
    if conventions.orientation == "fused":
        require = ("orientation", *require)
    made = "orientation" in require and "orientation" not in groups
    _check_required(samples, groups, require, conventions.orientation)
    _check_mountable(samples, groups, turned)

    cleaner = Cleaner(samples, time_offset)
    cleaner.drop_nan([column for group in groups.values() for column in group])
    quaternions = None
    if groups.get("orientation") == QUATERNION:
        quaternions = cleaner.unit_quaternions(QUATERNION)
    if groups.get("accel") == ACCEL:
        _check_upright(cleaner, mounted)
    order, report = cleaner.finish(stamp_limits or StampLimits(), minimum_samples, absent)

    table = pd.DataFrame(index=pd.Index(cleaner.times[order], name="time"))
    if "orientation" in groups:
        angles = _robot_angles(samples, quaternions, order, mounted if turned else None)
        table[list(EULER)] = np.column_stack([angles[:, :2], unwrap(angles[:, 2])])
        report = replace(report, orientation_source="recorded")
    for name in ("gyro", "accel"):
        if name in groups:
            vectors = samples.matrix(groups[name])[order]
            table[list(groups[name])] = mounted.apply(vectors) if turned else vectors
    if made:
        angles, about = made_orientation(table, conventions, report.stamps)
        for position, name in enumerate(EULER):
            table.insert(position, name, angles[:, position])
        report = replace(report, remarks=report.remarks + about.pop("remarks"), **about)
    return table, report


def _groups(samples):
    """Return what the samples give: ``orientation``, ``gyro`` and ``accel`` with their columns."""
    groups = {"orientation": _orientation_columns(samples)}
    for name, axes in (("gyro", GYRO), ("accel", ACCEL)):
        groups[name] = tuple(axis for axis in axes if axis in samples)
    return {name: group for name, group in groups.items() if _is_given(samples, group)}


def _orientation_columns(samples):
    """Return the columns of an orientation; a yaw alone is that of a robot that stays level."""
    for columns in (QUATERNION, EULER, ("yaw",)):
        if samples.has(columns):
            return columns
    return QUATERNION


def _is_given(samples, columns) -> bool:
    """Whether a part has a value anywhere; drivers leave a quaternion zero that they lack."""
    if not columns or not samples.has(columns):
        return False
    values = samples.matrix(columns)
    usable = np.isfinite(values).all(axis=1)
    if columns == QUATERNION:
        usable &= values.any(axis=1)
    return bool(usable.any())


def _is_never_set(samples) -> bool:
    """Whether all quaternions are a driver's default, while the gyroscope measures something.

    An orientation that is no turn at all to the last bit is nobody's measurement.
    """
    if not samples.has(QUATERNION + GYRO):
        return False
    quaternions = np.abs(samples.matrix(QUATERNION))
    default = (quaternions.max(axis=1) == 1.0) & (quaternions.sum(axis=1) == 1.0)
    rates = samples.matrix(GYRO)
    return bool(default.all()) and bool(np.any(rates[np.isfinite(rates)]))


def _check_required(samples, groups, require, orientation):
    for name in require:
        if len(groups.get(name, ())) >= 3 or groups.get(name) == ("yaw",):
            continue
        reason = ""
        if name == "orientation" and orientation != "recorded":
            if "gyro_z" in groups.get("gyro", ()):
                continue
            reason = ", and no gyroscope about z to make one of"
        raise RecordingError(f"{samples.source}: the IMU gives no {name}, which is needed{reason}")


def _check_mountable(samples, groups, turned):
    for name in ("gyro", "accel"):
        if turned and len(groups.get(name, GYRO)) < 3:
            raise RecordingError(
                f"{samples.source}: the mounting turns all three axes into each other, but only "
                f"{', '.join(groups[name])} are given"
            )


def _robot_angles(samples, quaternions, order, mounted):
    """Return roll, pitch and yaw of the robot, shape (n, 3)."""
    if quaternions is None:
        angles = _angles(samples)[order]
        if mounted is None:
            return angles
        quaternions = quaternion_from_roll_pitch_yaw(angles)
    else:
        quaternions = quaternions[order]
    # A quaternion takes the IMU's axes to the world's, the mounting them to the robot's; from
    # the robot's to the world's is therefore back through the mounting.
    robot = Rotation.from_quat(quaternions)
    robot = robot if mounted is None else robot * mounted.inv()
    return roll_pitch_yaw_from_quaternion(robot.as_quat())


def _angles(samples):
    if samples.has(EULER):
        return samples.matrix(EULER)
    yaw = samples.columns["yaw"]
    return np.column_stack([np.zeros((len(yaw), 2)), yaw])


def without_unknown(samples):
    """Return samples with nan where -1 in a covariance says that a part is not known (REP-145)."""
    columns = dict(samples.columns)
    for name, group in (("orientation", QUATERNION), ("gyro", GYRO), ("accel", ACCEL)):
        covariance = columns.get(f"{name}_covariance")
        if covariance is not None and samples.has(group):
            for column in group:
                columns[column] = np.where(covariance == -1.0, np.nan, columns[column])
    return replace(samples, columns=columns)


def _check_upright(cleaner, mounted):
    """Remark if gravity does not lie on the robot's z axis."""
    mean = cleaner.samples.matrix(ACCEL)[cleaner.keep].mean(axis=0)
    length = np.linalg.norm(mean)
    if length < GRAVITY_SHOWS:
        return
    up = mounted.apply(mean / length)
    if up[2] >= np.cos(_UPRIGHT):
        return
    axis = int(np.argmax(np.abs(up)))
    where = f"on {'-' if up[axis] < 0.0 else '+'}{'xyz'[axis]} instead of +z"
    if axis == 2 and up[2] > 0.0:
        where = f"{np.degrees(np.arccos(up[2])):.0f} deg beside +z on the mean"
    roll, pitch = levelling_roll_pitch(mean)
    angles = [("mounting_roll", roll), ("mounting_pitch", pitch)]
    turn = " and ".join(f"{name} = {angle:.4f}" for name, angle in angles if angle)
    down = ", or sensor_axes = frd if they are forward, right, down" if up[2] < -0.5 else ""
    cleaner.remarks.append(
        f"gravity lies {where}, so {MOUNTED_TURNED}: [imu_recording] {turn} would put it upright"
        f"{down}; how it is turned about the vertical, mounting_yaw, gravity does not tell"
    )
