"""The tables that an experiment records, together and on disk."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from imu_simulation_framework.core.columns import (
    CONTROL_ERROR,
    GNSS_TOLD,
    MAG,
    POSES,
    TRAJECTORY,
    WHEELS,
)
from imu_simulation_framework.core.errors import ResultError
from imu_simulation_framework.core.sentences import shown
from imu_simulation_framework.drive.results.record import NOT_ALWAYS, STORED, ExperimentRecord

REQUIRED_COLUMNS = {
    "trajectory_data": (*TRAJECTORY, *WHEELS),
    "reference": ("yaw",),
    "fixes": ("x", "y"),
    "imu_simulated": ("yaw",),
    "imu_real": ("yaw",),
    "ground_truth": POSES,
    "wheel_velocities": WHEELS,
    "wheel_velocities_actual": WHEELS,
    "control_error": CONTROL_ERROR,
    "magnetometer_simulated": MAG,
    "odometer": TRAJECTORY,
    "gnss_simulated": GNSS_TOLD,
}
"""Table name -> the columns that its evaluation needs."""

OPTIONAL = ("reference", "fixes", "imu_real", *NOT_ALWAYS, "gnss_simulated", "odometer")
"""Tables that a result may lack."""


@dataclass
class ExperimentTables:
    """What was driven and what was measured, time zero being the start of the drive.

    ``trajectory_data``: ``Trajectory`` as the robot was to follow it, and the wheel velocities left
    and right [rad/s] that inverse kinematics gave for it; ``reference``: ``Poses`` as they were
    recorded, what the recorded IMU is judged against; None in results of versions that judged it
    against the trajectory; ``fixes``: satellite positions x, y [m] as received, in the axes and
    scale of ``trajectory_data``; None where there are none; ``imu_simulated``: ``ImuRecord`` of the
    simulated IMU; ``imu_real``: ``ImuRecord`` of the recorded IMU; None if there was none;
    ``ground_truth``: ``GroundTruth`` of the simulated robot; ``wheel_velocities``:
    ``WheelVelocities`` as commanded, each at the time from which it holds; ``control_error``:
    ``ControlError`` of the simulated robot against the trajectory; ``wheel_velocities_actual``:
    ``WheelVelocities`` as the wheels turned; None where they were not recorded;
    ``magnetometer_simulated``: ``MagneticField`` of the simulated IMU; None if it has no
    magnetometer; ``gnss_simulated``: ``GnssReported`` of the simulated GNSS receiver; None if there
    is none; ``odometer``: ``Trajectory`` as the simulated odometer says it; None if there is none.
    """

    trajectory_data: pd.DataFrame
    reference: pd.DataFrame | None
    imu_simulated: pd.DataFrame
    imu_real: pd.DataFrame | None
    ground_truth: pd.DataFrame
    wheel_velocities: pd.DataFrame
    control_error: pd.DataFrame
    fixes: pd.DataFrame | None = None
    wheel_velocities_actual: pd.DataFrame | None = None
    magnetometer_simulated: pd.DataFrame | None = None
    gnss_simulated: pd.DataFrame | None = None
    odometer: pd.DataFrame | None = None

    def save(self, folder):
        """Write each table as CSV into a :class:`.ResultFolder`; ResultError if not possible."""
        for name in REQUIRED_COLUMNS:
            table = getattr(self, name)
            if table is not None:
                folder.write_table(name, table)

    @classmethod
    def load(cls, folder) -> ExperimentTables:
        """Read the tables of a :class:`.ResultFolder` back.

        Raises ResultError: a file is missing or broken, or lacks a column; only the
        :data:`OPTIONAL` ones may be missing.
        """
        return cls(**{name: load_table(folder, name) for name in REQUIRED_COLUMNS})


def write_recorded_tables(folder, record, zero, end):
    """Write what an experiment has recorded as CSV, a part at a time: a drive may be long.

    Raises ResultError: a file cannot be written. ``zero``, ``end``: first and last stamp [ns].
    Returns dict of DataFrame: the columns of each table that the evaluation needs.
    """
    tables = record.tables(zero, end)
    for name, table in tables.items():
        folder.write_table_in_parts(name, table.blocks())
    return {name: table.whole(REQUIRED_COLUMNS[name]) for name, table in tables.items()}


def complete_tables(folder) -> None:
    """Make the tables that a killed experiment has not written, of the samples that it has left.

    Raises ResultError: the samples cannot be used, or a table cannot be written.
    """
    record = ExperimentRecord.left_behind(folder)
    if record is None:
        return
    # If it was killed after the tables were written they are not written again.
    always = set(STORED) - set(NOT_ALWAYS)
    if not all(folder.path(f"{name}.csv").exists() for name in always):
        zero, end = record.zero(), record.common_end()
        if zero is None or end <= zero:
            raise ResultError(
                f"{folder.prefix_path}: the experiment was killed before the robot drove, so there "
                "is nothing to evaluate"
            )
        write_recorded_tables(folder, record, zero, end)
    record.discard()


MAX_VALUE = 1e30
"""Of a result's tables; squares of larger numbers, and sums of them, may be none."""


def load_table(folder, name):
    """Read one table of a :class:`.ResultFolder`; None for an :data:`OPTIONAL` one that it lacks.

    Raises ResultError: it is missing or broken, lacks a column, or holds a number above
    :data:`MAX_VALUE`.
    """
    if name in OPTIONAL and not folder.path(f"{name}.csv").exists():
        return None
    table = folder.read_table(name)
    missing = [column for column in REQUIRED_COLUMNS[name] if column not in table.columns]
    if missing:
        raise ResultError(f"{folder.path(name + '.csv')}: lacks the column {', '.join(missing)}")
    values = table.to_numpy()
    absurd = np.argwhere(np.isfinite(values) & (np.abs(values) > MAX_VALUE))
    if len(absurd):
        row, column = absurd[0]
        raise ResultError(
            f"{folder.path(name + '.csv')}: line {row + 2}, column {shown(table.columns[column])}: "
            f"{values[row, column]:g}, expected at most {MAX_VALUE:g}"
        )
    return table
