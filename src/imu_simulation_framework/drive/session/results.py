"""From what was recorded of a drive to its results."""

from __future__ import annotations

import json

from imu_simulation_framework.drive.configuration import Configuration
from imu_simulation_framework.drive.from_configuration import describe_imu, published_rate
from imu_simulation_framework.drive.results.files import ResultFolder
from imu_simulation_framework.drive.session.recording import RecordingSession

DRIVE, RECORDED_IMU = "drive", "recorded_imu"
"""Keys of recording.json with the drive's name, and with what is told of the recorded IMU."""


def write_results(
    folder: ResultFolder,
    configuration: Configuration,
    session: RecordingSession,
    wall_time: float,
    imu_is_regular: bool = True,
) -> dict:
    """Write what was recorded: tables, summary, figures.

    Raises ResultError: a file cannot be written; what was recorded stays. Returns the summary.

    ``folder``: with what was prepared before the drive; ``session``: it has begun; what it has kept
    in files is discarded once the tables are written; ``wall_time``: wall-clock seconds that the
    drive took; ``imu_is_regular``: whether the simulated IMU measures at exactly equal intervals.
    """
    # Imported here: before the drive's end nothing is written and drawn, which takes 150 MB.
    from imu_simulation_framework.drive.results.report import write_report
    from imu_simulation_framework.drive.results.tables import (
        ExperimentTables,
        load_table,
        write_recorded_tables,
    )
    from imu_simulation_framework.drive.summary import RunDescription

    recording = json.loads(folder.read_text("recording.json"))
    drive, recorded_imu = recording.pop(DRIVE, None), recording.pop(RECORDED_IMU, None)
    record, zero, end, completed = session.record, session.zero, session.end(), session.complete
    assert zero is not None
    # If they cannot be written the samples stay.
    record.flush()
    recorded = write_recorded_tables(folder, record, zero, end)
    tables = ExperimentTables(
        trajectory_data=folder.read_table("trajectory_data"),
        reference=folder.read_table("reference"),
        fixes=load_table(folder, "fixes"),
        imu_real=None if recorded_imu is None else _recorded_yaw(folder),
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
        "drive": drive,
        "trajectory_scale": configuration.trajectory.scale,
        "simulator": configuration.simulation.simulator,
        "imu": describe_imu(configuration),
        "controller": configuration.control.controller,
        "seed": configuration.experiment.seed,
        "recording": recording,
        "recorded_imu": recorded_imu,
        "messages_out_of_order": backwards,
    }
    return write_report(
        folder,
        tables,
        configuration.comparison,
        RunDescription(run, {"wall_time_s": wall_time}, expected),
        save_tables=False,
        formats=configuration.experiment.figure_formats,
    )


def _recorded_yaw(folder):
    """Return the recorded IMU's yaw; a long recording should not be in memory as a whole."""
    return folder.read_table("imu_real", ["yaw"])
