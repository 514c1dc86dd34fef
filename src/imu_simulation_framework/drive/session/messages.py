"""Which of the messages that are heard belong to the drive, and when all of them are there."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from imu_simulation_framework.core import topics
from imu_simulation_framework.drive.session.recording import ticks_between_wheels
from imu_simulation_framework.motion.stamps import NANOSECONDS

ROUNDING = 1e-6
"""The drive's end, as a tracking error tells it, may be off by so much [s]."""

_NOT_TO_THE_END = (
    *(topics.YAW_REAL, topics.YAW_ERROR_REAL),
    *(topics.GNSS_FIX, topics.GNSS_VELOCITY, topics.GNSS_HEADING),
)
"""Topics whose last message of a drive may be from before its end: the recorded IMU may have ended,
and a receiver has few fixes, which come late."""


_LATCHED = (topics.STATIC_TRANSFORMS, topics.IMU_CALIBRATION)
"""Topics whose messages hold until another one comes: those before the drive count, too."""


class HeardMessage(NamedTuple):
    """A message: its topic, its stamp [ns], or that of the clock, and what it says."""

    topic: str
    stamp: int
    content: Any


class MessageSession:
    """Chooses the messages of a drive.

    A simulator that waits for its first command repeats itself: of several messages with one stamp
    on one topic the last counts. What is sent later than a control period after the drive's end
    belongs to no drive. Static transforms hold at all times, whenever they are said: they count as
    of its first message, and so does what else was said before it and holds on.

    Parameters
    ----------
    control_period : float
        [s]
    """

    def __init__(self, control_period: float) -> None:
        self._period = round(control_period * NANOSECONDS)
        self._wheels_period = ticks_between_wheels(control_period) * self._period
        self._duration: float | None = None
        self._most_commands = 0
        self._end: int | None = None
        self._now = 0
        self._newest: dict[str, HeardMessage] = {}
        self._errors = self._commands = 0
        self._static: list[tuple[str, Any]] = []
        self._first: int | None = None

    def ends_after(self, duration: float) -> None:
        """Say how long the whole drive takes [s]; before, nothing is chosen."""
        self._duration = duration
        # The first, an answer to each control period, and one where those are not in step with it.
        self._most_commands = 2 + math.ceil(duration * NANOSECONDS / self._period)

    @property
    def is_end_known(self) -> bool:
        """Whether nobody has to tell any more when the drive began."""
        return self._end is not None

    def take_error(self, stamp: int, time: float) -> None:
        """Learn the drive's end from the stamp [ns] of a tracking error, ``time`` [s] after it."""
        if self._end is None and self._duration is not None:
            self._end = stamp + round((self._duration - time - ROUNDING) * NANOSECONDS)

    def take(self, topic: str, stamp: int | None, content) -> list[HeardMessage]:
        """Take a message; return those that are certain to count now, and did not before.

        Parameters
        ----------
        stamp : int or None
            [ns]; None for a message without one, which is of the time that the clock says.
        """
        is_static = topic == topics.STATIC_TRANSFORMS
        if is_static or (topic in _LATCHED and self._first is None):
            self._static = [one for one in self._static if is_static or one[0] != topic]
            self._static.append((topic, content))
            return self._with_static([])
        return self._with_static(self._take(topic, stamp, content))

    def _take(self, topic, stamp, content):
        if topic == topics.CLOCK and stamp is not None:
            self._now = stamp
        self._commands += topic == topics.WHEEL_COMMAND
        if self._duration is None:
            return []
        if stamp is None:
            message = HeardMessage(topic, self._now, content)
            if topic == topics.WHEEL_COMMAND:
                return self._commanded(message)
            return self._of_the_drive(message)
        earlier = self._newest.get(topic)
        if topic == topics.TRAJECTORY_ERROR and (earlier is None or earlier.stamp != stamp):
            self._errors += 1
        self._newest[topic] = HeardMessage(topic, stamp, content)
        if earlier is None or earlier.stamp == stamp:
            return []
        return self._of_the_drive(earlier)

    def rest(self) -> list[HeardMessage]:
        """Return the last message of each topic, once nothing follows."""
        last = [m for message in self._newest.values() for m in self._of_the_drive(message)]
        return self._with_static(last)

    def _with_static(self, messages):
        """Put before the messages that count what was said of all times, as of the first of all."""
        if self._first is None and messages:
            self._first = min(message.stamp for message in messages)
        if self._first is None:
            return []
        static, self._static = self._static, []
        said = [HeardMessage(topic, self._first, content) for topic, content in static]
        return [*said, *messages]

    @property
    def over(self) -> bool:
        """Whether the drive's last tracking error is there."""
        newest = self._newest.get(topics.TRAJECTORY_ERROR)
        return self._end is not None and newest is not None and newest.stamp >= self._end

    @property
    def complete(self) -> bool:
        """Whether the last message of the drive is there on each topic that has any.

        A command begins the drive, and each error is
        answered with one.
        """
        if self._end is None or 0 < self._commands <= self._errors:
            return False
        return not self.incomplete

    @property
    def incomplete(self) -> list[str]:
        """Topics that have messages, but not the last one of the drive."""
        end = math.inf if self._end is None else self._end
        return [
            topic
            for topic, message in self._newest.items()
            if topic not in _NOT_TO_THE_END
            and message.stamp < end
            and not (topic == topics.JOINT_STATES and message.stamp > end - self._wheels_period)
        ]

    def _commanded(self, command) -> list[HeardMessage]:
        """Return a command if it is of the drive, which its number tells.

        On a busy machine the clock may have been read up to its end, and beyond, before it.
        """
        answers_nothing = self.over and self._commands > self._errors + 1
        if answers_nothing or self._commands > self._most_commands:
            return []
        if self._end is None:
            return [command]
        return [command._replace(stamp=min(command.stamp, self._end + self._period))]

    def _of_the_drive(self, message) -> list[HeardMessage]:
        late = self._end is not None and message.stamp > self._end + self._period
        return [] if late else [message]
