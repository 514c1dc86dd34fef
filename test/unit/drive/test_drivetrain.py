"""Drivetrains compared with closed-form equations, and cars in MuJoCo."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from imu_simulation_framework.core.errors import ConfigurationError, TrajectoryError
from imu_simulation_framework.core.files import urdf_path
from imu_simulation_framework.drive.configuration import load_configuration
from imu_simulation_framework.drive.drivetrain import (
    AckermannDrivetrain,
    DifferentialDrivetrain,
    RobotLimits,
)
from imu_simulation_framework.drive.mujoco import MujocoSimulator
from imu_simulation_framework.drive.prepared_drive import prepare_drive
from imu_simulation_framework.drive.tracking import wheel_limits
from imu_simulation_framework.drive.tracking.controllers import (
    CONTROLLERS,
    ControllerGains,
    Follower,
    Reference,
    TrackingError,
    make_controller,
)
from imu_simulation_framework.drive.turning import load_robot_parameters
from imu_simulation_framework.motion import trajectory

WHEELBASE, HALF_TRACK, RADIUS, ANGLE, RATE = 0.4, 0.2, 0.1, 0.6, 2.0
PLACES = ((WHEELBASE, HALF_TRACK), (WHEELBASE, -HALF_TRACK))
LIMITS = RobotLimits(15.0, 40.0)
EQUAL_WHEELS, UNEQUAL_WHEELS = (1.0, 1.0), (0.98, 1.03)
CAR = AckermannDrivetrain(RADIUS, HALF_TRACK, LIMITS, EQUAL_WHEELS, PLACES, ANGLE, RATE)
TRICYCLE = AckermannDrivetrain(
    RADIUS, HALF_TRACK, LIMITS, EQUAL_WHEELS, ((WHEELBASE, 0.0),), ANGLE, RATE
)
DIFFERENTIAL = DifferentialDrivetrain(RADIUS, HALF_TRACK, LIMITS)
PERIOD = 0.05


@pytest.fixture(scope="module")
def robot():
    return load_robot_parameters(urdf_path("robot_ackermann.yaml"))


UNEQUAL = [
    replace(drivetrain, radius_multipliers=UNEQUAL_WHEELS) for drivetrain in (DIFFERENTIAL, CAR)
]


@pytest.mark.parametrize("drivetrain", [DIFFERENTIAL, CAR, TRICYCLE, *UNEQUAL])
@pytest.mark.parametrize(("v", "yaw_rate"), [(0.8, 0.9), (-0.5, 0.3), (-0.05, -0.06), (1.0, 0.0)])
def test_forward_kinematics_inverts_inverse_kinematics(drivetrain, v, yaw_rate):
    commands = drivetrain.inverse(v, yaw_rate)
    assert len(commands) == len(drivetrain.commands)
    assert drivetrain.forward(*commands) == pytest.approx((v, yaw_rate), abs=1e-12)
    several = drivetrain.inverse(np.array([v, v]), np.array([yaw_rate, yaw_rate]))
    np.testing.assert_allclose(several, np.column_stack([commands, commands]))


@pytest.mark.parametrize("drivetrain", UNEQUAL)
def test_inverse_kinematics_uses_individual_wheel_radii(drivetrain):
    left, right, *_ = drivetrain.inverse(0.8, 0.9)
    assert left == pytest.approx((0.8 - 0.9 * HALF_TRACK) / (0.98 * RADIUS))
    assert right == pytest.approx((0.8 + 0.9 * HALF_TRACK) / (1.03 * RADIUS))
    assert drivetrain.rim_velocity == pytest.approx(0.98 * RADIUS * 15.0)


@pytest.mark.parametrize("angle", [-0.5, 0.1, 0.6])
def test_bicycle_turning_radius_is_wheelbase_over_tangent_of_steering(angle):
    v, yaw_rate = TRICYCLE.forward(8.0, 8.0, angle)
    assert v / yaw_rate == pytest.approx(WHEELBASE / math.tan(angle))
    *_, steered = TRICYCLE.inverse(v, yaw_rate)
    assert steered == pytest.approx(angle)
    assert TRICYCLE.min_turning_radius == pytest.approx(WHEELBASE / math.tan(ANGLE))


def test_car_wheels_share_turning_centre_and_inner_wheel_limits_radius():
    radius = 1.5
    left, right, *angles = CAR.inverse(0.6, 0.6 / radius)
    for angle, (x, y) in zip(angles, PLACES):
        # Each wheel is perpendicular to the line from the turning centre.
        assert math.tan(angle) == pytest.approx(x / (radius - y))
    # Ackermann's condition on a left turn: inner and outer cotangents differ by track / wheelbase.
    cotangents = [1.0 / math.tan(angle) for angle in angles]
    assert cotangents[1] - cotangents[0] == pytest.approx(2.0 * HALF_TRACK / WHEELBASE)
    # With the electronic differential, each wheel rolls on its own circle.
    assert left / right == pytest.approx((radius - HALF_TRACK) / (radius + HALF_TRACK))
    assert CAR.min_turning_radius == pytest.approx(WHEELBASE / math.tan(ANGLE) + HALF_TRACK)
    *_, inner, outer = CAR.inverse(0.6, 5.0)
    assert (inner, outer < ANGLE) == (pytest.approx(ANGLE), True)


def test_car_velocities_are_limited_by_steering_angle_and_wheel_velocity():
    assert CAR.limit(0.0, 1.0) == (0.0, 0.0)
    assert DIFFERENTIAL.limit(0.0, 1.0) == (0.0, 1.0)
    assert CAR.limit(-0.6, 5.0) == pytest.approx((-0.6, 0.6 / CAR.min_turning_radius))
    for v, yaw_rate in np.random.default_rng(1).uniform(-9.0, 9.0, (300, 2)):
        reached = CAR.limit(v, yaw_rate)
        left, right, *angles = CAR.inverse(*reached)
        assert max(map(abs, (left, right))) <= LIMITS.max_wheel_velocity + 1e-9
        assert max(map(abs, angles)) <= ANGLE + 1e-9
        assert CAR.forward(left, right, *angles) == pytest.approx(reached)


def test_steering_angle_is_constant_while_stationary_and_rate_is_limited():
    commanded = CAR.reachable(CAR.inverse(0.5, 0.5 / CAR.min_turning_radius), (0.0,) * 4, PERIOD)
    assert max(commanded[2:]) == pytest.approx(RATE * PERIOD)
    # The driven wheels follow the actual steering angle, not the commanded angle.
    v, yaw_rate = CAR.forward(*commanded)
    assert commanded[:2] == pytest.approx(CAR.wheels(v, yaw_rate))
    stopped = CAR.reachable(CAR.inverse(0.0, 0.7), commanded, PERIOD)
    assert stopped == (0.0, 0.0, *commanded[2:])


@pytest.mark.parametrize(
    ("places", "words"), [((), "one or two positions"), (((0.0, 0.1),), "in front of or behind")]
)
def test_missing_steering_or_steering_on_driven_axle_is_rejected(places, words):
    with pytest.raises(ConfigurationError, match=words):
        AckermannDrivetrain(RADIUS, HALF_TRACK, LIMITS, steering=places)


def indexed(times, **columns):
    return pd.DataFrame(columns, index=pd.Index(times, name="time"))


def circle(v=0.6, radius=1.0):
    times = np.arange(0.0, 10.0, PERIOD)
    yaw = v / radius * times
    return trajectory.add_velocities(
        indexed(times, x=radius * np.sin(yaw), y=radius * (1.0 - np.cos(yaw)), yaw=yaw)
    )


def test_impossible_turn_is_rejected_with_rate_and_radius(robot):
    drivetrain = robot.drivetrain
    assert wheel_limits.describe_impossible_turn(circle(), drivetrain) == ""
    tight = wheel_limits.describe_impossible_turn(circle(radius=0.4), drivetrain)
    assert "86 deg/s and 0.60 m/s" in tight and "minimum turning radius of 0.57 m" in tight
    times = np.arange(0.0, 4.0, PERIOD)
    spot = indexed(times, x=0.0, y=0.0, yaw=0.5 * times)
    described = wheel_limits.describe_impossible_turn(trajectory.add_velocities(spot), drivetrain)
    assert "29 deg/s and 0.00 m/s" in described
    assert (
        wheel_limits.describe_impossible_turn(trajectory.add_velocities(spot), DIFFERENTIAL) == ""
    )
    rolled = wheel_limits.roll_along(circle(radius=0.4), robot)
    slower = rolled["yaw_rate"].iloc[20:].to_numpy() / rolled["v"].iloc[20:].to_numpy()
    assert np.abs(slower).max() <= 1.02 / drivetrain.min_turning_radius


def prepared(**sections):
    sections.setdefault("robot", {})["parameters"] = str(urdf_path("robot_ackermann.yaml"))
    return prepare_drive(load_configuration(overrides=sections))


def test_drive_with_few_spot_turns_is_converted_for_car_and_with_many_is_rejected():
    drive = prepared(recording={"drive": "a", "laps": 1})
    rolled_remark, deviation_remark = drive.smoothing_remarks
    assert (
        "follows the drive as closely as possible" in rolled_remark
        and "rolling changes" in deviation_remark
    )
    assert list(drive.trajectory.columns[-2:]) == ["steering_left", "steering_right"]
    assert drive.trajectory.notna().all().all()
    assert prepared(recording={"drive": "c", "laps": 1}).smoothing_remarks == ()
    with pytest.raises(TrajectoryError, match="would deviate by up to .* deg; crop") as refused:
        prepared(recording={"drive": "d", "laps": 1})
    assert "\n" not in str(refused.value)


def driven(robot, curvature, v, settled=3.0):
    simulator = MujocoSimulator(robot)
    commanded = (0.0,) * 4
    for tick in range(round(settled / PERIOD)):
        speed = v * min(1.0, (tick + 1) * PERIOD)
        desired = robot.drivetrain.inverse(speed, speed * curvature)
        commanded = robot.drivetrain.reachable(desired, commanded, PERIOD)
        simulator.command(*commanded)
        simulator.steps(5)
    return simulator.steps(400), commanded


@pytest.mark.parametrize(
    ("curvature", "v"), [(0.0, 0.5), (0.5, 0.5), (1.7, 0.5), (-1.7, 0.5), (1.0, -0.5), (1.0, 1.0)]
)
def test_car_in_mujoco_follows_commanded_circle_within_0_1_percent(robot, curvature, v):
    states, commanded = driven(robot, curvature, v)
    speed, yaw_rate = states.linear_velocity[:, 0].mean(), states.angular_velocity[:, 2].mean()
    assert speed == pytest.approx(v, rel=1e-3)
    assert yaw_rate == pytest.approx(v * curvature, rel=1e-3, abs=1e-6)
    if curvature:
        # The radius is computed from positions, not from rates.
        x, y = states.position[:, 0], states.position[:, 1]
        fit = np.column_stack([2.0 * x, 2.0 * y, np.ones_like(x)])
        (a, b, c), *_ = np.linalg.lstsq(fit, x**2 + y**2, rcond=None)
        assert math.sqrt(c + a * a + b * b) == pytest.approx(1.0 / abs(curvature), rel=5e-3)
    # The steering angle is as commanded, and the undriven wheels roll without slip.
    np.testing.assert_allclose(states.wheel_positions[-1, 2:4], commanded[2:], atol=1e-3)
    for place, angle, rolled in zip(
        robot.drivetrain.steering, commanded[2:], states.wheel_velocities[:, 4:].mean(axis=0)
    ):
        forward = (v - v * curvature * place[1]) * math.cos(angle)
        forward += v * curvature * place[0] * math.sin(angle)
        assert rolled == pytest.approx(forward / robot.drivetrain.wheel_radius, rel=3e-3)


def test_steering_servo_moves_at_rate_limit_and_stops_at_angle_limit(robot):
    simulator = MujocoSimulator(robot)
    simulator.command(0.0, 0.0, 9.0, 9.0)
    rate, most = robot.drivetrain.max_steering_rate, robot.drivetrain.max_steering_angle
    half = simulator.steps(round(50 * most / rate)).wheel_positions[-1, 2:4]
    np.testing.assert_allclose(half, 0.5 * most, atol=3.0 * rate * 0.01)
    np.testing.assert_allclose(simulator.steps(100).wheel_positions[-1, 2:4], most, rtol=1e-2)
    # Setting a new pose resets the steering.
    np.testing.assert_allclose(simulator.set_pose(1.0, 2.0, 3.0).wheel_positions[2:4], 0.0)


@pytest.mark.parametrize("name", sorted(CONTROLLERS))
@pytest.mark.parametrize("v", [0.6, -0.6])
def test_controllers_return_displaced_car_to_circle(robot, name, v):
    table, drivetrain = circle(v=v), robot.drivetrain
    controller = make_controller(name, ControllerGains(), PERIOD, robot)
    follower = Follower(Reference.from_table(table), controller, PERIOD, drivetrain)
    x, y, yaw = 0.0, 0.0, 0.1
    errors = []
    for tick in range(round(9.0 / PERIOD)):
        pose = follower.reference.pose_at(tick * PERIOD)
        cosine, sine = math.cos(pose.yaw), math.sin(pose.yaw)
        east, north = pose.x - x, pose.y - y
        error = TrackingError(
            pose.yaw - yaw,
            math.hypot(east, north),
            cosine * east + sine * north,
            cosine * north - sine * east,
        )
        errors.append(error)
        speed, yaw_rate = drivetrain.forward(*follower.command(tick * PERIOD, error))
        middle = yaw + 0.5 * PERIOD * yaw_rate
        x, y = x + PERIOD * speed * math.cos(middle), y + PERIOD * speed * math.sin(middle)
        yaw += PERIOD * yaw_rate
    off, lateral = abs(errors[-1].yaw_error), errors[-1].distance_error
    if name == "open_loop":
        assert off > 0.05
    else:
        assert off < 0.02
    if name not in ("open_loop", "yaw_pid"):
        assert lateral < 0.02
    stopped = follower.standstill()
    assert stopped[:2] == (0.0, 0.0) and stopped[2] > 0.3


@pytest.mark.parametrize("name", sorted(set(CONTROLLERS) - {"open_loop"}))
def test_yaw_error_of_stationary_car_is_not_integrated(robot, name):
    waiting, fresh = (make_controller(name, ControllerGains(), PERIOD, robot) for _ in "12")
    error = TrackingError(0.3, 0.0, 0.0, 0.0)
    for _ in range(100):
        assert waiting.correct(0.0, 0.0, error) == (0.0, 0.0)
    # The error may be integrated for one step before the standstill is recognised.
    assert waiting.correct(0.5, 0.0, error) == pytest.approx(
        fresh.correct(0.5, 0.0, error), abs=0.1
    )


@pytest.mark.parametrize(
    ("desired", "reached"),
    [
        # Wheel rims move at 1.5 m/s at most; turning takes precedence over speed.
        ((3.0, 0.0), (1.5, 0.0)),
        ((0.3, 20.0), (0.0, 7.5)),
        ((3.0, 2.5), (1.0, 2.5)),
        ((-3.0, -2.5), (-1.0, -2.5)),
        ((1.0, 2.0), (1.0, 2.0)),
    ],
)
def test_differential_drive_prefers_turning_at_wheel_velocity_limit(desired, reached):
    assert DIFFERENTIAL.limit(*desired) == pytest.approx(reached)
    assert max(map(abs, DIFFERENTIAL.inverse(*reached))) <= LIMITS.max_wheel_velocity + 1e-9


def test_car_preserves_curvature_at_wheel_velocity_limit():
    assert CAR.limit(3.0, 0.0) == pytest.approx((1.5, 0.0))
    v, yaw_rate = CAR.limit(2.0, 1.0)
    assert yaw_rate / v == pytest.approx(0.5)
    assert v + HALF_TRACK * yaw_rate == pytest.approx(1.5)
    # On the tightest circle, the middle of the steered axle is at its maximum angle.
    v, yaw_rate = CAR.limit(0.5, 100.0)
    assert v == pytest.approx(0.5)
    assert yaw_rate == pytest.approx(0.5 / CAR.min_turning_radius)


def test_path_follower_commands_reference_velocity_at_middle_of_control_period():
    times = np.arange(0.0, 2.0, 0.01)
    acceleration = 0.6  # m/s^2
    zero = np.zeros_like(times)
    poses = {"x": 0.5 * acceleration * times**2, "y": zero, "yaw": zero}
    velocities = {"v": acceleration * times, "yaw_rate": zero}
    table = pd.DataFrame({**poses, **velocities}, index=pd.Index(times, name="time"))
    robot = load_robot_parameters()
    controller = make_controller("open_loop", ControllerGains(), PERIOD, robot)
    follower = Follower(Reference.from_table(table), controller, PERIOD, robot.drivetrain)
    for time in (0.0, 0.5, 1.0):
        middle = acceleration * (time + 0.5 * PERIOD) / robot.drivetrain.wheel_radius
        assert follower.command(time) == pytest.approx((middle, middle))
