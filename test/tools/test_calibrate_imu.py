"""Tests of the command-line program calibrate_imu.py."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from calibration_records import magnetic_record, table_record
from recording_writers import imu, magnetic_field, temperature, write_bag
from tool_calls import assert_refused, assert_success, call_tool
from turntable import turntable_motion

from imu_simulation_framework.core.tables import ACCEL, GYRO, MAG
from imu_simulation_framework.sensors.correction import read_imu_correction
from imu_simulation_framework.sensors.files import load_imu_specification

TOOL = "calibrate_imu.py"


@pytest.fixture(scope="module")
def recordings(tmp_path_factory):
    """Return a folder of recordings, the simulated sensor and its hard-iron offset."""
    folder = tmp_path_factory.mktemp("recordings")
    sensor, times, values = table_record(5, rest=15.0, turns=3)
    index = pd.Index(times, name="time")
    pd.DataFrame(values, columns=[*GYRO, *ACCEL], index=index).to_csv(folder / "table.csv")
    times, readings, hard, _ = magnetic_record(2)
    index = pd.Index(times, name="time")
    pd.DataFrame(readings, columns=MAG, index=index).to_csv(folder / "mag.csv")
    untimed = pd.DataFrame(1e6 * readings, columns=[f"{name} (uT)" for name in MAG])
    untimed.to_csv(folder / "untimed.csv", index=False)
    # Some drivers publish a slow magnetometer with every sample of the IMU, mostly as NaN.
    readings[np.arange(len(readings)) % 4 != 0] = np.nan
    pd.DataFrame(readings, columns=MAG, index=index).to_csv(folder / "nan.csv")
    foreign = pd.read_csv(folder / "table.csv")
    foreign[list(ACCEL)] /= 9.80665
    foreign.to_csv(folder / "g.csv", index=False)
    foreign[list(ACCEL)] *= 9.80665
    foreign[list(GYRO)] = np.degrees(foreign[list(GYRO)])
    foreign.to_csv(folder / "deg.csv", index=False)
    return folder, sensor, hard


def test_magnetometer_calibration_is_added_to_existing_correction(recordings, tmp_path):
    folder, sensor, hard = recordings
    out = tmp_path / "out"
    options = ("--six-positions", "--turns", 3, "--gravity", 9.81, "--noise", "bno055")
    done = assert_success(
        call_tool(TOOL, folder / "table.csv", *options, "--out", out, "--name", "mine")
    )
    assert "at rest for" in done.stdout and "gyroscope scale factor z" in done.stdout
    assert (out / "calibration.png").stat().st_size > 10_000
    combined = tmp_path / "again"
    done = call_tool(
        TOOL, folder / "mag.csv", "--magnetometer", "--onto", out / "correction.yaml",
        "--out", combined,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    correction = read_imu_correction(combined / "correction.yaml")
    assert correction.gyroscope == read_imu_correction(out / "correction.yaml").gyroscope
    assert np.allclose(correction.gyroscope.bias, sensor.gyroscope.turn_on_bias, atol=1e-3)
    assert np.allclose(correction.accelerometer.bias, sensor.accelerometer.turn_on_bias, atol=0.02)
    assert np.allclose(correction.magnetometer.bias, hard, atol=1e-6)
    numbers = json.loads((out / "calibration.json").read_text())
    assert len(numbers["turns"]) == 6 and len(numbers["found"]) == 24
    # The residual errors are written as a specification, which heading_budget.py reads.
    residual = load_imu_specification(out / "imu.yaml")
    assert residual.name == "mine"
    assert max(residual.gyroscope.turn_on_bias_sigma) < 1e-4
    budget = ("--straight", "1min", "--imu", out / "imu.yaml", "--out", tmp_path / "budget")
    assert_success(call_tool("heading_budget.py", *budget))


def test_reference_turns_calibrate_scale_factor_of_gyroscope_z(tmp_path):
    standstill, turn = (np.zeros(3), 15.0), ([0.0, 0.0, 30.0], 30.0)
    motion = turntable_motion([standstill, turn, standstill])
    gyro = motion.angular_velocity * 1.02 + 0.01
    gyro += np.random.default_rng(1).normal(0.0, 1e-3, gyro.shape)
    accel = motion.specific_force + np.random.default_rng(2).normal(0.0, 1e-2, gyro.shape)
    index = pd.Index(motion.time, name="time")
    table = pd.DataFrame(np.hstack([gyro, accel]), columns=[*GYRO, *ACCEL], index=index)
    table.to_csv(tmp_path / "turned.csv")
    reference = {"x": 0.0 * motion.yaw, "y": 0.0 * motion.yaw, "yaw": motion.yaw}
    pd.DataFrame(reference, index=index).to_csv(tmp_path / "reference.csv")
    out = tmp_path / "out"
    options = ("--reference", tmp_path / "reference.csv", "--reference-sigma", 0.2, "--out", out)
    done = assert_success(call_tool(TOOL, tmp_path / "turned.csv", *options))
    assert "turn from" in done.stdout and "1718.9 deg about z" in done.stdout
    correction = read_imu_correction(out / "correction.yaml").gyroscope
    assert correction.scale_factor_and_misalignment[2][2] == pytest.approx(0.02, abs=1e-3)
    assert correction.scale_factor_and_misalignment[0][0] == 0.0
    # The reference has an error of 0.2 deg at each end of the turn through 30 rad.
    sigma = np.sqrt(2.0) * np.radians(0.2) / 30.0
    assert correction.scale_factor_and_misalignment_sigma[2][2] == pytest.approx(sigma, rel=0.1)


def test_calibration_from_bag_estimates_magnetometer_and_temperature_coefficient(tmp_path):
    times, readings, hard, _ = magnetic_record(2)
    generator = np.random.default_rng(3)
    noise = generator.normal(0.0, 2e-3, (2, len(times), 3))
    gyro = 0.01 + 1e-4 * (times - 30.0)[:, None] + noise[0]
    accel = [0.0, 0.0, 9.81] + noise[1]
    stamps = (1_600_000_000 * 10**9 + np.round(times * 1e9)).astype(np.int64).tolist()
    write_bag(
        tmp_path / "all.bag",
        {
            "/imu": [imu(t, (0, 0, 0, 1), g, a) for t, g, a in zip(stamps, gyro, accel)],
            "/mag": [magnetic_field(t, b) for t, b in zip(stamps, readings)],
            "/temp": [temperature(t, 20.0 + s) for t, s in zip(stamps[::25], times[::25])],
        },
    )
    out = tmp_path / "out"
    options = ("--magnetometer", "--temperature", "--temperature-degree", 1, "--out", out)
    assert_success(call_tool(TOOL, tmp_path / "all.bag", *options))
    correction = read_imu_correction(out / "correction.yaml")
    assert np.allclose(correction.magnetometer.bias, hard, atol=1e-6)
    assert np.allclose(correction.gyroscope.temperature_bias, 1e-4, rtol=0.1)
    assert correction.gyroscope.temperature_reference == pytest.approx(50.0, abs=1.0)
    residual = load_imu_specification(out / "imu.yaml")
    assert residual.magnetometer.white_noise[0] == pytest.approx(0.12e-6, rel=0.2)
    assert min(residual.magnetometer.turn_on_bias_sigma) > 0.0


COLUMNS = [word for axis in "xyz" for word in ("--column", f"mag_{axis}=mag_{axis} [T]")]


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("nan.csv", [], ["1125 samples with a value that is not", "first is line 3", "field is"]),
        # The table has no times, and its units are in round brackets.
        ("untimed.csv", ["--rate", 25], []),
        # The option --column need not specify the column with the time.
        ("mag.csv", COLUMNS, []),
    ],
)
def test_magnetometer_is_calibrated_without_inertial_sensors(
    recordings, tmp_path, name, options, words
):
    folder, _, hard = recordings
    out = tmp_path / "out"
    done = assert_success(call_tool(TOOL, folder / name, "--magnetometer", *options, "--out", out))
    assert all(word in done.stdout for word in words)
    field = re.search(r"the corrected field is (\d+\.\d)", done.stdout)
    assert field is None or 48.9 <= float(field[1]) < 50.0
    assert "another unit" not in done.stdout
    correction = read_imu_correction(out / "correction.yaml").magnetometer
    assert np.allclose(correction.bias, hard, atol=1e-6)


def test_magnetic_field_in_wrong_unit_is_reported(tmp_path):
    times, readings, _, _ = magnetic_record(2)
    stamps = (1_600_000_000 * 10**9 + np.round(times * 1e9)).astype(np.int64).tolist()
    # Some drivers publish microtesla, although the message is in tesla.
    messages = [magnetic_field(t, 1e6 * b) for t, b in zip(stamps, readings)]
    write_bag(tmp_path / "microtesla.bag", {"/mag": messages})
    options = ("--magnetometer", "--out", tmp_path / "out")
    done = assert_success(call_tool(TOOL, tmp_path / "microtesla.bag", *options))
    assert "22 to 67 uT" in done.stdout


@pytest.mark.parametrize("options", [("--accel-unit", "g"), ("--gyro-unit", "deg/s")])
def test_unit_option_converts_recording_without_units(recordings, tmp_path, options):
    folder, sensor, _ = recordings
    name = "g.csv" if "g" in options else "deg.csv"
    done = assert_success(
        call_tool(TOOL, folder / name, "--six-positions", *options, "--out", tmp_path / "out")
    )
    correction = read_imu_correction(tmp_path / "out" / "correction.yaml")
    assert np.allclose(correction.gyroscope.bias, sensor.gyroscope.turn_on_bias, atol=1e-3)
    assert np.allclose(correction.accelerometer.bias, sensor.accelerometer.turn_on_bias, atol=0.02)
    # The mounting orientation does not affect a calibration, so it is not reported.
    assert "mounted" not in done.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("table.csv", "--turns", "ten"), "--turns is 'ten'"),
        (("table.csv", "--turns", "w=3"), "x, y and z"),
        (("table.csv", "--gravity", "nan"), "--gravity: 'nan'"),
        (("table.csv", "--magnetometer"), "mag_x mag_y mag_z"),
        (("mag.csv", "--magnetometer", "--field", "0.5"), "check the units"),
        (("mag.csv", "--magnetometer", "--rate", "0"), "--rate: '0'"),
        (("untimed.csv", "--magnetometer"), "but no time"),
        (("g.csv",), "which is gravity in g"),
        (("deg.csv",), "so they are in deg/s"),
        (("table.csv", "--onto", "none.yaml"), "none.yaml"),
        (("none.csv",), "none.csv"),
    ],
)
def test_invalid_calibration_call_is_rejected(recordings, tmp_path, arguments, words):
    out = tmp_path / "out"
    done = call_tool(TOOL, recordings[0] / arguments[0], *arguments[1:], "--out", out)
    assert_refused(done, words)
    assert not out.exists()
