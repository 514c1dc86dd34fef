"""An odometer on the simulated robot: what it publishes, and what stands in the results."""

import json

import numpy as np
import pandas as pd
import pytest
from experiment_process import messages_of

import imu_simulation_framework as isf
from imu_simulation_framework.core.angles import unwrap, wrap
from imu_simulation_framework.drive.configuration import load_configuration
from imu_simulation_framework.drive.results.files import ExperimentTables

DURATION = 20.0
ODOMETER = "track: 0.4\nticks_per_turn: 2048\ndiameter_ratio: 1.01\nslip: 0.001\n"
OUTPUT = "with_odometer"
SETTINGS = f"[trajectory]\nstop = {DURATION}\n"


@pytest.fixture(scope="module")
def ended(shared_experiment):
    directory = shared_experiment.directory
    (directory / "odometer.yaml").write_text(ODOMETER)
    (directory / "drive.ini").write_text(SETTINGS)
    arguments = ("odometer:=odometer.yaml", "record:=true", f"output:={OUTPUT}")
    ended = shared_experiment.run("config:=drive.ini", *arguments)
    assert ended.code == 0, ended.output
    return ended


@pytest.fixture(scope="module")
def result(ended):
    return ended.result(OUTPUT)


@pytest.fixture(scope="module")
def table(result):
    return ExperimentTables.load(result).odometer


def test_the_table_has_every_reading_and_is_that_of_one_process(result, table):
    configuration = load_configuration(result.path("config.ini"))
    alone = isf.run_in_process(configuration).odometer
    pd.testing.assert_frame_equal(table, alone, check_exact=True)
    np.testing.assert_allclose(table.index, np.arange(0.0, DURATION + 0.01, 0.02), atol=1e-9)


def test_the_bag_has_what_the_table_tells_and_reads_back_as_poses(result, table):
    messages = messages_of(result.path("experiment.bag"))["/odom"]
    assert 0 <= len(messages) - len(table) <= 3
    header = messages[0].header
    assert (header.frame_id, messages[0].child_frame_id) == ("odom", "base_footprint")
    told = messages[: len(table)]
    places = [(m.pose.pose.position.x, m.pose.pose.position.y) for m in told]
    np.testing.assert_array_equal(places, table[["x", "y"]])
    moving = [(m.twist.twist.linear.x, m.twist.twist.angular.z) for m in told]
    np.testing.assert_array_equal(moving, table[["v", "yaw_rate"]])
    turns = [m.pose.pose.orientation for m in told]
    yaw = unwrap(2.0 * np.arctan2([q.z for q in turns], [q.w for q in turns]))
    np.testing.assert_allclose(yaw, table["yaw"], rtol=0.0, atol=1e-12)
    read = isf.read_reference(result.path("experiment.bag"), topic="/odom").table
    # The bag may have readings of the control period behind the drive's end.
    within = read[read.index <= table.index[-1]]
    assert len(within) >= len(table) - 1  # stamp zero means in ROS that there is none
    off = wrap(np.interp(within.index, table.index, table["yaw"]) - within["yaw"])
    np.testing.assert_allclose(off, 0.0, atol=1e-9)


def test_its_yaw_error_stands_beside_the_imus(ended, result, table):
    errors = json.loads(result.read_text("summary.json"))["yaw_error"]
    truth = result.read_table("ground_truth")["yaw"]
    error = np.interp(table.index, truth.index, truth) - table["yaw"]
    error = error - np.median(error[table.index <= 3.0])
    # Where the start ends is a sample's question, and its median that of a tick.
    tick = 2.0 * np.pi * 0.1 / 2048
    rms = np.sqrt(np.mean(error**2))
    assert errors["odometer"]["rms_rad"] == pytest.approx(rms, abs=tick / 0.4)
    assert set(errors["odometer"]) == set(errors["simulated"])
    assert sum("yaw error, odometer" in line for line in ended.lines) == 1


def test_an_odometer_changes_nothing_else(result):
    settings = load_configuration(overrides={"trajectory": {"stop": DURATION}})
    tables = isf.run_in_process(settings)
    for name in ("ground_truth", "imu_simulated"):
        np.testing.assert_array_equal(result.read_table(name), getattr(tables, name))
