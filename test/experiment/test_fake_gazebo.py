"""Experiments with simulator:=gazebo and a substitute for gzserver."""

import contextlib
import os
import signal
from pathlib import Path

import numpy as np
import pymap3d
import pytest
from experiment_process import find_program, read_messages, summary_of
from patience import PATIENCE, wait_until
from reservations import reserved_port
from scipy.spatial.transform import Rotation

import imu_simulation_framework as isf
from imu_simulation_framework.core.angles import wrap
from imu_simulation_framework.core.files import urdf_path
from imu_simulation_framework.drive.robots.files import robot_description
from imu_simulation_framework.drive.turning import load_robot_parameters
from imu_simulation_framework.recordings.reading import read_reference_samples
from imu_simulation_framework.ros1.launching.launcher import GAZEBO_PLUGIN

FAKE = Path(__file__).resolve().parents[1] / "fake_gazebo"
MANIFEST = """<package format="2">
  <name>{name}</name>
  <version>1.0.0</version>
  <description>A substitute</description>
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
    """Return a function that starts an experiment with fake Gazebo packages and gzserver."""
    packages = tmp_path / "packages"
    for name in PACKAGES:
        (packages / name).mkdir(parents=True)
        (packages / name / "package.xml").write_text(MANIFEST.format(name=name))
    (packages / "gazebo_ros" / "gzserver").symlink_to(FAKE / "gzserver.py")
    (packages / GAZEBO_PLUGIN).touch()

    def start(*arguments, settings=SHORT, robot=""):
        environment = {
            "PYTHONPATH": f"{FAKE}:{os.environ.get('PYTHONPATH', '')}",
            "ROS_PACKAGE_PATH": f"{os.environ['ROS_PACKAGE_PATH']}:{packages}",
            "GAZEBO_PLUGIN_PATH": packages,
            "GAZEBO_MASTER_URI": f"http://127.0.0.1:{gazebo_port}",
            "FAKE_GAZEBO_ROBOT": robot,
        }
        variables = [f"{name}={value}" for name, value in environment.items()]
        program = ["env", *variables, find_program("run_experiment.py"), "-v"]
        return experiment(*arguments, settings=settings, program=program)

    return start


def read_whole_drive(running):
    """Return the result of a short drive; assert that no message is missing."""
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


# This IMU has no sensor errors, so only a wrong initial state can cause an error in the first
# second.
OWN_IMU = "gyroscope: {}\nmagnetometer: {}\noutput: {magnetic_heading: true}\n"
# Along the path of the first second, the direction of the iron bar's field changes by 0.1 deg. The
# vertical fields of the motors do not affect the heading.
OWN_HALL = """\
bars: [{position: [2.0, -0.4, 0.1], size: [1.0, 0.1, 0.1], magnetisation: [3e4, 0, 0]}]
motors: {left: [0.0, 0.0, 5e-6], right: [0.0, 0.0, 3e-6]}
"""
OWN_SETTINGS = """\
[simulation]
simulator = gazebo
real_time_factor = 5
[imu]
model = specification
[imu_specification]
file = imu.yaml
[magnetic_environment]
file = hall.yaml
"""


def test_four_wheeled_robot_starts_stationary_and_measures_local_magnetic_field(gazebo, tmp_path):
    bundled = load_robot_parameters(urdf_path("robot_four_wheels.yaml"))
    texts = {"others.yaml": OWN_ROBOT, "others.urdf": robot_description(bundled)}
    texts.update({"imu.yaml": OWN_IMU, "hall.yaml": OWN_HALL, "mine.ini": OWN_SETTINGS})
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    robot = tmp_path / "others.yaml"
    arguments = ("config:=mine.ini", f"robot:={robot}", "record:=true")
    result = read_whole_drive(gazebo(*arguments, robot=robot))
    assert summary_of(result)["run"]["imu"]["model"] == "specification"
    truth = result.read_table("ground_truth")
    hall = isf.read_magnetic_environment(tmp_path / "hall.yaml")
    field = check_magnetic_field(result, truth, hall, load_robot_parameters(robot))
    check_start_at_rest(result, truth, field[0])


def check_magnetic_field(result, truth, hall, robot):
    """Check the measured magnetic field; return the true field along the path in world axes [T]."""
    measured = result.read_table("magnetometer_simulated")
    place, angles = (
        np.column_stack([np.interp(measured.index, truth.index, truth[name]) for name in names])
        for names in ("xyz", ("yaw", "pitch", "roll"))
    )
    turn = Rotation.from_euler("ZYX", angles)
    turn_of_imu = turn * Rotation.from_euler("xyz", robot.imu_orientation)
    place = place + turn.apply(robot.imu_position)
    wheels = robot.drivetrain.inverse(truth["v"].to_numpy(), truth["yaw_rate"].to_numpy())
    # The torque is constant between two samples; each side has two motors.
    last = np.searchsorted(truth.index, measured.index + 1e-6) - 1
    torque = 2.0 * FAKE_TORQUE * np.column_stack(wheels)[last]
    assert np.abs(torque).max() > 0.2
    expected = hall.measured_field(place, turn_of_imu.as_quat(), torque)
    # The stamps of field and pose differ by at most one sample: 0.01 s at 1 m/s and 1 rad/s.
    assert np.abs(measured.to_numpy() - expected).max() < 0.02 * np.linalg.norm(hall.undisturbed)
    assert np.ptp(expected, axis=0).max() > 0.2 * np.linalg.norm(hall.undisturbed)
    return turn_of_imu.apply(expected)


def check_start_at_rest(result, truth, field):
    """Check the first second for a wrong initial pose and for tilt caused by the wheels' jerk.

    The fusion filter must not mistake the acceleration of the jerk for a tilt.
    """
    imu, truth = (table.loc[:1.0] for table in (result.read_table("imu_simulated"), truth))
    assert imu.index[0] == truth.index[0] == 0.0
    assert len(imu) == len(truth) == 101
    # A change in speed of v tilts the fused orientation by at most v / (g tau), with tau >= 3 s.
    tilt = truth["v"].abs().max() / (9.81 * 3.0) + 1e-6
    # A tilt changes the magnetic heading by up to tan(dip) times the tilt; the dip is below 70 deg.
    turn = np.tan(np.radians(70.0)) * tilt
    errors = {angle: wrap(imu[angle].to_numpy() - truth[angle].to_numpy()) for angle in ANGLES}
    # The sensor corrects neither the declination nor the field of the iron bar.
    declination = errors["yaw"][0]
    # On a busy machine, the first torque may arrive before or after the first sample.
    assert declination == pytest.approx(np.arctan2(field[0], field[1]), abs=5e-3)
    assert 0.0 < declination < np.radians(10.0)
    errors["yaw"] -= declination
    for angle, limit in zip(ANGLES, (tilt, tilt, turn)):
        assert np.abs(errors[angle]).max() < limit, angle
        # A change in speed before the first sample also tilts the fused orientation.
        assert np.abs(errors[angle][0]) < abs(truth["v"].iloc[0]) / (9.81 * 3.0) + 1e-6
    first, *_ = read_messages(result.path("experiment.bag"))["/imu_yaw/simulated_error"]
    # The yaw error in the live view is also zero at the start.
    assert (first.yaw, first.yaw_unwrapped) == (0.0, 0.0)


def test_car_with_gnss_receiver_completes_drive(gazebo, tmp_path):
    (tmp_path / "receiver.yaml").write_text("rate: 5\nheading: {source: antennas}\n")
    robot = urdf_path("robot_ackermann.yaml")
    arguments = (*DRIVE, "imu:=generic", f"robot:={robot}", "gnss:=receiver.yaml", "record:=true")
    result = read_whole_drive(gazebo(*arguments, robot=robot))
    check_steering(result)
    check_fixes(result)


def test_bag_contains_last_fixes_of_delayed_gnss_receiver(gazebo, tmp_path):
    (tmp_path / "receiver.yaml").write_text("rate: 5\nheading: {source: antennas}\n")
    # The simulator may be ten control periods ahead of a node; at 2 Hz, this is longer than the
    # drive.
    slow = {"control": {"rate": 2.0}, "simulation": {"command_timeout": PATIENCE}}
    settings = {**SHORT, **slow}
    arguments = (*GAZEBO, "real_time_factor:=1", "gnss:=receiver.yaml", "record:=true")
    running = gazebo(*arguments, settings=settings)
    running.wait_until_driving()
    # On a busy machine, the drive may end before the receiver is stopped.
    with contextlib.suppress(ProcessLookupError):
        running.signal_node("gnss_receiver", signal.SIGSTOP)
        running.wait_for(r"simulated 4\.0 of 4\.0 s")
        # After two simulated seconds, a recorder that does not wait for the receiver would exit.
        running.run_client("rostopic", "echo", "-n", "200", "/clock")
        running.signal_node("gnss_receiver", signal.SIGCONT)
    result = running.wait().ensure_completed().result()
    # The bag ends one control period after the drive.
    check_fixes(result, most=24, control_period=0.5)
    check_drift_starts_with_drive(result)


def check_drift_starts_with_drive(result):
    """Check the yaw error of the Hector plug-in, which increases with each sample."""
    imu, truth = (result.read_table(name)["yaw"] for name in ("imu_simulated", "ground_truth"))
    error = np.unwrap(imu.to_numpy() - np.interp(imu.index, truth.index, np.unwrap(truth)))
    assert abs(error[0]) < 1e-6
    # The drift starts before the first sample and changes the yaw from the second sample on.
    assert np.diff(error)[1:].min() > 0.0


def check_steering(result):
    """Check that each steering joint follows its commands in order, with an arbitrary delay."""
    commanded, actual = (result.read_table(f"wheel_velocities{name}") for name in ("", "_actual"))
    for side in ("steering_left", "steering_right"):
        assert actual[side].abs().max() > 0.05
        commands = np.append(0.0, commanded[side])
        for time, angle in actual[side].items():
            matches = np.flatnonzero(np.isclose(commands, angle, rtol=0.0, atol=1e-9))
            assert len(matches) > 0, f"{side} at {time} s: no command from then on is {angle}"
            commands = commands[matches[0] :]


def check_fixes(result, most=22, control_period=0.05):
    bag = result.path("experiment.bag")
    samples = read_reference_samples(
        bag, "/gnss/fix", velocity_topic="/gnss/velocity", heading_topic="/gnss/heading"
    )
    first, *_ = read_messages(bag)["/trajectory_error"]
    stamp = first.header.stamp.sec + 1e-9 * first.header.stamp.nanosec
    since = samples.columns["stamp"] - (stamp - first.time_from_start)
    # The GNSS receiver restarts at the first command, when simulated time may be up to ten control
    # periods of 0.05 s ahead of the receiver.
    irregular = np.flatnonzero(np.abs(np.diff(since) - 0.2) > 0.015)
    # Only one interval between fixes is irregular, so no fix is lost before or after it.
    assert np.count_nonzero(since[irregular] > -0.21) <= 1
    begin = irregular[-1] + 1 if len(irregular) else np.flatnonzero(since < 0.1)[-1]
    # The first command may reach error_publisher two control periods later.
    assert -2.0 * control_period - 0.005 <= since[begin] <= 0.505
    driving = np.arange(len(since)) >= begin
    truth = result.read_table("ground_truth")
    missed = np.ceil(max(since[begin], 0.0) / 0.2)
    assert 20 - missed <= np.count_nonzero(driving) <= most
    place = [samples.columns[name][driving] for name in ("latitude", "longitude", "altitude")]
    origin = isf.GnssOrigin()
    x, y, _ = pymap3d.geodetic2enu(*place, origin.latitude, origin.longitude, origin.height)
    within = (since[driving] >= 0.0) & (since[driving] <= truth.index[-1])
    for axis, measured in (("x", x), ("y", y)):
        expected = np.interp(since[driving], truth.index, truth[axis])
        np.testing.assert_allclose(measured[within], expected[within], rtol=0.0, atol=1e-3)
    yaw = 2.0 * np.arctan2(samples.columns["qz"][driving], samples.columns["qw"][driving])
    error = wrap(yaw - np.interp(since[driving], truth.index, truth["yaw"]))
    assert np.abs(error[within]).max() < 1e-3


def test_drive_waits_for_suspended_gzserver_and_ends_on_simulation_reset(gazebo):
    # The drive lasts longer than the calls below can take on a busy machine; the reset ends it.
    running = gazebo(*GAZEBO, "real_time_factor:=2", settings={"trajectory": {"stop": 600.0}})
    running.wait_until_driving()
    running.signal_node("gazebo", signal.SIGSTOP)
    # At the second progress line, path_follower requests the simulated time and gets no response.
    running.wait_for_progress(3)
    time_at_stop = running.simulated_time
    running.signal_node("gazebo", signal.SIGCONT)
    wait_until(lambda: running.simulated_time > time_at_stop, "simulated time")
    running.run_client("rosservice", "call", "/gazebo/reset_simulation")
    ended = running.wait()
    assert ended.code == 1
    assert ended.lines[-1].endswith("check whether the simulation was reset"), ended.output
    assert ended.summary["run"]["completed"] is False
