"""Record the experiment in a bag without losing messages."""

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
from ..messages import read_tracking_error
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


# Chunk size of the bag [bytes]; a killed recorder loses at most one chunk and one batch.
CHUNK_SIZE = 64 * 1024

# Number of messages that are recorded together, to reduce waiting for the lock.
BATCH_SIZE = 128

# Bytes added to the bag header of the library rosbags, so that rosbag reindex can overwrite it.
EXTRA_HEADER_BYTES = 8

# Wall-clock timeout for robot_state_publisher, which is not required for an experiment [s].
STATIC_TIMEOUT = 10.0


class ExperimentRecorder(Participant):
    """Record each serialised message with the stamp of its header, if it has a header.

    ``rosbag record`` has a bounded queue and drops messages if a run is much faster than real time;
    here, publishers wait until the recorder has read their messages. A simulator in lock-step
    repeats its samples until the first command, so only the last message with the same topic and
    stamp is recorded. Static transforms are latched at the start of the bag, as expected by rosbag
    play. The bag has a temporary name until it is complete.
    """

    name = "experiment_recorder"

    _has_static_transforms = True

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()
        self._bag: Any = None
        self._connections: dict[str, Any] = {}
        self._path = ""
        self._received = 0
        self._queue: deque[tuple] = deque()  # topic, connection header, serialised message
        configuration, simulator = self.configuration, self._simulator
        clock = topics.GROUND_TRUTH if topics.CLOCK in simulator.optional_topics else topics.CLOCK
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
        self._has_static_transforms = topics.STATIC_TRANSFORMS not in simulator.optional_topics
        self.inputs = tuple(
            inputs[topic] for topic in inputs if topic not in simulator.optional_topics
        )
        rospy.Service(f"{self.name}/stop", Trigger, self._on_stop)
        self.offer_start()

    def prepare(self, start, stop):
        try:
            self.wait_until(
                lambda: not self._has_static_transforms or self._static.get_num_connections() > 0,
                f"robot_state_publisher to publish {self._static.resolved_name}",
                STATIC_TIMEOUT,
            )
        except SimulatorError as error:
            rospy.logwarn("%s: the bag will not contain the transforms of the robot's links", error)
        duration = self.receive_reference_trajectory().time[-1]
        self._path = str(self.folder.path(BAG))
        with self._lock, self._remove_bag_on_error():
            self.ensure_not_ended()
            # The bag remains open until it is complete.
            self._bag = _Bag(self._path + ACTIVE)
            self._bag.chunk_threshold = CHUNK_SIZE
            self._bag.open()
            self._bag.bio.write(b" " * EXTRA_HEADER_BYTES)
            self._bag.bio.flush()
            _lengthen_header(self._path + ACTIVE)
            self._session.ends_after(duration)

    def _on_message(self, topic, message):
        header, serialised = message._connection_header, message._buff
        self._queue.append((topic, header, serialised))
        if len(self._queue) >= BATCH_SIZE:
            self._record_queue()
        if topic == topics.GROUND_TRUTH and not self._simulator.lock_step:
            self.report_processed(stamp_of(serialised))

    def spin_once(self):
        self._record_queue()

    def _record_queue(self) -> int:
        """Record the queued messages of the drive; return the total number of recorded messages."""
        try:
            with self._lock, self._remove_bag_on_error():
                for _ in range(len(self._queue)):
                    self._record(*self._queue.popleft())
        except ResultError as error:
            self.fail(str(error))
        return self._received

    def _record(self, topic, header, serialised) -> None:
        if topic == topics.TRAJECTORY_ERROR and not self._session.is_end_known:
            self._session.take_error(*read_tracking_error(serialised)[:2])
        stamp = _stamp(header["type"], serialised)
        selected = self._session.take(topic, stamp, (header, serialised))
        # Only messages of the drive are counted, because Gazebo continues after the drive.
        self._received += len(selected)
        if self._bag is not None:
            self._write(selected)

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
    def _remove_bag_on_error(self):
        """Remove the bag and raise ResultError if writing fails, as disk space may be needed."""
        try:
            yield
        except OSError as error:
            bag, self._bag = self._bag, None
            with contextlib.suppress(OSError):
                os.unlink(self._path + ACTIVE)
            with contextlib.suppress(OSError):
                if bag is not None and bag.bio is not None:
                    bag.bio.close()  # flushes the buffer, which may fail again
            raise ResultError(
                f"{self._path}: cannot be written: {explain_file_error(error)}"
            ) from None

    def _has_every_last_message(self) -> bool:
        self._record_queue()
        return self._session.complete

    def _on_stop(self, _):
        try:
            self.wait_for_last_messages(
                self._has_every_last_message,
                self._record_queue,
                lambda: self._session.over,
                "the last messages",
            )
        except FrameworkError as error:
            if not self._session.over:
                # A call before the end of the drive is rejected without any effect.
                return TriggerResponse(success=False, message=str(error))
        self.drain_queued_messages(self._record_queue)
        missing = self._session.incomplete
        try:
            self._complete()
        except ResultError as error:
            return TriggerResponse(success=False, message=str(error))
        lacks = f"is saved, but does not contain the last messages on {', '.join(missing)}"
        sentence = f"{self.name}: {self._path} {lacks}" if missing else self._path
        return TriggerResponse(success=not missing, message=sentence)

    def _complete(self) -> None:
        with self._lock:
            if self._bag is None:
                return
            with self._remove_bag_on_error():
                self._write(self._session.remaining())
                self._bag.close()
                _lengthen_header(self._path + ACTIVE)
                os.replace(self._path + ACTIVE, self._path)
            self._bag = None

    def close(self):
        if self._bag is not None:
            self.drain_queued_messages(self._record_queue, EARLY_END_TIMEOUT)
        try:
            self._complete()
        except ResultError as error:
            self.fail(str(error))


class _Bag(Writer):
    """Bag writer whose memory usage does not depend on the length of the bag."""

    def write_chunk(self, chunk):
        super().write_chunk(chunk)
        # Message offsets are already in the file; the index at the end only needs their number.
        for connection, messages in chunk.connections.items():
            chunk.connections[connection] = range(len(messages))


def _lengthen_header(path: str) -> None:
    """Correct the padding length in the first record of the bag."""
    length = struct.Struct("<I")
    with open(path, "r+b") as file:
        file.readline()  # version of the format
        (size,) = length.unpack(file.read(length.size))
        position = file.seek(size, os.SEEK_CUR)
        (padding,) = length.unpack(file.read(length.size))
        file.seek(position)
        file.write(length.pack(padding + EXTRA_HEADER_BYTES))


def _stamp(message_type: str, serialised: bytes) -> int | None:
    """Read the stamp [ns] of a serialised message; None if it has no header."""
    if message_type == "rosgraph_msgs/Clock":
        return stamp_of(bytes(STAMP_PLACE) + serialised)
    return stamp_of(serialised) if _has_header(message_type) else None


@functools.lru_cache(maxsize=None)
def _has_header(message_type: str) -> bool:
    return genpy.message.get_message_class(message_type)._has_header
