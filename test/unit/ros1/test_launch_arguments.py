"""Arguments and requirements of run_experiment.py, up to the start of the nodes."""

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
from imu_simulation_framework.ros1.entry_points import launch_experiment
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
    """Set the environment of the installed package, with roslaunch's paths and xacro."""
    packages = [str(package_share()), os.environ.get("ROS_PACKAGE_PATH", "")]
    monkeypatch.setenv("ROS_PACKAGE_PATH", os.pathsep.join(filter(None, packages)))
    programs = [str(Path(sys.executable).parent), os.environ["PATH"]]
    monkeypatch.setenv("PATH", os.pathsep.join(programs))
    monkeypatch.setenv("ROS_MASTER_URI", "http://localhost:11311")
    monkeypatch.setenv("ROS_IP", "127.0.0.1")
    for name in ("ROS_HOSTNAME", "ROS_NAMESPACE", "ROS_IPV6"):
        monkeypatch.delenv(name, raising=False)


def load_parameters(*arguments):
    """Return the parameters that experiment.launch sets in the namespace /experiment, by name."""
    config = load_launch_file(list(arguments))
    return {
        name[len("/experiment/") :]: parameter.value
        for name, parameter in config.params.items()
        if name.startswith("/experiment/")
    }


@pytest.mark.parametrize("start", range(0, len(ODD_NAMES), 3))
def test_unusual_file_names_are_passed_on_unchanged(start):
    recording, config, output = (ODD_NAMES[(start + i) % len(ODD_NAMES)] for i in range(3))
    parameters = load_parameters(
        f"recording:={recording}", f"config:={config}", f"output:={output}"
    )
    assert parameters["settings/recording/path"] == recording
    assert parameters["settings/experiment/output"] == output
    assert parameters["config"] == config


def test_unusual_working_directory_is_passed_on_unchanged(tmp_path, monkeypatch):
    folder = tmp_path / "$(find rospy) it's $(nothing) {x}"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PWD", "")
    assert load_parameters()["working_directory"] == str(folder)
    assert os.environ["PWD"] == str(folder)


def test_settings_argument_is_passed_on_as_text_and_overrides_settings():
    text = "{imu: {rate: 200}, robot: {parameters: 'my $(nothing) robot.yaml'}}"
    settings = load_parameters(f"settings:={text}")["settings_text"]
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


def test_help_documents_every_argument(monkeypatch, capsys):
    # The arguments of the calling program are ignored.
    monkeypatch.setattr(sys, "argv", ["run_experiment.py", "view:=foo"])
    with pytest.raises(SystemExit):
        read_command_line("Run it", ["--help"])
    lines = [line for line in capsys.readouterr().out.splitlines() if ":= " in line]
    documentation = {line.split(":=")[0].strip(): line.split(":=", 1)[1].strip() for line in lines}
    assert set(documentation) == set(check_arguments([]))
    assert all(documentation.values())
    assert documentation["config"].endswith(f"(default: {package_share() / 'config.ini'})")


@pytest.mark.parametrize(
    ("argument", "sentence"),
    [
        ("view:=foo", "'foo' is not in list"),
        ("view:=multiplot", "not found .*rqt_multiplot"),
        ("rviz:=true", "not found .*rviz"),
        ("simulator:=gazebo", "not found .*gazebo_ros"),
    ],
)
def test_roslaunch_starts_no_node_if_requirement_is_missing(argument, sentence, monkeypatch):
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(package_share()))
    monkeypatch.setenv("ROS_ROOT", str(package_share()))
    with pytest.raises((roslaunch.RLException, rospkg.ResourceNotFound), match=sentence):
        load_launch_file([argument])


def test_configuration_of_nodes_is_checked_before_they_start(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.ini").write_text("[simulation]\nsimulator = gazebo\n[imu]\nmodel = generic\n")
    arguments = ["config:=mine.ini", "seed:=5", "settings:={control: {rate: 10.0}}"]
    values = check_arguments(arguments)
    configuration = node_configuration("it", experiment_parameters(values), {})
    assert configuration.simulation.simulator == "gazebo"
    assert configuration.imu.model == "generic"
    assert (configuration.experiment.seed, configuration.control.rate) == (5, 10.0)
    values = check_arguments([*arguments, "simulator:=mujoco"])
    configuration = node_configuration("it", experiment_parameters(values), {})
    assert configuration.simulation.simulator == "mujoco"


@pytest.mark.parametrize(
    "arguments",
    [[], ["drive:=d", "imu:=ideal", "terrain:=uneven", "output:=here", "simulator:=mujoco"]],
    ids=["default", "overridden"],
)
def test_checked_arguments_match_parameters_set_by_roslaunch(arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    parameters = load_parameters(*arguments)
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


def test_simulator_setting_that_differs_from_started_simulator_is_rejected():
    experiment = {"simulator": "mujoco", "settings": {"simulation": {"simulator": "gazebo"}}}
    with pytest.raises(ConfigurationError, match="set simulator:=gazebo as well"):
        node_configuration("it", experiment, {})
    experiment["simulator"] = "gazebo"
    assert node_configuration("it", experiment, {}).simulation.simulator == "gazebo"


def test_removed_working_directory_is_rejected(tmp_path):
    # roslaunch passes the removed folder, which the shell still has as its path, or an empty path.
    for folder in (str(tmp_path / "gone"), ""):
        with pytest.raises(ConfigurationError, match="working directory no longer exists"):
            node_configuration("it", {"working_directory": folder}, {})


MINIMAL_VALUES = {
    **dict.fromkeys(("gui", "rviz"), "false"),
    "simulator": "mujoco",
    "imu": "",
    "view": "none",
}


@pytest.fixture
def packages(tmp_path, monkeypatch):
    """Return a function that creates ROS packages on a package path without other packages."""
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(tmp_path))
    monkeypatch.setenv("ROS_ROOT", str(tmp_path))

    def make(*names):
        for name in names:
            (tmp_path / name).mkdir()
            (tmp_path / name / "package.xml").write_text(f"<package><name>{name}</name></package>")

    return make


@pytest.fixture
def plugin(tmp_path, monkeypatch):
    """Create an empty Gazebo plug-in on the library search path, and return its path."""
    path = tmp_path / "lib" / GAZEBO_PLUGIN
    path.parent.mkdir()
    path.touch()
    monkeypatch.setenv("LD_LIBRARY_PATH", f":/nowhere:{path.parent}")
    monkeypatch.delenv("GAZEBO_PLUGIN_PATH", raising=False)
    return path


def installation_error(**values):
    with pytest.raises(FrameworkError) as caught:
        check_installation({**MINIMAL_VALUES, **values})
    return str(caught.value)


def test_gazebo_requires_installed_packages(packages, monkeypatch):
    monkeypatch.delenv("DISPLAY", raising=False)
    check_installation(MINIMAL_VALUES)
    # The argument gui has no effect without Gazebo.
    check_installation({**MINIMAL_VALUES, "gui": "true"})
    packages(*GAZEBO_PACKAGES[1:])
    assert f"needs the ROS packages {GAZEBO_PACKAGES[0]}, {HECTOR_PACKAGE}: not installed" in (
        installation_error(simulator="gazebo")
    )


def test_package_built_without_gazebo_is_reported(packages, plugin, monkeypatch):
    packages(*GAZEBO_PACKAGES)
    check_installation({**MINIMAL_VALUES, "simulator": "gazebo", "imu": "generic"})
    assert f"{HECTOR_PACKAGE}: not installed" in installation_error(
        simulator="gazebo", imu="hector"
    )
    packages(HECTOR_PACKAGE)
    check_installation({**MINIMAL_VALUES, "simulator": "gazebo"})
    monkeypatch.delenv("LD_LIBRARY_PATH")
    assert f"simulator:=gazebo needs {GAZEBO_PLUGIN}" in installation_error(simulator="gazebo")
    monkeypatch.setenv("GAZEBO_PLUGIN_PATH", str(plugin.parent))
    check_installation({**MINIMAL_VALUES, "simulator": "gazebo"})


@pytest.mark.parametrize(
    ("values", "package"), [({"rviz": "true"}, "rviz"), ({"view": "multiplot"}, "rqt_multiplot")]
)
def test_missing_package_of_viewer_is_reported(packages, monkeypatch, values, package):
    monkeypatch.setenv("DISPLAY", ":0")
    ((name, value),) = values.items()
    assert (
        installation_error(**values)
        == f"{name}:={value} needs the ROS package {package}: not installed"
    )
    packages(package)
    check_installation({**MINIMAL_VALUES, **values})


def test_viewer_without_display_or_tk_support_is_reported(monkeypatch):
    monkeypatch.delenv("DISPLAY", raising=False)
    assert "DISPLAY is not set" in installation_error(view="matplotlib")
    monkeypatch.setenv("DISPLAY", ":0")
    check_installation({**MINIMAL_VALUES, "view": "matplotlib"})
    # Debian's Pillow lacks ImageTk without the package python3-pil.imagetk.
    monkeypatch.setitem(sys.modules, "PIL.ImageTk", None)
    assert "PIL.ImageTk" in installation_error(view="matplotlib")


@pytest.mark.parametrize("uri", ["", "http://host:many", "http://h:99999", "ftp://h:1"])
def test_invalid_master_uri_is_rejected(monkeypatch, uri):
    monkeypatch.setenv("ROS_MASTER_URI", uri)
    with pytest.raises(FrameworkError, match="ROS_MASTER_URI is .*, expected http://HOST:PORT"):
        check_environment()


def test_ros_namespace_is_rejected(monkeypatch):
    monkeypatch.setenv("ROS_NAMESPACE", "/robot_1")
    with pytest.raises(FrameworkError, match="'/robot_1', .*: unset ROS_NAMESPACE"):
        check_environment()
    monkeypatch.setenv("ROS_NAMESPACE", "/")
    check_environment()


def test_unresolvable_hostname_is_reported(monkeypatch):
    check_environment()

    def unknown(place, timeout):
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.delenv("ROS_IP")
    monkeypatch.setenv("ROS_HOSTNAME", "nowhere")
    monkeypatch.setattr(socket, "create_connection", unknown)
    with pytest.raises(FrameworkError, match=r"itself at nowhere \(Name or service not known\)"):
        check_environment()


@pytest.fixture
def launch_config(tmp_path, monkeypatch):
    """Return a function that runs the launcher without nodes and returns the roslaunch config."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ROS_HOME", str(tmp_path / "ros"))
    monkeypatch.setenv("ROS_LOG_DIR", str(tmp_path / "ros" / "log"))

    def run(*arguments):
        configs = []
        monkeypatch.setattr(launcher, "run", lambda config, *_: configs.append(config))
        monkeypatch.setattr(launcher, "report", lambda _: 0)
        assert launch_experiment(list(arguments)) == 0
        return configs[0]

    return run


def node_names(config):
    return {node.name for node in config.nodes}


WITHOUT_SUBPROCESSES = """
import sys

def refuse(event, arguments):
    if event in ("subprocess.Popen", "os.posix_spawn", "os.fork"):
        sys.exit(f"{event} {arguments}")

sys.addaudithook(refuse)
import imu_simulation_framework.ros1.nodes.mujoco_simulator
"""


def test_mujoco_node_is_configured_with_robot_and_starts_no_process(launch_config, tmp_path):
    config = launch_config()
    assert {"mujoco_simulator", "path_follower", "robot_state_publisher"} <= node_names(config)
    assert "gazebo" not in node_names(config)
    assert config.params["/experiment/simulator"].value == "mujoco"
    bundled = config.params["/robot_description"].value
    text = urdf_path("robot.yaml").read_text("utf-8")
    (tmp_path / "robot.yaml").write_text(text.replace("radius: 0.10\n", "radius: 0.123\n", 1))
    shown = (
        launch_config("settings:={robot: {parameters: robot.yaml}}")
        .params["/robot_description"]
        .value
    )
    assert "0.123" in shown
    assert "0.123" not in bundled
    # A subprocess that is killed during the start of the simulator would print a traceback.
    (node,) = [node for node in config.nodes if node.name == "mujoco_simulator"]
    environment = {**os.environ, **dict(node.env_args)}
    program = [sys.executable, "-c", WITHOUT_SUBPROCESSES]
    done = subprocess.run(
        program, env=environment, capture_output=True, text=True, timeout=PATIENCE
    )
    assert (done.returncode, done.stderr) == (0, "")
