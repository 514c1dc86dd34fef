"""Compute a reference trajectory from samples of poses or satellite positions."""

from dataclasses import replace

import numpy as np
import pandas as pd

from ..core.angles import unwrap, yaw_from_quaternion
from ..core.errors import RecordingError
from ..core.stamps import StampLimits
from ..core.tables import QUATERNION
from ..motion.course import NoHeadingError
from ..motion.fix_noise import jitter
from ..motion.positioning import (
    UNKNOWN_VARIANCE,
    FixSettings,
    heading_errors,
    repeated_fixes,
    trajectory_from_fixes,
    variances_from_quality,
)
from . import cleaning
from .file_access import COLUMN_FORMATS
from .frames import ReferenceConventions, conventional_reference

_NO_FIX, _UNKNOWN_COVARIANCE = -1, 0  # STATUS_NO_FIX, COVARIANCE_TYPE_UNKNOWN of NavSatFix


def reference_table(
    samples,
    conventions=None,
    settings=None,
    *,
    stamp_limits=None,
    minimum_samples=cleaning.MINIMUM_SAMPLES,
    time_offset=0.0,
):
    """Compute the poses of a reference from recorded samples.

    Parameters
    ----------
    samples : Samples
        Poses, or positions with or without a heading.
    conventions : ReferenceConventions, optional
        Conventions of the recording.
    settings : FixSettings, optional
        Settings of the smoothing of satellite positions.
    stamp_limits : StampLimits, optional
        Limits on gaps and on stamps in the wrong order.
    minimum_samples : int, optional
        Smallest number of usable samples.
    time_offset : float, optional
        Time that is added to all stamps [s].

    Returns
    -------
    tuple of DataFrame and RecordingReport
        Poses over time [s], and a report.

    Raises
    ------
    RecordingError
        The samples cannot be used.
    """
    samples = conventional_reference(samples, conventions or ReferenceConventions())
    make = _from_fixes if has_to_be_smoothed(samples) else _from_poses
    limits = stamp_limits or StampLimits()
    return make(samples, settings or FixSettings(), limits, minimum_samples, time_offset)


def has_to_be_smoothed(samples) -> bool:
    """Return whether the heading has to be computed from the course over ground.

    Parameters
    ----------
    samples : Samples
        Samples of a reference.

    Returns
    -------
    bool
        True for positions without a complete orientation.
    """
    poses = samples.has(cleaning.POSITION) and (samples.has(QUATERNION) or "yaw" in samples)
    return not poses


_FEWEST_POSES = 20  # smallest number of poses for which an orientation can be a placeholder
_MIN_EXTENT = 3.0  # m, smallest extent of a path; satellite positions at rest vary less
_CHORDS = 40  # number of chords into which a path is divided to compare their directions
# Mean resultant length of doubled directions: 0.94 for a line with 10 deg noise, 0.64 for a
# 90 deg turn.
_STRAIGHT = 0.9


def remove_placeholder(samples):
    """Remove an orientation from samples of poses if it was never set.

    Satellite odometry, such as ``/odometry/gps`` of robot_localization, fills the orientation with
    a constant. This constant cannot be the yaw if the path has curves. The orientation is not
    removed if the robot hardly moves, or moves only along a line.

    Parameters
    ----------
    samples : Samples
        Samples of poses.

    Returns
    -------
    Samples
        Positions only, with a remark; or the unchanged samples.
    """
    if not samples.has(cleaning.POSITION) or len(samples) < _FEWEST_POSES:
        return samples
    names = QUATERNION if samples.has(QUATERNION) else ("yaw",)
    if not samples.has(names):
        return samples
    angles = samples.matrix(names)
    angles = angles[np.isfinite(angles).all(axis=1)]
    if not len(angles) or np.ptp(angles, axis=0).any() or not (names == ("yaw",) or angles.any()):
        return samples
    if not _path_bends(samples.matrix(cleaning.POSITION)):
        return samples
    left_out = {*QUATERNION, "roll", "pitch", "yaw", "yaw_variance", "orientation_covariance"}
    columns = {name: values for name, values in samples.columns.items() if name not in left_out}
    value = ", ".join(f"{number:g}" for number in angles[0])
    remark = (
        f"the orientation ({', '.join(names)}) is ({value}) in all samples, although the path has "
        "curves, so it is a placeholder; the course of the positions is used as the yaw; choose "
        "another topic or file to use a measured yaw"
    )
    return replace(samples, columns=columns, remarks=(*samples.remarks, remark))


def _path_bends(positions) -> bool:
    positions = positions[np.isfinite(positions).all(axis=1)]
    if len(positions) < 2 or np.linalg.norm(np.ptp(positions, axis=0)) < _MIN_EXTENT:
        return False
    places = np.unique(np.linspace(0, len(positions) - 1, _CHORDS + 1).astype(int))
    chords = np.diff(positions[places, 0] + 1j * positions[places, 1])
    total = np.abs(chords).sum()
    return bool(np.abs(np.sum(chords**2 / np.maximum(np.abs(chords), 1e-12))) < _STRAIGHT * total)


def _from_poses(samples, settings, limits, minimum_samples, time_offset):
    cleaner = cleaning.Cleaner(samples, time_offset)
    heading = QUATERNION if samples.has(QUATERNION) else ("yaw",)
    cleaner.drop_nan(cleaning.POSITION + heading)
    quaternions = cleaner.unit_quaternions(QUATERNION) if heading is QUATERNION else None
    spare = [name for name in ("z", "roll", "pitch") if name in samples]
    if samples.format in COLUMN_FORMATS and spare:
        cleaner.remarks.append(
            "these columns of the reference are ignored, since the drive is planar: "
            f"{', '.join(spare)}"
        )
    deviations = _stated_deviations(samples, cleaner.remarks)
    order, report = cleaner.finish(limits, minimum_samples)
    if quaternions is None:
        yaw = samples.columns["yaw"][order]
    else:
        yaw = yaw_from_quaternion(quaternions[order])
    columns = {**{axis: samples.columns[axis][order] for axis in "xy"}, "yaw": unwrap(yaw)}
    has_stated_error = (
        settings.yaw_deviation is not None or settings.turn_error + settings.turn_slip > 0.0
    )
    if deviations is not None or has_stated_error:
        deviations = np.zeros(len(samples)) if deviations is None else deviations
        columns.update(heading_errors(settings, deviations[order], settings.yaw_error_time, 0.0))
    return pd.DataFrame(columns, index=pd.Index(cleaner.times[order], name="time")), report


def _stated_deviations(samples, remarks):
    """Return the yaw standard deviations (n,) [rad] that the messages contain, or None.

    Zero and values of 90 deg or more mean unknown. A constant originates from the configuration of
    a driver, and is not an estimate for this drive.
    """
    variances = samples.columns.get("yaw_variance")
    if variances is None:
        return None
    with np.errstate(invalid="ignore"):
        deviations = np.sqrt(variances)
    known = (deviations > 0.0) & (deviations < 0.5 * np.pi)
    if not known.any():
        return None
    if np.ptp(deviations[known]) == 0.0:
        remarks.append(
            "the stated standard deviation of the yaw is ignored, since it is constant "
            f"({np.degrees(deviations[known][0]):.3g} deg) and therefore not an estimate; state "
            "the heading error of the reference with yaw_deviation, turn_error and turn_slip"
        )
        return None
    return np.where(known, deviations, np.nan)


def _from_fixes(samples, settings, limits, minimum_samples, time_offset):
    cleaner = cleaning.Cleaner(samples, time_offset)
    names = cleaning.POSITION if samples.has(cleaning.POSITION) else cleaning.GLOBAL_POSITION
    has_no_fix = np.zeros(len(samples), dtype=bool)
    if names is cleaning.GLOBAL_POSITION:
        has_no_fix = cleaning.is_missing_fix(*(samples.columns[name] for name in names))
    if "status" in samples:
        has_no_fix |= samples.columns["status"] <= _NO_FIX
    cleaner.drop(has_no_fix, "no_fix", "the receiver never had a fix")
    cleaner.drop_nan(names)
    optional_names = [name for name in ("altitude", *cleaning.VELOCITY) if name in samples]
    if optional_names:
        cleaning.refuse_absurd(samples, optional_names, cleaner.keep)
    if names is cleaning.GLOBAL_POSITION:
        refuse_outside(samples, cleaner)
    variances = _variances(samples, cleaner.remarks)
    known = (variances > 0.0).all(axis=1) & np.isfinite(variances).all(axis=1)
    cleaner.count(cleaner.keep & ~known, "unknown_variance")
    # Smoothing requires three positions, even if the caller accepts fewer samples.
    order, report = cleaner.finish(limits, max(3, minimum_samples))
    fix = pd.DataFrame(
        {name: samples.columns[name][order] for name in names},
        index=pd.Index(cleaner.times[order], name="time"),
    )
    known, variances = known[order], variances[order]
    if not known.all():
        usual, remark = _usual_variance(fix, settings)
        variances = np.where(known[:, None], variances, usual)
        report = replace(report, remarks=(*report.remarks, remark))
    fix["variance_east"], fix["variance_north"] = variances.T
    for name in optional_names:
        fix[name] = samples.columns[name][order]
    heading = _heading(samples)
    if heading is not None:
        fix["heading"] = heading[order]
    try:
        trajectory = trajectory_from_fixes(fix, settings, samples.places[order])
    except NoHeadingError:
        repeated_count = int(
            (np.diff(fix[list(names)].to_numpy(), axis=0) == 0.0).all(axis=1).sum()
        )
        if repeated_count > 0.5 * len(fix):
            advice = (
                f"{repeated_count} of {len(fix)} positions repeat the previous one, expected new "
                "positions from the receiver"
            )
        elif not known.any():
            advice = (
                "expected a faster drive; the error of the positions is not known, and "
                f"{np.sqrt(variances.mean()):.2g} m is assumed; map a column with their standard "
                "deviation, or reduce the minimum speed"
            )
        else:
            advice = "expected a faster drive; or reduce the minimum speed"
        raise RecordingError(
            f"{samples.source}: the robot is never faster than {settings.minimum_speed:g} m/s, "
            f"so its heading is not known; {advice}"
        ) from None
    except ValueError as error:
        raise RecordingError(f"{samples.source}: {error}") from None
    positioning = replace(trajectory.report, assumed=not known.any())
    latitude = float(fix["latitude"].iloc[0]) if "latitude" in fix else None
    remarks = (*report.remarks, *positioning.sentences(samples.place_name))
    about = {"remarks": remarks, "positioning": positioning.to_dict(), "latitude": latitude}
    return trajectory.poses, replace(report, fixes=trajectory.fixes, **about)


def _usual_variance(fix, settings):
    """Return the variance [m^2] assumed for positions of unknown variance, and a remark.

    Latitude and longitude have the errors of a receiver. Positions in metres may come from a total
    station on a drive of a few metres, so their variance is estimated from their jitter.
    """
    if "x" not in fix:
        return UNKNOWN_VARIANCE, (
            f"a variance of {UNKNOWN_VARIANCE:g} m^2 is assumed for positions with unknown variance"
        )
    times = fix.index.to_numpy(dtype=float)
    positions = fix[list(cleaning.POSITION)].to_numpy(dtype=float)
    new = ~repeated_fixes(times, positions, settings.minimum_speed)
    error = jitter(times[new] - times[0], positions[new])
    return error**2, (
        f"an error of {error:.2g} m, the jitter of the positions, is assumed for positions with "
        "unknown error"
    )


def refuse_outside(samples, cleaner):
    """Raise an error if a used latitude or longitude is out of range.

    Parameters
    ----------
    samples : Samples
        Samples with ``latitude`` and ``longitude`` [deg].
    cleaner : Cleaner
        Cleaner with the samples that are used.

    Raises
    ------
    RecordingError
        A value is out of range.
    """
    latitude, longitude = (samples.columns[name] for name in cleaning.GLOBAL_POSITION)
    outside = cleaner.keep & ((np.abs(latitude) > 90.0) | (np.abs(longitude) > 360.0))
    if outside.any():
        first = int(np.argmax(outside))
        raise RecordingError(
            f"{samples.source}: {samples.place_name} {samples.places[first]}: latitude and "
            f"longitude are {latitude[first]:g} and {longitude[first]:g}, expected degrees"
        )


def _heading(samples):
    """Return the dual-antenna heading [rad], nan where unknown; None for a single antenna."""
    if samples.has(QUATERNION):
        quaternions = samples.matrix(QUATERNION)
        norms = np.linalg.norm(quaternions, axis=1)
        known = np.isfinite(norms) & (norms > 1e-6)
        heading = np.full(len(norms), np.nan)
        heading[known] = yaw_from_quaternion(quaternions[known] / norms[known, None])
        return heading
    return samples.columns.get("yaw")


def _variances(samples, remarks):
    """Return the variances of the positions [m^2], shape (n, 2); nan where unknown."""
    missing = np.full(len(samples), np.nan)
    variances = np.column_stack([samples.columns.get(name, missing) for name in cleaning.VARIANCES])
    if "covariance_type" in samples:
        variances[samples.columns["covariance_type"] == _UNKNOWN_COVARIANCE] = np.nan
    with np.errstate(invalid="ignore"):
        known = np.isfinite(variances).all(axis=1) & (variances > 0.0).all(axis=1)
    qualities = [name for name in ("position_error", "hdop") if name in samples]
    if qualities and not known.all():
        quality = (samples.columns.get(name) for name in ("position_error", "hdop"))
        variances[~known] = variances_from_quality(*quality)[~known, None]
        remarks.append(
            f"the variances of the positions are computed from {' and '.join(qualities)}"
        )
    return variances
