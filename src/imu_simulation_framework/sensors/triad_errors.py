r"""The errors of three equal sensors: noise, and how they respond to the truth.

The equation is that of :mod:`.imu_models.specification`; :math:`\sigma^2` in it is the mean square
of the vibration along each axis, which the accelerometer's :math:`f` does not have in it.
"""

from __future__ import annotations

import copy

import numpy as np

from .conditions import BandLimit
from .imu_specification import ImuSpecification, MagnetometerSpecification, TriadSpecification
from .noise.processes import (
    BLOCK,
    BiasInstability,
    GaussMarkov,
    Quantisation,
    RandomWalk,
    RateRamp,
    WhiteNoise,
)
from .noise.streams import child_generator, run_seed
from .triads import TRIADS


class TriadNoise:
    """The sum of a specification's processes, as noise and as bias.

    Noise is what differs from sample to sample (white noise, quantisation); bias is what changes
    slowly (turn-on bias, bias instability, random walk, Gauss-Markov process, ramp). Each process
    draws from a generator of its own, so that one more of them does not change the others.

    ``period``: time from one sample to the next [s]. ``seed`` (numpy.random.SeedSequence): of this
    realisation. It is not changed: equal seeds give equal realisations.
    """

    def __init__(self, specification: TriadSpecification, period: float, seed):
        s = specification
        self._turn_on = (np.array(s.turn_on_bias), np.array(s.turn_on_bias_sigma))
        self._prototypes = (
            WhiteNoise(s.white_noise, period, None),
            Quantisation(s.quantisation, period, None),
            BiasInstability(s.bias_instability, s.bias_instability_band, period, None),
            RandomWalk(s.random_walk, period, None),
            GaussMarkov(s.gauss_markov_sigma, s.gauss_markov_time, period, None),
            RateRamp(s.rate_ramp, period),
        )
        self._begin(seed)

    def restarted(self, seed) -> TriadNoise:
        """Return another realisation of the same; faster than making one from the beginning."""
        noise = copy.copy(self)
        noise._begin(seed)
        return noise

    def together(self, noises) -> TriadNoise:
        """Return the noises of many, side by side: a step's are (3, n); it cannot advance."""
        one = copy.copy(self)
        one._turn_on_bias = np.stack([noise._turn_on_bias for noise in noises], axis=-1)
        one._noises, one._biases = (
            [processes[0].together(processes) for processes in zip(*each)]
            for each in zip(*((noise._noises, noise._biases) for noise in noises))
        )
        return one

    def put(self, members, noises):
        """Let some of the members side by side, by number, begin anew as other noises do."""
        self._turn_on_bias[:, members] = np.stack([one._turn_on_bias for one in noises], axis=-1)
        theirs = zip(*((*noise._noises, *noise._biases) for noise in noises))
        for process, others in zip((*self._noises, *self._biases), theirs):
            process.put(members, others)

    def _begin(self, seed):
        mean, sigma = self._turn_on
        self._turn_on_bias = mean + sigma * child_generator(seed, 0).standard_normal(3)
        self._noises, self._biases = [], []
        for index, prototype in enumerate(self._prototypes):
            if prototype.active:
                process = prototype.restarted(child_generator(seed, index + 1))
                (self._noises if index < 2 else self._biases).append(process)

    def step(self):
        """Return noise and bias of the next sample, (3,) each."""
        bias = self._turn_on_bias.copy()
        for process in self._biases:
            bias += process.step()
        noise = np.zeros_like(bias)
        for process in self._noises:
            noise += process.step()
        return noise, bias

    def advance(self, samples: int):
        """Return noise and bias of the next samples, (samples, 3) each."""
        noise = np.empty((samples, 3)) if self._noises else np.zeros((samples, 3))
        bias = np.empty((samples, 3))
        bias[...] = self._turn_on_bias
        block = np.empty((min(BLOCK, samples), 3))
        for first in range(0, samples, BLOCK):
            count = min(BLOCK, samples - first)
            some = slice(first, first + count)
            for number, process in enumerate(self._noises):
                if number == 0:
                    process.fill(noise[some])
                else:
                    process.fill(block[:count])
                    noise[some] += block[:count]
            for process in self._biases:
                process.fill(block[:count])
                bias[some] += block[:count]
        return noise, bias


class Triad:
    """One of the three-sensor parts of an IMU: what it makes of the truth, of noise and of bias.

    ``name``: which of :data:`.triads.TRIADS` it is. ``period``: of its samples [s]. ``noise`` is a
    prototype of its realisations.
    """

    def __init__(self, name: str, specification: ImuSpecification, period: float):
        triad: TriadSpecification = getattr(specification, name)
        self.noise = TriadNoise(triad, period, run_seed(0, 0))
        self._rate, self._bandwidth = 1.0 / period, triad.bandwidth
        self._kind = TRIADS[name]
        self._iron = None
        if isinstance(triad, MagnetometerSpecification):
            self._iron = np.array(triad.hard_iron), unless_identity(np.array(triad.soft_iron))
        self._matrix = unless_identity(np.eye(3) + np.array(triad.scale_factor_and_misalignment))
        self._g_sensitivity = _unless_zero(triad.g_sensitivity)
        # Coefficients of the bias and of the scale factor, each with what they are per unit of.
        self._conditions = [
            (_unless_zero(bias), _unless_zero(scale), condition)
            for bias, scale, condition in (
                (triad.temperature_bias, triad.temperature_scale_factor, specification.temperature),
                (triad.supply_bias, triad.supply_scale_factor, specification.supply),
            )
            if any(bias) or any(scale)
        ]
        self._nonlinearity = _unless_zero(triad.nonlinearity)
        self._rectification = _unless_zero(triad.vibration_rectification)
        self._vibration = specification.vibration
        self._mean_square = self._vibration.mean_square
        self._saturation = None if triad.saturation is None else _one_if_equal(triad.saturation)
        resolution = np.array(triad.resolution)
        self._rounded = resolution > 0.0
        self._all_rounded = bool(self._rounded.all())
        self._steps = None
        if self._rounded.any():
            self._steps = _one_if_equal(np.where(self._rounded, resolution, 1.0))

    def together(self, triads) -> Triad:
        """Return one of many units, whose signals and noises are then (..., n, 3)."""
        one = copy.copy(self)

        def each(values):
            return None if values is None else np.repeat(values[np.newaxis], len(triads), axis=0)

        one._matrix, one._g_sensitivity, one._nonlinearity, *parts = map(each, self._coefficients())
        conditions = [condition for *_, condition in self._conditions]
        one._conditions = list(zip(parts[::2], parts[1::2], conditions))
        one.put(range(len(triads)), triads)
        return one

    def put(self, members, triads):
        """Let some of the units, by number, respond as others."""
        theirs = zip(*(triad._coefficients() for triad in triads))
        for values, others in zip(self._coefficients(), theirs):
            if values is not None:
                values[members] = others

    def _coefficients(self):
        """Return what differs from unit to unit, (3, 3) or (3,) each, None for nothing."""
        parts = [values for *both, _ in self._conditions for values in both]
        return [self._matrix, self._g_sensitivity, self._nonlinearity, *parts]

    def band_limit(self) -> BandLimit | None:
        """Return the low-pass of a new realisation; from half of the rate on there is none."""
        if self._bandwidth is None or self._bandwidth >= 0.5 * self._rate:
            return None
        return BandLimit(self._bandwidth, self._rate)

    def of_truth(self, signal, force, time):
        """Return what it makes of signal and specific force, without noise, bias and limits.

        Of (3,) and a time [s], or of (samples, 3) and (samples, 1).
        """
        if self._iron is not None:
            hard, soft = self._iron
            signal = matrix_times(soft, signal) + hard
        # Products of rows, so that one sample and many give the same to the bit.
        reading = matrix_times(self._matrix, signal)
        if self._g_sensitivity is not None:
            reading += matrix_times(self._g_sensitivity, force)
        for _, scale, condition in self._conditions:
            if scale is not None:
                reading += scale * (condition.at(time) - condition.reference) * signal
        if self._nonlinearity is not None:
            reading += self._nonlinearity * np.square(signal)
        return reading

    def rectified(self, speed):
        """Return the bias (3,) or (samples, 3) that vibration at a speed or speeds [m/s] makes."""
        power = np.square(self._vibration.amplitude(speed))[..., np.newaxis]
        bias = np.zeros((*np.shape(speed), 3))
        if self._rectification is not None:
            bias = bias + self._rectification * np.sum(self._mean_square) * power
        if self._nonlinearity is not None and self._kind.measures_force:
            bias = bias + self._nonlinearity * self._mean_square * power
        return bias

    def _shaken(self, vibration):
        """Return what its readings have of a vibration, (3,) or (samples, 3) [m/s^2]: noise."""
        if self._kind.measures_force:
            return matrix_times(self._matrix, vibration)
        return 0.0 if self._g_sensitivity is None else matrix_times(self._g_sensitivity, vibration)

    def read(self, of_truth, noise, bias, time, limit, vibration):
        """Return readings of that and their bias, with the noise and bias of a realisation.

        ``limit``: its low-pass, or None. ``vibration`` (3,) or (samples, 3): the specific force's,
        or None. For many samples, (n, 3), the array ``noise`` may be overwritten.
        """
        if limit is not None:
            signal = of_truth + noise
            of_truth = limit.advance(np.atleast_2d(signal)).reshape(signal.shape)
            noise = 0.0
        if vibration is not None:
            noise = noise + self._shaken(vibration)
        for per_unit, _, condition in self._conditions:
            if per_unit is not None:
                bias = bias + per_unit * (condition.at(time) - condition.reference)
        if np.ndim(noise) < 2:
            return self._limited(of_truth + bias, noise), bias
        # What is in the processor's cache is not fetched for each operation.
        for first in range(0, len(noise), BLOCK):
            some = slice(first, first + BLOCK)
            noise[some] = self._limited(of_truth[some] + bias[some], noise[some])
        return noise, bias

    def _limited(self, reading, noise):
        """Return what the range and the resolution leave of readings and noise."""
        reading += noise
        if self._saturation is not None:
            np.maximum(reading, -self._saturation, out=reading)
            np.minimum(reading, self._saturation, out=reading)
        if self._steps is not None:
            rounded = np.divide(reading, self._steps, out=reading if self._all_rounded else None)
            np.rint(rounded, out=rounded)
            rounded *= self._steps
            rounded += 0.0  # turns -0.0 into 0.0
            reading = rounded if self._all_rounded else np.where(self._rounded, rounded, reading)
        return reading


def triads_of(specification: ImuSpecification, period: float) -> list[Triad]:
    """Return the triads that an IMU has, whose samples have this period [s]."""
    return [
        Triad(name, specification, period)
        for name in TRIADS
        if getattr(specification, name) is not None
    ]


FEW = 100
"""Vectors of which a matrix is multiplied with each; of more, each row with all at once."""


def matrix_times(matrix, vectors):
    """Return a matrix (3, 3) times vectors (..., 3), the same to the bit for one and for many.

    None stands for the identity, of which the vectors are copied; a matrix may also be (n, 3, 3),
    one for each of vectors (..., n, 3).
    """
    if matrix is None:
        return np.array(vectors)
    if vectors.size <= 3 * FEW:
        x, y, z = vectors[..., 0:1], vectors[..., 1:2], vectors[..., 2:3]
        return matrix[..., 0] * x + matrix[..., 1] * y + matrix[..., 2] * z
    x, y, z = np.ascontiguousarray(np.moveaxis(vectors, -1, 0))
    product = np.empty(vectors.shape)
    for axis, row in enumerate(np.moveaxis(matrix, (-2, -1), (0, 1))):
        product[..., axis] = row[0] * x + row[1] * y + row[2] * z
    return product


def unless_identity(matrix: np.ndarray) -> np.ndarray | None:
    """Return a matrix for :func:`matrix_times`, None for the identity."""
    return None if np.array_equal(matrix, np.eye(3)) else matrix


def _one_if_equal(values):
    """Return three numbers as an array, or one for all three, which is faster."""
    values = np.array(values)
    return values[0] if (values == values[0]).all() else values


def _unless_zero(values):
    values = np.array(values)
    return values if values.any() else None
