from dataclasses import replace

import numpy as np
import pytest

import imu_simulation_framework as isf
from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.core.settings import from_mapping
from imu_simulation_framework.sensors.formats.base import list_unsupported

PERIOD = 0.01
MAG = ["mag_x", "mag_y", "mag_z"]
HARD = (2e-6, -1e-6, 3e-6)
SOFT = ((1.1, 0.02, 0.0), (0.02, 0.95, -0.03), (0.0, -0.03, 1.02))
MOTION = isf.rounds(1.0, speed=0.8, radius=3.0)
EARTH = isf.MagneticEnvironment(earth=(2e-6, 20e-6, -45e-6))


def specified(**magnetometer):
    return isf.ImuSpecification(magnetometer=isf.MagnetometerSpecification(**magnetometer))


def test_magnetometer_without_errors_measures_field_in_sensor_axes():
    beam = isf.Bar((3.0, -1.0, 0.0), (0.1, 4.0, 0.1))
    hall = isf.MagneticEnvironment(earth=EARTH.earth, bars=[beam])
    samples = isf.simulate_imu(MOTION, specified(), magnetic_environment=hall)
    measured_signal = hall.measured_field(MOTION.position, MOTION.orientation)
    np.testing.assert_allclose(samples[MAG], measured_signal, rtol=0.0, atol=1e-18)
    # The robot is level: the vertical field is constant, and so is the horizontal magnitude.
    clean = isf.simulate_imu(MOTION, specified(), magnetic_environment=EARTH)[MAG].to_numpy()
    assert clean[:, 2] == pytest.approx(-45e-6)
    assert np.hypot(*clean[:, :2].T) == pytest.approx(np.hypot(2e-6, 20e-6))
    # The robot faces east along x, so north is to the left.
    assert clean[0] == pytest.approx(EARTH.earth)


def test_hard_and_soft_iron_and_motor_torque_change_measured_field():
    truth = EARTH.measured_field(MOTION.position, MOTION.orientation)
    iron = specified(hard_iron=HARD, soft_iron=SOFT)
    computed = isf.simulate_imu(MOTION, iron, magnetic_environment=EARTH)
    np.testing.assert_allclose(computed[MAG], truth @ np.array(SOFT).T + HARD, rtol=1e-12)
    motors = isf.MotorField(left=(1e-6, 0.0, 0.0), right=(0.0, -2e-6, 0.0))
    robot = isf.MagneticEnvironment(earth=EARTH.earth, motors=motors)
    torque = np.linspace([0.0, 1.0], [1.0, 0.0], len(MOTION))
    plain, pulled = (
        isf.simulate_imu(MOTION, specified(), magnetic_environment=robot, wheel_torque=wheel_torque)
        for wheel_torque in (None, torque)
    )
    expected = torque * [1e-6, -2e-6] @ np.eye(2, 3)
    np.testing.assert_allclose((pulled - plain)[MAG], expected, rtol=0.0, atol=1e-18)


def test_magnetometer_noise_and_rate_match_specification():
    rest = isf.at_rest(100.0)
    white = isf.simulate_imu(rest, specified(white_noise=1e-7), magnetic_environment=EARTH)
    noise = white[MAG].to_numpy() - EARTH.earth
    # N / sqrt(dt) from 30 000 numbers, within four standard errors.
    assert np.std(noise) == pytest.approx(1e-6, rel=4.0 / np.sqrt(2.0 * noise.size))
    slow = replace(specified(), output=isf.OutputSpecification(rate=20.0))
    computed = isf.simulate_imu(MOTION, slow, magnetic_environment=EARTH)
    measured_signal = EARTH.measured_field(MOTION.position, MOTION.orientation)
    np.testing.assert_allclose(computed[MAG], measured_signal[::5], rtol=0.0, atol=1e-18)


def test_adding_magnetometer_does_not_change_other_sensors():
    triad = isf.TriadSpecification(white_noise=1e-3, random_walk=1e-4, turn_on_bias_sigma=1e-2)
    errors = {"gyroscope": triad, "accelerometer": triad}
    other = isf.ImuSpecification(**errors)
    with_one = replace(specified(white_noise=1e-7), **errors)
    plain = isf.simulate_imu(MOTION, other, seed=3)
    for imu, environment in ((other, EARTH), (with_one, None), (with_one, EARTH)):
        computed = isf.simulate_imu(MOTION, imu, seed=3, magnetic_environment=environment)
        measured = imu is with_one and environment is EARTH
        assert list(computed.columns[len(plain.columns) :]) == (MAG if measured else [])
        np.testing.assert_array_equal(computed[plain.columns], plain)


def test_magnetometer_covariance_matches_formula_and_lack_of_support_is_listed():
    imu = specified(white_noise=1e-7, resolution=3e-7)
    covariance = imu.magnetic_covariance(PERIOD)
    assert covariance[0] == pytest.approx(1e-14 / PERIOD + 9e-14 / 12.0)
    assert isf.ImuSpecification().magnetic_covariance() == (0.0,) * 9
    assert "magnetometer" in list_unsupported(specified(), ())[0]


@pytest.mark.parametrize(
    "values, sentence",
    [
        ({"soft_iron": [[1, 0, 0], [0, 1, 0], [1, 1, 0]]}, "magnetometer.soft_iron is singular"),
        ({"soft_iron": np.diag([1050.0, 1.0, 1.0]).tolist()}, "magnetometer.soft_iron is singular"),
        ({"g_sensitivity": np.eye(3).tolist()}, "magnetometer.g_sensitivity is set"),
    ],
)
def test_invalid_magnetometer_specification_is_rejected(values, sentence):
    with pytest.raises(ConfigurationError, match=sentence):
        from_mapping(isf.ImuSpecification, {"magnetometer": values}, "it")
