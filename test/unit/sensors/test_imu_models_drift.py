"""The drift of Hector's plug-in against the statistics of the process that it really is.

The drift is a first-order autoregressive process d_k = phi d_(k-1) + e_k. For N values the
standard errors are

- of the standard deviation of e, which is white: 1 / sqrt(2 N), relative;
- of phi by regression of d_k on d_(k-1): sqrt((1 - phi^2) / N);
- of the standard deviation of d: the squares have the correlation phi^(2 |lag|), so that N values
  are worth N (1 - phi^2) / (1 + phi^2) independent ones; 1 / sqrt(2 of them), relative.
"""

import math

import numpy as np
import pytest

from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.sensors.imu_models.base import SLOW_ERRORS, ImuTruth
from imu_simulation_framework.sensors.imu_models.plugins import (
    HectorParameters,
    drift_correlation,
    drift_innovation_std,
    drift_parameters,
    drift_stationary_std,
)
from imu_simulation_framework.sensors.imu_models.registry import make_imu_model

PERIOD = 0.01


def _at_rest(samples):
    return ImuTruth(
        np.tile([0.0, 0.0, 0.0, 1.0], (samples, 1)),
        np.zeros((samples, 3)),
        np.tile([0.0, 0.0, 9.81], (samples, 1)),
    )


def _drifts(drift, frequency, period, samples, runs, seed):
    """Seven independent drifts of the emulated plug-in per run: (7 runs, samples)."""
    parameters = {}
    for sensor in ("yaw", "rate", "accel"):
        parameters[f"{sensor}_drift"] = drift
        parameters[f"{sensor}_drift_frequency"] = frequency
    model = make_imu_model("hector", parameters, period, seed)
    reading = model.batch(_at_rest(samples), runs, parts=SLOW_ERRORS)
    drifts = np.concatenate(
        [
            reading.yaw_bias[..., np.newaxis],
            reading.angular_velocity_bias,
            reading.specific_force_bias,
        ],
        axis=2,
    )
    return np.moveaxis(drifts, 2, 1).reshape(7 * runs, samples)


@pytest.mark.parametrize(
    "drift, frequency, period, samples, runs",
    [
        (0.5, 0.005, 0.01, 400_000, 1),
        # At 1 Hz, so that 100 correlation times fit into few samples.
        (1.118, 0.001, 1.0, 100_000, 1),
        (0.02, 0.5, 0.01, 20_000, 20),
    ],
)
def test_drift_has_the_statistics_of_the_formula(drift, frequency, period, samples, runs):
    drifts = _drifts(drift, frequency, period, samples, runs, seed=7)
    phi = drift_correlation(frequency, period)
    # Drift starts at zero; after five correlation times its variance lacks exp(-10).
    settled = drifts[:, round(5.0 / (frequency * period)) :]
    before, after = settled[:, :-1].ravel(), settled[:, 1:].ravel()
    count = before.size

    innovation = np.sqrt(np.mean((after - phi * before) ** 2))
    expected = drift * period * math.sqrt(2.0 * frequency)
    assert drift_innovation_std(drift, frequency, period) == pytest.approx(expected, rel=1e-12)
    assert innovation == pytest.approx(expected, rel=3.0 / math.sqrt(2.0 * count))

    correlation = np.sum(after * before) / np.sum(before**2)
    assert correlation == pytest.approx(phi, abs=3.0 * math.sqrt((1.0 - phi**2) / count))

    independent = count * (1.0 - phi**2) / (1.0 + phi**2)
    expected = drift_stationary_std(drift, frequency, period)
    assert np.sqrt(np.mean(settled**2)) == pytest.approx(
        expected, rel=3.0 / math.sqrt(2.0 * independent)
    )


def test_formulas_have_their_printed_values():
    assert drift_innovation_std(0.5, 0.005, 0.01) == pytest.approx(0.5 * 0.01 * 0.1)
    assert drift_correlation(0.005, 0.01) == pytest.approx(0.99995, abs=2e-9)
    # About drift * sqrt(dt) as long as f dt is small.
    assert drift_stationary_std(0.5, 0.005, 0.01) == pytest.approx(0.05, rel=1e-4)
    both = drift_stationary_std([0.5, 1.0], 0.005, 0.01)
    np.testing.assert_allclose(both, [0.05, 0.1], rtol=1e-4)


@pytest.mark.parametrize("preset, degrees", [("hector", 2.9), ("hector_slow", 5.4)])
def test_presets_drift_by_the_expected_angle_in_ten_minutes(preset, degrees):
    p = make_imu_model(preset, {}, PERIOD, 0).parameters
    stationary = drift_stationary_std(p.yaw_drift, p.yaw_drift_frequency, PERIOD)
    grown = stationary * math.sqrt(-math.expm1(-2.0 * p.yaw_drift_frequency * 600.0))
    assert math.degrees(grown) == pytest.approx(degrees, abs=0.05)


def test_drift_starts_at_zero_and_grows_as_a_random_walk():
    p = HectorParameters()
    runs = _drifts(p.yaw_drift, p.yaw_drift_frequency, PERIOD, samples=400, runs=100, seed=3)
    innovation = drift_innovation_std(p.yaw_drift, p.yaw_drift_frequency, PERIOD)
    for sample in (0, 399):
        # 700 independent values; correlation loses 2 % of 4 s' variance at most.
        spread = np.sqrt(np.mean(runs[:, sample] ** 2))
        expected = innovation * math.sqrt(sample + 1)
        assert spread == pytest.approx(expected, rel=3.0 / math.sqrt(2.0 * 700) + 0.02)


@pytest.mark.parametrize("period", [0.001, 0.01, 0.1])
@pytest.mark.parametrize("correlation_time", [0.5, 200.0, 1e5])
def test_parameters_for_a_wanted_drift_give_it(correlation_time, period):
    p = drift_parameters(0.25, correlation_time, period)
    assert drift_stationary_std(*p, period) == pytest.approx(0.25, rel=1e-12)
    assert p.drift_frequency == pytest.approx(1.0 / correlation_time, rel=1e-15)


@pytest.mark.parametrize(
    "wanted, named",
    [
        ((0.0, 200.0, 0.01), "standard deviation"),
        ((0.1, math.inf, 0.01), "correlation time"),
        ((0.1, 200.0, -0.01), "sample period"),
    ],
)
def test_impossible_wishes_are_refused(wanted, named):
    with pytest.raises(ConfigurationError, match=named):
        drift_parameters(*wanted)
