"""Recordings of a drive: reference trajectories and IMUs, from ROS 1 bags and text files.

:func:`read_reference` and :func:`read_imu` are all that is needed from outside. Both go
the same way: find out the format, read samples as they were recorded (one module per
format), leave out and report what cannot serve, and make one of the package's tables.
"""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from imu_simulation_framework.core.positioning import FixSettings
from imu_simulation_framework.core.stamps import StampLimits
from imu_simulation_framework.errors import RecordingError
from imu_simulation_framework.files.recordings import imu, messages, reference
from imu_simulation_framework.files.recordings.bag import read_bag
from imu_simulation_framework.files.recordings.opening import (
    FORMATS,
    detect_format,
    read_start,
    read_text,
)
from imu_simulation_framework.files.recordings.plain_csv import read_plain_csv
from imu_simulation_framework.files.recordings.report import RecordingReport
from imu_simulation_framework.files.recordings.rostopic_csv import read_rostopic_csv
from imu_simulation_framework.files.recordings.tum import read_tum

__all__ = ["RecordedImu", "RecordedReference", "RecordingReport", "read_imu", "read_reference"]

MINIMUM_SAMPLES = 10


@dataclass(frozen=True)
class RecordedReference:
    """A reference trajectory: ``table`` is Poses on the recording's clock."""

    table: pd.DataFrame
    report: RecordingReport


@dataclass(frozen=True)
class RecordedImu:
    """A recorded IMU: ``table`` is an ImuRecord on the recording's clock."""

    table: pd.DataFrame
    report: RecordingReport


def read_reference(
    path,
    topic="",
    format="auto",
    columns=None,
    *,
    time_offset=0.0,
    minimum_samples=MINIMUM_SAMPLES,
    stamp_limits=None,
    **fix_settings,
):
    """Read a reference trajectory.

    Parameters
    ----------
    path : path-like
        A ROS 1 bag, what ``rostopic echo -p`` wrote, CSV, or TUM; each also packed by gzip.
    topic : str
        In a bag; empty for the only one with a type that can serve: nav_msgs/Odometry,
        geometry_msgs/PoseStamped, geometry_msgs/PoseWithCovarianceStamped or
        sensor_msgs/NavSatFix.
    format : str
        ``bag``, ``rostopic_csv``, ``csv``, ``tum``, or ``auto`` to find out.
    columns : mapping of str to str, optional
        For CSV: quantity -> ``"column [unit]"``. Needs ``time`` and either ``x y yaw``,
        ``x y qx qy qz qw`` or ``latitude longitude`` (with ``variance_east
        variance_north altitude status`` if known).
    time_offset : float
        Added to all times [s], for a receiver that tells late where it was (then negative).
    minimum_samples : int
        Fewer usable samples are refused.
    stamp_limits : StampLimits, optional
    **fix_settings
        Fields of :class:`~imu_simulation_framework.core.positioning.FixSettings`, for
        satellite positions.

    Returns
    -------
    RecordedReference

    Raises
    ------
    RecordingError
        The recording cannot be read, or its data cannot serve.
    """
    settings = FixSettings(**fix_settings)
    samples = _read_samples(
        path, topic, format, columns, messages.REFERENCE_TYPES, reference.ALTERNATIVES
    )
    table, report = reference.reference_table(
        samples, settings, stamp_limits or StampLimits(), minimum_samples, time_offset
    )
    return RecordedReference(table, report)


def read_imu(
    path,
    topic="",
    format="auto",
    columns=None,
    mounting=(0.0, 0.0, 0.0),
    *,
    require=("orientation",),
    time_offset=0.0,
    minimum_samples=MINIMUM_SAMPLES,
    stamp_limits=None,
):
    """Read a recorded IMU.

    Parameters
    ----------
    path, topic, format, time_offset, minimum_samples, stamp_limits
        As for :func:`read_reference`; the type that can serve is sensor_msgs/Imu.
    columns : mapping of str to str, optional
        For CSV: quantity -> ``"column [unit]"``. Needs ``time`` and at least one of ``qx qy
        qz qw``, ``roll pitch yaw``, ``yaw`` (roll and pitch then are 0), ``gyro_x gyro_y
        gyro_z`` and ``accel_x accel_y accel_z``.
    mounting : sequence of float, length 3
        Roll, pitch, yaw [rad] of the IMU's axes in the robot's: the rotation about z by yaw
        after y by pitch after x by roll takes a vector from the IMU's axes to the robot's.
        Zero for an IMU whose axes are the robot's.
    require : sequence of str
        What the IMU must give, of ``orientation``, ``gyro`` and ``accel``.

    Returns
    -------
    RecordedImu

    Raises
    ------
    RecordingError
        The recording cannot be read, or its data cannot serve.
    """
    samples = _read_samples(path, topic, format, columns, messages.IMU_TYPES, imu.ALTERNATIVES)
    table, report = imu.imu_table(
        samples, mounting, require, stamp_limits or StampLimits(), minimum_samples, time_offset
    )
    return RecordedImu(table, report)


def _read_samples(path, topic, format, columns, message_types, alternatives):
    if format not in FORMATS + ("auto",):
        raise RecordingError(
            f"{path}: unknown format {format!r}, expected auto or one of {', '.join(FORMATS)}"
        )
    start = read_start(path)
    if format == "auto":
        format = detect_format(path, start)
    if format == "bag":
        return read_bag(path, topic, message_types)
    text = read_text(path)
    if format == "rostopic_csv":
        return read_rostopic_csv(path, text, message_types)
    if format == "tum":
        return read_tum(path, text)
    return read_plain_csv(path, text, columns, alternatives)
