"""Linear model of an odometer's yaw error, compared with simulations and closed-form equations."""

import math

import numpy as np
import pytest

import imu_simulation_framework as isf
from imu_simulation_framework.heading.model.model import YawErrorModel
from imu_simulation_framework.heading.model.sources import YawNoise, YawRandomWalk

RUNS = 1000
TOLERANCES = {"diameter_ratio": (1.004, 0.003), "track_ratio": (1.03, 0.01), "scale": (0.99, 0.005)}
"""Mean and standard deviation of each odometer parameter over robots."""
ALL = {
    **{key: mean for key, (mean, _) in TOLERANCES.items()},
    **{f"{key}_sigma": sigma for key, (_, sigma) in TOLERANCES.items()},
    "slip": 3e-3,
}


@pytest.fixture(scope="module")
def motion():
    """Return two laps forwards and the same path backwards to the start, at 10 Hz."""
    time = np.arange(0.0, 80.0, 0.1)
    yaw = 4.0 * np.pi * np.sin(np.pi * time / 79.9) ** 2
    speed = np.where(time < 40.0, 1.0, -0.5)
    steps = np.column_stack([np.cos(yaw), np.sin(yaw), 0.0 * yaw]) * speed[:, None] * 0.1
    level = np.column_stack([0 * yaw, 0 * yaw, np.sin(0.5 * yaw), np.cos(0.5 * yaw)])
    return isf.Motion.from_poses(time, np.cumsum(steps, axis=0), level)


@pytest.mark.parametrize("key", TOLERANCES)
def test_odometer_tolerances_match_simulated_standard_deviations(motion, key):
    mean, sigma = TOLERANCES[key]
    odometer = isf.OdometerSpecification(rate=10.0, **{key: mean, f"{key}_sigma": sigma})
    model = isf.yaw_error_model(odometer, motion, 1.0)

    def simulated(value):
        robot = isf.OdometerSpecification(rate=10.0, **{key: value})
        error = isf.yaw_error(isf.simulate_odometer(motion, robot), motion)
        return error.to_numpy()[::10][: len(model.time)]

    low, high = simulated(mean - sigma), simulated(mean + sigma)
    std, largest = 0.5 * np.abs(high - low), np.max(np.abs(model.mean()))
    assert np.max(std) > 1e-3
    # The nonlinear part is a fraction of the squared relative errors, at most 0.03.
    np.testing.assert_allclose(simulated(mean), model.mean(), atol=0.03 * 0.03 * largest + 1e-9)
    deviation = np.sqrt(model.variance())
    np.testing.assert_allclose(std, deviation, rtol=0.03, atol=0.01 * np.max(std))


def test_odometer_model_matches_simulated_odometers(motion):
    odometer = isf.OdometerSpecification(rate=10.0, **ALL)
    model = isf.yaw_error_model(odometer, motion, 1.0)
    runs = [isf.simulate_odometer(motion, odometer, run=run) for run in range(RUNS)]
    places = [20, 40, 60, 72]
    found = np.array([isf.yaw_error(run, motion).to_numpy()[::10][places] for run in runs])
    std = np.sqrt(model.variance()[places])
    assert np.all(std > 1e-3)
    # The nonlinear part is a fraction of the squared relative errors.
    margin = 0.03 * np.max(np.abs(model.mean())) * 0.03 + 1e-9
    assert np.all(abs(found.mean(axis=0) - model.mean()[places]) < 4.0 * std / RUNS**0.5 + margin)
    assert np.all(abs(found.std(axis=0, ddof=1) / std - 1.0) < 4.0 / math.sqrt(2.0 * RUNS) + 0.01)
    limit = float(np.quantile(np.max(np.abs(found), axis=1), 0.8))
    drawn = model.realisations(RUNS)[:, places]
    assert np.all(abs(drawn.std(axis=0) / std - 1.0) < 4.0 / math.sqrt(2.0 * RUNS))
    share = np.mean(np.max(np.abs(drawn), axis=1) <= limit)
    assert abs(share - 0.8) < 4.0 * math.sqrt(2.0 * 0.8 * 0.2 / RUNS)


def test_odometer_slip_error_is_brownian_motion_over_rolled_distance():
    slip, track, speed = 2e-3, 0.5, 1.0
    odometer = isf.OdometerSpecification(slip=slip, track=track)
    model = isf.yaw_error_model(odometer, isf.straight(200.0, speed), 10.0)
    sigma = slip * math.sqrt(2.0) / track
    np.testing.assert_allclose(np.sqrt(model.variance()), sigma * np.sqrt(model.time), rtol=1e-6)
    covariance = sigma**2 * np.minimum.outer(model.time, model.time)
    np.testing.assert_allclose(model.covariance(), covariance, atol=1e-12)
    # The probability of having crossed a barrier follows from the reflection principle.
    limit = sigma * math.sqrt(200.0)
    odd = 2 * np.arange(20) + 1
    series = np.exp(-((odd * np.pi) ** 2) / 8.0) * (-1.0) ** np.arange(20) / odd
    stays, half_width = model.probability_always_within(limit, runs=20_000)
    # The error is checked only at the readings, fifty times per second.
    assert abs(stays - 4.0 / np.pi * series.sum()) < 2.0 * half_width + 0.005
    errors = model.realisations(4000)[:, 1:] / (sigma * math.sqrt(10.0))
    steps = np.diff(errors, axis=1)
    assert abs(np.mean(steps[:, 1:] * steps[:, :-1])) < 4.0 / math.sqrt(steps[:, 1:].size)


def test_random_walks_with_same_name_are_merged_and_model_is_truncated():
    time = np.arange(5.0)
    walks = [YawRandomWalk("slip", time**2), YawRandomWalk("slip", 3.0 * time)]
    model = YawErrorModel(time, (*walks, YawNoise("noise", 1.0)))
    np.testing.assert_allclose(model.budget()["slip"], time**2 + 3.0 * time)
    np.testing.assert_allclose(model.until(3).variance(), model.variance()[:3])
    drawn = model.only("slip").realisations(4000, seed=2)
    assert abs(drawn[:, -1].std() / 28**0.5 - 1.0) < 4.0 / math.sqrt(8000.0)


def test_odometer_quantisation_error_matches_white_noise_model(motion):
    odometer = isf.OdometerSpecification(rate=10.0, ticks_per_turn=100, track=0.4)
    model = isf.yaw_error_model(odometer, motion, 1.0)
    error = isf.yaw_error(isf.simulate_odometer(motion, odometer), motion)
    # Readings are nearly uncorrelated, because a wheel turns by several ticks between them.
    assert float(np.std(error)) == pytest.approx(math.sqrt(model.variance()[-1]), rel=0.15)
