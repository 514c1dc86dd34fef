"""Controllers, on their own and closing the loop around a simple robot."""

import math
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest

from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.drive.robot import DifferentialDrivetrain, RobotLimits
from imu_simulation_framework.drive.tracking import controllers as control
from imu_simulation_framework.drive.tracking import wheel_limits
from imu_simulation_framework.drive.tracking.controllers import (
    ControllerGains,
    Pid,
    make_controller,
)
from imu_simulation_framework.drive.tracking.reference import (
    Pose2D,
    Reference,
    TrackingError,
    tracking_error,
)
from imu_simulation_framework.motion import trajectory

DRIVETRAIN = DifferentialDrivetrain(wheel_radius=0.1, half_track=0.25)
LIMITS = RobotLimits(max_wheel_velocity=15.0, max_wheel_acceleration=40.0)
PERIOD = 0.05
NO_ERROR = TrackingError(0.0, 0.0, 0.0, 0.0)


def test_proportional_part_has_the_sign_of_the_error():
    pid = Pid(2.0, 0.0, 0.0, PERIOD)
    assert pid.step(0.5) == pytest.approx(1.0)
    assert pid.step(-0.5) == pytest.approx(-1.0)


def test_integral_part_sums_the_error_over_time():
    pid = Pid(0.0, 3.0, 0.0, 0.1)
    outputs = [pid.step(2.0) for _ in range(5)]
    assert outputs == pytest.approx([0.6, 1.2, 1.8, 2.4, 3.0])


def test_integral_may_outweigh_the_error_of_the_other_sign():
    # Where the magnitude came from all parts and the sign from the error alone, a remaining
    # integral would act backwards.
    pid = Pid(1.0, 1.0, 0.0, 1.0)
    pid.step(5.0)
    assert pid.step(-1.0) == pytest.approx(-1.0 + 5.0 - 1.0)


def test_derivative_damps_a_shrinking_error():
    pid = Pid(0.0, 0.0, 1.0, 0.1)
    assert pid.step(1.0) == 0.0
    assert pid.step(0.8) == pytest.approx(-2.0)


def test_filtered_derivative_of_a_ramp_approaches_it_with_its_time_constant():
    time_constant = 0.5
    pid = Pid(0.0, 0.0, 1.0, 0.01, derivative_time_constant=time_constant)
    outputs = [pid.step(3.0 * 0.01 * k) for k in range(301)]
    # The discrete filter's step response is within half a period of the exponential.
    after_one = 3.0 * (1.0 - math.exp(-1.0))
    assert outputs[50] == pytest.approx(after_one, abs=3.0 * 0.01 / time_constant)
    assert outputs[300] == pytest.approx(3.0, rel=0.005)


def test_output_stays_within_its_limit():
    pid = Pid(10.0, 10.0, 10.0, PERIOD, output_limit=2.5)
    generator = np.random.default_rng(1)
    outputs = [pid.step(error) for error in generator.uniform(-3.0, 3.0, 200)]
    assert max(outputs) == 2.5
    assert min(outputs) == -2.5


def test_integral_does_not_wind_up_while_the_output_is_limited():
    pid = Pid(1.0, 1.0, 0.0, 0.1, output_limit=2.0)
    for _ in range(1000):
        assert pid.step(1.9) <= 2.0
    # Wound up, the integral would be 190 and hold the output at its limit.
    assert pid.step(-1.0) < 0.0


def test_integral_leaves_the_limit_at_once():
    pid = Pid(0.0, 1.0, 0.0, 1.0, output_limit=2.0)
    for _ in range(10):
        pid.step(0.9)
    assert pid.step(-0.5) == pytest.approx(1.3)


def test_integral_shrinks_while_the_derivative_holds_the_output_at_its_limit():
    pid = Pid(0.0, 1.0, 10.0, 1.0, output_limit=2.0)
    outputs = [pid.step(error) for error in (1.0, 1.0, -5.0, -1.0, -1.0)]
    assert outputs == pytest.approx([1.0, 2.0, -2.0, 2.0, 0.0])


def test_derivative_of_an_angle_does_not_jump_at_half_a_turn():
    angular = Pid(0.0, 0.0, 1.0, 0.1, angular=True)
    angular.step(math.pi - 0.1)
    assert angular.step(-math.pi + 0.1) == pytest.approx(2.0)


def test_reset_forgets_integral_and_derivative():
    pid = Pid(1.0, 1.0, 1.0, PERIOD, derivative_time_constant=0.2)
    first = [pid.step(error) for error in (1.0, 0.3, -0.4)]
    pid.reset()
    assert [pid.step(error) for error in (1.0, 0.3, -0.4)] == first


def test_error_that_is_not_a_number_is_not_integrated():
    pid = Pid(1.0, 1.0, 0.0, PERIOD)
    with pytest.raises(ValueError, match="nan"):
        pid.step(math.nan)
    assert pid.step(0.0) == 0.0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((-1.0, 0.0, 0.0, 0.1), "proportional gain"),
        ((0.0, math.nan, 0.0, 0.1), "integral gain"),
        ((0.0, 0.0, math.inf, 0.1), "derivative gain"),
        ((0.0, 0.0, 0.0, 0.0), "period"),
        ((0.0, 0.0, 0.0, 0.1, -1.0), "time constant"),
        ((0.0, 0.0, 0.0, 0.1, 0.0, 0.0), "output limit"),
    ],
)
def test_impossible_settings_of_a_pid_are_refused(arguments, words):
    with pytest.raises(ConfigurationError, match=words):
        Pid(*arguments)


@pytest.mark.parametrize("name", control.CONTROLLERS)
def test_without_error_the_precomputed_velocities_pass(name):
    controller = make_controller(name, ControllerGains(), PERIOD, LIMITS)
    assert controller.correct(4.0, -6.0, NO_ERROR) == (4.0, -6.0)


def test_open_loop_ignores_the_error():
    controller = make_controller("open_loop", ControllerGains(), PERIOD, LIMITS)
    assert controller.correct(4.0, 6.0, TrackingError(1.0, 2.0, 1.0, -1.0)) == (4.0, 6.0)


@pytest.mark.parametrize("name", ["yaw_pid", "yaw_distance_pid"])
@pytest.mark.parametrize("yaw_error", [-0.2, 0.2])
def test_negative_yaw_error_turns_right(name, yaw_error):
    controller = make_controller(name, ControllerGains(), PERIOD, LIMITS)
    left, right = controller.correct(5.0, 5.0, TrackingError(yaw_error, 0.0, 0.0, 0.0))
    assert math.copysign(1.0, right - left) == math.copysign(1.0, yaw_error)


def test_yaw_pid_subtracts_from_the_left_what_it_adds_to_the_right():
    gains = ControllerGains(yaw_proportional=10.0, yaw_integral=0.0, yaw_derivative=0.0)
    controller = make_controller("yaw_pid", gains, PERIOD, LIMITS)
    assert controller.correct(5.0, 6.0, TrackingError(0.1, 9.0, 9.0, 9.0)) == pytest.approx(
        (4.0, 7.0)
    )


@pytest.mark.parametrize("along", [-0.3, 0.3])
def test_reference_ahead_speeds_up_both_wheels(along):
    controller = make_controller("yaw_distance_pid", ControllerGains(), PERIOD, LIMITS)
    left, right = controller.correct(5.0, 5.0, TrackingError(0.0, abs(along), along, 0.0))
    assert left == right
    assert (left > 5.0) == (along > 0.0)


@pytest.mark.parametrize(("speed", "left_turn"), [(5.0, True), (-5.0, False)])
def test_reference_to_the_left_turns_left_forward_and_right_backward(speed, left_turn):
    controller = make_controller("yaw_distance_pid", ControllerGains(), PERIOD, LIMITS)
    left, right = controller.correct(speed, speed, TrackingError(0.0, 0.2, 0.0, 0.2))
    assert (right > left) == left_turn


def test_at_standstill_a_reference_to_the_side_does_not_turn_the_robot():
    controller = make_controller("yaw_distance_pid", ControllerGains(), PERIOD, LIMITS)
    for _ in range(100):
        assert controller.correct(0.0, 0.0, TrackingError(0.0, 0.2, 0.0, 0.2)) == (0.0, 0.0)


def test_waiting_beside_the_reference_does_not_store_a_swerve_for_the_start():
    gains = ControllerGains(distance_integral=5.0, yaw_derivative=0.0)
    waiting, fresh = (make_controller("yaw_distance_pid", gains, PERIOD, LIMITS) for _ in "12")
    beside = TrackingError(0.0, 0.2, 0.0, 0.2)
    for _ in range(100):
        waiting.correct(0.0, 0.0, beside)
    assert waiting.correct(5.0, 5.0, beside) == fresh.correct(5.0, 5.0, beside)


def test_distance_is_split_along_the_axes_of_the_robot():
    # The robot looks at the reference's position, which itself looks to the left.
    controller = make_controller("yaw_distance_pid", ControllerGains(), PERIOD, LIMITS)
    left, right = controller.correct(0.0, 0.0, TrackingError(math.pi / 2, 0.3, 0.0, -0.3))
    expected = ControllerGains.distance_proportional * 0.3
    assert 0.5 * (left + right) == pytest.approx(expected, rel=0.01)


def test_robot_that_looks_the_wrong_way_does_not_drive_away():
    controller = make_controller("yaw_distance_pid", ControllerGains(), PERIOD, LIMITS)
    left, right = controller.correct(5.0, 5.0, TrackingError(math.pi, 0.0, 0.0, 0.0))
    assert 0.5 * (left + right) == pytest.approx(-5.0)


def test_distance_integral_does_not_wind_up_while_the_wheels_are_at_their_limit():
    gains = ControllerGains(distance_proportional=1.0, distance_integral=1.0)
    controller = make_controller("yaw_distance_pid", gains, PERIOD, LIMITS)
    for _ in range(400):
        controller.correct(15.0, 15.0, TrackingError(0.0, 0.5, 0.5, 0.0))
    left, _ = controller.correct(10.0, 10.0, NO_ERROR)
    assert left == pytest.approx(10.0, abs=0.1)


@pytest.mark.parametrize("name", ["yaw_pid", "yaw_distance_pid"])
def test_wheels_are_never_commanded_beyond_their_limit(name):
    controller = make_controller(name, ControllerGains(correction_limit=100.0), PERIOD, LIMITS)
    generator = np.random.default_rng(1)
    for values in generator.uniform(-14.0, 14.0, (300, 5)):
        left, right = controller.correct(
            *values[:2], TrackingError(0.2 * values[2], 5.0, *values[3:])
        )
        assert max(abs(left), abs(right)) <= LIMITS.max_wheel_velocity + 1e-12


def test_at_the_limit_turning_goes_before_driving():
    controller = make_controller("yaw_pid", ControllerGains(yaw_integral=0.0), PERIOD, LIMITS)
    left, right = controller.correct(14.0, 14.0, TrackingError(0.5, 0.0, 0.0, 0.0))
    assert right == pytest.approx(15.0)
    assert right - left == pytest.approx(2.0 * 0.5 * ControllerGains.yaw_proportional)


def test_an_unknown_controller_is_refused():
    with pytest.raises(ConfigurationError, match="no controller 'pid'"):
        make_controller("pid", ControllerGains(), PERIOD, LIMITS)


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("yaw_integral", -1.0, "^yaw_integral is -1.0, but it must not be negative"),
        ("yaw_integral", math.nan, "^yaw_integral is nan, but it must be a finite number"),
        ("yaw_integral", "fast", "^yaw_integral is 'fast', but it must be a finite number"),
        ("correction_limit", 0, "^correction_limit is 0, but it must be positive"),
        ("correction_limit", 1e-320, "^correction_limit is 1e-320, but it must be at least 1e-06"),
    ],
)
def test_impossible_gains_are_refused(key, value, words):
    with pytest.raises(ConfigurationError, match=words):
        ControllerGains(**{key: value})


class Robot(NamedTuple):
    """A robot that rolls without slip behind first-order wheels, but not as assumed.

    The time constant is larger than that of the simulated robots, the robot turns less than
    it should (scrubbing), and its left wheel is larger.
    """

    time_constant: float = 0.08
    turning: float = 0.9
    left_radius: float = 1.02


def _drive(table, controller, start=None, robot=None):
    """Return the errors (time, 4) while the robot follows a Trajectory in closed loop."""
    robot = robot or Robot()
    reference = Reference.of_table(table, wheel_limits.wheel_velocities(table, DRIVETRAIN))
    x, y, yaw = start or reference.pose_at(reference.start)
    left = right = 0.0
    step = 0.01
    follow = 1.0 - math.exp(-step / robot.time_constant)
    errors = []
    for tick in range(int(reference.duration / PERIOD)):
        time = reference.start + tick * PERIOD
        error = tracking_error(reference.pose_at(time), Pose2D(x, y, yaw))
        errors.append(error)
        command = controller.correct(*reference.wheel_velocities_at(time), error)
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
    """A lemniscate of 8 m at up to 0.8 m/s, two rounds; forwards or backwards."""
    times = np.arange(0.0, 80.0, PERIOD)
    phase = 2.0 * math.pi / 40.0 * times
    x, y = 4.0 * np.sin(phase), 2.0 * np.sin(2.0 * phase)
    dx, dy = np.cos(phase), np.cos(2.0 * phase)
    yaw = np.unwrap(np.arctan2(direction * dy, direction * dx))
    poses = pd.DataFrame({"x": x, "y": y, "yaw": yaw}, index=pd.Index(times, name="time"))
    return trajectory.add_velocities(poses)


@pytest.mark.parametrize("direction", [1.0, -1.0], ids=["forwards", "backwards"])
def test_yaw_pid_keeps_the_heading_on_a_figure_of_eight(direction):
    errors = _drive(
        _figure_eight(direction), make_controller("yaw_pid", ControllerGains(), PERIOD, LIMITS)
    )
    assert _rms(errors[100:, 0]) < math.radians(1.0)


@pytest.mark.parametrize("direction", [1.0, -1.0], ids=["forwards", "backwards"])
def test_yaw_distance_pid_keeps_the_place_on_a_figure_of_eight(direction):
    table = _figure_eight(direction)
    errors = _drive(table, make_controller("yaw_distance_pid", ControllerGains(), PERIOD, LIMITS))
    assert _rms(errors[100:, 1]) < 0.03
    assert _rms(errors[100:, 0]) < math.radians(1.0)
    assert _rms(errors[:, 1]) < 0.15
    lost = _drive(table, make_controller("open_loop", ControllerGains(), PERIOD, LIMITS))
    assert _rms(lost[:, 1]) > 1.0


@pytest.mark.parametrize("direction", [1.0, -1.0], ids=["forwards", "backwards"])
@pytest.mark.parametrize(
    "offset",
    [(0.0, 0.5, 0.0), (-0.8, -0.8, 0.6), (1.5, 1.0, -1.0), (0.0, -0.3, 2.8), (0.2, 0.2, math.pi)],
)
def test_yaw_distance_pid_converges_from_an_offset(direction, offset):
    table = _figure_eight(direction)
    start = [value + away for value, away in zip(table.iloc[0][["x", "y", "yaw"]], offset)]
    errors = _drive(
        table, make_controller("yaw_distance_pid", ControllerGains(), PERIOD, LIMITS), start
    )
    after = errors[int(20.0 / PERIOD) :]
    assert np.max(after[:, 1]) < 0.1
    assert np.max(np.abs(after[:, 0])) < math.radians(5.0)


def test_standing_beside_the_reference_the_robot_comes_level_and_rests():
    times = np.arange(0.0, 20.0, PERIOD)
    poses = pd.DataFrame(
        {"x": 0.0 * times, "y": 0.0, "yaw": 0.4}, index=pd.Index(times, name="time")
    )
    controller = make_controller("yaw_distance_pid", ControllerGains(), PERIOD, LIMITS)
    errors = _drive(trajectory.add_velocities(poses), controller, (0.3, -0.4, -0.2))
    at_rest = errors[-40:]
    assert np.max(np.abs(at_rest[:, [0, 2]])) < 0.01
    assert np.max(np.ptp(at_rest, axis=0)) < 1e-3


def test_turns_on_the_spot_and_stops_do_not_upset_yaw_distance_pid():
    # 3 s each: drive, stop, turn by 120 deg, stop, drive on; from 0.1 m beside.
    times = np.arange(0.0, 15.0, PERIOD)
    v = np.where(times < 3.0, 1.0, 0.0) + np.where(times >= 12.0, 1.0, 0.0)
    yaw_rate = np.where((times >= 6.0) & (times < 9.0), math.radians(40.0), 0.0)
    yaw = np.concatenate(([0.0], np.cumsum(yaw_rate)[:-1])) * PERIOD
    x = np.concatenate(([0.0], np.cumsum(v * np.cos(yaw))[:-1])) * PERIOD
    y = np.concatenate(([0.0], np.cumsum(v * np.sin(yaw))[:-1])) * PERIOD
    poses = pd.DataFrame({"x": x, "y": y, "yaw": yaw}, index=pd.Index(times, name="time"))
    controller = make_controller("yaw_distance_pid", ControllerGains(), PERIOD, LIMITS)
    errors = _drive(trajectory.add_velocities(poses), controller, (0.0, 0.1, 0.0))
    standing = errors[int(4.5 / PERIOD) : int(6.0 / PERIOD)]
    turned = errors[int(11.0 / PERIOD) : int(12.0 / PERIOD)]
    for part in (standing, turned):
        assert np.max(np.abs(part[:, 0])) < math.radians(2.0)
        assert np.max(part[:, 1]) < 0.1
    assert np.max(np.abs(errors[:, 0])) < math.radians(15.0)
