"""Files as others ship them: OpenVINS, EuRoC, imu_utils, VINS, ORB-SLAM3, PX4, RotorS, Hector."""

import math

import numpy as np
import pytest

from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.sensors.formats.registry import (
    read_imu_parameters,
    write_imu_parameters,
)
from imu_simulation_framework.sensors.formats.xml import expanded
from imu_simulation_framework.sensors.imu_specification import ImuSpecification


def read(tmp_path, name, content, rate=None, file="parameters"):
    path = tmp_path / file
    path.write_text(content, encoding="utf-8")
    return read_imu_parameters(path, name, rate)


def in_notes(reading, *words):
    return any(all(word in remark for word in words) for remark in reading.remarks)


CHAIN = """%YAML:1.0 # the header that OpenCV wants

imu0:
  T_i_b:
    - [1.0, 0.0]
    - [0.0, 1.0]
  #  gyroscope_noise_density: 0.05      # what was there before
  accelerometer_noise_density: 2.5000e-3  # [ m / s^2 / sqrt(Hz) ]
  accelerometer_random_walk: 3.5000e-4
  gyroscope_noise_density: 1.5e-04
  gyroscope_random_walk: 2.5e-05
  rostopic: /imu0
  time_offset: 0.0
  update_rate: 200
  model: "kalibr"
  T_w: !!opencv-matrix
    rows: 1
    cols: 2
    data: [1.0, 2.0]
  Tg:
    - [ 0.0, 0.0 ]
    - [ 0.0, 0.0 ]
"""


def test_a_chain_of_openvins_is_read(tmp_path):
    reading = read(tmp_path, "kalibr", CHAIN)
    values = reading.specification
    assert values.gyroscope.white_noise == (1.5e-4,) * 3
    assert values.gyroscope.random_walk == (2.5e-5,) * 3
    assert values.accelerometer.white_noise == (2.5e-3,) * 3
    assert values.accelerometer.random_walk == (3.5e-4,) * 3
    assert values.output.rate == 200.0
    # Identity and zero are no calibration that could be lost.
    assert reading.remarks == ["No noise parameters, and left out: imu0.T_w."]


def test_the_header_does_not_move_the_lines(tmp_path):
    with pytest.raises(ConfigurationError, match=r"line 10: imu0\.gyroscope_noise_density"):
        read(tmp_path, "kalibr", CHAIN.replace("1.5e-04", "-1.5e-04"))


def test_an_estimators_configuration_names_the_file(tmp_path):
    (tmp_path / "chain.yaml").write_text(CHAIN)
    content = '%YAML:1.0\nuse_fej: true\nrelative_config_imu: "chain.yaml"\n'
    reading = read(tmp_path, "kalibr", content)
    assert reading.specification.gyroscope.white_noise == (1.5e-4,) * 3
    assert in_notes(reading, "chain.yaml")
    with pytest.raises(ConfigurationError, match=r"none\.yaml"):
        read(tmp_path, "kalibr", content.replace("chain", "none"))


SENSOR = """%YAML:1.0
sensor_type: imu
T_BS:
  cols: 2
  rows: 2
  data: [1.0, 0.0, 0.0, 1.0]
rate_hz: 250
gyroscope_noise_density: 1.5e-04
gyroscope_random_walk: 2.5e-05
accelerometer_noise_density: 2.5e-3
accelerometer_random_walk: 3.5e-4
"""


def test_a_sensor_of_euroc_calls_the_rate_otherwise(tmp_path):
    reading = read(tmp_path, "kalibr", SENSOR)
    assert reading.specification.output.rate == 250.0
    assert reading.specification.gyroscope.random_walk == (2.5e-5,) * 3
    # What the file says is not what somebody says beside it.
    assert read(tmp_path, "kalibr", SENSOR, 100.0).specification.output.rate == 250.0


def test_a_file_without_a_rate_takes_the_one_that_is_given(tmp_path):
    content = SENSOR.replace("rate_hz: 250\n", "")
    assert read(tmp_path, "kalibr", content, 100.0).specification.output.rate == 100.0
    with pytest.raises(ConfigurationError, match="update_rate is missing"):
        read(tmp_path, "kalibr", content)


def test_a_rate_that_is_stated_twice_is_refused(tmp_path):
    with pytest.raises(ConfigurationError, match=r"line \d+.*rate_hz.*update_rate"):
        read(tmp_path, "kalibr", SENSOR + "update_rate: 1\n")


def imu_utils(factor, axes=("x", "y", "z", "avg")):
    """What imu_utils would write; the white noise with this factor."""
    lines = ["%YAML:1.0", "---", "type: IMU", 'name: "16448"']
    for sensor, unit, key, size in (("Gyr", "rad/s", "gyr", 1e-4), ("Acc", "m/s^2", "acc", 1e-3)):
        lines += [f"{sensor}:", f'   unit: " {unit}"']
        for number, axis in enumerate(axes, start=1):
            lines += [f"   {axis}-axis:", f"      {key}_n: {size * number * factor:.16e}"]
            lines += [f"      {key}_w: {0.3 * size * number:.16e}"]
    return "\n".join(lines) + "\n"


def test_the_noise_of_imu_utils_is_that_of_samples(tmp_path):
    reading = read(tmp_path, "imu_utils", imu_utils(20.0), rate=400.0)
    values = reading.specification
    assert values.name == "16448"
    assert values.output.rate == 400.0
    np.testing.assert_allclose(values.gyroscope.white_noise, (1e-4, 2e-4, 3e-4), rtol=1e-12)
    np.testing.assert_allclose(values.accelerometer.white_noise, (1e-3, 2e-3, 3e-3), rtol=1e-12)
    assert in_notes(reading, "divided by sqrt(400 Hz)")


def test_imu_utils_from_before_the_factor_is_recognised(tmp_path):
    reading = read(tmp_path, "imu_utils", imu_utils(1.0), rate=400.0)
    np.testing.assert_allclose(
        reading.specification.gyroscope.white_noise, (1e-4, 2e-4, 3e-4), rtol=1e-12
    )
    assert in_notes(reading, "taken for densities", "May 2018")


def test_the_w_of_imu_utils_is_the_lowest_allan_deviation_and_no_random_walk(tmp_path):
    reading = read(tmp_path, "imu_utils", imu_utils(20.0), rate=400.0)
    gyroscope = reading.specification.gyroscope
    lowest = np.sqrt(2.0 * np.log(2.0) / np.pi) * np.array(gyroscope.bias_instability)
    np.testing.assert_allclose(lowest, (3e-5, 6e-5, 9e-5), rtol=1e-12)
    assert gyroscope.random_walk == (0.0, 0.0, 0.0)
    assert in_notes(reading, "gyr_w", "no random walk")


def test_the_mean_over_the_axes_stands_in_for_them(tmp_path):
    reading = read(tmp_path, "imu_utils", imu_utils(20.0, ["avg"]), rate=400.0)
    np.testing.assert_allclose(reading.specification.gyroscope.white_noise, 1e-4, rtol=1e-12)
    assert in_notes(reading, "Gyr", "mean")


def test_vins_states_what_a_sample_has(tmp_path):
    content = (
        "%YAML:1.0\n\nbody_T_cam0: !!opencv-matrix\n   rows: 1\n   cols: 1\n   dt: d\n"
        "   data: [1.0]\nacc_n: 0.2    # measurement noise\ngyr_n: 0.02\nacc_w: 4.0e-3\n"
        "gyr_w: 6.0e-4\ng_norm: 9.81\n"
    )
    reading = read(tmp_path, "vins", content, rate=400.0)
    for triad, noise, walk in (
        (reading.specification.gyroscope, 0.001, 3e-5),
        (reading.specification.accelerometer, 0.01, 2e-4),
    ):
        np.testing.assert_allclose(triad.white_noise, noise, rtol=1e-12)
        np.testing.assert_allclose(triad.random_walk, walk, rtol=1e-12)
    assert in_notes(reading, "tuned")


def test_orb_slam3_states_densities_and_the_rate(tmp_path):
    content = (
        '%YAML:1.0\n\nCamera.type: "PinHole"\nIMU.NoiseGyro: 1.7e-4 #1.6e-04\n'
        "IMU.NoiseAcc: 2.0000e-3\nIMU.GyroWalk: 1.9e-05\nIMU.AccWalk: 3e-03\n"
        "IMU.Frequency: 250.0\n"
    )
    values = read(tmp_path, "orb_slam3", content).specification
    assert values.output.rate == 250.0
    assert values.gyroscope.white_noise == (1.7e-4,) * 3
    assert values.gyroscope.random_walk == (1.9e-5,) * 3
    assert values.accelerometer.white_noise == (2e-3,) * 3
    assert values.accelerometer.random_walk == (3e-3,) * 3


MODEL = """<sdf version='1.6'><model name='m'>
{before}<plugin name='imu' filename='{library}'>
<robotNamespace/><linkName>/imu_link</linkName><imuTopic>/imu</imuTopic>
{tags}</plugin></model></sdf>
"""
ROTORS, PX4 = "librotors_gazebo_imu_plugin.so", "libgazebo_imu_plugin.so"


def model(library, tags="", before=""):
    return MODEL.format(library=library, tags=tags, before=before)


def test_rotors_defaults_are_those_of_an_adis16448(tmp_path):
    reading = read(tmp_path, "rotors", model(ROTORS), rate=500.0)
    gyroscope, accelerometer = reading.specification.gyroscope, reading.specification.accelerometer
    # 35 deg/h/sqrt(Hz) and 4 deg/h/s/sqrt(Hz), both doubled; 0.5 deg/s; 20 mg.
    np.testing.assert_allclose(gyroscope.white_noise, 3.3937e-4, rtol=1e-4)
    np.testing.assert_allclose(gyroscope.gauss_markov_sigma, 3.8785e-5 * np.sqrt(500.0), rtol=1e-4)
    np.testing.assert_allclose(gyroscope.turn_on_bias_sigma, 0.0087266, rtol=1e-4)
    assert gyroscope.gauss_markov_time == (1000.0,) * 3
    np.testing.assert_allclose(accelerometer.white_noise, 0.004, rtol=1e-12)
    np.testing.assert_allclose(accelerometer.gauss_markov_sigma, 0.006 * np.sqrt(150.0))
    np.testing.assert_allclose(accelerometer.turn_on_bias_sigma, 0.196, rtol=1e-12)
    assert accelerometer.gauss_markov_time == (300.0,) * 3
    assert len(reading.remarks) == 8
    assert in_notes(reading, "<gyroscopeTurnOnBiasSigma>", "0.008726646 rad/s", "ADIS16448")


@pytest.mark.parametrize("walk", ["gyroscopeRandomWalk", "gyroscopeBiasRandomWalk"])
def test_the_random_walk_of_rotors_drives_a_bias_with_an_end(walk, tmp_path):
    reading = read(tmp_path, "rotors", model(ROTORS, f"<{walk}>5e-5</{walk}>"), rate=1000.0)
    found = reading.specification.gyroscope.gauss_markov_sigma
    np.testing.assert_allclose(found, 5e-5 * np.sqrt(500.0))


def test_px4s_defaults_are_those_of_an_iim42653_without_a_slow_error(tmp_path):
    reading = read(tmp_path, "rotors", model(PX4), rate=250.0)
    gyroscope, accelerometer = reading.specification.gyroscope, reading.specification.accelerometer
    np.testing.assert_allclose(gyroscope.white_noise, math.radians(0.05), rtol=1e-6)
    np.testing.assert_allclose(accelerometer.white_noise, 0.65e-3 * 9.8, rtol=1e-3)
    for triad in (gyroscope, accelerometer):
        assert not any(triad.gauss_markov_sigma + triad.turn_on_bias_sigma)
    assert in_notes(reading, "<accelerometerNoiseDensity>", "0.00637", "since March 2025")
    assert in_notes(reading, "before March 2025")


def test_what_a_model_states_goes_before_the_default(tmp_path):
    tags = "<gyroscopeNoiseDensity>\n 5e-4 <!-- rad/s/sqrt(Hz) --> </gyroscopeNoiseDensity>"
    reading = read(tmp_path, "rotors", model(ROTORS, tags), rate=250.0)
    assert reading.specification.gyroscope.white_noise == (5e-4,) * 3
    assert len(reading.remarks) == 7
    assert not in_notes(reading, "<gyroscopeNoiseDensity>")


def test_a_tag_that_is_nearly_right_is_named_beside_the_default(tmp_path):
    tags = "<gyroscopeNoiseDensty>5e-4</gyroscopeNoiseDensty>"
    reading = read(tmp_path, "rotors", model(PX4, tags), rate=250.0)
    assert in_notes(reading, "<gyroscopeNoiseDensty>", "did you mean <gyroscopeNoiseDensity>?")
    assert in_notes(reading, "<gyroscopeNoiseDensity> is not there")


def test_a_plugin_in_a_comment_is_none(tmp_path):
    inside = model(PX4).split("\n", 1)[1].split("</model>")[0]
    content = model(PX4, before=f"<!-- {inside} -->\n")
    assert read(tmp_path, "rotors", content, rate=250.0).specification.output.rate == 250.0


def test_conditions_of_a_template_are_noted(tmp_path):
    before = "<pose>{{ length }} 0 0</pose>\n"
    assert not in_notes(read(tmp_path, "rotors", model(PX4, before=before), 250.0), "condition")
    before = "{%- if imu %}\n"
    assert in_notes(read(tmp_path, "rotors", model(PX4, before=before), 250.0), "condition")


def test_properties_of_a_xacro_file_are_numbers(tmp_path):
    before = (
        "<xacro:property name='density' value='2.5e-4'/>"
        "<xacro:property name='doubled' value='${2 * density}'/>"
    )
    tags = (
        "<gyroscopeNoiseDensity>${doubled}</gyroscopeNoiseDensity>"
        "<gyroscopeTurnOnBiasSigma>${0.5*pi/180}</gyroscopeTurnOnBiasSigma>"
    )
    content = f"<robot>{before}<gazebo>{model(ROTORS, tags)}</gazebo></robot>"
    gyroscope = read(tmp_path, "rotors", content, rate=250.0).specification.gyroscope
    assert gyroscope.white_noise == (5e-4,) * 3
    np.testing.assert_allclose(gyroscope.turn_on_bias_sigma, math.radians(0.5), rtol=1e-15)


MACRO = """<robot xmlns:xacro="http://www.ros.org/wiki/xacro">
<xacro:property name="noise" value="1e-4"/>{again}
<xacro:macro name="imu" params="{parameters}">
<gazebo><plugin filename="librotors_gazebo_imu_plugin.so">
<gyroscopeNoiseDensity>${{noise}}</gyroscopeNoiseDensity>
</plugin></gazebo></xacro:macro></robot>
"""


@pytest.mark.parametrize(
    "parameters, again",
    [
        ("noise", ""),
        ("name noise:=3e-4 *origin", ""),
        ("name", '<xacro:property name="noise" value="2e-4"/>'),
        (
            "name",
            '<xacro:arg name="noise" default="1"/><xacro:property name="noise" value="$(a)"/>',
        ),
    ],
)
def test_what_only_xacro_can_know_is_asked_for(parameters, again, tmp_path):
    content = MACRO.format(parameters=parameters, again=again)
    with pytest.raises(ConfigurationError, match=r"line 5: .*'\$\{noise\}'.*expand .* xacro"):
        read(tmp_path, "rotors", content, rate=100.0)
    alone = MACRO.format(parameters="name", again="")
    values = read(tmp_path, "rotors", alone, rate=100.0).specification
    assert values.gyroscope.white_noise == (1e-4,) * 3


def test_a_file_that_only_calls_macros_is_to_be_expanded(tmp_path):
    content = '<robot xmlns:xacro="x"><xacro:imu_macro noise="1"/></robot>'
    with pytest.raises(ConfigurationError, match="expand the file with xacro first"):
        read(tmp_path, "rotors", content, rate=100.0)


@pytest.mark.parametrize(
    "expression, expected",
    [
        ("${1 + 2 * 3}", "7.0"),
        ("a ${-2} b ${4 / 2}", "a -2.0 b 2.0"),
        ("${2 ** 3}", "8.0"),
        ("${x}", "0.5"),
        # Left as they are: unknown, no arithmetic, no number, no end.
        ("${y}", "${y}"),
        ("${__import__('os')}", "${__import__('os')}"),
        ("${x.real}", "${x.real}"),
        ("${1 / 0}", "${1 / 0}"),
        ("${9 ** 9 ** 9 ** 9}", "${9 ** 9 ** 9 ** 9}"),
        ("${(-8) ** 0.5}", "${(-8) ** 0.5}"),
        ("${True + 1}", "${True + 1}"),
        ("$(arg x)", "$(arg x)"),
    ],
)
def test_an_expression_is_arithmetic_and_nothing_else(expression, expected):
    assert expanded(expression, {"x": 0.5}) == expected


@pytest.mark.parametrize("name", ["specification", "kalibr", "rotors", "sdf", "datasheet"])
def test_a_comment_begins_the_file_and_changes_nothing(name, tmp_path):
    values = read(tmp_path, "kalibr", CHAIN).specification
    lines = ["Converted from a file.", "- with <tags> -- and more"]
    with_comment = write_imu_parameters(values, name, 100.0, comment=lines)
    without = write_imu_parameters(values, name, 100.0)
    assert with_comment.text.endswith(without.text)
    assert "Converted from a file." in with_comment.text
    assert read(tmp_path, name, with_comment.text, 100.0) == read(
        tmp_path, name, without.text, 100.0
    )
    assert isinstance(read(tmp_path, name, with_comment.text, 100.0)[0], ImuSpecification)


@pytest.mark.parametrize("error", ["Drift", "GaussianNoise"])
def test_a_heading_is_perhaps_the_plug_ins_yaw(tmp_path, error):
    content = (
        '<plugin filename="libhector_gazebo_ros_imu.so"><updateRate>50</updateRate>'
        f"<heading{error}>0.005</heading{error}></plugin>"
    )
    reading = read(tmp_path, "hector", content)
    assert in_notes(reading, f"<heading{error}>", f"did you mean <yaw{error}>?")
