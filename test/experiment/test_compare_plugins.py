"""The tool compare_plugins.py with the MuJoCo simulator."""

import shutil

import numpy as np
import pandas as pd
import pytest
from experiment_process import find_program


@pytest.fixture
def tool(experiment):
    def call(*arguments):
        return experiment.run(*arguments, program=[find_program("compare_plugins.py")])

    return call


@pytest.fixture(scope="module")
def compared(run_once):
    """Both plug-ins as the MuJoCo simulator emulates them, half a minute at rest."""
    return run_once(
        "compared_plugins",
        *("--simulator", "mujoco", "--minutes", 0.5, "--runs", 40, "--out", "compared"),
        program=[find_program("compare_plugins.py")],
    )


def test_emulated_plugins_agree_with_model(compared):
    assert compared.code == 0, compared.output
    table = pd.read_csv(compared.directory / "compared" / "comparison.csv")
    assert set(table["experiment"]) == {"mujoco, hector", "mujoco, generic"}
    assert np.nanmax(table["deviation"].abs()) < 3.0
    hector = table[table["experiment"] == "mujoco, hector"]
    compared_statistics = set(zip(hector["quantity"], hector["statistic"]))
    for quantity in ("gyroscope bias", "accelerometer bias", "yaw bias"):
        for statistic in (
            "standard deviation",
            "standard deviation of the innovation",
            "lag-1 correlation",
        ):
            assert (quantity, statistic) in compared_statistics
    assert "3001 messages, 0 lost" in compared.output


def test_earlier_experiment_with_other_parameters_contradicts_model(compared, tool, tmp_path):
    (summary,) = (compared.directory / "compared").glob("hector/*/*/1/*_summary.json")
    result = shutil.copytree(summary.parent, tmp_path / "1")
    text = summary.read_text()
    assert '"yaw_drift": 0.5,' in text
    (result / summary.name).write_text(text.replace('"yaw_drift": 0.5,', '"yaw_drift": 1.0,'))
    again = tool("--runs", 20, "--results", result, "--out", "again")
    assert again.code == 1, again.output
    assert "yaw bias, standard deviation of the innovation: more than 3" in again.output


def test_wrong_duration_is_refused(tool):
    refused = tool("--simulator", "mujoco", "--out", "zero", "--minutes", 0)
    assert refused.code == 2
    assert "--minutes: '0' is not above 0 and at most 1440" in refused.output
    assert not refused.has_traceback


def test_result_of_moving_robot_is_refused(recorded_drive, tool):
    folder = recorded_drive.result("some/results").folder
    refused = tool("--results", folder, "--out", "moved")
    assert refused.code == 2
    assert "the robot moves; it must stand still" in refused.output
