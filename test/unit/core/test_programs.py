"""Termination of programs with a one-line message and an exit code instead of a traceback."""

import errno
import os
import subprocess
import sys

import pytest
from patience import PATIENCE

from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.core.programs import ArgumentParser, run_tool

MISSING_DIRECTORY = "the working directory no longer exists"


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (ConfigurationError("x is 3."), "x is 3."),
        (OSError(errno.EIO, "Input/output error", "a.csv"), "a.csv: cannot be read or written"),
        (PermissionError(errno.EACCES, "no", "a.csv"), "Permission denied"),
        (MemoryError(), "not enough memory"),
        (ConfigurationError("x.csv: not there"), MISSING_DIRECTORY),
        (FileNotFoundError(2, "no"), MISSING_DIRECTORY),
    ],
)
def test_expected_error_is_printed_on_one_line(error, sentence, tmp_path, monkeypatch, capsys):
    def main(_):
        raise error

    (tmp_path / "current").mkdir()
    monkeypatch.chdir(tmp_path / "current")
    if sentence is MISSING_DIRECTORY:
        (tmp_path / "current").rmdir()
    assert run_tool(main, []) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert sentence in line


@pytest.mark.parametrize("word", [5000 * "b", "a\tb\x1b[31m"])
def test_long_or_unprintable_argument_is_shortened_in_message(word, capsys):
    parser = ArgumentParser(prog="tool.py")
    parser.add_argument("--height", type=float)
    assert run_tool(parser.parse_args, ["--height", word]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("tool.py: error: argument --height: invalid float value: ")
    assert line.isprintable() and len(line) < 400


def test_misspelt_option_error_suggests_correct_option(capsys):
    parser = ArgumentParser(prog="tool.py")
    parser.add_argument("--height", type=float)
    for word, hint in (("--hieght=2", "did you mean --height?"), ("-q", "--help lists")):
        assert run_tool(parser.parse_args, [word]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert word in line and hint in line


def test_programming_error_is_not_caught():
    with pytest.raises(ZeroDivisionError):
        run_tool(lambda _: 1 // 0, [])


@pytest.mark.parametrize(("returned", "code"), [(None, 0), (0, 0), (3, 3)])
def test_exit_code_of_tool_is_returned(returned, code):
    assert run_tool(lambda _: returned, []) == code


TOOL = """
import sys
from imu_simulation_framework.core.programs import run_tool

def main(arguments):
    print({text})

sys.exit(run_tool(main))
"""


def run(text="'x'", redirection="", **options):
    """Run a program that prints a text, with output streams redirected by a shell."""
    return subprocess.run(
        ["sh", "-c", f'exec "$0" -c "$1" {redirection}', sys.executable, TOOL.format(text=text)],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
        **options,
    )


@pytest.mark.parametrize(
    ("text", "redirection", "message"),
    [
        ("'x'", "> /dev/full", "the disk is full"),
        ("'x' * 10**6", "> /dev/full", "the disk is full"),
        ("'x'", ">&-", "standard output is closed"),
    ],
)
def test_full_or_closed_standard_output_is_reported(text, redirection, message):
    done = run(text, redirection)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert message in line


@pytest.mark.parametrize("redirection", ["2>&-", "2> /dev/full"])
def test_full_or_closed_standard_error_does_not_change_result(redirection):
    done = run(redirection=redirection)
    assert (done.returncode, done.stdout) == (0, "x\n")


def test_pipe_closed_by_reader_is_not_an_error():
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [sys.executable, "-c", TOOL.format(text="'x' * 10**6")],
            stdout=writing,
            stderr=subprocess.PIPE,
            timeout=PATIENCE,
            check=False,
        )
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.parametrize("module", ["commands.isf", "ros1.entry_points", "ros2.entry_points"])
@pytest.mark.parametrize(("number_in_environment", "used"), [(None, "1 1"), ("3", "3 None")])
def test_numerical_libraries_use_one_thread_unless_environment_sets_number(
    module, number_in_environment, used
):
    code = f"import imu_simulation_framework.{module}; from os import getenv; "
    code += "print(getenv('OMP_NUM_THREADS'), getenv('OPENBLAS_NUM_THREADS'))"
    environment = {k: v for k, v in os.environ.items() if not k.endswith("_NUM_THREADS")}
    if number_in_environment:
        environment["OMP_NUM_THREADS"] = number_in_environment
    finished = subprocess.run([sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE)
    assert finished.stdout.decode().strip() == used
