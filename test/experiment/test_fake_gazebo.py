"""Experiments with simulator:=gazebo where there is no Gazebo: a stand-in answers as it would."""

import os
import signal
import socket
import time
from pathlib import Path

import numpy as np
import pymap3d
import pytest
from experiment_process import find_program, messages_of, summary_of
from scipy.spatial.transform import Rotation

import imu_simulation_framework as isf
from imu_simulation_framework.core.angles import wrap
from imu_simulation_framework.core.files import urdf_path
from imu_simulation_framework.drive.robot import load_robot_parameters, robot_description
from imu_simulation_framework.recordings.reading import read_reference_samples
from imu_simulation_framework.ros1.launching.launcher import GAZEBO_PLUGIN

pytestmark = pytest.mark.gate

FAKE = Path(__file__).resolve().parents[1] / "fake_gazebo"
MANIFEST = """<package format="2">
  <name>{name}</name>
  <version>1.0.0</version>
  <description>A stand-in</description>
  <maintainer email="nobody@example.org">nobody</maintainer>
  <license>BSD-3-Clause</license>
</package>
"""
PACKAGES = (
    *("controller_manager", "controller_manager_msgs", "dynamic_reconfigure", "gazebo_msgs"),
    *("gazebo_plugins", "gazebo_ros", "gazebo_ros_control", "hector_gazebo_plugins"),
    *("joint_state_controller", "velocity_controllers"),
)
DRIVE = ("simulator:=gazebo", "drive:=a", "laps:=1", "real_time_factor:=5")
SHORT = "settings:={trajectory: {stop: 4.0}}"
SECONDS = 200.0
FAKE_TORQUE = 0.05  # as gzserver.py says


@pytest.fixture
def gazebo(experiment, tmp_path):
    """Start an experiment in a ROS that has Gazebo's packages, with the stand-in as gzserver."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    packages = tmp_path / "packages"
    for name in PACKAGES:
        (packages / name).mkdir(parents=True)
        (packages / name / "package.xml").write_text(MANIFEST.format(name=name))
    (packages / "gazebo_ros" / "gzserver").symlink_to(FAKE / "gzserver.py")
    (packages / GAZEBO_PLUGIN).touch()

    def start(*arguments, fault="", robot=""):
        environment = {
            "PYTHONPATH": f"{FAKE}:{os.environ.get('PYTHONPATH', '')}",
            "ROS_PACKAGE_PATH": f"{os.environ['ROS_PACKAGE_PATH']}:{packages}",
            "GAZEBO_PLUGIN_PATH": packages,
            "GAZEBO_MASTER_URI": f"http://127.0.0.1:{port}",
            "FAKE_GAZEBO_FAULT": fault,
            "FAKE_GAZEBO_ROBOT": robot,
        }
        variables = [f"{name}={value}" for name, value in environment.items()]
        program = ["env", *variables, find_program("run_experiment.py"), "-v"]
        return experiment(*arguments, program=program)

    return start


@pytest.fixture
def driven(gazebo):
    """Let the stand-in drive to the end; returns how it ended."""

    def drive(*arguments, **how):
        ended = gazebo(*arguments, **how).wait(SECONDS)
        assert ended.code == 0, ended.output
        assert ended.summary["run"]["completed"] is True
        return ended

    return drive


@pytest.fixture
def driven_with(driven, tmp_path):
    """Tables of a short drive with an IMU of this specification, named in a file alone."""

    def drive(imu, *arguments, more=""):
        (tmp_path / "imu.yaml").write_text(imu)
        (tmp_path / "mine.ini").write_text(
            "[simulation]\nsimulator = gazebo\nreal_time_factor = 5\n"
            "[trajectory]\nstop = 4.0\n"
            f"[imu]\nmodel = specification\n[imu_specification]\nfile = imu.yaml\n{more}"
        )
        result = driven("config:=mine.ini", *arguments).result()
        return result, result.read_table("imu_simulated"), result.read_table("ground_truth")

    return drive


@pytest.mark.parametrize(
    "magnetometer", ["", "magnetometer: {}\noutput: {magnetic_heading: true}\n"]
)
def test_a_specified_imu_is_switched_on_at_rest_where_the_drive_begins(driven_with, magnetometer):
    # Without errors of its own, what is wrong in the first second is the start alone: a place
    # elsewhere, or the jerk of the wheels, of metres per second squared, taken for a tilt.
    result, *tables = driven_with("gyroscope: {}\n" + magnetometer, "record:=true")
    assert summary_of(result)["run"]["imu"]["model"] == "specification"
    imu, truth = (table.loc[:1.0] for table in tables)
    assert imu.index[0] == truth.index[0] == 0.0
    assert len(imu) == len(truth) == 101
    # A change of speed by v tilts the fused orientation by v / (g tau) at most, tau 3 s and more.
    tilt = truth["v"].abs().max() / (9.81 * 3.0) + 1e-6
    # So far off the level, a field that dips by up to 70 deg is seen from elsewhere.
    turn = np.tan(np.radians(70.0)) * tilt if magnetometer else 1e-3
    for angle, limit in (("roll", tilt), ("pitch", tilt), ("yaw", turn)):
        off = wrap(imu[angle].to_numpy() - truth[angle].to_numpy())
        if angle == "yaw" and magnetometer:
            # By the declination, of which this sensor is not told.
            assert 0.0 < off[0] < np.radians(10.0)
            off -= off[0]
        assert np.abs(off).max() < limit, angle
        assert np.abs(off[0]) < 1e-6
    first, *_ = messages_of(result.path("experiment.bag"))["/imu_yaw/simulated_error"]
    # The live view counts from there, too.
    assert (first.yaw, first.yaw_unwrapped) == (0.0, 0.0)


def test_a_magnetometer_beside_gazebo_measures_where_the_robot_is(driven_with, tmp_path):
    (tmp_path / "hall.yaml").write_text(
        "bars: [{position: [2.0, -0.6, 0.1], size: [3.0, 0.1, 0.1], magnetisation: [2e4, 0, 0]}]\n"
        "motors: {left: [0.0, 0.0, 5e-6], right: [0.0, 0.0, 3e-6]}\n"
    )
    result, _, truth = driven_with(
        "magnetometer: {}\noutput: {orientation_reference: truth}\n",
        more="[magnetic_environment]\nfile = hall.yaml\n",
    )
    field = result.read_table("magnetometer_simulated")
    place = np.column_stack([np.interp(field.index, truth.index, truth[axis]) for axis in "xyz"])
    angles = [np.interp(field.index, truth.index, truth[axis]) for axis in ("yaw", "pitch", "roll")]
    turn = Rotation.from_euler("ZYX", np.column_stack(angles))
    robot = load_robot_parameters()
    hall = isf.read_magnetic_environment(tmp_path / "hall.yaml")
    mounting = Rotation.from_euler("xyz", robot.imu_orientation)
    place = place + turn.apply(robot.imu_position)
    wheels = robot.drivetrain.inverse(truth["v"].to_numpy(), truth["yaw_rate"].to_numpy())
    # Between two samples a torque is that of the first.
    last = np.searchsorted(truth.index, field.index + 1e-6) - 1
    torque = FAKE_TORQUE * np.column_stack(wheels)[last]
    assert np.abs(torque).max() > 0.2
    expected = hall.felt(place, (turn * mounting).as_quat(), torque)
    # At most a sample apart, 0.01 s at 1 m/s and 1 rad/s.
    assert np.abs(field.to_numpy() - expected).max() < 0.02 * np.linalg.norm(hall.undisturbed)
    assert np.ptp(expected, axis=0).max() > 0.2 * np.linalg.norm(hall.undisturbed)


def driven_whole(driven, *arguments, **how):
    """The result of a short drive of which nothing is missing."""
    ended = driven(*DRIVE, SHORT, "imu:=generic", *arguments, **how)
    result, summary = ended.result(), ended.summary
    assert summary["run"]["simulator"] == "gazebo"
    for name in ("ground_truth", "imu_simulated"):
        assert summary["messages"][name]["received"] == summary["messages"][name]["expected"]
    assert summary["tracking"]["yaw_error"]["rms_rad"] < np.radians(1.0)
    np.testing.assert_allclose(np.diff(result.read_table("ground_truth").index), 0.01, atol=1e-9)
    wheels = result.read_table("wheel_velocities_actual")
    np.testing.assert_allclose(np.diff(wheels.index), 0.05, atol=1e-9)
    assert wheels["left"].max() > 1.0 and wheels["right"].max() > 1.0
    return result


def test_four_wheels_drive_to_the_end(driven, tmp_path):
    robot = urdf_path("robot_four_wheels.yaml")
    (tmp_path / "mine.ini").write_text(f"[robot]\nparameters = {robot}\n")
    driven_whole(driven, "config:=mine.ini")


OWN_ROBOT = """\
description: others.urdf
left_wheel: [left_wheel_1_joint, left_wheel_2_joint]
right_wheel: [right_wheel_1_joint, right_wheel_2_joint]
"""


def test_a_robot_with_a_description_of_its_own_drives_to_the_end(driven, tmp_path):
    bundled = load_robot_parameters(urdf_path("robot_four_wheels.yaml"))
    (tmp_path / "others.urdf").write_text(robot_description(bundled))
    (tmp_path / "others.yaml").write_text(OWN_ROBOT)
    robot = tmp_path / "others.yaml"
    driven_whole(driven, f"robot:={robot}", robot=robot)


def test_a_car_drives_to_the_end_and_its_steering_is_in_the_tables(driven):
    robot = urdf_path("robot_ackermann.yaml")
    result = driven_whole(driven, f"robot:={robot}", robot=robot)
    commanded, actual = (result.read_table(f"wheel_velocities{name}") for name in ("", "_actual"))
    for side in ("steering_left", "steering_right"):
        assert actual[side].abs().max() > 0.05
        assert actual[side].abs().max() == pytest.approx(commanded[side].abs().max(), rel=0.05)


def test_a_drive_to_its_end_with_a_gnss_receiver_that_tells_where_the_robot_is(driven, tmp_path):
    (tmp_path / "receiver.yaml").write_text("rate: 5\nheading: {source: antennas}\n")
    result = driven_whole(driven, "gnss:=receiver.yaml", "record:=true")
    bag = result.path("experiment.bag")
    samples = read_reference_samples(
        bag, "/gnss/fix", velocity_topic="/gnss/velocity", heading_topic="/gnss/heading"
    )
    first, *_ = messages_of(bag)["/trajectory_error"]
    stamp = first.header.stamp.sec + 1e-9 * first.header.stamp.nanosec
    since = samples.columns["stamp"] - (stamp - first.time_from_start)
    # It began anew with the first command, whatever it said before, perhaps a moment ago.
    begin = np.flatnonzero(since < 0.1)[-1]
    assert since[begin] >= -0.005
    driving = np.arange(len(since)) >= begin
    truth = result.read_table("ground_truth")
    np.testing.assert_allclose(np.diff(since[driving]), 0.2, atol=0.015)
    assert 20 <= np.count_nonzero(driving) <= 22
    place = [samples.columns[name][driving] for name in ("latitude", "longitude", "altitude")]
    origin = isf.GnssOrigin()
    x, y, _ = pymap3d.geodetic2enu(*place, origin.latitude, origin.longitude, origin.height)
    within = since[driving] <= truth.index[-1]
    for axis, told in (("x", x), ("y", y)):
        expected = np.interp(since[driving], truth.index, truth[axis])
        np.testing.assert_allclose(told[within], expected[within], rtol=0.0, atol=1e-3)
    yaw = 2.0 * np.arctan2(samples.columns["qz"][driving], samples.columns["qw"][driving])
    off = wrap(yaw - np.interp(since[driving], truth.index, truth["yaw"]))
    assert np.abs(off[within]).max() < 1e-3


def test_a_gzserver_that_ends_in_the_middle(gazebo):
    running = gazebo(*DRIVE)
    running.wait_until_driving()
    # Told to end, it ends as if all were well.
    running.signal_node("gazebo", signal.SIGTERM)
    ended = running.wait(SECONDS)
    assert ended.code == 1
    assert "the experiment ended early: gazebo ended with code 0" in ended.lines[-1]
    assert ended.summary["run"]["completed"] is False
    assert len(ended.result().read_table("imu_simulated")) > 100


@pytest.mark.parametrize(
    ("service", "reason"),
    [
        ("pause_physics", "Gazebo's physics is paused"),
        ("reset_simulation", "was the simulation reset?"),
    ],
)
def test_what_stops_time_for_good_is_not_waited_out(gazebo, service, reason):
    running = gazebo(*DRIVE, "settings:={simulation: {command_timeout: 150.0}}")
    running.wait_until_driving()
    begun = time.monotonic()
    running.run_beside("rosservice", "call", f"/gazebo/{service}")
    ended = running.wait(SECONDS)
    # Time to start rosservice and to end, on a busy machine.
    assert time.monotonic() - begun < 60.0
    assert ended.code == 1
    assert ended.lines[-1].endswith(reason), ended.output
    assert ended.summary["run"]["completed"] is False


def test_a_gzserver_that_is_only_slow_is_waited_for(gazebo):
    patient = "settings:={trajectory: {stop: 30.0}, simulation: {command_timeout: 30.0}}"
    running = gazebo(*DRIVE, patient)
    running.wait_until_driving()
    running.signal_node("gazebo", signal.SIGSTOP)
    # Silent, and without an answer, for longer than what has stopped time is looked for.
    time.sleep(8.0)
    running.signal_node("gazebo", signal.SIGCONT)
    ended = running.wait(SECONDS)
    assert ended.code == 0, ended.output
    assert ended.summary["run"]["completed"] is True


def test_a_controller_that_is_missing(gazebo):
    ended = gazebo(*DRIVE, SHORT, fault="refused_controller").wait(SECONDS)
    assert ended.code == 1, ended.output
    assert not ended.has_traceback
    sentence = "gazebo_ros_control does not load joint_state_controller: is joint_state_controller"
    assert f"{sentence} installed?" in "".join(ended.fatal_sentences), ended.output
