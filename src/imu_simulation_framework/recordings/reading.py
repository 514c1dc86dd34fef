"""Read the reference trajectory and the IMU of a drive from recordings in any format.

:func:`.read_reference` and :func:`read_imu` determine the format, read the recorded samples, check
the units, convert the samples to the conventions of this package, remove and report unusable
samples, and return one of the tables of this package. To read the same samples under several
conventions, call the two steps separately: :func:`.read_reference_samples` and
:func:`.reference_table`, or :func:`read_imu_samples` and :func:`.imu_table`.
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
    """Table that was read from a recording, and a report on its samples.

    Attributes
    ----------
    table : pandas.DataFrame
        Table over time [s]: Poses of a reference, ImuRecord of an IMU; mag_x, mag_y, mag_z [T] or
        temperature [degC] of another sensor.
    report : RecordingReport
        Report on removed samples, and remarks.
    """

    table: pd.DataFrame
    report: cleaning.RecordingReport


@dataclass(frozen=True)
class ReferenceSource:
    """Path and settings with which a reference trajectory is read.

    Parameters
    ----------
    path : path-like
        The recording, see :func:`read_reference_samples`.
    topic : str, optional
        Topic in a bag; empty for the only suitable topic.
    format : str, optional
        Format of the recording, or ``auto``.
    columns : mapping of str to str, optional
        Column map for CSV and tables, quantity -> ``"column [unit]"``.
    conventions : ReferenceConventions, optional
        Conventions of positions and orientations in the recording.
    velocity_topic, heading_topic : str, optional
        Topics with velocity and heading of a receiver in a bag.
    time_offset : float, optional
        Time that is added to all stamps [s]; negative for a receiver with a delay.
    fix_settings : FixSettings, optional
        Settings of the smoothing of satellite positions.
    minimum_samples : int, optional
        Smallest number of usable samples.
    stamp_limits : StampLimits, optional
        Limits on gaps and on stamps in the wrong order.
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
        """Read the recorded samples, see :func:`read_reference_samples`.

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
        """Read the reference trajectory.

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
    """Path and settings with which a recorded IMU is read.

    Parameters
    ----------
    path : path-like
        The recording, see :func:`read_imu_samples`.
    topic : str, optional
        Topic in a bag; empty for the only topic of type sensor_msgs/Imu.
    format : str, optional
        Format of the recording, or ``auto``.
    columns : mapping of str to str, optional
        Column map for CSV and tables, quantity -> ``"column [unit]"``.
    conventions : ImuConventions, optional
        Units and axes of the recording, mounting of the IMU, and source of its orientation.
    time_offset : float, optional
        Time that is added to all stamps [s].
    check_units : bool, optional
        Whether to reject rates and forces whose magnitude contradicts their unit; see
        :func:`.refuse_contradicted_units`. If only a recorded orientation is required, only units
        that the recording states are checked.
    rate : float, optional
        Sample rate of a recording without useful times [Hz].
    require : sequence of str, optional
        Required signals, among ``orientation``, ``gyro`` and ``accel``.
    minimum_samples : int, optional
        Smallest number of usable samples.
    stamp_limits : StampLimits, optional
        Limits on gaps and on stamps in the wrong order.
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
        """Read the recorded samples, see :func:`read_imu_samples`.

        Parameters
        ----------
        check_units : bool, optional
            Whether to reject rates and forces whose magnitude contradicts a stated unit.

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
        """Read the recorded IMU.

        Returns
        -------
        Recorded
            ImuRecord and report.

        Raises
        ------
        RecordingError
            The recording cannot be read, lacks a required signal, or contradicts its units.
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
        Topic in a bag; empty for the only suitable topic.
    format : str, optional
        Format of the recording, or ``auto``.
    columns : mapping of str to str, optional
        Column map for CSV and tables, quantity -> ``"column [unit]"``.
    conventions : ReferenceConventions, optional
        Conventions of positions and orientations in the recording.
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
    """Read the recorded samples of a reference trajectory; conventions are not converted.

    Parameters
    ----------
    path : path-like
        ROS 1 or ROS 2 bag, output of ``rostopic echo -p``, CSV, or TUM; each optionally compressed
        with gzip. A ROS 2 bag is a folder or one of its files, a KITTI recording the folder of a
        drive.
    topic : str, optional
        Topic in a bag; empty for the only topic of type nav_msgs/Odometry, sensor_msgs/NavSatFix,
        geometry_msgs/PoseStamped or geometry_msgs/PoseWithCovarianceStamped.
    format : str
        ``bag``, ``rostopic_csv``, ``csv``, ``tum``, ``kitti``, ``tables``, or ``auto`` to
        determine it.
    columns : mapping of str to str, optional
        For CSV and tables: quantity -> ``"column [unit]"``. The required quantities are ``time``
        and either ``x y yaw``, ``x y qx qy qz qw`` or ``latitude longitude`` (with
        ``variance_east variance_north altitude status`` if known).
    velocity_topic, heading_topic : str, optional
        Topics with velocity and heading of the receiver, in a bag with satellite positions.

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
                f"{path}: the format is {samples.format}, but {key} requires a bag"
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
        Topic in a bag; empty for the only topic of type sensor_msgs/Imu.
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
        The recording cannot be read, lacks a required signal, or contradicts its units.

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
    """Read the recorded samples of an IMU; conventions are not converted.

    Parameters
    ----------
    path : path-like
        The recording, in any format of :func:`.read_reference_samples`.
    topic : str, optional
        Topic in a bag; empty for the only topic of type sensor_msgs/Imu.
    format : str, optional
        Format of the recording, or ``auto``.
    columns : mapping of str to str, optional
        For CSV: quantity -> ``"column [unit]"``. The required quantities are ``time`` and at
        least one of ``qx qy qz qw``, ``roll pitch yaw``, ``yaw`` (with roll and pitch of 0),
        ``gyro_x gyro_y gyro_z`` and ``accel_x accel_y accel_z``, or single axes of the last two.
    rate : float, optional
        Sample rate of a recording without useful times [Hz]. The times are then evenly spaced from
        0, and CSV requires no ``time``.
    check_units : bool
        Whether to reject rates and forces whose magnitude contradicts the unit that the recording
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
    """Read a magnetometer or a thermometer in the axes of the recorded IMU.

    Some drivers publish a slow magnetometer at the rate of the IMU and fill missing samples with
    nan, as sensor_msgs/MagneticField allows. These samples are removed and counted.

    Parameters
    ----------
    path : path-like
        The recording.
    sensor : str
        ``magnetometer`` or ``thermometer``.
    topic : str, optional
        Topic in a bag; empty for the only topic of type sensor_msgs/MagneticField or Temperature.
    columns : mapping of str to str, optional
        For CSV: ``time``, and ``mag_x mag_y mag_z`` or ``temperature``.
    rate : float, optional
        Sample rate of a recording without useful times [Hz].

    Returns
    -------
    Recorded
        Table of the sensor, and a report.

    Raises
    ------
    RecordingError
        The recording cannot be read, or has no usable sample of the sensor.
    """
    types = messages.OTHER_TYPES[sensor]
    samples = _evenly_timed(path, SampleRequest(sensor, types, topic, columns=columns), rate)
    if len(samples) == 0:
        raise RecordingError(f"{samples.source}: no samples, expected samples of a {sensor}")
    names = [quantity for quantity in types[0].quantities if quantity in samples]
    cleaner = cleaning.Cleaner(samples)
    cleaner.drop_nan(names)
    # Gaps are not limited, since a temperature may be reported rarely.
    order, report = cleaner.finish(StampLimits(longest_gap=float("inf")), 1)
    index = pd.Index(cleaner.times[order], name="time")
    return Recorded(pd.DataFrame(samples.matrix(names)[order], index, names), report)


def _evenly_timed(path: Any, request: SampleRequest, rate: float | None) -> cleaning.Samples:
    """Read samples; if a rate is given, replace their times by evenly spaced times from zero."""
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
    """Add columns of another topic to satellite positions, from the messages nearest in time.

    Values are nan if no message is near in time. Raises RecordingError if the samples are not
    satellite positions, or if there is no message near any of them in time.
    """
    if not samples.has(cleaning.GLOBAL_POSITION):
        raise RecordingError(
            f"{other.source}: topic {samples.topic} has type {samples.message_type}, expected "
            "sensor_msgs/NavSatFix to add velocity or heading"
        )
    # Reception times are used if one of the topics has no stamps.
    both = (samples, other)
    is_stamped = all(np.isfinite(part.columns["stamp"]).any() for part in both)
    times, theirs = (part.columns["stamp" if is_stamped else "receipt"] for part in both)
    order = order_of(theirs)
    # Samples whose time is nan are assigned to the last message.
    grid = theirs[order]
    upper = np.minimum(np.clip(np.searchsorted(grid, times), 1, None), len(grid) - 1)
    lower = np.maximum(upper - 1, 0)
    nearest = order[np.where(times - grid[lower] <= grid[upper] - times, lower, upper)]
    # A message is near if the time difference is at most half a period of the slower topic.
    tolerance = 0.5 * max(_period(times), _period(theirs)) + 1e-3
    near = np.abs(theirs[nearest] - times) <= tolerance
    if not near.any():
        raise RecordingError(
            f"{other.source}: none of {len(other)} messages is within {tolerance:.3f} s of a "
            f"position in topic {samples.topic}, expected a common clock"
        )
    joined = {name: np.where(near, other.columns[name][nearest], np.nan) for name in names}
    return replace(samples, columns={**samples.columns, **joined})


def _period(times: np.ndarray) -> float:
    steps = np.diff(np.unique(times[np.isfinite(times)]))
    return float(np.median(steps)) if len(steps) else 0.0
