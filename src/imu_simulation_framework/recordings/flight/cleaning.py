"""Samples of a flight: topics joined in time, what cannot be used left out or refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
from scipy.interpolate import CubicSpline
from scipy.spatial.transform import Rotation

from imu_simulation_framework.columns import EULER, QUATERNION
from imu_simulation_framework.errors import RecordingError
from imu_simulation_framework.motion.kinematics import quaternion_spline, unit
from imu_simulation_framework.motion.stamps import StampLimits
from imu_simulation_framework.recordings.cleaning import Cleaner
from imu_simulation_framework.recordings.conventions import conventional_reference

LONGEST_GAP = 5.0
"""Of usual periods, without a state: across more a spline is no motion."""

LEAST_GAP = 0.25
"""So long [s] may always be missing."""

_NO_UNIT = 0.1
"""By how much the length of a quaternion may differ from one."""

_PLACES = (("latitude", "longitude", "altitude"), ("x", "y", "z"))


def joined(positions, attitude, velocity):
    """Put orientations and velocities of their own topics beside positions.

    All are taken at the times of that topic of positions and orientations which has more samples,
    as far as all of them reach; splines lead from their own times to those.

    Parameters
    ----------
    positions, attitude : Samples
    velocity : Samples or None

    Returns
    -------
    Samples

    Raises
    ------
    RecordingError
        They do not last at the same time.
    """
    parts = [(positions, _PLACES[0]), (attitude, QUATERNION)]
    if velocity is not None:
        parts.append((velocity, ("velocity_east", "velocity_north", "velocity_up")))
    curves = [_curve(samples, names) for samples, names in parts]
    base = curves[0] if len(curves[0][0]) >= len(curves[1][0]) else curves[1]
    begin, end = max(curve[0][0] for curve in curves), min(curve[0][-1] for curve in curves)
    inside = (base[0] >= begin) & (base[0] <= end)
    if not inside.any():
        raise RecordingError(
            f"{attitude.source}: its samples and those of topic {positions.topic} have no time in "
            "common"
        )
    time = base[0][inside]
    columns = {"stamp": time}
    for (_, names), (_, curve, _) in zip(parts, curves):
        columns.update(zip(names, curve(time).T))
    columns.update(zip(QUATERNION, unit(np.column_stack([columns[n] for n in QUATERNION])).T))
    return replace(positions, columns=columns, places=base[2][inside])


def _curve(samples, names):
    """Return times, a spline through columns, and places; of what can be used."""
    cleaner = Cleaner(samples)
    cleaner.drop_nan(names)
    if names is QUATERNION:
        samples.columns.update(zip(QUATERNION, cleaner.unit_quaternions(QUATERNION).T))
    order, _ = cleaner.finish(StampLimits(), 4)
    times = cleaner.times[order]
    refuse_gaps(samples, times, samples.places[order])
    values = samples.matrix(names)[order]
    spline = quaternion_spline if names is QUATERNION else CubicSpline
    return times, spline(times, values), samples.places[order]


def clean_flight(samples, conventions, limits, minimum_samples):
    """Make a table in east, north, up, with quaternions from forward, left, up.

    Parameters
    ----------
    samples : Samples
    conventions : ReferenceConventions
    limits : StampLimits
    minimum_samples : int

    Returns
    -------
    table : pandas.DataFrame
        latitude, longitude [deg], altitude [m] or x, y, z [m]; qx, qy, qz, qw; velocity_east,
        velocity_north, velocity_up [m/s] if they are known.
    places : ndarray of int
        Of the rows, in the file.
    report : RecordingReport

    Raises
    ------
    RecordingError
        The samples cannot be used.
    """
    samples = _upwards(samples, conventions)
    samples = conventional_reference(samples, conventions)
    place = next((names for names in _PLACES if samples.has(names)), None)
    if place is None:
        raise RecordingError(f"{samples.source}: a flight needs heights, but it has none")
    attitude = QUATERNION if samples.has(QUATERNION) else EULER
    if not samples.has(attitude):
        raise RecordingError(
            f"{samples.source}: a flight needs orientations, or roll, pitch and yaw"
        )
    velocity = tuple(
        name for name in ("velocity_east", "velocity_north", "velocity_up") if name in samples
    )
    velocity = velocity if len(velocity) == 3 else ()
    cleaner = Cleaner(samples)
    cleaner.drop_nan(place + attitude + velocity)
    if attitude is QUATERNION:
        _refuse_none(samples, cleaner)
        quaternions = cleaner.unit_quaternions(QUATERNION)
    else:
        # Roll, pitch, yaw are about x, then y, then z of the world.
        angles = np.where(cleaner.keep[:, None], samples.matrix(EULER), 0.0)
        quaternions = Rotation.from_euler("xyz", angles).as_quat()
    order, report = cleaner.finish(limits, minimum_samples)
    table = pd.DataFrame(
        {name: samples.columns[name][order] for name in place + velocity},
        index=pd.Index(cleaner.times[order], name="time"),
    )
    for name, values in zip(QUATERNION, quaternions[order].T):
        table[name] = values
    return table, samples.places[order], report


def refuse_gaps(samples, times, places):
    """Refuse a flight of which too much is missing at once.

    Raises
    ------
    RecordingError
        There is such a gap.
    """
    steps = np.diff(times)
    usual = float(np.median(steps))
    longest = max(LONGEST_GAP * usual, LEAST_GAP)
    if len(steps) and np.max(steps) > longest:
        row = int(np.argmax(steps))
        raise RecordingError(
            f"{samples.source}: {samples.place_name} {places[row + 1]}: nothing was recorded for "
            f"{steps[row]:.3f} s before it, expected at most {longest:.3g} s, as a spline leads "
            "from one state to the next; cut the recording there"
        )


def _refuse_none(samples, cleaner):
    """Refuse quaternions that are none, but for those of zero, which say that nothing is known."""
    norms = np.linalg.norm(samples.matrix(QUATERNION), axis=1)
    with np.errstate(invalid="ignore"):
        wrong = cleaner.keep & (norms > 1e-6) & (np.abs(norms - 1.0) > _NO_UNIT)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise RecordingError(
            f"{samples.source}: {samples.place_name} {samples.places[row]}: qx, qy, qz, qw have "
            f"the length {norms[row]:.4g}, expected 1, as the quaternion of an orientation has"
        )


def _upwards(samples, conventions):
    """Return samples with velocities upwards."""
    columns = dict(samples.columns)
    if "velocity_down" in columns:
        if "velocity_up" in columns:
            raise RecordingError(
                f"{samples.source}: velocity_up and velocity_down are both given; expected one of "
                "them"
            )
        columns["velocity_up"] = -columns.pop("velocity_down")
    return replace(samples, columns=columns)
