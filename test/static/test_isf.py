"""The command isf: every program by its name, found by whoever looks for it."""

import subprocess
import sys

import pytest

from imu_simulation_framework.commands import isf
from imu_simulation_framework.commands.command_line import run_tool
from imu_simulation_framework.core.errors import ConfigurationError

COMMAND = "import sys; from imu_simulation_framework.commands.isf import run; run()"


def called(*arguments):
    return subprocess.run(
        [sys.executable, "-c", COMMAND, *arguments], text=True, capture_output=True, check=False
    )


def test_the_programs_are_those_for_which_there_is_a_file(repository):
    files = {path.stem for path in (repository / "offline_processing").glob("*.py")}
    assert sorted(isf.PROGRAMS) == sorted(files)


def test_help_lists_each_program_below_its_job(repository):
    usage = isf.usage()
    own = (repository / "run").read_text(encoding="utf-8")
    for job, programs in isf.JOBS.items():
        assert f"\n{job}\n" in usage and f"\n{job}\n" in own
        for name, text in programs.items():
            assert f"  {name:27} {text}" in usage
            assert f"  {name + '.py':29} {text}" in own


def test_a_program_gets_its_arguments_and_says_its_name():
    done = called("simulate-static", "--help")
    assert done.returncode == 0 and done.stdout.startswith("usage: isf simulate_static ")
    done = called("generate_drive.py", "nowhere")
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith("isf generate_drive: ")


def test_a_wrong_name_is_told_the_nearest(capsys):
    assert run_tool(isf.main, ["heading_budgets"]) == 2
    assert "there is no program 'heading_budgets'; did you mean heading_budget?" in (
        capsys.readouterr().err
    )
    with pytest.raises(ConfigurationError, match="isf --help lists them"):
        isf.main(["xyz"])


def test_without_arguments_it_lists_and_it_knows_its_version(capsys):
    assert isf.main([]) == 0 and isf.usage() in capsys.readouterr().out
    assert isf.main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("isf 0.")


def test_a_shell_completes_names(capsys):
    assert isf.main(["--completion", "bash"]) == 0
    script = capsys.readouterr().out + "COMP_WORDS=(isf heading_b); compgen -W '"
    names = script.split("-W '")[1].split("'")[0]
    done = subprocess.run(
        ["bash", "-c", f"compgen -W '{names}' heading_b"],
        text=True,
        capture_output=True,
        check=True,
    )
    assert done.stdout == "heading_budget\n"
    with pytest.raises(ConfigurationError, match="expected bash, zsh or fish"):
        isf.main(["--completion", "csh"])
