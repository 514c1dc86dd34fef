"""Tests of the command-line program judge_imu.py."""

import dataclasses
import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from tool_calls import PNG, assert_refused, call_tool, printed_by
from written_results import drive_recordings as drives
from written_results import make_tables, write_result

import imu_simulation_framework as isf
from imu_simulation_framework.drive.ensembles import judgement_files
from imu_simulation_framework.drive.ensembles.drive_judgement import drawings_of_unit
from imu_simulation_framework.drive.observed_drives import read_drive
from imu_simulation_framework.heading.judgement.common_zero import zero_at_start
from imu_simulation_framework.heading.judgement.judge import judge
from imu_simulation_framework.heading.model.parameters import YawErrorParameters
from imu_simulation_framework.recordings.plausibility.findings import NOT_INDEPENDENT

WALK, NOISE = 2e-3, math.radians(0.5)


@pytest.fixture
def undrawn(monkeypatch):
    """Write empty figures, since drawing takes most of the time of a call."""
    monkeypatch.setattr(judgement_files, "render_figure", lambda *_: PNG)


@pytest.fixture(autouse=True)
def _specifications(_empty_working_directory):
    for name, walk in (("right", WALK), ("small", 0.1 * WALK), ("large", 10.0 * WALK)):
        Path(f"{name}.yaml").write_text(f"name: {name}\ngyroscope:\n  white_noise: {walk}\n")
    Path("identified.yaml").write_text(
        "kind: yaw_error_model\nname: mine\ndrives: [monday]\nparameters:\n"
        f"  angle_random_walk: {{value: {WALK}, low: 1.0e-3, high: 3.0e-3}}\n"
        f"  reference_noise: {{value: {NOISE}, low: 5.0e-3, high: 1.0e-2}}\n"
    )


def tables_of(duration=60.0, seed=1, noise=0.0):
    """Return tables with an angle random walk in the IMU yaw and optional reference noise."""
    tables = make_tables(duration)
    reference, imu = tables.reference.copy(), tables.imu_real.copy()
    generator = np.random.default_rng(seed)
    time = tables.trajectory_data.index.to_numpy(dtype=float)
    yaw = np.unwrap(tables.trajectory_data["yaw"].to_numpy(dtype=float))
    at = imu.index.to_numpy(dtype=float)
    steps = np.diff(at, prepend=at[0])
    walk = np.cumsum(WALK * np.sqrt(steps) * generator.standard_normal(len(at)))
    imu["yaw"] = np.interp(at, time, yaw) + walk
    stamps = reference.index.to_numpy(dtype=float)
    reference["yaw"] = np.interp(stamps, time, yaw)
    reference["yaw"] += noise * generator.standard_normal(len(stamps))
    return dataclasses.replace(tables, reference=reference, imu_real=imu, fixes=None)


def result(tmp_path, **options):
    return write_result(tmp_path / "results", tables=tables_of(**options)).folder


def judged(*arguments):
    return printed_by(call_tool("judge_imu.py", *arguments))


def verdicts(folder="judgement"):
    record = json.loads(Path(folder, "judgement.json").read_text())
    return {imu["name"]: imu["verdict"] for imu in record["imus"]}


def test_reference_that_may_depend_on_imu_is_reported_for_recording_and_result(tmp_path, undrawn):
    drives.write_bag("copied.bag", *drives.drive(wander=False))
    tables = make_tables(60.0)
    truth = tables.trajectory_data["yaw"]
    for name in ("reference", "imu_real"):
        table = getattr(tables, name).copy()
        table["yaw"] = np.interp(table.index, truth.index, np.unwrap(truth))
        tables = dataclasses.replace(tables, **{name: table})
    copied = write_result(tmp_path / "results", tables=dataclasses.replace(tables, fixes=None))
    for drive in ("copied.bag", copied.folder):
        assert judged(drive, "--imu", "right.yaml", "--runs", 19).count(NOT_INDEPENDENT) == 1
    assert NOT_INDEPENDENT not in judged(
        result(tmp_path / "noisy"), "--imu", "right.yaml", "--runs", 19
    )


def test_models_with_too_little_or_too_much_noise_are_rejected(tmp_path):
    folder = result(tmp_path)
    text = judged(
        folder, "--imu", "right.yaml", "--imu", "small.yaml", "--imu", "large.yaml",
        "--runs", 399, "--report", "--table", "csv", "markdown",
    )  # fmt: skip
    assert {path.name for path in Path("judgement").iterdir()} == {
        "judgement.csv", "judgement.md", "judgement.json",
        *(f"judgement_{number}.{kind}" for number in (1, 2, 3) for kind in ("png", "html")),
    }  # fmt: skip
    assert verdicts() == {"right": "not rejected", "small": "too little", "large": "too much"}
    assert "A real error like this occurs in none of 399 simulated drives" in text
    assert "not rejected is not proven" in text and "stationary" in text
    assert "small  rejected: too little  0.0025" in text
    assert Path("judgement/judgement_2.png").read_bytes().startswith(PNG)

    table = pd.read_csv("judgement/judgement.csv")
    assert list(table.columns) == [
        "imu", "statistic", "unit", "deviation of the model", "recorded", "median of runs",
        "2.5th percentile of runs", "97.5th percentile of runs", "percentile", "p-value",
        "corrected p-value",
    ]  # fmt: skip
    small = table[table["imu"] == "small"].set_index("statistic")
    assert small.loc["whole curve", "p-value"] == 0.0025
    assert small.loc["rms error", "percentile"] == 100.0
    assert small.loc["rms error", "deviation of the model"] == "too little"
    assert math.isnan(small.loc["whole curve", "percentile"])
    page = Path("judgement/judgement_2.html").read_text(encoding="utf-8")
    for words in (
        "<h2>The recorded error in the ensemble</h2>",
        "<h2>Each test</h2>",
        ">too little</td>",
        "not rejected is not proven",
    ):
        assert words in page, words


@pytest.mark.usefixtures("undrawn")
def test_judge_imu_matches_library_function(tmp_path):
    folder = result(tmp_path)
    judged(folder, "--imu", "right.yaml", "--runs", 200, "--seed", 7)
    assert {path.name for path in Path("judgement").iterdir()} == {
        "judgement.csv", "judgement.json", "judgement.png",
    }  # fmt: skip
    drive = read_drive(str(folder))
    imu = isf.ImuSpecification(name="right", gyroscope=isf.TriadSpecification(white_noise=WALK))
    model = isf.yaw_error_model(imu, drive.motion())
    time = model.time
    expected = judge(
        time,
        zero_at_start(time, drive.observed.error[: len(time)]),
        # The ensemble is stored in single precision.
        zero_at_start(time, model.realisations(200, seed=7).astype(np.float32)),
    )
    tests = json.loads(Path("judgement/judgement.json").read_text())["imus"][0]["tests"]
    assert tests[0]["p_value"] == expected.envelope.p_value
    for test, other in zip(tests[1:], expected.statistics):
        assert (test["p_value"], test["percentile"]) == (other.p_value, other.percentile)
        assert test["rejects"] is False and test["manner"] == ""


@pytest.mark.usefixtures("undrawn")
def test_drives_of_same_imu_are_evaluated_together(tmp_path):
    folders = [
        write_result(tmp_path / str(seed), tables=tables_of(seed=seed)).folder
        for seed in (1, 2, 3, 4)
    ]
    Path("unit.yaml").write_text(
        f"name: unit\ngyroscope:\n  white_noise: {WALK}\n"
        "  scale_factor_and_misalignment: [[0, 0, 0], [0, 0, 0], [0, 0, 0.002]]\n"
        "  turn_on_bias_sigma: 1.0e-5\nunits: {tolerances: true}\n"
    )
    imus = ("--imu", "right.yaml", "--imu", "unit.yaml")
    text = judged(*folders, folders[0], *imus, "--runs", 399)
    assert verdicts() == {"right": "not rejected", "unit": "not rejected"}
    assert "4 drives: recorded yaw errors" in text and "seeds 1 to 4" in text
    assert "of 4 final errors are within the 95 % predicted" in text
    assert "has the same recorded yaw error as" in text and "is omitted" in text
    names = {path.name for path in Path("judgement").iterdir()}
    assert names == {
        "judgement.csv", "judgement.json", "judgement_drives.csv",
        *(f"judgement_{imu}_drives.png" for imu in (1, 2)),
        *(f"judgement_{imu}_drive_{drive}.png" for imu in (1, 2) for drive in (1, 2, 3, 4)),
    }  # fmt: skip
    table = pd.read_csv("judgement/judgement_drives.csv")
    assert list(table["imu"]) == 4 * ["right"] + 4 * ["unit"]
    record = json.loads(Path("judgement/judgement.json").read_text())
    right, _ = record["imus"]
    pit = np.array(right["calibration"]["rms"]["pit"])
    assert right["calibration"]["rms"]["p_value"] == pytest.approx(stats.kstest(pit, "uniform")[1])
    assert [drive["seed"] for drive in record["drives"]] == [1, 2, 3, 4]
    # Each row contains the evaluation of a single drive.
    judged(folders[1], "--imu", "right.yaml", "--runs", 399, "--seed", 2, "--out", "second")
    tests = json.loads(Path("second/judgement.json").read_text())["imus"][0]["tests"]
    rms = next(test for test in tests if test["name"] == "rms error")
    assert pit[1] == pytest.approx(rms["percentile"] / 100.0)
    assert right["drives"][1]["p"] == pytest.approx(tests[0]["p_value"])
    # All drives share the scale factor of the sensor, so their errors are correlated.
    drive = read_drive(str(folders[0]))
    imu = isf.read_imu_specification("unit.yaml")
    model = isf.yaw_error_model(imu, drive.motion())
    first, second = (
        sum(drawing.errors(0, 400) for drawing in drawings_of_unit(model, seed, unit_seed=1))
        for seed in (3, 4)
    )
    together = np.corrcoef(first[:, -1], second[:, -1])[0, 1]
    turned = drive.observed.net_turn[-1]
    expected = (0.002 * turned) ** 2 / np.var(first[:, -1])
    assert 0.2 < expected < 0.8
    assert together == pytest.approx(expected, abs=4.0 / np.sqrt(400.0))
    # All drives also share the unknown mean bias of an identified model, whereas the spread of the
    # bias is independent for each drive.
    known = {"rate_bias_uncertainty": 3e-4, "rate_bias_spread": 2e-4}
    parameters = YawErrorParameters(**known, rate_bias_spread_uncertainty=1e-4)
    model = isf.yaw_error_model(parameters, drive.motion())
    first, second = (
        sum(drawing.errors(0, 400) for drawing in drawings_of_unit(model, seed, unit_seed=1))
        for seed in (3, 4)
    )
    together = np.corrcoef(first[:, -1], second[:, -1])[0, 1]
    assert together == pytest.approx(9.0 / (9.0 + 4.0 + 1.0), abs=4.0 / np.sqrt(400.0))


@pytest.mark.usefixtures("undrawn")
def test_ensemble_of_complete_sensor_simulations_rejects_same_model(tmp_path):
    folder = result(tmp_path, duration=40.0)
    judged(
        folder, "--imu", "right.yaml", "--imu", "small.yaml", "--runs", 199, "--what", "sensor",
        "--workers", 1,
    )  # fmt: skip
    assert verdicts() == {"right": "not rejected", "small": "too little"}


@pytest.mark.usefixtures("undrawn")
def test_known_reference_noise_is_not_attributed_to_imu(tmp_path):
    folder = result(tmp_path, noise=NOISE, duration=120.0)
    text = judged(folder, "--imu", "right.yaml", "--imu", "identified.yaml", "--runs", 399)
    # An identified model already includes the reference noise of the drive.
    assert verdicts() == {"right": "too little", "identified": "not rejected"}
    assert "attributed to the IMU" in text and "better than other drives" in text
    known = ("--imu", "right.yaml", "--runs", 399, "--reference-noise")
    text = judged(folder, *known, "0.5deg")
    assert verdicts() == {"right": "not rejected"} and "attributed to the IMU" not in text
    judged(folder, *known, "identified.yaml")
    assert verdicts() == {"right": "not rejected"}


def test_judge_imu_rejects_output_that_would_overwrite_its_input(tmp_path):
    folder = result(tmp_path)
    Path("judgement").mkdir()
    Path("judgement/judgement.json").write_text(Path("right.yaml").read_text())
    arguments = (folder, "--imu", "judgement/judgement.json", "--runs", "199")
    assert_refused(call_tool("judge_imu.py", *arguments), "judgement.json")
