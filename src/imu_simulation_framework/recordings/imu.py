"""Create the table of a recorded IMU; a missing orientation is computed by sensor fusion.

With ``orientation = auto``, the orientation of an IMU that outputs none, such as ``imu/data_raw``,
is computed from gyroscope and accelerometer by the fusion filter that the settings ``filter``,
``filter_time_constant`` and ``filter_rate_bias`` describe. The accelerometer determines roll and
pitch; the yaw starts at zero and drifts like the gyroscope. The summary reports the computation
(``orientation_source``, ``fusion``).

An orientation counts as missing if its covariance contains the -1 of REP-145, if its quaternions
are zero, or if each quaternion is (0, 0, 0, 1) while the gyroscope outputs values other than zero.
Without an accelerometer, or if the accelerometer does not show gravity, the yaw is the integral of
the rate about the robot's z axis (after the mounting), which is assumed to be vertical.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
from scipy.spatial.transform import Rotation, Slerp

from ..core.angles import quaternion_from_roll_pitch_yaw, roll_pitch_yaw_from_quaternion, unwrap
from ..core.errors import RecordingError
from ..core.stamps import StampLimits
from ..core.tables import ACCEL, EULER, GYRO, QUATERNION
from ..sensors.imu_specification import OutputSpecification
from .cleaning import MINIMUM_SAMPLES, Cleaner
from .frames import ImuConventions, conventional_imu, levelling_roll_pitch

MOUNTED_TURNED = "the mounting of the IMU is rotated"
"""Clause by which callers recognise the remark on tilted gravity."""
_MAX_LEAN = np.radians(30.0)  # largest tilt of gravity from the z axis; slopes are less steep
_MIN_GRAVITY = 5.0  # m/s^2; an IMU with a smaller mean specific force subtracts gravity
_LEVEL_TIME = 0.5  # s, initial interval over which the accelerometer is averaged for levelling
_MAX_GRID = 3.0  # largest number of grid steps per sample


def imu_table(
    samples,
    conventions=None,
    *,
    require=("orientation",),
    stamp_limits=None,
    minimum_samples=MINIMUM_SAMPLES,
    time_offset=0.0,
):
    """Create the table of an IMU in the body frame of the robot, and a report.

    Parameters
    ----------
    samples : Samples
        Samples as recorded.
    conventions : ImuConventions, optional
        Units, axes, mounting, and source of the orientation.
    require : sequence of str, optional
        Required signals, among ``orientation``, ``gyro`` and ``accel``.
    stamp_limits : StampLimits, optional
        Limits on gaps and on stamps in the wrong order.
    minimum_samples : int, optional
        Smallest number of usable samples.
    time_offset : float, optional
        Time that is added to all stamps [s].

    Returns
    -------
    tuple of DataFrame and RecordingReport
        ImuRecord without the columns of missing signals, and a report.

    Raises
    ------
    RecordingError
        The samples cannot be used, or lack a required signal.
    """
    conventions = conventions or ImuConventions()
    never_set = _is_never_set(samples)
    samples = conventional_imu(mask_unknown_parts(samples), conventions)
    mounting = conventions.mounting
    mounted, turned = Rotation.from_euler("ZYX", mounting[::-1]), bool(np.any(mounting))
    groups = _groups(samples)
    if not groups:
        raise RecordingError(f"{samples.source}: no sample has finite values, expected IMU data")
    if never_set and conventions.orientation == "auto":
        groups.pop("orientation", None)
    absent = [name for name in ("orientation", "gyro", "accel") if name not in groups]
    if conventions.orientation == "fused":
        groups.pop("orientation", None)
        require = ("orientation", *require)
    made = "orientation" in require and "orientation" not in groups
    _check_usable(samples, groups, require, conventions.orientation, turned)

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
    """Return the recorded columns of ``orientation``, ``gyro`` and ``accel``."""
    # If only a yaw is recorded, the robot is assumed to be level.
    orientations = (columns for columns in (QUATERNION, EULER, ("yaw",)) if samples.has(columns))
    groups = {"orientation": next(orientations, ())}
    for name, axes in (("gyro", GYRO), ("accel", ACCEL)):
        groups[name] = tuple(axis for axis in axes if axis in samples)
    return {name: group for name, group in groups.items() if group and _is_filled(samples, group)}


def _is_filled(samples, columns) -> bool:
    """Return whether a signal has values; drivers represent a missing quaternion by zeros."""
    values = samples.matrix(columns)
    usable = np.isfinite(values).all(axis=1) & (columns != QUATERNION or values.any(axis=1))
    return bool(usable.any())


def _is_never_set(samples) -> bool:
    """Return whether all quaternions are identities although the gyroscope measures rotation.

    Such quaternions are the default of a driver, not measurements.
    """
    if not samples.has(QUATERNION + GYRO):
        return False
    quaternions = np.abs(samples.matrix(QUATERNION))
    default = (quaternions.max(axis=1) == 1.0) & (quaternions.sum(axis=1) == 1.0)
    rates = samples.matrix(GYRO)
    return bool(default.all()) and bool(np.any(rates[np.isfinite(rates)]))


def _check_usable(samples, groups, require, orientation, turned):
    for name in require:
        if len(groups.get(name, ())) >= 3 or groups.get(name) == ("yaw",):
            continue
        reason = ""
        if name == "orientation" and orientation != "recorded":
            if "gyro_z" in groups.get("gyro", ()):
                continue
            reason = ", and cannot be computed without a z axis of the gyroscope"
        remarks = "".join(f"; {remark}" for remark in samples.remarks)
        raise RecordingError(
            f"{samples.source}: {name} of the IMU is missing, but required{reason}{remarks}"
        )
    for name in ("gyro", "accel"):
        if turned and len(groups.get(name, GYRO)) < 3:
            raise RecordingError(
                f"{samples.source}: recorded axes are {', '.join(groups[name])}, expected all "
                "three axes with a rotated mounting"
            )


def _robot_angles(samples, quaternions, order, mounted):
    """Return the roll, pitch and yaw of the robot, shape (n, 3)."""
    if quaternions is None:
        angles = np.zeros((len(samples), 3))
        angles[:, 2] = samples.columns["yaw"]
        angles = (samples.matrix(EULER) if samples.has(EULER) else angles)[order]
        if mounted is None:
            return angles
        quaternions = quaternion_from_roll_pitch_yaw(angles)
    else:
        quaternions = quaternions[order]
    # Robot to world is robot to IMU (the inverse of the mounting), then IMU to world.
    robot = Rotation.from_quat(quaternions)
    robot = robot if mounted is None else robot * mounted.inv()
    return roll_pitch_yaw_from_quaternion(robot.as_quat())


def mask_unknown_parts(samples):
    """Replace signals that a covariance of -1 declares as unknown (REP-145) by nan.

    Parameters
    ----------
    samples : Samples
        Samples as recorded.

    Returns
    -------
    Samples
        Masked samples.
    """
    columns = dict(samples.columns)
    for name, group in (("orientation", QUATERNION), ("gyro", GYRO), ("accel", ACCEL)):
        covariance = columns.get(f"{name}_covariance")
        for column in group if covariance is not None and samples.has(group) else ():
            columns[column] = np.where(covariance == -1.0, np.nan, columns[column])
    return replace(samples, columns=columns)


def _check_upright(cleaner, mounted):
    """Add a remark if gravity is not along the robot's z axis."""
    mean = cleaner.samples.matrix(ACCEL)[cleaner.keep].mean(axis=0)
    length = np.linalg.norm(mean)
    if length < _MIN_GRAVITY:
        return
    up = mounted.apply(mean / length)
    if up[2] >= np.cos(_MAX_LEAN):
        return
    axis = int(np.argmax(np.abs(up)))
    where = f"along {'-' if up[axis] < 0.0 else '+'}{'xyz'[axis]} instead of +z"
    if axis == 2 and up[2] > 0.0:
        where = f"{np.degrees(np.arccos(up[2])):.0f} deg off +z"
    roll, pitch = levelling_roll_pitch(mean)
    angles = [("mounting_roll", roll), ("mounting_pitch", pitch)]
    turn = " and ".join(f"{name} = {angle:.4f}" for name, angle in angles if angle)
    down = ""
    if up[2] < -0.5:
        down = (
            "; or set sensor_axes = frd if the axes are forward, right, down; or accel_convention "
            "= gravity if the sensor outputs gravity instead of specific force, as iOS devices do"
        )
    cleaner.remarks.append(
        f"the mean specific force is {where}, so {MOUNTED_TURNED}; set [imu_recording] {turn} "
        f"to level it{down}; gravity does not determine the rotation about the vertical, "
        "mounting_yaw"
    )


def fused_angles(times, gyro, accel, output: OutputSpecification):
    """Fuse gyroscope and accelerometer with the filter of an OutputSpecification.

    The filters of :mod:`.fusion.filters` require a constant period, which recorded stamps rarely
    have. Therefore, the integral of the rate is computed at the recorded times and interpolated to
    an even grid, so that jitter of the stamps does not change the total rotation.

    Parameters
    ----------
    times : array_like, shape (n,)
        At least two strictly increasing times [s].
    gyro, accel : array_like, shape (n, 3)
        Angular velocity [rad/s] and specific force [m/s^2] in axes forward-left-up.
    output : OutputSpecification
        Settings of the filter.

    Returns
    -------
    numpy.ndarray, shape (n, 3)
        Roll, pitch and unwrapped yaw [rad]. The yaw starts at zero; roll and pitch start at the
        angles that the accelerometer shows.

    Raises
    ------
    ConfigurationError
        The filter requires a library that is not installed.
    """
    times = np.asarray(times, dtype=float) - times[0]
    gyro, accel = np.asarray(gyro, dtype=float), np.asarray(accel, dtype=float)
    # The period is the median step; with bursts of stamps, it is limited to keep the grid coarse.
    period = max(float(np.median(np.diff(times))), times[-1] / (_MAX_GRID * len(times)))
    # The last sample is held until the end of the grid.
    grid = period * np.arange(int(times[-1] / period) + 2)
    lasting = np.append(times, grid[-1])
    turned = integral(lasting, np.vstack([gyro, gyro[-1]]))
    turned = np.column_stack([np.interp(grid, lasting, axis) for axis in turned.T])
    forces = np.column_stack([np.interp(grid, times, axis) for axis in accel.T])

    # Imported here, since most recordings contain an orientation.
    from ..sensors.fusion.filters import make_filter

    filter = make_filter(output, period)
    beginning = accel[times <= _LEVEL_TIME].mean(axis=0)
    first = filter.start(np.array([0.0, 0.0, 0.0, 1.0]), beginning)
    updated = filter.update_all(np.diff(turned, axis=0) / period, forces[1:])
    quaternions = np.vstack([first, updated])
    fused = Slerp(grid, Rotation.from_quat(quaternions))(times)
    angles = roll_pitch_yaw_from_quaternion(fused.as_quat())
    yaw = unwrap(angles[:, 2])
    return np.column_stack([angles[:, :2], yaw - yaw[0]])


def integral(times, values):
    """Integrate values over time with the trapezoidal rule.

    Parameters
    ----------
    times : ndarray, shape (n,)
        Times [s].
    values : array_like, shape (n,) or (n, m)
        Integrand.

    Returns
    -------
    ndarray, shape (n,) or (n, m)
        Integral since the first time [unit of the values times s].
    """
    values = np.asarray(values, dtype=float)
    steps = np.diff(times).reshape((-1,) + (1,) * (values.ndim - 1))
    parts = 0.5 * steps * (values[1:] + values[:-1])
    return np.concatenate([np.zeros_like(values[:1]), np.cumsum(parts, axis=0)])


def turn_of_gyroscope(table: pd.DataFrame) -> pd.Series | None:
    """Compute the rotation of a body about the vertical from its gyroscope.

    Parameters
    ----------
    table : pandas.DataFrame
        ImuRecord; without roll and pitch, the z axis is assumed to be vertical.

    Returns
    -------
    pandas.Series or None
        Angle [rad] over time [s]. None without a gyroscope, or if the body is tilted and only
        ``gyro_z`` is recorded.
    """
    leaning = set(EULER[:2]) <= set(table) and bool(table[list(EULER[:2])].to_numpy().any())
    wanted = [*GYRO, *EULER[:2]] if leaning else [GYRO[2]]
    if not set(wanted) <= set(table):
        return None
    known = table[wanted].dropna()
    rate = known[GYRO[2]].to_numpy(dtype=float)
    if leaning:
        x, y, rate, roll, pitch = known.to_numpy(dtype=float).T
        rate = np.cos(pitch) * (np.sin(roll) * y + np.cos(roll) * rate) - np.sin(pitch) * x
    if len(known) < 2:
        return None
    return pd.Series(integral(known.index.to_numpy(dtype=float), rate), index=known.index)


def made_orientation(table, conventions, stamps):
    """Compute an orientation from the gyroscope and, if it shows gravity, the accelerometer.

    Parameters
    ----------
    table : DataFrame
        ImuRecord in the body frame with at least ``gyro_z``.
    conventions : ImuConventions
        Settings of the fusion.
    stamps : StampReport
        Report on the stamps, with gaps.

    Returns
    -------
    angles : ndarray, shape (n, 3)
        Roll, pitch and yaw [rad]; the yaw starts at zero.
    about : dict
        Fields ``orientation_source``, ``fusion`` and ``remarks`` of a :class:`.RecordingReport`.
    """
    times, size, source, settings = table.index.to_numpy(), 0.0, "integrated", {}
    complete = all(name in table for name in GYRO + ACCEL)
    if complete:
        size = float(np.median(np.linalg.norm(table[list(ACCEL)].to_numpy(), axis=1)))
    if size >= _MIN_GRAVITY:
        names, source = ("filter", "filter_time_constant", "filter_rate_bias"), "fused"
        settings = {name: getattr(conventions, name) for name in names}
        output = OutputSpecification(**settings)
        angles = fused_angles(times, table[list(GYRO)], table[list(ACCEL)], output)
        bias = "with" if output.filter_rate_bias else "without"
        remark = (
            "the orientation is computed from gyroscope and accelerometer by the filter "
            f"{output.filter} with a time constant of {output.filter_time_constant:g} s, {bias} "
            "estimation of the gyroscope bias; the yaw starts at 0"
        )
    else:
        yaw = integral(times, table["gyro_z"].to_numpy())
        angles = np.column_stack([np.zeros((len(yaw), 2)), yaw])
        shown = f"does not show gravity (usual output: {size:.2f} m/s^2; check accel_unit)"
        why = f"the accelerometer {shown}" if complete else "there is no accelerometer"
        remark = (
            f"{why}, so the yaw is the integral of the rate about the robot's z axis, which is "
            "assumed to be vertical; roll and pitch are assumed to be 0"
        )
    remarks = [remark]
    if stamps.gaps:
        remarks.append(
            f"the rate is interpolated in gaps (longest: {stamps.longest_gap:.3f} s), so the yaw "
            "is wrong after a gap in which the robot turned"
        )
    return angles, {"orientation_source": source, "fusion": settings, "remarks": tuple(remarks)}
