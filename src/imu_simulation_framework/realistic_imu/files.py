"""An IMU, or the truth of one, that a person names: of a bag, a table or a result.

What a bag tells of the magnetic field at its ideal IMU, and of where its robot is.
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
from ..drive.results.files import find_result, load_table
from ..drive.turning import load_robot_parameters
from ..drive.yaw_signals import is_result, split_name
from ..motion.motion import Motion
from ..recordings import messages
from ..recordings.file_access import COLUMN_FORMATS, recording_format
from ..recordings.formats import written_bags
from ..recordings.formats.any_format import topics_of_bag
from ..recordings.formats.bag import choose_topic
from ..recordings.guessing.files import find_columns
from ..recordings.reading import read_imu, read_reference
from ..sensors.imu_specification import ImuSpecification
from ..sensors.magnetism.environment import read_magnetic_environment
from .surroundings import NO_MOTORS, Surroundings

TABLES = ("imu_simulated", "imu_real", "ground_truth")
"""Those of a result that have something of an IMU."""


class ImuTable(NamedTuple):
    """Columns of an ImuRecord that are there, and what was found in the recording."""

    table: pd.DataFrame
    remarks: list[str]


def read_imu_table(text: str, truth: bool = False) -> ImuTable:
    """Read what a person names.

    ``text``: a path, or ``PATH@WHAT``: a topic of a bag, or one of :data:`TABLES` of a result.
    ``truth``: whether poses will do, which have a yaw only, and what a result's default is. Raises
    RecordingError, ResultError: there is no such thing, or it cannot be read.
    """
    path, what = split_name(text)
    if not Path(path).exists() and not is_result(path):
        raise RecordingError(f"{path}: there is no such recording or result")
    if is_result(path):
        return _of_result(path, what or ("ground_truth" if truth else "imu_simulated"))
    if recording_format(path) == "bag":
        return _of_bag(path, what, truth)
    if what:
        raise RecordingError(f"{path}: only a bag has topics, so leave {quote(what)} out")
    return _of_text(path, truth)


def _of_result(path, what) -> ImuTable:
    folder = find_result(path)
    if what not in TABLES:
        raise ResultError(f"{path}: there is no {quote(what)} to compare; name {', '.join(TABLES)}")
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
            f"{join_names(lacking)}; what needs them is not compared"
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
    means = motion.table()[list(EULER)].assign(**dict(zip((*GYRO, *ACCEL), (*rate.T, *force.T))))
    # The mean of the first sample is unknown.
    return ImuTable(means.iloc[1:], [])


def _of_bag(path, topic, truth) -> ImuTable:
    topics = topics_of_bag(path)
    kinds = {name: kind for name, (kind, count) in topics.items() if count}
    kind = kinds.get(topic) or kinds.get("/" + topic.strip("/"))
    imu = messages.IMU_TYPES[0].name
    if truth and (kind not in (None, imu) or (not topic and imu not in kinds.values())):
        return _table(read_reference(path, topic))
    return _table(read_imu(path, topic, require=()))


def _of_text(path, truth) -> ImuTable:
    def recorded(section, read, **options):
        format = recording_format(path)
        if format in COLUMN_FORMATS:
            columns = find_columns(path, section).columns
            options.update({"format": format, "columns": columns} if columns else {})
        return _table(read(path, **options))

    try:
        return recorded("imu_recording", read_imu, require=())
    except RecordingError as refusal:
        if truth:
            with contextlib.suppress(RecordingError):
                return recorded("reference", read_reference)
        raise refusal from None


def _table(recorded) -> ImuTable:
    return ImuTable(recorded.table, list(recorded.report.sentences()))


CLEAN = "clean"
"""The field where no other is named, as beside a simulator."""

_POSE = messages.ODOMETRY.place("pose.pose.")
_VELOCITY = messages.ODOMETRY.place("twist.twist.linear.")


class ReportedByBag:
    """Surroundings of which the messages of a bag tell.

    ``errors``: whose vibration needs the speed. ``magnetometer``: whether one measures.
    ``environment``: the magnetic field's name or file, or ``field``: its topic; by default the only
    one, or the environment :data:`CLEAN`. ``pose``: the topic of poses; empty for none. Raises
    ConfigurationError: there is no such environment, or it needs poses that are not reported.
    Raises RecordingError: a topic is not there, or there are several for the field.

    What the field is taken from is then in ``field`` or ``environment``; ``remarks`` (list of str):
    what was left out; ``frames`` (list of str): of the messages of the field.
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
        kinds = {messages.MAGNETIC_FIELD.name: messages.MAGNETIC_FIELD}
        suitable = [name for name, (kind, count) in present.items() if kind in kinds and count]
        self.field = self.environment = ""
        if magnetometer and not environment and (field or suitable):
            self.field = choose_topic(bag.path, field, present, kinds)
        self.remarks: list[str] = []
        self.frames: list[str] = []
        surrounding = None
        if magnetometer and not self.field:
            self.environment = environment or CLEAN
            surrounding = read_magnetic_environment(self.environment)
            if surrounding.motors:
                self.remarks.append(NO_MOTORS)
        if pose:
            kinds = {messages.ODOMETRY.name: messages.ODOMETRY}
            pose = choose_topic(bag.path, pose, present, kinds)
        vibrates = isinstance(errors, ImuSpecification) and errors.vibration.active
        self.surroundings = Surroundings(
            surrounding, speed=vibrates and bool(pose), poses=bool(pose), fields=bool(self.field)
        )
        self._readers: dict[str, Callable] = {}
        if self.field:
            self._readers[self.field] = self._add_field
        if self.surroundings.needs_poses:
            self._readers[pose] = self._add_pose

    def take(self, raw: written_bags.RawMessage):
        """Take any message; return the truths that are complete by it, with their stamps [ns].

        Raises RecordingError: it is not what its topic's messages must be.
        """
        return self._readers.get(raw.topic, lambda _: ())(raw)

    def _add_field(self, raw):
        message = self._understood(raw, messages.MAGNETIC_FIELD)
        if message.frame not in self.frames:
            self.frames.append(message.frame)
        with prefix_errors(f"{self._bag.path}, topic {self.field}: ", RecordingError):
            return self.surroundings.add_field(message.stamp, message.numbers[:3])

    def _add_pose(self, raw):
        message = self._understood(raw, messages.ODOMETRY)
        pose = message.numbers[_POSE]
        x, y, z = message.numbers[_VELOCITY].tolist()
        speed = math.sqrt(x * x + y * y + z * z)
        return self.surroundings.add_pose(message.stamp, pose[:3], tuple(pose[3:]), speed)

    def _understood(self, raw, kind: messages.MessageType) -> messages.NumbersMessage:
        message = messages.read_numbers(raw.data, kind, self._bag.ros2)
        if message is None:
            raise RecordingError(
                f"{self._bag.path}, topic {raw.topic}: a message is not laid out as "
                f"{kind.name} of ROS {2 if self._bag.ros2 else 1}"
            )
        return message
