"""Results of made-up experiments as they lie on the disk, without figures, for tests of tools."""

from datetime import datetime

import drive_recordings
from synthetic_experiment import make_tables

from imu_simulation_framework.core.files import format_json
from imu_simulation_framework.drive.results.files import create_result_folder

__all__ = ["drive_recordings", "make_tables", "write_result"]


def write_result(output, drive="drive_a", imu="hector_x", seed=1, tables=None, **options):
    """Write an experiment's tables and the part of its summary that says what it was.

    ``seed``: of chance, and of the day; ``tables``: by default 30 s of :func:`.make_tables`, to
    which the options go.
    """
    if tables is None:
        tables = make_tables(**{"duration": 30.0, "seed": seed, **options})
    folder = create_result_folder(output, drive, imu, datetime(2026, 5, seed, 12))
    tables.save(folder)
    run = {"drive": drive, "imu": {"model": "hector", "label": imu}, "seed": seed}
    folder.write_text("summary.json", format_json({"run": run}))
    return folder
