"""Writes a bag of the experiment without losing a message."""

from __future__ import annotations

import contextlib
import functools
import os
import struct
import threading
from collections import deque
from typing import Any

import genpy
import rospy
from rosbags.rosbag1 import Writer
from std_srvs.srv import Trigger, TriggerResponse

from ...core import topics
from ...core.errors import FrameworkError, ResultError, SimulatorError
from ...core.whole_files import explain_file_error
from ...drive.experiment.gnss_and_odometer import experiment_gnss, experiment_odometer
from ...drive.results.files import ACTIVE, BAG
from ...drive.session.recording import MessageSession
from ...recordings.messages import STAMP_PLACE, stamp_of
from ..messages import tracking_error
from ..node import subscribe
from ..participant import EARLY_END_TIMEOUT, Participant
from ..simulators import interface

RECORDED_TOPICS = (
    *(topics.CLOCK, topics.TRANSFORMS, topics.STATIC_TRANSFORMS),
    *(topics.IMU, topics.IMU_BIAS, topics.IMU_MAG, topics.IMU_CALIBRATION, topics.GROUND_TRUTH),
    *(topics.GNSS_FIX, topics.GNSS_VELOCITY, topics.GNSS_HEADING, topics.ODOMETER),
    *(topics.JOINT_STATES, topics.WHEEL_COMMAND, topics.TRAJECTORY_ERROR),
    *(topics.YAW_SIMULATED, topics.YAW_REAL, topics.YAW_GROUND_TRUTH),
    *(topics.YAW_ERROR_SIMULATED, topics.YAW_ERROR_REAL),
)


CHUNK = 64 * 1024
"""Bytes of the bag that are written together; with ``AT_ONCE`` they are what is lost at most when
the recorder is killed."""

AT_ONCE = 128
"""Messages that are taken together: with a lock for each one, the threads that receive the topics
would wait for one another all the time."""

HEADER_BYTES = 8
"""By which rosbag's header of a bag is longer than that of rosbags, which it writes its own over
when it gives an index to the bag of a killed recorder."""

STATIC_TIMEOUT = 10.0
"""Wall-clock seconds for robot_state_publisher, without which an experiment goes on."""


class ExperimentRecorder(Participant):
    """Takes every message as it is, in the bytes that came, at its own stamp if it has one.

    ``rosbag record`` beside a run that is much faster than real time drops messages, since
    its queue is bounded; here a publisher waits until the recorder has read its message.
    A simulator that waits for its first command repeats itself: of several messages with
    one stamp on one topic the last is recorded. Static transforms are at the beginning of the bag,
    latched, as they are played again. The bag is written under another name and renamed when it
    is complete.
    """

    name = "experiment_recorder"

    _waits_for_static = True

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()
        self._bag: Any = None
        self._connections: dict[str, Any] = {}
        self._path = ""
        self._received = 0
        self._arrived: deque[tuple] = deque()  # topic, connection's header, serialised message
        configuration, simulator = self.configuration, self._simulator
        clock = topics.GROUND_TRUTH if topics.CLOCK in simulator.may_lack else topics.CLOCK
        period = 1.0 / configuration.control.rate
        self._session = MessageSession(period, clock, simulator.lock_step)
        gnss = experiment_gnss(configuration)
        has_heading = gnss is not None and gnss.heading.source != "none"
        reported = {
            **dict.fromkeys((topics.GNSS_FIX, topics.GNSS_VELOCITY), gnss is not None),
            topics.GNSS_HEADING: has_heading,
            topics.ODOMETER: experiment_odometer(configuration) is not None,
            topics.IMU_BIAS: simulator.publishes_imu_bias(configuration.imu.model),
            topics.IMU_MAG: interface.publishes_magnetic_field(configuration, simulator),
            topics.IMU_CALIBRATION: interface.publishes_calibration(configuration, simulator),
        }
        inputs = {
            topic: subscribe(topic, rospy.AnyMsg, functools.partial(self._on_message, topic))
            for topic in RECORDED_TOPICS
            if reported.get(topic, True)
        }
        self._static = inputs.pop(topics.STATIC_TRANSFORMS)
        self._waits_for_static = topics.STATIC_TRANSFORMS not in simulator.may_lack
        self.inputs = tuple(inputs[topic] for topic in inputs if topic not in simulator.may_lack)
        rospy.Service(f"{self.name}/stop", Trigger, self._on_stop)
        self.offer_start()

    def prepare(self, start, stop):
        try:
            self.wait_until(
                lambda: not self._waits_for_static or self._static.get_num_connections() > 0,
                f"robot_state_publisher to publish {self._static.resolved_name}",
                STATIC_TIMEOUT,
            )
        except SimulatorError as error:
            rospy.logwarn("%s: in the bag, tf does not know the parts of the robot", error)
        duration = self.reference_trajectory().time[-1]
        self._path = str(self.folder.path(BAG))
        with self._lock, self._whole_or_not_at_all():
            self.ensure_not_ended()
            # Open until the bag is complete.
            self._bag = _Bag(self._path + ACTIVE)
            self._bag.chunk_threshold = CHUNK
            self._bag.open()
            self._bag.bio.write(b" " * HEADER_BYTES)
            self._bag.bio.flush()
            _lengthen_header(self._path + ACTIVE)
            self._session.ends_after(duration)

    def _on_message(self, topic, message):
        header, serialised = message._connection_header, message._buff
        self._arrived.append((topic, header, serialised))
        if len(self._arrived) >= AT_ONCE:
            self._take_arrived()
        if topic == topics.GROUND_TRUTH and not self._simulator.lock_step:
            self.processed(stamp_of(serialised))

    def spin_once(self):
        self._take_arrived()

    def _take_arrived(self) -> int:
        """Write those of the messages that count; return of how many of the drive that was done."""
        try:
            with self._lock, self._whole_or_not_at_all():
                for _ in range(len(self._arrived)):
                    self._take(*self._arrived.popleft())
        except ResultError as error:
            self.fail(str(error))
        return self._received

    def _take(self, topic, header, serialised) -> None:
        if topic == topics.TRAJECTORY_ERROR and not self._session.is_end_known:
            self._session.take_error(*tracking_error(serialised)[:2])
        stamp = _stamp(header["type"], serialised)
        chosen = self._session.take(topic, stamp, (header, serialised))
        # Of the drive alone: in Gazebo time goes on when it is over.
        self._received += len(chosen)
        if self._bag is not None:
            self._write(chosen)

    def _write(self, messages) -> None:
        for topic, stamp, (header, serialised) in messages:
            connection = self._connections.get(topic)
            if connection is None:
                connection = self._connections[topic] = self._bag.add_connection(
                    rospy.resolve_name(topic),
                    header["type"].replace("/", "/msg/"),
                    msgdef=header["message_definition"],
                    md5sum=header["md5sum"],
                    callerid=header["callerid"],
                    latching=int(header.get("latching", 0)),
                )
            self._bag.write(connection, stamp, serialised)

    @contextlib.contextmanager
    def _whole_or_not_at_all(self):
        """Remove the bag when it cannot be written; the other results may need its space.

        Raises ResultError.
        """
        try:
            yield
        except OSError as error:
            bag, self._bag = self._bag, None
            with contextlib.suppress(OSError):
                os.unlink(self._path + ACTIVE)
            with contextlib.suppress(OSError):
                if bag is not None and bag.bio is not None:
                    bag.bio.close()  # tries to write what is in its buffer
            raise ResultError(
                f"{self._path}: cannot be written: {explain_file_error(error)}"
            ) from None

    def _has_every_last_message(self) -> bool:
        self._take_arrived()
        return self._session.complete

    def _on_stop(self, _):
        try:
            self.wait_for_last_messages(
                self._has_every_last_message,
                self._take_arrived,
                lambda: self._session.over,
                "the last messages",
            )
        except FrameworkError as error:
            if not self._session.over:
                # Whoever has asked in the middle of the drive changes nothing.
                return TriggerResponse(success=False, message=str(error))
        self.read_what_is_there(self._take_arrived)
        missing = self._session.incomplete
        try:
            self._complete()
        except ResultError as error:
            return TriggerResponse(success=False, message=str(error))
        lacks = f"is saved, but lacks the last messages on {', '.join(missing)}"
        sentence = f"{self.name}: {self._path} {lacks}" if missing else self._path
        return TriggerResponse(success=not missing, message=sentence)

    def _complete(self) -> None:
        with self._lock:
            if self._bag is None:
                return
            with self._whole_or_not_at_all():
                self._write(self._session.rest())
                self._bag.close()
                _lengthen_header(self._path + ACTIVE)
                os.replace(self._path + ACTIVE, self._path)
            self._bag = None

    def close(self):
        if self._bag is not None:
            self.read_what_is_there(self._take_arrived, EARLY_END_TIMEOUT)
        try:
            self._complete()
        except ResultError as error:
            self.fail(str(error))


class _Bag(Writer):
    """A bag of any length in bounded memory."""

    def write_chunk(self, chunk):
        super().write_chunk(chunk)
        # Where its messages are is in the file; what the end tells is how many they are.
        for connection, messages in chunk.connections.items():
            chunk.connections[connection] = range(len(messages))


def _lengthen_header(path: str) -> None:
    """Say in the bag's first record, which is filled with spaces, that there are more of them."""
    length = struct.Struct("<I")
    with open(path, "r+b") as file:
        file.readline()  # the version
        (size,) = length.unpack(file.read(length.size))
        place = file.seek(size, os.SEEK_CUR)
        (spaces,) = length.unpack(file.read(length.size))
        file.seek(place)
        file.write(length.pack(spaces + HEADER_BYTES))


def _stamp(message_type: str, serialised: bytes) -> int | None:
    """Read the stamp [ns] at the beginning of a message in ROS serialisation, None without one."""
    if message_type == "rosgraph_msgs/Clock":
        return stamp_of(bytes(STAMP_PLACE) + serialised)
    return stamp_of(serialised) if _has_header(message_type) else None


@functools.lru_cache(maxsize=None)
def _has_header(message_type: str) -> bool:
    return genpy.message.get_message_class(message_type)._has_header
