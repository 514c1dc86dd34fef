"""Test of IMU models against recorded drives, by simulating many runs of each drive."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple, Sequence

import numpy as np
import pandas as pd

from ...core.progress import progress_bar
from ...core.sentences import join_names
from ...heading.identification.report import drives_table
from ...heading.judgement.common_zero import zero_where_known
from ...heading.judgement.curve_statistics import curve_statistics
from ...heading.judgement.judge import Judgement, judge
from ...heading.model.imu_error_sources import yaw_error_model
from ...heading.model.model import YawErrorModel
from ...heading.model.parameters import YawErrorParameters
from ...heading.model.sources import RandomConstant, Source
from ...heading.several_drives import (
    Calibration,
    PooledVerdict,
    calibration_sentences,
    calibrations,
    pooled_verdict,
)
from ...motion.motion import Motion
from ...sensors.errors_in_motion import remark_on_motion_errors
from ...sensors.formats.registry import NamedImu
from ...sensors.imu_specification import ImuSpecification
from ...sensors.magnetism.environment import MagneticEnvironment
from ..observed_drives import ObservedDrive
from .defaults import SENSOR
from .executors import processors
from .monte_carlo import Computers, monte_carlo
from .samplers import Drawing, LinearDrawing, SensorDrawing

CONSTANTS_OF_A_DRIVE = ("rate bias", "quantisation", "yaw drift")
"""Random constants that take a new value in each drive of the same sensor."""

MAX_CURVES = 20
"""Number of runs whose yaw error over time is stored for a web page."""

ONE_DRIVE = (
    "With one drive, a model that is not rejected is not proven, and several models may pass."
)
NO_REFERENCE_NOISE = (
    "The noise of the drive's reference is attributed to the IMU, as --reference-noise is not "
    "given: if the model has too little noise at high frequencies, the reference may be the cause."
)
OWN_DRIVE = (
    "A model fits the drive from which it was identified better than other drives: on that drive, "
    "only a rejection is informative."
)


class JudgementTask(NamedTuple):
    """Settings for testing IMU models against a drive.

    Attributes
    ----------
    what : {"linear", "sensor"}
        Type of the runs, :data:`.LINEAR` or :data:`.SENSOR`.
    runs : int
        Number of runs.
    seed : int
        Seed of the runs along this drive.
    unit_seed : int or None
        Seed of the constants that a sensor retains over several drives; None for a single drive.
    step : float
        Sampling period of the yaw error [s].
    reference_noise : YawErrorParameters or None
        Noise of the reference; None to use the recording's or the identified model's.
    workers : int or None
        Number of processes that simulate sensors; None for one per processor.
    """

    what: str
    runs: int
    seed: int
    unit_seed: int | None
    step: float
    reference_noise: YawErrorParameters | None
    workers: int | None


class ModelJudgement(NamedTuple):
    """Test result of an IMU model for one drive.

    Attributes
    ----------
    name : str
        Name of the IMU.
    errors : object
        Parameters of the IMU.
    reference_rms : float
        RMS of the simulated reference error [rad].
    judgement : Judgement
        Tests of the recorded yaw error.
    curves : numpy.ndarray
        Yaw errors of the first runs, shape (at most MAX_CURVES, samples) [rad].
    statistics : dict
        Statistics of all runs, see :func:`.curve_statistics`.
    remarks : tuple of str
        Notes on the limitations of the test.
    is_one_unit : bool
        Whether each run uses the same simulated sensor on all drives.
    """

    name: str
    errors: Any
    reference_rms: float
    judgement: Judgement
    curves: np.ndarray
    statistics: dict
    remarks: tuple[str, ...]
    is_one_unit: bool


class DriveJudgement(NamedTuple):
    """Test results of several IMU models for one drive.

    Attributes
    ----------
    models : list of ModelJudgement
        Result for each model.
    drive : ObservedDrive
        Drive with its observed yaw error.
    task : JudgementTask
        Settings of the test.
    """

    models: list[ModelJudgement]
    drive: ObservedDrive
    task: JudgementTask

    @property
    def name(self) -> str:
        """Name of the drive."""
        return self.drive.observed.name

    def remarks(self, models: Sequence[ModelJudgement] | None = None) -> list[str]:
        """Return the notes on the drive and on the models, without duplicates.

        Parameters
        ----------
        models : sequence of ModelJudgement, optional
            Models; by default all of them.

        Returns
        -------
        list of str
            Notes; a note that applies only to some models begins with their names.
        """
        models = self.models if models is None else models
        names_by_remark: dict[str, list[str]] = {}
        for model in models:
            for remark in model.remarks:
                names_by_remark.setdefault(remark, []).append(model.name)
        sentences = [
            remark if len(names) == len(models) else f"{join_names(names)}: {remark}"
            for remark, names in names_by_remark.items()
        ]
        return list(dict.fromkeys([*self.drive.remarks, *sentences, ONE_DRIVE]))

    @property
    def settings(self) -> dict[str, Any]:
        """Settings of the test, for the web page and the JSON file."""
        task = self.task
        return {
            "drive": self.name,
            "sources": [str(path) for path in self.drive.sources],
            "what": task.what,
            "runs": task.runs,
            "seed": task.seed,
            "step [s]": task.step,
        }


class PooledJudgement(NamedTuple):
    """Joint test result of an IMU model for several drives of one sensor.

    Attributes
    ----------
    name : str
        Name of the IMU.
    verdict : PooledVerdict
        Joint test result of all drives.
    calibration : list of Calibration
        Calibration of each statistic over drives.
    table : pandas.DataFrame
        One row per drive, see :func:`.drives_table`.
    """

    name: str
    verdict: PooledVerdict
    calibration: list[Calibration]
    table: pd.DataFrame

    @property
    def sentences(self) -> list[str]:
        """Messages with the joint test result and the percentile of each drive among the runs."""
        return [self.verdict.sentence, f"{'; '.join(calibration_sentences(self.calibration))}."]


def pool_judgements(drives: Sequence[DriveJudgement]) -> list[PooledJudgement]:
    """Test each model against several drives of one sensor.

    Parameters
    ----------
    drives : sequence of DriveJudgement
        Results of each drive, for the same models.

    Returns
    -------
    list of PooledJudgement
        One result per model.
    """
    names, pooled = [drive.name for drive in drives], []
    for models in zip(*(drive.models for drive in drives)):
        judgements = [model.judgement for model in models]
        statistics = [model.statistics for model in models]
        verdict = pooled_verdict(names, judgements, statistics, one_unit=models[0].is_one_unit)
        table = drives_table(names, judgements, [judgement.smallest for judgement in judgements])
        pooled.append(PooledJudgement(models[0].name, verdict, calibrations(judgements), table))
    return pooled


def judge_model(
    imu: NamedImu,
    environment: MagneticEnvironment | None,
    drive: ObservedDrive,
    motion: Motion,
    task: JudgementTask,
) -> ModelJudgement:
    """Simulate many runs of an IMU along a drive, and test the recorded yaw error against them.

    Parameters
    ----------
    imu : NamedImu
        Name and errors of the IMU.
    environment : MagneticEnvironment or None
        Magnetic environment of the drive.
    drive : ObservedDrive
        Drive with the recorded yaw error.
    motion : Motion
        Motion of the drive.
    task : JudgementTask
        Settings of the test.

    Returns
    -------
    ModelJudgement
    """
    errors, observed = imu.errors, drive.observed
    model = yaw_error_model(errors, motion, observed.step, environment)  # type: ignore[arg-type]
    drawings = _drawings(imu, environment, model, motion, observed.step, task)
    ensembles = [_draw(drawing, imu.name, task) for drawing in drawings]
    time, curves = ensembles[0].time, ensembles[0].curves
    for ensemble in ensembles[1:]:
        curves = curves + ensemble.curves
    noise = task.reference_noise
    parameters = noise
    if parameters is None:
        parameters = errors if isinstance(errors, YawErrorParameters) else YawErrorParameters()
    # White noise that the user specifies is treated as the complete error of the reference.
    is_stated = noise is not None and not noise.drives
    known_reference = None if is_stated else observed.reference
    coordinates = observed.time, observed.net_turn, observed.absolute_turn
    reference = parameters.reference_errors(known_reference, coordinates, task.runs, task.seed)
    curves = curves + reference[:, : len(time)].astype(curves.dtype)
    # At times without a reference heading, the yaw error is not observed.
    zero_reference = None if known_reference is None else observed.zeroed_by
    time, error, curves = zero_where_known(time, observed.error, curves, zero_reference)
    remarks = [*imu.remarks, *_remarks(errors, bool(reference.any()))]
    remarks += [] if task.what == SENSOR else model.limits
    return ModelJudgement(
        name=imu.name,
        errors=errors,
        reference_rms=float(np.sqrt(np.mean(np.square(reference)))),
        judgement=judge(time, error, curves),
        # Storing the runs of many drives would exceed the available memory.
        curves=curves[:MAX_CURVES].copy(),
        statistics=curve_statistics(time, curves),
        remarks=tuple(remarks),
        is_one_unit=_is_one_unit(errors, model, task),
    )


def _drawings(imu, environment, model, motion, step, task) -> list[Drawing]:
    if task.what == SENSOR:
        return [
            SensorDrawing(motion, imu.errors, task.seed, step, magnetic_environment=environment)
        ]
    if task.unit_seed is not None:
        return list(drawings_of_unit(model, task.seed, task.unit_seed))
    return [LinearDrawing(model, task.seed)]


def drawings_of_unit(model: YawErrorModel, seed: int, unit_seed: int) -> list[LinearDrawing]:
    """Split a model into errors that vary between drives and constant errors of the sensor.

    Parameters
    ----------
    model : YawErrorModel
        Model along a drive.
    seed : int
        Seed of the drive.
    unit_seed : int
        Seed of the sensors.

    Returns
    -------
    list of LinearDrawing
        Source of the errors that vary between drives and, if there are any, of the constant errors.
    """
    unit_sources: list[Source] = []
    drive_sources: list[Source] = []
    for source in model.sources:
        is_constant = isinstance(source, RandomConstant) and source.name not in CONSTANTS_OF_A_DRIVE
        (unit_sources if is_constant else drive_sources).append(source)
    drawings = [LinearDrawing(dataclasses.replace(model, sources=tuple(drive_sources)), seed)]
    if unit_sources:
        unit_model = dataclasses.replace(model, sources=tuple(unit_sources))
        drawings.append(LinearDrawing(unit_model, unit_seed))
    return drawings


def _draw(drawing, name, task):
    computers = Computers((task.workers or processors()) if task.what == SENSOR else 1)
    with progress_bar(total=task.runs, unit=" runs", desc=name, leave=False) as bar:
        return monte_carlo(
            drawing, task.runs, computers=computers, keep=task.runs, on_runs=bar.update
        )


def _is_one_unit(errors, model, task) -> bool:
    if task.what == SENSOR:
        return not getattr(errors, "is_any_unit", False)
    return not any(getattr(source, "spread", 0.0) for source in model.sources)


def _remarks(errors, has_reference_error):
    """Yield notes on the limitations of the test of an IMU model."""
    if isinstance(errors, ImuSpecification):
        yield from filter(None, [remark_on_motion_errors(errors)])
    if isinstance(errors, YawErrorParameters):
        yield OWN_DRIVE
    elif not has_reference_error:
        yield NO_REFERENCE_NOISE
