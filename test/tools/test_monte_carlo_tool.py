"""Tests of the command-line program monte_carlo.py."""

import gzip
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tool_calls import PNG, call_tool, printed_by

SPECIFICATION = """
name: mine
gyroscope:
  turn_on_bias_sigma: 1.0e-3
"""


@pytest.fixture(autouse=True)
def _specification(_empty_working_directory):
    Path("mine.yaml").write_text(SPECIFICATION)


def drawn(*arguments):
    return printed_by(call_tool("monte_carlo.py", *arguments, "--workers", "1"))


def test_ensemble_with_random_bias_matches_closed_form():
    runs = 2000
    text = drawn(
        "--straight", "60s", "--imu", "mine.yaml", "--runs", runs, "--what", "linear",
        "--within", "5deg", "--standstill", "0",
    )  # fmt: skip
    begin = "straight ahead for 60 s, not zeroed, as after power on, mine (linear): 2000 runs"
    assert text.startswith(f"{begin} of 60 s, seed 1\n")
    # After a time t, the error is t times a bias with a standard deviation of 1e-3 rad/s.
    out = Path("monte_carlo")
    over_time = pd.read_csv(out / "summary.csv")
    last = over_time.iloc[-1]
    sigma = math.degrees(1e-3 * 60.0)
    assert last["time [s]"] == 60.0
    assert abs(last["std [deg]"] / sigma - 1.0) < 4.0 / math.sqrt(2.0 * runs)
    # The standard error of a normal quantile is sqrt(p (1 - p) / n) / density.
    for p, z, density in (
        (2.5, -1.95996, 0.058445),
        (50, 0.0, 0.398942),
        (97.5, 1.95996, 0.058445),
    ):
        error = sigma * math.sqrt(0.01 * p * (1.0 - 0.01 * p) / runs) / density
        assert (
            abs(last[f"{p:g}th percentile [deg]"] - z * sigma) < 4.0 * error + 0.01 * abs(z) * sigma
        )
    with gzip.open(out / "runs.csv.gz", "rt") as file:
        table = pd.read_csv(file)
    assert len(table) == runs and list(table["run"][:3]) == [0, 1, 2]
    curves = np.load(out / "curves.npz")
    assert curves["errors"].shape == (1000, 61)
    np.testing.assert_allclose(
        table["maximum [deg]"][:1000],
        np.degrees(np.max(np.abs(curves["errors"]), axis=1)),
        rtol=1e-6,
    )
    np.testing.assert_allclose(
        table["drift [deg/min]"], table["final [deg]"] / 58.5 * 60.0, rtol=0.02
    )
    assert (out / "ensemble.png").read_bytes().startswith(PNG)
    assert (out / "ensemble.txt").read_text() in text
    share = np.mean(table["maximum [deg]"] <= 5.0)
    assert f"within 5 deg all the time: {100.0 * share:.4g} %" in text


SHORT = ("--straight", "20s", "--imu", "mine.yaml", "--runs", "100", "--standstill", "0")


def test_upper_bound_is_reported_if_no_run_stays_within_limit():
    text = drawn(*SHORT, "--within", "1mdeg")
    assert "all the time: none of 100 runs (at most 3 % inside" in text


def test_repeated_call_writes_same_files_and_recomputes_corrupted_chunk():
    arguments = (*SHORT, "--workers", "1", "--within", "90deg")
    first = call_tool("monte_carlo.py", *arguments)
    assert "all the time: all 100 runs (at most 3 % outside" in first.stdout
    files = {path: path.read_bytes() for path in Path().rglob("*.*") if path.is_file()}
    assert printed_by(call_tool("monte_carlo.py", *arguments)) == first.stdout
    assert all(path.read_bytes() == content for path, content in files.items())
    path = Path("monte_carlo/chunks/runs_000000064.chunk")
    path.write_bytes(path.read_bytes()[:-1])
    again = call_tool("monte_carlo.py", *arguments)
    assert (again.returncode, again.stdout) == (0, first.stdout)
    assert again.stderr.startswith(f"note: {path}: damaged chunk")


def test_ensemble_of_experiments_runs_physics_simulation():
    text = drawn(
        "a", "--imu", "hector", "--runs", "2", "--what", "experiment",
        "--setting", "trajectory/stop=5", "--setting", "terrain/kind=uneven",
    )  # fmt: skip
    assert text.startswith("a, hector (experiment): 2 runs of ")


def test_magnetic_environment_affects_sensor_and_linear_model_equally():
    earth = "earth: [0.0, 20.0e-6, -45.0e-6]\n"
    Path("plain.yaml").write_text(earth)
    dipole = "dipoles: [{position: [5.0, 3.0, 0.0], moment: [2000.0, 0.0, 0.0]}]\n"
    Path("iron.yaml").write_text(earth + dipole)
    means = {}
    for kind in ("sensor", "linear"):
        for place in ("plain.yaml", "iron.yaml"):
            out = f"{kind}_{Path(place).stem}"
            text = drawn(
                "--straight", "20s", *MAGNETIC, "--what", kind,
                "--magnetic-environment", place, "--out", out,
            )  # fmt: skip
            assert f"bno055_magnetometer, magnetometer, {Path(place).stem}" in text
            table = pd.read_csv(f"{out}/summary.csv")
            means[kind, Path(place).stem] = table["mean [deg]"].to_numpy()
    # The difference shows the dipole without noise, because the random numbers are the same.
    turned = [means[kind, "iron"] - means[kind, "plain"] for kind in ("sensor", "linear")]
    assert np.max(np.abs(turned[1])) > 1.0
    np.testing.assert_allclose(turned[0], turned[1], atol=0.2 * np.max(np.abs(turned[1])))


MAGNETIC = ("--imu", "bno055_magnetometer", "--runs", "2", "--heading", "magnetometer")
