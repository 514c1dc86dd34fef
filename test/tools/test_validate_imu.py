"""The tool validate_imu.py, as a person calls it."""

import json
from datetime import datetime
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from ideal_recordings import curve, ideal_messages, poses
from recording_writers import write_bag, write_ros2_bag
from tool_calls import call_tool, refused, run_as_process, succeeded
from written_results import drive_recordings as drives
from written_results import write_result

from imu_simulation_framework.drive.configuration import load_configuration
from imu_simulation_framework.drive.in_process import run_in_process
from imu_simulation_framework.drive.results.files import create_result_folder

TOOL = "validate_imu.py"
LIMITS = Path(__file__).resolve().parents[2] / "config" / "imu_limits.yaml"


run = partial(call_tool, TOOL)


@pytest.fixture(scope="module")
def bag(tmp_path_factory):
    """A bag with an ideal IMU, a BNO055 and poses."""
    folder = tmp_path_factory.mktemp("validated")
    motion = curve(60.0)
    ideal = write_bag(folder / "in.bag", {"/imu": ideal_messages(motion), "/pose": poses(motion)})
    succeeded(
        call_tool("apply_imu_errors.py", ideal, "--imu", "bno055", "--out", folder / "out.bag")
    )
    return folder / "out.bag"


def test_a_realistic_imu_is_compared_with_the_ideal_one_in_the_same_bag(bag, tmp_path):
    done = run_as_process(
        TOOL, f"{bag}@/imu/data", f"{bag}@/imu", "--out", tmp_path / "out", "--limits", LIMITS
    )
    # The noise of a BNO055 alone has a mean length of 0.0016 rad/s.
    assert done.returncode == 1, done.stderr
    assert "FAILED: rate norm mean 0.0016" in done.stdout
    assert "passed: force norm mean 0.0017" in done.stdout
    assert (tmp_path / "out" / "validation.png").read_bytes().startswith(b"\x89PNG")
    told = json.loads((tmp_path / "out" / "validation.json").read_text())
    assert not told["passed"] and [one["passed"] for one in told["limits"]] == [False, True]
    table = pd.read_csv(tmp_path / "out" / "validation.csv").set_index(["quantity", "axis"])
    assert len(table) == 12
    # White noise of the specification, sqrt(100 Hz) times its density.
    assert table.standard_deviation["rate", "z"] == pytest.approx(4.89565e-4, rel=0.05)
    allan = pd.read_csv(tmp_path / "out" / "allan_deviation.csv")
    assert set(allan.axis) == {"x", "y", "z", "norm", "roll", "pitch", "yaw"}


def test_within_the_limits_it_ends_with_0_and_poses_will_do_for_the_yaw(bag, tmp_path):
    limits = tmp_path / "limits.yaml"
    limits.write_text("rate: {norm: {mean: 0.01}, z: {allan_deviation: {1.0: 1.0e-3}}}\n")
    done = succeeded(run(f"{bag}@/imu/data", f"{bag}@/imu", "--limits", limits))
    assert "passed: rate z allan deviation at 1 s" in done.stdout
    succeeded(run(f"{bag}@/imu/data", f"{bag}@/imu"))
    done = succeeded(run(f"{bag}@/imu/data", f"{bag}@/pose"))
    rows = [line.split()[:2] for line in done.stdout.splitlines() if "rad" in line.split()[2:3]]
    assert rows == [["orientation", "yaw"]]
    assert "not compared, as one of the two has none: gyro_x" in done.stdout


def test_a_ros_2_bag_and_a_table_are_read_too(tmp_path):
    folder = write_ros2_bag(tmp_path / "two", {"/imu": ideal_messages(curve(20.0))})
    done = succeeded(run(f"{folder}@/imu", f"{folder}@/imu"))
    assert "2001 samples, 20 s" in done.stdout
    table = tmp_path / "static.csv"
    succeeded(call_tool("simulate_static.py", "bno055", "--hours", 0.01, "--out", table))
    assert "3600 samples" in succeeded(run(table, table)).stdout


def test_a_result_has_its_own_truth_of_which_an_earlier_version_lacks_something(tmp_path):
    result = write_result(tmp_path).prefix_path
    done = succeeded(run(f"{result}@imu_simulated", result))
    assert "orientation yaw" in done.stdout
    again = run(result, f"{result}@ground_truth")
    assert again.stdout == done.stdout
    refused(run(f"{result}@fixes", result), "there is no 'fixes' to compare")
    done = succeeded(run(f"{result}@imu_simulated", f"{result}@ground_truth"))
    (sentence,) = [line for line in done.stdout.splitlines() if "earlier version" in line]
    assert "without" in sentence and "gyro_x, gyro_y" in sentence


def test_the_truth_of_an_experiment_has_all_that_limits_ask_for(tmp_path):
    reference, imu = drives.drive(duration=20.0)
    path = drives.write_bag(tmp_path / "drive.bag", reference, imu)
    configuration = load_configuration(
        overrides={"recording": {"path": str(path)}, "imu": {"model": "ideal"}}
    )
    folder = create_result_folder(tmp_path, "drive", "ideal", datetime(2026, 5, 1))
    run_in_process(configuration).save(folder)
    folder.write_text("config.ini", configuration.to_ini())
    result = folder.prefix_path
    done = run(f"{result}@imu_simulated", f"{result}@ground_truth", "--limits", LIMITS)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "passed: rate norm mean" in done.stdout and "passed: force norm mean" in done.stdout


def test_what_cannot_be_is_refused_in_a_sentence(bag):
    Path("broken.yaml").write_text("rate: {x: [\n")
    Path("unknown.yaml").write_text("rate: {x: {much: 1}}\n")
    Path("needs_force.yaml").write_text("force: {x: {mean: 1}}\n")
    Path("long.yaml").write_text("rate: {x: {allan_deviation: {1000: 1}}}\n")
    write_bag("pose.bag", {"/pose": poses(curve(5.0))})
    both = (f"{bag}@/imu/data", f"{bag}@/imu")
    for words, *arguments in (
        ("none.bag: there is no such recording", "none.bag", both[1]),
        ("no topic of type sensor_msgs/Imu", "pose.bag", both[1]),
        ("no topic /none", f"{bag}@/none", both[1]),
        ("broken.yaml: ", *both, "--limits", "broken.yaml"),
        ("unknown.yaml: 'much' is no statistic", *both, "--limits", "unknown.yaml"),
        ("force x could not be compared", both[0], f"{bag}@/pose", "--limits", "needs_force.yaml"),
        ("is not known at 1000 s", *both, "--limits", "long.yaml"),
        ("is no time above zero", *both, "--max-shift", "-1"),
        ("No such file", *both, "--limits", "absent.yaml"),
    ):
        refused(run(*arguments), words)


def test_values_that_are_no_numbers_are_left_out_and_told(tmp_path):
    motion = curve(10.0)
    messages = ideal_messages(motion)
    messages[500].angular_velocity.x = np.nan
    bag = write_bag(tmp_path / "nan.bag", {"/imu": messages, "/true": ideal_messages(motion)})
    done = succeeded(run(f"{bag}@/imu", f"{bag}@/true"))
    assert "1000 samples" in done.stdout and "not" in done.stdout
