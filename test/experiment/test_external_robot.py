"""Experiments with simulator:=external: a robot with its own controllers and cmd_vel."""

import math
import sys
from pathlib import Path

import numpy as np
import pytest
from experiment_process import find_program, read_messages
from fake_robot import READY
from lagging_robot import DRIFT, PERIOD, TICKS_PER_ODOMETRY
from scenarios import settings_argument

FAKE = Path(__file__).with_name("fake_robot.py")
MASTER = ["sh", "-c", "exec roscore -p ${ROS_MASTER_URI##*:}"]
ODOMETRY_PERIOD = TICKS_PER_ODOMETRY * PERIOD  # [s]


@pytest.fixture
def master(experiment):
    """Start a ROS master, to which robots and experiments connect."""
    master = experiment(program=MASTER)
    master.wait_for(r"started core service \[/rosout\]")
    return master


def start_robot(master, *options):
    master.start_client([sys.executable, FAKE], *options).wait_for(READY)


def run_with_robot(master, *arguments, **settings):
    arguments = ("simulator:=external", "imu:=published", "laps:=1", *arguments)
    program = [find_program("run_experiment.py"), *arguments]
    return master.start_client(program, settings_argument(settings)).wait()


def test_external_robot_follows_path_and_drift_of_its_imu_is_in_summary(master):
    start_robot(master, "TwistStamped")
    ended = run_with_robot(master, "record:=true", "gnss:=rtk", trajectory={"stop": 6.0})
    ended.ensure_completed()
    summary, result = ended.summary, ended.result()
    # The controller does not model the lag of the robot.
    assert summary["tracking"]["distance_error"]["rms_m"] < 1.0
    truth, imu = (result.read_table(name) for name in ("ground_truth", "imu_simulated"))
    reference = result.read_table("trajectory_data")
    first, begin = truth.iloc[0], reference.iloc[0]
    assert math.hypot(first["x"] - begin["x"], first["y"] - begin["y"]) < 0.05
    np.testing.assert_allclose(np.diff(truth.index), ODOMETRY_PERIOD, atol=1e-9)
    np.testing.assert_allclose(np.diff(imu.index), PERIOD, atol=1e-9)
    # Speed and yaw rate are in body axes, independent of the rotation of the world frame.
    travelled_distance = np.hypot(truth["x"].diff(), truth["y"].diff()).sum()
    assert (truth["v"].abs() * ODOMETRY_PERIOD).sum() == pytest.approx(travelled_distance, rel=0.01)
    # The drift is exact, because ground truth and IMU have the same clock.
    error = np.interp(truth.index, imu.index, imu["yaw"]) - truth["yaw"]
    slope = np.polyfit(truth.index, error, 1)[0]
    assert slope == pytest.approx(DRIFT, rel=1e-3)
    drift = summary["yaw_error"]["simulated"]["drift_rad_per_s"]
    assert drift == pytest.approx(-DRIFT, rel=1e-3)  # reference minus IMU
    assert not result.path("wheel_velocities_actual.csv").exists()
    bag = read_messages(result.path("experiment.bag"))
    assert len(bag["/ground_truth/state"]) >= len(truth)
    assert bag["/gnss/fix"]


# For each node name, a parameter with a wrong topic, and a fragment of the failure message.
WRONG_TOPICS = {
    "own": (
        "_external/odometry:=ground_truth/state",
        "[external] odometry is /ground_truth/state",
    ),
    "silent": ("_external/command:=cmd", "/cmd ([external] command)"),
    "other": ("_external/command:=rosout", "/rosout ([external] command)"),
    "away": (
        "_external/imu:=imu",
        "sensor_msgs/Imu on /imu ([external] imu; ",
    ),
}


def test_wrong_topics_of_external_robot_are_reported(master):
    start_robot(master, "Twist", "/imu/data")
    # All nodes start within this time on a busy machine.
    settings = {"simulation/startup_timeout": 30.0, "simulation/simulator": "external"}
    settings["imu/model"] = "published"
    parameters = [f"_{key}:={value}" for key, value in settings.items()]
    nodes = {
        name: master.start_client(
            [find_program("external_robot.py"), *parameters, parameter, f"__name:={name}"]
        )
        for name, (parameter, _) in WRONG_TOPICS.items()
    }
    for name, node in nodes.items():
        ended = node.wait()
        assert ended.code == 1, ended.output
        assert not ended.has_traceback, ended.output
        (sentence,) = ended.fatal_sentences
        assert WRONG_TOPICS[name][1] in sentence
    # The topic of the IMU is correct in this experiment.
    drive = {"trajectory": {"stop": 2.0}, "external": {"imu": "imu/data"}}
    run_with_robot(master, **drive).ensure_completed()
