"""Trajectories in the format of the TUM RGB-D benchmark: ``time x y z qx qy qz qw`` a line."""

from __future__ import annotations

import numpy as np

from imu_simulation_framework.recordings.columns.times import refuse_other_unit
from imu_simulation_framework.recordings.samples import Samples
from imu_simulation_framework.recordings.text_table import parse_table

COLUMNS = ("time", "x", "y", "z", "qx", "qy", "qz", "qw")


def read_tum(path, text) -> Samples:
    """Read a trajectory.

    Parameters
    ----------
    path : path-like
    text : str or callable
        Content of the file, as for :func:`.parse_table`.

    Raises
    ------
    RecordingError
        The table cannot be parsed, or its times can hardly be seconds.
    """
    table = parse_table(path, text, names=COLUMNS)
    columns: dict[str, np.ndarray] = {name: table.numbers(name).astype(float) for name in COLUMNS}
    columns["stamp"] = columns.pop("time")
    refuse_other_unit(path, columns["stamp"], "format = csv and a column map with time = #1")
    return Samples(
        path=str(path),
        format="tum",
        columns=columns,
        places=table.lines,
        place_name="line",
    )
