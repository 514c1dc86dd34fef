"""The tool compare_plugins.py, with the simulator that is here."""

import numpy as np
import pandas as pd
import pytest
from experiment_process import find_program

pytestmark = pytest.mark.gate


@pytest.fixture(scope="module")
def tool(shared_experiment):
    def call(*arguments):
        return shared_experiment.run(
            *arguments, program=[find_program("compare_plugins.py")], timeout=180.0
        )

    return call


@pytest.fixture(scope="module")
def compared(tool):
    """Both plug-ins as the MuJoCo simulator emulates them, half a minute at rest."""
    return tool("--simulator", "mujoco", "--minutes", 0.5, "--runs", 40, "--out", "compared")


def test_the_emulated_plugins_are_those_of_the_model(compared):
    assert compared.code == 0, compared.output
    table = pd.read_csv(compared.directory / "compared" / "comparison.csv")
    assert set(table["experiment"]) == {"mujoco, hector", "mujoco, generic"}
    assert np.nanmax(table["deviation"].abs()) < 3.0
    hector = table[table["experiment"] == "mujoco, hector"]
    judged = set(zip(hector["quantity"], hector["statistic"]))
    for quantity in ("gyroscope bias", "accelerometer bias", "yaw bias"):
        for statistic in (
            "standard deviation",
            "standard deviation of the innovation",
            "lag-1 correlation",
        ):
            assert (quantity, statistic) in judged
    assert "3001 messages, 0 lost" in compared.output


def test_another_model_contradicts_an_earlier_experiment(compared, tool):
    (summary,) = (compared.directory / "compared").glob("hector/*/*/1/*_summary.json")
    text = summary.read_text()
    assert '"yaw_drift": 0.5,' in text
    summary.write_text(text.replace('"yaw_drift": 0.5,', '"yaw_drift": 1.0,'))
    again = tool("--runs", 20, "--results", summary.parent, "--out", "again")
    assert again.code == 1, again.output
    assert "yaw bias, standard deviation of the innovation: more than 3" in again.output


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--out", "zero", "--minutes", 0), "--minutes: '0' is not above 0 and at most 1440"),
        (("--out", "nothing", "--results", "nowhere"), "nowhere: no result of this name"),
    ],
)
def test_what_cannot_be_compared_is_said(compared, tool, arguments, sentence):
    done = tool("--simulator", "mujoco", "--imu", "hector", *arguments)
    assert done.code == 2
    assert sentence in done.output
    assert not done.has_traceback


def test_a_robot_that_moves_is_refused(experiment):
    driven = experiment.run("record:=true", "settings:={trajectory: {stop: 4.0}}")
    done = experiment.run(
        *("--results", driven.result().folder, "--out", "moved"),
        program=[find_program("compare_plugins.py")],
    )
    assert done.code == 2
    assert "the robot moves; it must stand still" in done.output
