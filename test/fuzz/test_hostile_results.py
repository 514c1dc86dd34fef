"""Damaged results are evaluated or rejected, and written results are complete."""

from __future__ import annotations

import pytest
import sample_files
from cases import EXPENSIVE, OUT, Case, join_options
from hypothesis import given
from hypothesis import strategies as st
from left_files import Extent
from program_result import Expected
from strategies.files import SPECIALS
from strategies.settings import damaged_settings
from strategies.tables import damaged_tables
from strategies.values import numbers

# Program that reads results -> numeric options.
TOOL_OPTIONS = {
    "offline_result_comparison.py": ("--median-window", "--max-shift", "--start-window"),
    "plot_multiple_errors.py": ("--median-window", "--until"),
    "compare_yaw.py": ("--median-window", "--max-shift", "--start-window"),
    "export_tum.py": (),
}


@st.composite
def evaluations(draw):
    """Generate an evaluation of a result with a damaged file and sometimes a special file."""
    files = {f"run/{file.name}": file.content for file in sample_files.result()}
    summary = next(name for name in files if name.endswith("summary.json"))
    name = draw(st.one_of(st.just(summary), st.sampled_from(sorted(files))))
    damage = [damaged_settings(files[name].decode())]
    if name.endswith(".csv"):
        damage += [damaged_tables(files[name])] * 4
    files[name] = draw(st.one_of(*damage))
    if draw(st.integers(0, 11)) == 0:
        replaced = draw(st.sampled_from(sorted(files)))
        files[replaced] = draw(SPECIALS)
    tool = draw(st.sampled_from(sorted(TOOL_OPTIONS)))
    words, options = ["run", "--out", OUT], []
    for option in TOOL_OPTIONS[tool]:
        if draw(st.integers(0, 9)) == 0:
            # Messages may contain the name of the setting, with underscores instead of hyphens.
            options += [option, option[2:].replace("-", "_")]
            words += [option, draw(numbers()).replace("\0", "")]
    if draw(st.booleans()):
        words.append("--align")
    # Messages about a result contain its folder.
    expected = Expected(names=("run", *options))
    return Case(tool, join_options(words), files, expected)


@given(case=evaluations())
def test_damaged_result_is_evaluated_or_rejected(check_outcome, case):
    assert not check_outcome(case).violations


@st.composite
def readings_at_rest(draw):
    """Generate a call of simulate_static.py."""
    count, rate = draw(st.integers(20, 2000)), draw(st.sampled_from((10, 25, 100)))
    words = ("bno055", "--hours", repr(count / rate / 3600.0), "--rate", f"{rate}")
    words += ("--out", "static.csv", "--format", "csv")
    tables = {"static.csv": Extent(count, (count - 1) / rate)}
    expected = Expected((0,), output=(rf"\({count} samples",), tables=tables)
    return Case("simulate_static.py", words, {}, expected)


@given(case=readings_at_rest())
def test_simulate_static_writes_all_samples(check_outcome, case):
    assert not check_outcome(case).violations


@pytest.mark.thorough
@EXPENSIVE
@given(duration=st.integers(10, 100))
def test_heading_budget_writes_complete_tables(check_outcome, duration):
    tables = {
        f"{OUT}/bands.csv": Extent(last=float(duration)),
        f"{OUT}/budget.csv": Extent(rows=3),
    }
    words = ("--straight", f"{duration}s", "--imu", "bno055", "--out", OUT)
    assert not check_outcome(
        Case("heading_budget.py", words, {}, Expected((0,), tables=tables))
    ).violations


@pytest.mark.thorough
@EXPENSIVE
@given(runs=st.integers(20, 40))
def test_monte_carlo_writes_complete_tables(check_outcome, runs):
    tables = {
        f"{OUT}/runs.csv.gz": Extent(runs, runs - 1.0),
        f"{OUT}/summary.csv": Extent(last=20.0),
        f"{OUT}/spectrum.csv": Extent(last=0.5),
    }
    words = ("--straight", "20s", "--imu", "generic", "--what", "linear", "--workers", "1")
    words += ("--runs", f"{runs}", "--out", OUT)
    assert not check_outcome(
        Case("monte_carlo.py", words, {}, Expected((0,), tables=tables))
    ).violations


@pytest.mark.thorough
@EXPENSIVE
@given(duration=st.sampled_from((2.0, 3.5, 6.0)))
def test_simulate_flight_writes_complete_tables(check_outcome, duration):
    sample_file = sample_files.flight()
    extents = {
        "body": Extent(last=duration),
        "imu": Extent(last=duration),
        "imu_truth": Extent(last=duration),
        "gimbal": Extent(last=duration),
        "increments": Extent(last=duration),
    }
    tables = {f"{OUT}/{name}.csv": extent for name, extent in extents.items()}
    words = (sample_file.name, "--imu", "bno055", "--duration", f"{duration}", "--out", OUT)
    files = {sample_file.name: sample_file.content}
    expected = Expected((0,), tables=tables)
    assert not check_outcome(
        Case("simulate_flight.py", words, files, expected, draws_figures=True)
    ).violations


def result_files() -> dict[str, bytes]:
    """Return result files in the folder ``run``."""
    return {f"run/{file.name}": file.content for file in sample_files.result()}


@given(
    item=st.sampled_from(
        (
            ("compare_yaw.py", {"compare_yaw.csv": Extent(rows=3)}),
            ("plot_multiple_errors.py", {"yaw_errors.csv": Extent(rows=2)}),
            ("offline_result_comparison.py", {}),
            (
                "export_tum.py",
                {"driven.tum": Extent(1201, 12.0), "trajectory.tum": Extent(241, 12.0)},
            ),
        )
    )
)
def test_program_that_reads_results_writes_complete_tables(check_outcome, item):
    tool, extents = item
    tables = {f"{OUT}/{name}": extent for name, extent in extents.items()}
    case = Case(tool, ("run", "--out", OUT), result_files(), Expected((0,), tables=tables))
    assert not check_outcome(case).violations


@pytest.mark.thorough
@EXPENSIVE
@given(sample_file=st.deferred(lambda: st.sampled_from(sample_files.recordings_at_rest())))
def test_allan_analysis_writes_complete_result_table(check_outcome, sample_file):
    # 2000 samples at 25 Hz; the largest averaging time is a fifth of the duration.
    tables = {f"{OUT}/allan_deviation.csv": Extent(20, 16.0)}
    words = (sample_file.name, "--axis", "gyro_z", "--out", OUT, "--quiet")
    files = {sample_file.name: sample_file.content}
    assert not check_outcome(
        Case("allan_analysis.py", words, files, Expected((0, 3), tables=tables))
    ).violations


@EXPENSIVE
@given(laps=st.integers(1, 2))
def test_generate_drive_writes_complete_tables(check_outcome, laps):
    name = f"drive_a_{laps}laps"
    tables = {
        f"{OUT}/{name}_gps.csv.gz": Extent(rows=300 * laps + 1),
        f"{OUT}/{name}_imu.csv.gz": Extent(rows=6000 * laps + 1),
    }
    words = ("a", "--laps", f"{laps}", "--out", OUT)
    assert not check_outcome(
        Case("generate_drive.py", words, {}, Expected((0,), tables=tables))
    ).violations
