"""From what was recorded of a drive to its results."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass

import pandas as pd

from imu_simulation_framework.configuration.load import Configuration
from imu_simulation_framework.evaluation.comparison import ComparisonSettings
from imu_simulation_framework.experiment.parts import describe_imu, published_rate
from imu_simulation_framework.experiment.preparation.drive import drive_name, prepare_recorded_imu
from imu_simulation_framework.experiment.session.recording import RecordingSession
from imu_simulation_framework.results.folder import ResultFolder
from imu_simulation_framework.results.tables import (
    ExperimentTables,
    load_table,
    write_recorded_tables,
)


@dataclass(frozen=True)
class PreparedResults:
    """What is known before the drive of what is told after it.

    Attributes
    ----------
    recorded_imu : dict or None
        What the report says of the recorded IMU; None if there is none.
    remarks : tuple of str
        Sentences on it.
    """

    recorded_imu: dict | None
    remarks: tuple[str, ...]


def prepare_results(
    folder: ResultFolder, configuration: Configuration, start: float, stop: float
) -> PreparedResults:
    """Write what the recorded IMU said between the recording's stamps ``start`` and ``stop`` [s].

    Raises
    ------
    FrameworkError
        The recording cannot be used, or the table cannot be written.
    """
    recorded = prepare_recorded_imu(configuration, start, stop)
    if recorded is None:
        return PreparedResults(None, ())
    folder.write_table("imu_real", recorded.table)
    return PreparedResults(recorded.report, tuple(recorded.remarks))


def write_results(
    folder: ResultFolder,
    configuration: Configuration,
    prepared: PreparedResults,
    session: RecordingSession,
    wall_time: float,
    imu_is_regular: bool = True,
) -> dict:
    """Write what was recorded: tables, summary, figures.

    Parameters
    ----------
    folder : ResultFolder
        With what was prepared before the drive.
    configuration : Configuration
    prepared : PreparedResults
    session : RecordingSession
        It has begun; what it has kept in files is discarded once the tables are written.
    wall_time : float
        Wall-clock seconds that the drive took.
    imu_is_regular : bool
        Whether the simulated IMU measures at exactly equal intervals.

    Returns
    -------
    dict
        The summary.

    Raises
    ------
    ResultError
        A file cannot be written; what was recorded stays.
    """
    # Imported here: before the drive's end nothing is drawn, which takes 100 MB.
    from imu_simulation_framework.experiment.report import RunDescription, write_report

    record, zero, end, completed = session.record, session.zero, session.end(), session.complete
    assert zero is not None
    # If they cannot be written the samples stay.
    record.flush()
    recorded = write_recorded_tables(folder, record, zero, end)
    tables = ExperimentTables(
        trajectory_data=folder.read_table("trajectory_data"),
        reference=folder.read_table("reference"),
        fixes=load_table(folder, "fixes"),
        imu_real=None if prepared.recorded_imu is None else _recorded_yaw(folder),
        **recorded,
    )
    rate = configuration.imu.rate
    expected = {"ground_truth": record.ground_truth.expected(rate, zero, end)}
    if imu_is_regular:
        published = published_rate(configuration)
        expected["imu_simulated"] = record.imu.expected(published, zero, end)
    backwards = {
        "imu_simulated": record.imu.backwards,
        "ground_truth": record.ground_truth.backwards,
    }
    record.discard()
    run = {
        "completed": completed,
        "drive": drive_name(configuration),
        "trajectory_scale": configuration.trajectory.scale,
        "simulator": configuration.simulation.simulator,
        "imu": describe_imu(configuration),
        "controller": configuration.control.controller,
        "seed": configuration.experiment.seed,
        "recording": json.loads(folder.read_text("recording.json")),
        "recorded_imu": prepared.recorded_imu,
        "messages_out_of_order": backwards,
    }
    return write_report(
        folder,
        tables,
        ComparisonSettings(**dataclasses.asdict(configuration.comparison)),
        RunDescription(run, {"wall_time_s": wall_time}, expected),
        save_tables=False,
        formats=configuration.experiment.figure_formats,
    )


def _recorded_yaw(folder) -> pd.DataFrame:
    """The recorded IMU's yaw; a long recording should not be in memory as a whole."""
    return folder.read_table("imu_real", ["yaw"])
