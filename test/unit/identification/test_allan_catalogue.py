"""Every IMU of the catalogue, simulated at rest, is found again by its Allan deviation."""

from dataclasses import replace

import numpy as np
import pytest

from imu_simulation_framework.configuration.imu_catalogue import imu_catalogue
from imu_simulation_framework.identification.allan.analysis import AXES, identify
from imu_simulation_framework.identification.allan.model import TERMS
from imu_simulation_framework.identification.samples_at_rest import prepare_at_rest
from imu_simulation_framework.sensors.recording_at_rest import record_at_rest

IMUS = {entry.specification.name: entry.specification for entry in imu_catalogue()}
RATE = 50.0
LENGTH = 45_000


def recorded(specification, seed):
    # The orientation is not looked at.
    output = replace(specification.output, orientation_reference="truth")
    blocks = list(record_at_rest(replace(specification, output=output), LENGTH, RATE, seed))
    times = np.concatenate([block.time for block in blocks])
    values = np.hstack([
        np.concatenate([block.angular_velocity for block in blocks]),
        np.concatenate([block.specific_force for block in blocks]),
    ])  # fmt: skip
    return prepare_at_rest(times, values, AXES, specification.name)


def expected(specification):
    """The terms of all six axes, with the noise that rounding adds."""
    triads = (specification.gyroscope, specification.accelerometer)
    terms = {term: np.hstack([getattr(triad, term) for triad in triads]) for term in TERMS}
    steps = np.hstack([triad.resolution for triad in triads])
    terms["white_noise"] = np.sqrt(terms["white_noise"] ** 2 + steps**2 / 12.0 / RATE)
    return terms


@pytest.mark.parametrize("name", sorted(IMUS))
def test_a_simulated_imu_has_the_allan_deviation_of_its_entry(name):
    specification = IMUS[name]
    result = identify([recorded(specification, 1 + sorted(IMUS).index(name))])
    truth = expected(specification)
    for term in TERMS:
        estimates = [result.axes[axis].fit.terms[term] for axis in AXES]
        held = sum(e.low <= value <= e.high for e, value in zip(estimates, truth[term]))
        # Of six intervals of 95 % fewer than four hold in 0.2 % of all cases.
        assert held >= 4, (term, estimates, truth[term])
    for index, axis in enumerate(AXES):
        noise = result.axes[axis].fit.terms["white_noise"]
        assert noise.identified
        assert noise.value == pytest.approx(truth["white_noise"][index], rel=0.05)
