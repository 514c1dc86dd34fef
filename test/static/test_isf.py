"""Command isf, which lists and runs all programs."""

import importlib.util
import re
import subprocess
import sys

import pytest

from imu_simulation_framework.commands import isf
from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.core.programs import run_tool

COMMAND = "import sys; from imu_simulation_framework.commands.isf import run; run()"


def test_isf_lists_all_programs_grouped_by_task(repository, capsys):
    files = {path.stem for path in (repository / "offline_processing").glob("*.py")}
    assert sorted(isf.PROGRAMS) == sorted(files)
    for name in isf.PROGRAMS:
        for package in (isf.__package__, f"{isf.__package__}.parsers"):
            assert importlib.util.find_spec(f"{package}.{name}"), f"{package}.{name}"
    usage = isf.usage()
    run_script = (repository / "run").read_text(encoding="utf-8")
    for job, programs in isf.JOBS.items():
        assert f"\n{job}\n" in usage and f"\n{job}\n" in run_script
        for name, text in programs.items():
            assert f"  {name:27} {text}" in usage
            assert f"  {name + '.py':29} {text}" in run_script
    assert isf.main([]) == 0 and isf.usage() in capsys.readouterr().out
    assert isf.main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("isf 0.")


def test_program_called_by_isf_receives_arguments_and_reports_its_name():
    for words, code, beginning in (
        (("simulate-static", "--help"), 0, "usage: isf simulate_static "),
        (("generate_drive.py", "nowhere"), 2, "isf generate_drive: "),
    ):
        done = subprocess.run([sys.executable, "-c", COMMAND, *words], text=True,
                              capture_output=True, check=False)  # fmt: skip
        last = done.stderr.splitlines()[-1:] or [done.stdout]
        assert done.returncode == code and last[0].startswith(beginning)


def test_unknown_program_is_rejected_with_suggestion(capsys):
    assert run_tool(isf.main, ["heading_budgets"]) == 2
    error = capsys.readouterr().err
    assert "heading_budgets" in error and re.search(r"\bheading_budget\b", error)
    with pytest.raises(ConfigurationError, match="isf --help"):
        isf.main(["xyz"])


def test_shell_completion_completes_program_names(capsys):
    assert isf.main(["--completion", "bash"]) == 0
    names = capsys.readouterr().out.split("-W '")[1].split("'")[0]
    command = ["bash", "-c", f"compgen -W '{names}' heading_b"]
    assert subprocess.check_output(command, text=True) == "heading_budget\n"
    with pytest.raises(ConfigurationError, match="bash, zsh or fish"):
        isf.main(["--completion", "csh"])
