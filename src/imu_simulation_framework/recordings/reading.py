"""Recordings of a drive: reference trajectories and IMUs, from bags and text files.

:func:`.read_reference` and :func:`read_imu` find out the format, read samples as they were recorded
(one module per format), turn them into this package's conventions, leave out and report what cannot
be used, and make one of the package's tables. Who wants to see the same samples under several
conventions takes the two halves: :func:`.read_reference_samples` and :func:`.reference_table`,
:func:`read_imu_samples` and :func:`.imu_table`.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Any, Mapping, Sequence

import numpy as np
import pandas as pd

from ..core.errors import RecordingError
from ..core.stamps import StampLimits
from ..core.tables import QUATERNION
from ..motion.positioning import FixSettings
from . import cleaning, messages
from .evidence import refuse_contradicted_units, refuse_wrong_statements
from .formats.any_format import read_any_bag
from .frames import ImuConventions, ReferenceConventions, conventional_imu
from .imu import imu_table, without_unknown
from .quantities import read_samples
from .reference import reference_table, without_placeholder
from .tables import order_of


@dataclass(frozen=True)
class Recorded:
    """What was read, over the recording's time [s].

    ``table`` is Poses of a reference, an ImuRecord of an IMU, and has mag_x, mag_y, mag_z [T] or
    temperature [degC] of another sensor.
    """

    table: pd.DataFrame
    report: cleaning.RecordingReport


def read_reference(
    path: str | os.PathLike[str],
    topic: str = "",
    format: str = "auto",
    columns: Mapping[str, str] | None = None,
    conventions: ReferenceConventions | None = None,
    *,
    velocity_topic: str = "",
    heading_topic: str = "",
    time_offset: float = 0.0,
    minimum_samples: int = cleaning.MINIMUM_SAMPLES,
    stamp_limits: StampLimits | None = None,
    fix_settings: FixSettings | None = None,
) -> Recorded:
    """Read a reference trajectory; the other parameters are of :func:`.read_reference_samples`.

    Raises RecordingError: the recording cannot be read, or its data cannot be used.

    Parameters
    ----------
    conventions : ReferenceConventions, optional
        How the recording writes positions and orientations.
    time_offset : float
        Added to all times [s], for a receiver that tells late where it was (then negative).
    minimum_samples : int
        Fewer usable samples are refused.
    stamp_limits : StampLimits, optional
    fix_settings : FixSettings, optional
        How satellite positions become a path.
    """
    beside = {"velocity_topic": velocity_topic, "heading_topic": heading_topic}
    samples = read_reference_samples(path, topic, format, columns, **beside)
    limits = {"stamp_limits": stamp_limits, "minimum_samples": minimum_samples}
    made = reference_table(samples, conventions, fix_settings, time_offset=time_offset, **limits)
    return Recorded(*made)


def read_reference_samples(
    path: str | os.PathLike[str],
    topic: str = "",
    format: str = "auto",
    columns: Mapping[str, str] | None = None,
    *,
    velocity_topic: str = "",
    heading_topic: str = "",
) -> cleaning.Samples:
    """Read the samples of a reference trajectory as they were recorded.

    Raises RecordingError: the recording cannot be read.

    Parameters
    ----------
    path : path-like
        A bag of ROS 1 or ROS 2, what ``rostopic echo -p`` wrote, CSV, or TUM; each also packed
        by gzip. Of ROS 2 a folder, or one of the files in it; of KITTI a drive's folder.
    topic : str
        In a bag; empty for the only one of nav_msgs/Odometry, sensor_msgs/NavSatFix,
        geometry_msgs/PoseStamped or geometry_msgs/PoseWithCovarianceStamped.
    format : str
        ``bag``, ``rostopic_csv``, ``csv``, ``tum``, ``kitti``, or ``auto`` to find out.
    columns : mapping of str to str, optional
        For CSV: quantity -> ``"column [unit]"``. Needs ``time`` and either ``x y yaw``,
        ``x y qx qy qz qw`` or ``latitude longitude`` (with ``variance_east
        variance_north altitude status`` if known).
    velocity_topic, heading_topic : str
        In a bag, beside satellite positions: the receiver's velocity and heading.
    """
    samples = read_samples(path, topic, format, columns, messages.REFERENCE_TYPES, "reference")
    for key, beside, types, names in (
        ("velocity_topic", velocity_topic, messages.VELOCITY_TYPES, cleaning.VELOCITY),
        ("heading_topic", heading_topic, messages.HEADING_TYPES, QUATERNION),
    ):
        if beside and samples.format != "bag":
            raise RecordingError(f"{path}: {key} is of use only in a bag, this is {samples.format}")
        if beside:
            samples = _join_topic(samples, read_any_bag(path, beside, types), names)
    return without_placeholder(samples)


def read_imu(
    path: str | os.PathLike[str],
    topic: str = "",
    format: str = "auto",
    columns: Mapping[str, str] | None = None,
    conventions: ImuConventions | None = None,
    *,
    rate: float | None = None,
    require: Sequence[str] = ("orientation",),
    time_offset: float = 0.0,
    minimum_samples: int = cleaning.MINIMUM_SAMPLES,
    stamp_limits: StampLimits | None = None,
    check_units: bool = True,
) -> Recorded:
    """Read a recorded IMU; raises as :func:`.read_reference`.

    The other parameters are those of :func:`read_imu_samples` and of :func:`.read_reference`.

    Parameters
    ----------
    conventions : ImuConventions, optional
        How the recording writes what it measures, how the IMU is mounted, and where its
        orientation comes from.
    require : sequence of str
        What the IMU must give, of ``orientation``, ``gyro`` and ``accel``.
    check_units : bool
        Whether to refuse rates and forces whose size contradicts their unit; see
        :func:`.refuse_contradicted_units`. Where only a recorded orientation is wanted, a unit is
        checked that the recording states.
    """
    samples = read_imu_samples(path, topic, format, columns, rate=rate, check_units=check_units)
    conventions = conventions or ImuConventions()
    limits = {"stamp_limits": stamp_limits, "minimum_samples": minimum_samples}
    made = imu_table(samples, conventions, require=require, time_offset=time_offset, **limits)
    if check_units and (not require or made[1].orientation_source != "recorded"):
        in_its_units = conventional_imu(without_unknown(samples), conventions)
        refuse_contradicted_units(in_its_units, conventions.stated_units)
    return Recorded(*made)


def read_imu_samples(
    path: str | os.PathLike[str],
    topic: str = "",
    format: str = "auto",
    columns: Mapping[str, str] | None = None,
    *,
    rate: float | None = None,
    check_units: bool = True,
) -> cleaning.Samples:
    """Read the samples of an IMU as they were recorded.

    ``path``, ``format`` and what is raised: as for :func:`.read_reference_samples`.

    Parameters
    ----------
    topic : str
        In a bag; empty for the only one of type sensor_msgs/Imu.
    columns : mapping of str to str, optional
        For CSV: quantity -> ``"column [unit]"``. Needs ``time`` and at least one of ``qx qy
        qz qw``, ``roll pitch yaw``, ``yaw`` (roll and pitch then are 0), ``gyro_x gyro_y
        gyro_z`` and ``accel_x accel_y accel_z``, or single ones of the latter six.
    rate : float, optional
        Samples per second, for a recording without times (CSV then needs no ``time``) or with
        useless ones: the samples then follow each other evenly from time 0.
    check_units : bool
        Whether to refuse rates and forces whose size contradicts the unit that the recording
        states.
    """
    samples = _evenly_timed(path, topic, format, columns, messages.IMU_TYPES, "IMU", rate)
    if check_units:
        refuse_wrong_statements(samples)
    return samples


def read_other_sensor(
    path: str | os.PathLike[str],
    sensor: str,
    topic: str = "",
    columns: Mapping[str, str] | None = None,
    *,
    rate: float | None = None,
) -> Recorded:
    """Read a magnetometer or a thermometer; axes as recorded, of a format in NED as of its IMU.

    Some drivers publish a slow magnetometer as often as its IMU, with nan in between, as
    sensor_msgs/MagneticField allows: such samples are left out and counted. Raises RecordingError:
    the recording cannot be read, or has no such samples that can be used.

    ``sensor``: ``magnetometer`` or ``thermometer``; ``topic``: in a bag; empty for the only one of
    type sensor_msgs/MagneticField or Temperature; ``columns``: for CSV, ``time``, and ``mag_x mag_y
    mag_z`` or ``temperature``; ``rate``: as for :func:`read_imu_samples`.
    """
    types = messages.OTHER_TYPES[sensor]
    samples = _evenly_timed(path, topic, "auto", columns, types, sensor, rate)
    if len(samples) == 0:
        raise RecordingError(f"{samples.source}: has no sample of a {sensor}")
    names = [quantity for quantity in types[0].quantities if quantity in samples]
    cleaner = cleaning.Cleaner(samples)
    cleaner.drop_nan(names)
    # A temperature may be reported now and then only.
    order, report = cleaner.finish(StampLimits(longest_gap=float("inf")), 1)
    index = pd.Index(cleaner.times[order], name="time")
    return Recorded(pd.DataFrame(samples.matrix(names)[order], index, names), report)


def _evenly_timed(
    path: Any, topic: str, format: str, columns: Any, types: Any, purpose: str, rate: float | None
) -> cleaning.Samples:
    """Read samples, and put them at a rate from time 0 on, if one is given."""
    samples = read_samples(path, topic, format, columns, types, purpose, timed=rate is None)
    if rate is None:
        return samples
    measured = (values for name, values in samples.columns.items() if name not in _TIMES)
    repeated = cleaning.repeated_samples(measured)
    if repeated.any():
        kept = np.flatnonzero(~repeated)
        samples = replace(
            samples,
            columns={name: values[kept] for name, values in samples.columns.items()},
            places=np.asarray(samples.places)[kept],
            remarks=(*samples.remarks, cleaning.repeated_sentence(repeated)),
        )
    timed = {**samples.columns, "stamp": np.arange(len(samples)) / rate}
    timed.pop("receipt", None)
    return replace(samples, columns=timed)


_TIMES = ("stamp", "receipt")


def _join_topic(
    samples: cleaning.Samples, other: cleaning.Samples, names: Sequence[str]
) -> cleaning.Samples:
    """Put columns of another topic beside satellite positions, each the nearest in time.

    They are not numbers where none is near. Raises RecordingError: the samples are no satellite
    positions, or nothing was received near any of them.
    """
    if not samples.has(cleaning.GLOBAL_POSITION):
        raise RecordingError(
            f"{other.source}: it is of use only beside positions in sensor_msgs/NavSatFix, but "
            f"{samples.topic} is of type {samples.message_type}"
        )
    # Stamps, or times of reception if one of the two has none.
    both = (samples, other)
    stamped = all(np.isfinite(one.columns["stamp"]).any() for one in both)
    times, theirs = (one.columns["stamp" if stamped else "receipt"] for one in both)
    order = order_of(theirs)
    # What is not a number gets the last one.
    grid = theirs[order]
    after = np.minimum(np.clip(np.searchsorted(grid, times), 1, None), len(grid) - 1)
    before = np.maximum(after - 1, 0)
    nearest = order[np.where(times - grid[before] <= grid[after] - times, before, after)]
    # Half a step of the slower one: nearer to another sample nothing is.
    tolerance = 0.5 * max(_period(times), _period(theirs)) + 1e-3
    near = np.abs(theirs[nearest] - times) <= tolerance
    if not near.any():
        raise RecordingError(
            f"{other.source}: none of its {len(other)} messages is within {tolerance:.3f} s of a "
            f"position in topic {samples.topic}"
        )
    joined = {name: np.where(near, other.columns[name][nearest], np.nan) for name in names}
    return replace(samples, columns={**samples.columns, **joined})


def _period(times: np.ndarray) -> float:
    steps = np.diff(np.unique(times[np.isfinite(times)]))
    return float(np.median(steps)) if len(steps) else 0.0
