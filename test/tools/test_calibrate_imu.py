"""The tool calibrate_imu.py, as a person calls it."""

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tool_calls import call_tool

from imu_simulation_framework.columns import ACCEL, GYRO, MAG
from imu_simulation_framework.configuration.imu_correction_file import read_imu_correction
from imu_simulation_framework.configuration.imu_specification_file import load_imu_specification

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "unit" / "identification"))
from calibration_records import magnetic_record, table_record

TOOL = "calibrate_imu.py"


@pytest.fixture(scope="module")
def recordings(tmp_path_factory):
    """A folder with table.csv and mag.csv, and what they hold."""
    folder = tmp_path_factory.mktemp("recordings")
    sensor, times, values = table_record(5, rest=15.0, turns=3)
    index = pd.Index(times, name="time")
    pd.DataFrame(values, columns=[*GYRO, *ACCEL], index=index).to_csv(folder / "table.csv")
    times, readings, hard, _ = magnetic_record(2)
    index = pd.Index(times, name="time")
    pd.DataFrame(readings, columns=MAG, index=index).to_csv(folder / "mag.csv")
    pd.DataFrame(readings * [1, 1, 0], columns=MAG, index=index).to_csv(folder / "flat.csv")
    readings[10, 1] = np.nan
    pd.DataFrame(readings, columns=MAG, index=index).to_csv(folder / "nan.csv")
    return folder, sensor, hard


def test_positions_turns_and_iron_in_one_correction(recordings, tmp_path):
    folder, sensor, hard = recordings
    out = tmp_path / "out"
    options = ("--six-positions", "--turns", 3, "--gravity", 9.81, "--noise", "bno055")
    done = call_tool(TOOL, folder / "table.csv", *options, "--out", out, "--name", "mine")
    assert done.returncode == 0, done.stderr
    assert "at rest for" in done.stdout and "gyroscope scale factor z" in done.stdout
    assert (out / "calibration.png").stat().st_size > 10_000
    again = tmp_path / "again"
    done = call_tool(
        TOOL, folder / "mag.csv", "--magnetometer", "--onto", out / "correction.yaml",
        "--out", again,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    correction = read_imu_correction(again / "correction.yaml")
    assert correction.gyroscope == read_imu_correction(out / "correction.yaml").gyroscope
    assert np.allclose(correction.gyroscope.bias, sensor.gyroscope.turn_on_bias, atol=1e-3)
    assert np.allclose(correction.accelerometer.bias, sensor.accelerometer.turn_on_bias, atol=0.02)
    assert np.allclose(correction.magnetometer.bias, hard, atol=1e-6)
    numbers = json.loads((out / "calibration.json").read_text())
    assert len(numbers["turns"]) == 6 and len(numbers["found"]) == 24
    # What is left is a specification, which the budget takes.
    left = load_imu_specification(out / "imu.yaml")
    assert left.name == "mine"
    assert max(left.gyroscope.turn_on_bias_sigma) < 1e-4
    budget = ("--straight", "1min", "--imu", out / "imu.yaml", "--out", tmp_path / "budget")
    assert call_tool("heading_budget.py", *budget).returncode == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("table.csv", "--turns"), "or give a reference"),
        (("table.csv", "--turns", "ten"), "--turns 'ten' is not understood"),
        (("table.csv", "--turns", "w=3"), "axes are x, y and z"),
        (("table.csv", "--turns", "-3"), "a number above 0"),
        (("table.csv", "--turns", "50"), "no movement from rest to rest"),
        (("table.csv", "--shortest-rest", "100"), "never at rest for 100 s"),
        (("table.csv", "--gravity", "nan"), "--gravity is nan"),
        (("table.csv", "--temperature"), "temperature"),
        (("table.csv", "--magnetometer"), "mag_x mag_y mag_z"),
        (("flat.csv", "--magnetometer"), "does not span all directions"),
        (("nan.csv", "--magnetometer"), "line 12 holds a value of the magnetometer that is not"),
        (("table.csv", "--onto", "none.yaml"), "none.yaml"),
        (("none.csv",), "none.csv"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence_with_exit_code_2(
    recordings, tmp_path, arguments, words
):
    out = tmp_path / "out"
    done = call_tool(TOOL, recordings[0] / arguments[0], *arguments[1:], "--out", out)
    assert done.returncode == 2
    assert words in done.stderr and len(done.stderr.strip().splitlines()) == 1
    assert not out.exists()
