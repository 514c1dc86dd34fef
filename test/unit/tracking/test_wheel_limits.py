"""Wheel velocities of a trajectory, and whether the robot can turn its wheels so."""

import math
import re

import numpy as np
import pandas as pd
import pytest

from imu_simulation_framework.core.errors import TrajectoryError
from imu_simulation_framework.drive.robot import DifferentialDrivetrain, RobotLimits
from imu_simulation_framework.drive.tracking import wheel_limits
from imu_simulation_framework.motion import trajectory

DRIVETRAIN = DifferentialDrivetrain(wheel_radius=0.1, half_track=0.25)


def _poses(times, x, y, yaw):
    values = np.broadcast_arrays(times, x, y, yaw)[1:]
    return pd.DataFrame(
        dict(zip(("x", "y", "yaw"), map(np.array, values))), index=pd.Index(times, name="time")
    )


def _circle(times, v=0.8, yaw_rate=0.4):
    yaw = 0.5 + yaw_rate * times
    radius = v / yaw_rate
    return _poses(times, 3.0 + radius * np.sin(yaw), -radius * np.cos(yaw), yaw)


def test_wheel_velocities_are_those_of_the_inverse_kinematics():
    table = trajectory.add_velocities(_circle(np.arange(100) / 20.0))
    wheels = wheel_limits.wheel_velocities(table, DRIVETRAIN)
    v, yaw_rate = DRIVETRAIN.forward(wheels["left"], wheels["right"])
    assert np.allclose(v, table["v"])
    assert np.allclose(yaw_rate, table["yaw_rate"])
    assert wheels.index.equals(table.index)


def _step_in_speed():
    times = np.arange(0.0, 40.0, 0.05)
    return _poses(times, np.where(times < 20.0, 0.0, 1.2 * (times - 20.0)), 0.0, 0.0)


def test_trajectory_within_the_limits_passes():
    wheel_limits.check_limits(
        trajectory.add_velocities(_circle(np.arange(200) / 20.0)), DRIVETRAIN, RobotLimits(9.5, 1.0)
    )


def test_check_says_where_and_how_much_and_its_advice_works():
    poses = _step_in_speed()
    limits = RobotLimits(15.0, 20.0)
    with pytest.raises(TrajectoryError) as caught:
        wheel_limits.check_limits(trajectory.add_velocities(poses), DRIVETRAIN, limits)
    message = str(caught.value)
    assert re.search(r"at (19\.9|20\.0)\d s the left wheel's acceleration is 120 rad/s\^2", message)
    assert "6.00 times the limit of 20 rad/s^2" in message
    factor = float(re.search(r"scale ([\d.]+)", message).group(1))
    window = float(re.search(r"smoothing over ([\d.]+) s", message).group(1))
    wheel_limits.check_limits(
        trajectory.add_velocities(trajectory.scale(poses, factor)), DRIVETRAIN, limits
    )
    wheel_limits.check_limits(
        trajectory.add_velocities(trajectory.smooth(poses, window)), DRIVETRAIN, limits
    )
    larger = trajectory.add_velocities(trajectory.scale(poses, factor + 0.01))
    with pytest.raises(TrajectoryError):
        wheel_limits.check_limits(larger, DRIVETRAIN, limits)


def test_check_suggests_the_whole_window_and_scale_when_it_knows_the_present_ones():
    poses = _step_in_speed()
    limits = RobotLimits(15.0, 20.0)
    present = trajectory.scale(trajectory.smooth(poses, 0.5), 0.9)
    with pytest.raises(TrajectoryError) as caught:
        wheel_limits.check_limits(
            trajectory.add_velocities(present),
            DRIVETRAIN,
            limits,
            recorded=poses,
            present_scale=0.9,
            present_window=0.5,
        )
    window = float(re.search(r"smoothing over ([\d.]+) s", str(caught.value)).group(1))
    factor = float(re.search(r"scale ([\d.]+)", str(caught.value)).group(1))
    for remedy in (
        trajectory.scale(trajectory.smooth(poses, window), 0.9),
        trajectory.scale(trajectory.smooth(poses, 0.5), factor),
    ):
        wheel_limits.check_limits(trajectory.add_velocities(remedy), DRIVETRAIN, limits)


def test_check_never_suggests_a_shorter_window_than_the_present_one():
    fast = trajectory.add_velocities(_step_in_speed())
    gentle = _circle(np.arange(800) / 20.0)
    with pytest.raises(TrajectoryError, match=r"smoothing over 4 s would fit"):
        wheel_limits.check_limits(
            fast, DRIVETRAIN, RobotLimits(15.0, 20.0), recorded=gentle, present_window=3.0
        )


def test_check_does_not_suggest_a_scale_for_a_turn_on_the_spot_that_is_too_fast():
    times = np.arange(0.0, 60.0, 0.05)
    table = trajectory.add_velocities(_poses(times, 0.0, 0.0, 8.0 * times))
    with pytest.raises(TrajectoryError, match="neither a smaller scale nor smoothing"):
        wheel_limits.check_limits(table, DRIVETRAIN, RobotLimits(15.0, 40.0))


def test_velocities_that_are_not_numbers_are_refused():
    table = trajectory.add_velocities(_circle(np.arange(200) / 20.0))
    table.iloc[7, 3] = math.nan
    with pytest.raises(TrajectoryError, match="not finite"):
        wheel_limits.check_limits(table, DRIVETRAIN, RobotLimits(15.0, 40.0))
