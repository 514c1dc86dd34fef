import math
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from tool_calls import PNG, call_tool, printed_by

from imu_simulation_framework.core.units import STANDARD_GRAVITY, WORLD_GRAVITY
from imu_simulation_framework.motion.earth import EARTH_RATE
from imu_simulation_framework.motion.earth_motion import circling

SPECIFICATION = """
name: mine
gyroscope:
  white_noise: 1.0e-3
  turn_on_bias_sigma: 2.0e-4
  scale_factor_and_misalignment: [[0, 0, 0], [0, 0, 0], [0, 0, 0.002]]
"""


@pytest.fixture(autouse=True)
def _specification(_own_folder):
    Path("mine.yaml").write_text(SPECIFICATION)


AS_SWITCHED_ON = ("--standstill", "0")


def answered(*arguments):
    return printed_by(call_tool("heading_budget.py", *arguments))


def test_circles_in_closed_form():
    # 600 s at 1 m/s round 5 m: 120 rad.
    text = answered(
        "--rounds", str(120.0 / (2.0 * math.pi)), "--radius", "5", "--imu", "mine.yaml",
        "--at", "10min", "--within", "10deg", *AS_SWITCHED_ON,
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

    assert "drive a, zeroed at rest for 10 s: yaw error after 60 s" in text
    assert "note: bno055 holds what a sensor shows at rest" in text
    assert "note: hector: its yaw error is a plug-in's" in text
    bands = pd.read_csv("heading_budget/bands.csv")
    assert list(dict.fromkeys(bands["imu"])) == ["bno055 (1)", "hector", "bno055 (2)"]


def test_what_a_limit_requires():
    text = answered(
        "--straight", "10min", "--require", "5deg", "--probability", "95%", *AS_SWITCHED_ON
    )

    table = pd.read_csv("heading_budget/requirements.csv").set_index("error")
    rate_bias = 5.0 / (1.959964 * 600.0 / 3600.0)
    walk = 5.0 / (1.959964 * math.sqrt(600.0 / 3600.0))
    assert float(table.loc["rate bias", "if alone"]) == pytest.approx(rate_bias, rel=5e-3)
    assert float(table.loc["angle random walk", "if alone"]) == pytest.approx(walk, rel=5e-3)
    assert table.loc["scale factor", "if alone"] == "any"
    column = "with all others, in a data sheet"
    share = float(table.loc["angle random walk", "with all others"])
    sheet = f"noise density {share * math.sqrt(2.0) / 60.0:.2g} deg/s/sqrt(Hz)"
    assert table.loc["angle random walk", column] == sheet
    assert table.loc["scale factor", column] == "any"
    assert "To stay within 5 deg after 600 s in 95 % of drives, each error at most:" in text
    assert not Path("heading_budget/heading_budget.png").exists()


def test_all_requirements_are_standard_deviations():
    answered("--rounds", "10", "--radius", "5", "--require", "5deg", "--at", "300", *AS_SWITCHED_ON)
    table = pd.read_csv("heading_budget/requirements.csv").set_index("error")
    # Of what the filter leans by there is a mean; it takes a little of the limit.
    tilt = 0.2 / WORLD_GRAVITY / math.hypot(1.0, 0.2 * 3.0)
    mean = math.degrees(60.0 * (1.0 - math.cos(tilt)))
    for error, of_one in (
        ("scale factor", math.degrees(60.0)),
        ("rate bias", 300.0 / 3600.0),
        ("g-sensitivity to z", WORLD_GRAVITY / STANDARD_GRAVITY * 300.0 / 3600.0),
        ("temperature bias, 10 K", 10.0 * 300.0 / 3600.0),
    ):
        std = float(table.loc[error, "if alone"]) * of_one
        within = norm.cdf(5.0, mean, std) - norm.cdf(-5.0, mean, std)
        # Three digits: 0.5 % of the size, times 2 z phi(z) of the probability.
        assert within == pytest.approx(0.95, abs=0.005 * 0.23 + 1e-4), error


def test_a_requirement_that_nothing_meets_is_zero():
    answered("--straight", "10min", "--latitude", "60", "--require", "1deg", *AS_SWITCHED_ON)
    table = pd.read_csv("heading_budget/requirements.csv").set_index("error")
    assert float(table.loc["rate bias", "if alone"]) == 0.0


def test_the_earths_turning_by_the_latitude_and_a_note_without():
    Path("good.yaml").write_text("name: good\ngyroscope: {white_noise: 1.0e-6}\n")
    text = answered("--straight", "10min", "--imu", "good.yaml", *AS_SWITCHED_ON)
    adds = math.degrees(EARTH_RATE * 600.0)
    assert f"good: the Earth's turning is left out: it adds -{adds:.3g} deg times the sine" in text
    assert "left out" not in answered(
        "--straight", "10min", "--imu", "good.yaml", "--latitude", "50", *AS_SWITCHED_ON
    )
    budget = pd.read_csv("heading_budget/budget.csv").set_index("source")
    turning = -adds * math.sin(math.radians(50.0))
    # 600 m to the east north turns by 0.006 deg.
    assert budget.loc["Earth's turning", "mean [deg]"] == pytest.approx(turning, abs=0.01)
    # A standstill takes it off, and a sensor whose own drift is far larger has no such note.
    assert "Earth" not in answered("--straight", "10min", "--imu", "good.yaml")
    assert "Earth" not in answered("--straight", "10min", "--imu", "bmi088", *AS_SWITCHED_ON)


def test_a_recording_of_satellite_positions_knows_its_latitude():
    time = np.arange(0.0, 60.0, 0.2)
    east = np.degrees(2.0 * time / (6378137.0 * math.cos(math.radians(-35.0))))
    pd.DataFrame({"time": time, "latitude": -35.0 + 0.0 * time, "longitude": 149.0 + east}).to_csv(
        "gps.csv", index=False
    )
    columns = ("time=time", "latitude=latitude [deg]", "longitude=longitude [deg]")
    mapped = [word for name in columns for word in ("--setting", f"reference_columns/{name}")]
    arguments = ("gps.csv", "--imu", "mine.yaml", "--at", "50s", *mapped, *AS_SWITCHED_ON)
    text = answered(*arguments, "--setting", "reference/format=csv")
    assert "the Earth turns as at the recording's latitude of -35 deg" in text
    budget = pd.read_csv("heading_budget/budget.csv").set_index("source")
    turning = -math.degrees(EARTH_RATE * 50.0) * math.sin(math.radians(-35.0))
    assert budget.loc["Earth's turning", "mean [deg]"] == pytest.approx(turning, abs=2e-3)


def test_the_band_of_the_bias_instability_is_told_set_and_its_effect_shown():
    Path("flicker.yaml").write_text(
        "name: flicker\n"
        "gyroscope: {bias_instability: {value: 10, unit: deg/h, meaning: allan_minimum}}\n"
    )
    arguments = ("--straight", "1h", "--imu", "flicker.yaml", *AS_SWITCHED_ON)
    text = answered(*arguments)
    told = {end: std_of(arguments, end) for end in (1000, 10_000, 100_000)}
    assert list(told.values()) == pytest.approx([10.0, 16.2, 20.7], abs=0.1)
    assert (
        "flicker: its bias instability is flicker noise over averaging times from 0.1 to 10000 s, "
        f"which gives {told[10_000]:.3g} deg std here; it would be {told[1000]:.3g} deg to 1000 s "
        f"and {told[100_000]:.3g} deg to 100000 s (--bias-instability-band)"
    ) in text


def std_of(arguments, end):
    answered(*arguments, "--bias-instability-band", "0.1s", f"{end}s")
    return pd.read_csv("heading_budget/bands.csv")["std"].iloc[-1]


def test_twenty_hours_in_bounded_memory():
    code = (
        # pandas loads it wherever it is installed, 40 MB for nothing.
        "import sys; sys.modules['pyarrow'] = None\n"
        "from pathlib import Path\n"
        "from imu_simulation_framework.commands.heading_budget import main\n"
        "main(['--straight', '20h', '--imu', 'mti300', '--out', 'long'])\n"
        # Not the largest ever, which counts the process before it became this one.
        "print(int(Path('/proc/self/status').read_text().split('VmHWM:')[1].split()[0]) / 1024)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout.split()[-1]) < 500.0
    bands = pd.read_csv("long/bands.csv").set_index("time")
    # As by steps of 10 ms, to which the flicker's shortest process belongs.
    answered("--straight", "50min", "--imu", "mti300")
    short = pd.read_csv("heading_budget/bands.csv").set_index("time")
    assert bands.loc[3000.0, "std"] == pytest.approx(short.loc[3000.0, "std"], rel=1e-9)


def test_a_report_has_bands_causes_and_what_was_asked_and_of_requirements_alone_no_figure():
    wanted = ("--straight", "10min", "--require", "2deg", "--report")
    text = answered(*wanted, "--imu", "bno055", "--imu", "hector")
    assert "heading_budget/heading_budget.html\n" in text
    page = Path("heading_budget/heading_budget.html").read_text(encoding="utf-8")
    for words in (
        "<h2>Yaw error over time</h2>",
        "<h2>Causes</h2>",
        "<p>To stay within 2 deg after 600 s in 95 % of drives, each error at most:</p>",
        "<p>All sizes are standard deviations from sensor to sensor",
        "bno055 holds what a sensor shows at rest",
        "<td>imu/hector/yaw_drift</td><td>0.5</td>",
        "<td>seed</td><td>1</td>",
    ):
        assert words in page, words
    answered(*wanted)
    page = Path("heading_budget/heading_budget.html").read_text(encoding="utf-8")
    assert "<h1>What a heading requires</h1>" in page
    assert "<script" not in page


ODOMETER = "wheel_radius: 0.1\ntrack: 0.5\ntrack_ratio_sigma: 0.01\nslip: 0.002\n"


def test_an_odometer_beside_an_imu():
    Path("wheels.yaml").write_text(ODOMETER)
    text = answered("--straight", "10min", "--imu", "mine.yaml", "--odometer", "wheels.yaml")
    # Both wheels walk by 2 mm in a metre, for 600 m, half a metre apart.
    std = math.degrees(0.002 * math.sqrt(2.0 * 600.0) / 0.5)
    bands = pd.read_csv("heading_budget/bands.csv")
    assert bands[bands["imu"] == "wheels"].iloc[-1]["std"] == pytest.approx(std, rel=1e-6)
    assert "most is wheel slip" in text

    # On circles the track counts each turn by 1 % too much or too little.
    rounds = str(120.0 / (2.0 * math.pi))
    text = answered("--rounds", rounds, "--radius", "5", "--odometer", "wheels.yaml")
    budget = pd.read_csv("heading_budget/budget.csv").set_index("source")
    assert budget.loc["track", "std [deg]"] == pytest.approx(math.degrees(1.2), rel=1e-6)
    assert "most is track; wheels and track calibrated would make it" in text


def test_both_fused():
    """On circles only a scale factor of 0.2 % and a track of 1 % matter, beside one another."""
    Path("wheels.yaml").write_text("track_ratio_sigma: 0.01\nslip: 0.0001\n")
    Path("mine.yaml").write_text(
        "name: mine\nunits: {tolerances: true}\ngyroscope: {white_noise: 1.0e-6, "
        "scale_factor_and_misalignment: {scale_factor: 0.2, unit: '%'}}\n"
    )
    motion = ("--rounds", "100", "--radius", "5", "--odometer", "wheels.yaml", "--report")
    text = answered(*motion, "--imu", "mine.yaml", "--fuse")
    bands = pd.read_csv("heading_budget/bands.csv").groupby("imu").last()
    assert list(bands.index) == ["mine", "mine + wheels", "wheels"]
    turn = 36000.0 * bands["time"].iloc[0] / (1000.0 * math.pi)
    least = turn / math.hypot(1.0 / 0.002, 1.0 / 0.01)
    assert least < bands.loc["mine + wheels", "std"] < 1.02 * least
    assert "note: fused headings are those of the best estimator" in text
    assert "does not know" not in text
    assert "mine + wheels" in Path("heading_budget/heading_budget.html").read_text("utf-8")
    Path("wheels.yaml").write_text("track_ratio: 1.01\nslip: 0.0001\n")
    text = answered(*motion, "--imu", "mine.yaml", "--fuse")
    assert "mine + wheels" in text and "which the estimator does not know" in text


def test_a_recorded_flight_over_the_turning_earth():
    motion = circling(60.0, latitude=50.0, radius=800.0, speed=60.0, rate=50.0)
    flight = motion.table()
    flight[["roll", "pitch", "yaw"]] = np.degrees(flight[["roll", "pitch", "yaw"]])
    flight = flight.rename(columns={name: f"{name} [deg]" for name in ("roll", "pitch", "yaw")})
    flight.to_csv("flight.csv")
    text = answered("--flight", "flight.csv", "--imu", "mine.yaml")

    # What flies did not stand still just before.
    assert "flight flight.csv, as switched on, its offset not taken: yaw error after" in text
    budget = pd.read_csv("heading_budget/budget.csv").set_index("source")
    turning = math.degrees(-EARTH_RATE * math.sin(math.radians(50.0)) * 60.0)
    # And the way turns the vertical: east by 60 m/s is 1e-5 rad/s about north, and back.
    assert budget.loc["Earth's turning", "mean [deg]"] == pytest.approx(turning, abs=0.02)
    assert budget.loc["scale factor", "mean [deg]"] == pytest.approx(
        -0.002 * math.degrees(4.5) * math.cos(math.atan(60.0**2 / 800.0 / 9.81)) ** 2, rel=0.05
    )


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


def test_the_first_lines_say_how_far_how_long_and_what_is_worth_it():
    text = answered("a", "--imu", "mpu6050", "--at", "10min", "--within", "5deg")
    title, sentence = text.splitlines()[:2]
    assert title.startswith("drive a, zeroed at rest for 10 s: yaw error after 600 s")
    assert "mpu6050: within " in sentence and "; 5 deg is passed in 5 % of them within" in sentence
    assert "most is scale factor; scale factor and axes calibrated would make it" in sentence
    budget = pd.read_csv("heading_budget/budget.csv").set_index("source")
    # 1 % is a third of the sheet's maximum; ten rounds.
    assert budget.loc["scale factor", "std [deg]"] == pytest.approx(36.0, rel=1e-2)
    assert budget.loc["scale factor", "differs"] == "between units"
    answered("a", "--imu", "mpu6050", "--at", "10min", "--unit", "this")
    budget = pd.read_csv("heading_budget/budget.csv").set_index("source")
    assert budget.loc["scale factor", "mean [deg]"] == pytest.approx(-36.0, rel=1e-2)
    assert budget.loc["scale factor", "differs"] == "known"


def test_another_part_is_named_with_the_size_that_its_own_line_has():
    stops = ("--stops", "every 2min for 3s")
    text = answered("a", "--imu", "mpu6050", "--imu", "stim300", *stops)
    (own,) = [line for line in text.splitlines() if line.startswith("stim300: ")]
    (size,) = re.findall(r"and (\S+) deg in 95 %", own)
    assert f"another part, stim300, {size} deg (95 %)" in text


def test_a_zeroed_gyroscope_gets_no_sentence_on_a_band_that_changes_nothing():
    text = answered("a", "--imu", "bno055", "--at", "10min")
    assert "bno055_datasheet has what the data sheet states; --inflate makes" in text
    assert "flicker noise" not in text
