"""Command-line tools, called as a person calls them and, many times cheaper, in this process."""

import contextlib
import io
import os
import runpy
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

from patience import PATIENCE

from imu_simulation_framework.core.programs import run_tool

PNG = b"\x89PNG\r\n\x1a\n"
"""First bytes of a PNG picture."""

TOOLS = Path(__file__).resolve().parents[2] / "offline_processing"


@lru_cache(maxsize=None)
def _main(tool):
    return runpy.run_path(str(TOOLS / tool), run_name=tool)["main"]


def call_tool(tool, *arguments):
    """Call a tool's main function in this process; return what its own process would."""
    words = list(map(str, arguments))
    # Some tools write bytes, as to a process's own streams.
    output, errors = (io.TextIOWrapper(io.BytesIO(), "utf-8") for _ in range(2))
    before = sys.argv
    sys.argv = [tool, *words]
    try:
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
            code = run_tool(_main(tool), words)
    finally:
        sys.argv = before
    return subprocess.CompletedProcess([tool, *words], code, _text(output), _text(errors))


@contextlib.contextmanager
def working_folder(path):
    """Work in a folder until the context ends, for results that several tests read."""
    before = Path.cwd()
    os.chdir(path)
    try:
        yield Path(path)
    finally:
        os.chdir(before)


def _text(stream):
    stream.flush()
    return stream.buffer.getvalue().decode("utf-8")


def printed_by(done):
    """Return the standard output of a tool that ended with 0 and left standard error empty."""
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def succeeded(done):
    """Return a call that ended with 0, whatever is on its standard error."""
    assert done.returncode == 0, done.stderr
    return done


def refused(done, *words):
    """Return the standard error of a refused call: one sentence, perhaps below argparse's usage."""
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    lines = [line for line in done.stderr.splitlines() if not line.startswith(("usage:", " "))]
    assert len(lines) == 1 and lines[0].startswith(f"{done.args[0]}: "), done.stderr
    for word in words:
        assert str(word) in done.stderr
    return done.stderr


def run_as_process(tool, *arguments, environment=None, **options):
    """Run a tool as a process of its own; the options are those of subprocess.run."""
    return subprocess.run(
        [sys.executable, str(TOOLS / tool), *map(str, arguments)],
        **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options},
        encoding="utf-8",
        timeout=PATIENCE,
        check=False,
        env={**os.environ, **(environment or {})},
    )
