"""Package in a catkin workspace, built and installed by catkin_make."""

import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import pytest

PACKAGE = "imu_simulation_framework"
pytestmark = pytest.mark.gate

NOETIC = "/opt/ros/noetic/setup.sh"
LIST_NODES = """
import json, sys
from roslaunch.config import load_config_default
from roslaunch.node_args import get_node_list
from roslaunch.rlutil import resolve_launch_arguments
nodes = {}
for package, file, *arguments in json.load(sys.stdin):
    paths = [(path, arguments) for path in resolve_launch_arguments([package, file])]
    nodes[file] = get_node_list(load_config_default(paths, None, assign_machines=False))
print(json.dumps(nodes))
"""


@pytest.fixture(scope="module")
def workspace(make_once, repository):
    """Return a built and installed workspace whose only package is the repository."""

    def build(folder):
        (folder / "src").mkdir()
        (folder / "src" / PACKAGE).symlink_to(repository)
        # catkin writes the path of Python into shebang lines, where spaces are not allowed.
        (folder / "python").symlink_to(sys.prefix)
        _shell(folder, f"catkin_make install -DPYTHON_EXECUTABLE='{folder}/python/bin/python'")

    return make_once("catkin_ws", build)


def _shell(folder, commands, setup=None, text=""):
    """Run shell commands in a fresh ROS environment and return their output."""
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
        ["sh", "-c", "\n".join(lines)], cwd=folder, env=environment, text=True, input=text,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.fixture(params=["devel", "install"])
def space(request, workspace):
    """Return a function that runs shell commands in the workspace's devel or install space."""
    setup = workspace / request.param / "setup.sh"
    return lambda commands, text="": _shell(workspace, commands, setup, text)


def test_library_and_programs_run_in_catkin_space(space):
    printed = space(
        f"'{sys.executable}' -c '"
        f"import {PACKAGE}.ros1.nodes.path_follower, {PACKAGE}.msg, {PACKAGE}.srv; "
        f"print({PACKAGE}.msg.ErrorCoordinates2._type)'"
    )
    assert printed.strip() == f"{PACKAGE}/ErrorCoordinates2"
    assert "usage" in space(f"rosrun {PACKAGE} offline_result_comparison.py --help")


def test_install_space_contains_modules_programs_and_files(workspace, repository):
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


def test_launch_files_in_catkin_space_start_their_nodes(space, repository):
    launch_files = {
        path.name: path.read_text("utf-8") for path in repository.glob("launch/*.launch")
    }
    calls = []
    for name, text in sorted(launch_files.items()):
        required = re.findall(r'<arg name="(\w+)"(?![^>]*(?:default|value)=)', text)
        calls.append([PACKAGE, name, *(f"{argument}:=value" for argument in required)])
    printed = space(f"'{sys.executable}' -c '{LIST_NODES}'", json.dumps(calls))
    nodes = json.loads(printed.splitlines()[-1])
    assert nodes.keys() == launch_files.keys()
    for name, text in launch_files.items():
        # Unconditional nodes of the file itself; the file may include other nodes.
        started = re.findall(r'<node (?!if=)[^>]*name="(\w+)"', text)
        if "<group if=" not in text:
            assert {f"/{node}" for node in started} <= set(nodes[name]), name
        assert all(node.startswith("/") for node in nodes[name]), name


def test_catkin_run_tests_runs_and_reports_quick_tests(workspace):
    _shell(workspace, "PYTEST_ADDOPTS=test/unit/core/test_angles.py catkin_make run_tests")
    results = workspace / "build" / "test_results" / PACKAGE / "pytest.xml"
    (suite,) = ElementTree.parse(results).getroot().iter("testsuite")
    assert int(suite.get("tests")) > 0
    assert {suite.get("errors"), suite.get("failures"), suite.get("skipped")} == {"0"}
