"""The sum of a specification's processes."""

import numpy as np

from imu_simulation_framework.sensors.imu_specification import TriadSpecification
from imu_simulation_framework.sensors.triad_errors import TriadNoise

PERIOD = 0.01
EVERYTHING = TriadSpecification(
    quantisation=1e-5,
    white_noise=(1e-3, 2e-3, 3e-3),
    bias_instability=1e-4,
    random_walk=(1e-4, 0.0, 2e-4),
    rate_ramp=(1e-5, -1e-5, 0.0),
    gauss_markov_sigma=1e-3,
    gauss_markov_time=(1.0, 2.0, 3.0),
    turn_on_bias=(0.1, -0.2, 0.3),
    turn_on_bias_sigma=0.05,
)


def _noise(specification=EVERYTHING, seed=1):
    return TriadNoise(specification, PERIOD, np.random.SeedSequence(seed))


def test_turn_on_bias_is_constant_in_a_run_and_spread_over_runs():
    runs = 2000
    specification = TriadSpecification(turn_on_bias=(0.1, -0.2, 0.3), turn_on_bias_sigma=0.05)
    prototype = _noise(specification)
    values = np.array(
        [prototype.restarted(np.random.SeedSequence(run)).advance(3)[1] for run in range(runs)]
    )
    assert np.ptp(values, axis=1).max() == 0.0
    error = 0.05 / np.sqrt(runs)
    np.testing.assert_allclose(values[:, 0].mean(axis=0), [0.1, -0.2, 0.3], atol=4.0 * error)
    np.testing.assert_allclose(values[:, 0].std(axis=0), 0.05, atol=4.0 * error / np.sqrt(2.0))


def test_variance_is_that_of_the_specification():
    noise, _ = _noise().advance(40_000)
    white = np.square(EVERYTHING.white_noise) / PERIOD
    quantisation = 2.0 * np.square(EVERYTHING.quantisation) / PERIOD**2
    np.testing.assert_allclose(
        noise.var(axis=0), white + quantisation, rtol=4.0 * np.sqrt(3.0 / 40_000)
    )
