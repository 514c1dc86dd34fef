"""Fused heading of gyroscope and odometer compared with formulas, a Kalman filter and ensembles."""

import math

import numpy as np
import pytest

import imu_simulation_framework as isf
from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.heading.model.model import YawErrorModel
from imu_simulation_framework.heading.model.sources import (
    AngleRandomWalk,
    KnownError,
    RandomConstant,
    RateGaussMarkov,
    YawRandomWalk,
)

TIME = np.arange(0.0, 301.0)
WALK, SLIP, BIAS = 1e-3, 2e-3, 5e-4


def walking(*sources):
    return YawErrorModel(TIME, (AngleRandomWalk("angle random walk", WALK), *sources))


def rolling(*sources):
    return YawErrorModel(TIME, (YawRandomWalk("wheel slip", SLIP**2 * TIME), *sources))


def test_fused_random_walks_and_bias_match_closed_form():
    both = WALK**2 + SLIP**2
    walks = TIME * WALK**2 * SLIP**2 / both
    found = isf.FusedYawError(walking(), rolling())
    np.testing.assert_allclose(found.variance(), walks, rtol=1e-3, atol=2e-10)

    # The difference of the two headings determines the bias to a variance of
    # 1 / (1 / BIAS^2 + t / (WALK^2 + SLIP^2)).
    found = isf.FusedYawError(walking(RandomConstant("rate bias", -TIME, BIAS)), rolling())
    known = 1.0 / (1.0 / BIAS**2 + TIME / both)
    expected = walks + (SLIP**2 / both * TIME) ** 2 * known
    np.testing.assert_allclose(found.variance(), expected, rtol=1e-3, atol=2e-10)
    np.testing.assert_allclose(found.budget().sum(axis=1), found.variance(), rtol=1e-9)


def test_known_error_of_fused_heading_is_attributed_in_proportion_to_random_walk_variances():
    ramp = 0.01 * TIME / TIME[-1]
    fused = isf.FusedYawError(walking(KnownError("tilt", ramp)), rolling())
    # The filter attributes the drift to both random walks in proportion to their variances.
    expected = ramp * SLIP**2 / (WALK**2 + SLIP**2)
    np.testing.assert_allclose(fused.mean(), expected, rtol=1e-3, atol=1e-6)
    np.testing.assert_allclose(fused.mean_by_source()["tilt"], fused.mean())


def test_fused_variance_matches_kalman_filter():
    turn = 3.0 * np.sin(TIME / 20.0)
    imu = walking(
        RateGaussMarkov("bias instability", 3e-4, 50.0), RandomConstant("scale factor", -turn, 0.01)
    )
    odometer = rolling(
        RandomConstant("track", -turn, 0.02), RandomConstant("unequal wheels", 0.01 * TIME, 0.3)
    )
    found = isf.FusedYawError(imu, odometer).variance()

    # The states are both random walks, the Gauss-Markov rate and its integral, and the constants.
    decay = math.exp(-1.0 / 50.0)
    transition = np.eye(7)
    transition[2, 2], transition[3, 2] = decay, -50.0 * (1.0 - decay)
    density, gone = 2.0 * 3e-4**2 / 50.0, 1.0 - decay
    noise = np.zeros((7, 7))
    noise[0, 0], noise[1, 1] = WALK**2, SLIP**2
    noise[2, 2] = density * 25.0 * (1.0 - decay**2)
    noise[2, 3] = noise[3, 2] = -density * 50.0**2 * 0.5 * gone**2
    noise[3, 3] = density * 50.0**2 * (1.0 - 100.0 * gone + 25.0 * (1.0 - decay**2))
    state = np.diag([0.0, 0.0, 3e-4**2, 0.0, 0.01**2, 0.02**2, 0.3**2])
    left = []
    for index, time in enumerate(TIME):
        if index:
            state = transition @ state @ transition.T + noise
        imu_design = np.array([1.0, 0.0, 0.0, 1.0, -turn[index], 0.0, 0.0])
        predicted = imu_design - np.array([0.0, 1.0, 0.0, 0.0, 0.0, -turn[index], 0.01 * time])
        gain = state @ predicted / (predicted @ state @ predicted + 1e-10)
        state = state - np.outer(gain, predicted @ state)
        left.append(imu_design @ state @ imu_design)
    np.testing.assert_allclose(found, left, rtol=1e-3, atol=1e-9)
    assert np.all(found[1:] < np.minimum(imu.variance(), odometer.variance())[1:])


def test_fused_realisations_match_standard_deviation_and_survival():
    imu = walking(RandomConstant("rate bias", -TIME, BIAS))
    fused = isf.FusedYawError(imu, rolling(KnownError("track", 1e-4 * TIME)))
    runs = fused.realisations(2000)
    std = np.sqrt(fused.variance())
    assert np.max(np.abs(runs.std(axis=0)[1:] / std[1:] - 1.0)) < 4.5 / math.sqrt(2.0 * 2000)
    assert np.all(np.abs(runs.mean(axis=0) - fused.mean()) <= 4.5 * std / math.sqrt(2000.0))
    limit = fused.absolute_quantile(0.95)
    share = np.mean(np.abs(runs[:, -1]) <= limit)
    assert abs(share - 0.95) < 4.0 * math.sqrt(0.95 * 0.05 / 2000.0)
    stays, half_width = fused.survival(limit, 2000)
    assert stays[-1] == np.mean(np.all(np.abs(runs) <= limit, axis=1))
    standard_error = math.sqrt(stays[-1] * (1.0 - stays[-1]) / 2000.0)
    assert half_width[-1] == pytest.approx(1.96 * standard_error, rel=1e-9)


def test_fused_quantiles_with_poor_odometer_match_gyroscope_quantiles():
    imu = YawErrorModel(TIME, (AngleRandomWalk("angle random walk", WALK, spread=0.6),))
    odometer = YawErrorModel(TIME, (RandomConstant("track", TIME, 1.0),))
    fused = isf.FusedYawError(imu, odometer)
    assert fused.absolute_quantile(0.99) == pytest.approx(imu.absolute_quantile(0.99), rel=1e-2)
    assert fused.absolute_quantile(0.99) > 2.6 * math.sqrt(fused.variance()[-1])


def test_fused_heading_includes_gyroscope_zeroing_at_stops():
    motion = isf.straight(300.0)
    operation = isf.Operation(stops="every 60s for 3s")
    motion_with_stops = operation.insert_stops(motion)
    imu = isf.read_imu_specification("mpu6050")
    zeroed = isf.yaw_error_model(imu, motion_with_stops, 1.0, operation=operation)
    odometer = isf.yaw_error_model(isf.OdometerSpecification(slip=0.5), motion_with_stops, 1.0)
    fused = isf.FusedYawError(zeroed, odometer)
    # An odometer with a slip of 0.5 m/sqrt(m) contributes little.
    assert fused.variance()[-1] == pytest.approx(zeroed.variance()[-1], rel=0.01)


@pytest.mark.parametrize(
    "other, sentence",
    [
        (np.arange(0.0, 300.0), "must have the same times"),
        (np.arange(0.0, 1100.0), "1100 times are too many .* at most 1000"),
    ],
)
def test_fusion_with_mismatched_or_too_many_times_is_rejected(other, sentence):
    odometer = YawErrorModel(other, (RandomConstant("track", other, 0.01),))
    imu = walking() if len(other) < 1000 else odometer
    with pytest.raises(ConfigurationError, match=sentence):
        isf.FusedYawError(imu, odometer)
