import math
from dataclasses import replace

import numpy as np
import pytest
from earth_flights import flight, on_gimbal
from navigated import GNSS, IMU

from imu_simulation_framework.constants import STANDARD_GRAVITY
from imu_simulation_framework.errors import ConfigurationError
from imu_simulation_framework.evaluation.navigation.consistency import consistency
from imu_simulation_framework.evaluation.navigation.runs import navigate_runs
from imu_simulation_framework.evaluation.navigation.tuning import (
    FilterTuning,
    InitialUncertainty,
    tuning_of,
)
from imu_simulation_framework.sensors.imu_specification import (
    ImuSpecification,
    TriadSpecification,
)


def _tuned(period=0.01, **errors):
    return tuning_of(ImuSpecification(gyroscope=TriadSpecification(**errors)), period)


def test_white_noise_and_walks_are_taken_over():
    tuning = _tuned(white_noise=(1e-5, 2e-5, 3e-5), random_walk=1e-7, turn_on_bias_sigma=1e-4)
    assert tuning.gyroscope_noise == pytest.approx((1e-5, 2e-5, 3e-5))
    assert tuning.gyroscope_random_walk == pytest.approx([1e-7] * 3)
    assert tuning.gyroscope_bias == pytest.approx([1e-4] * 3)


def test_rounding_is_white_noise():
    assert _tuned(resolution=1e-3).gyroscope_noise == pytest.approx(
        [1e-3 * math.sqrt(0.01 / 12.0)] * 3
    )


def test_a_slow_process_is_a_bias_that_walks_and_a_fast_one_is_noise():
    slow = _tuned(gauss_markov_sigma=1e-4, gauss_markov_time=100.0)
    assert slow.gyroscope_bias == pytest.approx([1e-4] * 3)
    assert slow.gyroscope_random_walk == pytest.approx([1e-4 * math.sqrt(0.02)] * 3)
    assert slow.gyroscope_noise == (0.0, 0.0, 0.0)
    fast = _tuned(gauss_markov_sigma=1e-4, gauss_markov_time=1.0)
    assert fast.gyroscope_noise == pytest.approx([1e-4 * math.sqrt(2.0)] * 3)
    assert fast.gyroscope_bias == (0.0, 0.0, 0.0)


def test_flicker_noise_is_there_in_all_three():
    tuning = _tuned(bias_instability=1e-5)
    assert np.all(np.array(tuning.gyroscope_noise) > 0.0)
    assert np.all(np.array(tuning.gyroscope_random_walk) > 0.0)
    assert np.all(np.array(tuning.gyroscope_bias) > 1e-5)


def test_the_filter_knows_the_size_of_errors_and_neither_their_axes_nor_their_signs():
    matrix = ((0.0, 3e-3, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, -3e-3))
    triad = TriadSpecification(turn_on_bias=(0.0, 0.03, 0.0), scale_factor_and_misalignment=matrix)
    tuning = tuning_of(ImuSpecification(accelerometer=triad))
    size = math.sqrt(2.0 * 9e-6 / 9.0)
    assert tuning.accelerometer_scale == pytest.approx(size)
    expected = math.hypot(0.03 / math.sqrt(3.0), size * STANDARD_GRAVITY)
    assert tuning.accelerometer_bias == pytest.approx([expected] * 3)


def test_values_that_are_none_are_refused():
    with pytest.raises(ConfigurationError, match="^heading"):
        InitialUncertainty(heading=0.0)
    with pytest.raises(ConfigurationError, match="^gyroscope_noise"):
        FilterTuning((-1.0, 0.0, 0.0), (0.0,) * 3, (0.0,) * 3, (0.0,) * 3)
    with pytest.raises(ConfigurationError, match="^manoeuvre_time"):
        replace(tuning_of(IMU), manoeuvre_time=-1.0)


def test_initial_errors_are_as_large_as_they_are_said_to_be():
    uncertainty = InitialUncertainty(tilt=1e-3, heading=0.02, velocity=0.3, position=5.0)
    drawn = uncertainty.draw(2000, seed=1)
    # Three standard errors of a standard deviation of 2000.
    assert np.std(drawn, axis=0) == pytest.approx(uncertainty.sigmas, rel=3.0 / math.sqrt(4000.0))
    assert np.array_equal(uncertainty.draw(2, seed=1, first_run=3), drawn[3:5])


@pytest.mark.parametrize("gimbal", [False, True])
def test_scale_factors_that_are_no_states_do_not_make_the_filter_overconfident(gimbal):
    airframe = flight(rate=50.0, duration=80.0)
    generator = np.random.default_rng(8)
    imus = [
        replace(
            IMU,
            gyroscope=replace(
                IMU.gyroscope,
                scale_factor_and_misalignment=1.7e-3 * generator.standard_normal((3, 3)),
                g_sensitivity=6e-6 * generator.standard_normal((3, 3)),
            ),
            accelerometer=replace(
                IMU.accelerometer,
                scale_factor_and_misalignment=3.7e-3 * generator.standard_normal((3, 3)),
            ),
        )
        for _ in range(20)
    ]
    motion = on_gimbal(airframe) if gimbal else airframe
    tuning = tuning_of(imus[0])
    known = navigate_runs(motion, imus, GNSS, len(imus), seed=5, tuning=tuning)
    ignored = replace(tuning, gyroscope_scale=0.0, accelerometer_scale=0.0, g_sensitivity=0.0)
    unknown = navigate_runs(motion, imus, GNSS, len(imus), seed=5, tuning=ignored)
    nees = {
        name: consistency(
            runs.navigation, runs.errors._replace(states=runs.errors.states[..., :9])
        ).mean_nees
        for name, runs in (("known", known), ("unknown", unknown))
    }
    assert 4.0 < nees["known"] < 10.5
    assert nees["unknown"] > 90.0
