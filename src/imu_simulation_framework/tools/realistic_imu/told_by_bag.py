"""What a bag tells of the magnetic field at its ideal IMU, and of where its robot is."""

from __future__ import annotations

import math
from typing import Callable, NamedTuple

from imu_simulation_framework.configuration.magnetic_environment_file import (
    read_magnetic_environment,
)
from imu_simulation_framework.errors import RecordingError
from imu_simulation_framework.experiment.realistic_imu.surroundings import Surroundings
from imu_simulation_framework.recordings.messages import MAGNETIC_FIELD, ODOMETRY, MessageType
from imu_simulation_framework.recordings.simulated.raw_bags import (
    NumbersMessage,
    RawBag,
    RawMessage,
    read_numbers_message,
)
from imu_simulation_framework.recordings.topics import choose_topic
from imu_simulation_framework.sensors.imu_specification import ImuSpecification

CLEAN = "clean"
"""The field where no other is named, as beside a simulator."""

_POSE, _VELOCITY = slice(0, 7), slice(43, 46)
"""Where they stand in an odometry's numbers."""


class Wanted(NamedTuple):
    """What a person asks for.

    ``magnetometer``: whether one measures; ``environment``: the field's name or file; ``field`` and
    ``pose``: topics. What is empty was not named.
    """

    magnetometer: bool
    environment: str = ""
    field: str = ""
    pose: str = ""


class ToldByBag:
    """Surroundings of which the messages of a bag tell.

    Parameters
    ----------
    bag : RawBag
    errors : ImuErrors
        Whose vibration needs the speed.
    wanted : Wanted

    Attributes
    ----------
    surroundings : Surroundings
    field : str
        The topic that the field is taken from; empty for none.
    environment : str
        The environment that it is taken from; empty for none.
    remarks : list of str
        What was left out.
    frames : list of str
        Of the messages of the field.

    Raises
    ------
    ConfigurationError
        There is no such environment, or it needs poses that nobody tells.
    RecordingError
        A topic is not there, or there are several for the field.
    """

    def __init__(self, bag: RawBag, errors, wanted: Wanted) -> None:
        self._bag = bag
        present = bag.topics()
        self.field = _field_topic(bag.path, present, wanted)
        self.environment = ""
        self.remarks: list[str] = []
        self.frames: list[str] = []
        environment = None
        if wanted.magnetometer and not self.field:
            self.environment = wanted.environment or CLEAN
            environment = read_magnetic_environment(self.environment)
            if environment.motors:
                self.remarks.append(
                    "the fields of motors are left out: nothing tells what they pull with"
                )
        pose = ""
        if wanted.pose:
            pose = choose_topic(bag.path, wanted.pose, present, {ODOMETRY.name: ODOMETRY})
        vibrates = isinstance(errors, ImuSpecification) and errors.vibration.active
        self.surroundings = Surroundings(
            environment,
            speed=vibrates and bool(pose),
            poses=bool(pose),
            fields=bool(self.field),
        )
        self._readers: dict[str, Callable] = {}
        if self.field:
            self._readers[self.field] = self._add_field
        if self.surroundings.needs_poses:
            self._readers[pose] = self._add_pose

    def take(self, raw: RawMessage):
        """Take any message; return the truths that are complete by it, with their stamps [ns].

        Raises
        ------
        RecordingError
            It is not what its topic's messages must be.
        """
        reader = self._readers.get(raw.topic)
        return () if reader is None else reader(raw)

    def _add_field(self, raw):
        message = self._understood(raw, MAGNETIC_FIELD)
        if message.frame not in self.frames:
            self.frames.append(message.frame)
        try:
            return self.surroundings.add_field(message.stamp, message.numbers[:3])
        except RecordingError as error:
            raise RecordingError(f"{self._bag.path}, topic {self.field}: {error}") from None

    def _add_pose(self, raw):
        message = self._understood(raw, ODOMETRY)
        pose = message.numbers[_POSE]
        x, y, z = message.numbers[_VELOCITY].tolist()
        speed = math.sqrt(x * x + y * y + z * z)
        return self.surroundings.add_pose(message.stamp, pose[:3], tuple(pose[3:]), speed)

    def _understood(self, raw, kind: MessageType) -> NumbersMessage:
        message = read_numbers_message(raw.data, kind, self._bag.ros2)
        if message is None:
            raise RecordingError(
                f"{self._bag.path}, topic {raw.topic}: a message is not laid out as "
                f"{kind.name} of ROS {2 if self._bag.ros2 else 1}"
            )
        return message


def _field_topic(path, present, wanted) -> str:
    """Return the topic of the ideal field: the one that is named, else the only one."""
    kinds = {MAGNETIC_FIELD.name: MAGNETIC_FIELD}
    if not wanted.magnetometer or wanted.environment:
        return ""
    suitable = [name for name, (kind, count) in present.items() if kind in kinds and count]
    if not wanted.field and not suitable:
        return ""
    return choose_topic(path, wanted.field, present, kinds)
