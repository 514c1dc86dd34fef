"""What an IMU at rest says for hours, in blocks that fit into memory."""

from __future__ import annotations

from dataclasses import replace
from typing import Iterator

import numpy as np

from imu_simulation_framework.constants import WORLD_GRAVITY
from imu_simulation_framework.sensors.imu_models.reading import ImuSamples, ImuTruth
from imu_simulation_framework.sensors.imu_models.specification import (
    SpecificationImu,
    SpecificationParameters,
)
from imu_simulation_framework.sensors.imu_specification import ImuSpecification

BLOCK = 16_384
"""Samples of a block."""


def record_at_rest(
    specification: ImuSpecification,
    samples: int,
    rate: float,
    seed,
) -> Iterator[ImuSamples]:
    """Simulate an IMU that stands level and still, without the Earth's rotation.

    Parameters
    ----------
    specification : ImuSpecification
        Its output's start offset does not count.
    samples : int
        How many in all.
    rate : float
        Samples per second, whatever the specification says [Hz].
    seed : int or numpy.random.SeedSequence

    Yields
    ------
    ImuSamples
        Up to :data:`BLOCK` samples, with times from 0.

    Raises
    ------
    ConfigurationError
        The rate is not positive, or the specification's filter is not installed.
    """
    output = replace(specification.output, rate=rate, start_offset=0.0)
    parameters = SpecificationParameters(replace(specification, output=output))
    imu = SpecificationImu(parameters, 1.0 / rate, seed)
    for first in range(0, samples, BLOCK):
        count = min(BLOCK, samples - first)
        truth = ImuTruth(
            np.tile([0.0, 0.0, 0.0, 1.0], (count, 1)),
            np.zeros((count, 3)),
            np.tile([0.0, 0.0, WORLD_GRAVITY], (count, 1)),
        )
        reading = imu.advance(truth)
        yield ImuSamples(
            np.arange(first, first + count) / rate,
            reading.orientation,
            reading.angular_velocity,
            reading.specific_force,
        )
