r"""Errors of a triad of three identical sensors: noise, and response to ideal signals.

The response includes scale factors, misalignments, g-sensitivity, and for a magnetometer hard and
soft iron; readings saturate at the full scale and are rounded to the resolution.

The equation is that of :mod:`.imu_models.specification`. Its :math:`\sigma^2` is the mean square of
the vibration along each axis, which is not part of the accelerometer's :math:`f`.
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
    """Noise and bias of a triad, each of which is the sum of several random processes.

    Noise differs from sample to sample (white noise, which is the angle random walk of a gyroscope,
    and quantisation). Bias changes slowly (turn-on bias, bias instability, random walk,
    Gauss-Markov process, ramp). Each process has a separate random generator, so that adding a
    process does not change the others.

    Parameters
    ----------
    specification : TriadSpecification
        Errors of the triad.
    period : float
        Sampling period [s].
    seed : numpy.random.SeedSequence
        Seed of this realisation. It is not modified: the same seed yields the same realisation.
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
        """Return another realisation of the noise, faster than by creating a new object.

        Parameters
        ----------
        seed : numpy.random.SeedSequence
            Seed of the new realisation.

        Returns
        -------
        TriadNoise
        """
        noise = copy.copy(self)
        noise._begin(seed)
        return noise

    def stack(self, noises) -> TriadNoise:
        """Return the combined noise of n triads, which is simulated in parallel.

        Parameters
        ----------
        noises : sequence of TriadNoise
            Noises of the members.

        Returns
        -------
        TriadNoise
            Noise with samples of the shape (3, n), which only supports single steps.
        """
        parallel = copy.copy(self)
        parallel._turn_on_bias = np.stack([noise._turn_on_bias for noise in noises], axis=-1)
        parallel._noises, parallel._biases = (
            [processes[0].stack(processes) for processes in zip(*each)]
            for each in zip(*((noise._noises, noise._biases) for noise in noises))
        )
        return parallel

    def replace_members(self, members, noises):
        """Replace the noise of some of the triads that are simulated in parallel.

        Parameters
        ----------
        members : sequence of int
            Indices of the members.
        noises : sequence of TriadNoise
            New noises of the members.
        """
        self._turn_on_bias[:, members] = np.stack(
            [noise._turn_on_bias for noise in noises], axis=-1
        )
        member_processes = zip(*((*noise._noises, *noise._biases) for noise in noises))
        for process, others in zip((*self._noises, *self._biases), member_processes):
            process.replace_members(members, others)

    def _begin(self, seed):
        mean, sigma = self._turn_on
        self._turn_on_bias = mean + sigma * child_generator(seed, 0).standard_normal(3)
        self._noises, self._biases = [], []
        for index, prototype in enumerate(self._prototypes):
            if prototype.active:
                process = prototype.restarted(child_generator(seed, index + 1))
                (self._noises if index < 2 else self._biases).append(process)

    def step(self):
        """Compute the noise and the bias of the next sample.

        Returns
        -------
        noise, bias : ndarray, shape (3,)
            Noise and bias of the axes [unit of the triad].
        """
        bias = self._turn_on_bias.copy()
        for process in self._biases:
            bias += process.step()
        noise = np.zeros_like(bias)
        for process in self._noises:
            noise += process.step()
        return noise, bias

    def advance(self, samples: int):
        """Compute the noise and the bias of the next samples.

        Parameters
        ----------
        samples : int
            Number of samples.

        Returns
        -------
        noise, bias : ndarray, shape (samples, 3)
            Noise and bias of the axes [unit of the triad].
        """
        noise = np.empty((samples, 3)) if self._noises else np.zeros((samples, 3))
        bias = np.empty((samples, 3))
        bias[...] = self._turn_on_bias
        block = np.empty((min(BLOCK, samples), 3))
        for first in range(0, samples, BLOCK):
            count = min(BLOCK, samples - first)
            rows = slice(first, first + count)
            for number, process in enumerate(self._noises):
                if number == 0:
                    process.fill(noise[rows])
                else:
                    process.fill(block[:count])
                    noise[rows] += block[:count]
            for process in self._biases:
                process.fill(block[:count])
                bias[rows] += block[:count]
        return noise, bias


class Triad:
    """Triad of three identical sensors: their response to ideal signals, noise and bias.

    Parameters
    ----------
    name : str
        Key of :data:`.triads.TRIADS`.
    specification : ImuSpecification
        Specification with the errors of the triad.
    period : float
        Sampling period [s].

    Attributes
    ----------
    noise : TriadNoise
        Prototype of all realisations.
    """

    def __init__(self, name: str, specification: ImuSpecification, period: float):
        triad: TriadSpecification = getattr(specification, name)
        self.noise = TriadNoise(triad, period, run_seed(0, 0))
        self._rate, self._bandwidth = 1.0 / period, triad.bandwidth
        self._kind = TRIADS[name]
        self._iron = None
        if isinstance(triad, MagnetometerSpecification):
            self._iron = np.array(triad.hard_iron), none_if_identity(np.array(triad.soft_iron))
        self._matrix = none_if_identity(np.eye(3) + np.array(triad.scale_factor_and_misalignment))
        self._g_sensitivity = _none_if_zero(triad.g_sensitivity)
        # Sensitivities of bias and scale factor to each condition, such as the temperature.
        self._conditions = [
            (_none_if_zero(bias), _none_if_zero(scale), condition)
            for bias, scale, condition in (
                (triad.temperature_bias, triad.temperature_scale_factor, specification.temperature),
                (triad.supply_bias, triad.supply_scale_factor, specification.supply),
            )
            if any(bias) or any(scale)
        ]
        self._nonlinearity = _none_if_zero(triad.nonlinearity)
        self._rectification = _none_if_zero(triad.vibration_rectification)
        self._vibration = specification.vibration
        self._mean_square = self._vibration.mean_square
        self._saturation = None if triad.saturation is None else _scalar_if_equal(triad.saturation)
        resolution = np.array(triad.resolution)
        self._rounded = resolution > 0.0
        self._all_rounded = bool(self._rounded.all())
        self._steps = None
        if self._rounded.any():
            self._steps = _scalar_if_equal(np.where(self._rounded, resolution, 1.0))

    def stack(self, triads) -> Triad:
        """Return the combined triad of n individual sensors, which is simulated in parallel.

        Parameters
        ----------
        triads : sequence of Triad
            Triads of the individual sensors.

        Returns
        -------
        Triad
            Triad whose signals and noises have the shape (..., n, 3).
        """
        parallel = copy.copy(self)

        def repeat(values):
            if values is None:
                return None
            # Each coefficient is contiguous over the sensors, as multiply() reads them.
            return np.moveaxis(np.repeat(values[..., np.newaxis], len(triads), axis=-1), -1, 0)

        parallel._matrix, parallel._g_sensitivity, parallel._nonlinearity, *parts = map(
            repeat, self._coefficients()
        )
        conditions = [condition for *_, condition in self._conditions]
        parallel._conditions = list(zip(parts[::2], parts[1::2], conditions))
        parallel.replace_members(range(len(triads)), triads)
        return parallel

    def replace_members(self, members, triads):
        """Replace some of the individual sensors that are simulated in parallel.

        Parameters
        ----------
        members : sequence of int
            Indices of the sensors.
        triads : sequence of Triad
            New triads of the sensors.
        """
        member_coefficients = zip(*(triad._coefficients() for triad in triads))
        for values, others in zip(self._coefficients(), member_coefficients):
            if values is not None:
                values[members] = others

    def _coefficients(self):
        """Return the coefficients that differ between individual sensors; None means no error."""
        parts = [values for *both, _ in self._conditions for values in both]
        return [self._matrix, self._g_sensitivity, self._nonlinearity, *parts]

    def band_limit(self) -> BandLimit | None:
        """Create the low-pass filter of the triad for a new realisation.

        Returns
        -------
        BandLimit or None
            Filter; None without a bandwidth, or if the bandwidth is at least half the sampling
            rate.
        """
        if self._bandwidth is None or self._bandwidth >= 0.5 * self._rate:
            return None
        return BandLimit(self._bandwidth, self._rate)

    def respond(self, signal, force, time):
        """Compute the response of the triad to ideal signals, without noise, bias and limits.

        Parameters
        ----------
        signal : ndarray, shape (3,) or (samples, 3)
            Ideal signal [unit of the triad].
        force : ndarray, shape (3,) or (samples, 3)
            Ideal specific force [m/s^2].
        time : float or ndarray, shape (samples, 1)
            Time since power-on [s].

        Returns
        -------
        ndarray, shape (3,) or (samples, 3)
            Response [unit of the triad].
        """
        if self._iron is not None:
            hard, soft = self._iron
            signal = multiply(soft, signal) + hard
        # Computed row by row, so that results for single samples and series are bitwise identical.
        reading = multiply(self._matrix, signal)
        if self._g_sensitivity is not None:
            reading += multiply(self._g_sensitivity, force)
        for _, scale, condition in self._conditions:
            if scale is not None:
                reading += scale * (condition.at(time) - condition.reference) * signal
        if self._nonlinearity is not None:
            reading += self._nonlinearity * np.square(signal)
        return reading

    def rectify_vibration(self, speed):
        """Compute the bias due to vibration at a speed.

        Parameters
        ----------
        speed : float or ndarray, shape (samples,)
            Speed of the robot [m/s].

        Returns
        -------
        ndarray, shape (3,) or (samples, 3)
            Bias [unit of the triad].
        """
        power = np.square(self._vibration.amplitude(speed))[..., np.newaxis]
        bias = np.zeros((*np.shape(speed), 3))
        if self._rectification is not None:
            bias = bias + self._rectification * np.sum(self._mean_square) * power
        if self._nonlinearity is not None and self._kind.measures_force:
            bias = bias + self._nonlinearity * self._mean_square * power
        return bias

    def _respond_to_vibration(self, vibration):
        """Compute the noise due to a vibration (3,) or (samples, 3) [m/s^2]."""
        if self._kind.measures_force:
            return multiply(self._matrix, vibration)
        return 0.0 if self._g_sensitivity is None else multiply(self._g_sensitivity, vibration)

    def read(self, response, noise, bias, time, limit, vibration):
        """Compute readings and their bias from a response to ideal signals, noise and bias.

        Parameters
        ----------
        response : ndarray, shape (3,) or (n, 3)
            Result of :meth:`respond`.
        noise, bias : ndarray, shape (3,) or (n, 3)
            Noise and bias of the realisation. The array ``noise`` of a series may be overwritten.
        time : float or ndarray, shape (n, 1)
            Time since power-on [s].
        limit : BandLimit or None
            Low-pass filter of the realisation.
        vibration : ndarray, shape (3,) or (n, 3), or None
            Vibration of the specific force [m/s^2].

        Returns
        -------
        reading, bias : ndarray, shape (3,) or (n, 3)
            Reading with noise, limits and resolution, and its bias [unit of the triad].
        """
        if limit is not None:
            signal = response + noise
            response = limit.advance(np.atleast_2d(signal)).reshape(signal.shape)
            noise = 0.0
        if vibration is not None:
            noise = noise + self._respond_to_vibration(vibration)
        for per_unit, _, condition in self._conditions:
            if per_unit is not None:
                bias = bias + per_unit * (condition.at(time) - condition.reference)
        if np.ndim(noise) < 2:
            return self._saturate_and_round(response + bias, noise), bias
        # Readings are processed in blocks that stay in the processor's cache between operations.
        for first in range(0, len(noise), BLOCK):
            rows = slice(first, first + BLOCK)
            noise[rows] = self._saturate_and_round(response[rows] + bias[rows], noise[rows])
        return noise, bias

    def _saturate_and_round(self, reading, noise):
        """Add noise to readings, limit them to the full scale, and round them to the resolution."""
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


def create_triads(specification: ImuSpecification, period: float) -> list[Triad]:
    """Create the triads of an IMU.

    Parameters
    ----------
    specification : ImuSpecification
        Errors of the IMU.
    period : float
        Sampling period [s].

    Returns
    -------
    list of Triad
        Triads of the IMU in the order of :data:`.TRIADS`.
    """
    return [
        Triad(name, specification, period)
        for name in TRIADS
        if getattr(specification, name) is not None
    ]


FEW_VECTORS = 100  # number of vectors up to which a joint product is faster than one per column


def multiply(matrix, vectors):
    """Multiply vectors by a matrix, with results that do not depend on the number of vectors.

    Parameters
    ----------
    matrix : ndarray, shape (3, 3) or (n, 3, 3), or None
        Matrix, or one matrix per individual sensor; None is the identity.
    vectors : ndarray, shape (..., 3) or (..., n, 3)
        Vectors in any unit.

    Returns
    -------
    ndarray
        Products with the shape of the vectors; a copy for the identity.
    """
    if matrix is None:
        return np.array(vectors)
    if vectors.size <= 3 * FEW_VECTORS:
        x, y, z = vectors[..., 0:1], vectors[..., 1:2], vectors[..., 2:3]
        return matrix[..., 0] * x + matrix[..., 1] * y + matrix[..., 2] * z
    x, y, z = (np.ascontiguousarray(vectors[..., axis]) for axis in range(3))
    product = np.empty_like(vectors, dtype=float)
    for axis in range(3):
        row = matrix[..., axis, :]
        product[..., axis] = row[..., 0] * x + row[..., 1] * y + row[..., 2] * z
    return product


def none_if_identity(matrix: np.ndarray) -> np.ndarray | None:
    """Return a matrix, or None if it is the identity, as used by :func:`multiply`.

    Parameters
    ----------
    matrix : ndarray, shape (3, 3)
        Matrix of scale factors, misalignments or soft iron.

    Returns
    -------
    ndarray or None
        The matrix, or None.
    """
    return None if np.array_equal(matrix, np.eye(3)) else matrix


def _scalar_if_equal(values):
    """Return three numbers as an array, or as a scalar if they are equal, which is faster."""
    values = np.array(values)
    return values[0] if (values == values[0]).all() else values


def _none_if_zero(values):
    values = np.array(values)
    return values if values.any() else None
