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
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.spatial.transform import Rotation, Slerp

from ..core.angles import quaternion_from_roll_pitch_yaw, roll_pitch_yaw_from_quaternion, unwrap
from ..core.errors import RecordingError
from ..core.stamps import StampLimits
from ..core.tables import ACCEL, EULER, GYRO, QUATERNION
from ..sensors.imu_specification import OutputSpecification
from .cleaning import MINIMUM_SAMPLES, Cleaner, RecordingReport, Samples
from .frames import ImuConventions, conventional_imu, levelling_roll_pitch

MOUNTED_TURNED = "the mounting of the IMU is rotated"
"""Clause by which callers recognise the remark on tilted gravity."""
_MAX_LEAN = np.radians(30.0)  # largest tilt of gravity from the z axis; slopes are less steep
_MIN_GRAVITY = 5.0  # m/s^2; an IMU with a smaller mean specific force subtracts gravity
_LEVEL_TIME = 0.5  # s, initial interval over which the accelerometer is averaged for levelling
_MAX_GRID = 3.0  # largest number of grid steps per sample
_SAMPLES_AT_ONCE = 2**16  # number of samples that are processed at a time, which limits memory


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
    limits = stamp_limits or StampLimits()
    imu = _clean_imu(samples, conventions, require, limits, minimum_samples, time_offset)
    samples, order, mounting = imu.samples, imu.order, imu.mounting
    table = pd.DataFrame(index=pd.Index(imu.times[order], name="time"))
    if "orientation" in imu.groups:
        angles = _robot_angles(samples, imu.quaternions, order, mounting)
        table[list(EULER)] = np.column_stack([angles[:, :2], unwrap(angles[:, 2])])
    for name in ("gyro", "accel"):
        if name in imu.groups:
            vectors = samples.matrix(imu.groups[name])[order]
            table[list(imu.groups[name])] = vectors if mounting is None else mounting.apply(vectors)
    if imu.computes_orientation:
        angles = _computed_orientation(table, conventions, imu.report)
        for position, name in enumerate(EULER):
            table.insert(position, name, angles[:, position])
    return table, imu.report


def imu_report(samples, conventions=None, *, time_offset=0.0) -> RecordingReport:
    """Return the report of :func:`imu_table` for a required orientation, without the table.

    This takes less memory and time, since no orientation is computed.

    Parameters
    ----------
    samples : Samples
        Samples as recorded.
    conventions : ImuConventions, optional
        Units, axes, mounting, and source of the orientation.
    time_offset : float, optional
        Time that is added to all stamps [s].

    Returns
    -------
    RecordingReport
        Report on the samples.

    Raises
    ------
    RecordingError
        The samples cannot be used, or lack an orientation that cannot be computed either.
    ConfigurationError
        The filter for the orientation requires a library that is not installed.
    """
    conventions = conventions or ImuConventions()
    options = ("orientation",), StampLimits(), MINIMUM_SAMPLES, time_offset
    report = _clean_imu(samples, conventions, *options).report
    if report.orientation_source == "fused":
        _fusion_filter(_fusion_settings(conventions), period=1.0)
    return report


class _CleanedImu(NamedTuple):
    """Samples of an IMU in conventional axes and units, with the indices of the usable samples.

    ``groups`` has the recorded columns of each signal, ``order`` the indices of the usable samples
    in the order of ``times``. ``mounting`` is None if the IMU has the axes of the robot.
    """

    samples: Samples
    groups: dict[str, tuple[str, ...]]
    quaternions: np.ndarray | None
    mounting: Rotation | None
    times: np.ndarray
    order: np.ndarray
    report: RecordingReport
    computes_orientation: bool


def _clean_imu(
    samples, conventions, require, stamp_limits, minimum_samples, time_offset
) -> _CleanedImu:
    never_set = _is_never_set(samples)
    samples = conventional_imu(mask_unknown_parts(samples), conventions)
    mounting = conventions.mounting
    mounted, is_rotated = Rotation.from_euler("ZYX", mounting[::-1]), bool(np.any(mounting))
    groups = _groups(samples)
    if not groups:
        raise RecordingError(f"{samples.source}: no sample has finite values, expected IMU data")
    if never_set and conventions.orientation == "auto":
        groups.pop("orientation", None)
    absent = [name for name in ("orientation", "gyro", "accel") if name not in groups]
    if conventions.orientation == "fused":
        groups.pop("orientation", None)
        require = ("orientation", *require)
    computes_orientation = "orientation" in require and "orientation" not in groups
    _check_usable(samples, groups, require, conventions.orientation, is_rotated)

    cleaner = Cleaner(samples, time_offset)
    cleaner.drop_nan([column for group in groups.values() for column in group])
    quaternions = None
    if groups.get("orientation") == QUATERNION:
        quaternions = cleaner.unit_quaternions(QUATERNION)
    if groups.get("accel") == ACCEL:
        _check_upright(cleaner, mounted)
    order, report = cleaner.finish(stamp_limits, minimum_samples, absent)
    if "orientation" in groups:
        report = replace(report, orientation_source="recorded")
    if computes_orientation:
        about = _describe_computed_orientation(samples, groups, order, conventions, report.stamps)
        report = replace(report, remarks=report.remarks + about.pop("remarks"), **about)
    return _CleanedImu(
        samples, groups, quaternions, mounted if is_rotated else None, cleaner.times, order, report,
        computes_orientation,
    )  # fmt: skip


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
    values = [samples.columns[name] for name in columns]
    usable = np.logical_and.reduce([np.isfinite(value) for value in values])
    if columns == QUATERNION:
        usable &= np.logical_or.reduce([value != 0.0 for value in values])
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


def _check_usable(samples, groups, require, orientation, is_rotated):
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
        if is_rotated and len(groups.get(name, GYRO)) < 3:
            raise RecordingError(
                f"{samples.source}: recorded axes are {', '.join(groups[name])}, but a rotated "
                "mounting requires all three"
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
        unknown = None if covariance is None else covariance == -1.0
        if unknown is None or not unknown.any() or not samples.has(group):
            continue
        for column in group:
            columns[column] = np.where(unknown, np.nan, columns[column])
    return replace(samples, columns=columns)


def _check_upright(cleaner, mounted):
    """Add a remark if gravity is not along the robot's z axis."""
    mean = np.array([cleaner.samples.columns[name][cleaner.keep].mean() for name in ACCEL])
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
    extended_times = np.append(times, grid[-1])
    rates, forces = (np.empty((len(grid) - 1, 3)) for _ in range(2))
    for axis in range(3):
        rate_integral = integral(extended_times, np.append(gyro[:, axis], gyro[-1, axis]))
        rates[:, axis] = np.diff(np.interp(grid, extended_times, rate_integral)) / period
        forces[:, axis] = np.interp(grid, times, accel[:, axis])[1:]

    filter = _fusion_filter(output, period)
    beginning = accel[times <= _LEVEL_TIME].mean(axis=0)
    quaternions = np.empty((len(grid), 4))
    quaternions[0] = filter.start(np.array([0.0, 0.0, 0.0, 1.0]), beginning)
    quaternions[1:] = filter.update_all(rates, forces)
    del rates, forces
    angles = _interpolated_angles(grid, quaternions, times)
    yaw = unwrap(angles[:, 2])
    angles[:, 2] = yaw - yaw[0]
    return angles


def _interpolated_angles(grid, quaternions, times) -> np.ndarray:
    """Interpolate orientations to other times, in blocks that limit the memory."""
    angles = np.empty((len(times), 3))
    for first in range(0, len(times), _SAMPLES_AT_ONCE):
        block = slice(first, first + _SAMPLES_AT_ONCE)
        # The interval before the first time is included, so that blocks do not change the result.
        start = max(0, np.searchsorted(grid, times[block][0]) - 1)
        stop = np.searchsorted(grid, times[block][-1]) + 1
        rotations = Rotation.from_quat(quaternions[start : max(stop, start + 2)])
        slerp = Slerp(grid[start : max(stop, start + 2)], rotations)
        angles[block] = roll_pitch_yaw_from_quaternion(slerp(times[block]).as_quat())
    return angles


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
    is_tilted = set(EULER[:2]) <= set(table) and bool(table[list(EULER[:2])].to_numpy().any())
    required = [*GYRO, *EULER[:2]] if is_tilted else [GYRO[2]]
    if not set(required) <= set(table):
        return None
    finite_rows = table[required].dropna()
    rate = finite_rows[GYRO[2]].to_numpy(dtype=float)
    if is_tilted:
        x, y, rate, roll, pitch = finite_rows.to_numpy(dtype=float).T
        rate = np.cos(pitch) * (np.sin(roll) * y + np.cos(roll) * rate) - np.sin(pitch) * x
    if len(finite_rows) < 2:
        return None
    return pd.Series(
        integral(finite_rows.index.to_numpy(dtype=float), rate), index=finite_rows.index
    )


def _describe_computed_orientation(samples, groups, order, conventions, stamps):
    """Determine how an orientation is computed: by a filter if the accelerometer shows gravity.

    Returns
    -------
    dict
        Fields ``orientation_source``, ``fusion`` and ``remarks`` of a :class:`.RecordingReport`.
    """
    source, settings = "integrated", {}
    is_complete = groups.get("gyro") == GYRO and groups.get("accel") == ACCEL
    size = _median_length(samples, ACCEL, order) if is_complete else 0.0
    if size >= _MIN_GRAVITY:
        source, output = "fused", _fusion_settings(conventions)
        settings = {name: getattr(output, name) for name in _FUSION_SETTINGS}
        bias = "with" if output.filter_rate_bias else "without"
        remark = (
            "the orientation is computed from gyroscope and accelerometer by the filter "
            f"{output.filter} with a time constant of {output.filter_time_constant:g} s, {bias} "
            "estimation of the gyroscope bias; the yaw starts at 0"
        )
    else:
        contradiction = f"does not show gravity (usual output: {size:.2f} m/s^2; check accel_unit)"
        why = f"the accelerometer {contradiction}" if is_complete else "there is no accelerometer"
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
    return {"orientation_source": source, "fusion": settings, "remarks": tuple(remarks)}


_FUSION_SETTINGS = ("filter", "filter_time_constant", "filter_rate_bias")


def _fusion_settings(conventions) -> OutputSpecification:
    return OutputSpecification(**{name: getattr(conventions, name) for name in _FUSION_SETTINGS})


def _fusion_filter(output: OutputSpecification, period: float):
    # Imported here, since most recordings contain an orientation.
    from ..sensors.fusion.filters import make_filter

    return make_filter(output, period)


def _median_length(samples, names, order) -> float:
    lengths = np.empty(len(order))
    for first in range(0, len(order), _SAMPLES_AT_ONCE):
        rows = order[first : first + _SAMPLES_AT_ONCE]
        squares = sum(np.square(samples.columns[name][rows]) for name in names)
        lengths[first : first + _SAMPLES_AT_ONCE] = np.sqrt(squares)
    return float(np.median(lengths, overwrite_input=True))


def _computed_orientation(table, conventions, report) -> np.ndarray:
    """Return roll, pitch and yaw (n, 3) [rad], computed as the report states."""
    times = table.index.to_numpy()
    if report.orientation_source == "fused":
        gyro, accel = table[list(GYRO)], table[list(ACCEL)]
        return fused_angles(times, gyro, accel, _fusion_settings(conventions))
    yaw = integral(times, table["gyro_z"].to_numpy())
    return np.column_stack([np.zeros((len(yaw), 2)), yaw])
