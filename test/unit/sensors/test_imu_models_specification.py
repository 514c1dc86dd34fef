"""The IMU model that a specification describes."""

import math
from dataclasses import replace
from operator import itemgetter

import numpy as np
import pytest
import yaml
from scipy.spatial.transform import Rotation

from imu_simulation_framework.core.angles import difference, yaw_from_quaternion
from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.core.settings import to_mapping
from imu_simulation_framework.sensors.conditions import TemperatureProfile
from imu_simulation_framework.sensors.imu_models.base import PARTS, ImuTruth
from imu_simulation_framework.sensors.imu_models.registry import make_imu_model
from imu_simulation_framework.sensors.imu_models.specification import SpecificationImu
from imu_simulation_framework.sensors.imu_specification import (
    ImuSpecification,
    OutputSpecification,
    TriadSpecification,
)

PERIOD = 0.01
GRAVITY = 9.81
EVERYTHING = ImuSpecification(
    "everything",
    TriadSpecification(
        quantisation=1e-6,
        white_noise=(1e-3, 2e-3, 3e-3),
        bias_instability=1e-4,
        random_walk=1e-4,
        rate_ramp=(1e-4, 0.0, -1e-4),
        gauss_markov_sigma=1e-3,
        gauss_markov_time=(1.0, 2.0, 3.0),
        turn_on_bias=(0.01, 0.02, 0.03),
        turn_on_bias_sigma=0.01,
        scale_factor_and_misalignment=np.arange(9.0).reshape(3, 3) / 100.0,
        temperature_bias=1e-4,
        temperature_scale_factor=1e-3,
        saturation=(2.0, 2.0, 1.5),
        resolution=(1e-3, 0.0, 2e-3),
        g_sensitivity=np.arange(9.0).reshape(3, 3) / 1e4,
    ),
    TriadSpecification(
        white_noise=1e-2, bias_instability=1e-3, turn_on_bias_sigma=0.1, saturation=19.6
    ),
    TemperatureProfile(start=20.0, end=40.0, time_constant=2.0),
)


def _model(specification, seed=1, period=PERIOD):
    parameters = {"specification": specification}
    return make_imu_model("specification", parameters, period, seed)


def _with_gyroscope(**values):
    return ImuSpecification(gyroscope=TriadSpecification(**values))


def _truth(samples=400, seed=5):
    """A robot that turns and shakes."""
    generator = np.random.default_rng(seed)
    yaw = 0.3 + 0.5 * PERIOD * np.arange(samples)
    return ImuTruth(
        Rotation.from_euler("z", yaw).as_quat(),
        np.tile([0.0, 0.0, 0.5], (samples, 1)),
        generator.normal(size=(samples, 3)) * 0.1 + [0.0, 0.0, GRAVITY],
    )


def _rest(samples):
    return ImuTruth(
        np.tile([0.0, 0.0, 0.0, 1.0], (samples, 1)),
        np.zeros((samples, 3)),
        np.tile([0.0, 0.0, GRAVITY], (samples, 1)),
    )


def _sample(truth, index):
    return truth.each(itemgetter(index))


def _step_all(model, truth):
    readings = [model.step(_sample(truth, index)) for index in range(len(truth.orientation))]
    return [np.array([getattr(reading, name) for reading in readings]) for name in PARTS]


@pytest.mark.parametrize("output", [{}, {"filter": "vqf"}, {"rate": 20.0}, {"start_offset": 0.3}])
def test_blocks_equal_single_samples_and_mix_with_them(output):
    specification = replace(EVERYTHING, output=OutputSpecification(**output))
    truth = _truth()
    expected = _step_all(_model(specification), truth)
    model = _model(specification)
    parts = []
    for start, stop in ((0, 100), (100, 101), (101, 250)):
        parts.append(model.advance(_sample(truth, slice(start, stop))))
    last = _step_all(model, _sample(truth, slice(250, None)))
    for index, (name, values) in enumerate(zip(PARTS, expected)):
        ours = np.concatenate([*(getattr(part, name) for part in parts), last[index]])
        np.testing.assert_allclose(ours, values, rtol=0.0, atol=1e-12)


def test_without_errors_the_readings_are_the_truth():
    specification = ImuSpecification()
    truth = _truth()
    level = truth._replace(specific_force=_rest(400).specific_force)
    reading = _model(specification).batch(level, 1, parts=PARTS)
    np.testing.assert_array_equal(reading.angular_velocity[0], level.angular_velocity)
    np.testing.assert_array_equal(reading.specific_force[0], level.specific_force)
    np.testing.assert_allclose(reading.orientation[0], level.orientation, atol=1e-12)
    np.testing.assert_allclose(reading.yaw_bias, 0.0, atol=1e-12)


def test_deterministic_errors_follow_their_equation():
    gyroscope = TriadSpecification(
        scale_factor_and_misalignment=[[0.01, 0.02, 0.03], [0.0, -0.01, 0.0], [0.0, 0.0, 0.1]],
        g_sensitivity=[[0.0, 0.0, 1e-3], [0.0, 2e-3, 0.0], [0.0, 0.0, 0.0]],
        turn_on_bias=(0.1, 0.2, 0.3),
        temperature_bias=(1e-3, 0.0, 0.0),
        temperature_scale_factor=(0.0, 1e-2, 0.0),
    )
    temperature = TemperatureProfile(reference=20.0, table=((0.0, 30.0), (0.02, 32.0)))
    model = _model(ImuSpecification(gyroscope=gyroscope, temperature=temperature))
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


def test_readings_are_limited_and_rounded():
    model = _model(_with_gyroscope(saturation=(1.0, 2.0, 9.0), resolution=(0.3, 0.0, 0.25)))
    truth = ImuTruth(
        np.array([0, 0, 0, 1.0]), np.array([-5.0, 1.23456, 3.1]), np.array([0, 0, 9.8])
    )
    np.testing.assert_allclose(model.step(truth).angular_velocity, [-0.9, 1.23456, 3.0])


def test_bias_is_what_is_added_without_the_noise():
    quiet = _with_gyroscope(turn_on_bias_sigma=0.1, random_walk=0.1, gauss_markov_sigma=0.1)
    reading = _model(quiet).batch(_rest(50), 2, parts=PARTS)
    np.testing.assert_allclose(reading.angular_velocity, reading.angular_velocity_bias, atol=1e-15)
    assert np.abs(reading.angular_velocity_bias[0] - reading.angular_velocity_bias[1]).min() > 0.0
    noisy = replace(quiet, gyroscope=replace(quiet.gyroscope, white_noise=1.0))
    other = _model(noisy).batch(_rest(50), 2, parts=PARTS)
    np.testing.assert_array_equal(other.angular_velocity_bias, reading.angular_velocity_bias)
    assert other.angular_velocity.std() > 1.0


def test_orientation_bias_leads_from_truth_to_reading():
    truth = _truth()
    reading = _model(EVERYTHING).batch(truth, 1, parts=PARTS)
    led = Rotation.from_quat(reading.orientation_bias[0]) * Rotation.from_quat(truth.orientation)
    assert (led * Rotation.from_quat(reading.orientation[0]).inv()).magnitude().max() < 1e-12
    yaw = difference(yaw_from_quaternion(reading.orientation[0]), yaw_from_quaternion(truth[0]))
    np.testing.assert_allclose(reading.yaw_bias[0], yaw, atol=1e-12)


def test_yaw_error_is_the_angle_random_walk():
    density, samples, runs = 1e-3, 3000, 300
    specification = _with_gyroscope(white_noise=(0.0, 0.0, density))
    reading = _model(specification).batch(_rest(samples), runs, parts=PARTS)
    # The first sample only starts the filter.
    expected = density * math.sqrt((samples - 1) * PERIOD)
    assert reading.yaw_bias[:, -1].std() == pytest.approx(expected, rel=4.0 / math.sqrt(2.0 * runs))
    assert reading.yaw_bias[:, 0] == pytest.approx(np.zeros(runs), abs=1e-12)


def test_yaw_error_of_a_scale_factor_is_its_share_of_each_round():
    rounds, error, rate = 3, 0.003, 2.0 * math.pi / 10.0
    matrix = np.zeros((3, 3))
    matrix[2, 2] = error
    samples = round(rounds * 2.0 * math.pi / rate / PERIOD) + 1
    truth = ImuTruth(
        Rotation.from_euler("z", rate * PERIOD * np.arange(samples)).as_quat(),
        np.tile([0.0, 0.0, rate], (samples, 1)),
        _rest(samples).specific_force,
    )
    reading = _model(_with_gyroscope(scale_factor_and_misalignment=matrix)).batch(
        truth, 1, parts=PARTS
    )
    assert reading.yaw_bias[0, -1] == pytest.approx(rounds * 2.0 * math.pi * error, rel=1e-6)


def test_yaw_error_of_a_bias_is_its_integral():
    reading = _model(_with_gyroscope(turn_on_bias=(0.0, 0.0, 1e-3))).batch(
        _rest(1001), 1, parts=PARTS
    )
    assert reading.yaw_bias[0, -1] == pytest.approx(1e-3 * 10.0, rel=1e-9)


def test_accelerometer_bias_becomes_tilt_and_no_yaw():
    bias = 0.2
    specification = ImuSpecification(
        accelerometer=TriadSpecification(turn_on_bias=(bias, 0.0, 0.0))
    )
    reading = _model(specification).batch(_rest(100), 1, parts=PARTS)
    pitch = Rotation.from_quat(reading.orientation[0]).as_euler("ZYX")[:, 1]
    np.testing.assert_allclose(pitch, -math.atan(bias / GRAVITY), rtol=1e-9)
    np.testing.assert_allclose(reading.yaw_bias, 0.0, atol=1e-12)


def test_a_slower_sensor_holds_the_mean_since_its_last_sample():
    specification = ImuSpecification(output=OutputSpecification(rate=25.0, start_offset=0.02))
    model = _model(specification)
    truth = _rest(12)
    truth.angular_velocity[:, 2] = np.arange(12.0)
    rates, new = [], []
    for index in range(12):
        rates.append(model.step(_sample(truth, index)).angular_velocity[2])
        new.append(model.has_new_sample)
    # Samples 2, 6 and 10; before the first the truth.
    assert rates == [0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 4.5, 4.5, 4.5, 4.5, 8.5, 8.5]
    assert np.flatnonzero(new).tolist() == [2, 6, 10]
    assert not model.drop_repeated


def test_noise_of_a_slower_sensor_has_the_same_density():
    density, samples = 0.1, 40_000
    specification = replace(
        _with_gyroscope(white_noise=density),
        output=OutputSpecification(rate=20.0, orientation_reference="truth"),
    )
    rates = _model(specification).batch(_rest(samples), 1, parts=PARTS).angular_velocity[0, ::5]
    tolerance = 4.0 / math.sqrt(2.0 * len(rates))
    np.testing.assert_allclose(rates.std(axis=0), density * math.sqrt(20.0), rtol=tolerance)


def test_a_rate_that_does_not_fit_the_simulation_is_refused():
    with pytest.raises(
        ConfigurationError, match="output.rate is 30 Hz, .* whole fraction .* 100 Hz"
    ):
        _model(ImuSpecification(output=OutputSpecification(rate=30.0)))
    assert _model(ImuSpecification(output=OutputSpecification(rate=130.0))).label


def test_covariances_are_those_of_the_specification():
    assert _model(EVERYTHING).covariances() == EVERYTHING.covariances()
    faster = _model(EVERYTHING, period=0.005)
    # The sensor still has 100 Hz.
    assert faster.covariances() == EVERYTHING.covariances()
    slower = _model(EVERYTHING, period=0.02)
    assert slower.covariances() == EVERYTHING.covariances(0.02)


def test_specification_may_come_as_plain_values_through_a_message():
    message = yaml.safe_dump(to_mapping(EVERYTHING))
    model = _model(yaml.safe_load(message))
    assert isinstance(model, SpecificationImu)
    assert model.parameters.specification == EVERYTHING
    assert model.label == "specification_everything"
    with pytest.raises(ConfigurationError, match="gyroscope has the unknown key 'arw'"):
        _model({"gyroscope": {"arw": 1.0}})
    with pytest.raises(ConfigurationError, match="must hold keys and values"):
        _model("bno055.yaml")


def test_to_advance_by_nothing_changes_nothing():
    truth = _truth(20)
    model, other = _model(EVERYTHING), _model(EVERYTHING)
    empty = model.advance(_sample(truth, slice(0)))
    assert {name: getattr(empty, name).shape for name in PARTS} == {
        name: (0, *shape) for name, shape in PARTS.items()
    }
    ours, expected = model.advance(truth), other.advance(truth)
    for name in PARTS:
        np.testing.assert_array_equal(getattr(ours, name), getattr(expected, name))


def _given(time, period, **output):
    model = make_imu_model(
        "specification",
        {"specification": ImuSpecification(output=OutputSpecification(**output))},
        period,
    )
    return model.given_away(np.asarray(time), model.new_samples(len(time)))


def test_a_sensor_that_is_faster_than_the_simulation_gives_each_sample_once():
    time = 0.02 * np.arange(50)
    assert _given(time, 0.02, rate=100.0) is None


def test_asked_to_it_repeats_each_as_often_as_its_rate_wants():
    time = 0.02 * np.arange(50)
    given = _given(time, 0.02, rate=100.0, repeat_samples=True)
    np.testing.assert_array_equal(given, np.repeat(np.arange(50), 2))
    # 120 Hz at 50 Hz are 2.4 a sample: two or three times, 120 in a second.
    times = np.bincount(_given(time, 0.02, rate=120.0, repeat_samples=True))
    assert set(times) == {2, 3}
    assert np.sum(times) == pytest.approx(120, abs=1)
    # Piece by piece it is the same.
    pieces = [
        _given(time[k : k + 1], 0.02, rate=120.0, repeat_samples=True).size for k in range(50)
    ]
    np.testing.assert_array_equal(pieces, times)


def test_a_slower_one_has_nothing_to_repeat():
    time = 0.01 * np.arange(20)
    assert _given(time, 0.01, rate=20.0, repeat_samples=True) is None
    given = _given(time, 0.01, rate=20.0, repeat_samples=True, drop_repeated=True)
    np.testing.assert_array_equal(given, [0, 5, 10, 15])


def test_the_seed_decides_how_late_the_sensor_starts():
    output = OutputSpecification(start_offset=0.05, random_start_offset=0.2)
    firsts = []
    for seed in range(400):
        model = make_imu_model(
            "specification", {"specification": ImuSpecification(output=output)}, 0.01, seed
        )
        firsts.append(int(np.flatnonzero(model.new_samples(50))[0]))
    assert min(firsts) == 5
    assert max(firsts) == 25
    # Uniform over 20 periods: the mean of 400 has a standard error of 0.29.
    assert np.mean(firsts) == pytest.approx(15.0, abs=4 * 0.29)
    again = make_imu_model(
        "specification", {"specification": ImuSpecification(output=output)}, 0.01, 399
    )
    assert int(np.flatnonzero(again.new_samples(50))[0]) == firsts[-1]
