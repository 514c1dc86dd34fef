"""What stands in several places says the same, and what is used is declared."""

import ast
import os
import re
import runpy
import sysconfig
import xml.etree.ElementTree as ElementTree
from importlib.util import find_spec
from itertools import chain
from pathlib import Path

import pytest
from packages import BELOW, LIBRARY, PACKAGE, arrows, at_import, imports, modules, others
from packaging.requirements import Requirement

import imu_simulation_framework
from imu_simulation_framework.core.errors import EXTRAS

# The rosdep keys of modules that have another name.
ROSDEP_KEYS = {
    name: f"python3-{name}"
    for name in ("defusedxml", "matplotlib", "numpy", "pandas", "rospkg", "scipy", "yaml")
}
PYTHON_VERSIONS = ["3.8", "3.9", "3.10", "3.11", "3.12", "3.13"]


@pytest.fixture(scope="module")
def manifest(repository):
    return ElementTree.parse(repository / "package.xml").getroot()


@pytest.fixture(scope="module")
def declared(manifest):
    """Return the names of all run-time dependencies in package.xml."""
    return {item.text for tag in ("depend", "exec_depend") for item in manifest.findall(tag)}


def _programs(repository):
    return [*repository.glob("scripts/*.py"), *repository.glob("offline_processing/*.py")]


def _in_standard_library(name):
    origin = getattr(find_spec(name), "origin", "")
    standard = Path(sysconfig.get_path("stdlib"))
    folders = [standard / folder for folder in ("", name, "lib-dynload")]
    return origin in ("built-in", "frozen") or Path(origin).parent in folders


def _requirements(repository, name):
    lines = (repository / name).read_text(encoding="utf-8").splitlines()
    return [Requirement(line) for line in lines if line and line[0] not in "#-"]


@pytest.mark.parametrize(
    ("environment", "build_type", "library"),
    [({}, "catkin", "rospy"), ({"ROS_VERSION": "1"}, "catkin", "rospy"),
     ({"ROS_VERSION": "2"}, "ament_python", "rclpy")],
)  # fmt: skip
def test_each_ros_has_its_own_build_and_dependencies(repository, environment, build_type, library):
    package = pytest.importorskip("catkin_pkg.package").parse_package(repository / "package.xml")
    package.evaluate_conditions(environment)
    needed = [one.name for one in package.exec_depends if one.evaluated_condition]
    assert package.get_build_type() == build_type
    assert {"rospy", "rclpy"} & set(needed) == {library}
    catkin = [one for one in package.buildtool_depends if one.name == "catkin"]
    assert [one.evaluated_condition for one in catkin] == [library == "rospy"]


def _installed(repository, monkeypatch):
    """Return what setup.py installs beside the library: files by folder."""
    said = {}
    monkeypatch.setattr("setuptools.setup", lambda **words: said.update(words))
    monkeypatch.chdir(repository)
    runpy.run_path(str(repository / "setup.py"))
    return dict(said["data_files"])


def test_only_colcon_gets_the_nodes_of_ros_2(repository, monkeypatch):
    monkeypatch.delenv("ROS_VERSION", raising=False)
    without = _installed(repository, monkeypatch)
    monkeypatch.setenv("ROS_VERSION", "1")
    assert _installed(repository, monkeypatch) == without
    monkeypatch.setenv("ROS_VERSION", "2")
    of_ros2 = _installed(repository, monkeypatch)
    added = {folder: files for folder, files in of_ros2.items() if folder not in without}
    launch, programs = f"share/{PACKAGE}/launch", f"lib/{PACKAGE}"
    worlds = f"share/{PACKAGE}/worlds"
    marker = "share/ament_index/resource_index/packages"
    assert set(added) == {launch, programs, worlds, marker}
    assert added[marker] == [f"resource/{PACKAGE}"]
    for file in chain.from_iterable(added.values()):
        assert (repository / file).is_file(), file
    # ros2 run starts what may be executed.
    assert all(os.access(repository / file, os.X_OK) for file in added[programs])
    files = {path.name for path in repository.glob("launch/*.launch.py")}
    assert {Path(file).name for file in added[launch]} == {"experiment.launch", *files}
    nodes = {
        path.name for path in repository.glob("scripts/*.py") if ".ros2." in path.read_text("utf-8")
    }
    assert {Path(file).name for file in added[programs]} == nodes
    launched = {name.replace(".py", ".launch.py") for name in nodes}
    assert files <= {"experiment.launch.py", "gz_robot.launch.py", *launched}


def test_the_manifest_has_the_version_and_what_is_not_said_to_come_from_pypi(repository, manifest):
    assert manifest.findtext("version") == imu_simulation_framework.__version__
    text = (repository / "package.xml").read_text(encoding="utf-8")
    (alone,) = re.findall(r"(?s)<!-- Versions in requirements.txt;(.*?)come from there", text)
    said = set(re.findall(r"[\w-]+", alone)) - {"and"}
    keys = {item.text for item in manifest.findall("exec_depend")}
    from_pypi = {requirement.name for requirement in _requirements(repository, "requirements.txt")}
    assert said == {name for name in from_pypi if not {name, f"python3-{name}"} & keys}


def test_every_imported_module_is_declared(repository, declared):
    from_pypi = {requirement.name for requirement in _requirements(repository, "requirements.txt")}
    of_ros2 = {
        requirement.name.replace("ros-", "", 1).replace("-", "_")
        for requirement in _requirements(repository, "requirements-ros2.txt")
    }
    undeclared = {
        (path.name, module)
        for path in [*LIBRARY.rglob("*.py"), *_programs(repository)]
        for module in others(ast.parse(path.read_text(encoding="utf-8")))
        if ROSDEP_KEYS.get(module, module) not in declared | from_pypi | of_ros2
        and not _in_standard_library(module)
    }
    assert undeclared == set()


def test_every_extra_has_its_libraries_and_its_name(repository):
    text = (repository / "setup.py").read_text(encoding="utf-8")
    offered = dict(re.findall(r'"(\w+)": \["(.*?)"\]', text))
    assert set(offered) == set(EXTRAS.values())
    for name, extra in EXTRAS.items():
        assert name in offered[extra]


def test_every_package_in_launch_files_and_xacro_is_declared(repository, declared):
    for path in [*repository.glob("launch/*.launch"), *repository.glob("urdf/**/*.xacro")]:
        text = path.read_text(encoding="utf-8")
        used = set(re.findall(r'\bpkg="(\w+)"|\$\(find (\w+)\)', text))
        names = {name for pair in used for name in pair if name}
        assert names - declared <= {PACKAGE}, path


def test_each_package_imports_only_from_those_below_it_without_a_circle():
    found = modules()
    packages = {name.split(".")[0] for name in found} - {""}
    assert packages == set(BELOW)
    assert not {(one, other) for one, other in arrows(found) if other not in BELOW[one]}
    left = {name: imports(at_import(tree), found) - {name} for name, tree in found.items()}
    while left:
        free = {name for name, targets in left.items() if not targets & left.keys()}
        assert free, f"a circle among {sorted(left)}"
        for name in free:
            del left[name]


def test_every_package_has_a_page_of_the_api(repository):
    pages = {path.stem for path in repository.glob("doc/api/*.rst")} - {"index"}
    assert pages == set(BELOW)
    assert pages <= set((repository / "doc/api/index.rst").read_text(encoding="utf-8").split())


@pytest.mark.parametrize(
    ("library", "homes"),
    [
        ("rospy", r"ros1\."),
        ("rclpy", r"ros2\."),
        ("argparse", r"(commands|ros1)\.|core\.programs$"),
        # A picture is written as every file is; the live view is a window.
        ("matplotlib", r"report\.|commands\.|(.+\.)?figures$|core\.whole_files$|.*\.yaw_view$"),
        ("mujoco", r"drive\.mujoco$"),
        ("jsbsim", r"flight\."),
    ],
)
def test_a_library_is_imported_in_its_place_only(library, homes):
    importing = {name for name, tree in modules().items() if library in others(tree)}
    assert {name for name in importing if not re.match(homes, name)} == set()


def test_the_library_names_no_flag_of_a_command_line():
    for name, tree in modules().items():
        raised = [node for node in ast.walk(tree) if isinstance(node, ast.Raise)]
        said = [str(getattr(part, "value", "")) for one in raised for part in ast.walk(one)]
        flags = [text for text in said if re.search(r"(?<![\w-])--[a-z]", text)]
        assert not flags or name.split(".")[0] in ("commands", "ros1"), f"{name}: {flags}"


def test_only_one_module_reads_yaml(repository):
    # Any other loader evaluates what rosparam and xacro have taught PyYAML.
    for path in [*LIBRARY.rglob("*.py"), *_programs(repository)]:
        loads = re.findall(r"yaml\.(?:\w+_)?load\w*\(", path.read_text(encoding="utf-8"))
        assert not loads or path.name == "yaml_files.py", f"{path.name}: {loads}"


def test_programs_are_executable_and_take_python_from_path(repository):
    for path in _programs(repository):
        assert os.access(path, os.X_OK), path
        assert path.read_text(encoding="utf-8").startswith("#!/usr/bin/env python3\n"), path


def test_no_argument_is_pasted_into_an_expression(repository):
    for path in [*repository.glob("urdf/**/*.xacro"), *repository.glob("launch/*.launch")]:
        text = re.sub(r"<!--.*?-->", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        for expression in re.findall(r"\$\{[^}]*\}|\$\(eval [^\"]*\)", text):
            assert "$(" not in expression[2:], f"{path.name}: {expression}"


@pytest.mark.parametrize("version", PYTHON_VERSIONS)
@pytest.mark.parametrize("name", [f"requirements{part}.txt" for part in ("", "-dev", "-docs")]
                         + ["constraints.txt"])  # fmt: skip
def test_each_library_has_one_version_for_each_python(repository, name, version):
    python = {"python_version": version}
    everything = _requirements(repository, name)
    chosen = [one for one in everything if one.marker is None or one.marker.evaluate(python)]
    assert sorted(one.name for one in chosen) == sorted({one.name for one in everything})
    assert all(re.fullmatch(r"==[\w.]+", str(one.specifier)) for one in chosen)
