"""Tests of the command-line program position_budget.py."""

import math
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from tool_calls import PNG, call_tool

from imu_simulation_framework.commands import command_line

DENSITY, SPEED, DURATION = 1e-3, 1.0, 600.0


@pytest.fixture(autouse=True)
def _undrawn(monkeypatch):
    """Write empty figures, since drawing takes most of the time of a call."""
    monkeypatch.setattr(command_line, "render_figure", lambda *_: PNG)


@pytest.fixture(autouse=True)
def _files(_empty_working_directory):
    Path("mine.yaml").write_text(f"name: mine\ngyroscope: {{white_noise: {DENSITY}}}\n")
    Path("wheels.yaml").write_text("scale_sigma: 0.01\ntrack_ratio_sigma: 0.01\n")


def predict(*options):
    """Return the printed text and the tables of a successful call."""
    call = call_tool("position_budget.py", "--standstill", "0", "-o", "out", *options)
    assert call.returncode == 0, call.stderr
    return call.stdout, pd.read_csv("out/bands.csv"), pd.read_csv("out/budget.csv")


def test_straight_drive_has_error_of_closed_form_along_and_across():
    text, bands, budget = predict(
        "--straight", "10min", "--imu", "mine.yaml", "--odometer", "wheels.yaml", "--within", "2%"
    )
    first = bands[bands["robot"] == "mine, wheels odometer"].iloc[-1]
    across = DENSITY * SPEED * math.sqrt(DURATION**3 / 3.0)
    assert first["time"] == DURATION
    assert first["across_std"] == pytest.approx(across, rel=1e-6)
    assert first["along_std"] == pytest.approx(0.01 * SPEED * DURATION, rel=1e-6)
    assert first["std_y"] == pytest.approx(across, rel=1e-6)
    shares = budget.set_index(["robot", "source"])["share of variance [%]"]
    assert shares["mine, wheels odometer"].sum() == pytest.approx(100.0, abs=0.2)
    assert shares["mine, wheels odometer"].idxmax() == "angle random walk"
    assert "mine, wheels odometer: stays within 12 m for all 600 s" in text
    # An odometer alone has no noise, so a straight drive shows no heading error.
    alone = bands[bands["robot"] == "wheels odometer"].iloc[-1]
    assert alone["across_std"] == 0.0


def test_probability_all_the_time_agrees_with_reflection_principle():
    """Slip along a straight drive is a Wiener process of the distance error."""
    Path("slip.yaml").write_text("slip: 0.02\n")
    options = ("--straight", "100s", "--imu", "ideal.yaml", "--odometer", "slip.yaml")
    Path("ideal.yaml").write_text("name: ideal\n")
    text, bands, _ = predict(*options, "--within", "0.2m")
    std = bands[bands["robot"] == "ideal, slip odometer"]["along_std"].iloc[-1]
    assert std == pytest.approx(0.02 * math.sqrt(0.5 * 100.0), rel=1e-6)
    printed = re.search(r"ideal, slip odometer: .* in ([\d.]+) % of drives; at the end", text)
    # The barrier of a sampled process is shifted (Broadie, Glasserman and Kou, 1997).
    step = bands["time"].iloc[1]
    barrier = 0.2 + 0.5826 * std * math.sqrt(step / 100.0)
    expected = sum(
        (-1.0) ** k
        * (norm.cdf((2 * k + 1) * barrier / std) - norm.cdf((2 * k - 1) * barrier / std))
        for k in range(-20, 21)
    )
    error = math.sqrt(expected * (1.0 - expected) / 4000)
    assert abs(float(printed[1]) / 100.0 - expected) < 4.0 * error + 0.003


def test_regular_fixes_limit_the_error():
    options = ("--straight", "10min", "--imu", "mine.yaml", "--within", "1m", "--corridor", "0.5m")
    _, free, _ = predict(*options)
    text, bands, budget = predict(*options, "--fix", "every 1min to 5cm")
    assert bands["across_std"].iloc[-1] <= 0.05
    assert np.max(bands["across_std"]) < 0.1 * np.max(free["across_std"])
    assert "position fixes" in set(budget["source"])
    assert "across the track it stays within 0.5 m" in text


def test_odometers_of_same_file_name_are_compared():
    for folder, scale in (("a", 0.01), ("b", 0.02)):
        Path(folder).mkdir()
        Path(folder, "wheels.yaml").write_text(f"scale_sigma: {scale}\n")
    odometers = ("--odometer", "a/wheels.yaml", "--odometer", "b/wheels.yaml")
    _, bands, _ = predict("--straight", "10s", *odometers)
    last = bands.groupby("robot", sort=False)["along_std"].last()
    np.testing.assert_allclose(last, [0.1, 0.2], rtol=1e-6)


def test_known_errors_that_fixes_cannot_estimate_are_reported():
    Path("biased.yaml").write_text("name: biased\ngyroscope: {turn_on_bias: 1.0e-4}\n")
    options = ("--straight", "10min", "--imu", "biased.yaml", "--unit", "this")
    text, _, _ = predict(*options, "--fix", "every 1min to 5cm")
    assert "state them as standard deviations" in text
    assert "state them as standard deviations" not in predict(*options)[0]


def test_time_of_short_motion_is_its_end():
    text, bands, _ = predict("--straight", "0.5s", "--imu", "mine.yaml")
    assert "position error after 0.5 s" in text
    assert bands["time"].iloc[-1] == pytest.approx(0.5)


def test_fused_heading_is_another_robot():
    options = ("--rounds", "3", "--imu", "mine.yaml", "--odometer", "wheels.yaml", "--fuse")
    _, bands, _ = predict(*options)
    names = list(dict.fromkeys(bands["robot"]))
    assert names == ["mine, wheels odometer", "mine fused with wheels odometer", "wheels odometer"]


def test_rotation_of_the_earth_shifts_position_as_a_constant_rate():
    options = ("--straight", "10min", "--imu", "mine.yaml", "--within", "1m", "--latitude", "30")
    _, bands, budget = predict(*options)
    rate = 7.292115e-5 * math.sin(math.radians(30.0))
    # On the way east, the local north also turns about the axis of the Earth (transport rate).
    rate += SPEED * math.tan(math.radians(30.0)) / 6.3835e6
    expected = 0.5 * rate * SPEED * DURATION**2
    assert abs(bands["mean_y"].iloc[-1]) == pytest.approx(expected, rel=1e-4)
    assert "Earth's turning" in set(budget["source"])
