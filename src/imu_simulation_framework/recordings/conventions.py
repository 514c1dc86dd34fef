"""Samples as recorded, in whatever convention, made samples in this package's own.

A column map's own words (``yaw = heading [deg cw from north]``) win over the conventions given.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from imu_simulation_framework.core.columns import ACCEL, GYRO, QUATERNION
from imu_simulation_framework.recordings.cleaning import POSITION
from imu_simulation_framework.recordings.frames import (
    ACCEL_CONVENTIONS,
    ACCEL_UNITS,
    GYRO_UNITS,
    ImuConventions,
    ReferenceConventions,
    positions_from_frame,
    quaternions_from_convention,
    vectors_from_axes,
    yaw_from_convention,
)

COURSE_CONVENTION = "cw_from_north"
"""A course is what a compass shows, whatever the yaw is."""


def conventional_imu(samples, conventions: ImuConventions):
    """Return samples of an IMU in ENU, forward-left-up, rad/s and m/s^2; not mounted yet."""
    columns = dict(samples.columns)
    _turn_orientation(columns, samples, conventions)
    signs = vectors_from_axes(np.ones(3), conventions.axes)
    units = (GYRO_UNITS[conventions.gyro_unit], ACCEL_UNITS[conventions.accel_unit])
    for names, unit in zip((GYRO, ACCEL), units):
        for name, sign in zip(names, signs):
            if name in columns:
                columns[name] = columns[name] * (
                    sign if name in samples.stated_units else sign * unit
                )
    for name in ACCEL:
        if name in columns:
            columns[name] = ACCEL_CONVENTIONS[conventions.accel_convention] * columns[name]
    return replace(samples, columns=columns)


def conventional_reference(samples, conventions: ReferenceConventions):
    """Return samples of a reference in ENU, yaw and course counter-clockwise from east.

    Where both speed and course are there they become ``velocity_east`` and ``velocity_north``.
    """
    columns = dict(samples.columns)
    _turn_orientation(columns, samples, conventions)
    if samples.has(POSITION):
        height = columns.get("z", np.zeros(len(samples)))
        positions = np.column_stack([columns["x"], columns["y"], height])
        positions = positions_from_frame(positions, conventions.frame)
        columns.update(x=positions[:, 0], y=positions[:, 1])
        if "z" in columns:
            columns["z"] = positions[:, 2]
    if "course" in columns:
        convention = samples.yaw_conventions.get("course", COURSE_CONVENTION)
        columns["course"] = yaw_from_convention(columns["course"], convention)
        if "speed" in columns:
            speed, course = columns.pop("speed"), columns.pop("course")
            # Below zero a telephone says that it does not know.
            speed = np.where(speed < 0.0, np.nan, speed)
            columns["velocity_east"] = speed * np.cos(course)
            columns["velocity_north"] = speed * np.sin(course)
    return replace(samples, columns=columns)


def _turn_orientation(columns, samples, conventions):
    if samples.has(QUATERNION):
        turned = quaternions_from_convention(samples.matrix(QUATERNION), conventions)
        columns.update(zip(QUATERNION, turned.T))
    if "pitch" in columns and conventions.frame == "ned":
        # Nose up is positive about right, and negative about left.
        columns["pitch"] = -columns["pitch"]
    if "yaw" in columns:
        convention = samples.yaw_conventions.get("yaw", conventions.yaw)
        columns["yaw"] = yaw_from_convention(columns["yaw"], convention)
