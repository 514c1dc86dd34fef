import pytest
from format_files import GOOD

from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.sensors.formats import registry
from imu_simulation_framework.sensors.formats.base import WriteOptions
from imu_simulation_framework.sensors.imu_specification import ImuSpecification, TriadSpecification

KALIBR, SDF, HECTOR, VINS = (GOOD[name] for name in ("kalibr", "sdf", "hector", "vins"))
NOISE = GOOD["datasheet"][GOOD["datasheet"].index("  noise") :]
TIME = "dynamic_bias_correlation_time"
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


@pytest.mark.parametrize("name", registry.FORMATS)
def test_the_files_from_which_the_bad_ones_are_made_are_good(name, read):
    read(name, GOOD[name], 100.0)


@pytest.mark.parametrize(
    "name, old, new, words",
    [
        # Negative densities.
        ("specification", "1e-4", "-1e-4", ("gyroscope.white_noise", "negative")),
        ("kalibr", "5e-3", "-5e-3", ("line 5", "gyroscope_noise_density", "-0.005")),
        ("sdf", ">0.1<", ">-0.1<", ("line 7", "<stddev>", "negative")),
        ("hector", "1 2 3", "1 -2 3", ("line 3", "<rateDrift>", "negative")),
        ("rotors", "3e-4", "-3e-4", ("line 2", "<gyroscopeNoiseDensity>", "negative")),
        ("imu_utils", "2e-3", "-2e-3", ("line 7", "Gyr.avg-axis.gyr_n", "above 0")),
        ("imu_utils", " rad/s", " deg/s", ("line 5", "Gyr.unit", "rad/s")),
        ("vins", "0.01", "0", ("line 4", "gyr_n", "above 0")),
        ("orb_slam3", "1.9e-05", "-1.9e-05", ("line 4", "IMU.GyroWalk", "above 0")),
        ("datasheet", "0.014", "-0.014", ("line 4", "gyroscope.noise.density", "negative")),
        # Correlation times of zero, without end, or no number.
        ("specification", "time: 100", "time: 0", ("gauss_markov_time", "positive")),
        ("specification", "time: 100", "time: .inf", ("gauss_markov_time", "finite")),
        ("sdf", ">10<", ">-1<", ("line 9", f"<{TIME}>")),
        ("hector", "0.1 0.2 0.3", "0.1 0 0.3", ("line 4", "<rateDriftFrequency>", "above 0")),
        ("rotors", ">1000<", ">0<", ("line 4", "<gyroscopeBiasCorrelationTime>", "above 0")),
        ("rotors", ">1000<", ">nan<", ("line 4", "<gyroscopeBiasCorrelationTime>", "finite")),
        # No numbers.
        ("kalibr", "5e-3", "small", ("line 5", "gyroscope_noise_density", "'small'")),
        ("sdf", ">0.1<", ">small<", ("line 7", "<stddev>", "'small'")),
        ("sdf", ">0.1<", "><", ("line 7", "<stddev>")),
        ("sdf", ">0.1<", ">${noise}<", ("line 7", "xacro")),
        ("hector", "1 2 3", "1", ("line 3", "<rateDrift>", "3 finite numbers")),
        ("hector", "<yawDrift>1", "<yawDrift>1 2 3", ("line 5", "<yawDrift>")),
        ("datasheet", "0.014", "[1, 2]", ("line 4", "gyroscope.noise.density", "1 or 3")),
        # Rates.
        ("kalibr", "update_rate: 200", "update_rate: 0", ("line 2", "update_rate", "above 0")),
        ("hector", ">100<", ">-1<", ("line 2", "<updateRate>", "negative")),
        # Missing.
        ("kalibr", "gyroscope_random_walk: 4e-6\n", "", ("gyroscope_random_walk", "missing")),
        ("sdf", 'type="imu"', 'type="ray"', ('<sensor type="imu">', "root is <sdf>")),
        ("imu_utils", "Acc:", "Other:", ("Acc", "missing")),
        ("imu_utils", "avg-axis:\n      gyr", "x-axis:\n      gyr", ("Gyr.y-axis", "missing")),
        ("orb_slam3", "IMU.Frequency: 200.0\n", "", ("IMU.Frequency", "missing")),
        # Names that are nearly right.
        ("kalibr", "gyroscope_noise", "gyro_noise", ("line 5", "perhaps gyro_noise_density")),
        ("orb_slam3", "IMU.NoiseAcc", "IMU.noiseAcc", ("line 3", "perhaps IMU.noiseAcc")),
        ("datasheet", "density:", "densty:", ("line 3", "one of density, rms")),
        ("datasheet", "spectrum", "spektrum", ("line 6", "did you mean spectrum?")),
        # Another format than was said.
        ("kalibr", KALIBR, VINS, ("format vins",)),
        ("vins", VINS, GOOD["imu_utils"], ("format imu_utils",)),
        ("sdf", SDF, HECTOR, ("format hector",)),
        # Numbers of macros.
        ("rotors", "3e-4", "${density}", ("line 2", "${density}", "xacro FILE.xacro")),
        ("rotors", "3e-4", "{{ density }}", ("line 2", "jinja")),
        ("rotors", "<plugin", "{%if a<b%}<plugin", ("line 1", "not well-formed", "jinja")),
        ("hector", "libhector_gazebo_ros_imu.so", "libother.so", ("libhector_gazebo_ros_imu.so",)),
        # Twice.
        ("kalibr", "rostopic: /imu", "update_rate: 100", ("line 2", "update_rate", "line 1")),
        ("sdf", "<stddev>0.1<", "<stddev>1</stddev><stddev>0.1<", ("line 7", "second time")),
        ("sdf", "</sdf>", '<sensor type="imu"/></sdf>', ("2", "lines 2, 14")),
        ("rotors", f"<{WALK}>4e-5", f"<{OTHER}>1</{OTHER}><{WALK}>4e-5", ("line 3", "disagree")),
        # Something else than it should be.
        ("sdf", 'noise type="gaussian"', 'noise type="pink"', ("line 6", "'pink'", "gaussian")),
        ("sdf", "<angular_velocity>\n<x>", "<angular_velocity>\n<w/><x>", ("line 6", "<w>")),
        ("sdf", "<imu>\n", "<imu><noise/>\n", ("line 4", "<noise>", "SDF 1.4")),
        ("unity", "<noise>", "<imu/><noise>", ("line 3", "format sdf")),
        ("specification", "white_noise", "white_noize", ("white_noize", "white_noise")),
        # Beyond floats, and beyond what a specification takes.
        ("sdf", ">0.2<", ">1e308<", ("gauss_markov_sigma", "inf")),
        ("sdf", "<stddev>0.1", "<bias_stddev>1e308</bias_stddev><stddev>0.1", ("too large",)),
        # What a datasheet must say.
        ("datasheet", "    spectrum: one-sided\n", "", ("line 3", "one-sided", "two-sided")),
        ("datasheet", NOISE, "  noise: {rms: 0.1, unit: deg/s}\n", ("line 3", "bandwidth")),
        ("datasheet", NOISE, "  bias_instability: {value: 1, unit: deg/h}\n", ("meaning is mis",)),
        ("datasheet", "one-sided", "both", ("line 6", "spectrum", "one-sided, two-sided")),
        ("datasheet", "deg/s/sqrt(Hz)", "deg/s", ("line 5", "unit", "deg/s/sqrt(Hz)")),
        ("datasheet", "    unit: deg/s/sqrt(Hz)\n", "", ("gyroscope.noise.unit", "missing")),
        ("datasheet", "gyroscope:", "gyrometer:", ("line 2", "gyrometer", "gyroscope")),
        ("datasheet", "  noise:", "  noise: small\n  other:", ("line 4", "gyroscope.other")),
    ],
)
@pytest.mark.filterwarnings("error")
def test_a_bad_value_is_refused_in_one_sentence(name, old, new, words, refused):
    assert old in GOOD[name]
    refused(name, GOOD[name].replace(old, new, 1), *words)


@pytest.mark.parametrize("content", [BOMB, EXTERNAL, REMOTE], ids=["bomb", "external", "remote"])
@pytest.mark.parametrize("name", XML_FORMATS)
def test_entities_and_references_are_refused(name, content, refused):
    refused(name, content, "line ", "entities")


@pytest.mark.parametrize(
    "content, words",
    [
        ("<html>\n<body/></html>", ["root is <html>"]),
        ("<sdf>\n<sensor>", ["line 2", "not well-formed"]),
        ("", ["not well-formed"]),
        (b"\xff\xfe\x00\x01\x02", ["line 1"]),
        ('<?xml version="1.0" encoding="nonsense"?><sdf/>', ["encoding"]),
    ],
)
@pytest.mark.parametrize("name", XML_FORMATS)
def test_xml_of_something_else_is_refused(name, content, words, refused):
    refused(name, content, *words)


@pytest.mark.parametrize("name", sorted(set(registry.FORMATS) - set(XML_FORMATS)))
def test_yaml_of_something_else_is_refused(name, refused):
    for content in ("- 1\n- 2\n", "", "a: [1\n", "? [a]\n: 1\n", b"\xff\xfe\x00\x01\x02"):
        refused(name, content)
    refused(name, "a: " + "[" * 3_000)
    refused(name, "!!python/object/apply:os.system ['true']: 1\n")


def test_a_file_of_very_many_tags_is_refused(refused):
    refused("sdf", "<sdf>" + "<a/>" * 200_000, "line 1", "200000 tags")
    refused("sdf", "<sdf>\n" + "<a>" * 200_000, "line 2", "200 deep")


@pytest.mark.parametrize("name", sorted(set(registry.FORMATS) - {"specification"}))
def test_a_very_large_file_is_refused(name, refused):
    refused(name, b" " * (8 * 1024 * 1024 + 1), "8 MB")


@pytest.mark.parametrize("name", registry.FORMATS)
def test_a_file_that_cannot_be_read_is_refused(name, tmp_path):
    for path in (tmp_path / "missing", tmp_path):
        with pytest.raises(ConfigurationError, match=str(path)):
            registry.read_imu_parameters(path, name, 100.0)


RATES = ("<update_rate>100</update_rate>\n", "<updateRate>100</updateRate>\n", "rate: 100\n")


@pytest.mark.parametrize(
    "name", ["sdf", "hector", "unity", "datasheet", "rotors", "imu_utils", "vins"]
)
def test_a_rate_that_nobody_states_is_asked_for(name, refused):
    content = GOOD[name]
    for stated in RATES:
        content = content.replace(stated, "")
    refused(name, content, "state the samples' rate", rate=None)


NOISY = TriadSpecification(white_noise=1e-3, random_walk=1e-5)
STEADY = TriadSpecification(white_noise=1e-3)


@pytest.mark.parametrize(
    "name, options, words",
    [
        ("kalibr", {}, r"accelerometer_random_walk.*is 0"),
        ("kalibr", {"yaw_drift": (1, 1)}, "yaw drift"),
        ("kalibr", {"random_walk_time": 9.0}, "no use for random walk time"),
        ("kalibr", {"subsampled": True}, "samples at 100 Hz cannot be picked .* 100 Hz"),
        ("sdf", {"yaw_drift": (1, 1)}, "yaw drift"),
        ("datasheet", {"walk_of_instability": True}, "no use for walk of instability"),
        # What another tool finds or tunes.
        *((name, {}, f"{name} is only read") for name in ("imu_utils", "vins", "orb_slam3")),
        ("urdf", {}, "'urdf'.*kalibr"),
    ],
)
def test_what_cannot_be_written_is_refused(name, options, words):
    values = ImuSpecification(gyroscope=NOISY, accelerometer=STEADY)
    with pytest.raises(ConfigurationError, match=words):
        registry.write_imu_parameters(values, name, 100.0, WriteOptions(**options))
