"""Sessions with simulator:=external, which transform the robot's messages to the world frame."""

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from imu_simulation_framework.core.errors import ConfigurationError, SimulatorError
from imu_simulation_framework.drive.configuration import load_configuration
from imu_simulation_framework.drive.drivetrain import DifferentialDrivetrain
from imu_simulation_framework.drive.experiment.imu import imu_label
from imu_simulation_framework.drive.experiment.validation import reject_settings_without_effect
from imu_simulation_framework.drive.session.external import ExternalRobotSession
from imu_simulation_framework.drive.session.messages import imu_rows
from imu_simulation_framework.drive.session.simulation import SimulatedRobot
from imu_simulation_framework.recordings.messages import ImuPackers, separate

WHEELS = DifferentialDrivetrain(0.1, 0.25)
SECOND = 10**9


def state_at(x, y, yaw, speed=0.0, yaw_rate=0.0):
    turn = Rotation.from_euler("z", yaw).as_quat()
    return np.array([x, y, 0.1, *turn, speed, 0.0, 0.0, 0.0, 0.0, yaw_rate])


def session(**options):
    return ExternalRobotSession(WHEELS, 0.05, **options)


def test_first_pose_of_stationary_robot_defines_world_frame():
    robot = session()
    robot.odometry(0, state_at(3.0, -2.0, 1.0))
    robot.put(10.0, 20.0, -0.5)
    stood = robot.odometry(0, state_at(3.0, -2.0, 1.0))
    np.testing.assert_allclose(stood[:3], (10.0, 20.0, 0.1))
    # The robot is two metres ahead of its start pose and turned by 0.3 rad.
    ahead = state_at(3.0 + 2.0 * math.cos(1.0), -2.0 + 2.0 * math.sin(1.0), 1.3, 0.7, 0.2)
    displaced = robot.odometry(SECOND, ahead)
    np.testing.assert_allclose(
        displaced[:2], (10.0 + 2.0 * math.cos(-0.5), 20.0 + 2.0 * math.sin(-0.5))
    )
    assert Rotation.from_quat(displaced[3:7]).as_euler("xyz") == pytest.approx([0.0, 0.0, -0.2])
    np.testing.assert_array_equal(displaced[7:], ahead[7:])
    for ros2 in (False, True):
        stamps, row = np.array([SECOND]), np.concatenate((ahead[3:7], np.arange(6.0)))
        (message,) = separate(ImuPackers(3 * [9 * [0.0]], ros2=ros2).data(stamps, row[np.newaxis]))
        (turned,) = imu_rows([bytes(robot.imu(message))])[1]
        assert turned == pytest.approx([*displaced[3:7], *range(6)])


def test_world_frame_twist_is_rotated_to_body_frame():
    robot, yaw = session(twist_in_world=True), 2.0
    state = state_at(0.0, 0.0, yaw)
    state[7:10] = (0.5 * math.cos(yaw), 0.5 * math.sin(yaw), 0.0)
    np.testing.assert_allclose(robot.odometry(0, state)[7:10], (0.5, 0.0, 0.0), atol=1e-15)


def test_moving_or_silent_robot_is_rejected():
    robot = session()
    with pytest.raises(SimulatorError, match="no odometry"):
        robot.put(0.0, 0.0, 0.0)
    robot.odometry(0, state_at(0.0, 0.0, 0.0, speed=0.3))
    with pytest.raises(SimulatorError, match=r"moving at 0\.3 m/s and 0 rad/s"):
        robot.put(0.0, 0.0, 0.0)


def test_wheel_commands_are_converted_to_twist_and_missing_commands_stop_robot_once():
    robot = session()
    robot.odometry(0, state_at(0.0, 0.0, 0.0))
    assert robot.command(*WHEELS.inverse(0.6, -0.4)) == pytest.approx((0.6, -0.4))
    robot.odometry(SECOND // 2, state_at(0.3, 0.0, 0.0))
    assert not robot.left_alone()
    robot.odometry(SECOND // 2 + 1, state_at(0.3, 0.0, 0.0))
    assert [robot.left_alone(), robot.left_alone()] == [True, False]


def test_command_delay_is_measured_from_stamp_of_corresponding_state():
    robot = session()
    robot.command(1.0, 1.0)  # the first command does not respond to a state
    for stamp, answered in ((1, 0), (2, 1), (3, 1), (9, 1)):
        robot.odometry(stamp * SECOND // 10, state_at(0.0, 0.0, 0.0))
        robot.due(stamp * SECOND // 10)
        for _ in range(answered):
            robot.command(1.0, 1.0)
    # Commands at 0.2 s, 0.3 s and 0.9 s respond to the states at 0.1 s, 0.2 s and 0.3 s.
    assert "up to 0.60 s late relative to the robot's state" in robot.too_late()


def test_reordered_messages_and_final_zero_commands_are_not_counted_as_late():
    robot = session()
    robot.command(1.0, 1.0)
    for tenth in range(1, 20):
        robot.odometry(tenth * SECOND // 10, state_at(0.0, 0.0, 0.0))
        if tenth < 10:
            robot.command(1.0, 1.0)  # arrives before the state that it responds to
        robot.due(tenth * SECOND // 10)
    for _ in range(3):
        robot.command(0.0, 0.0)
    assert not robot.too_late()


def configured(**overrides):
    settings = {"simulation": {"simulator": "external"}, "imu": {"model": "published"}}
    for section, keys in overrides.items():
        settings.setdefault(section, {}).update(keys)
    return load_configuration(overrides=settings)


def test_external_imu_is_used_as_published_or_with_added_errors():
    assert imu_label(configured()) == "published"
    assert imu_label(configured(imu={"model": "specification"})) == "specification_bno055"
    with pytest.raises(ConfigurationError, match="model is hector.* expected published"):
        imu_label(configured(imu={"model": "hector"}))
    with pytest.raises(ConfigurationError, match="published, which requires"):
        imu_label(configured(simulation={"simulator": "mujoco"}))


@pytest.mark.parametrize(
    ("section", "keys"),
    [
        ("terrain", {"kind": "uneven"}),
        ("simulation", {"real_time_factor": 2.0}),
        ("simulation", {"gravity": 3.7}),
    ],
)
def test_simulated_world_settings_are_rejected_for_external_robot(section, keys):
    reject_settings_without_effect(configured())
    with pytest.raises(ConfigurationError, match=f"\\[{section}\\] {next(iter(keys))} has no"):
        reject_settings_without_effect(configured(**{section: keys}))


def test_simulated_robot_rejects_external_simulator():
    with pytest.raises(ConfigurationError, match="simulator is external, expected mujoco"):
        SimulatedRobot(configured())
