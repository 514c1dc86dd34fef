"""Records the experiment, compares the simulated IMU with the real one, writes the results."""

from __future__ import annotations

import dataclasses
import json
import threading
import time
from typing import Any

import rospy
from nav_msgs.msg import Odometry
from sensor_msgs.msg import Imu
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Trigger, TriggerResponse

from imu_simulation_framework import topics
from imu_simulation_framework.errors import FrameworkError
from imu_simulation_framework.experiment.from_configuration import (
    describe_imu,
    imu_model_and_parameters,
    published_rate,
)
from imu_simulation_framework.experiment.preparation.drive import drive_name, prepare_recorded_imu
from imu_simulation_framework.experiment.report import terminal_table, write_report
from imu_simulation_framework.msg import ErrorCoordinates2
from imu_simulation_framework.results.record import (
    NANOSECONDS,
    ExperimentRecord,
)
from imu_simulation_framework.results.tables import (
    ExperimentTables,
    load_table,
    write_recorded_tables,
)
from imu_simulation_framework.ros.node import experiment_parameter, log_remarks
from imu_simulation_framework.ros.participant import (
    EARLY_END_TIMEOUT,
    LAST_MESSAGES_TIMEOUT,
    Participant,
)
from imu_simulation_framework.ros.simulators import make_simulator_interface, needs_error_model

LEADER_ENDING_TIMEOUT = 30.0
"""Wall-clock seconds: how much longer silence is borne than by path_follower, which says why."""

LONGEST_GAP = 5 * NANOSECONDS
"""From one stamp to the next [ns] in the drive; what jumps farther is wrong, or much is lost."""


class ResultComparison(Participant):
    """Takes part from the first wheel command to the end of the drive.

    It writes its results once: before it answers ``result_comparison/stop``, or when the
    experiment is ended otherwise. They are ``completed`` when everything until the drive's end
    was recorded, whoever says that it is over.
    """

    name = "result_comparison"

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()
        self._simulator = make_simulator_interface(self.configuration)
        self._record = ExperimentRecord()
        self._prints_table = experiment_parameter("table", True)
        # From prepare on:
        self._imu_real: Any = None
        self._trajectory: Any = None
        self._reference = None
        self._fixes = None
        # From the drive's beginning on:
        self._commanded_at: Any = None
        self._message_at: float | None = None
        self._zero: Any = None
        self._stopping = threading.Event()
        self._over = False
        self._written = threading.Event()
        self._refusal = ""
        self.inputs = (
            self.subscribe(topics.WHEEL_COMMAND, Float64MultiArray, self._on_command),
            self.subscribe(topics.IMU, Imu, self._on_imu),
            self.subscribe(topics.GROUND_TRUTH, Odometry, self._on_ground_truth),
            self.subscribe(topics.TRAJECTORY_ERROR, ErrorCoordinates2, self._on_error),
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
            # A long recording should not stay in memory as a whole.
            self._imu_real = dataclasses.replace(
                self._imu_real, table=self._imu_real.table[["yaw"]].copy()
            )
        simulator = self._simulator
        simulator.wait_until_ready(configuration.simulation.startup_timeout)
        model, parameters = imu_model_and_parameters(configuration)
        if needs_error_model(configuration, simulator):
            model, parameters = "ideal", {}  # imu_error_model does the rest
        simulator.set_imu_parameters(model, parameters, configuration.experiment.seed)
        with self._lock:
            self.ensure_not_ended()
            self._record.keep_in(self.folder)

    def _on_command(self, message):
        if self.folder is None or len(message.data) != 2:
            return
        if self._commanded_at is None:
            self._commanded_at = time.monotonic()
        self._append(self._record.append_command, *message.data)

    def _append(self, append, *sample) -> None:
        """Record one message, unless the drive is over."""
        with self._lock:
            if not self._over:
                append(*sample)

    def _append_stamped(self, topic, stream, stamp, values) -> None:
        """The same for a message with a stamp, unless that cannot be."""
        if self._over:  # in Gazebo time goes on while the figures are drawn
            return
        newest = stream.newest
        if self._zero is not None and newest is not None and stamp - newest > LONGEST_GAP:
            self.fail(
                f"{self.name}: the stamps on {topic} jumped by {(stamp - newest) / 1e9:.6g} s: one "
                "is wrong, or messages were lost"
            )
            return
        self._append(stream.append, stamp, values)

    def _on_imu(self, message):
        q, w, a = message.orientation, message.angular_velocity, message.linear_acceleration
        self._append_stamped(
            topics.IMU,
            self._record.imu,
            message.header.stamp.to_nsec(),
            (q.x, q.y, q.z, q.w, w.x, w.y, w.z, a.x, a.y, a.z),
        )

    def _on_ground_truth(self, message):
        self._message_at = time.monotonic()
        p, q = message.pose.pose.position, message.pose.pose.orientation
        twist = message.twist.twist
        self._append_stamped(
            topics.GROUND_TRUTH,
            self._record.ground_truth,
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
        self._append_stamped(
            topics.TRAJECTORY_ERROR,
            self._record.errors,
            stamp,
            (
                message.yaw_error,
                message.distance_error,
                message.along_track_error,
                message.cross_track_error,
                message.time_from_start,
            ),
        )

    def _on_stop(self, _):
        if self._commanded_at is None:
            return TriggerResponse(
                success=False, message=f"{self.name}: stopped before the first wheel command"
            )
        try:
            self.wait_until(self._complete, LAST_MESSAGES_TIMEOUT, "the end of the drive")
        except FrameworkError as error:
            # Whoever has asked in the middle of the drive changes nothing.
            return TriggerResponse(success=False, message=str(error))
        # In the main thread, where a signal can break it off.
        self._stopping.set()
        self.wake()
        self._written.wait()
        if self._refusal:
            return TriggerResponse(success=False, message=self._refusal)
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

    @property
    def saved(self):
        """Whether only figures are still to be drawn, which can be made again at any time."""
        return self._over and self.folder.path("summary.json").exists()

    def spin_once(self):
        if self._stopping.is_set():
            self._write_once()
        timeout = self.configuration.simulation.command_timeout + LEADER_ENDING_TIMEOUT
        if self._commanded_at is None or self._over:
            return
        silent = time.monotonic() - max(self._commanded_at, self._message_at or 0.0)
        if silent > timeout:
            self.fail(f"{self.name}: nothing came on {topics.GROUND_TRUTH} for {timeout:g} s")

    def close(self):
        if self._zero is None or self._record.ground_truth.newest is None:
            rospy.logwarn("%s: ended before the robot drove, no results", self.name)
            with self._lock:
                self._record.discard()
            return
        self.read_what_is_there(
            lambda: len(self._record.imu) + len(self._record.ground_truth), EARLY_END_TIMEOUT
        )
        before = self._over
        self._write_once()
        if self._refusal and not before:
            self.fail(self._refusal)

    def _write_once(self) -> None:
        with self._lock:
            before, self._over = self._over, True
        if before:
            return
        try:
            self._write()
        except FrameworkError as error:
            self._refusal = str(error)
        finally:
            self._written.set()

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
        completed = self._complete()
        end = min(self._end(), self._newest())
        record = self._record
        # If they cannot be written the samples stay.
        record.flush()
        recorded = write_recorded_tables(self.folder, record, self._zero, end)
        tables = ExperimentTables(
            trajectory_data=self._trajectory,
            reference=self._reference,
            fixes=self._fixes,
            imu_real=self._imu_real.table if self._imu_real else None,
            **recorded,
        )
        rate = configuration.imu.rate
        expected = {"ground_truth": record.ground_truth.expected(rate, self._zero, end)}
        if self._simulator.is_imu_regular(configuration.imu.model):
            published = published_rate(configuration)
            expected["imu_simulated"] = record.imu.expected(published, self._zero, end)
        backwards = {
            "imu_simulated": record.imu.backwards,
            "ground_truth": record.ground_truth.backwards,
        }
        record.discard()
        summary = write_report(
            self.folder,
            tables,
            configuration.comparison,
            {
                "completed": completed,
                "drive": drive_name(configuration),
                "trajectory_scale": configuration.trajectory.scale,
                "simulator": configuration.simulation.simulator,
                "imu": describe_imu(configuration),
                "controller": configuration.control.controller,
                "seed": configuration.experiment.seed,
                "recording": json.loads(self.folder.read_text("recording.json")),
                "recorded_imu": self._imu_real.report if self._imu_real else None,
                "messages_expected": expected,
                "messages_out_of_order": backwards,
                "execution": {"wall_time_s": ended - self._commanded_at},
            },
            save_tables=False,
            formats=configuration.experiment.figure_formats,
        )
        self._warn_of_losses(summary["messages"])
        if self._prints_table:
            print(terminal_table(summary), flush=True)
            print(f"results: {self.folder.folder}", flush=True)
