"""Drives with observed yaw errors, for identifying and testing IMU models."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Mapping, NamedTuple, Sequence

import numpy as np
import pandas as pd

from ..core.angles import unwrap
from ..core.errors import ConfigurationError, RecordingError, ResultError
from ..core.sentences import number_duplicates
from ..core.signals import median_rate
from ..core.tables import POSES
from ..heading.error_split import ESTIMATED, ZEROS
from ..heading.identification.terms import UNKNOWN_LAG, ObservedYawError, observed_yaw_error
from ..heading.yaw_comparison import ComparisonSettings, YawComparison, compare_yaw, lateness
from ..motion import sources as motions
from ..motion.motion import Motion
from ..recordings.imu import turn_of_gyroscope
from ..recordings.plausibility.check import NO_IMU
from ..recordings.plausibility.symptoms import find_dependence
from .named_paths import is_result, short_name
from .recorded_drive.check import ensure_plausible
from .recorded_drive.imu import prepare_recorded_imu
from .recorded_drive.path import select_path
from .recorded_drive.setup import set_up_named
from .recorded_drive.sources import (
    drive_name,
    is_bundled,
    recording_sources,
    reference_source,
)
from .results.files import ResultFolder, find_result, load_table
from .summary import previous_summary

_SAME_TURN = np.radians(0.1)
"""Largest range of the difference between two yaw signals that differ only by rounding [rad]."""

NO_SETTINGS: Mapping[str, Mapping[str, str]] = {}


@dataclass(frozen=True)
class ObservedDrive:
    """Drive with its observed yaw error.

    Parameters
    ----------
    observed : ObservedYawError
        Error of the yaw output of the IMU.
    gyroscope : ObservedYawError or None
        Error of the yaw that results from integrating the gyroscope's rate about the vertical, at
        the same times. None if no gyroscope was recorded, or if the yaw output is this integral.
    begin : float
        Time of the first yaw error, relative to the start of the drive [s].
    path : pandas.DataFrame
        Poses of the smoothed reference, with time zero at the start of the drive.
    satellite : bool
        Whether the reference consists of GNSS positions, whose noise is correlated.
    rate : float
        Sampling rate of the recorded IMU [Hz].
    sources : tuple of Path
        Files that were read.
    remarks : tuple of str
        Notes on the recording and the comparison.
    """

    observed: ObservedYawError
    gyroscope: ObservedYawError | None
    begin: float
    path: pd.DataFrame
    satellite: bool
    rate: float
    sources: tuple[Path, ...]
    remarks: tuple[str, ...]

    def select_output(self, output: str) -> ObservedDrive:
        """Return the drive with the error of the selected IMU output as ``observed``.

        Parameters
        ----------
        output : str
            ``yaw`` or ``gyroscope``.

        Returns
        -------
        ObservedDrive

        Raises
        ------
        ConfigurationError
            No gyroscope was recorded, or its integral does not differ from the yaw.
        """
        if output == "yaw":
            return self
        if self.gyroscope is None:
            raise ConfigurationError(
                f"{self.observed.name}: the gyroscope was not recorded, or its integral does not "
                "differ from the yaw"
            )
        return replace(self, observed=self.gyroscope)

    def rename(self, name: str) -> ObservedDrive:
        """Return the drive with a different name.

        Parameters
        ----------
        name : str
            New name.

        Returns
        -------
        ObservedDrive
            Renamed drive.
        """
        gyroscope = self.gyroscope and replace(self.gyroscope, name=f"{name}, gyroscope")
        return replace(self, observed=replace(self.observed, name=name), gyroscope=gyroscope)

    def motion(self, rate: float = motions.RATE) -> Motion:
        """Return the true motion on level ground during the yaw error observations, from time 0.

        Parameters
        ----------
        rate : float
            Samples per second [Hz].

        Returns
        -------
        Motion

        Raises
        ------
        MotionError
            The motion is too short.
        """
        end = min(self.begin + float(self.observed.time[-1]), float(self.path.index[-1]))
        samples = int((end - self.begin) * rate + 1e-6) + 1
        motion = motions.planar(self.path, at=self.begin + np.arange(samples) / rate)
        return replace(motion, time=np.arange(samples) / rate)


class ObservedDrives(NamedTuple):
    """Distinct drives, and notes on duplicates that were omitted.

    Parameters
    ----------
    drives : list of ObservedDrive
        Drives without duplicates.
    remarks : list of str
        Message about each omitted duplicate.
    """

    drives: list[ObservedDrive]
    remarks: list[str]


def read_drives(
    texts: Sequence[str],
    config: str | None = None,
    step: float = 1.0,
    settings: Mapping[str, Mapping[str, str]] = NO_SETTINGS,
) -> ObservedDrives:
    """Read the drives named on the command line, and number drives with the same name.

    Parameters
    ----------
    texts : sequence of str
        Results, recordings, config.ini files of recordings, or names of bundled drives.
    config : str, optional
        A config.ini that describes the recordings; by default, topics are chosen by their type and
        columns by name.
    step : float
        Time between yaw errors [s].
    settings : mapping
        Settings for the recordings by section and key, as in config.ini.

    Returns
    -------
    ObservedDrives

    Raises
    ------
    FrameworkError
        A drive cannot be read, or has no recorded IMU.
    """
    drives: list[ObservedDrive] = []
    remarks = []
    for text in texts:
        drive = read_drive(text, config, step, settings)
        name, error = drive.observed.name, drive.observed.error
        matching = (d for d in drives if np.array_equal(d.observed.error, error, equal_nan=True))
        twin = next(matching, None)
        if twin is not None:
            remarks.append(
                f"{name}: has the same recorded yaw error as {twin.observed.name}, and is omitted"
            )
            continue
        drives.append(drive)
    names = number_duplicates([drive.observed.name for drive in drives])
    return ObservedDrives([drive.rename(name) for drive, name in zip(drives, names)], remarks)


def read_drive(
    text: str,
    config: str | None = None,
    step: float = 1.0,
    settings: Mapping[str, Mapping[str, str]] = NO_SETTINGS,
) -> ObservedDrive:
    """Read a single drive, see :func:`read_drives`.

    Parameters
    ----------
    text : str
        Result, recording, config.ini of a recording, or name of a bundled drive.
    config : str, optional
        Path of a config.ini that describes the recording.
    step : float, optional
        Time between yaw errors [s].
    settings : mapping of str to mapping, optional
        Settings by section and key that override config.ini.

    Returns
    -------
    ObservedDrive
        Yaw errors of the drive.
    """
    if is_result(text):
        return _observe(_result_tables(find_result(text)), step)
    return _observe(_recording_tables(text, config, settings), step)


class _DriveTables(NamedTuple):
    """Recorded IMU (ImuRecord), reference and path (Poses) of a drive, with a common time axis."""

    name: str
    imu: pd.DataFrame
    reference: pd.DataFrame
    path: pd.DataFrame
    comparison: ComparisonSettings
    satellite: bool
    sources: tuple[Path, ...]
    remarks: tuple[str, ...]


def _result_tables(folder: ResultFolder) -> _DriveTables:
    imu = load_table(folder, "imu_real")
    if imu is None:
        raise ResultError(
            f"{folder.prefix_path}: this result has no recorded IMU, which a yaw error requires"
        )
    earlier = previous_summary(folder).get("comparison_settings", {})
    reference = load_table(folder, "reference")
    dependence = find_dependence(reference["yaw"].dropna(), imu["yaw"].dropna())
    return _DriveTables(
        name=short_name(folder.folder),
        imu=imu,
        reference=reference,
        path=load_table(folder, "trajectory_data"),
        comparison=ComparisonSettings(
            align=earlier.get("align") is True,
            zero=earlier["zero"] if earlier.get("zero") in ZEROS else ESTIMATED,
        ),
        satellite=folder.path("fixes.csv").exists(),
        sources=tuple(folder.path(f"{part}.csv") for part in ("imu_real", "reference")),
        remarks=() if dependence is None else (dependence.sentence(),),
    )


def _recording_tables(
    text: str, config: str | None, settings: Mapping[str, Mapping[str, str]]
) -> _DriveTables:
    setup = set_up_named(text, config=config)
    for section, values in settings.items():
        setup.set(section, **values)
    configuration = setup.load()
    name = drive_name(configuration)
    if not configuration.imu_recording.use:
        raise RecordingError(f"{name}: [imu_recording] use is false, expected true for a yaw error")
    check = ensure_plausible(configuration)
    if check.lacks_imu:
        raise RecordingError(f"{name}: {NO_IMU}, which a yaw error requires")
    recorded = check.reference or reference_source(configuration).read()
    path = select_path(configuration, recorded.table, configuration.control.rate).part
    start, stop = float(path.index[0]), float(path.index[-1])
    imu = prepare_recorded_imu(configuration, start, stop)
    assert imu is not None
    files = recording_sources(configuration)
    findings = [finding.sentence() for finding in check.findings]
    remarks = (*setup.sentences, *recorded.report.sentences(), *imu.remarks, *findings)
    if is_bundled(configuration):
        remarks = (f"{name}: this is a bundled drive, whose recorded IMU is simulated",)
    return _DriveTables(
        name=name,
        imu=imu.table,
        reference=_start_clock(recorded.table, start),
        path=_start_clock(path, start),
        comparison=configuration.comparison,
        satellite=recorded.report.fixes is not None,
        sources=tuple(dict.fromkeys((Path(files.reference), Path(files.imu)))),
        remarks=remarks,
    )


def _start_clock(table: pd.DataFrame, start: float) -> pd.DataFrame:
    """Shift the time axis of a table so that the stamp ``start`` [s] becomes zero."""
    times = table.index.to_numpy(dtype=float) - start
    return table.set_axis(pd.Index(times, name="time"), axis=0)


def _observe(tables: _DriveTables, step: float) -> ObservedDrive:
    """Compare the recorded IMU with its reference, and resample its yaw error evenly."""
    imu, comparison, lag_remarks = _compare(tables)
    error = comparison.error.dropna()
    remarks = [*tables.remarks, *lag_remarks]
    remarks += [f"{tables.name}, IMU: {sentence}" for sentence in comparison.sentences]
    process = None if comparison.split is None else comparison.split.process
    if process is not None:
        first, last = error.index[[0, -1]]
        error = error[error.index >= first + process.surest_phase(first, last, step)]

    def observe(name: str, error: pd.Series) -> ObservedYawError:
        right = comparison.reference_yaw
        observed = observed_yaw_error(name, error, right, step, reference=process)
        return replace(observed, zero=comparison.zero)

    observed, gyroscope = observe(tables.name, error), None
    difference = _gyroscope_difference(imu, comparison, error)
    if difference is not None and np.ptp(difference) > _SAME_TURN:
        gyroscope = observe(f"{tables.name}, gyroscope", error + difference - difference[0])
        rms = f"{np.degrees(np.std(difference)):.3g} deg rms"
        remarks.append(f"the yaw and the integral of the gyroscope differ by {rms}")
    return ObservedDrive(
        observed=observed,
        gyroscope=gyroscope,
        begin=float(error.index[0]),
        path=_thin_path(tables.path, _rate(tables.reference)),
        satellite=tables.satellite,
        rate=_rate(imu),
        sources=tables.sources,
        remarks=tuple(
            remark if remark.startswith(tables.name) else f"{tables.name}: {remark}"
            for remark in remarks
        ),
    )


class _ComparedImu(NamedTuple):
    """Recorded IMU after lag correction, and its comparison with the reference."""

    imu: pd.DataFrame
    comparison: YawComparison
    remarks: tuple[str, ...]


def _compare(tables: _DriveTables) -> _ComparedImu:
    name, imu, reference, settings = tables.name, tables.imu, tables.reference, tables.comparison
    yaws = int(imu["yaw"].notna().sum())
    if yaws < 2:
        raise RecordingError(
            f"{name}: the recorded IMU has {yaws} yaw samples, expected at least 2"
        )
    comparison = compare_yaw(imu["yaw"], reference["yaw"], settings, reference)
    if comparison is None:
        raise RecordingError(f"{name}: the IMU has no sample in the time range of its reference")
    if comparison.time_shift is not None or tables.satellite:
        return _ComparedImu(imu, comparison, ())
    # If the lag were identified together with the error model, other terms would absorb its effect
    # except in sharp turns.
    process = None if comparison.split is None else comparison.split.process
    lag, _ = lateness(imu["yaw"], reference, UNKNOWN_LAG, process)
    if lag is None:
        return _ComparedImu(imu, comparison, ())
    imu = imu.set_axis(imu.index - lag.shift, axis=0)
    comparison = compare_yaw(imu["yaw"], reference["yaw"], settings, reference)
    direction = "late" if lag.shift > 0.0 else "early"
    remark = (
        f"the IMU is {abs(lag.shift):.3g} s {direction} relative to the reference, and this "
        "offset is removed"
    )
    return _ComparedImu(imu, comparison, (remark,))


def _gyroscope_difference(
    imu: pd.DataFrame, comparison: YawComparison, error: pd.Series
) -> np.ndarray | None:
    """Return the IMU yaw minus the integrated gyroscope rate, at the yaw error times [rad].

    Parameters
    ----------
    imu : pandas.DataFrame
        ImuRecord with stamps that are corrected for the lag relative to the reference.
    comparison : YawComparison
        Comparison of this IMU with the reference.
    error : pandas.Series
        Yaw errors.

    Returns
    -------
    numpy.ndarray or None
        None if no gyroscope was recorded.
    """
    turn = turn_of_gyroscope(imu)
    if turn is None:
        return None
    # The comparison has subtracted the time shift from the IMU stamps.
    shift = 0.0 if comparison.time_shift is None else comparison.time_shift.shift
    times = error.index.to_numpy(dtype=float) + shift
    yaw = imu["yaw"].dropna()
    stamps = yaw.index.to_numpy(dtype=float)
    difference = np.interp(times, stamps, unwrap(yaw.to_numpy(dtype=float)))
    return difference - np.interp(times, turn.index.to_numpy(dtype=float), turn.to_numpy())


def _rate(table: pd.DataFrame) -> float:
    return float(median_rate(table.index.to_numpy(dtype=float)))


def _thin_path(path: pd.DataFrame, rate: float) -> pd.DataFrame:
    """Resample poses at the recorded rate [Hz]; a spline would reproduce interpolation kinks."""
    times = path.index.to_numpy(dtype=float)
    thinned = np.arange(times[0], times[-1] + 0.5 / rate, 1.0 / rate)
    thinned[-1] = times[-1]
    if len(thinned) >= len(times) or len(thinned) < 4:
        return path[list(POSES)]
    return pd.DataFrame(
        {
            "x": np.interp(thinned, times, path["x"]),
            "y": np.interp(thinned, times, path["y"]),
            "yaw": np.interp(thinned, times, unwrap(path["yaw"].to_numpy(dtype=float))),
        },
        index=pd.Index(thinned, name="time"),
    )
