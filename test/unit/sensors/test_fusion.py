"""Orientation from gyroscope and accelerometer."""

import math
import sys

import numpy as np
import pytest
from fused_runs import fuse
from scipy.spatial.transform import Rotation

from imu_simulation_framework.core.angles import (
    difference,
    quaternion_from_roll_pitch_yaw,
    roll_pitch_yaw_from_quaternion,
    yaw_from_quaternion,
)
from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.sensors.fusion.choice import make_filter
from imu_simulation_framework.sensors.fusion.complementary import ComplementaryFilter
from imu_simulation_framework.sensors.imu_specification import OutputSpecification

PERIOD = 0.01
GRAVITY = 9.81
FILTERS = ("mahony", "vqf")


def _output(filter="mahony", **settings):
    return OutputSpecification(filter=filter, **settings)


def _motion(samples=2000, seed=3, runs=None):
    """A tumbling body with a fixed origin: true orientations, mean rates, specific forces."""
    generator = np.random.default_rng(seed)
    rates = np.cumsum(generator.normal(size=(samples, 3)), axis=0) * 0.03
    rates -= rates.mean(axis=0)
    steps = Rotation.from_rotvec(rates * PERIOD)
    orientations = [Rotation.from_euler("ZYX", [2.0, 0.3, -0.2])]
    for step in steps[1:]:
        orientations.append(orientations[-1] * step)
    orientation = Rotation.concatenate(orientations)
    force = orientation.inv().apply([0.0, 0.0, GRAVITY])
    return orientation.as_quat(), rates, force


def _angle(ours, expected):
    return (Rotation.from_quat(ours) * Rotation.from_quat(expected).inv()).magnitude()


@pytest.mark.parametrize("filter", FILTERS)
def test_perfect_readings_give_the_true_orientation(filter):
    truth, rate, force = _motion()
    fused = fuse(_output(filter), PERIOD, truth[0], rate[np.newaxis], force[np.newaxis])
    # vqf filters the accelerometer in a frame that turns with the gyroscope, from sample to sample.
    assert _angle(fused[0], truth).max() < (1e-11 if filter == "mahony" else 1e-6)


@pytest.mark.parametrize("filter", FILTERS)
@pytest.mark.parametrize("rate_bias", [False, True])
def test_many_runs_equal_one_by_one_equal_sample_by_sample(filter, rate_bias):
    output = _output(filter, filter_rate_bias=rate_bias)
    truth, rate, force = _motion(300)
    generator = np.random.default_rng(1)
    rates = rate + generator.normal(size=(3, *rate.shape)) * 0.05
    forces = force + generator.normal(size=(3, *force.shape)) * 0.2
    together = fuse(output, PERIOD, truth[0], rates, forces)
    for run in range(3):
        alone = fuse(output, PERIOD, truth[0], rates[run : run + 1], forces[run : run + 1])
        np.testing.assert_allclose(together[run], alone[0], rtol=0.0, atol=1e-12)
        streaming = make_filter(output, PERIOD)
        stepped = [streaming.start(truth[0], forces[run, 0])]
        stepped += [streaming.update(*pair) for pair in zip(rates[run, 1:], forces[run, 1:])]
        np.testing.assert_allclose(stepped, alone[0], rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("filter", FILTERS)
def test_start_keeps_the_yaw_and_takes_the_tilt_from_the_accelerometer(filter):
    started = make_filter(_output(filter), PERIOD).start(
        quaternion_from_roll_pitch_yaw([0.0, 0.0, 2.0]),
        np.array([0.0, math.sin(0.1), math.cos(0.1)]),
    )
    np.testing.assert_allclose(roll_pitch_yaw_from_quaternion(started), [0.1, 0.0, 2.0], atol=1e-12)


def test_start_copes_with_an_accelerometer_upside_down_or_silent():
    level = np.array([0.0, 0.0, 0.0, 1.0])
    complementary = ComplementaryFilter(PERIOD, 3.0)
    turned = Rotation.from_quat(complementary.start(level, np.array([0.0, 0.0, -9.8])))
    np.testing.assert_allclose(turned.apply([0.0, 0.0, -1.0]), [0.0, 0.0, 1.0], atol=1e-12)
    np.testing.assert_allclose(complementary.start(level, np.zeros(3)), level)
    free_fall = complementary.update(np.array([0.0, 0.0, 1.0]), np.zeros(3))
    assert yaw_from_quaternion(free_fall) == pytest.approx(PERIOD)


def test_tilt_error_decays_with_the_time_constant():
    constant, samples = 2.0, 401
    force = np.tile([0.0, 0.0, GRAVITY], (samples, 1))
    force[0] = [0.0, GRAVITY * math.sin(0.05), GRAVITY * math.cos(0.05)]
    fused = fuse(
        _output(filter_time_constant=constant),
        PERIOD,
        [0.0, 0.0, 0.0, 1.0],
        np.zeros((1, samples, 3)),
        force[np.newaxis],
    )
    roll = roll_pitch_yaw_from_quaternion(fused[0])[:, 0]
    expected = 0.05 * np.exp(-np.arange(samples) * PERIOD / constant)
    np.testing.assert_allclose(roll, expected, rtol=0.01)


@pytest.mark.parametrize("filter", FILTERS)
def test_rate_error_about_the_vertical_is_integrated_and_about_a_horizontal_axis_is_not(filter):
    bias, samples, constant = 0.001, 6001, 3.0
    rate = np.zeros((1, samples, 3))
    rate[..., 2] = bias
    rate[..., 0] = bias
    force = np.tile([0.0, 0.0, GRAVITY], (1, samples, 1))
    output = _output(filter, filter_time_constant=constant)
    angles = roll_pitch_yaw_from_quaternion(
        fuse(output, PERIOD, [0.0, 0.0, 0.0, 1.0], rate, force)[0]
    )
    assert angles[-1, 2] == pytest.approx(bias * (samples - 1) * PERIOD, rel=0.01)
    # In equilibrium bias = error / T; vqf's correction is of second order and damps it further.
    if filter == "mahony":
        assert angles[-1, 0] == pytest.approx(bias * constant, rel=0.01)
    else:
        assert abs(angles[-1, 0]) < 2.0 * bias * constant


def test_accelerometer_never_turns_the_yaw():
    generator = np.random.default_rng(4)
    samples = 500
    force = generator.normal(size=(1, samples, 3)) + [0.0, 0.0, GRAVITY]
    fused = fuse(_output(), PERIOD, [0.0, 0.0, 0.0, 1.0], np.zeros((1, samples, 3)), force)
    # What is left is of second order in the tilt: the vertical itself moves in the sensor.
    angles = roll_pitch_yaw_from_quaternion(fused[0])
    assert np.abs(angles[:, 2] - angles[0, 2]).max() < 0.1 * np.abs(angles[:, :2]).max()


def test_bias_about_horizontal_axes_is_found_when_asked_for():
    bias, samples, constant = 0.01, 8000, 1.0
    rate = np.full((1, samples, 3), bias)
    force = np.tile([0.0, 0.0, GRAVITY], (1, samples, 1))
    angles = []
    for wanted in (False, True):
        output = _output(filter_rate_bias=wanted, filter_time_constant=constant)
        fused = fuse(output, PERIOD, [0, 0, 0, 1], rate, force)
        angles.append(roll_pitch_yaw_from_quaternion(fused[0, -1]))
    assert np.abs(angles[0][:2]).max() > 0.9 * bias * constant
    # After more than five of the bias' time constants, 15 T, at rest.
    assert np.abs(angles[1][:2]).max() < 0.01 * bias * constant
    # The yaw's bias cannot be seen.
    assert angles[1][2] == pytest.approx(bias * samples * PERIOD, rel=0.05)


def test_bias_is_found_in_gentle_motion():
    # A robot that drives, brakes and turns by some degrees per second, with a noisy sensor.
    samples, bias = 30_000, np.array([0.006, -0.004, 0.0])
    time = np.arange(samples) * PERIOD
    yaw_rate = 0.1 * np.sin(2.0 * np.pi * time / 20.0)
    forward = 0.2 * np.sin(2.0 * np.pi * time / 7.0)
    upright = np.column_stack([forward, np.zeros(samples), np.full(samples, GRAVITY)])
    generator = np.random.default_rng(5)
    rate = np.column_stack([np.zeros((samples, 2)), yaw_rate]) + bias
    rate += 0.002 * generator.normal(size=rate.shape)
    force = upright + 0.05 * generator.normal(size=upright.shape)
    tilts = []
    for wanted in (False, True):
        output = _output(filter_rate_bias=wanted)
        fused = fuse(output, PERIOD, [0, 0, 0, 1], rate[np.newaxis], force[np.newaxis])
        late = roll_pitch_yaw_from_quaternion(fused[0, samples // 2 :])
        # Over whole periods of the motion the acceleration's part has no mean.
        tilts.append(np.abs(late[-14_000:, :2].mean(axis=0)))
    assert np.all(tilts[0] > 0.8 * 3.0 * np.abs(bias[:2]))
    assert np.all(tilts[1] < 0.1 * tilts[0])


def _shaken(seed, samples=12_000):
    """A sensor in a moving hand: accelerations and turns swing together, as about joints."""
    generator = np.random.default_rng(seed)
    frequency = generator.uniform(0.4, 1.2, size=3)
    phase, lag = generator.uniform(0.0, 2.0 * np.pi, size=(2, 3))
    swing = 2.0 * np.pi * frequency * np.arange(samples)[:, np.newaxis] * PERIOD + phase
    rate = 3.0 * np.sin(swing)
    orientations = [Rotation.identity()]
    for step in Rotation.from_rotvec(rate[1:] * PERIOD):
        orientations.append(orientations[-1] * step)
    orientation = Rotation.concatenate(orientations)
    acceleration = 6.0 * np.sin(swing + lag)
    force = orientation.inv().apply(acceleration + [0.0, 0.0, GRAVITY])
    return orientation, rate, force


def _tilt_and_yaw_errors(filter, truth, rate, force):
    """Root mean squares [rad]."""
    fused = np.vstack([filter.start(truth[0].as_quat(), force[0]), filter.update_all(rate, force)])
    x, y, z, w = (Rotation.from_quat(fused[1:]) * truth.inv()).as_quat().T
    tilt = 2.0 * np.arcsin(np.clip(np.hypot(x, y), 0.0, 1.0))
    yaw = difference(2.0 * np.arctan2(z, w), 0.0)
    return np.sqrt(np.mean(tilt**2)), np.sqrt(np.mean(yaw**2))


@pytest.mark.parametrize("seed", range(3))
def test_fast_motion_is_not_taken_for_a_bias(seed):
    truth, rate, force = _shaken(seed)
    without, estimated = (
        _tilt_and_yaw_errors(ComplementaryFilter(PERIOD, 3.0, wanted), truth, rate, force)
        for wanted in (False, True)
    )
    assert estimated[0] < 1.02 * without[0]
    assert estimated[1] < without[1] + math.radians(0.2)


def test_a_steady_curve_is_not_taken_for_a_bias():
    # 1 m/s at 1 rad/s for five minutes: 1 m/s^2 to the left, of which the norm shows 0.05 m/s^2.
    samples = 30_000
    rate = np.tile([0.0, 0.0, 1.0], (samples, 1))
    force = np.tile([0.0, 1.0, GRAVITY], (samples, 1))
    truth = Rotation.from_euler("z", np.arange(samples) * PERIOD)
    tilts = []
    for wanted in (False, True):
        filter = ComplementaryFilter(PERIOD, 3.0, wanted)
        filter.start(truth[0].as_quat(), np.array([0.0, 0.0, GRAVITY]))
        x, y, _, _ = (Rotation.from_quat(filter.update_all(rate, force)) * truth.inv()).as_quat().T
        tilts.append(2.0 * np.sqrt(np.mean(x**2 + y**2)))
    assert tilts[1] < 1.1 * tilts[0]


def test_a_missing_library_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "vqf", None)
    with pytest.raises(ConfigurationError, match="vqf"):
        make_filter(OutputSpecification(filter="vqf"), PERIOD)
