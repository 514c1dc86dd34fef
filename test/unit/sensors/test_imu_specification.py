"""The specification of an IMU's errors."""

import math
from dataclasses import replace

import numpy as np
import pytest

from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.core.settings import from_mapping
from imu_simulation_framework.sensors.conditions import TemperatureProfile
from imu_simulation_framework.sensors.imu_specification import (
    ImuSpecification,
    MagnetometerSpecification,
    OutputSpecification,
    TriadSpecification,
)

NAN, INF = math.nan, math.inf


def test_one_number_stands_for_three_axes():
    triad = TriadSpecification(white_noise=1e-3, random_walk=np.array([1, 2, 3]))
    assert triad == TriadSpecification(white_noise=[1e-3] * 3, random_walk=(1.0, 2.0, 3.0))
    assert hash(triad)
    assert triad.white_noise == (1e-3, 1e-3, 1e-3)
    assert triad.random_walk == (1.0, 2.0, 3.0)
    assert TriadSpecification().white_noise == (0.0, 0.0, 0.0)
    assert TriadSpecification(bandwidth=0.01).bandwidth == 0.01
    signed = ("rate_ramp", "turn_on_bias", "temperature_bias")
    negative = TriadSpecification(**dict.fromkeys(signed, -1.0))
    assert all(getattr(negative, name) == (-1.0, -1.0, -1.0) for name in signed)
    assert TriadSpecification().gauss_markov_time == (1000.0, 1000.0, 1000.0)


@pytest.mark.parametrize(
    "values, words",
    [
        ({"white_noise": -1e-4}, "white_noise is -0.0001, but it must not be negative"),
        ({"white_noise": (1.0, -1.0, 1.0)}, "white_noise y is -1.0, but it must not be negative"),
        ({"white_noise": (1.0, 2.0)}, "white_noise has 2 numbers, but there must be three"),
        ({"random_walk": 10**400}, "random_walk .* 400 digits"),
        ({"random_walk": 1e200}, "random_walk is 1e.200, which is too large"),
        ({"gauss_markov_time": 1e-318}, "gauss_markov_time is 1e-318, which is too small"),
        ({"gauss_markov_time": (1.0, INF, 1.0)}, "gauss_markov_time y is inf"),
        ({"bias_instability_band": (0.0, 1.0)}, "bias_instability_band is 0.0, but it must be"),
        ({"bias_instability_band": (2.0, 1.0)}, "bias_instability_band is 2 s to 1 s"),
        ({"bias_instability_band": 3.0}, "bias_instability_band is 3.0, but it must be two times"),
        ({"g_sensitivity": 0.1}, "g_sensitivity must have three rows of three numbers"),
        ({"g_sensitivity": [[1, 2, 3], [1, 2, 3], [1, 2]]}, "three rows of three numbers"),
        ({"scale_factor_and_misalignment": [[0, NAN, 0]] * 3}, "misalignment xy is nan"),
    ],
)
def test_impossible_errors_are_refused_by_name(values, words):
    with pytest.raises(ConfigurationError, match=words):
        TriadSpecification(**values)


@pytest.mark.parametrize(
    "kind, values, words",
    [
        (OutputSpecification, {"filter": "kalman"}, "filter is 'kalman', but it must be mahony or"),
        (OutputSpecification, {"orientation_reference": 3}, "orientation_reference is 3"),
        (OutputSpecification, {"topic": "two words"}, "topic is 'two words', but it must be the"),
        (OutputSpecification, {"drop_repeated": 1}, "drop_repeated is 1, but it must be false or"),
        (TemperatureProfile, {"table": ((0.0, 20.0), (0.0, 21.0))}, "its times must increase"),
        (TemperatureProfile, {"table": (1.0, 2.0)}, "table must be a list of pairs"),
        (ImuSpecification, {"name": "a/b"}, "name is 'a/b'"),
        (ImuSpecification, {"gyroscope": 1.0}, "gyroscope is .* must be a TriadSpecification"),
        (
            ImuSpecification,
            {"accelerometer": TriadSpecification(g_sensitivity=np.eye(3))},
            "accelerometer.g_sensitivity",
        ),
    ],
)
def test_impossible_parts_are_refused_by_name(kind, values, words):
    with pytest.raises(ConfigurationError, match=words):
        kind(**values)


def test_an_accelerometer_may_say_that_it_has_no_g_sensitivity():
    none = {"g_sensitivity": np.zeros((3, 3)).tolist()}
    read = from_mapping(ImuSpecification, {"accelerometer": none}, "the specification")
    assert read == ImuSpecification()
    some = {"g_sensitivity": np.eye(3).tolist()}
    with pytest.raises(ConfigurationError, match="accelerometer.g_sensitivity is set, but only a"):
        from_mapping(ImuSpecification, {"accelerometer": some}, "the specification")


def test_temperature_approaches_its_end_exponentially_or_follows_a_table():
    approaching = TemperatureProfile(start=20.0, end=40.0, time_constant=10.0)
    expected = [20.0, 40.0 - 20.0 / math.e, 40.0]
    np.testing.assert_allclose(approaching.at(np.array([0.0, 10.0, 1e4])), expected)
    profile = TemperatureProfile(start=-50.0, table=((1.0, 20.0), (3.0, 30.0)))
    np.testing.assert_allclose(profile.at(np.array([0.0, 2.0, 9.0])), [20.0, 25.0, 30.0])


def test_covariances_are_variances_of_single_samples():
    specification = ImuSpecification(
        gyroscope=TriadSpecification(white_noise=(1e-3, 2e-3, 3e-3), quantisation=1e-5),
        accelerometer=TriadSpecification(resolution=0.12),
        output=OutputSpecification(rate=50.0),
    )
    _, rate, force = specification.covariances()
    expected = np.array([1e-6, 4e-6, 9e-6]) * 50.0 + 2.0 * (1e-5 * 50.0) ** 2
    np.testing.assert_allclose(rate, np.diag(expected).ravel())
    np.testing.assert_allclose(force, np.diag([0.0012] * 3).ravel())
    _, faster, _ = specification.covariances(period=0.01)
    assert faster[0] > rate[0]
    # What passes at half of the rate passes whole.
    whole = replace(specification, gyroscope=replace(specification.gyroscope, bandwidth=25.0))
    np.testing.assert_array_equal(whole.covariances()[1], rate)


def test_yaw_variance_grows_as_the_integrated_gyroscope_error():
    specification = ImuSpecification(
        gyroscope=TriadSpecification(white_noise=1e-3, random_walk=1e-5, turn_on_bias_sigma=1e-4)
    )
    orientation, _, _ = specification.covariances(duration=100.0)
    assert orientation[8] == pytest.approx(1e-6 * 100.0 + 1e-10 * 1e6 / 3.0 + 1e-8 * 1e4)
    truth = replace(specification, output=OutputSpecification(orientation_reference="truth"))
    assert truth.covariances()[0] == (0.0,) * 9


def test_variances_of_the_orientation_are_what_each_sensors_errors_make_of_it():
    gyroscope = TriadSpecification(
        white_noise=(1e-3, 2e-3, 3e-3),
        random_walk=(1e-5, 2e-5, 4e-5),
        turn_on_bias_sigma=(1e-3, 2e-3, 5e-3),
        gauss_markov_sigma=(2e-3, 3e-3, 7e-3),
    )
    accelerometer = TriadSpecification(
        white_noise=(0.01, 0.02, 0.7),
        turn_on_bias_sigma=(0.03, 0.05, 0.7),
        gauss_markov_sigma=(0.04, 0.06, 0.7),
    )
    magnetometer = MagnetometerSpecification(white_noise=(1e-6, 2e-6, 9e-6))
    settling, heading, duration, gravity = 3.0, 7.0, 50.0, 9.80665
    output = OutputSpecification(
        filter_time_constant=settling, magnetic_time_constant=heading, magnetic_heading=True
    )
    found = ImuSpecification(
        gyroscope=gyroscope, accelerometer=accelerometer, magnetometer=magnetometer, output=output
    ).covariances(duration=duration)[0]
    # White noise through a low-pass of time constant T has N^2 / 2 T, integrated by a high-pass
    # N^2 T / 2. A roll is a force along y, a pitch one along x.
    roll = (0.02**2 / 6.0 + 0.05**2 + 0.06**2) / gravity**2 + 1e-3**2 * 1.5
    pitch = (0.01**2 / 6.0 + 0.03**2 + 0.04**2) / gravity**2 + 2e-3**2 * 1.5
    # A bias is held against for 7 s; the largest of the level axes' noise over a field of 20 uT.
    bias = 4e-5**2 * duration + 5e-3**2 + 7e-3**2
    yaw = 3e-3**2 * 3.5 + bias * 49.0 + (2e-6 / 20e-6) ** 2 / 14.0
    np.testing.assert_allclose(np.reshape(found, (3, 3)), np.diag([roll, pitch, yaw]), rtol=1e-12)
