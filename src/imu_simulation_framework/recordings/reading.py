"""Recordings of a drive: reference trajectories and IMUs, from bags and text files.

:func:`.read_reference` and :func:`read_imu` determine the format, read samples as they were
recorded, check the units, turn the samples into this package's conventions, leave out and report
unusable ones, and return one of the package's tables. To read the same samples under several
conventions, use the two halves: :func:`.read_reference_samples` and :func:`.reference_table`,
:func:`read_imu_samples` and :func:`.imu_table`.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
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
from .imu import imu_table, mask_unknown_parts
from .quantities import SampleRequest, read_samples
from .reference import reference_table, remove_placeholder
from .tables import order_of


@dataclass(frozen=True)
class Recorded:
    """A recording that was read.

    Attributes
    ----------
    table : pandas.DataFrame
        Over the recording's time [s]: Poses of a reference, an ImuRecord of an IMU; mag_x, mag_y,
        mag_z [T] or temperature [degC] of another sensor.
    report : RecordingReport
        Samples that were left out, and remarks.
    """

    table: pd.DataFrame
    report: cleaning.RecordingReport


@dataclass(frozen=True)
class ReferenceSource:
    """A recorded reference trajectory, and how it is read.

    Parameters
    ----------
    path : path-like
        The recording, see :func:`read_reference_samples`.
    topic : str, optional
        Topic in a bag; empty for the only suitable one.
    format : str, optional
        Format of the recording, or ``auto``.
    columns : mapping of str to str, optional
        Column map for CSV and tables, quantity -> ``"column [unit]"``.
    conventions : ReferenceConventions, optional
        Axes, senses and orders in which the recording has positions and orientations.
    velocity_topic, heading_topic : str, optional
        Topics of a receiver's velocity and heading in a bag.
    time_offset : float, optional
        Time that is added to all stamps [s]; negative for a receiver that reports its positions
        late.
    fix_settings : FixSettings, optional
        Settings of the smoothing of satellite positions.
    minimum_samples : int, optional
        Smallest number of usable samples.
    stamp_limits : StampLimits, optional
        Limits of gaps and disorder.
    """

    path: str | os.PathLike[str]
    topic: str = ""
    format: str = "auto"
    columns: Mapping[str, str] | None = None
    conventions: ReferenceConventions = field(default_factory=ReferenceConventions)
    velocity_topic: str = ""
    heading_topic: str = ""
    time_offset: float = 0.0
    fix_settings: FixSettings | None = None
    minimum_samples: int = cleaning.MINIMUM_SAMPLES
    stamp_limits: StampLimits | None = None

    def read_samples(self) -> cleaning.Samples:
        """Read the samples as they were recorded, see :func:`read_reference_samples`.

        Returns
        -------
        Samples
            Samples as recorded.

        Raises
        ------
        RecordingError
            The recording cannot be read.
        """
        return read_reference_samples(
            self.path,
            self.topic,
            self.format,
            self.columns,
            velocity_topic=self.velocity_topic,
            heading_topic=self.heading_topic,
        )

    def read(self) -> Recorded:
        """Read the reference.

        Returns
        -------
        Recorded
            Poses and report.

        Raises
        ------
        RecordingError
            The recording cannot be read, or its data cannot be used.
        """
        table, report = reference_table(
            self.read_samples(),
            self.conventions,
            self.fix_settings,
            time_offset=self.time_offset,
            stamp_limits=self.stamp_limits,
            minimum_samples=self.minimum_samples,
        )
        return Recorded(table, report)


@dataclass(frozen=True)
class ImuSource:
    """A recorded IMU, and how it is read.

    Parameters
    ----------
    path : path-like
        The recording, see :func:`read_imu_samples`.
    topic : str, optional
        Topic in a bag; empty for the only one of type sensor_msgs/Imu.
    format : str, optional
        Format of the recording, or ``auto``.
    columns : mapping of str to str, optional
        Column map for CSV and tables, quantity -> ``"column [unit]"``.
    conventions : ImuConventions, optional
        Units and axes of the recording, mounting of the IMU, and source of its orientation.
    time_offset : float, optional
        Time that is added to all stamps [s].
    check_units : bool, optional
        Whether to refuse rates and forces whose size contradicts their unit; see
        :func:`.refuse_contradicted_units`. Where only a recorded orientation is wanted, a unit is
        checked that the recording states.
    rate : float, optional
        Samples per second of a recording without useful times [Hz].
    require : sequence of str, optional
        Parts that the IMU must have, of ``orientation``, ``gyro`` and ``accel``.
    minimum_samples : int, optional
        Smallest number of usable samples.
    stamp_limits : StampLimits, optional
        Limits of gaps and disorder.
    """

    path: str | os.PathLike[str]
    topic: str = ""
    format: str = "auto"
    columns: Mapping[str, str] | None = None
    conventions: ImuConventions = field(default_factory=ImuConventions)
    time_offset: float = 0.0
    check_units: bool = True
    rate: float | None = None
    require: Sequence[str] = ("orientation",)
    minimum_samples: int = cleaning.MINIMUM_SAMPLES
    stamp_limits: StampLimits | None = None

    def read_samples(self, check_units: bool = True) -> cleaning.Samples:
        """Read the samples as they were recorded, see :func:`read_imu_samples`.

        Parameters
        ----------
        check_units : bool, optional
            Whether to refuse rates and forces whose size contradicts a stated unit.

        Returns
        -------
        Samples
            Samples as recorded.

        Raises
        ------
        RecordingError
            The recording cannot be read, or a stated unit is contradicted.
        """
        return read_imu_samples(
            self.path,
            self.topic,
            self.format,
            self.columns,
            rate=self.rate,
            check_units=check_units,
        )

    def read(self) -> Recorded:
        """Read the IMU.

        Returns
        -------
        Recorded
            ImuRecord and report.

        Raises
        ------
        RecordingError
            The recording cannot be read, lacks a required part, or contradicts its units.
        """
        samples = self.read_samples(self.check_units)
        table, report = imu_table(
            samples,
            self.conventions,
            require=self.require,
            time_offset=self.time_offset,
            stamp_limits=self.stamp_limits,
            minimum_samples=self.minimum_samples,
        )
        if self.check_units and (not self.require or report.orientation_source != "recorded"):
            converted = conventional_imu(mask_unknown_parts(samples), self.conventions)
            refuse_contradicted_units(converted, self.conventions.stated_units)
        return Recorded(table, report)


def read_reference(
    path: str | os.PathLike[str],
    topic: str = "",
    format: str = "auto",
    columns: Mapping[str, str] | None = None,
    conventions: ReferenceConventions | None = None,
    **settings: Any,
) -> Recorded:
    """Read a reference trajectory.

    Parameters
    ----------
    path : path-like
        The recording, see :func:`.read_reference_samples`.
    topic : str, optional
        Topic in a bag; empty for the only suitable one.
    format : str, optional
        Format of the recording, or ``auto``.
    columns : mapping of str to str, optional
        Column map for CSV and tables, quantity -> ``"column [unit]"``.
    conventions : ReferenceConventions, optional
        Axes, senses and orders in which the recording has positions and orientations.
    **settings
        Further fields of :class:`.ReferenceSource`: ``velocity_topic``, ``heading_topic``,
        ``time_offset``, ``fix_settings``, ``minimum_samples``, ``stamp_limits``.

    Returns
    -------
    Recorded
        Poses and report.

    Raises
    ------
    RecordingError
        The recording cannot be read, or its data cannot be used.
    """
    conventions = conventions or ReferenceConventions()
    return ReferenceSource(path, topic, format, columns, conventions, **settings).read()


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

    Parameters
    ----------
    path : path-like
        A bag of ROS 1 or ROS 2, output of ``rostopic echo -p``, CSV, or TUM; each also packed
        by gzip. A recording of ROS 2 is a folder or one of its files, one of KITTI the folder of
        a drive.
    topic : str, optional
        Topic in a bag; empty for the only one of type nav_msgs/Odometry, sensor_msgs/NavSatFix,
        geometry_msgs/PoseStamped or geometry_msgs/PoseWithCovarianceStamped.
    format : str
        ``bag``, ``rostopic_csv``, ``csv``, ``tum``, ``kitti``, ``tables``, or ``auto`` to
        determine it.
    columns : mapping of str to str, optional
        For CSV and tables: quantity -> ``"column [unit]"``. Needs ``time`` and either ``x y yaw``,
        ``x y qx qy qz qw`` or ``latitude longitude`` (with ``variance_east
        variance_north altitude status`` if known).
    velocity_topic, heading_topic : str, optional
        Topics of the receiver's velocity and heading, in a bag with satellite positions.

    Returns
    -------
    Samples
        Samples as recorded.

    Raises
    ------
    RecordingError
        The recording cannot be read.
    """
    request = SampleRequest("reference", messages.REFERENCE_TYPES, topic, format, columns)
    samples = read_samples(path, request)
    for key, other_topic, types, names in (
        ("velocity_topic", velocity_topic, messages.VELOCITY_TYPES, cleaning.VELOCITY),
        ("heading_topic", heading_topic, messages.HEADING_TYPES, QUATERNION),
    ):
        if other_topic and samples.format != "bag":
            raise RecordingError(
                f"{path}: {key} can be used only with a bag, but this is {samples.format}"
            )
        if other_topic:
            samples = _join_topic(samples, read_any_bag(path, other_topic, types), names)
    return remove_placeholder(samples)


def read_imu(
    path: str | os.PathLike[str],
    topic: str = "",
    format: str = "auto",
    columns: Mapping[str, str] | None = None,
    conventions: ImuConventions | None = None,
    **settings: Any,
) -> Recorded:
    """Read a recorded IMU.

    Parameters
    ----------
    path : path-like
        The recording, see :func:`read_imu_samples`.
    topic : str, optional
        Topic in a bag; empty for the only one of type sensor_msgs/Imu.
    format : str, optional
        Format of the recording, or ``auto``.
    columns : mapping of str to str, optional
        Column map for CSV and tables, quantity -> ``"column [unit]"``.
    conventions : ImuConventions, optional
        Units and axes of the recording, mounting of the IMU, and source of its orientation.
    **settings
        Further fields of :class:`.ImuSource`: ``rate``, ``require``, ``time_offset``,
        ``minimum_samples``, ``stamp_limits``, ``check_units``.

    Returns
    -------
    Recorded
        ImuRecord and report.

    Raises
    ------
    RecordingError
        The recording cannot be read, lacks a required part, or contradicts its units.

    Examples
    --------
    >>> columns = {"time": "t [ms]", "gyro_x": "gx [deg/s]", "gyro_y": "gy", "gyro_z": "gz"}
    >>> isf.read_imu("log.csv", columns=columns, require=("gyro",)).table  # doctest: +SKIP
    """
    conventions = conventions or ImuConventions()
    return ImuSource(path, topic, format, columns, conventions, **settings).read()


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

    Parameters
    ----------
    path : path-like
        The recording, in any format of :func:`.read_reference_samples`.
    topic : str, optional
        Topic in a bag; empty for the only one of type sensor_msgs/Imu.
    format : str, optional
        Format of the recording, or ``auto``.
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

    Returns
    -------
    Samples
        Samples as recorded.

    Raises
    ------
    RecordingError
        The recording cannot be read, or a stated unit is contradicted.
    """
    request = SampleRequest("IMU", messages.IMU_TYPES, topic, format, columns)
    samples = _evenly_timed(path, request, rate)
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
    """Read a magnetometer or a thermometer, in the axes of the recorded IMU.

    Some drivers publish a slow magnetometer as often as its IMU, with nan in between, as
    sensor_msgs/MagneticField allows: such samples are left out and counted.

    Parameters
    ----------
    path : path-like
        The recording.
    sensor : str
        ``magnetometer`` or ``thermometer``.
    topic : str, optional
        Topic in a bag; empty for the only one of type sensor_msgs/MagneticField or Temperature.
    columns : mapping of str to str, optional
        For CSV: ``time``, and ``mag_x mag_y mag_z`` or ``temperature``.
    rate : float, optional
        Samples per second of a recording without useful times [Hz].

    Returns
    -------
    Recorded
        Table of the sensor and report.

    Raises
    ------
    RecordingError
        The recording cannot be read, or has no usable sample of the sensor.
    """
    types = messages.OTHER_TYPES[sensor]
    samples = _evenly_timed(path, SampleRequest(sensor, types, topic, columns=columns), rate)
    if len(samples) == 0:
        raise RecordingError(f"{samples.source}: has no sample of a {sensor}")
    names = [quantity for quantity in types[0].quantities if quantity in samples]
    cleaner = cleaning.Cleaner(samples)
    cleaner.drop_nan(names)
    # A temperature may be reported now and then only.
    order, report = cleaner.finish(StampLimits(longest_gap=float("inf")), 1)
    index = pd.Index(cleaner.times[order], name="time")
    return Recorded(pd.DataFrame(samples.matrix(names)[order], index, names), report)


def _evenly_timed(path: Any, request: SampleRequest, rate: float | None) -> cleaning.Samples:
    """Read samples, and time them evenly from 0 on if a rate is given."""
    samples = read_samples(path, replace(request, timed=rate is None))
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
    """Add columns of another topic to satellite positions, each the nearest in time.

    They are nan where no message is near. Raises RecordingError: the samples are not satellite
    positions, or no message is near any of them.
    """
    if not samples.has(cleaning.GLOBAL_POSITION):
        raise RecordingError(
            f"{other.source}: can be joined only to positions in sensor_msgs/NavSatFix, but "
            f"{samples.topic} is of type {samples.message_type}"
        )
    # Stamps, or times of reception if one of the two has none.
    both = (samples, other)
    is_stamped = all(np.isfinite(part.columns["stamp"]).any() for part in both)
    times, theirs = (part.columns["stamp" if is_stamped else "receipt"] for part in both)
    order = order_of(theirs)
    # A time that is nan gets the last sample.
    grid = theirs[order]
    upper = np.minimum(np.clip(np.searchsorted(grid, times), 1, None), len(grid) - 1)
    lower = np.maximum(upper - 1, 0)
    nearest = order[np.where(times - grid[lower] <= grid[upper] - times, lower, upper)]
    # No time is further from the nearest of two samples than half a step of the slower topic.
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
