"""Tests of the command-line program plot_multiple_errors.py."""

import dataclasses
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tool_calls import PNG, assert_refused, call_tool
from written_results import make_tables, write_result

from imu_simulation_framework.drive.summary import evaluate


@pytest.fixture(scope="module")
def output(tmp_path_factory):
    """Write results of two drives, the first with three runs of one recording."""
    output = tmp_path_factory.mktemp("output")
    first = make_tables(30.0)
    for seed in (1, 2, 3):
        other = make_tables(30.0, seed)
        comparison = dataclasses.replace(
            first, imu_simulated=other.imu_simulated, ground_truth=other.ground_truth
        )
        write_result(output, "drive_a", seed=seed, tables=comparison)
    write_result(output, "drive_b", seed=7, duration=45.0)
    return output


run = partial(call_tool, "plot_multiple_errors.py")


def shown(*arguments):
    done = run(*arguments)
    assert (done.returncode, done.stderr) == (0, "")
    for name in ("yaw_errors.png", "yaw_errors_psd.png"):
        assert Path("yaw_errors", name).read_bytes().startswith(PNG)
    return pd.read_csv("yaw_errors/yaw_errors.csv"), done.stdout


def test_table_of_results_in_folder_lists_each_recorded_imu_once(output):
    table, _ = shown(output)
    assert list(zip(table["drive"], table["IMU"], table["run"].fillna(0))) == [
        ("drive_a", "recorded IMU", 0),
        ("drive_a", "hector_x", 1),
        ("drive_a", "hector_x", 2),
        ("drive_a", "hector_x", 3),
        ("drive_b", "recorded IMU", 0),
        ("drive_b", "hector_x", 1),
    ]
    assert list(table["seed"].dropna()) == [1, 2, 3, 7]
    summary, _ = evaluate(make_tables(45.0, 7))
    real = summary["yaw_error"]["real"]
    row = table.iloc[4]
    assert row["rms [deg]"] == pytest.approx(np.degrees(real["rms_rad"]), rel=1e-9)
    assert row["max [deg]"] == pytest.approx(np.degrees(real["maximum_absolute_rad"]), rel=1e-9)
    (over,) = (interval for interval in real["over_distance"] if interval["length_m"] == 10.0)
    assert row["over 10 m [deg]"] == pytest.approx(np.degrees(over["rms_rad"]), rel=1e-9)


def test_imu_option_selects_recorded_or_simulated_imus(output):
    table, _ = shown(output, "--imu", "recorded")
    assert list(table["drive"]) == ["drive_a", "drive_b"]
    table, _ = shown(output / "drive_a", "--imu", "simulated")
    assert list(table["run"]) == [1, 2, 3]


def test_runs_of_different_duration_require_until_option(output, tmp_path):
    write_result(tmp_path / "own", "drive_a", seed=1, duration=30.0)
    write_result(tmp_path / "own", "drive_a", seed=2, duration=20.0)
    assert_refused(run(tmp_path / "own"), "the duration is 20.0 s, expected 30.0 s", "--until 20")
    table, _ = shown(tmp_path / "own", "--until", 20)
    assert table["duration [s]"].max() == pytest.approx(20.0, abs=0.03)


def test_plot_of_results_without_recorded_imu_shows_simulated_imu(tmp_path):
    write_result(tmp_path / "own", with_real_imu=False)
    table, printed = shown(tmp_path / "own")
    assert list(table["IMU"]) == ["hector_x"]
    assert "no recorded IMU" in printed
