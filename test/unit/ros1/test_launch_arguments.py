"""What run_experiment.py makes of arguments and machine, up to where nodes would start."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import roslaunch
import rospkg
from patience import PATIENCE

from imu_simulation_framework.core.errors import ConfigurationError, FrameworkError
from imu_simulation_framework.core.files import package_share, urdf_path
from imu_simulation_framework.drive.experiment_arguments import (
    check_arguments,
    experiment_parameters,
    node_configuration,
    read_command_line,
)
from imu_simulation_framework.ros1.launching import launcher
from imu_simulation_framework.ros1.launching.launcher import (
    GAZEBO_PACKAGES,
    GAZEBO_PLUGIN,
    HECTOR_PACKAGE,
    check_environment,
    check_installation,
    load_launch_file,
)

ODD_NAMES = [
    "it's.bag",
    'say "yes".bag',
    "back\\slash.bag",
    "two  blanks.bag",
    "{braces}.bag",
    "$(nothing).bag",
    "$(eval 1 + 1)",
    "<&>.bag",
    "1e3",
    "true",
]


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    """What the installed package has: roslaunch finds it, and xacro."""
    packages = [str(package_share()), os.environ.get("ROS_PACKAGE_PATH", "")]
    monkeypatch.setenv("ROS_PACKAGE_PATH", os.pathsep.join(filter(None, packages)))
    programs = [str(Path(sys.executable).parent), os.environ["PATH"]]
    monkeypatch.setenv("PATH", os.pathsep.join(programs))
    monkeypatch.setenv("ROS_MASTER_URI", "http://localhost:11311")
    monkeypatch.setenv("ROS_IP", "127.0.0.1")
    for name in ("ROS_HOSTNAME", "ROS_NAMESPACE", "ROS_IPV6"):
        monkeypatch.delenv(name, raising=False)


def loaded(*arguments):
    """Values of the parameters that experiment.launch sets, by name below /experiment/."""
    config = load_launch_file(list(arguments))
    return {
        name[len("/experiment/") :]: parameter.value
        for name, parameter in config.params.items()
        if name.startswith("/experiment/")
    }


@pytest.mark.parametrize("start", range(0, len(ODD_NAMES), 3))
def test_odd_file_names_arrive_unchanged(start):
    recording, config, output = (ODD_NAMES[(start + i) % len(ODD_NAMES)] for i in range(3))
    parameters = loaded(f"recording:={recording}", f"config:={config}", f"output:={output}")
    assert parameters["settings/recording/path"] == recording
    assert parameters["settings/experiment/output"] == output
    assert parameters["config"] == config


def test_odd_working_directory_arrives_unchanged(tmp_path, monkeypatch):
    folder = tmp_path / "$(find rospy) it's $(nothing) {x}"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PWD", "")
    assert loaded()["working_directory"] == str(folder)
    assert os.environ["PWD"] == str(folder)


def test_settings_argument_arrives_as_text_and_overrides():
    text = "{imu: {rate: 200}, robot: {parameters: 'my $(nothing) robot.yaml'}}"
    settings = loaded(f"settings:={text}")["settings_text"]
    assert settings == text
    configuration = node_configuration("x", {"settings_text": settings}, {})
    assert configuration.imu.rate == 200.0
    assert Path(configuration.robot.parameters).name == "my $(nothing) robot.yaml"


@pytest.mark.parametrize(
    "text",
    [
        *("5", "{imu: 3}", "{imu: {rate: [1, 2]}}", "{a", r'{imu: {file: "a\0b"}}'),
        pytest.param("[" * 9999, id="deep"),
    ],
)
def test_settings_argument_without_mapping_is_rejected(text):
    with pytest.raises(ConfigurationError, match="expected|a section"):
        node_configuration("x", {"settings_text": text}, {})


def test_the_help_has_every_argument_with_its_meaning(monkeypatch, capsys):
    # What this program was started with does not matter.
    monkeypatch.setattr(sys, "argv", ["run_experiment.py", "view:=foo"])
    with pytest.raises(SystemExit):
        read_command_line("Run it", ["--help"])
    lines = [line for line in capsys.readouterr().out.splitlines() if ":= " in line]
    told = {line.split(":=")[0].strip(): line.split(":=", 1)[1].strip() for line in lines}
    assert set(told) == set(check_arguments([]))
    assert all(told.values())
    assert told["config"].endswith(f"(default: {package_share() / 'config.ini'})")


@pytest.mark.parametrize(
    ("argument", "sentence"),
    [
        ("view:=foo", "'foo' is not in list"),
        ("view:=multiplot", "not found .*rqt_multiplot"),
        ("rviz:=true", "not found .*rviz"),
        ("simulator:=gazebo", "not found .*gazebo_ros"),
    ],
)
def test_plain_roslaunch_starts_nothing_where_something_is_missing(argument, sentence, monkeypatch):
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(package_share()))
    monkeypatch.setenv("ROS_ROOT", str(package_share()))
    with pytest.raises((roslaunch.RLException, rospkg.ResourceNotFound), match=sentence):
        load_launch_file([argument])


def test_what_nodes_will_read_is_known_before_they_start(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.ini").write_text("[simulation]\nsimulator = gazebo\n[imu]\nmodel = generic\n")
    given = ["config:=mine.ini", "seed:=5", "settings:={control: {rate: 10.0}}"]
    values = check_arguments(given)
    configuration = node_configuration("it", experiment_parameters(values), {})
    assert configuration.simulation.simulator == "gazebo"
    assert configuration.imu.model == "generic"
    assert (configuration.experiment.seed, configuration.control.rate) == (5, 10.0)
    values = check_arguments([*given, "simulator:=mujoco"])
    configuration = node_configuration("it", experiment_parameters(values), {})
    assert configuration.simulation.simulator == "mujoco"


@pytest.mark.parametrize(
    "arguments",
    [[], ["drive:=d", "imu:=ideal", "terrain:=uneven", "output:=here", "simulator:=mujoco"]],
    ids=["default", "overridden"],
)
def test_checked_arguments_equal_the_parameters_of_roslaunch(arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    parameters = loaded(*arguments)
    known = experiment_parameters(check_arguments(arguments))
    settings = {
        f"settings/{section}/{key}": value
        for section, values in known["settings"].items()
        for key, value in values.items()
    }
    launched = {name: parameters[name] for name in parameters if name.startswith("settings/")}
    assert launched == settings
    assert parameters["settings_text"] == known["settings_text"]
    assert Path(parameters["config"]) == Path(known["config"])
    assert parameters["working_directory"] == known["working_directory"]


def test_a_simulator_that_was_not_started_is_refused():
    experiment = {"simulator": "mujoco", "settings": {"simulation": {"simulator": "gazebo"}}}
    with pytest.raises(ConfigurationError, match="say simulator:=gazebo as well"):
        node_configuration("it", experiment, {})
    experiment["simulator"] = "gazebo"
    assert node_configuration("it", experiment, {}).simulation.simulator == "gazebo"


def test_a_folder_of_call_that_was_removed_is_refused(tmp_path):
    # As roslaunch hands it over: the name that the shell still has, or none.
    for folder in (str(tmp_path / "gone"), ""):
        with pytest.raises(ConfigurationError, match="in which it was called does not exist any"):
            node_configuration("it", {"working_directory": folder}, {})


NOTHING = {
    **dict.fromkeys(("gui", "rviz"), "false"),
    "simulator": "mujoco",
    "imu": "",
    "view": "none",
}


@pytest.fixture
def packages(tmp_path, monkeypatch):
    """Make ROS packages of these names, and no others."""
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(tmp_path))
    monkeypatch.setenv("ROS_ROOT", str(tmp_path))

    def make(*names):
        for name in names:
            (tmp_path / name).mkdir()
            (tmp_path / name / "package.xml").write_text(f"<package><name>{name}</name></package>")

    return make


@pytest.fixture
def plugin(tmp_path, monkeypatch):
    """The plug-in for Gazebo, in a folder in which libraries are looked for."""
    path = tmp_path / "lib" / GAZEBO_PLUGIN
    path.parent.mkdir()
    path.touch()
    monkeypatch.setenv("LD_LIBRARY_PATH", f":/nowhere:{path.parent}")
    monkeypatch.delenv("GAZEBO_PLUGIN_PATH", raising=False)
    return path


def refused(**values):
    with pytest.raises(FrameworkError) as caught:
        check_installation({**NOTHING, **values})
    return str(caught.value)


def test_nothing_special_needs_nothing_and_gazebo_its_packages(packages, monkeypatch):
    monkeypatch.delenv("DISPLAY", raising=False)
    check_installation(NOTHING)
    # Without Gazebo there is no window of its own.
    check_installation({**NOTHING, "gui": "true"})
    packages(*GAZEBO_PACKAGES[1:])
    assert f"needs the ROS packages {GAZEBO_PACKAGES[0]}, {HECTOR_PACKAGE}: not installed" in (
        refused(simulator="gazebo")
    )


def test_a_package_that_was_built_without_gazebo(packages, plugin, monkeypatch):
    packages(*GAZEBO_PACKAGES)
    check_installation({**NOTHING, "simulator": "gazebo", "imu": "generic"})
    assert f"{HECTOR_PACKAGE}: not installed" in refused(simulator="gazebo", imu="hector")
    packages(HECTOR_PACKAGE)
    check_installation({**NOTHING, "simulator": "gazebo"})
    monkeypatch.delenv("LD_LIBRARY_PATH")
    assert f"simulator:=gazebo needs {GAZEBO_PLUGIN}" in refused(simulator="gazebo")
    monkeypatch.setenv("GAZEBO_PLUGIN_PATH", str(plugin.parent))
    check_installation({**NOTHING, "simulator": "gazebo"})


@pytest.mark.parametrize(
    ("values", "package"), [({"rviz": "true"}, "rviz"), ({"view": "multiplot"}, "rqt_multiplot")]
)
def test_a_window_of_a_package_that_is_not_installed(packages, monkeypatch, values, package):
    monkeypatch.setenv("DISPLAY", ":0")
    ((name, value),) = values.items()
    assert refused(**values) == f"{name}:={value} needs the ROS package {package}: not installed"
    packages(package)
    check_installation({**NOTHING, **values})


def test_a_window_without_a_display_or_pillows_part_of_tk(monkeypatch):
    monkeypatch.delenv("DISPLAY", raising=False)
    assert "DISPLAY is not set" in refused(view="matplotlib")
    monkeypatch.setenv("DISPLAY", ":0")
    check_installation({**NOTHING, "view": "matplotlib"})
    # As Debian's Pillow has it without python3-pil.imagetk.
    monkeypatch.setitem(sys.modules, "PIL.ImageTk", None)
    assert "PIL.ImageTk" in refused(view="matplotlib")


@pytest.mark.parametrize("uri", ["", "http://host:many", "http://h:99999", "ftp://h:1"])
def test_an_address_of_the_master_that_is_none(monkeypatch, uri):
    monkeypatch.setenv("ROS_MASTER_URI", uri)
    with pytest.raises(FrameworkError, match="ROS_MASTER_URI is .*, expected http://HOST:PORT"):
        check_environment()


def test_names_in_a_namespace(monkeypatch):
    monkeypatch.setenv("ROS_NAMESPACE", "/robot_1")
    with pytest.raises(FrameworkError, match="'/robot_1', .*: unset ROS_NAMESPACE"):
        check_environment()
    monkeypatch.setenv("ROS_NAMESPACE", "/")
    check_environment()


def test_a_machine_that_does_not_find_itself(monkeypatch):
    check_environment()

    def unknown(place, timeout):
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.delenv("ROS_IP")
    monkeypatch.setenv("ROS_HOSTNAME", "nowhere")
    monkeypatch.setattr(socket, "create_connection", unknown)
    with pytest.raises(FrameworkError, match=r"itself at nowhere \(Name or service not known\)"):
        check_environment()


@pytest.fixture
def launched_by(tmp_path, monkeypatch):
    """Run the launcher with these arguments; return what would have been configs."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ROS_HOME", str(tmp_path / "ros"))
    monkeypatch.setenv("ROS_LOG_DIR", str(tmp_path / "ros" / "log"))

    def run(*arguments):
        configs = []
        monkeypatch.setattr(launcher, "run", lambda config, *_: configs.append(config))
        monkeypatch.setattr(launcher, "report", lambda _: 0)
        assert launcher.main(list(arguments)) == 0
        return configs[0]

    return run


def names_of(config):
    return {node.name for node in config.nodes}


ALONE = """
import sys

def refuse(event, arguments):
    if event in ("subprocess.Popen", "os.posix_spawn", "os.fork"):
        sys.exit(f"{event} {arguments}")

sys.addaudithook(refuse)
import imu_simulation_framework.ros1.nodes.mujoco_simulator
"""


def test_launcher_starts_mujoco_with_configured_robot_and_no_process_beside_it(
    launched_by, tmp_path
):
    config = launched_by()
    assert {"mujoco_simulator", "path_follower", "robot_state_publisher"} <= names_of(config)
    assert "gazebo" not in names_of(config)
    assert config.params["/experiment/simulator"].value == "mujoco"
    bundled = config.params["/robot_description"].value
    text = urdf_path("robot.yaml").read_text("utf-8")
    (tmp_path / "robot.yaml").write_text(text.replace("radius: 0.10\n", "radius: 0.123\n", 1))
    shown = (
        launched_by("settings:={robot: {parameters: robot.yaml}}")
        .params["/robot_description"]
        .value
    )
    assert "0.123" in shown
    assert "0.123" not in bundled
    # A process that is killed with the simulator, while both start, would print a traceback.
    (node,) = [node for node in config.nodes if node.name == "mujoco_simulator"]
    environment = {**os.environ, **dict(node.env_args)}
    program = [sys.executable, "-c", ALONE]
    done = subprocess.run(
        program, env=environment, capture_output=True, text=True, timeout=PATIENCE
    )
    assert (done.returncode, done.stderr) == (0, "")
