"""Keeps Gazebo's time from running away from those who drive the robot in it, and who record it."""

from __future__ import annotations

import math
import threading
import time
from typing import Sequence

import rospy
from gazebo_msgs.srv import GetPhysicsProperties, GetWorldProperties, SetPhysicsProperties
from geometry_msgs.msg import Vector3
from std_msgs.msg import Header, Time

from imu_simulation_framework import topics
from imu_simulation_framework.errors import SimulatorError
from imu_simulation_framework.robot.gazebo_world import HIGHEST_UPDATE_RATE, PHYSICS_RATE
from imu_simulation_framework.ros.node import advertise
from imu_simulation_framework.ros.simulators.interface import call

MAX_LAG = 2.0
"""Control periods that simulated time may be ahead of the last answered message."""

MAX_LAG_OF_PARTICIPANTS = 10.0
"""Control periods that it may be ahead of a node that takes part: half a second at 20 Hz, of which
the network keeps every message."""

LIMIT_MARGIN = 0.5 / PHYSICS_RATE
"""Physics waits between two samples, half a step behind a multiple of the control period [s]."""

MAX_SILENCE = 5.0
"""Wall-clock seconds after which a control period goes on without its answer: it was lost."""

REPEAT_PERIOD = 1.0
"""Wall-clock seconds between two times that the limit is named: physics waits for nobody dead."""

POLL_PERIOD = 0.01

NO_LIMIT = rospy.Time(0xFFFFFFFF, 999999999)
"""Later than any simulated time."""


class GazeboPace:
    """Names the simulated time at which physics has to wait, on the topic ``simulation_limit``.

    Gazebo waits for nobody. On a busy machine messages then queue up between the nodes, the robot
    is driven by commands for where it was seconds ago, and who records falls behind until messages
    are lost. The plug-in of the ground truth holds physics at the limit. It moves on with the
    commands that are answered, and with what the participants report on ``experiment/progress``.

    Parameters
    ----------
    control_period : float
        Simulated seconds from one command to the next.
    timeout : float
        Wall-clock seconds for Gazebo to listen.

    Raises
    ------
    SimulatorError
        Nobody listens to the limits.
    """

    def __init__(self, control_period: float, timeout: float = 10.0) -> None:
        self._period = control_period
        self._lock = threading.Lock()
        self._progress: dict[str, float] = {}
        self._answered = 0.0
        self._newest = 0.0
        self._answered_at = math.inf
        self._limit: float | None = None
        self._ended = threading.Event()
        self._publisher = advertise(topics.SIMULATION_LIMIT, Time)
        deadline = time.monotonic() + timeout
        while not self._publisher.get_num_connections():
            if time.monotonic() > deadline or rospy.is_shutdown():
                raise SimulatorError(
                    "Gazebo's plug-in of the ground truth does not listen on "
                    f"{self._publisher.resolved_name}: build this package's workspace again"
                )
            time.sleep(POLL_PERIOD)
        self._reports = rospy.Subscriber(
            topics.PROGRESS, Header, self._on_progress, tcp_nodelay=True
        )

    def hold(self, sampling_period: float, participants: Sequence[str], timeout: float) -> None:
        """Have physics wait at the next control period until everybody has taken in all of before.

        Parameters
        ----------
        sampling_period : float
            Simulated seconds from one sample of the ground truth, and of the IMU, to the next.
        participants : sequence of str
            Names of the nodes that report their progress.
        timeout : float
            Wall-clock seconds that they have.

        Raises
        ------
        SimulatorError
            Somebody is not there in time, or Gazebo does not answer.
        """
        deadline = time.monotonic() + timeout
        threading.Thread(target=self._repeat, daemon=True).start()
        while True:
            # It may stop anywhere at first, so that it cannot run past where it is to stop.
            self._hold_at(0.0)
            held = (int(_simulated_time() / self._period) + 2.0) * self._period
            self._hold_at(held)
            self._wait_for(participants, held + LIMIT_MARGIN - sampling_period, deadline)
            now = _simulated_time()
            while now < held - LIMIT_MARGIN:
                if time.monotonic() > deadline or rospy.is_shutdown():
                    raise SimulatorError(f"Gazebo: simulated time stays at {now:.3f} s")
                time.sleep(POLL_PERIOD)
                now = _simulated_time()
            if now < held + 2.0 / PHYSICS_RATE:
                return

    def _hold_at(self, limit: float) -> None:
        with self._lock:
            self._limit, self._answered = limit, limit - MAX_LAG * self._period
            self._say(limit)

    def _wait_for(self, participants, stamp, deadline) -> None:
        """Wait until all have taken in what is newer than a stamp [s]."""

        def behind() -> list[str]:
            with self._lock:
                return [name for name in participants if self._progress.get(name, 0.0) <= stamp]

        while behind():
            if time.monotonic() > deadline or rospy.is_shutdown():
                raise SimulatorError(
                    f"Gazebo: gave up waiting for {', '.join(behind())} to take in what was "
                    "published"
                )
            time.sleep(POLL_PERIOD)

    def go_on(self) -> None:
        """From now on every control period has to be answered."""
        with self._lock:
            self._answered_at = time.monotonic()
            self._answered += MAX_LAG * self._period
            self._move()

    @property
    def answered_until(self) -> float:
        """The newest simulated time of a message that was answered [s]."""
        with self._lock:
            return self._newest

    @property
    def waits_for(self) -> list[str]:
        """Names of the nodes at which physics waits, if it does."""
        with self._lock:
            if self._limit is None:
                return []
            reach = self._limit - MAX_LAG_OF_PARTICIPANTS * self._period
            return [name for name, stamp in sorted(self._progress.items()) if stamp <= reach]

    def answered(self, stamp: float) -> None:
        """Learn that the command that answers the message of this stamp was given."""
        with self._lock:
            self._answered_at = time.monotonic()
            self._newest = max(self._newest, stamp)
            self._answered = max(self._answered, stamp)
            self._move()

    def end(self) -> None:
        """Nobody answers any more; let time run."""
        self._ended.set()
        self._reports.unregister()
        with self._lock:
            self._limit = None
            self._publisher.publish(NO_LIMIT)

    def _on_progress(self, message) -> None:
        with self._lock:
            self._progress[message.frame_id] = message.stamp.to_sec()
            if self._limit is not None:
                self._move()

    def _move(self) -> None:
        """Name the limit if it is another one now; the lock is held."""
        if self._ended.is_set():
            return
        slowest = min(self._progress.values(), default=math.inf)
        limit = min(
            self._answered + MAX_LAG * self._period,
            slowest + MAX_LAG_OF_PARTICIPANTS * self._period,
        )
        if self._limit is None or limit > self._limit:
            self._limit = limit
            self._say(limit)

    def _say(self, limit: float) -> None:
        self._publisher.publish(rospy.Time.from_sec(limit + LIMIT_MARGIN))

    def _repeat(self) -> None:
        while not self._ended.wait(REPEAT_PERIOD):
            self._look()

    def _look(self) -> None:
        """Name the limit once more; go on where the answer to a control period was lost."""
        with self._lock:
            if self._limit is None:
                return
            if time.monotonic() - self._answered_at > MAX_SILENCE:
                self._answered_at = time.monotonic()
                self._answered = self._limit
                self._move()
            self._say(self._limit)


def _simulated_time() -> float:
    world = rospy.ServiceProxy("/gazebo/get_world_properties", GetWorldProperties)
    return call(world).sim_time


def set_speed(real_time_factor: float, gravity: float | None = None) -> None:
    """As many physics steps per second of wall clock as the real-time factor wants.

    Parameters
    ----------
    real_time_factor : float
        0: as fast as Gazebo loses no messages.
    gravity : float, optional
        [m/s^2]; what it is by default.

    Raises
    ------
    SimulatorError
        Gazebo refuses, or does not answer.
    """
    current = call(rospy.ServiceProxy("/gazebo/get_physics_properties", GetPhysicsProperties))
    rate = real_time_factor * PHYSICS_RATE if real_time_factor > 0.0 else HIGHEST_UPDATE_RATE
    answer = call(
        rospy.ServiceProxy("/gazebo/set_physics_properties", SetPhysicsProperties),
        current.time_step,
        rate,
        current.gravity if gravity is None else Vector3(0.0, 0.0, -gravity),
        current.ode_config,
    )
    if not answer.success:
        raise SimulatorError(f"Gazebo did not take its update rate: {answer.status_message}")
