"""IMU specifications as files, and the numbers in those that are bundled."""

import math

import numpy as np
import pytest

import imu_simulation_framework as isf
from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.sensors.conditions import SupplyVoltage, Vibration
from imu_simulation_framework.sensors.files import (
    find_imu_specification,
    imu_specification_text,
    load_imu_specification,
)

FULL = isf.ImuSpecification(
    name="everything: 1",
    gyroscope=isf.TriadSpecification(
        quantisation=1.0 / 3.0,
        white_noise=(1e-4, 2e-20, 3.0),
        bias_instability_band=(0.3, 300.0),
        rate_ramp=(-1e-9, 0.0, 1e-9),
        gauss_markov_time=(1.0, 2.0, 3.0),
        turn_on_bias=-0.1,
        scale_factor_and_misalignment=np.arange(9.0).reshape(3, 3) / 7.0,
        saturation=10.0,
        g_sensitivity=np.arange(9.0).reshape(3, 3) / 11.0,
    ),
    accelerometer=isf.TriadSpecification(white_noise=0.7),
    temperature=isf.TemperatureProfile(20.0, 21.0, 22.0, 23.0, ((0.0, 1.0), (1.5, 2.0))),
    output=isf.OutputSpecification(50.0, 0.5, True, "truth", "vqf", 5.0, True),
    magnetometer=isf.MagnetometerSpecification(
        nonlinearity=1e-3, hard_iron=(2e-6, -1e-6, 3e-6), soft_iron=np.diag([1.0, 2.0, 3.0])
    ),
    supply=SupplyVoltage(5.0, ((0.0, 5.0), (1.0, 4.8))),
    vibration=Vibration(spectrum=((0.0, 0.02), (400.0, 0.02)), reference_speed=2.0),
)


def _bundled(name):
    return load_imu_specification(find_imu_specification(name))


def _refused(tmp_path, text):
    path = tmp_path / "imu.yaml"
    path.write_text(text)
    with pytest.raises(ConfigurationError) as caught:
        load_imu_specification(path)
    sentence = str(caught.value)
    assert sentence.startswith(f"{path}")
    assert len(sentence) < 600
    return sentence


@pytest.mark.parametrize(
    "specification",
    [
        FULL,
        isf.ImuSpecification(name="imu", magnetometer=isf.MagnetometerSpecification()),
        isf.ImuSpecification(
            temperature=isf.TemperatureProfile(power=((0.0, 1.0), (2.0, 3.0))),
            accelerometer=isf.TriadSpecification(bandwidth=47.0, supply_bias=1e-4),
        ),
    ],
)
def test_what_was_saved_reads_back_equal(tmp_path, specification):
    path = tmp_path / "imu.yaml"
    path.write_text(imu_specification_text(specification, "A comment\nof two lines: yes"))
    assert load_imu_specification(path) == specification


def test_text_has_a_unit_at_each_number_and_nothing_that_is_at_its_default():
    text = imu_specification_text(FULL)
    for line in (
        "white_noise: [0.0001, 2e-20, 3.0]  # rad/s/sqrt(Hz)",
        "white_noise: [0.7, 0.7, 0.7]  # m/s^2/sqrt(Hz)",
        "nonlinearity: [0.001, 0.001, 0.001]  # 1/(T)",
        "hard_iron: [2e-06, -1e-06, 3e-06]  # T",
        "table: [[0.0, 5.0], [1.0, 4.8]]  # s, V",
        "spectrum: [[0.0, 0.02], [400.0, 0.02]]  # Hz, (m/s^2)^2/Hz",
    ):
        assert f"  {line}\n" in text
    assert text.count("saturation") == 1
    assert "magnetometer" not in imu_specification_text(isf.ImuSpecification())


@pytest.mark.parametrize(
    "text, words",
    [
        ("gyroscop: {}", "unknown key 'gyroscop'; did you mean gyroscope?"),
        ("gyroscope: {arw: 1.0}", "gyroscope has the unknown key 'arw'; known are quantisation,"),
        ("accelerometer: {g_sensitivity: 1.0}", "accelerometer.g_sensitivity"),
        ("gyroscope: {white_noise: -1e-4}", "gyroscope.white_noise is -0.0001, but it must not be"),
        ("gyroscope: {gauss_markov_time: 0}", "gyroscope.gauss_markov_time is 0, but"),
        ("gyroscope: {white_noise: 1, white_noise: 2}", "the key 'white_noise' occurs twice"),
        ("gyroscope: 3", "it must hold keys and values"),
        ("", "must hold keys and values"),
        ("output: {filter: ekf}", "output.filter is 'ekf', but it must be mahony or vqf"),
        ("a: [", "not valid YAML"),
        ("!!python/object/apply:os.system [ls]", "not valid YAML"),
        ("name: !!binary a", "not valid YAML"),
    ],
)
def test_what_is_wrong_is_named_with_file_and_key(tmp_path, text, words):
    assert words in _refused(tmp_path, text)


def test_a_bomb_of_aliases_is_refused_in_a_short_sentence(tmp_path):
    lines = ["gyroscope: {white_noise: [1, 2, &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1]]}"]
    for level in range(1, 12):
        lines.append(f"k{level}: &a{level} [" + ", ".join([f"*a{level - 1}"] * 9) + "]")
    lines.append("output: {rate: *a11}")
    _refused(tmp_path, "\n".join(lines))


def test_bno055_has_tables_3_2_and_3_3_in_si_units():
    specification = _bundled("bno055")
    gyroscope, accelerometer = specification.gyroscope, specification.accelerometer
    degree = math.pi / 180.0
    for values, table, factor in (
        (gyroscope.white_noise, (0.3287, 0.4958, 0.1683), degree / 60.0),
        (gyroscope.bias_instability, (1.1729, 1.0117, 1.0315), degree / 3600.0),
        (gyroscope.random_walk, (2.1364, 0.0, 2.2234), degree / 3600.0 / 60.0),
        (accelerometer.white_noise, (0.0054, 0.0064, 0.0075), 1.0 / 60.0),
        (accelerometer.bias_instability, (0.2220, 0.2973, 0.3971), 1.0 / 3600.0),
        (accelerometer.random_walk, (4.8584, 7.8522, 0.7164), 1.0 / 3600.0 / 60.0),
    ):
        np.testing.assert_allclose(values, np.multiply(table, factor), rtol=1e-5)
    assert specification.output.rate == 100.0
    assert specification.output.orientation_reference == "fusion"


def test_datasheet_has_table_3_1_in_si_units():
    specification = _bundled("bno055_datasheet")
    gyroscope, accelerometer = specification.gyroscope, specification.accelerometer
    degree, g = math.pi / 180.0, 9.80665
    for values, expected in (
        (gyroscope.white_noise, 0.014 * degree / math.sqrt(2.0)),
        (gyroscope.turn_on_bias_sigma, degree),
        (gyroscope.temperature_bias, 0.015 * degree),
        (gyroscope.temperature_scale_factor, 0.0003),
        (gyroscope.resolution, degree / 16.0),
        (gyroscope.saturation, 2000.0 * degree),
        (accelerometer.white_noise, 150e-6 * g / math.sqrt(2.0)),
        (accelerometer.turn_on_bias_sigma, 0.08 * g),
        (accelerometer.temperature_bias, 1e-3 * g),
        (accelerometer.temperature_scale_factor, 0.0003),
        (accelerometer.resolution, 1e-3 * g),
        (accelerometer.saturation, 4.0 * g),
        (np.diag(gyroscope.scale_factor_and_misalignment), 0.01),
    ):
        np.testing.assert_allclose(values, expected, rtol=1e-5)


def test_a_missing_file_and_what_is_no_text_are_told_and_so_are_the_bundled_names(tmp_path):
    path = tmp_path / "imu.yaml"
    path.write_bytes(b"\xff\xfe\x00")
    for wrong, words in ((tmp_path / "none.yaml", "No such file"), (path, "no UTF-8 text")):
        with pytest.raises(ConfigurationError, match=words):
            load_imu_specification(wrong)
    with pytest.raises(ConfigurationError, match="no such file, .* bno055, bno055_datasheet"):
        find_imu_specification("bno056")
    with pytest.raises(ConfigurationError, match="no such file"):
        find_imu_specification(tmp_path / "bno055")


def test_a_file_without_a_name_gives_its_own_and_one_number_is_that_of_all_axes(tmp_path):
    path = tmp_path / "sensor_7.yaml"
    path.write_text("gyroscope: {white_noise: 1e-4, random_walk: [1E-7, 0, +2e-07]}\n")
    specification = load_imu_specification(path)
    assert specification.gyroscope.white_noise == (1e-4, 1e-4, 1e-4)
    assert specification.gyroscope.random_walk == (1e-7, 0.0, 2e-7)
    assert specification.name == "sensor_7"
