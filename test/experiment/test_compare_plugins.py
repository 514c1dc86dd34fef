"""Tests of the command-line program compare_plugins.py with the MuJoCo simulator."""

import shutil
from functools import partial

import numpy as np
import pandas as pd
import pytest
from experiment_process import find_program

from imu_simulation_framework.commands.start import run_program
from imu_simulation_framework.core.programs import run_tool


@pytest.fixture
def compare(tmp_path, capsys, monkeypatch):
    """Return a function that calls the program in this process and returns exit code and output."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        code = run_tool(partial(run_program, "compare_plugins"), [*map(str, arguments)])
        return code, "".join(capsys.readouterr())

    return call


@pytest.fixture(scope="module")
def compared(run_once):
    """Return a function that compares the emulation of a plug-in, at rest, with its error model."""

    def compare_at_rest(imu):
        return run_once(
            f"compared_{imu}",
            *("--simulator", "mujoco", "--minutes", 0.5, "--runs", 40, "--out", "compared"),
            *("--imu", imu),
            program=[find_program("compare_plugins.py")],
        )

    return compare_at_rest


STATISTICS = ("standard deviation", "standard deviation of the innovation", "lag-1 correlation")
BIASES = ("gyroscope bias", "accelerometer bias", "yaw bias")
# Statistics that the comparison of a plug-in must contain.
COMPARED = {
    "hector": {(bias, statistic) for bias in BIASES for statistic in STATISTICS},
    "generic": set(),
}


@pytest.mark.parametrize("imu", ["hector", pytest.param("generic", marks=pytest.mark.thorough)])
def test_emulated_plugin_agrees_with_model(compared, imu):
    ended = compared(imu)
    assert ended.code == 0, ended.output
    table = pd.read_csv(ended.directory / "compared" / "comparison.csv")
    assert set(table["experiment"]) == {f"mujoco, {imu}"}
    assert np.nanmax(table["deviation"].abs()) < 3.0
    assert COMPARED[imu] <= set(zip(table["quantity"], table["statistic"]))
    assert "3001 messages, 0 lost" in ended.output


def test_experiment_with_changed_drift_parameter_is_reported_to_differ_from_model(
    compared, compare, tmp_path
):
    (summary,) = (compared("hector").directory / "compared").glob("hector/*/*/1/*_summary.json")
    result = shutil.copytree(summary.parent, tmp_path / "1")
    text = summary.read_text()
    assert '"yaw_drift": 0.5,' in text
    (result / summary.name).write_text(text.replace('"yaw_drift": 0.5,', '"yaw_drift": 1.0,'))
    code, output = compare("--runs", 20, "--results", result, "--out", "again")
    assert code == 1, output
    assert "yaw bias, standard deviation of the innovation: differs from the model" in output


def test_invalid_duration_of_comparison_is_rejected(compare):
    code, output = compare("--simulator", "mujoco", "--out", "zero", "--minutes", 0)
    assert code == 2
    assert "--minutes: '0'" in output


def test_plugin_comparison_rejects_result_of_moving_robot(recorded_drive, compare):
    folder = recorded_drive.result("some/results").folder
    code, output = compare("--results", folder, "--out", "moved")
    assert code == 2
    assert "the robot moves, but must be stationary" in output
