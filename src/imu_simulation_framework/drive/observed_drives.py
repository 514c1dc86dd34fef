"""Observed yaw errors of what a person names: results, recordings, bundled drives."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Mapping, Sequence

import numpy as np
import pandas as pd

from imu_simulation_framework.core.angles import unwrap
from imu_simulation_framework.core.columns import POSES
from imu_simulation_framework.core.errors import RecordingError, ResultError
from imu_simulation_framework.core.spectrum import median_rate
from imu_simulation_framework.drive.check import ensure_plausible, set_up_named
from imu_simulation_framework.drive.preparation import (
    chosen_part,
    drive_name,
    is_bundled,
    prepare_recorded_imu,
    read_configured_reference,
    recording_sources,
)
from imu_simulation_framework.drive.results.files import ResultFolder, find_result
from imu_simulation_framework.drive.results.tables import load_table
from imu_simulation_framework.drive.summary import previous_summary
from imu_simulation_framework.drive.yaw_signals import is_result, short_name
from imu_simulation_framework.heading.comparison import ComparisonSettings, compare_yaw
from imu_simulation_framework.heading.identification.terms import (
    ObservedYawError,
    observed_yaw_error,
)
from imu_simulation_framework.motion import sources as motions
from imu_simulation_framework.motion.motion import Motion

NO_SETTINGS: Mapping[str, Mapping[str, str]] = {}


@dataclass(frozen=True)
class ReadDrive:
    """A drive with its yaw error.

    Attributes
    ----------
    begin : float
        Of the yaw error, after the drive's start [s].
    path : pandas.DataFrame
        The smoothed reference as Poses, from the drive's start.
    satellite : bool
        Whether the reference is satellite positioning, whose noise is correlated.
    rate : float
        Samples per second of the recorded IMU [Hz].
    sources : tuple of Path
        What was read.
    remarks : tuple of str
    """

    observed: ObservedYawError
    begin: float
    path: pd.DataFrame
    satellite: bool
    rate: float
    sources: tuple[Path, ...]
    remarks: tuple[str, ...]

    def motion(self, rate: float = motions.RATE) -> Motion:
        """Return the true motion while the yaw error was observed, taken for level, from time 0.

        Raises MotionError: there is too little of it.

        Parameters
        ----------
        rate : float
            Samples per second [Hz].
        """
        end = min(self.begin + float(self.observed.time[-1]), float(self.path.index[-1]))
        samples = int((end - self.begin) * rate + 1e-6) + 1
        motion = motions.planar(self.path, at=self.begin + np.arange(samples) / rate)
        return replace(motion, time=np.arange(samples) / rate)


def read_drives(
    texts: Sequence[str],
    config: str | None = None,
    step: float = 1.0,
    settings: Mapping[str, Mapping[str, str]] = NO_SETTINGS,
) -> tuple[list[ReadDrive], list[str]]:
    """Read what a person names; drives of one name get numbers.

    Raises FrameworkError: one cannot be read, or has no recorded IMU.

    Parameters
    ----------
    texts : sequence of str
        Each a result, a recording, the config.ini of one, or the name of a bundled drive.
    config : str, optional
        A config.ini that describes the recordings; by default they are looked at as a check does.
    step : float
        Between yaw errors [s].
    settings : mapping
        Of recordings, by section and key of config.ini.

    Returns
    -------
    drives : list of ReadDrive
        Each once.
    remarks : list of str
        Which ones were left out, as they are the same as another.
    """
    drives: list[ReadDrive] = []
    left_out = []
    for text in texts:
        drive = read_drive(text, config, step, settings)
        name = drive.observed.name
        twin = next((d for d in drives if _same(d.observed, drive.observed)), None)
        if twin is not None:
            left_out.append(
                f"{name}: has the same recorded yaw error as {twin.observed.name}, and counts once"
            )
            continue
        drives.append(drive)
    return drives, left_out


def read_drive(
    text: str,
    config: str | None = None,
    step: float = 1.0,
    settings: Mapping[str, Mapping[str, str]] = NO_SETTINGS,
) -> ReadDrive:
    """Read one; see :func:`read_drives`."""
    if is_result(text):
        return _of_result(find_result(text), step)
    return _of_recording(text, config, step, settings)


def _of_result(folder: ResultFolder, step):
    imu, reference = load_table(folder, "imu_real"), load_table(folder, "reference")
    if imu is None:
        raise ResultError(
            f"{folder.prefix_path}: this result has no recorded IMU, so that no yaw error was "
            "observed"
        )
    name, remarks = short_name(folder.folder), []
    path = load_table(folder, "trajectory_data")
    if reference is None:
        reference = path
        remarks.append(f"{name}: an older result; its reference is the smoothed trajectory")
    path = reference if path is None else path
    earlier = previous_summary(folder).get("comparison_settings", {})
    settings = ComparisonSettings(align=earlier.get("align") is True)
    sources = tuple(folder.path(f"{part}.csv") for part in ("imu_real", "reference"))
    satellite = folder.path("fixes.csv").exists()
    return _observed(name, imu, reference, path, settings, step, satellite, sources, remarks)


def _of_recording(text, config, step, settings):
    setup = set_up_named(text, config=config)
    for section, values in settings.items():
        setup.set(section, **values)
    configuration = setup.load()
    name = drive_name(configuration)
    if not configuration.imu_recording.use:
        raise RecordingError(
            f"{name}: [imu_recording] use is false, so that no yaw error was observed"
        )
    check = ensure_plausible(configuration)
    recorded = check.reference or read_configured_reference(configuration)
    driven, _ = chosen_part(configuration, recorded.table, configuration.control.rate)
    start, stop = float(driven.index[0]), float(driven.index[-1])
    imu = prepare_recorded_imu(configuration, start, stop)
    reference = recorded.table.copy()
    reference.index = pd.Index(reference.index.to_numpy(dtype=float) - start, name="time")
    driven.index = pd.Index(driven.index.to_numpy(dtype=float) - start, name="time")
    files = recording_sources(configuration)
    sources = tuple(dict.fromkeys((Path(files.reference), Path(files.imu))))
    remarks = [*setup.sentences, *recorded.report.sentences(), *imu.remarks]
    if is_bundled(configuration):
        remarks = [f"{name}: a bundled drive, whose recorded IMU is a simulated one itself"]
    return _observed(
        name,
        imu.table,
        reference,
        driven,
        configuration.comparison,
        step,
        recorded.report.fixes is not None,
        sources,
        remarks,
    )


def _observed(name, imu, reference, path, settings, step, satellite, sources, remarks):
    if len(imu["yaw"].dropna()) < 2:
        raise RecordingError(
            f"{name}: the recorded IMU has {len(imu['yaw'].dropna())} yaws, which are no drive"
        )
    comparison = compare_yaw(imu["yaw"], reference["yaw"], settings, reference.get("yaw_known"))
    if comparison is None:
        raise RecordingError(f"{name}: the IMU has no sample within the time of its reference")
    error = comparison.error.dropna()
    observed = observed_yaw_error(name, error, comparison.reference_yaw, step)
    remarks = [one if one.startswith(name) else f"{name}: {one}" for one in remarks]
    rate = float(median_rate(imu.index.to_numpy(dtype=float)))
    path = _as_dense(path, float(median_rate(reference.index.to_numpy(dtype=float))))
    return ReadDrive(
        observed, float(error.index[0]), path, satellite, rate, sources, tuple(remarks)
    )


def _as_dense(path, rate):
    """Return poses as dense as they were recorded, so that a spline does not follow their kinks."""
    times = path.index.to_numpy(dtype=float)
    at = np.arange(times[0], times[-1] + 0.5 / rate, 1.0 / rate)
    at[-1] = times[-1]
    if len(at) >= len(times) or len(at) < 4:
        return path[list(POSES)]
    return pd.DataFrame(
        {
            "x": np.interp(at, times, path["x"]),
            "y": np.interp(at, times, path["y"]),
            "yaw": np.interp(at, times, unwrap(path["yaw"].to_numpy(dtype=float))),
        },
        index=pd.Index(at, name="time"),
    )


def _same(one, other):
    return np.array_equal(one.error, other.error, equal_nan=True)
