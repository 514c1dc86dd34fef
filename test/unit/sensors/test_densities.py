import numpy as np
import pytest
from scipy.signal import welch

from imu_simulation_framework.sensors.noise.densities import (
    density_of_one_sided,
    density_of_rms,
    density_of_samples,
    driven_std,
    driving_density,
    one_sided_density,
    sampled_std,
)

RATE = 200.0
DENSITY = 3e-3


@pytest.fixture(scope="module")
def noise():
    """Samples of white noise of the two-sided density."""
    generator = np.random.default_rng(5)
    return sampled_std(DENSITY, RATE) * generator.standard_normal(400_000)


def test_samples_have_the_one_sided_density_that_a_spectrum_shows(noise):
    # Welch's spectrum is one-sided; its first and last frequency are not doubled.
    _, power = welch(noise, RATE, nperseg=256)
    inner = power[2:-2]
    # Segments that overlap by half: each frequency has about 2 * 11/9 * n / 256 degrees of
    # freedom, neighbours are correlated over about two bins.
    freedom = inner.size / 2.0 * (22.0 / 9.0) * noise.size / 256.0
    error = 4.0 * np.sqrt(2.0 / freedom)
    assert abs(np.mean(inner) / one_sided_density(DENSITY) ** 2 - 1.0) < error
    assert error < 0.1


def test_their_rms_is_that_of_the_bandwidth_up_to_half_the_rate(noise):
    error = 4.0 / np.sqrt(2.0 * noise.size)
    assert abs(density_of_rms(np.std(noise), RATE / 2.0) / DENSITY - 1.0) < error
    assert abs(density_of_samples(np.std(noise), RATE) / DENSITY - 1.0) < error


def test_each_way_back_leads_back():
    values = np.array([0.0, 1e-6, 3.0])
    for there, back in (
        (one_sided_density(values), density_of_one_sided),
        (sampled_std(values, 7.0), lambda std: density_of_samples(std, 7.0)),
        (driving_density(values, 11.0), lambda density: driven_std(density, 11.0)),
    ):
        np.testing.assert_allclose(back(there), values, rtol=1e-15, atol=0.0)


def test_a_driven_process_begins_as_a_random_walk_of_its_driving_density():
    # After t << tau the variance of a process that began at zero is q^2 t.
    sigma, time, elapsed = 2.0, 5000.0, 0.5
    variance = sigma**2 * -np.expm1(-2.0 * elapsed / time)
    np.testing.assert_allclose(variance, driving_density(sigma, time) ** 2 * elapsed, rtol=2e-4)
