"""Orientation fusion from gyroscope and accelerometer."""

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from true_signals import GRAVITY, PERIOD, angles_between, still, tumbling, turned

from imu_simulation_framework.core.angles import (
    difference,
    roll_pitch_yaw_from_quaternion,
    yaw_from_quaternion,
)
from imu_simulation_framework.sensors.fusion import filters
from imu_simulation_framework.sensors.imu_specification import OutputSpecification

FILTERS = ("mahony", "vqf")
LEVEL = np.array([0.0, 0.0, 0.0, 1.0])


def _filter(filter="mahony", **settings):
    return filters.make_filter(OutputSpecification(filter=filter, **settings), PERIOD)


def _angles(rate, force, **settings):
    """Return roll, pitch and yaw of a filter that starts level."""
    return roll_pitch_yaw_from_quaternion(filters.fuse_run(_filter(**settings), LEVEL, rate, force))


@pytest.mark.parametrize("filter", FILTERS)
def test_fusion_of_perfect_readings_yields_true_orientation(filter):
    truth, rate, force = tumbling()
    fused = filters.fuse_run(_filter(filter), truth[0], rate, force)
    # vqf filters the accelerometer in a frame that turns with the gyroscope at each sample.
    assert angles_between(fused, truth).max() < (1e-11 if filter == "mahony" else 1e-6)


def test_fusion_starts_with_inverted_or_zero_accelerometer_reading():
    level = np.array([0.0, 0.0, 0.0, 1.0])
    complementary = filters.ComplementaryFilter(PERIOD, 3.0)
    turned = Rotation.from_quat(complementary.start(level, np.array([0.0, 0.0, -9.8])))
    np.testing.assert_allclose(turned.apply([0.0, 0.0, -1.0]), [0.0, 0.0, 1.0], atol=1e-12)
    np.testing.assert_allclose(complementary.start(level, np.zeros(3)), level)
    free_fall = complementary.update(np.array([0.0, 0.0, 1.0]), np.zeros(3))
    assert yaw_from_quaternion(free_fall) == pytest.approx(PERIOD)


def test_tilt_error_decays_with_time_constant_without_changing_yaw():
    constant, samples = 2.0, 401
    _, rate, force, *_ = still(samples)
    force[0] = [0.0, GRAVITY * math.sin(0.05), GRAVITY * math.cos(0.05)]
    roll = _angles(rate, force, filter_time_constant=constant)[:, 0]
    expected = 0.05 * np.exp(-np.arange(samples) * PERIOD / constant)
    np.testing.assert_allclose(roll, expected, rtol=0.01)
    force = np.random.default_rng(4).normal(size=(500, 3)) + [0.0, 0.0, GRAVITY]
    # The yaw error is of second order in the tilt, since the vertical moves in the sensor frame.
    angles = _angles(np.zeros((500, 3)), force)
    assert np.abs(angles[:, 2] - angles[0, 2]).max() < 0.1 * np.abs(angles[:, :2]).max()


@pytest.mark.parametrize("filter", FILTERS)
def test_vertical_rate_bias_is_integrated_and_horizontal_rate_bias_is_not(filter):
    bias, samples, constant = 0.001, 6001, 3.0
    rate = np.tile([bias, 0.0, bias], (samples, 1))
    force = still(samples).specific_force
    angles = _angles(rate, force, filter=filter, filter_time_constant=constant)
    assert angles[-1, 2] == pytest.approx(bias * (samples - 1) * PERIOD, rel=0.01)
    # In equilibrium, bias = error / T; vqf's second-order correction reduces the error further.
    if filter == "mahony":
        assert angles[-1, 0] == pytest.approx(bias * constant, rel=0.01)
    else:
        assert abs(angles[-1, 0]) < 2.0 * bias * constant


def test_horizontal_rate_bias_is_estimated_while_stationary_and_in_gentle_motion():
    bias, samples, constant = 0.01, 8000, 1.0
    rate, force = np.full((samples, 3), bias), still(samples).specific_force
    uncorrected, actual = (
        _angles(rate, force, filter_rate_bias=desired, filter_time_constant=constant)[-1]
        for desired in (False, True)
    )
    assert np.abs(uncorrected[:2]).max() > 0.9 * bias * constant
    # The sensor was stationary for more than five time constants of the bias estimate (15 T).
    assert np.abs(actual[:2]).max() < 0.01 * bias * constant
    # The bias of the yaw rate is not observable.
    assert actual[2] == pytest.approx(bias * samples * PERIOD, rel=0.05)
    # A robot with a noisy sensor drives, brakes and turns at a few degrees per second.
    samples, bias = 30_000, np.array([0.006, -0.004, 0.0])
    time, generator = np.arange(samples) * PERIOD, np.random.default_rng(5)
    force = still(samples).specific_force
    force[:, 0] = 0.2 * np.sin(2.0 * np.pi * time / 7.0)
    yaw_rate = 0.1 * np.sin(2.0 * np.pi * time / 20.0)
    rate = np.column_stack([np.zeros((samples, 2)), yaw_rate]) + bias
    rate += 0.002 * generator.normal(size=rate.shape)
    force += 0.05 * generator.normal(size=force.shape)
    tilts = []
    for desired in (False, True):
        # Over complete periods of the motion, the effect of the acceleration is zero on average.
        late = _angles(rate, force, filter_rate_bias=desired)[-14_000:, :2]
        tilts.append(np.abs(late.mean(axis=0)))
    assert np.all(tilts[0] > 0.8 * 3.0 * np.abs(bias[:2]))
    assert np.all(tilts[1] < 0.1 * tilts[0])


def _shaken(seed, samples=12_000):
    """Return signals of a hand-held sensor with correlated accelerations and rotations."""
    generator = np.random.default_rng(seed)
    frequency = generator.uniform(0.4, 1.2, size=3)
    phase, lag = generator.uniform(0.0, 2.0 * np.pi, size=(2, 3))
    swing = 2.0 * np.pi * frequency * np.arange(samples)[:, np.newaxis] * PERIOD + phase
    rate = 3.0 * np.sin(swing)
    orientation = turned(Rotation.identity(), rate)
    acceleration = 6.0 * np.sin(swing + lag)
    force = orientation.inv().apply(acceleration + [0.0, 0.0, GRAVITY])
    return orientation, rate, force


def _tilt_and_yaw_errors(filter, truth, rate, force):
    """Return the rms tilt error and the rms yaw error of a filter [rad]."""
    fused = np.vstack([filter.start(truth[0].as_quat(), force[0]), filter.update_all(rate, force)])
    x, y, z, w = (Rotation.from_quat(fused[1:]) * truth.inv()).as_quat().T
    tilt = 2.0 * np.arcsin(np.clip(np.hypot(x, y), 0.0, 1.0))
    yaw = difference(2.0 * np.arctan2(z, w), 0.0)
    return np.sqrt(np.mean(tilt**2)), np.sqrt(np.mean(yaw**2))


@pytest.mark.parametrize("seed", range(3))
def test_fast_motion_does_not_degrade_rate_bias_estimate(seed):
    truth, rate, force = _shaken(seed)
    uncorrected, estimated = (
        _tilt_and_yaw_errors(filters.ComplementaryFilter(PERIOD, 3.0, desired), truth, rate, force)
        for desired in (False, True)
    )
    assert estimated[0] < 1.02 * uncorrected[0]
    assert estimated[1] < uncorrected[1] + math.radians(0.2)


def test_steady_curve_does_not_degrade_rate_bias_estimate():
    # 1 m/s at 1 rad/s for five minutes: 1 m/s^2 to the left, which changes the norm by 0.05 m/s^2.
    samples = 30_000
    rate = np.tile([0.0, 0.0, 1.0], (samples, 1))
    force = np.tile([0.0, 1.0, GRAVITY], (samples, 1))
    truth = Rotation.from_euler("z", np.arange(samples) * PERIOD)
    tilts = []
    for desired in (False, True):
        filter = filters.ComplementaryFilter(PERIOD, 3.0, desired)
        filter.start(truth[0].as_quat(), np.array([0.0, 0.0, GRAVITY]))
        x, y, _, _ = (Rotation.from_quat(filter.update_all(rate, force)) * truth.inv()).as_quat().T
        tilts.append(2.0 * np.sqrt(np.mean(x**2 + y**2)))
    assert tilts[1] < 1.1 * tilts[0]


# Filtering a complete series must match filtering sample by sample.
KINDS = ("standing still", "drive", "accelerating", "tumbling", "free fall")


def _series(kind, samples):
    generator = np.random.default_rng(5)
    time = PERIOD * np.arange(samples)
    rate = np.sin(np.outer(time, (1.0, 0.7, 0.1))) * (0.02, 0.01, 0.3)
    force = still(samples).specific_force
    if kind == "standing still":
        rate[:] = 0.0
    elif kind == "free fall":
        force[samples // 3 : samples // 2] = 0.0
    elif kind == "drive":
        rate += 2e-3 * generator.normal(size=rate.shape)
        force += 0.1 * generator.normal(size=force.shape)
    elif kind == "accelerating":
        force[:, :2] += 3.0 * np.sin(np.outer(time, (0.9, 1.7)))
        rate += 0.05
    elif kind == "tumbling":
        rate = np.cumsum(generator.normal(size=rate.shape), axis=0) * 0.05
        force += 3.0 * generator.normal(size=force.shape)
    return rate, force


def _started(time_constant=3.0):
    filter = filters.ComplementaryFilter(PERIOD, time_constant)
    filter.start(LEVEL, np.array([0.3, -0.2, 9.7]))
    return filter


def _loop(filter, rate, force):
    return np.array([filter.update(*pair) for pair in zip(rate, force)])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("time_constant", [0.2, 3.0, 30.0])
def test_orientation_filter_yields_same_result_for_series_and_single_samples(kind, time_constant):
    rate, force = _series(kind, 12_000)
    series, stepped = _started(time_constant), _started(time_constant)
    fused = series.update_all(rate, force)
    assert angles_between(fused, _loop(stepped, rate, force)).max() < 1e-12
    # The next block continues from the filter state.
    more = series.update(rate[0], force[0])
    assert angles_between([more], [stepped.update(rate[0], force[0])]).max() < 1e-12


@pytest.mark.parametrize("time_constant", [1e-4, 0.01, 0.1])
def test_filter_with_short_time_constant_falls_back_to_single_steps(time_constant):
    rate, force = _series("drive", 1000)
    series, stepped = _started(time_constant), _started(time_constant)
    np.testing.assert_array_equal(series.update_all(rate, force), _loop(stepped, rate, force))
