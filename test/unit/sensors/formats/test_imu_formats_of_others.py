"""IMU parameter files of OpenVINS, EuRoC, imu_utils, VINS, ORB-SLAM3, PX4, RotorS, Hector."""

import math

import numpy as np
import pytest
from format_files import GOOD

import imu_simulation_framework as isf
from imu_simulation_framework.core.errors import ConfigurationError


def has_remark(reading, *words):
    return any(all(word in remark for word in words) for remark in reading.remarks)


CHAIN = """%YAML:1.0 # the header that OpenCV wants

imu0:
  T_i_b:
    - [1.0, 0.0]
    - [0.0, 1.0]
  accelerometer_noise_density: 2.5000e-3  # [ m / s^2 / sqrt(Hz) ]
  accelerometer_random_walk: 3.5000e-4
  gyroscope_noise_density: 1.5e-04
  gyroscope_random_walk: 2.5e-05
  rostopic: /imu0
  time_offset: 0.0
  update_rate: 200
  T_w: !!opencv-matrix
    rows: 1
    cols: 2
    data: [1.0, 2.0]
"""


def test_opencv_header_counts_in_line_numbers_and_referenced_imu_file_is_read(read, tmp_path):
    with pytest.raises(ConfigurationError, match=r"line 9: imu0\.gyroscope_noise_density"):
        read("kalibr", CHAIN.replace("1.5e-04", "-1.5e-04"))
    (tmp_path / "chain.yaml").write_text(CHAIN)
    content = '%YAML:1.0\nuse_fej: true\nrelative_config_imu: "chain.yaml"\n'
    reading = read("kalibr", content)
    assert reading.specification.gyroscope.white_noise == (1.5e-4,) * 3
    assert has_remark(reading, "chain.yaml")
    with pytest.raises(ConfigurationError, match=r"none\.yaml"):
        read("kalibr", content.replace("chain", "none"))


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


def test_missing_or_repeated_imu_rate_is_rejected(read):
    content = SENSOR.replace("rate_hz: 250\n", "")
    assert read("kalibr", content, 100.0).specification.output.rate == 100.0
    with pytest.raises(ConfigurationError, match="update_rate is missing"):
        read("kalibr", content)
    with pytest.raises(ConfigurationError, match=r"line \d+.*rate_hz.*update_rate"):
        read("kalibr", SENSOR + "update_rate: 1\n")


def imu_utils(factor, axes=("x", "y", "z", "avg")):
    """Return an imu_utils file with the white noise multiplied by a factor."""
    lines = ["%YAML:1.0", "---", "type: IMU", 'name: "16448"']
    for sensor, unit, key, size in (("Gyr", "rad/s", "gyr", 1e-4), ("Acc", "m/s^2", "acc", 1e-3)):
        lines += [f"{sensor}:", f'   unit: " {unit}"']
        for number, axis in enumerate(axes, start=1):
            lines += [f"   {axis}-axis:", f"      {key}_n: {size * number * factor:.16e}"]
            lines += [f"      {key}_w: {0.3 * size * number:.16e}"]
    return "\n".join(lines) + "\n"


MODEL = """<sdf version='1.6'><model name='m'>
{before}<plugin name='imu' filename='{library}'>
<robotNamespace/><linkName>/imu_link</linkName><imuTopic>/imu</imuTopic>
{tags}</plugin></model></sdf>
"""
ROTORS, PX4 = "librotors_gazebo_imu_plugin.so", "libgazebo_imu_plugin.so"


def model(library, tags="", before=""):
    return MODEL.format(library=library, tags=tags, before=before)


PLATEAU = np.sqrt(2.0 * np.log(2.0) / np.pi)
STEPS = np.arange(1.0, 4.0)
PARAMETERS = ("white_noise", "random_walk", "bias_instability", "gauss_markov_sigma")
PARAMETERS += ("gauss_markov_time", "turn_on_bias_sigma")
ADIS16448 = (  # The file has twice 35 deg/h/sqrt(Hz) and 4 deg/h/s/sqrt(Hz), 0.5 deg/s and 20 mg.
    *(np.radians(70.0 / 3600.0), 0.0, 0.0, np.radians(8.0 / 3600.0) * np.sqrt(500.0)),
    *(1000.0, np.radians(0.5)),
)


XACRO = 'xmlns:xacro="http://www.ros.org/wiki/xacro"'


@pytest.mark.parametrize(
    "name, content, asked, rate, gyroscope, accelerometer, notes",
    [
        # An identity matrix and a zero bias contain no calibration, so no omission is reported.
        (
            *("kalibr", CHAIN, None, 200.0, (1.5e-4, 2.5e-5), (2.5e-3, 3.5e-4)),
            [["Ignored, since they are not noise parameters: imu0.T_w."]],
        ),
        # The rate in the file takes precedence over the argument.
        ("kalibr", SENSOR, 100.0, 250.0, (1.5e-4, 2.5e-5), (2.5e-3, 3.5e-4), []),
        (
            *("imu_utils", imu_utils(20.0), 400.0, 400.0),
            *((1e-4 * STEPS, 0.0, 3e-5 * STEPS / PLATEAU), (1e-3 * STEPS,)),
            [["divided by sqrt(400 Hz)"], ["gyr_w", "no random walk"]],
        ),
        (
            *("imu_utils", imu_utils(1.0), 400.0, 400.0, (1e-4 * STEPS,), (1e-3 * STEPS,)),
            [["read as densities", "May 2018"]],
        ),
        (
            *("imu_utils", imu_utils(20.0, ["avg"]), 400.0, 400.0, (1e-4,), (1e-3,)),
            [["Gyr", "mean"]],
        ),
        ("vins", GOOD["vins"], 400.0, 400.0, (5e-4, 5e-6), (5e-3, 5e-5), [["tuned"]]),
        ("orb_slam3", GOOD["orb_slam3"], None, 200.0, (1.7e-4, 1.9e-5), (2e-3, 3e-3), [["tuned"]]),
        (
            *("rotors", model(ROTORS), 500.0, 500.0, ADIS16448),
            (0.004, 0.0, 0.0, 0.006 * np.sqrt(150.0), 300.0, 0.196),
            [["<gyroscopeTurnOnBiasSigma>", "0.008726646 rad/s", "ADIS16448"]],
        ),
        # The parameters are those of an IIM-42653 without bias drift.
        (
            *("rotors", model(PX4), 250.0, 250.0, (0.0008726646, 0.0, 0.0, 0.0, 1000.0, 0.0)),
            (0.00637, 0.0, 0.0, 0.0, 300.0, 0.0),
            [["<accelerometerNoiseDensity>", "0.00637", "since March 2025"], ["before March 2025"]],
        ),
    ],
)
def test_imu_parameter_files_of_other_tools_are_converted_to_si(
    name, content, asked, rate, gyroscope, accelerometer, notes, read
):
    reading = read(name, content, asked)
    values = reading.specification
    for triad, expected in ((values.gyroscope, gyroscope), (values.accelerometer, accelerometer)):
        for parameter, value in zip(PARAMETERS, expected):
            np.testing.assert_allclose(getattr(triad, parameter), value, rtol=1e-12)
    assert values.output.rate == rate
    assert all(has_remark(reading, *words) for words in notes)
    assert values.name == ("16448" if name == "imu_utils" else "imu")


@pytest.mark.parametrize("walk", ["gyroscopeRandomWalk", "gyroscopeBiasRandomWalk"])
def test_rotors_random_walk_drives_gauss_markov_bias(walk, read):
    reading = read("rotors", model(ROTORS, f"<{walk}>5e-5</{walk}>"), rate=1000.0)
    actual = reading.specification.gyroscope.gauss_markov_sigma
    np.testing.assert_allclose(actual, 5e-5 * np.sqrt(500.0))


def test_model_and_xacro_values_override_plugin_defaults(read):
    tags = "<gyroscopeNoiseDensity>\n 5e-4 <!-- rad/s/sqrt(Hz) --> </gyroscopeNoiseDensity>"
    reading = read("rotors", model(ROTORS, tags), rate=250.0)
    assert reading.specification.gyroscope.white_noise == (5e-4,) * 3
    assert len(reading.remarks) == 7
    assert not has_remark(reading, "<gyroscopeNoiseDensity>")
    before = (
        "<xacro:property name='density' value='2.5e-4'/>"
        "<xacro:property name='doubled' value='${2 * density}'/>"
    )
    tags = (
        "<gyroscopeNoiseDensity>${doubled}</gyroscopeNoiseDensity>"
        "<gyroscopeTurnOnBiasSigma>${0.5*pi/180}</gyroscopeTurnOnBiasSigma>"
    )
    content = f"<robot {XACRO}>{before}<gazebo>{model(ROTORS, tags)}</gazebo></robot>"
    gyroscope = read("rotors", content, rate=250.0).specification.gyroscope
    assert gyroscope.white_noise == (5e-4,) * 3
    np.testing.assert_allclose(gyroscope.turn_on_bias_sigma, math.radians(0.5), rtol=1e-15)
    content = f'<robot {XACRO}><xacro:imu_macro noise="1"/></robot>'
    with pytest.raises(ConfigurationError, match="expand the file with xacro first"):
        read("rotors", content, rate=100.0)


MACRO = f"""<robot {XACRO}>
<xacro:property name="noise" value="1e-4"/>
<xacro:macro name="imu" params="density">
<gazebo><plugin filename="librotors_gazebo_imu_plugin.so">
<gyroscopeNoiseDensity>${{density}}</gyroscopeNoiseDensity>
</plugin></gazebo></xacro:macro>%s</robot>
"""


def test_expression_in_uncalled_xacro_macro_is_rejected_with_line_number(read):
    with pytest.raises(ConfigurationError, match=r"line 5: .*'\$\{density\}'.*expand .* xacro"):
        read("rotors", MACRO % "", rate=100.0)


def test_called_xacro_macro_is_expanded(read):
    values = read("rotors", MACRO % '<xacro:imu density="${2 * noise}"/>', rate=100.0).specification
    assert values.gyroscope.white_noise == (2e-4,) * 3


def test_xacro_file_with_harmful_expression_is_rejected(read, tmp_path):
    harmful = f"${{open('{tmp_path}/made', 'w')}}"
    with pytest.raises(ConfigurationError):
        read("rotors", MACRO % f'<xacro:imu density="{harmful}"/>', rate=100.0)
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize("name", ["specification", "kalibr", "rotors", "sdf", "datasheet"])
def test_written_comment_precedes_parameters_and_does_not_change_them(name, read):
    values = read("kalibr", CHAIN).specification
    lines = ["Converted from a file.", "- with <tags> -- and more"]
    with_comment = isf.write_imu_parameters(values, name, 100.0, comment=lines)
    plain = isf.write_imu_parameters(values, name, 100.0)
    assert with_comment.text.endswith(plain.text)
    assert "Converted from a file." in with_comment.text
    assert read(name, with_comment.text, 100.0) == read(name, plain.text, 100.0)


NEARLY = "<gyroscopeNoiseDensty>5e-4</gyroscopeNoiseDensty>"
HEADING = '<plugin filename="libhector_gazebo_ros_imu.so"><heading{0}>0.005</heading{0}></plugin>'
COMMENTED = "<!-- " + model(PX4).split("\n", 1)[1].split("</model>")[0] + " -->\n"


@pytest.mark.parametrize(
    "name, content, noted",
    [
        ("rotors", model(PX4, NEARLY), ["did you mean <gyroscopeNoiseDensity>?", "is missing"]),
        ("rotors", model(PX4, before="{%- if imu %}\n"), ["condition"]),
        ("rotors", model(PX4, before="<pose>{{ length }} 0 0</pose>\n" + COMMENTED), []),
        ("hector", HEADING.format("Drift"), ["<headingDrift>", "did you mean <yawDrift>?"]),
    ],
)
def test_misspelt_tags_and_template_conditions_are_reported(name, content, noted, read):
    reading = read(name, content, 250.0)
    assert reading.specification.output.rate == 250.0
    assert all(has_remark(reading, words) for words in noted)
