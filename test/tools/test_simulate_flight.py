"""Tests of the command-line program simulate_flight.py."""

import json
from functools import partial

import numpy as np
import pandas as pd
import pytest
from tool_calls import assert_success, call_tool

import imu_simulation_framework as isf

pytest.importorskip("jsbsim")

run = partial(call_tool, "simulate_flight.py")


@pytest.fixture(scope="module")
def flown(tmp_path_factory):
    folder = tmp_path_factory.mktemp("flown") / "out"
    done = assert_success(
        run("c3104", "--gimbal", "agisim", "--imu", "mti300", "--duration", 22, "--out", folder)
    )
    return folder, done


def test_simulate_flight_writes_and_prints_all_files(flown):
    folder, done = flown
    names = {path.name for path in folder.iterdir()}
    assert names == {
        *("body.csv", "imu_truth.csv", "imu.csv", "increments.csv", "gimbal.csv", "fixes.csv"),
        *("flight.bag", "report.html", "summary.json"),
        *("figure_5.png", "figure_6.png", "figure_7.png"),
        *("figure_8_path.png", "figure_8_errors.png"),
        *("navigation_gimbal_off.csv", "navigation_gimbal_on.csv"),
    }
    for name in names:
        assert str(folder / name) in done.stdout
    assert "lift-off at 16.5" in done.stdout


def test_flight_summary_contains_settings_event_times_and_errors(flown):
    summary = json.loads((flown[0] / "summary.json").read_text())
    settings = summary["settings"]
    assert settings["flight"]["source"] == "JSBSim" and settings["flight"]["rate"] == 50.0
    assert settings["flight"]["start"] == 3.0 and settings["rate"] == 100.0
    assert settings["seed"] == 1 and "sinusoid" in settings["gimbal"]
    assert summary["instants"]["lift-off"] == pytest.approx(16.5, abs=0.1)
    assert not summary["crashed"] and summary["remarks"] == []
    assert set(summary["rmse"]) == {"gimbal off", "gimbal on"}


def test_flight_tables_and_bag_can_be_read_as_recordings(flown):
    folder = flown[0]
    truth = isf.read_flight(folder / "imu_truth.csv").flight.states
    assert len(truth) == 2201
    recorded = isf.read_imu(folder / "flight.bag").table
    assert len(recorded) == len(pd.read_csv(folder / "imu.csv"))


def test_seed_affects_imu_but_not_flight(tmp_path):
    arguments = ("c3104", "--gimbal", "agisim", "--imu", "mti300", "--duration", 6)
    first, again, other = (tmp_path / name for name in ("first", "again", "other"))
    for folder, seed in ((first, 1), (again, 1), (other, 2)):
        assert_success(run(*arguments, "--seed", seed, "--out", folder))
    for name in ("imu.csv", "imu_truth.csv", "flight.bag", "navigation_gimbal_on.csv"):
        assert (again / name).read_bytes() == (first / name).read_bytes(), name
    assert (other / "imu.csv").read_bytes() != (first / "imu.csv").read_bytes()
    assert (other / "imu_truth.csv").read_bytes() == (first / "imu_truth.csv").read_bytes()


def test_flight_table_can_be_input_of_another_flight(flown, tmp_path):
    arguments = ("--gimbal", "agisim", "--imu", "ideal", "--out", tmp_path)
    done = assert_success(run(flown[0] / "body.csv", *arguments))
    assert "requires a specification" in done.stdout
    second, first = (
        pd.read_csv(folder / "imu_truth.csv", index_col="time").to_numpy()
        for folder in (tmp_path, flown[0])
    )
    # The times in the table begin at zero, so the gimbal moves with the same sinusoids as before.
    np.testing.assert_allclose(second[:, 7:10], first[:, 7:10], atol=1e-4)
