"""All random errors of three gyroscopes or accelerometers, from their specification."""

from __future__ import annotations

import copy

import numpy as np

from imu_simulation_framework.noise.base import BLOCK
from imu_simulation_framework.noise.processes import (
    BiasInstability,
    GaussMarkov,
    Quantisation,
    RandomWalk,
    RateRamp,
    WhiteNoise,
)
from imu_simulation_framework.noise.streams import child_seed
from imu_simulation_framework.sensors.imu_specification import TriadSpecification


class TriadNoise:
    """The sum of a specification's processes, as noise and as bias.

    Noise is what differs from sample to sample (white noise, quantisation); bias is what changes
    slowly (turn-on bias, bias instability, random walk, Gauss-Markov process, ramp). Each process
    draws from a generator of its own, so that one more of them does not change the others.

    Parameters
    ----------
    specification : TriadSpecification
    period : float
        Time from one sample to the next [s].
    seed : numpy.random.SeedSequence
        Of this realisation. It is not changed: equal seeds give equal realisations.
    """

    def __init__(self, specification: TriadSpecification, period: float, seed):
        s = specification
        self._turn_on = (np.array(s.turn_on_bias), np.array(s.turn_on_bias_sigma))
        processes = (
            WhiteNoise(s.white_noise, period, None),
            Quantisation(s.quantisation, period, None),
            BiasInstability(s.bias_instability, s.bias_instability_band, period, None),
            RandomWalk(s.random_walk, period, None),
            GaussMarkov(s.gauss_markov_sigma, s.gauss_markov_time, period, None),
            RateRamp(s.rate_ramp, period),
        )
        self._prototypes = processes
        self._begin(seed)

    def restarted(self, seed) -> TriadNoise:
        """Return another realisation of the same; faster than making one from the beginning."""
        noise = copy.copy(self)
        noise._begin(seed)
        return noise

    def _begin(self, seed):
        mean, sigma = self._turn_on
        self._turn_on_bias = mean + sigma * _child(seed, 0).standard_normal(3)
        self._noises, self._biases = [], []
        for index, prototype in enumerate(self._prototypes):
            if prototype.active:
                process = prototype.restarted(_child(seed, index + 1))
                (self._noises if index < 2 else self._biases).append(process)

    @property
    def numbers_per_sample(self) -> int:
        """How many normal numbers a sample of one axis takes."""
        return sum(
            process.components if isinstance(process, BiasInstability) else 1
            for process in (*self._noises, *self._biases)
            if not isinstance(process, RateRamp)
        )

    def step(self):
        """Return noise and bias of the next sample, (3,) each."""
        bias = self._turn_on_bias.copy()
        for process in self._biases:
            bias += process.step()
        noise = np.zeros(3)
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


def _child(seed, index):
    return np.random.default_rng(child_seed(seed, index))
