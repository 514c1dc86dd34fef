"""Yaws and yaw errors while the robot drives, for whoever watches."""

from __future__ import annotations

from typing import Iterator, NamedTuple, Sequence

import numpy as np

from ...core import topics
from ...core.angles import difference, wrap
from ...core.stamps import NANOSECONDS
from ...heading.true_yaw_error import MAX_WAITING, StreamedYawError


class YawSample(NamedTuple):
    """An angle of one stream: its topic, its stamp [ns], wrapped and unwrapped [rad]."""

    topic: str
    stamp: int
    yaw: float
    unwrapped: float


class YawSession:
    """Turns yaws into streams of yaws and yaw errors, and plays the recorded IMU beside them.

    The yaw errors are those of the comparison: ground truth minus simulated IMU, reference
    minus recorded IMU, each zero at the start of the drive. The streams have the names of their
    topics.
    """

    def __init__(self) -> None:
        self._zero: int | None = None
        self._reference: Sequence[np.ndarray] = ()
        self._recorded: Sequence[np.ndarray] = ()
        self._error = StreamedYawError()
        # Errors of the newest stamps until it is known which of them are of the drive.
        self._early: dict[int, float] = {}
        # And their stamps, at which the recorded yaw will be played.
        self._unplayed: dict[int, None] = {}
        self._streams = {
            topics.YAW_SIMULATED: _Unwrapped(),
            topics.YAW_GROUND_TRUTH: _Unwrapped(),
            topics.YAW_REAL: _Unwrapped(),
            topics.YAW_ERROR_SIMULATED: _Unwrapped(from_zero=True),
            topics.YAW_ERROR_REAL: _Unwrapped(from_zero=True),
        }

    @property
    def topics(self) -> tuple[str, ...]:
        """Topics of all streams."""
        return tuple(self._streams)

    @property
    def begun(self) -> bool:
        """Whether it is known from where the simulated IMU's error is counted."""
        return self._streams[topics.YAW_ERROR_SIMULATED].begun

    def compare_with(self, reference, recorded=None) -> None:
        """Play what was recorded, too.

        ``reference``, ``recorded`` (pair of ndarray, each (n,)): times after the drive's beginning
        [s], and unwrapped yaws [rad], of the reference and of the recorded IMU, if there was one.
        """
        # Columns of a table would be copied whole for each sample.
        self._reference = [np.ascontiguousarray(column) for column in reference]
        self._recorded = [np.ascontiguousarray(column) for column in recorded or ()]
        if self._recorded:
            beginning = max(float(self._recorded[0][0]), 0.0)
            self._streams[topics.YAW_ERROR_REAL].begin(self._recorded_error(beginning)[1])

    def begin(self, zero: int) -> None:
        """Say the stamp of the drive's beginning [ns]; what is said later does not count."""
        if self._zero is None:
            self._zero = zero

    def restart(self) -> None:
        """Forget samples that wait for others: some have not been listened to."""
        self._error = StreamedYawError()
        self._unplayed.clear()

    def add_imu(self, stamp: int, yaw: float) -> list[YawSample]:
        """Take a yaw [rad] of the simulated IMU at a stamp [ns]; return what is known by it."""
        return [
            self._sample(topics.YAW_SIMULATED, stamp, yaw),
            *self._errors(self._error.add_imu(stamp, yaw)),
            *self._play(stamp),
        ]

    def add_ground_truth(self, stamp: int, yaw: float) -> list[YawSample]:
        """Take a yaw [rad] of the simulated robot at a stamp [ns]; return what is known by it."""
        return [
            self._sample(topics.YAW_GROUND_TRUTH, stamp, yaw),
            *self._errors(self._error.add_truth(stamp, yaw)),
        ]

    def _sample(self, topic, stamp, yaw) -> YawSample:
        return YawSample(topic, stamp, *self._streams[topic].add(yaw))

    def _errors(self, known) -> Iterator[YawSample]:
        """Return the errors of the drive: what was before it would decide where they are zero."""
        if self._zero is None:
            for stamp, error in known:
                # Of a stamp that is repeated until the first command the last counts.
                _keep(self._early, stamp, error)
            return
        early, self._early = self._early, {}
        for stamp, error in (*early.items(), *known):
            if stamp < self._zero:
                continue
            yield self._sample(topics.YAW_ERROR_SIMULATED, stamp, error)

    def _play(self, stamp) -> Iterator[YawSample]:
        if not self._recorded:
            return
        _keep(self._unplayed, stamp, None)
        if self._zero is None:
            return
        stamps, self._unplayed = self._unplayed, {}
        for stamp in stamps:
            time = (stamp - self._zero) / NANOSECONDS
            if self._recorded[0][0] <= time <= self._recorded[0][-1]:
                yaw, error = self._recorded_error(time)
                yield self._sample(topics.YAW_REAL, stamp, yaw)
                yield self._sample(topics.YAW_ERROR_REAL, stamp, error)

    def _recorded_error(self, time):
        yaw = float(np.interp(time, *self._recorded))
        return yaw, float(np.interp(time, *self._reference)) - yaw


def _keep(newest, stamp, value) -> None:
    newest[stamp] = value
    if len(newest) > MAX_WAITING:
        del newest[next(iter(newest))]


class _Unwrapped:
    """One angle, unwrapped from sample to sample.

    ``from_zero``: counted from the first one, which is what makes an error start at zero.
    """

    def __init__(self, from_zero=False) -> None:
        self._from_zero = from_zero
        self._first: float | None = None
        self._unwrapped: float | None = None

    @property
    def begun(self) -> bool:
        return self._first is not None

    def begin(self, yaw: float) -> float:
        """Count from this one on, unless it was begun before; return from where."""
        if self._first is None:
            self._first = yaw if self._from_zero else 0.0
        return self._first

    def add(self, yaw: float) -> tuple[float, float]:
        """Return the next angle, wrapped and unwrapped [rad]."""
        yaw -= self.begin(yaw)
        if self._unwrapped is None:
            self._unwrapped = yaw
        self._unwrapped += float(difference(yaw, self._unwrapped))
        return float(wrap(yaw)), self._unwrapped
