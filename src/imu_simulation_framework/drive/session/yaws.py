"""Yaw signals and yaw errors during a drive, for live plots."""

from __future__ import annotations

from typing import Iterator, NamedTuple, Sequence

import numpy as np

from ...core import topics
from ...core.angles import difference, wrap
from ...core.stamps import NANOSECONDS
from ...heading.true_yaw_error import MAX_WAITING, StreamedYawError


class YawSample(NamedTuple):
    """Sample of a yaw signal or a yaw error.

    Attributes
    ----------
    topic : str
        Name of the topic.
    stamp : int
        Stamp [ns].
    yaw : float
        Wrapped angle [rad].
    unwrapped : float
        Unwrapped angle [rad].
    """

    topic: str
    stamp: int
    yaw: float
    unwrapped: float


class YawSession:
    """Session that computes yaw errors during a drive, and replays the yaw of the recorded IMU.

    The yaw errors are ground truth minus simulated IMU, and reference minus recorded IMU. Both are
    zero at the start of the drive, as in the comparison. Each stream has the name of its topic.
    """

    def __init__(self) -> None:
        self._zero: int | None = None
        self._reference: Sequence[np.ndarray] = ()
        self._recorded: Sequence[np.ndarray] = ()
        self._error = StreamedYawError()
        # Yaw errors by stamp that are stored until the start of the drive is known.
        self._early: dict[int, float] = {}
        # Stamps at which the recorded yaw has not been replayed yet.
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
        """Whether the initial yaw error of the simulated IMU is known."""
        return self._streams[topics.YAW_ERROR_SIMULATED].begun

    def compare_with(self, reference, recorded=None) -> None:
        """Set the reference and the recorded IMU that is replayed.

        Parameters
        ----------
        reference : pair of ndarray, each of shape (n,)
            Times since the start of the drive [s] and unwrapped yaw [rad] of the reference.
        recorded : pair of ndarray, each of shape (n,), optional
            Times [s] and unwrapped yaw [rad] of the recorded IMU.
        """
        # Arrays are stored, because interpolating a DataFrame column copies it for each sample.
        self._reference = [np.ascontiguousarray(column) for column in reference]
        self._recorded = [np.ascontiguousarray(column) for column in recorded or ()]
        if self._recorded:
            beginning = max(float(self._recorded[0][0]), 0.0)
            self._streams[topics.YAW_ERROR_REAL].begin(self._recorded_error(beginning)[1])

    def begin(self, zero: int) -> None:
        """Set the stamp of the start of the drive; later calls have no effect.

        Parameters
        ----------
        zero : int
            Stamp [ns].
        """
        if self._zero is None:
            self._zero = zero

    def restart(self) -> None:
        """Discard samples that cannot be paired, after samples were lost."""
        self._error = StreamedYawError()
        self._unplayed.clear()

    def add_imu(self, stamp: int, yaw: float) -> list[YawSample]:
        """Add a yaw sample of the simulated IMU.

        Parameters
        ----------
        stamp : int
            Stamp [ns].
        yaw : float
            Yaw [rad].

        Returns
        -------
        list of YawSample
            New samples.
        """
        return [
            self._sample(topics.YAW_SIMULATED, stamp, yaw),
            *self._errors(self._error.add_imu(stamp, yaw)),
            *self._play(stamp),
        ]

    def add_ground_truth(self, stamp: int, yaw: float) -> list[YawSample]:
        """Add a true yaw sample of the simulated robot.

        Parameters
        ----------
        stamp : int
            Stamp [ns].
        yaw : float
            Yaw [rad].

        Returns
        -------
        list of YawSample
            New samples.
        """
        return [
            self._sample(topics.YAW_GROUND_TRUTH, stamp, yaw),
            *self._errors(self._error.add_truth(stamp, yaw)),
        ]

    def _sample(self, topic, stamp, yaw) -> YawSample:
        return YawSample(topic, stamp, *self._streams[topic].add(yaw))

    def _errors(self, yaw_samples) -> Iterator[YawSample]:
        """Yield yaw errors since the start of the drive, where the yaw error is set to zero."""
        if self._zero is None:
            for stamp, error in yaw_samples:
                # A stamp may be repeated before the first command; its last error is used.
                _store_newest(self._early, stamp, error)
            return
        early, self._early = self._early, {}
        for stamp, error in (*early.items(), *yaw_samples):
            if stamp < self._zero:
                continue
            yield self._sample(topics.YAW_ERROR_SIMULATED, stamp, error)

    def _play(self, stamp) -> Iterator[YawSample]:
        if not self._recorded:
            return
        _store_newest(self._unplayed, stamp, None)
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


def _store_newest(newest, stamp, value) -> None:
    newest[stamp] = value
    if len(newest) > MAX_WAITING:
        del newest[next(iter(newest))]


class _Unwrapped:
    """Angle that is unwrapped sample by sample; ``from_zero`` subtracts the first angle."""

    def __init__(self, from_zero=False) -> None:
        self._from_zero = from_zero
        self._first: float | None = None
        self._unwrapped: float | None = None

    @property
    def begun(self) -> bool:
        return self._first is not None

    def begin(self, yaw: float) -> float:
        """Set the initial value if it is not set; return the initial value."""
        if self._first is None:
            self._first = yaw if self._from_zero else 0.0
        return self._first

    def add(self, yaw: float) -> tuple[float, float]:
        """Add an angle; return the wrapped and the unwrapped angle [rad]."""
        yaw -= self.begin(yaw)
        if self._unwrapped is None:
            self._unwrapped = yaw
        self._unwrapped += float(difference(yaw, self._unwrapped))
        return float(wrap(yaw)), self._unwrapped
