"""Flicker noise as a sum of Gauss-Markov processes."""

import math

import numpy as np
import pytest

from imu_simulation_framework.sensors.noise.processes import (
    FLICKER_PLATEAU,
    flicker_processes,
    gauss_markov_allan_variance,
)


def test_plateau_is_0_664_b():
    assert pytest.approx(0.664, abs=5e-4) == FLICKER_PLATEAU


@pytest.mark.parametrize(
    "band, period",
    [((0.1, 1e4), 0.01), ((1.0, 1000.0), 0.01), ((0.001, 1e5), 0.01), ((0.5, 50.0), 0.05)],
)
def test_flicker_is_flat_within_one_percent_inside_any_band(band, period):
    times, sigmas = flicker_processes(band, period)
    inside = np.geomspace(max(band[0], 4.0 * period), band[1], 977)
    shares = gauss_markov_allan_variance(times, inside[:, np.newaxis], period)
    np.testing.assert_allclose(shares @ sigmas**2 / FLICKER_PLATEAU**2, 1.0, atol=0.01)
    # Two processes for each decade are enough.
    assert len(times) <= 2 + 2 * math.log10(band[1] / max(band[0], period))


def test_allan_variance_of_a_gauss_markov_process_has_the_limits_of_ieee_952():
    # White noise of density q_c T_c for long times, a random walk of density q_c for short ones.
    time, period = 5.0, 1e-4
    density_squared = 2.0 / time  # of the driving noise, for a variance of 1
    long, short = 1e4 * time, 1e-2 * time
    assert gauss_markov_allan_variance(time, long, period) == pytest.approx(
        density_squared * time**2 / long, rel=1e-3
    )
    assert gauss_markov_allan_variance(time, short, period) == pytest.approx(
        density_squared * short / 3.0, rel=0.01
    )
