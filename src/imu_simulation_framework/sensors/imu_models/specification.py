r"""Model of an IMU according to its specification, sample by sample or for many runs at once.

Each sample of the sensor, with f the mean of the ideal signal since the previous sample, is

.. math::

    y = \mathrm{round}(\mathrm{clip}((I + M + S_T \Delta T + S_V \Delta V) f + G a
        + K_2 (f^2 + \sigma^2) + R |\sigma|^2 + b + b_T \Delta T + b_V \Delta V + n))

where M is scale factor error and misalignment, :math:`S_T` and :math:`b_T` are the temperature
coefficients, G is the gyroscope's sensitivity to the specific force a, b is the bias (turn-on bias,
bias instability, random walk, Gauss-Markov process, ramp) and n the noise (white noise and
quantisation). For a magnetometer, f is the field including its iron, ``soft_iron B + hard_iron``,
at the time of the sample. If they are specified, :math:`S_V` and :math:`b_V` are the coefficients
of the supply voltage, K2 is the nonlinearity, and R the rectification of a vibration whose mean
square is :math:`\sigma^2`. The vibration itself is part of n. A sensor with a bandwidth passes
signal and noise through its low-pass filter (:mod:`.sensors.conditions`).

A filter without a reference for the yaw computes the orientation from gyroscope and accelerometer
alone, as in the IMU mode of a BNO055: the yaw error is the integral of the gyroscope's error. With
a magnetic heading, the filter takes the yaw from the magnetometer.

With an :class:`.Operation`, the sensor is at rest before the first sample. The gyroscope's mean
over this standstill is subtracted from its readings; stops during the drive update this mean and
hold the heading.
"""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import islice
from operator import itemgetter
from typing import Any, Mapping, NamedTuple

import numpy as np

from ...core.angles import difference, quaternion_product
from ...core.errors import ConfigurationError
from ...core.settings import from_mapping
from ...motion.earth import EARTH_RATE
from ..conditions import BandLimit, VibrationNoise
from ..fusion.filters import fuse_run, make_filter
from ..imu_specification import ImuSpecification, OutputSpecification
from ..noise.streams import child_generator, child_seed, run_seed
from ..operation import Operation, Standstill, Zeroing, is_at_rest
from ..triad_errors import TriadNoise, create_triads
from ..triads import TRIADS
from .base import ImuModel, ImuReading, ImuTruth, JoinedReading, ideal_reading


class TriadSeries(NamedTuple):
    """True motion at the samples of a sensor, with the responses of its triads.

    Parameters
    ----------
    orientation : ndarray, shape (n, 4)
        True orientation.
    time : ndarray, shape (n, 1)
        Times since power-on [s].
    responses : list of ndarray, shape (n, 3)
        Responses of the triads to the ideal signals.
    speed : ndarray, shape (n,), or None
        Speed of the robot [m/s], if it is required.
    is_stationary : ndarray of bool, shape (n,), or None
        Whether the robot is at rest; None if this is unknown to the robot.
    """

    orientation: np.ndarray
    time: np.ndarray
    responses: list[np.ndarray]
    speed: np.ndarray | None
    is_stationary: np.ndarray | None


class Fusion(NamedTuple):
    """Attitude filter, with its inputs for a series of samples.

    Parameters
    ----------
    filter : object
        Filter of :mod:`.sensors.fusion.filters`.
    start : ndarray, shape (4,), or None
        Orientation at which the filter starts; None if it continues.
    rate, force : ndarray, shape (n, 3)
        Angular velocity [rad/s] and specific force [m/s^2].
    field : ndarray, shape (n, 3), or None
        Magnetic field [T].
    """

    filter: Any
    start: np.ndarray | None
    rate: np.ndarray
    force: np.ndarray
    field: np.ndarray | None

    def run(self) -> np.ndarray:
        """Compute the orientations of all samples with the filter.

        Returns
        -------
        ndarray, shape (n, 4)
            Quaternions x, y, z, w.
        """
        if self.start is None:
            return self.filter.update_all(self.rate, self.force, self.field)
        return fuse_run(self.filter, self.start, self.rate, self.force, self.field)


class RealisedTriads(NamedTuple):
    """State of a realisation: noise, low-pass filters, vibration and gyroscope zeroing.

    Attributes
    ----------
    noises : list of TriadNoise
        Noise and bias of each triad.
    limits : list of BandLimit or None
        Low-pass filter of each triad, or None.
    vibration : VibrationNoise or None
        Vibration of the specific force.
    zeroing : Zeroing or None
        Gyroscope zeroing, which subtracts the offset at rest.
    """

    noises: list[TriadNoise]
    limits: list[BandLimit | None]
    vibration: VibrationNoise | None
    zeroing: Zeroing | None


class SpecificationReading(ImuReading):
    """Reading of an IMU that computes the biases of its orientation on demand.

    Parameters
    ----------
    true_orientation : ndarray, shape (4,) or (samples, 4)
        True orientation.
    **parts
        Known quantities of the reading by name.
    """

    __slots__ = ("_true_orientation",)

    def __init__(self, true_orientation: np.ndarray, **parts):
        super().__init__(**parts)
        self._true_orientation = true_orientation

    @cached_property
    def yaw_bias(self) -> float | np.ndarray:
        simulated, true, functions = self._quaternions()
        return difference(_yaw(functions, *simulated), _yaw(functions, *true))

    @cached_property
    def orientation_bias(self) -> np.ndarray:
        simulated, true, _ = self._quaternions()
        # orientation * truth^-1
        conjugate = (*(-component for component in true[:3]), true[3])
        return np.stack(quaternion_product(*simulated, *conjugate), axis=-1)

    def _quaternions(self) -> tuple[Any, Any, Any]:
        """Return simulated and true quaternion components, and the module for their type."""
        if self.orientation.ndim == 1:
            # For a single sample, most of NumPy's run time is overhead.
            return self.orientation.tolist(), np.asarray(self._true_orientation).tolist(), math
        return self.orientation.T, self._true_orientation.T, np


class SeriesReading(SpecificationReading):
    """Reading of consecutive samples that computes orientation and magnetic field on demand.

    Parameters
    ----------
    fusion : Fusion or None
        Fusion of the orientation; None for the true orientation.
    read_field : iterator of tuple of ndarray
        Iterator that simulates the magnetic field; empty without a magnetometer.
    true_orientation : ndarray, shape (samples, 4)
        True orientation.
    **parts : ndarray
        Known quantities of the reading by name.
    """

    __slots__ = ("_fusion", "_read_field")

    def __init__(self, fusion: Fusion | None, read_field, true_orientation: np.ndarray, **parts):
        super().__init__(true_orientation, **parts)
        self._fusion, self._read_field = fusion, read_field

    @cached_property
    def orientation(self) -> np.ndarray:
        return self._true_orientation if self._fusion is None else self._fusion.run()

    @cached_property
    def magnetic_field(self) -> np.ndarray:
        reading = next(self._read_field, None)
        return self._compute("magnetic_field") if reading is None else reading[0]


class LastReading(ImuReading):
    """Reading of the last sample of a series.

    Parameters
    ----------
    series : ImuReading
        Reading with the shape (samples, ...).
    """

    __slots__ = ("_series",)

    def __init__(self, series: ImuReading):
        super().__init__()
        self._series = series

    def _compute(self, name: str) -> Any:
        return getattr(self._series, name)[-1]


class HeldReading(ImuReading):
    """Reading at all samples of a simulation, held between the samples of a slower sensor.

    Parameters
    ----------
    early : ImuReading
        Reading before the first sample of the sensor.
    reading : ImuReading
        Reading of the samples of the sensor.
    index : ndarray of int
        Index of the sensor's sample that is held at each sample after the early ones.
    """

    __slots__ = ("_early", "_index", "_reading")

    def __init__(self, early: ImuReading, reading: ImuReading, index: np.ndarray):
        super().__init__()
        self._early, self._reading, self._index = early, reading, index

    def _compute(self, name: str) -> np.ndarray:
        early_reading, last_reading = (
            getattr(self._early, name),
            getattr(self._reading, name)[self._index],
        )
        return np.concatenate([early_reading, last_reading])


def _yaw(functions, x, y, z, w):
    arctan2 = functions.atan2 if functions is math else functions.arctan2
    return arctan2(2.0 * (x * y + w * z), w * w + x * x - y * y - z * z)


def _zero_gyroscope(zeroing, rate, rate_bias, force, is_stationary):
    """Return zeroed rates, their bias, and the rates for the filter, each (3,) or (n, 3)."""
    if zeroing is None:
        return rate, rate_bias, rate
    is_stationary = None if is_stationary is None else np.atleast_1d(is_stationary)
    corrected, is_still = zeroing.advance(np.atleast_2d(rate), np.atleast_2d(force), is_stationary)
    zeroed = np.where(is_still[:, np.newaxis], 0.0, corrected).reshape(rate.shape)
    corrected = corrected.reshape(rate.shape)
    return corrected, rate_bias + (corrected - rate), zeroed


def sample_instants(output: OutputSpecification, period: float, seed) -> tuple[int, int]:
    """Return the index of a sensor's first sample and its stride, in samples of the simulation.

    Parameters
    ----------
    output : OutputSpecification
        Rate and start offset of the sensor.
    period : float
        Sampling period of the simulation [s].
    seed : int or numpy.random.SeedSequence
        Seed of all runs. A child of its first run determines a random start offset.

    Returns
    -------
    first, stride : int
        Index of the first sample, and number of samples from one reading to the next.

    Raises
    ------
    ConfigurationError
        If the sensor is slower than the simulation, whose rate is not a multiple of the sensor's.
    """
    ratio = 1.0 / (output.rate * period)
    stride = max(1, round(ratio))
    if ratio > 1.0 and abs(ratio - stride) > 1e-6 * ratio:
        raise ConfigurationError(
            f"output.rate is {output.rate:g} Hz, expected the simulation's {1.0 / period:g} Hz "
            f"divided by an integer, such as {1.0 / (stride * period):g} Hz, or a higher rate"
        )
    offset = output.start_offset
    if output.random_start_offset > 0.0:
        drawn = child_generator(run_seed(seed, 0), len(TRIADS) + 1).random()
        offset += drawn * output.random_start_offset
    return round(offset / period), stride


@dataclass(frozen=True)
class SpecificationParameters:
    """Specification of an IMU, and how its gyroscope is zeroed in operation.

    Parameters
    ----------
    specification : ImuSpecification or mapping
        Specification, or a mapping with the keys of its YAML file.
    operation : Operation, mapping or None
        Gyroscope zeroing; by default, the gyroscope is not zeroed.
    latitude : float or None
        Latitude [deg] at which the gyroscope measures the Earth's rotation during the standstill;
        None for no rotation.
    """

    specification: ImuSpecification | Mapping[str, Any] = field(default_factory=ImuSpecification)
    operation: Operation | Mapping[str, Any] | None = None
    latitude: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.specification, ImuSpecification):
            specification = from_mapping(ImuSpecification, self.specification, "the specification")
            object.__setattr__(self, "specification", specification)
        if isinstance(self.operation, Mapping):
            operation = from_mapping(Operation, self.operation, "the operation")
            object.__setattr__(self, "operation", operation)


class SpecificationImu(ImuModel):
    """IMU with all errors of a specification; its orientation is fused from readings with errors.

    If the specification's rate is below that of the simulation, a reading is held until the next
    reading; ``has_new_sample`` distinguishes the two. Before the sensor's first sample, the reading
    has no errors, and no sample is output.

    The biases of a reading are those of its angular velocity and specific force, without noise and
    without errors that depend on the ideal signals (scale factor, misalignment, g-sensitivity).
    ``yaw_bias`` and ``orientation_bias`` are the complete error of the orientation.
    """

    def _set_up(self):
        specification: ImuSpecification = self.parameters.specification
        output = specification.output
        self._first, self._stride = sample_instants(output, self.period, self._seed)
        self._sensor_period = self._stride * self.period
        self.first_sample_time = self._first * self.period
        self._use(specification)
        self.drop_repeated = output.drop_repeated
        self.has_magnetometer = len(self._triads) == 3
        self._vibrates = specification.vibration.active
        operation = self.parameters.operation
        self._knows_stops = operation is not None and operation.knows_stops
        self.requires_speed = self._vibrates or self._knows_stops
        self.bno055_mode = output.bno055_mode
        self._filter = make_filter(output, self._sensor_period)
        self._fuses = output.orientation_reference == "fusion"
        self._fuses_field = output.fuses_magnetometer
        self._since_power_on = (
            0.0 if operation is None else operation.warm_up + operation.standstill
        )

    def _use(self, specification):
        """Switch to the errors of another specification whose section ``output`` is the same."""
        self._specification = specification
        self._triads = create_triads(specification, self._sensor_period)

    def _use_unit(self, seed):
        """Switch to a random sensor for this run, if the specification is that of a part number."""
        if self.parameters.specification.is_any_unit:
            self._use(self.parameters.specification.draw_unit(seed))

    @property
    def label(self) -> str:
        return f"specification_{self._specification.name}"

    def emitted(self, time, new):
        output = self._specification.output
        samples_per_period = output.rate * self.period
        # The arguments always describe the most recent samples.
        has_begun = np.maximum.accumulate(new) | (self._count - len(time) > self._first)
        emitted = np.flatnonzero(new if output.drop_repeated else has_begun)
        if not output.repeat_samples or samples_per_period <= 1.0:
            return emitted if output.drop_repeated or not has_begun.all() else None
        # Number of sampling instants of the sensor since the previous sample.
        passed_instants = [
            np.floor(instants * output.rate + 1e-3)
            for instants in (time[emitted] - self.period, time[emitted])
        ]
        return np.repeat(emitted, (passed_instants[1] - passed_instants[0]).astype(int))

    def _begin(self, seed):
        self._count = 0
        self.has_new_sample = False
        self._held = None
        self._use_unit(seed)
        self._realised = self._start(seed)
        self._recent = []

    def step(self, truth: ImuTruth) -> ImuReading:
        truth = self._measured(truth)
        sample_count = self._count - self._first
        self.has_new_sample = sample_count >= 0 and sample_count % self._stride == 0
        self._recent.append((truth.angular_velocity, truth.specific_force))
        if self.has_new_sample:
            self._held = self._sample(truth)
            self._recent = []
        elif sample_count < 0:
            self._held = ideal_reading(truth)
            self._recent = self._recent[-self._stride + 1 :] if self._stride > 1 else []
        self._count += 1
        return self._held

    def steps(self, truth: ImuTruth) -> tuple[ImuReading, np.ndarray]:
        # With a magnetic heading, a series would differ from single steps in the last digits.
        if self._between_samples() or self._fuses_field:
            return super().steps(truth)
        return self.advance(truth), np.ones(len(truth.orientation), dtype=bool)

    def advance(self, truth: ImuTruth) -> ImuReading:
        """Return the IMU readings at the next samples like repeated :meth:`step`, but faster.

        Parameters
        ----------
        truth : ImuTruth
            Ideal signals, shape (samples, ...).

        Returns
        -------
        ImuReading
        """
        truth = self._measured(truth).each(partial(np.asarray, dtype=float))
        samples = len(truth.orientation)
        if samples == 0:
            return ideal_reading(truth)
        if self._between_samples():
            return JoinedReading([self.step(sample) for sample in truth.samples()])
        time = self._times(np.arange(self._count, self._count + samples))
        started = self._count > self._first
        reading = self._series(self._series_of(truth, time), self._realised, self._filter, started)
        _ = reading.orientation  # computed at once, since the next samples continue from this state
        if truth.magnetic_field is not None:
            _ = reading.magnetic_field  # computed at once, as above
        self._count += samples
        self.has_new_sample = True
        self._held = LastReading(reading)
        return reading

    def _between_samples(self):
        """Return whether the sensor is slower than the simulation, or has not been sampled yet."""
        return self._stride > 1 or self._count < self._first

    def _prepare(self, truth):
        truth = self._measured(truth)
        if self.parameters.specification.is_any_unit:
            return truth, None  # each realisation is a different sensor
        return self._due(truth)

    def _due(self, truth):
        """Return the ideal signals at all samples, and the series at the samples of the sensor."""
        sample_indices = np.flatnonzero(self.new_samples(len(truth.orientation)))
        if len(sample_indices) == len(truth.orientation):
            return truth, self._series_of(truth, self._times(sample_indices))
        due_signals = truth.each(itemgetter(sample_indices))._replace(
            angular_velocity=self._means(truth.angular_velocity, sample_indices),
            specific_force=self._means(truth.specific_force, sample_indices),
        )
        return truth, self._series_of(due_signals, self._times(sample_indices))

    def _means(self, signal, sample_indices):
        """Return means (m, 3) of a signal (n, 3) over sensor periods that end at ``due`` (m,)."""
        if self._stride == 1:
            return signal[sample_indices]
        starts = np.maximum(sample_indices - self._stride + 1, 0)
        means = [
            np.mean(signal[start : end + 1], axis=0) for start, end in zip(starts, sample_indices)
        ]
        return np.array(means).reshape(-1, 3)

    def _times(self, numbers):
        """Convert sample numbers to times since power-on, (n, 1) [s]."""
        return (numbers * self.period + self._since_power_on)[:, np.newaxis]

    def _realise(self, prepared, seed):
        truth, series = prepared
        if series is None:
            unit = copy.copy(self)
            unit._use_unit(seed)
            return unit._realise(unit._due(truth), seed)
        filter = make_filter(self._specification.output, self._sensor_period)
        reading = self._series(series, self._start(seed), filter, started=False)
        samples = len(truth.orientation)
        if len(series.time) == samples:
            return reading
        # Before the sensor's first sample, readings have no errors; afterwards, they are held.
        early = ideal_reading(truth.each(itemgetter(slice(self._first))))
        index = np.arange(max(0, samples - self._first)) // self._stride
        return HeldReading(early, reading, index)

    def _series_of(self, truth, time):
        responses, is_stationary = self._respond(truth, time), self._is_stationary(truth)
        return TriadSeries(truth.orientation, time, responses, truth.speed, is_stationary)

    def _is_stationary(self, truth):
        """Return whether the robot is at rest, (n,) or (); None if the robot does not know this."""
        if not self._knows_stops:
            return None
        return is_at_rest(truth.speed, truth.angular_velocity)

    def _respond(self, truth, time):
        """Return the response of each triad to the ideal signals."""
        force = truth[2]
        signals = zip(self._triads, truth[1:])
        return [
            triad.respond(signal, force, time) for triad, signal in signals if signal is not None
        ]

    def _readings(self, realised, responses, draw, time, speed):
        """Yield the readings and the bias of one triad after another, computed on demand.

        ``draw`` returns noise and bias of these samples from a :class:`.TriadNoise`. The reading of
        a triad takes a third of the run time.
        """
        vibration = None
        if self._vibrates:
            vibration = realised.vibration.advance(np.size(speed)).reshape(*np.shape(speed), 3)
            vibration *= self._specification.vibration.amplitude(speed)[..., np.newaxis]
        for triad, values, noises, limit in zip(
            self._triads, responses, realised.noises, realised.limits
        ):
            noise, bias = draw(noises)
            if self._vibrates:
                bias = bias + triad.rectify_vibration(speed)
            yield triad.read(values, noise, bias, time, limit, vibration)

    def _series(self, series, realised, filter, started):
        """Return the readings of consecutive samples of the sensor."""
        orientation, time, responses, speed, is_stationary = series
        samples = len(time)
        if not started and samples:
            self._zero_at_standstill(realised, orientation[0])
        read = self._readings(
            realised, responses, lambda noise: noise.advance(samples), time, speed
        )
        (rate, rate_bias), (force, force_bias) = next(read), next(read)
        rate, rate_bias, measured_rate = _zero_gyroscope(
            realised.zeroing, rate, rate_bias, force, is_stationary
        )
        parts = {}
        if self._fuses_field and len(responses) == 3:
            parts["magnetic_field"] = next(read)[0]
        fusion = None
        if self._fuses and samples:
            start = None if started else orientation[0]
            fusion = Fusion(filter, start, measured_rate, force, parts.get("magnetic_field"))
        return SeriesReading(
            fusion,
            read,
            orientation,
            angular_velocity=rate,
            specific_force=force,
            angular_velocity_bias=rate_bias,
            specific_force_bias=force_bias,
            **parts,
        )

    def _sample(self, truth):
        time = self._count * self.period + self._since_power_on
        first, realised = self._count == self._first, self._realised
        rate, force = (
            (values[0] if len(values) == 1 else np.mean(values, axis=0))
            for values in zip(*self._recent)
        )
        responses = self._respond((None, rate, force, *truth[3:]), time)
        is_stationary = self._is_stationary(truth._replace(angular_velocity=rate))
        orientation = np.asarray(truth.orientation, dtype=float)
        if first:
            self._zero_at_standstill(realised, orientation)
        (rate, rate_bias), (force, force_bias), *magnetic = self._readings(
            realised, responses, TriadNoise.step, time, truth.speed
        )
        rate, rate_bias, measured_rate = _zero_gyroscope(
            realised.zeroing, rate, rate_bias, force, is_stationary
        )
        parts = {"magnetic_field": magnetic[0][0]} if magnetic else {}
        if self._fuses:
            field = parts.values() if self._fuses_field else ()
            if first:
                orientation = self._filter.start(orientation, force, *field)
            else:
                orientation = self._filter.update(measured_rate, force, *field)
        parts["orientation"] = orientation
        return SpecificationReading(
            truth.orientation,
            angular_velocity=rate,
            specific_force=force,
            angular_velocity_bias=rate_bias,
            specific_force_bias=force_bias,
            **parts,
        )

    def new_samples(self, samples: int) -> np.ndarray:
        new = np.zeros(samples, dtype=bool)
        new[self._first :: self._stride] = True
        return new

    def covariances(self):
        """Return the covariances of the specification, row by row; that of yaw is after 600 s."""
        return self._specification.covariances(self._sensor_period)

    def magnetic_covariance(self):
        return self._specification.magnetic_covariance(self._sensor_period)

    def _start(self, seed):
        """Create the initial state of a new realisation."""
        operation = self.parameters.operation
        vibration = None
        if self._vibrates:
            vibration = VibrationNoise(
                self._specification.vibration,
                1.0 / self._sensor_period,
                self._specification.accelerometer.bandwidth,
                child_seed(seed, len(TRIADS)),
            )
        return RealisedTriads(
            [
                triad.noise.restarted(child_seed(seed, child))
                for child, triad in enumerate(self._triads)
            ],
            [triad.band_limit() for triad in self._triads],
            vibration,
            None if operation is None else Zeroing(operation, self._sensor_period),
        )

    def _zero_at_standstill(self, realised, orientation):
        """Zero the gyroscope during the standstill before the first sample, if there is one."""
        zeroing = realised.zeroing
        if zeroing is None or zeroing.samples_before == 0:
            return
        from scipy.spatial.transform import Rotation

        samples = zeroing.samples_before
        _, rate, force, *_ = ImuTruth.at_rest(samples, orientation)
        if self.parameters.latitude is not None:
            latitude = math.radians(self.parameters.latitude)
            turning = EARTH_RATE * np.array([0.0, math.cos(latitude), math.sin(latitude)])
            rate = rate + Rotation.from_quat(orientation).inv().apply(turning)
        time = self._since_power_on - self._sensor_period * np.arange(samples, 0, -1)[:, np.newaxis]
        responses = self._respond((None, rate, force), time)
        read = self._readings(
            realised, responses, lambda noise: noise.advance(samples), time, np.zeros(samples)
        )
        # The accelerometer is used only by a detector of stops.
        zeroing.begin(*(readings for readings, _ in islice(read, 2 if zeroing.detects else 1)))

    def detected_standstills(self, truth: ImuTruth) -> tuple[Standstill, ...]:
        """Return the stops that the standstill detector finds during a drive in run 0.

        Parameters
        ----------
        truth : ImuTruth
            Ideal signals with the shape for :meth:`.ImuModel.batch`.

        Returns
        -------
        tuple of Standstill
            Detected stops in the order of the drive.
        """
        seed, unit = run_seed(self._seed, 0), copy.copy(self)
        unit._use_unit(seed)
        _, series = unit._due(self._measured(truth.each(partial(np.asarray, dtype=float))))
        realised = unit._start(seed)
        unit._series(series, realised, None, started=False)
        return realised.zeroing.finished()

    def _measured(self, truth):
        """Return the ideal signals that the model uses, without those of missing sensors."""
        if self.requires_speed and truth.speed is None:
            cause = "vibration" if self._vibrates else "stops"
            raise ConfigurationError(
                f"the IMU's setting {cause} requires the speed, which this motion does not have"
            )
        field = truth.magnetic_field if self.has_magnetometer else None
        speed = truth.speed if self.requires_speed else None
        if field is truth.magnetic_field and speed is truth.speed:
            return truth
        return ImuTruth(*truth[:3], field, speed)
