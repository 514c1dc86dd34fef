"""Application of an IMU model to a stream of messages with irregular stamps.

The simulated errors depend on the stamps, not on the arrival times of messages. The node counts all
irregularities and warns about them:

.. list-table::
   :header-rows: 1
   :widths: 38 62

   * - stamps or messages
     - treatment
   * - jitter of the stamps
     - each message is one step
   * - messages missing for up to 10 s
     - drift and filter continue with interpolated ideal signals. Nothing is published in the gap,
       except for a due sample if the sensor is slower than its input and the gap is shorter than
       the sensor's period
   * - gap of more than 10 s, or a step back by more than 1 s
     - the simulation is assumed to have restarted: the IMU restarts with new random numbers
   * - same stamp as before, or a step back by at most 1 s
     - ignored
   * - NaN, infinity, or values above 1e9
     - ignored
   * - orientation, rate or acceleration missing, although other messages contain it
     - ignored. If the first 50 messages have no orientation, the IMU is considered to have none
   * - invalid pose or magnetic field
     - ignored

A model has a fixed period, and each message is usually one step.
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
from .ideal_inputs import (
    MAX_GAP,
    MIN_RESTART_JUMP,
    ORIENTATION_CHECK_MESSAGES,
    StreamReport,
    StreamSignals,
    check_frames,
    estimate_nominal_period,
)

#: Number of messages, at the start of a stream, from which the message period is estimated.
PERIOD_MESSAGES = ORIENTATION_CHECK_MESSAGES

# Largest number of model steps per sample of the sensor, as for a 0.1 Hz sensor and a 1 kHz input.
_MAX_STEPS_PER_SAMPLE = 10000

_NO_MAGNETOMETER = (
    "a magnetic field requires an IMU whose specification has a magnetometer, such as "
    "bno055_magnetometer"
)


class TimedReading(NamedTuple):
    """Reading of an IMU with its time stamp.

    Attributes
    ----------
    stamp : int
        Stamp [ns].
    reading : ImuReading
        Output of the IMU.
    """

    stamp: int
    reading: ImuReading


def replace_rate(errors, rate: float | None):
    """Replace the sampling rate in the specification of an IMU.

    Parameters
    ----------
    errors : ImuSpecification or parameters of a plug-in
        Errors of the IMU.
    rate : float or None
        Sampling rate of the sensor [Hz]; None for the rate in the specification.

    Returns
    -------
    ImuSpecification or parameters of a plug-in

    Raises
    ------
    ConfigurationError
        If a rate is given for a plug-in's model, which has no sampling rate.
    """
    if rate is None:
        return errors
    if not isinstance(errors, ImuSpecification):
        raise ConfigurationError(
            f"rate is {rate:g}, expected no rate, because only an IMU from a specification has a "
            "sampling rate"
        )
    return dataclasses.replace(errors, output=dataclasses.replace(errors.output, rate=rate))


class RealisticImu:
    """Simulated IMU that adds errors to a stream of stamped ideal signals.

    Parameters
    ----------
    errors : ImuSpecification or parameters of a plug-in
        Errors of the IMU, as for :func:`.simulate_imu`.
    seed : int
        Seed of the random numbers.
    period : float, optional
        Time between messages [s]. By default, it is estimated from the first
        :data:`PERIOD_MESSAGES` messages, whose readings are then returned together.
    run : int
        Number of the realisation; the same run of :func:`.simulate_imu` has the same errors.
    signals : StreamSignals, optional
        Additional signals of the stream; by default there are none.
    report : StreamReport, optional
        Report in which messages are counted; by default a new one.
    operation : Operation, optional
        Zeroing of the gyroscope, at a standstill before the first message and at stops that the
        sensor detects. By default, the gyroscope is not zeroed.

    Raises
    ------
    ConfigurationError
        If the errors are unknown, do not match the period, or depend on a magnetic field or a speed
        that the ideal signals lack, or if there is a magnetic field but no magnetometer.
    """

    def __init__(
        self,
        errors,
        seed: int = 1,
        period: float | None = None,
        run: int = 0,
        signals: StreamSignals | None = None,
        report: StreamReport | None = None,
        operation: Operation | None = None,
    ):
        signals = signals or StreamSignals()
        check_required_inputs(errors, signals.field, signals.speed)
        if operation is not None:
            _check_operation(operation, errors)
        self._turns_field = signals.field and not signals.field_reported
        self._errors, self._seed, self._run, self._operation = errors, seed, run, operation
        self._output = errors.output if isinstance(errors, ImuSpecification) else None
        self._fuses = self._output is not None and self._output.orientation_reference == "fusion"
        self._waiting: list[tuple[int, ImuTruth]] = []
        self._has_input_orientation = True
        self._steps: Any = None
        self.report = report or StreamReport()
        if period is not None:
            self._begin(period)

    @property
    def period(self) -> float | None:
        """Time between input messages [s]; None until it has been estimated."""
        return None if self._steps is None else self._steps.model.period

    @property
    def sensor_rate(self) -> float | None:
        """Sampling rate in the specification [Hz]; None for the model of a plug-in."""
        return None if self._output is None else self._output.rate

    @property
    def fuses_magnetometer(self) -> bool:
        """Whether the fusion filter uses the magnetometer."""
        return self._output is not None and self._fuses and self._output.fuses_magnetometer

    @property
    def has_orientation(self) -> bool:
        """Whether readings have an orientation, from the input or from the fusion filter."""
        return self._has_input_orientation or self._fuses

    def covariances(self):
        """Return the covariances to publish, for which the period must already be known.

        Returns
        -------
        tuple of 3 tuples of 9 float
            Covariances of orientation, angular velocity and specific force, row by row. The first
            element is -1 if there is no orientation (REP-145).
        """
        orientation, rate, force = self._steps.model.covariances()
        if not self.has_orientation:
            orientation = (-1.0,) + 8 * (0.0,)
        return orientation, rate, force

    def magnetic_covariance(self):
        """Return the covariance of the magnetometer, for which the period must already be known.

        Returns
        -------
        tuple of float
            Nine elements of the covariance, row by row [T^2].
        """
        return self._steps.model.magnetic_covariance()

    def describe(self) -> dict:
        """Return all settings of the simulation, so that a run can be repeated.

        Returns
        -------
        dict of str to object
            Model, parameters, period [s], seed, run and operation.
        """
        return {
            "model": None if self._steps is None else type(self._steps.model).__name__,
            "label": None if self._steps is None else self._steps.model.label,
            "period": self.period,
            "seed": self._seed,
            "run": self._run,
            "parameters": dataclasses.asdict(self._errors),
            "operation": None if self._operation is None else to_mapping(self._operation),
        }

    def drop_orientation(self) -> None:
        """Ignore the orientation of the ideal signals, so that a fused yaw starts at zero.

        Raises
        ------
        RecordingError
            If the magnetic field is simulated, which requires an orientation.
        """
        if self._turns_field:
            raise RecordingError(
                "the ideal IMU has no orientation, which is required for the magnetic field in IMU "
                "axes; set a topic with the field"
            )
        self._has_input_orientation = False

    def add(self, stamp: int, truth: ImuTruth | None) -> list[TimedReading]:
        """Process the ideal signals of a message, and return the readings that are complete.

        Parameters
        ----------
        stamp : int
            Stamp of the message [ns].
        truth : ImuTruth or None
            Ideal signals of one sample; None for an unusable message.

        Returns
        -------
        list of TimedReading
            Readings that are complete with this message.

        Raises
        ------
        RecordingError
            If the stamps are not set, or the axes differ from REP-103.
        ConfigurationError
            If the errors do not match the estimated period.
        """
        if truth is None:
            return []
        if self._steps is not None:
            return list(self._steps.add(stamp, truth))
        self._waiting.append((stamp, truth))
        return self.finish() if len(self._waiting) >= PERIOD_MESSAGES else []

    def finish(self) -> list[TimedReading]:
        """Estimate the period if it is unknown, and return the readings of the queued messages.

        Returns
        -------
        list of TimedReading
            Readings of the queued messages.

        Raises
        ------
        RecordingError
            If there are too few messages to estimate the period.
        """
        if self._steps is not None:
            return []
        waiting, self._waiting = self._waiting, []
        check_frames([truth for _, truth in waiting], self._has_input_orientation)
        steps = self._begin(
            estimate_nominal_period([stamp for stamp, _ in waiting], self.sensor_rate)
        )
        return [reading for pair in waiting for reading in steps.add(*pair)]

    def _begin(self, period) -> _SteppedModel:
        errors = self._errors
        if self._operation is not None:
            errors = SpecificationParameters(errors, self._operation)
        model = imu_model(errors, period, self._seed)
        for _ in range(self._run):
            model.reset()
        self._steps = _SteppedModel(model, self.report)
        return self._steps


class _SteppedModel:
    """IMU model with the number of its steps since the first stamp."""

    def __init__(self, model: ImuModel, report: StreamReport):
        self.model = model
        self._report = report
        self._previous: Any = None  # stamp and ideal signals of the previous message
        # The stride is the number of model steps per sample of the sensor.
        new = np.flatnonzero(model.new_samples(_MAX_STEPS_PER_SAMPLE + 1))
        self._stride = int(new[1] - new[0]) if len(new) > 1 else _MAX_STEPS_PER_SAMPLE
        self._first = self._count = 0
        self._sampled = False

    def add(self, stamp: int, truth: ImuTruth) -> Iterator[TimedReading]:
        """Step the model through missing messages, if any, and to this message; yield readings."""
        if self._previous is not None:
            elapsed = stamp - self._previous[0]
            if elapsed == 0:
                self._report.repeated += 1
                return
            if -MIN_RESTART_JUMP * NANOSECONDS <= elapsed < 0:
                self._report.disordered += 1
                return
            if elapsed < 0 or elapsed > max(MAX_GAP, 2.0 * self.model.period) * NANOSECONDS:
                self._report.restarts += 1
                self.model.reset()
                self._previous, self._sampled = None, False
            else:
                yield from self._bridge(stamp, truth)
        if self._previous is None:
            self._first, self._count = stamp, 0
        self._previous = (stamp, truth)
        self._report.accepted += 1
        reading = self._step(truth)
        # Before the sensor's first sample, the model returns ideal signals, which are no readings.
        new = self.model.has_new_sample
        if new or self._sampled:
            time = np.array([(stamp - self._first) / NANOSECONDS])
            emitted = self.model.emitted(time, np.array([new]))
            for _ in range(1 if emitted is None else len(emitted)):
                yield TimedReading(stamp, reading)

    def _bridge(self, stamp, truth) -> Iterator[TimedReading]:
        """Step the model through a gap in the messages; yield a reading due in a short gap."""
        previous_stamp, previous = self._previous
        sample_number = round((stamp - self._first) / NANOSECONDS / self.model.period)
        missing = sample_number - self._count
        if missing <= 0:
            return
        elapsed = stamp - previous_stamp
        self._report.gaps += 1
        self._report.bridged += missing
        self._report.largest_gap = max(self._report.largest_gap, elapsed / NANOSECONDS)
        is_short = missing < self._stride
        # The sign of the quaternion is chosen such that the interpolation follows the shorter arc.
        sign = -1.0 if np.dot(previous.orientation, truth.orientation) < 0.0 else 1.0
        aligned_previous = previous._replace(orientation=sign * np.asarray(previous.orientation))
        for number in range(1, missing + 1):
            share = number / (missing + 1)
            interpolated: list[Any] = [
                None if new is None else (1.0 - share) * old + share * new
                for old, new in zip(aligned_previous, truth)
            ]
            interpolated[0] = interpolated[0] / np.linalg.norm(interpolated[0])
            reading = self._step(ImuTruth(*interpolated))
            if is_short and self.model.has_new_sample:
                yield TimedReading(previous_stamp + round(share * elapsed), reading)

    def _step(self, truth) -> ImuReading:
        self._count += 1
        reading = self.model.step(truth)
        self._sampled = self._sampled or self.model.has_new_sample
        return reading


def _check_operation(operation, errors) -> None:
    if not isinstance(errors, ImuSpecification):
        raise ConfigurationError(
            "standstill and stops require an IMU from a specification, because the yaw of a "
            "plug-in's model is not integrated from its gyroscope"
        )
    if operation.knows_stops:
        raise ConfigurationError(
            f"stops is {operation.stops}, expected none or detected, because the messages of a "
            "simulator do not report standstills"
        )


def check_required_inputs(errors, field: bool, speed: bool) -> None:
    """Check that the ideal signals contain the quantities on which the IMU errors depend.

    Parameters
    ----------
    errors : ImuSpecification or parameters of a plug-in
        Errors of the IMU.
    field : bool
        Whether the ideal signals contain a magnetic field.
    speed : bool
        Whether the ideal signals contain the speed.

    Raises
    ------
    ConfigurationError
        If a quantity is missing, or there is a magnetic field but no magnetometer.
    """
    if not isinstance(errors, ImuSpecification):
        if field and not isinstance(errors, IdealParameters):
            raise ConfigurationError(f"{_NO_MAGNETOMETER}; plug-ins' models have none")
        return
    if field and errors.magnetometer is None:
        raise ConfigurationError(f"{_NO_MAGNETOMETER}; {errors.name} has none")
    output = errors.output
    if output.fuses_magnetometer and not field:
        setting = "magnetic_heading" if output.magnetic_heading else "filter compass"
        raise ConfigurationError(
            f"output.{setting} needs the magnetic field, which an ideal IMU does not measure; "
            "remove the setting or simulate a magnetometer"
        )
    if errors.vibration.active and not speed:
        raise ConfigurationError(
            "vibration depends on the speed, which an ideal IMU does not measure; remove the "
            "vibration or set a topic with the robot's pose"
        )
