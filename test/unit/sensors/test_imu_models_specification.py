"""IMU model whose errors are defined by a specification."""

from dataclasses import replace
from operator import itemgetter

import numpy as np
import pytest
import yaml
from scipy.spatial.transform import Rotation
from true_signals import GRAVITY, PERIOD, still

import imu_simulation_framework as isf
from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.core.settings import to_mapping
from imu_simulation_framework.sensors.imu_models.base import PARTS, ImuTruth
from imu_simulation_framework.sensors.imu_models.plugins import make_imu_model

EVERYTHING = isf.ImuSpecification(
    "everything",
    isf.TriadSpecification(
        white_noise=(1e-3, 2e-3, 3e-3), quantisation=1e-6, bias_instability=1e-4
    ),
    isf.TriadSpecification(white_noise=1e-2, turn_on_bias_sigma=0.1, saturation=19.6),
    isf.TemperatureProfile(start=20.0, end=40.0, time_constant=2.0),
)


def _model(specification, seed=1, period=PERIOD):
    parameters = {"specification": specification}
    return make_imu_model("specification", parameters, period, seed)


def _with_gyroscope(**values):
    return isf.ImuSpecification(gyroscope=isf.TriadSpecification(**values))


def _truth(samples=400):
    """Return the signals of a robot that turns and shakes."""
    yaw = 0.3 + 0.5 * PERIOD * np.arange(samples)
    shaken = np.random.default_rng(5).normal(size=(samples, 3)) * 0.1
    return ImuTruth(
        Rotation.from_euler("z", yaw).as_quat(),
        np.tile([0.0, 0.0, 0.5], (samples, 1)),
        shaken + [0.0, 0.0, GRAVITY],
    )


def test_imu_readings_without_noise_are_ideal_signals_plus_bias():
    level = _truth()._replace(specific_force=still(400).specific_force)
    reading = _model(isf.ImuSpecification()).batch(level, 1, parts=PARTS)
    np.testing.assert_array_equal(reading.angular_velocity[0], level.angular_velocity)
    np.testing.assert_array_equal(reading.specific_force[0], level.specific_force)
    np.testing.assert_allclose(reading.orientation[0], level.orientation, atol=1e-12)
    np.testing.assert_allclose(reading.yaw_bias, 0.0, atol=1e-12)
    quiet = _with_gyroscope(turn_on_bias_sigma=0.1, random_walk=0.1, gauss_markov_sigma=0.1)
    reading = _model(quiet).batch(still(50), 2, parts=PARTS)
    np.testing.assert_allclose(reading.angular_velocity, reading.angular_velocity_bias, atol=1e-15)
    assert np.abs(reading.angular_velocity_bias[0] - reading.angular_velocity_bias[1]).min() > 0.0
    noisy = replace(quiet, gyroscope=replace(quiet.gyroscope, white_noise=1.0))
    other = _model(noisy).batch(still(50), 2, parts=PARTS)
    np.testing.assert_array_equal(other.angular_velocity_bias, reading.angular_velocity_bias)
    assert other.angular_velocity.std() > 1.0


def test_deterministic_imu_errors_match_equation_with_saturation_and_rounding():
    gyroscope = isf.TriadSpecification(
        scale_factor_and_misalignment=[[0.01, 0.02, 0.03], [0.0, -0.01, 0.0], [0.0, 0.0, 0.1]],
        g_sensitivity=[[0.0, 0.0, 1e-3], [0.0, 2e-3, 0.0], [0.0, 0.0, 0.0]],
        turn_on_bias=(0.1, 0.2, 0.3),
        temperature_bias=(1e-3, 0.0, 0.0),
        temperature_scale_factor=(0.0, 1e-2, 0.0),
    )
    temperature = isf.TemperatureProfile(reference=20.0, table=((0.0, 30.0), (0.02, 32.0)))
    model = _model(isf.ImuSpecification(gyroscope=gyroscope, temperature=temperature))
    truth = ImuTruth(np.array([0.0, 0.0, 0.0, 1.0]), np.array([1.0, 2.0, 3.0]), np.array([1, 2, 9]))
    for excess in (10.0, 11.0, 12.0):
        reading = model.step(truth)
        bias = [0.1 + 1e-3 * excess, 0.2, 0.3]
        expected = [
            1.01 + 0.04 + 0.09 + 9e-3 + bias[0],
            0.99 * 2.0 + 1e-2 * excess * 2.0 + 4e-3 + bias[1],
            3.3 + bias[2],
        ]
        np.testing.assert_allclose(reading.angular_velocity, expected, rtol=1e-12)
        np.testing.assert_allclose(reading.angular_velocity_bias, bias, rtol=1e-12)
        np.testing.assert_array_equal(reading.specific_force, truth.specific_force)
    model = _model(_with_gyroscope(saturation=(1.0, 2.0, 9.0), resolution=(0.3, 0.0, 0.25)))
    truth = still(1)._replace(angular_velocity=np.array([[-5.0, 1.23456, 3.1]]))
    np.testing.assert_allclose(model.advance(truth).angular_velocity, [[-0.9, 1.23456, 3.0]])


def _with_output(period=PERIOD, seed=1, **output):
    specification = isf.ImuSpecification(output=isf.OutputSpecification(**output))
    return _model(specification, seed, period)


def test_slow_sensor_outputs_mean_since_last_sample():
    model = _with_output(rate=25.0, start_offset=0.02)
    truth = still(12)
    truth.angular_velocity[:, 2] = np.arange(12.0)
    reading, new = model.steps(truth)
    # Samples 2, 6 and 10 are new; before the first, the signals are ideal.
    rates = [0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 4.5, 4.5, 4.5, 4.5, 8.5, 8.5]
    assert reading.angular_velocity[:, 2].tolist() == rates
    assert np.flatnonzero(new).tolist() == [2, 6, 10]
    assert not model.drop_repeated


def test_sensor_rate_must_divide_simulation_rate_and_determines_covariances():
    words = "output.rate is 30 Hz, .* 100 Hz divided by an integer"
    with pytest.raises(ConfigurationError, match=words):
        _with_output(rate=30.0)
    assert _with_output(rate=130.0).label
    # The output rate is 100 Hz in a faster simulation, and the simulation rate in a slower one.
    for period, expected in ((0.01, ()), (0.005, ()), (0.02, (0.02,))):
        actual = _model(EVERYTHING, period=period).covariances()
        assert actual == EVERYTHING.covariances(*expected)


def test_imu_model_accepts_specification_as_mapping_and_empty_input():
    model = _model(yaml.safe_load(yaml.safe_dump(to_mapping(EVERYTHING))))
    assert model.parameters.specification == EVERYTHING
    assert model.label == "specification_everything"
    for wrong, words in (({"gyroscope": {"arw": 1.0}}, "arw"), ("bno055.yaml", "keys and values")):
        with pytest.raises(ConfigurationError, match=words):
            _model(wrong)
    truth = _truth(20)
    model, other = _model(EVERYTHING), _model(EVERYTHING)
    empty = model.advance(truth.each(itemgetter(slice(0))))
    computed, expected = model.advance(truth), other.advance(truth)
    for name, shape in PARTS.items():
        assert getattr(empty, name).shape == (0, *shape)
        np.testing.assert_array_equal(getattr(computed, name), getattr(expected, name))


def test_seed_determines_random_start_offset():
    def first(seed):
        model = _with_output(seed=seed, start_offset=0.05, random_start_offset=0.2)
        return int(np.flatnonzero(model.new_samples(50))[0])

    firsts = [first(seed) for seed in range(400)]
    assert (min(firsts), max(firsts)) == (5, 25)
    # The offset is uniform over 20 periods: the mean of 400 has a standard error of 0.29.
    assert np.mean(firsts) == pytest.approx(15.0, abs=4 * 0.29)
    assert first(399) == firsts[-1]


def _sampled(time, period, **output):
    """Return the indices of the emitted samples, or None if each sample is emitted once."""
    model = _with_output(period, **output)
    return model.emitted(np.asarray(time), model.new_samples(len(time)))


@pytest.mark.parametrize("drop_repeated", [False, True])
def test_imu_samples_are_emitted_from_sensor_start(drop_repeated):
    model = _with_output(rate=50.0, start_offset=0.05, drop_repeated=drop_repeated)
    assert model.first_sample_time == pytest.approx(0.05)
    truth = ImuTruth(np.array([0.0, 0.0, 0.0, 1.0]), np.zeros(3), np.array([0.0, 0.0, 9.81]))
    emitted = []
    for number in range(12):
        model.step(truth)
        given = model.emitted(np.array([0.01 * number]), np.array([model.has_new_sample]))
        emitted += [number] * (1 if given is None else len(given))
    assert emitted == ([5, 7, 9, 11] if drop_repeated else list(range(5, 12)))


def test_sensor_faster_than_simulation_emits_samples_once_or_repeatedly():
    time = 0.02 * np.arange(50)
    assert _sampled(time, 0.02, rate=100.0) is None
    sampled = _sampled(time, 0.02, rate=100.0, repeat_samples=True)
    np.testing.assert_array_equal(sampled, np.repeat(np.arange(50), 2))
    # A sensor at 120 Hz emits each of 50 samples per second two or three times, 2.4 on average.
    times = np.bincount(_sampled(time, 0.02, rate=120.0, repeat_samples=True))
    assert set(times) == {2, 3}
    assert np.sum(times) == pytest.approx(120, abs=1)
    # Computation in blocks yields the same result.
    pieces = [_sampled([now], 0.02, rate=120.0, repeat_samples=True).size for now in time]
    np.testing.assert_array_equal(pieces, times)
    # A slower sensor has no samples to repeat.
    time = 0.01 * np.arange(20)
    assert _sampled(time, 0.01, rate=20.0, repeat_samples=True) is None
    sampled = _sampled(time, 0.01, rate=20.0, repeat_samples=True, drop_repeated=True)
    np.testing.assert_array_equal(sampled, [0, 5, 10, 15])
