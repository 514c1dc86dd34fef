import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from tool_calls import call_tool

from imu_simulation_framework.constants import WORLD_GRAVITY
from imu_simulation_framework.motion.earth.ellipsoid import EARTH_RATE
from imu_simulation_framework.motion.earth.sources import circling

PNG = b"\x89PNG\r\n\x1a\n"
SPECIFICATION = """
name: mine
gyroscope:
  white_noise: 1.0e-3
  turn_on_bias_sigma: 2.0e-4
  scale_factor_and_misalignment: [[0, 0, 0], [0, 0, 0], [0, 0, 0.002]]
"""


@pytest.fixture(autouse=True)
def _own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine.yaml").write_text(SPECIFICATION)


def answered(*arguments):
    done = call_tool("heading_budget.py", *arguments)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def refused(*arguments):
    done = call_tool("heading_budget.py", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    return done.stderr


def test_circles_in_closed_form():
    # 600 s at 1 m/s round 5 m: 120 rad.
    text = answered(
        "--rounds", str(120.0 / (2.0 * math.pi)), "--radius", "5", "--imu", "mine.yaml",
        "--at", "10min", "--within", "10deg",
    )  # fmt: skip

    of_scale = math.degrees(-0.002 * 120.0)
    # The filter, of 3 s, feels the centripetal acceleration and tilts by so much, so that it turns
    # too slowly by the tilt's cosine; test_yaw_error_of_imu.py.
    tilt = 0.2 / WORLD_GRAVITY / math.hypot(1.0, 0.2 * 3.0)
    mean = of_scale + math.degrees(120.0 * (1.0 - math.cos(tilt)))
    std = math.degrees(math.sqrt(1e-6 * 600.0 + (2e-4 * 600.0) ** 2))
    bands = pd.read_csv("heading_budget/bands.csv").iloc[-1]
    assert bands["time"] == 600.0
    # The tilt begins with the acceleration's and settles within some of the filter's time.
    assert bands["mean"] == pytest.approx(mean, abs=5e-3)
    assert bands["std"] == pytest.approx(std, rel=1e-6)
    assert bands["upper_95"] == pytest.approx(bands["mean"] + 1.959964 * std, abs=1e-4)
    budget = pd.read_csv("heading_budget/budget.csv").set_index("source")
    assert budget.loc["scale factor", "mean [deg]"] == pytest.approx(of_scale, abs=1e-4)
    assert budget["share of variance [%]"].sum() == pytest.approx(100.0)
    assert budget.loc["angle random walk", "share of variance [%]"] == pytest.approx(4.0, abs=0.01)
    within = 100.0 * (norm.cdf(10.0, bands["mean"], std) - norm.cdf(-10.0, bands["mean"], std))
    assert f"{within:.3g} %" in text
    assert Path("heading_budget/heading_budget.png").read_bytes().startswith(PNG)


def test_several_imus_on_a_drive():
    text = answered("a", "--imu", "bno055", "--imu", "hector", "--imu", "bno055", "--at", "60")

    assert "drive a: yaw error after 60 s" in text
    assert "note: bno055 holds what a sensor shows at rest" in text
    bands = pd.read_csv("heading_budget/bands.csv")
    assert list(dict.fromkeys(bands["imu"])) == ["bno055 (1)", "hector", "bno055 (2)"]


def test_inflated_noise_is_named():
    answered("--straight", "60", "--imu", "bno055", "--inflate", "10")
    inflated = pd.read_csv("heading_budget/bands.csv").iloc[-1]
    answered("--straight", "60", "--imu", "bno055", "--out", "plain")
    plain = pd.read_csv("plain/bands.csv").iloc[-1]

    assert inflated["imu"] == "bno055_x10"
    assert inflated["std"] == pytest.approx(10.0 * plain["std"], rel=1e-6)


def test_what_a_limit_requires():
    text = answered("--straight", "10min", "--require", "5deg", "--probability", "95%")

    table = pd.read_csv("heading_budget/requirements.csv").set_index("error")
    rate_bias = 5.0 / (1.959964 * 600.0 / 3600.0)
    walk = 5.0 / (1.959964 * math.sqrt(600.0 / 3600.0))
    assert float(table.loc["rate bias", "if alone"]) == pytest.approx(rate_bias, rel=5e-3)
    assert float(table.loc["angle random walk", "if alone"]) == pytest.approx(walk, rel=5e-3)
    assert table.loc["scale factor", "if alone"] == "any"
    assert "To stay within 5 deg after 600 s in 95 % of drives, each error at most:" in text
    assert not Path("heading_budget/heading_budget.png").exists()


def test_a_report_has_bands_causes_and_what_was_asked():
    text = answered(
        "--straight", "10min", "--imu", "bno055", "--imu", "hector", "--require", "2deg", "--report"
    )  # fmt: skip

    assert "heading_budget/heading_budget.html\n" in text
    page = Path("heading_budget/heading_budget.html").read_text(encoding="utf-8")
    for words in (
        "<h2>Yaw error over time</h2>",
        "<h2>Causes</h2>",
        "<p>To stay within 2 deg after 600 s in 95 % of drives, each error at most. Any: this",
        "bno055 holds what a sensor shows at rest",
        "<td>imu/hector/yaw_drift</td><td>0.5</td>",
        "<td>seed</td><td>1</td>",
    ):
        assert words in page, words


def test_a_report_of_requirements_alone_has_no_figure():
    answered("--straight", "10min", "--require", "2deg", "--report")
    page = Path("heading_budget/heading_budget.html").read_text(encoding="utf-8")
    assert "<h1>What a heading requires</h1>" in page
    assert "<script" not in page


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (["a"], "name an IMU"),
        (["--imu", "bno055"], "name one motion: a drive, --straight, --rounds or --flight"),
        (["a", "--straight", "60", "--imu", "bno055"], "named is a and --straight"),
        (["a", "--imu", "bno056"], "there is no such file, nor an IMU of that name"),
        (["a", "--imu", "bno055", "--at", "2h"], "drive a lasts 660 s, so that nothing is known"),
        (["a", "--imu", "bno055", "--at", "soon"], "'soon' is not a time"),
        (["a", "--imu", "bno055", "--within", "0"], "'0' is not above zero"),
        (["a", "--imu", "bno055", "--radius", "3"], "--radius has no meaning"),
        (["a", "--imu", "hector", "--inflate", "3"], "hector is a plug-in"),
        (["a", "--imu", "specification"], "needs a specification"),
        (["a", "--require", "5deg", "--probability", "1.5"], "'1.5' is not between 0 and 1"),
        (["missing.bag", "--imu", "bno055"], "missing.bag"),
        (["x.bag", "--imu", "bno055", "--setting", "topic"], "is not SECTION/KEY=VALUE"),
    ],
)
def test_what_is_refused(arguments, sentence):
    assert sentence in refused(*arguments)


def test_a_seed_below_zero_is_none():
    assert "'-1' is not a whole number" in refused("a", "--imu", "bno055", "--seed=-1")


def test_a_recorded_flight_over_the_turning_earth():
    motion = circling(60.0, latitude=50.0, radius=800.0, speed=60.0, rate=50.0)
    flight = motion.table()
    flight[["roll", "pitch", "yaw"]] = np.degrees(flight[["roll", "pitch", "yaw"]])
    flight = flight.rename(columns={name: f"{name} [deg]" for name in ("roll", "pitch", "yaw")})
    flight.to_csv("flight.csv")
    text = answered("--flight", "flight.csv", "--imu", "mine.yaml")

    assert "flight flight.csv: yaw error after 60 s" in text
    budget = pd.read_csv("heading_budget/budget.csv").set_index("source")
    turning = math.degrees(-EARTH_RATE * math.sin(math.radians(50.0)) * 60.0)
    # And the way turns the vertical: east by 60 m/s is 1e-5 rad/s about north, and back.
    assert budget.loc["Earth's turning", "mean [deg]"] == pytest.approx(turning, abs=0.02)
    assert budget.loc["scale factor", "mean [deg]"] == pytest.approx(
        -0.002 * math.degrees(4.5) * math.cos(math.atan(60.0**2 / 800.0 / 9.81)) ** 2, rel=0.05
    )


def test_a_flight_that_is_none_is_refused():
    assert "nowhere.csv" in refused("--flight", "nowhere.csv", "--imu", "mine.yaml")
    assert "--flight" in refused("--flight", "f.csv", "--straight", "60", "--imu", "mine.yaml")


def test_with_and_without_a_magnetometer_in_a_clean_and_in_a_disturbed_place():
    text = answered(
        "a", "--imu", "bno055_magnetometer", "--at", "60s",
        "--heading", "gyroscope", "rejecting", "--magnetic-environment", "clean", "steel_beam",
    )  # fmt: skip
    budget = pd.read_csv("heading_budget/budget.csv").set_index(["IMU", "source"])
    imus = ["gyroscope", "rejecting, clean", "rejecting, steel_beam"]
    assert list(budget.index.get_level_values(0).unique()) == [
        f"bno055_magnetometer, {name}" for name in imus
    ]
    assert all(name in text for name in imus)
    clean, beam = (
        budget.loc[(f"bno055_magnetometer, rejecting, {place}", "magnetic field"), "mean [deg]"]
        for place in ("clean", "steel_beam")
    )
    assert abs(clean - beam) > 0.1


def test_a_magnetic_heading_is_told_the_declination_of_its_place():
    Path("west.yaml").write_text("earth: [-5.0e-6, 20.0e-6, -45.0e-6]\n")
    answered(
        "--straight", "60s", "--imu", "bno055_magnetometer", "--heading", "magnetometer",
        "--magnetic-environment", "west.yaml",
    )  # fmt: skip
    bands = pd.read_csv("heading_budget/bands.csv")
    assert bands["mean"].abs().max() < 0.01  # and not 14 degrees


def test_a_place_for_no_magnetometer_is_refused():
    text = refused("a", "--imu", "mine.yaml", "--magnetic-environment", "clean")
    assert "no IMU that is named has a magnetometer" in text
    text = refused("a", "--imu", "bno055_magnetometer", "--magnetic-environment", "nowhere")
    assert "nowhere" in text


def test_columns_that_nobody_maps_are_guessed_and_told():
    time = 0.05 * np.arange(621)
    yaw = 0.01 * time
    clock = 100 * np.floor((74940.0 + time) / 60.0) + (74940.0 + time) % 60.0
    table = pd.DataFrame(
        {
            # Looks like the time, and jumps by 40 at each full minute.
            "time": np.rint(1e3 * clock).astype(int),
            "millis": np.rint(1e3 * (1.4e9 + time)).astype(np.int64),
            "x": 100.0 * np.sin(yaw),
            "y": 100.0 * (1.0 - np.cos(yaw)),
            "yaw": yaw,
        }
    )
    table.to_csv("logger.csv", index=False)
    text = answered("logger.csv", "--imu", "mine.yaml", "--at", "30s")
    assert "logger.csv: yaw error after 30 s, in which it turns by 17 deg" in text
    assert "the columns are guessed" in text
    assert "time = millis [ms]" in text
    budget = pd.read_csv("heading_budget/budget.csv").set_index("source")
    walk = math.degrees(1e-3 * math.sqrt(30.0))
    assert budget.loc["angle random walk", "std [deg]"] == pytest.approx(walk, rel=1e-3)
    # What is mapped is not guessed.
    named = ("time=millis [ms]", "x=x", "y=y", "yaw=yaw")
    mapped = [word for name in named for word in ("--setting", f"reference_columns/{name}")]
    assert "guessed" not in answered("logger.csv", "--imu", "mine.yaml", *mapped)
