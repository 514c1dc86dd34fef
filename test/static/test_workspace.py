"""The package in a catkin workspace as a user has it: built and installed by catkin_make."""

import os
import re
import subprocess
import sys

import pytest

PACKAGE = "imu_simulation_framework"
pytestmark = pytest.mark.gate

NOETIC = "/opt/ros/noetic/setup.sh"


@pytest.fixture(scope="module")
def workspace(tmp_path_factory, repository):
    """Return a workspace whose only package is the repository, built and installed."""
    folder = tmp_path_factory.mktemp("catkin_ws")
    (folder / "src").mkdir()
    (folder / "src" / PACKAGE).symlink_to(repository)
    # catkin writes the Python into first lines of scripts, where a path with a space fails.
    (folder / "python").symlink_to(sys.prefix)
    _shell(folder, f"catkin_make install -DPYTHON_EXECUTABLE='{folder}/python/bin/python'")
    return folder


def _shell(folder, commands, setup=None):
    """Run shell commands in a fresh ROS environment and return what they print."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("ROS", "CMAKE", "PYTHON", "PKG_CONFIG", "LD_LIBRARY"))
    }
    environment.update(ROS_IP="127.0.0.1", ROS_HOME=str(folder / "ros"), PYTHONNOUSERSITE="1")
    sources = [NOETIC] if os.path.exists(NOETIC) else []
    if setup:
        sources.append(str(setup))
    lines = [f". '{source}'" for source in sources] + [commands]
    done = subprocess.run(
        ["sh", "-c", "\n".join(lines)], cwd=folder, env=environment, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.fixture(params=["devel", "install"])
def space(request, workspace):
    """Return a function that runs shell commands in the workspace's devel or install space."""
    setup = workspace / request.param / "setup.sh"
    return lambda commands: _shell(workspace, commands, setup)


def test_library_messages_and_programs_can_be_imported_and_start(space):
    printed = space(
        f"'{sys.executable}' -c '"
        f"import {PACKAGE}.ros1.nodes.path_follower, {PACKAGE}.msg, {PACKAGE}.srv; "
        f"print({PACKAGE}.msg.ErrorCoordinates2._type)'"
    )
    assert printed.strip() == f"{PACKAGE}/ErrorCoordinates2"
    assert "usage" in space(f"rosrun {PACKAGE} offline_result_comparison.py --help")


def test_install_space_has_library_programs_and_every_file_read_at_run_time(workspace, repository):
    source, install = repository / "src" / PACKAGE, workspace / "install"
    (installed,) = install.glob(f"lib/python3*/*-packages/{PACKAGE}")
    modules = {path.relative_to(source) for path in source.rglob("*.py")}
    assert modules <= {path.relative_to(installed) for path in installed.rglob("*.py")}
    programs = {path.name for path in repository.glob("scripts/*.py")}
    programs |= {path.name for path in repository.glob("offline_processing/*.py")}
    executables = (install / "lib" / PACKAGE).iterdir()
    assert {path.name for path in executables if os.access(path, os.X_OK)} == programs
    kinds = ("config", "config.ini", "data", "launch", "urdf", "*.xml", "rviz", "worlds", "msg")
    listed = subprocess.check_output(["git", "ls-files", *kinds, "srv"], cwd=repository, text=True)
    share = install / "share" / PACKAGE
    assert [name for name in listed.split() if not (share / name).is_file()] == []


def test_every_launch_file_finds_what_it_needs(space, repository):
    for launch_file in sorted(repository.glob("launch/*.launch")):
        text = launch_file.read_text("utf-8")
        needed = re.findall(r'<arg name="(\w+)"(?![^>]*(?:default|value)=)', text)
        given = " ".join(f"{name}:=given" for name in needed)
        nodes = space(f"roslaunch --nodes {PACKAGE} {launch_file.name} {given}").split()
        # Those that always start, in the file itself; it may include others.
        started = re.findall(r'<node (?!if=)[^>]*name="(\w+)"', text)
        if "<group if=" not in text:
            assert {f"/{name}" for name in started} <= set(nodes), launch_file
        assert all(name.startswith("/") for name in nodes), nodes
