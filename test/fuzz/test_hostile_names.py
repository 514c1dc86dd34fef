"""Names that figures, tables and HTML pages could interpret, and forged ensembles."""

from __future__ import annotations

import functools
import hashlib
import io
import tempfile
from pathlib import Path

import numpy as np
import pytest
import sample_files
import targets
import yaml
from cases import EXPENSIVE, OUT, Case
from hypothesis import given
from hypothesis import strategies as st
from program_result import REJECTED, SUCCESS_CODES, Expected
from strategies.files import damaged_bytes
from strategies.settings import damaged_settings

# Names with mathematical notation, spreadsheet formulas, markup or separators.
NAMES = (
    *("$\\frac{", "a$b", "$x$", "$$", "$\\alpha$", "a_{b", "\\textbf{x", "100 % $", "\\", "^_^"),
    *("=1+1", "=cmd|' /C calc'!A0", "@SUM(A1)", "+1+2", "-1+2", "\t=1", "|x", "%s%n", "{0}", "{x}"),
    *("<script>alert(1)</script>", "a&b;", '"><b>', "]]>", "é☃", "_hidden", "a,b", 'a"b', "a;b"),
)

FILE_NAMES = tuple(name.replace("/", "_") for name in NAMES if name[0] not in "-\t_")


@EXPENSIVE
@given(name=st.sampled_from(NAMES), tool=st.sampled_from(("heading_budget.py", "monte_carlo.py")))
def test_unusual_imu_name_is_accepted_or_rejected_in_results(check_outcome, name, tool):
    (sample_file,) = (file for _, file in sample_files.parameters() if file.name == "bno055.yaml")
    content = yaml.safe_dump({**yaml.safe_load(sample_file.content), "name": name}).encode()
    words = ["--straight", "20s", "--imu", "mine.yaml", "--out", OUT, "--report"]
    if tool == "monte_carlo.py":
        words += ["--runs", "20", "--what", "linear", "--workers", "1"]
    # Result file names contain the IMU's name.
    is_rejected = "/" in name or not name.isprintable()
    expected = Expected((REJECTED,), names=("mine.yaml",)) if is_rejected else Expected((0,))
    case = Case(tool, tuple(words), {"mine.yaml": content}, expected, draws_figures=True)
    assert not check_outcome(case).violations


RESULT_TOOLS = ("plot_multiple_errors.py", "offline_result_comparison.py", "report.py")


@pytest.mark.thorough
@EXPENSIVE
@given(name=st.sampled_from(FILE_NAMES), tool=st.sampled_from(RESULT_TOOLS))
def test_unusual_result_name_is_accepted_in_figures(check_outcome, name, tool):
    files = {f"{name}/{file.name}": file.content for file in sample_files.result()}
    out = "report.html" if tool == "report.py" else OUT
    case = Case(tool, (name, "--out", out), files, Expected((0,)), draws_figures=True)
    assert not check_outcome(case).violations


@EXPENSIVE
@given(names=st.lists(st.sampled_from(FILE_NAMES), min_size=1, max_size=2, unique=True))
def test_unusual_recording_name_is_accepted_in_figures(check_outcome, names):
    content = sample_files.recording("drive.bag").content
    files = {f"{name}.bag": content for name in names}
    tool = "check_recording.py" if len(files) == 1 else "compare_yaw.py"
    case = Case(tool, (*files, "--out", OUT), files, Expected(SUCCESS_CODES), draws_figures=True)
    assert not check_outcome(case).violations


ENSEMBLE = ("--straight", "20s", "--imu", "generic", "--what", "linear", "--workers", "1")


@functools.lru_cache(maxsize=None)
def ensemble_files() -> dict[str, bytes]:
    """Return the files of an ensemble of 20 runs, as contents by path."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = [*ENSEMBLE, "--runs", "20", "--out", f"{folder}/{OUT}"]
        assert targets.run_silently(targets.program("monte_carlo.py", arguments)) == 0
        paths = (path for path in sorted(Path(folder).rglob("*")) if path.is_file())
        return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


@st.composite
def forged_chunks(draw, content) -> bytes:
    """Generate an ensemble chunk with damaged or replaced arrays, mostly with a valid checksum."""
    head, _, body = content.partition(b"\n")
    body = draw(st.one_of(damaged_bytes(body), replaced_arrays(body)))
    if draw(st.integers(0, 9)):
        head = head[:-64] + hashlib.sha256(body).hexdigest().encode()
    return head + b"\n" + body


@st.composite
def replaced_arrays(draw, body) -> bytes:
    """Generate an NPZ file in which one array has changed values, shape or type."""
    with np.load(io.BytesIO(body), allow_pickle=False) as file:
        arrays = dict(file)
    name = draw(st.sampled_from(sorted(arrays)))
    array = arrays[name]
    others = (np.full_like(array, 7), array[..., np.newaxis], np.zeros(0), np.array("text"))
    # Object arrays require pickle, which can execute code.
    others += (np.array([{"a": 1}, None], dtype=object),)
    arrays[name] = others[draw(st.integers(0, len(others) - 1))]
    target = io.BytesIO()
    np.savez_compressed(target, **arrays)
    return target.getvalue()


@st.composite
def forged_ensembles(draw):
    """Generate a run that continues an ensemble with a damaged or forged job or chunk."""
    files = dict(ensemble_files())
    (chunk,) = (name for name in files if name.endswith(".chunk"))
    job = f"{OUT}/job.json"
    name = draw(st.sampled_from((job, chunk, chunk)))
    if name == job:
        files[job] = draw(damaged_settings(files[job].decode()))
    else:
        files[chunk] = draw(forged_chunks(files[chunk]))
    expected = Expected(names=(Path(name).name,), changed=tuple(files))
    words = (*ENSEMBLE, "--runs", draw(st.sampled_from(("20", "30"))), "--out", OUT)
    return Case("monte_carlo.py", words, files, expected)


@given(case=forged_ensembles())
def test_forged_ensemble_is_recomputed_or_rejected(check_outcome, case):
    assert not check_outcome(case).violations
