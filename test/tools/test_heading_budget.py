"""Tests of the command-line program heading_budget.py."""

import math
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from patience import PATIENCE
from scipy.stats import norm
from tool_calls import PNG, call_tool, printed_by, working_folder

import imu_simulation_framework as isf
from imu_simulation_framework.commands import command_line, imu_options
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
GOOD = "name: good\ngyroscope: {white_noise: 1.0e-6}\n"
NO_STANDSTILL = ("--standstill", "0")
EARTH_TURN = math.degrees(EARTH_RATE * 60.0)
"""Angle through which the Earth rotates in one minute [deg]."""


@pytest.fixture(autouse=True)
def _undrawn(monkeypatch):
    """Write empty figures, since drawing takes most of the time of a call."""
    monkeypatch.setattr(command_line, "render_figure", lambda *_: PNG)


@pytest.fixture(scope="module", autouse=True)
def _catalogue_read_once():
    """Read the catalogue only once, because each call uses it to recommend a better part."""
    parts = imu_options.bundled_parts()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(imu_options, "bundled_parts", lambda: dict(parts))
        yield


@pytest.fixture(autouse=True)
def _specification(_empty_working_directory):
    Path("mine.yaml").write_text(SPECIFICATION)


class Answer(NamedTuple):
    """Output of a call of heading_budget.py, and access to the tables that it wrote."""

    text: str
    folder: Path

    def table(self, name, index):
        return pd.read_csv(self.folder / f"{name}.csv").set_index(index)

    def line(self, beginning):
        """Return the only line of the output that begins with the given text."""
        (line,) = [line for line in self.text.splitlines() if line.startswith(beginning)]
        return line

    @property
    def page(self):
        return (self.folder / "heading_budget.html").read_text(encoding="utf-8")


def answered(*arguments):
    text = printed_by(call_tool("heading_budget.py", *arguments))
    return Answer(text, Path("heading_budget").resolve())


@pytest.fixture(scope="module")
def circles(tmp_path_factory):
    """Compute the budget of circles with a radius of 5 m, 600 s at 1 m/s: a turn of 120 rad."""
    with working_folder(tmp_path_factory.mktemp("circles")):
        Path("mine.yaml").write_text(SPECIFICATION)
        return answered(
            "--rounds", str(120.0 / (2.0 * math.pi)), "--radius", "5", "--imu", "mine.yaml",
            "--at", "10min", "--within", "10deg", "--require", "5deg", *NO_STANDSTILL,
        )  # fmt: skip


# Because of the centripetal acceleration, the orientation from the filter with a 3 s time constant
# is tilted, and its yaw rate is too low by the cosine of the tilt; see test_yaw_error_of_imu.py.
TILT = 0.2 / WORLD_GRAVITY / math.hypot(1.0, 0.2 * 3.0)
TILT_MEAN = math.degrees(120.0 * (1.0 - math.cos(TILT)))


def test_budget_of_circles_matches_closed_form(circles):
    scale_factor_error = math.degrees(-0.002 * 120.0)
    mean = scale_factor_error + TILT_MEAN
    std = math.degrees(math.sqrt(1e-6 * 600.0 + (2e-4 * 600.0) ** 2))
    bands = circles.table("bands", "time")
    assert bands.index[-1] == 600.0
    bands = bands.iloc[-1]
    # The initial tilt is that of the specific force; it settles within a few time constants.
    assert bands["mean"] == pytest.approx(mean, abs=5e-3)
    assert bands["std"] == pytest.approx(std, rel=1e-6)
    assert bands["upper_95"] == pytest.approx(bands["mean"] + 1.959964 * std, abs=1e-4)
    budget = circles.table("budget", "source")
    assert budget.loc["scale factor", "mean [deg]"] == pytest.approx(scale_factor_error, abs=1e-4)
    assert budget["share of variance [%]"].sum() == pytest.approx(100.0)
    assert budget.loc["angle random walk", "share of variance [%]"] == pytest.approx(4.0, abs=0.01)
    within = 100.0 * (norm.cdf(10.0, bands["mean"], std) - norm.cdf(-10.0, bands["mean"], std))
    assert f"{within:.3g} %" in circles.text
    assert (circles.folder / "heading_budget.png").read_bytes().startswith(PNG)


def test_requirements_on_circles_are_stated_as_standard_deviations(circles):
    table = circles.table("requirements", "error source")
    for error, size in (
        ("scale factor", math.degrees(120.0)),
        ("rate bias", 600.0 / 3600.0),
        ("g-sensitivity to z", WORLD_GRAVITY / STANDARD_GRAVITY * 600.0 / 3600.0),
        ("temperature bias, 10 K", 10.0 * 600.0 / 3600.0),
    ):
        std = float(table.loc[error, "maximum alone"]) * size
        within = norm.cdf(5.0, TILT_MEAN, std) - norm.cdf(-5.0, TILT_MEAN, std)
        # Rounding sigma to three digits changes it by up to 0.5 %, and the probability by this
        # fraction of 2 z phi(z).
        assert within == pytest.approx(0.95, abs=0.005 * 0.23 + 1e-4), error


def test_requirements_without_imu_are_printed_in_data_sheet_units():
    answer = answered(
        "--straight", "10min", "--require", "5deg", "--probability", "95%", "--report",
        *NO_STANDSTILL,
    )  # fmt: skip
    table = answer.table("requirements", "error source")
    rate_bias = 5.0 / (1.959964 * 600.0 / 3600.0)
    walk = 5.0 / (1.959964 * math.sqrt(600.0 / 3600.0))
    assert float(table.loc["rate bias", "maximum alone"]) == pytest.approx(rate_bias, rel=5e-3)
    assert float(table.loc["angle random walk", "maximum alone"]) == pytest.approx(walk, rel=5e-3)
    assert table.loc["scale factor", "maximum alone"] == "any"
    column = "data sheet value with equal shares"
    share = float(table.loc["angle random walk", "maximum with equal shares"])
    sheet = f"noise density {share * math.sqrt(2.0) / 60.0:.2g} deg/s/sqrt(Hz)"
    assert table.loc["angle random walk", column] == sheet
    assert table.loc["scale factor", column] == "any"
    sentence = "To stay within 5 deg after 600 s in 95 % of drives, each error must be at most:"
    assert sentence in answer.text
    assert "<h1>Requirements on a gyroscope</h1>" in answer.page
    assert "<script" not in answer.page
    assert not (answer.folder / "heading_budget.png").exists()


@pytest.fixture(scope="module")
def comparison(tmp_path_factory):
    """Compare several IMUs over a turn of 31 rad in 62 s, with a requirement and a report."""
    imus = ("bno055", "hector", "bno055", "mpu6050")
    with working_folder(tmp_path_factory.mktemp("comparison")):
        return answered(
            "--rounds", "5", "--radius", "2", *(word for imu in imus for word in ("--imu", imu)),
            "--within", "5deg", "--require", "2deg", "--report",
        )  # fmt: skip


def test_imus_with_same_name_are_numbered(comparison):
    bands = pd.read_csv(comparison.folder / "bands.csv")
    assert list(dict.fromkeys(bands["imu"])) == ["bno055 (1)", "hector", "bno055 (2)", "mpu6050"]


def test_each_note_begins_with_name_of_imu(comparison):
    assert "note: bno055 has only stationary errors" in comparison.text
    assert "note: hector: its yaw error comes from a plug-in" in comparison.text
    assert "bno055_datasheet contains the values of the data sheet; increase" in comparison.text
    # The frequency band of the bias instability is not mentioned where it has no effect.
    notes = [line for line in comparison.text.splitlines() if line.startswith("note: bno055")]
    assert notes and not any("flicker noise" in note for note in notes)


def test_budget_summary_states_error_time_and_most_useful_calibration(comparison):
    title = comparison.text.splitlines()[0]
    assert ", zeroed at rest for 10 s: yaw error after 62 s" in title
    sentence = comparison.line("mpu6050: stays within 5 deg for all 62 s in ")
    assert "; 5 deg is exceeded in 5 % of them within" in sentence
    assert "the largest source is scale factor; " in sentence
    assert " % of the variance is from the data sheet; scale factor and axes calibrated" in sentence
    budget = comparison.table("budget", ["IMU", "source"]).loc["mpu6050"]
    # The scale factor error has a standard deviation of 1 %, a third of the data sheet's maximum.
    std = budget.loc["scale factor", "std [deg]"]
    assert std == pytest.approx(math.degrees(0.31), rel=1e-2)
    assert budget.loc["scale factor", "differs"] == "between units"


def test_report_contains_yaw_error_bands_causes_requirements_and_settings(comparison):
    assert "heading_budget/heading_budget.html\n" in comparison.text
    for words in (
        "<h2>Yaw error over time</h2>",
        "<h2>Causes</h2>",
        "<p>To stay within 2 deg after 62 s in 95 % of drives, each error must be at most:</p>",
        "<p>All values are standard deviations over sensors",
        "bno055 has only stationary errors",
        "<td>imu/hector/yaw_drift</td><td>0.5</td>",
        "<td>seed</td><td>1</td>",
    ):
        assert words in comparison.page, words


def test_scale_factor_of_individual_sensor_is_listed_as_known():
    answer = answered("a", "--imu", "mpu6050", "--at", "60s", "--unit", "this")
    title = "drive a, zeroed at rest for 10 s: yaw error after 60 s"
    assert answer.text.startswith(title)
    budget = answer.table("budget", "source")
    # The drive contains one full turn.
    assert budget.loc["scale factor", "mean [deg]"] == pytest.approx(-3.6, rel=1e-2)
    assert budget.loc["scale factor", "differs"] == "known"


def test_recommended_part_is_listed_with_its_95_percent_error():
    answer = answered(
        "--rounds", "1", "--radius", "5", "--stops", "every 10s for 2s", "--within", "1deg",
        "--imu", "mpu6050", "--imu", "stim300",
    )  # fmt: skip
    (size,) = re.findall(r"and (\S+) deg in 95 %", answer.line("stim300: "))
    assert f"another part, stim300, {size} deg (95 %)" in answer.text


def test_omitted_earth_rotation_is_noted_only_for_accurate_gyroscopes():
    Path("good.yaml").write_text(GOOD)
    text = answered(
        "--straight", "1min", "--imu", "good.yaml", "--imu", "bmi088", *NO_STANDSTILL
    ).text
    note = f"good: the Earth's rotation is omitted: it adds -{EARTH_TURN:.3g} deg times the sine"
    assert note in text
    # The drift of the other IMU is far larger than the effect of the Earth's rotation.
    assert text.count("Earth") == 1


def test_earth_rotation_at_latitude_is_error_source():
    Path("good.yaml").write_text(GOOD)
    answer = answered(
        "--straight", "1min", "--imu", "good.yaml", "--latitude", "50", "--require", "0.1deg",
        *NO_STANDSTILL,
    )  # fmt: skip
    assert "rotation is omitted" not in answer.text
    turning = -EARTH_TURN * math.sin(math.radians(50.0))
    # Over 60 m to the east, the direction of north changes by 0.0006 deg.
    mean = answer.table("budget", "source").loc["Earth's turning", "mean [deg]"]
    assert mean == pytest.approx(turning, abs=0.001) and abs(mean) > 0.1
    assert (
        float(answer.table("requirements", "error source").loc["rate bias", "maximum alone"]) == 0.0
    )


def test_latitude_is_taken_from_recorded_fixes():
    time = np.arange(0.0, 60.0, 0.2)
    east = np.degrees(2.0 * time / (6378137.0 * math.cos(math.radians(-35.0))))
    pd.DataFrame({"time": time, "latitude": -35.0 + 0.0 * time, "longitude": 149.0 + east}).to_csv(
        "gps.csv", index=False
    )
    columns = ("time=time", "latitude=latitude [deg]", "longitude=longitude [deg]")
    mapped = [word for name in columns for word in ("--setting", f"reference_columns/{name}")]
    arguments = ("gps.csv", "--imu", "mine.yaml", "--at", "50s", *mapped, *NO_STANDSTILL)
    answer = answered(*arguments, "--setting", "reference/format=csv")
    assert "taken at the latitude of the recording, -35 deg" in answer.text
    turning = -math.degrees(EARTH_RATE * 50.0) * math.sin(math.radians(-35.0))
    mean = answer.table("budget", "source").loc["Earth's turning", "mean [deg]"]
    assert mean == pytest.approx(turning, abs=2e-3)


def test_bias_instability_band_is_noted_and_can_be_set():
    Path("flicker.yaml").write_text(
        "name: flicker\n"
        "gyroscope: {bias_instability: {value: 10, unit: deg/h, meaning: allan_minimum}}\n"
    )
    arguments = ("--straight", "10min", "--imu", "flicker.yaml", *NO_STANDSTILL)
    note = answered(*arguments).line("note: flicker: its bias instability is flicker noise")
    size = r"(\S+) deg"
    sizes = re.search(
        r"over averaging times from 0\.1 to 10000 s, "
        rf"which causes {size} std here; it would be {size} to 1000 s "
        rf"and {size} to 100000 s \(--bias-instability-band\)",
        note,
    )
    assert sizes.groups() == ("3.3", "2.51", "3.94")
    bands = answered(*arguments, "--bias-instability-band", "0.1s", "1000s").table("bands", "time")
    assert f"{bands['std'].iloc[-1]:.3g}" == sizes[2]


@pytest.mark.thorough
def test_budget_of_twenty_hours_requires_at_most_500_megabytes():
    code = (
        # pandas would load pyarrow wherever it is installed, which occupies 40 MB.
        "import sys; sys.modules['pyarrow'] = None\n"
        "from pathlib import Path\n"
        "from imu_simulation_framework.commands.start import run_program\n"
        "run_program('heading_budget', ['--straight', '20h', '--imu', 'mti300', '--out', 'long'])\n"
        # VmHWM is used, because ru_maxrss would include the process before exec.
        "print(int(Path('/proc/self/status').read_text().split('VmHWM:')[1].split()[0]) / 1024)\n"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout.split()[-1]) < 500.0
    bands = pd.read_csv("long/bands.csv").set_index("time")
    # The shortest time constant of the flicker noise model depends on the sampling period, 10 ms.
    model = isf.yaw_error_model(
        isf.read_part("mti300"), isf.straight(3000.0, rate=1.0), 1.0, sample=0.01,
        operation=isf.Operation(),
    )  # fmt: skip
    expected = np.degrees(model.bands()["std"].iloc[-1])
    assert bands.loc[3000.0, "std"] == pytest.approx(expected, rel=1e-9)


ODOMETER = "wheel_radius: 0.1\ntrack: 0.5\ntrack_ratio_sigma: 0.01\nslip: 0.002\n"


def test_odometer_slip_grows_with_distance_in_combined_budget():
    Path("wheels.yaml").write_text(ODOMETER)
    Path("good.yaml").write_text(GOOD)
    answer = answered("--straight", "2min", "--imu", "good.yaml", "--odometer", "wheels.yaml")
    # Both wheels slip by 2 mm/sqrt(m) over 120 m, at a track of 0.5 m.
    std = math.degrees(0.002 * math.sqrt(2.0 * 120.0) / 0.5)
    bands = answer.table("bands", "imu")
    assert bands.loc["wheels"].iloc[-1]["std"] == pytest.approx(std, rel=1e-6)
    assert "the largest source is wheel slip" in answer.text
    # The gyroscope bias measured at standstill includes the Earth's rotation.
    assert "Earth" not in answer.text


def test_yaw_error_due_to_odometer_track_is_proportional_to_turn():
    Path("wheels.yaml").write_text(ODOMETER)
    rounds = str(120.0 / (2.0 * math.pi))
    answer = answered("--rounds", rounds, "--radius", "5", "--odometer", "wheels.yaml")
    # A track error of 1 % changes each turn by 1 %.
    budget = answer.table("budget", "source")
    assert budget.loc["track", "std [deg]"] == pytest.approx(math.degrees(1.2), rel=1e-6)
    assert "the largest source is track; wheels and track calibrated would make it" in answer.text


def test_fused_heading_on_circles_weights_scale_factor_and_track_errors():
    """Only the scale factor error of 0.2 % and the track error of 1 % have an effect on circles."""
    Path("wheels.yaml").write_text("track_ratio_sigma: 0.01\nslip: 0.0001\n")
    Path("uneven.yaml").write_text("track_ratio: 1.01\nslip: 0.0001\n")
    Path("mine.yaml").write_text(
        "name: mine\nunits: {tolerances: true}\ngyroscope: {white_noise: 1.0e-6, "
        "scale_factor_and_misalignment: {scale_factor: 0.2, unit: '%'}}\n"
    )
    answer = answered(
        "--rounds", "5", "--radius", "5", "--odometer", "wheels.yaml",
        "--odometer", "uneven.yaml", "--imu", "mine.yaml", "--fuse", "--report",
    )  # fmt: skip
    bands = pd.read_csv(answer.folder / "bands.csv").groupby("imu").last()
    fused = ["mine + uneven", "mine + wheels"]
    assert sorted(bands.index) == sorted(["mine", "uneven", "wheels", *fused])
    turn = 36000.0 * bands["time"].iloc[0] / (1000.0 * math.pi)
    least = turn / math.hypot(1.0 / 0.002, 1.0 / 0.01)
    assert least < bands.loc["mine + wheels", "std"] < 1.02 * least
    assert "note: fused headings assume the best estimator" in answer.text
    notes = [
        line for line in answer.text.splitlines() if "which the estimator does not know" in line
    ]
    assert len(notes) == 1 and "uneven" in notes[0]
    assert all(name in answer.page for name in fused)


def test_recorded_flight_includes_earth_rotation():
    motion = circling(60.0, latitude=50.0, radius=800.0, speed=60.0, rate=50.0)
    flight = motion.table()
    flight[["roll", "pitch", "yaw"]] = np.degrees(flight[["roll", "pitch", "yaw"]])
    flight = flight.rename(columns={name: f"{name} [deg]" for name in ("roll", "pitch", "yaw")})
    flight.to_csv("flight.csv")
    answer = answered("--flight", "flight.csv", "--imu", "mine.yaml")

    # An aircraft in flight was not stationary before the recording.
    title = "flight flight.csv, not zeroed, as after power on: yaw error after"
    assert title in answer.text
    budget = answer.table("budget", "source")
    turning = math.degrees(-EARTH_RATE * math.sin(math.radians(50.0)) * 60.0)
    # The transport rate rotates the vertical: at 60 m/s to the east by 1e-5 rad/s about north, and
    # on the way back in the opposite direction.
    assert budget.loc["Earth's turning", "mean [deg]"] == pytest.approx(turning, abs=0.02)
    assert budget.loc["scale factor", "mean [deg]"] == pytest.approx(
        -0.002 * math.degrees(4.5) * math.cos(math.atan(60.0**2 / 800.0 / 9.81)) ** 2, rel=0.05
    )


def test_magnetic_headings_are_compared_in_clean_and_disturbed_field():
    answer = answered(
        "--rounds", "2", "--radius", "5", "--imu", "bno055_magnetometer",
        "--heading", "gyroscope", "rejecting", "--magnetic-environment", "clean", "steel_beam",
    )  # fmt: skip
    budget = answer.table("budget", ["IMU", "source"])
    imus = ["gyroscope", "rejecting, clean", "rejecting, steel_beam"]
    assert list(budget.index.get_level_values(0).unique()) == [
        f"bno055_magnetometer, {name}" for name in imus
    ]
    assert all(name in answer.text for name in imus)
    clean, beam = (
        budget.loc[(f"bno055_magnetometer, rejecting, {place}", "magnetic field"), "mean [deg]"]
        for place in ("clean", "steel_beam")
    )
    assert abs(clean - beam) > 0.1


def test_magnetic_heading_uses_declination_of_environment():
    Path("west.yaml").write_text("earth: [-5.0e-6, 20.0e-6, -45.0e-6]\n")
    bands = answered(
        "--straight", "60s", "--imu", "bno055_magnetometer", "--heading", "magnetometer",
        "--magnetic-environment", "west.yaml",
    ).table("bands", "time")  # fmt: skip
    assert bands["mean"].abs().max() < 0.01  # instead of 14 degrees without declination
