"""Help of all programs, and the commands, files and modules that the documentation mentions."""

import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from imu_simulation_framework.core import topics

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = {
    path.name: path
    for folder in ("scripts", "offline_processing")
    for path in sorted(ROOT.glob(f"{folder}/*.py"))
}
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("doc/**/*.md"), *ROOT.glob("data/*.md")])
LAUNCHERS = ("./run ros2", "./run", "rosrun imu_simulation_framework")


def _commands():
    """Return (document, line) of each indented line that calls one of the programs."""
    for document in DOCUMENTS:
        text = document.read_text(encoding="utf-8").replace("\\\n", " ")
        for line in re.findall(r"^ {4,}(\S.*)$", text, flags=re.MULTILINE):
            words = line.split("#")[0].split()
            if any(Path(word).name in PROGRAMS for word in words[:3]):
                yield str(document.relative_to(ROOT)), " ".join(words)


COMMANDS = sorted(set(_commands()))
assert len(COMMANDS) > 40


@pytest.fixture(scope="module")
def help_of():
    """Return a function that returns the help of a program."""
    helps = {}

    def read_help(program, monkeypatch, capsys):
        if program not in helps:
            monkeypatch.delenv("ROS_MASTER_URI", raising=False)
            monkeypatch.setattr(sys, "argv", [program, "--help"])
            with pytest.raises(SystemExit) as ended:
                runpy.run_path(str(PROGRAMS[program]), run_name="__main__")
            helps[program], errors = capsys.readouterr()
            assert (ended.value.code, errors) == (0, "")
        return helps[program]

    return read_help


@pytest.mark.parametrize("program", PROGRAMS)
def test_program_help_without_ros_master_has_description(program, help_of, monkeypatch, capsys):
    text = help_of(program, monkeypatch, capsys)
    assert text.startswith(f"usage: {program}")
    # The help contains a description in addition to the usage line.
    assert len(text) > 200
    # The default results folder is ignored by Git.
    default = re.search(
        r"--out DIR (?:folder for the results, by default (\S+)|(\S+) by default)",
        " ".join(text.split()),
    )
    if default and (ROOT / ".git").exists():
        folder = (default[1] or default[2]).replace("<recording>", "drive")
        ignored = subprocess.run(["git", "check-ignore", f"{folder}/"], cwd=ROOT, stdout=-1)
        assert ignored.returncode == 0, folder


@pytest.mark.parametrize("document, command", COMMANDS)
def test_documented_commands_have_launcher_and_known_options(
    document, command, help_of, monkeypatch, capsys
):
    launcher = next((words for words in LAUNCHERS if command.startswith(f"{words} ")), None)
    assert launcher, f"no launcher ({', '.join(LAUNCHERS)}) in the command: {command}"
    program, *arguments = command[len(launcher) :].split()
    assert program in PROGRAMS
    if "--ros-args" in arguments:
        launch = (ROOT / "launch" / program).with_suffix(".launch").read_text(encoding="utf-8")
        launch_arguments = [word.partition(":=")[0] for word in arguments if ":=" in word]
        assert (
            launch_arguments
            and [name for name in launch_arguments if f'<arg name="{name}"' not in launch] == []
        )
        arguments = arguments[: arguments.index("--ros-args")]
    used_options = {word.split("=")[0] for word in arguments if re.match("--[a-z]", word)}
    options = re.findall(r"(?<![\w-])--[a-z][\w-]*", help_of(program, monkeypatch, capsys))
    assert used_options <= set(options)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_and_modules_in_document_exist(document):
    text = document.read_text(encoding="utf-8")
    links = [link for link in re.findall(r"\]\(([^)\s]+)\)", text) if "://" not in link]
    assert [link for link in links if not (document.parent / link.partition("#")[0]).exists()] == []
    # Paths of modules; nodes and their services may have the same names.
    library, nodes = ROOT / "src/imu_simulation_framework", {path[:-3] for path in PROGRAMS}
    places = re.findall(r"`((\w+)/[\w/]*(?:\.py)?)`", text)
    modules = [
        place for place, package in places if (library / package).is_dir() and package not in nodes
    ]
    modules = [place for place in modules if place not in vars(topics).values()]
    assert [place for place in modules if not (library / place).exists()] == []
