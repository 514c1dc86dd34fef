import math
from dataclasses import replace

import numpy as np
import pytest
from earth_flights import flight, on_gimbal
from navigated import GNSS, IMU

import imu_simulation_framework as isf
from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.flight.navigation.runs import consistency, mean_bounds
from imu_simulation_framework.flight.navigation.tuning import tuning_of


def _tuned(period=0.01, **errors):
    return tuning_of(isf.ImuSpecification(gyroscope=isf.TriadSpecification(**errors)), period)


MATRIX_SIZES = {"gyroscope_matrix": 1.7e-3, "accelerometer_matrix": 3.7e-3, "g_sensitivity": 6e-6}


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


def test_the_filter_knows_the_size_of_errors_and_not_their_signs():
    matrix = ((0.0, 3e-3, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, -5e-3))
    triad = isf.TriadSpecification(
        turn_on_bias=(0.0, 0.03, 0.0), scale_factor_and_misalignment=matrix
    )
    tuning = tuning_of(isf.ImuSpecification(accelerometer=triad))
    expected = math.sqrt(17e-6) * (np.array(matrix) != 0.0)
    assert np.array(tuning.accelerometer_matrix) == pytest.approx(expected)
    assert tuning.accelerometer_bias == pytest.approx([0.03 / math.sqrt(3.0)] * 3)
    assert not np.any(tuning.gyroscope_matrix)


def test_values_that_are_none_are_refused():
    with pytest.raises(ConfigurationError, match="^heading"):
        isf.InitialUncertainty(heading=0.0)
    with pytest.raises(ConfigurationError, match="^gyroscope_noise"):
        isf.FilterTuning((-1.0, 0.0, 0.0), (0.0,) * 3, (0.0,) * 3, (0.0,) * 3)
    with pytest.raises(ConfigurationError, match="^position_noise"):
        replace(tuning_of(IMU), position_noise=0.0)
    with pytest.raises(ConfigurationError, match="^gyroscope_matrix"):
        replace(tuning_of(IMU), gyroscope_matrix=1e-3)


def test_initial_errors_are_as_large_as_they_are_said_to_be():
    uncertainty = isf.InitialUncertainty(tilt=1e-3, heading=0.02, velocity=0.3, position=5.0)
    drawn = uncertainty.draw(2000, seed=1)
    # Three standard errors of a standard deviation of 2000.
    assert np.std(drawn, axis=0) == pytest.approx(uncertainty.sigmas, rel=3.0 / math.sqrt(4000.0))
    assert np.array_equal(uncertainty.draw(2, seed=1, first_run=3), drawn[3:5])


def test_a_filter_may_take_fixes_for_worse_than_the_receiver_says():
    motion = flight(rate=50.0, duration=10.0)
    quality = replace(
        GNSS.qualities[0],
        horizontal_noise=5.0,
        vertical_noise=5.0,
        velocity_noise=0.2,
        vertical_velocity_noise=0.2,
    )
    tuning = tuning_of(IMU)
    told = isf.navigate_runs(motion, IMU, replace(GNSS, qualities=(quality,)), 1, tuning=tuning)
    tuning = replace(tuning, position_noise=5.0, velocity_noise=0.2)
    tuned = isf.navigate_runs(motion, IMU, GNSS, 1, tuning=tuning)
    found, expected = (
        np.diagonal(runs.navigation.covariance, axis1=2, axis2=3) for runs in (tuned, told)
    )
    # The attitudes differ, by what the noise makes of them.
    assert found == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize("gimbal", [False, True])
def test_scale_factors_that_are_no_states_do_not_make_the_filter_overconfident(gimbal):
    airframe = flight(rate=50.0, duration=80.0)
    generator = np.random.default_rng(8)

    def drawn():
        scale, sensitivity, other = (
            size * generator.standard_normal((3, 3)) for size in (1.7e-3, 6e-6, 3.7e-3)
        )
        gyroscope = replace(
            IMU.gyroscope, scale_factor_and_misalignment=scale, g_sensitivity=sensitivity
        )
        accelerometer = replace(IMU.accelerometer, scale_factor_and_misalignment=other)
        return replace(IMU, gyroscope=gyroscope, accelerometer=accelerometer)

    imus = [drawn() for _ in range(20)]
    motion = on_gimbal(airframe) if gimbal else airframe

    def navigated(share):
        """With a filter that knows so much of all, not of the first."""
        matrices = {
            name: np.full((3, 3), share * size).tolist() for name, size in MATRIX_SIZES.items()
        }
        tuning = replace(tuning_of(imus[0]), **matrices)
        return isf.navigate_runs(motion, imus, GNSS, len(imus), seed=5, tuning=tuning)

    found, unknown = navigated(1.0).consistency(), navigated(0.0)
    assert found.degrees == 9
    # The mean over time of errors that stay alike: as one time's.
    low, high = mean_bounds(9, len(imus), 0.999)
    assert low < found.mean_nees < high
    errors = unknown.errors._replace(states=unknown.errors.states[..., :9])
    assert consistency(unknown.navigation, errors).mean_nees > 90.0
