"""Path following: kinematics, tracking errors, wheel limits, and controllers in closed loop."""

import math
import re
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from scipy.linalg import solve_continuous_are

from imu_simulation_framework.core.errors import ConfigurationError, TrajectoryError
from imu_simulation_framework.core.files import urdf_path
from imu_simulation_framework.drive.configuration import load_configuration
from imu_simulation_framework.drive.drivetrain import DifferentialDrivetrain, RobotLimits
from imu_simulation_framework.drive.experiment.robot import make_follower
from imu_simulation_framework.drive.tracking import controllers as control
from imu_simulation_framework.drive.tracking import wheel_limits
from imu_simulation_framework.drive.tracking.controllers import (
    ControllerGains,
    Pid,
    Pose2D,
    Reference,
    TrackingError,
    make_controller,
    tracking_error,
)
from imu_simulation_framework.drive.turning import load_robot_parameters
from imu_simulation_framework.heading.wheel_comparison import compare_wheels
from imu_simulation_framework.motion import trajectory

DRIVETRAIN = DifferentialDrivetrain(wheel_radius=0.1, half_track=0.25)
ROBOT = load_robot_parameters()
LIMITS = ROBOT.drivetrain.limits
PERIOD = 0.05
NO_ERROR = TrackingError(0.0, 0.0, 0.0, 0.0)


# The sum of all terms determines the sign of the output. With the sign of the error instead, a
# remaining integral would act in the wrong direction.
@pytest.mark.parametrize(
    ("gains", "options", "errors", "outputs"),
    [
        ((2.0, 0.0, 0.0, PERIOD), {}, [0.5, -0.5], [1.0, -1.0]),
        ((0.0, 3.0, 0.0, 0.1), {}, 5 * [2.0], [0.6, 1.2, 1.8, 2.4, 3.0]),
        ((1.0, 1.0, 0.0, 1.0), {}, [5.0, -1.0], [10.0, -1.0 + 5.0 - 1.0]),
        ((0.0, 0.0, 1.0, 0.1), {}, [1.0, 0.8], [0.0, -2.0]),
        ((0.0, 0.0, 1.0, 0.1), {"angular": True}, [math.pi - 0.1, 0.1 - math.pi], [0.0, 2.0]),
        (
            (0.0, 1.0, 0.0, 1.0),
            {"output_limit": 2.0},
            [*10 * [0.9], -0.5],
            [0.9, 1.8, *8 * [2.0], 1.3],
        ),
        (
            *((0.0, 1.0, 10.0, 1.0), {"output_limit": 2.0}),
            *([1.0, 1.0, -5.0, -1.0, -1.0], [1.0, 2.0, -2.0, 2.0, 0.0]),
        ),
    ],
    ids=[
        *("proportional", "sum of errors", "integral outweighs", "derivative damps", "half a turn"),
        *("leaves the limit at once", "shrinks while the derivative is at the limit"),
    ],
)
def test_pid_terms_match_equation(gains, options, errors, outputs):
    pid = Pid(*gains, **options)
    assert [pid.step(error) for error in errors] == pytest.approx(outputs)


def test_filtered_derivative_of_ramp_converges_with_its_time_constant():
    time_constant = 0.5
    pid = Pid(0.0, 0.0, 1.0, 0.01, derivative_time_constant=time_constant)
    outputs = [pid.step(3.0 * 0.01 * k) for k in range(301)]
    # The filter's discrete step response is shifted from the exponential by up to half a period.
    ramp_output = 3.0 * (1.0 - math.exp(-1.0))
    assert outputs[50] == pytest.approx(ramp_output, abs=3.0 * 0.01 / time_constant)
    assert outputs[300] == pytest.approx(3.0, rel=0.005)


def test_nan_error_is_rejected_and_not_integrated():
    pid = Pid(1.0, 1.0, 0.0, PERIOD)
    with pytest.raises(ValueError, match="nan"):
        pid.step(math.nan)
    assert pid.step(0.0) == 0.0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((-1.0, 0.0, 0.0, 0.1), "proportional gain"),
        ((0.0, math.nan, 0.0, 0.1), "integral gain"),
        ((0.0, 0.0, 0.0, 0.0), "period"),
        ((0.0, 0.0, 0.0, 0.1, -1.0), "time constant"),
        ((0.0, 0.0, 0.0, 0.1, 0.0, 0.0), "output limit"),
    ],
)
def test_invalid_pid_settings_are_rejected(arguments, words):
    with pytest.raises(ConfigurationError, match=words):
        Pid(*arguments)


def made(name, **gains):
    return make_controller(name, ControllerGains(**gains), PERIOD, ROBOT)


def wheels_of(controller, left, right, error):
    """Return the wheel velocities that a controller commands for reference wheel velocities."""
    return DRIVETRAIN.inverse(*controller.correct(*DRIVETRAIN.forward(left, right), error))


@pytest.mark.parametrize("name", control.CONTROLLERS)
def test_controllers_output_reference_velocities_at_zero_error(name):
    assert made(name).correct(0.4, -0.6, NO_ERROR) == (0.4, -0.6)
    # The open-loop controller ignores all tracking errors.
    if name == "open_loop":
        assert made(name).correct(0.4, 0.6, TrackingError(1.0, 2.0, 1.0, -1.0)) == (0.4, 0.6)


CLOSED = [name for name in control.CONTROLLERS if name != "open_loop"]


@pytest.mark.parametrize("name", CLOSED)
@pytest.mark.parametrize("yaw_error", [-0.2, 0.2])
def test_robot_turns_in_direction_of_yaw_error(name, yaw_error):
    left, right = wheels_of(made(name), 5.0, 5.0, TrackingError(yaw_error, 0.0, 0.0, 0.0))
    assert math.copysign(1.0, right - left) == math.copysign(1.0, yaw_error)


def test_yaw_pid_corrects_wheels_in_opposite_directions_and_prefers_turning_at_limit():
    controller = made("yaw_pid", yaw_proportional=10.0, yaw_integral=0.0, yaw_derivative=0.0)
    assert wheels_of(controller, 5.0, 6.0, TrackingError(0.1, 9.0, 9.0, 9.0)) == pytest.approx(
        (4.0, 7.0)
    )
    controller = made("yaw_pid", yaw_integral=0.0)
    left, right = wheels_of(controller, 14.0, 14.0, TrackingError(0.5, 0.0, 0.0, 0.0))
    assert right == pytest.approx(15.0)
    assert right - left == pytest.approx(2.0 * 0.5 * ControllerGains.yaw_proportional)


@pytest.mark.parametrize("away", [-0.3, 0.3])
def test_reference_ahead_increases_speed_and_reference_to_left_turns_left(away):
    ahead, to_the_left = TrackingError(0.0, 0.3, away, 0.0), TrackingError(0.0, 0.3, 0.0, away)
    left, right = wheels_of(made("yaw_distance_pid"), 5.0, 5.0, ahead)
    assert left == right
    assert (left > 5.0) == (away > 0.0)
    for speed in (5.0, -5.0):
        left, right = wheels_of(made("yaw_distance_pid"), speed, speed, to_the_left)
        assert (right > left) == (speed * away > 0.0)


def test_cross_track_error_while_stationary_is_ignored_and_not_integrated():
    gains = ControllerGains(distance_integral=5.0, yaw_derivative=0.0)
    waiting, fresh = (make_controller("yaw_distance_pid", gains, PERIOD, ROBOT) for _ in "12")
    lateral = TrackingError(0.0, 0.2, 0.0, 0.2)
    for _ in range(100):
        assert waiting.correct(0.0, 0.0, lateral) == (0.0, 0.0)
    assert waiting.correct(0.5, 0.0, lateral) == fresh.correct(0.5, 0.0, lateral)


def test_tracking_errors_are_projected_onto_robot_axes():
    # The robot faces the reference, which itself faces left.
    controller = made("yaw_distance_pid")
    left, right = wheels_of(controller, 0.0, 0.0, TrackingError(math.pi / 2, 0.3, 0.0, -0.3))
    expected = ControllerGains.distance_proportional * 0.3
    assert 0.5 * (left + right) == pytest.approx(expected, rel=0.01)
    turned = TrackingError(math.pi, 0.0, 0.0, 0.0)
    left, right = wheels_of(made("yaw_distance_pid"), 5.0, 5.0, turned)
    assert 0.5 * (left + right) == pytest.approx(-5.0)


def test_distance_integral_does_not_wind_up_at_wheel_velocity_limit():
    controller = made("yaw_distance_pid", distance_proportional=1.0, distance_integral=1.0)
    for _ in range(400):
        wheels_of(controller, 15.0, 15.0, TrackingError(0.0, 0.5, 0.5, 0.0))
    left, _ = wheels_of(controller, 10.0, 10.0, NO_ERROR)
    assert left == pytest.approx(10.0, abs=0.1)


@pytest.mark.parametrize("name", CLOSED)
def test_wheel_commands_never_exceed_velocity_limit(name):
    controller = made(name, correction_limit=100.0)
    generator = np.random.default_rng(1)
    for values in generator.uniform(-14.0, 14.0, (300, 5)):
        left, right = wheels_of(
            controller, *values[:2], TrackingError(0.2 * values[2], 5.0, *values[3:])
        )
        assert max(abs(left), abs(right)) <= LIMITS.max_wheel_velocity + 1e-12


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("yaw_integral", -1.0, "^yaw_integral is -1.0, expected"),
        ("ramsete_b", math.nan, "^ramsete_b is nan, expected"),
        ("correction_limit", 0, "^correction_limit is 0, expected"),
    ],
)
def test_invalid_controller_gains_are_rejected(key, value, words):
    with pytest.raises(ConfigurationError, match=words):
        ControllerGains(**{key: value})


class Robot(NamedTuple):
    """Robot with first-order wheel dynamics and no slip; its parameters differ from the model's.

    The time constant is larger than in the simulated robots, the robot turns less than
    it should (scrubbing), and its left wheel is larger than the right one.
    """

    time_constant: float = 0.08
    turning: float = 0.9
    left_radius: float = 1.02


def _drive(table, controller, start=None, robot=None):
    """Return the tracking errors (time, 4) of a robot that follows a trajectory in closed loop."""
    robot = robot or Robot()
    reference = Reference.from_table(table)
    x, y, yaw = start or reference.pose_at(reference.start)
    left = right = 0.0
    step = 0.01
    follow = 1.0 - math.exp(-step / robot.time_constant)
    errors = []
    for tick in range(int(reference.duration / PERIOD)):
        time = reference.start + tick * PERIOD
        error = tracking_error(reference.pose_at(time), Pose2D(x, y, yaw))
        errors.append(error)
        command = DRIVETRAIN.inverse(*controller.correct(*reference.velocities_at(time), error))
        for _ in range(round(PERIOD / step)):
            left += follow * (command[0] - left)
            right += follow * (command[1] - right)
            v, yaw_rate = DRIVETRAIN.forward(robot.left_radius * left, right)
            turn = robot.turning * yaw_rate * step
            x += v * step * math.cos(yaw + 0.5 * turn)
            y += v * step * math.sin(yaw + 0.5 * turn)
            yaw += turn
    return np.array(errors)


def _rms(values):
    return math.sqrt(np.mean(np.square(values)))


def _figure_eight(direction=1.0):
    """Return two laps of an 8 m lemniscate at up to 0.8 m/s, forwards or backwards."""
    times = np.arange(0.0, 80.0, PERIOD)
    phase = 2.0 * math.pi / 40.0 * times
    x, y = 4.0 * np.sin(phase), 2.0 * np.sin(2.0 * phase)
    dx, dy = np.cos(phase), np.cos(2.0 * phase)
    yaw = np.unwrap(np.arctan2(direction * dy, direction * dx))
    return trajectory.add_velocities(indexed(times, x=x, y=y, yaw=yaw))


@pytest.mark.parametrize("direction", [1.0, -1.0], ids=["forwards", "backwards"])
def test_yaw_pid_limits_heading_error_and_yaw_distance_pid_limits_distance_error(direction):
    table = _figure_eight(direction)
    errors = _drive(table, made("yaw_pid"))
    assert _rms(errors[100:, 0]) < math.radians(1.0)
    errors = _drive(table, made("yaw_distance_pid"))
    assert _rms(errors[100:, 1]) < 0.03
    assert _rms(errors[100:, 0]) < math.radians(1.0)
    assert _rms(errors[:, 1]) < 0.15
    lost = _drive(table, made("open_loop"))
    assert _rms(lost[:, 1]) > 1.0


@pytest.mark.parametrize("v", [-1.3, 0.0, 0.7])
@pytest.mark.parametrize("yaw_rate", [-0.8, 0.0])
def test_ramsete_decreases_lyapunov_function_as_in_paper(v, yaw_rate):
    gains = ControllerGains()
    b, rate = gains.ramsete_b, math.hypot(yaw_rate, math.sqrt(gains.ramsete_b) * v, 1.0)
    k = 2.0 * gains.ramsete_damping * rate
    for ahead, side, yaw in np.random.default_rng(2).uniform(-2.0, 2.0, (50, 3)):
        faster, turning = made("ramsete").correction(v, yaw_rate, ahead, side, yaw)
        total = yaw_rate + turning
        d_ahead = total * side + v * math.cos(yaw) - v - faster
        d_side = v * math.sin(yaw) - total * ahead
        change = b * (ahead * d_ahead + side * d_side) - yaw * turning
        assert change == pytest.approx(-k * (b * ahead**2 + yaw**2), rel=1e-9)


@pytest.mark.parametrize("v", [-1.0, -0.05, 0.1, 0.8])
def test_lq_gains_solve_riccati_equation(v):
    gains = ControllerGains()
    side = gains.lq_cross_weight * v**2 / (v**2 + 0.2**2)
    state = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, v], [0.0, 0.0, 0.0]])
    inputs = np.array([[-1.0, 0.0], [0.0, 0.0], [0.0, -1.0]])
    weights = np.diag([gains.lq_along_weight, side, gains.lq_yaw_weight])
    solution = -inputs.T @ solve_continuous_are(state, inputs, weights, np.eye(2))
    ahead, side, yaw = made("lq").gains_at(v)
    np.testing.assert_allclose(solution, [[ahead, 0, 0], [0, side, yaw]], atol=1e-8)


@pytest.mark.parametrize("name", ["yaw_distance_pid", "ramsete", "lq"])
def test_controllers_while_stationary_reduce_only_along_track_and_yaw_errors(name):
    assert made(name).correct(0.0, 0.0, TrackingError(0.0, 0.2, 0.0, 0.2)) == (0.0, 0.0)
    poses = indexed(np.arange(0.0, 20.0, PERIOD), x=0.0, y=0.0, yaw=0.4)
    errors = _drive(trajectory.add_velocities(poses), made(name), (0.3, -0.4, -0.2))
    assert np.max(np.abs(errors[-40:, [0, 2]])) < 0.01
    assert np.max(np.ptp(errors[-40:], axis=0)) < 1e-3
    with pytest.raises(ValueError, match="nan"):
        made(name).correct(0.0, 0.0, TrackingError(math.nan, 0.0, 0.0, 0.0))


def _noisy_eight(period=PERIOD):
    """Return a figure of eight with smooth lateral noise of 3 cm, as from smoothed GNSS fixes."""
    table = _figure_eight()
    phases = np.random.default_rng(3).uniform(0.0, 2.0 * math.pi, 20)
    frequencies = np.linspace(0.4, 1.0, 20)
    waves = np.sin(2.0 * math.pi * np.outer(table.index, frequencies) + phases)
    side = 0.03 * waves.sum(axis=1) / math.sqrt(10.0)
    table["x"] -= side * np.sin(table["yaw"])
    table["y"] += side * np.cos(table["yaw"])
    return trajectory.add_velocities(table.iloc[:: round(period / PERIOD)])


@pytest.mark.parametrize("period", [PERIOD, 2.0])
def test_trajectory_converted_to_rolling_has_no_sideslip_and_is_close_to_recording(period):
    table = _noisy_eight(period)
    rolled = wheel_limits.roll_along(table, ROBOT)
    assert list(rolled.columns) == list(table.columns)
    assert rolled.index.equals(table.index)
    # The conversion to rolling motion removes the noise and preserves the path.
    away = np.hypot(rolled["x"] - table["x"], rolled["y"] - table["y"])
    assert _rms(away) < 0.045
    x, y, yaw, v = (rolled[name].to_numpy() for name in ("x", "y", "yaw", "v"))
    if period == PERIOD:
        # The chord of an arc has the direction of its mean yaw.
        course = 0.5 * (yaw[1:] + yaw[:-1])
        side = -np.sin(course) * np.diff(x) + np.cos(course) * np.diff(y)
        np.testing.assert_allclose(side, 0.0, atol=1e-12)
        driven = np.cos(course) * np.diff(x) + np.sin(course) * np.diff(y)
        np.testing.assert_allclose(driven / PERIOD, 0.5 * (v[1:] + v[:-1]), atol=2e-3)
        truth = _figure_eight()
        noise, left = (
            np.hypot(path["x"] - truth["x"], path["y"] - truth["y"]).to_numpy()[100:]
            for path in (table, rolled)
        )
        assert _rms(left) < 0.5 * _rms(noise)


@pytest.mark.parametrize("v", [0.5, -1.0])
def test_rolling_conversion_of_constant_sideslip_offsets_path_laterally(v):
    # In steady state, both gains act on the same angle: K_yaw (-a) + K_side e = 0.
    angle, times = 0.05, np.arange(0.0, 60.0, PERIOD)
    poses = {"x": v * times * math.cos(angle), "y": v * times * math.sin(angle), "yaw": 0.0}
    table = trajectory.add_velocities(indexed(times, **poses))
    rolled = wheel_limits.roll_along(table, ROBOT).iloc[-1]
    assert rolled["yaw"] == pytest.approx(angle, rel=1e-3)
    side = abs(v) / math.hypot(v, 0.2)
    path_offset = poses["y"][-1] * math.cos(angle) - poses["x"][-1] * math.sin(angle)
    driven = rolled["y"] * math.cos(angle) - rolled["x"] * math.sin(angle)
    expected = math.copysign(angle, v) * math.sqrt(4.0 + 2.0 * abs(v) * side) / side
    assert path_offset - driven == pytest.approx(expected, rel=1e-2)


@pytest.mark.parametrize("name", ["yaw_distance_pid", "ramsete", "lq"])
def test_trajectory_converted_to_rolling_is_followed_more_closely_than_noisy_trajectory(name):
    exact = Robot(time_constant=0.02, turning=1.0, left_radius=1.0)
    table = _noisy_eight()
    noisy, rolled = (
        _drive(path, made(name), robot=exact)[100:, 1]
        for path in (table, wheel_limits.roll_along(table, ROBOT))
    )
    assert _rms(noisy) > 0.02
    assert _rms(rolled) < 0.25 * _rms(noisy)


@pytest.mark.parametrize("direction", [1.0, -1.0], ids=["forwards", "backwards"])
@pytest.mark.parametrize(
    "name, offset",
    [
        *(("ramsete", (0.0, 0.5, 0.3)), ("lq", (0.0, 0.5, 0.3))),
        *(("yaw_distance_pid", (0.0, 0.5, 0.0)), ("yaw_distance_pid", (-0.8, -0.8, 0.6))),
        *(("yaw_distance_pid", (1.5, 1.0, -1.0)), ("yaw_distance_pid", (0.0, -0.3, 2.8))),
        ("yaw_distance_pid", (0.2, 0.2, math.pi)),
    ],
)
def test_controllers_converge_to_moving_path_from_offset(direction, name, offset):
    table = _figure_eight(direction)
    start = [value + away for value, away in zip(table.iloc[0][["x", "y", "yaw"]], offset)]
    errors = _drive(table, made(name), start)
    after = errors[int(20.0 / PERIOD) :]
    assert np.max(after[:, 1]) < 0.1
    assert np.max(np.abs(after[:, 0])) < math.radians(5.0)


def test_tracking_errors_stay_small_during_stop_and_spot_turn():
    # The robot drives, stops, turns by 120 deg, stops and drives, 3 s each, 0.1 m off the path.
    times = np.arange(0.0, 15.0, PERIOD)
    v = np.where(times < 3.0, 1.0, 0.0) + np.where(times >= 12.0, 1.0, 0.0)
    yaw_rate = np.where((times >= 6.0) & (times < 9.0), math.radians(40.0), 0.0)
    yaw = np.concatenate(([0.0], np.cumsum(yaw_rate)[:-1])) * PERIOD
    x = np.concatenate(([0.0], np.cumsum(v * np.cos(yaw))[:-1])) * PERIOD
    y = np.concatenate(([0.0], np.cumsum(v * np.sin(yaw))[:-1])) * PERIOD
    poses = indexed(times, x=x, y=y, yaw=yaw)
    controller = made("yaw_distance_pid")
    errors = _drive(trajectory.add_velocities(poses), controller, (0.0, 0.1, 0.0))
    standing = errors[int(4.5 / PERIOD) : int(6.0 / PERIOD)]
    turned = errors[int(11.0 / PERIOD) : int(12.0 / PERIOD)]
    for part in (standing, turned):
        assert np.max(np.abs(part[:, 0])) < math.radians(2.0)
        assert np.max(part[:, 1]) < 0.1
    assert np.max(np.abs(errors[:, 0])) < math.radians(15.0)


def indexed(times, **columns):
    values = np.broadcast_arrays(times, *columns.values())[1:]
    table = dict(zip(columns, map(np.array, values)))
    return pd.DataFrame(table, index=pd.Index(times, name="time"))


def test_tracking_errors_are_positive_ahead_and_to_left_and_yaw_is_wrapped():
    error = tracking_error(Pose2D(1.0, 5.0, math.pi / 2), Pose2D(3.0, 2.0, math.pi / 2 - 0.1))
    assert error.yaw_error == pytest.approx(0.1)
    assert error.along_track_error == pytest.approx(3.0)
    assert error.cross_track_error == pytest.approx(2.0)
    assert error.distance_error == pytest.approx(math.hypot(3.0, 2.0))
    error = tracking_error(Pose2D(0.0, 0.0, 20.0 * math.pi + 3.1), Pose2D(0.0, 0.0, -3.1))
    assert error.yaw_error == pytest.approx(6.2 - 2.0 * math.pi)


@pytest.mark.parametrize("times", [[10.0, 11.0, 12.0], [10.0, 10.1, 12.0]])
def test_reference_pose_is_interpolated_and_constant_beyond_trajectory_ends(times):
    table = indexed(times, x=[0.0, 2.0, 2.0], y=[1.0, 1.0, 3.0], yaw=[0.0, 3.0, 7.0])
    reference = Reference.from_table(table)
    middle = 0.5 * (times[0] + times[1])
    assert reference.pose_at(middle) == pytest.approx((1.0, 1.0, 1.5))
    assert reference.pose_at(times[1]) == pytest.approx((2.0, 1.0, 3.0))
    assert reference.pose_at(0.0) == (0.0, 1.0, 0.0)
    assert reference.pose_at(99.0) == (2.0, 3.0, 7.0)
    assert reference.duration == 2.0


def test_reference_velocities_are_zero_before_start_and_after_end_of_trajectory():
    poses = {"x": [0.0, 1.0], "y": [0.0, 0.0], "yaw": [0.0, 0.0]}
    reference = Reference.from_table(
        indexed([0.0, 1.0], **poses, v=[0.9, 1.0], yaw_rate=[0.4, 0.2])
    )
    assert reference.velocities_at(0.5) == pytest.approx((0.95, 0.3))
    assert reference.velocities_at(1.0) == pytest.approx((1.0, 0.2))
    assert reference.velocities_at(1.001) == (0.0, 0.0)
    assert reference.velocities_at(-0.001) == (0.0, 0.0)
    reference = Reference.from_table(
        indexed([0.0, 1.0], x=[0.0, 1.0], y=[0.0, 0.0], yaw=[0.0, 0.0])
    )
    with pytest.raises(ValueError, match="has no velocities"):
        reference.velocities_at(0.0)
    with pytest.raises(TrajectoryError, match="expected at least 2"):
        Reference.from_table(indexed([0.0], x=[0.0], y=[0.0], yaw=[0.0]))


@pytest.mark.parametrize(
    ("wheels", "motion"),
    [((4.0, 6.0), (0.5, 0.4)), ((8.0, 12.0), (1.0, 0.8)), ((2.5, -2.5), (0.0, -1.0))],
)
def test_differential_drive_turns_towards_slower_wheel(wheels, motion):
    assert DRIVETRAIN.forward(*wheels) == pytest.approx(motion)
    assert DRIVETRAIN.inverse(*motion) == pytest.approx(wheels)


@pytest.mark.parametrize("value", [0.0, -0.1, math.nan, math.inf])
def test_nonpositive_lengths_and_limits_are_rejected(value):
    with pytest.raises(ConfigurationError, match="half_track"):
        DifferentialDrivetrain(0.1, value)
    with pytest.raises(ConfigurationError, match="max_wheel_velocity"):
        RobotLimits(value, 1.0)


def _circle(times, v=0.8, yaw_rate=0.4):
    yaw = 0.5 + yaw_rate * times
    radius = v / yaw_rate
    return indexed(times, x=3.0 + radius * np.sin(yaw), y=-radius * np.cos(yaw), yaw=yaw)


def check(poses, limits, **options):
    drivetrain = DifferentialDrivetrain(0.1, 0.25, limits)
    wheel_limits.check_limits(trajectory.add_velocities(poses), drivetrain, **options)


def _step_in_speed():
    times = np.arange(0.0, 40.0, 0.05)
    return indexed(times, x=np.where(times < 20.0, 0.0, 1.2 * (times - 20.0)), y=0.0, yaw=0.0)


def test_trajectory_within_limits_is_accepted_and_nonfinite_trajectory_is_rejected():
    check(_circle(np.arange(200) / 20.0), RobotLimits(9.5, 1.0))
    table = trajectory.add_velocities(_circle(np.arange(200) / 20.0))
    table.iloc[7, 3] = math.nan
    with pytest.raises(TrajectoryError, match="not finite"):
        wheel_limits.check_limits(table, DRIVETRAIN)


def test_limit_check_reports_time_and_ratio_and_suggests_sufficient_scale_and_smoothing():
    poses = _step_in_speed()
    limits = RobotLimits(15.0, 20.0)
    with pytest.raises(TrajectoryError) as caught:
        check(poses, limits)
    message = str(caught.value)
    assert re.search(r"at (19\.9|20\.0)\d s the left wheel's acceleration is 120 rad/s\^2", message)
    assert "6.00 times the limit of 20 rad/s^2" in message
    factor = float(re.search(r"scale ([\d.]+)", message).group(1))
    window = float(re.search(r"smoothing over ([\d.]+) s", message).group(1))
    check(trajectory.scale(poses, factor), limits)
    check(trajectory.smooth(poses, window), limits)
    with pytest.raises(TrajectoryError):
        check(trajectory.scale(poses, factor + 0.01), limits)


def test_limit_check_suggests_smoothing_window_and_scale_relative_to_current_values():
    poses = _step_in_speed()
    limits = RobotLimits(15.0, 20.0)
    present = trajectory.scale(trajectory.smooth(poses, 0.5), 0.9)
    with pytest.raises(TrajectoryError) as caught:
        check(present, limits, recorded=poses, present_scale=0.9, present_window=0.5)
    window = float(re.search(r"smoothing over ([\d.]+) s", str(caught.value)).group(1))
    factor = float(re.search(r"scale ([\d.]+)", str(caught.value)).group(1))
    for remedy in (
        trajectory.scale(trajectory.smooth(poses, window), 0.9),
        trajectory.scale(trajectory.smooth(poses, 0.5), factor),
    ):
        check(remedy, limits)


def test_limit_check_does_not_suggest_ineffective_smoothing_window_or_scale():
    gentle = _circle(np.arange(800) / 20.0)
    with pytest.raises(TrajectoryError, match=r"smoothing over 4 s would stay within the limits"):
        check(_step_in_speed(), RobotLimits(15.0, 20.0), recorded=gentle, present_window=3.0)
    times = np.arange(0.0, 60.0, 0.05)
    with pytest.raises(TrajectoryError, match="neither a smaller scale nor smoothing"):
        check(indexed(times, x=0.0, y=0.0, yaw=8.0 * times), RobotLimits(15.0, 40.0))


def test_wheel_velocity_is_compared_with_preceding_command():
    commanded = indexed([0.0, 1.0, 2.0], left=[5.0, 6.0, 7.0], right=[-5.0, -6.0, -7.0])
    # No command precedes the first sample. The second sample has the stamp of the second command,
    # so it is compared with the first one.
    actual = indexed([0.0, 1.0, 1.5, 3.0], left=[0.0, 4.5, 6.0, 7.5], right=[0.0, -5.0, -6.0, -7.0])
    found = compare_wheels(commanded, actual)
    np.testing.assert_array_equal(found.error.index, [1.0, 1.5, 3.0])
    np.testing.assert_allclose(found.error["left"], [0.5, 0.0, -0.5])
    np.testing.assert_allclose(found.error["right"], 0.0)
    assert found.statistics["left"].maximum_absolute == pytest.approx(0.5)
    commanded = indexed([0.0, 1.0], left=[5.0, 6.0], right=[5.0, 6.0])
    found = compare_wheels(commanded, None)
    assert found.error is None and found.statistics == {}
    assert compare_wheels(None, commanded) is None
    assert compare_wheels(commanded.iloc[:0], commanded) is None
    assert compare_wheels(commanded, commanded.iloc[:1]).statistics == {}


@pytest.mark.parametrize("controller", ["ramsete", "lq"])
def test_wheel_commands_for_gazebo_and_mujoco_produce_same_yaw_rate(
    controller,
):
    path = urdf_path("robot_four_wheels.yaml")
    error = TrackingError(0.1, 0.05, 0.03, 0.04)
    commanded = {}
    for simulator in ("mujoco", "gazebo"):
        drivetrain = load_robot_parameters(path, simulator).drivetrain
        # The reference is straight, because sideslip in turns is known only for MuJoCo.
        velocities = [0.5, 0.5], [0.0, 0.0]
        reference = Reference([0.0, 1.0], [0.0, 0.5], [0.0, 0.0], [0.0, 0.0], *velocities)
        settings = {
            "robot": {"parameters": str(path)},
            "control": {"controller": controller},
            "simulation": {"simulator": simulator},
        }
        follower = make_follower(load_configuration(overrides=settings), reference)
        commanded[simulator] = drivetrain.forward(*follower.command(0.0, error))
    assert commanded["gazebo"] == pytest.approx(commanded["mujoco"], rel=1e-9)
    assert commanded["gazebo"][1] > 0.1


@pytest.mark.parametrize("controller", ["yaw_distance_pid", "ramsete", "lq"])
def test_sideslip_in_turn_is_not_counted_as_yaw_error(controller):
    drivetrain = replace(ROBOT.drivetrain, sideslip_time=0.1)
    sliding = make_controller(
        controller, ControllerGains(), PERIOD, replace(ROBOT, drivetrain=drivetrain)
    )
    inwards = NO_ERROR._replace(yaw_error=-0.1 * 0.5)
    v, yaw_rate = sliding.correct(0.6, 0.5, inwards)
    assert yaw_rate == pytest.approx(0.5, abs=1e-12)
    assert v == pytest.approx(0.6, rel=2e-3)


@pytest.mark.parametrize("wheel", [0.5, 2.0, 4.0, -4.0])
def test_heading_offset_due_to_lateral_error_matches_equation(wheel):
    gains = {"yaw_integral": 0.0, "yaw_derivative": 0.0, "distance_integral": 0.0}
    controller = made("yaw_distance_pid", distance_proportional=0.8, yaw_proportional=1.0, **gains)
    radius, side = ROBOT.drivetrain.wheel_radius, 0.1
    error = TrackingError(0.0, side, 0.0, side)
    assert error.to_robot_axes() == pytest.approx((0.0, side))
    _, yaw_rate = controller.correct(radius * wheel, 0.0, error)
    # w_0 = 2 rad/s, as in the docstring of the class.
    offset = 0.8 * side * wheel / (wheel**2 + 2.0**2)
    assert yaw_rate == pytest.approx(radius / ROBOT.drivetrain.half_track * offset)
