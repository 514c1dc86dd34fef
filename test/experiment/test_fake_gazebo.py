"""Experiments with simulator:=gazebo where there is no Gazebo: a stand-in answers instead."""

import os
import signal
from pathlib import Path

import numpy as np
import pymap3d
import pytest
from experiment_process import find_program, read_messages, summary_of
from reservations import reserved_port
from scipy.spatial.transform import Rotation

import imu_simulation_framework as isf
from imu_simulation_framework.core.angles import wrap
from imu_simulation_framework.core.files import urdf_path
from imu_simulation_framework.drive.robot import load_robot_parameters, robot_description
from imu_simulation_framework.recordings.reading import read_reference_samples
from imu_simulation_framework.ros1.launching.launcher import GAZEBO_PLUGIN

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
GAZEBO = ("simulator:=gazebo", "drive:=a", "laps:=1")
DRIVE = (*GAZEBO, "real_time_factor:=5")
SHORT = {"trajectory": {"stop": 4.0}}
FAKE_TORQUE = 0.05  # as in gzserver.py [N m s]
ANGLES = ("roll", "pitch", "yaw")


@pytest.fixture
def gazebo_port():
    with reserved_port() as port:
        yield port


@pytest.fixture
def gazebo(experiment, gazebo_port, tmp_path):
    """Start an experiment in a ROS that has Gazebo's packages, with the stand-in as gzserver."""
    packages = tmp_path / "packages"
    for name in PACKAGES:
        (packages / name).mkdir(parents=True)
        (packages / name / "package.xml").write_text(MANIFEST.format(name=name))
    (packages / "gazebo_ros" / "gzserver").symlink_to(FAKE / "gzserver.py")
    (packages / GAZEBO_PLUGIN).touch()

    def start(*arguments, settings=SHORT, fault="", robot=""):
        environment = {
            "PYTHONPATH": f"{FAKE}:{os.environ.get('PYTHONPATH', '')}",
            "ROS_PACKAGE_PATH": f"{os.environ['ROS_PACKAGE_PATH']}:{packages}",
            "GAZEBO_PLUGIN_PATH": packages,
            "GAZEBO_MASTER_URI": f"http://127.0.0.1:{gazebo_port}",
            "FAKE_GAZEBO_FAULT": fault,
            "FAKE_GAZEBO_ROBOT": robot,
        }
        variables = [f"{name}={value}" for name, value in environment.items()]
        program = ["env", *variables, find_program("run_experiment.py"), "-v"]
        return experiment(*arguments, settings=settings, program=program)

    return start


@pytest.fixture
def drive_with_imu(gazebo, tmp_path):
    """Return result, IMU and truth of a short drive with an IMU, which only a file names."""

    def drive(imu, *arguments, more=""):
        (tmp_path / "imu.yaml").write_text(imu)
        (tmp_path / "mine.ini").write_text(
            "[simulation]\nsimulator = gazebo\nreal_time_factor = 5\n"
            f"[imu]\nmodel = specification\n[imu_specification]\nfile = imu.yaml\n{more}"
        )
        result = gazebo("config:=mine.ini", *arguments).wait().ensure_completed().result()
        return result, result.read_table("imu_simulated"), result.read_table("ground_truth")

    return drive


def test_specified_imu_starts_at_rest_where_drive_begins(drive_with_imu):
    # Without errors of its own, only the start can be wrong in the first second: a place elsewhere,
    # or the jerk of the wheels, of metres per second squared, taken for a tilt.
    heading = "gyroscope: {}\nmagnetometer: {}\noutput: {magnetic_heading: true}\n"
    result, *tables = drive_with_imu(heading, "record:=true")
    assert summary_of(result)["run"]["imu"]["model"] == "specification"
    imu, truth = (table.loc[:1.0] for table in tables)
    assert imu.index[0] == truth.index[0] == 0.0
    assert len(imu) == len(truth) == 101
    # A change of speed by v tilts the fused orientation by v / (g tau) at most, tau 3 s and more.
    tilt = truth["v"].abs().max() / (9.81 * 3.0) + 1e-6
    # A tilted magnetometer measures a field that dips by up to 70 deg from another direction.
    turn = np.tan(np.radians(70.0)) * tilt
    errors = {angle: wrap(imu[angle].to_numpy() - truth[angle].to_numpy()) for angle in ANGLES}
    # The declination, which this sensor does not know.
    declination = errors["yaw"][0]
    assert 0.0 < declination < np.radians(10.0)
    errors["yaw"] -= declination
    for angle, limit in zip(ANGLES, (tilt, tilt, turn)):
        assert np.abs(errors[angle]).max() < limit, angle
        assert np.abs(errors[angle][0]) < 1e-6
    first, *_ = read_messages(result.path("experiment.bag"))["/imu_yaw/simulated_error"]
    # The live view counts from the same place.
    assert (first.yaw, first.yaw_unwrapped) == (0.0, 0.0)


def test_magnetometer_measures_field_at_place_of_robot(drive_with_imu, tmp_path):
    (tmp_path / "hall.yaml").write_text(
        "bars: [{position: [2.0, -0.6, 0.1], size: [3.0, 0.1, 0.1], magnetisation: [2e4, 0, 0]}]\n"
        "motors: {left: [0.0, 0.0, 5e-6], right: [0.0, 0.0, 3e-6]}\n"
    )
    result, _, truth = drive_with_imu(
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
    # Between two samples the torque of the first holds.
    last = np.searchsorted(truth.index, field.index + 1e-6) - 1
    torque = FAKE_TORQUE * np.column_stack(wheels)[last]
    assert np.abs(torque).max() > 0.2
    expected = hall.felt(place, (turn * mounting).as_quat(), torque)
    # At most a sample apart, 0.01 s at 1 m/s and 1 rad/s.
    assert np.abs(field.to_numpy() - expected).max() < 0.02 * np.linalg.norm(hall.undisturbed)
    assert np.ptp(expected, axis=0).max() > 0.2 * np.linalg.norm(hall.undisturbed)


def read_whole_drive(running):
    """Return the result of a short drive that misses nothing."""
    ended = running.wait().ensure_completed()
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


OWN_ROBOT = """\
description: others.urdf
left_wheel: [left_wheel_1_joint, left_wheel_2_joint]
right_wheel: [right_wheel_1_joint, right_wheel_2_joint]
"""


def test_four_wheels_with_own_description_drive_to_end(gazebo, tmp_path):
    bundled = load_robot_parameters(urdf_path("robot_four_wheels.yaml"))
    (tmp_path / "others.urdf").write_text(robot_description(bundled))
    robot = tmp_path / "others.yaml"
    robot.write_text(OWN_ROBOT)
    read_whole_drive(gazebo(*DRIVE, "imu:=generic", f"robot:={robot}", robot=robot))


def test_car_with_receiver_drives_to_end(gazebo, tmp_path):
    (tmp_path / "receiver.yaml").write_text("rate: 5\nheading: {source: antennas}\n")
    robot = urdf_path("robot_ackermann.yaml")
    arguments = (*DRIVE, "imu:=generic", f"robot:={robot}", "gnss:=receiver.yaml", "record:=true")
    result = read_whole_drive(gazebo(*arguments, robot=robot))
    check_steering(result)
    check_fixes(result)


def check_steering(result):
    commanded, actual = (result.read_table(f"wheel_velocities{name}") for name in ("", "_actual"))
    for side in ("steering_left", "steering_right"):
        assert actual[side].abs().max() > 0.05
        assert actual[side].abs().max() == pytest.approx(commanded[side].abs().max(), rel=0.05)


def check_fixes(result):
    bag = result.path("experiment.bag")
    samples = read_reference_samples(
        bag, "/gnss/fix", velocity_topic="/gnss/velocity", heading_topic="/gnss/heading"
    )
    first, *_ = read_messages(bag)["/trajectory_error"]
    stamp = first.header.stamp.sec + 1e-9 * first.header.stamp.nanosec
    since = samples.columns["stamp"] - (stamp - first.time_from_start)
    # It began anew with the first command, perhaps a moment after an earlier fix.
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
    for axis, measured in (("x", x), ("y", y)):
        expected = np.interp(since[driving], truth.index, truth[axis])
        np.testing.assert_allclose(measured[within], expected[within], rtol=0.0, atol=1e-3)
    yaw = 2.0 * np.arctan2(samples.columns["qz"][driving], samples.columns["qw"][driving])
    error = wrap(yaw - np.interp(since[driving], truth.index, truth["yaw"]))
    assert np.abs(error[within]).max() < 1e-3


SLOW = (*GAZEBO, "real_time_factor:=2")
LONG = {"trajectory": {"stop": 60.0}}


def test_drive_fails_when_simulation_is_reset(gazebo):
    running = gazebo(*SLOW, settings=LONG)
    running.wait_until_driving()
    running.run_client("rosservice", "call", "/gazebo/reset_simulation")
    ended = running.wait()
    assert ended.code == 1
    assert ended.lines[-1].endswith("was the simulation reset?"), ended.output
    assert ended.summary["run"]["completed"] is False


def test_silent_gzserver_gets_its_full_time_out(gazebo):
    running = gazebo(*SLOW, settings={"trajectory": {"stop": 20.0}})
    running.wait_until_driving()
    running.signal_node("gazebo", signal.SIGSTOP)
    # With the second of them it asks, in vain, whether time has stopped.
    running.wait_for_progress(3)
    running.signal_node("gazebo", signal.SIGCONT)
    running.wait().ensure_completed()


def test_controller_that_is_not_installed_is_reported(gazebo):
    ended = gazebo(*DRIVE, fault="refused_controller").wait()
    assert ended.code == 1, ended.output
    assert not ended.has_traceback
    sentence = "gazebo_ros_control does not load joint_state_controller: is joint_state_controller"
    assert f"{sentence} installed?" in "".join(ended.fatal_sentences), ended.output
