r"""An IMU as its specification says, sample by sample or many runs at once.

In each of the sensor's samples, with f the mean of the true signal since the last one,

.. math::

    y = \mathrm{round}(\mathrm{clip}((I + M + S_T \Delta T + S_V \Delta V) f + G a
        + K_2 (f^2 + \sigma^2) + R |\sigma|^2 + b + b_T \Delta T + b_V \Delta V + n))

where M is scale factor and misalignment, :math:`S_T` and :math:`b_T` the temperature
coefficients, G the gyroscope's sensitivity to the specific force a, b the bias (turn-on bias,
bias instability, random walk, Gauss-Markov process, ramp) and n the noise (white noise and
quantisation). A magnetometer's f is the field with its iron, ``soft_iron B + hard_iron``, at
the sample's instant. The orientation comes from gyroscope and accelerometer alone, by a filter that
has no reference for the yaw, as in a BNO055's IMU mode: the yaw's error is that of the gyroscope,
integrated. Where a specification has them, :math:`S_V` and :math:`b_V` are the supply voltage's
coefficients, K2 the nonlinearity, and R the rectification of a vibration whose mean square is
:math:`\sigma^2`; the vibration itself belongs to n, and a sensor with a bandwidth gives what its
low-pass makes of signal and noise (:mod:`.sensors.conditions`).
With a magnetic heading the filter takes the yaw from the magnetometer.

With an :class:`.Operation` the sensor stood still before the first sample: the gyroscope's mean
there is taken off its readings, and stops on the way do the same anew and hold the heading.
"""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass, field
from functools import partial
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
from ..operation import Operation, Standstill, Zeroing, stands_still
from ..triad_errors import TriadNoise, create_triads
from ..triads import TRIADS
from .base import MAGNETIC_PARTS, ImuModel, ImuReading, ImuTruth, joined, untouched


class TriadSeries(NamedTuple):
    """Samples that are all due, what each triad makes of the truth; whether the robot stands."""

    orientation: np.ndarray
    time: np.ndarray
    of_truth: list[np.ndarray]
    speed: np.ndarray | None
    stands: np.ndarray | None


class RealisedTriads(NamedTuple):
    """What has a state in a realisation: noises and low-passes, vibration, the offset taken."""

    noises: list[TriadNoise]
    limits: list[BandLimit | None]
    vibration: VibrationNoise | None
    zeroing: Zeroing | None


def reading_of(truth, rate, force, rate_bias, force_bias, later, **parts):
    """Return a reading of one sample or of (samples, ...).

    ``truth``: the true orientation. ``later``: functions that compute parts if they are asked for.
    """

    def ask(reading, name):
        if name in later:
            return later[name]()
        if name in MAGNETIC_PARTS:
            raise AttributeError(f"this reading has no {name}")
        if reading.orientation.ndim == 1:
            # One sample at a time, a general library's overhead is most of the time.
            ours, true, functions = reading.orientation.tolist(), np.asarray(truth).tolist(), math
        else:
            ours, true, functions = reading.orientation.T, truth.T, np
        if name == "yaw_bias":
            return difference(_yaw(*ours, functions), _yaw(*true, functions))
        # orientation * truth^-1
        conjugate = (*(-component for component in true[:3]), true[3])
        return np.stack(quaternion_product(*ours, *conjugate), axis=-1)

    return ImuReading(
        ask,
        angular_velocity=rate,
        specific_force=force,
        angular_velocity_bias=rate_bias,
        specific_force_bias=force_bias,
        **parts,
    )


def _yaw(x, y, z, w, functions):
    arctan2 = functions.atan2 if functions is math else functions.arctan2
    return arctan2(2.0 * (x * y + w * z), w * w + x * x - y * y - z * z)


def _zeroed(zeroing, rate, rate_bias, force, stands):
    """Return rates less the offset, their bias, and what the filter turns by, (3,) or (n, 3)."""
    if zeroing is None:
        return rate, rate_bias, rate
    stands = None if stands is None else np.atleast_1d(stands)
    corrected, still = zeroing.advance(np.atleast_2d(rate), np.atleast_2d(force), stands)
    turned = np.where(still[:, np.newaxis], 0.0, corrected).reshape(rate.shape)
    corrected = corrected.reshape(rate.shape)
    return corrected, rate_bias + (corrected - rate), turned


def sample_instants(output: OutputSpecification, period: float, seed) -> tuple[int, int]:
    """Return the sensor's first sample and its stride, in samples of a simulation, in all runs.

    ``period``: the simulation's [s]. ``seed``: of a child of its first run a random beginning is
    drawn. Raises :class:`.ConfigurationError` for a rate below the simulation's, but no whole
    fraction of it.
    """
    ratio = 1.0 / (output.rate * period)
    stride = max(1, round(ratio))
    if ratio > 1.0 and abs(ratio - stride) > 1e-6 * ratio:
        raise ConfigurationError(
            f"output.rate is {output.rate:g} Hz, but it must be a whole fraction of the "
            f"simulation's {1.0 / period:g} Hz, as {1.0 / (stride * period):g} Hz, or not "
            "below it."
        )
    offset = output.start_offset
    if output.random_start_offset > 0.0:
        drawn = child_generator(run_seed(seed, 0), len(TRIADS) + 1).random()
        offset += drawn * output.random_start_offset
    return round(offset / period), stride


@dataclass(frozen=True)
class SpecificationParameters:
    """A specification, and how the sensor is used.

    ``specification``: a mapping holds what the specification's YAML file holds. ``operation``: by
    default readings are as the sensor has them from the first one on. ``latitude``: where
    the Earth's turning is read at standstill [deg].
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
    """All errors of a specification; the orientation is fused from the erroneous readings.

    Where the specification's rate is below the simulation's, a reading is held until the next
    one; ``has_new_sample`` tells the two apart. Before the sensor's first sample the reading
    is the truth, and none is emitted.

    The biases of a reading are those of its angular velocity and specific force without noise,
    and without what depends on the truth (scale factor, misalignment, g-sensitivity).
    ``yaw_bias`` and ``orientation_bias`` are all of the orientation's error.
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
        """Have the errors of another specification, whose section ``output`` is the same."""
        self._specification = specification
        self._triads = create_triads(specification, self._sensor_period)

    def _be_unit(self, seed):
        """Be the unit of this realisation, where it may be any of a part's."""
        if self.parameters.specification.is_any_unit:
            self._use(self.parameters.specification.draw_unit(seed))

    @property
    def label(self) -> str:
        return f"specification_{self._specification.name}"

    def emitted(self, time, new):
        output = self._specification.output
        times = output.rate * self.period
        # The samples are the last of those that were stepped through.
        has_begun = np.maximum.accumulate(new) | (self._count - len(time) > self._first)
        given = np.flatnonzero(new if output.drop_repeated else has_begun)
        if not output.repeat_samples or times <= 1.0:
            return given if output.drop_repeated or not has_begun.all() else None
        # How many of the sensor's instants have passed since the sample before.
        passed = [
            np.floor(at * output.rate + 1e-3) for at in (time[given] - self.period, time[given])
        ]
        return np.repeat(given, (passed[1] - passed[0]).astype(int))

    def _begin(self, seed):
        self._count = 0
        self.has_new_sample = False
        self._held = None
        self._be_unit(seed)
        self._realised = self._start(seed)
        self._recent = []

    def step(self, truth: ImuTruth) -> ImuReading:
        truth = self._measured(truth)
        since = self._count - self._first
        self.has_new_sample = since >= 0 and since % self._stride == 0
        self._recent.append((truth.angular_velocity, truth.specific_force))
        if self.has_new_sample:
            self._held = self._sample(truth)
            self._recent = []
        elif since < 0:
            self._held = untouched(truth)
            self._recent = self._recent[-self._stride + 1 :] if self._stride > 1 else []
        self._count += 1
        return self._held

    def steps(self, truth: ImuTruth) -> tuple[ImuReading, np.ndarray]:
        # A series with a magnetic heading has other last digits.
        if self._between_samples() or self._fuses_field:
            return super().steps(truth)
        return self.advance(truth), np.ones(len(truth.orientation), dtype=bool)

    def advance(self, truth: ImuTruth) -> ImuReading:
        """Return the readings of the next samples: as stepping through them would, but faster."""
        truth = self._measured(truth).each(partial(np.asarray, dtype=float))
        samples = len(truth.orientation)
        if samples == 0:
            return untouched(truth)
        if self._between_samples():
            return joined([self.step(sample) for sample in truth.samples()])
        time = self._times(np.arange(self._count, self._count + samples))
        started = self._count > self._first
        reading = self._series(self._series_of(truth, time), self._realised, self._filter, started)
        _ = reading.orientation  # now, as the filter goes on from here
        if truth.magnetic_field is not None:
            _ = reading.magnetic_field  # and so does the noise
        self._count += samples
        self.has_new_sample = True
        self._held = ImuReading(lambda _, name: getattr(reading, name)[-1])
        return reading

    def _between_samples(self):
        """Whether samples of the simulation are, or are still, without one of the sensor."""
        return self._stride > 1 or self._count < self._first

    def _prepared(self, truth):
        truth = self._measured(truth)
        if self.parameters.specification.is_any_unit:
            return truth, None  # each realisation is another one
        return self._due(truth)

    def _due(self, truth):
        """Return a truth (of all samples) and what the triads make of those that are due."""
        due = np.flatnonzero(self.new_samples(len(truth.orientation)))
        if len(due) == len(truth.orientation):
            return truth, self._series_of(truth, self._times(due))
        at_due = truth.each(itemgetter(due))._replace(
            angular_velocity=self._means(truth.angular_velocity, due),
            specific_force=self._means(truth.specific_force, due),
        )
        return truth, self._series_of(at_due, self._times(due))

    def _means(self, signal, due):
        """Return means (m, 3) of a signal (n, 3) since the sample before each that is due, (m,)."""
        if self._stride == 1:
            return signal[due]
        starts = np.maximum(due - self._stride + 1, 0)
        means = [np.mean(signal[start : end + 1], axis=0) for start, end in zip(starts, due)]
        return np.array(means).reshape(-1, 3)

    def _times(self, numbers):
        """Return when samples are, since power on, (n, 1) [s]."""
        return (numbers * self.period + self._since_power_on)[:, np.newaxis]

    def _realise(self, prepared, seed):
        truth, series = prepared
        if series is None:
            one = copy.copy(self)
            one._be_unit(seed)
            return one._realise(one._due(truth), seed)
        filter = make_filter(self._specification.output, self._sensor_period)
        reading = self._series(series, self._start(seed), filter, started=False)
        samples = len(truth.orientation)
        if len(series.time) == samples:
            return reading
        # The sensor's readings at all samples: the truth before the first, each held after.
        early = untouched(truth.each(itemgetter(slice(self._first))))
        index = np.arange(max(0, samples - self._first)) // self._stride
        return ImuReading(
            lambda _, name: np.concatenate([getattr(early, name), getattr(reading, name)[index]])
        )

    def _series_of(self, truth, time):
        of_truth, stands = self._of_truth(truth, time), self._stands(truth)
        return TriadSeries(truth.orientation, time, of_truth, truth.speed, stands)

    def _stands(self, truth):
        """Return whether the robot stands (n,) or (), where it knows that; else None."""
        if not self._knows_stops:
            return None
        return stands_still(truth.speed, truth.angular_velocity)

    def _of_truth(self, truth, time):
        """Return what each triad makes of the truth alone."""
        force = truth[2]
        signals = zip(self._triads, truth[1:])
        return [
            triad.respond(signal, force, time) for triad, signal in signals if signal is not None
        ]

    def _readings(self, realised, of_truth, drawn, time, speed):
        """Yield readings and bias of each triad, drawn when it is asked for: a third of the noise.

        ``drawn``: draws noise and bias of these samples from a :class:`.TriadNoise`.
        """
        vibration = None
        if self._vibrates:
            vibration = realised.vibration.advance(np.size(speed)).reshape(*np.shape(speed), 3)
            vibration *= self._specification.vibration.amplitude(speed)[..., np.newaxis]
        for triad, values, noises, limit in zip(
            self._triads, of_truth, realised.noises, realised.limits
        ):
            noise, bias = drawn(noises)
            if self._vibrates:
                bias = bias + triad.rectify_vibration(speed)
            yield triad.read(values, noise, bias, time, limit, vibration)

    def _series(self, series, realised, filter, started):
        """Return the readings of samples that are all due."""
        orientation, time, of_truth, speed, stands = series
        samples = len(time)
        if not started and samples:
            self._stand(realised, orientation[0])
        read = self._readings(realised, of_truth, lambda noise: noise.advance(samples), time, speed)
        (rate, rate_bias), (force, force_bias) = next(read), next(read)
        rate, rate_bias, turned = _zeroed(realised.zeroing, rate, rate_bias, force, stands)
        magnetic = len(of_truth) == 3
        field = next(read)[0] if magnetic and self._fuses_field else None

        def fused():
            if not (self._fuses and samples):
                return orientation
            if started:
                return filter.update_all(turned, force, field)
            return fuse_run(filter, orientation[0], turned, force, field)

        later = {"orientation": fused}
        if magnetic:
            later["magnetic_field"] = lambda: next(read)[0] if field is None else field
        return reading_of(orientation, rate, force, rate_bias, force_bias, later)

    def _sample(self, truth):
        time = self._count * self.period + self._since_power_on
        first, realised = self._count == self._first, self._realised
        rate, force = (
            (values[0] if len(values) == 1 else np.mean(values, axis=0))
            for values in zip(*self._recent)
        )
        of_truth = self._of_truth((None, rate, force, *truth[3:]), time)
        stands = self._stands(truth._replace(angular_velocity=rate))
        orientation = np.asarray(truth.orientation, dtype=float)
        if first:
            self._stand(realised, orientation)
        (rate, rate_bias), (force, force_bias), *magnetic = self._readings(
            realised, of_truth, TriadNoise.step, time, truth.speed
        )
        rate, rate_bias, turned = _zeroed(realised.zeroing, rate, rate_bias, force, stands)
        parts = {"magnetic_field": magnetic[0][0]} if magnetic else {}
        if self._fuses:
            field = parts.values() if self._fuses_field else ()
            if first:
                orientation = self._filter.start(orientation, force, *field)
            else:
                orientation = self._filter.update(turned, force, *field)
        parts["orientation"] = orientation
        return reading_of(truth.orientation, rate, force, rate_bias, force_bias, {}, **parts)

    def new_samples(self, samples: int) -> np.ndarray:
        new = np.zeros(samples, dtype=bool)
        new[self._first :: self._stride] = True
        return new

    def covariances(self):
        """Return the covariances of the specification, row by row; the yaw's after 600 s."""
        return self._specification.covariances(self._sensor_period)

    def magnetic_covariance(self):
        return self._specification.magnetic_covariance(self._sensor_period)

    def _start(self, seed):
        """Begin what changes from sample to sample of a new realisation."""
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

    def _stand(self, realised, orientation):
        """Let the sensor stand before its first sample, if it is to, and take its offset there."""
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
        of_truth = self._of_truth((None, rate, force), time)
        read = self._readings(
            realised, of_truth, lambda noise: noise.advance(samples), time, np.zeros(samples)
        )
        # Only a detector looks at the accelerometer.
        zeroing.begin(*(readings for readings, _ in islice(read, 2 if zeroing.detects else 1)))

    def detected_standstills(self, truth: ImuTruth) -> tuple[Standstill, ...]:
        """Return at which stops on the way the detector of run 0 takes the sensor for standing.

        ``truth``: as for :meth:`.ImuModel.batch`.
        """
        seed, one = run_seed(self._seed, 0), copy.copy(self)
        one._be_unit(seed)
        _, series = one._due(self._measured(truth.each(partial(np.asarray, dtype=float))))
        realised = one._start(seed)
        one._series(series, realised, None, started=False)
        return realised.zeroing.finished()

    def _measured(self, truth):
        """Return of the truth what this IMU feels: the field with a magnetometer only."""
        if self.requires_speed and truth.speed is None:
            what = "vibration depends" if self._vibrates else "stops that are found depend"
            raise ConfigurationError(f"{what} on the speed, which is not known of this motion.")
        field = truth.magnetic_field if self.has_magnetometer else None
        speed = truth.speed if self.requires_speed else None
        if field is truth.magnetic_field and speed is truth.speed:
            return truth
        return ImuTruth(*truth[:3], field, speed)
