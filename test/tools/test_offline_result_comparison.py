"""Tests of the command-line program offline_result_comparison.py."""

import json
import shutil
from datetime import datetime
from functools import partial
from pathlib import Path

import pytest
from synthetic_experiment import make_tables
from tool_calls import assert_refused, assert_success, call_tool

from imu_simulation_framework.drive import report
from imu_simulation_framework.drive.configuration import load_configuration
from imu_simulation_framework.drive.figures import FIGURES
from imu_simulation_framework.drive.report import write_results
from imu_simulation_framework.drive.results.files import ResultFolder, create_result_folder
from imu_simulation_framework.drive.summary import RunDescription

TOOL = "offline_result_comparison.py"
run = partial(call_tool, TOOL)


@pytest.fixture(scope="module", autouse=True)
def _few_figures():
    """Reduce the figures of a result to two, because drawing all of them takes seconds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(report, "FIGURES", {name: FIGURES[name] for name in ("imu_yaw", "yaw_error")})
        yield


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """Write the result of an experiment once for all tests of this file."""
    output = tmp_path_factory.mktemp("original")
    folder = create_result_folder(output, "drive", "ideal", datetime(2019, 5, 16, 17, 42))
    description = RunDescription({"seed": 5}, {"wall_time_s": 1.0}, {"imu_simulated": 3001})
    write_results(folder, make_tables(30.0), None, description)
    return folder


@pytest.fixture
def result(original, tmp_path):
    """Return a copy of the result, which the test may change."""
    shutil.copytree(str(original.folder), str(tmp_path / "run"))
    return ResultFolder(tmp_path / "run", original.prefix)


def contents(folder):
    return {path.name: path.read_bytes() for path in Path(folder).iterdir()}


def test_same_settings_reproduce_identical_result_files(result):
    files = contents(result.folder)
    done = assert_success(run(result.folder))
    assert contents(result.folder) == files
    lines = done.stdout.splitlines()
    assert lines[-1] == str(result.folder)
    assert any(line.startswith("real-time factor") and line.endswith("30.0") for line in lines)


def test_missing_summary_and_prepared_files_are_reported(result):
    result.path("summary.json").unlink()
    done = assert_success(run(result.folder))
    assert "config.ini" in done.stderr and "recording.json" in done.stderr
    assert json.loads(result.read_text("summary.json"))["run"] == {"completed": False}


def test_malformed_recording_json_without_summary_is_rejected(result):
    result.path("summary.json").unlink()
    result.write_text("config.ini", load_configuration().to_ini())
    result.write_text("recording.json", "{")
    assert_refused(run(result.folder), result.path("recording.json"), "not valid JSON")


def test_figures_and_summary_for_changed_settings_are_written_to_out_folder(result, tmp_path):
    original = contents(result.folder)
    target = tmp_path / "again" / "wide"
    settings = ("--median-window", 12, "--align", "--max-shift", 0.5, "--zero", "start")
    assert_success(run(result.prefix_path, *settings, "--out", target))
    assert contents(result.folder) == original
    written = contents(target)
    assert {name for name in original if not name.endswith(".csv")} == set(written)
    assert written[f"{result.prefix}_yaw_error.png"] != original[f"{result.prefix}_yaw_error.png"]
    summary = json.loads(written[f"{result.prefix}_summary.json"].decode())
    assert summary["comparison_settings"] == {
        "median_window_s": 12.0,
        "align": True,
        "max_shift_s": 0.5,
        "start_window_s": 3.0,
        "zero": "start",
    }
    assert abs(summary["yaw_error"]["real"]["time_shift_s"]) < 0.05
    assert summary["run"] == {"seed": 5}
    assert summary["messages"]["imu_simulated"]["expected_according_to"] == "simulator"


def test_settings_omitted_in_repeated_call_are_taken_from_summary(result):
    result.path("summary.json").unlink()
    assert_success(run(result.folder, "--align", "--median-window", 3))
    summary = json.loads(result.read_text("summary.json"))
    assert summary["yaw_error"]["simulated"] and summary["comparison_settings"]["align"] is True
    assert_success(run(result.folder, "--no-align"))
    settings = json.loads(result.read_text("summary.json"))["comparison_settings"]
    assert (settings["align"], settings["median_window_s"]) == (False, 3.0)


def test_missing_and_malformed_result_files_are_rejected_naming_the_file(result, tmp_path):
    assert_refused(run(tmp_path / "gone" / "x"), tmp_path / "gone" / "x")
    assert_refused(run(tmp_path), tmp_path)
    assert_refused(run(result.folder, "--median-window", -1), "median_window")
    (tmp_path / "file").write_text("")
    assert_refused(run(result.folder, "--out", tmp_path / "file"), tmp_path / "file")
    assert_refused(run(result.folder, "--windw", 3), "--windw")
    summary, path = result.path("summary.json"), result.path("imu_real.csv")
    whole = summary.read_text()
    for text, words in (("{", "not valid JSON"), ("[" * 10**6, "nested too deeply")):
        summary.write_text(text)
        assert_refused(run(result.folder), summary, words)
    summary.write_text(whole)
    lines = path.read_text().splitlines(keepends=True)
    lines[41] = lines[41].replace("9.81", "9,8l")
    path.write_text("".join(lines))
    assert_refused(run(result.folder), path, "line 42")
    path.unlink()
    result.path("ground_truth.csv").unlink()
    assert_refused(run(result.folder), result.path("ground_truth.csv"))


@pytest.mark.parametrize(
    "key, value, words",
    [
        ("run", {"a": json.loads("[" * 500 + "]" * 500)}, "nested deeper than 30 levels"),
        ("messages", {"x": {"expected_according_to": "simulator", "expected": -1}}, "of x is -1"),
        ("comparison_settings", {"align": 1}, "align is 1"),
        ("execution", {"real_time_factor": "x"}, "real_time_factor is 'x'"),
    ],
)
def test_summary_with_invalid_value_is_rejected_naming_the_key(result, key, value, words):
    summary = json.loads(result.read_text("summary.json"))
    result.path("summary.json").write_text(json.dumps({**summary, key: value}))
    files = contents(result.folder)
    assert_refused(run(result.folder), result.path("summary.json"), words)
    assert contents(result.folder) == files
