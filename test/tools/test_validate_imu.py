"""Tests of the command-line program validate_imu.py."""

import json
import re
from functools import partial
from pathlib import Path

import pandas as pd
import pytest
from ideal_recordings import curve, ideal_messages, poses
from recording_writers import write_bag
from tool_calls import assert_refused, assert_success, call_tool, run_as_process
from written_results import write_result

TOOL = "validate_imu.py"
LIMITS = Path(__file__).resolve().parents[2] / "config" / "imu_limits.yaml"


run = partial(call_tool, TOOL)


@pytest.fixture(scope="module")
def bag(tmp_path_factory):
    """Write a bag with an ideal IMU, a BNO055 and poses."""
    folder = tmp_path_factory.mktemp("validated")
    motion = curve(60.0)
    ideal = write_bag(folder / "in.bag", {"/imu": ideal_messages(motion), "/pose": poses(motion)})
    assert_success(
        call_tool("apply_imu_errors.py", ideal, "--imu", "bno055", "--out", folder / "out.bag")
    )
    return folder / "out.bag"


def test_realistic_imu_exceeding_limit_fails_validation_against_ideal_imu(bag, tmp_path):
    done = run_as_process(
        TOOL, f"{bag}@/imu/data", f"{bag}@/imu", "--out", tmp_path / "out", "--limits", LIMITS,
        "--report",
    )  # fmt: skip
    page = (tmp_path / "out" / "validation.html").read_text()
    assert "1 of 2 limits exceeded." in page and "rate norm mean" in page
    # The noise of a BNO055 has a mean norm of 0.0016 rad/s.
    assert done.returncode == 1, done.stderr
    assert "FAILED: rate norm mean 0.0016" in done.stdout
    assert "passed: force norm mean 0.0017" in done.stdout
    assert (tmp_path / "out" / "validation.png").read_bytes().startswith(b"\x89PNG")
    summary = json.loads((tmp_path / "out" / "validation.json").read_text())
    assert not summary["passed"] and [limit["passed"] for limit in summary["limits"]] == [
        False,
        True,
    ]
    table = pd.read_csv(tmp_path / "out" / "validation.csv").set_index(["quantity", "axis"])
    assert len(table) == 12
    # The standard deviation of white noise is its density times sqrt(100 Hz).
    assert table.standard_deviation["rate", "z"] == pytest.approx(4.89565e-4, rel=0.05)
    allan = pd.read_csv(tmp_path / "out" / "allan_deviation.csv")
    assert set(allan.axis) == {"x", "y", "z", "norm", "roll", "pitch", "yaw"}


def test_validation_report_without_folder_is_rejected(bag):
    assert_refused(
        run(f"{bag}@/imu/data", f"{bag}@/imu", "--report"), "--report requires --out DIR"
    )


def test_imu_within_limits_passes_validation_with_yaw_from_poses(bag, tmp_path):
    limits = tmp_path / "limits.yaml"
    limits.write_text("rate: {norm: {mean: 0.01}, z: {allan_deviation: {1.0: 1.0e-3}}}\n")
    done = assert_success(run(f"{bag}@/imu/data", f"{bag}@/imu", "--limits", limits))
    assert "passed: rate z allan deviation at 1 s" in done.stdout
    assert_success(run(f"{bag}@/imu/data", f"{bag}@/imu"))
    done = assert_success(run(f"{bag}@/imu/data", f"{bag}@/pose"))
    rows = [line.split()[:2] for line in done.stdout.splitlines() if "rad" in line.split()[2:3]]
    assert rows == [["orientation", "yaw"]]
    assert re.search("not compared.*gyro_x", done.stdout)


def test_imu_of_result_is_validated_against_its_ground_truth(tmp_path):
    result = write_result(tmp_path).prefix_path
    done = assert_success(run(f"{result}@imu_simulated", result))
    assert "orientation yaw" in done.stdout
    again = run(result, f"{result}@ground_truth")
    assert again.stdout == done.stdout
    assert_refused(run(f"{result}@fixes", result), "'fixes'")
    done = assert_success(run(f"{result}@imu_simulated", f"{result}@ground_truth"))
    (sentence,) = [line for line in done.stdout.splitlines() if "earlier version" in line]
    assert "lacks" in sentence and "gyro_x, gyro_y" in sentence
