"""Command-line tools, called as a person would and, many times cheaper, in this process."""

from __future__ import annotations

import contextlib
import io
import os
import runpy
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

from imu_simulation_framework.commands.command_line import run_tool

TOOLS = Path(__file__).resolve().parents[2] / "offline_processing"


@lru_cache(maxsize=None)
def _main(tool):
    return runpy.run_path(str(TOOLS / tool), run_name=tool)["main"]


def call_tool(tool, *arguments):
    """Call a tool's main function in this process.

    Parameters
    ----------
    tool : str
        Name of its file.
    *arguments : object
        What follows it on the command line.

    Returns
    -------
    subprocess.CompletedProcess
        Exit code and texts, as :func:`run_as_process` returns them.
    """
    words = list(map(str, arguments))
    # As a process has them: some tools write bytes.
    output, errors = (io.TextIOWrapper(io.BytesIO(), "utf-8") for _ in range(2))
    before = sys.argv
    sys.argv = [tool, *words]
    try:
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
            code = run_tool(_main(tool), words)
    finally:
        sys.argv = before
    return subprocess.CompletedProcess([tool, *words], code, _text(output), _text(errors))


def succeeded(tool, *arguments):
    """Call a tool that must succeed, and return how it ended."""
    done = call_tool(tool, *arguments)
    assert done.returncode == 0, done.stderr
    return done


def answer(tool, *arguments):
    """Return what a tool prints that must succeed without a remark."""
    done = call_tool(tool, *arguments)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def refusal(tool, *arguments):
    """Return the one sentence with which a tool must refuse a call."""
    done = call_tool(tool, *arguments)
    require_refusal(done)
    return done.stderr


def require_refusal(done, *words):
    """Require that a call has ended with one sentence that has all these words."""
    assert (done.returncode, done.stdout) == (2, "")
    # What is wrong on the command line itself stands below how the program is called.
    usage = ("usage: ", " ")
    sentences = [line for line in done.stderr.splitlines() if not line.startswith(usage)]
    assert len(sentences) == 1, done.stderr
    for word in words:
        assert str(word) in sentences[0]


def _text(stream):
    stream.flush()
    return stream.buffer.getvalue().decode("utf-8")


def run_as_process(tool, *arguments, environment=None, **options):
    """Run a tool as a process of its own; the options are those of subprocess.run."""
    return subprocess.run(
        [sys.executable, str(TOOLS / tool), *map(str, arguments)],
        **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options},
        encoding="utf-8",
        timeout=250,
        check=False,
        env={**os.environ, **(environment or {})},
    )
