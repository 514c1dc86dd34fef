"""Conversion of the robot and of the worlds from xacro to Gazebo's SDF."""

import math
import re
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

import imu_simulation_framework as isf
from imu_simulation_framework.core.files import package_share, urdf_path
from imu_simulation_framework.core.xacro_expansion import expand_xacro
from imu_simulation_framework.drive.robots.files import robot_description
from imu_simulation_framework.drive.turning import load_robot_parameters

ARGUMENTS = [
    {"imu_plugin": "hector"},
    {"imu_plugin": "hector", "rate": "200.0"},
    {"imu_plugin": "generic", "gaussian_noise": "0.00215"},
    {"imu_plugin": "generic", "imu_topic": "imu/ideal"},
]
ROBOT = urdf_path("robot.xacro")
PLUGINS = {"hector": "libhector_gazebo_ros_imu.so", "generic": "libgazebo_ros_imu_sensor.so"}


def debian_version():
    """Return the Debian release on which the tests run, or an empty text on other systems."""
    words = dict(re.findall("(.+?)=(.*)", Path("/etc/os-release").read_text()))
    return words.get("VERSION_ID", "").strip('"') if words.get("ID") == "debian" else ""


def sdf(*arguments):
    """Run Gazebo's command line: ign of Debian, or gz of Gazebo 11."""
    program = shutil.which("ign") or shutil.which("gz")
    if program is None and debian_version() == "13":
        pytest.skip("Debian 13 has no program that writes SDF, unlike Debian 12 and Gazebo")
    assert program, "neither ign (package ignition-tools) nor gz (Gazebo) is installed"
    answer = subprocess.run([program, "sdf", *arguments], capture_output=True, text=True)
    assert answer.returncode == 0, answer.stderr
    return answer.stdout


def describe(folder, xacro=ROBOT, **arguments):
    """Expand a xacro file into a URDF file, check it with check_urdf, and return its path."""
    return write_checked(folder / "robot.urdf", expand_xacro(xacro, arguments))


def write_checked(path, text):
    path.write_text(text)
    subprocess.run(["check_urdf", str(path)], check=True, capture_output=True)
    return path


def model_of(description):
    return ElementTree.fromstring(sdf("-p", str(description))).find("model")


@pytest.fixture(
    scope="module", params=ARGUMENTS, ids=lambda arguments: "-".join(arguments.values())
)
def arguments(request):
    return request.param


@pytest.fixture(scope="module")
def description(arguments, tmp_path_factory):
    return describe(tmp_path_factory.mktemp("robot"), simulator="gazebo", **arguments)


def test_sdf_of_robot_contains_plugins_links_and_contacts(description, arguments):
    model = model_of(description)
    plugins = {plugin.get("filename") for plugin in model.iter("plugin")}
    assert plugins == {
        PLUGINS[arguments["imu_plugin"]],
        "libgazebo_ros_control.so",
        "libimu_simulation_framework_ground_truth.so",
    }
    links = {link.get("name"): link for link in model.iter("link")}
    assert set(links) == {
        "base_footprint", "imu_link", "left_wheel", "right_wheel", "left_caster", "right_caster",
    }  # fmt: skip
    # The joint of the IMU remains, so the IMU measures at its own position.
    assert "imu_joint" in {joint.get("name") for joint in model.iter("joint")}
    inertia = links["imu_link"].find("inertial")
    assert float(inertia.find("mass").text) == pytest.approx(0.003)
    size = (0.020, 0.027, 0.004)
    expected = 0.003 * (size[0] ** 2 + size[1] ** 2) / 12.0
    assert float(inertia.find("inertia/izz").text) == pytest.approx(expected, rel=1e-6)
    contact = load_robot_parameters().contact
    for name, link in links.items():
        if name.endswith(("wheel", "caster")):
            surface = link.find("collision/surface")
            friction = contact.wheel_friction if name.endswith("wheel") else contact.caster_friction
            assert float(surface.find("friction/ode/mu").text) == pytest.approx(friction)
            assert float(surface.find("contact/ode/kp").text) == pytest.approx(1e6)
            assert float(surface.find("contact/ode/kd").text) == pytest.approx(100.0)


def test_imu_plugin_has_specified_rate_topic_and_noise(description, arguments):
    text = description.read_text()
    rate = arguments.get("rate", "100.0")
    topic = arguments.get("imu_topic", "imu/data")
    assert f"<topicName>{topic}</topicName>" in text
    if arguments["imu_plugin"] == "generic":
        assert f"<update_rate>{rate}</update_rate>" in text
        assert f"<gaussianNoise>{arguments.get('gaussian_noise', '0.0')}</gaussianNoise>" in text
    else:
        assert f"<updateRate>{rate}</updateRate>" in text
        # Loading the plug-in with a yaw drift would make its initial error ten times too large.
        assert "<yawDrift>0</yawDrift>" in text


def test_sdf_of_user_description_contains_contacts_motors_and_imu(tmp_path):
    bundled = load_robot_parameters(urdf_path("robot_four_wheels.yaml"))
    (tmp_path / "others.urdf").write_text(robot_description(bundled))
    sides = [[f"{side}_wheel_{n}_joint" for n in (1, 2)] for side in ("left", "right")]
    (tmp_path / "others.yaml").write_text(
        f"description: others.urdf\nleft_wheel: {sides[0]}\nright_wheel: {sides[1]}\n"
        "contact: {wheel_friction: 0.6, caster_friction: 0.1}\n"
    )
    parameters = load_robot_parameters(tmp_path / "others.yaml", "gazebo")
    text = robot_description(parameters, simulator="gazebo")
    model = model_of(write_checked(tmp_path / "in_gazebo.urdf", text))
    wheels = {joint[: -len("_joint")] for joint in parameters.wheel_joints}
    links = {link.get("name"): link for link in model.iter("link")}
    assert set(links) == {"base_footprint", "imu_link", *wheels}
    for name in wheels:
        friction = links[name].find("collision/surface/friction/ode")
        assert [float(word) for word in friction.findtext("fdir1").split()] == [0.0, 1.0, 0.0]
        # Lateral friction is half of the value that would prevent turning. The wheels are 0.18 m
        # ahead of the centre.
        sideways = 0.6 * 0.5 * bundled.numbers["wheel"]["half_track"] / 0.18
        assert float(friction.findtext("mu")) == pytest.approx(sideways)
        assert float(friction.findtext("mu2")) == pytest.approx(0.6)
    for collision in links["base_footprint"].iter("collision"):
        assert float(collision.findtext("surface/friction/ode/mu")) == pytest.approx(0.1)
    assert {plugin.get("filename") for plugin in model.iter("plugin")} == {
        *(PLUGINS["hector"], "libgazebo_ros_control.so"),
        "libimu_simulation_framework_ground_truth.so",
    }


OTHERS_ROBOT = """\
<robot name="others" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:include filename="{file}"/>
  <link name="base_footprint"/>
  <link name="base_link">
    <inertial>
      <mass value="1.0"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>
    </inertial>
  </link>
  <joint name="base_joint" type="fixed">
    <parent link="base_footprint"/><child link="base_link"/><origin xyz="0 0 0.01"/>
  </joint>
  <link name="imu_link"/>
  <joint name="imu_joint" type="fixed">
    <parent link="base_link"/><child link="imu_link"/><origin xyz="-0.03 0 0.07"/>
  </joint>
  <xacro:{macro} parent="base_link" xyz="-0.03 0 0.07"/>
</robot>
"""


@pytest.mark.parametrize("macro", ["imu", "imu_hector"])
def test_robot_with_imu_link_has_separate_link_for_simulated_imu(macro, tmp_path):
    robot = tmp_path / "robot.xacro"
    robot.write_text(OTHERS_ROBOT.format(file=urdf_path(f"{macro}.xacro"), macro=macro))
    (joint,) = model_of(describe(tmp_path, robot)).iter("joint")
    assert joint.find("child").text == "simulated_imu_link"
    position = [float(number) for number in joint.find("pose").text.split()[:3]]
    assert position == pytest.approx([-0.03, 0.0, 0.08])


@pytest.mark.parametrize("name", ["flat.world", "uneven.world", "gz_robot.sdf"])
def test_bundled_gazebo_world_is_valid(name):
    assert "Valid" in sdf("-k", str(package_share() / "worlds" / name))


def test_robot_in_gz_sim_has_dimensions_of_bundled_robot():
    robot = load_robot_parameters()
    world = ElementTree.parse(package_share() / "worlds" / "gz_robot.sdf")
    model = world.find(".//model[@name='robot']")
    drive = model.find("plugin[@name='gz::sim::systems::DiffDrive']")
    joints = tuple(drive.findtext(f"{side}_joint") for side in ("left", "right"))
    assert joints == robot.wheel_joints
    radius, half_track = robot.drivetrain.wheel_radius, robot.drivetrain.half_track
    assert float(drive.findtext("wheel_radius")) == radius
    assert float(drive.findtext("wheel_separation")) == 2.0 * half_track
    for side, y in (("left", half_track), ("right", -half_track)):
        wheel = model.find(f"link[@name='{side}_wheel']")
        # The axis of a wheel is the y axis of the model, so a positive turn rolls forward.
        place = [float(number) for number in wheel.findtext("pose").split()]
        assert place == pytest.approx([0.0, y, radius, -math.pi / 2.0, 0.0, 0.0])
        assert float(wheel.findtext("inertial/mass")) == robot.numbers["wheel"]["mass"]
        assert float(wheel.findtext("collision/geometry/cylinder/radius")) == radius
    imu = [float(number) for number in model.findtext("link/sensor/pose").split()]
    assert imu == [*robot.imu_position, *robot.imu_orientation]


AXES = {
    field: (0.7 * size, 0.0, 1.3 * size)
    for field, size in (("white_noise", 1e-3), ("gauss_markov_sigma", 2e-3), ("turn_on_bias", 0.02))
}
UNEVEN = isf.ImuSpecification(
    gyroscope=isf.TriadSpecification(gauss_markov_time=(300.0, 1000.0, 500.0), **AXES),
    accelerometer=isf.TriadSpecification(white_noise=(1e-2, 2e-2, 3e-2)),
    output=isf.OutputSpecification(rate=50.0, orientation_reference="truth"),
)


@pytest.mark.parametrize("plugin, format", [("generic", "sdf"), ("hector", "hector")])
def test_sdf_of_specification_contains_noise_of_each_axis(plugin, format, tmp_path):
    errors, model = tmp_path / "errors.xml", tmp_path / "robot.sdf"
    errors.write_text(isf.write_imu_parameters(UNEVEN, format).text)
    robot = describe(tmp_path, simulator="gazebo", imu_plugin=plugin, imu_errors=errors)
    model.write_text(sdf("-p", str(robot)))
    for path in (robot, model):
        converted = isf.read_imu_parameters(path, format).specification
        assert converted.output.rate == 50.0
        for triad in ("gyroscope", "accelerometer"):
            source_triad, converted_triad = getattr(UNEVEN, triad), getattr(converted, triad)
            for field in AXES:
                expected = pytest.approx(getattr(source_triad, field), rel=1e-5, abs=1e-12)
                assert getattr(converted_triad, field) == expected, (path, triad, field)


def test_hector_macro_accepts_scalar_or_value_per_axis(tmp_path):
    robot = tmp_path / "robot.xacro"
    macro_call = 'imu_hector rate_offset="0.1" accel_gaussian_noise="0.1 0.2 0.3"'
    robot.write_text(OTHERS_ROBOT.format(file=urdf_path("imu_hector.xacro"), macro=macro_call))
    description = expand_xacro(robot)
    assert "<rateOffset>0.1 0.1 0.1</rateOffset>" in description
    assert "<accelGaussianNoise>0.1 0.2 0.3</accelGaussianNoise>" in description
