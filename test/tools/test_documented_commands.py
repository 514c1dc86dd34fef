"""Programs say what they are for, and documented commands can be pasted, with their options."""

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
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("doc/*.md"), *ROOT.glob("data/*.md")])
LAUNCHERS = ("./run ros2", "./run", "rosrun imu_simulation_framework")


def _commands():
    """Return (document, line) of each indented line that calls one of the programs."""
    for document in DOCUMENTS:
        text = document.read_text(encoding="utf-8").replace("\\\n", " ")
        for line in re.findall(r"^ {4,}(\S.*)$", text, flags=re.MULTILINE):
            words = line.split("#")[0].split()
            if any(Path(word).name in PROGRAMS for word in words[:3]):
                yield document.name, " ".join(words)


COMMANDS = sorted(set(_commands()))
assert len(COMMANDS) > 40


@pytest.fixture(scope="module")
def help_of():
    """Return a function from a program's name to what its help prints."""
    told = {}

    def printed(program, monkeypatch, capsys):
        if program not in told:
            monkeypatch.delenv("ROS_MASTER_URI", raising=False)
            monkeypatch.setattr(sys, "argv", [program, "--help"])
            with pytest.raises(SystemExit) as ended:
                runpy.run_path(str(PROGRAMS[program]), run_name="__main__")
            told[program], errors = capsys.readouterr()
            assert (ended.value.code, errors) == (0, "")
        return told[program]

    return printed


@pytest.mark.parametrize("program", PROGRAMS)
def test_help_needs_no_master(program, help_of, monkeypatch, capsys):
    told = help_of(program, monkeypatch, capsys)
    assert told.startswith(f"usage: {program}")
    # What it is, and not only how it is called.
    assert len(told) > 200
    # Its results do not get into a commit.
    by_default = re.search(
        r"--out DIR (?:folder for the results, by default (\S+)|(\S+) by default)",
        " ".join(told.split()),
    )
    if by_default and (ROOT / ".git").exists():
        folder = (by_default[1] or by_default[2]).replace("<recording>", "drive")
        ignored = subprocess.run(["git", "check-ignore", f"{folder}/"], cwd=ROOT, stdout=-1)
        assert ignored.returncode == 0, folder


@pytest.mark.parametrize("document, command", COMMANDS)
def test_a_documented_command_can_be_pasted(document, command, help_of, monkeypatch, capsys):
    launcher = next((words for words in LAUNCHERS if command.startswith(f"{words} ")), None)
    assert launcher, f"a newcomer's shell does not find it: {command}"
    program, *arguments = command[len(launcher) :].split()
    assert program in PROGRAMS
    if "--ros-args" in arguments:
        launch = (ROOT / "launch" / program).with_suffix(".launch").read_text(encoding="utf-8")
        given = [word.partition(":=")[0] for word in arguments if ":=" in word]
        assert given and [name for name in given if f'<arg name="{name}"' not in launch] == []
        arguments = arguments[: arguments.index("--ros-args")]
    used = {word.split("=")[0] for word in arguments if re.match("--[a-z]", word)}
    options = re.findall(r"(?<![\w-])--[a-z][\w-]*", help_of(program, monkeypatch, capsys))
    assert used <= set(options)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_what_a_document_names_is_there(document):
    text = document.read_text(encoding="utf-8")
    links = [link for link in re.findall(r"\]\(([^)\s]+)\)", text) if "://" not in link]
    assert [link for link in links if not (document.parent / link.partition("#")[0]).exists()] == []
    # Packages and what is in them; some nodes have such a name, and services below it.
    library, nodes = ROOT / "src/imu_simulation_framework", {path[:-3] for path in PROGRAMS}
    places = re.findall(r"`((\w+)/[\w/]*(?:\.py)?)`", text)
    named = [
        place for place, package in places if (library / package).is_dir() and package not in nodes
    ]
    named = [place for place in named if place not in vars(topics).values()]
    assert [place for place in named if not (library / place).exists()] == []
