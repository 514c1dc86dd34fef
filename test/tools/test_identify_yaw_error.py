"""Tests of the command-line program identify_yaw_error.py."""

import dataclasses
import math
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tool_calls import PNG, assert_refused, call_tool, printed_by
from written_results import make_tables, write_result

from imu_simulation_framework.core.yaml_files import load_plain
from imu_simulation_framework.drive.configuration import load_configuration
from imu_simulation_framework.heading.identification import reliability, report
from imu_simulation_framework.heading.model.parameters import read_yaw_error_model
from imu_simulation_framework.sensors.files import load_imu_specification

FILES = {
    "yaw_error_model.yaml", "imu.yaml", "hector.yaml", "models.csv", "parts.csv",
    "identification.png",
}  # fmt: skip
BIAS, SCALE, WALK, NOISE = 5e-4, 6e-3, 4e-4, 2e-3


@pytest.fixture
def undrawn(monkeypatch):
    """Write empty figures, since drawing takes most of the time of a call."""
    monkeypatch.setattr(report, "render_figure", lambda *_: PNG)


@pytest.fixture(autouse=True)
def _few_draws(monkeypatch):
    """Compute confidence intervals of constant errors from a quarter of the usual samples.

    The interval widths then vary by 2 to 6 % with the seed, instead of 1 to 3 %.
    """
    monkeypatch.setattr(reliability, "_DRAWS", 50)


def tables_of(duration=120.0, seed=1, bias=BIAS):
    """Return tables whose recorded IMU has a known yaw error."""
    tables = make_tables(duration)
    reference, imu = tables.reference.copy(), tables.imu_real.copy()
    generator = np.random.default_rng(seed)
    time = reference.index.to_numpy(dtype=float)
    yaw = 1.5 * np.sin(time / 15.0) + 0.8 * np.sin(time / 7.0)
    at = imu.index.to_numpy(dtype=float)
    true = np.interp(at, time, yaw)
    steps = np.diff(at, prepend=at[0])
    walk = np.cumsum(WALK * np.sqrt(steps) * generator.standard_normal(len(at)))
    imu["yaw"] = true + bias * at + SCALE * (true - true[0]) + walk
    reference["yaw"] = yaw + NOISE * generator.standard_normal(len(time))
    return dataclasses.replace(tables, reference=reference, imu_real=imu, fixes=None)


def identified(*arguments):
    return printed_by(call_tool("identify_yaw_error.py", *arguments))


def test_identified_model_recovers_true_parameters_and_can_be_read_by_programs(tmp_path):
    folder = write_result(tmp_path / "results", tables=tables_of(200.0)).folder
    text = identified(folder, "--out", "found", "--name", "mine", "--report")
    assert {path.name for path in Path("found").iterdir()} == FILES | {"identification.html"}
    entries = load_plain(Path("found/yaw_error_model.yaml").read_text())["parameters"]
    for name, value in (
        ("rate_bias", BIAS), ("scale_factor", SCALE), ("angle_random_walk", WALK),
        ("reference_noise", NOISE),
    ):  # fmt: skip
        # Twice the half-width of a 95 % interval is 4 standard errors.
        entry = entries[name]
        error = value - entry["value"]
        assert -2.0 * (entry["value"] - entry["low"]) < error
        assert error < 2.0 * (entry["high"] - entry["value"])
    assert f"{math.degrees(entries['rate_bias']['value']) * 3600.0:.4g}" in text
    assert "innovations are white" in text and "one drive cannot show" in text

    page = Path("found/identification.html").read_text(encoding="utf-8")
    for words in (
        "<h1>Model of the yaw error: mine</h1>",
        "<h2>Innovations</h2>",
        ">rate bias</td>",
        "one drive cannot show",
        ">whiteness</td>",
    ):
        assert words in page, words

    parameters = read_yaw_error_model("found/yaw_error_model.yaml")
    gyroscope = load_imu_specification("found/imu.yaml").gyroscope
    assert gyroscope.turn_on_bias[2] == pytest.approx(parameters.rate_bias)
    assert gyroscope.scale_factor_and_misalignment[2][2] == pytest.approx(parameters.scale_factor)
    settings = load_plain(Path("found/hector.yaml").read_text())
    hector = load_configuration(overrides=settings).imu_parameters["hector"]
    assert hector["yaw_drift"] == settings["imu_hector"]["yaw_drift"]

    table = pd.read_csv("found/models.csv")
    assert list(table["chosen"].fillna("")).count("yes") == 1
    parts = pd.read_csv("found/parts.csv", index_col=0)
    assert len(parts) == 201 and parts["innovation"].notna().all()
    # Both rms values are about the mean; subtracting fitted constants cannot increase the rms.
    remainder = parts["error"] - parts[["rate bias", "scale factor per net turn"]].sum(axis=1)
    whole, smaller = np.degrees([parts["error"].std(ddof=0), remainder.std(ddof=0)])
    assert smaller < whole
    sentence = f"{whole:.3g} deg rms about its mean, {smaller:.3g} deg without its constants"
    assert sentence in text

    budget = call_tool(
        "heading_budget.py", "--straight", "100s", "--imu", "found/yaw_error_model.yaml",
        "--imu", "found/imu.yaml", "--report", "--standstill", "0",
    )  # fmt: skip
    assert (budget.returncode, budget.stderr) == (0, "")
    assert "its spread over drives is unknown" in budget.stdout
    bands = pd.read_csv("heading_budget/bands.csv").groupby("imu").last()
    assert bands["mean"].to_numpy() == pytest.approx(
        math.degrees(-100.0 * parameters.rate_bias), rel=1e-4
    )


def test_several_drives_are_pooled_and_each_is_predicted_from_remaining_drives(tmp_path):
    paths = [
        write_result(
            tmp_path / "results", drive=f"day {day}", tables=tables_of(40.0, day, bias)
        ).folder
        for day, bias in ((1, 1e-3), (2, -8e-3), (3, 6e-3))
    ]
    text = identified(*paths, paths[0], "--runs", 99, "--report")
    assert "has the same recorded yaw error as" in text and "is omitted" in text
    assert "spread of the rate bias over drives" in text and "one drive cannot show" not in text
    pictures = {path.name for path in Path("identify_yaw_error").glob("*.png")}
    names = [f"identification_{number}" for number in (1, 2, 3)]
    assert pictures == {f"{name}.png" for name in (*names, "predictions")}
    table = pd.read_csv("identify_yaw_error/predictions.csv")
    assert list(table["verdict"]) == ["not rejected"] * 3
    model = load_plain(Path("identify_yaw_error/yaw_error_model.yaml").read_text())
    written = model["predicted_from_others"]
    percentiles = [drive["percentile"] for drive in written["drives"]]
    assert percentiles == pytest.approx(list(table["percentile of final error"]), abs=1e-4)
    assert [drive["drive"] for drive in written["drives"]] == model["drives"]
    assert written["runs"] == 99
    assert 0.0 < model["parameters"]["rate_bias_spread"]["low"] < 1e-2
    assert "3 of 3 final errors are within" in text and "fewer than 4 drives" in text
    page = Path("identify_yaw_error/identification.html").read_text(encoding="utf-8")
    assert "<h2>Each drive, predicted from the others</h2>" in page
    parts = pd.read_csv("identify_yaw_error/parts.csv")
    assert set(parts["drive"]) == {1, 2, 3}


@pytest.mark.usefixtures("undrawn")
def test_yaw_error_of_recording_in_configuration_is_identified():
    tables = tables_of(40.0)
    tables.reference[["x", "y", "yaw"]].to_csv("reference.csv")
    tables.imu_real[["yaw"]].to_csv("imu.csv")
    Path("drive.ini").write_text(
        "[reference]\npath = reference.csv\nformat = csv\n"
        "[imu_recording]\npath = imu.csv\nformat = csv\n"
        "[experiment]\nname = monday\naccept_implausible = true\n"
        "[trajectory]\nto_origin = true\n"
    )
    text = identified("drive.ini")
    assert "monday: 40 s" in text or "monday: 39 s" in text


@pytest.mark.usefixtures("undrawn")
def test_gyroscope_errors_are_identified_although_imu_corrects_its_yaw(tmp_path):
    tables = tables_of(120.0)
    imu = tables.imu_real.copy()
    imu["roll"] = imu["pitch"] = 0.0
    at, yaw = imu.index.to_numpy(dtype=float), imu["yaw"].to_numpy()
    imu["gyro_z"] = np.gradient(yaw, at)
    imu["yaw"] = yaw + np.radians(5.0) * np.sin(at / 30.0)
    folder = write_result(tmp_path / "r", tables=dataclasses.replace(tables, imu_real=imu)).folder
    text = identified(folder, "--of", "gyroscope", "--out", "g")
    assert "the yaw and the integral of the gyroscope differ by 2.5" in text
    bias = load_plain(Path("g/yaw_error_model.yaml").read_text())["parameters"]["rate_bias"]
    assert bias["low"] < BIAS < bias["high"]
    done = call_tool("identify_yaw_error.py", folder, "--out", "y")
    scale, interval = map(float, re.search(r"turns (\S+) \+- (\S+) % ", done.stdout).groups())
    assert done.returncode == 0 and abs(scale - 100.0 * SCALE) < 2.0 * interval < 1.0
    imu = imu.drop(columns="gyro_z")
    other = write_result(tmp_path / "n", tables=dataclasses.replace(tables, imu_real=imu)).folder
    assert_refused(
        call_tool("identify_yaw_error.py", other, "--of", "gyroscope"), "gyroscope was not recorded"
    )


@pytest.mark.usefixtures("undrawn")
def test_rejected_yaw_error_model_causes_exit_code_3(tmp_path):
    tables = tables_of(80.0)
    jumps = tables.imu_real["yaw"].copy()
    for time in np.arange(10.0, 75.0, 6.0):
        jumps[jumps.index > time] += 0.2
    tables.imu_real["yaw"] = jumps
    done = call_tool("identify_yaw_error.py", write_result(tmp_path / "r", tables=tables).folder)
    assert (done.returncode, done.stderr) == (3, "")
    assert "not normal" in done.stdout
    assert "Neither imu.yaml nor hector.yaml is written" in done.stdout
    out = Path("identify_yaw_error")
    assert {path.name for path in out.iterdir()} == FILES - {"imu.yaml", "hector.yaml"}
    assert "reject this model" in read_yaw_error_model(out / "yaw_error_model.yaml").limits[0]
