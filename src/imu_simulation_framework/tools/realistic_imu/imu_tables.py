"""An IMU, or the truth of one, that a person names: of a bag, a table or a result."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pandas as pd

from imu_simulation_framework.errors import RecordingError, ResultError
from imu_simulation_framework.experiment.preparation.setup import guess_where_unknown
from imu_simulation_framework.recordings import read_imu, read_reference
from imu_simulation_framework.recordings.formats.listing import recording_format, topics_of_bag
from imu_simulation_framework.recordings.messages import IMU_TYPES
from imu_simulation_framework.results.folder import find_result
from imu_simulation_framework.results.tables import load_table
from imu_simulation_framework.sentences import shown
from imu_simulation_framework.tools.side_by_side.yaw_signals import is_result, split_name

TABLES = ("imu_simulated", "imu_real", "ground_truth")
"""Those of a result that have something of an IMU."""


class ImuTable(NamedTuple):
    """Columns of an ImuRecord that are there, and what was found in the recording."""

    table: pd.DataFrame
    remarks: list[str]


def read_imu_table(text: str, truth: bool = False) -> ImuTable:
    """Read what a person names.

    Parameters
    ----------
    text : str
        A path, or ``PATH@WHAT``: a topic of a bag, or one of :data:`TABLES` of a result.
    truth : bool
        Whether poses will do, which have a yaw only, and what a result's default is.

    Raises
    ------
    RecordingError, ResultError
        There is no such thing, or it cannot be read.
    """
    path, what = split_name(text)
    if not Path(path).exists() and not is_result(path):
        raise RecordingError(f"{path}: there is no such recording or result")
    if is_result(path):
        return _of_result(path, what or ("ground_truth" if truth else "imu_simulated"))
    if recording_format(path) == "bag":
        return _of_bag(path, what, truth)
    if what:
        raise RecordingError(f"{path}: only a bag has topics, so leave {shown(what)} out")
    return _of_text(path, truth)


def _of_result(path, what) -> ImuTable:
    folder = find_result(path)
    if what not in TABLES:
        raise ResultError(f"{path}: there is no {shown(what)} to compare; name {', '.join(TABLES)}")
    table = load_table(folder, what)
    if table is None:
        raise ResultError(f"{folder.prefix_path}: this result has no {what}")
    # About the robot's own axis, as its ground truth has it.
    return ImuTable(table.rename(columns={"yaw_rate": "gyro_z"}), [])


def _of_bag(path, topic, truth) -> ImuTable:
    topics = topics_of_bag(path)
    kinds = {name: kind for name, (kind, count) in topics.items() if count}
    kind = kinds.get(topic) or kinds.get("/" + topic.strip("/"))
    imu = IMU_TYPES[0].name
    if truth and (kind not in (None, imu) or (not topic and imu not in kinds.values())):
        return _table(read_reference(path, topic))
    return _table(read_imu(path, topic, require=()))


def _of_text(path, truth) -> ImuTable:
    refusals = []
    for section, read in (("imu_recording", read_imu), ("reference", read_reference)):
        if section == "reference" and not truth:
            continue
        try:
            is_csv = recording_format(path) == "csv"
            columns = guess_where_unknown(path, section)[0] if is_csv else None
            options = {"format": "csv", "columns": columns} if columns else {}
            if section == "imu_recording":
                options["require"] = ()
            return _table(read(path, **options))
        except RecordingError as error:
            refusals.append(error)
    raise refusals[0]


def _table(recorded) -> ImuTable:
    return ImuTable(recorded.table, list(recorded.report.sentences()))
