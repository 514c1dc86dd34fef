import pytest
from format_files import GOOD

from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.sensors.formats import registry
from imu_simulation_framework.sensors.formats.base import WriteOptions
from imu_simulation_framework.sensors.imu_specification import ImuSpecification, TriadSpecification

KALIBR, VINS = GOOD["kalibr"], GOOD["vins"]
NOISE = GOOD["datasheet"][GOOD["datasheet"].index("  noise") :]
WALK, OTHER = "gyroscopeRandomWalk", "gyroscopeBiasRandomWalk"
XML_FORMATS = ("sdf", "hector", "rotors", "unity")
BOMB = """<?xml version="1.0"?>
<!DOCTYPE sdf [
<!ENTITY a "aaaaaaaaaa">
<!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">
<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;">
]>
<sdf>&c;</sdf>
"""
EXTERNAL = """<?xml version="1.0"?>
<!DOCTYPE sdf [<!ENTITY x SYSTEM "file:///etc/hostname">]>
<sdf>&x;</sdf>
"""
REMOTE = '<?xml version="1.0"?>\n<!DOCTYPE sdf SYSTEM "http://127.0.0.1:9/sdf.dtd">\n<sdf/>\n'


@pytest.fixture
def refused(read, tmp_path):
    def refused(name, content, *words, rate=100.0):
        with pytest.raises(ConfigurationError) as caught:
            read(name, content, rate)
        message = str(caught.value)
        assert "\n" not in message
        for word in (str(tmp_path / "parameters"), *words):
            assert word in message

    return refused


@pytest.mark.parametrize(
    "name, old, new, words",
    [
        ("kalibr", "5e-3", "-5e-3", ("line 5", "gyroscope_noise_density", "-0.005")),
        ("sdf", ">0.1<", ">-0.1<", ("line 7", "<stddev>", "negative")),
        ("hector", "1 2 3", "1 -2 3", ("line 3", "<rateDrift>", "negative")),
        ("imu_utils", " rad/s", " deg/s", ("line 5", "Gyr.unit", "rad/s")),
        ("datasheet", "0.014", "-0.014", ("line 4", "gyroscope.noise.density", "negative")),
        ("specification", "time: 100", "time: 0", ("gauss_markov_time", "positive")),
        ("hector", "0.1 0.2 0.3", "0.1 0 0.3", ("line 4", "<rateDriftFrequency>", "positive")),
        ("kalibr", "5e-3", "small", ("line 5", "gyroscope_noise_density", "'small'")),
        ("datasheet", "0.014", "[1, 2]", ("line 4", "gyroscope.noise.density", "1 or 3")),
        ("rotors", ">1000<", ">0<", ("line 4", "<gyroscopeBiasCorrelationTime>", "positive")),
        ("orb_slam3", "IMU.Frequency: 200.0\n", "", ("IMU.Frequency", "missing")),
        ("datasheet", "density:", "densty:", ("line 3", "one of density, rms")),
        ("datasheet", "spectrum", "spektrum", ("line 6", "did you mean spectrum?")),
        ("sdf", "<angular_velocity>\n<x>", "<angular_velocity>\n<w/><x>", ("line 6", "<w>")),
        ("sdf", "<imu>\n", "<imu><noise/>\n", ("line 4", "<noise>", "SDF 1.4")),
        ("sdf", ">0.1<", ">small<", ("line 7", "<stddev>", "'small'")),
        ("sdf", ">0.1<", ">${noise}<", ("line 7", "xacro")),
        ("hector", "1 2 3", "1", ("line 3", "<rateDrift>", "3 finite numbers")),
        ("kalibr", "update_rate: 200", "update_rate: 0", ("line 2", "update_rate", "positive")),
        ("kalibr", "gyroscope_random_walk: 4e-6\n", "", ("gyroscope_random_walk", "missing")),
        ("sdf", 'type="imu"', 'type="ray"', ('<sensor type="imu">', "root <sdf>")),
        ("imu_utils", "avg-axis:\n      gyr", "x-axis:\n      gyr", ("Gyr.y-axis", "missing")),
        ("kalibr", "gyroscope_noise", "gyro_noise", ("line 5", "did you mean gyro_noise_density")),
        ("kalibr", KALIBR, VINS, ("format vins",)),
        ("rotors", "3e-4", "${density}", ("line 2", "${density}", "xacro FILE.xacro")),
        ("rotors", "<plugin", "{%if a<b%}<plugin", ("line 1", "not well-formed", "jinja")),
        ("kalibr", "rostopic: /imu", "update_rate: 100", ("line 2", "update_rate", "line 1")),
        ("sdf", "<stddev>0.1<", "<stddev>1</stddev><stddev>0.1<", ("line 7", "second time")),
        ("sdf", "</sdf>", '<sensor type="imu"/></sdf>', ("2", "lines 2, 14")),
        ("rotors", f"<{WALK}>4e-5", f"<{OTHER}>1</{OTHER}><{WALK}>4e-5", ("line 3", "disagree")),
        ("sdf", 'noise type="gaussian"', 'noise type="pink"', ("line 6", "'pink'", "gaussian")),
        ("unity", "<noise>", "<imu/><noise>", ("line 3", "format sdf")),
        ("sdf", ">0.2<", ">1e308<", ("gauss_markov_sigma", "inf")),
        ("datasheet", "    spectrum: one-sided\n", "", ("line 3", "one-sided", "two-sided")),
        ("datasheet", NOISE, "  noise: {rms: 0.1, unit: deg/s}\n", ("line 3", "bandwidth")),
        ("datasheet", "deg/s/sqrt(Hz)", "deg/s", ("line 5", "unit", "deg/s/sqrt(Hz)")),
    ],
)
@pytest.mark.filterwarnings("error")
def test_invalid_imu_parameter_is_rejected_with_line_number_and_key(name, old, new, words, refused):
    assert old in GOOD[name]
    refused(name, GOOD[name].replace(old, new, 1), *words)


@pytest.mark.parametrize("content", [BOMB, EXTERNAL, REMOTE], ids=["bomb", "external", "remote"])
@pytest.mark.parametrize("name", XML_FORMATS)
def test_xml_entities_and_references_are_rejected(name, content, refused):
    refused(name, content, "line ", "entities")


@pytest.mark.parametrize(
    "content, words",
    [
        ("<html>\n<body/></html>", ["root <html>"]),
        (b"\xff\xfe\x00\x01\x02", ["line 1"]),
        ('<?xml version="1.0" encoding="nonsense"?><sdf/>', ["encoding"]),
    ],
)
@pytest.mark.parametrize("name", XML_FORMATS)
def test_unrelated_xml_is_rejected(name, content, words, refused):
    refused(name, content, *words)


@pytest.mark.parametrize("name", sorted(set(registry.FORMATS) - set(XML_FORMATS)))
def test_unrelated_yaml_is_rejected(name, refused):
    for content in ("- 1\n- 2\n", "", "a: [1\n", "? [a]\n: 1\n", b"\xff\xfe\x00\x01\x02"):
        refused(name, content)
    refused(name, "a: " + "[" * 3_000)
    refused(name, "!!python/object/apply:os.system ['true']: 1\n")


def test_oversized_xml_is_rejected(refused):
    refused("sdf", b" " * (8 * 1024 * 1024 + 1), "8 MB")
    refused("sdf", "<sdf>" + "<a/>" * 200_000, "line 1", "200000 tags")
    refused("sdf", "<sdf>\n" + "<a>" * 200_000, "line 2", "200 levels deep")


RATES = ("<update_rate>100</update_rate>\n", "<updateRate>100</updateRate>\n", "rate: 100\n")


@pytest.mark.parametrize(
    "name", ["sdf", "hector", "unity", "datasheet", "rotors", "imu_utils", "vins"]
)
def test_missing_rate_is_rejected(name, refused):
    content = GOOD[name]
    for rate_key in RATES:
        content = content.replace(rate_key, "")
    refused(name, content, "state the sample rate", rate=None)


NOISY = TriadSpecification(white_noise=1e-3, random_walk=1e-5)
STEADY = TriadSpecification(white_noise=1e-3)


@pytest.mark.parametrize(
    "name, options, words",
    [
        ("kalibr", {}, r"accelerometer.random_walk is 0"),
        ("kalibr", {"yaw_drift": (1, 1)}, "yaw drift"),
        ("kalibr", {"subsampled": True}, "rate is 100 Hz .* 100 Hz"),
        # These are output formats of other tools, which can only be read.
        *((name, {}, f"{name} is read-only") for name in ("imu_utils", "vins", "orb_slam3")),
        ("urdf", {}, "'urdf'.*kalibr"),
    ],
)
def test_specification_that_cannot_be_written_is_rejected(name, options, words):
    values = ImuSpecification(gyroscope=NOISY, accelerometer=STEADY)
    with pytest.raises(ConfigurationError, match=words):
        registry.write_imu_parameters(values, name, 100.0, WriteOptions(**options))
