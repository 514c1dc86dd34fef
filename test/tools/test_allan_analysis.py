"""Tests of the command-line program allan_analysis.py."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from recording_writers import imu, write_bag
from tool_calls import PNG, assert_refused, assert_success, call_tool, run_as_process

from imu_simulation_framework.characterisation.allan import files
from imu_simulation_framework.sensors.files import load_imu_specification
from imu_simulation_framework.sensors.formats.registry import read_imu_parameters

TOOL = "allan_analysis.py"
SIMULATE = "simulate_static.py"
COLUMNS = ["gyro_x", "gyro_y", "gyro_z", "accel_x", "accel_y", "accel_z"]
RESULTS = {
    "imu.yaml",
    "kalibr_imu.yaml",
    "allan_parameters.json",
    "allan_deviation.csv",
    "allan_gyroscope.png",
    "allan_accelerometer.png",
    "raw_gyroscope.png",
    "raw_accelerometer.png",
}
WHITE, RATE = 1e-3, 50.0

SPECIFICATION = """\
name: made
gyroscope:
  white_noise: 1.0e-3
  random_walk: 1.0e-3
accelerometer:
  white_noise: 2.0e-3
output:
  rate: 50
"""


@pytest.fixture
def skip_drawing(monkeypatch):
    """Replace figures with a PNG header, since drawing takes most of the time of a call."""
    monkeypatch.setattr(files, "render_figure", lambda *_: PNG)


def table(seconds=600.0, seed=1):
    generator = np.random.default_rng(seed)
    count = int(seconds * RATE)
    values = WHITE * np.sqrt(RATE) * generator.standard_normal((count, 6))
    values[:, 5] += 9.81
    index = pd.Index(1.6e9 + np.arange(count) / RATE, name="time")
    return pd.DataFrame(values, index=index, columns=COLUMNS)


def write(path, samples):
    samples.to_csv(path, float_format="%.9f")
    return path


@pytest.fixture(scope="module")
def bag(tmp_path_factory):
    """Simulate the recording of a sensor with a known specification with simulate_static.py."""
    folder = tmp_path_factory.mktemp("static")
    specification = folder / "made.yaml"
    specification.write_text(SPECIFICATION)
    path = folder / "static.bag"
    assert_success(
        call_tool(SIMULATE, specification, "--hours", 0.5, "--rate", 50, "--seed", 5, "--out", path)
    )
    return path


def test_allan_analysis_recovers_specification_of_simulated_recording(bag, tmp_path):
    out = tmp_path / "results"
    done = assert_success(run_as_process(TOOL, bag, "--out", out, "--name", "chip", "--report"))
    assert {path.name for path in out.iterdir()} == {*RESULTS, "allan_analysis.html"}
    page = (out / "allan_analysis.html").read_text()
    assert "<h1>Allan analysis of chip" in page and "N white noise" in page
    estimated = load_imu_specification(out / "imu.yaml")
    assert estimated.name == "chip"
    assert estimated.output.rate == 50.0
    # Half an hour at 50 Hz has 90 000 samples: the standard error is about 0.3 %.
    assert estimated.gyroscope.white_noise == pytest.approx((1e-3,) * 3, rel=0.015)
    assert estimated.accelerometer.white_noise == pytest.approx((2e-3,) * 3, rel=0.015)
    assert estimated.accelerometer.random_walk == (0.0, 0.0, 0.0)
    parameters = json.loads((out / "allan_parameters.json").read_text())
    # In 10 % of records, a Gauss-Markov process fits as well as the random walk; in 3 %, it does so
    # on at least two of the three axes.
    walks = [parameters["axes"][f"gyro_{axis}"]["terms"]["random_walk"] for axis in "xyz"]
    identified = [walk for walk in walks if walk["identified"]]
    assert len(identified) >= 2
    for walk in identified:
        # An interval of twice the half-width contains the true value in 99.99 % of records.
        low, high = walk["interval_95"]
        middle, half_width = np.sqrt(low * high), np.log(high / low) / 2.0
        assert abs(np.log(1e-3 / middle)) < 2.0 * half_width
    for axis in "xyz":
        absent = parameters["axes"][f"accel_{axis}"]["terms"]["random_walk"]
        assert absent["value"] is None
        assert absent["interval_95"][0] == 0.0
    kalibr = read_imu_parameters(out / "kalibr_imu.yaml", "kalibr").specification
    assert kalibr.gyroscope.white_noise[0] == pytest.approx(1e-3, rel=0.015)
    assert "Kalibr requires a value" in (out / "kalibr_imu.yaml").read_text()
    arguments = (out / "imu.yaml", "--from", "specification", "--to", "kalibr")
    assert_refused(
        call_tool("convert_imu_parameters.py", *arguments),
        f"{out / 'imu.yaml'}: accelerometer.random_walk is 0, expected a positive number",
        f"use {out / 'kalibr_imu.yaml'}, in which a random walk that is not identifiable",
    )
    assert "not identifiable from this recording" in done.stdout
    assert "deg/sqrt(h)" in done.stdout and "rad/s/sqrt(Hz)" in done.stdout
    *_, drift, folder, report = done.stdout.splitlines()
    assert (folder, report) == (str(out), str(out / "allan_analysis.html"))
    # White noise integrates to N sqrt(t), a rate random walk to K sqrt(t^3 / 3). Both N and K
    # are 1e-3, so the random walk dominates after ten minutes: 487 deg, known within 40 %.
    match = re.search(r"heading drifts by .* deg after 60 s, ([0-9.]+) deg after 10 min", drift)
    assert 250.0 < float(match[1]) < 950.0


@pytest.mark.usefixtures("skip_drawing")
def test_kalibr_file_contains_topic_of_recording(tmp_path):
    samples = table(seconds=61.0)
    messages = [
        imu(round(1e9 * stamp), (0.0, 0.0, 0.0, 1.0), values[:3], values[3:])
        for stamp, values in zip(samples.index, samples.to_numpy())
    ]
    bag = write_bag(tmp_path / "raw.bag", {"/imu/data_raw": messages})
    assert_success(call_tool(TOOL, bag, "--out", tmp_path / "out"))
    kalibr = read_imu_parameters(tmp_path / "out" / "kalibr_imu.yaml", "kalibr").specification
    assert kalibr.output.topic == "/imu/data_raw"


@pytest.mark.usefixtures("skip_drawing")
def test_allan_deviations_of_several_recordings_are_in_one_table(tmp_path):
    recordings = {"first": table(300.0)[["gyro_x"]], "second": table(200.0, seed=2)[["gyro_x"]]}
    paths = [write(tmp_path / f"{name}.csv", samples) for name, samples in recordings.items()]
    assert_success(call_tool(TOOL, *paths, "--out", tmp_path / "out"))
    deviations = pd.read_csv(tmp_path / "out" / "allan_deviation.csv")
    assert set(deviations["recording"]) == {1, 2}
    assert (deviations["gyro_x_low"] < deviations["gyro_x_deviation"]).all()
    assert (deviations["gyro_x_deviation"] < deviations["gyro_x_high"]).all()
    first = deviations[deviations["recording"] == 1].iloc[0]
    assert first["gyro_x_deviation"] == pytest.approx(1e-3 * np.sqrt(50.0), rel=0.02)


@pytest.mark.usefixtures("skip_drawing")
def test_recordings_of_different_sensors_cause_exit_code_3(tmp_path):
    recordings = {"first": table(200.0), "second": table(200.0, seed=2) * 2.0}
    paths = [
        write(tmp_path / f"{name}.csv", samples[["gyro_x"]]) for name, samples in recordings.items()
    ]
    done = call_tool(TOOL, *paths, "--axis", "gyro_x", "--out", tmp_path / "out")
    assert done.returncode == 3, done.stderr
    assert "gyro_x: the identified sensor's Allan deviation is outside" in done.stdout
    assert (tmp_path / "out" / "imu.yaml").exists()
    band = json.loads((tmp_path / "out" / "allan_parameters.json").read_text())["axes"]["gyro_x"]
    assert not band["band"]["inside"]
    assert {"recording", "tau", "ratio"} == set(band["band"]["outside"][0])


@pytest.mark.usefixtures("skip_drawing")
def test_single_axis_without_time_stamps_is_analysed_with_specified_rate(tmp_path):
    samples = table(120.0)[["gyro_y"]]
    path = tmp_path / "static.csv"
    samples.to_csv(path, index=False)
    done = assert_success(call_tool(TOOL, path, "--rate", RATE, "--out", tmp_path / "out"))
    written = {path.name for path in (tmp_path / "out").iterdir()}
    assert written == RESULTS - {
        "kalibr_imu.yaml", "allan_accelerometer.png", "raw_accelerometer.png"
    }  # fmt: skip
    assert "kalibr_imu.yaml is not written: gyro_x" in done.stdout
    estimated = load_imu_specification(tmp_path / "out" / "imu.yaml")
    assert estimated.output.rate == RATE
    assert estimated.gyroscope.white_noise == pytest.approx((0.0, WHITE, 0.0), rel=0.04)
    assert "Not recorded, so their errors are zero here: gyro_x, gyro_z, accel_x" in (
        tmp_path / "out" / "imu.yaml"
    ).read_text().replace("\n# ", " ")


@pytest.mark.usefixtures("skip_drawing")
def test_recording_with_gap_is_split_and_earlier_results_are_removed(tmp_path):
    samples = table()
    path = write(tmp_path / "static.csv", samples.drop(samples.index[10_000:10_300]))
    out = tmp_path / "out"
    out.mkdir()
    (out / "kalibr_imu.yaml").write_text("stale")
    done = assert_success(call_tool(TOOL, path, "--axis", "gyro_z", "--out", out))
    assert not (out / "kalibr_imu.yaml").exists()
    assert "kalibr_imu.yaml of an earlier analysis is removed" in done.stdout
    assert "averages do not span gaps: 2 parts are combined" in done.stdout
    parameters = json.loads((out / "allan_parameters.json").read_text())
    assert parameters["recordings"][0]["parts"] == [[0, 10_000], [10_000, 29_700]]


def test_repeated_analysis_writes_identical_files(tmp_path):
    path = write(tmp_path / "static.csv", table(70.0)[["gyro_x"]])
    first, second = tmp_path / "first", tmp_path / "second"
    for out in (first, second):
        assert_success(call_tool(TOOL, path, "--out", out))
    names = {path.name for path in first.iterdir()}
    assert names == RESULTS - {
        "kalibr_imu.yaml", "allan_accelerometer.png", "raw_accelerometer.png"
    }  # fmt: skip
    for name in names:
        assert (first / name).read_bytes() == (second / name).read_bytes()


@pytest.mark.usefixtures("skip_drawing")
def test_column_option_maps_names_and_units(tmp_path):
    samples = table(120.0)[["gyro_x", "accel_x"]]
    samples["gyro_x"] = np.degrees(samples["gyro_x"])
    samples.columns = ["a", "b"]
    path = write(tmp_path / "static.csv", samples)
    names = [("time", "time"), ("gyro_x", "a [deg/s]"), ("accel_x", "b")]
    columns = [text for name, column in names for text in ("--column", f"{name}={column}")]
    assert_success(call_tool(TOOL, path, "--out", tmp_path / "out", *columns))
    estimated = load_imu_specification(tmp_path / "out" / "imu.yaml")
    assert estimated.gyroscope.white_noise == pytest.approx((WHITE, 0.0, 0.0), rel=0.04)
    assert estimated.accelerometer.white_noise == pytest.approx((WHITE, 0.0, 0.0), rel=0.04)


@pytest.mark.usefixtures("skip_drawing")
def test_recording_with_name_of_result_file_is_rejected(tmp_path):
    path = write(tmp_path / "allan_deviation.csv", table(70.0)[["gyro_x"]])
    content = path.read_bytes()
    assert_refused(call_tool(TOOL, path, "--out", tmp_path), path)
    assert {name.name: name.read_bytes() for name in tmp_path.iterdir()} == {path.name: content}
