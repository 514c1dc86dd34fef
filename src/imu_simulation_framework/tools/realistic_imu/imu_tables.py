"""An IMU, or the truth of one, that a person names: of a bag, a table or a result."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pandas as pd
from scipy.spatial.transform import Rotation

from imu_simulation_framework.angles import quaternion_from_roll_pitch_yaw
from imu_simulation_framework.columns import ACCEL, EULER, GROUND_TRUTH, GYRO
from imu_simulation_framework.configuration.load import load_configuration
from imu_simulation_framework.errors import FrameworkError, RecordingError, ResultError
from imu_simulation_framework.experiment.preparation.setup import guess_where_unknown
from imu_simulation_framework.motion.motion import Motion
from imu_simulation_framework.recordings import read_imu, read_reference
from imu_simulation_framework.recordings.formats.listing import recording_format, topics_of_bag
from imu_simulation_framework.recordings.messages import IMU_TYPES
from imu_simulation_framework.results.folder import find_result
from imu_simulation_framework.results.tables import load_table
from imu_simulation_framework.robot.parameters import load_robot_parameters
from imu_simulation_framework.sentences import listed, shown
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
    if what == "ground_truth":
        return _of_ground_truth(folder, table)
    return ImuTable(table, [])


def _of_ground_truth(folder, table) -> ImuTable:
    """Return what an IMU without errors would say where the robot's is.

    Rates and forces are means from sample to sample, of the robot's orientations and velocities.
    """
    # About the robot's own axis.
    table = table.rename(columns={"yaw_rate": "gyro_z"})
    lacking = [name for name in (*GROUND_TRUTH, *GYRO) if name not in (*table, "yaw_rate")]
    if lacking:
        remark = (
            f"{folder.prefix_path}: the ground truth was written by an earlier version, without "
            f"{listed(lacking)}; what needs them is not compared"
        )
        return ImuTable(table, [remark])
    try:
        configuration = load_configuration(folder.path("config.ini"))
        robot = load_robot_parameters(configuration.robot.parameters or None)
    except FrameworkError as error:
        remark = f"{error}; so nobody knows where the IMU is, and forces are not compared"
        return ImuTable(table, [remark])
    orientation = quaternion_from_roll_pitch_yaw(table[list(EULER)].to_numpy())
    velocity = Rotation.from_quat(orientation).apply(table[["v", "v_y", "v_z"]].to_numpy())
    motion = Motion.from_states(
        table.index.to_numpy(dtype=float),
        table[["x", "y", "z"]].to_numpy(),
        orientation,
        velocity,
        table[list(GYRO)].to_numpy(),
    ).mounted(robot.imu_position, Rotation.from_euler("xyz", robot.imu_orientation))
    rate, force = motion.means()
    felt = motion.table()[list(EULER)].assign(**dict(zip((*GYRO, *ACCEL), (*rate.T, *force.T))))
    # Of the first sample nobody knows the mean.
    return ImuTable(felt.iloc[1:], [])


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
