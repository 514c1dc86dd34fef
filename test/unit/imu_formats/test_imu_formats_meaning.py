import numpy as np
import pytest

from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.sensors.formats.base import WriteOptions
from imu_simulation_framework.sensors.formats.registry import (
    FORMATS,
    read_imu_parameters,
    write_imu_parameters,
)
from imu_simulation_framework.sensors.imu_specification import (
    ImuSpecification,
    OutputSpecification,
    TriadSpecification,
)

DEGREE = np.pi / 180.0


def read(tmp_path, name, content, rate=None):
    path = tmp_path / "parameters"
    path.write_text(content, encoding="utf-8")
    return read_imu_parameters(path, name, rate)


def sheet(entry, triad="gyroscope"):
    return f"rate: 100\n{triad}:\n" + "".join(f"  {line}\n" for line in entry.splitlines())


# --- Datasheet ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "triad, entry, expected",
    [
        # Table 3.1 of the thesis on the BNO055: densities, one-sided as datasheets have them.
        (
            "gyroscope",
            "noise: {density: 0.014, unit: deg/s/sqrt(Hz), spectrum: one-sided}",
            0.014 * DEGREE / np.sqrt(2.0),
        ),
        (
            "gyroscope",
            "noise: {density: 0.014, unit: deg/s/sqrt(Hz), spectrum: two-sided}",
            0.014 * DEGREE,
        ),
        (
            "accelerometer",
            "noise: {density: 150, unit: ug/sqrt(Hz), spectrum: one-sided}",
            150e-6 * 9.80665 / np.sqrt(2.0),
        ),
        # White noise of one-sided density d has the rms d sqrt(bandwidth).
        (
            "gyroscope",
            "noise: {rms: 0.1, unit: deg/s, bandwidth: 50}",
            0.1 * DEGREE / np.sqrt(50.0) / np.sqrt(2.0),
        ),
        # (3.23) and (3.27) to (3.29) of the thesis, in SI.
        ("accelerometer", "noise: {random_walk: 5.4e-3, unit: m/s/sqrt(h)}", 9.0e-5),
        ("gyroscope", "noise: {random_walk: 0.32, unit: deg/sqrt(h)}", 0.32 / 60.0 * DEGREE),
        ("gyroscope", "noise: {random_walk: 0.17, unit: deg/sqrt(h)}", 0.17 / 60.0 * DEGREE),
    ],
)
def test_white_noise_of_a_datasheet(triad, entry, expected, tmp_path):
    values = read(tmp_path, "datasheet", sheet(entry, triad)).specification
    np.testing.assert_allclose(getattr(values, triad).white_noise, expected, rtol=1e-11)


def test_rms_and_density_of_the_same_noise_agree_with_its_samples(tmp_path):
    # An averaging sensor at f samples per second has the bandwidth f / 2, and with N = 1 a
    # variance of f.
    entry = "noise: {rms: 10, unit: rad/s, bandwidth: 50}"
    values = read(tmp_path, "datasheet", sheet(entry)).specification
    np.testing.assert_allclose(values.gyroscope.white_noise, 1.0, rtol=1e-12)


@pytest.mark.parametrize(
    "triad, entry, parameter, expected",
    [
        # (3.30) of the thesis: 4.86 m/s/h/sqrt(h) is 2.25e-5 m/s^3/sqrt(Hz).
        (
            "accelerometer",
            "random_walk: {value: 4.86, unit: m/s/h/sqrt(h)}",
            "random_walk",
            2.25e-5,
        ),
        (
            "gyroscope",
            "random_walk: {value: 2.1364, unit: deg/h/sqrt(h)}",
            "random_walk",
            2.1364 / 216000.0 * DEGREE,
        ),
        (
            "gyroscope",
            "bias_instability: {value: 1.1729, unit: deg/h, meaning: coefficient}",
            "bias_instability",
            1.1729 / 3600.0 * DEGREE,
        ),
        (
            "gyroscope",
            "bias_instability: {value: 0.664, unit: rad/s, meaning: allan_minimum}",
            "bias_instability",
            0.664 / np.sqrt(2.0 * np.log(2.0) / np.pi),
        ),
        ("accelerometer", "zero_offset: {value: 80, unit: mg}", "turn_on_bias_sigma", 0.784532),
        (
            "gyroscope",
            "temperature_drift: {value: 0.015, unit: deg/s/K}",
            "temperature_bias",
            0.015 * DEGREE,
        ),
        ("gyroscope", "range: {value: 2000, unit: deg/s}", "saturation", 2000.0 * DEGREE),
        ("accelerometer", "resolution: {value: 1, unit: mg}", "resolution", 9.80665e-3),
    ],
)
def test_other_numbers_of_a_datasheet(triad, entry, parameter, expected, tmp_path):
    values = read(tmp_path, "datasheet", sheet(entry, triad)).specification
    np.testing.assert_allclose(getattr(getattr(values, triad), parameter), expected, rtol=1e-12)


# --- Gazebo -------------------------------------------------------------------------------------

SDF = """<sdf version="1.6"><model name="m"><link name="l">
<sensor name="imu" type="imu"><update_rate>{rate}</update_rate><imu>
<angular_velocity><z><noise type="{type}">{noise}</noise></z></angular_velocity>
{more}</imu></sensor></link></model></sdf>
"""


def sdf(noise, rate="100", kind="gaussian", more=""):
    return SDF.format(noise=noise, rate=rate, type=kind, more=more)


def test_a_standard_deviation_of_samples_is_a_density_at_their_rate(tmp_path):
    values = read(tmp_path, "sdf", sdf("<stddev>0.02</stddev>", "400")).specification
    np.testing.assert_allclose(values.gyroscope.white_noise, (0.0, 0.0, 1e-3), rtol=1e-12)
    assert values.accelerometer == TriadSpecification()
    assert values.output.rate == 400.0


def test_a_rate_that_is_not_stated_is_the_one_given(tmp_path):
    noise = "<stddev>0.02</stddev>"
    values = read(tmp_path, "sdf", sdf(noise, "0"), rate=400.0).specification
    np.testing.assert_allclose(values.gyroscope.white_noise[2], 1e-3, rtol=1e-12)
    # What the file states goes before it.
    values = read(tmp_path, "sdf", sdf(noise, "100"), rate=400.0).specification
    np.testing.assert_allclose(values.gyroscope.white_noise[2], 2e-3, rtol=1e-12)


def test_a_bias_of_random_sign_belongs_to_the_uncertain_bias(tmp_path):
    noise = "<mean>-0.1</mean><bias_mean>0.3</bias_mean><bias_stddev>0.4</bias_stddev>"
    reading = read(tmp_path, "sdf", sdf(noise))
    gyroscope = reading.specification.gyroscope
    assert gyroscope.turn_on_bias[2] == -0.1
    np.testing.assert_allclose(gyroscope.turn_on_bias_sigma[2], 0.5, rtol=1e-12)
    assert any("bias_mean" in remark for remark in reading.remarks)


def test_a_noise_without_a_type_or_of_type_none_is_none(tmp_path):
    for content in (
        sdf("<stddev>1</stddev>", kind="none"),
        sdf("<stddev>1</stddev>").replace(' type="gaussian"', ""),
    ):
        assert read(tmp_path, "sdf", content).specification.gyroscope == TriadSpecification()


def test_what_sdf_does_not_have_is_noted(tmp_path):
    # Tags that circulate in tutorials, and that Gazebo does not read.
    more = "<magnetic_field><x/></magnetic_field><gravity_dir><z>1</z></gravity_dir>"
    remarks = read(tmp_path, "sdf", sdf("<sigma>1</sigma>", more=more)).remarks
    for name in ("<magnetic_field>", "<gravity_dir>", "<sigma>"):
        assert any(name in remark for remark in remarks)


def test_a_resolution_that_gazebo_does_not_see_is_listed():
    for resolution, listed in ((1e-6, True), (2e-6, False)):
        specification = ImuSpecification(
            gyroscope=TriadSpecification(resolution=resolution),
            output=OutputSpecification(orientation_reference="truth"),
        )
        remarks = write_imu_parameters(specification, "sdf").remarks
        assert bool(remarks) == listed


# --- Hector -------------------------------------------------------------------------------------


def hector(tags):
    return (
        '<robot name="r"><gazebo><plugin name="i" filename="libhector_gazebo_ros_imu.so">'
        f"<updateRate>100</updateRate><topicName>imu/data</topicName>{tags}"
        "</plugin></gazebo></robot>"
    )


def test_hectors_drift_is_read_as_the_standard_deviation_it_makes(tmp_path):
    content = hector(
        "<rateDrift>0.5 0 0.5</rateDrift><rateDriftFrequency>.005 0 .005</rateDriftFrequency>"
    )
    gyroscope = read(tmp_path, "hector", content).specification.gyroscope
    # About drift * sqrt(dt), a tenth at 100 Hz.
    np.testing.assert_allclose(gyroscope.gauss_markov_sigma, (0.05, 0.0, 0.05), rtol=1e-4)
    np.testing.assert_allclose(gyroscope.gauss_markov_time[::2], 200.0, rtol=1e-12)


def test_hectors_defaults_hold_where_a_tag_is_missing(tmp_path):
    gyroscope = read(
        tmp_path, "hector", hector("<rateDrift>1 1 1</rateDrift>")
    ).specification.gyroscope
    np.testing.assert_allclose(gyroscope.gauss_markov_time, 3600.0, rtol=1e-12)
    assert read(tmp_path, "hector", hector("")).specification.gyroscope == TriadSpecification()


def test_hectors_period_replaces_its_rate(tmp_path):
    for period, rate in (("0.0025", 400.0), ("0", 50.0)):
        content = hector(f"<updatePeriod>{period}</updatePeriod>")
        assert read(tmp_path, "hector", content, 50.0).specification.output.rate == rate


def test_hectors_common_noise_replaces_both_sensors(tmp_path):
    content = hector(
        "<gaussianNoise>0.1</gaussianNoise><rateGaussianNoise>1 2 3</rateGaussianNoise>"
    )
    values = read(tmp_path, "hector", content).specification
    np.testing.assert_allclose(values.gyroscope.white_noise, 0.01, rtol=1e-12)
    np.testing.assert_allclose(values.accelerometer.white_noise, 0.01, rtol=1e-12)


def test_hectors_yaw_mounting_and_unknown_tags_are_noted(tmp_path):
    content = hector(
        "<yawDrift>0.5</yawDrift><yawDriftFrequency>0.005</yawDriftFrequency>"
        "<yawGaussianNoise>0.002</yawGaussianNoise><rpyOffset>0 0 1.57</rpyOffset>"
        "<xyzOffset>0 0 0</xyzOffset><rateDrft>1 1 1</rateDrft>"
    )
    remarks = read(tmp_path, "hector", content).remarks
    assert len(remarks) == 4
    yaw = next(remark for remark in remarks if "<yawDrift>" in remark)
    assert "0.05000" in yaw or "0.0500" in yaw
    assert "200 s" in yaw
    for name in ("<yawGaussianNoise>", "<rpyOffset>", "<rateDrft>"):
        assert any(name in remark for remark in remarks)


# --- RotorS, Kalibr, Unity ------------------------------------------------------------------------

ROTORS = """<gazebo><plugin filename="librotors_gazebo_imu_plugin.so" name="imu">
<gyroscopeNoiseDensity>3e-4</gyroscopeNoiseDensity>
<{walk}>4e-5</{walk}>
<gyroscopeBiasCorrelationTime>1000</gyroscopeBiasCorrelationTime>
<gyroscopeTurnOnBiasSigma>0.01</gyroscopeTurnOnBiasSigma>
<accelerometerNoiseDensity>4e-3</accelerometerNoiseDensity>
<accelerometerRandomWalk>6e-3</accelerometerRandomWalk>
<accelerometerBiasCorrelationTime>300</accelerometerBiasCorrelationTime>
<accelerometerTurnOnBiasSigma>0.2</accelerometerTurnOnBiasSigma>
</plugin></gazebo>
"""


@pytest.mark.parametrize("walk", ["gyroscopeRandomWalk", "gyroscopeBiasRandomWalk"])
def test_the_random_walk_of_rotors_drives_a_bias_with_an_end(walk, tmp_path):
    values = read(tmp_path, "rotors", ROTORS.format(walk=walk), rate=1000.0).specification
    np.testing.assert_allclose(values.gyroscope.gauss_markov_sigma, 4e-5 * np.sqrt(500.0))
    np.testing.assert_allclose(values.accelerometer.gauss_markov_sigma, 6e-3 * np.sqrt(150.0))
    assert values.gyroscope.white_noise == (3e-4,) * 3


def test_unitys_one_noise_is_that_of_both_sensors(tmp_path):
    content = (
        '<sensor type="imu"><update_rate>100</update_rate>'
        "<offset_start_time>true</offset_start_time>"
        "<output><discard_redundant_data>true</discard_redundant_data></output>"
        "<noise><mean>0.1</mean><stddev>0.02</stddev></noise></sensor>"
    )
    reading = read(tmp_path, "unity", content)
    for triad in (reading.specification.gyroscope, reading.specification.accelerometer):
        np.testing.assert_allclose(triad.white_noise, 2e-3, rtol=1e-12)
        assert triad.turn_on_bias == (0.1,) * 3
    assert reading.specification.output.drop_repeated
    assert not reading.specification.output.repeat_samples
    assert len(reading.remarks) == 2
    assert any("random_start_offset" in remark for remark in reading.remarks)
    # Five of Unity's default frames of 0.02 s; and the flag survives.
    assert reading.specification.output.random_start_offset == 0.1
    again = write_imu_parameters(reading.specification, "unity").text
    assert "<offset_start_time>true</offset_start_time>" in again


def test_unitys_bias_mean_is_a_bias(tmp_path):
    content = (
        '<sensor type="imu"><update_rate>100</update_rate>'
        "<noise><mean>-0.1</mean><bias_mean>0.3</bias_mean><bias_stddev>0.4</bias_stddev></noise>"
        "</sensor>"
    )
    gyroscope = read(tmp_path, "unity", content).specification.gyroscope
    np.testing.assert_allclose(gyroscope.turn_on_bias, 0.2, rtol=1e-12)
    assert gyroscope.turn_on_bias_sigma == (0.4,) * 3


def test_unity_repeats_what_is_redundant_unless_it_is_discarded(tmp_path):
    content = '<sensor type="imu"><update_rate>100</update_rate></sensor>'
    output = read(tmp_path, "unity", content).specification.output
    assert output.repeat_samples
    assert output.drop_repeated


@pytest.mark.parametrize("name", [name for name, kind in FORMATS.items() if kind.write])
def test_inflated_noise_is_that_many_times_larger_and_says_so(name, tmp_path):
    triad = TriadSpecification(white_noise=1e-3, random_walk=1e-5)
    values = ImuSpecification(gyroscope=triad, accelerometer=triad)
    plain = write_imu_parameters(values, name, 100.0)
    larger = write_imu_parameters(values, name, 100.0, WriteOptions(inflation=10.0))
    assert "10 times the sensor's" in " ".join(larger.text.split())
    assert "10 times the sensor's" not in plain.text
    assert ("recommends larger" in " ".join(plain.text.split())) == (name == "kalibr")
    found = []
    for writing in (plain, larger):
        path = tmp_path / "imu"
        path.write_text(writing.text)
        found.append(read_imu_parameters(path, name, 100.0).specification.gyroscope.white_noise)
    np.testing.assert_allclose(found[1], 10.0 * np.array(found[0]), rtol=1e-5)


def test_picked_samples_are_as_noisy_as_the_sensors_own(tmp_path):
    triad = TriadSpecification(white_noise=1e-3, random_walk=1e-5)
    values = ImuSpecification(
        gyroscope=triad, accelerometer=triad, output=OutputSpecification(rate=400.0)
    )
    found = {}
    for subsampled in (None, True):
        path = tmp_path / "imu.yaml"
        options = WriteOptions(subsampled=subsampled)
        path.write_text(write_imu_parameters(values, "kalibr", 100.0, options).text)
        found[subsampled] = read_imu_parameters(path, "kalibr").specification
    # What Kalibr makes of it in a sample: density * sqrt(update_rate).
    white = {key: one.gyroscope.white_noise[0] * 10.0 for key, one in found.items()}
    assert white[True] == pytest.approx(1e-3 * 20.0)
    assert white[None] == pytest.approx(1e-3 * 10.0)
    assert found[True].gyroscope.random_walk == found[None].gyroscope.random_walk
    # Every fourth of white samples scatters as all of them do.
    samples = 1e-3 * 20.0 * np.random.default_rng(1).standard_normal(40_000)
    assert np.std(samples[::4]) == pytest.approx(white[True], rel=3.0 / np.sqrt(20_000))
    with pytest.raises(ConfigurationError, match="expected a rate below"):
        write_imu_parameters(values, "kalibr", 400.0, WriteOptions(subsampled=True))
