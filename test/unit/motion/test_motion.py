"""Motion: kinematics, means and mountings, compared with closed-form equations."""

import math

import numpy as np
import pytest
from earth_flights import require_same_motion
from scipy.spatial.transform import Rotation

import imu_simulation_framework as isf
from imu_simulation_framework.core.errors import MotionError
from imu_simulation_framework.motion.motion import REVERSAL, absolute_turn

GRAVITY = 9.81


def tumbling(time):
    """Return pose, angular velocity and specific force on a Lissajous path, with Rz(a) Rx(b)."""
    a, b = 0.5 * time + 0.3 * np.sin(time), 0.2 * np.sin(2.0 * time)
    a_rate, b_rate = 0.5 + 0.3 * np.cos(time), 0.4 * np.cos(2.0 * time)
    rotation = Rotation.from_euler("ZX", np.column_stack([a, b]))
    waves = np.column_stack([np.sin(0.7 * time), np.cos(0.4 * time), np.sin(time)])
    position = waves * [3.0, 2.0, 0.1]
    acceleration = waves * [-3.0 * 0.49, -2.0 * 0.16, -0.1] + [0.0, 0.0, GRAVITY]
    rate = np.column_stack([b_rate, a_rate * np.sin(b), a_rate * np.cos(b)])
    return position, rotation, rate, rotation.inv().apply(acceleration)


@pytest.fixture(scope="module")
def tumble():
    time = np.arange(3001) / 100.0
    position, rotation, rate, force = tumbling(time)
    return isf.Motion.from_poses(time, position, rotation.as_quat(), GRAVITY), rate, force


def test_kinematics_match_closed_form_for_any_quaternion_sign(tumble):
    motion, rate, force = tumble
    # In the 10 ms period, rate errors are of fourth order and acceleration errors of second order.
    np.testing.assert_allclose(motion.angular_velocity, rate, rtol=0.0, atol=1e-6)
    np.testing.assert_allclose(motion.specific_force[20:-20], force[20:-20], rtol=0.0, atol=1e-4)
    speed = 2.1 * np.cos(0.7 * motion.time)
    np.testing.assert_allclose(motion.velocity[:, 0], speed, rtol=0.0, atol=1e-6)
    flipped = motion.orientation * np.where(np.arange(len(motion)) % 3 == 0, -1.0, 1.0)[:, None]
    other = isf.Motion.from_poses(motion.time, motion.position, flipped, GRAVITY)
    np.testing.assert_allclose(other.angular_velocity, motion.angular_velocity, atol=1e-12)


def integrated(rate):
    """Return the final orientation [rad] and velocity [m/s] errors of integrated sample means."""
    time = np.arange(int(30.0 * rate) + 1) / rate
    position, rotation, _, _ = tumbling(time)
    motion = isf.Motion.from_poses(time, position, rotation.as_quat(), GRAVITY)
    angular_velocity, force = motion.means()
    turned, velocity = Rotation.from_quat(motion.orientation[0]), motion.velocity[0]
    steps = Rotation.from_rotvec(angular_velocity / rate)
    halves = Rotation.from_rotvec(0.5 * angular_velocity / rate)
    for k in range(1, len(motion)):
        # The mean force is in rotating axes, so it is rotated by the orientation at mid-period.
        velocity = velocity + (turned * halves[k]).apply(force[k]) / rate
        velocity[2] -= GRAVITY / rate
        turned = turned * steps[k]
    missed = turned.inv() * Rotation.from_quat(motion.orientation[-1])
    return missed.magnitude(), np.linalg.norm(velocity - motion.velocity[-1])


def test_sample_means_sum_to_orientation_and_velocity(tumble):
    (turn, velocity), (finer_turn, finer_velocity) = integrated(50.0), integrated(100.0)
    assert max(turn, finer_turn) < 1e-9
    # Integration with the trapezoidal rule has a second-order error.
    assert finer_velocity < 1e-3
    assert velocity / finer_velocity == pytest.approx(4.0, rel=0.1)
    motion, _, _ = tumble
    rate, force = motion.means()
    np.testing.assert_array_equal(rate[0], motion.angular_velocity[0])
    np.testing.assert_array_equal(force[0], motion.specific_force[0])


def fixed(time):
    return np.array([0.3, -0.2, 0.5]), Rotation.from_euler("xyz", [0.1, -0.4, 2.0])


def moving(time):
    arm = np.column_stack([0.3 * np.cos(time), 0.3 * np.sin(time), 0.1 * time / 30.0])
    return arm, Rotation.from_euler("ZY", np.column_stack([time, 0.5 * np.sin(time)]))


@pytest.mark.parametrize("place, force", [(fixed, 1e-4), (moving, 2e-4)])
def test_mounted_motion_matches_lever_arm_formula(tumble, place, force):
    motion, _, _ = tumble
    arm, mounting = place(motion.time)
    mounted = motion.mounted(arm, mounting)
    position, rotation, _, _ = tumbling(motion.time)
    turned = (rotation * mounting).as_quat()
    direct = isf.Motion.from_poses(motion.time, position + rotation.apply(arm), turned, GRAVITY)
    off = {"position": 1e-12, "velocity": 1e-6, "angular_velocity": 1e-6, "specific_force": force}
    require_same_motion(mounted, direct, slice(20, -20), angle=1e-12, **off)


def test_specific_force_matches_formula_at_rest_on_circle_and_on_straight_line():
    motion = isf.at_rest(1.0, roll=0.3, pitch=-0.2, yaw=2.0)
    rate, force = motion.means()
    np.testing.assert_array_equal(rate, 0.0)
    expected = Rotation.from_euler("ZYX", [2.0, -0.2, 0.3]).inv().apply([0.0, 0.0, GRAVITY])
    np.testing.assert_allclose(force, np.tile(expected, (101, 1)), rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(motion.yaw, 2.0, rtol=0.0, atol=1e-12)
    motion = isf.rounds(-2.0, radius=5.0, speed=2.0)
    assert motion.duration == pytest.approx(2.0 * 2.0 * np.pi * 5.0 / 2.0, abs=0.01)
    np.testing.assert_allclose(motion.angular_velocity[:, 2], -0.4)
    np.testing.assert_allclose(motion.specific_force, [[0.0, -0.8, GRAVITY]] * len(motion))
    direct = isf.Motion.from_poses(motion.time, motion.position, motion.orientation, GRAVITY)
    require_same_motion(direct, motion, specific_force=1e-4, velocity=1e-6)
    assert motion.yaw[-1] == pytest.approx(-4.0 * np.pi, abs=0.01)
    motion = isf.straight(10.0, speed=2.0, rate=50.0)
    np.testing.assert_allclose(motion.position[-1], [20.0, 0.0, 0.0])
    np.testing.assert_allclose(motion.means()[1], [[0.0, 0.0, GRAVITY]] * 501)


@pytest.mark.parametrize("name", ["a", "c", "d"])
def test_synthetic_drives_have_consistent_poses_and_derivatives(name):
    motion = isf.read_drive(name, laps=2)
    derived = isf.Motion.from_poses(motion.time, motion.position, motion.orientation, GRAVITY)
    # Between manoeuvres, the slope of the acceleration is discontinuous.
    off = {"velocity": 1e-5, "angular_velocity": 1e-5, "specific_force": 0.02}
    require_same_motion(derived, motion, **off)
    table = motion.table()
    np.testing.assert_allclose(table["v"].iloc[0], 0.0, atol=1e-12)
    np.testing.assert_allclose(table["yaw_rate"], motion.angular_velocity[:, 2])


def test_resampling_preserves_motion_and_irregular_samples_have_no_period(tumble):
    motion, _, _ = tumble
    finer = motion.resampled(250.0)
    assert finer.period == pytest.approx(0.004)
    assert finer.duration == motion.duration
    position, rotation, rate, force = tumbling(finer.time)
    np.testing.assert_allclose(finer.position, position, rtol=0.0, atol=1e-6)
    assert (Rotation.from_quat(finer.orientation) * rotation.inv()).magnitude().max() < 1e-6
    np.testing.assert_allclose(finer.angular_velocity, rate, rtol=0.0, atol=2e-6)
    np.testing.assert_allclose(finer.specific_force[60:-60], force[60:-60], rtol=0.0, atol=1e-4)
    motion = isf.straight(1.0)
    time = motion.time.copy()
    time[50:] += 0.003
    values = {name: getattr(motion, name) for name in motion.__dataclass_fields__}
    with pytest.raises(MotionError, match=r"steps of 0\.01003 s.*resampled\(rate\)"):
        _ = isf.Motion(**{**values, "time": time}).period


MALFORMED = [
    ({"time": np.array([0.0, 2.0, 1.0])}, "time goes from 2 s to 1 s"),
    ({"time": np.zeros(0)}, r"expected \(n,\), n >= 1"),
    ({"position": np.zeros((3, 2))}, "position has the shape"),
    ({"velocity": np.full((3, 3), np.nan)}, "velocity is not finite"),
]
GOOD = isf.straight(0.02), isf.standing(0.02, 10.0)


@pytest.mark.parametrize(
    ("good", "change", "words"),
    [
        *((good, *case) for good in GOOD for case in MALFORMED),
        (GOOD[0], {"gravity": np.inf}, "gravity of a motion is inf"),
    ],
)
def test_malformed_motion_is_rejected(good, change, words):
    values = {name: getattr(good, name) for name in good.__dataclass_fields__}
    with pytest.raises(MotionError, match=words):
        type(good)(**{**values, **change})


@pytest.mark.parametrize(
    "call",
    [
        lambda: isf.at_rest(0.0),
        lambda: isf.at_rest(1e12),
        lambda: isf.straight(1.0, speed=np.inf),
        lambda: isf.rounds(0, 1.0),
        lambda: isf.straight(1.0).resampled(0.0),
        lambda: isf.straight(1.0).mounted((1.0, 2.0)),
        lambda: isf.Motion.from_poses([0.0, 1.0], np.zeros((2, 3)), np.ones((2, 4))),
        lambda: isf.Motion.from_poses([0.0, 1.0, 2.0], np.zeros((3, 3)), np.zeros((3, 4))),
    ],
)
def test_invalid_motion_is_rejected(call):
    with pytest.raises(MotionError):
        call()


TIME = np.arange(0.0, 600.0, 0.01)
YAW = 2.0 * np.sin(TIME / 20.0)
TURNED = float(np.sum(np.abs(np.diff(YAW))))


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_absolute_turn_accumulates_left_and_right_turns(sign):
    turned = absolute_turn(sign * YAW)
    assert turned[0] == 0.0 and np.all(np.diff(turned) >= 0.0)
    # The last turn back is smaller than the reversal threshold.
    assert turned[-1] == pytest.approx(TURNED, abs=REVERSAL)
    np.testing.assert_allclose(turned[:3000], YAW[:3000])


def test_absolute_turn_excludes_noise_and_includes_each_reversal():
    noise = np.random.default_rng(1).normal(0.0, math.radians(0.25), len(YAW))
    assert np.sum(np.abs(np.diff(YAW + noise))) > 5.0 * TURNED
    # Noise extremes of at most 4 sigma add to each of about ten turning points.
    assert absolute_turn(YAW + noise)[-1] == pytest.approx(TURNED, abs=22 * math.radians(1.0))
    assert absolute_turn(noise)[-1] < math.radians(3.0)
    legs = absolute_turn(np.array([0.0, 1.0, 0.5, 2.0, 1.0]))
    np.testing.assert_allclose(legs, [0.0, 1.0, 1.5, 3.0, 4.0])
    # With constant yaw, the turn is zero.
    for yaw in ([], [1.0], [0.0, 0.0, 0.0]):
        np.testing.assert_array_equal(absolute_turn(np.array(yaw)), np.zeros(len(yaw)))
