"""simulator:=external: a robot with controllers of its own, which is commanded by cmd_vel."""

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
IMU_OF_EXPERIMENT = {"imu": "imu/data"}
"""Section [external] for a robot whose IMU is where the experiment listens."""


@pytest.fixture
def robot(experiment):
    """Start a fake robot on a master; return a function that runs experiments with it."""

    def start(*options):
        master = experiment(program=MASTER)
        master.wait_for(r"started core service \[/rosout\]")
        master.start_client([sys.executable, FAKE], *options).wait_for(READY)

        def run(*arguments, **settings):
            arguments = ("simulator:=external", "imu:=published", "laps:=1", *arguments)
            program = [find_program("run_experiment.py"), *arguments]
            return master.start_client(program, settings_argument(settings)).wait()

        return run

    return start


def test_robot_follows_path_and_drift_of_its_imu_is_found(robot):
    run = robot("TwistStamped")
    ended = run("record:=true", "gnss:=rtk", trajectory={"stop": 8.0}).ensure_completed()
    summary, result = ended.summary, ended.result()
    # The robot lags behind its commands, which the controller does not know.
    assert summary["tracking"]["distance_error"]["rms_m"] < 1.0
    truth, imu = (result.read_table(name) for name in ("ground_truth", "imu_simulated"))
    reference = result.read_table("trajectory_data")
    first, begin = truth.iloc[0], reference.iloc[0]
    assert math.hypot(first["x"] - begin["x"], first["y"] - begin["y"]) < 0.05
    np.testing.assert_allclose(np.diff(truth.index), ODOMETRY_PERIOD, atol=1e-9)
    np.testing.assert_allclose(np.diff(imu.index), PERIOD, atol=1e-9)
    # Speed and yaw rate are in the robot's axes, whatever the world was turned by.
    moved = np.hypot(truth["x"].diff(), truth["y"].diff()).sum()
    assert (truth["v"].abs() * ODOMETRY_PERIOD).sum() == pytest.approx(moved, rel=0.01)
    # The drift is exact, since truth and IMU come from one clock.
    error = np.interp(truth.index, imu.index, imu["yaw"]) - truth["yaw"]
    slope = np.polyfit(truth.index, error, 1)[0]
    assert slope == pytest.approx(DRIFT, rel=1e-3)
    drift = summary["yaw_error"]["simulated"]["drift_rad_per_s"]
    assert drift == pytest.approx(-DRIFT, rel=1e-3)  # reference minus IMU
    assert not result.path("wheel_velocities_actual.csv").exists()
    bag = read_messages(result.path("experiment.bag"))
    assert len(bag["/ground_truth/state"]) >= len(truth)
    assert bag["/gnss/fix"]


def check_refusal(ended, words):
    assert ended.code == 1, ended.output
    assert words in " ".join(ended.output.split()), ended.output
    assert not ended.has_traceback, ended.output


def test_missing_topics_are_reported_and_right_ones_drive_twice(robot):
    run = robot("Twist", "/imu/data")
    # Long enough for all nodes to start on a busy machine.
    impatient = {"simulation": {"startup_timeout": 30.0}}
    own = {"external": {"odometry": "ground_truth/state"}}
    sentence = "[external] odometry is /ground_truth/state, on which the experiment publishes"
    check_refusal(run(**own), sentence)
    check_refusal(run(**impatient, external={"command": "cmd"}), "robot that listens on /cmd ")
    sentence = "sensor_msgs/Imu on /imu ([external] imu; there is /imu/data) after 30 s"
    check_refusal(run(**impatient), sentence)
    for output in ("first", "second"):
        drive = {"trajectory": {"stop": 2.0}, "external": IMU_OF_EXPERIMENT}
        run(f"output:={output}", **drive).ensure_completed(output)


def test_wrong_type_of_command_is_reported(robot):
    check_refusal(robot("JointState")(), "/somebodys_robot listens on /cmd_vel")
