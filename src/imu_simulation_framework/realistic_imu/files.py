"""Reading of measured and ideal IMU signals, and of the magnetic field and speed, from files.

The files are bags, tables of recordings, and results of experiments.
"""

from __future__ import annotations

import contextlib
import math
from pathlib import Path
from typing import Callable, NamedTuple

import pandas as pd
from scipy.spatial.transform import Rotation

from ..core.angles import quaternion_from_roll_pitch_yaw
from ..core.errors import FrameworkError, RecordingError, ResultError, prefix_errors
from ..core.sentences import join_names, quote
from ..core.tables import ACCEL, EULER, GROUND_TRUTH, GYRO
from ..drive.configuration import load_configuration
from ..drive.configured_paths import robot_file
from ..drive.experiment.environment import UNDISTURBED
from ..drive.named_paths import is_result, split_name
from ..drive.results.files import find_result, load_table
from ..drive.turning import load_robot_parameters
from ..motion.motion import Motion
from ..recordings import messages
from ..recordings.columns import find_columns
from ..recordings.file_access import COLUMN_FORMATS, recording_format
from ..recordings.formats import written_bags
from ..recordings.formats.any_format import topics_of_bag
from ..recordings.formats.bag import choose_topic
from ..recordings.reading import read_imu, read_reference
from ..sensors.imu_specification import ImuSpecification
from ..sensors.magnetism.environment import read_magnetic_environment
from .surroundings import NO_MOTORS, Surroundings

#: Names of the tables in an experiment's result that have the columns of an IMU.
RESULT_TABLES = ("imu_simulated", "imu_real", "ground_truth")


class ImuTable(NamedTuple):
    """IMU signals that were read from a file, with remarks.

    Attributes
    ----------
    table : DataFrame
        Table with those columns of an ImuRecord that the file contains.
    remarks : list of str
        Remarks on the recording.
    """

    table: pd.DataFrame
    remarks: list[str]


def read_imu_table(text: str, truth: bool = False) -> ImuTable:
    """Read the signals of an IMU from a recording or from an experiment's result.

    Parameters
    ----------
    text : str
        Path, or ``PATH@NAME``, where the name is a topic of a bag or one of :data:`RESULT_TABLES`
        of a result.
    truth : bool
        Whether to read ideal signals. Poses are then accepted, although they only contain a yaw,
        and the default table of a result is its ground truth.

    Returns
    -------
    ImuTable
        Table of the IMU, with remarks.

    Raises
    ------
    RecordingError, ResultError
        If the file, topic or table does not exist or cannot be read.
    """
    path, name = split_name(text)
    if not Path(path).exists() and not is_result(path):
        raise RecordingError(f"{path}: no such file, expected a recording or a result")
    if is_result(path):
        return _read_result(path, name or ("ground_truth" if truth else "imu_simulated"))
    if recording_format(path) == "bag":
        return _read_bag(path, name, truth)
    if name:
        raise RecordingError(f"{path}: not a bag, so it has no topics; remove @{name}")
    return _read_table_file(path, truth)


def _read_result(path, name) -> ImuTable:
    folder = find_result(path)
    if name not in RESULT_TABLES:
        raise ResultError(
            f"{path}: has no table {quote(name)}; choose one of: {', '.join(RESULT_TABLES)}"
        )
    table = load_table(folder, name)
    if table is None:
        raise ResultError(f"{folder.prefix_path}: the result has no table {name}")
    if name == "ground_truth":
        return _compute_ideal_signals(folder, table)
    return ImuTable(table, [])


def _compute_ideal_signals(folder, table) -> ImuTable:
    """Compute the ideal signals of the mounted IMU, averaged over the sampling periods."""
    # The yaw rate in the ground truth is about the z axis of the body.
    table = table.rename(columns={"yaw_rate": "gyro_z"})
    missing_columns = [name for name in (*GROUND_TRUTH, *GYRO) if name not in (*table, "yaw_rate")]
    if missing_columns:
        remark = (
            f"{folder.prefix_path}: the ground truth was written by an earlier version and lacks "
            f"{join_names(missing_columns)}; quantities that depend on these are not compared"
        )
        return ImuTable(table, [remark])
    try:
        configuration = load_configuration(folder.path("config.ini"))
        robot = load_robot_parameters(robot_file(configuration))
    except FrameworkError as error:
        remark = f"{error}; the mounting of the IMU is unknown, so forces are not compared"
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
    means = motion.table()[list(EULER)].assign(**dict(zip((*GYRO, *ACCEL), (*rate.T, *force.T))))
    # The averages at the first sample are unknown, because there is no previous sample.
    return ImuTable(means.iloc[1:], [])


def _read_bag(path, topic, truth) -> ImuTable:
    topics = topics_of_bag(path)
    types_by_topic = {name: kind for name, (kind, count) in topics.items() if count}
    kind = types_by_topic.get(topic) or types_by_topic.get("/" + topic.strip("/"))
    imu = messages.IMU_TYPES[0].name
    if truth and (kind not in (None, imu) or (not topic and imu not in types_by_topic.values())):
        return _make_table(read_reference(path, topic))
    return _make_table(read_imu(path, topic, require=()))


def _read_table_file(path, truth) -> ImuTable:
    def read_section(section, read, **options):
        format = recording_format(path)
        if format in COLUMN_FORMATS:
            columns = find_columns(path, section).columns
            options.update({"format": format, "columns": columns} if columns else {})
        return _make_table(read(path, **options))

    try:
        return read_section("imu_recording", read_imu, require=())
    except RecordingError as refusal:
        if truth:
            with contextlib.suppress(RecordingError):
                return read_section("reference", read_reference)
        raise refusal from None


def _make_table(recording) -> ImuTable:
    return ImuTable(recording.table, list(recording.report.sentences()))


_POSE = messages.ODOMETRY.place("pose.pose.")
_VELOCITY = messages.ODOMETRY.place("twist.twist.linear.")


class BagSurroundings:
    """Reader of the magnetic field and the speed at an IMU from the messages of a bag.

    Parameters
    ----------
    bag : RawBag
        Bag with the messages.
    errors : ImuSpecification or parameters of a plug-in
        Errors of the IMU; its vibration depends on the speed.
    magnetometer : bool
        Whether a magnetometer is simulated.
    environment : str
        Name or file of the magnetic environment. If it is empty, the field is read from a topic, or
        :data:`.UNDISTURBED` is used if the bag has no such topic.
    field : str
        Topic of the magnetic field; empty for the only topic of this type.
    pose : str
        Topic of the robot's poses; empty if there is none.

    Attributes
    ----------
    surroundings : Surroundings
        Magnetic field and speed at the IMU.
    field, environment : str
        Topic of the magnetic field, and its environment; only one of them is the source of the
        field, and the other is empty.
    remarks : list of str
        Remarks on effects that are not simulated.
    frames : list of str
        Frames of the messages with the magnetic field.

    Raises
    ------
    ConfigurationError
        If the environment does not exist, or requires poses that the bag does not have.
    RecordingError
        If a topic does not exist, or several topics contain a field and ``field`` is empty.
    """

    def __init__(
        self,
        bag: written_bags.RawBag,
        errors,
        magnetometer: bool,
        environment: str = "",
        field: str = "",
        pose: str = "",
    ) -> None:
        self._bag = bag
        present = bag.topics()
        types_by_name = {messages.MAGNETIC_FIELD.name: messages.MAGNETIC_FIELD}
        suitable = [
            name for name, (kind, count) in present.items() if kind in types_by_name and count
        ]
        self.field = self.environment = ""
        if magnetometer and not environment and (field or suitable):
            self.field = choose_topic(bag.path, field, present, types_by_name)
        self.remarks: list[str] = []
        self.frames: list[str] = []
        magnetic_environment = None
        if magnetometer and not self.field:
            self.environment = environment or UNDISTURBED
            magnetic_environment = read_magnetic_environment(self.environment)
            if magnetic_environment.motors:
                self.remarks.append(NO_MOTORS)
        if pose:
            types_by_name = {messages.ODOMETRY.name: messages.ODOMETRY}
            pose = choose_topic(bag.path, pose, present, types_by_name)
        vibrates = isinstance(errors, ImuSpecification) and errors.vibration.active
        self.surroundings = Surroundings(
            magnetic_environment,
            speed=vibrates and bool(pose),
            poses=bool(pose),
            fields=bool(self.field),
        )
        self._readers: dict[str, Callable] = {}
        if self.field:
            self._readers[self.field] = self._add_field
        if self.surroundings.needs_poses:
            self._readers[pose] = self._add_pose

    def process(self, raw: written_bags.RawMessage):
        """Process a message on any topic of the bag.

        Parameters
        ----------
        raw : RawMessage
            Message of the bag.

        Returns
        -------
        sequence of tuple of (int, ImuTruth or None)
            Stamps [ns] and ideal signals that are complete with this message.

        Raises
        ------
        RecordingError
            If the message does not match the layout of its type, or the field is invalid.
        """
        return self._readers.get(raw.topic, lambda _: ())(raw)

    def _add_field(self, raw):
        message = self._read_message(raw, messages.MAGNETIC_FIELD)
        if message.frame not in self.frames:
            self.frames.append(message.frame)
        with prefix_errors(f"{self._bag.path}, topic {self.field}: ", RecordingError):
            return self.surroundings.add_field(message.stamp, message.numbers[:3])

    def _add_pose(self, raw):
        message = self._read_message(raw, messages.ODOMETRY)
        pose = message.numbers[_POSE]
        x, y, z = message.numbers[_VELOCITY].tolist()
        speed = math.sqrt(x * x + y * y + z * z)
        return self.surroundings.add_pose(message.stamp, pose[:3], tuple(pose[3:]), speed)

    def _read_message(self, raw, kind: messages.MessageType) -> messages.NumbersMessage:
        message = messages.read_numbers(raw.data, kind, self._bag.ros2)
        if message is None:
            raise RecordingError(
                f"{self._bag.path}, topic {raw.topic}: a message does not match the layout of "
                f"{kind.name} in ROS {2 if self._bag.ros2 else 1}"
            )
        return message
