"""Coordinate an experiment: prepare the drive, command the wheels, and end the drive."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from functools import partial
from typing import Any

import rospy
from std_msgs.msg import Float64MultiArray, Header
from std_srvs.srv import Trigger

from ...core import topics
from ...core.errors import SimulatorError
from ...core.stamps import NANOSECONDS
from ...core.topics import WORLD_FRAME
from ...drive.experiment.imu import experiment_imu_model
from ...drive.experiment.robot import make_follower
from ...drive.session.driving import DriveSession, prepared_drive
from ...msg import ErrorCoordinates2, ReferenceTrajectory
from ...srv import StartStopTime
from ..blocking_calls import (
    NoAnswerError,
    ask_master,
    is_master_responding,
    is_started_by_roslaunch,
)
from ..experiment_state import PROGRESS, RESULT, experiment_parameter
from ..messages import read_tracking_error
from ..node import POLL_PERIOD, Node, advertise
from ..participant import last_messages_timeout
from ..simulators.interface import (
    call_service,
    make_simulator_interface,
    needs_error_model,
    wait_for_service,
    wait_until_processed,
)

PROGRESS_PERIOD = 2.0  # wall-clock seconds between progress messages

PROGRESS_TIMEOUT = 1.0  # wall-clock seconds; timeout for storing the progress on the master

# Wall-clock seconds; timeout for roslaunch to signal this node after SIGINT.
ROSLAUNCH_TIMEOUT = 30.0
KEEP_ALIVE_PERIOD = 2.0  # wall-clock seconds between zero commands while the results are written


class PathFollower(Node):
    """Replay a recorded drive with the simulated robot.

    The node publishes the first wheel command when all participants are ready. It then responds to
    each ``trajectory_error`` with a command for the next control period: the wheel velocities from
    the inverse kinematics, corrected by the controller.
    """

    name = "path_follower"

    def __init__(self) -> None:
        super().__init__()
        settings = self.configuration
        self._participants = experiment_parameter("participants", ["error_publisher"])
        self._supervised = experiment_parameter("supervised", False)
        self._simulator = make_simulator_interface(settings)
        if needs_error_model(settings, self._simulator):
            # imu_error_model is started before the nodes that subscribe to its output.
            self._participants = ["imu_error_model", *self._participants]
        if self.configuration.gnss.file and not self._simulator.lock_step:
            self._participants = ["gnss_receiver", *self._participants]
        self._session: Any = None  # DriveSession, set by _prepare
        self._running = False
        self._driven = False
        self._answered_at = 0.0
        self._last_stamp = 0.0  # simulated time of the latest tracking error [s]
        self._progressed_at = 0.0
        self._started_at = 0.0
        self._command = Float64MultiArray()
        self._trajectory = advertise(topics.REFERENCE_TRAJECTORY, ReferenceTrajectory, latch=True)
        self._publisher = advertise(topics.WHEEL_COMMAND, Float64MultiArray)
        self.subscribe(topics.TRAJECTORY_ERROR, ErrorCoordinates2, self._on_error, raw=True)

    def run(self):
        self.nothing_to_save = True
        self._start(*self._prepare())
        code = super().run()
        if code == 0 and not self._supervised:
            self._end_roslaunch()
        return code

    def _end_roslaunch(self) -> None:
        """End the roslaunch process that started this node, as with Ctrl+C.

        roslaunch also ends when this required node ends, but prints an error in red.
        """
        if is_started_by_roslaunch():
            rospy.loginfo("%s: the drive is complete, ending roslaunch", self.name)
            os.kill(os.getppid(), signal.SIGINT)
            deadline = time.monotonic() + ROSLAUNCH_TIMEOUT
            while not self.interrupted and time.monotonic() < deadline:
                time.sleep(POLL_PERIOD)

    def _prepare(self):
        external = self.configuration.simulation.simulator == "external"
        if self.configuration.robot.parameters and not (self._supervised or external):
            rospy.logwarn(
                "%s: tf and rviz show the bundled robot instead of %s, which roslaunch "
                "does not read; run_experiment.py shows it",
                self.name,
                self.configuration.robot.parameters,
            )
        place = experiment_parameter("prepared", "")
        inform, warn = partial(rospy.loginfo, "%s"), partial(rospy.logwarn, "%s")
        with prepared_drive(self.configuration, place, inform, warn) as (drive, folder):
            ask_master("setParam", rospy.resolve_name(RESULT), folder.prefix_path)
        follower = make_follower(self.configuration, drive.reference)
        self._session = DriveSession(follower)
        header = Header(frame_id=WORLD_FRAME)
        self._trajectory.publish(ReferenceTrajectory(header, *follower.reference.poses()))
        rospy.loginfo(
            "driving %s: %.1f s, %.1f m, with %s; results in %s",
            drive.name,
            self._session.duration,
            drive.length,
            self.configuration.control.controller,
            folder.folder,
        )
        return folder, drive.start, drive.stop

    def _start(self, folder, begin: float, end: float) -> None:
        """Wait for all nodes, place the robot at its first pose, and publish the first command."""
        timeout = self.configuration.simulation.startup_timeout
        self._simulator.wait_until_ready(timeout)
        start, stop = (rospy.Time.from_sec(stamp) for stamp in (begin, end))
        for participant in self._participants:
            name = f"{participant}/start"
            wait_for_service(name, timeout)
            call_service(
                rospy.ServiceProxy(name, StartStopTime),
                *(folder.prefix_path, start, stop),
                silence=self._simulator.silence,
            )
        first = self._session.first_pose()
        self._simulator.set_pose(first.x, first.y, first.yaw)
        self.wait_for_subscribers(self._publisher)
        self.nothing_to_save = False
        settings = self.configuration
        self._simulator.begin_drive(
            1.0 / settings.control.rate,
            settings.simulation.real_time_factor,
            1.0 / settings.imu.rate,
            self._participants,
        )
        if needs_error_model(settings, self._simulator):
            # An IMU with a specification starts at the first pose of the robot.
            restart = rospy.ServiceProxy("imu_error_model/restart", Trigger)
            call_service(restart, silence=self._simulator.silence)
        else:
            self._simulator.start_drift(*experiment_imu_model(settings))
        now = time.monotonic()
        self._started_at = self._answered_at = self._progressed_at = now
        self._running = True
        self._publish(*self._session.begin())
        self._simulator.on_first_command()

    def _on_error(self, data):
        if not self._running:
            return
        stamp, time_from_start, error = read_tracking_error(data)
        command = self._session.answer(time_from_start, error)
        self._answered_at = time.monotonic()
        self._last_stamp = stamp / NANOSECONDS
        self._publish(*command)
        if not self._session.finished:
            self._simulator.on_command(self._last_stamp)
            return
        self._running = False
        self._driven = True
        self._simulator.end_drive()
        self.finish()

    def _publish(self, *commands: float) -> None:
        self._command.data = commands
        self._publisher.publish(self._command)

    def spin_once(self):
        now = time.monotonic()
        timeout = self.configuration.simulation.command_timeout
        silence = now - self._answered_at
        if self._running and silence > timeout:
            self._fail_after(
                timeout,
                self._simulator.silence_reason()
                or "the simulator or error_publisher does not publish",
            )
        elif now - self._progressed_at > PROGRESS_PERIOD:
            self._progressed_at = now
            rospy.loginfo("%s", self._progress(now))
            self._store_progress()
            if self._running and silence > PROGRESS_PERIOD:
                # A slow simulator gets the full timeout; a stopped simulation fails immediately.
                with contextlib.suppress(SimulatorError):
                    stopped = self._simulator.stop_reason()
                    if stopped and self._running:
                        self._fail_after(silence, stopped)

    def _fail_after(self, silence: float, reason: str) -> None:
        self.fail(
            f"{self.name}: no message on {topics.TRAJECTORY_ERROR} for {round(silence, 1):g} s "
            f"after {self._session.time:.2f} s of simulated time: {reason}"
        )

    def _progress(self, now: float) -> str:
        return self._session.progress(now - self._started_at)

    def _store_progress(self) -> None:
        """Store the progress of the drive on the master, where the launcher reads it."""
        if self._supervised:
            progress = [self._session.time, self._session.duration]
            with contextlib.suppress(NoAnswerError):
                ask_master(
                    "setParam", rospy.resolve_name(PROGRESS), progress, timeout=PROGRESS_TIMEOUT
                )

    def close(self):
        """Stop the robot and let the participants write the results."""
        self._running = False
        rospy.loginfo("%s", self._progress(time.monotonic()))
        self._store_progress()
        self._publish(*self._session.standstill())
        self._simulator.end_drive()
        if self._driven:
            self._stop_participants()

    def _stop_participants(self) -> None:
        """Call the stop services, while zero commands prevent a timeout of the simulator."""
        worker = threading.Thread(target=self._call_stop_services)
        worker.start()
        while worker.is_alive():
            worker.join(KEEP_ALIVE_PERIOD)
            self._publish(*self._session.standstill())

    def _wait_for_last_samples(self) -> None:
        """Wait until all participants have processed the last samples of the drive.

        A simulator without lock-step may be several control periods ahead of its nodes, and the
        recorder cannot know whether another fix will arrive.
        """
        if self._simulator.lock_step:
            return
        last = self._last_stamp - 0.5 / self.configuration.imu.rate
        timeout = last_messages_timeout(self.configuration)
        slow_nodes = wait_until_processed(self._participants, last, timeout)
        if slow_nodes and not self.interrupted:
            rospy.logwarn(
                "%s: %s did not process the last samples of the drive within %g s",
                self.name,
                ", ".join(slow_nodes),
                timeout,
            )

    def _call_stop_services(self) -> None:
        self._wait_for_last_samples()
        for participant in ("experiment_recorder", "result_comparison"):
            if participant not in self._participants:
                continue
            try:
                service = rospy.ServiceProxy(f"{participant}/stop", Trigger)
                call_service(service, silence=self._simulator.silence)
            except SimulatorError as error:
                if self.interrupted:
                    return  # each node receives the signal and saves its data
                if is_master_responding():
                    self.fail(str(error))
                    continue
                # Services cannot be called without the master; the nodes save their data anyway.
                rospy.logwarn("%s: the drive is over, but the ROS master has ended", self.name)
                return
