"""IMU specifications as files, and the numbers in those that are bundled."""

import math

import numpy as np
import pytest

from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.sensors.conditions import TemperatureProfile
from imu_simulation_framework.sensors.files import (
    find_imu_specification,
    imu_specification_text,
    load_imu_specification,
)
from imu_simulation_framework.sensors.imu_specification import (
    ImuSpecification,
    OutputSpecification,
    TriadSpecification,
)

FULL = ImuSpecification(
    name="everything: 1",
    gyroscope=TriadSpecification(
        quantisation=1.0 / 3.0,
        white_noise=(1e-4, 2e-20, 3.0),
        bias_instability=0.1,
        bias_instability_band=(0.3, 300.0),
        random_walk=1e-7,
        rate_ramp=(-1e-9, 0.0, 1e-9),
        gauss_markov_sigma=1e-3,
        gauss_markov_time=(1.0, 2.0, 3.0),
        turn_on_bias=-0.1,
        turn_on_bias_sigma=0.2,
        scale_factor_and_misalignment=np.arange(9.0).reshape(3, 3) / 7.0,
        temperature_bias=1e-5,
        temperature_scale_factor=-1e-5,
        saturation=10.0,
        resolution=1e-3,
        g_sensitivity=np.arange(9.0).reshape(3, 3) / 11.0,
    ),
    accelerometer=TriadSpecification(white_noise=0.7),
    temperature=TemperatureProfile(20.0, 21.0, 22.0, 23.0, ((0.0, 1.0), (1.5, 2.0))),
    output=OutputSpecification(50.0, 0.5, True, "truth", "vqf", 5.0, True),
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


@pytest.mark.parametrize("specification", [FULL, ImuSpecification(name="imu")])
def test_what_was_saved_reads_back_equal(tmp_path, specification):
    path = tmp_path / "imu.yaml"
    path.write_text(imu_specification_text(specification, "A comment\nof two lines: yes"))
    assert load_imu_specification(path) == specification


def test_text_has_a_unit_at_each_number_and_nothing_that_is_at_its_default():
    text = imu_specification_text(FULL)
    assert "  white_noise: [0.0001, 2e-20, 3.0]  # rad/s/sqrt(Hz)\n" in text
    assert "  white_noise: [0.7, 0.7, 0.7]  # m/s^2/sqrt(Hz)\n" in text
    assert text.count("saturation") == 1


def test_numbers_may_be_written_without_a_point_and_once_for_all_axes(tmp_path):
    path = tmp_path / "sensor_7.yaml"
    path.write_text("gyroscope: {white_noise: 1e-4, random_walk: [1E-7, 0, +2e-07]}\n")
    specification = load_imu_specification(path)
    assert specification.gyroscope.white_noise == (1e-4, 1e-4, 1e-4)
    assert specification.gyroscope.random_walk == (1e-7, 0.0, 2e-7)
    assert specification.name == "sensor_7"


@pytest.mark.parametrize(
    "text, words",
    [
        ("gyroscop: {}", "unknown key 'gyroscop'; did you mean gyroscope?"),
        ("gyroscope: {arw: 1.0}", "gyroscope has the unknown key 'arw'; known are quantisation,"),
        ("gyroscope: {white_noice: 1.0}", "did you mean white_noise?"),
        ("accelerometer: {g_sensitivity: 1.0}", "accelerometer.g_sensitivity"),
        ("gyroscope: {white_noise: -1e-4}", "gyroscope.white_noise is -0.0001, but it must not be"),
        ("accelerometer: {random_walk: -1}", "accelerometer.random_walk is -1, but"),
        ("gyroscope: {gauss_markov_time: 0}", "gyroscope.gauss_markov_time is 0, but"),
        ("gyroscope: {white_noise: a lot}", "gyroscope.white_noise is 'a lot'"),
        ("gyroscope: {white_noise: 1, white_noise: 2}", "the key 'white_noise' occurs twice"),
        ("gyroscope: 3", "it must hold keys and values"),
        ("gyroscope:", "it must hold keys and values"),
        ("", "must hold keys and values"),
        ("- 1", "must hold keys and values"),
        ("output: {filter: ekf}", "output.filter is 'ekf', but it must be mahony or vqf"),
        ("a: [", "not valid YAML"),
        ("? [1, 2]\n: 3", "not valid YAML"),
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


def test_a_missing_file_is_told_and_so_are_the_bundled_names(tmp_path):
    with pytest.raises(ConfigurationError, match="cannot be read: No such file"):
        load_imu_specification(tmp_path / "none.yaml")
    with pytest.raises(ConfigurationError, match="no such file, .* bno055, bno055_datasheet"):
        find_imu_specification("bno056")
    with pytest.raises(ConfigurationError, match="no such file"):
        find_imu_specification(tmp_path / "bno055")


def test_what_is_no_text_is_told(tmp_path):
    path = tmp_path / "imu.yaml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigurationError, match="no UTF-8 text"):
        load_imu_specification(path)


def _assert_printed(values, printed):
    """Equal to as many digits as were printed."""
    for value, text in zip(values, printed):
        digits = len(text.split("e")[0].replace(".", "").lstrip("0"))
        rounding = 0.5 * 10.0 ** (math.floor(math.log10(float(text))) - digits + 1)
        assert value == pytest.approx(float(text), abs=1.01 * rounding)


def test_bno055_has_the_numbers_that_the_thesis_converts_itself():
    specification = _bundled("bno055")
    gyroscope, accelerometer = specification.gyroscope, specification.accelerometer
    # (3.23) m/s^2/sqrt(Hz); (3.24) to (3.26) ug/sqrt(Hz) with g = 9.81 m/s^2.
    _assert_printed(accelerometer.white_noise[:1], ["9e-5"])
    _assert_printed(np.array(accelerometer.white_noise) / 9.81e-6, ["9", "11", "13"])
    # (3.27) to (3.29) deg/s/sqrt(Hz), from 0.32, 0.5 and 0.17 deg/sqrt(h), to those digits.
    for value, rounded, printed in zip(
        np.degrees(gyroscope.white_noise), (0.32, 0.5, 0.17), (0.00533, 0.00833, 0.002833)
    ):
        assert rounded / 60.0 == pytest.approx(printed, rel=1e-3)
        assert value == pytest.approx(printed, rel=0.03)
    # (3.30) to (3.32) m/s^3/sqrt(Hz), and (3.33), (3.34) rad/s^2/sqrt(Hz).
    assert accelerometer.random_walk[0] == pytest.approx(2.25e-5, abs=0.005e-5)
    # The thesis cuts 3.635 to 3.5, and 0.332 to 0.3.
    assert accelerometer.random_walk[1] == pytest.approx(3.5e-5, abs=0.15e-5)
    assert accelerometer.random_walk[2] == pytest.approx(0.3e-5, abs=0.05e-5)
    assert gyroscope.random_walk[0] == pytest.approx(0.17e-6, abs=0.005e-6)
    assert gyroscope.random_walk[2] == pytest.approx(0.18e-6, abs=0.005e-6)


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
