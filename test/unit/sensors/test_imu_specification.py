"""Specification of IMU errors, its files, and the name of the IMU."""

import math
from dataclasses import fields, replace

import numpy as np
import pytest
from refusals import require_refused

import imu_simulation_framework as isf
from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.core.settings import from_mapping
from imu_simulation_framework.core.units import factor
from imu_simulation_framework.sensors import files
from imu_simulation_framework.sensors.formats.registry import named_imu
from imu_simulation_framework.sensors.triads import TRIADS

NAN = math.nan


def test_single_number_in_specification_applies_to_three_axes():
    triad = isf.TriadSpecification(white_noise=1e-3, random_walk=np.array([1, 2, 3]))
    assert triad == isf.TriadSpecification(white_noise=[1e-3] * 3, random_walk=(1.0, 2.0, 3.0))
    assert hash(triad) and triad.random_walk == (1.0, 2.0, 3.0)
    assert isf.TriadSpecification().white_noise == (0.0, 0.0, 0.0)
    assert isf.TriadSpecification().gauss_markov_time == (1000.0, 1000.0, 1000.0)


@pytest.mark.parametrize(
    "values, words",
    [
        ({"white_noise": -1e-4}, "white_noise is -0.0001, expected"),
        ({"white_noise": (1.0, 2.0)}, "white_noise has 2 numbers, expected one, or three"),
        ({"random_walk": 1e200}, "random_walk is 1e.200, expected"),
        ({"gauss_markov_time": 1e-318}, "gauss_markov_time is 1e-318, expected"),
        ({"bias_instability_band": (2.0, 1.0)}, "bias_instability_band is 2 s to 1 s"),
        ({"g_sensitivity": [[1, 2, 3], [1, 2, 3], [1, 2]]}, "three rows of three numbers"),
        ({"scale_factor_and_misalignment": [[0, NAN, 0]] * 3}, "misalignment xy is nan"),
    ],
)
def test_invalid_imu_error_parameters_are_rejected_with_parameter_name(values, words):
    with pytest.raises(ConfigurationError, match=words):
        isf.TriadSpecification(**values)


def test_g_sensitivity_of_accelerometer_is_rejected_and_temperature_follows_profile():
    none = {"g_sensitivity": np.zeros((3, 3)).tolist()}
    read = from_mapping(isf.ImuSpecification, {"accelerometer": none}, "the specification")
    assert read == isf.ImuSpecification()
    some = {"g_sensitivity": np.eye(3).tolist()}
    with pytest.raises(ConfigurationError, match="accelerometer.g_sensitivity"):
        from_mapping(isf.ImuSpecification, {"accelerometer": some}, "the specification")
    approaching = isf.TemperatureProfile(start=20.0, end=40.0, time_constant=10.0)
    expected = [20.0, 40.0 - 20.0 / math.e, 40.0]
    np.testing.assert_allclose(approaching.at(np.array([0.0, 10.0, 1e4])), expected)
    profile = isf.TemperatureProfile(start=-50.0, table=((1.0, 20.0), (3.0, 30.0)))
    np.testing.assert_allclose(profile.at(np.array([0.0, 2.0, 9.0])), [20.0, 25.0, 30.0])


def test_imu_covariances_match_sample_variances_and_integrated_error():
    specification = isf.ImuSpecification(
        gyroscope=isf.TriadSpecification(white_noise=(1e-3, 2e-3, 3e-3), quantisation=1e-5),
        accelerometer=isf.TriadSpecification(resolution=0.12),
        output=isf.OutputSpecification(rate=50.0),
    )
    _, rate, force = specification.covariances()
    expected = np.array([1e-6, 4e-6, 9e-6]) * 50.0 + 2.0 * (1e-5 * 50.0) ** 2
    np.testing.assert_allclose(rate, np.diag(expected).ravel())
    np.testing.assert_allclose(force, np.diag([0.0012] * 3).ravel())
    _, faster, _ = specification.covariances(period=0.01)
    assert faster[0] > rate[0]
    # A bandwidth of half the sampling rate passes all noise.
    whole = replace(specification, gyroscope=replace(specification.gyroscope, bandwidth=25.0))
    np.testing.assert_array_equal(whole.covariances()[1], rate)
    triad = isf.TriadSpecification(white_noise=1e-3, random_walk=1e-5, turn_on_bias_sigma=1e-4)
    specification = isf.ImuSpecification(gyroscope=triad)
    orientation, _, _ = specification.covariances(duration=100.0)
    assert orientation[8] == pytest.approx(1e-6 * 100.0 + 1e-10 * 1e6 / 3.0 + 1e-8 * 1e4)
    truth = replace(specification, output=isf.OutputSpecification(orientation_reference="truth"))
    assert truth.covariances()[0] == (0.0,) * 9


def test_fused_orientation_variances_match_formula():
    gyroscope = isf.TriadSpecification(
        white_noise=(1e-3, 2e-3, 3e-3),
        random_walk=(1e-5, 2e-5, 4e-5),
        turn_on_bias_sigma=(1e-3, 2e-3, 5e-3),
        gauss_markov_sigma=(2e-3, 3e-3, 7e-3),
    )
    accelerometer = isf.TriadSpecification(
        white_noise=(0.01, 0.02, 0.7),
        turn_on_bias_sigma=(0.03, 0.05, 0.7),
        gauss_markov_sigma=(0.04, 0.06, 0.7),
    )
    magnetometer = isf.MagnetometerSpecification(white_noise=(1e-6, 2e-6, 9e-6))
    settling, heading, duration, gravity = 3.0, 7.0, 50.0, 9.80665
    output = isf.OutputSpecification(
        filter_time_constant=settling, magnetic_time_constant=heading, magnetic_heading=True
    )
    actual = isf.ImuSpecification(
        gyroscope=gyroscope, accelerometer=accelerometer, magnetometer=magnetometer, output=output
    ).covariances(duration=duration)[0]
    # White noise after a low-pass filter of time constant T has N^2 / 2 T; integrated and high-pass
    # filtered, it has N^2 T / 2. Roll follows from force along y, pitch from force along x.
    roll = (0.02**2 / 6.0 + 0.05**2 + 0.06**2) / gravity**2 + 1e-3**2 * 1.5
    pitch = (0.01**2 / 6.0 + 0.03**2 + 0.04**2) / gravity**2 + 2e-3**2 * 1.5
    # A bias acts for 7 s. The magnetometer noise is that of the noisier horizontal axis, divided by
    # the horizontal field of 20 uT.
    bias = 4e-5**2 * duration + 5e-3**2 + 7e-3**2
    yaw = 3e-3**2 * 3.5 + bias * 49.0 + (2e-6 / 20e-6) ** 2 / 14.0
    np.testing.assert_allclose(np.reshape(actual, (3, 3)), np.diag([roll, pitch, yaw]), rtol=1e-12)


@pytest.mark.parametrize(
    "text, words",
    [
        ("gyroscop: {}", "unknown key 'gyroscop'; did you mean gyroscope\\?"),
        ("rate: 200", "unknown key 'rate'; it is a key of output"),
        (
            "gyroscope: {white_noise: 0.4 deg/sqrt(h)}",
            "gyroscope.white_noise is '0.4 deg/sqrt\\(h\\)', expected a number in rad/s/sqrt"
            "\\(Hz\\); .* {density: NUMBER, unit: UNIT",
        ),
        ("accelerometer: {g_sensitivity: 1.0}", "accelerometer.g_sensitivity"),
        ("name: a/b", "name is 'a/b'"),
        ("output: {topic: two words}", "output.topic is 'two words'"),
        ("output: {filter: ekf}", "output.filter is 'ekf', expected"),
    ],
)
def test_invalid_imu_file_is_rejected_with_file_and_key(tmp_path, text, words):
    require_refused(files.load_imu_specification, tmp_path / "imu.yaml", text, words)


def test_bno055_specification_matches_tables_3_2_and_3_3_of_thesis():
    specification = isf.read_imu_specification("bno055")
    gyroscope, accelerometer = specification.gyroscope, specification.accelerometer
    degree = math.pi / 180.0
    for values, table, size in (
        (gyroscope.white_noise, (0.3287, 0.4958, 0.1683), degree / 60.0),
        (gyroscope.bias_instability, (1.1729, 1.0117, 1.0315), degree / 3600.0),
        (gyroscope.random_walk, (2.1364, 0.0, 2.2234), degree / 3600.0 / 60.0),
        (accelerometer.white_noise, (0.0054, 0.0064, 0.0075), 1.0 / 60.0),
        (accelerometer.bias_instability, (0.2220, 0.2973, 0.3971), 1.0 / 3600.0),
        (accelerometer.random_walk, (4.8584, 7.8522, 0.7164), 1.0 / 3600.0 / 60.0),
    ):
        np.testing.assert_allclose(values, np.multiply(table, size), rtol=1e-5)
    assert specification.output.rate == 100.0
    assert specification.output.orientation_reference == "fusion"


def test_missing_imu_file_is_rejected_and_file_name_is_default_imu_name(tmp_path):
    path = tmp_path / "imu.yaml"
    path.write_bytes(b"\xff\xfe\x00")
    for wrong, words in ((tmp_path / "none.yaml", "No such file"), (path, "not UTF-8 text")):
        with pytest.raises(ConfigurationError, match=words):
            files.load_imu_specification(wrong)
    with pytest.raises(ConfigurationError, match="neither a file .* bno055, bno055_datasheet"):
        files.find_imu_specification("bno056")
    path = tmp_path / "sensor_7.yaml"
    path.write_text("gyroscope: {white_noise: 1e-4, random_walk: [1E-7, 0, +2e-07]}\n")
    specification = files.load_imu_specification(path)
    assert specification.gyroscope.white_noise == (1e-4, 1e-4, 1e-4)
    assert specification.gyroscope.random_walk == (1e-7, 0.0, 2e-7)
    assert specification.name == "sensor_7"


KALIBR = """gyroscope_noise_density: 1.5e-4
gyroscope_random_walk: 2.5e-5
accelerometer_noise_density: 2.5e-3
accelerometer_random_walk: 3.5e-4
update_rate: 200
"""
SDF = """<sensor type="imu"><update_rate>200</update_rate><imu><angular_velocity><z>
<noise type="gaussian"><stddev>0.002</stddev></noise></z></angular_velocity></imu></sensor>
"""


def test_imported_imu_is_named_after_file_and_true_orientation_is_reported(tmp_path):
    path = tmp_path / "robot.yaml"
    path.write_text(KALIBR)
    imu = named_imu(f"kalibr:{path}")
    assert (imu.name, imu.errors.name, imu.files) == ("robot", "robot", (str(path),))
    path.write_text("name: mine\n")
    assert named_imu(f"specification:{path}").name == "mine"
    path = tmp_path / "robot.sdf"
    path.write_text(SDF)
    (remark,) = named_imu(f"sdf:{path}").remarks
    assert "robot outputs the true orientation" in remark
    path.write_text(KALIBR)
    assert named_imu(f"kalibr:{path}").remarks == named_imu("bno055").remarks == ()


def test_imu_parameters_have_si_and_data_sheet_units():
    for kind in TRIADS.values():
        assert all(kind.unit_of(field.name) for field in fields(isf.TriadSpecification))
        for parameter, unit in kind.datasheet_units.items():
            assert kind.datasheet(parameter) == (unit, 1.0 / factor(unit))
    # An angle random walk of 1 deg/sqrt(h) is 2.909e-4 rad/s/sqrt(Hz) (IEEE Std 952, annex C).
    per_degree = TRIADS["gyroscope"].datasheet("white_noise")[1]
    assert 2.909e-4 * per_degree == pytest.approx(1.0, rel=1e-3)
