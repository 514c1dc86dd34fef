"""A reference trajectory from samples of poses or of satellite positions."""

from __future__ import annotations

import numpy as np
import pandas as pd

from imu_simulation_framework.core.angles import unwrap, yaw_from_quaternion
from imu_simulation_framework.core.positioning import (
    UNKNOWN_VARIANCE,
    FixSettings,
    poses_from_fix,
)
from imu_simulation_framework.core.stamps import StampLimits
from imu_simulation_framework.errors import RecordingError
from imu_simulation_framework.files.recordings.cleaning import MINIMUM_SAMPLES, Cleaner
from imu_simulation_framework.files.recordings.conventions import (
    ReferenceConventions,
    conventional_reference,
)
from imu_simulation_framework.files.recordings.samples import (
    GLOBAL_POSITION,
    POSITION,
    QUATERNION,
    VARIANCES,
)

_NO_FIX = -1
_UNKNOWN_COVARIANCE = 0


def reference_table(
    samples,
    conventions=None,
    settings=None,
    *,
    stamp_limits=None,
    minimum_samples=MINIMUM_SAMPLES,
    time_offset=0.0,
):
    """Make Poses of samples.

    Parameters
    ----------
    samples : Samples
        As recorded.
    conventions : ReferenceConventions, optional
    settings : FixSettings, optional
        For satellite positions.
    stamp_limits, minimum_samples, time_offset
        As for :func:`~imu_simulation_framework.files.recordings.read_reference`.

    Returns
    -------
    table : pandas.DataFrame
        Poses.
    report : RecordingReport

    Raises
    ------
    RecordingError
        The samples cannot serve.
    """
    samples = conventional_reference(samples, conventions or ReferenceConventions())
    settings, limits = settings or FixSettings(), stamp_limits or StampLimits()
    if samples.has(GLOBAL_POSITION) and not samples.has(POSITION):
        return _from_fixes(samples, settings, limits, minimum_samples, time_offset)
    return _from_poses(samples, limits, minimum_samples, time_offset)


def _from_poses(samples, limits, minimum_samples, time_offset):
    cleaner = Cleaner(samples, time_offset)
    heading = QUATERNION if samples.has(QUATERNION) else ("yaw",)
    cleaner.drop_nan(POSITION + heading)
    quaternions = cleaner.unit_quaternions(QUATERNION) if heading is QUATERNION else None
    spare = [name for name in ("z", "roll", "pitch") if name in samples]
    if samples.format == "csv" and spare:
        cleaner.remarks.append(
            f"the drive is in the plane, so no use is made of the reference's {', '.join(spare)}"
        )
    order, report = cleaner.finish(limits, minimum_samples)
    if quaternions is None:
        yaw = samples.columns["yaw"][order]
    else:
        yaw = yaw_from_quaternion(quaternions[order])
    table = pd.DataFrame(
        {
            "x": samples.columns["x"][order],
            "y": samples.columns["y"][order],
            "yaw": unwrap(yaw),
        },
        index=pd.Index(cleaner.times[order], name="time"),
    )
    return table, report


def _from_fixes(samples, settings, limits, minimum_samples, time_offset):
    cleaner = Cleaner(samples, time_offset)
    if "status" in samples:
        status = samples.columns["status"]
        cleaner.drop(status <= _NO_FIX, "no_fix", "the receiver never had a fix")
    cleaner.drop_nan(GLOBAL_POSITION)
    latitude, longitude = (samples.columns[name] for name in GLOBAL_POSITION)
    outside = cleaner.keep & ((np.abs(latitude) > 90.0) | (np.abs(longitude) > 360.0))
    if outside.any():
        first = int(np.argmax(outside))
        raise RecordingError(
            f"{samples.source}: {samples.place_name} {samples.places[first]} is at latitude "
            f"{latitude[first]:g} and longitude {longitude[first]:g}, expected degrees"
        )
    variances = _variances(samples)
    known = (variances > 0.0).all(axis=1) & np.isfinite(variances).all(axis=1)
    if "covariance_type" in samples:
        known &= samples.columns["covariance_type"] != _UNKNOWN_COVARIANCE
    cleaner.note(cleaner.keep & ~known, "unknown_variance")
    if (cleaner.keep & ~known).any():
        cleaner.remarks.append(
            f"where the variance of a position is not known, {UNKNOWN_VARIANCE:g} m^2 is assumed"
        )
    variances = np.where(known[:, None], variances, UNKNOWN_VARIANCE)
    # A smooth path needs three positions, whatever the caller is content with.
    order, report = cleaner.finish(limits, max(3, minimum_samples))
    fix = pd.DataFrame(
        {
            "latitude": latitude[order],
            "longitude": longitude[order],
            "variance_east": variances[order, 0],
            "variance_north": variances[order, 1],
        },
        index=pd.Index(cleaner.times[order], name="time"),
    )
    if "altitude" in samples:
        fix["altitude"] = samples.columns["altitude"][order]
    try:
        return poses_from_fix(fix, settings), report
    except ValueError:
        raise RecordingError(
            f"{samples.source}: the robot is nowhere faster than {settings.minimum_speed:g} m/s, "
            "so that its heading is not known; expected a drive or a smaller minimum speed"
        ) from None


def _variances(samples):
    missing = np.full(len(samples), np.nan)
    return np.column_stack([samples.columns.get(name, missing) for name in VARIANCES])
