"""Emulation of Gazebo's IMU plug-ins, and selection of models.

Hector's drift is a first-order autoregressive process d_k = phi d_(k-1) + e_k. With N values,
the standard errors are as follows:

- standard deviation of e, which is white: 1 / sqrt(2 N), relative;
- phi, by regression of d_k on d_(k-1): sqrt((1 - phi^2) / N);
- standard deviation of d: squares have a correlation of phi^(2 |lag|), so N values are equivalent
  to n = N (1 - phi^2) / (1 + phi^2) independent ones; 1 / sqrt(2 n), relative.
"""

import math
from operator import itemgetter

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from true_signals import GRAVITY, PERIOD, still

from imu_simulation_framework.core import angles
from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.sensors.imu_models import plugins
from imu_simulation_framework.sensors.imu_models.base import PARTS, SIGNALS, SLOW_ERRORS, ImuTruth
from imu_simulation_framework.sensors.imu_models.plugins import IMU_MODELS, PRESETS, make_imu_model

SIGMA = 0.00215


def _model(parameters=None, name="hector", period=PERIOD, seed=1):
    return make_imu_model(name, parameters or {}, period, seed)


def _level(yaw=0.0):
    return still(1, yaw).each(itemgetter(0))


def test_imu_presets_have_distinct_labels():
    labels = {_model(name=name).label for name in PRESETS}
    assert len(labels) == len(PRESETS)
    assert set(IMU_MODELS) <= set(PRESETS)
    assert {"ideal", "generic_sigma0.00215", "hector_sigma0.5_fd0.005"} < labels
    changed = {"rate_offset": 0.01, "yaw_drift": 0.25}
    assert _model(changed).label == "hector_sigma0.25_fd0.005_rate_offset0.01"
    # Arguments take precedence over the preset.
    assert _model({"yaw_drift": 2.0}, "hector_slow").label == "hector_sigma2_fd0.001"


@pytest.mark.parametrize(
    "name, parameters, period, words",
    [
        ("perfect", {}, PERIOD, "'perfect'.* generic, hector, "),
        ("generic", {"yaw_drift": 0.1}, PERIOD, "parameter 'yaw_drift'"),
        ("generic", {"gaussian_noise": -0.1}, PERIOD, "gaussian_noise is -0.1, expected"),
        ("hector", {"rate_offset": 1e7}, PERIOD, "rate_offset is .*, expected"),
        *(("ideal", {}, period, "period") for period in (0.0, -0.01, math.nan, math.inf)),
    ],
)
def test_invalid_imu_model_is_rejected_with_its_name(name, parameters, period, words):
    with pytest.raises(ConfigurationError, match=words):
        _model(parameters, name, period)


@pytest.fixture(scope="module")
def tumbling():
    generator, samples = np.random.default_rng(8), 40_000
    turns = Rotation.from_rotvec(generator.normal(size=(samples, 3))).as_quat()
    return ImuTruth(turns, *generator.normal(size=(2, samples, 3)))


@pytest.mark.parametrize("sigma", [SIGMA, 0.3])
def test_generic_imu_noise_is_white_on_ten_channels(tumbling, sigma):
    model = _model({"gaussian_noise": sigma}, "generic")
    reading = model.batch(tumbling, 1)
    noise = np.hstack([getattr(reading, name)[0] - getattr(tumbling, name) for name in SIGNALS])
    samples = len(noise)
    np.testing.assert_allclose(noise.std(axis=0), sigma, rtol=3.0 / math.sqrt(2.0 * samples))
    assert np.abs(noise.mean(axis=0)).max() < 3.0 * sigma / math.sqrt(samples)
    # There are 45 pairs with standard error 1 / sqrt(N); the largest may reach four of them.
    assert np.abs(np.corrcoef(noise.T) - np.eye(10)).max() < 4.0 / math.sqrt(samples)
    for channel in noise.T:
        assert abs(np.corrcoef(channel[1:], channel[:-1])[0, 1]) < 3.0 / math.sqrt(samples)
    # The quaternion is not normalised, so its norm is noisy.
    if sigma == SIGMA:
        norms = np.linalg.norm(reading.orientation[0], axis=1)
        assert norms.std() == pytest.approx(sigma, rel=3.0 / math.sqrt(2.0 * samples))
    np.testing.assert_allclose(model.covariances(), np.tile(sigma**2 * np.eye(3).ravel(), (3, 1)))


@pytest.mark.parametrize("name", ["ideal", "generic"])
def test_imu_without_drift_has_no_bias_and_ideal_imu_has_no_errors(tumbling, name):
    model = _model(name=name)
    reading = model.batch(tumbling, 2, parts=PARTS)
    for part in SLOW_ERRORS[:3]:
        np.testing.assert_array_equal(getattr(reading, part), 0.0)
    np.testing.assert_array_equal(reading.orientation_bias[0, 0], [0.0, 0.0, 0.0, 1.0])
    if name == "ideal":
        for part in SIGNALS:
            np.testing.assert_array_equal(getattr(reading, part)[1], getattr(tumbling, part))
        assert model.covariances() == ((0.0,) * 9,) * 3


def test_simulated_yaw_is_true_yaw_plus_bias():
    yaw = np.linspace(-3.0, 3.0, 300)
    reading = _model({"yaw_offset": 0.4}).batch(still(300, yaw), 2, parts=PARTS)
    for run in range(2):
        error = angles.difference(angles.yaw_from_quaternion(reading.orientation[run]), yaw)
        np.testing.assert_allclose(error, reading.yaw_bias[run], atol=1e-12)
    assert np.ptp(reading.yaw_bias[0]) > 0.0
    assert reading.yaw_bias[:, 0] == pytest.approx([0.4, 0.4], abs=3.0 * 0.5 * PERIOD * 0.1)
    expected = _model({"yaw_gaussian_noise": 0.0}).step(_level(1.0)).orientation
    for errors in ({"yaw_gaussian_noise": 0.5}, {"rate_offset": 1.0, "rate_gaussian_noise": 1.0}):
        np.testing.assert_array_equal(_model(errors).step(_level(1.0)).orientation, expected)


@pytest.mark.parametrize("yaw", [0.0, 0.5 * math.pi, 2.0])
def test_accelerometer_bias_tilts_orientation_about_world_axis(yaw):
    bias = 0.2
    reading = _model({"accel_offset": bias, "yaw_drift": 0.0}).step(_level(yaw))
    # These are the world-axis components of the bias, which is the same on all sensor axes.
    east = bias * (math.cos(yaw) - math.sin(yaw))
    north = bias * (math.sin(yaw) + math.cos(yaw))
    rotation = Rotation.from_quat(reading.orientation) * Rotation.from_euler("z", yaw).inv()
    # The plug-in replaces the tangent of half the angle by the angle: an error of a^3 / 12 = 2e-6.
    expected = [north / GRAVITY, -east / GRAVITY, 0.0]
    np.testing.assert_allclose(rotation.as_rotvec(), expected, atol=3e-6)
    published = Rotation.from_quat(reading.orientation_bias)
    assert (published * rotation.inv()).magnitude() < 1e-12


def test_hector_signals_have_specified_scale_factor_offset_and_noise():
    rate, force = np.array([0.3, -1.2, 0.7]), np.array([0.5, -0.4, GRAVITY])
    errors = {"rate_offset": 0.1, "rate_scale_error": 1.5, "accel_offset": -0.2}
    truth = ImuTruth(np.array([0.1, 0.2, 0.3, 0.9]), rate, force)
    reading = _model({**errors, "accel_scale_error": 0.5}).step(truth)
    np.testing.assert_allclose(reading.angular_velocity, 1.5 * rate + 0.1)
    np.testing.assert_allclose(reading.specific_force, 0.5 * force - 0.2)
    np.testing.assert_allclose(reading.angular_velocity_bias, 0.1)
    np.testing.assert_allclose(reading.specific_force_bias, -0.2)
    samples = 20_000
    model = _model({"rate_gaussian_noise": 0.01, "accel_gaussian_noise": 0.3})
    reading = model.batch(still(samples, gravity=0.0), 1, parts=PARTS)
    tolerance = 3.0 / math.sqrt(2.0 * samples)
    np.testing.assert_allclose(reading.angular_velocity[0].std(axis=0), 0.01, rtol=tolerance)
    np.testing.assert_allclose(reading.specific_force[0].std(axis=0), 0.3, rtol=tolerance)
    np.testing.assert_array_equal(reading.angular_velocity_bias, 0.0)


def test_hector_covariances_match_plugin_and_invalid_drift_is_rejected():
    noises = {"rate": 0.1, "accel": 0.2, "yaw": 0.3}
    parameters = {f"{name}_gaussian_noise": sigma for name, sigma in noises.items()}
    orientation, rate, force = _model({**parameters, "rate_drift": 7.0}).covariances()
    tilt = (0.2 / GRAVITY) ** 2
    np.testing.assert_allclose(orientation, np.diag([tilt, tilt, 0.09]).ravel())
    np.testing.assert_allclose(rate, 0.01 * np.eye(3).ravel())
    np.testing.assert_allclose(force, 0.04 * np.eye(3).ravel())
    assert _model().covariances()[0][8] == SIGMA**2
    with pytest.raises(ConfigurationError, match="angular_velocity"):
        _model().set_drift(angular_velocity=(0.0, math.nan, 0.0))
    with pytest.raises(ConfigurationError, match="no drift to set"):
        _model(name="ideal").set_drift(angular_velocity=(0.0, 0.0, 0.0))


CALM = {"yaw_drift": 0.0, "rate_offset": 0.01, "rate_drift": 1.0, "accel_drift": 1.0}


def test_setting_drift_changes_neither_offset_nor_random_numbers():
    model = _model({**CALM, "rate_drift_frequency": 0.1})
    model.step(_level())
    # In the next step, the drift decays by a thousandth, and an innovation is added.
    innovation = 6.0 * PERIOD * math.sqrt(2.0 * 0.1)
    for drift, off in (((0.3, -0.2, 0.1), 1e-3), ((0.0, 0.0, 0.0), 0.0)):
        model.set_drift(angular_velocity=drift)
        actual = model.step(_level()).angular_velocity_bias
        np.testing.assert_allclose(actual, np.add(drift, 0.01), atol=innovation + off)
    changed, other = _model(CALM), _model(CALM)
    other.set_drift(specific_force=(1.0, 0.0, 0.0), angular_velocity=(0.0, 0.0, 2.0))
    for _ in range(5):
        first, second = changed.step(_level()), other.step(_level())
    left = math.exp(-5 * PERIOD / 3600.0)
    for part, expected in (
        ("specific_force_bias", [left, 0, 0]),
        ("angular_velocity_bias", [0, 0, 2 * left]),
    ):
        added = getattr(second, part) - getattr(first, part)
        np.testing.assert_allclose(added, expected, atol=1e-12)


def test_tilt_from_accelerometer_bias_is_inversely_proportional_to_gravity():
    model = _model({"yaw_drift": 0.0})
    model.set_drift(specific_force=(0.1, 0.0, 0.0))
    pitch = angles.roll_pitch_yaw_from_quaternion(model.step(_level()).orientation)[1]
    assert abs(pitch) == pytest.approx(0.1 / GRAVITY, rel=1e-3)
    model = _model({"yaw_drift": 0.0, "accel_offset": 0.1, "accel_gaussian_noise": 0.1})
    model.gravity = 1.62
    pitch = angles.roll_pitch_yaw_from_quaternion(model.step(_level()).orientation)[1]
    assert abs(pitch) == pytest.approx(0.1 / 1.62, rel=1e-2)
    assert model.covariances()[0][0] == pytest.approx((0.1 / 1.62) ** 2)


def _drifts(drift, frequency, period, samples, runs, seed):
    """Simulate the seven independent drifts of the plug-in in each run, shape (7 runs, samples)."""
    parameters = {f"{sensor}_drift": drift for sensor in ("yaw", "rate", "accel")}
    parameters.update({f"{name}_frequency": frequency for name in parameters})
    reading = _model(parameters, "hector", period, seed).batch(still(samples), runs, 0, SLOW_ERRORS)
    biases = reading.yaw_bias[..., np.newaxis], reading.angular_velocity_bias
    drifts = np.concatenate([*biases, reading.specific_force_bias], axis=2)
    return np.moveaxis(drifts, 2, 1).reshape(7 * runs, samples)


@pytest.mark.parametrize(
    "drift, frequency, period, samples, runs",
    [
        (0.5, 0.005, 0.01, 400_000, 1),
        # At a rate of 1 Hz, 100 correlation times need only 100 000 samples.
        (1.118, 0.001, 1.0, 100_000, 1),
        (0.02, 0.5, 0.01, 20_000, 20),
    ],
)
def test_hector_drift_statistics_match_formula(drift, frequency, period, samples, runs):
    drifts = _drifts(drift, frequency, period, samples, runs, seed=7)
    phi = math.exp(-frequency * period)
    # Drift starts at zero and has 1 - exp(-10) of its variance after five correlation times.
    settled = drifts[:, round(5.0 / (frequency * period)) :]
    before, after = settled[:, :-1].ravel(), settled[:, 1:].ravel()
    count = before.size
    innovation = drift * period * math.sqrt(2.0 * frequency)
    innovation_std = plugins.drift_innovation_std(drift, frequency, period)
    assert innovation_std == pytest.approx(innovation, rel=1e-12)
    actual = np.sqrt(np.mean((after - phi * before) ** 2))
    assert actual == pytest.approx(innovation, rel=3.0 / math.sqrt(2.0 * count))
    correlation = np.sum(after * before) / np.sum(before**2)
    assert correlation == pytest.approx(phi, abs=3.0 * math.sqrt((1.0 - phi**2) / count))
    independent = count * (1.0 - phi**2) / (1.0 + phi**2)
    stationary = plugins.drift_stationary_std(drift, frequency, period)
    actual = np.sqrt(np.mean(settled**2))
    assert actual == pytest.approx(stationary, rel=3.0 / math.sqrt(2.0 * independent))


def test_hector_drift_starts_at_zero_and_grows_like_random_walk():
    p = plugins.HectorParameters()
    runs = _drifts(p.yaw_drift, p.yaw_drift_frequency, PERIOD, samples=400, runs=100, seed=3)
    innovation = plugins.drift_innovation_std(p.yaw_drift, p.yaw_drift_frequency, PERIOD)
    for sample in (0, 399):
        # 700 independent values; in 4 s, the correlation reduces the variance by 2 % at most.
        spread = np.sqrt(np.mean(runs[:, sample] ** 2))
        expected = innovation * math.sqrt(sample + 1)
        assert spread == pytest.approx(expected, rel=3.0 / math.sqrt(2.0 * 700) + 0.02)


@pytest.mark.parametrize("period", [0.001, 0.01, 0.1])
@pytest.mark.parametrize("correlation_time", [0.5, 200.0, 1e5])
def test_drift_parameters_yield_requested_statistics(correlation_time, period):
    p = plugins.drift_parameters(0.25, correlation_time, period)
    assert plugins.drift_stationary_std(*p, period) == pytest.approx(0.25, rel=1e-12)
    assert p.drift_frequency == pytest.approx(1.0 / correlation_time, rel=1e-15)


def test_invalid_drift_correlation_time_is_rejected():
    with pytest.raises(ConfigurationError, match="correlation time"):
        plugins.drift_parameters(0.1, math.inf, 0.01)
