"""Consistency of versions, dependencies and lists across the files of the package."""

import ast
import os
import re
import runpy
import sysconfig
import xml.etree.ElementTree as ElementTree
from collections import defaultdict
from importlib.util import find_spec
from itertools import chain
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

import imu_simulation_framework
from imu_simulation_framework.core.errors import EXTRAS

PACKAGE = "imu_simulation_framework"
# Module name -> rosdep key, if they differ.
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


@pytest.fixture(scope="module")
def modules(repository):
    """Return the syntax tree of each module of the library, by relative path."""
    library = repository / "src" / PACKAGE
    return {path.relative_to(library): _parse(path) for path in library.rglob("*.py")}


def _parse(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def _programs(repository):
    return [*repository.glob("scripts/*.py"), *repository.glob("offline_processing/*.py")]


def _imported_libraries(tree):
    libraries = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            libraries.update(alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            libraries.add(node.module.split(".")[0])
    return libraries - {PACKAGE}


def _is_in_standard_library(name):
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
def test_manifest_declares_build_type_and_client_library_of_each_ros_version(
    repository, environment, build_type, library
):
    package = pytest.importorskip("catkin_pkg.package").parse_package(repository / "package.xml")
    package.evaluate_conditions(environment)
    needed = [item.name for item in package.exec_depends if item.evaluated_condition]
    assert package.get_build_type() == build_type
    assert {"rospy", "rclpy"} & set(needed) == {library}
    catkin = [item for item in package.buildtool_depends if item.name == "catkin"]
    assert [item.evaluated_condition for item in catkin] == [library == "rospy"]


def _installed(repository, monkeypatch):
    """Return the files that setup.py installs outside the library, by folder."""
    arguments = {}
    monkeypatch.setattr("setuptools.setup", lambda **words: arguments.update(words))
    monkeypatch.chdir(repository)
    runpy.run_path(str(repository / "setup.py"))
    return dict(arguments["data_files"])


def test_setup_installs_ros2_nodes_only_for_colcon(repository, monkeypatch):
    monkeypatch.delenv("ROS_VERSION", raising=False)
    files_of_ros1 = _installed(repository, monkeypatch)
    monkeypatch.setenv("ROS_VERSION", "1")
    assert _installed(repository, monkeypatch) == files_of_ros1
    monkeypatch.setenv("ROS_VERSION", "2")
    files_of_ros2 = _installed(repository, monkeypatch)
    added = {
        folder: files for folder, files in files_of_ros2.items() if folder not in files_of_ros1
    }
    launch, programs = f"share/{PACKAGE}/launch", f"lib/{PACKAGE}"
    worlds = f"share/{PACKAGE}/worlds"
    marker = "share/ament_index/resource_index/packages"
    assert set(added) == {launch, programs, worlds, marker}
    assert added[marker] == [f"resource/{PACKAGE}"]
    for file in chain.from_iterable(added.values()):
        assert (repository / file).is_file(), file
    # ros2 run starts only executable files.
    assert all(os.access(repository / file, os.X_OK) for file in added[programs])
    files = {path.name for path in repository.glob("launch/*.launch.py")}
    assert {Path(file).name for file in added[launch]} == {"experiment.launch", *files}
    nodes = {
        path.name for path in repository.glob("scripts/*.py") if ".ros2." in path.read_text("utf-8")
    }
    assert {Path(file).name for file in added[programs]} == nodes
    launched = {name.replace(".py", ".launch.py") for name in nodes}
    assert files <= {"experiment.launch.py", "gz_robot.launch.py", *launched}


def test_dockerfile_contains_installation_steps_of_guide(repository):
    guide = (repository / "doc/how_to/run_in_gazebo.md").read_text(encoding="utf-8")
    steps = guide.partition("## Install")[2].partition("\n## ")[0].replace("\\\n", " ")
    dockerfile = (repository / "docker/Dockerfile").read_text(encoding="utf-8")
    dockerfile = " ".join(dockerfile.replace("\\\n", " ").split())
    # Options for images: pip as root does not replace libraries of apt, and keeps no downloads.
    dockerfile = dockerfile.replace(" --no-cache-dir", "").replace(" --user", "")
    programs = ("rosdep", "python3", "catkin_make")
    commands = [" ".join(line.split()) for line in steps.splitlines() if line.startswith("    ")]
    commands = [command for command in commands if command.startswith(programs)]
    assert len(commands) == 5
    for command in commands:
        assert command in dockerfile, command


def test_manifest_library_and_citation_have_same_version(repository, manifest):
    citation = yaml.safe_load((repository / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["title"] == manifest.findtext("name")
    assert citation["license"] == manifest.findtext("license")
    versions = {citation["version"], manifest.findtext("version")}
    assert versions == {imu_simulation_framework.__version__}


def test_manifest_comment_lists_libraries_from_pypi(repository, manifest):
    text = (repository / "package.xml").read_text(encoding="utf-8")
    (comment,) = re.findall(r"(?s)<!-- Versions in requirements.txt;(.*?)come from there", text)
    listed = set(re.findall(r"[\w-]+", comment)) - {"and"}
    keys = {item.text for item in manifest.findall("exec_depend")}
    from_pypi = {requirement.name for requirement in _requirements(repository, "requirements.txt")}
    assert listed == {name for name in from_pypi if not {name, f"python3-{name}"} & keys}


def test_imported_libraries_are_declared(repository, declared, modules):
    from_pypi = {requirement.name for requirement in _requirements(repository, "requirements.txt")}
    from_ros2 = {
        requirement.name.replace("ros-", "", 1).replace("-", "_")
        for requirement in _requirements(repository, "requirements-ros2.txt")
    }
    trees = {**modules, **{path: _parse(path) for path in _programs(repository)}}
    undeclared = {
        (str(path), library)
        for path, tree in trees.items()
        for library in _imported_libraries(tree)
        if ROSDEP_KEYS.get(library, library) not in declared | from_pypi | from_ros2
        and not _is_in_standard_library(library)
    }
    assert undeclared == set()


def test_extras_contain_libraries_named_in_error_messages(repository):
    text = (repository / "setup.py").read_text(encoding="utf-8")
    offered = dict(re.findall(r'"(\w+)": \["(.*?)"\]', text))
    assert set(offered) == set(EXTRAS.values())
    for name, extra in EXTRAS.items():
        assert name in offered[extra]


def test_packages_in_launch_files_and_xacro_are_declared(repository, declared):
    for path in [*repository.glob("launch/*.launch"), *repository.glob("urdf/**/*.xacro")]:
        text = path.read_text(encoding="utf-8")
        used = set(re.findall(r'\bpkg="(\w+)"|\$\(find (\w+)\)', text))
        names = {name for pair in used for name in pair if name}
        assert names - declared <= {PACKAGE}, path


def test_packages_have_api_pages(repository):
    packages = {path.parent.name for path in (repository / "src" / PACKAGE).glob("*/__init__.py")}
    pages = {path.stem for path in repository.glob("doc/api/*.rst")} - {"index"}
    assert pages == packages
    assert pages <= set((repository / "doc/api/index.rst").read_text(encoding="utf-8").split())


def test_library_errors_do_not_mention_command_line_options(modules):
    for path, tree in modules.items():
        raised = [node for node in ast.walk(tree) if isinstance(node, ast.Raise)]
        texts = [str(getattr(part, "value", "")) for node in raised for part in ast.walk(node)]
        flags = [text for text in texts if re.search(r"(?<![\w-])--[a-z]", text)]
        assert not flags or path.parts[0] in ("commands", "ros1"), f"{path}: {flags}"


def test_programs_are_run_by_python_found_on_path(repository):
    # The rules EXE of ruff check that such files are executable.
    for path in _programs(repository):
        assert path.read_text(encoding="utf-8").startswith("#!/usr/bin/env python3\n"), path


def test_xacro_and_launch_expressions_contain_no_substitution_arguments(repository):
    for path in [*repository.glob("urdf/**/*.xacro"), *repository.glob("launch/*.launch")]:
        text = re.sub(r"<!--.*?-->", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        for expression in re.findall(r"\$\{[^}]*\}|\$\(eval [^\"]*\)", text):
            assert "$(" not in expression[2:], f"{path.name}: {expression}"


@pytest.mark.parametrize("version", PYTHON_VERSIONS)
def test_required_libraries_are_pinned_to_one_version(repository, version):
    pinned = defaultdict(set)
    for name in ("requirements.txt", "requirements-dev.txt", "constraints.txt"):
        everything = _requirements(repository, name)
        chosen = [
            item
            for item in everything
            if item.marker is None or item.marker.evaluate({"python_version": version})
        ]
        assert sorted(item.name for item in chosen) == sorted({item.name for item in everything})
        for item in chosen:
            pinned[item.name].add(str(item.specifier))
    assert len(pinned) > 100
    for name, specifiers in pinned.items():
        (specifier,) = specifiers
        assert re.fullmatch(r"==[\w.]+", specifier), f"{name}{specifier}"


def test_wheel_workflow_runs_on_supported_pythons(repository):
    text = (repository / ".github" / "workflows" / "wheel.yml").read_text(encoding="utf-8")
    job = yaml.safe_load(text)["jobs"]["wheel"]
    assert job["strategy"]["matrix"]["python"] == PYTHON_VERSIONS
