"""What is missing on the machine is said before any node starts."""

import socket
import sys

import pytest

from imu_simulation_framework.core.errors import FrameworkError
from imu_simulation_framework.ros1.launching.launcher import (
    GAZEBO_PACKAGES,
    GAZEBO_PLUGIN,
    HECTOR_PACKAGE,
    check_environment,
    check_installation,
)

NOTHING = {"simulator": "mujoco", "imu": "", "gui": "false", "rviz": "false", "view": "none"}


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    monkeypatch.setenv("ROS_MASTER_URI", "http://localhost:11311")
    monkeypatch.setenv("ROS_IP", "127.0.0.1")
    for name in ("ROS_HOSTNAME", "ROS_NAMESPACE", "ROS_IPV6"):
        monkeypatch.delenv(name, raising=False)


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


def test_nothing_special_needs_nothing(packages, monkeypatch):
    monkeypatch.delenv("DISPLAY", raising=False)
    check_installation(NOTHING)
    # Without Gazebo there is no window of its own.
    check_installation({**NOTHING, "gui": "true"})


def test_gazebo_that_is_not_installed(packages):
    packages(*GAZEBO_PACKAGES[1:])
    assert refused(simulator="gazebo") == (
        f"simulator:=gazebo needs the ROS packages {GAZEBO_PACKAGES[0]}, {HECTOR_PACKAGE}: "
        "not installed"
    )


def test_a_package_that_was_built_without_gazebo(packages, plugin, monkeypatch):
    packages(*GAZEBO_PACKAGES, HECTOR_PACKAGE)
    check_installation({**NOTHING, "simulator": "gazebo"})
    monkeypatch.delenv("LD_LIBRARY_PATH")
    assert refused(simulator="gazebo") == (
        f"simulator:=gazebo needs {GAZEBO_PLUGIN} of this package, which is built only where "
        "Gazebo is: build the workspace again (catkin_make --force-cmake) and source its setup.bash"
    )
    monkeypatch.setenv("GAZEBO_PLUGIN_PATH", str(plugin.parent))
    check_installation({**NOTHING, "simulator": "gazebo"})


def test_the_generic_imu_needs_no_hector(packages, plugin):
    packages(*GAZEBO_PACKAGES)
    check_installation({**NOTHING, "simulator": "gazebo", "imu": "generic"})
    assert refused(simulator="gazebo", imu="hector").endswith(f"{HECTOR_PACKAGE}: not installed")


@pytest.mark.parametrize(
    ("values", "package"),
    [({"rviz": "true"}, "rviz"), ({"view": "multiplot"}, "rqt_multiplot")],
)
def test_a_window_of_a_package_that_is_not_installed(packages, monkeypatch, values, package):
    monkeypatch.setenv("DISPLAY", ":0")
    ((name, value),) = values.items()
    assert refused(**values) == f"{name}:={value} needs the ROS package {package}: not installed"
    packages(package)
    check_installation({**NOTHING, **values})


def test_a_window_without_a_display(monkeypatch):
    monkeypatch.delenv("DISPLAY", raising=False)
    assert "view:=matplotlib" in refused(view="matplotlib")
    assert "DISPLAY is not set" in refused(view="matplotlib")


def test_a_window_without_pillows_part_of_tk(monkeypatch):
    monkeypatch.setenv("DISPLAY", ":0")
    check_installation({**NOTHING, "view": "matplotlib"})
    # As Debian's Pillow has it without python3-pil.imagetk.
    monkeypatch.setitem(sys.modules, "PIL.ImageTk", None)
    assert "PIL.ImageTk (Debian's package python3-pil.imagetk)" in refused(view="matplotlib")


@pytest.mark.parametrize(
    "uri", ["foo", "", "http://", "http://host:many", "http://h:99999", "ftp://h:1"]
)
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


def test_a_machine_that_does_not_reach_itself(monkeypatch):
    def unreachable(place, timeout):
        raise OSError(101, "Network is unreachable")

    check_environment()
    monkeypatch.setattr(socket, "create_connection", unreachable)
    with pytest.raises(
        FrameworkError, match=r"itself at 127\.0\.0\.1 \(Network is unreachable\).*ip link set lo"
    ):
        check_environment()


def test_a_host_name_that_is_none(monkeypatch):
    def unknown(place, timeout):
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.delenv("ROS_IP")
    monkeypatch.setenv("ROS_HOSTNAME", "nowhere")
    monkeypatch.setattr(socket, "create_connection", unknown)
    with pytest.raises(FrameworkError, match=r"itself at nowhere \(Name or service not known\)"):
        check_environment()
