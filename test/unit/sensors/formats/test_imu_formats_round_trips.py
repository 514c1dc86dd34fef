from dataclasses import fields, replace

import numpy as np
import pytest

import imu_simulation_framework as isf
from imu_simulation_framework.sensors.conditions import SupplyVoltage, Vibration
from imu_simulation_framework.sensors.formats.base import WriteOptions
from imu_simulation_framework.sensors.formats.registry import FORMATS

RATE = 137.0
WRITTEN = sorted(name for name, kind in FORMATS.items() if kind.write is not None)
TRUTH = isf.OutputSpecification(rate=RATE, orientation_reference="truth")
FUSION = isf.OutputSpecification(rate=RATE)


def diagonal(*values):
    return tuple(map(tuple, np.diag(values)))


def per_axis(size, **others):
    """Return triad parameters of a Gazebo sensor with a different value on each axis."""
    return isf.TriadSpecification(
        white_noise=(1.1 * size, 1.2 * size, 1.3 * size),
        gauss_markov_sigma=(2.1 * size, 0.0, 2.3 * size),
        gauss_markov_time=(210.0, 1000.0, 0.7),
        turn_on_bias=(-3.1 * size, 0.0, 3.3 * size),
        **others,
    )


DRIFTING = isf.TriadSpecification(
    white_noise=3e-4, gauss_markov_sigma=7e-4, gauss_markov_time=333.0, turn_on_bias_sigma=0.01
)
STATED = {
    "white_noise": (1e-4, 2e-4, 0.0),
    "bias_instability": (1e-5, 0.0, 3e-5),
    "random_walk": (1e-6, 2e-6, 3e-6),
    "turn_on_bias_sigma": 0.01,
    "temperature_bias": (1e-4, 0.0, 2e-4),
    "resolution": 1e-3,
}


# Format -> a specification that the format represents completely.
REPRESENTABLE = {
    "kalibr": isf.ImuSpecification(
        gyroscope=isf.TriadSpecification(white_noise=1.7e-4, random_walk=2.3e-6),
        accelerometer=isf.TriadSpecification(white_noise=2.1e-3, random_walk=3.7e-5),
        output=replace(FUSION, topic="/imu0"),
    ),
    "sdf": isf.ImuSpecification(
        gyroscope=per_axis(1e-4, turn_on_bias_sigma=(1e-3, 0.0, 3e-3), resolution=(1e-3, 0.0, 0.1)),
        accelerometer=per_axis(1e-3, turn_on_bias_sigma=(0.1, 0.2, 0.3)),
        output=TRUTH,
    ),
    "hector": isf.ImuSpecification(
        gyroscope=per_axis(1e-4, scale_factor_and_misalignment=diagonal(0.003, -0.01, 0.0)),
        accelerometer=per_axis(1e-3, scale_factor_and_misalignment=diagonal(0.0, 0.1, -0.02)),
        output=FUSION,
    ),
    "rotors": isf.ImuSpecification(
        gyroscope=DRIFTING,
        accelerometer=replace(DRIFTING, white_noise=4e-3, gauss_markov_time=77.0),
        output=TRUTH,
    ),
    "unity": isf.ImuSpecification(
        gyroscope=replace(DRIFTING, turn_on_bias=-0.003, resolution=0.02),
        accelerometer=replace(DRIFTING, turn_on_bias=-0.003, resolution=0.02),
        output=replace(TRUTH, drop_repeated=True, repeat_samples=True, topic="/unity/imu"),
    ),
    "datasheet": isf.ImuSpecification(
        name="it's #1: a sensor",
        gyroscope=isf.TriadSpecification(**STATED, saturation=34.9),
        accelerometer=isf.TriadSpecification(**STATED, saturation=(39.0, 39.1, 39.2)),
        output=FUSION,
    ),
    "specification": isf.ImuSpecification(
        name="everything: 1",
        gyroscope=per_axis(
            1.0 / 3e4,
            quantisation=1.0 / 3.0,
            bias_instability=2e-20,
            bias_instability_band=(0.3, 300.0),
            rate_ramp=(-1e-9, 0.0, 1e-9),
            saturation=34.9,
            scale_factor_and_misalignment=np.arange(9.0).reshape(3, 3) / 7.0,
            g_sensitivity=np.arange(9.0).reshape(3, 3) / 11.0,
        ),
        accelerometer=per_axis(1e-3, temperature_scale_factor=1e-4, bandwidth=47.0),
        temperature=isf.TemperatureProfile(20.0, 21.0, 22.0, power=((0.0, 1.0), (2.0, 3.0))),
        output=replace(FUSION, start_offset=0.5, filter="vqf", topic="/left/imu"),
        magnetometer=isf.MagnetometerSpecification(
            nonlinearity=1e-3, hard_iron=(2e-6, -1e-6, 3e-6), soft_iron=np.diag([1.0, 2.0, 3.0])
        ),
        supply=SupplyVoltage(5.0, ((0.0, 5.0), (1.0, 4.8))),
        vibration=Vibration(spectrum=((0.0, 0.02), (400.0, 0.02)), reference_speed=2.0),
    ),
}


@pytest.fixture
def convert(read):
    def convert(specification, name, rate=None, options=WriteOptions()):  # noqa: B008
        writing = isf.write_imu_parameters(specification, name, rate, options)
        # RotorS files do not state the rate; in other formats, the file's rate takes precedence.
        return read(name, writing.text, RATE), writing

    return convert


def assert_same(actual, expected, path=""):
    for field in fields(expected):
        value, desired = getattr(actual, field.name), getattr(expected, field.name)
        where = f"{path}.{field.name}"
        if hasattr(desired, "__dataclass_fields__"):
            assert_same(value, desired, where)
        elif isinstance(desired, (float, tuple)) and not isinstance(desired, str):
            # Scale factors are written as 1 plus the scale factor error.
            scale = 1.0 if "scale_factor" in field.name else 0.0
            np.testing.assert_allclose(
                value, desired, rtol=1e-12, atol=1e-15 * scale, err_msg=where
            )
        elif field.name != "name" or path == "datasheet":
            assert value == desired, where


@pytest.mark.parametrize("name", WRITTEN)
def test_representable_specification_round_trips_without_remarks(name, convert):
    specification = REPRESENTABLE[name]
    reading, writing = convert(specification, name)
    assert_same(reading.specification, specification, name)
    assert name != "specification" or reading.specification == specification
    # Hector's plug-in adds errors to the true orientation, and Gazebo's turn-on biases decay.
    expected = {"hector": "orientation_reference", "sdf": "decay", "unity": "decay"}
    unexpected = [text for text in writing.remarks if expected.get(name, "none") not in text]
    assert unexpected == []


@pytest.mark.parametrize("name", sorted(set(WRITTEN) - {"rotors"}))
def test_noise_density_is_unchanged_at_another_rate(name, convert):
    reading, _ = convert(REPRESENTABLE[name], name, rate=400.0)
    assert reading.specification.output.rate == 400.0
    for triad in ("gyroscope", "accelerometer"):
        for field in ("white_noise", "gauss_markov_sigma"):
            result, expected = (
                getattr(getattr(each, triad), field)
                for each in (reading.specification, REPRESENTABLE[name])
            )
            np.testing.assert_allclose(result, expected, rtol=1e-12)


# Test values of those triad parameters that do not accept three small numbers.
PARAMETERS = {
    "bias_instability_band": (2.0, 300.0),
    "gauss_markov_time": (100.0, 200.0, 300.0),
    "scale_factor_and_misalignment": diagonal(0.001, 0.002, 0.003),
    "bandwidth": 20.0,
    "saturation": (10.0, 20.0, 30.0),
    "g_sensitivity": diagonal(1e-4, 0.0, 2e-4),
}
NEGATIVE = ("rate_ramp", "turn_on_bias", "temperature_bias", "supply_bias", "nonlinearity")
PARAMETERS.update(dict.fromkeys(NEGATIVE, (1e-4, -2e-4, 3e-4)))
OUTPUTS = {
    "start_offset": 0.5,
    "random_start_offset": 0.5,
    "magnetic_time_constant": 4.0,
    "drop_repeated": True,
    "repeat_samples": True,
    "filter_rate_bias": True,
    "topic": "/left/imu",
    "filter": "vqf",
}
# Parameters without which another parameter has no effect.
REQUIRED_PARAMETERS = {
    "bias_instability_band": {"bias_instability": 1e-5},
    "gauss_markov_time": {"gauss_markov_sigma": 1e-4},
}


@pytest.mark.parametrize("triad", ["gyroscope", "accelerometer"])
@pytest.mark.parametrize("parameter", [field.name for field in fields(isf.TriadSpecification)])
@pytest.mark.parametrize("name", WRITTEN)
def test_each_parameter_round_trips_or_is_listed_in_remarks(name, parameter, triad, convert):
    if (parameter, triad) == ("g_sensitivity", "accelerometer"):
        parameter = "white_noise"
    base = REPRESENTABLE["kalibr"] if name == "kalibr" else isf.ImuSpecification()
    values = {parameter: PARAMETERS.get(parameter, (1e-4, 2e-4, 3e-4))}
    values.update(REQUIRED_PARAMETERS.get(parameter, {}))
    specification = replace(base, **{triad: replace(getattr(base, triad), **values)})
    reading, writing = convert(specification, name)
    desired = np.array(getattr(getattr(specification, triad), parameter))
    result = getattr(getattr(reading.specification, triad), parameter)
    is_equal = result is not None and np.allclose(result, desired, rtol=1e-12, atol=1e-16)
    listed = [text for text in writing.remarks if text.startswith(f"{triad}.{parameter}")]
    if name == "unity" and triad == "accelerometer":
        listed += [text for text in writing.remarks if text.startswith("accelerometer")]
    assert is_equal or listed
    if name not in ("kalibr", "unity"):
        assert bool(listed) != is_equal
    for sentence in listed:
        assert sentence.replace("--", "- -") in writing.text


@pytest.mark.parametrize("key", OUTPUTS)
@pytest.mark.parametrize("name", sorted(set(WRITTEN) - {"specification"}))
def test_output_settings_round_trip_or_are_listed_in_remarks(name, key, convert):
    base = REPRESENTABLE["kalibr"]
    specification = replace(base, output=replace(base.output, **{key: OUTPUTS[key]}))
    reading, writing = convert(specification, name)
    is_equal = getattr(reading.specification.output, key) == OUTPUTS[key]
    listed = any(text.startswith(f"output.{key}") for text in writing.remarks)
    assert is_equal or (listed and (key != "topic" or name == "datasheet"))


def test_parameters_that_differ_between_axes_are_written_as_rms_with_remark():
    triad = isf.TriadSpecification(white_noise=(3e-4, 0.0, 4e-4), random_walk=1e-6)
    specification = replace(REPRESENTABLE["kalibr"], gyroscope=triad)
    writing = isf.write_imu_parameters(specification, "kalibr")
    mean = float(np.sqrt((9e-8 + 16e-8) / 3.0))
    assert f"gyroscope_noise_density: {mean!r}\n" in writing.text
    assert any("root mean square" in text for text in writing.remarks)
    profile = isf.TemperatureProfile(end=40.0)
    warm = isf.TriadSpecification(temperature_bias=1e-4)
    for gyroscope, listed in ((warm, True), (isf.TriadSpecification(), False)):
        specification = isf.ImuSpecification(gyroscope=gyroscope, temperature=profile)
        remarks = isf.write_imu_parameters(specification, "sdf").remarks
        assert any(text.startswith("temperature.end") for text in remarks) == listed


def test_random_walk_requires_correlation_time_in_gazebo(convert):
    triad = isf.TriadSpecification(white_noise=1e-4, random_walk=2e-6)
    specification = isf.ImuSpecification(gyroscope=triad, output=TRUTH)
    timed = WriteOptions(random_walk_time=5000.0)
    for name in ("sdf", "hector", "rotors", "unity"):
        for options, sigma in ((WriteOptions(), 0.0), (timed, 2e-6 * 50.0)):
            reading, writing = convert(specification, name, options=options)
            result = reading.specification.gyroscope.gauss_markov_sigma
            np.testing.assert_allclose(result, sigma, rtol=1e-12)
            assert any("random_walk" in text for text in writing.remarks)


@pytest.mark.parametrize("name, tag", [("hector", "topicName"), ("rotors", "imuTopic")])
def test_topic_with_substitution_argument_is_ignored_with_remark(name, tag, read):
    values = replace(REPRESENTABLE[name], output=replace(TRUTH, topic="/a"))
    text = isf.write_imu_parameters(values, name).text
    reading = read(name, text.replace(">/a<", ">$(arg ns)/imu<"), RATE)
    assert reading.specification.output.topic == ""
    assert any(f"<{tag}>" in remark for remark in reading.remarks)


def test_kalibr_file_contains_driving_noise_densities_and_equivalent_random_walks(convert):
    reading, writing = convert(REPRESENTABLE["rotors"], "kalibr")
    expected = 7e-4 * np.sqrt(2.0 / 333.0)
    np.testing.assert_allclose(reading.specification.gyroscope.random_walk, expected, rtol=1e-12)
    assert any("gauss_markov_sigma" in text for text in writing.remarks)
    specification = isf.read_imu_specification("adis16470")
    options = WriteOptions(walk_of_instability=True)
    reading, writing = convert(specification, "kalibr", options=options)
    # 0.34 deg/sqrt(h) and 8 deg/h; the lowest Allan variance is 2 N K / sqrt(3).
    walk = reading.specification.gyroscope.random_walk[0]
    lowest = np.sqrt(2.0 * np.radians(0.34) / 60.0 * walk / np.sqrt(3.0))
    assert np.degrees(lowest) * 3600.0 == pytest.approx(8.0)
    (remark,) = [text for text in writing.remarks if text.startswith("gyroscope.bias_instability")]
    assert "the same minimum" in remark and remark in writing.text


def test_unrepresentable_bias_instability_is_not_written_as_random_walk():
    walking = isf.TriadSpecification(white_noise=1e-4, bias_instability=1e-5, random_walk=1e-7)
    silent = isf.TriadSpecification(bias_instability=1e-3)
    specification = isf.ImuSpecification(gyroscope=walking, accelerometer=silent)
    options = WriteOptions(random_walk_time=100.0, walk_of_instability=True)
    remarks = isf.write_imu_parameters(specification, "sdf", options=options).remarks
    for triad in ("gyroscope", "accelerometer"):
        (remark,) = [text for text in remarks if text.startswith(f"{triad}.bias_instability")]
        assert remark.endswith("cannot be represented in this format.")
