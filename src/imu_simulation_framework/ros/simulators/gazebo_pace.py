"""Keeps Gazebo's time from running away from those who drive the robot in it."""

from __future__ import annotations

import threading
import time

import rospy
from gazebo_msgs.srv import GetPhysicsProperties, SetPhysicsProperties
from geometry_msgs.msg import Vector3
from rosgraph_msgs.msg import Clock
from std_srvs.srv import Empty

from imu_simulation_framework import topics
from imu_simulation_framework.errors import SimulatorError
from imu_simulation_framework.robot.gazebo_world import HIGHEST_UPDATE_RATE, PHYSICS_RATE
from imu_simulation_framework.ros.simulators.interface import call

LONGEST_LAG = 2.0
"""Control periods that simulated time may be ahead of the last answered message."""

LONGEST_PAUSE = 0.5
"""Wall-clock seconds after which a pause ends in any case: an answer may have been lost."""

WATCH_PERIOD = 0.1
"""Wall-clock seconds between two looks at how long a pause has lasted."""


class GazeboPace:
    """Pauses the physics while the answer to a control period is overdue.

    Gazebo waits for nobody. On a busy machine messages then queue up between the nodes, and the
    robot is driven by commands for where it was seconds ago.

    Parameters
    ----------
    control_period : float
        Simulated seconds from one command to the next.
    """

    def __init__(self, control_period: float) -> None:
        self._longest_lag = LONGEST_LAG * control_period
        # A message of the next control period may be on its way when its clock is here already.
        self._short_lag = 1.2 * control_period
        self._lock = threading.Lock()
        self._answered = self._now = 0.0
        self._heard = False
        self._paused = False
        self._paused_at = 0.0
        self._pauses = 0
        self._paused_for = 0.0
        self._pause = rospy.ServiceProxy("/gazebo/pause_physics", Empty, persistent=True)
        self._unpause = rospy.ServiceProxy("/gazebo/unpause_physics", Empty, persistent=True)
        self._begun = False
        self._ended = threading.Event()
        # Last: from now on another thread is in here.
        self._clock = rospy.Subscriber(topics.CLOCK, Clock, self._on_clock, tcp_nodelay=True)

    def begin(self) -> None:
        """From now on every control period has to be answered."""
        with self._lock:
            self._answered = self._now
            self._begun = True
        threading.Thread(target=self._end_long_pauses, daemon=True).start()

    @property
    def pauses(self) -> int:
        """How many times Gazebo had to wait."""
        with self._lock:
            return self._pauses

    @property
    def paused_for(self) -> float:
        """How long in all [s of wall clock]."""
        with self._lock:
            return self._paused_for

    @property
    def now(self) -> float:
        """The newest simulated time that was heard of [s]."""
        with self._lock:
            return self._now

    def answered(self, stamp: float) -> None:
        """Learn that the command that answers the message of this stamp was given."""
        with self._lock:
            self._answered = max(self._answered, stamp)
            if self._paused and self._now - self._answered <= self._short_lag:
                self._resume()

    def end(self) -> None:
        """Nobody answers any more; let time run."""
        self._ended.set()
        self._clock.unregister()
        with self._lock:
            if self._paused:
                self._resume()

    def _on_clock(self, message) -> None:
        now = message.clock.to_sec()
        with self._lock:
            if not self._heard:
                # The drive may have begun before this first one.
                self._heard = True
                self._answered = max(self._answered, now)
            self._now = now
            overdue = now - self._answered > self._longest_lag
            wanted = self._begun and overdue and not self._ended.is_set()
            if wanted and not self._paused and self._call(self._pause):
                self._paused = True
                self._paused_at = time.monotonic()
                self._pauses += 1

    def _end_long_pauses(self) -> None:
        while not self._ended.wait(WATCH_PERIOD):
            with self._lock:
                if self._paused and time.monotonic() - self._paused_at > LONGEST_PAUSE:
                    self._answered = self._now
                    self._resume()

    def _resume(self) -> None:
        """Let time run again; if Gazebo does not hear it, the pause goes on, and counts once."""
        if self._call(self._unpause):
            self._paused = False
            self._paused_for += time.monotonic() - self._paused_at

    @staticmethod
    def _call(service) -> bool:
        """Return whether the service was called; that Gazebo has gone is for others to say."""
        try:
            service()
        except (rospy.ServiceException, rospy.ROSException):
            return False
        return True


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
