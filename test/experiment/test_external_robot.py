"""simulator:=external: a robot with controllers of its own, which is commanded by cmd_vel."""

import math
import sys
from pathlib import Path

import numpy as np
import pytest
from experiment_process import find_program, messages_of
from fake_robot import DRIFT, IMU_RATE, ODOMETRY_RATE

FAKE = Path(__file__).with_name("fake_robot.py")
MASTER = ["sh", "-c", "exec roscore -p ${ROS_MASTER_URI##*:}"]
SHORT = "settings:={trajectory: {stop: 8.0}}"
SAME_TOPIC = "settings:={trajectory: {stop: 8.0}, external: {imu: imu/data}}"
SECONDS = 240.0


@pytest.fixture
def beside_a_robot(experiment):
    """Return what runs an experiment on the master of a fake robot."""

    def run(robot, *arguments, times=1):
        master = experiment(program=MASTER)
        master.wait_for(r"started core service \[/rosout\]")
        fake = master.beside([sys.executable, FAKE], *robot)
        program = [find_program("run_experiment.py")]
        options = ("simulator:=external", "laps:=1", "imu:=published")
        try:
            for _ in range(times):
                ended = master.beside(program, *options, *arguments).wait(SECONDS)
            return ended
        finally:
            fake.end()
            master.interrupt()  # roscore alone knows its rosout
            master.wait()

    return run


@pytest.mark.parametrize("kind", ["Twist", "TwistStamped"])
def test_the_robot_follows_the_path_and_its_imus_drift_is_found(beside_a_robot, kind):
    record = kind == "Twist"
    # The other robot's IMU is where the experiment listens.
    options = ["record:=true", "gnss:=rtk", SHORT] if record else [SAME_TOPIC]
    ended = beside_a_robot([kind, *([] if record else ["imu=/imu/data"])], *options)
    assert ended.code == 0, ended.output
    summary, result = ended.summary, ended.result()
    # The robot is commanded without waiting for it, on a machine that may be busy.
    distance = summary["tracking"]["distance_error"]
    assert distance["rms_m"] < 1.5, distance
    truth, imu = (result.read_table(name) for name in ("ground_truth", "imu_simulated"))
    reference = result.read_table("trajectory_data")
    first, begin = truth.iloc[0], reference.iloc[0]
    assert math.hypot(first["x"] - begin["x"], first["y"] - begin["y"]) < 0.05
    assert np.median(np.diff(truth.index)) == pytest.approx(1.0 / ODOMETRY_RATE)
    assert np.median(np.diff(imu.index)) == pytest.approx(1.0 / IMU_RATE)
    # Speed and yaw rate are of the robot's axes, whatever the world was turned by.
    moved = np.hypot(truth["x"].diff(), truth["y"].diff()).sum()
    assert (truth["v"].abs() / ODOMETRY_RATE).sum() == pytest.approx(moved, rel=0.01)
    # The drift is exact, since truth and IMU come from one clock.
    error = np.interp(truth.index, imu.index, imu["yaw"]) - truth["yaw"]
    slope = np.polyfit(truth.index, error, 1)[0]
    assert slope == pytest.approx(DRIFT, rel=1e-3)
    drift = summary["yaw_error"]["simulated"]["drift_rad_per_s"]
    assert drift == pytest.approx(-DRIFT, rel=1e-3)  # reference minus IMU
    assert not result.path("wheel_velocities_actual.csv").exists()
    if record:
        bag = messages_of(result.path("experiment.bag"))
        assert len(bag["/ground_truth/state"]) >= len(truth)
        assert bag["/gnss/fix"]


@pytest.mark.parametrize(
    ("robot", "arguments", "words"),
    [
        (
            ["Twist"],
            ["settings:={external: {command: cmd}, simulation: {startup_timeout: 8.0}}"],
            "robot that listens on /cmd ",
        ),
        (["JointState"], [], "/somebodys_robot listens on /cmd_vel"),
        (
            ["Twist"],
            ["settings:={external: {odometry: truth}, simulation: {startup_timeout: 8.0}}"],
            "nav_msgs/Odometry on /truth ([external] odometry; there is /odom) after 8 s",
        ),
        (
            ["Twist", "imu=/imu/data"],
            ["settings:={simulation: {startup_timeout: 8.0}}"],
            "sensor_msgs/Imu on /imu ([external] imu; there is /imu/data) after 8 s",
        ),
        (["Twist", "speed=0.3"], [], "the robot moves, at 0.3 m/s"),
        (
            ["Twist"],
            ["imu:=specification", "settings:={external: {imu: imu/data}}"],
            "[external] imu is /imu/data, on which the experiment publishes",
        ),
        (["Twist"], ["simulator:=mujoco"], "[imu] model published is that of a robot of"),
    ],
)
def test_what_does_not_go_together_is_one_sentence(beside_a_robot, robot, arguments, words):
    ended = beside_a_robot(robot, *arguments)
    assert ended.code in (1, 2), ended.output
    assert words in " ".join(ended.output.split()), ended.output
    assert not ended.has_traceback, ended.output


def test_a_second_experiment_on_the_robots_master_drives_as_the_first(beside_a_robot):
    ended = beside_a_robot(["Twist"], "settings:={trajectory: {stop: 2.0}}", times=2)
    assert ended.code == 0, ended.output
