"""The commands of the documentation can be pasted: found by a shell, with options that exist."""

import re
import runpy
import signal
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
LAUNCHERS = ("./run", "rosrun imu_simulation_framework")


def _commands():
    """Return (document, line) of each indented line that calls one of the programs."""
    for document in DOCUMENTS:
        text = document.read_text(encoding="utf-8").replace("\\\n", " ")
        for line in re.findall(r"^ {4,}(\S.*)$", text, flags=re.MULTILINE):
            words = line.split("#")[0].split()
            if any(Path(word).name in PROGRAMS for word in words[:3]):
                yield document.name, " ".join(words)


COMMANDS = sorted(set(_commands()))


@pytest.fixture(scope="module")
def known_options():
    """Return a function from a program's name to the options that its help tells."""
    told = {}
    kept = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def options(program, monkeypatch, capsys):
        if program not in told:
            monkeypatch.setattr(sys, "argv", [program, "--help"])
            with pytest.raises(SystemExit):
                runpy.run_path(str(PROGRAMS[program]), run_name="__main__")
            told[program] = set(re.findall(r"(?<![\w-])--[a-z][\w-]*", capsys.readouterr().out))
        return told[program]

    yield options
    for number, handler in kept.items():
        signal.signal(number, handler)


def test_there_are_commands():
    assert len(COMMANDS) > 40


@pytest.mark.parametrize("document, command", COMMANDS)
def test_a_documented_command_can_be_pasted(document, command, known_options, monkeypatch, capsys):
    launcher = next((words for words in LAUNCHERS if command.startswith(f"{words} ")), None)
    assert launcher, f"a newcomer's shell does not find it: {command}"
    program, *arguments = command[len(launcher) :].split()
    assert program in PROGRAMS
    used = {word.split("=")[0] for word in arguments if re.match("--[a-z]", word)}
    assert used <= known_options(program, monkeypatch, capsys)


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
