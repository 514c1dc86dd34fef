import re

import numpy as np
import pytest

import imu_simulation_framework as isf
from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.sensors.formats.base import WriteOptions
from imu_simulation_framework.sensors.formats.registry import FORMATS

DEGREE, G, ROOT = np.pi / 180.0, 9.80665, np.sqrt(2.0)
DENSITY = 0.014 * DEGREE / ROOT
GYRO, ACCEL = "gyroscope", "accelerometer"


PARAMETER = {
    "noise": "white_noise",
    "zero_offset": "turn_on_bias_sigma",
    "temperature_drift": "temperature_bias",
    "range": "saturation",
}


@pytest.mark.parametrize(
    "triad, key, entry, expected",
    [
        # Table 3.1 of the thesis on the BNO055: densities are one-sided, as in data sheets.
        (GYRO, "noise", "density: 0.014, unit: deg/s/sqrt(Hz), spectrum: one-sided", DENSITY),
        (GYRO, "noise", "density: 1, unit: deg/s/sqrt(Hz), spectrum: two-sided", DEGREE),
        # White noise with one-sided density d has an rms of d sqrt(bandwidth).
        (GYRO, "noise", "rms: 0.14, unit: deg/s, bandwidth: 100", DENSITY),
        # Equations (3.23) and (3.27) to (3.30) of the thesis, in SI.
        (ACCEL, "noise", "random_walk: 5.4e-3, unit: m/s/sqrt(h)", 9.0e-5),
        (ACCEL, "random_walk", "value: 4.86, unit: m/s/h/sqrt(h)", 2.25e-5),
        (GYRO, "bias_instability", "value: 1, unit: deg/h, meaning: coefficient", DEGREE / 3600.0),
        (
            *(GYRO, "bias_instability", "value: 0.664, unit: rad/s, meaning: allan_minimum"),
            0.664 / np.sqrt(2.0 * np.log(2.0) / np.pi),
        ),
        (ACCEL, "zero_offset", "value: 80, unit: mg", 0.784532),
        (GYRO, "temperature_drift", "value: 0.015, unit: deg/s/K", 0.015 * DEGREE),
        (GYRO, "range", "value: 2000, unit: deg/s", 2000.0 * DEGREE),
        (ACCEL, "resolution", "value: 1, unit: mg", 1e-3 * G),
    ],
)
def test_datasheet_numbers_are_converted_to_si(triad, key, entry, expected, read):
    values = read("datasheet", f"rate: 100\n{triad}: {{{key}: {{{entry}}}}}\n").specification
    actual = getattr(getattr(values, triad), PARAMETER.get(key, key))
    np.testing.assert_allclose(actual, expected, rtol=1e-11)


SDF = """<sdf version="1.6"><model name="m"><link name="l">
<sensor name="imu" type="imu"><update_rate>{rate}</update_rate><imu>
<angular_velocity><z><noise type="{type}">{noise}</noise></z></angular_velocity>
{more}</imu></sensor></link></model></sdf>
"""


def sdf(noise, rate="100", kind="gaussian", more=""):
    return SDF.format(noise=noise, rate=rate, type=kind, more=more)


def test_standard_deviation_of_samples_is_converted_to_density_at_rate(read):
    values = read("sdf", sdf("<stddev>0.02</stddev>", "400")).specification
    np.testing.assert_allclose(values.gyroscope.white_noise, (0.0, 0.0, 1e-3), rtol=1e-12)
    assert values.accelerometer == isf.TriadSpecification()
    assert values.output.rate == 400.0
    noise = "<stddev>0.02</stddev>"
    values = read("sdf", sdf(noise, "0"), rate=400.0).specification
    np.testing.assert_allclose(values.gyroscope.white_noise[2], 1e-3, rtol=1e-12)
    # The rate in the file takes precedence.
    values = read("sdf", sdf(noise, "100"), rate=400.0).specification
    np.testing.assert_allclose(values.gyroscope.white_noise[2], 2e-3, rtol=1e-12)


def test_gazebo_bias_mean_becomes_turn_on_bias_sigma_and_untyped_noise_is_ignored(read):
    noise = "<mean>-0.1</mean><bias_mean>0.3</bias_mean><bias_stddev>0.4</bias_stddev>"
    reading = read("sdf", sdf(noise))
    gyroscope = reading.specification.gyroscope
    assert gyroscope.turn_on_bias[2] == -0.1
    np.testing.assert_allclose(gyroscope.turn_on_bias_sigma[2], 0.5, rtol=1e-12)
    assert any("bias_mean" in remark for remark in reading.remarks)
    for content in (
        sdf("<stddev>1</stddev>", kind="none"),
        sdf("<stddev>1</stddev>").replace(' type="gaussian"', ""),
    ):
        assert read("sdf", content).specification.gyroscope == isf.TriadSpecification()


class GaussianNoise:
    """Noise of one axis, simulated like ``GaussianNoiseModel.cc`` of gz-sensors, for many runs."""

    def __init__(self, text, runs, seed=5):
        tags = re.findall(r"<(\w+)>([-+.e0-9]+)</", text)
        self.tags = {name: float(value) for name, value in tags}
        self.random = np.random.default_rng(seed)
        drawn = self.random.normal(self.tags["bias_mean"], self.tags["bias_stddev"], runs)
        self.bias = np.where(self.random.random(runs) < 0.5, -drawn, drawn)

    def step_bias(self, dt):
        q, tau = self.tags["dynamic_bias_stddev"], self.tags["dynamic_bias_correlation_time"]
        if q > 0.0 and tau > 0.0 and dt > 0.0:
            sigma = np.sqrt(-(q**2) * tau / 2.0 * np.expm1(-2.0 * dt / tau))
            innovation = self.random.normal(0.0, sigma, len(self.bias))
            self.bias = np.exp(-dt / tau) * self.bias + innovation
        return self.bias

    def apply(self, value, dt):
        white = self.random.normal(self.tags["mean"], self.tags["stddev"], len(self.bias))
        output = value + self.step_bias(dt) + white
        precision = self.tags.get("precision", 0.0)
        return np.round(output / precision) * precision if precision > 1e-6 else output


def test_gyroscope_noise_moments_match_gazebo_noise_model(read):
    triad = isf.TriadSpecification(
        white_noise=1e-3, turn_on_bias=0.03, gauss_markov_sigma=0.02, gauss_markov_time=0.5,
        resolution=0.01,
    )  # fmt: skip
    members, rate = 7_000, 100.0
    runs = 3 * members  # the axes are independent
    text = isf.write_imu_parameters(isf.ImuSpecification(gyroscope=triad), "sdf", rate).text
    imu = isf.Imu(read("sdf", text).specification, rate, count=members)
    noise, still = GaussianNoise(text.split("</x>")[0], runs), np.full((members, 3), 0.2)
    computed = np.array([imu.step(still, still).angular_velocity.ravel() for _ in range(31)])
    gazebos = np.array([noise.apply(0.2, dt) for dt in (0.0, *[1.0 / rate] * 30)])
    for first, second in ((0, 0), (30, 30), (0, 1), (0, 30)):
        products = [(each[first] - 0.23) * (each[second] - 0.23) for each in (computed, gazebos)]
        error = np.sqrt(sum(np.var(each) for each in products) / runs)
        assert abs(products[0].mean() - products[1].mean()) < 4.0 * error
    error = np.sqrt((computed[30].var() + gazebos[30].var()) / runs)
    assert abs(computed[30].mean() - gazebos[30].mean()) < 4.0 * error
    for each in (computed, gazebos):
        np.testing.assert_allclose(each, 0.01 * np.round(each / 0.01), rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("sigma, time", [(2e-3, 0.6), (1e-4, 300.0)])
def test_written_gazebo_bias_is_stationary_from_first_sample(read, sigma, time):
    triad = isf.TriadSpecification(gauss_markov_sigma=sigma, gauss_markov_time=time)
    text = isf.write_imu_parameters(isf.ImuSpecification(gyroscope=triad), "sdf", 100.0).text
    noise = GaussianNoise(text.split("</x>")[0], 20_000)
    for dt in (0.0, *[0.01] * 50):
        bias = noise.step_bias(dt)
        assert abs(bias.std() / sigma - 1.0) < 4.5 / np.sqrt(2.0 * len(bias))
    assert read("sdf", text).specification.gyroscope.turn_on_bias_sigma == (0.0, 0.0, 0.0)
    # A random walk starts at zero, as does the Gauss-Markov process that replaces it.
    walk = isf.ImuSpecification(gyroscope=isf.TriadSpecification(random_walk=1e-4))
    text = isf.write_imu_parameters(walk, "sdf", 100.0, WriteOptions(random_walk_time=100.0)).text
    noise = GaussianNoise(text.split("</x>")[0], 20_000)
    assert (noise.step_bias(0.0) == 0.0).all()
    bias = [noise.step_bias(0.01) for _ in range(50)][-1]
    assert abs(bias.std() / (1e-4 * np.sqrt(0.5)) - 1.0) < 0.005 + 4.5 / np.sqrt(2.0 * len(bias))


def test_dynamic_bias_requires_correlation_time_and_nonstationary_start_is_reported(read):
    strength = "<dynamic_bias_stddev>0.2</dynamic_bias_stddev>"
    for time in ("", "<dynamic_bias_correlation_time>0</dynamic_bias_correlation_time>"):
        reading = read("sdf", sdf(strength + time))
        assert reading.specification.gyroscope == isf.TriadSpecification()
        assert any("no effect in Gazebo without" in remark for remark in reading.remarks)
    dynamic = strength + "<dynamic_bias_correlation_time>50</dynamic_bias_correlation_time>"
    for begun, turn_on, words in (("0", 0.0, "closer to zero"), ("1.25", 0.75, "decay")):
        reading = read("sdf", sdf(f"{dynamic}<bias_stddev>{begun}</bias_stddev>"))
        gyroscope = reading.specification.gyroscope
        assert gyroscope.gauss_markov_sigma[2] == pytest.approx(1.0)
        assert gyroscope.turn_on_bias_sigma[2] == pytest.approx(turn_on)
        assert any(words in remark for remark in reading.remarks)


@pytest.mark.parametrize(
    "mean, place", [("0.5", "gauss_markov_sigma"), ("1.25", "turn_on_bias_sigma")]
)
def test_remark_states_parameter_that_includes_gazebo_bias_mean(read, mean, place):
    dynamic = "<dynamic_bias_stddev>0.2</dynamic_bias_stddev>"
    dynamic += "<dynamic_bias_correlation_time>50</dynamic_bias_correlation_time>"
    reading = read("sdf", sdf(f"{dynamic}<bias_mean>{mean}</bias_mean>"))
    (remark,) = [remark for remark in reading.remarks if "bias_mean" in remark]
    assert f"became part of {place}" in remark
    assert getattr(reading.specification.gyroscope, place)[2] > 0.0


def hector(tags):
    return (
        '<robot name="r"><gazebo><plugin name="i" filename="libhector_gazebo_ros_imu.so">'
        f"<updateRate>100</updateRate><topicName>imu/data</topicName>{tags}"
        "</plugin></gazebo></robot>"
    )


def test_hector_defaults_update_period_and_shared_noise_are_read(read):
    gyroscope = read("hector", hector("<rateDrift>1 1 1</rateDrift>")).specification.gyroscope
    np.testing.assert_allclose(gyroscope.gauss_markov_time, 3600.0, rtol=1e-12)
    assert read("hector", hector("")).specification.gyroscope == isf.TriadSpecification()
    for period, rate in (("0.0025", 400.0), ("0", 50.0)):
        content = hector(f"<updatePeriod>{period}</updatePeriod>")
        assert read("hector", content, 50.0).specification.output.rate == rate
    content = hector(
        "<gaussianNoise>0.1</gaussianNoise><rateGaussianNoise>1 2 3</rateGaussianNoise>"
    )
    values = read("hector", content).specification
    np.testing.assert_allclose(values.gyroscope.white_noise, 0.01, rtol=1e-12)
    np.testing.assert_allclose(values.accelerometer.white_noise, 0.01, rtol=1e-12)


def test_ignored_hector_and_gazebo_tags_are_reported(read):
    content = hector(
        "<yawDrift>0.5</yawDrift><yawDriftFrequency>0.005</yawDriftFrequency>"
        "<yawGaussianNoise>0.002</yawGaussianNoise><rpyOffset>0 0 1.57</rpyOffset>"
        "<xyzOffset>0 0 0</xyzOffset><rateDrft>1 1 1</rateDrft>"
    )
    remarks = read("hector", content).remarks
    assert len(remarks) == 4
    (yaw,) = [remark for remark in remarks if "<yawDrift>" in remark]
    assert "0.0500" in yaw and "200 s" in yaw
    # These tags are common in tutorials, but ignored by Gazebo.
    more = "<magnetic_field><x/></magnetic_field><gravity_dir><z>1</z></gravity_dir>"
    remarks += read("sdf", sdf("<sigma>1</sigma>", more=more)).remarks
    named = ("yawGaussianNoise", "rpyOffset", "rateDrft", "magnetic_field", "gravity_dir", "sigma")
    assert all(any(f"<{name}>" in remark for remark in remarks) for name in named)


def unity(tags):
    return f'<sensor type="imu"><update_rate>100</update_rate>{tags}</sensor>'


def test_unity_noise_applies_to_gyroscope_and_accelerometer(read):
    reading = read("unity", unity("<topic>/unity/imu</topic>"))
    assert reading.specification.gyroscope == isf.TriadSpecification()
    output = reading.specification.output
    assert (output.rate, output.topic) == (100.0, "/unity/imu")
    assert output.repeat_samples and output.drop_repeated
    assert reading.remarks == []
    content = unity(
        "<offset_start_time>true</offset_start_time>"
        "<output><discard_redundant_data>true</discard_redundant_data></output>"
        "<noise><mean>-0.1</mean><stddev>0.02</stddev>"
        "<bias_mean>0.3</bias_mean><bias_stddev>0.4</bias_stddev></noise>"
    )
    reading = read("unity", content)
    for triad in (reading.specification.gyroscope, reading.specification.accelerometer):
        np.testing.assert_allclose(triad.white_noise, 2e-3, rtol=1e-12)
        np.testing.assert_allclose(triad.turn_on_bias, 0.2, rtol=1e-12)
        assert triad.turn_on_bias_sigma == (0.4,) * 3
    output = reading.specification.output
    assert output.drop_repeated and not output.repeat_samples
    assert any("random_start_offset" in remark for remark in reading.remarks)
    # The offset is five of Unity's default frames of 0.02 s; the tag is preserved in the file.
    assert output.random_start_offset == 0.1
    again = isf.write_imu_parameters(reading.specification, "unity").text
    assert "<offset_start_time>true</offset_start_time>" in again


@pytest.mark.parametrize("name", [name for name, kind in FORMATS.items() if kind.write])
def test_noise_inflation_scales_written_noise_and_is_stated_in_file(name, read):
    triad = isf.TriadSpecification(white_noise=1e-3, random_walk=1e-5)
    values = isf.ImuSpecification(gyroscope=triad, accelerometer=triad)
    actual = []
    for inflation in (1.0, 10.0):
        options = WriteOptions(inflation=inflation)
        text = isf.write_imu_parameters(values, name, 100.0, options).text
        assert ("10 times the sensor's" in " ".join(text.split())) == (inflation == 10.0)
        actual.append(read(name, text, 100.0).specification.gyroscope.white_noise)
    np.testing.assert_allclose(actual[1], 10.0 * np.array(actual[0]), rtol=1e-5)


def test_subsampling_preserves_noise_per_sample_and_too_small_resolution_is_reported(read):
    triad = isf.TriadSpecification(white_noise=1e-3, random_walk=1e-5)
    output = isf.OutputSpecification(rate=400.0)
    values = isf.ImuSpecification(gyroscope=triad, accelerometer=triad, output=output)
    actual = {}
    for subsampled in (None, True):
        options = WriteOptions(subsampled=subsampled)
        text = isf.write_imu_parameters(values, "kalibr", 100.0, options).text
        actual[subsampled] = read("kalibr", text).specification.gyroscope
    # Kalibr's standard deviation of a sample is density * sqrt(update_rate), here at 400 Hz.
    assert actual[True].white_noise[0] * 10.0 == pytest.approx(1e-3 * 20.0)
    assert actual[None].white_noise[0] == pytest.approx(1e-3)
    assert actual[True].random_walk == actual[None].random_walk
    with pytest.raises(ConfigurationError, match="rate"):
        isf.write_imu_parameters(values, "kalibr", 400.0, WriteOptions(subsampled=True))
    for resolution, listed in ((1e-6, True), (2e-6, False)):
        specification = isf.ImuSpecification(
            gyroscope=isf.TriadSpecification(resolution=resolution),
            output=isf.OutputSpecification(orientation_reference="truth"),
        )
        remarks = isf.write_imu_parameters(specification, "sdf").remarks
        assert bool(remarks) == listed


@pytest.mark.parametrize("sigma, time, rate", [(0.05, 0.2, 100.0), (2e-3, 0.6, 50.0), (7, 9, 200)])
@pytest.mark.parametrize(
    "name, strength, decay",
    [
        ("sdf", "dynamic_bias_stddev", "dynamic_bias_correlation_time"),
        ("rotors", "gyroscopeBiasRandomWalk", "gyroscopeBiasCorrelationTime"),
        ("unity", "dynamic_bias_stddev", "dynamic_bias_correlation_time"),
        ("hector", "rateDrift", "rateDriftFrequency"),
        ("hector", "yawDrift", "yawDriftFrequency"),
    ],
)
def test_written_parameters_yield_specified_drift_in_simulator(
    name, strength, decay, sigma, time, rate
):
    triad = isf.TriadSpecification(gauss_markov_sigma=sigma, gauss_markov_time=time)
    options = WriteOptions(yaw_drift=(sigma, time) if name == "hector" else None)
    values = isf.ImuSpecification(gyroscope=triad, accelerometer=triad)
    text = isf.write_imu_parameters(values, name, rate, options).text
    q, t = (float(re.search(f"<{tag}>([^ <]*)", text).group(1)) for tag in (strength, decay))
    if name == "hector":  # sensor_model.h
        correlation, innovation = np.exp(-t / rate), q / rate * np.sqrt(2.0 * t)
    else:  # GaussianNoiseModel.cc, gazebo_imu_plugin.cpp
        correlation = np.exp(-1.0 / rate / t)
        innovation = np.sqrt(-(q**2) * t / 2.0 * (np.exp(-2.0 / rate / t) - 1.0))
    assert innovation / np.sqrt(1.0 - correlation**2) == pytest.approx(sigma)
    assert correlation == pytest.approx(np.exp(-1.0 / rate / time))
