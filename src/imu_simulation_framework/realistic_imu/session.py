"""An IMU model that follows the stamps of messages, whatever these are like.

A model has a fixed period. A message is one step of it as a rule; where stamps say that some are
missing, the model makes their steps on a truth that is interpolated, so that drift and the
orientation filter go on through the gap.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Iterator, NamedTuple

import numpy as np

from ..core.errors import ConfigurationError, RecordingError
from ..core.settings import to_mapping
from ..core.stamps import NANOSECONDS
from ..sensors.imu_models.base import ImuModel, ImuReading, ImuTruth
from ..sensors.imu_models.plugins import IdealParameters
from ..sensors.imu_models.specification import SpecificationParameters
from ..sensors.imu_specification import ImuSpecification
from ..sensors.operation import Operation
from ..sensors.simulation import imu_model
from .truth import (
    FIRST_AGAIN,
    FIRST_MESSAGES,
    LONGEST_GAP,
    StreamReport,
    check_frames,
    usual_period,
)

MEASURED = FIRST_MESSAGES
"""Messages of which the period is measured where it is not given."""

_LONGEST_STRIDE = 10000  # Messages for each sample of a sensor that are looked for

_NO_MAGNETOMETER = (
    "a magnetic field is for an IMU whose specification has a magnetometer, as bno055_magnetometer"
)


class TimedReading(NamedTuple):
    """A reading and its stamp [ns]."""

    stamp: int
    reading: ImuReading


class RealisticImu:
    """An IMU's errors on a stream of truths with stamps.

    ``errors``, ``seed``, ``run``: as for :func:`.simulate_imu`, whose same run has the same
    numbers. ``period``: between messages [s]; by default it is measured on the first of them, which
    then come out all at once. ``rate``: the sensor's samples per second [Hz] instead of its
    specification's. ``field``, ``speed``: whether the truths have a magnetic field, and the speed.
    ``field_reported``: whether the field is reported in the IMU's axes, so that no orientation is
    needed for it. ``report`` (StreamReport): goes on; by default it begins with zeros.
    ``operation`` (Operation): how a specified sensor is used: zeroed as if it had stood still
    before the first message, and at stops that it detects; by default as it is switched on. Raises
    ConfigurationError: the errors are none, do not go with the period, depend on a magnetic field
    or a speed that the truths do not have, or there is a field and no magnetometer.
    """

    def __init__(
        self,
        errors,
        seed: int = 1,
        period: float | None = None,
        run: int = 0,
        rate: float | None = None,
        field: bool = False,
        speed: bool = False,
        field_reported: bool = False,
        report: StreamReport | None = None,
        operation: Operation | None = None,
    ):
        if rate is not None:
            if not isinstance(errors, ImuSpecification):
                raise ConfigurationError(
                    "only an IMU by a specification has a rate of its own; this one has that of "
                    "its input"
                )
            faster = dataclasses.replace(errors.output, rate=rate)
            errors = dataclasses.replace(errors, output=faster)
        require_feelable(errors, field, speed)
        if operation is not None:
            _check_operation(operation, errors)
        self._turns_field = field and not field_reported
        self._errors, self._seed, self._run, self._operation = errors, seed, run, operation
        self._output = errors.output if isinstance(errors, ImuSpecification) else None
        self._fuses = self._output is not None and self._output.orientation_reference == "fusion"
        self._waiting: list[tuple[int, ImuTruth]] = []
        self._oriented = True
        self._steps: Any = None
        self.report = report or StreamReport()
        if period is not None:
            self._begin(period)

    @property
    def period(self) -> float | None:
        """Time between messages [s]; None while it is not known."""
        return None if self._steps is None else self._steps.model.period

    @property
    def sensor_rate(self) -> float | None:
        """The specification's samples per second [Hz]; None for a plug-in's model."""
        return None if self._output is None else self._output.rate

    @property
    def fuses_field(self) -> bool:
        """Whether the orientation is fused with the magnetometer."""
        return self._output is not None and self._fuses and self._output.fuses_magnetometer

    @property
    def gives_orientation(self) -> bool:
        """Whether the readings have one: the input has, or it is fused of the readings."""
        return self._oriented or self._fuses

    def covariances(self):
        """Return those to publish, row by row; -1 where there is no orientation (REP-145).

        The period must be known.
        """
        orientation, rate, force = self._steps.model.covariances()
        if not self.gives_orientation:
            orientation = (-1.0,) + 8 * (0.0,)
        return orientation, rate, force

    def magnetic_covariance(self):
        """Return that of the magnetometer, row by row; the period must be known."""
        return self._steps.model.magnetic_covariance()

    def describe(self) -> dict:
        """Return what makes the same readings again: model, parameters, period, seed and run."""
        return {
            "model": None if self._steps is None else type(self._steps.model).__name__,
            "label": None if self._steps is None else self._steps.model.label,
            "period": self.period,
            "seed": self._seed,
            "run": self._run,
            "parameters": dataclasses.asdict(self._errors),
            "operation": None if self._operation is None else to_mapping(self._operation),
        }

    def without_orientation(self) -> None:
        """Say that the truths have none; a fused one then begins with a yaw of zero.

        Raises RecordingError: their magnetic field was not reported.
        """
        if self._turns_field:
            raise RecordingError(
                "the ideal IMU has no orientation, so that nobody knows the magnetic field in its "
                "axes"
            )
        self._oriented = False

    def add(self, stamp: int, truth: ImuTruth | None) -> list[TimedReading]:
        """Take the truth of the next message; return the readings that are known by it.

        ``stamp`` [ns]; ``truth``: of one sample, always of the same kind; None for a message that
        cannot be used. Raises RecordingError: no stamps are set, or the truth is in other axes than
        REP-103 says. Raises ConfigurationError: the errors do not go with the measured period.
        """
        if truth is None:
            return []
        if self._steps is not None:
            return list(self._steps.add(stamp, truth))
        self._waiting.append((stamp, truth))
        return self.finish() if len(self._waiting) >= MEASURED else []

    def finish(self) -> list[TimedReading]:
        """Return the readings of messages that wait for the period to be known.

        Raises RecordingError: there are too few to know it.
        """
        if self._steps is not None:
            return []
        waiting, self._waiting = self._waiting, []
        check_frames([truth for _, truth in waiting], self._oriented)
        steps = self._begin(usual_period([stamp for stamp, _ in waiting], self.sensor_rate))
        return [known for pair in waiting for known in steps.add(*pair)]

    def _begin(self, period) -> _Steps:
        errors = self._errors
        if self._operation is not None:
            errors = SpecificationParameters(errors, self._operation)
        model = imu_model(errors, period, self._seed)
        for _ in range(self._run):
            model.reset()
        self._steps = _Steps(model, self.report)
        return self._steps


class _Steps:
    """A model and how many steps of it were made since which stamp [ns]."""

    def __init__(self, model: ImuModel, report: StreamReport):
        self.model = model
        self._report = report
        self._before: Any = None  # its stamp and truth
        # How many steps make one sample of the sensor.
        new = np.flatnonzero(model.new_samples(_LONGEST_STRIDE + 1))
        self._stride = int(new[1] - new[0]) if len(new) > 1 else _LONGEST_STRIDE
        self._first = self._count = 0
        self._sampled = False

    def add(self, stamp: int, truth: ImuTruth) -> Iterator[TimedReading]:
        """Make the step of a message, and those that are missing before it."""
        if self._before is not None:
            elapsed = stamp - self._before[0]
            if elapsed == 0:
                self._report.repeated += 1
                return
            if -FIRST_AGAIN * NANOSECONDS <= elapsed < 0:
                self._report.disordered += 1
                return
            if elapsed < 0 or elapsed > max(LONGEST_GAP, 2.0 * self.model.period) * NANOSECONDS:
                self._report.restarts += 1
                self.model.reset()
                self._before, self._sampled = None, False
            else:
                yield from self._bridge(stamp, truth)
        if self._before is None:
            self._first, self._count = stamp, 0
        self._before = (stamp, truth)
        self._report.taken += 1
        reading = self._step(truth)
        # Before the sensor's first sample a reading is the truth.
        new = self.model.has_new_sample
        if new or self._sampled:
            time = np.array([(stamp - self._first) / NANOSECONDS])
            given = self.model.emitted(time, np.array([new]))
            for _ in range(1 if given is None else len(given)):
                yield TimedReading(stamp, reading)

    def _bridge(self, stamp, truth) -> Iterator[TimedReading]:
        """Make the steps for which there was no message.

        A sample of a slower sensor is not lost because just its own message is missing.
        """
        before_stamp, before = self._before
        due = round((stamp - self._first) / NANOSECONDS / self.model.period)
        missing = due - self._count
        if missing <= 0:
            return
        elapsed = stamp - before_stamp
        self._report.gaps += 1
        self._report.bridged += missing
        self._report.largest_gap = max(self._report.largest_gap, elapsed / NANOSECONDS)
        is_short = missing < self._stride
        # Of the two quaternions that mean the same turn, the nearer one.
        sign = -1.0 if np.dot(before.orientation, truth.orientation) < 0.0 else 1.0
        near = before._replace(orientation=sign * np.asarray(before.orientation))
        for number in range(1, missing + 1):
            share = number / (missing + 1)
            between: list[Any] = [
                None if new is None else (1.0 - share) * old + share * new
                for old, new in zip(near, truth)
            ]
            between[0] = between[0] / np.linalg.norm(between[0])
            reading = self._step(ImuTruth(*between))
            if is_short and self.model.has_new_sample:
                yield TimedReading(before_stamp + round(share * elapsed), reading)

    def _step(self, truth) -> ImuReading:
        self._count += 1
        reading = self.model.step(truth)
        self._sampled = self._sampled or self.model.has_new_sample
        return reading


def _check_operation(operation, errors) -> None:
    if not isinstance(errors, ImuSpecification):
        raise ConfigurationError(
            "a standstill is for an IMU by a specification; the yaw of a plug-in's model is not "
            "that of its gyroscope"
        )
    if operation.knows_stops:
        raise ConfigurationError(
            f"stops is {operation.stops}, but an IMU beside a simulator is not told when the robot "
            "stands: it has none or detected"
        )


def require_feelable(errors, field: bool, speed: bool) -> None:
    """Refuse errors that need a field or a speed which is not reported, or have no use for a field.

    ``field``, ``speed``: whether they are reported. Raises ConfigurationError.
    """
    if not isinstance(errors, ImuSpecification):
        if field and not isinstance(errors, IdealParameters):
            raise ConfigurationError(f"{_NO_MAGNETOMETER}; plug-ins' models have none")
        return
    if field and errors.magnetometer is None:
        raise ConfigurationError(f"{_NO_MAGNETOMETER}; {errors.name} has none")
    output = errors.output
    if output.fuses_magnetometer and not field:
        what = "magnetic_heading" if output.magnetic_heading else "filter compass"
        raise ConfigurationError(
            f"output.{what} needs the magnetic field, which an ideal IMU does not say; "
            "leave it out, or have a magnetometer simulated"
        )
    if errors.vibration.active and not speed:
        raise ConfigurationError(
            "vibration depends on the speed, which an ideal IMU does not say; leave it out, or "
            "tell where the robot is"
        )
