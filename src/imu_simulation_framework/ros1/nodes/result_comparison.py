"""Record an experiment, compare the simulated to the recorded IMU, and write the results."""

from __future__ import annotations

import functools
import threading
import time
from typing import Any

import numpy as np
import rospy
from nav_msgs.msg import Odometry
from sensor_msgs.msg import Imu, JointState, MagneticField
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Trigger, TriggerResponse

from ...core import topics
from ...core.errors import FrameworkError, ResultError, SimulatorError
from ...drive.experiment.gnss_and_odometer import experiment_gnss, experiment_odometer
from ...drive.experiment.imu import experiment_imu_model
from ...drive.experiment.robot import experiment_robot
from ...drive.session.messages import ground_truth_rows, imu_rows, magnetic_rows, odometer_rows
from ...drive.session.recording import RecordingSession, write_results
from ...drive.summary import missing_figures_sentence, terminal_table
from ...msg import ErrorCoordinates2
from ...recordings.messages import stamp_of
from ...sensors.gnss.specification import fix_topics
from ..experiment_state import experiment_parameter
from ..messages import FIX_MESSAGE_TYPES, read_tracking_error, read_wheel_rows
from ..node import POLL_PERIOD
from ..participant import EARLY_END_TIMEOUT, Participant
from ..simulators import interface

# Number of messages that are read together; a killed process loses even more from its buffers.
BATCH_SIZE = 10

# Wall-clock seconds by which path_follower's timeout is shorter; its message is more specific.
SILENCE_MARGIN = 30.0


class ResultComparison(Participant):
    """Record the drive from the first wheel command to its end, and write the results.

    The node writes its results only once: before it responds to ``result_comparison/stop``, or when
    the experiment ends without this call. The results are ``completed`` if all samples up to the
    end of the drive are recorded. With a launcher, it responds immediately and writes the results
    after the other nodes have ended, because figures need as much memory as these nodes.
    """

    name = "result_comparison"

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()
        self._gnss = experiment_gnss(self.configuration)
        self._session = RecordingSession.from_configuration(self.configuration)
        robot = experiment_robot(self.configuration)
        self._command_size = len(robot.drivetrain.commands)
        self._batches: list[tuple] = []  # (messages, reader, recorder) for each topic
        self._received = 0
        self._prints_table = experiment_parameter("table", True)
        self._supervised = experiment_parameter("supervised", False)
        # The following attributes are set when the drive starts.
        self._commanded_at: Any = None
        self._message_at: float | None = None
        self._stopped_at: float | None = None
        self._stopping = threading.Event()
        self._written = threading.Event()
        self._refusal = ""
        session, inputs = self._session, {}
        inputs[topics.IMU] = (Imu, imu_rows, session.add_imu)
        inputs[topics.GROUND_TRUTH] = (Odometry, ground_truth_rows, session.add_ground_truth)
        if topics.JOINT_STATES not in self._simulator.optional_topics:
            read_wheels = functools.partial(read_wheel_rows, robot=robot)
            inputs[topics.JOINT_STATES] = (JointState, read_wheels, session.add_wheels)
        if interface.publishes_magnetic_field(self.configuration, self._simulator):
            inputs[topics.IMU_MAG] = (MagneticField, magnetic_rows, session.add_magnetic_field)
        if experiment_odometer(self.configuration) is not None:
            inputs[topics.ODOMETER] = (Odometry, odometer_rows, session.add_odometry)
        fixes = [] if self._gnss is None else fix_topics(self._gnss)
        self.inputs = (
            self.subscribe(topics.WHEEL_COMMAND, Float64MultiArray, self._on_command),
            *(self._subscribe_batched(topic, *functions) for topic, functions in inputs.items()),
            self.subscribe(topics.TRAJECTORY_ERROR, ErrorCoordinates2, self._on_error, raw=True),
            *(
                self.subscribe(
                    fix_topic.topic,
                    FIX_MESSAGE_TYPES[fix_topic.type_name],
                    functools.partial(self._on_fix, fix_topic),
                )
                for fix_topic in fixes
            ),
        )
        rospy.Service(f"{self.name}/stop", Trigger, self._on_stop)
        self.offer_start()

    def _on_fix(self, topic, message):
        stamps = np.array([message.header.stamp.to_nsec()])
        with self._lock:
            self._received += 1
            self._session.add_fixes(topic.kind, stamps, np.array([topic.row(message)]))

    def prepare(self, start, stop):
        configuration = self.configuration
        duration = self.receive_reference_trajectory().time[-1]
        with self._lock:
            self._session.ends_after(duration)
        simulator = self._simulator
        simulator.wait_until_ready(configuration.simulation.startup_timeout)
        model, parameters = experiment_imu_model(configuration)
        if interface.needs_error_model(configuration, simulator):
            model, parameters = "ideal", {}  # imu_error_model adds the errors
        simulator.set_imu_parameters(model, parameters, configuration.experiment.seed)
        with self._lock:
            self.ensure_not_ended()
            self._session.record.keep_in(self.folder)

    def _on_command(self, message):
        if self.folder is None or len(message.data) != self._command_size:
            return
        if self._commanded_at is None:
            self._commanded_at = time.monotonic()
        with self._lock:
            self._session.add_command(*message.data)

    def _subscribe_batched(self, topic, message_type, read, add):
        """Subscribe to a topic whose messages are read in batches, which is faster per message."""
        messages: list[bytes] = []
        self._batches.append((messages, read, add))

        def collect(data):
            if topic == topics.GROUND_TRUTH:
                self._message_at = time.monotonic()
            messages.append(data)
            if len(messages) >= BATCH_SIZE:
                with self._lock:
                    self._read_messages()
            if topic == topics.GROUND_TRUTH:
                self.report_processed(stamp_of(data))

        return self.subscribe(topic, message_type, collect, raw=True)

    def _count(self) -> int:
        """Return the number of received messages."""
        with self._lock:
            return self._received + sum(len(messages) for messages, _, _ in self._batches)

    def _read_messages(self) -> None:
        """Record the queued messages; the caller must hold the lock."""
        for messages, read, add in self._batches:
            batch = messages[:]
            if batch:
                del messages[: len(batch)]
                self._received += len(batch)
                add(*read(batch))

    def _on_error(self, data):
        with self._lock:
            self._session.add_error(*read_tracking_error(data))

    def _on_stop(self, _):
        if self._commanded_at is None:
            return TriggerResponse(
                success=False, message=f"{self.name}: stopped before the first wheel command"
            )
        try:
            self.wait_for_last_messages(
                self._is_complete,
                lambda: self._session.recorded_until,
                lambda: self._session.arrived,
                "the end of the drive",
            )
        except FrameworkError as error:
            # A call before the end of the drive is rejected without any effect.
            return TriggerResponse(success=False, message=str(error))
        if self._gnss is not None:
            # The last fixes have been sent, but may arrive after the end of the drive is received.
            self.drain_queued_messages(self._count, EARLY_END_TIMEOUT)
        self._stopped_at = self._stopped_at or time.monotonic()
        if self._supervised:
            self.check_period = POLL_PERIOD  # the other nodes end now
            return TriggerResponse(success=True, message=self.folder.prefix_path)
        # The main thread writes the results, because signals interrupt only the main thread.
        self._stopping.set()
        self.wake()
        self._written.wait()
        if self._refusal:
            return TriggerResponse(success=False, message=self._refusal)
        return TriggerResponse(success=True, message=self.folder.prefix_path)

    def _is_complete(self) -> bool:
        with self._lock:
            self._read_messages()
            return self._session.complete

    @property
    def saved(self):
        """Whether all results are saved except figures, which can be drawn again at any time."""
        return self._session.over and self.folder.path("summary.json").exists()

    def spin_once(self):
        if self._stopping.is_set():
            self._write_once()
        if self._supervised and self._commanded_at is not None and self._is_last_process():
            self.finish()
        timeout = self.configuration.simulation.command_timeout + SILENCE_MARGIN
        if self._commanded_at is None or self._session.over:
            return
        silence = time.monotonic() - max(self._commanded_at, self._message_at or 0.0)
        if silence > timeout:
            self.fail(f"{self.name}: no message on {topics.GROUND_TRUTH} for {timeout:g} s")

    def _is_last_process(self) -> bool:
        """Return whether path_follower and, in lock-step, the simulator have ended."""
        others = self.inputs if self._simulator.lock_step else self.inputs[:1]
        return not any(other.get_num_connections() for other in others)

    def close(self):
        if self.interrupted and self._session.begun and not self._supervised:
            rospy.logwarn(
                "%s: writing the results; if roslaunch kills this node first, "
                "offline_result_comparison.py %s creates them from the recorded samples",
                self.name,
                self.folder.prefix_path,
            )
        if self._stopped_at is None:  # otherwise, all samples of the drive have arrived
            self.drain_queued_messages(self._count, EARLY_END_TIMEOUT)
        with self._lock:
            self._read_last_messages()
            if not self._session.begun:
                rospy.logwarn("%s: ended before the robot drove, no results", self.name)
                self._session.record.discard()
                return
        was_over = self._session.over
        self._write_once()
        if self._refusal and not was_over:
            self.fail(self._refusal)

    def _read_last_messages(self) -> None:
        """Record the queued messages up to an invalid one; the caller must hold the lock."""
        try:
            self._read_messages()
        except SimulatorError as error:
            self.fail(f"{self.name}: {error}")

    def _write_once(self) -> None:
        with self._lock:
            was_over = self._session.over
            if not was_over:
                self._read_last_messages()
            self._session.over = True
        if was_over:
            return
        try:
            self._write()
        except FrameworkError as error:
            self._refusal = str(error)
        finally:
            self._written.set()

    def _write(self) -> None:
        summary = write_results(
            self.folder,
            self.configuration,
            self._session,
            wall_time=(self._stopped_at or time.monotonic()) - self._commanded_at,
            irregular=self._simulator.irregular_signals(self.configuration.imu.model),
        )
        for name in ("imu_simulated", "ground_truth"):
            messages = summary["messages"][name]
            lost = messages["expected"] - messages["received"]
            problem = "were lost"
            if messages["expected_according_to"] == "stamps":
                problem = "are missing: they were lost, or the sensor did not measure them"
            if lost:
                count = f"{lost} of {messages['expected']} messages of {name}"
                rospy.logwarn("%s: %s %s", self.name, count, problem)
        if self._prints_table:
            print(terminal_table(summary), flush=True)
            print(f"results: {self.folder.folder}", flush=True)
        missing = missing_figures_sentence(self.folder, summary)
        if missing:
            raise ResultError(missing)
