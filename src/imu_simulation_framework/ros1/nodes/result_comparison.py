"""Records the experiment, compares the simulated IMU with the real one, writes the results."""

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
from ...core.errors import FrameworkError, SimulatorError
from ...drive.experiment.gnss_and_odometer import experiment_gnss, experiment_odometer
from ...drive.experiment.imu import experiment_imu_model
from ...drive.experiment.robot import experiment_robot
from ...drive.session.messages import ground_truth_rows, imu_rows, magnetic_rows, odometer_rows
from ...drive.session.recording import RecordingSession, write_results
from ...drive.summary import terminal_table
from ...msg import ErrorCoordinates2
from ...recordings.messages import stamp_of
from ...sensors.gnss.specification import fix_topics
from ..experiment_state import experiment_parameter
from ..messages import FIXES, tracking_error, wheel_rows
from ..participant import EARLY_END_TIMEOUT, Participant
from ..simulators import interface

MESSAGES_AT_ONCE = 10  # so many are kept as they came; fewer than a killed process may lose anyway


class ResultComparison(Participant):
    """Takes part from the first wheel command to the end of the drive.

    It writes its results once: before it answers ``result_comparison/stop``, or when the
    experiment is ended otherwise. They are ``completed`` when everything until the drive's end
    was recorded, whoever says that it is over. Where a launcher waits for it, it answers at once
    and writes when the others have ended: to draw takes as much memory as they do.
    """

    name = "result_comparison"

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()
        self._gnss = experiment_gnss(self.configuration)
        self._session = RecordingSession.of(self.configuration)
        robot = experiment_robot(self.configuration)
        self._numbers = len(robot.drivetrain.commands)
        self._kept: list[tuple] = []  # of each topic: messages, who reads and who records them
        self._received = 0
        self._prints_table = experiment_parameter("table", True)
        self._supervised = experiment_parameter("supervised", False)
        # From the drive's beginning on:
        self._commanded_at: Any = None
        self._message_at: float | None = None
        self._stopped_at: float | None = None
        self._stopping = threading.Event()
        self._written = threading.Event()
        self._refusal = ""
        session, kept = self._session, {}
        kept[topics.IMU] = (Imu, imu_rows, session.add_imu)
        kept[topics.GROUND_TRUTH] = (Odometry, ground_truth_rows, session.add_ground_truth)
        if topics.JOINT_STATES not in self._simulator.may_lack:
            of_wheels = functools.partial(wheel_rows, robot=robot)
            kept[topics.JOINT_STATES] = (JointState, of_wheels, session.add_wheels)
        if interface.publishes_magnetic_field(self.configuration, self._simulator):
            kept[topics.IMU_MAG] = (MagneticField, magnetic_rows, session.add_magnetic_field)
        if experiment_odometer(self.configuration) is not None:
            kept[topics.ODOMETER] = (Odometry, odometer_rows, session.add_odometry)
        fixes = [] if self._gnss is None else fix_topics(self._gnss)
        self.inputs = (
            self.subscribe(topics.WHEEL_COMMAND, Float64MultiArray, self._on_command),
            *(self._keep(topic, *how) for topic, how in kept.items()),
            self.subscribe(topics.TRAJECTORY_ERROR, ErrorCoordinates2, self._on_error, raw=True),
            *(
                self.subscribe(
                    one.topic, FIXES[one.type_name], functools.partial(self._on_fix, one)
                )
                for one in fixes
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
        duration = self.reference_trajectory().time[-1]
        with self._lock:
            self._session.ends_after(duration)
        simulator = self._simulator
        simulator.wait_until_ready(configuration.simulation.startup_timeout)
        model, parameters = experiment_imu_model(configuration)
        if interface.needs_error_model(configuration, simulator):
            model, parameters = "ideal", {}  # imu_error_model does the rest
        simulator.set_imu_parameters(model, parameters, configuration.experiment.seed)
        with self._lock:
            self.ensure_not_ended()
            self._session.record.keep_in(self.folder)

    def _on_command(self, message):
        if self.folder is None or len(message.data) != self._numbers:
            return
        if self._commanded_at is None:
            self._commanded_at = time.monotonic()
        with self._lock:
            self._session.add_command(*message.data)

    def _keep(self, topic, message_type, read, add):
        """Listen to a topic; some messages are read at once, which costs little more than one."""
        messages: list[bytes] = []
        self._kept.append((messages, read, add))

        def keep(data):
            if topic == topics.GROUND_TRUTH:
                self._message_at = time.monotonic()
            messages.append(data)
            if len(messages) >= MESSAGES_AT_ONCE:
                with self._lock:
                    self._read_messages()
            if topic == topics.GROUND_TRUTH:
                self.processed(stamp_of(data))

        return self.subscribe(topic, message_type, keep, raw=True)

    def _count(self) -> int:
        """Return how many messages have come."""
        with self._lock:
            return self._received + sum(len(messages) for messages, _, _ in self._kept)

    def _read_messages(self) -> None:
        """Record what has come; the lock is held."""
        for messages, read, add in self._kept:
            come = messages[:]
            if come:
                del messages[: len(come)]
                self._received += len(come)
                add(*read(come))

    def _on_error(self, data):
        with self._lock:
            self._session.add_error(*tracking_error(data))

    def _on_stop(self, _):
        if self._commanded_at is None:
            return TriggerResponse(
                success=False, message=f"{self.name}: stopped before the first wheel command"
            )
        try:
            self.wait_for_last_messages(
                self._complete,
                lambda: self._session.recorded_until,
                lambda: self._session.arrived,
                "the end of the drive",
            )
        except FrameworkError as error:
            # Whoever has asked in the middle of the drive changes nothing.
            return TriggerResponse(success=False, message=str(error))
        if self._gnss is not None:
            # They have been sent, but on other connections than what tells the end.
            self.read_what_is_there(self._count, EARLY_END_TIMEOUT)
        self._stopped_at = self._stopped_at or time.monotonic()
        if self._supervised:
            return TriggerResponse(success=True, message=self.folder.prefix_path)
        # In the main thread, where a signal can break it off.
        self._stopping.set()
        self.wake()
        self._written.wait()
        if self._refusal:
            return TriggerResponse(success=False, message=self._refusal)
        return TriggerResponse(success=True, message=self.folder.prefix_path)

    def _complete(self) -> bool:
        with self._lock:
            self._read_messages()
            return self._session.complete

    @property
    def saved(self):
        """Whether only figures are still to be drawn, which can be made again at any time."""
        return self._session.over and self.folder.path("summary.json").exists()

    def spin_once(self):
        if self._stopping.is_set():
            self._write_once()
        if self._supervised and self._commanded_at is not None and self._is_alone():
            self.finish()
        # Silence is borne longer than by path_follower, which says why.
        timeout = self.configuration.simulation.command_timeout + 30.0
        if self._commanded_at is None or self._session.over:
            return
        silent = time.monotonic() - max(self._commanded_at, self._message_at or 0.0)
        if silent > timeout:
            self.fail(f"{self.name}: nothing came on {topics.GROUND_TRUTH} for {timeout:g} s")

    def _is_alone(self) -> bool:
        """Whether path_follower has ended, and with it a simulator that waits for it."""
        others = self.inputs if self._simulator.lock_step else self.inputs[:1]
        return not any(other.get_num_connections() for other in others)

    def close(self):
        if self.interrupted and self._session.begun and not self._supervised:
            rospy.logwarn(
                "%s: the results are written now; should roslaunch kill this node before, "
                "offline_result_comparison.py %s makes them of what was recorded",
                self.name,
                self.folder.prefix_path,
            )
        self.read_what_is_there(self._count, EARLY_END_TIMEOUT)
        with self._lock:
            self._read_last_messages()
            if not self._session.begun:
                rospy.logwarn("%s: ended before the robot drove, no results", self.name)
                self._session.record.discard()
                return
        before = self._session.over
        self._write_once()
        if self._refusal and not before:
            self.fail(self._refusal)

    def _read_last_messages(self) -> None:
        """Record what has come, as far as it can be; the lock is held."""
        try:
            self._read_messages()
        except SimulatorError as error:
            self.fail(f"{self.name}: {error}")

    def _write_once(self) -> None:
        with self._lock:
            before = self._session.over
            if not before:
                self._read_last_messages()
            self._session.over = True
        if before:
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
            irregular=self._simulator.irregular(self.configuration.imu.model),
        )
        for name in ("imu_simulated", "ground_truth"):
            messages = summary["messages"][name]
            lost = messages["expected"] - messages["received"]
            fate = "were lost"
            if messages["expected_according_to"] == "stamps":
                fate = "are missing: they were lost, or its sensor has not measured them"
            if lost:
                of_all = f"{lost} of {messages['expected']} messages of {name}"
                rospy.logwarn("%s: %s %s", self.name, of_all, fate)
        if self._prints_table:
            print(terminal_table(summary), flush=True)
            print(f"results: {self.folder.folder}", flush=True)
