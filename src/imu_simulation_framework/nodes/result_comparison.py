"""Records the experiment, compares the simulated IMU with the real one, writes the results."""

from __future__ import annotations

import dataclasses
import json
import threading
import time

import rospy
from nav_msgs.msg import Odometry
from sensor_msgs.msg import Imu
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Trigger, TriggerResponse

from imu_simulation_framework.core.comparison import ComparisonSettings
from imu_simulation_framework.errors import FrameworkError
from imu_simulation_framework.experiment.parts import (
    SPECIFICATION,
    describe_imu,
    imu_model_and_parameters,
    published_rate,
)
from imu_simulation_framework.experiment.preparation import drive_name, prepare_recorded_imu
from imu_simulation_framework.experiment.record import (
    NANOSECONDS,
    ExperimentRecord,
)
from imu_simulation_framework.experiment.report import (
    ExperimentTables,
    terminal_table,
    write_report,
)
from imu_simulation_framework.experiment.tables import load_table
from imu_simulation_framework.msg import ErrorCoordinates2
from imu_simulation_framework.nodes import topics
from imu_simulation_framework.nodes.node import experiment_parameter, log_remarks, subscribe
from imu_simulation_framework.nodes.participant import LAST_MESSAGES_TIMEOUT, Participant
from imu_simulation_framework.nodes.simulators import make_simulator_interface


class ResultComparison(Participant):
    """Takes part from the first wheel command to the end of the drive.

    It writes its results once: before it answers ``result_comparison/stop``, or when the
    experiment is ended otherwise.
    """

    name = "result_comparison"

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()
        self._record = ExperimentRecord()
        self._simulator = make_simulator_interface(self.configuration)
        self._imu_real = None
        self._trajectory = None
        self._reference = None
        self._fixes = None
        self._commanded_at = None
        self._message_at = None
        self._zero = None
        self._completed = False
        self._writing = threading.Lock()
        self._written = False
        self.inputs = (
            subscribe(topics.WHEEL_COMMAND, Float64MultiArray, self._on_command),
            subscribe(topics.IMU, Imu, self._on_imu),
            subscribe(topics.GROUND_TRUTH, Odometry, self._on_ground_truth),
            subscribe(topics.TRAJECTORY_ERROR, ErrorCoordinates2, self._on_error),
        )
        rospy.Service(f"{self.name}/stop", Trigger, self._on_stop)
        self.offer_start()

    def prepare(self, start, stop):
        configuration = self.configuration
        self._trajectory = self.folder.read_table("trajectory_data")
        self._reference = self.folder.read_table("reference")
        self._fixes = load_table(self.folder, "fixes")
        self._imu_real = prepare_recorded_imu(configuration, start, stop)
        if self._imu_real is not None:
            log_remarks(self._imu_real.remarks)
            self.folder.write_table("imu_real", self._imu_real.table)
        simulator = self._simulator
        simulator.wait_until_ready(configuration.simulation.startup_timeout)
        model, parameters = imu_model_and_parameters(configuration)
        if model == SPECIFICATION:
            model, parameters = "ideal", {}  # imu_error_model does the rest
        simulator.set_imu_parameters(model, parameters, configuration.experiment.seed)

    def _on_command(self, message):
        if self.folder is None or len(message.data) != 2:
            return
        if self._commanded_at is None:
            self._commanded_at = time.monotonic()
        self._append(self._record.append_command, *message.data)

    def _append(self, append, *sample) -> None:
        """Record one message, unless the drive is over."""
        with self._lock:
            if not self._written:
                append(*sample)

    def _on_imu(self, message):
        q, w, a = message.orientation, message.angular_velocity, message.linear_acceleration
        self._append(
            self._record.imu.append,
            message.header.stamp.to_nsec(),
            (q.x, q.y, q.z, q.w, w.x, w.y, w.z, a.x, a.y, a.z),
        )

    def _on_ground_truth(self, message):
        self._message_at = time.monotonic()
        p, q = message.pose.pose.position, message.pose.pose.orientation
        twist = message.twist.twist
        self._append(
            self._record.ground_truth.append,
            message.header.stamp.to_nsec(),
            (
                *(p.x, p.y, p.z, q.x, q.y, q.z, q.w),
                *(twist.linear.x, twist.linear.y, twist.angular.z),
            ),
        )

    def _on_error(self, message):
        stamp = message.header.stamp.to_nsec()
        if self._zero is None:
            self._zero = stamp - round(message.time_from_start * NANOSECONDS)
        self._append(
            self._record.errors.append,
            stamp,
            (
                message.yaw_error,
                message.distance_error,
                message.along_track_error,
                message.cross_track_error,
            ),
        )

    def _on_stop(self, _):
        if self._commanded_at is None:
            return TriggerResponse(
                success=False, message=f"{self.name}: stopped before the first wheel command"
            )
        try:
            self.wait_until(
                self._complete,
                LAST_MESSAGES_TIMEOUT,
                f"the last messages on {topics.IMU} and {topics.GROUND_TRUTH}",
            )
            self._completed = True
        except FrameworkError as error:
            rospy.logwarn(str(error))
        try:
            self._write_once()
        except FrameworkError as error:
            return TriggerResponse(success=False, message=str(error))
        return TriggerResponse(success=True, message=self.folder.prefix_path)

    def _end(self) -> int:
        """Stamp of the drive's end [ns]."""
        return self._zero + round(float(self._trajectory.index[-1]) * NANOSECONDS)

    def _complete(self) -> bool:
        return self._zero is not None and self._record.complete_until(self._end())

    def _newest(self) -> int:
        """Stamp until which both the ground truth and the IMU were recorded [ns].

        An experiment that is ended in the middle of a control period has one already, the
        other not yet. If more than that is missing it was lost, and shall be missed.
        """
        truth, imu = self._record.ground_truth.newest, self._record.imu.newest
        period = NANOSECONDS / self.configuration.control.rate
        return imu if imu is not None and truth - period <= imu < truth else truth

    def spin_once(self):
        timeout = 2.0 * self.configuration.simulation.command_timeout
        if self._commanded_at is None or self._written:
            return
        silent = time.monotonic() - max(self._commanded_at, self._message_at or 0.0)
        if silent > timeout:
            self.fail(f"{self.name}: nothing came on {topics.GROUND_TRUTH} for {timeout:g} s")

    def close(self):
        if self._zero is None or self._record.ground_truth.newest is None:
            rospy.logwarn("%s: ended before the robot drove, no results", self.name)
            return
        self.read_what_is_there(lambda: len(self._record.imu) + len(self._record.ground_truth))
        try:
            self._write_once()
        except FrameworkError as error:
            self.fail(str(error))

    def _write_once(self) -> None:
        with self._writing:
            if not self._written:
                with self._lock:
                    self._written = True
                self._write()

    def _warn_of_losses(self, messages) -> None:
        for name in ("imu_simulated", "ground_truth"):
            expected = messages[name]["expected"]
            lost = expected - messages[name]["received"]
            if lost:
                rospy.logwarn(
                    "%s: %d of %d messages of %s were lost", self.name, lost, expected, name
                )

    def _write(self) -> None:
        """Write what was recorded: tables, summary, figures."""
        configuration = self.configuration
        ended = time.monotonic()
        end = min(self._end(), self._newest())
        tables = ExperimentTables(
            trajectory_data=self._trajectory,
            reference=self._reference,
            fixes=self._fixes,
            imu_real=self._imu_real.table if self._imu_real else None,
            **self._record.tables(self._zero, end, self._simulator.twist_in_world_frame),
        )
        rate = configuration.imu.rate
        record = self._record
        expected = {"ground_truth": record.ground_truth.expected(rate, self._zero, end)}
        if self._simulator.is_imu_regular(configuration.imu.model):
            published = published_rate(configuration)
            expected["imu_simulated"] = record.imu.expected(published, self._zero, end)
        summary = write_report(
            self.folder,
            tables,
            ComparisonSettings(**dataclasses.asdict(configuration.comparison)),
            {
                "completed": self._completed,
                "drive": drive_name(configuration),
                "trajectory_scale": configuration.trajectory.scale,
                "simulator": configuration.simulation.simulator,
                "imu": describe_imu(configuration),
                "controller": configuration.control.controller,
                "seed": configuration.experiment.seed,
                "recording": json.loads(self.folder.read_text("recording.json")),
                "recorded_imu": self._imu_real.report if self._imu_real else None,
                "messages_expected": expected,
                "messages_out_of_order": {
                    "imu_simulated": self._record.imu.backwards,
                    "ground_truth": self._record.ground_truth.backwards,
                },
                "execution": {"wall_time_s": ended - self._commanded_at},
            },
            formats=configuration.experiment.figure_formats,
        )
        self._warn_of_losses(summary["messages"])
        if experiment_parameter("table", True):
            print(terminal_table(summary), flush=True)
            print(f"results: {self.folder.folder}", flush=True)
