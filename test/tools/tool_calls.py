"""Calls of the command-line programs, in this process or in a separate process."""

import contextlib
import csv
import gzip
import io
import os
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

from declared_columns import find_csv_file, unexpected_columns
from patience import PATIENCE

from imu_simulation_framework.commands.start import run_program
from imu_simulation_framework.core.programs import run_tool

PNG = b"\x89PNG\r\n\x1a\n"  # signature at the beginning of a PNG file

TOOLS = Path(__file__).resolve().parents[2] / "offline_processing"


def call_tool(tool, *arguments):
    """Call the main function of a program in this process; return its exit code and its output."""
    words = list(map(str, arguments))
    # Some programs write bytes, so the streams need a buffer, as in a separate process.
    output, errors = (io.TextIOWrapper(io.BytesIO(), "utf-8") for _ in range(2))
    begin, arguments_of_pytest = time.time(), sys.argv
    sys.argv = [tool, *words]
    try:
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
            code = run_tool(partial(run_program, Path(tool).stem), words)
    finally:
        sys.argv = arguments_of_pytest
    if code == 0:
        _check_columns(tool, begin)
    return subprocess.CompletedProcess([tool, *words], code, _text(output), _text(errors))


def _check_columns(tool, begin):
    """Compare the CSV files that a program has written with their declared columns."""
    # A fixture called in the repository's folder writes elsewhere; files that appear in this
    # folder may be from a simultaneous build of the guide.
    if Path.cwd() == TOOLS.parent:
        return
    for path in [*Path.cwd().rglob("*.csv"), *Path.cwd().rglob("*.csv.gz")]:
        if path.stat().st_mtime < begin - 0.1:  # time stamps of files are coarser than the clock
            continue
        with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8") as file:
            columns = next(csv.reader(file), [])
        declared = find_csv_file(path.name, columns)
        if declared and declared.program == tool:
            assert unexpected_columns(declared, columns) == [], path


@contextlib.contextmanager
def working_folder(path):
    """Change the working directory until the context ends, for results that several tests read."""
    previous = Path.cwd()
    os.chdir(path)
    try:
        yield Path(path)
    finally:
        os.chdir(previous)


def _text(stream):
    stream.flush()
    return stream.buffer.getvalue().decode("utf-8")


def printed_by(done):
    """Return the standard output; assert exit code 0 and an empty standard error."""
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def assert_success(done):
    """Assert exit code 0, ignoring standard error; return the completed process."""
    assert done.returncode == 0, done.stderr
    return done


def assert_refused(done, *words):
    """Assert exit code 2 and one message that contains the given words; return standard error.

    The usage that argparse prints above the message is ignored.
    """
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    lines = [line for line in done.stderr.splitlines() if not line.startswith(("usage:", " "))]
    assert len(lines) == 1 and lines[0].startswith(f"{done.args[0]}: "), done.stderr
    for word in words:
        assert str(word) in done.stderr
    return done.stderr


def run_as_process(tool, *arguments, environment=None, **options):
    """Run a program as a separate process, with options of subprocess.run."""
    return subprocess.run(
        [sys.executable, str(TOOLS / tool), *map(str, arguments)],
        **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options},
        encoding="utf-8",
        timeout=PATIENCE,
        check=False,
        env={**os.environ, **(environment or {})},
    )
