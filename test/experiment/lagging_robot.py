"""Kinematics and timing of a robot with its own controllers, for ROS 1 and ROS 2."""

import math
import time

PERIOD = 0.01  # sampling period of the IMU [s]
TICKS_PER_ODOMETRY = 2
DRIFT = 0.001  # yaw drift of the IMU [rad/s]
LAG = 0.1  # time constant of the response to a command [s]
FIRST_STAMP = 10 * 10**9  # [ns]
MAX_LEAD = 6  # ticks after the last command; a response to odometry takes at most 60 ms
MAX_WAIT = 0.2  # wall-clock time after which the robot continues without a command [s]


class LaggingRobot:
    """Robot starting at (3, -2) with a yaw of 1 rad, which follows commands with a lag.

    Before the first command, its time is the wall clock. Afterwards, time advances only with
    commands, so the load of the machine does not change the drive.

    Parameters
    ----------
    v : float, optional
        Speed without a command [m/s].
    """

    def __init__(self, v=0.0):
        self.v, self.yaw_rate = v, 0.0
        self.commanded = (v, 0.0)
        self.x, self.y, self.yaw = 3.0, -2.0, 1.0
        self.ticks = 0
        self._started = self._stepped = time.monotonic()
        self._limit = None  # tick at which to wait for a command; None before the first command

    @property
    def stamp(self) -> int:
        """Return the simulated time [ns]."""
        return FIRST_STAMP + self.ticks * round(PERIOD * 1e9)

    @property
    def measured_yaw(self) -> float:
        """Return the yaw of the IMU [rad]."""
        return self.yaw + DRIFT * PERIOD * self.ticks

    @property
    def has_odometry(self) -> bool:
        """Return whether odometry is due at the current tick."""
        return self.ticks % TICKS_PER_ODOMETRY == 0

    def command(self, v, yaw_rate) -> None:
        """Set the commanded speed [m/s] and yaw rate [rad/s]."""
        self.commanded = (v, yaw_rate)
        self._limit = self.ticks + MAX_LEAD

    def is_due(self) -> bool:
        """Return whether the robot may advance by one tick."""
        now = time.monotonic()
        if self._limit is None:
            return now >= self._started + PERIOD * self.ticks
        if self.ticks >= self._limit and now > self._stepped + MAX_WAIT:
            self._limit = self.ticks + MAX_LEAD
        return self.ticks < self._limit

    def step(self) -> None:
        """Advance by one tick."""
        self._stepped = time.monotonic()
        self.ticks += 1
        share = 1.0 - math.exp(-PERIOD / LAG)
        self.v += share * (self.commanded[0] - self.v)
        self.yaw_rate += share * (self.commanded[1] - self.yaw_rate)
        middle = self.yaw + 0.5 * PERIOD * self.yaw_rate
        self.x += PERIOD * self.v * math.cos(middle)
        self.y += PERIOD * self.v * math.sin(middle)
        self.yaw += PERIOD * self.yaw_rate
