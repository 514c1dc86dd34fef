"""Result folders of synthetic experiments, without figures, as input of the programs."""

from datetime import datetime

import drive_recordings
from synthetic_experiment import make_tables

from imu_simulation_framework.core.files import format_json
from imu_simulation_framework.drive.results.files import create_result_folder

__all__ = ["drive_recordings", "make_tables", "write_result"]


def write_result(output, drive="drive_a", imu="hector_x", seed=1, tables=None, **options):
    """Write the tables of an experiment and the section ``run`` of its summary.

    Parameters
    ----------
    output : path
        Folder of all results.
    drive, imu : str, optional
        Name of the drive and label of the IMU.
    seed : int, optional
        Seed of the random numbers, and the day of May on which the experiment was made.
    tables : ExperimentTables, optional
        By default the result of :func:`.make_tables` with a duration of 30 s and the options.

    Returns
    -------
    ResultFolder
    """
    if tables is None:
        tables = make_tables(**{"duration": 30.0, "seed": seed, **options})
    folder = create_result_folder(output, drive, imu, datetime(2026, 5, seed, 12))
    tables.save(folder)
    run = {"drive": drive, "imu": {"model": "hector", "label": imu}, "seed": seed}
    folder.write_text("summary.json", format_json({"run": run}))
    return folder
